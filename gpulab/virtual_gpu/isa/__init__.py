"""What each AMDGPU instruction means: `table(arch)` gives the rows of one architecture by mnemonic.

Reading order: `expression.py` (the language), `row.py` (what a row is), `functions.py` (shared formulas), then the
rows by encoding family: `scalar.py vector.py convert.py fp8.py compare.py packed.py matrix.py memory.py
images.py crosslane.py control.py`, and `gfx90a.py gfx950.py gfx10.py gfx1150.py gfx12.py` with the rows that
these brought or kept alone.
`generations/` says which mnemonics a generation has (read by `generation.py`), `architectures/` which generation and
features a device has. `buffers.py` says how buffer resources address memory, `refused.py` which instructions are not
executed and why. `instruction.py` and `assembly.py` with `instruction_text.py`, `assembler_expression.py` and
`metadata.py` are the other half: programs as data and as text.
"""

from __future__ import annotations

from functools import cache

from gpulab import architectures
from gpulab.errors import UnsupportedInstruction
from gpulab.virtual_gpu.isa import generation
from gpulab.virtual_gpu.isa.generation import Generation
from gpulab.virtual_gpu.isa.row import Row, Table


def generation_of(arch: str) -> Generation:
    """What the instruction set of an architecture has in common with others of its generation.

    Raises:
        UnsupportedInstruction: gpulab has no device of this architecture.
    """
    return generation.generation(_device(arch).generation)


def table(arch: str) -> Table:
    """All rows of an architecture ("gfx942"), by mnemonic without encoding suffix.

    Raises:
        UnsupportedInstruction: gpulab has no device of this architecture.
    """
    device = _device(arch)
    return _table(device.generation, device.features)


_table = cache(generation.rows)


def _device(arch: str) -> architectures.Architecture:
    device = architectures.find(arch)
    if device is None:
        raise UnsupportedInstruction(
            f"There are no instruction rows for {arch}.",
            why="the virtual GPU executes " + ", ".join(architectures.names()) + ".",
            hint="compile for one of these.",
        )
    return device


def high_half(arch: str, row: Row) -> str:
    """What a 16-bit result does to the other half of its 32-bit register: "zero" or "keep".

    gfx10 and later keep it. On gfx9 (CDNA) the 16-bit instructions of the VOP1 and VOP2 lists clear it; those that
    came with gfx9's op_sel (three operands, v_add_i16, mix) keep it (`Row.keeps`), and have a v_*_legacy_* twin that
    clears it. A result that op_sel sends to the high half keeps the low half always; d16 loads keep the other half
    everywhere.
    """
    return "zero" if generation_of(arch).clears_high_half and row.keeps != "half" else "keep"
