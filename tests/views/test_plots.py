"""Plots of a notebook's own numbers: sentence and table against numbers worked out by hand, what is refused, names."""

import math

import pytest

from gpulab.views import plots


def test_sentence_and_table_have_the_numbers():
    shown = plots.lines([1, 2, 4], {"time in µs": [8, 2.5, 3], "lines": [2, 4, 8]}, title="Time by step", across="step")
    assert shown.title == "Time by step"
    assert shown.sentence == "time in µs by step: 8 at 1, 3 at 4; least 2.5 at 2. lines by step: 2 at 1, 8 at 4."
    assert shown.table.columns == ("step", "time in µs", "lines")
    assert shown.table.rows == ((1, 8, 2), (2, 2.5, 4), (4, 3, 8))
    assert shown.png().startswith(b"\x89PNG")


def test_a_staircase_names_the_places_where_it_changes():
    shown = plots.steps(range(16, 22), {"waves": [8, 8, 7, 7, 7, 5]}, title="Waves", across="VGPRs", up="waves")
    assert shown.table.rows == ((16, 8), (18, 7), (21, 5))


def test_values_that_are_not_known_are_left_out():
    shown = plots.lines([1, 2, 3], {"a": [math.nan, 5, 7], "b": [math.nan] * 3}, title="t", across="x")
    assert shown.sentence == "a by x: 5 at 2, 7 at 3. b: no numbers."
    assert shown.table.rows[0] == (1, "–", "–")
    assert shown.png()


@pytest.mark.parametrize(
    ("values", "limits"),
    [([1, 2], (0, 2.2)), ([-1, 2], (-1.1, 2.2)), ([-4, -2], (-4.4, 0)), ([0, 0], (0, 1)), ([1, math.inf], (0, 1.1))],
)
def test_all_values_lie_within_the_axes(values, limits):
    for kind in (plots.lines, plots.steps, plots.bars):
        figure = kind([1, 2], {"a": values}, title="t", across="x").figure()
        assert figure.axes[0].get_ylim() == pytest.approx(limits)


def test_infinity_and_large_numbers_in_words():
    shown = plots.lines([1, 2], {"error": [math.inf, 1e300]}, title="t", across="x")
    assert shown.sentence == "error by x: inf at 1, 1e+300 at 2."
    assert shown.png()


@pytest.mark.parametrize("log", ["", "x", "xy"])
@pytest.mark.parametrize("up", ["", "amount"])
@pytest.mark.parametrize("kind", [plots.lines, plots.steps, plots.bars])
def test_each_kind_draws_numbers(kind, up, log):
    assert kind([1, 2, 4], {"a": [1, 2, 3], "b": [3, 2, 1]}, title="t", across="x", up=up, log=log).png()


def test_words_are_places_and_are_drawn_as_they_are():
    hostile = "<script>$x^{</script>"
    shown = plots.bars([hostile, "b"], {hostile: [1, 2]}, title=hostile, across=hostile, up=hostile)
    assert shown.png()
    assert "<script>" not in shown.table.html()
    assert shown.sentence == f"{hostile} by {hostile}: 1 at {hostile}, 2 at b."


@pytest.mark.parametrize(
    ("x", "series", "log", "said"),
    [
        ([], {"a": []}, "", "nothing to plot"),
        ([1], {}, "", "nothing to plot"),
        ([1, 2], {"a": [1]}, "", "a has 1 values for 2 places"),
        ([1], {"a": [1]}, "y", "not 'y'"),
        ([1], [1], "", "series is a dictionary, .* not a list"),
        ([1], {"a": [None]}, "", "a has a value that is no number"),
        ([1], {"a": [10**400]}, "", "a has a value that is no number"),
    ],
)
def test_what_cannot_be_plotted_is_refused(x, series, log, said):
    with pytest.raises(ValueError, match=said):
        plots.lines(x, series, title="t", across="x", log=log)


def test_blocks_over_a_matrix_are_counted():
    """5 x 3 elements under 2 x 2 blocks of 4 x 2: 8, 2, 4 and 1 threads of the blocks have one."""
    shown = plots.blocks((2, 2), (4, 2), 5, 3)
    assert shown.table.rows == (("(0, 0)", 8, 0), ("(1, 0)", 2, 6), ("(0, 1)", 4, 4), ("(1, 1)", 1, 7))
    assert "15 threads have an element, 17 have none" in shown.sentence
    assert shown.png().startswith(b"\x89PNG")


def test_a_matrix_larger_than_the_grid_leaves_no_thread_without_an_element():
    assert "8 threads have an element, 0 have none" in plots.blocks((2, 1), (4, 1), 9, 9).sentence
