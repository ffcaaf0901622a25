// Bodies that attract each other: build/nbody BODIES STEPS [FILE]
//
// Each body has a place, a speed and a mass. In each step the force of all bodies on each one is added up, then all
// bodies move. FILE gets the places after the last step: x y z of each body, as 32-bit floats.
// The program is right, and slow. README.md says what is to be reached.
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                       \
    do {                                                                                  \
        hipError_t error = (call);                                                        \
        if (error != hipSuccess) {                                                        \
            std::fprintf(stderr, "line %d: %s\n", __LINE__, hipGetErrorString(error));    \
            std::exit(2);                                                                 \
        }                                                                                 \
    } while (0)

struct Body {
    float x, y, z;
    float vx, vy, vz;
    float mass;
};

constexpr float STEP = 0.05f;       // time between two steps
constexpr float SOFTENING = 0.01f;  // added to squared distances: no force is infinite

typedef float Pair __attribute__((ext_vector_type(2)));  // two numbers in one instruction

constexpr int BLOCK = 64;     // threads of a block of `forces`
constexpr int PAIRS = 2;      // pairs of bodies of a thread: each place that it reads serves them all
constexpr int BODIES = BLOCK * 2 * PAIRS;  // of a block
constexpr int PARTS = 128;    // into which all bodies are split: so many blocks work on the same bodies

// The forces of one part of the bodies (blockIdx.y) on BODIES bodies (blockIdx.x). The body itself adds 0, and so do
// those behind the end, whose mass is 0.
__global__ __launch_bounds__(BLOCK) void forces(int n, int length, const float4* places, float4* sums) {
    int first = blockIdx.x * BODIES + threadIdx.x, stride = gridDim.x * BODIES;
    Pair x[PAIRS], y[PAIRS], z[PAIRS], ax[PAIRS] = {}, ay[PAIRS] = {}, az[PAIRS] = {};
    for (int p = 0; p < PAIRS; p++) {
        float4 one = places[first + 2 * p * BLOCK], two = places[first + (2 * p + 1) * BLOCK];
        x[p] = {one.x, two.x};
        y[p] = {one.y, two.y};
        z[p] = {one.z, two.z};
    }
    int begin = blockIdx.y * length, end = min(begin + length, n);
#pragma unroll 4
    for (int j = begin; j < end; j++) {
        float4 other = places[j];  // the same for all threads: scalar registers
        for (int p = 0; p < PAIRS; p++) {
            Pair dx = other.x - x[p], dy = other.y - y[p], dz = other.z - z[p];
            Pair square = dx * dx + (dy * dy + (dz * dz + SOFTENING));
            Pair inverse = {__builtin_amdgcn_rsqf(square.x), __builtin_amdgcn_rsqf(square.y)};
            Pair factor = (other.w * inverse) * (inverse * inverse);
            ax[p] += dx * factor;
            ay[p] += dy * factor;
            az[p] += dz * factor;
        }
    }
    for (int p = 0; p < PAIRS; p++) {
        float4* to = sums + blockIdx.y * stride + first + 2 * p * BLOCK;
        to[0] = {ax[p].x, ay[p].x, az[p].x, 0};
        to[BLOCK] = {ax[p].y, ay[p].y, az[p].y, 0};
    }
}

// The sums of all parts, in their order, and the step of each body.
__global__ void advance(int n, int parts, int stride, const float4* sums, float4* places, float4* speeds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float ax = 0, ay = 0, az = 0;
#pragma unroll 16
    for (int part = 0; part < parts; part++) {
        float4 more = sums[part * stride + i];
        ax += more.x, ay += more.y, az += more.z;
    }
    float4 speed = speeds[i], place = places[i];
    speed.x += ax * STEP, speed.y += ay * STEP, speed.z += az * STEP;
    place.x += speed.x * STEP, place.y += speed.y * STEP, place.z += speed.z * STEP;
    speeds[i] = speed;
    places[i] = place;
}

// All steps on the device.
void simulate(std::vector<Body>& bodies, int steps) {
    int n = static_cast<int>(bodies.size());
    int blocks = (n + BODIES - 1) / BODIES, room = blocks * BODIES;
    int length = (n + PARTS - 1) / PARTS, parts = (n + length - 1) / length;
    std::vector<float4> places(room), speeds(room);
    for (int i = 0; i < n; i++) {
        const Body& b = bodies[i];
        places[i] = {b.x, b.y, b.z, b.mass};
        speeds[i] = {b.vx, b.vy, b.vz, 0};
    }
    float4 *device_places = nullptr, *device_speeds = nullptr, *sums = nullptr;
    size_t bytes = room * sizeof(float4);
    CHECK(hipMalloc(&device_places, bytes));
    CHECK(hipMalloc(&device_speeds, bytes));
    CHECK(hipMalloc(&sums, parts * bytes));
    CHECK(hipMemcpy(device_places, places.data(), bytes, hipMemcpyHostToDevice));
    CHECK(hipMemcpy(device_speeds, speeds.data(), bytes, hipMemcpyHostToDevice));
    for (int step = 0; step < steps; step++) {
        forces<<<dim3(blocks, parts), BLOCK>>>(n, length, device_places, sums);
        advance<<<(n + 63) / 64, 64>>>(n, parts, room, sums, device_places, device_speeds);
    }
    CHECK(hipGetLastError());
    CHECK(hipMemcpy(places.data(), device_places, bytes, hipMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        bodies[i].x = places[i].x, bodies[i].y = places[i].y, bodies[i].z = places[i].z;
    }
    CHECK(hipFree(device_places));
    CHECK(hipFree(device_speeds));
    CHECK(hipFree(sums));
}

// ------------------------------------------------------------------------ leave what is below as it is: it measures you

// The same bodies each time: numbers from 0 to 1 of a generator that measure.py has, too.
std::vector<Body> begin(int n) {
    unsigned state = 1;
    auto next = [&state] {
        state = state * 1664525u + 1013904223u;
        return static_cast<float>(state >> 8) / 16777216.0f;
    };
    std::vector<Body> bodies(n);
    for (Body& b : bodies) {
        b.x = next(), b.y = next(), b.z = next();
        b.vx = next() - 0.5f, b.vy = next() - 0.5f, b.vz = next() - 0.5f;
        b.mass = (0.5f + next()) / static_cast<float>(n);
    }
    return bodies;
}

// The largest distance between the places that the device found and those that the host finds, in double precision.
double difference(const std::vector<Body>& found, int steps) {
    struct Point {
        double x, y, z, vx, vy, vz, mass;
    };
    std::vector<Point> points;
    for (const Body& b : begin(static_cast<int>(found.size()))) points.push_back({b.x, b.y, b.z, b.vx, b.vy, b.vz, b.mass});
    for (int step = 0; step < steps; step++) {
        for (Point& p : points) {
            double ax = 0, ay = 0, az = 0;
            for (const Point& q : points) {
                double dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
                double square = dx * dx + dy * dy + dz * dz + SOFTENING;
                double factor = q.mass / (square * std::sqrt(square));
                ax += dx * factor, ay += dy * factor, az += dz * factor;
            }
            p.vx += ax * STEP, p.vy += ay * STEP, p.vz += az * STEP;
        }
        for (Point& p : points) p.x += p.vx * STEP, p.y += p.vy * STEP, p.z += p.vz * STEP;
    }
    double most = 0;
    for (size_t i = 0; i < points.size(); i++) {
        double dx = points[i].x - found[i].x, dy = points[i].y - found[i].y, dz = points[i].z - found[i].z;
        double distance = std::sqrt(dx * dx + dy * dy + dz * dz);
        if (!(distance <= most)) most = distance;  // also of what is no number
    }
    return most;
}

int main(int count, char** words) {
    int n = count > 1 ? std::atoi(words[1]) : 0, steps = count > 2 ? std::atoi(words[2]) : 0;
    if (n < 1 || steps < 1) {
        std::fprintf(stderr, "usage: nbody BODIES STEPS [FILE]\n");
        return 2;
    }
    std::vector<Body> bodies = begin(n);
    simulate(bodies, steps);
    if (count > 3) {
        FILE* file = std::fopen(words[3], "wb");
        if (!file) return std::fprintf(stderr, "%s cannot be written\n", words[3]), 2;
        for (const Body& b : bodies) std::fwrite(&b.x, sizeof(float), 3, file);
        std::fclose(file);
    }
    if (static_cast<double>(n) * n * steps > 2e7) {
        std::printf("%d bodies, %d steps: too many for the host to check\n", n, steps);
        return 0;
    }
    double most = difference(bodies, steps);
    std::printf("%d bodies, %d steps: %s, at most %.1e from the host's places\n", n, steps, most < 1e-5 ? "right" : "WRONG", most);
    return most < 1e-5 ? 0 : 1;
}
