"""Scalar registers during the translation of one basic block: `Scalars` keeps known values and writes them back late.

Between blocks every scalar register is in the wave's state, which makes any block a place where a wave can be
resumed. Within a block values stay in IR names; `flush` stores those that were written and are still live.
"""

from __future__ import annotations

from gpulab.virtual_gpu.translate import layout
from gpulab.virtual_gpu.translate.emitter import NULL, ZERO, Emitter, Local, Value


class Scalars:
    """Values of scalar registers in the current block, as 32-bit words, as 64-bit pairs, or (SCC) as an i1."""

    def __init__(self, emitter: Emitter, wave_size: int) -> None:
        self.emitter, self.wave_size = emitter, wave_size
        self.words: dict[int, Value] = {}
        self.pairs: dict[int, Value] = {}
        self.written: set[int] = set()
        self.scc: Value | None = None
        self.scc_written = False
        self.held: frozenset[int] = frozenset()  # registers that a loop holds, in its room (held.py)
        self.room: Value = NULL
        self.masks: dict[int, list[Local]] = {}  # rooms of lane masks that it holds by chunk, as vectors of i1
        self.parts: dict[int, list[Value]] = {}  # what is known of such masks
        self.ahead = False  # what is emitted here goes ahead of the loop that is being emitted (straight.py)

    def _let(self, text: str) -> Value:
        e = self.emitter
        if not self.ahead:
            return e.let(text)
        with e.ahead_of_loop():
            return e.let(text)

    def forget(self) -> None:
        """A new block begins: nothing is known."""
        self.words.clear()
        self.pairs.clear()
        self.written.clear()
        self.parts.clear()
        self.scc, self.scc_written = None, False

    def _address(self, number: int) -> Value:
        if number in self.held:
            return self._let(f"getelementptr i8, ptr {self.room}, i64 {4 * number}")
        return self._let(f"getelementptr i8, ptr %wave, i64 {layout.offset('scalars') + 4 * number}")

    def word(self, number: int) -> Value:
        """The i32 in a register."""
        if number == layout.NULL:
            return ZERO
        if number == layout.SCC:
            return self._let(f"zext i1 {self.condition()} to i32")
        known = self.words.get(number)
        if known is not None:
            return known
        if number in self.pairs:
            value: Value = self._let(f"trunc i64 {self.pairs[number]} to i32")
        elif number - 1 in self.pairs:
            value = self._let(f"trunc i64 {self._let(f'lshr i64 {self.pairs[number - 1]}, 32')} to i32")
        else:
            value = self._let(f"load i32, ptr {self._address(number)}")
        self.words[number] = value
        return value

    def pair(self, number: int) -> Value:
        """The i64 in two registers."""
        if number == layout.NULL:
            return ZERO
        known = self.pairs.get(number)
        if known is not None:
            return known
        halves = (number, number + 1)
        if any(h in self.words for h in halves) or number - 1 in self.pairs or number + 1 in self.pairs:
            low, high = self.word(number), self.word(number + 1)
            wide = self._let(f"shl i64 {self._let(f'zext i32 {high} to i64')}, 32")
            value = self._let(f"or i64 {wide}, {self._let(f'zext i32 {low} to i64')}")
        else:
            value = self._let(f"load i64, ptr {self._address(number)}, align 4")
        self.pairs[number] = value
        return value

    def mask(self, number: int) -> Value:
        """The lane mask in one register (32 lanes) or two, as an i64 either way."""
        if self.wave_size == 64:
            return self.pair(number)
        return self._let(f"zext i32 {self.word(number)} to i64")

    def set_word(self, number: int, value: Value) -> None:
        if number == layout.NULL:
            return
        if number == layout.SCC:
            self.set_condition(self._let(f"icmp ne i32 {value}, 0"))
            return
        if self.masks:
            self._changed(number, number)
        for start in (number - 1, number):
            if start in self.pairs:
                other = start if start != number else number + 1
                if other in self.written:
                    self.word(other)
                del self.pairs[start]
        self.words[number] = value
        self.written.add(number)

    def set_pair(self, number: int, value: Value) -> None:
        if number == layout.NULL:
            return
        if self.masks:
            self._changed(number, number + 1)
        for start in (number - 1, number + 1):
            if start in self.pairs:
                other = start if start < number else number + 2
                if other in self.written:
                    self.word(other)
                del self.pairs[start]
        self.words.pop(number, None)
        self.words.pop(number + 1, None)
        self.pairs[number] = value
        self.written.update((number, number + 1))

    def set_mask(self, number: int, value: Value) -> None:
        """Set a lane mask from an i64."""
        if self.wave_size == 64:
            self.set_pair(number, value)
        else:
            self.set_word(number, self._let(f"trunc i64 {value} to i32"))

    def _changed(self, first: int, last: int) -> None:
        """Registers get new values: what was known of lane masks there by chunk holds no more."""
        for start in range(first + 1 - self.wave_size // 32, last + 1):
            self.parts.pop(start, None)

    def by_chunk(self, number: int) -> list[Value]:
        """A lane mask that a loop holds: a vector of i1 for each chunk."""
        known = self.parts.get(number)
        if known is None:
            e, rooms = self.emitter, self.masks.get(number)
            if rooms and self.written.isdisjoint(range(number, number + self.wave_size // 32)):
                known = [e.let(f"load {e.v1}, ptr {room}") for room in rooms]
            else:
                known = chunks_of(e, self.mask(number), self.wave_size // e.lanes)
            if rooms:
                self.parts[number] = known
        return known

    def condition(self) -> Value:
        """SCC as an i1."""
        if self.scc is None:
            address = self._address(layout.SCC)
            self.scc = self._let(f"trunc i32 {self._let(f'load i32, ptr {address}')} to i1")
        return self.scc

    def set_condition(self, value: Value) -> None:
        self.scc, self.scc_written = value, True

    def flush(self, live: int) -> None:
        """Store what was written and is in the bit set `live`."""
        e = self.emitter
        for number, rooms in self.masks.items():
            own = range(number, number + self.wave_size // 32)
            if any(live >> n & 1 for n in own) and not self.written.isdisjoint(own):
                for room, part in zip(rooms, self.by_chunk(number), strict=True):
                    e.do(f"store {e.v1} {part}, ptr {room}")
        done: set[int] = set()
        for number in sorted(self.written):
            if number in done or not live >> number & 1:
                continue
            if number in self.pairs and number + 1 in self.written and live >> (number + 1) & 1:
                e.do(f"store i64 {self.pairs[number]}, ptr {self._address(number)}, align 4")
                done.add(number + 1)
            else:
                e.do(f"store i32 {self.word(number)}, ptr {self._address(number)}")
        if self.scc_written and self.scc is not None and live >> layout.SCC & 1:
            value = e.let(f"zext i1 {self.scc} to i32")
            e.do(f"store i32 {value}, ptr {self._address(layout.SCC)}")


def chunks_of(e: Emitter, mask: Value, chunks: int) -> list[Value]:
    """A lane mask (i64) by chunk, as vectors of i1."""
    found: list[Value] = []
    for number in range(chunks):
        part = e.let(f"lshr i64 {mask}, {number * e.lanes}") if number else mask
        found.append(e.let(f"bitcast {e.byte} {e.let(f'trunc i64 {part} to {e.byte}')} to {e.v1}"))
    return found


def joined(e: Emitter, parts: list[Value]) -> Value:
    """A lane mask (i64) of its chunks."""
    whole: Value = ZERO
    for number, part in enumerate(parts):
        wide: Value = e.let(f"zext {e.byte} {e.let(f'bitcast {e.v1} {part} to {e.byte}')} to i64")
        if number:
            wide = e.let(f"or i64 {whole}, {e.let(f'shl i64 {wide}, {number * e.lanes}')}")
        whole = wide
    return whole
