"""What fails of this system is not put down to a submission."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpulab import walls
from gpulab.errors import CheckError, CompileError, GpulabError
from gpulab.grading import Grader, isolated, remote
from gpulab.grading.case import Case
from gpulab.toolchain import cache, compile, compiler

RIGHT = "__global__ void fill(int n, float value, float* out)\n{\n" \
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) out[i] = value;\n}\n"  # fmt: skip
PROGRAM = "int main() { return 0; }\n"


def graded(source: str = RIGHT, id: str = "first-fill") -> tuple[str, str]:
    with Grader(seconds=60) as grader:
        found = grader.grade(id, source)
    return found.status, found.verdict.text


@pytest.mark.full
@pytest.mark.parametrize("source", [RIGHT, RIGHT.replace(";", "")])
def test_a_compiler_that_is_not_there(source: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The worker finds a package ziglang without a program."""
    (tmp_path / "ziglang").mkdir()
    (tmp_path / "ziglang" / "__init__.py").touch()
    broken(monkeypatch, tmp_path)
    status, said = graded(source)
    assert (status, "compiler" in said) == ("not judged", True), said


@pytest.mark.full
@pytest.mark.parametrize("source", [RIGHT, RIGHT.replace(";", "")])
def test_a_compiler_without_its_headers(source: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Then nothing compiles: each source would be refused with messages of Clang's."""
    package = tmp_path / "ziglang"
    (package / "lib").mkdir(parents=True)
    (package / "__init__.py").touch()
    for name in ("zig", "zig.exe"):
        if (compiler.package_folder() / name).exists():
            os.link(compiler.executable(), package / name)
    broken(monkeypatch, tmp_path)
    assert graded(source)[0] == "not judged"


def broken(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Have workers find what is in this folder before the installed packages, and an empty cache."""
    environment = remote.environment

    def changed(own: Path) -> dict[str, str]:
        found = environment(own)
        return {**found, "PYTHONPATH": os.pathsep.join([str(folder), found["PYTHONPATH"]]),
                "GPULAB_CACHE": str(folder / "cache")}  # fmt: skip

    monkeypatch.setattr(remote, "environment", changed)


def test_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can be written any more: neither by Python nor by Clang."""
    monkeypatch.setattr("gpulab.grading.worker.FILE_BYTES", 0)
    run = "import gpulab.grading.worker as w; w.FILE_BYTES = 0; w.main()"
    monkeypatch.setattr(remote, "command", lambda: [sys.executable, "-P", "-c", run])
    for source in (RIGHT, RIGHT.replace(";", "")):
        status, said = graded(source)
        assert status == "not judged", said


def test_a_full_disk_is_no_error_of_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(GpulabError, match="no room for its files: No space left on device") as caught:
        compile("no C++", arch="gfx942", use_cache=False)
    assert not isinstance(caught.value, CompileError)
    assert compile(RIGHT, arch="gfx942", use_cache=False).kernels


BWRAP = """#!/bin/sh
# In place of bubblewrap: notes its options, and runs the command.
for word in "$@"; do
    echo "$word" >> "$(dirname "$0")/said"
    shift
    [ "$word" = -- ] && exec "$@"
done
"""


@pytest.mark.skipif(bool(walls.available()), reason=walls.available() or "there are walls")
def test_bubblewrap_is_used_where_it_works(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "bwrap"
    path.write_text(BWRAP)
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    walls.bubblewrap.cache_clear()
    try:
        assert walls.level() == ("bubblewrap", "")
        assert graded()[0] == "accepted"
        path.write_text("#!/bin/sh\nexit 1\n")
        walls.bubblewrap.cache_clear()
        assert walls.level()[0] == "landlock"
        assert graded()[0] == "accepted"
    finally:
        walls.bubblewrap.cache_clear()
    said = (tmp_path / "said").read_text().splitlines()
    assert {"--unshare-net", "--unshare-pid", "--unshare-user", "--die-with-parent"} <= set(said)
    writable = {said[i + 1] for i, word in enumerate(said) if word == "--bind"}
    assert len(writable) == 2
    assert str(cache.folder()) in writable


def test_without_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on macOS and Windows: a process for each submission, started anew."""
    monkeypatch.setattr(remote, "FORKS", False)
    assert graded()[0] == "accepted"
    assert graded("no C++")[0] == "does not compile"
    with Grader(seconds=0.5) as grader:
        assert grader.grade("first-fill", RIGHT).status == "stopped"
        monkeypatch.setattr("select.select", lambda read, write, other, seconds: (read, write, other))  # as on Windows
        assert "longer than 0.5 seconds" in grader.grade("first-fill", RIGHT).verdict.text


@pytest.mark.full
def test_an_exercise_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    from gpulab.grading.exercise import Exercise

    def fails(*arguments: object, **named: object) -> Case:
        raise ZeroDivisionError("in make")

    monkeypatch.setattr(Exercise, "case", fails)
    status, said = graded()
    assert status == "not judged"
    assert "ZeroDivisionError: in make" in said


def test_a_temporary_folder_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    assert graded()[0] == "not judged"


def test_a_program_where_the_compiler_is_broken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "ziglang").mkdir()
    (tmp_path / "ziglang" / "__init__.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("GPULAB_CACHE", str(tmp_path / "cache"))
    status, said = graded(PROGRAM, "port-a-program")
    assert status == "not judged", said


def test_what_is_wrong_with_the_source_stays_so() -> None:
    """A source cannot claim that the disk is full."""
    assert graded("int main( {", "port-a-program")[0] == "does not compile"
    for text in ("#error LLVM ERROR: IO failure on output stream: No space left on device\n",
                 '#line 1 "LLVM ERROR: IO failure on output stream"\n#error No space left on device\n'):  # fmt: skip
        assert graded(text + RIGHT)[0] == "does not compile"


def test_levels_that_this_system_lacks_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walls, "level", lambda: ("limits", "this kernel has no Landlock"))
    isolated.require("none")
    isolated.require("limits")
    with pytest.raises(CheckError, match=r"'limits', and 'landlock' is required\.\nWhy: this kernel has no Landlock"):
        Grader(jail="landlock")
    with pytest.raises(CheckError, match="no level 'thick'"):
        Grader(jail="thick")


def test_the_command_refuses(tmp_path: Path) -> None:
    (tmp_path / "a.hip").write_text(RIGHT)
    command = [sys.executable, "-m", "gpulab", "grade", "first-fill", str(tmp_path / "a.hip"), "--require-jail"]
    here = walls.LEVELS.index(walls.level()[0])
    for number, level in enumerate(walls.LEVELS):
        found = subprocess.run([*command, level], capture_output=True, text=True, check=False)
        refused = f"{level!r} is required" in found.stdout + found.stderr
        assert (found.returncode == 0, refused) == (number <= here, number > here), found.stdout + found.stderr
