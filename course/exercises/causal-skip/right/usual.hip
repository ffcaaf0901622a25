#define D 8

__global__ void causal(int queries, int keys, const float* q, const float* k, const float* v, float* o)
{
    __shared__ float K[64][D], V[64][D];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    bool is_query = i < queries;
    float x[D], out[D] = {}, largest = -INFINITY, sum = 0;
    for (int d = 0; d < D; d++) x[d] = is_query ? q[i * D + d] : 0;

    int more = keys - queries;                                     // query i sees the keys up to i + more
    int last = min((int)blockIdx.x * 64 + 63, queries - 1) + more; // what the last query of the block sees
    for (int start = 0; start <= last; start += 64) {
        __syncthreads();
        for (int e = t; e < 64 * D; e += 64) {
            bool there = start * D + e < keys * D;
            K[e / D][e % D] = there ? k[start * D + e] : 0;
            V[e / D][e % D] = there ? v[start * D + e] : 0;
        }
        __syncthreads();
        int end = is_query ? min(64, i + more + 1 - start) : 0;    // keys of this tile that the query sees
        for (int j = 0; j < end; j++) {
            float score = 0;
            for (int d = 0; d < D; d++) score += x[d] * K[j][d];
            float larger = fmaxf(largest, score);
            float factor = __expf(largest - larger), p = __expf(score - larger);
            largest = larger;
            sum = sum * factor + p;
            for (int d = 0; d < D; d++) out[d] = out[d] * factor + p * V[j][d];
        }
    }
    if (is_query)
        for (int d = 0; d < D; d++) o[i * D + d] = sum > 0 ? out[d] / sum : 0;
}
