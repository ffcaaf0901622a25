#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>

#include "warp.h"

#define CHECK(call)                                                                          \
  do {                                                                                       \
    hipError_t status = (call);                                                              \
    if (status != hipSuccess) {                                                              \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(status));    \
      std::exit(1);                                                                          \
    }                                                                                        \
  } while (0)

// Where the device has a texture unit, it filters; elsewhere the same is computed from plain loads.
struct Sampler {
  hipTextureObject_t texture;
  const float* plain;
  int width, height;

  __device__ float at(int x, int y) const {
    return x < 0 || y < 0 || x >= width || y >= height ? 0.0f : plain[y * width + x];
  }
  template <bool textures>
  __device__ float between(float x, float y) const {
    if constexpr (textures) return tex2D<float>(texture, x, y);
    x -= 0.5f;
    y -= 0.5f;
    float left = floorf(x), top = floorf(y), a = x - left, b = y - top;
    int i = static_cast<int>(left), j = static_cast<int>(top);
    float above = at(i, j) + a * (at(i + 1, j) - at(i, j));
    float below = at(i, j + 1) + a * (at(i + 1, j + 1) - at(i, j + 1));
    return above + b * (below - above);
  }
};

template <bool textures>
__global__ void rotate(Sampler from, float* to, int width, int height, Rotation r) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float dx = x + 0.5f - r.centre_x, dy = y + 0.5f - r.centre_y;
  to[y * width + x] = from.between<textures>(r.cosine * dx + r.sine * dy + r.centre_x,
                                             -r.sine * dx + r.cosine * dy + r.centre_y);
}

template <bool textures>
__global__ void halve(Sampler from, float* to, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) to[y * width + x] = from.between<textures>(2 * x + 1.0f, 2 * y + 1.0f);
}

template <bool textures>
__global__ void colour(hipTextureObject_t texture, const uint32_t* table, int last, const float* from, uint32_t* to,
                       int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  int place = min(max(static_cast<int>(from[i] * last + 0.5f), 0), last);
  if constexpr (textures)
    to[i] = tex1Dfetch<unsigned int>(texture, place);
  else
    to[i] = table[place];
}

bool device_has_textures() {
  int has = 0;
  CHECK(hipDeviceGetAttribute(&has, hipDeviceAttributeImageSupport, 0));
  return has != 0;
}

// The image on the device: in an array behind a texture object, or in plain memory.
class OnDevice {
 public:
  Sampler sampler{};
  explicit OnDevice(const Image& image) {
    sampler.width = image.width;
    sampler.height = image.height;
    size_t row = image.width * sizeof(float);
    if (!device_has_textures()) {
      CHECK(hipMalloc(&memory_, row * image.height));
      CHECK(hipMemcpy(memory_, image.pixels.data(), row * image.height, hipMemcpyHostToDevice));
      sampler.plain = memory_;
      return;
    }
    hipChannelFormatDesc format = hipCreateChannelDesc<float>();
    CHECK(hipMallocArray(&array_, &format, image.width, image.height));
    CHECK(hipMemcpy2DToArray(array_, 0, 0, image.pixels.data(), row, row, image.height, hipMemcpyHostToDevice));
    hipResourceDesc resource{};
    resource.resType = hipResourceTypeArray;
    resource.res.array.array = array_;
    hipTextureDesc description{};
    description.addressMode[0] = description.addressMode[1] = hipAddressModeBorder;
    description.filterMode = hipFilterModeLinear;
    description.readMode = hipReadModeElementType;
    CHECK(hipCreateTextureObject(&sampler.texture, &resource, &description, nullptr));
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() {
    if (sampler.texture) CHECK(hipDestroyTextureObject(sampler.texture));
    if (array_) CHECK(hipFreeArray(array_));
    if (memory_) CHECK(hipFree(memory_));
  }

 private:
  hipArray_t array_ = nullptr;
  float* memory_ = nullptr;
};

template <typename Launch>
static Image made(int width, int height, Launch launch) {
  Image result(width, height);
  float* to = nullptr;
  size_t bytes = result.pixels.size() * sizeof(float);
  CHECK(hipMalloc(&to, bytes));
  launch(to, dim3((width + 15) / 16, (height + 15) / 16), dim3(16, 16));
  CHECK(hipGetLastError());
  CHECK(hipMemcpy(result.pixels.data(), to, bytes, hipMemcpyDeviceToHost));
  CHECK(hipFree(to));
  return result;
}

Image rotate_on_device(const Image& image, const Rotation& rotation) {
  OnDevice from(image);
  auto kernel = device_has_textures() ? rotate<true> : rotate<false>;
  return made(image.width, image.height, [&](float* to, dim3 grid, dim3 block) {
    kernel<<<grid, block>>>(from.sampler, to, image.width, image.height, rotation);
  });
}

Image halve_on_device(const Image& image) {
  OnDevice from(image);
  auto kernel = device_has_textures() ? halve<true> : halve<false>;
  return made(image.width / 2, image.height / 2, [&](float* to, dim3 grid, dim3 block) {
    kernel<<<grid, block>>>(from.sampler, to, image.width / 2, image.height / 2);
  });
}

std::vector<uint32_t> colour_on_device(const Image& image, const Table& table) {
  int count = static_cast<int>(image.pixels.size());
  float* from = nullptr;
  uint32_t *colours = nullptr, *to = nullptr;
  CHECK(hipMalloc(&from, count * sizeof(float)));
  CHECK(hipMalloc(&colours, table.size() * sizeof(uint32_t)));
  CHECK(hipMalloc(&to, count * sizeof(uint32_t)));
  CHECK(hipMemcpy(from, image.pixels.data(), count * sizeof(float), hipMemcpyHostToDevice));
  CHECK(hipMemcpy(colours, table.data(), table.size() * sizeof(uint32_t), hipMemcpyHostToDevice));
  hipTextureObject_t texture{};
  if (device_has_textures()) {
    hipResourceDesc resource{};
    resource.resType = hipResourceTypeLinear;
    resource.res.linear.devPtr = colours;
    resource.res.linear.desc = hipCreateChannelDesc<unsigned int>();
    resource.res.linear.sizeInBytes = table.size() * sizeof(uint32_t);
    hipTextureDesc description{};
    description.readMode = hipReadModeElementType;
    CHECK(hipCreateTextureObject(&texture, &resource, &description, nullptr));
  }
  auto kernel = texture ? colour<true> : colour<false>;
  kernel<<<(count + 255) / 256, 256>>>(texture, colours, static_cast<int>(table.size()) - 1, from, to, count);
  CHECK(hipGetLastError());
  std::vector<uint32_t> result(count);
  CHECK(hipMemcpy(result.data(), to, count * sizeof(uint32_t), hipMemcpyDeviceToHost));
  if (texture) CHECK(hipDestroyTextureObject(texture));
  CHECK(hipFree(from));
  CHECK(hipFree(colours));
  CHECK(hipFree(to));
  return result;
}
