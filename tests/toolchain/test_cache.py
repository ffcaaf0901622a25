"""The cache on disk: where it is, what damages it, who writes at the same time, how it stays small."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import platformdirs
import pytest
from platformdirs import windows
from platformdirs.macos import MacOS
from platformdirs.unix import Unix

import gpulab
from gpulab.toolchain import cache, compile, compiler

SOURCE = "__global__ void k(float* x) { x[0] = 1; }"


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        (Unix, {"GPULAB_CACHE": "/a/b"}, "/a/b"),
        (Unix, {"XDG_CACHE_HOME": "/x"}, "/x/gpulab"),
        (Unix, {"XDG_CACHE_HOME": "relative"}, "{home}/.cache/gpulab"),
        (Unix, {}, "{home}/.cache/gpulab"),
        (MacOS, {}, "{home}/Library/Caches/gpulab"),
        (windows.Windows, {"LOCALAPPDATA": "/local"}, "/local/gpulab/Cache"),
    ],
)
def test_folder(platform: type, variables: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GPULAB_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(platformdirs, "PlatformDirs", platform)
    monkeypatch.setattr(windows, "get_win_folder", windows.get_win_folder_from_env_vars)
    assert cache.folder() == Path(expected.format(home=Path.home()))


def compiler_runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Each run of the compiler program adds its name here."""
    runs: list[str] = []
    run = compiler.run

    def counted(arguments, **keywords):  # type: ignore[no-untyped-def]
        runs.append(arguments[0])
        return run(arguments, **keywords)

    monkeypatch.setattr(compiler, "run", counted)
    return runs


def test_second_compile_runs_nothing(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = compile(SOURCE, arch="gfx942")
    runs = compiler_runs(monkeypatch)
    assert compile(SOURCE, arch="gfx942") == first
    assert runs == []


@pytest.mark.full
def test_what_goes_in_the_key(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compile(SOURCE, arch="gfx942")
    runs = compiler_runs(monkeypatch)
    for change in (
        {"arch": "gfx1100"}, {"options": ["-O1"]}, {"name": "other.hip"}, {"first_line": 2}, {"headers": {"a.h": ""}},
        {"name_expressions": ["k"]}, {"source": SOURCE + " "},
    ):  # fmt: skip
        before = len(runs)
        arguments = {"source": SOURCE, "arch": "gfx942"} | change
        compile(arguments.pop("source"), **arguments)  # type: ignore[arg-type]
        assert len(runs) > before, change


_IN_A_COPY = """
import sys
from gpulab.toolchain import compile, compiler

def run(*arguments, **keywords):
    raise SystemExit("the compiler ran")

if sys.argv[1] == "kept":
    compiler.run = run
(warning,) = compile("__global__ void k(int& n) { n = 1; }", arch="gfx942").warnings
print(warning.advice)
"""


def test_a_word_of_advice_keeps_what_is_compiled(own_cache: Path, tmp_path: Path) -> None:
    """With other words the kept code object is used, and shows them; with another toolchain it is not."""
    package = tmp_path / "gpulab"
    shutil.copytree(Path(gpulab.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__", "static"))
    toolchain = package / "toolchain"

    def advice(how: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", _IN_A_COPY, how], cwd=tmp_path, capture_output=True, text=True,
            env=os.environ | {"PYTHONPATH": str(tmp_path)}, timeout=300,
        )  # fmt: skip
        return done.stdout or done.stderr

    def replaced(name: str, old: str, new: str) -> None:
        text = (toolchain / name).read_text(encoding="utf-8")
        assert old in text
        (toolchain / name).write_text(text.replace(old, new), encoding="utf-8")

    assert advice("compiled").startswith("A kernel's arguments are copied to the device")
    replaced("advice.py", "A kernel's arguments are copied", "The arguments of a kernel are copied")
    assert advice("kept").startswith("The arguments of a kernel are copied to the device")
    replaced("diagnostics.py", "_MOST_SHOWN = 10", "_MOST_SHOWN = 11")
    assert advice("kept").startswith("The arguments of a kernel are copied to the device")
    replaced("listing.py", '"""Assembly text', '"""The assembly text')
    assert "the compiler ran" in advice("kept")


def entries(folder: Path) -> list[Path]:
    return [path for path in (folder / "code").glob("*/*") if path.is_file()]


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "other"])
def test_damaged_entries_are_built_again(own_cache: Path, damage: str) -> None:
    first = compile(SOURCE, arch="gfx942")
    (path,) = entries(own_cache)
    raw = bytearray(path.read_bytes())
    if damage == "flip":
        raw[len(raw) // 2] ^= 1
    path.write_bytes({"cut": bytes(raw[:100]), "flip": bytes(raw), "empty": b"", "other": b"hello"}[damage])
    assert compile(SOURCE, arch="gfx942") == first
    (path,) = entries(own_cache)
    assert path.read_bytes().endswith(first.elf)


def test_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("GPULAB_CACHE", str(blocked / "cache"))
    monkeypatch.setattr(cache, "_warned", False)
    with pytest.warns(RuntimeWarning, match="works without its cache"):
        assert compile(SOURCE, arch="gfx942").kernels
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compile(SOURCE, arch="gfx942").kernels  # said once


def test_pruning_removes_the_least_recently_used(own_cache: Path) -> None:
    store = cache.Store("things", limit=5000)
    keys = [cache.key(str(i)) for i in range(10)]
    for age, key in enumerate(keys):
        cache.Store("things").put(key, bytes(900))  # which does not prune
        os.utime(store.path(key), (1000 + age, 1000 + age))
    assert store.get(keys[0]) is not None  # used now: the youngest
    store.prune()
    left = [key for key in keys if store.path(key).exists()]
    assert left == [keys[0], *keys[-4:]]  # five entries of 900 bytes and their heads fit in 5000


def test_keys_keep_parts_apart() -> None:
    assert cache.key("ab", "c") != cache.key("a", "bc")
    assert cache.key("a") == cache.key(b"a")


def test_many_processes_at_once(own_cache: Path) -> None:
    script = (
        "from gpulab.toolchain import compile\n"
        f"code = compile({SOURCE!r}, arch='gfx1100')\n"
        "import hashlib; print(hashlib.sha256(code.elf).hexdigest())"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    results = [process.communicate(timeout=120) for process in running]
    assert [error for _, error in results] == [""] * 4
    assert len({out for out, _ in results}) == 1
    assert not list(own_cache.rglob(".new-*"))
    assert len(entries(own_cache)) == 1


def test_a_folder_of_ones_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GPULAB_CACHE", str(tmp_path))
    monkeypatch.delenv("GPULAB_CACHE_OWN", raising=False)
    assert cache.own_folder() == tmp_path
    assert cache.Store("a", own=True).root == cache.Store("a").root == tmp_path / "a"
    monkeypatch.setenv("GPULAB_CACHE_OWN", "relative")
    assert cache.own_folder() == Path("relative").absolute()
    assert cache.Store("a", own=True).path("0123") == Path("relative").absolute() / "a" / "01" / "0123"
    assert cache.Store("a").path("0123") == tmp_path / "a" / "01" / "0123"


def test_one_warning_where_nothing_can_be_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GPULAB_CACHE", str(tmp_path / "file"))
    monkeypatch.setattr(cache, "_warned", False)
    with pytest.warns(RuntimeWarning, match=r"gpulab works without its cache: .*zig cannot be written"):
        other = cache.tool_folder()
    assert other.is_dir()
    assert tmp_path not in other.parents
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cache.Store("a").put("00", b"")
        assert cache.tool_folder() == other, "what was built is there for the next call"
        assert cache.tool_folder("cxx-library") == other.parent / "cxx-library"
    monkeypatch.setenv("GPULAB_CACHE", str(tmp_path))
    assert cache.tool_folder() == tmp_path / "zig"


def test_an_entry_that_cannot_be_put_in_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GPULAB_CACHE", str(tmp_path))
    store = cache.Store("a")
    store.put("01", b"first")

    def refused(*_: object) -> None:
        raise OSError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", refused)
    monkeypatch.setattr(cache, "_warned", False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store.put("01", b"second")  # it is there already: another process reads it
    with pytest.warns(RuntimeWarning, match="Permission denied"):
        store.put("02", b"second")
    assert store.get("01") == b"first"
    assert store.get("02") is None
    assert [path.name for path in store.root.rglob("*") if path.is_file()] == ["01"]


def test_which_writes_look_at_the_whole_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One after a 64th of the limit on average: here 64 KiB, of which an entry counts for 4 KiB and its contents."""
    monkeypatch.setenv("GPULAB_CACHE", str(tmp_path))
    pruned = []
    monkeypatch.setattr(cache.Store, "prune", lambda store: pruned.append(store.name))
    for size, looks in ((0, 1 / 16), (12 << 10, 1 / 4), (60 << 10, 1), (100 << 10, 1)):
        pruned.clear()
        for number in range(64):
            cache.Store("a", limit=4 << 20).put(f"key {number * 1024:04x}", bytes(size))
        assert len(pruned) == 64 * looks


def test_what_is_left_fits_the_limit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GPULAB_CACHE", str(tmp_path))
    store = cache.Store("a", limit=300)
    sizes = []
    for number, key in enumerate(("aa", "bb", "cc", "dd")):
        cache.Store("a").put(key, bytes(60))  # which does not prune
        sizes.append(store.path(key).stat().st_size)
        os.utime(store.path(key), (1000 + number, 1000 + number))
    assert sizes == [15 + 32 + 60] * 4
    assert store.prune() == 2 * 107  # 428 bytes: two of the four may stay
    assert [store.get(key) is not None for key in ("aa", "bb", "cc", "dd")] == [False, False, True, True]
    assert cache.Store("a", limit=214).prune() == 0
    assert cache.Store("a", limit=213).prune() == 107


@pytest.mark.full
@pytest.mark.skipif(os.name == "nt", reason="no such locks on Windows")
def test_only_one_process_at_a_time_builds_in_a_folder(tmp_path: Path) -> None:
    """A second process waits until the first one is out: what each notes at its entry and its end is not mixed."""
    notes = tmp_path / "notes"
    text = (
        "import pathlib, sys, time\nfrom gpulab.toolchain import cache\n"
        f"with cache.alone(pathlib.Path({str(tmp_path)!r})), open({str(notes)!r}, 'a') as file:\n"
        "    print('in', file=file, flush=True)\n    time.sleep(0.3)\n    print('out', file=file, flush=True)\n"
    )
    both = [subprocess.Popen([sys.executable, "-c", text]) for _ in range(2)]
    assert [one.wait(60) for one in both] == [0, 0]
    assert notes.read_text().split() == ["in", "out", "in", "out"]


def test_a_large_entry_stays_open(own_cache: Path, tmp_path: Path) -> None:
    store, body = cache.Store("large"), bytes(range(256)) * (5 << 12) + b"the end"
    assert store.open("0" * 64) is None
    store.put("0" * 64, body)
    entry = store.open("0" * 64)
    assert entry is not None
    assert entry.size == len(body)
    store.path("0" * 64).unlink()
    entry.copy(tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == body == b"".join(entry.parts())


@pytest.mark.parametrize("place", [1023, 1024, (1 << 20) - 3, (1 << 20) - 1, 1 << 20, (2 << 20) - 5])
def test_words_of_a_large_entry_are_found_across_its_pieces(own_cache: Path, place: int) -> None:
    body = bytearray(2 << 20)
    body[place : place + 5] = b"words"
    cache.Store("large").put("1" * 64, bytes(body))
    entry = cache.Store("large").open("1" * 64)
    assert entry is not None
    assert b"words" in entry
    assert b"words" in entry
    assert b"wordss" not in entry


@pytest.mark.parametrize(
    "damage", [lambda raw: raw[:-1], lambda raw: raw[:40], lambda raw: raw + b"\0", lambda raw: b""]
)
def test_a_damaged_large_entry_is_removed(own_cache: Path, damage: Callable[[bytes], bytes]) -> None:
    store = cache.Store("large")
    store.put("2" * 64, b"x" * 3000)
    path = store.path("2" * 64)
    path.write_bytes(damage(path.read_bytes()))
    assert store.open("2" * 64) is None
    assert not path.exists()
