"""Ctrl-C (the stop button of a notebook) during a kernel: Python comes back at once and the device stays usable."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import gpulab
from gpulab import providers

FOREVER = """
__global__ void forever(const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    while (x[i] >= 0) { UPDATE; }
}
__global__ void one(float* y) { y[threadIdx.x] = 1; }
"""


@pytest.fixture
def long_limit():
    providers.instruments("limit").set_instruction_limit(
        1 << 34
    )  # minutes: a launch that is not stopped fails the test
    yield
    providers.instruments("limit").set_instruction_limit(None)


@pytest.mark.parametrize(
    ("grid", "update"),
    [(1, "y[i] += 1"), (64, "y[i] += 1"), (64, "atomicAdd(&y[0], 1.0f)")],
    ids=["caller's thread", "all cores", "in order"],
)
@pytest.mark.usefixtures("long_limit")
def test_interrupt_stops_a_kernel(grid, update):
    with gpulab.using("gfx942"):
        module = gpulab.compile(FOREVER.replace("UPDATE", update))
        x, y = gpulab.zeros(grid * 128), gpulab.zeros(grid * 128)
        module.one[1, 4](y)
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        start = time.process_time()
        with pytest.raises(KeyboardInterrupt):
            module.forever[grid, 128](x, y)
        assert time.process_time() - start < 10
        timer.join()
        # A launch afterwards starts afresh.
        y = gpulab.zeros(128)
        module.one[1, 4](y)
        assert np.array_equal(y.to_host()[:6], [1, 1, 1, 1, 0, 0])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_launches_on_all_cores():
    with gpulab.using("gfx942"):
        kernel = gpulab.compile("__global__ void k(int* y) { y[blockIdx.x * blockDim.x + threadIdx.x] += 1; }").k
        y = gpulab.zeros(100 * 256, "int32")
        kernel[100, 256](y)  # starts the threads
        child = os.fork()
        if child == 0:
            signal.alarm(20)  # ends a child that waits for ever
            kernel[100, 256](y)
            os._exit(0 if (y.to_host() == 2).all() else 1)
        assert os.waitpid(child, 0)[1] == 0


@pytest.mark.full
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_has_working_memory_of_its_own():
    """It and its parent launch at the same time; each has its own registers, LDS and counters."""
    with gpulab.using("gfx942"):
        kernel = gpulab.compile("""
            __global__ void k(int a, int* y) {
                __shared__ int t[256];
                int sum = 0;
                for (int i = 0; i < 200; i++) {
                    t[threadIdx.x] = a + i;
                    __syncthreads();
                    sum += t[255 - threadIdx.x] - i;
                    __syncthreads();
                }
                y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
            }
        """).k
        y = gpulab.zeros(100 * 256, "int32")
        kernel[100, 256](1, y)

        def launches(a: int) -> bool:
            right = True
            for _ in range(20):
                kernel[100, 256](a, y)
                right = right and bool((y.to_host() == 200 * a).all())
            return right

        child = os.fork()
        if child == 0:
            signal.alarm(60)
            os._exit(0 if launches(3) else 1)
        own = launches(1)
        assert os.waitpid(child, 0)[1] == 0
        assert own
