"""What the launches inside a block did: `profile` collects their records into a `Run`.

with gpulab.profile("VALUUtilization", "LDSBankConflict") as run:
    saxpy[4, 256](n, 2.0, x, y)
run.counters["SQ_INSTS_VALU"], run.metrics["VALUUtilization"], run.lines(), run.accesses()

`Numbers` is how a run gives its counters and metrics: a mapping by name that refuses, with the nearest name, what the
device does not define.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gpulab import metrics, providers
from gpulab.arguments import described
from gpulab.blocks import block
from gpulab.errors import ArgumentError, CounterNotFound, LaunchNotFound
from gpulab.views import launches as views
from gpulab.views import profiles
from gpulab.views.table import Table

if TYPE_CHECKING:
    from pathlib import Path

    from gpulab.records import Activity, Launch, SourceLine
    from gpulab.views.instrument import Instrument
    from gpulab.views.timeline import Timeline


class Numbers(Mapping[str, float]):
    """Counters or metrics of one launch by name. Looking up takes either; iterating gives one kind."""

    def __init__(self, launch: Launch, kind: str) -> None:
        self._launch, self._kind = launch, kind

    def __getitem__(self, name: str) -> float:
        """The value.

        Raises:
            CounterNotFound: the device does not define the name, or this launch has no number for it.
        """
        return metrics.value(self._launch, name)

    def _names(self) -> list[str]:
        return list(self._launch.counters if self._kind == "counters" else metrics.available(self._launch))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def _table(self) -> Table:
        return profiles.counter_table(self._launch, self._names(), _kinds(self._launch))

    def __repr__(self) -> str:
        return str(self._table())

    def _repr_html_(self) -> str:
        return self._table().html()


class Run:
    """The launches inside one `profile` block, in order. Shows itself as a table.

    What asks for one launch takes an index, as a list would; without one it means all launches together, which must
    then be on one architecture (`counters`, `metrics`, `metric`, `table`), or the last one (`lines`, `hotspots`,
    `instructions`, `accesses`).
    """

    def __init__(
        self,
        recorded: list[Launch],
        names: tuple[str, ...] = (),
        activities: Callable[[], tuple[Activity, ...]] = tuple,
    ) -> None:
        self._recorded, self.names, self._activities = recorded, names, activities

    @property
    def launches(self) -> tuple[Launch, ...]:
        """The records of the launches so far."""
        return tuple(self._recorded)

    @property
    def activities(self) -> tuple[Activity, ...]:
        """What the streams did so far: kernels, copies, memsets, events recorded and waited for, with their times.

        On a virtual device times are modelled, and consistent with what events measure; on a real GPU there are the
        kernels alone, with measured times, and each of them waited for the one before.
        """
        return self._activities()

    def __len__(self) -> int:
        return len(self._recorded)

    def __getitem__(self, index: int) -> Launch:
        try:
            return self._recorded[index]
        except IndexError:
            raise self._no_launch(index) from None
        except TypeError:
            raise self._no_index(index) from None

    def _no_launch(self, index: int) -> LaunchNotFound:
        count = len(self._recorded)
        if not count:
            return LaunchNotFound(
                "no kernel was launched inside the profile block.",
                hint="put the launch into the block, indented: with gpulab.profile() as run: kernel[grid, block](...)",
            )
        return LaunchNotFound(
            f"there is no launch {index}: the profile block has {count}.",
            hint=f"run[0] to run[{count - 1}]; run[-1] is the last." if count > 1 else "run[0] is the launch.",
        )

    def _no_index(self, index: Any) -> LaunchNotFound:
        name = getattr(index, "name", index)
        places = [str(place) for place, launch in enumerate(self._recorded) if launch.kernel == name][:8]
        return LaunchNotFound(
            f"a launch is asked for by its number in the profile block, from 0 on, not by {described(index)}.",
            hint=f"{name} has the number{'s' if len(places) > 1 else ''} {', '.join(places)}." if places else "",
        )

    def __iter__(self) -> Iterator[Launch]:
        return iter(self.launches)

    def total(self, index: int | None = None) -> Launch:
        """One launch, or all of them added up into one record.

        Raises:
            LaunchNotFound: there was no such launch, or none at all.
            CounterNotFound: they ran on different architectures, whose counters have different meanings.
        """
        if index is not None:
            return self[index]
        if not self._recorded:
            raise self._no_launch(0)
        architectures = sorted({launch.arch for launch in self._recorded})
        if len(architectures) > 1:
            raise CounterNotFound(
                f"the launches ran on {' and '.join(architectures)}.",
                why="their counters differ in name and meaning, so that they cannot be added up.",
                hint="ask one launch at a time, by its index: run.table(0).",
            )
        return profiles.totals(self._recorded)

    @property
    def counters(self) -> Numbers:
        """The counters of all launches, added up; ``run.counters["SQ_WAVES"]``. Of one: ``run[0].counters``.

        Raises:
            LaunchNotFound, CounterNotFound: as `total`.
        """
        return Numbers(self.total(), "counters")

    @property
    def metrics(self) -> Numbers:
        """The metrics of all launches together; ``run.metrics["VALUUtilization"]``. Ratios are of the sums.

        Raises:
            LaunchNotFound, CounterNotFound: as `total`.
        """
        return Numbers(self.total(), "metrics")

    def metric(self, name: str, index: int | None = None) -> float:
        """One counter or metric, of one launch or of all together. Not a number where it divides by zero.

        Raises:
            CounterNotFound: the device does not define the name, or there is no number for it.
            LaunchNotFound: there was no such launch.
        """
        return metrics.value(self.total(index), name)

    def table(self, index: int | None = None) -> Table:
        """Counters and metrics with unit, meaning and how certain they are: those asked for, else all there are.

        Raises:
            LaunchNotFound, CounterNotFound: as `metric`.
        """
        launch = self.total(index)
        return profiles.counter_table(launch, self.names, _kinds(launch))

    def lines(self, index: int = -1, by: str = "", names: Sequence[str] = ()) -> Table:
        """The source lines of one launch by their cost; the last launch unless another index is given.

        Args:
            by: the column to sort by, e.g. "wave instructions" or "conflicts"; "" keeps the order of the source.
            names: counters and metrics to show by line; those that the profile was asked for if empty. A dash stands
                for what a single line does not have, such as waves and clocks of the GPU.

        Raises:
            LaunchNotFound: there was no such launch.
            ValueError: there is no such column.
            CounterNotFound: the device does not define a name.
        """
        launch = self[index]
        names = self._chosen(launch, names)
        places = dict.fromkeys(cost.where for cost in launch.lines) if names else {}
        parts = {
            where: providers.analysis().part(
                launch,
                [cost for cost in launch.instructions if _same(cost.where, where)],
                [cost for cost in launch.accesses if _same(cost.where, where)],
            )
            for where in places
        }
        extra = {name: {where: views.number(part, name) for where, part in parts.items()} for name in names}
        return views.line_table(launch, by, extra, _how(launch, names))

    def _chosen(self, launch: Launch, names: Sequence[str]) -> tuple[str, ...]:
        for name in names:
            metrics.find(name, launch.arch)
        known = set(metrics.names(launch.arch)) if launch.instructions else set()
        return tuple(names) or tuple(name for name in self.names if name in known)

    def hotspots(self, count: int = 5, index: int = -1) -> Table:
        """The source lines that most wave instructions belong to, with their shares.

        Raises:
            LaunchNotFound: there was no such launch.
        """
        return views.hotspot_table(self[index], count)

    def instructions(self, index: int = -1, by: str = "executed", names: Sequence[str] = ()) -> Table:
        """The instructions of one launch by their cost, the most executed first; ``by=""`` keeps program order.

        Args:
            names: counters and metrics to show by instruction, as in `lines`.

        Raises:
            LaunchNotFound: there was no such launch.
            ValueError: there is no such column.
            CounterNotFound: the device does not define a name.
        """
        launch = self[index]
        names = self._chosen(launch, names)
        parts = _by_instruction(launch) if names else []
        extra = {name: [views.number(part, name) for part in parts] for name in names}
        return profiles.instruction_table(launch, by, extra, _how(launch, names))

    def accesses(self, index: int = -1, by: str = "executed") -> Table:
        """What each memory instruction of one launch did: bytes asked for, cache lines, bank conflicts, hits.

        Args:
            by: the column to sort by, e.g. "conflicts", "lines"; "" keeps program order.

        Raises:
            LaunchNotFound: there was no such launch.
            ValueError: there is no such column.
        """
        return profiles.access_table(self[index], by)

    def coalescing(self, index: int = -1) -> Instrument:
        """Lanes, addresses and cache lines of each vector memory instruction of one launch, the worst first.

        Raises:
            LaunchNotFound: there was no such launch.
        """
        from gpulab.views.coalescing import coalescing

        return coalescing(self[index])

    def lds_banks(self, index: int = -1) -> Instrument:
        """Lanes and banks of each LDS instruction of one launch, with an index that can be changed.

        Raises:
            LaunchNotFound: there was no such launch.
        """
        from gpulab.views.lds_banks import of_launch

        return of_launch(self[index])

    def memory(self, index: int = -1, beside: Run | None = None) -> Instrument:
        """Where the loads and stores of one launch were served: L1, L2, Infinity Cache, memory, LDS.

        Args:
            index: which launch; the last one unless another is given.
            beside: another run, of which the same launch is drawn below in the same scale.

        Raises:
            LaunchNotFound: there was no such launch.
        """
        from gpulab.views.memory import memory_hierarchy

        return memory_hierarchy(self[index], None if beside is None else beside[index])

    def roofline(self, index: int | None = None, beside: Run | None = None, by: str = "kernel") -> Instrument:
        """Kernels under the roofs of their device: float operations a second by operations per byte of each memory.

        Args:
            index: one launch; all of them if None.
            beside: another run; this one is then "before", that one "after". With an index the same launch of both.
            by: a point for each "kernel", all its launches together, or for each "launch"; the picture can change it.

        Raises:
            ValueError: `by` is something else.
            LaunchNotFound: there was no such launch, or none at all.
            CounterNotFound: launches ran on different architectures, or were measured on a real GPU without counters
                of float operations; the message has their names.
        """
        from gpulab.views.roofline import roofline

        runs = [self] if beside is None else [self, beside]
        chosen = [run.launches if index is None else (run[index],) for run in runs]
        if not all(chosen):
            raise self._no_launch(0)
        architectures = sorted({launch.arch for launches in chosen for launch in launches})
        if len(architectures) > 1:
            raise CounterNotFound(
                f"the launches ran on {' and '.join(architectures)}.",
                why="the roofs in one picture are those of one device.",
                hint="profile both on one device." if beside else "ask for one launch by its index: run.roofline(0).",
            )
        return roofline(chosen[0], chosen[1] if beside is not None else (), by)

    def divergence(self, index: int = -1, beside: Run | None = None) -> Instrument:
        """Which lanes were active at each source line and instruction of one launch, and what each branch cost.

        Wasted lane-slots are executions of vector instructions × idle lanes; each is put down to the innermost if or
        loop around it whose lanes decided differently.

        Args:
            beside: another run, drawn beside: the kernel on a device with another wave size, or a changed kernel. Lines
                are matched by their text.

        Raises:
            LaunchNotFound: there was no such launch, in either run.
        """
        from gpulab.views.divergence import divergence

        return divergence(self[index], None if beside is None else beside[index])

    def source(self, index: int = -1, by: str | None = None, beside: Run | None = None) -> Instrument:
        """The source of one launch with the cost of each line in the margin; or the difference of two runs by line.

        Args:
            by: what the heat shows at first: "wave instructions" (also if None), "stall clocks" (modelled), "bytes",
                "cache lines", "LDS clocks" or "conflicts".
            beside: a later or changed run: this one is "before", the other "after". Its lines are matched by their
                text, so the source may have changed.

        Raises:
            LaunchNotFound: there was no such launch, in either run.
            ValueError: there is no such column.
        """
        from gpulab.views.source import source

        return source(self[index], by, None if beside is None else beside[index])

    def timeline(self) -> Timeline:
        """What the streams did over time: copies, memsets, kernels, events; `.save(path)` writes it for Perfetto."""
        from gpulab.views.timeline import timeline

        return timeline(self.activities, self.launches)

    def save_timeline(self, path: str | Path) -> Path:
        """Write the timeline as a file that ui.perfetto.dev and chrome://tracing open (JSON); returns its path."""
        return self.timeline().save(path)

    def gpu_map(self, index: int = -1) -> Instrument:
        """The device with all its compute units, filling as one launch proceeds, in modelled time.

        Raises:
            LaunchNotFound: there was no such launch.
            GpulabError: it ran on a real GPU, which does not say where its workgroups are.
        """
        from gpulab.views.gpu_map import gpu_map

        return gpu_map(self[index])

    def compare(self, other: Run, *names: str) -> Table:
        """This run beside another one: this is "before", the other "after".

        Args:
            other: a later or changed run.
            names: counters or metrics; if none, all that differ.

        Raises:
            LaunchNotFound, CounterNotFound: as `metric`, for either run.
        """
        if not isinstance(other, Run):
            raise ArgumentError(
                f"a run is compared with another one, and was given {described(other)}.",
                hint="with gpulab.profile() as after: ...; then before.compare(after).",
            )
        before, after = self.total(), other.total()
        return profiles.comparison_table(before, after, names, _kinds(after))

    def _table(self) -> Table:
        said = dict.fromkeys(_how(launch, self.names) for launch in self._recorded)
        return views.launch_table(self._recorded, self.names, " ".join(filter(None, said)))

    def __repr__(self) -> str:
        return str(self._table())

    def _repr_html_(self) -> str:
        return self._table().html()


def _how(launch: Launch, names: Sequence[str]) -> str:
    """Which of these numbers are not exact, as a sentence."""
    known = [name for name in names if launch.arch in metrics.architectures(name)]
    return profiles.certainties(known, launch, _kinds(launch)) if known else ""


def _same(one: SourceLine | None, other: SourceLine) -> bool:
    return one is not None and (one.file, one.line) == (other.file, other.line)


def _by_instruction(launch: Launch) -> list[Launch]:
    """What each instruction of a launch accounts for, in their order."""
    accesses = list(launch.accesses)  # in the same order, of some of the instructions
    parts = []
    for cost in launch.instructions:
        own = (
            accesses[:1] if accesses and (accesses[0].where, accesses[0].instruction) == (cost.where, cost.text) else []
        )
        del accesses[: len(own)]
        parts.append(providers.analysis().part(launch, [cost], own))
    return parts


def _kinds(launch: Launch) -> Mapping[str, str]:
    """How a virtual device got each counter (see `Instruments.counter_kinds`); nothing of a measured launch."""
    return providers.analysis().counter_kinds(launch.arch) if launch.time_is_modelled else {}


@block("with gpulab.profile() as run: kernel[grid, block](...)")
def profile(*names: str) -> Iterator[Run]:
    """Record every launch inside the block: counters, metrics, cost by source line and instruction, time.

    On a virtual device all is recorded whatever is named, and the time is modelled. On a real GPU the time is measured
    and the counters are ROCm's: every launch is saved with the memory that it can reach, and at the end of the block
    repeated under rocprofv3, once for each group of counters that hardware can count together. With no names these are
    the usual ones, if rocprofv3 is installed.

    Args:
        names: counters and metrics of the device in use, by AMD's names or gpulab's own, e.g. "SQ_WAVES",
            "VALUUtilization", "coalescing_percent"; they are what the run shows. ``gpulab counters`` lists them.

    Raises:
        CounterNotFound: the device in use does not define a name (the message has the nearest that it does), or is
            virtual and has no model of it.
        ProfilerError: the device is real, and rocprofv3 is missing (if counters were named) or fails.
    """
    if names:
        providers.selected().check_counters(names, providers.devices()[providers.current()].arch)
    with providers.recording(counters=names) as recorded:
        yield Run(recorded, names, recorded.activities)
