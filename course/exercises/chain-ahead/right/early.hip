__global__ void follow(int n, int steps, const int* link, const float* value, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = value[i];
    int next = link[i];
    for (int k = 0; k < steps; k++) {
        float next_x = value[next];          // in flight while this element is computed
        int after = link[next];
        float p = 1;
#pragma unroll
        for (int j = 0; j < 24; j++) p = p * x + 0.5f;
        out[k * n + i] = p;
        x = next_x;
        next = after;
    }
}
