"""What rows say beyond their expressions, by samples of each kind from the manuals."""

import random

import pytest

from gpulab import architectures
from gpulab.virtual_gpu import isa
from gpulab.virtual_gpu.isa.row import LOGIC, Memory, Row, works_by_lane
from tests.isa.rows import row_of, run

ARCHES = architectures.names()


@pytest.mark.parametrize(
    ("arch", "follow", "do_not"),
    [
        # CDNA3 ISA manual 6.2: MODE's rounding is that of additions, multiplications, fused ones, and of conversions
        # into a narrower float; v_cvt_pkrtz_f16_f32 always rounds toward zero, minima and roots do not ask MODE
        (
            "gfx942",
            "v_add_f32 v_sub_f16 v_subrev_f32 v_mul_f64 v_mul_legacy_f32 v_fma_f64 v_fmac_f32 v_fmaak_f32 v_fmamk_f32 "
            "v_mad_legacy_f16 v_madmk_f16 v_mac_f16 v_ldexp_f16 v_div_fmas_f32 v_cvt_f16_f32 v_cvt_f32_f64 "
            "v_cvt_f32_u32 v_cvt_f16_i16 v_pk_add_f32 v_pk_fma_f16 v_pk_mul_f16 v_fma_mix_f32 v_fma_mixlo_f16",
            "v_min_f32 v_max3_f16 v_rcp_f32 v_sqrt_f64 v_cvt_pkrtz_f16_f32 v_cvt_f64_f32 v_cvt_f32_f16 v_cvt_f64_i32 "
            "v_cvt_i32_f32 v_div_scale_f32 v_div_fixup_f32 v_floor_f32 v_rndne_f32 v_cvt_pk_fp8_f32 v_add_u32 "
            "v_dot2_f32_f16 v_mov_b32",
        ),
        ("gfx950", "v_cvt_pk_f16_f32", "v_cvt_pk_bf16_f32 v_cvt_sr_f16_f32 v_cvt_f32_bf16"),
        ("gfx90a", "v_mad_f32 v_mac_f32 v_madak_f32 v_mad_legacy_f32", "v_exp_f32"),
        ("gfx1100", "v_fma_dx9_zero_f32 v_mullit_f32 v_fmac_f16 v_pk_fmac_f16", "v_pk_min_f16 v_dot2_f16_f16"),
        ("gfx1201", "s_add_f32 s_mul_f16 s_fmac_f32 s_fmaak_f32 s_cvt_f32_i32", "s_min_num_f32 s_cvt_i32_f32"),
    ],
)
def test_which_rows_follow_the_rounding_of_mode(arch, follow, do_not):
    assert [name for name in follow.split() if not row_of(arch, name).rounds] == []
    assert [name for name in do_not.split() if row_of(arch, name).rounds] == []


def test_one_row_goes_to_the_high_half():
    """v_fma_mixhi_f16: "D.f16[31:16]" (CDNA3 ISA manual, VOP3P)."""
    for arch in ARCHES:
        found = [name for name, row in isa.table(arch).items() if isinstance(row, Row) and row.into_high]
        assert found == ["v_fma_mixhi_f16"], arch


@pytest.mark.parametrize(
    ("arch", "mnemonic", "keeps"),
    [
        ("gfx942", "v_cvt_sr_fp8_f32", "rest"),  # one byte of the destination
        ("gfx942", "v_cvt_pkaccum_u8_f32", "rest"),
        ("gfx950", "v_cvt_scalef32_pk_fp4_f16", "rest"),
        ("gfx942", "v_cvt_pk_fp8_f32", "half"),
        ("gfx942", "v_mad_i16", "half"),
        ("gfx942", "v_mad_legacy_i16", ""),
        ("gfx942", "v_fmac_f32", ""),  # its destination is a summand
        ("gfx942", "v_dot2c_f32_f16", ""),
        ("gfx942", "v_swap_b32", ""),
    ],
)
def test_what_of_the_destination_stays(arch, mnemonic, keeps):
    assert row_of(arch, mnemonic).keeps == keeps


@pytest.mark.parametrize(
    ("arch", "counted", "names"),
    [
        # AMD's descriptions of SQ_INSTS_VALU_ADD_F32 and so on: gpulab/counter_names.py
        ("gfx942", "add_f16", "v_add_f16 v_sub_f16 v_subrev_f16 v_pk_add_f16"),
        ("gfx942", "add_f64", "v_add_f64"),
        ("gfx942", "mul_f32", "v_mul_f32 v_mul_legacy_f32 v_pk_mul_f32"),
        ("gfx942", "fma_f16", "v_fma_f16 v_mad_f16 v_madak_f16 v_mac_f16 v_pk_fma_f16 v_pk_fmac_f16"),
        ("gfx942", "fma_f64", "v_fma_f64 v_fmac_f64"),
        ("gfx90a", "fma_f32", "v_mad_f32 v_mac_f32 v_madmk_f32 v_fmac_f32"),
        ("gfx942", "trans_f32", "v_rcp_f32 v_rsq_f32 v_sqrt_f32 v_exp_f32 v_log_f32 v_sin_f32 v_rcp_iflag_f32"),
        ("gfx942", "trans_f64", "v_rcp_f64 v_sqrt_f64"),
        ("gfx942", "cvt", "v_cvt_f32_i32 v_cvt_pk_fp8_f32 v_cvt_f32_ubyte0 v_cvt_pkrtz_f16_f32 v_cvt_f64_f32"),
        ("gfx950", "cvt", "v_cvt_scalef32_pk_fp4_f32 v_cvt_sr_f16_f32 v_cvt_pk_bf16_f32"),
        ("gfx942", "int32", "v_add_u32 v_mul_lo_u32 v_mad_u32_u24 v_cmp_lt_i32 v_bfe_u32 v_ashrrev_i32 v_add_co_u32"),
        ("gfx1100", "int32", "v_add_nc_u32 v_cmpx_eq_u32 v_maxmin_i32"),
        ("gfx942", "int64", "v_mad_u64_u32 v_lshl_add_u64 v_cmp_gt_u64 v_ashrrev_i64"),
        ("gfx942", "", "v_mov_b32 v_and_b32 v_lshlrev_b32 v_min_f32 v_cndmask_b32 v_cmp_lt_f32 v_add_u16 s_add_u32"),
    ],
)
def test_which_counter_counts_an_instruction(arch, counted, names):
    assert {name: row_of(arch, name).counted for name in names.split()} == dict.fromkeys(names.split(), counted)


@pytest.mark.parametrize("arch", ARCHES)
def test_division_steps_are_no_multiplications(arch):
    """LLVM, SISchedule.td: v_mul_lo_u32 and v_mad_u64_u32 are WriteIntMul or slower, v_div_fmas_f32 is not."""
    assert {row_of(arch, f"v_{name}").rate for name in ("mul_lo_u32", "mul_hi_i32", "mad_u64_u32")} == {"quarter"}
    assert {row_of(arch, f"v_div_{name}_f32").rate for name in ("scale", "fmas", "fixup")} == {"division"}


@pytest.mark.parametrize("arch", ARCHES)
def test_conversions_to_and_from_64_bits_take_longer(arch):
    """LLVM, SISchedule.td: v_cvt_*_f64 and v_cvt_f64_* are WriteDoubleCvt, those of 32 bits WriteFloatCvt."""
    wide = ["f64_i32", "f64_u32", "i32_f64", "u32_f64", "f64_f32", "f32_f64"]
    assert {name: row_of(arch, f"v_cvt_{name}").rate for name in wide} == dict.fromkeys(wide, "wide")
    assert {row_of(arch, f"v_cvt_{name}").rate for name in ("f32_i32", "u32_f32", "f16_f32", "f32_f16")} == {"full"}


def _logic_rows(arch):
    return [(name, row) for name, row in isa.table(arch).items() if isinstance(row, Row) and row.logic]


@pytest.mark.parametrize("arch", ARCHES)
def test_what_lies_within_what_by_trial(arch):
    """Every row with a `logic`, on random masks: the results say which source holds them, or is held by them."""
    numbers = random.Random(7)
    for name, row in _logic_rows(arch):
        seen = {"narrows": {0, 1}, "widens": {0, 1}}
        for _ in range(20):
            sources = [numbers.getrandbits(32), numbers.getrandbits(32)][: 1 if row.logic == "mov" else 2]
            if row.writes_exec:
                result = run(arch, name, sources[0], exec=sources[1])[1]
            else:
                result = run(arch, name, *sources)[0]
            for place in (0, 1):
                source = sources[place] if place < len(sources) else numbers.getrandbits(32)
                if result & ~source:
                    seen["narrows"].discard(place)
                if source & ~result:
                    seen["widens"].discard(place)
        expected = LOGIC[row.logic]
        if row.logic != "mov":
            assert (tuple(sorted(seen["narrows"])), tuple(sorted(seen["widens"]))) == (
                expected.narrows, expected.widens,
            ), name  # fmt: skip


@pytest.mark.parametrize("arch", ARCHES)
def test_all_rows_that_combine_masks_say_how(arch):
    """All *_saveexec and *_wrexec rows have a `logic`, and only the former save EXEC."""
    names = {name for name, row in isa.table(arch).items() if isinstance(row, Row) and row.writes_exec}
    scalar = {name for name in names if row_of(arch, name).unit == "salu"}
    assert scalar == {name for name, row in _logic_rows(arch) if row.writes_exec}
    assert {name for name in scalar if row_of(arch, name).saves_exec} == {n for n in scalar if "saveexec" in n}
    assert names - scalar == {name for name in isa.table(arch) if name.startswith("v_cmpx_")}


def _atomics(arch):
    return [(name, row) for name, row in isa.table(arch).items() if isinstance(row, Memory) and row.action == "atomic"]


def _both_orders(arch, mnemonic, memory, first, second):
    found = []
    for one, other in ((first, second), (second, first)):
        (between,) = run(arch, mnemonic, memory, *one)
        found.append(run(arch, mnemonic, between, *other))
    return found


@pytest.mark.parametrize("arch", ARCHES)
def test_atomics_that_commute_do_so_in_trials(arch):
    """Two of the same atomic in either order, on few small and special numbers, so that many are equal."""
    numbers = random.Random(3)
    special = (0, 1, 2, 5, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x3F800000)
    commuting = [(name, row) for name, row in _atomics(arch) if row.commutes]
    assert len(commuting) > 40
    for name, row in commuting:
        assert row.combine is not None
        for _ in range(30):
            memory, first, second = (numbers.choice(special) | numbers.choice((0, 1 << 63)) for _ in range(3))
            one, other = _both_orders(arch, name, memory, [first], [second])
            assert one == other, name


MOST16, MOST32 = 0x7BFF, 0x7F7FFFFF  # the largest f16 and f32: with another one infinity, with its negative zero


@pytest.mark.parametrize(
    ("arch", "mnemonic", "memory", "first", "second"),
    [
        ("gfx942", "global_atomic_swap", 0, [1], [2]),
        ("gfx942", "global_atomic_inc", 3, [3], [5]),
        ("gfx942", "global_atomic_dec", 0, [3], [5]),
        ("gfx942", "global_atomic_cmpswap", 0, [1, 0], [2, 0]),
        ("gfx942", "ds_rsub_u32", 0, [1], [2]),
        ("gfx942", "global_atomic_add_f32", MOST32, [MOST32], [MOST32 | 1 << 31]),
        ("gfx942", "global_atomic_pk_add_f16", MOST16, [MOST16], [MOST16 | 1 << 15]),
        ("gfx942", "flat_atomic_pk_add_bf16", 0x7F7F, [0x7F7F], [0xFF7F]),
        ("gfx1100", "global_atomic_min_f32", 1 << 30, [0], [1 << 31]),  # of both zeros the first one stays
        ("gfx1201", "global_atomic_cond_sub_u32", 5, [4], [3]),
    ],
)
def test_atomics_that_do_not_commute(arch, mnemonic, memory, first, second):
    """One example of each in which the order makes a difference."""
    one, other = _both_orders(arch, mnemonic, memory, first, second)
    assert one != other
    row = isa.table(arch)[mnemonic]
    assert isinstance(row, Memory)
    assert not row.commutes


@pytest.mark.parametrize(
    ("arch", "mnemonic", "expected"),
    [
        ("gfx942", "ds_bpermute_b32", {"unit": "lds", "inactive": False}),
        ("gfx1201", "ds_bpermute_fi_b32", {"unit": "lds", "kind": "ds_bpermute", "inactive": True}),
        ("gfx942", "v_readlane_b32", {"unit": "valu", "indexed": False}),
        ("gfx942", "s_movrels_b64", {"unit": "salu", "kind": "movrels", "width": 64, "indexed": True}),
        ("gfx1100", "v_movreld_b32", {"unit": "valu", "kind": "movreld", "width": 32, "indexed": True}),
        ("gfx1100", "v_permlane16_b32", {"kind": "permlane16", "other_row": False, "by_lane": False}),
        ("gfx1100", "v_permlanex16_b32", {"kind": "permlane16", "other_row": True, "by_lane": False}),
        ("gfx1201", "v_permlanex16_var_b32", {"kind": "permlane16", "other_row": True, "by_lane": True}),
        ("gfx950", "v_permlane32_swap_b32", {"kind": "permlane_swap", "distance": 32}),
        ("gfx942", "s_waitcnt", {"kind": "wait", "counters": ("vmcnt", "expcnt", "lgkmcnt")}),
        ("gfx1100", "s_waitcnt_vscnt", {"kind": "wait", "counters": ("vscnt",)}),
        ("gfx1100", "s_waitcnt_depctr", {"kind": "wait", "counters": ()}),  # the wave's own pipelines, no memory
        ("gfx1201", "s_wait_loadcnt_dscnt", {"kind": "wait", "counters": ("loadcnt", "dscnt")}),
        ("gfx1100", "s_delay_alu", {"delay": "alu", "counters": ()}),
        ("gfx942", "s_nop", {"delay": "nop"}),
        ("gfx942", "s_sleep", {"delay": "sleep"}),
        ("gfx942", "v_nop", {"delay": ""}),
        ("gfx942", "s_cbranch_vccnz", {"register": "vcc", "nonzero": True}),
        ("gfx942", "s_cbranch_execz", {"register": "exec", "nonzero": False}),
        ("gfx942", "s_cbranch_scc1", {"register": "scc", "nonzero": True}),
        ("gfx1100", "s_sendmsg_rtn_b64", {"width": 64}),
        # LLVM, "User Guide for AMDGPU Backend", memory models of gfx90a, gfx942, gfx10-gfx11, gfx12
        ("gfx942", "buffer_wbl2", {"order": "release"}),
        ("gfx942", "buffer_inv", {"order": "scoped acquire"}),
        ("gfx90a", "buffer_wbinvl1_vol", {"order": "acquire"}),
        ("gfx1100", "buffer_gl1_inv", {"order": "acquire"}),
        ("gfx1100", "buffer_gl0_inv", {"order": ""}),  # a workgroup's
        ("gfx1201", "global_inv", {"order": "scoped acquire"}),
        ("gfx1201", "global_wb", {"order": ""}),
    ],
)
def test_lanes_waits_and_orders(arch, mnemonic, expected):
    row = isa.table(arch)[mnemonic]
    assert {name: getattr(row, name) for name in expected} == expected


@pytest.mark.parametrize("arch", ARCHES)
def test_what_only_concerns_caches_is_modelled(arch):
    table = isa.table(arch)
    names = "s_dcache_inv s_icache_inv s_dcache_wb buffer_inv buffer_gl0_inv buffer_gl1_inv global_wb buffer_wbinvl1"
    found = [table[name].fidelity for name in names.split() if name in table]
    assert found == ["modelled"] * len(found)
    assert len(found) > 2
    assert table["s_nop"].fidelity == table["s_setprio"].fidelity == "exact"


@pytest.mark.parametrize(
    ("arch", "by_lane", "for_the_wave"),
    [
        # CDNA3 ISA manual 3.3: EXEC says for which lanes a vector instruction works; 6.7, 7.1: v_readlane, v_writelane
        # and matrix instructions ignore it; scalar ones and those on caches have no lanes
        (
            "gfx942",
            "v_add_f32 v_cmp_gt_i32 v_cmpx_gt_i32 global_load_dword ds_read_b32 buffer_store_dword scratch_load_dword "
            "ds_bpermute_b32 ds_append v_swap_b32",
            "s_add_u32 s_load_dword v_readlane_b32 v_readfirstlane_b32 v_writelane_b32 v_mfma_f32_4x4x1f32 buffer_wbl2 "
            "buffer_inv v_nop s_endpgm s_movrels_b32",
        ),
        ("gfx1100", "flat_load_b32 v_permlane16_b32 v_movrels_b32", "v_wmma_f32_16x16x16_f16 buffer_gl0_inv s_barrier"),
        # RDNA4 ISA manual: v_s_* are the scalar unit's, the name's beginning is of the encoding
        ("gfx1201", "v_exp_f32", "v_s_exp_f32 v_s_rcp_f16 global_wb global_inv s_prefetch_data"),
    ],
)
def test_what_works_once_for_each_active_lane(arch, by_lane, for_the_wave):
    table = isa.table(arch)
    assert [name for name in by_lane.split() if not works_by_lane(table[name])] == []
    assert [name for name in for_the_wave.split() if works_by_lane(table[name])] == []
