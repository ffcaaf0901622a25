"""Atomics in LDS and global memory: what memory becomes, and the old value that comes back; lanes of one address.

Numbers worked by hand from the formulas of the CDNA3 ISA manual 12.12-12.14 and the RDNA3 ISA manual 16.15-16.18.
"""

import struct

import numpy as np
import pytest

from tests.isa.machines import run

ARCHES = ["gfx942", "gfx1100"]
MINUS = 0xFFFFFFFF
# operation: (type letter, old, data, new)
CASES = {
    "add": [("u", MINUS, 2, 1)],
    "sub": [("u", 1, 2, MINUS)],
    "min": [("i", 5, MINUS, MINUS), ("u", 5, MINUS, 5)],
    "max": [("i", 5, MINUS, 5), ("u", 5, MINUS, MINUS)],
    "and": [("b", 0xF0F0, 0xFF00, 0xF000)],
    "or": [("b", 0xF0F0, 0xFF00, 0xFFF0)],
    "xor": [("b", 0xF0F0, 0xFF00, 0x0FF0)],
    "inc": [("u", 6, 7, 7), ("u", 7, 7, 0), ("u", 8, 7, 0)],
    "dec": [("u", 7, 7, 6), ("u", 0, 7, 7), ("u", 8, 7, 7)],
}
FLAT = [(name, *case) for name, cases in CASES.items() for case in cases]


def names(arch):
    """load, store of LDS; load, store of LDS with 64 bits."""
    verbs = ("read", "write") if arch == "gfx942" else ("load", "store")
    return [f"ds_{verb}_b{bits}" for bits in (32, 64) for verb in verbs]


@pytest.mark.parametrize("arch", ARCHES)
def test_integers_in_lds(arch):
    load, store, _, _ = names(arch)
    lines, expected = ["v_lshlrev_b32 v1, 3, v0", "v_add_u32 v1, 64, v1", "v_mov_b32 v31, 0"], []
    at = 4
    for name, letter, old, data, new in [*FLAT, ("rsub", "u", 3, 2, MINUS)]:
        if at > 26:
            break
        lines += [f"v_mov_b32 v30, {old:#x}", f"{store} v1, v30", f"v_mov_b32 v30, {data:#x}"]
        lines += [f"ds_{name}_rtn_{letter}32 v{at}, v1, v30", f"{load} v{at + 1}, v1", "s_waitcnt lgkmcnt(0)"]
        expected += [(at, old, new)]
        at += 2
    found = run(arch, "\n".join(lines))
    for register, old, new in expected:
        assert set(found.v[register]) == {old}
        assert set(found.v[register + 1]) == {new}


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize(("name", "letter", "old", "data", "new"), FLAT)
def test_64_bit_integers_in_lds_and_global_memory(arch, name, letter, old, data, new):
    """The 32-bit cases moved up by 32 bits, with a low half that has to come along."""
    old64, data64 = old << 32 | 0x80000000, data << 32
    if name == "inc":
        new64 = old64 + 1 if old64 < data64 else 0
    elif name == "dec":
        new64 = data64 if old64 == 0 or old64 > data64 else old64 - 1
    elif name in ("and", "or", "xor"):
        new64 = {"and": old64 & data64, "or": old64 | data64, "xor": old64 ^ data64}[name]
    elif name in ("min", "max"):
        new64 = data64 if new == data else old64
    else:
        new64 = new << 32 | 0x80000000
    _, _, load64, store64 = names(arch)
    short = {"i": "s", "u": "u"}[letter] + name if name in ("min", "max") else name
    global_name = f"global_atomic_{short}_x2" if arch == "gfx942" else f"global_atomic_{name}_{letter}64"
    back = "sc0" if arch == "gfx942" else "glc"
    found = run(
        arch,
        f"""
        v_mov_b32 v10, {old64 & MINUS:#x}
        v_mov_b32 v11, {old64 >> 32:#x}
        v_mov_b32 v12, {data64 & MINUS:#x}
        v_mov_b32 v13, {data64 >> 32:#x}
        v_lshlrev_b32 v1, 3, v0
        {store64} v1, v[10:11]
        ds_{name}_rtn_{letter}64 v[14:15], v1, v[12:13]
        {load64} v[16:17], v1
        {"global_store_dwordx2" if arch == "gfx942" else "global_store_b64"} v1, v[10:11], s[2:3]
        {global_name} v[18:19], v1, v[12:13], s[2:3] {back}
        s_waitcnt vmcnt(0) lgkmcnt(0)
        """,
        data=bytes(512),
    )
    assert set(found.pairs(14).tolist()) == {old64}
    assert set(found.pairs(16).tolist()) == {new64}
    assert set(found.pairs(18).tolist()) == {old64}
    lanes = found.v.shape[1]
    assert set(np.frombuffer(found.data, np.uint64)[:lanes].tolist()) == {new64}


@pytest.mark.parametrize("arch", ARCHES)
def test_lanes_of_one_address_come_one_after_another(arch):
    load, _, _, _ = names(arch)
    add = "global_atomic_add" if arch == "gfx942" else "global_atomic_add_u32"
    back = "sc0" if arch == "gfx942" else "glc"
    found = run(
        arch,
        f"""
        v_mov_b32 v1, 16
        v_add_u32 v2, 1, v0
        ds_add_rtn_u32 v3, v1, v2
        {load} v4, v1
        v_mov_b32 v5, 0
        {add} v6, v5, v2, s[2:3] {back}
        s_waitcnt vmcnt(0) lgkmcnt(0)
        """,
    )
    lanes = found.v.shape[1]
    sums = np.cumsum(np.arange(lanes))
    assert found.v[3].tolist() == sums.tolist()
    assert found.v[6].tolist() == sums.tolist()
    assert set(found.v[4]) == {lanes * (lanes + 1) // 2}
    assert struct.unpack_from("<I", found.data)[0] == lanes * (lanes + 1) // 2


@pytest.mark.parametrize("arch", ARCHES)
def test_compare_and_exchange(arch):
    """Lane 5 finds what it expects. (Data, then comparand; the old DS form has them the other way round.)"""
    load, store, _, _ = names(arch)
    swap = "global_atomic_cmpswap" if arch == "gfx942" else "global_atomic_cmpswap_b32"
    in_lds = "ds_cmpst_rtn_b32 v9, v1, v4, v3" if arch == "gfx942" else "ds_cmpstore_rtn_b32 v9, v1, v3, v4"
    back = "sc0" if arch == "gfx942" else "glc"
    found = run(
        arch,
        f"""
        v_lshlrev_b32 v1, 2, v0
        {store} v1, v0
        v_mov_b32 v3, 77
        v_mov_b32 v4, 5
        {in_lds}
        {load} v10, v1
        {swap} v11, v1, v[3:4], s[2:3] {back}
        s_waitcnt vmcnt(0) lgkmcnt(0)
        """,
        data=np.arange(64, dtype=np.uint32),
    )
    lanes = found.v.shape[1]
    assert found.v[9].tolist() == list(range(lanes))
    assert found.v[10].tolist() == [77 if i == 5 else i for i in range(lanes)]
    assert found.v[11].tolist() == list(range(lanes))
    assert np.frombuffer(found.data, np.uint32)[:8].tolist() == [0, 1, 2, 3, 4, 77, 6, 7]


@pytest.mark.parametrize("arch", ARCHES)
def test_floats(arch):
    """Sums; minima and maxima compare numbers: a NaN operand leaves memory as it is."""
    load, store, _, _ = names(arch)
    found = run(
        arch,
        f"""
        v_mov_b32 v1, 0
        v_lshl_add_u32 v1, v0, 2, v1
        v_mov_b32 v2, 0x40200000
        {store} v1, v2
        v_mov_b32 v3, 0xbfc00000
        ds_add_rtn_f32 v4, v1, v3
        ds_min_rtn_f32 v5, v1, v3
        v_mov_b32 v6, 0x7fc00000
        ds_max_rtn_f32 v7, v1, v6
        ds_min_rtn_f32 v8, v1, v6
        ds_max_f32 v1, v2
        {load} v9, v1
        s_waitcnt lgkmcnt(0)
        """,
    )
    # 2.5 + -1.5 = 1.0; min(1.0, -1.5) = -1.5; NaN twice: -1.5; max(-1.5, 2.5) = 2.5
    assert [float(found.floats(i)[3]) for i in (4, 5, 7, 8, 9)] == [2.5, 1.0, -1.5, -1.5, 2.5]


def test_packed_and_double_atomics_of_gfx942():
    found = run(
        "gfx942",
        """
        v_mov_b32 v1, 0
        v_lshlrev_b32 v2, 3, v0
        v_mov_b32 v4, 0x40003c00
        ds_write_b32 v2, v4
        ds_pk_add_rtn_f16 v5, v2, v4
        ds_read_b32 v6, v2
        v_mov_b32 v8, 0x40003f80
        global_store_dword v2, v8, s[2:3]
        global_atomic_pk_add_bf16 v9, v2, v8, s[2:3] sc0
        v_mov_b32 v10, 0
        v_mov_b32 v11, 0x3ff80000
        ds_write_b64 v2, v[10:11] offset:1024
        ds_add_rtn_f64 v[12:13], v2, v[10:11] offset:1024
        ds_read_b64 v[14:15], v2 offset:1024
        s_waitcnt vmcnt(0) lgkmcnt(0)
        global_load_dword v16, v2, s[2:3]
        s_waitcnt vmcnt(0)
        """,
        data=bytes(512),
    )
    assert set(found.v[5]) == {0x40003C00}
    assert set(found.v[6]) == {0x44004000}  # 1 + 1, 2 + 2
    assert set(found.v[9]) == {0x40003F80}
    assert set(found.v[16]) == {0x40804000}  # bf16: 1 + 1, 2 + 2
    assert set(found.pairs(12).tolist()) == {0x3FF80000 << 32}
    assert set(found.pairs(14).tolist()) == {0x40080000 << 32}  # 1.5 + 1.5


def test_wrap_and_masked_or():
    """ds_wrap: memory >= first ? memory - first : memory + second. ds_mskor: (memory & ~first) | second."""
    found = run(
        "gfx942",
        """
        v_lshlrev_b32 v1, 2, v0
        ds_write_b32 v1, v0
        v_mov_b32 v2, 10
        v_mov_b32 v3, 100
        ds_wrap_rtn_b32 v4, v1, v2, v3
        ds_read_b32 v5, v1
        v_mov_b32 v6, 15
        v_mov_b32 v7, 0x50
        ds_mskor_rtn_b32 v8, v1, v6, v7
        ds_read_b32 v9, v1
        s_waitcnt lgkmcnt(0)
        """,
    )
    wrapped = [i - 10 if i >= 10 else i + 100 for i in range(64)]
    assert found.v[4].tolist() == list(range(64))
    assert found.v[5].tolist() == wrapped
    assert found.v[8].tolist() == wrapped
    assert found.v[9].tolist() == [w & ~15 | 0x50 for w in wrapped]


def test_subtraction_that_stops_at_zero():
    """RDNA3 ISA manual 16.15: old = memory; memory = memory < data ? 0 : memory - data; the old value comes back."""
    found = run(
        "gfx1100",
        """
        v_lshlrev_b32 v1, 2, v0
        v_mov_b32 v2, 10
        global_atomic_csub_u32 v3, v1, v2, s[2:3] glc
        s_waitcnt vmcnt(0)
        """,
        data=np.arange(32, dtype=np.uint32),
    )
    assert found.v[3].tolist() == list(range(32))
    assert np.frombuffer(found.data, np.uint32)[:32].tolist() == [0] * 10 + list(range(22))
