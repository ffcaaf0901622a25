__global__ void weigh(int tiles, const float* in, const float* weights, float* out)
{
    // pointers to the buffers change places
    __shared__ float both[512];
    float *now = both, *other = both + 256;
    int t = threadIdx.x, last = tiles - 1;
    const float* mine = in + blockIdx.x * tiles * 256 + t;
    float sum = 0;
    now[t] = mine[0];
    __syncthreads();
    for (int k = 1; k <= tiles; k++) {
        float next = mine[min(k, last) * 256];
        for (int j = 0; j < 16; j++) sum += now[(t + j) & 255] * weights[j];
        other[t] = next;
        __syncthreads();
        float* swapped = now;
        now = other;
        other = swapped;
    }
    out[blockIdx.x * 256 + t] = sum;
}
