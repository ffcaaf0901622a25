"""`trace` runs one workgroup on the reference machine and records the life of one of its waves."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from gpulab import architectures
from gpulab.errors import KernelFault
from gpulab.records import Fault, MemoryRange, Trace, TraceAccess, TraceInstruction, TraceStep
from gpulab.virtual_gpu import dispatch
from gpulab.virtual_gpu.isa import waits, words
from gpulab.virtual_gpu.isa.instruction import Program, Symbol
from gpulab.virtual_gpu.isa.row import AnyRow, Control, CrossLane, Image, Matrix, Memory, Row, works_by_lane
from gpulab.virtual_gpu.reference.machine import Workgroup
from gpulab.virtual_gpu.reference.memory import DeviceMemory
from gpulab.virtual_gpu.reference.state import SGPRS, VGPRS, Touch, Wave

_SPECIALS = ("vcc", "exec", "m0", "scc", "mode")
_SCALARS = (*(f"s{i}" for i in range(SGPRS)), *_SPECIALS)


def _scalars(wave: Wave) -> list[int]:
    """All scalar registers, in the order of `_SCALARS`."""
    return [*wave.s, wave.vcc, wave.exec, wave.m0, wave.scc, wave.mode]


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
    ranges: Sequence[MemoryRange] = (),
) -> Trace:
    """Run one workgroup and record one of its waves, instruction by instruction.

    The workgroup really runs, up to the end of that wave: it reads and writes `memory`. `kernarg` is the whole
    segment (dispatch.fill_kernarg) and lies at `kernarg_address`. After `max_steps` recorded steps the trace ends,
    `truncated`. A kernel fault ends the trace at the faulting instruction and is not raised: the launch itself
    reports it, and `Trace.fault` has it if it is this wave's. Of `ranges`, the allocations that the kernel can reach,
    the trace keeps those that it touched.
    """
    group = Workgroup(
        program, kernel, memory=memory, grid=grid, block=block, kernarg=kernarg, kernarg_address=kernarg_address,
        workgroup=workgroup, lds=lds, addresses=addresses, dispatch_ptr=dispatch_ptr, queue_ptr=queue_ptr,
    )  # fmt: skip
    if not 0 <= wave < len(group.waves):
        raise ValueError(f"wave {wave} of a workgroup with {len(group.waves)} waves")
    steps: list[TraceStep] = []
    truncated = False
    fault: Fault | None = None
    registers = min(VGPRS, max(group.descriptor.vgprs, 32) + 64)
    traced = group.waves[wave]
    start = _start(traced, registers)
    touched: list[Touch] = []
    group.touched, group.followed = touched, wave
    before_v, before_a = traced.v[:registers].copy(), traced.a[:registers].copy()

    def others() -> bool:
        return False

    def watch(running: Wave, index: int) -> Callable[[], bool]:
        if running is not traced:
            return others
        mask = running.exec & running.full
        scalars = _scalars(running)

        def after() -> bool:
            nonlocal truncated
            changes: dict[str, int | tuple[int, ...]] = {}
            for file, before, whole in (("v", before_v, running.v), ("a", before_a, running.a)):
                now = whole[:registers]
                differs = before != now
                if differs.any():
                    for i in np.flatnonzero(differs.any(axis=1)).tolist():
                        changes[f"{file}{i}"] = tuple(now[i].tolist())
                        before[i] = now[i]
            found = _scalars(running)
            if found != scalars:
                for name, was, is_now in zip(_SCALARS, scalars, found, strict=True):
                    if was != is_now:
                        changes[name] = is_now
            accesses, lds = _touches(touched, wave) if touched else ((), ())
            steps.append(TraceStep(index, mask, changes, accesses, lds))
            truncated = len(steps) >= max_steps and not running.done
            return truncated or running.done

        return after

    try:
        group.run(max_steps=max_steps * max(2, 2 * len(group.waves)), watch=watch, first=wave)
    except KernelFault as stopped:
        found = stopped.fault
        if found is None or found.kind == "timeout":
            truncated = True
        elif found.wave == wave:
            fault = found
            touches, stored = _touches(touched, wave)
            steps.append(TraceStep(traced.pc - 1, traced.exec & traced.full, {}, touches, stored))
    first, last = _extent(program, kernel, steps)
    instructions = _instructions(program, group.table, first, last)
    shifted = tuple(replace(s, instruction=s.instruction - first) for s in steps) if first else tuple(steps)
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
        files=dict(program.sources),
        start=start,
        lds_bytes=len(group.lds),
        fault=fault,
        memory=_reached(steps, ranges),
    )


def _start(wave: Wave, registers: int) -> dict[str, int | tuple[int, ...]]:
    """The registers of a wave that are not 0."""
    found: dict[str, int | tuple[int, ...]] = {}
    for file, values in (("v", wave.v), ("a", wave.a)):
        for i in np.flatnonzero(values[:registers].any(axis=1)).tolist():
            found[f"{file}{i}"] = tuple(values[i].tolist())
    found.update((name, value) for name, value in zip(_SCALARS, _scalars(wave), strict=True) if value)
    return found


def _touches(touched: list[Touch], wave: int) -> tuple[tuple[TraceAccess, ...], tuple[tuple[int, bytes], ...]]:
    """What the wave touched, by space and action, and what was written to LDS by any; `touched` is empty then."""
    own: dict[tuple[str, str, int, bool, int], list[tuple[int | None, int, int]]] = {}
    lds: list[tuple[int, bytes]] = []
    seen: dict[tuple[int | None, str, str], int] = {}
    for touch in touched:
        aperture, address = touch.address & dispatch.APERTURE_MASK, touch.address
        space = {dispatch.SHARED_APERTURE: "lds", dispatch.PRIVATE_APERTURE: "scratch"}.get(aperture, "global")
        if touch.lane is None:
            space = "global"
        if space != "global":
            address &= 0xFFFFFFFF
        if space == "lds" and touch.access != "read":
            lds.append((address, touch.bits.to_bytes(touch.size, "little")))
        if touch.wave != wave:
            continue
        # The second address of a two-address instruction is an access of its own.
        which = touch.lane, space, touch.access
        turn = seen[which] = seen.get(which, -1) + 1
        key = space, touch.access, touch.size, touch.lane is None, turn
        own.setdefault(key, []).append((touch.lane, address, touch.bits))
    touched.clear()
    accesses = []
    for (space, action, size, _, turn), rows in own.items():
        if (
            action == "atomic"
            and turn % 2 == 0
            and any((space, action, size, s, turn + 1) in own for s in (True, False))
        ):
            continue  # the read of a read-modify-write; the write that follows has the value
        lanes = tuple(lane for lane, _, _ in rows if lane is not None)
        accesses.append(
            TraceAccess(space, action, size, lanes, tuple(row[1] for row in rows), tuple(row[2] for row in rows))
        )
    return tuple(accesses), tuple(_joined(lds))


def _joined(pieces: Sequence[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    """Pieces that follow each other, in order, as one."""
    joined: list[tuple[int, list[bytes]]] = []
    end = -1
    for offset, data in pieces:
        if offset == end:
            joined[-1][1].append(data)
        else:
            joined.append((offset, [data]))
        end = offset + len(data)
    return [(offset, b"".join(parts)) for offset, parts in joined]


def _reached(steps: Sequence[TraceStep], ranges: Sequence[MemoryRange]) -> tuple[MemoryRange, ...]:
    """The allocations that accesses of these steps lie in, by address; the kernel arguments come last, since their
    place among the others depends on what was allocated before."""
    ordered = sorted(ranges, key=lambda r: r.address)
    starts = [r.address for r in ordered]
    found: set[int] = set()
    for address in {a for s in steps for access in s.accesses if access.space == "global" for a in access.addresses}:
        place = bisect.bisect_right(starts, address) - 1
        if place >= 0 and address < ordered[place].address + ordered[place].size:
            found.add(place)
    return tuple(sorted((ordered[place] for place in sorted(found)), key=lambda r: r.name == "kernel arguments"))


def _instructions(program: Program, table: Mapping[str, AnyRow], first: int, last: int) -> tuple[TraceInstruction, ...]:
    """The instructions from `first` to before `last`, in words too."""
    labels: dict[int, list[str]] = {}
    for name, index in program.labels.items():
        if not name.startswith(".Lfunc_end"):  # the compiler's mark of where another function ended
            labels.setdefault(index, []).append(name)
    made = []
    architecture = architectures.get(program.arch)
    for index in range(first, last):
        item = program.instructions[index]
        row = table.get(item.mnemonic)
        meaning, operands = words.sentence(item, row), words.operands(item, row)
        returns = any(operand.written for operand in operands)
        if item.pair is not None:
            other = table.get(item.pair.mnemonic)
            meaning += f" At the same time: {words.sentence(item.pair, other)}"
            operands += words.operands(item.pair, other)
        target = None
        if isinstance(row, Control):
            names = [o.value.name for o in item.operands if isinstance(o.value, Symbol)]
            place = program.labels.get(names[0]) if names else None
            target = place - first if place is not None and first <= place < last else None
        made.append(
            TraceInstruction(
                item.text,
                item.where,
                meaning,
                _kind(row),
                operands,
                " ".join(labels.get(index, ())),
                target,
                row is not None and works_by_lane(row),
                waits.raised(row, returns, architecture),
                waits.any_order(row),
                waits.allowed(item, row),
            )
        )
    return tuple(made)


def _kind(row: AnyRow | None) -> str:
    if isinstance(row, Row):
        return "scalar" if row.unit == "salu" else "vector"
    if isinstance(row, Control):
        return row.kind
    return {Memory: "memory", Image: "memory", CrossLane: "cross-lane", Matrix: "matrix"}.get(type(row), "")


def _extent(program: Program, kernel: str, steps: Sequence[TraceStep]) -> tuple[int, int]:
    """The instructions to show: the kernel, widened to every function that the wave went through."""
    first, last = program.functions.get(kernel, (program.kernels[kernel].entry, len(program.instructions)))
    for index in {step.instruction for step in steps}:
        if not first <= index < last:
            around = next((f for f in program.functions.values() if f[0] <= index < f[1]), (index, index + 1))
            first, last = min(first, around[0]), max(last, around[1])
    return first, last


def _source(program: Program, instructions: Sequence[TraceInstruction]) -> str:
    files = [i.where.file for i in instructions if i.where is not None]
    return program.sources.get(max(set(files), key=files.count), "") if files else ""
