"""gpulab_cross by itself: which lane each lane reads, from lists that the ISA manuals give in words.

MI300 ISA manual, "DPP_CTRL Enumeration" and DS_SWIZZLE_B32; RDNA3 ISA manual, V_PERMLANE16_B32, V_PERMLANEX16_B32 and
V_PERMLANE64_B32; CDNA4 ISA manual, V_PERMLANE16_SWAP_B32 and V_PERMLANE32_SWAP_B32.
"""

from __future__ import annotations

import ctypes

import pytest

from gpulab.virtual_gpu import schema
from gpulab.virtual_gpu.machine.native import build

FETCH_INACTIVE, ZERO = 1, 2


def cross(size, pattern, *, active=None, argument=0, second=0, flags=0, values=None, other=None):
    """(what stands in the destination, the lanes returned, the source afterwards); at first it holds 1000 + lane, the
    source 100 + lane."""
    active = list(range(size)) if active is None else active
    to = (ctypes.c_uint32 * 64)(*(1000 + lane for lane in range(64)))
    given = (ctypes.c_uint32 * 64)(*(values or [100 + lane for lane in range(64)]))
    third = (ctypes.c_uint32 * 64)(*(other or [0] * 64))
    p, u = ctypes.c_void_p, ctypes.c_uint32
    function = ctypes.CFUNCTYPE(ctypes.c_uint64, u, u, p, p, p, ctypes.c_uint64, u, u, u)
    bits = function(build.functions().cross)(
        size, schema.PATTERNS[pattern], to, given, third, sum(1 << lane for lane in active), argument, second, flags
    )
    return list(to)[:size], [lane for lane in range(64) if bits >> lane & 1], list(given)[:size]


def rows(order):
    """A pattern of 16 lanes for all rows of 64; None stands for no lane."""
    return [None if at is None else row + at for row in range(0, 64, 16) for at in order]


EVERY = list(range(64))
DPP = [
    ("quad_perm", 0b00_01_10_11, [quad + 3 - i for quad in range(0, 64, 4) for i in range(4)]),
    ("quad_perm", 0b01_00_11_10, [quad + (2, 3, 0, 1)[i] for quad in range(0, 64, 4) for i in range(4)]),
    ("row_shl", 1, rows([*range(1, 16), None])),
    ("row_shl", 15, rows([15, *[None] * 15])),
    ("row_shr", 1, rows([None, *range(15)])),
    ("row_shr", 15, rows([*[None] * 15, 0])),
    ("row_ror", 3, rows([13, 14, 15, *range(13)])),
    ("wave_shl", 0, [*range(1, 64), None]),
    ("wave_rol", 0, [*range(1, 64), 0]),
    ("wave_shr", 0, [None, *range(63)]),
    ("wave_ror", 0, [63, *range(63)]),
    ("row_mirror", 0, rows(range(15, -1, -1))),
    ("row_half_mirror", 0, rows([*range(7, -1, -1), *range(15, 7, -1)])),
    ("row_bcast", 15, [*[None] * 16, *[15] * 16, *[31] * 16, *[47] * 16]),
    ("row_bcast", 31, [*[None] * 32, *[31] * 32]),
    ("row_newbcast", 5, rows([5] * 16)),
    ("row_share", 11, rows([11] * 16)),
    ("row_xmask", 6, rows([6, 7, 4, 5, 2, 3, 0, 1, 14, 15, 12, 13, 10, 11, 8, 9])),
    ("dpp8", 0o01234567, [base + 7 - i for base in range(0, 64, 8) for i in range(8)]),
    ("dpp8", 0o00000052, [base + (2, 5, 0, 0, 0, 0, 0, 0)[i] for base in range(0, 64, 8) for i in range(8)]),
]


@pytest.mark.parametrize("size", [32, 64])
@pytest.mark.parametrize(("pattern", "argument", "sources"), DPP)
def test_dpp(size, pattern, argument, sources):
    """Every lane is written, with 0 where there is no source; the valid ones are returned."""
    wanted = sources[:size]
    if size == 32 and pattern.startswith("wave_"):
        wanted = [source if source is None or source < 32 else None for source in wanted]
        wanted = {"wave_rol": [*range(1, 32), 0], "wave_ror": [31, *range(31)]}.get(pattern, wanted)
    to, valid, _ = cross(size, pattern, argument=argument)
    assert to == [0 if source is None else 100 + source for source in wanted]
    assert valid == [lane for lane in range(size) if wanted[lane] is not None]
    # Inactive sources count as none, unless they are fetched as well; inactive lanes are written all the same.
    off = {2, 9, 21, 30}
    active = [lane for lane in range(size) if lane not in off]
    to, valid, _ = cross(size, pattern, argument=argument, active=active)
    assert to == [0 if source is None or source in off else 100 + source for source in wanted]
    assert valid == [lane for lane in range(size) if wanted[lane] is not None and wanted[lane] not in off]
    assert cross(size, pattern, argument=argument, active=active, flags=FETCH_INACTIVE)[0] == [
        0 if source is None else 100 + source for source in wanted
    ]


def swizzled(and_, or_, xor):
    return [lane & 32 | ((lane & and_ | or_) ^ xor) for lane in EVERY]


@pytest.mark.parametrize("size", [32, 64])
@pytest.mark.parametrize(
    ("pattern", "sources"),
    [
        (0x1F | 0x01 << 10, swizzled(0x1F, 0, 1)),  # neighbours change places
        (0x1F | 0x1F << 10, swizzled(0x1F, 0, 31)),  # reversed
        (0x18 | 0x05 << 5, swizzled(0x18, 5, 0)),  # a broadcast in groups of eight
        (0x0E | 0x01 << 5 | 0x12 << 10, swizzled(0x0E, 1, 0x12)),
        (0x8000 | 0b00_01_10_11, [quad + 3 - i for quad in range(0, 64, 4) for i in range(4)]),
        (0x8000 | 0b10_10_01_00, [quad + (0, 1, 2, 2)[i] for quad in range(0, 64, 4) for i in range(4)]),
        (0xC000 | 3 << 5, [lane & 32 | (lane + 3) & 31 for lane in EVERY]),  # rotated left by 3
        (0xC400 | 3 << 5, [lane & 32 | (lane - 3) & 31 for lane in EVERY]),  # right
        (0xC000 | 1 << 5 | 0x18, [lane & 56 | (lane + 1) & 7 for lane in EVERY]),  # in groups of eight
        (0xE000, [lane & 32 | int(f"{lane & 31:05b}"[::-1], 2) for lane in EVERY]),  # bits in reverse order
        (0xE010, [lane & 48 | int(f"{lane & 15:04b}"[::-1], 2) for lane in EVERY]),  # in groups of sixteen
    ],
)
def test_swizzling(size, pattern, sources):
    off = {5, 17}
    active = [lane for lane in range(size) if lane not in off]
    to, written, _ = cross(size, "ds_swizzle", argument=pattern, active=active)
    assert written == active
    assert to == [
        1000 + lane if lane in off else 0 if sources[lane] in off else 100 + sources[lane] for lane in range(size)
    ]


def nibbles(order):
    """The two select words of v_permlane16: eight lanes of four bits each."""
    return [sum(at << 4 * i for i, at in enumerate(part)) for part in (order[:8], order[8:])]


ORDER = [3, 0, 15, 7, 7, 1, 2, 9, 14, 13, 12, 11, 8, 4, 5, 6]


@pytest.mark.parametrize("size", [32, 64])
@pytest.mark.parametrize("variable", [False, True])
@pytest.mark.parametrize("crossed", [0, 16])
def test_permlanes_of_rows(size, variable, crossed):
    """From the own row, or from the other of a pair of rows; what is inactive keeps or clears the destination."""
    first, second = nibbles(ORDER)
    name = f"permlane{'x' if crossed else ''}16{'_var' if variable else ''}"
    more = {"other": [16 + at for at in ORDER] * 4} if variable else {"argument": first, "second": second}
    wanted = [source ^ crossed for source in rows(ORDER)][:size]
    assert cross(size, name, **more)[0] == [100 + source for source in wanted]
    off = {7, 18}
    active = [lane for lane in range(size) if lane not in off]
    for flags, instead in ((0, None), (ZERO, 0), (FETCH_INACTIVE, "value"), (FETCH_INACTIVE | ZERO, "value")):
        to, written, _ = cross(size, name, **more, active=active, flags=flags)
        expected, kept = [], []
        for lane in range(size):
            source = wanted[lane]
            if lane in off or (source in off and instead is None):
                expected.append(1000 + lane)
                continue
            kept.append(lane)
            expected.append(instead if source in off and instead == 0 else 100 + source)
        assert to == expected
        assert written == kept


def test_permlane64_changes_halves_and_does_nothing_on_32_lanes():
    """Inactive lanes are read as well."""
    active = [0, 1, 40]
    to, written, _ = cross(64, "permlane64", active=active)
    assert written == active
    assert [to[lane] for lane in (0, 1, 2, 40)] == [132, 133, 1002, 108]
    assert cross(32, "permlane64")[0] == [1000 + lane for lane in range(32)]


def test_a_move_reads_the_lane_itself():
    to, written, _ = cross(64, "move", active=[5, 33])
    assert (to[4:6], to[33], written) == ([1004, 105], 133, [5, 33])


@pytest.mark.parametrize("size", [32, 64])
def test_permutes_through_lds(size):
    """Addresses are bytes: four for a lane; they wrap at the wave's size. The last lane of several wins."""
    other = [500 + lane for lane in range(64)]
    back = [4 * ((7 * lane + 3) % 128) + lane % 4 for lane in range(64)]
    chosen = [(7 * lane + 3) % 128 % size for lane in range(size)]
    assert cross(size, "ds_bpermute", values=back, other=other)[0] == [500 + lane for lane in chosen]
    assert cross(size, "ds_bpermute", values=[b - 4 & 0xFFFFFFFF for b in back], other=other, argument=4)[0] == [
        500 + lane for lane in chosen
    ]
    off = {3, 11}
    active = [lane for lane in range(size) if lane not in off]
    for name, inactive in (("ds_bpermute", 0), ("ds_bpermute_fi", None)):
        to, written, _ = cross(size, name, values=back, other=other, active=active)
        assert written == active
        assert to == [
            1000 + lane if lane in off else inactive if source in off and inactive == 0 else 500 + source
            for lane, source in enumerate(chosen)
        ]
    forward = [4 * (lane ^ 5) for lane in range(64)]
    forward[2] = forward[1]
    to, written, _ = cross(size, "ds_permute", values=forward, other=other, active=active, argument=0)
    wanted = [0] * size
    for lane in active:
        wanted[forward[lane] // 4 % size] = 500 + lane
    assert to == [1000 + lane if lane in off else wanted[lane] for lane in range(size)]
    to = cross(size, "ds_permute", values=[4 * lane for lane in range(64)], other=other, argument=8)[0]
    assert to == [500 + (lane - 2) % size for lane in range(size)]


@pytest.mark.parametrize("distance", [16, 32])
@pytest.mark.parametrize("flags", [0, FETCH_INACTIVE, ZERO, FETCH_INACTIVE | ZERO])
def test_swaps(distance, flags):
    """Odd rows (or the upper half) of the destination and even rows (the lower half) of the source change places."""
    off = {3, 20, 37, 50, 6, 6 + distance}
    active = [lane for lane in EVERY if lane not in off]
    to, _, source = cross(64, f"permlane{distance}_swap", active=active, flags=flags)
    low, high = [100 + lane for lane in EVERY], [1000 + lane for lane in EVERY]
    for lane in EVERY:
        if lane & distance:
            continue
        upper = lane + distance
        above, below = upper not in off, lane not in off
        given = {1000 + upper: above, 100 + lane: below}
        for here, was, active_here in ((("low", lane), 1000 + upper, below), (("high", upper), 100 + lane, above)):
            if not active_here:
                continue
            if given[was] or flags & FETCH_INACTIVE:
                new = was
            elif flags & ZERO:
                new = 0
            else:
                continue
            (low if here[0] == "low" else high)[here[1]] = new
    assert to == high
    assert source == low
