"""ROCR_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES, CUDA_VISIBLE_DEVICES."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from gpulab.virtual_gpu.runtime import codes, visible
from gpulab.virtual_gpu.runtime.codes import Failure
from gpulab.virtual_gpu.runtime.runtime import Runtime

FOUR = [("0000aaaa", "a"), ("0001bbbb", "b"), ("0001bccc", "c"), ("0003dddd", "d")]


# Expected by ROCm's documentation of GPU isolation, and the rules in the module's head.
@pytest.mark.parametrize(
    ("rocr", "hip", "cuda", "seen"),
    [
        (None, None, None, "abcd"),
        (None, "2", None, "c"),
        (None, "3,0", None, "da"),
        (None, "1,1,0,1", None, "ba"),
        (None, "0,4,1", None, "a"),  # the list ends at a wrong entry
        (None, "-1", None, ""),
        (None, "1,-1,2", None, "b"),
        (None, "NoDevFiles", None, ""),
        (None, "01", None, ""),
        (None, "0, 1", None, "a"),
        (None, "", None, "abcd"),
        (None, "", "1", "b"),
        (None, None, "3,2", "dc"),
        (None, "0", "3", "a"),  # HIP's own counts
        (None, "GPU-0003dddd,0", None, "da"),
        (None, "GPU-0003", None, ""),
        ("", None, None, ""),
        ("2, 1", None, None, "cb"),
        ("3,1,0", "2,0", None, "ad"),  # the second counts what the first left
        ("3,1", "2", None, ""),
        ("gpu-0003dddd,1", None, None, "db"),
        ("GPU-0001bc", None, None, "c"),
        ("GPU-0001,0", None, None, ""),  # which of two?
        ("1,9,0", None, "0", "b"),
    ],
)
def test_lists(rocr: str | None, hip: str | None, cuda: str | None, seen: str) -> None:
    given = zip(visible.NAMES, (rocr, hip, cuda), strict=True)
    assert "".join(visible.visible(FOUR, {name: text for name, text in given if text is not None})) == seen


def test_devices_are_renumbered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPULAB_DEVICES", "gfx942,gfx1100,gfx90a")
    monkeypatch.setenv("HIP_VISIBLE_DEVICES", "2,1")
    seen = Runtime()
    assert [(device.index, device.architecture.name) for device in seen.devices] == [(0, "gfx90a"), (1, "gfx1100")]
    assert [device.properties.pciBusID for device in seen.devices] == [5, 4]  # they are the same devices
    assert len(Runtime("gfx942,gfx1100,gfx90a").devices) == 3  # named ones are all meant


def test_no_device_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPULAB_DEVICES", "gfx942,gfx1100")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    seen = Runtime()
    for call in (lambda: seen.current, lambda: seen.device(0), seen.need_devices):
        with pytest.raises(Failure, match="of 2 virtual devices CUDA_VISIBLE_DEVICES=-1 leaves none") as found:
            call()
        assert found.value.code == codes.NO_DEVICE


def test_in_a_process_and_in_those_that_it_starts() -> None:
    program = (
        "from gpulab import providers\n"
        "found = providers.devices()\n"
        "print([device.arch for device in found])\n"
        "print(*(f'{k}={v}' for k, v in sorted(providers.environment(found[0]).items())))\n"
    )
    environment = {**os.environ, "GPULAB_DEVICES": "gfx942,gfx1100,gfx90a", "HIP_VISIBLE_DEVICES": "2,0"}
    environment["GPULAB_LIBRARY"] = "virtual"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "['gfx90a', 'gfx942']",
        "GPULAB_DEVICES=gfx90a,gfx942 GPULAB_LIBRARY=virtual HIP_VISIBLE_DEVICES=0,1",
    ]
