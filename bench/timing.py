#!/usr/bin/env python3
"""The timing model beside public measurements: each `Row` is a kernel of timing.hip, what the model says and what was
measured.

`Machine` runs the first workgroups of a kernel on a virtual device, with every memory access observed, and models the
time of the whole grid. As a program it prints the table of docs/timing.md. The tests use smaller sizes of the same
kernels (tests/machine/test_timing.py).
"""

from __future__ import annotations

import argparse
import functools
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gpulab import architectures, toolchain
from gpulab.records import Launch, ModelledTime
from gpulab.virtual_gpu.isa.assembly import parse
from gpulab.virtual_gpu.machine import timing
from gpulab.virtual_gpu.machine.arena import Arena
from gpulab.virtual_gpu.machine.device import VirtualDevice
from gpulab.virtual_gpu.machine.loading import LoadedModule

SOURCE = Path(__file__).with_suffix(".hip")

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
    """One virtual device with the kernels of timing.hip."""

    def __init__(self, arch: str, options: Sequence[str] = ()) -> None:
        self.architecture = architectures.get(arch)
        self.device = VirtualDevice(self.architecture, arena(), 0)
        code = toolchain.compile(SOURCE.read_text(), arch=arch, name=SOURCE.name, options=list(options))
        self.module: LoadedModule = self.device.load(
            parse(code.assembly, {code.name: SOURCE.read_text()}, guarantees=code.guarantees)
        )
        self.launch: Launch | None = None

    def work(self, name: str, grid: Size, block: Size, *arguments: object, whole: int = 0, lds: int = 0) -> timing.Work:
        """What a kernel does: `grid` is run and observed; it stands for `whole` workgroups, if given."""
        kernel = self.module.kernels[name]
        groups, threads = int(np.prod(extent(grid))), int(np.prod(extent(block)))
        self.launch = launch = self.device.launch(
            kernel, extent(grid), extent(block), lds, pack(arguments), collect="profile", workers=1
        )
        if launch.fault is not None:
            raise RuntimeError(f"{name}: {launch.fault}")
        translation = kernel.code(True).translation
        executed = list(self.device._contexts[0].counters[: len(translation.blocks)])
        kept = kernel.code(True).observer.keep()
        a, descriptor = self.architecture, kernel.descriptor
        weights = timing.BlockCosts(a, self.module.program.labels, translation.blocks, translation.decoded)
        return weights.work(
            executed, whole or groups, a.waves(threads), threads,
            vgprs=descriptor.vgprs, sgprs=descriptor.sgprs,
            lds_bytes=descriptor.lds_bytes + lds, scale=whole / groups if whole else 1.0,
            seen=timing.Seen(translation.accesses, kept.totals(), kept.flows()),
            footprint=sum(m.size for m in arguments if isinstance(m, Memory)),
        )  # fmt: skip

    def time(
        self, name: str, grid: Size, block: Size, *arguments: object, whole: int = 0, lds: int = 0
    ) -> ModelledTime:
        """The modelled time of a kernel; arguments as `work` takes them."""
        return timing.model(self.architecture, self.work(name, grid, block, *arguments, whole=whole, lds=lds))


@functools.cache
def machine(arch: str) -> Machine:
    return Machine(arch)


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
class Row:
    """One row of the table: what was run where, the model's value and the measured one in `unit`."""

    what: str
    arch: str
    model: float
    measured: float | None
    unit: str
    limiter: str
    source: str

    def text(self) -> str:
        measured = "–" if self.measured is None else number(self.measured)
        ratio = "–" if self.measured is None else f"{self.model / self.measured:.2f}"
        cells = (self.what, self.arch, number(self.model), measured, self.unit, ratio, self.limiter, self.source)
        return "| " + " | ".join(cells) + " |"


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def streams() -> Iterator[Row]:
    """Copies, strides, a gather and streams by occupancy, over 1 GiB of which the beginning is run."""
    for arch, copied in (("gfx942", 4350), ("gfx90a", 1360), ("gfx1030", 456), ("gfx1100", None)):
        m = machine(arch)
        x, y = Memory(1 << 28), Memory(1 << 28)
        source = COPIES.get(arch, NONE)

        def rate(
            name: str, per_thread: int, *more: object, moved: float = 2.0, block: int = 256, lds: int = 0,
            m: Machine = m, x: Memory = x, y: Memory = y,
        ) -> tuple[float, str]:  # fmt: skip
            whole = GIB // (per_thread * block)
            time = m.time(name, 1024, block, x, y, *more, whole=whole, lds=lds)
            return moved * GIB / time.us / 1e3, time.limiter

        for name, size in (("copy4", 16), ("copy", 4)):
            found, limiter = rate(name, size)
            yield Row(f"copy, {size} bytes a thread", arch, found, copied, "GB/s", limiter, source)
        for stride in (2, 8, 32):
            found, limiter = rate("strided", 4, stride)
            yield Row(f"strided read, {stride} floats (useful bytes)", arch, found, None, "GB/s", limiter, NONE)
        found, limiter = rate("gather", 4, (1 << 26) - 1)
        yield Row("random gather of floats (useful bytes)", arch, found, None, "GB/s", limiter, NONE)
        for name, moved, board, measured in OCCUPANCY.get(arch, ()):
            for threads, gigabytes in zip((64, 128, 256, 512, 1024), measured, strict=True):
                found, limiter = rate(name, 8, moved=moved, block=threads, lds=32 << 10)
                title = f"{'read' if name == 'read_only' else 'scale'}, 32 KiB of LDS for {threads} threads"
                yield Row(title, arch, found, gigabytes, "GB/s", limiter, f"{BENCHES}, gpu-stream, {board}")
        for stride, clocks in L1_STRIDES.get(arch, {}).items():
            time = m.time("l1_strided", 1, 1024, x, y, stride, 512, 0)
            found = (time.us - time.overhead_us) * m.architecture.clock_mhz / (32 * 512 * 8)
            title = f"L1 reads, {stride} floats apart, 32 lanes"
            source = f"{BENCHES}, gpu-strides, {'MI210' if arch == 'gfx90a' else 'RDNA 2'}"
            yield Row(title, arch, found, clocks, "clocks", time.limiter, source)
        x.free()
        y.free()


def chases() -> Iterator[Row]:
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
        yield Row(f"pointer chase, {level}", arch, found, clocks, "clocks", both.limiter, source)
        links.free()
        out.free()


def arithmetic() -> Iterator[Row]:
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
        time = m.time(name, 16, 256, y, steps, *factors, whole=groups)
        done = groups * 256 * steps * 8 * (2 if factors else 1)
        source = "peak rate by AMD" if peak else NONE
        yield Row(f"{name}, eight chains", arch, done / time.us / 1e6, peak, "TFLOP/s", time.limiter, source)
    for arch in architectures.defaults():
        m = machine(arch)
        groups, steps = m.architecture.multiprocessors * 16, 256
        for stride, measured in ((1, 2), (8, 16), (32, 64)):
            time = m.time("lds_read", 16, 256, y, steps, stride, whole=groups)
            reads = groups * 256 // m.architecture.wave_size * steps * 8 / m.architecture.compute_units
            clocks = (time.us - time.overhead_us) * m.architecture.clock_mhz / reads
            source = RPC if stride == 1 else PYHIP
            yield Row(
                f"LDS reads of 32 bits, stride {stride}", arch, clocks, measured if arch == "gfx942" else None,
                "clocks", time.limiter, source if arch == "gfx942" else NONE,
            )  # fmt: skip
    y.free()


def matrices() -> Iterator[Row]:
    """Matrix products of 4096 x 4096 and transposes of 8192 x 8192."""
    n = 4096
    for arch in ("gfx1100", "gfx942"):
        m = machine(arch)
        a, b, c = (Memory(4 * n * n) for _ in range(3))
        for name, block, tile, kernel, milliseconds in (
            ("sgemm_naive", (16, 16), 16, 1, 136.0), ("sgemm_tiled", (32, 32), 32, 2, 34.2),
            ("sgemm_registers", 256, 128, 5, 4.10),
        ):  # fmt: skip
            time = m.time(name, (n // tile, 1), block, n, a, b, c, whole=(n // tile) ** 2)
            measured = milliseconds if arch == "gfx1100" else None
            source = f"{SEB}, kernel {kernel}, RX 7900 XTX" if measured else NONE
            yield Row(f"{name}, 4096³", arch, time.us / 1e3, measured, "ms", time.limiter, source)
        for memory in (a, b, c):
            memory.free()
    n, m = 8192, machine("gfx90a")
    x, y = Memory(8 * n * n), Memory(8 * n * n)
    for name, milliseconds in (("transpose_read", 4.44), ("transpose_write", 2.90), ("transpose_padded", 2.69)):
        time = m.time(name, (n // 16, 16), (16, 16), x, y, n, whole=(n // 16) ** 2)
        yield Row(f"{name}, 8192² doubles", "gfx90a", time.us / 1e3, milliseconds, "ms", time.limiter, TRANSPOSE)
    x.free()
    y.free()


def small() -> Iterator[Row]:
    """Small workgroups and small launches."""
    m, x, y = machine("gfx90a"), Memory(1 << 27), Memory(1 << 27)
    source = f"{BENCHES}, gpu-small-kernels, MI210"
    for threads, gigabytes in ((16, 212), (32, 424), (64, 842)):
        time = m.time("scale", 1024, threads, x, y, whole=GIB // (8 * threads))
        title = f"scale, workgroups of {threads} threads"
        yield Row(title, "gfx90a", 2 * GIB / time.us / 1e3, gigabytes, "GB/s", time.limiter, source)
    time = m.time("scale", 32, 128, x, y)
    yield Row("scale of 4096 doubles, launch after launch", "gfx90a", time.us, 2.1, "µs", time.limiter, source)
    x.free()
    y.free()
    cell = Memory(4)
    for arch, plain, in_a_graph in (("gfx1100", 3.129, 2.815), ("gfx1201", 2.567, 2.147), ("gfx1151", 1.837, 1.752)):
        time = machine(arch).time("one_atomic", 1, 1, cell)
        saved = architectures.get(arch).graph_saving_us
        yield Row("one atomic, launch after launch", arch, time.us, plain, "µs", time.limiter, FLOOR)
        yield Row("one atomic, in a graph", arch, time.us - saved, in_a_graph, "µs", time.limiter, FLOOR)
    cell.free()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--only", default="", help="rows whose name contains this")
    only = parser.parse_args().only
    print("| what | device | model | measured | unit | ratio | limited by | measured by |")
    print("|---|---|---|---|---|---|---|---|")
    for part in (streams, chases, arithmetic, matrices, small):
        for row in part():
            if only in row.what:
                print(row.text(), flush=True)


if __name__ == "__main__":
    main()
