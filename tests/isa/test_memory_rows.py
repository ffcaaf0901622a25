"""Shapes of loads and stores, and what atomics leave in memory (CDNA3 12.13-12.16, RDNA3 16.15-16.18)."""

import math

import pytest

from gpulab.virtual_gpu import isa
from tests.isa.rows import f32, f64, run

M = 0xFFFFFFFF

# mnemonics of both architectures, then space, action, element, count, extend, half
SHAPES = [
    ("global_load_dword", "global_load_b32", "global", "load", 32, 1, "", ""),
    ("global_load_dwordx4", "global_load_b128", "global", "load", 32, 4, "", ""),
    ("global_load_ubyte", "global_load_u8", "global", "load", 8, 1, "zero", ""),
    ("global_load_sshort", "global_load_i16", "global", "load", 16, 1, "sign", ""),
    ("global_load_short_d16_hi", "global_load_d16_hi_b16", "global", "load", 16, 1, "", "hi"),
    ("global_load_ubyte_d16", "global_load_d16_u8", "global", "load", 8, 1, "zero", "lo"),
    ("global_store_dwordx3", "global_store_b96", "global", "store", 32, 3, "", ""),
    ("global_store_byte_d16_hi", "global_store_d16_hi_b8", "global", "store", 8, 1, "", "hi"),
    ("flat_load_dwordx2", "flat_load_b64", "flat", "load", 32, 2, "", ""),
    ("scratch_store_short", "scratch_store_b16", "scratch", "store", 16, 1, "", ""),
    ("buffer_load_sbyte", "buffer_load_i8", "buffer", "load", 8, 1, "sign", ""),
    ("s_load_dwordx16", "s_load_b512", "scalar", "load", 32, 16, "", ""),
    ("s_load_dword", "s_load_b32", "scalar", "load", 32, 1, "", ""),
    ("ds_read_b32", "ds_load_b32", "lds", "load", 32, 1, "", ""),
    ("ds_read_b128", "ds_load_b128", "lds", "load", 32, 4, "", ""),
    ("ds_read_u16_d16_hi", "ds_load_u16_d16_hi", "lds", "load", 16, 1, "", "hi"),
    ("ds_write_b8", "ds_store_b8", "lds", "store", 8, 1, "", ""),
    ("ds_write_b16_d16_hi", "ds_store_b16_d16_hi", "lds", "store", 16, 1, "", "hi"),
]


@pytest.mark.parametrize(("gfx9", "gfx11", "space", "action", "element", "count", "extend", "half"), SHAPES)
def test_shapes(gfx9, gfx11, space, action, element, count, extend, half):
    for row in (isa.table("gfx942")[gfx9], isa.table("gfx1100")[gfx11]):
        found = (row.space, row.action, row.element, row.count, row.extend, row.half)
        assert found == (space, action, element, count, extend, half)
        assert row.meaning


@pytest.mark.parametrize(
    ("gfx9", "gfx11", "element", "stride"),
    [
        ("ds_read2_b32", "ds_load_2addr_b32", 32, 4),
        ("ds_read2st64_b64", "ds_load_2addr_stride64_b64", 64, 512),
        ("ds_write2_b64", "ds_store_2addr_b64", 64, 8),
        ("ds_write2st64_b32", "ds_store_2addr_stride64_b32", 32, 256),
        ("ds_wrxchg2_rtn_b32", "ds_storexchg_2addr_rtn_b32", 32, 4),
        ("ds_wrxchg2st64_rtn_b64", "ds_storexchg_2addr_stride64_rtn_b64", 64, 512),
    ],
)
def test_two_addresses(gfx9, gfx11, element, stride):
    for row in (isa.table("gfx942")[gfx9], isa.table("gfx1100")[gfx11]):
        assert (row.two_address, row.element, row.count, row.stride) == (True, element, 2, stride)


# mnemonic on gfx942, on gfx1100, (memory, data...) in the order of the text, new memory
ATOMICS = [
    ("global_atomic_add", "global_atomic_add_u32", (M, 2), 1),
    ("global_atomic_sub_x2", "global_atomic_sub_u64", (0, 1), 0xFFFFFFFFFFFFFFFF),
    ("global_atomic_smin", "global_atomic_min_i32", (1, -1), M),
    ("global_atomic_umin", "global_atomic_min_u32", (1, -1), 1),
    ("global_atomic_smax_x2", "global_atomic_max_i64", (1, -1), 1),
    ("global_atomic_umax", "global_atomic_max_u32", (1, -1), M),
    ("global_atomic_and", "global_atomic_and_b32", (0xF0, 0x3C), 0x30),
    ("global_atomic_or", "global_atomic_or_b32", (0xF0, 0x3C), 0xFC),
    ("global_atomic_xor_x2", "global_atomic_xor_b64", (0xF0, 0x3C), 0xCC),
    ("global_atomic_swap", "global_atomic_swap_b32", (1, 2), 2),
    ("global_atomic_inc", "global_atomic_inc_u32", (5, 5), 0),
    ("global_atomic_inc", "global_atomic_inc_u32", (4, 5), 5),
    ("global_atomic_dec", "global_atomic_dec_u32", (0, 5), 5),
    ("global_atomic_dec", "global_atomic_dec_u32", (9, 5), 5),
    ("global_atomic_dec", "global_atomic_dec_u32", (3, 5), 2),
    ("global_atomic_cmpswap", "global_atomic_cmpswap_b32", (7, 1, 7), 1),
    ("global_atomic_cmpswap", "global_atomic_cmpswap_b32", (7, 1, 8), 7),
    ("global_atomic_cmpswap_x2", "flat_atomic_cmpswap_b64", (7, 1, 7), 1),
    ("global_atomic_add_f32", "global_atomic_add_f32", (1.5, 2.0), f32(3.5)),
    ("ds_add_u32", "ds_add_u32", (3, 4), 7),
    ("ds_rsub_u32", "ds_rsub_u32", (3, 4), 1),
    ("ds_mskor_b32", "ds_mskor_b32", (0xFF, 0x0F, 0x100), 0x1F0),
    ("ds_min_rtn_i64", "ds_min_rtn_i64", (3, -4), 0xFFFFFFFFFFFFFFFC),
    ("ds_min_f32", "ds_min_f32", (3.0, math.nan), f32(3.0)),
    ("ds_add_f32", "ds_add_rtn_f32", (1.0, 2.0), f32(3.0)),
    ("ds_wrap_rtn_b32", "ds_wrap_rtn_b32", (9, 4, 100), 5),
    ("ds_wrap_rtn_b32", "ds_wrap_rtn_b32", (3, 4, 100), 103),
    ("ds_wrxchg_rtn_b64", "ds_storexchg_rtn_b64", (1, 2), 2),
]


@pytest.mark.parametrize(("gfx9", "gfx11", "values", "expected"), ATOMICS)
def test_atomics(gfx9, gfx11, values, expected):
    assert run("gfx942", gfx9, *values)[0] == expected
    assert run("gfx1100", gfx11, *values)[0] == expected


def test_comparand_and_new_value_changed_places_in_lds():
    """gfx9: address, comparand, new value; gfx11: address, new value, comparand."""
    assert run("gfx942", "ds_cmpst_b32", 7, 7, 1)[0] == 1
    assert run("gfx942", "ds_cmpst_b32", 7, 1, 7)[0] == 7
    assert run("gfx1100", "ds_cmpstore_b32", 7, 1, 7)[0] == 1
    assert run("gfx1100", "ds_cmpstore_rtn_b64", 7, 7, 1)[0] == 7


def test_only_gfx9_has_f64_atomics():
    assert run("gfx942", "global_atomic_add_f64", 1.5, 2.0)[0] == f64(3.5)
    assert run("gfx942", "global_atomic_max_f64", 1.5, 2.0)[0] == f64(2.0)
    assert run("gfx942", "global_atomic_pk_add_f16", 0x3C003C00, 0x40003C00)[0] == 0x42004000
    assert "global_atomic_add_f64" not in isa.table("gfx1100")


def test_returning_forms_say_so():
    assert not isa.table("gfx942")["ds_add_u32"].returns
    assert isa.table("gfx942")["ds_add_rtn_u32"].returns
