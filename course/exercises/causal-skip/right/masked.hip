// Whole tiles are skipped; within a tile the mask is a score of minus infinity, and maxima change once a tile.
#define D 8

__global__ void causal(int queries, int keys, const float* q, const float* k, const float* v, float* o)
{
    __shared__ float K[64 * D], V[64 * D];
    const int t = threadIdx.x, first = 64 * blockIdx.x, i = first + t, row = min(i, queries - 1);
    float x[D], out[D], largest = -INFINITY, sum = 0;
    for (int d = 0; d < D; d++) {
        x[d] = q[row * D + d];
        out[d] = 0;
    }
    const int seen = row + keys - queries;
    const int tiles = (min(first + 64, queries) + keys - queries + 63) / 64;
    for (int tile = 0; tile < tiles; tile++) {
        const int start = 64 * tile;
        for (int e = 0; e < D; e++) {
            const int place = 64 * e + t;
            const bool there = start * D + place < keys * D;
            K[place] = there ? k[start * D + place] : 0;
            V[place] = there ? v[start * D + place] : 0;
        }
        __syncthreads();
        float top = largest;
        for (int j = 0; j < 64; j++) {
            float score = 0;
            for (int d = 0; d < D; d++) score += x[d] * K[j * D + d];
            top = fmaxf(top, start + j <= seen ? score : -INFINITY);
        }
        if (top > -INFINITY) {
            const float factor = expf(largest - top);
            sum *= factor;
            for (int d = 0; d < D; d++) out[d] *= factor;
            for (int j = 0; j < 64; j++) {
                float score = 0;
                for (int d = 0; d < D; d++) score += x[d] * K[j * D + d];
                const float p = expf((start + j <= seen ? score : -INFINITY) - top);
                sum += p;
                for (int d = 0; d < D; d++) out[d] += p * V[j * D + d];
            }
            largest = top;
        }
        __syncthreads();
    }
    if (i >= queries) return;
    for (int d = 0; d < D; d++) o[i * D + d] = sum == 0 ? 0 : out[d] / sum;
}
