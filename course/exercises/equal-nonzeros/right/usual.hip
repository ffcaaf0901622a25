__device__ int row_of(int k, int rows, const int* offsets)           // the last row that begins at k or before
{
    int low = 0, high = rows;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (offsets[middle] <= k) low = middle; else high = middle;
    }
    return low;
}

__global__ void shares(int rows, int nonzeros, int share, const int* offsets, const int* columns, const float* values,
                       const float* x, float* y, float* carry)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int first = t * share, last = min(first + share, nonzeros);
    if (first >= nonzeros) return;
    int row = row_of(first, rows, offsets), end = offsets[row + 1];
    float sum = 0;
    for (int k = first; k < last; k++) {
        sum += values[k] * x[columns[k]];
        if (k + 1 == end) {                                          // the row ends here
            y[row] = sum;
            sum = 0;
            while (end == k + 1 && row + 1 < rows) end = offsets[++row + 1];         // on to the next row that is not empty
        }
    }
    carry[t] = sum;
}

__global__ void add_carries(int rows, int share, const int* offsets, const float* carry, float* y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows || offsets[row] == offsets[row + 1]) return;
    int from = offsets[row] / share, to = (offsets[row + 1] - 1) / share;
    float sum = 0;
    for (int t = from; t < to; t++) sum += carry[t];
    if (from < to) y[row] += sum;
}
