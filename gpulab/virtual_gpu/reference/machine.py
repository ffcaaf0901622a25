"""The slow, obvious machine: one workgroup, one instruction at a time, every lane a numpy element.

`Workgroup` runs its waves round-robin between barriers; `Execute` finds the module of an instruction's row: `scalar`,
`vector`, `accesses` (with `addresses`), `images`, `crosslane`, `matrix_rows`, `control`. These read and write by
`operands`, and
`state` has what they read and write. It is the second opinion for the translating machine, and makes traces
(`trace.py`), so it favours saying each rule once over speed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from gpulab.errors import KernelFault, KernelTimeout, KernelTrap, MemoryFault
from gpulab.records import Fault
from gpulab.virtual_gpu.isa.instruction import Instruction
from gpulab.virtual_gpu.isa.row import CrossLane, Image, Matrix, Memory, Row
from gpulab.virtual_gpu.reference.control import ControlRows
from gpulab.virtual_gpu.reference.crosslane import CrossLaneRows
from gpulab.virtual_gpu.reference.images import ImageRows
from gpulab.virtual_gpu.reference.matrix_rows import MatrixRows
from gpulab.virtual_gpu.reference.operands import Writes
from gpulab.virtual_gpu.reference.scalar import ScalarRows
from gpulab.virtual_gpu.reference.state import Group, Stop, Wave
from gpulab.virtual_gpu.reference.vector import VectorRows

SLICE = 4096


class Execute(ScalarRows, VectorRows, ImageRows, CrossLaneRows, MatrixRows, ControlRows):
    """Executes one instruction on one wave."""

    def run(self) -> None:
        """Do it; `wave.pc` already points to the next instruction, jumps overwrite it."""
        item = self.item
        writes = self.plan(item)
        if item.pair is not None:
            self.item = item.pair
            writes += self.plan(item.pair)
            self.item = item
        for write in writes:
            write()

    def plan(self, item: Instruction) -> Writes:
        row = self.machine.table.get(item.mnemonic)
        if row is None:
            raise self.unsupported("it has no row")
        if isinstance(row, Row):
            return self.scalar_row(row) if row.unit == "salu" else self.vector_row(row)
        if isinstance(row, Memory):
            return self.memory(row)
        if isinstance(row, CrossLane):
            return self.cross_lane(row)
        if isinstance(row, Matrix):
            return self.matrix(row)
        if isinstance(row, Image):
            return self.image(row)
        return self.control(row)


class Workgroup(Group):
    """A workgroup that runs; its arguments are those of `Group`. `executor` executes one instruction of a wave."""

    executor: type[Execute] = Execute

    def run(
        self,
        max_steps: int = 10_000_000,
        watch: Callable[[Wave, int], Callable[[], bool]] | None = None,
        first: int = 0,
    ) -> None:
        """Run to the end. Each wave runs until it ends, comes to a barrier or has had its `SLICE` of instructions, then
        the next one; wave number `first` begins.

        `watch(wave, index)` is called before each instruction and what it returns after it; True from that
        stops the run.

        Raises:
            MemoryFault, KernelTrap, KernelFault: the kernel did something that stops it; `.fault` has the record.
            KernelTimeout: more than `max_steps` wave instructions.
            UnsupportedInstruction: no row, or an operand form that has no meaning here.
        """
        order = self.waves[first:] + self.waves[:first]
        while not all(wave.done for wave in self.waves):
            for wave in order:
                until = wave.steps + SLICE
                while not wave.done and not wave.at_barrier and wave.steps < until:
                    if self.steps >= max_steps:
                        self.stop(wave, min(wave.pc, len(self.program.instructions) - 1), Stop("timeout"))
                    if self.step(wave, watch):
                        return
            if all(wave.done or wave.at_barrier for wave in self.waves):
                for wave in self.waves:
                    wave.at_barrier = False

    def step(self, wave: Wave, watch: Callable[[Wave, int], Callable[[], bool]] | None = None) -> bool:
        """One instruction of one wave."""
        index = wave.pc
        if index >= len(self.program.instructions):
            self.stop(wave, index - 1, Stop("bad jump", detail="the wave ran past the last instruction"))
        after = watch(wave, index) if watch is not None else None
        wave.pc = index + 1
        wave.steps += 1
        self.steps += 1
        try:
            self.executor(self, wave, self.program.instructions[index], index).run()
        except Stop as stop:
            self.stop(wave, index, stop)
        return after() if after is not None else False

    def stop(self, wave: Wave, index: int, stop: Stop) -> NoReturn:
        """Raise the fault that ends the kernel."""
        item = self.program.instructions[index]
        thread = None
        if stop.lane is not None:
            flat = wave.number * wave.size + stop.lane
            x, y, _ = self.block
            thread = (flat % x, flat // x % y, flat // (x * y))
        fault = Fault(
            kind=stop.kind,
            kernel=self.descriptor.source_name or self.descriptor.name,
            where=item.where,
            instruction=item.text,
            workgroup=self.workgroup,
            wave=wave.number,
            lane=stop.lane,
            thread=thread,
            address=stop.bad.address if stop.bad else None,
            bytes=stop.bad.size if stop.bad else 0,
            access=stop.access,
            nearest=stop.bad.nearest if stop.bad else None,
            detail=stop.detail,
        )
        kind: type[KernelFault] = {"timeout": KernelTimeout, "trap": KernelTrap, "bad jump": KernelFault}.get(
            stop.kind, MemoryFault
        )
        place = f"line {item.where.line}" if item.where else "an unknown line"
        what = f"kernel {fault.kernel}, {place}, workgroup {fault.workgroup}, wave {fault.wave}"
        what += f", lane {fault.lane}" if fault.lane is not None else ""
        address = f" at address {fault.address:#x}" if fault.address is not None else ""
        raise kind(f"{what}: {stop.kind}{address} in {item.text!r}.", why=stop.detail, fault=fault) from None
