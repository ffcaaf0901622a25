// Copies and kernels in several streams, pinned memory, events; the depth-first and the breadth-first order
#include <hip/hip_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

inline hipError_t checkHip(hipError_t result)
{
#if defined(DEBUG) || defined(_DEBUG)
  if (result != hipSuccess) {
    fprintf(stderr, "HIP Runtime Error: %s\n", hipGetErrorString(result));
    exit(1);
  }
#endif
  return result;
}

__global__ void kernel(float *a, int offset)
{
  int i = offset + threadIdx.x + blockIdx.x * blockDim.x;
  float x = (float)i;
  float s = sinf(x);
  float c = cosf(x);
  a[i] = a[i] + sqrtf(s * s + c * c);
}

float maxError(float *a, int n, float want)
{
  float maxE = 0;
  for (int i = 0; i < n; i++) {
    float error = fabs(a[i] - want);
    if (error > maxE) maxE = error;
  }
  return maxE;
}

static void callback(hipStream_t, hipError_t status, void *data) { *(int *)data += status == hipSuccess; }

int main(int argc, char **argv)
{
  const int blockSize = 256, nStreams = 4;
  const int n = (argc > 1 ? atoi(argv[1]) : 16) * 1024 / 4 * blockSize / 256 * nStreams;
  const int streamSize = n / nStreams;
  const int streamBytes = streamSize * sizeof(float);
  const int bytes = n * sizeof(float);
  int devId = 0, bad = 0, called = 0;
  if (argc > 2) devId = atoi(argv[2]);

  hipDeviceProp_t prop;
  checkHip(hipGetDeviceProperties(&prop, devId));
  printf("Device : %s, %d copy engines\n", prop.name, prop.asyncEngineCount);
  checkHip(hipSetDevice(devId));

  float *a, *d_a;
  checkHip(hipHostMalloc((void**)&a, bytes, hipHostMallocDefault));      // host pinned
  checkHip(hipMalloc((void**)&d_a, bytes)); // device

  float ms;
  hipEvent_t startEvent, stopEvent, dummyEvent;
  hipStream_t stream[nStreams];
  checkHip(hipEventCreate(&startEvent));
  checkHip(hipEventCreate(&stopEvent));
  checkHip(hipEventCreateWithFlags(&dummyEvent, hipEventDisableTiming));
  for (int i = 0; i < nStreams; ++i)
    checkHip(i % 2 ? hipStreamCreate(&stream[i]) : hipStreamCreateWithFlags(&stream[i], hipStreamNonBlocking));

  // baseline case - sequential transfer and execute
  for (int i = 0; i < n; i++) a[i] = 0;
  checkHip(hipEventRecord(startEvent, 0));
  checkHip(hipMemcpy(d_a, a, bytes, hipMemcpyHostToDevice));
  kernel<<<n / blockSize, blockSize>>>(d_a, 0);
  checkHip(hipMemcpy(a, d_a, bytes, hipMemcpyDeviceToHost));
  checkHip(hipEventRecord(stopEvent, 0));
  checkHip(hipEventSynchronize(stopEvent));
  checkHip(hipEventElapsedTime(&ms, startEvent, stopEvent));
  printf("Time for sequential transfer and execute (ms): %f\n", ms);
  printf("  max error: %e\n", maxError(a, n, 1.0f));
  bad += !(maxError(a, n, 1.0f) < 1e-6f);

  // asynchronous version 1: loop over {copy, kernel, copy}
  for (int i = 0; i < n; i++) a[i] = 1;
  checkHip(hipEventRecord(startEvent, 0));
  for (int i = 0; i < nStreams; ++i) {
    int offset = i * streamSize;
    checkHip(hipMemcpyAsync(&d_a[offset], &a[offset], streamBytes, hipMemcpyHostToDevice, stream[i]));
    kernel<<<streamSize / blockSize, blockSize, 0, stream[i]>>>(d_a, offset);
    checkHip(hipMemcpyAsync(&a[offset], &d_a[offset], streamBytes, hipMemcpyDeviceToHost, stream[i]));
    checkHip(hipStreamAddCallback(stream[i], callback, &called, 0));
  }
  checkHip(hipEventRecord(stopEvent, 0));
  checkHip(hipEventSynchronize(stopEvent));
  for (int i = 0; i < nStreams; ++i) checkHip(hipStreamSynchronize(stream[i]));
  checkHip(hipEventElapsedTime(&ms, startEvent, stopEvent));
  printf("Time for asynchronous V1 transfer and execute (ms): %f\n", ms);
  printf("  max error: %e, %d callbacks\n", maxError(a, n, 2.0f), called);
  bad += !(maxError(a, n, 2.0f) < 1e-6f) || called != nStreams;

  // asynchronous version 2: loop over copies, then kernels, then copies; a last stream waits for all
  for (int i = 0; i < n; i++) a[i] = 2;
  for (int i = 0; i < nStreams; ++i) {
    int offset = i * streamSize;
    checkHip(hipMemcpyAsync(&d_a[offset], &a[offset], streamBytes, hipMemcpyHostToDevice, stream[i]));
  }
  for (int i = 0; i < nStreams; ++i)
    hipLaunchKernelGGL(kernel, dim3(streamSize / blockSize), dim3(blockSize), 0, stream[i], d_a, i * streamSize);
  for (int i = 1; i < nStreams; ++i) {
    checkHip(hipEventRecord(dummyEvent, stream[i]));
    checkHip(hipStreamWaitEvent(stream[0], dummyEvent, 0));
  }
  checkHip(hipMemcpyAsync(a, d_a, bytes, hipMemcpyDeviceToHost, stream[0]));
  while (hipStreamQuery(stream[0]) == hipErrorNotReady) ;
  printf("  max error: %e\n", maxError(a, n, 3.0f));
  bad += !(maxError(a, n, 3.0f) < 1e-6f);
  int least, greatest;
  checkHip(hipDeviceGetStreamPriorityRange(&least, &greatest));
  printf("priorities %d to %d\n", least, greatest);

  checkHip(hipEventDestroy(startEvent));
  checkHip(hipEventDestroy(stopEvent));
  checkHip(hipEventDestroy(dummyEvent));
  for (int i = 0; i < nStreams; ++i) checkHip(hipStreamDestroy(stream[i]));
  checkHip(hipFree(d_a));
  checkHip(hipHostFree(a));
  printf(bad ? "FAILED\n" : "PASSED\n");
  return bad;
}
