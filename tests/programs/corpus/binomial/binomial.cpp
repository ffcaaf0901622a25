// American and European options on a binomial tree, one block per option, tree levels in shared memory.
#include <hip/hip_runtime.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define HIPCHECK(e) do { hipError_t rc = (e); if (rc != hipSuccess) { std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(rc)); std::exit(1); } } while (false)

enum class Style : int { European = 0, American = 1 };

struct Option {
    double spot, strike, years;
    Style style;
    bool put;
};

__constant__ double c_rate, c_volatility;
__device__ double d_checksum;

template <typename Real>
__host__ __device__ inline Real payoff(Real s, Real k, bool put) { return put ? (k > s ? k - s : Real(0)) : (s > k ? s - k : Real(0)); }

template <typename Real, int Steps, int Threads>
__global__ void price(const Option *options, Real *values)
{
    __shared__ Real level[Steps + 1];
    __shared__ Option option;
    if (threadIdx.x == 0)
        option = options[blockIdx.x];
    __syncthreads();
    const Real dt = option.years / Steps;
    const Real up = exp(Real(c_volatility) * sqrt(dt)), down = 1 / up;
    const Real discount = exp(-Real(c_rate) * dt), p = (1 / discount - down) / (up - down);
    const Real pu = discount * p, pd = discount * (1 - p);
    for (int i = threadIdx.x; i <= Steps; i += Threads)
        level[i] = payoff<Real>(option.spot * pow(up, Real(2 * i - Steps)), option.strike, option.put);
    for (int n = Steps - 1; n >= 0; --n) {
        // a thread's elements: read all, wait, write all
        Real fresh[(Steps + Threads - 1) / Threads];
        __syncthreads();
        for (int i = threadIdx.x, k = 0; i <= n; i += Threads, ++k) {
            Real v = pu * level[i + 1] + pd * level[i];
            if (option.style == Style::American)
                v = max(v, payoff<Real>(option.spot * pow(up, Real(2 * i - n)), option.strike, option.put));
            fresh[k] = v;
        }
        __syncthreads();
        for (int i = threadIdx.x, k = 0; i <= n; i += Threads, ++k)
            level[i] = fresh[k];
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        values[blockIdx.x] = level[0];
        atomicAdd(&d_checksum, double(level[0]));
    }
}

template <int Steps>
double reference(const Option &o, double rate, double vol)
{
    std::vector<double> level(Steps + 1);
    const double dt = o.years / Steps, up = std::exp(vol * std::sqrt(dt)), down = 1 / up, discount = std::exp(-rate * dt);
    const double p = (1 / discount - down) / (up - down);
    for (int i = 0; i <= Steps; ++i)
        level[i] = payoff<double>(o.spot * std::pow(up, 2 * i - Steps), o.strike, o.put);
    for (int n = Steps - 1; n >= 0; --n)
        for (int i = 0; i <= n; ++i) {
            level[i] = discount * (p * level[i + 1] + (1 - p) * level[i]);
            if (o.style == Style::American)
                level[i] = std::max(level[i], payoff<double>(o.spot * std::pow(up, 2 * i - n), o.strike, o.put));
        }
    return level[0];
}

template <typename Real>
int run(const char *name, const std::vector<Option> &options, double rate, double vol, double tolerance)
{
    constexpr int Steps = 127, Threads = 64;
    const int n = int(options.size());
    Option *d_options;
    Real *d_values;
    HIPCHECK(hipMalloc(&d_options, n * sizeof(Option)));
    HIPCHECK(hipMalloc(&d_values, n * sizeof(Real)));
    HIPCHECK(hipMemcpy(d_options, options.data(), n * sizeof(Option), hipMemcpyHostToDevice));
    HIPCHECK(hipMemcpyToSymbol(HIP_SYMBOL(c_rate), &rate, sizeof rate));
    HIPCHECK(hipMemcpyToSymbol(HIP_SYMBOL(c_volatility), &vol, sizeof vol, 0, hipMemcpyHostToDevice));
    const double zero = 0;
    HIPCHECK(hipMemcpyToSymbol(HIP_SYMBOL(d_checksum), &zero, sizeof zero));
    price<Real, Steps, Threads><<<n, Threads>>>(d_options, d_values);
    HIPCHECK(hipGetLastError());
    HIPCHECK(hipDeviceSynchronize());
    std::vector<Real> values(n);
    double checksum, sum = 0, worst = 0;
    HIPCHECK(hipMemcpy(values.data(), d_values, n * sizeof(Real), hipMemcpyDeviceToHost));
    HIPCHECK(hipMemcpyFromSymbol(&checksum, HIP_SYMBOL(d_checksum), sizeof checksum));
    for (int i = 0; i < n; ++i) {
        sum += values[i];
        worst = std::max(worst, std::fabs(reference<Steps>(options[i], rate, vol) - values[i]) / options[i].strike);
    }
    HIPCHECK(hipFree(d_options));
    HIPCHECK(hipFree(d_values));
    const bool good = worst < tolerance && std::fabs(sum - checksum) < 1e-9 * std::fabs(sum);
    std::printf("%s: %d options, largest difference %.3e of the strike, checksum %.10g: %s\n", name, n, worst, checksum,
                good ? "ok" : "WRONG");
    return !good;
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? std::atoi(argv[1]) : 24;
    std::vector<Option> options;
    for (int i = 0; i < n; ++i)
        options.push_back({20.0 + 3 * (i % 11), 25.0 + i % 17, 0.25 + 0.2 * (i % 9), Style(i % 2), i % 3 != 0});
    int failed = run<double>("double", options, 0.04, 0.3, 1e-12);
    failed += run<float>("float", options, 0.04, 0.3, 2e-4);
    std::puts(failed ? "FAIL" : "PASS");
    return failed;
}
