"""Kernels and variables of linked programs, by their addresses on the host: `Linked`.

A host program that Clang compiled hands over its device code when it starts: a bundle of code objects, and for each
kernel and each variable an address of its own and the name in the code objects (__hipRegisterFatBinary,
__hipRegisterFunction, __hipRegisterVar). The code object for a device is loaded when it is first needed there.
"""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass, field

from gpulab.virtual_gpu.runtime import codes
from gpulab.virtual_gpu.runtime.codes import Failure
from gpulab.virtual_gpu.runtime.context import Context
from gpulab.virtual_gpu.runtime.device import Device
from gpulab.virtual_gpu.runtime.images import image_at
from gpulab.virtual_gpu.runtime.memory import Memory
from gpulab.virtual_gpu.runtime.modules import Function, Module, Modules

_MAGIC = 0x48495046  # "HIPF": of the structure that clang puts around the bundle


@dataclass(slots=True)
class Managed:
    """A __managed__ variable: `address` is its memory, for host and devices."""

    name: str
    address: int
    size: int


@dataclass(slots=True)
class Binary:
    """The device code of one host program. `modules` are loaded ones, by the device's number."""

    handle: int
    image: int
    modules: dict[int, Module] = field(default_factory=dict)
    managed: list[Managed] = field(default_factory=list)


class Linked:
    """Everything that host programs registered."""

    def __init__(self, context: Context, memory: Memory, modules: Modules) -> None:
        self._context, self._memory, self._modules = context, memory, modules
        self._binaries: dict[int, Binary] = {}
        self._kernels: dict[int, tuple[Binary, str]] = {}
        self._variables: dict[int, tuple[Binary, str]] = {}
        self._resolved: dict[tuple[int, int], Function] = {}
        self._cells: list[ctypes.c_uint64] = []

    # Registration

    def register(self, wrapper: int) -> int:
        """The handle for the binary that a wrapper (magic, version, address of the bundle) leads to.

        Raises:
            Failure: hipErrorInvalidImage.
        """
        magic, _, image = struct.unpack("<IIQ", ctypes.string_at(wrapper, 16))
        if magic != _MAGIC or not image:
            raise Failure(codes.INVALID_IMAGE, "this is no wrapper of a HIP fat binary")
        cell = ctypes.c_uint64(image)
        self._cells.append(cell)  # the handle is an address, as in AMD's library
        handle = ctypes.addressof(cell)
        self._binaries[handle] = Binary(handle, image)
        return handle

    def unregister(self, handle: int) -> None:
        binary = self._binaries.pop(handle, None)
        if binary is None:
            return
        for table in (self._kernels, self._variables):
            for address in [address for address, (owner, _) in table.items() if owner is binary]:
                del table[address]
        self._resolved.clear()
        for module in binary.modules.values():
            try:
                self._modules.unload(module.handle)
            except Failure:
                pass  # hipDeviceReset has unloaded it

    def _binary(self, handle: int) -> Binary:
        found = self._binaries.get(handle)
        if found is None:
            raise Failure(codes.INVALID_VALUE, "no fat binary was registered under this handle")
        return found

    def add_kernel(self, handle: int, address: int, name: str) -> None:
        self._kernels[address] = self._binary(handle), name

    def add_variable(self, handle: int, address: int, name: str) -> None:
        self._variables[address] = self._binary(handle), name

    def add_managed(self, handle: int, pointer: int, initial: int, name: str, size: int) -> None:
        """Memory for a managed variable, with its initial value; the program's `pointer` is set to it."""
        binary = self._binary(handle)
        address = self._memory.allocate(max(size, 1), "managed", 1)
        if initial:
            ctypes.memmove(address, initial, size)
        ctypes.c_uint64.from_address(pointer).value = address
        binary.managed.append(Managed(name, address, size))
        self._variables[pointer] = binary, name

    # Use

    def _module(self, binary: Binary, device: Device) -> Module:
        module = binary.modules.get(device.index)
        if module is not None and self._modules.is_loaded(module):
            return module
        with self._context.lock:
            module = self._modules.load(image_at(binary.image))
            for managed in binary.managed:
                pointer = module.loaded.addresses.get(managed.name)  # the device's, of the variable's own name
                if pointer is not None:
                    ctypes.c_uint64.from_address(self._context.arena.home(pointer)).value = managed.address
            binary.modules[device.index] = module
        return module

    def function(self, address: int) -> Function:
        """The kernel behind a host address, on the current device.

        Raises:
            Failure: hipErrorInvalidDeviceFunction: no program registered a kernel there; hipErrorNoBinaryForGpu.
        """
        device = self._context.current
        found = self._resolved.get((address, device.index))
        if found is not None and self._modules.functions.get(found.handle) is found:
            return found
        if address not in self._kernels:
            raise Failure(codes.INVALID_DEVICE_FUNCTION, "there is no kernel at this address of the program")
        binary, name = self._kernels[address]
        found = self._modules.function(self._module(binary, device).handle, name)
        self._resolved[address, device.index] = found
        return found

    def variable(self, address: int) -> tuple[int, int]:
        """(address, bytes) on the current device of the variable behind a host address, or a device address itself.

        Raises:
            Failure: hipErrorInvalidSymbol, hipErrorNoBinaryForGpu.
        """
        if address not in self._variables:
            found = self._modules.variable_at(address)
            if found is not None:  # from Python, where no host program has registered anything
                return found
            raise Failure(
                codes.INVALID_SYMBOL,
                "there is no __device__ or __constant__ variable at this address; of a module that was loaded at run "
                "time, take the address from hipModuleGetGlobal",
            )
        binary, name = self._variables[address]
        for managed in binary.managed:
            if managed.name == name:
                return managed.address, managed.size
        module = self._module(binary, self._context.current)
        place = module.loaded.symbols.get(name)
        if place is None:
            raise Failure(codes.INVALID_SYMBOL, f"the device code has no variable {name}")
        return place
