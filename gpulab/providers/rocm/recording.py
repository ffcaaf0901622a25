"""Records of launches on ROCm's devices: `Recordings` times each launch by events and saves it for rocprofv3.

rocprofv3 has to start the process that it watches, so launches whose counters were asked for are saved (`snapshot`),
and repeated in a process of their own (`replay`) when the recording ends.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from gpulab.errors import GpulabError, HipError
from gpulab.providers.provider import Activities, DeviceInfo, Sink, Triple
from gpulab.records import Activity, Counters, Launch

if TYPE_CHECKING:
    from gpulab.providers.rocm.provider import RocmProvider
    from gpulab.providers.rocm.snapshot import Snapshot


@dataclass(slots=True, eq=False)
class _Recording:
    """One open recording: `first` has the event before the first launch on each device, `saved` the launches saved for
    the profiler by their places, `measured` what streams did."""

    sink: Sink
    counters: Sequence[str] | None
    folder: Path | None
    first: dict[int, int] = field(default_factory=dict)
    saved: dict[int, Snapshot] = field(default_factory=dict)
    measured: list[Activity] = field(default_factory=list)


class Recordings:
    """All open recordings of a provider; true if there are any."""

    def __init__(self, provider: RocmProvider) -> None:
        self._provider = provider
        self._open: list[_Recording] = []

    def __bool__(self) -> bool:
        return bool(self._open)

    @contextlib.contextmanager
    def open(self, sink: Sink, counters: Sequence[str] | None) -> Iterator[Activities]:
        """Record the launches in the block; what was saved is repeated and counted at its end.

        Raises:
            ProfilerError: counters are named, and rocprofv3 is missing or fails.
        """
        folder = None if counters is None else _profiler_folder(required=bool(counters))
        recording = _Recording(sink, counters, folder)
        self._open.append(recording)
        try:
            try:
                yield lambda: tuple(recording.measured)
            finally:
                self._open.remove(recording)
                for event in recording.first.values():
                    if not self._keeps(event):
                        self._provider.binding.call("hipEventDestroy", event)
            if recording.saved:
                self._collect(recording, folder)
        finally:
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)

    def _keeps(self, event: int) -> bool:
        return any(event in recording.first.values() for recording in self._open)

    def launch(
        self, begin: Callable[[], None], function: int, grid: Triple, block: Triple, lds: int, stream: int,
        kernarg: bytes, offsets: Sequence[int],
    ) -> None:  # fmt: skip
        """A launch, which `begin` starts, between two events."""
        provider = self._provider
        for recording in self._open:
            saved = self._save(recording, function, grid, block, lds, kernarg, offsets)
            if saved is not None:
                recording.saved[len(recording.sink)] = saved
        start, stop = provider.event_create(), provider.event_create()
        try:
            provider.event_record(start, stream)
            begin()
            provider.event_record(stop, stream)
            provider.event_synchronize(stop)
            microseconds = provider.event_elapsed_ms(start, stop) * 1000.0
            device = provider.devices()[provider.current()]
            begins = [self._since_first(recording, device.index, start) for recording in self._open]
        except BaseException:
            for recording in self._open:
                recording.saved.pop(len(recording.sink), None)
            raise
        finally:
            if not self._keeps(start):
                provider.binding.call("hipEventDestroy", start)
            provider.binding.call("hipEventDestroy", stop)
        threads = block[0] * block[1] * block[2]
        record = Launch(
            kernel=self._title(function),
            arch=device.arch,
            device=device.index,
            grid=(grid[0], grid[1], grid[2]),
            block=(block[0], block[1], block[2]),
            lds_bytes=lds,
            waves=-(-threads // device.wave_size) * grid[0] * grid[1] * grid[2],
            counters=Counters(),
            measured_us=microseconds,
            time_is_modelled=False,
            host_us=microseconds,
            constants={
                "CU_NUM": device.compute_units,
                "SIMD_NUM": device.compute_units * _simds_per_cu(device),
                "MAX_WAVE_SIZE": device.wave_size,
            },
        )
        for recording, at in zip(self._open, begins, strict=True):
            place = recording.sink.add(record)
            recording.measured.append(
                Activity(
                    "kernel", record.kernel, record.device, 0, at, at + microseconds, launch=place, is_modelled=False
                )
            )

    def _since_first(self, recording: _Recording, device: int, start: int) -> float:
        """Microseconds from the start of a recording's first launch on a device to an event; 0 for the first."""
        first = recording.first.setdefault(device, start)
        return 0.0 if first == start else self._provider.event_elapsed_ms(first, start) * 1000.0

    def _title(self, function: int) -> str:
        """A kernel's name in the source; its symbol if gpulab did not compile it; "" if unknown."""
        from gpulab.toolchain import CodeObject

        module, symbol = self._provider.kernels.get(function, (0, ""))
        with contextlib.suppress(GpulabError):
            signature = CodeObject.from_elf(self._provider.images.get(module, b"")).kernels.get(symbol)
            return signature.name if signature is not None else symbol
        return symbol

    def _save(
        self, recording: _Recording, function: int, grid: Triple, block: Triple, lds: int, kernarg: bytes,
        offsets: Sequence[int],
    ) -> Snapshot | None:  # fmt: skip
        """Save a launch for `_collect`; None for a function that was not loaded here."""
        from gpulab.providers.rocm import snapshot

        provider = self._provider
        module, symbol = provider.kernels.get(function, (0, ""))
        elf = provider.images.get(module)
        if elf is None or recording.folder is None:
            return None
        provider.synchronize()
        allocations = dict(provider.allocations)
        for value in {int.from_bytes(kernarg[at : at + 8], "little") for at in range(0, len(kernarg) - 7, 8)}:
            # What other code allocated is found by asking HIP about the arguments themselves.
            code, *outputs = provider.binding.call("hipMemGetAddressRange", value)
            if code:
                provider.binding.call("hipGetLastError")
            elif outputs[0]:
                allocations.setdefault(outputs[0], outputs[1])
        variables = {}
        for name in snapshot.variable_symbols(elf):
            with contextlib.suppress(HipError):  # what the loader does not know by name cannot be filled either
                variables[name] = provider.variable(module, name)

        def contents(address: int, size: int) -> bytes:
            held = bytearray(size)
            if size:
                room = (ctypes.c_char * size).from_buffer(held)
                provider.copy_to_host(ctypes.addressof(room), address, size)
            return bytes(held)

        folder = recording.folder / f"launch{len(recording.sink)}"
        return snapshot.save(
            folder, elf, symbol, provider.current(), grid, block, lds, kernarg, offsets, allocations, contents,
            variables,
        )  # fmt: skip

    def _collect(self, recording: _Recording, folder: Path | None) -> None:
        """Repeat the saved launches of a recording under rocprofv3 and put the counters into their records."""
        from gpulab import metrics
        from gpulab.providers.rocm import rocprof

        assert folder is not None
        sink, path = recording.sink, self._provider.binding.path
        for arch in sorted({sink[place].arch for place in recording.saved}):
            places = [place for place in recording.saved if sink[place].arch == arch]
            known = set(metrics.names(arch))
            names = [name for name in recording.counters or metrics.usual(arch) if name in known]
            launches = [recording.saved[place] for place in places]
            found = rocprof.collect(names, arch, path, launches, folder) if names else [{} for _ in places]
            for place, values in zip(places, found, strict=True):
                counts, computed = rocprof.split(values, arch)
                sink.change(place, dataclasses.replace(sink[place], counters=Counters(counts), metrics=computed))


def _simds_per_cu(device: DeviceInfo) -> int:
    """Of an architecture that gpulab does not know: four with waves of 64 lanes (GCN, CDNA), else two (RDNA)."""
    from gpulab import architectures

    known = architectures.find(device.arch)
    if known is None:
        return 4 if device.wave_size == 64 else 2
    return known.simds_per_cu


def _profiler_folder(required: bool) -> Path | None:
    """A folder for saved launches; None if there is no profiler that could repeat them."""
    from gpulab.providers.rocm import rocprof

    if rocprof.executable() is None:
        if required:
            raise rocprof.missing()
        return None
    return Path(tempfile.mkdtemp(prefix="gpulab-profile-"))
