"""Which instructions have rows, of all that LLVM's assembler knows: `python -m tests.isa.coverage` prints the table.

tests/isa/mnemonics/ARCH.txt lists the mnemonics (without encoding suffix) of an architecture: those of the mnemonic
table of the packaged LLVM (22) that its assembler does not call unknown or unsupported for that GPU.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from gpulab.virtual_gpu import isa
from gpulab.virtual_gpu.isa.refused import refusal

FOLDER = Path(__file__).with_name("mnemonics")
ARCHES = tuple(sorted(path.stem for path in FOLDER.glob("*.txt")))


def mnemonics(arch: str) -> list[str]:
    """All that the assembler knows."""
    return (FOLDER / f"{arch}.txt").read_text(encoding="utf-8").split()


def missing(arch: str) -> list[str]:
    """Mnemonics with neither a row nor a reason."""
    table = isa.table(arch)
    return [name for name in mnemonics(arch) if name not in table and not refusal(name)]


def refused(arch: str) -> dict[str, list[str]]:
    """Refused mnemonics by reason."""
    found: dict[str, list[str]] = {}
    for name in mnemonics(arch):
        if refusal(name):
            found.setdefault(refusal(name), []).append(name)
    return found


def table() -> str:
    """Counts by architecture, then the refused ones with their reasons."""
    lines = ["arch     known  rows  exact  approximate  modelled  refused  missing"]
    for arch in ARCHES:
        rows = isa.table(arch)
        names = mnemonics(arch)
        levels = Counter(rows[name].fidelity for name in names if name in rows)
        no = sum(len(group) for group in refused(arch).values())
        lines.append(
            f"{arch:8} {len(names):5} {sum(levels.values()):5} {levels['exact']:6} {levels['approximate']:12} "
            f"{levels['modelled']:9} {no:8} {len(missing(arch)):8}"
        )
    for arch in ARCHES:
        for reason, names in refused(arch).items():
            some = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
            lines.append(f"{arch}: {some}: {reason}")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
