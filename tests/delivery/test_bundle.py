"""A bundle holds what an installation needs, and installs with no network. Small wheels stand for the real ones."""

from __future__ import annotations

import ensurepip
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpulab.delivery import bundle as making
from gpulab.delivery import offline
from gpulab.errors import GpulabError

ROOT = Path(__file__).resolve().parents[2]
MAIN = "import sys, tinydep; print('setup of', tinydep.NAME, *sys.argv[1:])\n"


def wheel(folder: Path, name: str, version: str, files: dict[str, str], requires: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{version}-py3-none-any.whl"
    about = f"{name}-{version}.dist-info"
    needs = f"Requires-Dist: {requires}\n" if requires else ""
    whole = files | {
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for each, text in whole.items():
            archive.writestr(each, text)
        archive.writestr(f"{about}/RECORD", "".join(f"{each},,\n" for each in [*whole, f"{about}/RECORD"]))
    return path


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A wheel that is called gpulab and needs tinydep; pip's only source is a folder with tinydep and setuptools."""
    index = tmp_path / "index"
    wheel(index, "tinydep", "2.0", {"tinydep.py": "NAME = 'tinydep 2.0'\n"})
    shipped = sorted(Path(ensurepip.__file__).parent.glob("_bundled/pip-*.whl"))
    if not shipped:
        pytest.skip("this Python has no wheel of pip")
    shutil.copy(shipped[-1], index)
    monkeypatch.setattr(making, "_pip_itself", lambda: f"pip=={shipped[-1].name.split('-')[1]}")
    wheel(index, "setuptools", making.SETUPTOOLS.partition("==")[2], {"setuptools/__init__.py": ""})
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", index.as_uri())
    monkeypatch.setattr(making, "_installed", lambda: ["tinydep==2.0"])
    return wheel(tmp_path / "own", "gpulab", "0.1.0", {"gpulab/__init__.py": "", "gpulab/__main__.py": MAIN}, "tinydep")


def test_a_bundle_installs_without_a_network(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stick = tmp_path / "usb stick"
    (line,) = making.bundle(stick, small)
    assert line.startswith("4 wheels, ")
    assert {path.name for path in stick.iterdir()} == {"wheels", "install.py", "python.txt", "README.txt"}
    making.bundle(stick, small)  # once more into the same folder
    (stick / "seed").mkdir()
    (stick / ".DS_Store").write_text("of a desktop")
    making.bundle(stick, small)
    shutil.rmtree(tmp_path / "index")
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    command = [sys.executable, str(stick / "install.py"), str(tmp_path / "a class")]
    if shutil.which("unshare") and not subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode:
        command = ["unshare", "-rn", *command]  # a process without any network
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"setup of tinydep 2.0 setup --seed {stick / 'seed'}" in done.stdout
    assert [path.name for path in (tmp_path / "a class").iterdir()] == [".venv"]
    # A later bundle whose gpulab has the same version.
    later = {"gpulab/__init__.py": "", "gpulab/__main__.py": f"print('a later course'); {MAIN}"}
    late = wheel(tmp_path / "late", "gpulab", "0.1.0", later, "tinydep")
    shutil.copy(late, stick / "wheels")
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "a later course\nsetup of tinydep 2.0" in done.stdout


def test_a_bundle_that_lacks_something_is_refused(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the index at once, or, if it was lost on the way, by the look at the whole."""
    path = tmp_path / "index" / "tinydep-2.0-py3-none-any.whl"
    text = path.read_bytes()
    path.unlink()
    with pytest.raises(GpulabError, match=r"pip download failed:[\s\S]*tinydep"):
        making.bundle(tmp_path / "bundle", small)
    path.write_bytes(text)
    pip = making._pip

    def losing(*words: str, **more: Any) -> None:
        pip(*words, **more)
        (tmp_path / "bundle" / "wheels" / path.name).unlink(missing_ok=True)

    monkeypatch.setattr(making, "_pip", losing)
    with pytest.raises(GpulabError, match=r"pip install failed:[\s\S]*tinydep[\s\S]*not complete"):
        making.bundle(tmp_path / "bundle", small)


def test_what_cannot_be_bundled_is_said_before_anything_is_downloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pip(*words: str, **more: object) -> None:
        raise AssertionError("pip was asked")

    monkeypatch.setattr(making, "_pip", pip)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.tex").write_text("")
    with pytest.raises(GpulabError, match=r"holds other things: thesis.tex"):
        making.bundle(tmp_path / "home")
    with pytest.raises(GpulabError, match=r"There is no .*gpulab.whl"):
        making.bundle(tmp_path / "bundle", tmp_path / "gpulab.whl")


@pytest.mark.parametrize("source", ["file", "clone", "index"])
@pytest.mark.parametrize("seeded", [False, True])
def test_what_pip_is_asked_for_and_what_the_folder_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, seeded: bool
) -> None:
    """gpulab's wheel is a file, built from the clone, or downloaded. All else has the versions that are here."""
    folder, name = tmp_path / "new" / "bundle", "gpulab-0.1.0-py3-none-any.whl"
    wheels = folder / "wheels"
    wheels.mkdir(parents=True)
    for old in ("gpulab-0.0.9-py3-none-any.whl", "numpy-2-py3-none-any.whl", "notes.txt"):
        (wheels / old).write_text("old")
    for own in ("README.txt", ".DS_Store"):  # of a bundle that was made before, and of a desktop
        (folder / own).write_text("old")
    asked: list[tuple[tuple[str, ...], dict[str, object]]] = []

    def pip(*words: str, **more: object) -> None:
        if not asked:
            assert not list(wheels.glob("gpulab-0.0.9*")), "an older one would be installed, too"
        given = [Path(word).read_text() if word.endswith("constraints.txt") else word for word in words]
        asked.append((tuple(given), more))
        if "--no-deps" in words:
            (wheels / name).write_text("own")

    def seed(where: Path) -> None:
        where.mkdir()
        (where / "part").write_bytes(b"x" * 3_000_000)

    monkeypatch.setattr(making, "_pip", pip)
    monkeypatch.setattr(making, "_installed", lambda: ["a==1", "b==2"])
    monkeypatch.setattr(making, "_pip_itself", lambda: "pip==9")
    monkeypatch.setattr(making, "make_seed", seed)
    monkeypatch.setattr(making.course, "clone", lambda: tmp_path / "clone" if source == "clone" else None)
    monkeypatch.setattr(making.importlib.metadata, "version", {"gpulab": "0.1.0"}.__getitem__)
    given = None
    if source == "file":
        given = tmp_path / name
        given.write_text("own")
    assert making.bundle(folder, given, seeded) == [f"2 wheels, {3 if seeded else 0} MB, for {offline.kind()}"]
    firsts = {
        "clone": [(("wheel", "--no-deps", "--wheel-dir", str(wheels), str(tmp_path / "clone")), {})],
        "index": [(("download", "--no-deps", "--dest", str(wheels), "gpulab==0.1.0"), {"hint": making._NO_WHEEL})],
    }
    assert asked == [
        *firsts.get(source, []),
        (
            ("download", "--progress-bar", "off", "--only-binary", ":all:", "--dest", str(wheels), "--constraint",
             "a==1\nb==2\n", str(wheels / name), making.SETUPTOOLS, "pip==9"), {},
        ),
        (
            ("install", "--dry-run", "--ignore-installed", "gpulab", making.SETUPTOOLS, "pip==9"),
            {"alone": wheels, "hint": "the folder is not complete; try again."},
        ),
    ]  # fmt: skip
    assert {path.name for path in wheels.iterdir()} == {name, "numpy-2-py3-none-any.whl", "notes.txt"}
    assert (folder / "python.txt").read_text() == offline.kind() + "\n"
    assert (folder / "install.py").read_text() == Path(offline.__file__).read_text()
    text = (folder / "README.txt").read_text()
    assert text.startswith(f"gpulab and its course, for machines without a network: {offline.kind()}\n")
    assert f"make lab WHEELHOUSE={wheels}   does" in text
    assert (folder / "seed").exists() is seeded


def test_a_bundle_without_gpulab_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "_pip", lambda *words, **more: None)
    with pytest.raises(GpulabError) as caught:
        making.bundle(tmp_path / "bundle")
    assert str(caught.value).startswith("There is no wheel of gpulab.")
    assert caught.value.hint == making._NO_WHEEL
    (tmp_path / "file").write_text("")
    with pytest.raises(GpulabError) as caught:
        making.bundle(tmp_path / "file")
    assert str(caught.value) == f"{tmp_path / 'file'} cannot be made: Not a directory."


def test_constraints_are_what_is_installed_but_for_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """In order, in lower case; what has lost its name is left out."""
    given = [("NumPy", "2.1"), ("gpulab", "1"), ("GPULAB-instructor", "1"), ("pip", "9"), ("Setuptools", "8"),
             ("wheel", "7"), (None, "6"), ("", "5"), ("attrs", "4")]  # fmt: skip
    found = [SimpleNamespace(metadata={"Name": name}, version=version) for name, version in given]
    monkeypatch.setattr(making.importlib.metadata, "distributions", lambda: found)
    assert making._installed() == ["attrs==4", "numpy==2.1"]
    monkeypatch.setattr(making.importlib.metadata, "version", {"pip": "24.0"}.__getitem__)
    assert making._pip_itself() == "pip==24.0"


def test_the_look_at_the_whole_knows_the_folder_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of how pip is configured here; all else of the environment stays."""
    seen: list[dict[str, str]] = []

    def run(command: list[str], *, env: dict[str, str], **more: Any) -> Any:
        assert more == {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "errors": "replace"}
        seen.append({"command": " ".join(command[1:]), **env})
        said = "\n".join(f"line {number}" for number in range(20))
        return subprocess.CompletedProcess(command, len(seen) - 2, said)

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setenv("PIP_CONSTRAINT", "mine.txt")
    with pytest.raises(GpulabError, match="pip download failed") as found:  # the first one "fails" with -1
        making._pip("download", "x", hint="try again")
    assert [line for line in str(found.value).split("\n") if line.startswith("line")] == [
        f"line {number}" for number in range(8, 20)
    ]
    assert found.value.hint == "try again"
    making._pip("install", "x", alone=tmp_path)
    first, alone = seen
    assert first["PIP_CONSTRAINT"] == "mine.txt"
    assert first["command"] == "-m pip download --disable-pip-version-check x"
    assert {name: value for name, value in alone.items() if name.startswith("PIP_")} == {
        "PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": tmp_path.as_uri(),
    }  # fmt: skip
    assert alone["PATH"] == os.environ["PATH"]


def test_another_kind_of_machine_is_told_so(tmp_path: Path) -> None:
    shutil.copy(offline.__file__, tmp_path / "install.py")
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / "pip-1-py3-none-any.whl").write_text("")
    (tmp_path / "python.txt").write_text("win32 on AMD64 with Python 3.12\n")
    done = subprocess.run(
        [sys.executable, str(tmp_path / "install.py"), str(tmp_path / "new")],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert f"This bundle is for win32 on AMD64 with Python 3.12; here is {offline.kind()}." in done.stdout
    assert not (tmp_path / "new").exists()


def test_setuptools_is_the_one_that_builds_gpulab() -> None:
    for path in (ROOT / "pyproject.toml", ROOT / "instructor" / "pyproject.toml"):
        assert f'requires = ["{making.SETUPTOOLS}"]' in path.read_text(encoding="utf-8")


def test_versions_are_those_that_are_installed() -> None:
    import numpy

    found = making._installed()
    assert f"numpy=={numpy.__version__}" in found
    assert not [line for line in found if line.startswith(("gpulab==", "pip=="))]
