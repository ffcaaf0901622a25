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

from gpulab.records import SourceLine, TraceInstruction, TraceStep
from gpulab.trace import WaveTrace
from gpulab.views.instrument import MOST_BYTES
from gpulab.views.stepper import Life, stepper
from gpulab.views.table import visible
from tests.views.traces import HOSTILE, bits, long, small, waiting


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
