// HIP's host interface. Of a whole program (%%hipcc, gpulab hipcc) all of it; of a kernel's source the types that device
// code may name: in a notebook the calls are made from Python, by gpulab or by hip-python.
#pragma once
#ifdef __GPULAB_PROGRAM__
#include "../gpulab/host/runtime_api.h"
#else
#include "../gpulab/definitions.h"

enum hipError_t {
  hipSuccess = 0,
  hipErrorInvalidValue = 1,
  hipErrorOutOfMemory = 2,
  hipErrorNotInitialized = 3,
  hipErrorNoDevice = 100,
  hipErrorInvalidDevice = 101,
  hipErrorIllegalAddress = 700,
  hipErrorLaunchFailure = 719,
  hipErrorNotSupported = 801,
  hipErrorUnknown = 999
};
typedef struct ihipStream_t* hipStream_t;
typedef struct ihipEvent_t* hipEvent_t;
typedef struct ihipModule_t* hipModule_t;
typedef struct ihipModuleSymbol_t* hipFunction_t;
typedef void* hipDeviceptr_t;
typedef int hipDevice_t;
#endif
