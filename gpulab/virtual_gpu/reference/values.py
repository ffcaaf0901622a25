"""Bits of lanes and what instructions do to them on the way in and out: constants, denormals, output modifiers,
DPP, SDWA and swizzles. Everything is a pure function of numpy arrays with one unsigned element per lane."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gpulab.virtual_gpu.isa.expression import Type
from gpulab.virtual_gpu.isa.instruction import Literal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bits = NDArray[Any]

MASK32, MASK64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF


def mask_of(lanes: Bits) -> int:
    """One bit per lane from booleans."""
    return sum(1 << i for i, on in enumerate(lanes.tolist()) if on)


# ------------------------------------------------------------------------------------------ bits of values

UNSIGNED = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
_INLINE_FLOATS = (0.0, 0.5, 1.0, 2.0, 4.0, -0.5, -1.0, -2.0, -4.0, 0.15915494309189532)  # the last: 1 / (2 pi)


def float_bits(value: float, width: int, kind: str = "f") -> int:
    """A float's bits in the given width, rounded to nearest."""
    if kind == "bf":
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
        return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    if width == 16:
        with np.errstate(over="ignore"):
            return int(np.array(value, np.float16).view(np.uint16))
    if width == 32:
        with np.errstate(over="ignore"):
            return int(np.array(value, np.float32).view(np.uint32))
    return int(np.array(value, np.float64).view(np.uint64))


def literal_bits(literal: Literal, type: Type) -> int:
    """The bits of a constant used as an operand of `type` (ISA manuals, "Inline constants" and "Literals")."""
    mask = (1 << type.width) - 1
    if literal.is_float:
        value = float(literal.value)
        if type.width == 64:
            bits = float_bits(value, 64)
            return bits if value in _INLINE_FLOATS else bits & ~MASK32  # a literal has 32 bits: the high half
        if type.is_float:
            return float_bits(value, type.width, type.kind)
        return float_bits(value, 32) & mask  # integers get an f32's bits, 16-bit ones the low half of them
    number = int(literal.value)
    if type.width == 64 and type.is_float and not -16 <= number <= 64:
        return (number & MASK32) << 32
    return number & mask


def flush(bits: Bits, type: Type) -> Bits:
    """Denormals to zero of the same sign."""
    exponent, sign = _FIELDS[type.kind, type.width]
    return np.where((bits & exponent) == 0, bits & sign, bits).astype(bits.dtype)


_FIELDS: dict[tuple[str, int], tuple[Any, Any]] = {
    ("f", 16): (np.uint16(0x7C00), np.uint16(0x8000)),
    ("bf", 16): (np.uint16(0x7F80), np.uint16(0x8000)),
    ("f", 32): (np.uint32(0x7F800000), np.uint32(0x80000000)),
    ("f", 64): (np.uint64(0x7FF0000000000000), np.uint64(0x8000000000000000)),
}


def denormals(mode: int, type: Type) -> int:
    """MODE's two bits for a float type: bit 0 keeps input denormals, bit 1 keeps output denormals."""
    return mode >> 4 & 3 if type.width == 32 else mode >> 6 & 3


def to_float64(bits: Bits, type: Type) -> Bits:
    """Bits of a float type as float64 numbers."""
    if type.kind == "bf":
        return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)
    with np.errstate(invalid="ignore"):
        return bits.view({16: np.float16, 32: np.float32, 64: np.float64}[type.width]).astype(np.float64)


def from_float64(values: Bits, type: Type) -> Bits:
    """The reverse of `to_float64`; only for values that the type holds exactly or that are halved or doubled."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        if type.kind == "bf":
            bits = values.astype(np.float32).view(np.uint32).astype(np.uint64)
            return ((bits + np.uint64(0x7FFF) + (bits >> np.uint64(16) & np.uint64(1))) >> np.uint64(16)).astype(
                np.uint16
            )
        floats = values.astype({16: np.float16, 32: np.float32, 64: np.float64}[type.width])
    return floats.view(UNSIGNED[type.width])


def output_modifiers(bits: Bits, type: Type, modifiers: Mapping[str, Any], mode: int) -> Bits:
    """omod (mul:2, mul:4, div:2), flushing of result denormals, then clamp to [0, 1].

    omod has no effect in IEEE mode (MODE bit 9) or where result denormals are kept; where it has one, -0 becomes +0
    (RDNA3 ISA manual 7.2.2).
    Clamp makes NaN 0 if DX10_CLAMP (bit 8) is set.
    """
    factor = float(modifiers.get("mul", 1)) / float(modifiers.get("div", 1))
    if factor != 1.0 and not mode >> 9 & 1 and not denormals(mode, type) & 2:
        bits = flush(from_float64(to_float64(bits, type) * factor, type), type)
        bits = np.where(to_float64(bits, type) == 0, 0, bits).astype(bits.dtype)
    if not denormals(mode, type) & 2:
        bits = flush(bits, type)
    if modifiers.get("clamp"):
        values = to_float64(bits, type)
        nan = np.isnan(values)
        limited = from_float64(np.where(values > 0, np.minimum(values, 1.0), 0.0), type)
        bits = np.where(nan & np.array(not mode >> 8 & 1), bits, limited).astype(bits.dtype)
    return bits


# --------------------------------------------------------------------------------------------- data paths


def dpp_source(modifiers: Mapping[str, Any], size: int) -> tuple[list[int], bool] | None:
    """For each lane the lane it reads through DPP (-1: none), or None if the instruction has no DPP control."""
    lanes = range(size)
    if "quad_perm" in modifiers:
        return [lane & ~3 | modifiers["quad_perm"][lane & 3] for lane in lanes], True
    if "dpp8" in modifiers:
        return [lane & ~7 | modifiers["dpp8"][lane & 7] for lane in lanes], True
    for name, formula in _DPP.items():
        if name in modifiers:
            amount = modifiers[name]
            found = [formula(lane, 1 if amount is True else int(amount), size) for lane in lanes]
            return [source if 0 <= source < size else -1 for source in found], True
    return None


def _within_row(lane: int, source: int) -> int:
    return source if lane & ~15 == source & ~15 and source >= 0 else -1


_DPP: dict[str, Callable[[int, int, int], int]] = {
    "row_shl": lambda lane, n, size: _within_row(lane, lane + n),
    "row_shr": lambda lane, n, size: _within_row(lane, lane - n),
    "row_ror": lambda lane, n, size: lane & ~15 | (lane - n) & 15,
    "row_mirror": lambda lane, n, size: lane & ~15 | 15 - (lane & 15),
    "row_half_mirror": lambda lane, n, size: lane & ~7 | 7 - (lane & 7),
    "row_share": lambda lane, n, size: lane & ~15 | n,
    "row_newbcast": lambda lane, n, size: lane & ~15 | n,
    "row_xmask": lambda lane, n, size: lane & ~15 | (lane & 15) ^ n,
    "row_bcast": lambda lane, n, size: (
        (lane & ~15) - 1 if n == 15 and lane >= 16 else 31 if n == 31 and lane >= 32 else -1
    ),
    "wave_shl": lambda lane, n, size: lane + 1 if lane + 1 < size else -1,
    "wave_shr": lambda lane, n, size: lane - 1,
    "wave_rol": lambda lane, n, size: (lane + 1) % size,
    "wave_ror": lambda lane, n, size: (lane - 1) % size,
}

_SELECT = (
    {f"BYTE_{i}": (8 * i, 8) for i in range(4)} | {f"WORD_{i}": (16 * i, 16) for i in range(2)} | {"DWORD": (0, 32)}
)


def sdwa_select(words: Bits, select: str, sign_extend: bool) -> Bits:
    """SDWA's selection of a byte or a word of each register, extended to 32 bits."""
    shift, width = _SELECT[select]
    part = (words.astype(np.uint64) >> np.uint64(shift)) & np.uint64((1 << width) - 1)
    if sign_extend and width < 32:
        sign = np.uint64(1 << (width - 1))
        part = (part ^ sign) - sign
    return (part & np.uint64(MASK32)).astype(np.uint32)


def sdwa_insert(old: Bits, result: Bits, select: str, unused: str) -> Bits:
    """SDWA's destination: the low bits of `result` go to the selected part, the rest as `unused` says."""
    shift, width = _SELECT[select]
    if width == 32:
        return result
    ones = (1 << width) - 1
    part = (result.astype(np.uint64) & np.uint64(ones)) << np.uint64(shift)
    if unused == "UNUSED_PRESERVE":
        rest = old.astype(np.uint64) & np.uint64(MASK32 & ~(ones << shift))
    elif unused == "UNUSED_SEXT":
        negative = (result.astype(np.uint64) >> np.uint64(width - 1) & np.uint64(1)).astype(bool)
        above = MASK32 & ~((1 << (shift + width)) - 1)
        rest = np.where(negative, np.uint64(above), np.uint64(0))
    else:
        rest = np.zeros_like(part)
    return (part | rest).astype(np.uint32)


def swizzled(lane: int, offset: int) -> int:
    """The lane that ds_swizzle_b32 reads, by its offset field (CDNA3 ISA manual, DS_SWIZZLE_B32)."""
    group, mask = lane & ~31, offset & 31
    if offset >= 0xE000:  # order of a Fourier transform's decomposition: bits reversed but for the masked ones
        reversed_bits = int(f"{lane & 31:05b}"[::-1], 2)
        return group | reversed_bits >> mask.bit_count() | lane & mask
    if offset >= 0xC000:
        amount = -(offset >> 5 & 31) if offset >> 10 & 1 else offset >> 5 & 31
        return group | lane & mask | lane + amount & 31 & ~mask
    if offset & 0x8000:
        return lane & ~3 | offset >> 2 * (lane & 3) & 3
    within = ((lane & 31 & (offset & 31)) | offset >> 5 & 31) ^ (offset >> 10 & 31)
    return lane & ~31 | within
