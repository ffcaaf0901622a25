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

__global__ void grey(int width, int height, const Pixel* in, float* out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    Pixel p = in[y * width + x];
    out[y * width + x] = 0.299f * p.r + 0.587f * p.g + 0.114f * p.b;
}

__global__ void blur(int width, int height, const float* weights, const float* in, float* out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int dy = -RADIUS; dy <= RADIUS; dy++) {
        for (int dx = -RADIUS; dx <= RADIUS; dx++) {
            float weight = weights[dy + RADIUS] * weights[dx + RADIUS];
            sum += weight * in[inside(y + dy, height) * width + inside(x + dx, width)];
        }
    }
    out[y * width + x] = sum;
}

__global__ void edges(int width, int height, const float* in, float* out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float across = in[y * width + inside(x + 1, width)] - in[y * width + inside(x - 1, width)];
    float down = in[inside(y + 1, height) * width + x] - in[inside(y - 1, height) * width + x];
    out[y * width + x] = sqrtf(across * across + down * down);
}

__global__ void draw(int width, int height, const float* edge, const Pixel* in, Pixel* out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int i = y * width + x;
    float keep = fmaxf(0.0f, 1.0f - STRENGTH * edge[i] / 16.0f);  // dark where there is an edge
    Pixel p = in[i];
    out[i] = {static_cast<uint8_t>(keep * p.r), static_cast<uint8_t>(keep * p.g), static_cast<uint8_t>(keep * p.b), p.a};
}

std::vector<float> blur_weights() {
    std::vector<float> weights(2 * RADIUS + 1);
    float sum = 0;
    for (int i = -RADIUS; i <= RADIUS; i++) sum += weights[i + RADIUS] = std::exp(-i * i / (2 * SIGMA * SIGMA));
    for (float& weight : weights) weight /= sum;
    return weights;
}

// All frames, one after the other.
void process(int frames, int width, int height, const std::vector<Pixel>& in, std::vector<Pixel>& out) {
    size_t pixels = static_cast<size_t>(width) * height;
    std::vector<float> weights = blur_weights();
    Pixel *device_in = nullptr, *device_out = nullptr;
    float *device_weights = nullptr, *light = nullptr, *smooth = nullptr, *edge = nullptr;
    CHECK(hipMalloc(&device_in, pixels * sizeof(Pixel)));
    CHECK(hipMalloc(&device_out, pixels * sizeof(Pixel)));
    CHECK(hipMalloc(&device_weights, weights.size() * sizeof(float)));
    for (float** each : {&light, &smooth, &edge}) CHECK(hipMalloc(each, pixels * sizeof(float)));
    CHECK(hipMemcpy(device_weights, weights.data(), weights.size() * sizeof(float), hipMemcpyHostToDevice));
    dim3 block(16, 16), grid((width + 15) / 16, (height + 15) / 16);
    for (int frame = 0; frame < frames; frame++) {
        CHECK(hipMemcpy(device_in, &in[frame * pixels], pixels * sizeof(Pixel), hipMemcpyHostToDevice));
        grey<<<grid, block>>>(width, height, device_in, light);
        blur<<<grid, block>>>(width, height, device_weights, light, smooth);
        edges<<<grid, block>>>(width, height, smooth, edge);
        draw<<<grid, block>>>(width, height, edge, device_in, device_out);
        CHECK(hipGetLastError());
        CHECK(hipMemcpy(&out[frame * pixels], device_out, pixels * sizeof(Pixel), hipMemcpyDeviceToHost));
    }
    for (void* each : {(void*)device_in, (void*)device_out, (void*)device_weights, (void*)light, (void*)smooth, (void*)edge})
        CHECK(hipFree(each));
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
