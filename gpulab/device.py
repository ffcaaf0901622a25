"""The devices of this machine and which of them is in use.

`devices()` lists them, `use` and `using` choose one, `synchronize` waits for it, `memory_info` says how much memory
is free, and `set_limit` stops kernels that never end (virtual devices).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from gpulab import dropped, providers
from gpulab.arguments import whole_number
from gpulab.blocks import block
from gpulab.errors import LaunchLimitError
from gpulab.views.table import Table

if TYPE_CHECKING:
    from gpulab.providers import DeviceInfo


class Devices(Sequence["DeviceInfo"]):
    """The devices, in order; shows itself as a table."""

    def __init__(self, infos: Sequence[DeviceInfo], current: int) -> None:
        self._infos = tuple(infos)
        self._current = current

    @overload
    def __getitem__(self, index: int) -> DeviceInfo: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[DeviceInfo, ...]: ...
    def __getitem__(self, index: int | slice) -> DeviceInfo | tuple[DeviceInfo, ...]:
        if isinstance(index, slice):
            return self._infos[index]
        try:
            return self._infos[index]
        except (IndexError, TypeError):
            return providers.find(index)

    def __iter__(self) -> Iterator[DeviceInfo]:
        return iter(self._infos)

    def index(self, value: object, start: int = 0, stop: int | None = None) -> int:
        return self._infos.index(value, start, len(self) if stop is None else stop)

    def __len__(self) -> int:
        return len(self._infos)

    def _table(self) -> Table:
        rows = tuple(
            (
                info.index,
                info.name,
                info.arch,
                info.wave_size,
                info.compute_units,
                f"{info.memory_bytes / 2**30:.0f} GiB",
                "virtual" if info.virtual else "real",
                "in use" if info.index == self._current else "",
            )
            for info in self._infos
        )
        return Table(("index", "name", "arch", "wave size", "compute units", "memory", "kind", ""), rows)

    def __repr__(self) -> str:
        return str(self._table())

    def _repr_html_(self) -> str:
        return self._table().html()


def devices() -> Devices:
    """All devices: index, name, gfx architecture, wave size, compute units, memory, real or virtual."""
    return Devices(providers.devices(), providers.current())


def device() -> DeviceInfo:
    """The device in use (the first one, until `use` says otherwise)."""
    return providers.devices()[providers.current()]


def use(which: int | str) -> DeviceInfo:
    """Use this device from now on: ``use(1)``, ``use("gfx1100")``, ``use("virtual:gfx942")``.

    Raises:
        DeviceNotFound: there is none such; the message lists those there are.
    """
    info = providers.find(which)
    providers.select(info.index)
    return info


@block('with gpulab.using("gfx1100"): kernel[grid, block](...)')
def using(which: int | str) -> Iterator[DeviceInfo]:
    """``with using("gfx942"): ...`` uses this device inside the block, and the one before again afterwards.

    Raises:
        DeviceNotFound: there is none such; the message lists those there are.
    """
    before = providers.current()
    info = use(which)
    try:
        yield info
    finally:
        providers.select(before)


def synchronize() -> None:
    """Wait until everything that was launched on the device in use has finished.

    Raises:
        KernelFault: a kernel launched before was stopped (real GPUs; virtual ones say so at the launch).
    """
    providers.selected().synchronize()


@dataclass(frozen=True, slots=True)
class MemoryInfo:
    """Bytes of device memory: `free` and `total`. On a virtual device `free` is no more than this computer has."""

    free: int
    total: int

    @property
    def used(self) -> int:
        """Bytes that are not free; on a virtual device also those that this computer does not have."""
        return self.total - self.free

    def __str__(self) -> str:
        return f"{self.free:,} of {self.total:,} bytes are free"


def memory_info() -> MemoryInfo:
    """Free and total memory of the device in use, in bytes."""
    dropped.release()
    return MemoryInfo(*providers.selected().memory_info())


def set_limit(instructions: int | None) -> None:
    """Stop a kernel of which a wave executes more than so many instructions (virtual devices).

    None restores the default, 2**29, which one wave executes in a few seconds.

    Raises:
        LaunchLimitError: not a whole number from 1 on.
    """
    limit = None if instructions is None else whole_number(instructions) or 0
    if limit is not None and not 1 <= limit < 1 << 62:
        raise LaunchLimitError(
            f"the limit is a whole number of wave instructions from 1 on, not {instructions!r}.",
            hint="gpulab.set_limit(2_000_000_000), or gpulab.set_limit(None) for the usual one.",
        )
    for instruments in providers.all_instruments():
        instruments.set_instruction_limit(limit)
