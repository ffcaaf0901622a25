"""The installer of a bundle and the building of a seed, step by step, with processes that are written here."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpulab.delivery import offline, seed
from gpulab.errors import GpulabError


@pytest.fixture
def bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "bundle"
    (folder / "wheels").mkdir(parents=True)
    (folder / "wheels" / "pip-23.2.1-py3-none-any.whl").write_text("")
    (folder / "python.txt").write_text(offline.kind() + "\n")
    monkeypatch.setattr(offline, "__file__", str(folder / "install.py"))
    monkeypatch.chdir(tmp_path)
    for name in ("PYTHONHOME", "PYTHONPATH", "PIP_USER", "PIP_TARGET", "PIP_CONSTRAINT"):
        monkeypatch.setenv(name, "elsewhere")
    return folder


def running(monkeypatch: pytest.MonkeyPatch, fails: int = 99, error: bool = False) -> list[Any]:
    calls: list[Any] = []

    def call(command: list[str], env: dict[str, str], cwd: str) -> int:
        calls.append((command, env, cwd))
        if len(calls) > fails:
            if error:
                raise OSError(2, "No such file or directory")
            return 3
        return 0

    monkeypatch.setattr(subprocess, "call", call)
    return calls


@pytest.mark.parametrize(("words", "seeded"), [([], False), (["mine"], True)])
@pytest.mark.skipif(os.name == "nt", reason="paths of an environment are others on Windows")
def test_three_steps(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    words: list[str], seeded: bool,
) -> None:  # fmt: skip
    if seeded:
        (bundle / "seed").mkdir()
    calls = running(monkeypatch)
    assert offline.main(words) == 0
    folder = tmp_path / (words[0] if words else "gpulab")
    python = str(folder / ".venv" / "bin" / "python")
    assert [command for command, _, _ in calls] == [
        [sys.executable, "-m", "venv", "--without-pip", str(folder / ".venv")],
        [
            python,
            str(bundle / "wheels" / "pip-23.2.1-py3-none-any.whl" / "pip"),
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "pip",
            "gpulab",
        ],
        [python, "-m", "gpulab", "setup", *(["--seed", str(bundle / "seed")] if seeded else [])],
    ]
    for _, environment, where in calls:
        assert where == str(bundle)
        assert {name: value for name, value in environment.items() if name.startswith("PIP_")} == {
            "PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": (bundle / "wheels").as_uri(),
        }  # fmt: skip
        assert "elsewhere" not in environment.values()
        assert environment["PATH"] == os.environ["PATH"]
    said = capsys.readouterr().out
    assert said.count(" ...\n") == 3
    assert said.endswith(f'Start with\n\n    cd "{folder}"\n    .venv/bin/gpulab lab\n\n')


@pytest.mark.parametrize("words", [[], ["mine"], ["mine", "other"]])
def test_as_it_is_started(bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    """python3 install.py [FOLDER]"""
    shutil.copy(Path(seed.__file__).with_name("offline.py"), bundle / "install.py")
    calls = running(monkeypatch)
    monkeypatch.setattr(sys, "argv", ["install.py", *words])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(bundle / "install.py"), run_name="__main__")
    assert ended.value.code == 0
    assert calls[0][0][-1] == str(tmp_path / (words[0] if words else "gpulab") / ".venv")
    assert len(calls) == 3


def test_which_folders_are_bundles(bundle: Path, tmp_path: Path) -> None:
    assert offline.fits(bundle) == offline.kind()
    for folder in (tmp_path, tmp_path / "absent", bundle / "python.txt"):
        assert offline.fits(folder) == ""
    (bundle / "python.txt").write_bytes(b"\xff")
    assert offline.fits(bundle) == ""


def test_into_an_environment_that_is_there_gpulab_is_installed_again(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the last of several wheels of pip."""
    (bundle / "wheels" / "pip-24.0-py3-none-any.whl").write_text("")
    environment = tmp_path / "gpulab" / ".venv"
    environment.mkdir(parents=True)
    (environment / "pyvenv.cfg").touch()
    calls = running(monkeypatch)
    assert offline.main([]) == 0
    pip = [str(bundle / "wheels" / "pip-24.0-py3-none-any.whl" / "pip"), "install", "--quiet"]
    assert [command[1:] for command, _, _ in calls[1:3]] == [
        [*pip, "--disable-pip-version-check", "pip", "gpulab"],
        [*pip, "--disable-pip-version-check", "--force-reinstall", "--no-deps", "gpulab"],
    ]
    assert capsys.readouterr().out.split("\n")[2] == "bringing gpulab up to date ..."


@pytest.mark.parametrize("error", [False, True])
@pytest.mark.parametrize(
    ("good", "step"), [(0, "making the environment"), (1, "installing gpulab from"), (2, "building the virtual GPU's")]
)
def test_a_step_that_fails_is_the_last(
    bundle: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], good: int, step: str, error: bool
) -> None:
    calls = running(monkeypatch, good, error)
    assert offline.main([]) == 1
    assert len(calls) == good + 1
    said = capsys.readouterr().out
    assert f"It failed: {step}" in said
    assert "Ready" not in said
    assert ("No such file" in said) == error


def test_a_step_is_named_before_it_writes_itself(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where what is said goes to a file, too."""
    script = (
        f"import os, subprocess; from gpulab.delivery import offline; offline.__file__ = {offline.__file__!r}; "
        "subprocess.call = lambda *words, **more: 0 * os.write(1, b'its own\\n'); offline.main([])"
    )
    for name in ("PYTHONHOME", "PYTHONUNBUFFERED"):
        monkeypatch.delenv(name, raising=False)
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split("\n")[1:6:2] == ["its own"] * 3


def test_a_bundle_for_another_machine(
    bundle: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (bundle / "python.txt").write_text("plan9 on vax with Python 2.7")
    calls = running(monkeypatch)
    assert offline.main([]) == 1
    assert calls == []
    assert "This bundle is for plan9 on vax with Python 2.7; here is " in capsys.readouterr().out
    major, minor, *_ = sys.version_info
    assert offline.kind().startswith(f"{sys.platform} on ")
    assert offline.kind().endswith(f" with Python {major}.{minor}")


def test_the_bundle_beside_it_that_fits_is_named(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A stick with a folder for each kind of machine."""
    (bundle / "python.txt").write_text("plan9 on vax with Python 2.7")
    assert offline.main([]) == 1
    assert "Take one for this kind of machine" in capsys.readouterr().out
    for name, text in (("mac", "darwin on arm64 with Python 3.12"), ("this", offline.kind()), ("bad", "")):
        (bundle.parent / name).mkdir()
        (bundle.parent / name / "python.txt").write_text(text)
    assert offline.main([]) == 1
    assert "Take the one in this: that is for this machine." in capsys.readouterr().out


@pytest.mark.parametrize("lost", ["python.txt", "wheels/pip-23.2.1-py3-none-any.whl"])
def test_a_bundle_that_was_not_copied_whole(
    bundle: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], lost: str
) -> None:
    calls = running(monkeypatch)
    (bundle / lost).unlink()
    assert offline.main([]) == 1
    assert calls == []
    assert capsys.readouterr().out == (
        f"{bundle} is not a whole bundle: it has no {lost.split('-')[0] + '-*.whl' if '-' in lost else lost}. "
        "Copy the folder again, with all that is in it.\n"
    )


@pytest.mark.parametrize("programs", [False, True])
def test_a_seed_is_built_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, programs: bool) -> None:
    folder = tmp_path / "deep" / "seed"
    asked: list[Any] = []

    def run(command: list[str], env: dict[str, str], **more: Any) -> Any:
        asked.append((command, env))
        assert more == {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        for name in ("code", "zig", "programs", "other"):
            (folder / name).mkdir()
        return SimpleNamespace(returncode=0, stdout="built")

    monkeypatch.setenv("GPULAB_CACHE", "/mine")
    monkeypatch.setenv("GPULAB_CACHE_OWN", "/own")
    monkeypatch.setattr(subprocess, "run", run)
    assert seed.make_seed(folder, programs) == "built"
    ((command, environment),) = asked
    assert command == [sys.executable, "-m", "gpulab", "setup", *(["--programs"] if programs else [])]
    assert environment["GPULAB_CACHE"] == str(folder)
    assert "GPULAB_CACHE_OWN" not in environment
    left = {"code", "programs", "zig"} if programs else {"code", "programs"}
    assert {path.name for path in folder.iterdir()} == left


def test_a_seed_is_built_where_an_older_one_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With hidden files of desktops; all else is somebody's."""
    folder = tmp_path / "seed"
    for name in ("code", "zig"):
        (folder / name).mkdir(parents=True)
    (folder / ".DS_Store").write_text("of a desktop")
    monkeypatch.setattr(subprocess, "run", lambda *words, **more: SimpleNamespace(returncode=0, stdout="built"))
    assert seed.make_seed(folder, True) == "built"
    (folder / "thesis").mkdir()
    (folder / "a picture").mkdir()
    with pytest.raises(GpulabError, match="holds other things than a cache: a picture"):
        seed.make_seed(folder)


def test_a_seed_that_cannot_be_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", lambda *words, **more: SimpleNamespace(returncode=2, stdout="no compiler"))
    with pytest.raises(GpulabError) as found:
        seed.make_seed(tmp_path / "seed")
    assert "The seed could not be built.\n\nno compiler" in str(found.value)
    (tmp_path / "file").write_text("")
    with pytest.raises(GpulabError, match="cannot be made or read: File exists"):
        seed.make_seed(tmp_path / "file")
