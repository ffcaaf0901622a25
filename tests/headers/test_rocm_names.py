"""What HIP's headers have beside functions: names of ROCm's device library, feature macros, mathematical constants."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

from gpulab import toolchain
from tests.headers.device import run

both = pytest.mark.parametrize("arch", ["gfx942 device", "gfx1100 device"])
FOLDER = Path(toolchain.__file__).parent

FUNCTIONS = """
extern "C" __device__ __attribute__((const)) float __ocml_exp2_f32(float);  // as generated kernels declare them
extern "C" __device__ __attribute__((const)) unsigned long __ockl_get_group_id(unsigned int);
typedef _Float16 pair __attribute__((ext_vector_type(2)));
__global__ void k(const double* in, double* out, long* whole) {
    unsigned long i = __ockl_get_global_id(0);
    if (i >= 80) return;
    double x = in[i];
    double* to = out + 8 * i;
    to[0] = __ocml_sqrt_f32(x) + __ocml_fma_f32(x, 2.0f, 1.0f);
    to[1] = __ocml_native_exp_f32(x);
    to[2] = __ocml_pow_f64(x, 1.5) + __ocml_atan2_f64(x, 2) + __ocml_len3_f64(x, 1, 2);
    to[3] = __ocml_sin_f16((_Float16)x);
    to[4] = __ocml_exp2_f32(x) + __ocml_pown_f64(x, 3);
    to[5] = __ocml_isnan_f32(x) + 2 * __ocml_isinf_f64(1 / (x - x)) + __ocml_ldexp_f32(x, 3);
    to[6] = __ocml_native_sin_f32(x) + __ocml_fmax_f16((_Float16)x, (_Float16)0.25f);
    pair packed = {(_Float16)x, (_Float16)2.0f};
    to[7] = __ockl_fdot2(packed, packed, 1.0f, false);
    if (i == 79) {
        long found[] = {(long)__ockl_get_num_groups(0), (long)__ockl_get_local_size(0), (long)__ockl_get_group_id(0),
                        (long)__ockl_get_local_id(0), (long)__ockl_get_global_size(0), __ockl_lane_u32(),
                        __ockl_activelane_u32(), (long)__ockl_clz_u64(1), __ockl_mul24_i32(-3, 5),
                        __ockl_sadd_u32(3, 10, 1), __ockl_wfany_i32(1) && !__ockl_wfall_i32(0)};
        for (int n = 0; n < 11; ++n) whole[n] = found[n];
    }
}
"""


@both
def test_the_device_librarys_own_names(arch: str) -> None:
    x = np.arange(80) / 100
    single, half = x.astype("float32"), x.astype("float16").astype("float64")
    (_, out, whole), _ = run(arch, FUNCTIONS, x, np.zeros(640), np.zeros(11, "int64"), grid=(2,), block=(48,))
    wanted = np.stack([
        np.sqrt(single) + (2 * single + 1), np.exp(single), x**1.5 + np.arctan2(x, 2) + np.sqrt(x * x + 5),
        np.sin(half), np.exp2(single) + x**3, 2 + 8 * single, np.sin(single) + np.maximum(half, 0.25), half * half + 5,
    ], axis=1)  # fmt: skip
    np.testing.assert_allclose(out.reshape(80, 8), wanted, rtol=1e-3, atol=2e-6)
    np.testing.assert_allclose(out.reshape(80, 8)[:, [0, 1, 2, 4, 7]], wanted[:, [0, 1, 2, 4, 7]], rtol=1e-6)
    assert whole.tolist() == [2, 48, 1, 31, 96, 31, 0, 63, -15, 8, 1]


def test_what_is_declared_is_there() -> None:
    """Each name of the header is one of the library's."""
    header = (FOLDER / "include/gpulab/rocm_names.h").read_text()
    library = (FOLDER / "library/rocm_names.h").read_text()
    declared = set(re.findall(r"^__GPULAB_OCML(?:1|2|_TEST)__\((\w+)\)", header, re.M))
    assert declared <= set(re.findall(r"^OCML_\w+\((\w+)[,)]", library, re.M))
    assert set(re.findall(r"native_(\w+)_f32\)", header)) == set(re.findall(r"^OCML_NATIVE\((\w+),", library, re.M))
    dots = {f"__ockl_{kind}dot{count}" for kind in "su" for count in (2, 4, 8)}
    assert set(re.findall(r"__ockl_\w+", header)) <= set(re.findall(r"__ockl_\w+", library)) | dots


DOTS = """
typedef short s16x2 __attribute__((ext_vector_type(2)));
typedef unsigned short u16x2 __attribute__((ext_vector_type(2)));
typedef char s8x4 __attribute__((ext_vector_type(4)));
typedef unsigned char u8x4 __attribute__((ext_vector_type(4)));
#define DECLARE(n, Signed, Unsigned)                                    \\
    extern "C" __device__ int __ockl_sdot##n(Signed, Signed, int, bool); \\
    extern "C" __device__ unsigned __ockl_udot##n(Unsigned, Unsigned, unsigned, bool);
DECLARE(2, s16x2, u16x2)
DECLARE(4, s8x4, u8x4)
DECLARE(8, int, unsigned)
#define DOT(n, Signed, Unsigned)                                                               \\
    to[n] = __ockl_sdot##n(__builtin_bit_cast(Signed, a), __builtin_bit_cast(Signed, b), 7, false); \\
    to[n + 1] = (int)__ockl_udot##n(__builtin_bit_cast(Unsigned, a), __builtin_bit_cast(Unsigned, b), 7, false);
__global__ void k(const int* one, const int* other, int* out) {
    int a = one[threadIdx.x], b = other[threadIdx.x], *to = out + 10 * threadIdx.x;
    DOT(2, s16x2, u16x2)
    DOT(4, s8x4, u8x4)
    DOT(8, int, unsigned)
}
"""


def test_products_of_packed_integers() -> None:
    """Beside numpy, modulo 2^32."""
    one, other = np.random.default_rng(3).integers(-(2**31), 2**31, (2, 64)).astype("int32")
    (_, _, out), _ = run("gfx942 device", DOTS, one, other, np.zeros(640, "int32"))
    found = out.reshape(64, 10)
    for count in (2, 4, 8):
        width = 32 // count
        shifts = np.arange(count) * width
        parts = [(x.astype("int64")[:, None] >> shifts) & (1 << width) - 1 for x in (one, other)]
        signed = [np.where(x >> width - 1, x - (1 << width), x) for x in parts]
        for at, (a, b) in enumerate((signed, parts)):
            wanted = ((a * b).sum(1) + 7).astype("uint32").astype("int32")
            np.testing.assert_array_equal(found[:, count + at], wanted)


ROUNDED = """
__global__ void k(const double* in, float* out, int* powers) {
    int i = threadIdx.x;
    out[3 * i] = __ocml_cvtrtn_f32_f64(in[i]);
    out[3 * i + 1] = __ocml_cvtrtp_f32_f64(in[i]);
    out[3 * i + 2] = __ocml_cvtrtz_f32_f64(in[i]);
    powers[i] = __ocml_ilogb_f64(in[i]) == __ocml_ilogb_f32(in[i]) ? __ocml_ilogb_f64(in[i]) : 99;
}
"""


def test_conversions_with_a_stated_rounding() -> None:
    values = np.array([0.1, -0.1, 1.5, 1e300, -1e300, 1e-60, -1e-60, -7.7])
    (_, out, powers), _ = run(
        "gfx942 device", ROUNDED, values, np.zeros(24, "float32"), np.zeros(8, "int32"), block=(8,)
    )
    down, up, zero = out.reshape(8, 3).T.astype("float64")
    assert (down <= values).all()
    assert (values <= up).all()
    assert (zero == np.where(values < 0, up, down)).all()
    beside = np.abs(values) < 10
    beside[2] = False  # 1.5 is a float
    assert (np.nextafter(down[beside].astype("float32"), np.float32(np.inf)) == up[beside]).all()
    assert powers[[0, 1, 2, 7]].tolist() == [-4, -4, 0, 2]


FEATURES = """
#include <hip/hip_math_constants.h>
#if !__HIP_ARCH_HAS_DOUBLES__ || !__HIP_ARCH_HAS_GLOBAL_INT64_ATOMICS__ || !__HIP_ARCH_HAS_WARP_BALLOT__
#error "a feature that every device has"
#endif
#if !__HIP_ARCH_HAS_3DGRID__ || __HIP_ARCH_HAS_DYNAMIC_PARALLEL__ || __HIP_ARCH_HAS_WARP_FUNNEL_SHIFT__
#error "features that HIP says no of"
#endif
__global__ void k(double* out) {
    double found[] = {HIP_LN2_HI, HIP_LN2_LO, HIP_PI_LO, HIP_NEG_ZERO, HIP_THIRD, HIP_2_OVER_PI, HIP_SQRT_2PI, HIP_LNPI,
                      HIP_TWO_TO_M1022, HIP_3PIO4_F, HIP_NORM_HUGE_F, HIP_LGE, HIP_L2T, HIP_SQRT_2OPI, HIP_MIN_DENORM};
    for (int n = 0; n < 15; ++n) out[n] = found[n];
}
"""


def test_feature_macros_and_constants() -> None:
    (out,), _ = run("gfx942 device", FEATURES, np.zeros(15), block=(1,))
    huge, angle = float(np.finfo("float32").max), float(np.float32(0.75 * math.pi))
    expected = [math.log(2), 2.3190468138462996e-17, 1.2246467991473532e-16, -0.0, 1 / 3, 2 / math.pi,
                math.sqrt(2 * math.pi), math.log(math.pi), 2.0**-1022, angle, huge, math.log10(math.e), math.log2(10),
                math.sqrt(2 / math.pi), 5e-324]  # fmt: skip
    np.testing.assert_allclose(out, expected, rtol=3e-16)
    assert math.copysign(1, out[3]) == -1
