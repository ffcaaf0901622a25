// A product of 16 x 16 matrices on tensor cores: reported, rocWMMA is AMD's.
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include <mma.h>  //! header

using namespace nvcuda;  //! tensor-core

__global__ void product(const half* a, const half* b, float* c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 16);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

int main() {
  half *a, *b;
  float* c;
  hipMalloc(&a, 256 * sizeof(half));
  hipMalloc(&b, 256 * sizeof(half));
  hipMalloc(&c, 256 * sizeof(float));
  product<<<1, 32>>>(a, b, c);
  return hipDeviceSynchronize();
}
