"""Cases that are drawn with a seed, and the criteria that all cases together decide."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from gpulab.grading import drawing
from gpulab.grading.criteria import Criterion
from gpulab.grading.drawing import COUNT, drawn
from gpulab.grading.exercise import Cause, Promise, Requirement
from gpulab.grading.judge import judge
from gpulab.grading.library import exercise_ids, load
from gpulab.grading.program import ProgramExercise
from gpulab.grading.verdict import Verdict
from tests.grading.fakes import PythonBench
from tests.grading.test_judge import right, tiny

KERNELS = [id for id in exercise_ids() if not isinstance(load(id), ProgramExercise)]


def known_sizes_alone(thread, n, x, out):
    """Right for the sizes that the exercise's own cases have."""
    if thread.number < n:
        out[thread.number] = 10 * thread.number + (n not in (1, 8, 9, 20))


def passed(verdict):
    return {each.name: each.passed for each in verdict.criteria}


def test_without_a_seed_the_cases_are_the_exercises_own():
    bench = PythonBench(known_sizes_alone)
    verdict = judge(tiny(), "source", bench)
    assert verdict.passed
    assert {case.parameters["n"] for kernel in bench.prepared for case in kernel.launches} == {1, 8, 9, 20}
    assert passed(verdict) == {"visible": True, "hidden": None, "faults": True}


def test_an_answer_for_the_known_sizes_alone_fails_with_a_seed_and_the_report_does_not_tell_the_input():
    def for_thousand(thread, n, x, out):
        if thread.number < n:
            out[thread.number] = 10 * thread.number + (n != 1000)

    bench = PythonBench(for_thousand)
    verdict = judge(tiny(cases=({"n": 1000},)), "source", bench, seed="secret")
    sizes = {case.parameters["n"] for kernel in bench.prepared for case in kernel.launches} - {1000}
    assert len(sizes) > 1
    assert verdict.status == "wrong"
    assert "inputs that were drawn for this grading, on gfx942 (wave64)" in " ".join(verdict.text.split())
    assert "2 runs on gfx942 (wave64) and gfx1100 (wave32) with n = 1000" in verdict.text
    assert not any(str(number) in verdict.text for size in sizes for number in (size, size - 1, 10 * (size - 1)))
    assert not verdict.smallest
    assert verdict.case is None
    assert passed(verdict) == {"visible": True, "hidden": False, "faults": True}


def test_a_requirement_that_is_missed_on_a_drawn_case_alone_is_told_without_its_numbers():
    def fits(outcome):
        n = outcome.case.parameters["n"]
        return "" if n in (1, 8, 9, 20) else f"{n} is too many"

    strict = tiny(requirements=(Requirement("few", "few of them", fits),))
    verdict = judge(strict, "source", PythonBench(right), seed=1)
    assert verdict.cause == "few"
    assert "too many" not in verdict.text
    assert passed(verdict) == {"visible": True, "hidden": True, "faults": True, "few": False}


def test_all_cases_are_run_for_the_criteria_though_the_first_fails():
    def wrong_for_one(thread, n, x, out):
        if thread.number < n:
            out[thread.number] = 10 * thread.number + (n == 1)

    met = Requirement("met", "something", lambda outcome: "")
    verdict = judge(tiny(requirements=(met,)), "source", PythonBench(wrong_for_one), seed=3)
    assert verdict.smallest == {"n": 1}
    assert passed(verdict) == {"visible": False, "hidden": True, "faults": True, "met": True}
    at_once = judge(tiny(requirements=(met,)), "source", PythonBench(wrong_for_one))
    assert passed(at_once) == {"visible": False, "hidden": None, "faults": None, "met": None}


def test_writing_beside_an_array_is_a_fault_though_the_output_is_right():
    def one_too_far(thread, n, x, out):
        if thread.number <= n:
            out[thread.number] = 10 * thread.number

    verdict = judge(tiny(), "source", PythonBench(one_too_far), seed=3)
    assert passed(verdict) == {"visible": True, "hidden": True, "faults": False}


def test_an_answer_that_does_nothing_has_no_criterion_to_its_credit():
    empty = tiny(cases=({"n": 0}, {"n": 8}, {"n": 9}), requirements=(Requirement("met", "it", lambda outcome: ""),))
    verdict = judge(empty, "source", PythonBench(lambda thread, n, x, out: None), seed=3)
    assert passed(verdict) == {"visible": False, "hidden": False, "faults": None, "met": None}


def test_nothing_more_is_run_after_a_launch_without_an_end():
    def endless(thread, n, x, out):
        raise TimeoutError

    bench = PythonBench(endless)
    verdict = judge(tiny(), "source", bench, explained=False, seed=3)
    assert [len(kernel.launches) for kernel in bench.prepared] == [1, 0]
    assert passed(verdict) == {"visible": False, "hidden": None, "faults": False}


def test_a_cause_is_named_for_a_drawn_case_too():
    known = Cause("known", "only known sizes work", lambda outcome: True, "why", "next")
    verdict = judge(tiny(causes=(known,)), "source", PythonBench(known_sizes_alone), seed=3)
    assert verdict.cause == "known"


def test_criteria_outlive_a_journey_as_plain_data():
    import json

    verdict = judge(tiny(), "source", PythonBench(right), seed=3)
    again = Verdict.from_dict(json.loads(json.dumps(verdict.as_dict())))
    assert again == verdict
    assert again.criteria[0] == Criterion("visible", "right on the cases that the exercise shows", True)


@pytest.mark.parametrize("id", KERNELS)
def test_drawn_cases_keep_to_the_exercise(id):
    exercise = load(id)
    first, same, other = (drawn(exercise, seed) for seed in ("a", "a", "b"))
    assert first == same
    assert first != other
    assert len(first) >= COUNT
    for parameters, secret in first:
        assert any(parameters.keys() == case.keys() for case in exercise.cases)
        for name, value in parameters.items():
            known = [case[name] for case in exercise.cases if name in case]
            assert value >= min(exercise.smallest.get(name, value), *known)
            assert value in known or name not in exercise.kept
        case = exercise.case(parameters, 64, secret)
        twice = exercise.case(parameters, 64, secret)
        assert [one.data.tobytes() for one in case.arrays] == [two.data.tobytes() for two in twice.arrays]


def test_a_scan_is_drawn_for_as_many_blocks_as_are_known():
    """More blocks read more sums of others: an answer within the limit of lines went over it with nine blocks."""
    exercise = load("scan-many-blocks")
    known = {(case["block"], case["blocks"]) for case in exercise.cases}
    found = [parameters for seed in ("a", "b", "4711") for parameters, _ in drawn(exercise, seed)]
    assert found
    assert {(each["block"], each["blocks"]) for each in found} <= known


def test_data_are_drawn_too():
    exercise = load("saxpy-guard")
    parameters = {"n": 100, "block": 64, "spare blocks": 0}
    datas = [exercise.case(parameters, 64, secret).array("x").data.tobytes() for secret in (None, 1, 2, 1 << 40)]
    assert len(set(datas)) == 4


def test_an_exercise_may_draw_by_itself():
    own = replace(load("saxpy-guard"), drawn=lambda random: [{"n": int(random.integers(7, 9)), "block": 64}])
    assert all(parameters["n"] in (7, 8) for seed in range(9) for parameters, _ in drawn(own, seed))


@pytest.mark.parametrize(
    ("value", "smallest", "large", "least", "most"),
    [
        (20, 1, False, 15, 25), (20, 18, False, 18, 25), (20, None, False, 20, 25), (4, 1, False, 1, 7),
        (15, 1, False, 12, 18), (16, 1, False, 12, 20), (256, 1, False, 192, 320), (257, 1, False, 241, 273),
        (0, 0, False, 0, 3), (100, 1, True, 100, 124), (512, 1, True, 512, 512), (4096, 1, True, 4096, 4352),
        (0, 0, True, 0, 3), (1, 1, True, 1, 4),
    ],
)  # fmt: skip
def test_between_which_sizes_one_is_drawn(value, smallest, large, least, most):
    """A quarter smaller or larger, three at least; beyond 256 a sixteenth. The largest is not made smaller, and what
    divides it and 64 divides what is drawn. Blocks stay."""
    exercise = tiny(smallest={} if smallest is None else {"n": smallest})
    for end, wanted in ((0, least), (1, most)):
        random = SimpleNamespace(integers=lambda low, high, endpoint, end=end: (low, high)[end] if endpoint else None)
        assert drawing._sizes(exercise, {"block": 8, "n": value}, random, large) == {"block": 8, "n": wanted}


def test_a_case_that_breaks_a_promise_is_drawn_again_a_hundred_times():
    even = Promise("even", lambda given: given["n"] % 2 == 0)
    exercise, base = tiny(cases=({"n": 20},), promises=(even,)), {"n": 20}
    for odd, found in ((99, 16), (100, 20)):
        drawn_numbers = iter([0] * odd + [1])  # from 15 on
        random = SimpleNamespace(integers=lambda low, high, endpoint, numbers=drawn_numbers: next(numbers))
        assert drawing._near(exercise, base, random) == {"n": found}


def test_three_cases_are_drawn_near_others_and_one_near_the_largest():
    """The largest is the one whose sizes have the greatest sum."""
    exercise = tiny(cases=({"n": 40, "block": 8}, {"n": 8, "block": 64}, {"n": 41, "block": 4}))
    asked = []
    random = SimpleNamespace(
        choice=lambda count, number: asked.append((count, number)) or [0, 2, 0],
        integers=lambda low, high, endpoint: low,
    )
    found = drawing._usual(exercise, random)
    assert asked == [(3, 3)]
    assert found == ({"n": 30, "block": 8}, {"n": 31, "block": 4}, {"n": 30, "block": 8}, {"n": 8, "block": 64})


def test_seeds_of_weak_memory():
    """The first ones for everybody; of a drawn case others, that follow from its number."""
    assert list(drawing.weak_seeds(4, None)) == [0, 1, 2, 3]
    one, same, other = (drawing.weak_seeds(4, secret) for secret in (5, 5, 6))
    assert one == same != other
    assert (len(one), len(set(one)), min(one) >= 0, max(one) < drawing.SEEDS) == (4, 4, True, True)
    assert drawing.weak_seeds(3, 5) != one[:3]
