// The classes of 8-bit numbers: the host has both formats, code for gfx942 the FNUZ ones alone.
// OUT: host 1.25 1.25
// OUT[gfx942]: device 1.25
// OUT[gfx1100]: device 1.25 1.25
#include <hip/hip_fp8.h>
#include <hip/hip_runtime.h>
#include <cstdio>

__global__ void round_trip(float* x) {
    __hip_fp8_e4m3_fnuz fnuz(x[0]);
    x[1] = static_cast<float>(fnuz);
#if HIP_FP8_TYPE_OCP
    __hip_fp8_e4m3 ocp(x[0]);
    x[2] = static_cast<float>(ocp);
#endif
}

// HIP has no function of this name, so programs define their own.
static __device__ unsigned int __hgt2_mask(const __half2 a, const __half2 b) { return __hgt(a.x, b.x) ? 1 : 2; }
__global__ void own_mask(unsigned int* out, const __half2* in) { *out = __hgt2_mask(in[0], in[1]); }

__global__ void half_of(__half* out, volatile __half_raw* raw) {
    __half number;
    number = *raw;
    *out = number;
}

int main() {
    float host[3] = {1.3f, 0, 0}, *device;
    printf("host %g %g\n", static_cast<float>(__hip_fp8_e4m3_fnuz(1.3f)), static_cast<float>(__hip_fp8_e4m3(1.3f)));
    if (hipMalloc(&device, sizeof host) != hipSuccess) return 1;
    if (hipMemcpy(device, host, sizeof host, hipMemcpyHostToDevice) != hipSuccess) return 2;
    round_trip<<<1, 1>>>(device);
    if (hipMemcpy(host, device, sizeof host, hipMemcpyDeviceToHost) != hipSuccess) return 3;
    printf("device %g", host[1]);
    if (host[2] != 0) printf(" %g", host[2]);
    printf("\n");
    return hipFree(device) != hipSuccess;
}
