"""The variants of HIP's calls for the per-thread default stream, whose names end in _spt.

Where the plain call takes a stream, NULL means the calling thread's own stream (hipStreamPerThread) here; calls
without a stream wait for their work in both variants.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

from gpulab.virtual_gpu.abi import calls_memory, calls_module, calls_stream
from gpulab.virtual_gpu.runtime.streams import PER_THREAD


def _variant(function: Callable[..., int]) -> Callable[..., int]:
    names = list(inspect.signature(function).parameters)
    if "stream" not in names:
        return function
    place = names.index("stream")

    def call(*arguments: int) -> int:
        if arguments[place]:
            return function(*arguments)
        return function(*arguments[:place], PER_THREAD, *arguments[place + 1 :])

    return call


for _module, _names in (
    (
        calls_memory,
        "hipMemcpy hipMemcpyAsync hipMemcpy2D hipMemcpy2DAsync hipMemcpy3D hipMemcpy3DAsync hipMemset hipMemsetAsync "
        "hipMemset2D hipMemset2DAsync hipMemset3D hipMemset3DAsync hipGetProcAddress",
    ),
    (
        calls_stream,
        "hipStreamQuery hipStreamSynchronize hipStreamGetPriority hipStreamWaitEvent hipStreamGetFlags "
        "hipStreamAddCallback hipStreamIsCapturing hipLaunchHostFunc hipEventRecord",
    ),
    (
        calls_module,
        "hipMemcpyToSymbol hipMemcpyToSymbolAsync hipMemcpyFromSymbol hipMemcpyFromSymbolAsync hipLaunchKernel "
        "hipLaunchCooperativeKernel",
    ),
):
    for _name in _names.split():
        globals()[f"{_name}_spt"] = _variant(getattr(_module, _name))
