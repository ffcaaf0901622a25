// D2Q9 lattice Boltzmann, BGK: Poiseuille flow between walls driven by a force, bounce-back, two lattices.
#include <hip/hip_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#ifdef USE_FLOAT
typedef float Real;
#define TOL 1e-4
#else
typedef double Real;
#define TOL 1e-13
#endif

#define HIP_OK(x) { hipError_t e_ = (x); if (e_ != hipSuccess) { std::printf("%s failed: %s\n", #x, hipGetErrorString(e_)); return 1; } }

__constant__ int d_cx[9], d_cy[9];
__constant__ Real d_w[9];

enum { Q = 9 };

template <typename C, typename W>
__host__ __device__ inline void update(const Real *f, Real *g, int x, int y, int nx, int ny, Real omega, Real force, const C *cx, const C *cy, const W *w)
{
    const int opposite[Q] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
    Real in[Q], rho = 0, ux = 0, uy = 0;
    for (int i = 0; i < Q; ++i) {
        int sx = (x - cx[i] + nx) % nx, sy = y - cy[i];
        in[i] = sy < 0 || sy >= ny ? f[(opposite[i] * ny + y) * nx + x] : f[(i * ny + sy) * nx + sx];
        rho += in[i];
        ux += in[i] * cx[i];
        uy += in[i] * cy[i];
    }
    ux = ux / rho + force / (2 * rho);
    uy = uy / rho;
    for (int i = 0; i < Q; ++i) {
        Real cu = cx[i] * ux + cy[i] * uy, feq = w[i] * rho * (1 + 3 * cu + Real(4.5) * cu * cu - Real(1.5) * (ux * ux + uy * uy));
        Real source = (1 - omega / 2) * w[i] * (3 * (cx[i] - ux) + 9 * cu * cx[i]) * force;
        g[(i * ny + y) * nx + x] = in[i] - omega * (in[i] - feq) + source;
    }
}

__global__ void step(const Real *f, Real *g, int nx, int ny, Real omega, Real force)
{
    int x = blockDim.x * blockIdx.x + threadIdx.x, y = blockDim.y * blockIdx.y + threadIdx.y;
    if (x < nx && y < ny) update(f, g, x, y, nx, ny, omega, force, d_cx, d_cy, d_w);
}

int main(int argc, char *argv[])
{
    const int nx = argc > 1 ? std::atoi(argv[1]) : 32, ny = argc > 2 ? std::atoi(argv[2]) : 15, steps = argc > 3 ? std::atoi(argv[3]) : 600;
    const Real omega = 1.0, force = 1e-5, nu = (1 / omega - Real(0.5)) / 3;
    const int cx[Q] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[Q] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    const Real w[Q] = {Real(4) / 9, Real(1) / 9, Real(1) / 9, Real(1) / 9, Real(1) / 9, Real(1) / 36, Real(1) / 36, Real(1) / 36, Real(1) / 36};
    HIP_OK(hipMemcpyToSymbol(d_cx, cx, sizeof cx));
    HIP_OK(hipMemcpyToSymbol(d_cy, cy, sizeof cy));
    HIP_OK(hipMemcpyToSymbol(d_w, w, sizeof w));
    std::vector<Real> f(Q * nx * ny), g(f.size()), got(f.size());
    for (int i = 0; i < Q; ++i) for (int k = 0; k < nx * ny; ++k) f[i * nx * ny + k] = w[i];
    Real *df, *dg;
    HIP_OK(hipMalloc(&df, f.size() * sizeof(Real)));
    HIP_OK(hipMalloc(&dg, f.size() * sizeof(Real)));
    HIP_OK(hipMemcpy(df, f.data(), f.size() * sizeof(Real), hipMemcpyHostToDevice));
    dim3 block(32, 8), grid((nx + 31) / 32, (ny + 7) / 8);
    timespec t0, t1;
    clock_gettime(CLOCK_MONOTONIC, &t0);
    for (int s = 0; s < steps; ++s) {
        step<<<grid, block>>>(df, dg, nx, ny, omega, force);
        std::swap(df, dg);
    }
    HIP_OK(hipGetLastError());
    HIP_OK(hipDeviceSynchronize());
    clock_gettime(CLOCK_MONOTONIC, &t1);
    const double seconds = t1.tv_sec - t0.tv_sec + 1e-9 * (t1.tv_nsec - t0.tv_nsec);
    HIP_OK(hipMemcpy(got.data(), df, f.size() * sizeof(Real), hipMemcpyDeviceToHost));
    for (int s = 0; s < steps; ++s) {
        for (int y = 0; y < ny; ++y) for (int x = 0; x < nx; ++x) update(f.data(), g.data(), x, y, nx, ny, omega, force, cx, cy, w);
        f.swap(g);
    }
    double worst = 0, mass = 0, skew = 0, largest = 0, analytic = 0;
    for (size_t i = 0; i < f.size(); ++i) { worst = std::fmax(worst, std::fabs(double(f[i]) - got[i])); mass += got[i]; }
    for (int y = 0; y < ny; ++y) {
        double rho = 0, u = 0;
        for (int i = 0; i < Q; ++i) { rho += got[(i * ny + y) * nx]; u += got[(i * ny + y) * nx] * cx[i]; }
        u = u / rho + force / (2 * rho);
        double mirrored = 0, above = 0;  // the same as far from the other wall
        for (int i = 0; i < Q; ++i) { above += got[(i * ny + ny - 1 - y) * nx]; mirrored += got[(i * ny + ny - 1 - y) * nx] * cx[i]; }
        skew = std::fmax(skew, std::fabs(mirrored / above + force / (2 * above) - u));
        const double exact = force / (2 * nu) * ((y + 0.5) * (ny - y - 0.5));
        analytic = std::fmax(analytic, std::fabs(u - exact));
        largest = std::fmax(largest, exact);
    }
    std::printf("%d x %d, %d steps, %.2f MLUPS: host and device differ by %.1e, mass %.10f, profile off by %.2f %%\n", nx, ny, steps,
                1e-6 * nx * ny * steps / seconds, worst, mass / (nx * ny), 100 * analytic / largest);
    HIP_OK(hipFree(df));
    HIP_OK(hipFree(dg));
    const bool good = worst < TOL && std::fabs(mass / (nx * ny) - 1) < 1e-5 && analytic < 0.2 * largest && skew < 1e-3 * largest;
    std::printf("%s\n", good ? "PASSED" : "FAILED");
    return good ? 0 : 2;
}
