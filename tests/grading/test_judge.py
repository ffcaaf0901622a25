"""What the judge concludes and says, with Python functions in place of kernels."""

import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gpulab.errors import CheckError, CompileError
from gpulab.grading import judge as judging
from gpulab.grading import report
from gpulab.grading.bench import WrongSignature
from gpulab.grading.case import Array, Case, Run, Value, combinations, sentinel
from gpulab.grading.causes import causes_of
from gpulab.grading.exercise import Cause, Exercise, Requirement
from gpulab.grading.judge import judge, smaller
from gpulab.grading.judgement import STEADY, Failure, _measured
from gpulab.grading.library import load
from gpulab.grading.submission import cells_run, check, first_line_of, is_outdated, source_of
from gpulab.grading.verdict import Verdict
from gpulab.records import Fault
from tests.grading.fakes import PythonBench


@pytest.fixture(autouse=True)
def own_progress(tmp_path, monkeypatch):
    monkeypatch.setenv("GPULAB_PROGRESS", str(tmp_path / "progress.json"))


def tiny(**changes) -> Exercise:
    """out[i] = 10 i for i < n, in blocks of 8."""

    def make(parameters, random):
        n = parameters["n"]
        return Case(
            parameters,
            (max(1, -(-n // 8)), 1, 1),
            (8, 1, 1),
            (
                Value("n", np.int32(n)),
                Array("x", np.arange(n, dtype="int32") + 1),
                Array("out", sentinel("int32", n), 10 * np.arange(n, dtype="int32")),
            ),
        )

    settings = {
        "id": "tiny", "title": "tens", "lesson": "01_first_kernel", "section": "A section", "kernel": "tens",
        "signature": "int n, const int* x, int* out", "make": make, "cases": combinations(n=(1, 8, 9, 20)),
        "causes": (), "hints": ("a", "b", "c"), "smallest": {"n": 1},
    }  # fmt: skip
    return Exercise(**{**settings, **changes})


def right(thread, n, x, out):
    if thread.number < n:
        out[thread.number] = 10 * thread.number


def test_right_answer_passes_on_both_architectures_and_says_what_was_tried():
    bench = PythonBench(right)
    verdict = judge(tiny(), "source", bench)
    assert verdict.passed
    assert bool(verdict)
    assert "8 runs on gfx942 (wave64) and gfx1100 (wave32) with n = 1, 8, 9, 20" in verdict.text
    # four sizes, each tight and guarded, on each of two architectures
    assert [len(kernel.launches) for kernel in bench.prepared] == [8, 8]


@pytest.mark.parametrize(
    ("index", "size", "said"),
    [
        (0, 16, "read in[0] to in[3] at once, but in ends at in[1]"),
        (2, 4, "read in[2], but in ends at in[1]"),
        (-2, 8, "read in[-2] to in[-1] at once, but in begins at in[0]"),
    ],
)
def test_a_wide_access_is_told_by_all_its_elements(index, size, said):
    fault = Fault("out of bounds", "k", None, "global_load", (0, 0, 0), 0, 0, (5, 0, 0), 0x1000, size, "read")
    array = Array("in", np.zeros(2, "float32"))
    case = SimpleNamespace(array=lambda name: array)
    text = report._fault_text(SimpleNamespace(fault=fault, case=case, faulting_index=lambda: ("in", index)))
    assert text == f"thread 5 of block 0 {said}"


def test_write_past_the_end_is_found_with_thread_line_and_index():
    def no_guard(thread, n, x, out):
        out[thread.number] = 10 * thread.number

    verdict = judge(tiny(), "source", PythonBench(no_guard))
    assert verdict.status == "fault"
    assert verdict.smallest == {"n": 1}
    assert "thread 1 of block 0 wrote out[1], but out ends at out[0]" in verdict.text
    assert "line          3: the line" in verdict.text
    assert "the kernel wrote out[1], out[2], out[3], out[4] and 3 more, but out ends at out[0]" in verdict.text


def test_read_before_the_start_is_found():
    def reads_before(thread, n, x, out):
        if thread.number < n:
            x[thread.number - 1]
            out[thread.number] = 10 * thread.number

    verdict = judge(tiny(), "source", PythonBench(reads_before))
    assert "thread 0 of block 0 read x[-1], but x begins at x[0]" in verdict.text


def test_failing_input_is_made_as_small_as_it_goes():
    def wrong_from_five(thread, n, x, out):
        if thread.number < n:
            out[thread.number] = 10 * thread.number + (n >= 5)

    verdict = judge(tiny(), "source", PythonBench(wrong_from_five))
    assert verdict.smallest == {"n": 5}
    assert "n = 5; grid of 1 block, 8 threads each" in verdict.text
    assert "(the smallest input found)" in " ".join(verdict.text.split())


def test_without_an_explanation_the_first_failing_case_is_reported_with_the_same_cause():
    def changes_input(thread, n, x, out):
        right(thread, n, x, out)
        if n >= 5 and thread.number < n:
            x[thread.number] = 0

    bench = PythonBench(changes_input)
    verdict = judge(tiny(), "source", bench, explained=False)
    assert (verdict.status, verdict.cause) == ("wrong", "changed-input")
    assert verdict.smallest == {"n": 8}  # the second of the cases
    assert verdict.case is None
    assert "the smallest input found" not in verdict.text
    # n = 1 on both, then n = 8 on the first alone; each tight and guarded
    assert [len(kernel.launches) for kernel in bench.prepared] == [4, 2]
    explained = judge(tiny(), "source", PythonBench(changes_input))
    assert (explained.cause, explained.smallest) == ("changed-input", {"n": 5})
    assert explained.case is not None


def test_shrinking_keeps_to_the_same_cause():
    """A different mistake at a smaller input must not replace the one that is explained."""
    causes = (
        Cause("all-ones", "ones", lambda o: bool((o.found("out") == 1).all()), "why", "next"),
        Cause("all-twos", "twos", lambda o: bool((o.found("out") == 2).all()), "why", "next"),
    )

    def two_mistakes(thread, n, x, out):
        if thread.number < n:
            out[thread.number] = 1 if n >= 20 else (2 if n == 4 else 10 * thread.number)

    verdict = judge(tiny(causes=causes), "source", PythonBench(two_mistakes))
    assert verdict.cause == "all-ones"
    assert verdict.smallest == {"n": 20}


def test_elements_never_written_are_called_so_with_their_owner():
    def leaves_out_last(thread, n, x, out):
        if thread.number < n - 1:
            out[thread.number] = 10 * thread.number

    verdict = judge(tiny(cases=({"n": 10},), smallest={"n": 10}), "source", PythonBench(leaves_out_last))
    assert "1 of 10 elements of out" in verdict.text
    given = tiny().case({"n": 10}).array("x").data[9]
    assert f"out[9]   x[9] = {given:g}" in verdict.text
    assert "  90        never written  thread 1 of block 1" in verdict.text


def test_sentinel_as_a_result_is_not_right_even_if_expected_elsewhere():
    """An output that is never written fails, even for a single element."""
    verdict = judge(tiny(cases=({"n": 8},)), "source", PythonBench(lambda thread, n, x, out: None))
    assert verdict.cause == "nothing-written"
    assert not verdict.passed


def test_a_copy_from_beyond_one_array_to_beyond_another_is_seen():
    def copies_all(thread, n, x, out):
        out[thread.number] = 10 * thread.number if thread.number < n else x[thread.number]

    verdict = judge(tiny(cases=({"n": 3},)), "source", PythonBench(copies_all))
    assert "the kernel wrote out[1]" in verdict.text


def test_changed_input_is_refused_even_if_the_output_is_right():
    def writes_input(thread, n, x, out):
        right(thread, n, x, out)
        if thread.number < n:
            x[thread.number] = 0

    verdict = judge(tiny(), "source", PythonBench(writes_input))
    assert verdict.cause == "changed-input"
    assert "1 of 1 element of x" in verdict.text


def test_architecture_dependent_answer_names_the_one_that_fails():
    def wrong(thread, n, x, out):
        if thread.number < n:
            out[thread.number] = 5

    verdict = judge(tiny(), "source", PythonBench(right, gfx1100=wrong))
    assert "on gfx1100 (wave32)" in verdict.text
    assert "gfx942 (wave64) the same input passes" in verdict.text


def test_endless_loop_is_named():
    def endless(thread, n, x, out):
        raise TimeoutError

    verdict = judge(tiny(), "source", PythonBench(endless))
    assert verdict.cause == "never-ends"
    assert verdict.status == "fault"


def test_a_launch_at_the_limit_misses_what_is_asked_of_its_speed():
    def forever(thread, n, x, out):
        if n == 20:
            raise TimeoutError
        right(thread, n, x, out)

    fast = Requirement("fast", "it is fast", lambda outcome: "", when=lambda case: case.parameters["n"] == 20,
                       shrinks=False, of_speed=True)  # fmt: skip
    limit = lambda case: 1000 * case.parameters["n"]  # noqa: E731
    bench = PythonBench(forever)
    verdict = judge(tiny(requirements=(fast,), instruction_limit=limit), "source", bench)
    assert (verdict.status, verdict.cause) == ("requirement", "fast")
    text = " ".join(verdict.text.split())
    assert "reached the limit of 20,000 instructions" in text
    assert "n = 20" in text
    assert "smallest input found" not in text
    # three sizes, each tight and guarded, on two architectures; the fourth once on each, as it says the same again
    assert [len(kernel.launches) for kernel in bench.prepared] == [7, 7]
    # where nothing is asked of the speed, it is a loop that does not end
    assert judge(tiny(), "source", PythonBench(forever)).cause == "never-ends"


def test_a_requirement_that_fails_on_a_run_that_went_wrong_says_what_went_wrong():
    """Where the run that is measured was right, the fault is the requirement's."""

    def breaks(outcome):
        raise ZeroDivisionError("no launches")

    asked = Requirement("few", "few", breaks)
    outcome = SimpleNamespace(
        unsteady="the run that is measured was stopped", case=SimpleNamespace(text=lambda: "n = 5")
    )
    assert _measured(tiny(), outcome, asked) == outcome.unsteady
    outcome.unsteady = ""
    with pytest.raises(CheckError) as error:
        _measured(tiny(), outcome, asked)
    assert error.value.what == (
        "The requirement 'few' of exercise 'tiny' failed on n = 5: ZeroDivisionError: no launches"
    )


def test_what_a_failure_keeps_while_its_input_becomes_smaller():
    few = Requirement("few", "at most 8 elements", lambda outcome: "")
    cause = causes_of(tiny())[0]
    assert Failure(None, None, few).key == "requirement few"
    assert Failure(None, cause).key == f"cause {cause.name}"
    assert Failure(None, None).key == "unrecognised"
    assert (few.shrinks, STEADY.shrinks) == (True, False)


def test_requirement_beyond_output():
    strict = Requirement(
        "few", "at most 8 elements", lambda o: "9 is more than 8" if o.case.parameters["n"] > 8 else ""
    )
    verdict = judge(tiny(requirements=(strict,)), "source", PythonBench(right))
    assert (verdict.status, verdict.cause, verdict.smallest) == ("requirement", "few", {"n": 9})
    assert "9 is more than 8" in verdict.text
    passing = judge(tiny(requirements=(strict,), cases=({"n": 8},)), "source", PythonBench(right))
    assert "at most 8 elements" in passing.text


def test_compile_error_and_wrong_signature_are_reports_not_exceptions():
    class Refuses(PythonBench):
        def __init__(self, error):
            super().__init__(None)
            self.error = error

        def prepare(self, source, exercise, arch, first_line=1):
            raise self.error

    verdict = judge(tiny(), "source", Refuses(CompileError("cell line 2: expected ';'")))
    assert verdict.status == "does not compile"
    assert "cell line 2: expected ';'" in verdict.text
    verdict = judge(tiny(), "source", Refuses(WrongSignature("the source has mens")))
    assert verdict.status == "wrong signature"
    assert "the source has mens" in verdict.text


def test_a_broken_diagnosis_blames_the_exercise():
    broken = Cause("broken", "t", lambda o: 1 // 0 == 0, "w", "n")
    with pytest.raises(CheckError, match="diagnosis 'broken' of exercise 'tiny'"):
        judge(tiny(causes=(broken,)), "source", PythonBench(lambda *a: None))


def test_the_same_parameters_always_give_the_same_distinct_data():
    exercise = load("saxpy-guard")
    first, second = (
        exercise.case({"n": 100, "block": 32, "spare blocks": 0}),
        exercise.case({"n": 100, "block": 32, "spare blocks": 0}),
    )
    assert np.array_equal(first.array("x").data, second.array("x").data)
    assert len(np.unique(first.array("x").data)) == 100
    assert not np.array_equal(first.array("x").data, first.array("y").data)
    assert not np.array_equal(
        first.array("x").data, exercise.case({"n": 100, "block": 64, "spare blocks": 0}).array("x").data
    )


def test_smaller_inputs_stay_above_the_floor():
    """First the smallest and three more, then an eighth, half, and one less; each kind for all parameters."""
    found = [(row["n"], row["m"]) for row in smaller({"n": 100, "m": 20, "block": 8}, {"n": 2, "m": 1})]
    assert found == [
        (2, 20), (100, 1), (3, 20), (100, 2), (4, 20), (100, 3), (5, 20), (100, 4), (12, 20), (50, 20), (100, 10),
        (99, 20), (100, 19),
    ]  # fmt: skip
    assert list(smaller({"n": 4}, {"n": 2})) == [{"n": 2}, {"n": 3}]
    assert list(smaller({"n": 2}, {"n": 2})) == list(smaller({"n": 9}, {})) == []


@pytest.mark.parametrize(("most", "found"), [(6, 40), (7, 39), (13, 38)])
def test_so_many_smaller_inputs_are_tried(monkeypatch, most, found):
    """Of 40: 1, 2, 3, 4, 5, 20 and 39, which fails as well; of 39: 1, 2, 3, 4, 19 and 38."""

    def wrong_from_21(thread, n, x, out):
        if thread.number < n:
            out[thread.number] = 10 * thread.number + (n >= 21)

    assert (judging.SHRINK_LAUNCHES, judging.WEAK_LIMIT, judging.VISIBLE) == (60, 16384, 10)
    monkeypatch.setattr(judging, "SHRINK_LAUNCHES", most)
    verdict = judge(tiny(cases=({"n": 40},)), "source", PythonBench(wrong_from_21))
    assert verdict.smallest == {"n": found}
    assert ("(the smallest input found)" in " ".join(verdict.text.split())) is (found < 40)


def recording(faults=(), after=None):
    """A kernel that keeps what it is asked to run; its runs have these kinds of faults one after the other."""
    calls, left = [], iter(faults)

    def run(case, buffers, limit, checked=False, wanted=None, profiled=False, weak=None):
        calls.append(([(each.array.name, each.guard, each.number) for each in buffers], limit, checked, wanted,
                      profiled, weak))  # fmt: skip
        kind = next(left, "")
        fault = None if not kind else Fault(kind, "k", None, "x", (0, 0, 0), 0, None, None)
        results = {}
        for each in buffers:
            data = each.contents.copy()
            if each.array.is_output:
                data[each.guard : each.guard + each.array.data.size] = each.array.expected.reshape(-1)
            results[each.array.name] = after(data, weak) if after is not None else data
        return Run(results, fault)

    return SimpleNamespace(run=run, arch="gfx942", wave_size=64, calls=calls, resources={}, isa={}, unset=())


@pytest.mark.parametrize(("n", "guard"), [(0, 64), (64, 64), (65, 72), (1 << 16, 1 << 16), ((1 << 16) + 1, 1 << 16)])
def test_a_case_runs_tightly_then_with_guards(n, guard):
    """As many guard elements as threads, 64 at least and 65,536 at most; the tight run is a checked one."""
    exercise, kernel = tiny(instruction_limit=500), recording()
    outcome = judging.run_case(exercise, kernel, "source", exercise.case({"n": n}))
    assert kernel.calls == [
        ([("x", 0, 0), ("out", 0, 1)], 500, True, None, False, None),
        ([("x", guard, 0), ("out", guard, 1)], 500, False, None, False, None),
    ]
    assert (outcome.guard, outcome.arch, outcome.wave_size, outcome.source, outcome.hidden, outcome.language) == (
        guard, "gfx942", 64, "source", False, "hip"
    )  # fmt: skip
    assert outcome.prepared is kernel
    assert judging.run_case(exercise, recording(), "source", exercise.case({"n": n}), 0).hidden is True


def test_a_case_that_does_not_end_runs_once():
    exercise, kernel = tiny(), recording(["timeout"])
    outcome = judging.run_case(exercise, kernel, "source", exercise.case({"n": 3}), 5)
    assert (len(kernel.calls), outcome.tight is outcome.guarded, outcome.guard, outcome.hidden) == (1, True, 0, True)
    other = recording(["out of bounds"])
    judging.run_case(exercise, other, "source", exercise.case({"n": 3}))
    assert len(other.calls) == 2


def test_writers_are_asked_for_where_a_requirement_watches_them():
    watch = Requirement("w", "w", lambda seen: "", watches=True, when=lambda case: case.parameters["n"] == 3)
    exercise = tiny(requirements=(Requirement("few", "few", lambda seen: ""), watch))
    for n, wanted in ((3, {"out": range(3)}), (4, None)):
        kernel = recording()
        judging.run_case(exercise, kernel, "source", exercise.case({"n": n}))
        assert [call[3] for call in kernel.calls] == [wanted, None]


@pytest.mark.parametrize(
    ("faults", "wrong_from", "seeds", "found"),
    [
        ([], 99, [0, 1, 2], None), ([], 1, [0, 1], 1), ([], 0, [0], 0), (["race"], 99, [0, 1, 2], None),
        (["barrier"], 99, [], None), (["", "", "", "timeout"], 99, [0, 1], 1),
    ],
)  # fmt: skip
def test_runs_on_weak_memory_follow_a_right_one(faults, wrong_from, seeds, found):
    """Until one is wrong or has a fault; each for 16,384 instructions of a wave at most."""

    def after(data, weak):
        return data + 1 if weak is not None and weak >= wrong_from else data

    exercise = tiny(instruction_limit=20_000)
    case = replace(exercise.case({"n": 3}), weak=3)
    kernel = recording(faults, after)
    outcome = judging.run_case(exercise, kernel, "source", case)
    assert [call[5] for call in kernel.calls[2:]] == seeds
    assert {call[1:5] for call in kernel.calls[2:]} <= {(16384, False, None, False)}
    assert (None if outcome.weak is None else outcome.weak.seed) == found


@pytest.mark.parametrize(
    ("shapes", "large"),
    [
        ([(9,)], False), ([(10,)], True), ([(2, 8)], False), ([(8, 2)], False), ([(3, 4)], True), ([(3, 3)], False),
        ([(1, 2, 5)], True), ([(2,), (12,)], True), ([], False),
    ],
)  # fmt: skip
def test_a_case_that_shows_a_pattern(shapes, large):
    """Ten elements; an image has three rows and columns, too."""
    outputs = tuple(Array("o", sentinel("int32", shape), np.zeros(shape, "int32")) for shape in shapes)
    case = Case({}, (1, 1, 1), (1, 1, 1), (*outputs, Array("x", np.zeros(99, "int32"))))
    assert judging._large(case) is large


@pytest.mark.parametrize(
    ("cases", "first", "smallest", "tried", "drawn"),
    [
        ((20,), 20, 12, [], 12),  # large enough as it is
        ((20,), 20, 1, [10], 10),  # the first that failed, as small as it goes
        ((9, 40, 20), 9, 1, [40, 20, 20, 10], 10),  # another case of the exercise, the first that fails
        ((9, 30, 40, 50, 60), 9, 1, [30, 40, 50, 20, 10], 10),  # of three; 30 is right
        ((9, 30), 9, 1, [30], 1),
        ((9,), 9, 1, [], 1),
    ],
)
def test_the_failure_that_is_drawn(cases, first, smallest, tried, drawn):
    """The smallest that has ten elements or more."""
    exercise = tiny(cases=tuple({"n": n} for n in cases), causes=(Cause("own", "t", lambda seen: True, "why", "next"),))
    sizes = []

    def run(case, buffers, limit, *more):
        sizes.append(case.parameters["n"])
        results = {}
        for each in buffers:
            data = each.contents.copy()
            if each.array.is_output:
                data[each.guard : each.guard + each.array.data.size] = each.array.expected + (sizes[-1] != 30)
            results[each.array.name] = data
        return Run(results)

    kernel = SimpleNamespace(run=run, arch="gfx942", wave_size=64, resources={}, isa={}, unset=())
    one, other = (
        judging.examine(exercise, judging.run_case(exercise, kernel, "source", exercise.case({"n": n})))
        for n in (first, smallest)
    )
    sizes.clear()
    found = judging.visible(exercise, kernel, "source", one, other)
    assert sizes[::2] == sizes[1::2] == tried
    assert found.outcome.case.parameters == {"n": drawn}
    assert (found is other) is (drawn == smallest)


def test_source_is_found_in_what_a_learner_passes():
    class Module:
        source = "__global__ void k() {}"

    class Kernel:
        module = Module()

    assert source_of("x", "text") == "text"
    assert source_of("x", Module()) == Module.source
    assert source_of("x", Kernel()) == Module.source
    with pytest.raises(CheckError, match="run the %%hip cell"):
        source_of("x", 5)


KERNEL = "__global__ void k() {}"


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        (SimpleNamespace(source=KERNEL, _code=SimpleNamespace(first_line=2)), 2),
        (SimpleNamespace(code=SimpleNamespace(source=KERNEL)), 1),
        (SimpleNamespace(source=" ", module=SimpleNamespace(source=KERNEL, _code=SimpleNamespace(first_line=3))), 3),
        (SimpleNamespace(module=SimpleNamespace(code=SimpleNamespace(source=KERNEL), _code=None)), 1),
        (SimpleNamespace(source=KERNEL, _code=SimpleNamespace(first_line="2")), 1), (KERNEL, 1),
    ],
)  # fmt: skip
def test_where_a_source_and_its_first_line_stand(answer, line):
    assert (source_of("x", answer), first_line_of(answer)) == (KERNEL, line)


@pytest.mark.parametrize("answer", [SimpleNamespace(source=""), SimpleNamespace(source=3, code=None), 5])
def test_what_has_no_source_is_refused(answer):
    with pytest.raises(CheckError) as error:
        source_of("x", answer)
    kind = type(answer).__name__
    assert error.value.what == f"There is no kernel source in what was given to gpulab.check('x', ...): {kind}."
    hint = "run the %%hip cell with your kernel first, then gpulab.check('x', name_of_your_kernel); "
    assert error.value.hint == f"{hint}a program gets its name by %%hipcc --name my_program."


def test_cells_that_were_run(monkeypatch):
    for shell, found in (
        (None, []), (SimpleNamespace(history_manager=None), []),
        (SimpleNamespace(history_manager=SimpleNamespace(input_hist_raw=["", "a = 1"])), ["", "a = 1"]),
    ):  # fmt: skip
        monkeypatch.setattr("IPython.get_ipython", lambda shell=shell: shell)
        assert cells_run() == found
    monkeypatch.delitem(sys.modules, "IPython")
    assert cells_run() == []


def test_what_check_adds_to_a_verdict(monkeypatch):
    """A row above it on a kernel whose last cell is another one, a row below it on the learner's file."""
    asked = []

    def judged(exercise, source, first_line, bench, seed):
        asked.append((exercise.id, source, first_line, bench, seed))
        return Verdict("first-fill", "wrong", "Not yet", (report.VerdictRow("wrong", "all"),), "own")

    def record(*attempt):
        asked.append(attempt)
        return "the file cannot be written"

    monkeypatch.setattr("gpulab.grading.submission.judged", judged)
    monkeypatch.setattr("gpulab.grading.submission.record_attempt", record)
    cells = ["%%hip\nvoid fill() {}", "%%hip\nvoid fill() { oops }"]
    monkeypatch.setattr("gpulab.grading.submission.cells_run", lambda: cells)
    old = SimpleNamespace(source="void fill() {}", _code=SimpleNamespace(first_line=2))
    bench = object()
    found = check("first-fill", old, bench=bench, seed=7)
    assert found.rows == (report.outdated("fill"), report.VerdictRow("wrong", "all"),
                          report.progress("the file cannot be written"))  # fmt: skip
    assert asked == [("first-fill", old.source, 2, bench, 7), ("first-fill", False, "own")]
    assert [row.label for row in check("first-fill", old.source, record=False).rows] == ["wrong"]
    assert asked[2:] == [("first-fill", old.source, 1, None, None)]
    for verdict, noted in (
        (Verdict("first-fill", "passed", "Passed", (), "own"), (True, "")),
        (Verdict("first-fill", "fault", "Not yet"), (False, "fault")),
    ):
        monkeypatch.setattr("gpulab.grading.submission.judged", lambda *a, seed, verdict=verdict: verdict)
        check("first-fill", old.source)
        assert asked[-1] == ("first-fill", *noted)
    monkeypatch.setattr("gpulab.grading.submission.record_attempt", lambda *attempt: "")
    assert check("first-fill", old.source) is verdict


def test_the_name_of_a_kernel_as_a_text_is_no_answer():
    with pytest.raises(CheckError) as error:
        check("first-fill", " fill\n")
    assert (
        error.value.what
        == "gpulab.check('first-fill', ' fill\\n'): this is the kernel's name as a text, not the kernel."
    )
    assert error.value.hint == "write it without quotation marks: gpulab.check('first-fill', fill)."


def test_a_kernel_is_outdated_when_a_later_cell_with_it_differs():
    old, new = "__global__ void fill(int n) { }\n", "__global__ void fill(int n) { oops }\n"
    assert not is_outdated(old, "fill", [])
    assert not is_outdated(old, "fill", ["%%hip\n" + old, "fill[1, 1](3)"])
    assert is_outdated(old, "fill", ["%%hip\n" + old, "%%hip\n" + new, "gpulab.check('x', fill)"])
    assert not is_outdated(new, "fill", ["%%hip\n" + old, "%%hip\n" + new])
    assert not is_outdated(old, "fill", ["%%hip\n" + old, "%%hip\n__global__ void refill(int n) { }"])
    assert not is_outdated(old, "fill", ["%%hip\n" + old, "print('fill (')"])
    assert is_outdated(old, "fill", ["%%hip\n" + old, "\n%%cuda\n" + new.replace("fill(", "fill (")])


def test_unknown_exercise_names_near_ones():
    with pytest.raises(CheckError, match="did you mean 'saxpy-guard'"):
        check("saxpy_gaurd", "source")


def test_check_notes_the_attempt():
    from gpulab.grading import progress

    def fill(thread, n, value, out):
        if thread.number < n:
            out[thread.number] = value

    check("first-fill", "source", bench=PythonBench(lambda *a: None))
    assert progress().exercises["first-fill"].solved is False
    verdict = check("first-fill", "source", bench=PythonBench(fill))
    assert isinstance(verdict, Verdict)
    assert verdict.passed
    done = progress().exercises["first-fill"]
    assert (done.solved, done.attempts) == (True, 2)
    check("first-fill", "source", bench=PythonBench(lambda *a: None))
    assert progress().exercises["first-fill"].solved is True
