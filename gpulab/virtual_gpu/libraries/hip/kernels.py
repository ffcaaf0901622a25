"""HIP's calls on libraries of kernels (hipLibrary*, hipKernel*), and launches in the manner of before <<<>>>.

A library here is a module of the device that was current when it was loaded, and a kernel is one of its functions.
"""

from __future__ import annotations

import ctypes
import threading
from dataclasses import dataclass

from gpulab.virtual_gpu.libraries.hip import memory, modules
from gpulab.virtual_gpu.libraries.values import need, put32, put64, rt, text
from gpulab.virtual_gpu.runtime import codes
from gpulab.virtual_gpu.runtime.codes import Failure
from gpulab.virtual_gpu.runtime.modules import Triple

_modules = rt.modules


# Libraries


def hipLibraryLoadData(
    library: int, code: int, options: int, values: int, count: int, others: int, other_values: int, other_count: int
) -> int:
    return modules.hipModuleLoadData(library, code)


def hipLibraryLoadFromFile(
    library: int, path: int, options: int, values: int, count: int, others: int, other_values: int, other_count: int
) -> int:
    return modules.hipModuleLoad(library, path)


def hipLibraryUnload(library: int) -> int:
    return modules.hipModuleUnload(library)


def hipLibraryGetKernel(kernel: int, library: int, name: int) -> int:
    return modules.hipModuleGetFunction(kernel, library, name)


def hipLibraryGetKernelCount(count: int, library: int) -> int:
    return modules.hipModuleGetFunctionCount(count, library)


def hipLibraryGetGlobal(address: int, size: int, library: int, name: int) -> int:
    return modules.hipModuleGetGlobal(address, size, library, name)


def hipLibraryGetManaged(address: int, size: int, library: int, name: int) -> int:
    if not _modules.is_managed(library, text(name)):
        return codes.NOT_FOUND
    return modules.hipModuleGetGlobal(address, size, library, name)


def hipLibraryEnumerateKernels(kernels: int, count: int, library: int) -> int:
    need(kernels)
    for place, name in enumerate(_modules.kernel_names(library)[:count]):
        put64(kernels + 8 * place, _modules.function(library, name).handle)
    return 0


# Kernels


def hipKernelGetFunction(function: int, kernel: int) -> int:
    need(function)
    put64(function, _modules.find_function(kernel).handle)
    return 0


def hipKernelGetLibrary(library: int, kernel: int) -> int:
    need(library)
    put64(library, _modules.find_function(kernel).module.handle)
    return 0


def hipKernelGetName(name: int, kernel: int) -> int:
    need(name)
    put64(name, ctypes.addressof(_modules.find_function(kernel).name_buffer))
    return 0


def hipKernelGetParamInfo(kernel: int, index: int, offset: int, size: int) -> int:
    arguments = _modules.find_function(kernel).arguments
    need(offset)
    if index >= len(arguments):
        return codes.INVALID_VALUE
    put64(offset, arguments[index][0])
    if size:
        put64(size, arguments[index][1])
    return 0


def hipKernelGetAttribute(value: int, attribute: int, kernel: int, device: int) -> int:
    need(value)
    function = _modules.find_function(kernel)
    if rt.device(device) is not function.device:
        return codes.INVALID_DEVICE
    put32(value, _modules.attribute(kernel, attribute))
    return 0


def hipKernelSetAttribute(attribute: int, value: int, kernel: int, device: int) -> int:
    function = _modules.find_function(kernel)
    if rt.device(device) is not function.device:
        return codes.INVALID_DEVICE
    return modules.hipFuncSetAttribute(kernel, attribute, value)


# hipConfigureCall, hipSetupArgument for each argument, hipLaunchByPtr: what compilers made of a launch before HIP 4


@dataclass
class _Call:
    grid: Triple
    block: Triple
    lds: int
    stream: int
    arguments: bytearray


class _Thread(threading.local):
    def __init__(self) -> None:
        self.calls: list[_Call] = []


_thread = _Thread()
_MOST_ARGUMENT_BYTES = 4096


def hipConfigureCall(grid: int, block: int, lds: int, stream: int) -> int:
    _thread.calls.append(_Call(modules.dim3(grid), modules.dim3(block), lds, stream, bytearray()))
    return 0


def hipSetupArgument(argument: int, size: int, offset: int) -> int:
    need(argument)
    if not _thread.calls:
        raise Failure(codes.MISSING_CONFIGURATION)
    if offset + size > _MOST_ARGUMENT_BYTES:
        return codes.INVALID_VALUE
    held = _thread.calls[-1].arguments
    held.extend(bytes(max(0, offset + size - len(held))))
    held[offset : offset + size] = ctypes.string_at(argument, size)
    return 0


def hipLaunchByPtr(function: int) -> int:
    if not _thread.calls:
        raise Failure(codes.MISSING_CONFIGURATION)
    call = _thread.calls.pop()
    kernarg = ctypes.create_string_buffer(bytes(call.arguments), max(len(call.arguments), 1))
    size = ctypes.c_size_t(len(call.arguments))
    extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(kernarg), 2, ctypes.addressof(size), 3)
    return modules.launch_function(
        modules.host_function(function), call.grid, call.block, call.lds, call.stream, 0, ctypes.addressof(extra),
        symbol=function,
    )  # fmt: skip


# Functions by name


def hipGetDriverEntryPoint(symbol: int, function: int, flags: int, status: int) -> int:
    return memory.hipGetProcAddress(symbol, function, 0, flags, status)
