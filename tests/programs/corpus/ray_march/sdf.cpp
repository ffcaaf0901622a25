// Sphere tracing of a signed distance field (torus, box, blended spheres), soft shadows, palette; writes a PPM if asked
#include <hip/hip_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#if defined(__HIP_PLATFORM_AMD__)
static const char *platform = "AMD";
#elif defined(__HIP_PLATFORM_NVIDIA__)
static const char *platform = "NVIDIA";
#else
#error "neither platform"
#endif

#if defined(__HIP_DEVICE_COMPILE__)
#define WHERE "device"
#else
#define WHERE "host"
#endif

#define HIP_CHECK(status) check_status(status, __FILE__, __LINE__)
static inline void check_status(hipError_t status, const char *file, int line)
{
    if (status == hipSuccess) return;
    std::fprintf(stderr, "%s:%d: %s\n", file, line, hipGetErrorString(status));
    std::exit(EXIT_FAILURE);
}

#define HD __host__ __device__ __forceinline__

HD float3 add(float3 a, float3 b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
HD float3 scale(float3 a, float s) { return make_float3(a.x * s, a.y * s, a.z * s); }
HD float dot3(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
HD float length3(float3 a) { return sqrtf(dot3(a, a)); }
HD float3 normalize3(float3 a) { return scale(a, 1.0f / length3(a)); }
HD float clampf(float x, float lo, float hi) { return fminf(fmaxf(x, lo), hi); }

HD float torus(float3 p, float major, float minor)
{
    float q = sqrtf(p.x * p.x + p.z * p.z) - major;
    return sqrtf(q * q + p.y * p.y) - minor;
}

HD float box(float3 p, float3 half)
{
    float3 d = make_float3(fabsf(p.x) - half.x, fabsf(p.y) - half.y, fabsf(p.z) - half.z);
    float3 outer = make_float3(fmaxf(d.x, 0.0f), fmaxf(d.y, 0.0f), fmaxf(d.z, 0.0f));
    return length3(outer) + fminf(fmaxf(d.x, fmaxf(d.y, d.z)), 0.0f);
}

HD float smooth_min(float a, float b, float k)
{
    float h = clampf(0.5f + 0.5f * (b - a) / k, 0.0f, 1.0f);
    return b + (a - b) * h - k * h * (1.0f - h);
}

HD float scene(float3 p)
{
    float d = torus(add(p, make_float3(0, -0.4f, 0)), 1.0f, 0.3f);
    d = fminf(d, box(add(p, make_float3(1.9f, -0.3f, 0.2f)), make_float3(0.4f, 0.6f, 0.4f)));
    float a = length3(add(p, make_float3(-1.8f, -0.3f, 0))) - 0.5f, b = length3(add(p, make_float3(-2.1f, -0.8f, 0.1f))) - 0.35f;
    d = fminf(d, smooth_min(a, b, 0.3f));
    return fminf(d, p.y + 0.3f);
}

struct Hit { float distance; int steps; float shade; };

HD Hit trace(float u, float v)
{
    float3 eye = make_float3(0.3f, 1.6f, -4.5f), ray = normalize3(make_float3(u, v - 0.25f, 1.6f));
    Hit hit = {0.0f, 0, 0.1f};
    float3 p = eye;
    for (; hit.steps < 96; hit.steps++) {
        p = add(eye, scale(ray, hit.distance));
        float d = scene(p);
        if (d < 1e-3f) break;
        hit.distance += d;
        if (hit.distance > 20.0f) { hit.distance = 20.0f; return hit; }
    }
    const float e = 1e-2f;
    float3 n = normalize3(make_float3(scene(add(p, make_float3(e, 0, 0))) - scene(add(p, make_float3(-e, 0, 0))),
                                      scene(add(p, make_float3(0, e, 0))) - scene(add(p, make_float3(0, -e, 0))),
                                      scene(add(p, make_float3(0, 0, e))) - scene(add(p, make_float3(0, 0, -e)))));
    float3 light = normalize3(make_float3(0.6f, 0.8f, -0.5f));
    float shadow = 1.0f, t = 0.05f;
    for (int i = 0; i < 24 && t < 6.0f; i++) {
        float d = scene(add(p, scale(light, t)));
        shadow = fminf(shadow, 8.0f * d / t);
        if (shadow < 0.01f) { shadow = 0.0f; break; }
        t += fmaxf(d, 0.03f);
    }
    hit.shade = 0.15f + 0.85f * fmaxf(0.0f, dot3(n, light)) * shadow;
    return hit;
}

__global__ void render(float4 *image, int width, int height, unsigned long long *steps)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    Hit h = {0, 0, 0};
    if (x < width && y < height) {
        h = trace((2.0f * x - width) / height, (height - 2.0f * y) / height);
        image[y * width + x] = make_float4(h.shade, h.shade * 0.9f, h.shade * 0.8f, h.distance);
    }
    if (x == 0 && y == 0) printf("rendering on the %s\n", WHERE);
    atomicAdd(steps, (unsigned long long)h.steps);
}

int main(int argc, char **argv)
{
    int width = 96, height = 64;
    const char *file = NULL;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-w") && i + 1 < argc) width = atoi(argv[++i]);
        else if (!strcmp(argv[i], "-h") && i + 1 < argc) height = atoi(argv[++i]);
        else if (!strcmp(argv[i], "-o") && i + 1 < argc) file = argv[++i];
        else { fprintf(stderr, "usage: %s [-w width] [-h height] [-o file.ppm]\n", argv[0]); return 2; }
    }
    printf("%s platform, main runs on the %s\n", platform, WHERE);
    float4 *image;
    unsigned long long *steps, host_steps = 0;
    HIP_CHECK(hipHostMalloc(&image, sizeof(float4) * width * height, hipHostMallocMapped));
    HIP_CHECK(hipHostMalloc(&steps, sizeof *steps));
    *steps = 0;
    hipLaunchKernelGGL(render, dim3((width + 15) / 16, (height + 15) / 16), dim3(16, 16, 1), 0, 0, image, width, height, steps);
    HIP_CHECK(hipGetLastError());
    HIP_CHECK(hipDeviceSynchronize());
    int different = 0;
    double mean = 0;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            Hit h = trace((2.0f * x - width) / height, (height - 2.0f * y) / height);
            float4 got = image[y * width + x];
            host_steps += h.steps;
            mean += got.x / (width * height);
            // at a silhouette a rounding decides between near and far
            if (!(fabsf(got.x - h.shade) < 0.02f) || !(fabsf(got.w - h.distance) < 0.02f)) different++;
        }
    if (file) {
        FILE *out = fopen(file, "wb");
        if (!out) { perror(file); return 1; }
        fprintf(out, "P6 %d %d 255\n", width, height);
        for (int i = 0; i < width * height; i++)
            for (float c : {image[i].x, image[i].y, image[i].z}) fputc((int)(255 * clampf(c, 0, 1)), out);
        fclose(out);
    }
    double off = fabs((double)*steps - (double)host_steps) / host_steps;
    printf("%d of %d pixels differ, mean %.4f, %llu steps (host %llu)\n", different, width * height, mean, *steps, host_steps);
    HIP_CHECK(hipHostFree(image));
    HIP_CHECK(hipHostFree(steps));
    if (different > width * height / 100 || off > 0.01 || mean < 0.1 || mean > 0.9) { printf("FAILED\n"); return 1; }
    printf("PASSED\n");
    return 0;
}
