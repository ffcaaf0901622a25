"""What each AMDGPU instruction means: `table(arch)` gives the rows of one architecture by mnemonic.

Reading order: `expression.py` (the language), `row.py` (what a row is), `functions.py` (shared formulas), then the
rows by encoding family: `scalar.py vector.py convert.py fp8.py compare.py packed.py matrix.py memory.py crosslane.py
control.py`. `generation.py` says which of them an architecture has; what one adds stands in a file of its name.
`buffers.py` says how buffer resources address memory, `refused.py` which instructions are not executed and why.
`instruction.py` and `assembly.py` are the other half: programs as text and as data.
"""

from __future__ import annotations

from functools import cache

from gpulab.errors import UnsupportedInstruction
from gpulab.virtual_gpu.isa.generation import GENERATIONS
from gpulab.virtual_gpu.isa.row import Row, Table

GENERATION = {arch: generation.name for arch, generation in GENERATIONS.items()}
"""The generation whose names and rules an architecture has."""


@cache
def table(arch: str) -> Table:
    """All rows of an architecture ("gfx942"), by mnemonic without encoding suffix.

    Raises UnsupportedInstruction for an architecture without rows.
    """
    if arch not in GENERATION:
        raise UnsupportedInstruction(
            f"There are no instruction rows for {arch}.",
            why="the virtual GPU executes " + ", ".join(GENERATION) + ".",
            hint="compile for one of these.",
        )
    from gpulab.virtual_gpu.isa import generation
    from gpulab.virtual_gpu.isa.compare import COMPARE
    from gpulab.virtual_gpu.isa.control import CONTROL
    from gpulab.virtual_gpu.isa.convert import CONVERT
    from gpulab.virtual_gpu.isa.crosslane import CROSSLANE
    from gpulab.virtual_gpu.isa.fp8 import FP8
    from gpulab.virtual_gpu.isa.matrix import MATRIX
    from gpulab.virtual_gpu.isa.memory import MEMORY
    from gpulab.virtual_gpu.isa.packed import PACKED
    from gpulab.virtual_gpu.isa.scalar import SCALAR
    from gpulab.virtual_gpu.isa.vector import VECTOR

    families = (SCALAR, VECTOR, CONVERT, FP8, COMPARE, PACKED, MATRIX, MEMORY, CROSSLANE, CONTROL)
    return generation.rows(arch, families)


def high_half(arch: str, row: Row) -> str:
    """What a 16-bit result does to the other half of its 32-bit register: "zero" or "keep".

    gfx10 and later keep it. On gfx9 (CDNA) the 16-bit instructions of the VOP1 and VOP2 lists clear it; those that
    came with gfx9's op_sel (three operands, v_add_i16, mix) keep it (`Row.keeps`), and have a v_*_legacy_* twin that
    clears it. A result that op_sel sends to the high half keeps the low half always; d16 loads keep the other half
    everywhere.
    """
    return "zero" if GENERATION.get(arch) == "gfx9" and row.keeps != "half" else "keep"
