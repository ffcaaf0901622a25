"""assert in kernels: what is printed, which line the fault names, and that threads whose condition holds run on."""

from __future__ import annotations

import numpy as np
import pytest

import gpulab
from gpulab.errors import KernelTrap

SOURCE = """#include <cassert>
__global__ void positive(int* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    assert(x[i] >= 0);
    assert(x[i] % 100 != 35 && "no 35 %d");
    x[i] += 1;
}
"""


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize(("place", "value", "line", "text"), [
    (200, -1, 5, "x[i] >= 0"), (70, 435, 6, 'x[i] % 100 != 35 && "no 35 %d"'),
])  # fmt: skip
def test_a_failed_assert_prints_and_traps(
    arch: str, place: int, value: int, line: int, text: str, capfd: pytest.CaptureFixture[str]
) -> None:
    x = np.zeros(256, "int32")
    x[place] = value
    with gpulab.using(arch):
        kernel = gpulab.compile(SOURCE, name="positive.hip").positive
        with pytest.raises(KernelTrap) as error:
            kernel[4, 64](gpulab.to_device(x), 256)
            gpulab.synchronize()
    message = str(error.value)
    assert f"positive.hip, line {line}:" in message
    assert "assert(" in message
    printed = (
        f"positive.hip:{line}: void positive(int *, int): Device-side assertion `{text}' failed. "
        f"block ({place // 64}, 0, 0), thread ({place % 64}, 0, 0)\n"
    )
    assert capfd.readouterr().out == printed


@pytest.mark.full
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_an_assert_that_holds_changes_nothing(arch: str, capfd: pytest.CaptureFixture[str]) -> None:
    with gpulab.using(arch):
        x = gpulab.to_device(np.arange(30, dtype="int32"))
        gpulab.compile(SOURCE).positive[1, 64](x, 30)
        assert x.to_host().tolist() == list(range(1, 31))
    assert capfd.readouterr().out == ""


@pytest.mark.full
def test_a_wave_prints_a_line_for_each_failing_thread(capfd: pytest.CaptureFixture[str]) -> None:
    with gpulab.using("gfx942"):
        x = gpulab.to_device(np.array([1, -1] * 32, dtype="int32"))
        with pytest.raises(KernelTrap):
            gpulab.compile(SOURCE).positive[1, 64](x, 64)
            gpulab.synchronize()
    lines = capfd.readouterr().out.splitlines()
    assert [text.partition(", thread ")[2] for text in lines] == [f"({t}, 0, 0)" for t in range(1, 64, 2)]
