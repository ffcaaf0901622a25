"""Each part of the timing model by hand, with the formulas of docs/timing.md and the constants of the devices' tables.

gfx942: 8 dies of 38 CUs with 4 SIMDs; 2,432 groups of 4 waves are 8 a CU, which are as many as fit. So the busiest SIMD
does 1 / 1,216 of all instructions, the busiest CU 1 / 304 of what its LDS and L1 do, a die 1 / 8.
"""

from __future__ import annotations

import dataclasses

import pytest

from gpulab import architectures
from gpulab.virtual_gpu.isa.assembly import parse
from gpulab.virtual_gpu.machine import timing
from gpulab.virtual_gpu.machine.timing import Seen, Traffic, Wait, Work, model
from gpulab.virtual_gpu.translate.memory import Observed
from tests.translate.kernels import device

CDNA, RDNA = architectures.get("gfx942"), architectures.get("gfx1100")
GROUPS, WAVES, SIMDS, UNITS = 2432, 9728, 1216, 304


def parts(issued=None, a=CDNA, groups=GROUPS, **more) -> dict[str, float]:
    traffic = {name: more.pop(name) for name in list(more) if name in Traffic.__dataclass_fields__}
    work = Work(groups, 4, 4 * a.wave_size, vgprs=32, issued=issued or {}, traffic=Traffic(**traffic), **more)
    return dict(model(a, work).parts)


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
    # 304 groups of a die, two clocks each; 48 groups of RDNA, 0.56 clocks each, or 192 waves by 6 engines.
    assert parts()["workgroup dispatch"] == pytest.approx(608)
    assert parts(a=RDNA, groups=48)["workgroup dispatch"] == pytest.approx(32)
    one = model(RDNA, Work(48, 1, 32))
    assert one.parts["workgroup dispatch"] == pytest.approx(48 / 1.8)


def test_the_busiest_has_what_does_not_come_out_even():
    """2,433 groups: 305 on one die, 9 on one of its CUs; 3 waves of each on 4 SIMDs are 27, 7 on one."""
    work = Work(
        2433, 3, 192, vgprs=32, issued={"valu": 2433 * 3 * 100}, traffic=Traffic(l2_reads=2433 * 100, l1_clocks=2433)
    )
    found = model(CDNA, work).parts
    assert found["VALU issue"] == pytest.approx(7 * 100 * 4)
    assert found["L2 bandwidth"] == pytest.approx(305 * 100 * 128 / (2048 * 0.45))
    assert found["L1"] == pytest.approx(9)
    assert found["workgroup dispatch"] == pytest.approx(610)


def test_lds():
    assert parts(lds_clocks=304 * 50)["LDS"] == pytest.approx(50)
    assert parts(lds_clocks=304 * 50, lds_bytes=304 * 128 * 60)["LDS"] == pytest.approx(60)
    assert parts({"lds": SIMDS * 20}, lds_clocks=304 * 50)["LDS"] == pytest.approx(80)
    # A WGP has two LDS of 64 KiB: 480 groups are 10 on each of 48, so 5 for each CU.
    assert parts(a=RDNA, groups=480, lds_clocks=480)["LDS"] == pytest.approx(5)
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
    assert parts(l2_reads=800)["L2 bandwidth"] == pytest.approx(100 * 128 / rate)
    assert parts(l2_writes=800)["L2 bandwidth"] == pytest.approx(100 * 64 / (rate / 2))
    assert parts(l2_reads=800, l2_writes=160, l2_atomics=240)["L2 bandwidth"] == pytest.approx(
        (100 * 128 + 50 * 64 * 2) / rate
    )
    assert "atomics" not in parts()
    for lines, at_once in ((0.5, 1), (10, 10), (128, 128), (1000, 128)):  # 16 channels on each of 8 dies
        assert parts(l2_atomics=1280, atomic_lines=lines)["atomics"] == pytest.approx(1280 * 4 / at_once)
    assert parts(fabric_read_bytes=119e6, fabric_write_bytes=119e6)["Infinity Cache bandwidth"] == pytest.approx(42000)
    assert parts(dram_read_bytes=4.346e6, dram_write_bytes=4.346e6)["HBM3 bandwidth"] == pytest.approx(4200)
    assert "Infinity Cache bandwidth" not in parts(a=architectures.get("gfx90a"))


def test_parts_overlap_and_the_longest_limits():
    time = model(CDNA, Work(GROUPS, 4, 256, vgprs=32, issued={"valu": SIMDS * 1000}))
    clocks = (4000**4 + 608**4 + 150**4) ** 0.25
    assert time.us == pytest.approx(1.5 + clocks / 2100)
    assert (time.limiter, time.overhead_us, time.clock_mhz) == ("VALU issue", 1.5, 2100)
    assert (time.resident_waves, time.wave_slots, time.traffic) == (32, 32, "observed")
    assert model(CDNA, Work(GROUPS, 4, 256, vgprs=32)).limiter == "launch overhead"
    for field, word in (("sampled", "sampled"), ("estimated", "estimated")):
        assert model(CDNA, Work(1, 4, 256, traffic=Traffic(**{field: 1.0}))).traffic == word


def test_latency():
    """A group takes 150 clocks to start, then a wave's own instructions; what is not resident comes in rounds."""

    def latency(groups=GROUPS, vgprs=32, **more):
        time = model(CDNA, Work(groups, 4, 256, vgprs=vgprs, **more))
        (name,) = (part for part in time.parts if part.startswith("latency"))
        return name, time.parts[name], time.resident_waves

    assert latency(path_clocks=WAVES * 70.0) == ("latency", pytest.approx(220), 32)
    assert latency(304, path_clocks=1216 * 70.0) == ("latency (too few waves)", pytest.approx(220), 4)
    assert latency(2 * GROUPS, path_clocks=2 * WAVES * 70.0) == ("latency", pytest.approx(440), 32)
    # 128 registers: four waves on a SIMD, half of the slots.
    assert latency(vgprs=128, path_clocks=WAVES * 70.0) == ("latency (occupancy)", pytest.approx(440), 16)
    assert latency(GROUPS // 2, vgprs=128)[0] == "latency"
    # With barriers each wave waits for the other three, which use the CU's LDS and L1 and share no SIMD.
    traffic = Traffic(lds_clocks=GROUPS * 40.0, l1_clocks=GROUPS * 24.0)
    issued = {"barrier": WAVES, "valu": WAVES * 10}
    assert latency(issued=issued, traffic=traffic)[1] == pytest.approx(150 + 64 * 3 / 4)
    assert latency(issued={"valu": WAVES * 10}, traffic=traffic)[1] == pytest.approx(150)
    eight = model(CDNA, Work(GROUPS // 2, 8, 512, vgprs=32, issued={"barrier": WAVES, "valu": WAVES * 10})).parts[
        "latency"
    ]
    assert eight == pytest.approx(150 + 40)  # two waves on each SIMD: 10 instructions of the other
    alone = model(CDNA, Work(GROUPS * 4, 1, 64, vgprs=32, issued={"barrier": WAVES, "valu": WAVES * 10})).parts[
        "latency"
    ]
    assert alone == pytest.approx(150)


SHARES = {
    "l1_lookups": 1000.0,
    "l1_hits": 600.0,
    "l2_reads": 400.0,
    "l2_hits": 300.0,
    "fabric_reads": 100.0,
    "llc_hits": 50.0,
}


def waited(a, kind, slack=0.0, requests=1, times=1.0, issued=None, **traffic):
    """Clocks that a wait adds to what a group of one wave takes."""
    work = Work(1, 1, a.wave_size, issued=issued or {}, traffic=Traffic(**traffic))
    without = model(a, work).parts
    found = model(a, dataclasses.replace(work, waits=(Wait(kind, slack, requests, times),))).parts
    return found["latency (too few waves)"] - without["latency (too few waves)"]


def test_waits_for_memory():
    """Of two lines of a load each misses L1 with 0.4, L2 with 0.1 and the Infinity Cache with 0.05."""
    issued = {"vmem read": 500}
    latency = 116 + (1 - 0.6**2) * (287 - 116) + (1 - 0.9**2) * (458 - 287) + (1 - 0.95**2) * (876 - 458)
    assert waited(CDNA, "vmem", issued=issued, **SHARES) == pytest.approx(latency)
    assert waited(CDNA, "vmem", 50, issued=issued, **SHARES) == pytest.approx(latency - 50)
    assert waited(CDNA, "vmem", 5000, issued=issued, **SHARES) == 0
    assert waited(CDNA, "vmem", issued=issued, times=3, **SHARES) == pytest.approx(3 * latency)
    twice = 116 + (1 - 0.6**4) * (287 - 116) + (1 - 0.9**4) * (458 - 287) + (1 - 0.95**4) * (876 - 458)
    assert waited(CDNA, "vmem", requests=2, issued=issued, **SHARES) == pytest.approx(twice)
    # An access takes the L1 16 clocks, 12 more than its issue.
    assert waited(CDNA, "vmem", requests=2, issued=issued, l1_clocks=8000.0, **SHARES) == pytest.approx(twice + 24)
    assert waited(CDNA, "vmem", issued={"vmem read": 10000}, **SHARES) == pytest.approx(
        116 + 0.4 * (287 - 116) + 0.1 * (458 - 287) + 0.05 * (876 - 458)
    )
    assert waited(CDNA, "vmem") == pytest.approx(876)  # nothing is known: all of it comes from memory
    assert waited(CDNA, "vmem", l1_lookups=10.0, l1_hits=10.0, issued={"vmem read": 10}) == pytest.approx(116)
    for kind in ("store", "atomic"):
        assert waited(CDNA, kind, 7, issued={"vmem write": 100}) == pytest.approx(280)
        assert waited(CDNA, kind, 7, 3, issued={"vmem write": 100}, l1_clocks=1000.0) == pytest.approx(280 + 18)


def test_waits_for_memory_on_rdna():
    """The shader array's cache lies between: of the 0.4 that miss L0 it has 0.15."""
    latency = 73 + 0.4 * (110 - 73) + 0.25 * (210 - 110) + 0.0625 * (375 - 210) + 0.03125 * (588 - 375)
    more = SHARES | {"array_hits": 150.0}
    assert waited(RDNA, "vmem", issued={"vmem read": 1000}, **more) == pytest.approx(latency)
    assert waited(RDNA, "vmem", issued={"vmem read": 1000}, **(SHARES | {"array_hits": 5000.0})) == pytest.approx(
        73 + 0.4 * (110 - 73)
    )


def test_waits_for_lds_and_scalars():
    assert waited(CDNA, "lds", 11) == pytest.approx(40)
    assert waited(CDNA, "lds", 11, 2, issued={"lds": 10}, lds_clocks=60.0) == pytest.approx(40 + 12)
    assert waited(RDNA, "lds") == pytest.approx(31)
    assert waited(CDNA, "smem", 8) == pytest.approx(40)
    assert waited(CDNA, "smem", 8, scalar_lookups=10.0, scalar_hits=7.0) == pytest.approx(40 + 0.3 * (287 - 48))


def test_where_workgroups_run():
    """38 CUs of a die, 8 places each, a group every two clocks of 2,100 MHz: 304 places."""
    for groups, turns, last in ((8, 0, 0), (GROUPS, 0, 303), (GROUPS + 8, 1, 0), (2 * GROUPS, 1, 303)):
        work = Work(groups, 4, 256, vgprs=32, path_clocks=groups * 4 * 21000.0)
        time = model(CDNA, work)
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


def test_traffic_without_an_observer():
    """Contiguous and uncached: 64 lanes of 8 bytes in 100 loads, of 4 in 50 stores, and so on."""
    issued = {"vmem read": 100, "vmem write": 50, "vmem atomic": 10, "lds": 7}
    moved = {"vmem read": 800, "vmem write": 200, "vmem atomic": 40, "lds": 28}
    t = timing.estimate(CDNA, issued, moved)
    assert (t.lds_bytes, t.lds_clocks) == (28 * 64, 14)
    assert t.l1_clocks == max(1040 * 64 / 128, 160 * 4)
    assert (t.l1_lookups, t.l2_reads, t.fabric_reads) == (400, 400, 400)
    assert (t.l2_writes, t.l2_atomics, t.atomic_lines) == (200, 40, 40)
    assert (t.fabric_read_bytes, t.fabric_write_bytes, t.dram_read_bytes, t.dram_write_bytes) == (51200, 12800) * 2
    assert (t.estimated, t.sampled, t.l1_hits, t.l2_hits) == (1, 0, 0, 0)
    assert timing.estimate(CDNA, {"vmem read": 1}, {"vmem read": 1600}).l1_clocks == 800


TOTALS = dict.fromkeys(
    ("executed", "lanes", "lines", "bank_cycles", "first_hits", "array_hits", "requests", "l2_hits", "reads_64",
     "reads_128", "memory_hits"), 0,
)  # fmt: skip
FLOWS = {"writebacks_32": 0, "writebacks_64": 0, "dram_reads": 0, "dram_writes": 0}


def seen(*accesses, **flows):
    """What an observer saw: of each access (space, action, bytes, totals)."""
    known = [Observed(n, 0, space, action, size) for n, (space, action, size, _) in enumerate(accesses)]
    return Seen(known, [TOTALS | totals for *_, totals in accesses], FLOWS | flows)


def test_what_was_seen_is_scaled_to_all_executions():
    load = {"executed": 10, "lanes": 640, "lines": 30, "first_hits": 6, "array_hits": 3, "requests": 20, "l2_hits": 5,
            "reads_64": 2, "reads_128": 7, "memory_hits": 4}  # fmt: skip
    store = {"executed": 5, "lanes": 320, "lines": 10, "requests": 20, "l2_hits": 1}
    atomic = {"executed": 4, "lanes": 4, "lines": 4, "requests": 4, "l2_hits": 1}
    scalar = {"executed": 10, "lines": 12, "first_hits": 8, "requests": 4, "l2_hits": 3, "reads_64": 1}
    given = seen(
        ("global", "load", 4, load), ("global", "store", 4, store), ("global", "atomic", 4, atomic),
        ("lds", "load", 8, {"executed": 10, "lanes": 640, "bank_cycles": 40}),
        ("scalar", "load", 16, scalar),
        ("global", "load", 4, {"lanes": 99}),
        writebacks_32=3, writebacks_64=5, dram_reads=960, dram_writes=100,
    )  # fmt: skip
    t = timing.observed(CDNA, given, [30, 5, 8, 20, 50, 7])
    assert (t.lds_clocks, t.lds_bytes) == (80, 640 * 8 * 2)
    assert (t.l1_lookups, t.l1_hits, t.array_hits) == (90, 18, 9)
    assert (t.l2_reads, t.l2_hits) == (60 + 20, 15 + 15)
    assert (t.l2_writes, t.l2_atomics, t.atomic_lines) == (20, 8, 3)
    assert (t.scalar_lookups, t.scalar_hits) == (60, 40)
    assert (t.fabric_reads, t.llc_hits, t.fabric_read_bytes) == (9 * 3 + 5, 12, (128 + 896) * 3 + 64 * 5)
    # 24 requests of stores and atomics were seen; 28 are expected.
    assert t.fabric_write_bytes == pytest.approx((3 * 32 + 5 * 64) * 28 / 24)
    assert t.dram_read_bytes == pytest.approx(960 * (1024 * 3 + 64 * 5) / (1024 + 64))
    assert t.dram_write_bytes == pytest.approx(100 * 28 / 24)
    assert (t.sampled, t.estimated) == (1, 0)
    # L1: contiguous loads of 4 bytes by 64 lanes move 256 bytes, 128 a clock; issue takes 4.
    assert t.l1_clocks == pytest.approx(30 * 4 + 5 * 4 + 8 * 4)
    exact = timing.observed(CDNA, given, [10, 5, 4, 10, 10, 0])
    assert (exact.sampled, exact.dram_read_bytes) == (0, 960)
    assert timing.observed(CDNA, seen(), []) == Traffic()


def test_l1_clocks_of_scattered_accesses():
    """docs/timing.md: clocks for each block of 64 bytes, at most so many a lane; contiguous ones by their bytes."""

    def clocks(executed, lanes, size, lines):
        return timing._l1_clocks(CDNA, executed, lanes, size, lines)

    per_lane, scattered = CDNA.l1_lane_clocks, CDNA.l1_scattered_clocks
    assert clocks(1, 64, 16, 8) == 1024 / 128
    assert clocks(1, 64, 4, 2) == 4
    assert clocks(1, 64, 4, 3) == 4  # one line more is still contiguous
    assert clocks(1, 64, 4, 40) == max(40, min(64 * per_lane, 80 * scattered))
    assert clocks(1, 64, 4, 4) == max(4, min(64 * per_lane, 8 * scattered))
    assert clocks(10, 10, 4, 10) == 40


def test_no_more_is_read_than_there_is():
    """4 MiB of L2 on each of 8 dies, 256 MiB of Infinity Cache."""
    mib = 1 << 20
    load = {"executed": 1, "lanes": 64, "lines": 2, "requests": 2, "reads_128": 16 * mib // 128, "memory_hits": 1000}

    def observe(footprint):
        given = seen(("global", "load", 4, load), dram_reads=16 * mib, dram_writes=5 * mib, writebacks_64=6 * mib // 64)
        return timing.observed(CDNA, given, [2], footprint)

    free = observe(None)
    assert (free.fabric_read_bytes, free.dram_read_bytes, free.dram_write_bytes) == (32 * mib, 32 * mib, 5 * mib)
    small = observe(float(mib))  # each die reads it once
    assert (small.fabric_read_bytes, small.dram_read_bytes) == (8 * mib, mib)
    assert small.fabric_reads == free.fabric_reads / 4
    assert small.l2_hits == free.fabric_reads * 3 / 4
    assert small.llc_hits == pytest.approx(2000 / 4 + 31 / 8 * small.fabric_reads)
    edge = observe(4.0 * mib)
    assert (edge.fabric_read_bytes, edge.dram_read_bytes) == (32 * mib, 4 * mib)
    assert edge.llc_hits == pytest.approx(2000 + 28 / 32 * free.fabric_reads)
    middle = observe(100.0 * mib)
    assert (middle.fabric_read_bytes, middle.dram_read_bytes, middle.dram_write_bytes) == (32 * mib, 32 * mib, 5 * mib)
    large = observe(256.0 * mib + 1)
    assert (large.dram_read_bytes, large.dram_write_bytes) == (32 * mib, 6 * mib)
    assert observe(256.0 * mib).dram_write_bytes == 5 * mib
    assert observe(8.0 * mib).dram_read_bytes == 8 * mib


@pytest.mark.parametrize(("last", "size"), [(True, 4 << 20), (True, 256 << 20), (False, 8 << 20)])
def test_what_just_fits_into_a_cache_is_read_once(last, size):
    """Of the L2 on each die (gfx942: 4 MiB) or the last-level cache; gfx90a has an L2 of 8 MiB alone."""
    a = CDNA if last else architectures.get("gfx90a")
    load = {"executed": 1, "lanes": 64, "lines": 2, "requests": 2, "reads_128": size // 4}
    given = seen(("global", "load", 4, load), dram_reads=32 * size)

    def read(footprint):
        t = timing.observed(a, given, [1], float(footprint))
        return t.fabric_read_bytes, t.dram_read_bytes

    in_l2 = size <= a.l2_cache.bytes
    assert read(size) == ((a.xcds if in_l2 else 32) * size, size)
    more = size + 1
    assert read(more) == (32 * size, more if size == 4 << 20 else 32 * size)


def test_a_grid_from_a_sample():
    sample = Work(2, 4, 256, issued={"valu": 6.0}, matrix_clocks=8.0, path_clocks=10.0,
                  waits=(Wait("vmem", 1, 2, 4.0),), traffic=Traffic(l2_reads=12.0))  # fmt: skip
    whole = sample.of_grid(5)
    assert (whole.workgroups, whole.waves, whole.threads) == (5, 4, 256)
    assert (whole.issued, whole.matrix_clocks, whole.path_clocks) == ({"valu": 15}, 20, 25)
    assert (whole.waits, whole.traffic.l2_reads) == ((Wait("vmem", 1, 2, 10),), 30)


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
    return timing.BlockCosts(architectures.get(arch), program.labels, translation.blocks, translation.decoded)


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


LOAD, LDS_READ = "global_load_dword v{0}, v0, s[0:1]", "ds_read_b32 v{0}, v0"


@pytest.mark.parametrize(
    ("lines", "waits"),
    [
        ([LOAD.format(1), "s_waitcnt vmcnt(0)"], [("vmem", 4, 1)]),
        ([LOAD.format(1), "s_nop 4", "s_waitcnt vmcnt(0)"], [("vmem", 24, 1)]),
        ([LOAD.format(1), LOAD.format(2), "s_waitcnt vmcnt(0)"], [("vmem", 4, 2)]),
        ([LOAD.format(1), LOAD.format(2), "s_nop 0", "s_waitcnt vmcnt(1)"], [("vmem", 12, 1)]),
        # The second wait is for a load that was under way when the first one began: both together count once.
        ([LOAD.format(1), LOAD.format(2), "s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(0)"], [("vmem", 8, 2)]),
        ([LOAD.format(1), "s_waitcnt vmcnt(0)", LOAD.format(2), "s_waitcnt vmcnt(0)"],
         [("vmem", 4, 1), ("vmem", 4, 1)]),
        ([LOAD.format(1), "s_waitcnt vmcnt(1)"], []),
        (["s_waitcnt vmcnt(0) lgkmcnt(0)"], []),
        ([LDS_READ.format(1), "s_nop 1", "s_waitcnt lgkmcnt(0)"], [("lds", 12, 1)]),
        ([LDS_READ.format(1), "ds_bpermute_b32 v2, v0, v0", "s_waitcnt lgkmcnt(0)"], [("lds", 4, 2)]),
        (["s_load_dword s4, s[0:1], 0x0", LDS_READ.format(1), "s_waitcnt lgkmcnt(0)"], [("smem", 8, 1)]),
        (["global_atomic_add v1, v0, v0, s[0:1] sc0", "s_waitcnt vmcnt(0)"], [("atomic", 4, 1)]),
        (["global_atomic_add v0, v0, s[0:1]", "s_nop 0"], [("store", 8, 1)]),
        (["global_store_dword v0, v0, s[0:1]", "s_nop 0"], [("store", 8, 1)]),
        ([LOAD.format(1), "global_store_dword v0, v0, s[0:1]", "s_waitcnt vmcnt(0)"], [("vmem", 8, 1)]),
        ([LOAD.format(1), "s_nop 0"], []),
    ],
)  # fmt: skip
def test_what_is_waited_for(lines, waits):
    """(kind, clocks of work since the access, accesses). gfx942 issues everything here in four clocks; stores are
    waited for at the end, loads are not. Of a wait for several kinds the slowest counts."""
    found = costs("gfx942", *lines)
    assert [wait for block in found.waits for wait in block] == waits


def test_a_loop_waits_for_its_last_turn_too():
    """The load at the loop's end is waited for at its beginning, in the second turn: five clocks of work and more."""
    body = ["s_waitcnt vmcnt(0)", LOAD.format(1), "s_nop 3", "s_add_u32 s4, s4, 1", "s_cmp_lg_u32 s4, 9"]
    found = costs("gfx942", "again:", *body, "s_cbranch_scc1 again")
    branch = CDNA.branch_clocks
    assert [wait for block in found.waits for wait in block] == [("vmem", 4 + 16 + 4 + 4 + branch, 1)]
