"""Runs a kernel of a test: on the slow, obvious machine of gpulab/virtual_gpu/reference, or as learners do.

`run("gfx942", ...)` is the reference machine; `run("gfx942 device", ...)` goes through gpulab's own interface to the
virtual GPU. `ARCHITECTURES` names both forms of both architectures, with their wave sizes.
"""

from __future__ import annotations

import functools
import struct
from typing import Any

import numpy as np

import gpulab
from gpulab import toolchain
from gpulab.virtual_gpu import dispatch
from gpulab.virtual_gpu.isa import assembly
from gpulab.virtual_gpu.isa.instruction import Program
from gpulab.virtual_gpu.machine import printf
from gpulab.virtual_gpu.reference.machine import Workgroup
from gpulab.virtual_gpu.reference.memory import Regions, load

ARCHITECTURES = {"gfx942": 64, "gfx1100": 32, "gfx942 device": 64, "gfx1100 device": 32}
PRINTF_BYTES = 16384


@functools.lru_cache(maxsize=64)
def program(source: str, arch: str) -> Program:
    code = toolchain.compile(source, arch=arch)
    return assembly.parse(code.assembly, guarantees=code.guarantees)


def run(arch: str, source: str, *arguments: Any, grid: tuple[int, ...] = (1,), block: tuple[int, ...] = (64,),
        lds: int = 0) -> tuple[list[np.ndarray], list[str]]:  # fmt: skip
    """Launch the only kernel of `source`. Arrays are copied in and come back; also what was printed."""
    arch, _, machine = arch.partition(" ")
    if machine:
        return _run_on_device(arch, source, arguments, grid, block, lds)
    unit = program(source, arch)
    ((name, descriptor),) = unit.kernels.items()
    size = lambda given: (*given, 1, 1)[:3]  # noqa: E731
    groups, threads = size(grid), size(block)
    memory = Regions()
    addresses = load(unit, memory)
    explicit = [a for a in descriptor.arguments if not a.kind.startswith("hidden")]
    segment, places = bytearray(descriptor.kernarg_size), []
    for argument, value in zip(explicit, arguments, strict=True):
        if isinstance(value, np.ndarray):
            address = memory.allocate(value.tobytes())
            places.append((address, value))
            segment[argument.offset : argument.offset + 8] = struct.pack("<Q", address)
        else:
            segment[argument.offset : argument.offset + argument.size] = value.tobytes()
    printed = memory.allocate(printf.header(PRINTF_BYTES).ljust(PRINTF_BYTES, b"\0"))
    kernarg = dispatch.fill_kernarg(descriptor, bytes(segment), groups, threads, lds, printf_buffer=printed)
    kernarg_address = memory.allocate(kernarg)
    packet = memory.allocate(
        dispatch.dispatch_packet(descriptor, groups, threads, kernarg_address=kernarg_address, dynamic_lds=lds)
    )
    for z in range(groups[2]):
        for y in range(groups[1]):
            for x in range(groups[0]):
                Workgroup(
                    unit, name, memory=memory, grid=groups, block=threads, kernarg=kernarg,
                    kernarg_address=kernarg_address, workgroup=(x, y, z), lds=lds, addresses=addresses,
                    dispatch_ptr=packet,
                ).run()  # fmt: skip
    results = [np.frombuffer(memory.read(address, value.nbytes), value.dtype).copy() for address, value in places]
    return results, printf.decode(memory.read(printed, PRINTF_BYTES), unit.printf_formats)


def _run_on_device(
    arch: str, source: str, arguments: tuple[Any, ...], grid: tuple[int, ...], block: tuple[int, ...], lds: int
) -> tuple[list[np.ndarray], list[str]]:
    with gpulab.using(arch):
        module = gpulab.compile(source)
        (kernel,) = module.kernels
        values = [gpulab.to_device(a) if isinstance(a, np.ndarray) else a for a in arguments]
        with gpulab.profile() as run:
            kernel[grid, block, lds](*values)
        arrays = [v.to_host() for a, v in zip(arguments, values, strict=True) if isinstance(a, np.ndarray)]
        return arrays, run.launches[0].printed.splitlines(keepends=True)
