// Complex numbers by HIP's names: a float2 or double2 whose x is the real part and y the imaginary one.
#pragma once
#include "hip_runtime.h"
#include <math.h>
#include "../gpulab/names.h"

#define __GPULAB_COMPLEX__(Complex, Vector, T, f, make, real, imaginary, add, subtract, multiply, divide, conjugate,\
                           absolute, square, fused)                                                                 \
  using Complex = Vector;                                                                                           \
  __GPULAB_BOTH__ Complex make(T x, T y) { return Complex(x, y); }                                                  \
  __GPULAB_BOTH__ T real(Complex z) { return z.x; }                                                                 \
  __GPULAB_BOTH__ T imaginary(Complex z) { return z.y; }                                                            \
  __GPULAB_BOTH__ Complex conjugate(Complex z) { return Complex(z.x, -z.y); }                                       \
  __GPULAB_BOTH__ T square(Complex z) { return z.x * z.x + z.y * z.y; }                                             \
  __GPULAB_BOTH__ T absolute(Complex z) { return hypot##f(z.x, z.y); }                                              \
  __GPULAB_BOTH__ Complex add(Complex a, Complex b) { return Complex(a.x + b.x, a.y + b.y); }                       \
  __GPULAB_BOTH__ Complex subtract(Complex a, Complex b) { return Complex(a.x - b.x, a.y - b.y); }                  \
  __GPULAB_BOTH__ Complex multiply(Complex a, Complex b) {                                                          \
    return Complex(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                                                   \
  }                                                                                                                 \
  __GPULAB_BOTH__ Complex divide(Complex a, Complex b) {                                                            \
    T s = square(b);                                                                                                \
    return Complex((a.x * b.x + a.y * b.y) / s, (a.y * b.x - a.x * b.y) / s);                                       \
  }                                                                                                                 \
  __GPULAB_BOTH__ Complex fused(Complex a, Complex b, Complex c) {                                                  \
    return Complex(a.x * b.x + c.x - a.y * b.y, a.x * b.y + a.y * b.x + c.y);                                       \
  }
__GPULAB_COMPLEX__(hipFloatComplex, float2, float, f, make_hipFloatComplex, hipCrealf, hipCimagf, hipCaddf, hipCsubf,
                   hipCmulf, hipCdivf, hipConjf, hipCabsf, hipCsqabsf, hipCfmaf)
__GPULAB_COMPLEX__(hipDoubleComplex, double2, double, , make_hipDoubleComplex, hipCreal, hipCimag, hipCadd, hipCsub,
                   hipCmul, hipCdiv, hipConj, hipCabs, hipCsqabs, hipCfma)
#undef __GPULAB_COMPLEX__
using hipComplex = hipFloatComplex;
__GPULAB_BOTH__ hipComplex make_hipComplex(float x, float y) { return hipComplex(x, y); }
__GPULAB_BOTH__ hipFloatComplex hipComplexDoubleToFloat(hipDoubleComplex z) {
  return hipFloatComplex((float)z.x, (float)z.y);
}
__GPULAB_BOTH__ hipDoubleComplex hipComplexFloatToDouble(hipFloatComplex z) { return hipDoubleComplex(z.x, z.y); }
#include "../gpulab/names_end.h"
