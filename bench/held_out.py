"""Measurements that were gathered, and modelled, before the model was changed for any of them.

`runs()` gives what the model says of each, by the names of held_out.tsv, which has what was measured, where, and what
the model said at first.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gpulab.records import ModelledTime

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "held_out.hip"
GIB = 1 << 30


@dataclass(frozen=True)
class Row:
    """One measurement: of what, on which device, what was measured in `unit`, what the model said at first."""

    what: str
    arch: str
    unit: str
    measured: float
    first: float
    source: str
    lacks: str


def rows() -> list[Row]:
    with (HERE / "held_out.tsv").open(encoding="utf-8", newline="") as file:
        return [
            Row(r["what"], r["arch"], r["unit"], float(r["measured"]), float(r["first"]), r["source"], r["lacks"])
            for r in csv.DictReader(file, delimiter="\t")
        ]


Run = tuple[str, str, float, ModelledTime]  # what, device, value, time


def runs(machine: Callable[[str], Any], memory: Callable[[int], Any], part: str = "") -> Iterator[Run]:
    """What the model says. `part`: of one of the functions below alone.

    Args:
        machine: a device of an architecture with the kernels of held_out.hip.
        memory: device memory of a size.
    """
    for each in (streams, babel, transposes, blocks, roofs, chains, peaks):
        if part in each.__name__:
            yield from each(machine, memory)


# Compute units of the boards that were measured, where they differ from the device's.
BOARDS = {"gfx90a": 104, "gfx1030": 80}


def on_board(m: Any, rate: float) -> float:
    """A rate that all units give together, on the board that was measured."""
    a = m.architecture
    return rate * BOARDS.get(a.name, a.compute_units) / a.compute_units


def streams(machine: Callable[[str], Any], memory: Callable[[int], Any]) -> Iterator[Run]:
    """gpu-stream: by threads of a workgroup whose LDS lets two stay on 64 KiB."""
    size = GIB
    x, y, z = (memory(size) for _ in range(3))
    n = size // 8
    kernels = {
        "fill": (1, y), "read": (1, x, y), "scale": (2, x, y), "triad": (3, x, z, y), "points_3": (2, x, y, n),
        "points_5": (2, x, y, n),
    }  # fmt: skip
    shown = {"gfx908": tuple(kernels), "gfx90a": ("fill", "triad"), "gfx1030": ("points_3", "points_5")}
    for arch, names in shown.items():
        m = machine(arch)
        for threads in (64, 256, 1024):
            for name in names:
                moved, *arguments = kernels[name]
                time = m.time(name, n // threads, threads, *arguments, lds=32 << 10)
                yield f"{name}, 32 KiB of LDS for {threads} threads", arch, moved * size / time.us / 1e3, time
    for each in (x, y, z):
        each.free()


def babel(machine: Callable[[str], Any], memory: Callable[[int], Any]) -> Iterator[Run]:
    size, m = GIB, machine("gfx942")
    x, y, z = (memory(size) for _ in range(3))
    n = size // 8
    for name, moved, *arguments in (
        ("copy", 2, x, y), ("scale", 2, x, y), ("add", 3, x, z, y), ("triad", 3, x, z, y), ("dot", 2, x, z, y, n),
    ):  # fmt: skip
        grid = m.architecture.multiprocessors * 4 if name == "dot" else n // 1024
        time = m.time(name, grid, 1024, *arguments)
        yield f"{name}, doubles, workgroups of 1024", "gfx942", moved * size / time.us / 1e3, time
    for arch in ("gfx908", "gfx90a", "gfx942", "gfx950"):
        time = machine(arch).time("copy", n // 256, 256, x, y)
        yield "copy, doubles, workgroups of 256", arch, 2 * size / time.us / 1e3, time
    for each in (x, y, z):
        each.free()


def transposes(machine: Callable[[str], Any], memory: Callable[[int], Any]) -> Iterator[Run]:
    n, m = 4096, machine("gfx908")
    x, y = memory(4 * n * n), memory(4 * n * n)
    for name in ("square_copy", "square_naive", "square_lds"):
        time = m.time(name, (n // 32, n // 32), (32, 32), x, y, n)
        yield f"{name}, 4096² floats", "gfx908", time.us - time.overhead_us, time
    x.free()
    y.free()


def blocks(machine: Callable[[str], Any], memory: Callable[[int], Any]) -> Iterator[Run]:
    m = machine("gfx908")
    for run in (3, 8, 20, 46, 66, 215, 550):
        a, b = memory(1 << 20), memory(run * 384 << 10)
        time = m.time("blocks_24", 100_000, 1024, a, b, run)
        yield f"{run} blocks of 384 KiB in turn", "gfx908", (100_000 * 384 << 10) / time.us / 1e3, time
        a.free()
        b.free()


def roofs(machine: Callable[[str], Any], memory: Callable[[int], Any]) -> Iterator[Run]:
    """rocm-amdgpu-bench, caches and LDS: 128 workgroups of 256 for each compute unit."""
    for arch, l1, l2 in (("gfx908", 16, 8192), ("gfx90a", 16, 8192), ("gfx942", 32, 4096), ("gfx950", 32, 4096)):
        m, out = machine(arch), memory(1 << 20)
        groups = m.architecture.compute_units * 128
        for level, kibibytes, times in (("L1", l1, 100), ("L2", l2, 1)):
            x = memory(kibibytes << 10)
            time = m.time(f"again_{kibibytes}", groups, 256, x, out, times)
            moved = on_board(m, groups * times * (kibibytes << 10))
            yield (
                f"{kibibytes} KiB of {level} by all workgroups",
                arch,
                moved / (time.us - time.overhead_us) / 1e3,
                time,
            )
            x.free()
        time = m.time("bytes_chase", groups, 256, 2000, out)
        moved = on_board(m, groups * 256 * 2000 * 4)
        yield "bytes of LDS, each says the next", arch, moved / (time.us - time.overhead_us) / 1e3, time
        out.free()


def chains(machine: Callable[[str], Any], memory: Callable[[int], Any]) -> Iterator[Run]:
    """rocm-amdgpu-bench, arithmetic."""
    times = {"chain_float": 1, "chain_double": 1, "chain_int": 1, "chain_long": 1}
    shown: dict[str, tuple[str, ...]] = {
        "gfx90a": ("chain_float", "chain_double", "mfma_f16", "mfma_bf16", "mfma_bf16_4", "mfma_f32", "mfma_f64"),
        "gfx942": (*times, "mfma_f16", "mfma_bf16", "mfma_f8", "mfma_f32", "mfma_f64"),
        "gfx950": ("chain_double", "mfma_f16", "mfma_bf16", "mfma_f8", "mfma_f32", "mfma_f64"),
    }
    operations = {
        "mfma_f16": 16384, "mfma_bf16": 16384, "mfma_bf16_4": 8192, "mfma_f32": 4096, "mfma_f64": 2048,
        "mfma_f8": 32768,
    }  # fmt: skip
    for arch, names in shown.items():
        m = machine(arch)
        groups = m.architecture.compute_units * 128
        out = memory(groups * 256 * 8)
        for name in names:
            if name.startswith("chain"):
                time = m.time(name, groups, 256, out, 256)
                done = groups * 256.0 * 256 * 64 * 2
            else:
                time = m.time(name, groups, 256, out, 2000)
                done = groups * 4.0 * 2000 * operations[name]
            yield f"{name}, one chain a wave", arch, on_board(m, done) / (time.us - time.overhead_us) / 1e6, time
        out.free()


def peaks(machine: Callable[[str], Any], memory: Callable[[int], Any]) -> Iterator[Run]:
    """clpeak, arithmetic."""
    for arch in ("gfx906", "gfx1030"):
        m = machine(arch)
        groups = m.architecture.compute_units * 64
        out = memory(groups * 256 * 8)
        for name, value, wide in (
            ("mad_float", 1.3, 1), ("mad_half2", 1, 2), ("mad_double", np.float64(1.3), 1), ("mad_int", 4, 1),
            ("mad_int24", 4, 1),
        ):  # fmt: skip
            time = m.time(name, groups, 256, out, value, 64)
            done = on_board(m, groups * 256.0 * 64 * 16 * 2 * wide)
            yield f"{name}, two values in turn", arch, done / (time.us - time.overhead_us) / 1e6, time
        out.free()
