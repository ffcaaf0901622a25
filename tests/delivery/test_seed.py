"""A seed fills a cache that lacks something, changes nothing that is there, and has nothing of its maker's work."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpulab.delivery.seed import make_seed, take
from gpulab.errors import GpulabError


def put(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_what_is_there_stays_and_what_is_missing_comes(tmp_path: Path) -> None:
    seed = put(tmp_path / "seed", {"code/aa/aa1": "new", "host/bb/bb1": "other", "library/cc/.new-x": "half"})
    cache = put(tmp_path / "cache", {"code/aa/aa1": "old", "code/dd/dd1": "mine"})
    assert take(seed, cache) == (1, 5)
    there = {path.relative_to(cache).as_posix(): path.read_text() for path in cache.rglob("*") if path.is_file()}
    assert there == {"code/aa/aa1": "old", "code/dd/dd1": "mine", "host/bb/bb1": "other"}
    assert take(seed, cache) == (0, 0)


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_nothing_but_a_caches_own_files_is_taken(tmp_path: Path) -> None:
    """No settings of Jupyter, with their secrets; no links, which would lead elsewhere."""
    seed = put(tmp_path / "seed", {"code/aa/aa1": "new", "jupyter/runtime/token.json": "secret", "note": "x"})
    put(tmp_path / "outside", {"file": "not yours"})
    (seed / "host").symlink_to(tmp_path / "outside")
    (seed / "code" / "aa" / "link").symlink_to(tmp_path / "outside" / "file")
    (seed / "code" / "bb").symlink_to(tmp_path / "outside")
    os.mkfifo(seed / "code" / "aa" / "pipe")
    take(seed, tmp_path / "cache")
    assert [path.name for path in (tmp_path / "cache").rglob("*") if not path.is_dir()] == ["aa1"]


def test_a_cache_that_cannot_be_filled(tmp_path: Path) -> None:
    seed = put(tmp_path / "seed", {"code/aa/aa1": "new", "code/aa/._aa1": "of a Mac"})
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(GpulabError, match=r"^The cache .*cache cannot be filled: .*(directory|exist)"):
        take(seed, tmp_path / "cache")
    assert take(seed, tmp_path / "other") == (1, 3)


def test_without_another_cache_the_users_is_filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seed = put(tmp_path / "seed", {"code/aa/aa1": "new", "code/bb/bb1": "newer"})
    monkeypatch.setenv("GPULAB_CACHE", str(tmp_path / "mine"))
    os.utime(seed / "code/aa/aa1", (1000, 1000))
    assert take(seed) == (2, 8)
    assert (tmp_path / "mine/code/bb/bb1").read_text() == "newer"
    assert (tmp_path / "mine/code/aa/aa1").stat().st_mtime == 1000


def test_what_is_no_seed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*words: object, **more: object) -> None:
        raise AssertionError("nothing is built")

    monkeypatch.setattr(subprocess, "run", run)
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(GpulabError, match="There is no seed in"):
            take(folder, tmp_path / "cache")
    with pytest.raises(GpulabError, match="holds other things than a cache: thesis"):
        make_seed(put(tmp_path / "home", {"thesis": ""}))


def test_a_seed_serves_another_home(tmp_path: Path) -> None:
    """Built once, taken into an empty cache: nothing is compiled or built again."""
    seed, cache = tmp_path / "seed", tmp_path / "cache"
    assert "a first kernel on each device" in make_seed(seed)
    assert {path.name for path in seed.iterdir()} <= {"code", "headers", "host", "library", "support", "virtual-rocm"}
    code = (
        "from gpulab.toolchain import compiler\n"
        "def refuse(*words, **more): raise SystemExit('the compiler was called')\n"
        "import subprocess; compiler.subprocess.Popen = refuse\n"
        "from gpulab import cli; raise SystemExit(cli.main(['setup', '--seed', SEED]))\n"
    ).replace("SEED", repr(str(seed)))
    environment = {name: value for name, value in os.environ.items() if name != "GPULAB_CACHE_OWN"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment | {"GPULAB_CACHE": str(cache)}, capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "from the seed: " in done.stdout
    assert not (cache / "zig").exists(), "where Clang works"
