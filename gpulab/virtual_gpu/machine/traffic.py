"""The traffic of a launch: `observed` makes of its sample (`Seen`) what caches and memories had to move, and what each
access costs. docs/timing.md, "The replay", has the rules."""

from __future__ import annotations

import bisect
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import NamedTuple

from gpulab.architectures.architecture import Architecture
from gpulab.virtual_gpu.machine import sample, unit
from gpulab.virtual_gpu.machine.arena import RANGE_WORDS
from gpulab.virtual_gpu.machine.observation import Recorded
from gpulab.virtual_gpu.machine.work import Traffic, Work, occupancy_of, units_of, workgroups_on_unit
from gpulab.virtual_gpu.translate.lane_access import Observed

MOST_CHANNELS = 128


class Seen(NamedTuple):
    """The sample of a launch (observation.py), with its accesses, the grid, and all allocations (`Arena.table`). `base`
    is where device memory begins."""

    accesses: Sequence[Observed]
    recorded: Recorded
    grid: tuple[int, int, int]
    live: Sequence[int] = ()
    base: int = 0

    def allocations(self, flows: Sequence[sample.Flow]) -> list[tuple[int, int]]:
        """(number, bytes) of the allocation that each access uses, as far as it is known; else (-1, 0)."""
        starts = range(0, len(self.live) - RANGE_WORDS, RANGE_WORDS)
        places = [(self.live[at] - self.base, self.live[at + 1]) for at in starts]
        found = []
        for flow in flows:
            place = bisect.bisect_right(places, 128 * flow.line + 127, key=lambda each: each[0]) - 1
            inside = flow.executed and place >= 0 and 128 * flow.line < sum(places[place])
            found.append((place, places[place][1]) if inside else (-1, 0))
        return found


class _Around(NamedTuple):
    """Who shares a level of cache: so many workgroups at a time, every `stride`-th of the grid, in `room` bytes."""

    residents: float
    stride: int
    room: float
    most: float

    def together(self, apart: float) -> float:
        """How likely two workgroups so far apart run at the same time: as many begin together as fit."""
        return 1.0 if self.residents >= self.most else max(1 - apart / self.residents, 0.0)

    def members(self, count: float, grid: tuple[int, int, int]) -> tuple[list[float], list[float]]:
        """How many of `count` workgroups lie along x, y and z, and how far apart they are there."""
        members, apart, below = [], [], 1  # workgroups of the grid from one to the next in this direction
        for size in grid:
            along = min(max(count * self.stride / below, 1.0), float(size))
            step = self.stride // math.gcd(below, self.stride)  # to the next that is one of them
            members.append(max(along / step, 1.0))
            apart.append(float(step))
            below *= size
        return members, apart


class _Levels(NamedTuple):
    """Who shares what of a launch. first: the first cache of one unit; beyond: shader arrays, L2, last level.

    device: workgroups that run at a time.
    """

    first: _Around
    beyond: tuple[_Around, ...]
    device: float

    @classmethod
    def of(cls, a: Architecture, work: Work) -> _Levels:
        total = max(work.workgroups, 1)
        units, _ = units_of(a, work)
        on_unit, on_die = min(workgroups_on_unit(a, work), max(occupancy_of(a, work).blocks, 1)), -(-total // a.xcds)
        active_die = min(on_die, max(units // a.xcds, 1))
        active = min(total, units)
        die = min(float(on_die), float(active_die * on_unit))
        device = min(float(total), float(active * on_unit))
        arrays, room = 1, 0
        if a.shader_array_cache is not None:
            arrays, room = a.shader_array_cache.instances, a.shader_array_cache.bytes
        last = a.last_level_cache.bytes if a.last_level_cache is not None else 0
        beyond = (
            _Around(max(device / arrays, 1.0), arrays, room, total / arrays),
            _Around(die, a.xcds, a.l2_cache.bytes, on_die),
            _Around(device, 1, last, total),
        )
        # A workgroup's share of a cache is larger by what it shares with the others there.
        return cls(_Around(float(on_unit), active, 0, on_unit), beyond, device)


_Members = tuple[list[float], list[float]]


class _Shared(NamedTuple):
    """Of lines that each of several workgroups wants that share a level: the part that is fetched; that is waited for,
    since it was not there before those came that run now; and that is fetched if nothing stays in the cache."""

    fetched: float = 1.0
    waited: float = 1.0
    now: float = 1.0


_ALONE = _Shared()


class _Spread(NamedTuple):
    """Lines of an allocation that a workgroup uses for the first time, and of which the sample does not have who used
    them before: so many for each workgroup of a level, in all so many are there."""

    each: float
    lines: float
    repeated: bool


class _Kept(NamedTuple):
    """How long a level keeps a line while one workgroup after the other uses it. known: (workgroups from one use of a
    line to the next, such lines of a workgroup) in order of distance; spread: the others; always: lines that each has
    alone."""

    known: tuple[tuple[float, float], ...]
    spread: tuple[_Spread, ...]
    always: float
    lines: float
    ways: int

    def used(self, distance: float) -> float:
        """Different lines that so many workgroups use, one after the other: of each use those count that were not used
        before within that distance."""
        found = self.always * distance
        found += sum(number * min(distance, apart) for apart, number in self.known)
        for each, lines, repeated in self.spread:
            found += lines * (1 - math.exp(-each * distance / lines)) if repeated else each * distance
        return found

    def stays(self, distance: float, more: float = 0.0) -> float:
        """How likely a line is still there when it is used again so many workgroups later (and so many lines more): as
        long as fewer others than there are ways have come into its set, which they do at random."""
        if not self.lines:
            return 0.0
        others = (self.used(distance) + more) * self.ways / self.lines
        term = part = math.exp(-others)
        for number in range(1, self.ways):
            term *= others / number
            part += term
        return part

    def again(self, spread: _Spread, most: float) -> float:
        """The part of such lines that is still there, if `most` workgroups use the level. In which order they are used
        again is not known: half of them, at random; the others, one after the other."""
        if not spread.repeated or not self.lines:
            return 0.0
        low, high = 0.0, 2.0**40
        if self.used(high) > self.lines:
            for _ in range(60):
                middle = (low + high) / 2
                low, high = (middle, high) if self.used(middle) < self.lines else (low, middle)
        at_random = 1 - math.exp(-high * spread.each / spread.lines)
        in_turn = self.stays(spread.lines / spread.each, spread.lines * math.exp(-1))  # all of them come in between
        return (at_random + in_turn) / 2 * (1 - spread.lines / (spread.each * most))


class _Row(NamedTuple):
    """What an access did: `times` in the launch, `does` what one execution does, by the names of `Traffic`."""

    access: Observed
    times: float
    does: dict[str, float]
    cost: unit.Cost


def observed(
    architecture: Architecture,
    work: Work,
    seen: Seen,
    executions: Sequence[float],
    footprint: float | None = None,
    streamed: Collection[int] = (),
) -> tuple[Traffic, dict[int, unit.Cost], list[Mapping[str, float]]]:
    """The traffic of a launch by its sample, what one execution of each memory instruction costs, and what one of each
    access does in the caches.

    Args:
        work: of the launch, without its traffic.
        executions: how often the instruction of each access was executed in the whole launch; what was seen of it is
            scaled up to that.
        footprint: bytes of all allocations that the launch used, if known: where they fit into a cache, no more than
            that is read through it, though a sample of workgroups, each with data that all share, suggests more.
        streamed: instructions whose data is the first to leave L2 again.
    """
    a = architecture
    total = max(work.workgroups, 1)
    levels = _Levels.of(a, work)
    x, y, z = seen.recorded.size
    in_sample = [times * min(x * y * z / total, 1.0) for times in executions]
    once = (a, seen.recorded, seen.accesses, work.waves)
    flows, _ = sample.replay(*once, (1.0,) * 4, in_sample, 0, seen.grid)
    shares = _shares(levels, seen, flows)
    apart = 128 * sum(flow.first for flow in flows) > a.vector_cache.bytes * x * y * z
    channels = a.l2_cache.bytes_per_clock / a.l2_cache.line_bytes * a.xcds
    memory_channels = min(int(channels), MOST_CHANNELS)
    flows, spread = sample.replay(*once, shares, in_sample, memory_channels, seen.grid, apart)
    where = seen.allocations(flows)
    flows = _revisits(a, flows, executions, total, where, shares)
    if any(size for _, size in where):
        footprint = sum(size for _, size in set(where))
    each = [
        times / flow.executed / total if flow.executed else 0.0 for flow, times in zip(flows, executions, strict=True)
    ]
    use = _Use(seen, flows, each, where, [access.instruction in streamed for access in seen.accesses])
    between = list(zip(*(_shared(level, use, number, a) for number, level in enumerate(levels.beyond)), strict=True))

    t = dict.fromkeys((f.name for f in fields(Traffic)), 0.0)
    t["crowded"] = spread.crowded(min(float(seen.grid[0]), levels.device))
    t["sampled"] = float(x * y * z < total or sample.cut(seen.recorded))
    rare = levels.first.members(float(workgroups_on_unit(a, work)), seen.grid)
    rows: list[_Row] = []
    for access, flow, times, shared in zip(seen.accesses, flows, executions, between, strict=True):
        if not times:
            continue
        rows += _in_lds(a, access, flow, times, t)
        if access.space != "lds":
            known = flow if flow.executed else _unseen(a, access, flow)
            rows.append(_in_memory(a, access, known, times, shared if flow.executed else (_ALONE,) * 3, rare))
            if access.action == "atomic" and access.space != "scalar":
                t["atomic_lines"] += known.blocks
    _add(rows, t)
    before = t["fabric_read_bytes"], t["dram_read_bytes"]
    if footprint is not None:
        _bound(a, t, footprint)
    fabric_scale, dram_scale = (
        after / old if old else 1.0
        for old, after in zip(before, (t["fabric_read_bytes"], t["dram_read_bytes"]), strict=True)
    )
    # What is written stays in a last-level cache if all fits; else, launch after launch, all of it has to go out.
    last_level = a.last_level_cache
    fits = last_level is not None and (t["fabric_write_bytes"] if footprint is None else footprint) <= last_level.bytes
    t["dram_write_bytes"] = 0.0 if fits else t["fabric_write_bytes"]

    # The busiest unit gets as much of what all share as its workgroups are of all.
    busiest = workgroups_on_unit(a, work)
    active = total / busiest
    rate = a.l2_cache.bytes_per_clock * a.l2_efficiency / (-(-total // a.xcds) / busiest)
    clock = a.clock_mhz * 1e6
    costs: dict[int, unit.Cost] = {}
    turns = max(min(t["atomic_lines"], channels), 1.0)
    rates: dict[int, Mapping[str, float]] = {}
    for access, _, row, cost in rows:
        reads = row.get("l2_read_bytes", 0.0) if access.action == "load" else 0.0
        read, moved = row.get("dram_read_bytes", 0.0) * dram_scale, row.get("fabric_read_bytes", 0.0) * fabric_scale
        written = row.get("fabric_write_bytes", 0.0)
        requests = row.get("requests", 0.0)
        cost = cost._replace(
            l2=(reads + 128 * requests) / rate,
            last=(moved + written) * clock / a.last_level_bandwidth * active if a.last_level_cache is not None else 0.0,
            dram=(read + (0.0 if fits else written)) * clock / (a.memory_bandwidth * a.memory_efficiency) * active,
            atomic=requests * a.atomic_clocks / turns * active if access.action == "atomic" else 0.0,
        )
        if fabric_scale < 1 or dram_scale < 1:
            one, two, three, four = cost.beyond
            cost = cost._replace(beyond=(one, two, three * fabric_scale, four * min(dram_scale / fabric_scale, 1.0)))
        if row:
            scales = dict.fromkeys(("fabric_reads", "fabric_read_bytes", "llc_hits"), fabric_scale)
            scales["dram_read_bytes"] = dram_scale
            rates[id(access)] = {name: value * scales.get(name, 1.0) for name, value in row.items()}
        before_it = costs.get(access.instruction)
        costs[access.instruction] = cost if before_it is None else _together(before_it, cost)
    return Traffic(**t), costs, [rates.get(id(access), {}) for access in seen.accesses]


class _Use(NamedTuple):
    """What workgroups use: the flow of each access, how many times it stands for one workgroup, and the allocation that
    it uses; and whether its data leaves L2 first."""

    seen: Seen
    flows: Sequence[sample.Flow]
    each: Sequence[float]
    where: Sequence[tuple[int, int]]
    streamed: Sequence[bool]


def _shares(levels: _Levels, seen: Seen, flows: Sequence[sample.Flow]) -> list[float]:
    """How many workgroups' worth of lines each level has to hold, by what they share."""
    fetched = sum(flow.first for flow in flows)
    found = []
    members, apart = levels.first.members(levels.first.residents, seen.grid)
    own = sum(flow.first * flow.unique(members, apart) for flow in flows) / fetched if fetched else 1.0
    found.append(max(levels.first.residents * own, 1.0))
    for level in levels.beyond:
        own = 1.0
        if fetched:
            parts = (1 - sum(part * level.together(apart) for apart, part in _before(level, seen, f)) for f in flows)
            own = sum(flow.first * part for flow, part in zip(flows, parts, strict=True)) / fetched
        found.append(max(level.residents * own, 1.0))
    return found


def _in_line(seen: Seen, flow: sample.Flow, earlier: Sequence[sample.Earlier]) -> Sequence[sample.Earlier]:
    """Who used lines last, corrected where workgroups share lines along one direction alone. Those in the middle of the
    sample are too few to say how many share a line with the nearest before them: all pairs of the sample say that. If n
    in a row share a line, n - d of n do so with the one d before them."""
    along = {d for each in earlier for d in range(3) if each.offset[d]}
    if len(along) != 1 or any(min(each.offset) < 0 for each in earlier):
        return earlier
    (direction,) = along
    if seen.recorded.size[direction] == seen.grid[direction]:  # all of them are there
        return earlier
    nearest = min(earlier, key=lambda each: each.offset[direction])
    step, (next_one, *_) = nearest.offset[direction], flow.sharing[direction]
    part = flow.sharing[direction][step.bit_length() - 1] if step in (1, 2, 4, 8) else None
    if next_one is not None and next_one >= 0.5:
        part = max(1 - step * (1 - next_one), 0.0)
    if part is None:
        return earlier
    left = (1 - part) / (1 - nearest.part) if nearest.part < 1 else 0.0
    return [nearest._replace(part=part), *(one._replace(part=one.part * left) for one in earlier if one is not nearest)]


def _before(level: _Around, seen: Seen, flow: sample.Flow) -> list[tuple[float, float]]:
    """(workgroups of the level from one to the next that uses a line, the part of a workgroup's lines that has one)."""
    grid, size = seen.grid, seen.recorded.size
    found = []
    for offset, part in _in_line(seen, flow, flow.earlier[level.stride > 1]):
        x, y, z = offset
        apart = (x + grid[0] * (y + grid[1] * z)) / level.stride
        for along, whole, inside in zip(offset, grid, size, strict=True):
            if inside < whole:  # at the grid's edge nobody is before
                part *= max(1 - abs(along) / whole, 0.0)
        found.append((apart, part))
    rest, below = 1 - sum(part for _, part in found), 1
    for direction, (whole, inside) in enumerate(zip(grid, size, strict=True)):
        step = level.stride // math.gcd(below, level.stride)  # to the next on the same die
        if inside <= step < whole:  # farther than the sample has
            part = min(flow.shared(direction, step) * (1 - step / whole), rest)
            found.append((step * below / level.stride, part))
            rest -= part
        below *= whole
    return sorted(found)


def _shared(level: _Around, use: _Use, number: int, a: Architecture) -> list[_Shared]:
    """What workgroups of a level share, of each access. number: 0: a shader array's cache, 1: L2, 2: the last level."""
    seen = use.seen
    before = [_before(level, seen, flow) for flow in use.flows]
    unknown = [max(1 - sum(part for _, part in parts), 0.0) for parts in before]
    places: dict[tuple[int, int], float] = {}
    used: list[tuple[float, float]] = []
    always = 0.0
    for flow, each, place, parts, rest, streamed in zip(
        use.flows, use.each, use.where, before, unknown, use.streamed, strict=True
    ):
        lines = flow.first * each
        places[place] = places.get(place, 0.0) + lines * rest
        if streamed and number < 2:
            continue
        used += [(apart, lines * part) for apart, part in parts]
        if number:
            always += flow.sectors * each / 4
    spread = {
        place: _Spread(lines, place[1] / 128, bool(place[1]) and lines * level.most > place[1] / 128)
        for place, lines in places.items()
        if lines
    }
    ways = (a.shader_array_cache, a.l2_cache, a.last_level_cache)[number]
    kept = _Kept(
        tuple(sorted(used)), tuple(spread.values()), always, level.room / 128, (ways.ways if ways else 0) or 16
    )
    again = {place: kept.again(each, level.most) for place, each in spread.items()}
    stays = {apart: kept.stays(apart) for parts in before for apart, _ in parts}
    stays_on = kept.stays(level.residents) if level.residents < level.most else 0.0
    found = []
    for parts, rest, place in zip(before, unknown, use.where, strict=True):
        found_again = rest * again.get(place, 0.0)
        now = stayed = 0.0
        for apart, part in parts:
            same = level.together(apart) if number else 0.0
            now += part * same
            stayed += part * (1 - same) * stays[apart]
        # If those that use a line reach back to before those that run now, it may be there since then.
        known = sum(part for _, part in parts)
        steps = level.residents * known / sum(part * apart for apart, part in parts) if known else 0.0
        waited = 1 - stayed - found_again - now * stays_on * known**steps
        found.append(_Shared(1 - now - stayed - found_again, waited, 1 - now))
    return found


def _in_lds(
    a: Architecture, access: Observed, flow: sample.Flow, times: float, t: dict[str, float]
) -> Iterator[_Row]:  # fmt: skip
    """What an access did in LDS, if it went there; its bank cycles and bytes are added to the traffic `t`."""
    latency = (float(a.lds_latency_clocks), 0.0, 0.0, 0.0, 0.0)
    if flow.lds_executed:
        share = flow.lds_executed / max(flow.lds_executed + flow.executed, 1)
        cycles, lanes_each = flow.lds_cycles / flow.lds_executed, flow.lds_lanes / flow.lds_executed
        t["lds_clocks"] += cycles * share * times
        t["lds_bytes"] += lanes_each * access.bytes * share * times
        served = max(cycles, lanes_each * access.bytes / a.lds_bytes_per_clock)
        port = 2 * lanes_each * access.bytes / a.lds_bytes_per_clock if a.simds_per_cu > 2 else 0.0
        yield _Row(access, times, {}, unit.Cost(lds=served * share, port=port * share, latency=latency))
    elif access.space == "lds":
        served = a.wave_size * access.bytes / a.lds_bytes_per_clock
        yield _Row(access, times, {}, unit.Cost(lds=served, latency=latency))


def _in_memory(
    a: Architecture, access: Observed, flow: sample.Flow, times: float, between: Sequence[_Shared], rare: _Members
) -> _Row:  # fmt: skip
    """What an access did in caches and memory. `rare`: who uses a unit, one after the other."""
    each = 1 / flow.executed
    does, waits = _beyond(a, flow, between)
    wanted = max(flow.wanted, 1e-9)
    per_miss = flow.wanted / max(flow.missing, 1)
    parts = [flow.waiting * each]
    for beyond in waits:
        part = 1 - (1 - min(beyond / wanted, 1.0)) ** per_miss if flow.wanted else 0.0
        parts.append(part * flow.waiting * each)
    latencies = _latencies(a)
    if access.space == "scalar":
        # What workgroups share is there from those that ran on the unit before.
        unique = flow.unique(*rare)
        latency = (float(a.scalar_cache.latency_clocks), *latencies[1:])
        on = _cascade([part * unique for part in parts])
        return _Row(access, times, does, unit.Cost(latency=latency, beyond=on))
    width = a.l1_pair_bytes_per_clock if access.action == "load" and access.bytes == 8 else 0
    does["l1_clocks"] = l1_each = _l1_clocks(a, 1.0, flow.lanes * each, access.bytes, flow.lookups * each, width)
    if access.action == "load":
        fill = (flow.lookups - flow.first_hits) * each * a.vector_cache.line_bytes / a.l1_fill_bytes_per_clock
        latency = _later(latencies, max(l1_each - a.vector_issue_clocks, 0.0))
        return _Row(access, times, does, unit.Cost(l1=l1_each, fill=fill, latency=latency, beyond=_cascade(parts)))
    latency = (float(a.l2_cache.latency_clocks),) * 2 + latencies[2:]
    on = _cascade([1.0, 1.0, parts[2], parts[3]]) if access.action == "atomic" else (0.0,) * 4
    return _Row(access, times, does, unit.Cost(l1=l1_each, latency=latency, beyond=on))


def _latencies(a: Architecture) -> tuple[float, ...]:
    """Of the first cache, of a shader array's (else L2's), of L2, of the last level (else memory's), of memory."""
    l2 = float(a.l2_cache.latency_clocks)
    array = float(a.shader_array_cache.latency_clocks) if a.shader_array_cache is not None else l2
    last = a.last_level_cache.latency_clocks if a.last_level_cache is not None else a.memory_latency_clocks
    return float(a.vector_cache.latency_clocks), array, l2, float(last), float(a.memory_latency_clocks)


def _beyond(a: Architecture, flow: sample.Flow, between: Sequence[_Shared]) -> tuple[dict[str, float], list[float]]:
    """What one execution of an access does in the caches, and the lines for which it waits beyond the first cache, the
    shader array's and L2."""
    each = 1 / flow.executed
    to_l2 = flow.wanted - flow.array_hits if a.shader_array_cache is not None else flow.wanted
    # Of lines that several workgroups use at the same time one asks for the line, and all wait for it.
    (fetch, wait, same), (fetch_l2, wait_l2, same_l2), (fetch_last, wait_last, same_last) = between
    waits = [float(flow.wanted)] * 3
    if a.shader_array_cache is not None:
        waits[0] = flow.first * wait + to_l2 - flow.first
        to_l2 = flow.first * fetch + (to_l2 - flow.first) * same
    past = flow.last_hits + flow.again
    to_fabric = min(flow.first * fetch_l2 + past * same_l2, to_l2)
    waits[1] = min(flow.first * wait_l2 + past, waits[0])
    to_dram = min(flow.first * fetch_last + flow.again * same_last, to_fabric)
    waits[2] = min(flow.first * wait_last + flow.again, waits[1])
    if a.last_level_cache is None:
        to_dram, waits[2] = to_fabric, waits[1]
    each_line = flow.bytes / max(flow.wanted, 1e-9) if flow.bytes else 128.0
    new_line = flow.first_bytes / flow.first if flow.first else 128.0
    old_line = (flow.bytes - flow.first_bytes) / max(flow.wanted - flow.first, 1e-9)
    new_fabric, new_dram = min(flow.first * fetch_l2, to_fabric), min(flow.first * fetch_last, to_dram)
    if a.last_level_cache is None:
        new_dram = new_fabric
    from_fabric = new_fabric * new_line + (to_fabric - new_fabric) * old_line
    from_dram = new_dram * new_line + (to_dram - new_dram) * old_line
    return {
        "l1_lookups": flow.lookups * each, "l1_hits": flow.first_hits * each,
        "array_hits": (flow.wanted - to_l2) * each, "l2_reads": to_l2 * each, "l2_hits": (to_l2 - to_fabric) * each,
        "l2_read_bytes": to_l2 * each_line * each,
        "fabric_reads": to_fabric * each, "llc_hits": (to_fabric - to_dram) * each,
        "fabric_read_bytes": from_fabric * each, "dram_read_bytes": from_dram * each,
        "fabric_write_bytes": 32 * flow.sectors * each, "requests": flow.requests * each,
    }, waits  # fmt: skip


def _add(rows: Sequence[_Row], t: dict[str, float]) -> None:
    """Add up what accesses did in the traffic `t`."""
    for access, times, does, _ in rows:
        scalar = access.space == "scalar"
        for name, value in does.items():
            if name == "requests":
                if access.action != "load":
                    t["l2_writes" if access.action == "store" else "l2_atomics"] += value * times
            elif name == "l1_lookups" or name == "l1_hits":
                if scalar:
                    t["scalar_lookups" if name == "l1_lookups" else "scalar_hits"] += value * times
                elif access.action == "load":
                    t[name] += value * times
            elif name in ("l2_reads", "l2_read_bytes", "l2_hits", "array_hits") and access.action != "load":
                continue
            else:
                t[name] += value * times


def _unseen(a: Architecture, access: Observed, flow: sample.Flow) -> sample.Flow:
    """The flow of an access of which the sample has no execution: contiguous, by all lanes, of lines never used."""
    size = a.wave_size * access.bytes if access.space != "scalar" else access.bytes
    lines = max(size / 128, 1.0)
    found = flow._replace(executed=1, lanes=a.wave_size, lookups=max(size / a.vector_cache.line_bytes, 1.0))
    if access.action == "load":
        return found._replace(missing=1, waiting=1, first=lines, bytes=128 * lines, first_bytes=128 * lines)
    written = found._replace(requests=max(size / 64, 1.0), sectors=size / 32, blocks=size / 64)
    return (
        written
        if access.action == "store"
        else written._replace(first=lines, bytes=128 * lines, first_bytes=128 * lines)
    )


def _revisits(
    a: Architecture, flows: Sequence[sample.Flow], executions: Sequence[float], workgroups: int,
    where: Sequence[tuple[int, int]], shares: Sequence[float],
) -> list[sample.Flow]:  # fmt: skip
    """The flows, if the lines of an allocation that each workgroup used for the first time would be, in the whole
    launch, more than it has: the others of them it used before, so long ago that all the rest came in between.

    Args:
        where: (number, bytes) of the allocation of each access; nothing is known of those with 0 bytes.
    """
    used: dict[int, float] = {}
    for flow, times, (place, _) in zip(flows, executions, where, strict=True):
        if flow.executed:
            used[place] = used.get(place, 0.0) + flow.first * times / flow.executed / workgroups
    found = []
    for flow, (place, size) in zip(flows, where, strict=True):
        there = size / 128
        if not size or used[place] <= there:
            found.append(flow)
            continue
        again = flow.first * (1 - there / used[place])
        level = "again"
        if there <= a.l2_cache.bytes / 128 / shares[2]:
            level = "l2_hits"
        elif a.last_level_cache is not None and there <= a.last_level_cache.bytes / 128 / shares[3]:
            level = "last_hits"
        left = flow.first_bytes * there / used[place]
        found.append(flow._replace(first=flow.first - again, first_bytes=left, **{level: getattr(flow, level) + again}))
    return found


def _later(latencies: tuple[float, ...], clocks: float) -> tuple[float, ...]:
    return tuple(latency + clocks for latency in latencies)


def _cascade(parts: Sequence[float]) -> tuple[float, ...]:
    """Of executions that go to each level, the part that goes on, from the parts of all that go so far."""
    found, before = [], 1.0
    for part in parts:
        found.append(min(part / before, 1.0) if before > 1e-9 else 0.0)
        before = min(part, before)
    return tuple(found)


def _together(one: unit.Cost, other: unit.Cost) -> unit.Cost:
    """The two accesses of one instruction."""
    added = {name: getattr(one, name) + getattr(other, name) for name in unit.Cost._fields[:8]}
    latency = tuple(max(x, y) for x, y in zip(one.latency, other.latency, strict=True))
    beyond = tuple(max(x, y) for x, y in zip(one.beyond, other.beyond, strict=True))
    return unit.Cost(**added, latency=latency, beyond=beyond)


def _l1_clocks(a: Architecture, executed: float, lanes: float, size: int, lines: float, width: int = 0) -> float:
    """Clocks of a vector L1 for accesses of `size` bytes by so many lanes in all, to so many lines: the data of
    contiguous ones (which may cross into one more line), else each block of 64 bytes or each lane; at least one line a
    clock, and the lanes' addresses. width: bytes a clock; 0: those of most accesses."""
    line = a.vector_cache.line_bytes
    clocks = max(lines, lanes * size / (width or a.l1_bytes_per_clock), executed * a.vector_issue_clocks)
    if lines > lanes * size / line + executed:
        clocks = max(clocks, min(lanes * a.l1_lane_clocks, lines * line / 64 * a.l1_scattered_clocks))
    return clocks


def _bound(a: Architecture, t: dict[str, float], footprint: float) -> None:
    """Let no cache that holds the whole footprint read more than it from the next level."""
    if footprint <= a.l2_cache.bytes:
        most = footprint * a.xcds
        if t["fabric_read_bytes"] > most:
            share = most / t["fabric_read_bytes"]
            t["l2_hits"] += t["fabric_reads"] * (1 - share)
            for name in ("fabric_reads", "fabric_read_bytes", "llc_hits"):
                t[name] *= share
    last = a.last_level_cache
    room = last.bytes if last is not None else a.l2_cache.bytes
    if footprint <= room and t["dram_read_bytes"] > footprint:
        if last is not None:
            t["llc_hits"] += (t["dram_read_bytes"] - footprint) / max(t["fabric_read_bytes"], 1.0) * t["fabric_reads"]
        t["dram_read_bytes"] = footprint
