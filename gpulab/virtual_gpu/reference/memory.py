"""Memory as the reference machine needs it: `DeviceMemory` says what it calls, `BadAccess` what it expects of a bad
address, `Regions` is a plain one for tests, and `load` places a program's data objects in it."""

from __future__ import annotations

from typing import Protocol

from gpulab.records import AllocationNote
from gpulab.virtual_gpu import dispatch
from gpulab.virtual_gpu.isa.instruction import Program


class DeviceMemory(Protocol):
    """What the machine needs of memory. Both raise `BadAccess` for an address that must not be used."""

    def read(self, address: int, size: int) -> bytes: ...

    def write(self, address: int, data: bytes) -> None: ...


class BadAccess(Exception):
    """An address that must not be used. `kind` as in records.Fault: "out of bounds", "null", "freed", ..."""

    def __init__(self, kind: str, address: int, size: int, *, nearest: AllocationNote | None = None):
        super().__init__(f"{kind}: {size} bytes at {address:#x}")
        self.kind, self.address, self.size, self.nearest = kind, address, size, nearest


class Regions:
    """A memory of separate byte regions, for tests and traces: `allocate`, then `read` and `write` by address."""

    def __init__(self) -> None:
        self.next = 0x7000_0000_0000
        self.regions: dict[int, bytearray] = {}

    def allocate(self, contents: bytes | int) -> int:
        """A new region with these contents (or this many zero bytes); gives its address, a multiple of 256."""
        region = bytearray(contents)
        address = self.next
        self.regions[address] = region
        self.next = (address + len(region) + 4096) // 256 * 256
        return address

    def read(self, address: int, size: int) -> bytes:
        region, offset = self._find(address, size)
        return bytes(region[offset : offset + size])

    def write(self, address: int, data: bytes) -> None:
        region, offset = self._find(address, len(data))
        region[offset : offset + len(data)] = data

    def _find(self, address: int, size: int) -> tuple[bytearray, int]:
        for start, region in self.regions.items():
            if start <= address and address + size <= start + len(region):
                return region, address - start
        raise BadAccess("null" if address < 4096 else "out of bounds", address, size)


def load(program: Program, memory: Regions) -> dict[str, int]:
    """Place a program's data objects in `memory`; gives the address of each. (External LDS begins behind a kernel's own
    LDS, so `Workgroup` gives it its place.)"""
    addresses = {
        name: memory.allocate(item.contents.ljust(item.size, b"\0"))
        for name, item in program.data.items()
        if not item.is_lds
    }
    for name, item in program.data.items():
        for relocation in item.relocations:
            value = dispatch.symbol_address(relocation.symbol, program, addresses) + relocation.addend
            bits = value & ((1 << 8 * relocation.size) - 1)
            memory.write(addresses[name] + relocation.offset, bits.to_bytes(relocation.size, "little"))
    return addresses
