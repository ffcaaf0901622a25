"""One job on a worker: whose grader takes it, what it refuses, what is kept for the next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from types import SimpleNamespace
from typing import Any

import pytest

import gpulab.grading
from gpulab.classroom import jobs
from gpulab.classroom.jobs import Job, Unfit
from gpulab.errors import CheckError

JOB = Job("first-fill", "text", 5, "edition")


class Grader:
    made: list[Grader] = []  # noqa: RUF012

    def __init__(self, **settings: Any) -> None:
        if settings["jail"] == "iron":
            raise CheckError("There is no\nlevel 'iron'.")
        self.settings, self.open, self.asked = settings, 0, []
        self.made.append(self)

    def __enter__(self) -> Grader:
        self.open += 1
        return self

    def __exit__(self, *exception: object) -> None:
        self.open -= 1

    def grade(self, id: str, source: str, seed: int) -> Any:
        self.asked.append((id, source, seed))
        return SimpleNamespace(verdict=SimpleNamespace(as_dict=lambda: {"of": source}))


@pytest.fixture(autouse=True)
def graders(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Grader]]:
    jobs.close()
    Grader.made = []
    monkeypatch.setattr(gpulab.grading, "Grader", Grader)
    monkeypatch.setattr(jobs, "version_of", lambda exercise: "edition")
    yield Grader.made
    jobs.close()


def test_a_grader_stays_for_jobs_with_the_same_limits(graders: list[Grader]) -> None:
    assert jobs.grade(asdict(JOB)) == {"of": "text"}
    jobs.grade(asdict(replace(JOB, answer="other", exercise="saxpy-guard", seed=6)))
    (one,) = graders
    assert one.settings == {"seconds": 60.0, "trusted": False, "jail": "none"}
    assert one.asked == [("first-fill", "text", 5), ("saxpy-guard", "other", 6)]
    for number, changes in enumerate(({"seconds": 3.0}, {"trusted": True}, {"jail": "limits"}), 2):
        jobs.grade(asdict(replace(JOB, **changes)))
        assert len(graders) == number
        assert {**graders[-1].settings, **changes} == graders[-1].settings
    assert [each.open for each in graders] == [1] * 4
    jobs.close()
    assert [each.open for each in graders] == [0] * 4
    jobs.grade(asdict(JOB))
    assert len(graders) == 5, "what was closed is not used again"


def test_what_a_worker_refuses(graders: list[Grader]) -> None:
    with pytest.raises(Unfit, match="another edition of gpulab or of the exercise 'first-fill'"):
        jobs.grade(asdict(replace(JOB, version="other")))
    with pytest.raises(Unfit, match=r"^There is no level 'iron'\.$"):
        jobs.grade(asdict(replace(JOB, jail="iron")))
    assert graders == []
    jobs.grade(asdict(JOB))
    assert len(graders) == 1


def test_what_a_result_depends_on() -> None:
    keys = {
        replace(JOB, **changes).key
        for changes in ({}, {"exercise": "x"}, {"answer": "x"}, {"seed": 6}, {"version": "x"}, {"seconds": 1.0},
                        {"trusted": True})
    }  # fmt: skip
    assert len(keys) == 7
    assert replace(JOB, jail="limits").key == JOB.key
    assert len(JOB.key) == 64
