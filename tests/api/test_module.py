"""Modules and launches at their edges: what is looked for and is not there, sizes and streams that are none."""

from __future__ import annotations

import subprocess
import sys

import pytest

import gpulab
from gpulab import providers
from gpulab.errors import KernelNotFound, LaunchLimitError

SOURCE = "__device__ int table[4]; __global__ void fill(int* a) { a[threadIdx.x] = 7; }\n__global__ void other() {}"


@pytest.fixture(scope="module")
def module() -> gpulab.Module:
    return gpulab.compile(SOURCE)


def test_a_module_holds_its_kernels(module: gpulab.Module) -> None:
    assert [kernel.name for kernel in module] == ["fill", "other"]
    assert len(module) == 2
    assert ("fill" in module, "absent" in module, 3 in module) == (True, False, False)
    assert {"fill", "other", "kernels"} <= set(dir(module))
    assert module.fill is module["fill"]
    with pytest.raises(AttributeError, match="_private"):
        module._private  # noqa: B018
    with pytest.raises(KernelNotFound):
        module["absent"]
    assert repr(module).startswith("Module(")
    assert f"for {module.arch}: fill(int *a), other())" in repr(module)


def test_streams_that_are_none(module: gpulab.Module) -> None:
    array = gpulab.zeros(4, "int32")
    for stream in (3, 4095, -1, "s"):
        with pytest.raises(LaunchLimitError) as raised:
            module.fill[1, 4, 0, stream](array)
        assert f"fill: the fourth part in the brackets is a stream, not {stream!r}." in str(raised.value)
    for stream in (0, None):
        module.fill[1, 4, 0, stream](array)
    assert array.to_host().tolist() == [7] * 4


def test_sizes_at_their_limits(module: gpulab.Module) -> None:
    """1024 threads in a block (hipDeviceAttributeMaxThreadsPerBlock of AMD's GPUs)."""
    array = gpulab.zeros(1024, "int32")
    module.fill[1, 1024](array)
    assert (array.to_host() == 7).all()
    for block in (1025, (32, 33), (2, 2, 257)):
        with pytest.raises(LaunchLimitError):
            module.fill[1, block](array)
    most = providers.devices()[providers.current()].limits.grid
    for axis, name in enumerate("xyz"):
        grid = [1, 1, 1]
        grid[axis] = most[axis] + 1
        with pytest.raises(LaunchLimitError, match=f"the grid's {name} is {most[axis] + 1:,}; .* {most[axis]:,}"):
            module.other[tuple(grid), 1]()


def test_a_module_that_hipDeviceReset_has_unloaded_goes_without_a_word() -> None:
    code = (
        "import gc, sys, gpulab\n"
        "from hip import hip\n"
        "sys.unraisablehook = lambda found: print('ignored:', found.exc_value)\n"
        "module = gpulab.compile('extern \"C\" __global__ void one(int* x) { x[threadIdx.x] = 1; }')\n"
        "module.one[1, 64](gpulab.zeros(64, 'int32'))\n"
        "print(int(hip.hipDeviceReset()[0]))\n"
        "del module\n"
        "gc.collect()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert (done.stdout, done.stderr) == ("0\n", "")
