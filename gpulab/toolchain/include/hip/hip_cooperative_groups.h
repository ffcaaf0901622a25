// Cooperative groups: groups of threads as objects, which synchronise, exchange values, vote, reduce and scan.
//
//   thread_block        the block: this_thread_block()
//   thread_block_tile   neighbours within a wavefront, 1 to 64 (32 on RDNA): tiled_partition<16>(block)
//   coalesced_group     the lanes that are active at this point: coalesced_threads(), or a part of a group
//   tiled_group         a tile whose size is known at run time only: tiled_partition(block, 16)
//   thread_group        any of them by one type: synchronisation, size and rank
//   grid_group          the grid: this_grid(); its sync() needs a cooperative launch
//   multi_grid_group    grids of several devices launched together: this_multi_grid(); never valid on virtual devices
// Left out is cluster_group (of GPUs after those known here).
//
// Lanes of a wavefront run in step, so the sync of a tile orders memory accesses and costs nothing. Only threads of
// the group may call its functions, and all of them have to.
#pragma once
#include "../gpulab/names.h"
#include "hip_runtime.h"

namespace cooperative_groups {

#define __GPULAB_GROUP__ __device__ inline __attribute__((always_inline, nodebug))
#define __GPULAB_COLLECTIVE__ __GPULAB_GROUP__ __attribute__((convergent))

namespace details {
enum kind { invalid, multi_grid, grid, block, tile, coalesced };  // in the order of HIP's numbers, cg_type()

__GPULAB_FUNCTION__ uint32_t volume(dim3 size) { return size.x * size.y * size.z; }

// The lane of the n-th (from 0) member of a mask: halves the mask by its count of ones, six times.
__GPULAB_FUNCTION__ uint32_t nth_lane(uint64_t mask, uint32_t n) {
  uint32_t lane = 0;
#pragma unroll
  for (uint32_t width = 32; width != 0; width /= 2) {
    uint32_t below = __builtin_popcountll(mask & ((1ull << width) - 1));
    bool above = n >= below;
    n -= above ? below : 0;
    lane += above ? width : 0;
    mask = above ? mask >> width : mask & ((1ull << width) - 1);
  }
  return lane;
}
// How many members of a mask have a lower lane.
__GPULAB_FUNCTION__ uint32_t rank_in(uint64_t mask) {
  if (__builtin_amdgcn_wavefrontsize() == 32) return __builtin_amdgcn_mbcnt_lo(static_cast<uint32_t>(mask), 0u);
  return __builtin_amdgcn_mbcnt_hi(static_cast<uint32_t>(mask >> 32),
                                   __builtin_amdgcn_mbcnt_lo(static_cast<uint32_t>(mask), 0u));
}
// The bits of `votes` at the lanes of `mask`, moved together: bit r belongs to the member of rank r.
__GPULAB_FUNCTION__ uint64_t by_rank(uint64_t mask, uint64_t votes) {
  uint64_t packed = 0;
  for (uint32_t rank = 0; mask != 0; mask &= mask - 1, ++rank)
    packed |= (votes >> __builtin_ctzll(mask) & 1) << rank;
  return packed;
}
// The lanes of a mask whose rank divided by `size` is `tile`.
__GPULAB_FUNCTION__ uint64_t part_of(uint64_t mask, uint32_t tile, uint32_t size) {
  uint64_t part = 0;
  for (uint32_t rank = 0; mask != 0; mask &= mask - 1, ++rank)
    if (rank / size == tile) part |= mask & -mask;
  return part;
}
// The lanes of the wavefront's tile of `size` lanes that this lane is in.
__GPULAB_FUNCTION__ uint64_t tile_mask(uint32_t size) {
  return ~0ull >> (64 - size) << (__lane_id() & ~(size - 1));
}
#if __has_builtin(__builtin_amdgcn_ballot_w32)
constexpr unsigned largest_tile = 32;
#else
constexpr unsigned largest_tile = 64;
#endif
// A program may be built for several devices at once, and choose at run time what it launches: there, a tile of 64
// compiles for each of them, and traps where it does not fit.
#ifdef __GPULAB_PROGRAM__
constexpr unsigned largest_constant_tile = 64;
#else
constexpr unsigned largest_constant_tile = largest_tile;
#endif
__GPULAB_GROUP__ void refuse_tile(unsigned size) {
  if ((threadIdx.x | threadIdx.y | threadIdx.z) == 0)
    printf("a tile of %u threads does not fit this device's waves of %u lanes\n", size, largest_tile);
  __builtin_trap();
}
constexpr bool is_tile_size(unsigned size) { return size != 0 && size <= largest_tile && (size & (size - 1)) == 0; }
__GPULAB_COLLECTIVE__ void sync_block() { __syncthreads(); }
__GPULAB_COLLECTIVE__ void sync_wave() { __syncwarp(); }

// What the runtime hands to a cooperative launch, by the hidden argument multigrid_sync_arg (null in other launches).
// The layout is the agreement between AMD's runtime (clr: Device::MGSyncInfo) and its device library (ockl: mg_info)
// of ROCm 5 to 10.1: the same kernel runs under either.
struct sync_words {
  uint32_t state;
  uint32_t unused;
};
struct launch_info {
  sync_words* grids;         // of a launch on several devices; else null
  uint32_t grid, grid_count;  // which grid this is of how many; 0 of 0 in a launch on one device
  uint64_t threads_before, all_threads;
  sync_words blocks;
  uint32_t block_count;
};
static_assert(__builtin_offsetof(launch_info, blocks) == 32 && __builtin_offsetof(launch_info, block_count) == 40 &&
              sizeof(launch_info) == 48);
__GPULAB_FUNCTION__ launch_info* cooperative_launch() {
  // The 12th word of 64 bits of the hidden arguments (code object version 5).
  using word = uint64_t __attribute__((address_space(4)));
  return reinterpret_cast<launch_info*>(((const word*)__builtin_amdgcn_implicitarg_ptr())[11]);
}
__GPULAB_FUNCTION__ bool first_of_block() { return (threadIdx.x | threadIdx.y | threadIdx.z) == 0; }

// A barrier in one word: who arrives counts in the low `bits`; the last one sets the count back and steps the rest of
// the word, the phase, for which the others wait. The phase at the arrival is the token to wait with.
template <int bits, int scope>
__GPULAB_FUNCTION__ uint32_t arrive(sync_words* words, uint32_t members) {
  constexpr uint32_t counted = (1u << bits) - 1;
  auto state = (uint32_t __attribute__((address_space(1)))*)&words->state;
  uint32_t before = __hip_atomic_fetch_add(state, 1u, __ATOMIC_RELAXED, scope);
  if ((before & counted) == members - 1) __hip_atomic_fetch_add(state, counted + 1 - members, __ATOMIC_RELAXED, scope);
  return before & ~counted;
}
template <int bits, int scope>
__GPULAB_FUNCTION__ void wait(sync_words* words, uint32_t phase) {
  constexpr uint32_t counted = (1u << bits) - 1;
  auto state = (uint32_t __attribute__((address_space(1)))*)&words->state;
  while ((__hip_atomic_load(state, __ATOMIC_RELAXED, scope) & ~counted) == phase) __builtin_amdgcn_s_sleep(1);
}
// One thread of each block stands for it: what the block wrote goes out before it arrives, and what others wrote
// comes in after its wait.
__GPULAB_COLLECTIVE__ uint32_t arrive_at_grid() {
  uint32_t phase = 0;
  __syncthreads();
  if (first_of_block()) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
    phase = arrive<16, __HIP_MEMORY_SCOPE_AGENT>(&cooperative_launch()->blocks, volume(gridDim));
  }
  return phase;
}
__GPULAB_COLLECTIVE__ void wait_for_grid(uint32_t phase) {
  if (first_of_block()) {
    wait<16, __HIP_MEMORY_SCOPE_AGENT>(&cooperative_launch()->blocks, phase);
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  }
  __syncthreads();
}
__GPULAB_COLLECTIVE__ void sync_grid() { wait_for_grid(arrive_at_grid()); }
__GPULAB_COLLECTIVE__ void sync_multi_grid() {
  sync_grid();
  if (first_of_block() && (blockIdx.x | blockIdx.y | blockIdx.z) == 0) {
    launch_info* info = cooperative_launch();
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "");
    uint32_t phase = arrive<8, __HIP_MEMORY_SCOPE_SYSTEM>(info->grids, info->grid_count);
    wait<8, __HIP_MEMORY_SCOPE_SYSTEM>(info->grids, phase);
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "");
  }
  sync_grid();
}
__GPULAB_FUNCTION__ uint64_t block_rank_in_grid() {
  return (1ull * blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}
__GPULAB_FUNCTION__ uint64_t thread_rank_in_grid() {
  return block_rank_in_grid() * volume(blockDim) + gpulab::linear_thread();
}
__GPULAB_FUNCTION__ uint64_t threads_of_grid() {
  return 1ull * gridDim.x * gridDim.y * gridDim.z * volume(blockDim);
}
}  // namespace details

// Any group: how many threads, which one this is, and a barrier for them.
class thread_group {
 protected:
  details::kind kind;
  uint32_t count;
  uint64_t mask;  // the members' lanes; of a block's group 0

  __GPULAB_GROUP__ thread_group(details::kind kind, uint32_t count, uint64_t mask)
      : kind(kind), count(count), mask(mask) {}
  friend __GPULAB_GROUP__ thread_group this_thread();
  friend __GPULAB_GROUP__ thread_group tiled_partition(const thread_group& parent, unsigned int size);

 public:
  __GPULAB_GROUP__ unsigned int cg_type() const { return kind; }
  __GPULAB_GROUP__ unsigned int num_threads() const { return count; }
  __GPULAB_GROUP__ unsigned int size() const { return count; }
  __GPULAB_GROUP__ unsigned int thread_rank() const {
    switch (kind) {
      case details::block: return gpulab::linear_thread();
      case details::grid: return details::thread_rank_in_grid();
      case details::multi_grid: return details::cooperative_launch()->threads_before + details::thread_rank_in_grid();
      default: return details::rank_in(mask);
    }
  }
  __GPULAB_GROUP__ bool is_valid() const {
    if (kind != details::grid && kind != details::multi_grid) return true;
    const details::launch_info* info = details::cooperative_launch();
    return info && (kind == details::grid || info->grid_count != 0);
  }
  __GPULAB_COLLECTIVE__ void sync() const {
    switch (kind) {
      case details::block: return details::sync_block();
      case details::grid: return details::sync_grid();
      case details::multi_grid: return details::sync_multi_grid();
      default: return details::sync_wave();
    }
  }
};

__GPULAB_GROUP__ thread_group this_thread() { return thread_group(details::coalesced, 1, 1ull << __lane_id()); }

// The block of this thread.
class thread_block : public thread_group {
  __GPULAB_GROUP__ thread_block() : thread_group(details::block, details::volume(blockDim), 0) {}
  friend __GPULAB_GROUP__ thread_block this_thread_block();

 public:
  static __GPULAB_GROUP__ dim3 group_index() { return blockIdx; }
  static __GPULAB_GROUP__ dim3 thread_index() { return threadIdx; }
  static __GPULAB_GROUP__ dim3 group_dim() { return blockDim; }
  static __GPULAB_GROUP__ dim3 dim_threads() { return blockDim; }
  static __GPULAB_GROUP__ unsigned int thread_rank() { return gpulab::linear_thread(); }
  static __GPULAB_GROUP__ unsigned int num_threads() { return details::volume(blockDim); }
  static __GPULAB_GROUP__ unsigned int size() { return details::volume(blockDim); }
  static __GPULAB_GROUP__ unsigned int block_rank() { return details::block_rank_in_grid(); }
  static __GPULAB_GROUP__ bool is_valid() { return true; }
  static __GPULAB_COLLECTIVE__ void sync() { __syncthreads(); }
  // The two halves of sync. gfx942 and gfx1100 have one barrier instruction, so the waiting is in the second half.
  struct arrival_token {};
  static __GPULAB_COLLECTIVE__ arrival_token barrier_arrive() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    return {};
  }
  static __GPULAB_COLLECTIVE__ void barrier_wait(arrival_token&&) { __syncthreads(); }
};
__GPULAB_GROUP__ thread_block this_thread_block() { return thread_block(); }

// The grid. Its threads can wait for each other in a cooperative launch, where all blocks run at the same time:
// hipLaunchCooperativeKernel, or kernel.cooperative[grid, block](...) in Python. is_valid() says whether this is one;
// in another launch sync() reads through a null pointer.
class grid_group : public thread_group {
  __GPULAB_GROUP__ grid_group()
      : thread_group(details::grid, static_cast<uint32_t>(details::threads_of_grid()), 0) {}
  friend __GPULAB_GROUP__ grid_group this_grid();

 public:
  static __GPULAB_GROUP__ dim3 group_dim() { return gridDim; }
  static __GPULAB_GROUP__ dim3 grid_dim() { return gridDim; }
  static __GPULAB_GROUP__ dim3 dim_blocks() { return gridDim; }
  static __GPULAB_GROUP__ dim3 block_index() { return blockIdx; }
  static __GPULAB_GROUP__ unsigned long long num_blocks() { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
  static __GPULAB_GROUP__ unsigned long long block_rank() { return details::block_rank_in_grid(); }
  static __GPULAB_GROUP__ unsigned long long num_threads() { return details::threads_of_grid(); }
  static __GPULAB_GROUP__ unsigned long long size() { return details::threads_of_grid(); }
  static __GPULAB_GROUP__ unsigned long long thread_rank() { return details::thread_rank_in_grid(); }
  static __GPULAB_GROUP__ bool is_valid() { return details::cooperative_launch() != nullptr; }
  static __GPULAB_COLLECTIVE__ void sync() { details::sync_grid(); }
  // The two halves of sync, with work between them that needs nothing from other blocks.
  struct arrival_token {
    unsigned int signal;
  };
  static __GPULAB_COLLECTIVE__ arrival_token barrier_arrive() { return {details::arrive_at_grid()}; }
  static __GPULAB_COLLECTIVE__ void barrier_wait(arrival_token&& token) { details::wait_for_grid(token.signal); }
};
__GPULAB_GROUP__ grid_group this_grid() { return grid_group(); }

// The grids of a launch on several devices (hipLaunchCooperativeKernelMultiDevice).
class multi_grid_group : public thread_group {
  __GPULAB_GROUP__ multi_grid_group(uint32_t size) : thread_group(details::multi_grid, size, 0) {}
  friend __GPULAB_GROUP__ multi_grid_group this_multi_grid();

 public:
  static __GPULAB_GROUP__ unsigned int num_grids() {
    const details::launch_info* info = details::cooperative_launch();
    return info ? info->grid_count : 0;
  }
  static __GPULAB_GROUP__ unsigned int grid_rank() {
    const details::launch_info* info = details::cooperative_launch();
    return info ? info->grid : 0;
  }
};
__GPULAB_GROUP__ multi_grid_group this_multi_grid() {
  const details::launch_info* info = details::cooperative_launch();
  return multi_grid_group(info ? static_cast<uint32_t>(info->all_threads) : 0);
}

namespace details {
template <typename T>
using plain_t = __remove_cvref(T);
template <typename T>
__GPULAB_COLLECTIVE__ plain_t<T> taken_from(const T& value, uint32_t lane) {
  return gpulab::from_lane<plain_t<T>>(value, static_cast<int>(lane));
}
}  // namespace details

// What all groups within a wavefront do. G::lanes() gives the members' lanes.
template <typename G>
class __gpulab_lane_group {
  __GPULAB_GROUP__ const G& self() const { return static_cast<const G&>(*this); }

 public:
  // The value of the member of a rank; sizes up to 32 bytes. Values come by reference, for a member may have none yet,
  // and Clang takes __GPULAB_EXCHANGED__ at a member function's parameter for one of the parameter before it.
  template <typename T>
  __GPULAB_COLLECTIVE__ details::plain_t<T> shfl(const T& value, int rank) const {
    return details::taken_from<T>(value, self().lane_of(static_cast<uint32_t>(rank) % self().num_threads()));
  }
  // The value of the member `delta` ranks above or below; beyond the group's end, the own one.
  template <typename T>
  __GPULAB_COLLECTIVE__ details::plain_t<T> shfl_down(const T& value, unsigned int delta) const {
    uint32_t rank = self().thread_rank(), source = rank + delta;
    return details::taken_from<T>(value, self().lane_of(source < self().num_threads() ? source : rank));
  }
  template <typename T>
  __GPULAB_COLLECTIVE__ details::plain_t<T> shfl_up(const T& value, unsigned int delta) const {
    uint32_t rank = self().thread_rank();
    return details::taken_from<T>(value, self().lane_of(delta <= rank ? rank - delta : rank));
  }
  // Votes: bit r of a mask belongs to the member of rank r.
  __GPULAB_COLLECTIVE__ unsigned long long ballot(int predicate) const { return self().packed(__ballot(predicate)); }
  __GPULAB_COLLECTIVE__ int any(int predicate) const { return (__ballot(predicate) & self().lanes()) != 0; }
  __GPULAB_COLLECTIVE__ int all(int predicate) const { return (__ballot(!predicate) & self().lanes()) == 0; }
  // Which members have the same value; whether all have.
  template <typename T>
  __GPULAB_COLLECTIVE__ unsigned long long match_any(T value) const {
    return self().packed(__match_any(value));
  }
  template <typename T>
  __GPULAB_COLLECTIVE__ unsigned long long match_all(T value, int& equal) const {
    using U = typename gpulab::unsigned_of<sizeof(T)>::type;
    T first = shfl(value, 0);
    equal = all(__builtin_bit_cast(U, value) == __builtin_bit_cast(U, first));
    return equal ? self().packed(self().lanes()) : 0;
  }
};

// A tile whose size is a constant.
template <unsigned int tile, class Parent = void>
class thread_block_tile : public thread_group, public __gpulab_lane_group<thread_block_tile<tile, Parent>> {
  uint32_t meta_rank, meta_size;
  template <unsigned int, class>
  friend class thread_block_tile;
  template <unsigned int size, class P>
  friend __device__ thread_block_tile<size, P> tiled_partition(const P& parent);

  __GPULAB_GROUP__ thread_block_tile(uint32_t meta_rank, uint32_t meta_size)
      : thread_group(details::tile, tile, details::tile_mask(tile)), meta_rank(meta_rank), meta_size(meta_size) {
    static_assert(tile == details::largest_constant_tile || details::is_tile_size(tile),
                  "the size of a tile is a power of two, at most the lanes of a wavefront: 64 on CDNA, 32 on RDNA");
  }

 public:
  template <class P>
  __GPULAB_GROUP__ thread_block_tile(const thread_block_tile<tile, P>& other)
      : thread_block_tile(other.meta_rank, other.meta_size) {}
  static constexpr __GPULAB_GROUP__ unsigned int num_threads() { return tile; }
  static constexpr __GPULAB_GROUP__ unsigned int size() { return tile; }
  static __GPULAB_GROUP__ unsigned int thread_rank() { return __lane_id() & (tile - 1); }
  static __GPULAB_COLLECTIVE__ void sync() { __syncwarp(); }
  // Which of the tiles of the parent this is, and how many there are.
  __GPULAB_GROUP__ unsigned int meta_group_rank() const { return meta_rank; }
  __GPULAB_GROUP__ unsigned int meta_group_size() const { return meta_size; }
  static __GPULAB_GROUP__ uint64_t lanes() { return details::tile_mask(tile); }
  static __GPULAB_GROUP__ uint32_t lane_of(uint32_t rank) { return (__lane_id() & ~(tile - 1)) + rank; }
  static __GPULAB_GROUP__ uint64_t packed(uint64_t votes) {
    return votes >> (__lane_id() & ~(tile - 1)) & ~0ull >> (64 - tile);
  }
  template <typename T>
  __GPULAB_COLLECTIVE__ details::plain_t<T> shfl_xor(const T& value, unsigned int mask) const {
    uint32_t source = thread_rank() ^ mask;
    return details::taken_from<T>(value, lane_of(source < tile ? source : thread_rank()));
  }
};

// A tile whose size is known at run time.
class tiled_group : public thread_group {
  __GPULAB_GROUP__ tiled_group(uint32_t size) : thread_group(details::tile, size, details::tile_mask(size)) {}
  friend __GPULAB_GROUP__ tiled_group tiled_partition(const thread_block& parent, unsigned int size);
  friend __GPULAB_GROUP__ tiled_group tiled_partition(const tiled_group& parent, unsigned int size);
};

namespace details {
template <class Parent>
struct most_of {
  static constexpr unsigned value = ~0u;
};
template <unsigned tile, class Parent>
struct most_of<thread_block_tile<tile, Parent>> {
  static constexpr unsigned value = tile;
};
}  // namespace details

// The lanes of a mask, ranked from the lowest.
class coalesced_group : public thread_group, public __gpulab_lane_group<coalesced_group> {
  uint32_t meta_rank, meta_size;
  __GPULAB_GROUP__ coalesced_group(uint64_t mask, uint32_t meta_rank = 0, uint32_t meta_size = 1)
      : thread_group(details::coalesced, __builtin_popcountll(mask), mask), meta_rank(meta_rank), meta_size(meta_size) {}
  friend __GPULAB_COLLECTIVE__ coalesced_group coalesced_threads();
  friend __GPULAB_COLLECTIVE__ coalesced_group tiled_partition(const coalesced_group& parent, unsigned int size);
  template <typename G>
  friend __device__ coalesced_group binary_partition(const G& parent, bool predicate);

 public:
  __GPULAB_GROUP__ unsigned int meta_group_rank() const { return meta_rank; }
  __GPULAB_GROUP__ unsigned int meta_group_size() const { return meta_size; }
  __GPULAB_GROUP__ uint64_t lanes() const { return mask; }
  __GPULAB_GROUP__ uint32_t lane_of(uint32_t rank) const { return details::nth_lane(mask, rank); }
  __GPULAB_GROUP__ uint64_t packed(uint64_t votes) const { return details::by_rank(mask, votes); }
};
__GPULAB_COLLECTIVE__ coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

// Partitions. The block's tiles are cut by rank from 0, so they are the wavefront's lanes 0 to size-1 and so on.
template <unsigned int size, class Parent>
__GPULAB_GROUP__ thread_block_tile<size, Parent> tiled_partition(const Parent& parent) {
  static_assert(size <= details::most_of<Parent>::value, "a tile of a tile cannot be larger than it");
  if constexpr (size > details::largest_tile) details::refuse_tile(size);
  return thread_block_tile<size, Parent>(parent.thread_rank() / size, (parent.num_threads() + size - 1) / size);
}
__GPULAB_GROUP__ tiled_group tiled_partition(const thread_block& parent, unsigned int size) {
  assert(details::is_tile_size(size));
  return tiled_group(size);
}
__GPULAB_GROUP__ tiled_group tiled_partition(const tiled_group& parent, unsigned int size) {
  assert(details::is_tile_size(size));
  return tiled_group(size < parent.num_threads() ? size : parent.num_threads());
}
// The members of ranks 0 to size-1, and so on.
__GPULAB_COLLECTIVE__ coalesced_group tiled_partition(const coalesced_group& parent, unsigned int size) {
  assert(details::is_tile_size(size));
  uint32_t tile = parent.thread_rank() / size;
  return coalesced_group(details::part_of(parent.lanes(), tile, size), tile, (parent.num_threads() + size - 1) / size);
}
__GPULAB_GROUP__ thread_group tiled_partition(const thread_group& parent, unsigned int size) {
  assert(details::is_tile_size(size));
  if (parent.kind == details::coalesced) {
    uint64_t part = details::part_of(parent.mask, parent.thread_rank() / size, size);
    return thread_group(details::coalesced, __builtin_popcountll(part), part);
  }
  uint32_t count = size < parent.count ? size : parent.count;
  return thread_group(details::tile, count, details::tile_mask(count));
}
// The members whose predicate is the same as this thread's.
template <typename G>
__GPULAB_COLLECTIVE__ coalesced_group binary_partition(const G& parent, bool predicate) {
  uint64_t yes = __ballot(predicate);
  return coalesced_group(parent.lanes() & (predicate ? yes : ~yes));
}

template <class G>
__GPULAB_GROUP__ auto group_size(const G& group) -> decltype(group.num_threads()) {
  return group.num_threads();
}
template <class G>
__GPULAB_GROUP__ auto thread_rank(const G& group) -> decltype(group.thread_rank()) {
  return group.thread_rank();
}
template <class G>
__GPULAB_GROUP__ bool is_valid(const G& group) {
  return group.is_valid();
}
template <class G>
__GPULAB_COLLECTIVE__ void sync(const G& group) {
  group.sync();
}

// Operators for reduce and the scans; any function of two values that is associative will do.
#define __GPULAB_OPERATOR__(name, expression)                                          \
  template <class T>                                                                   \
  struct name {                                                                        \
    __GPULAB_GROUP__ T operator()(T a, T b) const { return expression; }               \
  };
__GPULAB_OPERATOR__(plus, a + b)
__GPULAB_OPERATOR__(less, b < a ? b : a)
__GPULAB_OPERATOR__(greater, a < b ? b : a)
__GPULAB_OPERATOR__(bit_and, a & b)
__GPULAB_OPERATOR__(bit_or, a | b)
__GPULAB_OPERATOR__(bit_xor, a ^ b)
#undef __GPULAB_OPERATOR__

namespace details {
template <typename T>
struct plain {
  using type = __remove_cvref(T);
};
// What exclusive_scan gives the first member: the neutral element of the operator, T() of one that is not known.
template <typename T, typename Op>
struct neutral {
  static __GPULAB_GROUP__ T value() { return T(); }
};
template <typename T>
struct neutral<T, bit_and<T>> {
  static __GPULAB_GROUP__ T value() { return static_cast<T>(~T()); }
};
template <typename T>
struct neutral<T, less<T>> {
  static __GPULAB_GROUP__ T value() { return std::numeric_limits<T>::max(); }
};
template <typename T>
struct neutral<T, greater<T>> {
  static __GPULAB_GROUP__ T value() { return std::numeric_limits<T>::lowest(); }
};

// Values of the members of lower rank, combined in the order of ranks, in log2(size) steps: after the step of width
// w each member holds the combination of itself and up to 2w - 1 members before it.
template <typename G, typename T, typename Op>
__GPULAB_COLLECTIVE__ T scanned(const G& group, T value, Op op) {
  uint32_t rank = group.thread_rank();
  for (uint32_t width = 1; width < group.num_threads(); width *= 2) {
    T below = group.shfl_up(value, width);
    if (rank >= width) value = op(below, value);
  }
  return value;
}
}  // namespace details

// The values of all members combined; every member gets the result.
template <typename G, typename V, typename F>
__GPULAB_COLLECTIVE__ auto reduce(const G& group, V&& value, F&& op) -> typename details::plain<V>::type {
  using T = typename details::plain<V>::type;
  static_assert(__is_trivially_copyable(T) && sizeof(T) <= 32, "values of a reduce are plain data of at most 32 bytes");
  return group.shfl(details::scanned(group, static_cast<T>(value), op), static_cast<int>(group.num_threads()) - 1);
}
// The values of the members up to this one combined; exclusive: of those before it.
template <typename G, typename V, typename F>
__GPULAB_COLLECTIVE__ auto inclusive_scan(const G& group, V&& value, F&& op) -> typename details::plain<V>::type {
  using T = typename details::plain<V>::type;
  static_assert(__is_trivially_copyable(T) && sizeof(T) <= 32, "values of a scan are plain data of at most 32 bytes");
  return details::scanned(group, static_cast<T>(value), op);
}
template <typename G, typename V, typename F>
__GPULAB_COLLECTIVE__ auto exclusive_scan(const G& group, V&& value, F&& op) -> typename details::plain<V>::type {
  using T = typename details::plain<V>::type;
  static_assert(__is_trivially_copyable(T) && sizeof(T) <= 32, "values of a scan are plain data of at most 32 bytes");
  T before = group.shfl_up(details::scanned(group, static_cast<T>(value), op), 1);
  return group.thread_rank() == 0 ? details::neutral<T, typename details::plain<F>::type>::value() : before;
}
template <typename G, typename V>
__GPULAB_COLLECTIVE__ auto inclusive_scan(const G& group, V&& value) -> typename details::plain<V>::type {
  return inclusive_scan(group, value, plus<typename details::plain<V>::type>());
}
template <typename G, typename V>
__GPULAB_COLLECTIVE__ auto exclusive_scan(const G& group, V&& value) -> typename details::plain<V>::type {
  return exclusive_scan(group, value, plus<typename details::plain<V>::type>());
}

// Copies `bytes` bytes, shared out among the members; wait(group) before the copy is read. Elements of 4 bytes or
// more are copied as such, the rest byte by byte. It is done when memcpy_async returns; HIP allows that.
template <class G, typename T, typename Size>
__GPULAB_COLLECTIVE__ void memcpy_async(const G& group, T* __restrict__ to, const T* __restrict__ from, const Size& bytes) {
  size_t count = bytes, whole = __is_trivially_copyable(T) && sizeof(T) >= 4 ? count / sizeof(T) : 0;
  for (size_t i = group.thread_rank(); i < whole; i += group.num_threads()) to[i] = from[i];
  for (size_t i = whole * sizeof(T) + group.thread_rank(); i < count; i += group.num_threads())
    reinterpret_cast<unsigned char*>(to)[i] = reinterpret_cast<const unsigned char*>(from)[i];
}
template <class G>
__GPULAB_COLLECTIVE__ void wait(const G& group) {
  group.sync();
}
template <unsigned int stages, class G>
__GPULAB_COLLECTIVE__ void wait_prior(const G& group) {
  group.sync();
}

#undef __GPULAB_GROUP__
#undef __GPULAB_COLLECTIVE__
}  // namespace cooperative_groups
#include "../gpulab/names_end.h"
