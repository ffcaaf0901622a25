"""HIP's calls on modules, kernels, launches and occupancy."""

from __future__ import annotations

import ctypes

from gpulab.virtual_gpu.abi.common import need, put32, put64, rt, text
from gpulab.virtual_gpu.runtime import codes
from gpulab.virtual_gpu.runtime.codes import Failure
from gpulab.virtual_gpu.runtime.modules import image_at
from gpulab.virtual_gpu.runtime.structures import FunctionAttributes, LaunchConfiguration

_modules, _streams = rt.modules, rt.streams
_functions = _modules.functions


# Modules


def hipModuleLoadData(module: int, image: int) -> int:
    need(module, image)
    put64(module, _modules.load(image_at(image)).handle)
    return 0


def hipModuleLoadDataEx(module: int, image: int, count: int, options: int, values: int) -> int:
    return hipModuleLoadData(module, image)


def hipModuleLoadFatBinary(module: int, image: int) -> int:
    return hipModuleLoadData(module, image)


def hipModuleLoad(module: int, path: int) -> int:
    need(module)
    name = text(path)
    try:
        with open(name, "rb") as file:
            image = file.read()
    except OSError as error:
        raise Failure(codes.FILE_NOT_FOUND, f"{name}: {error.strerror or error}") from error
    put64(module, _modules.load(image).handle)
    return 0


def hipModuleUnload(module: int) -> int:
    _modules.unload(module)
    return 0


def hipModuleGetFunction(function: int, module: int, name: int) -> int:
    need(function, name)
    put64(function, _modules.function(module, text(name)).handle)
    return 0


def hipModuleGetFunctionCount(count: int, module: int) -> int:
    need(count)
    put32(count, len(_modules.kernel_names(module)))
    return 0


def hipModuleGetGlobal(address: int, size: int, module: int, name: int) -> int:
    need(name)
    found, length = _modules.global_variable(module, text(name))
    if address:
        put64(address, found)
    if size:
        put64(size, length)
    return 0


def _no_symbol(*_: int) -> int:
    # Symbols of host programs: there are none, as no host program is linked with device code here.
    return codes.INVALID_SYMBOL


def hipGetSymbolAddress(address: int, symbol: int) -> int:
    return _no_symbol()


def hipGetSymbolSize(size: int, symbol: int) -> int:
    return _no_symbol()


def hipMemcpyToSymbol(symbol: int, source: int, size: int, offset: int, kind: int) -> int:
    return _no_symbol()


def hipMemcpyToSymbolAsync(symbol: int, source: int, size: int, offset: int, kind: int, stream: int) -> int:
    return _no_symbol()


def hipMemcpyFromSymbol(target: int, symbol: int, size: int, offset: int, kind: int) -> int:
    return _no_symbol()


def hipMemcpyFromSymbolAsync(target: int, symbol: int, size: int, offset: int, kind: int, stream: int) -> int:
    return _no_symbol()


# Kernels


def hipFuncGetAttribute(value: int, attribute: int, function: int) -> int:
    need(value)
    put32(value, _modules.attribute(function, attribute))
    return 0


def hipFuncGetAttributes(attributes: int, function: int) -> int:
    need(attributes)
    if function not in _functions:
        return codes.INVALID_DEVICE_FUNCTION
    result = FunctionAttributes.from_address(attributes)
    for name, number in (
        ("maxThreadsPerBlock", 0),
        ("sharedSizeBytes", 1),
        ("constSizeBytes", 2),
        ("localSizeBytes", 3),
        ("numRegs", 4),
        ("ptxVersion", 5),
        ("binaryVersion", 6),
        ("cacheModeCA", 7),
        ("maxDynamicSharedSizeBytes", 8),
        ("preferredShmemCarveout", 9),
    ):
        setattr(result, name, _modules.attribute(function, number))
    return 0


def hipFuncSetAttribute(function: int, attribute: int, value: int) -> int:
    if function not in _functions:
        return codes.INVALID_DEVICE_FUNCTION
    # The dynamic LDS size may be set up to what the device has, which is allowed without asking, too.
    if attribute == 8 and not 0 <= value <= _functions[function].max_dynamic_lds:
        return codes.INVALID_VALUE
    return 0 if attribute in (8, 9) else codes.INVALID_VALUE


def hipFuncSetCacheConfig(function: int, configuration: int) -> int:
    return 0 if 0 <= configuration <= 3 else codes.INVALID_VALUE


def hipFuncSetSharedMemConfig(function: int, configuration: int) -> int:
    return 0 if 0 <= configuration <= 2 else codes.INVALID_VALUE


def hipKernelNameRef(function: int) -> int:
    found = _functions.get(function)
    return ctypes.addressof(found.name_buffer) if found is not None else 0


# Launches


def hipModuleLaunchKernel(
    function: int,
    gx: int,
    gy: int,
    gz: int,
    bx: int,
    by: int,
    bz: int,
    lds: int,
    stream: int,
    parameters: int,
    extra: int,
) -> int:
    found = _functions.get(function)
    if found is None:
        return codes.INVALID_HANDLE
    if extra:
        if parameters:
            return codes.INVALID_VALUE
        kernarg = _modules.unpack_extra(found, extra)
    else:
        kernarg = _modules.pack(found, parameters)
    # The null stream of a launch is that of the kernel's own device.
    where = _streams.find(stream, codes.INVALID_VALUE) if stream else found.device.null_stream
    _modules.launch(found, (gx, gy, gz), (bx, by, bz), lds, where, kernarg)
    return 0


def hipExtModuleLaunchKernel(
    function: int,
    x: int,
    y: int,
    z: int,
    bx: int,
    by: int,
    bz: int,
    lds: int,
    stream: int,
    parameters: int,
    extra: int,
    start: int,
    stop: int,
    flags: int,
) -> int:
    """The same with the grid in threads; it must be whole blocks here."""
    if not bx or not by or not bz or x % bx or y % by or z % bz:
        return codes.INVALID_CONFIGURATION
    found = _functions.get(function)
    if found is None:
        return codes.INVALID_HANDLE
    where = _streams.find(stream, codes.INVALID_VALUE) if stream else found.device.null_stream
    before = _streams.find_event(start) if start else None
    after = _streams.find_event(stop) if stop else None
    if before is not None:
        _streams.record(before, where)
    code = hipModuleLaunchKernel(function, x // bx, y // by, z // bz, bx, by, bz, lds, stream, parameters, extra)
    if after is not None and not code:
        _streams.record(after, where)
    return code


def hipHccModuleLaunchKernel(
    function: int,
    x: int,
    y: int,
    z: int,
    bx: int,
    by: int,
    bz: int,
    lds: int,
    stream: int,
    parameters: int,
    extra: int,
    start: int,
    stop: int,
) -> int:
    return hipExtModuleLaunchKernel(function, x, y, z, bx, by, bz, lds, stream, parameters, extra, start, stop, 0)


def hipDrvLaunchKernelEx(configuration: int, function: int, parameters: int, extra: int) -> int:
    need(configuration)
    c = LaunchConfiguration.from_address(configuration)
    if c.numAttrs:
        raise Failure(codes.NOT_SUPPORTED, "launch attributes are not supported")
    return hipModuleLaunchKernel(
        function,
        c.gridDimX,
        c.gridDimY,
        c.gridDimZ,
        c.blockDimX,
        c.blockDimY,
        c.blockDimZ,
        c.sharedMemBytes,
        c.hStream or 0,
        parameters,
        extra,
    )


# Occupancy


def hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(blocks: int, function: int, threads: int, lds: int) -> int:
    need(blocks)
    put32(blocks, _modules.occupancy(function, threads, lds))
    return 0


def hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    blocks: int, function: int, threads: int, lds: int, flags: int
) -> int:
    if flags & ~1:
        return codes.INVALID_VALUE
    return hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, lds)


def hipModuleOccupancyMaxPotentialBlockSize(grid: int, block: int, function: int, lds: int, limit: int) -> int:
    need(grid, block)
    blocks, threads = _modules.best_block(function, lds, limit)
    put32(grid, blocks)
    put32(block, threads)
    return 0


def hipModuleOccupancyMaxPotentialBlockSizeWithFlags(
    grid: int, block: int, function: int, lds: int, limit: int, flags: int
) -> int:
    if flags & ~1:
        return codes.INVALID_VALUE
    return hipModuleOccupancyMaxPotentialBlockSize(grid, block, function, lds, limit)


def _host_function(function: int) -> None:
    # These take the host address of a kernel in a linked program; a handle from hipModuleGetFunction serves.
    if function not in _functions:
        raise Failure(codes.INVALID_DEVICE_FUNCTION)


def hipOccupancyMaxActiveBlocksPerMultiprocessor(blocks: int, function: int, threads: int, lds: int) -> int:
    _host_function(function)
    return hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, lds)


def hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    blocks: int, function: int, threads: int, lds: int, flags: int
) -> int:
    _host_function(function)
    return hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, lds, flags)


def hipOccupancyMaxPotentialBlockSize(grid: int, block: int, function: int, lds: int, limit: int) -> int:
    _host_function(function)
    return hipModuleOccupancyMaxPotentialBlockSize(grid, block, function, lds, limit)


def hipOccupancyAvailableDynamicSMemPerBlock(size: int, function: int, blocks: int, threads: int) -> int:
    need(size)
    _host_function(function)
    put64(size, _modules.dynamic_lds_left(function, blocks, threads))
    return 0
