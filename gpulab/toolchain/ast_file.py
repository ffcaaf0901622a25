"""Precompiled headers as files: a list in them that slows down each compile is taken out.

Clang writes a precompiled header as a bitstream (LLVM's "LLVM Bitcode File Format") whose records have the numbers of
clang/Serialization/ASTBitCodes.h, which "should be considered permanent". One record of it names all functions for the
device that are compiled only if somebody calls them. At the end of each compile Clang reads them, hundreds of functions
and all types that they name, and looks for errors that it has put off until it knows whether a function is needed, such
as a call of a host function by one for the device. Errors that were put off are not in the file, so that it never
finds one there; functions of the headers that a source calls are reached from the source's own, of which the compile
makes a list itself. Without the record Clang reads what a source uses: half of the time that it takes for a small one.
"""

from __future__ import annotations

from collections.abc import Iterator

_MAGIC = b"CPCH"
_AST_BLOCK = 8
_FUNCTIONS, _UNUSED = 64, 66
"""DECLS_TO_CHECK_FOR_DEFERRED_DIAGS; and a number that Clang used before and passes over now."""
_END, _ENTER, _DEFINE, _PLAIN = range(4)
_FIXED, _VBR, _ARRAY, _CHAR6, _BLOB = range(1, 6)


class _Bits:
    """A bitstream, read from bit `at` on."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 8 * len(_MAGIC)

    def fixed(self, width: int) -> int:
        first, last = self.at >> 3, (self.at + width + 7) >> 3
        word = int.from_bytes(self.data[first:last], "little") >> (self.at & 7)
        self.at += width
        return word & ((1 << width) - 1)

    def vbr(self, width: int) -> int:
        value = shift = 0
        while True:
            part = self.fixed(width)
            value |= (part & ((1 << (width - 1)) - 1)) << shift
            shift += width - 1
            if not part >> (width - 1):
                return value

    def align(self) -> None:
        self.at = (self.at + 31) & ~31


def without_functions_to_check(made: bytes) -> bytes:
    """A precompiled header without the list of functions that Clang would look at again in each compile.

    The record stays where it is under a number that Clang passes over. A file without such a record stays as it is.
    """
    if not made.startswith(_MAGIC):
        return made
    found = next((at for code, at in _plain_records(made) if code == _FUNCTIONS), None)
    if found is None:
        return made
    first, shift = found >> 3, found & 7
    word = int.from_bytes(made[first : first + 3], "little")  # 12 bits, and at least 6 more behind them
    word += (_vbr6(_UNUSED) - _vbr6(_FUNCTIONS)) << shift
    return made[:first] + word.to_bytes(3, "little") + made[first + 3 :]


def _vbr6(code: int) -> int:
    """A number of two parts, 32 to 1023, as its 12 bits."""
    return code & 31 | 32 | (code >> 5) << 6


def _plain_records(made: bytes) -> Iterator[tuple[int, int]]:
    """The records of the AST block that have no abbreviation: number, and the bit at which it stands."""
    bits = _Bits(made)
    while bits.at < 8 * len(made) and bits.fixed(2) == _ENTER:
        block, width, end = _enter(bits)
        if block == _AST_BLOCK:
            yield from _records_of(bits, width, end)
        bits.at = end


def _enter(bits: _Bits) -> tuple[int, int, int]:
    """A block's number, the width of its abbreviations, and where it ends."""
    block, width = bits.vbr(8), bits.vbr(4)
    bits.align()
    words = bits.fixed(32)
    return block, width, bits.at + 32 * words


def _records_of(bits: _Bits, width: int, end: int) -> Iterator[tuple[int, int]]:
    abbreviations: list[list[tuple[int, int]]] = []
    while bits.at < end:
        kind = bits.fixed(width)
        if kind == _END:
            return
        if kind == _ENTER:
            bits.at = _enter(bits)[2]
        elif kind == _DEFINE:
            abbreviations.append([_operand(bits) for _ in range(bits.vbr(5))])
        elif kind == _PLAIN:
            at = bits.at
            yield bits.vbr(6), at
            for _ in range(bits.vbr(6)):
                bits.vbr(6)
        else:
            _skip(bits, abbreviations[kind - _PLAIN - 1])


def _operand(bits: _Bits) -> tuple[int, int]:
    """Encoding and width of an abbreviation's operand; (0, 0) for a value that is not written."""
    if bits.fixed(1):
        bits.vbr(8)
        return 0, 0
    encoding = bits.fixed(3)
    return encoding, bits.vbr(5) if encoding in (_FIXED, _VBR) else 0


def _skip(bits: _Bits, operands: list[tuple[int, int]]) -> None:
    for place, (encoding, width) in enumerate(operands):
        if encoding == _ARRAY:  # what it is made of comes last
            for _ in range(bits.vbr(6)):
                _skip(bits, operands[place + 1 :])
            return
        if encoding == _BLOB:
            size = bits.vbr(6)
            bits.align()
            bits.at += 8 * size
            bits.align()
        elif encoding == _VBR and width:
            bits.vbr(width)
        elif encoding:
            bits.at += 6 if encoding == _CHAR6 else width
