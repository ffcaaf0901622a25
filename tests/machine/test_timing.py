"""The timing model against peak rates and public measurements (docs/timing.md names the sources), and its parts.

The kernels are those of bench/timing.hip, at sizes that take milliseconds: of a large grid the first workgroups.
"""

from __future__ import annotations

import functools
import importlib.util
import itertools
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpulab import architectures
from gpulab.records import ModelledTime
from gpulab.virtual_gpu import isa
from gpulab.virtual_gpu.isa.assembly import parse
from gpulab.virtual_gpu.isa.row import Matrix
from gpulab.virtual_gpu.machine import timing
from tests.machine.test_timing_parts import KERNEL
from tests.translate.kernels import ARCHITECTURES, device

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


LOOP = """
  s_mov_b32 s4, 0
again:
{body}
  s_add_i32 s4, s4, 1
  s_cmp_lg_u32 s4, {turns}
  s_cbranch_scc1 again
"""


def throughput(arch: str, line: str, each: int = 16, turns: int = 64) -> tuple[ModelledTime, int]:
    """Time of a launch that keeps every SIMD full of waves, each of which executes an instruction again and again; and
    how often all do. `line` has the registers of one of eight independent chains: {d} and, of its inputs, {a}."""
    a = architectures.get(arch)
    lines = [line.format(d=128 + k % 8 * 16, e=128 + k % 8 * 16 + 15, f=128 + k % 8 * 16 + 7, g=128 + k % 8 * 16 + 3,
                         h=128 + k % 8 * 16 + 1) for k in range(each)]  # fmt: skip
    body = LOOP.format(body="\n".join(f"  {text}" for text in lines), turns=turns)
    extra = ".amdhsa_accum_offset 256" if arch.startswith("gfx9") else ""
    text = KERNEL.format(arch=arch, lines=body, size=a.wave_size, extra=extra)
    text = text.replace("next_free_vgpr 16", "next_free_vgpr 256").replace(".vgpr_count: 16", ".vgpr_count: 256")
    kernel = device(arch).load(parse(text)).kernels["f"]
    groups = a.multiprocessors * 8
    launch = device(arch).launch(kernel, (groups, 1, 1), (4 * a.wave_size, 1, 1), 0, bytes(8), only_sample=True)
    assert launch.fault is None
    time = launch.time
    assert time is not None
    return time, groups * 4 * each * turns


class TestPeakRates:
    """Instruction streams without memory reach the device's peak rates, which AMD publishes."""

    @pytest.mark.parametrize(
        ("arch", "line", "operations", "tera"),
        [
            ("gfx942", "v_fma_f32 v{d}, v1, v2, v{d}", 2 * 64, 81.7),  # half of what packed instructions reach
            ("gfx942", "v_pk_fma_f32 v[{d}:{h}], v[2:3], v[4:5], v[{d}:{h}]", 4 * 64, 163.4),
            ("gfx942", "v_fma_f64 v[{d}:{h}], v[2:3], v[4:5], v[{d}:{h}]", 2 * 64, 81.7),
            ("gfx1100", "v_fma_f32 v{d}, v1, v2, v{d}", 2 * 32, 30.7),
            ("gfx1100", "v_dual_fmac_f32 v{d}, v1, v2 :: v_dual_fmac_f32 v{h}, v4, v3", 4 * 32, 61.4),
            ("gfx1100", "v_fma_f64 v[{d}:{h}], v[2:3], v[4:5], v[{d}:{h}]", 2 * 32, 1.92),
            ("gfx90a", "v_fma_f32 v{d}, v1, v2, v{d}", 2 * 64, 23.9),
            ("gfx90a", "v_fma_f64 v[{d}:{h}], v[2:3], v[4:5], v[{d}:{h}]", 2 * 64, 23.9),
        ],
    )
    def test_vector(self, arch, line, operations, tera):
        time, executed = throughput(arch, line)
        assert time.limiter == "VALU issue"
        assert within(executed * operations / (time.us - time.overhead_us) / 1e6, tera, 1.25)

    @pytest.mark.parametrize(
        ("arch", "line", "tera"),
        [
            ("gfx942", "v_mfma_f32_32x32x8_f16 v[{d}:{e}], v[2:3], v[4:5], v[{d}:{e}]", 1307.4),
            ("gfx942", "v_mfma_f32_16x16x16_f16 v[{d}:{g}], v[2:3], v[4:5], v[{d}:{g}]", 1307.4),
            ("gfx942", "v_mfma_f32_32x32x16_fp8_fp8 v[{d}:{e}], v[2:3], v[4:5], v[{d}:{e}]", 2614.9),
            ("gfx942", "v_mfma_f32_32x32x2_f32 v[{d}:{e}], v2, v4, v[{d}:{e}]", 163.4),
            ("gfx942", "v_mfma_f64_16x16x4_f64 v[{d}:{f}], v[2:3], v[4:5], v[{d}:{f}]", 163.4),
            ("gfx90a", "v_mfma_f32_32x32x8f16 v[{d}:{e}], v[2:3], v[4:5], v[{d}:{e}]", 191.5),
            ("gfx1100", "v_wmma_f32_16x16x16_f16 v[{d}:{f}], v[2:9], v[10:17], v[{d}:{f}]", 123.0),
        ],
    )
    def test_matrix(self, arch, line, tera):
        row = matrix(arch, line.split()[0])
        time, executed = throughput(arch, line)
        assert time.limiter == "matrix cores"
        assert within(executed * 2 * row.m * row.n * row.k / (time.us - time.overhead_us) / 1e6, tera, 1.15)

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

    @pytest.mark.parametrize("arch", ARCHITECTURES)
    def test_transcendentals_are_four_times_as_slow(self, arch):
        plain, trans = (throughput(arch, f"{name} v{{d}}, v1")[0] for name in ("v_mov_b32_e32", "v_exp_f32_e32"))
        assert 3.5 < (trans.us - trans.overhead_us) / (plain.us - plain.overhead_us) < 4.2
        assert trans.limiter == ("transcendental unit" if arch == "gfx1100" else "VALU issue")


@pytest.mark.parametrize(
    ("arch", "line", "rate"),
    [
        ("gfx906", "v_mul_lo_u32 v{d}, v1, v{d}", 3.236 / 6.396),
        ("gfx906", "v_sin_f32 v{d}, v{d}", 1.631 / 6.396),
        ("gfx908", "v_mul_lo_u32 v{d}, v1, v{d}", 3.236 / 6.396),
        ("gfx1030", "v_mul_lo_u32 v{d}, v1, v{d}\n  v_add_nc_u32 v{d}, v1, v{d}", 5090 / 25406),
    ],
)
def test_integers_beside_plain_instructions(arch, line, rate):
    """How fast it is, as a part of v_or_b32's rate on an MI50 (carlushuang/gcnasm, measure_ips_bench; MI100: the same
    SIMDs), or of an FMA's on an RX 6900 XT (clpeak, issue 101)."""
    own, plain = (throughput(arch, text)[0].parts["VALU issue"] for text in (line, "v_or_b32 v{d}, v1, v{d}"))
    assert within(plain / own, rate, 1.05)


@pytest.mark.parametrize(("arch", "gigabytes"), [("gfx90a", 31), ("gfx1030", 20)])
def test_small_launches_cost_the_overhead(arch, gigabytes):
    """gpu-benches, gpu-small-kernels: 4096 doubles are scaled, launch after launch, at so many bytes in and out."""
    time = run(arch, "scale", 32, 128, memory(BIG), memory(BIG, 1))
    assert time.limiter == "launch overhead"
    assert within(2 * 4096 * 8 / seconds(time) / 1e9, gigabytes, 1.4)


@pytest.mark.parametrize("arch", ALL)
def test_more_work_takes_longer(arch):
    times = [run(arch, "copy4", 1 << bits, 256, memory(GIB), memory(GIB, 1)).us for bits in range(0, 19, 3)]
    assert all(before <= after for before, after in itertools.pairwise(times))
    assert times[-1] > 100 * times[0]


def test_one_workgroup_more_than_the_device_holds_makes_another_round():
    """304 compute units with 60 KB of LDS taken; the loop is long."""
    y = memory(1 << 26)
    times = {g: run("gfx942", "fma32_chain", g, 1024, y, 500, 1.5, 0.5, lds=60_000).us for g in (304, 305)}
    assert 1.8 < times[305] / times[304] < 2.1


class TestOneNumber:
    """A launch takes the time that it takes, however one asks."""

    @pytest.mark.parametrize("arch", ARCHITECTURES)
    @pytest.mark.parametrize(("name", "tile", "block"), [("sgemm_naive", 16, (16, 16)), ("sgemm_tiled", 32, (32, 32))])
    def test_profiled_checked_again_or_optimised(self, arch, name, tile, block):
        n = 128
        m = bench().Machine(arch)
        a, b, c = memory(1 << 26), memory(1 << 26, 1), memory(1 << 26, 2)
        kernel, grid, raw = m.module.kernels[name], (n // tile, n // tile, 1), bench().pack([n, a, b, c])

        def launch(**how):
            done = m.device.launch(kernel, grid, (*block, 1), 0, raw, **how)
            assert done.fault is None
            return done.time

        first = launch()
        times = [first, launch(collect="profile"), launch(checked=True), launch(workers=1), launch(workers=2)]
        kernel.optimise(kernel.code())  # if that has not happened yet
        times += [launch(), launch(only_sample=True)]
        assert times == [first] * len(times)
        # The same of a kernel that nothing was launched of before.
        again = bench().Machine(arch)
        assert again.time(name, grid, block, n, a, b, c) == first

    def test_the_sample_does_not_depend_on_the_threads(self):
        """256 workgroups on two host threads: those of the sample, in the middle, run on either."""
        m, x, y = bench().machine("gfx1100"), memory(1 << 26), memory(1 << 26, 1)
        raw = bench().pack([x, y])
        first, *others = (
            m.device.launch(m.module.kernels["copy"], (256, 1, 1), (256, 1, 1), 0, raw, workers=workers).time
            for workers in (1, 2, 2, 2)
        )
        assert others == [first] * 3


def test_a_profile_of_a_part_knows_warm_caches(monkeypatch):
    """Of a matrix product of 512 x 512 the profile follows some workgroups, each of which begins with cold caches; A
    and B together are 2 MiB, so no more comes from memory."""
    from gpulab.virtual_gpu.machine import device as device_module

    n = 512
    m = bench().machine("gfx1100")
    a, b, c = (bench().Memory(4 * n * n) for _ in range(3))
    raw = bench().pack([n, a, b, c])

    def read() -> int:
        launch = m.device.launch(m.module.kernels["sgemm_tiled"], (16, 16, 1), (32, 32, 1), 0, raw, collect="profile")
        return sum(a.dram_bytes for a in launch.accesses if a.space == "global" and a.action == "load")

    monkeypatch.setattr(device_module, "PROFILED", (10_000_000, 10_000_000))
    whole = read()
    monkeypatch.setattr(device_module, "PROFILED", (300_000, 5_000))
    part = read()
    for memory_ in (a, b, c):
        memory_.free()
    assert whole == 2 * 4 * n * n
    assert within(part, whole, 1.1)


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


KEPT: dict[tuple[int, int], Any] = {}


def memory(size: int, number: int = 0):  # type: ignore[no-untyped-def]
    """Device memory of so many bytes, kept for all tests but those of the page, which take much themselves."""
    if (size, number) not in KEPT:
        KEPT[size, number] = bench().Memory(size)
    return KEPT[size, number]


def bandwidth(time: ModelledTime, moved: float) -> float:
    return moved / seconds(time) / 1e9


BIG = 1 << 28  # bytes of the arrays that streams go through the beginning of


def stream(
    arch: str, name: str, per_thread: int, *more: object, block: int = 256, lds: int = 0, size: int = GIB
) -> ModelledTime:
    """The time of a kernel with one element of `per_thread` bytes for each thread of `size` bytes of them."""
    return run(arch, name, size // (per_thread * block), block, memory(GIB), memory(GIB, 1), *more, lds=lds)


class TestMeasuredKernels:
    @pytest.mark.parametrize(
        ("arch", "gigabytes"), [("gfx942", 4350), ("gfx90a", 1360), ("gfx1030", 456), ("gfx1100", 816)]
    )
    def test_copies(self, arch, gigabytes):
        """Sources: BabelStream on an MI300X; gpu-benches on an MI210 and an RX 6900 XT; 0.85 of 960 GB/s."""
        for name, per_thread in (("copy4", 16), ("copy", 4), ("scale", 8)):
            if (arch, name) == ("gfx90a", "copy"):  # waits for the dispatcher
                continue
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

    def test_each_wave_takes_the_dispatcher_time(self):
        """ROCm blogs, "Seismic stencil codes": on an MI250X four kernels of 512³ threads by 256 take 1.085 to 1.111 ms,
        whatever they load; a float is copied no faster. gpu-benches, gpu-stream on an MI210: by 1024 threads 1,526 GB/s
        of doubles are written."""
        time = stream("gfx90a", "copy", 4, size=4 * 512**3)
        assert time.limiter == "workgroup dispatch"
        assert within(time.us - time.overhead_us, 1100, 1.05)
        each = stream("gfx90a", "scale", 8, block=1024).parts["workgroup dispatch"] / (GIB // 8192)
        assert each < 1.05 * 1.7 * 8192 / 1526

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
            time = run(arch, name, groups, 256, y, steps, *factors)
            assert time.limiter == "VALU issue"
            assert within(groups * 256 * steps * 8 * 2 / seconds(time) / 1e12, tera, 1.25)

    @pytest.mark.parametrize("arch", ARCHITECTURES)
    def test_lds_by_stride(self, arch):
        """As pyhip measured on an MI308X, and as 32 banks say: twice the stride takes twice the time, 33 none more."""
        a, y = architectures.get(arch), memory(1 << 26)
        groups, steps = a.multiprocessors * 16, 64
        times = {s: run(arch, "lds_read", groups, 256, y, steps, s) for s in (1, 2, 8, 32, 33)}
        assert {time.limiter for time in times.values()} == {"LDS"}
        us = {s: time.us - time.overhead_us for s, time in times.items()}
        assert us[33] == us[1]
        assert 1.5 < us[2] / us[1] < 2.1
        assert 3.5 < us[8] / us[2] < 4.1
        assert 3.8 < us[32] / us[8] < 4.1
        # 128 bytes a clock and compute unit: 81.7 TB/s; of a WGP, whose halves serve all its waves by turns: 15.4
        moved = groups * 256 * steps * 8 * 4
        assert within(moved / us[1] / 1e6, a.multiprocessors * 128 * a.clock_mhz * 1e-6, 1.3)

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
        assert both.traffic == ("sampled" if level == "LLC" else "observed")  # 131,072 loads are more than are recorded

    def test_matrix_products(self):
        """Single precision, 4096 x 4096, on an RX 7900 XTX: seb-v/fp32_sgemm_amd, kernels 1 to 8, here by kernels of
        the same techniques. Each within 1.5, and who is more than 15 % faster in reality is faster here."""
        rows = [row for row in bench().matrices(("gfx1100",)) if row.measured and "4096" in row.what]
        assert len(rows) == 8
        for row in rows:
            assert within(row.model, row.measured, 1.5), row.what
        for one, other in itertools.combinations(rows, 2):
            if one.measured > 1.15 * other.measured:
                assert one.model > other.model, (one.what, other.what)


class TestRanking:
    """What hardware does faster is faster here, on both architectures."""

    @pytest.mark.parametrize("arch", ARCHITECTURES)
    def test_matrix_products(self, arch):
        n = 512
        a, b, c = memory(4 * n * n), memory(4 * n * n, 1), memory(4 * n * n, 2)
        naive = run(arch, "sgemm_naive", (32, 32), (16, 16), n, a, b, c)
        tiled = run(arch, "sgemm_tiled", (16, 16), (32, 32), n, a, b, c)
        assert naive.us > 1.5 * tiled.us
        n = 4096
        a, b, c = memory(4 * n * n), memory(4 * n * n, 1), memory(4 * n * n, 2)
        tiled = run(arch, "sgemm_tiled", (128, 128), (32, 32), n, a, b, c)
        registers = run(arch, "sgemm_registers", (32, 32), 256, n, a, b, c)
        assert tiled.us > 2 * registers.us

    @pytest.mark.parametrize("arch", ARCHITECTURES)
    def test_strides_and_gathers(self, arch):
        times = [stream(arch, "strided", 4, stride, size=GIB // 32).us for stride in (1, 2, 4, 8, 16, 32)]
        for near, far in itertools.pairwise(times):
            assert 1 <= far / near < 2.1
        assert times[-1] > 7 * times[0]
        line = architectures.get(arch).vector_cache.line_bytes
        gather = stream(arch, "gather", 4, GIB // 4 - 1)
        # Each lane has a line of its own: the memory moves whole lines.
        assert within(bandwidth(gather, GIB // 4 * line), bandwidth(stream(arch, "copy4", 16), 2 * GIB), 1.15)

    @pytest.mark.parametrize("arch", ARCHITECTURES)
    def test_transposes(self, arch):
        n = 1024
        x, y = memory(BIG), memory(BIG, 1)
        naive, tile, padded = (
            run(arch, name, (n // 32, n // 32), (32, 8), x, y, n)
            for name in ("transpose_naive32", "transpose_tile32", "transpose_tile33")
        )
        assert naive.us > tile.us >= padded.us
        busy = [time.parts["LDS"] for time in (tile, padded)]
        assert busy[0] > 10 * busy[1]

    @pytest.mark.parametrize("arch", ARCHITECTURES)
    def test_reductions(self, arch):
        x, out, n = memory(BIG), memory(1 << 26), 1 << 24
        times = [
            run(arch, f"reduce_{name}", n // per, 256, x, out)
            for name, per in (("modulo", 256), ("interleaved", 256), ("sequential", 256), ("shuffle", 2048))
        ]
        us = [time.us for time in times]
        assert min(us[0], us[1]) > us[2]  # idle lanes in all waves, and bank conflicts in some, cost about the same
        assert us[2] > 1.3 * us[3]
        assert times[3].limiter.endswith("bandwidth")

    @pytest.mark.parametrize("arch", ARCHITECTURES)
    def test_histograms(self, arch):
        bytes_ = np.random.default_rng(2).integers(0, 256, 1 << 24).astype(np.uint8)
        x, bins = bench().Memory(1 << 24, bytes_), memory(1 << 26)
        in_memory, in_lds = (run(arch, name, 1 << 16, 256, x, bins) for name in ("histogram_global", "histogram_lds"))
        x.free()
        assert in_memory.limiter == "atomics"
        assert in_memory.us > 1.5 * in_lds.us

    @pytest.mark.parametrize("arch", ARCHITECTURES)
    def test_occupancy_helps_where_latency_is_the_limit(self, arch):
        x, out = memory(1 << 26), memory(1 << 26, 1)
        few, some, many = (
            run(arch, "walk", 1 << 14, 256, x, out, 8, (1 << 24) - 1, lds=lds) for lds in (60 << 10, 30 << 10, 0)
        )
        assert few.limiter == "latency (occupancy)"
        assert few.us > 1.5 * some.us
        assert some.us > 0.99 * many.us
        assert many.resident_waves == many.wave_slots > some.resident_waves > few.resident_waves


def test_a_footprint_counts_each_allocation_once():
    table = [4096, 100, 0, 4096, 8192, 7, 1, 8192, 16384, 50, 0, 1024, 0, 0, 0, 0]
    arguments = struct.pack("<QQQIIQ", 4096, 4195, 8192, 3, 16384, 4196)  # 4195 is inside the first, 4196 behind it
    assert timing.footprint(table, arguments) == 107
    assert timing.footprint(table, struct.pack("<Qi", 1, 5)) == 0
    assert timing.footprint(table, struct.pack("<QQ", 4196, 8199)) == 0  # the ends alone


@pytest.mark.full
@pytest.mark.parametrize(("rows", "by_sum", "by_address"), [(2, 795, 1035), (4, 763, 1084), (8, 745, 1104)])
def test_loads_in_the_order_of_the_sum_and_of_addresses(rows, by_sum, by_address):
    """amd/amd-lab-notes, finite-difference, part 2, on an MI250X: with all loads before one wait each plane is read
    nearly twice (FETCH_SIZE 1.82 to 1.88 GB of 1.07), one after the other 1.08 to 1.17 GB; so many GB/s."""
    n, machine = 512, bench().measured("gfx90a")
    f, u = memory(8 * n**3), memory(8 * n**3, 1)
    slow, quick = (
        machine.time(f"laplace_{order}{rows}", (2, n // rows, n), 256, f, u, n, n, n) for order in ("sum_", "")
    )
    moved = 8 * (n**3 - 4 * (3 * n - 4) + (n - 2) ** 3)
    assert within(moved / slow.us / 1e3, by_sum, 1.25)
    assert within(moved / quick.us / 1e3, by_address, 1.25)
    assert slow.us > 1.1 * quick.us


class TestPage:
    """docs/timing.md says what is so."""

    PAGE = Path(__file__).resolve().parents[2] / "docs" / "timing.md"

    def rows(self, table: int = 1) -> list[list[str]]:
        lines = self.PAGE.read_text(encoding="utf-8").split("| what | device |")[table].splitlines()[2:]
        return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]

    def test_every_measured_row_is_within_a_half_but_for_the_errors_that_it_names(self):
        measured = [row for row in self.rows() if row[3] != "–"]
        assert len(measured) > 60
        far = {row[0] for row in measured if not 1 / 1.5 <= float(row[5]) <= 1.5}
        known = ("transpose_", "L1 reads, ", "one atomic, ", "wide_y_2", "33 blocks")
        assert all(name.startswith(known) for name in far), far
        page = self.PAGE.read_text(encoding="utf-8")
        assert "transposes of 8192² doubles below are 3 to 5 times slower" in " ".join(page.split())
        for row in measured:
            assert row[7]
            off = not 1 / 1.2 <= float(row[5]) <= 1.2
            assert not off or row[8], row[0]
            assert all(f"**{word}**" in page for word in row[8].split(", ") if word)

    def test_what_differs_is_ranked_as_measured(self):
        """Of the rows of one source and device in one unit, where 15 % lie between two of them: what the page names
        apart, and kernels that mix reads and writes among themselves."""
        apart = (
            "transpose_", "L1 reads, ", "laplace_point_streamed", "laplace_deep_8", "laplace_bounds_16",
            "laplace_streamed_8, 256", "wide_y_2", "16 blocks",
        )  # fmt: skip
        page = " ".join(self.PAGE.read_text(encoding="utf-8").split())
        assert all(name.rstrip(", ") in page for name in apart)
        rows = [row for row in self.rows() if row[3] != "–" and not row[0].startswith(apart)]
        compared = 0
        for one, other in itertools.combinations(rows, 2):
            if one[1] != other[1] or one[4] != other[4] or ("mixed traffic" in one[8]) != ("mixed traffic" in other[8]):
                continue
            if one[7].split(", ")[:2] != other[7].split(", ")[:2]:
                continue
            compared += 1
            (a, b), (c, d) = ((float(cell.replace(",", "")) for cell in row[2:4]) for row in (one, other))
            if b > 1.15 * d:
                assert a > c, (one[0], other[0])
            elif d > 1.15 * b:
                assert c > a, (one[0], other[0])
        assert compared > 200

    def test_what_was_held_out(self):
        """How many of the second table's rows and pairs are right, at first and now, is what the page says."""
        held = self.rows(2)
        values = [(row, *(float(cell.replace(",", "")) for cell in row[2:5])) for row in held]
        page = " ".join(self.PAGE.read_text(encoding="utf-8").split())
        assert f"of {len(held)} within" in page
        for column, text in ((1, "{} of 93 within a factor"), (0, "{} are within 1.5 since")):
            near = sum(1 / 1.5 <= value[1 + column] / value[3] <= 1.5 for value in values)
            assert text.format(near) in page
            pairs = [
                (a[1 + column] > b[1 + column]) == (a[3] > b[3])
                for a, b in itertools.combinations(values, 2)
                if a[0][1] == b[0][1] and (a[0][5], a[0][8]) == (b[0][5], b[0][8])
                and max(a[3], b[3]) > 1.15 * min(a[3], b[3])
            ]  # fmt: skip
            assert f"{sum(pairs)} of {len(pairs)} pairs" in page if column else f"{sum(pairs)} pairs in order" in page
        for row, model, _, measured in values:
            assert row[9] or 1 / 1.2 <= model / measured <= 1.2, row[0]
            assert all(f"**{word}**" in page for word in row[9].split(", ") if word)
        stored = {(row.what, row.arch): row for row in bench().held_out.rows()}
        assert len(stored) == len(held)
        for row in held:
            own = stored[row[0], row[1]]
            assert row[3:5] == [bench().number(own.first), bench().number(own.measured)]

    def test_the_table_is_what_the_bench_writes(self):
        """To the digit. Of the rows that take no time; `make bench-timing` writes all."""
        page = self.PAGE.read_text(encoding="utf-8").splitlines()
        while KEPT:
            KEPT.popitem()[1].free()
        for part in (bench().small, bench().arithmetic):
            for row in part():
                assert row.text() in page
