"""Similar answers: disguised copies are found, and of hundreds of honest answers no two are named.

Honest answers are the course's right and wrong ones: of the wrong ones, many are edits of the same right answer, as
answers are that start from the same lesson. Copies are right answers that the instructor's list does not have, each
with a disguised one beside it in a class of the exercise's other answers.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from pathlib import Path

import pytest

from gpulab.classroom import similar as comparing
from gpulab.classroom.results import GradedExercise
from gpulab.classroom.similar import LEAST, features, given_with, pairs, pairs_csv, similar, tokens
from gpulab.grading import exercise_ids
from gpulab.grading.answers import right_answers, wrong_answers
from tests.classroom.disguise import disguise

COPIED = {
    ("broken-votes", "one-thread", "one-thread-beside-a-vote"),
    ("count-workgroups", "every-thread-does-all", "one-thread-alone"),
    ("log-sum-exp", "row-in-lds", "two-passes"),
    ("matrix-registers", "no-guard", "transposed"),
    ("matrix-registers", "registers-first", "transposed"),
    ("matrix-registers", "no-guard", "registers-first"),
    ("matrix-registers", "one-row-of-threads", "one-thread-for-each-tile"),
    ("matrix-registers", "every-thread-does-all", "one-row-of-threads"),
    ("matrix-registers", "every-thread-does-all", "one-thread-for-each-tile"),
    ("matrix-tile", "never-executed", "plain"),
    ("mfma-sgemm", "never-executed", "plain"),
    ("next-frontier", "addition-for-each", "one-thread"),
    ("port-checks", "host-computes", "host-computes-kernel-copies"),
    ("triton-blend", "last-program", "one-program"),
    ("without-blas", "host-computes", "host-computes-kernel-copies"),
}
"""Wrong answers that were written from one another: most lines are the same, letter by letter."""


def wrong_texts(exercise: str) -> list[tuple[str, str]]:
    return [(answer.name, answer.source) for answer in wrong_answers(exercise)]


def test_no_honest_pair_is_named() -> None:
    answers = tried = 0
    named = set()
    for exercise in exercise_ids():
        honest = [*right_answers(exercise).items(), *wrong_texts(exercise)]
        answers += len(honest)
        tried += len(list(combinations(honest, 2)))
        for pair in similar(honest, given_with(exercise), exercise):
            named.add((pair.exercise, *sorted((pair.first, pair.second))))
    assert answers >= 200
    assert tried >= 1000
    assert named <= COPIED


def test_disguised_copies_are_found() -> None:
    """At least 20 of those that have enough of their own; and none of the honest ones beside them is named."""
    found, missed = [], []
    for exercise in exercise_ids():
        right = right_answers(exercise)
        page = [text for text in given_with(exercise) if text not in right.values()]
        for name, text in right.items():
            given = [*page, *(other for key, other in right.items() if key != name)]
            own = features(text) - frozenset().union(*map(features, given))
            if len(own) < 2 * LEAST:
                continue
            others = [(f"honest {key}", other) for key, other in wrong_texts(exercise)]
            others = [each for each in others if not own & features(each[1])]  # those that are edits of this one
            copy = disguise(text, len(found))
            pair = similar([("one", text), ("two", copy), *others], given, exercise)
            named = {frozenset((each.first, each.second)) for each in pair} - {frozenset(("one", "two"))}
            assert {tuple(sorted(each)) for each in named} <= {
                (f"honest {one}", f"honest {two}") for where, one, two in COPIED if where == exercise
            }
            (found if len(pair) > len(named) else missed).append((exercise, name))
    assert len(found) >= 20
    assert len(found) >= 0.8 * (len(found) + len(missed)), missed


KERNEL = """__global__ void f(int n, const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float total = 0.0f;
    for (int step = 0; step < 32; step++) { if (i + step < n) total += in[i + step] * 2; }
    out[i] = total;
}"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("step++", "++step"), ("32", "0x20"), ("0.0f", "0."), ("total", "sum"), ("int n", "unsigned int n"),
        ("    ", "\t"), ("out[i] = total;", "/* the end */ out[(i)] = total; // done"), ("const float", "float"),
    ],
)  # fmt: skip
def test_what_changes_nothing(old: str, new: str) -> None:
    assert old in KERNEL
    assert features(KERNEL.replace(old, new)) == features(KERNEL)


def test_what_does_change_something() -> None:
    for old, new in (("* 2", "* 3"), ("in[i + step]", "in[i - step]"), ("total +=", "total -=")):
        assert features(KERNEL.replace(old, new)) != features(KERNEL)


def test_what_everybody_writes_is_nobodys_own() -> None:
    long = "\n".join(f"    float v{n} = in[{n} * n + {n * n}] - {n}.5f;" for n in range(20))
    answers = [(f"s{n:02}", KERNEL.replace("    float total", f"{long}\n    float total")) for n in range(2)]
    honest = [(f"t{n:02}", KERNEL.replace("32", str(40 + n))) for n in range(18)]
    assert [(pair.first, pair.second) for pair in similar([*answers, *honest], [])] == [("s00", "s01")]
    assert similar([(f"u{n:02}", answers[0][1]) for n in range(20)], []) == []
    assert similar(answers, [answers[0][1]]) == []


def test_the_features_of_a_text_by_hand() -> None:
    """Statements of five tokens or more, two of three or more that follow one another, and runs of nine tokens."""
    first, second = ("+", "=", "v", "v", "v"), ("=", "v", "v")
    expected = {
        ("statement", first),
        ("statements", frozenset(((first, 1), (second, 1)))),
        ("run", ("v0", "=", "v1", "+", "v2", "return", "v3", "v4", "=")),
        ("run", ("=", "v0", "+", "v1", "return", "v2", "v3", "=", "v4")),
    }
    assert features("a = b + c; return d; { e = f; }") == expected
    four = "a = -b;"
    assert features(four) == frozenset()
    same = features(four + four + "c = 1")
    assert {kind for kind, _ in same} == {"statements", "run"}  # type: ignore[misc]
    pair = ("-", "=", "v", "v")
    assert ("statements", frozenset({(pair, 2)})) in same


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2 * i", "i * 2"),
        ("i * 2", "i * 2"),
        ("32 > i", "i < 32"),
        ("2 - i", "2 - i"),
        ("2 * threadIdx", "2 * threadIdx"),
        ("*p = 2", "* p = 2"),
        ("i++; j", "+1 i ; j"),
        ("++i", "+1 i"),
        ("x++", "x +1"),
        ("a[0]--", "a [ 0 ] -1"),
        ("0x1F 31u 31 31L", "31 31 31 31"),
        ("0.5f .5 5e-1 1.f 0u", "0.5 0.5 0.5 1 0"),
        ("999999999999999 1e15", "999999999999999 1000000000000000.0"),
        ("#include <a>\n  # pragma once\n#define N 4", "# define N 4"),
        ("while size_t const(auto)", "for int"),
    ],
)
def test_tokens_by_hand(text: str, found: str) -> None:
    assert " ".join(tokens(text)) == found


def test_how_much_a_pair_has_to_share() -> None:
    """Forty features, and four tenths of the smaller one's own."""
    assert (LEAST, comparing.ALIKE) == (40, 0.4)

    def answer(*parts: range) -> str:
        return ";".join(f"{n}q + {n} - v / {n}" for part in parts for n in part)

    def shared(text: str, other: str) -> int:
        return len(features(text) & features(other))

    alike = answer(range(1000, 1040))
    one, two = alike + ";" + answer(range(2000, 2003)), alike + ";" + answer(range(3000, 3003))
    (pair,) = similar([("a", one), ("b", two)], [])
    smaller = min(len(features(one)), len(features(two)))
    assert (pair.shared, pair.alike) == (shared(one, two), round(shared(one, two) / smaller, 3))
    assert similar([("a", one), ("b", two)], [alike]) == []
    for count in range(1, 30):  # up to the first length that is named
        alike = answer(range(1000, 1000 + count))
        one, two = alike + ";" + answer(range(2000, 2003)), alike + ";" + answer(range(3000, 3003))
        common, smaller = shared(one, two), min(len(features(one)), len(features(two)))
        assert bool(similar([("a", one), ("b", two)], [])) == (common >= LEAST and common >= 0.4 * smaller)


def test_hostile_text_has_features_too() -> None:
    for text in ("", "\0", "0x", "1e999", "9" * 400, "'" * 9, "/*", '"' * 5, "{" * 9999, "é" * 99, "0x" + "f" * 999):
        tokens(text)
        features(text)


@pytest.mark.full
def test_rows_become_a_table() -> None:
    text = right_answers("port-a-program")["groups_of_32"]
    other = "".join(f"__device__ int f{n}(int a) {{ return a * {n} + {n * 7} - (a ^ {n + 3}); }}\n" for n in range(30))
    rows = [
        GradedExercise(student, exercise, "wrong", "", "", "", Fraction(0), Fraction(1), (), answer)
        for exercise in ("first-fill", "port-a-program")
        for student, answer in (("=ann", text + other), ("bob", disguise(text + other, 1)), ("cy", text), ("dee", None))
    ]
    found = pairs(rows)
    assert [(pair.exercise, pair.first, pair.second) for pair in found if pair.exercise == "port-a-program"] == [
        ("port-a-program", "=ann", "bob")
    ]
    assert "port-a-program,'=ann,bob," in pairs_csv(found)


SHARED = "\n".join(f"x{k} = y{k} * {k} + z{k} / {3 * k + 1} - w{k} % {k + 7};" for k in range(12))


@pytest.mark.parametrize(
    ("size", "holders", "pairs"), [(2, 2, 1), (3, 3, 3), (4, 4, 0), (19, 4, 0), (20, 4, 6), (25, 5, 10), (25, 6, 0)]
)
def test_what_more_than_three_or_a_fifth_have_is_nobodys_own(size: int, holders: int, pairs: int) -> None:
    answers = [(f"s{k:02}", SHARED if k < holders else f"a = {k};") for k in range(size)]
    found = similar(answers, [], "sum")
    assert len(found) == pairs
    assert all((pair.exercise, pair.alike) == ("sum", 1.0) for pair in found)
    named = [(pair.first, pair.second) for pair in found]
    assert named == sorted(named)


def test_what_comes_with_an_exercise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Code of its page and its files, beside the right answers: nobody's own."""
    monkeypatch.setattr("gpulab.grading.answers.right_answers", lambda id: {"one": f"right of {id}", "two": "other"})
    monkeypatch.setattr("gpulab.grading.library.folder_of", lambda id: tmp_path)
    assert given_with("sum") == ["right of sum", "other"]
    (tmp_path / "exercise.md").write_text("# Sum\n```c++\na;\nb;\n```\ntext `x`\n```\nc;\n```\n")
    (tmp_path / "start.hip").write_text("hip")
    (tmp_path / "start.cu").write_bytes(b"c\xff")
    (tmp_path / "check.py").write_text("python")
    (tmp_path / "folder.hip").mkdir()
    assert given_with("sum") == ["right of sum", "other", "a;\nb;\n", "c;\n", "c\ufffd", "hip"]


def test_pairs_of_a_class_and_their_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "given_with", lambda exercise: [SHARED] if exercise == "given" else [])

    def row(student: str, exercise: str, answer: str | None) -> GradedExercise:
        return GradedExercise(student, exercise, "wrong", "", "", "", Fraction(0), Fraction(1), (), answer)

    rows = [row(student, exercise, SHARED) for exercise in ("sum", "given", "first") for student in ("bob", "=ann")]
    found = pairs([*rows, row("cy", "sum", None)])
    shared = len(features(SHARED))
    assert [(each.exercise, each.first, each.second, each.alike, each.shared) for each in found] == [
        (exercise, "=ann", "bob", 1.0, shared) for exercise in ("first", "sum")
    ]
    head = "exercise,student,other student,alike,shared features\r\n"
    lines = "".join(f"{exercise},'=ann,bob,1.0,{shared}\r\n" for exercise in ("first", "sum"))
    assert pairs_csv(found) == head + lines


@pytest.mark.parametrize(("holders", "pairs"), [(60, 60 * 59 // 2), (61, 0)])
def test_what_many_of_a_large_class_have_is_nobodys_own(holders: int, pairs: int) -> None:
    """A fifth of 400 are 80; but more than 60 are not compared, whatever the size of the class."""
    answers = [(f"s{k}", SHARED if k < holders else f"a = {k};") for k in range(400)]
    assert len(similar(answers, [])) == pairs
