"""A machine for tests of the runtime alone: kernels are Python functions, found by the kernel's name."""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass
from typing import Any

from gpulab.records import Counters, Fault, Launch, SourceLine
from gpulab.virtual_gpu.machine.finished import Complete


@dataclass
class FakeKernel:
    descriptor: Any

    @property
    def title(self):
        return self.descriptor.name


class FakeModule:
    def __init__(self, device, program):
        self.kernels = {name: FakeKernel(descriptor) for name, descriptor in program.kernels.items()}
        self.symbols = {}
        self._device = device
        for name, data in program.data.items():
            if not data.is_lds:
                address = device.arena.allocate(data.size, "global", device.index, name)
                ctypes.memmove(address, data.contents, len(data.contents))
                self.symbols[name] = (address, data.size)

    def unload(self):
        for address, _ in self.symbols.values():
            self._device.arena.free(address)


class FakeDevice:
    """Runs `KERNELS`; every launch takes 10 microseconds. `launches` keeps (kernel, grid, block, lds, kernarg)."""

    def __init__(self, architecture, arena, index):
        self.architecture, self.arena, self.index = architecture, arena, index
        self.launches = []

    def load(self, program):
        return FakeModule(self, program)

    def run(self, kernel, grid, block, dynamic_lds, kernarg, *, collect="default", limit=None, **more):
        name = kernel.descriptor.name
        self.launches.append((name, grid, block, dynamic_lds, kernarg, collect, limit))
        action = next((value for key, value in KERNELS.items() if key in name), None)
        fault, printed = action(self, grid, block, kernarg) if action else (None, "")
        waves = self.architecture.waves(block[0] * block[1] * block[2]) * grid[0] * grid[1] * grid[2]
        record = Launch(
            kernel=name,
            arch=self.architecture.name,
            device=self.index,
            grid=grid,
            block=block,
            lds_bytes=kernel.descriptor.lds_bytes + dynamic_lds,
            waves=waves,
            counters=Counters({"SQ_WAVES": waves}),
            measured_us=10.0,
            printed=printed,
            fault=fault,
        )
        return Complete(record)

    def trace(self, kernel, grid, block, dynamic_lds, kernarg, which, **more):
        return "trace"


def fault_of(kernel, kind="out of bounds", address=0x1000):
    return Fault(
        kind=kind,
        kernel=kernel,
        where=SourceLine("cell.hip", 3, 5, "y[i] = 1;"),
        instruction="global_store_dword v0, v1, s[0:1]",
        workgroup=(1, 0, 0),
        wave=0,
        lane=3,
        thread=(3, 0, 0),
        address=address,
        bytes=4,
        access="write",
    )


def _saxpy(device, grid, block, kernarg):
    n, a, x, y = struct.unpack_from("<ifQQ", kernarg)
    xs, ys = (ctypes.c_float * n).from_address(x), (ctypes.c_float * n).from_address(y)
    for i in range(n):
        ys[i] += a * xs[i]
    return None, ""


KERNELS = {
    "saxpy": _saxpy,
    "faulty": lambda *_: (fault_of("faulty"), ""),
    "endless": lambda *_: (fault_of("endless", "timeout", None), ""),
    "trapping": lambda *_: (fault_of("trapping", "trap", None), ""),
    "chatty": lambda *_: (None, "hello from the device\n"),
}
