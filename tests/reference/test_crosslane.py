"""Moves between lanes and indexed registers on the reference machine alone; sources worked out from the ISA manuals."""

from __future__ import annotations

import pytest

from gpulab.errors import UnsupportedInstruction

from .run import wave

LANES = range(64)
HUNDRED = "v_add_u32 v1, 100, v0\n"
WAVE64 = "  .amdhsa_wavefront_size32 0\n"


def gfx11(body: str, arch: str = "gfx1100", **kwargs):
    return wave(body, arch, threads=kwargs.pop("threads", 32), **kwargs)


def lanes(found, register: int) -> list[int]:
    return found.v[register].tolist()


def test_the_lane_of_readlane_is_taken_modulo_the_wave():
    found = wave(HUNDRED + "s_mov_b32 s2, 70\n v_readlane_b32 s3, v1, s2\n v_writelane_b32 v1, 7, s2\n s_mov_b32 s4, 8")
    assert found.s[3] == 106
    assert lanes(found, 1) == [7 if i == 6 else 100 + i for i in LANES]
    found = gfx11("v_add_nc_u32 v1, 100, v0\n s_mov_b32 s2, 33\n v_readlane_b32 s3, v1, s2\n v_readlane_b32 s4, v1, 31")
    assert found.s[3:5] == [101, 131]


def test_the_first_lane():
    """The lowest active one; lane 0 if none is. An AGPR is read like a VGPR."""
    found = wave(
        HUNDRED + "v_accvgpr_write_b32 a3, v1\n s_mov_b64 exec, 0x50\n v_readfirstlane_b32 s2, v1\n"
        "v_readfirstlane_b32 s3, a3\n s_mov_b64 exec, 1\n v_readfirstlane_b32 s4, v1\n"
        "s_mov_b32 exec_lo, 0\n s_mov_b32 exec_hi, 0x80000000\n v_readfirstlane_b32 s5, v1\n"
        "s_mov_b64 exec, 0\n v_readfirstlane_b32 s6, v1"
    )
    assert found.s[2:7] == [104, 104, 100, 163, 100]
    found = gfx11("s_mov_b32 exec_hi, 0x10\n s_mov_b32 exec_lo, 0\n v_readfirstlane_b32 s2, v0")
    assert found.s[2] == 0  # the upper half of EXEC means nothing for 32 lanes


def test_a_lane_is_written_to_a_vector_register_alone():
    with pytest.raises(UnsupportedInstruction, match="this destination"):
        wave("v_writelane_b32 s4, 1, 0")


def test_permutes_by_address():
    """Addresses are divided by 4 and taken modulo the wave; of several senders the highest lane wins."""
    body = HUNDRED + "v_mov_b32 v2, 0x10b\n v_mov_b32 v3, 7\n v_mov_b32 v4, 9\n v_mov_b32 v5, 9\n"
    body += "s_mov_b64 exec, 0xf4\n ds_permute_b32 v3, v2, v1\n"
    body += "ds_bpermute_b32 v4, v2, v1 offset:4\n ds_bpermute_b32 v5, v2, v1 offset:8"
    found = wave(body)
    active = (2, 4, 5, 6, 7)
    assert lanes(found, 3) == [107 if i == 2 else 0 if i in active else 7 for i in LANES]  # 0x10b // 4 % 64 = 2
    assert lanes(found, 4) == [0 if i in active else 9 for i in LANES]  # lane 3 is off
    assert lanes(found, 5) == [104 if i in active else 9 for i in LANES]


def test_bpermute_that_fetches_inactive_lanes():
    body = "v_add_nc_u32 v1, 100, v0\n v_mov_b32 v2, 20\n s_mov_b32 exec_lo, 3\n"
    found = gfx11(body + "ds_bpermute_b32 v3, v2, v1\n ds_bpermute_fi_b32 v4, v2, v1", "gfx1201")
    assert lanes(found, 3) == [0] * 32
    assert lanes(found, 4) == [105, 105] + [0] * 30


SELECTED = "s_mov_b32 s2, 0x01234567\n s_mov_b32 s3, 0x89abcdef\n v_mov_b32 v1, 77\n"
REVERSED = [7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8]


@pytest.mark.parametrize(
    ("flags", "without"),
    [
        ("", lambda source: 77),  # an inactive source: the lane keeps its value
        ("op_sel:[1,0]", lambda source: source),  # fetch inactive
        ("op_sel:[0,1]", lambda source: 0),  # bound control
        ("op_sel:[1,1]", lambda source: source),
    ],
)
@pytest.mark.parametrize(("mnemonic", "other"), [("v_permlane16_b32", 0), ("v_permlanex16_b32", 16)])
def test_permlane16_from_inactive_lanes(mnemonic, other, flags, without):
    mask = 0xF00F3FF1
    found = gfx11(f"{SELECTED}s_mov_b32 exec_lo, {mask:#x}\n {mnemonic} v1, v0, s2, s3 {flags}")
    wanted = []
    for lane in range(32):
        source = (lane & 16 ^ other) + REVERSED[lane % 16]
        here, there = mask >> lane & 1, mask >> source & 1
        wanted.append(77 if not here else source if there else without(source))
    assert lanes(found, 1) == wanted


@pytest.mark.parametrize(("mnemonic", "other"), [("v_permlane16_var_b32", 0), ("v_permlanex16_var_b32", 16)])
def test_each_lane_may_name_its_source(mnemonic, other):
    """gfx12: bits 3:0 of a lane's own register; the rest of it does not count."""
    found = gfx11(f"v_mul_u32_u24 v2, 5, v0\n v_or_b32 v2, 0xff0, v2\n {mnemonic} v1, v0, v2", "gfx1201")
    assert lanes(found, 1) == [(lane & 16 ^ other) + 5 * lane % 16 for lane in range(32)]


def test_permlane64():
    body = "v_add_nc_u32 v1, 100, v0\n v_mov_b32 v2, 7\n s_mov_b32 exec_hi, 3\n v_permlane64_b32 v2, v1"
    found = wave(body, "gfx1100", threads=64, directives=WAVE64)
    assert lanes(found, 2) == [(i + 32) % 64 + 100 if i < 34 else 7 for i in LANES]
    assert lanes(gfx11(body), 2) == [7] * 32  # nothing on 32 lanes


@pytest.mark.parametrize("distance", [16, 32])
@pytest.mark.parametrize(
    ("flags", "fetch", "zero"), [("", False, False), ("fi:1", True, False), ("bound_ctrl:1", False, True),
                                 ("bound_ctrl:1 fi:1", True, True)]
)  # fmt: skip
def test_rows_of_two_registers_change_places(distance, flags, fetch, zero):
    """The first register's odd rows (of 16 or 32 lanes) and the second's even ones."""
    mask = 0xFFFF_FF0F_FFF0_FFFE
    body = f"""
      v_add_u32 v1, 100, v0
      v_add_u32 v2, 200, v0
      s_mov_b32 exec_lo, {mask & 0xFFFFFFFF:#x}
      s_mov_b32 exec_hi, {mask >> 32:#x}
      v_permlane{distance}_swap_b32 v1, v2 {flags}
    """
    found = wave(body, "gfx950")

    def after(lane: int, own: int, moves: bool, source: int, given: int) -> int:
        if not moves or not mask >> lane & 1:
            return own
        if mask >> source & 1 or fetch:
            return given
        return 0 if zero else own

    odd = [bool(lane & distance) for lane in LANES]
    assert lanes(found, 1) == [after(i, 100 + i, odd[i], i - distance, 200 + i - distance) for i in LANES]
    assert lanes(found, 2) == [after(i, 200 + i, not odd[i], i + distance, 100 + i + distance) for i in LANES]


FILLED = "\n".join(f"v_mov_b32 v{i}, {100 + i}" for i in range(1, 16)) + "\ns_mov_b32 exec_lo, 0x7\n"


@pytest.mark.parametrize(
    ("line", "m0", "changed"),
    [
        ("v_movrels_b32 v1, v2", 3, {1: 105}),
        ("v_movreld_b32 v1, v2", 3, {4: 102}),
        ("v_movrelsd_b32 v1, v2", 3, {4: 105}),
        ("v_movreld_b32 v1, 9", 2, {3: 9}),
        ("v_movrelsd_2_b32 v1, v2", 0x00040003, {5: 105}),  # m0[9:0] for the source, m0[25:16] for the destination
        ("v_movrelsd_2_b32 v1, v2", 0xFC04FC03, {5: 105}),  # other bits do not count
        ("v_swaprel_b32 v1, v2", 0x00010004, {2: 106, 6: 102}),
        ("v_swaprel_b32 v1, v2", 0xFC01FC04, {2: 106, 6: 102}),
    ],
)
def test_vector_registers_by_number(line, m0, changed):
    found = gfx11(f"{FILLED}s_mov_b32 m0, {m0:#x}\n {line}")
    for register in range(1, 16):
        wanted = changed.get(register, 100 + register)
        assert lanes(found, register) == [wanted if i < 3 else 100 + register for i in range(32)], register


def test_scalar_registers_by_number():
    body = "\n".join(f"s_mov_b32 s{i}, {100 + i}" for i in range(2, 40))
    body += """
      s_mov_b32 m0, 2
      s_movrels_b32 s20, s10
      s_movreld_b32 s22, s10
      s_movrels_b64 s[26:27], s[12:13]
      s_movreld_b64 s[28:29], s[12:13]
      s_mov_b32 m0, 0xfc05fc03
      s_movrelsd_2_b32 s32, s10
      s_movrelsd_2_b32 s33, 64
    """
    found = gfx11(body)
    changed = {20: 112, 24: 110, 26: 114, 27: 115, 30: 112, 31: 113, 37: 113, 38: 64}
    assert found.s[2:40] == [changed.get(i, 100 + i) for i in range(2, 40)]


@pytest.mark.parametrize(
    ("offset", "source"),
    [  # CDNA3 ISA manual, DS_SWIZZLE_B32
        (0x0000, lambda i: i & 32),  # and-mask 0
        (0x001F, lambda i: i),
        (0x0010 | 0x05 << 5 | 0x12 << 10, lambda i: i & 32 | ((i & 16 | 5) ^ 0x12)),
        (0x7C1F, lambda i: i ^ 31),
        (0x8000 | 0b10_01_11_00, lambda i: i & ~3 | (0, 3, 1, 2)[i & 3]),
        (0xBFFF, lambda i: i & ~3 | 3),
        (0xC000 | 1 << 5, lambda i: i & 32 | (i + 1) % 32),
        (0xC000 | 1 << 10 | 31 << 5, lambda i: i & 32 | (i + 1) % 32),
        (0xC000 | 2 << 5 | 0x10, lambda i: i & 48 | (i + 2) % 16),
        (0xDC1F, lambda i: i),
        (0xE000, lambda i: i & 32 | int(f"{i & 31:05b}"[::-1], 2)),
        (0xE018, lambda i: i & 56 | int(f"{i & 7:03b}"[::-1], 2)),
    ],
)
def test_patterns_of_swizzle(offset, source):
    body = f"{HUNDRED}s_mov_b32 exec_lo, 0xfffffff7\n ds_swizzle_b32 v2, v1 offset:{offset:#x}"
    assert lanes(wave(body), 2) == [
        0 if i == 3 or source(i) == 3 else 100 + source(i) for i in LANES
    ]  # lane 3 is off: it is not written, and gives 0
