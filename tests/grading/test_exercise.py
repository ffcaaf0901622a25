"""What an exercise is: its fields as docs/exercises.md lists them, cases as plain data, and what malformed ones say."""

from __future__ import annotations

import dataclasses
import pickle
import re
import zlib
from pathlib import Path

import numpy as np
import pytest

from gpulab.errors import CheckError
from gpulab.grading.answers import WrongAnswer, wrong_answer
from gpulab.grading.bench import Prepared
from gpulab.grading.case import Array, Asked, Case, Run, Step, Value, sentinel
from gpulab.grading.exercise import Exercise
from gpulab.grading.gpu_bench import GpuBench
from gpulab.grading.judge import judge
from gpulab.grading.library import load
from gpulab.grading.program import ProgramExercise
from tests.grading.test_judge import tiny

DOCS = Path(__file__).resolve().parents[2] / "docs" / "exercises.md"


def listed(heading: str) -> dict[str, str]:
    """The fields of a section's table: name -> default."""
    section = DOCS.read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return dict(re.findall(r"^\| `(\w+)` \|([^|\n]*)\|", section, re.M))


@pytest.mark.parametrize(
    ("heading", "kind", "elsewhere"),
    [
        ("Exercise", Exercise, ()),
        ("Case", Case, ()),
        ("ProgramExercise", ProgramExercise, ("id", "title", "lesson", "section", "causes", "hints", "requirements",
                                              "archs")),
    ],
)  # fmt: skip
def test_the_page_lists_all_fields_and_says_which_may_be_left_out(heading, kind, elsewhere):
    found = listed(heading)
    fields = {field.name: field for field in dataclasses.fields(kind)}
    assert set(found) == set(fields) - set(elsewhere)
    for name, default in found.items():
        needed = all(value is dataclasses.MISSING for value in (fields[name].default, fields[name].default_factory))
        if kind is not Case:  # of a case, what is left out depends on its steps
            assert bool(default.strip()) != needed, name
        if isinstance(fields[name].default, (bool, str)):
            assert default.strip() == (str(fields[name].default) or '""'), name
        elif isinstance(fields[name].default, (int, float)):
            assert default.strip() == f"{fields[name].default:,.0f}", name


def test_the_page_lists_the_fields_of_a_wrong_answer():
    """Beside those of `WrongAnswer` that a file says by its folder and its table's name."""
    section = DOCS.read_text(encoding="utf-8").split("\n## wrong.toml\n")[1]
    names = set(re.findall(r"^\| `(\w+)` \|", section, re.M))
    fields = {field.name for field in dataclasses.fields(WrongAnswer)}
    assert names == fields - {"exercise", "name", "source"} | {"edit", "text"}


def test_what_a_bench_is_asked_for():
    """All ways in which the cases launch each kernel, as plain data."""

    def make(parameters, random):
        n = parameters["n"]
        arguments = (Value("n", np.int32(n)), Array("x", np.zeros(n, "float32")), Array("y", sentinel("uint8", n)))
        steps = (Step("one", (1, 1, 1), (n, 1, 1), ("n", "x")), Step("two", (1, 1, 1), (1, 1, 1), ("x", "y")[:n]))
        return Case(parameters, arguments=arguments, steps=steps)

    signatures = {"one": "int n, float* x", "two": "float* x, uchar* y"}
    asked = tiny(make=make, signature="", signatures=signatures, kernel="one", cases=({"n": 1}, {"n": 2})).asked()
    assert asked == pickle.loads(pickle.dumps(asked))
    assert asked.kernels["one"].passed == (((False, "int32"), (True, "float32")),)
    assert asked.kernels["two"].passed == (((True, "float32"),), ((True, "float32"), (True, "uint8")))
    assert asked.kernels["two"].start == "__global__ void two(float* x, uchar* y)"


def test_a_step_that_passes_what_its_case_does_not_have_is_refused():
    def make(parameters, random):
        return Case(parameters, steps=(Step("tens", (1, 1, 1), (1, 1, 1), ("nobody",)),))

    with pytest.raises(CheckError, match="passes 'nobody', which is no argument of its case"):
        tiny(make=make, signature="", signatures={"tens": ""}).asked()


class Pickled:
    """A bench and its kernels behind a wall that only plain data passes, as that of another process."""

    def __init__(self, behind: Prepared | None = None) -> None:
        self._behind = behind

    def prepare(self, source: str, asked: Asked, arch: str, first_line: int = 1) -> Pickled:
        again = pickle.loads(pickle.dumps((source, asked, arch, first_line)))
        return Pickled(GpuBench().prepare(*again))

    def run(self, *arguments: object, **more: object) -> Run:
        assert self._behind is not None
        given, named = pickle.loads(pickle.dumps((arguments, more)))
        return pickle.loads(pickle.dumps(self._behind.run(*given, **named)))

    def __getattr__(self, name: str) -> object:
        return getattr(self._behind, name)


@pytest.mark.full
@pytest.mark.parametrize(
    ("id", "name"), [("saxpy-guard", "forgets-y"), ("first-fill", "missing-guard"), ("reverse-in-block", "no-barrier")]
)
def test_cases_and_runs_can_be_sent_to_another_process(id, name):
    """The verdict is the same where all that a bench is given and gives back went through pickle."""
    exercise, source = load(id), wrong_answer(id, name).source
    assert isinstance(exercise, Exercise)
    assert judge(exercise, source, Pickled()) == judge(exercise, source, GpuBench())


def test_what_a_source_is_asked_for():
    """Of one kernel as the first case launches it; of several each way in which a case launches them."""

    def make(parameters, random):
        n = parameters["n"]
        arguments = (Value("n", np.int32(n)), Array("x", np.zeros(n, "float32" if n < 5 else "float64")))
        if "steps" not in parameters:
            return Case(parameters, (1, 1, 1), (1, 1, 1), arguments)
        passed = (("a", ("x",)), ("b", ("n", "x")), ("a", ("x",)))
        steps = tuple(Step(name, (1, 1, 1), (1, 1, 1), names) for name, names in passed)
        return Case(parameters, arguments=arguments, steps=steps)

    one = tiny(make=make, cases=({"n": 4}, {"n": 8})).asked()
    assert (one.exercise, one.kernel) == ("tiny", "tens")
    assert one.kernels["tens"].passed == (((False, "int32"), (True, "float32")),)
    assert one.kernels["tens"].parameters == "int n, const int* x, int* out"
    cases = tuple({"n": n, "steps": 3} for n in (4, 8, 2))
    several = tiny(
        make=make, cases=cases, signature="", signatures={"a": "float* x", "b": "int n, float* x"}, kernel="a"
    )
    found = several.asked().kernels
    assert found["a"].passed == (((True, "float32"),), ((True, "float64"),))
    assert found["b"].passed == (((False, "int32"), (True, "float32")), ((False, "int32"), (True, "float64")))
    assert (found["a"].parameters, found["b"].parameters) == ("float* x", "int n, float* x")


def test_the_limit_of_instructions_may_depend_on_the_case():
    case = tiny().case({"n": 8})
    assert tiny().limit(case) == 2_000_000
    assert tiny(instruction_limit=lambda case: 10 * case.parameters["n"]).limit(case) == 80


def test_data_depends_on_parameters_and_the_secret_alone():
    def make(parameters, random):
        return Case(parameters, (1, 1, 1), (1, 1, 1), (Array("x", random.integers(0, 1 << 30, 4).astype("int32")),))

    def data(n=3, secret=None, **changes):
        exercise = tiny(make=make, **changes)
        return tuple(exercise.case({"n": n, "wave": 64}, secret=secret).array("x").data.tolist())

    assert data() == data()
    different = {data(), data(4), data(secret=1), data(secret=2), data(secret=1 << 32), data(id="other")}
    assert len(different) == 6
    waves = tiny(make=make, by_wave=True)
    for given, size, wave in (({}, 0, 64), ({}, 32, 32), ({"wave": 32}, 0, 32), ({"wave": 32}, 64, 64)):
        assert waves.case({"n": 3, **given}, size).parameters == {"n": 3, "wave": wave}
    assert tiny(make=make).case({"n": 3, "wave": 32}, 64).parameters == {"n": 3}


@pytest.mark.parametrize(
    ("secret", "more"), [(None, []), (7, [7, 0]), ((5 << 32) + 7, [7, 5]), (1 << 62, [0, 1 << 30])]
)
def test_data_are_drawn_by_the_id_the_parameters_and_the_halves_of_the_secret(secret, more):
    """The id by its CRC-32."""

    def make(parameters, random):
        return Case(parameters, (1, 1, 1), (1, 1, 1), (Array("x", random.integers(0, 1 << 30, 9)),))

    found = tiny(make=make).case({"n": 3, "block": 8, "wave": 64}, secret=secret).array("x").data
    random = np.random.default_rng([zlib.crc32(b"tiny"), 3, 8, *more])
    assert found.tolist() == random.integers(0, 1 << 30, 9).tolist()


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"id": "Tiny"}, "lower case words joined by hyphens"), ({"id": "a--b"}, "lower case words"),
        ({"hints": ("a", "b")}, "three hints"), ({"hints": ("a", " ", "c")}, "three hints"),
        ({"cases": ()}, "no cases"),
        ({"signature": ""}, "either a signature or signatures"),
        ({"signatures": {"tens": "x"}}, "either a signature or signatures"),
        ({"signature": "", "signatures": {"other": "x"}}, "its kernel tens is not among its signatures"),
    ],
)  # fmt: skip
def test_what_is_not_well_formed(changes, complaint):
    with pytest.raises(CheckError, match=complaint):
        tiny(**changes)
