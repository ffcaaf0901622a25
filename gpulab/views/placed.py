"""What the GPU map and the timeline ask of a launch's `Placement`: which workgroups a unit has, and when.

`placed` gives one of two that answer alike: `Equal`, where a formula says where each workgroup is, however many there
are, and `Differing`, where each has its own place and times (`Placement.stays`).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

from gpulab.records import Placement, Stay

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EPSILON = 1e-9  # of a workgroup's time: what ends now has ended


@dataclass(frozen=True, slots=True)
class Bar:
    """Workgroups that follow each other in one place of a unit, from `first` on; times in microseconds."""

    unit: int
    place: int
    first: int
    count: int
    start: float
    end: float


class Held(NamedTuple):
    """A workgroup that a unit holds: its number, the place, start and end in microseconds."""

    workgroup: int
    place: int
    start: float
    end: float


class Placed(Protocol):
    """Units are counted on their die."""

    @property
    def moments(self) -> list[float]:
        """When the most workgroups run, of several such moments the first; and if workgroups differ, since when fewer
        than half of the units have work. In microseconds."""
        ...

    def occupancy(self, times: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Workgroups that each unit holds, and how many have ended, at rising times: of the shapes (times, dies,
        units) and (times,)."""
        ...

    def held(self, die: int, unit: int, time: float) -> list[Held]:
        """What a unit holds at a time, by places."""
        ...

    def total(self, die: int, unit: int) -> int:
        """How many workgroups a unit gets from first to last."""
        ...

    def bars(self, die: int, units: int, most: int) -> list[Bar]:
        """What the first units of a die do, at most so many bars for each place."""
        ...


def placed(placement: Placement) -> Placed:
    return Differing(placement) if placement.stays else Equal(placement)


class Equal:
    """Workgroups that all take equally long."""

    def __init__(self, placement: Placement) -> None:
        self._placement = placement

    @property
    def moments(self) -> list[float]:
        p = self._placement
        return [p.begin_us + (min(p.on_die(0), p.round) - 1) * p.step_us]

    def occupancy(self, times: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        import numpy as np

        p = self._placement
        order = np.arange(p.round)  # the places of a die in the order in which they are filled
        turn = (times[:, None] - p.begin_us - order * p.step_us) / (p.group_us or 1.0)
        begun = np.floor(turn + EPSILON).astype(np.int64)  # how many have ended in a place that always has a next one
        begun[times >= p.total_us] = p.workgroups
        held = np.zeros((len(times), p.dies, p.units), np.int64)
        ended = np.zeros(len(times), np.int64)
        ended_here = ended
        for die in range(p.dies):
            if die and p.on_die(die) == p.on_die(die - 1):
                held[:, die] = held[:, die - 1]
                ended = ended + ended_here
                continue
            turns = np.maximum(-(-(p.on_die(die) - order) // p.round), 0)
            gone = np.clip(begun, 0, turns)
            here = np.clip(begun + 1, 0, turns) - gone
            held[:, die] = here.reshape(len(times), p.places, p.units).sum(axis=1)
            ended_here = gone.sum(axis=1)
            ended = ended + ended_here
        return held, ended

    def held(self, die: int, unit: int, time: float) -> list[Held]:
        p, found = self._placement, []
        for place in range(p.places):
            order = place * p.units + unit
            begin = p.begin_us + order * p.step_us
            if time < begin - EPSILON or time >= p.total_us:
                continue
            number = self._number(die, order, int((time - begin) / (p.group_us or 1.0) + EPSILON))
            if number < p.workgroups:
                found.append(Held(number, place, *p.when(number)))
        return found

    def total(self, die: int, unit: int) -> int:
        p = self._placement
        return max(-(-(p.on_die(die) - unit) // p.units), 0)

    def bars(self, die: int, units: int, most: int) -> list[Bar]:
        p, bars = self._placement, []
        for unit in range(units):
            for place in range(p.places):
                order = place * p.units + unit
                turns = max(-(-(p.on_die(die) - order) // p.round), 0)
                for turn in range(min(turns, most)):
                    number = self._number(die, order, turn)
                    start, end = p.when(number)
                    count = turns - turn if turn == most - 1 else 1
                    bars.append(Bar(unit, place, number, count, start, end + (count - 1) * p.group_us))
        return bars

    def _number(self, die: int, order: int, turn: int) -> int:
        return (order + turn * self._placement.round) * self._placement.dies + die


class Differing:
    """Workgroups that do different amounts of work."""

    def __init__(self, placement: Placement) -> None:
        self._placement = placement

    @cached_property
    def _of_units(self) -> dict[tuple[int, int], list[tuple[int, Stay]]]:
        """The workgroups of each (die, unit) that has any, as they start."""
        found: dict[tuple[int, int], list[tuple[int, Stay]]] = defaultdict(list)
        for number, stay in enumerate(self._placement.stays):
            found[number % self._placement.dies, stay.unit].append((number, stay))
        for own in found.values():
            own.sort(key=lambda each: each[1].start_us)
        return dict(found)

    @cached_property
    def _times(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        import numpy as np

        stays = self._placement.stays
        return np.array([stay.start_us for stay in stays]), np.array([stay.end_us for stay in stays])

    @property
    def moments(self) -> list[float]:
        import numpy as np

        starts, ends = (np.sort(each) for each in self._times)
        running = np.arange(1, len(starts) + 1) - np.searchsorted(ends, starts, "right")
        fullest = float(starts[np.argmax(running)])
        return [fullest] if self.half is None else [fullest, self.half]

    def occupancy(self, times: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        import numpy as np

        p = self._placement
        begun, gone = (np.searchsorted(times, each) for each in self._times)  # from which of the times on
        units = np.arange(p.workgroups) % p.dies * p.units + np.array([stay.unit for stay in p.stays])
        change = np.zeros((len(times) + 1, p.dies * p.units), np.int64)
        np.add.at(change, (begun, units), 1)
        np.add.at(change, (gone, units), -1)
        held = change[:-1].cumsum(axis=0).reshape(len(times), p.dies, p.units)
        return held, np.bincount(gone, minlength=len(times))[: len(times)].cumsum()

    def held(self, die: int, unit: int, time: float) -> list[Held]:
        found = [
            Held(number, stay.place, stay.start_us, stay.end_us)
            for number, stay in self._of_units.get((die, unit), ())
            if stay.start_us <= time < stay.end_us
        ]
        return sorted(found, key=lambda each: each.place)

    def total(self, die: int, unit: int) -> int:
        return len(self._of_units.get((die, unit), ()))

    def bars(self, die: int, units: int, most: int) -> list[Bar]:
        bars = []
        for unit in range(units):
            places: dict[int, list[tuple[int, Stay]]] = defaultdict(list)
            for number, stay in self._of_units.get((die, unit), ()):
                places[stay.place].append((number, stay))
            for place, own in sorted(places.items()):
                for number, stay in own[: most - 1]:
                    bars.append(Bar(unit, place, number, 1, stay.start_us, stay.end_us))
                if rest := own[most - 1 :]:
                    bars.append(Bar(unit, place, rest[0][0], len(rest), rest[0][1].start_us, rest[-1][1].end_us))
        return bars

    @cached_property
    def half(self) -> float | None:
        """Since when fewer than half of the device's units have work, in microseconds; None if that is always so."""
        units = -(-self._placement.dies * self._placement.units // 2)
        last = sorted((max(stay.end_us for _, stay in own) for own in self._of_units.values()), reverse=True)
        return last[units - 1] if len(last) >= units else None
