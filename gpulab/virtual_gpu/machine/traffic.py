"""The traffic of a launch: `observed` makes of its sample (`Seen`) what caches and memories had to move, and what each
access costs. docs/timing.md, "The replay", has the rules."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import NamedTuple

from gpulab.architectures.architecture import Architecture
from gpulab.virtual_gpu.machine import sample, sharing, unit
from gpulab.virtual_gpu.machine.sample import Seen
from gpulab.virtual_gpu.machine.sharing import ALONE, Members, Shared
from gpulab.virtual_gpu.machine.work import Traffic, Work, workgroups_on_unit
from gpulab.virtual_gpu.translate.lane_access import Observed

MOST_CHANNELS = 128


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
    behind: Collection[int] = (),
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
        behind: those that come after a wait for earlier accesses (waiting.py).
    """
    a = architecture
    total = max(work.workgroups, 1)
    levels = sharing.Levels.of(a, work)
    x, y, z = seen.recorded.size
    in_sample = [times * min(x * y * z / total, 1.0) for times in executions]
    once = (a, seen.recorded, seen.accesses, work.waves)
    flows, _ = sample.replay(*once, (1.0,) * 4, in_sample, 0, seen.grid)
    shares = sharing.shares(levels, seen, flows)
    apart = 128 * sum(flow.first for flow in flows) > a.vector_cache.bytes * x * y * z
    memory_channels = min(a.l2_channels, MOST_CHANNELS)
    flows, spread = sample.replay(*once, shares, in_sample, memory_channels, seen.grid, apart, behind)
    where = seen.allocations(flows)
    flows = _revisits(a, flows, executions, total, where, shares)
    if any(size for _, size in where):
        footprint = sum(size for _, size in set(where))
    each = [
        times / flow.executed / total if flow.executed else 0.0 for flow, times in zip(flows, executions, strict=True)
    ]
    use = sharing.Use(seen, flows, each, where, [access.instruction in streamed for access in seen.accesses])
    between = list(
        zip(*(sharing.shared(level, use, number, a) for number, level in enumerate(levels.beyond)), strict=True)
    )

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
            rows.append(_in_memory(a, access, known, times, shared if flow.executed else (ALONE,) * 3, rare))
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

    costs, rates = _what_each_costs(a, work, rows, t["atomic_lines"], fits, (fabric_scale, dram_scale))
    return Traffic(**t), costs, [rates.get(id(access), {}) for access in seen.accesses]


def _what_each_costs(
    a: Architecture, work: Work, rows: Sequence[_Row], atomic_lines: float, fits: bool, scales: tuple[float, float]
) -> tuple[dict[int, unit.Cost], dict[int, Mapping[str, float]]]:  # fmt: skip
    """What one execution of each instruction costs in what all units share, too; and what one of each access (by its
    `id`) does in the caches.

    Args:
        atomic_lines: how many lines atomics go to.
        fits: whether what is written stays in the last level.
        scales: the parts of all reads behind L2, and of memory, that are left by the footprint.
    """
    fabric_scale, dram_scale = scales
    total = max(work.workgroups, 1)
    # The busiest unit gets as much of what all share as its workgroups are of all.
    busiest = workgroups_on_unit(a, work)
    active = total / busiest
    rate = a.l2_cache.bytes_per_clock * a.l2_efficiency / (-(-total // a.xcds) / busiest)
    clock = a.clock_mhz * 1e6
    costs: dict[int, unit.Cost] = {}
    turns = max(min(atomic_lines, a.l2_channels), 1.0)
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
            factors = dict.fromkeys(("fabric_reads", "fabric_read_bytes", "llc_hits"), fabric_scale)
            factors["dram_read_bytes"] = dram_scale
            rates[id(access)] = {name: value * factors.get(name, 1.0) for name, value in row.items()}
        before_it = costs.get(access.instruction)
        costs[access.instruction] = cost if before_it is None else _together(before_it, cost)
    return costs, rates


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
    a: Architecture, access: Observed, flow: sample.Flow, times: float, between: Sequence[Shared], rare: Members
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


def _beyond(a: Architecture, flow: sample.Flow, between: Sequence[Shared]) -> tuple[dict[str, float], list[float]]:
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
