"""Buffer resources: address forms, ranges, swizzles, atomics and loads into LDS; expected addresses worked by hand."""

import numpy as np
import pytest

from gpulab.virtual_gpu.isa import buffers
from tests.isa.machines import run

# the last register of a resource: gfx9 as Clang's users write it; gfx11 with OOB_SELECT 3 (raw), 1, 0
RAW = {"gfx942": 0x00027000, "gfx1100": 0x31004000}
DATA = np.arange(64, dtype=np.uint32) + 1000
BOTH = pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
WORD = {
    "gfx942": ("buffer_load_dword", "buffer_store_dword", "buffer_load_dwordx4", "buffer_store_dwordx4"),
    "gfx1100": ("buffer_load_b32", "buffer_store_b32", "buffer_load_b128", "buffer_store_b128"),
}


def resource(arch, records, *, stride=0, swizzle=0, flags=None):
    """s[4:7]: the data buffer, with so many records."""
    high = (stride << 16) | (swizzle << (31 if arch == "gfx942" else 30))
    return f"""
    s_mov_b32 s4, s2
    s_or_b32 s5, s3, {high:#x}
    s_mov_b32 s6, {records}
    s_mov_b32 s7, {RAW[arch] if flags is None else flags:#x}
    """


@BOTH
def test_offsets_add_up_and_what_is_outside_reads_as_zero(arch):
    load = WORD[arch][0]
    found = run(
        arch,
        resource(arch, 128)
        + f"""
        v_lshlrev_b32 v1, 2, v0
        s_mov_b32 s8, 8
        v_mov_b32 v3, 5
        {load} v2, v1, s[4:7], 0 offen
        {load} v3, v1, s[4:7], 0 offen offset:16
        {load} v4, off, s[4:7], 0 offset:20
        {load} v5, v1, s[4:7], s8 offen
        s_waitcnt vmcnt(0)
        """,
        data=DATA,
    )
    lanes = range(found.v.shape[1])
    assert found.v[2].tolist() == [1000 + i if i < 32 else 0 for i in lanes]
    assert found.v[3].tolist() == [1004 + i if i + 4 < 32 else 0 for i in lanes]
    assert set(found.v[4]) == {1005}
    # gfx9 checks with the scalar offset, gfx11 without it
    inside = 30 if arch == "gfx942" else 32
    assert found.v[5].tolist() == [1002 + i if i < inside else 0 for i in lanes]


@BOTH
def test_four_dwords_are_checked_one_by_one(arch):
    """44 bytes: the third group of four has three dwords in the buffer. Stores go only there."""
    load4, store4 = WORD[arch][2:]
    found = run(
        arch,
        resource(arch, 44)
        + f"""
        s_mov_b32 exec_lo, 15
        {"s_mov_b32 exec_hi, 0" if arch == "gfx942" else ""}
        v_lshlrev_b32 v1, 4, v0
        {load4} v[4:7], v1, s[4:7], 0 offen
        s_waitcnt vmcnt(0)
        v_mov_b32 v8, 1
        v_mov_b32 v9, 2
        v_mov_b32 v10, 3
        v_mov_b32 v11, 4
        {store4} v[8:11], v1, s[4:7], 0 offen
        """,
        data=DATA,
    )
    assert [int(found.v[4 + i][2]) for i in range(4)] == [1008, 1009, 1010, 0]
    assert [int(found.v[4 + i][1]) for i in range(4)] == [1004, 1005, 1006, 1007]
    assert [int(found.v[4 + i][3]) for i in range(4)] == [0, 0, 0, 0]
    stored = np.frombuffer(found.data, np.uint32)[:13]
    assert stored.tolist() == [1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 1011, 1012]


@BOTH
def test_records_of_a_stride(arch):
    """Ten records of 12 bytes, indexed by the lane: the range is one of indices."""
    load = WORD[arch][0]
    flags = RAW[arch] if arch == "gfx942" else 0x11004000  # OOB_SELECT 1
    found = run(
        arch,
        resource(arch, 10, stride=12, flags=flags)
        + f"""
        v_mov_b32 v3, 4
        v_mov_b32 v2, v0
        {load} v4, v0, s[4:7], 0 idxen
        {load} v5, v[2:3], s[4:7], 0 idxen offen offset:4
        s_waitcnt vmcnt(0)
        """,
        data=DATA,
    )
    lanes = range(found.v.shape[1])
    assert found.v[4].tolist() == [1000 + 3 * i if i < 10 else 0 for i in lanes]
    assert found.v[5].tolist() == [1002 + 3 * i if i < 10 else 0 for i in lanes]


def test_offsets_beyond_the_stride_with_oob_select_0():
    found = run(
        "gfx1100",
        resource("gfx1100", 10, stride=8, flags=0x01004000)
        + """
        buffer_load_b32 v4, v0, s[4:7], 0 idxen offset:4
        buffer_load_b32 v5, v0, s[4:7], 0 idxen offset:8
        s_waitcnt vmcnt(0)
        """,
        data=DATA,
    )
    assert found.v[4].tolist() == [1001 + 2 * i if i < 10 else 0 for i in range(32)]
    assert set(found.v[5]) == {0}


@BOTH
def test_swizzle_and_thread_number(arch):
    """Stride 8, elements of 4 bytes, 8 indices side by side: record 9, second word, is at (8 + 4) * 8 + 1 * 4."""
    load = WORD[arch][0]
    flags = (RAW[arch] & 0x0FFFFFFF) | 1 << 23 | (1 << 28 if arch == "gfx1100" else 0)
    found = run(
        arch,
        resource(arch, 1000, stride=8, swizzle=1, flags=flags)
        + f"""
        v_mov_b32 v3, 0
        {load} v4, v3, s[4:7], 0 idxen offset:4
        {load} v5, v3, s[4:7], 0 idxen
        s_waitcnt vmcnt(0)
        """,
        data=np.arange(256, dtype=np.uint32),
    )
    assert int(found.v[4][9]) == 12 * 8 // 4 + 1
    lanes = range(found.v.shape[1])
    assert found.v[5].tolist() == [i // 8 * 16 + i % 8 for i in lanes]


@BOTH
def test_atomics_on_buffers(arch):
    add, swap = ("buffer_atomic_add", "buffer_atomic_cmpswap")
    if arch == "gfx1100":
        add, swap = add + "_u32", swap + "_b32"
    back = "sc0" if arch == "gfx942" else "glc"
    found = run(
        arch,
        resource(arch, 16)
        + f"""
        v_lshlrev_b32 v1, 2, v0
        v_mov_b32 v2, 7
        {add} v2, v1, s[4:7], 0 offen {back}
        v_mov_b32 v4, 55
        v_mov_b32 v5, 1008
        {swap} v[4:5], v1, s[4:7], 0 offen {back}
        s_waitcnt vmcnt(0)
        """,
        data=DATA,
    )
    assert found.v[2].tolist()[:6] == [1000, 1001, 1002, 1003, 0, 0]
    assert found.v[4].tolist()[:6] == [1007, 1008, 1009, 1010, 0, 0]
    assert np.frombuffer(found.data, np.uint32)[:5].tolist() == [1007, 55, 1009, 1010, 1004]


@BOTH
def test_scalar_loads_from_buffers(arch):
    load = "s_buffer_load_dwordx4" if arch == "gfx942" else "s_buffer_load_b128"
    found = run(
        arch,
        resource(arch, 28)
        + f"""
        s_mov_b32 s20, 8
        {load} s[12:15], s[4:7], 0x10
        {load} s[16:19], s[4:7], s20
        s_waitcnt lgkmcnt(0)
        """,
        data=DATA,
    )
    assert found.s[12:16] == [1004, 1005, 1006, 0]
    assert found.s[16:20] == [1002, 1003, 1004, 1005]


@BOTH
def test_scalar_loads_from_buffers_of_records(arch):
    """With a stride the buffer has so many records: 3 of 8 bytes, but 3 of one byte without it."""
    load = "s_buffer_load_dwordx8" if arch == "gfx942" else "s_buffer_load_b256"
    for stride, inside in ((8, 6), (0, 0)):
        found = run(
            arch, resource(arch, 3, stride=stride) + f"{load} s[12:19], s[4:7], 0x0\ns_waitcnt lgkmcnt(0)\n", data=DATA
        )
        assert found.s[12:20] == [1000 + i if i < inside else 0 for i in range(8)]


def test_scalar_stores_and_atomics_of_gfx9():
    found = run(
        "gfx942",
        resource("gfx942", 64)
        + """
        s_mov_b32 s12, 11
        s_mov_b32 s13, 12
        s_store_dwordx2 s[12:13], s[2:3], 0x8
        s_buffer_store_dword s12, s[4:7], 0x20
        s_buffer_store_dword s12, s[4:7], 0x40
        s_mov_b32 s14, 5
        s_atomic_add s14, s[2:3], 0x0 glc
        s_mov_b32 s16, 70
        s_mov_b32 s17, 1001
        s_atomic_cmpswap s[16:17], s[2:3], 0x4
        s_waitcnt lgkmcnt(0)
        """,
        data=DATA,
    )
    memory = np.frombuffer(found.data, np.uint32)
    assert memory[:5].tolist() == [1005, 70, 11, 12, 1004]
    assert (memory[8], memory[16]) == (11, 1016)
    assert found.s[14] == 1000
    assert found.s[16:18] == [70, 1001]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("global_load_lds_dword v1, s[2:3] offset:16", lambda i: 1004 + i),
        ("buffer_load_dword v1, s[4:7], 0 offen offset:16 lds", lambda i: 1004 + i if i + 4 < 32 else 0),
        ("global_load_lds_sbyte v1, s[2:3] offset:16", lambda i: (1004 + i) % 256 - 256 & 0xFFFFFFFF),
        ("global_load_lds_ushort v1, s[2:3] offset:16", lambda i: 1004 + i),
    ],
)
def test_loads_that_go_to_lds(text, expected):
    """LDS gets one dword per lane from m0 + the offset on. 1004 .. 1067 have low bytes 236 .. 255, 0 .. 43."""
    found = run(
        "gfx942",
        resource("gfx942", 128)
        + f"""
        v_lshlrev_b32 v1, 2, v0
        s_mov_b32 m0, 256
        {text}
        s_waitcnt vmcnt(0)
        ds_read_b32 v2, v1 offset:272
        s_waitcnt lgkmcnt(0)
        """,
        data=np.arange(128, dtype=np.uint32) + 1000,
    )
    wanted = [expected(i) for i in range(64)]
    if "sbyte" in text:
        wanted = [w if (1004 + i) % 256 >= 128 else (1004 + i) % 256 for i, w in enumerate(wanted)]
    assert found.v[2].tolist() == wanted


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("global_load_lds_dwordx3 v1, s[2:3] offset:16", 3, lambda lane, word: 1004 + 5 * lane + word),
        ("global_load_lds_dwordx4 v1, s[2:3] offset:16", 4, lambda lane, word: 1004 + 5 * lane + word),
        (
            "buffer_load_dwordx4 v1, s[4:7], 0 offen offset:16 lds", 4,
            lambda lane, word: 1004 + 5 * lane + word if 4 + 5 * lane + word < 158 else 0,
        ),
    ],
)  # fmt: skip
def test_wide_loads_that_go_to_lds(text, words, expected):
    """gfx950: the 3 or 4 dwords of a lane stand together, lane after lane. The lanes load every fifth dword on."""
    found = run(
        "gfx950",
        resource("gfx950", 158 * 4, flags=RAW["gfx942"])
        + f"""
        v_mul_u32_u24 v1, 20, v0
        v_mul_u32_u24 v6, {4 * words}, v0
        s_mov_b32 m0, 256
        {text}
        s_waitcnt vmcnt(0)
        """
        + "".join(f"ds_read_b32 v{2 + word}, v6 offset:{272 + 4 * word}\n" for word in range(words))
        + "s_waitcnt lgkmcnt(0)\n",
        data=np.arange(400, dtype=np.uint32) + 1000,
    )
    for word in range(words):
        assert found.v[2 + word].tolist() == [expected(lane, word) for lane in range(64)]


@BOTH
def test_index_strides(arch):
    """The four values of the field: 8, 16, 32 and 64 indices side by side; a place is worked out from the table."""
    load = WORD[arch][0]
    body, data = "", np.arange(512, dtype=np.uint32) + 1000
    for field in range(4):
        flags = (RAW[arch] & 0x0F9FFFFF) | field << 21 | (1 << 28 if arch == "gfx1100" else 0)
        body += resource(arch, 1000, stride=8, swizzle=1, flags=flags)
        body += f"v_add_u32 v1, 30, v0\n{load} v{4 + field}, v1, s[4:7], 0 idxen offset:4\n"
    found = run(arch, body + "s_waitcnt vmcnt(0)\n", data=data)
    for field in range(4):
        side = 8 << field
        places = [(i // side * 8 + 4) * side + i % side * 4 for i in range(30, 30 + found.v.shape[1])]
        assert found.v[4 + field].tolist() == [1000 + place // 4 for place in places], side


def test_how_gfx11_checks_by_oob_select():
    """8 records of a stride of 8 bytes: 0 and 1 count records, 2 asks whether there are any, 3 counts bytes."""
    body = "v_mov_b32 v2, v0\nv_mov_b32 v3, 4\n"
    for select in range(4):
        body += resource("gfx1100", 8, stride=8, flags=select << 28 | 0x01004000)
        body += f"buffer_load_b32 v{4 + select}, v0, s[4:7], 0 idxen\n"
        body += f"buffer_load_b32 v{8 + select}, v[2:3], s[4:7], 0 idxen offen offset:4\n"
        body += resource("gfx1100", 0, stride=8, flags=select << 28 | 0x01004000)
        body += f"buffer_load_b32 v{12 + select}, v0, s[4:7], 0 idxen\n"
    found = run("gfx1100", body + "s_waitcnt vmcnt(0)\n", data=np.arange(128, dtype=np.uint32) + 1000)
    lanes = range(32)
    near = [[1000 + 2 * i if i < 8 else 0 for i in lanes]] * 2
    assert [found.v[4 + n].tolist() for n in range(4)] == [
        *near, [1000 + 2 * i for i in lanes], [1000 + 2 * i if 8 * i + 4 <= 8 else 0 for i in lanes]
    ]  # fmt: skip
    beyond = [1002 + 2 * i for i in lanes]  # offset 8 is outside of the stride: only 0 asks
    assert found.v[8].tolist() == [0] * 32
    assert found.v[9].tolist() == [b if i < 8 else 0 for i, b in enumerate(beyond)]
    assert found.v[10].tolist() == beyond
    assert found.v[11].tolist() == [0] * 32
    assert [set(found.v[12 + n]) for n in range(4)] == [{0}] * 4


@pytest.mark.parametrize("arch", ["gfx90a", "gfx1030"])
def test_scratch_as_a_buffer(arch):
    """LLVM's scratch descriptor before gfx940 and gfx11: each lane has its own; the scalar offset counts for all lanes
    of a wave together."""
    size, add = (64, "v_add_u32") if arch == "gfx90a" else (32, "v_add_nc_u32")
    found = run(
        arch,
        f"""
        s_mov_b32 s4, 0
        s_brev_b32 s5, 1
        s_mov_b32 s6, -1
        s_mov_b32 s7, 0x800000
        s_movk_i32 s8, {16 * size}
        {add} v1, 100, v0
        {add} v2, 200, v0
        v_mov_b32 v3, 8
        buffer_store_dword v1, off, s[4:7], 0 offset:4
        buffer_store_dword v2, v3, s[4:7], s8 offen offset:12
        s_waitcnt vmcnt(0)
        buffer_load_dword v4, v3, s[4:7], 0 offen offset:28
        buffer_load_dword v5, off, s[4:7], 0 offset:4
        buffer_load_dword v6, off, s[4:7], s8 offset:20
        s_waitcnt vmcnt(0)
        """,
        directives="user_sgpr_private_segment_buffer 1",
    )
    lanes = range(size)
    assert found.v[4].tolist() == [200 + i for i in lanes]  # 8 + 16 + 12 = 8 + 28
    assert found.v[5].tolist() == [100 + i for i in lanes]
    assert found.v[6].tolist() == [200 + i for i in lanes]  # 16 + 20


@pytest.mark.parametrize("arch", ["gfx90a", "gfx1030"])
def test_other_buffers_of_a_kernel_with_scratch(arch):
    """A descriptor with other flags than those of scratch is memory as ever, and each lane reads its own word."""
    found = run(
        arch,
        resource(arch, 128, flags=RAW["gfx942" if arch == "gfx90a" else "gfx1100"])
        + "v_lshlrev_b32 v1, 2, v0\n buffer_load_dword v2, v1, s[4:7], 0 offen\ns_waitcnt vmcnt(0)",
        data=np.arange(1000, 1064, dtype=np.uint32),
        directives="user_sgpr_private_segment_buffer 1",
    )
    lanes = 64 if arch == "gfx90a" else 32
    assert found.v[2].tolist() == [1000 + i if i < 32 else 0 for i in range(lanes)]


@pytest.mark.parametrize(
    ("stride", "element", "index_stride", "index", "offset", "place"),
    [
        (0, 0, 8, 5, 12, 12), (16, 0, 8, 5, 12, 92),
        # rows of 8 records, elements of 4 bytes: record 5's byte 0, its byte 6, and record 13's byte 9
        (16, 4, 8, 5, 0, 20), (16, 4, 8, 5, 6, 32 + 20 + 2), (16, 4, 8, 13, 9, 128 + 64 + 20 + 1),
        (32, 16, 64, 70, 17, 2048 + 1024 + 96 + 1),
    ],
)  # fmt: skip
def test_places_in_a_buffer(stride, element, index_stride, index, offset, place):
    assert buffers.linear(stride, element, index_stride, index, offset) == place


RECORDS = 10


@pytest.mark.parametrize(
    ("select", "given", "end", "expected"),
    [
        # gfx9, structured: the record alone counts; else bytes, the scalar offset too
        (None, {"structured": True, "stride": 4, "index": 9, "offset": 100}, 4, True),
        (None, {"structured": True, "stride": 4, "index": 10}, 4, False),
        (None, {"structured": True, "offset": 6}, 4, True), (None, {"structured": True, "offset": 7}, 4, False),
        (None, {"stride": 4, "index": 99, "offset": 6}, 4, True), (None, {"offset": 2, "scalar": 4}, 4, True),
        (None, {"offset": 3, "scalar": 4}, 4, False),
        # OOB_SELECT 0: the record, and its end
        (0, {"stride": 8, "index": 9, "offset": 4}, 4, True), (0, {"stride": 8, "index": 9, "offset": 5}, 4, False),
        (0, {"stride": 8, "index": 10}, 4, False), (0, {"index": 9, "offset": 500}, 4, True),
        (0, {"index": 10}, 4, False),
        # 1: the record alone; 2: any record
        (1, {"stride": 8, "index": 9, "offset": 50}, 4, True), (1, {"stride": 8, "index": 10}, 4, False),
        (2, {"index": 500, "offset": 500}, 4, True), (2, {"records": 0}, 4, False), (2, {"records": 1}, 4, True),
        # 3: bytes, without the scalar offset; swizzled with a stride as 0
        (3, {"place": 6, "scalar": 50, "offset": 50, "index": 50}, 4, True), (3, {"place": 7}, 4, False),
        (3, {"element": 4, "place": 7}, 4, False), (3, {"stride": 8, "place": 7}, 4, False),
        (3, {"element": 4, "stride": 8, "index": 9, "offset": 4, "place": 700}, 4, True),
        (3, {"element": 4, "stride": 8, "index": 9, "offset": 5}, 4, False),
        (3, {"element": 4, "stride": 8, "index": 10}, 4, False),
    ],
)  # fmt: skip
def test_what_lies_in_a_buffer(select, given, end, expected):
    """The table of isa/buffers.py, both sides of each bound; a buffer of ten records, or bytes."""
    full = {"records": RECORDS, "stride": 0, "element": 0, "structured": False, "index": 0, "offset": 0, "scalar": 0,
            "place": 0, **given}  # fmt: skip
    rules = buffers.Rules(31, (0, 4), select is not None)
    found = buffers.inside(rules, select or 0, **full, end=end)
    assert bool(found) == expected
