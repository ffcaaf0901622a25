"""The numbers of the timeline, and its file by the rules of the Trace Event Format and of Perfetto's importer."""

from __future__ import annotations

import dataclasses
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpulab
from gpulab.records import Activity, Counters, Launch, ModelledTime
from gpulab.views import timeline as views
from gpulab.views.table import visible
from tests.views import test_gpu_map

HOSTILE = '<img src=x onerror=alert(1)></script>$x$ ${x} \u202e"'

# A copy of 10 µs, then a kernel of 20 µs in one stream; another one waits for it and runs 5 µs beside a third kernel.
SMALL = (
    Activity("copy", "host to device", 0, 0, 0.0, 10.0, bytes=4096),
    Activity("kernel", "first", 0, 3, 10.0, 30.0, launch=0),
    Activity("event", "event 1", 0, 3, 30.0, 30.0),
    Activity("kernel", "second", 0, 3, 30.0, 40.0, launch=1),
    Activity("wait", "event 1", 0, 4, 10.0, 30.0, waits_for=2),
    Activity("kernel", "third", 0, 4, 30.0, 35.0, launch=2),
    Activity("copy", "device to host", 0, 0, 45.0, 50.0, bytes=4096),
)


def launches(count: int = 3, kernel: str = "k") -> list[Launch]:
    return [Launch(kernel, "gfx942", 0, (4, 1, 1), (64, 1, 1), 0, 4, Counters()) for _ in range(count)]


def test_sentence_and_table_by_hand() -> None:
    made = views.timeline(SMALL, launches())
    assert made.title == "Timeline of 3 streams"
    assert made.sentence.startswith(
        "3 kernels, 2 copies in 3 streams took 50 µs of modelled time; kernels 35 µs; copies 15 µs. Work of different "
        "streams overlapped for 5 µs. For 5 µs nothing ran. Once a stream had to wait for an event of another."
    )
    assert made.table.rows[0] == ("default stream", "copy", "host to device", 4096, 0.0, 10.0, 10.0)
    assert made.table.rows[4] == ("stream 2", "wait", "for event 1", "–", 10.0, 30.0, 20.0)
    assert made.table.columns[-3:] == ("start µs", "end µs", "took µs")
    assert "modelled" in made.table.note
    assert views.union(SMALL) == 45.0  # the wait counts as well: 0 to 40 and 45 to 50


def test_streams_have_names() -> None:
    assert views.row_names([(0, 0), (0, 2), (0, 7), (0, 9)]) == {
        (0, 0): "default stream", (0, 2): "per-thread stream", (0, 7): "stream 1", (0, 9): "stream 2",
    }  # fmt: skip
    assert views.row_names([(0, 7), (1, 0), (1, 8)]) == {
        (0, 7): "device 0, stream 1", (1, 0): "device 1, default stream", (1, 8): "device 1, stream 1",
    }  # fmt: skip


def test_data_for_the_browser() -> None:
    data = views.timeline(SMALL, launches()).message()
    assert data["rows"] == ["default stream", "stream 1", "stream 2"]
    assert (data["end"], data["grouped"], len(data["items"])) == (50.0, False, 7)
    assert data["events"] == [{"from": 30.0, "row": 1, "to": 30.0, "target": 2, "name": "event 1"}]
    first, kernel = data["items"][:2]
    assert (first["row"], first["start"], first["end"], first["bytes"], first["colour"]) == (0, 0.0, 10.0, 4096, 1)
    assert (kernel["kind"], kernel["launch"], kernel["colour"]) == ("kernel", 0, 0)


def test_nothing_happened() -> None:
    made = views.timeline((), ())
    assert "Nothing ran" in made.sentence
    assert made.png() == b""
    assert made.message()["rows"] == []


def test_measured_kernels_are_said_to_be_measured() -> None:
    real = tuple(Activity("kernel", "k", 0, 0, 10.0 * k, 10.0 * k + 4, launch=k, is_modelled=False) for k in range(3))
    made = views.timeline(real, [Launch("k", "gfx942", 0, (1, 1, 1), (64, 1, 1), 0, 1, Counters())] * 3)
    assert made.title == "Timeline of one stream (measured)"
    assert made.sentence.startswith("3 kernels, 12 µs in all. On a real GPU gpulab measures only this")
    assert "measured" in made.table.note
    assert "bars" not in made.reply({"launch": 0})[0]
    assert views.trace_events(real, ())["otherData"]["times"] == "measured"


@pytest.mark.full
def test_very_many_activities_are_grouped_and_shown_one_by_one_when_asked_for() -> None:
    many = tuple(Activity("kernel", "k" * 500, 0, k % 2 * 3, 2.0 * k, 2.0 * k + 1, launch=k) for k in range(100_000))
    made = views.timeline(many, launches(1))
    message = made.message()
    assert message["grouped"] is True
    assert len(message["items"]) <= views.MOST_GROUPS + 2
    assert sum(item["count"] for item in message["items"]) == 100_000
    assert sum(item["busy"] for item in message["items"]) == 100_000
    assert len(json.dumps(message)) < 500_000
    assert "99,960 more activities are left out" in made.table.note
    near, buffers = made.reply({"from": 1000.0, "to": 1100.0})
    assert (near["grouped"], buffers) == (False, [])
    assert [item["id"] for item in near["items"]] == list(range(500, 551))


def test_what_a_kernel_did_inside() -> None:
    gpulab.use("gfx942")
    module = gpulab.compile("__global__ void f(int* y) { y[blockIdx.x * blockDim.x + threadIdx.x] = 1; }")
    y = gpulab.empty(100_000 * 64, "int32")
    with gpulab.profile() as run:
        module.f[40, 64](y)
        module.f[100_000, 64](y)
    made = run.timeline()
    small, large = (made.reply({"launch": k, "die": 1})[0] for k in range(2))
    assert (small["used"], small["of"], small["unit"], small["workgroups"]) == (40, 304, "CU", 40)
    # On XCD 1 are workgroups 1, 9, 17, 25, 33, on its first five CUs.
    assert [(bar["unit"], bar["first"]) for bar in small["bars"]] == [(0, 1), (1, 9), (2, 17), (3, 25), (4, 33)]
    assert all(bar["end"] == pytest.approx(small["total"], rel=0.02) for bar in small["bars"])
    placed = run[1].placement
    assert placed is not None
    assert len(large["bars"]) <= views.MOST_BARS + 8 * placed.places
    on_shown = sum(bar["count"] for bar in large["bars"])
    assert on_shown == sum(-(-(12_500 - unit) // 38) for unit in range(8))  # of 12,500 on the die
    assert "no die 9" in made.reply({"launch": 0, "die": 9})[0]["error"]


def test_static_picture() -> None:
    made = views.timeline((*SMALL, Activity("kernel", HOSTILE, 0, 0, 50.0, 90.0, launch=3)), launches(4))
    assert made.png().startswith(b"\x89PNG")


# The file for Perfetto


def cut(us: float) -> int:
    """Microseconds as Perfetto reads them: nanoseconds, cut off (trace_processor, json_utils.cc: CoerceToTs)."""
    return int(us * 1000.0)


def check(trace: dict[str, Any]) -> dict[str, int]:
    """The rules of the Trace Event Format that this file has to keep, and how many events of each phase it has.

    Every event has a phase, numbers for process and thread, and, but for metadata, a time; "X" a length, "i" a scope,
    flows an id. On a thread, complete events lie one after the other or inside each other. A flow's two ends have id,
    name and category in common, lie inside a complete event of their thread, and the start is no later than the end.
    """
    text = json.dumps(trace, allow_nan=False)
    events = json.loads(text)["traceEvents"]
    counts: dict[str, int] = defaultdict(int)
    spans, names, owner = defaultdict(list), {}, {}
    for event in events:
        phase = event["ph"]
        counts[phase] += 1
        assert phase in ("M", "X", "i", "s", "f")
        assert isinstance(event["name"], str)
        assert event["name"]
        assert isinstance(event["pid"], int)
        assert event["pid"] > 0
        assert isinstance(event["tid"], int)
        assert event["tid"] > 0
        if phase == "M":
            assert event["name"] in ("process_name", "thread_name")
            assert isinstance(event["args"]["name"], str)
            names[event["name"], event["pid"], event["tid"]] = event["args"]["name"]
            continue
        assert isinstance(event["ts"], (int, float))
        assert event["ts"] >= 0
        assert isinstance(event["cat"], str)
        assert owner.setdefault(event["tid"], event["pid"]) == event["pid"]  # a thread number is used once
        assert ("thread_name", event["pid"], event["tid"]) in names
        if phase == "X":
            assert event["dur"] >= 0
            spans[event["tid"]].append((cut(event["ts"]), cut(event["ts"]) + cut(event["dur"])))
        elif phase == "i":
            assert event["s"] == "t"
    for own in spans.values():
        open_: list[int] = []
        for start, end in sorted(own, key=lambda span: (span[0], -span[1])):
            while open_ and open_[-1] <= start:
                open_.pop()
            assert not open_ or end <= open_[-1], "complete events overlap without nesting"
            open_.append(end)
    flows = defaultdict(dict)
    for event in events:
        if event["ph"] in "sf":
            at = cut(event["ts"])
            assert any(start <= at < end for start, end in spans[event["tid"]]), "a flow outside of any event"
            assert event["ph"] == "s" or event["bp"] == "e"
            assert event["ph"] not in flows[event["id"], event["name"], event["cat"]]
            flows[event["id"], event["name"], event["cat"]][event["ph"]] = at
    assert all(set(ends) == {"s", "f"} and ends["s"] <= ends["f"] for ends in flows.values())
    return dict(counts)


def test_the_checker_finds_mistakes() -> None:
    good = views.trace_events(SMALL, launches())
    for spoil in (
        lambda e: e[-1].pop("id"), lambda e: e[-1].update(ts=49.9999), lambda e: e[2].update(pid=0),
        lambda e: next(x for x in e if x["ph"] == "X").update(dur=float("nan")),
        lambda e: e.append({**next(x for x in e if x["name"] == "first"), "ts": 29.0}),
    ):  # fmt: skip
        bad = json.loads(json.dumps(good))
        spoil(bad["traceEvents"])
        with pytest.raises((AssertionError, KeyError, ValueError)):
            check(bad)


def test_a_small_file_by_hand() -> None:
    trace = views.trace_events(SMALL, launches())
    assert check(trace) == {"M": 4, "X": 6, "i": 1, "s": 1, "f": 1}
    assert trace["displayTimeUnit"] == "ns"
    events = trace["traceEvents"]
    names = [event["args"]["name"] for event in events if event["ph"] == "M"]
    assert names == ["device 0 (AMD Instinct MI300X, gfx942)", "default stream", "stream 1", "stream 2"]
    kernel = next(event for event in events if event["name"] == "first")
    assert (kernel["ts"], kernel["dur"], kernel["cat"], kernel["args"]["grid"]) == (10.0, 20.0, "kernel", "4")
    start, end = (next(event for event in events if event["ph"] == phase) for phase in "sf")
    assert (start["ts"], start["tid"]) == (pytest.approx(29.999), kernel["tid"])
    assert (end["ts"], end["bp"]) == (30.0, "e")


def test_numbers_of_microseconds_are_read_exactly() -> None:
    generator = np.random.default_rng(1)
    for nanoseconds in [0, 1, 3, 13_497, *generator.integers(0, 10**13, 3000).tolist()]:
        assert cut(views._ts(nanoseconds)) == nanoseconds


def test_a_run_is_saved(tmp_path: Path) -> None:
    gpulab.use("gfx942")
    module = gpulab.compile("__global__ void f(int n, int* y) { int i = threadIdx.x; if (i < n) y[i] += i; }")
    with gpulab.profile() as run, gpulab.Stream() as one, gpulab.Stream() as two:
        y = gpulab.to_device(np.zeros(1000, "int32"))
        for _ in range(50):
            event = gpulab.Event()
            module.f[3, 256, 0, one](256, y)
            event.record(one)
            two.wait(event)
            module.f[3, 256, 0, two](256, y)
        y.to_host()
    path = run.save_timeline(tmp_path / "run.json")
    trace = json.loads(path.read_text(encoding="utf-8"))
    counts = check(trace)
    assert counts["i"] == counts["s"] == counts["f"] == 50
    assert run.timeline().save(str(path)) == path
    kernels = [event for event in trace["traceEvents"] if event.get("cat") == "kernel"]
    assert len(kernels) == 100
    assert kernels[0]["dur"] == pytest.approx(run[0].time_us, abs=0.002)  # begin and end are rounded


def test_hostile_names_stay_text() -> None:
    hostile = tuple(Activity(a.kind, HOSTILE, *(getattr(a, n) for n in Activity.__slots__[2:])) for a in SMALL)
    trace = views.trace_events(hostile, launches())
    check(trace)
    assert HOSTILE in {event["name"] for event in json.loads(json.dumps(trace))["traceEvents"]}
    assert visible(HOSTILE) in str(views.timeline(hostile, launches()).table)


def test_a_part_of_the_time_has_what_touches_it() -> None:
    """Activities at 0 to 10, 10 to 30, 30, 30 to 40, 10 to 30, 30 to 35 and 45 to 50 µs."""
    made = views.timeline(SMALL, launches())
    for begin, end, wanted in ((10.0, 29.0, [0, 1, 4]), (10.5, 30.0, [1, 2, 3, 4, 5]), (41.0, 44.0, []),
                               (40.0, 45.0, [3, 6]), (50.0, 60.0, [6]), (-5.0, 0.0, [0])):  # fmt: skip
        found = made.reply({"from": begin, "to": end})[0]
        assert [item["id"] for item in found["items"]] == wanted


def test_an_item_has_what_the_browser_draws() -> None:
    long = Activity("copy", "x" * 121, 0, 0, 50.0, 51.5, bytes=12)
    items = views.timeline((*SMALL, long), launches()).message()["items"]
    assert items[1] == {
        "id": 1, "row": 1, "kind": "kernel", "name": "first", "start": 10.0, "end": 30.0, "bytes": 0, "launch": 0,
        "waits": None, "colour": 0,
    }  # fmt: skip
    assert (items[4]["row"], items[4]["kind"], items[4]["waits"], items[4]["launch"]) == (2, "wait", 2, None)
    assert items[7] == {
        "id": 7, "row": 0, "kind": "copy", "name": "x" * 120, "start": 50.0, "end": 51.5, "bytes": 12, "launch": None,
        "waits": None, "colour": 4,
    }  # fmt: skip
    assert [item["colour"] for item in items] == [1, 0, 4, 0, 4, 0, 2, 4]


def test_neighbours_are_one_item_where_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six that work in three streams, two groups at most: three neighbours of a stream are one group."""
    monkeypatch.setattr(views, "MOST_ITEMS", 7)
    assert views.timeline(SMALL, launches()).message()["grouped"] is False
    monkeypatch.setattr(views, "MOST_ITEMS", 6)
    monkeypatch.setattr(views, "MOST_GROUPS", 2)
    fill = Activity("fill", "memset", 0, 0, 52.0, 53.0, bytes=7)
    same = Activity("copy", "device to host", 0, 0, 60.0, 64.0, bytes=4)
    found = views.timeline((*SMALL, same, fill), launches()).message()
    each = {"id": -1, "kind": "group"}
    assert found["grouped"] is True
    assert found["items"] == [
        {**each, "row": 0, "name": "4 activities", "start": 0.0, "end": 53.0, "bytes": 8203, "busy": 20.0, "count": 4,
         "colour": 5},
        {**each, "row": 1, "name": "2 activities", "start": 10.0, "end": 40.0, "bytes": 0, "busy": 30.0, "count": 2,
         "colour": 0},
        {**each, "row": 2, "name": "1 × third", "start": 30.0, "end": 35.0, "bytes": 0, "busy": 5.0, "count": 1,
         "colour": 0},
    ]  # fmt: skip
    monkeypatch.setattr(views, "MOST_GROUPS", 4)
    items = views.timeline((*SMALL, same, fill), launches()).message()["items"]
    assert [(item["row"], item["count"], item["name"]) for item in items] == [
        (0, 2, "2 activities"), (0, 2, "2 activities"), (1, 2, "2 activities"), (2, 1, "1 × third"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("activities", "said"),
    [
        (SMALL[:1], "1 copy in 1 stream took 10 µs of modelled time; copies 10 µs."),
        (
            (*SMALL[:2], Activity("fill", "memset", 0, 3, 30.0, 31.0)),
            "1 kernel, 1 copy, 1 memset in 2 streams took 31 µs of modelled time; kernels 20 µs; copies 10 µs. Nothing "
            "overlapped: at no time did two streams work at once.",
        ),
        (
            (SMALL[1], SMALL[2], SMALL[4], SMALL[4], Activity("wait", "event 1", 0, 4, 30.0, 30.0, waits_for=1)),
            "1 kernel in 2 streams took 20 µs of modelled time; kernels 20 µs. Nothing overlapped: at no time did two "
            "streams work at once. 2 times a stream had to wait for an event of another.",
        ),
        (
            tuple(Activity("kernel", "k", 0, 3, 10.0 * n, 10.0 * n + 9.0, graph=n // 2) for n in range(3)),
            "3 kernels in 1 stream took 29 µs of modelled time; kernels 27 µs. For 2 µs nothing ran. 2 graphs were "
            "launched.",
        ),
    ],
)
def test_other_runs_in_words(activities: tuple[Activity, ...], said: str) -> None:
    assert views.timeline(activities, launches()).sentence == f"{said} Time 0 is where the first of them starts."


def test_what_perfetto_is_told_of_a_kernel() -> None:
    time = ModelledTime(5.0, "memory", {}, 1.0, 2100, 1, 8, lacks=("one", "two"))
    timed = dataclasses.replace(launches(1)[0], timing=time)
    kernel = Activity("kernel", "k", 1, 3, 0.0, 5.0, launch=0, bytes=16, graph=2)
    unknown = Activity("kernel", "k", 1, 3, 5.0, 6.0, launch=1, is_modelled=False)
    events = views.trace_events((kernel, unknown), [timed])["traceEvents"]
    place = {"pid": 2, "tid": 100}
    assert events == [
        {"ph": "M", "name": "process_name", "pid": 2, "tid": 2, "args": {"name": "device 1"}},
        {"ph": "M", "name": "thread_name", **place, "args": {"name": "stream 1"}},
        {"ph": "X", "name": "k", "ts": 0.0, "dur": 5.0, **place, "cat": "kernel", "args": {
            "times": "modelled", "bytes": 16, "graph": 2, "launch": 0, "grid": "4", "block": "64", "waves": 4,
            "limited by": "memory", "not in the time": "one; two"}},
        {"ph": "X", "name": "k", "ts": 5.0, "dur": 1.0, **place, "cat": "kernel", "args": {"times": "measured"}},
    ]  # fmt: skip


def test_the_workgroups_of_a_kernel_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two dies of three units with two places; 30 workgroups take 10 µs each and start a microsecond apart. On die 1
    are 1, 3, 5 ...: its six places get three or two of them."""
    placed = test_gpu_map.placement()
    time = ModelledTime(34.0, "VGPRs", {}, 1.5, 2100, 1, 8)
    one = dataclasses.replace(launches(1)[0], placed=placed, timing=time)
    found = views.workgroups(one, 1)
    bars = found.pop("bars")
    assert found == {
        "grid": "4", "block": "64", "waves": 4, "limiter": "VGPRs", "overhead": 1.5, "unit": "CU", "die": 1, "dies": 2,
        "units": 3, "shown": 3, "places": 2, "total": 34.0, "workgroups": 30, "used": 6, "of": 6, "each": 10.0,
        "wavesEach": 3, "differ": False,
    }  # fmt: skip
    assert [(bar["unit"], bar["place"], bar["first"], bar["start"], bar["end"], bar["count"]) for bar in bars] == [
        (0, 0, 1, 2.0, 12.0, 1), (0, 0, 13, 12.0, 22.0, 1), (0, 0, 25, 22.0, 32.0, 1),
        (0, 1, 7, 5.0, 15.0, 1), (0, 1, 19, 15.0, 25.0, 1),
        (1, 0, 3, 3.0, 13.0, 1), (1, 0, 15, 13.0, 23.0, 1), (1, 0, 27, 23.0, 33.0, 1),
        (1, 1, 9, 6.0, 16.0, 1), (1, 1, 21, 16.0, 26.0, 1),
        (2, 0, 5, 4.0, 14.0, 1), (2, 0, 17, 14.0, 24.0, 1), (2, 0, 29, 24.0, 34.0, 1),
        (2, 1, 11, 7.0, 17.0, 1), (2, 1, 23, 17.0, 27.0, 1),
    ]  # fmt: skip
    monkeypatch.setattr(views, "UNITS_SHOWN", 2)
    monkeypatch.setattr(views, "MOST_BARS", 8)
    short = views.workgroups(one, 1)["bars"]
    assert [(bar["unit"], bar["place"], bar["first"], bar["start"], bar["end"], bar["count"]) for bar in short] == [
        (0, 0, 1, 2.0, 12.0, 1), (0, 0, 13, 12.0, 32.0, 2), (0, 1, 7, 5.0, 15.0, 1), (0, 1, 19, 15.0, 25.0, 1),
        (1, 0, 3, 3.0, 13.0, 1), (1, 0, 15, 13.0, 33.0, 2), (1, 1, 9, 6.0, 16.0, 1), (1, 1, 21, 16.0, 26.0, 1),
    ]  # fmt: skip
    for die in (-1, 2):
        with pytest.raises(IndexError, match=f"there is no die {die}"):
            views.workgroups(one, die)
    few = dataclasses.replace(one, placed=test_gpu_map.placement(workgroups=5))
    assert [bar["first"] for bar in views.workgroups(few, 1)["bars"]] == [1, 3]
    assert (views.workgroups(few, 0)["used"], views.workgroups(few, 0)["workgroups"]) == (5, 5)


@pytest.mark.parametrize(
    ("before", "after", "flows"), [(0.001, 5.0, 0), (0.002, 0.002, 1), (0.5, 5.0, 1), (5.0, 0.001, 0), (5.0, 0.5, 1)]
)
def test_work_of_a_nanosecond_has_no_room_for_an_arrow(before: float, after: float, flows: int) -> None:
    kernels = (
        Activity("kernel", "one", 0, 3, 0.0, before), Activity("event", "e", 0, 3, before, before),
        Activity("wait", "e", 0, 4, 0.0, before, waits_for=1), Activity("kernel", "two", 0, 4, 10.0, 10.0 + after),
    )  # fmt: skip
    counts = check(views.trace_events(kernels, ()))
    assert (counts.get("s", 0), counts.get("f", 0)) == (flows, flows)
