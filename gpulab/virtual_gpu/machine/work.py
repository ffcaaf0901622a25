"""What a launch has to do: `Work`, with its `Traffic` and its `UnitProgram`, and which units do it."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from gpulab.architectures.architecture import Architecture
from gpulab.architectures.residency import Occupancy, occupancy
from gpulab.virtual_gpu.machine import balance, unit


@dataclass(frozen=True, slots=True)
class Traffic:
    """What all memory accesses of a launch made LDS, caches and memory do.

    Attributes:
        lds_clocks: bank cycles of all LDS accesses, conflicts included.
        lds_bytes: bytes that lanes moved from and to LDS.
        l1_clocks: clocks of the vector L1s' pipelines: one for each line of each instruction, and its share of data.
        l1_lookups: lines that loads looked up in the vector L1s; l1_hits: those found there.
        array_hits: of the others, those found in the cache of a shader array (GL1 of RDNA).
        l2_reads: lines asked of L2; l2_hits: those found there; l2_read_bytes: what was asked of them.
        l2_writes: 64-byte writes to L2; l2_atomics: 64-byte atomic requests to it.
        fabric_reads: requests of L2 to the memory side; llc_hits: those found in the last-level (Infinity) cache.
        fabric_read_bytes, fabric_write_bytes: bytes between L2 and the memory side.
        dram_read_bytes, dram_write_bytes: bytes from and to device memory.
        atomic_lines: 64-byte blocks that atomics went to, as far as seen; few of them have to take turns.
        scalar_lookups, scalar_hits: the same of the scalar cache; without lookups all scalar loads hit.
        sampled: not 0 if only some accesses were recorded.
        crowded: lines that the busiest memory channel is asked for at a time, as a multiple of what it would be if all
            had the same; of channels that come one after another in memory.
    """

    lds_clocks: float = 0.0
    lds_bytes: float = 0.0
    l1_clocks: float = 0.0
    l1_lookups: float = 0.0
    l1_hits: float = 0.0
    array_hits: float = 0.0
    l2_reads: float = 0.0
    l2_read_bytes: float = 0.0
    l2_hits: float = 0.0
    l2_writes: float = 0.0
    l2_atomics: float = 0.0
    fabric_reads: float = 0.0
    llc_hits: float = 0.0
    fabric_read_bytes: float = 0.0
    fabric_write_bytes: float = 0.0
    dram_read_bytes: float = 0.0
    dram_write_bytes: float = 0.0
    atomic_lines: float = 0.0
    scalar_lookups: float = 0.0
    scalar_hits: float = 0.0
    sampled: float = 0.0
    crowded: float = 0.0


class UnitProgram(NamedTuple):
    """What the simulation of a unit takes of a kernel: its instructions, the nest of its blocks and loops, how often a
    wave executes each block, and what each access costs, by the instruction's number in `ops`. rates: what one
    execution of each access does, by its number, in the names of `Traffic`; nothing of those in LDS alone."""

    ops: unit.Ops
    parts: tuple[int | unit.Loop, ...]
    counts: tuple[float, ...]
    costs: Mapping[int, unit.Cost]
    rates: Sequence[Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Work:
    """What one launch did, in all.

    Attributes:
        workgroups: workgroups of the grid.
        waves: waves of one workgroup.
        threads: threads of one workgroup.
        vgprs, agprs, sgprs, lds_bytes: what one wave (one workgroup) occupies; residency comes from them.
        issued: wave instructions by class (`timing.CLASSES`).
        matrix_clocks: clocks of a matrix core over all matrix instructions.
        path_clocks: sum over all waves of the clocks that a wave needs for its own instructions, one after another.
        traffic: what memory had to move.
        cu_mode: RDNA: workgroups stay in one compute unit.
        program: what a unit executes, to be simulated.
        amounts: what each workgroup did, if they differ.
        lacks: what is not in the model and matters for it (`ModelledTime.lacks`).
    """

    workgroups: int
    waves: int
    threads: int
    vgprs: int = 0
    agprs: int = 0
    sgprs: int = 0
    lds_bytes: int = 0
    issued: Mapping[str, float] = field(default_factory=dict)
    matrix_clocks: float = 0.0
    path_clocks: float = 0.0
    traffic: Traffic = Traffic()
    cu_mode: bool = False
    program: UnitProgram | None = None
    amounts: balance.Amounts | None = None
    lacks: tuple[str, ...] = ()


def occupancy_of(a: Architecture, work: Work) -> Occupancy:
    """What one unit holds of a launch at a time."""
    return _occupancy(a.name, work.vgprs, work.agprs, work.sgprs, work.lds_bytes, work.threads, work.cu_mode)


@functools.lru_cache(maxsize=1024)
def _occupancy(
    architecture_name: str, vgprs: int, agprs: int, sgprs: int, lds_bytes: int, threads: int, cu_mode: bool
) -> Occupancy:
    from gpulab.architectures import get

    return occupancy(get(architecture_name), vgprs, agprs, sgprs, lds_bytes, threads, cu_mode=cu_mode)


def units_of(a: Architecture, work: Work) -> tuple[int, int]:
    """Units that workgroups go to, and the SIMDs of one."""
    return (a.compute_units, a.simds_per_cu) if work.cu_mode else (a.multiprocessors, a.simds_per_unit)


def workgroups_on_unit(a: Architecture, work: Work) -> int:
    """Workgroups of the busiest unit."""
    on_die = -(-max(work.workgroups, 1) // a.xcds)
    return -(-on_die // max(units_of(a, work)[0] // a.xcds, 1))
