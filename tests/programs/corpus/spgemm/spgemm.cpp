// C = A * B for CSR matrices: symbolic pass counts with hash tables in LDS, scan, numeric pass; rows that overflow
// the small table take a second kernel with a large one.
#include <hip/hip_runtime.h>

#include <cassert>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <random>
#include <vector>

namespace sparse
{
struct Csr
{
    int rows = 0, cols = 0;
    std::vector<int> ptr, idx;
    std::vector<std::int64_t> val;
};

struct DeviceCsr
{
    int rows = 0;
    int *ptr = nullptr, *idx = nullptr;
    std::int64_t* val = nullptr;
};

void ok(hipError_t e)
{
    if(e == hipSuccess)
        return;
    std::printf("%s\n", hipGetErrorString(e));
    std::exit(1);
}

DeviceCsr upload(const Csr& a)
{
    DeviceCsr d;
    d.rows = a.rows;
    ok(hipMalloc(&d.ptr, a.ptr.size() * sizeof(int)));
    ok(hipMalloc(&d.idx, a.idx.size() * sizeof(int)));
    ok(hipMalloc(&d.val, a.val.size() * sizeof(a.val[0])));
    ok(hipMemcpy(d.ptr, a.ptr.data(), a.ptr.size() * sizeof(int), hipMemcpyHostToDevice));
    ok(hipMemcpy(d.idx, a.idx.data(), a.idx.size() * sizeof(int), hipMemcpyHostToDevice));
    ok(hipMemcpy(d.val, a.val.data(), a.val.size() * sizeof(a.val[0]), hipMemcpyHostToDevice));
    return d;
}

// returns the slot of the column in the table, -1 if the table is full
template<int Size>
__device__ int slot_of(int* keys, int column, bool* fresh)
{
    unsigned h = (unsigned(column) * 2654435761u) % Size;
    for(int probe = 0; probe < Size; ++probe)
    {
        int old = atomicCAS(&keys[h], -1, column);
        if(old == -1 || old == column)
        {
            *fresh = old == -1;
            return int(h);
        }
        h = h + 1 == Size ? 0 : h + 1;
    }
    return -1;
}

template<int Size, bool Numeric>
__global__ void multiply(DeviceCsr a, DeviceCsr b, const int* list, int count, int* counts, DeviceCsr c, int* overflow, int* overflows)
{
    __shared__ int                keys[Size];
    __shared__ unsigned long long sums[Numeric ? Size : 1];
    __shared__ int                distinct, full;
    if(int(blockIdx.x) >= count)
        return;
    const int row = list ? list[blockIdx.x] : int(blockIdx.x);
    for(int i = threadIdx.x; i < Size; i += blockDim.x)
    {
        keys[i] = -1;
        if constexpr(Numeric)
            sums[i] = 0;
    }
    if(threadIdx.x == 0)
        distinct = full = 0;
    __syncthreads();
    for(int i = a.ptr[row]; i < a.ptr[row + 1]; ++i)
    {
        const int k = a.idx[i];
        for(int j = b.ptr[k] + threadIdx.x; j < b.ptr[k + 1]; j += blockDim.x)
        {
            bool      fresh;
            const int s = slot_of<Size>(keys, b.idx[j], &fresh);
            if(s < 0)
            {
                full = 1;
                break;
            }
            if(fresh)
                atomicAdd(&distinct, 1);
            if constexpr(Numeric)
                atomicAdd(&sums[s], static_cast<unsigned long long>(a.val[i] * b.val[j]));
        }
    }
    __syncthreads();
    if constexpr(!Numeric)
    {
        if(threadIdx.x == 0)
        {
            if(full)
                overflow[atomicAdd(overflows, 1)] = row;
            else
                counts[row] = distinct;
        }
    }
    else
    {
        // write in order of columns: each entry's place is the number of smaller ones
        for(int i = threadIdx.x; i < Size; i += blockDim.x)
        {
            if(keys[i] < 0)
                continue;
            int place = 0;
            for(int j = 0; j < Size; ++j)
                place += keys[j] >= 0 && keys[j] < keys[i];
            c.idx[c.ptr[row] + place] = keys[i];
            c.val[c.ptr[row] + place] = static_cast<std::int64_t>(sums[i]);
        }
    }
}
} // namespace sparse

int main(int argc, char** argv)
{
    using namespace sparse;
    const int n = argc > 1 ? std::atoi(argv[1]) : 300, m = n + 17, k = n - 5;
    std::mt19937 gen(77);
    auto make = [&](int rows, int cols) {
        Csr a;
        a.rows = rows;
        a.cols = cols;
        a.ptr.push_back(0);
        for(int r = 0; r < rows; ++r)
        {
            std::map<int, int> row;
            const int entries = r % 40 == 0 ? 40 : gen() % 6;
            for(int e = 0; e < entries; ++e)
                row[gen() % cols] = int(gen() % 19) - 9;
            for(auto [c, v] : row)
            {
                a.idx.push_back(c);
                a.val.push_back(v);
            }
            a.ptr.push_back(int(a.idx.size()));
        }
        return a;
    };
    const Csr a = make(n, k), b = make(k, m);
    Csr want;
    want.ptr.push_back(0);
    for(int r = 0; r < n; ++r)
    {
        std::map<int, std::int64_t> row;
        for(int i = a.ptr[r]; i < a.ptr[r + 1]; ++i)
            for(int j = b.ptr[a.idx[i]]; j < b.ptr[a.idx[i] + 1]; ++j)
                row[b.idx[j]] += a.val[i] * b.val[j];
        for(auto [c, v] : row)
        {
            want.idx.push_back(c);
            want.val.push_back(v);
        }
        want.ptr.push_back(int(want.idx.size()));
    }
    constexpr int small = 64, large = 1024;
    DeviceCsr     da = upload(a), db = upload(b), dc;
    int *         counts, *overflow, *overflows, over = 0;
    ok(hipMalloc(&counts, n * sizeof(int)));
    ok(hipMalloc(&overflow, n * sizeof(int)));
    ok(hipMalloc(&overflows, sizeof(int)));
    ok(hipMemset(overflows, 0, sizeof(int)));
    multiply<small, false><<<n, 64>>>(da, db, nullptr, n, counts, dc, overflow, overflows);
    ok(hipGetLastError());
    ok(hipMemcpy(&over, overflows, sizeof(int), hipMemcpyDeviceToHost));
    int *second, *second_count;
    ok(hipMalloc(&second, n * sizeof(int)));
    ok(hipMalloc(&second_count, sizeof(int)));
    ok(hipMemset(second_count, 0, sizeof(int)));
    if(over)
        multiply<large, false><<<over, 64>>>(da, db, overflow, over, counts, dc, second, second_count);
    int lost = -1;
    ok(hipMemcpy(&lost, second_count, sizeof(int), hipMemcpyDeviceToHost));
    assert(lost == 0);
    std::vector<int> ptr(n + 1, 0), over_rows(over), few;
    ok(hipMemcpy(ptr.data() + 1, counts, n * sizeof(int), hipMemcpyDeviceToHost));
    ok(hipMemcpy(over_rows.data(), overflow, over * sizeof(int), hipMemcpyDeviceToHost));
    std::partial_sum(ptr.begin(), ptr.end(), ptr.begin());
    std::vector<char> is_over(n);
    for(int r : over_rows)
        is_over[r] = 1;
    for(int r = 0; r < n; ++r)
        if(!is_over[r])
            few.push_back(r);
    Csr got;
    got.ptr = ptr;
    got.idx.resize(ptr[n]);
    got.val.resize(ptr[n]);
    dc = upload(got);
    ok(hipMemcpy(second, few.data(), few.size() * sizeof(int), hipMemcpyHostToDevice));
    multiply<small, true><<<few.size(), 64>>>(da, db, second, int(few.size()), counts, dc, nullptr, nullptr);
    if(over)
        multiply<large, true><<<over, 64>>>(da, db, overflow, over, counts, dc, nullptr, nullptr);
    ok(hipGetLastError());
    ok(hipMemcpy(got.idx.data(), dc.idx, got.idx.size() * sizeof(int), hipMemcpyDeviceToHost));
    ok(hipMemcpy(got.val.data(), dc.val, got.val.size() * sizeof(std::int64_t), hipMemcpyDeviceToHost));
    ok(hipDeviceReset());
    std::printf("%d x %d x %d: %zu entries (%zu expected), %d rows with the large table\n", n, k, m, got.idx.size(), want.idx.size(), over);
    const bool good = got.ptr == want.ptr && got.idx == want.idx && got.val == want.val && over > 0;
    std::printf("%s\n", good ? "PASS" : "FAIL");
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
