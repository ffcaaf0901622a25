"""Where the bytes of device memory come from: which a kernel was the last to change, and what copies moved.

`Provenance` watches checked launches, copies and fills of a process, and makes a `Transfer` of each copy between host
and device, and of what a launch leaves in memory that the host sees as well. Of large ones only sizes are kept.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from gpulab.records import Transfer

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    import numpy.typing as npt

    from gpulab.virtual_gpu.machine.arena import Allocation, Arena

MOST_BYTES = 1 << 16
"""Of a transfer whose data are kept."""

ALL_BYTES = 1 << 18
"""Of all transfers in a direction whose data are kept."""

MOST_TRANSFERS = 4096

IN, OUT = "host to device", "device to host"


class Provenance:
    """What kernels have stored, in a process on the virtual devices."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._stored: dict[
            int, tuple[Allocation, npt.NDArray[np.bool_]]
        ] = {}  # a bool for each byte, by the start address
        self._room = {IN: ALL_BYTES, OUT: ALL_BYTES}
        self.transfers: list[Transfer] = []

    def _bytes(self, allocation: Allocation) -> npt.NDArray[np.bool_]:
        """For each byte of an allocation: was a kernel the last to change it?"""
        import numpy as np

        known = self._stored.get(allocation.address)
        if known is None or known[0] is not allocation:  # freed, and another one at its place
            known = self._stored[allocation.address] = allocation, np.zeros(allocation.size, bool)
        return known[1]

    def launched(self, changed: Iterable[tuple[int, npt.NDArray[np.bool_]]]) -> None:
        """A checked launch has come to its end: the allocations that it changed, and which bytes of them."""
        for address, bytes_changed in changed:
            allocation = self._arena.find(address)
            if allocation is not None:
                stored = self._bytes(allocation)
                stored |= bytes_changed
                if allocation.kind in ("host", "managed"):
                    self._note(OUT, address, allocation.size, stored)

    def overwritten(self, address: int, size: int) -> None:
        """Something else than a kernel has written here."""
        allocation = self._arena.find(address)
        if allocation is not None:
            offset = address - allocation.address
            self._bytes(allocation)[offset : offset + size] = False

    def copied(self, target: int, to: Allocation | None, source: int, origin: Allocation | None, size: int) -> None:
        """A copy was made. None stands for memory of the host."""
        import numpy as np

        stored = np.zeros(size, bool)
        if origin is not None:
            offset = source - origin.address
            stored = self._bytes(origin)[offset : offset + size].copy()
        if to is not None:
            offset = target - to.address
            self._bytes(to)[offset : offset + size] = stored
        if origin is not None and (to is None or to.kind == "host"):
            self._note(OUT, target, size, stored)
        elif origin is None or origin.kind == "host":
            self._note(IN, target, size, stored)

    def _note(self, direction: str, address: int, size: int, stored: npt.NDArray[np.bool_]) -> None:
        import numpy as np

        if len(self.transfers) >= MOST_TRANSFERS or not size:
            return
        data = kernels = ""
        if size <= min(MOST_BYTES, self._room[direction]):
            self._room[direction] -= size
            data = ctypes.string_at(self._arena.home(address), size).hex()
            kernels = np.packbits(stored, bitorder="little").tobytes().hex()
        self.transfers.append(Transfer(direction, size, int(stored.sum()), data, kernels))
