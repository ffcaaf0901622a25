"""Index expressions: C's arithmetic, and errors that say what and where."""

from __future__ import annotations

import pytest

from gpulab.views.index_expression import MOST_CHARACTERS, ExpressionError, parse

NAMES = ("x", "y", "lane", "tid", "threadIdx.x")


def value(text: str, **variables: int) -> int:
    return parse(text, NAMES).value({"threadIdx.x": variables.get("x", 0), **variables})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7", 7), ("0x1F", 31), ("0", 0), ("33u", 33), ("2 + 3 * 4", 14), ("(2 + 3) * 4", 20), ("20 - 5 - 3", 12),
        ("100 / 7 / 2", 7), ("-7 / 2", -3), ("7 / -2", -3), ("-7 % 3", -1), ("7 % -3", 1), ("1 << 3 + 1", 16),
        ("1 | 2 ^ 3 & 6", 1), ("6 ^ 3", 5), ("~5", -6), ("- -5", 5), ("-8 >> 1", -4), ("10 - -3", 13),
        ("  1\t+\n2 ", 3),
        ("2147483647", 2147483647), ("-2147483647 - 1", -2147483648), ("5 % 3 * 2", 4), ("1 + 2 << 1", 6),
        ("12 & 10 | 1", 9),
    ],
)  # fmt: skip
def test_values_are_those_of_c(text: str, expected: int) -> None:
    assert value(text) == expected


def test_variables() -> None:
    assert value("x * 33 + y", x=5, y=2) == 167
    assert value("threadIdx.x * 32 + ((threadIdx.x ^ y) % 32)", x=3, y=1) == 98
    assert value("threadIdx . x + lane", x=3, lane=4) == 7
    assert parse("x + threadIdx.x * x", NAMES).names == {"x", "threadIdx.x"}


@pytest.mark.parametrize(
    ("text", "message", "start", "end"),
    [
        ("", "write an index", 0, 1), ("   ", "write an index", 0, 3), ("x +", "missing after ‘+’", 2, 3),
        ("x * (3", "not closed", 4, 5), ("x)", "closes nothing", 1, 2), ("* 3", "missing before ‘*’", 0, 1),
        ("x 3", "operator missing before ‘3’", 2, 3), ("x[y]", "one index", 1, 2),
        ("foo", "‘foo’ is not known", 0, 3),
        ("threadIdx.X + 1", "whole numbers", 9, 10), ("tidd", "did you mean tid", 0, 4),
        ("1.5", "no whole number", 0, 2),
        ("12ab", "no whole number", 0, 3), ("010", "base 8", 0, 3), ("x == 3", "comparisons", 2, 3),
        ("x @ 3", "‘@’", 2, 3),
        ("()", "missing before ‘)’", 1, 2), ("99999999999", "does not fit", 0, 11),
        ("x ** 2", "missing before ‘*’", 3, 4),
        ("__import__('os')", "‘'’", 11, 12), ("<img>", "comparisons", 0, 1), ("x" * 201, "200 characters", 200, 201),
        ("(" * 60 + "1" + ")" * 60, "inside each other", 40, 41), ("-" * 80 + "1", "inside each other", 40, 41),
    ],
)  # fmt: skip
def test_what_is_wrong_and_where(text: str, message: str, start: int, end: int) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text, NAMES)
    assert message in str(caught.value)
    assert (caught.value.start, caught.value.end) == (start, end)


@pytest.mark.parametrize(
    ("text", "message", "start", "end"),
    [
        ("1 + x / y", "division by 0", 4, 9), ("x % y", "division by 0", 0, 5), ("1 << 32", "shift by 32", 0, 7),
        ("1 >> -1", "shift by -1", 0, 7), ("1 << 31", "2,147,483,648 does not fit", 0, 7),
        ("65536 * 65536", "does not fit", 0, 13), ("-(-2147483647 - 1)", "does not fit", 0, 17),
        ("2147483647 + 1", "2,147,483,648 does not fit", 0, 14), ("-2147483647 - 2", "-2,147,483,649 does not", 0, 15),
    ],
)  # fmt: skip
def test_what_cannot_be_computed(text: str, message: str, start: int, end: int) -> None:
    with pytest.raises(ExpressionError) as caught:
        value(text, x=1, y=0)
    assert message in str(caught.value)
    assert (caught.value.start, caught.value.end) == (start, end)


def test_the_longest_expression_is_quick() -> None:
    text = "+".join(["1"] * (MOST_CHARACTERS // 2))
    assert value(text) == MOST_CHARACTERS // 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(" * 39 + "1" + ")" * 39, 1), ("-" * 39 + "1", -1), ("1+" * 99 + "11", 110), ("1 << 30", 1 << 30),
        ("5 >> 31", 0), ("-1 >> 31", -1), ("3 << 0", 3), ("0X10", 16), ("7UL", 7), ("+5", 5), ("-1 & 6", 6),
        ("0 / 5", 0),
        ("-7 / -2", 3), ("-7 % -2", -1),
    ],
)  # fmt: skip
def test_what_is_just_possible(text: str, expected: int) -> None:
    """39 signs or parentheses around a number, 200 characters, shifts by 0 and by 31 bits."""
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "message", "start", "end"),
    [
        ("(" * 40 + "1" + ")" * 40, "more than 40 parentheses or signs inside each other", 40, 41),
        ("1+" * 9 + "(" * 40 + "1" + ")" * 40, "more than 40 parentheses or signs inside each other", 58, 59),
        ("1+" * 100 + "1", "at most 200 characters are read", 200, 201),
        ("2147483648", "2147483648 does not fit into an int", 0, 10),
        ("x + 0x80000000", "0x80000000 does not fit into an int", 4, 14),
        ("00", "in C, ‘00’ is a number with base 8; leave the 0 out", 0, 2),
        ("1_0", "‘1_’ is no whole number", 0, 2), ("2u3", "‘2u3’ is no whole number", 0, 3),
        ("bz", "‘bz’ is not known here; there are x, y, lane, tid, threadIdx.x", 0, 2),
        ("lan", "‘lan’ is not known here; did you mean lane?", 0, 3),
        ("x + $", "‘$’ means nothing here", 4, 5),
        ("x ? 1", "‘?’: comparisons and conditions are not known here", 2, 3),
        ("x . 5", "only whole numbers, and names like threadIdx.x", 2, 3),
        ("(x", "this ‘(’ is not closed", 0, 1), ("x y", "there is an operator missing before ‘y’", 2, 3),
    ],
)  # fmt: skip
def test_what_is_just_too_much_in_words(text: str, message: str, start: int, end: int) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text, NAMES)
    assert (str(caught.value), caught.value.start, caught.value.end) == (message, start, end)
