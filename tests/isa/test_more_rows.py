"""Expected numbers of rows that other files leave out, worked by hand from the ISA manuals' formulas.

CDNA3 ISA manual 12.4-12.11, RDNA3 ISA manual 16.1-16.12; f16: 0x3c00 is 1, 0x4000 2, 0x3800 0.5, 0xbc00 -1.
"""

import pytest

from tests.isa.rows import f32, f64, run

NAN, SNAN, INF = 0x7FC00000, 0x7F800001, 0x7F800000
MINUS = 0xFFFFFFFF

BOTH = [
    ("s_xor_b32", (0xF0F0, 0xFF00), {}, (0x0FF0, 1)),
    ("s_xor_b32", (5, 5), {}, (0, 0)),
    ("s_nand_b64", (3, 1), {}, ((1 << 64) - 2, 1)),
    ("s_nor_b64", ((1 << 64) - 1, 0), {}, (0, 0)),
    ("s_xnor_b64", (3, 1), {}, ((1 << 64) - 3, 1)),
    ("s_bitset0_b64", (64 + 3,), {"dst": 0xFF}, (0xF7,)),
    ("s_bitcmp0_b64", (1 << 40, 40), {}, (0,)),
    ("s_bitcmp0_b64", (1 << 40, 41), {}, (1,)),
    ("v_min_f16", (0x3C00, 0xBC00), {}, (0xBC00,)),
    ("v_min_f16", (0x7E00, 0x4000), {}, (0x4000,)),
    ("v_min_f16", (0x0000, 0x8000), {}, (0x8000,)),
    ("v_subrev_f16", (0x3C00, 0x4200), {}, (0x4000,)),
    ("v_max3_f16", (0xBC00, 0x3800, 0x3C00), {}, (0x3C00,)),
    ("v_floor_f16", (0xBA00,), {}, (0xBC00,)),  # -0.75 -> -1
    ("v_trunc_f16", (0xBA00,), {}, (0x8000,)),
    ("v_rndne_f16", (0x4100,), {}, (0x4000,)),  # 2.5 -> 2
    ("v_rndne_f16", (0x3800,), {}, (0x0000,)),  # 0.5 -> 0
    ("v_fract_f16", (0xB400,), {}, (0x3A00,)),  # -0.25 -> 0.75
    ("v_ceil_f64", (f64(-0.5),), {}, (1 << 63,)),
    ("v_ceil_f64", (f64(2.25),), {}, (f64(3.0),)),
    ("v_rsq_f16", (0x4400,), {}, (0x3800,)),
    ("v_min3_u32", (7, MINUS, 3), {}, (3,)),
    ("v_max3_i32", (7, MINUS, 3), {}, (7,)),
    ("v_max_u16", (0xFFFF, 1), {}, (0xFFFF,)),
    ("v_min_i16", (0xFFFF, 1), {}, (0xFFFF,)),
    ("v_min3_i16", (5, 0x8000, 1), {}, (0x8000,)),
    ("v_max3_i16", (5, 0x8000, 1), {}, (5,)),
    ("v_max3_u16", (5, 0x8000, 1), {}, (0x8000,)),
    ("v_med3_i16", (5, 0x8000, 1), {}, (1,)),
    ("v_lshrrev_b16", (4 + 16, 0x8000), {}, (0x0800,)),
    ("v_cvt_f32_ubyte1", (0x11223344,), {}, (f32(0x33),)),
    ("v_cvt_f32_ubyte2", (0x11223344,), {}, (f32(0x22),)),
    ("v_pk_sub_u16", (0x00050001, 0x00020003), {"clamp": 0}, (0x0003FFFE,)),
    ("v_pk_sub_u16", (0x00050001, 0x00020003), {"clamp": 1}, (0x00030000,)),
    ("v_pk_add_i16", (0x7FFF8000, 0x0001FFFF), {"clamp": 0}, (0x80007FFF,)),
    ("v_pk_add_i16", (0x7FFF8000, 0x0001FFFF), {"clamp": 1}, (0x7FFF8000,)),
    # |a - b| of bytes where b is not 0, at byte steps; c adds 16 bits each
    ("v_mqsad_pk_u16_u8", (0x0807060504030201, 0x0A00140A, 0x0004000300020001), {}, (0x001C001E0020_0022,)),
    ("v_med3_f32", (f32(3.0), f32(-0.0), f32(0.0)), {}, (f32(0.0),)),
    ("v_med3_f32", (NAN, f32(1.0), f32(2.0)), {}, (f32(1.0),)),
    ("v_max3_f32", (SNAN, f32(1.0), f32(2.0)), {}, (f32(2.0),)),
    ("v_min_f32", (SNAN, f32(1.0)), {}, (SNAN | 0x400000,)),
    ("v_max_f64", (f64(-0.0), f64(0.0)), {}, (0,)),
    ("v_ldexp_f32", (f32(1.5), -149), {}, (2,)),  # 1.5 * 2**-149 is between 1 and 2 units: to even
    ("v_ldexp_f32", (f32(1.5), 200), {}, (INF,)),
    ("v_ldexp_f32", (f32(-0.0), 5), {}, (1 << 31,)),
    ("v_ldexp_f64", (f64(1.0), -1074), {}, (1,)),
    ("v_frexp_exp_i32_f32", (1,), {}, (-148 & MINUS,)),
    ("v_frexp_mant_f32", (1,), {}, (f32(0.5),)),
    ("v_frexp_exp_i32_f32", (INF,), {}, (0,)),
    ("v_frexp_mant_f32", (f32(-6.0),), {}, (f32(-0.75),)),
    ("v_frexp_exp_i16_f16", (0x0001,), {}, (-23 & 0xFFFF,)),
    ("v_cvt_i32_f32", (f32(3e9),), {}, (0x7FFFFFFF,)),
    ("v_cvt_i32_f32", (NAN,), {}, (0,)),
    ("v_cvt_u32_f32", (f32(-1.0),), {}, (0,)),
    ("v_cvt_u32_f64", (f64(1e10),), {}, (MINUS,)),
    ("v_cvt_i16_f16", (0x7C00,), {}, (0x7FFF,)),
    ("v_cvt_u16_f16", (0xBC00,), {}, (0,)),
    ("v_sad_u16", (0x00050003, 0x00010007, 10), {}, (18,)),
    ("v_sad_hi_u8", (0x05, 0x02, 1), {}, (0x30001,)),
    ("v_bfm_b32", (4, 30), {}, (0xC0000000,)),
    ("v_bfe_u32", (0xABCD1234, 8, 12), {}, (0xD12,)),
    ("v_alignbyte_b32", (0x11223344, 0x55667788, 3), {}, (0x22334455,)),
    ("v_mul_i32_i24", (0x01FFFFFF, 3), {}, (-3 & MINUS,)),
    ("v_mul_hi_u32_u24", (0x00FFFFFF, 0x00FFFFFF), {}, (0xFFFF,)),
    ("v_mad_i32_i24", (0x00800000, 2, 5), {}, ((5 - (1 << 24)) & MINUS,)),
    ("v_sat_pk_u8_i16", (0x0123FFF0,), {}, (0xFF00,)),
    ("v_cvt_off_f32_i4", (0x8,), {}, (f32(-0.5),)),
    ("v_cvt_off_f32_i4", (0x7,), {}, (f32(0.4375),)),
]

GFX9 = [
    ("s_ff0_i32_b64", ((1 << 40) - 1,), {}, (40,)),
    ("s_ff0_i32_b64", ((1 << 64) - 1,), {}, (MINUS,)),
    ("v_mac_f16", (0x4000, 0x4000), {"dst": 0x3C00}, (0x4500,)),
    ("v_mad_f16", (0x4000, 0x4000, 0xBC00), {}, (0x4200,)),
    ("v_mad_legacy_f16", (0x4000, 0x4000, 0xBC00), {}, (0x4200,)),
    ("v_madak_f16", (0x4000, 0x4000, 0x3C00), {}, (0x4500,)),
    ("v_madmk_f16", (0x4000, 0x4200, 0x3C00), {}, (0x4700,)),  # 2 * 3 + 1
    ("v_fma_legacy_f16", (0x4000, 0x4000, 0xBC00), {}, (0x4200,)),
    ("v_exp_legacy_f32", (f32(3.0),), {}, (f32(8.0),)),
    ("v_log_legacy_f32", (f32(8.0),), {}, (f32(3.0),)),
    ("v_sub_i32", (5, 7), {"clamp": 0}, (-2 & MINUS,)),
    ("v_sub_i32", (0x80000000, 1), {"clamp": 1}, (0x80000000,)),
    ("v_mul_lo_i32", (MINUS, 7), {}, (-7 & MINUS,)),
    ("v_add_i16", (0x7FFF, 1), {"clamp": 0}, (0x8000,)),
    ("v_add_i16", (0x7FFF, 1), {"clamp": 1}, (0x7FFF,)),
    ("v_mad_legacy_i16", (0xFFFF, 5, 3), {"clamp": 0}, (-2 & 0xFFFF,)),
    ("v_subrev_u16", (5, 3), {"clamp": 1}, (0,)),
    ("v_cvt_pknorm_i16_f16", (0x3C00, 0xC000), {}, (0x80017FFF,)),  # 1 and -2: limited to -1
    ("v_cvt_pknorm_u16_f16", (0x3800, 0xBC00), {}, (0x00008000,)),  # 0.5 * 65535 = 32767.5 to even
    ("v_cvt_pk_f32_bf8", (0x4044,), {}, (f32(1.0) << 32 | f32(2.0),)),  # FNUZ, bias 16
    ("v_dot2c_i32_i16", (0x0002FFFF, 0x00030004), {"dst": 100, "clamp": 0}, (102,)),
    ("v_dot8c_i32_i4", (0x0000000F, 0x00000007), {"dst": 0, "clamp": 0}, (-7 & MINUS,)),
]

GFX11 = [
    ("v_fmamk_f16", (0x4000, 0x4200, 0x3C00), {}, (0x4700,)),
    ("v_minmax_f16", (0x3C00, 0x4000, 0xBC00), {}, (0x3C00,)),
    ("v_minmax_f32", (f32(1.0), f32(2.0), f32(1.5)), {}, (f32(1.5),)),
    ("v_minmax_u32", (5, 9, 7), {}, (7,)),
    ("v_maxmin_i32", (MINUS, 9, 7), {}, (7,)),
    ("v_sub_nc_i32", (0x80000000, 1), {"clamp": 1}, (0x80000000,)),
    ("v_add_nc_i16", (0x7FFF, 1), {"clamp": 1}, (0x7FFF,)),
    ("v_or_b16", (0xF0F0, 0x0F00), {}, (0xFFF0,)),
    ("v_xor_b16", (0xF0F0, 0xFF00), {}, (0x0FF0,)),
    ("v_swap_b16", (), {"dst": 0x1111, "sdst": 0x2222}, (0x2222, 0x1111)),
    ("v_cvt_pk_norm_i16_f16", (0x3C00, 0xC000), {}, (0x80017FFF,)),
    ("v_cvt_pk_norm_u16_f16", (0x3C00, 0xBC00), {}, (0x0000FFFF,)),
    ("v_dot2acc_f32_bf16", (0x40003F80, 0x40403F80), {"dst": f32(1.0)}, (f32(8.0),)),  # 1 * 1 + 2 * 3 + 1
    ("v_mullit_f32", (f32(2.0), f32(3.0), f32(1.0)), {}, (f32(6.0),)),
    ("v_mullit_f32", (f32(2.0), f32(3.0), f32(0.0)), {}, (0xFF7FFFFF,)),
]

CASES = [(arch, *case) for arch in ("gfx942", "gfx1100") for case in BOTH]
CASES += [("gfx942", *case) for case in GFX9] + [("gfx1100", *case) for case in GFX11]


@pytest.mark.parametrize(("arch", "mnemonic", "sources", "implicit", "expected"), CASES)
def test_row(arch, mnemonic, sources, implicit, expected):
    assert [hex(x) for x in run(arch, mnemonic, *sources, **implicit)] == [hex(x) for x in expected]
