"""What a test of the corpus calls: `Gpu`, callable with a source and arguments, `levels`, and sample data.

    out, = gpu(SOURCE, x, Out(100, "float32"), 3.0, grid=4, block=64)

Arrays are copied to the device; after the launch all of them come back, in order. `kernel=` names the kernel where
the source has several; `gpu.module(SOURCE)` is for pipelines of launches.

The environment variable GPULAB_CORPUS names the architectures that the corpus runs on ("gfx90a,gfx1201") in place of
the two default ones, GPULAB_CORPUS_OPTIONS the compiler options in place of -O3 and those of `levels` ("-O0"). With
GPULAB_CORPUS_SOURCES nothing is compiled: the sources are written to that file, a JSON text to each line. With
GPULAB_CORPUS_FOREIGN=1 what gpulab keeps in a code object is taken out, so that its machine code is read back.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gpulab
from gpulab import architectures

if "GPULAB_CORPUS" in os.environ:
    names = dict.fromkeys([*os.environ["GPULAB_CORPUS"].split(","), "gfx942", "gfx1100"])
    os.environ["GPULAB_DEVICES"] = ",".join(names)  # some tests choose one of the two themselves
ARCHITECTURES = {
    name: architectures.get(name).wave_size for name in os.environ.get("GPULAB_CORPUS", "gfx942,gfx1100").split(",")
}
OPTIONS = tuple(os.environ.get("GPULAB_CORPUS_OPTIONS", "").split())
SOURCES = os.environ.get("GPULAB_CORPUS_SOURCES", "")
FOREIGN = bool(os.environ.get("GPULAB_CORPUS_FOREIGN"))

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
        if SOURCES:
            return Noted(source, names)  # type: ignore[return-value]
        made = gpulab.compile(source, options=[*self.options, *options], name_expressions=names)
        return foreign(made) if FOREIGN else made

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


def foreign(module: gpulab.Module) -> gpulab.Module:
    """The module as another compiler would have made it: its ELF without the sections that gpulab reads."""
    from dataclasses import replace

    from gpulab import toolchain
    from gpulab.toolchain import code_object

    elf = module._code.elf
    for name in (code_object.ASSEMBLY_SECTION, code_object.META_SECTION):
        elf = elf.replace(name.encode(), b"." + b"x" * (len(name) - 1))
    read = toolchain.CodeObject.from_elf(elf)
    # Names and types of parameters stand in the source alone.
    kernels, names = module._code.kernels, module._code.name_expressions
    return gpulab.Module(replace(read, kernels=kernels, name_expressions=names, source=module._code.source))


class Noted:
    """In place of a module: writes its source to the file SOURCES, and its kernels do nothing."""

    def __init__(self, source: str, names: tuple[str, ...]) -> None:
        with open(SOURCES, "a", encoding="utf-8") as file:
            file.write(json.dumps([source, names]) + "\n")
        self.launches = 0

    def __getitem__(self, _: Any) -> Noted:
        return self

    @property
    def kernels(self) -> list[Noted]:
        return [self]

    def __call__(self, *_: Any) -> None:
        self.launches += 1
        assert self.launches < 100, "the test waits for a result"


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
