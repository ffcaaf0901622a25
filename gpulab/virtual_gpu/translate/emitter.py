"""LLVM IR as text: `Emitter` collects the lines of one function; `splat` and friends spell constants and types.

IR is written as text because a kernel becomes thousands of IR instructions, and building them as objects costs
more than compiling them.
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Iterator, Sequence
from typing import NewType

Local = NewType("Local", str)
"""What an instruction gave, as IR text writes it: ``%t1``. (A plain str at run time: those are formatted quickly.)"""


class Constant(str):
    """A constant of any type, as IR text writes it: ``zeroinitializer``, ``splat (i32 5)``, ``true``, a float."""

    __slots__ = ()


class Integer(Constant):
    """One integer: ``Integer(5)``."""

    __slots__ = ()

    @property
    def number(self) -> int:
        return int(self)


class Joined:
    """64-bit integers of a chunk's lanes by their halves, vectors of 32-bit integers.

    Halves that come from registers and go to registers, as those of packed floats, are never joined. Where a text needs
    the whole, formatting emits what joins them: in each basic block anew, as it need not come after the block before.
    """

    __slots__ = ("_block", "_emitter", "_types", "_whole", "high", "low")

    def __init__(self, emitter: Emitter, low: Value, high: Value) -> None:
        self.low, self.high = low, high
        self._emitter, self._types = emitter, (emitter.v32, emitter.v64)
        self._block = ""
        self._whole: Local | None = None

    def __format__(self, form: str) -> str:
        e, (narrow, wide) = self._emitter, self._types
        if self._whole is None or self._block != e.block:
            parts = []
            if self.low != NOTHING:
                parts.append(e.let(f"zext {narrow} {self.low} to {wide}"))
            if self.high != NOTHING or not parts:
                above = e.let(f"zext {narrow} {self.high} to {wide}")
                parts.append(e.let(f"shl {wide} {above}, splat (i64 32)"))
            self._whole = parts[0] if len(parts) == 1 else e.let(f"or {wide} {parts[1]}, {parts[0]}")
            self._block = e.block
        return self._whole


Value = Local | Constant | Joined
"""An IR value without its type. Texts of IR are made of values by formatting."""

ZERO = Integer(0)
TRUE, FALSE = Constant("true"), Constant("false")
NULL = Constant("null")
ZEROS = Constant("zeroinitializer")
"""A vector of zeros."""
NOTHING = Constant("splat (i32 0)")
"""A half of 64 bits that is 0."""


def vector(type: str, width: int) -> str:
    """The IR type of `width` lanes of `type`; the type itself for one lane."""
    return type if width == 1 else f"<{width} x {type}>"


def float_constant(value: float, width: int) -> str:
    """A float constant of 16, 32 or 64 bits as IR text; NaN and infinity included."""
    if width == 16:
        try:
            bits = struct.unpack("<H", struct.pack("<e", value))[0]
        except OverflowError:
            bits = 0x7C00 if value > 0 else 0xFC00
        return f"0xH{bits:04X}"
    if width == 32:
        try:
            value = struct.unpack("<f", struct.pack("<f", value))[0]
        except OverflowError:
            value = float("inf") if value > 0 else float("-inf")
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def signed(value: int, width: int) -> int:
    """`value` modulo 2**width as LLVM writes it: signed."""
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


class Emitter:
    """The body of one function under construction.

    `let` emits an instruction and returns its result, `do` one without a result; `label` starts a
    basic block (the previous one must have ended), `block` is the current one, for phis.

    lanes: of a chunk, what one pass of a run's loop works on: 8, or 16 where the host's vectors hold as many. `v1` to
    `v64` are the types of so many values, `byte` is that of their bits in a lane mask, `shift` their logarithm, `align`
    the bytes of one register's lanes in a chunk.
    """

    def __init__(self, lanes: int = 8) -> None:
        self.own_lanes = lanes  # of what is emitted outside `of_lanes`
        self._set_lanes(lanes)
        self.lines: list[str] = []
        self.declarations: dict[str, str] = {}
        self.block = "entry"
        self._names = 0
        self._labels = 0
        self.entry_lines: list[str] = []
        self.hoisted: list[str] | None = None  # what goes ahead of the loop that is being emitted (sweeps.py)
        self._steady: set[str] = set()  # values in there
        self._before_loop = 0  # names that there were before it
        self.splats: dict[Value, Value] = {}  # vectors of one number in all lanes: the number

    def _set_lanes(self, lanes: int) -> None:
        self.lanes, self.shift, self.align = lanes, lanes.bit_length() - 1, min(4 * lanes, 64)
        self.v1, self.v8, self.v16, self.v32, self.v64 = (vector(f"i{n}", lanes) for n in (1, 8, 16, 32, 64))
        self.byte = f"i{lanes}"

    @contextlib.contextmanager
    def of_lanes(self, lanes: int) -> Iterator[None]:
        """What is emitted within is for a chunk of so many lanes."""
        before = self.lanes
        self._set_lanes(lanes)
        try:
            yield
        finally:
            self._set_lanes(before)

    def begin_loop(self) -> None:
        """A loop begins, of which what stays the same is to be put ahead (`steady`, `ahead_of_loop`)."""
        self.hoisted, self._before_loop = [], self._names
        self._steady.clear()

    def end_loop(self) -> list[str]:
        """The loop ends; gives what is to go ahead of it."""
        ahead, self.hoisted = self.hoisted or [], None
        return ahead

    def steady(self, text: str, *operands: Value) -> Local:
        """The same as `let`; ahead of the loop that is being emitted if its operands stay the same in there."""
        if self.hoisted is None or not all(self.is_steady(each) for each in operands):
            return self.let(text)
        with self.ahead_of_loop():
            return self.let(text)

    def is_steady(self, value: Value) -> bool:
        """Whether a value is known ahead of the loop that is being emitted."""
        if isinstance(value, Constant) or value in self._steady:
            return True
        if isinstance(value, Joined):
            return False
        number = value[2:]
        return number.isdigit() and (value[1] == "e" or (value[1] == "t" and int(number) <= self._before_loop))

    @contextlib.contextmanager
    def ahead_of_loop(self) -> Iterator[None]:
        """What is emitted within is done once, ahead of the loop that is being emitted, if one is that asks for it."""
        inside = self.lines
        if self.hoisted is not None:
            self.lines = self.hoisted
        try:
            yield
        finally:
            self.lines = inside

    def let(self, text: str) -> Local:
        self._names += 1
        name = Local(f"%t{self._names}")
        self.lines.append(f"  {name} = {text}")
        if self.lines is self.hoisted:
            self._steady.add(name)
        return name

    def low(self, whole: Value) -> Value:
        """The low halves of a chunk's 64-bit integers."""
        return whole.low if isinstance(whole, Joined) else self.let(f"trunc {self.v64} {whole} to {self.v32}")

    def high(self, whole: Value) -> Value:
        """The high halves."""
        if isinstance(whole, Joined):
            return whole.high
        return self.let(f"trunc {self.v64} {self.let(f'lshr {self.v64} {whole}, splat (i64 32)')} to {self.v32}")

    def do(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def ahead(self, hint: str) -> Local:
        """A value that is used before it is defined."""
        return Local(f"%{self.name(hint)}")

    def name(self, hint: str) -> str:
        """A fresh name (without %) for a label."""
        self._labels += 1
        return f"{hint}.{self._labels}"

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")
        self.block = name

    def jump(self, name: str) -> None:
        self.do(f"br label %{name}")

    def branch(self, condition: Value, yes: str, no: str, likely: bool | None = None) -> None:
        weights = "" if likely is None else f", !prof !{0 if likely else 1}"
        self.do(f"br i1 {condition}, label %{yes}, label %{no}{weights}")

    def entry(self, text: str) -> Local:
        """An instruction of the entry block (allocas, loads of what never changes)."""
        self._names += 1
        name = Local(f"%e{self._names}")
        self.entry_lines.append(f"  {name} = {text}")
        return name

    def call(self, result: str, name: str, *arguments: str) -> Local:
        """The result of a function or intrinsic; `arguments` with their types. Declares it on the way."""
        return self.let(self._called(result, name, arguments))

    def call_void(self, name: str, *arguments: str) -> None:
        """The same without a result."""
        self.do(self._called("void", name, arguments))

    def _called(self, result: str, name: str, arguments: Sequence[str]) -> str:
        types = ", ".join(_type_of(a) for a in arguments)
        self.declarations.setdefault(name, f"declare {result} @{name}({types})")
        return f"call {result} @{name}({', '.join(arguments)})"

    def part(self, mask: Value, chunk: Value) -> Value:
        """The bits of a lane mask (i64) that a chunk has, by its number: of type `byte`."""
        if self.lanes == 64:
            return mask
        shifted = self.let(f"lshr i64 {mask}, {self.let(f'shl i64 {chunk}, {self.shift}')}")
        return self.let(f"trunc i64 {shifted} to {self.byte}")

    def added(self, base: Value, offset: int) -> Value:
        """An i64 and a number."""
        return Integer(base.number + offset) if isinstance(base, Integer) else self.let(f"add i64 {base}, {offset}")


def splat(emitter: Emitter, type: str, value: Value) -> Value:
    """A chunk's lanes of one scalar; constants become constant vectors."""
    width = emitter.lanes
    if isinstance(value, Constant):
        return Constant(f"splat ({type} {value})")
    one = emitter.let(f"insertelement <{width} x {type}> poison, {type} {value}, i32 0")
    all_ = emitter.let(
        f"shufflevector <{width} x {type}> {one}, <{width} x {type}> poison, <{width} x i32> zeroinitializer"
    )
    emitter.splats[all_] = value
    return all_


def splats(width: int, number: int) -> Constant:
    """A chunk's lanes of one integer."""
    return Constant(f"splat (i{width} {number})")


def _type_of(argument: str) -> str:
    """The type part of a typed operand such as ``<8 x i32> %t1`` or ``i1 true``."""
    if argument.startswith("<"):
        return argument[: argument.index(">") + 1]
    return argument.split(" ", 1)[0]
