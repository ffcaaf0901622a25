"""LDS banks, cache lines and caches: documented examples, and random patterns against a slow count in numpy."""

from __future__ import annotations

import numpy as np
import pytest

from gpulab import architectures
from gpulab.architectures import banks
from gpulab.virtual_gpu.machine import device as device_module
from gpulab.virtual_gpu.machine.observation import Caches, box
from tests.machine.probes import WIDTHS, module, probe, profile
from tests.translate.kernels import ARCHITECTURES, Buffer, device, pack

WAVE = {"gfx942": 64, "gfx1100": 32, "gfx90a": 64, "gfx950": 64}
# Of AMD's "Avoiding LDS bank conflicts" in Composable Kernel's documentation: lanes of one phase of ds_read_b128.
READ_128 = [[0, 1, 2, 3, 20, 21, 22, 23], [4, 5, 6, 7, 16, 17, 18, 19], [8, 9, 10, 11, 28, 29, 30, 31],
            [12, 13, 14, 15, 24, 25, 26, 27]]  # fmt: skip


def phases(arch: str, width: int, read: bool) -> list[list[int]]:
    """Lanes by phase, as facts about the devices say."""
    wave = WAVE[arch]
    if arch == "gfx942" and width == 16 and read:
        return READ_128 + [[lane + 32 for lane in group] for group in READ_128]
    lanes = {1: 32, 2: 32, 4: 32, 8: 16, 16: 8}[width]
    return [list(range(start, start + lanes)) for start in range(0, wave, lanes)]


def lds_cycles(arch: str, width: int, action: str, at: np.ndarray, on: np.ndarray) -> tuple[int, int]:
    """(cycles, cycles by conflicts) of one wave's access, counted slowly."""
    groups = phases(arch, width, action == "read")
    cycles = 0
    for group in groups:
        banks: dict[int, list[int]] = {}
        for lane in group:
            if not on[lane]:
                continue
            for dword in range(at[lane] // 4, (at[lane] + width - 1) // 4 + 1):
                banks.setdefault(dword % 32, []).append(dword)
        each = [len(b) if action == "add" else len(set(b)) for b in banks.values()]
        cycles += max([1, *each])
    return cycles, cycles - len(groups)


# Cycles of a dword read by a whole wave, with a stride in dwords: the most lanes of a phase that want different dwords
# of one bank, times the phases (2 of 32 lanes with 64 lanes, 1 with 32). The rule is the RDNA 3 ISA's section 12.1 and
# rocprofiler-compute's LDS examples: gcd(stride, 32) lanes share a bank.
STRIDES = {1: 1, 2: 2, 3: 1, 4: 4, 5: 1, 8: 8, 16: 16, 17: 1, 31: 1, 32: 32, 33: 1, 64: 32, 0: 1}


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("stride", STRIDES)
def test_lds_strides(arch: str, stride: int) -> None:
    lanes = np.arange(WAVE[arch])
    cost = probe(arch, "lds_read_4", 4 * stride * lanes)
    count = WAVE[arch] // 32
    assert (cost.executed, cost.lanes) == (1, WAVE[arch])
    assert cost.bank_cycles == count * STRIDES[stride]
    assert cost.conflict_cycles == count * (STRIDES[stride] - 1)
    assert cost.requested_bytes == 4 * WAVE[arch]


@pytest.mark.parametrize(("lanes", "active", "conflicts"), [(1, 2, 0), (2, 3, 1), (8, 9, 7), (32, 33, 31)])
def test_conflicts_grow_with_the_lanes_as_measured_on_an_mi250(lanes: int, active: int, conflicts: int) -> None:
    """rocprofiler-compute's example: n lanes 32 dwords apart; SQ_LDS_IDX_ACTIVE is 2 even for one lane."""
    on = np.arange(64) < lanes
    cost = probe("gfx942", "lds_read_4", 128 * np.arange(64), on)
    assert (cost.bank_cycles, cost.conflict_cycles) == (active, conflicts)


def test_wide_lds_accesses_without_conflicts() -> None:
    lanes = np.arange(64)
    for width, cycles in ((4, 2), (8, 4), (16, 8)):
        for action in ("read", "write"):
            cost = probe("gfx942", f"lds_{action}_{width}", width * lanes)
            assert (cost.bank_cycles, cost.conflict_cycles) == (cycles, 0), (action, width)
    for width, cycles in ((4, 1), (8, 2), (16, 4)):
        assert probe("gfx1100", f"lds_read_{width}", width * lanes[:32]).bank_cycles == cycles


def test_64_banks_of_gfx950() -> None:
    """Twice as many lanes at a time; a stride of 32 dwords takes two banks in turns, one of 64 a single one."""
    lanes = np.arange(64)
    assert probe("gfx950", "lds_read_4", 4 * lanes).bank_cycles == 1
    assert probe("gfx950", "lds_read_16", 16 * lanes).bank_cycles == 4
    assert probe("gfx950", "lds_read_4", 128 * lanes).bank_cycles == 32
    assert probe("gfx950", "lds_read_4", 256 * lanes).bank_cycles == 64


def test_a_tile_row_of_33_floats_has_no_conflicts() -> None:
    """The lesson's padding: a column of tile[32][32] is 32 lanes in one bank, of tile[32][33] none."""
    lanes = np.arange(32)
    for arch in ARCHITECTURES:
        on = np.arange(WAVE[arch]) < 32
        at = np.resize(lanes, WAVE[arch])
        assert probe(arch, "lds_read_4", 4 * 32 * at, on).conflict_cycles == 31
        assert probe(arch, "lds_read_4", 4 * 33 * at, on).conflict_cycles == 0


def test_128_bit_reads_and_writes_group_their_lanes_differently() -> None:
    """Lanes 0 and 20 share a read phase but no write phase: with equal banks they collide in reads alone."""
    at = 16 * np.arange(64)
    at[0], at[20] = 0, 4096
    on = np.isin(np.arange(64), [0, 20])
    assert probe("gfx942", "lds_read_16", at, on).conflict_cycles == 1
    assert probe("gfx942", "lds_write_16", at, on).conflict_cycles == 0


def test_atomics_on_one_dword_wait_for_each_other() -> None:
    assert probe("gfx942", "lds_add_4", np.zeros(64, int)).bank_cycles == 64
    assert probe("gfx942", "lds_read_4", np.zeros(64, int)).bank_cycles == 2
    assert probe("gfx1100", "lds_add_4", np.zeros(32, int)).bank_cycles == 32


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize(
    ("action", "width"), [("read", w) for w in WIDTHS] + [("write", w) for w in WIDTHS] + [("add", 4)]
)
def test_random_lds_addresses(arch: str, action: str, width: int) -> None:
    random = np.random.default_rng(width)
    for trial in range(6):
        room = (256, 2048, 65536 - 16)[trial % 3]
        at = random.integers(0, room, WAVE[arch]) // width * width
        on = random.random(WAVE[arch]) < (0.4 if trial > 2 else 1.1)
        cost = probe(arch, f"lds_{action}_{width}", at, on)
        assert (cost.bank_cycles, cost.conflict_cycles) == lds_cycles(arch, width, action, at, on)
        assert cost.lanes == on.sum()


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100", "gfx90a", "gfx950"])
@pytest.mark.parametrize(
    ("action", "width"), [("read", w) for w in WIDTHS] + [("write", w) for w in WIDTHS] + [("add", 4)]
)
def test_pictures_of_banks_count_as_the_observer_does(arch: str, action: str, width: int) -> None:
    """gpulab.architectures.banks draws what patterns.c counts."""
    random = np.random.default_rng(100 + width)
    word = {"read": "load", "write": "store", "add": "atomic"}[action]
    for trial in range(4):
        at = random.integers(0, (256, 2048)[trial % 2], WAVE[arch]) // width * width
        on = random.random(WAVE[arch]) < (1.1, 0.4)[trial // 2]
        cost = probe(arch, f"lds_{action}_{width}", at, on)
        addresses = [int(a) if yes else None for a, yes in zip(at, on, strict=True)]
        phases = banks.serve(architectures.get(arch), addresses, width, word)
        assert sum(phase.cycles for phase in phases) == cost.bank_cycles
        assert len(phases) == cost.bank_cycles - cost.conflict_cycles
        (sample,) = cost.samples
        assert sample.addresses == tuple(addresses)
        assert (sample.kind, sample.space, sample.bytes) == ("worst", "lds", width)
        assert (sample.bank_cycles, sample.conflict_cycles) == (cost.bank_cycles, cost.conflict_cycles)


# Cache lines of a wave that reads contiguous elements: 64 lanes of 4 bytes are two lines of 128 bytes.
@pytest.mark.parametrize(
    ("arch", "width", "lines", "quads"),
    [
        ("gfx942", 4, 2, 16), ("gfx942", 8, 4, 16), ("gfx942", 16, 8, 16), ("gfx942", 1, 1, 16),
        ("gfx1100", 4, 1, 8), ("gfx1100", 8, 2, 8), ("gfx1100", 16, 4, 8), ("gfx1100", 1, 1, 8),
        ("gfx90a", 4, 4, 16), ("gfx90a", 16, 16, 16), ("gfx950", 4, 2, 16),
    ],
)  # fmt: skip
def test_contiguous_lanes(arch: str, width: int, lines: int, quads: int) -> None:
    data = Buffer(np.zeros(4096, np.uint8))
    at = width * np.arange(WAVE[arch])
    for action in ("read", "write"):
        cost = probe(arch, f"{action}_{width}", at, target=data)
        assert (cost.lines, cost.quads) == (lines, quads)
        assert cost.line_bytes == (64 if arch == "gfx90a" else 128)


@pytest.mark.parametrize(
    ("stride", "lines", "quads"), [(1, 2, 16), (2, 4, 16), (4, 8, 16), (8, 16, 32), (16, 32, 64), (32, 64, 64)]
)
def test_strided_lanes_of_dwords(stride: int, lines: int, quads: int) -> None:
    """64 lanes `stride` dwords apart reach over 256 * stride bytes; four of them over 16 * stride."""
    data = Buffer(np.zeros(64 * 128, np.uint8))
    cost = probe("gfx942", "read_4", 4 * stride * np.arange(64), target=data)
    assert (cost.lines, cost.quads) == (lines, quads)


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize(
    ("action", "width"), [("read", w) for w in WIDTHS] + [("write", w) for w in WIDTHS] + [("add", 4)]
)
def test_random_addresses(arch: str, action: str, width: int) -> None:
    random = np.random.default_rng(10 + width)
    data = Buffer(np.zeros(1 << 20, np.uint8))
    for trial in range(8):
        room = (256, 1024, 16384, (1 << 20) - 16)[trial % 4]
        at = random.integers(0, room, WAVE[arch]) // width * width
        if trial % 2:
            at = np.sort(at)
        if width > 4:
            at = at // 4 * 4 + 4 * (random.integers(0, 2) if room > 256 else 0)
        on = random.random(WAVE[arch]) < (0.4 if trial > 3 else 1.1)
        cost = probe(arch, f"{action}_{width}", at, on, data)
        first = data.address + at
        touched = {int(b) // 128 for a in first[on] for b in range(a, a + width)}
        assert cost.lines == len(touched)
        quads = 0
        for start in range(0, WAVE[arch], 4):
            group = [int(first[i]) for i in range(start, start + 4) if on[i]]
            quads += len({b // 64 for a in group for b in range(a, a + width)})
        assert cost.quads == quads
        assert (cost.executed, cost.lanes) == (1, on.sum())


class Lru:
    """A cache as lists of lines in the order of their last use."""

    def __init__(self, size: int, line: int, ways: int) -> None:
        self.sets: list[list[int]] = [[] for _ in range(size // (line * ways))]
        self.line, self.ways = line, ways

    def look(self, address: int) -> bool:
        line = address // self.line
        lines = self.sets[line % len(self.sets)]
        hit = line in lines
        if hit:
            lines.remove(line)
        lines.append(line)
        del lines[: -self.ways]
        return hit


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("spread", [1 << 14, 1 << 17, 1 << 24, "window", "rows"])
def test_hits_of_a_walk(arch: str, spread: int | str) -> None:
    """One workgroup walks through memory: hits of L1 (GL1) and L2 are those of plain LRU caches. Each lane goes
    anywhere, or all move on by a dword a step: as one window, or as rows that are a bit more than a line apart."""
    wave, steps = WAVE[arch], 300
    if isinstance(spread, int):
        random = np.random.default_rng(spread)
        at = (random.integers(0, spread, (steps, wave)) // 4 * 4).astype(np.int32)
        at[100:200] = np.sort(at[100:200], axis=1)
        at[::3] = at[0]  # some steps go where others have been
    else:
        lane, step = np.meshgrid(np.arange(wave), np.arange(steps))
        row = lane // 16 * 5 * (spread == "rows")
        at = (4 * (lane + 32 * row + row + np.where(step < 200, step, 400 - step))).astype(np.int32)
        spread = int(at.max()) + 4
    places, data, out = Buffer(at), Buffer(np.zeros(spread, np.uint8)), Buffer(np.zeros(wave, np.int32))
    launch = profile(arch, "walk", 1, wave, places, steps, data, out)
    loads = [a for a in launch.accesses if a.action == "load" and a.space == "global" and a.executed]
    (index,) = [a for a in loads if "at[k" in a.where.text]
    (value,) = [a for a in loads if "from + a" in a.where.text]
    # Sizes and ways: CDNA 3 white paper; RDNA 3 in ROCm's tables (L1 of a shader array, L2 of the device).
    first = Lru(32 << 10, 128, 64 if arch == "gfx942" else 32)
    array = Lru(256 << 10, 128, 16) if arch == "gfx1100" else None
    second = Lru((4 if arch == "gfx942" else 6) << 20, 128, 16)
    hits = {"index": [0, 0, 0], "value": [0, 0, 0]}  # in the first caches, asked of L2, found there
    for step in range(steps):
        own = places.address + 4 * wave * step + 4 * np.arange(wave)
        for name, base in (("index", own), ("value", data.address + at[step].astype(np.int64))):
            for line in dict.fromkeys(int(a) // 128 for a in base):
                if first.look(128 * line) or (array is not None and array.look(128 * line)):
                    hits[name][0] += 1
                    continue
                hits[name][1] += 1
                hits[name][2] += second.look(128 * line)
    # Nothing else but the kernel's arguments goes through these caches.
    assert [index.cache_hits, index.l2_requests, index.l2_hits] == hits["index"]
    assert [value.cache_hits, value.l2_requests, value.l2_hits] == hits["value"]


def test_a_copy_as_measured_on_an_mi300x() -> None:
    """A public measurement of a copy of 1 GiB: TCC_BUBBLE 8,388,608, EA0_RDREQ 8,388,760 (32-byte ones 0), WRREQ and
    WRREQ_64B 16,777,216, HIT 8,391,568, MISS 16,777,296. Here 1 MiB; what the kernel itself reads is not part of it."""
    size = 1 << 20
    launch = profile(
        "gfx942", "copy_16", size // 4096, 256, Buffer(np.zeros(size, np.uint8)), Buffer(np.zeros(size, np.uint8))
    )
    assert launch.sampled is None
    got, share = launch.counters, (1 << 30) // size
    assert got["TCC_BUBBLE"] * share == 8_388_608
    assert got["TCC_EA0_WRREQ"] * share == got["TCC_EA0_WRREQ_64B"] * share == 16_777_216
    assert got["TCC_EA0_RDREQ_32B"] == 0
    scalar = got["SQC_TC_DATA_READ_REQ"]
    assert (got["TCC_EA0_RDREQ"] - got["TCC_BUBBLE"]) <= scalar < 200
    assert 0 <= got["TCC_MISS"] - 16_777_216 // share <= scalar
    assert 0 <= got["TCC_HIT"] - 8_388_608 // share <= scalar
    assert got["TCP_TCC_READ_REQ"] * share == 8_388_608
    assert got["TCP_TCC_WRITE_REQ"] * share == 16_777_216


@pytest.mark.parametrize(("arch", "lines"), [("gfx942", 2), ("gfx1100", 1)])
def test_scratch_is_woven(arch: str, lines: int) -> None:
    """One dword of each lane's private array lies beside that of the other lanes: 4 bytes times the wave."""
    at = Buffer(np.arange(128, dtype=np.int32) % 7)
    launch = profile(arch, "indexed", 1, WAVE[arch], at, Buffer(np.zeros(64, np.int32)))
    scratch = [a for a in launch.accesses if a.space == "scratch"]
    (store,) = [a for a in scratch if a.action == "store"]
    (load,) = [a for a in scratch if a.action == "load"]
    assert store.lines == store.executed * lines * (store.bytes // 4)
    assert store.executed * store.bytes == 64 * 4
    # The lanes read seven different dwords: each is a row, of which both halves of a wave want some.
    assert load.lines == 7 * lines


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_flat_accesses_go_where_their_addresses_say(arch: str) -> None:
    wave = WAVE[arch]
    on = np.arange(wave) < 16
    there, out = Buffer(np.zeros(wave, np.int32)), Buffer(np.zeros(wave, np.int32))
    for in_lds, cycles, lines in ((on, wave // 32, wave * 4 // 128), (~on, wave // 32, 1), (on | True, wave // 32, 0)):
        launch = profile(arch, "either", 1, wave, Buffer(in_lds.astype(np.int32)), there, out)
        (cost,) = [a for a in launch.accesses if a.space == "flat"]
        assert (cost.bank_cycles, cost.conflict_cycles, cost.lines) == (cycles, 0, lines)
        assert launch.counters["SQ_INSTS_FLAT"] == 1


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_large_launches_are_followed_in_part_and_say_so(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    size = 1 << 19
    arguments = Buffer(np.zeros(size, np.uint8)), Buffer(np.zeros(size, np.uint8))
    whole = profile(arch, "copy_16", size // 4096, 256, *arguments)
    monkeypatch.setattr(device_module, "PROFILED", (1_000_000, 1000))
    part = profile(arch, "copy_16", size // 4096, 256, *arguments)
    assert whole.sampled is None
    assert part.sampled is not None
    followed, of = part.sampled
    assert (of, 1 <= followed < 64) == (128, True)
    for name in (
        ("TCC_BUBBLE", "TCC_EA0_WRREQ_64B", "TCP_TCC_READ_REQ") if arch == "gfx942" else ("GL2C_EA_RDREQ_128B",)
    ):
        assert part.counters[name] == pytest.approx(whole.counters[name], rel=0.01)
    exact = [(a.lines, a.quads, a.lanes, a.executed) for a in whole.accesses]
    assert [(a.lines, a.quads, a.lanes, a.executed) for a in part.accesses] == exact
    monkeypatch.setattr(device_module, "PROFILED", (500, 1000))  # not even all patterns are looked at
    few = profile(arch, "copy_16", size // 4096, 256, *arguments)
    assert [(a.lines, a.quads, a.lanes, a.executed) for a in few.accesses] == exact
    assert few.sampled is not None


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_random_addresses_are_sampled_the_same_way_each_time(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An access with a new pattern counts as one more for each lane. What earlier launches knew makes no difference,
    and the part that is looked at tells of the whole: random dwords of 4 MiB hardly ever share a line."""
    size, wave = 1 << 16, WAVE[arch]
    places = np.random.default_rng(7).integers(0, 1 << 20, size, dtype=np.int32)
    arguments = Buffer(places), Buffer(np.zeros(1 << 20, np.float32)), Buffer(np.zeros(size, np.float32))
    monkeypatch.setattr(device_module, "PROFILED", (200 * (wave + 6), 1_000_000))  # 6 accesses a wave, one is new
    device(arch).caches.state.epoch = 0
    profile(arch, "gather", size // 256, 256, *arguments)
    device(arch).caches.state.epoch = (1 << 24) - 1  # the next launch is the first again
    first, second = (profile(arch, "gather", size // 256, 256, *arguments) for _ in range(2))
    assert first.sampled == second.sampled
    assert first.accesses == second.accesses
    assert dict(first.counters) == dict(second.counters)
    assert first.sampled is not None
    looked_at, of = first.sampled
    assert (looked_at, of) == (pytest.approx(200 / (256 // wave), rel=0.1), 256)
    value = next(a for a in first.accesses if a.action == "load" and a.lines > a.executed * wave // 2)
    assert value.executed == size // wave
    assert value.lines == pytest.approx(size, rel=0.02)


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_profiles_repeat(arch: str) -> None:
    """Twice the same launch, with others between: every number is the same, as caches begin empty each time."""
    size = 1 << 16
    arguments = Buffer(np.zeros(size, np.uint8)), Buffer(np.zeros(size, np.uint8))
    first = profile(arch, "copy_16", size // 4096, 256, *arguments)
    probe(arch, "read_4", np.arange(WAVE[arch]) * 4, target=arguments[0])
    second = profile(arch, "copy_16", size // 4096, 256, *arguments)
    assert first.accesses == second.accesses
    assert dict(first.counters) == dict(second.counters)


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_a_profile_that_is_read_late_tells_of_its_own_launch(arch: str) -> None:
    """Costs and counters are computed when they are asked for: from what was kept, whatever ran since then."""
    arguments = Buffer(np.zeros(1 << 16, np.uint8)), Buffer(np.zeros(1 << 16, np.uint8))
    first = profile(arch, "copy_16", 16, 256, *arguments)
    expected = first.lines, first.instructions, first.accesses, dict(first.counters)
    late = profile(arch, "copy_16", 16, 256, *arguments)
    other = profile(arch, "copy_16", 4, 128, *arguments)
    assert other.counters["SQ_WAVES"] == 4 * 128 // WAVE[arch]
    assert (late.lines, late.instructions, late.accesses, dict(late.counters)) == expected


@pytest.mark.parametrize("arch", architectures.names())
def test_every_architecture_counts(arch: str) -> None:
    """A copy of 16 bytes a lane on each: all of it is read once from memory and written back once."""
    size = 1 << 16
    launch = profile(
        arch, "copy_16", size // 4096, 256, Buffer(np.zeros(size, np.uint8)), Buffer(np.zeros(size, np.uint8))
    )
    (load,) = [a for a in launch.accesses if a.space == "global" and a.action == "load"]
    assert load.lines * load.line_bytes == load.requested_bytes == load.memory_bytes == size
    got = launch.counters
    written = next(got[name] for name in ("GL2C_EA_WRREQ_64B", "TCC_EA_WRREQ_64B", "TCC_EA0_WRREQ_64B") if name in got)
    assert written * 64 == size


def test_checked_runs_can_be_profiled() -> None:
    """Two observers in one launch."""
    import gpulab

    source = "__global__ void twice(float* x) { int i = blockIdx.x * 64 + threadIdx.x; x[i] = 2 * x[i]; }"
    with gpulab.using("gfx942"):
        kernel = gpulab.compile(source)["twice"]
        x = gpulab.to_device(np.ones(256, np.float32))
        with gpulab.profile() as plain:
            kernel[4, 64](x)
        with gpulab.checked(), gpulab.profile() as checked:
            kernel[4, 64](x)
    costs = [[(a.space, a.lines, a.quads, a.lanes) for a in run.launches[0].accesses] for run in (plain, checked)]
    assert costs[0] == costs[1]
    assert sum(lines for _, lines, *_ in costs[0]) >= 16


def test_a_sample_has_the_addresses_and_whose_they_are() -> None:
    data = Buffer(np.zeros(64 * 128, np.uint8))
    on = np.arange(64) % 3 == 0
    (sample,) = probe("gfx942", "read_4", 128 * np.arange(64), on, data).samples
    assert sample.addresses == tuple(data.address + 128 * lane if on[lane] else None for lane in range(64))
    assert sample.exec_mask == sum(1 << lane for lane in range(64) if on[lane])
    assert (sample.kind, sample.space, sample.bytes, sample.part) == ("worst", "global", 4, 0)
    assert (sample.workgroup, sample.wave, sample.lines) == ((0, 0, 0), 0, 22)
    (memory,) = sample.memory
    assert (memory.address, memory.size) == (data.address, 64 * 128)


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_the_worst_and_the_first_execution(arch: str) -> None:
    """Consecutive dwords first; then every dword in a line of its own; then one lane alone, which wastes less."""
    wave = WAVE[arch]
    data = Buffer(np.zeros(128 * wave, np.uint8))
    at = np.stack([4 * np.arange(wave), 128 * np.arange(wave), np.zeros(wave), 4 * np.arange(wave)])
    done = profile(arch, "walk", 1, wave, Buffer(at.astype(np.int32)), np.int32(4), data, Buffer(np.zeros(wave, int)))
    (cost,) = [a for a in done.accesses if a.executed == 4 and "(from + a)" in a.where.text]
    worst, first = cost.samples
    assert (worst.kind, worst.lines) == ("worst", wave)
    assert worst.addresses == tuple(data.address + 128 * lane for lane in range(wave))
    assert (first.kind, first.lines) == ("first", wave * 4 // 128)
    assert first.addresses == tuple(data.address + 4 * lane for lane in range(wave))
    assert {m.address for m in first.memory} == {data.address}


def test_the_worst_execution_is_found_where_only_the_alignment_changes() -> None:
    """The same pattern four times; from 64 bytes into a line it takes three lines instead of two."""
    data = Buffer(np.zeros(4096, np.uint8))
    at = np.stack([4 * np.arange(64) + start for start in (0, 128, 64, 0)])
    done = profile("gfx942", "walk", 1, 64, Buffer(at.astype(np.int32)), np.int32(4), data, Buffer(np.zeros(64, int)))
    (cost,) = [a for a in done.accesses if a.executed == 4 and "(from + a)" in a.where.text]
    assert [(s.kind, s.lines, s.addresses[0]) for s in cost.samples] == [
        ("worst", 3, data.address + 64), ("first", 2, data.address)
    ]  # fmt: skip


def test_samples_of_scratch_and_of_generic_addresses() -> None:
    out = Buffer(np.zeros(64, np.int32))
    at = Buffer(np.arange(128, dtype=np.int32))
    done = profile("gfx942", "indexed", 1, 64, at, out)
    stores = [a for a in done.accesses if a.space == "scratch" and a.action == "store"]
    sample = stores[0].samples[0]
    first = sample.addresses[0]
    assert sample.space == "scratch"
    assert first is not None
    assert sample.addresses == tuple(first + 4 * lane for lane in range(64))  # a dword of all lanes lies together

    half = Buffer((np.arange(64) % 2).astype(np.int32))
    there = Buffer(np.arange(64, dtype=np.int32))
    done = profile("gfx942", "either", 1, 64, half, there, out)
    (cost,) = [a for a in done.accesses if a.space == "flat" and a.action == "load"]
    spaces = {s.space: s for s in cost.samples}
    assert spaces["global"].addresses == tuple(there.address + 4 * n if n % 2 == 0 else None for n in range(64))


def test_a_launch_without_a_profile_takes_no_samples() -> None:
    kernel = module("gfx942").kernels["copy_16"]
    one, other = Buffer(np.zeros(4096, np.uint8)), Buffer(np.zeros(4096, np.uint8))
    kernel.code()
    device("gfx942").launch(kernel, (4, 1, 1), (64, 1, 1), 0, pack(one, other))
    assert kernel.code().observer.samples is None


#: By device: instances, sets, ways, and places of a set (16, 32 or 64) of the vector cache, GL1, L2, the last level and
#: the scalar cache; none: 0. MI300X: 304 CUs with 32 KiB of 64 ways, 4 MiB of L2 in each of 8 dies, then 256 MiB.
MODELLED = {
    "gfx942": ((304, 4, 64, 64), (0, 0, 0, 0), (8, 2048, 16, 16), (1, 131072, 16, 16), (152, 64, 4, 16)),
    "gfx90a": ((110, 4, 64, 64), (0, 0, 0, 0), (1, 4096, 16, 16), (0, 0, 0, 0), (55, 64, 4, 16)),
    "gfx1030": ((72, 32, 4, 16), (8, 64, 16, 16), (1, 2048, 16, 16), (1, 65536, 16, 16), (36, 64, 4, 16)),
    "gfx1100": ((96, 8, 32, 32), (12, 128, 16, 16), (1, 3072, 16, 16), (1, 49152, 16, 16), (48, 64, 4, 16)),
    "gfx1201": ((64, 16, 16, 16), (0, 0, 0, 0), (1, 4096, 16, 16), (1, 32768, 16, 16), (32, 64, 4, 16)),
}


@pytest.mark.parametrize("arch", MODELLED)
def test_caches_as_they_are_modelled(arch: str) -> None:
    """The bytes of a level are its sets by its ways by its line; of caches whose ways AMD does not tell, 16 ways, or 4
    of the scalar ones."""
    a, state = architectures.get(arch), Caches(architectures.get(arch)).state
    levels = [getattr(state, name) for name in ("first", "array", "l2", "memory", "scalar")]
    assert tuple((each.instances, each.sets, each.ways, each.stride) for each in levels) == MODELLED[arch]
    line = a.vector_cache.line_bytes
    assert [each.sets * each.ways * size for each, size in zip(levels, (line, 128, 128, 128, 64), strict=True)] == [
        cache.bytes if cache else 0
        for cache in (a.vector_cache, a.shader_array_cache, a.l2_cache, a.last_level_cache, a.scalar_cache)
    ]
    assert (1 << state.shift, state.banks, state.xcds * state.units * state.cus) == (line, 32, levels[0].instances)
    assert state.memory_bytes == levels[3].sets * 2048
    assert (state.has_array, state.has_memory) == (levels[1].instances > 0, levels[3].instances > 0)


@pytest.mark.parametrize(
    ("waves", "side"),
    [(1, 65), (9, 65), (10, 33), (19, 33), (20, 17), (38, 17), (39, 9), (72, 9), (73, 5), (129, 5), (130, 3), (216, 3),
     (217, 2), (324, 2), (325, 1), (700, 1)],
)  # fmt: skip
def test_the_side_of_a_sample(waves: int, side: int) -> None:
    """648 waves at the most; a side is a power of two and one, so that a line which neighbours share ends in it as
    often as elsewhere. It lies in the middle."""
    assert box((100_000, 1, 1), waves) == (((100_000 - side) // 2, 0, 0), (side, 1, 1))
    assert box((1, 1, 100_000), waves) == ((0, 0, (100_000 - side) // 2), (1, 1, side))


@pytest.mark.parametrize(
    ("grid", "waves", "words", "events"),
    [
        ((1, 1, 1), 1, 131072, 65534), ((100_000, 1, 1), 1, 131072 // 65, 65536 // 65), ((1, 5, 1), 2, 13107, 6553),
        ((2, 3, 1), 3, 7281, 3640), ((1, 1, 7), 4, 4681, 2340), ((1, 1, 1), 648, 512, 101),
    ],
)  # fmt: skip
def test_how_much_of_each_wave_a_sample_has(grid: tuple[int, int, int], waves: int, words: int, events: int) -> None:
    """131,072 words of logs and 65,536 accesses for all waves together; of each 512 words at the least."""
    sample = Caches(architectures.get("gfx1100")).sample(grid, waves)
    begin, size = box(grid, waves)
    assert (tuple(sample.begin), tuple(sample.size), sample.waves) == (begin, size, waves)
    assert (sample.words, sample.events) == (words, events)


def test_room_for_what_a_launch_leaves_behind() -> None:
    """A number of waves, counts of blocks, three of each access in LDS, words of each log, the logs: twice what the
    first kernel needs, so that one a little larger finds room."""
    caches = Caches(architectures.get("gfx1100"))
    logs = 4 * 648 + 4 * (131072 + 512 * 648)
    first = caches.seen(10, 5)
    assert caches._seen_bytes == 2 * (8 * 11 + 24 * 5 + logs)
    blocks = (caches._seen_bytes - logs) // 8 - 1
    assert caches.seen(blocks, 0) == caches.seen(1, 1) == first
    assert caches.seen(blocks + 1, 0) != first
    assert caches._seen_bytes == 2 * (8 * (blocks + 2) + logs)
