"""What a kernel finds when it starts: registers, kernel arguments, apertures, code addresses.

The AMDGPU ABI (LLVM's "User Guide for AMDGPU Backend", code object V5, HSA) as pure functions of a
`KernelDescriptor`, so that every machine that runs kernels starts them alike: `initial_registers`,
`scalar_values`, `work_item_ids`, `active_lanes`, `mode_register`, `fill_kernarg`, `dispatch_packet`,
`symbol_address` and `relocated`.

Address map (beside the arena, whose addresses are host addresses below 2**47):

    SHARED_APERTURE  | offset    LDS as a generic (flat) address; its high half is 0x00010000
    PRIVATE_APERTURE | offset    scratch of the lane itself as a generic address; high half 0x00020000
    CODE_BASE + 8 * index        the instruction number `index` of the program (function pointers, s_getpc);
                                 below 2**47, as gfx12 code sign-extends what s_getpc gives from 48 bits

The high half is what src_shared_base and src_private_base give, as 64-bit operands in their upper half and
as 32-bit operands directly.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from gpulab import architectures
from gpulab.errors import AssemblyError, InternalError
from gpulab.virtual_gpu import isa
from gpulab.virtual_gpu.isa.assembly import INSTRUCTION_BYTES
from gpulab.virtual_gpu.isa.instruction import KernelDescriptor, Program, Symbol
from gpulab.virtual_gpu.isa.row import Control
from gpulab.virtual_gpu.schema import constant

SHARED_APERTURE = constant("SHARED_BASE") << 32
PRIVATE_APERTURE = constant("PRIVATE_BASE") << 32
CODE_BASE = 0x0000_1000_0000_0000
APERTURE_MASK = 0xFFFF_FFFF_0000_0000

SCRATCH_FLAGS = 1 << 23
"""ADD_TID_ENABLE in the last word of a buffer descriptor (CDNA2 ISA manual 9.1.8): each lane has its own part."""

DYNAMIC_STACK_BYTES = 16 * 1024
"""Scratch per lane given on top of the fixed part to kernels of unknown stack size (recursion, indirect calls)."""

DIMENSIONS = 3
"""Of each launch, in its packet and its hidden arguments. HIP asks for three, whatever the sizes: ROCm's clr,
hipamd/src/hip_module.cpp (NDRangeContainer) and rocclr/device/rocm/rocvirtual.cpp (packet)."""

Dim3 = tuple[int, int, int]

# User SGPRs in the order in which the hardware fills them (AMDGPUUsage, "Initial Kernel Execution State").
_USER_SGPRS = (
    ("private_segment_buffer", 4),
    ("dispatch_ptr", 2),
    ("queue_ptr", 2),
    ("kernarg_segment_ptr", 2),
    ("dispatch_id", 2),
    ("flat_scratch_init", 2),
    ("private_segment_size", 1),
)


@dataclass(frozen=True, slots=True)
class InitialRegisters:
    """Where the ABI puts things.

    `user` maps "kernarg_segment_ptr" and the like to (first SGPR, count). `kernarg_preload` is
    (first SGPR, count, first dword of the kernel arguments). `workgroup_id` has the SGPR of x, y and z or None
    where not enabled; from gfx12 on they stand in trap registers (`TTMP` and up), y and z as halves of one.
    `work_item_dimensions` (1 to 3) of x|y<<10|z<<20 stand in v0, the others are 0 there; with `unpacked_ids` (gfx10)
    x, y and z are v0, v1 and v2.
    """

    user: Mapping[str, tuple[int, int]]
    kernarg_preload: tuple[int, int, int]
    workgroup_id: tuple[int | None, int | None, int | None]
    workgroup_info: int | None
    work_item_dimensions: int
    sgprs: int  # how many SGPRs are initialised
    unpacked_ids: bool = False


TTMP = constant("TTMP")
"""The number of the trap register ttmp0 among the scalar registers."""


def initial_registers(descriptor: KernelDescriptor, arch: str = "gfx942") -> InitialRegisters:
    """The register layout at a kernel's first instruction.

    Where flat scratch is not architected (gfx90a, gfx10) the last SGPR is the wave's offset in the scratch buffer. Here
    each wave has scratch of its own, so the offset is 0.
    """
    device = architectures.get(arch)
    directives = descriptor.directives
    user: dict[str, tuple[int, int]] = {}
    position = 0
    for name, count in _USER_SGPRS:
        if directives.get(f"user_sgpr_{name}", 0):
            user[name] = position, count
            position += count
    length = directives.get("user_sgpr_kernarg_preload_length", 0)
    preload = (position, length, directives.get("user_sgpr_kernarg_preload_offset", 0))
    position += length
    position = user_count = max(position, directives.get("user_sgpr_count", position))
    ids: list[int | None] = []
    for axis, default in (("x", True), ("y", False), ("z", False)):
        enabled = directives.get(f"system_sgpr_workgroup_id_{axis}", default)
        ids.append(position if enabled else None)
        position += bool(enabled)
    info = position if directives.get("system_sgpr_workgroup_info", 0) else None
    position += info is not None
    position += bool(directives.get("system_sgpr_private_segment_wavefront_offset", 0))
    dimensions = min(3, 1 + directives.get("system_vgpr_workitem_id", 0))
    if device.has("architected-sgprs"):
        x, y, z = ids
        both = None if y is None and z is None else TTMP + 7
        return InitialRegisters(
            user, preload, (None if x is None else TTMP + 9, both, None if z is None else both), None, dimensions,
            user_count,
        )  # fmt: skip
    unpacked = not device.has("packed-tid")
    return InitialRegisters(user, preload, (ids[0], ids[1], ids[2]), info, dimensions, position, unpacked)


def scalar_values(
    layout: InitialRegisters,
    *,
    kernarg_address: int,
    kernarg: bytes = b"",
    workgroup: Dim3 = (0, 0, 0),
    dispatch_ptr: int = 0,
    queue_ptr: int = 0,
    dispatch_id: int = 0,
    scratch_bytes: int = 0,
) -> list[int]:
    """The first `layout.sgprs` SGPRs as unsigned 32-bit integers. `kernarg` is needed for preloaded arguments.

    The scratch buffer's descriptor has no base, as each wave's scratch begins at 0 here; `SCRATCH_FLAGS` in its last
    word tell it from a buffer in memory.
    """
    values = [0] * layout.sgprs
    known = {
        "private_segment_buffer": SCRATCH_FLAGS << 96 | 0xFFFFFFFF << 64 | 1 << 63,
        "dispatch_ptr": dispatch_ptr,
        "queue_ptr": queue_ptr,
        "kernarg_segment_ptr": kernarg_address,
        "dispatch_id": dispatch_id,
        "private_segment_size": scratch_bytes,
    }
    for name, (first, count) in layout.user.items():
        value = known.get(name, 0)
        for i in range(count):
            values[first + i] = value >> 32 * i & 0xFFFFFFFF
    first, count, dword = layout.kernarg_preload
    for i in range(count):
        values[first + i] = int.from_bytes(kernarg[4 * (dword + i) : 4 * (dword + i) + 4], "little")
    for register, number in zip(layout.workgroup_id, workgroup, strict=True):
        if register is not None and register < TTMP:
            values[register] = number
    return values


def trap_registers(layout: InitialRegisters, workgroup: Dim3) -> list[int]:
    """ttmp0 to ttmp15: from gfx12 on x of the workgroup is ttmp9, y and z are the halves of ttmp7."""
    values = [0] * 16
    for axis, register in enumerate(layout.workgroup_id):
        if register is not None and register >= TTMP:
            values[register - TTMP] |= workgroup[axis] << (16 if axis == 2 else 0)
    return values


@lru_cache(maxsize=256)
def work_item_ids(block: Dim3, dimensions: int, wave_size: int, unpacked: bool = False) -> array[int]:
    """v0 of every lane of a workgroup, wave after wave: x | y<<10 | z<<20, only the first `dimensions` of them.

    Padded with 0 to whole waves. With `unpacked`, v0 (x) of all waves, then v1 (y) of all and v2 (z), as far as
    `dimensions` goes. Do not change the array: it is shared.
    """
    x, y, z = block
    if unpacked:
        room = waves(block, wave_size) * wave_size
        numbers = range(x * y * z)
        planes = ((n % x for n in numbers), (n // x % y for n in numbers), (n // (x * y) for n in numbers))
        ids = array("I", [0]) * (dimensions * room)
        for plane, values in enumerate(planes[:dimensions]):
            ids[plane * room : plane * room + len(numbers)] = array("I", values)
        return ids
    ids = array(
        "I",
        (
            i | (j << 10 if dimensions > 1 else 0) | (k << 20 if dimensions > 2 else 0)
            for k in range(z)
            for j in range(y)
            for i in range(x)
        ),
    )
    ids.extend([0] * (-len(ids) % wave_size))
    return ids


def waves(block: Dim3, wave_size: int) -> int:
    """Waves of one workgroup."""
    return (block[0] * block[1] * block[2] + wave_size - 1) // wave_size


def active_lanes(block: Dim3, wave: int, wave_size: int) -> int:
    """EXEC of wave number `wave` at the start: the last wave of a workgroup may be partly empty."""
    threads = block[0] * block[1] * block[2] - wave * wave_size
    return (1 << max(0, min(wave_size, threads))) - 1


def mode_register(descriptor: KernelDescriptor, arch: str = "gfx942") -> int:
    """MODE at the start: rounding in bits 3:0, denormals in 7:4, DX10_CLAMP 8, IEEE 9, FP16_OVFL 23.

    Defaults where a directive is absent are the assembler's: f16 and f64 denormals kept, f32 denormals flushed.
    gfx12 has neither DX10_CLAMP nor IEEE: clamping makes 0 of NaN always, and minima follow IEEE 754-2019.
    """
    d = descriptor.directives
    if not isa.generation_of(arch).clamp_and_ieee_modes:
        d = {**d, "dx10_clamp": 1, "ieee_mode": 0}
    return (
        (d.get("float_round_mode_32", 0) & 3)
        | (d.get("float_round_mode_16_64", 0) & 3) << 2
        | (d.get("float_denorm_mode_32", 0) & 3) << 4
        | (d.get("float_denorm_mode_16_64", 3) & 3) << 6
        | (d.get("dx10_clamp", 1) & 1) << 8
        | (d.get("ieee_mode", 1) & 1) << 9
        | (d.get("fp16_overflow", 0) & 1) << 23
    )


def scratch_bytes(descriptor: KernelDescriptor) -> int:
    """Scratch that each lane gets, in bytes (a multiple of 16)."""
    extra = max(DYNAMIC_STACK_BYTES, descriptor.stack_bytes) if descriptor.uses_dynamic_stack else 0
    return (descriptor.private_bytes + extra + 15) // 16 * 16


def fill_kernarg(
    descriptor: KernelDescriptor,
    kernarg: bytes,
    grid: Dim3,
    block: Dim3,
    dynamic_lds: int = 0,
    *,
    printf_buffer: int = 0,
    hostcall_buffer: int = 0,
    multigrid_sync: int = 0,
) -> bytes:
    """The kernel argument segment: the caller's explicit arguments plus the hidden ones of the metadata.

    Args:
        kernarg: explicit arguments at the offsets of the metadata; may be shorter than the segment.
        grid: workgroups in x, y, z. block: threads in x, y, z.
        dynamic_lds: bytes of dynamic LDS of this launch.

    Returns:
        exactly `descriptor.kernarg_size` bytes (at least 1, so that an address exists).
    """
    result = bytearray(max(descriptor.kernarg_size, 1))
    explicit = min(len(kernarg), len(result))
    result[:explicit] = kernarg[:explicit]
    hidden: dict[str, int] = {
        "hidden_grid_dims": DIMENSIONS,
        "hidden_printf_buffer": printf_buffer,
        "hidden_hostcall_buffer": hostcall_buffer,
        "hidden_multigrid_sync_arg": multigrid_sync,
        "hidden_dynamic_lds_size": dynamic_lds,
        "hidden_private_base": PRIVATE_APERTURE >> 32,
        "hidden_shared_base": SHARED_APERTURE >> 32,
    }
    for axis, name in enumerate("xyz"):
        hidden[f"hidden_block_count_{name}"] = grid[axis]
        hidden[f"hidden_group_size_{name}"] = block[axis]
    for argument in descriptor.arguments:
        if argument.kind.startswith("hidden_"):
            # 0: offsets, remainders, heap_v1, queue_ptr, default_queue, completion_action, none
            value = hidden.get(argument.kind, 0)
            result[argument.offset : argument.offset + argument.size] = (value & (1 << 8 * argument.size) - 1).to_bytes(
                argument.size, "little"
            )
    return bytes(result)


GRID_BARRIER_OFFSET, COOPERATION_BYTES = 32, 48


def cooperation_record(grid: Dim3) -> bytes:
    """What hidden_multigrid_sync_arg of a cooperative launch points to, before the launch.

    The layout is MGSyncInfo of AMD's runtime (clr, rocclr/device/device.hpp), which is mg_info of its device library
    (ockl/src/cg.cl): a pointer and four numbers about launches on several devices (null and 0 for one device), the
    word of the grid's barrier with one unused, and the number of workgroups.
    """
    groups = grid[0] * grid[1] * grid[2]
    return struct.pack("<Q2I2Q2I2I", 0, 0, 0, 0, 0, 0, 0, groups, 0)


def dispatch_packet(
    descriptor: KernelDescriptor, grid: Dim3, block: Dim3, *, kernarg_address: int, dynamic_lds: int = 0
) -> bytes:
    """The 64-byte AQL kernel dispatch packet that the dispatch pointer points to (HSA Runtime Specification 2.9)."""
    return struct.pack(
        "<HH4H3I2I4Q",
        2,  # HSA_PACKET_TYPE_KERNEL_DISPATCH
        DIMENSIONS,
        *block,
        0,
        *(g * b & 0xFFFFFFFF for g, b in zip(grid, block, strict=True)),
        scratch_bytes(descriptor),
        descriptor.lds_bytes + dynamic_lds,
        code_address(descriptor.entry),
        kernarg_address,
        0,
        0,
    )


def code_address(index: int) -> int:
    """The address of instruction number `index`."""
    return CODE_BASE + INSTRUCTION_BYTES * index


def instruction_index(address: int, count: int) -> int | None:
    """The instruction at a code address, or None where there is none (`count` instructions in the program)."""
    index, rest = divmod(address - CODE_BASE, INSTRUCTION_BYTES)
    return index if not rest and 0 <= index < count else None


def symbol_address(name: str, program: Program, addresses: Mapping[str, int]) -> int:
    """The address of a data object (`addresses`, from the loader; LDS offset for LDS objects), function or label."""
    if name in addresses:
        return addresses[name]
    if name in program.labels:
        return code_address(program.labels[name])
    raise AssemblyError(
        f"the symbol {name} is used, and defined nowhere in the code object.",
        why="the code object is damaged, or its text was changed.",
        hint="compile it again.",
    )


def _place(index: int, program: Program) -> int:
    """The address of an instruction's literal, as the text's offsets count it: from the s_getpc_b64 shortly before.

    LLVM's sequence is s_getpc, s_add_u32 sym@rel32@lo+4, s_addc_u32 sym@rel32@hi+12, from gfx12 on with instructions
    without a literal, of four bytes, in between.
    """
    between = 4
    for before in reversed(range(max(0, index - 7), index)):
        instruction = program.instructions[before]
        row = isa.table(program.arch).get(instruction.mnemonic)
        if isinstance(row, Control) and row.kind == "getpc":
            return code_address(before + 1) + between
        has_literal = any(isinstance(o.value, Symbol) and o.value.relocation for o in instruction.operands)
        between += 8 if has_literal else 4
    return code_address(index) + 4


def relocated(symbol: Symbol, index: int, program: Program, addresses: Mapping[str, int]) -> int:
    """The 32-bit value that the linker would put into instruction number `index` for a symbol operand.

    rel32@lo/hi: half of (symbol + offset - place), the place being the instruction's literal.
    gotpcrel32@lo/hi: the same for the data object ``name@got`` that the parser adds, which holds the address.
    abs32@lo/hi and none: half of the address itself.
    """
    kind, _, half = symbol.relocation.partition("@")
    shift = 32 if half == "hi" else 0
    place = _place(index, program)
    if kind in ("rel32", "rel64"):
        value = symbol_address(symbol.name, program, addresses) + symbol.offset - place
    elif kind == "gotpcrel32":
        value = symbol_address(f"{symbol.name}@got", program, addresses) + symbol.offset - place
    elif kind in ("abs32", ""):
        value = symbol_address(symbol.name, program, addresses) + symbol.offset
    else:
        raise InternalError(f"relocation {symbol.relocation} of {symbol.name} is not known")
    return value >> shift & 0xFFFFFFFF
