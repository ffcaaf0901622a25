"""What workgroups share of the lines that they read: `shared` gives, for each access and each level of cache behind a
unit's own, the part of a workgroup's lines that is fetched, and the part that is waited for.

It follows from how many workgroups run from one use of a line to the next (the reuse distance), as far as the sample
has both; of the others the size of their allocation says it. docs/timing.md, "The replay", has the rules."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from gpulab.architectures.architecture import Architecture
from gpulab.virtual_gpu.machine.sample import Earlier, Flow, Seen
from gpulab.virtual_gpu.machine.work import Work, occupancy_of, units_of, workgroups_on_unit


class Around(NamedTuple):
    """Who shares a level of cache: so many workgroups at a time, every `stride`-th of the grid, in `room` bytes."""

    residents: float
    stride: int
    room: float
    most: float

    def together(self, apart: float) -> float:
        """How likely two workgroups so far apart run at the same time: as many begin together as fit."""
        return 1.0 if self.residents >= self.most else max(1 - apart / self.residents, 0.0)

    def gap(self, apart: float, later: float) -> float:
        """From the use of a line by one workgroup to that by another so far behind it, so much later in its life: how
        many begin in that time."""
        return abs(apart + later * self.residents)

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


class Levels(NamedTuple):
    """Who shares what of a launch. first: the first cache of one unit; beyond: shader arrays, L2, last level.

    device: workgroups that run at a time.
    """

    first: Around
    beyond: tuple[Around, ...]
    device: float

    @classmethod
    def of(cls, a: Architecture, work: Work) -> Levels:
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
            Around(max(device / arrays, 1.0), arrays, room, total / arrays),
            Around(die, a.xcds, a.l2_cache.bytes, on_die),
            Around(device, 1, last, total),
        )
        # A workgroup's share of a cache is larger by what it shares with the others there.
        return cls(Around(float(on_unit), active, 0, on_unit), beyond, device)


Members = tuple[list[float], list[float]]


class Shared(NamedTuple):
    """Of lines that each of several workgroups wants that share a level: the part that is fetched; that is waited for,
    since it was not there before those came that run now; and that is fetched if nothing stays in the cache."""

    fetched: float = 1.0
    waited: float = 1.0
    now: float = 1.0


ALONE = Shared()


class Spread(NamedTuple):
    """Lines of an allocation that a workgroup uses for the first time, and of which the sample does not have who used
    them before: so many for each workgroup of a level, in all so many are there."""

    each: float
    lines: float
    repeated: bool


class Kept(NamedTuple):
    """How long a level keeps a line while one workgroup after the other uses it. known: (workgroups from one use of a
    line to the next, such lines of a workgroup) in order of distance; spread: the others; always: lines that each has
    alone."""

    known: tuple[tuple[float, float], ...]
    spread: tuple[Spread, ...]
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

    def again(self, spread: Spread, most: float) -> float:
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


class Use(NamedTuple):
    """What workgroups use: the flow of each access, how many times it stands for one workgroup, and the allocation that
    it uses; and whether its data leaves L2 first."""

    seen: Seen
    flows: Sequence[Flow]
    each: Sequence[float]
    where: Sequence[tuple[int, int]]
    streamed: Sequence[bool]


def shares(levels: Levels, seen: Seen, flows: Sequence[Flow]) -> list[float]:
    """How many workgroups' worth of lines each level has to hold, by what they share."""
    fetched = sum(flow.first for flow in flows)
    found = []
    members, apart = levels.first.members(levels.first.residents, seen.grid)
    own = sum(flow.first * flow.unique(members, apart) for flow in flows) / fetched if fetched else 1.0
    found.append(max(levels.first.residents * own, 1.0))
    for level in levels.beyond:
        own = 1.0
        if fetched:
            parts = (1 - sum(part * level.together(apart) for apart, part, _ in _before(level, seen, f)) for f in flows)
            own = sum(flow.first * part for flow, part in zip(flows, parts, strict=True)) / fetched
        found.append(max(level.residents * own, 1.0))
    return found


def _in_line(seen: Seen, flow: Flow, earlier: Sequence[Earlier]) -> Sequence[Earlier]:
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


Before = list[tuple[float, float, float]]
"""Workgroups from one use to the next, a part of the lines, by how much later in its life a workgroup uses them."""


def _before(level: Around, seen: Seen, flow: Flow) -> Before:
    """(workgroups of the level from one to the next that uses a line, the part of a workgroup's lines that has one, by
    how much later in its life it does so)."""
    grid, size = seen.grid, seen.recorded.size
    found = []
    for offset, part, later in _in_line(seen, flow, flow.earlier[level.stride > 1]):
        x, y, z = offset
        apart = (x + grid[0] * (y + grid[1] * z)) / level.stride
        for along, whole, inside in zip(offset, grid, size, strict=True):
            if inside < whole:  # at the grid's edge nobody is before
                part *= max(1 - abs(along) / whole, 0.0)
        found.append((apart, part, later))
    rest, below = 1 - sum(part for _, part, _ in found), 1
    for direction, (whole, inside) in enumerate(zip(grid, size, strict=True)):
        step = level.stride // math.gcd(below, level.stride)  # to the next on the same die
        if inside <= step < whole:  # farther than the sample has
            part = min(flow.shared(direction, step) * (1 - step / whole), rest)
            found.append((step * below / level.stride, part, 0.0))
            rest -= part
        below *= whole
    return sorted(found)


FOLLOWS = 0.9
"""Workgroups of which so many lines were used by one before them that runs at the same time find what they need in the
caches, and come up to it: they stay in step. Others do not."""


def _in_step(
    level: Around, lines: Sequence[float], before: Sequence[Before], unknown: Sequence[float],
    spread: Sequence[Spread | None],
) -> float:  # fmt: skip
    """The part of a level's workgroups that do the same things at the same time: those that only follow, or else those
    that begin together, the first ones. Each of the others begins when one before it ends. lines: of each access."""
    followed = 0.0
    for own, parts, rest, among in zip(lines, before, unknown, spread, strict=True):
        followed += own * sum(part for apart, part, _ in parts if apart < level.residents)
        if among is not None and among.repeated and among.lines < level.residents * among.each:
            followed += own * rest
    return 1.0 if followed > FOLLOWS * sum(lines) else min(level.residents / level.most, 1.0)


def shared(level: Around, use: Use, number: int, a: Architecture) -> list[Shared]:
    """What workgroups of a level share, of each access. number: 0: a shader array's cache, 1: L2, 2: the last level."""
    before = [_before(level, use.seen, flow) for flow in use.flows]
    unknown = [max(1 - sum(part for _, part, _ in parts), 0.0) for parts in before]
    lines = [flow.first * each for flow, each in zip(use.flows, use.each, strict=True)]
    places: dict[tuple[int, int], float] = {}
    for own, rest, place in zip(lines, unknown, use.where, strict=True):
        places[place] = places.get(place, 0.0) + own * rest
    spread = {
        place: Spread(each, place[1] / 128, bool(place[1]) and each * level.most > place[1] / 128)
        for place, each in places.items()
        if each
    }
    in_step = _in_step(level, lines, before, unknown, [spread.get(place) for place in use.where])
    if in_step == 1:
        before = [[(apart, part, 0.0) for apart, part, _ in parts] for parts in before]
    used: list[tuple[float, float]] = []
    always = 0.0
    for flow, each, own, parts, streamed in zip(use.flows, use.each, lines, before, use.streamed, strict=True):
        if streamed and number < 2:
            continue
        used += [(level.gap(apart, later), own * part) for apart, part, later in parts]
        if number:
            always += flow.sectors * each / 4
    ways = (a.shader_array_cache, a.l2_cache, a.last_level_cache)[number]
    kept = Kept(tuple(sorted(used)), tuple(spread.values()), always, level.room / 128, (ways.ways if ways else 0) or 16)
    again = {place: kept.again(each, level.most) for place, each in spread.items()}
    stays = {gap: kept.stays(gap) for gap in {level.gap(each[0], each[2]) for parts in before for each in parts}}
    stays_on = kept.stays(level.residents) if level.residents < level.most else 0.0
    found = []
    for parts, rest, place in zip(before, unknown, use.where, strict=True):
        found_again = rest * again.get(place, 0.0)
        now = stayed = merged = 0.0
        for apart, part, later in parts:
            same = part * level.together(apart) if number else 0.0
            there = stays[level.gap(apart, later)]
            now += same * (in_step + (1 - in_step) * there)
            merged += same
            stayed += (part - same) * there
        # If those that use a line reach back to before those that run now, it may be there since then.
        known = sum(part for _, part, _ in parts)
        steps = level.residents * known / sum(part * apart for apart, part, _ in parts) if known else 0.0
        waited = 1 - stayed - found_again - merged * stays_on * known**steps
        found.append(Shared(1 - now - stayed - found_again, waited, 1 - merged))
    return found
