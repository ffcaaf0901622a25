// expected cause: missing-guard
__global__ void __launch_bounds__(256) moments(int n, const float* in, float* mean, float* variance)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float first = in[i], sum = 0, squares = 0;
    for (int k = 1; k < 96; k++) {
        float distance = in[k * n + i] - first;
        sum += distance;
        squares += distance * distance;
    }
    float shift = sum / 96;
    mean[i] = first + shift;
    variance[i] = squares / 96 - shift * shift;
}
