"""What the launches inside a block did: `profile` collects their records into a `Run`.

with gpulab.profile() as run:
    saxpy[4, 256](n, 2.0, x, y)
run.launches[0].counters["SQ_INSTS_VALU"]
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gpulab import hip
from gpulab.views import launches as views
from gpulab.views.table import Table

if TYPE_CHECKING:
    from gpulab.records import Launch


class Run:
    """The launches inside one `profile` block, in order. Shows itself as a table."""

    def __init__(self, recorded: list[Launch]) -> None:
        self._recorded = recorded

    @property
    def launches(self) -> tuple[Launch, ...]:
        """The records of the launches so far."""
        return tuple(self._recorded)

    def __len__(self) -> int:
        return len(self._recorded)

    def __getitem__(self, index: int) -> Launch:
        return self._recorded[index]

    def __iter__(self) -> Iterator[Launch]:
        return iter(self.launches)

    def lines(self, index: int = -1) -> Table:
        """The source lines of one launch by their cost; the last launch unless another index is given.

        Raises:
            IndexError: there was no such launch.
        """
        return views.line_table(self._recorded[index])

    def __repr__(self) -> str:
        return str(views.launch_table(self._recorded))

    def _repr_html_(self) -> str:
        return views.launch_table(self._recorded).html()


@contextlib.contextmanager
def profile() -> Iterator[Run]:
    """Record every launch inside the block: counters, cost by source line, time.

    On a virtual device the counters are exact and the time is modelled; on a real one only times are known.
    """
    with hip.recording() as recorded:
        yield Run(recorded)
