#include <hip/hip_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* histogram equalisation of an 8-bit image: privatised histograms, scan in one wavefront, look-up table */
#define BINS 256
#define HIPCHK(x) { hipError_t e = x; if(e != hipSuccess){ fprintf(stderr, "HIP failure: %s:%d: '%s'\n", __FILE__, __LINE__, hipGetErrorString(e)); exit(1);} }

__global__ void histogram_naive(const unsigned char *img, unsigned int *hist, int n)
{
    int stride = blockDim.x * gridDim.x;
    for(int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        atomicAdd(hist + img[i], 1);
}

__global__ void histogram_shared(const unsigned int *img, unsigned int *hist, int n4)
{
    __shared__ unsigned int temp[BINS];
    temp[threadIdx.x] = 0;
    __syncthreads();
    for(int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += blockDim.x * gridDim.x)
    {
        unsigned int four = img[i];
        atomicAdd(&temp[four & 0xff], 1u);
        atomicAdd(&temp[(four >> 8) & 0xff], 1u);
        atomicAdd(&temp[(four >> 16) & 0xff], 1u);
        atomicAdd(&temp[four >> 24], 1u);
    }
    __syncthreads();
    atomicAdd(&hist[threadIdx.x], temp[threadIdx.x]);
}

__global__ void make_table(const unsigned int *hist, unsigned char *table, unsigned int *cdf_out, int n)
{
    /* one wavefront, BINS / warpSize bins for each lane */
    const int lane = threadIdx.x, per = BINS / warpSize;
    unsigned int mine = 0;
    for(int k = 0; k < per; ++k) mine += hist[lane * per + k];
    unsigned int sum = mine;
    for(int d = 1; d < warpSize; d <<= 1)
    {
        unsigned int other = __shfl_up(sum, d);
        if(lane >= d) sum += other;
    }
    unsigned int at = sum - mine;
    /* the smallest cdf that is not zero */
    unsigned long long nonempty = __ballot(sum != 0);
    int first = __ffsll(nonempty) - 1;
    unsigned int lowest = 0;
    if(lane == first)
        for(int k = 0; k < per && lowest == 0; ++k) lowest = hist[lane * per + k];
    lowest = __shfl(lowest, first);
    for(int k = 0; k < per; ++k)
    {
        at += hist[lane * per + k];
        cdf_out[lane * per + k] = at;
        table[lane * per + k] = at <= lowest ? 0 : (unsigned char)(((unsigned long long)(at - lowest) * 255 + (n - lowest) / 2) / (n - lowest));
    }
}

__global__ void apply(const uchar4 *in, uchar4 *out, const unsigned char *__restrict__ table, int n4)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if(i < n4)
    {
        uchar4 p = in[i];
        p.x = table[p.x]; p.y = table[p.y]; p.z = table[p.z]; p.w = table[p.w];
        out[i] = p;
    }
}

int main(int argc, char **argv)
{
    int side = argc > 1 ? atoi(argv[1]) : 256, n = side * side & ~3;
    unsigned char *img = (unsigned char *)malloc(n), *got = (unsigned char *)malloc(n), table[BINS];
    unsigned int hist[BINS], want[BINS] = {0}, hist2[BINS], cdf[BINS];
    srand(8);
    for(int i = 0; i < n; ++i) img[i] = 60 + (rand() % 40) + (rand() % 40) + (i % side > side / 2 ? 20 : 0);
    for(int i = 0; i < n; ++i) want[img[i]]++;
    unsigned char *d_img, *d_out, *d_table; unsigned int *d_hist, *d_cdf;
    HIPCHK(hipMalloc((void**)&d_img, n)); HIPCHK(hipMalloc((void**)&d_out, n)); HIPCHK(hipMalloc((void**)&d_table, BINS));
    HIPCHK(hipMalloc((void**)&d_hist, 2 * sizeof(hist))); HIPCHK(hipMalloc((void**)&d_cdf, sizeof(hist)));
    HIPCHK(hipMemcpy(d_img, img, n, hipMemcpyHostToDevice));
    HIPCHK(hipMemset(d_hist, 0, 2 * sizeof(hist)));
    hipDeviceProp_t p;
    HIPCHK(hipGetDeviceProperties(&p, 0));
    histogram_naive<<<8, 256>>>(d_img, d_hist, n);
    histogram_shared<<<8, BINS>>>((unsigned int *)d_img, d_hist + BINS, n / 4);
    make_table<<<1, p.warpSize>>>(d_hist + BINS, d_table, d_cdf, n);
    apply<<<(n / 4 + 255) / 256, 256>>>((uchar4 *)d_img, (uchar4 *)d_out, d_table, n / 4);
    HIPCHK(hipGetLastError());
    HIPCHK(hipMemcpy(hist, d_hist, sizeof(hist), hipMemcpyDeviceToHost));
    HIPCHK(hipMemcpy(hist2, d_hist + BINS, sizeof(hist), hipMemcpyDeviceToHost));
    HIPCHK(hipMemcpy(cdf, d_cdf, sizeof(hist), hipMemcpyDeviceToHost));
    HIPCHK(hipMemcpy(table, d_table, BINS, hipMemcpyDeviceToHost));
    HIPCHK(hipMemcpy(got, d_out, n, hipMemcpyDeviceToHost));
    int errors = 0;
    if(memcmp(hist, want, sizeof(want))) { printf("naive histogram differs\n"); errors++; }
    if(memcmp(hist2, want, sizeof(want))) { printf("shared histogram differs\n"); errors++; }
    unsigned int sum = 0, lowest = 0;
    for(int b = 0; b < BINS; ++b)
    {
        sum += want[b];
        if(!lowest) lowest = sum;
        unsigned char t = sum <= lowest ? 0 : (unsigned char)(((unsigned long long)(sum - lowest) * 255 + (n - lowest) / 2) / (n - lowest));
        if(cdf[b] != sum || table[b] != t) { if(errors++ < 5) printf("bin %d: cdf %u (%u), table %d (%d)\n", b, cdf[b], sum, table[b], t); }
    }
    for(int i = 0; i < n; ++i) if(got[i] != table[img[i]]) errors++;
    HIPCHK(hipFree(d_img)); HIPCHK(hipFree(d_out)); HIPCHK(hipFree(d_table)); HIPCHK(hipFree(d_hist)); HIPCHK(hipFree(d_cdf));
    free(img); free(got);
    printf("%d pixels, %d errors\n%s\n", n, errors, errors ? "FAILED" : "PASSED");
    return errors != 0;
}
