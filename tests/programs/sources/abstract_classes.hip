// Classes with virtual functions that have no body, made and used on the device; by default and without optimisation.
// OPTIONS: -O0
// OUT: 5 64
// OUT: 7
#include <hip/hip_runtime.h>
#include <cstdio>

template <class T>
struct Container {
    __device__ Container() {}
    __device__ virtual ~Container() {}
    __device__ virtual void push(T) = 0;
    __device__ virtual T first() const = 0;
};
template <class T>
struct Vector : Container<T> {
    T* data;
    int room, n = 0;
    __device__ explicit Vector(int room) : data(new T[room]), room(room) {}
    __device__ ~Vector() { delete[] data; }
    __device__ void push(T value) override { data[n++] = value; }
    __device__ T first() const override { return data[0]; }
};
struct Shape {
    __device__ virtual int area() const = 0;
    __device__ virtual int volume() const = delete;
};
struct Flat : Shape {
    __device__ int area() const override { return 7; }
    __device__ int volume() const = delete;
};

__global__ void make(Container<int>** made) { *made = new Vector<int>(64); }
__global__ void use(Container<int>** made, int* out) {
    (*made)->push(5);
    out[0] = (*made)->first();
    out[1] = static_cast<Vector<int>*>(*made)->room;
    delete *made;
}
__global__ void measure(int* out) {
    Flat flat;
    const Shape* shape = &flat;
    out[0] = shape->area();
}

int main() {
    Container<int>** made;
    int *out, host[2] = {};
    if (hipMalloc(&made, sizeof *made) != hipSuccess || hipMalloc(&out, sizeof host) != HIP_SUCCESS) return 1;
    make<<<1, 1>>>(made);
    use<<<1, 1>>>(made, out);
    if (hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost) != hipSuccess) return 2;
    printf("%d %d\n", host[0], host[1]);
    measure<<<1, 1>>>(out);
    if (hipMemcpy(host, out, sizeof(int), hipMemcpyDeviceToHost) != hipSuccess) return 3;
    printf("%d\n", host[0]);
    return hipFree(made) != hipSuccess || hipFree(out) != hipSuccess;
}
