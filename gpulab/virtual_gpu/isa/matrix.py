"""Matrix instructions: `MATRIX` has the rows, `input_place` and `output_place` say where each element lies.

Every lane of a wave holds a part of each matrix; the registers of one lane are a list of elements, packed from the
lowest bits of the first register upwards (`registers` counts them). One layout formula serves all MFMA shapes:

    A[i][k] of a block  lane = i + m * (block + blocks * (k // p)), element k % p, where p = m * k * blocks / 64
    B[k][j] of a block  the same with j and n
    D[i][j] of a block  rows come in groups of h (4; 1 for f64), one register each; 64 // n groups side by side fill
                        the lanes (those of several blocks if a block has fewer groups), then follow the next registers

and one all WMMA shapes of gfx11: row i of A and column j of B are lane i (j) and again every 16 lanes above, all k in
one lane; D[i][j] is in lane j + 16 * (i % (wave // 16)) of register i // (wave // 16). The copies of A and B must be
equal; the lowest is used. On gfx12 (wave32, "wmma12") A and B are laid out as by the MFMA formula for 32 lanes, without
copies, and D's rows come in two groups of 8: lane j + 16 * (i // 8), element i % 8; f16 and bf16 are packed, two to a
register.

Sparse A (smfmac): of each four elements along k a lane has two, and a 2-bit index of each, in the order of k; the rest
are 0. The indices of one lane's elements are a set of 8 or 16 bits of the index register (`index_set`). A, made dense
by them, lies as A of an MFMA of the same shape.

Sources: AMD's Matrix Instruction Calculator (its --register-layout tables), CDNA3 ISA manual chapter 7, RDNA3 ISA
manual 7.9, GPUOpen "How to accelerate AI applications on RDNA 3 using WMMA".

Arithmetic. Integers are exact. Floating point is a chain of fused multiply-adds in f32 (f64) from C, in the order of
k, rounded to nearest even at each step; MODE has no effect and no denormal is flushed (CDNA2 flushed those of f16 and
bf16, CDNA3 does not; for RDNA3 nothing is published). For f32 and f64 that is what CDNA3 does; of narrower elements it
adds groups of products with a truncation of its own, and may differ in the last bits (measured by MMA-Sim, arXiv
2511.10909). xf32 elements are f32 cut off after 10 fraction bits (the same source). EXEC has no effect on MFMA; WMMA
demands that all lanes are active, and is executed as if they were.
"""

from __future__ import annotations

from gpulab.virtual_gpu.isa.family import Family
from gpulab.virtual_gpu.isa.row import Matrix

MATRIX = Family("CDNA3 ISA manual chapter 7; RDNA3 ISA manual 7.9")

ELEMENT_BITS = {
    "f64": 64, "f32": 32, "xf32": 32, "i32": 32, "f16": 16, "bf16": 16,
    "i8": 8, "iu8": 8, "fp8": 8, "bf8": 8, "e4m3": 8, "e5m2": 8, "iu4": 4,
}  # fmt: skip
"""Bits of one element of A or B. (Each f16 or bf16 of D has a register of its own, but on gfx12.)"""


def _lanes(row: Matrix) -> int:
    """Lanes that hold A and B without copies."""
    return 32 if row.layout == "wmma12" else 64


def input_elements(row: Matrix, outer: int) -> int:
    """Elements of A (`outer` is m) or B (`outer` is n) that one lane holds."""
    return row.k if row.layout == "wmma" else outer * row.k * row.blocks // _lanes(row)


def input_place(row: Matrix, outer: int, index: int, k: int, block: int = 0) -> tuple[int, int]:
    """(lane, element) of A[index][k] with `outer` m, or of B[k][index] with `outer` n."""
    if row.layout == "wmma":
        return index, k
    per_lane = input_elements(row, outer)
    return index + outer * (block + row.blocks * (k // per_lane)), k % per_lane


def output_place(row: Matrix, wave_size: int, i: int, j: int, block: int = 0) -> tuple[int, int]:
    """(lane, element) of C[i][j] and D[i][j]; an element is a register, or a pair of them for f64."""
    if row.layout == "wmma":
        rows = wave_size // 16
        return j + 16 * (i % rows), i // rows
    if row.layout == "wmma12":
        return j + 16 * (i // 8), i % 8
    height = 1 if row.d == "f64" else 4
    groups = row.m // height  # of one block
    side = 64 // row.n  # groups that the lanes hold side by side
    blocks_beside = max(1, side // groups)
    lane = j + row.n * (block % blocks_beside + blocks_beside * (i // height % side))
    return lane, block // blocks_beside * (row.m * row.n // 64) + i // height // side * height + i % height


def registers(row: Matrix, operand: str, wave_size: int) -> int:
    """32-bit registers of one operand: "a", "b", or "d" (also for C)."""
    if operand == "d" and row.layout == "wmma12":
        return row.m * row.n * ELEMENT_BITS[row.d] // (32 * wave_size)
    if operand == "d":
        return row.m * row.n * row.blocks // wave_size * (2 if row.d == "f64" else 1)
    outer, element = (row.m, row.a) if operand == "a" else (row.n, row.b)
    halves = 2 if operand == "a" and row.layout == "smfmac" else 1
    return input_elements(row, outer) * ELEMENT_BITS[element] // 32 // halves


def index_set(row: Matrix, cbsz: int, abid: int) -> tuple[int, int]:
    """(first bit, bits) of the indices of a sparse A in each lane's index register."""
    bits = input_elements(row, row.m)  # two for each stored element, of which there are half as many
    return (abid % (32 // bits) * bits if not cbsz else 0), bits


def broadcast_block(row: Matrix, block: int, cbsz: int, abid: int) -> int:
    """The block of A that `block` uses: within each group of 2**cbsz blocks, number abid serves all."""
    return ((block >> cbsz << cbsz) + abid if cbsz else block) % row.blocks


def b_lane(lane: int, blgp: int) -> int:
    """The lane whose B the instruction takes for `lane` (MFMA, not f64)."""
    if blgp in (1, 2):  # one half of the wave for both
        return lane % 32 + 32 * (blgp - 1)
    if blgp == 3:  # all move down by 16 lanes
        return (lane + 16) % 64
    return lane % 16 + 16 * (blgp - 4) if blgp else lane


_WIDE = "exact (f32, f64: fused multiply-adds in the order of k, as on hardware)"
_NARROW = "fused multiply-adds in f32 in the order of k; hardware sums groups of products at once: last bits may differ"
_ONCE = "the f32 sum, rounded once at the end; the hardware's order and rounding of the sum are not published"


def mfma(d: str, shape: str, a: str, b: str = "", *, old: str = "", new: bool = True) -> list[Matrix]:
    """The rows of one instruction: under its name of gfx940 (if `new`) and, if given, the `old` one, which assemblers
    for gfx940 take too."""
    b = b or a
    parts = shape.split("_")
    m, n, k = (int(x) for x in parts[0].split("x"))
    blocks = int(parts[1][:-1]) if len(parts) > 1 else 1
    suffix = f"{a}_{b}" if a in ("fp8", "bf8") else a
    accuracy = "exact" if d == "i32" else _WIDE if a in ("f32", "f64") else _NARROW
    size = f"{m}x{n} += {m}x{k} times {k}x{n}" + (f", {blocks} blocks" if blocks > 1 else "")
    meaning = f"Matrix multiply-add by the whole wave: {size}; {suffix.replace('_', ' and ')} into {d}."
    names = [f"v_mfma_{d}_{shape}_{suffix}"] * new + [f"v_mfma_{d}_{old}"] * bool(old)
    return [Matrix(name, "mfma", m, n, k, blocks, a, b, d, accuracy, meaning) for name in names]


def _mfma(d: str, shape: str, a: str, b: str = "", *, old: str = "") -> None:
    for row in mfma(d, shape, a, b, old=old):
        MATRIX.add(row, "gfx9")


def smfmac(d: str, shape: str, a: str, b: str = "") -> Matrix:
    """The row of one sparse instruction."""
    b = b or a
    m, n, k = (int(x) for x in shape.split("x"))
    suffix = f"{a}_{b}" if a in ("fp8", "bf8") else a
    size = f"{m}x{n} += {m}x{k} (two of four elements in a row, with their indices) times {k}x{n}"
    meaning = f"Matrix multiply-add by the whole wave: {size}; {suffix.replace('_', ' and ')} into {d}."
    accuracy = "exact" if d == "i32" else _NARROW
    return Matrix(f"v_smfmac_{d}_{shape}_{suffix}", "smfmac", m, n, k, 1, a, b, d, accuracy, meaning)


for _d, _a in (("f32", "f16"), ("f32", "bf16")):
    for _shape in ("16x16x32", "32x32x16"):
        MATRIX.add(smfmac(_d, _shape, _a), "gfx9")
for _shape in ("16x16x64", "32x32x32"):
    MATRIX.add(smfmac("i32", _shape, "i8"), "gfx9")
    for _a in ("fp8", "bf8"):
        for _b in ("fp8", "bf8"):
            MATRIX.add(smfmac("f32", _shape, _a, _b), "gfx9")

_mfma("f32", "32x32x1_2b", "f32", old="32x32x1f32")
_mfma("f32", "16x16x1_4b", "f32", old="16x16x1f32")
_mfma("f32", "4x4x1_16b", "f32", old="4x4x1f32")
_mfma("f32", "32x32x2", "f32", old="32x32x2f32")
_mfma("f32", "16x16x4", "f32", old="16x16x4f32")
for _type, _end in (("f16", ""), ("bf16", "_1k")):
    _mfma("f32", "32x32x4_2b", _type, old=f"32x32x4{_type}{_end}")
    _mfma("f32", "16x16x4_4b", _type, old=f"16x16x4{_type}{_end}")
    _mfma("f32", "4x4x4_16b", _type, old=f"4x4x4{_type}{_end}")
    _mfma("f32", "32x32x8", _type, old=f"32x32x8{_type}{_end}")
    _mfma("f32", "16x16x16", _type, old=f"16x16x16{_type}{_end}")
_mfma("i32", "32x32x4_2b", "i8", old="32x32x4i8")
_mfma("i32", "16x16x4_4b", "i8", old="16x16x4i8")
_mfma("i32", "4x4x4_16b", "i8", old="4x4x4i8")
_mfma("i32", "32x32x16", "i8")
_mfma("i32", "16x16x32", "i8")
_mfma("f64", "16x16x4", "f64", old="16x16x4f64")
_mfma("f64", "4x4x4_4b", "f64", old="4x4x4f64")
_mfma("f32", "16x16x8", "xf32", old="16x16x8xf32")
_mfma("f32", "32x32x4", "xf32", old="32x32x4xf32")
for _a in ("fp8", "bf8"):
    for _b in ("fp8", "bf8"):
        _mfma("f32", "16x16x32", _a, _b)
        _mfma("f32", "32x32x16", _a, _b)


def wmma(d: str, a: str, layout: str = "wmma", k: int = 16, b: str = "", name: str = "") -> Matrix:
    """The row of one instruction; `name` is the end of its mnemonic where that is not the element type."""
    return Matrix(
        f"v_wmma_{d}_16x16x{k}_{name or a}", layout, 16, 16, k, 1, a, b or a, d,
        "exact" if d == "i32" else _NARROW if d == "f32" else _ONCE,
        f"Matrix multiply-add by the whole wave: 16x16 += 16x{k} times {k}x16; {name or a} into {d}.",
    )  # fmt: skip


WMMA = (("f32", "f16"), ("f32", "bf16"), ("f16", "f16"), ("bf16", "bf16"), ("i32", "iu8"), ("i32", "iu4"))
for _d, _a in WMMA:
    MATRIX.add(wmma(_d, _a), "gfx11")
