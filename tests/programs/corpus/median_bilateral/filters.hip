// 3x3 median by a sorting network on uchar4 pixels, and a bilateral filter
#include <hip/hip_runtime.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static inline void __check(hipError_t code, const char *file, int line) {
  if (code != hipSuccess) { fprintf(stderr, "[%s:%d] %s\n", file, line, hipGetErrorString(code)); exit(code); }
}
#define check(ans) __check((ans), __FILE__, __LINE__)

#define SORT2(a, b) { uchar t = min(a, b); b = max(a, b); a = t; }

__device__ uchar median9(uchar v[9]) {
  SORT2(v[1], v[2]); SORT2(v[4], v[5]); SORT2(v[7], v[8]); SORT2(v[0], v[1]); SORT2(v[3], v[4]); SORT2(v[6], v[7]);
  SORT2(v[1], v[2]); SORT2(v[4], v[5]); SORT2(v[7], v[8]); SORT2(v[0], v[3]); SORT2(v[5], v[8]); SORT2(v[4], v[7]);
  SORT2(v[3], v[6]); SORT2(v[1], v[4]); SORT2(v[2], v[5]); SORT2(v[4], v[7]); SORT2(v[4], v[2]); SORT2(v[6], v[4]); SORT2(v[4], v[2]);
  return v[4];
}

__global__ void median(const uchar4 *in, uchar4 *out, int w, int h) {
  __shared__ uchar4 tile[18][18];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  for (int t = threadIdx.y * 16 + threadIdx.x; t < 18 * 18; t += 256) {
    int tx = t % 18, ty = t / 18;
    int gx = min(max((int)blockIdx.x * 16 + tx - 1, 0), w - 1), gy = min(max((int)blockIdx.y * 16 + ty - 1, 0), h - 1);
    tile[ty][tx] = in[gy * w + gx];
  }
  __syncthreads();
  if (x >= w || y >= h) return;
  uchar r[9], g[9], b[9];
  for (int k = 0; k < 9; k++) {
    const uchar4 p = tile[threadIdx.y + k / 3][threadIdx.x + k % 3];
    r[k] = p.x; g[k] = p.y; b[k] = p.z;
  }
  out[y * w + x] = make_uchar4(median9(r), median9(g), median9(b), tile[threadIdx.y + 1][threadIdx.x + 1].w);
}

__device__ __host__ inline float luminance(uchar4 p) { return 0.299f * p.x + 0.587f * p.y + 0.114f * p.z; }

__global__ void __launch_bounds__(64) bilateral(const uchar4 *__restrict__ in, float *__restrict__ out, int w, int h, int radius,
                                                float sigma_space, float sigma_range) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  const float centre = luminance(in[y * w + x]);
  float sum = 0, weights = 0;
  for (int j = -radius; j <= radius; j++)
    for (int i = -radius; i <= radius; i++) {
      const int xx = x + i, yy = y + j;
      if (xx < 0 || yy < 0 || xx >= w || yy >= h) continue;
      const float v = luminance(in[yy * w + xx]), d = v - centre;
      const float weight = __expf(-(i * i + j * j) / (2 * sigma_space * sigma_space) - d * d / (2 * sigma_range * sigma_range));
      sum += weight * v;
      weights += weight;
    }
  out[y * w + x] = sum / weights;
}

int main(int argc, char *argv[]) {
  int w = 97, h = 61;
  if (argc >= 3) sscanf(argv[1], "%d", &w), sscanf(argv[2], "%d", &h);
  const int n = w * h;
  uchar4 *image, *filtered;
  check(hipHostMalloc((void **)&image, n * sizeof(uchar4)));
  check(hipHostMalloc((void **)&filtered, n * sizeof(uchar4), hipHostMallocNonCoherent));
  unsigned s = 5;
  for (int i = 0; i < n; i++) {
    s = s * 1103515245 + 12345;
    int base = (i % w) * 2 + (i / w > h / 2 ? 60 : 0);
    bool noise = (s >> 16) % 10 == 0;
    image[i] = {(uchar)(noise ? 255 : base), (uchar)(noise ? s >> 24 : base / 2), (uchar)((s >> 8) & 255), (uchar)i};
  }
  uchar4 *d_in, *d_out;
  float *d_smooth;
  check(hipMalloc(&d_in, n * sizeof(uchar4)));
  check(hipMalloc(&d_out, n * sizeof(uchar4)));
  check(hipMalloc(&d_smooth, n * sizeof(float)));
  check(hipMemcpy(d_in, image, n * sizeof(uchar4), hipMemcpyHostToDevice));
  median<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(d_in, d_out, w, h);
  check(hipGetLastError());
  check(hipMemcpy(filtered, d_out, n * sizeof(uchar4), hipMemcpyDeviceToHost));
  bilateral<<<dim3((w + 7) / 8, (h + 7) / 8), dim3(8, 8)>>>(d_in, d_smooth, w, h, 4, 2.5f, 30.0f);
  check(hipGetLastError());
  std::vector<float> smooth(n);
  check(hipMemcpy(&smooth[0], d_smooth, n * sizeof(float), hipMemcpyDeviceToHost));
  int bad = 0;
  double worst = 0;
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      unsigned char v[3][9];
      for (int k = 0; k < 9; k++) {
        uchar4 p = image[std::min(std::max(y + k / 3 - 1, 0), h - 1) * w + std::min(std::max(x + k % 3 - 1, 0), w - 1)];
        v[0][k] = p.x; v[1][k] = p.y; v[2][k] = p.z;
      }
      for (auto &c : v) std::nth_element(c, c + 4, c + 9);
      uchar4 got = filtered[y * w + x];
      if (got.x != v[0][4] || got.y != v[1][4] || got.z != v[2][4] || got.w != image[y * w + x].w) bad++;
      double centre = luminance(image[y * w + x]), sum = 0, weights = 0;
      for (int j = std::max(0, y - 4); j <= std::min(h - 1, y + 4); j++)
        for (int i = std::max(0, x - 4); i <= std::min(w - 1, x + 4); i++) {
          double p = luminance(image[j * w + i]), d = p - centre;
          double weight = exp(-((i - x) * (i - x) + (j - y) * (j - y)) / 12.5 - d * d / 1800.0);
          sum += weight * p;
          weights += weight;
        }
      worst = std::max(worst, std::fabs(sum / weights - smooth[y * w + x]));
    }
  printf("median: %d wrong pixels; bilateral: largest error %.2e\n", bad, worst);
  check(hipFree(d_in)); check(hipFree(d_out)); check(hipFree(d_smooth)); check(hipHostFree(image)); check(hipHostFree(filtered));
  puts(bad || worst > 2e-3 ? "FAIL" : "PASS");
  return bad || worst > 2e-3;
}
