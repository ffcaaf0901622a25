"""Programs of the generator on the host and on the virtual GPU: `host`, `device`, `compare`, `reduce`.

Many programs go into one translation unit, as one kernel each. `compare` gives for each program the reason why host
and device differ, or "".
"""

from __future__ import annotations

import ctypes
import hashlib
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import gpulab
from gpulab.toolchain import compile_host_library
from gpulab.toolchain import host as host_side
from tests.fuzz.generator import UNIFORMS, WORDS, Program, smaller

PRELUDE = (Path(__file__).parent / "prelude.h").read_text(encoding="utf-8")
THREADS, BLOCK = 192, 96
COMMON = ("-fwrapv", "-ffp-contract=off", "-std=c++20", "-w")


def inputs(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Words of each thread and words of all: small numbers, edges, any bits."""
    random = np.random.default_rng(seed)

    def draw(shape: tuple[int, ...]) -> np.ndarray:
        any_bits = random.integers(0, 2**64, shape, dtype="uint64")
        small = random.integers(-20, 20, shape).astype("uint64")
        edges = np.array([0, 1, 2**64 - 1, 2**63, 2**63 - 1, 2**31, 2**31 - 1, 2**32, 2**32 - 1, 0x7F80000000000000,
                          0x3FF0000000000000, 0x3F8000003F800000, 128, 127, 32768, 0x180000000], "uint64")  # fmt: skip
        edge = edges[random.integers(0, len(edges), shape)]
        shifted = any_bits >> random.integers(0, 64, shape).astype("uint64")
        which = random.integers(0, 5, shape)
        return np.choose(which, [any_bits, small, edge, shifted, any_bits])

    return draw((THREADS, WORDS)), draw((UNIFORMS,))


def _call(name: str, at: str) -> str:
    words = [f"in[{at} * {WORDS} + {i}]" for i in range(WORDS)] + [f"all[{i}]" for i in range(UNIFORMS)]
    return f"{name}main({', '.join(words)})"


def device_source(programs: Sequence[Program]) -> str:
    parts = [PRELUDE]
    for k, program in enumerate(programs):
        parts.append(program.render(f"f{k}_"))
        parts.append(
            f"__global__ __launch_bounds__({BLOCK}) void kernel{k}(const u64* in, const u64* all, u64* out) {{\n"
            f"  int i = blockIdx.x * {BLOCK} + threadIdx.x;\n  out[i] = {_call(f'f{k}_', 'i')};\n}}\n"
        )
    return "\n".join(parts)


def host_source(programs: Sequence[Program]) -> str:
    parts = ["#define HOST 1", PRELUDE]
    for k, program in enumerate(programs):
        parts.append(program.render(f"f{k}_"))
        parts.append(
            f'extern "C" __attribute__((visibility("default")))\n'
            f"void kernel{k}(const u64* in, const u64* all, u64* out, int n) {{\n"
            f"  for (int i = 0; i < n; ++i) out[i] = {_call(f'f{k}_', 'i')};\n}}\n"
        )
    return "\n".join(parts)


def on_host(programs: Sequence[Program], given: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Results of all programs on this machine's CPU: uint64[program, thread]."""
    source = host_source(programs)
    out = np.zeros((len(programs), THREADS), "uint64")
    with tempfile.TemporaryDirectory(prefix="gpulab-fuzz-") as folder:
        name = hashlib.sha256(source.encode()).hexdigest()[:16] + host_side.library_suffix()
        path = compile_host_library(
            source,
            Path(folder) / name,
            language="c++",
            optimize="1",
            options=[*COMMON, "-fno-exceptions", "-nostdlib++"],
        )
        library = ctypes.CDLL(str(path))
        for k in range(len(programs)):
            getattr(library, f"kernel{k}")(
                *(ctypes.c_void_p(a.ctypes.data) for a in (*given, out[k])), ctypes.c_int(THREADS)
            )
    return out


def on_device(
    programs: Sequence[Program], given: tuple[np.ndarray, np.ndarray], arch: str, level: str
) -> list[np.ndarray | Exception]:
    """Results of all programs on a virtual GPU, or what went wrong."""
    with gpulab.using(f"virtual:{arch}"):
        try:
            module = gpulab.compile(device_source(programs), options=[level, *COMMON])
        except gpulab.GpulabError as error:
            if len(programs) == 1:
                return [error]
            return [r for p in programs for r in on_device([p], given, arch, level)]
        words, uniforms = (gpulab.to_device(a) for a in given)
        results: list[np.ndarray | Exception] = []
        for k in range(len(programs)):
            try:
                out = gpulab.zeros(THREADS, "uint64")
                module[f"kernel{k}"][THREADS // BLOCK, BLOCK](words, uniforms, out)
                results.append(out.to_host())
            except gpulab.GpulabError as error:
                if len(programs) > 1 and isinstance(error, gpulab.UnsupportedInstruction):
                    return [r for p in programs for r in on_device([p], given, arch, level)]
                results.append(error)
        return results


def compare(programs: Sequence[Program], arch: str, level: str, seed: int = 1) -> list[str]:
    """For each program "" or how its results differ."""
    given = inputs(seed)
    expected = on_host(programs, given)
    found = []
    for wanted, got in zip(expected, on_device(programs, given, arch, level), strict=True):
        if isinstance(got, Exception):
            found.append(f"{type(got).__name__}: {got}")
        elif (got != wanted).any():
            lanes = np.flatnonzero(got != wanted)
            first = lanes[0]
            found.append(
                f"{len(lanes)} of {THREADS} threads differ, first {first}: {got[first]:#x} for {wanted[first]:#x}"
            )
        else:
            found.append("")
    return found


def reduce(program: Program, arch: str, level: str, seed: int = 1, rounds: int = 60, batch: int = 24) -> Program:
    """A smaller program that still differs in the same manner (wrong result, or the same kind of error)."""
    wanted = _manner(compare([program], arch, level, seed)[0])
    for _ in range(rounds):
        candidates: list[Program] = []
        better = None
        for candidate in smaller(program):
            candidates.append(candidate)
            if len(candidates) == batch:
                better = _first(candidates, wanted, arch, level, seed)
                candidates = []
                if better:
                    break
        if better is None and candidates:
            better = _first(candidates, wanted, arch, level, seed)
        if better is None:
            return program
        program = better
    return program


def _manner(found: str) -> str:
    if not found:
        return ""
    head = found.split(":")[0]
    return head if head.isidentifier() else "differs"


def _first(candidates: list[Program], wanted: str, arch: str, level: str, seed: int) -> Program | None:
    for candidate, found in zip(candidates, compare(candidates, arch, level, seed), strict=True):
        if _manner(found) == wanted:
            return candidate
    return None
