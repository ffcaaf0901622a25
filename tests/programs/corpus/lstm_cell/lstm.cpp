// Unrolled LSTM layer on the GPU: pointwise gates fused; matrix products by a simple tiled kernel
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include "hip/hip_runtime.h"

#define cudaErrCheck(stat) { cudaErrCheck_((stat), __FILE__, __LINE__); }
void cudaErrCheck_(hipError_t stat, const char *file, int line) {
   if (stat != hipSuccess) {
      fprintf(stderr, "HIP Error: %s %s %d\n", hipGetErrorString(stat), file, line);
      exit(1);
   }
}

__forceinline__ __device__ float sigmoidf(float in) { return 1.f / (1.f + expf(-in)); }

#define TILE 16
// out[b][o] = sum_i in[b][i] * w[o][i]
__global__ void linear(const float *in, const float *w, float *out, int batch, int inputs, int outputs) {
   __shared__ float a[TILE][TILE], b[TILE][TILE + 1];
   int o = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;
   float sum = 0.f;
   for (int k = 0; k < inputs; k += TILE) {
      a[threadIdx.y][threadIdx.x] = (row < batch && k + threadIdx.x < inputs) ? in[row * inputs + k + threadIdx.x] : 0.f;
      int wo = blockIdx.x * TILE + threadIdx.y;
      b[threadIdx.y][threadIdx.x] = (wo < outputs && k + threadIdx.x < inputs) ? w[wo * inputs + k + threadIdx.x] : 0.f;
      __syncthreads();
      for (int j = 0; j < TILE; j++) sum = fmaf(a[threadIdx.y][j], b[threadIdx.x][j], sum);
      __syncthreads();
   }
   if (row < batch && o < outputs) out[row * outputs + o] = sum;
}

// gates: input, forget, candidate, output
__global__ void elementWise_fp(int hiddenSize, int miniBatch, const float *tmp_h, const float *tmp_i, const float *bias,
                               float *h_out, const float *c_in, float *c_out) {
   int index = blockIdx.x * blockDim.x + threadIdx.x;
   int numElements = miniBatch * hiddenSize;
   if (index >= numElements) return;
   int batch = index / hiddenSize;
   int gateIndex = (index % hiddenSize) + 4 * batch * hiddenSize;
   float g[4];
   for (int i = 0; i < 4; i++) {
      g[i] = tmp_i[i * hiddenSize + gateIndex] + tmp_h[i * hiddenSize + gateIndex];
      g[i] += bias[i * hiddenSize + index % hiddenSize];
   }
   float in_gate = sigmoidf(g[0]);
   float forget_gate = sigmoidf(g[1]);
   float in_gate2 = tanhf(g[2]);
   float out_gate = sigmoidf(g[3]);
   float val = (forget_gate * c_in[index]) + (in_gate * in_gate2);
   c_out[index] = val;
   h_out[index] = out_gate * tanhf(val);
}

int main(int argc, char *argv[]) {
   int seqLength, hidden, batch, inputs;
   if (argc == 5) {
      seqLength = atoi(argv[1]); hidden = atoi(argv[2]); batch = atoi(argv[3]); inputs = atoi(argv[4]);
   } else if (argc == 1) {
      printf("Running with default settings\n");
      seqLength = 6; hidden = 40; batch = 10; inputs = 24;
   } else {
      printf("Usage: ./lstm <seqLength> <hiddenSize> <miniBatch> <inputs>\n");
      return 1;
   }
   size_t nx = (size_t)seqLength * batch * inputs, nwi = (size_t)4 * hidden * inputs, nwh = (size_t)4 * hidden * hidden, nh = (size_t)batch * hidden;
   float *x = new float[nx], *wi = new float[nwi], *wh = new float[nwh], *bias = new float[4 * hidden], *h = new float[nh], *c = new float[nh];
   srand(1337);
   for (size_t i = 0; i < nx; i++) x[i] = rand() / (float)RAND_MAX * 2 - 1;
   for (size_t i = 0; i < nwi; i++) wi[i] = (rand() / (float)RAND_MAX - 0.5f) * 0.5f;
   for (size_t i = 0; i < nwh; i++) wh[i] = (rand() / (float)RAND_MAX - 0.5f) * 0.5f;
   for (int i = 0; i < 4 * hidden; i++) bias[i] = (i / hidden == 1) ? 1.0f : 0.01f * (i % 7);
   float *dx, *dwi, *dwh, *dbias, *dh, *dc, *ti, *th;
   cudaErrCheck(hipMalloc((void**)&dx, nx * sizeof(float)));
   cudaErrCheck(hipMalloc((void**)&dwi, nwi * sizeof(float)));
   cudaErrCheck(hipMalloc((void**)&dwh, nwh * sizeof(float)));
   cudaErrCheck(hipMalloc((void**)&dbias, 4 * hidden * sizeof(float)));
   cudaErrCheck(hipMalloc((void**)&dh, nh * sizeof(float)));
   cudaErrCheck(hipMalloc((void**)&dc, nh * sizeof(float)));
   cudaErrCheck(hipMalloc((void**)&ti, 4 * nh * sizeof(float)));
   cudaErrCheck(hipMalloc((void**)&th, 4 * nh * sizeof(float)));
   hipStream_t stream_i, stream_h;
   cudaErrCheck(hipStreamCreate(&stream_i));
   cudaErrCheck(hipStreamCreateWithPriority(&stream_h, hipStreamNonBlocking, -1));
   hipEvent_t events[2], start, stop;
   cudaErrCheck(hipEventCreateWithFlags(&events[0], hipEventDisableTiming));
   cudaErrCheck(hipEventCreateWithFlags(&events[1], hipEventDisableTiming));
   cudaErrCheck(hipEventCreate(&start));
   cudaErrCheck(hipEventCreate(&stop));
   cudaErrCheck(hipMemcpyAsync(dx, x, nx * sizeof(float), hipMemcpyHostToDevice, stream_i));
   cudaErrCheck(hipMemcpyAsync(dwi, wi, nwi * sizeof(float), hipMemcpyHostToDevice, stream_i));
   cudaErrCheck(hipMemcpyAsync(dwh, wh, nwh * sizeof(float), hipMemcpyHostToDevice, stream_h));
   cudaErrCheck(hipMemcpyAsync(dbias, bias, 4 * hidden * sizeof(float), hipMemcpyHostToDevice, stream_h));
   cudaErrCheck(hipMemsetAsync(dh, 0, nh * sizeof(float), stream_h));
   cudaErrCheck(hipMemsetAsync(dc, 0, nh * sizeof(float), stream_h));
   cudaErrCheck(hipDeviceSynchronize());
   cudaErrCheck(hipEventRecord(start, stream_h));
   dim3 block(TILE, TILE), grid((4 * hidden + TILE - 1) / TILE, (batch + TILE - 1) / TILE);
   for (int t = 0; t < seqLength; t++) {
      if (t) cudaErrCheck(hipStreamWaitEvent(stream_i, events[1], 0));
      hipLaunchKernelGGL(linear, grid, block, 0, stream_i, dx + (size_t)t * batch * inputs, dwi, ti, batch, inputs, 4 * hidden);
      cudaErrCheck(hipEventRecord(events[0], stream_i));
      hipLaunchKernelGGL(linear, grid, block, 0, stream_h, dh, dwh, th, batch, hidden, 4 * hidden);
      cudaErrCheck(hipStreamWaitEvent(stream_h, events[0], 0));
      hipLaunchKernelGGL(elementWise_fp, dim3((nh + 255) / 256), dim3(256), 0, stream_h, hidden, batch, th, ti, dbias, dh, dc, dc);
      cudaErrCheck(hipGetLastError());
      cudaErrCheck(hipEventRecord(events[1], stream_h));
   }
   cudaErrCheck(hipEventRecord(stop, stream_h));
   cudaErrCheck(hipEventSynchronize(stop));
   float ms;
   cudaErrCheck(hipEventElapsedTime(&ms, start, stop));
   printf("Runtime %fms\n", ms);
   cudaErrCheck(hipMemcpy(h, dh, nh * sizeof(float), hipMemcpyDeviceToHost));
   cudaErrCheck(hipMemcpy(c, dc, nh * sizeof(float), hipMemcpyDeviceToHost));
   double *rh = new double[nh](), *rc = new double[nh](), *fresh = new double[nh];
   for (int t = 0; t < seqLength; t++) {
      for (int b = 0; b < batch; b++)
         for (int j = 0; j < hidden; j++) {
            double g[4];
            for (int k = 0; k < 4; k++) {
               g[k] = bias[k * hidden + j];
               for (int i = 0; i < inputs; i++) g[k] += (double)x[((size_t)t * batch + b) * inputs + i] * wi[(k * hidden + j) * inputs + i];
               for (int i = 0; i < hidden; i++) g[k] += rh[b * hidden + i] * wh[(k * hidden + j) * hidden + i];
            }
            double &cc = rc[b * hidden + j];
            cc = cc / (1 + exp(-g[1])) + tanh(g[2]) / (1 + exp(-g[0]));
            fresh[b * hidden + j] = tanh(cc) / (1 + exp(-g[3]));
         }
      for (size_t i = 0; i < nh; i++) rh[i] = fresh[i];
   }
   double worst = 0, checksum = 0;
   for (size_t i = 0; i < nh; i++) {
      worst = fmax(worst, fmax(fabs(h[i] - rh[i]), fabs(c[i] - rc[i])));
      checksum += h[i];
   }
   printf("checksum %f, largest difference %.2e\n", checksum, worst);
   for (float *p : {dx, dwi, dwh, dbias, dh, dc, ti, th}) cudaErrCheck(hipFree(p));
   cudaErrCheck(hipStreamDestroy(stream_i)); cudaErrCheck(hipStreamDestroy(stream_h));
   cudaErrCheck(hipEventDestroy(events[0])); cudaErrCheck(hipEventDestroy(events[1]));
   cudaErrCheck(hipEventDestroy(start)); cudaErrCheck(hipEventDestroy(stop));
   delete[] x; delete[] wi; delete[] wh; delete[] bias; delete[] h; delete[] c; delete[] rh; delete[] rc; delete[] fresh;
   if (!(worst < 1e-5)) { printf("FAILED\n"); return 1; }
   printf("PASSED\n");
   return 0;
}
