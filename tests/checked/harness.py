"""Kernels with planted faults, and near-misses: `cases` reads them from a source file, `run` launches one checked.

Each kernel stands under a line that says what is to happen::

    //@ race block=128 grid=2 on=gfx942 args=z256,e64,5 text=shared,__syncthreads

"clean", or the kind of the finding; sizes of the launch (block 64 and grid 1 unless given; lds=: dynamic shared
memory); the architectures (both unless given); the arguments: z zeros, e empty, r 0 1 2 ..., u ones of as many
float32 (after i: int32, w: uint32, q: uint64, b: bytes, d: float64), n null, or a whole number; words that the message
must have. The lines that the finding has to name end in a comment <1> (where the kernel is stopped or what came before)
and <2> (the other side).
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np

import gpulab

HERE = Path(__file__).resolve().parent
ARCHITECTURES = ("gfx942", "gfx1100")


@dataclass(frozen=True)
class Case:
    """One kernel of a source file and what is to happen."""

    file: str
    kernel: str
    kind: str
    lines: tuple[int, ...]
    settings: dict[str, str] = field(hash=False)

    def __str__(self) -> str:
        return self.kernel


@cache
def cases(file: str) -> tuple[Case, ...]:
    """The kernels of a file in this folder."""
    text = (HERE / file).read_text()
    lines = text.split("\n")
    found = []
    heads = [n for n, line in enumerate(lines) if line.startswith("//@")] + [len(lines)]
    for start, end in pairwise(heads):
        kind, *given = shlex.split(lines[start][3:])
        body = "\n".join(lines[start:end])
        name = re.search(r"__global__[^(;]*?(\w+)\s*\(", re.sub(r"__launch_bounds__\(\d+\)", "", body))
        assert name, body
        marked = tuple(n + 1 for n in range(start, end) if re.search(r"// <[12]>", lines[n]))
        settings = dict(word.split("=", 1) for word in given)
        found.append(Case(file, name[1], kind.replace("-", " "), marked, settings))
    return tuple(found)


def table(file: str) -> list[tuple[str, Case]]:
    """(architecture, case) of a file, for parametrize."""
    return [
        (arch, case) for case in cases(file) for arch in case.settings.get("on", ",".join(ARCHITECTURES)).split(",")
    ]


@cache
def module(file: str, arch: str, options: tuple[str, ...] = ()) -> gpulab.Module:
    with gpulab.using(f"virtual:{arch}"):
        return gpulab.compile((HERE / file).read_text(), name=file, options=options)


def _argument(text: str) -> object:
    if text == "n":
        return None
    match = re.fullmatch(r"([ibwdq]?)([zeru])(\d+)", text)
    if match is None:
        return int(text)
    dtype = {"": "float32", "i": "int32", "b": "uint8", "w": "uint32", "d": "float64", "q": "uint64"}[match[1]]
    size = int(match[3])
    if match[2] == "e":
        return gpulab.empty(size, dtype)
    values = {"z": np.zeros(size), "r": np.arange(size), "u": np.ones(size)}[match[2]]
    return gpulab.to_device(values.astype(dtype))


def _extent(text: str) -> tuple[int, ...]:
    return tuple(int(n) for n in text.split("x"))


def results(case: Case, arch: str) -> list[bytes]:
    """What is in a case's arrays after its kernel was launched."""
    arguments = _arguments(case)
    _launch(case, module(case.file, arch)[case.kernel], arguments)
    return [each.to_host().tobytes() for each in arguments if isinstance(each, gpulab.DeviceArray)]


def run(case: Case, arch: str, options: tuple[str, ...] = ()) -> gpulab.KernelFault | None:
    """Launch a case's kernel checked; the fault it was stopped for."""
    with gpulab.using(f"virtual:{arch}"):
        kernel = module(case.file, arch, options)[case.kernel]
        arguments = _arguments(case)
        with gpulab.checked():
            try:
                _launch(case, kernel, arguments)
            except gpulab.KernelFault as fault:
                return fault
    return None


def _arguments(case: Case) -> list[object]:
    return [_argument(word) for word in case.settings.get("args", "z256").split(",") if word]


def _launch(case: Case, kernel: gpulab.Kernel, arguments: list[object]) -> None:
    settings = case.settings
    grid, block = _extent(settings.get("grid", "1")), _extent(settings.get("block", "64"))
    if "cooperative" in settings:
        kernel.cooperative[grid, block](*arguments)
    else:
        kernel[grid, block, int(settings.get("lds", "0"))](*arguments)
