"""Which instructions have rows, of all that LLVM's assembler knows: `python -m tests.isa.coverage` prints the table."""

from __future__ import annotations

from collections import Counter

from gpulab import architectures
from gpulab.virtual_gpu import isa
from gpulab.virtual_gpu.isa.refused import refusal
from tests.isa.llvm import mnemonics


def missing(arch: str) -> list[str]:
    """Mnemonics with neither a row nor a reason."""
    table, generation = isa.table(arch), isa.generation_of(arch).name
    return [name for name in sorted(mnemonics(arch)) if name not in table and not refusal(name, generation)]


def refused(arch: str) -> dict[str, list[str]]:
    """Refused mnemonics by reason."""
    found: dict[str, list[str]] = {}
    generation = isa.generation_of(arch).name
    for name in sorted(mnemonics(arch)):
        if refusal(name, generation):
            found.setdefault(refusal(name, generation), []).append(name)
    return found


def table() -> str:
    """Counts by architecture, then the refused ones with their reasons."""
    lines = ["arch     known  rows  exact  approximate  modelled  refused  missing"]
    for arch in architectures.names():
        rows = isa.table(arch)
        names = mnemonics(arch)
        levels = Counter(rows[name].fidelity for name in names if name in rows)
        no = sum(len(group) for group in refused(arch).values())
        lines.append(
            f"{arch:8} {len(names):5} {sum(levels.values()):5} {levels['exact']:6} {levels['approximate']:12} "
            f"{levels['modelled']:9} {no:8} {len(missing(arch)):8}"
        )
    lines += [f"{arch}: no row for {name}" for arch in architectures.names() for name in missing(arch)]
    for arch in architectures.names():
        for reason, names in refused(arch).items():
            some = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
            lines.append(f"{arch}: {some}: {reason}")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
