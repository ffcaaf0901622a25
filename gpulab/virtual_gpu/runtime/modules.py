"""Modules, kernels and launches: `Modules`, with `Module` and `Function` behind the handles.

A code object's text is read once per process and kept by its hash; loading puts its data into the arena of
one device. Sizes of a launch are checked here; the arguments reach the machine as one packed buffer.
"""

from __future__ import annotations

import ctypes
import dataclasses
import hashlib
import itertools
import struct
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from gpulab.architectures import residency
from gpulab.errors import CapabilityError, GpulabError, LaunchLimitError
from gpulab.virtual_gpu.runtime import codes, images
from gpulab.virtual_gpu.runtime.codes import Failure
from gpulab.virtual_gpu.runtime.context import Context
from gpulab.virtual_gpu.runtime.device import (
    DEFAULT_LIMITS,
    LIMIT_HEAP,
    LIMIT_STACK,
    MOST_HEAP,
    MOST_STACK,
    Device,
    Stream,
)
from gpulab.virtual_gpu.runtime.memory import Memory
from gpulab.virtual_gpu.runtime.moments import Ran
from gpulab.virtual_gpu.runtime.streams import Streams

if TYPE_CHECKING:
    from gpulab.records import Launch, Trace
    from gpulab.toolchain.code_object import KernelSignature
    from gpulab.virtual_gpu.isa.instruction import KernelDescriptor, Program
    from gpulab.virtual_gpu.machine.loading import Beside, LoadedKernel, LoadedModule

Triple = tuple[int, int, int]

_KEPT_PROGRAMS = 64
LAUNCH_BUFFER, LAUNCH_BUFFER_SIZE, LAUNCH_END = 1, 2, 3  # HIP_LAUNCH_PARAM_*
_EXTRA = ctypes.c_void_p * 5


class Module:
    """A loaded code object on one device."""

    __slots__ = ("device", "formats", "functions", "handle", "loaded")

    def __init__(self, handle: int, device: Device, loaded: LoadedModule, formats: tuple[str, ...]) -> None:
        self.handle, self.device, self.loaded, self.formats = handle, device, loaded, formats
        self.functions: dict[str, Function] = {}


class Function:
    """A kernel of a module; `arguments` are (offset, size) of what the caller passes.

    parameters, packing, sizes: how `kernelParams` is read, and the arguments are packed.
    """

    __slots__ = (
        "argument_bytes",
        "arguments",
        "calls_host",
        "descriptor",
        "device",
        "handle",
        "kernel",
        "limits",
        "max_dynamic_lds",
        "module",
        "name_buffer",
        "packing",
        "parameters",
        "prints",
        "sizes",
    )

    def __init__(self, handle: int, module: Module, kernel: LoadedKernel) -> None:
        self.handle, self.module, self.kernel = handle, module, kernel
        self.device = module.device
        self.descriptor: KernelDescriptor = kernel.descriptor
        self.arguments = [(a.offset, a.size) for a in self.descriptor.arguments if not a.kind.startswith("hidden_")]
        self.prints = any(a.kind == "hidden_printf_buffer" for a in self.descriptor.arguments)
        self.calls_host = any(a.kind == "hidden_hostcall_buffer" for a in self.descriptor.arguments)
        self.argument_bytes = max((offset + size for offset, size in self.arguments), default=0)
        self.sizes = [size for _, size in self.arguments]
        self.parameters = struct.Struct(f"={len(self.arguments)}Q")
        self.packing = struct.Struct(_packing(self.arguments))
        self.name_buffer = ctypes.create_string_buffer(self.descriptor.name.encode())
        architecture = self.device.architecture
        self.max_dynamic_lds = architecture.max_lds_bytes_per_workgroup - self.descriptor.lds_bytes
        self.limits = (
            min(architecture.max_threads_per_block, self.descriptor.max_flat_workgroup_size or 1024),
            architecture.max_grid,
        )


def _packing(arguments: Sequence[tuple[int, int]]) -> str:
    """The format with which struct packs arguments of these offsets and sizes.

    Raises:
        Failure: hipErrorInvalidImage: they do not stand one behind the other.
    """
    text, end = "=", 0
    for offset, size in arguments:
        if offset < end or size < 0:
            raise Failure(codes.INVALID_IMAGE, f"an argument of {size} bytes at {offset} lies within the one before it")
        text += f"{offset - end}x{size}s"
        end = offset + size
    return text


def _linked(bitcode: bytes, arch: str) -> bytes:
    """The code object of bitcode, as `hiprtcLinkComplete` makes it of one unit.

    Raises:
        Failure: hipErrorInvalidImage: damaged, for another device, or with functions that nothing defines.
    """
    from gpulab.toolchain import linking

    try:
        return linking.link([bitcode], arch, "bitcode").elf
    except GpulabError as error:
        raise Failure(codes.INVALID_IMAGE, str(error)) from error


class Modules:
    """All modules and kernels by handle."""

    def __init__(self, context: Context, memory: Memory, streams: Streams) -> None:
        self._context, self._memory, self._streams = context, memory, streams
        self._modules: dict[int, Module] = {}
        self.functions: dict[int, Function] = {}
        self._handles = itertools.count(0x6_0000_0010, 16)
        self._programs: dict[bytes, Program] = {}
        #: makes what translates kernels beside this process, from a code object, its device and its kernels
        self.beside: Callable[[bytes, str, list[str]], Beside] | None = None

    # Loading

    def load(self, image: bytes) -> Module:
        """Load a code object (an ELF, an offload bundle that holds one, or LLVM bitcode) on the current device.

        Raises:
            Failure: hipErrorInvalidImage, hipErrorNoBinaryForGpu.
            UnsupportedInstruction: the machine lacks an instruction of a kernel.
        """
        device = self._context.current
        if images.is_bundle(image):
            image = images.from_bundle(image, device.architecture)
        if images.is_bitcode(image):
            image = _linked(image, device.architecture.name)
        program = self._program(image, device)
        with self._context.lock:
            loaded = device.machine.load(program)
            if device.limits[LIMIT_HEAP] != DEFAULT_LIMITS[LIMIT_HEAP]:
                self._set_heap(loaded, device.limits[LIMIT_HEAP])
            if device.limits[LIMIT_STACK] != DEFAULT_LIMITS[LIMIT_STACK]:
                loaded.set_stack(device.limits[LIMIT_STACK])
            if self.beside is not None:
                loaded.beside = self.beside(image, device.architecture.name, list(loaded.kernels))
            module = Module(next(self._handles), device, loaded, program.printf_formats)
            self._modules[module.handle] = module
        return module

    def set_heap(self, device: Device, limit: int) -> None:
        """hipDeviceSetLimit(hipLimitMallocHeapSize): what malloc in kernels gives out in each module, now and later.

        Raises:
            Failure: hipErrorOutOfMemory.
        """
        limit = min(limit, MOST_HEAP)
        with self._context.lock:
            for module in self._modules.values():
                if module.device is device:
                    self._set_heap(module.loaded, limit)
            device.limits[LIMIT_HEAP] = limit

    def set_stack(self, device: Device, limit: int) -> None:
        """hipDeviceSetLimit(hipLimitStackSize): for each thread of kernels whose stack has no known size.

        Raises:
            Failure: hipErrorInvalidValue.
        """
        if limit > MOST_STACK:
            raise Failure(
                codes.INVALID_VALUE, f"a stack of {limit:,} bytes; {MOST_STACK:,} are the most (128 KiB - 16)"
            )
        with self._context.lock:
            for module in self._modules.values():
                if module.device is device:
                    module.loaded.set_stack(limit)
            device.limits[LIMIT_STACK] = limit

    @staticmethod
    def _set_heap(loaded: LoadedModule, limit: int) -> None:
        try:
            loaded.set_heap(limit)
        except MemoryError as error:
            raise Failure(codes.OUT_OF_MEMORY, str(error)) from error

    def _program(self, image: bytes, device: Device) -> Program:
        key = hashlib.sha256(image).digest()
        program = self._programs.get(key)
        if program is None:
            from gpulab.toolchain import CodeObject
            from gpulab.virtual_gpu.isa import assembly

            try:
                code = CodeObject.from_elf(image)
            except GpulabError as error:
                raise Failure(codes.INVALID_IMAGE, str(error)) from error
            self._check_arch(code.arch, device)
            program = assembly.parse(
                code.assembly,
                sources=code.sources(),
                arch=code.arch,
                guarantees=code.guarantees,
            )
            named = {
                symbol: _named(kernel, code.kernels[symbol])
                for symbol, kernel in program.kernels.items()
                if symbol in code.kernels
            }
            program = dataclasses.replace(program, kernels={**program.kernels, **named})
            while len(self._programs) >= _KEPT_PROGRAMS:
                del self._programs[next(iter(self._programs))]
            self._programs[key] = program
        self._check_arch(program.arch, device)
        return program

    @staticmethod
    def _check_arch(arch: str, device: Device) -> None:
        if arch.partition(":")[0] != device.architecture.name:
            raise Failure(
                codes.NO_BINARY_FOR_GPU,
                f"the code object is for {arch}; device {device.index} is a {device.architecture.name}",
            )

    def module(self, handle: int) -> Module:
        found = self._modules.get(handle)
        if found is None:
            raise Failure(codes.INVALID_HANDLE)
        return found

    def is_loaded(self, module: Module) -> bool:
        return self._modules.get(module.handle) is module

    def unload(self, handle: int) -> None:
        with self._context.lock:
            module = self._modules.pop(handle, None)
            if module is None:
                raise Failure(codes.INVALID_HANDLE)
            for function in module.functions.values():
                self.functions.pop(function.handle, None)
        module.loaded.unload()

    def renew(self, handle: int) -> None:
        """Give a module's variables the values that they have after loading; its functions stay."""
        module = self.module(handle)
        with self._context.lock:
            module.loaded.fill()

    def reset(self, device: Device) -> None:
        for handle, module in list(self._modules.items()):
            if module.device is device:
                self.unload(handle)

    def kernel_names(self, handle: int) -> list[str]:
        return list(self.module(handle).loaded.kernels)

    def function(self, handle: int, name: str) -> Function:
        """A kernel of a module by its symbol.

        Raises:
            Failure: hipErrorNotFound.
        """
        module = self.module(handle)
        with self._context.lock:
            found = module.functions.get(name)
            if found is None:
                kernel = module.loaded.kernels.get(name)
                if kernel is None:
                    known = ", ".join(sorted(module.loaded.kernels)) or "none"
                    raise Failure(codes.NOT_FOUND, f"the module has no kernel {name!r}; its kernels: {known}")
                found = Function(next(self._handles), module, kernel)
                module.functions[name] = found
                self.functions[found.handle] = found
        return found

    def find_function(self, handle: int) -> Function:
        found = self.functions.get(handle)
        if found is None:
            raise Failure(
                codes.INVALID_HANDLE, "there is no such kernel (was its module unloaded, or the device reset?)"
            )
        return found

    def global_variable(self, handle: int, name: str) -> tuple[int, int]:
        """(address, bytes) of a variable."""
        module = self.module(handle)
        found = module.loaded.symbols.get(name)
        if found is None:
            known = ", ".join(sorted(module.loaded.symbols)) or "none"
            raise Failure(codes.NOT_FOUND, f"the module has no variable {name!r}; its variables: {known}")
        return found[0], found[1]

    def is_managed(self, handle: int, name: str) -> bool:
        """Whether a module has a __managed__ variable of this name."""
        return name + ".managed" in self.module(handle).loaded.addresses

    def variable_at(self, address: int) -> tuple[int, int] | None:
        """(address, bytes) of the variable of a loaded module that begins at a device address."""
        for module in list(self._modules.values()):  # another thread may load one
            for found in module.loaded.symbols.values():
                if found[0] == address:
                    return found[0], found[1]
        return None

    # Resources. A descriptor's `vgprs` is the metadata's .vgpr_count, which on gfx90a and later counts the AccVGPRs of
    # the unified file, too, so occupancy takes it as it is.

    def attribute(self, handle: int, number: int) -> int:
        """hipFuncGetAttribute (hipFunction_attribute)."""
        function = self.find_function(handle)
        d, a = function.descriptor, function.device.architecture
        version = a.major * 10 + a.minor
        values = {
            0: function.limits[0],
            1: d.lds_bytes,
            2: 0,
            3: d.private_bytes,
            4: d.vgprs,
            5: version,
            6: version,
            7: 0,
            8: function.max_dynamic_lds,
            9: 0,
        }
        if number not in values:
            raise Failure(codes.INVALID_VALUE)
        return values[number]

    def _occupancy_threads(self, function: Function) -> int:
        d = function.descriptor
        return residency.api_threads(function.device.architecture, d.vgprs, 0, d.sgprs, cu_mode=d.cu_mode)

    def occupancy(self, handle: int, block_threads: int, dynamic_lds: int) -> int:
        """Blocks per unit by HIP's formula; 0 if the block cannot run at all."""
        function = self.find_function(handle)
        if block_threads <= 0:
            raise Failure(codes.INVALID_VALUE)
        d, a = function.descriptor, function.device.architecture
        if block_threads > a.max_threads_per_block:
            return 0
        return residency.api_blocks(a, d.vgprs, 0, d.sgprs, d.lds_bytes + dynamic_lds, block_threads, cu_mode=d.cu_mode)

    def hardware_occupancy(self, handle: int, block_threads: int, dynamic_lds: int) -> residency.Occupancy:
        """What the hardware holds; see `architectures.residency.occupancy`."""
        function = self.find_function(handle)
        d = function.descriptor
        return residency.occupancy(
            function.device.architecture,
            d.vgprs,
            0,
            d.sgprs,
            d.lds_bytes + dynamic_lds,
            block_threads,
            cu_mode=d.cu_mode,
        )

    def best_block(self, handle: int, dynamic_lds: int, limit: int) -> tuple[int, int]:
        """hipModuleOccupancyMaxPotentialBlockSize: (blocks of the grid, threads of the block)."""
        function = self.find_function(handle)
        a = function.device.architecture
        threads = self._occupancy_threads(function)
        asked = min(limit, function.limits[0]) if limit > 0 else function.limits[0]
        block = min(threads, a.waves(asked) * a.wave_size, a.max_threads_per_block)
        blocks = threads // block if block else 0
        lds = function.descriptor.lds_bytes + dynamic_lds
        if lds:
            blocks = min(blocks, a.max_lds_bytes_per_workgroup // lds)
        return blocks * a.multiprocessors, block

    def dynamic_lds_left(self, handle: int, blocks: int, block_threads: int) -> int:
        """hipOccupancyAvailableDynamicSMemPerBlock: LDS per block with which `blocks` blocks fit a unit."""
        function = self.find_function(handle)
        if blocks <= 0 or block_threads <= 0:
            raise Failure(codes.INVALID_VALUE)
        share = function.device.architecture.max_lds_bytes_per_workgroup // blocks
        return max(0, share - function.descriptor.lds_bytes)

    # Launches

    def check_sizes(self, function: Function, grid: Triple, block: Triple, lds: int) -> None:
        """Sizes of a launch against the device and the kernel.

        Raises:
            Failure: hipErrorInvalidConfiguration, hipErrorLaunchFailure (more threads than __launch_bounds__
                allows), hipErrorInvalidValue (LDS).
        """
        most, max_grid = function.limits
        gx, gy, gz = grid
        bx, by, bz = block
        threads = bx * by * bz
        if (
            0 < threads <= most
            and 0 < gx <= max_grid[0]
            and 0 < gy <= max_grid[1]
            and 0 < gz <= max_grid[2]
            and 0 <= lds <= function.max_dynamic_lds
            and gx * bx < 1 << 32
        ):
            return
        name, a = function.descriptor.name, function.device.architecture
        if threads == 0 or gx * gy * gz == 0:
            raise Failure(codes.INVALID_CONFIGURATION, f"a size of 0: grid {grid}, block {block}.")
        if threads > a.max_threads_per_block:
            raise Failure(
                codes.INVALID_CONFIGURATION,
                f"a block has at most {a.max_threads_per_block:,} threads; {bx} x {by} x {bz} are {threads:,}.",
            )
        if threads > most:
            raise Failure(
                codes.LAUNCH_FAILURE,
                f"{name} was compiled for at most {most:,} threads per block (__launch_bounds__); "
                f"these are {threads:,}.",
            )
        if gx > max_grid[0] or gy > max_grid[1] or gz > max_grid[2]:
            raise Failure(codes.INVALID_CONFIGURATION, f"a grid has at most {max_grid} blocks; this one has {grid}.")
        if gx * bx >= 1 << 32:
            raise Failure(codes.INVALID_CONFIGURATION, f"more than 2^32 - 1 threads in one direction: {gx} x {bx}.")
        raise Failure(
            codes.INVALID_VALUE,
            f"a block has at most {a.max_lds_bytes_per_workgroup:,} bytes of shared memory; {name} has "
            f"{function.descriptor.lds_bytes:,} of its own, and {lds:,} were asked for on top.",
        )

    def check_cooperation(self, function: Function, grid: Triple, block: Triple, lds: int) -> None:
        """Whether all workgroups of a launch fit on the device at the same time, by HIP's occupancy.

        Raises:
            Failure: hipErrorCooperativeLaunchTooLarge.
        """
        device = function.device
        units = device.architecture.multiprocessors
        each = self.occupancy(function.handle, block[0] * block[1] * block[2], lds)
        groups = grid[0] * grid[1] * grid[2]
        if groups > each * units:
            raise Failure(
                codes.COOPERATIVE_LAUNCH_TOO_LARGE,
                f"with blocks of {block[0] * block[1] * block[2]:,} threads, {function.kernel.title} has room for "
                f"{each * units:,} blocks at a time, {each} on each of {units} multiprocessors; this grid has "
                f"{groups:,}.",
            )

    def launch(
        self,
        function: Function,
        grid: Triple,
        block: Triple,
        lds: int,
        stream: Stream,
        kernarg: bytes,
        cooperative: bool = False,
        symbol: int = 0,
    ) -> None:
        """Check the sizes and run the kernel; its modelled time goes into the stream.

        Args:
            symbol: the kernel as the program named it, which a captured node remembers.
        """
        device = function.device
        if stream.device is not device:
            raise Failure(codes.INVALID_HANDLE, "the kernel and the stream belong to different devices")
        self.check_sizes(function, grid, block, lds)
        if cooperative:
            self.check_cooperation(function, grid, block, lds)
        if (capture := self._streams.capture(stream)) is not None:
            return capture.launch(stream, function, grid, block, lds, kernarg, cooperative, symbol)
        ran = self._run(function, grid, block, lds, kernarg, cooperative=cooperative)[0]
        if stream.in_graph:
            ran.saving = device.architecture.graph_saving_us
        self._streams.submit(stream, ran, name=ran.title)
        self._context.launched(device, ran)

    def launch_traced(
        self,
        handle: int,
        grid: Triple,
        block: Triple,
        lds: int,
        kernarg: bytes,
        workgroup: Sequence[int] | int,
        wave: int,
    ) -> tuple[Launch, Trace]:
        """Run a kernel on the null stream and record one wave.

        Raises:
            LaunchLimitError: sizes that the device does not allow, no such workgroup or wave.
        """
        try:
            function = self.find_function(handle)
            self.check_sizes(function, grid, block, lds)
            self.check_arguments(function, len(kernarg))
        except Failure as error:
            raise LaunchLimitError(f"The launch was refused: {error}") from error
        count = grid[0] * grid[1] * grid[2]
        if isinstance(workgroup, int):
            number = workgroup if 0 <= workgroup < count else -1
        else:
            x, y, z = (int(at) for at in workgroup)
            inside = 0 <= x < grid[0] and 0 <= y < grid[1] and 0 <= z < grid[2]
            number = x + grid[0] * (y + grid[1] * z) if inside else -1
        waves = function.device.architecture.waves(block[0] * block[1] * block[2])
        if number < 0 or not 0 <= wave < waves:
            raise LaunchLimitError(
                f"There is no wave {wave} of workgroup {workgroup} in this launch.",
                why=f"the grid is {grid}: {count:,} workgroups of {waves} wave{'s' if waves > 1 else ''} each.",
                hint="workgroups and waves are counted from 0.",
            )
        device = function.device
        ran, trace = self._run(function, grid, block, lds, kernarg, (number, wave))
        assert trace is not None
        self._streams.submit(device.null_stream, ran, name=ran.title)
        self._context.launched(device, ran)
        return ran.record(), trace

    def _run(
        self,
        function: Function,
        grid: Triple,
        block: Triple,
        lds: int,
        kernarg: bytes,
        trace: tuple[int, int] | None = None,
        cooperative: bool = False,
    ) -> tuple[Ran, Trace | None]:
        """The launch itself, with the printed text, and the trace if one was asked for."""
        context, device = self._context, function.device
        recorded: Trace | None = None
        with context.lock:
            seed = next(context.weak) if context.weak is not None else None
            if seed is not None:
                self._check_weak(function, trace is not None)
            registered = self._memory.registered_to_device() if self._memory.registrations else None
            # What is printed comes from one host thread, so that the order of the lines is the same every time.
            printf_buffer = device.printf_buffer.start() if function.prints else 0
            host = device.hostcall_buffer if function.calls_host else None
            if host is not None:
                if trace is not None:
                    kernel = function.descriptor
                    raise CapabilityError(
                        f"{kernel.source_name or kernel.name} calls the host, which a trace cannot show.",
                        why="a trace executes one workgroup by itself, and nobody answers what it asks of the host.",
                        hint="leave out what prints or asserts.",
                    )
                workgroups = grid[0] * grid[1] * grid[2]
                if not cooperative:
                    workgroups = min(workgroups, device.machine.most_alive(function.kernel, block, lds))
                host.start(workgroups * device.architecture.waves(block[0] * block[1] * block[2]))
            if trace is not None:
                recorded = device.machine.trace(
                    function.kernel, grid, block, lds, kernarg, trace, printf_buffer=printf_buffer
                )
            ran = device.machine.run(
                function.kernel,
                grid,
                block,
                lds,
                kernarg,
                collect="profile" if context.profiling else "default",
                limit=context.instruction_limit,
                workers=1 if function.prints or host is not None else None,
                printf_buffer=printf_buffer,
                host=host,
                cooperative=cooperative,
                checked=context.checking > 0,
                weak=seed,
            )
            if context.provenance is not None and context.checking:
                context.provenance.launched(device.machine.changed())
            if registered is not None:
                self._memory.registered_to_host(registered)
            if function.prints:
                ran.printed = device.printf_buffer.text(function.module.formats)
            if host is not None:
                host.answer()
                ran.printed += host.text()
        return ran, recorded

    def _check_weak(self, function: Function, traced: bool) -> None:
        """Refuse what a launch on weak memory cannot be besides.

        Raises:
            CapabilityError: naming what was asked for.
        """
        context = self._context
        for asked, what, why in (
            (context.checking, "checked", "the checker watches accesses in order, each done where it stands"),
            (context.profiling, "profiled", "it runs on a machine that has no counters and no time"),
            (traced, "traced", "a trace shows each access where it stands"),
            (function.calls_host, "one whose kernel calls the host", "the host answers while waves of it sleep"),
        ):
            if asked:
                raise CapabilityError(
                    f"A launch with gpulab.weak cannot be {what}.", why=f"{why}.",
                    hint="do the two one after the other, in launches of their own.",
                )  # fmt: skip

    @staticmethod
    def check_arguments(function: Function, given: int) -> None:
        if given < function.argument_bytes:
            raise Failure(
                codes.INVALID_VALUE,
                f"{function.descriptor.name} takes {function.argument_bytes} bytes of arguments; {given} were given.",
            )

    def pack(self, function: Function, parameters: int) -> bytes:
        """The packed arguments from `kernelParams`: an array with one address per argument."""
        if not function.arguments:
            return b""
        if not parameters:
            raise Failure(codes.INVALID_VALUE, f"{function.descriptor.name} takes arguments; none were given.")
        addresses = function.parameters.unpack(ctypes.string_at(parameters, function.parameters.size))
        if 0 in addresses:
            raise Failure(codes.INVALID_VALUE, "an address in kernelParams is NULL")
        return function.packing.pack(*map(ctypes.string_at, addresses, function.sizes))

    def unpack_extra(self, function: Function, extra: int) -> bytes:
        """The packed arguments from `extra`: HIP_LAUNCH_PARAM_BUFFER_POINTER and _SIZE up to _END."""
        cells = _EXTRA.from_address(extra)
        buffer = size = 0
        place = 0
        while place < 5 and cells[place] != LAUNCH_END:
            if place == 4:
                raise Failure(codes.INVALID_VALUE, "`extra` does not end with HIP_LAUNCH_PARAM_END")
            if cells[place] == LAUNCH_BUFFER:
                buffer = cells[place + 1] or 0
            elif cells[place] == LAUNCH_BUFFER_SIZE:
                pointer = cells[place + 1]
                if not pointer:
                    raise Failure(codes.INVALID_VALUE)
                size = ctypes.c_size_t.from_address(pointer).value
            else:
                raise Failure(codes.INVALID_VALUE, "`extra` holds something else than HIP_LAUNCH_PARAM_* pairs")
            place += 2
        if size and not buffer:
            raise Failure(codes.INVALID_VALUE, "`extra` has no argument buffer")
        if size < function.argument_bytes:
            self.check_arguments(function, size)
        return ctypes.string_at(buffer, size) if size else b""


def _named(kernel: KernelDescriptor, signature: KernelSignature) -> KernelDescriptor:
    """A kernel with the names that it and its arguments have in the source."""
    names = {parameter.offset: parameter.name for parameter in signature.parameters}
    return dataclasses.replace(
        kernel,
        source_name=signature.name,
        arguments=tuple(
            argument
            if argument.kind.startswith("hidden_")
            else dataclasses.replace(argument, name=names.get(argument.offset) or argument.name)
            for argument in kernel.arguments
        ),
    )
