"""Arrays that cross a multiple of 4 GiB, and more than 4 GiB of them: results, faults and counters are as elsewhere.

What numpy makes of the same bytes is expected. Reserved addresses cost nothing: they bring a small array to its place.
"""

from __future__ import annotations

import functools
import struct
import time

import numpy as np
import pytest

from gpulab import architectures, toolchain
from gpulab.records import Launch
from gpulab.virtual_gpu.isa.assembly import parse
from gpulab.virtual_gpu.machine import arena, computer, loading
from gpulab.virtual_gpu.machine.arena import GAP, SIZE, Arena
from gpulab.virtual_gpu.machine.device import VirtualDevice
from gpulab.virtual_gpu.machine.loading import LoadedModule
from tests.translate.kernels import ARCHITECTURES

TYPES = {1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "uint2", 16: "uint4"}
SOURCE = "#include <hip/hip_runtime.h>\n#define I (blockIdx.x * blockDim.x + threadIdx.x)\n" + "\n".join(
    f"""extern "C" __global__ void copy_{w}(const {t}* from, {t}* to) {{ to[I] = from[I]; }}
extern "C" __global__ void gather_{w}(const long long* at, const {t}* from, {t}* to) {{ to[I] = from[at[I]]; }}
extern "C" __global__ void scatter_{w}(const long long* at, const {t}* from, {t}* to) {{ to[at[I]] = from[I]; }}"""
    for w, t in TYPES.items()
)
SOURCE += """
extern "C" __global__ void count(const long long* at, unsigned* to) { atomicAdd(to + at[I], 1u); }
extern "C" __global__ void neighbours(const int* from, int* to) {
  int i = I;
  if (i < 1024 || i >= gridDim.x * blockDim.x - 1024) return;
  to[i] = from[i - 1024] + from[i - 1] + from[i + 1] + from[i + 1024];
}
extern "C" __global__ void all_of(const int* __restrict__ from, int n, int* out) {  // the same address in all lanes
  int sum = 0;
#pragma clang loop unroll(disable)
  for (int i = 0; i < n; i++) sum += from[i] * (i | 1);
  out[I] = sum;
}
extern "C" __global__ void one_place(int* to) { to[I / 64] = I; }
extern "C" __global__ void far(const float* a, const float* b, float* c, unsigned long long step) {
  unsigned long long i = I * step;
  c[i] = a[i] + 2 * b[i];
}
"""
HALF = 256 << 10  # bytes on both sides of the multiple: more than the 64 KiB that are always looked up


class Machine:
    """A device whose memory is its own."""

    def __init__(self, arch: str) -> None:
        self.arena = Arena()
        self.device = VirtualDevice(architectures.get(arch), self.arena, 0)
        code = toolchain.compile(SOURCE, arch=arch, name="wide.hip")
        parsed = parse(code.assembly, {code.name: SOURCE}, guarantees=code.guarantees)
        self.module: LoadedModule = self.device.load(parsed)

    def across(self, size: int, before: int, kind: str = "device") -> int:
        """An array that has so many bytes before the next multiple of 4 GiB (after what is there)."""
        start = self.arena.allocate(1, "reserved", 0)
        start = max(start, *(a.address + a.size for a in self.arena.allocations())) + GAP
        start = -(-start // 256) * 256
        boundary = -(-(start + before + GAP + 256) // SIZE) * SIZE
        self.arena.allocate(boundary - before - start - GAP, "reserved", 0)
        address = self.arena.allocate(size, kind, 0)
        assert address == boundary - before
        return address

    def put(self, values: np.ndarray) -> int:
        address = self.arena.allocate(values.nbytes, "device", 0)
        self.arena.view(address, values.nbytes)[:] = values.tobytes()
        return address

    def get(self, address: int, dtype: str, count: int) -> np.ndarray:
        return np.frombuffer(bytes(self.arena.view(address, count * np.dtype(dtype).itemsize)), dtype)

    def run(self, name: str, grid: int, block: int, *arguments: int, **options: str) -> Launch:
        kernel, packed = self.module.kernels[name], struct.pack(f"<{len(arguments)}Q", *arguments)
        return self.device.launch(kernel, (grid, 1, 1), (block, 1, 1), 0, packed, **options)


@functools.cache
def machine(arch: str) -> Machine:
    return Machine(arch)


@pytest.fixture(autouse=True)
def much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is allocated here is hardly touched; and small arrays lie across a multiple of 4 GiB, too."""
    monkeypatch.setattr(computer, "memory", lambda: 32 << 30)
    monkeypatch.setattr(computer, "unused", lambda promised: None)
    monkeypatch.setattr(arena, "WHOLE", 0)


@pytest.fixture(params=ARCHITECTURES)
def m(request: pytest.FixtureRequest) -> Machine:
    found = machine(request.param)
    kept = {a.address for a in found.arena.allocations()}
    request.addfinalizer(  # noqa: PT021
        lambda: [found.arena.free(a.address) for a in found.arena.allocations() if a.address not in kept]
    )
    return found


def noise(size: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, size).astype(np.uint8)


@pytest.mark.full
@pytest.mark.parametrize("width", TYPES)
@pytest.mark.parametrize("collect", ["", "profile", "checked"])
def test_copies_and_gathers_across(m: Machine, width: int, collect: str) -> None:
    options = {"collect": "profile"} if collect == "profile" else {"checked": True} if collect else {}
    size, count = 2 * HALF, 1 << 14
    data = noise(size)
    a, b = m.across(size, HALF), m.across(size, HALF)
    m.arena.view(a, size)[:] = data.tobytes()
    m.arena.written(a, size)
    assert m.arena.is_wide
    elements = data.reshape(-1, width)
    middle = HALF // width - count // 2
    for first in (middle, middle - 3, 0, size // width - count):
        m.arena.view(b, size)[:] = bytes(size)
        done = m.run(f"copy_{width}", count // 256, 256, a + first * width, b + first * width, **options)
        assert done.fault is None, done.fault
        wanted = np.zeros_like(elements)
        wanted[first : first + count] = elements[first : first + count]
        assert (m.get(b, "u1", size).reshape(-1, width) == wanted).all()
    random = np.random.default_rng(2)
    at = random.permutation(size // width)[:count] if size // width > count else random.permutation(count)
    count = len(at) // 64 * 64
    places, out = m.put(at[:count].astype(np.int64)), m.put(np.zeros(count * width, np.uint8))
    m.arena.written(places, count * 8)
    done = m.run(f"gather_{width}", count // 64, 64, places, a, out, **options)
    assert done.fault is None, done.fault
    assert (m.get(out, "u1", count * width).reshape(-1, width) == elements[at[:count]]).all()
    m.arena.view(b, size)[:] = bytes(size)
    done = m.run(f"scatter_{width}", count // 64, 64, places, out, b, **options)
    assert done.fault is None, done.fault
    wanted = np.zeros_like(elements)
    wanted[at[:count]] = elements[at[:count]]
    assert (m.get(b, "u1", size).reshape(-1, width) == wanted).all()


def test_atomics_offsets_and_the_same_address(m: Machine) -> None:
    size = 2 * HALF
    a, b = m.across(size, HALF), m.across(size, HALF)
    at = np.random.default_rng(3).integers(0, size // 4, 1 << 13)
    places = m.put(at.astype(np.int64))
    assert m.run("count", len(at) // 64, 64, places, a).fault is None
    assert (m.get(a, "u4", size // 4) == np.bincount(at, minlength=size // 4)).all()
    data = np.random.default_rng(4).integers(-1000, 1000, size // 4).astype(np.int32)
    m.arena.view(a, size)[:] = data.tobytes()
    count = size // 4
    assert m.run("neighbours", count // 256, 256, a, b).fault is None
    wanted = np.zeros_like(data)
    wanted[1024:-1024] = data[:-2048] + data[1023:-1025] + data[1025:-1023] + data[2048:]
    assert (m.get(b, "i4", count) == wanted).all()
    n, out = 4096, m.put(np.zeros(64, np.int32))
    first = HALF // 4 - n // 2
    assert m.run("all_of", 1, 64, a + 4 * first, n, out).fault is None
    wanted = (data[first : first + n] * (np.arange(n) | 1)).sum()
    assert set(m.get(out, "i4", 64).tolist()) == {int(wanted)}


@pytest.mark.parametrize("options", [{}, {"collect": "profile"}, {"checked": True}])
def test_faults_are_exact(m: Machine, options: dict[str, str]) -> None:
    """One element too far, and what is a multiple of 4 GiB away from what is allocated."""
    size = 2 * HALF
    m.arena._freed.clear()  # what lies there was another test's
    a, b = m.across(size, HALF), m.across(size, HALF)
    m.arena.written(a, size)
    fault = m.run("copy_4", size // 1024 + 1, 256, a, b, **options).fault
    assert (fault.kind, fault.address, fault.access) == ("out of bounds", a + size, "read")
    assert (fault.workgroup, fault.thread) == ((size // 1024, 0, 0), (0, 0, 0))
    assert (fault.nearest.address, fault.nearest.relation, fault.nearest.distance) == (a, "after", 0)
    at = np.arange(4096) + HALF // 4 - 2048
    places = m.put(at.astype(np.int64))
    m.arena.written(places, 8 * len(at))
    for lane in (0, 7, 4095):
        for far in (-2, -1, 1, 2):
            wrong = at.copy()
            wrong[lane] += far * (SIZE // 4)
            m.arena.view(places, 8 * len(at))[:] = wrong.astype(np.int64).tobytes()
            for name, access, arguments in (
                ("gather_4", "read", (places, a, b)),
                ("scatter_4", "write", (places, b, a)),
            ):
                fault = m.run(name, 64, 64, *arguments, **options).fault
                if a + 4 * int(wrong[lane]) in range(b, b + size):
                    assert fault is None
                    continue
                assert (fault.kind, fault.access) == ("out of bounds", access)
                assert fault.address == a + 4 * int(wrong[lane])
                assert (fault.workgroup, fault.thread) == ((lane // 64, 0, 0), (lane % 64, 0, 0))


def test_a_checked_launch_finds_lanes_that_write_to_one_place(m: Machine) -> None:
    address = m.across(2 * HALF, HALF)
    fault = m.run("one_place", 1, 64, address + HALF - 4, checked=True).fault
    assert (fault.kind, fault.address) == ("lane conflict", address + HALF - 4)


def test_counters_are_those_of_arrays_below(m: Machine) -> None:
    size = 2 * HALF
    at = np.random.default_rng(5).integers(0, size // 4, 1 << 13)
    seen = []
    for across in (False, True):
        a, b, c = (
            m.across(size, HALF) if across else m.arena.allocate(size, "device", 0, align=HALF) for _ in range(3)
        )
        places = m.put(at.astype(np.int64))
        assert m.arena.is_wide == across
        launches = [
            m.run("copy_16", size // 4096, 256, a, b, collect="profile"),
            m.run("gather_4", len(at) // 64, 64, places, a, c, collect="profile"),
            m.run("count", len(at) // 64, 64, places, a, collect="profile"),
        ]
        seen.append([launch.counters for launch in launches])
        assert all(max(counters.values()) > 1000 for counters in seen[-1])
    assert seen[0] == seen[1]


def test_more_than_4_gib_at_once(m: Machine) -> None:
    """Three arrays of 3 GiB, of which a few elements are used."""
    size = 3 << 30
    a, b, c = (m.arena.allocate(size, "device", 0) for _ in "abc")
    step = size // 4 // 16
    done = m.run("far", 1, 16, a, b, c, step)
    assert done.fault is None
    for i in range(16):
        np.frombuffer(m.arena.view(a + 4 * step * i, 4), np.float32)[:] = i
        np.frombuffer(m.arena.view(b + 4 * step * i, 4), np.float32)[:] = 100 * i
    for options in ({}, {"collect": "profile"}):
        assert m.run("far", 1, 16, a, b, c, step, **options).fault is None
        assert [m.get(c + 4 * step * i, "f4", 1)[0] for i in range(16)] == [201 * i for i in range(16)]
    fault = m.run("far", 1, 17, a, b, c, step).fault
    assert (fault.kind, fault.address, fault.nearest.address) == ("out of bounds", a + size, a)


def test_all_of_a_large_array_is_as_fast(m: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Consecutive elements are one access with one check wherever they lie. (The other way takes ten times as long.)"""
    monkeypatch.setattr(loading, "QUICK_SECONDS", 0.0)  # the first launches are as fast as the last
    a = m.arena.allocate(6 << 30, "device", 0)
    count, seconds = 1 << 17, {}
    for gigabytes in (1, 3, 5):
        place = a + (gigabytes << 30)
        times = []
        for _ in range(12):
            began = time.process_time()
            assert m.run("copy_4", count // 256, 256, place, place + 4 * count).fault is None
            times.append(time.process_time() - began)
        seconds[gigabytes] = min(times)
    assert max(seconds.values()) < 4 * min(seconds.values()), seconds
