// A thread has four neighbouring elements, and loads each value once.
__global__ void smooth(int n, const float* in, float* out)
{
    int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (first >= n) return;
    float left = first > 0 ? in[first - 1] : 0, middle = in[first];
    for (int i = first; i < min(first + 4, n); i++) {
        float right = i + 1 < n ? in[i + 1] : 0;
        out[i] = i == 0 || i == n - 1 ? middle : (left + middle + right) / 3;
        left = middle;
        middle = right;
    }
}
