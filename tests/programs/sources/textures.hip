// Textures in whole programs: a convolution, a rotation, a lookup table, a volume, surfaces, references; each against
// the host. A device without a texture unit says so.
// OUT[gfx942]: textures: 0
// OUT[gfx942]: hipErrorNotSupported
// ERR[gfx942]: gfx942 has no texture unit
// OUT[gfx1100]: textures: 1
// OUT[gfx1100]: convolution: 0 wrong
// OUT[gfx1100]: rotation: 0 wrong
// OUT[gfx1100]: lookup: 0 wrong
// OUT[gfx1100]: volume: 0 wrong
// OUT[gfx1100]: surface: 0 wrong
// OUT[gfx1100]: reference: 0 wrong
#include <hip/hip_runtime.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <vector>

#define CHECK(call)                                                        \
  do {                                                                     \
    hipError_t code = (call);                                              \
    if (code != hipSuccess) {                                              \
      std::printf("%s\n", hipGetErrorName(code));                          \
      std::exit(code == hipErrorNotSupported ? 0 : 1);                     \
    }                                                                      \
  } while (0)

constexpr int W = 50, H = 37, D = 9;
texture<float, hipTextureType2D, hipReadModeElementType> referenced;

__global__ void convolve(uchar4* out, hipTextureObject_t image) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= W || y >= H) return;
  float4 sum = make_float4(0, 0, 0, 0);
  for (int j = -1; j <= 1; j++)
    for (int i = -1; i <= 1; i++) {
      uchar4 c = tex2D<uchar4>(image, x + i + 0.5f, y + j + 0.5f);
      float weight = (2 - std::abs(i)) * (2 - std::abs(j)) / 16.0f;
      sum.x += weight * c.x, sum.y += weight * c.y, sum.z += weight * c.z, sum.w += weight * c.w;
    }
  out[y * W + x] = make_uchar4(sum.x, sum.y, sum.z, sum.w);
}

__global__ void rotate(float* out, hipTextureObject_t image, float c, float s) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= W || y >= H) return;
  float u = x / float(W) - 0.5f, v = y / float(H) - 0.5f;
  out[y * W + x] = tex2D<float>(image, u * c - v * s + 0.5f, v * c + u * s + 0.5f);
}

__global__ void look_up(float* out, hipTextureObject_t table, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1D<float>(table, x[i]);
}

__global__ void march(float* out, hipTextureObject_t volume) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= W || y >= H) return;
  float sum = 0, through = 1;
  for (float z = 0.25f; z < D; z += 0.5f) {
    float density = tex3D<float>(volume, x + 0.25f, y + 0.75f, z);
    sum += through * density;
    through *= 1 - density;
  }
  out[y * W + x] = sum;
}

__global__ void transpose(hipSurfaceObject_t from, hipSurfaceObject_t to) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float2 v;
  surf2Dread(&v, from, x * int(sizeof(float2)), y);
  surf2Dwrite(make_float2(v.y, v.x), to, y * int(sizeof(float2)), x);
}

__global__ void by_reference(float* out) {
  int x = threadIdx.x, y = blockIdx.x;
  out[y * W + x] = tex2D(referenced, x + 0.5f, y + 0.5f);
}

// The documented formula: weights with 8 bits behind the point.
static void split(float u, int& first, float& weight) {
  int fixed = int(std::floor((u - 0.5f) * 256 + 0.5f));
  first = fixed >> 8;
  weight = (fixed & 255) / 256.0f;
}
static int wrapped(int i, int n) { return ((i % n) + n) % n; }

template <typename T>
static hipArray_t array_of(const std::vector<T>& data, int width, int height, int depth, unsigned flags = 0) {
  hipChannelFormatDesc described = hipCreateChannelDesc<T>();
  hipArray_t array;
  CHECK(hipMalloc3DArray(&array, &described, make_hipExtent(width, height, depth), flags));
  hipMemcpy3DParms copy = {};
  copy.srcPtr = make_hipPitchedPtr((void*)data.data(), width * sizeof(T), width, std::max(height, 1));
  copy.dstArray = array;
  copy.extent = make_hipExtent(width, std::max(height, 1), std::max(depth, 1));
  copy.kind = hipMemcpyHostToDevice;
  CHECK(hipMemcpy3D(&copy));
  return array;
}

static hipTextureObject_t texture_of(hipArray_t array, hipTextureAddressMode mode, hipTextureFilterMode filter,
                                     bool normalized) {
  hipResourceDesc resource = {};
  resource.resType = hipResourceTypeArray;
  resource.res.array.array = array;
  hipTextureDesc described = {};
  for (auto& one : described.addressMode) one = mode;
  described.filterMode = filter;
  described.readMode = hipReadModeElementType;
  described.normalizedCoords = normalized;
  hipTextureObject_t texture;
  CHECK(hipCreateTextureObject(&texture, &resource, &described, nullptr));
  return texture;
}

template <typename T>
static std::vector<T> from_device(const T* memory, size_t n) {
  std::vector<T> host(n);
  CHECK(hipMemcpy(host.data(), memory, n * sizeof(T), hipMemcpyDeviceToHost));
  return host;
}

int main() {
  int textures;
  CHECK(hipDeviceGetAttribute(&textures, hipDeviceAttributeImageSupport, 0));
  std::printf("textures: %d\n", textures);
  std::fflush(stdout);
  const dim3 block(16, 8), grid((W + 15) / 16, (H + 7) / 8);
  unsigned random = 1;
  auto next = [&random] { return (random = random * 1664525u + 1013904223u) >> 8; };

  std::vector<uchar4> colours(W * H);
  for (auto& c : colours) c = make_uchar4(next(), next(), next(), next());
  hipTextureObject_t image =
      texture_of(array_of(colours, W, H, 0), hipAddressModeClamp, hipFilterModePoint, false);
  uchar4* blurred;
  CHECK(hipMalloc(&blurred, W * H * sizeof(uchar4)));
  convolve<<<grid, block>>>(blurred, image);
  auto got = from_device(blurred, W * H);
  int wrong = 0;
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) {
      float sum = 0;
      for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++)
          sum += (2 - std::abs(i)) * (2 - std::abs(j)) / 16.0f *
                 colours[std::clamp(y + j, 0, H - 1) * W + std::clamp(x + i, 0, W - 1)].y;
      wrong += got[y * W + x].y != (unsigned char)sum;
    }
  std::printf("convolution: %d wrong\n", wrong);

  std::vector<float> heights(W * H);
  for (auto& h : heights) h = next() % 1000 / 1000.0f;
  hipArray_t field = array_of(heights, W, H, 0);
  float* out;
  CHECK(hipMalloc(&out, W * H * sizeof(float)));
  const float c = 0.875f, s = 0.484375f;
  rotate<<<grid, block>>>(out, texture_of(field, hipAddressModeWrap, hipFilterModeLinear, true), c, s);
  auto turned = from_device(out, W * H);
  wrong = 0;
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) {
      float u = x / float(W) - 0.5f, v = y / float(H) - 0.5f, a, b;
      int i, j;
      split((u * c - v * s + 0.5f) * W, i, a);
      split((v * c + u * s + 0.5f) * H, j, b);
      auto at = [&](int x, int y) { return heights[wrapped(y, H) * W + wrapped(x, W)]; };
      float expected = (1 - a) * (1 - b) * at(i, j) + a * (1 - b) * at(i + 1, j) + (1 - a) * b * at(i, j + 1) +
                       a * b * at(i + 1, j + 1);
      // a coordinate that is rounded elsewhere may have a weight 1/256 off
      wrong += std::fabs(turned[y * W + x] - expected) > 2.0f / 256 + 1e-5f;
    }
  std::printf("rotation: %d wrong\n", wrong);

  std::vector<float> table(64), places(500);
  for (int i = 0; i < 64; i++) table[i] = std::sin(i * 0.1f);
  for (size_t i = 0; i < places.size(); i++) places[i] = i * 0.125f;
  float* x;
  CHECK(hipMalloc(&x, places.size() * sizeof(float)));
  CHECK(hipMemcpy(x, places.data(), places.size() * sizeof(float), hipMemcpyHostToDevice));
  look_up<<<2, 256>>>(out, texture_of(array_of(table, 64, 0, 0), hipAddressModeClamp, hipFilterModeLinear, false), x,
                      int(places.size()));
  auto found = from_device(out, places.size());
  wrong = 0;
  for (size_t i = 0; i < places.size(); i++) {
    int at;
    float w;
    split(places[i], at, w);
    float expected = (1 - w) * table[std::clamp(at, 0, 63)] + w * table[std::clamp(at + 1, 0, 63)];
    wrong += std::fabs(found[i] - expected) > 1e-6f;
  }
  std::printf("lookup: %d wrong\n", wrong);

  std::vector<float> volume(W * H * D);
  for (auto& v : volume) v = next() % 100 / 400.0f;
  march<<<grid, block>>>(out, texture_of(array_of(volume, W, H, D), hipAddressModeClamp, hipFilterModeLinear, false));
  auto rays = from_device(out, W * H);
  wrong = 0;
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) {
      float sum = 0, through = 1;
      for (float z = 0.25f; z < D; z += 0.5f) {
        int i[3];
        float w[3], density = 0;
        split(x + 0.25f, i[0], w[0]);
        split(y + 0.75f, i[1], w[1]);
        split(z, i[2], w[2]);
        for (int n = 0; n < 8; n++) {
          int p = std::clamp(i[0] + (n & 1), 0, W - 1), q = std::clamp(i[1] + (n >> 1 & 1), 0, H - 1);
          int r = std::clamp(i[2] + (n >> 2), 0, D - 1);
          density += (n & 1 ? w[0] : 1 - w[0]) * (n & 2 ? w[1] : 1 - w[1]) * (n & 4 ? w[2] : 1 - w[2]) *
                     volume[(r * H + q) * W + p];
        }
        sum += through * density;
        through *= 1 - density;
      }
      wrong += std::fabs(rays[y * W + x] - sum) > 1e-5f;
    }
  std::printf("volume: %d wrong\n", wrong);

  std::vector<float2> pairs(W * H), back(W * H);
  for (auto& p : pairs) p = make_float2(next() % 1000, next() % 1000);
  hipArray_t from = array_of(pairs, W, H, 0, hipArraySurfaceLoadStore);
  hipArray_t to = array_of(std::vector<float2>(W * H), H, W, 0, hipArraySurfaceLoadStore);
  hipResourceDesc resource = {};
  resource.resType = hipResourceTypeArray;
  hipSurfaceObject_t surfaces[2];
  resource.res.array.array = from;
  CHECK(hipCreateSurfaceObject(&surfaces[0], &resource));
  resource.res.array.array = to;
  CHECK(hipCreateSurfaceObject(&surfaces[1], &resource));
  transpose<<<grid, block>>>(surfaces[0], surfaces[1]);
  CHECK(hipMemcpy2DFromArray(back.data(), H * sizeof(float2), to, 0, 0, H * sizeof(float2), W, hipMemcpyDeviceToHost));
  wrong = 0;
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) {
      float2 a = pairs[y * W + x], b = back[x * H + y];
      wrong += a.x != b.y || a.y != b.x;
    }
  std::printf("surface: %d wrong\n", wrong);

  referenced.addressMode[0] = referenced.addressMode[1] = hipAddressModeClamp;
  CHECK(hipBindTextureToArray(referenced, field));
  by_reference<<<H, W>>>(out);
  auto same = from_device(out, W * H);
  std::printf("reference: %d wrong\n", int(std::inner_product(same.begin(), same.end(), heights.begin(), 0,
                                                              std::plus<int>(), std::not_equal_to<float>())));
  CHECK(hipUnbindTexture(referenced));
  return 0;
}
