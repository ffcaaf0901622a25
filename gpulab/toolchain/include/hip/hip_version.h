// The version of HIP whose calls, functions and macros these headers have.
#ifndef __GPULAB_HIP_VERSION__
#define __GPULAB_HIP_VERSION__
#define HIP_VERSION_MAJOR 7
#define HIP_VERSION_MINOR 15
#define HIP_VERSION_PATCH 26333
#define HIP_VERSION (HIP_VERSION_MAJOR * 10000000 + HIP_VERSION_MINOR * 100000 + HIP_VERSION_PATCH)
#define HIP_VERSION_GITHASH "0"
#define HIP_VERSION_BUILD_ID 0
#define HIP_VERSION_BUILD_NAME ""
#endif
