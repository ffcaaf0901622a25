"""What the report says, one finding at a time."""

from __future__ import annotations

import pytest

import gpulab
from gpulab.porting import findings


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("for (int offset = 16; offset > 0; offset /= 2) x += __shfl_down_sync(m, x, offset);", True),
        ("x += __shfl_down_sync(m, x, 16);", True),
        ("x += __shfl_xor(x, 16);", True),
        ("x += __shfl_up(x, 16, 32);", True),
        ("x = __shfl_sync(m, x, 16);", False),  # lane 16 is there on both
        ("x += __shfl_down_sync(m, 16, 1);", False),  # the value, not the distance
        ("for (int k = 16; k > 0; k--) x += k;", False),
        ("x = max(x, 16);", False),
        ("x += __shfl_down(x, 16 + 1);", False),
        ("int y = 16 + x; x = __shfl(x, y);", False),
        ("x + 16; x = __shfl(x, 1);", False),
        ("x += __shfl_down(x, y); f(x, 16);", False),
        # __shfl is looked for in 79 tokens behind a loop's 16, the ( of a call in 39 before it
        (f"int o = 16; {'x; ' * 38}; __shfl(x, o);", True),
        (f"int o = 16; {'x; ' * 39}__shfl(x, o);", False),
        (f"y = __shfl_down(x{' + x' * 18}, 16);", True),
        (f"y = __shfl_down(-x{' + x' * 18}, 16);", False),
    ],
)
def test_a_reduction_of_32_lanes_starts_at_16(statement: str, found: bool) -> None:
    def said(qualifier: str) -> list[int]:
        text = f"{qualifier} void k(int x, unsigned long long m) {{\n  {statement}\n}}\n"
        return [
            note.line for note in gpulab.hipify(text).notes if "the steps 16, 8, 4, 2, 1 join 32 lanes" in str(note)
        ]

    assert said("__global__") == ([2] if found else [])
    assert said("static") == []  # host code has no lanes


def test_a_reduction_in_a_macro_starts_at_16() -> None:
    assert said("#define SUM(x) __shfl_down(x, 16)\n", "the steps 16, 8, 4, 2, 1 join 32 lanes")


def notes(text: str) -> list[str]:
    return [str(note) for note in gpulab.hipify(text).notes]


def said(text: str, words: str) -> bool:
    return any(words in note for note in notes(text))


def in_kernel(statement: str) -> str:
    return f"__global__ void k(int* a, int n, int tid, int lane) {{\n  {statement}\n}}\n"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0), ("32", 32), ("32u", 32), ("32ULL", 32), ("1'000", 1000), ("0x1F", 31), ("0X1f", 31), ("040", 32),
        ("0b100000", 32), ("0B101", 5), ("08", None), ("0x", None), ("1.5", None), ("32f", None), ("1e3", None),
    ],
)  # fmt: skip
def test_integer_literals(text: str, value: int | None) -> None:
    """As C++ reads them: [lex.icon]."""
    assert findings._value(text) == value


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("int w = tid / 32;", "32 stands for a warp's 32 lanes"),
        ("int w = tid % 0x20;", "0x20 stands for a warp's 32 lanes"),
        ("int w = tid >> 5;", "5 stands for the 5 bits that number 32 lanes"),
        ("int w = tid & 31;", "31 stands for the last of 32 lanes, or their mask"),
        ("int w = 31 & tid;", "31 stands for"),
        ("int w = tid & (32 - 1);", "32 stands for"),
        ("int w = n / 32;", ""),
        ("int w = n >> 5;", ""),
        *((f"int w = {code};", "") for code in ("tid % 5", "tid / 5", "tid & 5", "lane < 5", "lane * 5", "5 == lane")),
        ("int w = tid << 5;", ""),
        ("int w = tid + 5;", ""),
        ("int w = n & 31;", ""),
        ("if (lane == 31) a[0] = 1;", "31 stands for"),
        ("if (31 == lane) a[0] = 1;", "31 stands for"),
        ("if (tid == 31) a[0] = 1;", ""),
        ("int w = lane - 31;", "31 stands for"),
        ("int w = lane + 31;", ""),
        ("int w = lane * 32;", "32 stands for"),
        ("int w = 32 * lane;", "32 stands for"),
        ("int w = lane << 32;", "32 stands for"),
        ("int w = n * 32;", ""),
        ("int w = lane + 32;", ""),
        ("if (tid < 32) a[0] = 1;", "32 stands for"),
        ("if (32 > tid) a[0] = 1;", "32 stands for"),
        ("if (threadIdx.x < 32) a[0] = 1;", "32 stands for"),
        ("if (n < 32) a[0] = 1;", ""),
        ("for (int i = lane; i < n; i += 32) a[i] = 1;", "32 stands for"),
        ("for (int i = tid; i < n; i += 32) a[i] = 1;", ""),
        ("lane += 32;", ""),
        ("const int warp_size = 32;", "32 stands for"),
        ("const int warp_size{32};", "32 stands for"),
        ("const int warps_per_block = 32;", ""),
        ("const int size = 32;", ""),
        ("int w = tid / 64;", ""),
        ("int w = tid / (32);", "32 stands for"),
        ("int w = tid & 32;", "32 stands for"),
        ("int w = tid >> 32;", "32 stands for"),
        ("int w = lane - (31);", ""),
        ("int w = tid - 31;", ""),
        ("if (n > 32 && tid) a[0] = 1;", ""),
        ("if (lane.x < 32) a[0] = 1;", "32 stands for"),
        ("while (lane += 32) a[0] = 1;", ""),
        ("for (int i = (lane); i < n; i -= 32) a[i] = 1;", "32 stands for"),
        # the ( of a for loop is looked for in 39 tokens, and a name in 24 before a number and 11 behind it
        (f"for (unsigned int i = lane{' + n' * 13}; i < n; i += 32) a[i] = 1;", "32 stands for"),
        (f"for (int i = lane{' + n' * 14}; i < n; i += 32) a[i] = 1;", ""),
        (f"int w = tid{' + n' * 11} / 32;", "32 stands for"),
        (f"int w = tid + -n{' + n' * 10} / 32;", ""),
        (f"int w = n / 32 + -n{' + n' * 3} + tid;", "32 stands for"),
        (f"int w = n / 32{' + n' * 5} + tid;", ""),
        ("int w = n / 32; int x = tid;", ""),
        ("int w = tid; int x = n / 32;", ""),
        ("if (n / 32) { a[tid] = 1; }", ""),
        ("int w = n / 32 } tid;", ""),
        ("const int warp_size(32);", "32 stands for"),
        ("f(warp + 3, 32);", ""),
    ],
)
def test_numbers_that_count_lanes(statement: str, words: str) -> None:
    found = [note for note in notes(in_kernel(statement)) if "stands for" in note]
    assert len(found) == bool(words), found
    assert all(words in note for note in found)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("#define WARP_SIZE 32\n", True),
        ("#define WARP_SIZE (32)\n", True),
        ("#define SIZE 32\n", False),
        ("#undef WARP_SIZE\n", False),
        ("template <int WARP = 32> struct S {};\n", True),
        ("enum { kWarp = 32 };\n", True),
        ("bool f(int tid) { return tid < 32; }\n", False),  # on the host a name of lanes is asked for
        ("bool f(int lane) { return lane < 32; }\n", True),
        ("lane < 32;", True),
        ("#if tid < 32\n#endif\n", True),
        ("int x = tid / 32", True),
        ("#define WARP_SIZE ((32))\n", True),
        ("#define WARP_SIZE (((32)))\n", False),
        ("#pragma warp 32\n", False),
        ("int x = 1;\n#define WARP 32\n", True),
        ("int x = 1;\n#define WARP 1 + n 32\n", False),
    ],
)
def test_where_a_warps_size_is_defined(text: str, found: bool) -> None:
    assert said(text, "stands for a warp's 32 lanes") == found


@pytest.mark.parametrize(
    ("statement", "advice"),
    [
        ("int w = tid & 31;", "Write warpSize - 1: a wavefront has 64 lanes on CDNA and 32 on RDNA."),
        ("int w = tid >> 5;", "Divide by warpSize instead: a wavefront has 64 lanes on CDNA and 32 on RDNA."),
        ("int w = tid / 32;",
         "Write warpSize in kernels, and ask hipDeviceProp_t::warpSize on the host: a wavefront has 64 lanes on CDNA "
         "and 32 on RDNA. warpSize is no constant expression, so size arrays for the smallest."),
    ],
)  # fmt: skip
def test_what_to_write_for_numbers_of_lanes(statement: str, advice: str) -> None:
    (note,) = gpulab.hipify(in_kernel(statement)).notes
    assert (note.kind, note.advice) == ("warp-size", advice)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("#define MASK 0xffffffff\n", [(1, 14, "MASK is a mask of 32 lanes.")]),
        ("#define MASK 0xffffffffffffffffull\n", []),
        ("#define OTHER 0xffffffff\n", []),
        ("#define MASK ~0\n", []),  # several tokens are not looked at
        ("const unsigned MASK = 1;\n", [(1, 16, "MASK is a mask of lanes in 32 bits.")]),
        *((f"unsigned MASK{sign}\n", [(1, 10, "MASK is a mask of lanes in 32 bits.")])
          for sign in (" = 1;", "{1};", "(1);", ";", ", b;", ")")),
        ("unsigned MASK[2];\n", []),
        ("unsigned long long MASK = 1;\n", []),
        ("float MASK = 1;\n", []),
    ],
)  # fmt: skip
def test_names_that_are_given_as_masks(text: str, found: list[tuple[int, int, str]]) -> None:
    notes = gpulab.hipify(text + "__device__ int f() { return __any_sync(MASK, 1); }\n").notes
    assert [(note.line, note.column, note.what) for note in notes if note.kind == "lane-mask"] == found


FULL = "is a mask of 32 lanes."


@pytest.mark.parametrize(
    ("mask", "words"),
    [
        *((text, FULL) for text in
          ("0xffffffff", "0xFFFFFFFFu", "0xffffffffUL", "4294967295", "4294967295u", "~0", "~0u", "-1", "(unsigned)-1",
           "UINT_MAX")),
        ("0xffff", "0xffff is a mask in 32 bits."),
        ("0xffffffffffffffffull", ""),
        ("0xfffffffffull", ""),
        ("mask", ""),
    ],
)  # fmt: skip
def test_masks_that_are_written_out(mask: str, words: str) -> None:
    found = [note for note in notes(in_kernel(f"a[0] = __shfl_sync({mask}, n, 0);")) if " is a mask " in note]
    assert len(found) == bool(words), found
    assert all(words in note for note in found)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("unsigned m = __ballot_sync(~0ull, tid);", "m keeps __ballot_sync's mask in 32 bits"),
        ("int m = __activemask();", "m keeps __activemask's mask in 32 bits"),
        ("uint32_t m = 0; m |= __match_any_sync(~0ull, tid);", ""),
        ("unsigned long long m = __ballot_sync(~0ull, tid);", ""),
        ("long int m = __ballot_sync(~0ull, tid);", ""),
        ("auto m = __ballot_sync(~0ull, tid);", ""),
        ("int m = __popc(__ballot_sync(~0ull, tid));", "__popc reads 32 bits of a mask of lanes"),
        ("auto m = __ballot_sync(~0ull, tid); a[0] = __ffs(m);", "__ffs reads 32 bits of a mask of lanes"),
        ("auto m = n; a[0] = __ffs(m);", ""),
        ("auto m = __ballot_sync(~0ull, tid) == 0; a[0] = __popc(n);", ""),
        ("a[0] = __any_sync(n, tid);", "n is a mask of lanes in 32 bits"),
        ("a[0] = __any_sync(a, tid);", ""),
        ("__syncwarp(n);", "n is a mask of lanes in 32 bits"),
        ("a[0] = 1 << lane;", "1 << lane has 32 bits"),
        ("a[0] = 1u << (threadIdx.x % n); a[1] = lane;", ""),
        ("a[0] = 1ULL << lane;", ""),
        ("a[0] = 2 << lane;", ""),
        ("a[0] = 1 << n;", ""),
        ("a[0] = 1 << (((lane)));", "1 << lane has 32 bits"),
        ("a[0] = 1 << ((((lane))));", ""),
        ("int m; m = __ballot_sync(~0ull, tid);", ""),
        ("m = __activemask(); a[0] = __popc(m);", "__popc reads 32 bits of a mask of lanes"),
        ("m |= __activemask(); a[0] = __popc(m);", "__popc reads 32 bits of a mask of lanes"),
        ("unsigned m; m = 1; int n = f(m), m2 = __ballot_sync(~0ull, tid);", ""),
        # a variable is looked for in 16 tokens before the call
        (f"int m = n{' + n' * 6} + __activemask();", "m keeps __activemask's mask in 32 bits"),
        (f"int m = -n{' + n' * 6} + __activemask();", "m keeps __activemask's mask in 32 bits"),
        (f"int m = -n{' + n' * 6} + -__activemask();", ""),
        *((f"int m = __ballot_sync(~0ull, tid) {sign} n;", "")
          for sign in ("==", "!=", "<", ">", "<=", ">=", "&&", "||", "?")),
        *((f"int m = n {sign} __activemask();", "") for sign in ("==", "!=", "?")),
        ("int m = __activemask() & n;", "m keeps __activemask's mask in 32 bits"),
        ("x = return __activemask();", ""),
        ("int m = f(__popc(n), __activemask());", ""),
        ("unsigned int m = __activemask();", "m keeps"),
        ("unsigned long m = __activemask();", ""),
        *((f"{name} m = __activemask();", "m keeps") for name in ("uint32_t", "int32_t", "uint", "u32", "unsigned")),
        *((f"auto m = __ballot(tid); a[0] = {name}(m);", f"{name} reads 32 bits of a mask of lanes")
          for name in ("__popc", "__ffs", "__clz", "__brev")),
        ("auto m = __ballot(tid); a[0] = f(m) + __popc(n);", ""),
        ("auto m = __ballot(tid); a[0] = __popc(n) + m;", ""),
        ("auto m = __ballot(tid); a[0] = __popc;", ""),
    ],
)  # fmt: skip
def test_masks_of_lanes_in_32_bits(statement: str, words: str) -> None:
    found = [note for note in notes(in_kernel(statement)) if "32 bits" in note]
    assert len(found) == bool(words), found
    assert all(words in note for note in found)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('#include <helper_cuda.h>\n', "<helper_cuda.h> belongs to NVIDIA's samples"),
        ("__global__ void k() { asm volatile(\"bar.sync 0;\" : : : \"memory\"); }", "Write __syncthreads() instead"),
        ("__global__ void k() { asm(\"what 0;\"); }", "Write it in C++ or with a function of HIP"),
        ("__global__ void k() { asm volatile(\"\" ::: \"memory\"); }", "orders memory for the compiler only"),
        ("__global__ void k() { int m; asm(\"mov.u32 %0, %lanemask_lt;\" : \"=r\"(m)); }",
         "Write __lanemask_lt() instead"),
        ("texture<float, 2> t;", "texture references are gone"),
        ("__global__ void __launch_bounds__(256, 2) k() {}", "2 counts blocks of a multiprocessor"),
        ("__global__ void __launch_bounds__(256, 2, 1) k() {}", "A third argument, for clusters"),
        ("#if __CUDA_ARCH__ >= 700\n#endif\n", "__CUDA_ARCH__ is never defined"),
        ("#if __CUDA_ARCH__ < 600\n__device__ double atomicAdd(double* p, double x) { return x; }\n#endif\n",
         "HIP has atomicAdd for double itself"),
        ("#if CUDA_VERSION > 1\n#endif\n", "CUDA_VERSION became HIP_VERSION"),
        ("#if __CUDACC_VER_MAJOR__ > 1\n#endif\n", "__CUDACC_VER_MAJOR__ is not defined by HIP's compiler"),
        ("#ifdef __NVCC__\n#endif\n", "__NVCC__ is not defined by HIP's compiler"),
        ("void f() { auto t = tiled_partition<32>(b); }", "a tile of 32 is a whole warp"),
        ("void f() { auto t = tiled_partition<128>(b); }", "a tile of 128 is larger than a wavefront"),
        ("void f() { this_cluster(); }", "HIP has no this_cluster"),
        ("using namespace nvcuda;", "nvcuda::wmma is for NVIDIA's tensor cores"),
        ("cuda::atomic<int> a;", "cuda::atomic is from libcu++"),
        ("__global__ void k() { k<<<1, 1>>>(); }", "a kernel launches a kernel"),
        ("__global__ void k() { cudaDeviceSynchronize(); }", "cudaDeviceSynchronize is called in device code"),
        ("void f() { cudaDeviceProp p; int n = p.major; }", "major numbers AMD's architectures"),
        ("void f() { cudaDeviceProp* p; int n = p->tccDriverX; }", "hipDeviceProp_t has no tccDriverX"),
        ("void f() { cudaDeviceProp p[2]; int n = p[1].sparseCudaArraySupported; }", "Write sparseHipArraySupported."),
        ("void f() { cudaPointerAttributes p; int n = p.memoryType; }", "hipPointerAttribute_t has no memoryType"),
    ],
)  # fmt: skip
def test_names_that_say_it_all(text: str, words: str) -> None:
    assert said(text, words), notes(text)


@pytest.mark.parametrize(
    "text",
    [
        "#include <helper.h>\n",
        "__global__ void __launch_bounds__(256) k() {}",
        "#ifdef __CUDA_ARCH__\n#endif\n",
        "#if defined(__CUDA_ARCH__) || defined __CUDA_ARCH__\n#endif\n",
        "__device__ double atomicAdd(double* p, double x);",
        "__device__ double add(double* p) { return atomicAdd(p, 1); }",
        "void f() { auto t = tiled_partition<64>(b); }",
        "void f() { auto t = tiled_partition<16>(b); }",
        "void f() { auto p = thrust::cuda::par; }",
        "void f() { cudaDeviceProp p; int n = p.warpSize; }",
        "void f() { cudaPointerAttributes p; auto n = p.devicePointer; }",
        "void f() { k<<<1, 1>>>(); }",
    ],
)
def test_what_needs_nobody(text: str) -> None:
    assert notes(text) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("cudaNoSuchCall(1);", [(1, 1, "unknown", "cudaNoSuchCall is not in the table of CUDA names.")]),
        ("x = cudaNoSuchName;", [(1, 5, "unknown", "cudaNoSuchName is not in the table of CUDA names.")]),
        ("x = CU_NO_SUCH;", [(1, 5, "unknown", "CU_NO_SUCH is not in the table of CUDA names.")]),
        ("cublasNoSuch(1);", [(1, 1, "unknown", "cublasNoSuch is not in the table of CUDA names.")]),
        ("x = cublasNoSuch;", []),
        ("x.cudaNoSuch(1); mine::cudaNoSuch();", []),
        ("int cudaMine = 1; cudaMine(2);", []),
        ("int cudaArrayGetPlane(int); cudaArrayGetPlane(1);", []),
        ("\n  cudaArrayGetPlane(1);", [(2, 3, "unsupported", "cudaArrayGetPlane has no counterpart in HIP.")]),
        ("#include <nv/target>\n", [(1, 10, "header", "HIP itself has no header <nv/target>.")]),
        ('#include "cublasXt.h"\n', [(1, 10, "header", 'HIP itself has no header "cublasXt.h".')]),
        ("#include <a/helper_cuda.h>\n",
         [(1, 10, "header", "<a/helper_cuda.h> belongs to NVIDIA's samples, not to CUDA.")]),
    ],
)  # fmt: skip
def test_names_without_hip(text: str, found: list[tuple[int, int, str, str]]) -> None:
    assert [(note.line, note.column, note.kind, note.what) for note in gpulab.hipify(text).notes] == found


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("cudaNoSuchCall(1);",
         "If it is your own, nothing is to do. Otherwise look it up in HIP's documentation."),
        ("cudaArrayGetPlane(1);", "Look for another way in HIP's documentation, or leave it out."),
        ("cudaCtxResetPersistingL2Cache();", "HIP does not control how the L2 cache keeps data; leave the call out."),
        ("#include <cuda/std/atomic>\n",
         "ROCm's libhipcxx has a header of this name; a kernel in a cell of gpulab cannot use it."),
        ("#include <cublasXt.h>\n", "hipBLAS has no multi-GPU interface of this kind."),
        ("#include <cufftw.h>\n", "There is no FFTW interface in hipFFT."),
    ],
)  # fmt: skip
def test_what_to_do_about_names_without_hip(text: str, advice: str) -> None:
    (note,) = gpulab.hipify(text).notes
    assert note.advice == advice


def test_what_to_do_about_headers() -> None:
    there = "ROCm's libhipcxx has a header of this name; a kernel in a cell of gpulab cannot use it"
    advice = {name: findings._header_advice(name) for name in ("cuda/x", "nv/x", "cuda_x.h", "x/cuda/y.h", "cudax/y")}
    other = "leave it out, or port what it declares"
    assert advice == {"cuda/x": there, "nv/x": there, "cuda_x.h": other, "x/cuda/y.h": other, "cudax/y": other}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("leave it out", "Leave it out."),
        ("leave it out.", "Leave it out."),
        ("use: that", "Use: that."),
        ("cudaFree is there", "cudaFree is there."),
        ("hiprtc has it", "hiprtc has it."),
        ("roctx has it", "roctx has it."),
        ("f() has it", "f() has it."),
        ("x", "X."),
    ],
)
def test_sentences_keep_the_first_letter_of_names(text: str, sentence: str) -> None:
    assert findings._sentence(text) == sentence


@pytest.mark.parametrize(
    ("length", "shown"), [(160, "cudaNoSuch();" + "x" * 147), (161, "cudaNoSuch();" + "x" * 144 + "...")]
)
def test_the_line_of_a_note_is_cut_to_160_characters(length: int, shown: str) -> None:
    text = f"int a;\n  {'cudaNoSuch();'.ljust(length, 'x')} \nint b;"
    (note,) = gpulab.hipify(text, name="a.cu", first_line=20).notes
    assert note.code == shown
    assert note.text("a.cu") == (
        "a.cu:21:3: unknown: cudaNoSuch is not in the table of CUDA names.\n"
        f"    {shown}\n"
        "    → If it is your own, nothing is to do. Otherwise look it up in HIP's documentation."
    )


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("#ifndef __CUDA_ARCH__", False),
        ("#if !defined(__CUDA_ARCH__)", False),
        ("#ifndef __CUDA_ARCH__\n#else", False),
        ("#ifndef OTHER", True),
        ("#if defined(__CUDA_ARCH__)", True),
        ("#ifndef __CUDA_ARCH__\n#endif", True),
        ("int n = 1;", True),
        ("#ifndef __CUDA_ARCH__\n" + "x; " * 190, False),
        ("#ifndef __CUDA_ARCH__\n" + "x; " * 205, True),
    ],
)
def test_calls_of_the_runtime_in_code_for_the_host_alone(condition: str, found: bool) -> None:
    text = f"__device__ void f() {{\n{condition}\n  cudaFree(0);\n}}\n"
    said = [note.what for note in gpulab.hipify(text).notes if note.kind == "dynamic-parallelism"]
    assert said == (["cudaFree is called in device code."] if found else [])


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        *((f"{name}(a);", [f"{name} is called in device code."]) for name in (
            "cudaDeviceSynchronize", "cudaMalloc", "cudaMallocManaged", "cudaMemcpyAsync", "cudaMemsetAsync",
            "cudaStreamCreate", "cudaEventRecord", "cudaGetLastError")),
        ("a.cudaFree(0); b->cudaFree(0);", []),
        ("x = cudaFree;", []),
        ("k<<<1, 2>>>(a);", ["a kernel launches a kernel."]),
        ("k<<<1>>>(a);", ["a kernel launches a kernel."]),
        ("operator<<<x>(a);", []),
    ],
)  # fmt: skip
def test_launches_and_calls_in_device_code(statement: str, found: list[str]) -> None:
    notes = gpulab.hipify(in_kernel(statement)).notes
    assert [note.what for note in notes if note.kind in ("dynamic-parallelism", "launch")] == found
    outside = gpulab.hipify(f"void f() {{ {statement} }}").notes
    assert [note.what for note in outside if note.kind in ("dynamic-parallelism", "launch")] == (
        ["this launch could not be read."] if "<<<1>>>" in statement else []
    )


def of_assembly(text: str) -> list[str]:
    return [note.advice for note in gpulab.hipify(text).notes if note.kind == "inline-ptx"]


def test_which_text_of_an_assembly_statement_is_read() -> None:
    barrier, plain = "Write __syncthreads() instead.", "Write it in C++ or with a function of HIP."
    assert of_assembly('asm("bar" ".sync 0;");') == [plain]  # each text by itself
    assert of_assembly('asm goto("bar.sync 0;");') == of_assembly('__asm("bar.sync 0;");') == [barrier]
    assert of_assembly('__asm__ __volatile__("bar.sync 0;");') == [barrier]
    assert of_assembly('asm("mov.u32 %0, 1;" : "=r"(x) : "bar.sync");') == [plain]
    assert of_assembly('asm("bar.sync 0;"; x') == [barrier]  # without an end
    assert of_assembly("asm; asm x(1);") == []
    assert of_assembly('f("a"); asm(x, "bar.sync 0;"); g("trap");') == [barrier]


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("float x = tex2D<float>(t, 1, 2);", ["texture"]),
        ("x = tex1Dfetch(t, 1);", ["texture"]),
        ("x = texCubemapLayered(t, 1);", ["texture"]),
        ("surf3Dread(s, 1); surf2DLayeredwrite(1, s);", ["texture", "texture"]),
        ("int tex2D = 1; f(tex2D); tex2Dmine(1); mytex2D(1);", []),
        ("int texture = 1;", []),
        ("nvcuda::wmma::fill(f, 0);", ["tensor-core"]),
        ("namespace w = nvcuda::wmma;", ["tensor-core"]),
        ("int nvcuda = 1;", []),
        ("x = cuda::std::min(1, 2);", ["libcu++"]),
        ("x.cuda::y; mine::cuda::y; p->cuda::y; int cuda = 1;", []),
        ("auto g = this_cluster();", ["cooperative-groups"]),
        ("auto g = labeled_partition(b, 1);", ["cooperative-groups"]),
        ("tiled_partition<65>(b); thread_block_tile<64> t; thread_block_tile<N> u; tiled_partition(b, 128);",
         ["cooperative-groups"]),
    ],
)  # fmt: skip
def test_kinds_of_what_names_say(statement: str, found: list[str]) -> None:
    assert [note.kind for note in gpulab.hipify(in_kernel(statement)).notes] == found


@pytest.mark.parametrize(
    ("bounds", "what", "advice"),
    [
        ("(256, 2)", "2", ""),
        ("(N + 1, M * 2)", "M * 2", ""),
        ("(256, 2, 1)", "2", " A third argument, for clusters, does not exist in HIP."),
    ],
)
def test_launch_bounds_in_words(bounds: str, what: str, advice: str) -> None:
    (note,) = gpulab.hipify(f"__global__ void __launch_bounds__{bounds} k() {{}}").notes
    first = bounds[1:].split(",")[0]
    assert note.column == len("__global__ void __launch_bounds__") + bounds.index(", ") + 3
    assert note.what == (
        f"{what} counts blocks of a multiprocessor in CUDA; HIP's second argument counts wavefronts of a SIMD."
    )
    assert note.advice == (
        f"For the same occupancy: ({what}) * ({first}) / (warpSize * SIMDs of a compute unit), with 4 SIMDs on CDNA. "
        f"Leave it out unless registers are what limits the kernel.{advice}"
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("cudaDeviceProp const* p; p->major; p->x;",
         [(29, "major numbers AMD's architectures, not CUDA's compute capabilities."),
          (39, "hipDeviceProp_t has no x.")]),
        ("cudaDeviceProp& p = q[0]; p.minor;",
         [(29, "minor numbers AMD's architectures, not CUDA's compute capabilities.")]),
        ("cudaDeviceProp p[2]; p[1].x; p[0]; p;", [(27, "hipDeviceProp_t has no x.")]),
        ("cudaDeviceProp p; q.x; p.name; x.p; p.(x);", []),
        ("cudaDeviceProp; p.x;", []),
        ("cudaPointerAttributes p; p.major; p.minor; p.type;",
         [(28, "hipPointerAttribute_t has no major."), (37, "hipPointerAttribute_t has no minor.")]),
    ],
)  # fmt: skip
def test_members_of_properties(text: str, found: list[tuple[int, str]]) -> None:
    notes = gpulab.hipify(text).notes
    assert [(note.column, note.what) for note in notes if note.kind == "device-property"] == found


STEPS = "s[tid] += s[tid + 16]; {between} s[tid] += s[tid + 8];"


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        (STEPS.format(between=""), 1),
        (STEPS.format(between="s[tid] += s[tid + 4];"), 1),  # one for the whole run
        (STEPS.format(between="if (n >= 32) {"), 1),
        (STEPS.format(between="__syncthreads();"), 0),
        ("s[tid] = s[tid] + s[tid + 16]; s[tid] = s[tid] + s[tid + 8];", 1),
        ("s[tid] += a[tid + 16]; s[tid] += a[tid + 8];", 0),
        ("s[tid] += s[tid]; s[tid] += s[tid];", 0),
        ("s[tid] += s[n]; s[tid] += s[n];", 0),
        ("s[tid] += s[tid + 16];", 0),
        *(
            (f"s[tid] {sign} s[tid + 16]; s[tid] {sign} s[tid + 8];", 1)
            for sign in ("+=", "-=", "*=", "=", "|=", "&=", "^=")
        ),
        ("s[tid] == s[tid + 16]; s[tid] == s[tid + 8];", 0),
        ("s[tid] += s[tid + 16] } s[tid] += s[tid + 8];", 0),
        ("s[tid] += s[tid + 16]; x = 1; s[tid] += s[tid + 8]; s[tid] += s[tid + 4];", 1),
        ("s[tid] += s[tid + 16]; s[tid] += s[tid + 8]; x = 1; s[tid] += s[tid + 4]; s[tid] += s[tid + 2];", 2),
        ("s[tid] += s[tid + 16]; } if (n) { t[tid] += t[tid + 8];", 1),
        ("s[tid] += s[tid + 16]; if n s[tid] += s[tid + 8];", 0),
    ],
)
def test_steps_without_a_barrier(statement: str, found: int) -> None:
    said = [note for note in notes(in_kernel(statement)) if "have no barrier between them" in note]
    assert len(said) == found
