"""Generic pointers whose lanes go to scratch, LDS and global memory in one access: values worked out in numpy."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from gpulab import toolchain
from gpulab.virtual_gpu.isa.assembly import parse
from gpulab.virtual_gpu.machine.loading import LoadedModule
from tests.translate.kernels import ARCHITECTURES, Buffer, device, pack

TYPES = {"char": 1, "short": 2, "int": 4, "Two": 8, "Three": 12, "Four": 16}
COUNT = 6  # elements of each lane in each kind of memory

SOURCE = """
typedef int Two __attribute__((ext_vector_type(2)));
struct Three { int a, b, c; };
typedef int Four __attribute__((ext_vector_type(4)));
template <typename T> __device__ void go(const int* kind, const int* at, T* there, const T* put, T* got, T* after) {
  __shared__ T shared[64 * 6];
  T mine[6];
  int i = threadIdx.x;
#pragma clang loop unroll(disable)
  for (int k = 0; k < 6; k++) mine[at[64 + k]] = shared[6 * i + k] = there[6 * i + k];
  T* p = kind[i] == 0 ? mine : kind[i] == 1 ? shared + 6 * i : there + 6 * i;
  asm volatile("" : "+v"(p));
  if (kind[i] < 3) {
    got[i] = p[at[i]];
    p[at[i]] = put[i];
  }
  __syncthreads();
#pragma clang loop unroll(disable)
  for (int k = 0; k < 6; k++)
    after[6 * i + k] = kind[i] == 0 ? mine[at[64 + k]] : kind[i] == 1 ? shared[6 * i + k] : there[6 * i + k];
}
extern "C" {
__global__ void atomics(const int* kind, const int* at, unsigned long long* there, const unsigned long long* put,
                        unsigned long long* got, unsigned long long* after) {
  __shared__ unsigned long long shared[64 * 6];
  unsigned long long mine[6];
  int i = threadIdx.x;
#pragma clang loop unroll(disable)
  for (int k = 0; k < 6; k++) mine[at[64 + k]] = shared[6 * i + k] = there[6 * i + k];
  unsigned long long* p = kind[i] == 0 ? mine : kind[i] == 1 ? shared + 6 * i : there + 6 * i;
  asm volatile("" : "+v"(p));
  if (kind[i] < 3) got[i] = atomicAdd(p + at[i], put[i]);
  __syncthreads();
#pragma clang loop unroll(disable)
  for (int k = 0; k < 6; k++)
    after[6 * i + k] = kind[i] == 0 ? mine[at[64 + k]] : kind[i] == 1 ? shared[6 * i + k] : there[6 * i + k];
}
""" + "".join(
    f"__global__ void go_{name}(const int* kind, const int* at, {name}* there, const {name}* put, {name}* got, "
    f"{name}* after) {{ go(kind, at, there, put, got, after); }}\n"
    for name in TYPES
) + "}"  # fmt: skip


@functools.cache
def module(arch: str) -> LoadedModule:
    code = toolchain.compile(SOURCE, arch=arch, name="flat.hip")
    return device(arch).load(parse(code.assembly, {code.name: SOURCE}, guarantees=code.guarantees))


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("name", [*(f"go_{each}" for each in TYPES), "atomics"])
def test_loads_stores_and_atomics(arch: str, name: str) -> None:
    """Kinds: 0 scratch, 1 LDS, 2 global memory, 3 none; alone, by halves, and any for each lane."""
    random, width = np.random.default_rng(len(name)), TYPES.get(name.removeprefix("go_"), 8)
    lanes = np.arange(64)
    for kinds in (
        lanes * 0, lanes * 0 + 2, lanes % 2, lanes % 2 * 2, (lanes // 4) % 2 * 2, random.integers(0, 3, 64),
        random.integers(0, 4, 64), np.where(lanes == 5, 0, 3), np.where(lanes % 9 == 0, random.integers(0, 3, 64), 3),
    ):  # fmt: skip
        at = np.concatenate([random.integers(0, COUNT, 64), np.arange(COUNT)])
        before = random.integers(0, 256, (64, COUNT, width), dtype=np.uint8)
        put = random.integers(0, 256, (64, width), dtype=np.uint8)
        there, got, after = Buffer(before), Buffer(np.zeros_like(put)), Buffer(np.zeros_like(before))
        done = device(arch).launch(
            module(arch).kernels[name], (1, 1, 1), (64, 1, 1), 0,
            pack(Buffer(kinds.astype(np.int32)), Buffer(at.astype(np.int32)), there, Buffer(put), got, after),
        )  # fmt: skip
        assert done.fault is None, done.fault
        on, place = kinds < 3, at[:64]
        wanted, old = before.copy(), before[lanes, place]
        new = put
        if name == "atomics":
            new = (old.view(np.uint64) + put.view(np.uint64)).view(np.uint8)
        wanted[lanes[on], place[on]] = new[on]
        assert (got.array().reshape(put.shape)[on] == old[on]).all(), kinds
        assert (after.array().reshape(before.shape) == wanted).all(), kinds
