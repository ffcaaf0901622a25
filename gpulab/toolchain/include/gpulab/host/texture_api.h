// HIP's host calls on arrays, textures and surfaces, and the structures that they take, in the layout of HIP 7.
// (Mipmapped arrays are refused by the library, so that their calls are not here.)
#pragma once
#include "../texture_types.h"
#include "structures.h"

typedef struct hipMipmappedArray* hipMipmappedArray_t;
enum hipResourceType {
  hipResourceTypeArray = 0, hipResourceTypeMipmappedArray = 1, hipResourceTypeLinear = 2, hipResourceTypePitch2D = 3
};
enum hipResourceViewFormat { hipResViewFormatNone = 0 };
typedef struct hipResourceDesc {
  enum hipResourceType resType;
  union {
    struct {
      hipArray_t array;
    } array;
    struct {
      hipMipmappedArray_t mipmap;
    } mipmap;
    struct {
      void* devPtr;
      struct hipChannelFormatDesc desc;
      size_t sizeInBytes;
    } linear;
    struct {
      void* devPtr;
      struct hipChannelFormatDesc desc;
      size_t width, height, pitchInBytes;
    } pitch2D;
  } res;
} hipResourceDesc;
typedef struct hipTextureDesc {
  enum hipTextureAddressMode addressMode[3];
  enum hipTextureFilterMode filterMode;
  enum hipTextureReadMode readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned int maxAnisotropy;
  enum hipTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
} hipTextureDesc;
typedef struct hipResourceViewDesc {
  enum hipResourceViewFormat format;
  size_t width, height, depth;
  unsigned int firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer;
} hipResourceViewDesc;

// the driver's forms
typedef enum HIPresourcetype_enum {
  HIP_RESOURCE_TYPE_ARRAY = 0, HIP_RESOURCE_TYPE_MIPMAPPED_ARRAY = 1, HIP_RESOURCE_TYPE_LINEAR = 2,
  HIP_RESOURCE_TYPE_PITCH2D = 3
} HIPresourcetype;
typedef enum HIPaddress_mode_enum {
  HIP_TR_ADDRESS_MODE_WRAP = 0, HIP_TR_ADDRESS_MODE_CLAMP = 1, HIP_TR_ADDRESS_MODE_MIRROR = 2,
  HIP_TR_ADDRESS_MODE_BORDER = 3
} HIPaddress_mode;
typedef enum HIPfilter_mode_enum { HIP_TR_FILTER_MODE_POINT = 0, HIP_TR_FILTER_MODE_LINEAR = 1 } HIPfilter_mode;
typedef struct HIP_ARRAY_DESCRIPTOR {
  size_t Width, Height;
  enum hipArray_Format Format;
  unsigned int NumChannels;
} HIP_ARRAY_DESCRIPTOR;
typedef struct HIP_ARRAY3D_DESCRIPTOR {
  size_t Width, Height, Depth;
  enum hipArray_Format Format;
  unsigned int NumChannels, Flags;
} HIP_ARRAY3D_DESCRIPTOR;
typedef struct HIP_RESOURCE_DESC_st {
  HIPresourcetype resType;
  union {
    struct {
      hipArray_t hArray;
    } array;
    struct {
      hipMipmappedArray_t hMipmappedArray;
    } mipmap;
    struct {
      hipDeviceptr_t devPtr;
      enum hipArray_Format format;
      unsigned int numChannels;
      size_t sizeInBytes;
    } linear;
    struct {
      hipDeviceptr_t devPtr;
      enum hipArray_Format format;
      unsigned int numChannels;
      size_t width, height, pitchInBytes;
    } pitch2D;
    struct {
      int reserved[32];
    } reserved;
  } res;
  unsigned int flags;
} HIP_RESOURCE_DESC;
typedef struct HIP_TEXTURE_DESC_st {
  HIPaddress_mode addressMode[3];
  HIPfilter_mode filterMode;
  unsigned int flags, maxAnisotropy;
  HIPfilter_mode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp, borderColor[4];
  int reserved[12];
} HIP_TEXTURE_DESC;
typedef struct hip_Memcpy2D {
  size_t srcXInBytes, srcY;
  enum hipMemoryType srcMemoryType;
  const void* srcHost;
  hipDeviceptr_t srcDevice;
  hipArray_t srcArray;
  size_t srcPitch, dstXInBytes, dstY;
  enum hipMemoryType dstMemoryType;
  void* dstHost;
  hipDeviceptr_t dstDevice;
  hipArray_t dstArray;
  size_t dstPitch, WidthInBytes, Height;
} hip_Memcpy2D;
typedef struct HIP_MEMCPY3D {
  size_t srcXInBytes, srcY, srcZ, srcLOD;
  enum hipMemoryType srcMemoryType;
  const void* srcHost;
  hipDeviceptr_t srcDevice;
  hipArray_t srcArray;
  size_t srcPitch, srcHeight, dstXInBytes, dstY, dstZ, dstLOD;
  enum hipMemoryType dstMemoryType;
  void* dstHost;
  hipDeviceptr_t dstDevice;
  hipArray_t dstArray;
  size_t dstPitch, dstHeight, WidthInBytes, Height, Depth;
} HIP_MEMCPY3D;

#define hipArrayDefault 0x00
#define hipArrayLayered 0x01
#define hipArraySurfaceLoadStore 0x02
#define hipArrayCubemap 0x04
#define hipArrayTextureGather 0x08
#define HIP_TRSA_OVERRIDE_FORMAT 0x01
#define HIP_TRSF_READ_AS_INTEGER 0x01
#define HIP_TRSF_NORMALIZED_COORDINATES 0x02
#define HIP_TRSF_SRGB 0x10

extern "C" {
hipChannelFormatDesc hipCreateChannelDesc(int x, int y, int z, int w, enum hipChannelFormatKind kind);
hipError_t hipMallocArray(hipArray_t* array, const hipChannelFormatDesc* described, size_t width, size_t height = 0,
                          unsigned int flags = hipArrayDefault);
hipError_t hipMalloc3DArray(hipArray_t* array, const hipChannelFormatDesc* described, hipExtent extent,
                            unsigned int flags = hipArrayDefault);
hipError_t hipArrayCreate(hipArray_t* array, const HIP_ARRAY_DESCRIPTOR* described);
hipError_t hipArray3DCreate(hipArray_t* array, const HIP_ARRAY3D_DESCRIPTOR* described);
hipError_t hipFreeArray(hipArray_t array);
hipError_t hipArrayDestroy(hipArray_t array);
hipError_t hipArrayGetInfo(hipChannelFormatDesc* described, hipExtent* extent, unsigned int* flags, hipArray_t array);
hipError_t hipArrayGetDescriptor(HIP_ARRAY_DESCRIPTOR* described, hipArray_t array);
hipError_t hipArray3DGetDescriptor(HIP_ARRAY3D_DESCRIPTOR* described, hipArray_t array);
hipError_t hipGetChannelDesc(hipChannelFormatDesc* described, hipArray_const_t array);
hipError_t hipMemcpy2DToArray(hipArray_t target, size_t x, size_t y, const void* source, size_t pitch, size_t width,
                              size_t height, hipMemcpyKind kind);
hipError_t hipMemcpy2DToArrayAsync(hipArray_t target, size_t x, size_t y, const void* source, size_t pitch,
                                   size_t width, size_t height, hipMemcpyKind kind, hipStream_t stream = nullptr);
hipError_t hipMemcpy2DFromArray(void* target, size_t pitch, hipArray_const_t source, size_t x, size_t y, size_t width,
                                size_t height, hipMemcpyKind kind);
hipError_t hipMemcpy2DFromArrayAsync(void* target, size_t pitch, hipArray_const_t source, size_t x, size_t y,
                                     size_t width, size_t height, hipMemcpyKind kind, hipStream_t stream = nullptr);
hipError_t hipMemcpy2DArrayToArray(hipArray_t target, size_t target_x, size_t target_y, hipArray_const_t source,
                                   size_t source_x, size_t source_y, size_t width, size_t height, hipMemcpyKind kind);
hipError_t hipMemcpyToArray(hipArray_t target, size_t x, size_t y, const void* source, size_t count,
                            hipMemcpyKind kind);
hipError_t hipMemcpyFromArray(void* target, hipArray_const_t source, size_t x, size_t y, size_t count,
                              hipMemcpyKind kind);
hipError_t hipMemcpyHtoA(hipArray_t target, size_t offset, const void* source, size_t count);
hipError_t hipMemcpyAtoH(void* target, hipArray_t source, size_t offset, size_t count);
hipError_t hipMemcpyParam2D(const hip_Memcpy2D* parameters);
hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D* parameters, hipStream_t stream = nullptr);
hipError_t hipDrvMemcpy2DUnaligned(const hip_Memcpy2D* parameters);
hipError_t hipDrvMemcpy3D(const HIP_MEMCPY3D* parameters);
hipError_t hipDrvMemcpy3DAsync(const HIP_MEMCPY3D* parameters, hipStream_t stream);
hipError_t hipCreateTextureObject(hipTextureObject_t* object, const hipResourceDesc* resource,
                                  const hipTextureDesc* texture, const hipResourceViewDesc* view);
hipError_t hipDestroyTextureObject(hipTextureObject_t object);
hipError_t hipGetTextureObjectResourceDesc(hipResourceDesc* resource, hipTextureObject_t object);
hipError_t hipGetTextureObjectTextureDesc(hipTextureDesc* texture, hipTextureObject_t object);
hipError_t hipGetTextureObjectResourceViewDesc(hipResourceViewDesc* view, hipTextureObject_t object);
hipError_t hipTexObjectCreate(hipTextureObject_t* object, const HIP_RESOURCE_DESC* resource,
                              const HIP_TEXTURE_DESC* texture, const hipResourceViewDesc* view);
hipError_t hipTexObjectDestroy(hipTextureObject_t object);
hipError_t hipTexObjectGetResourceDesc(HIP_RESOURCE_DESC* resource, hipTextureObject_t object);
hipError_t hipTexObjectGetTextureDesc(HIP_TEXTURE_DESC* texture, hipTextureObject_t object);
hipError_t hipCreateSurfaceObject(hipSurfaceObject_t* object, const hipResourceDesc* resource);
hipError_t hipDestroySurfaceObject(hipSurfaceObject_t object);

// texture references, deprecated
hipError_t hipBindTexture(size_t* offset, const textureReference* reference, const void* pointer,
                          const hipChannelFormatDesc* described, size_t bytes = 0xffffffff);
hipError_t hipBindTexture2D(size_t* offset, const textureReference* reference, const void* pointer,
                            const hipChannelFormatDesc* described, size_t width, size_t height, size_t pitch);
hipError_t hipBindTextureToArray(const textureReference* reference, hipArray_const_t array,
                                 const hipChannelFormatDesc* described);
hipError_t hipUnbindTexture(const textureReference* reference);
hipError_t hipGetTextureAlignmentOffset(size_t* offset, const textureReference* reference);
hipError_t hipGetTextureReference(const textureReference** reference, const void* symbol);
}

template <typename T, int shape, hipTextureReadMode mode>
static inline hipError_t hipBindTexture(size_t* offset, const texture<T, shape, mode>& reference, const void* pointer,
                                        size_t bytes = 0xffffffff) {
  return hipBindTexture(offset, &reference, pointer, &reference.channelDesc, bytes);
}
template <typename T, int shape, hipTextureReadMode mode>
static inline hipError_t hipBindTexture(size_t* offset, const texture<T, shape, mode>& reference, const void* pointer,
                                        const hipChannelFormatDesc& described, size_t bytes = 0xffffffff) {
  return hipBindTexture(offset, &reference, pointer, &described, bytes);
}
template <typename T, int shape, hipTextureReadMode mode>
static inline hipError_t hipBindTexture2D(size_t* offset, const texture<T, shape, mode>& reference,
                                          const void* pointer, size_t width, size_t height, size_t pitch) {
  return hipBindTexture2D(offset, &reference, pointer, &reference.channelDesc, width, height, pitch);
}
template <typename T, int shape, hipTextureReadMode mode>
static inline hipError_t hipBindTexture2D(size_t* offset, const texture<T, shape, mode>& reference,
                                          const void* pointer, const hipChannelFormatDesc& described, size_t width,
                                          size_t height, size_t pitch) {
  return hipBindTexture2D(offset, &reference, pointer, &described, width, height, pitch);
}
template <typename T, int shape, hipTextureReadMode mode>
static inline hipError_t hipBindTextureToArray(const texture<T, shape, mode>& reference, hipArray_const_t array) {
  hipChannelFormatDesc described;
  hipError_t error = hipGetChannelDesc(&described, array);
  return error == hipSuccess ? hipBindTextureToArray(&reference, array, &described) : error;
}
template <typename T, int shape, hipTextureReadMode mode>
static inline hipError_t hipBindTextureToArray(const texture<T, shape, mode>& reference, hipArray_const_t array,
                                               const hipChannelFormatDesc& described) {
  return hipBindTextureToArray(&reference, array, &described);
}
template <typename T, int shape, hipTextureReadMode mode>
static inline hipError_t hipUnbindTexture(const texture<T, shape, mode>& reference) {
  return hipUnbindTexture(&reference);
}
