"""The rules that the reference machine applies around rows, one short program each.

Expected values are worked out by hand from the ISA manuals (CDNA3, RDNA3); f32 bit patterns are written in hex.
"""

from __future__ import annotations

import numpy as np
import pytest

from gpulab.errors import KernelFault, KernelTimeout, KernelTrap, MemoryFault, UnsupportedInstruction
from gpulab.virtual_gpu import dispatch
from gpulab.virtual_gpu.reference.memory import Regions

from .run import group, wave

LANES = list(range(64))


def lanes(found, register: int) -> list[int]:
    return found.v[register].tolist()


# ---------------------------------------------------------------------------------------- EXEC and operands


def test_inactive_lanes_keep_their_registers():
    found = wave("v_mov_b32 v1, 7\n s_mov_b32 exec_lo, 5\n s_mov_b32 exec_hi, 0x80000000\n v_add_u32 v1, v1, v0")
    assert lanes(found, 1) == [7 + i if i in (0, 2, 63) else 7 for i in LANES]


def test_a_comparison_writes_zero_for_inactive_lanes():
    found = wave("s_mov_b64 vcc, -1\n s_mov_b64 exec, 0xff\n v_cmp_lt_u32_e32 vcc, 3, v0")
    assert found.vcc == 0xF0


def test_masks_reach_lanes_32_to_63():
    found = wave("v_cmp_lt_u32_e64 s[4:5], 60, v0\n v_cndmask_b32_e64 v1, 1, 2, s[4:5]")
    assert (found.s[4], found.s[5]) == (0, 0xE0000000)
    assert lanes(found, 1) == [2 if i > 60 else 1 for i in LANES]


def test_on_wave32_a_mask_is_one_register():
    found = wave("s_mov_b32 s3, 77\n v_cmp_gt_u32_e64 s2, 4, v0\n s_and_saveexec_b32 s4, s2", "gfx1100", threads=32)
    assert (found.s[2], found.s[3], found.s[4]) == (0xF, 77, 0xFFFFFFFF)
    assert found.exec == 0xF
    assert found.scc == 1


def test_the_last_wave_of_a_workgroup_may_be_partly_empty():
    waves = group("v_mov_b32 v1, 1", threads=70).waves
    assert len(waves) == 2
    assert waves[1].exec == 0x3F
    assert lanes(waves[1], 0)[:6] == [64, 65, 66, 67, 68, 69]


def test_cmpx_of_each_generation():
    old = wave("v_cmpx_gt_u32_e64 s[4:5], 4, v0")
    assert (old.exec, old.s[4]) == (0xF, 0xF)
    new = wave("s_mov_b32 vcc_lo, 9\n v_cmpx_gt_u32_e32 4, v0", "gfx1100", threads=32)
    assert (new.exec, new.vcc) == (0xF, 9)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("v_mov_b32 v1, 1.0", 0x3F800000),
        ("v_mov_b32 v1, -4", 0xFFFFFFFC),
        ("v_mov_b32 v1, 0.15915494", 0x3E22F983),
        ("v_add_f16 v1, 1.0, 2.0", 0x4200),
        ("v_add_f32 v1, 1.0, -0.5", 0x3F000000),
        ("v_add_f32 v1, 0x40000000, 1.0", 0x40400000),
        ("v_add_f32_e64 v1, -1.0, |-2.0|", 0x3F800000),
    ],
)
def test_constants_take_the_type_of_the_operand(line, expected):
    assert lanes(wave(line), 1)[0] == expected


@pytest.mark.parametrize(
    ("operand", "high", "low"),
    [
        ("1.0", 0x3FF00000, 0),
        ("0x40080000", 0x40080000, 0),  # a 32-bit literal is the high half of a double
        ("2", 0, 2),  # an inline integer is a 64-bit integer
        ("0.15915494309189532", 0x3FC45F30, 0x6DC9C882),
        ("-1.0", 0xBFF00000, 0),
    ],
)
def test_constants_of_doubles(operand, high, low):
    found = wave(f"v_mov_b32 v2, 0\n v_mov_b32 v3, 0x80000000\n v_max_f64 v[4:5], {operand}, {operand}", denormals=3)
    assert (lanes(found, 5)[0], lanes(found, 4)[0]) == (high, low)


def test_source_modifiers_are_applied_abs_first():
    found = wave(
        "v_mov_b32 v1, -2.0\n v_add_f32_e64 v2, -|v1|, 0\n v_mul_f32_e64 v3, -v1, 1.0\n v_mul_f32_e64 v4, |v1|, 1.0"
    )
    assert [lanes(found, r)[0] for r in (2, 3, 4)] == [0xC0000000, 0x40000000, 0x40000000]


def test_scalar_64_bit_operands():
    found = wave("s_mov_b64 s[2:3], 0xffffffff\n s_mov_b64 s[4:5], -2\n s_add_u32 s6, s2, s4\n s_addc_u32 s7, s3, s5")
    assert found.s[2:8] == [0xFFFFFFFF, 0, 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD, 0]
    assert found.scc == 1


def test_null_and_scc_and_apertures():
    found = wave("s_mov_b32 null, 5\n s_add_u32 s2, null, 3\n s_mov_b64 s[4:5], src_shared_base\n s_mov_b64 s[6:7], src_private_base",  # noqa: E501
                 "gfx1100", threads=32)  # fmt: skip
    assert found.s[2] == 3
    assert found.s[4:8] == [0, 0x00010000, 0, 0x00020000]


# --------------------------------------------------------------------------------------- MODE, clamp, omod


def test_denormals_follow_mode():
    body = "v_mov_b32 v1, 1\n v_add_f32 v2, v1, v1\n v_mov_b32 v3, 0x00800000\n v_mul_f32 v4, 0.5, v3"
    kept, flushed = wave(body, denormals=3), wave(body, denormals=0)
    assert (lanes(kept, 2)[0], lanes(kept, 4)[0]) == (2, 0x00400000)
    assert (lanes(flushed, 2)[0], lanes(flushed, 4)[0]) == (0, 0)


def test_setreg_changes_mode_while_running():
    body = """
      v_mov_b32 v1, 1
      s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3
      v_add_f32 v2, v1, v1
      s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0
      v_add_f32 v3, v1, v1
      s_getreg_b32 s4, hwreg(HW_REG_MODE, 4, 4)
    """
    found = wave(body, denormals=0)
    assert (lanes(found, 2)[0], lanes(found, 3)[0], found.s[4]) == (2, 0, 0b1100)


def test_clamp():
    body = "v_mov_b32 v1, 0x7fc00000\n v_add_f32_e64 v2, v1, 1.0 clamp\n v_add_f32_e64 v3, 2.0, 1.0 clamp\n v_add_f32_e64 v4, -2.0, 1.0 clamp"  # noqa: E501
    assert [lanes(wave(body), r)[0] for r in (2, 3, 4)] == [0, 0x3F800000, 0]


def test_integer_clamp_saturates():
    body = "v_mov_b32 v1, -1\n v_add_u32_e64 v2, v1, 5 clamp\n v_add_u32_e64 v3, v1, 5"
    assert [lanes(wave(body), r)[0] for r in (2, 3)] == [0xFFFFFFFF, 4]


def test_output_scale_works_without_ieee_mode_and_denormals_only():
    body = "v_mov_b32 v1, 1.0\n v_add_f32_e64 v2, v1, v1 mul:4\n v_add_f32_e64 v3, v1, v1 div:2"
    scaled = wave(body, denormals=0, ieee=0)
    assert [lanes(scaled, r)[0] for r in (2, 3)] == [0x41000000, 0x3F800000]
    for ignoring in (wave(body, denormals=0, ieee=1), wave(body, denormals=3, ieee=0)):
        assert [lanes(ignoring, r)[0] for r in (2, 3)] == [0x40000000, 0x40000000]


def test_other_roundings():
    """1 + 2**-25 toward infinity is the next float."""
    found = wave("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1\nv_mov_b32 v1, 0x33000000\nv_add_f32 v2, 1.0, v1")
    assert found.v[2, 0] == 0x3F800001


def test_halves_of_registers():
    body = "v_mov_b32 v1, 0x40003c00\n v_mov_b32 v2, 0x11112222\n v_add_f16_e32 v2.h, v1.l, v1.h"
    assert lanes(wave(body, "gfx1100", threads=32), 2)[0] == 0x42002222


def test_op_sel_chooses_halves_of_sources_and_result():
    body = "v_mov_b32 v1, 0x40003c00\n v_mov_b32 v2, 0x11112222\n v_mad_u16 v2, v1, 1, 0 op_sel:[1,0,0,1]"
    assert lanes(wave(body), 2)[0] == 0x40002222


def test_a_16_bit_result_clears_the_high_half_on_gfx9_and_keeps_it_on_gfx11():
    body = "v_mov_b32 v1, 0x11113c00\n v_add_f16_e32 v1, v1, v1"
    assert lanes(wave(body), 1)[0] == 0x4000
    body = "v_mov_b32 v1, 0x11113c00\n v_add_f16_e32 v1.l, v1.l, v1.l"
    assert lanes(wave(body, "gfx1100", threads=32), 1)[0] == 0x11114000


def test_packed_halves():
    body = """
      v_mov_b32 v1, 0x40003c00
      v_pk_add_f16 v2, v1, v1
      v_pk_add_f16 v3, v1, v1 op_sel:[1,0] op_sel_hi:[0,1]
      v_pk_add_f16 v4, v1, v1 neg_lo:[0,1] neg_hi:[1,1]
      v_pk_mul_f16 v5, v1, 2.0 op_sel_hi:[1,0]
    """
    found = wave(body)
    assert [lanes(found, r)[0] for r in (2, 3, 4, 5)] == [0x44004000, 0x42004200, 0xC4000000, 0x44004000]


def test_packed_f32():
    body = """
      v_mov_b32 v2, 1.0
      v_mov_b32 v3, 2.0
      v_pk_add_f32 v[4:5], v[2:3], v[2:3]
      v_pk_mul_f32 v[6:7], v[2:3], v[2:3] op_sel:[0,1] op_sel_hi:[1,0]
    """
    found = wave(body)
    assert [lanes(found, r)[0] for r in (4, 5, 6, 7)] == [0x40000000, 0x40800000, 0x40000000, 0x40000000]


def test_sdwa():
    body = """
      v_mov_b32 v1, 0x80c24182
      v_mov_b32 v2, 0xffffffff
      v_mov_b32 v3, 0xffffffff
      v_mov_b32 v4, 0xffffffff
      v_mov_b32_sdwa v2, sext(v1) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0
      v_mov_b32_sdwa v3, v1 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_2
      v_mov_b32_sdwa v4, v1 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:WORD_0
      v_add_u32_sdwa v5, v1, v1 dst_sel:WORD_0 dst_unused:UNUSED_SEXT src0_sel:BYTE_3 src1_sel:BYTE_0
    """
    found = wave(body)
    assert [lanes(found, r)[0] for r in (2, 3, 4, 5)] == [0xFFFFFF82, 0xFFFFC2FF, 0x41820000, 0x00000102]


# --------------------------------------------------------------------------------------------------- DPP


@pytest.mark.parametrize(
    ("control", "source"),
    [
        ("quad_perm:[1,0,3,2]", lambda i: i ^ 1),
        ("row_shl:3", lambda i: i + 3 if i % 16 < 13 else None),
        ("row_shr:1", lambda i: i - 1 if i % 16 else None),
        ("row_ror:4", lambda i: i // 16 * 16 + (i - 4) % 16),
        ("row_mirror", lambda i: i // 16 * 16 + 15 - i % 16),
        ("row_half_mirror", lambda i: i // 8 * 8 + 7 - i % 8),
        ("row_bcast:15", lambda i: i // 16 * 16 - 1 if i >= 16 else None),
        ("row_bcast:31", lambda i: 31 if i >= 32 else None),
        ("row_newbcast:5", lambda i: i // 16 * 16 + 5),
        ("wave_shr:1", lambda i: i - 1 if i else None),
        ("wave_shl:1", lambda i: i + 1 if i < 63 else None),
        ("wave_ror:1", lambda i: (i - 1) % 64),
    ],
)
@pytest.mark.parametrize("bound", [False, True])
def test_dpp(control, source, bound):
    """Without a source lane, bound_ctrl gives 0 and no bound_ctrl leaves the lane unwritten."""
    text = f"v_mov_b32 v1, 99\n v_mov_b32_dpp v1, v0 {control} row_mask:0xf bank_mask:0xf" + " bound_ctrl:1" * bound
    assert lanes(wave(text), 1) == [(0 if bound else 99) if source(i) is None else source(i) for i in LANES]


@pytest.mark.parametrize(
    ("control", "source"),
    [
        ("row_share:3", lambda i: i // 16 * 16 + 3),
        ("row_xmask:6", lambda i: i ^ 6),
        ("dpp8:[7,6,5,4,3,2,1,0]", lambda i: i ^ 7),
    ],
)
def test_dpp_of_gfx11(control, source):
    found = wave(f"v_mov_b32_dpp v1, v0 {control}", "gfx1100", threads=32)
    assert lanes(found, 1) == [source(i) for i in range(32)]


def test_dpp_masks_and_inactive_sources():
    found = wave("v_mov_b32 v1, 99\n v_mov_b32_dpp v1, v0 quad_perm:[0,0,0,0] row_mask:0x5 bank_mask:0x3")
    assert lanes(found, 1) == [i // 4 * 4 if i // 16 in (0, 2) and i // 4 % 4 < 2 else 99 for i in LANES]
    found = wave(
        "v_mov_b32 v1, 99\n s_mov_b64 exec, 0xe\n v_mov_b32_dpp v1, v0 quad_perm:[0,0,1,1] row_mask:0xf bank_mask:0xf"
    )
    assert lanes(found, 1)[:5] == [99, 99, 1, 1, 99]


def test_dpp_moves_the_first_source_only():
    found = wave("v_add_u32_dpp v1, v0, v0 quad_perm:[1,1,1,1] row_mask:0xf bank_mask:0xf")
    assert lanes(found, 1) == [i // 4 * 4 + 1 + i for i in LANES]


# -------------------------------------------------------------------------------------------- dual issue


def test_both_halves_of_a_dual_instruction_read_first():
    body = "v_mov_b32 v1, 1\n v_mov_b32 v2, 2\n v_dual_mov_b32 v1, v2 :: v_dual_mov_b32 v2, v1"
    found = wave(body, "gfx1100", threads=32)
    assert (lanes(found, 1)[0], lanes(found, 2)[0]) == (2, 1)


def test_dual_cndmask_reads_vcc():
    body = "s_mov_b32 vcc_lo, 5\n v_dual_cndmask_b32 v1, 0, v0 :: v_dual_add_f32 v2, 1.0, v0"
    assert lanes(wave(body, "gfx1100", threads=32), 1)[:4] == [0, 0, 2, 0]


# -------------------------------------------------------------------------------------------- control flow


def test_loops_and_branches():
    body = """
      s_mov_b32 s2, 0
      s_mov_b32 s3, 0
    .Lloop:
      s_add_u32 s3, s3, s2
      s_add_u32 s2, s2, 1
      s_cmp_lt_u32 s2, 10
      s_cbranch_scc1 .Lloop
      s_mov_b64 vcc, 0
      s_cbranch_vccnz .Lnever
      s_mov_b32 s4, 1
      s_branch .Lend
    .Lnever:
      s_mov_b32 s4, 2
    .Lend:
    """
    found = wave(body)
    assert (found.s[3], found.s[4]) == (45, 1)


def test_calls():
    body = """
      s_getpc_b64 s[4:5]
      s_add_u32 s4, s4, double@rel32@lo+4
      s_addc_u32 s5, s5, double@rel32@hi+12
      s_mov_b32 s2, 21
      s_swappc_b64 s[30:31], s[4:5]
      s_add_u32 s2, s2, 1
    """
    assert wave(body, after="double:\n s_lshl_b32 s2, s2, 1\n s_setpc_b64 s[30:31]").s[2] == 43


def test_barrier():
    """Each wave stores, then reads what another stored: right only if all have come to the barrier."""
    body = """
      v_lshlrev_b32 v1, 2, v0
      ds_write_b32 v1, v0
      s_barrier
      v_xor_b32 v2, 0x100, v1
      ds_read_b32 v3, v2
    """
    waves = group(body, threads=128).waves
    assert [w.v[3].tolist() for w in waves] == [[(i + 64 * n) ^ 64 for i in LANES] for n in (0, 1)]


def test_register_indexing():
    old = wave("v_mov_b32 v5, 55\n s_mov_b32 s2, 3\n s_set_gpr_idx_on s2, gpr_idx(SRC0)\n v_mov_b32 v1, v2\n"
               " s_set_gpr_idx_off\n v_mov_b32 v6, v2")  # fmt: skip
    assert (lanes(old, 1)[0], lanes(old, 6)[0]) == (55, 0)
    new = wave(
        "v_mov_b32 v5, 55\n s_mov_b32 m0, 3\n v_movrels_b32 v1, v2\n v_movreld_b32 v7, v5", "gfx1100", threads=32
    )
    assert (lanes(new, 1)[0], lanes(new, 10)[0]) == (55, 55)


# ---------------------------------------------------------------------------------------------- lanes


def test_readlane_and_writelane_ignore_exec():
    found = wave(
        "s_mov_b64 exec, 6\n v_readlane_b32 s2, v0, 63\n v_readfirstlane_b32 s3, v0\n v_writelane_b32 v1, 9, 40"
    )
    assert (found.s[2], found.s[3], lanes(found, 1)[40]) == (63, 1, 9)


def test_permutes():
    body = "v_xor_b32 v1, 1, v0\n v_lshlrev_b32 v1, 2, v1\n v_add_u32 v2, 100, v0\n ds_bpermute_b32 v3, v1, v2\n ds_permute_b32 v4, v1, v2"  # noqa: E501
    found = wave(body)
    assert lanes(found, 3) == lanes(found, 4) == [100 + (i ^ 1) for i in LANES]
    found = wave("v_mov_b32 v1, 8\n s_mov_b64 exec, 3\n ds_bpermute_b32 v3, v1, v0\n ds_permute_b32 v4, v1, v0")
    assert lanes(found, 3)[:3] == [0, 0, 0]  # lane 2 is inactive
    assert lanes(found, 4)[:3] == [0, 0, 0]  # sent to lane 2, which is not written


@pytest.mark.parametrize(
    ("pattern", "source"),
    [
        ("swizzle(SWAP,16)", lambda i: i ^ 16),
        ("swizzle(REVERSE,8)", lambda i: i ^ 7),
        ("swizzle(BROADCAST,8,5)", lambda i: i // 8 * 8 + 5),
        ("swizzle(QUAD_PERM,3,3,0,1)", lambda i: i // 4 * 4 + (3, 3, 0, 1)[i % 4]),
        ('swizzle(BITMASK_PERM,"01pip")', lambda i: i & 32 | 8 | (i & 7) ^ 2),
        ("swizzle(ROTATE,0,4)", lambda i: i & 32 | (i + 4) % 32),
    ],
)
def test_swizzles(pattern, source):
    assert lanes(wave(f"ds_swizzle_b32 v1, v0 offset:{pattern}"), 1) == [source(i) for i in LANES]


def test_permlane16():
    body = "s_mov_b32 s2, 0x01234567\n s_mov_b32 s3, 0x89abcdef\n v_permlane16_b32 v1, v0, s2, s3\n v_permlanex16_b32 v2, v0, s2, s3"  # noqa: E501
    found = wave(body, "gfx1100", threads=32)
    wanted = [7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8]
    assert lanes(found, 1) == wanted + [16 + w for w in wanted]
    assert lanes(found, 2) == [16 + w for w in wanted] + wanted


# ---------------------------------------------------------------------------------------------- memory


def memory_with(values: list[int]) -> tuple[Regions, int]:
    memory = Regions()
    return memory, memory.allocate(np.array(values, np.uint32).tobytes())


LOAD_BASE = "s_load_dwordx2 s[2:3], s[0:1], 0x0\n v_lshlrev_b32 v1, 2, v0\n"


def test_global_loads_and_stores():
    memory, out = memory_with([0x81828384 + i for i in range(80)])
    body = LOAD_BASE + """
      global_load_dword v2, v1, s[2:3] offset:4
      global_load_sbyte v3, v1, s[2:3]
      global_load_ushort v4, v1, s[2:3] offset:2
      v_mov_b32 v5, 0xaaaabbbb
      global_load_short_d16_hi v5, v1, s[2:3]
      global_load_dwordx2 v[6:7], v1, s[2:3]
      v_mov_b32 v8, s2
      v_mov_b32 v9, s3
      s_mov_b64 exec, 2
      global_store_byte v[8:9], v0, off offset:3
    """  # fmt: skip
    found = wave(body, memory=memory, out=out)
    first = [0x81828384 + i for i in range(66)]
    assert lanes(found, 2) == first[1:65]
    assert lanes(found, 3)[0] == 0xFFFFFF84
    assert lanes(found, 4)[0] == 0x8182
    assert lanes(found, 5)[0] == 0x8384BBBB
    assert (lanes(found, 6)[5], lanes(found, 7)[5]) == (first[5], first[6])
    assert memory.read(out, 4) == bytes([0x84, 0x83, 0x82, 1])


def test_scalar_loads():
    memory, out = memory_with([10, 20, 30, 40])
    found = wave("s_load_dwordx2 s[2:3], s[0:1], 0x0\n s_mov_b32 s4, 4\n s_load_dword s5, s[2:3], s4 offset:0x8\n s_load_dwordx2 s[6:7], s[2:3], 0x4",  # noqa: E501
                 memory=memory, out=out)  # fmt: skip
    assert found.s[5:8] == [40, 20, 30]


def test_atomics_run_lane_after_lane():
    memory, out = memory_with([5, 0])
    body = (
        LOAD_BASE
        + "v_mov_b32 v2, 0\n v_mov_b32 v3, 2\n global_atomic_add v4, v2, v3, s[2:3] sc0\n global_atomic_smax v2, v0, s[2:3] offset:4"  # noqa: E501
    )
    found = wave(body, memory=memory, out=out)
    assert lanes(found, 4) == [5 + 2 * i for i in LANES]
    assert np.frombuffer(memory.read(out, 8), np.uint32).tolist() == [133, 63]


def test_compare_and_swap_takes_its_data_in_the_order_of_each_family():
    memory, out = memory_with([7, 0])
    body = LOAD_BASE + """
      s_mov_b64 exec, 1
      v_mov_b32 v2, 0
      v_mov_b32 v4, 99
      v_mov_b32 v5, 7
      global_atomic_cmpswap v6, v2, v[4:5], s[2:3] sc0
      ds_write_b32 v2, v5
      ds_cmpst_rtn_b32 v7, v2, v5, v4
      ds_read_b32 v8, v2
    """  # fmt: skip
    found = wave(body, memory=memory, out=out)
    assert memory.read(out, 4) == bytes([99, 0, 0, 0])
    assert [lanes(found, r)[0] for r in (6, 7, 8)] == [7, 7, 99]


def test_lds_two_addresses():
    body = """
      s_mov_b64 exec, 1
      v_mov_b32 v1, 16
      v_mov_b32 v2, 11
      v_mov_b32 v3, 22
      ds_write2_b32 v1, v2, v3 offset0:1 offset1:3
      ds_read2_b32 v[4:5], v1 offset0:3 offset1:1
      ds_read_b32 v6, v1 offset:12
      ds_write2st64_b32 v1, v2, v3 offset1:2
      ds_read_b32 v7, v1 offset:512
    """
    found = wave(body)
    assert [lanes(found, r)[0] for r in (4, 5, 6, 7)] == [22, 11, 22, 22]


def test_scratch_belongs_to_the_lane_and_generic_addresses_reach_it():
    body = """
      s_mov_b32 s2, 8
      scratch_store_dword off, v0, s2 offset:4
      scratch_load_dword v1, off, off offset:12
      s_mov_b64 s[4:5], src_private_base
      v_mov_b32 v2, 12
      v_mov_b32 v3, s5
      flat_load_dword v4, v[2:3]
      v_lshlrev_b32 v5, 2, v0
      ds_write_b32 v5, v0 offset:256
      s_mov_b64 s[6:7], src_shared_base
      v_mov_b32 v6, s7
      flat_load_dword v7, v[5:6] offset:256
    """
    found = wave(body)
    for register in (1, 4, 7):
        assert lanes(found, register) == LANES


def test_buffers_drop_what_is_outside():
    memory, out = memory_with([1, 2, 3, 4])
    body = LOAD_BASE + """
      s_mov_b32 s4, s2
      s_mov_b32 s5, s3
      s_mov_b32 s6, 12
      s_mov_b32 s7, 0
      v_mov_b32 v2, 77
      buffer_load_dword v2, v1, s[4:7], 0 offen
    """  # fmt: skip
    assert lanes(wave(body, memory=memory, out=out), 2)[:5] == [1, 2, 3, 0, 0]


# ---------------------------------------------------------------------------------------------- faults


def test_a_bad_address_names_lane_thread_and_address():
    memory, out = memory_with([0] * 96)
    with pytest.raises(MemoryFault) as caught:
        group(LOAD_BASE + "global_store_dword v1, v0, s[2:3]", threads=128, memory=memory, out=out)
    fault = caught.value.fault
    assert (fault.kind, fault.wave, fault.lane, fault.thread) == ("out of bounds", 1, 32, (96, 0, 0))
    assert (fault.address, fault.bytes, fault.access) == (out + 384, 4, "write")
    assert fault.instruction == "global_store_dword v1, v0, s[2:3]"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("v_mov_b32 v2, 0\n v_mov_b32 v3, 0\n global_load_dword v1, v[2:3], off", "null"),
        ("v_mov_b32 v1, 1022\n ds_read_b32 v2, v1", "lds out of bounds"),
        ("v_mov_b32 v1, -4\n ds_write_b32 v1, v0", "lds out of bounds"),
        ("scratch_load_dword v1, off, off offset:64", "scratch out of bounds"),
        ("v_mov_b32 v1, 2\n ds_add_u32 v1, v0", "misaligned"),
    ],
)
def test_kinds_of_memory_faults(body, kind):
    with pytest.raises(MemoryFault) as caught:
        wave(body)
    assert caught.value.fault.kind == kind


def test_traps_timeouts_and_bad_jumps():
    with pytest.raises(KernelTrap):
        wave("s_trap 2")
    with pytest.raises(KernelTimeout):
        wave(".Lagain:\n s_branch .Lagain")
    with pytest.raises(KernelFault, match="bad jump"):
        wave("s_mov_b64 s[2:3], 64\n s_setpc_b64 s[2:3]")


def test_what_has_no_row_is_refused_by_name():
    with pytest.raises(UnsupportedInstruction, match="v_frobnicate_b32"):
        wave("v_frobnicate_b32 v0, v1")


def test_code_addresses_are_no_data():
    with pytest.raises(MemoryFault):
        wave("s_getpc_b64 s[2:3]\n s_load_dword s4, s[2:3], 0x0")
    assert dispatch.code_address(0) & dispatch.APERTURE_MASK not in (
        dispatch.SHARED_APERTURE,
        dispatch.PRIVATE_APERTURE,
    )


def test_dpp_moves_before_negation():
    """A lane without a source reads 0, and neg makes that -0."""
    text = "v_mov_b32 v1, 1.0\n v_mul_f32_dpp v2, -v1, v1 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1"
    assert lanes(wave(text), 2)[:2] == [0x80000000, 0xBF800000]


def test_a_wave_may_wait_for_what_another_one_stores():
    body = """
      v_readfirstlane_b32 s2, v0
      v_mov_b32 v1, 0
      s_cmp_lg_u32 s2, 0
      s_cbranch_scc1 .Lsecond
    .Lwait:
      ds_read_b32 v2, v1
      v_readfirstlane_b32 s3, v2
      s_cmp_eq_u32 s3, 0
      s_cbranch_scc1 .Lwait
      s_branch .Lend
    .Lsecond:
      v_mov_b32 v2, 7
      ds_write_b32 v1, v2
    .Lend:
    """
    assert group(body, threads=128).waves[0].s[3] == 7


def test_places_of_waves_go_round_robin():
    """XCC_ID is the workgroup's number modulo 8; the SIMD of a wave is its number modulo 4."""
    from gpulab.virtual_gpu.isa.control import PLACES

    assert PLACES["XCC_ID"] == ((0, "group", 1, 8),)
    waves = group("s_getreg_b32 s10, hwreg(HW_REG_HW_ID, 4, 2)", threads=384).waves
    assert [wave.s[10] for wave in waves] == [0, 1, 2, 3, 0, 1]


def test_a_kernel_without_lds_has_no_byte_of_it():
    for lds in (0, 4):
        with pytest.raises(MemoryFault, match="lds out of bounds"):
            wave(f"v_mov_b32 v1, {lds}\n ds_read_u8 v2, v1", lds=lds)
    assert wave("v_mov_b32 v1, 3\n ds_read_u8 v2, v1", lds=4).v[2].tolist() == [0] * 64


@pytest.mark.parametrize(
    ("mnemonic", "offset", "wanted"),
    [
        ("s_load_u8", 3, 0x81), ("s_load_i8", 3, 0xFFFFFF81), ("s_load_i8", 4, 0x7F), ("s_load_u16", 2, 0x8182),
        ("s_load_i16", 2, 0xFFFF8182), ("s_load_i16", 4, 0x7E7F), ("s_load_u16", 4, 0x7E7F),
        ("s_load_i8", -1, 0xFFFFFFF0),
        ("s_load_b32", 4, 0x7C7D7E7F), ("s_load_b32", -4, 0xF0F1F2F3),
    ],
)  # fmt: skip
def test_small_scalar_loads_of_gfx12(mnemonic, offset, wanted):
    """Bytes and halves are extended with zeros or with their sign; an offset may be negative."""
    memory, start = memory_with([0xF0F1F2F3, 0x81828384, 0x7C7D7E7F])
    body = f"s_load_b64 s[2:3], s[0:1], 0x0\n s_wait_kmcnt 0x0\n {mnemonic} s4, s[2:3], {offset}"
    assert wave(body, "gfx1201", threads=32, memory=memory, out=start + 4).s[4] == wanted


def test_two_places_of_lds_are_exchanged():
    """ds_wrxchg2: each place gets its own data, and the old values come back side by side."""
    body = """
      v_lshlrev_b32 v1, 3, v0
      v_add_u32 v2, 100, v0
      v_add_u32 v3, 200, v0
      ds_write2_b32 v1, v2, v3 offset1:1
      v_add_u32 v4, 300, v0
      v_add_u32 v5, 400, v0
      ds_wrxchg2_rtn_b32 v[6:7], v1, v4, v5 offset1:1
      ds_read2_b32 v[8:9], v1 offset1:1
    """
    found = wave(body)
    for register, first in ((6, 100), (7, 200), (8, 300), (9, 400)):
        assert lanes(found, register) == [first + i for i in LANES]


def test_exchanges_of_two_places_are_aligned():
    with pytest.raises(MemoryFault, match="misaligned") as caught:
        wave("v_lshlrev_b32 v1, 1, v0\n v_add_u32 v1, 2, v1\n ds_wrxchg2_rtn_b32 v[6:7], v1, v2, v3 offset1:1")
    assert (caught.value.fault.lane, caught.value.fault.bytes) == (0, 4)
    assert caught.value.fault.address == dispatch.SHARED_APERTURE | 2


def test_halves_of_special_registers():
    """vcc, exec and flat_scratch are written and read as halves and as a whole; the other half stays."""
    body = """
      s_mov_b32 vcc_lo, 0x11111111
      s_mov_b32 vcc_hi, 0x22222222
      s_mov_b64 s[4:5], vcc
      s_mov_b32 vcc_lo, 0x33333333
      s_mov_b32 s6, vcc_hi
      s_mov_b32 s7, vcc_lo
      s_mov_b32 exec_hi, 0xf
      s_mov_b64 s[8:9], exec
      s_mov_b32 m0, 0x89abcdef
      s_mov_b32 s10, m0
    """
    found = wave(body)
    assert found.s[4:11] == [0x11111111, 0x22222222, 0x22222222, 0x33333333, 0xFFFFFFFF, 0xF, 0x89ABCDEF]
    assert found.vcc == 0x22222222_33333333
    assert found.exec == 0xF_FFFFFFFF


def test_the_last_instruction_is_no_end():
    """A wave that runs past the code stops there, and the fault names the last instruction."""
    with pytest.raises(KernelFault, match="bad jump") as caught:
        group("s_branch .Lend", after=".Lend:\n  s_nop 5\n")
    assert caught.value.fault.instruction == "s_nop 5"
    assert caught.value.fault.detail == "the wave ran past the last instruction"


@pytest.mark.parametrize(("table", "wanted"), [(0x96, 0x96), (0xE8, 0xE8), (0x80, 0x80), (0x1, 0x1), (0xF0, 0xF0)])
def test_a_table_of_three_bits(table, wanted):
    """v_bitop3: bit 4 a + 2 b + c of the table; of these constants each bit of the result is one row of it."""
    body = f"""
      v_mov_b32 v2, 0xf0
      v_mov_b32 v3, 0xcc
      v_mov_b32 v4, 0xaa
      v_bitop3_b32 v1, v2, v3, v4 bitop3:{table:#x}
      v_and_b32 v1, 0xff, v1
    """
    assert lanes(wave(body, "gfx950"), 1) == [wanted] * 64


def test_the_byte_of_a_conversion_on_gfx12():
    """FP8 (E4M3): 0x38 is 1, 0x40 is 2, 0xc4 is -3, 0x30 is 0.5."""
    body = "v_mov_b32 v2, 0x30c44038\n" + "\n".join(f" v_cvt_f32_fp8_e64 v{4 + n}, v2 byte_sel:{n}" for n in range(4))
    found = wave(body, "gfx1201", threads=32)
    assert [lanes(found, 4 + n)[0] for n in range(4)] == [0x3F800000, 0x40000000, 0xC0400000, 0x3F000000]


def test_integers_as_packed_constants():
    """A small integer stands in the low half alone, as 16 bits if it is not negative; a negative one fills both."""
    body = """
      v_mov_b32 v1, 0x00100020
      v_pk_add_u16 v2, v1, 5 op_sel_hi:[1,0]
      v_pk_add_u16 v3, v1, 5
      v_pk_add_u16 v4, v1, -1
    """
    found = wave(body)
    assert [lanes(found, n)[0] for n in (2, 3, 4)] == [0x00150025, 0x00100025, 0x000F001F]
