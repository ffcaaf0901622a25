"""gpulab_matrix by itself: every number of each small format, sums that are rounded to 16 bits, which lanes are taken.

Numbers by numpy and by the formats' definitions (IEEE 754; of 8 bits the Open Compute Project, the CDNA 3 ISA manual);
places of elements as in tests/isa/test_matrix.py. An element times 1 shows how it is read.
"""

from __future__ import annotations

import ctypes
import math

import numpy as np
import pytest

from gpulab.virtual_gpu import schema
from gpulab.virtual_gpu.machine.native import build

ELEMENT = {name: number for number, name in enumerate(schema.ELEMENTS.names)}
LAYOUT = {name: number for number, name in enumerate(schema.MATRIX_LAYOUTS.names)}
BITS = {"f32": 32, "xf32": 32, "f16": 16, "bf16": 16, "i32": 32, "i4": 4, "u4": 4}  # others 8
ONE = {"f32": 0x3F800000, "xf32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80, "fp8": 0x40, "bf8": 0x40, "e4m3": 0x38,
       "e5m2": 0x3C}  # fmt: skip


def multiply(
    d: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray | None, shape: dict[str, int],
    kinds: tuple[str, str, str], constant: int = 0, **flags: int,
) -> np.ndarray:  # fmt: skip
    """Registers [number, lane] of D."""
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint32)
    a_kind, b_kind, d_kind = (ELEMENT[name] for name in kinds)
    given = [x.ctypes.data if x is not None else None for x in (d, a, b, c)]
    word = schema.MATRIX_FLAGS.pack(a=a_kind, b=b_kind, d=d_kind, **flags)
    kind(build.functions().matrix)(*given, constant, schema.MATRIX_SHAPE.pack(**shape), word)
    return d


def words(count: int, lanes: int = 64) -> np.ndarray:
    return np.zeros((count, lanes), np.uint32)


def number(bits: int, kind: str) -> float:
    """What a number of 8 bits stands for."""
    fraction, bias = {"fp8": (3, 8), "bf8": (2, 16), "e4m3": (3, 7), "e5m2": (2, 15)}[kind]
    exponent, rest = bits >> fraction & (0x7F >> fraction), bits & (1 << fraction) - 1
    sign = -1 if bits & 0x80 else 1
    if (kind in ("fp8", "bf8") and bits == 0x80) or (kind == "e4m3" and bits & 0x7F == 0x7F):
        return math.nan
    if kind == "e5m2" and exponent == 31:
        return math.nan if rest else sign * math.inf
    size = (rest + (1 << fraction)) * 2.0 ** (exponent - 1) if exponent else rest
    return sign * size * 2.0 ** (1 - bias - fraction)


def every(kind: str) -> tuple[np.ndarray, np.ndarray]:
    """(bits, numbers) of a format: all, or many."""
    if kind in ("f16", "bf16"):
        bits = np.arange(1 << 16, dtype=np.uint32)
        return bits, (bits.astype(np.uint16).view(np.float16) if kind == "f16" else (bits << 16).view(np.float32))
    if kind in ("f32", "xf32"):
        bits = np.random.default_rng(5).integers(0, 1 << 32, 4096, dtype=np.uint32)
        return bits, (bits if kind == "f32" else bits & 0xFFFFE000).view(np.float32)
    bits = np.arange(1 << BITS.get(kind, 8), dtype=np.uint32)
    if kind in ("i8", "u8", "i4", "u4"):
        width = BITS.get(kind, 8)
        return bits, bits.astype(int) - ((bits.astype(int) >> width - 1 << width) if kind[0] == "i" else 0)
    return bits, np.array([number(int(x), kind) for x in bits])


@pytest.mark.parametrize("side", ["a", "b"])
@pytest.mark.parametrize("kind", ["f32", "xf32", "f16", "bf16", "fp8", "bf8", "e4m3", "e5m2", "i8", "u8", "i4", "u4"])
def test_every_number_of_a_format(kind: str, side: str) -> None:
    """16 at a time, as row k of B or column k of A; the other matrix has ones there and zeros elsewhere."""
    wmma, bits = kind in ("u8", "i4", "u4"), BITS.get(kind, 8)
    per_lane = 16 if wmma else {32: 1 if kind == "f32" else 2, 16: 4, 8: 8}[bits]
    lanes = 32 if wmma else 64
    shape = {"m": 16, "n": 16, "k": 16 if wmma else 4 * per_lane, "blocks": 1, "wave": lanes, "layout": int(wmma)}
    result = "i32" if kind[0] in "iu" else "f32"
    given, wanted = every(kind)
    places = list(range(0, len(given), 16))
    turns = [(first, n % per_lane) for n, first in enumerate(places)]
    if len(places) < 100:  # each number as each element of a lane
        turns = [(first, element) for element in range(per_lane) for first in places]
        wanted = np.tile(wanted, per_lane)
    found = []
    for first, element in turns:
        register, shift = divmod(element * bits, 32)
        registers = max(1, per_lane * bits // 32)
        values, ones = words(registers, lanes), words(registers, lanes)
        values[register, :16] = given[first : first + 16] << np.uint32(shift)
        ones[register, :16] = np.uint32(ONE.get(kind, 1) << shift)
        if wmma:  # both halves of a wave have the same
            values[:, 16:], ones[:, 16:] = values[:, :16], ones[:, :16]
        operands = (values, ones) if side == "a" else (ones, values)
        d = multiply(words(8 if wmma else 4, lanes), *operands, None, shape, (kind, kind, result))
        if side == "b":
            got = d[0, :16]
        else:
            got = np.array([d[i // 2, 16 * (i % 2)] if wmma else d[i % 4, 16 * (i // 4)] for i in range(16)])
        found.append(got.copy())
    out = np.concatenate(found)
    np.testing.assert_array_equal(out.view(np.int32 if result == "i32" else np.float32), wanted)


def halves(kind: str, random: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Random bits of all exponents, and their numbers."""
    bits = random.integers(0, 1 << 16, count).astype(np.uint16)
    bits[:6] = [0, 0x8000, 0x7C00, 0xFC00, 1, 0x83FF] if kind == "f16" else [0, 0x8000, 0x7F80, 0xFF80, 1, 0x807F]
    if kind == "f16":
        return bits, bits.view(np.float16).astype(np.float32)
    return bits, (bits.astype(np.uint32) << 16).view(np.float32)


def as_bits(x: np.ndarray, kind: str) -> np.ndarray:
    """Floats rounded to nearest even in 16 bits; every NaN as one."""
    with np.errstate(over="ignore"):
        if kind == "f16":
            bits = x.astype(np.float16).view(np.uint16).astype(np.uint32)
        else:
            wide = x.view(np.uint32).astype(np.uint64)
            bits = (wide + 0x7FFF + (wide >> np.uint64(16) & np.uint64(1)) >> np.uint64(16)).astype(np.uint32)
    return np.where(np.isnan(x), 0x7FFF, bits)


@pytest.mark.parametrize("layout", ["wmma", "wmma12"])
@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize("high", [0, 1])
def test_sums_of_16_bits_are_rounded_to_nearest_even(kind: str, layout: str, high: int) -> None:
    """Products of two such numbers are exact in 24 bits. gfx11 leaves the other half of each register as it was."""
    if layout == "wmma12" and high:
        high = 0
    random = np.random.default_rng(3)
    shape = {"m": 16, "n": 16, "k": 16, "blocks": 1, "wave": 32, "layout": LAYOUT[layout]}
    for _ in range(60):
        (x, xs), (y, ys) = halves(kind, random, 16), halves(kind, random, 16)
        a, b = words(8, 32), words(8, 32)
        a[0, :16], b[0, :16] = x, y
        if layout == "wmma":
            a[:, 16:], b[:, 16:] = a[:, :16], b[:, :16]
        before = random.integers(0, 1 << 32, (8, 32), dtype=np.uint32)
        d = multiply(before.copy(), a, b, None, shape, (kind, kind, kind), high=high)
        with np.errstate(all="ignore"):
            wanted = as_bits(np.outer(xs, ys), kind)  # of float32: exact
        for i in range(16):
            if layout == "wmma":
                row, shift = d[i // 2, 16 * (i % 2) : 16 * (i % 2) + 16], 16 * high
                old = before[i // 2, 16 * (i % 2) : 16 * (i % 2) + 16]
                assert ((row ^ old) >> np.uint32(16 - shift) & 0xFFFF == 0).all()
            else:
                row, shift = d[i % 8 // 2, 16 * (i // 8) : 16 * (i // 8) + 16], 16 * (i % 2)
            got = row >> np.uint32(shift) & 0xFFFF
            infinite = 0x7C00 if kind == "f16" else 0x7F80
            got = np.where(got & 0x7FFF > infinite, 0x7FFF, got)
            same = (got == wanted[i]) | (got | wanted[i] == 0x8000)  # 0 is added to them: no sign of zero
            assert same.all(), (i, x[i], y[~same], got[~same], wanted[i][~same])


@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize("high", [0, 1])
@pytest.mark.parametrize(("neg", "absolute"), [(0, 0), (4, 0), (0, 4), (4, 4)])
def test_c_of_16_bits_comes_back(kind: str, high: int, neg: int, absolute: int) -> None:
    """Where A and B are 0, D is C with its modifiers: signs are flipped behind the absolute value."""
    shape = {"m": 16, "n": 16, "k": 16, "blocks": 1, "wave": 32, "layout": LAYOUT["wmma"]}
    zero = words(8, 32)
    infinite = 0x7C00 if kind == "f16" else 0x7F80
    for first in range(0, 1 << 16, 1 << 12):
        given = np.arange(first, first + 256 * 16, 16, dtype=np.uint32)
        c = (given << np.uint32(16 * high) | np.uint32(0x5555 << 16 * (1 - high))).reshape(8, 32)
        d = multiply(words(8, 32), zero, zero, c, shape, (kind, kind, kind), high=high, neg_lo=neg, neg_hi=absolute)
        got = (d >> np.uint32(16 * high) & 0xFFFF).ravel()
        wanted = (given & 0x7FFF if absolute else given) ^ (0x8000 if neg else 0)
        number = given & 0x7FFF <= infinite
        assert (got == wanted)[number & (given & 0x7FFF != 0)].all()
        assert (got[~number] & 0x7FFF > infinite).all()


def b_lane(lane: int, blgp: int) -> int:
    """CDNA 3 ISA manual, "BLGP": lanes of B that are broadcast or rotated."""
    if blgp == 1:
        return lane % 32
    if blgp == 2:
        return 32 + lane % 32
    if blgp == 3:
        return (lane + 16) % 64
    return lane if blgp == 0 else lane % 16 + 16 * (blgp - 4)


@pytest.mark.parametrize("blgp", range(8))
def test_lanes_of_b_in_other_places(blgp: int) -> None:
    shape = {"m": 32, "n": 32, "k": 1, "blocks": 2, "wave": 64, "layout": LAYOUT["mfma"]}
    a, b = words(1), np.arange(1, 65, dtype=np.float32).view(np.uint32).reshape(1, 64)
    a[:] = ONE["f32"]
    d = multiply(words(32), a, b, None, shape, ("f32", "f32", "f32"), blgp=blgp).view(np.float32)
    for block in range(2):
        assert d[16 * block, :32].tolist() == [1.0 + b_lane(32 * block + lane, blgp) for lane in range(32)]


@pytest.mark.parametrize(("cbsz", "abid"), [(c, a) for c in range(5) for a in {0, 1, (1 << c) - 1} if a < 1 << c])
def test_one_block_of_a_for_several(cbsz: int, abid: int) -> None:
    """CBSZ: groups of 2^CBSZ blocks share the block ABID of them."""
    shape = {"m": 4, "n": 4, "k": 1, "blocks": 16, "wave": 64, "layout": LAYOUT["mfma"]}
    a = np.arange(64, dtype=np.float32).view(np.uint32).reshape(1, 64)
    b = words(1)
    b[:] = ONE["f32"]
    d = multiply(words(4), a, b, None, shape, ("f32", "f32", "f32"), cbsz=cbsz, abid=abid).view(np.float32)
    for block in range(16):
        source = block // (1 << cbsz) * (1 << cbsz) + abid
        for i in range(4):
            assert d[i, 4 * block : 4 * block + 4].tolist() == [4.0 * source + i] * 4


@pytest.mark.parametrize(("m", "k", "blocks"), [(32, 1, 2), (32, 2, 1), (16, 4, 1), (16, 1, 4), (4, 1, 16)])
@pytest.mark.parametrize("kind", ["f32", "i32"])
def test_d_may_lie_over_c(m: int, k: int, blocks: int, kind: str) -> None:
    """Wherever it begins: what is added is what was there before."""
    random = np.random.default_rng(7)
    registers = m * m * blocks // 64
    shape = {"m": m, "n": m, "k": k if kind == "f32" else 4 * k, "blocks": blocks, "wave": 64, "layout": LAYOUT["mfma"]}
    small = random.integers(1, 9, (2, 1, 64))
    a, b = small.astype(np.float32).view(np.uint32) if kind == "f32" else (small << 8).astype(np.uint32)
    element = "f32" if kind == "f32" else "i8"
    values = random.integers(1, 99, (3 * registers, 64))
    file = values.astype(np.float32).view(np.uint32) if kind == "f32" else values.astype(np.uint32)
    for away in sorted({-registers, 1 - registers, -1, 0, 1, registers - 1, registers}):
        c = file[registers : 2 * registers]
        wanted = multiply(words(registers), a, b, c.copy(), shape, (element, element, kind))
        there = file.copy()
        place = slice(registers + away, 2 * registers + away)
        multiply(there[place], a, b, there[registers : 2 * registers], shape, (element, element, kind))
        assert (there[place] == wanted).all(), away
        others = np.ones(3 * registers, bool)
        others[place] = False
        assert (there[others] == file[others]).all()


@pytest.mark.parametrize("clamp", [0, 1])
def test_sums_of_integers_wrap_or_stay_at_their_limits(clamp: int) -> None:
    """Only the last addition, of C, saturates."""
    shape = {"m": 16, "n": 16, "k": 16, "blocks": 1, "wave": 32, "layout": LAYOUT["wmma"]}
    most = 2**31 - 1
    for sign, c in ((1, most - 16129 * 16), (1, most - 16129 * 16 + 1), (-1, -most - 1 + 16256 * 16), (-1, -most - 1)):
        a, b = words(4, 32), words(4, 32)
        a[:], b[:] = 0x7F7F7F7F, 0x7F7F7F7F if sign > 0 else 0x80808080
        total = 16 * 127 * (127 if sign > 0 else -128)
        d = multiply(words(8, 32), a, b, None, shape, ("i8", "i8", "i32"), constant=c & 0xFFFFFFFF, clamp=clamp)
        wanted = min(max(c + total, -most - 1), most) if clamp else (c + total + 2**31) % 2**32 - 2**31
        assert set(d.view(np.int32).ravel().tolist()) == {wanted}


@pytest.mark.parametrize("m", [16, 4])
@pytest.mark.parametrize("negate", range(8))
def test_doubles_and_their_signs(m: int, negate: int) -> None:
    """16x16x4 and 4x4x4 of four blocks; neg of A, B and C are bits 0, 1 and 2."""
    random = np.random.default_rng(negate)
    blocks, k = (1, 4) if m == 16 else (4, 4)
    count = m * m * blocks // 64
    shape = {"m": m, "n": m, "k": k, "blocks": blocks, "wave": 64, "layout": LAYOUT["mfma"]}
    a, b = random.integers(-9, 10, (2, 64)).astype(float)
    c = random.integers(-9, 10, (count, 64)).astype(float)

    def split(x: np.ndarray) -> np.ndarray:
        pairs = x.view(np.uint32).reshape(*x.shape[:-1], 64, 2)
        return np.ascontiguousarray(np.moveaxis(pairs, -1, -2).reshape(-1, 64))

    d = multiply(
        words(2 * count), split(a[None]), split(b[None]), split(c), shape, ("f64", "f64", "f64"), neg_lo=negate
    )
    got = (d[0::2].astype(np.uint64) | d[1::2].astype(np.uint64) << np.uint64(32)).view(np.float64)
    signs = [-1 if negate >> n & 1 else 1 for n in range(3)]
    for lane in range(64):
        for element in range(count):
            block = lane // 4 % blocks if m == 4 else 0
            i, j = (4 * element + lane // 16, lane % 16) if m == 16 else (lane // 16, lane % 4)
            rows = [(a[i + m * (block + blocks * x)], b[j + m * (block + blocks * x)]) for x in range(k)]
            wanted = signs[0] * signs[1] * sum(x * y for x, y in rows) + signs[2] * c[element, lane]
            assert got[element, lane] == wanted


@pytest.mark.parametrize("lanes", [32, 64])
def test_rows_of_wmma_on_waves_of_both_sizes(lanes: int) -> None:
    """RDNA 3, 7.9: lane l has row l % 16 of A and column l % 16 of B; each 16 lanes of a register of C and D are a row,
    so that a register has two rows in a wave32 and four in a wave64."""
    a, b, c = np.random.default_rng(8).integers(-9, 10, (3, 16, 16)).astype("float64")
    rows = lanes // 16
    first, second, third = words(8, lanes), words(8, lanes), words(16 // rows, lanes).view(np.float32)
    for lane in range(lanes):
        for k in range(16):
            first[k // 2, lane] |= int(np.float16(a[lane % 16, k]).view(np.uint16)) << 16 * (k % 2)
            second[k // 2, lane] |= int(np.float16(b[k, lane % 16]).view(np.uint16)) << 16 * (k % 2)
    for i in range(16):
        third[i // rows, 16 * (i % rows) : 16 * (i % rows) + 16] = c[i]
    shape = {"m": 16, "n": 16, "k": 16, "blocks": 1, "wave": lanes, "layout": LAYOUT["wmma"]}
    found = multiply(words(16 // rows, lanes), first, second, third, shape, ("f16", "f16", "f32")).view(np.float32)
    assert (found.reshape(16, 16) == a @ b + c).all()
