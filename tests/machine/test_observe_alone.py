"""native/observe.c by itself: accesses of every kind, told one by one, beside a slow count as docs/counters.md has it.

`Bench` has what a launch would have: waves, sites and caches. `Slow` counts the same: lines, quads and LDS banks by
hand, caches by the model of test_observation_caches.py.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np
import pytest

from gpulab import architectures
from gpulab.virtual_gpu.machine.native import build
from gpulab.virtual_gpu.machine.native.structures import LaunchStruct, ThreadStruct, WaveStruct
from gpulab.virtual_gpu.machine.observation import Caches, Kept, Observer
from gpulab.virtual_gpu.translate.lane_access import Observed
from tests.machine.test_observation_caches import ATOMIC, COMPARED, LOAD, STORE, Model

ARENA = 0x7F_0000_0000
GRID = (5, 3, 40)
ACTIONS = {"load": LOAD, "store": STORE, "atomic": ATOMIC}
SITES = (
    *((space, action, 1 << n) for space in ("global", "lds") for action in ("load", "store") for n in range(5)),
    ("global", "atomic", 4), ("global", "atomic", 8), ("lds", "atomic", 4), ("lds", "atomic", 8),
    *(("scalar", "load", bytes) for bytes in (4, 8, 16, 32, 64)),
    ("flat", "load", 4), ("flat", "store", 8), ("flat", "atomic", 4),
)  # fmt: skip


class Bench:
    """Waves of one launch and its observer."""

    def __init__(self, arch: str, sites: Sequence[tuple[str, str, int] | tuple[str, str, int, int]], ranges: int = 0,
                 caches: Caches | None = None) -> None:  # fmt: skip
        self.architecture = architectures.get(arch)
        self.lanes = self.architecture.wave_size
        self.accesses = [Observed(n, 0, *site) for n, site in enumerate(sites)]
        self.caches = caches or Caches(self.architecture)
        self.state = self.caches.state
        self.observer = Observer(self.accesses, self.caches)
        size = ctypes.sizeof(WaveStruct)
        self._room = ctypes.create_string_buffer(ctypes.sizeof(ThreadStruct) + 4 * size + 128)
        at = -(-ctypes.addressof(self._room) // 64) * 64
        self.thread = ThreadStruct.from_address(at)
        at = -(-(at + ctypes.sizeof(ThreadStruct)) // 64) * 64
        self.waves = [WaveStruct.from_address(at + size * n) for n in range(4)]
        self.launch = LaunchStruct()
        self.launch.wave_size, self.launch.waves, self.launch.grid[:] = self.lanes, 4, GRID
        self.launch.total = GRID[0] * GRID[1] * GRID[2]
        self._ranges = (ctypes.c_uint64 * 8)(0, ranges // 3, 0, 0, 1 << 30, ranges - ranges // 3, 0, 1 << 30)
        self.launch.ranges, self.launch.range_count = ctypes.addressof(self._ranges), 2
        self.thread.launch, self.thread.own = ctypes.addressof(self.launch), 1
        self.thread.template_wave.cache = 77
        for number, wave in enumerate(self.waves):
            wave.thread, wave.index = ctypes.addressof(self.thread), number
            wave.observer, wave.blind, wave.cache, wave.scratch_bytes = 5, 6, 7, 64
        kinds = (ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_uint64)
        self._observe = ctypes.CFUNCTYPE(*kinds, ctypes.c_void_p, ctypes.c_void_p)(build.functions().observe)

    def prepare(self, left: int = 1 << 40, lookups: int = 1 << 40, novelty: int = 64) -> None:
        self.observer.prepare(self.launch, self.launch.total, left, lookups, novelty)

    def see(
        self, access: int, addresses: np.ndarray, on: int = -1, base: int = 0, *, high: bool = False, group: int = 0,
        wave: int = 0,
    ) -> None:  # fmt: skip
        """Tell of one access: `addresses` are those of all lanes, or of a scalar load."""
        on &= (1 << self.lanes) - 1
        who = self.waves[wave]
        who.group[:] = group % GRID[0], group // GRID[0] % GRID[1], group // (GRID[0] * GRID[1])
        if self.accesses[access].space == "scalar":
            assert not self._observe(ctypes.addressof(who), access, int(addresses[0]), on, None, None)
            return
        relative = (addresses - base).astype(np.uint64)
        rows = np.concatenate([relative & np.uint64(0xFFFFFFFF), relative >> np.uint64(32)]).astype(np.uint32)
        place = rows.ctypes.data
        above = place + 4 * self.lanes if high or self.accesses[access].space == "flat" else None
        assert not self._observe(ctypes.addressof(who), access, base & (1 << 64) - 1, on, place, above)

    def keep(self) -> Kept:
        return self.observer.keep()


class Slow:
    """What the same accesses ought to count."""

    def __init__(self, bench: Bench, memory: int) -> None:
        self.bench, self.model = bench, Model(bench.architecture.name, memory)
        self.line = self.model.line
        names = (*COMPARED, "lanes", "quads", "bank_cycles", "conflict_cycles", "lds_executed", "lds_lanes", "followed")
        self.totals = [dict.fromkeys(names, 0) for _ in bench.accesses]
        self.first: dict[int, tuple[object, ...]] = {}
        self.worst: dict[int, tuple[object, ...]] = {}
        self.most: dict[int, int] = {}
        self.following = True

    def banks(self, bytes: int, action: str, at: dict[int, int]) -> tuple[int, int]:
        """LDS cycles, and those by conflicts: the most dwords of a phase in one bank."""
        a = self.bench.architecture
        per = {4: 32, 8: 16, 16: 8}[max(4, bytes)] * a.lds_banks // 32
        groups = [list(range(first, first + per)) for first in range(0, a.wave_size, per)]
        if bytes == 16 and action == "load" and a.name in ("gfx942", "gfx90a"):
            from tests.machine.test_observation import READ_128

            groups = READ_128 + [[lane + 32 for lane in group] for group in READ_128]
        cycles = 0
        for group in groups:
            found: dict[int, list[int]] = {}
            for lane in group:
                if lane in at:
                    for dword in range(at[lane] // 4, (at[lane] + bytes - 1) // 4 + 1):
                        found.setdefault(dword % a.lds_banks, []).append(dword)
            cycles += max([1, *(len(x) if action == "atomic" else len(set(x)) for x in found.values())])
        return cycles, cycles - len(groups)

    def sample(self, access: int, excess: int, *what: object) -> None:
        self.first.setdefault(access, what)
        if access not in self.most or excess > self.most[access]:
            self.most[access], self.worst[access] = excess, what

    def cached(self, access: int, at: dict[int, int], group: int, wave: int, on: int) -> None:
        action, bytes, t = self.bench.accesses[access].action, self.bench.accesses[access].bytes, self.totals[access]
        low = [[a + step for step in (*range(0, bytes, 4), bytes - 1)] for a in at.values()]
        flat = [a & 0xFFFFFFFF for each in low for a in each]
        before = t["executed"], t["lines"]
        if self.following:
            self.model.access(t, ACTIONS[action], flat)
        t["executed"], t["lines"] = before
        lines = len({a // self.line for a in flat})
        t["lines"] += lines
        for first in range(0, self.bench.lanes, 4):
            t["quads"] += len({a // 64 for lane in range(first, first + 4) if lane in at
                               for a in (at[lane], at[lane] + bytes - 1)})  # fmt: skip
        excess = lines - -(-len(at) * bytes // self.line)
        self.sample(access, excess, "global", bytes, group, wave, at, lines, 0, 0)

    def see(self, access: int, addresses: np.ndarray, on: int, group: int, wave: int) -> None:
        a, t = self.bench.accesses[access], self.totals[access]
        space, action, bytes = a.space, a.action, a.bytes
        t["executed"] += 1
        if space == "scalar":
            t["lanes"] += 1
            t["followed"] += self.following
            self.model.place(group, wave)
            first, last = (int(addresses[0]) + x & 0xFFFFFFFF for x in (0, bytes - 1))
            t["executed"] -= 1
            t["lines"] += (last // 64 - first // 64 + 1) * (not self.following)
            for line in range(first // 64, last // 64 + 1) if self.following else ():
                t["executed"] -= 1
                self.model.scalar_load(t, 64 * line)
            t["executed"] += 1
            return
        at = {lane: int(addresses[lane]) for lane in range(self.bench.lanes) if on >> lane & 1}
        t["lanes"] += len(at)
        shared = {lane: a for lane, a in at.items() if space == "lds" or (space == "flat" and a >> 32 == 0x10000)}
        far = {lane: a for lane, a in at.items() if lane not in shared}
        if shared or (space == "lds" and not at):
            t["lds_executed"] += 1
            t["lds_lanes"] += len(shared)
            cycles, conflicts = self.banks(bytes, action, {lane: a & 0xFFFFFFFF for lane, a in shared.items()})
            t["bank_cycles"] += cycles
            t["conflict_cycles"] += conflicts
            if at:
                wrapped = {lane: a & 0xFFFFFFFF for lane, a in shared.items()}
                self.sample(access, conflicts, "lds", bytes, group, wave, wrapped, 0, cycles, conflicts)
        if far:
            t["followed"] += self.following
            self.model.place(group, wave)
            self.cached(access, far, group, wave, on)


class Patterns:
    """Random addresses: few shapes, which come again elsewhere, so that what is kept of them is used."""

    def __init__(self, lanes: int, seed: int, stride: int) -> None:
        self.random, self.lanes, self.stride = np.random.default_rng(seed), lanes, stride
        self.shapes: dict[int, list[tuple[np.ndarray, int]]] = {}

    def masks(self) -> int:
        full = (1 << self.lanes) - 1
        some = int(self.random.integers(0, 1 << 63)) * 2 + 1
        return (full, full, full, some & full, 1 << int(self.random.integers(0, self.lanes)), full & 0x0F0F0F0F0F0F0F0F,
                full >> self.lanes // 2, full << 5 & full, full ^ 1)[int(self.random.integers(0, 9))]  # fmt: skip

    def fresh(self, bytes: int) -> np.ndarray:
        r, lane = self.random, np.arange(self.lanes)
        kind = int(r.integers(0, 10))
        if kind < 2:
            return bytes * lane
        if kind == 2:
            return bytes * lane[::-1]
        if kind == 3:
            return bytes * lane * int(r.choice([2, 3, 4, 8, 16, 32, 33]))
        if kind == 4:
            return 0 * lane
        if kind == 5:
            return bytes * (lane % 16) + 160 * (lane // 16)
        if kind == 6:
            return bytes * lane + 64 * (lane >= int(r.integers(1, self.lanes)))
        if kind == 7:
            return bytes * r.integers(0, 48, self.lanes)
        if kind == 8:
            return np.sort(bytes * r.integers(0, 2048 // bytes, self.lanes))
        return 128 * r.integers(0, 6, self.lanes) + bytes * r.integers(0, 128 // bytes, self.lanes)

    def next(self, bytes: int) -> tuple[np.ndarray, int]:
        """Addresses from 0 on, and the lanes that are on."""
        known = self.shapes.setdefault(bytes, [])
        if not known or self.random.random() < 0.35:
            known.append((self.fresh(bytes).astype(np.int64), self.masks()))
        shape = known[-1] if self.random.random() < 0.6 else known[int(self.random.integers(0, len(known)))]
        return shape

    def start(self, local: bool) -> int:
        r = self.random
        if local:
            return int(r.choice([0, 4 * r.integers(0, 40), 128 * r.integers(0, 300)]))
        near = 4 * int(r.integers(0, 40)) if r.random() < 0.8 else int(r.integers(0, 200))
        return 0x10_0000 + near + int(r.choice([0, 128 * r.integers(0, 400), self.stride * r.integers(0, 24)]))


def tell(bench: Bench, slow: Slow, seed: int, steps: int, groups: int) -> None:
    """The same random accesses to both."""
    shapes = Patterns(bench.lanes, seed, 128 * slow.model.second.sets)
    r = shapes.random
    twins = {n: [m for m, a in enumerate(bench.accesses) if a.twin == n] for n in range(len(bench.accesses))}
    started = [n for n, a in enumerate(bench.accesses) if a.twin is None]
    for group in (*range(groups), *range(1000 // 2, 1000 // 2 + 3)):
        last: dict[int, int] = {}
        for _ in range(steps):
            wave, access = int(r.integers(0, 4)), int(r.choice(started))
            a = bench.accesses[access]
            at, on = shapes.next(a.bytes)
            if r.random() < 0.03:
                on = 0
            start = last[access] + 4 * int(r.integers(-3, 4)) if access in last and r.random() < 0.5 else -1
            start = last[access] = start if start >= 0 else shapes.start(a.space == "lds")
            for each in (access, *twins[access]):
                space = bench.accesses[each].space
                if space == "lds":
                    base = int(r.integers(0, 3)) * 512
                    addresses, high = at + start + base, False
                elif space == "scalar":
                    addresses, base, high = np.array([ARENA + start // 4 * 4]), 0, False
                    on = 1
                elif space == "flat":
                    places = r.choice([0, 0, 1]) if r.random() < 0.5 else r.integers(0, 2, bench.lanes)
                    addresses = np.where(places, (0x10000 << 32) + at, ARENA + at + start)
                    base, high = 0, True
                else:
                    high = bool(r.integers(0, 2))
                    addresses = at + start + ARENA
                    base = ARENA + (0 if not high else int(r.integers(-4096, 4096)) * 4)
                garbage = r.integers(0, 1 << 30, bench.lanes if space != "scalar" else 1)
                active = np.array([on >> lane & 1 for lane in range(len(addresses))], bool)
                given = np.where(active, addresses, garbage + base)
                bench.see(each, given, on, base, high=high, group=group, wave=wave)
                slow.see(each, addresses, on, group, wave)
                if each == access:
                    on_same = on
                on = on_same


def compare(bench: Bench, slow: Slow) -> None:
    kept = bench.keep()
    for access, raw, wanted in zip(bench.accesses, kept._raw(), slow.totals, strict=True):
        assert {name: raw[name] for name in wanted} == wanted, access
    flows = kept.flows() if not kept.cut else None
    if flows is not None:
        assert {name: flows[name] for name in slow.model.flows} == slow.model.flows
    samples = kept.samples(bench.lanes, [])
    for number, found in enumerate(samples):
        wanted = [slow.worst[number]] if number in slow.worst else []
        if wanted and slow.first[number] is not slow.worst[number] and slow.first[number] != slow.worst[number]:
            wanted.append(slow.first[number])
        seen = [
            (s.space, s.bytes, s.workgroup[0] + GRID[0] * (s.workgroup[1] + GRID[1] * s.workgroup[2]), s.wave,
             {n: a for n, a in enumerate(s.addresses) if a is not None}, s.lines, s.bank_cycles, s.conflict_cycles)
            for s in found
        ]  # fmt: skip
        assert seen == wanted, bench.accesses[number]


TWINS = (
    ("global", "load", 4), ("global", "store", 4, 0), ("global", "load", 16, 0), ("lds", "load", 8),
    ("lds", "store", 8, 3), ("lds", "atomic", 8, 3),
)  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize(
    ("arch", "memory"), [("gfx942", 0), ("gfx942", 24), ("gfx1100", 0), ("gfx1100", 40), ("gfx90a", 0)]
)
def test_random_accesses_of_every_kind(arch: str, memory: int) -> None:
    bench = Bench(arch, (*SITES, *((*s[:3], *(x + len(SITES) for x in s[3:])) for s in TWINS)), ranges=1 << 20)
    bench.state.memory_bytes = (1 << 20) - bool(memory)
    if memory:
        bench.state.memory.sets = memory
    slow = Slow(bench, memory)
    bench.prepare()
    tell(bench, slow, len(arch) + memory, 120, 9)
    compare(bench, slow)
    assert all(t["executed"] for t in slow.totals)
    assert sum(t["first_hits"] for t in slow.totals) > 300


@pytest.mark.full
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100", "gfx950"])
def test_another_launch_begins_anew(arch: str) -> None:
    """Empty caches, totals from 0, other samples; with known patterns (novelty 0) or without."""
    bench = Bench(arch, SITES, ranges=100)
    for seed, novelty in ((1, 64), (2, 64), (3, 0)):
        slow = Slow(bench, 0)
        bench.prepare(novelty=novelty)
        tell(bench, slow, seed, 60, 2)
        if not novelty:
            slow.worst, slow.first = {}, {}
        compare(bench, slow)


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100", "gfx90a"])
def test_lines_and_samples_without_caches(arch: str) -> None:
    """Where nothing is followed any more, all else is counted as before."""
    bench = Bench(arch, [*(site for site in SITES if site[0] != "scalar")])
    slow = Slow(bench, 0)
    slow.following = False
    bench.prepare(lookups=0)
    bench.thread.own = 8
    tell(bench, slow, 5, 120, 4)
    compare(bench, slow)
    assert bench.keep().cut == 7
    assert bench.keep().sampled(100) == (7, 100)


def dwords(count: int, start: int = 0) -> np.ndarray:
    return ARENA + 0x10_0000 + start + 4 * np.arange(count)


@pytest.mark.parametrize("first", [1, 7, (1 << 24) - 1])
def test_a_new_pattern_counts_as_novelty_more(first: int) -> None:
    """Whatever number a launch has, and whether an earlier one had the pattern: once in each launch."""
    bench = Bench("gfx942", [("global", "load", 4), ("global", "load", 8), ("lds", "load", 4)])
    bench.state.epoch = first - 1
    for _ in range(2):
        bench.prepare(left=1000, novelty=64)
        told, left = 0, 1000
        for access, at, on, new in (
            (0, dwords(64), -1, True), (0, dwords(64, 512), -1, False), (0, dwords(64), 1, True),
            (0, dwords(64), -1, False), (1, dwords(64), -1, True), (2, dwords(64), -1, True),
            (2, dwords(64), -1, False), (0, 2 * dwords(64), -1, True),
        ):  # fmt: skip
            bench.see(access, at, on)
            told, left = told + 1, left - 1 - 64 * new
            assert bench.state.left == left, told


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize(
    "on", [(1 << 64) - 1, (1 << 64) - 2, 0xFFFF, 0xFFFF << 16, 0xFFFF << 32, 0xFFFF << 48, 0x8421 << 14]
)
def test_a_pattern_is_known_by_all_its_active_lanes(arch: str, on: int) -> None:
    """Wherever it begins; what other lanes have makes no difference."""
    bench = Bench(arch, [("global", "load", 4), ("global", "store", 4)])
    if not on & (1 << bench.lanes) - 1:
        on >>= 32
    at = dwords(bench.lanes, 4096)

    def is_new(addresses: np.ndarray, access: int = 0) -> bool:
        left = bench.state.left
        bench.see(access, addresses, on)
        return bool(left - bench.state.left > 1)

    bench.prepare()
    assert is_new(at)
    assert not is_new(at)
    assert not is_new(at + 4096)
    assert not is_new(at, 1)
    for lane in range(3, bench.lanes, 4):
        other = at.copy()
        other[lane] += 4096
        assert is_new(other) == bool(on >> lane & 1), lane
        is_new(at)  # both may have the same place
        assert not is_new(at - 1024)
    bench.prepare(novelty=0)
    serial = bench.state.serial
    assert not is_new(at)
    assert bench.state.serial == serial  # it was found, not made once more


def test_no_more_than_is_left_is_taken() -> None:
    bench = Bench("gfx942", [("global", "load", 4)])
    bench.prepare(left=65, novelty=64)
    bench.see(0, dwords(64))
    assert bench.state.left == 0
    assert [(w.observer, w.blind, w.cache) for w in bench.waves] == [(5, 6, 7)] * 4
    bench.prepare(left=30, novelty=64)
    bench.see(0, dwords(64))
    assert bench.state.left == 0
    bench.prepare(left=66, novelty=64)
    bench.see(0, dwords(64))
    assert bench.state.left == 1


def test_when_nothing_is_left_waves_go_on_without_an_observer() -> None:
    """All of the workgroup, whichever wave asks; what was seen stays, and no access more is counted."""
    for access, on in ((0, -1), (0, 0), (1, -1), (2, 1), (3, -1)):
        bench = Bench("gfx1100", [(s, "load", 4) for s in ("global", "lds", "scalar", "flat")])
        bench.prepare(left=2, novelty=1)
        bench.see(0, dwords(32), wave=1)
        assert bench.keep().cut == 0
        bench.thread.own = 9
        bench.see(access, dwords(32) if access != 1 else dwords(32) - ARENA, on, wave=2)
        assert [(w.observer, w.blind, w.cache) for w in bench.waves] == [(0, 0, 77)] * 4
        assert (bench.launch.observed, bench.keep().cut) == (0, 9)
        bench.thread.own = 11
        bench.see(0, dwords(32))
        assert bench.keep().cut == 9
        assert [t["executed"] for t in bench.keep()._raw()] == [1, 0, 0, 0]


@pytest.mark.parametrize("space", ["global", "scalar", "flat", "scratch"])
def test_each_line_is_a_lookup(space: str) -> None:
    bench = Bench("gfx942", [(space, "load", 8)])
    bench.prepare(lookups=1000)
    at = dwords(64) if space != "scratch" else np.arange(64) * 0
    bench.see(0, at[15:16] if space == "scalar" else at)
    lines = {"global": 3, "scalar": 2, "flat": 3, "scratch": 4}[space]
    assert bench.state.lookups == 1000 - lines
    assert bench.keep()._raw()[0]["lines"] == lines
    bench.see(0, at[15:16] if space == "scalar" else at)
    assert bench.state.lookups == 1000 - 2 * lines


@pytest.mark.parametrize("space", ["global", "scalar", "flat", "scratch"])
def test_a_workgroup_that_was_begun_is_followed_to_its_end(space: str) -> None:
    """The next one is not, once no lookups are left; nor is a workgroup of more than four million."""

    def followed() -> int:
        at = dwords(32) if space != "scratch" else np.arange(32) * 0
        before = bench.keep()._raw()[0]["followed"]
        bench.see(0, at[:1] if space == "scalar" else at, group=group)
        return bench.keep()._raw()[0]["followed"] - before

    bench = Bench("gfx1100", [(space, "load", 4)])
    bench.prepare(lookups=1)
    bench.thread.own, group = 1, 0
    assert followed() == 1
    assert bench.state.lookups <= 0
    assert followed() == 1
    bench.thread.own, group = 2, 1
    assert followed() == 0
    assert bench.keep().cut == 1
    for begun in range(3):  # each coordinate tells workgroups apart
        bench.prepare(lookups=2)
        group = 0
        assert followed() == 1
        bench.state.lookups = 0
        group = (1, GRID[0], GRID[0] * GRID[1])[begun]
        assert followed() == 0
    bench.prepare(lookups=100)
    bench.thread.own, group = 3, 0
    assert followed() == 1
    bench.state.lookups = -4_000_000
    assert followed() == 1
    bench.state.lookups = -4_000_001
    assert followed() == 0
    assert bench.keep().cut == 3


@pytest.mark.parametrize(("total", "novelty", "more"), [(2048, 64, 0), (2049, 64, 24), (2049, 0, 0)])
def test_workgroups_of_large_profiles_count_as_lookups(total: int, novelty: int, more: int) -> None:
    bench = Bench("gfx1100", [("global", "load", 4)])
    bench.launch.total = total
    bench.prepare(lookups=500, novelty=novelty)
    for _ in range(2):
        bench.see(0, dwords(32))
    bench.see(0, dwords(32), group=1)
    assert bench.state.lookups == 500 - 3 - 2 * more


def test_the_fifth_line_of_a_scalar_cache_s_set_takes_the_oldest_one_s_place() -> None:
    """Four ways, least lately used: of five lines in turn none is ever found again."""
    bench = Bench("gfx942", [("scalar", "load", 4)])
    bench.prepare()
    sets = 16384 // (64 * 4)
    hits = []
    for line in (0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 4, 3, 2, 1, 0, 4):
        before = bench.keep()._raw()[0]["first_hits"]
        bench.see(0, ARENA + 0x10_0000 + 64 * sets * np.array([line]), 1)
        hits.append(bench.keep()._raw()[0]["first_hits"] - before)
    assert hits == [0] * 10 + [1, 1, 1, 1, 0, 0]


def test_scalar_caches_of_two_dies_have_nothing_of_each_other() -> None:
    """Workgroups take turns with the eight dies of an MI300X: of group 1 nothing is in the caches of group 0's die, and
    of group 8, which is on the die of group 0, all is in the cache that two neighbouring CUs share."""
    bench = Bench("gfx942", [("scalar", "load", 4)])
    bench.prepare()
    hits = []
    for group in (1, 1, 0, 0, 1, 8):
        before = bench.keep()._raw()[0]["first_hits"]
        bench.see(0, np.array([ARENA]), 1, group=group)
        hits.append(bench.keep()._raw()[0]["first_hits"] - before)
    assert hits == [0, 1, 0, 1, 1, 1]


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("bytes", [1, 2, 4, 8, 16])
def test_scratch_of_each_wave(arch: str, bytes: int) -> None:
    """A dword of all lanes lies together. A wave finds its own bytes again, another wave none of them; 32 waves of a
    unit have their own places. A sample has the first dword."""
    bench = Bench(arch, [("scratch", "store", bytes), ("scratch", "load", bytes)])
    bench.prepare()
    each, words = 4 * bench.lanes // 128, max(1, bytes // 4)
    for wave, part, hits in ((0, -1, 0), (0, -1, each), (1, -1, 0), (1, 1, 1), (0, -1, each)):
        before = bench.keep()._raw()[1]
        bench.see(1, 16 + 0 * np.arange(bench.lanes), part, wave=wave)
        after = bench.keep()._raw()[1]
        lanes = bench.lanes if part == -1 else 1
        lines = each if part == -1 else 1
        assert {name: after[name] - before[name] for name in ("executed", "lanes", "lines", "first_hits")} == {
            "executed": 1, "lanes": lanes, "lines": lines * words, "first_hits": hits * words,
        }  # fmt: skip
    (sample,) = bench.keep().samples(bench.lanes, [])[1]
    start = sample.addresses[0]
    assert start is not None
    assert (sample.kind, sample.space, sample.bytes, sample.lines) == ("worst", "scratch", min(bytes, 4), each)
    assert sample.addresses == tuple(start + 4 * lane for lane in range(bench.lanes))
    bench.see(0, 16 + int(bytes == 1) + 0 * np.arange(bench.lanes), wave=2)
    stored = bench.keep().samples(bench.lanes, [])[0][0].addresses[0]
    assert stored == start - 2 * 64 * bench.lanes + int(bytes == 1)  # 64 bytes of each lane for each wave
    assert bench.keep()._raw()[0]["sectors"] == 4 * bench.lanes // 32 * words
