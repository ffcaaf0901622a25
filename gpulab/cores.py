"""How many cores this process may use: for a launch's threads, and for compilers and programs beside each other."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any, TypeVar

SETTING = "GPULAB_CORES"
_T = TypeVar("_T")


def usable() -> int:
    """The cores that the system lets this process use, or fewer if GPULAB_CORES says so; at least 1.

    The graders of a class set it to 1 for what they start: there is one of them for each core.
    """
    found = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    wanted = os.environ.get(SETTING, "")
    return max(1, min(found, int(wanted))) if wanted.isdecimal() else found


def beside(most: int) -> Executor:
    """An executor for work beside the caller's own, with at most so many threads; on one core work is done at once."""
    count = usable()
    return ThreadPoolExecutor(min(most, count)) if count > 1 else _AtOnce()


class _AtOnce(Executor):
    """Does work where it is handed in."""

    def submit(self, fn: Callable[..., _T], /, *args: Any, **kwargs: Any) -> Future[_T]:
        future: Future[_T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future
