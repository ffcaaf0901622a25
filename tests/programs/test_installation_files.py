"""The files of an installation as they are written, in a folder of their own."""

from __future__ import annotations

import os
import shlex
import stat
import sys
from pathlib import Path

import pytest

from gpulab.programs import command, installation, tools
from gpulab.providers.virtual import hosting
from gpulab.toolchain import hosted

pytestmark = pytest.mark.skipif(bool(hosted.unavailable()), reason=hosted.unavailable() or "programs can be built")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    prepared: list[int] = []
    monkeypatch.setattr(hosting, "rocm_path", lambda: str(tmp_path / "rocm"))
    monkeypatch.setattr(hosting, "prepare_libraries", lambda: prepared.append(1))
    assert installation.install() == tmp_path / "rocm"
    assert prepared == [1]
    return tmp_path / "rocm"


def states(folder: Path) -> dict[str, tuple[int, int]]:
    found = {path: path.lstat() for path in folder.rglob("*")}
    return {
        str(path): (each.st_ino, each.st_mtime_ns)
        for path, each in found.items()
        if path.is_symlink() or not path.is_dir()
    }


def test_files_of_an_installation(folder: Path) -> None:
    for inside, commands in (("bin", installation.COMMANDS), ("host/bin", installation.HOST),
                             ("llvm/bin", installation.LLVM)):  # fmt: skip
        assert sorted(path.name for path in (folder / inside).iterdir()) == sorted(commands)
        for name, tool in commands.items():
            path = folder / inside / name
            assert stat.S_IMODE(path.stat().st_mode) == 0o755
            assert tool in tools._TOOLS
            lines = path.read_text().splitlines()
            assert lines[0] == "#!/bin/sh"
            assert lines[1].startswith("PYTHONPATH=")
            assert lines[1].endswith(f' exec {shlex.quote(sys.executable)} -P -m gpulab.programs.tools {tool} "$@"')
    folders = {path.name for path in hosted.INCLUDE.iterdir() if path.is_dir()}
    assert {path.name for path in (folder / "include").iterdir()} == folders
    for name in folders:
        assert os.readlink(folder / "include" / name) == str(hosted.INCLUDE / name)
    version = command.hip_version()
    assert (folder / ".info" / "version").read_text() == f"{version}\n"
    assert stat.S_IMODE((folder / ".info" / "version").stat().st_mode) == 0o644
    cmake = folder / "lib" / "cmake"
    packages = {"hip", "hip-lang", *installation._HEADER_PACKAGES, *installation._LIBRARY_PACKAGES}
    assert {path.name for path in cmake.iterdir()} == packages | {"gpulab"}
    absent = {name for name, (_, headers) in installation._HEADER_PACKAGES.items()
              if not (hosted.INCLUDE / headers).is_dir()}  # fmt: skip
    for name in absent:
        assert list((cmake / name).iterdir()) == []
    for name in packages - absent:
        text = (cmake / name / f"{name}-config-version.cmake").read_text()
        assert text.startswith(f'set(PACKAGE_VERSION "{version}")\n')
    for name, (space, words) in installation._LIBRARY_PACKAGES.items():
        text = (cmake / name / f"{name}-config.cmake").read_text()
        assert f"if(NOT TARGET {space}::{name})" in text
        assert f'INTERFACE_LINK_LIBRARIES "hip::amdhip64;{words}")' in text
    for name in set(installation._HEADER_PACKAGES) - absent:
        assert f"find_package({name})" in (cmake / name / f"{name}-config.cmake").read_text()
    for name in installation._NAMED_LIBRARIES:
        assert f"-l{name}" in (folder / "lib" / f"lib{name}.so").read_text()
    assert f'set(ENV{{ROCM_PATH}} "{folder}")' in (cmake / "gpulab" / "toolchain.cmake").read_text()
    assert not list(folder.rglob(".new-*"))


def test_an_installation_is_brought_up_to_date(folder: Path) -> None:
    """What is right stays as it is; what is not is replaced."""
    before = states(folder)
    installation.install()
    assert states(folder) == before
    script, link = folder / "bin" / "hipcc", folder / "include" / "hip"
    text = script.read_text()
    script.write_bytes(b"\xff old")
    link.unlink()
    link.symlink_to("/elsewhere")
    installation.install()
    assert script.read_text() == text
    assert os.readlink(link) == str(hosted.INCLUDE / "hip")
    changed = {path for path, state in states(folder).items() if before[path] != state}
    assert changed == {str(script), str(link)}


def test_variables_of_an_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting, "rocm_path", lambda: "/rocm")
    monkeypatch.setenv("PATH", "/rocm/bin:/a:/rocm/host/bin:/b")
    monkeypatch.setenv("CMAKE_PREFIX_PATH", ":/c:/rocm")
    expected = {
        "ROCM_PATH": "/rocm", "HIP_PATH": "/rocm", "HIP_PLATFORM": "amd", "CC": "/rocm/bin/amdclang",
        "CXX": "/rocm/bin/hipcc", "HIPCXX": "/rocm/llvm/bin/clang++", "CMAKE_PREFIX_PATH": "/rocm:/c",
        "PATH": "/rocm/bin:/rocm/host/bin:/a:/b",
    }  # fmt: skip
    assert installation.environment() == expected
    monkeypatch.delenv("CMAKE_PREFIX_PATH")
    assert installation.environment() == expected | {"CMAKE_PREFIX_PATH": "/rocm"}
