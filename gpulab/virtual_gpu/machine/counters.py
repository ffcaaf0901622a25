"""Hardware counters from block execution counts: `Costs` knows what each block of a kernel adds to each counter.

Names and meanings are those of AMD's counter documentation for the device's family (rocprofiler-sdk's counter
definitions; "MI300 and MI200 performance counters"). Of the instructions: a vector memory atomic counts as a read if
it returns a value and as a write if not; waits, hints and s_endpgm are no category's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpulab.records import LineCost, SourceLine
from gpulab.virtual_gpu.isa.row import Control, CrossLane, Matrix, Memory, Row
from gpulab.virtual_gpu.translate.decode import Decoded, returns_value

_CDNA = (
    "SQ_INSTS_VALU", "SQ_INSTS_MFMA", "SQ_INSTS_SALU", "SQ_INSTS_SMEM", "SQ_INSTS_VMEM_RD", "SQ_INSTS_VMEM_WR",
    "SQ_INSTS_VMEM", "SQ_INSTS_LDS", "SQ_INSTS_FLAT", "SQ_INSTS_BRANCH",
)  # fmt: skip
_RDNA = (
    "SQ_INSTS_VALU", "SQ_INSTS_SALU", "SQ_INSTS_SMEM", "SQ_INSTS_TEX_LOAD", "SQ_INSTS_TEX_STORE", "SQ_INSTS_LDS",
    "SQ_INSTS_FLAT",
)  # fmt: skip


def names(family: str) -> tuple[str, ...]:
    """The instruction counters of a device family ("CDNA 3", "RDNA 3")."""
    return _CDNA if family.startswith("CDNA") else _RDNA


def category(decoded: Decoded) -> tuple[str, ...]:
    """Which instruction counters an instruction adds one to, in CDNA's names."""
    row, name = decoded.row, decoded.instruction.mnemonic
    if isinstance(row, Row):
        return ("SQ_INSTS_VALU",) if row.unit == "valu" else ("SQ_INSTS_SALU",)
    if isinstance(row, Matrix):
        return ("SQ_INSTS_VALU", "SQ_INSTS_MFMA") if row.layout == "mfma" else ("SQ_INSTS_VALU",)
    if isinstance(row, CrossLane):
        return ("SQ_INSTS_LDS",) if name.startswith("ds_") else ("SQ_INSTS_VALU",)
    if isinstance(row, Memory):
        if row.space == "lds":
            return ("SQ_INSTS_LDS",)
        if row.space == "scalar":
            return ("SQ_INSTS_SMEM",)
        reads = row.action != "store" and (row.action != "atomic" or returns_value(decoded.instruction, row))
        found = ("SQ_INSTS_VMEM", "SQ_INSTS_VMEM_RD" if reads else "SQ_INSTS_VMEM_WR")
        return (*found, "SQ_INSTS_FLAT") if row.space == "flat" else found
    assert isinstance(row, Control)
    if row.kind in ("branch", "cbranch", "call", "jump"):
        return ("SQ_INSTS_BRANCH",)
    if row.kind in ("getpc", "setreg", "getreg", "round_mode", "denorm_mode"):
        return ("SQ_INSTS_SALU",)
    return ("SQ_INSTS_SMEM",) if row.kind in ("time", "realtime") else ()


_RDNA_NAMES = {"SQ_INSTS_VMEM_RD": "SQ_INSTS_TEX_LOAD", "SQ_INSTS_VMEM_WR": "SQ_INSTS_TEX_STORE"}


class Costs:
    """What the blocks of one kernel cost."""

    def __init__(self, family: str, blocks: Sequence[Sequence[int]], decoded: Mapping[int, Decoded]) -> None:
        self.names = names(family)
        rdna = self.names is _RDNA
        self.sizes = [len(block) for block in blocks]
        self.weights: dict[str, list[tuple[int, int]]] = {}
        for number, block in enumerate(blocks):
            sums: dict[str, int] = {}
            for index in block:
                for name in category(decoded[index]):
                    name = _RDNA_NAMES.get(name, name) if rdna else name
                    sums[name] = sums.get(name, 0) + 1
            for name, amount in sums.items():
                if name in self.names:
                    self.weights.setdefault(name, []).append((number, amount))

    def counters(self, executed: Sequence[int], waves: int) -> dict[str, int]:
        """Counter values from how often each block was executed."""
        values = {"SQ_WAVES": waves}
        for name in self.names:
            values[name] = sum(executed[number] * amount for number, amount in self.weights.get(name, ()))
        return values

    def instructions(self, executed: Sequence[int]) -> int:
        """Wave instructions in all."""
        return sum(count * size for count, size in zip(executed, self.sizes, strict=False))


def line_costs(
    segments: Sequence[Sequence[int]],
    blocks: Sequence[Sequence[int]],
    decoded: Mapping[int, Decoded],
    executed: Sequence[int],
    active: Sequence[int],
) -> tuple[LineCost, ...]:
    """Wave instructions and active lanes by source line, in the order of lines."""
    count_of: dict[int, int] = {}
    for number, block in enumerate(blocks):
        for index in block:
            count_of[index] = executed[number]
    totals: dict[tuple[str, int], list[int]] = {}
    places: dict[tuple[str, int], SourceLine] = {}
    for number, segment in enumerate(segments):
        for index in segment:
            where = decoded[index].instruction.where
            if where is None:
                continue
            key = where.file, where.line
            places.setdefault(key, SourceLine(where.file, where.line, 0, where.text))
            total = totals.setdefault(key, [0, 0])
            total[0] += count_of.get(index, 0)
            total[1] += active[number]
    return tuple(LineCost(places[key], *totals[key]) for key in sorted(totals))
