/* HIP's structures that are passed or returned by value; their layouts are checked against runtime/structures.py. */
#ifndef GPULAB_HIP_H
#define GPULAB_HIP_H

#include <stddef.h>

struct Extent { size_t width, height, depth; };
struct PitchedPtr { void *ptr; size_t pitch, xsize, ysize; };
struct MemoryLocation { int type, id; };
struct Dim3 { unsigned int x, y, z; };
struct IpcHandle { char reserved[64]; };
struct ChannelFormat { int x, y, z, w, f; };

#endif
