"""The versions in pyproject.toml, environment.yml and constraints.txt agree, and packages carry what they need."""

from __future__ import annotations

import importlib.metadata
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PINNED = re.compile(r"^([A-Za-z0-9][\w.-]*)==([\w.]+)(?: ; .*)?$")
EXTRAS = PROJECT["optional-dependencies"]
ALL = PROJECT["dependencies"] + [line for extra in EXTRAS.values() for line in extra]


def constraints() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return dict(line.lower().split("==") for line in lines if line and not line.startswith("#"))


def test_every_package_is_pinned_exactly() -> None:
    assert [line for line in ALL if not PINNED.match(line)] == []


def test_environment_has_the_same_packages() -> None:
    """environment.yml lists exactly the packages that lessons need, then gpulab itself."""
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    parts = environment["dependencies"]
    (pip,) = [part["pip"] for part in parts if isinstance(part, dict)]
    assert [line for line in pip if not line.startswith("--")] == PROJECT["dependencies"]
    assert [line for line in pip if line.startswith("--")] == ["--constraint constraints.txt", "--editable ."]
    (python,) = [part for part in parts if isinstance(part, str) and part.startswith("python=")]
    assert python.removeprefix("python=") in ("3.11", "3.12", "3.13")
    assert PROJECT["requires-python"] == ">=3.11,<3.14"


def test_constraints_agree_with_the_pins() -> None:
    pinned = {m[1].lower(): m[2] for line in ALL if (m := PINNED.match(line))}
    known = constraints()
    assert {name: known.get(name) for name in pinned} == pinned


def test_what_grading_a_class_needs_is_tested_and_not_needed_by_learners() -> None:
    assert set(EXTRAS["class"]) <= set(EXTRAS["test"])
    assert not set(EXTRAS["class"]) & set(PROJECT["dependencies"])


def test_constraints_cover_what_is_installed() -> None:
    """Each package that a pinned one brings along on this machine is in constraints.txt, at the installed version."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    known = {canonicalize_name(name): version for name, version in constraints().items()}
    wanted = PROJECT["dependencies"] + EXTRAS["class"]
    todo = [canonicalize_name(Requirement(line).name) for line in wanted]
    seen: set[str] = set()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        if name not in {"pip", "setuptools"}:
            assert known.get(name) == importlib.metadata.version(name).lower(), name
        for line in importlib.metadata.requires(name) or []:
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                todo.append(canonicalize_name(requirement.name))


def test_reading_notebooks_builds_no_parsers() -> None:
    """jsonschema 4.25 and later import rfc3987_syntax where it is installed, which takes 1.3 s of each process."""
    program = "import sys, nbformat, jupyter_events; sys.exit('lark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_pinned_versions_run_on_the_first_python_of_each_kind() -> None:
    """Debian and others keep the Python that they began with: 3.11.2 refuses a package that needs 3.11.5."""
    from packaging.specifiers import SpecifierSet

    looked_at = 0
    for name in constraints():
        try:
            needed = importlib.metadata.metadata(name).get("Requires-Python")
        except importlib.metadata.PackageNotFoundError:  # of another Python
            continue
        looked_at += 1
        assert SpecifierSet(needed or "").contains("3.11.0"), f"{name} needs Python {needed}"
    assert looked_at > 150


def test_hip_python_only_where_it_has_wheels() -> None:
    from packaging.requirements import Requirement

    (line,) = [line for line in PROJECT["dependencies"] if line.startswith("hip-python")]
    marker = Requirement(line).marker
    assert marker is not None
    assert marker.evaluate({"sys_platform": "linux", "platform_machine": "x86_64"})
    for system, machine in (("linux", "aarch64"), ("darwin", "arm64"), ("win32", "AMD64")):
        assert not marker.evaluate({"sys_platform": system, "platform_machine": machine})


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The learner's and the instructor's wheel, built in a copy of the clone."""
    clone = tmp_path_factory.mktemp("clone")
    for name in ("gpulab", "course", "notebooks", "exercises", "solutions", "docs", "instructor"):
        shutil.copytree(ROOT / name, clone / name, ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "LICENSE-course"):
        shutil.copy(ROOT / name, clone)
    (clone / "build" / "lib" / "gpulab" / "_course").mkdir(parents=True)
    (clone / "build" / "lib" / "gpulab" / "left.py").touch()  # by an earlier build
    found = []
    for folder in (clone, clone / "instructor"):
        code = f"from setuptools import build_meta; build_meta.build_wheel({str(clone / 'out')!r})"
        done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        found += [path for path in (clone / "out").glob("*.whl") if path not in found]
    learners, instructors = found
    return learners, instructors


def packed(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def stored(folder: str) -> set[str]:
    """The files of a folder of the clone, their names relative to it."""
    found = (ROOT / folder).rglob("*")
    return {
        path.relative_to(ROOT / folder).as_posix()
        for path in found
        if path.is_file() and not {"__pycache__", ".ipynb_checkpoints"} & set(path.parts)
    }


def test_the_wheel_carries_headers_and_the_course(wheels: tuple[Path, Path]) -> None:
    """A wheel has every file that gpulab reads while it runs: device headers, C sources, lessons and exercises."""
    files = packed(wheels[0])
    assert "gpulab/left.py" not in files
    entry = next(data for name, data in files.items() if name.endswith("entry_points.txt")).decode()
    assert "gpulab = gpulab.cli:main" in entry
    assert {f"gpulab/{name}" for name in stored("gpulab")} - set(files) == set()
    extension = stored("gpulab/editor/labextension")
    shared = {name.partition(".data/data/share/jupyter/labextensions/")[2] for name in files}
    assert len(extension) >= 6
    assert extension - shared == set(), "where JupyterLab finds the extension"
    for part in ("notebooks", "exercises"):
        assert {f"gpulab/_course/learners/{part}/{name}" for name in stored(part)} - set(files) == set()
    projects = {
        f"gpulab/_course/learners/projects/{name}" for name in stored("course/projects") if "build/" not in name
    }
    assert len(projects) >= 8
    assert projects - set(files) == set()
    known = {f"gpulab/_course/exercises/{name}" for name in stored("course/exercises") if name.endswith("/check.py")}
    assert len(known) > 50
    assert known - set(files) == set()


def test_the_wheel_of_learners_has_no_answers(wheels: tuple[Path, Path]) -> None:
    """Neither files of answers nor a line of a solution that is not in the exercise's text as well."""
    files = {name: data for name, data in packed(wheels[0]).items() if "/_course/" in name}
    projects = {f"gpulab/_course/learners/projects/{name}" for name in stored("course/projects")}
    hip = {name for name in files if name.endswith(".hip")}
    assert hip <= projects
    assert [name for name in files if name.endswith((".toml", "exercise.md")) or "/solutions/" in name] == []
    region = re.compile(r"// BEGIN SOLUTION\n(.*?)// END SOLUTION", re.S)
    looked_at = 0
    for path in (ROOT / "course" / "exercises").glob("*/exercise.md"):
        source = path.read_text(encoding="utf-8")
        given = region.sub("", source)
        theirs = [data.decode() for name, data in files.items() if f"/exercises/{path.parent.name}/" in name]
        assert len(theirs) >= 2
        for line in "".join(region.findall(source)).splitlines():
            if len(line.strip()) > 12 and line.strip() not in given:
                looked_at += 1
                assert not any(line.strip() in text for text in theirs if "YOUR CODE HERE" in text), (path, line)
    assert looked_at > 300


def test_the_wheel_of_instructors_has_the_rest(wheels: tuple[Path, Path]) -> None:
    learners, instructors = map(packed, wheels)
    assert set(learners) & set(instructors) == set(), "two packages must not own one file"
    assert not [name for name in instructors if name.startswith("gpulab/")], "it would hide the gpulab of a clone"
    for part, folder in (("exercises", "course/exercises"), ("solutions", "solutions")):
        assert {f"gpulab_instructor/{part}/{name}" for name in stored(folder)} <= set(instructors)
    about = next(data for name, data in instructors.items() if name.endswith("METADATA")).decode()
    assert f"Version: {PROJECT['version']}" in about
    assert f"Requires-Dist: gpulab=={PROJECT['version']}" in about


def test_the_wheel_judges_without_answers_and_copies_solutions_with_them(
    wheels: tuple[Path, Path], tmp_path: Path
) -> None:
    site, mine = tmp_path / "site", tmp_path / "mine"
    mine.mkdir()
    answer = next((ROOT / "course" / "exercises" / "block-sum" / "right").glob("*.hip"))

    def python(code: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=mine, env=os.environ | {"PYTHONPATH": str(site)}, capture_output=True,
            text=True, timeout=300, check=False,
        )  # fmt: skip
        return done.stdout + done.stderr

    ask = "from gpulab import cli; cli.course_folder(cli.parser().parse_args(['lab'{}]))"
    shutil.unpack_archive(wheels[0], site, "zip")
    assert "your copy of the course is in" in python(ask.format(""))
    assert {path.name for path in mine.iterdir()} == {"notebooks", "exercises", "docs", "projects", ".gpulab"}
    assert '"output_type"' not in (mine / "notebooks" / "02_simt.ipynb").read_text(encoding="utf-8")
    graded = python(f"from gpulab import cli; print(cli.main(['grade', 'block-sum', {str(answer)!r}]))")
    assert "Passed: block-sum" in graded, graded
    assert graded.endswith("\n0\n")
    code = "from gpulab.classroom.jobs import version_of as v; from gpulab.classroom.points import notebook_points as n"
    told = python(f"{code}; print(v('block-sum'), n('block-sum'))")
    from gpulab.classroom.jobs import version_of

    assert told.split() == [version_of("block-sum"), "2"], "the clone and the wheel judge alike"
    assert "There are no solutions in this installation" in python(ask.format(", '--solutions'"))
    shutil.unpack_archive(wheels[1], site, "zip")
    assert "new files" in python(ask.format(", '--solutions'"))
    assert (mine / "solutions" / "block-sum" / "block-sum.ipynb").is_file()
    hidden = python("from gpulab.grading import worker; print('instructor' in str(worker._needed()))")
    assert hidden.strip() == "False", "what a worker may read"
    assert python("from gpulab.grading.answers import right_answers as r; print(len(r('block-sum')))").strip() == "2"


def test_bootstrap_runs_on_old_interpreters() -> None:
    """The script that says "gpulab needs Python 3.11" must itself be readable by a Python that is older."""
    import ast

    text = (ROOT / "tools" / "bootstrap.py").read_text()
    ast.parse(text, feature_version=(3, 6))
    assert "from __future__ import annotations" not in text  # needs 3.7


def test_bootstrap_refuses_a_python_that_is_too_old(tmp_path: Path) -> None:
    """With no suitable interpreter it fails with a sentence that names the versions and what to type."""
    code = (
        "import runpy, sys\n"
        "bootstrap = runpy.run_path('tools/bootstrap.py')\n"
        "module = bootstrap['find_python'].__globals__\n"
        "module['sys'] = type('Sys', (), {'version_info': (3, 8, 1), 'executable': sys.executable})\n"
        "module['version_of'] = lambda python: (3, 8)\n"
        "try:\n"
        "    bootstrap['find_python']()\n"
        "except bootstrap['Failed'] as failed:\n"
        "    print(failed)\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert "gpulab needs Python 3.11 to 3.13" in found.stdout
    assert "this is Python 3.8" in found.stdout
    assert "make lab PYTHON=" in found.stdout


def bootstrap() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "tools" / "bootstrap.py"))


def test_a_wheelhouse_is_the_only_source(tmp_path: Path) -> None:
    """`make lab WHEELHOUSE=FOLDER`: a folder with a space in its name is one folder for pip."""
    folder = tmp_path / "usb stick"
    folder.mkdir()
    functions = bootstrap()
    with pytest.raises(functions["Failed"], match=r"setuptools [\d.]+ is not among the 0 files[\s\S]*gpulab bundle"):
        functions["offline"](str(folder))
    with pytest.raises(functions["Failed"], match="there is no folder"):
        functions["offline"](str(tmp_path / "nowhere"))
    version = re.search(r"setuptools==([\d.]+)", (ROOT / "pyproject.toml").read_text())
    assert version is not None
    (folder / f"setuptools-{version[1]}-py3-none-any.whl").touch()
    variables = functions["offline"](str(folder))
    assert variables["PIP_NO_INDEX"] == "1"
    assert " " not in variables["PIP_FIND_LINKS"]
    assert variables["PIP_FIND_LINKS"].endswith("/usb%20stick")
    made = subprocess.run(
        ["make", "-n", "lab", f"WHEELHOUSE={folder}", "PYTHON=python3"], cwd=ROOT, capture_output=True, text=True
    )
    assert f'--wheelhouse "{folder}"' in made.stdout


@pytest.mark.skipif(os.name == "nt", reason="Windows has no folders that only others may write")
def test_a_clone_that_cannot_be_written_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = (
        Path("/proc/self") if Path("/proc/self/status").exists() else tmp_path / "clone"
    )  # root may write elsewhere
    if not folder.exists():
        folder.mkdir(mode=0o555)
    functions = bootstrap()
    settings = functions["main"].__globals__
    settings.update(ROOT=str(folder), ENVIRONMENT=str(folder / ".venv"), PYTHON=str(folder / ".venv" / "python"))
    monkeypatch.setattr(sys, "argv", ["bootstrap.py", "lab"])
    assert functions["main"]() == 1
    said = capsys.readouterr().out
    assert f"{folder} cannot be written (" in said
    assert "cp -r" in said
    assert functions["surroundings"]().get("TMPDIR") == os.environ.get("TMPDIR"), "temporary files go elsewhere"


@pytest.mark.parametrize(
    ("first", "second", "code", "last"),
    [
        ("3 passed in 1.00s", "4 passed in 2.00s", 0, "4 passed in 2.00s"),
        ("1 failed, 2 passed in 1.00s", "4 passed in 2.00s", 2, "1 failed, 2 passed in 1.00s"),
        ("3 passed in 1.00s", "1 failed in 2.00s", 2, "1 failed in 2.00s"),
    ],
)
def test_ci_runs_both_halves_and_fails_with_either(
    tmp_path: Path, first: str, second: str, code: int, last: str
) -> None:
    """With a `make` that prints what pytest would, and fails where that says so."""
    calls = tmp_path / "calls"
    make = tmp_path / "make"
    make.write_text(
        f'#!/usr/bin/env bash\necho "$1" >> {calls}\n'
        f'line="{first}"; [ "$1" = test ] || line="{second}"\necho "$line"; echo "after it"\n'
        '[[ "$line" != *failed* ]] || exit 2\n'
    )
    for name in ("make", "chromium"):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(0o755)
    done = subprocess.run(
        ["bash", str(ROOT / ".ci" / "run")], capture_output=True, text=True, check=False, timeout=60,
        env={"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert calls.read_text().split() == ["test", "test-rest"]
    assert done.stdout.splitlines()[-1] == last


def test_ci_fails_at_once_without_a_browser(tmp_path: Path) -> None:
    """With the few programs that the script itself needs, and neither Chromium nor a package manager."""
    for name in ("bash", "env", "dirname"):
        found = shutil.which(name)
        assert found is not None
        (tmp_path / name).symlink_to(found)
    done = subprocess.run(
        [str(tmp_path / "bash"), str(ROOT / ".ci" / "run")], env={"PATH": str(tmp_path)}, capture_output=True,
        text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1
    assert "the browser tests cannot run" in done.stderr.splitlines()[-1]
    assert done.stdout == ""


def test_every_verb_that_the_texts_name_is_a_target() -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert "sudo" not in makefile
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    texts = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "tests/README.md", "course/README.md")]
    named = {verb for path in texts for verb in re.findall(r"`make ([a-z-]+)", path.read_text(encoding="utf-8"))}
    assert "test" in named
    assert named - targets == set()
