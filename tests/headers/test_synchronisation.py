"""synchronisation.h: counts over blocks of any size, what barriers and fences become, where a wave runs."""

from __future__ import annotations

import re

import numpy as np
import pytest

from gpulab import toolchain
from gpulab.virtual_gpu.isa.assembly import parse
from tests.headers.device import ARCHITECTURES, run
from tests.translate.kernels import Buffer, device, pack

COUNTS = """
__global__ void counts(int* out) {
    int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), *row = out + 5 * t;
    row[0] = __syncthreads_count(t % 3 == 1); row[1] = __syncthreads_count(1); row[2] = __syncthreads_count(0);
    row[3] = 10 * __syncthreads_and(t >= 0) + __syncthreads_and(t > 0);
    row[4] = 10 * __syncthreads_or(t == 0) + __syncthreads_or(t < 0);
}
"""


@pytest.mark.parametrize("arch", ["gfx942 device", "gfx1100 device"])
@pytest.mark.parametrize("block", [(1,), (2,), (1, 1, 5), (1, 65), (3, 5, 7), (64,), (129,)])
def test_counts_of_a_block(arch: str, block: tuple[int, ...]) -> None:
    threads = int(np.prod(block))
    (out,), _ = run(arch, COUNTS, np.full(5 * threads, -1, "int32"), block=block)
    ones = len(range(1, threads, 3))
    assert set(map(tuple, out.reshape(threads, 5).tolist())) == {(ones, threads, 0, 10, 10)}


SCALAR = """
__global__ void scalar(double* c, double* out, int n) {
    double first = c[0];
    __syncthreads();
    if (n == 0) return;
    if (threadIdx.x == 0) c[0] = 5;
    out[threadIdx.x] = first;
}
"""
SHARED = """
__global__ void shared(double* c, double* out, int n) {
    __shared__ double s[256];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    double next = s[(threadIdx.x + 255) % 256];
    __syncthreads();
    if (n) s[threadIdx.x] = c[0] * next;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
"""


@pytest.mark.parametrize("arch", ["gfx942 device", "gfx1100 device"])
def test_a_load_stays_before_a_barrier(arch: str) -> None:
    # Its only use is in a branch behind the barrier, where LLVM's machine code sinking takes it (issue 181708).
    (c, out), _ = run(arch, SCALAR, np.full(1, 3.0), np.zeros(256), np.int32(1), block=(256,))
    assert (c[0], set(out)) == (5, {3.0})
    (_, out), _ = run(arch, SHARED, np.full(1, 2.0), np.zeros(256), np.int32(1), block=(256,))
    assert out.tolist() == [2.0 * ((t + 255) % 256) for t in range(256)]


BY_BLOCK = """
__global__ void by_block(int* next, int* done, int* out, int n) {
    __shared__ int item;
    while (true) {
        if (threadIdx.x == 0) item = atomicAdd(next, 1);
        __syncthreads();
        int mine = item;
        __syncthreads();
        if (mine >= n) return;
        atomicAdd(&out[mine], (int)threadIdx.x);
        __syncthreads();
        if (threadIdx.x == 0) atomicAdd(done, 1);
    }
}
"""
BY_WAVE = """
__global__ void by_wave(int* next, int* done, int* out, int n) {
    int lane = threadIdx.x % warpSize;
    while (true) {
        int mine = 0;
        if (lane == 0) mine = atomicAdd(next, 1);
        mine = __shfl(mine, 0);
        if (mine >= n) return;
        atomicAdd(&out[mine], lane);
        if (lane == 0) atomicAdd(done, 1);
    }
}
"""


@pytest.mark.parametrize("arch", ["gfx942 device", "gfx1100 device"])
@pytest.mark.parametrize(("source", "size"), [(BY_BLOCK, 128), (BY_WAVE, 0)])
def test_a_wave_comes_to_what_follows_a_loops_head_as_a_whole(arch: str, source: str, size: int) -> None:
    # The loop's end and its head ask the same question: LLVM 22 takes some lanes past the head (request 204958).
    zero, n, lanes = np.zeros(1, "int32"), 9, size or ARCHITECTURES[arch]
    (_, done, out), _ = run(arch, source, zero, zero, np.zeros(n, "int32"), np.int32(n), block=(128,))
    assert (done[0], set(out.tolist())) == (n, {lanes * (lanes - 1) // 2})


# Fields of hardware registers, (first bit, bits): XCC_ID and HW_ID of CDNA; HW_ID1 of RDNA (LLVM, "Syntax of AMDGPU
# Instruction Operands", hwreg; AMD's ISA manuals: unit, shader array, shader engine).
UNITS = {
    "gfx942": {("XCC_ID", 0, 4), ("HW_ID", 13, 2), ("HW_ID", 8, 4)},
    "gfx950": {("XCC_ID", 0, 4), ("HW_ID", 13, 2), ("HW_ID", 8, 4)},
    "gfx90a": {("HW_ID", 13, 3), ("HW_ID", 8, 4)},
    "gfx1030": {("HW_ID1", 18, 2), ("HW_ID1", 16, 1), ("HW_ID1", 10, 4)},
    "gfx1100": {("HW_ID1", 18, 3), ("HW_ID1", 16, 1), ("HW_ID1", 10, 4)},
    "gfx1201": {("WAVE_HW_ID1", 16, 1), ("WAVE_HW_ID1", 10, 4)},
}


FURTHER = [pytest.param(arch, marks=pytest.mark.full) for arch in UNITS if arch not in ("gfx942", "gfx1100")]


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100", *FURTHER])
def test_the_number_of_a_unit_is_made_of_hardware_registers(arch: str) -> None:
    assembly = toolchain.compile("__global__ void where(unsigned* out) { out[0] = __smid(); }", arch=arch).assembly
    found = re.findall(r"s_getreg_b32 \w+, hwreg\(HW_REG_(\w+), (\d+), (\d+)\)", assembly)
    assert {(name, int(first), int(bits)) for name, first, bits in found} == UNITS[arch]
    assert ("MSG_RTN_GET_SE_AID_ID" in assembly) == (arch == "gfx1201")


#: A value for each field, all ones of which one is missing, and the number that the manuals' order of parts makes of
#: them: XCC and engine (on RDNA: engine and shader array), then the unit (of four bits) within.
NUMBERS = {
    "gfx942": ((11, 2, 13), (11 << 2 | 2) << 4 | 13),
    "gfx90a": ((5, 13), 5 << 4 | 13),
    "gfx1030": ((2, 1, 13), (2 << 1 | 1) << 4 | 13),
    "gfx1100": ((5, 1, 13), (5 << 1 | 1) << 4 | 13),
    "gfx1201": ((5, 1, 13), (5 << 1 | 1) << 4 | 13),
}


@pytest.mark.parametrize("arch", NUMBERS)
def test_each_unit_has_a_number_of_its_own(arch: str) -> None:
    """The kernel, with values in place of what it reads of the hardware's registers."""
    source = 'extern "C" __global__ void where(unsigned* out) { out[0] = __smid(); }'
    values, number = NUMBERS[arch]
    left = iter(values)
    read = re.compile(r"s_getreg_b32 (\w+), .*|s_sendmsg_rtn_b32 (\w+), .*")
    assembly = toolchain.compile(source, arch=arch).assembly
    changed = read.sub(lambda found: f"s_mov_b32 {found[1] or found[2]}, {next(left)}", assembly)
    kernel = device(arch).load(parse(changed)).kernels["where"]
    out = Buffer(np.zeros(1, "uint32"))
    assert device(arch).launch(kernel, (1, 1, 1), (1, 1, 1), 0, pack(out)).fault is None
    assert out.array()[0] == number
    assert not list(left)


CALLS = {
    "__syncthreads()": {"s_barrier"}, "__named_sync()": {"s_barrier"}, "__trap()": {"s_trap"}, "abort()": {"s_trap"},
    "__threadfence()": {"buffer_inv sc1"}, "__threadfence_system()": {"buffer_inv sc0 sc1"},
    "__threadfence_block()": set(), "out[2] = clock64()": {"s_memtime"}, "out[2] = clock()": {"s_memtime"},
    "out[2] = __clock64()": {"s_memtime"}, "out[2] = __clock()": {"s_memtime"},
    "out[2] = wall_clock64()": {"s_memrealtime"},
}  # fmt: skip
"""On gfx942 (CDNA 3 ISA manual; LLVM, "Memory Model GFX942")."""


def test_what_calls_become() -> None:
    kernels = [
        f'extern "C" __global__ void k{n}(long long* out) {{ out[0] = 1; {call}; out[1] = out[4]; }}'
        for n, call in enumerate(CALLS)
    ]
    assembly = toolchain.compile("\n".join(kernels), arch="gfx942").assembly
    bodies = re.findall(r"^k\d+:(.*?)\.Lfunc_end", assembly, re.M | re.S)
    asked = re.compile(r"\b(s_barrier|s_trap|buffer_inv[ \w]*|s_memtime|s_memrealtime)")
    found = [{text.strip() for text in asked.findall(body)} for body in bodies]
    assert dict(zip(CALLS, found, strict=True)) == CALLS
