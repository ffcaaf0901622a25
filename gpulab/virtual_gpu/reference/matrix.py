"""Matrix instructions in numpy: `multiply` takes registers apart into matrices, multiplies, and puts D together.

Registers are [register, lane] arrays of uint32, matrices [block, row, column] arrays; where an element lies is looked
up one by one in isa/matrix.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gpulab.virtual_gpu.isa import matrix as layout
from gpulab.virtual_gpu.isa.expression import Type, bf16, f16, f32, f64, i32
from gpulab.virtual_gpu.isa.row import Matrix
from gpulab.virtual_gpu.reference.numpy_reader import OPERATIONS, convert

Array = np.ndarray[Any, Any]

TYPES: dict[str, Type] = {"f32": f32, "f64": f64, "i32": i32, "f16": f16, "bf16": bf16}
"""Types of C and D, as constants are written for them."""


def _small_float(fraction: int, bias: int, ocp: bool = False) -> Array:
    """The 256 values of an 8-bit type with so many fraction bits: FNUZ, or of the Open Compute Project."""
    values = np.zeros(256, np.float32)
    for byte in range(256):
        exponent, part = (byte & 127) >> fraction, byte & (1 << fraction) - 1
        size = 2.0 ** (max(exponent, 1) - bias) * (part / 2**fraction + (exponent > 0))
        if ocp and fraction == 2 and exponent == 31:
            size = np.nan if part else np.inf
        elif ocp and byte & 127 == 127:
            size = np.nan
        values[byte] = np.nan if byte == 128 and not ocp else -size if byte >= 128 else size
    return values


_FP8 = {
    "fp8": _small_float(3, 8), "bf8": _small_float(2, 16),
    "e4m3": _small_float(3, 7, True), "e5m2": _small_float(2, 15, True),
}  # fmt: skip


def constant(row: Matrix, bits: int, wave_size: int) -> Array:
    """C with the same constant (bits of an element) everywhere, as registers."""
    words = np.full((layout.registers(row, "d", wave_size), wave_size), bits & 0xFFFFFFFF, np.uint32)
    if row.d == "f64":
        words[1::2] = bits >> 32
    elif row.d in ("f16", "bf16"):
        words |= words << np.uint32(16)
    return words


def _raw(words: Array, lane: int, element: int, bits: int) -> int:
    """Element number `element` of a lane, of so many bits, as an unsigned integer."""
    if bits == 64:
        return int(words[2 * element, lane]) | int(words[2 * element + 1, lane]) << 32
    per_register = 32 // bits
    return int(words[element // per_register, lane]) >> bits * (element % per_register) & (1 << bits) - 1


def _values(raw: Array, element: str, signed: bool = True) -> Array:
    """Numbers from the bits of elements: float32, float64 or int64 arrays."""
    if element == "f64":
        return raw.view(np.float64)
    if element == "f32":
        return raw.astype(np.uint32).view(np.float32)
    if element == "xf32":
        return (raw.astype(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    if element == "f16":
        return raw.astype(np.uint16).view(np.float16).astype(np.float32)
    if element == "bf16":
        return (raw.astype(np.uint32) << np.uint32(16)).view(np.float32)
    if element in _FP8:
        return _FP8[element][raw]
    bits = layout.ELEMENT_BITS[element]
    numbers = raw.astype(np.int64)
    return np.where(signed & (numbers >> bits - 1 == 1), numbers - (1 << bits), numbers)


def _flags(modifiers: Mapping[str, Any], name: str) -> tuple[int, int, int]:
    given = modifiers.get(name, ())
    given = given if isinstance(given, tuple) else ()
    return tuple((*given, 0, 0, 0)[:3])


def _signs(values: Array, axis: int, low: int, high: int) -> Array:
    """Packed negation: neg_lo flips the elements with even k, neg_hi those with odd k (`axis` is that of k)."""
    signs = np.where(np.arange(values.shape[axis]) % 2 == 0, 1 - 2 * low, 1 - 2 * high).astype(values.dtype)
    with np.errstate(invalid="ignore"):
        return values * (signs[:, None] if axis == 1 else signs)


def _product(row: Matrix, a: Array, b: Array, c: Array, clamp: bool) -> Array:
    """A B + C for [block, m, k], [block, k, n], [block, m, n]."""
    if row.d == "i32":
        total = c + np.einsum("bik,bkj->bij", a, b)
        return np.clip(total, -(1 << 31), (1 << 31) - 1) if clamp else total
    type = f64 if row.d == "f64" else f32
    total = c
    with np.errstate(all="ignore"):
        for k in range(row.k):
            left, right = np.broadcast_arrays(a[:, :, k, None], b[:, k, None, :])
            total = OPERATIONS["fma"](type, left, right, total)
    return total


def dense(row: Matrix, words: Array, indices: Array, first: int, bits: int) -> Array:
    """The registers of a sparse A with its zeros put back; `first` and `bits` are the set of indices in each lane's."""
    size = layout.ELEMENT_BITS[row.a]
    result = np.zeros((2 * len(words), words.shape[1]), np.uint32)
    for lane in range(words.shape[1]):
        for element in range(bits // 2):
            place = element // 2 * 4 + (int(indices[lane]) >> first + 2 * element & 3)
            register, shift = place * size // 32, place * size % 32
            others = int(result[register, lane]) & ~((1 << size) - 1 << shift)
            result[register, lane] = others | _raw(words, lane, element, size) << shift
    return result


def multiply(row: Matrix, a: Array, b: Array, c: Array, old: Array, modifiers: Mapping[str, Any]) -> Array:
    """D's registers from those of A, B, C and of D before. `modifiers` are the instruction's.

    cbsz, abid, blgp and neg (f64) belong to MFMA; neg_lo, neg_hi, op_sel and clamp to WMMA.
    """
    wave_size = old.shape[1]
    blocks, m, n, k = range(row.blocks), range(row.m), range(row.n), range(row.k)
    cbsz, abid, blgp = (int(modifiers.get(name, 0)) for name in ("cbsz", "abid", "blgp"))
    neg_lo, neg_hi = _flags(modifiers, "neg_lo"), _flags(modifiers, "neg_hi")

    def a_raw(block: int, i: int, x: int) -> int:
        block = layout.broadcast_block(row, block, cbsz, abid)
        return _raw(a, *layout.input_place(row, row.m, i, x, block), layout.ELEMENT_BITS[row.a])

    def b_raw(block: int, x: int, j: int) -> int:
        lane, element = layout.input_place(row, row.n, j, x, block)
        return _raw(b, layout.b_lane(lane, blgp), element, layout.ELEMENT_BITS[row.b])

    left = _values(
        np.array([[[a_raw(z, i, x) for x in k] for i in m] for z in blocks], np.uint64),
        row.a,
        bool(neg_lo[0]) or row.a == "i8",
    )
    right = _values(
        np.array([[[b_raw(z, x, j) for j in n] for x in k] for z in blocks], np.uint64),
        row.b,
        bool(neg_lo[1]) or row.b == "i8",
    )
    places = {(z, i, j): layout.output_place(row, wave_size, i, j, z) for z in blocks for i in m for j in n}
    op_sel = _flags(modifiers, "op_sel")[2]
    packed = row.d in ("f16", "bf16") and row.layout == "wmma12"
    short = row.d in ("f16", "bf16") and not packed
    bits = layout.ELEMENT_BITS[row.d]
    added = np.zeros((row.blocks, row.m, row.n), np.uint64)
    for index, (lane, element) in places.items():
        added[index] = _raw(c, lane, 2 * element + op_sel if short else element, bits)
    sums = _values(added, row.d)
    if row.layout != "mfma" and row.d != "i32":
        left, right = _signs(left, 2, neg_lo[0], neg_hi[0]), _signs(right, 1, neg_lo[1], neg_hi[1])
        sums = np.abs(sums) if neg_hi[2] else sums
        sums = -sums if neg_lo[2] else sums
    if row.d == "f64":
        negated = _flags(modifiers, "neg")
        left, right, sums = ((-x if on else x) for x, on in zip((left, right, sums), negated, strict=True))
    found = _product(row, left, right, sums, bool(modifiers.get("clamp")))
    if row.d == "i32":
        result = (found & 0xFFFFFFFF).astype(np.uint64)
    elif short or packed:
        with np.errstate(over="ignore"):
            narrow = convert(found, f32, TYPES[row.d])
        result = narrow.view(np.uint16).astype(np.uint64)
    else:
        result = found.view(np.uint64 if row.d == "f64" else np.uint32).astype(np.uint64)
    words = old.copy()
    for index, (lane, element) in places.items():
        value = int(result[index])
        if row.d == "f64":
            words[2 * element, lane], words[2 * element + 1, lane] = value & 0xFFFFFFFF, value >> 32
        elif packed:
            shift = 16 * (element % 2)
            kept = int(words[element // 2, lane]) & (0xFFFF0000 >> shift)
            words[element // 2, lane] = kept | value << shift
        elif short:
            kept = int(words[element, lane]) & (0xFFFF if op_sel else 0xFFFF0000)
            words[element, lane] = kept | value << 16 * op_sel
        else:
            words[element, lane] = value
    return words
