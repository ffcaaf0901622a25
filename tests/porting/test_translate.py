"""`hipify`: what is replaced, what stays, and that it can be done twice."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpulab
from gpulab.porting import findings, names, translate
from gpulab.porting.tokens import COMMENT, STRING, scan
from tests.porting.test_tokens import PIECES

INCLUDE = "#include <hip/hip_runtime.h>\n"


def translated(text: str, **options: str) -> str:
    """The translation, without the #include that is put in front of snippets."""
    return gpulab.hipify(text, **options).text.removeprefix(INCLUDE + "\n")


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        ("cudaMalloc(&p, n);", "hipMalloc(&p, n);"),
        ("::cudaFree(p);", "::hipFree(p);"),
        ("return ::cudaFree(p);", "return ::hipFree(p);"),
        ("cudaMallocHost(&p, n);", "hipHostMalloc(&p, n);"),
        ("cudaDeviceProp prop;", "hipDeviceProp_t prop;"),
        ("if (e != cudaSuccess) {}", "if (e != hipSuccess) {}"),
        ("cudaMemcpyKind::cudaMemcpyHostToDevice", "hipMemcpyKind::hipMemcpyHostToDevice"),
        ("cuLaunchKernel(f);", "hipModuleLaunchKernel(f);"),
        ("CUdeviceptr p; CUdevice d;", "hipDeviceptr_t p; hipDevice_t d;"),
        ("cublasSgemm(h);", "hipblasSgemm(h);"),
        ("CUBLAS_OP_N", "HIPBLAS_OP_N"),
        ("cufftExecC2C(p);", "hipfftExecC2C(p);"),
        ("curandState s; curand_init(1, 2, 3, &s);", "hiprandState s; hiprand_init(1, 2, 3, &s);"),
        ("cub::BlockReduce<int, 64> r;", "hipcub::BlockReduce<int, 64> r;"),
        ("using namespace cub;", "using namespace hipcub;"),
        ("namespace c = cub;", "namespace c = hipcub;"),
        ("thrust::sort(thrust::cuda::par, a, b);", "thrust::sort(thrust::hip::par, a, b);"),
        ("cudaMemcpyToSymbol(table, p, n);", "hipMemcpyToSymbol(HIP_SYMBOL(table), p, n);"),
        ("cudaMemcpyFromSymbol(p, t[f(1, 2)], n);", "hipMemcpyFromSymbol(p, HIP_SYMBOL(t[f(1, 2)]), n);"),
        (
            "cudaFuncSetCacheConfig(k<a, 2>, cudaFuncCachePreferL1);",
            "hipFuncSetCacheConfig(reinterpret_cast<const void*>(k<a, 2>), hipFuncCachePreferL1);",
        ),
        ("cudaHostGetDevicePointer(&p, h, 0);", "hipHostGetDevicePointer(reinterpret_cast<void**>(&p), h, 0);"),
        ("cudaHostGetDevicePointer((void**)&p, h, 0);", "hipHostGetDevicePointer((void**)&p, h, 0);"),
        ("cudaLaunchKernelEx(&c, k, 1);", "hipLaunchKernelEx(&c, k, 1);"),
        ("cudaLaunchKernel((void*)k, g, b, a, 0, s);", "hipLaunchKernel((void*)k, g, b, a, 0, s);"),
        ("#ifdef __CUDA_ARCH__\n#endif\ncudaFree(0);", "#ifdef __HIP_DEVICE_COMPILE__\n#endif\nhipFree(0);"),
        ("#if defined(__CUDACC__)\n#endif\ncudaFree(0);", "#if defined(__HIPCC__)\n#endif\nhipFree(0);"),
        ("cuCaddf(make_cuFloatComplex(1, 2), z)", "hipCaddf(make_hipFloatComplex(1, 2), z)"),
        ("__nv_bfloat16 x;", "__hip_bfloat16 x;"),
        ("f(a, (::cudaFree(p)));", "f(a, (::hipFree(p)));"),
        ("void CUDART_CB done(void* p);", "void done(void* p);"),
        ("void CUDART_CB \t done(void* p);", "void done(void* p);"),
        ("(CUDA_CB*)", "(*)"),
        ("void CUDART_CB", "void "),
        ("x = ::cub::Sum();", "x = ::hipcub::Sum();"),
        ("namespace cub { int x; }", "namespace hipcub { int x; }"),
        ("auto f = cudaMemcpyToSymbol;", "auto f = hipMemcpyToSymbol;"),
        ("cudaMemcpyFromSymbol(p);", "hipMemcpyFromSymbol(p);"),
        ("cudaMemcpyToSymbol(, p);", "hipMemcpyToSymbol(, p);"),
        ("cudaFuncGetAttributes();", "hipFuncGetAttributes();"),
        *(
            (f"cudaFree(0);\n#{line} __CUDA_ARCH__\n", f"hipFree(0);\n#{line} __HIP_DEVICE_COMPILE__\n")
            for line in ("ifdef", "ifndef", "elifdef", "elifndef", "if defined")
        ),
        *(
            (f"cudaFree(0);\n#if {word}(__CUDA_ARCH__)\n#endif", f"hipFree(0);\n#if {word}({name})\n#endif")
            for word, name in (
                ("defined", "__HIP_DEVICE_COMPILE__"),
                ("other", "__CUDA_ARCH__"),
                ("x defined", "__HIP_DEVICE_COMPILE__"),
            )
        ),
        ("cudaFree(0);\n#if (__CUDA_ARCH__ > 1)\n", "hipFree(0);\n#if (__CUDA_ARCH__ > 1)\n"),
        ("cudaFree(defined __CUDA_ARCH__);", "hipFree(defined __CUDA_ARCH__);"),
    ],
)
def test_names(cuda: str, hip: str) -> None:
    assert translated(cuda) == hip


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("FuncSetCacheConfig", "", ", c"),
        ("FuncGetAttributes", "&a, ", ""),
        ("FuncSetAttribute", "", ", a, 1"),
        ("FuncSetSharedMemConfig", "", ", c"),
        ("LaunchKernel", "", ", g, b, a, 0, s"),
        ("LaunchCooperativeKernel", "", ", g, b, a, 0, s"),
    ],
)
@pytest.mark.parametrize(
    ("kernel", "is_cast"),
    [
        ("k", False), ("k<a, 2>", False), ("(k)", False), ("(k<a*>)", False), ("x * y", False),
        ("(void*)k", True), ("(const void*)k", True), ("reinterpret_cast<void*>(k)", True),
        ("static_cast<void*>(k)", True), ("nullptr", True), ("NULL", True),
    ],
)  # fmt: skip
def test_kernels_as_arguments_are_cast_once(name: str, before: str, after: str, kernel: str, is_cast: bool) -> None:
    """HIP's functions take a const void*, as their prototypes say; the kernel's place is that of CUDA's reference."""
    cast = kernel if is_cast else f"reinterpret_cast<const void*>({kernel})"
    assert translated(f"cuda{name}({before}{kernel}{after});") == f"hip{name}({before}{cast}{after});"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("GetSymbolAddress", "&p, symbol"),
        ("GetSymbolSize", "&n, symbol"),
        ("MemcpyToSymbolAsync", "symbol, p, n, 0, kind, s"),
        ("MemcpyFromSymbolAsync", "p, symbol, n, 0, kind, s"),
        ("GraphAddMemcpyNodeToSymbol", "&node, graph, before, 1, symbol, p, n, 0, kind"),
        ("GraphAddMemcpyNodeFromSymbol", "&node, graph, before, 1, p, symbol, n, 0, kind"),
        ("GraphMemcpyNodeSetParamsToSymbol", "node, symbol, p, n, 0, kind"),
        ("GraphMemcpyNodeSetParamsFromSymbol", "node, p, symbol, n, 0, kind"),
        ("GraphExecMemcpyNodeSetParamsToSymbol", "exec, node, symbol, p, n, 0, kind"),
        ("GraphExecMemcpyNodeSetParamsFromSymbol", "exec, node, p, symbol, n, 0, kind"),
    ],
)
def test_variables_of_the_device_are_wrapped(name: str, arguments: str) -> None:
    """The order of the arguments is that of the CUDA Runtime API's reference."""
    assert translated(f"cuda{name}({arguments});") == f"hip{name}({arguments.replace('symbol', 'HIP_SYMBOL(symbol)')});"


@pytest.mark.parametrize(
    "text",
    [
        "pool.cudaMalloc(8); pool->cudaFree(p); mine::cudaMalloc(8); Wrapper<int>::cudaFree(p);",
        '// cudaMalloc\n/* cudaFree(p) */ const char* text = "cudaMemcpy"; auto raw = R"(cudaFree)";',
        "#error cudaMalloc is wanted\n",
        "mine::cudaMalloc(8);",
        "int cub = 3; cub += 1; x.cub::y;",
        "x->cub::y; mine::cub::y; z = cub; namespace a { int b; } using c = cub;",
        "Wrapper<A<int>>::cudaFree(p); p->*cudaFree;",
        "x::cuda::par; thrust.cuda; thrust::mine;",
        "int mycudaMalloc, cudaMallocs_, xcudaFree;",
        "int a = 1 << 2; f<g<h<int>>>(x);",
        'std::operator<<<std::char_traits<char>>(std::cout, "x");',
        "int cuda = 3;\r\n\tint cuda_runtime = cuda;",
        "",
        "\ufeffint main() {}\r\n",
        "no newline at the end",
    ],
)
def test_what_is_not_cuda_stays(text: str) -> None:
    found = gpulab.hipify(text)
    assert found.text == text
    assert not found.changes


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        ("<cuda_runtime.h>", "<hip/hip_runtime.h>"),
        ('"cuda_runtime.h"', '"hip/hip_runtime.h"'),
        ("<cuda.h>", "<hip/hip_runtime.h>"),
        ("<device_launch_parameters.h>", "<hip/hip_runtime.h>"),
        ("<cuda_runtime_api.h>", "<hip/hip_runtime_api.h>"),
        ("<cooperative_groups.h>", "<hip/hip_cooperative_groups.h>"),
        ("<cooperative_groups/reduce.h>", "<hip/cooperative_groups/hip_reduce.h>"),
        ("<cooperative_groups/scan.h>", "<hip/cooperative_groups/hip_scan.h>"),
        ("<cooperative_groups/memcpy_async.h>", "<hip/cooperative_groups/memcpy_async.h>"),
        ("<cuda_fp16.h>", "<hip/hip_fp16.h>"),
        ("<cublas_v2.h>", "<hipblas/hipblas.h>"),
        ("<cufft.h>", "<hipfft/hipfft.h>"),
        ("<curand_kernel.h>", "<hiprand/hiprand_kernel.h>"),
        ("<cusparse.h>", "<hipsparse/hipsparse.h>"),
        ("<cusolverDn.h>", "<hipsolver/hipsolver.h>"),
        ("<cudnn.h>", "<miopen/miopen.h>"),
        ("<nccl.h>", "<rccl/rccl.h>"),
        ("<nvrtc.h>", "<hip/hiprtc.h>"),
        ("<cub/cub.cuh>", "<hipcub/hipcub.hpp>"),
        ("<cub/block/block_scan.cuh>", "<hipcub/hipcub.hpp>"),
        ("<thrust/system/cuda/execution_policy.h>", "<thrust/system/hip/execution_policy.h>"),
        ("<thrust/device_vector.h>", "<thrust/device_vector.h>"),
        ("<vector>", "<vector>"),
        ('"my_cuda.h"', '"my_cuda.h"'),
    ],
)
def test_headers(cuda: str, hip: str) -> None:
    assert gpulab.hipify(f"#include {cuda} // cuda.h\n").text == f"#include {hip} // cuda.h\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("__global__ void k() {}\n", INCLUDE + "\n__global__ void k() {}\n"),
        ("// a\n#include <cstdio>\nint x = cudaFree(0);\n",
         "// a\n" + INCLUDE + "#include <cstdio>\nint x = hipFree(0);\n"),
        ("#include <a>\r\n__device__ int x;\r\n",
         "#include <hip/hip_runtime.h>\r\n#include <a>\r\n__device__ int x;\r\n"),
        ("\ufeff__device__ int x;", "\ufeff" + INCLUDE + "\n__device__ int x;"),
        ("#if A\n#include <a>\n#endif\n#include <b>\nint x = cudaFree(0);",
         "#if A\n#include <a>\n#endif\n" + INCLUDE + "#include <b>\nint x = hipFree(0);"),
        ("#ifndef G\n#define G\n#include <a>\nint x = cudaFree(0);\n#endif",
         "#ifndef G\n#define G\n" + INCLUDE + "#include <a>\nint x = hipFree(0);\n#endif"),
        ("#include <cuda_runtime_api.h>\nint x = cudaFree(0);\n",
         "#include <hip/hip_runtime_api.h>\nint x = hipFree(0);\n"),
        ("#include <cuda_runtime_api.h>\n__global__ void k() {}\n",
         INCLUDE + "#include <hip/hip_runtime_api.h>\n__global__ void k() {}\n"),
        ("#include <hip/hip_runtime.h>\n__global__ void k() {}\n",
         "#include <hip/hip_runtime.h>\n__global__ void k() {}\n"),
        ("\r\n__device__ int x;", "#include <hip/hip_runtime.h>\r\n\r\n\r\n__device__ int x;"),
        ("\n__device__ int x;\r", INCLUDE + "\n\n__device__ int x;\r"),
        ("__device__ int x;\rint y;\r",
         "#include <hip/hip_runtime.h>\r\r__device__ int x;\rint y;\r"),
        ("__device__ int x;", INCLUDE + "\n__device__ int x;"),
        ("int x;\n  #include <a>\n__device__ int y;", "int x;\n" + INCLUDE + "  #include <a>\n__device__ int y;"),
        ("#if A\n#if B\n#endif\n#include <a>\n#endif\n#include <b>\n__device__ int x;",
         "#if A\n#if B\n#endif\n#include <a>\n#endif\n" + INCLUDE + "#include <b>\n__device__ int x;"),
        ("#ifdef A\n#endif\n#import <b>\n__device__ int x;",
         "#ifdef A\n#endif\n" + INCLUDE + "#import <b>\n__device__ int x;"),
        *((text, INCLUDE + "\n" + text) for text in (
            # what looks like a guard against including twice, and is none
            "#define A\n#ifndef G\n#define G\n#include <a>\n__device__ int x;\n#endif",
            "#ifdef G\n#define G\n#include <a>\n__device__ int x;\n#endif",
            "#ifndef G\n#define H\n#include <a>\n__device__ int x;\n#endif",
            "#ifndef G\n#undef G\n#include <a>\n__device__ int x;\n#endif",
        )),
        ("k<<<1, 2>>>();", INCLUDE + "\nk<<<1, 2>>>();"),
    ],
)  # fmt: skip
def test_the_runtime_is_included_where_it_is_needed(text: str, expected: str) -> None:
    assert gpulab.hipify(text).text == expected
    assert gpulab.hipify(expected).text == expected


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        ("k<<<1, 64>>>();", "hipLaunchKernelGGL(k, dim3(1), dim3(64), 0, 0);"),
        ("k<<<grid, block>>>(a, b);", "hipLaunchKernelGGL(k, dim3(grid), dim3(block), 0, 0, a, b);"),
        ("k<<<g, b, 16>>>(a);", "hipLaunchKernelGGL(k, dim3(g), dim3(b), 16, 0, a);"),
        ("k<<<g, b, 0, s>>>(a);", "hipLaunchKernelGGL(k, dim3(g), dim3(b), 0, s, a);"),
        ("k<<<dim3(1, 2), dim3{3, 4}>>>(a);", "hipLaunchKernelGGL(k, dim3(1, 2), dim3(dim3{3, 4}), 0, 0, a);"),
        ("k<T, 4><<<(n + 1) / 2, f(1, 2)>>>(a);",
         "hipLaunchKernelGGL(HIP_KERNEL_NAME(k<T, 4>), dim3((n + 1) / 2), dim3(f(1, 2)), 0, 0, a);"),
        ("k<T><<<g, b>>>(a);", "hipLaunchKernelGGL(k<T>, dim3(g), dim3(b), 0, 0, a);"),
        ("k<A<B<C>>><<<g, b>>>(a);", "hipLaunchKernelGGL(k<A<B<C>>>, dim3(g), dim3(b), 0, 0, a);"),
        ("x::y::k<<<g, b>>>(a);", "hipLaunchKernelGGL(x::y::k, dim3(g), dim3(b), 0, 0, a);"),
        ("::k<<<g, b>>>(a);", "hipLaunchKernelGGL(::k, dim3(g), dim3(b), 0, 0, a);"),
        ("table[i]<<<g, b>>>(a);", "hipLaunchKernelGGL(table[i], dim3(g), dim3(b), 0, 0, a);"),
        ("(*f)<<<g, b>>>(a);", "hipLaunchKernelGGL((*f), dim3(g), dim3(b), 0, 0, a);"),
        ("o.f<<<g, b>>>(a);", "hipLaunchKernelGGL(o.f, dim3(g), dim3(b), 0, 0, a);"),
        ("if (x) k<<<g, b>>>(a);", "if (x) hipLaunchKernelGGL(k, dim3(g), dim3(b), 0, 0, a);"),
        ("k<<<h<a, b>(1), x < y>>>(a);", "hipLaunchKernelGGL(k, dim3(h<a, b>(1)), dim3(x < y), 0, 0, a);"),
        ("k<<<n<1, p<2, q<3>>>::value, b>>>(a);",
         "hipLaunchKernelGGL(k, dim3(n<1, p<2, q<3>>>::value), dim3(b), 0, 0, a);"),
        ("k<<<g, b>>>(cudaStreamDefault);", "hipLaunchKernelGGL(k, dim3(g), dim3(b), 0, 0, hipStreamDefault);"),
        ("k <<< g , b >>> ( a );", "hipLaunchKernelGGL(k, dim3(g), dim3(b), 0, 0, a );"),
        ("k<<<\n  g, // blocks\n  b>>>(a);", "hipLaunchKernelGGL(k\n, dim3(g) // blocks\n, dim3(b), 0, 0, a);"),
        ("k<<<g /* blocks */, b>>>(a);", "hipLaunchKernelGGL(k, dim3(g) /* blocks */, dim3(b), 0, 0, a);"),
        ("k<<<g,\tb>>>(a);", "hipLaunchKernelGGL(k, dim3(g), dim3(b), 0, 0, a);"),
        ("k<<<g,\rb>>>(a);\n", "hipLaunchKernelGGL(k, dim3(g)\r, dim3(b), 0, 0, a);\n"),
        ("k<<<dim3(1).x, dim3(2) * 3>>>(a);", "hipLaunchKernelGGL(k, dim3(dim3(1).x), dim3(dim3(2) * 3), 0, 0, a);"),
        ("k<<<dim3{1}, dim3>>>(a);", "hipLaunchKernelGGL(k, dim3(dim3{1}), dim3(dim3), 0, 0, a);"),
        ("return (*f)<<<g, b>>>(a);", "return hipLaunchKernelGGL((*f), dim3(g), dim3(b), 0, 0, a);"),
        ("x = (f)<<<g, b>>>(a);", "x = hipLaunchKernelGGL((f), dim3(g), dim3(b), 0, 0, a);"),
        ("f(1)<<<g, b>>>(a);", "hipLaunchKernelGGL(f(1), dim3(g), dim3(b), 0, 0, a);"),
        ("t[i][j]<<<g, b>>>(a);", "hipLaunchKernelGGL(t[i][j], dim3(g), dim3(b), 0, 0, a);"),
        ("x; A<int>::f<<<g, b>>>(a);", "x; hipLaunchKernelGGL(A<int>::f, dim3(g), dim3(b), 0, 0, a);"),
        ("x; f(1).g<<<g, b>>>(a);", "x; hipLaunchKernelGGL(f(1).g, dim3(g), dim3(b), 0, 0, a);"),
        ("x; t[i]->g<<<g, b>>>(a);", "x; hipLaunchKernelGGL(t[i]->g, dim3(g), dim3(b), 0, 0, a);"),
        ("x; o.template f<int><<<g, b>>>(a);",
         "x; hipLaunchKernelGGL(o.template f<int>, dim3(g), dim3(b), 0, 0, a);"),
        *((f"x; {word} ::k<<<g, b>>>(a);", f"x; {word} hipLaunchKernelGGL(::k, dim3(g), dim3(b), 0, 0, a);")
          for word in ("return", "else", "do")),
        *((f"x; {word} k<<<g, b>>>(a);", f"x; {word} hipLaunchKernelGGL(k, dim3(g), dim3(b), 0, 0, a);")
          for word in ("return", "else", "do")),
        (f"x; k<{'a,' * 99}><<<g, b>>>();",  # 200 tokens with both angles
         f"x; hipLaunchKernelGGL(HIP_KERNEL_NAME(k<{'a,' * 99}>), dim3(g), dim3(b), 0, 0);"),
    ],
)  # fmt: skip
def test_launches(cuda: str, hip: str) -> None:
    assert translated(cuda, launches="hip") == hip
    kept = translated(cuda)
    assert kept == cuda.replace("cudaStream", "hipStream")
    assert gpulab.hipify(hip, launches="hip").text.removeprefix(INCLUDE + "\n") == hip


@pytest.mark.parametrize(
    "text",
    [
        "k<<<", "k<<<1>>>()", "k<<<1, 2>>>", "k<<<(1, 2>>>(a);", "<<<1, 2>>>(a)", "k<<<,>>>()",
        "k<<<1, >>>(a);", "k<<<, 2>>>(a);", "k<<<1, 2, 3, 4, 5>>>(a);", "k<<<1, 2>>>(a;", "k<<<1, 2>>> x(a);",
        "k<<<1, 2;>>>(a);", "k<<<1, 2}>>>(a);", "k<<<1, 2)>>>(a);", "k<<<1, b<<<2>>>(a);", "k<<<[1, 2>>>(a);",
        "b; c><<<1, 2>>>(a);", "b<1; c><<<1, 2>>>(a);", "b<{ c><<<1, 2>>>(a);", "><<<1, 2>>>(a);",
        "b<c<<<d><<<1, 2>>>(a);", ")<<<1, 2>>>(a);", "x; 1<<<1, 2>>>(a);", "return<<<1, 2>>>(a);",
        "x; else<<<1, 2>>>(a);", "x; do<<<1, 2>>>(a);", "x; .f<<<1, 2>>>(a);", "x; ->f<<<1, 2>>>(a);",
        f"x; k<{'a,' * 99}a><<<1, 2>>>();",
    ],
)  # fmt: skip
def test_a_broken_launch_stays(text: str) -> None:
    assert translated(text, launches="hip") == text


def test_changes_have_places() -> None:
    found = gpulab.hipify("#include <cuda.h>\n\tcudaFree(p); cudaFree(q);\n", name="a.cu")
    assert [(c.line, c.column, c.cuda, c.hip, c.kind, c.api) for c in found.changes] == [
        (1, 10, "cuda.h", "hip/hip_runtime.h", "header", "driver"),
        (2, 2, "cudaFree", "hipFree", "call", "runtime"),
        (2, 15, "cudaFree", "hipFree", "call", "runtime"),
    ]
    assert found.statistics() == {"api": {"driver": 1, "runtime": 2}, "kind": {"call": 2, "header": 1}, "note": {}}
    assert str(found) == found.text
    assert "source=" not in repr(found)
    assert "edits=" not in repr(found)


def test_changes_of_headers_launches_and_words() -> None:
    text = (
        "#include <cub/block/block_scan.cuh>\n#include <thrust/system/cuda/vector.h>\n"
        "void CUDART_CB f();\n#ifdef __CUDA_ARCH__\n#endif\n  k<<<1, 2>>>(thrust::cuda::par, cub::Sum());\n"
    )
    found = gpulab.hipify(text, launches="hip", first_line=10)
    assert [(c.line, c.column, c.cuda, c.hip, c.kind, c.api) for c in found.changes] == [
        (10, 1, "", "#include <hip/hip_runtime.h>", "header", "runtime"),
        (10, 10, "cub/block/block_scan.cuh", "hipcub/hipcub.hpp", "header", "CUB"),
        (11, 10, "thrust/system/cuda/vector.h", "thrust/system/hip/vector.h", "header", "Thrust"),
        (12, 6, "CUDART_CB", "", "macro", "runtime"),
        (13, 8, "__CUDA_ARCH__", "__HIP_DEVICE_COMPILE__", "macro", "device"),
        (15, 3, "k<<<>>>", "hipLaunchKernelGGL", "launch", "runtime"),
        (15, 23, "thrust::cuda", "thrust::hip", "namespace", "Thrust"),
        (15, 34, "cub", "hipcub", "namespace", "CUB"),
    ]
    assert found.text == (
        "#include <hip/hip_runtime.h>\n#include <hipcub/hipcub.hpp>\n#include <thrust/system/hip/vector.h>\n"
        "void f();\n#ifdef __HIP_DEVICE_COMPILE__\n#endif\n"
        "  hipLaunchKernelGGL(k, dim3(1), dim3(2), 0, 0, thrust::hip::par, hipcub::Sum());\n"
    )
    assert found.text_without_added_lines() == found.text.removeprefix(INCLUDE)


def test_a_report_repeats_short_advice_and_names_the_line_of_long_advice() -> None:
    advice = {length: "x" * length for length in (40, 41)}
    notes = tuple(
        findings.Note(line, 2, "unknown", f"what {line}", advice[length], code)
        for line, length, code in ((1, 40, "a;"), (2, 41, "b;"), (3, 40, ""), (4, 41, "d;"), (4, 41, "d;"), (2, 41, ""))
    )
    made = translate.Translation("", (), notes, "", "a.cu")
    assert made.first_line == 1
    assert made.report() == (
        f"a.cu:1:2: unknown: what 1\n    a;\n    → {advice[40]}\n"
        f"a.cu:2:2: unknown: what 2\n    b;\n    → {advice[41]}\n"
        f"a.cu:3:2: unknown: what 3\n    → {advice[40]}\n"
        "a.cu:4:2: unknown: what 4\n    d;\n    → As for line 2.\n"
        "a.cu:4:2: unknown: what 4\n    d;\n    → As for line 2.\n"
        f"a.cu:2:2: unknown: what 2\n    → {advice[41]}"
    )


CUDA_NAMES = st.sampled_from(sorted(names.names()))


@given(st.lists(st.one_of(PIECES, CUDA_NAMES, st.sampled_from([" ", "\n", "; ", "x", "__global__ "]))).map("".join))
@settings(max_examples=300, deadline=None)
def test_comments_and_strings_stay_and_twice_is_once(text: str) -> None:
    """Whatever the text: comments and strings are the same in the translation, and a second one does nothing."""

    def quoted(of: str) -> list[str]:
        tokens = scan(of)
        return [part for kind, part in zip(tokens.kinds, tokens.texts, strict=True) if kind in (COMMENT, STRING)]

    for launches in ("cuda", "hip"):
        once = gpulab.hipify(text, launches=launches)
        assert quoted(once.text) == quoted(text)
        assert gpulab.hipify(once.text, launches=launches).text == once.text


@pytest.mark.full
@given(st.from_regex(r"[A-Za-z_]\w{0,12}", fullmatch=True))
@settings(max_examples=300, deadline=None)
def test_other_names_stay(name: str) -> None:
    """An identifier that is not in the table comes out as it went in."""
    if name not in names.names():
        assert translated(f"int {name} = 1; {name}();") == f"int {name} = 1; {name}();"


def test_ten_thousand_lines_take_about_a_second() -> None:
    text = (
        "#include <cuda.h>\n"
        + "  float* p; CHECK(cudaMalloc(&p, n * sizeof(float))); k<<<n / 32, 64>>>(p); // go\n" * 10_000
    )
    start = time.process_time()
    assert len(gpulab.hipify(text, launches="hip").changes) > 20_000
    assert time.process_time() - start < 5  # measured 1.0 s; a busy machine is slower


def test_wrong_arguments_are_explained() -> None:
    with pytest.raises(gpulab.GpulabError, match="neither"):
        gpulab.hipify("x", launches="both")  # type: ignore[arg-type]
    with pytest.raises(gpulab.GpulabError, match="not bytes"):
        gpulab.hipify(b"x")  # type: ignore[arg-type]
