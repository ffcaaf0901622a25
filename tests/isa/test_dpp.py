"""DPP: which lane each pattern reads, and what becomes of lanes without a source.

Patterns as the manuals draw them (CDNA3 ISA manual 12.9.3 "DPP", RDNA3 ISA manual 7.7), written out here as lists.
"""

import numpy as np
import pytest

from tests.isa.machines import run

OLD = 999


def moved(arch, control, extra=""):
    """v2 = v1 (100 + lane) through DPP; v2 was OLD."""
    found = run(
        arch,
        f"""
        v_add_u32 v1, 100, v0
        v_mov_b32 v2, {OLD}
        {extra}
        v_mov_b32_dpp v2, v1 {control}
        """,
    )
    return found.v[2].tolist()


def rows(size, of_row):
    """One list for all rows of 16; None stands for no source."""
    return [OLD if (source := of_row(lane % 16)) is None else 100 + lane // 16 * 16 + source for lane in range(size)]


ALL = "row_mask:0xf bank_mask:0xf"
BOTH = [("gfx942", 64), ("gfx1100", 32)]


@pytest.mark.parametrize(("arch", "size"), BOTH)
def test_patterns_within_rows(arch, size):
    assert moved(arch, f"quad_perm:[3,0,2,1] {ALL}") == rows(size, lambda i: i // 4 * 4 + (3, 0, 2, 1)[i % 4])
    assert moved(arch, f"row_shl:1 {ALL}") == rows(size, lambda i: i + 1 if i < 15 else None)
    assert moved(arch, f"row_shl:15 {ALL}") == rows(size, lambda i: 15 if i == 0 else None)
    assert moved(arch, f"row_shr:1 {ALL}") == rows(size, lambda i: i - 1 if i else None)
    assert moved(arch, f"row_shr:7 {ALL}") == rows(size, lambda i: i - 7 if i >= 7 else None)
    assert moved(arch, f"row_ror:3 {ALL}") == rows(size, lambda i: (i + 13) % 16)
    assert moved(arch, f"row_mirror {ALL}") == rows(size, lambda i: 15 - i)
    half = [7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8]
    assert moved(arch, f"row_half_mirror {ALL}") == rows(size, lambda i: half[i])


def test_patterns_of_gfx9():
    lanes = np.arange(64)
    assert moved("gfx942", f"wave_shl:1 {ALL}") == [*(101 + lanes[:63]), OLD]
    assert moved("gfx942", f"wave_shr:1 {ALL}") == [OLD, *(100 + lanes[:63])]
    assert moved("gfx942", f"wave_rol:1 {ALL}") == [*(101 + lanes[:63]), 100]
    assert moved("gfx942", f"wave_ror:1 {ALL}") == [163, *(100 + lanes[:63])]
    assert moved("gfx942", f"row_bcast:15 {ALL}") == [OLD] * 16 + [115] * 16 + [131] * 16 + [147] * 16
    assert moved("gfx942", f"row_bcast:31 {ALL}") == [OLD] * 32 + [131] * 32
    assert moved("gfx942", f"row_newbcast:5 {ALL}") == [105] * 16 + [121] * 16 + [137] * 16 + [153] * 16


def test_patterns_of_gfx11():
    assert moved("gfx1100", f"row_share:9 {ALL}") == [109] * 16 + [125] * 16
    xored = [5, 4, 7, 6, 1, 0, 3, 2, 13, 12, 15, 14, 9, 8, 11, 10]
    assert moved("gfx1100", f"row_xmask:5 {ALL}") == rows(32, lambda i: xored[i])
    chosen = [7, 0, 0, 1, 2, 3, 4, 6]
    assert moved("gfx1100", "dpp8:[7,0,0,1,2,3,4,6]") == [100 + lane // 8 * 8 + chosen[lane % 8] for lane in range(32)]


@pytest.mark.parametrize(("arch", "size"), BOTH)
def test_masks_and_bound_control(arch, size):
    zeroed = moved(arch, f"row_shr:1 {ALL} bound_ctrl:1")
    assert zeroed == [0 if lane % 16 == 0 else 99 + lane for lane in range(size)]
    # bank 2 is lanes 8-11 of each row; row_mask 0x2 is lanes 16-31
    some = moved(arch, "quad_perm:[0,1,2,3] row_mask:0x2 bank_mask:0x4 bound_ctrl:1")
    assert some == [100 + lane if 24 <= lane < 28 else OLD for lane in range(size)]


@pytest.mark.parametrize(("arch", "size"), BOTH)
def test_inactive_source_lanes(arch, size):
    """Lane 5 is off: lane 6 reads it. Without bound_ctrl lane 6 is not written, with it lane 6 gets 0."""
    off = "s_mov_b32 exec_lo, 0xffffffdf"
    assert moved(arch, f"row_shr:1 {ALL}", off)[4:8] == [103, OLD, OLD, 106]
    assert moved(arch, f"row_shr:1 {ALL} bound_ctrl:1", off)[4:8] == [103, OLD, 0, 106]
    if arch == "gfx1100":
        assert moved(arch, f"row_shr:1 {ALL} fi:1", off)[4:8] == [103, OLD, 105, 106]


def test_a_compared_lane_without_source_keeps_its_bit():
    """gfx11: VCC bits of lanes 0 and 16 (no source for row_shr:1) stay; lanes that bank_mask excludes give 0."""
    body = """
    v_add_u32 v1, 100, v0
    s_mov_b32 vcc_lo, {old}
    v_cmp_eq_u32_dpp vcc_lo, v1, v2 row_shr:1 row_mask:0xf bank_mask:{banks}
    """
    full = "v_mov_b32 v2, 107\n"  # lane 7's value: lane 8 sees it
    assert run("gfx1100", full + body.format(old="0x10003", banks="0xf")).vcc == 0x10001 | 1 << 8
    assert run("gfx1100", full + body.format(old="0", banks="0xf")).vcc == 1 << 8
    assert run("gfx1100", full + body.format(old="-1", banks="0xe")).vcc == 1 << 8  # bank 0 is off: lanes 0-3, 16-19


def test_cmpx_through_dpp_writes_exec():
    found = run(
        "gfx1100",
        """
        v_add_u32 v1, 100, v0
        v_mov_b32 v2, 107
        s_mov_b32 exec_lo, 0x0003ffff
        v_cmpx_eq_u32_dpp v1, v2 row_shr:1 row_mask:0xf bank_mask:0xf
        """,
    )
    assert found.exec == 0x10101  # 0 and 16 have no source and stay active; 8 sees lane 7; inactive lanes stay off
    found = run(
        "gfx1100",
        """
        v_add_u32 v1, 100, v0
        v_mov_b32 v2, 107
        v_cmpx_eq_u32_dpp v1, v2 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1
        """,
    )
    assert found.exec == 0x100


def test_carries_through_dpp():
    """Lane 0 has no source: neither its sum nor its carry changes."""
    found = run(
        "gfx942",
        """
        v_mov_b32 v1, -1
        v_mov_b32 v2, 1
        v_mov_b32 v3, 55
        s_mov_b64 vcc, 0x10000
        v_add_co_u32_dpp v3, vcc, v1, v2 row_shr:1 row_mask:0xf bank_mask:0xf
        """,
    )
    assert found.v[3].tolist() == [55 if lane % 16 == 0 else 0 for lane in range(64)]
    assert found.vcc == 0xFFFEFFFEFFFFFFFE


def test_64_bit_moves_through_dpp():
    found = run(
        "gfx942",
        """
        v_add_u32 v2, 100, v0
        v_add_u32 v3, 500, v0
        v_mov_b64_dpp v[4:5], v[2:3] row_newbcast:2 row_mask:0xf bank_mask:0xf
        """,
    )
    assert found.v[4].tolist() == [102 + lane // 16 * 16 for lane in range(64)]
    assert found.v[5].tolist() == [502 + lane // 16 * 16 for lane in range(64)]
