// expected cause: vgprs
__global__ void __launch_bounds__(256) moments(int n, const float* in, float* mean, float* variance)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v[96], sum = 0, squares = 0;
#pragma unroll
    for (int k = 0; k < 96; k++) sum += v[k] = in[k * n + i];
    float m = sum / 96;
#pragma unroll
    for (int k = 0; k < 96; k++) squares += (v[k] - m) * (v[k] - m);
    mean[i] = m;
    variance[i] = squares / 96;
}
