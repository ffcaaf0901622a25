__global__ void __launch_bounds__(256) moments(int n, const float* in, float* mean, float* variance)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float m = 0, squares = 0;
#pragma unroll 1
    for (int k = 0; k < 96; k += 24) {
        float v[24], sum = 0, own = 0;
#pragma unroll
        for (int j = 0; j < 24; j++) sum += v[j] = in[(k + j) * n + i];
        float middle = sum / 24;
#pragma unroll
        for (int j = 0; j < 24; j++) own += (v[j] - middle) * (v[j] - middle);
        float distance = middle - m;                       // two groups become one
        squares += own + distance * distance * 24 * k / (k + 24);
        m += distance * 24 / (k + 24);
    }
    mean[i] = m;
    variance[i] = squares / 96;
}
