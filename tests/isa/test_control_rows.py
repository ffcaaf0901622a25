"""Control rows and special registers as operands, on both machines; values from the ISA manuals."""

import pytest

from tests.isa.machines import run

BOTH = pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])


@BOTH
def test_the_trap_of_debuggers_does_nothing(arch):
    """LLVM, "User Guide for AMDGPU Backend", trap handler ABI: s_trap 3 without a debugger; the wave goes on."""
    body = """
      s_mov_b32 s4, 1
      v_mov_b32 v1, 5
      s_trap 3
      v_add_u32 v2, v1, v0
      s_add_u32 s4, s4, 2
      s_add_u32 s5, s4, 4
    """
    found = run(arch, body)
    assert found.s[4:6] == [3, 7]
    assert found.v[2].tolist() == [5 + i for i in range(found.v.shape[1])]


def test_modes_in_one_instruction():
    """s_round_mode writes MODE[3:0], s_denorm_mode MODE[7:4]. (RDNA3 ISA manual, SOPP)"""
    found = run(
        "gfx1100",
        """
        s_getreg_b32 s4, hwreg(HW_REG_MODE, 0, 8)
        s_round_mode 0x1
        s_getreg_b32 s5, hwreg(HW_REG_MODE, 0, 8)
        v_mov_b32 v1, 0x33000000
        v_add_f32 v2, 1.0, v1
        s_denorm_mode 0x4
        s_getreg_b32 s6, hwreg(HW_REG_MODE, 0, 8)
        s_getreg_b32 s7, hwreg(HW_REG_MODE, 4, 4)
        v_mov_b32 v3, 5
        v_mul_f32 v4, 1.0, v3
        s_round_mode 0x6
        s_denorm_mode 0xf
        s_getreg_b32 s8, hwreg(HW_REG_MODE, 0, 8)
        v_mul_f32 v5, 1.0, v3
        v_add_f32 v6, 1.0, v1
        """,
    )
    assert found.s[4:9] == [0xF0, 0xF1, 0x41, 4, 0xF6]
    assert [int(found.v[i][0]) for i in (2, 4, 5, 6)] == [0x3F800001, 0, 5, 0x3F800000]


@BOTH
def test_where_lds_and_scratch_begin_in_a_flat_address(arch):
    """HW_REG_SH_MEM_BASES has bits 63:48 of private memory's first address, and above them those of LDS's."""
    found = run(
        arch,
        """
        s_getreg_b32 s4, hwreg(HW_REG_SH_MEM_BASES)
        s_getreg_b32 s5, hwreg(HW_REG_SH_MEM_BASES, 16, 16)
        s_getreg_b32 s6, hwreg(HW_REG_SH_MEM_BASES, 0, 16)
        s_mov_b64 s[8:9], src_shared_base
        s_mov_b64 s[10:11], src_private_base
        """,
    )
    assert (found.s[8], found.s[10]) == (0, 0)
    assert found.s[5] == found.s[9] >> 16 != 0
    assert found.s[6] == found.s[11] >> 16 != 0
    assert found.s[4] == found.s[5] << 16 | found.s[6]


def test_scalar_state_as_an_operand_of_vector_instructions():
    """SCC, VCCZ, EXECZ, m0, EXEC and VCC in the place of a register; null is 0; a mask may be a constant."""
    found = run(
        "gfx1100",
        """
        s_mov_b32 m0, 0x1234
        s_mov_b32 vcc_lo, 0xf0
        s_cmp_eq_u32 m0, 0x1234
        v_mov_b32 v1, src_scc
        v_mov_b32 v2, m0
        v_mov_b32 v3, src_vccz
        v_mov_b32 v4, src_execz
        v_mov_b32 v5, vcc_lo
        v_add_nc_u32 v6, exec_lo, v0
        v_mov_b32 v7, null
        s_cmp_eq_u32 m0, 0
        v_mov_b32 v8, src_scc
        s_mov_b32 vcc_lo, 0
        v_mov_b32 v9, src_vccz
        s_mov_b32 s4, src_vccz
        s_mov_b32 s5, src_execz
        s_mov_b32 s6, src_scc
        s_mov_b32 s7, m0
        v_cndmask_b32 v10, 10, 20, vcc_lo
        v_cndmask_b32_e64 v11, 10, 20, exec_lo
        v_add_f32 v12, m0, -m0
        v_lshlrev_b64 v[14:15], 4, null
        v_add_f64 v[16:17], vcc, 1.0
        """,
    )
    first = [int(found.v[i][0]) for i in range(1, 13)]
    assert first == [1, 0x1234, 0, 0, 0xF0, 0xFFFFFFFF, 0, 0, 1, 10, 20, 0]
    assert found.v[6].tolist() == [(0xFFFFFFFF + i) & 0xFFFFFFFF for i in range(32)]
    assert found.s[4:8] == [1, 0, 0, 0x1234]
    assert found.pairs(14).tolist() == [0] * 32
    assert found.pairs(16).tolist() == [0x3FF00000 << 32] * 32


def test_signs_of_scalar_sources():
    """The float rows of the scalar unit: abs first, then neg, of registers and of constants."""
    found = run(
        "gfx1201",
        """
        s_mov_b32 s5, 0xc0400000
        s_mov_b32 s6, 0x3fc00000
        s_add_f32 s7, -s5, s6
        s_add_f32 s8, |s5|, -s6
        s_add_f32 s9, -|s5|, |s6|
        s_mov_b32 s10, 0xc200
        s_add_f16 s11, -s10, 0x3c00
        """,
    )
    assert found.s[7:10] == [0x40900000, 0x3FC00000, 0xBFC00000]  # 3 + 1.5, 3 - 1.5, -3 + 1.5
    assert found.s[11] & 0xFFFF == 0x4400  # 3 + 1


def test_wide_masks_and_m0_as_operands():
    found = run(
        "gfx942",
        """
        s_mov_b32 m0, 77
        s_mov_b32 vcc_lo, 0x0000000f
        s_mov_b32 vcc_hi, 0x80000000
        s_mov_b64 exec, 0x3f
        s_not_b64 exec, exec
        v_lshlrev_b64 v[2:3], 4, vcc
        v_lshlrev_b64 v[4:5], 0, exec
        v_mov_b32 v6, vcc_hi
        v_mov_b32 v7, m0
        v_mov_b32 v8, exec_hi
        v_mov_b32 v9, src_vccz
        v_mov_b32 v10, src_execz
        v_cndmask_b32_e64 v11, 10, 20, vcc
        v_cndmask_b32_e64 v12, 10, 20, -1
        v_cndmask_b32_e64 v13, 10, 20, 0
        v_cndmask_b32_e64 v14, 10, 20, exec
        """,
    )
    on = [i >= 6 for i in range(64)]
    assert found.pairs(2).tolist() == [0xF0 if x else 0 for x in on]
    assert found.pairs(4).tolist() == [0xFFFFFFFFFFFFFFC0 if x else 0 for x in on]
    wanted = {6: 0x80000000, 7: 77, 8: 0xFFFFFFFF, 9: 0, 10: 0, 12: 20, 13: 10, 14: 20}
    for register, value in wanted.items():
        assert found.v[register].tolist() == [value if x else 0 for x in on], register
    assert found.v[11].tolist() == [0 if not on[i] else 20 if i == 63 else 10 for i in range(64)]


def test_index_modes_by_number():
    """s_set_gpr_idx_on with a number: 1 is SRC0, 2 SRC1, 4 SRC2, 8 DST. (CDNA3 ISA manual, S_SET_GPR_IDX_ON)"""
    found = run(
        "gfx942",
        """
        v_mov_b32 v2, 2
        v_mov_b32 v5, 50
        v_mov_b32 v6, 600
        v_mov_b32 v9, 9000
        v_mov_b32 v7, 7
        v_mov_b32 v10, 70000
        s_mov_b32 s4, 3
        s_set_gpr_idx_on s4, 9
        v_add3_u32 v11, v2, v6, v7
        s_set_gpr_idx_mode 2
        v_add3_u32 v12, v2, v6, v7
        s_set_gpr_idx_mode 4
        v_add3_u32 v13, v2, v6, v7
        s_mov_b32 s5, 0xff00
        s_set_gpr_idx_idx s5
        v_add3_u32 v15, v2, v6, v7
        s_set_gpr_idx_off
        v_add3_u32 v16, v2, v6, v7
        s_mov_b32 s6, m0
        """,
    )
    assert [int(found.v[i][0]) for i in (11, 12, 13, 14, 15, 16)] == [0, 9009, 70602, 657, 609, 609]
    assert found.s[6] == 0x4000
