/* Finds words by their MD5 sums: all words of up to four lower-case letters */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <math.h>
#include <hip/hip_runtime.h>

#define ERROR_CHECK(X) do { hipError_t ERR = X; if (ERR != hipSuccess) { \
	fprintf(stderr, "Error %s at line %d\n", hipGetErrorString(ERR), __LINE__); exit(1); } } while(0)

#define F(x, y, z) ((z) ^ ((x) & ((y) ^ (z))))
#define G(x, y, z) ((y) ^ ((z) & ((x) ^ (y))))
#define H(x, y, z) ((x) ^ (y) ^ (z))
#define I(x, y, z) ((y) ^ ((x) | ~(z)))
#define ROTL(x, n) (((x) << (n)) | ((x) >> (32 - (n))))

__constant__ uint32_t K[64];
__device__ const unsigned char shifts[16] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};

__device__ uint4 md5_short(const char *word, int length)
{
	uint32_t m[16];
	for (int i = 0; i < 16; i++) m[i] = 0;
	for (int i = 0; i < length; i++) m[i >> 2] |= (uint32_t)(unsigned char)word[i] << (8 * (i & 3));
	m[length >> 2] |= 0x80u << (8 * (length & 3));
	m[14] = 8 * length;
	uint32_t a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
	for (int i = 0; i < 64; i++) {
		uint32_t f; int g;
		if (i < 16)      { f = F(b, c, d); g = i; }
		else if (i < 32) { f = G(b, c, d); g = (5 * i + 1) & 15; }
		else if (i < 48) { f = H(b, c, d); g = (3 * i + 5) & 15; }
		else             { f = I(b, c, d); g = (7 * i) & 15; }
		uint32_t t = d;
		d = c; c = b;
		uint32_t x = a + f + K[i] + m[g];
		int s = shifts[(i >> 4) * 4 + (i & 3)];
		b = b + ROTL(x, s);
		a = t;
	}
	return make_uint4(a + 0x67452301, b + 0xefcdab89, c + 0x98badcfe, d + 0x10325476);
}

typedef struct { uint32_t count; struct { uint32_t target; char word[8]; } hits[64]; } hits_t;

__global__ void crack(const uint4 *targets, int n_targets, int length, uint32_t total, hits_t *hits)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= total) return;
	char word[8] = {0};
	uint32_t v = i;
	for (int k = length - 1; k >= 0; k--) { word[k] = 'a' + v % 26; v /= 26; }
	uint4 h = md5_short(word, length);
	for (int t = 0; t < n_targets; t++)
		if (h.x == targets[t].x && h.y == targets[t].y && h.z == targets[t].z && h.w == targets[t].w) {
			uint32_t slot = atomicInc(&hits->count, 63);
			hits->hits[slot].target = t;
			for (int k = 0; k < 8; k++) hits->hits[slot].word[k] = word[k];
		}
}

static int parse(const char *hex, uint4 *out)
{
	uint32_t w[4] = {0, 0, 0, 0};
	if (strlen(hex) != 32) return 0;
	for (int i = 0; i < 16; i++) {
		unsigned b;
		if (sscanf(hex + 2 * i, "%2x", &b) != 1) return 0;
		w[i / 4] |= b << (8 * (i % 4));
	}
	out->x = w[0]; out->y = w[1]; out->z = w[2]; out->w = w[3];
	return 1;
}

int main(int argc, char *argv[])
{
	/* md5 of "a" and "abc", from RFC 1321 */
	const char *sums[] = {"0cc175b9c0f1b6a831c399e269772661", "900150983cd24fb0d6963f7d28e17f72"};
	const char *words[] = {"a", "abc"};
	int n = 2, longest = argc > 1 ? atoi(argv[1]) : 3;
	if (longest < 1 || longest > 4) { fprintf(stderr, "length: 1 to 4\n"); return 2; }
	uint4 targets[2];
	uint32_t k[64];
	for (int i = 0; i < 64; i++) k[i] = (uint32_t)(long long)floor(fabs(sin(i + 1.0)) * 4294967296.0);
	for (int i = 0; i < n; i++) if (!parse(sums[i], &targets[i])) return 3;
	uint4 *d_targets;
	hits_t *d_hits, *hits = (hits_t *)calloc(1, sizeof(hits_t));
	ERROR_CHECK(hipMemcpyToSymbol(HIP_SYMBOL(K), k, sizeof k));
	ERROR_CHECK(hipMalloc((void **)&d_targets, sizeof targets));
	ERROR_CHECK(hipMalloc((void **)&d_hits, sizeof(hits_t)));
	ERROR_CHECK(hipMemcpy(d_targets, targets, sizeof targets, hipMemcpyHostToDevice));
	ERROR_CHECK(hipMemset(d_hits, 0, sizeof(hits_t)));
	uint32_t total = 1;
	for (int length = 1; length <= longest; length++) {
		total *= 26;
		hipLaunchKernelGGL(crack, dim3((total + 255) / 256), dim3(256), 0, 0, d_targets, n, length, total, d_hits);
		ERROR_CHECK(hipGetLastError());
	}
	ERROR_CHECK(hipDeviceSynchronize());
	ERROR_CHECK(hipMemcpy(hits, d_hits, sizeof(hits_t), hipMemcpyDeviceToHost));
	int found = 0;
	for (uint32_t i = 0; i < hits->count; i++) {
		printf("%s = %s\n", sums[hits->hits[i].target], hits->hits[i].word);
		if (!strcmp(hits->hits[i].word, words[hits->hits[i].target])) found++;
	}
	ERROR_CHECK(hipFree(d_targets));
	ERROR_CHECK(hipFree(d_hits));
	int want = longest >= 3 ? 2 : 1;
	printf("%d of %d found\n%s\n", found, want, found == want && hits->count == (uint32_t)want ? "PASS" : "FAIL");
	int good = found == want && hits->count == (uint32_t)want;
	free(hits);
	return !good;
}
