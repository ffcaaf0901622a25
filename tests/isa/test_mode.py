"""MODE: rounding, overflow of f16, clamped NaNs, signaling NaNs; set at the start, from registers and by path."""

import numpy as np
import pytest

from tests.isa.machines import run
from tests.isa.rows import f32

NEAREST, UP, DOWN, ZERO = range(4)
BOTH = pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])


@BOTH
@pytest.mark.parametrize(
    ("rounding", "above", "below", "third", "product"),
    [
        # 1 + 2**-25, -(1 + 2**-25), 1 + 3 * 2**-25 as sums; (1 + 2**-23)**2 = 1 + 2**-22 + 2**-46
        (NEAREST, 0x3F800000, 0xBF800000, 0x3F800001, 0x3F800002),
        (UP, 0x3F800001, 0xBF800000, 0x3F800001, 0x3F800003),
        (DOWN, 0x3F800000, 0xBF800001, 0x3F800000, 0x3F800002),
        (ZERO, 0x3F800000, 0xBF800000, 0x3F800000, 0x3F800002),
    ],
)
def test_f32(arch, rounding, above, below, third, product):
    found = run(
        arch,
        """
        v_mov_b32 v1, 0x33000000
        v_mov_b32 v2, 0xb3000000
        v_mov_b32 v3, 0x33c00000
        v_mov_b32 v4, 0x3f800001
        v_add_f32 v5, 1.0, v1
        v_add_f32 v6, -1.0, v2
        v_fma_f32 v7, v3, 1.0, 1.0
        v_mul_f32 v8, v4, v4
        v_sub_f32 v9, v4, v4
        """,
        directives=f"float_round_mode_32 {rounding}",
    )
    assert [int(found.v[i][0]) for i in range(5, 10)] == [
        above,
        below,
        third,
        product,
        1 << 31 if rounding == DOWN else 0,
    ]


@BOTH
@pytest.mark.parametrize("rounding", [NEAREST, UP, DOWN, ZERO])
def test_the_sign_of_a_sum_that_is_zero(arch, rounding):
    """IEEE 754-2019, 6.3: x - x is +0, rounded down -0; the sum of zeros of one sign has their sign."""
    found = run(
        arch,
        """
        v_mov_b32 v1, 0
        v_mov_b32 v2, 0x80000000
        v_fma_f32 v5, 1.0, 1.0, -1.0
        v_fma_f32 v6, v1, 1.0, v1
        v_fma_f32 v7, v2, 1.0, v2
        v_fma_f32 v8, v2, 1.0, v1
        v_fma_f32 v9, v1, 1.0, v2
        v_add_f32 v10, v2, v2
        v_add_f32 v11, v1, v2
        """,
        directives=f"float_round_mode_32 {rounding}",
    )
    minus = 1 << 31
    either = minus if rounding == DOWN else 0
    assert [int(found.v[i][0]) for i in range(5, 12)] == [either, 0, minus, either, either, minus, either]


@BOTH
def test_f64_and_f16_have_a_field_of_their_own(arch):
    """Set by s_setreg: f64 and f16 up, f32 to nearest; then toward zero."""
    one = "v_mov_b32 v2, 0\nv_mov_b32 v3, 0x3ff00000\nv_mov_b32 v4, 0\nv_mov_b32 v5, 0x3c900000"
    one += "\nv_mov_b32 v10, 0x33000000"
    steps = """
        v_add_f64 v[{a}:{b}], v[2:3], v[4:5]
        v_add_f32 v{c}, 1.0, v10
        v_mov_b32 v11, 0x3c01
        v_mul_f16 v{d}, v11, v11
        v_cvt_f32_f64 v{e}, v[{a}:{b}]
        v_cvt_f16_f32 v{f}, v12
    """
    found = run(
        arch,
        f"""
        {one}
        v_mov_b32 v12, 0x3f800001
        s_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), 1
        {steps.format(a=14, b=15, c=16, d=17, e=18, f=19)}
        s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0xc
        {steps.format(a=20, b=21, c=22, d=23, e=24, f=25)}
        """,
    )
    value = [int(found.v[i][0]) for i in range(32)]
    # up: 1 + 2**-54 -> 1 + 2**-52; f32 1 + 2**-25 -> 1; f16 (1 + 2**-10)**2 -> 1 + 3 * 2**-10; 1 + 2**-23 -> 1 + 2**-10
    assert value[14:20] == [1, 0x3FF00000, 0x3F800000, 0x3C03, 0x3F800001, 0x3C01]
    assert value[20:26] == [0, 0x3FF00000, 0x3F800000, 0x3C02, 0x3F800000, 0x3C00]


@BOTH
def test_mode_from_a_register_and_by_path(arch):
    """The field comes from s10; then it is restored on one of two paths."""
    branch = """
        s_mov_b32 s10, {value}
        s_setreg_b32 hwreg(HW_REG_MODE, 0, 2), s10
        s_getreg_b32 s11, hwreg(HW_REG_MODE, 0, 2)
        v_mov_b32 v1, 0x33000000
        v_add_f32 v2, 1.0, v1
        s_cmp_eq_u32 s10, 1
        s_cbranch_scc1 .Lkept
        s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 2
    .Lkept:
        v_add_f32 v3, 1.0, v1
        v_sub_f32 v4, 1.0, 1.0
    """
    found = run(arch, branch.format(value=1))
    assert [int(found.v[i][0]) for i in (2, 3, 4)] == [0x3F800001, 0x3F800001, 0]
    assert found.s[11] == 1
    found = run(arch, branch.format(value=3))
    assert [int(found.v[i][0]) for i in (2, 3, 4)] == [0x3F800000, 0x3F800000, 0x80000000]
    assert found.s[11] == 3


@BOTH
def test_denormals_by_path(arch):
    body = """
        s_mov_b32 s10, {value}
        s_setreg_b32 hwreg(HW_REG_MODE, 4, 2), s10
        v_mov_b32 v1, 0x00000123
        v_add_f32 v2, v1, v1
        v_mul_f32 v3, 1.0, v1
    """
    assert [int(run(arch, body.format(value=3)).v[i][0]) for i in (2, 3)] == [0x246, 0x123]
    assert [int(run(arch, body.format(value=0)).v[i][0]) for i in (2, 3)] == [0, 0]
    assert [int(run(arch, body.format(value=1)).v[i][0]) for i in (2, 3)] == [0, 0]  # results are flushed


@BOTH
def test_overflow_of_f16(arch):
    """FP16_OVFL: 60000 + 60000 is the largest f16; infinity stays infinity."""
    body = """
        v_mov_b32 v1, 0x7b53
        v_mov_b32 v2, 0x7c00
        v_mov_b32 v3, 0x7b537b53
        v_add_f16 v4, v1, v1
        v_add_f16 v5, v1, v2
        v_pk_mul_f16 v6, v3, v3
        v_mov_b32 v7, 0xc8000000
        v_cvt_f16_f32 v8, v7
    """
    found = run(arch, body, directives="fp16_overflow 1")
    assert [int(found.v[i][0]) for i in (4, 5, 6, 8)] == [0x7BFF, 0x7C00, 0x7BFF7BFF, 0xFBFF]
    found = run(arch, body)
    assert [int(found.v[i][0]) for i in (4, 5, 6, 8)] == [0x7C00, 0x7C00, 0x7C007C00, 0xFC00]


@BOTH
def test_clamped_nans_and_signaling_nans(arch):
    body = """
        v_mov_b32 v1, 0x7fc00000
        v_mov_b32 v2, 0x7f800001
        v_mov_b32 v3, 0x40000000
        v_add_f32 v4, v1, v1 clamp
        v_min_f32 v5, v2, v3
        v_max_f32 v6, v1, v3
        v_add_f32 v7, v3, v3 clamp
    """
    found = run(arch, body)
    assert [int(found.v[i][0]) for i in (4, 5, 6, 7)] == [0, 0x7FC00001, 0x40000000, 0x3F800000]
    found = run(arch, body, ieee=0, directives="dx10_clamp 0")
    assert np.isnan(found.floats(4)[0])
    assert [int(found.v[i][0]) for i in (5, 6, 7)] == [0x40000000, 0x40000000, 0x3F800000]


def test_output_modifiers_without_ieee_mode():
    body = "v_mov_b32 v1, 0x40400000\nv_add_f32 v2, v1, v1 mul:2\nv_add_f32 v3, v1, v1 div:2"
    found = run("gfx942", body, denormals=0, ieee=0)
    assert [float(found.floats(i)[0]) for i in (2, 3)] == [12.0, 3.0]
    found = run("gfx942", body, denormals=0, ieee=1)
    assert [float(found.floats(i)[0]) for i in (2, 3)] == [6.0, 6.0]


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_an_output_modifier_leaves_no_negative_zero(arch):
    """RDNA3 ISA manual 7.2.2: output modifiers are not IEEE compatible, -0 becomes +0. Without one, -0 stays."""
    body = """
        v_mov_b32 v1, 0x80000000
        v_mov_b32 v2, 0x80800000
        v_mov_b32 v3, 0xbf800000
        v_add_f32 v4, v1, v1 mul:2
        v_add_f32 v5, v1, v1
        v_mul_f32 v6, 1.0, v2 div:2
        v_mul_f32 v7, 1.0, v3 div:2
    """
    expected = [0, 0x80000000, 0, 0xBF000000]
    assert [int(run(arch, body, denormals=0, ieee=0).v[i][0]) for i in (4, 5, 6, 7)] == expected
    kept = [0x80000000, 0x80000000, 0x80800000, 0xBF800000]
    assert [int(run(arch, body, denormals=0, ieee=1).v[i][0]) for i in (4, 5, 6, 7)] == kept


@pytest.mark.parametrize("rounding", [UP, DOWN, ZERO])
def test_both_machines_round_random_numbers_alike(rounding):
    """Exact fractions on one, integers in C on the other: all operations, results and operands down to denormals."""
    random = np.random.default_rng(rounding)
    words = random.integers(0, 1 << 32, 6 * 64, dtype=np.uint64).astype(np.uint32)
    near = (random.integers(120, 134, 6 * 64).astype(np.uint32) << np.uint32(23)) | (words & np.uint32(0x807FFFFF))
    words = np.where(random.random(6 * 64) < 0.6, near, words)
    words[:12] = [f32(x) for x in (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, 1e-45, -1e-45, 3e38, -3e38, 1.5, 0.1)]
    operations = "\n".join(
        f"v_{name} v{i}, {sources}"
        for i, (name, sources) in enumerate(
            [
                ("add_f32", "v1, v2"), ("mul_f32", "v1, v2"), ("fma_f32", "v1, v2, v3"), ("add_f16", "v1, v2"),
                ("mul_f16", "v1, v2"), ("fma_f16", "v1, v2, v3"), ("cvt_f16_f32", "v1"), ("cvt_f32_u32", "v1"),
                ("cvt_f32_i32", "v1"), ("cvt_f16_u16", "v1"), ("ldexp_f32", "v1, v7"), ("pk_fma_f16", "v1, v2, v3"),
                ("pk_add_f16", "v1, v2"),
            ],
            8,
        )
    )  # fmt: skip
    doubles = "\n".join(
        f"v_{name} v[{i}:{i + 1}], {sources}"
        for i, (name, sources) in zip(
            range(22, 30, 2),
            [("add_f64", "v[1:2], v[3:4]"), ("mul_f64", "v[1:2], v[3:4]"), ("fma_f64", "v[1:2], v[3:4], v[5:6]")],
            strict=False,
        )
    )
    doubles = doubles.replace("v[1:2]", "v[2:3]").replace("v[3:4]", "v[4:5]").replace("v[5:6]", "v[30:31]")
    loads = "\n".join(f"global_load_dword v{i}, v7, s[2:3] offset:{256 * n}" for n, i in enumerate((1, 2, 3, 4, 5, 6)))
    run(
        "gfx942",
        f"""
        v_lshlrev_b32 v7, 2, v0
        {loads}
        s_waitcnt vmcnt(0)
        v_sub_u32 v7, 20, v0
        v_mov_b32 v30, v6
        v_mov_b32 v31, v1
        {operations}
        {doubles}
        v_cvt_f32_f64 v28, v[2:3]
        """,
        data=words,
        directives=f"float_round_mode_32 {rounding}; float_round_mode_16_64 {rounding}",
    )


def test_waves_say_where_they_run():
    """The first wave of the first workgroup: die 0, SIMD 0; a field by numbers (register 4, bits 5:4)."""
    body = "s_getreg_b32 s10, hwreg(HW_REG_XCC_ID)\ns_getreg_b32 s11, hwreg(4, 4, 2)\ns_mov_b32 s12, 5"
    found = run("gfx942", body)
    assert found.s[10:13] == [0, 0, 5]
