"""The variants of HIP's calls for the per-thread default stream, whose names end in _spt.

Where the plain call takes a stream, NULL means the calling thread's own stream (hipStreamPerThread) here; calls
without a stream wait for their work in both variants.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable

from gpulab.virtual_gpu.libraries.hip import capture, graphs, kernels, memory, modules, streams, textures
from gpulab.virtual_gpu.libraries.library import Call
from gpulab.virtual_gpu.runtime.streams import PER_THREAD


def _variant(function: Callable[..., int]) -> Call:  # type: ignore[explicit-any]  # as many as the call has
    names = list(inspect.signature(function).parameters)
    if "stream" not in names:
        return function
    place = names.index("stream")

    @functools.wraps(function)
    def call(*arguments: float) -> int:
        if arguments[place]:
            return function(*arguments)
        return function(*arguments[:place], PER_THREAD, *arguments[place + 1 :])

    return call


hipMemcpy_spt = _variant(memory.hipMemcpy)
hipMemcpyAsync_spt = _variant(memory.hipMemcpyAsync)
hipMemcpy2D_spt = _variant(memory.hipMemcpy2D)
hipMemcpy2DAsync_spt = _variant(memory.hipMemcpy2DAsync)
hipMemcpy3D_spt = _variant(memory.hipMemcpy3D)
hipMemcpy3DAsync_spt = _variant(memory.hipMemcpy3DAsync)
hipMemcpy2DToArray_spt = _variant(textures.hipMemcpy2DToArray)
hipMemcpy2DToArrayAsync_spt = _variant(textures.hipMemcpy2DToArrayAsync)
hipMemcpy2DFromArray_spt = _variant(textures.hipMemcpy2DFromArray)
hipMemcpy2DFromArrayAsync_spt = _variant(textures.hipMemcpy2DFromArrayAsync)
hipMemcpyFromArray_spt = _variant(textures.hipMemcpyFromArray)
hipMemset_spt = _variant(memory.hipMemset)
hipMemsetAsync_spt = _variant(memory.hipMemsetAsync)
hipMemset2D_spt = _variant(memory.hipMemset2D)
hipMemset2DAsync_spt = _variant(memory.hipMemset2DAsync)
hipMemset3D_spt = _variant(memory.hipMemset3D)
hipMemset3DAsync_spt = _variant(memory.hipMemset3DAsync)
hipGetDriverEntryPoint_spt = _variant(kernels.hipGetDriverEntryPoint)
hipGetProcAddress_spt = _variant(memory.hipGetProcAddress)
hipStreamQuery_spt = _variant(streams.hipStreamQuery)
hipStreamSynchronize_spt = _variant(streams.hipStreamSynchronize)
hipStreamGetPriority_spt = _variant(streams.hipStreamGetPriority)
hipStreamWaitEvent_spt = _variant(streams.hipStreamWaitEvent)
hipStreamGetFlags_spt = _variant(streams.hipStreamGetFlags)
hipStreamAddCallback_spt = _variant(streams.hipStreamAddCallback)
hipStreamBeginCapture_spt = _variant(capture.hipStreamBeginCapture)
hipStreamEndCapture_spt = _variant(capture.hipStreamEndCapture)
hipStreamIsCapturing_spt = _variant(capture.hipStreamIsCapturing)
hipStreamGetCaptureInfo_spt = _variant(capture.hipStreamGetCaptureInfo)
hipStreamGetCaptureInfo_v2_spt = _variant(capture.hipStreamGetCaptureInfo_v2)
hipGraphLaunch_spt = _variant(graphs.hipGraphLaunch)
hipLaunchHostFunc_spt = _variant(streams.hipLaunchHostFunc)
hipEventRecord_spt = _variant(streams.hipEventRecord)
hipMemcpyToSymbol_spt = _variant(modules.hipMemcpyToSymbol)
hipMemcpyToSymbolAsync_spt = _variant(modules.hipMemcpyToSymbolAsync)
hipMemcpyFromSymbol_spt = _variant(modules.hipMemcpyFromSymbol)
hipMemcpyFromSymbolAsync_spt = _variant(modules.hipMemcpyFromSymbolAsync)
hipLaunchKernel_spt = _variant(modules.hipLaunchKernel)
hipLaunchCooperativeKernel_spt = _variant(modules.hipLaunchCooperativeKernel)
