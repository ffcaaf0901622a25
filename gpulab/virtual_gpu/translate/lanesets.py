"""What is known of lane masks as numbers: `LaneSets` computes them, and does without where one is known to be another.

Compilers narrow EXEC to a part of it, and give the rest back by xor and or. So that after a condition, also after its
other branch, EXEC is the same as before, and known to be: for code whose lanes are all active much more is known.
"""

from __future__ import annotations

from gpulab.virtual_gpu.translate.emitter import Emitter, Integer, Value

ALL = Integer(-1)


class LaneSets:
    """Operations on lane masks, of the type emitter.byte, by the names of LOGIC (isa/row.py)."""

    def __init__(self, emitter: Emitter) -> None:
        self.emitter = emitter
        self._within: set[tuple[Value, Value]] = set()
        self._rest: dict[tuple[Value, Value], Value] = {}  # of a mask without a part of it

    def copy(self) -> LaneSets:
        """All that is known up to here."""
        result = LaneSets(self.emitter)
        result._within, result._rest = set(self._within), dict(self._rest)
        return result

    def within(self, part: Value, whole: Value) -> bool:
        """Whether all lanes of one mask are in another one for certain."""
        return whole in (ALL, part) or (part, whole) in self._within

    def bitwise(self, logic: str, a: Value, b: Value) -> Value | None:
        """and, or, xor, and_not1, or_not1 and so on; None for another operation."""
        operation, _, inverted = logic.partition("_")
        if inverted:
            if inverted == "not0":
                a, b = b, a
            if operation == "and" and self.within(b, a):
                return self._without(a, b)
            b = self._without(ALL, b)
        if operation == "and":
            return self._and(a, b)
        if operation == "or":
            return self._or(a, b)
        if operation != "xor":
            return None
        if self.within(b, a):
            return self._without(a, b)
        return self._without(b, a) if self.within(a, b) else self._let("xor", a, b)

    def _let(self, op: str, a: Value, b: Value) -> Value:
        e = self.emitter
        return e.let(f"{op} {e.byte} {a}, {b}")

    def _and(self, a: Value, b: Value) -> Value:
        if self.within(a, b):
            return a
        if self.within(b, a):
            return b
        both = self._let("and", a, b)
        self._within |= {(both, a), (both, b)}
        return both

    def _or(self, a: Value, b: Value) -> Value:
        if self.within(a, b):
            return b
        if self.within(b, a):
            return a
        for (whole, part), rest in self._rest.items():
            if (part, rest) == (a, b):
                return whole
        either = self._let("or", a, b)
        self._within |= {(a, either), (b, either)}
        return either

    def _without(self, whole: Value, part: Value) -> Value:
        """A mask without a part of it."""
        if part == Integer(0):
            return whole
        known = self._rest.get((whole, part))
        if known is None:
            known = Integer(0) if whole == part else self._let("xor", whole, part)
            self._rest[whole, part], self._rest[whole, known] = known, part
            self._within |= {(part, whole), (known, whole)}
        return known
