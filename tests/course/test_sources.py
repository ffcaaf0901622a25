"""The course is consistent: every exercise is complete, every link leads somewhere, and nothing was forgotten."""

import re
from pathlib import Path

import build
import pytest

from gpulab.grading import exercise_ids, load
from gpulab.grading.judge import GENERAL_CAUSES

ROOT = Path(__file__).resolve().parents[2]
EXERCISES = ROOT / "course" / "exercises"
LESSONS = sorted((ROOT / "course" / "lessons").glob("*.md"))
SOURCES = LESSONS + sorted(EXERCISES.glob("*/exercise.md"))
IDS = exercise_ids()
LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(text):
    """The anchors that JupyterLab gives to the headings of a text."""
    return {line.lstrip("# ").strip().replace(" ", "-") for line in text.splitlines() if re.match("#{1,6} ", line)}


def test_there_is_something_to_test():
    assert len(LESSONS) >= 3
    assert len(IDS) >= 4
    assert {path.name for path in EXERCISES.iterdir() if path.is_dir()} == set(IDS)
    assert {job.name for job in build.jobs()} == {path.stem for path in LESSONS} | set(IDS)


@pytest.mark.parametrize("id", IDS)
def test_an_exercise_is_complete(id):
    exercise = load(id)
    folder = EXERCISES / id
    wrong, right = sorted(folder.glob("wrong/*.hip")), sorted(folder.glob("right/*.hip"))
    assert len(wrong) >= 3
    assert len(right) >= 2
    assert len({path.read_text() for path in right}) == len(right)
    known = {cause.name for cause in (*exercise.causes, *GENERAL_CAUSES)}
    expected = {re.match(r"// expected cause: (\S+)\n", path.read_text()).group(1) for path in wrong}
    assert expected <= known
    assert {cause.name for cause in exercise.causes} - expected <= UNTESTED.get(id, set())
    assert len(set(exercise.hints)) == 3
    text = (folder / "exercise.md").read_text()
    assert f'gpulab.check("{id}", {exercise.kernel}).require()' in text
    assert f"__global__ void {exercise.kernel}({exercise.signature})" in text
    assert f"About {exercise.minutes} minutes" in text
    sizes = [row["n"] for row in exercise.cases if "n" in row]
    if sizes:
        assert {0, 1} <= set(sizes)
        assert any(row["n"] % row["block"] for row in exercise.cases)
    assert set(exercise.archs) == {"gfx942", "gfx1100"}


UNTESTED: dict[str, set[str]] = {}
"""Causes without a wrong answer of their own (none so far)."""


@pytest.mark.parametrize("id", IDS)
def test_an_exercise_points_to_an_existing_section_and_its_lesson_points_back(id):
    exercise = load(id)
    lesson = (ROOT / "course" / "lessons" / f"{exercise.lesson}.md").read_text()
    assert exercise.section.replace(" ", "-") in anchors(lesson)
    assert f"../exercises/{id}/{id}.ipynb" in lesson


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.parent.name + "/" + path.name)
def test_links_inside_the_course_lead_somewhere(source):
    job = next(job for job in build.jobs() if job.source == source)
    home = ROOT / job.executed.parent
    for link in LINK.findall(re.sub(r"```.*?```", "", source.read_text(), flags=re.S)):
        if re.match(r"https?://", link):
            continue
        path, _, anchor = link.partition("#")
        target = (home / path).resolve()
        assert target.exists(), link
        if anchor:
            sources = {(ROOT / each.executed).resolve(): each.source for each in build.jobs()}
            assert anchor in anchors(sources[target].read_text()), link


@pytest.mark.parametrize("source", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_has_its_parts(source):
    text = source.read_text()
    assert "?" in text.split("```{code-cell}")[0], "it opens with a question"
    assert re.search(r"\*\*[Pp]redict", text)
    assert text.count("<details>") == text.count("</details>") >= 1
    assert "## What you have learned" in text
    assert "**Further reading:**" in text
    assert "https://" in text
    assert not re.search(r"!\[\]\(|<img(?![^>]*alt=)", text), "a picture without alternative text"


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.parent.name + "/" + path.name)
def test_folded_answers_are_shown_as_markdown(source):
    """Without an empty line after the summary, Jupyter shows what follows as raw text."""
    lines = source.read_text().splitlines()
    for number, line in enumerate(lines):
        if line.startswith("<summary>"):
            assert line.endswith("</summary>")
            assert lines[number - 1] == "<details>"
            assert lines[number + 1] == ""


def test_claims_known_to_be_wrong_are_not_repeated():
    """Widely repeated errors that a text about AMD GPUs easily picks up."""
    text = " ".join(" ".join(path.read_text().split()) for path in SOURCES)
    for wrong in ("653", "hipLaunchKernelGGL is", "rocm-smi", "rocprof ", "Omniperf", "Omnitrace", "HSAIL", "SIMD64"):
        assert wrong not in text
