"""The kernels that the tests of translation and machine share, compiled once per architecture, and how to run one."""

from __future__ import annotations

import functools
import struct

import numpy as np

from gpulab import architectures, toolchain
from gpulab.virtual_gpu.isa.assembly import parse
from gpulab.virtual_gpu.machine.arena import Arena
from gpulab.virtual_gpu.machine.device import VirtualDevice
from gpulab.virtual_gpu.machine.loading import LoadedModule

ARCHITECTURES = ("gfx942", "gfx1100")

SOURCE = r"""
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
__device__ int table[64];
__constant__ float coefficients[4] = {1, 2, 3, 4};

__device__ __noinline__ float polynomial(float x, int n) {
  float s = 0;
  for (int i = 0; i < n; i++) s = s * x + coefficients[i & 3];
  return s;
}
__device__ __noinline__ float difference(float x, int n) { return x - n; }
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

extern "C" {
__global__ void saxpy(int n, float a, const float* x, float* y) { int i = INDEX; if (i < n) y[i] = a * x[i] + y[i]; }

__global__ void sgemm(int n, const float* a, const float* b, float* c) {
  int x = INDEX, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  float s = 0;
  for (int k = 0; k < n; k++) s += a[y * n + k] * b[k * n + x];
  c[y * n + x] = s;
}

__global__ void tiled(int n, const float* a, const float* b, float* c) {
  __shared__ float A[16][16], B[16][16];
  int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
  float s = 0;
  for (int t = 0; t < n / 16; t++) {
    A[ty][tx] = a[y * n + t * 16 + tx];
    B[ty][tx] = b[(t * 16 + ty) * n + x];
    __syncthreads();
    for (int k = 0; k < 16; k++) s += A[ty][k] * B[k][tx];
    __syncthreads();
  }
  c[y * n + x] = s;
}

__global__ void reduce(int n, const float* x, float* out) {
  __shared__ float s[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int h = 128; h > 0; h >>= 1) { if (t < h) s[t] += s[t + h]; __syncthreads(); }
  if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void collatz(int n, const unsigned* x, int* out) {
  int i = INDEX;
  if (i >= n) return;
  unsigned v = x[i];
  int steps = 0;
  while (v != 1) { v = v & 1 ? 3 * v + 1 : v / 2; steps++; }
  out[i] = steps;
}

__global__ void mandelbrot(int w, int h, int limit, int* out) {
#pragma clang fp contract(off)
  int x = INDEX, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  float cr = -2.0f + 3.0f * x / w, ci = -1.5f + 3.0f * y / h, zr = 0, zi = 0;
  int k = 0;
  while (k < limit && zr * zr + zi * zi < 4.0f) {
    float t = zr * zr - zi * zi + cr;
    zi = 2 * zr * zi + ci;
    zr = t;
    k++;
  }
  out[y * w + x] = k;
}

__global__ void calls(int n, const float* x, float* y) { int i = INDEX; if (i < n) y[i] = polynomial(x[i], i % 5); }
__global__ void pointers(int n, const float* x, float* y) {
  int i = INDEX;
  float (*f)(float, int) = i & 1 ? polynomial : difference;
  if (i < n) y[i] = f(x[i], i % 5);
}
__global__ void recursion(int n, int* y) { int i = INDEX; if (i < n) y[i] = fibonacci(i % 10); }
__global__ void histogram(int n, const int* x, int* h) { int i = INDEX; if (i < n) atomicAdd(&h[x[i]], 1); }
__global__ void local_histogram(int n, const int* x, int* h) {
  __shared__ int s[64];
  if (threadIdx.x < 64) s[threadIdx.x] = 0;
  __syncthreads();
  int i = INDEX;
  if (i < n) atomicAdd(&s[x[i]], 1);
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&h[threadIdx.x], s[threadIdx.x]);
}
__global__ void sums(int n, const float* x, float* f, double* d, unsigned long long* u) {
  int i = INDEX;
  if (i >= n) return;
  atomicAdd(f, x[i]);
  atomicAdd(d, (double)x[i]);
  atomicAdd(u, (unsigned long long)i << 32);
}
__global__ void shuffles(const int* x, int* y) {
  int i = INDEX, v = x[i];
  for (int o = warpSize / 2; o > 0; o >>= 1) v += __shfl_down(v, o);
  y[i] = __shfl(v, 0) + 1000000 * __shfl_xor(x[i], 1);
}
__global__ void ballots(const int* x, unsigned long long* y) { int i = INDEX; y[i] = __ballot(x[i] & 1); }
__global__ void reversed(const int* x, int* y) {
  extern __shared__ int s[];
  s[threadIdx.x] = x[INDEX];
  __syncthreads();
  y[INDEX] = s[blockDim.x - 1 - threadIdx.x];
}
__global__ void scratch(int n, const int* x, int* y) {
  int i = INDEX, a[32], s = 0;
  if (i >= n) return;
  for (int k = 0; k < 32; k++) a[k] = x[(i + k) % n];
  for (int k = 0; k < 32; k++) s = s * 3 + a[(k * x[i]) & 31];
  y[i] = s;
}
__global__ void vectors(int n, const float4* x, float4* y) {
  int i = INDEX;
  if (i < n) { float4 v = x[i]; y[i] = make_float4(v.w, v.z, v.y, v.x); }
}
__global__ void narrow(int n, const unsigned char* x, unsigned char* y, const short* a, short* b) {
  int i = INDEX;
  if (i < n) { y[i] = x[n - 1 - i] + 1; b[i] = a[i] * 3; }
}
__global__ void generic(int* x, int which) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  int own[4] = {1, 2, 3, (int)threadIdx.x};
  int* p = which == 0 ? x : which == 1 ? s : own;
  x[64 + threadIdx.x] = p[which == 2 ? threadIdx.x & 3 : threadIdx.x];
}
__global__ void globals(int* y) {
  table[threadIdx.x] = threadIdx.x * 3;
  __syncthreads();
  y[threadIdx.x] = table[63 - threadIdx.x];
}
__global__ void sine(int n, const float* x, float* y) { int i = INDEX; if (i < n) y[i] = sinf(x[i]); }
__global__ void overtake(int* x) {  // every thread writes where its neighbour reads
  int i = threadIdx.x, v = x[i];
  x[(i + 1) % 64] = v + 1;
  int w = x[i];
  x[i] = w * 2;
}

__global__ void indexed(int n, const int* x, int* y, int u) {  // an array in registers, indexed at run time
  int i = INDEX, a[16], t = 0;
  if (i >= n) return;
  for (int k = 0; k < 16; k++) a[k] = x[i * 16 + k];
  int s = a[u & 15];
  a[(u + 3) & 15] = i * 7;
  for (int k = 0; k < 16; k++) t = t * 3 + a[k];
  y[i] = s + t;
}

__global__ void no_guard(int* x) { x[INDEX] = INDEX; }
__global__ void through_null(int* x) { if (threadIdx.x == 3) *x = 1; }
__global__ void unaligned(char* x) { *(int*)(x + 1) = 5; }
__global__ void constant_write(const int* unused) { *(volatile float*)&coefficients[1] = 9; }
__global__ void lds_overrun(int* x, int n) {
  __shared__ int s[64];
  s[threadIdx.x + n] = 1;
  __syncthreads();
  x[threadIdx.x] = s[0];
}
__global__ void forever(volatile int* x) {
  while (*x == 0) {}
  x[1] = 1;
}
__global__ void handshake(int* flag, int* out) {  // block 0 waits for the last block
  if (blockIdx.x == 0) { while (atomicAdd(flag, 0) == 0) {} *out = 42; }
  else if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) atomicExch(flag, 1);
}
__global__ void trap(int* x) { if (x[threadIdx.x]) __builtin_trap(); }
__global__ void bad_jump(int* x) { void (*f)(int*) = (void (*)(int*))(unsigned long long)x[0]; f(x); }
}
"""


@functools.cache
def arena() -> Arena:
    return Arena()


@functools.cache
def device(arch: str) -> VirtualDevice:
    return VirtualDevice(architectures.get(arch), arena(), 0)


@functools.cache
def program(arch: str):
    code = toolchain.compile(SOURCE, arch=arch, name="kernels.hip")
    return parse(code.assembly, {code.name: SOURCE}, guarantees=code.guarantees)


@functools.cache
def module(arch: str) -> LoadedModule:
    return device(arch).load(program(arch))


class Buffer:
    """An array on the device; `array()` reads it back."""

    def __init__(self, values: np.ndarray) -> None:
        self.dtype, self.shape, self.size = values.dtype, values.shape, values.nbytes
        self.address = arena().allocate(values.nbytes, "device", 0)
        arena().view(self.address, self.size)[:] = np.ascontiguousarray(values).tobytes()

    def array(self) -> np.ndarray:
        return np.frombuffer(bytes(arena().view(self.address, self.size)), self.dtype).reshape(self.shape)


def pack(*arguments) -> bytes:
    """Kernel arguments as the ABI lays them out: int -> i32, float -> f32, Buffer -> aligned pointer."""
    raw = b""
    for argument in arguments:
        if isinstance(argument, Buffer):
            raw = raw.ljust(-(-len(raw) // 8) * 8, b"\0") + struct.pack("<Q", argument.address)
        else:
            raw += struct.pack("<f" if isinstance(argument, float) else "<i", argument)
    return raw


def run(arch: str, name: str, grid, block, *arguments, lds: int = 0, **options):
    """Launch a kernel of SOURCE; gives the record."""
    grid, block = ((*size, 1, 1)[:3] if isinstance(size, tuple) else (size, 1, 1) for size in (grid, block))
    kernel = module(arch).kernels[name]
    return device(arch).launch(kernel, grid, block, lds, pack(*arguments), **options)


def good(arch: str, name: str, grid, block, *arguments, **options):
    """The same, for kernels that must not fault."""
    launch = run(arch, name, grid, block, *arguments, **options)
    assert launch.fault is None, launch.fault
    return launch
