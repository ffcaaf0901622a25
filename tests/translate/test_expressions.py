"""The LLVM reader of row expressions: each operation on edge values, against numbers from IEEE 754 and C."""

from __future__ import annotations

import ctypes
import struct

import pytest

from gpulab.virtual_gpu.isa import expression as x
from gpulab.virtual_gpu.translate import jit
from gpulab.virtual_gpu.translate.emitter import Emitter, vector
from gpulab.virtual_gpu.translate.expressions import Reader, ir_type

CHUNK = 8
_FORMATS = {
    "u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i", "u64": "Q", "i64": "q", "f16": "e",
    "f32": "f", "f64": "d",
}  # fmt: skip


def compute(body, types, rows, width=CHUNK):
    """`body` on up to eight rows of arguments, through LLVM; gives one result per row."""
    emitter = Emitter(CHUNK)
    reader = Reader(emitter, width)
    arguments = []
    for n, type in enumerate(types):
        raw = vector(f"i{type.width}", width)
        value = emitter.let(f"load {raw}, ptr %in{n}, align 1")
        named = ir_type(type)
        same = named == f"i{type.width}"
        arguments.append(value if same else emitter.let(f"bitcast {raw} {value} to {reader.type(type)}"))
    graph = body(*(x.arg(n, f"a{n}", type) for n, type in enumerate(types)))
    (result,) = reader.read([graph], arguments)
    out = graph.type
    if out == x.b1:
        result = emitter.let(f"zext {vector('i1', width)} {result} to {vector('i8', width)}")
        stored = vector("i8", width)
    else:
        stored = reader.type(out)
    emitter.do(f"store {stored} {result}, ptr %out, align 1")
    parameters = ", ".join([*(f"ptr %in{n}" for n in range(len(types))), "ptr %out"])
    text = f"define void @f({parameters}) {{\nentry:\n" + "\n".join(emitter.lines) + "\n  ret void\n}\n"
    text += "\n".join(emitter.declarations.values()) + "\n"
    (address,) = jit.load(jit.compile_object(text), "f")
    rows = [*rows, *([rows[-1]] * (CHUNK - len(rows)))]
    buffers = []
    for n, type in enumerate(types):
        raw = b"".join(_pack(type, row[n]) for row in rows)
        buffers.append(ctypes.create_string_buffer(raw, max(len(raw), 64)))
    output = ctypes.create_string_buffer(128)
    pointers = [ctypes.c_void_p] * (len(types) + 1)
    ctypes.CFUNCTYPE(None, *pointers)(address)(*buffers, output)
    size = 1 if out == x.b1 else out.width // 8
    count = CHUNK if width == CHUNK else 1
    return [_unpack(out, output.raw[size * i : size * (i + 1)]) for i in range(count)]


def _pack(type, value):
    if type.kind == "bf":
        return struct.pack("<H", value)
    return struct.pack("<" + _FORMATS[type.name], value)


def _unpack(type, raw):
    if type == x.b1:
        return bool(raw[0])
    return struct.unpack("<" + ("H" if type.kind == "bf" else _FORMATS[type.name]), raw)[0]


INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    ("body", "types", "cases"),
    [
        (lambda a, b: a // b, (x.i32, x.i32), {(7, 2): 3, (-7, 2): -3, (5, 0): 0, (-(2**31), -1): -(2**31)}),
        (lambda a, b: a % b, (x.i32, x.i32), {(7, 4): 3, (-7, 4): -3, (5, 0): 0, (-(2**31), -1): 0}),
        (lambda a, b: a // b, (x.u64, x.u64), {(2**64 - 1, 3): (2**64 - 1) // 3, (9, 0): 0}),
        (lambda a, b: a >> b, (x.i32, x.i32), {(-8, 1): -4, (8, 3): 1, (-1, 31): -1}),
        (lambda a, b: a >> b, (x.u32, x.u32), {(2**31, 31): 1, (2**32 - 1, 4): 2**28 - 1}),
        (lambda a, b: a < b, (x.i32, x.i32), {(-1, 0): True, (0, -1): False}),
        (lambda a, b: a < b, (x.u32, x.u32), {(2**32 - 1, 0): False, (0, 2**32 - 1): True}),
        (lambda a, b: a == b, (x.f32, x.f32), {(0.0, -0.0): True, (NAN, NAN): False}),
        (lambda a, b: a != b, (x.f32, x.f32), {(0.0, -0.0): False, (NAN, NAN): True}),
        (lambda a, b: a <= b, (x.f64, x.f64), {(NAN, 1.0): False, (1.0, 1.0): True, (INF, 1.0): False}),
        (lambda a: a.to(x.i32), (x.f32,), {(1.9,): 1, (-1.9,): -1, (3e9,): 2**31 - 1, (-INF,): -(2**31), (NAN,): 0}),
        (lambda a: a.to(x.u32), (x.f32,), {(-1.0,): 0, (5e9,): 2**32 - 1, (NAN,): 0, (255.9,): 255}),
        (lambda a: a.to(x.f32), (x.i32,), {(2**24 + 1,): 2.0**24, (2**24 + 3,): 2.0**24 + 4, (-5,): -5.0}),
        (lambda a: a.to(x.f32), (x.u32,), {(2**32 - 1,): 2.0**32}),
        # halfway cases: a double just above the middle of two halves must not round twice
        (lambda a: a.to(x.f16), (x.f64,), {(1 + 2**-11,): 1.0, (1 + 2**-11 + 2**-40,): 1 + 2**-10, (65520.0,): INF}),
        (lambda a: a.to(x.f16), (x.f32,), {(1 + 3 * 2**-11,): 1 + 2**-9, (2**-25,): 0.0, (65519.0,): 65504.0}),
        (lambda a: a.to(x.i64), (x.i8,), {(-128,): -128, (127,): 127}),
        (lambda a: a.to(x.u64), (x.u8,), {(255,): 255}),
        (lambda a: a.to(x.bf16), (x.f32,), {(1 + 2**-8,): 0x3F80, (1 + 3 * 2**-8,): 0x3F82, (INF,): 0x7F80}),
        (lambda a: a.to(x.f32), (x.bf16,), {(0x3F80,): 1.0, (0xC040,): -3.0}),
        (lambda a, b: a + b, (x.bf16, x.bf16), {(0x3F80, 0x3F80): 0x4000}),
        (lambda a: a.bits(x.u32), (x.f32,), {(1.0,): 0x3F800000, (-0.0,): 0x80000000}),
        (lambda a: -a, (x.f32,), {(0.0,): -0.0, (-INF,): INF}),
        (lambda a: -a, (x.i32,), {(5,): -5, (-(2**31),): -(2**31)}),
        (x.popcount, (x.u32,), {(0,): 0, (2**32 - 1,): 32, (0x80000001,): 2}),
        (x.clz, (x.u32,), {(0,): 32, (1,): 31, (2**31,): 0}),
        (x.ctz, (x.u64,), {(0,): 64, (8,): 3}),
        (x.bitreverse, (x.u32,), {(1,): 2**31, (0xF0000000,): 0xF}),
        (x.rint, (x.f32,), {(0.5,): 0.0, (1.5,): 2.0, (2.5,): 2.0, (-2.5,): -2.0}),
        (x.floor, (x.f64,), {(-0.5,): -1.0, (2.9,): 2.0}),
        (x.trunc, (x.f32,), {(-2.9,): -2.0}),
        (x.ceil, (x.f16,), {(1.25,): 2.0}),
        (x.sqrt, (x.f32,), {(2.0,): struct.unpack("<f", struct.pack("<f", 2**0.5))[0], (0.25,): 0.5}),
        # fma rounds once: (1 + 2**-12)**2 - (1 + 2**-11) is exactly 2**-24
        (x.fma, (x.f32,) * 3, {(1 + 2**-12, 1 + 2**-12, -(1 + 2**-11)): 2**-24}),
        (x.fma, (x.f16,) * 3, {(1 + 2**-6, 1 + 2**-6, -(1 + 2**-5)): 2**-12}),
        (lambda a, b: x.select(a < b, a, b), (x.i32, x.i32), {(-3, 4): -3, (9, 2): 2}),
    ],
)
def test_operation(body, types, cases):
    rows, expected = list(cases), list(cases.values())
    found = compute(body, types, rows)
    assert [repr(v) for v in found[: len(rows)]] == [repr(v) for v in expected]
    for row, wanted in cases.items():
        assert repr(compute(body, types, [row], width=1)[0]) == repr(wanted)
