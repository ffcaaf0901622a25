// rocprofiler-sdk-roctx/roctx.h - ROCTX: marks and ranges that a program gives to a profiler. No profiler reads them here:
// calls keep count of ranges and do nothing else (gpulab/programs/host_libraries/roctx.cpp). Names: ROCprofiler-SDK's
// documentation, "Using ROCTx".
#pragma once
#include <stdint.h>

#define ROCTX_VERSION_MAJOR 4
#define ROCTX_VERSION_MINOR 1

typedef uint64_t roctx_range_id_t;
typedef uint64_t roctx_thread_id_t;

#ifdef __cplusplus
extern "C" {
#endif
struct hsa_agent_s;
struct ihipStream_t;
uint32_t roctx_version_major(void);
uint32_t roctx_version_minor(void);
void roctxMarkA(const char* message);
int roctxRangePushA(const char* message);
int roctxRangePop(void);
roctx_range_id_t roctxRangeStartA(const char* message);
void roctxRangeStop(roctx_range_id_t range);
int roctxProfilerPause(roctx_thread_id_t thread);
int roctxProfilerResume(roctx_thread_id_t thread);
int roctxNameOsThread(const char* name);
int roctxNameHsaAgent(const char* name, const struct hsa_agent_s* agent);
int roctxNameHipDevice(const char* name, int device);
int roctxNameHipStream(const char* name, const struct ihipStream_t* stream);
int roctxGetThreadId(roctx_thread_id_t* thread);
#ifdef __cplusplus
}
#endif
#define roctxMark(message) roctxMarkA(message)
#define roctxRangePush(message) roctxRangePushA(message)
#define roctxRangeStart(message) roctxRangeStartA(message)
