"""The inside of a run's loop: `Chunk` holds the vector registers of its 8 or 16 lanes as IR values.

A register is loaded from the wave's file when it is first read and stored once, at the end of the chunk, blended
under EXEC. 64-bit pairs are kept as they were made, and split or joined only on demand.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from gpulab.virtual_gpu.translate.emitter import Constant, Emitter, Joined, Local, Value, splat
from gpulab.virtual_gpu.translate.expressions import Reader
from gpulab.virtual_gpu.translate.linear import Lines


class Unfit(Exception):
    """Code that cannot be emitted in a form that it has beside its ordinary one."""


class Chunk:
    """Lanes of one pass. `number` is the chunk's index (i64), `bits` its EXEC bits (of type emitter.byte).

    missed: of a chunk that is a whole wave with all lanes active, or under EXEC from barrier to barrier (phases.py), or
    that goes round a loop by itself (sweeps.py): the label to go to where an access is not quick.
    gathers: of a whole wave: lanes may read from anywhere, as those of one chunk do.
    last: stores that are to be done in the end, when all is checked: type, value, place, alignment. None where each is
    done at once.
    told: takes each access and its part, where an observer is told of them in the end (telling.py).
    changes: takes each store, and which lanes are going to change memory, a bit each, where a checker wants to know.
    """

    gathers = False
    last: list[tuple[str, Value, Value, int]] | None = None
    told: Callable[[Any, int], None] | None = None
    changes: Callable[[Any, Value], None] | None = None

    def __init__(self, emitter: Emitter, wave_size: int, number: Value, bits: Value, missed: str = "") -> None:
        self.emitter, self.wave_size, self.number, self.bits = emitter, wave_size, number, bits
        self.missed = missed
        self.lines = Lines(emitter) if missed else None
        self.reader = Reader(emitter, emitter.lanes)
        self.values: dict[int, Value] = {}
        self.pairs: dict[int, Value] = {}
        self.written: set[int] = set()
        self.frames: dict[Value, Local] = {}  # rows of scratch, by the scalar part of their address
        self.masks: dict[int, Value] = {}  # lane masks made in this run, by scalar register
        # EXEC of these lanes as a vector of i1; here, as it has to be known wherever it is used
        self.active: Value = emitter.let(f"bitcast {emitter.byte} {bits} to {emitter.v1}")
        self._mask: Value | None = None
        self._lanes: Value | None = None
        byte = emitter.let(f"shl i64 {number}, {emitter.shift + 2}")
        self.file = emitter.let(f"getelementptr i8, ptr %vgprs, i64 {byte}")

    @property
    def lanes(self) -> Value:
        """The lanes' numbers as a vector of i32."""
        if self._lanes is None:
            e = self.emitter
            first = e.let(f"trunc i64 {e.let(f'shl i64 {self.number}, {e.shift}')} to i32")
            iota = "<" + ", ".join(f"i32 {n}" for n in range(e.lanes)) + ">"
            self._lanes = e.let(f"add {e.v32} {splat(e, 'i32', first)}, {iota}")
        return self._lanes

    def among(self, lanes: Value) -> Chunk:
        """The same chunk with only those active lanes that the vector of i1 `lanes` names; for memory accesses."""
        e = self.emitter
        result = copy.copy(self)
        result.bits = e.let(f"and {e.byte} {self.bits}, {e.let(f'bitcast {e.v1} {lanes} to {e.byte}')}")
        result.active = e.let(f"bitcast {e.byte} {result.bits} to {e.v1}")
        result._mask = None
        return result

    def spread(self, value: Value, width: int) -> Value:
        """A number that is the same in all lanes, as it was captured: a vector of the emitter's own lanes."""
        e = self.emitter
        if isinstance(value, Constant) or (e.lanes == e.own_lanes and self.lines is None):
            return value
        if isinstance(value, Joined):
            return Joined(e, self.spread(value.low, 32), self.spread(value.high, 32))
        kind, result = f"<{e.own_lanes} x i{width}>", value
        if e.lanes != e.own_lanes:
            result = e.let(f"shufflevector {kind} {value}, {kind} poison, <{e.lanes} x i32> zeroinitializer")
        if self.lines is not None:
            first = e.splats.get(value)
            self.lines.uniform(result, first or e.let(f"extractelement {kind} {value}, i32 0"), width)
        return result

    def address(self, register: int) -> Value:
        return self.emitter.let(f"getelementptr i8, ptr {self.file}, i64 {register * self.wave_size * 4}")

    def load(self, register: int) -> Value:
        e = self.emitter
        value = e.let(f"load {e.v32}, ptr {self.address(register)}, align {e.align}")
        if self.lines is not None:
            self.lines.loaded(value)
        return value

    def get(self, register: int) -> Value:
        """A register's 32 bits in each lane."""
        known = self.values.get(register)
        if known is not None:
            return known
        e = self.emitter
        if register in self.pairs:
            whole = self.pairs[register]
            value = e.low(whole)
            if self.lines is not None:
                self.lines.halved(value, whole, high=False)
        elif register - 1 in self.pairs:
            whole = self.pairs[register - 1]
            value = e.high(whole)
            if self.lines is not None:
                self.lines.halved(value, whole, high=True)
        else:
            value = self.load(register)
        self.values[register] = value
        return value

    def get_pair(self, register: int) -> Value:
        """Two registers' 64 bits in each lane."""
        known = self.pairs.get(register)
        if known is not None:
            return known
        low, high = self.get(register), self.get(register + 1)
        value = Joined(self.emitter, low, high)
        if self.lines is not None:
            self.lines.joined(value, low, high)
        self.pairs[register] = value
        return value

    def set(self, register: int, value: Value) -> None:
        for start in (register - 1, register):
            if start in self.pairs:
                self.get(start if start != register else register + 1)
                del self.pairs[start]
        self.values[register] = value
        self.written.add(register)

    def set_pair(self, register: int, value: Value) -> None:
        for start in (register - 1, register + 1):
            if start in self.pairs:
                self.get(start if start < register else register + 2)
                del self.pairs[start]
        self.values.pop(register, None)
        self.values.pop(register + 1, None)
        self.pairs[register] = value
        self.written.update((register, register + 1))

    def blend(self, value: Value, place: Value) -> None:
        """Store a value's active lanes.

        With 8 lanes the blend is arithmetic on purpose: from a select between a loaded and a new value LLVM makes a
        masked store, which is several times slower on many processors. Where 16 lanes are used, masked stores are
        quick.
        """
        e = self.emitter
        old = e.let(f"load {e.v32}, ptr {place}, align {e.align}")
        if e.lanes == 8:
            if self._mask is None:
                index = e.let(f"zext {e.byte} {self.bits} to i64")
                entry = e.let(f"getelementptr {e.v32}, ptr %blend, i64 {index}")
                self._mask = e.let(f"load {e.v32}, ptr {entry}, align {e.align}, !invariant.load !2")
            changed = e.let(f"and {e.v32} {e.let(f'xor {e.v32} {value}, {old}')}, {self._mask}")
            blended = e.let(f"xor {e.v32} {changed}, {old}")
        else:
            blended = e.let(f"select {e.v1} {self.active}, {e.v32} {value}, {e.v32} {old}")
        e.do(f"store {e.v32} {blended}, ptr {place}, align {e.align}")

    def store(self, live: int) -> None:
        """Write back what was written and is in the bit set `live`, under EXEC.

        What a masked store stored is slow to load again: so with 16 lanes a chunk with all active has its own.
        """
        e = self.emitter
        registers = [(r, self.get(r)) for r in sorted(self.written) if live >> r & 1]
        if not registers:
            return
        if self.missed:
            for register, value in registers:
                e.do(f"store {e.v32} {value}, ptr {self.address(register)}, align {e.align}")
            return
        if e.lanes == 8:
            for register, value in registers:
                self.blend(value, self.address(register))
            return
        whole, part, done = e.name("whole"), e.name("part"), e.name("stored")
        e.branch(e.let(f"icmp eq {e.byte} {self.bits}, -1"), whole, part, likely=True)
        e.label(whole)
        for register, value in registers:
            e.do(f"store {e.v32} {value}, ptr {self.address(register)}, align {e.align}")
        e.jump(done)
        e.label(part)
        for register, value in registers:
            self.blend(value, self.address(register))
        e.jump(done)
        e.label(done)


class HeldChunk(Chunk):
    """A chunk in a loop that holds its registers (held.py), in `rooms`.

    asleep: registers that lanes which are not active may need later; others are not blended.
    """

    def __init__(
        self, emitter: Emitter, wave_size: int, number: Value, bits: Value, rooms: dict[int, Local], asleep: int
    ) -> None:
        super().__init__(emitter, wave_size, number, bits)
        self.rooms, self.asleep = rooms, asleep

    def address(self, register: int) -> Value:
        return self.rooms.get(register) or super().address(register)

    def store(self, live: int) -> None:
        e = self.emitter
        for register in sorted(self.written):
            if live >> register & 1 == 0:
                continue
            if self.asleep >> register & 1:
                self.blend(self.get(register), self.rooms[register])
            else:
                e.do(f"store {e.v32} {self.get(register)}, ptr {self.rooms[register]}, align {e.align}")
