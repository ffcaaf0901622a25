"""What the sample of a launch says of its memory accesses: `replay` gives the `Flow` of each.

A launch's sample (observation.py) is a box of workgroups with a log of accesses for each wave. native/replay.c plays
each workgroup's logs to caches of which it has its share while as many run as fit. What comes after a log's end is
taken to be like its second half: as in steady state. What workgroups share is counted by neighbours in the
box, and extended to those that run at the same time (`Flow.unique`). docs/timing.md has the rules.
"""

from __future__ import annotations

import bisect
import ctypes
import math
import struct
from collections.abc import Collection, Sequence
from typing import NamedTuple

from gpulab.architectures.architecture import Architecture, Cache
from gpulab.virtual_gpu import schema
from gpulab.virtual_gpu.machine.arena import RANGE_WORDS
from gpulab.virtual_gpu.machine.native import build
from gpulab.virtual_gpu.machine.native.structures import CrowdStruct, ReplayStruct, SiteFlowStruct
from gpulab.virtual_gpu.machine.observation import Recorded
from gpulab.virtual_gpu.translate.lane_access import Observed

_LOG_CUT = schema.constant("LOG_CUT")


class Earlier(NamedTuple):
    """Of the lines that a workgroup uses for the first time, the part that the one so far before it used last. later:
    how much later in its life than that one in its own, on average."""

    offset: tuple[int, int, int]
    part: float
    later: float = 0.0


class Flow(NamedTuple):
    """What one access did in a sample, as counted by native/replay.c (SiteFlow); all 0 if the sample has none of it.

    line: the first of 128 bytes that was used, counted from where device memory begins. lds_executed, lds_lanes,
    lds_cycles: those of its executions that went to LDS. sharing: of lines that a workgroup uses for the first time,
    the part that the one 1, 2, 4, 8 before it in x (y, z) uses, too; None where the sample has none. earlier: who used
    them last, of all workgroups of the sample and of those on the same die or shader array. The others are the fields
    of SiteFlow.
    """

    executed: float
    lanes: float
    lookups: float
    first_hits: float
    missing: float
    waiting: float
    array_hits: float
    l2_hits: float
    last_hits: float
    again: float
    first: float
    bytes: float
    first_bytes: float
    requests: float
    sectors: float
    blocks: float
    line: int
    lds_executed: int
    lds_lanes: int
    lds_cycles: int
    sharing: tuple[tuple[float | None, ...], ...]
    earlier: tuple[tuple[Earlier, ...], tuple[Earlier, ...]] = ((), ())

    @property
    def wanted(self) -> float:
        """Requests beyond the first cache."""
        return self.array_hits + self.l2_hits + self.last_hits + self.again + self.first

    def shared(self, direction: int, apart: float) -> float:
        """The part of its lines that a workgroup shares with another that far apart: as measured, or, beyond what the
        sample has, as much less as the distance is longer. What is shared by all is so at any distance."""
        known, distance = 0.0, 1
        for power, part in enumerate(self.sharing[direction]):
            if part is not None and 1 << power <= apart:
                known, distance = part, 1 << power
        return known if known > 0.95 else known ** (apart / distance)

    def unique(self, members: Sequence[float], apart: Sequence[float]) -> float:
        """The part of its lines that remains to be fetched once for several workgroups: as many in each direction as
        `members` says, which are so far `apart` there."""
        part = 1.0
        for direction, (count, distance) in enumerate(zip(members, apart, strict=True)):
            part *= 1 / count + (1 - 1 / count) * (1 - self.shared(direction, max(distance, 1.0)))
        return part


class Seen(NamedTuple):
    """The sample of a launch (observation.py), with its accesses, the grid, and all allocations (`Arena.table`). `base`
    is where device memory begins."""

    accesses: Sequence[Observed]
    recorded: Recorded
    grid: tuple[int, int, int]
    live: Sequence[int] = ()
    base: int = 0

    def allocations(self, flows: Sequence[Flow]) -> list[tuple[int, int]]:
        """(number, bytes) of the allocation that each access uses, as far as it is known; else (-1, 0)."""
        starts = range(0, len(self.live) - RANGE_WORDS, RANGE_WORDS)
        places = [(self.live[at] - self.base, self.live[at + 1]) for at in starts]
        found = []
        for flow in flows:
            place = bisect.bisect_right(places, 128 * flow.line + 127, key=lambda each: each[0]) - 1
            inside = flow.executed and place >= 0 and 128 * flow.line < sum(places[place])
            found.append((place, places[place][1]) if inside else (-1, 0))
        return found


class Crowd(NamedTuple):
    """What workgroups of a sample asked of the memory's channels in the same turn (native/replay.c, Crowd): how many
    lines in all if each channel had the same, and the busiest one as a multiple of that; how many channels one
    workgroup asked, and a row of them in x."""

    fair: float
    busiest: float
    one: float
    row: float


class Channels(NamedTuple):
    """How what workgroups ask for at the same time lies on so many `channels` of memory, if those come one after
    another. row: workgroups of the sample in x."""

    channels: int
    row: int
    turns: Sequence[Crowd]

    def crowded(self, along: float) -> float:
        """Lines of the busiest channel as a multiple of what it would have if all had the same, with so many workgroups
        in x: they ask channels farther on if those of the sample do."""
        lines = most = 0.0
        for turn in self.turns:
            farther = (turn.row - turn.one) / max(self.row - 1, 1) * max(along - self.row, 0.0)
            lines += turn.fair
            most += turn.fair * min(turn.busiest, max(self.channels / max(turn.row + farther, 1.0), 1.0))
        return most / lines if lines else 1.0


def replay(
    architecture: Architecture, recorded: Recorded, accesses: Sequence[Observed], waves: int, shares: Sequence[float],
    executions: Sequence[float], channels: int = 0, grid: tuple[int, int, int] | None = None,
    apart: bool = False, behind: Collection[int] = (),
) -> tuple[list[Flow], Channels]:  # fmt: skip
    """The flow of each access: what was recorded of it, and what is expected of the executions after the ends of logs;
    and how what was asked of the memory lies on so many channels.

    Args:
        waves: of a workgroup.
        executions: how often the workgroups of the sample executed each access.
        shares: one workgroup has 1 / so much of the first cache, a shader array's, the L2 and the last-level cache.
        grid: of the launch; None: the sample is all of it.
        apart: a workgroup uses so many lines that what it does is spread over the time of the others that run with it.
            Else a share of the first cache has at least as many lines as one of its sets.
        behind: instructions that access memory after a wait for earlier accesses (waiting.py).
    """
    on_cu, on_array, on_die, on_device = shares
    a = architecture
    count, kind_bits = len(accesses), schema.constant("KIND_BITS")
    size = recorded.size
    offsets = size[2] * (2 * size[1] - 1) * (2 * size[0] - 1)
    reuse = (ctypes.c_uint32 * (2 * max(count, 1) * 2 * (offsets + 1)))()
    shifts = (ctypes.c_int64 * len(reuse))()
    banked = struct.unpack(f"={len(recorded.banked) // 8}Q", recorded.banked)
    crowds: list[Crowd] = []
    flows, warm = (SiteFlowStruct * max(count, 1))(), (SiteFlowStruct * max(count, 1))()
    if recorded.log:
        kinds = (ctypes.c_uint32 * count)(
            *(_kind(access) | (access.instruction in behind) << kind_bits for access in accesses)
        )
        words = len(recorded.log) // 4
        mask = max(1 << (2 * words).bit_length(), 64) - 1
        table = (ctypes.c_uint8 * (schema.layout(schema.LINE).bytes * (mask + 1)))()
        cache = a.vector_cache
        ways = cache.ways or 16
        own_lines = cache.bytes / cache.line_bytes / max(on_cu, 1.0)
        sets = max(int(own_lines / ways), 1)
        if apart:
            ways = max(min(ways, int(own_lines / sets)), 1)
        cus = min(a.cus_per_unit, 2)
        tags = (ctypes.c_uint64 * (cus * sets * ways))()
        cursors = (ctypes.c_uint32 * (3 * waves))()

        def share(level: Cache | None, residents: float) -> tuple[int, int]:
            """(sets, ways) of a workgroup's share, as many sets as a power of two allows."""
            if level is None:
                return 0, 0
            ways_there = level.ways or 16
            lines = max(level.bytes / 128 / max(residents, 1.0), 1.0)
            sets_there = 1 << int(math.log2(max(lines / ways_there, 1.0)))
            return sets_there, int(lines / sets_there)

        in_array, in_l2 = share(a.shader_array_cache, on_array), share(a.l2_cache, on_die)
        turns = (ctypes.c_uint32 * (in_array[0] + in_l2[0]))()
        asked = (ctypes.c_uint32 * (2 * schema.constant("SPREAD_TURNS") * max(channels, 1)))()
        seen = (CrowdStruct * schema.constant("SPREAD_TURNS"))()
        last = a.last_level_cache
        last_lines = int(last.bytes / 128 / max(on_device, 1.0)) if last is not None else in_l2[0] * in_l2[1]
        run = ReplayStruct(
            _address(recorded.log), _address(recorded.used), ctypes.addressof(kinds), ctypes.addressof(flows),
            ctypes.addressof(warm), ctypes.addressof(table), ctypes.addressof(tags), ctypes.addressof(cursors),
            ctypes.addressof(turns), ctypes.addressof(asked), ctypes.addressof(seen), ctypes.addressof(reuse),
            ctypes.addressof(shifts),
            size, grid or size, count, offsets, strides(a),
            mask, waves, cus, sets, ways, cache.line_bytes.bit_length() - 1,
            *in_array, *in_l2, last_lines, max(int(a.scalar_cache.bytes / 64 / max(on_cu, 1.0)), 16), channels,
            cache.random,
        )  # fmt: skip
        build.function("replay")(ctypes.addressof(run))
        crowds = [
            Crowd(c.fair, c.busiest / c.fair, c.used_by_ones / c.ones, c.used_by_rows / c.rows) for c in seen if c.fair
        ]
    found = []
    for number, (flow, later) in enumerate(zip(flows[:count], warm[:count], strict=True)):
        more = max(executions[number] - flow.executed, 0.0) / later.executed if later.executed else 0.0
        pairs, shared = (
            [known + more * expected for known, expected in zip(getattr(flow, name), getattr(later, name), strict=True)]
            for name in ("pairs", "shared")
        )
        parts = [s / p if p else None for p, s in zip(pairs, shared, strict=True)]
        x, y, z = (tuple(parts[at : at + 4]) for at in (0, 4, 8))
        executed, lanes, cycles = banked[3 * number : 3 * number + 3]
        own = {name: getattr(flow, name) + more * getattr(later, name) for name in Flow._fields[:16]}
        earlier = []
        for near in (0, 1):
            at, warm_at = (((half * count + number) * 2 + near) * (offsets + 1) for half in (0, 1))
            own_part = slice(at, at + offsets + 1)
            warm_ones = reuse[warm_at : warm_at + offsets + 1]
            earlier.append(_earlier(size, reuse[own_part], warm_ones, more, shifts[own_part]))
        found.append(
            Flow(
                **own, line=flow.line, lds_executed=executed, lds_lanes=lanes, lds_cycles=cycles, sharing=(x, y, z),
                earlier=(earlier[0], earlier[1]),
            )
        )  # fmt: skip
    return found, Channels(channels, size[0], crowds)


def strides(a: Architecture) -> int:
    """How many dies, or shader arrays, workgroups go round."""
    return max(a.xcds, a.shader_array_cache.instances if a.shader_array_cache is not None else 1)


def _earlier(
    size: Sequence[int], all_of_it: Sequence[int], warm: Sequence[int], more: float, shifts: Sequence[int]
) -> tuple[Earlier, ...]:  # fmt: skip
    lines = all_of_it[-1] + more * warm[-1]
    found = []
    for at, (counted, later) in enumerate(zip(all_of_it[:-1], warm[:-1], strict=True)):
        if counted:
            rest, x = divmod(at, 2 * size[0] - 1)
            z, y = divmod(rest, 2 * size[1] - 1)
            part, shift = (counted + more * later) / lines, shifts[at] / counted / 65536
            found.append(Earlier((x - size[0] + 1, y - size[1] + 1, z), part, shift))
    return tuple(found)


def _address(raw: bytes) -> int:
    return ctypes.cast(ctypes.c_char_p(raw), ctypes.c_void_p).value or 0


def _kind(access: Observed) -> int:
    if access.space == "scalar":
        return schema.RECORDED["scalar"] if access.action == "load" else schema.RECORDED["store"]
    return schema.RECORDED[access.action]


def cut(recorded: Recorded) -> bool:
    """Whether some log does not reach to the end of its wave."""
    return any(word & _LOG_CUT for (word,) in struct.iter_unpack("=I", recorded.used))
