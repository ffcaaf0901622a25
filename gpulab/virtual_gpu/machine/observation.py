"""What the memory accesses of a launch did: `Caches` is a device's modelled caches, `Observer` one kernel's accesses.

native/observe.c and record.c do the work; here their structures are filled and read. A profiled launch is observed
as a whole, up to as many accesses, and lines followed through the caches, as `PROFILED` says; an access with a new
pattern of addresses counts as one more for each lane of the wave there, as it takes so much longer. Every launch begins
with empty caches.
docs/counters.md has the rules of banks, lines and caches with their sources.

Of every launch, profiled or not, a sample is recorded, from which its time is modelled (sample.py): `box` says which
workgroups, and each of their waves has a log of its accesses.
"""

from __future__ import annotations

import bisect
import ctypes
import functools
import struct
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from gpulab.architectures import banks
from gpulab.architectures.architecture import Architecture, Cache
from gpulab.records import AccessSample, MemoryRange
from gpulab.virtual_gpu import schema
from gpulab.virtual_gpu.machine.arena import lazy
from gpulab.virtual_gpu.machine.native import build
from gpulab.virtual_gpu.machine.native.structures import (
    AccessStruct,
    LaunchStruct,
    LevelStruct,
    ObservationStruct,
    RecordingStruct,
    SampleStruct,
    SiteStruct,
    TotalsStruct,
)
from gpulab.virtual_gpu.schema import constant
from gpulab.virtual_gpu.translate import layout
from gpulab.virtual_gpu.translate.lane_access import Observed

_U64 = ctypes.c_uint64

Dim3 = tuple[int, int, int]

COUNTS = schema.TOTALS.names
"""The totals of one access."""
_CACHES = (
    "first_hits", "array_hits", "requests", "l2_hits", "reads_64", "reads_128", "memory_hits", "dram_bytes", "sectors",
)  # fmt: skip

FLOWS = schema.FLOWS.names
"""The totals of a launch."""

MOST_GROUPS = 81  # of a sample
MOST_WAVES = 648
LOG_WORDS = 1 << 17  # of all logs of a sample together
LEAST_WORDS = 512  # of one wave's, where one access may need 257
_MOST_LOG = 4 * (LOG_WORDS + LEAST_WORDS * MOST_WAVES)  # bytes
MOST_EVENTS = 1 << 16  # accesses to cached memory that are recorded, of all waves together
SIDES = (1, 2, 3, 5, 9, 17, 33, 65)
"""Of the box: a line that 2, 4 or 8 neighbours share ends in it as often as it does elsewhere."""
PROFILED = (300_000, 20_000)
_ACTIONS = {"load": "read", "store": "write", "atomic": "atomic"}
_SPACES = {number: name for name, number in layout.SPACES.items()}
_NONE = 0xFFFFFFFF
_ARENA_WORDS = constant("ARENA_WORDS")
_WAYS = {"scalar": 4}  # where the architecture has no number; 16 for other caches


class Caches:
    """A device's modelled caches and known patterns: the state that its observers share. Made at the first launch."""

    def __init__(self, architecture: Architecture) -> None:
        self.architecture = a = architecture
        self.state = state = ObservationStruct()
        self._memory: list[object] = []
        levels: tuple[tuple[str, Cache | None, int], ...] = (
            ("first", a.vector_cache, a.compute_units),
            ("array", a.shader_array_cache, a.shader_array_cache.instances if a.shader_array_cache else 0),
            ("l2", a.l2_cache, a.xcds),
            ("memory", a.last_level_cache, 1),
            ("scalar", a.scalar_cache, a.scalar_cache.instances),
        )
        for name, cache, instances in levels:
            if cache is not None:
                setattr(state, name, self._level(cache, instances, name))
        state.patterns = self._room(constant("PATTERNS") * constant("PATTERN_BYTES"))
        state.seen = self._room(8 * 256)
        state.touched, state.touched_epoch = self._room(8 * _ARENA_WORDS), self._room(4 * _ARENA_WORDS)
        state.banks = a.lds_banks
        state.shift = a.vector_cache.line_bytes.bit_length() - 1
        state.xcds, state.units = a.xcds, a.multiprocessors // a.xcds
        state.cus = a.compute_units // a.multiprocessors
        state.has_array, state.has_memory = a.shader_array_cache is not None, a.last_level_cache is not None
        state.memory_bytes = a.last_level_cache.bytes if a.last_level_cache is not None else 0
        state.scratch_base = 0xFFFF_F000
        state.grouped[:] = [banks.grouped_phase(lane) for lane in range(64)]
        self._recording = recording = RecordingStruct()  # of no workgroup
        state.recording = ctypes.addressof(recording)
        recording.log = self._room(_MOST_LOG)
        recording.used, recording.count, recording.waited = (self._room(4 * MOST_WAVES) for _ in range(3))
        self._seen, self._seen_bytes = 0, 0

    def sample(self, grid: Dim3, waves: int) -> RecordingStruct:
        """The sample of launches of workgroups of so many waves."""
        begin, size = box(grid, waves)
        recording = RecordingStruct.from_buffer_copy(self._recording)
        recording.begin[:], recording.size[:] = begin, size
        recording.waves = waves
        recorded = waves * size[0] * size[1] * size[2]
        recording.words = max(LOG_WORDS // recorded, LEAST_WORDS)
        recording.events = min(MOST_EVENTS // recorded, 0xFFFE)
        return recording

    def seen(self, blocks: int, accesses: int) -> int:
        """Where gpulab_collect has room for a kernel with so many blocks and accesses."""
        wanted = 8 * (1 + blocks) + 24 * accesses + 4 * MOST_WAVES + _MOST_LOG
        if wanted > self._seen_bytes:
            self._seen, self._seen_bytes = self._room(2 * wanted), 2 * wanted
        return self._seen

    def _room(self, size: int) -> int:
        """The address of so many zero bytes, which cost nothing before they are used; a forked process gets its own."""
        memory = lazy(size)
        self._memory.append(memory)
        return ctypes.addressof(ctypes.c_char.from_buffer(memory))

    def _level(self, cache: Cache, instances: int, name: str) -> LevelStruct:
        line = 128 if name in ("l2", "memory") else cache.line_bytes
        ways = cache.ways or _WAYS.get(name, 16)
        sets = max(1, cache.bytes // (line * ways))
        assert name in ("first", "scalar") or sets % 4 == 0, "far_key in caches.h leaves out two bits"
        stride = next(size for size in (16, 32, 64) if ways <= size)
        count = instances * sets
        size = 8 * stride if name in ("first", "scalar") else 4 * stride
        return LevelStruct(self._room(count * size), self._room(4 * count), instances, sets, ways, stride)

    def begin(self) -> None:
        """Empty the caches: sets and patterns that were last used in an earlier epoch count as empty, or as new."""
        state = self.state
        state.epoch = state.epoch + 1
        if state.epoch >= 1 << 24:  # as many as fit beside the number of ways in use
            state.epoch = 1
            for level in (state.first, state.array, state.l2, state.memory, state.scalar):
                if level.state:
                    ctypes.memset(level.state, 0, 4 * level.instances * level.sets)
            ctypes.memset(state.touched_epoch, 0, 4 * _ARENA_WORDS)
            ctypes.memset(state.patterns, 0, constant("PATTERNS") * constant("PATTERN_BYTES"))


def box(grid: Dim3, waves: int) -> tuple[Dim3, Dim3]:
    """The sample of a grid of workgroups of so many waves: the box's first workgroup and its size.

    Small grids are recorded as a whole; of others a box in their middle, of more than one workgroup in each direction
    if the grid has them, since it shows what neighbours share.
    """
    total = grid[0] * grid[1] * grid[2]
    most = min(total if total <= 8 else 8 + total // 32, MOST_GROUPS, max(MOST_WAVES // waves, 1))
    size = list(grid) if total <= most else [1, 1, 1]
    grown = total > most
    while grown:  # make the shortest side longer, x first
        grown = False
        for d in sorted(range(3), key=lambda d: (size[d], d)):
            more = min(next(side for side in SIDES if side > min(size[d], 64)), grid[d])
            if more > size[d] and size[0] * size[1] * size[2] // size[d] * more <= most:
                size[d], grown = more, True
                break
    x, y, z = size
    return ((grid[0] - x) // 2, (grid[1] - y) // 2, (grid[2] - z) // 2), (x, y, z)


@functools.cache
def _function(name: str) -> Any:
    address = getattr(build.functions(), name)
    return ctypes.CFUNCTYPE(None, _U64, _U64)(address)


class Recorded(NamedTuple):
    """The sample of one launch, as it lies in memory.

    size: of the box of workgroups; the wave's logs one behind the other, as long as `used` says; `banked`: executions,
    lanes and bank cycles in LDS, by access.
    """

    size: Dim3
    log: bytes
    used: bytes
    banked: bytes


class Kept(NamedTuple):
    """What the observer of a profiled launch saw, as it lies in memory: to be read when somebody asks.

    cut: workgroups that were begun when nothing more was to be observed or followed; 0 if it did not come to that.
    raw_samples: two samples for each access.
    """

    accesses: Sequence[Observed]
    raw_totals: bytes = b""
    raw_flows: bytes = b""
    cut: int = 0
    raw_samples: bytes = b""

    def sampled(self, workgroups: int) -> tuple[int, int] | None:
        """(workgroups that were observed and followed, at least in part, of so many), if not all were."""
        return (min(self.cut, workgroups), workgroups) if self.cut else None

    def samples(self, wave_size: int, ranges: Sequence[MemoryRange]) -> list[tuple[AccessSample, ...]]:
        """The samples by access number: the worst execution, and the first if that is another one.

        Args:
            ranges: the memory that the kernel could reach, in the order of addresses.
        """
        if not self.raw_samples:
            return [() for _ in self.accesses]
        pairs = (SampleStruct * (2 * len(self.accesses))).from_buffer_copy(self.raw_samples)
        found: list[tuple[AccessSample, ...]] = []
        for number, access in enumerate(self.accesses):
            first, worst = pairs[2 * number], pairs[2 * number + 1]
            same = bytes(first) == bytes(worst)
            found.append(
                tuple(
                    _sample(kind, raw, access.part, wave_size, ranges)
                    for kind, raw in (("worst", worst), *(() if same else (("first", first),)))
                    if raw.known
                )
            )
        return found

    def _raw(self) -> list[dict[str, int]]:
        numbers = struct.iter_unpack(f"={len(COUNTS)}Q", self.raw_totals)
        return [dict(zip(COUNTS, next(numbers), strict=True)) for _ in self.accesses]

    def totals(self) -> list[dict[str, int]]:
        """The totals by access number. What was not followed through the caches is taken to be like what was."""
        found = self._raw()
        for totals in found:
            executed, followed = totals["executed"], totals["followed"]
            if 0 < followed < executed:
                for name in _CACHES:
                    totals[name] = (totals[name] * executed + followed // 2) // followed
        return found

    def flows(self) -> dict[str, int]:
        """The totals of the launch, for all accesses that `totals` tells of."""
        flows = dict(zip(FLOWS, struct.unpack(f"={len(FLOWS)}Q", self.raw_flows), strict=True))
        if not self.cut:
            return flows
        raw, whole = self._raw(), self.totals()
        writes = [n for n, access in enumerate(self.accesses) if access.action != "load"]
        for name in FLOWS:
            seen, all_ = (
                sum(totals[n]["requests"] for n in writes)
                if name != "dram_reads"
                else sum(64 * t["reads_64"] + 128 * t["reads_128"] for t in totals)
                for totals in (raw, whole)
            )
            if seen:
                flows[name] = (flows[name] * all_ + seen // 2) // seen
        return flows


def _sample(kind: str, raw: SampleStruct, part: int, lanes: int, ranges: Sequence[MemoryRange]) -> AccessSample:
    mask, space = int(raw.exec), _SPACES[raw.space]
    wrap = 0xFFFF_FFFF if space in ("lds", "scratch") else -1
    addresses = tuple(raw.address[lane] & wrap if mask >> lane & 1 else None for lane in range(lanes))
    return AccessSample(
        kind=kind,
        space=space,
        part=part,
        workgroup=(raw.group[0], raw.group[1], raw.group[2]),
        wave=int(raw.wave),
        exec_mask=mask,
        addresses=addresses,
        bytes=int(raw.bytes),
        lines=int(raw.lines),
        bank_cycles=int(raw.bank_cycles),
        conflict_cycles=int(raw.conflict_cycles),
        memory=tuple(_reached(addresses, ranges)) if space == "global" else (),
    )


def _reached(addresses: Iterable[int | None], ranges: Sequence[MemoryRange]) -> list[MemoryRange]:
    """The allocations that these addresses lie in, in their order."""
    places = {bisect.bisect_right(ranges, at, key=lambda r: r.address) - 1 for at in addresses if at is not None}
    return [ranges[place] for place in sorted(places) if place >= 0]


class Observer:
    """The observer of one translated kernel's accesses."""

    def __init__(self, accesses: Sequence[Observed], caches: Caches, waiting: frozenset[int] = frozenset()) -> None:
        """`waiting`: the instructions that stand in loops of waiting."""
        self.accesses, self.caches = accesses, caches
        count = max(len(accesses), 1)
        self.table, self.sites = (AccessStruct * count)(), (SiteStruct * count)()
        for entry, site, access in zip(self.table, self.sites, accesses, strict=False):
            entry.instruction, entry.part, entry.bytes = access.instruction, access.part, access.bytes
            entry.space, entry.action = layout.SPACES[access.space], layout.ACCESSES[_ACTIONS[access.action]]
            site.space, site.bytes = entry.space, access.bytes
            site.waits = access.instruction in waiting
            site.shape, site.twin = access.bytes, _NONE if access.twin is None else access.twin
            if access.space in ("lds", "flat"):
                how, serial = banks.banking(caches.architecture, access.bytes, access.action), access.action == "atomic"
                site.phases, site.grouping, site.serialises = how.phases, how.grouped, serial
                # 256 and more: what LDS banks have to say is in the pattern.
                site.shape = 256 + 16 * access.bytes + 4 * int(how.grouped) + 2 * int(serial)
        self.totals = (TotalsStruct * count)()
        self.samples: Any = None
        self._marks, self._banked = (_U64 * (2 * count))(), (_U64 * (3 * count))()
        self._recorded = ctypes.addressof(self._marks), ctypes.addressof(self._banked)
        self._addresses = tuple(ctypes.addressof(a) for a in (self.table, self.sites, self.totals, caches.state))

    def record(self, launch: LaunchStruct, recording: RecordingStruct) -> None:
        """Set launches up so that their sample is recorded, and nothing else."""
        recording.marks, recording.banked = self._recorded
        launch.recording = ctypes.addressof(recording)
        table, launch.sites, _, launch.observation = self._addresses
        launch.accesses, launch.access_count = table, len(self.accesses)
        launch.observer = build.functions().record

    def prepare(self, launch: LaunchStruct, workgroups: int, accesses: int, lookups: int, novelty: int = 0) -> None:
        """Set a launch up so that its first `workgroups` are observed, until so many accesses have been, and followed
        through the caches up to the end of the workgroup in which so many lines have been looked up. An access whose
        addresses form a pattern that is new in the launch counts as `novelty` more; where it is not 0, samples of
        addresses are taken."""
        caches = self.caches
        caches.begin()
        state = caches.state
        state.left, state.lookups = accesses, lookups
        state.novelty = novelty
        if novelty and self.samples is None:
            self.samples = (SampleStruct * (2 * len(self.table)))()
        state.samples = ctypes.addressof(self.samples) if novelty else 0
        table, sites, totals, observation = self._addresses
        state.totals, state.sites = totals, sites
        _function("observe_begin")(observation, len(self.accesses))
        launch.observer, launch.observed = build.functions().observe, workgroups
        launch.accesses, launch.access_count = table, len(self.accesses)
        launch.observation = observation

    def keep(self) -> Kept:
        """What was seen of the launch that ended last, if it was observed."""
        state = self.caches.state
        _function("observe_end")(self._addresses[3], len(self.accesses))
        own = self.samples is not None and state.samples == ctypes.addressof(self.samples)
        samples = bytes(self.samples) if own else b""
        return Kept(self.accesses, bytes(self.totals), bytes(state.flows), int(state.cut), samples)
