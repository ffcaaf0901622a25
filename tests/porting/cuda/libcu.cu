// An atomic and a barrier of libcu++, and a cluster: reported.
#include <cuda/atomic>  //! header
#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__global__ void count(int* counter) {
  cuda::atomic_ref<int, cuda::thread_scope_device> value(*counter);  //! libcu++ libcu++
  value.fetch_add(1, cuda::memory_order_relaxed);  //! libcu++
  auto big = cg::tiled_partition<128>(cg::this_thread_block());  //! cooperative-groups
  auto cluster = cg::this_cluster();  //! cooperative-groups
  __nanosleep(100);  //! unsupported
  unsigned packed = __vadd4(1u, 2u);  //! unsupported
  counter[packed & 0] += __dp4a(1, 2, 3);  //! unsupported
}

int main() { return cudaSetDevice(0); }
