#include "hip/hip_runtime.h"
/*
 * Bottom-up merge sort using merge path. hipified from CUDA.
 * Each block sorts a tile with odd-even merges in shared memory, then pairs of runs are merged;
 * every thread finds its diagonal with a binary search.
 */
#include <cstdio>
#include <cstdlib>
#include <algorithm>
#include <vector>
#include <string>

#define CUDA_CHECK(x) do { hipError_t res_ = (x); if (res_ != hipSuccess) { \
	fprintf(stderr, "CUDA error: %s\n", hipGetErrorString(res_)); abort(); } } while (0)
#define TILE 256
#define PER_THREAD 7

template<typename T, typename Less>
__device__ int merge_path(const T* a, int na, const T* b, int nb, int diag, Less less)
{
	int lo = max(0, diag - nb), hi = min(diag, na);
	while (lo < hi) {
		int mid = (lo + hi) / 2;
		if (!less(b[diag - 1 - mid], a[mid])) lo = mid + 1; else hi = mid;
	}
	return lo;
}

template<typename T, typename Less>
__device__ void serial_merge(const T* a, int na, const T* b, int nb, T* out, int diag, int count, Less less)
{
	int i = merge_path(a, na, b, nb, diag, less), j = diag - i;
	for (int k = 0; k < count; k++) {
		bool take_a = i < na && (j >= nb || !less(b[j], a[i]));
		out[k] = take_a ? a[i++] : b[j++];
	}
}

template<typename T, typename Less>
__global__ void block_sort(T* data, int n, Less less)
{
	__shared__ T s[2][TILE];
	int base = blockIdx.x * TILE, count = min(TILE, n - base), t = threadIdx.x;
	if (t < count) s[0][t] = data[base + t];
	__syncthreads();
	int from = 0;
	for (int width = 1; width < count; width *= 2) {
		if (t < count) {
			int start = t / (2 * width) * (2 * width);
			int na = min(width, count - start), nb = max(0, min(width, count - start - width));
			serial_merge(s[from] + start, na, s[from] + start + na, nb, s[1 - from] + t, t - start, 1, less);
		}
		from = 1 - from;
		__syncthreads();
	}
	if (t < count) data[base + t] = s[from][t];
}

template<typename T, typename Less>
__global__ void merge_pass(const T* in, T* out, int n, int width, Less less)
{
	int first = (blockIdx.x * blockDim.x + threadIdx.x) * PER_THREAD;
	if (first >= n) return;
	int done = 0, todo = min(PER_THREAD, n - first);
	while (done < todo) {     /* a thread's part may lie in two pairs of runs */
		int pos = first + done;
		int start = pos / (2 * width) * (2 * width);
		int na = min(width, n - start), nb = max(0, min(width, n - start - width));
		int count = min(todo - done, start + na + nb - pos);
		serial_merge(in + start, na, in + start + na, nb, out + pos, pos - start, count, less);
		done += count;
	}
}

template<typename T, typename Less>
void merge_sort(T* data, int n, Less less)
{
	T* other;
	CUDA_CHECK(hipMalloc(&other, n * sizeof(T)));
	hipLaunchKernelGGL(( block_sort<T, Less>), dim3((n + TILE - 1) / TILE), dim3(TILE), 0, 0, data, n, less);
	CUDA_CHECK(hipGetLastError());
	T *from = data, *to = other;
	for (int width = TILE; width < n; width *= 2) {
		int threads = (n + PER_THREAD - 1) / PER_THREAD;
		hipLaunchKernelGGL(( merge_pass<T, Less>), dim3((threads + 127) / 128), dim3(128), 0, 0, from, to, n, width, less);
		CUDA_CHECK(hipGetLastError());
		std::swap(from, to);
	}
	if (from != data) CUDA_CHECK(hipMemcpy(data, from, n * sizeof(T), hipMemcpyDeviceToDevice));
	CUDA_CHECK(hipFree(other));
}

struct Record { int key; float value; short tag; };
struct ByKeyDescending {
	__host__ __device__ bool operator()(const Record& a, const Record& b) const { return a.key > b.key; }
};
struct Ascending { template<typename T> __host__ __device__ bool operator()(T a, T b) const { return a < b; } };

int main(int argc, char** argv)
{
	int n = 30011;
	if (argc == 2 && std::string(argv[1]) == "--help") { printf("%s [n]\n", argv[0]); return 0; }
	if (argc > 1) n = std::stoi(argv[1]);
	std::vector<double> d(n);
	std::vector<Record> r(n);
	srand48(99);
	for (int i = 0; i < n; i++) {
		d[i] = drand48() * 2 - 1;
		r[i].key = (int)(lrand48() % 100);
		r[i].value = (float)i;
		r[i].tag = (short)(i & 0x7fff);
	}
	double* dd;
	Record* dr;
	CUDA_CHECK(hipMalloc((void**)&dd, n * sizeof(double)));
	CUDA_CHECK(hipMalloc((void**)&dr, n * sizeof(Record)));
	CUDA_CHECK(hipMemcpy(dd, d.data(), n * sizeof(double), hipMemcpyHostToDevice));
	CUDA_CHECK(hipMemcpy(dr, r.data(), n * sizeof(Record), hipMemcpyHostToDevice));
	merge_sort(dd, n, Ascending());
	merge_sort(dr, n, ByKeyDescending());
	std::vector<double> got_d(n);
	std::vector<Record> got_r(n);
	CUDA_CHECK(hipMemcpy(got_d.data(), dd, n * sizeof(double), hipMemcpyDeviceToHost));
	CUDA_CHECK(hipMemcpy(got_r.data(), dr, n * sizeof(Record), hipMemcpyDeviceToHost));
	std::sort(d.begin(), d.end());
	std::stable_sort(r.begin(), r.end(), ByKeyDescending());
	int bad = 0;
	for (int i = 0; i < n; i++) {
		if (d[i] != got_d[i]) bad++;
		if (r[i].key != got_r[i].key || r[i].value != got_r[i].value || r[i].tag != got_r[i].tag) bad++;
	}
	CUDA_CHECK(hipFree(dd));
	CUDA_CHECK(hipFree(dr));
	printf("%d elements: %s\n", n, bad ? "FAILED" : "PASSED");
	return bad != 0;
}
