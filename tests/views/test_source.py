"""Profile by line from records made by hand: amounts, differences, lines matched by text, what is left out, sizes."""

from __future__ import annotations

import json

import pytest

from gpulab.records import AccessCost, Counters, InstructionCost, Launch, LineCost, SourceLine
from gpulab.views.instrument import MOST_BYTES
from gpulab.views.listing import MOST_LINES, aligned, source_lines
from gpulab.views.source import MOST_INSTRUCTIONS, source
from gpulab.views.table import visible

HOSTILE = "<img src=x onerror=alert(1)></script>$x$ ${x} \u202edlrow"
TEXT = "\n\nvoid k() {\n  a = t[i];\n  // nothing\n  out[i] = a;\n}\n"
LOAD, STORE, END = (
    SourceLine("cell.hip", number, 0, TEXT.split("\n")[number - 1]) for number in (4, 6, 7)
)  # fmt: skip


def launch(text: str = TEXT, conflicts: int = 62, **changes: object) -> Launch:
    rows = text.split("\n")

    def at(part: str) -> SourceLine:
        line = next(n for n, row in enumerate(rows) if part in row)
        return SourceLine("cell.hip", line + 1, 0, rows[line])

    values: dict = {
        "kernel": "k", "arch": "gfx942", "device": 0, "grid": (2, 1, 1), "block": (64, 1, 1), "lds_bytes": 0,
        "waves": 2, "counters": Counters({}), "measured_us": 2.0, "sources": {"cell.hip": text},
        "lines": (
            LineCost(at("t[i]"), 10, 320, 2, 512, 4, 64, conflicts, 100.4),
            LineCost(at("out"), 30, 1920, 2, 512, 4, 0, 0, 0.0),
            LineCost(at("}"), 2, 128),
        ),
        "instructions": (
            InstructionCost(at("t[i]"), "ds_read_b32 v1, v2", 2, 128, stall_clocks=100.4),
            InstructionCost(at("out"), "v_add_u32 v0", 28, 96),
            InstructionCost(at("out"), "global_store_dword v[0:1], v2, off", 2, 96),
            InstructionCost(at("}"), "s_endpgm", 2, 128),
        ),
        "accesses": (
            AccessCost(at("t[i]"), "ds_read_b32 v1, v2", "lds", "load", 4, 2, 128, bank_cycles=64,
                       conflict_cycles=conflicts),
            AccessCost(at("out"), "global_store_dword v[0:1], v2, off", "global", "store", 4, 2, 64, lines=4),
        ),
    }  # fmt: skip
    return Launch(**(values | changes))


def test_the_whole_source_with_the_cost_of_each_line() -> None:
    shown = source(launch())
    rows = shown.message()["rows"]
    assert [row["line"] for row in rows] == ["3", "4", "5", "6", "7"]  # empty lines at the top are numbers alone
    assert [row["text"] for row in rows] == TEXT.strip().split("\n")
    assert rows[2]["amounts"] == [None]
    amounts = {"wave instructions": 10, "stall clocks": 100, "bytes": 512, "cache lines": 4}
    assert rows[1]["amounts"] == [{**amounts, "LDS clocks": 64, "conflicts": 62}]
    assert rows[3]["parts"][1] == {
        "text": "global_store_dword v[0:1], v2, off", "side": 0,
        "amounts": {"wave instructions": 2, "bytes": 256, "cache lines": 4},
    }  # fmt: skip
    assert shown.sentence.startswith("Line 6 has the most wave instructions: 30 of 42 (71 %). It reads “out[i] = a;”")
    assert "4     a = t[i];                   10           100    512            4          64         62" in str(shown)
    assert "modelled" in shown.table.note


def test_bars_of_the_figure_have_the_lines_beside_them() -> None:
    shown = source(launch())
    assert shown.figure is not None
    (axes,) = shown.figure().axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["4  a = t[i];", "6  out[i] = a;", "7  }"]
    middles = [bar.get_y() + bar.get_height() / 2 for bar in axes.patches]
    assert list(axes.get_yticks()) == pytest.approx(middles)
    assert [bar.get_width() for bar in axes.patches] == [10, 30, 2]


def test_another_measure_and_one_that_is_not_there() -> None:
    shown = source(launch(), by="conflicts")
    assert shown.sentence.startswith("Line 4 has the most conflicts: 62 of 62 (100 %).")
    assert source(launch(), by="stall clocks").sentence.endswith("Stall clocks are modelled.")
    with pytest.raises(ValueError, match="no column 'heat'; the columns are wave instructions, stall clocks, bytes"):
        source(launch(), by="heat")


def test_before_and_after_a_change_of_the_source() -> None:
    after = launch(TEXT.replace("void", "// faster\nvoid").replace("  // nothing\n", ""), conflicts=0)
    shown = source(launch(), "conflicts", after)
    rows = {row["line"]: row for row in shown.message()["rows"]}
    assert list(rows) == ["– → 3", "3 → 4", "4 → 5", "5 → –", "6", "7"]
    assert [row["mark"] for row in rows.values()] == ["+", "", "", "−", "", ""]
    before, now = rows["4 → 5"]["amounts"]
    assert before["conflicts"] == 62
    assert "conflicts" not in now
    assert shown.sentence.startswith(
        "Conflicts: 62 before, 0 after (−100 %). The largest change is at line 4 → 5: −62, “a = t[i];”"
    )
    table = str(shown.table)
    assert "4 → 5  a = t[i];    conflicts      62      0  −62" in table
    assert "9 amounts that are the same on both sides are left out" in table  # 5 of line 4, 3 of line 6, 1 of line 7


def test_a_line_that_the_other_side_does_not_have() -> None:
    shown = source(launch(), "conflicts", launch(TEXT.replace("a = t[i];", "a = t[i + 1];"), conflicts=0))
    assert "The largest change is at line 4, which is there only before: −62, “a = t[i];”" in shown.sentence


def test_two_architectures_have_names() -> None:
    shown = source(launch(), beside=launch(arch="gfx1100"))
    assert "gfx942 and gfx1100" in shown.title
    assert "42 on gfx942, 42 on gfx1100 (±0 %). No line differs." in shown.sentence


def test_a_launch_without_costs() -> None:
    shown = source(launch(lines=(), instructions=(), accesses=(), time_is_modelled=False))
    assert "only virtual devices" in shown.sentence
    assert len(shown.message()["rows"]) == 5


def test_lines_of_other_files_come_last_with_their_names() -> None:
    other = LineCost(SourceLine("helper.h", 9, 0, "help();"), 99, 1)
    shown = source(launch(lines=(*launch().lines, other)))
    assert [row["line"] for row in shown.message()["rows"]][-2:] == ["cell.hip:7", "helper.h:9"]


def test_alignment_is_by_text() -> None:
    one = [SourceLine("a", n, 0, text) for n, text in enumerate(["x", "y", "z"], 1)]
    other = [SourceLine("b", n, 0, text) for n, text in enumerate(["  y", "new", "z"], 1)]
    pairs = [(a and a.line, b and b.line) for a, b in aligned(one, other)]
    assert pairs == [(1, None), (2, 1), (None, 2), (3, 3)]


def test_long_sources_keep_what_costs() -> None:
    text = "\n".join(f"line {n}" for n in range(1, 5001))
    found, missing = source_lines({"big.hip": text}, [SourceLine("big.hip", 2500, 0, "line 2500")])
    assert 2500 in {where.line for where in found}
    assert (len(found), missing) == (40, 4960)
    found, missing = source_lines({"big.hip": text}, [SourceLine("big.hip", n, 0, "") for n in range(1, 5001)])
    assert (len(found), missing) == (MOST_LINES, 4000)


def test_the_largest_records_stay_small() -> None:
    hard = "é<" * 200
    text = "\n".join(hard for _ in range(3000))
    places = [SourceLine("big.hip", n, 0, hard) for n in range(1, 3001)]
    big = launch(
        sources={"big.hip": text},
        lines=tuple(LineCost(where, 10**12, 10**14, 10**12, 10**14, 10**12, 10**12, 10**12, 1e12) for where in places),
        instructions=tuple(
            InstructionCost(where, f"v_mad_u64_u32 v[{n}:{n}], s[0:1], v3, v3, 7", 10**12, 10**14, stall_clocks=1e12)
            for n, where in enumerate(places * 3)
        ),
        accesses=(), grid=(10**7 // 64, 1, 1),
    )  # fmt: skip
    shown = source(big, beside=big)
    message = shown.message()
    assert len(json.dumps(message)) < MOST_BYTES
    assert sum(len(row["parts"]) for row in message["rows"]) <= 2 * MOST_INSTRUCTIONS
    assert "left out" in message["note"]
    assert len(shown.png()) > 1000


def test_hostile_text_in_all_forms() -> None:
    shown = source(launch(TEXT.replace("a = t[i];", f"a = t[i]; // {HOSTILE}")), by="conflicts")
    assert visible(HOSTILE) in shown.message()["rows"][1]["text"]
    assert "<img" not in shown.table.html()
    assert len(shown.png()) > 1000
