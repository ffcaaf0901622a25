"""`CrossLaneRows`: rows that move values between lanes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gpulab.virtual_gpu.isa.expression import Type, u32
from gpulab.virtual_gpu.isa.instruction import Operand, Register
from gpulab.virtual_gpu.isa.row import ONE_FOR_THE_WAVE, CrossLane
from gpulab.virtual_gpu.reference.values import swizzled

if TYPE_CHECKING:
    from gpulab.virtual_gpu.reference.values import Bits

from gpulab.virtual_gpu.reference.operands import Operands, Writes


class CrossLaneRows(Operands):
    """Executes them on one wave."""

    def cross_lane(self, row: CrossLane) -> Writes:
        wave, operands = self.wave, self.item.operands
        lanes = range(wave.size)
        if wave.gpr_indexing and row.kind in ONE_FOR_THE_WAVE:
            operands = (self.indexed(operands[0], 8), self.indexed(operands[1], 1), *operands[2:])
        if row.kind in ("readlane", "readfirstlane"):
            if row.kind == "readlane":
                lane = self.scalar(operands[2], u32) % wave.size
            else:
                mask = wave.exec & wave.full
                lane = (mask & -mask).bit_length() - 1 if mask else 0
            source = operands[1]
            is_scalar = not (isinstance(source.value, Register) and source.value.file in ("v", "a"))
            bits = self.scalar(source, u32) if is_scalar else int(self.raw(source, u32)[lane])
            return [lambda: self.set_scalar(operands[0], bits, 32)]
        if row.kind == "movrelsd_2" and row.unit == "salu":
            bits = self.scalar(_moved(operands[1], wave.m0 & 1023), u32)
            return [lambda: self.set_scalar(_moved(operands[0], wave.m0 >> 16 & 1023), bits, 32)]
        if row.indexed and row.unit == "salu":
            width = row.width
            from_, to = (wave.m0, 0) if row.kind == "movrels" else (0, wave.m0)
            bits = self.scalar(_moved(operands[1], from_), Type("u", width))
            return [lambda: self.set_scalar(_moved(operands[0], to), bits, width)]
        target = operands[0].value
        if not isinstance(target, Register) or target.file not in ("v", "a"):
            raise self.unsupported("this destination")
        words = self.words(target)
        if row.kind == "writelane":
            lane, bits = self.scalar(operands[2], u32) % wave.size, self.scalar(operands[1], u32)

            def write_lane() -> None:
                words[0, lane] = bits

            return [write_lane]
        active = wave.active()
        if row.kind == "permlane_swap":
            return [self.swap_rows(words[0], self.words(self.register(operands[1]))[0], row.distance)]
        if row.kind in ("ds_permute", "ds_bpermute"):
            addresses = self.raw(operands[1], u32).astype(np.int64) + self.offset()
            data = self.raw(operands[2], u32)
            chosen = (addresses // 4 % wave.size).tolist()
            found = np.zeros(wave.size, np.uint32)
            for lane in lanes:
                if row.kind != "ds_permute":
                    reads = active[chosen[lane]] or row.inactive
                    found[lane] = data[chosen[lane]] if reads else 0
                elif active[lane]:
                    found[chosen[lane]] = data[lane]
            return [self.vector_write(operands[0], found, active)]
        if row.kind == "ds_swizzle":
            data = self.raw(operands[1], u32)
            sources = [swizzled(lane, self.offset() & 0xFFFF) for lane in lanes]
            found = np.array([data[s] if active[s] else 0 for s in sources], np.uint32)
            return [self.vector_write(operands[0], found, active)]
        if row.kind == "permlane16":
            if row.by_lane:
                places = [int(place) & 15 for place in self.raw(operands[2], u32)]
            else:
                selectors = self.scalar(operands[2], u32) | self.scalar(operands[3], u32) << 32
                places = [selectors >> 4 * (lane & 15) & 15 for lane in lanes]
            op_sel = self.item.modifiers.get("op_sel", (0, 0))
            inactive_too, bound_zero = (bool(x) for x in op_sel[:2]) if isinstance(op_sel, tuple) else (False, False)
            data = self.raw(operands[1], u32)
            found, write = words[0].copy(), active.copy()
            for lane in lanes:
                row_start = lane & ~15 ^ (16 if row.other_row else 0)
                chosen_lane = row_start | places[lane]
                if inactive_too or active[chosen_lane]:
                    found[lane] = data[chosen_lane]
                elif bound_zero:
                    found[lane] = 0
                else:
                    write[lane] = False
            return [self.vector_write(operands[0], found, write)]
        if row.kind == "permlane64":
            if wave.size == 32:
                return []
            data = self.raw(operands[1], u32)
            found = np.concatenate([data[32:], data[:32]])
            return [self.vector_write(operands[0], found, active)]
        if row.kind in ("movrelsd_2", "swaprel"):
            source, place = _moved(operands[1], wave.m0 & 1023), _moved(operands[0], wave.m0 >> 16 & 1023)
            here, there = self.raw(place, u32).copy(), self.raw(source, u32).copy()
            exchanged = [self.vector_write(source, here, active)] if row.kind == "swaprel" else []
            return [self.vector_write(place, there, active), *exchanged]
        if row.kind in ("movrels", "movreld", "movrelsd"):
            from_ = wave.m0 if row.kind != "movreld" else 0
            to = wave.m0 if row.kind != "movrels" else 0
            return [self.vector_write(_moved(operands[0], to), self.raw(_moved(operands[1], from_), u32), active)]
        raise self.unsupported(f"cross-lane kind {row.kind}")

    def register(self, operand: Operand) -> Register:
        if not isinstance(operand.value, Register):
            raise self.unsupported("this operand")
        return operand.value

    def swap_rows(self, upper: Bits, lower: Bits, distance: int) -> Callable[[], None]:
        """v_permlane16_swap, v_permlane32_swap: rows `distance` apart of two registers change places."""
        active = self.wave.active()
        inactive_too, bound_zero = (bool(self.item.modifiers.get(name)) for name in ("fi", "bound_ctrl"))
        new_upper, new_lower = upper.copy(), lower.copy()
        for low in range(self.wave.size):
            high = low + distance
            if low & distance:
                continue
            for to, value, target, source in ((new_upper, lower[low], high, low), (new_lower, upper[high], low, high)):
                if active[target] and (active[source] or inactive_too):
                    to[target] = value
                elif active[target] and bound_zero:
                    to[target] = 0

        def write() -> None:
            upper[:], lower[:] = new_upper, new_lower

        return write


def _moved(operand: Operand, by: int) -> Operand:
    """The operand `by` registers further; constants stay."""
    register = operand.value
    return (
        replace(operand, value=replace(register, index=register.index + by))
        if isinstance(register, Register)
        else operand
    )
