"""Matrix instructions on both machines against numpy, with lanes and registers placed by the published equations.

The equations for "which element does lane L hold in register r" are those that AMD's Matrix Instruction Calculator
prints (--matrix-layout; the CDNA3 and RDNA3 ISA manuals have them as tables): the inverse of what isa/matrix.py says.
Small whole numbers make every sum exact, so expected numbers are numpy's product.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from gpulab import architectures
from gpulab.errors import UnsupportedInstruction
from gpulab.virtual_gpu import isa
from gpulab.virtual_gpu.isa.assembly import parse
from gpulab.virtual_gpu.isa.matrix import b_lane, broadcast_block, input_place, output_place, registers
from gpulab.virtual_gpu.isa.row import Matrix
from gpulab.virtual_gpu.machine.arena import Arena
from gpulab.virtual_gpu.machine.device import VirtualDevice
from tests.reference.test_against_translation import on_host, on_reference

ROWS = {
    arch: [r for r in isa.table(arch).values() if isinstance(r, Matrix)]
    for arch in ("gfx942", "gfx1100", "gfx90a", "gfx950", "gfx1201")
}
SPARSE = [(arch, r) for arch in ("gfx942", "gfx950") for r in ROWS[arch] if r.layout == "smfmac"]
SPARSE = [(arch, r) for arch, r in SPARSE if arch == "gfx942" or r not in ROWS["gfx942"]]
ROWS = {arch: [r for r in rows if r.layout != "smfmac"] for arch, rows in ROWS.items()}
NEW_NAMES = [("gfx942", r) for r in ROWS["gfx942"] if "_" in r.mnemonic.split("x")[-1]]
NEW_NAMES += [("gfx950", r) for r in ROWS["gfx950"] if r not in ROWS["gfx942"] and "_" in r.mnemonic.split("x")[-1]]
NEW_NAMES += [("gfx90a", r) for r in ROWS["gfx90a"] if r not in ROWS["gfx942"]]
NEW_NAMES += [(arch, r) for arch in ("gfx1100", "gfx1201") for r in ROWS[arch]]
EIGHT_BITS = {"fp8": (3, 8), "bf8": (2, 16), "e4m3": (3, 7), "e5m2": (2, 15)}  # fraction, bias
BITS = {"f64": 64, "f32": 32, "xf32": 32, "i32": 32, "f16": 16, "bf16": 16, "iu4": 4}  # others have 8


def row_of(arch: str, mnemonic: str) -> Matrix:
    row = isa.table(arch)[mnemonic]
    assert isinstance(row, Matrix)
    return row


# ------------------------------------------------------------------------------------- where an element is


def a_holds(row: Matrix, lane: int, element: int) -> tuple[int, int, int]:
    """(block, i, k) of A's element in a lane; for B (block, j, k), as all shapes are square in m and n."""
    if row.layout == "wmma":
        return 0, lane % 16, element
    if row.layout == "wmma12":  # RDNA4 ISA manual 7.12: two halves of k
        return 0, lane % 16, row.k // 2 * (lane // 16) + element
    per_lane = row.m * row.k * row.blocks // 64
    if row.a == "f64":
        return lane // row.m % row.blocks, lane % row.m, lane // 16
    return lane // row.m % row.blocks, lane % row.m, per_lane * (lane // (row.m * row.blocks)) + element


def d_holds(row: Matrix, lane: int, element: int, lanes: int) -> tuple[int, int, int]:
    """(block, i, j) of D's element in a lane (element: register, or pair of registers for f64)."""
    if row.layout == "wmma":
        return 0, element * (lanes // 16) + lane // 16, lane % 16
    if row.layout == "wmma12":
        return 0, 8 * (lane // 16) + element, lane % 16
    if row.d == "f64":
        return (0, 4 * element + lane // 16, lane % 16) if row.m == 16 else (lane // 4 % 4, lane // 16, lane % 4)
    if row.m == 32:
        return element // 16, 8 * (element // 4) % 32 + 4 * (lane // 32) + element % 4, lane % 32
    if row.m == 16:
        return element // 4, 4 * (lane // 16) + element % 4, lane % 16
    return lane // 4, element % 4, lane % 4


@pytest.mark.parametrize(
    ("mnemonic", "i", "k", "block", "expected"),
    [
        ("v_mfma_f32_32x32x8_f16", 5, 6, 0, (37, 2)),  # v1{37}.[15:0]
        ("v_mfma_f32_16x16x16_bf16", 3, 13, 0, (51, 1)),  # v0{51}.[31:16]
        ("v_mfma_f32_16x16x4_f32", 2, 3, 0, (50, 0)),
        ("v_mfma_f32_32x32x1_2b_f32", 7, 0, 1, (39, 0)),
        ("v_mfma_i32_4x4x4_16b_i8", 3, 2, 15, (63, 2)),  # v0{63}.[23:16]
        ("v_mfma_f32_16x16x32_fp8_bf8", 1, 31, 0, (49, 7)),  # v1{49}.[31:24]
        ("v_mfma_f64_4x4x4_4b_f64", 1, 2, 3, (45, 0)),
        ("v_mfma_f64_16x16x4_f64", 9, 2, 0, (41, 0)),
        ("v_mfma_f32_16x16x8_xf32", 4, 5, 0, (36, 1)),
    ],
)
def test_places_in_a(mnemonic, i, k, block, expected):
    assert input_place(row_of("gfx942", mnemonic), row_of("gfx942", mnemonic).m, i, k, block) == expected


@pytest.mark.parametrize(
    ("arch", "mnemonic", "i", "j", "block", "expected"),
    [
        ("gfx942", "v_mfma_f32_32x32x8_f16", 13, 3, 0, (35, 5)),
        ("gfx942", "v_mfma_f32_32x32x1_2b_f32", 31, 31, 1, (63, 31)),
        ("gfx942", "v_mfma_f32_16x16x16_f16", 14, 2, 0, (50, 2)),
        ("gfx942", "v_mfma_f32_16x16x4_4b_f16", 14, 2, 3, (50, 14)),
        ("gfx942", "v_mfma_f32_4x4x1_16b_f32", 2, 1, 9, (37, 2)),
        ("gfx942", "v_mfma_f64_16x16x4_f64", 6, 5, 0, (37, 1)),
        ("gfx942", "v_mfma_f64_4x4x4_4b_f64", 2, 3, 1, (39, 0)),
        ("gfx1100", "v_wmma_f32_16x16x16_f16", 5, 9, 0, (25, 2)),
        ("gfx1100", "v_wmma_f16_16x16x16_f16", 6, 1, 0, (1, 3)),
    ],
)
def test_places_in_d(arch, mnemonic, i, j, block, expected):
    assert output_place(row_of(arch, mnemonic), 64 if arch == "gfx942" else 32, i, j, block) == expected


def test_a_wave64_of_gfx11_has_four_rows_in_a_register():
    row = row_of("gfx1100", "v_wmma_f32_16x16x16_f16")
    assert output_place(row, 64, 7, 2) == (50, 1)
    assert registers(row, "d", 64) == 4
    assert registers(row, "a", 64) == 8


def test_broadcasts_of_a_and_b():
    row = row_of("gfx942", "v_mfma_f32_4x4x1_16b_f32")
    assert [broadcast_block(row, block, 2, 3) for block in range(16)] == [3] * 4 + [7] * 4 + [11] * 4 + [15] * 4
    patterns = {
        0: range(64), 1: [*range(32)] * 2, 2: [*range(32, 64)] * 2, 3: [*range(16, 64), *range(16)],
        4: [*range(16)] * 4, 5: [*range(16, 32)] * 4, 6: [*range(32, 48)] * 4, 7: [*range(48, 64)] * 4,
    }  # fmt: skip
    for blgp, lanes in patterns.items():
        assert [b_lane(lane, blgp) for lane in range(64)] == list(lanes)


# ------------------------------------------------------------------------------------- running one instruction

KERNEL = """
.amdgcn_target "amdgcn-amd-amdhsa--{arch}"
.text
k:
{body}
  s_endpgm
.rodata
.amdhsa_kernel k
  .amdhsa_kernarg_size 16
  .amdhsa_user_sgpr_count 2
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr {vgprs}
  .amdhsa_next_free_sgpr 32
  {more}
.end_amdhsa_kernel
"""


class Run:
    """One matrix instruction with A, B, C in registers; D's words from both machines, which must be equal.

    `d`, `a`, `b`, `c`: first registers, such as "v32" or "a0"; `c` may be a constant. `before`: lines in front.
    """

    def __init__(self, arch: str, devices: dict[str, VirtualDevice]) -> None:
        self.arch, self.device, self.lanes = arch, devices[arch], 64 if arch.startswith("gfx9") else 32

    def program(self, row: Matrix, *, d="v96", a="v32", b="v48", c="v64", modifiers="", before=()) -> tuple:
        """The text, the number of D's registers, and how many of them each access loads, and stores."""
        wide = self.lanes == 64
        add = "v_add_u32" if wide else "v_add_nc_u32"
        lines = ["s_load_dwordx4 s[4:7], s[0:1], 0x0" if wide else "s_load_b128 s[4:7], s[0:1], 0x0"]
        lines += ["v_lshlrev_b32 v1, 2, v0", "v_lshlrev_b32 v2, 4, v0"]
        counts = {name: registers(row, name.replace("c", "d"), self.lanes) for name in "abcd"}
        if row.layout == "smfmac":
            counts["c"] = 1

        def accesses(kind: str, start: str, count: int, base: str, offset: int) -> list[int]:
            """An access each for four registers in a row, or for one: its lines, and how many registers each takes.

            v1 and v2 are 4 and 16 times the lane's number; accumulation registers go through v28 to v31.
            """
            sizes, at, end = [], int(start[1:]), int(start[1:]) + count
            while at < end:
                size = 4 if at % 4 == 0 and at + 4 <= end else 1
                own = 28 if start[0] == "a" else at
                name = f"v[{own}:{own + size - 1}]" if size > 1 else f"v{own}"
                unit = ("dwordx4" if size > 1 else "dword") if wide else ("b128" if size > 1 else "b32")
                lines.append(f"{add} v3, 0x{offset:x}, v{2 if size > 1 else 1}")
                moves = range(size if start[0] == "a" else 0)
                if kind == "load":
                    lines.append(f"global_load_{unit} {name}, v3, {base}")
                    lines.extend(f"v_accvgpr_write_b32 a{at + i}, v{own + i}" for i in moves)
                else:
                    lines.extend(f"v_accvgpr_read_b32 v{own + i}, a{at + i}" for i in moves)
                    lines.append(f"global_store_{unit} v3, {name}, {base}")
                sizes.append(size)
                offset += 4 * self.lanes * size
                at += size
            return sizes

        names, loads = {}, []
        for name, start in (("a", a), ("b", b), ("c", c), ("d", d)):
            if start[0] not in "va":
                names[name] = start
                continue
            first, count = int(start[1:]), counts[name]
            names[name] = f"{start[0]}[{first}:{first + count - 1}]" if count > 1 else start
            loads += accesses("load", start, count, "s[6:7]", 4 * self.lanes * sum(loads))
        lines += before
        lines.append(f"{row.mnemonic} {names['d']}, {names['a']}, {names['b']}, {names['c']} {modifiers}")
        lines.append("s_mov_b64 exec, -1" if wide else "s_mov_b32 exec_lo, -1")
        stores = accesses("store", d, counts["d"], "s[4:5]", 0)
        more = ".amdhsa_accum_offset 128" if wide else ""
        vgprs = 128 + 64 if wide else 128
        body = "\n".join("  " + line for line in lines)
        return KERNEL.format(arch=self.arch, body=body, vgprs=vgprs, more=more), counts["d"], loads, stores

    def __call__(self, row: Matrix, words: np.ndarray, **options) -> np.ndarray:
        text, count, loads, stores = self.program(row, **options)
        program, given = parse(text), as_accessed(words, loads)
        reference = by_register(on_reference(program, given, count, self.lanes), stores)
        host = by_register(on_host(self.device, program, given, count, self.lanes), stores)
        assert np.array_equal(canonical(row, reference), canonical(row, host))
        return host


def as_accessed(words: np.ndarray, sizes: list[int]) -> np.ndarray:
    """Rows, one a register, as accesses of so many registers have them in memory: those of a lane side by side."""
    rows, result = iter(words), []
    for size in sizes:
        result.append(np.array([next(rows, np.zeros_like(words[0])) for _ in range(size)]).T.reshape(size, -1))
    return np.ascontiguousarray(np.concatenate(result))


def by_register(words: np.ndarray, sizes: list[int]) -> np.ndarray:
    """The opposite."""
    rows, at = [], 0
    for size in sizes:
        rows.append(words[at : at + size].reshape(-1, size).T)
        at += size
    return np.ascontiguousarray(np.concatenate(rows))


def canonical(row: Matrix, words: np.ndarray) -> np.ndarray:
    """The words with one NaN for all."""
    words = np.ascontiguousarray(words).copy()
    if row.d == "f64":
        doubles = (words[0::2].astype(np.uint64) | words[1::2].astype(np.uint64) << np.uint64(32)).view(np.float64)
        words[1::2][np.isnan(doubles)] = words[0::2][np.isnan(doubles)] = 0x7FFFFFFF
    elif row.d in ("f16", "bf16"):
        halves = words.view(np.uint16)
        halves[(halves & 0x7FFF) > (0x7C00 if row.d == "f16" else 0x7F80)] = 0x7FFF
    elif row.d == "f32":
        words[np.isnan(words.view(np.float32))] = 0x7FFFFFFF
    return words


@pytest.fixture(scope="module")
def devices():
    arena = Arena()
    return {arch: VirtualDevice(architectures.get(arch), arena, 0) for arch in ROWS}


def encode(value: float, element: str) -> int:
    """The bits of a small number."""
    if element == "f64":
        return int(np.float64(value).view(np.uint64))
    if element in ("f32", "xf32"):
        return int(np.float32(value).view(np.uint32))
    if element == "f16":
        return int(np.float16(value).view(np.uint16))
    if element == "bf16":
        return int(np.float32(value).view(np.uint32)) >> 16
    if element in EIGHT_BITS:
        if value == 0:
            return 0
        fraction, bias = EIGHT_BITS[element]
        mantissa, exponent = math.frexp(abs(value))
        return int(value < 0) << 7 | exponent - 1 + bias << fraction | int((2 * mantissa - 1) * 2**fraction)
    return int(value) & (1 << BITS.get(element, 8)) - 1


def pack(row: Matrix, matrix: np.ndarray, element: str, lanes: int, count: int) -> np.ndarray:
    """A as [block, i, k] (or B as [block, j, k]) in `count` registers."""
    words = np.zeros((count, lanes), np.uint32)
    bits = BITS.get(element, 8)
    for lane in range(lanes):
        for number in range(count * 32 // bits):
            value = encode(matrix[a_holds(row, lane, number)], element)
            if bits == 64:
                words[2 * number, lane], words[2 * number + 1, lane] = value & 0xFFFFFFFF, value >> 32
            else:
                words[number * bits // 32, lane] |= np.uint32(value << number * bits % 32)
    return words


def pack_d(row: Matrix, matrix: np.ndarray, lanes: int) -> np.ndarray:
    """C or D as [block, i, j] in registers; 16-bit elements in the low halves, on gfx12 in both."""
    if row.layout == "wmma12" and row.d in ("f16", "bf16"):
        packed = np.zeros((4, lanes), np.uint32)
        for lane in range(lanes):
            for number in range(8):
                value = encode(matrix[d_holds(row, lane, number, lanes)], row.d)
                packed[number // 2, lane] |= np.uint32(value << 16 * (number % 2))
        return packed
    size = 2 if row.d == "f64" else 1
    words = np.zeros((registers(row, "d", lanes), lanes), np.uint32)
    for lane in range(lanes):
        for number in range(len(words) // size):
            value = encode(matrix[d_holds(row, lane, number, lanes)], row.d)
            for part in range(size):
                words[size * number + part, lane] = value >> 32 * part & 0xFFFFFFFF
    return words


def inputs(row: Matrix, a: np.ndarray, b: np.ndarray, c: np.ndarray, lanes: int) -> np.ndarray:
    """Words of A, B, C and of D before (zeros). `b` is [block, j, k]."""
    packed_a = pack(row, a, row.a, lanes, registers(row, "a", lanes))
    packed_b = pack(row, b, row.b, lanes, registers(row, "b", lanes))
    packed_c = pack_d(row, c, lanes)
    return np.concatenate([packed_a, packed_b, packed_c, np.zeros_like(packed_c)])


def matrices(row: Matrix, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Small whole numbers: A [block, i, k], B [block, j, k], C [block, i, j]."""
    numbers = np.random.default_rng(seed)
    low = 0 if row.a.startswith("iu") else -4
    return (
        numbers.integers(low, 5, (row.blocks, row.m, row.k)),
        numbers.integers(low, 5, (row.blocks, row.n, row.k)),
        numbers.integers(-9, 10, (row.blocks, row.m, row.n)),
    )


# ------------------------------------------------------------------------------------- products


@pytest.mark.parametrize(("arch", "row"), NEW_NAMES, ids=lambda x: x if isinstance(x, str) else x.mnemonic)
def test_product(devices, arch, row):
    run = Run(arch, devices)
    a, b, c = matrices(row)
    expected = pack_d(row, a @ b.transpose(0, 2, 1) + c, run.lanes)
    words = inputs(row, a, b, c, run.lanes)
    found = run(row, words)
    assert np.array_equal(found, expected)
    constant = run(row, words[: -registers(row, "d", run.lanes)], c="1" if row.d == "i32" else "1.0")
    assert np.array_equal(constant, pack_d(row, a @ b.transpose(0, 2, 1) + 1, run.lanes))


@pytest.mark.parametrize(
    "old_and_new",
    [
        ("v_mfma_f32_32x32x1f32", "v_mfma_f32_32x32x1_2b_f32"),
        ("v_mfma_f32_16x16x16bf16_1k", "v_mfma_f32_16x16x16_bf16"),
        ("v_mfma_f64_16x16x4f64", "v_mfma_f64_16x16x4_f64"),
        ("v_mfma_i32_4x4x4i8", "v_mfma_i32_4x4x4_16b_i8"),
        ("v_mfma_f32_32x32x4xf32", "v_mfma_f32_32x32x4_xf32"),
    ],
)
def test_older_names(old_and_new):
    old, new = (row_of("gfx942", name) for name in old_and_new)
    assert (old.m, old.n, old.k, old.blocks, old.a, old.d) == (new.m, new.n, new.k, new.blocks, new.a, new.d)


@pytest.mark.parametrize("mnemonic", ["v_mfma_f32_32x32x8_f16", "v_mfma_f64_16x16x4_f64"])
def test_accumulation_registers_and_a_destination_that_is_c(devices, mnemonic):
    row = row_of("gfx942", mnemonic)
    a, b, c = matrices(row, 2)
    run = Run("gfx942", devices)
    words = inputs(row, a, b, c, 64)
    count = registers(row, "d", 64)
    expected = pack_d(row, a @ b.transpose(0, 2, 1) + c, 64)
    assert np.array_equal(
        run(row, words, a="a40", b="v4", c="a0", d="a0")[:count], pack_d(row, a @ b.transpose(0, 2, 1), 64)
    )
    in_order = np.concatenate([words, words[-2 * count : -count]])[: len(words)]
    in_order[-count:] = words[-2 * count : -count]  # D is loaded last, over C
    assert np.array_equal(run(row, in_order, a="a40", b="v4", c="a0", d="a0"), expected)


def test_mfma_does_not_look_at_exec(devices):
    row = row_of("gfx942", "v_mfma_f32_16x16x16_f16")
    a, b, c = matrices(row, 3)
    found = Run("gfx942", devices)(row, inputs(row, a, b, c, 64), before=["s_mov_b64 exec, 5"])
    assert np.array_equal(found, pack_d(row, a @ b.transpose(0, 2, 1) + c, 64))


def test_one_block_of_a_for_four(devices):
    row = row_of("gfx942", "v_mfma_f32_4x4x1_16b_f32")
    a, b, c = matrices(row, 4)
    found = Run("gfx942", devices)(row, inputs(row, a, b, c, 64), modifiers="cbsz:2 abid:1")
    shared = a[[1] * 4 + [5] * 4 + [9] * 4 + [13] * 4]
    assert np.array_equal(found, pack_d(row, shared @ b.transpose(0, 2, 1) + c, 64))


def test_b_from_the_second_half_and_rotated(devices):
    row = row_of("gfx942", "v_mfma_f32_16x16x1_4b_f32")  # a block of B is 16 lanes
    a, b, c = matrices(row, 5)
    run, words = Run("gfx942", devices), inputs(row, a, b, c, 64)
    for modifiers, blocks in (("blgp:2", [2, 3, 2, 3]), ("blgp:3", [1, 2, 3, 0]), ("blgp:6", [2, 2, 2, 2])):
        expected = pack_d(row, a @ b[blocks].transpose(0, 2, 1) + c, 64)
        assert np.array_equal(run(row, words, modifiers=modifiers), expected), modifiers


def test_doubles_have_signs_where_others_have_blgp(devices):
    row = row_of("gfx942", "v_mfma_f64_4x4x4_4b_f64")
    a, b, c = matrices(row, 6)
    found = Run("gfx942", devices)(row, inputs(row, a, b, c, 64), modifiers="neg:[1,0,1]")
    assert np.array_equal(found, pack_d(row, -(a @ b.transpose(0, 2, 1)) - c, 64))


# ------------------------------------------------------------------------------------- WMMA's modifiers


def test_signed_and_unsigned_bytes_and_saturation(devices):
    row = row_of("gfx1100", "v_wmma_i32_16x16x16_iu8")
    run = Run("gfx1100", devices)
    a, b = np.full((1, 16, 16), 255), np.full((1, 16, 16), 254)
    c = np.full((1, 16, 16), 0x7FFFFFF0)
    words = inputs(row, a, b, c * 0 + 5, 32)
    for modifiers, value in (
        ("", 16 * 255 * 254 + 5),
        ("neg_lo:[1,0,0]", -16 * 254 + 5),
        ("neg_lo:[0,1,0]", -2 * 16 * 255 + 5),
        ("neg_lo:[1,1,0]", 16 * 2 + 5),
    ):
        assert set(run(row, words, modifiers=modifiers).view(np.int32).flat) == {value}, modifiers
    words = inputs(row, a, b, c, 32)
    assert set(run(row, words).flat) == {(0x7FFFFFF0 + 16 * 255 * 254) & 0xFFFFFFFF}
    assert set(run(row, words, modifiers="clamp").flat) == {0x7FFFFFFF}


def test_signed_nibbles(devices):
    row = row_of("gfx1100", "v_wmma_i32_16x16x16_iu4")
    a, b, c = np.full((1, 16, 16), 15), np.full((1, 16, 16), 7), np.zeros((1, 16, 16), int)
    run, words = Run("gfx1100", devices), inputs(row, a, b, c, 32)
    assert set(run(row, words).flat) == {16 * 15 * 7}
    assert set(run(row, words, modifiers="neg_lo:[1,0,0]").view(np.int32).flat) == {-16 * 7}


def test_signs_of_even_and_odd_elements_and_of_c(devices):
    row = row_of("gfx1100", "v_wmma_f32_16x16x16_bf16")
    a, b, c = matrices(row, 7)
    run, words = Run("gfx1100", devices), inputs(row, a, b, c, 32)
    flipped = a.copy()
    flipped[:, :, 1::2] *= -1
    for modifiers, left, added in (
        ("neg_hi:[1,0,0]", flipped, c),
        ("neg_lo:[1,0,0] neg_hi:[1,0,0]", -a, c),
        ("neg_lo:[0,0,1]", a, -c),
        ("neg_hi:[0,0,1]", a, abs(c)),
        ("neg_lo:[0,0,1] neg_hi:[0,0,1]", a, -abs(c)),
    ):
        expected = left @ b.transpose(0, 2, 1) + added
        assert np.array_equal(
            run(row, words, modifiers=modifiers).view(np.float32), pack_d(row, expected, 32).view(np.float32)
        ), modifiers


@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_a_half_of_each_register(devices, element):
    row = row_of("gfx1100", f"v_wmma_{element}_16x16x16_{element}")
    a, b, c = matrices(row, 8)
    words = inputs(row, a, b, c, 32)
    words[-8:] = 0x12345678  # D before
    run = Run("gfx1100", devices)
    expected = pack_d(row, a @ b.transpose(0, 2, 1) + c, 32)
    assert np.array_equal(run(row, words), expected | 0x12340000)
    words[-16:-8] <<= 16
    assert np.array_equal(run(row, words, modifiers="op_sel:[0,0,1]"), expected << 16 | 0x5678)


# ------------------------------------------------------------------------------------- arithmetic


@pytest.mark.parametrize(("k", "expected"), [(0, 16777216.0), (3, 16777220.0)])
def test_f32_adds_one_product_after_another(devices, k, expected):
    row = row_of("gfx942", "v_mfma_f32_16x16x4_f32")
    a, b, c = np.ones((1, 16, 4)), np.ones((1, 16, 4)), np.zeros((1, 16, 16))
    a[:, :, k] = 2.0**24  # one more is lost to rounding, three more are four
    found = Run("gfx942", devices)(row, inputs(row, a, b, c, 64))
    assert set(found.view(np.float32).flat) == {expected}


def test_products_are_not_rounded(devices):
    row = row_of("gfx942", "v_mfma_f32_16x16x4_f32")
    x = 1 + 2.0**-23
    a, b, c = np.zeros((1, 16, 4)), np.zeros((1, 16, 4)), np.full((1, 16, 16), -(1 + 2.0**-22))
    a[:, :, 0] = b[:, :, 0] = x
    found = Run("gfx942", devices)(row, inputs(row, a, b, c, 64))
    assert set(found.view(np.float32).flat) == {2.0**-46}


def test_xf32_cuts_off_thirteen_bits_and_subnormals_stay(devices):
    run = Run("gfx942", devices)
    row = row_of("gfx942", "v_mfma_f32_16x16x8_xf32")
    a, b, c = np.zeros((1, 16, 8)), np.zeros((1, 16, 8)), np.zeros((1, 16, 16))
    a[:, :, 0], b[:, :, 0] = 1 + 2.0**-10 + 2.0**-11 + 2.0**-12, 1
    assert set(run(row, inputs(row, a, b, c, 64)).view(np.float32).flat) == {1 + 2.0**-10}
    row = row_of("gfx942", "v_mfma_f32_16x16x16_f16")
    a, b = np.zeros((1, 16, 16)), np.zeros((1, 16, 16))
    a[:, :, 15], b[:, :, 15] = 2.0**-24, -3
    assert set(run(row, inputs(row, a, b, c, 64)).view(np.float32).flat) == {-3 * 2.0**-24}


def test_f16_sums_are_rounded_once(devices):
    row = row_of("gfx1100", "v_wmma_f16_16x16x16_f16")
    a, b, c = np.full((1, 16, 16), 0.5), np.ones((1, 16, 16)), np.full((1, 16, 16), 2048.0)
    found = Run("gfx1100", devices)(row, inputs(row, a, b, c, 32))
    assert set(found.astype(np.uint16).view(np.float16).flat) == {2056.0}  # 0.5 alone is below f16's step there


@pytest.mark.full
@pytest.mark.parametrize(("arch", "row"), NEW_NAMES, ids=lambda x: x if isinstance(x, str) else x.mnemonic)
def test_random_bits_on_both_machines(devices, arch, row):
    run = Run(arch, devices)
    numbers = np.random.default_rng(len(row.mnemonic) + row.k)
    counts = [registers(row, name, run.lanes) for name in "abdd"]
    words = numbers.integers(0, 1 << 32, (sum(counts), run.lanes), np.uint32)
    rare = numbers.random(words.shape)
    words[rare < 0.1] &= 0x80FF80FF  # subnormals of many types
    words[(rare > 0.1) & (rare < 0.12)] = 0x7F807C00  # infinities
    if row.layout != "mfma":
        for start, count in ((0, counts[0]), (counts[0], counts[1])):
            if row.layout == "wmma":
                words[start : start + count, 16:] = words[start : start + count, :16]
        lists = ("neg_lo:[1,0,1]", "neg_hi:[0,1,1]") if row.d != "i32" else ("neg_lo:[1,0,0]", "clamp")
        lists = ("neg_lo:[0,0,1]", "neg_hi:[0,0,1]") if row.a in EIGHT_BITS else lists
        modifiers = " ".join(lists)
        modifiers += " op_sel:[0,0,1]" if row.layout == "wmma" and row.d in ("f16", "bf16") else ""
    else:
        modifiers = "neg:[0,1,1]" if row.d == "f64" else "blgp:3" + (" cbsz:1 abid:1" if row.blocks > 1 else "")
    run(row, words)
    run(row, words, modifiers=modifiers)


def test_wrong_operands_are_refused(devices):
    row = row_of("gfx942", "v_mfma_f32_16x16x16_f16")
    text, *_ = Run("gfx942", devices).program(row)
    for wrong, why in (("v[96:111]", "matrix D has 16 registers; it takes 4"), ("s[8:11]", "not in vector registers")):
        with pytest.raises(UnsupportedInstruction, match=why):
            devices["gfx942"].load(parse(text.replace("v[96:99]", wrong)))


# ------------------------------------------------------------------------------------- sparse A


def sparse(row: Matrix, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A [i, k] with two places of each four in use, its elements [i, k / 2] and their indices (0-3), in order."""
    numbers = np.random.default_rng(seed)
    a, stored = np.zeros((row.m, row.k), int), np.zeros((row.m, row.k // 2), int)
    indices = np.zeros((row.m, row.k // 2), int)
    for i in range(row.m):
        for group in range(row.k // 4):
            chosen = sorted(numbers.choice(4, 2, replace=False))
            for n, place in enumerate(chosen):
                value = int(numbers.integers(-4, 5))
                a[i, 4 * group + place] = stored[i, 2 * group + n] = value
                indices[i, 2 * group + n] = place
    return a, stored, indices


def packed_sparse(row: Matrix, stored: np.ndarray, indices: np.ndarray, first: int) -> tuple[np.ndarray, np.ndarray]:
    """A's registers and the index register. Lane i + m * g has elements 4 g .. of row i (8-bit types: 8 g ..)."""
    bits, per_lane = BITS.get(row.a, 8), row.m * row.k // 128
    words, index = np.zeros((registers(row, "a", 64), 64), np.uint32), np.zeros((1, 64), np.uint32)
    for lane in range(64):
        for number in range(per_lane):
            at = lane % row.m, per_lane * (lane // row.m) + number
            value = encode(stored[at], row.a)
            words[number * bits // 32, lane] |= np.uint32(value << number * bits % 32)
            index[0, lane] |= np.uint32(int(indices[at]) << first + 2 * number)
    return words, index


@pytest.mark.parametrize(("arch", "row"), SPARSE, ids=lambda x: x if isinstance(x, str) else x.mnemonic)
def test_sparse_product(devices, arch, row):
    a, stored, indices = sparse(row, 3)
    _, b, c = matrices(row)
    per_lane = row.m * row.k // 128
    for abid, modifiers in ((0, ""), (1, "abid:1"), (0, "cbsz:1 abid:1")):
        if abid and per_lane == 16:  # one set of indices fills the register
            continue
        words, index = packed_sparse(row, stored, indices, 2 * per_lane * abid)
        packed_b = pack(row, b, row.b, 64, registers(row, "b", 64))
        before = pack_d(row, c, 64)
        run = Run(arch, devices)
        found = run(row, np.concatenate([words, packed_b, index, before]), modifiers=modifiers)
        assert np.array_equal(found, pack_d(row, a @ b[0].T + c, 64)), modifiers


def test_there_are_fourteen_sparse_instructions():
    found = [row for arch, row in SPARSE if arch == "gfx942"]
    assert len(found) == 14
    assert {(r.m, r.k, r.a) for r in found if r.a == "f16"} == {(16, 32, "f16"), (32, 16, "f16")}
