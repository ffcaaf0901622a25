"""LDS instructions whose address or data the text does not name, and the conditional exchange."""

import numpy as np
import pytest

from tests.isa.machines import run

BOTH = pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
READ = {
    "gfx942": ("ds_read_b32", "ds_write_b32", "ds_read_b64"),
    "gfx1100": ("ds_load_b32", "ds_store_b32", "ds_load_b64"),
}


def names(arch):
    """LDS mnemonics: load, store, load 64."""
    return READ[arch]


@BOTH
@pytest.mark.parametrize(("mnemonic", "after"), [("ds_append", 106), ("ds_consume", 94)])
def test_append_and_consume_count_active_lanes(arch, mnemonic, after):
    """m0 + offset holds 100; six lanes are active: memory changes by 6 once, and all six get 100."""
    load, store, _ = names(arch)
    high = "s_mov_b32 exec_hi, 0" if arch == "gfx942" else ""
    found = run(
        arch,
        f"""
        v_mov_b32 v1, 100
        v_mov_b32 v2, 68
        {store} v2, v1
        s_waitcnt lgkmcnt(0)
        s_mov_b32 m0, 0x70000040
        s_mov_b32 exec_lo, 0x10218081
        {high}
        v_mov_b32 v4, 7
        {mnemonic} v3 offset:4
        s_waitcnt lgkmcnt(0)
        {load} v5, v2
        s_waitcnt lgkmcnt(0)
        """,
    )
    lanes = [0, 7, 15, 16, 21, 28]
    expected = np.zeros(found.v.shape[1], np.uint32)
    expected[lanes] = 100
    assert found.v[3].tolist() == expected.tolist()
    assert found.v[5][0] == after


@BOTH
def test_addtid_addresses_are_m0_plus_four_per_lane(arch):
    load, _, _ = names(arch)
    read, write = ("read", "write") if arch == "gfx942" else ("load", "store")
    found = run(
        arch,
        f"""
        s_mov_b32 m0, 0x100
        v_add_u32 v1, 1000, v0
        ds_{write}_addtid_b32 v1 offset:16
        s_waitcnt lgkmcnt(0)
        v_lshlrev_b32 v2, 2, v0
        {load} v3, v2 offset:272
        ds_{read}_addtid_b32 v4 offset:20
        s_waitcnt lgkmcnt(0)
        """,
    )
    lane = np.arange(found.v.shape[1])
    assert found.v[3].tolist() == (1000 + lane).tolist()
    assert found.v[4][:-1].tolist() == (1001 + lane[:-1]).tolist()


@BOTH
@pytest.mark.parametrize("last", ["addtid", "append"])
def test_m0_is_what_it_was_before_a_branch(arch, last):
    """The only access after the branch takes its address from M0: 0x100 + 16, and 4 for each lane of addtid."""
    _, store, _ = names(arch)
    add, read = ("v_add_u32", "ds_read_addtid_b32") if arch == "gfx942" else ("v_add_nc_u32", "ds_load_addtid_b32")
    found = run(
        arch,
        f"""
        v_lshlrev_b32 v2, 2, v0
        {add} v1, 1000, v0
        {store} v2, v1 offset:272
        s_waitcnt lgkmcnt(0)
        s_mov_b32 m0, {"0x100" if last == "addtid" else "0x00400100"}
        s_cmp_eq_u32 s0, s0
        s_cbranch_scc1 on
        s_mov_b32 m0, 0x200
        on:
        {read if last == "addtid" else "ds_append"} v3 offset:16
        s_waitcnt lgkmcnt(0)
        """,
    )
    lanes = found.v.shape[1]
    assert found.v[3].tolist() == (list(range(1000, 1000 + lanes)) if last == "addtid" else [1000] * lanes)


def test_global_addtid():
    data = np.arange(64, dtype=np.uint32) * 3
    found = run(
        "gfx1100",
        """
        global_load_addtid_b32 v1, s[2:3] offset:8
        s_waitcnt vmcnt(0)
        global_store_addtid_b32 v1, s[2:3] offset:128
        """,
        data=data,
    )
    assert found.v[1].tolist() == [3 * (lane + 2) for lane in range(32)]
    assert np.frombuffer(found.data, np.uint32)[32:].tolist() == found.v[1].tolist()


@BOTH
def test_conditional_exchange_takes_what_has_its_highest_bit_set(arch):
    _, store, load64 = names(arch)
    found = run(
        arch,
        f"""
        v_lshlrev_b32 v1, 3, v0
        v_mov_b32 v2, 5
        v_mov_b32 v3, 6
        {store} v1, v2
        {store} v1, v3 offset:4
        v_mov_b32 v4, 0x80000123
        v_mov_b32 v5, 0x00000456
        s_waitcnt lgkmcnt(0)
        ds_condxchg32_rtn_b64 v[6:7], v1, v[4:5]
        s_waitcnt lgkmcnt(0)
        {load64} v[8:9], v1
        s_waitcnt lgkmcnt(0)
        """,
    )
    assert set(found.v[6]) == {5}
    assert set(found.v[7]) == {6}
    assert set(found.v[8]) == {0x123}
    assert set(found.v[9]) == {6}


@BOTH
def test_dynamic_lds_begins_behind_the_kernels_own(arch):
    """LLVM, AMDGPU usage, .amdgpu_lds: LDS of a kernel's own and external LDS do not overlap, and each symbol has its
    alignment. The kernel has 4096 bytes of its own."""
    found = run(
        arch,
        """
        .amdgpu_lds bytes, 0, 1
        .amdgpu_lds words, 0, 16
        .amdgpu_lds pages, 0, 3072
        s_mov_b32 s4, bytes@abs32@lo
        s_mov_b32 s5, words@abs32@lo
        s_mov_b32 s6, pages@abs32@lo
        """,
    )
    assert found.s[4:7] == [4096, 4096, 6144]
