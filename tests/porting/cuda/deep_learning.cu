// A convolution with cuDNN and a sum over devices with NCCL.
#include <cuda_runtime.h>
#include <cudnn.h>
#include <nccl.h>
#include <nvToolsExt.h>
#include <cstdio>

#define CUDNN_CHECK(x)                                                   \
  do {                                                                   \
    cudnnStatus_t s = (x);                                               \
    if (s != CUDNN_STATUS_SUCCESS) printf("%s\n", cudnnGetErrorString(s)); \
  } while (0)

int main() {
  cudnnHandle_t handle;
  CUDNN_CHECK(cudnnCreate(&handle));
  cudnnTensorDescriptor_t in, out;
  cudnnConvolutionDescriptor_t convolution;
  CUDNN_CHECK(cudnnCreateTensorDescriptor(&in));
  CUDNN_CHECK(cudnnCreateTensorDescriptor(&out));
  CUDNN_CHECK(cudnnSetTensor4dDescriptor(in, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 3, 32, 32));  //! unsupported
  float alpha = 1.0f, beta = 0.0f, *x = nullptr, *w = nullptr, *y = nullptr;
  nvtxRangePushA("convolution");
  cudnnConvolutionForward(handle, &alpha, in, x, nullptr, w, convolution, CUDNN_CONVOLUTION_FWD_ALGO_GEMM, nullptr, 0, &beta, out, y);  //! library
  nvtxRangePop();
  CUDNN_CHECK(cudnnDestroy(handle));
  int devices[2] = {0, 1};
  ncclComm_t communicators[2];
  ncclCommInitAll(communicators, 2, devices);
  ncclGroupStart();
  for (int i = 0; i < 2; ++i) ncclAllReduce(x, y, 1024, ncclFloat, ncclSum, communicators[i], 0);
  ncclGroupEnd();
  for (int i = 0; i < 2; ++i) ncclCommDestroy(communicators[i]);
  return 0;
}
