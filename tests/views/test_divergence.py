"""Divergence from records made by hand: lanes by line, what branches waste, a wave over time, wave64 beside wave32."""

from __future__ import annotations

import json

import pytest

from gpulab.records import (
    Counters,
    InstructionCost,
    Launch,
    LineCost,
    SourceLine,
    Trace,
    TraceInstruction,
    TraceStep,
)
from gpulab.views.divergence import MOST_COLUMNS, MOST_INSTRUCTIONS, divergence, of_launch, of_trace
from gpulab.views.instrument import MOST_BYTES
from gpulab.views.table import visible

HOSTILE = "<img src=x onerror=alert(1)></script>$x$ ${x} \u202edlrow"
TEXT = "void k() {\n  if (lane < 32)\n    a = 1;\n  else\n    b = 2;\n  out[i] = a;\n}"
ROWS = TEXT.split("\n")
IF, THEN, ELSE, STORE, END = (SourceLine("cell.hip", n, 0, ROWS[n - 1]) for n in (2, 3, 5, 6, 7))
LOW, HIGH, ALL = (1 << 32) - 1, ((1 << 32) - 1) << 32, (1 << 64) - 1


def cost(
    where: SourceLine, text: str, executed: int, lanes: list[int], branch: int | None = None, whole: int = 0
) -> InstructionCost:
    return InstructionCost(
        where, text, executed, sum(lanes), lane_counts=tuple(lanes), branch=branch, whole=whole,
        by_lane=not text.startswith("s_"),
    )  # fmt: skip


def launch(text: str = TEXT, arch: str = "gfx942", **changes: object) -> Launch:
    """Ten waves of 64 lanes: half the lanes go one way, half the other. On gfx1100 twenty of 32, which all agree."""
    if arch == "gfx942":
        size, waves, low, high = 64, 10, [10] * 32 + [0] * 32, [0] * 32 + [10] * 32
    else:
        size, waves, low, high = 32, 20, [10] * 32, [10] * 32
    every, whole = [waves] * size, waves if arch == "gfx942" else 10
    places = {n: SourceLine("cell.hip", n, 0, text.split("\n")[n - 1]) for n in (2, 3, 5, 6, 7)}
    rows = (
        cost(places[2], "v_cmp_gt_u32 vcc, 32, v0", waves, every, whole=waves),
        cost(places[2], "s_and_saveexec_b64 s[0:1], vcc", waves, every, whole=waves),
        cost(places[3], "v_mov_b32 v1, 1", whole, low, 1, 0 if size == 64 else 10),
        cost(places[3], "v_add_u32 v1, v1, v2", whole, low, 1, 0 if size == 64 else 10),
        cost(places[5], "v_mov_b32 v1, 2", whole, high, 1, 0 if size == 64 else 10),
        cost(places[6], "global_store_dword v[2:3], v1, off", waves, every, whole=waves),
        cost(places[7], "s_endpgm", waves, every, whole=waves),
    )
    values: dict = {
        "kernel": "k", "arch": arch, "device": 0, "grid": (10, 1, 1), "block": (64, 1, 1), "lds_bytes": 0,
        "waves": waves, "counters": Counters({}), "measured_us": 2.0, "sources": {"cell.hip": text},
        "lines": tuple(LineCost(where, 10, 320) for where in places.values()), "instructions": rows,
    }  # fmt: skip
    return Launch(**(values | changes))


INSTRUCTIONS = (
    TraceInstruction("v_cmp_gt_u32 vcc, 32, v0", IF),
    TraceInstruction("s_and_saveexec_b64 s[0:1], vcc", IF, by_lane=False),
    TraceInstruction("v_mov_b32 v1, 1", THEN),
    TraceInstruction("s_andn2_saveexec_b64 s[0:1], s[0:1]", ELSE, by_lane=False),
    TraceInstruction("v_mov_b32 v1, 2", ELSE),
    TraceInstruction("s_or_b64 exec, exec, s[0:1]", STORE, by_lane=False),
    TraceInstruction("global_store_dword v[2:3], v1, off", STORE),
    TraceInstruction("s_endpgm", END, by_lane=False),
)


def trace(steps: list[tuple[int, int]] | None = None, text: str = TEXT, **changes: object) -> Trace:
    taken = steps or [(0, ALL), (1, ALL), (2, LOW), (3, LOW), (4, HIGH), (5, HIGH), (6, ALL), (7, ALL)]
    values: dict = {
        "kernel": "k", "arch": "gfx942", "wave_size": 64, "workgroup": (0, 0, 0), "wave": 0,
        "instructions": INSTRUCTIONS, "steps": tuple(TraceStep(i, mask, {}) for i, mask in taken), "source": text,
    }  # fmt: skip
    return Trace(**(values | changes))


def test_slots_wasted_by_hand() -> None:
    side = of_launch(launch())
    total = side.total
    # five vector instructions, ten waves, 64 lanes; the three within the branch have half of them idle
    assert (total.slots, total.wasted) == (5 * 10 * 64, 3 * 10 * 32)
    assert list(side.branches) == [("cell.hip", 2)]
    branch = side.branches["cell.hip", 2]
    assert (branch.partial, branch.wasted) == (30, 960)
    assert side.outside == 0
    assert side.lines["cell.hip", 3].counts == [20] * 32 + [0] * 32
    assert side.scalar["cell.hip", 7] == 10


def test_lanes_without_a_thread_are_no_branch() -> None:
    where = SourceLine("cell.hip", 1, 0, "x")
    side = of_launch(launch(instructions=(cost(where, "v_mov_b32 v0, 0", 3, [3] * 40 + [0] * 24),)))
    assert (side.outside, side.branches) == (3 * 24, {})


def test_a_launch_in_words_and_numbers() -> None:
    shown = divergence(launch())
    assert shown.title == "Lanes at work in k, all waves (gfx942)"
    assert shown.sentence == (
        "960 of 3,200 lane-slots (30 %) were wasted on idle lanes, in waves of 64 lanes. The branch at line 2, "
        "“if (lane < 32)”, cost the most: 960 lane-slots; 30 vector instructions ran in it with idle lanes "
        "(lines 3, 5)."
    )
    assert shown.table.rows[:2] == (
        ("2", "if (lane < 32)", 10, 0, 64.0, 0, 960),
        ("3", "a = 1;", 20, 20, 32.0, 640, "–"),
    )
    rows = shown.message()["rows"]
    assert [row["text"] for row in rows] == ROWS
    assert rows[2]["sides"][0]["lanes"] == "ff" * 32 + "00" * 32
    assert rows[1]["sides"][0]["branch"] == {"partial": 30, "wasted": 960, "lines": "3, 5"}
    assert [part["found"]["vector"] for part in rows[1]["parts"]] == [True, False]


@pytest.mark.full
def test_wave64_beside_wave32() -> None:
    shown = divergence(launch(), launch(arch="gfx1100"))
    assert shown.title.endswith("(gfx942 and gfx1100)")
    assert shown.sentence.startswith("On gfx942, with waves of 64 lanes: 960 of 3,200 lane-slots (30 %) were wasted")
    assert shown.sentence.endswith(
        "On gfx1100, with waves of 32 lanes: no lane was ever idle in a vector instruction of k."
    )
    message = shown.message()
    assert [side["waveSize"] for side in message["sides"]] == [64, 32]
    assert [len(side["lanes"]) for side in message["rows"][2]["sides"]] == [128, 64]
    assert len(shown.png()) > 1000


def test_a_changed_kernel_beside_itself() -> None:
    text = TEXT.replace("a = 1", "a = 7")
    shown = divergence(launch(), launch(text))
    rows = shown.message()["rows"]
    assert [row["mark"] for row in rows] == ["", "", "−", "+", "", "", "", ""]
    assert shown.sentence.startswith("Before, with waves of 64 lanes: 960 of")


def test_a_wave_step_by_step() -> None:
    side = of_trace(trace())
    assert (side.total.slots, side.total.wasted) == (4 * 64, 2 * 32)
    branch = side.branches["cell.hip", 2]  # one if with its else
    assert (branch.partial, branch.wasted) == (2, 64)
    assert [column[2][:1] + column[2][63:] for column in side.time] == [
        [1, 1], [1, 1], [1, 0], [1, 0], [0, 1], [0, 1], [1, 1], [1, 1],
    ]  # fmt: skip
    assert [column[3].line for column in side.time if column[3]] == [2, 2, 3, 5, 5, 6, 6, 7]


def test_a_loop_that_lanes_leave_one_by_one() -> None:
    head, body, back = (SourceLine("cell.hip", n, 0, "") for n in (2, 3, 2))
    instructions = (
        TraceInstruction("v_mov_b32 v0, 0", head), TraceInstruction("v_add_u32 v0, v0, 1", body),
        TraceInstruction("s_andn2_b64 exec, exec, s[0:1]", back, by_lane=False),
        TraceInstruction("s_or_b64 exec, exec, s[0:1]", END, by_lane=False),
        TraceInstruction("v_mov_b32 v0, 0", END),
    )  # fmt: skip
    steps = [(0, ALL)]
    for turn in range(4):  # each time half of the lanes leave
        mask = (1 << (64 >> turn)) - 1
        steps += [(1, mask), (2, mask)]
    steps += [(3, 0), (4, ALL)]
    side = of_trace(trace(steps, instructions=instructions))
    # turns with 64, 32, 16 and 8 lanes waste 0, 32, 48 and 56
    assert side.branches["cell.hip", 2].wasted == 32 + 48 + 56
    assert side.branches["cell.hip", 2].partial == 3
    assert side.lines["cell.hip", 7].wasted == 0


@pytest.mark.parametrize("kinds", [1, 3, 4, 5, 40])
def test_lanes_of_many_masks(kinds: int) -> None:
    """However many kinds of EXEC an instruction ran with, each lane is counted as often as it was active."""
    masks = [ALL * (n % 7 + 1) // (n % 11 + 2) + n & ALL for n in range(1, kinds + 1)]
    assert len(set(masks)) == kinds
    steps = [(0, mask) for n, mask in enumerate(masks) for _ in range(n % 3 + 1)]
    side = of_trace(trace(steps, instructions=INSTRUCTIONS[:1]))
    assert [part.activity.counts for part in side.parts] == [
        [sum(mask >> lane & 1 for _, mask in steps) for lane in range(64)]
    ]


def test_the_size_of_waves_where_no_instruction_says_it() -> None:
    assert of_launch(launch(instructions=(), constants={"MAX_WAVE_SIZE": 32})).wave_size == 32
    assert of_launch(launch(instructions=())).wave_size == 64


@pytest.mark.full
def test_a_long_trace_is_put_together() -> None:
    shown = divergence(trace([(2, LOW), (4, HIGH)] * 50_000))
    side = shown.message()["sides"][0]
    assert len(side["time"]) <= MOST_COLUMNS
    assert sum(count for _, count, _, _ in side["time"]) == 100_000
    assert side["time"][0][2] == "80" * 64  # each lane half of the time
    assert len(json.dumps(shown.message())) < MOST_BYTES


def test_the_largest_records_stay_small() -> None:
    hard = "é<" * 200
    text = "\n".join(hard for _ in range(3000))
    rows = tuple(
        cost(SourceLine("big.hip", n % 3000 + 1, 0, hard), f"v_mad_u64_u32 v[{n}:{n}], s[0:1], v3, v3, 7", 10**12,
             [10**12 - n] * 64, 0)
        for n in range(9000)
    )  # fmt: skip
    big = launch(instructions=rows, sources={"big.hip": text}, grid=(10**7 // 64, 1, 1))
    shown = divergence(big, big)
    message = shown.message()
    assert len(json.dumps(message)) < MOST_BYTES
    assert sum(len(row["parts"]) for row in message["rows"]) <= 2 * MOST_INSTRUCTIONS
    assert "left out" in message["note"]


def test_the_least_executed_instructions_are_left_out_and_counted() -> None:
    where = SourceLine("cell.hip", 3, 0, "    a = 1;")
    count = MOST_INSTRUCTIONS + 3
    rows = tuple(cost(where, f"v_mov_b32 v1, {n}", n + 1, [n + 1] * 64) for n in range(count))
    some, whole = divergence(launch(instructions=rows)).message(), divergence(launch(instructions=rows[3:])).message()
    for message in (some, whole):
        texts = [part["text"] for row in message["rows"] for part in row["parts"]]
        assert texts == [f"v_mov_b32 v1, {n}" for n in range(3, count)]
    assert "3 instructions, the least executed ones, are left out." in some["note"]
    assert whole["note"] == ""
    both = divergence(launch(instructions=rows), launch(instructions=rows)).message()
    assert "6 instructions, the least executed ones, are left out." in both["note"]


def test_no_costs() -> None:
    shown = divergence(launch(instructions=(), lines=(), time_is_modelled=False))
    assert "only virtual devices" in shown.sentence
    assert len(shown.png()) > 1000


def test_hostile_text_in_all_forms() -> None:
    shown = divergence(launch(TEXT.replace("a = 1;", f"a = 1; // {HOSTILE}"), kernel=HOSTILE))
    assert visible(HOSTILE) in shown.message()["rows"][2]["text"]
    assert "<img" not in shown.table.html()
    assert len(shown.png()) > 1000
    assert len(divergence(trace(text=TEXT.replace("a = 1;", HOSTILE), kernel=HOSTILE)).png()) > 1000


def idle(wasted: int, line: SourceLine = THEN, branch: int | None = 0, executed: int = 100) -> InstructionCost:
    """A vector instruction of 100 waves in which one lane was idle so often."""
    return cost(line, "v_mov_b32 v1, 1", executed, [executed - wasted] + [executed] * 63, branch, executed - wasted)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ((), "No costs of k by instruction, which only virtual devices count."),
        ((idle(0),), "No lane was ever idle in a vector instruction of k, for all lanes of a wave went the same way "
                     "(waves of 64 lanes)."),
        ((idle(63, branch=None),), "63 of 6,400 lane-slots (less than 1 %) were wasted on idle lanes, in waves of 64 "
                                   "lanes. 63 slots belong to no branch: lanes without a thread."),
        ((idle(64),), "64 of 6,400 lane-slots (1 %) were wasted on idle lanes, in waves of 64 lanes. The branch at "
                      "line 3, “a = 1;”, cost the most: 64 lane-slots; 64 vector instructions ran in it with idle "
                      "lanes."),
        ((cost(IF, "s_cbranch", 1, [1] * 64), idle(10), idle(5, ELSE)),
         "15 of 12,800 lane-slots (less than 1 %) were wasted on idle lanes, in waves of 64 lanes. The branch at line "
         "2, “if (lane < 32)”, cost the most: 15 lane-slots; 15 vector instructions ran in it with idle lanes (lines "
         "3, 5)."),
        ((cost(IF, "s_cbranch", 1, [1] * 64), cost(ELSE, "s_cbranch", 1, [1] * 64), idle(10, STORE, 1),
          idle(9, THEN, 0)),
         "19 of 12,800 lane-slots (less than 1 %) were wasted on idle lanes, in waves of 64 lanes. The branch at line "
         "5, “b = 2;”, cost the most: 10 lane-slots; 10 vector instructions ran in it with idle lanes (line 6)."),
    ],
)  # fmt: skip
def test_what_is_wasted_in_words(rows: tuple[InstructionCost, ...], said: str) -> None:
    assert divergence(launch(instructions=rows)).sentence == said


def test_two_sides_in_words() -> None:
    one, other = launch(instructions=(idle(0),)), launch(instructions=(idle(5, branch=None),))
    assert divergence(one, other).sentence == (
        "Before, with waves of 64 lanes: no lane was ever idle in a vector instruction of k. After, with waves of 64 "
        "lanes: 5 of 6,400 lane-slots (less than 1 %) were wasted on idle lanes. 5 slots belong to no branch: lanes "
        "without a thread."
    )
    bare = divergence(launch(instructions=(), arch="gfx90a"), one)
    assert bare.sentence.startswith(
        "On gfx90a, with waves of 64 lanes: no costs of k by instruction, which only virtual devices count. On gfx942, "
    )
    assert bare.title == "Lanes at work in k, all waves (gfx90a and gfx942)"


@pytest.mark.parametrize(("length", "shown"), [(50, "x" * 50), (51, "x" * 49 + "…")])
def test_the_text_of_a_long_branch_is_cut(length: int, shown: str) -> None:
    where = SourceLine("cell.hip", 2, 0, f"  {'x' * length} ")
    rows = (cost(where, "s_cbranch", 1, [1] * 64), idle(10))
    assert f"The branch at line 2, “{shown}”, cost" in divergence(launch(instructions=rows)).sentence


def test_lines_of_other_files_in_a_branch_have_their_names() -> None:
    other = SourceLine("helper.h", 9, 0, "help();")
    rows = (cost(IF, "s_cbranch", 1, [1] * 64), idle(10), idle(10, other))
    assert of_launch(launch(instructions=rows)).branches["cell.hip", 2].lines == "3, helper.h 9"


def test_the_table_of_a_wave_and_of_two() -> None:
    made = divergence(trace(truncated=True))
    assert made.title == "Lanes at work in k, one wave (gfx942)"
    assert made.table.rows == (
        ("2", "if (lane < 32)", 1, 0, 64.0, 0, 64), ("3", "a = 1;", 1, 1, 32.0, 32, "–"),
        ("5", "b = 2;", 1, 1, 32.0, 32, "–"), ("6", "out[i] = a;", 1, 0, 64.0, 0, "–"),
    )  # fmt: skip
    note = "The trace was ended before the wave was."
    assert made.table.note == f"{note} Wasted: executions of vector instructions × idle lanes."
    assert made.message()["note"] == note
    both = divergence(launch(), launch(arch="gfx1100")).table
    assert both.columns[:4] == ("line", "source", "on", "vector instructions")
    assert both.rows[2:4] == (
        ("3", "a = 1;", "gfx942", 20, 20, 32.0, 640, "–"), ("3", "a = 1;", "gfx1100", 20, 0, 32.0, 0, "–")
    )  # fmt: skip
    assert divergence(launch(instructions=())).table.note == "No costs by instruction."


@pytest.mark.parametrize(
    ("steps", "columns"),
    [(399, [1] * 399), (400, [1] * 400), (401, [2] * 200 + [1]), (801, [3] * 267)],
)  # fmt: skip
def test_columns_of_a_long_trace(steps: int, columns: list[int]) -> None:
    side = of_trace(trace([(n % 8, ALL if n % 3 else LOW) for n in range(steps)]))
    assert [count for _, count, _, _ in side.time] == columns
    starts = [begin for begin, _, _, _ in side.time]
    assert starts == [sum(columns[:n]) for n in range(len(columns))]
    for begin, count, shares, _ in side.time[:3]:
        low = sum(step % 3 == 0 for step in range(begin, begin + count))
        assert shares == [1.0] * 32 + [(count - low) / count] * 32


def test_the_picture_of_a_wave_and_of_lines() -> None:
    made = divergence(trace())
    assert made.figure is not None
    axes, bar = made.figure().axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("step: instructions that the wave executed", "lane (gfx942)")
    assert (axes.get_xlim(), bar.get_ylabel()) == ((0, 8), "share of time active")
    assert axes.images[0].get_extent() == [0, 8, 63.5, -0.5]
    assert axes.images[0].get_array().tolist() == [[1, 1, 1, 1, 0, 0, 1, 1]] * 32 + [[1, 1, 0, 0, 1, 1, 1, 1]] * 32
    made = divergence(launch(), launch(arch="gfx1100"))
    assert made.figure is not None
    drawn = made.figure()
    wide, narrow, bar = drawn.axes
    assert list(wide.get_xticks()) == [0, 16, 32, 48, 63]
    assert list(narrow.get_xticks()) == [0, 16, 31]
    assert [label.get_text() for label in wide.get_yticklabels()] == [
        "2  if (lane < 32)", "3  a = 1;", "5  b = 2;", "6  out[i] = a;",
    ]  # fmt: skip
    assert wide.images[0].get_array().tolist() == [[1] * 64, [1] * 32 + [0] * 32, [0] * 32 + [1] * 32, [1] * 64]
    assert [line.get_ydata()[0] for line in narrow.lines] == [0.5, 1.5, 2.5]
    assert drawn.get_suptitle() == "Lanes at work in k, all waves (gfx942 and gfx1100)"


@pytest.mark.parametrize("count", [24, 25])
def test_the_picture_has_the_lines_that_waste_most(count: int) -> None:
    places = [SourceLine("cell.hip", n, 0, f"line {n}") for n in range(1, count + 1)]
    rows = tuple(idle(n, where, None) for n, where in enumerate(places, 1))
    text = "\n".join(where.text for where in places)
    made = divergence(launch("\n".join(map(str, range(9))), sources={"cell.hip": text}, instructions=rows))
    assert made.figure is not None
    drawn = made.figure()
    labels = [label.get_text() for label in drawn.axes[0].get_yticklabels()]
    assert labels == [f"{n}  line {n}" for n in range(count - 23, count + 1)]
    more = " (1 lines that waste less are not shown)" if count > 24 else ""
    assert drawn.get_suptitle() == f"Lanes at work in k, all waves (gfx942){more}"


def test_a_branch_on_a_line_without_vector_instructions_is_a_row() -> None:
    made = divergence(launch(instructions=(cost(IF, "s_cbranch", 7, [7] * 64), idle(10))))
    assert made.table.rows == (
        ("2", "if (lane < 32)", "–", "–", "–", "–", 10), ("3", "a = 1;", 100, 10, 63.9, 10, "–"),
    )  # fmt: skip
    row = made.message()["rows"][1]["sides"][0]
    assert row == {
        "executed": 0, "whole": 0, "active": 0, "wasted": 0, "vector": False, "lanes": "", "scalar": 7,
        "branch": {"partial": 10, "wasted": 10, "lines": "3"},
    }  # fmt: skip
