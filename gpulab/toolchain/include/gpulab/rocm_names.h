// Names of ROCm's device library, __ocml_* and __ockl_*, as HIP's headers declare them: gpulab/toolchain/library has the
// functions. Kernels call HIP's names; these are for sources that call the library by itself.
#pragma once
#include "traits.h"

#define __GPULAB_ROCM__(type, name) extern "C" __device__ __attribute__((nothrow, const)) type name
#define __GPULAB_OCML1__(name)                         \
  __GPULAB_ROCM__(float, __ocml_##name##_f32)(float);  \
  __GPULAB_ROCM__(double, __ocml_##name##_f64)(double); \
  __GPULAB_ROCM__(_Float16, __ocml_##name##_f16)(_Float16);
#define __GPULAB_OCML2__(name)                                  \
  __GPULAB_ROCM__(float, __ocml_##name##_f32)(float, float);    \
  __GPULAB_ROCM__(double, __ocml_##name##_f64)(double, double); \
  __GPULAB_ROCM__(_Float16, __ocml_##name##_f16)(_Float16, _Float16);
#define __GPULAB_OCML_TEST__(name)                    \
  __GPULAB_ROCM__(int, __ocml_##name##_f32)(float);   \
  __GPULAB_ROCM__(int, __ocml_##name##_f64)(double);  \
  __GPULAB_ROCM__(int, __ocml_##name##_f16)(_Float16);

__GPULAB_OCML1__(sin)
__GPULAB_OCML1__(cos)
__GPULAB_OCML1__(tan)
__GPULAB_OCML1__(sinpi)
__GPULAB_OCML1__(cospi)
__GPULAB_OCML1__(asin)
__GPULAB_OCML1__(acos)
__GPULAB_OCML1__(atan)
__GPULAB_OCML1__(sinh)
__GPULAB_OCML1__(cosh)
__GPULAB_OCML1__(tanh)
__GPULAB_OCML1__(asinh)
__GPULAB_OCML1__(acosh)
__GPULAB_OCML1__(atanh)
__GPULAB_OCML1__(exp)
__GPULAB_OCML1__(exp2)
__GPULAB_OCML1__(exp10)
__GPULAB_OCML1__(expm1)
__GPULAB_OCML1__(log)
__GPULAB_OCML1__(log2)
__GPULAB_OCML1__(log10)
__GPULAB_OCML1__(log1p)
__GPULAB_OCML1__(cbrt)
__GPULAB_OCML1__(rcbrt)
__GPULAB_OCML1__(erf)
__GPULAB_OCML1__(erfc)
__GPULAB_OCML1__(erfcx)
__GPULAB_OCML1__(erfinv)
__GPULAB_OCML1__(erfcinv)
__GPULAB_OCML1__(ncdf)
__GPULAB_OCML1__(ncdfinv)
__GPULAB_OCML1__(tgamma)
__GPULAB_OCML1__(lgamma)
__GPULAB_OCML1__(j0)
__GPULAB_OCML1__(j1)
__GPULAB_OCML1__(y0)
__GPULAB_OCML1__(y1)
__GPULAB_OCML1__(i0)
__GPULAB_OCML1__(i1)
__GPULAB_OCML1__(sqrt)
__GPULAB_OCML1__(fabs)
__GPULAB_OCML1__(ceil)
__GPULAB_OCML1__(floor)
__GPULAB_OCML1__(trunc)
__GPULAB_OCML1__(rint)
__GPULAB_OCML1__(nearbyint)
__GPULAB_OCML1__(round)
__GPULAB_OCML1__(rsqrt)
__GPULAB_OCML2__(atan2)
__GPULAB_OCML2__(pow)
__GPULAB_OCML2__(powr)
__GPULAB_OCML2__(hypot)
__GPULAB_OCML2__(rhypot)
__GPULAB_OCML2__(fmod)
__GPULAB_OCML2__(remainder)
__GPULAB_OCML2__(copysign)
__GPULAB_OCML2__(fmax)
__GPULAB_OCML2__(fmin)
__GPULAB_OCML2__(fdim)
__GPULAB_OCML_TEST__(isnan)
__GPULAB_OCML_TEST__(isinf)
__GPULAB_OCML_TEST__(isfinite)
__GPULAB_OCML_TEST__(isnormal)
__GPULAB_OCML_TEST__(signbit)
__GPULAB_ROCM__(int, __ocml_ilogb_f32)(float);
__GPULAB_ROCM__(int, __ocml_ilogb_f64)(double);
__GPULAB_ROCM__(float, __ocml_cvtrtn_f32_f64)(double);
__GPULAB_ROCM__(float, __ocml_cvtrtp_f32_f64)(double);
__GPULAB_ROCM__(float, __ocml_cvtrtz_f32_f64)(double);
__GPULAB_ROCM__(float, __ocml_nextafter_f32)(float, float);
__GPULAB_ROCM__(double, __ocml_nextafter_f64)(double, double);
__GPULAB_ROCM__(float, __ocml_pown_f32)(float, int);
__GPULAB_ROCM__(double, __ocml_pown_f64)(double, int);
__GPULAB_ROCM__(_Float16, __ocml_pown_f16)(_Float16, int);
__GPULAB_ROCM__(float, __ocml_ldexp_f32)(float, int);
__GPULAB_ROCM__(double, __ocml_ldexp_f64)(double, int);
__GPULAB_ROCM__(_Float16, __ocml_ldexp_f16)(_Float16, int);
__GPULAB_ROCM__(float, __ocml_scalbn_f32)(float, int);
__GPULAB_ROCM__(double, __ocml_scalbn_f64)(double, int);
__GPULAB_ROCM__(float, __ocml_fma_f32)(float, float, float);
__GPULAB_ROCM__(double, __ocml_fma_f64)(double, double, double);
__GPULAB_ROCM__(_Float16, __ocml_fma_f16)(_Float16, _Float16, _Float16);
__GPULAB_ROCM__(float, __ocml_mad_f32)(float, float, float);
__GPULAB_ROCM__(double, __ocml_mad_f64)(double, double, double);
__GPULAB_ROCM__(float, __ocml_len3_f32)(float, float, float);
__GPULAB_ROCM__(double, __ocml_len3_f64)(double, double, double);
__GPULAB_ROCM__(float, __ocml_rlen3_f32)(float, float, float);
__GPULAB_ROCM__(double, __ocml_rlen3_f64)(double, double, double);
__GPULAB_ROCM__(float, __ocml_len4_f32)(float, float, float, float);
__GPULAB_ROCM__(double, __ocml_len4_f64)(double, double, double, double);
__GPULAB_ROCM__(float, __ocml_rlen4_f32)(float, float, float, float);
__GPULAB_ROCM__(double, __ocml_rlen4_f64)(double, double, double, double);
__GPULAB_ROCM__(float, __ocml_native_sqrt_f32)(float);
__GPULAB_ROCM__(float, __ocml_native_rsqrt_f32)(float);
__GPULAB_ROCM__(float, __ocml_native_recip_f32)(float);
__GPULAB_ROCM__(float, __ocml_native_rcp_f32)(float);
__GPULAB_ROCM__(float, __ocml_native_sin_f32)(float);
__GPULAB_ROCM__(float, __ocml_native_cos_f32)(float);
__GPULAB_ROCM__(float, __ocml_native_exp2_f32)(float);
__GPULAB_ROCM__(float, __ocml_native_exp_f32)(float);
__GPULAB_ROCM__(float, __ocml_native_exp10_f32)(float);
__GPULAB_ROCM__(float, __ocml_native_log2_f32)(float);
__GPULAB_ROCM__(float, __ocml_native_log_f32)(float);
__GPULAB_ROCM__(float, __ocml_native_log10_f32)(float);

__GPULAB_ROCM__(__SIZE_TYPE__, __ockl_get_local_id)(unsigned int);
__GPULAB_ROCM__(__SIZE_TYPE__, __ockl_get_group_id)(unsigned int);
__GPULAB_ROCM__(__SIZE_TYPE__, __ockl_get_local_size)(unsigned int);
__GPULAB_ROCM__(__SIZE_TYPE__, __ockl_get_num_groups)(unsigned int);
__GPULAB_ROCM__(__SIZE_TYPE__, __ockl_get_global_id)(unsigned int);
__GPULAB_ROCM__(__SIZE_TYPE__, __ockl_get_global_size)(unsigned int);
__GPULAB_ROCM__(unsigned int, __ockl_mul24_u32)(unsigned int, unsigned int);
__GPULAB_ROCM__(int, __ockl_mul24_i32)(int, int);
__GPULAB_ROCM__(unsigned int, __ockl_mul_hi_u32)(unsigned int, unsigned int);
__GPULAB_ROCM__(int, __ockl_mul_hi_i32)(int, int);
__GPULAB_ROCM__(unsigned int, __ockl_sadd_u32)(unsigned int, unsigned int, unsigned int);
__GPULAB_ROCM__(unsigned int, __ockl_clz_u32)(unsigned int);
__GPULAB_ROCM__(unsigned long, __ockl_clz_u64)(unsigned long);
__GPULAB_ROCM__(unsigned int, __ockl_lane_u32)();
extern "C" __device__ unsigned int __ockl_activelane_u32();
extern "C" __device__ __attribute__((convergent)) bool __ockl_wfany_i32(int);
extern "C" __device__ __attribute__((convergent)) bool __ockl_wfall_i32(int);
extern "C" __device__ unsigned long __ockl_steadyctr_u64();
extern "C" __device__ void __ockl_atomic_add_noret_f32(float*, float);
namespace gpulab {
typedef _Float16 rocm_half2 __attribute__((ext_vector_type(2)));
}
__GPULAB_ROCM__(float, __ockl_fdot2)(gpulab::rocm_half2, gpulab::rocm_half2, float, bool);
#undef __GPULAB_OCML1__
#undef __GPULAB_OCML2__
#undef __GPULAB_OCML_TEST__
#undef __GPULAB_ROCM__
