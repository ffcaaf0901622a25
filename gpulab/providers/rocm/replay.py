"""Repeats saved launches: ``python -m gpulab.providers.rocm.replay LIBRARY FOLDER...``, which rocprofv3 wraps.

Each folder is a `snapshot`. The process loads the code object, allocates and fills the memory, launches the kernel once
and waits; nothing else runs on the device but copies. LIBRARY is the path of a HIP library.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from gpulab.errors import GpulabError, ProfilerError
from gpulab.providers.hip.binding import Binding
from gpulab.providers.hip.provider import HipProvider
from gpulab.providers.rocm import snapshot


class _Repeated(HipProvider):
    """The calls of a HIP library, whose errors name the launch that is repeated."""

    name = "rocm"
    virtual = False

    def __init__(self, binding: Binding, symbol: str) -> None:
        super().__init__(binding)
        self._symbol = symbol

    def fail(self, code: int, call: str) -> NoReturn:
        text = ": ".join(self.binding.error_text(code))
        raise ProfilerError(f"{call} failed while {self._symbol} was repeated ({text}).")


def replay(binding: Binding, launch: snapshot.Snapshot) -> None:
    """Launch a saved kernel once, with copies of its memory, and wait for it.

    Raises:
        ProfilerError: a call failed.
    """
    hip = _Repeated(binding, launch.symbol)
    hip.select(launch.device)
    module = hip.load(launch.elf)
    copies: dict[int, int] = {}
    try:
        function = hip.function(module, launch.symbol)
        for address, size in launch.allocations.items():
            copies[address] = hip.malloc(size)
        for address, copy in copies.items():
            _fill(hip, copy, snapshot.relocated(launch.contents(address), launch.allocations, copies))
        for symbol in launch.variables:
            target, _ = hip.variable(module, symbol)
            _fill(hip, target, snapshot.relocated(launch.variable(symbol), launch.allocations, copies))
        kernarg = bytes(snapshot.relocated(launch.kernarg, launch.allocations, copies))
        sizes = (function, launch.grid, launch.block, launch.lds_bytes, 0, kernarg)
        if launch.offsets:
            hip.launch_cooperative(*sizes, launch.offsets)
        else:
            hip.launch(*sizes)
        hip.synchronize()
    finally:
        for copy in copies.values():
            binding.call("hipFree", copy)
        binding.call("hipModuleUnload", module)


def _fill(hip: HipProvider, target: int, contents: bytearray) -> None:
    if contents:
        held = (ctypes.c_char * len(contents)).from_buffer(contents)
        hip.copy_to_device(target, ctypes.addressof(held), len(contents))


def main(arguments: Sequence[str]) -> int:
    """Repeat the launches of all folders in order; 1 if one fails, with the reason on standard error."""
    from gpulab.providers.hip import library

    if len(arguments) < 2:
        print("usage: python -m gpulab.providers.rocm.replay LIBRARY FOLDER...", file=sys.stderr)
        return 2
    try:
        binding = library.through_ctypes(arguments[0])
        for folder in arguments[1:]:
            replay(binding, snapshot.load(Path(folder)))
    except GpulabError as error:
        print(f"gpulab: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
