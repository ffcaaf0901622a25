// The first row that ends behind the share's first non-zero, by bisection; rows that end are stored before the next product.
__global__ void shares(int rows, int nonzeros, int share, const int* offsets, const int* columns, const float* values,
                       const float* x, float* y, float* carry)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, k = t * share;
    if (k < nonzeros) {
        int row = 0, size = rows;
        while (size > 0) {
            int half = size / 2;
            if (offsets[row + half + 1] <= k) {
                row += half + 1;
                size -= half + 1;
            } else {
                size = half;
            }
        }
        int last = k + share < nonzeros ? k + share : nonzeros;
        float part = 0;
        while (k < last) {
            int stop = min(offsets[row + 1], last);
            for (; k < stop; k++) part = part + x[columns[k]] * values[k];
            if (k == offsets[row + 1]) {
                if (offsets[row] < k) y[row] = part;
                part = 0;
                row++;
            }
        }
        carry[t] = part;
    }
}

__global__ void add_carries(int rows, int share, const int* offsets, const float* carry, float* y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && offsets[row] < offsets[row + 1]) {
        int from = offsets[row] / share, to = (offsets[row + 1] - 1) / share;
        float sum = 0;
        for (int t = from; t < to; t++) sum += carry[t];
        if (from < to) y[row] += sum;
    }
}
