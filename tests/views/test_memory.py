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


def test_levels_of_an_rx_7900_xtx() -> None:
    """96 CUs (48 WGPs) at 2.5 GHz. Bytes a clock of one instance times instances times clock: 128 of LDS and 64 of L1
    for each CU; what memory and Infinity Cache give is measured."""
    a = architectures.get("gfx1100")
    facts = memory.level_facts(a)
    assert [
        (one.name, one.bytes, one.instances, one.shared_by, one.latency_clocks, round(one.bytes_per_second / 1e9, 3))
        for one in facts.values()
    ] == [
        ("LDS", 128 << 10, 48, "WGP", a.lds_latency_clocks, 30_720),
        ("L1", 32 << 10, 96, "CU", a.vector_cache.latency_clocks, 15_360),
        ("scalar cache", 16 << 10, 48, "WGP", a.scalar_cache.latency_clocks,
         a.scalar_cache.bytes_per_clock * 48 * 2.5),
        ("GL1", 256 << 10, 12, "shader array", a.shader_array_cache.latency_clocks,
         a.shader_array_cache.bytes_per_clock * 12 * 2.5),
        ("L2", 6 << 20, 1, "device", a.l2_cache.latency_clocks, 6758.4),
        ("Infinity Cache", 96 << 20, 1, "device", a.last_level_cache.latency_clocks, 2900),
        ("GDDR6", a.memory_bytes, 1, "device", a.memory_latency_clocks, 835.2),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("part", "whole", "said"),
    [
        (0, 0, "–"), (0, 5, "0 %"), (5, 5, "100 %"), (1, 100, "1 %"), (99, 100, "99 %"), (991, 1000, "99+ %"),
        (9, 1000, "0.9 %"), (123, 100_000, "0.12 %"), (1, 3, "33 %"),
    ],
)  # fmt: skip
def test_shares_in_words(part: int, whole: int, said: str) -> None:
    assert memory._percent(part, whole) == said


def tips(*costs: AccessCost, arch: str = "gfx942") -> list[list[list[str]]]:
    """What is said of each level of each path, line by line."""
    (launch,) = memory.memory_hierarchy(record(*costs, arch=arch)).message()["launches"]
    return [[step["tip"].split("\n") for step in path["steps"]] for path in launch["choices"][0]["paths"]]


def test_what_is_said_of_each_level() -> None:
    (load,) = tips(cost(cache_hits=5, l2_requests=15, l2_hits=7, memory_bytes=1024, dram_bytes=768))
    assert [lines[:3] for lines in load] == [
        ["L1, global loads: 2,560 bytes arrive (2.5 KiB)", "640 bytes are found here",
         "1,920 bytes have to come from further away"],
        ["L2, global loads: 1,920 bytes arrive (1.88 KiB)", "896 bytes are found here",
         "1,024 bytes have to come from further away"],
        ["Infinity Cache, global loads: 1,024 bytes arrive (1 KiB)", "256 bytes are found here",
         "768 bytes have to come from further away"],
        ["HBM3, global loads: 768 bytes arrive (768 bytes)", "768 bytes are found here", "nothing goes on"],
    ]  # fmt: skip
    assert [lines[3:-1] for lines in load] == [
        ["20 requests, 5 hits (25 %), 128 bytes each"], ["15 requests, 7 hits (47 %), 128 bytes each"], [], [],
    ]  # fmt: skip
    assert load[0][-1] == "latency 116 clocks (55 ns); together they reach 81.7 TB/s"
    assert load[3][-1].endswith("; it reaches 4.35 TB/s")


@pytest.mark.parametrize("space", ["global", "scratch"])
def test_what_is_said_of_stores(space: str) -> None:
    """They look for lines in the L2 alone."""
    words = {"global": "global stores", "scratch": "scratch stores"}[space]
    part = cost(action="store", space=space, l2_requests=40, l2_hits=10, written_bytes=2048, dram_written_bytes=640)
    (store,) = tips(part)
    assert [lines[:-1] for lines in store] == [
        [f"L1, {words}: 2,560 bytes arrive (2.5 KiB)", "stores pass through to the L2, in requests of 64 bytes"],
        [f"L2, {words}: 2,560 bytes arrive (2.5 KiB)",
         "2,048 bytes are written on to the next level by the end of the launch",
         "512 bytes are not: stored again, or parts of 64 bytes that nobody stored to",
         "40 requests, 10 hits (25 %), 64 bytes each"],
        [f"Infinity Cache, {words}: 2,048 bytes arrive (2 KiB)",
         "640 bytes are written on to the next level by the end of the launch",
         "1,408 bytes are not: stored again, or parts of 64 bytes that nobody stored to"],
        [f"HBM3, {words}: 640 bytes arrive (640 bytes)", "written here, and here it stays"],
    ]  # fmt: skip
    (kept,) = tips(cost(action="store", space=space, l2_requests=40, written_bytes=2048))
    assert kept[3][:2] == [f"HBM3, {words}: 0 bytes arrive (0 bytes)", "nothing comes so far"]


def test_what_is_said_of_atomics_and_lds() -> None:
    both = (
        cost(action="atomic", l2_requests=10, l2_hits=5, memory_bytes=320, written_bytes=640, dram_written_bytes=640),
        cost(space="lds", lds_lanes=640, lines=0),
    )
    atomic, back, lds = tips(*both)
    assert [lines[1:-1] for lines in atomic[:2]] == [
        ["atomics pass through: they are done in the L2"],
        ["320 bytes are done here", "320 bytes have to come from further away",
         "10 requests, 5 hits (50 %), 64 bytes each"],
    ]  # fmt: skip
    assert [lines[:2] for lines in back] == [
        ["Infinity Cache, atomics, written back: 640 bytes arrive (640 bytes)",
         "640 bytes are written on to the next level by the end of the launch"],
        ["HBM3, atomics, written back: 640 bytes arrive (640 bytes)", "written here, and here it stays"],
    ]  # fmt: skip
    assert lds[0][:-1] == [
        "LDS, LDS: 2,560 bytes arrive (2.5 KiB)",
        "served here, all of it: LDS is memory of the block's own, not a cache",
    ]
    rows = memory.memory_hierarchy(record(*both)).table.rows
    assert [row[:6] for row in rows[:3]] == [
        ("LDS", 2560, 2560, 0, "–", 51), ("L1", 640, 0, 640, 0, 116), ("L2", 640, 320, 320, 50, 287),
    ]  # fmt: skip
    rates = (81.7152, 81.7152, 15.48288)
    assert [row[6] for row in rows[:3]] == pytest.approx(rates)
    assert [row[7] for row in rows[:3]] == pytest.approx([2560 / 81.7152e6, 640 / 81.7152e6, 640 / 15.48288e6])


def test_what_was_followed_through_the_caches() -> None:
    """All whose lines were looked for anywhere; what moved no lines at all needs no following."""
    for changes, blind in (({}, True), ({"cache_hits": 10, "l2_requests": 10}, False), ({"cache_hits": 1}, False),
                           ({"l2_requests": 1}, False), ({"lines": 0}, False)):  # fmt: skip
        assert memory.unfollowed(cost(**changes)) is blind


def test_notes_of_a_launch() -> None:
    assert memory.memory_hierarchy(record()).sentence == (
        "The kernel accesses no memory, or the device does not look at accesses."
    )
    full = cost(cache_hits=20)
    empty = " Hits are modelled: every launch begins with empty caches."
    assert memory.memory_hierarchy(record(full)).sentence.endswith(
        f" (neighbouring lanes share cache lines).{SERVED}{empty}"
    )
    assert memory.memory_hierarchy(record(full, time_is_modelled=False)).sentence.endswith(SERVED)
    shown = memory.memory_hierarchy(record(cost(), cost(), full, sampled=(1, 2))).sentence
    assert f"2 instructions were not followed through the caches and are left out.{empty}" in shown


SERVED = " Of what loads looked up, these levels had it: L1 100 %, L2 0 %, Infinity Cache 0 %, HBM3 0 %."
