"""Profile by line from records made by hand: amounts, differences, lines matched by text, what is left out, sizes."""

from __future__ import annotations

import dataclasses
import json

import pytest

from gpulab.records import AccessCost, Counters, InstructionCost, Launch, LineCost, SourceLine
from gpulab.views.instrument import MOST_BYTES
from gpulab.views.listing import MOST_LINES, accesses_by_instruction, aligned, cut, same_source, source_lines
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


@pytest.mark.parametrize(
    ("by", "before", "after", "said"),
    [
        ("wave instructions", {}, None,
         "Line 6 has the most wave instructions: 30 of 42 (71 %). It reads “out[i] = a;”."),
        ("stall clocks", {}, None,
         "Line 4 has the most stall clocks: 100 of 100 (100 %). It reads “a = t[i];”. Stall clocks are modelled."),
        ("conflicts", {"conflicts": 0}, None, "No line of k has any conflicts."),
        ("conflicts", {"conflicts": 0}, {},
         "Conflicts: 0 before, 62 after. The largest change is at line 4: +62, “a = t[i];”."),
        ("conflicts", {"conflicts": 8}, {"conflicts": 12},
         "Conflicts: 8 before, 12 after (+50 %). The largest change is at line 4: +4, “a = t[i];”."),
        ("conflicts", {"conflicts": 60}, {"conflicts": 59},
         "Conflicts: 60 before, 59 after (−1.7 %). The largest change is at line 4: −1, “a = t[i];”."),
        ("conflicts", {"conflicts": 1}, {"conflicts": 2001},
         "Conflicts: 1 before, 2,001 after (+200,000 %). The largest change is at line 4: +2,000, “a = t[i];”."),
        ("LDS clocks", {}, {"arch": "gfx90a"}, "LDS clocks: 64 on gfx942, 64 on gfx90a (±0 %). No line differs."),
        ("stall clocks", {}, {},
         "Stall clocks: 100 before, 100 after (±0 %). No line differs. Stall clocks are modelled."),
        ("bytes", {}, {"text": TEXT.replace("a = t[i];", "b = t[i];")},
         "Bytes: 1,024 before, 1,024 after (±0 %). The largest change is at line 4, which is there only before: −512, "
         "“a = t[i];”."),
        ("bytes", {"text": "\n\nvoid k() {\n  // t[i]\n  out\n}", "lines": ()}, {},
         "Bytes: 0 before, 1,024 after. The largest change is at line 4, which is there only after: +512, "
         "“a = t[i];”."),
    ],
)  # fmt: skip
def test_what_changed_in_words(by: str, before: dict[str, object], after: dict[str, object] | None, said: str) -> None:
    other = None if after is None else launch(**after)  # type: ignore[arg-type]
    assert source(launch(**before), by, other).sentence == said  # type: ignore[arg-type]


@pytest.mark.parametrize(("length", "quoted", "named"), [
    (52, "x" * 52, "x" * 52), (53, "x" * 53, "x" * 51 + "…"), (60, "x" * 60, "x" * 51 + "…"),
    (61, "x" * 59 + "…", "x" * 51 + "…"),
])  # fmt: skip
def test_long_lines_are_cut(length: int, quoted: str, named: str) -> None:
    made = source(launch(TEXT.replace("out[i] = a;", "out".ljust(length, "x"))))
    assert made.sentence.endswith(f"It reads “{quoted.replace('xxx', 'out', 1)}”.")
    assert made.figure is not None
    labels = [label.get_text() for label in made.figure().axes[0].get_yticklabels()]
    assert labels[1] == f"6  {named.replace('xxx', 'out', 1)}"


@pytest.mark.parametrize("count", [40, 41, 43])
def test_the_picture_has_the_costliest_lines(count: int) -> None:
    text = "\n".join(f"line {n}" for n in range(1, count + 1))
    lines = tuple(LineCost(SourceLine("cell.hip", n, 0, ""), n, n) for n in range(1, count + 1))
    made = source(launch("\n".join(("t[i]", "out", "}")), sources={"cell.hip": text}, lines=lines))
    assert made.figure is not None
    (axes,) = made.figure().axes
    assert [bar.get_width() for bar in axes.patches] == list(range(count - 39, count + 1))
    left_out = f" ({count - 40} lines with less are not shown)" if count > 40 else ""
    assert axes.get_xlabel() == f"wave instructions{left_out}"


def test_bars_of_two_runs_stand_below_each_other() -> None:
    made = source(launch(), beside=launch(conflicts=0))
    assert made.figure is not None
    (axes,) = made.figure().axes
    middles = [round(bar.get_y() + bar.get_height() / 2, 6) for bar in axes.patches]
    assert middles == [-0.2, 0.8, 1.8, 0.2, 1.2, 2.2]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["before", "after"]
    assert {round(bar.get_height(), 6) for bar in axes.patches} == {0.4}


def test_what_is_left_out_is_said() -> None:
    """Of 5,000 lines 40 around the one that costs; of 1,002 instructions the thousand executed most."""
    text = "\n".join(f"line {n}" for n in range(1, 5001))
    where = SourceLine("cell.hip", 2500, 0, "line 2500")
    instructions = tuple(InstructionCost(where, f"s_nop {n}", 5000 - n, 1) for n in range(MOST_INSTRUCTIONS + 2))
    one = launch("\n".join(("t[i]", "out", "}")), sources={"cell.hip": text}, lines=(LineCost(where, 5, 5),),
                 instructions=instructions, accesses=())  # fmt: skip
    made = source(one)
    assert made.message()["note"] == (
        "4,960 lines of source are left out. 2 instructions, the least executed ones, are left out."
    )
    assert made.table.note == "4,960 lines of source are left out."
    texts = [part["text"] for row in made.message()["rows"] for part in row["parts"]]
    assert texts == [f"s_nop {n}" for n in range(MOST_INSTRUCTIONS)]
    both = source(one, beside=one)
    assert both.message()["note"] == (
        "9,920 lines of source are left out. 4 instructions, the least executed ones, are left out."
    )


def test_rows_around_what_costs() -> None:
    """Of 1,500 lines those from twenty before a line that costs something to nineteen behind it, each once, and at most
    a thousand; a costly line that the source does not have stands behind it."""
    text = "\n\n" + "\n".join(f"line {n}  " for n in range(3, 1501)) + "\n\n"
    costly = [SourceLine("big.hip", n, 0, "") for n in (30, 5, 1495)] + [SourceLine("a.h", 7, 0, "x")]
    found, missing = source_lines({"big.hip": text}, costly)
    numbers = [where.line for where in found if where.file == "big.hip"]
    assert numbers == [*range(3, 50), *range(1475, 1501)]
    assert (found[-1], missing) == (SourceLine("a.h", 7, 0, "x"), 1499 - len(found))
    assert found[0] == SourceLine("big.hip", 3, 0, "line 3")
    short = "\n".join(f"line {n}" for n in range(1, MOST_LINES + 1))
    assert len(source_lines({"big.hip": short}, [])[0]) == MOST_LINES
    assert source_lines({"big.hip": short + "\nx"}, []) == ([], MOST_LINES + 1)


def test_parts_of_one_source_are_paired_by_their_numbers() -> None:
    one, two, three = (SourceLine("a", n, 0, str(n)) for n in (1, 2, 3))
    assert same_source([one, two], [two, three]) == [(one, one), (two, two), (three, three)]


@pytest.mark.parametrize(("length", "shown"), [(160, "x" * 160), (161, "x" * 159 + "…")])
def test_text_that_is_too_long_to_be_shown(length: int, shown: str) -> None:
    assert cut("x" * length) == shown


def test_accesses_belong_to_their_instructions() -> None:
    """In the order of both; of two equal instructions the first has the first access."""
    one = launch()
    store, load = one.accesses[1], one.accesses[0]
    twice = dataclasses.replace(
        one, instructions=(*one.instructions, one.instructions[2]), accesses=(load, store, store)
    )
    found = accesses_by_instruction(twice)
    assert found == {0: load, 2: store, 4: store}
    assert accesses_by_instruction(dataclasses.replace(one, accesses=())) == {}


def test_a_source_of_empty_lines_is_one_empty_row() -> None:
    assert source_lines({"a": " \n\n"}, []) == ([SourceLine("a", 1, 0, "")], 0)
