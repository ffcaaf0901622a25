"""Register numbers from m0 on gfx11, and the one instruction with 128-bit operands."""

import pytest

from gpulab.errors import UnsupportedInstruction
from tests.isa.machines import run


def test_two_indices_in_m0():
    """m0[9:0] = 2 moves the source's number, m0[25:16] = 5 the destination's."""
    found = run(
        "gfx1100",
        """
        s_mov_b32 m0, 0x00050002
        v_add_u32 v4, 10, v0
        v_add_u32 v6, 20, v0
        v_mov_b32 v15, 3
        v_movrelsd_2_b32 v8, v2
        v_swaprel_b32 v10, v4
        s_mov_b32 s12, 77
        s_movrelsd_2_b32 s20, s10
        """,
    )
    lanes = list(range(32))
    assert found.v[13].tolist() == [10 + lane for lane in lanes]  # v8+5 = v2+2
    assert found.v[15].tolist() == [20 + lane for lane in lanes]  # v10+5 <-> v4+2
    assert found.v[6].tolist() == [3] * 32
    assert found.s[25] == 77


def test_four_masked_sums():
    """v_mqsad_u32_u8: bytes of v4 (reference, a zero byte does not count) against v2:v3 at steps of a byte."""
    for arch in ("gfx942", "gfx1100"):
        found = run(
            arch,
            """
            v_mov_b32 v2, 0x04030201
            v_mov_b32 v3, 0x08070605
            v_mov_b32 v4, 0x0a00140a
            v_mov_b32 v8, 100
            v_mov_b32 v9, 200
            v_mov_b32 v10, 300
            v_mov_b32 v11, -1
            v_mqsad_u32_u8 v[12:15], v[2:3], v4, v[8:11]
            """,
        )
        # reference bytes 10, 20, (0), 10; sources 1 2 . 4, then 2 3 . 5, 3 4 . 6, 4 5 . 7
        sums = [9 + 18 + 6, 8 + 17 + 5, 7 + 16 + 4, 6 + 15 + 3]
        assert [int(found.v[12 + i][0]) for i in range(4)] == [133, 230, 327, (24 - 1)]
        assert sums == [33, 30, 27, 24]


@pytest.mark.parametrize("operand", ["src_lds_direct", "src_pops_exiting_wave_id"])
def test_operands_without_a_value_are_refused(operand):
    with pytest.raises(UnsupportedInstruction, match=operand.removeprefix("src_")):
        run("gfx942", f"v_mov_b32 v1, {operand}")


def test_apertures():
    """The high half of a flat address says LDS or scratch; the limits end their 4 GiB."""
    found = run(
        "gfx942",
        """
        s_mov_b64 s[4:5], src_shared_base
        s_mov_b64 s[6:7], src_shared_limit
        s_mov_b64 s[8:9], src_private_limit
        """,
    )
    assert (found.s[4], found.s[6], found.s[8]) == (0, 0xFFFFFFFF, 0xFFFFFFFF)
    assert found.s[5] == found.s[7] != found.s[9]


def test_indexing_of_gfx9_for_any_instruction():
    """m0[7:0] = 3: sources and destinations as the mode says; the registers that the text names keep their values."""
    found = run(
        "gfx942",
        """
        v_mov_b32 v2, 100
        v_mov_b32 v4, 7
        v_add_u32 v5, 1000, v0
        v_mov_b32 v7, 50
        v_mov_b32 v10, 1
        v_mov_b32 v13, 2
        v_mov_b32 v16, 0
        v_mov_b32 v17, 0x40000000
        v_mov_b32 v22, 9
        v_mov_b32 v23, 8
        s_mov_b32 s4, 3
        s_mov_b32 exec_hi, 0xff
        s_set_gpr_idx_on s4, gpr_idx(SRC0,DST)
        v_add_u32 v10, v2, v7
        v_sub_u32 v8, v2, v4
        v_add_f64 v[22:23], v[13:14], 1.0
        s_set_gpr_idx_mode gpr_idx(SRC1)
        v_sub_u32 v12, v2, v4
        s_set_gpr_idx_off
        v_add_u32 v14, v2, v7
        """,
    )
    active = range(40)
    assert found.v[13].tolist() == [1050 + i if i in active else 2 for i in range(64)]  # v13 = v5 + v7
    assert found.v[11].tolist() == [993 + i if i in active else 0 for i in range(64)]  # v11 = v5 - v4
    assert set(found.v[10]) == {1}
    assert found.pairs(25).tolist() == [0x40080000 << 32 if i in active else 0 for i in range(64)]  # 2.0 + 1.0
    assert (set(found.v[22]), set(found.v[23])) == ({9}, {8})
    assert found.v[12].tolist() == [50 if i in active else 0 for i in range(64)]  # v2 - v7
    assert found.v[14].tolist() == [150 if i in active else 0 for i in range(64)]


@pytest.mark.parametrize("index", [0, 2])
def test_indexing_of_gfx9_for_one_lane(index):
    """m0[7:0] is added to the vector register of v_readlane and v_readfirstlane (SRC0), and of v_writelane (DST):
    kernels of AITER put numbers into registers so."""
    found = run(
        "gfx942",
        f"""
        v_add_u32 v4, 100, v0
        v_add_u32 v6, 1000, v0
        v_mov_b32 v8, 1
        v_mov_b32 v10, 2
        s_mov_b32 s4, {index}
        s_mov_b32 s5, 77
        s_mov_b32 s6, 9
        s_mov_b32 exec_lo, 0xfffffff0
        s_set_gpr_idx_on s4, gpr_idx(SRC0)
        v_readlane_b32 s8, v4, s6
        v_readfirstlane_b32 s9, v4
        v_writelane_b32 v8, s5, 3
        s_set_gpr_idx_mode gpr_idx(DST)
        v_writelane_b32 v8, s6, s6
        v_readlane_b32 s10, v4, 5
        s_set_gpr_idx_off
        v_writelane_b32 v8, s6, 11
        """,
    )
    first = 1000 if index else 100
    assert (found.s[8], found.s[9], found.s[10]) == (first + 9, first + 4, 105)
    named, meant = [1] * 64, [2] * 64
    named[3], named[11] = 77, 9
    (meant if index else named)[9] = 9
    assert (found.v[8].tolist(), found.v[10].tolist()) == (named, meant)
