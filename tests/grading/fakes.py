"""A bench whose kernels are Python functions, run thread by thread on bounds-checked memory.

It takes the place of the compiler and the virtual GPU, so that what the judge concludes can be tested alone.
`fake(function)` gives a bench; function(thread, *arguments) is called for each thread with `thread.x`, `.block`...
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gpulab.grading.case import Run, Value
from gpulab.records import AllocationNote, Fault, SourceLine


@dataclass
class Thread:
    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    block_size: tuple[int, int, int]
    grid: tuple[int, int, int]

    @property
    def number(self) -> int:
        return self.block[0] * self.block_size[0] + self.thread[0]


class Stopped(Exception):
    def __init__(self, kind, access, pointer, index):
        self.kind, self.access, self.pointer, self.index = kind, access, pointer, index


class Pointer:
    """`memory[offset + i]`, where memory is the whole allocation."""

    def __init__(self, memory, offset, address):
        self.memory, self.offset, self.address = memory, offset, address

    def _place(self, index, access):
        place = self.offset + index
        if not 0 <= place < len(self.memory):
            raise Stopped("out of bounds", access, self, index)
        return place

    def __getitem__(self, index):
        return self.memory[self._place(index, "read")]

    def __setitem__(self, index, value):
        self.memory[self._place(index, "write")] = value


@dataclass
class PythonKernel:
    function: object
    arch: str
    wave_size: int
    launches: list = field(default_factory=list)
    resources: dict = field(default_factory=dict)
    isa: dict = field(default_factory=dict)
    unset: tuple = ()

    def run(self, case, buffers, limit, checked=False, wanted=None, profiled=False):
        pointers, address = {}, 0x10000
        for buffer in buffers:
            data = buffer.contents.copy()
            pointers[buffer.array.name] = Pointer(data, buffer.guard, address)
            address += 0x100000
        arguments = [a.value if isinstance(a, Value) else pointers[a.name] for a in case.arguments]
        fault = None
        self.launches.append(case)
        try:
            for block in _all(case.grid):
                for thread in _all(case.block):
                    self.function(Thread(block, thread, case.block, case.grid), *arguments)
        except Stopped as stop:
            size = stop.pointer.memory.itemsize
            start = stop.pointer.address
            fault = Fault(
                stop.kind, "fake", SourceLine("fake.hip", 3, 0, "the line"), "fake", block, 0, 0, thread,
                start + (stop.pointer.offset + stop.index) * size, size, stop.access,
                AllocationNote(start, stop.pointer.memory.nbytes, "after", 0),
            )  # fmt: skip
        except TimeoutError:
            fault = Fault("timeout", "fake", SourceLine("fake.hip", 7), "s_branch", (0, 0, 0), 0, None, None)
        after = {name: pointer.memory for name, pointer in pointers.items()}
        addresses = {
            name: pointer.address + pointer.offset * pointer.memory.itemsize for name, pointer in pointers.items()
        }
        return Run(after, fault, (), addresses)

    def close(self):
        pass


class PythonBench:
    """`functions` by architecture, or one for all."""

    def __init__(self, function, **by_arch):
        self.function, self.by_arch, self.prepared = function, by_arch, []

    def prepare(self, source, exercise, arch, first_line=1):
        kernel = PythonKernel(self.by_arch.get(arch, self.function), arch, 64 if arch == "gfx942" else 32)
        self.prepared.append(kernel)
        return kernel


def _all(shape):
    return [(x, y, z) for z in range(shape[2]) for y in range(shape[1]) for x in range(shape[0])]
