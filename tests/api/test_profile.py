"""gpulab.profile on both architectures: names, refusals, totals, costs by line, instruction and access."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import gpulab

profile = importlib.import_module("gpulab.profile")

SOURCE = """
__global__ void strided(float* out, int stride) {
    __shared__ float tile[2048];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x * stride];
}
__global__ void half(float* out) {
    if (threadIdx.x % 2)
        out[threadIdx.x] = 1.0f;
}
"""


@pytest.fixture(params=["gfx942", "gfx1100"])
def arch(request: pytest.FixtureRequest) -> str:
    with gpulab.using(request.param):
        yield request.param


@pytest.fixture
def module(arch: str) -> gpulab.Module:
    return gpulab.compile(SOURCE)


def test_names_are_columns(module: gpulab.Module) -> None:
    out = gpulab.zeros(64)
    with gpulab.profile("SQ_INSTS_LDS", "valu_per_wave") as run:
        module.strided[2, 64](out, 1)
    assert run.names == ("SQ_INSTS_LDS", "valu_per_wave")
    waves = 2 * 64 // gpulab.device().wave_size
    assert "SQ_INSTS_LDS" in str(run).splitlines()[0]
    assert run.counters["SQ_INSTS_LDS"] == run.metric("SQ_INSTS_LDS") == 2 * waves  # one write and one read each
    assert run.metrics["valu_per_wave"] == run.counters["SQ_INSTS_VALU"] / waves
    assert [row[0] for row in run.table().rows] == ["SQ_INSTS_LDS", "valu_per_wave"]
    assert "valu_per_wave" in run.metrics
    assert "SQ_INSTS_LDS" in list(run.counters)
    assert "SQ_INSTS_LDS" in repr(run.counters)
    assert "<table" in run.counters._repr_html_()


def test_wrong_names_are_refused_before_anything_runs(arch: str) -> None:
    other, mine = ("SQ_INSTS_TEX_LOAD", "SQ_INSTS_VMEM_RD")
    if arch == "gfx1100":
        other, mine = mine, other
    with pytest.raises(gpulab.CounterNotFound, match=f"{arch} has no counter or metric named {other}") as caught:  # noqa: SIM117
        with gpulab.profile(other):
            pytest.fail("the block ran")
    assert mine in str(caught.value)


def test_what_the_virtual_device_does_not_count_is_refused(arch: str) -> None:
    """The architecture defines it; the virtual device has no model of it."""
    name = {"gfx942": "MemUnitStalled", "gfx1100": "WriteUnitStalled"}[arch]
    with pytest.raises(gpulab.CounterNotFound, match=f"the virtual {arch} cannot give {name}: it does not count"):  # noqa: SIM117
        with gpulab.profile(name):
            pytest.fail("the block ran")


def test_looking_up_a_wrong_name_names_the_nearest(module: gpulab.Module) -> None:
    with gpulab.profile() as run:
        module.half[1, 64](gpulab.zeros(64))
    with pytest.raises(gpulab.CounterNotFound, match="did you mean SQ_INSTS_VALU"):
        run.counters["SQ_INST_VALU"]
    with pytest.raises(KeyError):
        run.metrics["nonsense"]


def test_bank_conflicts_stand_at_their_line(module: gpulab.Module) -> None:
    """A stride of 32 floats puts 32 lanes into one bank: 32 clocks for each group of 32 lanes, one without conflict."""
    out = gpulab.zeros(64)
    with gpulab.profile() as one:
        module.strided[1, 64](out, 1)
    with gpulab.profile() as many:
        module.strided[1, 64](out, 32)
    groups = gpulab.device().wave_size // 32
    conflicts = {}
    for name, run in (("one", one), ("many", many)):
        table = run.accesses(by="")
        row = next(row for row in table.rows if str(row[1]).startswith(("ds_read", "ds_load")))
        conflicts[name] = row[table.columns.index("LDS clocks")], row[table.columns.index("conflicts")]
    assert conflicts == {"one": (groups, 0), "many": (32 * groups, 31 * groups)}
    lines = many.lines(by="conflicts")
    assert "tile[threadIdx.x * stride]" in str(lines.rows[0][1])
    compared = one.compare(many)
    assert [row[0] for row in one.compare(many, "SQ_WAVES").rows] == ["SQ_WAVES"]
    assert "SQ_WAVES" not in [row[0] for row in compared.rows]


def test_lanes_by_instruction(module: gpulab.Module) -> None:
    with gpulab.profile() as run:
        module.half[1, 64](gpulab.zeros(64))
    size = gpulab.device().wave_size
    waves = 64 // size
    assert 50.0 <= run.metric("lanes_active_percent") < 100.0
    store = next(row for row in run.instructions().rows if "global_store" in str(row[1]))
    assert store[2:4] == (waves, size / 2)
    assert "out[threadIdx.x] = 1.0f" in str(run.hotspots(10))


def test_coalescing(arch: str) -> None:
    """Neighbouring floats: four lanes share a request of 16 bytes, and all bytes of the lines are used. With a stride
    of 32 floats every lane has a request and a line of 128 bytes for itself, and uses 4 bytes of it."""
    module = gpulab.compile("__global__ void get(const float* x, float* out, int s) { out[0] = x[threadIdx.x * s]; }")
    x, out = gpulab.zeros(64 * 32), gpulab.zeros(1)
    found = []
    for stride in (1, 32):
        with gpulab.profile("bytes_per_request", "used_bytes_percent") as run:
            module.get[1, 64](x, out, stride)
        table = run.accesses(by="")
        load = next(row for row in table.rows if str(row[1]).startswith("global_load"))
        found.append((load[table.columns.index("lines")], load[table.columns.index("used %")]))
        assert run.metrics["bytes_per_request"] > 0
    size = gpulab.device().wave_size
    assert found == [(size * 4 / 128, 100.0), (size, 3.1)]


MIXED = """
__device__ int total;
__global__ void mixed(const float* x, float* y, int n) {
    __shared__ float tile[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[(threadIdx.x * 8) % 256] = i < n ? x[i] : 0.0f;
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 8; k++) sum += sqrtf(tile[(threadIdx.x + k) % 256]) * 2.0f;
    if (i < n) y[i * 3] = sum;
    if (sum > 3.0f) atomicAdd(&total, 1);
}
"""


def test_parts_add_up_to_the_whole(arch: str) -> None:
    """Every counter that instructions have, added up over all of them, is the launch's: instructions, bytes and lines,
    LDS clocks, hits of the caches."""
    module = gpulab.compile(MIXED)
    x, y = gpulab.to_device(np.arange(1000, dtype="float32")), gpulab.zeros(3000)
    with gpulab.profile() as run:
        module.mixed[4, 256](x, y, 1000)
    launch = run[0]
    parts = profile._by_instruction(launch)
    assert len(parts) == len(launch.instructions)
    assert sum(len(part.accesses) for part in parts) == len(launch.accesses) >= 6
    names = set(parts[0].counters)
    assert {"SQ_INSTS_VALU", "SQ_INSTS_SMEM", "SQ_INSTS_LDS", "SQ_INSTS_SALU"} < names
    assert names & {"TCC_HIT", "GL2C_HIT"}
    assert names & {"SQ_LDS_BANK_CONFLICT", "SQC_LDS_BANK_CONFLICT"}
    assert not names & {"SQ_WAVES", "GRBM_GUI_ACTIVE"}
    for name in names:
        added = sum(part.counters[name] for part in parts)
        assert added == pytest.approx(launch.counters[name], abs=0.5 * len(parts)), name
        if name.startswith("SQ_INSTS") and "MOPS" not in name:
            assert added == launch.counters[name], name


def test_counters_by_line_and_by_instruction(arch: str) -> None:
    module = gpulab.compile(MIXED)
    x, y = gpulab.to_device(np.arange(1000, dtype="float32")), gpulab.zeros(3000)
    with gpulab.profile("SQ_INSTS_LDS", "lds_conflict_percent", "SQ_WAVES") as run:
        module.mixed[4, 256](x, y, 1000)
    table = run.lines()
    assert table.columns[-3:] == ("SQ_INSTS_LDS", "lds_conflict_percent", "SQ_WAVES")
    waves = 4 * 256 // gpulab.device().wave_size
    lines = {str(row[1]): row for row in table.rows}
    store = next(row for text, row in lines.items() if text.startswith("tile["))
    assert store[-3] == waves
    assert store[-1] == "–"
    assert table.note == "Assumed: lds_conflict_percent."
    assert "Assumed: lds_conflict_percent." in str(run)
    # Neighbouring lanes are 8 floats apart: 32 lanes use 4 of 32 banks, 8 lanes each, so 7 of 8 clocks are conflicts.
    assert store[-2] == 87.5
    by_instruction = run.instructions(by="", names=["SQ_INSTS_VALU"])
    assert by_instruction.columns[-1] == "SQ_INSTS_VALU"
    for row in by_instruction.rows:
        assert row[-1] == (row[2] if str(row[1]).startswith("v_") else 0)
    with pytest.raises(gpulab.CounterNotFound):
        run.lines(names=["L9_HIT"])


def test_launches_together(module: gpulab.Module) -> None:
    out = gpulab.zeros(64)
    with gpulab.profile() as run:
        module.strided[1, 64](out, 1)
        module.strided[3, 64](out, 1)
    assert run.counters["SQ_WAVES"] == sum(launch.counters["SQ_WAVES"] for launch in run)
    assert run.metric("SQ_WAVES", 0) * 3 == run.metric("SQ_WAVES", 1)
    assert len(run.table(0).rows) > 5


def test_nothing_launched() -> None:
    with gpulab.profile("SQ_WAVES") as run:
        pass
    assert "No kernel was launched." in str(run)
    with pytest.raises(IndexError, match="no kernel was launched"):
        run.counters["SQ_WAVES"]


def test_two_architectures_are_not_added_up() -> None:
    with gpulab.profile() as run:
        for name in ("gfx942", "gfx1100"):
            with gpulab.using(name):
                gpulab.compile(SOURCE).half[1, 64](gpulab.zeros(64))
    with pytest.raises(gpulab.CounterNotFound, match="ran on gfx1100 and gfx942"):
        run.counters["SQ_WAVES"]
    assert run.metric("SQ_WAVES", 0) == 1
    assert run.metric("SQ_WAVES", 1) == 2


def test_shares_of_time_are_shares(arch: str) -> None:
    """Arithmetic on all compute units: no share of the GPU's time is above 100 %, and occupancy is below its limit."""
    module = gpulab.compile(
        "__global__ void work(float* y, int n) {"
        " float a = threadIdx.x; for (int i = 0; i < n; i++) a = a * 1.5f + 1.0f; y[threadIdx.x] = a; }"
    )
    y = gpulab.zeros(256)
    with gpulab.profile("VALUBusy", "OccupancyPercent", "occupancy_limit_percent", "SIMD_UTILIZATION") as run:
        module.work[1216, 256](y, 400)
    busy, filled = run.metric("VALUBusy"), run.metric("OccupancyPercent")
    assert 10 < busy <= 100
    assert 10 < filled <= run.metric("occupancy_limit_percent") <= 100
    assert 0 < run.metric("SIMD_UTILIZATION") <= 1
    assert run.metric("MeanOccupancyPerCU") == pytest.approx(filled * 32 / 100)
    assert "limited by" in str(run)
    assert "Modelled: VALUBusy, OccupancyPercent" in str(run)


def test_metrics_are_of_what_was_counted(module: gpulab.Module) -> None:
    """The whole table can be shown, and each metric in it is a number of the right kind."""
    with gpulab.profile() as run:
        module.strided[8, 64](gpulab.zeros(64), 8)
    for name, value in run.metrics.items():
        assert not name.endswith("Percent") or 0 <= value <= 100 or np.isnan(value), name
    assert "waves started" in str(run.table())


@pytest.mark.parametrize("method", ["lines", "hotspots", "instructions", "accesses"])
def test_tables_are_of_the_last_launch_unless_another_is_asked_for(module: gpulab.Module, method: str) -> None:
    out = gpulab.zeros(64)
    with gpulab.profile() as run:
        module.strided[1, 64](out, 1)
        module.half[1, 64](out)
    ask = getattr(run, method)
    last, first = str(ask()), str(ask(index=0))
    assert last == str(ask(index=1)) == str(ask(index=-1))
    assert last != first
    with pytest.raises(IndexError):
        ask(index=2)


@pytest.mark.parametrize("method", ["coalescing", "lds_banks", "memory", "divergence", "source", "gpu_map", "roofline"])
def test_pictures_are_of_the_last_launch_unless_another_is_asked_for(module: gpulab.Module, method: str) -> None:
    """A roofline is of all launches."""
    out = gpulab.zeros(64)
    with gpulab.profile() as run:
        module.strided[1, 64](out, 32)
        module.half[2, 64](out)
    ask = getattr(run, method)
    text = [f"{picture.title} {picture.sentence} {picture.table}" for picture in (ask(), ask(index=0), ask(index=1))]
    assert text[1] != text[2]
    assert text[0] != text[1]
    assert (text[0] == text[2]) == (method != "roofline")


def test_one_launch_or_all_of_them(module: gpulab.Module) -> None:
    out = gpulab.zeros(64)
    with gpulab.profile() as run:
        for _ in range(3):
            module.half[1, 64](out)
        module.strided[2, 64](out, 1)
    waves = 64 // gpulab.device().wave_size
    assert [run.metric("SQ_WAVES", n) for n in range(4)] == [waves, waves, waves, 2 * waves]
    assert run.metric("SQ_WAVES") == run.total().counters["SQ_WAVES"] == 5 * waves
    assert run.total(0) is run[0] is run.launches[0]
    assert run.total(-1).kernel == "strided"
    assert str(run.table(0)) != str(run.table())
    assert len(run.activities) == 4
    with gpulab.profile() as none:
        pass
    for ask in (none.total, none.table, none.roofline, lambda: none.counters):
        with pytest.raises(IndexError, match="no kernel was launched inside the profile block"):
            ask()
