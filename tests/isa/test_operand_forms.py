"""Constants and modifiers where the form decides: float constants of integer operands, clamp of integer results,
literals of f64 operands, two NaNs.

Expected numbers: worked by hand. What a 16-bit integer operand makes of a float constant is hardware behaviour that
LLVM's SIInstrInfo::isInlineConstant tells of (the low 16 bits of the 32-bit value); clamp limits the exact result of
an integer instruction to its range (ISA manuals, "Output modifiers").
"""

import struct

import pytest

import gpulab
from tests.isa.machines import run

BOTH = pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
GFX11 = {"v_add_u16": "v_add_nc_u16", "v_sub_i16": "v_sub_nc_i16"}


def values(arch, body, *registers, **more):
    """Registers of lane 0 after `body`, in gfx9's names."""
    if arch == "gfx1100":
        for old, new in GFX11.items():
            body = body.replace(old, new)
    found = run(arch, body, lanes=1, **more)
    return [int(found.v[register][0]) for register in registers]


@BOTH
def test_float_constants_of_16_bit_integers_are_the_low_half_of_an_f32(arch):
    """4.0 is 0x40800000, 1/(2 pi) is 0x3e22f983."""
    body = """
        v_mov_b32 v1, 7
        v_add_u16 v2, 4.0, v1
        v_add_u16 v3, 0.15915494309189532, v1
        v_add_u16 v4, -3, v1
    """
    assert [number & 0xFFFF for number in values(arch, body, 2, 3, 4)] == [7, 0xF98A, 4]


@BOTH
def test_op_sel_names_halves_of_sources_and_of_the_destination(arch):
    """OPSEL of VOP3 in the ISA manuals: a bit for each source, then one for the destination; its other half stays."""
    body = """
        v_mov_b32 v1, 0x00090002
        v_mov_b32 v2, 0x01000010
        v_mov_b32 v3, 0x11112222
        v_mov_b32 v4, 0x11112222
        v_mov_b32 v5, 0x11112222
        v_mad_i16 v3, v1, v2, v2 op_sel:[0,0,0,1]
        v_mad_i16 v4, v1, v2, v2 op_sel:[1,0,1,1]
        v_mad_i16 v5, v1, v2, v2 op_sel:[0,1,0,0]
    """
    found = values(arch, body, 3, 4, 5)
    assert found[:2] == [0x0030_2222, 0x0190_2222]  # 2 * 16 + 16, 9 * 16 + 256
    assert found[2] & 0xFFFF == 2 * 256 + 16


@BOTH
def test_float_constants_of_packed_integers_are_both_halves_of_an_f32(arch):
    """op_sel and op_sel_hi choose from the 32 bits; a packed f16 operand has the f16 in its low half instead."""
    body = """
        v_mov_b32 v1, 0x00090002
        v_pk_add_u16 v2, v1, 4.0
        v_pk_add_u16 v3, v1, 4.0 op_sel:[0,1] op_sel_hi:[1,0]
        v_pk_sub_i16 v4, v1, -0.5
        v_pk_mul_lo_u16 v5, v1, -1
        v_pk_max_f16 v6, 4.0, 4.0
        v_dot4_u32_u8 v7, 4.0, 4.0, 1
    """
    third = (9 - 0xBF00 & 0xFFFF) << 16 | 2
    assert values(arch, body, 2, 3, 4, 5, 6, 7) == [
        0x40890002,
        0x00094082,
        third,
        (-9 & 0xFFFF) << 16 | -2 & 0xFFFF,
        0x00004400,
        0x40 * 0x40 + 0x80 * 0x80 + 1,
    ]


@BOTH
def test_clamp_of_24_and_16_bit_products(arch):
    """The exact product and sum are limited to 32 bits: -2**23 * 2**22, 0xffffff * 0x100001, -2**15 * -2**15."""
    body = """
        v_mov_b32 v1, 0x800000
        v_mov_b32 v2, 0x400000
        v_mad_i32_i24 v3, v1, v2, 5
        v_mad_i32_i24 v4, v1, v2, 5 clamp
        v_mul_i32_i24_e64 v5, v1, v2 clamp
        v_mad_i32_i24 v6, v1, -3, 5 clamp
        v_mov_b32 v7, 0xffffff
        v_mov_b32 v8, 0x100001
        v_mad_u32_u24 v9, v7, v8, 1
        v_mad_u32_u24 v10, v7, v8, 1 clamp
        v_mul_u32_u24_e64 v11, v7, v8 clamp
        v_mov_b32 v12, 0x8000
        v_mov_b32 v13, 0x60000000
        v_mad_i32_i16 v14, v12, v12, v13
        v_mad_i32_i16 v15, v12, v12, v13 clamp
        v_mov_b32 v16, 0xffff
        v_mov_b32 v17, 0x00020000
        v_mad_u32_u16 v18, v16, v16, v17
        v_mad_u32_u16 v19, v16, v16, v17 clamp
    """
    assert values(arch, body, 3, 4, 5, 6, 9, 10, 11, 14, 15, 18, 19) == [
        5,
        0x80000000,
        0x80000000,
        3 * (1 << 23) + 5,
        (0xFFFFFF * 0x100001 + 1) & 0xFFFFFFFF,
        0xFFFFFFFF,
        0xFFFFFFFF,
        0xA0000000,
        0x7FFFFFFF,
        0x00000001,
        0xFFFFFFFF,
    ]


@BOTH
def test_clamp_of_64_bit_sums_keeps_the_carry(arch):
    carry = "s[20:21]" if arch == "gfx942" else "s20"
    body = f"""
        v_mov_b32 v1, -1
        v_mov_b32 v2, -1
        v_mov_b32 v3, -1
        v_mad_u64_u32 v[4:5], {carry}, v1, v1, v[2:3] clamp
        v_mov_b32 v6, 0x7fffffff
        v_mov_b32 v7, 0x7fffffff
        v_mad_i64_i32 v[8:9], {carry}, v6, v6, v[6:7] clamp
        v_mov_b32 v10, 0
        v_mov_b32 v11, 0x80000000
        v_mad_i64_i32 v[12:13], {carry}, v6, -1, v[10:11] clamp
        v_mad_i64_i32 v[14:15], {carry}, v6, -1, v[6:7] clamp
    """
    found = values(arch, body, 4, 5, 8, 9, 12, 13, 14, 15)
    plain = (0x7FFFFFFF7FFFFFFF - 0x7FFFFFFF) & (1 << 64) - 1
    assert found == [0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0x7FFFFFFF, 0, 0x80000000, plain & 0xFFFFFFFF, plain >> 32]


@BOTH
def test_clamp_of_sums_of_differences(arch):
    body = """
        v_mov_b32 v1, 0x00000304
        v_mov_b32 v2, 0x00000101
        v_mov_b32 v3, 0xfffffffc
        v_sad_u8 v4, v1, v2, v3
        v_sad_u8 v5, v1, v2, v3 clamp
        v_sad_hi_u8 v6, v1, v2, v3 clamp
        v_msad_u8 v7, v1, v2, v3 clamp
        v_sad_u16 v8, v1, v2, v3 clamp
        v_sad_u32 v9, v1, v2, 1 clamp
        v_mov_b32 v11, 0
        v_mov_b32 v12, 0x0000fffd
        v_mov_b32 v13, 0
        v_mov_b32 v10, v1
        v_qsad_pk_u16_u8 v[14:15], v[10:11], v2, v[12:13]
        v_qsad_pk_u16_u8 v[16:17], v[10:11], v2, v[12:13] clamp
    """
    found = values(arch, body, 4, 5, 6, 7, 8, 9, 14, 16, 17)
    # the bytes 4 3 0 0 against 1 1 0 0: 3 + 2; from the second byte, 3 0 0 0: 2 + 1; from the third: 1 + 1
    ones = 0xFFFFFFFF
    assert found == [1, ones, ones, ones, ones, 0x203 + 1, 0x00030002, 0x0003FFFF, 0x00020002]


@BOTH
def test_clamp_of_floats_that_are_not_computed_from_floats(arch):
    """A byte as f32, and an f16 in the high half, whose other half stays."""
    body = """
        v_mov_b32 v1, 0x00c80001
        v_cvt_f32_ubyte2_e64 v2, v1 clamp
        v_cvt_f32_ubyte2_e64 v3, v1
        v_cvt_f32_ubyte0_e64 v4, v1 clamp
        v_cvt_off_f32_i4_e64 v5, 9 clamp
        v_cvt_off_f32_i4_e64 v6, 9
        v_mov_b32 v7, 3.0
        v_mov_b32 v8, 0x5678
        v_mov_b32 v9, 0x5678
        v_fma_mixhi_f16 v8, v7, v7, 1.0 clamp
        v_fma_mixhi_f16 v9, v7, v7, 1.0
        v_mov_b32 v10, 0x56780000
        v_fma_mixlo_f16 v10, v7, v7, 1.0 clamp
    """
    assert values(arch, body, 2, 3, 4, 5, 6, 8, 9, 10) == [
        0x3F800000,
        0x43480000,
        0x3F800000,
        0,
        0xBEE00000,
        0x3C005678,
        0x49005678,
        0x56783C00,
    ]


@BOTH
def test_constants_of_mix_are_halves_where_the_source_is_one(arch):
    """Compilers add up halves as half * 1.0 + f32, with op_sel_hi for the constant, too."""
    body = """
        v_mov_b32 v1, 0x42004400
        v_mov_b32 v2, 0.5
        v_fma_mix_f32 v3, v1, 1.0, v2 op_sel_hi:[1,1,0]
        v_fma_mix_f32 v4, v1, -2.0, v2 op_sel:[1,0,0] op_sel_hi:[1,1,0]
        v_fma_mix_f32 v5, v1, 1.0, 4.0 op_sel_hi:[1,0,1]
        v_fma_mix_f32 v6, v2, 1.0, 0 op_sel_hi:[0,0,0]
    """
    assert values(arch, body, 3, 4, 5, 6) == [0x40900000, 0xC0B00000, 0x41000000, 0x3F000000]


@BOTH
def test_denormal_results_of_mixhi_follow_mode(arch):
    """2**-20 is a denormal f16, 0x0010: kept, or flushed where MODE flushes f16 results."""
    body = "v_mov_b32 v1, 0x35800000\nv_mov_b32 v2, 0x1111\nv_fma_mixhi_f16 v2, v1, 1.0, 0"
    assert values(arch, body, 2) == [0x00101111]
    assert values(arch, body, 2, directives="float_denorm_mode_16_64 0") == [0x00001111]


def test_float_literals_of_f64_operands_have_32_bits():
    """1.7 is 0x3ffb333333333333: the literal is its high half. 1/(2 pi) is an inline constant and exact."""
    body = """
        v_mov_b32 v3, 0x3ff00000
        v_mul_f64 v[4:5], v[2:3], 1.7
        v_mul_f64 v[6:7], v[2:3], 0.15915494309189532
        v_mul_f64 v[8:9], v[2:3], 4.0
    """
    found = values("gfx1100", body, 4, 5, 6, 7, 8, 9)
    assert found == [0, 0x3FFB3333, 0x6DC9C882, 0x3FC45F30, 0, 0x40100000]


@BOTH
def test_of_two_quiet_nans_the_minimum_is_the_first(arch):
    body = """
        v_mov_b32 v1, 0x7fc00011
        v_mov_b32 v2, 0xffc00022
        v_min_f32 v3, v1, v2
        v_max_f32 v4, v2, v1
        v_max_f32 v5, v1, 0
        v_min_f32 v6, 0, v2
    """
    assert values(arch, body, 3, 4, 5, 6) == [0x7FC00011, 0xFFC00022, 0, 0]


def test_null_takes_no_result_of_a_control_instruction():
    """The wave goes on at the target of s_swappc_b64 and of s_call_b64."""
    body = """
        v_mov_b32 v1, 0
        s_getreg_b32 null, hwreg(HW_REG_MODE)
        s_sendmsg_rtn_b32 null, sendmsg(MSG_RTN_GET_REALTIME)
        s_getpc_b64 null
        s_getpc_b64 s[4:5]
        s_add_u32 s4, s4, far@rel32@lo+4
        s_addc_u32 s5, s5, far@rel32@hi+12
        s_swappc_b64 null, s[4:5]
        v_add_nc_u32 v1, v1, 1
    far:
        v_add_nc_u32 v1, v1, 2
        s_call_b64 null, last
        v_add_nc_u32 v1, v1, 4
    last:
        v_add_nc_u32 v1, v1, 8
        v_mov_b32 v2, s4
        s_mov_b32 s4, 0
        s_mov_b32 s5, 0
    """
    assert values("gfx1100", body, 1) == [10]


NOWHERE = """
.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
.text
.globl k
.p2align 8
.type k,@function
k:
  s_load_b32 s4, null, 0x10
  s_endpgm
.section .rodata
.amdhsa_kernel k
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 8
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.kernels:
  - {.name: k, .symbol: k.kd, .kernarg_segment_size: 0, .group_segment_fixed_size: 0, .private_segment_fixed_size: 0,
     .kernarg_segment_align: 8, .wavefront_size: 32, .sgpr_count: 8, .vgpr_count: 8, .max_flat_workgroup_size: 256}
amdhsa.version: [1, 2]
...
.end_amdgpu_metadata
"""


def test_null_as_a_base_is_address_0():
    with gpulab.using("virtual:gfx1100"):
        kernel = gpulab.compile(NOWHERE, language="asm", arch="gfx1100")["k"]
        with pytest.raises(gpulab.MemoryFault) as caught:
            kernel[1, 32]()
    assert caught.value.fault.kind == "null"
    assert caught.value.fault.address == 0x10


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_halves_as_sources_of_mixed_multiply_adds(arch):
    """CDNA 3 12.11 and RDNA 3 16.6: op_sel_hi takes a source for a half, op_sel says which; -x and |x| are of it."""
    lines = [
        "v_mov_b32 v1, 0x42003c00", "v_mov_b32 v2, 2.0", "v_mov_b32 v3, 0xc4004000",  # (1, 3), 2, (2, -4)
        "v_fma_mix_f32 v4, v1, v2, v3 op_sel_hi:[1,0,1]",
        "v_fma_mix_f32 v5, v1, v2, v3 op_sel:[1,0,1] op_sel_hi:[1,0,1]",
        "v_fma_mix_f32 v6, v1, v2, |v3| op_sel:[1,0,1] op_sel_hi:[1,0,1]",
        "v_fma_mix_f32 v7, -v1, v2, v3 op_sel:[1,0,0] op_sel_hi:[1,0,1]",
        "v_fma_mix_f32 v8, v2, -v2, 1.0",
    ]  # fmt: skip
    found = run(arch, "\n".join(lines))
    for register, value in ((4, 1 * 2 + 2), (5, 3 * 2 - 4), (6, 3 * 2 + 4), (7, -3 * 2 + 2), (8, 1 - 4)):
        assert set(found.v[register]) == {int.from_bytes(struct.pack("<f", value), "little")}, register
