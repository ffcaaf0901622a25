"""Released exercises are nbgrader assignments: nbgrader itself makes the same ones, validates and grades them."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import build
import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
RELEASED = [job for job in build.jobs() if job.released is not None]
MARK = "    // YOUR CODE HERE\n"


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course folder with nbgrader's settings of this course and all solutions, not executed."""
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    shutil.copytree(ROOT / "course", tmp_path / "course", ignore=shutil.ignore_patterns("__pycache__"))
    for job in RELEASED:
        target = tmp_path / job.executed
        target.parent.mkdir(parents=True)
        target.write_text(build.text_of(build.read(job)))
        for path in job.assets:
            shutil.copy(path, target.parent)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GPULAB_COURSE", str(ROOT / "course"))
    # nbgrader starts alembic by name
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    return tmp_path


def released(job):
    """Where nbgrader puts what students get."""
    return Path("release", *job.released.parts[1:])


def without_links(cell):
    """A cell's text, without what is done to links."""
    text = re.sub(r"\[([^][]*)\]\(\.\./[^)]*\)", r"\1", cell.source)
    return re.sub(r" \(“[^”]*”\)", "", text) if cell.cell_type == "markdown" else text


def nbgrader(*arguments):
    """Runs an nbgrader command as instructors do; returns its exit code and output."""
    command = [sys.executable, "-m", "nbgrader", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, done.stdout + done.stderr


def test_nbgrader_generates_the_same_releases(course):
    code, output = nbgrader("generate_assignment", "--assignment=*", "--no-db", "--force")
    assert code == 0, output
    assert not (course / "gradebook.db").exists()
    for job in RELEASED:
        made = nbformat.read(course / released(job), as_version=4)
        ours = nbformat.read(ROOT / job.released, as_version=4)
        assert [(cell.id, without_links(cell), cell.metadata) for cell in made.cells] == [
            (cell.id, without_links(cell), cell.metadata) for cell in ours.cells
        ]
        text = "\n".join(cell.source for cell in made.cells if cell.cell_type == "markdown")
        assert "](.." not in text
        for path in re.findall(r"\]\((?!https?://|#)([^)]*)\)", text):
            assert (course / released(job)).with_name(path).is_file(), "a picture that is not released"


@pytest.mark.parametrize("job", RELEASED, ids=lambda job: job.name)
def test_solution_validates_and_release_does_not(job, quick_kernels, monkeypatch):
    from nbgrader.validator import Validator

    found = []
    for path in (job.executed, job.released):
        monkeypatch.chdir((ROOT / path).parent)
        found.append(Validator().validate(str(ROOT / path)))
    solution, release = found
    assert solution == {}
    failed = release["failed"]
    assert len(failed) == 1
    assert f"{job.name}: not solved yet" in failed[0]["error"]
    assert "NameError" not in failed[0]["error"]


def test_autograde_gives_points_to_a_right_answer_and_none_to_an_empty_or_broken_one(course, quick_kernels):
    """One batch: a right kernel, the same with a cell copied, an untouched release, one that does not compile, no
    notebook at all; and once more, after the assignment was made a second time."""
    job = next(job for job in RELEASED if job.name == "first-fill")
    for _ in range(2):
        code, output = nbgrader("generate_assignment", job.name)
        assert code == 0, output
    right = "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) out[i] = value;\n"
    answers = {"broken": "    int i = \n", "copied": right, "right": right, "untouched": MARK}
    for student, answer in answers.items():
        notebook = nbformat.read(course / released(job), as_version=4)
        for cell in list(notebook.cells):
            if MARK in cell.source:
                cell.source = cell.source.replace(MARK, answer)
            if student == "copied" and "nbgrader" in cell.metadata:
                notebook.cells.insert(notebook.cells.index(cell), nbformat.from_dict({**cell, "id": f"{cell.id}-2"}))
        target = course / "submitted" / student / job.name / job.released.name
        target.parent.mkdir(parents=True)
        nbformat.write(notebook, target)
    empty = course / "submitted" / "empty" / job.name / job.released.name
    empty.parent.mkdir(parents=True)
    empty.touch()
    code, output = nbgrader("autograde", job.name, "--create")
    assert "empty" in output
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        scores = {student: gradebook.find_submission(job.name, student).score for student in answers}
        assert gradebook.find_assignment(job.name).max_score == 1
    assert scores == {"right": 1, "copied": 1, "untouched": 0, "broken": 0}


def test_the_settings_work_in_a_folder_that_has_nothing_else(tmp_path, monkeypatch):
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    code, output = nbgrader("generate_assignment", "saxpy-guard")
    assert code == 0, output
    made = nbformat.read(tmp_path / "release" / "saxpy-guard" / "saxpy-guard.ipynb", as_version=4)
    assert any(MARK in cell.source for cell in made.cells)
    assert "Belongs to lesson 02 (“The guard”)." in made.cells[0].source
    code, output = nbgrader("generate_assignment", "port-checks", "--MendLinks.lessons=../mine/notebooks/")
    assert code == 0, output
    made = nbformat.read(tmp_path / "release" / "port-checks" / "port-checks.ipynb", as_version=4)
    links = re.findall(r"\[lesson \d+\]\(([^)]*)\)", made.cells[0].source)
    assert links
    assert all(link.startswith("../mine/notebooks/1") for link in links)
    assert (tmp_path / "release" / "port-checks" / "port-checks.svg").is_file(), "its picture"
    assert (tmp_path / "gradebook.db").is_file()


def test_answers_cannot_be_given_away_by_a_release():
    for job in RELEASED:
        text = (ROOT / job.released).read_text()
        assert "SOLUTION" not in text
        source = job.source.read_text()
        region = re.compile(r"// BEGIN SOLUTION\n(.*?)// END SOLUTION", re.S)
        given = region.sub("", source)  # a program to be ported stands in the text, and has lines of the solution
        for lines in region.findall(source):
            for line in lines.splitlines():
                if len(line.strip()) > 12 and line.strip() not in given:
                    assert line.strip() not in text
