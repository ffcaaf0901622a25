"""Index expressions as learners write them: `parse` reads "x * 33 + (y ^ 1)", `Expression.value` computes it as C does.

A language of its own, for pictures: integers, named variables, + - * / % << >> & ^ | ~ and parentheses, with C's
precedence, C's division and the range of an int. Nothing of the text is ever given to Python's own evaluation.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

MOST_CHARACTERS = 200
MOST_DEPTH = 40
_TOKEN = re.compile(
    r"\s*(?:(0[xX][0-9a-fA-F]+|[0-9]+)([uUlL]*)|([A-Za-z_]\w*(?:\s*\.\s*[xyz]\b)?)|(<<|>>|[-+*/%&|^~()])|(\S))"
)
_LEVELS = (("|",), ("^",), ("&",), ("<<", ">>"), ("+", "-"), ("*", "/", "%"))
_LEAST, _GREATEST = -(1 << 31), (1 << 31) - 1


class ExpressionError(ValueError):
    """What is wrong with an index expression, and where: characters [start, end) of it, counted from 0."""

    def __init__(self, message: str, start: int, end: int) -> None:
        super().__init__(message)
        self.start, self.end = start, max(end, start + 1)


@dataclass(frozen=True, slots=True)
class _Node:
    """A number (operator ""), a variable ("name"), one operand ("-1", "~1", "+1") or two ("*", "<<", ...)."""

    operator: str
    start: int
    end: int
    number: int = 0
    name: str = ""
    left: _Node | None = None
    right: _Node | None = None


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed expression. `text` is as it was given, `names` the variables in it."""

    text: str
    names: frozenset[str]
    root: _Node

    def value(self, variables: Mapping[str, int]) -> int:
        """The value as a C int.

        Args:
            variables: the values of all of `names`.

        Raises:
            ExpressionError: a division by 0, a shift by less than 0 or more than 31 bits, or a result that does not fit
                into an int.
        """
        return _value(self.root, variables)


def parse(text: str, names: Collection[str]) -> Expression:
    """Read an expression.

    Args:
        names: the variables that it may use.

    Raises:
        ExpressionError: it is none, too long or nested too deeply, or has an unknown name.
    """
    return _Parser(text, names).whole()


class _Parser:
    def __init__(self, text: str, names: Collection[str]) -> None:
        if len(text) > MOST_CHARACTERS:
            raise ExpressionError(f"at most {MOST_CHARACTERS} characters are read", MOST_CHARACTERS, len(text))
        self.text, self.names = text, names
        self.used: set[str] = set()
        self.tokens: list[tuple[str, str, int, int]] = []  # kind, text, start, end
        self.depth = 0
        self._scan()
        self.at = 0

    def _scan(self) -> None:
        place, end = 0, len(self.text.rstrip())
        while place < end:
            found = _TOKEN.match(self.text, place)
            assert found is not None
            number, suffix, name, operator, other = found.groups()
            kind = "number" if number else "name" if name else "operator"
            start = found.start(next(n for n in (1, 3, 4, 5) if found.group(n)))
            place = found.end()
            if other:
                raise ExpressionError(_unexpected(other), start, place)
            if number and (place < end and (self.text[place].isalnum() or self.text[place] in "_.")):
                raise ExpressionError(f"‘{number}{suffix}{self.text[place]}’ is no whole number", start, place + 1)
            if number and len(number) > 1 and number.startswith("0") and number.isdigit():
                raise ExpressionError(f"in C, ‘{number}’ is a number with base 8; leave the 0 out", start, place)
            text = number or name or operator
            self.tokens.append((kind, re.sub(r"\s", "", text), start, place))

    def whole(self) -> Expression:
        if not self.tokens:
            raise ExpressionError("write an index, e.g. x * 33 + y", 0, len(self.text))
        root = self._level(0)
        if self.at < len(self.tokens):
            _, text, start, end = self.tokens[self.at]
            said = "this ‘)’ closes nothing" if text == ")" else f"there is an operator missing before ‘{text}’"
            raise ExpressionError(said, start, end)
        return Expression(self.text, frozenset(self.used), root)

    def _peek(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) and self.tokens[self.at][0] == "operator" else ""

    def _level(self, level: int) -> _Node:
        if level == len(_LEVELS):
            return self._unary()
        left = self._level(level + 1)
        while self._peek() in _LEVELS[level] and self._peek():
            _, operator, _, _ = self.tokens[self.at]
            self.at += 1
            right = self._level(level + 1)
            left = _Node(operator, left.start, right.end, left=left, right=right)
        return left

    def _unary(self) -> _Node:
        if self.at >= len(self.tokens):
            last = self.tokens[-1]
            raise ExpressionError(f"something is missing after ‘{last[1]}’", last[2], last[3])
        kind, text, start, end = self.tokens[self.at]
        self.at += 1
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise ExpressionError(f"more than {MOST_DEPTH} parentheses or signs inside each other", start, end)
        try:
            if kind == "number":
                number = int(text, 16 if text[:2] in ("0x", "0X") else 10)
                if number > _GREATEST:
                    raise ExpressionError(f"{text} does not fit into an int", start, end)
                return _Node("", start, end, number)
            if kind == "name":
                return self._name(text, start, end)
            if text in ("-", "~", "+"):
                inner = self._unary()
                return _Node(text + "1", start, inner.end, left=inner)
            if text == "(":
                inner = self._level(0)
                if self._peek() != ")":
                    raise ExpressionError("this ‘(’ is not closed", start, end)
                self.at += 1
                return inner
            raise ExpressionError(f"a number or a name is missing before ‘{text}’", start, end)
        finally:
            self.depth -= 1

    def _name(self, name: str, start: int, end: int) -> _Node:
        if name not in self.names:
            near = difflib.get_close_matches(name, self.names, 1, 0.7)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(self.names)}"
            raise ExpressionError(f"‘{name}’ is not known here; {hint}", start, end)
        self.used.add(name)
        return _Node("name", start, end, name=name)


def _unexpected(character: str) -> str:
    if character in "[]":
        return "write one index: for tile[y][x] with rows of 33 elements, y * 33 + x"
    if character in "<>=!?:":
        return f"‘{character}’: comparisons and conditions are not known here"
    if character == ".":
        return "only whole numbers, and names like threadIdx.x"
    return f"‘{character}’ means nothing here"


def _value(node: _Node, variables: Mapping[str, int]) -> int:
    operator = node.operator
    if not operator:
        return node.number
    if operator == "name":
        return variables[node.name]
    assert node.left is not None
    left = _value(node.left, variables)
    if node.right is None:
        return _int({"-1": -left, "~1": ~left, "+1": left}[operator], node)
    return _int(_apply(operator, left, _value(node.right, variables), node), node)


def _apply(operator: str, left: int, right: int, node: _Node) -> int:
    if operator in ("/", "%"):
        if right == 0:
            raise ExpressionError("division by 0", node.start, node.end)
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if operator == "/" else left - quotient * right
    if operator in ("<<", ">>"):
        if not 0 <= right < 32:
            raise ExpressionError(f"a shift by {right} bits; 0 to 31 are possible", node.start, node.end)
        return left << right if operator == "<<" else left >> right
    if operator == "+":
        return left + right
    if operator == "-":
        return left - right
    if operator == "*":
        return left * right
    return left & right if operator == "&" else left ^ right if operator == "^" else left | right


def _int(value: int, node: _Node) -> int:
    if not _LEAST <= value <= _GREATEST:
        raise ExpressionError(f"{value:,} does not fit into an int", node.start, node.end)
    return value
