"""What opens a block: functions such as `profile` and `checked`, whose result belongs behind ``with``.

`block(example)` is `contextlib.contextmanager` for functions that learners call. A wrong call raises an error with the
example at once, and the result says that it belongs behind ``with`` where it is shown or used as something else.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Generic, NoReturn, ParamSpec, TypeVar

from gpulab.errors import ArgumentError

_T = TypeVar("_T")
_P = ParamSpec("_P")


class Block(contextlib.ContextDecorator, contextlib.AbstractContextManager[_T], Generic[_T]):
    """Opens a block once: ``with block as value:``; or runs a function inside one each time, as a decorator."""

    def __init__(self, make: Callable[[], contextlib.AbstractContextManager[_T]], name: str, example: str) -> None:
        self._make, self._name, self._example = make, name, example
        self._open: contextlib.AbstractContextManager[_T] | None = None

    def _recreate_cm(self) -> Block[_T]:
        return Block(self._make, self._name, self._example)

    def __enter__(self) -> _T:
        self._open = self._make()
        return self._open.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> bool | None:
        assert self._open is not None
        return self._open.__exit__(kind, error, where)

    def __repr__(self) -> str:
        return f"gpulab.{self._name}(...) does nothing by itself: it opens a block.\n{self._example}"

    def __getattr__(self, name: str) -> NoReturn:
        # The block's value is what `as` names.
        text = f"gpulab.{self._name}(...) has no attribute {name!r}: it opens a block. {self._example}"
        raise AttributeError(text, name=name, obj=self)


def block(example: str) -> Callable[[Callable[_P, Iterator[_T]]], Callable[_P, Block[_T]]]:
    """Make a generator function a function that opens a block.

    Args:
        example: how it is written; shown where it is written otherwise.
    """

    def decorate(function: Callable[_P, Iterator[_T]]) -> Callable[_P, Block[_T]]:
        signature, manager = inspect.signature(function), contextlib.contextmanager(function)
        name = function.__name__

        @functools.wraps(function)
        def opens(*arguments: _P.args, **named: _P.kwargs) -> Block[_T]:
            try:
                signature.bind(*arguments, **named)
            except TypeError as error:
                _refuse(name, str(error), example)
            if any(_is_launchable(value) for value in arguments):
                _refuse(name, "a kernel does not go into the parentheses", example)
            return Block(lambda: manager(*arguments, **named), name, example)

        return opens

    return decorate


def _is_launchable(value: Any) -> bool:
    from gpulab.module import Kernel, Launcher

    return isinstance(value, (Kernel, Launcher))


def _refuse(name: str, problem: str, example: str) -> NoReturn:
    raise ArgumentError(
        f"gpulab.{name}: {problem}.", why="it opens a block, and acts on the launches inside.", hint=example
    ) from None
