"""`Addresses`: which operands of a memory instruction are data, and the address of each active lane."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpulab.virtual_gpu import dispatch, isa
from gpulab.virtual_gpu.isa.buffers import ADD_THREAD, INDEX_STRIDE, SELECT, inside, linear
from gpulab.virtual_gpu.isa.expression import u32, u64
from gpulab.virtual_gpu.isa.instruction import Keyword, Operand, Register
from gpulab.virtual_gpu.isa.row import Memory
from gpulab.virtual_gpu.reference.values import MASK32, MASK64

if TYPE_CHECKING:
    from gpulab.virtual_gpu.reference.values import Bits

from gpulab.virtual_gpu.reference.operands import Operands


class Addresses(Operands):
    """Of one instruction on one wave."""

    def flat_operands(self, row: Memory) -> tuple[list[Operand], dict[int, int]]:
        """Data operands and, for each active lane, the generic address (scratch: PRIVATE_APERTURE | offset)."""
        wave = self.wave
        operands = list(self.item.operands)
        data: list[Operand] = []
        has_saddr = row.space != "flat"
        if row.implied == "lane":
            base = 0 if isinstance(operands[1].value, Keyword) else self.scalar(operands[1], u64)
            active = np.flatnonzero(wave.active()).tolist()
            return operands[:1], {lane: (base + self.offset() + 4 * lane) & MASK64 for lane in active}
        returns = row.action == "load" or (row.action == "atomic" and len(operands) > (3 if has_saddr else 2))
        if returns and not row.to_lds:
            data.append(operands.pop(0))
        vaddr = operands.pop(0)
        saddr = operands.pop() if has_saddr else None
        data += operands
        base = 0
        if saddr is not None and isinstance(saddr.value, Register) and saddr.value.name != "null":
            base = self.scalar(saddr, u32 if row.space == "scratch" else u64)
            wide = False
        else:
            wide = row.space != "scratch"
        if isinstance(vaddr.value, Keyword):
            offsets = np.zeros(wave.size, np.uint64)
        else:
            offsets = self.raw(vaddr, u64 if wide or row.space == "flat" else u32).astype(np.uint64)
        amount = self.offset() + base
        addresses = {}
        for lane in np.flatnonzero(wave.active()).tolist():
            address = int(offsets[lane]) + amount
            if row.space == "scratch":
                addresses[lane] = dispatch.PRIVATE_APERTURE | address & MASK32
            else:
                addresses[lane] = address & MASK64
        return data, addresses

    def lds_operands(self, row: Memory) -> tuple[list[Operand], dict[int, int]]:
        wave = self.wave
        operands = list(self.item.operands)
        data = []
        if row.action == "load" or row.returns:
            data.append(operands.pop(0))
        if row.implied:
            step = np.uint32(4 if row.implied == "lane" else 0)
            offsets = np.arange(wave.size, dtype=np.uint32) * step + np.uint32(wave.m0 & 0xFFFF)
        elif not operands:
            raise self.unsupported("this LDS address")
        else:
            offsets = self.raw(operands.pop(0), u32)
        data += operands
        amount = 0 if row.two_address else self.offset()
        active = np.flatnonzero(wave.active()).tolist()
        return data, {
            lane: dispatch.SHARED_APERTURE | (int(offsets[lane]) + amount) & MASK32 for lane in active
        }  # 32-bit sum: an LDS offset that wraps is out of bounds like any other

    def buffer_operands(self, row: Memory) -> tuple[list[Operand], dict[int, int]]:
        """The data operand and the address of each active lane whose access lies wholly in the buffer (isa/buffers.py);
        `self.partial` has the others that begin in it, with the number of bytes that do."""
        wave, item = self.wave, self.item
        operands = list(item.operands)
        data = [] if item.modifiers.get("lds") else [operands.pop(0)]
        vaddr, resource, soffset = operands[:3]
        if not isinstance(resource.value, Register) or resource.value.count != 4:
            raise self.unsupported("this buffer resource")
        words = [wave.s[resource.value.index + i] for i in range(4)]
        rules = isa.generation_of(self.machine.program.arch).buffers
        base = words[0] | (words[1] & 0xFFFF) << 32
        stride, records = words[1] >> 16 & 0x3FFF, words[2]
        element = rules.elements[words[1] >> rules.swizzle]
        select, index_stride = words[3] >> SELECT & 3, 8 << (words[3] >> INDEX_STRIDE & 3)
        index: Bits = np.zeros(wave.size, np.uint32)
        offset: Bits = np.zeros(wave.size, np.uint32)
        structured = bool(item.modifiers.get("idxen"))
        if not isinstance(vaddr.value, Keyword) and isinstance(vaddr.value, Register):
            parts = [self.words(vaddr.value)[i] for i in range(vaddr.value.count)]
            if structured:
                index = parts.pop(0)
            if item.modifiers.get("offen"):
                offset = parts.pop(0)
        scalar = self.scalar(soffset, u32)
        size = row.element * row.count // 8
        ends = [size] if row.action == "atomic" or row.element < 32 else [4 * (n + 1) for n in range(size // 4)]
        addresses: dict[int, int] = {}
        has_scratch = self.machine.descriptor.directives.get("user_sgpr_private_segment_buffer")
        if has_scratch and words[3] == dispatch.SCRATCH_FLAGS:  # the scalar offset counts for all lanes together
            for lane in np.flatnonzero(wave.active()).tolist():
                place = int(offset[lane]) + self.offset() + scalar // wave.size
                addresses[lane] = dispatch.PRIVATE_APERTURE | place & MASK32
            return data, addresses
        for lane in np.flatnonzero(wave.active()).tolist():
            at = int(index[lane]) + (lane if words[3] >> ADD_THREAD & 1 else 0)
            within = int(offset[lane]) + self.offset()
            place = linear(stride, element, index_stride, at, within)
            good = [
                end for end in ends
                if inside(rules, select, records, stride, element, structured, at, within, scalar, place, end)
            ]  # fmt: skip
            address = (base + scalar + place) & MASK64
            if good == ends:
                addresses[lane] = address
            elif good:
                self.partial[lane] = address, max(good)
        return data, addresses
