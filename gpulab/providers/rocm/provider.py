"""`RocmProvider`: AMD's GPUs. Launches that are recorded are timed by events, and repeated for counters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

from gpulab import metrics
from gpulab.errors import CounterNotFound
from gpulab.providers.hip.binding import Binding
from gpulab.providers.hip.calls import FAULTS
from gpulab.providers.hip.provider import HipProvider
from gpulab.providers.provider import Activities, LibraryInfo, Sink, Triple
from gpulab.providers.rocm.recording import Recordings

_WATCHING = "it is found by watching every access, which only the virtual GPU can do"


class RocmProvider(HipProvider):
    """ROCm's library."""

    name = "rocm"
    virtual = False
    instruments = None
    lacks: Mapping[str, str] = {
        "trace": "hardware does not tell which instructions a wave executes",
        "checked": "races and reads of memory never written are found by watching every access, which only the virtual "
        "GPU can do",
        "weak": "hardware chooses the order of its accesses itself, and another one in each run",
        "writers": _WATCHING,
        "occupancy": "HIP tells how many workgroups fit, not which resource limits them",
        "limit": "hardware runs a kernel to its end",
        "costs": "hardware counts events of a whole launch, not of an instruction",
    }

    def __init__(self, binding: Binding) -> None:
        super().__init__(binding)
        self.allocations: dict[int, int] = {}  # bytes by address: what a saved launch may reach
        self.images: dict[int, bytes] = {}  # code object by module
        self.kernels: dict[int, tuple[int, str]] = {}  # module and symbol by function
        self._fault = 0  # the code of a kernel's fault that hipFree returned
        self._recordings = Recordings(self)

    def library(self) -> LibraryInfo:
        from gpulab.providers.rocm import rocprof

        return LibraryInfo(self.binding.path, self.version(), self.binding.kind, rocprof.executable() or "")

    def environment(self, index: int) -> Mapping[str, str]:
        return {}

    # What is remembered for the profiler

    def malloc(self, size: int) -> int:
        return self._remember(super().malloc(size), size)

    def malloc_host(self, size: int) -> int:
        return self._remember(super().malloc_host(size), size)

    def _remember(self, address: int, size: int) -> int:
        if address:
            self.allocations[address] = size
        return address

    def free(self, address: int) -> None:
        self.allocations.pop(address, None)
        super().free(address)

    def free_host(self, address: int) -> None:
        self.allocations.pop(address, None)
        super().free_host(address)

    def _free_failed(self, code: int, address: int) -> None:
        if code in FAULTS:
            # Arrays are freed whenever Python lets go of them, which is no place to raise a kernel's fault.
            self._forget_error()
            self._fault = code
        else:
            super()._free_failed(code, address)

    def synchronize(self) -> None:
        code, self._fault = self._fault, 0
        if code:
            self.fail(code, "hipFree")
        super().synchronize()

    def load(self, code: bytes) -> int:
        module = super().load(code)
        self.images[module] = code
        return module

    def unload(self, module: int) -> None:
        self.images.pop(module, None)
        super().unload(module)

    def function(self, module: int, symbol: str) -> int:
        function = super().function(module, symbol)
        self.kernels[function] = module, symbol
        return function

    # Launches

    def launch(self, function: int, grid: Triple, block: Triple, lds: int, stream: int, kernarg: bytes) -> None:
        if self._recordings:
            self._timed(
                lambda: self._start(function, grid, block, lds, stream, kernarg),
                function, grid, block, lds, stream, kernarg, (),
            )  # fmt: skip
        else:
            super().launch(function, grid, block, lds, stream, kernarg)

    def launch_cooperative(
        self, function: int, grid: Triple, block: Triple, lds: int, stream: int, kernarg: bytes, offsets: Sequence[int]
    ) -> None:
        if self._recordings:
            self._timed(
                lambda: self._start_cooperative(function, grid, block, lds, stream, kernarg, offsets),
                function, grid, block, lds, stream, kernarg, offsets,
            )  # fmt: skip
        else:
            super().launch_cooperative(function, grid, block, lds, stream, kernarg, offsets)

    def _timed(
        self, start: Callable[[], int], function: int, grid: Triple, block: Triple, lds: int, stream: int,
        kernarg: bytes, offsets: Sequence[int],
    ) -> None:  # fmt: skip
        def begin() -> None:
            code = start()
            if code:
                self._launch_failed(code, grid, block, lds)

        self._recordings.launch(begin, function, grid, block, lds, stream, kernarg, offsets)

    def record(self, sink: Sink, profile: bool, counters: Sequence[str] | None) -> AbstractContextManager[Activities]:
        return self._recordings.open(sink, counters)

    def check_counters(self, names: Sequence[str], arch: str) -> None:
        for name in names:
            metrics.find(name, arch)
            if name in metrics.OF_COSTS:
                raise CounterNotFound(
                    f"a real GPU cannot give {name}.",
                    why="it comes from costs by instruction, which only virtual devices record.",
                    hint=f'profile the kernel on gpulab.use("virtual:{arch}").',
                )
