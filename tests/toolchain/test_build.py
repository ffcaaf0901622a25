"""Compiling: signatures, lines, name expressions, headers, and what the ELF holds."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from gpulab import languages
from gpulab.errors import CompileError, GpulabError
from gpulab.toolchain import CodeObject, Parameter, build, compile, compiler, request

SAXPY = """extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
"""


def instructions(assembly: str) -> list[str]:
    """The instruction lines of a text, without comments."""
    bare = [line.split(";")[0].strip() for line in assembly.split("\n")]
    return [line for line in bare if re.match(r"(s|v|ds|global|flat|scratch|buffer)_\w+(\s|\Z)", line)]


def lines_of(assembly: str, mnemonic: str) -> set[tuple[str, int]]:
    """File and line of each instruction that begins with `mnemonic`, by the `.loc` before it."""
    files, here, found = {}, ("", 0), set()
    for line in assembly.split("\n"):
        if match := re.match(r'\s*\.file\s+(\d+)\s+(?:"[^"]*" )?"([^"]*)"', line):
            files[match[1]] = match[2]
        elif match := re.match(r"\s*\.loc\s+(\d+) (\d+)", line):
            here = (files[match[1]], int(match[2]))
        elif line.strip().startswith(mnemonic):
            found.add(here)
    return found


def test_signature_of_saxpy(arch: str) -> None:
    code = compile(SAXPY, arch=arch)
    assert code.arch == arch
    assert list(code.kernels) == ["saxpy"]
    # Offsets: the C rules for int, float and two 8-byte pointers.
    assert code.kernels["saxpy"].parameters == (
        Parameter("n", "int", "value", 4, "int32", 0),
        Parameter("a", "float", "value", 4, "float32", 4),
        Parameter("x", "const float *", "pointer", 8, "float32", 8),
        Parameter("y", "float *", "pointer", 8, "float32", 16),
    )
    assert str(code.kernels["saxpy"]) == "saxpy(int n, float a, const float *x, float *y)"


def test_signature_of_every_kind_of_parameter(arch: str) -> None:
    source = """
    struct Pair { int first; float rest[3]; };
    enum Colour : unsigned char { red, green };
    namespace tools {
    template <typename T>
    __global__ void mixed(Pair pair, float4 vector, float4* vectors, int** pointers, bool flag, volatile char* bytes,
                          unsigned long long wide, float* const* table, void* raw, char letter, unsigned char octet,
                          uint16_t half_word, short small, double* __restrict__ d, long l, T value, Colour colour,
                          const volatile unsigned* cv, size_t) {
      vectors[0].x = vector.x + pair.rest[1] + value;
    }
    template __global__ void mixed<double>(Pair, float4, float4*, int**, bool, volatile char*, unsigned long long,
        float* const*, void*, char, unsigned char, uint16_t, short, double* __restrict__, long, double, Colour,
        const volatile unsigned*, size_t);
    }
    """
    code = compile(source, arch=arch)
    (kernel,) = code.kernels.values()
    assert kernel.name == "tools::mixed<double>"
    found = [(p.name, p.type, p.kind, p.size, p.dtype, p.offset) for p in kernel.parameters]
    # Offsets and sizes: the System V rules for the C types (a 16-byte vector is aligned to 16).
    assert found == [
        ("pair", "Pair", "value", 16, None, 0),
        ("vector", "float4", "value", 16, None, 16),
        ("vectors", "float4 *", "pointer", 8, None, 32),
        ("pointers", "int **", "pointer", 8, "uint64", 40),
        ("flag", "bool", "value", 1, "bool", 48),
        ("bytes", "volatile char *", "pointer", 8, "int8", 56),
        ("wide", "unsigned long long", "value", 8, "uint64", 64),
        ("table", "float *const *", "pointer", 8, "uint64", 72),
        ("raw", "void *", "pointer", 8, None, 80),
        ("letter", "char", "value", 1, "int8", 88),
        ("octet", "unsigned char", "value", 1, "uint8", 89),
        ("half_word", "uint16_t", "value", 2, "uint16", 90),
        ("small", "short", "value", 2, "int16", 92),
        ("d", "double *__restrict", "pointer", 8, "float64", 96),
        ("l", "long", "value", 8, "int64", 104),
        ("value", "double", "value", 8, "float64", 112),
        ("colour", "Colour", "value", 1, "uint8", 120),
        ("cv", "const volatile unsigned int *", "pointer", 8, "uint32", 128),
        ("arg18", "size_t", "value", 8, "uint64", 136),
    ]


def test_reference_parameters_are_warned_of() -> None:
    code = compile("__global__ void k(float& x) { x = 1; }", arch="gfx942")
    (warning,) = code.warnings
    assert "by reference" in warning.message
    assert "pointer" in warning.advice
    assert code.find("k").parameters[0].kind == "pointer"


def test_elf_read_by_llvm(arch: str) -> None:
    """LLVM's own object reader sees the sections, the kernel descriptor and the architecture."""
    from llvmlite import binding

    code = compile(SAXPY, arch=arch)
    sections = {}
    for section in binding.ObjectFileRef.from_data(code.elf).sections():  # each is valid until the next is asked for
        if section.name():
            sections[section.name().decode()] = bytes(section.data())
    assert {".text", ".rodata", ".note", ".dynsym", ".gpulab.asm", ".gpulab.meta"} <= set(sections)
    assert sections[".gpulab.asm"] == code.assembly.encode()
    assert len(sections[".rodata"]) == 64  # AMDGPUUsage: a kernel descriptor is 64 bytes
    assert sections[".text"] != b""
    # e_flags: EF_AMDGPU_MACH of AMDGPUUsage, gfx942 is 0x4c, gfx1100 is 0x41
    assert code.elf[48] == {"gfx942": 0x4C, "gfx1100": 0x41}[arch]


def test_everything_travels_in_the_elf(arch: str) -> None:
    code = compile(
        SAXPY + "__device__ int table[4];", arch=arch, name="In [3]", first_line=7, name_expressions=["&table"]
    )
    assert CodeObject.from_elf(code.elf) == code
    assert code.name == "In [3]"
    assert code.first_line == 7
    assert code.source.startswith('extern "C"')
    assert code.name_expressions == {"&table": "table"}


def test_lines_are_the_learners(arch: str) -> None:
    source = """__device__ float square(float x) {
  return x * x;
}
__global__ void k(float* x, unsigned long long* y) {
  x[threadIdx.x] = square(x[threadIdx.x + 32]);
  y[0] = __ballot(x[1] > 0);
}
"""
    code = compile(source, arch=arch, name="In [3]", first_line=11)
    # Line 12 holds x * x, inlined; 15 the store around it; the header's __ballot counts for its caller's line 16.
    product = "v_mul_f32" if arch == "gfx942" else "v_dual_mul_f32"
    assert lines_of(code.assembly, product) == {("In [3]", 12)}
    assert lines_of(code.assembly, "global_store_dword " if arch == "gfx942" else "global_store_b32") == {
        ("In [3]", 15)
    }
    assert lines_of(code.assembly, "v_cmp_lt_f32") == {("In [3]", 16)}
    assert "/tmp" not in code.assembly
    assert "/gpulab/include" not in code.assembly


def test_debug_information_does_not_change_the_code(arch: str, tmp_path) -> None:  # type: ignore[no-untyped-def]
    """The same source compiled by Clang alone, without -g, headers or library, gives the same instructions."""
    body = """
    __attribute__((global)) void k(float* x, const int* order, int n) {
      int i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
      float sum = 0;
      for (int j = 0; j < n; j++) sum += x[order[(i + j) % n]] * x[j];
      if (sum > 1 && i < n) x[i] = sum / (1 + x[i]);
    }
    """
    out = tmp_path / "plain.s"
    given = tmp_path / "plain.hip"
    given.write_text(body)
    command = [str(compiler.executable()), "clang", "-x", "hip", "--cuda-device-only", f"--offload-arch={arch}"]
    command += ["-nogpulib", "-nogpuinc", "-O3", *compiler.KEPT_ORDER, "-S", "-o", str(out), str(given)]
    subprocess.run(command, check=True, capture_output=True)
    plain = instructions(out.read_text())
    assert len(plain) > 40
    assert instructions(compile(body, arch=arch).assembly) == plain


def test_precompiled_headers_change_nothing(arch: str) -> None:
    source = "__global__ void k(float* x) { x[threadIdx.x] = sinf(x[0]) + __shfl_down(x[1], 1); }"
    usual = compile(source, arch=arch)
    anew = compile(source, arch=arch, options=["-DUNUSED"])
    assert usual.assembly == anew.assembly
    assert usual.kernels == anew.kernels


def test_text_is_assembled_as_it_is_kept(arch: str) -> None:
    """Assembling the kept text again gives the machine code that is in the ELF."""
    source = (
        SAXPY
        + "__global__ void t(float* x) { __shared__ float s[8]; s[threadIdx.x] = x[0]; __syncthreads(); x[1] = s[3]; }"
    )
    code = compile(source, arch=arch)
    again = languages.compile(code.assembly, "asm", arch=arch)
    assert text_section(again.elf) == text_section(code.elf) != b""


def text_section(elf: bytes) -> bytes:
    """The contents of .text, read by the ELF specification's tables."""
    import struct

    start, count, names = struct.unpack_from("<Q", elf, 40)[0], *struct.unpack_from("<HH", elf, 60)
    headers = [struct.unpack_from("<IIQQQQIIQQ", elf, start + 64 * i) for i in range(count)]
    for header in headers:
        at = headers[names][4] + header[0]
        if elf[at : at + 6] == b".text\0":
            return elf[header[4] : header[4] + header[5]]
    return b""


def test_name_expressions(arch: str) -> None:
    source = """
    template <typename T> __global__ void scale(T* x) { x[0] *= 2; }
    __device__ int counter = 3;
    namespace inner { __constant__ float table[4]; }
    __global__ void plain(int* x) { x[0] = counter; }
    """
    wanted = ["scale<float>", "&scale<double>", "&counter", "inner::table", "plain", "(scale<int>)"]
    code = compile(source, arch=arch, name_expressions=wanted)
    # Itanium C++ ABI mangling, by hand: template kernels, a C-like variable, a variable in a namespace.
    assert code.name_expressions == {
        "scale<float>": "_Z5scaleIfEvPT_",
        "&scale<double>": "_Z5scaleIdEvPT_",
        "&counter": "counter",
        "inner::table": "_ZN5inner5tableE",
        "plain": "_Z5plainPi",
        "(scale<int>)": "_Z5scaleIiEvPT_",
    }
    assert set(code.kernels) == {"_Z5scaleIfEvPT_", "_Z5scaleIdEvPT_", "_Z5scaleIiEvPT_", "_Z5plainPi"}
    assert "__gpulab_name_expression" not in code.assembly.replace("name expressions", "")
    explicit = compile(
        source + "template __global__ void scale<float>(float*); template __global__ void scale<double>(double*);"
        "template __global__ void scale<int>(int*);",
        arch=arch,
    )
    assert sorted(instructions(explicit.assembly)) == sorted(instructions(code.assembly))


def test_name_expression_that_does_not_exist() -> None:
    with pytest.raises(CompileError, match="a name expression") as caught:
        compile(SAXPY, arch="gfx942", name_expressions=["nothing<float>"])
    assert "nothing" in str(caught.value)
    with pytest.raises(GpulabError, match="not accepted as a name expression"):
        compile(SAXPY, arch="gfx942", name_expressions=["saxpy; } int evil() {"])


def test_headers_given_by_name() -> None:
    code = compile(
        '#include "lib/scale.h"\n#include <other.h>\n__global__ void k(float* x) { x[0] = scale(x[1]) + OTHER; }',
        arch="gfx942",
        headers={
            "lib/scale.h": "#pragma once\n__device__ float scale(float x) { return 3 * x; }",
            "other.h": "#define OTHER 2",
        },
    )
    assert list(code.kernels) == ["_Z1kPf"]
    with pytest.raises(CompileError) as caught:
        compile('#include "bad.h"\n', arch="gfx942", headers={"bad.h": "int x\nint y;\n"})
    assert caught.value.diagnostics[0].where is not None
    assert (caught.value.diagnostics[0].where.file, caught.value.diagnostics[0].where.line) == ("bad.h", 1)
    with pytest.raises(GpulabError, match="name of a header"):
        compile("", arch="gfx942", headers={"../x.h": ""})


def test_include_of_hip_runtime_is_harmless(arch: str) -> None:
    with_line = compile("#include <hip/hip_runtime.h>\n" + SAXPY, arch=arch)
    assert instructions(with_line.assembly) == instructions(compile(SAXPY, arch=arch).assembly)


def test_finding_kernels() -> None:
    source = """
    template <typename T> __global__ void twice(T* x) { x[0] *= 2; }
    template __global__ void twice<float>(float*);
    __global__ void over(float* x) { x[0] = 1; }
    __global__ void over(int* x) { x[0] = 1; }
    """
    code = compile(source, arch="gfx942")
    assert code.find("twice").symbol == "_Z5twiceIfEvPT_"
    assert code.find("twice<float>") is code.find("_Z5twiceIfEvPT_")
    with pytest.raises(GpulabError, match="2 kernels named over"):
        code.find("over")
    with pytest.raises(GpulabError, match="did you mean over"):
        code.find("ovr")  # near to two kernels, the closest is named


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("template <typename T> __global__ void f(T* x) { x[0] = 1; }", "instantiated"),
        ("void f(float* x) { x[0] = 1; }", "marked __global__"),
        ("// nothing here", "empty"),
        ("namespace { __global__ void f(float* x) { x[0] = 1; } }", "unnamed namespace"),
    ],
)
def test_no_kernel_is_explained(source: str, told: str) -> None:
    code = compile(source, arch="gfx942")
    if code.kernels:  # Clang may keep a kernel of an unnamed namespace
        assert "unnamed" in told
        return
    with pytest.raises(GpulabError, match="no kernel in it") as caught:
        code.find("f")
    assert told in str(caught.value)


def test_options(arch: str) -> None:
    source = "#ifndef N\n#define N 1\n#endif\n__global__ void k(float* x) { x[0] = N * x[1] / x[2]; }"
    exact = compile(source, arch=arch, options=["-DN=3"])
    fast = compile(source, arch=arch, options=["-D", "N=3", "-ffast-math"])
    assert any("v_div_fixup_f32" in line for line in instructions(exact.assembly))
    assert not any("v_div_fixup_f32" in line for line in instructions(fast.assembly))
    assert len(instructions(compile(source, arch=arch, options=["-O0"]).assembly)) > len(instructions(exact.assembly))
    other = compile(source, arch=arch, options=["--offload-arch=gfx90a"])
    assert other.arch == "gfx90a"
    assert "gfx90a" in other.assembly


@pytest.mark.full
def test_wave64_on_gfx1100() -> None:
    source = "__global__ void k(float* x, unsigned long long* y) { y[0] = __ballot(x[threadIdx.x] > 0); }"
    wide = compile(source, arch="gfx1100", options=["-mwavefrontsize64"])
    assert ".amdhsa_wavefront_size32 0" in wide.assembly
    assert ".wavefront_size: 64" in wide.assembly
    compares = [line for line in instructions(wide.assembly) if line.startswith("v_cmp")]
    assert compares
    assert all(re.search(r" (vcc|s\[\d+:\d+\]),", line) for line in compares)  # 64 bits of mask
    usual = compile(source, arch="gfx1100")
    assert ".amdhsa_wavefront_size32 1" in usual.assembly
    assert not any(re.search(r" (vcc|s\[\d+:\d+\]),", line) for line in instructions(usual.assembly) if "v_cmp" in line)


@pytest.mark.parametrize("name", ["gfx99", "gfx9999", "sm_80", "", "gfx942; rm", "-o"])
def test_unknown_architectures(name: str) -> None:
    with pytest.raises(GpulabError, match="architecture"):
        compile(SAXPY, arch=name)


@pytest.mark.parametrize("directive", [".incbin", ".include"])
def test_a_listing_with_directives_that_read_files_is_refused(directive: str, tmp_path: Path) -> None:
    """What stands in inline assembly is in what Clang writes, and goes to the assembler only behind this check."""
    asked, out = request.request(SAXPY, arch="gfx942", language="hip", name="a.hip"), tmp_path / "out.s"
    out.write_text(f'\ts_nop 0\n\t{directive} "x"\n')
    with pytest.raises(CompileError, match=rf"^inline assembly in a\.hip: the directive \{directive} is not allowed"):
        build.read_listing(asked, out, (), "")


def test_a_listing_is_cleaned_and_marked(tmp_path: Path) -> None:
    asked, out = request.request(SAXPY, arch="gfx942", language="hip", name="a.hip"), tmp_path / "out.s"
    helper = "\t.type\t_h0,@object\n\t.quad\tkernel\n\t.size\t_h0, 8\n"
    mark = '\t.file\t1 "/gpulab" "a.hip"\n\t.loc\t1 3 5\n'
    out.write_text(f"{helper}{mark}\tglobal_load_dword v0\n\t.cfi_endproc\n")
    front = (
        "define amdgpu_kernel void @k(ptr %p) {\n  store volatile i32 1, ptr %p, !dbg !3\n"
        "  fence seq_cst\n  ret void\n}\n"
        '!1 = !DIFile(filename: "a.hip", directory: "/")\n!2 = distinct !DISubprogram(name: "k", file: !1)\n'
        "!3 = !DILocation(line: 3, column: 5, scope: !2)\n"
    )
    assert build.read_listing(asked, out, ("_h0", "_h1"), front) == (
        mark.rstrip("\n") + " ; synchronising\n\tglobal_load_dword v0\n; orders of k: fence\n", {"_h0": "kernel"}
    )  # fmt: skip


def test_arguments_that_are_no_sources() -> None:
    with pytest.raises(GpulabError, match="not a text"):
        compile(b"x", arch="gfx942")  # type: ignore[arg-type]
    with pytest.raises(CompileError, match="null character"):
        compile("int x;\0", arch="gfx942")
    with pytest.raises(CompileError, match=r"16,777,217 characters long(.|\n)*at most 16,777,216"):
        compile("x" * (2**24 + 1), arch="gfx942", options=["-I/"])
    with pytest.raises(GpulabError, match="-I/"):  # the length is not too much
        compile("x" * 2**24, arch="gfx942", options=["-I/"])
    with pytest.raises(GpulabError, match="one by one"):
        compile(SAXPY, arch="gfx942", options="-O3 -g")
