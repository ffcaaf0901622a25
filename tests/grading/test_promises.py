"""What an exercise promises of its inputs is kept where inputs are made smaller, and where they are drawn."""

import numpy as np
import pytest

from gpulab.errors import CheckError
from gpulab.grading import drawing, exercise_ids, load
from gpulab.grading.answers import right_answers
from gpulab.grading.case import combinations
from gpulab.grading.exercise import Cause, Exercise, Promise, multiple_of, power_of_two
from gpulab.grading.gpu_bench import GpuBench
from gpulab.grading.judge import judge, run_case, smaller
from tests.grading.fakes import PythonBench
from tests.grading.test_judge import right, tiny

KERNELS = [id for id in exercise_ids() if isinstance(load(id), Exercise)]


@pytest.mark.parametrize(
    ("promise", "kept", "broken"),
    [
        (multiple_of(32), (32, 64, 96), (1, 48, 65)),
        (power_of_two(), (1, 2, 64, 1024), (0, 3, 96)),
    ],
)
def test_the_usual_promises(promise, kept, broken):
    assert [promise.holds({"block": value}) for value in (*kept, *broken)] == [True] * len(kept) + [False] * len(broken)


def test_an_exercise_whose_own_case_breaks_its_promise_is_not_well_formed():
    with pytest.raises(CheckError, match=r"\{'n': 9\} is no input that it promises: multiple of 8"):
        tiny(cases=combinations(n=(8, 9)), promises=(multiple_of(8, "n"),))


def wrong_from_two(thread, n, x, out):
    right(thread, n, x, out)
    if thread.number == 1 and n > 1:
        out[1] = 0


SECOND = Cause("second", "the second is wrong", lambda outcome: outcome.wrong("out").any(), "Why.", "What next.")


def smallest_failing(**changes):
    verdict = judge(
        tiny(cases=combinations(n=(32,)), causes=(SECOND,), **changes), "source", PythonBench(wrong_from_two)
    )
    assert not verdict.passed
    return dict(verdict.smallest)


def test_a_failing_input_is_made_smaller_within_the_promise():
    assert smallest_failing() == {"n": 2}
    assert smallest_failing(promises=(multiple_of(8, "n"),)) == {"n": 8}
    assert smallest_failing(promises=(Promise("more than 3", lambda given: given["n"] > 3),)) == {"n": 4}


def test_drawn_inputs_keep_the_promise():
    exercise = tiny(cases=combinations(n=(32, 64, 1024)), promises=(multiple_of(8, "n"),))
    sizes = {parameters["n"] for seed in range(20) for parameters, _ in drawing.drawn(exercise, seed)}
    assert len(sizes) > 5
    assert all(size % 8 == 0 for size in sizes)


def test_of_a_promise_that_no_drawn_input_keeps_a_case_of_the_exercise_is_left():
    exercise = tiny(cases=({"n": 1000},), promises=(Promise("1000", lambda given: given["n"] == 1000),))
    assert {parameters["n"] for parameters, _ in drawing.drawn(exercise, 1)} == {1000}


def tried_when_made_smaller(exercise):
    """Inputs that are tried first when a case fails, and some drawn ones."""
    found = [given for case in exercise.cases for given in smaller(case, exercise.smallest) if exercise.promised(given)]
    found += [parameters for parameters, _ in drawing.drawn(exercise, 1)]
    unique = {tuple(sorted(given.items())): given for given in found}
    by_threads = sorted(unique.values(), key=lambda given: sum(given.values()))
    return by_threads[: len(by_threads) // 2 + 1]


@pytest.mark.full
@pytest.mark.parametrize("id", KERNELS)
def test_a_right_answer_is_right_on_each_input_that_may_be_shown_as_the_smallest(id):
    """The inputs keep to what the text promises, stated or not: else a right answer would fail on some of them."""
    exercise, bench = load(id), GpuBench()
    for name, source in right_answers(id).items():
        for arch in exercise.archs:
            kernel = bench.prepare(source, exercise.asked(), arch, 1)
            try:
                for given in tried_when_made_smaller(exercise)[:40]:
                    outcome = run_case(exercise, kernel, source, exercise.case(given, kernel.wave_size))
                    assert outcome.passed, (name, arch, given)
            finally:
                kernel.close()


@pytest.mark.parametrize("id", ["wave-sum", "row-weights", "block-sum"])
def test_blocks_that_are_tried_are_those_that_the_text_promises(id):
    exercise = load(id)
    blocks = {given["block"] for given in tried_when_made_smaller(exercise)}
    allowed = {
        "wave-sum": range(32, 2048, 32),
        "row-weights": range(64, 2048, 64),
        "block-sum": (64, 128, 256, 512, 1024),
    }
    assert blocks
    assert blocks <= set(allowed[id])
    assert np.all([exercise.promised(case) for case in exercise.cases])
