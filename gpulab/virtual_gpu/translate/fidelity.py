"""How exactly a kernel's instructions are executed: `report` collects what the rows state about themselves.

The code counts that a kernel can reach, as the translation does: branches, calls, functions whose address is taken.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gpulab.records import Fidelity, FidelityNote, SourceLine
from gpulab.virtual_gpu import isa
from gpulab.virtual_gpu.isa.instruction import Instruction, Program
from gpulab.virtual_gpu.isa.row import AnyRow, Control
from gpulab.virtual_gpu.translate.decode import Decoder, hardware_field
from gpulab.virtual_gpu.translate.structure import reachable

_ORDER = ("modelled", "approximate", "exact")


@dataclass(slots=True)
class _Found:
    count: int = 0
    where: dict[tuple[str, int], SourceLine] = field(default_factory=dict)


def report(program: Program, symbol: str, name: str = "") -> Fidelity:
    """What the rows of a kernel's instructions say.

    Args:
        symbol: the kernel's symbol. name: what the record calls it; the symbol if empty.

    Raises:
        UnsupportedInstruction: an instruction that the virtual device does not execute.
    """
    table = isa.table(program.arch)
    decoder = Decoder(program, table)
    order, _ = reachable(program, program.kernels[symbol], decoder)
    found: dict[tuple[str, str, str], _Found] = {}
    for index in order:
        instruction: Instruction | None = program.instructions[index]
        while instruction is not None:  # the two halves of a VOPD pair
            entry = found.setdefault(_key(instruction, table[instruction.mnemonic]), _Found())
            entry.count += 1
            where = instruction.where
            if where is not None and where.line:
                entry.where.setdefault((where.file, where.line), where)
            instruction = instruction.pair
    notes = [
        FidelityNote(label, fidelity, statement, entry.count, tuple(line for _, line in sorted(entry.where.items())))
        for (label, fidelity, statement), entry in found.items()
    ]
    notes.sort(key=lambda note: (_ORDER.index(note.fidelity), -note.count, note.instruction))
    return Fidelity(name or symbol, program.arch, tuple(notes))


def _key(instruction: Instruction, row: AnyRow) -> tuple[str, str, str]:
    """(label, fidelity, statement) of an instruction."""
    label, fidelity, accuracy = instruction.mnemonic, row.fidelity, row.accuracy
    if isinstance(row, Control) and row.kind == "getreg":
        register = hardware_field(instruction.operands[1].value)
        if register is not None:
            label += f" {register[0]}"
            if register[0] == "HW_REG_MODE":
                return label, "exact", ""
    statement = accuracy if fidelity == "approximate" else accuracy.removeprefix(fidelity).lstrip(": ")
    return label, fidelity, statement
