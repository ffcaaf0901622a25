// The device library: the mathematical functions that no instruction computes, and the space for printf.
//
// device_library.py compiles this one file for the GPU (bitcode, linked where it is used) and, in the tests, for the
// machine at hand, where its accuracy is measured: the arithmetic is the same.
//   numbers.h        bits, fused multiply-add, polynomials, constants
//   elementary.h     exp, log, sin, atan, sinh, cbrt, fmod, ...: one body for float and double
//   special.h        erf, gamma and Bessel functions; musl's sources (MIT) are read from the compiler's package
//   exports.h        the C names, __gpulab_<function>_<f32|f64>
//   printing.h       __printf_alloc (device only)
//   rocm_names.h     names of ROCm's device library (device only)
//   strings.h        memcmp, memchr, strlen and their like (device only)
//   virtual.h        member functions without a body (device only)
#include "numbers.h"
#include "elementary.h"
#include "special.h"
#include "exports.h"
#ifdef __AMDGCN__
#include "printing.h"
#include "rocm_names.h"
#include "strings.h"
#include "virtual.h"
#endif
