"""Tensors in the memory of the host as arguments: a stand-in has what those of PyTorch have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import gpulab

triton = pytest.importorskip("triton", reason="the extra triton is not installed")

from gpulab.guests.triton import host  # noqa: E402
from tests.guests import kernels  # noqa: E402


@pytest.fixture(autouse=True)
def own_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", kernels.folder())
    host.said.clear()


@dataclass
class Storage:
    array: np.ndarray

    def data_ptr(self) -> int:
        return int(self.array.ctypes.data)

    def nbytes(self) -> int:
        return int(self.array.nbytes)


@dataclass
class Tensor:
    """A view of elements from `start` on."""

    whole: np.ndarray
    start: int = 0
    is_cpu = True

    @property
    def dtype(self) -> str:
        return str(self.whole.dtype)

    def data_ptr(self) -> int:
        return int(self.whole[self.start :].ctypes.data)

    def untyped_storage(self) -> Storage:
        return Storage(self.whole)


@pytest.mark.full
def test_a_tensor_goes_there_and_back(capsys: pytest.CaptureFixture[str]) -> None:
    with gpulab.using("virtual:gfx942"):
        x = np.arange(300, dtype="f4")
        for _ in range(2):
            kernels.scale_kernel[(2,)](Tensor(x), 300, 2.0, BLOCK=256)
        np.testing.assert_array_equal(x, np.arange(300) * 4)
    said = capsys.readouterr().err
    assert said.count("gpulab: tensors in the memory of the host are copied to AMD Instinct MI300X") == 1


def test_views_share_their_memory_and_stand_as_they_did() -> None:
    """Input and output are parts of one array; the second begins 4 bytes behind a multiple of 16."""
    with gpulab.using("virtual:gfx942"):
        whole = np.arange(202, dtype="f4")
        before = whole.copy()
        kernels.add_kernel[(1,)](Tensor(whole), Tensor(whole), Tensor(whole, 101), 101, BLOCK=128)
        np.testing.assert_array_equal(whole[:101], before[:101])
        np.testing.assert_array_equal(whole[101:], 2 * before[:101])
        for offset in (0, 1, 3):
            copies = host.Copies()
            moved = copies.on_device(Tensor(whole[offset:], 2))
            assert moved.data_ptr() % 16 == whole[offset + 2 :].ctypes.data % 16


def test_memory_that_cannot_be_written_is_only_read() -> None:
    import mmap

    with gpulab.using("virtual:gfx942"), mmap.mmap(-1, 4096, prot=mmap.PROT_READ) as room:
        fixed = np.frombuffer(room, "f4", 64)
        out = np.ones(64, "f4")
        kernels.add_kernel[(1,)](Tensor(fixed), Tensor(fixed), Tensor(out), 64, BLOCK=64)
        assert not out.any()
        del fixed


def test_a_fault_leaves_the_tensor_as_it_was() -> None:
    with gpulab.using("virtual:gfx942"):
        x = np.ones(64, "f4")
        with pytest.raises(gpulab.errors.MemoryFault):
            kernels.scale_kernel[(4096,)](Tensor(x), 1 << 20, 2.0, BLOCK=256)
        assert (x == 1).all()


def test_in_tuples_and_descriptors() -> None:
    @dataclass
    class Descriptor:
        base: Any
        shape: list[int]

    x = np.ones(4, "f4")
    with gpulab.using("virtual:gfx942"):
        copies = host.Copies()
        pair, described = copies.on_device((Tensor(x), 5)), copies.on_device(Descriptor(Tensor(x, 1), [4]))
    assert pair[0].data_ptr() + 4 == described.base.data_ptr()
    assert (pair[1], described.shape) == (5, [4])
    assert copies.on_device("other") == "other"
    assert copies.on_device(Tensor(np.ones(0, "f4"))).data_ptr() == 0


@dataclass
class Whole:
    """A tensor without the method that gives its storage, as numpy's arrays and others' are."""

    array: np.ndarray
    is_cpu: Any = True

    @property
    def nbytes(self) -> int:
        return int(self.array.nbytes)

    def data_ptr(self) -> int:
        return int(self.array.ctypes.data)


def test_what_is_in_the_memory_of_the_host() -> None:
    """It says so itself, with a value that is true and no other."""

    class NoAddress:
        is_cpu = True

    x = np.ones(4, "f4")
    asked = (Whole(x), Whole(x, False), Whole(x, 1), Whole(x, lambda: True), NoAddress(), Storage(x), x, 5, None)
    assert [host.is_on_host(each) for each in asked] == [True, *[False] * 8]


def test_what_is_said_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("a", "b", "a"):
        host.say_once(text)
    out, err = capsys.readouterr()
    assert (out, err) == ("", "a\nb\n")


def test_a_storage_is_copied_once_and_what_has_changed_comes_back(capsys: pytest.CaptureFixture[str]) -> None:
    room = np.zeros(36, "u1")
    start = -room.ctypes.data % 16 + 3  # three bytes behind a multiple of 16
    x = room[start : start + 16]
    x[:] = range(16)
    with gpulab.using("virtual:gfx942"):
        copies = host.Copies()
        moved, view = copies.on_device(Whole(x)), copies.on_device(Tensor(x, 5))
        assert moved.data_ptr() % 16 == 3
        assert view.data_ptr() == moved.data_ptr() + 5
        copies.back()
        assert x.tolist() == list(range(16))
        ((_, there, _),) = copies._copied.values()
        assert there.to_host().tolist() == [0, 0, 0, *range(16)]
        for first, last in ((4, 7), (0, 15), (9, 9)):
            found = there.to_host()
            found[[3 + first, 3 + last]] = 90 + first, 90 + last
            there.copy_from(found)
            copies.back()
            assert x.tolist() == found[3:].tolist()
    assert not room[:start].any()
    assert not room[start + 16 :].any()
    said = capsys.readouterr().err
    assert said == (
        "gpulab: tensors in the memory of the host are copied to AMD Instinct MI300X (virtual) and back around each "
        "launch.\n"
    )
