"""A library that comes in through the port alone: called by ctypes, and linked by a whole program with -l."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from gpulab.toolchain import hosted
from tests.libraries.test_conformance import FOLDER, ROOT

CTYPES = """
import ctypes
import gpulab, numpy as np
from gpulab.virtual_gpu import libraries
test = ctypes.PyDLL(str(libraries.path("gpulabtest")))
print(sorted(path.name for path in libraries.path("gpulabtest").parent.glob("libgpulabtest*")))
values = gpulab.to_device(np.arange(5, dtype=np.float32))
handle, total = ctypes.c_void_p(), ctypes.c_float()
assert test.testCreate(ctypes.byref(handle)) == 0
assert test.testSum(handle, ctypes.c_void_p(values.address), 5, ctypes.byref(total)) == 0
print(total.value, test.testSum(ctypes.c_void_p(16), ctypes.c_void_p(values.address), 5, ctypes.byref(total)))
print(test.testSum(handle, ctypes.c_void_p(values.address), 500, ctypes.byref(total)))  # past the allocation's end
class Pair(ctypes.Structure):
    _fields_ = [("first", ctypes.c_double), ("second", ctypes.c_int)]
five = (ctypes.c_double * 5)()
test.testScale.argtypes = [ctypes.c_void_p, Pair, ctypes.c_float, ctypes.c_double, ctypes.c_int64, ctypes.c_void_p]
assert test.testScale(handle, Pair(1.5, -2), 0.25, 1e300, -(1 << 40), ctypes.addressof(five)) == 0
print(list(five))
test.testName.restype = ctypes.c_char_p
print(test.testName(4), test.testDestroy(handle), test.testDestroy(handle))
"""

PROGRAM = """
import sys
from gpulab import programs
from gpulab.errors import CompileError
source = '''
#include <gpulabtest/gpulabtest.h>
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void fill(float* x) { x[threadIdx.x] = threadIdx.x; }
int main() {
  float *x, sum = 0;
  testHandle_t handle;
  if (hipMalloc(&x, 64 * sizeof(float)) != hipSuccess) return 1;
  fill<<<1, 64>>>(x);
  if (hipDeviceSynchronize() != hipSuccess) return 2;
  testStatus_t made = testCreate(&handle), added = testSum(handle, x, 64, &sum);
  double five[5];
  testStatus_t scaled = testScale(handle, {1.5, -2}, 0.25f, 1e300, -(int64_t(1) << 40), five);
  std::printf("%d %d %d %g | %g %g %g %g %g | %s %d\\\\n", made, added, scaled, sum, five[0], five[1], five[2], five[3],
              five[4], testName(4), testLater(handle, 1));
}
'''
print(programs.build(source, archs=("gfx942",), options=["-lgpulabtest"]).run(arch="gfx942"))
try:
    programs.build(source, archs=("gfx942",))
except CompileError as error:
    print(error)
"""


def run(text: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "GPULAB_LIBRARIES": str(FOLDER)}
    done = subprocess.run(
        [sys.executable, "-c", text], env=environment, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    return done.stdout


def test_it_is_called_by_ctypes() -> None:
    """Device memory of the runtime, floats and structures by value, its own codes, also for what HIP refuses."""
    assert run(CTYPES).splitlines() == [
        "['libgpulabtest.so', 'libgpulabtest.so.3']",
        "10.0 6",
        "4",
        "[1.5, -2.0, 0.25, 1e+300, -1099511627776.0]",
        "b'TEST_4' 0 6",
    ]


@pytest.mark.skipif(bool(hosted.unavailable()), reason=hosted.unavailable() or "programs can be built")
def test_a_whole_program_links_it() -> None:
    """With its header and -lgpulabtest; without the option, the message says what to add."""
    said = run(PROGRAM)
    assert said.startswith("0 0 0 2016 | 1.5 -2 0.25 1e+300 -1.09951e+12 | TEST_4 7\n")
    assert "undefined symbol: testCreate" in said
    assert "add -lgpulabtest" in said
