/* Managed memory: a class that allocates itself in managed memory, a linked list walked on the device, prefetch and advice */
#include <hip/hip_runtime.h>
#include <cassert>
#include <cmath>
#include <cstring>
#include <iostream>
#include <new>
#include <vector>

#define HIP_ERROR_CHECK(call) { auto err_ = call; if (err_ != hipSuccess) { std::cerr << #call << ": " << hipGetErrorString(err_) << std::endl; std::exit(1); } }

class Managed {
public:
    void *operator new(size_t len) {
        void *ptr;
        HIP_ERROR_CHECK(hipMallocManaged(&ptr, len));
        return ptr;
    }
    void *operator new[](size_t len) { return Managed::operator new(len); }
    void operator delete(void *ptr) {
        HIP_ERROR_CHECK(hipDeviceSynchronize());
        HIP_ERROR_CHECK(hipFree(ptr));
    }
    void operator delete[](void *ptr) { Managed::operator delete(ptr); }
};

class String : public Managed {
    int length_ = 0;
    char *data_ = nullptr;
public:
    String() = default;
    String(const char *s) { assign(s); }
    String(const String &o) : Managed() { assign(o.data_); }
    String &operator=(const char *s) { HIP_ERROR_CHECK(hipFree(data_)); assign(s); return *this; }
    ~String() { if (data_) HIP_ERROR_CHECK(hipFree(data_)); }
    void assign(const char *s) {
        length_ = (int)std::strlen(s);
        HIP_ERROR_CHECK(hipMallocManaged(&data_, length_ + 1));
        std::memcpy(data_, s, length_ + 1);
    }
    __host__ __device__ char &operator[](int i) { return data_[i]; }
    __host__ __device__ int size() const { return length_; }
    __host__ __device__ const char *c_str() const { return data_; }
};

struct Particle : Managed {
    float x, y, vx, vy;
    String name;
    Particle *next = nullptr;
};

__managed__ int total_steps = 0;
__device__ __managed__ float gravity = -9.81f;

__global__ void advance(Particle *list, float dt, int steps) {
    int index = 0;
    for (Particle *p = list; p != nullptr; p = p->next, ++index) {
        if (index % (int)(gridDim.x * blockDim.x) != (int)(blockIdx.x * blockDim.x + threadIdx.x)) continue;
        for (int s = 0; s < steps; ++s) {
            p->vy = fmaf(gravity, dt, p->vy);
            p->x = fmaf(p->vx, dt, p->x);
            p->y = fmaf(p->vy, dt, p->y);
            if (p->y < 0) { p->y = -p->y; p->vy = -0.5f * p->vy; }
        }
        p->name[0] = p->name[0] >= 'a' ? p->name[0] - 32 : p->name[0];
        atomicAdd(&total_steps, steps);
    }
}

__global__ void add_one(unsigned long long *a, size_t n) {
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) a[i] += 1;
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? std::atoi(argv[1]) : 40, steps = 50;
    int managed = 0, device;
    HIP_ERROR_CHECK(hipGetDevice(&device));
    HIP_ERROR_CHECK(hipDeviceGetAttribute(&managed, hipDeviceAttributeManagedMemory, device));
    if (!managed) { std::cout << "no managed memory on this device\n"; return 2; }
    Particle *list = nullptr;
    struct Plain { float x, y, vx, vy; };
    std::vector<Plain> host;
    for (int i = 0; i < n; ++i) {
        Particle *p = new Particle;
        p->x = 0.1f * i; p->y = 1 + 0.05f * i; p->vx = 1; p->vy = 0.2f * (i % 5);
        p->name = i % 2 ? "odd" : "even";
        p->next = list;
        list = p;
        host.push_back({p->x, p->y, p->vx, p->vy});
    }
    advance<<<2, 16>>>(list, 0.01f, steps);
    HIP_ERROR_CHECK(hipGetLastError());
    HIP_ERROR_CHECK(hipDeviceSynchronize());
    int bad = 0, i = n - 1;
    for (Particle *p = list; p; --i) {
        Plain &h = host[i];
        for (int s = 0; s < steps; ++s) {
            h.vy = std::fmaf(gravity, 0.01f, h.vy); h.x = std::fmaf(h.vx, 0.01f, h.x); h.y = std::fmaf(h.vy, 0.01f, h.y);
            if (h.y < 0) { h.y = -h.y; h.vy = -0.5f * h.vy; }
        }
        if (h.x != p->x || h.y != p->y || h.vy != p->vy || std::strcmp(p->name.c_str(), i % 2 ? "Odd" : "Even")) ++bad;
        Particle *next = p->next;
        delete p;
        p = next;
    }
    std::cout << n << " particles, " << bad << " wrong, " << total_steps << " steps\n";
    bad += total_steps != n * steps;

    const size_t m = 1 << 16;
    unsigned long long *a;
    HIP_ERROR_CHECK(hipMallocManaged(&a, m * sizeof *a));
    for (size_t k = 0; k < m; ++k) a[k] = k;
    HIP_ERROR_CHECK(hipMemAdvise(a, m * sizeof *a, hipMemAdviseSetPreferredLocation, device));
    HIP_ERROR_CHECK(hipMemPrefetchAsync(a, m * sizeof *a, device, 0));
    add_one<<<32, 256>>>(a, m);
    HIP_ERROR_CHECK(hipMemPrefetchAsync(a, m * sizeof *a, hipCpuDeviceId, 0));
    HIP_ERROR_CHECK(hipStreamSynchronize(0));
    for (size_t k = 0; k < m; ++k) bad += a[k] != k + 1;
    hipPointerAttribute_t attributes;
    HIP_ERROR_CHECK(hipPointerGetAttributes(&attributes, a));
    std::cout << "managed pointer: " << (attributes.isManaged ? "yes" : "no") << std::endl;
    bad += !attributes.isManaged;
    HIP_ERROR_CHECK(hipFree(a));
    std::cout << (bad ? "FAILED" : "PASSED") << std::endl;
    return bad != 0;
}
