"""How exactly a kernel is executed, as a table: `fidelity_table` has a row for each kind of instruction."""

from __future__ import annotations

from gpulab.records import Fidelity, FidelityNote
from gpulab.views.table import Cell, Table

_LINES = 6  # that are named; of more only how many


def _lines(note: FidelityNote) -> str:
    lines = [str(where.line) for where in note.where]
    if len(lines) > _LINES:
        return ", ".join(lines[:_LINES]) + f" and {len(lines) - _LINES} more"
    return ", ".join(lines) or "–"


def fidelity_table(record: Fidelity, everything: bool = False) -> Table:
    """The instructions that are not exact, and below how many are.

    Args:
        everything: the exact ones, too.
    """
    rows: list[tuple[Cell, ...]] = [
        (note.instruction, note.fidelity, note.statement or "–", note.count, _lines(note))
        for note in record.notes
        if everything or note.fidelity != "exact"
    ]
    total, exact = record.count(), record.count("exact")
    if exact == total:
        text = f"All {total:,} instructions of {record.kernel} ({record.arch}) give the hardware's own bits."
    else:
        text = (
            f"{exact:,} of the {total:,} instructions of {record.kernel} ({record.arch}) give the hardware's own bits, "
            f"{record.count('approximate'):,} are approximate and {record.count('modelled'):,} modelled."
        )
    return Table(("instruction", "on a virtual device", "how", "in the code", "lines"), tuple(rows), text)
