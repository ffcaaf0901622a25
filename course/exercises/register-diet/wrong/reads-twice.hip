// expected cause: memory-lines
__global__ void __launch_bounds__(256) moments(int n, const float* in, float* mean, float* variance)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0, squares = 0;
    for (int k = 0; k < 96; k++) sum += in[k * n + i];
    float m = sum / 96;
    for (int k = 0; k < 96; k++) {
        float distance = in[k * n + i] - m;
        squares += distance * distance;
    }
    mean[i] = m;
    variance[i] = squares / 96;
}
