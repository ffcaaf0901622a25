"""Repeats saved launches: ``python -m gpulab.hip.replay LIBRARY FOLDER...``, the process that rocprofv3 wraps.

Each folder is a `snapshot`. The process loads the code object, allocates and fills the memory, launches the kernel once
and waits; nothing else runs on the device but copies. LIBRARY is the path of ROCm's libamdhip64, or "virtual".
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpulab.errors import GpulabError, ProfilerError
from gpulab.hip import snapshot

if TYPE_CHECKING:
    from gpulab.hip.binding import Binding

_TO_DEVICE = 1  # hipMemcpyKind


def binding(library: str) -> Binding:
    """The calls of a HIP library, by its path or "virtual"."""
    from gpulab.hip.binding import CtypesBinding
    from gpulab.virtual_gpu import abi

    if library == "virtual":
        return CtypesBinding(str(abi.library("amdhip64")), abi.PROPERTIES, in_process=True)
    return CtypesBinding(library, abi.PROPERTIES)


def replay(hip: Binding, launch: snapshot.Snapshot) -> None:
    """Launch a saved kernel once, with copies of its memory, and wait for it.

    Raises:
        ProfilerError: a call failed.
    """

    def call(name: str, *arguments: Any) -> tuple[Any, ...]:
        code, *outputs = hip.call(name, *arguments)
        if code:
            text = ": ".join(hip.error_text(code))
            raise ProfilerError(f"{name} failed while {launch.symbol} was repeated ({text}).")
        return tuple(outputs)

    call("hipSetDevice", launch.device)
    image = ctypes.create_string_buffer(launch.elf)
    module = call("hipModuleLoadData", ctypes.addressof(image))[0]
    copies: dict[int, int] = {}
    try:
        function = call("hipModuleGetFunction", module, launch.symbol.encode())[0]
        for address, size in launch.allocations.items():
            copies[address] = call("hipMalloc", size)[0]
        for address, copy in copies.items():
            _fill(call, copy, snapshot.relocated(launch.contents(address), launch.allocations, copies))
        for symbol in launch.variables:
            target, _ = call("hipModuleGetGlobal", module, symbol.encode())
            _fill(call, target, snapshot.relocated(launch.variable(symbol), launch.allocations, copies))
        kernarg = snapshot.relocated(launch.kernarg, launch.allocations, copies)
        _launch(hip, call, launch, function, bytes(kernarg))
        call("hipDeviceSynchronize")
    finally:
        for copy in copies.values():
            hip.call("hipFree", copy)
        hip.call("hipModuleUnload", module)


def _fill(call: Any, target: int, contents: bytearray) -> None:
    if contents:
        held = (ctypes.c_char * len(contents)).from_buffer(contents)
        call("hipMemcpy", target, ctypes.addressof(held), len(contents), _TO_DEVICE)


def _launch(hip: Binding, call: Any, launch: snapshot.Snapshot, function: int, kernarg: bytes) -> None:
    held = ctypes.create_string_buffer(kernarg, max(len(kernarg), 1))
    start = ctypes.addressof(held)
    if launch.offsets:
        parameters = (ctypes.c_void_p * len(launch.offsets))(*(start + offset for offset in launch.offsets))
        call(
            "hipModuleLaunchCooperativeKernel", function, *launch.grid, *launch.block, launch.lds_bytes, 0,
            ctypes.addressof(parameters),
        )  # fmt: skip
        return
    size = ctypes.c_size_t(len(kernarg))
    extra = (ctypes.c_void_p * 5)(1, start, 2, ctypes.addressof(size), 3)
    code = hip.launch(function, launch.grid, launch.block, launch.lds_bytes, 0, ctypes.addressof(extra))
    if code:
        raise ProfilerError(f"{launch.symbol} could not be launched again ({': '.join(hip.error_text(code))}).")


def main(arguments: Sequence[str]) -> int:
    """Repeat the launches of all folders in order; 1 if one fails, with the reason on standard error."""
    if len(arguments) < 2:
        print("usage: python -m gpulab.hip.replay LIBRARY FOLDER...", file=sys.stderr)
        return 2
    try:
        hip = binding(arguments[0])
        for folder in arguments[1:]:
            replay(hip, snapshot.load(Path(folder)))
    except GpulabError as error:
        print(f"gpulab: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
