__global__ void __launch_bounds__(256) moments(int n, const float* in, float* mean, float* variance)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float m = 0, squares = 0;
#pragma unroll 4
    for (int k = 0; k < 96; k++) {
        float value = in[k * n + i];
        float distance = value - m;
        m += distance / (k + 1);
        squares += distance * (value - m);
    }
    mean[i] = m;
    variance[i] = squares / 96;
}
