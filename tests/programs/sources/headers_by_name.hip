// OUT: 2 14 1.5 3 7
//
// Names of HIP's headers that public programs include, in any order.
#include <hip/hip_profile.h>
#include <hip/library_types.h>
#include <hip/amd_detail/host_defines.h>
#include <hip/host_defines.h>
#include <hip/amd_detail/amd_hip_vector_types.h>
#include <hip/amd_detail/amd_hip_atomic.h>
#include <hip/amd_detail/amd_hip_unsafe_atomics.h>
#include <hip/amd_detail/amd_warp_functions.h>
#include <hip/amd_detail/amd_warp_sync_functions.h>
#include <hip/amd_detail/amd_device_functions.h>
#include <hip/amd_detail/amd_math_functions.h>
#include <hip/amd_detail/amd_hip_common.h>
#include <hip/amd_detail/amd_hip_runtime.h>
#include <hip/amd_detail/amd_hip_runtime_pt_api.h>
#include <hip/amd_detail/amd_hip_fp16.h>
#include <hip/amd_detail/hip_fp16_math_fwd.h>
#include <hip/amd_detail/amd_hip_bf16.h>
#include <hip/amd_detail/amd_hip_bfloat16.h>
#include <hip/amd_detail/amd_hip_fp8.h>
#include <hip/amd_detail/amd_hip_complex.h>
#include <hip/amd_detail/amd_hip_cooperative_groups.h>
#include <hip/amd_detail/hip_cooperative_groups_helper.h>
#include <hip/amd_detail/device_library_decls.h>
#include <hip/amd_detail/hip_ldg.h>
#include <hip/amd_detail/hip_runtime_prof.h>
#include <hip/hip_ext.h>
#include <hip/hip_version.h>
#include <hip/hip_runtime.h>

#include <cstdio>

__global__ void k(int* out, const float* in) {
  HIP_SCOPED_MARKER("inside", "group");
  if (threadIdx.x == 0) {
    out[0] = static_cast<int>(hipCabsf(make_hipFloatComplex(0, 3)));
    out[1] = static_cast<int>(__ldg(in) + __half2float(__float2half(2.0f)));
  }
}

int main() {
  int* out;
  float* in;
  if (hipMallocManaged(&out, 8) != hipSuccess || hipMallocManaged(&in, 4) != hipSuccess) return 1;
  *in = 5.5f;
  k<<<1, 64>>>(out, in);
  if (hipDeviceSynchronize() != hipSuccess) return 2;
  HIP_BEGIN_MARKER("a", "b");
  HIP_END_MARKER();
  printf("%d %d %g %d %d\n", HIP_R_16F, HIP_R_16BF, HIP_VERSION_MAJOR >= 7 ? 1.5 : 0.0, out[0], out[1]);
}
