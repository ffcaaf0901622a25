"""`VirtualInstruments`: what hardware cannot do: traces, checked launches, costs of single instructions, fidelity."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence

from gpulab.architectures import Occupancy
from gpulab.providers import faults
from gpulab.providers.provider import Triple
from gpulab.records import (
    AccessCost,
    AllocationNote,
    Counters,
    Fidelity,
    InstructionCost,
    LastWriters,
    Launch,
    Trace,
)
from gpulab.virtual_gpu.runtime.runtime import Runtime


class VirtualInstruments:
    """The runtime's own ways in, beside HIP's interface."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def raise_fault(self) -> None:
        runtime = self._runtime
        if runtime.has_news() and runtime.surface_now():
            fault = runtime.take_fault()
            assert fault is not None
            raise faults.exception(fault)

    def trace(
        self, function: int, grid: Triple, block: Triple, lds: int, kernarg: bytes, workgroup: Triple, wave: int
    ) -> tuple[Launch, Trace]:
        return self._runtime.launch_traced(function, grid, block, lds, kernarg, workgroup, wave)

    @contextlib.contextmanager
    def checking(self) -> Iterator[None]:
        self._runtime.checking += 1
        try:
            yield
        finally:
            self._runtime.checking -= 1

    @contextlib.contextmanager
    def weakening(self, seed: int) -> Iterator[None]:
        before = self._runtime.weak
        self._runtime.weak = itertools.count(seed << 20)
        try:
            yield
        finally:
            self._runtime.weak = before

    def last_writers(self, address: int, size: int, count: int = 1) -> LastWriters:
        return self._runtime.last_writers(address, size, count)

    def occupancy(self, function: int, block_threads: int, lds: int = 0) -> Occupancy:
        return self._runtime.hardware_occupancy(function, block_threads, lds)

    def set_instruction_limit(self, limit: int | None) -> None:
        self._runtime.set_instruction_limit(limit)

    def renew(self, module: int) -> None:
        self._runtime.modules.renew(module)

    def apart(self, module: int) -> contextlib.AbstractContextManager[None]:
        return self._runtime.arena.apart(self._runtime.modules.module(module).loaded.memory())

    def find_allocation(self, address: int) -> AllocationNote | None:
        return self._runtime.arena.nearest(address)

    def counter_kinds(self, arch: str) -> Mapping[str, str]:
        from gpulab.virtual_gpu.machine import counters

        return {name: rule.kind for name, rule in counters.table(arch).items()}

    def part(self, launch: Launch, instructions: Sequence[InstructionCost], accesses: Sequence[AccessCost]) -> Launch:
        from gpulab import architectures
        from gpulab.virtual_gpu.machine import counters

        counts = (
            counters.part(architectures.get(launch.arch), instructions, accesses) if launch.time_is_modelled else {}
        )
        return dataclasses.replace(
            launch,
            counters=Counters(counts),
            instructions=tuple(instructions),
            accesses=tuple(accesses),
            lines=(),
            metrics={},
        )

    def fidelity(self, assembly: str, symbol: str, *, arch: str, name: str, sources: Mapping[str, str]) -> Fidelity:
        from gpulab.virtual_gpu.isa import assembly as text
        from gpulab.virtual_gpu.translate import fidelity as rows

        return rows.report(text.parse(assembly, sources=sources, arch=arch.partition(":")[0]), symbol, name)
