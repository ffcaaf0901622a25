// Smith-Waterman with affine gaps: many pairs at once, one wavefront (block) per pair, anti-diagonals
#include <hip/hip_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#define MATCH 3
#define MISMATCH -2
#define GAP_OPEN 5
#define GAP_EXTEND 1
#define MAX_LEN 160

static void hip_check(hipError_t err, const char *what)
{
	if (err != hipSuccess) {
		fprintf(stderr, "%s: %s (%s)\n", what, hipGetErrorName(err), hipGetErrorString(err));
		exit(1);
	}
}

struct Result { int score, end_a, end_b; };

__global__ void align(const char *a, const int *a_off, const char *b, const int *b_off, Result *results)
{
	__shared__ short H[3][MAX_LEN + 1], E[2][MAX_LEN + 1], F[2][MAX_LEN + 1];
	__shared__ char sb[MAX_LEN];
	__shared__ int best[1];
	const char *pa = a + a_off[blockIdx.x], *pb = b + b_off[blockIdx.x];
	const int la = a_off[blockIdx.x + 1] - a_off[blockIdx.x], lb = b_off[blockIdx.x + 1] - b_off[blockIdx.x];
	for (int j = threadIdx.x; j <= MAX_LEN; j += blockDim.x) {
		H[0][j] = H[1][j] = H[2][j] = 0;
		E[0][j] = E[1][j] = F[0][j] = F[1][j] = -10000;
		if (j < lb) sb[j] = pb[j];
	}
	if (threadIdx.x == 0) best[0] = 0;
	__syncthreads();
	int my_best = 0;
	/* diagonal d holds the cells (i, j), i + j = d, i from 1 to la, j from 1 to lb; indexed by j */
	for (int d = 2; d <= la + lb; d++) {
		short *h = H[d % 3], *h1 = H[(d + 2) % 3], *h2 = H[(d + 1) % 3];
		short *e = E[d % 2], *e1 = E[(d + 1) % 2], *f = F[d % 2], *f1 = F[(d + 1) % 2];
		for (int j = max(1, d - la) + (int)threadIdx.x; j <= min(lb, d - 1); j += blockDim.x) {
			int i = d - j;
			int left = j > 1 ? h1[j - 1] : 0, up = i > 1 ? h1[j] : 0, diagonal = (i > 1 && j > 1) ? h2[j - 1] : 0;
			int ee = max(left - GAP_OPEN, j > 1 ? e1[j - 1] - GAP_EXTEND : -10000);
			int ff = max(up - GAP_OPEN, i > 1 ? f1[j] - GAP_EXTEND : -10000);
			int s = diagonal + (pa[i - 1] == sb[j - 1] ? MATCH : MISMATCH);
			int v = max(max(0, s), max(ee, ff));
			h[j] = v; e[j] = ee; f[j] = ff;
			/* score, then smallest i, then smallest j, in one number */
			int packed = (v << 16) | ((255 - i) << 8) | (255 - j);
			my_best = max(my_best, packed);
		}
		__syncthreads();
	}
	atomicMax(best, my_best);
	__syncthreads();
	if (threadIdx.x == 0) {
		Result r;
		r.score = best[0] >> 16;
		r.end_a = r.score ? 255 - ((best[0] >> 8) & 255) : 0;
		r.end_b = r.score ? 255 - (best[0] & 255) : 0;
		results[blockIdx.x] = r;
	}
}

static Result reference(const std::string &a, const std::string &b)
{
	int la = a.size(), lb = b.size();
	std::vector<std::vector<int>> H(la + 1, std::vector<int>(lb + 1, 0)), E(la + 1, std::vector<int>(lb + 1, -10000)), F = E;
	Result r = {0, 0, 0};
	for (int i = 1; i <= la; i++)
		for (int j = 1; j <= lb; j++) {
			E[i][j] = std::max(H[i][j - 1] - GAP_OPEN, E[i][j - 1] - GAP_EXTEND);
			F[i][j] = std::max(H[i - 1][j] - GAP_OPEN, F[i - 1][j] - GAP_EXTEND);
			int s = H[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? MATCH : MISMATCH);
			H[i][j] = std::max(std::max(0, s), std::max(E[i][j], F[i][j]));
			if (H[i][j] > r.score) { r.score = H[i][j]; r.end_a = i; r.end_b = j; }
		}
	return r;
}

int main(int argc, char *argv[])
{
	int pairs = argc > 1 ? atoi(argv[1]) : 60;
	srand(3);
	std::vector<std::string> as, bs;
	std::string flat_a, flat_b;
	std::vector<int> off_a(1, 0), off_b(1, 0);
	for (int p = 0; p < pairs; p++) {
		std::string a, b;
		int la = 20 + rand() % (MAX_LEN - 20);
		for (int i = 0; i < la; i++) a += "ACGT"[rand() % 4];
		/* b: a part of a with mutations, insertions and deletions */
		for (int i = rand() % 10; i < la; i++) {
			int r = rand() % 20;
			if (r == 0) b += "ACGT"[rand() % 4];
			else if (r == 1) continue;
			else if (r == 2) { b += a[i]; b += "ACGT"[rand() % 4]; }
			else b += a[i];
		}
		if ((int)b.size() > MAX_LEN) b.resize(MAX_LEN);
		as.push_back(a); bs.push_back(b);
		flat_a += a; flat_b += b;
		off_a.push_back(flat_a.size()); off_b.push_back(flat_b.size());
	}
	char *d_a, *d_b;
	int *d_off_a, *d_off_b;
	Result *d_r;
	hip_check(hipMalloc(&d_a, flat_a.size()), "hipMalloc a");
	hip_check(hipMalloc(&d_b, flat_b.size()), "hipMalloc b");
	hip_check(hipMalloc(&d_off_a, off_a.size() * sizeof(int)), "hipMalloc offsets");
	hip_check(hipMalloc(&d_off_b, off_b.size() * sizeof(int)), "hipMalloc offsets");
	hip_check(hipMalloc(&d_r, pairs * sizeof(Result)), "hipMalloc results");
	hip_check(hipMemcpy(d_a, flat_a.c_str(), flat_a.size(), hipMemcpyHostToDevice), "copy");
	hip_check(hipMemcpy(d_b, flat_b.c_str(), flat_b.size(), hipMemcpyHostToDevice), "copy");
	hip_check(hipMemcpy(d_off_a, off_a.data(), off_a.size() * sizeof(int), hipMemcpyHostToDevice), "copy");
	hip_check(hipMemcpy(d_off_b, off_b.data(), off_b.size() * sizeof(int), hipMemcpyHostToDevice), "copy");
	align<<<pairs, 64>>>(d_a, d_off_a, d_b, d_off_b, d_r);
	hip_check(hipGetLastError(), "launch");
	std::vector<Result> r(pairs);
	hip_check(hipMemcpy(r.data(), d_r, pairs * sizeof(Result), hipMemcpyDeviceToHost), "copy back");
	int wrong = 0;
	long total = 0;
	for (int p = 0; p < pairs; p++) {
		Result want = reference(as[p], bs[p]);
		total += r[p].score;
		if (want.score != r[p].score || want.end_a != r[p].end_a || want.end_b != r[p].end_b) {
			if (wrong++ < 3)
				printf("pair %d: %d at %d,%d; should be %d at %d,%d\n", p, r[p].score, r[p].end_a, r[p].end_b, want.score, want.end_a, want.end_b);
		}
	}
	printf("%d pairs, sum of scores %ld, %d wrong\n", pairs, total, wrong);
	hip_check(hipFree(d_a), "free"); hip_check(hipFree(d_b), "free"); hip_check(hipFree(d_off_a), "free");
	hip_check(hipFree(d_off_b), "free"); hip_check(hipFree(d_r), "free");
	puts(wrong ? "FAILED" : "PASSED");
	return wrong ? 1 : 0;
}
