// expected cause: memory-lines
__global__ void soften(int n, float gain, const float* in, float* out)
{
    // neighbouring lanes now load neighbours, through LDS; but each thread still stores eight neighbours
    __shared__ float tile[2048];
    int start = blockIdx.x * blockDim.x * 8;
    for (int k = threadIdx.x; k < 8 * blockDim.x; k += blockDim.x) tile[k] = start + k < n ? in[start + k] : 0;
    __syncthreads();
    for (int k = 0; k < 8; k++) {
        int place = 8 * threadIdx.x + k;
        if (start + place < n) {
            float v = gain * tile[place];
            out[start + place] = v / (1 + fabsf(v));
        }
    }
}
