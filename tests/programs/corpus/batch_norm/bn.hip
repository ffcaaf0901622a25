/**
 * Batch normalisation, NCHW, training forward, inference and backward.
 * One block per channel; reduction by wavefront shuffles, then through LDS.
 */
#include <hip/hip_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <assert.h>

#define HANDLE_ERROR(err) (HandleError((err), __FILE__, __LINE__))
static void HandleError(hipError_t err, const char *file, int line)
{
    if (err != hipSuccess)
    {
        printf("%s in %s at line %d\n", hipGetErrorString(err), file, line);
        exit(EXIT_FAILURE);
    }
}

struct Pair { float a, b; };

__device__ Pair warpSum(Pair v)
{
    for (int mask = warpSize / 2; mask > 0; mask >>= 1)
    {
        v.a += __shfl_xor(v.a, mask, warpSize);
        v.b += __shfl_xor(v.b, mask, warpSize);
    }
    return v;
}

__device__ Pair blockSum(Pair v)
{
    __shared__ Pair parts[1024 / 32];
    const int waves = blockDim.x / warpSize;
    v = warpSum(v);
    __syncthreads();
    if (threadIdx.x % warpSize == 0)
        parts[threadIdx.x / warpSize] = v;
    __syncthreads();
    Pair total = {0.0f, 0.0f};
    for (int w = 0; w < waves; ++w)
    {
        total.a += parts[w].a;
        total.b += parts[w].b;
    }
    return total;
}

__global__ void bnForwardTraining(const float *x, float *y, const float *scale, const float *shift, float *savedMean, float *savedInv,
                                  float *runningMean, float *runningVar, int n, int c, int hw, float eps, float momentum)
{
    const int ch = blockIdx.x, count = n * hw;
    Pair s = {0.0f, 0.0f};
    for (int i = threadIdx.x; i < count; i += blockDim.x)
    {
        float v = x[((i / hw) * c + ch) * hw + i % hw];
        s.a += v;
        s.b += v * v;
    }
    s = blockSum(s);
    const float mean = s.a / count, var = s.b / count - mean * mean, inv = rsqrtf(var + eps);
    for (int i = threadIdx.x; i < count; i += blockDim.x)
    {
        int at = ((i / hw) * c + ch) * hw + i % hw;
        y[at] = scale[ch] * (x[at] - mean) * inv + shift[ch];
    }
    if (threadIdx.x == 0)
    {
        savedMean[ch] = mean;
        savedInv[ch] = inv;
        runningMean[ch] = (1 - momentum) * runningMean[ch] + momentum * mean;
        runningVar[ch] = (1 - momentum) * runningVar[ch] + momentum * var * count / (count - 1);
    }
}

__global__ void bnBackward(const float *x, const float *dy, float *dx, const float *scale, const float *mean, const float *inv,
                           float *dscale, float *dshift, int n, int c, int hw)
{
    const int ch = blockIdx.x, count = n * hw;
    Pair s = {0.0f, 0.0f};
    for (int i = threadIdx.x; i < count; i += blockDim.x)
    {
        int at = ((i / hw) * c + ch) * hw + i % hw;
        s.a += dy[at];
        s.b += dy[at] * (x[at] - mean[ch]) * inv[ch];
    }
    s = blockSum(s);
    for (int i = threadIdx.x; i < count; i += blockDim.x)
    {
        int at = ((i / hw) * c + ch) * hw + i % hw;
        float xhat = (x[at] - mean[ch]) * inv[ch];
        dx[at] = scale[ch] * inv[ch] * (dy[at] - s.a / count - xhat * s.b / count);
    }
    if (threadIdx.x == 0)
    {
        dshift[ch] = s.a;
        dscale[ch] = s.b;
    }
}

static float *upload(const float *h, size_t n)
{
    float *d = NULL;
    HANDLE_ERROR(hipMalloc((void **)&d, n * sizeof(float)));
    if (h)
        HANDLE_ERROR(hipMemcpy(d, h, n * sizeof(float), hipMemcpyHostToDevice));
    else
        HANDLE_ERROR(hipMemset(d, 0, n * sizeof(float)));
    return d;
}

static int differs(const char *what, const float *d, const double *want, size_t n, double tolerance)
{
    float *h = (float *)malloc(n * sizeof(float));
    HANDLE_ERROR(hipMemcpy(h, d, n * sizeof(float), hipMemcpyDeviceToHost));
    double worst = 0;
    for (size_t i = 0; i < n; ++i)
        if (!(fabs(h[i] - want[i]) <= worst))
            worst = fabs(h[i] - want[i]);
    free(h);
    printf("  %-14s max error %.3e %s\n", what, worst, worst <= tolerance ? "" : "<-- wrong");
    return !(worst <= tolerance);
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 4, c = 12, hw = argc > 2 ? atoi(argv[2]) : 14 * 14;
    const size_t total = (size_t)n * c * hw;
    const float eps = 1e-5f, momentum = 0.1f;
    float *x = (float *)malloc(total * sizeof(float)), *dy = (float *)malloc(total * sizeof(float)), scale[12], shift[12];
    double *y = (double *)malloc(total * sizeof(double)), *dx = (double *)malloc(total * sizeof(double));
    double mean[12], var[12], rm[12], rv[12], ds[12], db[12];
    srand(1);
    for (size_t i = 0; i < total; ++i)
    {
        x[i] = (float)rand() / (float)RAND_MAX * 2 + 0.1f * ((i / hw) % c);
        dy[i] = (float)rand() / (float)RAND_MAX - 0.5f;
    }
    for (int k = 0; k < c; ++k) { scale[k] = 0.5f + 0.1f * k; shift[k] = 0.2f * k - 1; }
    for (int k = 0; k < c; ++k)
    {
        double s = 0, q = 0;
        const int count = n * hw;
#define EACH for (int b = 0; b < n; ++b) for (size_t at = ((size_t)b * c + k) * hw, e = at + hw; at < e; ++at)
        EACH s += x[at];
        mean[k] = s / count;
        EACH q += (x[at] - mean[k]) * (x[at] - mean[k]);
        var[k] = q / count;
        ds[k] = db[k] = 0;
        const double inv = 1 / sqrt(var[k] + eps);
        EACH {
            y[at] = scale[k] * (x[at] - mean[k]) * inv + shift[k];
            db[k] += dy[at];
            ds[k] += dy[at] * (x[at] - mean[k]) * inv;
        }
        EACH dx[at] = scale[k] * inv * (dy[at] - db[k] / count - (x[at] - mean[k]) * inv * ds[k] / count);
        rm[k] = momentum * mean[k];
        rv[k] = momentum * var[k] * count / (count - 1);
    }
    float *d_x = upload(x, total), *d_dy = upload(dy, total), *d_y = upload(NULL, total), *d_dx = upload(NULL, total);
    float *d_scale = upload(scale, c), *d_shift = upload(shift, c), *d_stat = upload(NULL, 6 * c);
    hipLaunchKernelGGL(bnForwardTraining, c, 256, 0, 0, d_x, d_y, d_scale, d_shift, d_stat, d_stat + c, d_stat + 2 * c, d_stat + 3 * c,
                       n, c, hw, eps, momentum);
    HANDLE_ERROR(hipPeekAtLastError());
    hipLaunchKernelGGL(bnBackward, c, 128, 0, 0, d_x, d_dy, d_dx, d_scale, d_stat, d_stat + c, d_stat + 4 * c, d_stat + 5 * c, n, c, hw);
    HANDLE_ERROR(hipPeekAtLastError());
    HANDLE_ERROR(hipDeviceSynchronize());
    int wrong = differs("y", d_y, y, total, 2e-5) + differs("dx", d_dx, dx, total, 2e-5) + differs("mean", d_stat, mean, c, 1e-5) +
                differs("running mean", d_stat + 2 * c, rm, c, 1e-6) + differs("running var", d_stat + 3 * c, rv, c, 1e-6) +
                differs("dscale", d_stat + 4 * c, ds, c, 2e-4) + differs("dshift", d_stat + 5 * c, db, c, 2e-4);
    float *all[] = {d_x, d_dy, d_y, d_dx, d_scale, d_shift, d_stat};
    for (unsigned i = 0; i < sizeof(all) / sizeof(*all); ++i)
        HANDLE_ERROR(hipFree(all[i]));
    free(x); free(dy); free(y); free(dx);
    printf("%s\n", wrong ? "FAILED!" : "PASSED!");
    return wrong;
}
