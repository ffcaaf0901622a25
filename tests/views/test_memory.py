"""Memory hierarchy: numbers worked out by hand, and the conservation of bytes on kernels that were run."""

from __future__ import annotations

import json

import numpy as np
import pytest

import gpulab
from gpulab import architectures, providers
from gpulab.profile import Run
from gpulab.records import AccessCost, Counters, Launch, SourceLine
from gpulab.views import memory

SOURCE = """
extern "C" __global__ void copy(int n, const float* x, float* y)
{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i]; }
extern "C" __global__ void strided(int n, const float* x, float* y)
{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (32 * i < n) y[i] = x[32 * i]; }
extern "C" __global__ void stencil(int n, const float* x, float* y)
{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i > 0 && i < n - 1) y[i] = x[i - 1] + x[i] + x[i + 1]; }
extern "C" __global__ void histogram(int n, const int* x, int* bins)
{
    __shared__ int own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&own[x[i] & 255], 1);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
extern "C" __global__ void local(int n, int k, const float* x, float* y)
{
    float t[512];  // too many for registers
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int j = 0; j < 32; j++) t[(j * k) & 511] = x[(i + j) % n];
    float a = 0;
    for (int j = 0; j < 32; j++) a += t[((j ^ i) * k) & 511];
    y[i] = a;
}
extern "C" __global__ void product(int n, const float* a, const float* b, float* c)
{
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    float s = 0;
    for (int k = 0; k < n; k++) s += a[i * n + k] * b[k * n + j];
    c[i * n + j] = s;
}
"""
ARCHS = ("gfx942", "gfx1100")
N = 8192


@pytest.fixture(scope="module", params=ARCHS)
def run(request: pytest.FixtureRequest) -> Run:
    before = providers.current()
    gpulab.use(f"virtual:{request.param}")
    try:
        module = gpulab.compile(SOURCE)
        x, y = gpulab.to_device(np.ones(N, "float32")), gpulab.to_device(np.zeros(N, "float32"))
        whole, bins = gpulab.to_device(np.arange(N, dtype="int32")), gpulab.to_device(np.zeros(256, "int32"))
        with gpulab.profile() as found:
            module.copy[N // 256, 256](N, x, y)
            module.strided[1, 256](N, x, y)
            module.stencil[N // 256, 256](N, x, y)
            module.histogram[N // 256, 256](N, whole, bins)
            module.local[2, 256](N, 3, x, y)
            module.product[(4, 4), (16, 16)](64, x, x, y)
        assert found[0].accesses  # read while the device is there
        return found
    finally:
        providers.select(before)


def of(launch: Launch) -> dict[str, memory.Path]:
    found = memory.paths(launch.accesses, architectures.get(launch.arch))
    return {path.kind: path for path in found}


def steps(path: memory.Path) -> dict[str, memory.Step]:
    return {step.level: step for step in path.steps}


def test_bytes_into_a_level_are_served_there_or_passed_on(run: Run) -> None:
    for launch in run:
        a = architectures.get(launch.arch)
        for path in of(launch).values():
            for step in path.steps:
                assert step.bytes == step.served + step.passed, (launch.kernel, path.kind, step)
                assert min(step.bytes, step.served, step.passed) >= 0
            for one, after in zip(path.steps, path.steps[1:], strict=False):
                # The scalar cache asks for 64 bytes; GL1 fetches whole lines of 128.
                widened = path.kind == "scalar" and one.level == "GL1"
                assert after.bytes == one.passed * (2 if widened else 1), (launch.kernel, path.kind, one, after)
            assert path.steps[-1].passed == 0
            assert path.steps[-1].level in (a.memory_kind, "LDS")


def test_levels_agree_with_the_counters(run: Run) -> None:
    for launch in run:
        found = of(launch)
        l1 = sum(p.steps[0].requests for k, p in found.items() if k not in ("lds", "scalar", "atomic results"))
        l2 = [step for path in found.values() for step in path.steps if step.level == "L2"]
        names = ("GL2C_HIT", "GL2C_MISS") if launch.arch.startswith("gfx11") else ("TCC_HIT", "TCC_MISS")
        assert sum(step.hits for step in l2) == launch.counters[names[0]]
        assert sum(step.requests - step.hits for step in l2) == launch.counters[names[1]]
        if "TCP_TOTAL_CACHE_ACCESSES" in launch.counters:
            assert l1 == launch.counters["TCP_TOTAL_CACHE_ACCESSES"]


@pytest.mark.full
def test_a_copy_reads_everything_from_memory_and_coalesces(run: Run) -> None:
    found = of(run[0])
    memory_kind = architectures.get(run[0].arch).memory_kind
    load, store = found["load"], found["store"]
    assert load.asked == store.asked == 4 * N
    assert {step.bytes for step in load.steps} == {4 * N}  # whole lines, none of them twice
    assert [step.level for step in load.steps if step.served] == [memory_kind]
    assert steps(store)["L2"].passed == 4 * N
    last = "Infinity Cache" if architectures.get(run[0].arch).last_level_cache else memory_kind
    assert steps(store)[last].served == 4 * N  # it fits


def test_strided_loads_move_a_line_for_each_lane(run: Run) -> None:
    load = of(run[1])["load"]
    line = architectures.get(run[1].arch).vector_cache.line_bytes
    assert (load.asked, load.steps[0].bytes) == (4 * 256, line * 256)
    said = memory.memory_hierarchy(run[1]).sentence
    assert "lanes use only parts of the lines" in said


@pytest.mark.full
def test_neighbours_of_a_stencil_come_from_caches(run: Run) -> None:
    load = of(run[2])["load"]
    memory_kind = architectures.get(run[2].arch).memory_kind
    assert load.asked == 3 * 4 * (N - 2)
    assert steps(load)["L1"].served > 0
    assert steps(load)[memory_kind].bytes == 4 * N  # each line once, in the end


def test_atomics_end_in_the_l2_and_lds_has_a_path_of_its_own(run: Run) -> None:
    found = of(run[3])
    assert [step.level for step in found["lds"].steps] == ["LDS"]
    assert found["lds"].asked == 4 * 3 * N  # own[..] = 0, the atomic, the sum
    atomic = found["atomic"]
    assert atomic.asked == 4 * N
    assert steps(atomic)["L1"].served == 0
    assert steps(atomic)["L2"].bytes == 4 * N
    assert 0 < steps(atomic)["L2"].passed <= 8 * 1024  # each XCD fetches the 256 bins once
    assert found["atomic results"].steps[0].bytes == steps(atomic)["L2"].passed


def test_scratch_has_a_path_of_its_own(run: Run) -> None:
    found = of(run[4])
    assert found["scratch load"].asked == found["scratch store"].asked == 4 * 32 * 512


def test_the_table_has_what_arrives_everywhere(run: Run) -> None:
    for launch in run:
        a = architectures.get(launch.arch)
        rows = {row[0]: row for row in memory.memory_hierarchy(launch).table.rows}
        found = of(launch).values()
        for name, row in rows.items():
            assert row[1] == sum(step.bytes for path in found for step in path.steps if step.level == name)
            assert row[1] == row[2] + row[3]  # type: ignore[operator]
        assert rows["L2"][5] == a.l2_cache.latency_clocks
        assert rows[a.memory_kind][6] == a.memory_bandwidth * a.memory_efficiency / 1e12


def test_of_a_sample_no_more_is_read_from_memory_than_there_is(run: Run) -> None:
    """A product of matrices whose workgroups share rows and columns, each of which is read for the first time once."""
    before = providers.current()
    gpulab.use(f"virtual:{run[0].arch}")
    try:
        module = gpulab.compile(SOURCE)
        n = 160
        a, b, c = (gpulab.to_device(np.ones((n, n), "float32")) for _ in range(3))
        with gpulab.profile() as found:
            module.product[(n // 16, n // 16), (16, 16)](n, a, b, c)
        launch = found[0]
        assert launch.sampled is not None
        load = of(launch)["load"]
        assert 0.5 * 2 * 4 * n * n < load.steps[-1].bytes <= 3 * 4 * n * n
        for step in load.steps:
            assert step.bytes == step.served + step.passed
    finally:
        providers.select(before)


# ------------------------------------------------------------------------------------------------- made by hand

LINE = SourceLine("cell.hip", 5, 0, "  y[i] = x[i]; // <img src=x onerror=alert(1)>")


def cost(**changes: object) -> AccessCost:
    values: dict = {
        "where": LINE, "instruction": "global_load_dword v1, v[2:3], off", "space": "global", "action": "load",
        "bytes": 4, "executed": 10, "lanes": 640, "lines": 20, "line_bytes": 128,
    }  # fmt: skip
    return AccessCost(**(values | changes))


def record(*costs: AccessCost, arch: str = "gfx942", **more: object) -> Launch:
    return Launch("k<script>$x$", arch, 0, (10, 1, 1), (64, 1, 1), 0, 10, Counters({}), accesses=costs, **more)  # type: ignore[arg-type]


def test_a_load_through_all_levels() -> None:
    """20 lines: 5 in L1, 15 requests, 7 of them in L2, of 8 lines of 128 bytes 2 in the Infinity Cache."""
    one = cost(cache_hits=5, l2_requests=15, l2_hits=7, memory_bytes=1024, dram_bytes=768)
    (path,) = memory.paths([one], architectures.get("gfx942"))
    assert path == memory.Path("load", 2560, (
        memory.Step("L1", 2560, 640, 1920, 20, 5), memory.Step("L2", 1920, 896, 1024, 15, 7),
        memory.Step("Infinity Cache", 1024, 256, 768), memory.Step("HBM3", 768, 768, 0),
    ))  # fmt: skip


def test_on_rdna_gl1_stands_between() -> None:
    one = cost(cache_hits=9, array_hits=4, l2_requests=11, l2_hits=11)
    (path,) = memory.paths([one], architectures.get("gfx1100"))
    assert path.steps[:3] == (
        memory.Step("L1", 2560, 640, 1920, 20, 5), memory.Step("GL1", 1920, 512, 1408, 15, 4),
        memory.Step("L2", 1408, 1408, 0, 11, 11),
    )  # fmt: skip


def test_what_was_sampled_is_scaled_and_still_adds_up() -> None:
    """Of 100 lines 30 were followed: 10 hits, 20 requests."""
    one = cost(lines=100, cache_hits=10, l2_requests=20, l2_hits=3, memory_bytes=2176, dram_bytes=1000)
    (path,) = memory.paths([one], architectures.get("gfx942"))
    assert [(step.bytes, step.served, step.passed) for step in path.steps] == [
        (12800, 33 * 128, 67 * 128), (67 * 128, 67 * 128 - 7253, 7253), (7253, 7253 - 3333, 3333), (3333, 3333, 0),
    ]  # fmt: skip
    assert path.steps[1].hits == 10
    said = memory.memory_hierarchy(record(one, sampled=(3, 10)))
    assert "3 of 10 workgroups" in said.sentence
    assert "Sampled and scaled up" in said.table.note


def test_what_stores_write_is_one_amount() -> None:
    kept = cost(action="store", l2_requests=40, written_bytes=2048)
    said = "Stores made the L2 write 2 KiB, all of it kept by the Infinity Cache."
    assert said in memory.memory_hierarchy(record(kept)).sentence
    part = cost(action="store", l2_requests=40, written_bytes=2048, dram_written_bytes=640)
    assert "Stores made the L2 write 2 KiB, 640 bytes of it to HBM3." in memory.memory_hierarchy(record(part)).sentence


def test_stores_that_do_not_fit_go_to_memory() -> None:
    one = cost(action="store", l2_requests=40, written_bytes=1280, dram_written_bytes=1280)
    (path,) = memory.paths([one], architectures.get("gfx942"))
    assert [(step.level, step.bytes, step.served) for step in path.steps] == [
        ("L1", 2560, 0), ("L2", 2560, 1280), ("Infinity Cache", 1280, 0), ("HBM3", 1280, 1280),
    ]  # fmt: skip


def test_a_device_without_an_infinity_cache() -> None:
    """gfx90a: lines of 64 bytes in L1; what the L2 does not have comes from memory."""
    one = cost(lines=40, line_bytes=64, cache_hits=8, l2_requests=32, l2_hits=16, memory_bytes=1024, dram_bytes=1024)
    (path,) = memory.paths([one], architectures.get("gfx90a"))
    assert [(step.level, step.bytes, step.served) for step in path.steps] == [
        ("L1", 2560, 512), ("L2", 2048, 1024), ("HBM2e", 1024, 1024),
    ]  # fmt: skip


def test_flat_accesses_are_parted_by_lane() -> None:
    one = cost(space="flat", lds_lanes=240, lines=16, cache_hits=16)
    lds, load = sorted(memory.paths([one], architectures.get("gfx942")), key=lambda path: path.kind != "lds")
    assert (lds.asked, load.asked) == (960, 1600)


def test_what_was_not_followed_is_left_out_and_said() -> None:
    shown = memory.memory_hierarchy(record(cost(), sampled=(1, 2)))
    assert shown.table.rows == ()
    assert "1 instruction was not followed" in shown.sentence


def test_no_accesses() -> None:
    shown = memory.memory_hierarchy(record())
    assert "accesses no memory" in shown.sentence
    assert shown.png().startswith(b"\x89PNG")


def test_rates_and_latencies_come_from_the_device_and_are_sourced() -> None:
    facts = memory.level_facts(architectures.get("gfx942"))
    assert list(facts) == ["LDS", "L1", "scalar cache", "L2", "Infinity Cache", "HBM3"]
    assert facts["HBM3"].bytes_per_second == pytest.approx(5.3e12 * 0.82)
    assert facts["L2"].bytes_per_second == pytest.approx(2048 * 8 * 2.1e9 * 0.45)
    assert facts["L1"].latency_clocks == 116
    assert list(memory.level_facts(architectures.get("gfx90a"))) == ["LDS", "L1", "scalar cache", "L2", "HBM2e"]
    assert all("ocumentation" in memory.sources(architectures.get(name)) for name in architectures.names())


def test_a_line_or_an_instruction_can_be_chosen() -> None:
    other = SourceLine("cell.hip", 6, 0, "z")
    full = {"cache_hits": 20}
    data = memory.memory_hierarchy(record(cost(**full), cost(**full), cost(where=other, **full))).message()
    (launch,) = data["launches"]
    assert [(choice["what"], choice["paths"][0]["asked"]) for choice in launch["choices"]] == [
        ("all", 7680), ("line", 5120), ("line", 2560), ("instruction", 2560), ("instruction", 2560),
        ("instruction", 2560),
    ]  # fmt: skip
    assert launch["choices"][1]["name"].startswith("line 5: y[i]")


@pytest.mark.full
def test_the_largest_record_stays_small() -> None:
    lines = [SourceLine("cell.hip", n, 0, "x" * 500) for n in range(3000)]
    many = [
        cost(where=line, executed=10**7, lanes=64 * 10**7, lines=10**9, cache_hits=10**8, array_hits=10**7,
             l2_requests=9 * 10**8, l2_hits=10**8, memory_bytes=10**11, dram_bytes=10**10)
        for line in lines
    ]  # fmt: skip
    both = memory.memory_hierarchy(record(*many, arch="gfx1100"), record(*many))
    assert len(json.dumps(both.message())) < 2_000_000
    assert both.message()["launches"][0]["leftOut"] == 6000 - memory.MOST_CHOICES + 1


def test_beside_another_one() -> None:
    shown = memory.memory_hierarchy(record(cost(cache_hits=20)), record(cost(cache_hits=20), arch="gfx1100"))
    assert shown.table.columns[0] == "kernel"
    assert {row[0] for row in shown.table.rows} == {"k<script>$x$ (gfx942)", "k<script>$x$ (gfx1100)"}
    assert shown.png().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 bytes"), (1, "1 byte"), (1023, "1,023 bytes"), (1024, "1 KiB"), (1536, "1.5 KiB"), (1 << 20, "1 MiB"),
     (1023 << 10, "0.999 MiB"), (5 << 50, "5,120 TiB")],
)  # fmt: skip
def test_amounts(count: int, text: str) -> None:
    assert memory.amount(count) == text


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        # 10 waves of 64 lanes ask for 2,560 bytes: 20 lines of 128 bytes; 22 are exactly a tenth more
        (20, "2.5 KiB of whole cache lines at L1 (neighbouring lanes share cache lines)."),
        (22, "2.75 KiB of whole cache lines at L1 (neighbouring lanes share cache lines)."),
        (23, "(1.15 bytes moved for each byte wanted: lanes use only parts of the lines)."),
        (640, "which became 80 KiB of whole cache lines at L1 (32 bytes moved for each byte wanted: lanes use"),
    ],
)  # fmt: skip
def test_coalescing_in_words(lines: int, said: str) -> None:
    sentence = memory.memory_hierarchy(record(cost(lines=lines, cache_hits=lines))).sentence
    assert said in sentence
    assert sentence.count("Lanes asked for 2.5 KiB") == 1


def test_stores_and_lds_in_words() -> None:
    """gfx90a has no cache between the L2 and memory."""
    stored = cost(action="store", line_bytes=64, l2_requests=40, written_bytes=2048, dram_written_bytes=2048)
    said = memory.memory_hierarchy(record(stored, arch="gfx90a")).sentence
    assert "Stores made the L2 write 2 KiB to HBM2e." in said
    assert "LDS" not in said
    assert "these levels had it" not in said
    lds = cost(space="lds", action="load", instruction="ds_read_b32 v0, v1", lds_lanes=640, lines=0)
    said = memory.memory_hierarchy(record(lds)).sentence
    assert "2.5 KiB were moved between lanes and LDS, which no cache sees." in said
    assert "Lanes asked" not in said
    assert "Stores" not in said
