"""Work that takes long and that a test waits for, done ahead by processes of its own while other tests wait.

    @pytest.fixture(scope="module")
    def executed(request):
        with ahead(request, "test_a_notebook", "job", execute) as results:
            yield results

`results[key]` is the future of execute(parameter) for each parameter of the collected test; `key` names it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

import build


def key(parameter: Any) -> str:
    """What a parameter is called: a job by its name."""
    return str(getattr(parameter, "name", parameter))


@contextmanager
def ahead(request: Any, test: str, parameter: str, work: Callable[[Any], Any]) -> Iterator[dict[str, Future[Any]]]:
    """Futures of work(value) for each value of `parameter` with which `test` was collected, by `key`."""
    wanted = [
        item.callspec.params[parameter]
        for item in request.session.items
        if getattr(item, "originalname", "") == test and item.module is request.module
    ]
    processes = 1 if "PYTEST_XDIST_WORKER" in os.environ else build.PROCESSES  # there the other core has its own tests
    with build.workers(processes) as pool:
        yield {key(value): pool.submit(work, value) for value in wanted}
