"""Moves between lanes and registers by number, on both machines; sources worked out from the ISA manuals."""

import pytest

from tests.isa.machines import run

LANES = range(64)
SELECTED = "s_mov_b32 s10, 0x01234567\ns_mov_b32 s11, 0x89abcdef\n"
REVERSED = [7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8]


def test_permlane16_from_inactive_lanes():
    """RDNA3 ISA manual, V_PERMLANE16_B32: op_sel[0] fetches inactive lanes, op_sel[1] gives 0 instead of nothing."""
    mask = 0xF00F3FF1
    forms = [
        (mnemonic, other, flags, given)
        for mnemonic, other in (("v_permlane16_b32", 0), ("v_permlanex16_b32", 16))
        for flags, given in (("", "old"), ("op_sel:[1,0]", "source"), ("op_sel:[0,1]", 0), ("op_sel:[1,1]", "source"))
    ]
    body = SELECTED + "".join(f"v_mov_b32 v{1 + n}, 77\n" for n in range(len(forms)))
    body += f"s_mov_b32 exec_lo, {mask:#x}\n"
    body += "".join(f"{form[0]} v{1 + n}, v0, s10, s11 {form[2]}\n" for n, form in enumerate(forms))
    found = run("gfx1100", body)
    for n, (_, other, _, given) in enumerate(forms):
        wanted = []
        for lane in range(32):
            source = (lane & 16 ^ other) + REVERSED[lane % 16]
            without = {"old": 77, "source": source, 0: 0}[given]
            wanted.append(77 if not mask >> lane & 1 else source if mask >> source & 1 else without)
        assert found.v[1 + n].tolist() == wanted, forms[n]


def test_moves_of_gfx12():
    """A lane's register names its source by bits 3:0; a permute that fetches inactive lanes."""
    found = run(
        "gfx1201",
        """
        v_mul_u32_u24 v2, 5, v0
        v_or_b32 v2, 0xff0, v2
        v_permlane16_var_b32 v3, v0, v2
        v_permlanex16_var_b32 v4, v0, v2
        v_add_nc_u32 v1, 100, v0
        v_mov_b32 v5, 20
        s_mov_b32 exec_lo, 3
        ds_bpermute_b32 v6, v5, v1
        ds_bpermute_fi_b32 v7, v5, v1
        s_wait_dscnt 0x0
        """,
    )
    assert found.v[3].tolist() == [(lane & 16) + 5 * lane % 16 for lane in range(32)]
    assert found.v[4].tolist() == [(lane & 16 ^ 16) + 5 * lane % 16 for lane in range(32)]
    assert found.v[6].tolist() == [0] * 32
    assert found.v[7].tolist() == [105, 105] + [0] * 30


def test_rows_of_two_registers_change_places():
    """gfx950: the first register's odd rows (of 16 or 32 lanes) and the second's even ones; fi and bound_ctrl."""
    mask = 0xFFFF_FF0F_FFF0_FFFE
    forms = [(d, fi, zero) for d in (16, 32) for fi in (0, 1) for zero in (0, 1)]
    body = "".join(f"v_add_u32 v{1 + 2 * n}, 100, v0\nv_add_u32 v{2 + 2 * n}, 200, v0\n" for n, _ in enumerate(forms))
    body += f"s_mov_b32 exec_lo, {mask & 0xFFFFFFFF:#x}\ns_mov_b32 exec_hi, {mask >> 32:#x}\n"
    for n, (distance, fi, zero) in enumerate(forms):
        flags = " bound_ctrl:1" * zero + " fi:1" * fi
        body += f"v_permlane{distance}_swap_b32 v{1 + 2 * n}, v{2 + 2 * n}{flags}\n"
    found = run("gfx950", body)
    for n, (distance, fi, zero) in enumerate(forms):

        def after(lane, own, moves, source, given, fi=fi, zero=zero):
            if not moves or not mask >> lane & 1:
                return own
            return given if mask >> source & 1 or fi else 0 if zero else own

        odd = [bool(lane & distance) for lane in LANES]
        first = [after(i, 100 + i, odd[i], i - distance, 200 + i - distance) for i in LANES]
        second = [after(i, 200 + i, not odd[i], i + distance, 100 + i + distance) for i in LANES]
        assert found.v[1 + 2 * n].tolist() == first, forms[n]
        assert found.v[2 + 2 * n].tolist() == second, forms[n]


def test_scalar_registers_by_number():
    """s_movrels adds m0 to the source's number, s_movreld to the destination's; s_movrelsd_2 two fields of it."""
    body = "\n".join(f"s_mov_b32 s{i}, {100 + i}" for i in range(4, 40))
    body += """
      s_mov_b32 m0, 2
      s_movrels_b32 s20, s10
      s_movreld_b32 s22, s10
      s_movrels_b64 s[26:27], s[12:13]
      s_movreld_b64 s[28:29], s[12:13]
      s_movreld_b32 s14, 9
      s_mov_b32 m0, 0xfc05fc03
      s_movrelsd_2_b32 s32, s10
    """
    found = run("gfx1100", body)
    changed = {16: 9, 20: 112, 24: 110, 26: 114, 27: 115, 30: 112, 31: 113, 37: 113}
    assert found.s[4:40] == [changed.get(i, 100 + i) for i in range(4, 40)]


def test_vector_registers_by_number():
    """m0 is added to numbers; only active lanes move. v_swaprel and v_movrelsd_2 take m0[9:0] and m0[25:16]."""
    body = "\n".join(f"v_mov_b32 v{i}, {100 + i}" for i in range(1, 32))
    body += """
      s_mov_b32 exec_lo, 7
      s_mov_b32 m0, 3
      v_movrels_b32 v1, v2
      v_movreld_b32 v7, v8
      v_movrelsd_b32 v11, v12
      v_movreld_b32 v16, 9
      s_mov_b32 m0, 0xfc01fc04
      v_movrelsd_2_b32 v20, v17
      v_swaprel_b32 v24, v22
    """
    found = run("gfx1100", body)
    # v1 = v5, v10 = v8, v14 = v15, v19 = 9, v21 = v21, v25 <-> v26
    changed = {1: 105, 10: 108, 14: 115, 19: 9, 21: 121, 25: 126, 26: 125}
    for register in range(1, 32):
        wanted = [changed.get(register, 100 + register)] * 3 + [100 + register] * 29
        assert found.v[register].tolist() == wanted, register


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_lanes_by_a_register_are_taken_modulo_the_wave(arch):
    size = 64 if arch == "gfx942" else 32
    found = run(
        arch,
        f"""
        v_add_u32 v1, 100, v0
        v_mov_b32 v2, 5
        s_mov_b32 s4, {size + 6}
        s_mov_b32 m0, {3 * size + 7}
        v_readlane_b32 s5, v1, s4
        v_readlane_b32 s6, v1, m0
        v_writelane_b32 v2, s4, m0
        v_readlane_b32 s7, v1, {size - 1}
        """,
    )
    assert found.s[5:8] == [106, 107, 99 + size]
    assert found.v[2].tolist() == [size + 6 if i == 7 else 5 for i in range(size)]
