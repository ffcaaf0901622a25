// Draws the edges of frames: build/pipeline FRAMES WIDTH HEIGHT [FILE]
//
// Each frame goes to the device, through four filters, and back. FILE gets the frames that come back, as they lie in
// memory: four bytes for each pixel. The program is right, and slow. README.md says what is to be reached.
#include <hip/hip_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
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

struct Pixel {
    uint8_t r, g, b, a;
};

constexpr int RADIUS = 5;          // of the blur: 11 x 11 pixels
constexpr float SIGMA = 2.0f;      // its width
constexpr float STRENGTH = 0.5f;   // of the edges

// A place inside of the frame: what lies outside has the value of the nearest pixel.
__host__ __device__ inline int inside(int at, int size) { return at < 0 ? 0 : at >= size ? size - 1 : at; }

constexpr int TILE_X = 64, TILE_Y = 16, THREADS = 256;  // pixels of a block
constexpr int SMOOTH_X = TILE_X + 2, SMOOTH_Y = TILE_Y + 2;  // with those beside it, which edges look at
constexpr int WIDE = SMOOTH_X + 2 * RADIUS, HIGH = SMOOTH_Y + 2 * RADIUS;  // and with those that the blur looks at

struct Weights {
    float of[2 * RADIUS + 1];
};

// All four filters of a tile: what is between them stays in LDS. blockIdx.z is the frame.
__global__ __launch_bounds__(THREADS) void filters(int width, int height, Weights weights, const Pixel* in, Pixel* out) {
    __shared__ float light[HIGH][WIDE], across[HIGH][SMOOTH_X], smooth[SMOOTH_Y][SMOOTH_X];
    size_t frame = static_cast<size_t>(blockIdx.z) * width * height;
    int left = blockIdx.x * TILE_X - 1, top = blockIdx.y * TILE_Y - 1;  // of `smooth`
    for (int i = threadIdx.x; i < HIGH * WIDE; i += THREADS) {
        int y = inside(top - RADIUS + i / WIDE, height), x = inside(left - RADIUS + i % WIDE, width);
        Pixel p = in[frame + y * width + x];
        light[0][i] = 0.299f * p.r + 0.587f * p.g + 0.114f * p.b;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < HIGH * SMOOTH_X; i += THREADS) {
        int y = i / SMOOTH_X, x = i % SMOOTH_X;
        float sum = 0;
        for (int tap = 0; tap <= 2 * RADIUS; tap++) sum += weights.of[tap] * light[y][x + tap];
        across[y][x] = sum;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < SMOOTH_Y * SMOOTH_X; i += THREADS) {
        int y = i / SMOOTH_X, x = i % SMOOTH_X;
        float sum = 0;
        for (int tap = 0; tap <= 2 * RADIUS; tap++) sum += weights.of[tap] * across[y + tap][x];
        smooth[y][x] = sum;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < TILE_Y * TILE_X; i += THREADS) {
        int x = blockIdx.x * TILE_X + i % TILE_X, y = blockIdx.y * TILE_Y + i / TILE_X;
        if (x >= width || y >= height) continue;
        auto at = [&](int x, int y) { return smooth[inside(y, height) - top][inside(x, width) - left]; };
        float right = at(x + 1, y) - at(x - 1, y), down = at(x, y + 1) - at(x, y - 1);
        float keep = fmaxf(0.0f, 1.0f - STRENGTH * sqrtf(right * right + down * down) / 16.0f);
        Pixel p = in[frame + y * width + x];
        out[frame + y * width + x] = {static_cast<uint8_t>(keep * p.r), static_cast<uint8_t>(keep * p.g),
                                      static_cast<uint8_t>(keep * p.b), p.a};
    }
}

std::vector<float> blur_weights() {
    std::vector<float> weights(2 * RADIUS + 1);
    float sum = 0;
    for (int i = -RADIUS; i <= RADIUS; i++) sum += weights[i + RADIUS] = std::exp(-i * i / (2 * SIGMA * SIGMA));
    for (float& weight : weights) weight /= sum;
    return weights;
}

constexpr int AT_ONCE = 2;  // frames of a copy and of a launch
constexpr int STREAMS = 3;  // one is on its way to the device, one is worked on, one is on its way back

// All frames, some at once, in streams that take turns.
void process(int frames, int width, int height, const std::vector<Pixel>& in, std::vector<Pixel>& out) {
    size_t pixels = static_cast<size_t>(width) * height;
    Weights weights;
    std::vector<float> found = blur_weights();
    std::copy(found.begin(), found.end(), weights.of);
    Pixel* from = const_cast<Pixel*>(in.data());
    CHECK(hipHostRegister(from, in.size() * sizeof(Pixel), hipHostRegisterDefault));  // copies need not wait for the host
    CHECK(hipHostRegister(out.data(), out.size() * sizeof(Pixel), hipHostRegisterDefault));
    hipStream_t streams[STREAMS];
    Pixel *device_in[STREAMS], *device_out[STREAMS];
    for (int i = 0; i < STREAMS; i++) {
        CHECK(hipStreamCreate(&streams[i]));
        CHECK(hipMalloc(&device_in[i], AT_ONCE * pixels * sizeof(Pixel)));
        CHECK(hipMalloc(&device_out[i], AT_ONCE * pixels * sizeof(Pixel)));
    }
    for (int first = 0, turn = 0; first < frames; first += AT_ONCE, turn = (turn + 1) % STREAMS) {
        int some = std::min(AT_ONCE, frames - first);
        size_t bytes = some * pixels * sizeof(Pixel);
        dim3 grid((width + TILE_X - 1) / TILE_X, (height + TILE_Y - 1) / TILE_Y, some);
        CHECK(hipMemcpyAsync(device_in[turn], from + first * pixels, bytes, hipMemcpyHostToDevice, streams[turn]));
        filters<<<grid, THREADS, 0, streams[turn]>>>(width, height, weights, device_in[turn], device_out[turn]);
        CHECK(hipGetLastError());
        CHECK(hipMemcpyAsync(&out[first * pixels], device_out[turn], bytes, hipMemcpyDeviceToHost, streams[turn]));
    }
    for (int i = 0; i < STREAMS; i++) {
        CHECK(hipStreamSynchronize(streams[i]));
        CHECK(hipStreamDestroy(streams[i]));
        CHECK(hipFree(device_in[i]));
        CHECK(hipFree(device_out[i]));
    }
    CHECK(hipHostUnregister(from));
    CHECK(hipHostUnregister(out.data()));
}

// ------------------------------------------------------------------------ leave what is below as it is: it measures you

// The same frames each time: rings that move, with noise. measure.py has them, too.
std::vector<Pixel> begin(int frames, int width, int height) {
    std::vector<Pixel> found;
    for (unsigned frame = 0; frame < static_cast<unsigned>(frames); frame++)
        for (unsigned y = 0; y < static_cast<unsigned>(height); y++)
            for (unsigned x = 0; x < static_cast<unsigned>(width); x++) {
                unsigned noise = x * 374761393u + y * 668265263u + frame * 974711u;
                noise = (noise ^ (noise >> 13)) * 1274126177u;
                unsigned ring = ((x * x + y * y + frame * 2048u) >> 11) & 1 ? 180 : 60;
                auto of = [=](int shift) { return static_cast<uint8_t>(ring + (noise >> shift & 31)); };
                found.push_back({of(0), of(8), of(16), 255});
            }
    return found;
}

// The largest difference of a colour from what the host finds, in double precision.
int difference(int frames, int width, int height, const std::vector<Pixel>& in, const std::vector<Pixel>& found) {
    std::vector<float> weights = blur_weights();
    std::vector<double> smooth(static_cast<size_t>(width) * height);
    int most = 0;
    for (int frame = 0; frame < frames; frame++) {
        const Pixel* from = &in[frame * smooth.size()];
        const Pixel* to = &found[frame * smooth.size()];
        auto at = [&](int x, int y) { return static_cast<size_t>(inside(y, height)) * width + inside(x, width); };
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) {
                double sum = 0;
                for (int dy = -RADIUS; dy <= RADIUS; dy++)
                    for (int dx = -RADIUS; dx <= RADIUS; dx++) {
                        const Pixel& p = from[at(x + dx, y + dy)];
                        sum += weights[dy + RADIUS] * weights[dx + RADIUS] * (0.299 * p.r + 0.587 * p.g + 0.114 * p.b);
                    }
                smooth[at(x, y)] = sum;
            }
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) {
                double across = smooth[at(x + 1, y)] - smooth[at(x - 1, y)];
                double down = smooth[at(x, y + 1)] - smooth[at(x, y - 1)];
                double keep = std::max(0.0, 1 - STRENGTH * std::sqrt(across * across + down * down) / 16);
                const Pixel &p = from[at(x, y)], &q = to[at(x, y)];
                for (auto channel : {&Pixel::r, &Pixel::g, &Pixel::b})
                    most = std::max(most, std::abs(static_cast<int>(keep * (p.*channel)) - q.*channel));
                most = std::max(most, std::abs(p.a - q.a));
            }
    }
    return most;
}

int main(int count, char** words) {
    int frames = count > 3 ? std::atoi(words[1]) : 0;
    int width = count > 3 ? std::atoi(words[2]) : 0, height = count > 3 ? std::atoi(words[3]) : 0;
    if (frames < 1 || width < 1 || height < 1) {
        std::fprintf(stderr, "usage: pipeline FRAMES WIDTH HEIGHT [FILE]\n");
        return 2;
    }
    std::vector<Pixel> in = begin(frames, width, height), out(in.size());
    process(frames, width, height, in, out);
    if (count > 4) {
        FILE* file = std::fopen(words[4], "wb");
        if (!file) return std::fprintf(stderr, "%s cannot be written\n", words[4]), 2;
        std::fwrite(out.data(), sizeof(Pixel), out.size(), file);
        std::fclose(file);
    }
    if (out.size() > 100000) {
        std::printf("%d frames of %d x %d: too many for the host to check\n", frames, width, height);
        return 0;
    }
    int most = difference(frames, width, height, in, out);
    std::printf("%d frames of %d x %d: %s, at most %d from the host's colours\n", frames, width, height, most < 2 ? "right" : "WRONG", most);
    return most < 2 ? 0 : 1;
}
