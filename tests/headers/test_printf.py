"""The reader of printf buffers against C's own snprintf, and against buffers that no honest kernel writes."""

from __future__ import annotations

import ctypes
import hashlib
import random
import struct
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpulab.toolchain import device_library, host
from gpulab.virtual_gpu.machine import printf


def frame(text: bytes, *arguments: int | float | bytes, constant: bool = True) -> bytes:
    """One printf call as a kernel writes it."""
    body = hashlib.md5(text).digest()[:8] if constant else padded(text)
    for a in arguments:
        if isinstance(a, bytes):
            body += padded(a)
        else:
            body += struct.pack("<d", a) if isinstance(a, float) else struct.pack("<Q", a & 2**64 - 1)
    return struct.pack("<I", len(body) + 4 << 2 | 2 * constant) + body


def padded(text: bytes) -> bytes:
    return text + b"\0" * (8 - len(text) % 8)


def buffer(*frames: bytes) -> bytes:
    body = b"".join(frames)
    return struct.pack("<II", len(body), len(body) + 8) + body


def listed(text: bytes) -> str:
    """A format as the metadata lists it."""
    return f"0:0:{int.from_bytes(hashlib.md5(text).digest()[:8], 'little'):x},{text.decode()}"


def decoded(text: bytes, *arguments: int | float | bytes) -> str:
    (result,) = printf.decode(buffer(frame(text, *arguments)), [listed(text)])
    return result


def in_c(text: bytes, *arguments: int | float | bytes) -> str:
    out = ctypes.create_string_buffer(4096)
    kinds = {float: ctypes.c_double, bytes: ctypes.c_char_p, int: ctypes.c_longlong}
    ctypes.CDLL(None).snprintf(out, 4096, text, *(kinds[type(a)](a) for a in arguments))
    return out.value.decode()


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="needs the C library's snprintf with 64-bit varargs (Linux)"
)
def test_formats_as_c_does() -> None:
    r = random.Random(1)
    inf = float("inf")
    for _ in range(6000):
        conversion = r.choice("diouxXfFeEgGaAcsp%")
        flags = "".join(r.sample("-+ #0", r.randint(0, 3)))
        width, precision = r.choice(["", "5", "12", "*"]), r.choice(["", ".", ".0", ".3", ".10", ".*"])
        length = r.choice(["", "ll", "hh", "h", "l", "z"]) if conversion in "diouxX" else ""
        if conversion in "csp%":
            flags = "-" if "-" in flags and conversion != "%" else ""  # the others are undefined in C
            precision = precision if conversion == "s" else ""
            width = "" if conversion == "%" else width
        arguments: list[int | float | bytes] = []
        if width == "*":
            arguments.append(r.randint(0 if "0" in flags else -15, 15))  # glibc may fill to the right with zeros
        if precision == ".*":
            arguments.append(r.randint(-3, 15))
        if conversion in "diouxX":
            arguments.append(r.choice([0, 1, -1, r.getrandbits(64) - 2**63, r.randint(-1000, 1000), 8]))
        elif conversion == "c":
            arguments.append(r.randint(33, 126))
        elif conversion == "p":
            arguments.append(r.getrandbits(40))
        elif conversion == "s":
            arguments.append(r.choice([b"", b"abc", b"12345678", b"hello world, more"]))
        elif conversion != "%":
            odd = [0.0, -0.0, 1.5, -2.25, 1e300, 1e-310, 3.14159e5, inf, -inf, 0.1, 2.0**-1040]
            arguments.append(r.choice([*odd, r.gauss(0, 100)]))
        text = f"<%{flags}{width}{precision}{length}{conversion}>".encode()
        assert decoded(text, *arguments) == in_c(text, *arguments), (text, arguments)


@pytest.mark.parametrize(
    ("text", "arguments", "expected"),
    [
        (b"plain", (), "plain"),
        (b"%d %s %f\n", (7, b"abc", 2.5), "7 abc 2.500000\n"),
        (b"%d", (0xFFFFFFFF,), "-1"),
        (b"%lld %u", (-5, -1), "-5 4294967295"),
        (b"100%% %", (), "100% %"),
        (b"%y %d", (3,), "%y 3"),
        (b"%n%d", (1, 2), "2"),
        (b"%s|%d", (5,), "(null)|5"),
        (b"%d %d", (1,), "1 (missing)"),
        ("gr\u00fc\u00df %s".encode(), ("\u00e9".encode(),), "gr\u00fc\u00df \u00e9"),
        (b"%s", (b"\xff",), "\ufffd"),
        (b"%f %F %g %5.1f", (float("nan"), float("inf"), -float("inf"), float("nan")), "nan INF -inf   nan"),
    ],
)
def test_decodes(text: bytes, arguments: tuple[int | float | bytes, ...], expected: str) -> None:
    assert decoded(text, *arguments) == expected


def test_several_frames_and_texts_that_are_no_constants() -> None:
    frames = [frame(b"a %d\n", 1), frame(b"in the frame %s\n", b"x", constant=False), frame(b"a %d\n", 2)]
    assert printf.decode(buffer(*frames), [listed(b"a %d\n")]) == ["a 1\n", "in the frame x\n", "a 2\n"]


def test_an_unknown_format_says_so() -> None:
    (text,) = printf.decode(buffer(frame(b"secret %d", 1)), [])
    assert "not in the kernel's metadata" in text


def test_absurd_widths_are_clamped() -> None:
    text = b"%999999999d|%.999999999f|%*d|%.*d"
    result = decoded(text, 1, 1.0, 2**31 - 1, 3, 2**31 - 1, 4)
    assert len(result) < 6 * printf.WIDEST


def test_a_torn_buffer_ends_early() -> None:
    whole = buffer(frame(b"one"), frame(b"two"))
    formats = [listed(b"one"), listed(b"two")]
    assert printf.decode(whole[:-3], formats) == ["one"]
    assert printf.decode(b"", formats) == []
    assert printf.decode(struct.pack("<II", 2**32 - 1, 64) + b"\0" * 56, formats) == []
    assert printf.header(1 << 20) == struct.pack("<II", 0, 1 << 20)


@pytest.mark.full
@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=120), st.text(max_size=30), st.lists(st.binary(max_size=24), max_size=4))
def test_any_bytes_decode_to_something(body: bytes, text: str, parts: list[bytes]) -> None:
    used = struct.pack("<II", len(body), len(body) + 8)
    assert isinstance(printf.decode(used + body, [f"0:0:{0:x},{text}", text]), list)
    raw = text.encode("utf-8", "replace").replace(b"\0", b"")
    made = struct.pack("<I", 12 + sum(map(len, parts)) << 2 | 2) + hashlib.md5(raw).digest()[:8] + b"".join(parts)
    (result,) = printf.decode(
        buffer(made), [f"0:0:{int.from_bytes(hashlib.md5(raw).digest()[:8], 'little'):x},{raw.decode()}"]
    )
    assert len(result) < 200 * printf.WIDEST


def test_space_for_frames(tmp_path: Path) -> None:
    """printing.h on this machine; a kernel's hidden arguments are an array, whose tenth word is the buffer's place."""
    header = device_library.LIBRARY / "printing.h"
    source = f"""
    typedef unsigned u32;
    typedef unsigned long long u64;
    static u64 hidden[16];
    #define __builtin_amdgcn_implicitarg_ptr() ((const __attribute__((address_space(4))) void*)hidden)
    #include "{header}"
    extern "C" long reserve(u64 buffer, u32 bytes) {{
      hidden[9] = buffer;
      u64 found = (u64)__printf_alloc(bytes);
      return found ? found - buffer : -1;
    }}
    """
    host.compile_host_library(source, tmp_path / "printing.so", language="c++", options=["-nostdlib++", "-w"])
    reserve = ctypes.CDLL(str(tmp_path / "printing.so")).reserve
    reserve.argtypes, reserve.restype = [ctypes.c_void_p, ctypes.c_uint32], ctypes.c_long
    words = (ctypes.c_uint32 * 16)(0, 64)
    steps = [(24, 8, 24), (33, -1, 24), (2**32 - 4, -1, 24), (12, 32, 36), (20, 44, 56), (1, -1, 56), (0, 64, 56)]
    for count, place, used in steps:
        assert (reserve(words, count), words[0], words[1]) == (place, used, 64)
    words[0] = 57  # more than there is: nobody wrote that
    assert (reserve(words, 0), words[0]) == (-1, 57)
    assert list(words[2:]) == [0] * 14


def test_a_full_buffer_is_told_from_one_with_room() -> None:
    small, large = frame(b"%d", 1), frame(b"%d %d", 1, 2)
    for frames, room, full in (
        ((small, small), len(small) - 1, True),
        ((small, small), len(small), False),
        ((small, large, small), len(small), True),
        ((small,), 1 << 20, False),
        ((), 0, False),
        ((b"\0\0\0\0",), 0, False),
    ):
        body = b"".join(frames)
        assert printf.is_full(struct.pack("<II", len(body), len(body) + 8 + room) + body) is full
    assert printf.is_full(b"") is False
