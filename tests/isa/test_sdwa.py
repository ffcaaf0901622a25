"""SDWA of gfx9: every select of sources and destination, sign extension, and what becomes of the unused bits.

CDNA3 ISA manual 12.9.2.
"""

import pytest

from tests.isa.machines import run

WORD = 0x8899AAFF
PARTS = {
    "BYTE_0": 0xFF, "BYTE_1": 0xAA, "BYTE_2": 0x99, "BYTE_3": 0x88, "WORD_0": 0xAAFF, "WORD_1": 0x8899, "DWORD": WORD,
}  # fmt: skip
SIGNED = {
    "BYTE_0": 0xFFFFFFFF, "BYTE_1": 0xFFFFFFAA, "BYTE_2": 0xFFFFFF99, "BYTE_3": 0xFFFFFF88, "WORD_0": 0xFFFFAAFF,
    "WORD_1": 0xFFFF8899, "DWORD": WORD,
}  # fmt: skip
SHIFT = {"BYTE_0": 0, "BYTE_1": 8, "BYTE_2": 16, "BYTE_3": 24, "WORD_0": 0, "WORD_1": 16, "DWORD": 0}
OLD = 0x11223344


def test_selects_of_sources():
    lines = [f"v_mov_b32 v1, {WORD:#x}", "v_mov_b32 v2, 0"]
    for n, select in enumerate(PARTS):
        tail = "dst_sel:DWORD dst_unused:UNUSED_PAD"
        lines += [f"v_or_b32_sdwa v{4 + n}, v1, v2 {tail} src0_sel:{select} src1_sel:DWORD"]
        lines += [f"v_or_b32_sdwa v{12 + n}, sext(v1), v2 {tail} src0_sel:{select} src1_sel:DWORD"]
        lines += [f"v_add_u32_sdwa v{20 + n}, v2, v1 {tail} src0_sel:DWORD src1_sel:{select}"]
    found = run("gfx942", "\n".join(lines))
    for n, select in enumerate(PARTS):
        assert set(found.v[4 + n]) == {PARTS[select]}
        assert set(found.v[12 + n]) == {SIGNED[select]}
        assert set(found.v[20 + n]) == {PARTS[select]}


@pytest.mark.parametrize("unused", ["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"])
def test_selects_of_the_destination(unused):
    """The sum 0x8899AAFF + 0 goes to a part; its low bits are taken."""
    lines = [f"v_mov_b32 v1, {WORD:#x}", "v_mov_b32 v2, 0"]
    for n, select in enumerate(PARTS):
        lines.append(f"v_mov_b32 v{4 + n}, {OLD:#x}")
        lines.append(
            f"v_add_u32_sdwa v{4 + n}, v1, v2 dst_sel:{select} dst_unused:{unused} src0_sel:DWORD src1_sel:DWORD"
        )
    found = run("gfx942", "\n".join(lines))
    for n, select in enumerate(PARTS):
        width = 8 if select.startswith("BYTE") else 16 if select.startswith("WORD") else 32
        ones, shift = (1 << width) - 1, SHIFT[select]
        expected = (WORD & ones) << shift
        if unused == "UNUSED_PRESERVE":
            expected |= OLD & ~(ones << shift)
        elif unused == "UNUSED_SEXT":  # both 0xFF and 0xAAFF are negative
            expected |= ~((1 << (shift + width)) - 1) & 0xFFFFFFFF
        assert set(found.v[4 + n]) == {expected & 0xFFFFFFFF}, select


def test_floats_halves_and_comparisons():
    """0xc2003c00 holds the f16 numbers 1 and -3; v2's bytes are compared as signed numbers."""
    found = run(
        "gfx942",
        """
        v_mov_b32 v1, 0xc2003c00
        v_mov_b32 v2, 0x80
        v_mov_b32 v6, 0xffff0000
        v_add_f16_sdwa v3, v1, v1 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:WORD_0 src1_sel:WORD_1
        v_add_f16_sdwa v4, |v1|, -v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:WORD_1
        v_cvt_f32_f16_sdwa v5, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1
        v_cvt_f16_f32_sdwa v6, v5 dst_sel:WORD_0 dst_unused:UNUSED_PRESERVE src0_sel:DWORD
        v_cmp_gt_i32_sdwa vcc, v0, sext(v2) src0_sel:DWORD src1_sel:BYTE_0
        v_cmp_gt_u32_sdwa s[4:5], v0, v2 src0_sel:DWORD src1_sel:BYTE_0
        v_mul_u32_u24_sdwa v7, v1, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:BYTE_3
        """,
    )
    assert set(found.v[3]) == {0xC0000000}  # 1 + -3 = -2
    assert set(found.v[4]) == {0x4600}  # 3 + 3
    assert set(found.floats(5)) == {-3.0}
    assert set(found.v[6]) == {0xFFFFC200}
    assert found.vcc == (1 << 64) - 1  # every lane is above -128
    assert found.s[4:6] == [0, 0]
    assert set(found.v[7]) == {0x3C * 0xC2}


def test_without_the_suffix_and_without_what_may_be_left_out():
    """LLVM's assembler takes SDWA where a select stands; what is not written is DWORD and UNUSED_PRESERVE."""
    found = run(
        "gfx942",
        f"""
        v_mov_b32 v1, {WORD:#x}
        v_mov_b32 v2, 0
        v_mov_b32 v3, {OLD:#x}
        v_mov_b32 v4, {OLD:#x}
        v_add_u32 v3, v1, v2 dst_sel:BYTE_1 src0_sel:WORD_1
        v_add_u32_sdwa v4, v1, v2 dst_sel:WORD_1 src0_sel:BYTE_3
        v_cvt_off_f32_i4 v5, v1 src0_sel:BYTE_2
        v_or_b32 v6, sext(v1), v2 src0_sel:BYTE_1
        v_cmp_eq_u32 vcc, v2, v1 src1_sel:BYTE_0
        """,
    )
    assert set(found.v[3]) == {0x11229944}
    assert set(found.v[4]) == {0x00883344}
    assert set(found.floats(5)) == {-7 / 16}  # the low four bits of 0x99
    assert set(found.v[6]) == {0xFFFFFFAA}
    assert found.vcc == 0
