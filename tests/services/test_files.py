"""Files for services (workflows, Dockerfile, devcontainer, Binder): schemas, and that what they name exists here."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.specifiers import SpecifierSet

from tests.services.commands import complaint

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
DOCKERFILE = ROOT / "deploy" / "Dockerfile"
DEVCONTAINER = ROOT / ".devcontainer" / "devcontainer.json"
BINDER = [ROOT / "postBuild", ROOT / "environment.yml"]
FILES = [*WORKFLOWS, DOCKERFILE, DEVCONTAINER, *BINDER, ROOT / ".dockerignore"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PYTHONS = SpecifierSet(PROJECT["requires-python"])


def jobs(path: Path) -> dict[str, Any]:
    found = yaml.safe_load(path.read_text())["jobs"]
    assert isinstance(found, dict)
    return found


def commands_of_workflows() -> Iterator[str]:
    for path in WORKFLOWS:
        for job in jobs(path).values():
            for step in job["steps"]:
                yield from filter(None, step.get("run", "").splitlines())


def instructions() -> list[tuple[str, str]]:
    """(name, arguments) of each instruction of the Dockerfile."""
    text = re.sub(r"^#.*\n", "", DOCKERFILE.read_text(), flags=re.M).replace("\\\n", " ")
    return [(line.split()[0], line.split(None, 1)[1].strip()) for line in text.splitlines() if line.strip()]


def commands_of_containers() -> Iterator[str]:
    for name, text in instructions():
        if name == "RUN":
            yield from text.split("&&")
        elif name == "CMD":
            yield shlex.join(json.loads(text))
    yield json.loads(DEVCONTAINER.read_text())["postCreateCommand"]
    yield from (line for line in BINDER[0].read_text().splitlines() if line and not line.startswith("#"))


def test_workflows_keep_to_their_schema() -> None:
    """The schema that GitHub's editors use, as the package check-jsonschema carries it."""
    assert len(WORKFLOWS) == 3
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    done = subprocess.run([*command, *map(str, WORKFLOWS)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_workflow_with_a_wrong_key_is_refused(tmp_path: Path) -> None:
    wrong = tmp_path / "tests.yml"
    wrong.write_text(WORKFLOWS[0].read_text().replace("runs-on:", "run-on:", 1))
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(wrong)]
    assert subprocess.run(command, capture_output=True, timeout=120, check=False).returncode == 1


@pytest.mark.parametrize("command", [*commands_of_workflows(), *commands_of_containers()])
def test_commands_name_what_there_is(command: str) -> None:
    assert complaint(command) == ""


def test_commands_that_name_nothing_are_found() -> None:
    wrong = ["make nothing", "gpulab nothing", "gpulab doctor --nothing", "python tools/nothing.py", "curl x", "make"]
    assert all(map(complaint, wrong))


def test_the_short_tests_are_those_of_make_test() -> None:
    """Windows has no make, so the workflow says again what the Makefile does."""
    (mine,) = [line for line in commands_of_workflows() if "bootstrap.py" in line]
    makefile = (ROOT / "Makefile").read_text()
    (start,) = re.findall(r"^PYTEST = \$\(BOOTSTRAP\) (.*)$", makefile, re.M)
    (rest,) = re.findall(r"^test:.*\n\t@\$\(PYTEST\) (.*)$", makefile, re.M)
    wanted = shlex.split(f"python tools/bootstrap.py {start} {rest}".replace("$(PYTEST_ARGS)", ""))
    assert sorted(shlex.split(mine)) == sorted(wanted)


def test_all_systems_are_there() -> None:
    for file, job in (("tests.yml", "short"), ("wheel.yml", "install")):
        systems = jobs(ROOT / ".github" / "workflows" / file)[job]["strategy"]["matrix"]["system"]
        for kind in ("ubuntu-24.04", "ubuntu-24.04-arm", "macos-", "windows-"):
            assert any(re.fullmatch(rf"{kind}\d*", each) for each in systems), (file, kind)


def test_pythons_are_those_that_gpulab_runs_on() -> None:
    found = re.findall(r"python(?:-version)?:? *[\[=:]? *\"?(3\.\d+)", "\n".join(path.read_text() for path in FILES))
    named = [text for path in WORKFLOWS for text in re.findall(r"\"(3\.\d+)\"", path.read_text())]
    assert len(named) >= 8
    assert [each for each in {*found, *named} if each not in PYTHONS] == []
    assert {"3.11", "3.12", "3.13"} <= set(named)


def test_no_file_repeats_a_version_of_a_package() -> None:
    """pyproject.toml and constraints.txt have them; environment.yml's are compared in test_packaging.py."""
    for path in FILES:
        if path.name != "environment.yml":
            assert not re.search(r"[\w-]+==\d", path.read_text()), path


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_addresses(path: Path) -> None:
    assert not re.search(r"https?://|\b[\w-]+\.(com|io|org|net|dev)\b", path.read_text())


def test_the_dockerfile() -> None:
    found = instructions()
    known = {"FROM", "RUN", "COPY", "USER", "WORKDIR", "EXPOSE", "CMD"}
    assert {name for name, _ in found} <= known
    bases = [text.split() for name, text in found if name == "FROM"]
    base, word, stage = bases[0]
    version = re.fullmatch(r"python:(3\.\d+)-slim", base)
    assert version is not None
    assert version[1] in PYTHONS
    assert (word, bases[1]) == ("AS", [stage])
    assert [text for name, text in found if name == "COPY"] == [". /opt/gpulab"]
    assert next(text for name, text in reversed(found) if name == "USER") == "learner", "kernels do not run as root"
    installs = [text for name, text in found if name == "RUN" and "pip install" in text]
    assert all("--constraint /opt/gpulab/constraints.txt" in text for text in installs)


def test_what_docker_copies_has_no_environment() -> None:
    left_out = (ROOT / ".dockerignore").read_text().split()
    assert {".git", ".venv", "build", "dist"} <= set(left_out)
    needed = ["gpulab", "course", "notebooks", "exercises", "docs", "pyproject.toml", "setup.py", "constraints.txt"]
    assert [name for name in needed if not (ROOT / name).exists()] == []
    assert not set(needed) & set(left_out)


def test_the_devcontainer() -> None:
    """Names of the development container specification's properties, and what they lead to."""
    found = json.loads(DEVCONTAINER.read_text())
    known = {"name", "build", "remoteUser", "postCreateCommand", "forwardPorts", "portsAttributes", "customizations"}
    assert set(found) <= known
    assert set(found["build"]) <= {"dockerfile", "context", "target", "args"}
    assert (DEVCONTAINER.parent / found["build"]["dockerfile"]).resolve() == DOCKERFILE
    assert (DEVCONTAINER.parent / found["build"]["context"]).resolve() == ROOT
    assert f"AS {found['build']['target']}\n" in DOCKERFILE.read_text()
    assert f" {found['remoteUser']}\n" in DOCKERFILE.read_text()


def test_binder_takes_environment_yml() -> None:
    """repo2docker prefers a Dockerfile at the top, and looks nowhere else where there is a folder binder or .binder."""
    assert not [name for name in ("Dockerfile", "binder", ".binder") if (ROOT / name).exists()]
    assert os.access(ROOT / "postBuild", os.X_OK)
    assert (ROOT / "postBuild").read_text().startswith("#!")
