// ROCTX for programs without a profiler (rocprofiler-sdk-roctx/roctx.h): ranges are counted, by thread where they are nested,
// and messages go nowhere. What the calls return: ROCprofiler-SDK, roctx.cpp.
#include <rocprofiler-sdk-roctx/roctx.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#define API extern "C" __attribute__((visibility("default"), used))

static thread_local int open_ranges = 0;
static std::atomic<roctx_range_id_t> started{0};

API uint32_t roctx_version_major() { return ROCTX_VERSION_MAJOR; }
API uint32_t roctx_version_minor() { return ROCTX_VERSION_MINOR; }
API void roctxMarkA(const char*) {}
API int roctxRangePushA(const char*) { return open_ranges++; }
API int roctxRangePop() { return open_ranges == 0 ? -1 : --open_ranges; }
API roctx_range_id_t roctxRangeStartA(const char*) { return ++started; }
API void roctxRangeStop(roctx_range_id_t) {}
API int roctxProfilerPause(roctx_thread_id_t) { return 0; }
API int roctxProfilerResume(roctx_thread_id_t) { return 0; }
API int roctxNameOsThread(const char*) { return 0; }
API int roctxNameHsaAgent(const char*, const hsa_agent_s*) { return 0; }
API int roctxNameHipDevice(const char*, int) { return 0; }
API int roctxNameHipStream(const char*, const ihipStream_t*) { return 0; }
API int roctxGetThreadId(roctx_thread_id_t* thread) { return *thread = syscall(SYS_gettid), 0; }
