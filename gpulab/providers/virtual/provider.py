"""`VirtualProvider`: gpulab's own HIP library, with the runtime behind it in this process."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager

from gpulab import metrics
from gpulab.errors import CounterNotFound
from gpulab.providers import faults
from gpulab.providers.hip.binding import Binding
from gpulab.providers.hip.calls import FAULTS
from gpulab.providers.hip.provider import HipProvider
from gpulab.providers.provider import Activities, LibraryInfo, Sink
from gpulab.providers.virtual.instruments import VirtualInstruments
from gpulab.providers.virtual.recording import record
from gpulab.records import AllocationNote
from gpulab.virtual_gpu import runtime
from gpulab.virtual_gpu.runtime import visible


class VirtualProvider(HipProvider):
    """The virtual GPUs of this process."""

    name = "virtual"
    virtual = True
    lacks: Mapping[str, str] = {}

    def __init__(self, binding: Binding) -> None:
        super().__init__(binding)
        self._runtime = runtime.instance()
        self._runtime.reports_faults = True  # as exceptions
        self._instruments = VirtualInstruments(self._runtime)

    @property
    def instruments(self) -> VirtualInstruments:
        return self._instruments

    def library(self) -> LibraryInfo:
        return LibraryInfo(self.binding.path, self.version(), self.binding.kind)

    def environment(self, index: int) -> Mapping[str, str]:
        archs = [device.arch for device in self.devices()]
        return {
            "GPULAB_DEVICES": ",".join([archs[index], *(arch for at, arch in enumerate(archs) if at != index)]),
            "GPULAB_LIBRARY": "virtual",
            **visible.all_of(len(archs), os.environ),
        }

    def current(self) -> int:
        return self._runtime.current_index if self._runtime.devices else super().current()

    def _cause(self, code: int) -> BaseException | None:
        if code in FAULTS:
            fault = self._runtime.take_fault()
            if fault is not None:
                raise faults.exception(fault)
        return self._runtime.take_exception()

    def _missing_call(self) -> str:
        return self._runtime.missing_call()

    def _free_failed(self, code: int, address: int) -> None:
        if code in FAULTS:
            # The memory is freed. Arrays are freed whenever Python lets go of them, which is no place to raise: the
            # fault is kept for the next call that waits for the device.
            self._forget_error()
            self._runtime.keep_fault()
        else:
            super()._free_failed(code, address)

    def _nearest(self, address: int) -> AllocationNote | None:
        return self._instruments.find_allocation(address)

    def record(self, sink: Sink, profile: bool, counters: Sequence[str] | None) -> AbstractContextManager[Activities]:
        return record(self._runtime, sink, profile)

    def check_counters(self, names: Sequence[str], arch: str) -> None:
        for name in names:
            missing = metrics.lacking(name, arch, self._instruments.counter_kinds(arch))
            if missing:
                raise CounterNotFound(
                    f"the virtual {arch} cannot give {name}"
                    + ("." if missing == (name,) else f": it does not count {', '.join(missing)}."),
                    why="a GPU of this architecture can; the virtual one has no model of what is counted there.",
                    hint=f"`gpulab counters --arch {arch}` says of every name whether the virtual device gives it.",
                )
