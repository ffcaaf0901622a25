"""Kernels whose lanes read and write at addresses that a test chooses, and what one access of them did."""

from __future__ import annotations

import functools

import numpy as np

from gpulab import toolchain
from gpulab.records import AccessCost, Launch
from gpulab.virtual_gpu.isa.assembly import parse
from gpulab.virtual_gpu.machine.loading import LoadedModule
from tests.translate.kernels import Buffer, device, pack

WIDTHS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "Two", 16: "Four"}

SOURCE = (
    """
typedef unsigned Two __attribute__((ext_vector_type(2)));
typedef unsigned Four __attribute__((ext_vector_type(4)));
extern "C" {
"""
    + "\n".join(
        f"""
__global__ void lds_read_{width}(const int* at, const int* on, {type}* out) {{
  extern __shared__ {type} shared_{width}[];
  int i = threadIdx.x, a = at[i];
  if (on[i]) {{
    {type} x = shared_{width}[a];
    out[i] = x;
  }}
}}
__global__ void lds_write_{width}(const int* at, const int* on, {type}* out) {{
  extern __shared__ {type} shared_{width}[];
  int i = threadIdx.x, a = at[i];
  if (on[i]) shared_{width}[a] = ({type})i;
  asm volatile("" ::: "memory");
}}
__global__ void read_{width}(const int* at, const int* on, {type}* out, const char* from) {{
  int i = threadIdx.x, a = at[i];
  if (on[i]) {{
    {type} x = *({type}*)(from + a);
    out[i] = x;
  }}
}}
__global__ void write_{width}(const int* at, const int* on, {type}* out, char* to) {{
  int i = threadIdx.x, a = at[i];
  if (on[i]) *({type}*)(to + a) = ({type})i;
  asm volatile("" ::: "memory");
}}
"""
        for width, type in WIDTHS.items()
    )
    + """
__global__ void lds_add_4(const int* at, const int* on, unsigned* out) {
  extern __shared__ unsigned shared_4[];
  int i = threadIdx.x, a = at[i];
  if (on[i]) atomicAdd(shared_4 + a, 1u);
}
__global__ void copy_16(const Four* from, Four* to) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[i];
}
__global__ void gather(const int* at, const float* from, float* to) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[at[i]];
}
__global__ void walk(const int* at, int n, const char* from, int* out) {
  int sum = 0;
#pragma clang loop unroll(disable)
  for (int k = 0; k < n; k++) {
    int a = at[k * blockDim.x + threadIdx.x];
    sum += *(const int*)(from + a);
  }
  out[threadIdx.x] = sum;
}
__global__ void mixed(const int* __restrict__ at, const int* __restrict__ what, int n, char* data, int* out) {
  int sum = 0, me = blockIdx.x * blockDim.x + threadIdx.x;
#pragma clang loop unroll(disable)
  for (int k = 0; k < n; k++) {
    char* place = data + at[k * gridDim.x * blockDim.x + me];
    switch (what[blockIdx.x * n + k]) {
      case 0: sum += *(int*)place; break;
      case 1: *(int*)place = k; break;
      default: atomicAdd((unsigned*)place, 1u);
    }
  }
  out[me] = sum;
}
__global__ void either(const int* in_lds, int* there, int* out) {  // generic addresses, of LDS or of global memory
  __shared__ int here[64];
  int i = threadIdx.x;
  here[i] = i;
  __syncthreads();
  volatile int* p = in_lds[i] ? here + i : there + i;
  out[i] = *p;
}
__global__ void indexed(const int* at, int* out) {  // a private array that cannot be kept in registers
  int mine[64], i = threadIdx.x;
#pragma clang loop unroll(disable)
  for (int k = 0; k < 64; k++) mine[k] = at[k];
  out[i] = mine[at[64 + i] & 63];
}
__global__ void add_4(const int* at, const int* on, unsigned* out, char* to) {
  int i = threadIdx.x, a = at[i];
  if (on[i]) atomicAdd((unsigned*)(to + a), 1u);
}
}
"""
)


@functools.cache
def module(arch: str) -> LoadedModule:
    code = toolchain.compile(SOURCE, arch=arch, name="probes.hip")
    return device(arch).load(parse(code.assembly, {code.name: SOURCE}, guarantees=code.guarantees))


def profile(arch: str, name: str, grid: int, block: int, *arguments: object) -> Launch:
    """Run any of the kernels, profiled."""
    done = device(arch).launch(
        module(arch).kernels[name], (grid, 1, 1), (block, 1, 1), 0, pack(*arguments), collect="profile"
    )
    assert done.fault is None, done.fault
    return done


def launch(arch: str, name: str, at: np.ndarray, on: np.ndarray | None = None, target: Buffer | None = None) -> Launch:
    """Run a probe with as many threads as there are addresses, profiled."""
    kernel = module(arch).kernels[name]
    width = int(name.rpartition("_")[2])
    threads = len(at)
    enabled = np.ones(threads, np.int32) if on is None else on.astype(np.int32)
    out = Buffer(np.zeros(threads * width, np.uint8))
    if name.startswith("lds"):
        assert not (at % width).any()
        at = at // width  # these take elements
    arguments = [Buffer(np.asarray(at, np.int32)), Buffer(enabled), out]
    if target is not None:
        arguments.append(target)
    done = device(arch).launch(
        kernel, (1, 1, 1), (threads, 1, 1), 65536 if name.startswith("lds") else 0, pack(*arguments), collect="profile"
    )
    assert done.fault is None, done.fault
    return done


def probe(
    arch: str, name: str, at: np.ndarray, on: np.ndarray | None = None, target: Buffer | None = None
) -> AccessCost:
    """What the access did that the probe is named after."""
    space, action = ("lds" if name.startswith("lds") else "global"), name.split("_")[-2]
    wanted = {"read": "load", "write": "store", "add": "atomic"}[action]
    source = {"load": "from + a", "store": "to + a", "atomic": "to + a"}[wanted]
    found = [
        a for a in launch(arch, name, at, on, target).accesses
        if a.space == space and a.action == wanted and (space == "lds" or source in a.where.text)
    ]  # fmt: skip
    assert len(found) == 1, found
    return found[0]
