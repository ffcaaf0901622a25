"""`Moment`: a point in modelled time, in microseconds since the devices started, that is computed when it is read.

`Ran` is what makes it late: a launch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from gpulab.records import Fault, Launch

MOST_PENDING = 256  # moments that follow each other and are not computed yet


class Ran(Protocol):
    """A launch that has run, as the machine tells of it. Its time and its record are made when somebody asks.

    Attributes:
        saving: microseconds that it costs less than the model says, as in a graph. printed: by its kernel.
    """

    saving: float
    printed: str

    @property
    def title(self) -> str: ...

    @property
    def fault(self) -> Fault | None: ...

    @property
    def time_us(self) -> float: ...

    def record(self) -> Launch: ...


class Moment:
    """A point in modelled time: so long after the last of others. Computed when `us` is read, and then kept.

    To model the time of a launch takes longer than to launch, so that nobody does it before it is needed.
    """

    __slots__ = ("_after", "_us", "_work", "floor", "length")

    length: int  # how many moments, one after the other, are not computed up to here
    floor: float  # no earlier than this

    def __init__(self, after: tuple[Moment, ...] = (), work: Ran | float = 0.0) -> None:
        length, floor = 0, 0.0
        for moment in after:
            if moment.length > length:
                length = moment.length
            if moment.floor > floor:
                floor = moment.floor
        self._after: tuple[Moment, ...] = after
        self._work: Ran | float = work
        self._us: float | None = None
        if not length and isinstance(work, float):  # all before it is known: nothing to put off
            self._after, self._work, self.length = (), 0.0, 0
            self._us = self.floor = floor + work
            return
        self.length, self.floor = length + 1, floor
        if length >= MOST_PENDING or not after:
            _ = self.us

    def pending(self) -> set[Moment]:
        """This moment and those before it, as far as they are not computed."""
        found, open_ = {self}, [self]
        while open_:
            for moment in open_.pop()._after:
                if moment.length and moment not in found:
                    found.add(moment)
                    open_.append(moment)
        return found

    @property
    def us(self) -> float:
        """Microseconds since the devices started."""
        if self._us is not None:
            return self._us
        open_ = [self]
        while open_:
            moment = open_[-1]
            unknown = [earlier for earlier in moment._after if earlier._us is None]
            if unknown:
                open_ += unknown
                continue
            open_.pop()
            if moment._us is None:
                work = moment._work
                begin = max((earlier.floor for earlier in moment._after), default=0.0)
                moment._us = moment.floor = begin + (work if isinstance(work, float) else work.time_us)
                moment._after, moment._work, moment.length = (), 0.0, 0
        return self.floor


def latest(first: Moment, *others: Moment) -> Moment:
    """The last of some moments."""
    found = [first]
    for other in others:
        for place, one in enumerate(found):
            if other is one or (not other.length and other.floor <= one.floor):
                break
            if not one.length and one.floor <= other.floor:
                found[place] = other
                break
        else:
            found.append(other)
    return found[0] if len(found) == 1 else Moment(tuple(found))
