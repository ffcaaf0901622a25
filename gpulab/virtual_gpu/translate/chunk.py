"""The inside of a run's loop: `Chunk` holds the vector registers of eight lanes as IR values.

A register is loaded from the wave's file when it is first read and stored once, at the end of the chunk, blended
under EXEC. 64-bit pairs are kept whole and split only on demand.
"""

from __future__ import annotations

from gpulab.virtual_gpu.translate.emitter import CHUNK, Emitter
from gpulab.virtual_gpu.translate.expressions import Reader

V32, V64, V16, V8I, V1 = "<8 x i32>", "<8 x i64>", "<8 x i16>", "<8 x i8>", "<8 x i1>"


class Chunk:
    """Eight lanes. `number` is the chunk's index (i64), `bits` its EXEC bits (i8)."""

    def __init__(self, emitter: Emitter, wave_size: int, number: str, bits: str) -> None:
        self.emitter, self.wave_size, self.number, self.bits = emitter, wave_size, number, bits
        self.reader = Reader(emitter, CHUNK)
        self.values: dict[int, str] = {}
        self.pairs: dict[int, str] = {}
        self.written: set[int] = set()
        self.masks: dict[int, str] = {}  # lane masks made in this run, by scalar register
        self._active: str | None = None
        self._lanes: str | None = None
        byte = emitter.let(f"shl i64 {number}, 5")
        self.file = emitter.let(f"getelementptr i8, ptr %vgprs, i64 {byte}")

    @property
    def active(self) -> str:
        """EXEC of these lanes as <8 x i1>; compute it before branching."""
        if self._active is None:
            self._active = self.emitter.let(f"bitcast i8 {self.bits} to {V1}")
        return self._active

    @property
    def lanes(self) -> str:
        """The lanes' numbers as <8 x i32>."""
        if self._lanes is None:
            e = self.emitter
            first = e.let(f"trunc i64 {e.let(f'shl i64 {self.number}, 3')} to i32")
            iota = "<i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>"
            self._lanes = e.let(f"add {V32} {splat(e, 'i32', first)}, {iota}")
        return self._lanes

    def address(self, register: int) -> str:
        return self.emitter.let(f"getelementptr i8, ptr {self.file}, i64 {register * self.wave_size * 4}")

    def load(self, register: int) -> str:
        return self.emitter.let(f"load {V32}, ptr {self.address(register)}, align 32")

    def get(self, register: int) -> str:
        """A register's 32 bits in each lane."""
        known = self.values.get(register)
        if known is not None:
            return known
        e = self.emitter
        if register in self.pairs:
            value = e.let(f"trunc {V64} {self.pairs[register]} to {V32}")
        elif register - 1 in self.pairs:
            value = e.let(f"trunc {V64} {e.let(f'lshr {V64} {self.pairs[register - 1]}, splat (i64 32)')} to {V32}")
        else:
            value = self.load(register)
        self.values[register] = value
        return value

    def get_pair(self, register: int) -> str:
        """Two registers' 64 bits in each lane."""
        known = self.pairs.get(register)
        if known is not None:
            return known
        e = self.emitter
        low, high = self.get(register), self.get(register + 1)
        wide = e.let(f"shl {V64} {e.let(f'zext {V32} {high} to {V64}')}, splat (i64 32)")
        value = e.let(f"or {V64} {wide}, {e.let(f'zext {V32} {low} to {V64}')}")
        self.pairs[register] = value
        return value

    def set(self, register: int, value: str) -> None:
        for start in (register - 1, register):
            if start in self.pairs:
                self.get(start if start != register else register + 1)
                del self.pairs[start]
        self.values[register] = value
        self.written.add(register)

    def set_pair(self, register: int, value: str) -> None:
        for start in (register - 1, register + 1):
            if start in self.pairs:
                self.get(start if start < register else register + 2)
                del self.pairs[start]
        self.values.pop(register, None)
        self.values.pop(register + 1, None)
        self.pairs[register] = value
        self.written.update((register, register + 1))

    def store(self, live: int) -> None:
        """Write back what was written and is in the bit set `live`, under EXEC.

        The blend is arithmetic on purpose: from a select between a loaded and a new value LLVM makes a masked
        store, which is several times slower on many processors.
        """
        e = self.emitter
        registers = [r for r in sorted(self.written) if live >> r & 1]
        if not registers:
            return
        index = e.let(f"zext i8 {self.bits} to i64")
        address = e.let(f"getelementptr {V32}, ptr %blend, i64 {index}")
        mask = e.let(f"load {V32}, ptr {address}, align 32, !invariant.load !2")
        for register in registers:
            value = self.get(register)
            address = self.address(register)
            old = e.let(f"load {V32}, ptr {address}, align 32")
            changed = e.let(f"and {V32} {e.let(f'xor {V32} {value}, {old}')}, {mask}")
            e.do(f"store {V32} {e.let(f'xor {V32} {changed}, {old}')}, ptr {address}, align 32")


def splat(emitter: Emitter, type: str, value: str, width: int = CHUNK) -> str:
    """A vector of `width` times a scalar; constants become constant vectors."""
    if not value.startswith("%"):
        return f"splat ({type} {value})"
    one = emitter.let(f"insertelement <{width} x {type}> poison, {type} {value}, i32 0")
    return emitter.let(
        f"shufflevector <{width} x {type}> {one}, <{width} x {type}> poison, <{width} x i32> zeroinitializer"
    )
