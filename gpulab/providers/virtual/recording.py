"""Records of launches on virtual devices, and of what their streams did: `record`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from gpulab.providers.provider import Activities, Sink
from gpulab.records import Activity, Launch
from gpulab.virtual_gpu.runtime.runtime import Runtime
from gpulab.virtual_gpu.runtime.streams import Happening


@contextlib.contextmanager
def record(runtime: Runtime, sink: Sink, profile: bool) -> Iterator[Activities]:
    """Put the record of each launch in the block into `sink`; with `profile` all counters are collected."""
    happened: list[tuple[Happening, int]] = []  # with its place among the launches

    def listen(launch: Launch) -> None:
        sink.add(launch)

    def happen(happening: Happening) -> None:
        happened.append((happening, len(sink)))

    runtime.add_listener(listen, profile)
    runtime.streams.listeners.append(happen)
    try:
        yield lambda: _activities(happened)
    finally:
        runtime.remove_listener(listen)
        runtime.streams.listeners.remove(happen)


def _activities(happened: list[tuple[Happening, int]]) -> tuple[Activity, ...]:
    if not happened:
        return ()
    places = {id(happening): place for place, (happening, _) in enumerate(happened)}
    origin = min(happening.start.us for happening, _ in happened)
    events: dict[int, int] = {}
    graphs: dict[int, int] = {}
    found = []
    for happening, launch in happened:
        name = happening.name
        if happening.event:
            name = f"event {events.setdefault(happening.event, len(events) + 1)}"
        found.append(
            Activity(
                happening.kind, name, happening.device, happening.stream,
                happening.start.us - origin, happening.end.us - origin, happening.bytes,
                launch=launch if happening.kind == "kernel" else None,
                waits_for=places.get(id(happening.earlier)) if happening.kind == "wait" else None,
                graph=graphs.setdefault(happening.graph, len(graphs) + 1) if happening.graph else None,
            )
        )  # fmt: skip
    return tuple(found)
