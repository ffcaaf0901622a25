// expected cause: cancellation
__global__ void __launch_bounds__(256) moments(int n, const float* in, float* mean, float* variance)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0, squares = 0;
    for (int k = 0; k < 96; k++) {
        float v = in[k * n + i] - 10000;
        sum += v;
        squares += v * v;
    }
    float m = sum / 96;
    mean[i] = 10000 + m;
    variance[i] = squares / 96 - m * m;
}
