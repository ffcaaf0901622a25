"""The headers as the compiler sees them: all names on all targets, types and layouts, messages that teach, lines."""

from __future__ import annotations

import re

import pytest

from gpulab import toolchain
from gpulab.errors import CompileError

TARGETS = ["gfx942", "gfx1100", "gfx90a", "gfx950", "gfx1030", "gfx1201"]
ONE = [
    "sin",
    "cos",
    "tan",
    "sinpi",
    "cospi",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "exp",
    "exp2",
    "exp10",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "cbrt",
    "rcbrt",
    "erf",
    "erfc",
    "erfinv",
    "erfcinv",
    "erfcx",
    "normcdf",
    "normcdfinv",
    "tgamma",
    "lgamma",
    "j0",
    "j1",
    "y0",
    "y1",
    "cyl_bessel_i0",
    "cyl_bessel_i1",
    "fabs",
    "floor",
    "ceil",
    "trunc",
    "round",
    "rint",
    "nearbyint",
    "sqrt",
    "rsqrt",
    "logb",
    "lround",
    "llround",
    "lrint",
    "llrint",
    "ilogb",
]
TWO = ["pow", "atan2", "fmod", "remainder", "hypot", "rhypot", "fmin", "fmax", "fdim", "copysign", "nextafter"]


def compile_kernel(
    body: str, arch: str = "gfx942", before: str = "", parameters: str = "float* f, double* d, int* i"
) -> str:
    source = f"{before}\n__global__ void kernel({parameters}) {{\n{body}\n}}"
    return toolchain.compile(source, arch=arch).assembly


@pytest.mark.parametrize("arch", TARGETS)
def test_all_mathematical_names_on_every_target(arch: str) -> None:
    lines = [f"f[0] += {n}f(f[1]) + {n}(f[1]); d[0] += {n}(d[1]) + {n}(i[1]);" for n in ONE]
    lines += [f"f[0] += {n}f(f[1], f[2]) + {n}(f[1], f[2]); d[0] += {n}(d[1], d[2]) + {n}(d[1], f[2]);" for n in TWO]
    lines += [
        f"d[0] += std::{n}(f[1]) + std::{n}(d[1]) + std::{n}(i[1]);" for n in ("sin", "sqrt", "exp", "floor", "abs")
    ]
    lines.append(
        "d[0] += jn(2, d[1]) + ynf(3, f[1]) + norm4df(1, 2, 3, f[1]) + rnorm3d(1, 2, d[1]) + powif(f[1], i[0]);"
    )
    lines.append('d[0] += norm(3, d) + rnormf(3, f) + nan("") + nanf("") + isnan(f[1]) + isinf(d[1]) + signbit(f[1]);')
    assembly = compile_kernel("\n".join(lines), arch)
    assert "s_endpgm" in assembly


@pytest.mark.parametrize("arch", TARGETS)
def test_everything_else_on_every_target(arch: str) -> None:
    body = """
    extern __shared__ float dynamic[];
    __shared__ float4 tile[16];
    int t = threadIdx.x;
    tile[t & 15] = make_float4(t, 1, 2, 3);
    dynamic[t] = table[t & 3];
    __syncthreads();
    atomicAdd(&counter, 1); atomicAdd(f, 1.0f); atomicAdd(d, 1.0); atomicMax(f, 2.0f); atomicMin(d, 2.0);
    atomicAdd((unsigned long long*)d, 1ull); atomicCAS(i, 1, 2); atomicInc((unsigned*)i, 3u); unsafeAtomicAdd(f, 1.0f);
    safeAtomicAdd(d, 1.0); atomicAdd_system(i, 1); atomicExch_block(f, 1.0f); atomicXor((unsigned long long*)d, 1ull);
    f[t] = apply(f[t], [=](float x) { return x * tile[(t + 1) & 15].y; }) + dynamic[t ^ 1];
    i[t] = __syncthreads_count(t > 1) + __popcll(__ballot(t & 1)) + __shfl_down(t, 1) + __any(t) + warpSize
         + (int)__match_any(t) + __reduce_add_sync(__activemask(), t) + (int)clock64() + (int)wall_clock64()
         + __float2int_ru(f[t]) + __clz(t) + __mul24(t, 3) + (int)__byte_perm(t, 2, 0x3210);
    d[t] = __ull2double_rd(t) + __hiloint2double(t, 2) + __shfl_xor(d[t], 1) + std::numeric_limits<double>::epsilon();
    __threadfence(); __threadfence_block(); __threadfence_system(); __syncwarp();
    if (t == 2) printf("%d %f %s\\n", t, f[0], "text");
    if (t == 99) __trap();
    """
    before = """
    #include <hip/hip_runtime.h>
    #include <cmath>
    #include <cstdint>
    #include <algorithm>
    #include <limits>
    #include <type_traits>
    __constant__ float table[4] = {1, 2, 3, 4};
    __device__ int counter;
    template <typename T, typename F> __device__ T apply(T x, F f) { return f(x); }
    static __device__ __noinline__ float twice(float x) { return 2 * x; }
    """
    assembly = compile_kernel(body, arch, before)
    assert "hidden_printf_buffer" in assembly
    assert "0:0:" in assembly


# HIP's layouts: types of two and four elements are aligned to their size, others to their element.
LAYOUTS = [
    (f"{name}{n}", size * n, size * (n if n != 3 else 1))
    for name, size in [("char", 1), ("uchar", 1), ("short", 2), ("ushort", 2), ("int", 4), ("uint", 4), ("long", 8),
                       ("ulong", 8), ("longlong", 8), ("ulonglong", 8), ("float", 4), ("double", 8)]
    for n in (1, 2, 3, 4)
]  # fmt: skip


def test_sizes_and_alignment_of_vector_types() -> None:
    checks = "\n".join(
        f"static_assert(sizeof({t}) == {size} && alignof({t}) == {align});" for t, size, align in LAYOUTS
    )
    assert len(LAYOUTS) == 48
    compile_kernel("", before=checks + "\nstatic_assert(sizeof(dim3) == 12);")


def test_a_float4_is_loaded_by_one_instruction() -> None:
    assembly = compile_kernel("out[threadIdx.x] = in[threadIdx.x];", parameters="const float4* in, float4* out")
    assert "global_load_dwordx4" in assembly
    assert "global_store_dwordx4" in assembly


@pytest.mark.parametrize("call", ["__shfl_sync(0xffffffff, v, 0)", "__shfl_down_sync(0xffffffffu, v, 1)",
                                  "__ballot_sync(-1, v)", "__reduce_add_sync(0xffffffff, v)",
                                  "__any_sync(1, v)"])  # fmt: skip
def test_a_32_bit_lane_mask_is_refused_with_the_reason(call: str) -> None:
    with pytest.raises(CompileError) as error:
        compile_kernel(f"int v = i[0];\ni[1] = {call};")
    text = str(error.value)
    assert "64-bit" in text
    assert "0xffffffffffffffffULL" in text


def test_the_wave_size_is_no_constant_expression() -> None:
    with pytest.raises(CompileError):
        compile_kernel("int a[warpSize]; static_assert(sizeof(a) == 256); i[0] = a[i[1]];")
    assert "v_mov_b32_e32 v1, 64" in compile_kernel("i[0] = warpSize;")
    assert "32" in compile_kernel("i[0] = warpSize;", "gfx1100")


@pytest.mark.parametrize(
    ("statement", "instruction"),
    [
        ("atomicAdd(&i[threadIdx.x], 1);", "global_atomic_add"),
        ("i[0] = __shfl(i[threadIdx.x], 3);", "ds_bpermute_b32"),
        ("__syncthreads();", "s_barrier"),
        ("f[threadIdx.x] = sinf(f[threadIdx.x]);", "v_fma"),
        ("f[threadIdx.x] = __sinf(f[threadIdx.x]);", "v_sin_f32"),
        ("__threadfence();", "s_waitcnt"),
    ],
)
def test_instructions_of_a_header_belong_to_the_line_that_called_it(statement: str, instruction: str) -> None:
    assembly = compile_kernel(f"i[5] = 1;\n{statement}\ni[6] = 2;", before="")
    code = assembly[: assembly.index("s_endpgm")]
    line, found = 0, set()
    for text in code.splitlines():
        place = re.match(r"\s*\.loc\s+\d+\s+(\d+)", text)
        line = int(place[1]) if place else line
        if text.strip().startswith(instruction):
            found.add(line)
    assert 4 in found  # an empty line, the kernel's head, the first statement, this one
    assert found <= {2, 3, 4, 5}
    assert "gpulab/" not in re.sub(r"/gpulab\b", "", " ".join(re.findall(r"\.file.*", code)))


def test_launch_bounds_reach_the_compiler() -> None:
    before = "__global__ void __launch_bounds__(192) one(int* i) { i[0] = 1; }"
    before += "\ntemplate <int n> __global__ void __launch_bounds__(n, 2) many(int* i) { i[0] = n; }"
    before += "\ntemplate __global__ void many<96>(int*);"
    sizes = re.findall(r"max_flat_workgroup_size: *(\d+)", compile_kernel("", before=before))
    assert sorted(sizes) == ["1024", "192", "96"]


@pytest.mark.full
def test_a_bound_on_waves_limits_registers() -> None:
    body = "float x[200]; for (int k = 0; k < 200; ++k) x[k] = f[k * 64 + threadIdx.x]; __syncthreads();"
    body += "for (int k = 0; k < 200; ++k) f[k * 64 + threadIdx.x] = x[199 - k] * x[k];"
    used = []
    for bounds in ("__launch_bounds__(64)", "__launch_bounds__(64, 8)"):
        source = f"__global__ void {bounds} k(float* f) {{ {body} }}"
        (count,) = re.findall(r"\.vgpr_count: *(\d+)", toolchain.compile(source, arch="gfx942").assembly)
        used.append(int(count))
    assert used[0] > 128
    assert used[1] <= 64


def test_assert_takes_any_expression() -> None:
    before = "#include <cassert>\ntemplate <int a, int b> __device__ bool both() { return a < b; }"
    body = """
    assert(both<1, 2>() && "a text"); assert(f); assert(i[0]); assert((f[0] > 0) == true);
    if (i[1]) assert(i[2] == 1); else i[3] = 4;
    auto inside = [=] { assert(i[4] % 2 == 1); return 5; }; i[5] = inside();"""
    traps = re.findall(r"s_trap 2", compile_kernel(body, before=before))
    assert len(traps) >= 4  # the first is true; the others keep their own


@pytest.mark.full
@pytest.mark.parametrize("include", ["<cassert>", "<assert.h>", "<hip/hip_runtime.h>"])
def test_ndebug_turns_assert_off_and_on_again(include: str) -> None:
    off = f"#define NDEBUG\n#include {include}\n"
    assert "s_trap" not in compile_kernel("assert(i[0] > 0);", before=off)
    assert "s_trap" in compile_kernel("assert(i[0] > 0);", before=f"{off}#undef NDEBUG\n#include {include}\n")
    source = "__global__ void k(int* i) { assert(i[0] > 0); i[1] = 2; }"
    assert "s_trap" not in toolchain.compile(source, arch="gfx942", options=["-DNDEBUG"]).assembly


def test_nothing_is_emitted_for_what_is_not_used() -> None:
    assembly = compile_kernel("i[0] = 1;")
    assert assembly.count("@function") == 1
    assert "__gpulab" not in assembly


def test_library_functions_are_inlined() -> None:
    assembly = compile_kernel("f[0] = sinf(f[1]); d[0] = exp(d[1]); f[2] = powf(f[0], f[1]); i[0] = fmodf(f[1], f[2]);")
    assert "s_swappc" not in assembly
    assert "scratch_" not in assembly


@pytest.mark.parametrize(("source", "advice"), [
    ("#include <cuda_fp16.h>", "#include <hip/hip_fp16.h>"),
    ("#include <cooperative_groups.h>", "#include <hip/hip_cooperative_groups.h>"),
    ("__global__ void k(half2* x) {}", "#include <hip/hip_fp16.h>"),
    ("__device__ float f() { return __half2float(0); }", "#include <hip/hip_fp16.h>"),
    ("__global__ void k(__hip_bfloat16* x) {}", "#include <hip/hip_bf16.h>"),
    ("__global__ void k(__hip_fp8_e4m3* x) {}", "#include <hip/hip_fp8.h>"),
    ("namespace cg = cooperative_groups;", "#include <hip/hip_cooperative_groups.h>"),
    ("#include <hip/hip_fp16.h>\n__global__ void k(half* x) { x[0] = x[1] * 2.0f; }", "x * __half(2)"),
])  # fmt: skip
def test_the_way_to_a_header_on_demand(source: str, advice: str) -> None:
    with pytest.raises(CompileError) as error:
        toolchain.compile(source, arch="gfx942")
    assert advice in str(error.value)


def test_coordinates_can_be_copied_without_optimisation() -> None:
    source = "__global__ void k(int* x) { dim3 b = blockDim, g(gridDim); uint3 t = threadIdx; x[b.x] = g.y + t.z; }"
    assert "s_endpgm" in toolchain.compile(source, arch="gfx942", options=["-O0"]).assembly


@pytest.mark.full
def test_headers_in_older_standards() -> None:
    source = """
#include <hip/hip_bf16.h>
#include <hip/hip_complex.h>
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_fp16.h>
__global__ void vectors(float4* p) {
    float4 v = p[threadIdx.x];
    v += make_float4(1, 2, 3, 4);
    v[1] = 7;
    ++v;
    p[cooperative_groups::thread_rank(cooperative_groups::this_thread_block())] = v++ * 2.0f;
}
"""
    for standard in ("c++11", "c++14"):
        assert toolchain.compile(source, arch="gfx1100", options=[f"-std={standard}"]).elf
