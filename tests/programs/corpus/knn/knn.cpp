/** k nearest neighbours, brute force: distances in tiles, insertion sort of the first k per query; and a classifier **/
#include <hip/hip_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <ctime>
#include <vector>
#define BLOCK_DIM 16

static const char *errors_to_text(hipError_t e) { return hipGetErrorString(e); }
#define must(x) { hipError_t code = (x); if (code != hipSuccess) { printf("%s\n", errors_to_text(code)); abort(); } }

// squared distances between columns of A (reference, dim x n) and B (query, dim x m), integers: exact
__global__ void computeDistanceGlobal(const int *A, int wA, size_t pA, const int *B, int wB, size_t pB, int dim, int *AB, size_t pAB)
{
    __shared__ int shared_A[BLOCK_DIM][BLOCK_DIM], shared_B[BLOCK_DIM][BLOCK_DIM];
    __shared__ int begin_A, begin_B, step_A, step_B, end_A;
    int tx = threadIdx.x, ty = threadIdx.y, ssd = 0;
    begin_A = BLOCK_DIM * blockIdx.y;
    begin_B = BLOCK_DIM * blockIdx.x;
    step_A = BLOCK_DIM * pA;
    step_B = BLOCK_DIM * pB;
    end_A = begin_A + (dim - 1) * pA;
    __syncthreads();
    int cond0 = (begin_A + tx < wA), cond1 = (begin_B + tx < wB), cond2 = (begin_A + ty < wA);
    for (int a = begin_A, b = begin_B; a <= end_A; a += step_A, b += step_B) {
        if (a / (int)pA + ty < dim) {
            shared_A[ty][tx] = cond0 ? A[a + pA * ty + tx] : 0;
            shared_B[ty][tx] = cond1 ? B[b + pB * ty + tx] : 0;
        } else {
            shared_A[ty][tx] = 0;
            shared_B[ty][tx] = 0;
        }
        __syncthreads();
        if (cond2 && cond1)
            for (int k = 0; k < BLOCK_DIM; ++k) {
                int tmp = shared_A[k][ty] - shared_B[k][tx];
                ssd += tmp * tmp;
            }
        __syncthreads();
    }
    if (cond2 && cond1) AB[(begin_A + ty) * pAB + begin_B + tx] = ssd;
}

__global__ void insertionSort(int *dist, size_t dist_pitch, int *ind, size_t ind_pitch, int width, int height, int k)
{
    unsigned int xIndex = blockIdx.x * blockDim.x + threadIdx.x;
    if (xIndex >= width) return;
    int *p_dist = dist + xIndex, *p_ind = ind + xIndex;
    p_ind[0] = 0;
    for (int l = 1; l < height; l++) {
        int curr = p_dist[l * dist_pitch];
        int last = min(l, k) - 1;
        if (l >= k && curr >= p_dist[last * dist_pitch]) continue;
        int j = l < k ? l : k - 1;
        for (; j > 0 && p_dist[(j - 1) * dist_pitch] > curr; --j) {
            p_dist[j * dist_pitch] = p_dist[(j - 1) * dist_pitch];
            p_ind[j * ind_pitch] = p_ind[(j - 1) * ind_pitch];
        }
        p_dist[j * dist_pitch] = curr;
        p_ind[j * ind_pitch] = l;
    }
}

__global__ void vote(const int *ind, size_t pitch, const unsigned char *labels, unsigned char *out, int width, int k)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= width) return;
    unsigned char counts[8] = {0};
    for (int i = 0; i < k; i++) counts[labels[ind[i * pitch + x]]]++;
    int best = 0;
    for (int c = 1; c < 8; c++) if (counts[c] > counts[best]) best = c;
    out[x] = best;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 500, m = argc > 2 ? atoi(argv[2]) : 130, dim = 20, k = 9;
    std::vector<int> ref(n * dim), query(m * dim);
    std::vector<unsigned char> labels(n), expected_label(m), got_label(m);
    srand(31);
    for (int i = 0; i < n; i++) { labels[i] = i % 5; for (int d = 0; d < dim; d++) ref[d * n + i] = rand() % 100 + 30 * ((labels[i] >> (d % 3)) & 1); }
    for (int i = 0; i < m; i++) for (int d = 0; d < dim; d++) query[d * m + i] = rand() % 100 + 30 * (((i % 5) >> (d % 3)) & 1);
    int *d_ref, *d_query, *d_dist, *d_ind;
    unsigned char *d_labels, *d_out;
    size_t p_ref, p_query, p_dist, p_ind;
    must(hipMallocPitch((void **)&d_ref, &p_ref, n * sizeof(int), dim));
    must(hipMallocPitch((void **)&d_query, &p_query, m * sizeof(int), dim));
    must(hipMallocPitch((void **)&d_dist, &p_dist, m * sizeof(int), n));
    must(hipMallocPitch((void **)&d_ind, &p_ind, m * sizeof(int), k));
    must(hipMalloc((void **)&d_labels, n));
    must(hipMalloc((void **)&d_out, m));
    must(hipMemcpy2D(d_ref, p_ref, ref.data(), n * sizeof(int), n * sizeof(int), dim, hipMemcpyHostToDevice));
    must(hipMemcpy2D(d_query, p_query, query.data(), m * sizeof(int), m * sizeof(int), dim, hipMemcpyHostToDevice));
    must(hipMemcpy(d_labels, labels.data(), n, hipMemcpyHostToDevice));
    dim3 grid((m + 15) / 16, (n + 15) / 16), threads(16, 16);
    computeDistanceGlobal<<<grid, threads>>>(d_ref, n, p_ref / sizeof(int), d_query, m, p_query / sizeof(int), dim, d_dist, p_dist / sizeof(int));
    must(hipGetLastError());
    insertionSort<<<(m + 63) / 64, 64>>>(d_dist, p_dist / sizeof(int), d_ind, p_ind / sizeof(int), m, n, k);
    vote<<<(m + 63) / 64, 64>>>(d_ind, p_ind / sizeof(int), d_labels, d_out, m, k);
    must(hipGetLastError());
    std::vector<int> dist(m * k), ind(m * k);
    must(hipMemcpy2D(dist.data(), m * sizeof(int), d_dist, p_dist, m * sizeof(int), k, hipMemcpyDeviceToHost));
    must(hipMemcpy2D(ind.data(), m * sizeof(int), d_ind, p_ind, m * sizeof(int), k, hipMemcpyDeviceToHost));
    must(hipMemcpy(got_label.data(), d_out, m, hipMemcpyDeviceToHost));
    int wrong = 0, right_class = 0;
    for (int q = 0; q < m; q++) {
        std::vector<std::pair<int, int>> all;
        for (int i = 0; i < n; i++) {
            int s = 0;
            for (int d = 0; d < dim; d++) s += (ref[d * n + i] - query[d * m + q]) * (ref[d * n + i] - query[d * m + q]);
            all.push_back(std::make_pair(s, i));
        }
        std::partial_sort(all.begin(), all.begin() + k, all.end());
        int counts[8] = {0}, best = 0;
        for (int i = 0; i < k; i++) {
            wrong += dist[i * m + q] != all[i].first || ind[i * m + q] != all[i].second;
            counts[labels[all[i].second]]++;
        }
        for (int c = 1; c < 8; c++) if (counts[c] > counts[best]) best = c;
        wrong += best != got_label[q];
        right_class += best == q % 5;
    }
    printf("%d queries, %d references: %d wrong, %d classified as made\n", m, n, wrong, right_class);
    must(hipFree(d_ref)); must(hipFree(d_query)); must(hipFree(d_dist)); must(hipFree(d_ind)); must(hipFree(d_labels)); must(hipFree(d_out));
    if (wrong) { printf("FAILED\n"); return EXIT_FAILURE; }
    printf("PASSED\n");
    return EXIT_SUCCESS;
}
