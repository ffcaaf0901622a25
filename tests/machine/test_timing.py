"""The timing model against peak rates and public measurements (docs/timing.md names the sources), and its parts.

The kernels are those of bench/timing.hip, at sizes that take milliseconds: of a large grid the first workgroups.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib.util
import itertools
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

from gpulab import architectures
from gpulab.records import ModelledTime
from gpulab.virtual_gpu import isa
from gpulab.virtual_gpu.isa.row import Matrix
from gpulab.virtual_gpu.machine import timing
from gpulab.virtual_gpu.machine.timing import Traffic, Wait, Work, model
from tests.translate.kernels import ARCHITECTURES, Buffer, good, module

GIB = 1 << 30
ALL = architectures.names()


def seconds(time: ModelledTime) -> float:
    return time.us * 1e-6


def within(value: float, expected: float, factor: float) -> bool:
    return expected / factor <= value <= expected * factor


def matrix(arch: str, name: str) -> Matrix:
    row = isa.table(arch)[name]
    assert isinstance(row, Matrix)
    return row


def busy(arch: str, name: str, count: float, **more: float) -> ModelledTime:
    """Time of a launch that keeps every SIMD full of waves, each of which executes `count` instructions of a class."""
    a = architectures.get(arch)
    groups = a.multiprocessors * 64
    waves = groups * 4
    clocks = timing.issue_clocks(a)
    path = waves * count * max(clocks.get(name, 1), a.vector_latency_clocks)
    issued = {name: waves * count}
    work = Work(groups, 4, 4 * a.wave_size, vgprs=32, issued=issued, path_clocks=path)
    return model(a, dataclasses.replace(work, **{k: v * waves for k, v in more.items()}))


class TestPeakRates:
    """Instruction streams without memory reach the device's peak rates, which AMD publishes."""

    @pytest.mark.parametrize(
        ("arch", "name", "operations", "tera"),
        [
            ("gfx942", "valu", 2 * 64, 81.7),  # v_fma_f32: half of the 163.4 that packed instructions reach
            ("gfx942", "dual", 4 * 64, 163.4),
            ("gfx942", "double", 2 * 64, 81.7),
            ("gfx1100", "valu", 2 * 32, 30.7),
            ("gfx1100", "dual", 4 * 32, 61.4),
            ("gfx1100", "double", 2 * 32, 1.92),
            ("gfx90a", "valu", 2 * 64, 23.9),
            ("gfx90a", "double", 2 * 64, 23.9),
        ],
    )
    def test_vector(self, arch, name, operations, tera):
        count = 20_000
        time = busy(arch, name, count)
        a = architectures.get(arch)
        done = a.multiprocessors * 64 * 4 * count * operations
        assert time.limiter == "VALU issue"
        assert within(done / seconds(time) / 1e12, tera, 1.25)

    @pytest.mark.parametrize(
        ("arch", "name", "tera"),
        [
            ("gfx942", "v_mfma_f32_32x32x8_f16", 1307.4),
            ("gfx942", "v_mfma_f32_16x16x16_f16", 1307.4),
            ("gfx942", "v_mfma_f32_32x32x16_fp8_fp8", 2614.9),
            ("gfx942", "v_mfma_f32_32x32x2_f32", 163.4),
            ("gfx942", "v_mfma_f64_16x16x4_f64", 163.4),
            ("gfx90a", "v_mfma_f32_32x32x8f16", 191.5),
            ("gfx1100", "v_wmma_f32_16x16x16_f16", 123.0),
        ],
    )
    def test_matrix(self, arch, name, tera):
        a = architectures.get(arch)
        row = matrix(arch, name)
        clocks = timing.matrix_clocks(a, row)
        time = busy(arch, "matrix", 2_000, matrix_clocks=2_000 * clocks)
        done = a.multiprocessors * 64 * 4 * 2_000 * 2 * row.m * row.n * row.k
        assert time.limiter == "matrix cores"
        assert within(done / seconds(time) / 1e12, tera, 1.15)

    def test_passes(self):
        """Passes of CDNA 3 (LLVM, SISchedule.td; AMD's matrix instruction calculator), 4 clocks each."""
        a = architectures.get("gfx942")
        passes = {
            "v_mfma_f32_32x32x8_f16": 8, "v_mfma_f32_16x16x16_f16": 4, "v_mfma_f32_32x32x4_2b_f16": 16,
            "v_mfma_f32_4x4x4_16b_f16": 2, "v_mfma_f32_16x16x8_xf32": 4, "v_mfma_f32_32x32x4_xf32": 8,
            "v_mfma_f32_16x16x4_f32": 8, "v_mfma_f32_32x32x1_2b_f32": 16, "v_mfma_f64_16x16x4_f64": 8,
            "v_mfma_f64_4x4x4_4b_f64": 4, "v_mfma_i32_32x32x16_i8": 8,
        }  # fmt: skip
        assert {name: timing.matrix_clocks(a, matrix("gfx942", name)) / 4 for name in passes} == passes

    def test_transcendentals_are_four_times_as_slow_and_on_rdna_run_beside_the_rest(self):
        for arch in ARCHITECTURES:
            plain, trans = (busy(arch, name, 20_000).us for name in ("valu", "trans"))
            assert 3 < trans / plain < 4.5
        a = architectures.get("gfx1100")
        groups = a.multiprocessors * 64
        both = {"trans": groups * 4 * 20_000.0, "valu": groups * 4 * 40_000.0}
        mixed = model(a, Work(groups, 4, 128, issued=both))
        assert mixed.us < 1.3 * busy("gfx1100", "trans", 20_000).us


def copy(arch: str, buffer: int, wide: int = 16) -> Work:
    """The work of a copy kernel of one `wide`-byte element a thread, whole lines, nothing cached."""
    a = architectures.get(arch)
    groups = buffer // (wide * 256)
    waves = 256 // a.wave_size
    total = groups * waves
    lines = buffer / a.vector_cache.line_bytes
    issued = {"vmem read": total, "vmem write": total, "valu": 8 * total, "salu": 8 * total, "smem": 2 * total}
    traffic = Traffic(
        l1_clocks=2 * buffer / a.l1_bytes_per_clock,
        l1_lookups=lines,
        l2_reads=buffer / a.l2_cache.line_bytes,
        l2_writes=buffer / 64,
        fabric_reads=buffer / a.l2_cache.line_bytes,
        fabric_read_bytes=buffer,
        fabric_write_bytes=buffer,
        dram_read_bytes=buffer,
        dram_write_bytes=buffer,
    )
    waits = (Wait("smem", 4, 2, total), Wait("vmem", 4, 1, total), Wait("store", 4, 1, total))
    return Work(groups, waves, 256, vgprs=16, issued=issued, path_clocks=80 * total, waits=waits, traffic=traffic)


@pytest.mark.parametrize(
    ("arch", "gigabytes"),
    [
        ("gfx942", 4350),  # BabelStream copy on an MI300X
        ("gfx90a", 1360),  # gpu-benches, scale, full occupancy, MI210
        ("gfx1030", 456),  # gpu-benches, scale, RX 6900 XT
        ("gfx1100", 816),  # 0.85 of 960 GB/s
    ],
)
def test_copies_reach_the_measured_bandwidth(arch, gigabytes):
    time = model(architectures.get(arch), copy(arch, GIB))
    assert time.limiter.endswith("bandwidth")
    assert time.limiter.startswith(architectures.get(arch).memory_kind)
    assert within(2 * GIB / seconds(time) / 1e9, gigabytes, 1.1)


def chase(arch: str, level: str) -> float:
    """Clocks of one load of a chain of dependent loads by one lane that are found in a cache level."""
    a = architectures.get(arch)
    loads = 100_000
    traffic = Traffic(
        l1_clocks=loads * a.vector_issue_clocks,
        l1_lookups=loads,
        l1_hits=loads if level == "L1" else 0,
        l2_reads=0 if level == "L1" else loads,
        l2_hits=loads if level == "L2" else 0,
        fabric_reads=loads if level in ("LLC", "DRAM") else 0,
        llc_hits=loads if level == "LLC" else 0,
        dram_read_bytes=64 * loads if level == "DRAM" else 0,
    )
    issued = {"vmem read": loads}
    work = Work(1, 1, 64, issued=issued, waits=(Wait("vmem", 0, 1, loads),), path_clocks=4 * loads, traffic=traffic)
    time = model(a, work)
    return (time.us - time.overhead_us) * a.clock_mhz / loads


@pytest.mark.parametrize(
    ("arch", "level", "clocks"),
    [
        # mt4g on an MI300X VF and MI210; Chips and Cheese for the Infinity Caches and the RX 7900 XTX's memory
        ("gfx942", "L1", 116), ("gfx942", "L2", 287), ("gfx942", "LLC", 218 * 2.1), ("gfx942", "DRAM", 888),
        ("gfx90a", "L1", 124), ("gfx90a", "L2", 302), ("gfx90a", "DRAM", 712),
        ("gfx1100", "LLC", 150 * 2.5), ("gfx1100", "DRAM", 235 * 2.5),
        ("gfx1030", "L1", 73), ("gfx1030", "L2", 210), ("gfx1030", "LLC", 400),  # gpu-benches, RX 6900 XT
    ],
)  # fmt: skip
def test_a_pointer_chase_takes_the_measured_latency(arch, level, clocks):
    assert within(chase(arch, level), clocks, 1.25)


@pytest.mark.parametrize(
    ("threads", "gigabytes"), [(64, 182), (128, 334), (256, 608), (512, 1055), (1024, 1345)]
)  # te42kyfo/gpu-benches, gpu-stream, "read" on an MI210: two workgroups on a compute unit, an f64 for each thread
def test_occupancy_hides_latency_as_measured(threads, gigabytes):
    a = architectures.get("gfx90a")
    elements = 128 << 20
    groups, waves = elements // threads, threads // 64
    total = groups * waves
    traffic = Traffic(
        l1_clocks=total * 16,
        l1_lookups=elements * 8 / 64,
        l2_reads=elements * 8 / 128,
        fabric_reads=elements * 8 / 128,
        fabric_read_bytes=elements * 8,
        dram_read_bytes=elements * 8,
    )
    issued = {"vmem read": total, "valu": 8 * total, "salu": 8 * total, "smem": 2 * total}
    waits = (Wait("smem", 4, 1, total), Wait("smem", 4, 1, total), Wait("vmem", 4, 1, total))
    work = Work(
        groups, waves, threads, vgprs=16, lds_bytes=32 * 1024, issued=issued, path_clocks=80 * total, waits=waits,
        traffic=traffic,
    )  # fmt: skip
    time = model(a, work)
    assert within(elements * 8 / seconds(time) / 1e9, gigabytes, 1.4)
    assert time.resident_waves == 2 * waves
    if threads <= 256:
        assert time.limiter == "latency (occupancy)"


def test_bank_conflicts_multiply_lds_time():
    """One b32 read of 64 lanes is 2 bank cycles, 64 where all lanes hit one bank (pyhip: 4 and 64 for one wave)."""
    a = architectures.get("gfx942")
    groups, reads = a.compute_units * 8, 10_000
    waves = groups * 4

    def lds(bank_cycles: float) -> ModelledTime:
        traffic = Traffic(lds_clocks=waves * reads * bank_cycles, lds_bytes=waves * reads * 256)
        return model(a, Work(groups, 4, 256, issued={"lds": waves * reads}, traffic=traffic))

    free, conflicted = lds(2), lds(64)
    assert (free.limiter, conflicted.limiter) == ("LDS", "LDS")
    assert within(conflicted.us / free.us, 32, 1.2)
    # 128 bytes a clock and compute unit: 81.7 TB/s on the device
    assert within(waves * reads * 256 / seconds(free) / 1e12, 81.7, 1.25)


@pytest.mark.parametrize(("arch", "gigabytes"), [("gfx90a", 31), ("gfx1030", 20)])
def test_small_launches_cost_the_overhead(arch, gigabytes):
    """gpu-benches, gpu-small-kernels: 4096 doubles are scaled, launch after launch, at so many bytes in and out."""
    time = model(architectures.get(arch), copy(arch, 4096 * 8, 8))
    assert time.limiter == "launch overhead"
    assert within(2 * 4096 * 8 / seconds(time) / 1e9, gigabytes, 1.3)


@pytest.mark.parametrize("arch", ALL)
def test_more_work_takes_longer(arch):
    a = architectures.get(arch)
    times = [model(a, copy(arch, 1 << bits)).us for bits in range(12, 34, 2)]
    assert times == sorted(times)
    assert times[-1] > 100 * times[0]


def test_one_workgroup_more_than_the_device_holds_makes_another_round():
    a = architectures.get("gfx942")

    def time(groups: int) -> float:
        waits = (Wait("vmem", 0, 1, groups * 16 * 1000.0),)
        work = Work(groups, 16, 1024, lds_bytes=60_000, issued={"vmem read": 1.0}, waits=waits)
        return model(a, dataclasses.replace(work, traffic=Traffic(l1_lookups=1.0))).us

    assert time(304) < time(305) < 2.1 * time(304)
    assert time(305) > 1.8 * time(304)


def test_a_sample_stands_for_its_grid():
    work = copy("gfx942", 1 << 20)
    big = work.of_grid(work.workgroups * 1024)
    assert model(architectures.get("gfx942"), big) == model(architectures.get("gfx942"), copy("gfx942", GIB))


class TestBlockCosts:
    def work(self, arch: str, name: str, grid, block, *arguments) -> Work:
        from tests.translate.kernels import device

        good(arch, name, grid, block, *arguments, workers=1)
        code = module(arch).kernels[name].code()
        a = architectures.get(arch)
        translation = code.translation
        executed = list(device(arch)._contexts[0].counters[: len(translation.blocks)])
        weights = timing.BlockCosts(a, module(arch).program.labels, translation.blocks, translation.decoded)
        groups = grid[0] * grid[1] if isinstance(grid, tuple) else grid
        threads = block[0] * block[1] if isinstance(block, tuple) else block
        return weights.work(executed, groups, a.waves(threads), threads)

    @pytest.mark.parametrize("arch", ARCHITECTURES)
    def test_tiled_matrix_product(self, arch):
        n = 64
        a, b, c = (Buffer(np.zeros(n * n, np.float32)) for _ in range(3))
        work = self.work(arch, "tiled", (4, 4), (16, 16), n, a, b, c)
        waves = 16 * 256 // architectures.get(arch).wave_size
        steps = n // 16
        # Two loads, one store of two values into LDS and two barriers a step; one store at the end.
        assert work.issued["vmem read"] == 2 * steps * waves
        assert work.issued["vmem write"] == waves
        assert work.issued["barrier"] == 2 * steps * waves
        # Both loads of a step are waited for together, after a few clocks; nothing else waits for loads.
        loads = [wait for wait in work.waits if wait.kind == "vmem"]
        assert [(wait.requests, wait.times) for wait in loads] == [(2, steps * waves)]
        assert 0 <= loads[0].slack <= 40
        # The reads from LDS of a step are under way together: one wait, and one for the stores.
        assert sum(w.times for w in work.waits if w.kind == "lds") == 2 * steps * waves
        assert [w.times for w in work.waits if w.kind == "store"] == [waves]
        assert work.traffic.estimated
        assert work.traffic.dram_read_bytes == 2 * steps * 16 * 256 * 4


@functools.cache
def bench():  # type: ignore[no-untyped-def]
    """bench/timing.py as a module."""
    path = Path(__file__).resolve().parents[2] / "bench" / "timing.py"
    spec = importlib.util.spec_from_file_location("bench_timing", path)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules["bench_timing"] = found
    spec.loader.exec_module(found)
    return found


def run(arch: str, name: str, grid, block, *arguments: object, **more: int) -> ModelledTime:
    return bench().machine(arch).time(name, grid, block, *arguments, **more)


@functools.cache
def memory(size: int, number: int = 0):  # type: ignore[no-untyped-def]
    """Device memory of so many bytes, kept for all tests."""
    return bench().Memory(size)


def bandwidth(time: ModelledTime, moved: float) -> float:
    return moved / seconds(time) / 1e9


BIG = 1 << 28  # bytes of the arrays that streams go through the beginning of


def stream(arch: str, name: str, per_thread: int, *more: object, block: int = 256, lds: int = 0) -> ModelledTime:
    """The time of a kernel with one element of `per_thread` bytes for each thread of 1 GiB of them."""
    whole = GIB // (per_thread * block)
    return run(arch, name, 512, block, memory(BIG), memory(BIG, 1), *more, whole=whole, lds=lds)


class TestMeasuredKernels:
    @pytest.mark.parametrize(
        ("arch", "gigabytes"), [("gfx942", 4350), ("gfx90a", 1360), ("gfx1030", 456), ("gfx1100", 816)]
    )
    def test_copies(self, arch, gigabytes):
        """Sources: BabelStream on an MI300X; gpu-benches on an MI210 and an RX 6900 XT; 0.85 of 960 GB/s."""
        for name, per_thread in (("copy4", 16), ("copy", 4), ("scale", 8)):
            time = stream(arch, name, per_thread)
            assert within(bandwidth(time, 2 * GIB), gigabytes, 1.2), name
            assert time.limiter.startswith(architectures.get(arch).memory_kind)
            assert time.traffic == "sampled"

    @pytest.mark.parametrize("arch", ["gfx90a", "gfx1030"])
    def test_streams_by_occupancy(self, arch):
        """gpu-benches, gpu-stream on an MI210 and an RX 6900 XT: workgroups of different sizes with much LDS."""
        for name, moved, _, measured in bench().OCCUPANCY[arch]:
            for threads, gigabytes in zip((64, 128, 256, 512, 1024), measured, strict=True):
                time = stream(arch, name, 8, block=threads, lds=32 * 1024)
                assert within(bandwidth(time, moved * GIB), gigabytes, 1.35)
                if arch == "gfx90a":
                    assert time.resident_waves == 2 * threads // 64

    @pytest.mark.parametrize(("threads", "gigabytes"), [(16, 212), (32, 424), (64, 842)])
    def test_small_workgroups_wait_for_the_dispatcher(self, threads, gigabytes):
        """gpu-benches, gpu-small-kernels on an MI210: 828 million workgroups a second, however small they are."""
        time = stream("gfx90a", "scale", 8, block=threads)
        assert time.limiter == "workgroup dispatch"
        assert within(bandwidth(time, 2 * GIB), gigabytes, 1.15)

    @pytest.mark.parametrize("arch", ["gfx90a", "gfx1030"])
    def test_strided_reads_from_the_vector_cache(self, arch):
        """gpu-benches, gpu-strides on an MI210 and RDNA 2: clocks of the L1 for 32 lanes that read floats so far
        apart."""
        for stride, clocks in bench().L1_STRIDES[arch].items():
            time = run(arch, "l1_strided", 1, 1024, memory(BIG), memory(1 << 26), stride, 128, 0)
            found = (time.us - time.overhead_us) * architectures.get(arch).clock_mhz / (32 * 128 * 8)
            assert time.limiter == "L1"
            assert within(found, clocks, 2)

    def test_arithmetic(self):
        """A compiled chain of FMAs reaches the peak that the instructions chosen allow (see TestPeakRates)."""
        y = memory(1 << 26)
        for arch, name, tera in (("gfx942", "fma64", 81.7), ("gfx942", "fma32", 163.4), ("gfx1100", "fma32", 30.7)):
            groups, steps = architectures.get(arch).multiprocessors * 16, 512
            factors = (np.float64(1.5), np.float64(0.5)) if name == "fma64" else (1.5, 0.5)
            time = run(arch, name, 8, 256, y, steps, *factors, whole=groups)
            assert time.limiter == "VALU issue"
            assert within(groups * 256 * steps * 8 * 2 / seconds(time) / 1e12, tera, 1.25)

    @pytest.mark.parametrize("arch", ARCHITECTURES)
    def test_lds_by_stride(self, arch):
        """As pyhip measured on an MI308X, and as 32 banks say: twice the stride takes twice the time, 33 none more."""
        a, y = architectures.get(arch), memory(1 << 26)
        groups, steps = a.multiprocessors * 16, 64
        times = {s: run(arch, "lds_read", 8, 256, y, steps, s, whole=groups) for s in (1, 2, 8, 32, 33)}
        assert {time.limiter for time in times.values()} == {"LDS"}
        us = {s: time.us - time.overhead_us for s, time in times.items()}
        assert us[33] == us[1]
        assert 1.5 < us[2] / us[1] < 2.1
        assert 3.5 < us[8] / us[2] < 4.1
        assert 3.8 < us[32] / us[8] < 4.1
        # 128 bytes a clock and compute unit: 81.7 and 30.7 TB/s
        moved = groups * 256 * steps * 8 * 4
        assert within(moved / us[1] / 1e6, a.compute_units * 128 * a.clock_mhz * 1e-6, 1.3)

    @pytest.mark.parametrize(
        ("arch", "level", "clocks"),
        [
            ("gfx942", "L1", 116), ("gfx942", "L2", 287), ("gfx942", "LLC", 458), ("gfx942", "DRAM", 888),
            ("gfx1100", "LLC", 375), ("gfx1100", "DRAM", 588), ("gfx90a", "L1", 124), ("gfx90a", "L2", 302),
            ("gfx90a", "DRAM", 712),
        ],
    )  # fmt: skip
    def test_pointer_chase(self, arch, level, clocks):
        """The same sources as test_a_pointer_chase_takes_the_measured_latency; loads of one lane, lines in random
        order; what the first round through the lines costs is taken off."""
        size, steps = {"L1": (8, 1024), "L2": (256, 4096), "LLC": (8192, 65536), "DRAM": (1 << 18, 4096)}[level]
        links, length = bench().chain(size, architectures.get(arch).vector_cache.line_bytes // 4, steps)
        steps, out = max(steps, length), memory(1 << 26)
        rounds = (0, steps) if level == "DRAM" else (steps, 2 * steps)
        first, both = (run(arch, "chase", 1, 1, links, out, r) for r in rounds)
        links.free()
        found = (both.us - first.us) * architectures.get(arch).clock_mhz / (rounds[1] - rounds[0])
        assert within(found, clocks, 1.3)
        assert both.traffic == "observed"

    def test_matrix_products(self):
        """Single precision, 4096 x 4096, on an RX 7900 XTX: seb-v/fp32_sgemm_amd, kernels 1, 2 and 5."""
        n, groups = 4096, (4096 // 16, 4096 // 32, 4096 // 128)
        a, b, c = memory(4 * n * n), memory(4 * n * n, 1), memory(4 * n * n, 2)
        times = [
            run("gfx1100", name, (8, 1), block, n, a, b, c, whole=g * g)
            for name, block, g in zip(
                ("sgemm_naive", "sgemm_tiled", "sgemm_registers"), ((16, 16), (32, 32), 256), groups, strict=True
            )
        ]
        for time, milliseconds in zip(times, (136.0, 34.2, 4.1), strict=True):
            assert within(time.us / 1000, milliseconds, 2)


class TestRanking:
    """What hardware does faster is faster here, on both architectures."""

    @pytest.mark.parametrize("arch", ARCHITECTURES)
    def test_matrix_products(self, arch):
        n = 512
        a, b, c = memory(4 * n * n), memory(4 * n * n, 1), memory(4 * n * n, 2)
        naive = run(arch, "sgemm_naive", (32, 1), (16, 16), n, a, b, c, whole=32 * 32)
        tiled = run(arch, "sgemm_tiled", (16, 1), (32, 32), n, a, b, c, whole=16 * 16)
        assert naive.us > 1.5 * tiled.us
        n = 4096
        a, b, c = memory(4 * n * n), memory(4 * n * n, 1), memory(4 * n * n, 2)
        large = [
            run(arch, name, (4, 1), block, n, a, b, c, whole=(n // tile) ** 2).us
            for name, block, tile in (
                ("sgemm_naive", (16, 16), 16), ("sgemm_tiled", (32, 32), 32), ("sgemm_registers", 256, 128)
            )
        ]  # fmt: skip
        assert large[0] > 2 * large[1] > 4 * large[2]

    @pytest.mark.parametrize("arch", ARCHITECTURES)
    def test_strides_and_gathers(self, arch):
        times = [stream(arch, "strided", 4, stride).us for stride in (1, 2, 4, 8, 16, 32)]
        for near, far in itertools.pairwise(times):
            assert 1.3 < far / near < 2.1
        line = architectures.get(arch).vector_cache.line_bytes
        gather = stream(arch, "gather", 4, BIG // 4 - 1)
        # Each lane has a line of its own: the memory moves whole lines.
        assert within(bandwidth(gather, GIB // 4 * line), bandwidth(stream(arch, "copy4", 16), 2 * GIB), 1.15)

    @pytest.mark.parametrize("arch", ARCHITECTURES)
    def test_transposes(self, arch):
        n = 1024
        x, y = memory(BIG), memory(BIG, 1)
        naive, tile, padded = (
            run(arch, name, (n // 32, 8), (32, 8), x, y, n, whole=(n // 32) ** 2)
            for name in ("transpose_naive32", "transpose_tile32", "transpose_tile33")
        )
        assert naive.us > tile.us > padded.us
        busy = [time.parts["LDS"] for time in (tile, padded)]
        assert busy[0] > 10 * busy[1]

    @pytest.mark.parametrize("arch", ARCHITECTURES)
    def test_reductions(self, arch):
        x, out, n = memory(BIG), memory(1 << 26), 1 << 24
        times = [
            run(arch, f"reduce_{name}", 64, 256, x, out, whole=n // per)
            for name, per in (("modulo", 256), ("interleaved", 256), ("sequential", 256), ("shuffle", 2048))
        ]
        us = [time.us for time in times]
        assert us == sorted(us, reverse=True)
        assert us[2] > 1.3 * us[3]
        assert times[3].limiter.endswith("bandwidth")

    @pytest.mark.parametrize("arch", ARCHITECTURES)
    def test_histograms(self, arch):
        bytes_ = np.random.default_rng(2).integers(0, 256, 1 << 16).astype(np.uint8)
        x, bins = bench().Memory(1 << 16, bytes_), memory(1 << 26)
        in_memory, in_lds = (
            run(arch, name, 256, 256, x, bins, whole=1 << 16) for name in ("histogram_global", "histogram_lds")
        )
        x.free()
        assert in_memory.limiter == "atomics"
        assert in_memory.us > 1.5 * in_lds.us

    @pytest.mark.parametrize("arch", ARCHITECTURES)
    def test_occupancy_helps_where_latency_is_the_limit(self, arch):
        x, out = memory(1 << 26), memory(1 << 26, 1)
        few, some, many = (
            run(arch, "walk", 256, 256, x, out, 8, (1 << 24) - 1, whole=1 << 14, lds=lds)
            for lds in (60 << 10, 30 << 10, 0)
        )
        assert few.limiter == "latency (occupancy)"
        assert few.us > 1.5 * some.us > 1.7 * many.us
        assert many.resident_waves == many.wave_slots > some.resident_waves > few.resident_waves


def test_a_pending_time_is_computed_once():
    calls = []
    a = architectures.get("gfx1100")
    kernel = module("gfx1100").kernels["saxpy"].descriptor

    def weights() -> timing.BlockCosts:
        calls.append(1)
        return timing.BlockCosts(a, {}, [], {})

    pending = timing.Pending(a, weights, [], 1, 64, kernel, 0)
    assert pending.time() is pending.time()
    assert len(calls) == 1
    assert pending.time().limiter == "launch overhead"
    assert pending.time().traffic == "estimated"
    assert pending.time().wave_slots == 64
    of_a_cu = dataclasses.replace(kernel, directives=kernel.directives | {"workgroup_processor_mode": 0})
    assert timing.Pending(a, weights, [], 1, 64, of_a_cu, 0).time().wave_slots == 32


def test_a_footprint_counts_each_allocation_once():
    table = [4096, 100, 0, 4096, 8192, 7, 1, 8192, 16384, 50, 0, 1024, 0, 0, 0, 0]
    arguments = struct.pack("<QQQIIQ", 4096, 4195, 8192, 3, 16384, 4196)  # 4195 is inside the first, 4196 behind it
    assert timing.footprint(table, arguments) == 107
    assert timing.footprint(table, struct.pack("<Qi", 1, 5)) == 0
    assert timing.footprint(table, struct.pack("<QQ", 4196, 8199)) == 0  # the ends alone


class TestPage:
    """docs/timing.md says what is so."""

    PAGE = Path(__file__).resolve().parents[2] / "docs" / "timing.md"

    def rows(self) -> list[list[str]]:
        lines = self.PAGE.read_text(encoding="utf-8").split("| what | device |")[1].splitlines()[2:]
        return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]

    def test_every_measured_row_is_within_two_but_for_the_errors_that_it_names(self):
        rows = self.rows()
        measured = [row for row in rows if row[3] != "–"]
        far = [row[0] for row in measured if not 0.5 <= float(row[5]) <= 2]
        assert len(measured) > 40
        assert all(name.startswith("transpose_") for name in far)
        assert "transposes of 8192² doubles below are 3 to 5 times slower" in " ".join(self.PAGE.read_text().split())
        assert all(row[7] for row in measured)

    def test_the_table_is_what_the_bench_prints(self):
        """Of the rows that take no time; the rest is checked where it is measured."""
        page = {(row[0], row[1]): row for row in self.rows()}
        for part in (bench().small, bench().arithmetic):
            for row in part():
                cells = page[row.what, row.arch]
                assert float(cells[2].replace(",", "")) == pytest.approx(row.model, rel=0.03)
                assert cells[6] == row.limiter
