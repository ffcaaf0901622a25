"""What tells the generations apart: names that only some have, and the rows that only some have.

Expected numbers: worked by hand from the CDNA2, CDNA4, RDNA2 and RDNA4 ISA manuals and IEEE 754-2019.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpulab import architectures
from gpulab.virtual_gpu import isa
from gpulab.virtual_gpu.isa.expression import TYPES
from gpulab.virtual_gpu.isa.generation import Names, generation, rows
from gpulab.virtual_gpu.isa.row import Matrix, Memory
from tests.isa.rows import bits, run

INF, NAN, SNAN = 0x7F800000, 0x7FC00000, 0x7F800001


def f32(value: float) -> int:
    return bits(value, TYPES["f32"])


def one(arch: str, mnemonic: str, *arguments: object, **implicit: object) -> int:
    (result,) = run(arch, mnemonic, *arguments, **implicit)
    return result


HAS_AND_LACKS = {
    "gfx906": (
        "v_mad_f32 buffer_wbinvl1_vol v_dot2_f32_f16 v_fma_mix_f32",
        "v_accvgpr_read_b32 v_mfma_f32_32x32x1f32 global_atomic_add_f32 v_pk_fma_f32 buffer_wbl2 ds_add_src2_f32",
    ),
    "gfx908": (
        "v_mad_f32 v_accvgpr_read_b32 v_mfma_f32_32x32x2bf16 global_atomic_add_f32 v_pk_fmac_f16",
        "v_accvgpr_mov_b32 v_mfma_f32_32x32x4bf16_1k v_mfma_f64_16x16x4f64 v_pk_fma_f32 buffer_invl2",
    ),
    "gfx90a": (
        "v_mad_f32 v_pk_fma_f32 v_mfma_f32_32x32x8f16 buffer_wbinvl1_vol",
        "v_mov_b64 v_cvt_pk_fp8_f32 buffer_inv",
    ),
    "gfx942": ("v_mov_b64 v_mfma_f32_16x16x8_xf32 v_cvt_pk_fp8_f32", "v_bitop3_b32 v_mad_f32 v_prng_b32"),
    "gfx950": (
        "v_bitop3_b32 v_mfma_f32_32x32x16_bf16 v_permlane32_swap_b32",
        "v_mfma_f32_16x16x8_xf32 v_mad_f32",
    ),
    "gfx1030": (
        "global_load_dwordx4 ds_read_b32 s_andn2_saveexec_b32 v_add_nc_u32 s_memtime",
        "global_load_b128 v_wmma_f32_16x16x16_f16 s_delay_alu v_mov_b16",
    ),
    "gfx1100": (
        "global_load_b128 ds_load_b32 v_wmma_f32_16x16x16_f16 s_delay_alu",
        "s_memtime s_add_f32 ds_cmpst_b32",
    ),
    "gfx1151": (
        "global_load_b128 s_add_f32 s_fmac_f16 s_cmp_lt_f32 s_waitcnt_vscnt",
        "s_min_num_f32 s_minimum_f32 v_s_rcp_f32 s_wait_loadcnt",
    ),
    "gfx1201": (
        "s_add_f32 s_wait_loadcnt v_min_num_f32 s_mul_u64 s_load_u8",
        "s_barrier s_waitcnt_vscnt v_fmac_dx9_zero_f32 s_cmpk_eq_u32",
    ),
}


def test_scalar_minima_of_rdna_3_5_follow_the_ieee_mode() -> None:
    # RDNA 3.5 ISA manual, S_MIN_F32: as V_MIN_F32; RDNA 4's takes the number, whatever MODE says
    ieee = 0x2F0  # denormals kept, IEEE
    for name in ("s_min_f32", "s_max_f32"):
        assert one("gfx1151", name, SNAN, f32(1.0), mode=ieee) == SNAN | 0x400000
        assert one("gfx1151", name, NAN, f32(1.0), mode=ieee) == f32(1.0)
        assert one("gfx1151", name, SNAN, f32(1.0), mode=0xF0) == f32(1.0)
        assert one("gfx1201", name, SNAN, f32(1.0)) == f32(1.0)
    assert one("gfx1151", "s_min_f32", f32(-0.0), f32(0.0), mode=ieee) == f32(-0.0)


@pytest.mark.parametrize("arch", HAS_AND_LACKS)
def test_what_tells_them_apart(arch: str) -> None:
    table = isa.table(arch)
    has, lacks = HAS_AND_LACKS[arch]
    assert [name for name in has.split() if name not in table] == []
    assert [name for name in lacks.split() if name in table] == []


def test_renamed_rows_know_their_name() -> None:
    for arch in architectures.names():
        for mnemonic, row in isa.table(arch).items():
            assert row.mnemonic == mnemonic


# ------------------------------------------------------------------------------------------------------------ gfx90a


def test_v_mad_f32_rounds_twice_and_flushes() -> None:
    # (1 + 2**-23)**2 = 1 + 2**-22 + 2**-46: rounded before the sum, the last part is lost
    x = 0x3F800001
    assert one("gfx90a", "v_mad_f32", x, x, f32(-1.0)) == f32(2.0**-22)
    assert one("gfx90a", "v_fma_f32", x, x, f32(-1.0)) == f32(2.0**-22 + 2.0**-46)
    assert one("gfx90a", "v_mad_f32", f32(1.0), 1, 0) == 0  # a denormal counts as zero


def test_bf16_matrices_of_cdna1_have_half_the_depth() -> None:
    old, new = isa.table("gfx90a")["v_mfma_f32_32x32x4bf16"], isa.table("gfx90a")["v_mfma_f32_32x32x8bf16_1k"]
    assert isinstance(old, Matrix)
    assert isinstance(new, Matrix)
    assert (old.k, new.k) == (4, 8)


# ------------------------------------------------------------------------------------------------------------ gfx950


@pytest.mark.parametrize(
    ("table", "expected"),
    [(0x80, 0b1000_0000), (0xFE, 0b1111_1110), (0x96, 0b1001_0110), (0xF0, 0b1111_0000), (0xCC, 0b1100_1100),
     (0xAA, 0b1010_1010), (0xE8, 0b1110_1000), (0x00, 0), (0xFF, 0xFF)],
)  # fmt: skip
def test_bitop3_is_its_table(table: int, expected: int) -> None:
    # sources with all eight combinations of bits: and, or, exclusive or, first, second, third, majority, none, all
    assert one("gfx950", "v_bitop3_b32", 0xF0, 0xCC, 0xAA, bitop3=table) & 0xFF == expected
    assert one("gfx950", "v_bitop3_b16", 0xF0, 0xCC, 0xAA, bitop3=table) & 0xFF == expected


def test_prng_and_shifts_into_bytes() -> None:
    assert one("gfx950", "v_prng_b32", 0x00000003) == 6
    assert one("gfx950", "v_prng_b32", 0x80000001) == 2 ^ 197
    assert one("gfx950", "v_ashr_pk_i8_i32", 0x1000, -0x1000, 4) == 0x7F | 0x80 << 8  # 256 and -256 saturate
    assert one("gfx950", "v_ashr_pk_u8_i32", 0x1000, -16, 4) == 0xFF  # 256 -> 255, -1 -> 0
    assert one("gfx950", "v_ashr_pk_i8_i32", 100, -100, 1) == 50 | (0xCE << 8)


def test_bf16_conversions() -> None:
    assert one("gfx950", "v_cvt_pk_bf16_f32", 0x3F808000, 0x3F818000) == 0x3F82_3F80  # halves to even
    assert one("gfx950", "v_cvt_f32_bf16", 0x4049) == 0x40490000
    assert one("gfx950", "v_cvt_sr_bf16_f32", 0x3F808000, 0x7FFF0000) == 0x3F80
    assert one("gfx950", "v_cvt_sr_bf16_f32", 0x3F808000, 0x80000000) == 0x3F81
    assert one("gfx950", "v_cvt_sr_f16_f32", f32(1.0 + 2.0**-11), 0x80000000) == 0x3C01
    assert one("gfx950", "v_cvt_sr_f16_f32", f32(1.0 + 2.0**-11), 0x7FF80000) == 0x3C00
    assert one("gfx950", "v_cvt_sr_f16_f32", f32(1e6), 0) == 0x7C00


@pytest.mark.parametrize(
    ("arch", "number", "fp8", "bf8"),
    [
        ("gfx950", 1.0, 0x38, 0x3C), ("gfx950", -2.0, 0xC0, 0xC0), ("gfx950", 448.0, 0x7E, 0x5F),
        ("gfx950", 57344.0, 0x7F, 0x7B), ("gfx950", 1e6, 0x7F, 0x7C), ("gfx950", -1e6, 0xFF, 0xFC),
        ("gfx950", 2.0**-9, 0x01, 0x18), ("gfx950", 2.0**-16, 0x00, 0x01), ("gfx950", -0.0, 0x80, 0x80),
        ("gfx942", 1.0, 0x40, 0x40), ("gfx942", 240.0, 0x7F, 0x60), ("gfx942", 448.0, 0x80, 0x63),
    ],
)  # fmt: skip
def test_fp8_of_the_two_families(arch: str, number: float, fp8: int, bf8: int) -> None:
    # OCP E4M3 has bias 7 and E5M2 bias 15, FNUZ 8 and 16; too large is NaN or, in E5M2, infinity
    assert one(arch, "v_cvt_pk_fp8_f32", f32(number), f32(0.0)) == fp8
    assert one(arch, "v_cvt_pk_bf8_f32", f32(number), f32(0.0)) == bf8


def test_fp8_overflow_by_mode_and_back() -> None:
    # CDNA4 ISA manual 7.3: with FP16_OVFL infinity and too large numbers become the largest, NaN stays
    limited = 1 << 23
    assert one("gfx950", "v_cvt_pk_fp8_f32", INF, f32(-1e9), mode=limited) == 0xFE7E
    assert one("gfx950", "v_cvt_pk_bf8_f32", INF, NAN, mode=limited) == 0x7F7B
    assert one("gfx950", "v_cvt_f32_fp8", 0x7E) == f32(448.0)
    assert one("gfx950", "v_cvt_f32_fp8", 0xFF) & 0x7FFFFFFF > INF
    assert one("gfx950", "v_cvt_f32_fp8", 0x81) == f32(-(2.0**-9))
    assert one("gfx950", "v_cvt_f32_bf8", 0xFC) == 0xFF800000
    assert one("gfx950", "v_cvt_f32_bf8", 0x7D) > INF
    assert one("gfx950", "v_cvt_pk_f32_fp8", 0x38C0) == f32(1.0) << 32 | f32(-2.0)


@pytest.mark.parametrize(
    ("arch", "type", "number", "below"),
    [
        # half way from 1 to the next number: 1 + 1/16 with three bits of fraction, 1 + 1/8 with two
        ("gfx950", "fp8", 1.0625, 0x38), ("gfx950", "bf8", 1.125, 0x3C), ("gfx950", "fp8", -1.0625, 0xB8),
        ("gfx942", "fp8", 1.0625, 0x40), ("gfx942", "bf8", 1.125, 0x40), ("gfx942", "bf8", -1.125, 0xC0),
    ],
)  # fmt: skip
def test_fp8_by_chance(arch: str, type: str, number: float, below: int) -> None:
    # CDNA3 ISA manual 7.1: the seed's high bits are added below the kept ones: half a step goes up from half of the
    # seeds on. op_sel's bits 2 and 3 name the byte; the others stay
    for seed, code in ((0, below), (0x7FFFFFFF, below), (0x80000000, below + 1), (0xFFFFFFFF, below + 1)):
        for byte in range(4):
            found = one(arch, f"v_cvt_sr_{type}_f32", f32(number), seed, dst=0x11223344, op_sel=byte << 2)
            assert found == 0x11223344 & ~(0xFF << 8 * byte) | code << 8 * byte


def test_conversions_with_a_scale() -> None:
    four = f32(4.0)
    assert one("gfx950", "v_cvt_scalef32_pk_fp8_f32", f32(4.0), f32(-8.0), four) == 0xC038  # 1 and -2
    assert one("gfx950", "v_cvt_scalef32_f32_fp8", 0x00C03800, four, op_sel=2) == f32(-8.0)
    assert one("gfx950", "v_cvt_scalef32_pk_f32_bf8", 0x3CC0, four) == f32(4.0) << 32 | f32(-8.0)
    # only the exponent of the scale counts
    assert one("gfx950", "v_cvt_scalef32_f32_fp8", 0x38, f32(7.0), op_sel=0) == four


@pytest.mark.parametrize(
    ("number", "code"),
    [(0.0, 0), (0.25, 0), (0.26, 1), (0.5, 1), (0.75, 2), (1.0, 2), (1.25, 2), (1.5, 3), (1.75, 4), (2.0, 4), (2.5, 4),
     (3.0, 5), (3.5, 6), (4.0, 6), (5.0, 6), (5.1, 7), (6.0, 7), (1e9, 7), (-1.5, 11), (-0.1, 8)],
)  # fmt: skip
def test_four_bit_floats(number: float, code: int) -> None:
    # 0 0.5 1 1.5 2 3 4 6; ties to even codes
    assert one("gfx950", "v_cvt_scalef32_pk_fp4_f32", f32(number), f32(6.0), f32(1.0), op_sel=4) == (0x70 | code) << 8


@pytest.mark.parametrize("type", ["f32", "f16", "bf16"])
@pytest.mark.parametrize(
    ("seed", "first", "second"), [(0x80000000, 3, 2), (0x40000000, 2, 3), (0x20000000, 2, 2), (0xC0000000, 3, 3)]
)
def test_four_bit_floats_by_chance(type: str, seed: int, first: int, second: int) -> None:
    # 1.25 is half way from 1 (code 2) to 1.5 (code 3): up if the seed's highest bit is set; the second element has the
    # next seed of v_prng_b32, the seed moved up by one bit
    number = bits(1.25, TYPES[type])
    pair = number | number << TYPES[type].width
    found = one("gfx950", f"v_cvt_scalef32_sr_pk_fp4_{type}", pair, seed, f32(1.0), op_sel=0)
    assert (found & 15, found >> 4) == (first, second)


def test_four_bit_floats_back() -> None:
    values = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
    for code, value in enumerate(values):
        packed = one("gfx950", "v_cvt_scalef32_pk_f32_fp4", (code | (code | 8) << 4) << 16, f32(2.0), op_sel=2)
        assert packed == f32(-2 * value) << 32 | f32(2 * value)


def test_minimum_of_three_gives_nan() -> None:
    assert one("gfx950", "v_minimum3_f32", f32(3.0), f32(-1.0), f32(2.0)) == f32(-1.0)
    assert one("gfx950", "v_maximum3_f32", f32(3.0), NAN, f32(2.0)) == NAN
    assert one("gfx950", "v_minimum3_f32", f32(0.0), f32(-0.0), f32(0.0)) == f32(-0.0)


# ------------------------------------------------------------------------------------------------------------ gfx12


@pytest.mark.parametrize("unit", ["v", "s"])
def test_minimum_number_and_minimum(unit: str) -> None:
    # IEEE 754-2019: minimumNumber prefers the number even to a signaling NaN; minimum gives NaN
    assert one("gfx1201", f"{unit}_min_num_f32", NAN, f32(2.0)) == f32(2.0)
    assert one("gfx1201", f"{unit}_min_num_f32", SNAN, f32(2.0)) == f32(2.0)
    assert one("gfx1201", f"{unit}_max_num_f32", f32(-0.0), f32(0.0)) == f32(0.0)
    assert one("gfx1201", f"{unit}_max_num_f32", SNAN, NAN) == SNAN | 0x400000
    assert one("gfx1201", f"{unit}_minimum_f32", NAN, f32(2.0)) == NAN
    assert one("gfx1201", f"{unit}_maximum_f32", f32(2.0), SNAN) == SNAN | 0x400000
    assert one("gfx1201", f"{unit}_minimum_f32", f32(0.0), f32(-0.0)) == f32(-0.0)


def test_floats_of_the_scalar_unit() -> None:
    assert one("gfx1201", "s_fmac_f32", f32(3.0), f32(4.0), dst=f32(0.5)) == f32(12.5)
    assert one("gfx1201", "s_fmamk_f32", f32(3.0), f32(4.0), f32(1.0)) == f32(13.0)
    assert one("gfx1201", "s_cvt_i32_f32", f32(-2.9)) == 0xFFFFFFFE
    assert one("gfx1201", "s_cvt_u32_f32", f32(-2.9)) == 0
    assert one("gfx1201", "s_cvt_hi_f32_f16", 0x3C00_4000) == f32(1.0)
    assert one("gfx1201", "s_cvt_pk_rtz_f16_f32", f32(1.0 + 2.0**-11 + 2.0**-12), f32(-2.0)) == 0xC000_3C00
    assert run("gfx1201", "s_cmp_nge_f32", NAN, f32(1.0)) == (1,)
    assert run("gfx1201", "s_cmp_lg_f32", NAN, f32(1.0)) == (0,)
    assert one("gfx1201", "s_rndne_f32", f32(2.5)) == f32(2.0)
    assert one("gfx1201", "v_s_rcp_f32", f32(4.0)) == f32(0.25)


def test_wide_integers_of_the_scalar_unit() -> None:
    assert one("gfx1201", "s_mul_u64", 0x1_0000_0001, 0x1_0000_0001) == 0x2_0000_0001
    assert one("gfx1201", "s_sub_nc_u64", 1, 2) == 2**64 - 1
    assert run("gfx1201", "s_add_co_ci_u32", 0xFFFFFFFF, 0, scc=1) == (0, 1)


def test_conditional_subtraction() -> None:
    assert one("gfx1201", "ds_cond_sub_u32", 5, 3) == 2
    assert one("gfx1201", "ds_cond_sub_u32", 3, 5) == 3
    for where in ("ds", "global_atomic", "buffer_atomic"):
        assert [one("gfx1201", f"{where}_sub_clamp_u32", old, 5) for old in (3, 5, 9)] == [0, 0, 4]
    narrow = isa.table("gfx1201")["s_load_i8"]
    assert isinstance(narrow, Memory)
    assert (narrow.element, narrow.extend) == (8, "sign")


def test_a_generation_that_names_no_row_is_found() -> None:
    names = (Names("", ("gfx11", "common"), "v_add_f32 v_add_u32"),)
    wrong = replace(generation("gfx11"), names=names)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gpulab.virtual_gpu.isa.generation.generation", lambda name: wrong)
        with pytest.raises(ValueError, match="lists v_add_u32, and no row of gfx11, common is named"):
            rows("gfx11", frozenset())


def test_features_select_names() -> None:
    with_it, without = Names("xf32-insts", (), ""), Names("!xf32-insts", (), "")
    assert [with_it.of(frozenset()), without.of(frozenset())] == [False, True]
    assert [with_it.of(frozenset({"xf32-insts"})), without.of(frozenset({"xf32-insts"}))] == [True, False]
    assert "v_mfma_f32_16x16x8_xf32" not in rows("gfx9", architectures.get("gfx942").features - {"xf32-insts"})


def test_there_are_four_generations() -> None:
    with pytest.raises(ValueError, match="there are gfx9, gfx10, gfx11, gfx12"):
        generation("gfx8")
