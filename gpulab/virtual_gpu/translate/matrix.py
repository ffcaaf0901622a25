"""Matrix instructions: one call of the support code (machine/native/matrix.c) on whole registers.

`described` packs an instruction's shape, element kinds and modifiers into the numbers that the call takes; `emit`
makes the call.
"""

from __future__ import annotations

from typing import Any

from gpulab.virtual_gpu import schema
from gpulab.virtual_gpu.isa.expression import TYPES
from gpulab.virtual_gpu.isa.instruction import Instruction, Literal, Register
from gpulab.virtual_gpu.isa.row import Matrix
from gpulab.virtual_gpu.translate import layout
from gpulab.virtual_gpu.translate.decode import ACC, Decoded, literal_bits
from gpulab.virtual_gpu.translate.emitter import NULL, Emitter, Value, signed


def _flags(instruction: Instruction, name: str) -> int:
    given = instruction.modifiers.get(name, ())
    return sum(bool(on) << i for i, on in enumerate(given if isinstance(given, tuple) else ())) & 7


def _kind(element: str, is_signed: bool) -> int:
    return schema.ELEMENTS[element.replace("iu", "i" if is_signed else "u")]


def described(row: Matrix, instruction: Instruction, wave_size: int) -> tuple[int, int]:
    """(shape, flags) as gpulab_matrix takes them."""

    def number(name: str) -> int:
        value: Any = instruction.modifiers.get(name, 0)
        return int(value) & 15

    shape = schema.MATRIX_SHAPE.pack(
        m=row.m, n=row.n, k=row.k, blocks=row.blocks, wave=wave_size, layout=schema.MATRIX_LAYOUTS[row.layout]
    )
    negate = _flags(instruction, "neg" if row.d == "f64" else "neg_lo")
    flags = schema.MATRIX_FLAGS.pack(
        a=_kind(row.a, bool(negate & 1)),
        b=_kind(row.b, bool(negate & 2)),
        d=_kind(row.d, True),
        cbsz=number("cbsz"),
        abid=number("abid"),
        blgp=number("blgp"),
        neg_lo=negate,
        neg_hi=_flags(instruction, "neg_hi"),
        clamp=bool(instruction.modifiers.get("clamp")),
        high=_flags(instruction, "op_sel") >> 2,
    )
    return shape, flags


def emit(e: Emitter, decoded: Decoded, row: Matrix, wave_size: int) -> None:
    """The call; what was in the registers before has been stored."""
    pointers: list[Value] = []
    constant = 0
    for operand in decoded.instruction.operands:
        value = operand.value
        if isinstance(value, Register):
            number = value.index + (ACC if value.file == "a" else 0)
            pointers.append(e.let(f"getelementptr i8, ptr %vgprs, i64 {number * wave_size * 4}"))
        else:
            assert isinstance(value, Literal)
            constant = literal_bits(value, TYPES[row.d])
            pointers.append(NULL)
    shape, flags = described(row, decoded.instruction, wave_size)
    address = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('matrix')}")
    function = e.let(f"load ptr, ptr {address}")
    d, a, b, c = pointers
    e.do(
        f"call void {function}(ptr {d}, ptr {a}, ptr {b}, ptr {c}, i64 {signed(constant, 64)}, i64 {shape}, "
        f"i32 {signed(flags, 32)})"
    )
