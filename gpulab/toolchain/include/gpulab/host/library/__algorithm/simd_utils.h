// libc++'s choice between loops and vectors of the host's processor, in std::find and std::mismatch: kernels have loops.
#include_next <__algorithm/simd_utils.h>
#ifdef __HIP_DEVICE_COMPILE__
#undef _LIBCPP_VECTORIZE_ALGORITHMS
#define _LIBCPP_VECTORIZE_ALGORITHMS 0
#endif
