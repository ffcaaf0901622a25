"""What is done for objects that nothing refers to any more: at a later call of gpulab, not in the garbage collector.

The collector runs in the middle of any call, also where the runtime is changing its tables, and in any thread, also in
one that another thread waits for which holds the runtime's locks.
"""

from __future__ import annotations

import contextlib
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

from gpulab.errors import GpulabError

pending: deque[tuple[Callable[..., object], tuple[Any, ...]]] = deque()
"""What is to be done: a function and its arguments."""


def later(owner: object, action: Callable[..., object], *arguments: Any) -> weakref.finalize[Any, Any]:
    """Have `action(*arguments)` done some time after `owner` has gone, but not at the end of the process.

    Returns:
        What can be asked whether it is `alive`, and be told not to (`detach`).
    """
    found = weakref.finalize(owner, pending.append, (action, arguments))
    found.atexit = False
    return found


def release() -> None:
    """Do what is to be done. Where a device was reset in between, it is done already."""
    while True:
        try:
            action, arguments = pending.popleft()
        except IndexError:
            return
        with contextlib.suppress(GpulabError):
            action(*arguments)
