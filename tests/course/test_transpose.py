"""The capstone on memory compares with a copy: its time in the exercise is the one that the model gives."""

import importlib.util
from pathlib import Path

import pytest

import gpulab

ROOT = Path(__file__).resolve().parents[2]
COPY = """
__global__ void copy(int count, const float4* in, float4* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = in[i];
}
"""


def definition():
    path = ROOT / "course" / "exercises" / "transpose-to-peak" / "check.py"
    spec = importlib.util.spec_from_file_location("transpose_to_peak", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.full
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_the_copy_that_a_transpose_is_measured_by(arch):
    exercise = definition()
    with gpulab.using(arch):
        count = exercise.LARGE**2
        kernel = gpulab.compile(COPY).copy
        source, target = gpulab.zeros(count), gpulab.empty(count)
        with gpulab.profile() as run:
            kernel[count // 1024, 256](count // 4, source, target)
    assert run[0].time_us == pytest.approx(exercise.COPY_US[arch], rel=0.02)
