#!/usr/bin/env python3
"""`make bench`: start-up and latency of gpulab, and kernels on both architectures beside the same work in C++.

`latencies()` measures what a learner waits for; `Workload` is one kernel with its data and its host computation;
each row of the second table compares bits with the host's result. Kernels run in processes of their own, one per
number of cores. `translations()` measures how long large kernels of generated HIP code take to become host code.
Times are the shortest of several runs, in this run of the program.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gpulab import architectures

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
ARCHITECTURES = architectures.defaults()
EXACT = ["-ffp-contract=off"]
HOST = ["-ffp-contract=off", "-fno-math-errno", "-fno-exceptions", "-nostdlib++"]  # nothing of the C++ library is used
SETTLED = 0.2  # seconds of launches with a profile or checks before they are measured: each has code of its own
SMALL = False  # whether kernels get a sixteenth of the work or less, which shows that they are right, but not how fast


@dataclass(frozen=True)
class Workload:
    """One kernel: sizes, and its arguments; arrays are (data, is it the result?) or a scalar."""

    name: str
    title: str
    grid: Any
    block: Any
    arguments: Sequence[Any]
    long: bool = False  # runs twice
    watched: tuple[str, ...] = ("profiled", "checked")

    @property
    def kernel(self) -> str:
        return self.name.removesuffix("_large")

    @property
    def result(self) -> int:
        """Place of the argument that holds the result: the last array."""
        return max(i for i, value in enumerate(self.arguments) if isinstance(value, np.ndarray))


def workloads() -> list[Workload]:
    """The kernels, with the sizes that the project's measures name."""
    random = np.random.default_rng(1)

    def floats(*shape: int) -> np.ndarray:
        return random.uniform(-1, 1, shape).astype(np.float32)

    n, m, large, pixels = (1 << 16, 64, 128, 64) if SMALL else (1 << 20, 256, 1024, 256)
    a, b = floats(m, m), floats(m, m)
    out = np.zeros((m, m), np.float32)
    ints = np.zeros
    wide, high = floats(large, large), floats(large, large)
    places = random.permutation(n).astype(np.int32)
    return [
        Workload("saxpy", f"saxpy {n:,}", n // 256, 256, (n, np.float32(2.5), floats(n), floats(n))),
        Workload("sgemm_naive", f"SGEMM naive {m}³", (m // 16, m // 16), (16, 16), (m, a, b, out)),
        Workload("sgemm_tiled", f"SGEMM LDS tiles {m}³", (m // 16, m // 16), (16, 16), (m, a, b, out)),
        Workload("reduce", f"block reduction {n:,}", n // 256, 256, (n, floats(n), np.zeros(n // 256, np.float32))),
        Workload("collatz", f"Collatz {n // 16:,}", n // 4096, 256, (n // 16, ints(n // 16, np.int32))),
        Workload("mandelbrot", f"Mandelbrot {pixels}²×256", (pixels // 16, pixels // 16), (16, 16),
                 (pixels, pixels, 256, ints((pixels, pixels), np.int32))),
        Workload("scattered", f"scattered reads {2 * n:,}", n // 256, 256,
                 (n, places, floats(n), np.zeros(n, np.float32))),
        Workload("sgemm_registers", f"SGEMM registers {large}³", (large // 64, large // 64), 64,
                 (large, wide, high, np.zeros((large, large), np.float32)), long=True, watched=()),
        # Most of such a launch is not observed: the row says what a profile costs then.
        Workload("sgemm_naive_large", f"SGEMM naive {large}³", (large // 16, large // 16), (16, 16),
                 (large, wide, high, np.zeros((large, large), np.float32)), long=True, watched=("profiled",)),
    ]  # fmt: skip


def shortest(action: Callable[[], object], runs: int, settled: float = 0.0) -> float:
    """Seconds of the fastest of several runs, after so many seconds of others, in which its code is optimised."""
    times = []
    began = time.perf_counter()
    while settled and time.perf_counter() - began < settled:
        action()
    for _ in range(runs):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


# ------------------------------------------------------------------------------------------ the host's side


def host_results(runs: int) -> dict[str, tuple[float, np.ndarray]]:
    """Seconds and result of each computation in C++ -O3 by the same Clang, one thread."""
    from gpulab.toolchain import compile_host_library
    from gpulab.toolchain.host import library_suffix

    found = {}
    with tempfile.TemporaryDirectory() as folder:
        path = compile_host_library(
            HERE / "host.cpp", Path(folder) / f"host{library_suffix()}", language="c++", optimize="3", options=HOST
        )
        library = ctypes.CDLL(str(path))
        for work in workloads():
            arguments = [value.copy() if isinstance(value, np.ndarray) else value for value in work.arguments]
            result = arguments[work.result]
            start = result.copy()
            function = getattr(library, work.kernel)

            def call(function: Any = function, arguments: Any = arguments) -> None:
                function(*(c_value(value) for value in arguments))

            call()
            expected = result.copy()
            seconds = shortest(call, 2 if work.long else runs)
            result[...] = start
            found[work.name] = (seconds, expected)
    return found


def c_value(value: Any) -> Any:
    """A Python value as ctypes passes it."""
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    return ctypes.c_float(value) if isinstance(value, np.floating) else ctypes.c_int(value)


# ---------------------------------------------------------------------------------------- the device's side


def use_cores(cores: int) -> None:
    """Keep this process on so many cores; call before anything of gpulab counts them."""
    os.environ["GPULAB_THREADS"] = str(cores)
    if hasattr(os, "sched_setaffinity"):
        allowed = sorted(os.sched_getaffinity(0))[:cores]
        os.sched_setaffinity(0, allowed)
        os.cpu_count = lambda: len(allowed)  # Python counts the machine's cores, not those of the process


def device_rows(arch: str, cores: int, runs: int, only: str, results: Path) -> list[dict[str, Any]]:
    """Run the kernels on one architecture and so many cores: a row for each; results go into `results`."""
    use_cores(cores)
    import gpulab

    rows = []
    arrays = {}
    with gpulab.using(f"virtual:{arch}"):
        module = gpulab.compile((HERE / "kernels.hip").read_text(), name="kernels.hip", options=EXACT)
        for work in workloads():
            if only not in work.name:
                continue
            kernel = module[work.kernel]
            given = [gpulab.to_device(value) if isinstance(value, np.ndarray) else value for value in work.arguments]
            result, start = given[work.result], work.arguments[work.result]
            launch = kernel[work.grid, work.block]
            began = time.perf_counter()
            launch(*given)
            first = time.perf_counter() - began
            arrays[work.name] = result.to_host()
            with gpulab.profile() as run:
                launch(*given)
            instructions = sum(cost.executed for cost in run.launches[0].instructions)
            result.copy_from(start)
            seconds = shortest(lambda launch=launch, given=given: launch(*given), 2 if work.long else runs)
            watched = dict.fromkeys(("profiled", "checked"), 0.0)
            for kind in work.watched if cores == 1 else ():  # they run on one core
                with gpulab.checked() if kind == "checked" else gpulab.profile():
                    few = 2 if work.long else min(runs, max(3, runs // 3))
                    watched[kind] = shortest(lambda launch=launch, given=given: launch(*given), few, SETTLED)
            rows.append(
                {
                    "name": work.name, "title": work.title, "arch": arch, "cores": cores, "seconds": seconds,
                    "first": first, "instructions": instructions, **watched,
                }
            )  # fmt: skip
    np.savez(results, **arrays)
    return rows


def in_process(arch: str, cores: int, runs: int, only: str) -> tuple[list[dict[str, Any]], dict[str, np.ndarray]]:
    """`device_rows` in a process of its own, which has only so many cores."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.npz"
        command = [
            sys.executable,
            __file__,
            "--device-rows",
            arch,
            str(cores),
            str(results),
            "--runs",
            str(runs),
            "-k",
            only,
            *(["--small"] if SMALL else []),
        ]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=False, cwd=ROOT)
        if done.returncode:
            sys.exit(f"the kernels on {arch} did not run")
        with np.load(results) as arrays:
            return json.loads(done.stdout), dict(arrays)


def agreement(got: np.ndarray, expected: np.ndarray) -> str:
    """How a result compares with the host's."""
    if got.tobytes() == expected.tobytes():
        return "same bits"
    bad = int((got != expected).sum())
    return f"{bad:,} of {got.size:,} DIFFER, by up to {np.abs(got.astype(float) - expected.astype(float)).max():.3g}"


# ----------------------------------------------------------------------------------------------- latencies

_IMPORT = "import time; t = time.perf_counter(); import gpulab; print(time.perf_counter() - t)"
_SESSION = """
import json, sys, time
import numpy as np
import gpulab
warm = gpulab.compile("__global__ void warm(int* x) { x[threadIdx.x] = 1; }")["warm"]
x, y = gpulab.to_device(np.ones(1024, np.float32)), gpulab.zeros(1024)
warm[1, 64](gpulab.zeros(64, "int32"))
source = ('__global__ void saxpy(int n, float a, const float* x, float* y) {'
          ' int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = a * x[i] + y[i]; } // ' + sys.argv[1])
t = time.perf_counter()
saxpy = gpulab.compile(source)["saxpy"]
saxpy[4, 256](1024, 2.0, x, y)
result = y.to_host()
new = time.perf_counter() - t
assert (result == 2).all()
launches = []
for _ in range(200):
    t = time.perf_counter()
    saxpy[4, 256](1024, 2.0, x, y)
    launches.append(time.perf_counter() - t)
print(json.dumps({"new": new, "launch": sorted(launches)[100]}))
"""


def python(code: str, *arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=ROOT, env=os.environ | environment
    )
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def in_a_program() -> list[tuple[str, str, str]]:
    """Rows for latencies in a whole program; none where programs cannot be built."""
    from gpulab import programs
    from gpulab.toolchain import hosted

    if hosted.unavailable():
        return []
    run = programs.build((ROOT / "bench" / "latency.hip").read_text(encoding="utf-8"), archs=("gfx942",)).run()
    if run.exit_code:
        sys.exit(run.stdout + run.stderr)
    launch, larger, waited, node, copy = map(float, run.stdout.split())
    return [
        ("a launch of one wave in a whole program", f"{launch:.0f} µs", "15 µs"),
        ("the same with hipDeviceSynchronize", f"{waited:.0f} µs", ""),
        ("saxpy of 1,024 elements there", f"{larger:.0f} µs", "15 µs"),
        ("the same as a node of a graph of ten", f"{node:.0f} µs", "15 µs"),
        ("a copy of 4 bytes in a whole program", f"{copy:.1f} µs", "10 µs"),
    ]


def latencies() -> list[tuple[str, str, str]]:
    """What, measured, and the limit that the project sets itself."""
    imports = min(float(python(_IMPORT)) for _ in range(5))
    session = json.loads(python(_SESSION, str(time.time_ns())))
    with tempfile.TemporaryDirectory() as cache:
        start = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "gpulab", "setup"], cwd=ROOT, env=os.environ | {"GPULAB_CACHE": cache},
            capture_output=True, text=True,
        )  # fmt: skip
        setup = time.perf_counter() - start
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return [
        ("import gpulab", f"{imports * 1000:.0f} ms", "400 ms"),
        ("saxpy, new source to result, in a running session", f"{session['new'] * 1000:.0f} ms", "500 ms"),
        ("second launch of saxpy, 1,024 elements, in all", f"{session['launch'] * 1e6:.0f} µs", "15 µs"),
        ("gpulab setup with an empty cache folder", f"{setup:.1f} s", "180 s"),
        *in_a_program(),
    ]


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Words left, the rest right."""
    widths = [max(len(row[i]) for row in [columns, *rows]) for i in range(len(columns))]
    for row in [columns, ["-" * width for width in widths], *rows]:
        cells = [
            cell.ljust(width) if i < 1 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())
    print()


def kernel_table(runs: int, only: str) -> bool:
    """Print the table of the kernels; False if a result differs from the host's."""
    host = host_results(runs)
    counts = [1] if SMALL else sorted({1, min(2, os.cpu_count() or 1)})
    found: dict[tuple[str, str], dict[int, dict[str, Any]]] = {}
    compared: dict[tuple[str, str], set[str]] = {}
    for arch in ARCHITECTURES:
        for cores in counts:
            rows, arrays = in_process(arch, cores, runs, only)
            for row in rows:
                key = (row["name"], arch)
                found.setdefault(key, {})[cores] = row
                compared.setdefault(key, set()).add(agreement(arrays[row["name"]], host[row["name"]][1]))
    lines = []
    for (name, arch), by_cores in found.items():
        one = by_cores[1]
        seconds = host[name][0]
        lines.append(
            [
                one["title"], arch, f"{one['first'] * 1000:.0f}",
                *(f"{by_cores[cores]['seconds'] * 1000:.2f}" for cores in counts),
                f"{one['instructions'] / 1e6:.2f}", f"{one['instructions'] / one['seconds'] / 1e6:.0f}",
                f"{seconds * 1000:.2f}", f"{one['seconds'] / seconds:.1f}",
                *(f"{one[kind] / one['seconds']:.1f}" if one[kind] else "" for kind in ("profiled", "checked")),
                "; ".join(sorted(compared[name, arch])),
            ]
        )  # fmt: skip
    cores = [f"{count} core{'s' if count > 1 else ''} ms" for count in counts]
    print_table(
        ["kernel", "arch", "first ms", *cores, "instr. M", "M/s on 1", "C++ ms", "/ C++", "profiled x", "checked x",
         "result"], lines
    )  # fmt: skip
    return all(texts == {"same bits"} for texts in compared.values())


# ------------------------------------------------------------------------------------------- translation


def generated(steps: int) -> str:
    """A kernel of `steps` pieces of everyday code: arithmetic, branches, loops, LDS with barriers, private arrays."""
    lines = []
    for k in range(steps):
        factor = 2654435761 * (k + 1) & 0xFFFFFFFF
        lines.append((
            f"f = fmaf(f, {1 + k % 7}.25f, x[(i + {k}) % n]);",
            f"h = (h ^ (h >> {1 + k % 13})) * {factor}u + (unsigned)i;",
            f"if (h & {1 << k % 8}) f -= sqrtf(fabsf(f)) * {k % 5 + 1}; else h += __float_as_uint(f);",
            f"tile[(threadIdx.x + {k}) % 256] = f; __syncthreads(); g += tile[(h + {k}) % 256]; __syncthreads();",
            "for (int j = 0; j < (int)(h % 4); ++j) g = g * 0.5f + j;",
            f"own[h % 8] = g; f += own[(h + {k}) % 8];",
            f"y[(i + {k}) % n] = f; d += (double)f * g;",
            f"q = (q << {k % 31 + 1}) + h * (unsigned long long)i; h ^= (unsigned)(q >> 32);",
        )[k % 8])  # fmt: skip
    body = "\n    ".join(lines)
    return f"""extern "C" __global__ void generated(int n, const float* x, float* y) {{
    __shared__ float tile[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float f = x[i % n], g = 1.0f, own[8] = {{0}};
    unsigned h = i; double d = 0; unsigned long long q = i;
    tile[threadIdx.x] = 0; __syncthreads();
    {body}
    y[i % n] = f + g + h + (float)d + (unsigned)q;
}}
"""


GENERATED = (("-O3", 24), ("-O3", 480), ("-O0", 4), ("-O0", 134))


def translations(runs: int, kernels: Sequence[tuple[str, int]] = GENERATED) -> None:
    """Print how long kernels of about 500 and 10,000 instructions take from parsed text to host code.

    Compiled quickly, as for the first launch, and optimised, as when they have run for a while.
    """
    import gpulab
    from gpulab.virtual_gpu import dispatch, isa
    from gpulab.virtual_gpu.isa import assembly
    from gpulab.virtual_gpu.translate import jit
    from gpulab.virtual_gpu.translate.decode import Decoder
    from gpulab.virtual_gpu.translate.function import translate

    jit.host()
    lines = []
    for level, steps in kernels:
        for arch in ARCHITECTURES:
            with gpulab.using(f"virtual:{arch}"):
                module = gpulab.compile(generated(steps), name="generated.hip", options=[level])
            program = assembly.parse(module.assembly)
            (kernel,) = program.kernels.values()
            counts: list[int] = []

            def whole(optimised: bool, program: Any = program, kernel: Any = kernel, counts: Any = counts) -> None:
                decoder = Decoder(program, isa.table(program.arch))
                mode = dispatch.mode_register(kernel, program.arch)
                made = translate(program, kernel, decoder, mode, quick=True)
                counts.append(len(made.decoded))
                parts = [(made.ir, not optimised), *((part, True) for part in made.quick)]
                jit.compile_objects(parts, keep=False)

            times = [f"{shortest(partial(whole, how), max(1, min(runs, 3))) * 1000:.0f}" for how in (False, True)]
            lines.append([level, arch, f"{counts[0]:,}", *times, "150" if steps < 50 else "1,500"])
    print_table(["translation", "arch", "instructions", "quick ms", "optimised ms", "limit"], lines)


_MEMORY = """
import resource, sys
sys.path.insert(0, 'bench')
import measures, numpy as np, gpulab
every = measures.workloads()
work = next(w for w in every if w.name == 'sgemm_registers')
host = sum(v.nbytes for w in every for v in w.arguments if isinstance(v, np.ndarray))
device = sum(v.nbytes for v in work.arguments if isinstance(v, np.ndarray))
module = gpulab.compile(open('bench/kernels.hip').read(), options=measures.EXACT)
given = [gpulab.to_device(v) if isinstance(v, np.ndarray) else v for v in work.arguments]
module[work.kernel][work.grid, work.block](*given)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(round(peak - (host + device) / 2**20))
"""


def main() -> int:
    global SMALL
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--runs", type=int, default=15, help="runs of each kernel; the fastest counts")
    ask.add_argument("-k", default="", help="only kernels whose name holds this")
    ask.add_argument("--small", action="store_true", help="less work, on one core: only whether results are right")
    ask.add_argument("--no-latencies", action="store_true", help="only the kernels")
    ask.add_argument("--device-rows", nargs=3, metavar=("ARCH", "CORES", "FILE"), help=argparse.SUPPRESS)
    asked = ask.parse_args()
    SMALL = asked.small
    if asked.device_rows:
        arch, cores, results = asked.device_rows
        json.dump(device_rows(arch, int(cores), asked.runs, asked.k, Path(results)), sys.stdout)
        return 0
    if not asked.no_latencies:
        print_table(["what a learner waits for", "measured", "limit"], latencies())
    good = kernel_table(asked.runs, asked.k)
    if not asked.no_latencies:
        translations(asked.runs)
        if sys.platform == "linux":
            print(f"SGEMM 1024³: {python(_MEMORY).strip()} MiB for the whole process beside arrays (limit 300)")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
