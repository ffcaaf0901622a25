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
        ("#define M (\n)", []),
        ("#define A (\n#define B )\n", []),  # nor do those of two lines fit together
        ("{ ( [ } { a }", ["{ ( [ }", "{ a }"]),
        ("{ a } ( }", ["{ a }"]),
        ("{\n#define M }\n( } b", ["{ # define M } ( }"]),
        ("{\n#define M {}\n( } ( }", ["{ # define M { } ( }", "{ }"]),
    ],
)
def test_brackets(text: str, found: list[str]) -> None:
    assert pairs(text) == found


def test_partners_of_all_tokens() -> None:
    assert CppSource("a(b[1], {2})").partner == [-1, 10, -1, 5, -1, 3, -1, 9, -1, 7, 1]
    assert CppSource("a ) ( b ]").partner == [-1, -1, -1, -1, -1]


def test_lines_of_directives() -> None:
    """A # begins a directive where nothing but blanks and comments stand before it in its line."""
    program = CppSource("#a b\nc # d\n /* e */ # f \\\n g\n#error h\ni\n")
    assert list(zip(program.texts, program.directive, strict=True)) == [
        ("#", 0), ("a", 0), ("b", 0), ("c", -1), ("#", -1), ("d", -1), ("#", 6), ("f", 6), ("g", 6), ("#error h", 9),
        ("i", -1),
    ]  # fmt: skip


def test_what_stands_at_a_position() -> None:
    program = CppSource("ab /* c */ 12;\n  d", first_line=7)
    assert len(program) == 4
    assert [program.text(at) for at in range(-1, 5)] == ["", "ab", "12", ";", "d", ""]
    assert [program.kind(at) for at in range(-1, 5)] == ["", "name", "number", "sign", "name", ""]
    assert [program.end(at) for at in range(4)] == [2, 13, 14, 18]
    assert [program.place(program.starts[at]) for at in range(4)] == [(7, 1), (7, 12), (7, 14), (8, 3)]
    assert [program.between(0, 1), program.between(1, 1), program.between(2, 1)] == ["ab /* c */ 12", "12", ""]
    assert program.index == [0, 4, 5, 8]


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
        ("__global__ void k(int a)", ""),
        ("__global__", ""),
        ("#define K __global__ void k() { a; }\nvoid h() { b; }", ""),
        ("__global__ void k(int a[2], int b) { c; }", "{ c ; }"),
        ("__device__ int x[2] { a; }", ""),
        ("__device__ auto f = [] (int a) { b; };", ""),
        (
            "__global__ void k() { __device__ int f(); a; } __device__ int g() { b; }",
            "{ __device__ int f ( ) ; a ; } { b ; }",
        ),
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
        ("#undef N\n#if M\n", set()),
        ("#pragma int N\n", set()),
        ("define f(x);", {"f"}),
        ("#define F(x\n", {"F"}),
        ("#define F(x, 2, y)\nz;", {"F", "x", "y"}),
        ("a;\n#define F (x)\n", {"F"}),
        *((f"T* b{sign}", {"b"}) for sign in ("=", ";", ",", ")", "[", "(")),
        *((f"T* b{sign}", set()) for sign in (" + c", ".x", " }", "")),
        ("x; T& b; y; U ** d; V *** e; A<B>* c;", {"b", "d", "e"}),
        ("x y z * b;", {"y", "z", "b"}),
        ("w x y z * b;", {"x", "y", "z"}),
        ("A<B<C>> d;", set()),
        ("A<b, c, D> e; A<B> f;", {"f"}),
        ("3 * b;", set()),
        ("a = 3 > b;", set()),
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
        ("f(g<h(1), i[2]>(c), d)", ["g < h ( 1 ) , i [ 2 ] > ( c )", "d"]),
        ("f(1 < a, b > (c))", ["1 < a", "b > ( c )"]),
        ("f(g<a, b>, d)", ["g < a , b >", "d"]),
        ("f(g<a, b> c, d)", ["g < a", "b > c", "d"]),
        ("f(g<a, b>>(c), d)", ["g < a", "b > > ( c )", "d"]),
        *(
            (f"f(g<a{sign} b, c>(1), d)", [f"g < a {sign} b , c > ( 1 )", "d"])
            for sign in (",", "::", "*", "&", "&&", "...", "-", "+", "/", "%")
        ),
        *(
            (f"f(g<a {sign} b, c>(1), d)", [f"g < a {sign} b", "c > ( 1 )", "d"])
            for sign in ("=", "==", "!", "|", ".", "?", "^")
        ),
        *((f"f(g<a, b>{sign}", [f"g < a , b >{sign[:-1]}"]) for sign in (")",)),
        *((f"f(g<a, b> {sign} x)", [f"g < a , b > {sign} x"]) for sign in ("::", "<<<")),
        *((f"f(g<a, b> {sign} x)", ["g < a", f"b > {sign} x"]) for sign in (".", "=", ";", "+", "]")),
        ("f(g<'a', b>(c), d)", ["g < 'a' , b > ( c )", "d"]),
        # at most 200 tokens with both angles
        (f"f(g<{'a,' * 99}>(b), c)", [f"g < {'a , ' * 99}> ( b )", "c"]),
        (f"f(g<x, ({'a+' * 96}a)>(b), c)", [f"g < x , ( {'a + ' * 96}a ) > ( b )", "c"]),
        (f"f(g<x, ({'a+' * 98}a)>(b), c)", ["g < x", f"( {'a + ' * 98}a ) > ( b )", "c"]),
        (f"f(g<{'a,' * 99}a>(b), c)", ["g < a", *["a"] * 98, "a > ( b )", "c"]),
    ],
)
def test_arguments_of_a_call(text: str, found: list[str] | None) -> None:
    program = CppSource(text)
    parts = [" ".join(program.texts[first : last + 1]) for first, last in program.arguments(1)]
    assert [part.replace("> >", ">>").replace(">>", "> >") for part in parts] == (found or [])
