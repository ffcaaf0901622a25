"""Similar answers of one exercise, for the instructor to look at: pairs that share what others do not have.

An answer becomes a set of features that renaming, comments, layout, parentheses, other spellings of the same number or
step, and another order of statements do not change: each statement as the bag of its tokens (names all alike), each
two that follow one another, and runs of tokens in which names count by their order of appearance. What the exercise
gives and what its right answers have is left out, and what many of the class have. A pair is listed if enough is left
and most of it is the same. It is a reason to look, not a proof; short answers that everybody writes alike never are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from pathlib import Path

from gpulab.classroom.results import GradedExercise
from gpulab.classroom.tables import csv_text
from gpulab.toolchain.sources import without_comments

RUN = 9
"""Tokens in a run."""

LEAST = 40
"""Features of its own that a pair has to share."""

ALIKE = 0.4
"""The share of the smaller one's own features that a pair has to share."""

COMMON = 0.2
"""What more than this part of the class has is nobody's own; in small classes what more than three have."""
MOST = 60
"""And of more students than this: so the work grows with the class, and not with its pairs."""

_TOKEN = re.compile(
    r"[A-Za-z_]\w*|0[xX][0-9A-Fa-f]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[A-Za-z]*"
    r"|<<=|>>=|<=|>=|==|!=|&&|\|\||<<|>>|[-+*/%&|^]=|\+\+|--|->|::|\S"
)
_WORDS = {
    "if", "else", "for", "while", "do", "return", "break", "continue", "switch", "case", "template", "struct",
    "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "x", "y", "z", "w", "__shared__", "__device__",
    "__global__", "__syncthreads", "float", "double", "int", "half", "bool", "float2", "float4", "int4", "hipMalloc",
    "hipMemcpy", "hipMemcpyAsync", "hipFree", "hipStreamCreate", "hipEventRecord", "hipLaunchKernelGGL", "printf",
}  # fmt: skip
_KEPT = re.compile(r"__\w+|atomic\w+|hip[A-Z]\w+|min|max|fmaf?|sqrtf?|expf?|tid|(?:u?int|float)\d\w*")
"""Names that mean the same in every answer."""

_DROPPED = {
    "const",
    "unsigned",
    "signed",
    "static",
    "inline",
    "volatile",
    "__restrict__",
    "__forceinline__",
    "auto",
    "(",
    ")",
}
_SAME = {
    "while": "for", "do": "for", "long": "int", "short": "int", "size_t": "int", "uint32_t": "int", "int32_t": "int",
    "uint64_t": "int", "int64_t": "int", "uint": "int", ">": "<", ">=": "<=", "++": "+1", "--": "-1",
}  # fmt: skip


_EITHER_WAY = {"*", "+", "<", "<=", "==", "!="}
"""Between a name and a number, whose order says nothing here."""


def tokens(source: str) -> list[str]:
    """The tokens of C++ text in one spelling: no comments, includes, parentheses or qualifiers."""
    text = re.sub(r"^[ \t]*#[ \t]*(?:include|pragma)\b[^\n]*", "", without_comments(source), flags=re.MULTILINE)
    found = []
    for token in _TOKEN.findall(text):
        if token not in _DROPPED:
            number = token[0].isdigit() or (token[0] == "." and len(token) > 1)
            found.append(_number(token) if number else _SAME.get(token, token))
    for at in range(1, len(found)):
        if found[at] in ("+1", "-1") and _is_name(found[at - 1]):  # i++ is ++i
            found[at - 1], found[at] = found[at], found[at - 1]
        elif found[at - 1] in _EITHER_WAY and at > 1 and found[at - 2][0].isdigit() and _is_name(found[at]):
            found[at - 2], found[at] = found[at], found[at - 2]  # 2 * i is i * 2, 32 > i is i < 32
    return found


def _number(token: str) -> str:
    """A number in one spelling: 0x20, 32u and 32 are the same, as are 2.f and 2.0."""
    plain = token.lower()
    if not plain.startswith("0x"):
        plain = plain.rstrip("ulf") or "0"
    try:
        value = float(int(plain, 16) if plain.startswith("0x") else float(plain))
    except (ValueError, OverflowError):
        return token
    return repr(int(value)) if abs(value) < 1e15 and value == int(value) else repr(value)


def features(source: str) -> frozenset[object]:
    """What an answer is compared by."""
    found: set[object] = set()
    whole = tokens(source)
    bags = [bag for bag in map(_bag, _statements(whole)) if len(bag) > 2]
    found.update(("statement", bag) for bag in bags if len(bag) > 4)
    found.update(("statements", frozenset(Counter(pair).items())) for pair in pairwise(bags))
    plain = [token for token in whole if token not in ("{", "}", ";")]
    for at in range(len(plain) - RUN + 1):
        found.add(("run", _shape(plain[at : at + RUN])))
    return frozenset(found)


def _statements(whole: Sequence[str]) -> Iterable[list[str]]:
    one: list[str] = []
    for token in whole:
        if token in ("{", "}", ";"):
            if one:
                yield one
            one = []
        else:
            one.append(token)
    if one:
        yield one


def _is_name(token: str) -> bool:
    return (token[0].isalpha() or token[0] == "_") and token not in _WORDS and not _KEPT.fullmatch(token)


def _bag(statement: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted("v" if _is_name(token) else token for token in statement))


def _shape(run: Sequence[str]) -> tuple[str, ...]:
    order: dict[str, str] = {}
    return tuple(order.setdefault(token, f"v{len(order)}") if _is_name(token) else token for token in run)


@dataclass(frozen=True)
class Pair:
    """Two similar answers: whose, to what, the part of the smaller one that they share, and how many features."""

    exercise: str
    first: str
    second: str
    alike: float
    shared: int


def similar(answers: Sequence[tuple[str, str]], given: Iterable[str], exercise: str = "") -> list[Pair]:
    """The pairs among answers (student, text) to one exercise that share what others do not have, most alike first.

    Args:
        given: texts whose features are nobody's own: the start that students get, and right answers.
    """
    known: frozenset[object] = frozenset().union(*map(features, given))
    own = {student: features(text) - known for student, text in answers}
    holders = Counter(feature for each in own.values() for feature in each)
    most = max(3, min(MOST, int(COMMON * len(own))))
    rare = {student: {feature for feature in each if holders[feature] <= most} for student, each in own.items()}
    candidates: Counter[tuple[str, str]] = Counter()
    by_feature: dict[object, list[str]] = {}
    for student in sorted(rare):
        for feature in rare[student]:
            by_feature.setdefault(feature, []).append(student)
    for students in by_feature.values():
        candidates.update(combinations(students, 2))
    found = []
    for (first, second), shared in candidates.items():
        alike = shared / min(len(rare[first]), len(rare[second]))
        if shared >= LEAST and alike >= ALIKE:
            found.append(Pair(exercise, first, second, round(alike, 3), shared))
    return sorted(found, key=lambda pair: (-pair.alike, -pair.shared, pair.first, pair.second))


def given_with(exercise: str) -> list[str]:
    """The texts that come with an exercise: code in its page (with the start), and its right answers."""
    from gpulab.grading.answers import right_answers
    from gpulab.grading.library import folder_of

    texts = list(right_answers(exercise).values())
    folder = folder_of(exercise)
    for path in sorted([folder / "exercise.md", *folder.glob("*.cu"), *folder.glob("*.hip")]):
        if isinstance(path, Path) and path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            texts += re.findall(r"^```[^\n]*\n(.*?)^```", text, re.M | re.S) if path.suffix == ".md" else [text]
    return texts


def pairs(rows: Iterable[GradedExercise]) -> list[Pair]:
    """The similar answers of a class, exercise by exercise."""
    by_exercise: dict[str, list[tuple[str, str]]] = {}
    for row in rows:
        if row.answer is not None:
            by_exercise.setdefault(row.exercise, []).append((row.student, row.answer))
    return [
        pair
        for exercise, answers in sorted(by_exercise.items())
        for pair in similar(answers, given_with(exercise), exercise)
    ]


def pairs_csv(found: Iterable[Pair]) -> str:
    """One line for each pair."""
    lines = [(each.exercise, each.first, each.second, each.alike, each.shared) for each in found]
    return csv_text([("exercise", "student", "other student", "alike", "shared features"), *lines])
