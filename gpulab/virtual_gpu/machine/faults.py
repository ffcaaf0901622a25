"""What stopped a kernel, in words: `fault` makes records.Fault of what the support code wrote down."""

from __future__ import annotations

import ctypes

from gpulab.records import Fault
from gpulab.virtual_gpu import dispatch, isa
from gpulab.virtual_gpu.isa.instruction import Instruction, KernelDescriptor, Literal, Program, Register
from gpulab.virtual_gpu.isa.row import Memory, Row
from gpulab.virtual_gpu.machine.loading import Code, Dim3, LoadedKernel
from gpulab.virtual_gpu.machine.native.context import NONE
from gpulab.virtual_gpu.machine.native.structures import FaultStruct
from gpulab.virtual_gpu.translate import layout
from gpulab.virtual_gpu.translate.decode import Decoded

_STACK = Register("s", 32)
"""The top of the stack of functions (LLVM, calling convention)."""


def _growth(program: Program, instruction: Instruction) -> int:
    """What an instruction adds to the top of the stack; 0 for others."""
    row = isa.table(program.arch).get(instruction.mnemonic)
    *places, step = (operand.value for operand in instruction.operands) if instruction.operands else (None,)
    if not isinstance(row, Row) or not places or set(places) != {_STACK} or not isinstance(step, Literal):
        return 0
    return int(step.value) if row.graph()[1][0].op == "add" else 0


def stack_overflow(program: Program, kernel: KernelDescriptor, decoded: Decoded, room: int) -> str:
    """What to say of an access beyond scratch if it is one to a function's own frame; "" if it is not.

    Frames are addressed by s32 and s33 alone (LLVM, "User Guide for AMDGPU Backend", calling convention), so that a
    frame beyond the end means calls without an end; an index that is too large stands in a vector register.
    """
    operands, row = decoded.instruction.operands, decoded.row
    frame = any(isinstance(o.value, Register) and o.value.file == "s" and o.value.index in (32, 33) for o in operands)
    by_buffer = isinstance(row, Memory) and row.space == "buffer"
    address = operands[1 if by_buffer or (isinstance(row, Memory) and row.action == "load") else 0].value
    if not kernel.uses_dynamic_stack or not frame or (isinstance(address, Register) and address.file == "v"):
        return ""
    for name, (first, past) in program.functions.items():
        if not first <= decoded.index < past or name in program.kernels:
            continue
        for instruction in program.instructions[first:past]:
            size = _growth(program, instruction)
            if size > 0:
                if by_buffer:  # the stack of a wave is counted
                    size //= program.wave_size
                return (
                    f"{name}: each call keeps {size:,} bytes, so that its {room:,} bytes are full after about "
                    f"{room // max(size, 1):,} calls"
                )
        return f"{name}: the stack has {room:,} bytes"
    return f"the stack has {room:,} bytes"


def waiting(total: int, held: int) -> str:
    """What to say of a launch of which several blocks take turns and none ends; the device holds `held` of them."""
    many = f"the launch has {total:,} blocks"
    fit = f"the device holds {held:,} of them at a time" if held < total else "the device holds all of them at a time"
    return f"several blocks took turns, and none of them ended; {many}, and {fit}"


ASKS_AGAIN = "it does nothing but read the same memory, until a value ends it, and that value did not come"
"""What to say of a loop of waiting (waiting.py) that does not end."""


def thread_of(wave: int, lane: int | None, block: Dim3, wave_size: int) -> Dim3 | None:
    """threadIdx of a lane of a wave."""
    if lane is None:
        return None
    flat = int(wave) * wave_size + lane
    return flat % block[0], flat // block[0] % block[1], flat // (block[0] * block[1])


def _in_words(
    kernel: LoadedKernel, decoded: Decoded | None, raw: FaultStruct, cooperation: int, dynamic_lds: int
) -> tuple[str, str]:
    """(kind, detail) of a fault. `cooperation` is the address of a cooperative launch's record, or 0."""
    kind = layout.FAULTS[raw.kind]
    if kind == "lds out of bounds":
        declared = kernel.descriptor.lds_bytes
        return kind, (
            f"a block has {declared + dynamic_lds:,} bytes of shared memory here: {declared:,} that the kernel "
            f"declares and {dynamic_lds:,} that the launch passes"
        )
    atomic = raw.access == layout.ACCESSES["atomic"]
    uses_grid = any(a.kind == "hidden_multigrid_sync_arg" for a in kernel.descriptor.arguments)
    if kind == "null" and uses_grid and not cooperation and raw.address < dispatch.COOPERATION_BYTES:
        # The kernel asks what it finds there of a cooperative launch (cooperation_record).
        if atomic and raw.address == dispatch.GRID_BARRIER_OFFSET:
            kind = "not cooperative"
        return kind, "the group of this_grid() is not valid here: the launch was not cooperative"
    if kind == "null" and cooperation and raw.address == 0 and atomic:
        return kind, "the group of this_multi_grid() is not valid here: the launch was on one device"
    if kind == "grid barrier":
        words = (ctypes.c_uint32 * 3).from_address(cooperation + dispatch.GRID_BARRIER_OFFSET)
        return kind, f"{words[0] & 0xFFFF} of the grid's {words[2]} blocks wait there; the rest have ended"
    if kind == "scratch out of bounds" and decoded is not None:
        overflow = stack_overflow(kernel.module.program, kernel.descriptor, decoded, kernel.scratch_bytes)
        if overflow:
            return "stack overflow", overflow
    return kind, ""


def fault(
    kernel: LoadedKernel, code: Code, raw: FaultStruct, block: Dim3, cooperation: int, dynamic_lds: int
) -> Fault:  # fmt: skip
    """records.Fault of a launch's fault.

    `cooperation` is the address of a cooperative launch's record, or 0; `dynamic_lds` counts bytes.
    """
    home = kernel.module.device
    decoded = code.translation.decoded.get(raw.instruction)
    kind, detail = _in_words(kernel, decoded, raw, cooperation, dynamic_lds)
    if kind == "timeout" and raw.instruction in code.block_costs.get().waits.instructions(code.translation.blocks):
        detail = ASKS_AGAIN
    lane = None if raw.lane == NONE else int(raw.lane)
    access = next((n for n, v in layout.ACCESSES.items() if v == raw.access), "")
    nearest = None
    if access and not kind.startswith(("lds", "scratch", "stack")):
        nearest = home.arena.nearest(raw.address)
    return Fault(
        kind=kind,
        kernel=kernel.title,
        where=decoded.instruction.where if decoded else None,
        instruction=decoded.instruction.text.strip() if decoded else "",
        workgroup=(raw.group[0], raw.group[1], raw.group[2]),
        wave=int(raw.wave),
        lane=lane,
        thread=thread_of(raw.wave, lane, block, home.architecture.wave_size),
        address=int(raw.address) if access else None,
        bytes=int(raw.bytes) if access else 0,
        access=access,
        nearest=nearest,
        detail=detail,
    )
