// Texture and surface functions: tex1D, tex2D, surf2Dwrite and their relatives, by way of the texture unit's instructions
// (LLVM, "User Guide for AMDGPU Backend", image intrinsics).
//
// An object is an address: eight words that describe the image (of a texture in linear memory four, as of a buffer), four
// that the runtime uses, and four of the sampler. Where the device has no texture unit (gfx9), HIP has no such functions;
// here they compile, so that a source can be built for several devices at once, and stop the kernel: the host could not
// have made an object there.
#pragma once
#include "texture_types.h"

namespace gpulab {
typedef float texel_bits __attribute__((ext_vector_type(4)));
typedef int image_words __attribute__((ext_vector_type(8)));
typedef int sampler_words __attribute__((ext_vector_type(4)));
typedef int pair_of_ints __attribute__((ext_vector_type(2)));

#define __GPULAB_IMAGE__(result, name, intrinsic, ...) \
  __device__ result name(__VA_ARGS__) __asm("llvm.amdgcn." intrinsic);
#define __GPULAB_SAMPLES__(name, intrinsic, ...)                                                                   \
  __GPULAB_IMAGE__(texel_bits, name, intrinsic, int mask, __VA_ARGS__, image_words image, sampler_words sampler, \
                   bool unnormalised, int fail, int cache)
__GPULAB_SAMPLES__(sample_1d, "image.sample.lz.1d.v4f32.f32", float x)
__GPULAB_SAMPLES__(sample_2d, "image.sample.lz.2d.v4f32.f32", float x, float y)
__GPULAB_SAMPLES__(sample_3d, "image.sample.lz.3d.v4f32.f32", float x, float y, float z)
__GPULAB_SAMPLES__(sample_1d_array, "image.sample.lz.1darray.v4f32.f32", float x, float layer)
__GPULAB_SAMPLES__(sample_2d_array, "image.sample.lz.2darray.v4f32.f32", float x, float y, float layer)
__GPULAB_SAMPLES__(level_1d, "image.sample.l.1d.v4f32.f32", float x, float level)
__GPULAB_SAMPLES__(level_2d, "image.sample.l.2d.v4f32.f32", float x, float y, float level)
__GPULAB_SAMPLES__(level_3d, "image.sample.l.3d.v4f32.f32", float x, float y, float z, float level)
__GPULAB_SAMPLES__(level_1d_array, "image.sample.l.1darray.v4f32.f32", float x, float layer, float level)
__GPULAB_SAMPLES__(level_2d_array, "image.sample.l.2darray.v4f32.f32", float x, float y, float layer, float level)
__GPULAB_SAMPLES__(slope_1d, "image.sample.d.1d.v4f32.f32.f32", float dx, float dy, float x)
__GPULAB_SAMPLES__(slope_2d, "image.sample.d.2d.v4f32.f32.f32", float dx, float dx2, float dy, float dy2, float x,
                   float y)
__GPULAB_SAMPLES__(slope_3d, "image.sample.d.3d.v4f32.f32.f32", float dx, float dx2, float dx3, float dy, float dy2,
                   float dy3, float x, float y, float z)
__GPULAB_SAMPLES__(slope_1d_array, "image.sample.d.1darray.v4f32.f32.f32", float dx, float dy, float x, float layer)
__GPULAB_SAMPLES__(slope_2d_array, "image.sample.d.2darray.v4f32.f32.f32", float dx, float dx2, float dy, float dy2,
                   float x, float y, float layer)
__GPULAB_SAMPLES__(gather_2d, "image.gather4.lz.2d.v4f32.f32", float x, float y)
__GPULAB_IMAGE__(texel_bits, load_buffer, "struct.buffer.load.format.v4f32", sampler_words image, int index, int offset,
                 int scalar, int cache)
#define __GPULAB_TEXELS__(shape, intrinsic, ...)                                                                   \
  __GPULAB_IMAGE__(texel_bits, load_##shape, "image.load." intrinsic ".v4f32.i32", int mask, __VA_ARGS__,          \
                   image_words image, int fail, int cache)                                                         \
  __GPULAB_IMAGE__(void, store_##shape, "image.store." intrinsic ".v4f32.i32", texel_bits data, int mask,          \
                   __VA_ARGS__, image_words image, int fail, int cache)
__GPULAB_TEXELS__(1d, "1d", int x)
__GPULAB_TEXELS__(2d, "2d", int x, int y)
__GPULAB_TEXELS__(3d, "3d", int x, int y, int z)
__GPULAB_TEXELS__(1d_array, "1darray", int x, int layer)
__GPULAB_TEXELS__(2d_array, "2darray", int x, int y, int layer)
#undef __GPULAB_TEXELS__
#undef __GPULAB_SAMPLES__
#undef __GPULAB_IMAGE__

using constant_words = const __attribute__((address_space(4))) int*;
__GPULAB_FUNCTION__ constant_words words_at(const void* object) { return (constant_words)(unsigned long long)object; }
__GPULAB_FUNCTION__ image_words image_of(const void* object) {
  return *(const __attribute__((address_space(4))) image_words*)words_at(object);
}
__GPULAB_FUNCTION__ sampler_words sampler_of(const void* object) {
  return *(const __attribute__((address_space(4))) sampler_words*)(words_at(object) + 12);
}
__GPULAB_FUNCTION__ sampler_words buffer_of(const void* object) {
  return *(const __attribute__((address_space(4))) sampler_words*)words_at(object);
}

// A surface's x counts bytes. HSA's channel type and order (words 8 and 9) say how many a texel has.
__GPULAB_FUNCTION__ int texel_at(const void* object, int x) {
  int type = words_at(object)[8], order = words_at(object)[9];
  int channel = type == 0 || type == 2 || type == 8 || type == 11 ? 0 : type == 1 || type == 3 || type == 9 || type == 12 || type == 14 ? 1 : 2;
  return x >> (channel + (order == 8 ? 2 : order == 3 ? 1 : 0));
}

template <typename C>
__GPULAB_FUNCTION__ C channel_from(float bits) {
  if constexpr (same<C, float>)
    return bits;
  else
    return static_cast<C>(__builtin_bit_cast(int, bits));
}
template <typename T>
__GPULAB_FUNCTION__ T texel_from(texel_bits t) {
  using C = typename texel<T>::channel;
  if constexpr (!__is_class(T))
    return channel_from<C>(t.x);
  else if constexpr (texel<T>::count == 1)
    return T(channel_from<C>(t.x));
  else if constexpr (texel<T>::count == 2)
    return T(channel_from<C>(t.x), channel_from<C>(t.y));
  else
    return T(channel_from<C>(t.x), channel_from<C>(t.y), channel_from<C>(t.z), channel_from<C>(t.w));
}
template <typename C>
__GPULAB_FUNCTION__ float bits_from(C x) {
  if constexpr (same<C, float>)
    return x;
  else
    return __builtin_bit_cast(float, static_cast<int>(x));
}
template <typename T>
__GPULAB_FUNCTION__ texel_bits bits_of_texel(T x) {
  if constexpr (!__is_class(T))
    return texel_bits{bits_from(x), 0, 0, 0};
  else if constexpr (texel<T>::count == 1)
    return texel_bits{bits_from(x.x), 0, 0, 0};
  else if constexpr (texel<T>::count == 2)
    return texel_bits{bits_from(x.x), bits_from(x.y), 0, 0};
  else
    return texel_bits{bits_from(x.x), bits_from(x.y), bits_from(x.z), bits_from(x.w)};
}
}  // namespace gpulab

#ifdef __GFX9__
#define __GPULAB_TEXELS_OF__(call) (__builtin_trap(), gpulab::texel_bits{0, 0, 0, 0})
#define __GPULAB_TEXELS_TO__(call) __builtin_trap()
#else
#define __GPULAB_TEXELS_OF__(call) call
#define __GPULAB_TEXELS_TO__(call) call
#endif
#define __GPULAB_TEXEL__ template <typename T, typename = gpulab::enable_if_t<gpulab::is_texel<T>>>

// A function by its result, by a pointer to it, and for a texture reference. `declared` and `passed` are its coordinates.
#define __GPULAB_SEVERAL__(...) __VA_ARGS__
#define __GPULAB_FETCH__(name, call, declared, passed)                                                            \
  __GPULAB_TEXEL__ __GPULAB_FUNCTION__ T name(hipTextureObject_t object, __GPULAB_SEVERAL__ declared) {           \
    return gpulab::texel_from<T>(__GPULAB_TEXELS_OF__(call));                                                     \
  }                                                                                                               \
  __GPULAB_TEXEL__ __GPULAB_FUNCTION__ void name(T* result, hipTextureObject_t object, __GPULAB_SEVERAL__ declared) { \
    *result = name<T>(object, __GPULAB_SEVERAL__ passed);                                                         \
  }
#define __GPULAB_TEXTURE__(name, shape, call, declared, passed)                                                   \
  __GPULAB_FETCH__(name, call, declared, passed)                                                                  \
  template <typename T, hipTextureReadMode mode>                                                                  \
  __GPULAB_FUNCTION__ gpulab::fetched<T, mode> name(texture<T, shape, mode> reference, __GPULAB_SEVERAL__ declared) { \
    return name<gpulab::fetched<T, mode>>(reference.textureObject, __GPULAB_SEVERAL__ passed);                    \
  }

namespace gpulab {
// What a texture reference gives: floats where integers are read as such.
template <typename T, hipTextureReadMode mode>
struct fetch {
  using type = T;
};
template <typename T>
struct fetch<T, hipReadModeNormalizedFloat> {
  using type = float;
};
template <typename T, unsigned n>
struct fetch<HIP_vector_type<T, n>, hipReadModeNormalizedFloat> {
  using type = HIP_vector_type<float, n>;
};
template <typename T, hipTextureReadMode mode>
using fetched = typename fetch<T, mode>::type;
}  // namespace gpulab

#define __GPULAB_OBJECT__ gpulab::image_of(object), gpulab::sampler_of(object), false, 0, 0
__GPULAB_TEXTURE__(tex1Dfetch, hipTextureType1D, gpulab::load_buffer(gpulab::buffer_of(object), x, 0, 0, 0), (int x), (x))
__GPULAB_TEXTURE__(tex1D, hipTextureType1D, gpulab::sample_1d(15, x, __GPULAB_OBJECT__), (float x), (x))
__GPULAB_TEXTURE__(tex2D, hipTextureType2D, gpulab::sample_2d(15, x, y, __GPULAB_OBJECT__), (float x, float y), (x, y))
__GPULAB_TEXTURE__(tex3D, hipTextureType3D, gpulab::sample_3d(15, x, y, z, __GPULAB_OBJECT__),
                   (float x, float y, float z), (x, y, z))
__GPULAB_TEXTURE__(tex1DLayered, hipTextureType1DLayered,
                   gpulab::sample_1d_array(15, x, static_cast<float>(layer), __GPULAB_OBJECT__), (float x, int layer),
                   (x, layer))
__GPULAB_TEXTURE__(tex2DLayered, hipTextureType2DLayered,
                   gpulab::sample_2d_array(15, x, y, static_cast<float>(layer), __GPULAB_OBJECT__),
                   (float x, float y, int layer), (x, y, layer))
__GPULAB_TEXTURE__(tex1DLod, hipTextureType1D, gpulab::level_1d(15, x, level, __GPULAB_OBJECT__),
                   (float x, float level), (x, level))
__GPULAB_TEXTURE__(tex2DLod, hipTextureType2D, gpulab::level_2d(15, x, y, level, __GPULAB_OBJECT__),
                   (float x, float y, float level), (x, y, level))
__GPULAB_TEXTURE__(tex3DLod, hipTextureType3D, gpulab::level_3d(15, x, y, z, level, __GPULAB_OBJECT__),
                   (float x, float y, float z, float level), (x, y, z, level))
__GPULAB_TEXTURE__(tex1DLayeredLod, hipTextureType1DLayered,
                   gpulab::level_1d_array(15, x, static_cast<float>(layer), level, __GPULAB_OBJECT__),
                   (float x, int layer, float level), (x, layer, level))
__GPULAB_TEXTURE__(tex2DLayeredLod, hipTextureType2DLayered,
                   gpulab::level_2d_array(15, x, y, static_cast<float>(layer), level, __GPULAB_OBJECT__),
                   (float x, float y, int layer, float level), (x, y, layer, level))
__GPULAB_TEXTURE__(tex1DGrad, hipTextureType1D, gpulab::slope_1d(15, dx, dy, x, __GPULAB_OBJECT__),
                   (float x, float dx, float dy), (x, dx, dy))
__GPULAB_TEXTURE__(tex2DGrad, hipTextureType2D,
                   gpulab::slope_2d(15, dx.x, dx.y, dy.x, dy.y, x, y, __GPULAB_OBJECT__),
                   (float x, float y, float2 dx, float2 dy), (x, y, dx, dy))
__GPULAB_TEXTURE__(tex3DGrad, hipTextureType3D,
                   gpulab::slope_3d(15, dx.x, dx.y, dx.z, dy.x, dy.y, dy.z, x, y, z, __GPULAB_OBJECT__),
                   (float x, float y, float z, float4 dx, float4 dy), (x, y, z, dx, dy))
__GPULAB_TEXTURE__(tex1DLayeredGrad, hipTextureType1DLayered,
                   gpulab::slope_1d_array(15, dx, dy, x, static_cast<float>(layer), __GPULAB_OBJECT__),
                   (float x, int layer, float dx, float dy), (x, layer, dx, dy))
__GPULAB_TEXTURE__(tex2DLayeredGrad, hipTextureType2DLayered,
                   gpulab::slope_2d_array(15, dx.x, dx.y, dy.x, dy.y, x, y, static_cast<float>(layer),
                                          __GPULAB_OBJECT__),
                   (float x, float y, int layer, float2 dx, float2 dy), (x, y, layer, dx, dy))

// The four texels around a place, one channel of each: lower left, lower right, upper right, upper left.
__GPULAB_FUNCTION__ gpulab::texel_bits __gpulab_gather(hipTextureObject_t object, float x, float y, int channel) {
  switch (channel) {
    case 1: return __GPULAB_TEXELS_OF__(gpulab::gather_2d(2, x, y, __GPULAB_OBJECT__));
    case 2: return __GPULAB_TEXELS_OF__(gpulab::gather_2d(4, x, y, __GPULAB_OBJECT__));
    case 3: return __GPULAB_TEXELS_OF__(gpulab::gather_2d(8, x, y, __GPULAB_OBJECT__));
    default: return __GPULAB_TEXELS_OF__(gpulab::gather_2d(1, x, y, __GPULAB_OBJECT__));
  }
}
__GPULAB_TEXEL__ __GPULAB_FUNCTION__ T tex2Dgather(hipTextureObject_t object, float x, float y, int channel = 0) {
  return gpulab::texel_from<T>(__gpulab_gather(object, x, y, channel));
}
__GPULAB_TEXEL__ __GPULAB_FUNCTION__ void tex2Dgather(T* result, hipTextureObject_t object, float x, float y,
                                                       int channel = 0) {
  *result = tex2Dgather<T>(object, x, y, channel);
}

// Surfaces: x counts bytes. What lies outside reads as 0 and is not written, whatever the boundary mode says, as in HIP.
#define __GPULAB_SURFACE__(shape, suffix, declared, passed)                                                       \
  __GPULAB_TEXEL__ __GPULAB_FUNCTION__ void surf##shape##read(T* data, hipSurfaceObject_t object,                 \
                                                               __GPULAB_SEVERAL__ declared, int mode = hipBoundaryModeZero) { \
    x = gpulab::texel_at(object, x);                                                                              \
    *data = gpulab::texel_from<T>(                                                                                \
        __GPULAB_TEXELS_OF__(gpulab::load_##suffix(15, __GPULAB_SEVERAL__ passed, gpulab::image_of(object), 0, 0))); \
  }                                                                                                               \
  __GPULAB_TEXEL__ __GPULAB_FUNCTION__ T surf##shape##read(hipSurfaceObject_t object, __GPULAB_SEVERAL__ declared, \
                                                            int mode = hipBoundaryModeZero) {                     \
    T data;                                                                                                       \
    surf##shape##read(&data, object, __GPULAB_SEVERAL__ passed, mode);                                            \
    return data;                                                                                                  \
  }                                                                                                               \
  __GPULAB_TEXEL__ __GPULAB_FUNCTION__ void surf##shape##write(T data, hipSurfaceObject_t object,                 \
                                                                __GPULAB_SEVERAL__ declared, int mode = hipBoundaryModeZero) { \
    x = gpulab::texel_at(object, x);                                                                              \
    __GPULAB_TEXELS_TO__(gpulab::store_##suffix(gpulab::bits_of_texel(data), 15, __GPULAB_SEVERAL__ passed,        \
                                                gpulab::image_of(object), 0, 0));                                 \
  }
__GPULAB_SURFACE__(1D, 1d, (int x), (x))
__GPULAB_SURFACE__(2D, 2d, (int x, int y), (x, y))
__GPULAB_SURFACE__(3D, 3d, (int x, int y, int z), (x, y, z))
__GPULAB_SURFACE__(1DLayered, 1d_array, (int x, int layer), (x, layer))
__GPULAB_SURFACE__(2DLayered, 2d_array, (int x, int y, int layer), (x, y, layer))

#undef __GPULAB_SURFACE__
#undef __GPULAB_TEXTURE__
#undef __GPULAB_FETCH__
#undef __GPULAB_OBJECT__
#undef __GPULAB_TEXELS_OF__
#undef __GPULAB_TEXELS_TO__
