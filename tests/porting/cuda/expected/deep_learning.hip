// A convolution with cuDNN and a sum over devices with NCCL.
#include <hip/hip_runtime.h>
#include <miopen/miopen.h>
#include <rccl/rccl.h>
#include <roctracer/roctx.h>
#include <cstdio>

#define CUDNN_CHECK(x)                                                   \
  do {                                                                   \
    miopenStatus_t s = (x);                                               \
    if (s != miopenStatusSuccess) printf("%s\n", miopenGetErrorString(s)); \
  } while (0)

int main() {
  miopenHandle_t handle;
  CUDNN_CHECK(miopenCreate(&handle));
  miopenTensorDescriptor_t in, out;
  miopenConvolutionDescriptor_t convolution;
  CUDNN_CHECK(miopenCreateTensorDescriptor(&in));
  CUDNN_CHECK(miopenCreateTensorDescriptor(&out));
  CUDNN_CHECK(cudnnSetTensor4dDescriptor(in, miopenTensorNCHW, miopenFloat, 1, 3, 32, 32));  //! unsupported
  float alpha = 1.0f, beta = 0.0f, *x = nullptr, *w = nullptr, *y = nullptr;
  roctxRangePushA("convolution");
  miopenConvolutionForward(handle, &alpha, in, x, nullptr, w, convolution, miopenConvolutionFwdAlgoGEMM, nullptr, 0, &beta, out, y);  //! library
  roctxRangePop();
  CUDNN_CHECK(miopenDestroy(handle));
  int devices[2] = {0, 1};
  ncclComm_t communicators[2];
  ncclCommInitAll(communicators, 2, devices);
  ncclGroupStart();
  for (int i = 0; i < 2; ++i) ncclAllReduce(x, y, 1024, ncclFloat, ncclSum, communicators[i], 0);
  ncclGroupEnd();
  for (int i = 0; i < 2; ++i) ncclCommDestroy(communicators[i]);
  return 0;
}
