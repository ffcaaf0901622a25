__global__ void brighten(int n, int amount, const int* in, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int room = 255 - in[i];
        out[i] = in[i] + min(amount, room);
    }
}
