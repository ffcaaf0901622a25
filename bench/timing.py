#!/usr/bin/env python3
"""The timing model beside public measurements: each `Comparison` is a kernel, what the model says and
what was measured.

`Machine` runs, of a grid as large as the one that was measured, the workgroups of the sample that the time of every
launch is modelled from. As a program it writes the table into docs/timing.md (`--print`: shows it); it is the same on
every machine. The tests use smaller sizes of the same kernels (tests/machine/test_timing.py).
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import struct
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np

from gpulab import architectures, toolchain
from gpulab.records import Launch, ModelledTime
from gpulab.virtual_gpu.isa.assembly import parse
from gpulab.virtual_gpu.machine.arena import Arena
from gpulab.virtual_gpu.machine.device import VirtualDevice
from gpulab.virtual_gpu.machine.loading import LoadedModule


def _beside(name: str) -> ModuleType:
    """A module of this folder, which may be loaded from anywhere."""
    spec = importlib.util.spec_from_file_location(f"bench_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules[found.__name__] = found  # dataclasses look there
    spec.loader.exec_module(found)
    return found


sgemm, held_out = _beside("sgemm"), _beside("held_out")
SOURCE = Path(__file__).with_suffix(".hip")
MEASURED = SOURCE.with_name("measured.hip")

Size = int | tuple[int, ...]


@functools.cache
def arena() -> Arena:
    return Arena()


class Memory:
    """Device memory of `size` bytes, zero unless filled."""

    def __init__(self, size: int, values: np.ndarray | None = None) -> None:
        self.size, self.address = size, arena().allocate(size, "device", 0)
        if values is not None:
            arena().view(self.address, values.nbytes)[:] = np.ascontiguousarray(values).tobytes()

    def array(self, dtype: type) -> np.ndarray:
        """The memory itself, as an array."""
        return np.frombuffer(arena().view(self.address, self.size), dtype)

    def free(self) -> None:
        arena().free(self.address)


def chain(kibibytes: int, line: int, steps: int) -> tuple[Memory, int]:
    """(memory of so many KiB with a chain of indices through lines of `line` words in random order, its length)."""
    n = kibibytes * 256
    order = np.random.default_rng(1).permutation(n // line)[: max(steps, 4096)] * line
    order = np.concatenate([[0], order[order != 0]])
    memory = Memory(4 * n)
    memory.array(np.uint32)[order] = np.roll(order, -1)
    return memory, len(order)


def pack(arguments: Sequence[object]) -> bytes:
    """Kernel arguments as the ABI lays them out: int -> i32, float -> f32, np.float64 -> f64, Memory -> pointer."""
    raw = b""
    for argument in arguments:
        wide = isinstance(argument, (Memory, np.float64))
        raw = raw.ljust(-(-len(raw) // (8 if wide else 4)) * (8 if wide else 4), b"\0")
        if isinstance(argument, Memory):
            raw += struct.pack("<Q", argument.address)
        elif isinstance(argument, np.float64):
            raw += struct.pack("<d", argument)
        else:
            raw += struct.pack("<f", argument) if isinstance(argument, float) else struct.pack("<I", argument)
    return raw


def extent(size: Size) -> tuple[int, int, int]:
    return (size, 1, 1) if isinstance(size, int) else (*size, 1, 1)[:3]  # type: ignore[return-value]


class Machine:
    """One virtual device with the kernels of timing.hip, or of another source."""

    def __init__(self, arch: str, options: Sequence[str] = (), source: Path = SOURCE) -> None:
        self.architecture = architectures.get(arch)
        self.device = VirtualDevice(self.architecture, arena(), 0)
        text = source.read_text()
        code = toolchain.compile(text, arch=arch, name=source.name, options=list(options))
        self.module: LoadedModule = self.device.load(
            parse(code.assembly, {code.name: text}, guarantees=code.guarantees)
        )
        self.launch: Launch | None = None

    def time(self, name: str, grid: Size, block: Size, *arguments: object, lds: int = 0) -> ModelledTime:
        """The modelled time of a kernel. Of its grid no workgroups are run but those of the sample that the time of any
        launch is modelled from; so of kernels whose workgroups all execute the same it is the number of a launch."""
        self.launch = launch = self.device.launch(
            self.module.kernels[name], extent(grid), extent(block), lds, pack(arguments), only_sample=True
        )
        if launch.fault is not None:
            raise RuntimeError(f"{name}: {launch.fault}")
        time = launch.time
        assert time is not None
        return time

    def add(self, name: str, assembly: str) -> None:
        """A kernel in assembly beside those of timing.hip."""
        self.module.kernels = {**self.module.kernels, **self.device.load(parse(assembly)).kernels}


@functools.cache
def machine(arch: str, *options: str) -> Machine:
    return Machine(arch, options)


@functools.cache
def measured(arch: str) -> Machine:
    return Machine(arch, source=MEASURED)


@functools.cache
def further(arch: str) -> Machine:
    return Machine(arch, source=held_out.SOURCE)


# ------------------------------------------------------------------------------------------------- the table

GIB = 1 << 30

BABEL = "BabelStream copy, MI300X VF, ROCm 7.2"
BENCHES = "te42kyfo/gpu-benches"
MT4G = "caps-tum/mt4g sample results"
CHIPS = "Chips and Cheese"
RPC = "rocprofiler-compute: 128 bytes a clock and CU"
PYHIP = "tingqli/pyhip, mem_latency.md, MI308X"
SEB = "seb-v/fp32_sgemm_amd"
TRANSPOSE = "amd/HPCTrainingExamples, HIP/transpose, MI210"
FLOOR = "ROCm/legacy-rocm-build, issue 6409, 512 launches, ROCm 7.14"
LAPLACE = "amd/amd-lab-notes, finite-difference"
SEISMIC = "ROCm blogs, Seismic stencil codes"
JACOBI = "ROCm blogs, Jacobi solver, MI250"
NONE = "no public measurement found"


COPIES = {"gfx942": BABEL, "gfx90a": f"{BENCHES}, scale, MI210", "gfx1030": f"{BENCHES}, scale, RX 6900 XT"}
# GB/s by threads of a workgroup (64, 128, 256, 512, 1024) whose LDS lets two stay on 64 KiB
OCCUPANCY: dict[str, tuple[tuple[str, int, str, tuple[int, ...]], ...]] = {
    "gfx90a": (
        ("read_only", 1, "MI210", (182, 334, 608, 1055, 1345)),
        ("scale", 2, "MI210", (253, 453, 840, 1216, 1358)),
    ),
    "gfx1030": (
        ("read_only", 1, "RX 6900 XT", (202, 398, 505, 503, 502)),
        ("scale", 2, "RX 6900 XT", (317, 461, 458, 456, 456)),
    ),
}
# clocks for 32 lanes of one workgroup, by the distance of their floats
L1_STRIDES = {
    "gfx90a": {1: 2.18, 2: 16.1, 3: 8.1, 4: 32.2, 5: 14.1, 8: 32.2, 16: 32.2},
    "gfx1030": {1: 1.0, 2: 1.99, 4: 3.98, 8: 8.0, 16: 15.9, 32: 31.9},
}


@dataclass(frozen=True)
class Comparison:
    """One row of the table: what was run where, the model's value and the measured one in `unit`."""

    what: str
    arch: str
    model: float
    measured: float | None
    unit: str
    limiter: str
    source: str
    lacks: str = ""  # what of "What it does not know" (docs/timing.md) could change it by more than 20 %

    def text(self, *first: str) -> str:
        """The row; `first`: what stands before the measured value."""
        measured = "–" if self.measured is None else number(self.measured)
        ratio = "–" if self.measured is None else f"{self.model / self.measured:.2f}"
        cells = (
            self.what,
            self.arch,
            number(self.model),
            *first,
            measured,
            self.unit,
            ratio,
            self.limiter,
            self.source,
            self.lacks,
        )
        return "| " + " | ".join(cells) + " |"


def lacking(time: ModelledTime, known: str = "") -> str:
    """What is not in a time and matters for it: what is `known`, and what the launch itself shows."""
    return ", ".join(dict.fromkeys(filter(None, (known, *(lack.split(":")[0] for lack in time.lacks)))))


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def streams() -> Iterator[Comparison]:
    """Copies, strides, a gather and streams by occupancy, over 1 GiB of which the beginning is run."""
    for arch, copied in (("gfx942", 4350), ("gfx90a", 1360), ("gfx1030", 456), ("gfx1100", None)):
        m = machine(arch)
        x, y = Memory(GIB), Memory(GIB)
        source = COPIES.get(arch, NONE)

        def rate(
            name: str, per_thread: int, *more: object, moved: float = 2.0, block: int = 256, lds: int = 0,
            size: int = GIB, m: Machine = m, x: Memory = x, y: Memory = y,
        ) -> tuple[float, str]:  # fmt: skip
            time = m.time(name, size // (per_thread * block), block, x, y, *more, lds=lds)
            return moved * size / time.us / 1e3, time.limiter

        for name, size in (("copy4", 16), ("scale", 8), ("copy", 4)):
            found, limiter = rate(name, size)
            gigabytes = copied if size == 8 else None  # doubles are measured
            yield Comparison(
                f"copy, {size} bytes a thread", arch, found, gigabytes, "GB/s", limiter, source if gigabytes else NONE
            )  # fmt: skip
        for stride in (2, 8, 32):
            found, limiter = rate("strided", 4, stride, size=GIB // stride)
            title = f"strided read, {stride} floats (useful bytes)"
            yield Comparison(title, arch, found, None, "GB/s", limiter, NONE, "channels, L1 banks")
        found, limiter = rate("gather", 4, GIB // 4 - 1)
        yield Comparison("random gather of floats (useful bytes)", arch, found, None, "GB/s", limiter, NONE, "pages")
        for name, moved, board, measured in OCCUPANCY.get(arch, ()):
            for threads, gigabytes in zip((64, 128, 256, 512, 1024), measured, strict=True):
                found, limiter = rate(name, 8, moved=moved, block=threads, lds=32 << 10)
                title = f"{'read' if name == 'read_only' else 'scale'}, 32 KiB of LDS for {threads} threads"
                lacks = "mixed traffic" if name == "scale" else ""
                yield Comparison(
                    title, arch, found, gigabytes, "GB/s", limiter, f"{BENCHES}, gpu-stream, {board}", lacks
                )
        for stride, clocks in L1_STRIDES.get(arch, {}).items():
            time = m.time("l1_strided", 1, 1024, x, y, stride, 512, 0)
            found = (time.us - time.overhead_us) * m.architecture.clock_mhz / (32 * 512 * 8)
            title = f"L1 reads, {stride} floats apart, 32 lanes"
            source = f"{BENCHES}, gpu-strides, {'MI210' if arch == 'gfx90a' else 'RDNA 2'}"
            lacks = "L1 banks" if stride > 1 else ""
            yield Comparison(title, arch, found, clocks, "clocks", time.limiter, source, lacks)
        x.free()
        y.free()


def chases() -> Iterator[Comparison]:
    """Latency of one load by level; what the first round through the lines costs is taken off."""
    levels = {"L1": (8, 1024), "L2": (256, 4096), "Infinity Cache": (8192, 65536), "memory": (1 << 18, 4096)}
    measured = {
        ("gfx942", "L1"): (116, MT4G), ("gfx942", "L2"): (287, MT4G),
        ("gfx942", "Infinity Cache"): (458, f"{CHIPS}, 218 ns"), ("gfx942", "memory"): (888, MT4G),
        ("gfx90a", "L1"): (124, f"{MT4G}, MI210"), ("gfx90a", "L2"): (302, f"{MT4G}, MI210"),
        ("gfx90a", "memory"): (712, f"{MT4G}, MI210"),
        ("gfx1100", "Infinity Cache"): (375, f"{CHIPS}, 150 ns"), ("gfx1100", "memory"): (588, f"{CHIPS}, 235 ns"),
    }  # fmt: skip
    for (arch, level), (clocks, source) in measured.items():
        m, out = machine(arch), Memory(4096)
        size, steps = levels[level]
        links, length = chain(size, m.architecture.vector_cache.line_bytes // 4, steps)
        steps = max(steps, length)
        rounds = (0, steps) if level == "memory" else (steps, 2 * steps)
        first, both = (m.time("chase", 1, 1, links, out, r) for r in rounds)
        found = (both.us - first.us) * m.architecture.clock_mhz / (rounds[1] - rounds[0])
        yield Comparison(f"pointer chase, {level}", arch, found, clocks, "clocks", both.limiter, source)
        links.free()
        out.free()


def arithmetic() -> Iterator[Comparison]:
    """FMA chains and LDS reads on a full device."""
    y = Memory(1 << 26)
    peaks = {
        ("gfx942", "fma32"): 163.4, ("gfx942", "fma64"): 81.7, ("gfx942", "exponentials"): None,
        ("gfx1100", "fma32"): 30.7, ("gfx1100", "fma64"): 1.92, ("gfx1100", "exponentials"): None,
    }  # fmt: skip
    for (arch, name), peak in peaks.items():
        m = machine(arch)
        groups, steps = m.architecture.multiprocessors * 16, 512
        factors = {"fma64": (np.float64(1.5), np.float64(0.5)), "fma32": (1.5, 0.5)}.get(name, ())
        time = m.time(name, groups, 256, y, steps, *factors)
        done = groups * 256 * steps * 8 * (2 if factors else 1)
        source = "peak rate by AMD" if peak else NONE
        yield Comparison(f"{name}, eight chains", arch, done / time.us / 1e6, peak, "TFLOP/s", time.limiter, source)
    for arch in architectures.defaults():
        m = machine(arch)
        groups, steps = m.architecture.multiprocessors * 16, 256
        for stride, measured in ((1, 2), (8, 16), (32, 64)):
            time = m.time("lds_read", groups, 256, y, steps, stride)
            reads = groups * 256 // m.architecture.wave_size * steps * 8 / m.architecture.compute_units
            clocks = (time.us - time.overhead_us) * m.architecture.clock_mhz / reads
            source = RPC if stride == 1 else PYHIP
            yield Comparison(
                f"LDS reads of 32 bits, stride {stride}", arch, clocks, measured if arch == "gfx942" else None,
                "clocks", time.limiter, source if arch == "gfx942" else NONE,
            )  # fmt: skip
    y.free()


# For each of the eight kernels of seb-v/fp32_sgemm_amd one of ours that uses the same technique: its workgroup, the
# side of its tile, whether it is made for workgroups on one CU of a WGP, and what was measured in ms. The last three
# are those of sgemm.py.
LADDER: tuple[tuple[str, Size, int, bool, float], ...] = (
    ("sgemm_naive", (16, 16), 16, False, 136.0), ("sgemm_tiled", (32, 32), 32, False, 34.2),
    ("sgemm_waves", 256, 128, False, 6.03), ("sgemm_ahead", 256, 128, False, 5.38),
    ("sgemm_wide", 128, 128, True, 4.10), ("dual_loop", 128, 128, True, 3.64),
    ("dual_unrolled", 128, 128, True, 3.33), ("dual_batched", 128, 128, True, 2.80),
)  # fmt: skip


def matrices(products: Sequence[str] = ("gfx1100", "gfx942")) -> Iterator[Comparison]:
    """Matrix products of 4096 x 4096 and transposes of 8192 x 8192."""
    n = 4096
    for arch in products:
        a, b, c = (Memory(4 * n * n) for _ in range(3))
        for kernel, (name, block, tile, on_a_cu, milliseconds) in enumerate(LADDER, 1):
            if arch != "gfx1100" and name.startswith("dual"):
                continue
            m = machine(arch, "-mcumode") if on_a_cu and arch == "gfx1100" else machine(arch)
            if name.startswith("dual") and name not in m.module.kernels:
                m.add(name, sgemm.text(name, name != "dual_loop", name == "dual_batched"))
            time = m.time(name, (n // tile, n // tile), block, n, a, b, c)
            measured = milliseconds if arch == "gfx1100" else None
            source = f"{SEB}, kernel {kernel}, RX 7900 XTX" if measured else NONE
            lacks = "pages" if name == "sgemm_naive" else "clocks" if time.limiter == "VALU issue" else ""
            yield Comparison(
                f"{name}, 4096³", arch, time.us / 1e3, measured, "ms", time.limiter, source, lacking(time, lacks)
            )  # fmt: skip
        for memory in (a, b, c):
            memory.free()
    n, m = 8192, machine("gfx90a")
    x, y = Memory(8 * n * n), Memory(8 * n * n)
    for name, milliseconds in (("transpose_read", 4.44), ("transpose_write", 2.90), ("transpose_padded", 2.69)):
        time = m.time(name, (n // 16, n // 16), (16, 16), x, y, n)
        title = f"{name}, 8192² doubles"
        yield Comparison(title, "gfx90a", time.us / 1e3, milliseconds, "ms", time.limiter, TRANSPOSE, lacking(time))
    x.free()
    y.free()


def small() -> Iterator[Comparison]:
    """Small workgroups and small launches."""
    m, x, y = machine("gfx90a"), Memory(GIB), Memory(GIB)
    source = f"{BENCHES}, gpu-small-kernels, MI210"
    for threads, gigabytes in ((16, 212), (32, 424), (64, 842)):
        time = m.time("scale", GIB // (8 * threads), threads, x, y)
        title = f"scale, workgroups of {threads} threads"
        yield Comparison(title, "gfx90a", 2 * GIB / time.us / 1e3, gigabytes, "GB/s", time.limiter, source)
    time = m.time("scale", 32, 128, x, y)
    yield Comparison(
        "scale of 4096 doubles, launch after launch", "gfx90a", time.us, 2.1, "µs", time.limiter, source, "overhead"
    )
    x.free()
    y.free()
    cell = Memory(4)
    for arch, plain, in_a_graph in (("gfx1100", 3.129, 2.815), ("gfx1201", 2.567, 2.147), ("gfx1151", 1.837, 1.752)):
        time = machine(arch).time("one_atomic", 1, 1, cell)
        saved = architectures.get(arch).graph_saving_us
        for title, us, measured in (
            ("launch after launch", time.us, plain),
            ("in a graph", time.us - saved, in_a_graph),
        ):
            yield Comparison(f"one atomic, {title}", arch, us, measured, "µs", time.limiter, FLOOR, "overhead")
    cell.free()


# Parts 2 and 3 of "Finite difference method - Laplacian", 512 x 512 x 512 on one die of an MI250X: kernel, points of a
# thread in y, GB/s of what has to be moved. Kernels that spill registers there are not among them.
LAPLACIANS = (
    ("laplace_point", 1, 808), ("laplace_point_streamed", 1, 961), ("laplace_sum_2", 2, 795), ("laplace_sum_4", 4, 763),
    ("laplace_sum_8", 8, 745), ("laplace_1", 1, 965), ("laplace_2", 2, 1035), ("laplace_4", 4, 1084),
    ("laplace_8", 8, 1104), ("laplace_bounds_8", 8, 1119), ("laplace_bounds_16", 16, 1085),
    ("laplace_streamed_8", 8, 1164),
)  # fmt: skip
# Part 4: 1024 in x and y, and other devices. Figure 1 has bars, whose heights were taken from the picture's text.
LARGE = (
    ("laplace_streamed_8", "gfx90a", (256, 1, 1), 555), ("laplace_deep_8", "gfx90a", (128, 1, 8), 934),
    ("laplace_turned_8", "gfx90a", (256, 1, 1), 1070), ("laplace_part_8", "gfx90a", (256, 1, 1), 1176),
    ("laplace_streamed_8", "gfx1100", (256, 1, 1), 751), ("laplace_streamed_16", "gfx1030", (256, 1, 1), 416),
)  # fmt: skip
SMALL = (
    ("laplace_streamed_8", "gfx90a", 256, 1014), ("laplace_streamed_8", "gfx1100", 256, 729),
    ("laplace_streamed_8", "gfx1100", 512, 841), ("laplace_streamed_16", "gfx1030", 256, 407),
    ("laplace_streamed_16", "gfx1030", 512, 419),
)  # fmt: skip
# Parts 2 and 3: kernel, floats of a thread, workgroup, GB/s (of memory as it comes, where it was measured; aligned).
DIFFERENCES = (
    ("along_x", 1, (256, 1), 956, 990), ("along_y", 1, (256, 1), 940, 966), ("along_z", 1, (256, 1), 217, 297),
    ("wide_x_2", 2, (64, 4), None, 1216), ("wide_x_4", 4, (64, 4), None, 1240), ("wide_y_1", 1, (64, 4), None, 967),
    ("wide_y_2", 2, (64, 4), None, 831), ("wide_y_4", 4, (64, 4), None, 1163), ("lds_y_4", 4, (64, 4), None, 1272),
    ("window_z", 1, (256, 1), None, 1200),
)  # fmt: skip
# GB/s by KiB of the block that each unit reads.
CACHES = {
    "gfx90a": {4: 10566, 16: 10616, 24: 8834, 32: 6144, 64: 5252, 128: 5144, 2304: 5026},
    "gfx1030": {4: 11961, 16: 13146, 32: 13372, 64: 8737, 128: 8278, 192: 4260, 1048: 5449, 3152: 5029},
}
# GB/s by number of blocks of 512 KiB.
BLOCKS = {
    "gfx90a": {3: 4815, 8: 5064, 12: 4703, 16: 4339, 33: 3797, 66: 1699, 215: 1368},
    "gfx1030": {3: 4658, 8: 4604, 12: 4174, 16: 2583, 33: 1999, 215: 1902, 284: 923, 500: 501},
}
BOARDS = {"gfx90a": "MI210", "gfx1030": "RX 6900 XT"}
# What is not in the model and matters for some of these (docs/timing.md).
REPLACED = ("laplace_sum_4", "laplace_deep_8", "laplace_bounds_16")
L1_LIMITED = ("wide_y_2",)


def stencils() -> Iterator[Comparison]:
    """Laplace's operator, differences of eighth order, and a step of Jacobi's method."""

    def laplace(
        name: str, arch: str, shape: tuple[int, int, int], block: tuple[int, int, int], gigabytes: float, source: str
    ) -> Comparison:
        m, (nx, ny, nz) = measured(arch), shape
        rows = int(name.rsplit("_", 1)[-1]) if name[-1].isdigit() else 1
        parts = 4 if name == "laplace_part_8" else 1
        f, u = Memory(8 * nx * ny * nz), Memory(8 * nx * ny * nz)
        x, y, z = (-(-size // of) for size, of in zip(shape, (block[0], rows * parts, block[2]), strict=True))
        time = m.time(
            name, (y, z, x) if name == "laplace_turned_8" else (x, y, z), block, f, u, *shape, *[0] * (parts > 1)
        )
        inside = (nx - 2) * (ny - 2) * (nz - 2)
        moved = 8 * (nx * ny * nz - 4 * (nx + ny + nz - 4) + inside)
        f.free()
        u.free()
        title = f"{name}, {nx} x {ny} x {nz}"
        rate = moved / (parts * time.us) / 1e3
        known = "replacement" if name in REPLACED or (nx == 1024 and arch == "gfx90a" and "streamed" in name) else ""
        return Comparison(title, arch, rate, gigabytes, "GB/s", time.limiter, source, lacking(time, known))

    for name, _, gigabytes in LAPLACIANS:
        yield laplace(name, "gfx90a", (512, 512, 512), (256, 1, 1), gigabytes, f"{LAPLACE}, MI250X")
    for name, arch, block, gigabytes in LARGE:
        # Measured with 1024 in z, or 768, which makes no difference there; here in memory that all computers have.
        yield laplace(name, arch, (1024, 1024, 128), block, gigabytes, f"{LAPLACE}, part 4")
    for name, arch, size, gigabytes in SMALL:
        yield laplace(name, arch, (size,) * 3, (256, 1, 1), gigabytes, f"{LAPLACE}, part 4, figure 1")
    m, n = measured("gfx90a"), 512
    for aligned in (False, True):
        line = 576 if aligned else n + 8
        plane = line * (n + 8)
        q, p = (Memory(4 * plane * (n + 8) + 4096) for _ in range(2))
        for memory in (q, p):
            memory.address += 240 * aligned
        for name, width, block, unaligned, gigabytes in DIFFERENCES:
            wanted = gigabytes if aligned else unaligned
            if wanted is None:
                continue
            grid = (n // (width * block[0]), n // block[1], 4 if name == "window_z" else n)
            time = m.time(name, grid, (*block, 1), q, p, line, plane, n, *[n // 4] * (name == "window_z"))
            title = f"{name}, 512³ floats, rows of {line}"
            rate = 8 * n**3 / time.us / 1e3
            yield Comparison(
                title, "gfx90a", rate, wanted, "GB/s", time.limiter, f"{SEISMIC}, MI250X",
                lacking(time, "L1 banks" if name in L1_LIMITED else ""),
            )  # fmt: skip
        for memory in (q, p):
            memory.address -= 240 * aligned
            memory.free()
    n = 4096
    a, b, c, d = (Memory(8 * n * n) for _ in range(4))
    third = np.float64(1 / 3)
    for name, groups, block_size, *arguments, milliseconds in (
        ("jacobi_laplace", n * n // 256, 256, a, b, n, n, third, third, 0.22),
        ("jacobi_update", n * n // 256, 256, a, b, c, d, n * n, third, 0.51),
        ("jacobi_norm", 256, 512, a, b, n * n, 0.10),
    ):  # fmt: skip
        time = m.time(name, groups, block_size, *arguments)
        yield Comparison(
            f"{name}, 4096²", "gfx90a", time.us / 1e3, milliseconds, "ms", time.limiter, JACOBI, lacking(time)
        )  # fmt: skip
    for memory in (a, b, c, d):
        memory.free()


def caches() -> Iterator[Comparison]:
    """Blocks of different sizes that workgroups read again and again."""
    for arch, sizes in CACHES.items():
        m = measured(arch)
        units = m.architecture.multiprocessors
        ran = 104 if arch == "gfx90a" else units  # an MI210 has less compute units than a die of an MI250X
        for kibibytes, gigabytes in sizes.items():
            a, b = Memory(1 << 20), Memory(kibibytes << 10)
            time = m.time(f"cache_{kibibytes}", units, 256, a, b, 0)
            moved = (kibibytes << 10) * ran * 32 * (2 + 16384 // kibibytes)
            rate = moved / (time.us - time.overhead_us) / 1e3
            title, source = f"one block of {kibibytes} KiB on each unit", f"{BENCHES}, gpu-cache, {BOARDS[arch]}"
            known = "" if arch == "gfx90a" else "clocks"
            yield Comparison(title, arch, rate, gigabytes, "GB/s", time.limiter, source, known)
            a.free()
            b.free()
    for arch, runs in BLOCKS.items():
        m = measured(arch)
        for run, gigabytes in runs.items():
            a, b = Memory(1 << 20), Memory(run << 19)
            time = m.time("blocks", 100_000, 1024, a, b, run)
            rate = (100_000 << 19) / time.us / 1e3
            title, source = f"{run} blocks of 512 KiB in turn", f"{BENCHES}, gpu-l2-cache, {BOARDS[arch]}"
            known = "replacement" if rate > 1.2 * gigabytes or gigabytes > 1.2 * rate else ""
            yield Comparison(title, arch, rate, gigabytes, "GB/s", time.limiter, source, lacking(time, known))
            a.free()
            b.free()


def writes() -> Iterator[Comparison]:
    """What stores alone and triads reach on an RX 6900 XT by occupancy, and its smallest workgroups."""
    arch, size = "gfx1030", 1 << 29
    x, y, z = (Memory(size) for _ in range(3))
    for threads, init, triad in ((32, 186, 241), (64, 361, 434), (256, 504, 427)):
        groups, lds = size // (8 * threads), 32 << 10
        for name, machine_, arguments, moved, gigabytes in (
            ("init", measured(arch), (x, np.float64(1)), 1, init), ("triad", machine(arch), (x, y, z), 3, triad),
        ):  # fmt: skip
            time = machine_.time(name, groups, threads, *arguments, lds=lds)
            title = f"{name}, 32 KiB of LDS for {threads} threads"
            yield Comparison(
                title, arch, moved * size / time.us / 1e3, gigabytes, "GB/s", time.limiter,
                f"{BENCHES}, gpu-stream, RX 6900 XT", "mixed traffic" if name == "triad" else "",
            )  # fmt: skip
    for threads, gigabytes in ((4, 160), (8, 318), (16, 455)):
        time = machine(arch).time("scale", size // (8 * threads), threads, x, y)
        title, source = f"scale, workgroups of {threads} threads", f"{BENCHES}, gpu-small-kernels, RX 6900 XT"
        yield Comparison(title, arch, 2 * size / time.us / 1e3, gigabytes, "GB/s", time.limiter, source)
    for memory in (x, y, z):
        memory.free()


def held() -> Iterator[str]:
    """What was modelled before the model was changed for any of it (held_out.py): the rows' text."""
    known = {(row.what, row.arch): row for row in held_out.rows()}
    for what, arch, value, time in held_out.runs(further, Memory):
        row = known[what, arch]
        yield Comparison(
            what, arch, value, row.measured, row.unit, time.limiter, row.source, lacking(time, row.lacks)
        ).text(number(row.first))  # fmt: skip


PAGE = Path(__file__).resolve().parents[1] / "docs" / "timing.md"
HEAD = (
    "| what | device | model | measured | unit | ratio | limited by | measured by | not in the model |\n"
    "|---|---|---|---|---|---|---|---|---|\n"
)


HELD_HEAD = HEAD.replace(" model |", " model | at first |", 1).replace("|---|", "|---|---|", 1)


def _filled(page: str, head: str, rows: Sequence[str]) -> str:
    """The page with these rows below the head of a table, instead of those that are there."""
    begin = end = page.index(head) + len(head)
    while page.startswith("|", end):
        end = page.index("\n", end) + 1
    return page[:begin] + "\n".join(rows) + "\n" + page[end:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--only", default="", help="print the rows whose name contains this")
    parser.add_argument("--print", action="store_true", help="print the table, write nothing")
    arguments = parser.parse_args()
    rows = [
        row.text()
        for part in (streams, chases, arithmetic, matrices, small, stencils, caches, writes)
        for row in part()
        if arguments.only in row.what
    ]
    if arguments.only or arguments.print:
        print(HEAD + "\n".join(rows))
        return
    page = _filled(PAGE.read_text(encoding="utf-8"), HEAD, rows)
    PAGE.write_text(_filled(page, HELD_HEAD, list(held())), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
