"""Helpers of the row tests: `run` evaluates a row with numpy; `f32`, `f64`, `f16` turn numbers into bits."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from gpulab.virtual_gpu import isa
from gpulab.virtual_gpu.isa.expression import Type, b1
from gpulab.virtual_gpu.isa.row import Memory, Row
from gpulab.virtual_gpu.reference.numpy_reader import dtype, evaluate

DEFAULTS = {"mode": 0x3F0}  # as in HIP kernels: IEEE, DX10_CLAMP, all denormals
FLOATS = {16: "e", 32: "f", 64: "d"}


def bits(value: Any, type: Type) -> int:
    """A number as a test writes it (int: bits; float: a number of the type) as an unsigned integer."""
    if isinstance(value, float):
        if type.kind == "bf":
            return struct.unpack("<I", struct.pack("<f", value))[0] >> 16
        assert type.kind == "f", f"{value!r} for {type}"
        return int.from_bytes(struct.pack("<" + FLOATS[type.width], value), "little")
    return int(value) & ((1 << type.width) - 1)


def row_of(arch: str, mnemonic: str) -> Row:
    row = isa.table(arch)[mnemonic]
    if isinstance(row, Memory):
        assert row.combine is not None
        row = row.combine
    assert isinstance(row, Row)
    return row


def run(arch: str, mnemonic: str, *arguments: Any, **implicit: Any) -> tuple[int, ...]:
    """Results of a row as bits. Explicit sources in text order; implicit parameters by name (missing ones are 0)."""
    row = row_of(arch, mnemonic)
    explicit = list(arguments)
    values = []
    for parameter in row.parameters:
        given = implicit.get(parameter.name, DEFAULTS.get(parameter.name, 0)) if parameter.implicit else explicit.pop(0)
        number = bits(given, parameter.type)
        if parameter.type == b1:
            values.append(np.bool_(number))
        else:
            values.append(np.array([number], f"uint{parameter.type.width}").view(dtype(parameter.type))[0])
    assert not explicit, f"{mnemonic} takes fewer sources"
    results, graph = row.graph()
    found = evaluate(graph, values)
    out = []
    for result, value in zip(results, found, strict=True):
        if result.type == b1:
            out.append(int(value))
        else:
            out.append(int(np.asarray(value).reshape(1).view(f"uint{result.type.width}")[0]))
    return tuple(out)


def f32(value: float) -> int:
    return int.from_bytes(struct.pack("<f", value), "little")


def f64(value: float) -> int:
    return int.from_bytes(struct.pack("<d", value), "little")


def f16(value: float) -> int:
    return int.from_bytes(struct.pack("<e", value), "little")


def from_f32(number: int) -> float:
    return struct.unpack("<f", number.to_bytes(4, "little"))[0]
