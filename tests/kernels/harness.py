"""What a test of the corpus calls: `Gpu`, callable with a source and arguments, `levels`, and sample data.

    out, = gpu(SOURCE, x, Out(100, "float32"), 3.0, grid=4, block=64)

Arrays are copied to the device; after the launch all of them come back, in order. `kernel=` names the kernel where
the source has several; `gpu.module(SOURCE)` is for pipelines of launches.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gpulab

ARCHITECTURES = {"gfx942": 64, "gfx1100": 32}

Dim = int | tuple[int, ...]


def levels(*options: str) -> pytest.MarkDecorator:
    """Run a test with these compiler options as well as with -O3."""
    return pytest.mark.levels(*(options or ("-O0", "-O1", "-Os")))


class Gpu:
    """One virtual GPU and the compiler options of this test."""

    def __init__(self, arch: str, options: tuple[str, ...]) -> None:
        self.arch, self.options, self.wave = arch, options, ARCHITECTURES[arch]

    @classmethod
    def opened(cls, arch: str, options: tuple[str, ...]) -> Iterator[Gpu]:
        with gpulab.using(f"virtual:{arch}"):
            yield cls(arch, options)

    def module(self, source: str, *options: str, names: tuple[str, ...] = ()) -> gpulab.Module:
        return gpulab.compile(source, options=[*self.options, *options], name_expressions=names)

    def __call__(
        self, source: str, *arguments: Any, grid: Dim = 1, block: Dim = 64, lds: int = 0, kernel: str = "",
        options: tuple[str, ...] = (),
    ) -> tuple[np.ndarray, ...]:  # fmt: skip
        """One launch of one kernel; the arrays among the arguments as they are afterwards."""
        module = self.module(source, *options)
        chosen = module[kernel] if kernel else module.kernels[0]
        values = [gpulab.to_device(a) if isinstance(a, np.ndarray) else a for a in arguments]
        chosen[grid, block, lds](*values)
        return tuple(v.to_host() for v in values if isinstance(v, gpulab.DeviceArray))


def random(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def integers(count: Any, low: int = -1000, high: int = 1000, dtype: str = "int32", seed: int = 1) -> np.ndarray:
    return random(seed).integers(low, high, count, endpoint=False).astype(dtype)


def words(count: Any, dtype: str = "uint32", seed: int = 2) -> np.ndarray:
    """Integers of all bits."""
    info = np.iinfo(dtype)
    return random(seed).integers(info.min, info.max, count, dtype=dtype, endpoint=True)


def floats(count: Any, low: float = -1.0, high: float = 1.0, dtype: str = "float32", seed: int = 3) -> np.ndarray:
    return random(seed).uniform(low, high, count).astype(dtype)


def zeros(count: Any, dtype: str = "int32") -> np.ndarray:
    return np.zeros(count, dtype)
