"""Requirements measure what they say: each is met by one kernel and missed by another, on the virtual GPU."""

import re

import numpy as np
import pytest

from gpulab.errors import CheckError
from gpulab.grading import requirements as ask
from gpulab.grading.case import Array, Case, Step, Value, blocks_for, distinct, sentinel
from gpulab.grading.exercise import Exercise, Requirement
from gpulab.grading.gpu_bench import GpuBench
from gpulab.grading.judge import judge
from gpulab.grading.sources import code_only

COPY = """
__global__ void copy(int n, const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i];  // __syncthreads() in a comment
}"""
STRIDED = """
__global__ void copy(int n, const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x, half = threads / 16;
    i = i % 16 * half + i / 16;
    if (i < n) out[i] = in[i];
}"""
THROUGH_LDS = """
__global__ void copy(int n, const float* in, float* out)
{
    __shared__ float tile[32 * STRIDE];
    int i = blockIdx.x * blockDim.x + threadIdx.x, at = threadIdx.x % 32 * STRIDE + threadIdx.x / 32;
    if (i < n) tile[at] = in[i];
    __syncthreads();
    if (i < n) out[i] = tile[at];
}"""
ARRAY = """
__global__ void copy(int n, const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    volatile float kept[64];
    for (int k = 0; k < 64; ++k) kept[k] = k + n;
    kept[(n + i) % 64] = i < n ? in[i] : 0.0f;
    if (i < n) out[i] = kept[(i + n) % 64];
}"""
HALF = """
__global__ void copy(int n, const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = in[i];
    if (i % 2) { for (int k = 0; k < 100; ++k) value = __builtin_sqrtf(value * value); }
    out[i] = value;
}"""


COUNTED = """
__global__ void copy(int n, const float* in, float* out)
{
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    int place = atomicAdd(&count, 1);
    int i = blockIdx.x * blockDim.x + PLACE;
    if (i < n) out[i] = in[i];
}"""


def make(parameters, random):
    n, block = parameters["n"], parameters["block"]
    data = distinct(random, n)
    arguments = (Value("n", np.int32(n)), Array("in", data), Array("out", sentinel("float32", n), data, relative=1e-5))
    return Case(parameters, (blocks_for(n, block), 1, 1), (block, 1, 1), arguments)


def exercise(*requirements, **changes):
    settings = {
        "id": "copy", "title": "copy", "lesson": "02_simt", "section": "Neighbours", "kernel": "copy",
        "signature": "int n, const float* in, float* out", "make": make, "cases": ({"n": 4096, "block": 256},),
        "causes": (), "hints": ("a", "b", "c"), "smallest": {"n": 1, "block": 32}, "requirements": requirements,
    }  # fmt: skip
    return Exercise(**{**settings, **changes})


def lines(case):
    return 2 * case.parameters["n"] * 4 / 128


PAIRS = {
    "lines": (ask.memory_lines(minimum=lines), COPY, STRIDED),
    "conflicts": (
        ask.bank_conflicts(), THROUGH_LDS.replace("STRIDE", "33"), THROUGH_LDS.replace("STRIDE", "32"),
    ),
    "barriers": (ask.source("barriers", r"\b__syncthreads\b", at_most=0, what="barriers"), COPY,
                 THROUGH_LDS.replace("STRIDE", "33")),
    "executed": (ask.executed("executed", "barriers", at_most=0), COPY, THROUGH_LDS.replace("STRIDE", "33")),
    "lds": (ask.lds_bytes(at_most=0), COPY, THROUGH_LDS.replace("STRIDE", "33")),
    "scratch": (ask.scratch_bytes(), COPY, ARRAY),
    "instructions": (ask.instructions("plain", "LDS reads", at_most=0), COPY, THROUGH_LDS.replace("STRIDE", "33")),
    "divergence": (ask.active_lanes(at_least=0.9), COPY, HALF),
    "in order": (ask.in_order("place", "Add 1."), COUNTED.replace("PLACE", "threadIdx.x"),
                 COUNTED.replace("PLACE", "place")),
    "in order on LDS": (ask.in_order("place", "Add 1.", on_lds=True), COUNTED.replace("PLACE", "threadIdx.x"),
                        COUNTED.replace("PLACE", "place")),
    "time": (ask.modelled_time(at_most=lambda case, arch: 12.0), COPY, HALF.replace("100", "400")),
    "traffic": (ask.memory_traffic(at_most=lambda case, arch: 1.2 * 8 * case.parameters["n"]), COPY,
                COPY.replace("= in[i]", "= in[i] + 0.0f * in[(i * 37) % n] - 0.0f * out[i]")),
    "counter": (ask.counter("counter", "SQ_INSTS_VALU", at_most=4096), COPY, HALF),
    "vgprs": (ask.vgprs(at_most=16), COPY, COPY.replace("{\n", "{\n    asm volatile(\"\" ::: \"v60\");\n", 1)),
    "occupancy": (ask.occupancy(at_least=0.9), COPY,
                  COPY.replace("{\n", "{\n    asm volatile(\"\" ::: \"v200\");\n", 1)),
}  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_one_kernel_meets_it_and_another_does_not(pair):
    requirement, met, missed = pair
    verdict = judge(exercise(requirement), met, GpuBench())
    assert verdict.passed, verdict.text
    assert requirement.title in verdict.text
    verdict = judge(exercise(requirement), missed, GpuBench())
    assert verdict.cause == requirement.name, verdict.text
    assert verdict.status == "requirement"
    text = " ".join(verdict.text.split())
    assert "required" in text
    assert "measured" in text
    assert "are allowed" in text or "are asked for" in text


@pytest.mark.full
def test_too_many_lines_and_conflicts_name_the_access_with_its_line():
    def report(requirement, source):
        return " ".join(judge(exercise(requirement), source, GpuBench()).text.split())

    text = report(ask.memory_lines(minimum=lines), STRIDED)
    assert "each time, in line 6: if (i < n) out[i] = in[i];" in text
    text = report(ask.bank_conflicts(), THROUGH_LDS.replace("STRIDE", "32"))
    assert re.search(r"The worst is the store ds_write_b32, [\d.]+ each time, in line 6: if \(i < n\) tile", text)


THROUGH_A_TILE = """
__global__ void copy(int n, const float* in, float* out)
{
    __shared__ float tile[1024];
    int t = threadIdx.x, first = blockIdx.x * blockDim.x, j = t % 16 * (blockDim.x / 16) + t / 16;
    if (first + LOAD < n) tile[LOAD] = in[first + LOAD];
    __syncthreads();
    if (first + STORE < n) out[first + STORE] = tile[STORE];
}"""


@pytest.mark.full
@pytest.mark.parametrize(
    ("load", "store", "worst"),
    [("t", "j", "store global_store_dword, 8 each time, in line 8"),
     ("j", "t", "load global_load_dword, 8 each time, in line 6")],
)  # fmt: skip
def test_of_several_accesses_the_worst_is_named(load, store, worst):
    """64 lanes at t % 16 * 16 + t / 16 use all 8 lines of the block's 1024 bytes; 64 neighbours use two."""
    source = THROUGH_A_TILE.replace("LOAD", load).replace("STORE", store)
    asked = exercise(ask.memory_lines(minimum=lines, shrinks=False))
    text = " ".join(judge(asked, source, GpuBench()).text.split())
    assert f"The worst is the {worst}: if (first" in text
    assert "run.coalescing() shows the lines that one instruction of a wave requests." in text
    assert "Which index should differ by one from lane to lane?" in text


def test_an_exercise_may_have_its_own_next_step():
    assert ask.memory_lines(minimum=lines, next_step="Look here.").next_step == "Look here."


@pytest.mark.parametrize(
    "made",
    [
        lambda **more: ask.work_shared(**more), lambda **more: ask.loaded_by_lanes("by-lanes", "in", **more),
        lambda **more: ask.scratch_bytes(**more), lambda **more: ask.vgprs(at_most=32, **more),
        lambda **more: ask.modelled_time(at_most=10, **more), lambda **more: ask.active_lanes(at_least=1, **more),
    ],
)  # fmt: skip
def test_all_take_what_an_exercise_says_of_them(made):
    given = {"title": "Asked.", "next_step": "Look.", "archs": ("gfx942",), "shrinks": True, "of_speed": True}
    found = made(**given)
    assert {name: getattr(found, name) for name in given} == given


ONE_THREAD = """
__global__ void copy(int n, const float* in, float* out)
{
    if (threadIdx.x == 0)
        for (int i = blockIdx.x * blockDim.x; i < (blockIdx.x + 1) * blockDim.x && i < n; i++) out[i] = in[i];
}"""


@pytest.mark.full
def test_what_one_thread_loads_alone_is_not_loaded_by_lanes():
    asked = ask.loaded_by_lanes("by-lanes", "in")
    assert judge(exercise(asked), COPY, GpuBench()).passed
    verdict = judge(exercise(asked), ONE_THREAD, GpuBench())
    assert verdict.cause == "by-lanes", verdict.text
    assert "at least 15,360 are asked for" in " ".join(verdict.text.split())


REST_APART = """
__global__ void copy(int n, const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, whole = n - n % 64;
    if (i < whole) out[i] = in[i];
    if (i >= whole && i < n) out[i] = in[i];
}"""


@pytest.mark.full
def test_what_is_left_over_may_be_loaded_by_few_lanes():
    asked = ask.loaded_by_lanes("by-lanes", "in")
    found = exercise(asked, cases=({"n": 322, "block": 64}, {"n": 1025, "block": 128}))
    verdict = judge(found, REST_APART, GpuBench())
    assert verdict.passed, verdict.text


def test_writers_are_who_wrote_each_element():
    whose = {}

    def note(outcome):
        whose[outcome.arch] = ask.writers(outcome, "out")
        return ""

    asked = exercise(Requirement("note", "title", note), cases=({"n": 300, "block": 128},))
    assert judge(asked, COPY, GpuBench()).passed
    for wave, found in ((64, whose["gfx942"]), (32, whose["gfx1100"])):
        assert len(found) == 300
        for (name, index), by in found.items():
            place = (index // 128, 0, 0), index % 128 // wave, index % wave
            assert (name, by.workgroup, by.wave, by.lane) == ("out", *place)


def test_a_counter_may_have_another_name_on_each_architecture():
    names = {"gfx942": "SQ_LDS_BANK_CONFLICT", "gfx1100": "SQC_LDS_BANK_CONFLICT"}
    asked = exercise(ask.counter("conflicts", names, at_most=0))
    assert judge(asked, THROUGH_LDS.replace("STRIDE", "33"), GpuBench()).passed
    assert judge(asked, THROUGH_LDS.replace("STRIDE", "32"), GpuBench()).cause == "conflicts"


def test_a_requirement_applies_where_it_says():
    never = Requirement("never", "nothing passes", lambda outcome: "no", when=lambda case: case.parameters["n"] > 9999)
    assert judge(exercise(never), COPY, GpuBench()).passed
    elsewhere = Requirement("never", "nothing passes", lambda outcome: "no", archs=("gfx1100",))
    assert "gfx1100" in judge(exercise(elsewhere), COPY, GpuBench()).text


def test_a_share_of_the_peak_is_arithmetic_over_modelled_time():
    seen = []

    def flops(case):
        return 2.0 * case.parameters["n"]

    asked = ask.share_of_peak(flops=flops, at_least=0.0)
    keep = Requirement("keep", "keep", lambda outcome: seen.append((outcome, asked.complaint(outcome))) or "")
    assert judge(exercise(keep), COPY, GpuBench()).passed
    outcome = seen[0][0]
    peak = 81715.2e9  # 128 operations a clock, 304 compute units, 2.1 GHz
    share = 8192 / (outcome.measured[0].time_us * 1e-6) / peak
    assert ask.share_of_peak(flops=flops, at_least=1.01 * share).complaint(outcome)
    assert not ask.share_of_peak(flops=flops, at_least=0.99 * share).complaint(outcome)
    used = share * 304 / 16
    assert ask.share_of_peak(flops=flops, at_least=1.01 * used, units_used=True).complaint(outcome)
    assert not ask.share_of_peak(flops=flops, at_least=0.99 * used, units_used=True).complaint(outcome)


def test_a_requirement_without_limit_is_refused():
    with pytest.raises(CheckError, match="has no limit"):
        ask.counter("counter", "SQ_WAVES")


def test_comments_and_texts_are_no_code():
    source = 'a // one\nb /* two\ntwo */ c "three \\" //" d R"x(four)" )x" e \'"\' f // five \\\nstill five\ng'
    plain = code_only(source)
    assert plain.split() == ["a", "b", "c", '""', "d", '""', "e", '""', "f", "g"]


# -- several launches --------------------------------------------------------------------------------------------

TWICE = """
__global__ void sums(int n, const int* in, int* partial)
{
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int i = blockIdx.x * blockDim.x; i < n && i < (blockIdx.x + 1) * blockDim.x; ++i) sum += in[i];
        partial[blockIdx.x] = sum;
    }
}
__global__ void total(int blocks, const int* partial, int* out)
{
    int sum = 0;
    for (int i = 0; i < blocks; ++i) sum += partial[i];
    out[0] = sum WRONG;
}"""


def two_steps(parameters, random):
    n, block = parameters["n"], parameters["block"]
    blocks = blocks_for(n, block)
    data = random.integers(-9, 9, n).astype("int32")
    return Case(
        parameters,
        arguments=(
            Value("n", np.int32(n)), Value("blocks", np.int32(blocks)), Array("in", data),
            Array("partial", sentinel("int32", blocks), scratch=True),
            Array("out", sentinel("int32", 1), np.array([data.sum()], "int32")),
        ),
        steps=(
            Step("sums", (blocks, 1, 1), (block, 1, 1), ("n", "in", "partial")),
            Step("total", (1, 1, 1), (1, 1, 1), ("blocks", "partial", "out")),
        ),
    )  # fmt: skip


def steps_exercise():
    kernels = {
        "sums": "int n, const int* in, int* partial",
        "total": "int blocks, const int* partial, int* out",
    }
    return exercise(signature="", signatures=kernels, kernel="sums", make=two_steps, cases=({"n": 700, "block": 64},))


@pytest.mark.full
def test_several_kernels_run_one_after_the_other_and_a_workspace_is_not_judged():
    verdict = judge(steps_exercise(), TWICE.replace("WRONG", ""), GpuBench())
    assert verdict.passed, verdict.text
    verdict = judge(steps_exercise(), TWICE.replace("WRONG", "+ 1"), GpuBench())
    assert verdict.status == "wrong"
    assert "sums: 1 block, 32 threads each, then total: 1 block, 1 thread each" in " ".join(verdict.text.split())


def test_each_of_several_kernels_is_looked_for():
    verdict = judge(steps_exercise(), TWICE.replace("void total", "void totals").replace("WRONG", ""), GpuBench())
    assert verdict.cause == "wrong-signature"
    assert "2 kernels, one of them named total" in verdict.text


@pytest.mark.full
def test_results_may_depend_on_the_wave_size_and_lds_may_be_dynamic():
    def by_wave(parameters, random):
        wave, n = parameters["wave"], parameters["n"]
        out = Array("out", sentinel("int32", n), np.full(n, wave, "int32"))
        return Case(parameters, (1, 1, 1), (64, 1, 1), (Value("n", np.int32(n)), out), lds=256)

    source = """
    __global__ void waves(int n, int* out)
    {
        extern __shared__ int kept[];
        kept[threadIdx.x] = SIZE;
        if (threadIdx.x < n) out[threadIdx.x] = kept[threadIdx.x];
    }"""
    asked = exercise(kernel="waves", signature="int n, int* out", make=by_wave, by_wave=True,
                     cases=({"n": 64, "block": 64},))  # fmt: skip
    assert judge(asked, source.replace("SIZE", "warpSize"), GpuBench()).passed
    verdict = judge(asked, source.replace("SIZE", "64"), GpuBench())
    assert verdict.status == "wrong"
    assert "gfx1100 (wave32)" in verdict.text
    assert "wave =" not in verdict.text


def test_a_cooperative_launch_waits_for_the_whole_grid():
    source = """
    #include <hip/hip_cooperative_groups.h>
    __global__ void both(int n, int* out)
    {
        if (blockIdx.x == 1 && threadIdx.x == 0) out[1] = n;
        cooperative_groups::this_grid().sync();
        if (blockIdx.x == 0 && threadIdx.x == 0) out[0] = out[1] + 1;
    }"""

    def cooperative(parameters, random):
        n = parameters["n"]
        out = Array("out", sentinel("int32", 2), np.array([n + 1, n], "int32"))
        return Case(parameters, (2, 1, 1), (64, 1, 1), (Value("n", np.int32(n)), out), cooperative=True)

    asked = exercise(kernel="both", signature="int n, int* out", make=cooperative, cases=({"n": 5, "block": 64},))
    verdict = judge(asked, source, GpuBench())
    assert verdict.passed, verdict.text


FILL = """
__global__ void copy(int n, const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    WORK
}"""


@pytest.mark.full
@pytest.mark.parametrize(
    ("work", "said"),
    [
        ("if (i < n) out[i] = in[i];", ""),
        ("for (int k = 2 * i; k < 2 * i + 2 && k < n; k++) out[k] = in[k];", ""),
        ("for (int k = 3 * i; k < 3 * i + 3 && k < n; k++) out[k] = in[k];", "thread 0 of block 0 stores 3 elements"),
        ("if (i == 5) for (int k = 0; k < n; k++) out[k] = in[k];", "thread 5 of block 0 stores 40 elements"),
        ("if (blockIdx.x == 0) for (int k = i; k < n; k += blockDim.x) out[k] = in[k];", "block 0 stores 5 elements"),
    ],
)
def test_the_thread_that_stores_most_decides_whether_work_is_shared_on_small_inputs_too(work, said):
    small = ({"n": 40, "block": 8},) if "blockIdx" in work else ({"n": 40, "block": 64},)
    verdict = judge(exercise(ask.work_shared(), cases=small), FILL.replace("WORK", work), GpuBench())
    assert verdict.passed == (not said), verdict.text
    assert said in " ".join(verdict.text.split())


def test_a_block_that_does_what_others_do_stores_more_often():
    work = "for (int k = threadIdx.x; k < n; k += blockDim.x) out[k] = in[k];"
    each = exercise(ask.work_shared(room=100), cases=({"n": 1000, "block": 64},))
    verdict = judge(each, FILL.replace("WORK", work), GpuBench())
    assert verdict.cause == "work-not-shared", verdict.text
