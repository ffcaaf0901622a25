// SHA-256 of many messages, one per thread, and a small proof-of-work search
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>
#include "sha256.cu.h"

#define gpuErrchk(ans) { gpuAssert((ans), __FILE__, __LINE__); }
inline void gpuAssert(hipError_t code, const char *file, int line)
{
	if (code != hipSuccess) {
		fprintf(stderr, "GPUassert: %s %s %d\n", hipGetErrorString(code), file, line);
		exit(code);
	}
}

__global__ void hash_all(const BYTE *text, const unsigned *offsets, BYTE *digests, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n) return;
	SHA256_CTX ctx;
	sha256_init(&ctx);
	sha256_update(&ctx, text + offsets[i], offsets[i + 1] - offsets[i]);
	sha256_final(&ctx, digests + 32 * i);
}

__device__ bool checkZeroPadding(const unsigned char *sha, int difficulty)
{
	for (int i = 0; i < difficulty; i++) {
		BYTE nibble = i % 2 == 0 ? sha[i / 2] >> 4 : sha[i / 2] & 15;
		if (nibble) return false;
	}
	return true;
}

__global__ void mine(const char *prefix, int length, unsigned long long base, int difficulty, unsigned long long *found)
{
	unsigned long long nonce = base + blockIdx.x * blockDim.x + threadIdx.x;
	char digits[20];
	int n = 0;
	unsigned long long v = nonce;
	do { digits[n++] = '0' + v % 10; v /= 10; } while (v);
	BYTE text[64], hash[32];
	for (int i = 0; i < length; i++) text[i] = prefix[i];
	for (int i = 0; i < n; i++) text[length + i] = digits[n - 1 - i];
	SHA256_CTX ctx;
	sha256_init(&ctx);
	sha256_update(&ctx, text, length + n);
	sha256_final(&ctx, hash);
	if (checkZeroPadding(hash, difficulty)) atomicMin(found, nonce);
}

/* the host's own, written differently */
static void host_sha256(const std::string &s, unsigned char out[32])
{
	uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
	std::string m = s;
	m += (char)0x80;
	while (m.size() % 64 != 56) m += (char)0;
	for (int i = 7; i >= 0; i--) m += (char)(((uint64_t)s.size() * 8) >> (8 * i));
	auto rot = [](uint32_t x, int n) { return x >> n | x << (32 - n); };
	for (size_t b = 0; b < m.size(); b += 64) {
		uint32_t w[64], v[8];
		for (int i = 0; i < 16; i++) {
			w[i] = 0;
			for (int k = 0; k < 4; k++) w[i] = w[i] << 8 | (unsigned char)m[b + 4 * i + k];
		}
		for (int i = 16; i < 64; i++)
			w[i] = w[i - 16] + (rot(w[i - 15], 7) ^ rot(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] + (rot(w[i - 2], 17) ^ rot(w[i - 2], 19) ^ w[i - 2] >> 10);
		memcpy(v, h, sizeof v);
		for (int i = 0; i < 64; i++) {
			uint32_t t = v[7] + (rot(v[4], 6) ^ rot(v[4], 11) ^ rot(v[4], 25)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) + host_k[i] + w[i];
			uint32_t u = (rot(v[0], 2) ^ rot(v[0], 13) ^ rot(v[0], 22)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
			memmove(v + 1, v, 7 * sizeof *v);
			v[4] += t;
			v[0] = t + u;
		}
		for (int i = 0; i < 8; i++) h[i] += v[i];
	}
	for (int i = 0; i < 32; i++) out[i] = h[i / 4] >> (24 - i % 4 * 8);
}

static std::string hex(const unsigned char *h)
{
	std::string s;
	char t[3];
	for (int i = 0; i < 32; i++) { sprintf(t, "%02x", h[i]); s += t; }
	return s;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 300, difficulty = argc > 2 ? atoi(argv[2]) : 3;
	gpuErrchk(hipMemcpyToSymbol(dev_k, host_k, sizeof(host_k), 0, hipMemcpyHostToDevice));
	std::vector<std::string> messages = {"", "abc", "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"};
	const char *known[] = {"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
	                       "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
	                       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"};
	for (int i = 3; i < n; i++) {
		std::string m;
		for (int k = 0; k < i % 150; k++) m += (char)(i * 31 + k * 7);
		messages.push_back(m);
	}
	n = messages.size();
	std::string flat;
	std::vector<unsigned> offsets(1, 0);
	for (auto &m : messages) { flat += m; offsets.push_back(flat.size()); }
	BYTE *d_text, *d_digests;
	unsigned *d_offsets;
	gpuErrchk(hipMalloc(&d_text, flat.size()));
	gpuErrchk(hipMalloc(&d_digests, 32 * n));
	gpuErrchk(hipMalloc(&d_offsets, offsets.size() * sizeof(unsigned)));
	gpuErrchk(hipMemcpy(d_text, flat.data(), flat.size(), hipMemcpyHostToDevice));
	gpuErrchk(hipMemcpy(d_offsets, offsets.data(), offsets.size() * sizeof(unsigned), hipMemcpyHostToDevice));
	hash_all<<<(n + 63) / 64, 64>>>(d_text, d_offsets, d_digests, n);
	gpuErrchk(hipPeekAtLastError());
	std::vector<BYTE> digests(32 * n);
	gpuErrchk(hipMemcpy(digests.data(), d_digests, 32 * n, hipMemcpyDeviceToHost));
	int errors = 0;
	for (int i = 0; i < n; i++) {
		unsigned char want[32];
		host_sha256(messages[i], want);
		if (memcmp(want, &digests[32 * i], 32) || (i < 3 && hex(want) != known[i])) errors++;
	}
	printf("%d digests, %d wrong; of \"abc\": %s\n", n, errors, hex(&digests[32]).c_str());

	const std::string prefix = "block 42:";
	char *d_prefix;
	unsigned long long *d_found, found = ~0ull, base = 0, want_nonce = 0;
	gpuErrchk(hipMalloc(&d_prefix, prefix.size()));
	gpuErrchk(hipMalloc(&d_found, sizeof(found)));
	gpuErrchk(hipMemcpy(d_prefix, prefix.data(), prefix.size(), hipMemcpyHostToDevice));
	gpuErrchk(hipMemcpy(d_found, &found, sizeof(found), hipMemcpyHostToDevice));
	while (found == ~0ull) {
		mine<<<16, 128>>>(d_prefix, prefix.size(), base, difficulty, d_found);
		gpuErrchk(hipGetLastError());
		gpuErrchk(hipDeviceSynchronize());
		gpuErrchk(hipMemcpy(&found, d_found, sizeof(found), hipMemcpyDeviceToHost));
		base += 16 * 128;
	}
	unsigned char h[32];
	while (host_sha256(prefix + std::to_string(want_nonce), h), hex(h).compare(0, difficulty, std::string(difficulty, '0')) != 0) want_nonce++;
	printf("nonce %llu (host: %llu): %s\n", found, want_nonce, hex(h).c_str());
	gpuErrchk(hipFree(d_text)); gpuErrchk(hipFree(d_digests)); gpuErrchk(hipFree(d_offsets));
	gpuErrchk(hipFree(d_prefix)); gpuErrchk(hipFree(d_found));
	errors += found != want_nonce;
	puts(errors ? "FAILED" : "PASSED");
	return errors ? 1 : 0;
}
