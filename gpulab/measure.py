"""Times of work on the device in use: `measure` warms up, repeats, and gives a `Measurement`.

measured = gpulab.measure(lambda: saxpy[4, 256](n, 2.0, x, y))
measured.median_us, measured.interval_us, measured.quantile_us(0.9)
"""

from __future__ import annotations

import math
import numbers
import operator
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpulab import providers
from gpulab.errors import ArgumentError

if TYPE_CHECKING:
    from gpulab.stream import Stream

RUNS = 100
RUNS_MODELLED = 2
"""Without a number of runs: on hardware, and where times are modelled and do not vary."""

LEVEL = 0.95


@dataclass(frozen=True, slots=True, repr=False)
class Measurement:
    """Times of runs in microseconds, in their order.

    Attributes:
        modelled: the times come from a virtual device's model.
        warm_up: runs before these that are not in `times_us`.
    """

    times_us: tuple[float, ...]
    modelled: bool = False
    warm_up: int = 0

    def quantile_us(self, share: float) -> float:
        """The time that this share of the runs stays below: 0.5 is the median, 0 the shortest, 1 the longest."""
        import numpy as np

        return float(np.quantile(self.times_us, share))

    @property
    def median_us(self) -> float:
        """Half of the runs took less, half took more."""
        return self.quantile_us(0.5)

    @property
    def interval_us(self) -> tuple[float, float] | None:
        """Where the median of endlessly many runs is, at 95 % confidence; None for less than six runs.

        The k-th shortest and the k-th longest time: that the median lies outside has the probability with which less
        than k of the fair coins of all runs show heads, twice. That holds for every distribution of times, if runs do
        not depend on each other (T. Hoefler and R. Belli, Scientific Benchmarking of Parallel Computing Systems, 2015).
        """
        count = len(self.times_us)
        outside, k = 0, 0
        while (outside := outside + math.comb(count, k)) * 2 <= (1 - LEVEL) * 2**count:
            k += 1
        if k == 0:
            return None
        ordered = sorted(self.times_us)
        return ordered[k - 1], ordered[count - k]

    def __str__(self) -> str:
        count = len(self.times_us)
        runs = f"{count} run{'s' if count > 1 else ''}"
        shortest, longest = min(self.times_us), max(self.times_us)
        if self.modelled:
            if math.isclose(shortest, longest, rel_tol=1e-4):
                return f"{self.median_us:.2f} µs, modelled: it does not vary ({runs})"
            return f"{shortest:.2f} to {longest:.2f} µs, modelled: the {runs} did different work"
        parts = [f"median {self.median_us:.2f} µs"]
        if self.interval_us is not None:
            parts.append("95 % interval {:.2f} to {:.2f}".format(*self.interval_us))
            parts.append(f"80 % of the runs {self.quantile_us(0.1):.2f} to {self.quantile_us(0.9):.2f}")
        else:
            parts.append(f"from {shortest:.2f} to {longest:.2f}")
        return ", ".join(parts) + f" ({runs}{f' after {self.warm_up} to warm up' if self.warm_up else ''})"

    __repr__ = __str__


def measure(
    work: Callable[[], object],
    runs: int | None = None,
    *,
    warm_up_ms: float = 250.0,
    stream: Stream | None = None,
) -> Measurement:
    """How long work takes on the device in use, between two events for each run.

    On hardware the work is repeated for `warm_up_ms` first, which does not count: the first launch loads the code, and
    clocks rise with load. Then all runs are put into the stream, and the host waits once. A kernel that takes less time
    than Python needs to launch it is measured with that time, since the device waits. On a virtual device times are
    modelled and do not vary, so that nothing warms up.

    Args:
        work: a function without arguments that launches: ``lambda: kernel[grid, block](n, x, y)``.
        runs: how often it is measured; 100 times on hardware and twice on a virtual device if None.
        warm_up_ms: milliseconds of repetition before; 0 for none.
        stream: the stream that `work` launches into (the default stream if None).

    Raises:
        ArgumentError: `work` cannot be called, or there are no such runs.
    """
    from gpulab.stream import Event

    if not callable(work):
        raise ArgumentError(
            f"gpulab.measure repeats a function, and {work!r} is none.",
            why="a launch gives None, so that it would have run once, before the measurement.",
            hint="put lambda: before the launch: gpulab.measure(lambda: kernel[grid, block](n, x, y)).",
        )
    if not isinstance(warm_up_ms, numbers.Real) or not 0 <= warm_up_ms < math.inf:
        raise ArgumentError(f"warm_up_ms is a number of milliseconds from 0 on, not {warm_up_ms!r}.")
    modelled = providers.devices()[providers.current()].virtual
    try:
        count = operator.index(runs) if runs is not None else RUNS_MODELLED if modelled else RUNS
    except TypeError:
        count = 0
    if count < 1:
        raise ArgumentError(f"the number of runs is a whole number from 1 on, not {runs!r}.")
    provider = providers.selected()
    warmed = 0
    begun = time.perf_counter()
    while not modelled and (time.perf_counter() - begun) * 1e3 < warm_up_ms:
        work()
        provider.synchronize()
        warmed += 1
    events = [(Event(), Event()) for _ in range(count)]
    for start, stop in events:
        start.record(stream)
        work()
        stop.record(stream)
    times = tuple(stop.elapsed_ms(start) * 1e3 for start, stop in events)
    return Measurement(times, modelled, warmed)
