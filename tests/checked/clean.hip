// Kernels that come near to a mistake and make none: nothing may be reported.
#include <hip/hip_cooperative_groups.h>

//@ clean block=256
__global__ void reversed_with_barrier(float* out) {
  __shared__ float tile[256];
  int t = threadIdx.x;
  tile[t] = t;
  __syncthreads();
  out[t] = tile[255 - t];
}

//@ clean block=256 args=iz64
__global__ void counters_of_each_wave(int* out) {
  __shared__ int totals[8];
  int wave = threadIdx.x / 32;  // two of them for each wave of 64
  if (threadIdx.x % 32 == 0) totals[wave] = 0;
  atomicAdd(&totals[wave], 1);
  __syncthreads();
  if (threadIdx.x % 32 == 0) atomicAdd(&totals[7 - wave], 1);
  __syncthreads();
  if (threadIdx.x < 8) out[threadIdx.x] = totals[threadIdx.x];
}

//@ clean block=256 grid=4
__global__ void all_lanes_store_the_same(float* out) {
  out[0] = 7;
  out[1 + blockIdx.x] = blockIdx.x;
}

//@ clean block=256
__global__ void tree_with_barrier(float* out) {
  __shared__ float sum[256];
  int t = threadIdx.x;
  sum[t] = t;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) sum[t] += sum[t + half];
  }
  if (t == 0) out[0] = sum[0];
}

//@ clean block=32
__global__ void warp_synchronous_volatile(float* out) {
  __shared__ volatile float sum[64];
  int t = threadIdx.x;
  sum[t] = t;
  sum[t + 32] = t;
  for (int half = 32; half > 0; half /= 2)
    if (t < half) sum[t] = sum[t] + sum[t + half];
  if (t == 0) out[0] = sum[0];
}

//@ clean block=32
__global__ void warp_synchronous_plain(float* out) {
  __shared__ float sum[32];
  int t = threadIdx.x;
  sum[t] = t;
  __builtin_amdgcn_wave_barrier();
  float x = sum[31 - t];
  __builtin_amdgcn_wave_barrier();
  sum[t] = x;
  __builtin_amdgcn_wave_barrier();
  out[t] = sum[t ^ 1];
}

//@ clean block=128 args=z512
__global__ void double_buffer(float* x) {
  __shared__ float tile[2][128];
  int t = threadIdx.x;
  float sum = 0;
  for (int step = 0; step < 4; step++) {
    tile[step % 2][t] = x[step * 128 + t] + step;
    __syncthreads();
    sum += tile[step % 2][127 - t];
  }
  x[t] = sum;
}

//@ clean block=128 args=z512
__global__ void two_barriers_per_step(float* x) {
  __shared__ float tile[128];
  int t = threadIdx.x;
  float sum = 0;
  for (int step = 0; step < 4; step++) {
    tile[t] = x[step * 128 + t] + step;
    __syncthreads();
    sum += tile[127 - t];
    __syncthreads();
  }
  x[t] = sum;
}

//@ clean block=256 grid=4 args=iz16
__global__ void atomics_by_all(int* count) {
  atomicAdd(&count[threadIdx.x % 4], 1);
  atomicMax(&count[8], (int)threadIdx.x);
}

//@ clean block=128 args=iz64 grid=2
__global__ void histogram(int* out) {
  __shared__ int bins[16];
  int t = threadIdx.x;
  if (t < 16) bins[t] = 0;
  __syncthreads();
  atomicAdd(&bins[t % 16], 1);
  __syncthreads();
  if (t < 16) atomicAdd(&out[t], bins[t]);
}

//@ clean grid=8 block=64 args=z64,wz4,z4
__global__ void last_block(float* part, unsigned* count, float* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    part[blockIdx.x] = blockIdx.x + 1;
    __threadfence();
    last = atomicAdd(count, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    __threadfence();
    float sum = 0;
    for (unsigned i = 0; i < gridDim.x; i++) sum += part[i];
    out[0] = sum;
  }
}

//@ clean grid=8 block=128 args=z1024,wz4,z4
__global__ void last_block_of_many_threads(float* part, unsigned* count, float* out) {
  __shared__ bool last;
  int i = blockIdx.x * 128 + threadIdx.x;
  part[i] = i;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(count, 1u) == gridDim.x - 1;
  __syncthreads();
  if (last) {
    __threadfence();
    float sum = 0;
    for (unsigned b = 0; b < gridDim.x; b++) sum += part[b * 128 + threadIdx.x];
    atomicAdd(out, sum);
  }
}

//@ clean grid=8 block=64 args=iz16,iz16
__global__ void look_back_volatile(int* sum, volatile int* flag) {
  if (threadIdx.x == 0) {
    int before = 0;
    if (blockIdx.x > 0) {
      while (flag[blockIdx.x - 1] == 0) {}
      __threadfence();
      before = sum[blockIdx.x - 1];
    }
    sum[blockIdx.x] = before + 1;
    __threadfence();
    flag[blockIdx.x] = 1;
  }
}

//@ clean grid=8 block=64 args=iz16,iz16
__global__ void look_back_atomic(int* sum, int* flag) {
  if (threadIdx.x == 0) {
    int before = 0;
    if (blockIdx.x > 0) {
      while (__hip_atomic_load(&flag[blockIdx.x - 1], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) == 0) {}
      before = sum[blockIdx.x - 1];
    }
    sum[blockIdx.x] = before + 1;
    __hip_atomic_store(&flag[blockIdx.x], 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
  }
}

//@ clean grid=4 block=128 args=iz4,iz4
__global__ void spin_lock_one_lane_per_wave(int* lock, int* value) {
  if (threadIdx.x % warpSize == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    value[0] = value[0] + 1;
    __threadfence();
    atomicExch(lock, 0);
  }
}

//@ clean block=128 args=iz4
__global__ void flag_in_shared_memory(int* out) {
  __shared__ int flag, value;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 64) {
    value = 5;
    __hip_atomic_store(&flag, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);
  }
  if (threadIdx.x == 0) {
    while (__hip_atomic_load(&flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP) == 0) {}
    out[0] = value;
  }
}

//@ clean grid=4 block=128 args=z512 cooperative=1
__global__ void grid_sync(float* x) {
  auto grid = cooperative_groups::this_grid();
  int i = blockIdx.x * 128 + threadIdx.x;
  x[i] = i;
  grid.sync();
  float other = x[511 - i];
  grid.sync();
  x[i] = other;
}

//@ clean block=256 args=bz256
__global__ void bytes_of_one_word(unsigned char* out) {
  __shared__ unsigned char text[256];
  text[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = text[255 - threadIdx.x];
}

//@ clean block=256 grid=4 args=r256,z1024
__global__ void all_read_the_same(const float* x, float* out) {
  out[blockIdx.x * 256 + threadIdx.x] = x[0] + x[threadIdx.x];
}

//@ clean block=256 args=iz4
__global__ void flag_set_by_many(int* found) {
  if (threadIdx.x % 3 == 0) *found = 1;
}

//@ clean args=e64,z64
__global__ void written_then_read(float* x, float* out) {
  int t = threadIdx.x;
  x[t] = t;
  out[t] = x[t];
}

//@ clean block=128
__global__ void barrier_for_all_with_guard(float* out) {
  __shared__ float tile[128];
  int t = threadIdx.x;
  if (t < 100) tile[t] = t;
  __syncthreads();
  if (t < 100) out[t] = tile[99 - t];
}

//@ clean block=64 grid=3 args=z192,100
__global__ void guard_without_barrier(float* x, int n) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= n) return;
  x[i] = i;
}

//@ clean block=128 grid=2 args=z256,1
__global__ void whole_blocks_return(float* x, int n) {
  __shared__ float tile[128];
  if ((int)blockIdx.x >= n) return;
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  x[threadIdx.x] = tile[127 - threadIdx.x];
}

//@ clean block=128
__global__ void branch_of_the_whole_block(float* out) {
  __shared__ float tile[128];
  tile[threadIdx.x] = threadIdx.x;
  if (blockIdx.x == 0) {
    __syncthreads();
    out[threadIdx.x] = tile[127 - threadIdx.x];
  } else {
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];
  }
}

//@ clean block=64 args=z128
__global__ void structure_with_padding(float* out) {
  struct Mixed { char c; double d; char e; };
  __shared__ Mixed items[64], copies[64];
  int t = threadIdx.x;
  items[t].c = t; items[t].d = t; items[t].e = 1;
  __syncthreads();
  copies[t] = items[63 - t];
  __syncthreads();
  out[t] = copies[t].d + copies[63 - t].c;
}

//@ clean block=64 args=z64,8
__global__ void local_array_written(float* out, int n) {
  float row[8];
  for (int i = 0; i < n; i++) row[i] = i;
  out[threadIdx.x] = row[threadIdx.x % n];
}

//@ clean block=64 grid=40 args=iz64
__global__ void long_chain_of_blocks(volatile int* flag) {
  if (threadIdx.x == 0) {
    if (blockIdx.x > 0) while (flag[blockIdx.x - 1] == 0) {}
    flag[blockIdx.x] = 1;
  }
}

//@ clean block=64 args=iz4
__global__ void waits_by_the_clock(int* out) {
  long long start = clock64();
  while (clock64() - start < 100000) {}
  out[threadIdx.x % 4] = 1;
}

//@ clean block=128 args=z128,100
__global__ void shuffle_by_all(float* x, int n) {
  int t = threadIdx.x;
  float v = t < n ? x[t] : 0;
  for (int d = warpSize / 2; d > 0; d /= 2) v += __shfl_down(v, d);
  if (t % warpSize == 0) x[t] = v;
}

//@ clean block=16
__global__ void shuffle_with_width(float* out) {
  float v = threadIdx.x;
  for (int d = 8; d > 0; d /= 2) v += __shfl_down(v, d, 16);
  out[threadIdx.x] = v;
}

//@ clean block=64
__global__ void shuffle_up_at_the_edge(float* out) {
  float v = threadIdx.x;
  for (int d = 1; d < warpSize; d *= 2) {
    float o = __shfl_up(v, d);
    if ((int)(threadIdx.x % warpSize) >= d) v += o;
  }
  out[threadIdx.x] = v;
}

//@ clean block=64
__global__ void coalesced_group_in_a_condition(float* out) {
  if (threadIdx.x % 3 == 0) {
    auto group = cooperative_groups::coalesced_threads();
    out[threadIdx.x] = group.shfl(threadIdx.x, 0) + group.size();
  }
}

//@ clean block=50 args=iz4
__global__ void atomic_by_part_of_a_wave(int* sum) {
  if (threadIdx.x % 2) atomicAdd(sum, (int)threadIdx.x);
}

//@ clean block=50
__global__ void ballot_and_any(float* out) {
  unsigned long long odd = __ballot(threadIdx.x % 2);
  out[threadIdx.x] = __popcll(odd) + __any(threadIdx.x == 3);
}

//@ clean grid=4 block=128 args=z512,z512
__global__ void saxpy(const float* x, float* y) {
  int i = blockIdx.x * 128 + threadIdx.x;
  y[i] = 2 * x[i] + y[i];
}

//@ clean grid=2 block=64 args=z128,z128,128
__global__ void grid_stride(const float* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i] + 1;
}

//@ clean grid=2x2 block=16x16 args=r1024,e1024
__global__ void transpose(const float* x, float* y) {
  __shared__ float tile[16][17];
  int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = x[r * 32 + c];
  __syncthreads();
  c = blockIdx.y * 16 + threadIdx.x, r = blockIdx.x * 16 + threadIdx.y;
  y[r * 32 + c] = tile[threadIdx.x][threadIdx.y];
}

//@ clean grid=2x2 block=16x16 args=r1024,r1024,e1024
__global__ void matrix_product_in_tiles(const float* a, const float* b, float* c) {
  __shared__ float left[16][16], right[16][16];
  int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
  float sum = 0;
  for (int t = 0; t < 2; t++) {
    left[y][x] = a[row * 32 + t * 16 + x];
    right[y][x] = b[(t * 16 + y) * 32 + column];
    __syncthreads();
    for (int k = 0; k < 16; k++) sum += left[y][k] * right[k][x];
    __syncthreads();
  }
  c[row * 32 + column] = sum;
}

//@ clean block=64 grid=2 args=r130,e128
__global__ void stencil_to_another_array(const float* x, float* y) {
  int i = blockIdx.x * 64 + threadIdx.x;
  y[i] = x[i] + x[i + 1] + x[i + 2];
}

//@ clean block=128 args=r128,e128
__global__ void stencil_with_halo(const float* x, float* y) {
  __shared__ float tile[130];
  int t = threadIdx.x;
  tile[t + 1] = x[t];
  if (t == 0) tile[0] = 0;
  if (t == 127) tile[129] = 0;
  __syncthreads();
  y[t] = tile[t] + tile[t + 1] + tile[t + 2];
}

//@ clean block=256 args=ir256,e256
__global__ void scan_in_shared_memory(const int* x, float* y) {
  __shared__ int sums[2][256];
  int t = threadIdx.x, from = 0;
  sums[0][t] = x[t];
  for (int d = 1; d < 256; d *= 2) {
    __syncthreads();
    sums[1 - from][t] = sums[from][t] + (t >= d ? sums[from][t - d] : 0);
    from = 1 - from;
  }
  __syncthreads();
  y[t] = sums[from][t];
}

//@ clean block=64 grid=4 args=iz4,ie64
__global__ void append_by_counter(int* count, int* out) {
  if (threadIdx.x % 4 == 0) {
    int place = atomicAdd(count, 1);
    out[place] = threadIdx.x;
  }
}

//@ clean block=256 args=ir256
__global__ void bitonic_sort(int* x) {
  __shared__ int items[256];
  int t = threadIdx.x;
  items[t] = x[255 - t];
  for (int size = 2; size <= 256; size *= 2)
    for (int step = size / 2; step > 0; step /= 2) {
      __syncthreads();
      int other = t ^ step;
      if (other > t) {
        bool up = (t & size) == 0;
        int a = items[t], b = items[other];
        if ((a > b) == up) { items[t] = b; items[other] = a; }
      }
    }
  __syncthreads();
  x[t] = items[t];
}

//@ clean block=64 args=z64 grid=3
__global__ void first_thread_of_first_block(float* x) {
  if (blockIdx.x == 0 && threadIdx.x == 0)
    for (int i = 0; i < 64; i++) x[i] = x[(i + 63) % 64] + 1;
}

//@ clean block=128 args=z256
__global__ void phases_in_global_memory(float* x) {
  int t = threadIdx.x;
  x[t] = t;
  __syncthreads();
  x[128 + t] = x[127 - t];
  __syncthreads();
  x[t] = x[255 - t];
}

//@ clean block=32 args=z64
__global__ void neighbours_by_shuffle(float* x) {
  float v = x[threadIdx.x];
  x[threadIdx.x] = v + __shfl_xor(v, 1);
}

//@ clean block=64 grid=4 args=iz4
__global__ void mutex_by_exchange(int* lock) {
  if (threadIdx.x == 0) {
    while (atomicExch(&lock[0], 1)) __builtin_amdgcn_s_sleep(1);
    __threadfence();
    lock[1]++;
    __threadfence();
    atomicExch(&lock[0], 0);
  }
}

//@ clean block=64 grid=8 args=iz64,iz4
__global__ void dynamic_work(int* out, int* next) {
  __shared__ int mine;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) mine = atomicAdd(next, 1);
    __syncthreads();
    if (mine >= 20) return;
    if (threadIdx.x == 0) out[mine] = mine;
  }
}

//@ clean block=128 args=z128 lds=1024
__global__ void two_parts_of_dynamic_memory(float* x) {
  extern __shared__ float room[];
  float *a = room, *b = room + 128;
  int t = threadIdx.x;
  a[t] = x[t];
  __syncthreads();
  b[t] = a[127 - t];
  __syncthreads();
  x[t] = b[t] + a[t];
}

//@ clean block=64 args=bz256
__global__ void halves_of_a_word(unsigned char* out) {
  __shared__ unsigned short half[128];
  half[2 * threadIdx.x] = threadIdx.x;
  half[2 * threadIdx.x + 1] = 1;
  __syncthreads();
  ((unsigned*)out)[threadIdx.x] = ((unsigned*)half)[63 - threadIdx.x];
}

//@ clean block=128 args=dz64
__global__ void double_atomics(double* sum) {
  atomicAdd(&sum[threadIdx.x % 4], 0.5);
}

//@ clean block=96 args=z96
__global__ void warp_sums_combined(float* x) {
  __shared__ float part[32];
  int t = threadIdx.x, lane = t % warpSize, wave = t / warpSize;
  float v = x[t];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down(v, d, 32);
  if (t % 32 == 0) part[t / 32] = v;
  __syncthreads();
  if (t == 0) x[0] = part[0] + part[1] + part[2] + lane + wave;
}

//@ clean block=64 grid=40 args=wz4
__global__ void barrier_of_the_grid_by_hand(unsigned* count) {
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(count, 1u);
    while (__hip_atomic_load(count, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) < gridDim.x) {}
    __threadfence();
  }
  __syncthreads();
}

// ---- handing over by atomics, and more of all kinds

#define AGENT __HIP_MEMORY_SCOPE_AGENT
#define BLOCK __HIP_MEMORY_SCOPE_WORKGROUP
#define SYSTEM __HIP_MEMORY_SCOPE_SYSTEM

//@ clean grid=2 block=64 args=iz4,iz4,iz4
__global__ void rel_acq_agent(int* data, int* flag, int* out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) { data[0] = 5; __hip_atomic_store(flag, 1, __ATOMIC_RELEASE, AGENT); }
  else {
    while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, AGENT) == 0) {}
    out[0] = data[0];
  }
}

//@ clean grid=2 block=64 args=iz4,iz4,iz4
__global__ void rel_acq_system(int* data, int* flag, int* out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) { data[0] = 5; __hip_atomic_store(flag, 1, __ATOMIC_RELEASE, SYSTEM); }
  else {
    while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, SYSTEM) == 0) {}
    out[0] = data[0];
  }
}

//@ clean grid=2 block=64 args=iz4,iz4,iz4
__global__ void seq_cst(int* data, int* flag, int* out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) { data[0] = 5; __hip_atomic_store(flag, 1, __ATOMIC_SEQ_CST, AGENT); }
  else {
    while (__hip_atomic_load(flag, __ATOMIC_SEQ_CST, AGENT) == 0) {}
    out[0] = data[0];
  }
}

//@ clean grid=2 block=64 args=iz4,iz4,iz4
__global__ void acq_rel_rmw(int* data, int* flag, int* out) {
  if (threadIdx.x) return;
  data[blockIdx.x] = 5;
  if (__hip_atomic_fetch_add(flag, 1, __ATOMIC_ACQ_REL, AGENT) == 1) out[0] = data[0] + data[1];
}

//@ clean grid=2 block=64 args=iz4,iz4,iz4
__global__ void fences_system(int* data, int* flag, int* out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    data[0] = 5;
    __threadfence_system();
    atomicExch(flag, 1);
  }
  else {
    while (atomicAdd(flag, 0) == 0) {}
    __threadfence_system();
    out[0] = data[0];
  }
}

//@ clean grid=2 block=64 args=iz4,iz4,iz4
__global__ void std_fence(int* data, int* flag, int* out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    data[0] = 5;
    __atomic_thread_fence(__ATOMIC_RELEASE);
    __hip_atomic_store(flag, 1, __ATOMIC_RELAXED, AGENT);
  }
  else {
    while (__hip_atomic_load(flag, __ATOMIC_RELAXED, AGENT) == 0) {}
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    out[0] = data[0];
  }
}

//@ clean grid=2 block=64 args=iz4,iz4,iz4
__global__ void std_atomics(int* data, int* flag, int* out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) { data[0] = 5; __atomic_store_n(flag, 1, __ATOMIC_RELEASE); }
  else {
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0) {}
    out[0] = data[0];
  }
}

//@ clean block=128 args=iz4,iz4
__global__ void wg_flag_global(int* data, int* flag) {
  if (threadIdx.x == 64) { data[0] = 5; __hip_atomic_store(flag, 1, __ATOMIC_RELEASE, BLOCK); }
  if (threadIdx.x == 0) {
    while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, BLOCK) == 0) {}
    data[1] = data[0];
  }
}

//@ clean block=128 args=iz4
__global__ void lds_flag_fence(int* out) {
  __shared__ int flag, value;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 64) {
    value = 5;
    __threadfence_block();
    atomicExch(&flag, 1);
  }
  if (threadIdx.x == 0) {
    while (atomicAdd(&flag, 0) == 0) {}
    __threadfence_block();
    out[0] = value;
  }
}

//@ clean block=128 args=iz4
__global__ void lds_flag_volatile_fence(int* out) {
  __shared__ volatile int flag; __shared__ int value;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 64) {
    value = 5;
    __threadfence_block();
    flag = 1;
  }
  if (threadIdx.x == 0) {
    while (flag == 0) {}
    __threadfence_block();
    out[0] = value;
  }
}

//@ clean block=128 args=iz4
__global__ void lds_ring_release_acquire(int* out) {
  __shared__ int ring[4]; __shared__ int head, tail;
  if (threadIdx.x == 0) { head = 0; tail = 0; }
  __syncthreads();
  if (threadIdx.x == 64) for (int i = 0; i < 20; i++) {
    while (i - __hip_atomic_load(&tail, __ATOMIC_ACQUIRE, BLOCK) >= 4) {}
    ring[i % 4] = i + 1;
    __hip_atomic_store(&head, i + 1, __ATOMIC_RELEASE, BLOCK);
  }
  if (threadIdx.x == 0) {
    int s = 0;
    for (int i = 0; i < 20; i++) {
    while (__hip_atomic_load(&head, __ATOMIC_ACQUIRE, BLOCK) <= i) {}
    s += ring[i % 4];
    __hip_atomic_store(&tail, i + 1, __ATOMIC_RELEASE, BLOCK);
  } out[0] = s; }
}

//@ clean grid=2 block=128 args=iz4,iz4,iz4
__global__ void transitive_through_lds_flag(int* data, int* flag, int* out) {
  __shared__ int ready;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) { data[0] = 5; __hip_atomic_store(flag, 1, __ATOMIC_RELEASE, AGENT); }
  } else {
    if (threadIdx.x == 0) {
      while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, AGENT) == 0) {}
      __hip_atomic_store(&ready, 1, __ATOMIC_RELEASE, BLOCK);
    }
    if (threadIdx.x == 64) {
      while (__hip_atomic_load(&ready, __ATOMIC_ACQUIRE, BLOCK) == 0) {}
      out[0] = data[0];
    }
  }
}

//@ clean grid=2 block=128 args=iz4,iz4,iz4
__global__ void transitive_writer_through_lds_flag(int* data, int* flag, int* out) {
  __shared__ int ready;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (blockIdx.x == 0) {
    if (threadIdx.x == 64) { data[0] = 5; __hip_atomic_store(&ready, 1, __ATOMIC_RELEASE, BLOCK); }
    if (threadIdx.x == 0) {
      while (__hip_atomic_load(&ready, __ATOMIC_ACQUIRE, BLOCK) == 0) {}
      __hip_atomic_store(flag, 1, __ATOMIC_RELEASE, AGENT);
    }
  } else if (threadIdx.x == 0) {
      while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, AGENT) == 0) {}
      out[0] = data[0];
  }
}

//@ clean grid=3 block=64 args=iz4,iz4,iz4
__global__ void chain_of_three(int* data, int* flag, int* out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) { data[0] = 5; __hip_atomic_store(flag, 1, __ATOMIC_RELEASE, AGENT); }
  else if (blockIdx.x == 1) {
    while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, AGENT) == 0) {}
    __hip_atomic_store(flag + 1, 1, __ATOMIC_RELEASE, AGENT);
  }
  else {
    while (__hip_atomic_load(flag + 1, __ATOMIC_ACQUIRE, AGENT) == 0) {}
    out[0] = data[0];
  }
}

//@ clean grid=3 block=64 args=iz4,iz4,iz4
__global__ void release_sequence(int* data, int* flag, int* out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) { data[0] = 5; __hip_atomic_fetch_add(flag, 1, __ATOMIC_RELEASE, AGENT); }
  else if (blockIdx.x == 1) {
    while (__hip_atomic_load(flag, __ATOMIC_RELAXED, AGENT) == 0) {}
    atomicAdd(flag, 1);
  }
  else {
    while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, AGENT) < 2) {}
    out[0] = data[0];
  }
}

//@ clean grid=4 block=64 args=iz4,iz4
__global__ void lock_acq_rel(int* lock, int* value) {
  if (threadIdx.x == 0) {
    int e = 0;
    while (!__hip_atomic_compare_exchange_weak(lock, &e, 1, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED, AGENT)) e = 0;
    value[0]++;
    __hip_atomic_store(lock, 0, __ATOMIC_RELEASE, AGENT);
  }
}

//@ clean grid=4 block=64 args=iz4,iz4
__global__ void ticket_lock(int* lock, int* value) {
  if (threadIdx.x == 0) {
    int mine = atomicAdd(&lock[0], 1);
    while (__hip_atomic_load(&lock[1], __ATOMIC_ACQUIRE, AGENT) != mine) {}
    value[0]++;
    __hip_atomic_store(&lock[1], mine + 1, __ATOMIC_RELEASE, AGENT);
  }
}

//@ clean grid=4 block=64 args=iz4,iz4
__global__ void double_checked_right(int* init, int* lock) {
  if (threadIdx.x) return;
  if (!__hip_atomic_load(init, __ATOMIC_ACQUIRE, AGENT)) {
    while (atomicCAS(lock, 0, 1)) {}
    __threadfence();
    if (!__hip_atomic_load(init, __ATOMIC_RELAXED, AGENT)) {
      lock[1] = 42;
      __hip_atomic_store(init, 1, __ATOMIC_RELEASE, AGENT);
    }
    __threadfence();
    atomicExch(lock, 0);
  }
  init[1 + blockIdx.x % 3] = lock[1];
}

//@ clean grid=4 block=64 args=iz64
__global__ void identical_values(int* x) { x[threadIdx.x] = 7; }

//@ clean block=64
__global__ void wave_sync_wave_size(float* out) {
  __shared__ float s[64];
  int t = threadIdx.x, l = t % warpSize;
  s[t] = t;
  for (int d = 1; d < warpSize; d *= 2) {
    __builtin_amdgcn_wave_barrier();
    float v = l >= d ? s[t - d] : 0;
    __builtin_amdgcn_wave_barrier();
    s[t] += v;
  }
  out[t] = s[t];
}

//@ clean block=128
__global__ void syncwarp_within_wave(float* out) {
  __shared__ float s[128];
  int t = threadIdx.x;
  s[t] = t;
  __syncwarp();
  out[t] = s[t ^ 1];
}

//@ clean grid=4 block=64 args=z512 cooperative=1
__global__ void grid_double_buffer(float* x) {
  auto g = cooperative_groups::this_grid();
  float *a = x, *b = x + 256;
  int i = g.thread_rank();
  a[i] = i;
  for (int s = 0; s < 4; s++) { g.sync(); b[i] = a[(i + 1) % 256] + 1; float* t = a; a = b; b = t; }
}

//@ clean grid=4 block=64 args=z512 cooperative=1
__global__ void grid_split_barrier(float* x) {
  auto g = cooperative_groups::this_grid();
  int i = g.thread_rank();
  x[i] = i;
  auto t = g.barrier_arrive();
  float own = i * 2;
  g.barrier_wait(static_cast<decltype(t)&&>(t));
  x[256 + i] = x[255 - i] + own;
}

//@ clean grid=6 block=128 args=ir768,iz768,qz64,wz4
__global__ void decoupled_look_back(const int* in, int* out, unsigned long long* state, unsigned* ticket) {
  __shared__ int part[128];
  __shared__ int base;
  __shared__ unsigned tile;
  int t = threadIdx.x;
  if (t == 0) tile = atomicAdd(ticket, 1u);
  __syncthreads();
  unsigned b = tile;
  part[t] = in[b * 128 + t];
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    int v = t >= d ? part[t - d] : 0;
    __syncthreads();
    part[t] += v;
    __syncthreads();
  }
  if (t == 0) {
    int total = part[127], before = 0;
    __hip_atomic_store(&state[b], (unsigned long long)total << 2 | 1, __ATOMIC_RELAXED, AGENT);
    for (int p = (int)b - 1; p >= 0;) {
      unsigned long long s = __hip_atomic_load(&state[p], __ATOMIC_RELAXED, AGENT);
      if ((s & 3) == 0) continue;
      before += (int)(s >> 2);
      if ((s & 3) == 2) break;
      p--;
    }
    __hip_atomic_store(&state[b], (unsigned long long)(before + total) << 2 | 2, __ATOMIC_RELAXED, AGENT);
    base = before;
  }
  __syncthreads();
  out[b * 128 + t] = base + part[t];
}

//@ clean grid=8 block=128 args=z1024,z4,wz4
__global__ void last_block_barrier_then_fence(float* part, float* out, unsigned* count) {
  __shared__ bool last;
  part[blockIdx.x * 128 + threadIdx.x] = 1;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (last) {
    __threadfence();
    float s = 0;
    for (int i = 0; i < 8; i++) s += part[i * 128 + threadIdx.x];
    atomicAdd(out, s);
  }
}

//@ clean grid=8 block=128 args=z1024,z4,wz4
__global__ void last_block_thread0_fences(float* part, float* out, unsigned* count) {
  __shared__ bool last;
  part[blockIdx.x * 128 + threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last) {
    float s = 0;
    for (int i = 0; i < 8; i++) s += part[i * 128 + threadIdx.x];
    atomicAdd(out, s);
  }
}

//@ clean grid=8 block=64 args=z64,z4,wz4
__global__ void last_block_volatile_parts(volatile float* part, float* out, unsigned* count) {
  if (threadIdx.x == 0) {
    part[blockIdx.x] = 1;
    __threadfence();
    if (atomicInc(count, gridDim.x - 1) == gridDim.x - 1) {
      float s = 0;
      for (int i = 0; i < 8; i++) s += part[i];
      out[0] = s;
    }
  }
}

//@ clean block=128 args=z256
__global__ void lds_reused_as_other_type(float* out) {
  __shared__ union {
    float f[128];
    int i[128];
    unsigned char b[512];
  }
  u;
  int t = threadIdx.x;
  u.f[t] = t; __syncthreads();
  float a = u.f[127 - t]; __syncthreads();
  u.i[127 - t] = t; __syncthreads();
  int b = u.i[t]; __syncthreads();
  for (int k = 0; k < 4; k++) u.b[k * 128 + t] = k;
  __syncthreads();
  out[t] = a + b + u.b[511 - t];
}

//@ clean block=64 args=iz64
__global__ void bitfields_in_own_word(int* out) {
  struct F {
    int a : 8;
    int b : 8;
    int c : 16;
  };
  __shared__ F f[64];
  int t = threadIdx.x;
  f[t].a = t;
  f[t].b = 2;
  f[t].c = 3;
  __syncthreads();
  out[t] = f[63 - t].a + f[63 - t].b + f[63 - t].c;
}

//@ clean block=64 grid=4 args=bz256
__global__ void bytes_by_blocks(unsigned char* x) { x[threadIdx.x * 4 + blockIdx.x] = blockIdx.x + 1; }

//@ clean block=128 args=bz256
__global__ void bytes_interleaved_by_waves(unsigned char* x) {
  __shared__ unsigned char b[128];
  int t = threadIdx.x; int at = (t % 64) * 2 + t / 64;
  b[at] = t; x[at] = t;
  __syncthreads();
  x[128 + t] = b[127 - t];
}

//@ clean block=32 args=z64,e256
__global__ void struct_copy_global_padding(float* out, void* room) {
  struct M {
    char c;
    int i;
  };
  M* m = (M*)room;
  int t = threadIdx.x % 32;
  m[t].c = 1; m[t].i = 2;
  M copy = m[t];
  m[32 + t] = copy;
  out[t] = m[32 + t].i + m[32 + t].c;
}

//@ clean block=64 args=z64,e64,32
__global__ void guarded_read(float* out, const float* x, int n) {
  int t = threadIdx.x;
  out[t] = t < n - 1000 ? x[t] : 0;
}

//@ clean block=64 args=z64,ir64,32
__global__ void select_uninitialised(float* out, const int* x, int n) {
  float v[4];
  if (n > 1) for (int i = 0; i < 4; i++) v[i] = x[i];
  out[threadIdx.x] = n > 1 ? v[threadIdx.x % 4] : 0;
}

//@ clean block=64 args=e64,e64
__global__ void zero_init_then_accumulate(float* x, float* y) {
  int t = threadIdx.x;
  x[t] = 0; y[t] = 0;
  for (int i = 0; i < 3; i++) x[t] += i;
  y[t] += x[t];
}

//@ clean block=64 args=z64
__global__ void local_struct_by_value(float* out) {
  struct S {
    float a[3];
    char k;
  }
  s[2];
  for (int i = 0; i < 2; i++) { for (int j = 0; j < 3; j++) s[i].a[j] = j + i; s[i].k = i; }
  S c = s[threadIdx.x % 2];
  out[threadIdx.x] = c.a[threadIdx.x % 3] + c.k;
}

//@ clean block=64 args=iz64
__global__ void local_partly_used(int* out) {
  int stack[32]; int top = 0;
  stack[top++] = 1;
  int sum = 0;
  while (top) {
    int n = stack[--top];
    sum += n;
    if (n < 40 + (int)threadIdx.x) {
      stack[top++] = 2 * n;
      stack[top++] = 2 * n + 1;
    }
    if (top > 24) break;
  }
  out[threadIdx.x] = sum;
}

//@ clean block=128 args=iz64
__global__ void atomic_lds_then_barrier_loop(int* out) {
  __shared__ int n;
  for (int i = 0; i < 4; i++) {
    if (threadIdx.x == 0) n = 0;
    __syncthreads();
    if (threadIdx.x & 1) atomicAdd(&n, 1);
    __syncthreads();
    int v = n;
    __syncthreads();
    if (threadIdx.x == 0) out[i] = v;
  }
}

//@ clean block=64
__global__ void ballot_divergent(float* out) {
  if (threadIdx.x % 3) { unsigned long long m = __ballot(threadIdx.x & 1); out[threadIdx.x] = __popcll(m); }
}

//@ clean block=64
__global__ void elect_leader_divergent(float* out) {
  if (threadIdx.x % 3) {
    unsigned long long m = __activemask();
    int leader = __ffsll(m) - 1;
    out[threadIdx.x] = __shfl((float)threadIdx.x, leader);
  }
}

//@ clean block=64 args=iz4,iz64
__global__ void wave_aggregated_atomic(int* count, int* out) {
  if (threadIdx.x % 5 != 0) {
    unsigned long long m = __activemask();
    int lane = __lane_id(), leader = __ffsll(m) - 1, base = 0;
    if (lane == leader) base = atomicAdd(count, __popcll(m));
    base = __shfl(base, leader);
    out[base + __popcll(m & ((1ull << lane) - 1))] = threadIdx.x;
  }
}

//@ clean block=50
__global__ void shfl_guarded_short_block(float* out) {
  float v = threadIdx.x;
  int n = 50;
  for (int d = 1; d < warpSize; d *= 2) {
    int src = threadIdx.x + d;
    int lane = threadIdx.x % warpSize;
    float o = __shfl(v, src < n && lane + d < warpSize ? lane + d : lane);
    v += o;
  }
  out[threadIdx.x] = v;
}

//@ clean grid=4 block=64 args=iz64,iz256
__global__ void append_then_read_own(int* count, int* out) {
  int at = atomicAdd(count, 1);
  out[at] = at; out[at] += 1;
}

//@ clean block=256 args=ir256,iz256
__global__ void tree_last_wave_volatile(const int* x, int* out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  for (int h = 128; h >= warpSize; h /= 2) { if (t < h) s[t] += s[t + h]; __syncthreads(); }
  if (t < warpSize / 2) {
    volatile int* v = s;
    for (int h = warpSize / 2; h; h /= 2) v[t] += v[t + h];
  }
  if (t == 0) out[0] = s[0];
}

//@ clean block=128 args=iz64
__global__ void global_flag_monotone_any(int* found) {
  if (threadIdx.x % 7 == 0 && !__hip_atomic_load(found, __ATOMIC_RELAXED, AGENT))
    __hip_atomic_store(found, 1, __ATOMIC_RELAXED, AGENT);
}

//@ clean grid=16 block=64 args=iz64,iz64
__global__ void mpmc_queue(int* next, int* done) {
  __shared__ int job;
  for (;;) {
    if (threadIdx.x == 0) job = atomicAdd(next, 1);
    __syncthreads();
    int j = job;
    __syncthreads();
    if (j >= 40) break;
    if (threadIdx.x == 0) atomicAdd(&done[j], 1);
  }
}

//@ clean grid=4 block=64 args=iz16,iz16
__global__ void relaxed_then_fence_via_barrier(int* data, int* flag) {
  if (blockIdx.x == 0) {
    if (threadIdx.x < 4) data[threadIdx.x] = 9;
    __syncthreads();
    if (threadIdx.x == 0) { __threadfence(); atomicExch(flag, 1); }
  } else {
    if (threadIdx.x == 0) {
      while (!__hip_atomic_load(flag, __ATOMIC_RELAXED, AGENT)) __builtin_amdgcn_s_sleep(1);
      __threadfence();
    }
    __syncthreads();
    if (threadIdx.x < 4) data[4 * blockIdx.x + threadIdx.x] = data[threadIdx.x];
  }
}

//@ clean block=128 args=iz4
__global__ void block_scope_atomics_in_block(int* count) {
  atomicAdd_block(count, 1);
  atomicMax_block(count + 1, (int)threadIdx.x);
}

//@ clean block=128 grid=4 args=iz4
__global__ void block_scope_atomics_own_element(int* count) { atomicAdd_block(count + blockIdx.x, 1); }

//@ clean block=64 args=iz64
__global__ void malloc_free(int* out) {
  int* p = (int*)malloc(16 * sizeof(int));
  for (int i = 0; i < 16; i++) p[i] = threadIdx.x + i;
  out[threadIdx.x] = p[3];
  free(p);
}

//@ clean block=64 grid=2 args=qz64,iz4
__global__ void new_passed_on(int** slot, int* out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    int* p = new int(7);
    __hip_atomic_store((unsigned long long*)slot, (unsigned long long)p, __ATOMIC_RELEASE, AGENT);
  }
  else {
    unsigned long long p;
    while (!(p = __hip_atomic_load((unsigned long long*)slot, __ATOMIC_ACQUIRE, AGENT))) {}
    out[0] = *(int*)p;
  }
}

//@ clean block=96
__global__ void tiles_reduce(float* out) {
  auto b = cooperative_groups::this_thread_block();
  auto t = cooperative_groups::tiled_partition<16>(b);
  float v = threadIdx.x;
  for (int d = 8; d; d /= 2) v += t.shfl_down(v, d);
  out[threadIdx.x] = v;
}

//@ clean grid=2 block=64 args=iz4,iz4,iz4
__global__ void relaxed_store_beside_a_plain_one(int* data, int* flag, int* out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    data[0] = 5;
    __hip_atomic_store(flag, 1, __ATOMIC_RELAXED, AGENT);
    data[1] = 6;
  }
  else {
    while (__hip_atomic_load(flag, __ATOMIC_RELAXED, AGENT) == 0) {}
    out[0] = 1;
  }
}

//@ clean block=128 args=iz4
__global__ void relaxed_lds_store_beside_a_plain_one(int* out) {
  __shared__ int flag, a, b;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 64) {
    a = out[0];
    b = out[1];
    __hip_atomic_store(&flag, 1, __ATOMIC_RELAXED, BLOCK);
  }
  if (threadIdx.x == 0) {
    while (__hip_atomic_load(&flag, __ATOMIC_RELAXED, BLOCK) == 0) {}
    out[3] = 1;
  }
  __syncthreads();
  out[2] = a + b;
}

//@ clean grid=8 block=64 args=iz16,iz4,wz4
__global__ void last_block_resets_the_counter(int* part, int* out, unsigned* count) {
  if (threadIdx.x) return;
  part[blockIdx.x] = 1;
  __threadfence();
  if (atomicAdd(count, 1u) == gridDim.x - 1) {
    __threadfence();
    int s = 0;
    for (unsigned i = 0; i < gridDim.x; i++) s += part[i];
    out[0] = s;
    *count = 0;
  }
}

//@ clean block=64
__global__ void bitfield_alone(float* out) {
  struct F {
    unsigned a : 5;
    unsigned b : 11;
    unsigned c : 16;
  };
  __shared__ F f[64];
  F own;
  int t = threadIdx.x;
  f[t].b = t; own.a = t;
  __syncthreads();
  out[t] = f[63 - t].b + own.a;
}

//@ clean block=256
__global__ void syncthreads_count(float* out) {
  int n = __syncthreads_count(threadIdx.x % 3 == 0);
  int m = __syncthreads_or(threadIdx.x == 200) + __syncthreads_and(1);
  out[threadIdx.x] = n + m;
}

//@ clean grid=4 block=64 args=iz16,iz64
__global__ void seqlock(int* seq, int* data) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    for (int i = 1; i < 4; i++) {
      __hip_atomic_store(seq, 2 * i - 1, __ATOMIC_RELAXED, AGENT); __threadfence();
      __hip_atomic_store(data, i, __ATOMIC_RELAXED, AGENT); __hip_atomic_store(data + 1, i, __ATOMIC_RELAXED, AGENT);
      __hip_atomic_store(seq, 2 * i, __ATOMIC_RELEASE, AGENT);
    }
  } else {
    int a, b, s;
    do {
      s = __hip_atomic_load(seq, __ATOMIC_ACQUIRE, AGENT);
      a = __hip_atomic_load(data, __ATOMIC_RELAXED, AGENT);
      b = __hip_atomic_load(data + 1, __ATOMIC_RELAXED, AGENT);
      __threadfence();
    }
    while (s % 2 || __hip_atomic_load(seq, __ATOMIC_RELAXED, AGENT) != s);
    data[4 + blockIdx.x] = a + b;
  }
}

//@ clean block=128
__global__ void even_lanes_of_one_wave_and_odd_ones_of_another(float* out) {
  __shared__ float tile[64];
  int t = threadIdx.x;
  if (t % 2 == t / 64) tile[t % 64] = t;
  __syncthreads();
  out[t] = tile[t % 64];
}

//@ clean block=64 grid=2 args=r64
__global__ void even_lanes_of_one_block_and_odd_ones_of_another(float* x) {
  if (threadIdx.x % 2 == blockIdx.x) x[threadIdx.x] += 1;
}

//@ clean block=128 args=z64,z64
__global__ void what_nobody_read_changes_among_zeros(float* x, float* y) {
  int t = threadIdx.x;
  if (t < 63) y[t] = x[t];
  if (t >= 64) x[t - 64] = t == 127;
}

//@ clean block=64
__global__ void zeros_and_ones_to_all_lanes(float* out) {
  __shared__ float tile[64];
  int t = threadIdx.x;
  if (t % 2 == 0) tile[t] = 0;
  else tile[t] = 1;
  __syncthreads();
  out[t] = tile[63 - t];
}

//@ clean block=64 args=e64,z64
__global__ void even_and_odd_lanes_fill_memory(float* x, float* y) {
  int t = threadIdx.x;
  if (t % 2 == 0) x[t] = 0;
  else x[t] = 1;
  __syncthreads();
  if (t % 8 != 3) y[t] = x[t ^ 1] + x[t];
}

//@ clean block=128 args=z64,z64
__global__ void what_changed_among_zeros_is_not_read(float* x, float* y) {
  int t = threadIdx.x;
  if (t < 64) x[t] = t == 63;
  else if (t < 127) y[t - 64] = x[t - 64];
}

//@ clean block=128 grid=40 args=r5200,z5200
__global__ void behind_the_last_of_three_neighbours(float* x, float* y) {
  int t = threadIdx.x, first = 130 * blockIdx.x;
  if (t < 64) y[first + t] = x[first + t] + x[first + t + 1] + x[first + t + 2];
  else x[first + t + 2] = 0;
}
