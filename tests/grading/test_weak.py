"""Cases that are judged on weak memory, too (`Case.weak`): what is run, and what a report says."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpulab
from gpulab.grading.answers import right_answers, wrong_answers
from gpulab.grading.case import Array, Buffer, Case, Run, Value, combinations, sentinel
from gpulab.grading.drawing import weak_seeds
from gpulab.grading.evidence import WEAK
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.gpu_bench import GpuBench
from gpulab.grading.isolated import Grader
from gpulab.grading.judge import WEAK_LIMIT, judge, run_case
from gpulab.grading.outcome import Outcome
from gpulab.grading.remote import RemoteBench
from gpulab.records import Fault
from tests.grading.fakes import PythonBench, PythonKernel
from tests.grading.test_remote import serving

SOURCE = """
#define AGENT __HIP_MEMORY_SCOPE_AGENT
__global__ void pass_on(int n, const int* in, int* box, int* flag, int* out)
{
    int i = threadIdx.x;
    if (blockIdx.x == 0) {
        if (i < n) %s;
        __syncthreads();
        if (i == 0) __hip_atomic_store(flag, 1, __ATOMIC_%s, AGENT);
    } else {
        if (i == 0) while (!__hip_atomic_load(flag, __ATOMIC_%s, AGENT)) {}
        __syncthreads();
        if (i < n) out[i] = 10 * %s;
    }
}
"""
PLAIN = "box[i] = in[i]", "box[i]"
ATOMIC = (
    "__hip_atomic_store(box + i, in[i], __ATOMIC_RELAXED, AGENT)", "__hip_atomic_load(box + i, __ATOMIC_RELAXED, AGENT)"
)  # fmt: skip


def source(box: tuple[str, str], send: str, receive: str) -> str:
    return SOURCE % (box[0], send, receive, box[1])


RIGHT = source(PLAIN, "RELEASE", "ACQUIRE")
NO_RACE = source(ATOMIC, "RELAXED", "RELAXED")
"""Atomic accesses alone, so that a checked launch finds no race; but nothing orders the box before the flag."""


def passing(weak: int = 12, **changes: Any) -> Exercise:
    """out = 10 in, passed on from block 0 to block 1."""

    def make(parameters: Any, random: np.random.Generator) -> Case:
        n = parameters["n"]
        data = 1 + np.arange(n, dtype="int32")
        arguments = (
            Value("n", np.int32(n)), Array("in", data), Array("box", np.zeros(n, "int32"), scratch=True),
            Array("flag", np.zeros(1, "int32"), scratch=True), Array("out", sentinel("int32", n), 10 * data),
        )  # fmt: skip
        return Case(parameters, (2, 1, 1), (64, 1, 1), arguments, weak=weak)

    settings: dict[str, Any] = {
        "id": "passing", "title": "a message", "lesson": "01_first_kernel", "section": "A section", "kernel": "pass_on",
        "signature": "int n, const int* in, int* box, int* flag, int* out", "make": make, "cases": combinations(n=(3,)),
        "causes": (), "hints": ("a", "b", "c"), "smallest": {"n": 1}, "archs": ("gfx942",),
    }  # fmt: skip
    return Exercise(**{**settings, **changes})


def said(verdict: Any, label: str) -> str:
    return next(" ".join(row.text.split()) for row in verdict.rows if row.label == label)


def seen_again(text: str, n: int, seed: int) -> list[int]:
    """What a learner gets who follows the report."""
    with gpulab.using("virtual:gfx942"):
        arrays = [gpulab.to_device(1 + np.arange(n, dtype=np.int32))]
        arrays += [gpulab.zeros(count, "int32") for count in (n, 1, n)]
        kernel = gpulab.compile(text).pass_on
        with gpulab.weak(seed):
            kernel[2, 64](n, *arrays)
        return arrays[-1].to_host().tolist()


@pytest.mark.full
def test_what_is_wrong_on_weak_memory_alone_is_told_with_its_seed() -> None:
    assert judge(passing(weak=0), NO_RACE, GpuBench()).passed
    verdict = judge(passing(), NO_RACE, GpuBench())
    assert (verdict.status, verdict.cause) == ("wrong", "weak-memory")
    row = said(verdict, "weak memory")
    assert row.startswith("an ordinary launch is right; ")
    assert "the result is wrong" in row
    seed = int(re.search(r"`with gpulab\.weak\((\d+)\):`", row)[1])
    found = seen_again(NO_RACE, 3, seed)
    assert found != [10, 20, 30]
    wrong = [(10 * (i + 1), value) for i, value in enumerate(found) if value != 10 * (i + 1)]
    values = said(verdict, "values")
    assert all(f"{wanted} {value}" in values for wanted, value in wrong)
    assert verdict.case is not None
    drawn = {one.expected: one.found for one in verdict.case.arrays[-1].elements}
    assert drawn == {str(10 * (i + 1)): str(value) for i, value in enumerate(found)}
    assert {one.name: one.passed for one in verdict.criteria}["visible"] is False
    for before in range(seed):
        assert seen_again(NO_RACE, 3, before) == [10, 20, 30]


def test_a_right_answer_passes_and_the_report_says_how_often_it_was_run() -> None:
    verdict = judge(passing(archs=("gfx942", "gfx1100")), RIGHT, GpuBench())
    assert verdict.passed
    assert said(verdict, "tried").endswith("with n = 3, and 24 runs on weak memory")


def test_a_race_is_told_with_what_comes_of_it() -> None:
    verdict = judge(passing(), source(PLAIN, "RELAXED", "ACQUIRE"), GpuBench())
    assert (verdict.status, verdict.cause) == ("fault", "weak-memory")
    assert "data race in global memory" in said(verdict, "found")
    assert said(verdict, "weak memory").startswith("with loads and stores that are late and out of order the result is")
    assert "10 0" in said(verdict, "values")


def test_drawn_cases_have_seeds_of_their_own_which_no_report_tells() -> None:
    assert list(weak_seeds(4, None)) == [0, 1, 2, 3]
    one, other = weak_seeds(4, 1 << 61), weak_seeds(4, 5)
    assert len({*one, *other}) == 8
    assert one == weak_seeds(4, 1 << 61)

    bench = Bench(lambda seed: seed > 1000)
    assert judge(passing(), "source", bench).passed
    verdict = judge(passing(), "source", bench, seed="secret")
    assert verdict.cause == "weak-memory"
    assert "gpulab.weak(" not in verdict.text
    assert {one.name: one.passed for one in verdict.criteria} == {"visible": True, "hidden": False, "faults": True}


def ten_times(thread: Any, n: int, given: Any, box: Any, flag: Any, out: Any) -> None:
    if thread.number < n:
        out[thread.number] = 10 * given[thread.number]


class Late(PythonKernel):
    """Right, but for the runs on weak memory of which `late` says so: these leave zeros, with the fault it gives."""

    def __init__(self, late: Callable[[int], bool | Fault], arch: str) -> None:
        super().__init__(ten_times, arch, 64)
        self.late, self.seeds = late, list[tuple[int, int]]()

    def run(self, case, buffers, limit, checked=False, wanted=None, profiled=False, weak=None):
        found = super().run(case, buffers, limit, checked, wanted, profiled)
        if weak is None:
            return found
        assert (checked, profiled) == (False, False)
        self.seeds.append((weak, limit))
        late = self.late(weak)
        if not late:
            return found
        after = {**found.after, "out": np.zeros_like(found.after["out"])}
        return replace(found, after=after, fault=None if late is True else late)


class Bench(PythonBench):
    def __init__(self, late: Callable[[int], bool | Fault]) -> None:
        super().__init__(ten_times)
        self.late = late

    def prepare(self, source, exercise, arch, first_line=1):
        self.prepared.append(Late(self.late, arch))
        return self.prepared[-1]


def outcome(late: Callable[[int], bool | Fault], **changes: Any) -> tuple[Outcome, Late]:
    exercise, kernel = passing(**changes), Late(late, "gfx942")
    return run_case(exercise, kernel, "text", exercise.case(exercise.cases[0])), kernel


def test_seeds_are_tried_until_one_is_wrong() -> None:
    found, kernel = outcome(lambda seed: seed >= 5)
    assert found.weak is not None
    assert found.weak.seed == 5
    assert kernel.seeds == [(seed, WEAK_LIMIT) for seed in range(6)]
    assert (found.passed, found.right) == (False, False)
    assert found.clean
    assert found.wrong("out").all()
    assert found.found("out").tolist() == [0, 0, 0]
    assert not found.nothing_written()
    found, kernel = outcome(lambda seed: False, instruction_limit=1000)
    assert (found.weak, found.passed) == (None, True)
    assert kernel.seeds == [(seed, 1000) for seed in range(12)]


def test_without_the_field_nothing_runs_on_weak_memory() -> None:
    found, kernel = outcome(lambda seed: True, weak=0)
    assert found.passed
    assert kernel.seeds == []
    assert len(kernel.launches) == 2


def test_what_is_wrong_in_an_ordinary_launch_is_not_run_on_weak_memory() -> None:
    exercise, kernel = passing(), Late(lambda seed: True, "gfx942")
    kernel.function = lambda thread, n, given, box, flag, out: None
    found = run_case(exercise, kernel, "text", exercise.case(exercise.cases[0]))
    assert (found.weak, found.nothing_written()) == (None, True)
    assert kernel.seeds == []


@pytest.mark.parametrize(
    ("kind", "words"), [("timeout", "the launch does not end."), ("out of bounds", "the launch is stopped (Kernel k ")]
)
def test_a_launch_that_is_stopped_on_weak_memory_alone(kind: str, words: str) -> None:
    fault = Fault(kind, "k", None, "global_load", (1, 0, 0), 0, 0, (5, 0, 0), 0x1000, 4, "read")
    verdict = judge(passing(), "text", Bench(lambda seed: fault if seed == 3 else False))
    assert verdict.cause == "weak-memory"
    assert words in said(verdict, "weak memory")
    assert "`with gpulab.weak(3):`" in said(verdict, "weak memory")


@pytest.mark.parametrize(
    ("cause", "named"),
    [
        (Cause("own", "t", lambda seen: True, "w", "n"), "weak-memory"),  # it would fit a right answer as well
        (Cause("own", "t", lambda seen: True, "w", "n", explains=(WEAK,)), "own"),
        (Cause("own", "t", lambda seen: seen.weak is not None, "w", "n"), "own"),
        (Cause("own", "t", lambda seen: seen.looks_like("out", lambda case: np.zeros(3)), "w", "n"), "own"),
    ],
)
def test_which_causes_of_an_exercise_fit(cause: Cause[Outcome], named: str) -> None:
    assert judge(passing(causes=(cause,)), "text", Bench(lambda seed: True)).cause == named


@pytest.mark.full
def test_a_worker_finds_what_is_found_here(tmp_path: Path) -> None:
    exercise = passing()
    case = exercise.case(exercise.cases[0])
    buffers = [Buffer(array, 0, number) for number, array in enumerate(case.arrays)]
    here = GpuBench().prepare(NO_RACE, exercise.asked(), "gfx942")
    runs: list[list[Run]] = [[], []]
    with serving(tmp_path / "folder", []) as made:
        there = RemoteBench(made).prepare(NO_RACE, exercise.asked(), "gfx942")
        for found, kernel in zip(runs, (here, there), strict=True):
            found += [kernel.run(case, buffers, WEAK_LIMIT, weak=seed) for seed in range(12)]
    with serving(tmp_path / "other", []) as made:
        verdict = judge(exercise, NO_RACE, RemoteBench(made))
    here.close()
    outs = [[run.after["out"].tolist() for run in found] for found in runs]
    assert outs[0] == outs[1]
    assert [10, 20, 30] in outs[0]
    assert verdict.cause == "weak-memory"


def test_a_class_is_judged_on_weak_memory() -> None:
    """With the walls and in the process that submissions get; the wrong answer has no race."""
    wrong = next(one for one in wrong_answers("missing-release") if one.name == "atomic-box")
    with Grader() as grader:
        ordered, relaxed = (
            grader.grade("missing-release", text, seed="secret")
            for text in (right_answers("missing-release")["orders"], wrong.source)
        )
    assert (ordered.status, relaxed.status) == ("accepted", "rejected")
    assert relaxed.verdict.cause == wrong.cause
    assert "`with gpulab.weak(" in said(relaxed.verdict, "weak memory")
    assert {one.name: one.passed for one in relaxed.criteria}["visible"] is False
