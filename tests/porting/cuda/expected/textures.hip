// An image is sampled by way of a texture object: reported, since Instinct devices have no texture units.
#include <hip/hip_runtime.h>
#include <cstdio>

__global__ void shrink(hipTextureObject_t image, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = tex2D<float>(image, 2 * x + 0.5f, 2 * y + 0.5f);  //! texture
}

__global__ void write(hipSurfaceObject_t surface, int n) {
  int x = threadIdx.x;
  if (x < n) surf2Dwrite(1.0f, surface, x * sizeof(float), 0);  //! texture
}

int main() {
  const int width = 64, height = 32;
  hipChannelFormatDesc format = hipCreateChannelDesc<float>();
  hipArray_t array;
  hipMallocArray(&array, &format, width, height);
  hipResourceDesc resource = {};
  resource.resType = hipResourceTypeArray;
  resource.res.array.array = array;
  hipTextureDesc description = {};
  description.addressMode[0] = hipAddressModeClamp;
  description.filterMode = hipFilterModeLinear;
  description.readMode = hipReadModeElementType;
  hipTextureObject_t texture = 0;
  hipCreateTextureObject(&texture, &resource, &description, nullptr);
  float* out;
  hipMalloc(&out, width / 2 * height / 2 * sizeof(float));
  shrink<<<dim3(2, 1), dim3(16, 16)>>>(texture, out, width / 2, height / 2);
  hipDestroyTextureObject(texture);
  hipFreeArray(array);
  hipFree(out);
  return 0;
}
