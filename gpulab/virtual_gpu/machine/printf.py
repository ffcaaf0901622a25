"""What kernels printed: the printf buffer of a launch, read after it and formatted as C does.

`header(size)` are the first bytes of an empty buffer, whose address is the launch's hidden_printf_buffer argument;
`decode(buffer, formats)` gives the printed texts in the order in which the buffer's space was taken.

The layout is AMD's for `-mprintf-kind=buffered` (LLVM, lib/Transforms/Utils/AMDGPUEmitPrintf.cpp):

    u32 bytes used by frames | u32 bytes of the whole buffer | frame | frame | ...
    frame: u32 control | format | arguments
      control  bit 0: stderr; bit 1: the format is constant; bits 2-31: bytes of the frame, control included
      format   constant: u64, the low half of its MD5, by which the metadata amdhsa.printf lists it
               ("0:0:<hash in hexadecimal>,<format>"); else the text itself, as a string argument
      argument 8 bytes: integers widened without sign, floating point as double; for %s the text with its final
               zero, padded to 8 bytes (nothing at all for a null pointer)

Formats come from learners' kernels: widths and precisions are clamped to `WIDEST`, %n stores nothing, and a frame that
contradicts its format ends early instead of being read beyond its end.
"""

from __future__ import annotations

import functools
import re
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

HEADER_BYTES = 8
WIDEST = 1024
LONGEST_OUTPUT = 16 << 20  # bytes of text that one launch may print
_NEAR_THE_END = 4096  # with more room than that a buffer is not looked through

_SPECIFIER = re.compile(
    rb"%(?P<flags>[-+ #0]*)(?P<width>\*|\d*)(?:\.(?P<precision>\*|-?\d*))?(?P<length>hh|h|ll|l|j|z|t|L|q)?"
    rb"(?P<conversion>[diouxXfFeEgGaAcspn%])"
)
_STRING, _NUMBER = "string", "number"


@dataclass(frozen=True, slots=True)
class _Specifier:
    """One conversion of a format: flags, width and precision ("*" where an argument gives it), length, letter."""

    flags: frozenset[str]
    width: int | str
    precision: int | str | None
    length: str
    conversion: str

    def arguments(self) -> list[str]:
        """The kinds of arguments that it takes from the frame."""
        stars = [_NUMBER] * ((self.width == "*") + (self.precision == "*"))
        return stars + ([] if self.conversion == "%" else [_STRING if self.conversion == "s" else _NUMBER])


def header(size: int) -> bytes:
    """The first bytes of an empty buffer of `size` bytes (header included; at least 8, at most 4 GiB - 1)."""
    return struct.pack("<II", 0, size)


def is_full(buffer: bytes | bytearray | memoryview) -> bool:
    """Whether a buffer has no room for another frame like its largest: what was printed after it is lost."""
    view = memoryview(buffer)
    used, size = struct.unpack_from("<II", view, 0) if len(view) >= HEADER_BYTES else (0, 0)
    room = size - HEADER_BYTES - used
    if not used or room >= _NEAR_THE_END:
        return False
    at, largest = HEADER_BYTES, 0
    while at + 4 <= min(HEADER_BYTES + used, len(view)):
        frame = struct.unpack_from("<I", view, at)[0] >> 2
        if frame < 4:
            break
        largest, at = max(largest, frame), at + frame
    return room < largest


def decode(buffer: bytes | bytearray | memoryview, formats: Iterable[str]) -> list[str]:
    """The texts that a launch printed, one per printf call and lane.

    Args:
        buffer: the printf buffer after the launch, from its header on.
        formats: the strings of the metadata amdhsa.printf, unescaped.

    Returns:
        One string per frame, in buffer order. Bytes that are no UTF-8 appear as U+FFFD; a frame whose format is not
        in `formats` says so.
    """
    view = memoryview(buffer).cast("B") if not isinstance(buffer, bytes) else memoryview(buffer)
    if len(view) < HEADER_BYTES:
        return []
    (used,) = struct.unpack_from("<I", view, 0)
    end = min(HEADER_BYTES + used, len(view))
    known = _by_hash(formats)
    texts: list[str] = []
    at, written = HEADER_BYTES, 0
    while at + 4 <= end and written < LONGEST_OUTPUT:
        (control,) = struct.unpack_from("<I", view, at)
        size = control >> 2
        if size < 4 or at + size > end:
            break
        text = _frame(bytes(view[at + 4 : at + size]), bool(control & 2), known)
        texts.append(text.decode("utf-8", "replace"))
        written += len(text)
        at += size
    return texts


def called(message: bytes) -> str:
    """The text of a message that a kernel sent to the host (runtime/hostcall.py): format, then arguments."""
    text, rest = _take_string(message)
    return _format(text, rest).decode("utf-8", "replace")


def _by_hash(formats: Iterable[str]) -> dict[int, bytes]:
    known = {}
    for entry in formats:
        head, comma, text = entry.partition(",")
        try:
            key = int(head.rsplit(":", 1)[-1], 16)
        except ValueError:
            continue
        if comma:
            known[key] = text.encode("utf-8", "surrogateescape")
    return known


def _frame(body: bytes, constant: bool, known: dict[int, bytes]) -> bytes:
    """The text of one frame without its control word."""
    if constant:
        if len(body) < 8:
            return b""
        (key,) = struct.unpack_from("<Q", body)
        if key not in known:
            return b"(printf: the format %x is not in the kernel's metadata)\n" % key
        return _format(known[key], body[8:])
    text, rest = _take_string(body)
    return _format(text, rest)


def _take_string(data: bytes) -> tuple[bytes, bytes]:
    """The text at the start of `data` up to its zero, and what follows its padding."""
    end = data.find(b"\0")
    if end < 0:
        return data, b""
    return data[:end], data[(end + 8) & ~7 :]


@functools.lru_cache(maxsize=512)
def _parse(text: bytes) -> tuple[bytes | _Specifier, ...]:
    """A format as literal texts and specifiers. A % that begins no specifier is literal."""
    parts: list[bytes | _Specifier] = []
    at = 0
    while True:
        found = text.find(b"%", at)
        if found < 0:
            break
        match = _SPECIFIER.match(text, found)
        if match is None:
            parts.append(text[at : found + 1])
            at = found + 1
            continue
        parts.append(text[at:found])
        width, precision = match["width"].decode(), match["precision"]
        parts.append(
            _Specifier(
                frozenset(match["flags"].decode()),
                width if width == "*" else _clamp(width),
                None if precision is None else "*" if precision == b"*" else _precision(precision.decode()),
                (match["length"] or b"").decode(),
                match["conversion"].decode(),
            )
        )
        at = match.end()
    parts.append(text[at:])
    return tuple(part for part in parts if part != b"")


def _clamp(digits: str) -> int:
    return 0 if not digits else WIDEST if len(digits.lstrip("0")) > 4 else min(int(digits), WIDEST)


def _precision(digits: str) -> int | None:
    return None if digits.startswith("-") else _clamp(digits)  # a negative precision counts as none


def _format(text: bytes, data: bytes) -> bytes:
    """C's printf for one frame."""
    parts = _parse(text)
    waiting = [kind for part in parts if isinstance(part, _Specifier) for kind in part.arguments()]
    out: list[bytes] = []
    for part in parts:
        if isinstance(part, bytes):
            out.append(part)
            continue
        values: list[int | bytes | None] = []
        for kind in part.arguments():
            waiting.pop(0)
            if kind == _NUMBER:
                values.append(int.from_bytes(data[:8], "little") if len(data) >= 8 else None)
                data = data[8:]
            elif len(data) < 8 * (len(waiting) + 1):
                values.append(None)  # a null pointer left no bytes
            else:
                string, data = _take_string(data)
                values.append(string)
        out.append(_convert(part, values))
    return b"".join(out)


def _convert(specifier: _Specifier, values: Sequence[int | bytes | None]) -> bytes:
    flags, width, precision = set(specifier.flags), specifier.width, specifier.precision
    left = list(values)
    if width == "*":
        given = _signed(left.pop(0), 32)
        if given < 0:
            flags.add("-")
        width = min(abs(given), WIDEST)
    if precision == "*":
        given = _signed(left.pop(0), 32)
        precision = None if given < 0 else min(given, WIDEST)
    assert isinstance(width, int)
    assert precision is None or isinstance(precision, int)
    kind = specifier.conversion
    if kind == "%":
        return b"%"
    if kind == "n":
        return b""
    value = left[0] if left else None
    if kind == "s":
        content = b"(null)" if not isinstance(value, bytes) else value
        return _pad(content if precision is None else content[:precision], width, flags)
    if not isinstance(value, int):
        return b"(missing)"
    if kind == "c":
        return _pad(bytes([value & 0xFF]), width, flags)
    if kind == "p":
        return _pad(b"0x%x" % value if value else b"(nil)", width, flags)
    if kind in "diouxX":
        return _integer(kind, value, specifier.length, flags, width, precision)
    (number,) = struct.unpack("<d", struct.pack("<Q", value & (2**64 - 1)))
    return _floating(kind, number, value >> 63, flags, width, precision)


def _signed(value: int | bytes | None, bits: int) -> int:
    if not isinstance(value, int):
        return 0
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _pad(content: bytes, width: int, flags: set[str]) -> bytes:
    return content.ljust(width) if "-" in flags else content.rjust(width)


def _signed_pad(sign: bytes, body: bytes, width: int, flags: set[str], zeros: bool) -> bytes:
    if zeros and "0" in flags and "-" not in flags:
        body = body.rjust(width - len(sign), b"0")
    return _pad(sign + body, width, flags)


def _integer(kind: str, value: int, length: str, flags: set[str], width: int, precision: int | None) -> bytes:
    bits = {"hh": 8, "h": 16, "": 32}.get(length, 64)
    number = _signed(value, bits) if kind in "di" else value & ((1 << bits) - 1)
    digits = {"o": b"%o", "x": b"%x", "X": b"%X"}.get(kind, b"%d") % abs(number)
    if precision is not None:
        digits = b"" if precision == 0 and number == 0 else digits.rjust(precision, b"0")
    if kind == "o" and "#" in flags and not digits.startswith(b"0"):
        digits = b"0" + digits
    if kind in "di":
        sign = b"-" if number < 0 else b"+" if "+" in flags else b" " if " " in flags else b""
    else:
        sign = b"0" + kind.encode() if "#" in flags and kind in "xX" and number else b""
    return _signed_pad(sign, digits, width, flags, precision is None)


def _floating(kind: str, number: float, negative: int, flags: set[str], width: int, precision: int | None) -> bytes:
    sign = b"-" if negative else b"+" if "+" in flags else b" " if " " in flags else b""
    upper = kind.isupper()
    size = abs(number)
    finite = size < float("inf")
    if not finite:
        body = "inf" if size == size else "nan"
    elif kind in "aA":
        body = _hexadecimal(size, precision, "#" in flags)
        sign += b"0X" if upper else b"0x"
    else:
        alternate = "#" if "#" in flags else ""
        body = f"%{alternate}.{6 if precision is None else precision}{kind.lower()}" % size
    return _signed_pad(sign, (body.upper() if upper else body).encode(), width, flags, finite)


def _hexadecimal(number: float, precision: int | None, point: bool) -> str:
    """C's %a of a number that is not negative, without its 0x: one digit, the fraction in base 16, a power of two."""
    if number == 0:
        fraction, lead, exponent = 0, 0, 0
    else:
        (bits,) = struct.unpack("<Q", struct.pack("<d", number))
        exponent, fraction = bits >> 52, bits & (2**52 - 1)
        lead, exponent = (1, exponent - 1023) if exponent else (0, -1022)
    if precision is None:
        digits = f"{fraction:013x}".rstrip("0")
    elif precision >= 13:
        digits = f"{fraction:013x}".ljust(precision, "0")
    else:
        shift = 52 - 4 * precision
        whole = (lead << 52 | fraction) >> shift
        rest = (lead << 52 | fraction) & ((1 << shift) - 1)
        half = 1 << (shift - 1)
        whole += rest > half or (rest == half and bool(whole & 1))
        lead = whole >> (4 * precision)
        digits = f"{whole & ((1 << 4 * precision) - 1):0{precision}x}" if precision else ""
    return f"{lead}{'.' if digits or point else ''}{digits}p{exponent:+d}"
