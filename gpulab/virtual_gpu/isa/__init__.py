"""What each AMDGPU instruction means: `table(arch)` gives the rows of one architecture by mnemonic.

Reading order: `expression.py` (the language), `row.py` (what a row is), `functions.py` (shared formulas), then the
rows by encoding family: `scalar.py vector.py convert.py compare.py packed.py memory.py crosslane.py control.py`.
`instruction.py` and `assembly.py` are the other half: programs as text and as data.

Matrix instructions (v_mfma_*, v_smfmac_*, v_wmma_*) have no rows yet.
"""

from __future__ import annotations

from functools import cache

from gpulab.errors import UnsupportedInstruction
from gpulab.virtual_gpu.isa.row import Row, Table

GENERATION = {"gfx942": "gfx9", "gfx1100": "gfx11"}
"""The generation whose names and rules an architecture has."""


@cache
def table(arch: str) -> Table:
    """All rows of an architecture ("gfx942", "gfx1100"), by mnemonic without encoding suffix.

    Raises UnsupportedInstruction for an architecture without rows.
    """
    if arch not in GENERATION:
        raise UnsupportedInstruction(
            f"There are no instruction rows for {arch}.",
            why="the virtual GPU executes " + " and ".join(GENERATION) + ".",
            hint="compile for one of these.",
        )
    from gpulab.virtual_gpu.isa import family
    from gpulab.virtual_gpu.isa.compare import COMPARE
    from gpulab.virtual_gpu.isa.control import CONTROL
    from gpulab.virtual_gpu.isa.convert import CONVERT
    from gpulab.virtual_gpu.isa.crosslane import CROSSLANE
    from gpulab.virtual_gpu.isa.memory import MEMORY
    from gpulab.virtual_gpu.isa.packed import PACKED
    from gpulab.virtual_gpu.isa.scalar import SCALAR
    from gpulab.virtual_gpu.isa.vector import VECTOR

    families = (SCALAR, VECTOR, CONVERT, COMPARE, PACKED, MEMORY, CROSSLANE, CONTROL)
    return family.merged(families, GENERATION[arch])


@cache
def high_half(arch: str, mnemonic: str) -> str:
    """What a 16-bit result does to the other half of its 32-bit register: "zero" or "keep".

    gfx10 and later keep it. gfx9 (CDNA) clears it, but for v_fma_mixlo_f16, whose purpose is to fill one half
    (LLVM: AMDGPU "zeroesHigh16BitsOfDest"), and for results that op_sel sends to the high half, which keep the low
    one always. d16 loads keep the other half everywhere.
    """
    if GENERATION.get(arch, arch) != "gfx9" or "_mix" in mnemonic:
        return "keep"
    row = table(arch).get(mnemonic)
    if isinstance(row, Row) and row.packed == "pairs":
        return "keep"
    return "zero"
