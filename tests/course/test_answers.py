"""Every wrong answer of the course is rejected with its cause named, every right one passes, on the virtual GPU."""

import re
from pathlib import Path

import build
import nbformat
import pytest

from gpulab.grading import check, load
from gpulab.grading.judge import GENERAL_CAUSES

ROOT = Path(__file__).resolve().parents[2]
EXERCISES = ROOT / "course" / "exercises"
WRONG = sorted(EXERCISES.glob("*/wrong/*.hip"))
RIGHT = sorted(EXERCISES.glob("*/right/*.hip"))


def name(path):
    return f"{path.parents[1].name}/{path.stem}"


def test_there_are_answers():
    assert len(WRONG) >= 15
    assert len(RIGHT) >= 10


@pytest.mark.parametrize("path", WRONG, ids=name)
def test_wrong_answer_is_rejected_with_its_cause(path):
    id, source = path.parents[1].name, path.read_text()
    verdict = check(id, source)
    expected = re.match(r"// expected cause: (\S+)\n", source).group(1)
    assert not verdict.passed
    assert verdict.cause == expected, verdict.text
    title = next(cause.title for cause in (*load(id).causes, *GENERAL_CAUSES) if cause.name == expected)
    text = " ".join(verdict.text.split())
    assert title in text
    assert "fails with" in text
    assert f'gpulab.hint("{id}")' in text
    assert verdict.smallest


@pytest.mark.parametrize("path", RIGHT, ids=name)
def test_right_answer_passes_on_both_architectures(path):
    verdict = check(path.parents[1].name, path.read_text())
    assert verdict.passed, verdict.text
    assert "gfx942 (wave64) and gfx1100 (wave32)" in " ".join(verdict.text.split())


@pytest.mark.parametrize("job", [job for job in build.jobs() if job.released], ids=lambda job: job.name)
def test_released_kernel_compiles_and_fails_because_it_is_empty(job):
    notebook = nbformat.read(ROOT / job.released, as_version=4)
    source = next(cell.source for cell in notebook.cells if "solution" in cell.metadata.get("tags", ()))
    verdict = check(job.name, source.removeprefix("%%hip\n"))
    assert verdict.cause == "nothing-written", verdict.text


def test_reports_are_the_same_every_time():
    path = EXERCISES / "saxpy-guard" / "wrong" / "missing-guard.hip"
    assert check("saxpy-guard", path.read_text()).text == check("saxpy-guard", path.read_text()).text
