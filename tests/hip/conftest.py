"""The unmodified hip-python on the virtual library, in this process, and code objects for it."""

import ctypes
import functools
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import gpulab  # noqa: F401  (lets hip-python find the virtual library)

ROOT = Path(__file__).resolve().parents[2]

SOURCE = """
#include <hip/hip_runtime.h>
__device__ float factor = 3.0f;
__device__ int table[4] = {10, 20, 30, 40};
extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
extern "C" __global__ void fill(float* y) { y[blockIdx.x * blockDim.x + threadIdx.x] = factor; }
extern "C" __global__ void wait_for(volatile int* flag) { while (*flag == 0) {} }
extern "C" __global__ void hello(int n) { printf("thread %d of %d\\n", (int)threadIdx.x, n); }
extern "C" __global__ void shared_sum(int* out) {
  extern __shared__ int part[];
  part[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) { int s = 0; for (int i = 0; i < (int)blockDim.x; i++) s += part[i]; *out = s; }
}
extern "C" __global__ void __attribute__((amdgpu_flat_work_group_size(1, 64))) small(int* out) {
  out[threadIdx.x] = threadIdx.x;
}
extern "C" __global__ void sizes(int* out) {
  out[0] = gridDim.x;
  out[1] = gridDim.y;
  out[2] = blockDim.x;
  out[3] = blockDim.z;
}
"""


@functools.cache
def code_object(arch: str):
    from gpulab import toolchain

    return toolchain.compile(SOURCE, arch=arch, name="cell.hip")


def ok(result):
    """The value behind a successful result of hip-python."""
    code, *values = result
    assert int(code) == 0, code
    return values[0] if len(values) == 1 else tuple(values)


def run_python(text: str, timeout: float = 120, **environment: str) -> subprocess.CompletedProcess:
    """Run a program in a new interpreter; `environment` is added to this one's."""
    import os

    merged = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=timeout, env=merged, check=False, cwd="/"
    )


@pytest.fixture
def hip():
    """hip-python's module hip; afterwards no fault is pending, no error is kept and device 0 is selected."""
    from hip import hip as module

    module.hipSetDevice(0)
    yield module
    for device in (1, 0):
        module.hipSetDevice(device)
        module.hipDeviceSynchronize()
    module.hipGetLastError()


@pytest.fixture
def hiprtc():
    from hip import hiprtc as module

    return module


@pytest.fixture
def kernels(hip):
    """Functions of `SOURCE` by name, on device 0."""
    module = ok(hip.hipModuleLoadData(code_object("gfx942").elf))

    def find(name):
        return ok(hip.hipModuleGetFunction(module, name.encode()))

    find.module = module
    yield find
    hip.hipModuleUnload(module)


class Calls:
    """A library's C functions with the types of its table, without hip-python: numbers and addresses in, a code out."""

    TYPES: typing.ClassVar = {
        "p": ctypes.c_void_p, "z": ctypes.c_size_t, "q": ctypes.c_uint64, "l": ctypes.c_int64, "i": ctypes.c_int,
        "u": ctypes.c_uint, "h": ctypes.c_ushort, "b": ctypes.c_ubyte, "f": ctypes.c_float, "d": ctypes.c_double,
    }  # fmt: skip

    def __init__(self, name):
        from gpulab.virtual_gpu import libraries

        library = libraries.find(name)
        self._loaded = ctypes.PyDLL(str(libraries.path(name)))
        self._prototypes = {one.name: one for one in library.prototypes()}
        self._types = {**self.TYPES, **library.structures}
        self._results = {"e": ctypes.c_int, "i": ctypes.c_int, "s": ctypes.c_char_p, "p": ctypes.c_void_p}

    def __getattr__(self, name):
        one = self._prototypes[name]
        function = self._loaded[name]  # an own one: others may have set types of the attribute
        function.argtypes = [self._types[code] for code in one.arguments]
        function.restype = self._results[one.result] if one.result in self._results else self._types[one.result]
        setattr(self, name, function)
        return function

    def number(self, name, *arguments, kind=ctypes.c_int, first=True):
        """The number that a successful call leaves where its first (or last) argument says."""
        cell = kind(0x55)
        given = (ctypes.byref(cell), *arguments) if first else (*arguments, ctypes.byref(cell))
        assert getattr(self, name)(*given) == 0, name
        return cell.value

    def address(self, name, *arguments):
        """The same for an address, handle or size."""
        return self.number(name, *arguments, kind=ctypes.c_uint64)


@pytest.fixture
def call(hip):
    return Calls("hip")
