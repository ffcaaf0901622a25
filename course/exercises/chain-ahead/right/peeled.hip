__device__ float weight(float x)
{
    float p = 1;
#pragma unroll
    for (int j = 0; j < 24; j++) p = p * x + 0.5f;
    return p;
}

__global__ void follow(int n, int steps, const int* link, const float* value, float* out)
{
    // the last element is computed after the loop, so that fewer loads are for nothing
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || steps == 0) return;
    float x = value[i];
    int next = link[i], last = (steps - 1) * n + i;
    for (int to = i; to < last; to += n) {
        float following = value[next];
        next = link[next];
        out[to] = weight(x);
        x = following;
    }
    out[last] = weight(x);
}
