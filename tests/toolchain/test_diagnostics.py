"""Messages for learners: place, caret, order, and advice for the usual mistakes."""

from __future__ import annotations

import pytest

from gpulab.errors import CompileError
from gpulab.records import Diagnostic, SourceLine
from gpulab.toolchain import advice, compile, diagnostics

# ruff: noqa: E501 - one mistake, one line
# Source (the mistake is on the line that ends in "//!" or on the last but one), words that the advice must have.
MISTAKES: dict[str, tuple[str, str]] = {
    "host function": ("void f(float* x) {}\n__global__ void k(float* x) {\n f(x); //!\n}", "__device__"),
    "host function of the C library": ("__global__ void k(float* x) {\n x[0] = rand(); //!\n}", "does not exist on a GPU"),
    "host function from device": (
        "float f(float x) { return x; }\n__device__ float g(float x) {\n return f(x); //!\n}", "Mark it: __device__",
    ),
    "kernel returns": ("__global__ int k(float* x) { //!\n return 0;\n}", "__global__ void"),
    "missing semicolon": ("__global__ void k(float* x) {\n int i = threadIdx.x //!\n x[i] = 1;\n}", "semicolon"),
    "commas in for": ("__global__ void k(int* x) {\n for (int i = 0, i < 4, i++) x[i] = i; //!\n}", "separated by semicolons"),
    "new as a name": ("__global__ void k(int* x) {\n int new = 3; //!\n}", "A word of C++ itself"),
    "host code": ('#include <stdio.h>\nint main() { printf("a"); } //!', "goes into a %%hipcc cell"),
    "index of three parts": ("__global__ void k(float* x) {\n x[threadIdx] = 1; //!\n}", "for example threadIdx.x"),
    "a result of void": ("__global__ void k(int* x) {\n return x[0]; //!\n}", "A kernel is void and stores results"),
    "comment of Python": ("__global__ void k(int* x) {\n x[0] = 1; # one //!\n}", "begin with // in C++, not with #"),
    "class as a name": ("__global__ void k(int* x) {\n int class = 3; //!\n}", "A word of C++ itself"),
    "undeclared on the left": ("__global__ void k(int* x) {\n total = x[0]; //!\n}", "int total = ...;"),
    "undeclared on the right": ("__global__ void k(int* x) {\n int y; \n y = total; //!\n x[0] = y; }", "Nothing of this name"),
    "threadidx": ("__global__ void k(float* x) {\n x[threadidx.x] = 1; //!\n}", "threadIdx, blockIdx"),
    "threadIDx": ("__global__ void k(float* x) {\n x[threadIDx.x] = 1; //!\n}", "capitals count"),
    "blockidx": ("__global__ void k(float* x) {\n x[blockidx.x] = 1; //!\n}", "capitals count"),
    "part w": ("__global__ void k(float* x) {\n x[threadIdx.w] = 1; //!\n}", ".x, .y and .z"),
    "whole threadIdx": ("__global__ void k(float* x) {\n int i = threadIdx; //!\n}", "threadIdx.x"),
    "write to threadIdx": ("__global__ void k(float* x) {\n threadIdx.x = 1; //!\n}", "cannot write"),
    "kernel calls kernel": ("__global__ void a() {}\n__global__ void k(float* x) {\n a(); //!\n}", "__device__ function"),
    "std::vector": ("__global__ void k(float* x) {\n std::vector<float> v(3); //!\n}", "belong"),
    "iostream": ("#include <iostream> //!\n__global__ void k(float* x) {}", "printf"),
    "calloc": ("__global__ void k(float* x) {\n float* p = (float*)calloc(4, 4); //!\n x[0] = p[1]; }", "have malloc"),
    "shared initialised": ("__global__ void k(float* x) {\n __shared__ float t[2] = {1, 2}; //!\n}", "__syncthreads"),
    "extern shared without []": ("__global__ void k(float* x) {\n extern __shared__ float t; //!\n}", "float t[];"),
    "extern shared pointer": ("__global__ void k(float* x) {\n extern __shared__ float* t; //!\n}", "without a size"),
    "shared without size": ("__global__ void k(float* x) {\n __shared__ float t[]; //!\n}", "Give the size"),
    "shared of variable size": ("__global__ void k(float* x, int n) {\n __shared__ float t[n]; //!\n}", "at the launch only"),
    "two types of one shared array": (
        "__global__ void a() { extern __shared__ float t[]; t[0] = 1; }\n__global__ void k() {\n"
        " extern __shared__ int t[]; //!\n t[0] = 1; }", "one name has one type",
    ),
    "float pointer to int pointer": ("__global__ void k(float* x) {\n int* p = x; //!\n}", "different types"),
    "float argument to int parameter": (
        "__device__ void f(int* p) {}\n__global__ void k(float* x) {\n f(x); //!\n}", "different types",
    ),
    "const lost": ("__device__ void f(float* p) {}\n__global__ void k(const float* x) {\n f(x); //!\n}", "const"),
    "write to const": ("__global__ void k(const float* x) {\n x[0] = 1; //!\n}", "remove const"),
    "launch in a cell": ("__global__ void k(float* x) {}\nvoid f() {\n k<<<1, 2>>>(0); //!\n}", "kernel[grid, block]"),
    "launch outside": ("__global__ void k(float* x) {}\nk<<<1, 2>>>(0); //!\n", "kernel[grid, block]"),
    "launch in a kernel": (
        "__global__ void c(float* x) {}\n__global__ void k(float* x) {\n c<<<1, 2>>>(x); //!\n}",
        "no dynamic parallelism",
    ),
    "launch in main": ("__global__ void k(float* x) {}\nint main() {\n k<<<1, 2>>>(0); //!\n}", "written in Python"),
    "warpSize as size": ("__global__ void k(float* x) {\n __shared__ float t[warpSize]; //!\n}", "not a compile-time constant"),
    "warpSize by a macro": (
        "#define WARP warpSize\n__global__ void k(float* x) {\n __shared__ float t[256 / WARP]; //!\n}",
        "t[block / 32] for a place per wave",
    ),
    "warpSize in min": ("__global__ void k(int n, int* x) {\n x[0] = min(n, warpSize); //!\n}", "(int)warpSize"),
    "warpSize constexpr": ("__global__ void k(float* x) {\n constexpr int w = warpSize; //!\n}", "since ROCm 7"),
    "32-bit mask of a shuffle": ("__global__ void k(float* x) {\n x[0] = __shfl_sync(0xffffffff, x[0], 1); //!\n}", "64"),
    "32-bit mask of a ballot": (
        "__global__ void k(unsigned long long* x) {\n x[0] = __ballot_sync(0xffffffff, 1); //!\n}", "0xffffffffffffffffULL",
    ),
    "an algorithm of the whole device": (
        "#include <hipcub/hipcub.hpp>\n__global__ void k(int* x) {\n"
        " size_t n; hipcub::DeviceReduce::Sum(nullptr, n, x, x, 3); //!\n}",
        "%%hipcc builds whole programs",
    ),
    "a header that hipCUB has not": ("#include <hipcub/grid/x.hpp> //!\n__global__ void k(float* x) {}", "primitives.md"),
    "cuda header": ("#include <cuda_runtime.h> //!\n__global__ void k(float* x) {}", "CUDA"),
    "other 8-bit format": (
        "#include <hip/hip_fp8.h>\n__global__ void f(float* p) { __hip_fp8_e4m3 x(*p); *p = x; } //!",
        "gfx942 the types with _fnuz",
    ),
    "wavefront size": ("__global__ void f(int* p) {\n *p = __AMDGCN_WAVEFRONT_SIZE; //!\n}", "use warpSize"),
    "cuda call": ("void f(float* p) {\n cudaMalloc(&p, 4); //!\n}", "begin with hip"),
    "hip call": ("void f(float* p) {\n hipMalloc(&p, 4); //!\n}", "Allocate, copy and launch in Python"),
    "defined twice": ("__global__ void k(float* x) {}\n__global__ void k(float* x) {} //!\n", "defined twice"),
    "__syncthread": ("__global__ void k(float* x) {\n __syncthread(); //!\n}", "__syncthreads();"),
    "syncThreads": ("__global__ void k(float* x) {\n syncThreads(); //!\n}", "all lower case"),
    "python def": ("def k(x): //!\n    return x\n", "C++, not Python"),
    "python comment": ("# add one //!\n__global__ void k(float* x) {}", "Comments begin with //"),
    "python True": ("__global__ void k(float* x) {\n bool b = True; //!\n}", "true, false"),
    "python for": ("__global__ void k(float* x) {\n for i in range(3): x[i] = 1; //!\n}", "for (int i = 0"),
    "python power": ("__global__ void k(float* x, int n) {\n x[0] = x[1]**2; //!\n}", "powf"),
    "python import": ("import numpy //!\n__global__ void k(float* x) {}", "without %%hip"),
    "second magic": ("%%hip //!\n__global__ void k(float* x) {}", "first line"),
    "missing brace": ("__global__ void k(float* x) {\n if (x) {\n x[0] = 1;\n} //!\n", "Count the braces"),
    "extra brace": ("__global__ void k(float* x) {\n x[0] = 1;\n}\n} //!\n", "one } more"),
    "too much LDS": (
        "__global__ void k(float* x) { //!\n __shared__ float t[20000]; t[threadIdx.x] = x[0]; __syncthreads();\n"
        " x[0] = t[19999 - threadIdx.x]; }", "80000 bytes, and a block may have 65536",
    ),
    "PTX": ('__global__ void k(int* x) {\n int r; asm("mov.u32 %0, %%laneid;" : "=r"(r)); x[0] = r; //!\n}', "NVIDIA"),
    "assembly": ('__global__ void k(int* x) {\n asm volatile("v_foo_b32 v0, v1"); x[0] = 1; //!\n}', "no such instruction"),
    "undeclared": ("__global__ void k(float* x) {\n x[idx] = 1; //!\n}", "Check the spelling"),
    "no type": ("__global__ void k(float* x) {\n i = threadIdx.x; //!\n x[i] = 1; }", "int i = ...;"),
    "parentheses for brackets": ("__global__ void k(float* x) {\n x(0) = 1; //!\n}", "brackets: x[i]"),
    "printf of a number": ("__global__ void k(int i) {\n printf(i); //!\n}", "double quotation marks"),
    "typographic quotes": ("__global__ void k(int i) {\n printf(\u201chello\u201d); //!\n}", "word processor"),
    "%s for a number": ('__global__ void k(float* x) {\n printf("%s", x[0]); //!\n}', "%f or %g"),
    "%s for two numbers": ('__global__ void k(float* x) {\n printf("%s %d", 3, 4); //!\n}', "%d for int"),
    "no body": ("__device__ float f(float); //!\n__global__ void k(float* x) { x[0] = f(x[0]); }", "Add the function's body"),
    "atomic by value": ("__global__ void k(float* x) {\n atomicAdd(x[0], 1.0f); //!\n}", "atomicAdd(&x[i], value)"),
    "two indices": ("__global__ void k(float* x) {\n x[1][2] = 1; //!\n}", "row * width + column"),
    "misspelt keyword": ("_global_ void k(float* x) {} //!\n", "__global__"),
    "misspelt mark": ("__gobal__ void k(float* x) {} //!\n", "They are __global__ (a kernel)"),
    "misspelt mark in capitals": ("__Globl__ void k(float* x) {} //!\n", "They are __global__ (a kernel)"),
    "parameter without a type": ("__global__ void k(float* x, n) { //!\n x[0] = n; }", "(int n, int n)"),
    "the first parameter without a type": ("__global__ void k(n, float* x) { //!\n x[0] = n; }", "(int n, int n)"),
    "malloc as in C": ("__global__ void k(float* x) {\n float* p = malloc(4); //!\n x[0] = p[0]; }", "(float *)malloc(bytes)"),
    "void* as in C": ("__global__ void k(float* x, void* v) {\n float* p = v; //!\n x[0] = p[0]; }", "Write the type before it"),
    "semicolon ends the loop": (
        "__global__ void k(int n, float* x) {\n for (int i = 0; i < min(n, 4); i++);\n x[i] = 1; //!\n}", "Remove the semicolon",
    ),
    "loop without braces": (
        "__global__ void k(int n, float* x) {\n for (int i = 0; i < n; i++)\n  x[i] = 1;\n x[i] = 2; //!\n}", "known in that loop only",
    ),
    "kernel with an umlaut": ("__global__ void größe(float* x) { //!\n x[0] = 1; }", "letters a to z"),
    "exceptions": ("__global__ void k(float* x) {\n throw 1; //!\n}", "no exceptions"),
    "endless template": ("template <int N> struct F { static const int v = F<N + 1>::v; }; //!\nint x = F<0>::v;", "end"),
}  # fmt: skip

WARNINGS: dict[str, tuple[str, str]] = {
    "double literal": ("__global__ void k(float* x) {\n x[0] = x[1] * 2.0; //!\n}", "2.0f"),
    "result unused": ("__global__ void k(int* x) {\n x[0] == 1; //!\n}", "= assigns"),
    "barrier without parentheses": ("__global__ void k(int* x) {\n __syncthreads; //!\n}", "parentheses"),
    "no return": ("__device__ float f(float x) { x * 2;\n} //!\n", "return statement"),
    "array of variable size": ("__global__ void k(float* x, int n) {\n float t[n]; t[0] = 1; x[0] = t[n - 1]; //!\n}", "scratch"),
    "dim3 with an equals sign": ("__global__ void k(float* x) {\n dim3 g = (1, 2, 3); x[0] = g.x; //!\n}", "dim3 g(1, 2, 3)"),
    "assignment as condition": ("__global__ void k(int* x) {\n if (x[0] = 1) x[1] = 2; //!\n}", "== compares"),
    "uninitialised": ("__global__ void k(float* x) {\n float s; s += x[0]; x[0] = s; //!\n}", "first value"),
    "printf format": ('__global__ void k(float* x) {\n printf("%d", x[0]); //!\n}', "%f or %g"),
    "index past the end": ("__global__ void k(int* x) {\n int t[3]; t[3] = 1; x[0] = t[1]; //!\n}", "0 to n - 1"),
    "semicolon after if": ("__global__ void k(int* x) {\n if (x[0] < 1); { //!\n x[1] = 2; } }", "ends the if statement here"),
    "semicolon after for": ("__global__ void k(int* x) {\n for (int i = 0; i < 9; i++); { //!\n x[1] = 2; } }", "ends the for loop"),
    "too few for printf": ('__global__ void k(int* x) {\n printf("%d %d", x[0]); //!\n}', "too few"),
    "too many for printf": ('__global__ void k(int* x) {\n printf("%d", x[0], 1); //!\n}', "Each value needs a %"),
    "reference": ("__global__ void k(float& x) { x = 1; } //!\n", "pointer to device memory"),
}  # fmt: skip


def place(source: str, first_line: int) -> int:
    """The number of the marked line."""
    return next(i for i, line in enumerate(source.split("\n"), first_line) if line.rstrip().endswith("//!"))


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes(mistake: str) -> None:
    source, advice = MISTAKES[mistake]
    with pytest.raises(CompileError) as caught:
        compile(source, arch="gfx942", name="cell.hip", first_line=4)
    first = caught.value.diagnostics[0]
    assert first.severity == "error"
    assert first.where is not None
    assert first.where.file == "cell.hip"
    assert first.where.line == place(source, 4)
    assert first.where.text == source.split("\n")[first.where.line - 4]
    assert any(advice in d.advice for d in caught.value.diagnostics), [d.advice for d in caught.value.diagnostics]
    text = str(caught.value)
    assert text.startswith("cell.hip did not compile: ")
    assert f"cell.hip:{first.where.line}:{first.where.column}: error: " in text
    assert advice in " ".join(text.split())
    assert "/gpulab/" not in text
    assert "/tmp" not in text


@pytest.mark.parametrize("mistake", WARNINGS)
def test_warnings(mistake: str) -> None:
    source, advice = WARNINGS[mistake]
    code = compile(source, arch="gfx942", first_line=2)  # as in a cell; Clang misses empty bodies elsewhere
    found = [d for d in code.warnings if advice in d.advice]
    assert found, code.log
    assert found[0].where is not None
    assert found[0].where.line == place(source, 2)
    assert advice in code.log


def test_correct_kernels_give_no_messages() -> None:
    code = compile(
        "__global__ void k(const float* x, float* y, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        '  if (i < n) y[i] = sqrtf(x[i]) * 2.0f;\n  if (i == 0) printf("%f %d\\n", x[0], n);\n}',
        arch="gfx942",
    )
    assert code.warnings == ()
    assert code.log == ""


def test_layout() -> None:
    with pytest.raises(CompileError) as caught:
        compile("__global__ void k(float* x) {\n\tint i = threadidx.x;\n}", arch="gfx942", name="In [2]")
    assert str(caught.value) == (
        "In [2] did not compile: 1 error.\n"
        "In [2]:2:10: error: use of undeclared identifier 'threadidx'; did you mean 'threadIdx'?\n"
        "    \tint i = threadidx.x;\n"
        "    \t        ^~~~~~~~~\n"
        "  -> The built-in variables are spelt threadIdx, blockIdx, blockDim, gridDim and warpSize (capitals count);\n"
        "     their parts are .x, .y and .z."
    )


def test_columns_count_characters() -> None:
    """Clang counts bytes; the e with an accent and the letter behind it are two and three."""
    with pytest.raises(CompileError) as caught:
        compile("__global__ void k(float* x) {\n /* \u00e9\u4e16 */ x[0] = nothing;\n}", arch="gfx942")
    where = caught.value.diagnostics[0].where
    assert where is not None
    assert where.text[where.column - 1 :].startswith("nothing")


def test_errors_come_before_warnings_and_in_order() -> None:
    source = "__global__ void k(float* x) {\n int unused = 1;\n x[a] = 1;\n x[b] = 2;\n}"
    with pytest.raises(CompileError) as caught:
        compile(source, arch="gfx942")
    lines = [d.where.line for d in caught.value.diagnostics if d.where and d.severity == "error"]
    assert lines == [3, 4]
    assert caught.value.diagnostics[0].severity == "error"
    assert "Begin with the first" in str(caught.value)
    assert str(caught.value).count("Check the spelling") == 1  # each advice once


def test_many_errors_are_cut() -> None:
    source = "__global__ void k(float* x) {\n" + "".join(f" x[a{i}] = 1;\n" for i in range(40)) + "}"
    with pytest.raises(CompileError, match=r"\(10 more errors\)") as caught:
        compile(source, arch="gfx942")
    assert str(caught.value).count("error: ") == 10  # of the 20 after which Clang stops


def test_long_lines_are_cut() -> None:
    source = "__global__ void k(float* x) { " + "x[0] += 1; " * 200 + "nothing; " + "x[0] += 1; " * 200 + "}"
    with pytest.raises(CompileError) as caught:
        compile(source, arch="gfx942")
    rendered = caught.value.diagnostics[0].rendered.split("\n")
    assert max(map(len, rendered)) < 260
    assert rendered[1][rendered[2].index("^") :].startswith("nothing")


LONG = "".join(chr(ord("a") + at % 23) for at in range(400))


@pytest.mark.parametrize(
    ("line", "column", "ranges", "shown"),
    [
        ("abc def", 5, "", ["abc def", "    ^"]),
        ("abc def", 1, "", ["abc def", "^"]),
        ("abc def", 0, "", ["abc def"]),
        ("abc def", 8, "", ["abc def", "       ^"]),
        ("abc def", 5, "{2:1-2:4}", ["abc def", "~~~~^"]),
        ("abc def", 1, "{2:1-2:2}{2:5-2:8}", ["abc def", "^~~~~~~"]),
        ("abc def", 5, "{2:5-2:8}", ["abc def", "    ^~~"]),
        ("abc def", 5, "{2:5-2:99}", ["abc def", "    ^~~"]),
        ("abc def", 5, "{1:1-1:4}{3:1-3:4}{1:1-2:4}{2:1-3:4}", ["abc def", "    ^"]),  # of other lines
        ("\tab\tc", 5, "{2:2-2:3}", ["\tab\tc", "\t~~~^"]),
        ("a\tb\tc", 5, "", ["a\tb\tc", " \t \t^"]),
        ("\u00e9\u4e16 x", 7, "{2:3-2:6}", ["\u00e9\u4e16 x", " ~~^"]),
        # lines of more than 200 characters are cut to 200 around the caret
        (LONG[:200], 150, "", [LONG[:200], " " * 149 + "^"]),
        (LONG[:201], 100, "", [LONG[:200] + "...", " " * 99 + "^"]),
        (LONG[:201], 101, "", ["..." + LONG[1:201], " " * 102 + "^"]),
        (LONG[:202], 101, "", ["..." + LONG[1:201] + "...", " " * 102 + "^"]),
        (LONG[:250], 0, "", [LONG[:200] + "..."]),
        (LONG[:300], 251, "{2:253-2:256}", ["..." + LONG[151:300], " " * 102 + "^~~~~"]),
        (LONG, 200, "{2:190-2:202}", ["..." + LONG[100:300] + "...", " " * 92 + "~" * 10 + "^~"]),
        (LONG, 200, "{2:50-2:390}", ["..." + LONG[100:300] + "...", "~" * 102 + "^" + "~" * 103]),
    ],
)
def test_the_line_and_its_marks(line: str, column: int, ranges: str, shown: list[str]) -> None:
    """Columns count bytes from 1, a range's end is the column behind it; its lines are one more than the message's."""
    (found,) = diagnostics.parse(f"cell.hip:1:{column}:{ranges and ranges + ':'} error: m", diagnostics.Source(line))
    assert found.rendered.split("\n")[1:] == ["    " + text for text in shown]


SOURCE = diagnostics.Source(
    "one\ntwo\nthree", "a.hip", 5, ("f<int>", "g<int>"), {"x.h": "first\nsecond"}, original="eins\ntwo\n   "
)


@pytest.mark.parametrize(
    ("file", "number", "read", "own"),
    [
        ("a.hip", 4, "", ""),
        ("a.hip", 5, "one", "eins"),
        ("a.hip", 6, "two", "two"),
        ("a.hip", 7, "three", "   "),
        ("a.hip", 8, "", ""),
        ("/gpulab/headers/x.h", 0, "", ""),
        ("/gpulab/headers/x.h", 1, "first", "first"),
        ("/gpulab/headers/x.h", 2, "second", "second"),
        ("/gpulab/headers/x.h", 3, "", ""),
        ("/gpulab/headers/y.h", 1, "", ""),
        ("x.h", 1, "", ""),
        ("name expressions", 0, "", ""),
        ("name expressions", 1, "f<int>", "f<int>"),
        ("name expressions", 2, "g<int>", "g<int>"),
        ("name expressions", 3, "", ""),
    ],
)
def test_lines_of_a_source(file: str, number: int, read: str, own: str) -> None:
    assert SOURCE.line(file, number) == read
    assert SOURCE.own_line(file, number) == own


@pytest.mark.parametrize(
    ("log", "rendered", "where"),
    [
        # a translated line is shown before what the compiler read, without a column
        (
            "a.hip:5:2: error: m",
            "a.hip:5: error: m\n    eins\n  The compiler read:\n    one\n     ^",
            ("a.hip", 5, 0, "eins"),
        ),
        ("a.hip:6:2: error: m", "a.hip:6:2: error: m\n    two\n     ^", ("a.hip", 6, 2, "two")),
        ("a.hip:7:2: error: m", "a.hip:7: error: m\n    three\n     ^", ("a.hip", 7, 0, "   ")),
        ("a.hip:6:0: fatal error: m", "a.hip:6: error: m\n    two", ("a.hip", 6, 0, "two")),
        ("a.hip:6: error: m", "a.hip:6: error: m\n    two", ("a.hip", 6, 0, "two")),
        ("a.hip: error: m", "error: m", None),
        ("zig: error: m", "error: m", None),
        ("ld.lld: error: m", "error: m", None),
        ("error: m", "error: m", None),
        (
            "/gpulab/headers/x.h:2:1:{2:1-2:4}: error: m",
            "x.h:2:1: error: m\n    second\n    ^~~",
            ("x.h", 2, 1, "second"),
        ),
        (
            "name expressions:2:3: error: m",
            "a name expression:2:3: error: m\n    g<int>\n      ^",
            ("a name expression", 2, 3, "g<int>"),
        ),
        ("a\x1b.h:9:3: error: m\x07", "a\u241b.h:9:3: error: m\u2407", ("a\u241b.h", 9, 3, "")),
        ("a.hip:6:2: error: m [-Wthat=this]", "a.hip:6:2: error: m\n    two\n     ^", ("a.hip", 6, 2, "two")),
        (
            "error: static assertion failed due to requirement 'a == b': why",
            "error: static assertion failed: why",
            None,
        ),
        ("error: no 'gpulab::x<1>' (aka 'int') here", "error: no 'int' here", None),
    ],
)
def test_messages_and_their_places(log: str, rendered: str, where: tuple[str, int, int, str] | None) -> None:
    (found,) = diagnostics.parse(log, SOURCE)
    assert found.rendered == rendered
    assert found.where == (None if where is None else SourceLine(*where))


@pytest.mark.parametrize(
    ("log", "messages"),
    [
        ("error: a\n more\n\nlast\nerror: b", ["error: a\n more\nlast", "error: b"]),
        ("before\nerror: a\r\n more\r", ["error: a\n more"]),
        ("error: a\nPLEASE submit\nStack dump:\n1 error generated.\n2 warnings and 1 error generated.", ["error: a"]),
        ("error: a\n" + "x" * 1998 + "\ny\nz", ["error: a\n" + "x" * 1998]),
        ("error: a\n" + "x" * 1997 + "\ny\nz", ["error: a\n" + "x" * 1997 + "\ny"]),
        ("f:1:1: remark: r\nerror: too many errors emitted, stopping now\nwarning: w", ["warning: w"]),
        ("warning: w\nerror: a\nwarning: v\nerror: b", ["error: a", "error: b", "warning: w", "warning: v"]),
        ("f:1:1: note: without a message before it", ["note: without a message before it"]),
        # the same warning at the same place once; of errors each
        ("f:1:1: warning: w\nf:1:3: warning: w\nf:2:1: warning: w", ["warning: w", "warning: w"]),
        ("f:1:1: error: w\nf:1:3: error: w", ["error: w", "error: w"]),
        # in headers of the library, without a place in the source, each message once
        (
            "/gpulab/include/a.h:1:1: error: w\n<built-in>:2:1: error: w\n/gpulab/system/a.h:1:1: error: v",
            ["error: w", "error: v"],
        ),
    ],
)
def test_what_belongs_to_a_message(log: str, messages: list[str]) -> None:
    found = diagnostics.parse(log, SOURCE)
    assert [f"{each.severity}: {each.message}" for each in found] == messages


def noted(log: str) -> list[str]:
    (found,) = diagnostics.parse(log, diagnostics.Source("one\ntwo\nthree"))
    return [line for line in found.rendered.split("\n") if not line.startswith("    ")]


def test_which_notes_are_shown() -> None:
    first = "cell.hip:1:2: error: m"
    shown = [f"cell.hip:{line}:1: note: n" for line in (1, 2, 3)]
    log = "\n".join(
        [
            first, *["/gpulab/include/a.h:1:1: note: n"] * 2, "cell.hip:2:1: note: expanded from macro", shown[0],
            "cell.hip:2:1: note: in instantiation of f", shown[1], shown[2],
        ]
    )  # fmt: skip
    assert noted(log) == [first, *shown[:2]]  # of six notes
    assert noted("\n".join([first, *shown, "cell.hip:3:2: note: n"])) == [first, *shown]  # three at most
    assert noted(f"{first}\ncell.hip:1:2: note: n") == [first, "cell.hip:1:2: note: n"]
    assert noted(f"{first}\ncell.hip:1:1: note: add braces to silence this warning") == [first]


@pytest.mark.parametrize(
    ("log", "lines"),
    [
        # the last note that says what caused it, else the last note in the source, else the innermost #include
        ("{0}\ncell.hip:1:1: note: requested here\ncell.hip:2:1: note: n",
         ["cell.hip:1:1: error: m", "cell.hip:2:1: note: n"]),
        ("{0}\ncell.hip:1:1: note: in call to f\ncell.hip:2:1: note: requested here",
         ["cell.hip:2:1: error: m", "cell.hip:1:1: note: in call to f"]),
        ("{0}\ncell.hip:1:1: note: n\ncell.hip:2:1: note: o\n/gpulab/include/b.h:1:1: note: p",
         ["cell.hip:2:1: error: m", "cell.hip:1:1: note: n"]),
        ("In file included from cell.hip:1:\nIn file included from cell.hip:3:\n"
         "In file included from /gpulab/include/c.h:2:\n{0}", ["cell.hip:3: error: m"]),
        ("In file included from /gpulab/include/c.h:2:\n{0}", ["/gpulab/include/a.h:7:1: error: m"]),
        ("In file included from <built-in>:2:\n{0}", ["/gpulab/include/a.h:7:1: error: m"]),
    ],
)  # fmt: skip
def test_messages_in_headers_move_to_what_caused_them(log: str, lines: list[str]) -> None:
    assert noted(log.format("/gpulab/include/a.h:7:1: error: m")) == lines


def test_a_warning_on_floats_given_to_printf_is_left_out() -> None:
    message = "warning: implicit conversion increases floating-point precision: 'float' to 'double'"
    line = '  printf("%f", x); y = x;'
    found = [
        diagnostics.parse(f"cell.hip:1:1:{ranges}: {message}", diagnostics.Source(line))
        for ranges in ("{2:3-2:9}{2:16-2:17}", "{2:16-2:17}", "{2:1-2:2}", "{2:4-2:9}")
    ]
    assert [len(each) for each in found] == [0, 1, 0, 1]
    assert len(diagnostics.parse("cell.hip:1:3:{2:3-2:9}: warning: another", diagnostics.Source(line))) == 1


def test_assembly_of_ones_own_is_shown_on_its_lines() -> None:
    """Assembly lines 2 and 3 are the source's lines 1 and 2; the last one was changed, so its column does not fit."""
    source = diagnostics.Source("s_one x\ns_two x")
    assembly = "\t.text\ns_one x\n\ts_two x\ns_three"

    def found(line: int, origin: list[int] | None) -> str:
        log = f"/tmp/kernel.s:{line}:7: error: m\n    s_one x\n          ^\n"
        return diagnostics.parse_assembler(log, assembly, origin, source)[0].rendered

    assert found(2, [0, 1, 2]) == "cell.hip:1:7: error: m\n    s_one x\n          ^"
    assert found(3, [0, 1, 2]) == "cell.hip:2: error: m\n    s_two x"
    assert found(1, [0, 1, 2]) == "error: m\n    in the assembly: .text"
    assert found(4, [0, 1, 2]) == "error: m\n    in the assembly: s_three"
    assert found(5, [0, 1, 2]) == "error: m\n    in the assembly: "
    assert found(2, None) == "error: m\n    in the assembly: s_one x"
    (other,) = diagnostics.parse_assembler("cell.hip:1:3: error: m", assembly, [0, 1, 2], source)
    assert other.rendered == "cell.hip:1:3: error: m\n    s_one x\n      ^"


@pytest.mark.parametrize(
    ("symbol", "line"),
    [
        ("undefined symbol: f(int)", 2),
        ("undefined hidden symbol: f<int>(int)", 2),
        ("undefined protected symbol: a::b::g", 3),
        ("undefined symbol: operator new(unsigned long)", 4),
        ("undefined symbol: operator delete(void*)", 0),
        ("undefined symbol: h", 0),
        ("undefined symbol: (int)", 0),
        ("duplicate symbol: f", 0),
    ],
)
def test_undefined_symbols_are_found_in_the_source(symbol: str, line: int) -> None:
    source = diagnostics.Source("int ff;\n  f(1);\nx = g();\ny = new int; f(2);", first_line=11)
    (found,) = diagnostics.parse_linker(f"ld.lld: error: {symbol}\n>>> referenced by x\n", source)
    columns = {2: 3, 3: 5, 4: 5}
    assert found.message == symbol
    assert found.where == (SourceLine("cell.hip", 10 + line, columns[line], source.text.split("\n")[line - 1])
                           if line else None)  # fmt: skip


def at(line: int, severity: str = "warning", message: str = "m", column: int = 1) -> Diagnostic:
    return Diagnostic(severity, message, SourceLine("f", line, column), "", f"{message} in {line}")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([1], ""),
        ([1, 2], "\n(the same in line 2)"),
        ([1, 3, 2], "\n(the same in lines 2, 3)"),
        (range(1, 14), "\n(the same in lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)"),
        (range(1, 15), "\n(the same in lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, ...)"),
    ],
)
def test_warnings_of_the_same_words_are_one(lines: list[int], said: str) -> None:
    (found,) = diagnostics.joined(at(line) for line in lines)
    assert found.rendered == "m in 1" + said


def test_each_message_once_and_errors_first() -> None:
    given = [at(1), at(2, "error"), at(1), at(2, "error"), at(3, "error"), at(3, "error", column=2), at(4, message="n"),
             Diagnostic("warning", "m", None, "", "no place")]  # fmt: skip
    assert [(d.severity, d.rendered) for d in diagnostics.once(given)] == [
        ("error", "m in 2"), ("error", "m in 3"), ("error", "m in 3"), ("warning", "m in 1"), ("warning", "n in 4"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("count", "head", "more"),
    [
        (1, "x did not compile: 1 error.", ""),
        (2, "x did not compile: 2 errors. Begin with the first; the others often follow from it.", ""),
        (10, "x did not compile: 10 errors. Begin with the first; the others often follow from it.", ""),
        (11, "x did not compile: 11 errors. Begin with the first; the others often follow from it.",
         "\n(1 more errors)"),
    ],
)  # fmt: skip
def test_ten_errors_are_shown(count: int, head: str, more: str) -> None:
    found = [*(at(line, "error") for line in range(1, count + 1)), at(99)]
    error = diagnostics.compile_error(found, "x", "log\x1b")
    shown = "".join(f"\nm in {line}" for line in range(1, min(count, 10) + 1))
    assert str(error) == head + shown + more
    assert error.diagnostics == tuple(found)
    assert error.log == "log\u241b"


def test_error_in_a_header_points_at_the_learners_line() -> None:
    log = (
        "In file included from cell.hip:3:\n"
        "/gpulab/include/hip/other.h:10:5: error: something is wrong\n"
        "/gpulab/include/hip/hip_runtime.h:7:1: error: no instance\n"
        "cell.hip:4:9: note: in instantiation of function template specialization 'f<int>' requested here\n"
        "2 errors generated when compiling for gfx942.\n"
    )
    found = diagnostics.parse(log, diagnostics.Source("a\nb\n#include <x>\nint i = f(1);"))
    assert [(d.where.line, d.where.column) for d in found if d.where] == [(3, 0), (4, 9)]
    assert all("/gpulab" not in d.rendered for d in found)


def test_error_in_a_name_expression_shows_it() -> None:
    source = "template <typename T> __global__ void scale(T* x) { x[0] *= 2; }"
    with pytest.raises(CompileError) as caught:
        compile(source, arch="gfx942", name_expressions=["scale<float>", "nothing<int>", "scale<double>"])
    where = caught.value.diagnostics[0].where
    assert where is not None
    assert (where.file, where.line, where.text) == ("a name expression", 2, "nothing<int>")


def test_visible() -> None:
    assert diagnostics.visible("a\tb\nc\x1b[0m\x7f\x85\u202e\ufeff") == "a\tb\nc\u241b[0m\u2421\\u0085\\u202e\\ufeff"


def test_rendering_of_several() -> None:
    one = Diagnostic("warning", "m", SourceLine("f", 1, 1), "do this\nor that", "f:1:1: warning: m")
    two = Diagnostic("warning", "n", None, "do this\nor that", "")
    assert diagnostics.render([one, two]) == "f:1:1: warning: m\n  -> do this\n     or that\nwarning: n"


def test_a_note_stands_below_its_error_with_its_own_line() -> None:
    with pytest.raises(CompileError) as caught:
        compile("__device__ int f(int x) { return x; }\n\n__device__ int f(int y) { return y; }\n", arch="gfx942",
                name="In [2]")  # fmt: skip
    assert str(caught.value) == (
        "In [2] did not compile: 1 error.\n"
        "In [2]:3:16: error: redefinition of 'f'\n"
        "    __device__ int f(int y) { return y; }\n"
        "                   ^\n"
        "In [2]:1:16: note: previous definition is here\n"
        "    __device__ int f(int x) { return x; }\n"
        "                   ^\n"
        "  -> This name is defined twice. Each cell is a source of its own, so rename or remove one of the two."
    )


def test_further_lines_belong_to_the_note_before_them() -> None:
    log = (
        "cell.hip:1:2: error: m\n    | of m\ncell.hip:2:1: note: n\n    | of n\ncell.hip:3:1: note: o\n    | of o\n"
        "    | more of o"
    )
    (found,) = diagnostics.parse(log, diagnostics.Source("one\ntwo\nthree"))
    assert found.rendered == (
        "cell.hip:1:2: error: m\n    | of m\n    one\n     ^\n"
        "cell.hip:2:1: note: n\n    | of n\n    two\n    ^\n"
        "cell.hip:3:1: note: o\n    | of o\n    | more of o\n    three\n    ^"
    )


def test_three_notes_are_shown_at_most() -> None:
    source = "".join(f"__device__ void f(int* x{', int' * more}) {{}}\n" for more in range(5))
    with pytest.raises(CompileError) as caught:
        compile(source + "__global__ void k(float* x) {\n  f(x, 1, 2, 3, 4, 5);\n}\n", arch="gfx942")
    assert str(caught.value).count("note: candidate function not viable: requires") == 3


def test_notes_do_not_tell_how_to_silence_a_warning() -> None:
    code = compile(
        "__global__ void k(int* x) {\n if (x[0] = 1) x[1] = 2;\n if (x[0]); { x[1] = 3; }\n}",
        arch="gfx942",
        first_line=2,
    )
    assert len(code.warnings) == 2
    assert not any("silence" in warning.rendered for warning in code.warnings)


def test_names_of_textures_are_explained_in_programs():
    for message in ("unknown type name 'hipTextureObject_t'", "use of undeclared identifier 'hipMallocArray'"):
        assert "global memory" in advice.find(message, "", "#include <hip/hip_runtime.h>\n", program=True)
    for name, use in (
        ("hipMallocMipmappedArray", "a texture object for each level"),
        ("hipTexRefSetArray", "hipCreateTextureObject makes"),
        ("hipModuleGetTexRef", "hipBindTextureToArray"),
    ):
        assert use in advice.find(
            f"use of undeclared identifier '{name}'", "", "#include <hip/hip_runtime.h>\n", program=True
        ), name
    assert "textures" not in advice.find(
        "unknown type name 'hipEvent'", "", "#include <hip/hip_runtime.h>\n", program=True
    )


@pytest.mark.parametrize(
    ("name", "header"),
    [("printf", "cstdio"), ("scanf", "cstdio"), ("malloc", "cstdlib"), ("exit", "cstdlib"), ("memcpy", "cstring"),
     ("sqrt", "cmath"), ("assert", "cassert"), ("FLT_MAX", "cfloat"), ("INT_MAX", "climits"), ("clock", "ctime")],
)  # fmt: skip
def test_a_program_that_lacks_a_header_of_c(name: str, header: str) -> None:
    found = advice.find(f"use of undeclared identifier '{name}'", f"  {name}(3);", "int main() {}", program=True)
    assert found == f"{name} needs its header: #include <{header}>"
    assert "header" not in advice.find("use of undeclared identifier 'printg'", "", "int main() {}", program=True)


def test_a_launch_in_pythons_form_in_a_program() -> None:
    found = advice.find("subscript of pointer to function type 'void (int *)'", " f[1,1](x);", "", program=True)
    assert "kernel<<<blocks, threads>>>(arguments)" in found


def test_halves_that_become_floats_are_not_said_to_be_doubles() -> None:
    source = "__global__ void k(_Float16 h, double* d, float* x) {\n x[0] = h;\n d[0] = x[1];\n}"
    halves, floats = compile(source, arch="gfx942").warnings
    assert "'_Float16' to 'float'" in str(halves)
    assert (halves.advice, "computed in double" in floats.advice) == ("", True)
