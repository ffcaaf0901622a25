"""Kernel descriptors: the 64 bytes behind a kernel's symbol NAME.kd, as directives of the assembler.

LLVM, User Guide for AMDGPU Backend, "Kernel Descriptor": the fields, and the directive that sets each
("AMDHSA Kernel Assembler Directives").
"""

from __future__ import annotations

import struct

from gpulab import architectures

SIZE = 64
_ENTRY, _RSRC3, _PROPERTIES = 16, 44, 56

# Directive, first bit, width.
_Fields = tuple[tuple[str, int, int], ...]
_IN_RSRC1: _Fields = (
    ("float_round_mode_32", 12, 2), ("float_round_mode_16_64", 14, 2), ("float_denorm_mode_32", 16, 2),
    ("float_denorm_mode_16_64", 18, 2), ("fp16_overflow", 26, 1),
)  # fmt: skip
_CLAMP_AND_IEEE: _Fields = (("dx10_clamp", 21, 1), ("ieee_mode", 23, 1))
_WORKGROUP_PROCESSORS: _Fields = (
    ("workgroup_processor_mode", 29, 1), ("memory_ordered", 30, 1), ("forward_progress", 31, 1),
)  # fmt: skip
_IN_RSRC2: _Fields = (
    ("user_sgpr_count", 1, 5), ("system_sgpr_workgroup_id_x", 7, 1), ("system_sgpr_workgroup_id_y", 8, 1),
    ("system_sgpr_workgroup_id_z", 9, 1), ("system_sgpr_workgroup_info", 10, 1), ("system_vgpr_workitem_id", 11, 2),
)  # fmt: skip
_IN_PROPERTIES: _Fields = (
    ("user_sgpr_private_segment_buffer", 0, 1), ("user_sgpr_dispatch_ptr", 1, 1), ("user_sgpr_queue_ptr", 2, 1),
    ("user_sgpr_kernarg_segment_ptr", 3, 1), ("user_sgpr_dispatch_id", 4, 1), ("user_sgpr_flat_scratch_init", 5, 1),
    ("user_sgpr_private_segment_size", 6, 1),
)  # fmt: skip
_IN_PRELOAD: _Fields = (
    ("user_sgpr_kernarg_preload_length", 0, 7), ("user_sgpr_kernarg_preload_offset", 7, 9),
)  # fmt: skip
_WAVE32, _DYNAMIC_STACK = 1 << 10, 1 << 11


def entry(raw: bytes) -> int:
    """How many bytes behind the descriptor the kernel's first instruction stands."""
    return int(struct.unpack_from("<q", raw, _ENTRY)[0])


def wave_size(raw: bytes, arch: str) -> int:
    """Lanes of a wave, as the descriptor has it."""
    if architectures.get(arch).wave_size == 64:  # no device of those can have waves of 32
        return 64
    return 32 if struct.unpack_from("<H", raw, _PROPERTIES)[0] & _WAVE32 else 64


def directives(raw: bytes, arch: str) -> dict[str, int]:
    """What a descriptor says, by directive without its beginning ``.amdhsa_``."""
    device = architectures.get(arch)
    rsrc3, rsrc1, rsrc2 = struct.unpack_from("<III", raw, _RSRC3)
    properties, preload = struct.unpack_from("<HH", raw, _PROPERTIES)
    lds, private, arguments = struct.unpack_from("<III", raw)
    found = {"group_segment_fixed_size": lds, "private_segment_fixed_size": private, "kernarg_size": arguments}

    def take(fields: _Fields, word: int) -> None:
        found.update({name: word >> first & (1 << width) - 1 for name, first, width in fields})

    take(_IN_RSRC1, rsrc1)
    take(_IN_RSRC2, rsrc2)
    take(_IN_PROPERTIES, properties)
    if device.major < 12:
        take(_CLAMP_AND_IEEE, rsrc1)
    if device.major >= 10:
        take(_WORKGROUP_PROCESSORS, rsrc1)
        found["wavefront_size32"] = int(bool(properties & _WAVE32))
    scratch = rsrc2 & 1
    if device.has("architected-flat-scratch"):
        found["enable_private_segment"] = scratch
    else:
        found["system_sgpr_private_segment_wavefront_offset"] = scratch
    if preload:
        take(_IN_PRELOAD, preload)
    if device.unified_vgprs:
        found["accum_offset"] = ((rsrc3 & 63) + 1) * 4
        found["tg_split"] = rsrc3 >> 16 & 1
    found["uses_dynamic_stack"] = int(bool(properties & _DYNAMIC_STACK))
    return found
