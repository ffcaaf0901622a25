// Litmus tests: two blocks (or more), one thread of each counts. `out` starts at 0.
#define AGENT __HIP_MEMORY_SCOPE_AGENT
#define BLOCK __HIP_MEMORY_SCOPE_WORKGROUP
#define LOAD(place, order) __hip_atomic_load(place, __ATOMIC_##order, AGENT)
#define STORE(place, value, order) __hip_atomic_store(place, value, __ATOMIC_##order, AGENT)

// Message passing: out[0] is what was read after the flag was seen. The receiver has read the line of the box before.
#define MESSAGE(name, send, receive) \
  __global__ void name(int* box, int* flag, int* out) { \
    if (threadIdx.x) return; \
    if (blockIdx.x == 0) { *box = 42; send; } \
    else { int before = box[1 + __lane_id()]; do {} while (!(receive)); out[0] = *box + before; } \
  }
MESSAGE(message_relaxed, STORE(flag, 1, RELAXED), LOAD(flag, RELAXED))
MESSAGE(message_release, STORE(flag, 1, RELEASE), LOAD(flag, RELAXED))
MESSAGE(message_acquire, STORE(flag, 1, RELAXED), LOAD(flag, ACQUIRE))
MESSAGE(message_both, STORE(flag, 1, RELEASE), LOAD(flag, ACQUIRE))
MESSAGE(message_atomics, (__threadfence(), atomicExch(flag, 1)), (atomicAdd(flag, 0) && (__threadfence(), true)))
MESSAGE(message_narrow, __hip_atomic_store(flag, 1, __ATOMIC_RELEASE, BLOCK),
        __hip_atomic_load(flag, __ATOMIC_ACQUIRE, BLOCK))

// Store buffering: each stores, then reads what the other stores.
#define BUFFERING(name, store, load) \
  __global__ void name(int* x, int* y, int* out) { \
    if (threadIdx.x) return; \
    if (blockIdx.x == 0) { STORE(x, 1, store); out[0] = LOAD(y, load); } \
    else { STORE(y, 1, store); out[1] = LOAD(x, load); } \
  }
BUFFERING(buffering_relaxed, RELAXED, RELAXED)
BUFFERING(buffering_both, RELEASE, ACQUIRE)
BUFFERING(buffering_total, SEQ_CST, SEQ_CST)

// Load buffering: each reads, then stores what the other reads.
#define LOADING(name, store, load) \
  __global__ void name(int* x, int* y, int* out) { \
    if (threadIdx.x) return; \
    if (blockIdx.x == 0) { int r = LOAD(x, load); STORE(y, 1, store); out[0] = r; } \
    else { int r = LOAD(y, load); STORE(x, 1, store); out[1] = r; } \
  }
LOADING(loading_relaxed, RELAXED, RELAXED)
LOADING(loading_both, RELEASE, ACQUIRE)

// Coherence: one place never goes back.
__global__ void coherence(int* x, int* y, int* out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) { STORE(x, 1, RELAXED); STORE(x, 2, RELAXED); }
  else { int a = LOAD(x, RELAXED), b = LOAD(x, RELAXED); out[0] = a; out[1] = b; }
}

// Independent reads of independent writes: four blocks; do the two readers agree on the order?
#define INDEPENDENT(name, load) \
  __global__ void name(int* x, int* y, int* out) { \
    if (threadIdx.x) return; \
    if (blockIdx.x == 0) STORE(x, 1, RELEASE); \
    else if (blockIdx.x == 1) STORE(y, 1, RELEASE); \
    else if (blockIdx.x == 2) { int a = LOAD(x, load), b = LOAD(y, load); out[0] = a; out[1] = b; } \
    else { int a = LOAD(y, load), b = LOAD(x, load); out[2] = a; out[3] = b; } \
  }
INDEPENDENT(independent_relaxed, RELAXED)
INDEPENDENT(independent_acquire, ACQUIRE)

// A wave stores, its block meets at a barrier, and another wave of it releases for the device.
__global__ void barrier_then_release(int* box, int* flag, int* out) {
  int last = blockDim.x - 1;
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) *box = 42;
    __syncthreads();
    if (threadIdx.x == last) STORE(flag, 1, RELEASE);
  } else if (threadIdx.x == 0) {
    int before = box[1 + __lane_id()];
    while (!LOAD(flag, ACQUIRE)) {}
    out[0] = *box + before;
  }
}

// Three blocks, each of which passes the message on.
__global__ void passed_on(int* box, int* flag, int* out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) { *box = 42; STORE(flag, 1, RELEASE); }
  else if (blockIdx.x == 1) { while (LOAD(flag, ACQUIRE) != 1) {} STORE(flag + 32, 1, RELEASE); }
  else { int before = box[1 + __lane_id()]; while (LOAD(flag + 32, ACQUIRE) != 1) {} out[0] = *box + before; }
}

// Within a block: two waves, a message in device memory.
__global__ void block_barrier(int* box, int* flag, int* out) {
  int last = blockDim.x - 1, before = threadIdx.x == last ? box[1] : 0;
  if (threadIdx.x == 0) *box = 42;
  __syncthreads();
  if (threadIdx.x == last) out[0] = *box + before;
}
__global__ void block_message(int* box, int* flag, int* out) {
  int last = blockDim.x - 1;
  if (threadIdx.x == 0) { *box = 42; __hip_atomic_store(flag, 1, __ATOMIC_RELEASE, BLOCK); }
  if (threadIdx.x == last) {
    int before = box[1 + __lane_id() % 8];
    while (!__hip_atomic_load(flag, __ATOMIC_ACQUIRE, BLOCK)) {}
    out[0] = *box + before;
  }
}

// A sequence lock: what is read under an even number is of one writing.
__global__ void sequence_lock(int* seq, int* data, int* out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    for (int i = 1; i < 4; i++) {
      STORE(seq, 2 * i - 1, RELAXED); __threadfence();
      STORE(data, i, RELAXED); STORE(data + 32, i, RELAXED);
      STORE(seq, 2 * i, RELEASE);
    }
  } else {
    int a, b, s;
    do {
      s = LOAD(seq, ACQUIRE);
      a = LOAD(data, RELAXED);
      b = LOAD(data + 32, RELAXED);
      __threadfence();
    } while (s % 2 || LOAD(seq, RELAXED) != s);
    out[0] = a != b;
  }
}

// Atomics lose nothing, and a lane's own store is what it reads.
__global__ void counted(int* count, float* sum, int* out) {
  out[64 + blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
  atomicAdd(count, 1);
  atomicAdd(sum, 0.5f);
  atomicMax(out, (int)threadIdx.x);
  out[64 + blockIdx.x * blockDim.x + threadIdx.x] += blockIdx.x;
}

__global__ void all_meet(int* count, int* out) {
  if (threadIdx.x) return;
  atomicAdd(count, 1);
  while ((out[blockIdx.x] = LOAD(count, RELAXED)) < (int)gridDim.x) {}
}
__global__ void outside(int* x) { x[threadIdx.x * 1000000] = 1; }
__global__ void forever(int* x) { while (!LOAD(x, RELAXED)) {} }
__global__ void shifted(const int* in, int* out) {
  __shared__ int tile[256];
  tile[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  out[blockIdx.x * 256 + threadIdx.x] = tile[(threadIdx.x + 7) % 256];
}
