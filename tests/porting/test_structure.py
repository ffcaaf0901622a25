"""Brackets, statements, device code, declarations and arguments of C++ texts, marked by hand."""

from __future__ import annotations

import pytest

from gpulab.porting.structure import CppSource


def pairs(text: str) -> list[str]:
    """The texts between brackets that belong together, in order of the opening ones."""
    program = CppSource(text)
    return [
        " ".join(program.texts[at : other + 1]) for at, other in enumerate(program.partner) if 0 <= at < other
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("f(a[1], {2})", ["( a [ 1 ] , { 2 } )", "[ 1 ]", "{ 2 }"]),
        ("{ f(a; }", ["{ f ( a ; }"]),  # what is left open ends with its block
        ("{ f(a[; } g(b)", ["{ f ( a [ ; }", "( b )"]),
        (") f(a)", ["( a )"]),
        ("f(a]) g()", ["( a ] )", "( )"]),
        ("}", []),
        ("( }", []),
        ("#define M (\nf()", ["( )"]),  # a macro's brackets are its own
        ("f(\n#define M )\na)", ["( # define M ) a )"]),
        ("#define M (a)\n", ["( a )"]),
    ],
)
def test_brackets(text: str, found: list[str]) -> None:
    assert pairs(text) == found


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("__global__ void k(int a) { b; } c;", "{ b ; }"),
        ("void h() { a; } __device__ int d() { b; }", "{ b ; }"),
        ("__global__ void k(int a); void h() { b; }", ""),
        ("__device__ int x = f(1); void h() { b; }", ""),
        ("__device__ int x[2] = {1}; void h() { b; }", ""),
        ("auto f = [=] __device__ (int a) { b; };", "{ b ; }"),
        ("auto f = [=] __host__ __device__ (int a) { b; };", "{ b ; }"),
        ("__global__ void __launch_bounds__(256) k() { b; }", "{ b ; }"),
        ("__global__ __attribute__((noinline)) void k(int a = 3) { b; }", "{ b ; }"),
        ("struct S { __device__ int f(); int g() { b; } };", ""),
        ("struct S { __device__ int x };", ""),
        ("__global__ void k() { { a; } b; } c;", "{ { a ; } b ; }"),
        ("__host__ __device__ int f() { a; } __device__ int g() { b; }", "{ a ; } { b ; }"),
        ("__global__ void k() { a; b", "{ a ; b"),
        ("__global__ void k( { a; }", ""),
        ("__device__ { a; }", ""),
        ("#define D __device__\nvoid h() { b; }", ""),
    ],
)
def test_device_code(text: str, inside: str) -> None:
    program = CppSource(text)
    assert " ".join(word for word, there in zip(program.texts, program.device, strict=True) if there) == inside


def test_where_statements_begin() -> None:
    program = CppSource("a b; c { d } e\n#define F g; h\ni j")
    begun = {word: program.texts[first] for word, first in zip(program.texts, program.statement, strict=True)}
    assert {word: begun[word] for word in "abcdeghij"} == {
        "a": "a", "b": "a", "c": "c", "d": "d", "e": "e", "g": "#", "h": "h", "i": "i", "j": "i",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("int a;", {"a"}),
        ("#define N 4\n#define M(x, y) x\n#define P (z)\n", {"N", "M", "x", "y", "P"}),
        ("float* b = 0;", {"b"}),
        ("S& c = d;", {"c"}),
        ("vector<int> e;", {"e"}),
        ("T **f;", {"f"}),
        ("using G = int;", {"G"}),
        ("x = a = b * c;", set()),
        ("a = b * c + 1;", set()),
        ("return d;", set()),
        ("f(g);", set()),
        ("struct S {};", {"S"}),
    ],
)
def test_declared_names(text: str, names: set[str]) -> None:
    assert set(CppSource(text).declared) == names


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("f()", []),
        ("f(a)", ["a"]),
        ("f(a, b + c)", ["a", "b + c"]),
        ("f(, a)", ["", "a"]),
        ("f(a, )", ["a", ""]),
        ("f(g(a, b), [c, d], {e, h})", ["g ( a , b )", "[ c , d ]", "{ e , h }"]),
        ("f(g<a, b>(c), d)", ["g < a , b > ( c )", "d"]),
        ("f(g<h<a, b>>(c), d)", ["g < h < a , b > > ( c )", "d"]),
        ("f(a < b, c > d)", ["a < b", "c > d"]),
        ("f(a < b, c)", ["a < b", "c"]),
        ("f(a < (b, c), d)", ["a < ( b , c )", "d"]),
        ("f(g<(1, 2)>{}, d)", ["g < ( 1 , 2 ) > { }", "d"]),
        ("f(a < b; c > (d), e)", ["a < b ; c > ( d )", "e"]),
        ('f(a < "b", c > (d))', ['a < "b"', "c > ( d )"]),
        ("f(a, b", None),
    ],
)
def test_arguments_of_a_call(text: str, found: list[str] | None) -> None:
    program = CppSource(text)
    parts = [" ".join(program.texts[first : last + 1]) for first, last in program.arguments(1)]
    assert [part.replace("> >", ">>").replace(">>", "> >") for part in parts] == (found or [])
