"""The cache as a way from one submission to another."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gpulab.toolchain import assemble, cache, compile
from gpulab.virtual_gpu.translate import jit

KERNEL = "__global__ void k(int* x) { x[0] = 1; }"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GPULAB_CACHE", str(tmp_path))
    return tmp_path


def test_an_entry_is_bound_to_its_key(folder: Path) -> None:
    """An entry that stands under another key, as it is in every byte, is refused and removed."""
    store = cache.Store("code")
    right, wrong = cache.key("right"), cache.key("wrong")
    store.put(wrong, b"what somebody else made")
    store.path(right).parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(store.path(wrong), store.path(right))
    assert store.get(right) is None
    assert not store.path(right).exists()
    assert store.get(wrong) == b"what somebody else made"


def test_what_is_made_of_a_text_goes_to_its_own_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compile(KERNEL, arch="gfx942")  # the library and the headers, which all share
    before = sorted(path for path in folder.rglob("*") if path.is_file())
    own = folder.parent / f"{folder.name}-own"
    monkeypatch.setenv("GPULAB_CACHE_OWN", str(own))
    compile(KERNEL.replace("1", "2"), arch="gfx942")
    assert sorted(path for path in folder.rglob("*") if path.is_file()) == before
    assert len([path for path in own.rglob("*") if path.is_file()]) == 1
    shutil.rmtree(own)


def test_no_shared_part_holds_what_is_made_of_texts() -> None:
    """The stores of code objects and of their machine code are a submission's own."""
    assert assemble._STORE.own
    assert jit.STORE.own
    assert not {assemble._STORE.name, jit.STORE.name, "programs"} & set(cache.SHARED)
