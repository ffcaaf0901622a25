"""What a kernel finds when it starts. Expected values: "User Guide for AMDGPU Backend", sections "Initial Kernel
Execution State", "Code Object V5 Metadata" and "Kernel Dispatch"; HSA Runtime Specification for the dispatch packet."""

from __future__ import annotations

import struct

import pytest

from gpulab.errors import AssemblyError, InternalError
from gpulab.virtual_gpu import dispatch
from gpulab.virtual_gpu.isa.assembly import parse
from gpulab.virtual_gpu.isa.instruction import Argument, KernelDescriptor, Symbol


def descriptor(arguments=(), kernarg_size=0, private_bytes=0, dynamic=False, **directives) -> KernelDescriptor:
    return KernelDescriptor(
        name="k", entry=3, directives=directives, arguments=tuple(arguments), kernarg_size=kernarg_size, lds_bytes=64,
        private_bytes=private_bytes, vgprs=8, agprs=0, sgprs=16, max_flat_workgroup_size=1024,
        uses_dynamic_stack=dynamic,
    )  # fmt: skip


def test_user_sgprs_come_in_the_order_of_the_abi():
    layout = dispatch.initial_registers(
        descriptor(
            user_sgpr_dispatch_ptr=1,
            user_sgpr_queue_ptr=1,
            user_sgpr_kernarg_segment_ptr=1,
            user_sgpr_dispatch_id=1,
            user_sgpr_count=8,
            system_sgpr_workgroup_id_y=1,
            system_sgpr_workgroup_id_z=1,
            system_vgpr_workitem_id=2,
        )
    )
    assert layout.user == {
        "dispatch_ptr": (0, 2),
        "queue_ptr": (2, 2),
        "kernarg_segment_ptr": (4, 2),
        "dispatch_id": (6, 2),
    }
    assert layout.workgroup_id == (8, 9, 10)
    assert layout.work_item_dimensions == 3
    assert layout.sgprs == 11


def test_workgroup_ids_follow_the_declared_user_sgprs():
    """gfx11 kernels declare 15 user SGPRs of which two are filled; workgroup id x is s15."""
    layout = dispatch.initial_registers(
        descriptor(user_sgpr_kernarg_segment_ptr=1, user_sgpr_count=15, system_sgpr_workgroup_id_z=1)
    )
    assert layout.workgroup_id == (15, None, 16)
    values = dispatch.scalar_values(layout, kernarg_address=0x123456789ABC, workgroup=(7, 8, 9))
    assert values[0:2] == [0x56789ABC, 0x1234]
    assert values[2:15] == [0] * 13
    assert values[15:] == [7, 9]


def test_kernel_arguments_can_be_preloaded():
    layout = dispatch.initial_registers(
        descriptor(
            user_sgpr_kernarg_segment_ptr=1,
            user_sgpr_kernarg_preload_length=3,
            user_sgpr_kernarg_preload_offset=1,
            user_sgpr_count=5,
        )
    )
    values = dispatch.scalar_values(layout, kernarg_address=16, kernarg=struct.pack("<4I", 10, 11, 12, 13))
    assert values == [16, 0, 11, 12, 13, 0]


def test_work_item_ids():
    ids = dispatch.work_item_ids((3, 2, 2), 3, 32)
    assert len(ids) == 32
    assert list(ids[:7]) == [0, 1, 2, 1 << 10, 1 | 1 << 10, 2 | 1 << 10, 1 << 20]
    assert list(dispatch.work_item_ids((3, 2, 2), 1, 32)[:7]) == [0, 1, 2, 0, 1, 2, 0]
    assert list(ids[12:]) == [0] * 20


def test_active_lanes():
    assert dispatch.waves((65, 1, 1), 64) == 2
    assert dispatch.active_lanes((65, 1, 1), 0, 64) == (1 << 64) - 1
    assert dispatch.active_lanes((65, 1, 1), 1, 64) == 1
    assert dispatch.active_lanes((5, 5, 1), 0, 32) == (1 << 25) - 1


def test_mode_register():
    hip = descriptor(float_denorm_mode_32=3, float_denorm_mode_16_64=3, dx10_clamp=1, ieee_mode=1)
    assert dispatch.mode_register(hip) == 0x3F0  # FloatMode: 240, IeeeMode: 1, DX10_CLAMP
    assert dispatch.mode_register(descriptor()) == 0x3C0
    assert dispatch.mode_register(descriptor(float_round_mode_32=1, float_round_mode_16_64=2, ieee_mode=0)) == 0x1C9


@pytest.mark.parametrize(
    ("directive", "first", "bits"),
    [
        ("float_round_mode_32", 0, 2), ("float_round_mode_16_64", 2, 2), ("float_denorm_mode_32", 4, 2),
        ("float_denorm_mode_16_64", 6, 2), ("dx10_clamp", 8, 1), ("ieee_mode", 9, 1), ("fp16_overflow", 23, 1),
    ],
)  # fmt: skip
def test_each_field_of_the_mode_register(directive, first, bits):
    """Places: "MODE register" of the CDNA 3 and RDNA 3 ISA documents. A field changes its own bits alone."""
    others = dispatch.mode_register(descriptor()) & ~((1 << bits) - 1 << first)
    for value in range(1 << bits):
        assert dispatch.mode_register(descriptor(**{directive: value})) == others | value << first


def test_hidden_arguments():
    kinds = [
        ("by_value", 0, 4),
        ("hidden_block_count_x", 8, 4),
        ("hidden_block_count_y", 12, 4),
        ("hidden_group_size_x", 20, 2),
        ("hidden_group_size_z", 24, 2),
        ("hidden_remainder_x", 26, 2),
        ("hidden_grid_dims", 32, 2),
        ("hidden_dynamic_lds_size", 40, 4),
        ("hidden_shared_base", 48, 4),
        ("hidden_private_base", 52, 4),
        ("hidden_printf_buffer", 56, 8),
    ]
    arguments = [Argument("", offset, size, kind) for kind, offset, size in kinds]
    filled = dispatch.fill_kernarg(
        descriptor(arguments, kernarg_size=64),
        b"\x07\0\0\0",
        (5, 6, 1),
        (32, 4, 2),
        512,
        printf_buffer=0x1122334455667788,
    )
    assert len(filled) == 64
    assert struct.unpack_from("<I", filled, 0) == (7,)
    assert struct.unpack_from("<II", filled, 8) == (5, 6)
    assert struct.unpack_from("<HHHH", filled, 20) == (32, 0, 2, 0)
    assert struct.unpack_from("<H", filled, 32) == (3,)
    assert struct.unpack_from("<I", filled, 40) == (512,)
    assert struct.unpack_from("<II", filled, 48) == (0x00010000, 0x00020000)
    assert struct.unpack_from("<Q", filled, 56) == (0x1122334455667788,)


def test_kernarg_is_never_longer_than_the_segment():
    assert dispatch.fill_kernarg(descriptor(kernarg_size=4), b"abcdefgh", (1, 1, 1), (1, 1, 1)) == b"abcd"


def test_dispatch_packet():
    packet = dispatch.dispatch_packet(descriptor(), (3, 2, 1), (64, 2, 1), kernarg_address=0xABCD, dynamic_lds=36)
    assert len(packet) == 64
    assert struct.unpack_from("<HH", packet) == (2, 3)
    assert struct.unpack_from("<HHH", packet, 4) == (64, 2, 1)
    assert struct.unpack_from("<III", packet, 12) == (192, 4, 1)
    assert struct.unpack_from("<II", packet, 24) == (0, 100)
    assert struct.unpack_from("<Q", packet, 40) == (0xABCD,)
    assert packet[10:12] == bytes(2)  # reserved, as what follows; and no signal at completion
    assert packet[48:64] == bytes(16)


def test_scratch():
    assert dispatch.scratch_bytes(descriptor(private_bytes=20)) == 32
    assert dispatch.scratch_bytes(descriptor(private_bytes=32, dynamic=True)) == 32 + dispatch.DYNAMIC_STACK_BYTES


CALL = """
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
s_nop 0
s_getpc_b64 s[0:1]
s_add_u32 s0, s0, table@rel32@lo+8
s_addc_u32 s1, s1, table@rel32@hi+16
s_add_u32 s0, s0, there@rel32@lo+4
s_addc_u32 s1, s1, there@rel32@hi+12
there: s_endpgm
"""


@pytest.mark.parametrize("address", [0x7000_1234_5678, 0x10, 0x7FFF_FFFF_FF00])
def test_relocations_add_up_to_the_address(address):
    """LLVM's sequence: the sum of s_getpc's result and the two halves is symbol + offset - 4."""
    program = parse(CALL)
    pc = dispatch.code_address(2)
    low, high = (
        dispatch.relocated(program.instructions[i].operands[2].value, i, program, {"table": address}) for i in (2, 3)
    )
    total = pc + (high << 32 | low) & (1 << 64) - 1
    assert total == address + 4


def test_functions_have_code_addresses():
    program = parse(CALL)
    assert dispatch.symbol_address("there", program, {}) == dispatch.code_address(6)
    assert dispatch.instruction_index(dispatch.code_address(6), 7) == 6
    assert dispatch.instruction_index(dispatch.code_address(7), 7) is None
    assert dispatch.instruction_index(dispatch.code_address(6) + 4, 7) is None
    with pytest.raises(AssemblyError, match="nowhere"):
        dispatch.relocated(Symbol("nowhere", 0, "rel32@lo"), 0, program, {})


def test_work_item_ids_of_gfx10_stand_in_three_registers():
    """Before gfx90a and gfx11 x, y and z are v0, v1 and v2 (LLVM's user guide, "VGPR Register Set Up Order")."""
    layout = dispatch.initial_registers(
        descriptor(
            user_sgpr_private_segment_buffer=1,
            user_sgpr_kernarg_segment_ptr=1,
            user_sgpr_flat_scratch_init=1,
            user_sgpr_count=8,
            system_sgpr_workgroup_id_y=1,
            system_sgpr_private_segment_wavefront_offset=1,
            system_vgpr_workitem_id=2,
        ),
        "gfx1030",
    )
    assert layout.unpacked_ids
    assert layout.user == {
        "private_segment_buffer": (0, 4),
        "kernarg_segment_ptr": (4, 2),
        "flat_scratch_init": (6, 2),
    }
    assert layout.workgroup_id == (8, 9, None)
    assert layout.sgprs == 11  # the wave's offset in scratch is the last
    ids = list(dispatch.work_item_ids((3, 2, 2), 3, 32, True))
    assert [ids[32 * plane + lane] for plane in range(3) for lane in range(12, 32)] == [0] * 60, "padded with 0"
    assert (ids[:12], ids[32:44], ids[64:76]) == ([0, 1, 2] * 4, [0, 0, 0, 1, 1, 1] * 2, [0] * 6 + [1] * 6)
    assert not dispatch.initial_registers(descriptor(), "gfx90a").unpacked_ids


def test_workgroup_ids_of_gfx12_stand_in_trap_registers():
    """ttmp9 is x, ttmp7 y and z as halves (LLVM's user guide, "SGPR Register Set Up Order", architected registers)."""
    wanted = descriptor(user_sgpr_kernarg_segment_ptr=1, user_sgpr_count=2, system_sgpr_workgroup_id_y=1,
                        system_sgpr_workgroup_id_z=1)  # fmt: skip
    layout = dispatch.initial_registers(wanted, "gfx1201")
    assert layout.workgroup_id == (dispatch.TTMP + 9, dispatch.TTMP + 7, dispatch.TTMP + 7)
    assert not layout.unpacked_ids
    assert dispatch.scalar_values(layout, kernarg_address=16, workgroup=(7, 8, 9)) == [16, 0]
    values = dispatch.trap_registers(layout, (7, 8, 9))
    assert (values[9], values[7]) == (7, 9 << 16 | 8)
    assert not any(values[i] for i in range(16) if i not in (7, 9))


def test_a_workgroup_id_of_gfx12_that_is_asked_for_alone_has_its_half():
    """y or z without the other stands where it stands with both; y is then read as the whole of ttmp7."""
    found = {}
    for axis in "yz":
        layout = dispatch.initial_registers(descriptor(**{f"system_sgpr_workgroup_id_{axis}": 1}), "gfx1201")
        found[axis] = dispatch.trap_registers(layout, (7, 8, 9))
        assert found[axis][9] == 7
    assert found["y"][7] == 8
    assert found["z"][7] >> 16 == 9
    assert dispatch.initial_registers(descriptor(), "gfx1201").workgroup_id == (dispatch.TTMP + 9, None, None)


def test_gfx12_has_no_ieee_mode():
    assert dispatch.mode_register(descriptor(), "gfx1100") >> 9 & 1 == 1
    assert dispatch.mode_register(descriptor(), "gfx1201") >> 9 & 1 == 0


def test_offsets_of_gfx12_count_the_instructions_between():
    """s_getpc_b64 and s_sext_i32_i16 are followed by the sum, whose literal is 8 bytes after what s_getpc gave."""
    lines = ["s_getpc_b64 s[0:1]", "s_sext_i32_i16 s1, s1", "s_add_co_u32 s0, s0, table@rel32@lo+8",
             "s_add_co_ci_u32 s1, s1, table@rel32@hi+16", "s_endpgm"]  # fmt: skip
    text = '.amdgcn_target "amdgcn-amd-amdhsa--gfx1201"\n.text\nk:\n' + "\n".join(lines) + "\n"
    program = parse(text + ".section .rodata\ntable:\n.long 1\n")
    address = 0x2000_1234_5678
    low, high = (
        dispatch.relocated(Symbol("table", 8 + 8 * n, f"rel32@{half}"), 2 + n, program, {"table": address})
        for n, half in enumerate(("lo", "hi"))
    )
    assert dispatch.code_address(1) + (high << 32 | low) & (1 << 64) - 1 == address


def test_each_kind_of_relocation():
    """LLVM's user guide, "Relocation Records": halves of S + A - P, of G + GOT + A - P, of S + A."""
    program = parse(CALL)
    symbols = {"table": 0x1234_5678_9ABC, "table@got": 0x4321_0000_1000}
    place = dispatch.code_address(2) + 4  # the literal of the instruction behind s_getpc_b64
    for relocation, wanted in (
        ("abs32@lo", 0x5678_9ABC + 8), ("abs32@hi", 0x1234), ("", 0x5678_9ABC + 8),
        ("rel32@lo", 0x1234_5678_9ABC + 8 - place & 0xFFFFFFFF), ("rel64", 0x1234_5678_9ABC + 8 - place & 0xFFFFFFFF),
        ("rel32@hi", 0x1234_5678_9ABC + 8 - place >> 32 & 0xFFFFFFFF),
        ("gotpcrel32@lo", 0x4321_0000_1000 + 8 - place & 0xFFFFFFFF),
        ("gotpcrel32@hi", 0x4321_0000_1000 + 8 - place >> 32 & 0xFFFFFFFF),
    ):  # fmt: skip
        assert dispatch.relocated(Symbol("table", 8, relocation), 2, program, symbols) == wanted, relocation
    with pytest.raises(InternalError, match="rel16 of table is not known"):
        dispatch.relocated(Symbol("table", 8, "rel16"), 2, program, symbols)


def test_all_user_sgprs_and_what_they_hold():
    """AMDGPUUsage, "Initial Kernel Execution State": order and sizes; the buffer's last word has ADD_TID_ENABLE."""
    sizes = {
        "private_segment_buffer": 4, "dispatch_ptr": 2, "queue_ptr": 2, "kernarg_segment_ptr": 2, "dispatch_id": 2,
        "flat_scratch_init": 2, "private_segment_size": 1,
    }  # fmt: skip
    wanted = descriptor(
        **{f"user_sgpr_{name}": 1 for name in sizes}, user_sgpr_kernarg_preload_length=2, system_sgpr_workgroup_info=1,
        system_sgpr_workgroup_id_x=0, system_sgpr_workgroup_id_y=1,
    )  # fmt: skip
    layout = dispatch.initial_registers(wanted)
    at, places = 0, {}
    for name, count in sizes.items():
        places[name] = at, count
        at += count
    assert layout.user == places
    assert layout.kernarg_preload == (15, 2, 0)
    assert (layout.workgroup_id, layout.workgroup_info, layout.sgprs) == ((None, 17, None), 18, 19)
    values = dispatch.scalar_values(
        layout, kernarg_address=0x1_0000_0002, kernarg=struct.pack("<2I", 7, 8)[:7], workgroup=(4, 5, 6),
        dispatch_ptr=0x3_0000_0004, queue_ptr=0x5_0000_0006, dispatch_id=0x7_0000_0008, scratch_bytes=96,
    )  # fmt: skip
    assert values == [0, 1 << 31, 0xFFFFFFFF, 1 << 23, 4, 3, 6, 5, 2, 1, 8, 7, 0, 0, 96, 7, 8, 5, 0]
    least = [0, 1 << 31, 0xFFFFFFFF, 1 << 23, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    assert dispatch.scalar_values(layout, kernarg_address=1) == least


@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"])
def test_dimensions_of_work_item_ids(arch):
    """ENABLE_VGPR_WORKITEM_ID: 0 is x, 1 x and y, 2 all; what is more means all, too."""
    assert dispatch.initial_registers(descriptor(), arch).work_item_dimensions == 1
    found = [
        dispatch.initial_registers(descriptor(system_vgpr_workitem_id=value), arch).work_item_dimensions
        for value in range(4)
    ]
    assert found == [1, 2, 3, 3]


def test_a_workgroup_s_number_stands_in_a_scalar_register_or_a_trap_register():
    """ttmp0 is number 108: what is below it is a scalar register."""
    assert dispatch.TTMP == 108
    low = dispatch.InitialRegisters({}, (0, 0, 0), (0, 107, 2), None, 1, 108)
    assert dispatch.scalar_values(low, kernarg_address=16) == [0] * 108
    assert dispatch.scalar_values(low, kernarg_address=16, workgroup=(7, 8, 9)) == [7, 0, 9, *[0] * 104, 8]
    assert dispatch.trap_registers(low, (7, 8, 9)) == [0] * 16
    high = dispatch.InitialRegisters({}, (0, 0, 0), (108, 123, 123), None, 1, 1)
    assert dispatch.scalar_values(high, kernarg_address=16, workgroup=(7, 8, 9)) == [0]
    assert dispatch.trap_registers(high, (7, 8, 9)) == [7, *[0] * 14, 9 << 16 | 8]


def test_hidden_arguments_of_every_axis():
    kinds = [f"hidden_{what}_{axis}" for what in ("block_count", "group_size") for axis in "xyz"]
    kinds += ["hidden_hostcall_buffer", "hidden_multigrid_sync_arg", "hidden_heap_v1", "hidden_queue_ptr",
              "hidden_global_offset_x", "hidden_grid_dims"]  # fmt: skip
    arguments = [Argument("", 8 * place, 8, kind) for place, kind in enumerate(kinds)]
    given = descriptor([*arguments, Argument("", 96, 2, "hidden_hostcall_buffer")], kernarg_size=98)
    more = {"hostcall_buffer": 0x1_0023, "multigrid_sync": 22}
    filled = dispatch.fill_kernarg(given, b"", (2, 3, 4), (5, 6, 7), **more)
    assert struct.unpack("<12Q", filled[:96]) == (2, 3, 4, 5, 6, 7, 0x1_0023, 22, 0, 0, 0, 3)
    assert filled[96:] == b"\x23\0"  # cut to the argument's size
    for grid, block in (((1, 1, 1), (9, 1, 1)), ((1, 2, 1), (1, 1, 1)), ((1, 1, 1), (1, 1, 2))):
        filled = dispatch.fill_kernarg(given, b"", grid, block)
        assert struct.unpack_from("<Q", filled, 88) == (3,)  # as HIP has it for all launches
        packet = dispatch.dispatch_packet(given, grid, block, kernarg_address=0)
        assert struct.unpack_from("<HH", packet) == (2, 3)
    assert dispatch.fill_kernarg(descriptor(), b"", (1, 1, 1), (1, 1, 1)) == b"\0"
    packet = dispatch.dispatch_packet(given, (1 << 22, 1, 1), (1024, 1, 1), kernarg_address=0)
    assert struct.unpack_from("<I", packet, 12) == (0,)  # 2^32 wraps
    assert struct.unpack_from("<Q", packet, 32) == (dispatch.code_address(3),)


def test_the_record_of_a_cooperative_launch():
    """MGSyncInfo of AMD's runtime: the number of workgroups behind the barrier's two words."""
    record = dispatch.cooperation_record((2, 3, 5))
    assert len(record) == dispatch.COOPERATION_BYTES == 48
    assert struct.unpack("<12I", record) == (0,) * 10 + (30, 0)
    assert dispatch.GRID_BARRIER_OFFSET == 32


def test_masks_and_modes_at_their_edges():
    assert dispatch.active_lanes((64, 1, 1), 1, 64) == 0
    assert dispatch.active_lanes((3, 5, 7), 1, 64) == (1 << 41) - 1
    assert dispatch.waves((3, 5, 7), 32) == 4
    assert dispatch.waves((64, 1, 1), 64) == 1
    every = descriptor(float_round_mode_32=7, float_round_mode_16_64=7, float_denorm_mode_32=7,
                       float_denorm_mode_16_64=7, dx10_clamp=3, ieee_mode=3, fp16_overflow=3)  # fmt: skip
    assert dispatch.mode_register(every) == 0x8003FF
    assert dispatch.mode_register(descriptor(dx10_clamp=0, float_denorm_mode_16_64=0)) == 0x200
    assert dispatch.mode_register(descriptor(dx10_clamp=0, ieee_mode=1), "gfx1201") == 0x1C0
    assert dispatch.scratch_bytes(descriptor(private_bytes=1)) == 16
    assert dispatch.scratch_bytes(descriptor()) == 0
    assert dispatch.DYNAMIC_STACK_BYTES == 16 * 1024
    assert list(dispatch.work_item_ids((2, 2, 2), 2, 32)[:8]) == [0, 1, 1024, 1025] * 2
    assert len(dispatch.work_item_ids((33, 1, 1), 1, 32)) == 64
    assert len(dispatch.work_item_ids((3, 2, 2), 2, 32, True)) == 64


def test_addresses_of_instructions():
    assert dispatch.instruction_index(dispatch.CODE_BASE, 1) == 0
    assert dispatch.instruction_index(dispatch.CODE_BASE - 8, 9) is None
    assert dispatch.instruction_index(dispatch.CODE_BASE + 8, 2) == 1
    assert dispatch.CODE_BASE == 1 << 44
    assert dispatch.code_address(3) == (1 << 44) + 24
    # A literal is counted from the s_getpc_b64 before it, as far as it is near.
    program = parse(CALL)
    assert dispatch.relocated(Symbol("x", 0, "rel32@lo"), 0, program, {"x": dispatch.code_address(0) + 4}) == 0


@pytest.mark.parametrize(
    ("lines", "places"),
    [
        (CALL.split("\n", 3)[3], {0: 4, 1: 12, 2: 20, 3: 28, 4: 36, 5: 44}),
        # Behind six instructions of four bytes the s_getpc_b64 still counts, behind seven it does not.
        ("s_getpc_b64 s[0:1]\n" + "s_nop 0\n" * 9, {0: 4, 1: 12, 2: 16, 7: 36, 8: 68}),
        ("s_getpc_b64 s[0:1]\ns_nop 0\ns_getpc_b64 s[2:3]\ns_nop 0\n", {2: 16, 3: 28}),
    ],
)
def test_where_a_literal_stands(lines, places):
    """In bytes from the first instruction on: behind the s_getpc_b64 before it instructions have 4 or 8 bytes, anywhere
    else 8; the literal is the last 4 of them."""
    program = parse(CALL[: CALL.index("s_nop")] + "k:\n" + lines)
    first = dispatch.code_address(0)
    found = {
        index: -dispatch.relocated(Symbol("x", 0, "rel32@lo"), index, program, {"x": first}) & 0xFFFFFFFF
        for index in places
    }
    assert found == places


def test_what_a_launch_does_not_give_is_0():
    kinds = ["printf_buffer", "hostcall_buffer", "multigrid_sync_arg", "dynamic_lds_size"]
    arguments = [Argument("", 8 * place, 8, f"hidden_{kind}") for place, kind in enumerate(kinds)]
    given = descriptor(arguments, kernarg_size=32)
    assert dispatch.fill_kernarg(given, b"", (1, 1, 1), (1, 1, 1)) == bytes(32)
    packet = dispatch.dispatch_packet(given, (1, 1, 1), (1, 1, 1), kernarg_address=0)
    assert struct.unpack_from("<I", packet, 28) == (64,)  # the kernel's own LDS
