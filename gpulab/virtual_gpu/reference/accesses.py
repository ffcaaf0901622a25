"""`MemoryRows`: loads, stores and atomics of lanes and of the scalar unit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gpulab.virtual_gpu import dispatch
from gpulab.virtual_gpu.isa.expression import Type, u32
from gpulab.virtual_gpu.isa.instruction import Keyword, Literal, Operand, Register
from gpulab.virtual_gpu.isa.row import Memory, Row
from gpulab.virtual_gpu.reference.addresses import Addresses
from gpulab.virtual_gpu.reference.memory import BadAccess
from gpulab.virtual_gpu.reference.operands import Writes
from gpulab.virtual_gpu.reference.state import Stop, Touch
from gpulab.virtual_gpu.reference.values import MASK32, MASK64, UNSIGNED


class MemoryRows(Addresses):
    """Executes them on one wave."""

    def memory(self, row: Memory) -> Writes:
        if row.action == "prefetch":
            return []
        if row.space == "scalar":
            return self.scalar_memory(row)
        if self.item.modifiers.get("gds"):
            raise self.unsupported("global data share")
        if row.space == "lds":
            data, addresses = self.lds_operands(row)
        elif row.space == "buffer":
            data, addresses = self.buffer_operands(row)
        else:
            data, addresses = self.flat_operands(row)
        return self.access(row, data, addresses)

    def access(self, row: Memory, data: list[Operand], addresses: dict[int, int]) -> Writes:
        """The access itself, of each active lane at its address."""
        if row.action == "load" and (row.to_lds or (row.space == "buffer" and self.item.modifiers.get("lds"))):
            self.load_into_lds(row, addresses)
            return []
        if row.action == "load":
            return self.load_vector(row, data[0], addresses)
        if row.action == "store":
            self.store_vector(row, data, addresses)
            return []
        if row.implied == "count":
            return self.counted(row, data[0], addresses)
        return self.atomic(row, data, addresses)

    def scalar_memory(self, row: Memory) -> Writes:
        target, base, *rest = self.item.operands
        if not isinstance(base.value, Register):
            raise self.unsupported("this address")
        amount = self.offset()
        for operand in rest:
            if not (isinstance(operand.value, Keyword) and operand.value.text == "off"):
                number = self.scalar(operand, u32)
                if isinstance(operand.value, Literal) and int(operand.value.value) < 0:
                    number -= 1 << 32
                amount += number
        start = self.scalar_register(base.value, 64) & (MASK64 if base.value.count == 2 else (1 << 48) - 1)
        size = row.element * row.count // 8
        room = size
        if base.value.count == 4:  # a buffer: words outside it are 0, stores and atomics outside do nothing
            amount &= ~3
            words = [self.scalar_register(replace(base.value, index=base.value.index + n, count=1), 32) for n in (1, 2)]
            room = words[1] * max(1, words[0] >> 16 & 0x3FFF) - amount
        address = (start + amount) & MASK64
        if row.action != "load":
            return self.scalar_change(row, target, address & ~3) if room >= size else self.scalar_nothing(row, target)
        aligned = address & ~(min(4, size) - 1) if size >= 4 else address
        inside = max(0, min(size, room)) & ~3 if size >= 4 else size
        bits = 0
        if inside:
            found = self.device(None, "read", lambda: self.machine.memory.read(aligned, inside))
            bits = int.from_bytes(found, "little")
            self.note(None, aligned, inside, bits, "read")
        if size < 4:
            if row.extend == "sign" and bits >> (8 * size - 1):
                bits -= 1 << 8 * size
            return [lambda: self.set_scalar(target, bits & MASK32, 32)]
        return [lambda: self.set_scalar(target, bits, 8 * size)]

    def scalar_nothing(self, row: Memory, target: Operand) -> Writes:
        """A store or atomic outside a buffer; an atomic that gives the old value gives 0."""
        returns = row.action == "atomic" and self.item.modifiers.get("glc")
        return [lambda: self.set_scalar(target, 0, row.element)] if returns else []

    def scalar_change(self, row: Memory, target: Operand, address: int) -> Writes:
        """A scalar store or atomic; the data are scalar registers."""
        size, register = row.element * row.count // 8, target.value
        assert isinstance(register, Register)
        data = self.scalar(Operand(register), Type("u", 32 * register.count))
        if row.action == "store":
            self.device(None, "write", lambda: self.machine.memory.write(address, data.to_bytes(size, "little")))
            self.note(None, address, size, data & (1 << 8 * size) - 1, "write")
            return []
        assert row.combine is not None
        old = int.from_bytes(self.device(None, "atomic", lambda: self.machine.memory.read(address, size)), "little")
        given = [data >> 8 * size * n & (1 << 8 * size) - 1 for n in range(len(row.combine.parameters) - 1)]
        new = self.combined(row.combine, [old, *given]).to_bytes(size, "little")
        self.device(None, "atomic", lambda: self.machine.memory.write(address, new))
        self.note(None, address, size, int.from_bytes(new, "little"), "atomic")
        return [lambda: self.set_scalar(target, old, 8 * size)] if self.item.modifiers.get("glc") else []

    def device(self, lane: int | None, access: str, action: Callable[[], Any]) -> Any:
        try:
            return action()
        except BadAccess as bad:
            raise Stop(bad.kind, lane, access, "", bad) from None

    def place(self, address: int, size: int, lane: int, access: str) -> tuple[Any, int]:
        """(LDS or this lane's scratch as a byte array, offset) for an aperture address, or (None, address)."""
        aperture, offset = address & dispatch.APERTURE_MASK, address & MASK32
        if aperture == dispatch.SHARED_APERTURE:
            lds = self.machine.lds
            if offset + size > len(lds):
                detail = f"LDS offset {offset}, {size} bytes; the workgroup has {len(lds)} bytes of LDS"
                raise Stop("lds out of bounds", lane, access, detail, BadAccess("lds out of bounds", offset, size))
            return lds, offset
        if aperture == dispatch.PRIVATE_APERTURE:
            scratch = self.wave.scratch[lane]
            if offset + size > len(scratch):
                detail = f"scratch offset {offset}, {size} bytes; a thread has {len(scratch)} bytes of scratch"
                raise Stop(
                    "scratch out of bounds", lane, access, detail, BadAccess("scratch out of bounds", offset, size)
                )
            return scratch, offset
        return None, address

    def fetch(self, address: int, size: int, lane: int, access: str = "read") -> int:
        store, offset = self.place(address, size, lane, access)
        if store is None:
            data = self.device(lane, access, lambda: self.machine.memory.read(offset, size))
        else:
            data = bytes(store[offset : offset + size])
        bits = int.from_bytes(data, "little")
        self.note(lane, address, size, bits, access)
        return bits

    def note(self, lane: int | None, address: int, size: int, bits: int, access: str) -> None:
        """Keep an access for who follows a wave: all of that wave's, and what others write to LDS."""
        if self.machine.touched is not None and (
            self.wave.number == self.machine.followed
            or (access != "read" and address & dispatch.APERTURE_MASK == dispatch.SHARED_APERTURE)
        ):
            self.machine.touched.append(Touch(self.wave.number, lane, address, size, bits, access))

    def put(self, address: int, bits: int, size: int, lane: int, access: str = "write") -> None:
        store, offset = self.place(address, size, lane, access)
        data = (bits & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        if store is None:
            self.device(lane, access, lambda: self.machine.memory.write(offset, data))
        elif isinstance(store, bytearray):
            store[offset : offset + size] = data
        else:
            store[offset : offset + size] = np.frombuffer(data, np.uint8)
        self.note(lane, address, size, int.from_bytes(data, "little"), access)

    def both(self, row: Memory, address: int) -> tuple[int, int]:
        """The two addresses of a DS two-address instruction."""
        first, second = (address + self.offset(f"offset{i}") * row.stride for i in (0, 1))
        aperture = address & dispatch.APERTURE_MASK
        return aperture | first & MASK32, aperture | second & MASK32

    def load_vector(self, row: Memory, target: Operand, addresses: Mapping[int, int]) -> Writes:
        register = target.value
        if not isinstance(register, Register) or register.file not in ("v", "a"):
            raise self.unsupported("this destination")
        words = self.words(register)
        size = row.element // 8
        values: dict[int, int] = {}
        for lane in np.flatnonzero(self.wave.active()).tolist():
            if lane in self.partial:
                values[lane] = self.fetch(*self.partial[lane], lane)
            elif lane not in addresses:
                values[lane] = 0  # a buffer access outside the buffer
            elif row.two_address:
                first, second = self.both(row, addresses[lane])
                values[lane] = self.fetch(first, size, lane) | self.fetch(second, size, lane) << row.element
            else:
                bits = self.fetch(addresses[lane], size * row.count, lane)
                if row.element < 32 and row.count == 1 and row.extend == "sign" and bits >> (row.element - 1):
                    bits -= 1 << row.element
                values[lane] = bits

        def write() -> None:
            for lane, bits in values.items():
                if row.half:
                    old = int(words[0, lane])
                    low, high = bits & 0xFFFF, bits << 16 & 0xFFFF0000
                    words[0, lane] = old & 0xFFFF0000 | low if row.half == "lo" else old & 0xFFFF | high
                else:
                    for i in range(len(words)):
                        words[i, lane] = bits >> 32 * i & MASK32

        return [write]

    def load_into_lds(self, row: Memory, addresses: Mapping[int, int]) -> None:
        """A load whose dwords go to LDS at m0[15:0] + offset, one lane's behind another's; 0 from outside a buffer."""
        size = row.element * row.count // 8
        start, step = (self.wave.m0 & 0xFFFF) + self.offset(), max(4, size)
        for lane in np.flatnonzero(self.wave.active()).tolist():
            if lane in self.partial:
                bits = self.fetch(*self.partial[lane], lane)
            else:
                bits = self.fetch(addresses[lane], size, lane) if lane in addresses else 0
            if row.extend == "sign" and bits >> (row.element - 1):
                bits -= 1 << row.element
            self.put(dispatch.SHARED_APERTURE | (start + step * lane) & MASK32, bits, step, lane)

    def data_bits(self, operand: Operand, lane: int) -> int:
        register = operand.value
        if not isinstance(register, Register) or register.file not in ("v", "a"):
            raise self.unsupported("this data operand")
        words = self.words(register)
        return sum(int(words[i, lane]) << 32 * i for i in range(register.count))

    def store_vector(self, row: Memory, data: Sequence[Operand], addresses: Mapping[int, int]) -> None:
        size = row.element // 8
        for lane, (address, count) in self.partial.items():
            self.put(address, self.data_bits(data[0], lane), count, lane)
        for lane, address in addresses.items():
            if row.two_address:
                for place, operand in zip(self.both(row, address), data, strict=True):
                    self.put(place, self.data_bits(operand, lane), size, lane)
            else:
                bits = self.data_bits(data[0], lane)
                self.put(address, bits >> 16 if row.half == "hi" else bits, size * row.count, lane)

    def atomic(self, row: Memory, data: list[Operand], addresses: Mapping[int, int]) -> Writes:
        """Lane after lane, in the order of lane numbers: read, combine, write."""
        combine = row.combine
        if combine is None and not row.two_address:
            raise self.unsupported("its row has no operation")
        if row.space == "lds":
            returns = row.returns
        elif row.space == "buffer":
            returns = bool(self.item.modifiers.get("sc0") or self.item.modifiers.get("glc"))
        else:
            returns = len(data) > 1
        target = data[0] if returns else None
        sources = data if row.space == "buffer" else data[1:] if returns else data
        size = row.element * (1 if row.two_address else row.count) // 8
        old_values: dict[int, int] = {}
        for lane, address in addresses.items():
            if row.two_address:  # exchange of two places
                old = 0
                for i, place in enumerate(self.both(row, address)):
                    self.aligned(place, size, lane)
                    old |= self.fetch(place, size, lane, "atomic") << row.element * i
                    self.put(place, self.data_bits(sources[i], lane), size, lane, "atomic")
                old_values[lane] = old
                continue
            assert combine is not None
            self.aligned(address, size, lane)
            old = self.fetch(address, size, lane, "atomic")
            bits = [old]
            if len(sources) == 1:
                packed = self.data_bits(sources[0], lane)
                width = 8 * size
                bits += [packed >> width * i & (1 << width) - 1 for i in range(len(combine.parameters) - 1)]
            else:
                bits += [self.data_bits(operand, lane) for operand in sources]
            self.put(address, self.combined(combine, bits), size, lane, "atomic")
            old_values[lane] = old
        if target is None:
            return []
        if row.space == "buffer":  # lanes outside the buffer get 0
            old_values |= dict.fromkeys(set(np.flatnonzero(self.wave.active()).tolist()) - set(addresses), 0)
        register = target.value
        assert isinstance(register, Register)
        words = self.words(register)

        def write() -> None:
            for lane, bits in old_values.items():
                for i in range(max(1, min(len(words), row.element * row.count // 32))):
                    words[i, lane] = bits >> 32 * i & MASK32

        return [write]

    def counted(self, row: Memory, target: Operand, addresses: Mapping[int, int]) -> Writes:
        """ds_append, ds_consume: one read-modify-write for the wave; every active lane gets the old value."""
        if not addresses:
            return []
        assert row.combine is not None
        lane, address = next(iter(addresses.items()))
        self.aligned(address, 4, lane)
        old = self.fetch(address, 4, lane, "atomic")
        self.put(address, self.combined(row.combine, [old, len(addresses)]), 4, lane, "atomic")
        return [self.vector_write(target, np.full(self.wave.size, old, np.uint32), self.wave.active())]

    def aligned(self, address: int, size: int, lane: int) -> None:
        if address % size:
            bad = BadAccess("misaligned", address, size)
            raise Stop("misaligned", lane, "atomic", f"an atomic of {size} bytes needs a multiple of {size}", bad)

    def combined(self, combine: Row, bits: Sequence[int]) -> int:
        results, values = combine.graph()
        del results
        arguments = [
            np.array([b & ((1 << p.type.width) - 1)], UNSIGNED[p.type.width])
            for p, b in zip(combine.parameters, bits, strict=True)
        ]
        return int(self.evaluate(combine, values, arguments)[0][0])
