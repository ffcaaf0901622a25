"""64-bit integers by their halves: the numbers are those of whole ones, and packed floats are never joined."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import gpulab
from gpulab.virtual_gpu import dispatch, isa
from gpulab.virtual_gpu.isa import assembly
from gpulab.virtual_gpu.isa import expression as x
from gpulab.virtual_gpu.isa import functions as f
from gpulab.virtual_gpu.translate.decode import Decoder
from gpulab.virtual_gpu.translate.emitter import NOTHING, Emitter, Joined
from gpulab.virtual_gpu.translate.function import translate
from tests.translate.test_expressions import compute

ALL = (1 << 64) - 1
MASKS = (0, 0xFFFFFFFF, 0xFFFFFFFF00000000, ALL, 0x8000000180000001, 0x1234567)
Step = tuple[Callable[[Any], Any], Callable[[int], int]]
#: on an expression, and on a Python integer
STEPS: dict[str, Step] = {
    "left": (lambda v: v << 32, lambda v: v << 32 & ALL),
    "right": (lambda v: v >> 32, lambda v: v >> 32),
    "little": (lambda v: v >> 7, lambda v: v >> 7),
    "signed": (lambda v: (v.bits(x.i64) >> 32).bits(x.u64), lambda v: v >> 32 | (0xFFFFFFFF00000000 if v >> 63 else 0)),
    "low": (lambda v: f.low(v).to(x.u64), lambda v: v & 0xFFFFFFFF),
    "narrow": (lambda v: v.to(x.u16).to(x.u64), lambda v: v & 0xFFFF),
    "byte": (lambda v: v.to(x.u8).to(x.u32).to(x.u64), lambda v: v & 0xFF),
    "swap": (lambda v: f.join(f.high(v), f.low(v)), lambda v: v >> 32 | v << 32 & ALL),
    "not": (lambda v: ~v, lambda v: v ^ ALL),
    "more": (lambda v: v + 0xFFFFFFFF, lambda v: v + 0xFFFFFFFF & ALL),
    **{f"and {m:x}": (lambda v, m=m: v & m, lambda v, m=m: v & m) for m in MASKS},
    **{f"or {m:x}": (lambda v, m=m: v | m, lambda v, m=m: v | m) for m in MASKS},
    **{f"xor {m:x}": (lambda v, m=m: v ^ m, lambda v, m=m: v ^ m) for m in MASKS},
}  # type: ignore[misc]


@pytest.mark.parametrize("seed", range(12))
def test_numbers_are_those_of_whole_integers(seed: int) -> None:
    chosen = random.Random(seed)
    names = [chosen.choice(sorted(STEPS)) for _ in range(6)]
    edges = (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
    rows = [tuple(chosen.choice((*edges, chosen.getrandbits(32))) for _ in range(3)) for _ in range(8)]

    def body(low: x.Value, high: x.Value, other: x.Value) -> x.Value:
        value = f.join(low, high)
        for name in names:
            value = STEPS[name][0](value) ^ f.join(other, low)
        return value

    def expected(low: int, high: int, other: int) -> int:
        value = low | high << 32
        for name in names:
            value = STEPS[name][1](value) ^ (other | low << 32)
        return value

    assert compute(body, [x.u32, x.u32, x.u32], rows) == [expected(*row) for row in rows], names


def test_each_block_joins_for_itself() -> None:
    e = Emitter()
    pair = Joined(e, e.ahead("low"), e.ahead("high"))
    assert f"{pair}" == f"{pair}" == "%t4"
    assert len(e.lines) == 4
    e.label("next")
    assert f"{pair}" == "%t8"


@pytest.mark.parametrize(("low", "high", "count"), [("%a", NOTHING, 1), (NOTHING, "%a", 2), (NOTHING, NOTHING, 2)])
def test_a_half_of_0_costs_nothing(low: Any, high: Any, count: int) -> None:
    e = Emitter()
    assert f"{Joined(e, low, high)}" == f"%t{count}"
    assert len(e.lines) == count


def test_packed_floats_are_not_joined() -> None:
    module = gpulab.compile(
        "__global__ void both(float2 a, float2 *x) { x[threadIdx.x] = x[threadIdx.x] * a + a; }", arch="gfx942"
    )
    assert "v_pk_fma_f32" in module.assembly or "v_pk_mul_f32" in module.assembly
    program = assembly.parse(module.assembly)
    (kernel,) = program.kernels.values()
    mode = dispatch.mode_register(kernel, program.arch)
    made = translate(program, kernel, Decoder(program, isa.table(program.arch)), mode, lanes=16)
    assert "x float>" in made.ir
    assert "lshr <16 x i64>" not in made.ir
    assert "shl <16 x i64>" not in made.ir
