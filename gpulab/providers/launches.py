"""The records of launches on all devices: `recording` opens a block, `Records` is what it leaves."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence

from gpulab.providers import registry
from gpulab.providers.provider import Activities
from gpulab.records import Activity, Launch


class Records(list[Launch]):
    """The launches of one recording, and what streams did meanwhile: `activities`."""

    def __init__(self) -> None:
        super().__init__()
        self._sources: list[tuple[int, Activities]] = []

    def attach(self, first: int, activities: Activities) -> None:
        """Take in the activities of a provider whose first device has this number."""
        self._sources.append((first, activities))

    def activities(self) -> tuple[Activity, ...]:
        """What was put into streams so far, in the order in which it was asked for; computed anew by each call.

        On hardware these are the launches alone, and each of them waited for the one before. Each provider has a clock
        of its own, which starts with its first activity.
        """
        found: list[Activity] = []
        for first, source in self._sources:
            before = len(found)
            for activity in source():
                waits_for = None if activity.waits_for is None else before + activity.waits_for
                found.append(dataclasses.replace(activity, device=first + activity.device, waits_for=waits_for))
        return tuple(found)


class _Sink:
    """The records as one provider sees them: its devices count from 0."""

    def __init__(self, records: Records, first: int) -> None:
        self._records, self._first = records, first

    def add(self, launch: Launch) -> int:
        first = self._first
        self._records.append(dataclasses.replace(launch, device=launch.device + first) if first else launch)
        return len(self._records) - 1

    def __len__(self) -> int:
        return len(self._records)

    def __getitem__(self, place: int) -> Launch:
        return self._records[place]

    def change(self, place: int, launch: Launch) -> None:
        self._records[place] = launch


@contextlib.contextmanager
def recording(profile: bool = True, counters: Sequence[str] | None = None) -> Iterator[Records]:
    """Collect the records of all launches in the block, and what streams did.

    On virtual devices they are exact (with `profile`, all counters are collected). On hardware a record has sizes and
    the measured time, and what the provider counts.

    Args:
        counters: names to collect on the selected device's provider; if empty, the usual ones where they can be had.

    Raises:
        ProfilerError: counters are named, and the provider's profiler is missing or fails.
    """
    records = Records()
    selected = registry.selected()
    with contextlib.ExitStack() as stack:
        for provider in registry.providers():
            first = registry.first(provider)
            asked = counters if provider is selected else None
            records.attach(first, stack.enter_context(provider.record(_Sink(records, first), profile, asked)))
        yield records
