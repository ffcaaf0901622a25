"""Every instrument of one real launch of ten million threads: small for the browser, and there without a wait."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest

import gpulab
from gpulab.views.instrument import Instrument

SOURCE = """
__global__ void shuffled(int n, float a, const float* x, float* y)
{
    __shared__ float tile[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = x[i < n ? i : 0];
    __syncthreads();
    if (i < n)
        y[i] = a * tile[255 - threadIdx.x] + y[i];
}
"""
N, BLOCK = 10_000_000, 256
GRID = -(-N // BLOCK)
OF_A_RUN = ("source", "divergence", "coalescing", "lds_banks", "memory", "roofline", "timeline", "gpu_map")


@pytest.mark.full
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_ten_million_threads(arch: str) -> None:
    with gpulab.using(f"virtual:{arch}"):
        kernel = gpulab.compile(SOURCE).shuffled
        x, y = gpulab.to_device(np.ones(N, "float32")), gpulab.zeros(N)
        with gpulab.profile() as run:
            kernel[GRID, BLOCK](N, 2.0, x, y)
        made: dict[str, Instrument] = {}
        seconds: dict[str, float] = {}
        sizes: dict[str, int] = {}
        for name in OF_A_RUN:
            began = time.process_time()
            made[name] = getattr(run, name)()
            sizes[name] = len(json.dumps(made[name].message()))
            seconds[name] = time.process_time() - began
        trace = gpulab.trace(kernel, GRID, BLOCK, N, 2.0, x, y, workgroup=GRID - 1)
        sizes["stepper"] = len(json.dumps(trace.stepper().message()))
        sizes["occupancy"] = len(json.dumps(gpulab.occupancy(kernel, BLOCK).message()))
    assert max(sizes.values()) < 200_000, sizes
    assert max(seconds.values()) < 3, seconds
    for name, instrument in made.items():
        assert instrument.sentence, name
        assert instrument.table.rows, name
        assert len(instrument.table.rows) < 100, name
