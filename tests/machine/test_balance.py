"""Launches whose workgroups wait for each other, or do different amounts of work (waiting.py, balance.py, loops.py)."""

from __future__ import annotations

import functools
import struct

import numpy as np
import pytest

from gpulab import architectures, toolchain
from gpulab.virtual_gpu.isa.assembly import parse
from gpulab.virtual_gpu.machine import balance, loops, sample, unit
from gpulab.virtual_gpu.machine.device import VirtualDevice
from gpulab.virtual_gpu.machine.loading import LoadedKernel
from gpulab.virtual_gpu.machine.waiting import Waits
from tests.machine.test_timing import bench, memory, within
from tests.translate.kernels import ARCHITECTURES

SOURCE = """
#define LOAD(p) __hip_atomic_load(p, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT)
#define STORE(p, x) __hip_atomic_store(p, x, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT)

extern "C" {
__global__ void by_all_lanes(unsigned* f, unsigned* out) {
  while (LOAD(f + threadIdx.x) == 0) __builtin_amdgcn_s_sleep(1);
  out[threadIdx.x] = 1;
}
__global__ void with_a_limit(unsigned* f, unsigned* out) {
  for (int n = 0; LOAD(f) == 0; n++) if (n > 1000) { out[1] = 1; break; }
}
__global__ void with_a_lock(unsigned* f, unsigned* out) {
  if (threadIdx.x) return;
  while (atomicCAS(f, 0u, 1u) != 0) __builtin_amdgcn_s_sleep(8);
  out[0]++;
  STORE(f, 0u);
}
__global__ void atomic_maximum(unsigned* f, unsigned* out) {
  unsigned old = *f, x = out[threadIdx.x];
  while (__uint_as_float(old) < __uint_as_float(x)) {
    unsigned seen = atomicCAS(f, old, x);
    if (seen == old) break;
    old = seen;
  }
}
__global__ void chase(unsigned* f, unsigned* out) { unsigned i = 0; while ((i = f[i]) != 0); out[0] = i; }
__global__ void look_again(volatile unsigned* f, unsigned* out, int n) {
  unsigned sum = 0;
  for (int i = 0; i < n; i++) sum += f[threadIdx.x];
  out[threadIdx.x] = sum;
}

__device__ int place(int tile, int n) {
  int across = n / 8;
  return (tile / across * 8 + threadIdx.x / 8) * n + tile % across * 8 + threadIdx.x % 8;
}
__device__ float products(int tile, int from, int to, int n, int k, const float* a, const float* b) {
  int row = place(tile, n) / n, column = place(tile, n) % n;
  float sum = 0;
  for (int i = 8 * from; i < 8 * to; i++) sum += a[row * k + i] * b[i * n + column];
  return sum;
}
__global__ void shares(int n, int k, int groups, const float* a, const float* b, float* c, float* parts) {
  int steps = k / 8, all = steps * (n / 8) * (n / 8), share = (all + groups - 1) / groups;
  for (int i = blockIdx.x * share, last = min(i + share, all); i < last;) {
    int tile = i / steps, from = i % steps, to = min(steps, from + last - i);
    float sum = products(tile, from, to, n, k, a, b);
    if (from == 0) c[place(tile, n)] = sum; else parts[blockIdx.x * 64 + threadIdx.x] = sum;
    i += to - from;
  }
}
__global__ void fix_up(int n, int k, int groups, const float* parts, float* c) {
  int steps = k / 8, all = steps * (n / 8) * (n / 8), share = (all + groups - 1) / groups;
  int first = blockIdx.x * steps, last = first + steps - 1;
  float sum = c[place(blockIdx.x, n)];
  for (int g = first / share + 1; g <= last / share; g++) sum += parts[g * 64 + threadIdx.x];
  c[place(blockIdx.x, n)] = sum;
}
__global__ void in_one_launch(int n, int k, int groups, const float* a, const float* b, float* c, float* parts,
                              unsigned* flags) {
  int steps = k / 8, all = steps * (n / 8) * (n / 8), share = (all + groups - 1) / groups;
  for (int i = blockIdx.x * share, last = min(i + share, all); i < last;) {
    int tile = i / steps, from = i % steps, to = min(steps, from + last - i);
    float sum = products(tile, from, to, n, k, a, b);
    if (from) {
      parts[blockIdx.x * 64 + threadIdx.x] = sum;
      __threadfence();
      __syncthreads();
      if (threadIdx.x == 0) STORE(flags + blockIdx.x, 1u);
    } else {
      for (int g = blockIdx.x + 1; g <= ((tile + 1) * steps - 1) / share; g++) {
        if (threadIdx.x == 0) while (LOAD(flags + g) == 0) {}
        __syncthreads();
        sum += parts[g * 64 + threadIdx.x];
      }
      c[place(tile, n)] = sum;
    }
    i += to - from;
  }
}

__global__ void turns(const int* n, float* out, float a) {
  float x = threadIdx.x, y = 1, z = 2;
  for (int i = 0, end = n[blockIdx.x]; i < end; i++) { x = x * a + y; y = y * a + z; z = z * a + x; }
  out[blockIdx.x * 256 + threadIdx.x] = x + y + z;
}
__global__ void taken(const int* n, float* out, float a, int* next, int all) {
  __shared__ int mine;
  for (;;) {
    if (threadIdx.x == 0) mine = atomicAdd(next, 1);
    __syncthreads();
    int i = mine;
    __syncthreads();
    if (i >= all) return;
    float x = threadIdx.x, y = 1, z = 2;
    for (int j = 0; j < n[i]; j++) { x = x * a + y; y = y * a + z; z = z * a + x; }
    out[i * 256 + threadIdx.x] = x + y + z;
  }
}
}
"""


@functools.cache
def kernels(arch: str) -> tuple[VirtualDevice, dict[str, LoadedKernel]]:
    device = VirtualDevice(architectures.get(arch), bench().arena(), 0)
    source = "#include <hip/hip_runtime.h>\n" + SOURCE
    code = toolchain.compile(source, arch=arch, name="balance.hip")
    module = device.load(parse(code.assembly, {code.name: source}, guarantees=code.guarantees))
    return device, dict(module.kernels)


def launch(arch, name, grid, block, *arguments, **more):  # type: ignore[no-untyped-def]
    device, known = kernels(arch)
    done = device.launch(
        known[name], bench().extent(grid), bench().extent(block), 0, bench().pack(arguments), **more
    )  # fmt: skip
    assert done.fault is None
    return done.time


@pytest.mark.full
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_loops_that_wait_are_found(arch):
    """Those that look at the same place until it lets them go on; no others that read the same place again."""
    _, known = kernels(arch)
    found = set()
    for name, kernel in known.items():
        t = kernel.code().translation
        after = loops.ways(t.blocks, t.decoded, kernel.module.program.labels)
        if Waits.of(t.blocks, t.decoded, after, loops.natural(after)):
            found.add(name)
    assert found == {"by_all_lanes", "with_a_limit", "with_a_lock", "in_one_launch"}


@pytest.mark.full
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_a_product_whose_workgroups_wait_for_flags_takes_as_long_as_its_two_launches(arch):
    """Stream-K in one launch. What a workgroup waits for was done at the beginning of another one's share. How often a
    wave turned before the host ran that one is not in the time: on one thread or two, of whatever speed."""
    n, k, groups = 96, 128, 128
    random = np.random.default_rng(1)
    a, b = (bench().Memory(4 * n * k, random.integers(1, 16, n * k).astype(np.float32)) for _ in range(2))
    c, parts, flags = bench().Memory(4 * n * n), bench().Memory(256 * groups), bench().Memory(4 * groups)
    two = launch(arch, "shares", groups, 64, n, k, groups, a, b, c, parts)
    fix_up = launch(arch, "fix_up", (n // 8) ** 2, 64, n, k, groups, parts, c)
    expected, times = c.array(np.float32).copy(), []
    for workers in (1, 2, 2):
        c.array(np.float32)[:] = 0
        flags.array(np.uint32)[:] = 0
        times.append(launch(arch, "in_one_launch", groups, 64, n, k, groups, a, b, c, parts, flags, workers=workers))
        assert (c.array(np.float32) == expected).all()
    for memory_ in (a, b, c, parts, flags):
        memory_.free()
    assert times == [times[0]] * 3
    assert within(times[0].us, two.us + fix_up.us - fix_up.overhead_us, 1.3)
    assert [line.split(":")[0] for line in times[0].lacks] == ["waiting"]


def test_a_loop_whose_head_does_not_stand_first():
    """Blocks 1 to 4: 1 goes back to 2 from behind, as compilers lay out a loop with a way around (grid barriers)."""
    after = [[2], [2], [3, 4], [2, 5], [1, 5], []]
    assert loops.natural(after) == {2: frozenset({1, 2, 3, 4})}
    # One loop in another, and a way into the middle of a third, which then has no head that all pass.
    assert loops.natural([[1], [2], [2, 3], [1, 4], []]) == {1: frozenset({1, 2, 3}), 2: frozenset({2})}
    assert loops.natural([[1, 2], [2], [1, 3], []]) == {}


def test_a_way_back_to_the_end_is_no_loop():
    """The end of the kernel, block 2, stands before its loop, of blocks 4 to 6: compilers do so where several ways lead
    to the end. The loop's turns follow each other, and none of its blocks stands for several in one visit."""
    after = [[1, 3], [2, 8], [], [5], [5, 7], [6, 4], [4], [2, 8], [2]]
    assert loops.natural(after) == {5: frozenset({4, 5, 6})}
    parts = unit.nest(len(after), loops.natural(after))
    assert parts == (0, 1, 2, 3, unit.Loop((5, 6, 4)), 7, 8)
    (path,) = unit.streams(parts, [1, 0, 1, 1, 3, 3, 3, 1, 1], 1, 256)
    assert path == [(0, 1), (2, 1), (3, 1), *[(5, 1), (6, 1), (4, 1)] * 3, (7, 1), (8, 1)]


def device(**more: float) -> balance.Device:
    return balance.Device(
        **{"dies": 1, "units": 1, "slots": 1, "each": 1.0, "start": 0.0, "step": 0.0, "filled": 1.0, "most": 1e9} | more  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("more", "amounts", "clocks", "heaviest"),
    [
        ({}, [3, 1, 2], 6, 6),
        ({"units": 2}, [3, 1, 1, 1, 4], 7, 7),  # the last one waits until both are free
        ({"units": 2}, [4, 3, 1, 1, 1], 5, 5),
        ({"dies": 2}, [5, 1, 5, 1], 10, 10),  # workgroups go round the dies
        ({"slots": 2, "filled": 2.0}, [4, 4], 4, 8),
        ({"slots": 2}, [4, 4], 8, 8),  # two share what one can use
        ({"slots": 2}, [2, 6], 8, 8),
        ({"slots": 2, "filled": 1.5}, [3, 6], 4 + 3, 9),  # 3 of each at 3/4 of the speed, then 3 more at full speed
        ({"units": 2, "most": 1.0}, [4, 4], 8, 4),  # what all units use serves one
        ({"units": 2, "most": 1.0}, [2, 4], 4 + 2, 4),
        ({"start": 10.0, "each": 2.0}, [3, 1], 10 + 6 + 10 + 2, 4),
        ({"units": 2, "step": 5.0}, [1, 1, 1], 11, 2),
        ({}, [0, 0], 0, 0),
    ],
)
def test_the_last_end(more, amounts, clocks, heaviest):
    found = balance.last_end(device(**more), len(amounts), struct.pack(f"={len(amounts)}Q", *amounts))
    assert found == (pytest.approx(clocks), heaviest)


@pytest.mark.parametrize(
    ("more", "amounts", "wanted"),
    [
        ({}, [3, 1], [(0, 0, 0, 3), (0, 0, 3, 4)]),
        # The third goes to the unit that is free first, the last one there as well.
        ({"units": 2}, [4, 1, 1, 5], [(0, 0, 0, 4), (1, 0, 0, 1), (1, 0, 1, 2), (1, 0, 2, 7)]),
        ({"dies": 2}, [5, 1, 5, 1], [(0, 0, 0, 5), (0, 0, 0, 1), (0, 0, 5, 10), (0, 0, 1, 2)]),
        # At 3 both units have one: it is the turn of the first, whose two then go on at half the speed until 5.
        ({"units": 2, "slots": 2, "step": 1.0}, [6, 1, 2, 1], [(0, 0, 0, 7), (1, 0, 1, 2), (1, 0, 2, 4), (0, 1, 3, 5)]),
        ({"slots": 2, "filled": 2.0}, [4, 2, 1], [(0, 0, 0, 4), (0, 1, 0, 2), (0, 1, 2, 3)]),
        ({"units": 2, "most": 1.0}, [2, 4], [(0, 0, 0, 4), (1, 0, 0, 6)]),  # what all use serves one
        ({"start": 10.0}, [3, 1], [(0, 0, 0, 13), (0, 0, 13, 24)]),  # a place is taken from the start on
    ],
)
def test_where_and_when_each_runs(more, amounts, wanted):
    found = balance.stays(device(**more), struct.pack(f"={len(amounts)}Q", *amounts))
    assert [(unit, place, pytest.approx(start), pytest.approx(end)) for unit, place, start, end in wanted] == found
    clocks, _ = balance.last_end(device(**more), len(amounts), struct.pack(f"={len(amounts)}Q", *amounts))
    assert max(end for *_, end in found) == pytest.approx(clocks)


@functools.cache
def time(arch: str, *amounts: int) -> float:
    n = len(amounts)
    each, out = bench().Memory(4 * n, np.array(amounts, np.int32)), memory(1 << 26)
    found = launch(arch, "turns", n, 256, each, out, 1.5)
    each.free()
    assert found.lacks == ()
    assert found.limiter in {"launch overhead", "uneven workgroups", *found.parts}
    assert "uneven workgroups" not in found.parts  # which has units, that are busy, and the latency
    return found.us - found.overhead_us


@pytest.mark.parametrize("arch", ARCHITECTURES)
class TestUneven:
    def test_one_workgroup_on_each_unit_lasts_as_long_as_the_longest(self, arch):
        units = architectures.get(arch).multiprocessors
        assert within(time(arch, *[100] * (units // 2), *[400] * (units - units // 2)), time(arch, *[400] * units), 1.1)
        alone = time(arch, 4000)
        assert within(time(arch, *[100] * (units - 1), 4000), alone, 1.25)

    def test_long_ones_first_are_better(self, arch):
        """24 for each unit, of which several run at a time. Nothing is shorter than the same work in equal parts."""
        many = architectures.get(arch).multiprocessors * 24
        rising = [1 + 200 * i // many for i in range(many)]
        equal = time(arch, *[100] * many)
        assert 0.97 * equal < time(arch, *reversed(rising)) <= time(arch, *rising) < 1.2 * equal
        late, early = (time(arch, *way) for way in ([*[100] * (many - 1), 4000], [4000, *[100] * (many - 1)]))
        assert time(arch, 4000) < early < late
        assert within(late, equal + time(arch, 4000), 1.15)

    def test_those_that_have_nothing_to_do_leave_the_others_where_they_are(self, arch):
        """One of 11 works, 2 for each unit: the dispatcher does not know which, so that some units get more."""
        units = architectures.get(arch).multiprocessors
        equal = time(arch, *[1000] * (2 * units))
        assert equal < time(arch, *([1000] + [0] * 10) * (2 * units)) < 2.5 * equal


def test_work_for_one_of_eight_dies():
    """Workgroups go round the dies of an MI300X by their number: every eighth one is on the same die."""
    spread, one = (time("gfx942", *([1000] + [0] * (apart - 1)) * 608) for apart in (9, 8))
    assert one > 2.5 * spread


def test_work_that_is_taken_by_turns_is_shared_out_evenly():
    """The first workgroup that the host runs takes all there is, as nobody else runs yet: hardware does not."""
    each = bench().Memory(4 * 4096, np.full(4096, 100, np.int32))
    out, following = memory(1 << 26), bench().Memory(4)
    found = launch("gfx942", "taken", 608, 256, each, out, 1.5, following, 4096)
    each.free()
    following.free()
    assert [line.split(":")[0] for line in found.lacks] == ["uneven work"]
    assert within(found.us - found.overhead_us, time("gfx942", *[100] * 4096), 2)


def test_crowded_channels():
    """Of 32: one workgroup asks for 4, a row of 9 for 12, of which the busiest has 6 times what it would if all had the
    same. 17 workgroups ask for 20; 41 ask for all."""
    channels = sample.Channels(32, 9, [sample.Crowd(fair=1, busiest=6, one=4, row=12)])
    assert channels.crowded(9) == pytest.approx(32 / 12)
    assert channels.crowded(17) == pytest.approx(32 / 20)
    assert channels.crowded(41) == 1
    alike = sample.Channels(32, 9, [sample.Crowd(fair=1, busiest=6, one=4, row=4), sample.Crowd(1, 1, 32, 32)])
    assert alike.crowded(1000) == pytest.approx((6 + 1) / 2)
    assert sample.Channels(32, 9, []).crowded(9) == 1  # where nothing was asked, no channel has more than others


def test_a_pitch_of_a_power_of_two_is_named_beside_the_time():
    """Transposes of 8192 x 8192 doubles (rows of 64 KiB) took 3 to 5 times as long on an MI210 as is modelled:
    amd/HPCTrainingExamples. Copies and small strides use all channels."""
    n, m, x, y = 8192, bench().machine("gfx90a"), memory(1 << 29), memory(1 << 29, 1)
    time = m.time("transpose_read", (n // 16, n // 16), (16, 16), x, y, n)
    (line,) = time.lacks
    assert line.startswith("channels: ")
    assert float(line.split("up to ")[1].split()[0]) > 5
    for name, more in (("copy", ()), ("copy4", ()), ("strided", (2,)), ("strided", (8,))):
        assert m.time(name, 1 << 16, 256, x, y, *more).lacks == ()
