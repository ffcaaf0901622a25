// expected cause: window-too-short
__global__ void blur(int width, int height, int dies, const float* in, float* out)
{
    int across = (width + 63) / 64, tiles = gridDim.x;
    int die = blockIdx.x % dies, turn = blockIdx.x / dies, each = tiles / dies, rest = tiles % dies;
    int tile = die * each + min(die, rest) + turn;
    int x = tile % across * 64 + threadIdx.x, y = tile / across * 4 + threadIdx.y;
    if (x < width && y + 8 < height) {
        float sum = 0;
        for (int k = 0; k <= 7; k++) sum += in[(y + k) * width + x];
        out[y * width + x] = sum;
    }
}
