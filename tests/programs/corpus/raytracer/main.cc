#include <hip/hip_runtime.h>
#include <fstream>
#include <iostream>
#include <time.h>
#include "ray.h"

#define checkCudaErrors(val) check_cuda( (val), #val, __FILE__, __LINE__ )
void check_cuda(hipError_t result, char const *const func, const char *const file, int const line) {
    if (result) {
        std::cerr << "HIP error = " << static_cast<unsigned int>(result) << " at " << file << ":" << line << " '" << func << "' \n";
        hipDeviceReset();
        exit(99);
    }
}

__host__ __device__ vec3 shade(ray r, const sphere *world, int n) {
    vec3 result(0, 0, 0);
    float weight = 1.0f;
    const vec3 light = unit(vec3(1.0f, 2.0f, 1.5f));
    for (int depth = 0; depth < 6; depth++) {
        float t;
        int i = nearest(world, n, r, 0.001f, t);
        if (i < 0) {
            float u = 0.5f * (unit(r.direction()).y() + 1.0f);
            result += weight * ((1.0f - u) * vec3(1.0f, 1.0f, 1.0f) + u * vec3(0.5f, 0.7f, 1.0f));
            break;
        }
        vec3 p = r.at(t);
        vec3 normal = (1.0f / world[i].radius) * (p - world[i].center);
        float diffuse = fmaxf(dot(normal, light), 0.0f);
        float unused;
        if (nearest(world, n, ray(p, light), 0.001f, unused) >= 0) diffuse = 0.0f;
        result += (weight * (1 - world[i].reflect) * (0.2f + 0.8f * diffuse)) * world[i].color;
        weight *= world[i].reflect;
        if (weight < 0.01f) break;
        r = ray(p, reflect(unit(r.direction()), normal));
    }
    return result;
}

__host__ __device__ ray camera(float u, float v) {
    return ray(vec3(0, 0.6f, 2.5f), vec3(-2.0f + u * 4.0f, -1.2f + v * 2.0f, -2.5f));
}

__global__ void render(vec3 *fb, int max_x, int max_y, const sphere *world, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    int j = threadIdx.y + blockIdx.y * blockDim.y;
    if ((i >= max_x) || (j >= max_y)) return;
    fb[j * max_x + i] = shade(camera(float(i) / float(max_x), float(j) / float(max_y)), world, n);
}

int main(int argc, char **argv) {
    int nx = argc > 1 ? atoi(argv[1]) : 96, ny = nx / 2, tx = 8, ty = 8;
    std::cerr << "Rendering a " << nx << "x" << ny << " image in " << tx << "x" << ty << " blocks.\n";
    const int n = 12;
    sphere *world;
    vec3 *fb;
    checkCudaErrors(hipMallocManaged((void **)&world, n * sizeof(sphere)));
    checkCudaErrors(hipMallocManaged((void **)&fb, nx * ny * sizeof(vec3)));
    world[0] = {vec3(0, -100.5f, -1), 100.0f, vec3(0.8f, 0.8f, 0.1f), 0.05f};
    for (int k = 1; k < n; k++) {
        float f = 6.2831853f * k / (n - 1);
        world[k] = {vec3(1.2f * cosf(f), -0.25f + 0.06f * k, -1.0f + 1.2f * sinf(f)), 0.25f + 0.01f * k,
                    vec3(0.3f + 0.06f * k, 0.9f - 0.05f * k, 0.5f), k % 3 == 0 ? 0.7f : 0.1f};
    }
    clock_t start = clock();
    dim3 blocks(nx / tx + 1, ny / ty + 1), threads(tx, ty);
    render<<<blocks, threads>>>(fb, nx, ny, world, n);
    checkCudaErrors(hipGetLastError());
    checkCudaErrors(hipDeviceSynchronize());
    std::cerr << "took " << ((double)(clock() - start)) / CLOCKS_PER_SEC << " seconds.\n";

    // a rounding may decide whether an edge is hit: a few pixels may differ
    int differ = 0;
    std::ofstream out("out.ppm");
    out << "P3\n" << nx << " " << ny << "\n255\n";
    for (int j = ny - 1; j >= 0; j--)
        for (int i = 0; i < nx; i++) {
            vec3 got = fb[j * nx + i], want = shade(camera(float(i) / float(nx), float(j) / float(ny)), world, n);
            if ((got - want).length() > 2e-3f) differ++;
            out << int(255.99f * got[0]) << " " << int(255.99f * got[1]) << " " << int(255.99f * got[2]) << "\n";
        }
    out.close();
    checkCudaErrors(hipFree(world));
    checkCudaErrors(hipFree(fb));
    std::cout << differ << " of " << nx * ny << " pixels differ\n";
    if (differ > nx * ny / 200) { std::cout << "FAILED\n"; return 1; }
    std::cout << "PASSED\n";
    return 0;
}
