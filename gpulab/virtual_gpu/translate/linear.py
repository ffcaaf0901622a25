"""Numbers that go up evenly from lane to lane, as most addresses do: `Lines` follows them through a whole wave's run,
or through one chunk's pass of a loop (sweeps.py).

A vector whose lane i holds first + step * i needs no look at its lanes: what an address comes to in the first lane,
and the step, say whether the addresses are consecutive and where they end. Vectors are known by their IR values. One
comparison tells whether a register holds such a vector (`Line.holds`); of what is computed from it the first lane and
the step are computed alone. Of what is computed in other ways nothing is known, and its lanes are compared (places.py).
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

from gpulab.virtual_gpu.isa import expression
from gpulab.virtual_gpu.translate.emitter import FALSE, TRUE, ZERO, Constant, Emitter, Integer, Value, signed, splat


@dataclass(slots=True, eq=False)
class Line:
    """first + step * lane modulo 2**width (integers of `width` bits), where the i1 `holds`.

    low: of 64 bits, the low half. whole: of 32 bits, what it is the low half of. parts: of a sum that is the same in
    all lanes, what it is the sum of: high halves, if a carry comes to it.
    """

    first: Value
    step: Value
    holds: Value
    width: int
    low: Line | None = None
    whole: Line | None = None
    parts: tuple[Line, Line] | None = None


@dataclass(slots=True, eq=False)
class High:
    """The high half of a line of 64 bits."""

    whole: Line


@dataclass(slots=True, eq=False)
class Sign:
    """The sign of a line of 32 bits in all bits."""

    of: Line


@dataclass(slots=True, eq=False)
class Carry:
    """The carry out of a sum of 32 bits."""

    total: Line
    parts: tuple[Line, Line]


@dataclass(slots=True, eq=False)
class Sum:
    """A sum of high halves, to which a carry comes."""

    parts: tuple[Line | High | Sign, Line | High | Sign]


Fact = Line | High | Sign | Carry | Sum | bool | None
"""What is known of a vector; a bool of lane masks that are the same in all lanes."""


def _is_high(fact: Fact) -> TypeGuard[Line | High | Sign]:
    return isinstance(fact, High | Sign) or (isinstance(fact, Line) and fact.width == 32)


class Lines:
    """What is known of the vectors of a chunk, by their IR values."""

    def __init__(self, emitter: Emitter) -> None:
        self.emitter, self.last = emitter, emitter.lanes - 1
        self._facts: dict[Value, Fact] = {}
        self._loaded: set[Value] = set()
        self._pairs: dict[Value, tuple[Value, Value]] = {}
        self._halves: dict[Value, tuple[Value, bool]] = {}
        self._doubtful: set[Value] = set()
        self._masked: set[Value] = set()

    # where vectors come from

    def loaded(self, value: Value) -> None:
        """32 bits from the registers."""
        self._loaded.add(value)

    def joined(self, value: Value, low: Value, high: Value) -> None:
        """64 bits, of two halves."""
        self._pairs[value] = low, high

    def halved(self, value: Value, whole: Value, high: bool) -> None:
        """32 bits, half of 64; of what was joined the halves were known before."""
        if whole not in self._pairs:
            self._halves[value] = whole, high

    def computed(self, values: Sequence[Value], graph: Sequence[expression.Value], arguments: Sequence[Value]) -> None:
        """Results of a row's expressions."""
        known: dict[int, Fact] = {}
        for value, root in zip(values, graph, strict=True):
            fact = self._follow(root, arguments, known)
            if fact is not None:
                self._facts[value] = fact

    def masked(self, value: Value, whole: Value) -> None:
        """A lane mask with the bits of active lanes alone. In the others nobody looks at what comes of it, as long as
        these are active (`forget_masked`)."""
        self._facts[value] = self._facts.get(whole)
        self._masked.add(value)

    def forget_masked(self) -> None:
        """Other lanes become active."""
        for value in self._masked:
            if self._facts.get(value) is not False:
                self._facts.pop(value, None)
        self._masked.clear()

    def fact(self, value: Value) -> Fact:
        """What is known of a vector."""
        found = self._facts.get(value)
        if found is not None:
            return found
        if isinstance(value, Constant):
            found = _of_constant(value)
        elif value in self._loaded:
            found = self._even(value)
        elif value in self._pairs:
            found = self.pair(*self._pairs[value])
        elif value in self._halves:
            whole, high = self._halves[value]
            line = self.fact(whole)
            if isinstance(line, Line):
                found = High(line) if high else line.low
        if found is not None:
            self._facts[value] = found
        return found

    def known(self) -> dict[Value, Fact]:
        """All that is known up to here."""
        return dict(self._facts)

    def forget_but(self, facts: dict[Value, Fact]) -> None:
        """Nothing else is known any more: the code that it was found by may not have been executed."""
        self._facts = facts

    def pair(self, low: Value, high: Value) -> Line | None:
        """What is known of the 64 bits of two halves."""
        return self._pair(self.fact(low), self.fact(high))

    def uniform(self, value: Value, first: Value, width: int) -> None:
        """A vector that has the same number in all lanes."""
        self._facts[value] = self._line(first, ZERO, TRUE, width)

    def is_doubtful(self, line: Line) -> bool:
        """Whether it may well not hold: lanes carry into bits that were taken apart from the others."""
        return line.holds in self._doubtful

    def is_upper(self, value: Value) -> bool:
        """Whether a vector has high halves of 64 bits, but not numbers of its own."""
        return isinstance(self.fact(value), High | Sign)

    # what goes round a loop

    def follows(self, low: Value, high: Value) -> bool:
        """Whether two halves are those of one line of 64 bits, as it was computed."""
        below, above = self.fact(low), self.fact(high)
        return isinstance(below, Line) and isinstance(above, High) and below.whole is above.whole

    def carried(self, low: Value, high: Value | None, line: Line) -> None:
        """A line comes round a loop, in the lanes of one vector, or in those of two halves."""
        line = self._line(line.first, line.step, line.holds, line.width)
        if high is None:
            self._facts[low] = line
        else:
            assert line.low is not None
            self._facts[low], self._facts[high] = line.low, High(line)

    # lines

    def _line(self, first: Value, step: Value, holds: Value, width: int, low: Line | None = None) -> Line:
        line = Line(first, step, holds, width, low)
        if width == 64:
            if low is None:
                e = self.emitter
                small = [v if isinstance(v, Integer) else e.steady(f"trunc i64 {v} to i32", v) for v in (first, step)]
                small = [Integer(signed(v.number, 32)) if isinstance(v, Integer) else v for v in small]
                line.low = Line(small[0], small[1], holds, 32)
            assert line.low is not None
            line.low.whole = line
        return line

    def _even(self, value: Value) -> Line:
        """Registers: that their lanes go up evenly is looked at."""
        e = self.emitter
        with e.ahead_of_loop():
            first = e.let(f"extractelement {e.v32} {value}, i32 0")
            step = e.let(f"sub i32 {e.let(f'extractelement {e.v32} {value}, i32 1')}, {first}")
            lanes = Constant("<" + ", ".join(f"i32 {n}" for n in range(e.lanes)) + ">")
            wanted = e.let(f"mul {e.v32} {lanes}, {splat(e, 'i32', step)}")
            wanted = e.let(f"add {e.v32} {wanted}, {splat(e, 'i32', first)}")
            differs = e.let(f"icmp ne {e.v32} {value}, {wanted}")
            holds = e.let(f"icmp eq {e.byte} {e.let(f'bitcast {e.v1} {differs} to {e.byte}')}, 0")
        return Line(first, step, holds, 32)

    def _both(self, one: Value, other: Value) -> Value:
        if TRUE in (one, other) or one == other:
            return other if one == TRUE else one
        both = self.emitter.steady(f"and i1 {one}, {other}", one, other)
        if one in self._doubtful or other in self._doubtful:
            self._doubtful.add(both)
        return both

    def _binary(self, op: str, a: Value, b: Value, width: int) -> Value:
        if isinstance(a, Integer) and isinstance(b, Integer):
            x, y = a.number, b.number
            done = {"add": x + y, "sub": x - y, "mul": x * y, "and": x & y, "or": x | y, "shl": x << (y & width - 1)}
            return Integer(signed(done[op], width))
        if (ZERO in (a, b) and op in ("mul", "and")) or (a == ZERO and op == "shl"):
            return ZERO
        if b == ZERO or (op == "mul" and b == Integer(1)):
            return a
        if (a == ZERO and op in ("add", "or")) or (op == "mul" and a == Integer(1)):
            return b
        return self.emitter.steady(f"{op} i{width} {a}, {b}", a, b)

    def _wide(self, line: Line, is_signed: bool) -> Line:
        """A line of 32 bits as one of 64: its last lane has to be where the first one and the steps lead."""
        e = self.emitter
        extend = "sext" if is_signed else "zext"

        def wide(value: Value, how: str) -> Value:
            if isinstance(value, Integer):
                return Integer(value.number if how == "sext" else value.number & 0xFFFFFFFF)
            return e.steady(f"{how} i32 {value} to i64", value)

        first, step, holds = wide(line.first, extend), wide(line.step, "sext"), line.holds
        if line.step != ZERO:
            end = self._binary("add", first, self._binary("mul", step, Integer(self.last), 64), 64)
            back = e.steady(f"trunc i64 {end} to i32", end)
            back = e.steady(f"{extend} i32 {back} to i64", back)
            holds = self._both(holds, e.steady(f"icmp eq i64 {back}, {end}", back, end))
        return self._line(first, step, holds, 64, Line(line.first, line.step, line.holds, 32))

    def _pair(self, low: Fact, high: Fact) -> Line | None:
        if not isinstance(low, Line) or low.width != 32:
            return None
        if isinstance(high, High):
            return high.whole if low.whole is high.whole else None
        if isinstance(high, Sign):
            of = high.of
            if (low.first, low.step) != (of.first, of.step):
                return None
            return self._wide(Line(low.first, low.step, self._both(low.holds, of.holds), 32), True)
        if not isinstance(high, Line) or (isinstance(high.step, Integer) and high.step != ZERO):
            return None
        line = self._wide(low, False)
        if high.first == ZERO == high.step:
            return line
        e = self.emitter
        over = e.steady(f"zext i32 {high.first} to i64", high.first)
        over = e.steady(f"shl i64 {over}, 32", over)
        first = self._binary("or", line.first, over, 64)
        holds = self._both(line.holds, high.holds)
        if high.step != ZERO:  # registers, which have to be the same in all lanes
            holds = self._both(holds, e.steady(f"icmp eq i32 {high.step}, 0", high.step))
        return self._line(first, line.step, holds, 64, line.low)

    # expressions

    def _follow(self, node: expression.Value, arguments: Sequence[Value], known: dict[int, Fact]) -> Fact:
        if id(node) not in known:
            known[id(node)] = self._node(node, arguments, known)
        return known[id(node)]

    def _node(self, node: expression.Value, arguments: Sequence[Value], known: dict[int, Fact]) -> Fact:
        kind, width = node.type.kind, node.type.width
        if node.op == "arg":
            return self.fact(arguments[node.data[0]])
        if node.op == "const":
            if kind == "b":
                return bool(node.data)
            return self._line(Integer(signed(int(node.data), width)), ZERO, TRUE, width) if _fits(node) else None
        if node.op not in ("add", "sub", "mul", "shl", "shr", "and", "or", "select", "to", "bits", "lt", "ge", "gt"):
            return None
        facts = [self._follow(arg, arguments, known) for arg in node.args]
        first = facts[0]
        if node.op == "select":
            return facts[1 if first else 2] if isinstance(first, bool) else None
        if kind == "b":
            if node.op == "and" and False in [f for f in facts if isinstance(f, bool)]:
                return False
            total = node.args[0]
            if node.op in ("lt", "ge", "gt"):
                numbers = [_number(f, total.type.kind == "u") for f in facts]
                if None not in numbers:
                    return bool(getattr(operator, node.op)(*numbers))
            if node.op == "lt" and total.op == "add" and total.args[0] is node.args[1] and total.type.kind == "u":
                parts = [self._follow(arg, arguments, known) for arg in total.args]
                if isinstance(first, Line) and isinstance(parts[0], Line) and isinstance(parts[1], Line):
                    return Carry(first, (parts[0], parts[1]))
            return None
        if not _fits(node):
            return None
        source = node.args[0].type
        if node.op in ("to", "bits"):
            if isinstance(first, Carry) or (width == source.width and source.is_int):
                return first
            if not isinstance(first, Line) or not source.is_int:
                return None
            return first.low if width < source.width else self._wide(first, source.kind == "i")
        second = facts[1]
        if node.op == "add" and width == 32:
            if isinstance(first, Line) and first.parts is not None and isinstance(second, Carry):
                first = Sum(first.parts)
            if isinstance(first, Sum) and isinstance(second, Carry):
                return self._with_carry(first, second)
            if isinstance(first, High | Sign) or isinstance(second, High | Sign):
                return Sum((first, second)) if _is_high(first) and _is_high(second) else None
        if not isinstance(first, Line) or not isinstance(second, Line):
            return None
        result = self._arithmetic(node.op, first, second, kind == "i")
        if node.op == "add" and width == 32 and isinstance(result, Line) and first.step == second.step == ZERO:
            result.parts = first, second
        return result

    def _with_carry(self, high: Sum, carry: Carry) -> High | None:
        for parts in (high.parts, high.parts[::-1]):  # compilers write them in either order
            a, b = (self._pair(low, part) for low, part in zip(carry.parts, parts, strict=True))
            if a is not None and b is not None:
                break
        else:
            return None
        whole = self._line(
            self._binary("add", a.first, b.first, 64),
            self._binary("add", a.step, b.step, 64),
            self._both(a.holds, b.holds),
            64,
            carry.total,
        )
        return High(whole)

    def _arithmetic(self, op: str, a: Line, b: Line, is_signed: bool) -> Fact:
        width, low = a.width, None
        if op == "shr":
            if is_signed and width == 32 and b.first == Integer(31) and b.step == ZERO:
                return Sign(a)
            return None if is_signed else self._high_bits(a, b)
        if op == "and" and ZERO in (a.step, b.step) and not a.step == b.step == ZERO:
            return self._low_bits(b, a) if a.step == ZERO else self._low_bits(a, b)
        if op == "or" and not a.step == b.step == ZERO:
            return self._beside(b, a) if a.step == ZERO else self._beside(a, b) if b.step == ZERO else None
        if width == 64 and a.low is not None and b.low is not None and op in ("add", "sub", "mul"):
            below = self._arithmetic(op, a.low, b.low, is_signed)
            low = below if isinstance(below, Line) else None
        holds = self._both(a.holds, b.holds)
        if op in ("add", "sub"):
            first, step = (self._binary(op, x, y, width) for x, y in ((a.first, b.first), (a.step, b.step)))
        elif op == "mul" and a.step == ZERO:
            first, step = (self._binary(op, a.first, x, width) for x in (b.first, b.step))
        elif b.step == ZERO and (op not in ("and", "or") or a.step == ZERO):
            step = ZERO if op in ("and", "or") else self._binary(op, a.step, b.first, width)
            first = self._binary(op, a.first, b.first, width)
        else:
            return None
        return self._line(first, step, holds, width, low)

    def _reach(self, line: Line) -> int | None:
        """How far the last lane is above the first one, if that is known and not much."""
        reach = line.step.number * self.last if isinstance(line.step, Integer) else -1
        return reach if 0 <= reach < 1 << 24 and line.width == 32 else None

    def _beside(self, line: Line, number: Line) -> Line | None:
        """A line and the bits of a number above those that its lanes have: the same as their sum."""
        reach = self._reach(line)
        if reach is None or number.width != 32:
            return None
        e, bits = self.emitter, number.first
        last = self._binary("add", line.first, Integer(reach), 32)
        free = self._binary("sub", bits, Integer(1), 32)  # the bits below its lowest one
        if isinstance(bits, Integer):
            free = Integer(signed((bits.number - 1) & ~bits.number, 32))
        else:
            free = e.steady(f"and i32 {free}, {e.steady(f'xor i32 {bits}, -1', bits)}", bits)
        apart = e.steady(f"icmp ule i32 {last}, {free}", last, free)
        grows = e.steady(f"icmp ule i32 {line.first}, {last}", line.first, last)  # or its lanes would wrap
        holds = self._both(self._both(line.holds, number.holds), self._both(apart, grows))
        return self._line(self._binary("add", line.first, bits, 32), line.step, holds, 32)

    def _high_bits(self, line: Line, count: Line) -> Line | None:
        """A line without its low bits, which is the same in all lanes if no lane carries into the others."""
        reach = self._reach(line)
        if reach is None or count.step != ZERO or not isinstance(count.first, Integer):
            return None
        e, first, shift = self.emitter, line.first, count.first.number & 31
        if isinstance(first, Integer):
            begin = first.number & 0xFFFFFFFF
            fits = TRUE if begin >> shift == begin + reach >> shift else FALSE
            return self._line(Integer(signed(begin >> shift, 32)), ZERO, self._both(line.holds, fits), 32)
        end = self._binary("add", first, Integer(reach), 32)
        high, top = (e.steady(f"lshr i32 {value}, {shift}", value) for value in (first, end))
        holds: Value = TRUE if reach == 0 else e.steady(f"icmp eq i32 {high}, {top}", high, top)
        if reach:
            self._doubtful.add(holds)
        return self._line(high, ZERO, self._both(line.holds, holds), 32)

    def _low_bits(self, line: Line, mask: Line) -> Line | None:
        """The low bits of a line, which go up as it does up to the first lane that carries out of them."""
        reach = self._reach(line)
        if reach is None or not isinstance(mask.first, Integer):
            return None
        e, ones = self.emitter, mask.first.number & 0xFFFFFFFF
        if ones & (ones + 1) or ones < reach:
            return None
        first = self._binary("and", line.first, mask.first, 32)
        holds: Value
        if isinstance(first, Integer):
            holds = TRUE if first.number + reach <= ones else FALSE
        else:
            holds = e.steady(f"icmp ule i32 {first}, {signed(ones - reach, 32)}", first)
            self._doubtful.add(holds)
        return self._line(first, line.step, self._both(line.holds, holds), 32)


def _number(fact: Fact, unsigned: bool) -> int | None:
    """The number that all lanes have, if it is known here."""
    if not isinstance(fact, Line) or fact.step != ZERO or not isinstance(fact.first, Integer) or fact.holds != TRUE:
        return None
    return fact.first.number & ((1 << fact.width) - 1) if unsigned else fact.first.number


def _fits(node: expression.Value) -> bool:
    return node.type.is_int and node.type.width in (32, 64)


def _of_constant(value: Constant) -> Fact:
    """An integer or truth value that is the same in all lanes, from its text."""
    text = value.removeprefix("splat (").removesuffix(")")
    kind, _, number = text.rpartition(" ")
    if number in ("true", "false"):
        return number == "true"
    if kind in ("i32", "i64") and number.lstrip("-").isdigit():
        line = Line(Integer(int(number)), ZERO, TRUE, int(kind[1:]))
        if line.width == 64:
            line.low = Line(Integer(signed(int(number), 32)), ZERO, TRUE, 32, whole=line)
        return line
    return None
