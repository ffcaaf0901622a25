"""Packed rows, dot products and v_fma_mix against numbers worked out by hand (CDNA3 12.11, RDNA3 16.6)."""

import pytest

from gpulab.virtual_gpu import isa
from tests.isa.machines import run as machine_run
from tests.isa.rows import f16, f32, run


def pair(lo, hi):
    return f16(hi) << 16 | f16(lo)


def two(lo, hi):
    return f32(hi) << 32 | f32(lo)


ONES = 0x3F803F80  # two bf16 1.0

COMMON = [
    ("v_pk_add_f16", (pair(1.0, -2.0), pair(0.5, 5.0)), {}, pair(1.5, 3.0)),
    ("v_pk_mul_f16", (pair(3.0, -2.0), pair(0.5, 5.0)), {}, pair(1.5, -10.0)),
    ("v_pk_fma_f16", (pair(3.0, -2.0), pair(0.5, 5.0), pair(1.0, 1.0)), {}, pair(2.5, -9.0)),
    ("v_pk_fmac_f16", (pair(3.0, -2.0), pair(0.5, 5.0)), {"dst": pair(1.0, 1.0)}, pair(2.5, -9.0)),
    ("v_pk_min_f16", (pair(3.0, -0.0), pair(0.5, 0.0)), {}, pair(0.5, -0.0)),
    ("v_pk_max_f16", (pair(3.0, -0.0), pair(0.5, 0.0)), {}, pair(3.0, 0.0)),
    ("v_pk_add_u16", (0xFFFF0001, 0x00020002), {}, 0x00010003),
    ("v_pk_add_u16", (0xFFFF0001, 0x00020002), {"clamp": 1}, 0xFFFF0003),
    ("v_pk_sub_i16", (0x80000005, 0x00010007), {}, 0x7FFFFFFE),
    ("v_pk_sub_i16", (0x80000005, 0x00010007), {"clamp": 1}, 0x8000FFFE),
    ("v_pk_mad_u16", (0x00030002, 0x00050004, 0x00010001), {}, 0x00100009),
    ("v_pk_mad_i16", (0xFFFF0002, 0x00050004, 0x00010001), {}, 0xFFFC0009),
    ("v_pk_mul_lo_u16", (0x01000002, 0x01000004), {}, 0x00000008),
    ("v_pk_min_i16", (0xFFFF0002, 0x00010001), {}, 0xFFFF0001),
    ("v_pk_min_u16", (0xFFFF0002, 0x00010001), {}, 0x00010001),
    ("v_pk_max_i16", (0xFFFF0002, 0x00010001), {}, 0x00010002),
    ("v_pk_max_u16", (0xFFFF0002, 0x00010001), {}, 0xFFFF0002),
    ("v_pk_lshlrev_b16", (0x00010014, 0x80010001), {}, 0x00020010),
    ("v_pk_lshrrev_b16", (0x00010004, 0x80010010), {}, 0x40000001),
    ("v_pk_ashrrev_i16", (0x00010004, 0x80018000), {}, 0xC000F800),
    ("v_dot2_f32_f16", (pair(1.0, 2.0), pair(3.0, 4.0), 0.5), {}, f32(11.5)),
    ("v_dot2c_f32_f16", (pair(1.0, 2.0), pair(3.0, 4.0)), {"dst": 0.5}, f32(11.5)),
    ("v_dot4_u32_u8", (0xFF010203, 0xFF040506, 1), {}, 255 * 255 + 4 + 10 + 18 + 1),
    ("v_dot4_u32_u8", (0xFF000000, 0xFF000000, 0xFFFFFFFF), {"clamp": 1}, 0xFFFFFFFF),
    ("v_dot8_u32_u4", (0xF0000021, 0xF0000043, 7), {}, 225 + 8 + 3 + 7),
    ("v_fma_mix_f32", (2.0, 3.0, 4.0), {}, f32(10.0)),
    ("v_fma_mixlo_f16", (2.0, 3.0, 4.0), {}, f16(10.0)),
    ("v_fma_mixhi_f16", (2.0, 3.0, 4.0), {}, f16(10.0)),
]
GFX9 = [
    ("v_pk_add_f32", (two(1.0, 2.0), two(3.0, 4.0)), {}, two(4.0, 6.0)),
    ("v_pk_mul_f32", (two(1.0, 2.0), two(3.0, 4.0)), {}, two(3.0, 8.0)),
    ("v_pk_fma_f32", (two(1.0, 2.0), two(3.0, 4.0), two(0.5, 0.25)), {}, two(3.5, 8.25)),
    ("v_pk_mov_b32", (0x1111111122222222, 0x3333333344444444), {}, 0x4444444422222222),
    ("v_dot2_i32_i16", (0xFFFF0002, 0x00030004, 10), {}, 15),
    ("v_dot2_u32_u16", (0xFFFF0002, 0xFFFF0004, 0), {}, (0xFFFF * 0xFFFF + 8) & 0xFFFFFFFF),
    ("v_dot2_u32_u16", (0xFFFFFFFF, 0xFFFFFFFF, 0), {"clamp": 1}, 0xFFFFFFFF),
    ("v_dot4_i32_i8", (0xFF010203, 0x05040506, 1), {}, -5 + 4 + 10 + 18 + 1),
    ("v_dot8_i32_i4", (0xF0000021, 0x50000043, 7), {}, -5 + 8 + 3 + 7),
    ("v_dot4c_i32_i8", (0xFF000000, 0x05000000), {"dst": 1}, -4 & 0xFFFFFFFF),
]
GFX11 = [
    ("v_dot4_i32_iu8", (0xFF000000, 0x05000000, 1), {"neg": 0}, 255 * 5 + 1),
    ("v_dot4_i32_iu8", (0xFF000000, 0x05000000, 1), {"neg": 1}, -4 & 0xFFFFFFFF),
    ("v_dot4_i32_iu8", (0xFF000000, 0xFF000000, 0), {"neg": 2}, -255 & 0xFFFFFFFF),
    ("v_dot8_i32_iu4", (0xF0000001, 0xF0000001, 0), {"neg": 3}, 2),
    ("v_dot2acc_f32_f16", (pair(1.0, 2.0), pair(3.0, 4.0)), {"dst": 0.5}, f32(11.5)),
    ("v_dot2_f32_bf16", (ONES, ONES, 0.5), {}, f32(2.5)),
    ("v_dot2_bf16_bf16", (ONES, ONES, 1.0), {}, 0x4040),
    ("v_dot2_f16_f16", (pair(1.0, 2.0), pair(3.0, 4.0), 0.5), {}, f16(11.5)),
]
CASES = [("gfx942", *c) for c in COMMON + GFX9] + [("gfx1100", *c) for c in COMMON + GFX11]


@pytest.mark.parametrize(("arch", "mnemonic", "sources", "implicit", "expected"), CASES)
def test_packed(arch, mnemonic, sources, implicit, expected):
    assert hex(run(arch, mnemonic, *sources, **implicit)[0]) == hex(expected)


def test_rows_say_how_their_sources_are_packed():
    table = isa.table("gfx942")
    assert (table["v_pk_fma_f16"].packed, table["v_pk_fma_f16"].element) == ("pairs", "f16")
    assert (table["v_pk_fma_f32"].packed, table["v_pk_fma_f32"].element) == ("pairs", "f32")
    assert table["v_fma_mix_f32"].packed == "mix"
    assert table["v_add_f16"].packed == ""


def test_constants_in_packed_sources():
    """CDNA3 ISA manual, VOP3P: a constant of two floats or dwords stands in both halves, of a half in the low one."""
    found = machine_run(
        "gfx942",
        """
        v_mov_b32 v2, 2.0
        v_mov_b32 v3, 0x40400000
        v_pk_add_f32 v[4:5], v[2:3], 1.0
        v_pk_mul_f32 v[6:7], 0.5, v[2:3]
        v_pk_mov_b32 v[8:9], 5, v[2:3] op_sel:[0,1]
        v_pk_mov_b32 v[10:11], v[2:3], -1 op_sel:[1,0]
        v_mov_b32 v12, 0x00030005
        v_pk_add_u16 v13, v12, 7
        v_pk_add_u16 v14, v12, 7 op_sel_hi:[1,0]
        v_pk_add_u16 v15, v12, -1
        v_pk_lshlrev_b16 v16, 4, v12 op_sel_hi:[0,1]
        """,
    )
    first = [int(found.v[i][0]) for i in range(4, 12)]
    assert first == [0x40400000, 0x40800000, 0x3F800000, 0x3FC00000, 5, 0x40400000, 0x40400000, 0xFFFFFFFF]
    assert [int(found.v[i][0]) for i in (13, 14, 15, 16)] == [0x0003000C, 0x000A000C, 0x00020004, 0x00300050]


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_signs_of_a_dot_product(arch):
    """1 * 3 + 2 * 4 + 0.5: neg_lo changes the sign of low halves, and of the third source, which has no halves."""
    name = "v_dot2_f32_f16"
    found = machine_run(
        arch,
        f"""
        v_mov_b32 v1, {hex(pair(1.0, 2.0))}
        v_mov_b32 v2, {hex(pair(3.0, 4.0))}
        v_mov_b32 v3, 0.5
        {name} v4, v1, v2, v3
        {name} v5, v1, v2, v3 neg_lo:[0,0,1]
        {name} v6, v1, v2, v3 neg_lo:[1,0,0]
        {name} v7, v1, v2, v3 neg_lo:[1,1,1] neg_hi:[0,1,0]
        """,
    )
    assert [int(found.v[i][0]) for i in (4, 5, 6, 7)] == [f32(11.5), f32(10.5), f32(5.5), f32(-5.5)]
