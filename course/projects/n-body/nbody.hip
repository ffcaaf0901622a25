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

struct Acceleration {
    float x, y, z;
};

constexpr float STEP = 0.05f;       // time between two steps
constexpr float SOFTENING = 0.01f;  // added to squared distances: no force is infinite

// One thread for each body: the sum over all others.
__global__ void accelerations(int n, const Body* bodies, Acceleration* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float ax = 0, ay = 0, az = 0;
    for (int j = 0; j < n; j++) {
        if (j == i) continue;
        float dx = bodies[j].x - bodies[i].x;
        float dy = bodies[j].y - bodies[i].y;
        float dz = bodies[j].z - bodies[i].z;
        float distance = sqrtf(dx * dx + dy * dy + dz * dz + SOFTENING);
        float factor = bodies[j].mass / (distance * distance * distance);
        ax += dx * factor;
        ay += dy * factor;
        az += dz * factor;
    }
    out[i] = {ax, ay, az};
}

void move(std::vector<Body>& bodies, const std::vector<Acceleration>& by) {
    for (size_t i = 0; i < bodies.size(); i++) {
        Body& b = bodies[i];
        b.vx += by[i].x * STEP;
        b.vy += by[i].y * STEP;
        b.vz += by[i].z * STEP;
        b.x += b.vx * STEP;
        b.y += b.vy * STEP;
        b.z += b.vz * STEP;
    }
}

// All steps on the device.
void simulate(std::vector<Body>& bodies, int steps) {
    int n = static_cast<int>(bodies.size());
    Body* device_bodies = nullptr;
    Acceleration* device_out = nullptr;
    CHECK(hipMalloc(&device_bodies, n * sizeof(Body)));
    CHECK(hipMalloc(&device_out, n * sizeof(Acceleration)));
    std::vector<Acceleration> out(n);
    for (int step = 0; step < steps; step++) {
        CHECK(hipMemcpy(device_bodies, bodies.data(), n * sizeof(Body), hipMemcpyHostToDevice));
        accelerations<<<(n + 255) / 256, 256>>>(n, device_bodies, device_out);
        CHECK(hipGetLastError());
        CHECK(hipMemcpy(out.data(), device_out, n * sizeof(Acceleration), hipMemcpyDeviceToHost));
        move(bodies, out);
    }
    CHECK(hipFree(device_bodies));
    CHECK(hipFree(device_out));
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
