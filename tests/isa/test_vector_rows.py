"""Vector rows against numbers worked out by hand from IEEE 754 and the ISA manuals (CDNA3 12.7, RDNA3 16.7 ff.).

In the tables an int is a bit pattern of the operand's type, a float a number of that type.
"""

import math

import numpy as np
import pytest

from gpulab.virtual_gpu import isa
from gpulab.virtual_gpu.reference.numpy_reader import evaluate
from tests.isa.rows import f16, f32, f64, from_f32, run

M = 0xFFFFFFFF
MM = 0xFFFFFFFFFFFFFFFF
TOP = 0x80000000
INF, NAN = math.inf, 0x7FC00000
QUIET, SIGNALING = 0x7FC00001, 0x7F800001

# mnemonic, sources, implicit parameters, results (one number, or several)
COMMON = [
    # ---- float arithmetic
    ("v_add_f32", (1.5, 2.25), {}, f32(3.75)),
    ("v_add_f32", (INF, -INF), {}, "nan"),
    ("v_add_f32", (1.0, 2.0**-24), {}, f32(1.0)),  # tie to even
    ("v_add_f32", (1.0, 1.5 * 2.0**-24), {}, 0x3F800001),
    ("v_sub_f32", (1.0, 3.0), {}, f32(-2.0)),
    ("v_subrev_f32", (1.0, 3.0), {}, f32(2.0)),
    ("v_mul_f32", (3.0, -0.0), {}, f32(-0.0)),
    ("v_mul_f32", (2.0**-75, 2.0**-74), {}, 0x00000001),  # denormal
    ("v_add_f16", (1.0, 2.0**-11), {}, f16(1.0)),
    ("v_mul_f16", (256.0, 256.0), {}, f16(INF)),
    ("v_sub_f16", (1.0, 0.5), {}, f16(0.5)),
    ("v_add_f64", (0.1, 0.2), {}, f64(0.1 + 0.2)),
    ("v_mul_f64", (1e200, 1e200), {}, f64(INF)),
    ("v_fma_f32", (1.0 + 2.0**-12, 1.0 - 2.0**-12, -1.0), {}, f32(-(2.0**-24))),
    ("v_fma_f32", (INF, 0.0, 1.0), {}, "nan"),
    ("v_fma_f16", (1.0 + 2.0**-5, 1.0 - 2.0**-5, -1.0), {}, f16(-(2.0**-10))),
    ("v_fma_f64", (1.0 + 2.0**-30, 1.0 - 2.0**-30, -1.0), {}, f64(-(2.0**-60))),
    ("v_fmac_f32", (2.0, 3.0), {"dst": 4.0}, f32(10.0)),
    ("v_fmaak_f32", (2.0, 3.0, 4.0), {}, f32(10.0)),
    ("v_fmamk_f32", (2.0, 3.0, 4.0), {}, f32(10.0)),
    # ---- minimum, maximum, median: NaN and zero rules of MODE.IEEE
    ("v_min_f32", (1.0, -2.0), {}, f32(-2.0)),
    ("v_min_f32", (0.0, -0.0), {}, TOP),
    ("v_min_f32", (-0.0, 0.0), {}, TOP),
    ("v_min_f32", (QUIET, 3.0), {}, f32(3.0)),
    ("v_min_f32", (3.0, QUIET), {}, f32(3.0)),
    ("v_min_f32", (SIGNALING, 3.0), {}, 0x7FC00001),
    ("v_min_f32", (3.0, SIGNALING), {}, 0x7FC00001),
    ("v_max_f32", (0.0, -0.0), {}, 0),
    ("v_max_f32", (-0.0, 0.0), {}, 0),
    ("v_max_f32", (-INF, QUIET), {}, f32(-INF)),
    ("v_max_f16", (1.0, 2.0), {}, f16(2.0)),
    ("v_min_f64", (-1.0, 0x7FF8000000000000), {}, f64(-1.0)),
    ("v_max_f64", (1.0, 2.0), {}, f64(2.0)),
    ("v_min3_f32", (3.0, 1.0, 2.0), {}, f32(1.0)),
    ("v_max3_f32", (3.0, 1.0, 2.0), {}, f32(3.0)),
    ("v_med3_f32", (3.0, 1.0, 2.0), {}, f32(2.0)),
    ("v_med3_f32", (1.0, 3.0, 2.0), {}, f32(2.0)),
    ("v_med3_f32", (2.0, 3.0, 1.0), {}, f32(2.0)),
    ("v_med3_f32", (QUIET, 5.0, 2.0), {}, f32(2.0)),
    ("v_med3_f16", (3.0, 1.0, 2.0), {}, f16(2.0)),
    # ---- rounding, parts of a float
    ("v_floor_f32", (-1.5,), {}, f32(-2.0)),
    ("v_ceil_f32", (-1.5,), {}, f32(-1.0)),
    ("v_trunc_f32", (-1.5,), {}, f32(-1.0)),
    ("v_rndne_f32", (2.5,), {}, f32(2.0)),
    ("v_rndne_f32", (3.5,), {}, f32(4.0)),
    ("v_rndne_f64", (-0.5,), {}, f64(-0.0)),
    ("v_floor_f64", (1e300,), {}, f64(1e300)),
    ("v_ceil_f16", (0.1,), {}, f16(1.0)),
    ("v_fract_f32", (3.75,), {}, f32(0.75)),
    ("v_fract_f32", (-3.75,), {}, f32(0.25)),
    ("v_fract_f32", (-1e-30,), {}, 0x3F7FFFFF),
    ("v_fract_f64", (-1e-30,), {}, 0x3FEFFFFFFFFFFFFF),
    ("v_frexp_mant_f32", (12.0,), {}, f32(0.75)),
    ("v_frexp_mant_f32", (-0.0,), {}, TOP),
    ("v_frexp_mant_f32", (0x00000001,), {}, f32(0.5)),
    ("v_frexp_exp_i32_f32", (12.0,), {}, 4),
    ("v_frexp_exp_i32_f32", (0x00000001,), {}, -148 & M),
    ("v_frexp_exp_i32_f32", (INF,), {}, 0),
    ("v_frexp_exp_i32_f32", (0.0,), {}, 0),
    ("v_frexp_mant_f64", (-1e-310,), {}, f64(math.frexp(-1e-310)[0])),
    ("v_frexp_exp_i32_f64", (-1e-310,), {}, math.frexp(-1e-310)[1] & M),
    ("v_frexp_exp_i16_f16", (2.0,), {}, 2),
    ("v_frexp_mant_f16", (6.0,), {}, f16(0.75)),
    ("v_ldexp_f32", (1.5, 4), {}, f32(24.0)),
    ("v_ldexp_f32", (1.0, -149), {}, 1),
    ("v_ldexp_f32", (1.0, -150), {}, 0),
    ("v_ldexp_f32", (1.5, -150), {}, 1),
    ("v_ldexp_f32", (0x00000001, 276), {}, f32(2.0**127)),
    ("v_ldexp_f32", (1.0, 0x7FFFFFFF), {}, f32(INF)),
    ("v_ldexp_f32", (-1.0, TOP), {}, TOP),
    ("v_ldexp_f64", (1.0, -1074), {}, 1),
    ("v_ldexp_f64", (1.0, 1024), {}, f64(INF)),
    ("v_ldexp_f16", (1.0, -24), {}, 1),
    ("v_ldexp_f16", (1.0, 16), {}, f16(INF)),
    # ---- division
    ("v_div_fixup_f32", (9.0, 3.0, -6.0), {}, f32(-9.0)),
    ("v_div_fixup_f32", (1.0, 0.0, 0.0), {}, 0xFFC00000),
    ("v_div_fixup_f32", (1.0, 0.0, -1.0), {}, f32(-INF)),
    ("v_div_fixup_f32", (1.0, INF, -1.0), {}, TOP),
    ("v_div_fixup_f32", (1.0, INF, INF), {}, 0xFFC00000),
    ("v_div_fixup_f32", (1.0, SIGNALING, 1.0), {}, 0x7FC00001),
    ("v_div_fixup_f64", (1.0, 0.0, 1.0), {}, f64(INF)),
    ("v_div_fixup_f16", (2.0, -1.0, 1.0), {}, f16(-2.0)),
    ("v_div_fmas_f32", (2.0, 3.0, 1.0), {"vcc": 0}, f32(7.0)),
    ("v_div_fmas_f32", (2.0, 3.0, 1.0), {"vcc": 1}, f32(7.0 * 2.0**-64)),
    ("v_div_fmas_f32", (2.0, 3.0, 2.0), {"vcc": 1}, f32(8.0 * 2.0**64)),
    ("v_div_fmas_f64", (1.0, 1.0, 2.0), {"vcc": 1}, f64(3.0 * 2.0**128)),
    ("v_div_scale_f32", (1.0, 4.0, 1.0), {}, (f32(1.0), 0)),
    ("v_div_scale_f32", (0.0, 0.0, 1.0), {}, (NAN, 1)),
    ("v_div_scale_f32", (2.0**-100, 2.0**-100, 1.0), {}, (f32(2.0**-36), 1)),
    ("v_div_scale_f32", (1.0, 2.0**-100, 1.0), {}, (f32(1.0), 1)),
    ("v_div_scale_f32", (2.0**-110, 2.0**20, 2.0**-110), {}, (f32(2.0**-46), 1)),
    # 1e-36 / 1.0 is a normal number, and the numerator is tiny: both are scaled, and nothing is scaled back
    ("v_div_scale_f32", (2.0**-120, 1.0, 2.0**-120), {}, (f32(2.0**-56), 0)),
    ("v_div_scale_f32", (1.0, 1.0, 2.0**-120), {}, (f32(2.0**64), 0)),
    # 1e-20 / 1e30 rounds to zero, which is no denormal
    ("v_div_scale_f32", (2.0**-67, 2.0**99, 2.0**-67), {}, (f32(2.0**-67), 0)),
    ("v_div_scale_f32", (2.0**-100, 2.0**50, 2.0**-100), {}, (f32(2.0**-100), 0)),
    ("v_div_scale_f32", (2.0**-100, 2.0**49, 2.0**-100), {}, (f32(2.0**-36), 1)),
    ("v_div_scale_f32", (2.0**-130, 2.0**-3, 2.0**-130), {}, (f32(2.0**-66), 1)),
    ("v_div_scale_f32", (2.0**-105, 2.0**-105, 2.0**-110), {}, (f32(2.0**-41), 0)),
    ("v_div_scale_f64", (4.0, 4.0, 8.0), {}, (f64(4.0), 0)),
    ("v_trig_preop_f64", (1.0, 0), {}, 0x3FE45F306DC9C882),
    ("v_trig_preop_f64", (1.0, 1), {}, 0x3C94A7F09D5F47D4),
    ("v_trig_preop_f64", (1.0, 2), {}, 0x394A6EE06DB14ACC),
    # ---- transcendental: exact points
    ("v_rcp_f32", (-2.0,), {}, 0xBF000000),
    ("v_rcp_f32", (-INF,), {}, TOP),
    ("v_rcp_f32", (0.0,), {}, f32(INF)),
    ("v_rcp_f32", (0x00000001,), {}, f32(INF)),
    ("v_rcp_f32", (2.0**127,), {}, 0),
    ("v_rcp_iflag_f32", (4.0,), {}, f32(0.25)),
    ("v_rsq_f32", (4.0,), {}, f32(0.5)),
    ("v_rsq_f32", (-1.0,), {}, "nan"),
    ("v_rsq_f32", (-0.0,), {}, f32(-INF)),
    ("v_sqrt_f32", (2.0,), {}, 0x3FB504F3),
    ("v_sqrt_f32", (-0.0,), {}, TOP),
    ("v_sqrt_f64", (2.0,), {}, f64(math.sqrt(2))),
    ("v_rcp_f64", (3.0,), {}, f64(1 / 3)),
    ("v_rsq_f64", (16.0,), {}, f64(0.25)),
    ("v_exp_f32", (3.0,), {}, f32(8.0)),
    ("v_exp_f32", (-126.0,), {}, 0x00800000),
    ("v_exp_f32", (-127.0,), {}, 0),
    ("v_exp_f32", (128.0,), {}, f32(INF)),
    ("v_exp_f32", (-INF,), {}, 0),
    ("v_log_f32", (8.0,), {}, f32(3.0)),
    ("v_log_f32", (1.0,), {}, 0),
    ("v_log_f32", (0.0,), {}, f32(-INF)),
    ("v_log_f32", (-1.0,), {}, "nan"),
    ("v_log_f32", (INF,), {}, f32(INF)),
    ("v_sin_f32", (0.25,), {}, f32(1.0)),
    ("v_sin_f32", (-0.0,), {}, TOP),
    ("v_sin_f32", (1.0,), {}, 0),
    ("v_sin_f32", (-INF,), {}, 0xFFC00000),
    ("v_sin_f32", (-3.4028234663852886e38,), {}, TOP),
    ("v_cos_f32", (0.5,), {}, f32(-1.0)),
    ("v_cos_f32", (3.4028234663852886e38,), {}, f32(1.0)),
    ("v_rcp_f16", (2.0,), {}, 0x3800),
    ("v_rcp_f16", (3.0,), {}, f16(1 / 3)),
    ("v_sqrt_f16", (2.0,), {}, f16(math.sqrt(2))),
    ("v_exp_f16", (-24.0,), {}, 1),
    ("v_log_f16", (0x0001,), {}, f16(-24.0)),
    ("v_sin_f16", (0.25,), {}, f16(1.0)),
    ("v_cos_f16", (0.0,), {}, f16(1.0)),
    # ---- conversions
    ("v_cvt_i32_f32", (-1.9,), {}, M),
    ("v_cvt_i32_f32", (3e9,), {}, 0x7FFFFFFF),
    ("v_cvt_i32_f32", (-INF,), {}, TOP),
    ("v_cvt_i32_f32", (NAN,), {}, 0),
    ("v_cvt_u32_f32", (-1.0,), {}, 0),
    ("v_cvt_u32_f32", (5e9,), {}, M),
    ("v_cvt_u32_f32", (4294967040.0,), {}, 0xFFFFFF00),
    ("v_cvt_f32_i32", (0x01000001,), {}, f32(16777216.0)),
    ("v_cvt_f32_u32", (M,), {}, f32(4294967296.0)),
    ("v_cvt_f64_i32", (TOP,), {}, f64(-2147483648.0)),
    ("v_cvt_f64_u32", (M,), {}, f64(4294967295.0)),
    ("v_cvt_i32_f64", (-2147483649.0,), {}, TOP),
    ("v_cvt_u32_f64", (4294967295.9,), {}, M),
    ("v_cvt_f32_f64", (1.0 + 2.0**-24,), {}, f32(1.0)),
    ("v_cvt_f64_f32", (0.1,), {}, f64(from_f32(f32(0.1)))),
    ("v_cvt_f16_f32", (65520.0,), {}, f16(INF)),
    ("v_cvt_f16_f32", (65519.0,), {}, 0x7BFF),
    ("v_cvt_f16_f32", (2.0**-25,), {}, 0),
    ("v_cvt_f32_f16", (0x0001,), {}, f32(2.0**-24)),
    ("v_cvt_f16_i16", (-3,), {}, f16(-3.0)),
    ("v_cvt_f16_u16", (0xFFFF,), {}, f16(INF)),
    ("v_cvt_i16_f16", (-2.5,), {}, 0xFFFE),
    ("v_cvt_u16_f16", (-2.5,), {}, 0),
    ("v_cvt_i16_f16", (INF,), {}, 0x7FFF),
    ("v_cvt_f32_ubyte0", (0x04030201,), {}, f32(1.0)),
    ("v_cvt_f32_ubyte3", (0xFF030201,), {}, f32(255.0)),
    ("v_cvt_off_f32_i4", (0x8,), {}, f32(-0.5)),
    ("v_cvt_off_f32_i4", (0x7,), {}, f32(0.4375)),
    ("v_cvt_norm_i16_f16", (1.0,), {}, 0x7FFF),
    ("v_cvt_norm_i16_f16", (-1.0,), {}, 0x8001),
    ("v_cvt_norm_u16_f16", (2.0,), {}, 0xFFFF),
    ("v_cvt_pk_i16_i32", (70000, -70000), {}, 0x80007FFF),
    ("v_cvt_pk_u16_u32", (70000, 5), {}, 0x0005FFFF),
    ("v_cvt_pk_u8_f32", (128.9, 1, 0x11223344), {}, 0x11228144),
    ("v_cvt_pk_u8_f32", (2.5, 0, 0), {}, 2),
    ("v_cvt_pk_u8_f32", (3.5, 5, 0), {}, 0x400),
    ("v_cvt_pk_u8_f32", (NAN, 0, M), {}, 0xFFFFFF00),
    ("v_cvt_pk_u8_f32", (-5.0, 3, M), {}, 0x00FFFFFF),
    ("v_cvt_pk_u8_f32", (300.0, 0, 0), {}, 0xFF),
    # ---- integers
    ("v_add3_u32", (M, 2, 3), {}, 4),
    ("v_lshl_add_u32", (3, 4, 5), {}, 53),
    ("v_add_lshl_u32", (3, 4, 5), {}, 224),
    ("v_lshl_or_b32", (3, 4, 5), {}, 0x35),
    ("v_and_or_b32", (0xF0, 0x3C, 1), {}, 0x31),
    ("v_or3_b32", (1, 2, 4), {}, 7),
    ("v_xad_u32", (0xFF, 0x0F, 1), {}, 0xF1),
    ("v_mul_lo_u32", (0x12345678, 0x1000), {}, 0x45678000),
    ("v_mul_hi_u32", (M, M), {}, 0xFFFFFFFE),
    ("v_mul_hi_i32", (M, M), {}, 0),
    ("v_mul_u32_u24", (0x01FFFFFF, 2), {}, 0x01FFFFFE),
    ("v_mul_i32_i24", (0x00FFFFFF, 3), {}, 0xFFFFFFFD),
    ("v_mul_hi_u32_u24", (0xFFFFFF, 0xFFFFFF), {}, 0xFFFF),
    ("v_mul_hi_i32_i24", (0xFFFFFF, 1), {}, M),
    ("v_mad_u32_u24", (0x1000003, 4, 5), {}, 17),
    ("v_mad_i32_i24", (0xFFFFFF, 4, 5), {}, 1),
    ("v_mad_u32_u16", (0xFFFF, 0xFFFF, 1), {}, 0xFFFE0002),
    ("v_mad_i32_i16", (0xFFFF, 5, 1), {}, -4 & M),
    ("v_mad_u64_u32", (M, M, MM), {}, (0xFFFFFFFE00000000, 1)),
    ("v_mad_u64_u32", (2, 3, 4), {}, (10, 0)),
    ("v_mad_i64_i32", (M, 3, 4), {}, (1, 0)),
    ("v_mad_i64_i32", (M, 1, 0), {}, (MM, 1)),
    ("v_add_co_u32", (M, 1), {}, (0, 1)),
    ("v_sub_co_u32", (1, 2), {}, (M, 1)),
    ("v_subrev_co_u32", (1, 2), {}, (1, 0)),
    ("v_min_i32", (M, 1), {}, M),
    ("v_min_u32", (M, 1), {}, 1),
    ("v_max_i32", (M, 1), {}, 1),
    ("v_max_u32", (M, 1), {}, M),
    ("v_min3_i32", (3, M, 1), {}, M),
    ("v_max3_u32", (3, M, 1), {}, M),
    ("v_med3_i32", (-5, 7, 3), {}, 3),
    ("v_med3_u32", (-5, 7, 3), {}, 7),
    ("v_mad_u16", (300, 300, 1), {}, 90001 & 0xFFFF),
    ("v_mad_u16", (300, 300, 1), {"clamp": 1}, 0xFFFF),
    ("v_mad_i16", (-300, 300, 0), {"clamp": 1}, 0x8000),
    ("v_mul_lo_u16", (300, 300), {}, 90000 & 0xFFFF),
    ("v_min_u16", (0xFFFF, 1), {}, 1),
    ("v_max_i16", (0xFFFF, 1), {}, 1),
    ("v_med3_u16", (5, 1, 3), {}, 3),
    # ---- bits
    ("v_and_b32", (0xF0, 0x3C), {}, 0x30),
    ("v_or_b32", (0xF0, 0x0C), {}, 0xFC),
    ("v_xor_b32", (0xFF, 0x0F), {}, 0xF0),
    ("v_xnor_b32", (0xFF, 0x0F), {}, 0xFFFFFF0F),
    ("v_not_b32", (0xFF,), {}, 0xFFFFFF00),
    ("v_lshlrev_b32", (36, 1), {}, 16),
    ("v_lshrrev_b32", (4, TOP), {}, 0x08000000),
    ("v_ashrrev_i32", (4, TOP), {}, 0xF8000000),
    ("v_lshlrev_b64", (68, 1), {}, 16),
    ("v_lshrrev_b64", (63, 1 << 63), {}, 1),
    ("v_ashrrev_i64", (63, 1 << 63), {}, MM),
    ("v_lshlrev_b16", (17, 3), {}, 6),
    ("v_ashrrev_i16", (4, 0x8000), {}, 0xF800),
    ("v_bfrev_b32", (0x00000001,), {}, TOP),
    ("v_bfi_b32", (0xFF00, 0x1234, 0x5678), {}, 0x1278),
    ("v_bfm_b32", (8, 4), {}, 0xFF0),
    ("v_bfe_u32", (0xABCD1234, 16, 8), {}, 0xCD),
    ("v_bfe_u32", (0xABCD1234, 16, 32), {}, 0),
    ("v_bfe_i32", (0xABCD1234, 16, 8), {}, 0xFFFFFFCD),
    ("v_bfe_i32", (0x7FFFFFFF, 0, 0), {}, 0),
    ("v_bfe_i32", (TOP, 31, 4), {}, M),
    ("v_bcnt_u32_b32", (0xFF, 3), {}, 11),
    ("v_mbcnt_lo_u32_b32", (M, 0), {"lane": 5}, 5),
    ("v_mbcnt_lo_u32_b32", (M, 1), {"lane": 40}, 33),
    ("v_mbcnt_hi_u32_b32", (M, 0), {"lane": 5}, 0),
    ("v_mbcnt_hi_u32_b32", (0b1011, 0), {"lane": 35}, 2),
    ("v_alignbit_b32", (0x12345678, 0x9ABCDEF0, 8), {}, 0x789ABCDE),
    ("v_alignbit_b32", (1, 2, 32), {}, 2),
    ("v_alignbyte_b32", (0x12345678, 0x9ABCDEF0, 3), {}, 0x3456789A),
    ("v_perm_b32", (0x77665544, 0x33221100, 0x07050301), {}, 0x77553311),
    ("v_perm_b32", (0x77665544, 0x33221100, 0x0C0D0C0F), {}, 0x00FF00FF),
    ("v_perm_b32", (0x80008000, 0x80008000, 0x0B0A0908), {}, M),
    ("v_perm_b32", (0x80000000, 0x00008000, 0x0B0A0908), {}, 0xFF0000FF),
    ("v_lerp_u8", (0x01FF0010, 0x02FF0020, 0x01010100), {}, 0x02FF0018),
    ("v_sad_u8", (0x01020304, 0x04030201, 100), {}, 108),
    ("v_sad_hi_u8", (0x01020304, 0x04030201, 5), {}, (8 << 16) + 5),
    ("v_msad_u8", (0x01020304, 0x04000201, 0), {}, 3 + 1 + 3),
    ("v_sad_u16", (0x00010005, 0x00030001, 1), {}, 7),
    ("v_sad_u32", (3, 10, 1), {}, 8),
    ("v_qsad_pk_u16_u8", (0x0706050403020100, 0x03020100, 0), {}, 12 << 48 | 8 << 32 | 4 << 16),
    ("v_sat_pk_u8_i16", (0x0100FFFF,), {}, 0xFF00),
    ("v_pack_b32_f16", (0x1234, 0x5678), {}, 0x56781234),
    ("v_cndmask_b32", (1, 2, 1), {}, 2),
    ("v_cndmask_b32", (1, 2, 0), {}, 1),
    ("v_swap_b32", (), {"dst": 1, "sdst": 2}, (2, 1)),
    ("v_cubeid_f32", (1.0, -3.0, 2.0), {}, f32(3.0)),
    ("v_cubema_f32", (1.0, -3.0, 2.0), {}, f32(-6.0)),
    ("v_cubesc_f32", (1.0, -3.0, 2.0), {}, f32(1.0)),
    ("v_cubetc_f32", (1.0, -3.0, 2.0), {}, f32(-2.0)),
]
GFX9 = [
    ("v_add_u32", (M, 2), {}, 1),
    ("v_add_u32", (M, 2), {"clamp": 1}, M),
    ("v_sub_u32", (1, 2), {"clamp": 1}, 0),
    ("v_subrev_u32", (1, 5), {}, 4),
    ("v_add_i32", (0x7FFFFFFF, 1), {"clamp": 1}, 0x7FFFFFFF),
    ("v_add_u16", (0xFFFF, 2), {}, 1),
    ("v_sub_u16", (1, 2), {"clamp": 1}, 0),
    ("v_addc_co_u32", (M, 0, 1), {}, (0, 1)),
    ("v_subb_co_u32", (0, 0, 1), {}, (M, 1)),
    ("v_subbrev_co_u32", (1, 5, 1), {}, (3, 0)),
    ("v_lshl_add_u64", (1 << 40, 3, 5), {}, (8 << 40) + 5),
    ("v_lshl_add_u64", (1, 9, 0), {}, 2),
    ("v_mov_b64", (MM,), {}, MM),
    ("v_ffbh_u32", (0x00010000,), {}, 15),
    ("v_ffbh_u32", (0,), {}, M),
    ("v_ffbl_b32", (0x00010000,), {}, 16),
    ("v_ffbh_i32", (-2,), {}, 31),
    ("v_ffbh_i32", (0,), {}, M),
    ("v_mul_legacy_f32", (0.0, INF), {}, 0),
    ("v_cvt_pkrtz_f16_f32", (65535.0, 1.0 + 2.0**-10 - 2.0**-20), {}, f16(1.0) << 16 | 0x7BFF),
    ("v_cvt_pknorm_i16_f32", (1.0, -1.0), {}, 0x80017FFF),
    ("v_cvt_pknorm_u16_f32", (0.5, 1.0), {}, 0xFFFF8000),
    ("v_cvt_rpi_i32_f32", (-1.5,), {}, -1 & M),
    ("v_cvt_flr_i32_f32", (-1.5,), {}, -2 & M),
    ("v_fmac_f64", (2.0, 3.0), {"dst": 1.0}, f64(7.0)),
    ("v_accvgpr_read_b32", (7,), {}, 7),
]
GFX11 = [
    ("v_add_nc_u32", (M, 2), {}, 1),
    ("v_sub_nc_u32", (1, 2), {}, M),
    ("v_subrev_nc_u32", (1, 5), {}, 4),
    ("v_add_nc_u16", (0xFFFF, 2), {"clamp": 1}, 0xFFFF),
    ("v_sub_nc_i16", (0x8000, 1), {"clamp": 1}, 0x8000),
    ("v_add_co_ci_u32", (M, 0, 1), {}, (0, 1)),
    ("v_sub_co_ci_u32", (0, 0, 1), {}, (M, 1)),
    ("v_subrev_co_ci_u32", (1, 5, 1), {}, (3, 0)),
    ("v_clz_i32_u32", (0x00010000,), {}, 15),
    ("v_ctz_i32_b32", (0x00010000,), {}, 16),
    ("v_cls_i32", (1,), {}, 31),
    ("v_xor3_b32", (1, 3, 7), {}, 5),
    ("v_mul_dx9_zero_f32", (INF, -0.0), {}, 0),
    ("v_fma_dx9_zero_f32", (0.0, INF, 2.0), {}, f32(2.0)),
    ("v_fmac_f16", (2.0, 3.0), {"dst": 1.0}, f16(7.0)),
    ("v_fmaak_f16", (2.0, 3.0, 1.0), {}, f16(7.0)),
    ("v_maxmin_f32", (1.0, 5.0, 3.0), {}, f32(3.0)),
    ("v_minmax_i32", (1, 5, 3), {}, 3),
    ("v_maxmin_u32", (1, 5, 9), {}, 5),
    ("v_mullit_f32", (2.0, 3.0, 1.0), {}, f32(6.0)),
    ("v_mullit_f32", (2.0, 3.0, 0.0), {}, 0xFF7FFFFF),
    ("v_cvt_pk_rtz_f16_f32", (-65535.0, 0.0), {}, 0xFBFF),
    ("v_cvt_pk_i16_f32", (-1.5, 40000.0), {}, 0x7FFFFFFF),
    ("v_cvt_pk_u16_f32", (-1.5, 40000.0), {}, 40000 << 16),
    ("v_cvt_nearest_i32_f32", (2.5,), {}, 3),
    ("v_cvt_floor_i32_f32", (-2.5,), {}, -3 & M),
    ("v_cvt_i32_i16", (0x8000,), {}, 0xFFFF8000),
    ("v_cvt_u32_u16", (0x8000,), {}, 0x8000),
    ("v_and_b16", (0xFF, 0x0F), {}, 0x0F),
    ("v_not_b16", (0xFF,), {}, 0xFF00),
    ("v_cndmask_b16", (1, 2, 1), {}, 2),
]
CASES = [("gfx942", *c) for c in COMMON + GFX9] + [("gfx1100", *c) for c in COMMON + GFX11]


@pytest.mark.parametrize(("arch", "mnemonic", "sources", "implicit", "expected"), CASES)
def test_vector(arch, mnemonic, sources, implicit, expected):
    found = run(arch, mnemonic, *sources, **implicit)
    if expected == "nan":
        assert found[0] & 0x7FFFFFFF > 0x7F800000
    else:
        expected = expected if isinstance(expected, tuple) else (expected,)
        assert [hex(x) for x in found] == [hex(x) for x in expected]


def _f32(mnemonic, x):
    _, values = isa.table("gfx942")[mnemonic].graph()
    return evaluate(values, [x])[0]


def _ulps(found, exact):
    """Largest error in units of the last place of the f32 nearest to the exact (long double) result."""
    unit = np.spacing(np.abs(exact.astype(np.float32))).astype(np.longdouble)
    return float(np.max(np.abs(found.astype(np.longdouble) - exact) / unit))


@pytest.mark.parametrize(
    ("mnemonic", "function", "low", "high", "limit"),
    [
        ("v_exp_f32", np.exp2, -126, 128, 1.0),
        ("v_exp_f32", np.exp2, -1, 1, 1.0),
        ("v_log_f32", np.log2, 0.5, 2, 2.0),
        ("v_log_f32", np.log2, 1e-37, 1e38, 2.0),
        ("v_rcp_f32", lambda x: 1 / x, 1e-10, 1e10, 0.501),
        ("v_rsq_f32", lambda x: 1 / np.sqrt(x), 1e-10, 1e10, 1.5),
        ("v_sqrt_f32", np.sqrt, 1e-10, 1e10, 0.501),
    ],
)
def test_accuracy_is_as_the_row_says(mnemonic, function, low, high, limit):
    random = np.random.default_rng(7)
    uniform = random.uniform(low, high, 20_000)
    x = np.exp(random.uniform(np.log(low), np.log(high), 20_000)) if low > 0 and high / low > 10 else uniform
    x = np.float32(x[(x > low) & (x < high)])
    assert _ulps(_f32(mnemonic, x), function(x.astype(np.longdouble))) <= limit


@pytest.mark.parametrize(("mnemonic", "function"), [("v_sin_f32", np.sin), ("v_cos_f32", np.cos)])
def test_sine_and_cosine_take_turns(mnemonic, function):
    x = np.random.default_rng(8).uniform(-256, 256, 20_000).astype(np.float32)
    part = x.astype(np.float64) - np.rint(x)
    assert np.max(np.abs(_f32(mnemonic, x) - function(2 * np.pi * part))) < 2.0**-22


def _divide(bits, numerator, denominator):
    """LLVM's sequence for a correctly rounded division with denormals."""
    table = isa.table("gfx942")

    def row(mnemonic, *sources):
        return evaluate(table[f"{mnemonic}_f{bits}"].graph()[1], list(sources))

    (d,), (n, scaled) = (
        row("v_div_scale", denominator, denominator, numerator)[:1],
        row("v_div_scale", numerator, denominator, numerator),
    )
    (r,) = row("v_rcp", d)
    one = np.ones_like(d)
    for _ in range(1 if bits == 32 else 2):
        (e,) = row("v_fma", -d, r, one)
        (r,) = row("v_fma", e, r, r)
    (q,) = row("v_mul", n, r)
    if bits == 32:
        (e,) = row("v_fma", -d, q, n)
        (q,) = row("v_fma", e, r, q)
    (e,) = row("v_fma", -d, q, n)
    (q,) = row("v_div_fmas", e, r, q, scaled)
    return row("v_div_fixup", q, denominator, numerator)[0]


@pytest.mark.parametrize(("bits", "count"), [(32, 30_000), (64, 1_500)])
def test_division_sequence_is_correctly_rounded(bits, count):
    random = np.random.default_rng(9)
    words = random.integers(0, 1 << bits, (2, count), dtype=f"uint{bits}")
    fraction = 23 if bits == 32 else 52
    words[0, ::3] &= (1 << fraction + 5) - 1  # tiny numerators, some denormal
    words[1, ::5] &= (1 << fraction + 6) - 1  # tiny denominators
    numerator, denominator = words.view(f"float{bits}")
    with np.errstate(all="ignore"):
        expected = numerator / denominator
    found = _divide(bits, numerator, denominator)
    same = found.view(words.dtype) == expected.view(words.dtype)
    assert np.all(same | (np.isnan(found) & np.isnan(expected)))
