"""Each part of the timing model by hand, with the formulas of docs/timing.md and the constants of the devices' tables.

gfx942: 8 dies of 38 CUs with 4 SIMDs; 2,432 groups of 4 waves are 8 a CU, which are as many as fit. So the busiest SIMD
does 1 / 1,216 of all instructions, the busiest CU 1 / 304 of what its LDS and L1 do, a die 1 / 8.
"""

from __future__ import annotations

import math
import struct

import pytest

import gpulab
from gpulab import architectures, toolchain
from gpulab.records import ModelledTime
from gpulab.virtual_gpu.isa.assembly import parse
from gpulab.virtual_gpu.machine import loops, sample, sharing, timing, traffic, unit
from gpulab.virtual_gpu.machine.observation import Recorded, box
from gpulab.virtual_gpu.machine.sample import Seen
from gpulab.virtual_gpu.machine.work import Traffic, Work
from gpulab.virtual_gpu.translate.lane_access import Observed
from tests.translate.kernels import arena, device

CDNA, RDNA = architectures.get("gfx942"), architectures.get("gfx1100")
GROUPS, WAVES, SIMDS, UNITS = 2432, 9728, 1216, 304


def parts(issued=None, a=CDNA, groups=GROUPS, **more) -> dict[str, float]:
    traffic = {name: more.pop(name) for name in list(more) if name in Traffic.__dataclass_fields__}
    work = Work(groups, 4, 4 * a.wave_size, vgprs=32, issued=issued or {}, traffic=Traffic(**traffic), **more)
    return timing.busy_parts(a, work)


@pytest.mark.parametrize(
    ("name", "clocks"),
    [
        ("valu", 4),
        ("dual", 4),
        ("wide", 4),
        ("multiply", 4),
        ("double", 4),
        ("trans", 16),
        ("trans64", 16),
        ("matrix", 4),
    ],
)
def test_issue_on_cdna(name, clocks):
    assert parts({name: 7 * SIMDS})["VALU issue"] == pytest.approx(7 * clocks)
    other = "trans" if name == "valu" else "valu"
    assert parts({name: 7 * SIMDS, other: 2 * SIMDS})["VALU issue"] == pytest.approx(
        7 * clocks + 2 * (16 if other == "trans" else 4)
    )


@pytest.mark.parametrize(
    ("name", "clocks", "beside"),
    [("valu", 1, 0), ("dual", 1, 0), ("wide", 2, 0), ("multiply", 4, 0), ("double", 16, 0), ("trans", 1, 4),
     ("trans64", 16, 0), ("matrix", 1, 0)],
)  # fmt: skip
def test_issue_on_rdna(name, clocks, beside):
    """48 WGPs with 4 SIMDs; 480 groups of 4 waves: ten waves on each SIMD."""
    found = parts({name: 7 * 192}, RDNA, 480)
    assert found["VALU issue"] == pytest.approx(7 * clocks)
    assert found["transcendental unit"] == pytest.approx(7 * beside)


def test_matrix_scalar_and_dispatch():
    assert parts(matrix_clocks=5 * SIMDS)["matrix cores"] == pytest.approx(5)
    assert parts({"salu": 3 * SIMDS, "smem": 2 * SIMDS, "branch": 4 * SIMDS})["scalar issue"] == pytest.approx(20)
    assert parts({"salu": 1 * SIMDS, "smem": 2 * SIMDS, "branch": 4 * SIMDS})["scalar issue"] == pytest.approx(16)
    # 304 groups of a die, two clocks each; 48 groups of RDNA, 0.91 clocks each, or 192 waves by 6 engines.
    assert parts()["workgroup dispatch"] == pytest.approx(608)
    assert parts(a=RDNA, groups=48)["workgroup dispatch"] == pytest.approx(48 / 1.1)
    more = timing.busy_parts(RDNA, Work(48, 8, 256))
    assert more["workgroup dispatch"] == pytest.approx(48 * 8 / 6)


def test_the_busiest_has_what_does_not_come_out_even():
    """2,433 groups: 305 on one die, 9 on one of its CUs; 3 waves of each on 4 SIMDs are 27, 7 on one."""
    work = Work(
        2433,
        3,
        192,
        vgprs=32,
        issued={"valu": 2433 * 3 * 100},
        traffic=Traffic(l2_read_bytes=2433 * 12800, l1_clocks=2433),
    )
    found = timing.busy_parts(CDNA, work)
    assert found["VALU issue"] == pytest.approx(7 * 100 * 4)
    assert found["L2 bandwidth"] == pytest.approx(305 * 100 * 128 / (2048 * 0.45))
    assert found["L1"] == pytest.approx(9)
    assert found["workgroup dispatch"] == pytest.approx(610)


def test_lds():
    assert parts(lds_clocks=304 * 50)["LDS"] == pytest.approx(50)
    assert parts(lds_clocks=304 * 50, lds_bytes=304 * 128 * 60)["LDS"] == pytest.approx(60)
    assert parts({"lds": SIMDS * 20}, lds_clocks=304 * 50)["LDS"] == pytest.approx(80)
    # The two halves of a WGP's LDS work by turns for workgroups that use both CUs: 480 groups are 10 on each of 48.
    assert parts(a=RDNA, groups=480, lds_clocks=480)["LDS"] == pytest.approx(10)
    assert parts(a=RDNA, groups=480, lds_clocks=480, cu_mode=True)["LDS"] == pytest.approx(5)
    assert parts(a=RDNA, groups=480, l1_clocks=480)["L1"] == pytest.approx(5)


def test_l1():
    assert parts(l1_clocks=304 * 50)["L1"] == pytest.approx(50)
    fill = CDNA.l1_fill_bytes_per_clock
    assert fill == 64
    assert parts(l1_clocks=304 * 50, l1_lookups=304 * 40, l1_hits=304 * 10)["L1"] == pytest.approx(30 * 128 / 64)
    assert parts(l1_lookups=304, l1_hits=304 * 10)["L1"] == 0
    for name in ("vmem read", "vmem write", "vmem atomic"):
        assert parts({name: SIMDS * 20}, l1_clocks=304)["L1"] == pytest.approx(80)


def test_l2_atomics_and_memory():
    rate = 2048 * 0.45
    assert parts(l2_read_bytes=800 * 128)["L2 bandwidth"] == pytest.approx(100 * 128 / rate)
    assert parts(l2_writes=800)["L2 bandwidth"] == pytest.approx(100 * 64 / (rate / 2))
    assert parts(l2_read_bytes=800 * 128, l2_writes=160, l2_atomics=240)["L2 bandwidth"] == pytest.approx(
        (100 * 128 + 50 * 64 * 2) / rate
    )
    assert "atomics" not in parts()
    for lines, at_once in ((0.5, 1), (10, 10), (128, 128), (1000, 128)):  # 16 channels on each of 8 dies
        assert parts(l2_atomics=1280, atomic_lines=lines)["atomics"] == pytest.approx(1280 * 4 / at_once)
    assert parts(fabric_read_bytes=119e6, fabric_write_bytes=119e6)["Infinity Cache bandwidth"] == pytest.approx(42000)
    assert parts(dram_read_bytes=4.346e6, dram_write_bytes=4.346e6)["HBM3 bandwidth"] == pytest.approx(4200)
    assert "Infinity Cache bandwidth" not in parts(a=architectures.get("gfx90a"))


def test_where_workgroups_run():
    """38 CUs of a die, 8 places each, a group every two clocks of 2,100 MHz: 304 places."""
    for groups, turns, last in ((8, 0, 0), (GROUPS, 0, 303), (GROUPS + 8, 1, 0), (2 * GROUPS, 1, 303)):
        work = Work(groups, 4, 256, vgprs=32)
        time = ModelledTime(81.5, "latency", {}, 1.5, 2100, 32, 32)
        place = timing.placement(CDNA, work, time)
        step, busy = 2 / 2100, time.us - 1.5
        assert (place.dies, place.units, place.simds, place.wave_slots, place.places) == (8, 38, 4, 8, 8)
        assert (place.arch, place.unit, place.workgroups, place.waves) == ("gfx942", "CU", groups, 4)
        assert (place.begin_us, place.total_us, place.step_us) == (1.5, time.us, pytest.approx(step))
        wanted = (busy - last * step) / (turns + 1)
        if turns:
            wanted = min(wanted, busy - 303 * step)
        assert place.group_us == pytest.approx(wanted)
        assert place.group_us > 0


def recorded(groups, accesses, size=None, banked=None, cut=()):
    """A sample by hand: of each workgroup the logs of its waves, each a list of (access, lanes, lines), a line being
    (number, sectors); `cut` names the waves whose log does not reach to the end. banked: as in Recorded."""
    words, used = [], []
    for group in groups:
        for number, log in enumerate(group):
            before = len(words)
            for access, lanes, lines in log:
                words.append(access << 16 | lanes << 8 | len(lines))
                words += [line << 4 | sectors for line, sectors in lines]
            used.append(len(words) - before | (1 << 31 if number in cut else 0))
    raw = [value for row in banked or [(0, 0, 0)] * accesses for value in row]
    return Recorded(
        size or (len(groups), 1, 1), struct.pack(f"={len(words)}I", *words), struct.pack(f"={len(used)}I", *used),
        struct.pack(f"={len(raw)}Q", *raw),
    )  # fmt: skip


def replayed(
    groups, accesses, arch="gfx942", shares=(1, 1, 1, 1), executions=None, grid=None, apart=False, behind=(), **more
):
    known = [Observed(n, 0, space, action, 4) for n, (space, action) in enumerate(accesses)]
    a = architectures.get(arch)
    return sample.replay(
        a, recorded(groups, len(accesses), **more), known, len(groups[0]), shares, executions or [0] * len(accesses),
        grid=grid, apart=apart, behind=behind,
    )[0]  # fmt: skip


LOAD, STORE, ATOMIC, SCALAR = ("global", "load"), ("global", "store"), ("global", "atomic"), ("scalar", "load")
ALL = 15


def test_a_replay_looks_lines_up_in_the_first_cache():
    """gfx942: lines of 128 bytes; what a wave had before is there, what another asked for in the same turn will be."""
    one = replayed([[[(0, 64, [(5, ALL), (6, ALL)]), (0, 64, [(6, ALL), (7, 3)])]]], [LOAD])[0]
    assert (one.executed, one.lanes, one.lookups, one.first_hits, one.missing, one.first) == (2, 128, 4, 1, 2, 3)
    assert (one.bytes, one.wanted) == (3 * 128, 3)  # whole lines
    two = replayed([[[(0, 64, [(5, ALL)])], [(0, 64, [(5, ALL)])]]], [LOAD])[0]
    assert (two.lookups, two.first_hits, two.missing, two.waiting) == (2, 1, 1, 2)
    later = replayed([[[(0, 64, [(5, ALL)]), (0, 64, [(8, ALL)])] + [(0, 64, [(5, ALL)])] * 3]], [LOAD])[0]
    assert (later.first_hits, later.missing, later.waiting) == (3, 2, 2)
    # gfx90a: lines of 64 bytes, two lookups for a whole 128.
    halves = replayed([[[(0, 64, [(5, ALL)]), (0, 64, [(5, 3)])]]], [LOAD], "gfx90a")[0]
    assert (halves.lookups, halves.first_hits) == (3, 1)
    assert replayed([[[(0, 64, [(5, 3)])]]], [LOAD], "gfx90a")[0].bytes == 64


def test_a_replay_says_what_a_share_of_each_level_still_has():
    """Each of 1,000 lines, twice: the first cache has 256 of them, and the share of the L2 decides."""
    log = [(0, 64, [(line, ALL)]) for line in range(1000)] * 2
    for shares, where in (((1, 1, 1, 1), "l2_hits"), ((1, 1, 40, 1), "last_hits"), ((1, 1, 40, 2500), "again")):
        flow = replayed([[log]], [LOAD], shares=shares)[0]
        assert (flow.first, getattr(flow, where), flow.first_hits) == (1000, 1000, 0)
    rdna = replayed([[log]], [LOAD], "gfx1100")[0]
    assert (rdna.first, rdna.array_hits) == (1000, 1000)


def test_what_comes_after_a_log_is_like_its_second_half():
    log = [(0, 64, [(line % 4, ALL)]) for line in range(8)]
    assert replayed([[log]], [LOAD], executions=[8])[0].first == 4
    whole = replayed([[log]], [LOAD], executions=[100])[0]
    assert (whole.executed, whole.first, whole.first_hits) == (8, 4, 4)
    warm = replayed([[log]], [LOAD], executions=[100], cut=(0,))[0]
    assert (warm.executed, warm.first, warm.first_hits) == (100, 4, 96)


def test_accesses_that_the_sample_does_not_have_are_contiguous():
    load, store = (("global", action, 8) for action in ("load", "store"))
    t, _, _ = traffic_of(CDNA, Work(1, 1, 64), [load, store, load], [[[(2, 64, [(1, ALL)])]]], [10, 10, 0])
    assert (t.l1_lookups, t.l2_reads, t.dram_read_bytes) == (40, 40, 40 * 128)
    assert (t.l2_writes, t.fabric_write_bytes) == (80, 10 * 512)


def test_a_replay_of_stores_atomics_and_scalars():
    store, atomic, scalar = replayed(
        [[[(0, 64, [(5, 1), (6, ALL)]), (0, 64, [(5, 3)]), (1, 2, [(9, 1), (10, 4)]), (1, 2, [(9, 1)]),
           (2, 1, [(20, 1)]), (2, 1, [(20, 2)])]]],
        [STORE, ATOMIC, SCALAR],
    )  # fmt: skip
    assert (store.requests, store.sectors, store.wanted) == (4, 1 + 4 + 1, 0)
    assert (atomic.requests, atomic.blocks, atomic.first, atomic.l2_hits) == (3, 2, 2, 1)
    assert (scalar.lookups, scalar.first_hits, scalar.first) == (2, 1, 1)


def test_what_was_stored_whole_can_be_read():
    """gfx90a: halves of 64 bytes. Stored ones are in the L2 if both of their sectors were written."""
    for stored, read, where in (
        (3, 3, "l2_hits"), (12, 12, "l2_hits"), (3, 12, "first"), (12, 3, "first"), (1, 3, "first"), (8, 12, "first"),
        (ALL, ALL, "l2_hits"), (7, ALL, "first"),
    ):  # fmt: skip
        log = [(0, 64, [(5, stored)]), (1, 64, [(5, read)])]
        _, load = replayed([[log]], [STORE, LOAD], "gfx90a")
        assert {name: getattr(load, name) for name in ("first", "l2_hits")} == {"first": 0, "l2_hits": 0} | {where: 1}


def test_sectors_are_written_again_when_their_line_has_left_the_share():
    """A line is stored to at the beginning and at the end of 4,000 others; a share of 1/64 of the L2 has 512 lines."""
    log = [(0, 64, [(line, 1)]) for line in (0, *range(1000, 5000), 0)]
    for share, written in ((1, 4001), (64, 4002)):
        assert replayed([[log]], [STORE], shares=(1, 1, share, 1))[0].sectors == written
    twice = [(0, 64, [(0, 1)]), (0, 64, [(0, 3)]), (0, 64, [(0, 2)])]
    assert replayed([[twice]], [STORE])[0].sectors == 2


def test_waves_of_a_wgp_have_two_first_caches():
    """gfx1100: wave 2 finds what wave 0 fetched, wave 1 does not, but in the shader array's cache."""

    def hits(wave, arch):
        waves = [[(0, 32, [(100 + n, ALL)])] * 4 for n in range(3)]
        waves[0] = [(0, 32, [(5, ALL)])] + [(0, 32, [(90, ALL)])] * 3
        waves[wave] = [(0, 32, [(100 + wave, ALL)])] * 3 + [(1, 32, [(5, ALL)])]
        flow = replayed([waves], [LOAD, LOAD], arch)[1]
        return flow.first_hits, flow.array_hits

    assert [hits(wave, "gfx1100") for wave in (1, 2)] == [(0, 1), (1, 0)]
    assert [hits(wave, "gfx942") for wave in (1, 2)] == [(1, 0), (1, 0)]


def test_scalar_loads_have_a_cache_of_their_own():
    """16 KiB in lines of 64 bytes; the share of a CU with 16 workgroups is 16 of them."""

    def hits(others, share):
        log = [(0, 1, [(line, 1)]) for line in (0, *range(10, 10 + others), 0)]
        return replayed([[log]], [SCALAR], shares=(share, 1, 1, 1))[0].first_hits

    assert [hits(others, 1) for others in (250, 260)] == [1, 0]
    assert [hits(others, 16) for others in (14, 18)] == [1, 0]
    whole, other = replayed([[[(0, 1, [(0, ALL)]), (1, 1, [(0, 3)])]]], [SCALAR, LOAD])
    assert (whole.lookups, other.first_hits) == (2, 0)


def test_atomics_of_several_workgroups_go_to_the_same_blocks():
    groups = [[[(0, 1, [(7, 1)]), (0, 1, [(20 + g, 8)])]] for g in range(3)]
    flow = replayed(groups, [ATOMIC])[0]
    assert (flow.requests, flow.blocks) == (6, 4)


@pytest.mark.parametrize("direction", [0, 1, 2])
def test_what_workgroups_at_distances_of_powers_of_two_share(direction):
    """Nine in a row, of which four and four use the same line: six of eight neighbours, four of seven next but one."""
    size = [1, 1, 1]
    size[direction] = 9
    groups = [[[(0, 64, [(g // 4, ALL)])]] for g in range(9)]
    flow = replayed(groups, [LOAD], size=tuple(size))[0]
    assert flow.sharing[direction] == (6 / 8, 4 / 7, 0, 0)
    assert all(flow.sharing[other] == (None,) * 4 for other in range(3) if other != direction)


def test_what_neighbours_share_is_extended_to_all_who_run():
    """Two by two workgroups: one array is read by rows of them, the other by columns, a third by each alone."""
    groups = [
        [[(0, 64, [(y, ALL)]), (1, 64, [(100 + x, ALL)]), (2, 64, [(200 + 2 * y + x, ALL)])]]
        for y in range(2)
        for x in range(2)
    ]
    rows, columns, own = replayed(groups, [LOAD] * 3, size=(2, 2, 1))
    assert [flow.sharing[0][0] for flow in (rows, columns, own)] == [1, 0, 0]
    assert [flow.sharing[1][0] for flow in (rows, columns, own)] == [0, 1, 0]
    assert own.sharing[0][1:] == (None,) * 3
    assert rows.unique([32, 6, 1], [1, 1, 1]) == pytest.approx(1 / 32)
    assert columns.unique([32, 6, 1], [1, 1, 1]) == pytest.approx(1 / 6)
    assert own.unique([32, 6, 1], [1, 1, 1]) == 1
    part = rows._replace(sharing=((0.5, 0.25, None, None), (None,) * 4, (None,) * 4))
    assert part.unique([4, 1, 1], [1, 1, 1]) == pytest.approx(1 / 4 + 3 / 4 * 0.5)
    assert part.unique([4, 1, 1], [2, 1, 1]) == pytest.approx(1 / 4 + 3 / 4 * 0.75)
    assert part.unique([4, 1, 1], [4, 1, 1]) == pytest.approx(1 / 4 + 3 / 4 * (1 - 0.25**2))
    halo = rows._replace(sharing=((1.0, 0.5, 0.0, 0.0), (None,) * 4, (None,) * 4))
    assert halo.unique([4, 1, 1], [8, 1, 1]) == 1


def test_who_shares_a_cache_lies_along_x_first():
    """Every eighth workgroup is on the same of eight dies."""
    around = sharing.Around(residents=304, stride=8, room=0, most=304)
    assert around.members(304, (64, 64, 1)) == ([8, 38, 1], [8, 1, 1])
    assert around.members(4, (64, 64, 1)) == ([4, 1, 1], [8, 1, 1])
    # With 15 in a row the one below is on another die, and the next on the same one eight rows below.
    assert around.members(304, (15, 240, 1)) == ([15 / 8, 2432 / 15 / 8, 1], [8, 8, 1])
    assert around.members(304, (4, 240, 2)) == ([1, 120, 2], [8, 2, 1])
    assert sharing.Around(10, 1, 0, 10).members(10, (4, 2, 9)) == ([4, 2, 1.25], [1, 1, 1])


def test_who_used_a_line_before():
    """Nine of 64 workgroups in x, each of which uses the line of the one three before it, and one of its own. Those in
    the middle count; on eight dies the one before on the same die is eight before."""
    groups = [[[(0, 64, [(g, ALL)]), (1, 64, [(g + 3, ALL)]), (2, 64, [(90, ALL)])]] for g in range(9)]
    flows = replayed(groups, [LOAD] * 3, grid=(64, 1, 1))
    assert [flow.earlier[0] for flow in flows] == [(((3, 0, 0), 1.0, 0.0),), (), (((1, 0, 0), 1.0, 0.0),)]
    assert [flow.earlier[1] for flow in flows] == [(), (), (((8, 0, 0), 1.0, 0.0),)]
    # Of a sample of all workgroups all count: six of nine have one three before them.
    flows = replayed(groups, [LOAD] * 3)
    assert flows[0].earlier[0] == (((3, 0, 0), 6 / 9, 0.0),)
    # Three by three: the line of the one to the right in the row above is that of the one before in launch order.
    groups = [[[(0, 64, [(x + y, ALL)])]] for y in range(3) for x in range(3)]
    flow = replayed(groups, [LOAD], size=(3, 3, 1), grid=(10, 10, 1))[0]
    assert flow.earlier[0] == (((-1, 1, 0), 1.0, 0.0),)


def test_who_used_a_line_before_in_what_comes_after_a_log():
    """The first line is shared by all, the second by nobody; what comes after the logs' ends is like the second."""
    groups = [[[(0, 64, [(0, ALL)]), (0, 64, [(100 + g, ALL)])]] for g in range(9)]
    flow = replayed(groups, [LOAD], grid=(64, 1, 1), executions=[9 * 10], cut=(0,))[0]
    ((offset, part, _),) = flow.earlier[0]
    assert (offset, part) == ((1, 0, 0), pytest.approx(1 / 10))


def test_when_in_their_lives_workgroups_use_a_line():
    """Each uses a line, waits, and uses that of the one before it: at half of its life, and that one at its beginning.
    Where ten run at a time, five more begin in between than one. Without a wait both are used at once."""
    groups = [[[(0, 64, [(g + 1, ALL)]), (1, 64, [(g, ALL)])]] for g in range(9)]
    flow = replayed(groups, [LOAD] * 2, grid=(64, 1, 1), behind=(1,))[1]
    assert flow.earlier[0] == (((1, 0, 0), 1.0, 0.5),)
    around = sharing.Around(residents=10, stride=1, room=0, most=1000)
    assert [around.gap(1, later) for later in (0.5, 0, -0.5)] == [6, 1, 4]
    assert replayed(groups, [LOAD] * 2, grid=(64, 1, 1))[1].earlier[0] == (((1, 0, 0), 1.0, 0.0),)


def test_who_stays_in_step():
    """Those of which all lines are used by others that run at the same time; else those that begin together."""
    around = sharing.Around(residents=10, stride=1, room=0, most=1000)
    near, far = [(1.0, 1.0, 0.0)], [(20.0, 1.0, 0.0)]
    assert sharing._in_step(around, [8, 8], [near, near], [0, 0], [None, None]) == 1
    assert sharing._in_step(around, [8, 8], [near, far], [0, 0], [None, None]) == 0.01
    assert sharing._in_step(around, [8, 8], [near, []], [0, 1], [None, None]) == 0.01
    # 16 lines in all, of which each uses 8: every other one uses the same.
    assert sharing._in_step(around, [8, 8], [near, []], [0, 1], [None, sharing.Spread(8, 16, True)]) == 1


def test_how_long_a_level_keeps_a_line():
    """One line of a workgroup is used again ten later, one never: with the rest of it these are 1.5 lines each."""
    kept = sharing.Kept(((10.0, 1.0),), (), 0.5, 64.0, 16)
    assert [kept.used(distance) for distance in (4, 10, 20)] == [6, 15, 20]
    # Sixteen ways: half as many lines as fit all stay, twice as many hardly any (Poisson's distribution).
    parts = {lines: sharing.Kept((), (), 1.0, float(lines), 16).stays(64) for lines in (128, 64, 32)}
    assert parts == {128: pytest.approx(0.992, abs=1e-3), 64: pytest.approx(0.467, abs=1e-3),
                     32: pytest.approx(0.0007, abs=1e-4)}  # fmt: skip
    assert sharing.Kept((), (), 1.0, 0.0, 16).stays(1) == 0
    # 1,000 lines that each workgroup uses ten of: half of them at random, of which a tenth is there.
    spread = sharing.Spread(10.0, 1000.0, True)
    assert sharing.Kept((), (spread,), 0.0, 100.0, 16).again(spread, 1e6) == pytest.approx(0.1 / 2, rel=0.01)
    assert sharing.Kept((), (spread,), 0.0, 4000.0, 16).again(spread, 1e6) == pytest.approx(1, rel=0.01)
    assert sharing.Kept((), (spread,), 0.0, 4000.0, 16).again(spread, 200) == pytest.approx(0.5, rel=0.01)


def test_rows_of_a_grid_in_one_dimension_are_read_once():
    """Each workgroup of gfx90a reads its line and those 16 workgroups before and behind it, as a stencil in rows of 16
    does; of 4,096 the 65 in the middle are in the sample."""
    groups = [[[(n, 64, [(g + 16 * n, ALL)]) for n in range(3)]] for g in range(65)]
    a, accesses = architectures.get("gfx90a"), [("global", "load", 4)] * 3
    t, _, _ = traffic_of(a, Work(4096, 1, 64), accesses, groups, [4096] * 3, 1 << 24, grid=(4096, 1, 1))
    assert t.dram_read_bytes == pytest.approx(4096 * 128, rel=0.02)
    # A stencil in a cube: three planes of 1 MiB stay in 8 MiB of L2, of 8 MiB hardly one.
    for rows, times in ((512, 1), (4096, 3)):
        groups = [
            [[(n, 64, [(16 * ((z + n) * rows + y) + line, ALL) for line in range(16)]) for n in range(3)]]
            for z in range(3)
            for y in range(5)
        ]
        t, _, _ = traffic_of(
            a, Work(512 * rows, 4, 256), accesses, [group * 4 for group in groups], [512 * rows * 4] * 3, 1 << 33,
            grid=(1, rows, 512), size=(1, 5, 3),
        )  # fmt: skip
        assert t.dram_read_bytes == pytest.approx(times * 512 * rows * 2048, rel=0.1)


def test_what_those_before_have_read_is_not_waited_for():
    """All workgroups of a column use one line, of which more do so than run at a time: but for the first ones it is in
    the Infinity Cache. A line that three use, one after the other, is not."""
    accesses, work, grid = [("global", "load", 4)] * 2, Work(16 * 4096, 4, 256), (16, 4096, 1)
    groups = [
        [[(0, 64, [(x, ALL)]), (1, 64, [(1000 * x + y // 3, ALL)])]] * 4 for y in range(9) for x in range(9)
    ]  # fmt: skip
    _, costs, _ = traffic_of(CDNA, work, accesses, groups, [16 * 4096 * 4] * 2, size=(9, 9, 1), grid=grid)
    to_memory = [math.prod(costs[number].beyond) / costs[number].beyond[0] for number in range(2)]
    assert to_memory[0] < 0.1
    assert to_memory[1] > 0.8


def test_memory_channels_are_looked_at_all_along_a_wave():
    """First 300 turns of one line each, then as many of 64 lines that all lie in one of 32 channels."""
    log = [(0, 64, [(2 * n, ALL)]) for n in range(300)]
    log += [(0, 64, [(4096 * n + 64 * lane, ALL) for lane in range(64)]) for n in range(1, 301)]
    known = [Observed(0, 0, "global", "load", 4)]
    _, spread = sample.replay(
        architectures.get("gfx90a"), recorded([[log]], 1), known, 1, (1, 1, 1, 1), [0], channels=32
    )  # fmt: skip
    assert spread.crowded(1) == pytest.approx((1 * 1 + 2 * 32) / 3, rel=0.1)


def test_lines_that_leave_first_make_room():
    """A stencil in planes of 2 MiB whose stores fill as much of an L2 of 8 MiB again, unless they are streamed."""
    accesses = [("global", "load", 4)] * 3 + [("global", "store", 4)]
    a, rows = architectures.get("gfx90a"), 1024
    groups = [
        [[(n, 64, [(16 * ((z + n % 3) * rows + y) + line + n // 3 * 9999999, ALL) for line in range(16)])
          for n in range(4)]] * 4
        for z in range(3) for y in range(5)
    ]  # fmt: skip
    work, grid = Work(512 * rows, 4, 256), (1, rows, 512)

    def read(streamed: set[int]) -> float:
        return traffic_of(
            a, work, accesses, groups, [512 * rows * 4] * 4, 1 << 33, grid=grid, size=(1, 5, 3), streamed=streamed
        )[0].dram_read_bytes

    assert 1.2 < read(set()) / read({3}) < 2


def test_the_sample_is_a_box_in_the_middle():
    assert box((4, 1, 1), 8) == ((0, 0, 0), (4, 1, 1))
    assert box((8, 1, 1), 1) == ((0, 0, 0), (8, 1, 1))
    assert box((32, 32, 1), 8) == ((13, 13, 0), (5, 5, 1))  # 40 at most
    assert box((128, 128, 1), 8) == ((59, 59, 0), (9, 9, 1))
    assert box((4096, 1, 1), 4) == ((2015, 0, 0), (65, 1, 1))
    assert box((16, 16, 16), 1) == ((5, 5, 6), (5, 5, 3))
    assert box((4096, 1, 1), 32) == ((2039, 0, 0), (17, 1, 1))
    assert box((3, 5, 1), 1) == ((0, 1, 0), (3, 2, 1))
    assert box((3, 64, 1), 1) == ((0, 30, 0), (3, 3, 1))


def traffic_of(a, work, accesses, groups, executions, footprint=None, grid=None, streamed=(), **more):
    known = [Observed(n, 0, space, action, size) for n, (space, action, size) in enumerate(accesses)]
    grid = grid or (len(groups), 1, 1)
    live = (0, int(footprint), 0, 0, 0, 0, 0, 0) if footprint else ()  # an allocation that begins at 0, and an end
    seen = Seen(known, recorded(groups, len(accesses), **more), grid, live)
    return traffic.observed(a, work, seen, executions, streamed=streamed)


def test_what_was_recorded_is_scaled_to_all_executions():
    """One of two executions of a load, of a store and of an atomic, on gfx90a, which has no last-level cache."""
    a = architectures.get("gfx90a")
    accesses = [("global", "load", 4), ("global", "store", 4), ("global", "atomic", 4), ("lds", "load", 8)]
    log = [(0, 64, [(1, ALL), (2, ALL)]), (1, 64, [(11, ALL), (12, ALL)]), (2, 64, [(30, 1)])]
    work = Work(1, 1, 64, issued={})
    t, costs, rates = traffic_of(a, work, accesses, [[log]], [2, 2, 2, 6], banked=[(0, 0, 0)] * 3 + [(2, 128, 8)])
    assert (t.l1_lookups, t.l1_hits, t.l2_reads, t.l2_hits) == (8, 0, 4, 0)
    assert (t.l2_writes, t.l2_atomics, t.atomic_lines) == (8, 2, 1)
    assert (t.lds_clocks, t.lds_bytes) == (4 * 6, 64 * 8 * 6)
    assert (t.fabric_read_bytes, t.dram_read_bytes) == (512 + 128, 512 + 128)
    assert (t.fabric_write_bytes, t.dram_write_bytes) == (2 * (8 + 1) * 32, 2 * (8 + 1) * 32)
    assert t.sampled == 0
    assert rates[0]["l2_reads"] == 2
    assert rates[3] == {}
    # What it costs the one unit that has all of the device: the whole memory's 1,638 GB/s, of which 0.83 are reached.
    per_byte = a.clock_mhz * 1e6 / (a.memory_bandwidth * a.memory_efficiency)
    assert costs[0].dram == pytest.approx(256 * per_byte)
    assert costs[1].dram == pytest.approx(256 * per_byte)
    assert costs[0].beyond == (1, 1, 1, 1)
    assert costs[3].lds == 4
    assert costs[3].latency[0] == a.lds_latency_clocks


def test_what_one_access_costs_a_unit_that_has_all_of_the_device():
    """gfx942, 2,100 MHz: L2 gives 0.45 of 2,048 bytes a clock (half as many are written), the Infinity Cache 11.9 TB/s,
    memory 4.346 TB/s, L1 is filled with 64 bytes a clock; an atomic takes 4 clocks of its channel."""
    accesses = [("global", "load", 4), ("global", "store", 4), ("global", "atomic", 4), ("global", "load", 4)]
    log = [(0, 64, [(1, ALL), (2, ALL)]), (1, 64, [(11, ALL), (12, ALL)]), (2, 64, [(30, 1)]),
           (3, 64, [(line, 1) for line in range(40, 80)])]  # fmt: skip
    _, costs, _ = traffic_of(CDNA, Work(1, 1, 64), accesses, [[log]], [1, 1, 1, 1])
    l2_rate, last_rate, dram_rate = 2048 * 0.45, 11.9e12 / 2.1e9, 4.346e12 / 2.1e9
    latencies = (116, 287, 287, CDNA.last_level_cache.latency_clocks, 876)
    load, store, atomic, scattered = (costs[n] for n in range(4))
    assert (load.l1, load.fill, load.latency, load.beyond) == (4, 256 / 64, latencies, (1, 1, 1, 1))
    assert (load.l2, load.last, load.dram) == pytest.approx((256 / l2_rate, 256 / last_rate, 256 / dram_rate))
    assert (store.latency, store.beyond) == ((287, *latencies[1:]), (0, 0, 0, 0))
    # What is written stays in the Infinity Cache.
    assert (store.l2, store.last, store.dram) == pytest.approx((2 * 256 / l2_rate, 256 / last_rate, 0))
    assert (atomic.l2, atomic.atomic, atomic.fill) == pytest.approx((2 * 64 / l2_rate, 4, 0))
    assert (atomic.latency, atomic.beyond) == ((287, *latencies[1:]), (1, 1, 1, 1))
    # What is found in L1 is not brought there: of three executions of one line each the first is.
    _, again, _ = traffic_of(CDNA, Work(1, 1, 64), accesses[:1], [[[(0, 64, [(1, ALL)])] * 3]], [3])
    assert (again[0].fill, again[0].l2) == pytest.approx((128 / 64 / 3, 128 / l2_rate / 3))
    # The last line is looked up when those before it have been.
    per_lane, blocks = CDNA.l1_lane_clocks, CDNA.l1_scattered_clocks
    clocks = max(40, min(64 * per_lane, 80 * blocks))
    assert (scattered.l1, scattered.fill) == pytest.approx((clocks, 40 * 128 / 64))
    assert scattered.latency == pytest.approx([latency + clocks - 4 for latency in latencies])


def test_the_busiest_unit_has_its_part_of_what_all_share():
    """256 workgroups on the 110 units of gfx90a: three on one, which get 3 / 256 of the memory's rate."""
    a = architectures.get("gfx90a")
    groups = [[[(0, 64, [(line, ALL)])]] for line in range(9)]
    _, costs, _ = traffic_of(a, Work(256, 1, 64), [("global", "load", 4)], groups, [256], grid=(256, 1, 1))
    per_byte = a.clock_mhz * 1e6 / (a.memory_bandwidth * a.memory_efficiency)
    assert costs[0].dram == pytest.approx(128 * per_byte * 256 / 3)
    assert costs[0].l2 == pytest.approx(128 / (a.l2_cache.bytes_per_clock * a.l2_efficiency) * 256 / 3)


@pytest.mark.parametrize("size", [(8, 1, 1), (2, 4, 1), (1, 2, 4), (4, 1, 2), (2, 2, 2)])
def test_a_sample_of_all_workgroups_is_all_of_them(size):
    """Only where workgroups or the ends of waves are missing was something scaled up."""
    accesses, groups = [("global", "load", 4)], [[[(0, 64, [(line, ALL)])]] for line in range(8)]

    def sampled(workgroups, grid, **more):
        work = Work(workgroups, 1, 64)
        return traffic_of(CDNA, work, accesses, groups, [workgroups], size=size, grid=grid, **more)[0].sampled

    assert sampled(8, size) == 0
    assert sampled(16, (2 * size[0], *size[1:])) == 1
    assert sampled(8, size, cut=(0,)) == 1


def test_no_more_is_read_than_there_is():
    """A million executions of a load of one line each, all new in the sample: of 1 MiB there are 8,192 lines."""
    log = [(0, 64, [(line, ALL)]) for line in range(100)]
    work = Work(1, 1, 64)
    accesses = [("global", "load", 4)]

    def read(footprint):
        t, _, _ = traffic_of(CDNA, work, accesses, [[log]], [1e6], footprint)
        return t

    free = read(None)
    assert free.dram_read_bytes == pytest.approx(128e6)
    small = read(float(1 << 20))
    assert small.dram_read_bytes == pytest.approx(1 << 20)
    assert small.l2_hits == pytest.approx(1e6 - 8192, rel=0.01)
    middle = read(float(64 << 20))  # more than the L2, less than the Infinity Cache
    assert middle.dram_read_bytes == pytest.approx(64 << 20)
    assert middle.l2_hits == 0
    assert middle.llc_hits == pytest.approx(1e6 - (1 << 19), rel=0.01)
    large = read(float(1 << 30))
    assert large.dram_read_bytes == pytest.approx(128e6)


def test_l1_clocks_of_scattered_accesses():
    """docs/timing.md: clocks for each block of 64 bytes, at most so many a lane; contiguous ones by their bytes."""

    def clocks(executed, lanes, size, lines):
        return traffic._l1_clocks(CDNA, executed, lanes, size, lines)

    per_lane, scattered = CDNA.l1_lane_clocks, CDNA.l1_scattered_clocks
    assert clocks(1, 64, 16, 8) == 1024 / 128
    assert clocks(1, 64, 4, 2) == 4
    assert clocks(1, 64, 4, 3) == 4  # one line more is still contiguous
    assert clocks(1, 64, 4, 40) == max(40, min(64 * per_lane, 80 * scattered))
    assert clocks(1, 64, 4, 4) == max(4, min(64 * per_lane, 8 * scattered))
    assert clocks(10, 10, 4, 10) == 40


def test_loads_of_eight_bytes_a_lane_take_twice_as_long_on_cdna_2():
    """64 lanes: 512 bytes at 32 a clock, where 4 and 16 bytes a lane come at 64; stores are as others."""

    def clocks(arch, action, size):
        log = [(0, 64, [(line, ALL) for line in range(size // 2)])]
        t, _, _ = traffic_of(architectures.get(arch), Work(1, 1, 64), [("global", action, size)], [[log]], [1])
        return t.l1_clocks

    assert [clocks("gfx90a", "load", size) for size in (4, 8, 16)] == [4, 16, 16]
    assert clocks("gfx90a", "store", 8) == 8
    assert [clocks("gfx942", "load", size) for size in (4, 8, 16)] == [4, 4, 8]


def test_five_workgroups_have_a_fifth_of_the_first_cache_each():
    """gfx908: 256 lines of 64 bytes in four sets. A loop over 64 lines finds them again if it has 64, not 51."""
    log = [(0, 64, [(line, 3)]) for line in range(64)] * 2
    hits = [replayed([[log]], [LOAD], "gfx908", (5, 1, 1, 1), apart=apart)[0].first_hits for apart in (False, True)]
    assert hits == [64, 0]


@pytest.mark.parametrize(("lines", "part"), [(384, 0.505), (512, 0.81), (640, 0.884), (768, 0.958)])
def test_a_new_line_takes_any_place_in_the_first_cache_of_cdna_2(lines, part):
    """Blocks of 1.5 to 3 times the 256 lines of 64 bytes, again and again: the part that comes from L2 as measured on
    an MI210 (te42kyfo/gpu-benches, gpu-cache). Where the line used the longest ago leaves, all does."""
    log = [(0, 64, [(line // 2, 3 << line % 2 * 2)]) for line in range(lines)] * 8

    def missing(arch):
        flow = replayed([[log]], [LOAD], arch)[0]
        return 1 - flow.first_hits / (flow.lookups - lines)

    assert missing("gfx90a") == pytest.approx(part, abs=0.1)
    assert missing("gfx908") == 1


@pytest.mark.parametrize(
    ("arch", "line", "found"),
    [
        ("gfx90a", "global_store_dwordx2 v[0:1], v[2:3], off glc slc", True),
        ("gfx90a", "global_store_dwordx2 v[0:1], v[2:3], off", False),
        ("gfx90a", "global_load_dword v0, v[2:3], off glc", False),
        ("gfx942", "global_store_dwordx2 v[0:1], v[2:3], off nt", True),
        ("gfx1100", "global_store_b64 v[0:1], v[2:3], off glc slc dlc", True),
        ("gfx1201", "global_store_b64 v[0:1], v[2:3], off th:TH_STORE_NT", True),
        ("gfx1201", "global_store_b64 v[0:1], v[2:3], off", False),
    ],
)
def test_what_is_to_leave_the_caches_first(arch, line, found):
    extra = ".amdhsa_accum_offset 16" if arch.startswith("gfx9") else ""
    size = architectures.get(arch).wave_size
    program = parse(KERNEL.format(arch=arch, lines=f"  {line}", size=size, extra=extra))
    assert timing.streams(program.instructions[0]) is found


KERNEL = """
.amdgcn_target "amdgcn-amd-amdhsa--{arch}"
.text
.globl f
.p2align 8
.type f,@function
f:
{lines}
  s_endpgm
.rodata
.p2align 6
.amdhsa_kernel f
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_user_sgpr_count 2
  .amdhsa_next_free_vgpr 16
  .amdhsa_next_free_sgpr 16
  {extra}
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: f
    .symbol: f.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 1024
    .private_segment_fixed_size: 0
    .wavefront_size: {size}
    .sgpr_count: 16
    .vgpr_count: 16
    .max_flat_workgroup_size: 256
    .args:
      - {{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}}
...
.end_amdgpu_metadata
"""


def costs(arch, *lines):
    """What the blocks of a few instructions cost."""
    text = KERNEL.format(
        arch=arch, lines="\n".join(f"  {line}" for line in lines), size=architectures.get(arch).wave_size,
        extra=".amdhsa_accum_offset 16" if arch == "gfx942" else "",
    )  # fmt: skip
    program = parse(text)
    translation = device(arch).load(program).kernels["f"].code().translation
    blocks, decoded = translation.blocks, translation.decoded
    return timing.BlockCosts(
        architectures.get(arch), blocks, decoded, loops.natural(loops.ways(blocks, decoded, program.labels))
    )


@pytest.mark.parametrize(
    ("arch", "line", "clocks"),
    [
        ("gfx942", "s_nop 0", 4), ("gfx942", "s_nop 7", 32), ("gfx1100", "s_nop 5", 6), ("gfx942", "s_sleep 3", 192),
        ("gfx942", "s_sleep 0", 64), ("gfx1100", "s_sleep 2", 128), ("gfx942", "v_add_u32_e32 v1, v1, v1", 4),
        ("gfx942", "v_rcp_f32_e32 v1, v1", 16), ("gfx942", "s_add_u32 s4, s4, s4", 4),
        ("gfx1100", "v_add_nc_u32_e32 v1, v1, v1", 1), ("gfx1100", "s_add_u32 s4, s4, s4", 1),
        ("gfx942", "s_barrier", 16), ("gfx1100", "s_barrier", 8), ("gfx942", "s_setprio 1", 4),
        # A result of the VALU is there after five clocks, of the transcendental unit four later.
        ("gfx1100", "s_delay_alu instid0(VALU_DEP_1)", 4), ("gfx1100", "s_delay_alu instid0(VALU_DEP_4)", 1),
        ("gfx1100", "s_delay_alu instid0(TRANS32_DEP_2)", 7), ("gfx1100", "s_delay_alu instid0(SALU_CYCLE_3)", 3),
        ("gfx1100", "s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(TRANS32_DEP_3)", 9),
    ],
)  # fmt: skip
def test_clocks_until_the_next_instruction(arch, line, clocks):
    """s_nop waits for its operand and one more, s_sleep for 64 clocks times its operand (ISA documents)."""
    assert sum(costs(arch, line).path) - sum(costs(arch).path) == pytest.approx(clocks)


@pytest.mark.parametrize(
    ("arch", "access", "wait", "others"),
    [
        ("gfx942", "global_load_dword v1, v[2:3], off", "s_waitcnt vmcnt(0)", "s_waitcnt lgkmcnt(0)"),
        ("gfx942", "ds_read_b32 v1, v0", "s_waitcnt lgkmcnt(0)", "s_waitcnt vmcnt(0)"),
        ("gfx942", "s_load_dword s4, s[0:1], 0x0", "s_waitcnt lgkmcnt(0)", "s_waitcnt vmcnt(0)"),
        ("gfx942", "global_atomic_add v4, v[2:3], v1, off sc0", "s_waitcnt vmcnt(0)", "s_waitcnt lgkmcnt(0)"),
        ("gfx942", "global_store_dword v[2:3], v1, off", "s_waitcnt vmcnt(0)", "s_waitcnt lgkmcnt(0)"),
        ("gfx1100", "global_store_b32 v[2:3], v1, off", "s_waitcnt_vscnt null, 0x0", "s_waitcnt vmcnt(0)"),
        ("gfx1100", "global_atomic_add_u32 v[2:3], v1, off", "s_waitcnt_vscnt null, 0x0", "s_waitcnt vmcnt(0)"),
        ("gfx1100", "global_atomic_add_u32 v4, v[2:3], v1, off glc", "s_waitcnt vmcnt(0)", "s_waitcnt_vscnt null, 0x0"),
        ("gfx1100", "image_load v1, v[2:3], s[4:11] dmask:0x1 dim:SQ_RSRC_IMG_2D", "s_waitcnt vmcnt(0)",
         "s_waitcnt lgkmcnt(0)"),
        ("gfx1100", "image_sample v1, v[2:3], s[4:11], s[12:15] dmask:0x1 dim:SQ_RSRC_IMG_2D", "s_waitcnt vmcnt(0)",
         "s_waitcnt lgkmcnt(0)"),
        ("gfx1201", "image_load v1, [v2, v3], s[4:11] dmask:0x1 dim:SQ_RSRC_IMG_2D", "s_wait_loadcnt 0x0",
         "s_wait_samplecnt 0x0"),
        ("gfx1201", "image_sample v1, [v2, v3], s[4:11], s[12:15] dmask:0x1 dim:SQ_RSRC_IMG_2D", "s_wait_samplecnt 0x0",
         "s_wait_loadcnt 0x0"),
        ("gfx1201", "global_load_b32 v1, v[2:3], off", "s_wait_loadcnt 0x0", "s_wait_storecnt 0x0"),
        ("gfx1201", "ds_load_b32 v1, v0", "s_wait_dscnt 0x0", "s_wait_kmcnt 0x0"),
        ("gfx1201", "s_load_b32 s4, s[0:1], 0x0", "s_wait_kmcnt 0x0", "s_wait_dscnt 0x0"),
    ],
)  # fmt: skip
def test_a_wait_is_for_what_its_counter_counts(arch, access, wait, others):
    """The counters of the ISA manuals (MI300 4.4, RDNA 3 5.6, RDNA 4 5.7): an access of 100 clocks is waited for."""
    for line, stalls in ((wait, True), (others, False)):
        block = costs(arch, access, line)
        shape = unit.Shape(1, 1, 1, 4, 1, 0, 0, 8, 0)
        found = unit.Simulation(block.ops(), block.nest, [1.0] * len(block.counts), shape, {0: LATE}).run()
        assert (found.stalls[1] > 90) == stalls, line


LATE = unit.Cost(latency=(100.0,) * 5)


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("columns", [2048, 2064, 2080, 2112])
def test_lines_that_workgroups_in_a_row_share_are_read_once_wherever_the_sample_lies(arch: str, columns: int) -> None:
    """A copy by columns: blocks of 64 rows and 4 columns, of which 8 in y use a line of 128 bytes. On gfx942 these all
    run on one die, as 32 blocks in x are a multiple of its 8 dies. So memory gives each line about once. Where the
    middle of the grid lies in these groups of 8 depends on the number of columns."""
    source = """__global__ void copy(int width, const float* in, float* out) {
        int y = blockIdx.x * blockDim.x + threadIdx.x, x = blockIdx.y * blockDim.y + threadIdx.y;
        if (x < width) out[y * width + x] = in[y * width + x];
    }"""
    with gpulab.using(f"virtual:{arch}"):
        copy = gpulab.compile(source)["copy"]
        one, other = gpulab.zeros(2048 * columns), gpulab.zeros(2048 * columns)
        with gpulab.profile("FETCH_SIZE") as run:
            copy[(32, columns // 4), (64, 4)](columns, one, other)
        one.free()
        other.free()
    assert run[0].sampled is not None
    assert run.metric("FETCH_SIZE") * 1024 == pytest.approx(4 * 2048 * columns, rel=0.05)


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("grid", [(8, 2), (9, 4), (64, 4)])
def test_memory_gives_what_all_blocks_of_a_row_read_once(arch: str, grid: tuple[int, int]) -> None:
    """Each row of blocks reads 64 KiB of its own, each block all of it: also where the sample is the whole grid."""
    source = """__global__ void all(const float* in, float* out) {
        float sum = 0;
        for (int i = threadIdx.x; i < 16384; i += 64) sum += in[blockIdx.y * 16384 + i];
        out[(blockIdx.y * gridDim.x + blockIdx.x) * 64 + threadIdx.x] = sum;
    }"""
    with gpulab.using(f"virtual:{arch}"):
        kernel = gpulab.compile(source)["all"]
        with gpulab.profile() as run:
            kernel[grid, 64](gpulab.zeros(16384 * grid[1]), gpulab.zeros(64 * grid[0] * grid[1]))
        table = run.roofline().table
    roof, amount = table.columns.index("roof"), table.columns.index("MB")
    (read,) = (row[amount] for row in table.rows if row[roof] in ("HBM3 bandwidth", "GDDR6 bandwidth"))
    assert read == pytest.approx(0.065536 * grid[1], rel=0.02)


@pytest.mark.parametrize("arch", ["gfx90a", "gfx942"])
def test_where_arrays_lie_in_memory_does_not_change_the_time(arch):
    """gfx90a's first cache replaces lines by chance: the same chance each time."""
    source = """extern "C" __global__ void rows(const float* x, float* y) {
      float sum = 0;
      for (int k = 0; k < 128; k++) sum += x[128 * (threadIdx.x % 64) + k] + x[8192 + 128 * (threadIdx.x % 64) + k];
      y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
    }"""
    code = toolchain.compile(source, arch=arch)
    kernel = device(arch).load(parse(code.assembly, guarantees=code.guarantees)).kernels["rows"]
    times = set()
    for before in (4096, 3 * 4096, 1 << 20):
        sizes = before, 4 * 16384, 4 * 2048
        kept, x, y = (arena().allocate(size, "device", 0) for size in sizes)
        launch = device(arch).launch(kernel, (8, 1, 1), (256, 1, 1), 0, struct.pack("QQ", x, y))
        assert launch.time is not None
        times.add(launch.time.us)
        for address in (kept, x, y):
            arena().free(address)
    assert len(times) == 1
