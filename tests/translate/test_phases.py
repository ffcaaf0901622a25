"""Workgroups that go from barrier to barrier (translate/phases.py): results, faults and times as in the ordinary way;
which kernels have that way, and that their workgroups take it."""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import gpulab
from gpulab.virtual_gpu.machine import device as device_module
from gpulab.virtual_gpu.machine import loading
from gpulab.virtual_gpu.translate import jit
from tests.translate.ways import ASSEMBLY, Seen, compiled_twice, without_it

WIDE = jit.host().lanes == 16
"""Hosts without AVX-512 do not have that way."""

SOURCE = r"""
#define GIVEN int n, const int* at, const float* x, float* y
#define I int t = threadIdx.x, i = blockIdx.x * 256 + t
extern "C" {
__global__ void reduce(GIVEN) {
    __shared__ float part[256];
    I; part[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (t < step) part[t] += part[t + step];
        __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = part[0];
}
__global__ void reverse(GIVEN) { __shared__ float s[256]; I; s[t] = x[i]; __syncthreads(); y[i] = s[255 - t]; }
__global__ void around(GIVEN) {
    __shared__ float s[258];
    I; s[t + 1] = x[i];
    if (t == 0) s[0] = blockIdx.x ? x[i - 1] : 0.0f;
    if (t == 255) s[257] = x[i + 1];
    __syncthreads();
    y[i] = s[t] + s[t + 1] + s[t + 2];
}
__global__ void scan(GIVEN) {
    __shared__ float s[2][256];
    I; int from = 0;
    s[0][t] = x[i];
#pragma unroll
    for (int step = 1; step < 256; step *= 2) {
        __syncthreads();
        float sum = s[from][t];
        if (t >= step) sum += s[from][t - step];
        from ^= 1;
        s[from][t] = sum;
    }
    y[i] = s[from][t];
}
__global__ void turned(GIVEN) {
    __shared__ float s[256];
    I; s[t] = x[i]; __syncthreads(); y[i] = s[(t + 77) % 256] - s[(t * 5) % 256];
}
__global__ void taken(GIVEN) {
    __shared__ float s[256];
    I; s[at[i] & 255] = x[i]; __syncthreads(); y[i] = s[at[i] & 255] + x[at[i]];
}
// Lanes leave for a while: registers that were written keep what the others have, and keep it past a barrier.
__global__ void chosen(GIVEN) {
    __shared__ float s[256];
    I; float a = x[i], b = 3;
    if (a > 0) { b = a * a; if (t & 1) b -= x[at[i]]; else a = 7; } else a = -a;
    s[t] = a;
    __syncthreads();
    if (b > s[t ^ 3]) { b += s[t ^ 1]; s[t] = b; }
    __syncthreads();
    y[i] = s[t] + a * b;
}
__global__ void few(GIVEN) {
    __shared__ float s[256];
    I; s[t] = i; __syncthreads(); if (x[i] > 1.5f) y[i] = s[255 - t];
}
__global__ void one(GIVEN) {
    __shared__ float s[4];
    I; if (t == 37) s[2] = x[i]; __syncthreads(); y[i] = s[2]; if (t == 201) y[8192 + blockIdx.x] = s[2] + 1;
}
// What other lanes store is not what a lane had loaded before; the others keep their own.
__global__ void old(GIVEN) {
    __shared__ int s[256];
    I; int b = t ^ 100; s[t] = at[i];
    __syncthreads();
    if (x[i] > 0) { b = s[t]; s[t ^ 1] = -i; }
    __syncthreads();
    y[i] = b + 2 * s[t];
}
// The last lane's value stays.
__global__ void collides(GIVEN) {
    __shared__ float s[256];
    I; s[t >> 3] = x[i]; s[at[i] & 15] = t; __syncthreads(); y[i] = s[t];
}
__global__ void doubles(GIVEN) {
    __shared__ double s[256];
    I; s[t] = x[i]; __syncthreads(); y[i] = (float)(s[255 - t] * s[t]);
}
__global__ void fresh(GIVEN) {
    extern __shared__ float s[];
    I; float before = s[t]; __syncthreads(); s[t] = x[i]; __syncthreads(); y[i] = before + s[255 - t];
}
__global__ void uniform(GIVEN) {
    __shared__ float s[256];
    I; s[t] = x[i]; __syncthreads(); y[i] = s[(n + blockIdx.x) & 255] + s[t];
}
__global__ void wide(GIVEN) {
    __shared__ float s[256];
    long long i = blockIdx.x * 256ll + threadIdx.x;
    s[threadIdx.x] = x[i + n]; __syncthreads(); if (i < 8000) y[i] = s[255 - threadIdx.x] - x[i];
}
__global__ void votes(GIVEN) {
    __shared__ float s[256];
    I; s[t] = x[i]; int lanes = __popcll(__ballot(1)); __syncthreads(); y[i] = s[255 - t] + lanes;
}
// The register of the condition's lane mask gets another one, which is no comparison's.
__global__ void selects(GIVEN) {
    __shared__ int s[256];
    I; s[t] = at[i];
    int a = 3, b = t * t;
    __syncthreads();
    if (t < 20) { int q = s[t ^ 5]; a = q > 7 ? b : q * 3; }
    y[i] = n > 5 ? a : b;
}
// A wave that wholly leaves before a barrier: that workgroup takes the ordinary way.
__global__ void leaves(GIVEN) {
    __shared__ float s[256];
    I; if (i >= n) return; s[t] = x[i]; __syncthreads(); y[i] = s[t ^ 1];
}
// A loop that is left out while n is a multiple of 128; else that workgroup takes the ordinary way.
__global__ void looped(GIVEN) {
    __shared__ float s[256];
    I; s[t] = x[i];
    _Pragma("clang loop unroll(disable)") for (int step = n & 127; step > 0; step /= 2) {
        __syncthreads(); if (t < step) s[t] += s[t + step];
    }
    __syncthreads(); y[i] = s[t];
}
// Ordinary: atomics, a load after a store, other lanes' registers, stores to anywhere, a loop.
__global__ void counted(GIVEN) {
    __shared__ int s[4];
    I; if (t < 4) s[t] = 0; __syncthreads(); atomicAdd(s + (t & 3), 1); __syncthreads(); y[i] = s[t & 3];
}
__global__ void behind(GIVEN) { __shared__ float s[256]; I; y[i] = 1; s[t] = i; __syncthreads(); y[i] += s[t ^ 64]; }
__global__ void shuffled(GIVEN) {
    __shared__ float s[256];
    I; s[t] = __shfl_xor(x[i], 3); __syncthreads(); y[i] = s[t ^ 64];
}
__global__ void anywhere(GIVEN) { __shared__ float s[256]; I; s[t] = x[i]; __syncthreads(); y[at[i]] = s[t ^ 64]; }
__global__ void halved(GIVEN) {
    __shared__ float s[256];
    I; s[t] = x[i];
    int step = 128;
    do { __syncthreads(); if (t < step) s[t] += s[t + step]; step /= 2; } while (step > (n & 127));
    __syncthreads(); y[i] = s[t];
}
}
"""
PHASES = {
    "around", "chosen", "collides", "doubles", "few", "fresh", "leaves", "looped", "old", "one", "reduce", "reverse",
    "scan", "selects", "taken", "turned", "uniform", "votes", "wide",
}  # fmt: skip
ORDINARY = {"anywhere", "behind", "counted", "halved", "shuffled"}
COUNT = 8192
RANDOM = np.random.default_rng(3)
FLOATS = RANDOM.normal(size=COUNT + 256).astype(np.float32)
PLACES = RANDOM.permutation(COUNT).astype(np.int32)


@pytest.fixture(scope="module", params=["gfx942", "gfx1100"])
def arch(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def both(arch: str) -> Iterator[tuple[gpulab.Module, gpulab.Module]]:
    with compiled_twice(SOURCE, arch) as modules:
        yield modules


def results(module: gpulab.Module, name: str, n: int) -> np.ndarray:
    at, x = gpulab.to_device(PLACES), gpulab.to_device(FLOATS)
    y = gpulab.to_device(np.arange(2 * COUNT, dtype=np.float32))
    for _ in range(2):
        module[name][COUNT // 256, 256, 1024 if name == "fresh" else 0](n, at, x, y)
    return y.to_host().view(np.uint32)


def numbers(name: str, *given: int) -> list[int]:
    """What a kernel gets as n: one test has all of them, as each kernel takes long to compile."""
    return [n & 255 if name == "wide" else n for n in given]


@pytest.mark.parametrize("name", sorted(PHASES | ORDINARY))
def test_results_are_the_same(both: tuple[gpulab.Module, gpulab.Module], name: str) -> None:
    given = numbers(name, 0, 100, 5000)
    with pytest.MonkeyPatch.context() as patch:
        got = [results(both[0], name, n) for n in given]
        without_it(patch)
        for n, each in zip(given, got, strict=True):
            assert (each == results(both[1], name, n)).all(), n


def lanes(launch: Callable[[], object]) -> list[tuple[str, int, int, tuple[int, ...]]]:
    """What a profiled launch counts, of which most is not observed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(device_module, "PROFILED", (100, 100))
        with gpulab.profile() as run:
            launch()
    return [(cost.text, cost.executed, cost.whole, cost.lane_counts) for cost in run[0].instructions]


@pytest.mark.parametrize("name", sorted(PHASES | ORDINARY))
def test_profiles_count_the_same_lanes(both: tuple[gpulab.Module, gpulab.Module], name: str) -> None:
    at, x, y = gpulab.to_device(PLACES), gpulab.to_device(FLOATS), gpulab.zeros(2 * COUNT)
    each = [both[way][name][COUNT // 256, 256, 1024 if name == "fresh" else 0] for way in (0, 1)]
    given = numbers(name, 100, 5000)
    with pytest.MonkeyPatch.context() as patch:
        quick = [lanes(functools.partial(each[0], n, at, x, y)) for n in given]
        without_it(patch)
        for n, counted in zip(given, quick, strict=True):
            assert counted == lanes(functools.partial(each[1], n, at, x, y)), n


@pytest.mark.parametrize("name", sorted(PHASES | ORDINARY))
def test_which_kernels_have_it_and_take_it(
    both: tuple[gpulab.Module, gpulab.Module], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = Seen(monkeypatch)
    results(both[0], name, 0 if name == "wide" else COUNT)
    assert seen.fits() == (WIDE and name in PHASES)
    if name in PHASES:
        assert not seen.given_up()


def test_against_numpy(both: tuple[gpulab.Module, gpulab.Module]) -> None:
    x = FLOATS[:COUNT].reshape(-1, 256)
    half = np.where(np.arange(COUNT) < 5000, FLOATS[:COUNT], 0).reshape(-1, 256)
    while half.shape[1] > 1:
        half = half[:, : half.shape[1] // 2] + half[:, half.shape[1] // 2 :]
    assert (results(both[0], "reduce", 5000).view(np.float32)[: COUNT // 256] == half[:, 0]).all()
    assert (results(both[0], "reverse", 0).view(np.float32)[:COUNT] == x[:, ::-1].ravel()).all()
    found = results(both[0], "around", 0).view(np.float32)[:COUNT]
    padded = np.concatenate([np.zeros(1, np.float32), FLOATS])
    assert (found == (padded[:COUNT] + padded[1 : COUNT + 1]) + padded[2 : COUNT + 2]).all()
    sums = x.copy()
    for step in (1, 2, 4, 8, 16, 32, 64, 128):
        sums[:, step:] = sums[:, step:] + sums[:, :-step]
    assert (results(both[0], "scan", 0).view(np.float32)[:COUNT] == sums.ravel()).all()
    found = results(both[0], "fresh", 0).view(np.float32)[:COUNT]
    assert (found == x[:, ::-1].ravel()).all()  # LDS was 0
    found = results(both[0], "votes", 0).view(np.float32)[:COUNT]
    assert (found == x[:, ::-1].ravel() + np.float32(64 if both[0].arch == "gfx942" else 32)).all()
    found = results(both[0], "one", 0).view(np.float32)
    assert (found[:COUNT].reshape(-1, 256) == x[:, 37:38]).all()
    assert (found[8192 : 8192 + 32] == x[:, 37] + np.float32(1)).all()
    assert (found[8192 + 32 :] == np.arange(8192 + 32, 2 * COUNT)).all()


@pytest.mark.parametrize("block", [64, 128, 512, 1024])
def test_blocks_of_other_sizes(arch: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "QUICK_SECONDS", 0.0)
    sizes = {"256": str(block), "255": str(block - 1), "128": str(block // 2)}
    source = re.sub("|".join(sizes), lambda found: sizes[found[0]], SOURCE)
    seen = Seen(monkeypatch)
    with gpulab.using(f"virtual:{arch}"):
        module = gpulab.compile(source)
        x, y = gpulab.to_device(RANDOM.integers(-9, 9, 40 * block).astype(np.float32)), gpulab.zeros(40 * block)
        for name, expected in (
            ("reduce", x.to_host().reshape(40, -1).sum(axis=1)),
            ("reverse", x.to_host().reshape(40, -1)[:, ::-1].ravel()),
        ):
            module[name][40, block](40 * block, gpulab.to_device(PLACES), x, y)
            assert seen.fits() == WIDE
            assert not seen.given_up()
            assert (y.to_host()[: expected.size] == expected).all()
        module.reverse[40, 16](40 * block, gpulab.to_device(PLACES), x, y)
        assert not seen.fits()


@pytest.mark.parametrize("name", sorted(PHASES))
def test_modelled_times_are_the_same(both: tuple[gpulab.Module, gpulab.Module], name: str) -> None:
    """They come of how often each block was executed, which is the same for each workgroup."""

    def time(of: gpulab.Module) -> float:
        given = 100, gpulab.to_device(PLACES), gpulab.to_device(FLOATS), gpulab.zeros(2 * COUNT)
        launch = of[name][COUNT // 256, 256, 1024 if name == "fresh" else 0]
        start, end = gpulab.Event(), gpulab.Event()
        launch(*given)
        start.record()
        launch(*given)
        end.record()
        end.synchronize()
        return end.elapsed_ms(start)

    got = time(both[0])
    with pytest.MonkeyPatch.context() as patch:
        without_it(patch)
        assert got == time(both[1])


@pytest.mark.parametrize("name", ["reverse", "around", "few", "wide"])
@pytest.mark.parametrize("size", [3000, 5000])
def test_faults_are_those_of_the_ordinary_way(both: tuple[gpulab.Module, gpulab.Module], name: str, size: int) -> None:
    """And what the workgroups before it did is there, while its own has stored nothing."""
    found = []
    with pytest.MonkeyPatch.context() as patch:
        for module in both:
            at, x = gpulab.to_device(PLACES), gpulab.to_device(FLOATS[:size])
            y = gpulab.to_device(np.arange(COUNT, dtype=np.float32))
            with pytest.raises(gpulab.KernelFault) as caught:
                module[name][COUNT // 256, 256](0, at, x, y)
            fault = caught.value.fault
            before = y.to_host()[: fault.workgroup[0] * 256]
            found.append((fault.workgroup, fault.thread, fault.address - x.address, before.tobytes()))
            without_it(patch)
    assert found[0] == found[1]


def test_beyond_a_workgroups_memory(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """LDS of 256 floats, of which lanes that are not active may be thought to read the 257th."""
    monkeypatch.setattr(loading, "QUICK_SECONDS", 0.0)
    seen = Seen(monkeypatch)
    text = r"""extern "C" __global__ void k(int n, const float* x, float* y) {
        extern __shared__ float s[];
        int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
        s[t] = x[i]; __syncthreads(); float next = 5; if (i % 256 != n) next = s[t + 1]; y[i] = next;
    }"""
    with gpulab.using(f"virtual:{arch}"):
        kernel = gpulab.compile(text).k
        x, y = gpulab.to_device(FLOATS[:COUNT]), gpulab.zeros(COUNT)
        kernel[32, 256, 1024](255, x, y)
        assert seen.fits() == WIDE
        assert not seen.given_up()
        expected = np.roll(FLOATS[:COUNT], -1)
        expected[255::256] = 5
        assert (y.to_host() == expected).all()
        with pytest.raises(gpulab.KernelFault) as caught:
            kernel[32, 256, 1024](100, x, y)
        assert (caught.value.fault.workgroup[0], caught.value.fault.thread[0]) == (0, 255)


T = np.arange(256)
BODIES = {
    # No lane is active, and no branch leaves it out: what lies at no address is not read.
    "nobody reads": (
        "s_mov_b64 s[14:15], exec; v_add_u32 v5, 0x40000000, v1; v_cmp_gt_u32 vcc, s4, v0; s_and_b64 exec, exec, vcc; "
        "ds_read_b32 v6, v5; s_waitcnt lgkmcnt(0); v_mul_lo_u32 v4, v6, v6; v_sub_u32 v7, v6, v0; "
        "v_add_u32 v4, v4, v7; s_mov_b64 exec, s[14:15]",
        0 * T,
    ),
    # Of 20 lanes all fulfil the condition; the others, which come back, do not.
    "compared among some": (
        "v_mov_b32 v6, 3; v_sub_u32 v8, 0x3fc, v1; v_cmp_gt_u32 vcc, 20, v0; s_and_saveexec_b64 s[14:15], vcc; "
        "v_cmp_gt_u32 s[16:17], 5, v6; s_mov_b64 exec, s[14:15]; v_cndmask_b32 v7, v1, v8, s[16:17]; "
        "ds_read_b32 v4, v7",
        np.where(T < 20, 255 - T, T),
    ),
    # 1.0 stands for the bits of a double, 0x3ff00000_00000000.
    "a number's bits": (
        "s_and_b64 s[16:17], exec, 1.0; v_cndmask_b32 v4, v1, v0, s[16:17]",
        np.where((T % 64 >= 52) & (T % 64 < 62), T, 4 * T),
    ),
    "a number's bits as EXEC": (
        "s_mov_b64 s[14:15], exec; s_and_b64 exec, exec, 1.0; v_mov_b32 v4, v0; s_mov_b64 exec, s[14:15]",
        np.where((T % 64 >= 52) & (T % 64 < 62), T, 0),
    ),
}


@pytest.mark.parametrize("name", sorted(BODIES))
def test_lane_masks_in_assembly(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "QUICK_SECONDS", 0.0)
    body, expected = BODIES[name]
    text = ASSEMBLY.replace("BODY", "\n  s_nop 4\n  ".join(body.split("; ")))
    seen = Seen(monkeypatch)
    with gpulab.using("virtual:gfx942"):
        for comment in ("with it", "without"):
            kernel = gpulab.compile(f"{text}\n; {comment}\n", language="asm", name="f.s")["k"]
            y = gpulab.to_device(np.full(40 * 256, -1, np.int32))
            kernel[40, 256](np.int32(0), y)
            assert seen.fits() == (WIDE and comment == "with it")
            assert (y.to_host().reshape(40, 256) == expected).all(), comment
            without_it(monkeypatch)


class Words:
    """A random kernel: LDS that threads write and read between barriers, conditions within conditions."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.block = self.random.choice([64, 128, 256])

    def one_of(self, *texts: str) -> str:
        return self.random.choice(texts)

    def number(self, depth: int = 0) -> str:
        if depth == 2 or self.random.random() < 0.5:
            return self.one_of("t", "i", "n", "a", "b", "c", "(int)blockIdx.x", str(self.random.randrange(-9, 99)))
        return f"({self.number(depth + 1)} {self.one_of(*'+-*&|^')} {self.number(depth + 1)})"

    def place(self) -> str:
        last, some = self.block - 1, self.random.randrange(1, 60)
        return self.one_of(
            "t", "t", f"{last} - t", f"t ^ {1 << some % 6}", f"(t + {some}) & {last}", f"t >> {some % 7}", str(some),
            f"(t * 5) & {last}", f"{self.number()} & {last}",
        )  # fmt: skip

    def condition(self) -> str:
        some = self.random.randrange(1, 128)
        return self.one_of(
            f"t < {some}", f"t >= {some}", f"t == {some}", f"!(t & {1 << some % 7})", "i < n", f"{self.number()} > b"
        )

    def statement(self, depth: int = 0) -> str:
        name, kind = self.one_of("a", "b", "c"), self.random.randrange(10 if depth < 2 else 6)
        if kind < 2:
            return f"{name} = {self.number()};"
        if kind < 4:
            return f"s[{self.place()}] = {self.number()};"
        if kind == 4:
            return f"{name} += s[{self.place()}];"
        if kind == 5:
            return f"{name} = x[{self.one_of('i', 'at[i]', 't + 5', 'n & 15')}];"
        other = f" else {{ {self.statement(depth + 1)} }}" if kind == 9 else ""
        return f"if ({self.condition()}) {{ {self.statement(depth + 1)} {self.statement(depth + 1)} }}{other}"

    def source(self) -> str:
        lines = [f"s[t] = {self.number()};"]
        for _ in range(self.random.randrange(2, 5)):
            lines += ["__syncthreads();", *(self.statement() for _ in range(self.random.randrange(1, 4)))]
        last = self.one_of("", f"if ({self.condition()}) ", "if (i < n) ")
        return f"""extern "C" __global__ void k(int n, const int* at, const int* x, int* y) {{
            __shared__ int s[{self.block}];
            int t = threadIdx.x, i = blockIdx.x * {self.block} + t, a = t, b = 3, c = x[i];
            {" ".join(lines)}
            {last}y[i] = a + b * c; if ({self.condition()}) y[i + 16384] = s[t];
        }}"""


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.full) for n in range(1, 6))])
def test_random_kernels(arch: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "QUICK_SECONDS", 0.0)
    seen, fits = Seen(monkeypatch), 0
    words = [Words(10 * seed + n) for n in range(6)]
    source = "\n".join(each.source().replace(" k(", f" k{n}(") for n, each in enumerate(words))
    found: list[list[np.ndarray]] = [[], []]
    counted: list[list[object]] = [[], []]
    with gpulab.using(f"virtual:{arch}"):
        at = gpulab.to_device(np.random.default_rng(seed).permutation(16384).astype(np.int32))
        x = gpulab.to_device(np.arange(16384, dtype=np.int32) * 7 % 200 - 100)
        for which, comment in enumerate(("", "// without")):
            module = gpulab.compile(source + comment)
            for n, each in enumerate(words):
                y = gpulab.to_device(np.zeros(32768, np.int32))
                for count in (40 * each.block, 1000):
                    module[f"k{n}"][40, each.block](count, at, x, y)
                fits += seen.fits()
                found[which].append(y.to_host())
                launch = functools.partial(module[f"k{n}"][40, each.block], 1000, at, x, y)
                counted[which].append(lanes(launch))
            without_it(monkeypatch)
        assert bool(fits) == WIDE  # LLVM places parts of some others behind the end of the kernel
    for n, (one, other) in enumerate(zip(*found, strict=True)):
        assert (one == other).all(), words[n].block
    assert counted[0] == counted[1]
