// expected cause: work-not-shared
__global__ void smooth(int n, const float* in, float* out)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        for (int i = 0; i < n; i++) {
            bool end = i == 0 || i == n - 1;
            out[i] = end ? in[i] : (in[i - 1] + in[i] + in[i + 1]) / 3;
        }
    }
}
