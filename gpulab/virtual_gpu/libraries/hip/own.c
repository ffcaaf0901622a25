/* HIP's functions that need no Python: the last error of a thread, and what stands between <<< and >>>. */
#include "own.h"

#include "stub.h"

EXPORT int hipGetLastError(void);
EXPORT int hipPeekAtLastError(void);
EXPORT int hipExtGetLastError(void);
EXPORT struct ChannelFormat hipCreateChannelDesc(int x, int y, int z, int w, int f);
EXPORT int __hipPushCallConfiguration(struct Dim3 grid, struct Dim3 block, size_t lds, void *stream);
EXPORT int __hipPopCallConfiguration(struct Dim3 *grid, struct Dim3 *block, size_t *lds, void **stream);

enum { INVALID_VALUE = 1, MISSING_CONFIGURATION = 52 }; /* hipError_t */

EXPORT int hipGetLastError(void) {
  int code = gpulab_last_error;
  gpulab_last_error = 0;
  return code;
}

EXPORT int hipPeekAtLastError(void) { return gpulab_last_error; }

EXPORT int hipExtGetLastError(void) {
  int code = gpulab_last_status;
  gpulab_last_status = 0;
  return code;
}

EXPORT struct ChannelFormat hipCreateChannelDesc(int x, int y, int z, int w, int f) {
  struct ChannelFormat result = {x, y, z, w, f};
  return result;
}

/* kernel<<<...>>>(...): the configuration waits here while the arguments are computed, which may launch as well. */
enum { DEEPEST = 64 };
struct call { struct Dim3 grid, block; size_t lds; void *stream; };
static _Thread_local struct call calls[DEEPEST];
static _Thread_local unsigned depth;

EXPORT int __hipPushCallConfiguration(struct Dim3 grid, struct Dim3 block, size_t lds, void *stream) {
  if (depth == DEEPEST) return gpulab_status(INVALID_VALUE);
  calls[depth++] = (struct call){grid, block, lds, stream};
  return 0;
}

EXPORT int __hipPopCallConfiguration(struct Dim3 *grid, struct Dim3 *block, size_t *lds, void **stream) {
  if (!grid || !block || !lds || !stream) return gpulab_status(INVALID_VALUE);
  if (depth == 0) return gpulab_status(MISSING_CONFIGURATION);
  struct call *last = &calls[--depth];
  *grid = last->grid;
  *block = last->block;
  *lds = last->lds;
  *stream = last->stream;
  return 0;
}
