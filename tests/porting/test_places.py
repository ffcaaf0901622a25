"""Where findings stand: each "@" of a source marks the first character of what a finding of this kind is about."""

from __future__ import annotations

import pytest

import gpulab

KERNEL = "__global__ void k(float* s, int* a, int n, int lane, unsigned long long m) {{ {} }}"


def places(text: str, kind: str) -> None:
    """Every finding of a kind is at a mark, and every mark has one."""
    source, *pieces = text.split("@")
    wanted = []
    for piece in pieces:
        wanted.append((source.count("\n") + 1, len(source) - source.rfind("\n")))
        source += piece
    found = [(note.line, note.column) for note in gpulab.hipify(source).notes if note.kind == kind]
    assert sorted(found) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "x = __shfl_sync(@0xffffffff, x, 0);",
        "x = __shfl_down_sync(@0xFFFFFFFFu, x, 1); y = __any_sync(@~0, x);",
        "x = __ballot_sync(@(unsigned)-1, x); __syncwarp(@UINT_MAX); __syncwarp(@4294967295u);",
        "x = __shfl_sync(@0xff, x, 0); y = __shfl_sync(0xffull, x, 0); __syncwarp(); z = __all_sync(m, x);",
        "unsigned @mask = 0xff; x = __shfl_sync(mask, x, 0);",
        "unsigned long long mask = 0xff; x = __shfl_sync(mask, x, 0);",
        "unsigned int @mask; __syncwarp(mask); long int other; __syncwarp(other);",
        "unsigned @found = __ballot(x); int count = @__popc(found);",
        "unsigned long long found = __ballot(x); int count = @__popc(found) + __popc(x);",
        "int count = @__popc(__ballot(x)), first = @__ffs(__activemask());",
        "bool y = found != __ballot(x);",
        "unsigned @found; unsigned kept = 0; kept |= x;\n x = __any_sync(found, x);",
        "found = x ? 1 : __ballot(x);",
        "int same = __ballot(x) == 3, more = __ballot(x) > 1, all = __ballot(x) && y; int one = __ballot(x) ? 1 : 2;",
        "unsigned @y = __ballot",
        "int @kept = __ballot(x) & 3; int @two = __ballot(x);",
        "m = @1 << lane; m = 1ull << lane; n = 1 << 3; m = @1u << (laneid); m = 1LL << lane;",
        "m = @0x1 << lane; m = 2 << lane;",
    ],
)
def test_masks(text: str) -> None:
    places(KERNEL.format(text), "lane-mask")


def test_a_mask_that_is_a_macro() -> None:
    places("#define ALL @0xffffffff\n#define PART 0xff\n" + KERNEL.format("__shfl_sync(ALL, n, 0);"), "lane-mask")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('@asm("bar.sync 0;"); @asm volatile ("x"); @__asm__ __volatile__ ("" ::: "memory"); asm x;', "inline-ptx"),
        ("n = @tex2D<float>(t, 1, 2); n = @tex1Dfetch(t, 3); @surf2Dwrite(1, t, 0, 0); tex2D; int tex1D;", "texture"),
        ("auto t = @tiled_partition<32>(b); auto u = tiled_partition<16>(b); auto v = tiled_partition<64>(b); "
         "auto w = @tiled_partition<128>(b); auto x = @tiled_partition<65>(b); auto y = tiled_partition<N>(b);",
         "cooperative-groups"),
        ("auto c = @this_cluster(); @labeled_partition(g, 1); @invoke_one(g, f);", "cooperative-groups"),
        ("@nvcuda::wmma::fragment<int> f; nvcuda;", "tensor-core"),
        ("@cuda::atomic<int> x; @cuda::barrier b; thrust::cuda::par; x.cuda::y; cuda::par; cuda::par_nosync; int cuda;",
         "libcu++"),
        ("k@<<<1, 2>>>(a);", "dynamic-parallelism"),
        ("@cudaMalloc(&p, 4); @cudaDeviceSynchronize(); cudaMalloc; x.cudaFree(p);", "dynamic-parallelism"),
        ("@s[n] += s[n + 16]; s[n] += s[n + 8]; s[n] += s[n + 4];", "warp-synchronous"),
        ("s[n] += s[n + 16]; __syncthreads(); s[n] += s[n + 8];", "warp-synchronous"),
        ("if (n < 32) { @s[n] += s[n + 16]; if (m) { s[n] += s[n + 8]; } }", "warp-synchronous"),
        ("@s[n] = s[n] + s[n + 2]; s[n] = s[n] + s[n + 1];", "warp-synchronous"),
        ("s[n] += s[n]; s[n] += s[n - 1]; a[n] = a[n]; s[n] += a[n + 1];", "warp-synchronous"),
        ("@s[n] += s[n + 2]; s[n] += s[n + 1]; __syncthreads(); @a[n] += a[n + 2]; a[n] += a[n + 1];",
         "warp-synchronous"),
    ],
)  # fmt: skip
def test_in_kernels(text: str, kind: str) -> None:
    places(KERNEL.format(text), kind)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("__global__ void __launch_bounds__(256, @2) k() {}\n__global__ void __launch_bounds__(256) h() {}",
         "launch-bounds"),
        ("__global__ void __launch_bounds__(A + 1, @B * 2, 3) k() {}", "launch-bounds"),
        ("#if @__CUDA_ARCH__ > 700\n#endif\n#ifdef __CUDA_ARCH__\n#endif\n#if defined(__CUDA_ARCH__)\n#endif\n"
         "#if defined __CUDA_ARCH__\n#endif\n#ifndef __CUDA_ARCH__\n#endif", "architecture"),
        ("#if @CUDA_VERSION > 12\n#endif\nint CUDA_VERSION;\n#if @CUDART_VERSION\n#endif", "architecture"),
        ("#ifdef @__NVCC__\n#if @__CUDACC_VER_MAJOR__ > 11\n#endif\n#endif", "architecture"),
        ("@texture<float> t; texture u;", "texture"),
        ("using namespace @nvcuda; int nvcuda;", "tensor-core"),
        ("void f() { cudaDeviceProp p; int x = p.@major + p.@minor + p.warpSize + p.@nothing; q.major; p; }",
         "device-property"),
        ("void f() { cudaDeviceProp p[2], *q; int x = p[1].@major + p[0].name[0]; }", "device-property"),
        ("void f(const cudaDeviceProp& p, cudaDeviceProp* q, cudaPointerAttributes a) {"
         " x = p.@major + q->@minor + a.@nothing + a.type; }", "device-property"),
        ("void f() { int major; p.major; }", "device-property"),
        ("void f() { cudaMalloc(&p, 4); k<<<1, 2>>>(a); }", "dynamic-parallelism"),
        ("__host__ __device__ void f() {\n#ifndef __CUDA_ARCH__\ncudaMalloc(&p, 4);\n#endif\n@cudaFree(p);\n"
         "#if !defined(__CUDA_ARCH__)\ncudaFree(p);\n#endif\n#if defined(__CUDA_ARCH__)\n@cudaFree(p);\n#endif\n}",
         "dynamic-parallelism"),
    ],
)  # fmt: skip
def test_elsewhere(text: str, kind: str) -> None:
    places(text, kind)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("#define WARP_SIZE 32", True),
        ("#define N 32", False),
        ("const int warp_size = 32;", True),
        ("constexpr int kWarpSize{32};", True),
        ("enum { kWarp = 32 };", True),
        ("int warps_per_block = 32;", False),
        ("int n = 32;", False),
        ("template <int WARP = 32> __device__ void f();", True),
    ],
)
def test_a_warp_that_is_defined(text: str, found: bool) -> None:
    assert bool([note for note in gpulab.hipify(text).notes if note.kind == "warp-size"]) == found
