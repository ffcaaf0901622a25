"""The language of rows: which node each operator makes, written out, and which types do not go together."""

import pytest

from gpulab.virtual_gpu.isa import expression as e
from gpulab.virtual_gpu.isa.expression import Type, arg, b1, const, f32, i32, u8, u16, u32, u64

X, Y = arg(0, "x", u32), arg(1, "y", u32)
F, S, C = arg(2, "f", f32), arg(3, "s", i32), arg(4, "c", b1)
x, y, f, s, c = "arg.u32((0, 'x'))", "arg.u32((1, 'y'))", "arg.f32((2, 'f'))", "arg.i32((3, 's'))", "arg.b1((4, 'c'))"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (X + Y, f"add.u32({x}, {y})"), (X + 1, f"add.u32({x}, const.u32(1))"), (1 + X, f"add.u32(const.u32(1), {x})"),
        (X - Y, f"sub.u32({x}, {y})"), (2 - X, f"sub.u32(const.u32(2), {x})"), (X * 3, f"mul.u32({x}, const.u32(3))"),
        (3 * X, f"mul.u32(const.u32(3), {x})"), (F / 2, f"div.f32({f}, const.f32(2.0))"),
        (1 / F, f"div.f32(const.f32(1.0), {f})"), (X // Y, f"div.u32({x}, {y})"), (X % Y, f"rem.u32({x}, {y})"),
        (X & 7, f"and.u32({x}, const.u32(7))"), (7 & X, f"and.u32(const.u32(7), {x})"),
        (X | 7, f"or.u32({x}, const.u32(7))"), (7 | X, f"or.u32(const.u32(7), {x})"),
        (X ^ 7, f"xor.u32({x}, const.u32(7))"), (7 ^ X, f"xor.u32(const.u32(7), {x})"),
        (X << 3, f"shl.u32({x}, const.u32(3))"), (1 << X, f"shl.u32(const.u32(1), {x})"),
        (X >> 3, f"shr.u32({x}, const.u32(3))"), (9 >> X, f"shr.u32(const.u32(9), {x})"),
        (~X, f"not.u32({x})"), (-S, f"neg.i32({s})"), (X == Y, f"eq.b1({x}, {y})"),
        (X != 0, f"ne.b1({x}, const.u32(0))"),
        (X < Y, f"lt.b1({x}, {y})"), (X <= Y, f"le.b1({x}, {y})"), (X > Y, f"gt.b1({x}, {y})"),
        (X >= Y, f"ge.b1({x}, {y})"), (X.to(u64), f"to.u64({x})"), (F.bits(u32), f"bits.u32({f})"),
        (e.select(C, X, 5), f"select.u32({c}, {x}, const.u32(5))"),
        (e.select(C, 5, X), f"select.u32({c}, const.u32(5), {x})"),
        (e.fma(F, 2.0, F), f"fma.f32({f}, const.f32(2.0), {f})"),
        (e.fma(1, F, -1), f"fma.f32(const.f32(1.0), {f}, const.f32(-1.0))"),
        (const(-1, u8), "const.u8(255)"), (const(256, u8), "const.u8(0)"), (const(-2, i32), f"const.i32({2**32 - 2})"),
        (const(True, b1), "const.b1(1)"), (const(3, f32), "const.f32(3.0)"),
        (e.sqrt(F), f"sqrt.f32({f})"), (e.floor(F), f"floor.f32({f})"), (e.ceil(F), f"ceil.f32({f})"),
        (e.trunc(F), f"trunc.f32({f})"), (e.rint(F), f"rint.f32({f})"), (e.popcount(X), f"popcount.u32({x})"),
        (e.clz(X), f"clz.u32({x})"), (e.ctz(X), f"ctz.u32({x})"), (e.bitreverse(X), f"bitreverse.u32({x})"),
    ],
)  # fmt: skip
def test_the_node_of_each_operator(value, text):
    assert repr(value) == text


def test_the_same_type_makes_no_node():
    assert X.to(u32) is X
    assert X.bits(u32) is X


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: X + S, "add: u32 and i32"), (lambda: X < F, "lt: u32 and f32"),
        (lambda: X.bits(u16), "u32 and u16 differ"),
        (lambda: e.select(X, X, Y), "needs a b1"), (lambda: e.select(C, X, F), "select: u32 and f32"),
        (lambda: e.fma(F, X, F), "differ in type"), (lambda: bool(C), "no branches"),
    ],
)  # fmt: skip
def test_types_that_do_not_go_together(make, words):
    with pytest.raises(TypeError, match=words):
        make()


def test_types_and_their_names():
    assert [t for t, one in e.TYPES.items() if one.is_float] == ["f16", "bf16", "f32", "f64"]
    assert [t for t, one in e.TYPES.items() if one.is_int] == ["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64"]
    assert {t: (one.kind, one.width) for t, one in e.TYPES.items() if t in ("b1", "bf16", "i64", "u8")} == {
        "b1": ("b", 1), "bf16": ("bf", 16), "i64": ("i", 64), "u8": ("u", 8),
    }  # fmt: skip
    assert repr(Type("bf", 16)) == "bf16"
