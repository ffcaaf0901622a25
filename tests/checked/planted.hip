// Kernels with one mistake each. What is to be found stands above each (see harness.py).
#include <hip/hip_cooperative_groups.h>

// ---- races in shared memory between waves

//@ race block=256 text=shared,__syncthreads
__global__ void reversed_without_barrier(float* out) {
  __shared__ float tile[256];
  int t = threadIdx.x;
  tile[t] = t;  // <1>
  out[t] = tile[255 - t];  // <2>
}

//@ race block=128 text=shared,__syncthreads
__global__ void neighbour_without_barrier(float* out) {
  __shared__ float tile[128];
  int t = threadIdx.x;
  tile[t] = out[t];
  __syncthreads();
  float left = tile[(t + 127) % 128];  // <1>
  tile[t] = left + 1;  // <2>
  __syncthreads();
  out[t] = tile[t];
}

//@ race block=256 text=shared
__global__ void tree_without_barrier(float* out) {
  __shared__ float sum[256];
  int t = threadIdx.x;
  sum[t] = t;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (t < half)
      sum[t] += sum[t + half];
    if (t == half) out[0] = sum[0];
  }
}

//@ race block=128 args=z256 text=shared
__global__ void tile_overwritten_in_loop(float* out) {
  __shared__ float tile[128];
  int t = threadIdx.x;
  float sum = 0;
  for (int step = 0; step < 2; step++) {
    tile[t] = out[step * 128 + t] + step + 1;  // <1>
    __syncthreads();
    sum += tile[127 - t];  // <2>
  }
  out[t] = sum;
}

//@ race block=256 text=shared,write
__global__ void all_waves_write_their_number(float* out) {
  __shared__ float winner;
  if (threadIdx.x % 64 == 0) winner = threadIdx.x;  // <1>
  __syncthreads();
  out[threadIdx.x] = winner;
}

//@ race block=256 args=iz64 text=shared,atomic
__global__ void counter_zeroed_without_barrier(int* out) {
  __shared__ int total;
  if (threadIdx.x == 0) total = 0;  // <1>
  if (threadIdx.x % 32 == 0) atomicAdd(&total, 1);  // <2>
  __syncthreads();
  if (threadIdx.x == 0) out[0] = total;
}

//@ race block=128 args=iz64 text=shared,atomic
__global__ void histogram_read_early(int* out) {
  __shared__ int bins[16];
  int t = threadIdx.x;
  if (t < 16) bins[t] = 0;
  __syncthreads();
  atomicAdd(&bins[t % 16], 1);  // <1>
  if (t < 16) out[t] = bins[t];  // <2>
}

//@ race block=128 args=iz64 text=shared,atomic
__global__ void histogram_cleared_late(int* out) {
  __shared__ int bins[16];
  int t = threadIdx.x;
  if (t >= 112) bins[t - 112] = 0;  // <1>
  atomicAdd(&bins[t % 16], 1);  // <2>
  __syncthreads();
  if (t < 16) out[t] = bins[t];
}

//@ race block=128 lds=512 text=shared
__global__ void dynamic_shared_memory(float* out) {
  extern __shared__ float room[];
  int t = threadIdx.x;
  room[t] = t;  // <1>
  out[t] = room[t ^ 64];  // <2>
}

//@ race block=16x16 text=shared
__global__ void transpose_without_barrier(float* out) {
  __shared__ float tile[16][17];
  int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = out[16 * y + x];  // <1>
  out[16 * y + x] = tile[x][y];  // <2>
}

//@ race block=128 text=shared
__global__ void shifted_in_place(float* out) {
  __shared__ unsigned char text[128];
  int t = threadIdx.x;
  text[t] = t;
  __syncthreads();
  if (t < 127) text[t] = text[t + 1];  // <1>
  __syncthreads();
  out[t] = text[t];
}

//@ race block=128 text=shared
__global__ void halves_of_doubles(float* out) {
  __shared__ double pairs[64];
  int t = threadIdx.x;
  if (t < 64) pairs[t] = t;  // <1>
  float* halves = (float*)pairs;
  out[t] = halves[t];  // <2>
}

// ---- races in global memory within a block

//@ race block=128 text=global,__syncthreads
__global__ void global_without_barrier(float* out) {
  int t = threadIdx.x;
  out[t] = t + 1;  // <1>
  float other = out[127 - t];  // <2>
  out[128 + t] = other;
}

//@ race block=128 text=global,write
__global__ void all_write_one_element(float* out) {
  if (threadIdx.x % 64 == 3) out[0] = threadIdx.x;  // <1>
}

//@ race block=256 args=iz16 text=global
__global__ void counter_without_atomic(int* count) {
  if (threadIdx.x % 64 == 0) count[0] = count[0] + 1;  // <1>
}

// ---- lanes of one instruction

//@ lane-conflict block=32 text=different,lane
__global__ void lanes_write_one_element(float* out) {
  out[0] = threadIdx.x;  // <1>
}

//@ lane-conflict block=64 text=different,shared
__global__ void lanes_write_one_shared_element(float* out) {
  __shared__ float best;
  best = out[threadIdx.x] + threadIdx.x;  // <1>
  __syncthreads();
  out[threadIdx.x] = best;
}

//@ lane-conflict block=32 args=iz16 text=different
__global__ void scatter_with_collisions(int* out) {
  out[threadIdx.x / 2] = threadIdx.x;  // <1>
}

//@ lane-conflict block=32 args=iz64,bz64 text=different
__global__ void bytes_with_collisions(int* unused, unsigned char* out) {
  out[threadIdx.x % 31] = threadIdx.x;  // <1>
}

// ---- races between blocks

//@ race grid=4 block=64 args=iz16 text=global,block
__global__ void blocks_count_without_atomic(int* count) {
  if (threadIdx.x == 0) count[0] += 1;  // <1>
}

//@ race grid=4 block=64 args=z256 text=global,block
__global__ void stencil_in_place(float* x) {
  int i = blockIdx.x * 64 + threadIdx.x;
  float right = i < 255 ? x[i + 1] : 0;  // <1>
  x[i] = right + 1;  // <2>
}

//@ race grid=2 block=64 args=z128,z64 text=global
__global__ void block_reads_what_another_writes(float* x, float* out) {
  int t = threadIdx.x;
  if (blockIdx.x == 0)
    x[t] = t + 1;  // <1>
  else
    out[t] = x[t];  // <2>
}

//@ race grid=4 block=64 args=z256 text=global,write
__global__ void overlapping_rows(float* out) {
  out[blockIdx.x * 32 + threadIdx.x] = blockIdx.x + 1;  // <1>
}

//@ race grid=4 block=64 args=iz16 text=atomic
__global__ void atomic_and_plain_counter(int* count) {
  if (threadIdx.x == 0) {
    atomicAdd(count, 1);  // <1>
    count[4 + blockIdx.x] = count[0];  // <2>
  }
}

//@ race grid=2 block=64 args=z64,iz4,z4 text=global,__threadfence
__global__ void last_block_without_fence(float* part, int* count, float* out) {
  if (threadIdx.x == 0) {
    part[blockIdx.x] = blockIdx.x + 1;  // <1>
    if (atomicAdd(count, 1) == 1) {
      float sum = 0;
      for (int i = 0; i < 2; i++) sum += ((float*)part)[i];  // <2>
      out[0] = sum;
    }
  }
}

// ---- reads of what was never written

//@ never-written args=e64,z64 text=gpulab.empty
__global__ void global_never_written(const float* x, float* out) {
  out[threadIdx.x] = x[threadIdx.x];  // <1>
}

//@ never-written args=e64,z64 text=gpulab.empty
__global__ void global_written_in_part(float* x, float* out) {
  int t = threadIdx.x;
  if (t < 60) x[t] = t;
  out[t] = x[t];  // <1>
}

//@ never-written args=ie4 text=atomic
__global__ void counter_never_cleared(int* count) {
  atomicAdd(count, 1);  // <1>
}

//@ never-written args=e64,5 text=empty
__global__ void accumulates_into_empty(float* y, int n) {
  y[threadIdx.x] += n;  // <1>
}

//@ never-written block=64 text=shared
__global__ void shared_never_written(float* out) {
  __shared__ float tile[64];
  int t = threadIdx.x;
  if (t < 32) tile[t] = t;
  __syncthreads();
  out[t] = tile[t];  // <1>
}

//@ never-written block=128 text=shared
__global__ void halo_never_written(float* out) {
  __shared__ float tile[130];
  int t = threadIdx.x;
  tile[t + 1] = t;
  __syncthreads();
  out[t] = tile[t] + tile[t + 2];  // <1>
}

//@ never-written block=64 lds=512 text=shared
__global__ void dynamic_never_written(float* out) {
  extern __shared__ float room[];
  int t = threadIdx.x;
  room[t] = t;
  __syncthreads();
  out[t] = room[t + 64];  // <1>
}

//@ never-written block=64 args=iz64 text=shared
__global__ void bins_never_cleared(int* out) {
  __shared__ int bins[16];
  atomicAdd(&bins[threadIdx.x % 16], 1);  // <1>
  __syncthreads();
  if (threadIdx.x < 16) out[threadIdx.x] = bins[threadIdx.x];
}

//@ never-written block=64 args=z64,3 text=local
__global__ void local_array_never_written(float* out, int n) {
  float row[200];
  for (int i = 0; i < n; i++) row[i * (threadIdx.x % 2 + 1)] = i;
  out[threadIdx.x] = row[(n + threadIdx.x) % 200];  // <1>
}

// ---- barriers

//@ barrier block=128 text=threads,lane
__global__ void barrier_in_a_condition(float* out) {
  __shared__ float tile[128];
  int t = threadIdx.x;
  tile[t] = t;
  if (t < 100) {
    __syncthreads();  // <1>
    out[t] = tile[99 - t];
  }
}

//@ barrier block=128 args=z128,100 text=early
__global__ void early_return_before_barrier(float* x, int n) {
  __shared__ float tile[128];
  int t = threadIdx.x;
  if (t >= n) return;
  tile[t] = x[t];
  __syncthreads();  // <1>
  x[t] = tile[n - 1 - t];
}

//@ barrier block=128 args=z128,64 text=ended
__global__ void early_return_of_a_wave(float* x, int n) {
  __shared__ float tile[128];
  int t = threadIdx.x;
  if (t >= n) return;
  tile[t] = x[t];
  __syncthreads();  // <1>
  x[t] = tile[n - 1 - t];
}

//@ barrier block=128 text=different
__global__ void waves_at_different_barriers(float* out) {
  __shared__ float tile[128];
  int t = threadIdx.x;
  tile[t] = t;
  if (t < 64) {
    __syncthreads();  // <1>
    out[t] = tile[t];
  } else {
    tile[t] = 2;
    __syncthreads();  // <2>
    out[t] = tile[t + 1 - t % 2 * 2];
  }
}

//@ barrier block=64 text=threads
__global__ void barrier_in_a_loop_of_different_length(float* out) {
  __shared__ float tile[64];
  int t = threadIdx.x;
  for (int i = 0; i <= t; i++) {
    tile[t] = i;
    __syncthreads();  // <1>
  }
  out[t] = tile[t];
}

// ---- waiting for ever

//@ deadlock block=64 args=iz4,iz4 text=same,wave,lane
__global__ void lock_taken_by_a_lane_of_the_wave(int* lock, int* value) {
  while (atomicCAS(lock, 0, 1) != 0) {}  // <1>
  value[0] += 1;
  atomicExch(lock, 0);
}

//@ deadlock block=128 args=iz4 text=progress
__global__ void flag_that_nobody_sets(volatile int* flag) {
  if (threadIdx.x == 0)
    while (flag[0] == 0) {}  // <1>
}

//@ deadlock block=64 grid=2 args=iz4,iz4
__global__ void two_locks_crosswise(int* a, int* b) {
  if (threadIdx.x != 0) return;
  int* first = blockIdx.x ? a : b;
  int* second = blockIdx.x ? b : a;
  atomicExch(first, 1);  // <2>
  while (__hip_atomic_load(second, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == 1 ||  // <1>
         __hip_atomic_load(first, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == 0) __builtin_amdgcn_s_sleep(1);
}

//@ deadlock block=64 args=iz4
__global__ void lock_not_given_back(int* lock) {
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; i++)
      while (atomicCAS(lock, 0, 1) != 0) {}  // <1>
  }
}

// The critical section leads out of the loop, so that the compiler puts it behind the loop: as above.
//@ deadlock block=64 args=iz4,iz4 text=same,wave,lane
__global__ void lock_per_lane_in_turn(int* lock, int* value) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      value[0] = value[0] + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

// ---- shuffles

//@ shuffle block=64 text=active,lane
__global__ void shuffle_in_a_condition(float* out) {
  float v = threadIdx.x;
  if (threadIdx.x < 20) v += __shfl_down(v, 16);  // <1>
  out[threadIdx.x] = v;
}

//@ shuffle block=20 text=exist
__global__ void shuffle_from_threads_that_are_not(float* out) {
  float v = threadIdx.x;
  for (int d = 16; d > 0; d /= 2) v += __shfl_down(v, d);  // <1>
  out[threadIdx.x] = v;
}

//@ shuffle block=64 args=z64,50 text=returned
__global__ void shuffle_after_early_return(float* x, int n) {
  int t = threadIdx.x;
  if (t >= n) return;
  x[t] += __shfl_xor(x[t], 31);  // <1>
}

//@ shuffle block=32 text=active
__global__ void broadcast_of_a_lane_outside(float* out) {
  float v = threadIdx.x;
  if (threadIdx.x % 2) out[threadIdx.x] = __shfl(v, 0);  // <1>
}

// ---- addresses, as in launches that are not checked

//@ out-of-bounds block=64 args=z60 text=end
__global__ void beyond_the_end(float* x) {
  x[threadIdx.x] = threadIdx.x;  // <1>
}

//@ out-of-bounds block=64 args=z60 text=before
__global__ void before_the_start(float* x) {
  x[(int)threadIdx.x - 1] = 1;  // <1>
}

//@ misaligned block=64 args=bz256 text=multiple
__global__ void misaligned_float(unsigned char* x) {
  *(float*)(x + 1 + 4 * (threadIdx.x % 16)) = 1;  // <1>
}

//@ lds-out-of-bounds block=64 args=z64,64 text=shared
__global__ void beyond_shared_memory(float* x, int n) {
  __shared__ float tile[64];
  tile[threadIdx.x + n] = 1;  // <1>
  __syncthreads();
  x[threadIdx.x] = tile[threadIdx.x];
}

//@ stack-overflow block=64 args=iz64,100000 text=stack,calls
__device__ __attribute__((noinline)) int deeper(int n, volatile int* x);
__device__ __attribute__((noinline)) int deep(int n, volatile int* x) {
  int here[4];
  for (int i = 0; i < 4; i++) here[i] = x[i];
  return n ? deeper(n - 1, x) + here[n & 3] : here[0];
}
__device__ __attribute__((noinline)) int deeper(int n, volatile int* x) { return deep(n, x) * 2; }
__global__ void recursion_too_deep(int* x, int n) {
  x[threadIdx.x] = deep(n, x);
}

// More blocks than the device has room for: 64 KiB of shared memory each leave room for one on each compute unit.
//@ deadlock block=64 grid=400 lds=65536 on=gfx942 args=wz4 text=started
__global__ void barrier_of_a_grid_that_does_not_fit(unsigned* count) {
  extern __shared__ float room[];
  if (threadIdx.x == 0) {
    room[0] = 1;
    atomicAdd(count, 1u);
    while (__hip_atomic_load(count, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) < gridDim.x) {}
  }
}

// ---- handing over by atomics, and more of all kinds

#define AGENT __HIP_MEMORY_SCOPE_AGENT
#define BLOCK __HIP_MEMORY_SCOPE_WORKGROUP

//@ race grid=2 block=64 args=iz4,iz4,iz4 text=__ATOMIC_ACQUIRE
__global__ void flag_read_without_acquire(int* data, int* flag, int* out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    data[0] = 5;  // <1>
    __threadfence();
    __hip_atomic_store(flag, 1, __ATOMIC_RELAXED, AGENT);
  } else {
    while (__hip_atomic_load(flag, __ATOMIC_RELAXED, AGENT) == 0) {}
    out[0] = data[0];  // <2>
  }
}

//@ race grid=2 block=64 args=iz4,iz4,iz4 text=__ATOMIC_RELEASE
__global__ void flag_set_without_release(int* data, int* flag, int* out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    data[0] = 5;  // <1>
    __hip_atomic_store(flag, 1, __ATOMIC_RELAXED, AGENT);
  } else {
    while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, AGENT) == 0) {}
    out[0] = data[0];  // <2>
  }
}

//@ race grid=2 block=64 args=iz4,iz4,iz4 text=__threadfence()
__global__ void fences_for_the_block_only(int* data, int* flag, int* out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    data[0] = 5;  // <1>
    __threadfence_block();
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {}
    __threadfence_block();
    out[0] = data[0];  // <2>
  }
}

//@ race grid=2 block=64 args=iz4,iz4,iz4 text=_block
__global__ void flag_read_for_the_block_only(int* data, int* flag, int* out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    data[0] = 5;
    __hip_atomic_store(flag, 1, __ATOMIC_RELEASE, AGENT);  // <1>
  } else {
    while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, BLOCK) == 0) {}  // <2>
    out[0] = data[0];
  }
}

//@ race grid=2 block=64 args=iz4,iz4,iz4 text=__threadfence()
__global__ void volatile_flag_without_fences(int* data, volatile int* flag, int* out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    data[0] = 5;  // <1>
    *flag = 1;
  } else {
    while (*flag == 0) {}
    out[0] = data[0];  // <2>
  }
}

//@ race grid=2 block=64 args=iz4,iz4,iz4
__global__ void flag_that_is_plain(int* data, int* flag, int* out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    data[0] = 5;
    __threadfence();
    *flag = 1; // <1>
  } else {
    if (*flag) {  // <2>
    __threadfence();
    out[0] = data[0]; }
  }
}

//@ race grid=2 block=64 args=iz4,iz4,iz4 text=__ATOMIC_RELEASE
__global__ void fence_before_data(int* data, int* flag, int* out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    __threadfence();
    data[0] = 5;  // <1>
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {}
    __threadfence();
    out[0] = data[0];  // <2>
  }
}

//@ race grid=2 block=64 args=iz4,iz4,iz4 text=__ATOMIC_ACQUIRE
__global__ void reader_fence_before_flag(int* data, int* flag, int* out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    data[0] = 5;  // <1>
    __threadfence();
    atomicExch(flag, 1);
  } else {
    __threadfence();
    while (atomicAdd(flag, 0) == 0) {}
    out[0] = data[0];  // <2>
  }
}

//@ race block=128 args=iz4 text=__threadfence_block,orders
__global__ void shared_flag_without_order(int* out) {
  __shared__ int flag, value;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 64) {
    value = 5;  // <1>
    __hip_atomic_store(&flag, 1, __ATOMIC_RELAXED, BLOCK);
  }
  if (threadIdx.x == 0) {
    while (__hip_atomic_load(&flag, __ATOMIC_RELAXED, BLOCK) == 0) {}
    out[0] = value;  // <2>
  }
}

//@ race block=128 args=iz4 text=__threadfence_block,orders
__global__ void shared_volatile_flag_without_order(int* out) {
  __shared__ volatile int flag;
  __shared__ int value;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 64) {
    value = 5;  // <1>
    flag = 1;
  }
  if (threadIdx.x == 0) {
    while (flag == 0) {}
    out[0] = value;  // <2>
  }
}

//@ race block=128 args=iz4 text=__threadfence_block
__global__ void last_wave_without_fence(int* out) {
  __shared__ int n, part[4];
  if (threadIdx.x == 0) n = 0;
  __syncthreads();
  if (threadIdx.x % 64 == 0) {
    part[threadIdx.x / 64] = threadIdx.x + 1;  // <1>
    if (atomicAdd(&n, 1) == 1) out[0] = part[0] + part[1];  // <2>
  }
}

//@ race grid=4 block=64 args=iz4 text=__HIP_MEMORY_SCOPE_AGENT
__global__ void block_scope_atomic_across_blocks(int* count) {
  atomicAdd_block(count, 1);  // <1>
}

//@ race grid=3 block=64 args=iz4,iz4,iz4 text=__HIP_MEMORY_SCOPE_AGENT
__global__ void counter_block_scope_and_device_scope(int* n, int* m, int* out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) atomicAdd(n, 1);  // <1>
  else __hip_atomic_fetch_add(n, 1, __ATOMIC_ACQ_REL, BLOCK);  // <2>
}

//@ race grid=2 block=64 args=iz4,iz4,iz4
__global__ void double_checked(int* init, int* lock, int* value) {
  if (threadIdx.x) return;
  if (!*init) {   // <1>
    while (atomicCAS(lock, 0, 1)) {}
    __threadfence();
    if (!*init) { value[0] = 42; __threadfence(); *init = 1; } // <2>
    __threadfence();
    atomicExch(lock, 0);
  }
}

//@ race grid=2 block=64 args=z64,z4,wz4 text=__ATOMIC_ACQUIRE
__global__ void last_block_reader_without_fence(float* part, float* out, unsigned* count) {
  if (threadIdx.x == 0) {
    part[blockIdx.x] = blockIdx.x + 1;  // <1>
    __threadfence();
    if (atomicInc(count, gridDim.x - 1) == gridDim.x - 1) {
      out[0] = part[0] + part[1];  // <2>
    }
  }
}

//@ race grid=2 block=128 args=z256,z4,wz4 text=__ATOMIC_ACQUIRE
__global__ void last_block_reader_without_fence_many(float* part, float* out, unsigned* count) {
  __shared__ bool last;
  part[blockIdx.x * 128 + threadIdx.x] = 1;  // <1>
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(count, 1u) == gridDim.x - 1;
  __syncthreads();
  if (last) {
    float s = 0;
    for (int i = 0; i < 2; i++) s += part[i * 128 + threadIdx.x];  // <2>
    atomicAdd(out, s);
  }
}

//@ race grid=4 block=128 args=iz4,iz4 text=__ATOMIC_ACQUIRE
__global__ void spin_lock_without_acquire(int* lock, int* value) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    value[0] = value[0] + 1;  // <1>
    __threadfence();
    atomicExch(lock, 0);
  }
}

//@ race grid=4 block=128 args=iz4,iz4 text=__ATOMIC_RELEASE
__global__ void spin_lock_without_release(int* lock, int* value) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    value[0] = value[0] + 1;  // <1>
    atomicExch(lock, 0);
  }
}

//@ race grid=4 block=64 args=iz4,iz4 text=atomic
__global__ void lock_released_by_plain_store(int* lock, int* value) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {}  // <1>
    __threadfence();
    value[0] = value[0] + 1;
    __threadfence();
    *lock = 0;  // <2>
  }
}

//@ race grid=8 block=64 args=iz16,iz16 text=__ATOMIC_ACQUIRE
__global__ void look_back_without_acquire(int* sum, int* flag) {
  if (threadIdx.x == 0) {
    int before = 0;
    if (blockIdx.x > 0) {
      while (__hip_atomic_load(&flag[blockIdx.x - 1], __ATOMIC_RELAXED, AGENT) == 0) {}
      before = sum[blockIdx.x - 1];  // <1>
    }
    sum[blockIdx.x] = before + 1;  // <2>
    __hip_atomic_store(&flag[blockIdx.x], 1, __ATOMIC_RELEASE, AGENT);
  }
}

//@ race block=128 args=iz64
__global__ void lds_counter_plain(int* out) {
  __shared__ int n;
  if (threadIdx.x == 0) n = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 1) n++;  // <1>
  __syncthreads();
  out[threadIdx.x % 4] = n;
}

//@ race block=128 args=iz64
__global__ void lds_zero_after_use(int* out) {
  __shared__ int n;
  if (threadIdx.x == 0) n = 1;
  __syncthreads();
  out[threadIdx.x % 64 ] = n;  // <1>
  if (threadIdx.x == 0) n = 0;  // <2>
}

//@ race block=128 args=iz128
__global__ void syncwarp_for_block(int* out) {
  __shared__ int a[128];
  a[threadIdx.x] = threadIdx.x;  // <1>
  __syncwarp();
  out[threadIdx.x] = a[127 - threadIdx.x];  // <2>
}

//@ race block=128 args=iz128
__global__ void threadfence_for_block(int* out) {
  __shared__ int a[128];
  a[threadIdx.x] = threadIdx.x;  // <1>
  __threadfence_block();
  out[threadIdx.x] = a[127 - threadIdx.x];  // <2>
}

//@ race block=64 grid=2 args=iz128
__global__ void syncthreads_for_grid(int* x) {
  int i = blockIdx.x * 64 + threadIdx.x;
  x[i] = i + 1;  // <1>
  __syncthreads();
  int v = x[127 - i];  // <2>
  __syncthreads();
  x[i] = v;
}

//@ race block=64 grid=4 args=bz256
__global__ void bitset_plain(unsigned char* x) {
  x[threadIdx.x] |= 1 << blockIdx.x;  // <1>
}

//@ race block=128
__global__ void bitfields_of_a_word(float* out) {
  struct F {
    unsigned a : 5;
    unsigned b : 11;
    unsigned c : 16;
  };
  __shared__ F f[64];
  int t = threadIdx.x;
  if (t < 64) f[t] = {1, 2, 3};
  __syncthreads();
  if (t < 64) f[t].a = t + 2;  // <1>
  else f[t - 64].b = t + 3;  // <2>
  __syncthreads();
  out[t] = f[t % 64].b;
}

//@ never-written block=64 args=z64
__global__ void struct_field_uninit(float* out) {
  struct P { float a, b, c, d; };
  __shared__ P p[64];
  int t = threadIdx.x;
  p[t].a = 1;
  p[t].b = 2;
  p[t].c = 3;
  __syncthreads();
  out[t] = p[63 - t].d;  // <1>
}

//@ never-written block=64 args=ie64,iz64
__global__ void cas_uninit(int* lock, int* out) {
  if (threadIdx.x == 0) out[0] = atomicCAS(lock, 0, 1);  // <1>
}

//@ barrier block=128 text=threads
__global__ void barrier_break(float* out) {
  __shared__ float t[128];
  for (int i = 0; i < 4; i++) {
    t[threadIdx.x] = i;
    if (i == (int)threadIdx.x / 32) break;
    __syncthreads();  // <1>
  }
  out[threadIdx.x] = t[threadIdx.x];
}

//@ barrier block=128 args=iz4
__global__ void cg_block_sync_divergent(int* out) {
  auto b = cooperative_groups::this_thread_block();
  if (b.thread_rank() < 70) b.sync();  // <1>
  out[0] = 1;
}

//@ deadlock block=64 grid=2 args=iz4 text=written
__global__ void lock_order(int* l) {
  if (threadIdx.x) return;
  int* a = l + blockIdx.x; int* b = l + 1 - blockIdx.x;
  while (atomicCAS(a, 0, 1)) __builtin_amdgcn_s_sleep(1);  // <2>
  for (int i = 0; i < 100; i++) __builtin_amdgcn_s_sleep(1);
  while (atomicCAS(b, 0, 1)) __builtin_amdgcn_s_sleep(1);  // <1>
  l[2]++;
  atomicExch(b, 0); atomicExch(a, 0);
}

//@ deadlock block=128 args=iz4 text=barrier
__global__ void wait_for_barrier(int* out) {
  __shared__ int flag;
  if (threadIdx.x == 0) flag = 0;  // <2>
  __syncthreads();
  if (threadIdx.x >= 64) while (__hip_atomic_load(&flag, __ATOMIC_ACQUIRE, BLOCK) == 0) {}  // <1>
  __syncthreads();
  if (threadIdx.x == 0) __hip_atomic_store(&flag, 1, __ATOMIC_RELEASE, BLOCK);
  out[0] = 1;
}

//@ shuffle block=64 args=z64,40
__global__ void shfl_loop_exit(float* out, int n) {
  float v = 0;
  for (int i = threadIdx.x; i < n; i += 32) v += __shfl_xor(out[i], 1) + __shfl(v, 31);  // <1>
  out[threadIdx.x] = v;
}

//@ shuffle block=64
__global__ void shfl_sync_wrong_mask(float* out) {
  float v = threadIdx.x;
  if (threadIdx.x % 2 == 0) v = __shfl(v, threadIdx.x + 1);  // <1>
  out[threadIdx.x] = v;
}

//@ lds-out-of-bounds block=64
__global__ void lds_off_by_one(float* out) {
  __shared__ float a[64];
  a[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = a[threadIdx.x + 1];  // <1>
}

//@ lds-out-of-bounds block=64 lds=252
__global__ void dynamic_lds_short(float* out) {
  extern __shared__ float a[];
  a[threadIdx.x] = threadIdx.x;  // <1>
  __syncthreads();
  out[threadIdx.x] = a[63 - threadIdx.x];
}

//@ null block=64 args=n,3
__global__ void null_offset(float* a, int n) {
  a[n + threadIdx.x] = 1;  // <1>
}

// ---- some lanes of a chunk, stores that change some lanes' memory, lanes that read cells of the next ones

//@ race block=128 text=shared
__global__ void odd_lanes_of_two_waves(float* out) {
  __shared__ float tile[64];
  int t = threadIdx.x;
  if (t % 2) tile[t % 64] = t;  // <1>
  __syncthreads();
  out[t] = t % 2 ? tile[t % 64] : 0;
}

//@ race block=64 grid=2 args=z64
__global__ void odd_lanes_of_two_blocks(float* out) {
  if (threadIdx.x % 2) out[threadIdx.x] = blockIdx.x + 1;  // <1>
}

//@ race block=128 args=z64,z64
__global__ void one_of_many_zeros_changes(float* x, float* y) {
  int t = threadIdx.x;
  if (t < 64) y[t] = x[t];  // <1>
  else x[t - 64] = t == 100;  // <2>
}

//@ race block=128 args=z64,z64
__global__ void one_of_some_zeros_changes(float* x, float* y) {
  int t = threadIdx.x;
  if (t % 8 == 7) return;
  if (t < 64) y[t] = x[t];  // <1>
  else x[t - 64] = t == 100;  // <2>
}

//@ never-written block=64
__global__ void zeros_to_even_lanes_alone(float* out) {
  __shared__ float tile[64];
  int t = threadIdx.x;
  if (t % 2 == 0) tile[t] = 0;
  __syncthreads();
  out[t] = tile[t];  // <1>
}

//@ race block=128 grid=40 args=r5200,z5200
__global__ void last_of_three_neighbours(float* x, float* y) {
  int t = threadIdx.x, first = 130 * blockIdx.x;
  if (t < 64) y[first + t] = x[first + t] + x[first + t + 1] + x[first + t + 2];  // <1>
  else x[first + t + (blockIdx.x % 16 == 3 ? 1 : 2)] = 0;  // <2>
}

//@ race block=128 grid=40 args=r5200,z5200 text=(32,
__global__ void first_who_reads_the_last_of_three_neighbours(float* x, float* y) {
  int t = threadIdx.x, first = 130 * blockIdx.x;
  if (t < 64) y[first + t] = x[first + t] + x[first + t + 1] + x[first + t + 2];  // <1>
  else x[first + t + (blockIdx.x % 16 == 3 ? -30 : 2)] = 0;  // <2>
}

//@ race block=256 args=r256
__global__ void neighbours_in_place(float* x) {
  int t = threadIdx.x;
  if (t > 0 && t < 255) x[t] = x[t - 1] + x[t] + x[t + 1];  // <1>
}

//@ never-written block=64 args=e64,z64
__global__ void even_lanes_fill_memory(float* x, float* y) {
  int t = threadIdx.x;
  if (t % 2 == 0) x[t] = t;
  __syncthreads();
  y[t] = x[t];  // <1>
}

//@ race block=128 grid=2 args=r128,z256
__global__ void read_by_another_block_before_two_own_reads(float* x, float* y) {
  int t = threadIdx.x;
  float sum = x[t];  // <2>
  __syncthreads();
  if (blockIdx.x == 1) {
    sum += x[t];
    __syncthreads();
    x[t] = sum;  // <1>
  }
  y[128 * blockIdx.x + t] = sum;
}
