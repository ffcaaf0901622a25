"""The numbers behind the wave stepper: its words, its table, what the browser gets, and when."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpulab.records import AllocationNote, SourceLine, TraceAccess, TraceInstruction, TraceStep
from gpulab.trace import WaveTrace
from gpulab.views import stepper as views
from gpulab.views.instrument import MOST_BYTES
from gpulab.views.stepper import Life, stepper
from gpulab.views.table import visible
from tests.views.traces import BASE, HOSTILE, bits, long, small, waiting


def unpacked(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text))


def test_the_sentence_has_the_numbers() -> None:
    assert stepper(small()).sentence == (
        "This wave of 32 lanes executed 10 instructions on 4 source lines, with 3 to 32 lanes active; the active lanes "
        "changed 2 times, and it came to 1 barrier."
    )


def test_the_fault_is_in_the_sentence() -> None:
    said = stepper(small(fault=True)).sentence
    assert said.endswith(
        "It was stopped at step 5, lane 2: out of bounds: reads 4 bytes at 0x200000001008, right behind the end of x "
        "(8 bytes)."
    )


def test_the_table_is_by_source_line() -> None:
    table = stepper(small(64)).table
    assert table.columns == ("line", "steps", "fewest lanes", "most lanes", "source")
    assert table.rows == (
        ("2", 3, 3, 64, "if (threadIdx.x < 3)"),
        ("3", 4, 3, 3, "x[threadIdx.x] *= 2;"),
        ("4", 2, 3, 64, "__syncthreads();"),
        ("5", 1, 64, 64, "}"),
    )


def test_what_the_browser_gets_at_first() -> None:
    trace = small()
    data = stepper(trace).message()
    masks = np.frombuffer(unpacked(data["exec"]), np.uint8).reshape(4, -1)
    assert [int.from_bytes(masks[:, k].tobytes(), "little") for k in range(10)] == [s.exec_mask for s in trace.steps]
    executed = np.frombuffer(unpacked(data["instructions"]), np.uint8).reshape(4, -1)
    assert executed[0].tolist() == list(range(10))
    texts = json.loads(unpacked(data["texts"]))
    assert texts["files"] == [
        {"name": "cell.hip", "lines": [[k + 1, t] for k, t in enumerate(trace.source.split("\n"))]}
    ]
    assert texts["registers"] == ["v0", "v1", "v2", "v3", "v4", "exec", "vcc", "scc", "s0"]
    assert texts["vectors"] == 5
    assert texts["instructions"][2][7] == 7  # the branch's target
    assert texts["memory"] == [["x", "200000001000", 12]]


def test_a_window_has_the_state_before_its_first_step_and_the_changes() -> None:
    reply, buffers = stepper(small()).reply({"window": 5})
    state = np.frombuffer(buffers[0], np.uint32).reshape(5, 32)
    assert state[1, :4].tolist() == [0, 4, 8, 0]  # v1, written in step 4
    assert state[4, :4].tolist() == [bits(1.5), bits(2.5), bits(3.5), 0]  # v4, loaded in step 5
    assert reply["scalars"] == ["7", "7", 1, 0xFFFFFFFF]  # exec, vcc, scc, s0
    assert reply["last"] == [-1, 3, -1, -1, 4, 1, 0, 1, 1]
    assert [row[0] for row in reply["steps"]] == [[4], [], [], [], []]
    assert np.frombuffer(buffers[1], np.uint32)[:3].tolist() == [bits(3), bits(5), bits(7)]
    assert reply["steps"][1][2] == [
        ["global", "write", 4, [0, 1, 2], ["200000001000", "200000001004", "200000001008"], [bits(3), bits(5), bits(7)]]
    ]
    assert reply["steps"][4][3] == [[16, struct.pack("<f", 7).hex()]]
    assert buffers[2] == bytes(64)


def test_any_window_agrees_with_going_step_by_step() -> None:
    trace = long(5_000, noise=True)
    shown = stepper(trace)
    state: dict[str, Any] = {"exec": (1 << 64) - 1}
    for k, step in enumerate(trace.steps):
        if k % 997 == 0:
            _, buffers = shown.reply({"window": k})
            found = np.frombuffer(buffers[0], np.uint32).reshape(-1, 64)
            for n, name in enumerate(("v0", "v1", "v2", "v3")):
                assert tuple(found[n].tolist()) == state.get(name, (0,) * 64)
        state.update(step.changes)


def test_lds_at_any_step() -> None:
    trace = small()
    steps = tuple(replace(trace.steps[8], lds=((k % 16 * 4, struct.pack("<I", k)),)) for k in range(5000))
    shown = stepper(replace(trace, steps=steps))
    _, buffers = shown.reply({"window": 4500})
    assert struct.unpack("<16I", buffers[2]) == tuple(k for k in [*range(4496, 4500), *range(4484, 4496)])
    _, buffers = shown.reply({"window": 3})
    assert struct.unpack("<16I", buffers[2])[:4] == (0, 1, 2, 0)


def test_questions_about_steps_that_are_not_there() -> None:
    shown = stepper(small())
    assert shown.reply({"window": 10})[0] == {"error": "there is no step 10"}
    assert shown.reply({"window": -1})[0] == {"error": "there is no step -1"}
    assert "error" in shown.reply({})[0]


@pytest.mark.full
@pytest.mark.parametrize("noise", [False, True])
def test_a_hundred_thousand_steps_are_small_enough(noise: bool) -> None:
    shown = stepper(long(noise=noise))
    assert len(json.dumps(shown.message())) < MOST_BYTES
    for first in (0, 50_000, 99_999):
        reply, buffers = shown.reply({"window": first})
        assert len(json.dumps(reply)) + sum(map(len, buffers)) < MOST_BYTES
    assert shown.message()["count"] == 100_000


def test_a_huge_kernel_is_small_enough() -> None:
    """20,000 instructions with long texts that do not compress, 200,000 steps of random masks."""
    import random

    chance = random.Random(7)
    trace = long(200_000, noise=True)
    many = tuple(
        TraceInstruction(f"v_x {chance.getrandbits(1200):x}", SourceLine("a.hip", k + 1, 0, ""), "")
        for k in range(20_000)
    )
    shown = stepper(replace(trace, instructions=trace.instructions + many))
    data = shown.message()
    assert data["hidden"] == 20_000
    assert 100_000 < data["count"] < data["all"] == 200_000


def test_large_steps_make_short_windows() -> None:
    trace = long(400)
    values = tuple(range(64))
    steps = tuple(replace(step, changes={f"v{n}": values for n in range(200)}) for step in trace.steps)
    reply, buffers = stepper(replace(trace, steps=steps)).reply({"window": 0})
    assert 1 <= reply["count"] < 256
    assert sum(map(len, buffers)) < 1_000_000


def test_long_files_are_shown_around_what_was_compiled() -> None:
    trace = small()
    text = "\n".join(f"line {n}" for n in range(1, 2001))
    where = SourceLine("cell.hip", 1000, 1, "line 1000")
    header = SourceLine("/rocm/include/math.h", 7, 1, "float header();")
    instructions = tuple(replace(i, where=where) for i in trace.instructions[:-2])
    instructions += tuple(replace(i, where=header) for i in trace.instructions[-2:])
    shown = stepper(replace(trace, instructions=instructions, files={"cell.hip": text}))
    files = json.loads(unpacked(shown.message()["texts"]))["files"]
    assert [file["name"] for file in files] == ["cell.hip", "/rocm/include/math.h"]
    lines = [line for line, _ in files[0]["lines"]]
    assert lines == [0, *range(988, 1013), 0]
    assert files[1]["lines"] == [[7, "float header();"]]
    assert [row[0] for row in shown.table.rows] == ["/rocm/include/math.h:7", "cell.hip:1000"]


@pytest.mark.full
def test_no_source_one_step_and_nothing() -> None:
    bare = stepper(small(with_source=False))
    assert bare.table.rows == (("–", 10, 3, 32, ""),)
    assert bare.png()
    one = stepper(replace(small(), steps=small().steps[:1], truncated=True))
    assert one.sentence == (
        "This wave of 32 lanes executed 1 instruction on 1 source line, with 32 lanes active; the active lanes changed "
        "0 times, and it came to 0 barriers. The trace ends before the wave does."
    )
    assert one.png()
    none = stepper(replace(small(), steps=()))
    assert none.sentence == "The wave of 32 lanes executed nothing."
    assert none.message()["count"] == 0
    assert none.png()


def test_the_picture_is_drawn_with_hostile_text_and_faults() -> None:
    assert stepper(small(64, fault=True, text=HOSTILE, name=HOSTILE)).png() == stepper(
        small(64, fault=True, text=HOSTILE, name=HOSTILE)
    ).png()  # fmt: skip
    assert visible(HOSTILE) in stepper(small(name=HOSTILE)).title


def test_a_trace_shows_itself(capsys: pytest.CaptureFixture[str]) -> None:
    trace = WaveTrace.of(small())
    trace.show()
    assert capsys.readouterr().out == trace.stepper().text + "\n"
    assert repr(trace) == "<trace of twice (gfx1100): workgroup (1, 0, 0), wave 0, 10 steps>"


def test_an_instruction_may_be_executed_by_no_lane() -> None:
    trace = small()
    idle = TraceStep(3, 0, {})
    assert stepper(replace(trace, steps=(*trace.steps, idle))).table.rows[1][2] == 0


def test_a_barrier_in_two_halves_is_one() -> None:
    """RDNA 4 tells the others by one instruction and waits by another (kind "nop"): the wave comes to one barrier."""
    trace = small()
    one = [TraceInstruction("s_barrier_signal -1", None, kind="nop", by_lane=False),
           TraceInstruction("s_barrier_wait -1", None, kind="barrier", by_lane=False)]  # fmt: skip
    steps = tuple(TraceStep(number, 1, {}) for number in (0, 1))
    assert Life(replace(trace, instructions=tuple(one), steps=steps)).barriers == [1]


def test_lds_that_ends_within_a_word_is_sent_whole() -> None:
    """Six bytes of LDS: two words, of which the second has two bytes."""
    trace = small()
    steps = (replace(trace.steps[8], lds=((0, b"\1\2\3\4\5\6"),)), *trace.steps[8:])
    _, buffers = stepper(replace(trace, steps=steps, lds_bytes=6)).reply({"window": 1})
    assert buffers[2] == b"\1\2\3\4\5\6\0\0"


def test_accesses_in_flight_are_sent_with_their_waits() -> None:
    data = stepper(waiting(turns=1)).message()
    words = np.frombuffer(unpacked(data["flights"]), np.uint8).reshape(12, -1).T.copy().view("<u4").tolist()
    assert data["counters"] == ["lgkmcnt", "vmcnt"]
    assert words == [[0, 3, 0], [1, 3, 0], [4, 6, 1], [5, 8, 1], [9, 10, 0], [11, 0xFFFFFFFF, 1]]
    rows = json.loads(unpacked(data["texts"]))["instructions"]
    assert rows[4][-2:] == [["vmcnt"], []]
    assert rows[10][-2:] == [[], [["vmcnt", 0], ["lgkmcnt", 0]]]


@pytest.mark.parametrize("count", [63, 64, 65, 300])
def test_the_first_steps_are_sent_with_the_picture(count: int) -> None:
    """64 of them at first, 256 at a time from then on."""
    shown = stepper(long(count))
    first = json.loads(unpacked(shown.message()["first"]["reply"]))
    assert (first["first"], first["count"]) == (0, min(count, 64))
    assert [shown.reply({"window": step})[0]["count"] for step in (0, count - 1)] == [min(count, 256), 1]


def test_states_of_lds_that_are_kept_follow_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "LDS_EVERY", 3)
    trace = small()
    steps = tuple(replace(trace.steps[8], lds=((4 * k, bytes([k + 1])),)) for k in range(16))
    for order in (range(16), (15, 2, 9, 3)):
        shown = stepper(replace(trace, steps=steps))
        for step in order:
            _, buffers = shown.reply({"window": step})
            assert buffers[2][::4] == bytes(k + 1 if k < step else 0 for k in range(16))


@pytest.mark.parametrize(
    ("step", "most", "count"),
    [
        # Four lanes of one word take 4 * 30 + 4 * 11 = 164, of two words as much; 5 bytes of LDS 10; 64 lanes 256.
        ({"accesses": (TraceAccess("global", "read", 4, (0, 1, 2, 3), (0, 4, 8, 12), (1, 2, 3, 4)),)}, 163, 1),
        ({"accesses": (TraceAccess("global", "read", 4, (0, 1, 2, 3), (0, 4, 8, 12), (1, 2, 3, 4)),)}, 164, 2),
        ({"accesses": (TraceAccess("global", "read", 4, (0, 1, 2, 3), (0, 4, 8, 12), (1, 2, 3, 4)),)}, 492, 4),
        ({"lds": ((0, b"12345"),)}, 9, 1), ({"lds": ((0, b"12345"),)}, 10, 2), ({"lds": ((0, b"12345"),)}, 29, 3),
        ({"changes": {"v4": tuple(range(64))}}, 255, 1), ({"changes": {"v4": tuple(range(64))}}, 256, 2),
        ({"changes": {"s0": 5}}, 0, 20),
    ],
)  # fmt: skip
def test_a_window_ends_after_so_many_bytes(
    monkeypatch: pytest.MonkeyPatch, step: dict[str, Any], most: int, count: int
) -> None:
    monkeypatch.setattr(views, "WINDOW_BYTES", most)
    trace = small(64)
    steps = tuple(replace(TraceStep(0, 1, {}), **step) for _ in range(20))
    assert stepper(replace(trace, steps=steps)).reply({"window": 0})[0]["count"] == count


def test_values_of_more_than_a_word_are_sent_as_words() -> None:
    trace = small()
    wide = TraceAccess("global", "read", 8, (3,), (0x1234,), (0x1_0000_0002,))
    half = TraceAccess("lds", "write", 2, (4,), (6,), (0xFFFF,))
    reply, _ = stepper(replace(trace, steps=(TraceStep(0, 1, {}, (wide, half)),))).reply({"window": 0})
    assert reply["steps"][0][2] == [
        ["global", "read", 8, [3], ["1234"], [2, 1]], ["lds", "write", 2, [4], ["6"], [0xFFFF]],
    ]  # fmt: skip


@pytest.mark.parametrize(("few", "said"), [(1, "; dashed: barrier"), (0, "; marks above: barriers")])
def test_marks_of_barriers_in_the_picture(monkeypatch: pytest.MonkeyPatch, few: int, said: str) -> None:
    monkeypatch.setattr(views, "FEW_BARRIERS", few)
    made = stepper(small())
    assert made.figure is not None
    assert made.figure().axes[0].get_title("left") == f"blue: the lane is active (EXEC); grey: it waits{said}"


def test_a_trace_without_steps_is_drawn_as_such() -> None:
    made = stepper(replace(small(), steps=()))
    assert made.figure is not None
    assert [axes.get_title() for axes in made.figure().axes] == ["no instruction was executed", ""]


def test_lines_beside_the_picture() -> None:
    assert views._label(("a/b/longer-file-name.hip", 7), "  x\u202e = 1; ", True) == "longer-file-na:7  x· = 1;"
    assert views._label(("cell.hip", 12), "x" * 34, False) == f"12  {'x' * 34}"
    assert views._label(("cell.hip", 12), "x" * 35, False) == f"12  {'x' * 34}…"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"access": "write", "bytes": 1}, "writes 1 byte at 0x200000001008, right behind the end of x (8 bytes)."),
        ({"access": "atomic", "lane": None}, "changes 4 bytes at 0x200000001008, right behind the end of x (8 bytes)."),
        ({"access": "", "nearest": None}, "at 0x200000001008."),
        ({"bytes": 0, "nearest": None, "detail": "why"}, "at 0x200000001008 (why)."),
        ({"nearest": AllocationNote(BASE, 1, "before", 5, "")},
         "reads 4 bytes at 0x200000001008, 5 bytes before an allocation (1 byte)."),
        ({"nearest": AllocationNote(BASE, 8, "after", 1, "y")},
         "reads 4 bytes at 0x200000001008, 1 byte behind the end of y (8 bytes)."),
        ({"nearest": AllocationNote(BASE, 8, "freed", 0, "y")},
         "reads 4 bytes at 0x200000001008, in freed memory, once y (8 bytes)."),
        ({"address": None, "nearest": None, "access": "", "kind": "timeout"}, ""),
    ],
)  # fmt: skip
def test_other_faults_in_words(change: dict[str, Any], said: str) -> None:
    trace = small(fault=True)
    assert trace.fault is not None
    lane = "" if "lane" in change else ", lane 2"
    kind = change.get("kind", "out of bounds")
    wanted = f"It was stopped at step 5{lane}: {kind}{': ' if said else '.'}{said}"
    assert views.fault_words(replace(trace, fault=replace(trace.fault, **change))) == wanted


@pytest.mark.parametrize(("length", "lines"), [(400, 400), (401, 27)])
def test_files_are_shown_whole_up_to_a_length(length: int, lines: int) -> None:
    """Of a longer one 12 lines on both sides of what was compiled, and a mark where lines are left out."""
    trace = small()
    where = SourceLine("cell.hip", 200, 1, "x")
    text = "\n".join(f"\tline {n}" for n in range(1, length + 1))
    instructions = tuple(replace(i, where=where) for i in trace.instructions)
    shown = stepper(replace(trace, instructions=instructions, files={"cell.hip": text}))
    (file,) = json.loads(unpacked(shown.message()["texts"]))["files"]
    assert len(file["lines"]) == lines
    assert [200, "    line 200"] in file["lines"]


def test_many_barriers_are_marked_above_the_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The barrier is the ninth of ten steps; of 32 lanes the marks are two lanes high."""
    for few, limits, mark in ((0, (31.5, -2.5), (-2.5, -1)), (1, (31.5, -0.5), (-0.5, 31.5))):
        monkeypatch.setattr(views, "FEW_BARRIERS", few)
        made = stepper(small())
        assert made.figure is not None
        upper = made.figure().axes[0]
        (lines,) = upper.collections
        assert upper.get_ylim() == limits
        assert [[tuple(point) for point in line] for line in lines.get_segments()] == [[(9, mark[0]), (9, mark[1])]]


@pytest.mark.parametrize(("count", "note"), [(60, ""), (61, "1 more lines, with fewer steps each, are left out.")])
def test_the_lines_with_most_steps_are_listed(count: int, note: str) -> None:
    """In the order of the source; the line with the fewest steps is left out, wherever it stands."""
    trace = small()
    places = [SourceLine("cell.hip", n, 1, f"line {n}") for n in range(1, count + 1)]
    instructions = tuple(TraceInstruction("s_nop 0", where) for where in places)
    steps = tuple(TraceStep(n, 7, {}) for n in range(count) for _ in range(1 if n == 4 else 2))
    table = stepper(replace(trace, instructions=instructions, steps=steps)).table
    lines = [str(n) for n in range(1, count + 1) if count == 60 or n != 5]
    assert [row[0] for row in table.rows] == lines
    assert table.rows[0][1:] == (2, 3, 3, "line 1")
    assert table.note == note


def test_a_trace_that_is_too_large_is_cut_at_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """First without what was not executed, then by a third at a time: 5,000 steps, 3,333, 2,222 ..."""
    many = tuple(TraceInstruction(f"v_x {n:0600x}"[::-1], SourceLine("a.hip", n + 1, 0, ""), "") for n in range(400))
    trace = long(5000, noise=True)
    trace = replace(trace, instructions=trace.instructions + many)
    whole = stepper(trace).message()
    assert (whole["count"], whole["all"], whole["hidden"]) == (5000, 5000, 0)
    counts = {}
    for most in (60_000, 80_000, 97_000, 99_000, 120_000):
        monkeypatch.setattr(views, "MOST_BYTES", most)
        data = stepper(trace).message()
        counts[data["count"], data["hidden"]] = len(json.dumps({**data, "first": None}))
    assert {count for count, _ in counts} <= {5000, 3333, 2222, 1481, 987, 658}
    assert (5000, 400) in counts
    assert (3333, 400) in counts
    assert all(hidden == 400 or count == 5000 for count, hidden in counts)
