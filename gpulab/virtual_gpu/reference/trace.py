"""`trace` runs one workgroup on the reference machine and records the life of one of its waves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gpulab.errors import KernelFault
from gpulab.records import Trace, TraceInstruction, TraceStep
from gpulab.virtual_gpu.isa.instruction import Program
from gpulab.virtual_gpu.machine import dispatch
from gpulab.virtual_gpu.reference.machine import VGPRS, Wave, Workgroup
from gpulab.virtual_gpu.reference.memory import DeviceMemory


def _scalars(wave: Wave) -> dict[str, int]:
    names = {f"s{i}": value for i, value in enumerate(wave.s)}
    for name in ("vcc", "exec", "m0", "scc", "mode"):
        names[name] = getattr(wave, name)
    return names


def trace(
    program: Program,
    kernel: str,
    *,
    memory: DeviceMemory,
    grid: dispatch.Dim3,
    block: dispatch.Dim3,
    kernarg: bytes,
    kernarg_address: int,
    workgroup: dispatch.Dim3 = (0, 0, 0),
    wave: int = 0,
    lds: int = 0,
    max_steps: int = 100_000,
    addresses: Mapping[str, int] | None = None,
    dispatch_ptr: int = 0,
    queue_ptr: int = 0,
) -> Trace:
    """Run one workgroup and record one of its waves, instruction by instruction.

    The workgroup really runs, up to the end of that wave: it reads and writes `memory`. `kernarg` is the whole
    segment (dispatch.fill_kernarg) and lies at `kernarg_address`. After `max_steps` recorded steps the trace ends,
    `truncated`. A kernel fault ends the trace at the faulting instruction and is not raised: the launch itself
    reports it.
    """
    group = Workgroup(
        program, kernel, memory=memory, grid=grid, block=block, kernarg=kernarg, kernarg_address=kernarg_address,
        workgroup=workgroup, lds=lds, addresses=addresses, dispatch_ptr=dispatch_ptr, queue_ptr=queue_ptr,
    )  # fmt: skip
    if not 0 <= wave < len(group.waves):
        raise ValueError(f"wave {wave} of a workgroup with {len(group.waves)} waves")
    steps: list[TraceStep] = []
    truncated = False
    registers = min(VGPRS, max(group.descriptor.vgprs, 32) + 64)

    def watch(running: Wave, index: int) -> Callable[[], bool]:
        if running.number != wave:
            return lambda: False
        mask = running.exec & running.full
        vectors, accumulators, scalars = running.v[:registers].copy(), running.a[:registers].copy(), _scalars(running)

        def after() -> bool:
            nonlocal truncated
            changes: dict[str, int | tuple[int, ...]] = {}
            for file, before, now in (("v", vectors, running.v), ("a", accumulators, running.a)):
                for i in np.flatnonzero((before != now[:registers]).any(axis=1)).tolist():
                    changes[f"{file}{i}"] = tuple(now[i].tolist())
            changes.update({name: value for name, value in _scalars(running).items() if value != scalars[name]})
            steps.append(TraceStep(index, mask, changes))
            truncated = len(steps) >= max_steps and not running.done
            return truncated or running.done

        return after

    try:
        group.run(max_steps=max_steps * max(2, 2 * len(group.waves)), watch=watch, first=wave)
    except KernelFault as stopped:
        fault = stopped.fault
        assert fault is not None
        if fault.kind == "timeout":
            truncated = True
        elif fault.wave == wave:
            traced = group.waves[wave]
            steps.append(TraceStep(traced.pc - 1, traced.exec & traced.full, {}))
    first, last = _extent(program, kernel, steps)
    instructions = tuple(
        TraceInstruction(item.text, item.where, _meaning(group.table.get(item.mnemonic)))
        for item in program.instructions[first:last]
    )
    shifted = tuple(TraceStep(s.instruction - first, s.exec_mask, s.changes) for s in steps)
    return Trace(
        kernel=program.kernels[kernel].source_name or kernel,
        arch=program.arch,
        wave_size=program.wave_size,
        workgroup=workgroup,
        wave=wave,
        instructions=instructions,
        steps=shifted,
        source="\n".join(program.sources.values()) if len(program.sources) == 1 else _source(program, instructions),
        truncated=truncated,
    )


def _extent(program: Program, kernel: str, steps: Sequence[TraceStep]) -> tuple[int, int]:
    """The instructions to show: the kernel, widened to every function that the wave went through."""
    first, last = program.functions.get(kernel, (program.kernels[kernel].entry, len(program.instructions)))
    for index in {step.instruction for step in steps}:
        if not first <= index < last:
            around = next((f for f in program.functions.values() if f[0] <= index < f[1]), (index, index + 1))
            first, last = min(first, around[0]), max(last, around[1])
    return first, last


def _meaning(row: Any) -> str:
    """The first sentence of a row's docstring."""
    text = " ".join(str(getattr(row, "meaning", "") or "").split())
    return text


def _source(program: Program, instructions: Sequence[TraceInstruction]) -> str:
    files = [i.where.file for i in instructions if i.where is not None]
    return program.sources.get(max(set(files), key=files.count), "") if files else ""
