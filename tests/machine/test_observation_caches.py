"""All caches at once, of many workgroups: random loads, stores and atomics beside a slow model of docs/counters.md,
"Caches", line by line. Sizes and ways come from the devices' tables."""

from __future__ import annotations

import numpy as np
import pytest

from gpulab import architectures
from gpulab.virtual_gpu.machine import device as device_module
from gpulab.virtual_gpu.machine.observation import Kept
from tests.machine.probes import module, profile
from tests.translate.kernels import Buffer, device

LOAD, STORE, ATOMIC = range(3)


class Sets:
    """A cache, or several: in each set lines in the order of their last use, each with what is known of it."""

    def __init__(self, sets: int, ways: int) -> None:
        self.sets, self.ways = sets, ways
        self.found: dict[tuple[int, int], dict[int, dict[str, int]]] = {}

    def look(self, instance: int, line: int) -> tuple[dict[str, int], bool, dict[str, int] | None]:
        """The line's entry, whether it was there, and the entry that made room."""
        lines = self.found.setdefault((instance, line % self.sets), {})
        entry, gone = lines.pop(line, None), None
        hit = entry is not None
        if entry is None and len(lines) == self.ways:
            gone = lines.pop(next(iter(lines)))
        lines[line] = entry if entry is not None else {"fetched": 0, "dirty": 0}
        return lines[line], hit, gone

    def drop(self, instance: int, line: int) -> None:
        self.found.get((instance, line % self.sets), {}).pop(line, None)


class Model:
    """The caches of one device in one launch; `memory`: sets of the last-level cache, 0 if all allocations fit."""

    def __init__(self, arch: str, memory: int) -> None:
        self.a = a = architectures.get(arch)
        self.line = a.vector_cache.line_bytes
        ways = a.vector_cache.ways or 16
        self.first = Sets(a.vector_cache.bytes // (self.line * ways), ways)
        g, s = a.shader_array_cache, a.scalar_cache
        self.array = Sets(g.bytes // (128 * (g.ways or 16)), g.ways or 16) if g else None
        self.second = Sets(a.l2_cache.bytes // (128 * (a.l2_cache.ways or 16)), a.l2_cache.ways or 16)
        self.scalars = Sets(s.bytes // (64 * (s.ways or 4)), s.ways or 4)
        last = a.last_level_cache
        self.memory = Sets(memory, last.ways or 16) if memory and last else None
        self.touched: set[int] = set()
        self.units, self.cus = a.multiprocessors // a.xcds, a.compute_units // a.multiprocessors
        self.flows = dict.fromkeys(
            (
                "writebacks_32",
                "writebacks_64",
                "lines_written",
                "evicted",
                "evicted_dirty",
                "dram_reads",
                "dram_writes",
            ),
            0,
        )

    def place(self, group: int, wave: int) -> None:
        """Round-robin over XCDs, then over their units; waves take turns with the CUs of a unit."""
        self.xcd = group % self.a.xcds
        self.unit = group // self.a.xcds % self.units
        everywhere = self.xcd * self.units + self.unit
        self.instance = everywhere * self.cus + wave % self.cus
        self.scalar = everywhere * self.a.scalar_cache.instances // (self.a.xcds * self.units)

    def access(self, t: dict[str, int], action: int, addresses: list[int]) -> None:
        lines: dict[int, int] = {}  # in the order of lanes: 32-byte sectors as bits
        for at in addresses:
            lines[at // self.line] = lines.get(at // self.line, 0) | 1 << at % self.line // 32
        t["executed"] += 1
        t["lines"] += len(lines)
        for line, sectors in lines.items():
            at = line * self.line
            if action == LOAD:
                if self.first.look(self.instance, line)[1]:
                    t["first_hits"] += 1
                else:
                    self.miss(t, at, 3 if self.line == 128 else 1 << at // 64 % 2)
                continue
            if action == ATOMIC:
                self.first.drop(self.instance, line)
            if self.array is not None:
                self.array.drop(self.unit % self.a.shader_array_cache.instances, at // 128)
            self.write(t, at // 128, sectors << (2 if self.line == 64 and at % 128 else 0), action)

    def scalar_load(self, t: dict[str, int], at: int) -> None:
        t["executed"] += 1
        t["lines"] += 1
        if self.scalars.look(self.scalar, at // 64)[1]:
            t["first_hits"] += 1
        else:
            self.miss(t, at, 1 << at // 64 % 2)

    def miss(self, t: dict[str, int], at: int, halves: int) -> None:
        if self.array is not None:
            if self.array.look(self.unit % self.a.shader_array_cache.instances, at // 128)[1]:
                t["array_hits"] += 1
                return
            halves = 3
        entry, _ = self.in_l2(at // 128)
        missing = halves & ~self.readable(entry)
        t["requests"] += 1
        t["l2_hits"] += not missing
        if missing:
            entry["fetched"] |= missing
            self.from_memory(t, at // 128, missing)

    def in_l2(self, line: int) -> tuple[dict[str, int], bool]:
        entry, hit, gone = self.second.look(self.xcd, line)
        if gone is not None:
            self.flows["evicted"] += 1
            self.flows["evicted_dirty"] += gone["dirty"] > 0
        return entry, hit

    @staticmethod
    def readable(entry: dict[str, int]) -> int:
        """Halves that were fetched or written as a whole."""
        return entry["fetched"] | sum(1 << half for half in (0, 1) if entry["dirty"] >> 2 * half & 3 == 3)

    def write(self, t: dict[str, int], line: int, sectors: int, action: int) -> None:
        entry, hit = self.in_l2(line)
        halves = [half for half in (0, 1) if sectors >> 2 * half & 3]
        t["requests"] += len(halves)
        if action == ATOMIC:
            for half in halves:
                if self.readable(entry) >> half & 1:
                    t["l2_hits"] += 1
                else:
                    self.from_memory(t, line, 1 << half)
                    entry["fetched"] |= 1 << half
        else:
            t["l2_hits"] += len(halves) - (not hit)
        old, entry["dirty"] = entry["dirty"], entry["dirty"] | sectors
        t["sectors"] += (entry["dirty"] & ~old).bit_count()
        for half in (0, 1):
            for dirty, sign in ((old, -1), (entry["dirty"], 1)):
                count = (dirty >> 2 * half & 3).bit_count()
                if count:
                    self.flows["writebacks_64" if count == 2 else "writebacks_32"] += sign
        if not old:
            self.flows["lines_written"] += 1
            self.to_memory(line)

    def from_memory(self, t: dict[str, int], line: int, halves: int) -> None:
        size = 128 if halves == 3 else 64
        t["reads_128" if halves == 3 else "reads_64"] += 1
        if self.a.last_level_cache is not None:
            wanted = {2 * line + half for half in (0, 1) if halves >> half & 1}
            if self.memory is None:
                there = wanted <= self.touched
                self.touched |= wanted
            else:
                entry = self.in_memory(line)
                there = entry["fetched"] & halves == halves
                entry["fetched"] |= halves
            if there:
                t["memory_hits"] += 1
                return
        self.flows["dram_reads"] += size
        t["dram_bytes"] += size

    def to_memory(self, line: int) -> None:
        if self.memory is None:
            self.touched |= {2 * line, 2 * line + 1}
        elif self.a.last_level_cache is not None:
            self.in_memory(line).update(fetched=3, dirty=1)

    def in_memory(self, line: int) -> dict[str, int]:
        entry, _, gone = self.memory.look(0, line)
        if gone is not None and gone["dirty"]:
            self.flows["dram_writes"] += 128
        return entry


COMPARED = (
    "executed", "lines", "first_hits", "array_hits", "requests", "l2_hits", "reads_64", "reads_128", "memory_hits",
    "dram_bytes", "sectors",
)  # fmt: skip
CASES = [("gfx942", 0), ("gfx942", 24), ("gfx1100", 0), ("gfx1100", 40), ("gfx90a", 0)]


class Walk:
    """A random launch of `mixed`: places are few lines that meet in sets of the caches, in halves, sectors and
    stretches. The first workgroups share their caches with the last."""

    def __init__(self, arch: str, seed: int) -> None:
        self.arch, self.model = arch, Model(arch, 0)
        random, wave = np.random.default_rng(seed), self.model.a.wave_size
        self.wave, self.waves, self.steps = wave, 2, 7
        units = self.model.a.xcds * self.model.units
        self.groups = units + min(units, 24)
        shape = (self.steps, self.groups * self.waves, wave)
        stride = 128 * self.model.second.sets
        line = random.integers(0, 20, shape) * stride + 128 * random.integers(0, 3, shape)
        at = line + 4 * random.integers(0, 32, shape)
        near = random.random(shape[:2]) < 0.4  # consecutive dwords from anywhere
        at[near] = (line[near][:, :1] + 4 * random.integers(0, 32, (near.sum(), 1))) + 4 * np.arange(wave)
        few = random.random(shape[:2]) < 0.3
        at[few] = at[few][:, :1]
        self.at = at.astype(np.int32)
        self.what = random.choice([LOAD, LOAD, STORE, ATOMIC], (self.groups, self.steps)).astype(np.int32)
        self.places, self.kinds = Buffer(self.at), Buffer(self.what)
        self.data = Buffer(np.zeros(20 * stride + 1024, np.uint8))
        self.out = Buffer(np.zeros(self.groups * self.waves * wave, np.int32))

    def run(self) -> Kept:
        """What the observer saw."""
        arguments = self.places, self.kinds, np.int32(self.steps), self.data, self.out
        done = profile(self.arch, "mixed", self.groups, self.waves * self.wave, *arguments)
        assert done.sampled is None
        return module(self.arch).kernels["mixed"].code(profile=True).observer.keep()


@pytest.fixture
def followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is observed."""
    monkeypatch.setattr(device_module, "PROFILED", (100_000_000, 100_000_000))


@pytest.mark.usefixtures("followed")
@pytest.mark.parametrize(("arch", "memory"), CASES)
def test_loads_stores_and_atomics_of_many_workgroups(arch: str, memory: int, monkeypatch: pytest.MonkeyPatch) -> None:
    walk, model, state = Walk(arch, len(arch) + memory), Model(arch, memory), device(arch).caches.state
    if memory:  # a small last-level cache, in which not all fits
        monkeypatch.setattr(state, "memory_bytes", 1)
        monkeypatch.setattr(state.memory, "sets", memory)
    kept = walk.run()
    totals, flows = kept.totals(), kept.flows()
    wanted = [dict.fromkeys(COMPARED, 0) for _ in range(6)]
    index, kind, load, store, atomic, last = wanted
    wave, data = walk.wave, walk.data.address
    for me in range(walk.groups * walk.waves):
        group = me // walk.waves
        model.place(group, me % walk.waves)
        for step in range(walk.steps):
            own = walk.places.address + 4 * wave * (step * walk.groups * walk.waves + me)
            model.access(index, LOAD, [own + 4 * lane for lane in range(wave)])
            model.scalar_load(kind, walk.kinds.address + 4 * (group * walk.steps + step))
            action = int(walk.what[group, step])
            model.access((load, store, atomic)[action], action, [data + int(x) for x in walk.at[step, me]])
        model.access(last, STORE, [walk.out.address + 4 * (me * wave + lane) for lane in range(wave)])

    def found(space: str, action: str) -> list[dict[str, int]]:
        return [t for one, t in zip(kept.accesses, totals, strict=True) if (one.space, one.action) == (space, action)]

    scalars = found("scalar", "load")
    arguments = [t for t in scalars if t["executed"] != kind["executed"]]
    reads, writes = found("global", "load"), found("global", "store")
    (what,) = [t for t in scalars if t["executed"] == kind["executed"]]
    measured = [reads[0], what, reads[1], writes[0], *found("global", "atomic"), writes[1]]
    assert [{name: t[name] for name in COMPARED} for t in measured] == wanted
    flows["dram_reads"] -= sum(t["dram_bytes"] for t in arguments)
    assert {name: flows[name] for name in model.flows} == model.flows
    assert model.flows["evicted"] > model.flows["evicted_dirty"] > 0
    assert (model.flows["dram_writes"] > 0) == bool(memory)


@pytest.mark.usefixtures("followed")
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("fits", [True, False])
def test_caches_are_empty_where_launches_are_counted_from_one_again(
    arch: str, fits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After 2^24 - 1 launches: nothing of the first one is found in any cache."""
    walk, state = Walk(arch, 5), device(arch).caches.state
    if not fits:
        monkeypatch.setattr(state, "memory_bytes", 1)
    first = walk.run()
    for before, after in (((1 << 24) - 1, 1), ((1 << 24) - 2, (1 << 24) - 1), ((1 << 24) - 1, 1)):
        state.epoch = before
        kept = walk.run()
        assert (kept.totals(), kept.flows(), state.epoch) == (first.totals(), first.flows(), after)
