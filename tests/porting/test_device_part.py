"""`device_part`: the host's functions go, what the device compiler reads stays, lines and columns too."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpulab
from gpulab import porting
from tests.porting.test_tokens import PIECES

PROGRAM = """#include <hip/hip_runtime.h>
#include <vector>
#include "beside.h"
#define TWICE(x) (2 * (x))
using namespace std;
constexpr int N = 4;
struct Point { float x, y; };
struct HostOnly { std::vector<int> values; };
std::vector<float> data{1, 2};
static const char* name = "kernel";
__constant__ float table[] = {1, 2};
constexpr int square(int x) { return x * x; }
__device__ static float helper(Point p) { return p.x; }
template <typename T> T on_host(T x) { return x; }
namespace inner {
__global__ void __launch_bounds__(64) kernel(float* a) { a[0] = helper({1, 2}) * square(N) * TWICE(table[1]); }
void launch() { kernel<<<1, 64>>>(nullptr); }
}  // namespace inner
extern "C" { __global__ void second(int* a) { a[0] = N; } int third() { return hipGetLastError(); } }
__host__ __device__ inline int both(int x) { return x + 1; }
class Wrapper { public: __device__ int get() const { return both(1); } };
int main(int argc, char** argv) { inner::launch(); return third(); }
"""


def test_parts() -> None:
    part = porting.device_part(PROGRAM, headers={"hip/hip_runtime.h"})
    lines, original = part.split("\n"), PROGRAM.split("\n")
    gone = {1, 7, 8, 13, 16, 21}  # <vector>, HostOnly, data, on_host, launch, main
    for number, (now, before) in enumerate(zip(lines, original, strict=True)):
        assert len(now) == len(before)
        assert now == ((" " * len(before)) if number in gone else before) or number == 18
    assert "third" not in lines[18]
    assert "second" in lines[18]
    assert porting.has_main(PROGRAM)
    assert not porting.has_main(part)


def test_it_compiles() -> None:
    part = porting.device_part(PROGRAM.replace('#include "beside.h"\n', ""))
    kernels = gpulab.compile(part, arch="gfx1100").kernels
    assert {kernel.name for kernel in kernels} == {"inner::kernel", "second"}


@pytest.mark.parametrize(
    "text", ["int main() {", "}", "void f() { { }", "struct {", "void f(", "", "#include <", "}}}("]
)
def test_what_does_not_fit_together(text: str) -> None:
    assert len(porting.device_part(text)) == len(text)


@given(
    st.lists(st.one_of(PIECES, st.sampled_from(["void f() ", "{", "}", ";", "struct S ", "__global__ "]))).map("".join)
)
@settings(max_examples=200, deadline=None)
def test_places_stay_for_any_text(text: str) -> None:
    part = porting.device_part(text)
    assert len(part) == len(text)
    assert all(now in (before, " ") for now, before in zip(part, text, strict=True))


def kept(*pieces: str) -> tuple[str, str]:
    """A program of pieces, and what is left of it: those that begin with a minus sign become blanks."""
    program = "\n".join(piece.removeprefix("-") for piece in pieces)
    blank = ["".join(" " if c != "\n" else c for c in p[1:]) if p.startswith("-") else p for p in pieces]
    return program, "\n".join(blank)


KERNEL = "__global__ void k() { if (threadIdx.x) return; }"


@pytest.mark.parametrize(
    "pieces",
    [
        # a declaration begins behind a directive, and not in it
        ("#define N 1", "-int main() { return N; }", KERNEL),
        ("#define N 1", "#define M 2", "-void host() {\n}", "#undef N", "-int main() { return M; }"),
        ("-int main() {\n#ifdef X\nreturn 1;\n#endif\n}", KERNEL),
        (KERNEL, "#pragma once", "-std::vector<int> data;", KERNEL),
        ("int", "#define N 1", "x;"),
        ("-std::vector<int>", "-#define N 1", "-x;"),
        # an initialiser's braces are no body, and end with their declaration
        ("int table[] = {1, 2};", "-int main() { return table[0]; }"),
        ("int made = square(2);", "-int main() { return made; }"),
        ("-auto lambda = [](int x) { return std::string(x); };", KERNEL),
        # types stay, with what is in them, unless they need the host's library
        ("struct S { int f() { return 1; } };", "-int main() { S s; }"),
        ("-struct S { std::string name; };", KERNEL),
        ("enum E { one, two };", "-E f(E e) { return e; }"),
        ("struct alignas(16) P { int x; };", "-struct P make() { return P(); }", "-int f() noexcept { return 1; }"),
        # braces that give a value belong to no function
        ("int table[2]{1, 2};", "__attribute__((aligned(16))) int aligned{1};", "-int f() { return 1; }", "int y{1};"),
        ("namespace a {", "int x{1};", "}"),
        ("-int f() { return 1; }", "-int g() { return 2; }"),
        # blocks that are entered: namespaces, C's functions
        ("namespace a { namespace b {", "-int f() { return 1; }", KERNEL, "} }", "-int main() {}"),
        ('extern "C" {', "-int f() { return 1; }", KERNEL, "}"),
        ('-extern "C" int f() { return 1; }', KERNEL),
        # functions of the device, and of both
        ("__device__ int f() { return 1; }", "-int g() { return 1; }", "__host__ __device__ int h() { return 1; }"),
        ("template <int n>", "__global__ void __launch_bounds__(64) k() { }", "-template <int n>\nvoid h() { }"),
        ("__device__ int f(int);", "int declared(int);", "using namespace std;"),
        # headers of the host and of the libraries that it calls, also within its functions
        ("-int main() {\n#include <vector>\n#include <hip/hip_runtime.h>\nreturn 1; }", KERNEL),
        ("#include <hip/hip_runtime.h>", "-#include <hipblas/hipblas.h>", "-#include < rocblas/rocblas.h >"),
        ('#include "vector"', "#if __has_include(<vector>)", "#endif"),
    ],
)
def test_what_is_blanked_out(pieces: tuple[str, ...]) -> None:
    program, left = kept(*pieces)
    assert porting.device_part(program) == left


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("int main() {}", True),
        ("void main(int n) {}", True),
        ("auto main() -> int {}", True),
        ("x; int main(", True),
        ("int main;", False),
        ("int main", False),
        ("main() {}", False),
        ("long main() {}", False),
        ("x.main(); return main();", False),
        ("int mains() {}", False),
        ("// int main() {}", False),
        ("", False),
    ],
)
def test_which_programs_have_a_main(text: str, found: bool) -> None:
    assert porting.has_main(text) is found
