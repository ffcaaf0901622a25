"""A kernel that remembers: what it left in an earlier run of a case must not be there in the next."""

from __future__ import annotations

import numpy as np
import pytest

from gpulab.grading import check
from gpulab.grading.case import Array, Asked, Buffer, Case, Prototype, Run
from gpulab.grading.exercise import Exercise
from gpulab.grading.gpu_bench import GpuBench
from gpulab.grading.judgement import examine
from gpulab.grading.outcome import Outcome
from gpulab.grading.requirements import lds_bytes
from gpulab.records import Counters, Launch

# Each writes to out[0] how much it remembers: 0 for nothing.
REMEMBERING = {
    "a variable": "__device__ int runs; __global__ void k(int* out) { out[0] = runs; runs += 1; }",
    "a variable with a value": "__device__ int runs = 5; __global__ void k(int* out) { out[0] = runs - 5; runs = 9; }",
    "the end of an array": """
        __device__ volatile int kept[999] = {1, 2};
        __global__ void k(int* out) { out[0] = kept[998] + kept[1] - 2; kept[998] = kept[1] = 7; }""",
    "a pointer": """
        __device__ int first, second, *volatile at = &first;
        __global__ void k(int* out) { out[0] = at != &first; at = &second; }""",
    "a managed variable": "__managed__ int runs; __global__ void k(int* out) { out[0] = runs; runs = 3; }",
    "a variable of a function": """
        __device__ int next() { static __device__ int runs; return runs++; }
        __global__ void k(int* out) { out[0] = next(); }""",
    "LDS": """
        __global__ void k(int* out) {
            __shared__ volatile int kept[64];
            out[0] = kept[5] == 4711;
            kept[5] = 4711;
        }""",
    "private memory": """
        __global__ void k(int* out) {
            volatile int kept[64];
            out[0] = kept[out[0] & 7] == 4711;
            for (int i = 0; i < 64; i++) kept[i] = 4711;
        }""",
}


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("how", REMEMBERING)
def test_nothing_is_remembered(how: str, arch: str) -> None:
    out = Array("out", np.zeros(1, "int32"), np.zeros(1, "int32"))
    case = Case({}, (1, 1, 1), (1, 1, 1), (out,))
    asked = Asked("memory", "k", {"k": Prototype("k", "int* out", (((True, "int32"),),))})
    kernel = GpuBench().prepare(REMEMBERING[how], asked, arch)
    try:
        found = [int(kernel.run(case, [Buffer(out, 0)], 1000).after["out"][0]) for _ in range(3)]
    finally:
        kernel.close()
    assert found == [0, 0, 0]


# The plain, slow kernel for the runs whose result is looked at first, and one that does nothing for the measured run.
ONE_ATOMIC_EACH = """
__device__ unsigned runs[4096];
__global__ void count_keys(int n, int keys, const int* key, int* bins)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool measured = atomicAdd(&runs[i % 4096], 1) >= 2;
    if (i < n && !measured) atomicAdd(&bins[key[i]], 1);
}
"""


def test_a_slow_kernel_that_counts_its_runs_is_not_accepted() -> None:
    assert not check("one-atomic-each", ONE_ATOMIC_EACH, record=False).passed


def outcome(measured: Run) -> Outcome:
    array = Array("out", np.zeros(4, "int32"), np.arange(4, dtype="int32"))
    case = Case({"n": 4}, (1, 1, 1), (4, 1, 1), (array,))
    right = Run({"out": array.wanted.copy()})
    return Outcome(case, "gfx942", 64, right, right, 0, "", lambda: measured)


def launch() -> Launch:
    return Launch("k", "gfx942", 0, (1, 1, 1), (4, 1, 1), 0, 1, Counters())


def test_the_measured_run_is_judged_too() -> None:
    exercise = Exercise(
        id="steady", title="", lesson="", section="", kernel="k", signature="int* out",
        make=lambda parameters, random: outcome(Run({})).case, cases=({"n": 4},), causes=(), hints=("a", "b", "c"),
        smallest={"n": 4}, requirements=(lds_bytes(at_most=0),),
    )  # fmt: skip
    right = Run({"out": np.arange(4, dtype="int32")}, launches=(launch(),))
    assert examine(exercise, outcome(right)) is None
    wrong = Run({"out": np.zeros(4, "int32")}, launches=(launch(),))
    failure = examine(exercise, outcome(wrong))
    assert failure is not None
    assert failure.requirement is not None
    assert failure.requirement.name == "every-run"
    assert "3 of 4 elements of out are wrong" in failure.complaint
    cut = Run({"out": np.zeros(4, "int32")})  # without a record of its launch, the requirement itself fails
    failure = examine(exercise, outcome(cut))
    assert failure is not None
    assert "elements of out are wrong" in failure.complaint
