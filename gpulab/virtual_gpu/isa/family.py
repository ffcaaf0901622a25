"""How the row files are written: a `Family` collects the rows of one encoding family for all generations.

`Family.rows` makes decorators whose first argument names the mnemonics that are spelled and mean the same everywhere,
and whose keywords `gfx9` and `gfx11` those that one of these generations spells or means in its own way (several names
are separated by blanks). Which generation has which of them, under which name, is said in `generations/`. `define` is
the same for bodies that fit one line.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, ClassVar, NamedTuple, Protocol, Unpack

from gpulab.virtual_gpu.isa.expression import TYPES
from gpulab.virtual_gpu.isa.row import AnyRow, Options, Row, Table

Body = Callable[..., Any]


class Rows(Protocol):
    """A decorator factory that `Family.rows` makes."""

    def __call__(
        self, common: str = "", *, gfx9: str = "", gfx11: str = "", **options: Unpack[Options]
    ) -> Callable[[Body], Body]: ...


class Define(Protocol):
    """The same for bodies that fit one line: `definer` makes it."""

    def __call__(
        self,
        names: str,
        parameters: str,
        function: Body,
        meaning: str,
        **options: Unpack[Options],
    ) -> None: ...


class Place(NamedTuple):
    """Where a row is defined: an instruction of a row file. Its line is looked up when somebody asks."""

    code: CodeType
    instruction: int

    @property
    def file(self) -> str:
        return self.code.co_filename

    @property
    def line(self) -> int:
        found = (line for first, end, line in self.code.co_lines() if line and first <= self.instruction < end)
        return next(found, self.code.co_firstlineno)


def _place() -> Place:
    """Of the call that defines the row which is being added: the line at the level of its module, or, where a function
    without arguments is called there to define many rows, the line in that function."""
    frame = sys._getframe(2)
    inner = []
    while frame.f_code.co_name != "<module>" and frame.f_back is not None:
        if frame.f_code.co_filename != __file__:
            inner.append(frame)
        frame = frame.f_back
    while inner and not inner[-1].f_code.co_argcount:
        frame = inner.pop()
    return Place(frame.f_code, frame.f_lasti)


class Family:
    """Tables by spelling, with the places where their rows are defined.

    Attributes:
        manual: where AMD's manuals describe these instructions.
    """

    SPELLINGS: ClassVar = ("common", "gfx9", "gfx11")

    def __init__(self, manual: str) -> None:
        self.manual = manual
        self.tables = {name: Table() for name in self.SPELLINGS}
        self.places: dict[tuple[str, str], Place] = {}

    def add(self, row: AnyRow, spelling: str = "common") -> None:
        """Add a finished row (memory, cross-lane, control)."""
        self.tables[spelling].add(row)
        self.places[spelling, row.mnemonic] = _place()

    def rows(self, unit: str, **defaults: Unpack[Options]) -> Rows:
        """A decorator factory: ``vector("v_add_f32")``, ``vector(gfx9="v_add_u32", gfx11="v_add_nc_u32")``.

        What both `defaults` and the options of a row name is as the row says.
        """

        def family(
            common: str = "", *, gfx9: str = "", gfx11: str = "", **options: Unpack[Options]
        ) -> Callable[[Body], Body]:
            given: Options = {**defaults, **options}

            def decorate(body: Body) -> Body:
                for spelling, names in (("common", common), ("gfx9", gfx9), ("gfx11", gfx11)):
                    for name in names.split():
                        self.add(Row(name, unit, body, **given), spelling)
                return body

            return decorate

        return family


def body(function: Body, parameters: str, meaning: str) -> Body:
    """A copy of a function with its row's parameter types: ``body(lambda a, b: a & b, "a:u32 b:u32", "And.")``."""
    assert isinstance(function, FunctionType)
    function = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    function.__annotations__ = {name: TYPES[type] for name, type in (p.split(":") for p in parameters.split())}
    function.__doc__ = meaning
    return function


def definer(family: Rows) -> Define:
    """``define(names, "a:u32 b:u32", lambda a, b: a & b, "Bitwise and.")`` for one-line bodies."""

    def define(names: str, parameters: str, function: Body, meaning: str, **options: Unpack[Options]) -> None:
        family(names, **options)(body(function, parameters, meaning))

    return define
