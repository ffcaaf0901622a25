"""The simulation of one compute unit (WGP): `Ops` are a kernel's instructions as native/unit.c takes them, `streams`
the blocks that waves visit, `Simulation` runs workgroups on the unit.

What a wave executes is known by how often each block ran, an average wave: a path through the program with so many
turns of each loop. Long loops are run for some turns, of which all but the first stand for the rest (the visits'
weights). A block that not all waves run is in the paths of so many of them.
"""

from __future__ import annotations

import ctypes
import struct
import threading
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from gpulab.virtual_gpu import schema
from gpulab.virtual_gpu.isa.instruction import Register
from gpulab.virtual_gpu.isa.row import Row
from gpulab.virtual_gpu.machine.native import build
from gpulab.virtual_gpu.machine.native.structures import CostStruct, OpStruct, UnitStruct
from gpulab.virtual_gpu.translate.decode import Decoded

TICKS = 64  # of a clock
_NONE = 0xFFFFFFFF
_SCALARS = 512  # number of s0 among the registers of a wave in the simulation
MOST_OPS = 40_000  # instructions of one simulation, about
TURNS = (256, 128, 64, 32, 24, 16, 12, 8, 6, 4, 3, 2, 1)  # of a loop that are run: the most that fit into a simulation
_VISIT = struct.Struct("=IIIId")


class Op(NamedTuple):
    """One instruction: times in clocks, registers by number (vector registers from 0, scalar ones from 512)."""

    kind: str
    issue: float
    next: float
    latency: float
    matrix: float = 0.0
    queue: int = 0
    reads: tuple[int, ...] = ()
    writes: tuple[int, ...] = ()
    left: tuple[int, ...] = (_NONE,) * 5


class Cost(NamedTuple):
    """What one access costs, in clocks: of the unit's L1, LDS, its port to a pair of SIMDs, the way into L1; of the
    unit's share of L2, last-level cache, memory and atomics; latencies by level; of those that come to each level, the
    part that goes beyond it."""

    l1: float = 0.0
    lds: float = 0.0
    port: float = 0.0
    fill: float = 0.0
    l2: float = 0.0
    last: float = 0.0
    dram: float = 0.0
    atomic: float = 0.0
    latency: tuple[float, ...] = (0.0,) * 5
    beyond: tuple[float, ...] = (0.0,) * 4


class Loop(NamedTuple):
    """A loop of the program: its parts in program order, blocks by number and loops; the first block is its head."""

    parts: tuple[int | Loop, ...]

    @property
    def head(self) -> int:
        first = self.parts[0]
        return first if isinstance(first, int) else first.head


def nest(blocks: int, loops: Mapping[int, Collection[int]]) -> tuple[int | Loop, ...]:
    """The blocks of a program in its order, with loops in each other; `loops`: the blocks of each by its head, with
    which it begins."""
    around: list[list[int]] = [[] for _ in range(blocks)]  # the loops around each block, the outermost first
    for head in sorted(loops, key=lambda head: -len(loops[head])):
        for block in loops[head]:
            around[block].append(head)

    def parts(order: Iterable[int], depth: int) -> tuple[int | Loop, ...]:
        found: list[int | Loop] = []
        done: set[int] = set()
        for block in order:
            if len(around[block]) == depth:
                found.append(block)
            elif block not in done:
                head = around[block][depth]
                inside = sorted(loops[head], key=lambda number: (number < head, number))
                found.append(Loop(parts(inside, depth + 1)))
                done.update(inside)
        return tuple(found)

    return parts(range(blocks), 0)


Visits = list[tuple[int, float]]


class _Room:
    """How many instructions the visits of a wave may still have; a block without any counts a little, too."""

    def __init__(self, lengths: Sequence[int], most: float) -> None:
        self.lengths = [length or 2**-20 for length in lengths]
        self.left = most + 0.5


def _path(
    parts: Sequence[int | Loop], counts: Sequence[float], turns: int, own: float, spread: float, weight: float,
    turn: int, seen: Visits, room: _Room,
) -> None:  # fmt: skip
    """Add the visits of one turn through `parts`, whose head a wave executes `own` times; none beyond the room."""
    for part in parts:
        if room.left < 0:
            return
        if isinstance(part, int):
            count = counts[part]
            if not count:
                continue
            ratio = count / own if own else 0.0
            if ratio >= 1 or int((turn + 1) * ratio + spread) - int(turn * ratio + spread):
                seen.append((part, weight))
                room.left -= room.lengths[part]
            continue
        inner = counts[part.head]
        if not inner or not own:
            continue
        ratio = inner / own
        if ratio < 1:  # not entered each time
            if int((turn + 1) * ratio + spread) - int(turn * ratio + spread):
                _path(part.parts, counts, turns, inner, spread, weight, 0, seen, room)
            continue
        whole = max(round(ratio), 1)
        run = min(whole, turns)
        ends = 2 if run >= 4 else 1
        for step in range(run):
            # The first turn and the last one stand for themselves.
            itself = run == whole or not step or (step == run - 1 and ends == 2)
            share = 1.0 if itself else (whole - ends) / (run - ends)
            if run == 1:
                share = float(whole)
            _path(part.parts, counts, turns, inner, spread, weight * share, step, seen, room)


def _visits(parts: Sequence[int | Loop], counts: Sequence[float], turns: int, spread: float, room: _Room) -> Visits:
    seen: Visits = []
    _path(parts, counts, turns, 1.0, spread, 1.0, 0, seen, room)
    return seen


def streams(parts: Sequence[int | Loop], counts: Sequence[float], waves: int, turns: int) -> list[Visits]:
    """The visits of each wave of a workgroup: blocks with weights, together as often as `counts` says of a wave."""
    ones = [1] * len(counts)
    if all(count == int(count) for count in counts):
        found = [list(visits) for visits in [_visits(parts, counts, turns, 0.5, _Room(ones, MOST_OPS))] * waves]
    else:
        found = [_visits(parts, counts, turns, (wave + 0.5) / waves, _Room(ones, MOST_OPS)) for wave in range(waves)]
    totals = [0.0] * len(counts)
    for visits in found:
        for block, weight in visits:
            totals[block] += weight
    for block, count in enumerate(counts):
        if count and not totals[block]:  # one wave visits what hardly any does
            at = next((n for n, (other, _) in enumerate(found[0]) if other > block), len(found[0]))
            found[0].insert(at, (block, 1.0))
            totals[block] = 1.0
    return [[(block, weight * counts[block] * waves / totals[block]) for block, weight in visits] for visits in found]


def bank_conflicts(decoded: Decoded, ports: int) -> int:
    """Clocks that a vector instruction of RDNA waits for its registers: those of a number modulo 4 lie in one bank,
    which gives `ports` of them a clock. A pair reads those of both halves."""
    banks: dict[int, set[int]] = {}
    for half in (decoded, decoded.pair):
        if half is None or not isinstance(half.row, Row) or half.row.unit != "valu":
            continue
        for parameter, operand in half.sources:
            register = operand.value if operand is not None else None
            if parameter.type.width <= 32 and isinstance(register, Register) and register.file == "v":
                banks.setdefault(register.index % 4, set()).add(register.index)
    return max((-(-len(found) // ports) - 1 for found in banks.values()), default=0)


class Ops:
    """The instructions of a kernel, block after block, as the simulation takes them."""

    def __init__(self, ops: Sequence[Sequence[Op]]) -> None:
        registers = array("H")
        self.starts = [0]
        self.lengths = [len(block) for block in ops]
        flat = [op for block in ops for op in block]
        self.table = (OpStruct * max(len(flat), 1))()
        for entry, op in zip(self.table, flat, strict=False):
            entry.kind = schema.OPS[op.kind]
            entry.issue, entry.next, entry.latency, entry.matrix = (
                round(TICKS * clocks) for clocks in (op.issue, op.next, op.latency, op.matrix)
            )
            entry.access, entry.queue = _NONE, op.queue
            entry.at, entry.reads, entry.writes = len(registers), len(op.reads), len(op.writes)
            registers.extend(op.reads)
            registers.extend(op.writes)
            entry.left[:] = op.left
        for block in ops:
            self.starts.append(self.starts[-1] + len(block))
        self.registers = registers if len(registers) else array("H", [0])


class Result(NamedTuple):
    """What a simulation says: `clocks` of the unit for all its workgroups, `stalls` of one wave's op, `issued` ops that
    were run; of the last workgroup in each place its time."""

    clocks: float
    stalls: list[float]
    issued: int
    times: list[float]


class Shape(NamedTuple):
    """The unit: waves of a workgroup; workgroups that fit at a time, and all that come to it; SIMDs; CUs with an L1 of
    their own; clocks from a free place to the first instruction, between two starts, and of a barrier; how
    much before its turn what all units use may serve it."""

    waves: int
    slots: int
    groups: int
    simds: int
    cus: int
    start: float
    interval: float
    barrier: float
    burst: float


class Simulation:
    """A launch on one unit, to be run with or without what costs time."""

    def __init__(
        self, ops: Ops, parts: Sequence[int | Loop], counts: Sequence[float], shape: Shape, costs: Mapping[int, Cost]
    ) -> None:
        """
        Args:
            counts: how often a wave executes each block.
            costs: of the accesses, by the number of the op.
        """
        self.ops, self.shape = ops, shape
        slots = self.slots = max(min(shape.slots, shape.groups), 1)
        for turns in TURNS:
            room = _Room(ops.lengths, MOST_OPS // (shape.waves * slots))
            _visits(parts, counts, turns, 0.5, room)
            if room.left >= 0:
                break
        self.turns = turns
        paths = streams(parts, counts, shape.waves, turns)
        length = sum(ops.lengths[block] for visits in paths for block, _ in visits)
        whole = all(weight <= 1.001 for visits in paths for _, weight in visits)
        rounds = -(-shape.groups // slots)
        # Where turns stand for many, all workgroups have to be in them at the same time, as they are for the most part.
        self.aligned = not whole
        generations = min(rounds, 4) if whole else 1
        while generations > 1 and generations * length * slots > 2 * MOST_OPS:
            generations -= 1
        self.generations = generations
        self.groups = min(shape.groups, generations * slots)
        heaviest = max((weight for visits in paths for _, weight in visits), default=1.0) if not whole else 1e-9
        raw = bytearray()
        ranges = array("I")
        at = 0
        for visits in paths:
            ranges.append(at)
            for block, weight in visits:
                part = round(65536 * min(weight / heaviest, 1.0))
                raw += _VISIT.pack(ops.starts[block], ops.starts[block + 1], part, 0, weight)
            at += len(visits)
            ranges.append(at)
        self._visits, self._ranges = bytes(raw) or bytes(_VISIT.size), ranges
        self._costs = costs
        self.skew = 0
        if self.aligned and slots > 1:
            # Workgroups do not go through their loops at the same step, but at equal distances from each other.
            longest = max((counts[part.head] for part in parts if isinstance(part, Loop)), default=1.0)
            apart = sum(self.run().times) / slots / max(longest, 1.0) / slots
            self.skew = int(TICKS * apart)

    def run(self, free: Sequence[str] = ()) -> Result:
        """Simulate; what is named in `free` (schema.FREE) costs nothing."""
        with _running:  # one at a time: they use the same memory
            return self._run(free)

    def _run(self, free: Sequence[str]) -> Result:
        ops, shape, slots = self.ops, self.shape, self.slots
        costs = (CostStruct * max(len(self._costs), 1))()
        for number, (op, cost) in enumerate(self._costs.items()):
            entry = costs[number]
            for name in ("l1", "lds", "port", "fill", "l2", "last", "dram", "atomic"):
                setattr(entry, name, min(round(TICKS * getattr(cost, name)), 1 << 30))
            entry.latency[:] = [round(TICKS * clocks) for clocks in cost.latency]
            entry.beyond[:] = [round(65536 * part) for part in cost.beyond]
            entry.credit[:] = (32768,) * 4
            ops.table[op].access = number
        residents = shape.waves * slots
        waves = _room(schema.layout(schema.RESIDENT).bytes * residents)
        at = (ctypes.c_uint64 * (2 * residents))()
        stalls = (ctypes.c_double * len(ops.table))()
        times, sums = (ctypes.c_double * slots)(), (ctypes.c_double * slots)()
        ranges = self._ranges
        mask = 0
        for name in free:
            mask |= schema.FREE[name]
        unit = UnitStruct(
            ctypes.addressof(ops.table), ops.registers.buffer_info()[0], ctypes.addressof(costs),
            ctypes.cast(ctypes.c_char_p(self._visits), ctypes.c_void_p).value, ranges.buffer_info()[0],
            ctypes.addressof(waves), ctypes.addressof(at), ctypes.addressof(stalls), ctypes.addressof(times),
            ctypes.addressof(sums),
            shape.waves, slots, shape.simds, shape.cus, self.groups, round(TICKS * shape.start),
            round(TICKS * shape.interval) if not self.aligned else 0, round(TICKS * shape.barrier), mask, 0,
            round(TICKS * shape.burst), 0, self.skew,
        )  # fmt: skip
        build.function("unit")(ctypes.addressof(unit))
        for op in self._costs:
            ops.table[op].access = _NONE
        if self.groups == shape.groups:
            clocks = max(sums)
        else:
            clocks = sum(sums) / slots + (shape.groups / slots - self.generations) * sum(times) / slots
        each = TICKS * shape.waves * self.groups
        return Result(
            clocks / TICKS, [stall / each for stall in stalls], int(unit.issued), [time / TICKS for time in times]
        )


_rooms: list[Any] = []
_running = threading.Lock()


def _room(size: int) -> Any:
    """Memory for the waves of a simulation, kept for the next."""
    if not _rooms or ctypes.sizeof(_rooms[0]) < size:
        _rooms[:] = [(ctypes.c_uint8 * size)()]
    return _rooms[0]


def registers(vector: int, scalar: int) -> tuple[int, ...]:
    """Numbers of registers from bit sets of vector and scalar ones."""
    found = []
    while vector:
        low = vector & -vector
        found.append(low.bit_length() - 1)
        vector ^= low
    while scalar:
        low = scalar & -scalar
        found.append(_SCALARS + low.bit_length() - 1)
        scalar ^= low
    return tuple(found)
