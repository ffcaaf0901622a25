"""Tables: aligned text, escaped HTML, numbers to the right."""

import pytest

from gpulab.records import Counters, Fault, Launch, LineCost, ModelledTime, SourceLine
from gpulab.views.launches import hotspot_table, launch_table, line_table, size
from gpulab.views.table import Table, number, one_line, preformatted, short, visible


def test_text_is_aligned() -> None:
    table = Table(("name", "count"), (("a", 1), ("longer", 12345)), note="two rows")
    assert str(table) == "\n".join(["name     count", "------  ------", "a            1", "longer  12,345", "two rows"])


def test_html_is_escaped() -> None:
    html = Table(("<b>",), (("<script>x</script>",),), note="a & b").html()
    assert "<script>" not in html
    assert "&lt;script&gt;x&lt;/script&gt;" in html
    assert "&lt;b&gt;" in html
    assert "a &amp; b" in html


def test_a_column_without_a_head_has_no_empty_heading() -> None:
    """axe-core's rule empty-table-header: a screen reader would read an empty heading with each cell below it."""
    html = Table(("roof", ""), (("L1", "◀ lowest"),)).html()
    assert html.count("<th ") == 1
    assert '<td style="text-align:left"></td></tr></thead>' in html


def test_an_empty_table_has_its_heads() -> None:
    assert str(Table(("a", "b"), ())).splitlines()[0] == "a  b"


def test_numbers() -> None:
    assert [number(v) for v in (1234567, 0.12345, 12.0, 123456.7)] == ["1,234,567", "0.123", "12", "123,457"]


def launch(**changes: object) -> Launch:
    values: dict = {
        "kernel": "saxpy", "arch": "gfx942", "device": 0, "grid": (4, 1, 1), "block": (16, 16, 1), "lds_bytes": 0,
        "waves": 16, "counters": Counters({"SQ_INSTS_VALU": 160}), "measured_us": 2.5,
    }  # fmt: skip
    return Launch(**(values | changes))


def test_launch_table() -> None:
    text = str(launch_table([launch()]))
    assert text.splitlines()[2].split() == ["saxpy", "gfx942", "4", "16×16", "0", "16", "160", "2.5"]


def test_measured_times_are_left_out() -> None:
    """They differ from run to run, and outputs of lessons are compared."""
    assert "2.5" not in str(launch_table([launch(time_is_modelled=False)]))


def test_a_stopped_kernel_says_so() -> None:
    fault = Fault("null", "saxpy", None, "", (0, 0, 0), 0, 0, None)
    assert "saxpy (stopped)" in str(launch_table([launch(fault=fault)]))


def test_no_launches() -> None:
    assert "No kernel was launched." in str(launch_table([]))


def test_lines_have_their_average_of_lanes() -> None:
    cost = LineCost(SourceLine("cell.hip", 3, 0, "    if (i < n)"), 40, 1280)
    row = str(line_table(launch(lines=(cost,)))).splitlines()[2].split()
    assert row == ["3", "if", "(i", "<", "n)", "40", "32"]


def test_sizes() -> None:
    assert [size(v) for v in ((4, 1, 1), (4, 2, 1), (1, 1, 3))] == ["4", "4×2", "1×1×3"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (999, "999"), (1000, "1,000"), (-1000, "-1,000"), (999.4, "999"), (1000.0, "1,000"), (-1234.5, "-1,234"),
        (-999.0, "-999"), (0.0, "0"), (1e-9, "1e-09"),
    ],
)  # fmt: skip
def test_numbers_at_their_limits(value: float, text: str) -> None:
    assert number(value) == text


def test_columns_of_numbers_stand_right_and_those_with_words_left() -> None:
    table = Table(("a", "b", "c", "d"), ((1, "–", "–", 2), (10, "–", "x", "–")))
    assert str(table) == "\n".join([" a  b  c  d", "--  -  -  -", " 1  –  –  2", "10  –  x  –"])
    assert table.html() == (
        '<table class="gpulab-table"><thead><tr><th scope="col" style="text-align:right">a</th>'
        '<th scope="col" style="text-align:right">b</th><th scope="col" style="text-align:left">c</th>'
        '<th scope="col" style="text-align:right">d</th></tr></thead><tbody><tr><td style="text-align:right">1</td>'
        '<td style="text-align:right">–</td><td style="text-align:left">–</td><td style="text-align:right">2</td></tr>'
        '<tr><td style="text-align:right">10</td><td style="text-align:right">–</td>'
        '<td style="text-align:left">x</td><td style="text-align:right">–</td></tr></tbody></table>'
    )
    assert (repr(table), table._repr_html_()) == (str(table), table.html())


def test_a_folded_table_and_its_note() -> None:
    html = Table(("a",), (), note="1 < 2", summary="All <of it>").html()
    inner = (
        '<table class="gpulab-table"><thead><tr><th scope="col" style="text-align:left">a</th></tr></thead>'
        "<tbody></tbody></table><p>1 &lt; 2</p>"
    )
    assert html == f'<details class="gpulab-folded"><summary>All &lt;of it&gt;</summary>{inner}</details>'


def test_text_that_keeps_its_lines() -> None:
    style = "margin:0;white-space:pre-wrap;word-break:normal;overflow-wrap:anywhere"
    assert preformatted("a <b>\n c") == f'<pre style="{style}">a &lt;b&gt;\n c</pre>'
    assert preformatted("x", "own", "red") == f'<pre class="own" style="{style};color:red">x</pre>'


def test_text_that_is_cut() -> None:
    assert (short("x" * 120), short("x" * 121)) == ("x" * 120, "x" * 119 + "…")
    assert (short("abc", 3), short("abcd", 3)) == ("abc", "ab…")
    assert one_line("  a \n\t b  ") == "a b"
    assert one_line("x " * 60) == ("x " * 60).strip()
    assert one_line("x " * 61) == ("x " * 59) + "x…"


def test_characters_that_turn_text_around_are_spelled_out() -> None:
    turning = [chr(code) for code in range(0x2000, 0x2100) if visible(chr(code)) != chr(code)]
    assert turning == [*map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))]
    assert visible("a\u202eb") == "a\\u202eb"


def test_all_columns_of_launches() -> None:
    """Counters that some launch has, times that are modelled, and what is known to be missing."""
    time = ModelledTime(3.5, "LDS", {"LDS": 9.0}, 1.5, 2100, 1, 2)
    table = launch_table([launch(timing=time), launch(kernel="other", block=(8, 1, 2), lds_bytes=64)])
    assert table.columns == (
        "kernel", "arch", "grid", "block", "LDS bytes", "waves", "VALU", "modelled µs", "limited by"
    )  # fmt: skip
    assert table.rows == (
        ("saxpy", "gfx942", "4", "16×16", 0, 16, 160, 3.5, "LDS"),
        ("other", "gfx942", "4", "8×1×2", 64, 16, 160, 2.5, ""),
    )
    assert table.note == ""


def test_hotspots_and_lines_without_a_number() -> None:
    costs = (
        LineCost(SourceLine("cell.hip", 3, 0, "  a"), 30, 960), LineCost(SourceLine("helper.h", 0, 0, "b"), 10, 160),
        LineCost(SourceLine("cell.hip", 5, 0, "c"), 0, 0),
    )  # fmt: skip
    table = hotspot_table(launch(lines=costs), 3)
    assert table.rows == (("3", "a", 30, 75.0), ("helper.h", "b", 10, 25.0), ("5", "c", 0, 0.0))
    assert (table.columns, table.note) == (("line", "source", "wave instructions", "% of all"), "")
    assert hotspot_table(launch(lines=costs[2:]), 3).rows == (("5", "c", 0, 0.0),)
    assert hotspot_table(launch(), 3).note == "The device gives no cost by line."
    extra = {"more": {costs[0].where: 7}}
    lines = line_table(launch(lines=costs), extra=extra, said="what it is")
    assert lines.columns == ("line", "source", "wave instructions", "lanes active", "more")
    assert lines.rows == (("3", "a", 30, 32.0, 7), ("helper.h", "b", 10, 16.0, "–"), ("5", "c", 0, 0.0, "–"))
    assert lines.note == "what it is"
    assert line_table(launch(), said="what it is").note == "The device gives no cost by line."
