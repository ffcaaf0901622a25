// Connected component labelling of a binary image (4- or 8-connected): union-find with atomicMin, then flattening
// and component statistics.
#include <hip/hip_runtime.h>
#include <algorithm>
#include <iostream>
#include <map>
#include <numeric>
#include <vector>
using std::cout; using std::endl; using std::vector;

#define HIP(f) do { auto status = hip##f; if (status != hipSuccess) { cout << "hip" #f << ": " << hipGetErrorString(status) << endl; std::exit(1); } } while (0)

__device__ int find(const int* parent, int i) {
  int p = __atomic_load_n(parent + i, __ATOMIC_RELAXED);
  while (p != i) {
    i = p;
    p = __atomic_load_n(parent + i, __ATOMIC_RELAXED);
  }
  return i;
}

__device__ void unite(int* parent, int a, int b) {
  bool done;
  do {
    a = find(parent, a);
    b = find(parent, b);
    if (a < b) {
      int old = atomicMin(&parent[b], a);
      done = old == b;
      b = old;
    } else if (b < a) {
      int old = atomicMin(&parent[a], b);
      done = old == a;
      a = old;
    } else {
      done = true;
    }
  } while (!done);
}

__global__ void init(const unsigned char* img, int* parent, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) parent[i] = img[i] ? i : -1;
}

template <int Connectivity>
__global__ void merge(const unsigned char* img, int* parent, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h || !img[y * w + x]) return;
  int i = y * w + x;
  if (x > 0 && img[i - 1]) unite(parent, i, i - 1);
  if (y > 0 && img[i - w]) unite(parent, i, i - w);
  if (Connectivity == 8) {
    if (x > 0 && y > 0 && img[i - w - 1]) unite(parent, i, i - w - 1);
    if (x + 1 < w && y > 0 && img[i - w + 1]) unite(parent, i, i - w + 1);
  }
}

struct Stat { int area, x0, y0, x1, y1; };

__global__ void flatten(int* parent, int* labels, Stat* stats, int* components, int w, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (parent[i] < 0) { labels[i] = -1; return; }
  int root = find(parent, i);
  labels[i] = root;
  if (root == i) atomicAdd(components, 1);
  atomicAdd(&stats[root].area, 1);
  atomicMin(&stats[root].x0, i % w);
  atomicMin(&stats[root].y0, i / w);
  atomicMax(&stats[root].x1, i % w);
  atomicMax(&stats[root].y1, i / w);
}

template <int Connectivity> bool run(const vector<unsigned char>& img, int w, int h) {
  const int n = w * h;
  unsigned char* d_img; int *parent, *labels, *components; Stat* stats;
  HIP(Malloc(&d_img, n));
  HIP(Malloc(&parent, n * sizeof(int)));
  HIP(Malloc(&labels, n * sizeof(int)));
  HIP(Malloc(&components, sizeof(int)));
  HIP(Malloc(&stats, n * sizeof(Stat)));
  vector<Stat> s(n, Stat{0, w, h, -1, -1});
  HIP(Memcpy(d_img, img.data(), n, hipMemcpyHostToDevice));
  HIP(Memcpy(stats, s.data(), n * sizeof(Stat), hipMemcpyHostToDevice));
  HIP(Memset(components, 0, sizeof(int)));
  const dim3 block(32, 4), grid((w + 31) / 32, (h + 3) / 4);
  init<<<(n + 255) / 256, 256>>>(d_img, parent, n);
  merge<Connectivity><<<grid, block>>>(d_img, parent, w, h);
  flatten<<<(n + 255) / 256, 256>>>(parent, labels, stats, components, w, n);
  HIP(GetLastError());
  vector<int> got(n);
  int count;
  HIP(Memcpy(got.data(), labels, n * sizeof(int), hipMemcpyDeviceToHost));
  HIP(Memcpy(s.data(), stats, n * sizeof(Stat), hipMemcpyDeviceToHost));
  HIP(Memcpy(&count, components, sizeof(int), hipMemcpyDeviceToHost));
  for (void* p : {(void*)d_img, (void*)parent, (void*)labels, (void*)components, (void*)stats}) HIP(Free(p));
  // flood fill; a component's label is its first pixel
  vector<int> want(n, -1), stack;
  int expected = 0, errors = 0, largest = 0;
  for (int i = 0; i < n; ++i) {
    if (!img[i] || want[i] >= 0) continue;
    Stat t{0, w, h, -1, -1};
    ++expected;
    stack.assign(1, i);
    want[i] = i;
    while (!stack.empty()) {
      int p = stack.back(), x = p % w, y = p / w;
      stack.pop_back();
      ++t.area;
      t.x0 = std::min(t.x0, x); t.y0 = std::min(t.y0, y); t.x1 = std::max(t.x1, x); t.y1 = std::max(t.y1, y);
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
          if (Connectivity == 4 && dx && dy) continue;
          int xx = x + dx, yy = y + dy;
          if (xx < 0 || yy < 0 || xx >= w || yy >= h) continue;
          int q = yy * w + xx;
          if (img[q] && want[q] < 0) { want[q] = i; stack.push_back(q); }
        }
    }
    largest = std::max(largest, t.area);
    if (t.area != s[i].area || t.x0 != s[i].x0 || t.y0 != s[i].y0 || t.x1 != s[i].x1 || t.y1 != s[i].y1) ++errors;
  }
  for (int i = 0; i < n; ++i) errors += got[i] != want[i];
  cout << Connectivity << "-connected: " << count << " components (" << expected << "), largest " << largest << ", " << errors << " errors" << endl;
  return errors == 0 && count == expected;
}

int main(int argc, char** argv) {
  const int w = argc > 1 ? std::stoi(argv[1]) : 150, h = argc > 2 ? std::stoi(argv[2]) : 90;
  vector<unsigned char> img(w * h);
  unsigned s = 21;
  for (int i = 0; i < w * h; ++i) {
    s ^= s << 13; s ^= s >> 17; s ^= s << 5;
    img[i] = s % 100 < 52;
  }
  for (int x = 0; x < w; ++x) if (x % 11 < 9) img[(h / 2 + (x / 11) % 3) * w + x] = 1;   // a winding line
  bool good = run<4>(img, w, h);
  good = run<8>(img, w, h) && good;
  cout << (good ? "PASS" : "FAIL") << endl;
  return good ? 0 : 1;
}
