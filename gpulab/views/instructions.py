"""Instructions as tables: `instruction_table` of one, `found_table` of those that a search found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpulab.records import InstructionEntry
from gpulab.views.table import Table


def instruction_table(entries: Sequence[InstructionEntry]) -> Table:
    """One instruction; where generations give its name to different instructions, one after another."""
    rows = [row for entry in entries for row in _facts(entry)]
    return Table((entries[0].mnemonic, ""), tuple(rows))


def _facts(entry: InstructionEntry) -> Iterator[tuple[str, str]]:
    yield "meaning", entry.meaning
    for formula in entry.formulas:
        yield "formula", formula
    yield "sources", ", ".join(entry.sources) or "none"
    yield "destinations", ", ".join(entry.destinations) or "none"
    yield "accuracy", entry.accuracy
    yield "rate", entry.rate
    yield "devices", ", ".join(entry.devices)
    for name, devices in entry.aliases.items():
        yield "same meaning", f"{name} ({', '.join(devices)})"
    yield "manual", entry.manual
    yield "row", f"{entry.file}:{entry.line}"


def found_table(text: str, entries: Sequence[InstructionEntry]) -> Table:
    """Instructions, one a line."""
    rows = tuple((entry.mnemonic, ", ".join(entry.devices), entry.meaning) for entry in entries)
    count = f"{len(rows)} instruction{'' if len(rows) == 1 else 's'} with {text!r} in name, meaning or formula."
    return Table(("instruction", "devices", "meaning"), rows, count)
