// LSD radix sort, 4 bits per pass: block histograms, exclusive scan over the transposed table, stable scatter.
#include <hip/hip_runtime.h>
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#define HIP_CHECK(condition)                                                                            \
    {                                                                                                   \
        const hipError_t error = condition;                                                             \
        if(error != hipSuccess)                                                                         \
        {                                                                                               \
            std::cerr << "An error encountered: \"" << hipGetErrorString(error) << "\" at " << __FILE__ \
                      << ':' << __LINE__ << std::endl;                                                  \
            std::exit(-1);                                                                              \
        }                                                                                               \
    }

constexpr unsigned int bits = 4, buckets = 1u << bits, block_size = 256;

template<class Key>
struct encoding
{
    using type = typename std::make_unsigned<Key>::type;
    __host__ __device__ static type encode(Key k)
    {
        type u = static_cast<type>(k);
        if(std::is_signed<Key>::value) u ^= type(1) << (8 * sizeof(type) - 1);
        return u;
    }
};

template<>
struct encoding<float>
{
    using type = std::uint32_t;
    __host__ __device__ static type encode(float f)
    {
        type u;
        memcpy(&u, &f, sizeof(u));
        return u & 0x80000000u ? ~u : u | 0x80000000u;
    }
};

template<class Key>
__global__ __launch_bounds__(block_size) void histogram(const Key* keys, unsigned int* table, unsigned int n, unsigned int shift)
{
    __shared__ unsigned int counts[buckets];
    if(threadIdx.x < buckets) counts[threadIdx.x] = 0;
    __syncthreads();
    const unsigned int i = blockIdx.x * block_size + threadIdx.x;
    if(i < n) atomicAdd(&counts[(encoding<Key>::encode(keys[i]) >> shift) & (buckets - 1)], 1u);
    __syncthreads();
    if(threadIdx.x < buckets) table[threadIdx.x * gridDim.x + blockIdx.x] = counts[threadIdx.x];
}

__global__ __launch_bounds__(block_size) void scan_table(unsigned int* table, unsigned int n)
{
    __shared__ unsigned int sums[2][block_size];
    unsigned int carry = 0;
    for(unsigned int base = 0; base < n; base += block_size)
    {
        const unsigned int i = base + threadIdx.x;
        const unsigned int mine = i < n ? table[i] : 0;
        int which = 0;
        sums[0][threadIdx.x] = mine;
        __syncthreads();
        for(unsigned int d = 1; d < block_size; d *= 2)
        {
            sums[!which][threadIdx.x] = sums[which][threadIdx.x] + (threadIdx.x >= d ? sums[which][threadIdx.x - d] : 0);
            which = !which;
            __syncthreads();
        }
        if(i < n) table[i] = carry + sums[which][threadIdx.x] - mine;
        carry += sums[which][block_size - 1];
        __syncthreads();
    }
}

template<class Key, class Value>
__global__ __launch_bounds__(block_size) void scatter(const Key* keys_in, Key* keys_out, const Value* values_in, Value* values_out,
                                                      const unsigned int* table, unsigned int n, unsigned int shift)
{
    __shared__ unsigned int wave_counts[buckets][block_size / 32];
    const unsigned int i = blockIdx.x * block_size + threadIdx.x;
    const unsigned int lane = __lane_id(), wave = threadIdx.x / warpSize, waves = block_size / warpSize;
    const bool valid = i < n;
    Key key{};
    if(valid) key = keys_in[i];
    const unsigned int digit = valid ? (encoding<Key>::encode(key) >> shift) & (buckets - 1) : buckets;
    // lanes of my wave with my digit
    std::uint64_t peers = __ballot(valid);
    for(unsigned int b = 0; b < bits; ++b)
    {
        const std::uint64_t vote = __ballot((digit >> b) & 1);
        peers &= (digit >> b) & 1 ? vote : ~vote;
    }
    const unsigned int before = __popcll(peers & ((std::uint64_t(1) << lane) - 1));
    for(unsigned int k = threadIdx.x; k < buckets * waves; k += block_size) wave_counts[k / waves][k % waves] = 0;
    __syncthreads();
    if(valid && before == 0) wave_counts[digit][wave] = __popcll(peers);
    __syncthreads();
    if(!valid) return;
    unsigned int position = table[digit * gridDim.x + blockIdx.x] + before;
    for(unsigned int w = 0; w < wave; ++w) position += wave_counts[digit][w];
    keys_out[position] = key;
    values_out[position] = values_in[i];
}

template<class Key, class Value>
bool test(const char* name, unsigned int n, std::mt19937_64& engine)
{
    std::vector<Key> keys(n), sorted_keys(n);
    std::vector<Value> values(n), sorted_values(n);
    for(unsigned int i = 0; i < n; ++i)
    {
        if constexpr(std::is_floating_point<Key>::value)
            keys[i] = std::ldexp(static_cast<float>(engine() % 4001) - 2000.f, static_cast<int>(engine() % 20) - 10);
        else
            keys[i] = static_cast<Key>(engine() >> (i % 3 == 0 ? 40 : 0));
        values[i] = static_cast<Value>(i);
    }
    Key* d_keys[2];
    Value* d_values[2];
    unsigned int* d_table;
    const unsigned int blocks = (n + block_size - 1) / block_size;
    for(int k = 0; k < 2; ++k)
    {
        HIP_CHECK(hipMalloc(&d_keys[k], n * sizeof(Key)));
        HIP_CHECK(hipMalloc(&d_values[k], n * sizeof(Value)));
    }
    HIP_CHECK(hipMalloc(&d_table, blocks * buckets * sizeof(unsigned int)));
    HIP_CHECK(hipMemcpy(d_keys[0], keys.data(), n * sizeof(Key), hipMemcpyHostToDevice));
    HIP_CHECK(hipMemcpy(d_values[0], values.data(), n * sizeof(Value), hipMemcpyHostToDevice));
    int from = 0;
    for(unsigned int shift = 0; shift < 8 * sizeof(Key); shift += bits)
    {
        histogram<Key><<<dim3(blocks), dim3(block_size), 0, hipStreamDefault>>>(d_keys[from], d_table, n, shift);
        scan_table<<<dim3(1), dim3(block_size), 0, hipStreamDefault>>>(d_table, blocks * buckets);
        scatter<<<dim3(blocks), dim3(block_size), 0, hipStreamDefault>>>(d_keys[from], d_keys[1 - from], d_values[from], d_values[1 - from],
                                                                         d_table, n, shift);
        HIP_CHECK(hipGetLastError());
        from = 1 - from;
    }
    HIP_CHECK(hipMemcpy(sorted_keys.data(), d_keys[from], n * sizeof(Key), hipMemcpyDeviceToHost));
    HIP_CHECK(hipMemcpy(sorted_values.data(), d_values[from], n * sizeof(Value), hipMemcpyDeviceToHost));
    std::vector<unsigned int> order(n);
    for(unsigned int i = 0; i < n; ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](unsigned int a, unsigned int b)
                     { return encoding<Key>::encode(keys[a]) < encoding<Key>::encode(keys[b]); });
    unsigned int errors = 0;
    for(unsigned int i = 0; i < n; ++i)
        errors += sorted_keys[i] != keys[order[i]] || sorted_values[i] != static_cast<Value>(order[i]);
    std::cout << name << ": " << n << " pairs, " << errors << " errors" << std::endl;
    for(int k = 0; k < 2; ++k)
    {
        HIP_CHECK(hipFree(d_keys[k]));
        HIP_CHECK(hipFree(d_values[k]));
    }
    HIP_CHECK(hipFree(d_table));
    return errors == 0;
}

int main(int argc, char* argv[])
{
    const unsigned int n = argc > 1 ? std::atoi(argv[1]) : 20000;
    std::mt19937_64 engine(123);
    bool ok = true;
    ok &= test<std::uint32_t, std::uint32_t>("uint32", n, engine);
    ok &= test<std::int32_t, double>("int32", n / 2 + 1, engine);
    ok &= test<float, std::uint16_t>("float", 60000 < n ? 60000 : n, engine);
    ok &= test<std::uint64_t, int>("uint64", n / 4 + 3, engine);
    ok &= test<unsigned char, int>("uchar", n, engine);
    ok &= test<short, int>("short", 255, engine);
    if(!ok)
    {
        std::cout << "Validation failed." << std::endl;
        return 1;
    }
    std::cout << "Validation passed." << std::endl;
}
