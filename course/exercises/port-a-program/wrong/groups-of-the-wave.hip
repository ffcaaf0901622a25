// expected cause: groups-of-the-wave
// Grains of dust on a plate, moved by the wind: the CUDA program dust.cu, ported.

#include <cstdio>
#include <cstdlib>
#include <vector>

#include <hip/hip_runtime.h>

#define WARP warpSize
#define FULL_MASK 0xffffffffffffffffull
#define BLOCK 256
#define BINS 16
#define SALTS 64

const int WIDTH = 64;
const int HEIGHT = 48;
const int CELL = 256;

#define CHECK(call)                                                                            \
    do {                                                                                       \
        hipError_t error = (call);                                                            \
        if (error != hipSuccess) {                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(error));     \
            exit(1);                                                                           \
        }                                                                                      \
    } while (0)

struct Grain {
    int x, y;            // position, CELL to a cell
    int vx, vy;          // velocity, per step
    int mass;            // 1 to 15
    unsigned id;         // its number at the start
};

struct Sums {
    int mass, px, py;    // of all grains
};

struct Signature {
    unsigned bits;       // exclusive or over all warps
    unsigned levels;     // sum over all warps of the number of the highest bit, counted from 1
};

__constant__ int gravity;
__constant__ unsigned salts[SALTS];

// ---------------------------------------------------------------------------------------------------------------------
// Small things, close to the machine

__device__ unsigned lane_number()
{
    return __lane_id();
}

__device__ unsigned rotate_left(unsigned value, unsigned by)
{
    return __funnelshift_l(value, value, by);
}

__device__ unsigned highest_bit(unsigned value)      // 0 to 31, and 0xffffffff for 0
{
    return 31 - __clz(value);
}

// ---------------------------------------------------------------------------------------------------------------------
// 1. push

__device__ int pressure(const int* wind, int column, int row)
{
    column = min(max(column, 0), WIDTH - 1);
    row = min(max(row, 0), HEIGHT - 1);
    return wind[row * WIDTH + column];      // beyond the edge: the value at the edge
}

__global__ void __launch_bounds__(BLOCK) push(int n, Grain* grains, const int* wind)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Grain g = grains[i];
    int column = g.x / CELL;
    int row = g.y / CELL;
    int ax = pressure(wind, column - 1, row) - pressure(wind, column + 1, row);
    int ay = pressure(wind, column, row - 1) - pressure(wind, column, row + 1);
    g.vx += ax / g.mass;
    g.vy += ay / g.mass + gravity;
    g.x += g.vx;
    g.y += g.vy;
    if (g.y < 0) {                                           // there is a lid on top
        g.y = -g.y;
        g.vy = -g.vy;
    }
    grains[i] = g;
}

// ---------------------------------------------------------------------------------------------------------------------
// 2. compact

__device__ bool on_plate(const Grain& g)
{
    return 0 <= g.x && g.x < WIDTH * CELL && 0 <= g.y && g.y < HEIGHT * CELL;
}

__global__ void count_left(int n, const Grain* grains, int* counts)
{
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool keep = i < n && on_plate(grains[i]);
    unsigned long long mask = __ballot_sync(FULL_MASK, keep);
    if (threadIdx.x % WARP == 0) atomicAdd(&total, __popcll(mask));
    __syncthreads();
    if (threadIdx.x == 0) counts[blockIdx.x] = total;
}

__global__ void move_left(int n, const Grain* grains, const int* starts, Grain* out)
{
    __shared__ int before_warp[BLOCK / 32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % WARP;
    int warp = threadIdx.x / WARP;
    bool keep = i < n && on_plate(grains[i]);
    unsigned long long mask = __ballot_sync(FULL_MASK, keep);
    if (lane == 0) before_warp[warp] = __popcll(mask);
    __syncthreads();
    int place = starts[blockIdx.x];
    for (int w = 0; w < warp; w++) place += before_warp[w];
    place += __popcll(mask & ((1ull << lane) - 1));
    if (keep) out[place] = grains[i];
}

// ---------------------------------------------------------------------------------------------------------------------
// 3. bin: each warp counts for itself, so that fewer atomics meet

__global__ void bin(int n, const Grain* grains, int* bins)
{
    extern __shared__ int counted[];                         // BINS for each warp
    int warps = blockDim.x / WARP;
    for (int k = threadIdx.x; k < warps * BINS; k += blockDim.x) counted[k] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int stripe = grains[i].x / CELL * BINS / WIDTH;
        atomicAdd(&counted[threadIdx.x / WARP * BINS + stripe], 1);
    }
    __syncthreads();
    if (threadIdx.x < BINS) {
        int sum = 0;
        for (int w = 0; w < warps; w++) sum += counted[w * BINS + threadIdx.x];
        if (sum > 0) atomicAdd(&bins[threadIdx.x], sum);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// 4. momentum

__device__ int block_sum(int value, int* s)                  // the result is for thread 0
{
    int t = threadIdx.x;
    s[t] = value;
    __syncthreads();
    for (int step = BLOCK / 2; step > 0; step /= 2) {
        if (t < step) s[t] += s[t + step];
        __syncthreads();
    }
    int sum = s[0];
    __syncthreads();
    return sum;
}

__global__ void momentum(int n, const Grain* grains, Sums* sums)
{
    __shared__ int s[BLOCK];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Grain g = {0, 0, 0, 0, 0, 0};
    if (i < n) g = grains[i];
    int mass = block_sum(g.mass, s);
    int px = block_sum(g.mass * g.vx, s);
    int py = block_sum(g.mass * g.vy, s);
    if (threadIdx.x == 0) {
        atomicAdd(&sums->mass, mass);
        atomicAdd(&sums->px, px);
        atomicAdd(&sums->py, py);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// 5. sign: 32 grains at a time. Where a grain stands in its 32 counts, and so does which 32 it belongs to.

__global__ void sign(int n, const Grain* grains, Signature* signature)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned lane = lane_number();
    unsigned salt = 0;
    if (lane == 0) salt = salts[i / WARP % SALTS];
    salt = __shfl_sync(FULL_MASK, salt, 0);
    unsigned bits = 0;
    if (i < n) {
        Grain g = grains[i];
        bits = g.id * 2654435761u ^ (unsigned)g.x * 40503u ^ (unsigned)g.y * 9973u ^ salt;
        bits = rotate_left(bits, lane);
    }
    for (int lanes = WARP / 2; lanes > 0; lanes /= 2)
        bits ^= __shfl_xor_sync(FULL_MASK, bits, lanes);
    if (lane == 0) {
        atomicXor(&signature->bits, bits);
        atomicAdd(&signature->levels, highest_bit(bits) + 1);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The host

unsigned next(unsigned* state)                               // Numerical Recipes' generator; the upper bits are good
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

std::vector<Grain> make_grains(int n, unsigned seed)
{
    std::vector<Grain> grains(n);
    unsigned state = seed;
    for (int i = 0; i < n; i++) {
        Grain& g = grains[i];
        g.x = next(&state) % (WIDTH * CELL);
        g.y = next(&state) % (HEIGHT * CELL);
        g.vx = (int)(next(&state) % 512) - 256;
        g.vy = (int)(next(&state) % 512) - 256;
        g.mass = 1 + next(&state) % 15;
        g.id = i;
    }
    return grains;
}

std::vector<int> make_wind()
{
    std::vector<int> wind(WIDTH * HEIGHT);
    for (int row = 0; row < HEIGHT; row++)
        for (int column = 0; column < WIDTH; column++) {
            int dx = column - WIDTH / 2, dy = row - HEIGHT / 3;
            wind[row * WIDTH + column] = 2 * (dx * dx + 2 * dy * dy) + 40 * (column % 7);
        }
    return wind;
}

int main(int argc, char** argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: %s GRAINS STEPS [SEED]\n", argv[0]);
        return 2;
    }
    int n = atoi(argv[1]), steps = atoi(argv[2]);
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 1u;
    if (n < 1 || steps < 1) {
        fprintf(stderr, "at least one grain and one step\n");
        return 2;
    }

    hipDeviceProp_t properties;
    CHECK(hipGetDeviceProperties(&properties, 0));
    int warps_per_block = BLOCK / properties.warpSize;
    size_t bin_bytes = warps_per_block * BINS * sizeof(int);

    int down = 5;
    unsigned table[SALTS], state = 12345;
    for (int k = 0; k < SALTS; k++) table[k] = next(&state) * 257u;
    CHECK(hipMemcpyToSymbol(HIP_SYMBOL(gravity), &down, sizeof(down)));
    CHECK(hipMemcpyToSymbol(HIP_SYMBOL(salts), table, sizeof(table)));

    std::vector<Grain> start = make_grains(n, seed);
    std::vector<int> host_wind = make_wind();
    int* wind;
    CHECK(hipMalloc(&wind, host_wind.size() * sizeof(int)));
    CHECK(hipMemcpy(wind, host_wind.data(), host_wind.size() * sizeof(int), hipMemcpyHostToDevice));

    int most_blocks = (n + BLOCK - 1) / BLOCK;
    Grain *grains, *others;
    int *counts, *bins;
    Sums* sums;
    Signature* signature;
    CHECK(hipMalloc(&grains, n * sizeof(Grain)));
    CHECK(hipMalloc(&others, n * sizeof(Grain)));
    CHECK(hipMalloc(&counts, most_blocks * sizeof(int)));
    CHECK(hipMalloc(&bins, BINS * sizeof(int)));
    CHECK(hipMalloc(&sums, sizeof(Sums)));
    CHECK(hipMalloc(&signature, sizeof(Signature)));
    CHECK(hipMemcpy(grains, start.data(), n * sizeof(Grain), hipMemcpyHostToDevice));

    for (int step = 1; step <= steps && n > 0; step++) {
        int blocks = (n + BLOCK - 1) / BLOCK;
        push<<<blocks, BLOCK>>>(n, grains, wind);
        CHECK(hipGetLastError());

        count_left<<<blocks, BLOCK>>>(n, grains, counts);
        CHECK(hipGetLastError());
        std::vector<int> starts(blocks);
        CHECK(hipMemcpy(starts.data(), counts, blocks * sizeof(int), hipMemcpyDeviceToHost));
        int left = 0;
        for (int b = 0; b < blocks; b++) {
            int count = starts[b];
            starts[b] = left;
            left += count;
        }
        CHECK(hipMemcpy(counts, starts.data(), blocks * sizeof(int), hipMemcpyHostToDevice));
        move_left<<<blocks, BLOCK>>>(n, grains, counts, others);
        CHECK(hipGetLastError());
        std::swap(grains, others);
        n = left;
        if (n == 0) {
            printf("step %d: nothing is left\n", step);
            break;
        }

        blocks = (n + BLOCK - 1) / BLOCK;
        CHECK(hipMemset(bins, 0, BINS * sizeof(int)));
        CHECK(hipMemset(sums, 0, sizeof(Sums)));
        CHECK(hipMemset(signature, 0, sizeof(Signature)));
        bin<<<blocks, BLOCK, bin_bytes>>>(n, grains, bins);
        momentum<<<blocks, BLOCK>>>(n, grains, sums);
        sign<<<blocks, BLOCK>>>(n, grains, signature);
        CHECK(hipGetLastError());

        int stripes[BINS];
        Sums total;
        Signature signed_by;
        CHECK(hipMemcpy(stripes, bins, sizeof(stripes), hipMemcpyDeviceToHost));
        CHECK(hipMemcpy(&total, sums, sizeof(total), hipMemcpyDeviceToHost));
        CHECK(hipMemcpy(&signed_by, signature, sizeof(signed_by), hipMemcpyDeviceToHost));
        printf("step %d: %d grains, mass %d, momentum %d %d\n", step, n, total.mass, total.px, total.py);
        printf("  stripes");
        for (int k = 0; k < BINS; k++) printf(" %d", stripes[k]);
        printf("\n  signature %08x %u\n", signed_by.bits, signed_by.levels);
    }

    CHECK(hipFree(wind));
    CHECK(hipFree(grains));
    CHECK(hipFree(others));
    CHECK(hipFree(counts));
    CHECK(hipFree(bins));
    CHECK(hipFree(sums));
    CHECK(hipFree(signature));
    return 0;
}
