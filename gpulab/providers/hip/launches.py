"""Launches of a HIP library, and the errors for those that it refuses."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import NoReturn

from gpulab.errors import LaunchLimitError
from gpulab.providers.hip.calls import (
    COOPERATIVE_LAUNCH_TOO_LARGE,
    INVALID_CONFIGURATION,
    INVALID_VALUE,
    LAUNCH_FAILURE,
    LAUNCH_OUT_OF_RESOURCES,
)
from gpulab.providers.hip.devices import Devices
from gpulab.providers.provider import Triple

# The end of the list, and what stands before the kernel's arguments and before their size (hip_runtime_api.h).
_END, _POINTER, _SIZE = 3, 1, 2
_EXTRA = ctypes.c_void_p * 5


class Launches(Devices):
    """The calls for launches."""

    def launch(self, function: int, grid: Triple, block: Triple, lds: int, stream: int, kernarg: bytes) -> None:
        code = self._start(function, grid, block, lds, stream, kernarg)
        if code:
            self._launch_failed(code, grid, block, lds)

    def launch_cooperative(
        self, function: int, grid: Triple, block: Triple, lds: int, stream: int, kernarg: bytes, offsets: Sequence[int]
    ) -> None:
        code = self._start_cooperative(function, grid, block, lds, stream, kernarg, offsets)
        if code:
            self._launch_failed(code, grid, block, lds)

    def _start(self, function: int, grid: Triple, block: Triple, lds: int, stream: int, kernarg: bytes) -> int:
        """A launch with its arguments as one packed buffer: the code."""
        size = ctypes.c_size_t(len(kernarg))
        pointer = ctypes.c_void_p.from_buffer(ctypes.c_char_p(kernarg))
        extra = _EXTRA(_POINTER, pointer.value, _SIZE, ctypes.addressof(size), _END)
        return self.binding.launch(function, grid, block, lds, stream, ctypes.addressof(extra))

    def _start_cooperative(
        self, function: int, grid: Triple, block: Triple, lds: int, stream: int, kernarg: bytes, offsets: Sequence[int]
    ) -> int:
        held = ctypes.create_string_buffer(kernarg, max(len(kernarg), 1))
        parameters = (ctypes.c_void_p * max(len(offsets), 1))(*(ctypes.addressof(held) + offset for offset in offsets))
        return self.binding.call(
            "hipModuleLaunchCooperativeKernel", function, *grid, *block, lds, stream, ctypes.addressof(parameters)
        )[0]

    def _launch_failed(self, code: int, grid: Triple, block: Triple, lds: int) -> NoReturn:
        if code == COOPERATIVE_LAUNCH_TOO_LARGE:
            self._forget_error()
            cause = self._cause(0)
            raise LaunchLimitError(
                f"The cooperative launch was refused: a grid of {_sizes(grid)} blocks of {_sizes(block)} threads does "
                "not fit on the device at the same time.",
                why=f"{cause}"
                if cause is not None
                else "all blocks of a cooperative launch have to run at the same time.",
                hint="use at most kernel.occupancy(block).blocks times the device's compute units, and let each thread "
                "do several elements: for (i = grid.thread_rank(); i < n; i += grid.size()).",
            )
        if code in (INVALID_VALUE, INVALID_CONFIGURATION, LAUNCH_OUT_OF_RESOURCES, LAUNCH_FAILURE):
            device = self.devices()[self.current()]
            limits = device.limits
            threads = block[0] * block[1] * block[2]
            self._forget_error()
            cause = self._cause(0)
            raise LaunchLimitError(
                f"The launch was refused: grid {_sizes(grid)}, block {_sizes(block)} ({threads:,} threads), "
                f"{lds:,} bytes of dynamic shared memory.",
                why=f"{cause}"
                if cause is not None
                else (
                    f"{device.name} allows at most {limits.block_threads:,} threads and {limits.lds_bytes:,} bytes of "
                    f"shared memory per block, at least 1 in each direction, and a grid of at most "
                    f"{_sizes(limits.grid)} blocks."
                ),
                hint="use a smaller block (256 is a good start) and more blocks.",
            )
        self.fail(code, "hipModuleLaunchKernel")


def _sizes(values: Sequence[int]) -> str:
    return "(" + ", ".join(f"{value:,}" for value in values) + ")"
