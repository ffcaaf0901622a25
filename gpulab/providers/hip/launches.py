"""Launches of a HIP library, and the errors for those that it refuses."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import NoReturn

from gpulab.errors import LaunchLimitError
from gpulab.providers.hip.binding import Binding
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
_EXTRA = struct.Struct("5Q")
_ROOM = 4096  # bytes: more arguments HIP does not take


class _Packed:
    """Memory for the arguments of a launch: the list that HIP takes (at `address`), their size, and they themselves.

    HIP has copied them when the launch returns.
    """

    def __init__(self, room: int) -> None:
        self._buffer = ctypes.create_string_buffer(_EXTRA.size + 8 + room)
        self.address = at = ctypes.addressof(self._buffer)
        size = at + _EXTRA.size
        _EXTRA.pack_into(self._buffer, 0, _POINTER, size + 8, _SIZE, size, _END)

    def fill(self, kernarg: bytes) -> None:
        struct.pack_into(f"Q{len(kernarg)}s", self._buffer, _EXTRA.size, len(kernarg), kernarg)


class Launches(Devices):
    """The calls for launches."""

    def __init__(self, binding: Binding) -> None:
        super().__init__(binding)
        self._packed: list[_Packed] = []  # that no thread uses now

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
        free = self._packed
        try:
            packed = free.pop() if len(kernarg) <= _ROOM else _Packed(len(kernarg))
        except IndexError:
            packed = _Packed(_ROOM)
        packed.fill(kernarg)
        code = self.binding.launch(function, grid, block, lds, stream, packed.address)
        if len(kernarg) <= _ROOM:
            free.append(packed)
        return code

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
            sizes = (*block, threads, lds, *grid)
            most = (*limits.block, limits.block_threads, limits.lds_bytes, *limits.grid)
            too_large = any(given > limit for given, limit in zip(sizes, most, strict=True)) or 0 in (*block, *grid)
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
                hint="use a smaller block (256 is a good start) and more blocks." if too_large or cause is None else "",
            )
        self.fail(code, "hipModuleLaunchKernel")


def _sizes(values: Sequence[int]) -> str:
    return "(" + ", ".join(f"{value:,}" for value in values) + ")"
