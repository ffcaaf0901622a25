"""Runs a kernel of a test on the slow, obvious machine of gpulab/virtual_gpu/reference: no GPU, no translation."""

from __future__ import annotations

import functools
import struct
from typing import Any

import numpy as np

from gpulab import toolchain
from gpulab.virtual_gpu.isa import assembly
from gpulab.virtual_gpu.isa.instruction import Program
from gpulab.virtual_gpu.machine import dispatch, printf
from gpulab.virtual_gpu.reference.machine import Workgroup
from gpulab.virtual_gpu.reference.memory import Regions, load

ARCHITECTURES = {"gfx942": 64, "gfx1100": 32}  # with their wave sizes
PRINTF_BYTES = 65536


@functools.lru_cache(maxsize=64)
def program(source: str, arch: str) -> Program:
    return assembly.parse(toolchain.compile(source, arch=arch).assembly)


def run(arch: str, source: str, *arguments: Any, grid: tuple[int, ...] = (1,), block: tuple[int, ...] = (64,),
        lds: int = 0) -> tuple[list[np.ndarray], list[str]]:  # fmt: skip
    """Launch the only kernel of `source`. Arrays are copied in and come back; also what was printed."""
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
