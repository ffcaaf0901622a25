"""How the libraries' files are made: when, by which options, under which names on each system, and where they stand.

The compiler is replaced where only its command matters. Names: of ELF's, of Mach-O's and of Windows' libraries.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import os
import platform
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpulab.errors import InternalError
from gpulab.virtual_gpu import libraries
from gpulab.virtual_gpu.libraries import building, stub

HIPRTC = libraries.find("hiprtc")


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder of this test alone, nothing built yet, and one library only."""
    for name in ("lib", "bin"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(building, "rocm_path", lambda: tmp_path)
    monkeypatch.setattr(building, "found", lambda: (HIPRTC,))
    monkeypatch.setattr(building, "_built", set())
    return tmp_path


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Path, str, list[str]]]:
    """What the compiler was asked for: text, target, level, options."""
    asked: list[tuple[str, Path, str, list[str]]] = []

    def compile_(text: str, target: Path, *, optimize: str, options: list[str]) -> Path:
        asked.append((text, target, optimize, list(options)))
        target.write_bytes(b"made")
        return target

    monkeypatch.setattr("gpulab.toolchain.host.compile_host_library", compile_)
    return asked


def again() -> bool:
    """As in the next process."""
    building._built.clear()
    return building.build()


@pytest.mark.skipif(sys.platform != "linux", reason="ELF's names")
def test_a_library_is_built_and_knows_its_name(folder: Path) -> None:
    said: list[str] = []
    assert building.build(said.append)
    file = folder / "lib" / "libhiprtc.so"
    data = file.read_bytes()
    assert data[:4] == b"\x7fELF"
    assert b"\0libhiprtc.so\0" in data  # DT_SONAME
    assert b"\0hiprtcCompileProgram\0" in data
    assert os.readlink(folder / "lib" / "libhiprtc.so.7") == "libhiprtc.so"
    assert building.path("hiprtc") == file
    assert said[0].startswith("gpulab: building")
    last = re.fullmatch(r"gpulab: the virtual HIP library is built \((\d+\.\d) s\): (.*)", said[1])
    assert last is not None
    assert (float(last[1]) < 600, last[2], len(said)) == (True, str(folder), 2)
    assert not building.build(said.append)
    assert len(said) == 2


def test_what_is_old_or_missing_is_built_again(folder: Path, compiled: list[object]) -> None:
    assert building.build()
    assert not building.build()
    assert not again()
    file, mark = folder / "lib" / building.file_name(HIPRTC), folder / "version-hiprtc"
    stamp = mark.read_text()
    for change in (file.unlink, mark.unlink, lambda: mark.write_text(stamp + "0")):
        change()
        assert again()
        assert mark.read_text() == stamp
        assert file.exists()
        assert not again()
    assert len(compiled) == 4
    left = {place.name for place in folder.iterdir()} - {".gpulab-lock"}
    assert left == {"bin", "lib", "version-hiprtc"}  # no file half written


def test_a_stamp_tells_texts_options_and_systems_apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A change of any makes another one: the table's functions, options, the shared and the own C files."""
    hip = libraries.find("hip")
    stamps = [building._stamp(HIPRTC, "a"), building._stamp(HIPRTC, "b"), building._stamp(hip, "a")]
    assert stamps[0] == building._stamp(HIPRTC, "a")
    other = tmp_path / "stub.c"
    other.write_text("int other;")
    for name, value in (("OPTIONS", ("-O0",)), ("_SHARED", (other,))):
        with monkeypatch.context() as changed:
            changed.setattr(building, name, value)
            stamps.append(building._stamp(HIPRTC, "a"))
    for system in {"win32", "darwin"} - {sys.platform}:
        with monkeypatch.context() as changed:
            changed.setattr(sys, "platform", system)
            stamps.append(building._stamp(HIPRTC, "a"))
    with monkeypatch.context() as changed:
        changed.setattr(platform, "machine", lambda: "another")
        stamps.append(building._stamp(HIPRTC, "a"))
    assert len(set(stamps)) == len(stamps)


@pytest.mark.parametrize(
    ("platform", "place", "linked"),
    [
        ("linux", "lib/libhiprtc.so", "-Wl,-soname,libhiprtc.so"),
        ("darwin", "lib/libhiprtc.dylib", "-Wl,-install_name,@rpath/libhiprtc.dylib"),
        ("win32", "bin/hiprtc.dll", ""),
    ],
)
def test_names_and_options_of_each_system(
    folder: Path, compiled: list[tuple[str, Path, str, list[str]]], monkeypatch: pytest.MonkeyPatch, platform: str,
    place: str, linked: str,
) -> None:  # fmt: skip
    text = stub.source(HIPRTC)
    with monkeypatch.context() as changed:
        changed.setattr(sys, "platform", platform)
        building._build_one(HIPRTC, text)
    ((given, target, level, options),) = compiled
    assert (given, target, level) == (text, folder / place, "1")
    assert [option for option in options if option.startswith("-Wl")] == ([linked] if linked else [])
    assert [Path(option).name for option in options if option.endswith(".c")] == ["stub.c"]
    wanted = {"-Wall", "-Wextra", "-Werror", "-fvisibility=hidden", f"-I{HIPRTC.folder}"}
    assert wanted <= set(options)
    versioned = folder / f"{place}.7"
    assert versioned.is_symlink() == (platform == "linux")


def test_a_library_with_c_functions_of_its_own(folder: Path, compiled: list[tuple[str, Path, str, list[str]]]) -> None:
    building._build_one(libraries.find("hip"), "text")
    assert [Path(option).name for option in compiled[0][3] if option.endswith(".c")] == ["stub.c", "own.c"]


@pytest.mark.skipif(sys.platform == "win32", reason="no symbolic links")
def test_a_versioned_name_that_cannot_be_made_is_left_out(
    folder: Path, compiled: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(self: Path, target: str) -> None:
        raise OSError("no symbolic links here")

    monkeypatch.setattr(Path, "symlink_to", refused)
    assert building.build()
    assert (folder / "lib" / building.file_name(HIPRTC)).exists()


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_is_told_and_a_pipe_is_not(
    folder: Path, compiled: list[object], monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    class Stream(io.StringIO):
        def isatty(self) -> bool:
            return terminal

    monkeypatch.setattr(sys, "stderr", Stream())
    assert building.build()
    assert sys.stderr.getvalue().count("\n") == (2 if terminal else 0)
    monkeypatch.setattr(sys, "stderr", None)  # as under pythonw
    building._built.clear()
    (folder / "version-hiprtc").unlink()
    assert building.build()


def test_where_the_files_stand(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In the cache folder; where that cannot be written in a temporary folder of the user, unless it is built there."""
    find = building.rocm_path.__wrapped__
    monkeypatch.setattr(building.cache, "folder", lambda: tmp_path)
    assert find() == tmp_path / "virtual-rocm"
    assert os.listdir(tmp_path / "virtual-rocm") == ["lib"]

    def refused(**where: object) -> None:
        raise PermissionError(13, "read only")

    monkeypatch.setattr(tempfile, "TemporaryFile", refused)
    user = os.getuid() if hasattr(os, "getuid") else os.environ["USERNAME"]
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    assert find() == tmp_path / "temporary" / f"gpulab-{user}" / "virtual-rocm"
    (tmp_path / "virtual-rocm" / "lib" / building.file_name(libraries.find("hip"))).write_bytes(b"")
    assert find() == tmp_path / "virtual-rocm"


@pytest.mark.skipif(sys.platform == "win32", reason="each user has a folder for temporary files")
def test_a_temporary_folder_that_others_can_write_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its name is known to all, so that another user could have put a library there, which would be loaded."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    expected = tmp_path / f"gpulab-{os.getuid()}"
    assert building._temporary() == expected
    assert expected.stat().st_mode & 0o777 == 0o700
    expected.chmod(0o777)
    other = building._temporary()
    assert other != expected
    assert other.stat().st_mode & 0o022 == 0
    expected.rmdir()
    expected.symlink_to(tmp_path)
    assert building._temporary() == other
    expected.unlink()
    expected.mkdir(0o700)
    with monkeypatch.context() as changed:
        another = os.getuid() + 1
        changed.setattr(os, "getuid", lambda: another)
        expected.rename(tmp_path / f"gpulab-{another}")
        assert building._temporary() == other


def test_a_file_of_another_version_is_refused() -> None:
    """Its numbers would mean other functions."""
    assert libraries.handlers("hiprtc", HIPRTC.numbering())
    with pytest.raises(InternalError, match="the file of the virtual library hiprtc is of another version"):
        libraries.handlers("hiprtc", libraries.find("hip").numbering())


def test_who_waited_for_another_process_does_not_build_again(
    folder: Path, compiled: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextlib.contextmanager
    def waiting(where: Path) -> Iterator[None]:
        building._build_one(HIPRTC, stub.source(HIPRTC))  # by the other process
        building._write(building._mark(HIPRTC), building._stamp(HIPRTC, stub.source(HIPRTC)))
        yield

    monkeypatch.setattr(building.cache, "alone", waiting)
    assert building.build()
    assert len(compiled) == 1


def test_all_libraries_are_loaded(folder: Path, compiled: list[object], monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[tuple[str, int]] = []
    monkeypatch.setattr(ctypes, "PyDLL", lambda name, mode: loaded.append((name, mode)))
    building.load()
    building.load(everywhere=True)
    file = str(folder / "lib" / building.file_name(HIPRTC))
    assert loaded == [(file, ctypes.DEFAULT_MODE), (file, ctypes.RTLD_GLOBAL)]
    assert len(compiled) == 1


def test_pythons_functions_are_handed_over_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Addresses in the order in which the library names them, up to the null at the end."""
    given: list[list[int]] = []

    class Loaded:
        @staticmethod
        def gpulab_python(addresses: ctypes.Array[ctypes.c_void_p]) -> None:
            given.append(list(addresses))

    def names() -> list[bytes | None]:
        return [b"PyGILState_Ensure", b"Py_IsInitialized", None, b"PyErr_Print"]

    Loaded.gpulab_python_names = staticmethod(names)  # type: ignore[attr-defined]
    wanted = [ctypes.cast(getattr(ctypes.pythonapi, name.decode()), ctypes.c_void_p).value for name in names()[:2]]
    monkeypatch.setattr(ctypes, "PyDLL", lambda name: Loaded)
    building._connect(Path("hiprtc.dll"))
    assert given == ([wanted] if sys.platform == "win32" else [])
    monkeypatch.setattr(sys, "platform", "win32")
    given.clear()
    building._connect(Path("hiprtc.dll"))
    assert given == [wanted]
