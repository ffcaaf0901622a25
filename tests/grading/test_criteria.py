"""What an answer is judged by, run by run: right on known and on drawn cases, no faults, requirements."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from gpulab.grading.criteria import Criterion, Tally, refused

ASKED = {"few": "few loads", "fast": "it is fast"}
TITLES = ("right on the cases that the exercise shows", "right on other cases, drawn for this grading",
          "no faults and no races", "few loads", "it is fast")  # fmt: skip


def run(right: bool = True, hidden: bool = False, clean: bool = True, unsteady: str = "") -> Any:
    return SimpleNamespace(right=right, hidden=hidden, clean=clean, unsteady=unsteady)


def test_of_what_cannot_be_run_nothing_else_is_judged() -> None:
    passed = (False, None, None, None, None)
    names = ("visible", "hidden", "faults", "few", "fast")
    assert refused(ASKED) == tuple(map(Criterion, names, TITLES, passed))


@pytest.mark.parametrize(
    ("runs", "finished", "passed"),
    [
        ([], True, (None, None, None, None, None)),
        ([(run(), {})], True, (True, None, True, None, None)), ([(run(), {})], False, (None, None, None, None, None)),
        ([(run(), {"few": True})], True, (True, None, True, True, None)),
        ([(run(), {"few": True}), (run(), {"few": False})], True, (True, None, True, False, None)),
        ([(run(), {"few": False}), (run(), {"few": True})], False, (None, None, None, False, None)),
        ([(run(), {}), (run(False), {})], True, (False, None, True, None, None)),  # half of them are enough
        ([(run(), {}), (run(False), {}), (run(False), {})], True, (False, None, None, None, None)),
        ([(run(), {}), (run(False, hidden=True), {}), (run(False, hidden=True), {})], True,
         (True, False, True, None, None)),
        ([(run(False), {}), (run(hidden=True), {"few": True})], True, (False, True, None, None, None)),
        ([(run(clean=False), {})], False, (None, None, False, None, None)),
        ([(run(False, clean=False), {})], True, (False, None, False, None, None)),
        ([(run(unsteady="it differs"), {})], True, (False, None, None, None, None)),
    ],
)  # fmt: skip
def test_what_runs_show(runs: list[Any], finished: bool, passed: tuple[bool | None, ...]) -> None:
    tally = Tally(ASKED)
    for outcome, met in runs:
        tally.add(outcome, met)
    found = tally.criteria(finished)
    assert tuple(each.title for each in found) == TITLES
    assert tuple(each.passed for each in found) == passed
