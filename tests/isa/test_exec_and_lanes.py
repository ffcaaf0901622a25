"""EXEC: the saveexec and wrexec families, v_cmpx, masks of 64 lanes; moves to and from lanes 32-63.

Formulas of the CDNA3 ISA manual 12.4 and the RDNA3 ISA manual 16.4 (S_*_SAVEEXEC, S_*_WREXEC).
"""

import numpy as np
import pytest

from tests.isa.machines import run

ALL = (1 << 64) - 1
EXEC, SOURCE = 0x0FF00FF000FF00FF, 0x00FFFF00FF0000FF
NEW = {
    # what EXEC becomes from (source, EXEC)
    "and": lambda s, e: s & e,
    "or": lambda s, e: s | e,
    "xor": lambda s, e: s ^ e,
    "nand": lambda s, e: ~(s & e),
    "nor": lambda s, e: ~(s | e),
    "xnor": lambda s, e: ~(s ^ e),
    "andn1": lambda s, e: ~s & e,
    "andn2": lambda s, e: s & ~e,
    "orn1": lambda s, e: ~s | e,
    "orn2": lambda s, e: s | ~e,
}
GFX11 = {"andn1": "and_not0", "andn2": "and_not1", "orn1": "or_not0", "orn2": "or_not1"}


def body(arch, mnemonic, source, exec_):
    if arch == "gfx942":
        return f"""
        s_mov_b32 exec_lo, {exec_ & 0xFFFFFFFF:#x}
        s_mov_b32 exec_hi, {exec_ >> 32:#x}
        s_mov_b32 s4, {source & 0xFFFFFFFF:#x}
        s_mov_b32 s5, {source >> 32:#x}
        {mnemonic}_b64 s[6:7], s[4:5]
        """
    return f"""
        s_mov_b32 exec_lo, {exec_ & 0xFFFFFFFF:#x}
        s_mov_b32 s4, {source & 0xFFFFFFFF:#x}
        {mnemonic}_b32 s6, s4
        """


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("operation", NEW)
def test_saveexec(arch, operation):
    full = ALL if arch == "gfx942" else 0xFFFFFFFF
    name = f"s_{operation if arch == 'gfx942' else GFX11.get(operation, operation)}_saveexec"
    found = run(arch, body(arch, name, SOURCE, EXEC))
    expected = NEW[operation](SOURCE & full, EXEC & full) & full
    assert found.exec == expected
    assert found.s[6] | (found.s[7] << 32) == EXEC & full
    assert found.scc == (expected != 0)


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("operation", ["andn1", "andn2"])
def test_wrexec(arch, operation):
    full = ALL if arch == "gfx942" else 0xFFFFFFFF
    name = f"s_{operation if arch == 'gfx942' else GFX11[operation]}_wrexec"
    found = run(arch, body(arch, name, SOURCE, EXEC))
    expected = NEW[operation](SOURCE & full, EXEC & full) & full
    assert found.exec == expected
    assert found.s[6] | (found.s[7] << 32) == expected
    assert found.scc == 1


def test_an_empty_mask_clears_scc():
    assert run("gfx942", body("gfx942", "s_and_saveexec", 0, EXEC)).scc == 0
    assert run("gfx942", body("gfx942", "s_nor_saveexec", ALL, EXEC)).scc == 0
    assert run("gfx942", body("gfx942", "s_andn1_wrexec", ALL, EXEC)).scc == 0


def test_comparisons_of_64_lanes():
    """Lanes 33, 34 and 63 are above 32; inactive lanes give 0."""
    found = run(
        "gfx942",
        """
        s_mov_b32 exec_lo, -1
        s_mov_b32 exec_hi, 0x80000006
        v_cmp_lt_u32 vcc, 32, v0
        v_cmp_lt_u32 s[4:5], 30, v0
        v_cmpx_ne_u32 s[6:7], 34, v0
        """,
    )
    assert found.vcc == 0x80000006 << 32
    assert found.s[4] == 1 << 31
    assert found.s[5] == 0x80000006
    assert found.s[6:8] == [0xFFFFFFFF, 0x80000002]
    assert found.exec == 0x80000002_FFFFFFFF


def test_masks_that_share_a_register():
    """s[5:6] has lanes 31 to 63, so bit 31 of s5, which as the upper half of s[4:5] stands for lane 63. Of two masks
    the register that both have is the later one's. (LLVM's assembler takes pairs that begin at an even register alone.)
    """
    found = run(
        "gfx942",
        """
        s_mov_b32 s4, -1
        v_cmp_le_u32 s[5:6], 31, v0
        v_cndmask_b32 v1, 1, 2, s[4:5]
        v_cmp_gt_u32 s[8:9], 40, v0
        v_cmp_lt_u32 s[9:10], 61, v0
        v_cmp_lt_u32 s[13:14], 61, v0
        v_cmp_gt_u32 s[12:13], 40, v0
        v_cmp_lt_u32 s[13:14], 61, v0
        """,
    )
    assert found.s[4:7] == [0xFFFFFFFF, 1 << 31, 0xFFFFFFFF]
    assert found.v[1].tolist() == [2] * 32 + [1] * 31 + [2]
    assert found.s[8:11] == [0xFFFFFFFF, 0, 0xC0000000]
    assert found.s[12:15] == [0xFFFFFFFF, 0, 0xC0000000]


def test_cmpx_of_gfx11_leaves_vcc_alone():
    found = run("gfx1100", "s_mov_b32 vcc_lo, 0x123\nv_cmpx_gt_u32 5, v0")
    assert (found.exec, found.vcc) == (0x1F, 0x123)


def test_lanes_above_31():
    found = run(
        "gfx942",
        """
        v_add_u32 v1, 100, v0
        v_readlane_b32 s4, v1, 63
        s_mov_b32 s5, 101
        v_readlane_b32 s6, v1, s5
        v_mov_b32 v2, 0
        v_writelane_b32 v2, 7, 40
        s_mov_b32 exec_lo, 0
        s_mov_b32 exec_hi, 0x300
        v_readfirstlane_b32 s7, v1
        v_mbcnt_lo_u32_b32 v3, -1, 0
        v_mbcnt_hi_u32_b32 v3, -1, v3
        v_mov_b32 v4, v1
        s_mov_b64 exec, 0
        v_readfirstlane_b32 s8, v1
        v_writelane_b32 v5, 9, 62
        """,
    )
    assert found.s[4] == 163
    assert found.s[6] == 137  # lane 101 modulo 64
    assert found.s[7] == 140  # lane 40
    assert found.s[8] == 100  # no active lane: lane 0
    assert found.v[2].tolist() == [7 if i == 40 else 0 for i in range(64)]
    assert found.v[3].tolist() == [i if i in (40, 41) else 0 for i in range(64)]
    assert found.v[4].tolist() == [100 + i if i in (40, 41) else 0 for i in range(64)]
    assert found.v[5].tolist() == [9 if i == 62 else 0 for i in range(64)]


def test_carries_and_selections_of_64_lanes():
    """Lane i adds i to 2**32 - 40: it carries from lane 40 on."""
    found = run(
        "gfx942",
        """
        v_mov_b32 v1, 0xffffffd8
        v_add_co_u32 v2, vcc, v1, v0
        v_addc_co_u32 v3, s[4:5], 0, 0, vcc
        v_cndmask_b32 v4, 10, 20, vcc
        v_subb_co_u32 v5, s[6:7], v0, 50, vcc
        """,
    )
    carries = ALL >> 40 << 40
    assert found.vcc == carries
    assert found.v[3].tolist() == [int(i >= 40) for i in range(64)]
    assert found.v[4].tolist() == [20 if i >= 40 else 10 for i in range(64)]
    assert found.v[5].tolist() == [(i - 50 - (i >= 40)) & 0xFFFFFFFF for i in range(64)]
    assert found.s[6] | (found.s[7] << 32) == ((1 << 51) - 1)  # borrows below 51: lane 50 has the carry too
    assert (found.s[4], found.s[5]) == (0, 0)


def test_permutes_of_64_lanes():
    found = run(
        "gfx942",
        """
        v_add_u32 v1, 1000, v0
        v_sub_u32 v2, 63, v0
        v_lshlrev_b32 v2, 2, v2
        ds_bpermute_b32 v3, v2, v1
        ds_permute_b32 v4, v2, v1 offset:8
        ds_bpermute_b32 v5, v2, v1 offset:252
        s_waitcnt lgkmcnt(0)
        """,
    )
    lanes = np.arange(64)
    assert found.v[3].tolist() == (1063 - lanes).tolist()
    assert found.v[4].tolist() == [1000 + (65 - i) % 64 for i in range(64)]
    assert found.v[5].tolist() == [1000 + (63 - i + 63) % 64 for i in range(64)]


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize(
    ("offset", "source"),
    [
        ("swizzle(QUAD_PERM, 3, 2, 1, 0)", lambda i: i ^ 3),
        ("swizzle(SWAP, 8)", lambda i: i ^ 8),
        ("swizzle(REVERSE, 16)", lambda i: i ^ 15),
        ("swizzle(BROADCAST, 8, 3)", lambda i: i & ~7 | 3),
        ('swizzle(BITMASK_PERM, "01pip")', lambda i: i & ~31 | (((i & 0b00111) | 0b01000) ^ 0b00010)),
    ],
)
def test_swizzles(arch, offset, source):
    found = run(arch, f"v_add_u32 v1, 500, v0\nds_swizzle_b32 v2, v1 offset:{offset}\ns_waitcnt lgkmcnt(0)")
    assert found.v[2].tolist() == [500 + source(i) for i in range(found.v.shape[1])]


@pytest.mark.parametrize(
    ("offset", "source"),
    [
        # rotate within 32: bit 10 is the direction, 9:5 how far, 4:0 the lane bits that stay
        (0xC000 | 0 << 10 | 3 << 5, lambda i: i & 32 | (i + 3) % 32),
        (0xC000 | 1 << 10 | 3 << 5, lambda i: i & 32 | (i - 3) % 32),
        (0xC000 | 0 << 10 | 1 << 5 | 0x18, lambda i: i & 0x38 | (i + 1) % 8),
        # order of a Fourier transform: the five bits reversed, moved down past the masked ones
        (0xE000, lambda i: i & 32 | int(f"{i & 31:05b}"[::-1], 2)),
        (0xE000 | 0x1F, lambda i: i),
        (0xE000 | 0x10, lambda i: i & 0x30 | int(f"{i & 31:05b}"[::-1], 2) >> 1),
    ],
)
def test_rotations_and_fft_orders_of_gfx9(offset, source):
    found = run("gfx942", f"v_add_u32 v1, 500, v0\nds_swizzle_b32 v2, v1 offset:{offset:#x}\ns_waitcnt lgkmcnt(0)")
    assert found.v[2].tolist() == [500 + source(i) for i in range(64)]
