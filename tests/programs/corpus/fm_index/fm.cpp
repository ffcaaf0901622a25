/* Exact matching of short reads with an FM-index: backward search on the GPU; BWT and occurrence table built on the host. */
#include <hip/hip_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#define OCC_STEP 32

#if defined(__HIP_PLATFORM_AMD__) || defined(__HIP_PLATFORM_HCC__)
#define POPC64(x) __popcll(x)
#elif defined(__HIP_PLATFORM_NVIDIA__)
#define POPC64(x) __popcll(x)
#else
#error unknown platform
#endif

#define CHK(call) if (hipError_t e_ = (call); e_ != hipSuccess) { printf("%s:%d %s\n", __FILE__, __LINE__, hipGetErrorString(e_)); exit(2); }

struct __align__(16) Block {      /* occurrences before the block, and 32 symbols of 2 bits in two planes */
	uint32_t occ[4];
	uint32_t lo, hi, end, pad;    /* end: bit of the sentinel */
};

struct Index {
	const Block *blocks;
	uint32_t first[5];            /* where the suffixes that begin with each base start */
	uint32_t n;
};

__device__ static inline uint32_t rank(const Index &ix, int base, uint32_t pos)
{
	const Block b = ix.blocks[pos / OCC_STEP];
	uint32_t low = (base & 1) ? b.lo : ~b.lo, high = (base & 2) ? b.hi : ~b.hi;
	uint64_t m = (uint64_t)(low & high & ~b.end) & ((1ull << (pos % OCC_STEP)) - 1);
	return b.occ[base] + POPC64(m);
}

__global__ void search(Index ix, const uint8_t *patterns, const int *lengths, int stride, int n, uint2 *ranges)
{
	int t = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x;
	if (t >= n)
		return;
	uint32_t lo = 0, hi = ix.n;
	for (int i = lengths[t] - 1; i >= 0 && lo < hi; i--) {
		int c = patterns[(size_t)i * stride + t];      /* transposed: neighbours are in neighbouring bytes */
		lo = ix.first[c] + rank(ix, c, lo);
		hi = ix.first[c] + rank(ix, c, hi);
	}
	ranges[t] = make_uint2(lo, hi);
}

int main(int argc, char **argv)
{
	int text_length = argc > 1 ? atoi(argv[1]) : 4000, n = argc > 2 ? atoi(argv[2]) : 500;
	std::string text;
	uint32_t x = 1;
	for (int i = 0; i < text_length; i++) {
		x = x * 1664525u + 1013904223u;
		text += "ACGT"[(x >> 24) & ((i / 300) % 2 ? 1 : 3)];   /* parts with two letters: many occurrences */
	}
	/* suffix array of text$ */
	std::vector<int> sa(text_length + 1);
	std::iota(sa.begin(), sa.end(), 0);
	std::sort(sa.begin(), sa.end(), [&](int a, int b) { return strcmp(text.c_str() + a, text.c_str() + b) < 0; });
	std::vector<Block> blocks((text_length + 1) / OCC_STEP + 1);
	auto code = [](char c) { return c == 'A' ? 0 : c == 'C' ? 1 : c == 'G' ? 2 : 3; };
	uint32_t occ[4] = {0, 0, 0, 0};
	for (int i = 0; i <= text_length; i++) {
		Block &b = blocks[i / OCC_STEP];
		if (i % OCC_STEP == 0) {
			memset(&b, 0, sizeof b);
			memcpy(b.occ, occ, sizeof occ);
		}
		if (sa[i] == 0) { b.end |= 1u << (i % OCC_STEP); continue; }
		int c = code(text[sa[i] - 1]);
		b.lo |= (uint32_t)(c & 1) << (i % OCC_STEP);
		b.hi |= (uint32_t)(c >> 1) << (i % OCC_STEP);
		occ[c]++;
	}
	if ((text_length + 1) % OCC_STEP == 0) { memset(&blocks.back(), 0, sizeof(Block)); memcpy(blocks.back().occ, occ, sizeof occ); }
	Index ix;
	ix.n = text_length + 1;
	ix.first[0] = 1;
	for (int c = 0; c < 4; c++) ix.first[c + 1] = ix.first[c] + occ[c];

	const int longest = 24;
	std::vector<std::string> patterns(n);
	std::vector<uint8_t> flat((size_t)longest * n);
	std::vector<int> lengths(n);
	for (int t = 0; t < n; t++) {
		x = x * 1664525u + 1013904223u;
		int len = 4 + (x >> 20) % (longest - 3), at = (x >> 8) % (text_length - longest);
		patterns[t] = text.substr(at, len);
		if (t % 4 == 0) patterns[t][len / 2] = "CGTA"[code(patterns[t][len / 2])];
		lengths[t] = len;
		for (int i = 0; i < len; i++) flat[(size_t)i * n + t] = code(patterns[t][i]);
	}
	Block *d_blocks; uint8_t *d_p; int *d_len; uint2 *d_r;
	CHK(hipMalloc((void **)&d_blocks, blocks.size() * sizeof(Block)));
	CHK(hipMalloc((void **)&d_p, flat.size()));
	CHK(hipMalloc((void **)&d_len, n * sizeof(int)));
	CHK(hipMalloc((void **)&d_r, n * sizeof(uint2)));
	CHK(hipMemcpy(d_blocks, &blocks[0], blocks.size() * sizeof(Block), hipMemcpyHostToDevice));
	CHK(hipMemcpy(d_p, &flat[0], flat.size(), hipMemcpyHostToDevice));
	CHK(hipMemcpy(d_len, &lengths[0], n * sizeof(int), hipMemcpyHostToDevice));
	ix.blocks = d_blocks;
	hipLaunchKernelGGL(search, dim3((n + 63) / 64), dim3(64), 0, 0, ix, d_p, d_len, n, n, d_r);
	CHK(hipGetLastError());
	std::vector<uint2> r(n);
	CHK(hipMemcpy(&r[0], d_r, n * sizeof(uint2), hipMemcpyDeviceToHost));
	int wrong = 0;
	long found = 0;
	for (int t = 0; t < n; t++) {
		std::vector<int> want, got;
		for (size_t p = text.find(patterns[t]); p != std::string::npos; p = text.find(patterns[t], p + 1)) want.push_back(p);
		for (uint32_t i = r[t].x; i < r[t].y; i++) got.push_back(sa[i]);
		std::sort(got.begin(), got.end());
		found += got.size();
		wrong += want != got;
	}
	printf("%d patterns in %d bases: %ld occurrences, %d wrong\n", n, text_length, found, wrong);
	hipFree(d_blocks); hipFree(d_p); hipFree(d_len); hipFree(d_r);
	if (wrong) return printf("FAILED\n"), 1;
	return printf("PASSED\n"), 0;
}
