#include <limits.h>

__global__ void running_max(int n, const int* in, const unsigned char* head, int* out)
{
    __shared__ int of_wave[32], begun_in[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % warpSize, wave = threadIdx.x / warpSize;

    int top = i < n ? in[i] : INT_MIN;                       // of my elements so far
    int begun = threadIdx.x == 0 || (i < n && head[i]);      // does a segment begin among them?
    for (int step = 1; step < warpSize; step *= 2) {
        int lower_top = __shfl_up(top, step), lower_begun = __shfl_up(begun, step);
        if (lane >= step && !begun) {
            top = max(top, lower_top);
            begun = lower_begun;
        }
    }
    if (lane == warpSize - 1) {
        of_wave[wave] = top;
        begun_in[wave] = begun;
    }
    __syncthreads();

    int carry = INT_MIN;                                     // of the waves before mine
    for (int w = 0; w < wave; w++) carry = begun_in[w] ? of_wave[w] : max(carry, of_wave[w]);
    if (!begun) top = max(top, carry);
    if (i < n) out[i] = top;
}
