"""HIP's calls on modules, kernels, launches and occupancy."""

from __future__ import annotations

import ctypes
import struct

from gpulab.virtual_gpu.libraries.hip import memory
from gpulab.virtual_gpu.libraries.values import need, put32, put64, rt, text
from gpulab.virtual_gpu.runtime import codes
from gpulab.virtual_gpu.runtime.codes import Failure
from gpulab.virtual_gpu.runtime.images import image_at
from gpulab.virtual_gpu.runtime.modules import Triple
from gpulab.virtual_gpu.runtime.structures import (
    ATTRIBUTE_COOPERATIVE,
    FunctionAttributes,
    LaunchAttribute,
    LaunchConfiguration,
    LaunchConfigurationEx,
)

_modules, _streams = rt.modules, rt.streams
_functions, _linked = _modules.functions, rt.linked


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
    found, length = _modules.global_variable(module, text(name))
    if address:
        put64(address, found)
    if size:
        put64(size, length)
    return 0


def hipGetSymbolAddress(address: int, symbol: int) -> int:
    need(address)
    put64(address, _linked.variable(symbol)[0])
    return 0


def hipGetSymbolSize(size: int, symbol: int) -> int:
    need(size)
    put64(size, _linked.variable(symbol)[1])
    return 0


def symbol_bytes(symbol: int, size: int, offset: int) -> int:
    """The address of `size` bytes of a variable from `offset` on."""
    address, length = _linked.variable(symbol)
    if offset + size > length:
        raise Failure(
            codes.INVALID_VALUE, f"{size:,} bytes from byte {offset:,} on go past the variable's {length:,} bytes"
        )
    return address + offset


def hipMemcpyToSymbol(symbol: int, source: int, size: int, offset: int, kind: int) -> int:
    return memory.hipMemcpy(symbol_bytes(symbol, size, offset), source, size, kind)


def hipMemcpyToSymbolAsync(symbol: int, source: int, size: int, offset: int, kind: int, stream: int) -> int:
    return memory.hipMemcpyAsync(symbol_bytes(symbol, size, offset), source, size, kind, stream)


def hipMemcpyFromSymbol(target: int, symbol: int, size: int, offset: int, kind: int) -> int:
    return memory.hipMemcpy(target, symbol_bytes(symbol, size, offset), size, kind)


def hipMemcpyFromSymbolAsync(target: int, symbol: int, size: int, offset: int, kind: int, stream: int) -> int:
    return memory.hipMemcpyAsync(target, symbol_bytes(symbol, size, offset), size, kind, stream)


# What a host program compiled by Clang registers before main: its device code, and an address of its own for each
# kernel and each variable.


def __hipRegisterFatBinary(wrapper: int) -> int:
    try:
        need(wrapper)
        return _linked.register(wrapper)
    except Failure:
        return 0


def __hipUnregisterFatBinary(handle: int) -> int:
    _linked.unregister(handle)
    return 0


def __hipRegisterFunction(
    handle: int,
    function: int,
    device_function: int,
    name: int,
    thread_limit: int,
    thread: int,
    block: int,
    block_size: int,
    grid_size: int,
    wave_size: int,
) -> int:
    _linked.add_kernel(handle, function, text(name))
    return 0


def __hipRegisterVar(
    handle: int, variable: int, host_name: int, name: int, external: int, size: int, constant: int, everywhere: int
) -> int:
    _linked.add_variable(handle, variable, text(name))
    return 0


def __hipRegisterTexture(
    handle: int, variable: int, host_name: int, name: int, shape: int, normalized: int, external: int
) -> int:
    """A texture reference (texture<...>): a variable of the device whose object hipBindTexture fills in."""
    _linked.add_variable(handle, variable, text(name))
    return 0


def __hipRegisterManagedVar(handle: int, pointer: int, initial: int, name: int, size: int, alignment: int) -> int:
    need(pointer)
    _linked.add_managed(handle, pointer, initial, text(name), size)
    return 0


# Kernels


def hipFuncGetAttribute(value: int, attribute: int, function: int) -> int:
    need(value)
    put32(value, _modules.attribute(function, attribute))
    return 0


def hipFuncGetAttributes(attributes: int, function: int) -> int:
    need(attributes)
    function = host_function(function)
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


def hipGetFuncBySymbol(result: int, function: int) -> int:
    need(result)
    put64(result, host_function(function))
    return 0


def hipFuncSetAttribute(function: int, attribute: int, value: int) -> int:
    function = host_function(function)
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


def hipKernelNameRefByPtr(function: int, stream: int) -> int:
    return hipKernelNameRef(host_function(function)) if function else 0


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
    return launch_function(function, (gx, gy, gz), (bx, by, bz), lds, stream, parameters, extra)


def launch_function(
    function: int,
    grid: Triple,
    block: Triple,
    lds: int,
    stream: int,
    parameters: int,
    extra: int = 0,
    cooperative: bool = False,
    symbol: int = 0,
) -> int:
    """Launch a kernel; `symbol` is its address in the host program, if it has one."""
    found = _functions.get(function) or _modules.find_function(function)
    if extra:
        if parameters:
            return codes.INVALID_VALUE
        kernarg = _modules.unpack_extra(found, extra)
    else:
        kernarg = _modules.pack(found, parameters)
    # The null stream of a launch is that of the kernel's own device.
    where = _streams.find(stream, codes.INVALID_VALUE) if stream else found.device.null_stream
    _modules.launch(found, grid, block, lds, where, kernarg, cooperative=cooperative, symbol=symbol)
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
    found = _functions.get(function) or _modules.find_function(function)
    where = _streams.find(stream, codes.INVALID_VALUE) if stream else found.device.null_stream
    before = _streams.find_event(start) if start else None
    after = _streams.find_event(stop) if stop else None
    # In a capture both events are recorded when the graph runs.
    if before is not None:
        _streams.record(before, where, external=True)
    code = hipModuleLaunchKernel(function, x // bx, y // by, z // bz, bx, by, bz, lds, stream, parameters, extra)
    if after is not None and not code:
        _streams.record(after, where, external=True)
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


def hipModuleLaunchCooperativeKernel(
    function: int, gx: int, gy: int, gz: int, bx: int, by: int, bz: int, lds: int, stream: int, parameters: int
) -> int:
    return launch_function(function, (gx, gy, gz), (bx, by, bz), lds, stream, parameters, cooperative=True)


def hipModuleLaunchCooperativeKernelMultiDevice(launches: int, count: int, flags: int) -> int:
    # What AMD's runtime returns on a device whose property cooperativeMultiDeviceLaunch is 0, as it is here.
    need(launches)
    raise Failure(codes.LAUNCH_FAILURE, "a virtual device takes no part in a launch on several devices")


def hipLaunchCooperativeKernelMultiDevice(launches: int, count: int, flags: int) -> int:
    return hipModuleLaunchCooperativeKernelMultiDevice(launches, count, flags)


def hipExtLaunchMultiKernelMultiDevice(launches: int, count: int, flags: int) -> int:
    return hipModuleLaunchCooperativeKernelMultiDevice(launches, count, flags)


# The launches of host programs: `function` is the host address of a kernel in a linked program; a handle from
# hipModuleGetFunction serves, too.


def hipLaunchKernel(function: int, grid: int, block: int, parameters: int, lds: int, stream: int) -> int:
    return launch_function(host_function(function), dim3(grid), dim3(block), lds, stream, parameters, symbol=function)


def hipExtLaunchKernel(
    function: int,
    grid: int,
    block: int,
    parameters: int,
    lds: int,
    stream: int,
    start: int,
    stop: int,
    flags: int,
) -> int:
    function = host_function(function)
    (gx, gy, gz), (bx, by, bz) = dim3(grid), dim3(block)
    return hipExtModuleLaunchKernel(
        function, gx * bx, gy * by, gz * bz, bx, by, bz, lds, stream, parameters, 0, start, stop, flags
    )


def hipLaunchCooperativeKernel(function: int, grid: int, block: int, parameters: int, lds: int, stream: int) -> int:
    found = host_function(function)
    return launch_function(found, dim3(grid), dim3(block), lds, stream, parameters, cooperative=True, symbol=function)


def hipLaunchKernelExC(configuration: int, function: int, parameters: int) -> int:
    need(configuration)
    found = host_function(function)
    c = LaunchConfigurationEx.from_address(configuration)
    cooperative = _cooperative_attribute(c.attrs or 0, c.numAttrs)
    (gx, gy, gz), (bx, by, bz) = c.gridDim, c.blockDim
    return launch_function(
        found, (gx, gy, gz), (bx, by, bz), c.dynamicSmemBytes, c.stream or 0, parameters,
        cooperative=cooperative, symbol=function,
    )  # fmt: skip


def hipDrvLaunchKernelEx(configuration: int, function: int, parameters: int, extra: int) -> int:
    need(configuration)
    c = LaunchConfiguration.from_address(configuration)
    if _cooperative_attribute(c.attrs or 0, c.numAttrs):
        if extra:
            raise Failure(codes.INVALID_VALUE, "a cooperative launch takes its arguments as kernelParams")
        return hipModuleLaunchCooperativeKernel(
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
        )
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


_DIM3 = struct.Struct("=3I")


def dim3(address: int) -> Triple:
    """A dim3 passed by value."""
    x, y, z = _DIM3.unpack(ctypes.string_at(address, 12))
    return x, y, z


def _cooperative_attribute(attributes: int, count: int) -> bool:
    """Whether launch attributes ask for a cooperative launch; others than that are refused."""
    if count and not attributes:
        raise Failure(codes.INVALID_VALUE, "launch attributes are counted, but there is no address of them")
    cooperative = False
    for attribute in (LaunchAttribute * count).from_address(attributes) if count else ():
        if attribute.id != ATTRIBUTE_COOPERATIVE:
            raise Failure(codes.NOT_SUPPORTED, f"the launch attribute {attribute.id} is not supported")
        cooperative = bool(int.from_bytes(bytes(attribute.value)[:4], "little"))
    return cooperative


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


def host_function(function: int) -> int:
    """The handle for the host address of a kernel in a linked program; a handle is returned as it is.

    Raises:
        Failure: hipErrorInvalidDeviceFunction: it is neither.
    """
    if function in _functions:
        return function
    return _linked.function(function).handle


def hipOccupancyMaxActiveBlocksPerMultiprocessor(blocks: int, function: int, threads: int, lds: int) -> int:
    function = host_function(function)
    return hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, lds)


def hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    blocks: int, function: int, threads: int, lds: int, flags: int
) -> int:
    function = host_function(function)
    return hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, lds, flags)


def hipOccupancyMaxPotentialBlockSize(grid: int, block: int, function: int, lds: int, limit: int) -> int:
    function = host_function(function)
    return hipModuleOccupancyMaxPotentialBlockSize(grid, block, function, lds, limit)


def hipOccupancyAvailableDynamicSMemPerBlock(size: int, function: int, blocks: int, threads: int) -> int:
    need(size)
    function = host_function(function)
    put64(size, _modules.dynamic_lds_left(function, blocks, threads))
    return 0
