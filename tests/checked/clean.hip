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
