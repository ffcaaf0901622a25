"""Rooflines: rates of the devices, operations and bytes of kernels by hand, what is said of them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import gpulab
from gpulab import architectures
from gpulab.architectures.roofs import compute_roofs, memory_roofs
from gpulab.errors import CounterNotFound
from gpulab.records import AccessCost, Counters, InstructionCost, Launch, ModelledTime
from gpulab.views import flops
from gpulab.views.instrument import MOST_BYTES
from gpulab.views.roofline import MOST_POINTS, _si, describe, point, roof_of, roofline

GFX942, GFX1100 = architectures.get("gfx942"), architectures.get("gfx1100")

SOURCE = """
#define T 16
__global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void copy(int n, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}
__global__ void tiled(int n, const float* a, const float* b, float* c) {
    __shared__ float s[T][T], t[T][T];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, col = blockIdx.x * T + x;
    float sum = 0;
    for (int k = 0; k < n; k += T) {
        s[y][x] = a[row * n + k + x];
        t[y][x] = b[(k + y) * n + col];
        __syncthreads();
        for (int i = 0; i < T; i++) sum += s[y][i] * t[i][x];
        __syncthreads();
    }
    c[row * n + col] = sum;
}
__global__ void polynomial(float* p) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = p[i];
    for (int k = 0; k < 256; k++) v = v * v + 0.5f;
    p[i] = v;
}
"""
MATRIX = """
typedef _Float16 h4 __attribute__((ext_vector_type(4)));
typedef float f4 __attribute__((ext_vector_type(4)));
__global__ void multiply(const h4* a, const h4* b, f4* c) {
    f4 sum = {0, 0, 0, 0};
    h4 x = a[threadIdx.x], y = b[threadIdx.x];
    for (int k = 0; k < 8; k++) sum = __builtin_amdgcn_mfma_f32_16x16x16f16(x, y, sum, 0, 0, 0);
    c[blockIdx.x * 64 + threadIdx.x] = sum;
}
"""


@pytest.fixture(scope="module", params=["gfx942", "gfx1100"])
def module(request: pytest.FixtureRequest) -> Any:
    with gpulab.using(request.param):
        yield gpulab.compile(SOURCE)


def saxpy(module: Any, n: int) -> Any:
    blocks = (n + 255) // 256
    x, y = gpulab.zeros(n), gpulab.zeros(n)
    with gpulab.profile() as run:
        module.saxpy[blocks, 256](n, 2.0, x, y)
    return run


# ------------------------------------------------------------------------------------------------------------- roofs


def test_roofs_of_an_mi300x() -> None:
    """304 CUs at 2.1 GHz; L2 2,048 bytes a clock on each of 8 dies; HBM 5.3 TB/s, of which copies reach 82 %."""
    rates = {roof.key: (round(roof.peak), round(roof.achievable)) for roof in memory_roofs(GFX942)}
    assert rates == {
        "LDS": (81_715, 81_715), "L1": (81_715, 81_715), "L2": (34_406, 15_483), "Infinity Cache": (17_203, 11_900),
        "memory": (5_300, 4_346),
    }  # fmt: skip
    tera = {roof.key: round(roof.peak / 1000, 1) for roof in compute_roofs(GFX942)}
    assert tera["fp64"] == tera["fp32 plain"] == tera["fp16 plain"] == 81.7  # AMD's data sheet
    assert tera["fp32 packed"] == 163.4
    assert tera["matrix fp16"] == 1307.4
    assert tera["matrix fp64"] == 163.4


def test_roofs_of_an_rx_7900_xtx() -> None:
    """96 CUs at 2.5 GHz; the model's L1 gives half of its peak; the peak of the Infinity Cache is not public."""
    rates = {roof.key: (round(roof.peak), round(roof.achievable)) for roof in memory_roofs(GFX1100)}
    assert rates == {
        "LDS": (30_720, 30_720), "L1": (30_720, 15_360), "L2": (7_680, 6_758), "Infinity Cache": (2_900, 2_900),
        "memory": (960, 835),
    }  # fmt: skip
    tera = {roof.key: round(roof.peak / 1000, 2) for roof in compute_roofs(GFX1100)}
    assert (tera["fp32 packed"], tera["fp32 plain"], tera["fp64"]) == (61.44, 30.72, 1.92)
    assert next(roof.name for roof in compute_roofs(GFX1100) if roof.key == "fp32 packed") == "FP32 dual-issue"


@pytest.mark.parametrize("arch", architectures.names())
def test_no_achievable_rate_is_above_its_peak(arch: str) -> None:
    a = architectures.get(arch)
    for roof in (*memory_roofs(a), *compute_roofs(a)):
        assert 0 < roof.achievable <= roof.peak, roof


# -------------------------------------------------------------------------------------------------------- operations


def cost(text: str, *amounts: tuple[str, float], executed: int = 1, lanes: int = 64) -> InstructionCost:
    return InstructionCost(None, text, executed, lanes, amounts, flops=("fp32 plain", 2) if "fma" in text else ("", 0))


def test_operations_of_instructions() -> None:
    packed = InstructionCost(None, "v_pk_fma_f32", 1, 64, flops=("fp32 packed", 4))
    assert flops.operations(packed, GFX942) == ("fp32 packed", 4, True)
    matrix = cost("v_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], a[0:3]", ("mops_f16", 16.0))
    assert flops.operations(matrix, GFX942) == ("matrix fp16", 8192, False)
    assert flops.operations(cost("v_add_u32_e32 v0, v1, v2", ("int32", 1)), GFX942) == ("", 0, True)


def test_saxpy_is_two_operations_for_twelve_bytes(module: Any) -> None:
    """One fused multiply-add, two loads and a store of four bytes each: 2 / 12 at every level that sees all of it."""
    n = 1 << 18
    work = flops.work(saxpy(module, n)[0])
    assert work.flops == {"fp32 plain": 2 * n}
    assert work.bytes["L1"] == 12 * n
    assert work.bytes["LDS"] == 0
    assert work.total / work.bytes["L2"] == pytest.approx(2 / 12, rel=0.02)  # and a line of arguments
    assert work.total / work.bytes["Infinity Cache"] == pytest.approx(2 / 12, rel=0.02)
    # What is written fits into the Infinity Cache and stays there: 8 bytes come from memory.
    assert work.total / work.bytes["memory"] == pytest.approx(2 / 8, rel=0.02)
    assert work.lanes == 1.0


def test_only_active_lanes_count(module: Any) -> None:
    """1,000 elements in four blocks of 256: 24 lanes have nothing to do. AMD's counters count all lanes."""
    run = saxpy(module, 1000)
    assert flops.work(run[0]).total == 2000
    if run[0].arch == "gfx942":
        assert run.metric("float_operations") == 2048


def test_tiled_matrix_product(module: Any) -> None:
    """n³ multiply-adds. LDS: for each two floats, and two floats a thread and tile are stored. L1: two floats a thread
    and tile, and the result."""
    n = 64
    a, b, c = (gpulab.zeros((n, n)) for _ in range(3))
    with gpulab.profile() as run:
        module.tiled[(n // 16, n // 16), (16, 16)](n, a, b, c)
    work = flops.work(run[0])
    assert work.total == 2 * n**3
    assert work.bytes["LDS"] == 8 * n**3 + 8 * n**2 * (n // 16)
    assert work.bytes["L1"] == 8 * n**2 * (n // 16) + 4 * n**2
    assert work.total / work.bytes["LDS"] == pytest.approx(2 / 8.5)


def test_matrix_cores() -> None:
    """An MFMA of 16 x 16 x 16 is 2 * 16³ = 8,192 operations, whatever EXEC is; 8 in each of 3 waves."""
    with gpulab.using("gfx942"):
        multiply = gpulab.compile(MATRIX).multiply
        a, b = (gpulab.to_device(np.ones((64, 4), "float16")) for _ in range(2))
        with gpulab.profile() as run:
            multiply[3, 64](a, b, gpulab.zeros((192, 4)))
    work = flops.work(run[0])
    assert work.flops == {"matrix fp16": 3 * 8 * 8192}
    # Each lane reads eight bytes of A and of B, and writes sixteen.
    assert work.bytes["L1"] == 3 * 64 * (8 + 8 + 16)
    shown = run.roofline()
    assert "FP16 matrix (MFMA) arithmetic" in shown.text
    assert "held back by launch overhead" in shown.sentence


def test_no_modelled_kernel_is_above_its_roofs(module: Any) -> None:
    n = 1 << 16
    x, y = gpulab.zeros(n), gpulab.zeros(n)
    a = gpulab.zeros((128, 128))
    with gpulab.profile() as run:
        module.saxpy[n // 256, 256](n, 2.0, x, y)
        module.copy[n // 256, 256](n, x, y)
        module.polynomial[n // 256, 256](x)
        module.tiled[(8, 8), (16, 16)](128, a, a, a)
    device = architectures.get(run[0].arch)
    roofs = (*memory_roofs(device), *compute_roofs(device))
    for launch in run:
        found = point(flops.work(launch), roofs)
        for rate in ("achievable", "peak"):
            for key in found.limits[rate]:
                assert 0 <= found.share(key, rate) <= 1, (launch.kernel, key)


# ----------------------------------------------------------------------------------------------- words and the picture


def made(
    limiter: str = "HBM3 bandwidth", us: float = 10.0, kernel: str = "k", multiply_adds: int = 10_000, **parts: float
) -> Launch:
    """A launch on gfx942 of so many waves' multiply-adds, with `parts` in clocks (2,100 a microsecond)."""
    clocks = {limiter: us * 2100, **{name.replace("_", " "): value for name, value in parts.items()}}
    time = ModelledTime(us, limiter, clocks, 1.0, 2100, 32, 32)
    amounts = (("fma_f32", 1), ("valu_clocks", 4))
    return Launch(
        kernel=kernel, arch="gfx942", device=0, grid=(1, 1, 1), block=(64, 1, 1), lds_bytes=0, waves=1,
        counters=Counters({}), timing=time,
        instructions=(cost("v_fma_f32 v0, v1, v2, v3", *amounts, executed=multiply_adds, lanes=64 * multiply_adds),),
        accesses=(AccessCost(None, "global_load_dword", "global", "load", 4, 1000, 64_000, lines=2000, line_bytes=128,
                             l2_requests=2000),),
    )  # fmt: skip


def test_a_kernel_on_its_roof() -> None:
    """HBM for 9.5 of 10 µs: 95 %. 9.5 µs at 4,346 GB/s are 41.3 MB; 1.28 MFLOP for them are 0.031 a byte."""
    time = ModelledTime(10.0, "HBM3 bandwidth", {"HBM3 bandwidth": 9.5 * 2100}, 0.5, 2100, 32, 32)
    got = roofline([replace(made(), timing=time)])
    (only,) = got.data["sets"]["kernel"]["points"]
    assert only["lowest"] == {"achievable": "memory", "peak": "memory"}
    assert only["shares"]["achievable"]["memory"] == pytest.approx(0.95)
    assert only["shares"]["peak"]["memory"] == pytest.approx(0.95 * 0.82)
    assert only["levels"]["memory"]["bytes"] == pytest.approx(9.5 * 4.346e6)
    assert only["gflops"] == pytest.approx(128.0)
    assert only["levels"]["L1"]["intensity"] == 1_280_000 / 256_000
    assert "reaches 95 %. The model's time has the same limit (HBM3 bandwidth)." in got.sentence
    assert got.data["level"] == "memory"
    assert "launch" not in got.data["sets"]


@pytest.mark.parametrize(
    ("limiter", "words"),
    [
        ("latency (occupancy)", "gpulab.occupancy(kernel) shows which"),
        ("latency (too few waves)", "the grid is too small"),
        ("launch overhead", "the launch itself takes 1 of 10 µs"),
        ("VALU issue", "VALU issue: vector instructions issue all the time"),
        ("LDS", "bank conflicts"),
        ("L1", "not contiguous"),
        ("workgroup dispatch", "starting the workgroups"),
    ],
)
def test_what_the_model_says_is_explained(limiter: str, words: str) -> None:
    text = roofline([made(limiter)]).sentence
    assert words in text
    assert limiter in text


def test_what_keeps_vector_units_busy_beside_arithmetic() -> None:
    """Three clocks of moves for each of arithmetic, and half of the lanes."""
    launch = made("VALU issue")
    moves = cost("v_mov_b32_e32 v0, v1", ("valu_clocks", 12), executed=10_000, lanes=640_000)
    half = replace(launch.instructions[0], active_lanes=320_000)
    text = roofline([replace(launch, instructions=(half, moves))]).sentence
    assert "25 % of the clocks of vector instructions go to float operations" in text
    assert "50 % of the lanes are active" in text


def test_limiters_and_their_roofs() -> None:
    assert roof_of("HBM3 bandwidth") == roof_of("GDDR6 bandwidth") == "memory"
    assert roof_of("L2 bandwidth") == "L2"
    assert roof_of("VALU issue") == roof_of("matrix cores") == "compute"
    assert roof_of("latency (occupancy)") == roof_of("launch overhead") == ""


def test_a_copy_has_no_place_in_the_picture_but_words(module: Any) -> None:
    n = 1 << 16
    with gpulab.profile() as run:
        module.copy[n // 256, 256](n, gpulab.zeros(n), gpulab.zeros(n))
    shown = run.roofline()
    (only,) = shown.data["sets"]["kernel"]["points"]
    assert only["gflops"] == 0
    assert "does no float operations" in shown.sentence
    assert shown.png().startswith(b"\x89PNG")


def test_launches_of_a_kernel_are_one_point_or_several() -> None:
    launches = [made(us=10.0), made(us=30.0), made(kernel="other")]
    shown = roofline(launches)
    by_kernel, by_launch = shown.data["sets"]["kernel"], shown.data["sets"]["launch"]
    assert [(p["kernel"], p["launches"], p["us"]) for p in by_kernel["points"]] == [("k", 2, 40.0), ("other", 1, 10.0)]
    assert [p["us"] for p in by_launch["points"]] == [10.0, 30.0, 10.0]
    assert [p["kernel"] for p in by_launch["points"]] == ["k #0", "k #1", "other #2"]
    each = roofline(launches, by="launch")
    assert each.data["by"] == "launch"
    assert each.sentence.startswith("3 launches; the one with the most time is k #1: 30 µs")
    assert {row[0] for row in each.table.rows} == {"k #0", "k #1", "other #2"}
    with pytest.raises(ValueError, match="by is"):
        roofline(launches, by="wave")
    assert by_kernel["points"][0]["gflops"] == pytest.approx(2 * 1.28e6 / 40 / 1000)
    assert shown.sentence.startswith("2 kernels; the one with the most time is k: 40 µs")


def test_before_and_after() -> None:
    """Paired by name; a single kernel on each side is a pair whatever it is called."""
    shown = roofline([made(us=10.0), made(kernel="gone")], [made(us=2.5), made(kernel="new")])
    assert [p["run"] for p in shown.data["sets"]["kernel"]["points"]] == ["before", "before", "after", "after"]
    assert shown.data["sets"]["kernel"]["arrows"] == [[0, 2]]
    other = roofline([made(us=10.0, kernel="naive")], [made(us=2.5, kernel="tiled")])
    assert other.data["sets"]["kernel"]["arrows"] == [[0, 1]]
    assert other.sentence.startswith("After the change 4 times as fast per launch")
    assert "run" in other.table.columns
    # One colour for a pair; one name, at its end, where both have the same.
    names = [(p["colour"], p["name"]) for p in shown.data["sets"]["kernel"]["points"]]
    assert names == [(0, ""), (1, "gone (before)"), (0, "k"), (3, "new (after)")]
    names = [(p["colour"], p["name"]) for p in other.data["sets"]["kernel"]["points"]]
    assert names == [(0, "naive (before)"), (0, "tiled (after)")]


def test_the_table_has_a_row_for_each_roof() -> None:
    table = roofline([made()]).table
    roofs = [row[table.columns.index("roof")] for row in table.rows]
    assert roofs == ["L1 bandwidth", "L2 bandwidth", "HBM3 bandwidth", "FP32 arithmetic"]
    assert [row[-1] for row in table.rows].count("◀ lowest") == 1


@pytest.mark.full
def test_many_launches_stay_small() -> None:
    launches = [made(us=1.0 + k, kernel=f"kernel_{k}<" + "核" * 5000) for k in range(2000)]
    launches.append(made(kernel=launches[0].kernel))
    shown = roofline(launches, launches)
    assert set(shown.data["sets"]) == {"kernel", "launch"}
    assert len(json.dumps(shown.message())) < MOST_BYTES
    assert len(shown.data["sets"]["kernel"]["points"]) == 2 * MOST_POINTS
    assert "3,880 more with less time are left out" in shown.table.note


@pytest.mark.full
def test_static_picture_of_any_name() -> None:
    name = "<img src=x onerror=alert(1)>$x$ ${x} \u202e"
    assert roofline([made(kernel=name)], [made(kernel=name)]).png().startswith(b"\x89PNG")


def test_one_device_at_a_time() -> None:
    with pytest.raises(ValueError, match="no kernel was launched"):
        roofline([])
    with pytest.raises(ValueError, match="one architecture"):
        roofline([made()], [replace(made(), arch="gfx1100")])
    with gpulab.profile() as run:
        pass
    with pytest.raises(IndexError):
        run.roofline()


def test_runs_and_their_launches(module: Any) -> None:
    """One launch of both by its index; all of them; not those of two devices."""
    before, after = saxpy(module, 1 << 12), saxpy(module, 1 << 13)
    shown = before.roofline(beside=after)
    assert [p["run"] for p in shown.data["sets"]["kernel"]["points"]] == ["before", "after"]
    assert before.roofline(index=0, beside=after).sentence == shown.sentence
    with pytest.raises(IndexError):
        before.roofline(index=1)
    other = "gfx1100" if before[0].arch == "gfx942" else "gfx942"
    with gpulab.using(other):
        elsewhere = saxpy(gpulab.compile(SOURCE), 256)
    with pytest.raises(CounterNotFound, match="gfx1100 and gfx942"):
        before.roofline(beside=elsewhere)


def measured(**counts: float) -> Launch:
    return Launch(
        kernel="k", arch="gfx90a", device=0, grid=(1, 1, 1), block=(64, 1, 1), lds_bytes=0, waves=1,
        counters=Counters({}), measured_us=100.0, time_is_modelled=False, metrics=counts,
    )  # fmt: skip


def test_a_real_gpu_needs_its_counters() -> None:
    """Every lane is taken as active: 1,000 multiply-adds of a wave are 128,000 operations."""
    names = flops.counters("gfx90a")
    assert "SQ_INSTS_VALU_FMA_F32" in names
    with pytest.raises(CounterNotFound, match="SQ_INSTS_VALU_FMA_F32"):
        roofline([measured()])
    counts = dict.fromkeys(names, 0.0) | {
        "SQ_INSTS_VALU_FMA_F32": 1000.0, "SQ_INSTS_VALU_MFMA_MOPS_F64": 10.0, "TCP_TOTAL_CACHE_ACCESSES_sum": 500.0,
        "l2_bytes": 32_000.0, "memory_bytes": 64_000.0, "SQ_LDS_IDX_ACTIVE": 300.0, "SQ_LDS_BANK_CONFLICT": 100.0,
    }  # fmt: skip
    work = flops.work(measured(**counts))
    assert work.flops == {"fp32 plain": 128_000, "matrix fp64": 5120}
    assert work.bytes == {"LDS": 200 * 128, "L1": 32_000, "L2": 32_000, "memory": 64_000}
    shown = roofline([measured(**counts)])
    assert "measured" in shown.title
    assert "model" not in shown.sentence
    with pytest.raises(CounterNotFound, match="no counters for float operations"):
        roofline([replace(measured(), arch="gfx1100")])


def test_describe_without_any_work() -> None:
    nothing = replace(made(), instructions=(), accesses=(), timing=ModelledTime(1.0, "latency", {}, 1.0, 2100, 1, 32))
    roofs = (*memory_roofs(GFX942), *compute_roofs(GFX942))
    assert "moves no data" in describe(point(flops.work(nothing), roofs), {})
    assert roofline([nothing]).png().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 B"), (999, "999 B"), (1e3, "1 kB"), (999e3, "999 kB"), (1e6, "1 MB"), (1e9, "1 GB"), (1e12, "1 TB"),
     (1e15, "1 PB"), (12_582_912, "12.6 MB")],
)  # fmt: skip
def test_numbers_with_prefixes(value: float, text: str) -> None:
    assert _si(value, "B") == text


@pytest.mark.parametrize(("times", "arrows"), [(1.0, 0), (1.25, 0), (1.3, 1), (0.81, 0), (0.79, 1), (10.0, 1)])
def test_an_arrow_goes_from_before_to_after_where_a_point_has_moved(times: float, arrows: int) -> None:
    """By more than a tenth of a decade: a factor of 1.26."""
    shown = roofline([made(us=10.0)], [made(us=10.0 * times)])
    assert shown.figure is not None
    (axes,) = shown.figure().axes
    assert sum(getattr(text, "arrow_patch", None) is not None for text in axes.texts) == arrows


def worked(**changes: Any) -> flops.Work:
    """A kernel of 10 µs on gfx942 that reaches 80 % of what memory gives: 34.768 MB at 4,346 GB/s are 8 µs."""
    values: dict[str, Any] = {
        "kernel": "k", "arch": "gfx942", "launches": 1, "us": 10.0, "overhead_us": 1.0, "modelled": True,
        "limiter": "HBM3 bandwidth", "flops": {"fp32 plain": 3_476_800.0},
        "bytes": {"LDS": 0.0, "L1": 50e6, "memory": 34_768_000.0},
    }  # fmt: skip
    return flops.Work(**(values | changes))


BASE = (
    "k: 10 µs (modelled), 348 GFLOP/s at 0.1 FLOP per byte of HBM3. Its lowest roof is HBM3 bandwidth, of which it "
    "reaches 80 %."
)
SAME = " The model's time has the same limit (HBM3 bandwidth)"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, f"{BASE}{SAME}."),
        ({"modelled": False}, BASE.replace("modelled", "measured")), ({"limiter": ""}, BASE),
        ({"launches": 1200}, BASE.replace("(modelled)", "(modelled) in 1,200 launches") + f"{SAME}."),
        ({"overhead_us": 1.1}, BASE.replace("(modelled)", "(modelled, 1.1 of them the launch)") + f"{SAME}."),
        ({"bytes": {"memory": 32_595_000.0}, "flops": {"fp32 plain": 3_259_500.0}},
         BASE.replace("80 %", "75 %").replace("348", "326") + f"{SAME}."),
        ({"bytes": {"memory": 32_160_400.0}, "flops": {"fp32 plain": 3_216_040.0}},
         BASE.replace("80 %", "74 %").replace("348", "322")
         + f"{SAME}: the launch's own time and other units that are busy take the rest."),
        ({"bytes": {"memory": 3_911_400.0}, "flops": {"fp32 plain": 391_140.0}, "limiter": "latency"},
         BASE.replace("80 %", "9 %").replace("348", "39.1")
         + " In the model it is held back by latency: waves wait longer than the other waves can fill."),
        ({"limiter": "something"},
         f"{BASE} In the model it is held back by something: two limits are close to each other."),
        ({"flops": {}, "us": 1e6},
         "k: 1 s (modelled). It does no float operations, so that only its bytes count: 34.8 MB/s of HBM3. Its lowest "
         "roof is HBM3 bandwidth, of which it reaches 0.0008 %."
         f"{SAME}: the launch's own time and other units that are busy take the rest."),
        ({"flops": {}, "bytes": {}, "us": 999_999.0, "overhead_us": 0.0},
         "k: 1e+06 µs (modelled). It does no float operations and moves no data that was counted."),
        # 81.7 TFLOP/s of FP32: 653.7 MFLOP in 10 µs are 80 %; half of them of FP64 take as long.
        ({"bytes": {"memory": 4_346_000.0}, "flops": {"fp32 plain": 653_721_600.0}, "limiter": "VALU issue"},
         "k: 10 µs (modelled), 65.4 TFLOP/s at 150 FLOP per byte of HBM3. Its lowest roof is FP32 arithmetic, of which "
         "it reaches 80 %. The model's time has the same limit (VALU issue)."),
        ({"bytes": {"memory": 0.0}, "flops": {"fp32 plain": 6_000_000.0, "fp64": 647_721_600.0},
          "limiter": "VALU issue"},
         "k: 10 µs (modelled), 65.4 TFLOP/s. Its lowest roof is FP64 arithmetic, of which it reaches 80 %. The model's "
         "time has the same limit (VALU issue)."),
        ({"bytes": {}, "flops": {"fp32 plain": 7_000_000.0, "fp64": 646_721_600.0}, "limiter": "VALU issue"},
         "k: 10 µs (modelled), 65.4 TFLOP/s. Its lowest roof is FP64 and FP32 arithmetic, of which it reaches 80 %. "
         "The model's time has the same limit (VALU issue)."),
    ],
)  # fmt: skip
def test_a_point_in_words(changes: dict[str, Any], said: str) -> None:
    roofs = (*memory_roofs(GFX942), *compute_roofs(GFX942))
    assert describe(point(worked(**changes), roofs), {roof.key: roof.name for roof in roofs}) == said


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "vector instructions issue all the time"),
        ({"issue_clocks": 100.0, "float_clocks": 95.0, "lanes": 0.95}, "vector instructions issue all the time"),
        ({"issue_clocks": 100.0, "float_clocks": 94.0},
         "94 % of the clocks of vector instructions go to float operations, the rest to addresses, moves and control"),
        ({"lanes": 0.94}, "vector instructions issue all the time; 94 % of the lanes are active in float operations"),
    ],
)  # fmt: skip
def test_what_vector_units_do_in_words(changes: dict[str, Any], said: str) -> None:
    roofs = (*memory_roofs(GFX942), *compute_roofs(GFX942))
    text = describe(point(worked(limiter="VALU issue", **changes), roofs), {roof.key: roof.name for roof in roofs})
    assert text == f"{BASE} In the model it is held back by VALU issue: {said}."


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ([made(us=10.0)], [made(us=20.0)], "2 times as slow"),
        ([made(us=10.0)], [made(us=10.0)], "1 times as fast"),
        ([made(us=10.0)] * 3, [made(us=5.0)], "2 times as fast"),
    ],
)  # fmt: skip
def test_a_change_in_words(before: list[Launch], after: list[Launch], said: str) -> None:
    sentence = roofline(before, after).sentence
    was = "the lowest roof before was HBM3 bandwidth (100 %)"
    assert sentence.startswith(f"After the change {said} per launch; {was}. k: ")


def test_launches_are_put_together() -> None:
    """Sums; the limiter with the most time, and the average of lanes over the clocks of float operations."""
    one = worked(float_clocks=10.0, issue_clocks=20.0, lanes=0.5, limits={"LDS": 4.0, "L1": 3.0})
    other = worked(
        launches=3, us=5.0, overhead_us=2.0, float_clocks=30.0, issue_clocks=50.0, lanes=1.0, limits={"L1": 2.0},
        flops={"fp64": 7.0, "fp32 plain": 200.0}, bytes={"L1": 1.0, "L2": 2.0}, sampled=True,
    )  # fmt: skip
    both = flops.together([one, other])
    assert both == flops.Work(
        kernel="k", arch="gfx942", launches=4, us=15.0, overhead_us=3.0, modelled=True, limiter="L1",
        flops={"fp32 plain": 3_477_000.0, "fp64": 7.0}, bytes={"L1": 50_000_001.0}, issue_clocks=70.0,
        float_clocks=40.0, lanes=0.875, sampled=True, limits={"LDS": 4.0, "L1": 5.0},
    )  # fmt: skip
    assert (both.total, both.gflops) == (3_477_007.0, 3_477_007.0 / 15 / 1000)
    bare = flops.together([worked(lanes=0.5), worked()])
    assert (bare.limiter, bare.lanes, bare.sampled) == ("", 0.5, False)


def test_bytes_of_each_level_by_hand() -> None:
    """LDS: its own accesses and the lanes of flat ones that went there. L1: the other lanes, but of scalar loads. L2:
    whole lines of loads, 64 bytes for each request of others."""

    def access(space: str, action: str, lanes: int, requests: int, in_lds: int = 0) -> AccessCost:
        return AccessCost(None, "x", space, action, 4, 1, lanes, lines=1, line_bytes=128, l2_requests=requests,
                          lds_lanes=in_lds)  # fmt: skip

    accesses = (
        access("lds", "load", 100, 0), access("flat", "load", 64, 2, 24), access("global", "store", 32, 3),
        access("scalar", "load", 1, 5), access("global", "atomic", 16, 7),
    )  # fmt: skip
    work = flops.work(replace(made(), accesses=accesses))
    moved = {key: work.bytes[key] for key in ("LDS", "L1", "L2")}
    assert moved == {"LDS": 4 * 124, "L1": 4 * (40 + 32 + 16), "L2": 128 * 7 + 64 * 10}
    assert work.bytes["memory"] == pytest.approx(10.0 * 4.346e6)
    assert "Infinity Cache" not in work.bytes
    assert (work.flops, work.issue_clocks, work.float_clocks, work.lanes) == (
        {"fp32 plain": 1.28e6},
        40_000,
        40_000,
        1.0,
    )
