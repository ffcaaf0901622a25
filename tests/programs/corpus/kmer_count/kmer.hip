// Canonical k-mers of reads, counted in an open-addressing table in device memory (atomicCAS on 64-bit keys)
#include <hip/hip_runtime.h>
#include <cstdint>
#include <iostream>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#define hipErrorCheck(call)                                                                 \
do{                                                                                         \
    hipError_t hipErr = call;                                                               \
    if(hipSuccess != hipErr){                                                               \
        printf("HIP Error - %s:%d: '%s'\n", __FILE__, __LINE__, hipGetErrorString(hipErr)); \
        exit(0);                                                                            \
    }                                                                                       \
}while(0)

static constexpr uint64_t EMPTY = ~0ull;

__host__ __device__ inline int code(char c)
{
    switch (c) {
    case 'A': return 0;
    case 'C': return 1;
    case 'G': return 2;
    case 'T': return 3;
    default: return -1;
    }
}

__host__ __device__ inline uint64_t reverse_complement(uint64_t x, int k)
{
    uint64_t r = 0;
    for (int i = 0; i < k; i++) { r = (r << 2) | (3 - (x & 3)); x >>= 2; }
    return r;
}

__host__ __device__ inline uint64_t mix(uint64_t h)
{
    h ^= h >> 33; h *= 0xff51afd7ed558ccdULL; h ^= h >> 33; h *= 0xc4ceb9fe1a85ec53ULL; h ^= h >> 33;
    return h;
}

__global__ void count_kmers(const char *reads, int read_length, int n_reads, int k, unsigned long long *keys, unsigned *counts,
                            uint32_t mask, unsigned *probes, unsigned long long *skipped)
{
    const uint64_t kmask = k == 32 ? ~0ull : (1ull << (2 * k)) - 1;
    for (int r = blockIdx.x * blockDim.x + threadIdx.x; r < n_reads; r += gridDim.x * blockDim.x) {
        const char *s = reads + (size_t)r * read_length;
        uint64_t word = 0;
        int valid = 0;
        unsigned longest = 0;
        for (int i = 0; i < read_length; i++) {
            int c = code(s[i]);
            if (c < 0) { valid = 0; word = 0; atomicAdd(skipped, 1ull); continue; }
            word = ((word << 2) | c) & kmask;
            if (++valid < k) continue;
            uint64_t rc = reverse_complement(word, k), key = word < rc ? word : rc;
            uint32_t slot = mix(key) & mask;
            for (unsigned p = 0;; p++) {
                unsigned long long old = atomicCAS(&keys[slot], (unsigned long long)EMPTY, (unsigned long long)key);
                if (old == EMPTY || old == key) { atomicAdd(&counts[slot], 1u); longest = p > longest ? p : longest; break; }
                slot = (slot + 1) & mask;
            }
        }
        atomicMax(probes, longest);
    }
}

__global__ void spectrum(const unsigned long long *keys, const unsigned *counts, uint32_t size, unsigned *bins, int nbins)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size && keys[i] != EMPTY) atomicAdd(&bins[counts[i] < (unsigned)nbins ? counts[i] : nbins - 1], 1);
}

int main(int argc, char **argv)
{
    const int k = argc > 1 ? std::stoi(argv[1]) : 21, n_reads = argc > 2 ? std::stoi(argv[2]) : 400, length = 100;
    std::mt19937 rng(11);
    std::string genome(5000, 'A'), reads;
    for (auto &c : genome) c = "ACGT"[rng() & 3];
    for (int r = 0; r < n_reads; r++) {
        std::string read = genome.substr(rng() % (genome.size() - length), length);
        if (rng() & 1) {
            std::string rc(read.rbegin(), read.rend());
            for (auto &c : rc) c = "TGCA"[code(c)];
            read = rc;
        }
        if (rng() % 3 == 0) read[rng() % length] = "ACGT"[rng() & 3];
        if (rng() % 10 == 0) read[rng() % length] = 'N';
        reads += read;
    }
    std::unordered_map<uint64_t, unsigned> expected;
    for (int r = 0; r < n_reads; r++)
        for (int i = 0; i + k <= length; i++) {
            uint64_t w = 0;
            bool good = true;
            for (int j = 0; j < k; j++) { int c = code(reads[r * length + i + j]); if (c < 0) good = false; w = w << 2 | (c & 3); }
            if (good) expected[std::min(w, reverse_complement(w, k))]++;
        }
    uint32_t size = 1;
    while (size < 2 * expected.size()) size *= 2;
    char *d_reads;
    unsigned long long *d_keys, *d_skipped;
    unsigned *d_counts, *d_probes, *d_bins;
    const int nbins = 32;
    hipErrorCheck( hipMalloc(&d_reads, reads.size()) );
    hipErrorCheck( hipMalloc(&d_keys, size * sizeof(uint64_t)) );
    hipErrorCheck( hipMalloc(&d_counts, size * sizeof(unsigned)) );
    hipErrorCheck( hipMalloc(&d_probes, sizeof(unsigned)) );
    hipErrorCheck( hipMalloc(&d_bins, nbins * sizeof(unsigned)) );
    hipErrorCheck( hipMalloc(&d_skipped, sizeof(uint64_t)) );
    hipErrorCheck( hipMemcpy(d_reads, reads.data(), reads.size(), hipMemcpyHostToDevice) );
    hipErrorCheck( hipMemset(d_keys, 0xff, size * sizeof(uint64_t)) );
    hipErrorCheck( hipMemset(d_counts, 0, size * sizeof(unsigned)) );
    hipErrorCheck( hipMemset(d_probes, 0, sizeof(unsigned)) );
    hipErrorCheck( hipMemset(d_bins, 0, nbins * sizeof(unsigned)) );
    hipErrorCheck( hipMemset(d_skipped, 0, sizeof(uint64_t)) );
    count_kmers<<<8, 64>>>(d_reads, length, n_reads, k, d_keys, d_counts, size - 1, d_probes, d_skipped);
    hipErrorCheck( hipGetLastError() );
    spectrum<<<(size + 255) / 256, 256>>>(d_keys, d_counts, size, d_bins, nbins);
    hipErrorCheck( hipGetLastError() );
    std::vector<unsigned long long> keys(size);
    std::vector<unsigned> counts(size), bins(nbins), want(nbins);
    unsigned probes;
    unsigned long long skipped;
    hipErrorCheck( hipMemcpy(keys.data(), d_keys, size * sizeof(uint64_t), hipMemcpyDeviceToHost) );
    hipErrorCheck( hipMemcpy(counts.data(), d_counts, size * sizeof(unsigned), hipMemcpyDeviceToHost) );
    hipErrorCheck( hipMemcpy(bins.data(), d_bins, nbins * sizeof(unsigned), hipMemcpyDeviceToHost) );
    hipErrorCheck( hipMemcpy(&probes, d_probes, sizeof(unsigned), hipMemcpyDeviceToHost) );
    hipErrorCheck( hipMemcpy(&skipped, d_skipped, sizeof(uint64_t), hipMemcpyDeviceToHost) );
    size_t distinct = 0, errors = 0;
    for (uint32_t i = 0; i < size; i++) {
        if (keys[i] == EMPTY) continue;
        distinct++;
        auto it = expected.find(keys[i]);
        if (it == expected.end() || it->second != counts[i]) errors++;
    }
    for (auto &e : expected) want[std::min(e.second, nbins - 1u)]++;
    if (distinct != expected.size() || bins != want) errors++;
    size_t n_count = std::count(reads.begin(), reads.end(), 'N');
    if (skipped != n_count) errors++;
    std::cout << distinct << " distinct " << k << "-mers (" << expected.size() << " expected), " << skipped << " unknown bases, longest probe "
              << probes << ", " << errors << " errors\n";
    hipErrorCheck( hipFree(d_reads) ); hipErrorCheck( hipFree(d_keys) ); hipErrorCheck( hipFree(d_counts) );
    hipErrorCheck( hipFree(d_probes) ); hipErrorCheck( hipFree(d_bins) ); hipErrorCheck( hipFree(d_skipped) );
    std::cout << (errors ? "FAILED" : "__SUCCESS__ PASSED") << std::endl;
    return errors ? EXIT_FAILURE : EXIT_SUCCESS;
}
