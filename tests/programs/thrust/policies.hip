// Policies, streams, allocators, algorithms inside kernels, raw pointers, lambdas, errors.
#include <thrust/copy.h>
#include <thrust/device_malloc_allocator.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/fill.h>
#include <thrust/find.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/system/hip/execution_policy.h>
#include <thrust/system_error.h>
#include <thrust/transform.h>
#include <thrust/unique.h>
#include <thrust/universal_vector.h>
#include <thrust/version.h>

#include <map>
#include <string>

#include "check.h"

static_assert(THRUST_MAJOR_VERSION >= 2 && THRUST_DEVICE_SYSTEM == THRUST_DEVICE_SYSTEM_HIP);

// One thread's algorithms on its own piece.
__global__ void in_a_kernel(int* memory, int count) {
  int* mine = memory + static_cast<int>(threadIdx.x) * count;
  thrust::sort(thrust::seq, mine, mine + count);
  if (threadIdx.x == 1) thrust::sort(thrust::seq, mine, mine + count, thrust::greater<int>());
  if (threadIdx.x == 2) {
    int* end = thrust::remove_if(thrust::seq, mine, mine + count, [](int x) { return x % 2 == 0; });
    thrust::fill(thrust::seq, end, mine + count, -1);
  }
  if (threadIdx.x == 3) {
    thrust::exclusive_scan(thrust::seq, mine, mine + count, mine);
    mine[0] = thrust::reduce(thrust::seq, mine, mine + count);
  }
  if (threadIdx.x == 4) {
    int keys[8] = {3, 1, 2, 3, 1, 2, 0, 0};
    thrust::stable_sort_by_key(thrust::seq, keys, keys + 8, mine);
    mine[8] = static_cast<int>(thrust::find(thrust::seq, keys, keys + 8, 3) - keys);
    mine[9] = static_cast<int>(thrust::partition(thrust::seq, keys, keys + 8, [](int x) { return x == 2; }) - keys);
  }
}

// Temporary memory that is kept for the next call.
struct CachedMemory {
  using value_type = char;
  std::multimap<std::size_t, char*> free_blocks;
  std::map<char*, std::size_t> used_blocks;
  int allocations = 0;
  char* allocate(std::ptrdiff_t bytes) {
    auto found = free_blocks.find(static_cast<std::size_t>(bytes));
    char* memory = nullptr;
    if (found != free_blocks.end()) {
      memory = found->second;
      free_blocks.erase(found);
    } else {
      memory = thrust::raw_pointer_cast(thrust::device_malloc<char>(static_cast<std::size_t>(bytes)));
      ++allocations;
    }
    used_blocks[memory] = static_cast<std::size_t>(bytes);
    return memory;
  }
  void deallocate(char* memory, std::size_t) {
    auto found = used_blocks.find(memory);
    free_blocks.insert({found->second, memory});
    used_blocks.erase(found);
  }
};

// Elements that nobody initialises.
template <typename T>
struct Uninitialized : thrust::device_malloc_allocator<T> {
  template <typename U>
  struct rebind {
    using other = Uninitialized<U>;
  };
  __host__ __device__ void construct(T*) {}
};

int main() {
  const int n = 5000;
  std::vector<int> numbers = data(n, 1000);
  thrust::device_vector<int> device = numbers;
  int* raw = thrust::raw_pointer_cast(device.data());
  int wanted = 0;
  for (int one : numbers) wanted += one;
  CHECK(thrust::reduce(thrust::device, raw, raw + n) == wanted);
  CHECK(thrust::reduce(thrust::hip::par, raw, raw + n) == wanted);
  CHECK(thrust::reduce(thrust::host, numbers.begin(), numbers.end()) == wanted);
  CHECK(thrust::reduce(thrust::seq, numbers.data(), numbers.data() + n) == wanted);
  CHECK(thrust::reduce(thrust::device_system_tag(), raw, raw + n) == wanted);
  CHECK(thrust::reduce(thrust::cpp::par, numbers.data(), numbers.data() + n) == wanted);
  CHECK(thrust::reduce(numbers.data(), numbers.data() + n) == wanted);

  hipStream_t stream;
  CHECK(hipStreamCreate(&stream) == hipSuccess);
  thrust::device_vector<int> other(n);
  thrust::transform(thrust::hip::par.on(stream), raw, raw + n, other.begin(), thrust::negate<int>());
  CHECK(thrust::reduce(thrust::hip::par.on(stream), other.begin(), other.end()) == -wanted);
  thrust::fill(thrust::hip::par_nosync.on(stream), other.begin(), other.end(), 6);
  thrust::for_each(thrust::hip::par_nosync.on(stream), other.begin(), other.end(),
                   [] __device__(int& x) { x += 1; });
  CHECK(hipStreamSynchronize(stream) == hipSuccess && other[n - 1] == 7);
  thrust::host_vector<int> back(n);
  thrust::copy(thrust::hip::par.on(stream), device.begin(), device.end(), back.begin());
  CHECK(back == numbers);
  CHECK(hipStreamDestroy(stream) == hipSuccess);

  CachedMemory cache;
  for (int i = 0; i < 3; ++i) {
    device = numbers;
    thrust::sort(thrust::hip::par(cache), device.begin(), device.end());
  }
  CHECK(cache.used_blocks.empty() && cache.allocations > 0 && cache.allocations < 6);
  CHECK(cache.free_blocks.size() == static_cast<std::size_t>(cache.allocations));
  CHECK(thrust::is_sorted(device.begin(), device.end()));
  thrust::device_vector<int, Uninitialized<int>> bare(100);
  CHECK(bare.size() == 100);

  // lambdas with captures, on a whole range and on indices
  int shift = 3;
  device = numbers;
  thrust::transform(device.begin(), device.end(), other.begin(), [=] __device__(int x) { return x + shift; });
  CHECK(other[5] == numbers[5] + 3);
  int* to = thrust::raw_pointer_cast(other.data());
  thrust::for_each(thrust::device, thrust::make_counting_iterator(0), thrust::make_counting_iterator(n),
                   [=] __device__(int i) { to[i] = raw[n - 1 - i]; });
  CHECK(other[0] == numbers[n - 1]);
  thrust::for_each_n(thrust::make_counting_iterator(0), n, [=] __device__(int i) { to[i] = i; });
  CHECK(other[n - 1] == n - 1);
  thrust::universal_vector<int> managed(n, 1);
  thrust::transform(managed.begin(), managed.end(), managed.begin(), [] __host__ __device__(int x) { return x + 1; });
  CHECK(managed[77] == 2 && thrust::raw_pointer_cast(managed.data())[78] == 2);

  // in a kernel
  const int count = 50;
  std::vector<int> pieces = data(5 * count, 90, 4);
  for (int i = 0; i < 8; ++i) pieces[4 * count + i] = i;
  thrust::device_vector<int> memory = pieces;
  in_a_kernel<<<1, 5>>>(thrust::raw_pointer_cast(memory.data()), count);
  CHECK(hipDeviceSynchronize() == hipSuccess);
  std::vector<int> piece(pieces.begin(), pieces.begin() + count);
  std::sort(piece.begin(), piece.end());
  CHECK(std::equal(piece.begin(), piece.end(), thrust::host_vector<int>(memory).begin()));
  CHECK(thrust::is_sorted(memory.begin() + count, memory.begin() + 2 * count, thrust::greater<int>()));
  int odd = 0, sum = 0, sums = 0;
  for (int i = 2 * count; i < 3 * count; ++i) odd += pieces[i] % 2;
  CHECK(memory[2 * count + odd] == -1 && memory[2 * count + odd - 1] % 2 == 1);
  std::sort(pieces.begin() + 3 * count, pieces.begin() + 4 * count);
  for (int i = 3 * count; i < 4 * count; ++i) {
    sums += sum;
    sum += pieces[i];
  }
  CHECK(memory[3 * count] == sums && memory[4 * count - 1] == sum - pieces[4 * count - 1]);

  // errors
  bool thrown = false;
  try {
    int* nowhere = reinterpret_cast<int*>(4096);
    thrust::for_each(thrust::device, nowhere, nowhere + 1, [] __device__(int& x) { x = 1; });
  } catch (const thrust::system_error& error) {
    thrown = error.code().category() == thrust::hip_category() && error.code().value() != 0;
  }
  CHECK(thrown);
  thrown = false;
  try {
    thrust::device_vector<int> huge(std::size_t(1) << 50);
  } catch (const std::bad_alloc& error) {
    thrown = std::string(error.what()).find("hipErrorOutOfMemory") != std::string::npos;
  }
  CHECK(thrown);
  device.resize(10, 1);
  CHECK(thrust::reduce(device.begin(), device.begin() + 10) == numbers[0] + numbers[1] + numbers[2] + numbers[3] +
                                                                  numbers[4] + numbers[5] + numbers[6] + numbers[7] +
                                                                  numbers[8] + numbers[9]);
  return checked(28);
}
