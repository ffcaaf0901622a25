__global__ void partial(int m, int n, int k, int splits, const float* a, const float* b, float* parts)
{
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y, s = blockIdx.z;
    if (row >= m || column >= n) return;
    int depth = (k + splits - 1) / splits;
    int from = s * depth, to = min(from + depth, k);
    float sum = 0;
    for (int i = from; i < to; i++) sum += a[row * k + i] * b[i * n + column];
    parts[(s * m + row) * n + column] = sum;
}

__global__ void add_parts(int count, int splits, const float* parts, float* c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float sum = 0;
    for (int s = 0; s < splits; s++) sum += parts[s * count + i];
    c[i] = sum;
}
