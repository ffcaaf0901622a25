"""`ScalarRows`: rows that are expressions of the scalar unit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpulab.virtual_gpu.isa.expression import b1
from gpulab.virtual_gpu.isa.instruction import Operand
from gpulab.virtual_gpu.isa.row import Parameter, Row
from gpulab.virtual_gpu.reference.operands import Operands, Writes
from gpulab.virtual_gpu.reference.values import UNSIGNED, denormals, flush, output_modifiers


class ScalarRows(Operands):
    """Executes them on one wave."""

    def scalar_row(self, row: Row) -> Writes:
        wave, item = self.wave, self.item
        results, values = row.graph()
        destinations, sources = self.split(row)
        arguments = []
        position = 0
        for parameter in row.parameters:
            if parameter.implicit:
                bits = self.implicit_scalar(parameter, destinations)
            else:
                if position >= len(sources):
                    raise self.unsupported(f"it has {len(sources)} sources, its row more")
                bits = self.scalar(sources[position], parameter.type)
                position += 1
            given = np.array([bits], bool if parameter.type == b1 else UNSIGNED[max(8, parameter.type.width)])
            if parameter.type.is_float and row.float_mode and not denormals(wave.mode, parameter.type) & 1:
                given = flush(given, parameter.type)
            arguments.append(given)
        found = self.evaluate(row, values, arguments)
        writes: Writes = []
        named = iter(destinations)
        for result, value in zip(results, found, strict=True):
            if row.float_mode and result.type.is_float:
                modifiers = {k: v for k, v in item.modifiers.items() if k in ("mul", "div", "clamp")}
                value = output_modifiers(value, result.type, modifiers, wave.mode)
            number, width = int(value[0]), result.type.width
            if result.name in ("dst", "sdst"):
                target = next(named)
                writes.append(lambda t=target, n=number, w=width: self.set_scalar(t, n, w))  # type: ignore[misc]
            else:
                writes.append(lambda name=result.name, n=number, w=width: self.set_special(name, n, w))  # type: ignore[misc]
        return writes

    def implicit_scalar(self, parameter: Parameter, destinations: Sequence[Operand]) -> int:
        wave = self.wave
        name = parameter.name
        if name in ("dst", "sdst"):
            return self.scalar(Operand(destinations[0 if name == "dst" else 1].value), parameter.type)
        if name == "clamp":
            return int(bool(self.item.modifiers.get("clamp")))
        return int(getattr(wave, name)) & ((1 << parameter.type.width) - 1)
