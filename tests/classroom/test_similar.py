"""Similar answers: disguised copies are found, and of hundreds of honest answers no two are named.

Honest answers are the course's right and wrong ones: of the wrong ones, many are edits of the same right answer, as
answers are that start from the same lesson. Copies are right answers that the instructor's list does not have, each
with a disguised one beside it in a class of the exercise's other answers.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest

from gpulab.classroom.results import Row
from gpulab.classroom.similar import LEAST, features, given_with, pairs, pairs_csv, similar, tokens
from gpulab.grading import exercise_ids
from gpulab.grading.answers import right_answers, wrong_answers
from tests.classroom.disguise import disguise

COPIED = {
    ("matrix-registers", "no-guard", "transposed"),
    ("matrix-registers", "registers-first", "transposed"),
    ("matrix-registers", "no-guard", "registers-first"),
    ("matrix-tile", "never-executed", "plain"),
}
"""Wrong answers that were written as whole texts from one another: most lines are the same, letter by letter."""


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


def test_hostile_text_has_features_too() -> None:
    for text in ("", "\0", "0x", "1e999", "9" * 400, "'" * 9, "/*", '"' * 5, "{" * 9999, "é" * 99, "0x" + "f" * 999):
        tokens(text)
        features(text)


def test_rows_become_a_table() -> None:
    text = right_answers("port-a-program")["groups_of_32"]
    other = "".join(f"__device__ int f{n}(int a) {{ return a * {n} + {n * 7} - (a ^ {n + 3}); }}\n" for n in range(30))
    rows = [
        Row(student, exercise, "wrong", "", "", "", Fraction(0), Fraction(1), (), answer)
        for exercise in ("first-fill", "port-a-program")
        for student, answer in (("=ann", text + other), ("bob", disguise(text + other, 1)), ("cy", text), ("dee", None))
    ]
    found = pairs(rows)
    assert [(pair.exercise, pair.first, pair.second) for pair in found if pair.exercise == "port-a-program"] == [
        ("port-a-program", "=ann", "bob")
    ]
    assert "port-a-program,'=ann,bob," in pairs_csv(found)
