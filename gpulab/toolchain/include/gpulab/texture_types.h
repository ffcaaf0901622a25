// Types of textures and surfaces that host and device code share: names and numbers of HIP 7 (texture_types.h,
// channel_descriptor.h, surface_types.h).
#pragma once
#include "definitions.h"
#include "../hip/hip_vector_types.h"
#ifdef __GPULAB_PROGRAM__
#include "host/constants.h"
#else
enum hipArray_Format {
  HIP_AD_FORMAT_UNSIGNED_INT8 = 0x01, HIP_AD_FORMAT_UNSIGNED_INT16 = 0x02, HIP_AD_FORMAT_UNSIGNED_INT32 = 0x03,
  HIP_AD_FORMAT_SIGNED_INT8 = 0x08, HIP_AD_FORMAT_SIGNED_INT16 = 0x09, HIP_AD_FORMAT_SIGNED_INT32 = 0x0a,
  HIP_AD_FORMAT_HALF = 0x10, HIP_AD_FORMAT_FLOAT = 0x20
};
enum hipChannelFormatKind {
  hipChannelFormatKindSigned = 0, hipChannelFormatKindUnsigned = 1, hipChannelFormatKindFloat = 2,
  hipChannelFormatKindNone = 3
};
#endif

typedef struct __hip_texture* hipTextureObject_t;
typedef struct __hip_surface* hipSurfaceObject_t;

typedef struct hipChannelFormatDesc {
  int x, y, z, w;
  enum hipChannelFormatKind f;
} hipChannelFormatDesc;

enum hipTextureAddressMode {
  hipAddressModeWrap = 0, hipAddressModeClamp = 1, hipAddressModeMirror = 2, hipAddressModeBorder = 3
};
enum hipTextureFilterMode { hipFilterModePoint = 0, hipFilterModeLinear = 1 };
enum hipTextureReadMode { hipReadModeElementType = 0, hipReadModeNormalizedFloat = 1 };
enum hipSurfaceBoundaryMode { hipBoundaryModeZero = 0, hipBoundaryModeTrap = 1, hipBoundaryModeClamp = 2 };

#define hipTextureType1D 0x01
#define hipTextureType2D 0x02
#define hipTextureType3D 0x03
#define hipTextureTypeCubemap 0x0C
#define hipTextureType1DLayered 0xF1
#define hipTextureType2DLayered 0xF2
#define hipTextureTypeCubemapLayered 0xFC

// Deprecated in HIP: a texture with a name, to which the host binds memory. The object stands in the device's variable.
typedef struct textureReference {
  int normalized;
  enum hipTextureReadMode readMode;
  enum hipTextureFilterMode filterMode;
  enum hipTextureAddressMode addressMode[3];
  struct hipChannelFormatDesc channelDesc;
  int sRGB;
  unsigned int maxAnisotropy;
  enum hipTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias;
  float minMipmapLevelClamp;
  float maxMipmapLevelClamp;
  hipTextureObject_t textureObject;
  int numChannels;
  enum hipArray_Format format;
} textureReference;

namespace gpulab {
// A texel's channels: their type and number.
template <typename T>
struct texel {
  using channel = T;
  static constexpr unsigned count = 1;
};
template <typename T, unsigned n>
struct texel<HIP_vector_type<T, n>> {
  using channel = T;
  static constexpr unsigned count = n;
};
template <typename T, typename U>
constexpr bool same = false;
template <typename T>
constexpr bool same<T, T> = true;
template <typename T>
constexpr bool is_channel = same<T, char> || same<T, signed char> || same<T, unsigned char> || same<T, short> ||
                            same<T, unsigned short> || same<T, int> || same<T, unsigned int> || same<T, float>;
template <typename T>
constexpr bool is_texel = is_channel<typename texel<T>::channel> &&
                          (texel<T>::count == 1 || texel<T>::count == 2 || texel<T>::count == 4);
}  // namespace gpulab

// What the texels of a texture of T are. (Without parameter: hipCreateChannelDesc(x, y, z, w, kind), bits by bits.)
template <typename T>
__GPULAB_BOTH__ hipChannelFormatDesc hipCreateChannelDesc() {
  using channel = typename gpulab::texel<T>::channel;
  constexpr unsigned count = gpulab::texel<T>::count;
  constexpr int bits = 8 * static_cast<int>(sizeof(channel));
  constexpr hipChannelFormatKind kind = !__is_arithmetic(channel) || __is_floating_point(channel)
                                            ? hipChannelFormatKindFloat
                                        : channel(-1) < channel(0) ? hipChannelFormatKindSigned
                                                                   : hipChannelFormatKindUnsigned;
  return {bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0, kind};
}
__GPULAB_BOTH__ hipChannelFormatDesc hipCreateChannelDescHalf() { return {16, 0, 0, 0, hipChannelFormatKindFloat}; }
__GPULAB_BOTH__ hipChannelFormatDesc hipCreateChannelDescHalf1() { return {16, 0, 0, 0, hipChannelFormatKindFloat}; }
__GPULAB_BOTH__ hipChannelFormatDesc hipCreateChannelDescHalf2() { return {16, 16, 0, 0, hipChannelFormatKindFloat}; }
__GPULAB_BOTH__ hipChannelFormatDesc hipCreateChannelDescHalf4() {
  return {16, 16, 16, 16, hipChannelFormatKindFloat};
}

template <typename T, int texture_type = hipTextureType1D, hipTextureReadMode mode = hipReadModeElementType>
struct __attribute__((device_builtin_texture_type)) texture : public textureReference {
  texture(int are_normalized = 0, hipTextureFilterMode filter = hipFilterModePoint,
          hipTextureAddressMode address = hipAddressModeClamp)
      : textureReference{are_normalized, mode, filter, {address, address, address}, hipCreateChannelDesc<T>(), 0, 0,
                         hipFilterModePoint, 0, 0, 0, nullptr, 0, HIP_AD_FORMAT_UNSIGNED_INT8} {}
  texture(int are_normalized, hipTextureFilterMode filter, hipTextureAddressMode address, hipChannelFormatDesc described)
      : texture(are_normalized, filter, address) {
    channelDesc = described;
  }
};
