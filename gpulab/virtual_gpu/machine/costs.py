"""Costs of a profiled launch by instruction, memory access and source line: functions from counts to records.

`instruction_costs` come from block counts and lane counts; `scaled` are the observer's totals, raised to all executions
where only some workgroups were observed; `access_costs` and `line_costs` put both together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from gpulab.records import AccessCost, AccessSample, InstructionCost, LineCost, SourceLine
from gpulab.virtual_gpu.isa.row import Image, works_by_lane
from gpulab.virtual_gpu.machine.counters import Contributions, access_quantities, float_operations
from gpulab.virtual_gpu.translate.decode import Decoded
from gpulab.virtual_gpu.translate.lane_access import Observed
from gpulab.virtual_gpu.translate.layout import LANE_BYTES, LANE_ROW, LANE_SUMS


class Lanes(NamedTuple):
    """How often the lanes of a segment were active: all of them at once, and each."""

    whole: int
    counts: tuple[int, ...]


def lane_counts(raw: bytes, wave_size: int) -> list[Lanes]:
    """The counts of a launch's segments, from the rows that translated code counts in (translate/layout.py)."""
    import numpy as np

    rows = np.frombuffer(raw, np.uint8).reshape(-1, LANE_ROW)
    whole = rows[:, :8].copy().view(np.uint64)
    small = rows[:, LANE_BYTES : LANE_BYTES + wave_size]
    sums = rows[:, LANE_SUMS : LANE_SUMS + 8 * wave_size].copy().view(np.uint64)
    counts = sums + small + whole
    return [Lanes(all_, tuple(each)) for all_, each in zip(whole[:, 0].tolist(), counts.tolist(), strict=True)]


def instruction_costs(
    segments: Sequence[Sequence[int]],
    blocks: Sequence[Sequence[int]],
    decoded: Mapping[int, Decoded],
    executed: Sequence[int],
    lanes: Sequence[Lanes],
    contributions: Contributions,
    branches: Mapping[int, int],
    stalls: Mapping[int, float],
) -> dict[int, InstructionCost]:
    """How often each instruction was executed, and for which lanes, by instruction index in program order.

    Args:
        executed: of each block. lanes: of each segment.
        branches: the instruction that sent lanes another way, by instruction (branches.py).
        stalls: clocks that waves stand still, by instruction (timing.py).
    """
    count_of = {index: executed[number] for number, block in enumerate(blocks) for index in block}
    lanes_of = {index: lanes[number] for number, segment in enumerate(segments) for index in segment}
    order = sorted(count_of)
    place = {index: at for at, index in enumerate(order)}
    return {
        index: InstructionCost(
            decoded[index].instruction.where,
            decoded[index].instruction.text.strip(),
            count_of[index],
            sum(lanes_of[index].counts),
            contributions.amounts[index],
            contributions.lane_clocks.get(index, 0.0),
            lanes_of[index].counts,
            lanes_of[index].whole,
            place.get(branches.get(index, -1)),
            stalls.get(index, 0.0),
            works_by_lane(decoded[index].row),
            float_operations(decoded[index]),
        )
        for index in order
    }


def scaled(
    accesses: Sequence[Observed], observed: Sequence[Mapping[str, int]], costs: Mapping[int, InstructionCost]
) -> list[dict[str, int]]:
    """The observer's totals by access number, for all executions of each access: those that were not observed are
    taken to be like those that were. (Of an image instruction, which has an access for each tap, the one that was
    observed most often says how many were.)"""
    found = []
    most: dict[int, int] = {}
    for access, totals in zip(accesses, observed, strict=True):
        most[access.instruction] = max(most.get(access.instruction, 0), totals["executed"])
    for access, totals in zip(accesses, observed, strict=True):
        executed, seen = costs[access.instruction].executed, most[access.instruction]
        if executed == seen or not seen:
            found.append(dict(totals))
        else:
            found.append({name: (value * executed + seen // 2) // seen for name, value in totals.items()})
    return found


def warmed(
    accesses: Sequence[Observed],
    totals: Sequence[Mapping[str, int]],
    costs: Mapping[int, InstructionCost],
    rates: Sequence[Mapping[str, float]],
    line: int,
) -> list[dict[str, int]]:
    """The totals of a launch that was not followed through the caches to its end, with what loads did there taken from
    its sample, which knows warm caches and what neighbours share (sample.py), if less is read by it. What was followed
    began with cold caches, but knows what any workgroups share.

    Args:
        totals: by access number, scaled to all executions.
        rates: what one execution of each access does, as `traffic.observed` gives it.
        line: bytes of a line of the vector cache.
    """
    found = []
    for access, total, rate in zip(accesses, totals, rates, strict=True):
        if access.action != "load" or access.space not in ("global", "flat") or not rate or not total["executed"]:
            found.append(dict(total))
            continue
        times = costs[access.instruction].executed
        part = {name: round(value * times) for name, value in rate.items()}
        hits = min(round(total["lines"] * rate["l1_hits"] / max(rate["l1_lookups"], 1e-9)), total["lines"])
        array = min(part["array_hits"], total["lines"] - hits)
        requests = total["lines"] - hits - array if line == 128 else part["l2_reads"]
        reads = min(part["fabric_reads"], requests)
        wide = min(max(part["fabric_read_bytes"] // 64 - reads, 0), reads)
        found.append(
            dict(total)
            | {
                "first_hits": hits,
                "array_hits": array,
                "requests": requests,
                "l2_hits": requests - reads,
                "reads_128": wide,
                "reads_64": reads - wide,
                "memory_hits": min(part["llc_hits"], reads),
                "dram_bytes": min(part["dram_read_bytes"], 64 * reads + 64 * wide),
            }
        )
    followed, sampled = (sum(64 * t["reads_64"] + 128 * t["reads_128"] for t in each) for each in (totals, found))
    return found if sampled < followed else [dict(total) for total in totals]


def access_costs(
    accesses: Sequence[Observed],
    totals: Sequence[Mapping[str, int]],
    costs: Mapping[int, InstructionCost],
    line: int,
    decoded: Mapping[int, Decoded],
    samples: Sequence[tuple[AccessSample, ...]],
    room: tuple[int, int] = (0, 0),
    sampled: bool = False,
) -> dict[int, AccessCost]:
    """What each memory instruction did, by instruction index; the two addresses of one instruction are put together.

    Args:
        totals: by access number, scaled to all executions.
        line: bytes of a line of the vector cache.
        samples: by access number.
        room: bytes of the last-level cache (0: none), and of the allocations in use (0: not known). What is written
            stays in that cache if all of it fits; if not, all of it goes out, launch after launch.
        sampled: not all was followed through the caches. Data that all workgroups share was then read for the first
            time by each of those that were, so that scaled up it is too much: no more than all allocations is read
            from memory if they fit into the last-level cache.
    """
    found: dict[int, AccessCost] = {}
    written = 32 * sum(total["sectors"] for total in totals)
    goes_out = (room[1] or written) > room[0]
    read = sum(total["dram_bytes"] for total in totals)
    bound = room[1] if sampled and room[1] <= room[0] and 0 < room[1] < read else read
    images = {index for index, one in decoded.items() if isinstance(one.row, Image)}
    used = {access.instruction for access, total in zip(accesses, totals, strict=True) if total["executed"]}
    for access, total, seen in zip(accesses, totals, samples, strict=True):
        cost = costs[access.instruction]
        before = found.get(access.instruction)
        if access.instruction in images and not total["executed"] and (access.instruction in used or before):
            continue  # a size that its texels do not have, or a tap that its filter does not need
        record = AccessCost(
            where=cost.where,
            instruction=cost.text,
            space=access.space,
            action=access.action,
            bytes=access.bytes,
            executed=cost.executed,
            lanes=total["lanes"],
            quads=total["quads"],
            lines=total["lines"],
            line_bytes=0 if access.space == "lds" else 64 if access.space == "scalar" else line,
            bank_cycles=total["bank_cycles"],
            conflict_cycles=total["conflict_cycles"],
            cache_hits=total["first_hits"] + total["array_hits"],
            l2_requests=total["requests"],
            l2_hits=total["l2_hits"],
            memory_bytes=64 * total["reads_64"] + 128 * total["reads_128"],
            quantities=access_quantities(access, total, decoded),
            samples=seen,
            array_hits=total["array_hits"],
            dram_bytes=total["dram_bytes"] * bound // max(read, 1),
            written_bytes=32 * total["sectors"],
            dram_written_bytes=32 * total["sectors"] if goes_out else 0,
            lds_lanes=total["lds_lanes"],
        )
        if before and access.instruction in images:
            record = _taps_together(before, record)
        elif before:  # a second LDS address, or the LDS side of a load into LDS
            record = replace(
                before,
                bytes=before.bytes + (access.bytes if before.space == access.space else 0),
                bank_cycles=before.bank_cycles + record.bank_cycles,
                conflict_cycles=before.conflict_cycles + record.conflict_cycles,
                lds_lanes=max(before.lds_lanes, record.lds_lanes),
                quantities={
                    name: before.quantities.get(name, 0) + record.quantities.get(name, 0)
                    for name in {**before.quantities, **record.quantities}
                },
                samples=before.samples + record.samples,
            )
        found[access.instruction] = record
    return dict(sorted(found.items()))


def _taps_together(one: AccessCost, other: AccessCost) -> AccessCost:
    """The accesses of two taps of an image instruction: their lines and lanes are added up."""
    added = {
        name: getattr(one, name) + getattr(other, name)
        for name in (
            "lanes", "quads", "lines", "cache_hits", "l2_requests", "l2_hits", "memory_bytes", "array_hits",
            "dram_bytes", "written_bytes", "dram_written_bytes",
        )
    }  # fmt: skip
    quantities = {
        name: one.quantities.get(name, 0) + other.quantities.get(name, 0)
        for name in {**one.quantities, **other.quantities}
    }
    return replace(one, quantities=quantities, samples=one.samples + other.samples, **added)


def line_costs(costs: Mapping[int, InstructionCost], accesses: Mapping[int, AccessCost]) -> tuple[LineCost, ...]:
    """Wave instructions, active lanes and memory accesses by source line, in the order of lines."""
    totals: dict[tuple[str, int], list[int]] = {}  # in the order of LineCost's fields
    places: dict[tuple[str, int], SourceLine] = {}
    stalls: dict[tuple[str, int], float] = {}
    for index, cost in costs.items():
        where = cost.where
        if where is None:
            continue
        key = where.file, where.line
        total = totals.get(key)
        if total is None:
            places[key] = SourceLine(where.file, where.line, 0, where.text)
            total = totals[key] = [0] * 7
            stalls[key] = 0.0
        stalls[key] += cost.stall_clocks
        total[0] += cost.executed
        total[1] += cost.active_lanes
        access = accesses.get(index)
        if access is not None:
            total[2] += access.executed
            total[3] += access.requested_bytes
            total[4] += access.lines
            total[5] += access.bank_cycles
            total[6] += access.conflict_cycles
    return tuple(
        LineCost(places[key], t[0], t[1], t[2], t[3], t[4], t[5], t[6], stalls[key])
        for key, t in sorted(totals.items())
    )
