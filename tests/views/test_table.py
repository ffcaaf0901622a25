"""Tables: aligned text, escaped HTML, numbers to the right."""

from gpulab.records import Counters, Fault, Launch, LineCost, SourceLine
from gpulab.views.launches import launch_table, line_table, size
from gpulab.views.table import Table, number


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
