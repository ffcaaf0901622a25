"""HIP kernels with Clang's matrix builtins, compiled and run on both virtual devices, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

import gpulab
from tests.isa.test_matrix import matrices, pack, pack_d, registers, row_of

TYPES = """
typedef _Float16 h4 __attribute__((ext_vector_type(4)));
typedef _Float16 h16 __attribute__((ext_vector_type(16)));
typedef short s4 __attribute__((ext_vector_type(4)));
typedef short s16 __attribute__((ext_vector_type(16)));
typedef float f2 __attribute__((ext_vector_type(2)));
typedef float f4 __attribute__((ext_vector_type(4)));
typedef float f8 __attribute__((ext_vector_type(8)));
typedef float f16 __attribute__((ext_vector_type(16)));
typedef float f32 __attribute__((ext_vector_type(32)));
typedef double d4 __attribute__((ext_vector_type(4)));
typedef int i2 __attribute__((ext_vector_type(2)));
typedef int i4 __attribute__((ext_vector_type(4)));
typedef int i8 __attribute__((ext_vector_type(8)));
typedef int i16 __attribute__((ext_vector_type(16)));
"""

MFMA = [  # builtin, instruction, type of A and B, type of C and D
    ("f32_32x32x1f32", "f32_32x32x1_2b_f32", "float", "f32"),
    ("f32_16x16x1f32", "f32_16x16x1_4b_f32", "float", "f16"),
    ("f32_4x4x1f32", "f32_4x4x1_16b_f32", "float", "f4"),
    ("f32_32x32x2f32", "f32_32x32x2_f32", "float", "f16"),
    ("f32_16x16x4f32", "f32_16x16x4_f32", "float", "f4"),
    ("f32_32x32x4f16", "f32_32x32x4_2b_f16", "h4", "f32"),
    ("f32_4x4x4f16", "f32_4x4x4_16b_f16", "h4", "f4"),
    ("f32_32x32x8f16", "f32_32x32x8_f16", "h4", "f16"),
    ("f32_16x16x16f16", "f32_16x16x16_f16", "h4", "f4"),
    ("f32_32x32x8bf16_1k", "f32_32x32x8_bf16", "s4", "f16"),
    ("f32_16x16x16bf16_1k", "f32_16x16x16_bf16", "s4", "f4"),
    ("i32_16x16x4i8", "i32_16x16x4_4b_i8", "int", "i16"),
    ("i32_32x32x16_i8", "i32_32x32x16_i8", "long", "i16"),
    ("i32_16x16x32_i8", "i32_16x16x32_i8", "long", "i4"),
    ("f64_16x16x4f64", "f64_16x16x4_f64", "double", "d4"),
    ("f64_4x4x4f64", "f64_4x4x4_4b_f64", "double", "double"),
    ("f32_16x16x8_xf32", "f32_16x16x8_xf32", "f2", "f4"),
    ("f32_32x32x4_xf32", "f32_32x32x4_xf32", "f2", "f16"),
    ("f32_16x16x32_fp8_fp8", "f32_16x16x32_fp8_fp8", "long", "f4"),
    ("f32_32x32x16_bf8_fp8", "f32_32x32x16_bf8_fp8", "long", "f16"),
]
WMMA = [  # builtin, type of A and B, type of C and D, call
    ("f32_16x16x16_f16", "h16", "f8", "{f}(x, y, z)"),
    ("f32_16x16x16_bf16", "s16", "f8", "{f}(x, y, z)"),
    ("i32_16x16x16_iu8", "i4", "i8", "{f}(true, x, true, y, z, false)"),
    ("i32_16x16x16_iu4", "i2", "i8", "{f}(false, x, false, y, z, false)"),
]


def source(element: str, result: str, call: str) -> str:
    return f"""{TYPES}
__global__ void multiply(const unsigned* a, const unsigned* b, const unsigned* c, unsigned* d) {{
  int lane = threadIdx.x;
  {element} x = ((const {element}*)a)[lane], y = ((const {element}*)b)[lane];
  {result} z = ((const {result}*)c)[lane];
  (({result}*)d)[lane] = {call};
}}"""


def check(arch: str, mnemonic: str, text: str) -> None:
    lanes = 64 if arch == "gfx942" else 32
    row = row_of(arch, mnemonic)
    a, b, c = matrices(row, 11)
    with gpulab.using(arch):
        kernel = gpulab.compile(text)["multiply"]
        parts = [
            pack(row, a, row.a, lanes, registers(row, "a", lanes)),
            pack(row, b, row.b, lanes, registers(row, "b", lanes)),
            pack_d(row, c, lanes),
        ]
        arrays = [gpulab.to_device(np.ascontiguousarray(part.T)) for part in parts]
        out = gpulab.empty(arrays[2].shape, "uint32")
        kernel[1, lanes](*arrays, out)
        found = out.to_host().T
    assert mnemonic in str(kernel.isa)
    assert np.array_equal(found, pack_d(row, a @ b.transpose(0, 2, 1) + c, lanes))


@pytest.mark.full
@pytest.mark.parametrize(("builtin", "instruction", "element", "result"), MFMA, ids=lambda x: x)
def test_mfma(builtin, instruction, element, result):
    call = f"__builtin_amdgcn_mfma_{builtin}(x, y, z, 0, 0, 0)"
    check("gfx942", f"v_mfma_{instruction}", source(element, result, call))


@pytest.mark.parametrize(("builtin", "element", "result", "call"), WMMA, ids=lambda x: x)
def test_wmma(builtin, element, result, call):
    call = call.format(f=f"__builtin_amdgcn_wmma_{builtin}_w32")
    check("gfx1100", f"v_wmma_{builtin}", source(element, result, call))


def test_a_tiled_product():
    """A 32 x 96 by 96 x 32 product, each lane placing its elements by the layout; the sum stays in registers."""
    text = f"""{TYPES}
__global__ void product(const _Float16* a, const _Float16* b, float* d, int n) {{
  int lane = threadIdx.x, low = lane % 32, high = lane / 32;
  f16 sum = {{0}};
  for (int k = 4 * high; k < n; k += 8) {{
    h4 x, y;
    for (int e = 0; e < 4; ++e) {{ x[e] = a[low * n + k + e]; y[e] = b[(k + e) * 32 + low]; }}
    sum = __builtin_amdgcn_mfma_f32_32x32x8f16(x, y, sum, 0, 0, 0);
  }}
  for (int r = 0; r < 16; ++r) d[(8 * (r / 4) + 4 * high + r % 4) * 32 + low] = sum[r];
}}"""
    numbers = np.random.default_rng(3)
    a, b = (numbers.integers(-8, 9, shape).astype(np.float16) for shape in ((32, 96), (96, 32)))
    with gpulab.using("gfx942"):
        d = gpulab.empty((32, 32), "float32")
        with gpulab.profile() as run:
            gpulab.compile(text).product[1, 64](gpulab.to_device(a), gpulab.to_device(b), d, 96)
        assert np.array_equal(d.to_host(), a.astype(np.float32) @ b.astype(np.float32))
    assert run.launches[0].counters["SQ_INSTS_MFMA"] == 96 // 8


@pytest.mark.parametrize("name", ["fp8", "bf8"])
def test_conversions_to_and_from_eight_bits(name):
    text = f"""{TYPES}
__global__ void convert(const float* x, unsigned* packed, float* back) {{
  int i = 4 * threadIdx.x, word = 0;
  word = __builtin_amdgcn_cvt_pk_{name}_f32(x[i], x[i + 1], word, false);
  word = __builtin_amdgcn_cvt_pk_{name}_f32(x[i + 2], x[i + 3], word, true);
  word = __builtin_amdgcn_cvt_sr_{name}_f32(x[i + 1], 0, word, 1);
  packed[threadIdx.x] = word;
  back[i] = __builtin_amdgcn_cvt_f32_{name}(word, 0);
  back[i + 1] = __builtin_amdgcn_cvt_f32_{name}(word, 1);
  f2 pair = __builtin_amdgcn_cvt_pk_f32_{name}(word, true);
  back[i + 2] = pair[0];
  back[i + 3] = pair[1];
}}"""
    fraction, bias = (3, 8) if name == "fp8" else (2, 16)
    x = np.array([1.0, 1.9, -3.0, 1e-9, 240.0, -0.1, 7.5, 1e9] * 8, np.float32)
    with gpulab.using("gfx942"):
        packed, back = gpulab.empty(16, "uint32"), gpulab.empty(64, "float32")
        gpulab.compile(text).convert[1, 16](gpulab.to_device(x), packed, back)
        words, found = packed.to_host(), back.to_host()
    one = bias << fraction
    chopped = one | (1 << fraction) - 1  # 1.9 with a seed of zero: cut off
    assert words[0] == one | chopped << 8 | (0x80 | one + (1 << fraction) + (1 << fraction - 1)) << 16
    step = 2.0**-fraction
    tenth = -np.floor(0.1 * 16 / step) * step / 16
    assert found[:4].tolist() == [1.0, 2 - step, -3.0, 0.0]
    assert found[4] == (240.0 if name == "fp8" else 256.0)
    assert found[5] == tenth
    assert found[6] == (7.5 if name == "fp8" else 8.0)
    assert np.isnan(found[7])  # too large
