"""Compiling and launching: `compile` gives a `Module`, which holds `Kernel`s; ``kernel[grid, block](...)`` launches.

Moving parts: `Module` (a code object, loaded on a device when first needed there), `Kernel` (what the compiler says
about it, and its packer of arguments), `Launcher` (a kernel with checked sizes; made once per sizes).
"""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from gpulab import dropped, languages, providers, toolchain
from gpulab.arguments import Packer, described, whole_number
from gpulab.errors import (
    ArgumentError,
    CapabilityError,
    GpulabError,
    KernelFault,
    KernelNotFound,
    LaunchError,
    LaunchLimitError,
)
from gpulab.memory import DeviceArray
from gpulab.providers.virtual import instructions
from gpulab.stream import Stream, handle_of
from gpulab.views import isa as isa_view

if TYPE_CHECKING:
    from gpulab.providers import DeviceInfo, Provider
    from gpulab.records import Trace
    from gpulab.toolchain import CodeObject, KernelSignature

Extent = int | tuple[int, ...]
Triple = tuple[int, int, int]

_INT = 2**31 - 1  # grid sizes of HIP are unsigned ints, and gfx9 counts blocks in 31 bits


def compile(  # named as in the field; the builtin is not used here
    source: str,
    language: str = "hip",
    arch: str | None = None,
    options: Sequence[str] = (),
    *,
    name: str | None = None,
    first_line: int = 1,
    headers: Mapping[str, str] | None = None,
    name_expressions: Sequence[str] = (),
) -> Module:
    """Compile HIP C++ (or CUDA C++, AMDGPU assembly, a text in Triton) for a GPU.

    Args:
        source: the program's text; ``#include <hip/hip_runtime.h>`` is understood and not needed.
        language: "hip", "cuda" (kernels only; they are translated to HIP), "asm" or "triton" (docs/guests.md).
        arch: for example "gfx942"; the architecture of the device in use if None.
        options: compiler options, e.g. ``["-O1", "-DN=4"]``.
        name: what messages call the source; "cell.hip", "cell.cu", "cell.s" or "cell.py" if None.
        first_line: number of the source's first line in messages.
        headers: texts that the source may include, by name.
        name_expressions: instances of templates, or of Triton's kernels, to make, e.g. ``["scale<float>"]``; then
            ``module["scale<float>"]``.

    Raises:
        CompileError: the compiler refused the source; the message shows the lines.
        ArgumentError: an argument is of another kind than above.
        CapabilityError: `arch` is None, and the device in use runs no code of AMD GPUs.
        UnsupportedInstruction: the virtual GPU does not know an instruction of it (when first launched).
    """
    code = languages.compile(
        source,
        language,
        arch=arch or _arch_in_use(),
        options=_texts(options, "options"),
        name=name,
        first_line=_line(first_line),
        headers=_headers(headers),
        name_expressions=_texts(name_expressions, "name_expressions"),
    )
    return Module(code)


def _texts(values: Sequence[str], name: str) -> tuple[str, ...]:
    """A list of texts; a single text would be read as a list of its characters."""
    if isinstance(values, str):
        whole = values.split() if name == "options" else [values]
        raise ArgumentError(f"{name}= takes a list of texts, and was given {values!r}.", hint=f"{name}={whole!r}")
    found = tuple(values) if isinstance(values, (Sequence, Iterable)) else (values,)
    for one in found if values is not None else ():
        if not isinstance(one, str):
            raise ArgumentError(f"{name}= takes a list of texts, and was given {described(one)}.")
    return found if values is not None else ()


def _line(number: int) -> int:
    found = whole_number(number)
    if found is None or not 0 <= found <= _INT:
        raise ArgumentError(f"first_line= takes the number of a line, and was given {described(number)}.")
    return found


def _headers(headers: Mapping[str, str] | None) -> dict[str, str]:
    if headers is None:
        return {}
    if not isinstance(headers, Mapping) or not all(isinstance(each, str) for pair in headers.items() for each in pair):
        raise ArgumentError(
            "headers= takes a dictionary, with the text of each header by its name.",
            hint='headers={"tools.h": "#define N 4"}; of a file the text is pathlib.Path("tools.h").read_text().',
        )
    return dict(headers)


def _arch_in_use() -> str:
    """The architecture of the device in use, if it runs what the languages here make."""
    from gpulab.toolchain.code_object import AMDGPU

    info = providers.devices()[providers.current()]
    if AMDGPU not in providers.of(info.index).formats:
        raise CapabilityError(
            f"gpulab has no compiler for {info.name} ({info.arch}).",
            why="the languages here make code for AMD GPUs.",
            hint="gpulab.load takes the bytes of a code object that another compiler made.",
        )
    return info.arch


def load(code: bytes) -> Module:
    """A module from the bytes of a code object (an ELF file): gpulab's (`Module.elf`), or another compiler's.

    Raises:
        GpulabError: the bytes are no code object for a device that gpulab has, or hold code that cannot be read here
            (docs/binaries.md).
    """
    if not isinstance(code, (bytes, bytearray, memoryview)):
        raise ArgumentError(
            f"gpulab.load takes the bytes of a code object, and was given {described(code)}.",
            hint='for a file: gpulab.load(pathlib.Path("kernel.co").read_bytes()).',
        )
    return Module(toolchain.CodeObject.from_elf(code))


@dataclass(frozen=True, slots=True)
class Resources:
    """What one kernel needs, as the compiler wrote into its metadata; more registers if its instructions name more.

    Registers are per lane (VGPRs, AGPRs) or per wave (SGPRs); `lds_bytes` is the static LDS of a workgroup,
    `scratch_bytes` the private memory of one lane. On CDNA `vgprs` counts the AccVGPRs, too. `cu_mode`: compiled with
    -mcumode (RDNA).
    """

    vgprs: int
    sgprs: int
    agprs: int
    lds_bytes: int
    scratch_bytes: int
    max_block_threads: int
    cu_mode: bool = False


def resources_of(code: CodeObject) -> dict[str, Resources]:
    """What each kernel of a code object takes of the device, by its linker symbol."""
    from gpulab.toolchain.code_object import AMDGPU, kernel_metadata
    from gpulab.toolchain.listing import registers_named

    found: dict[str, Resources] = {}
    if code.format != AMDGPU:
        return found  # other code objects say nothing of what they take
    for entry in kernel_metadata(code.elf):
        symbol = str(entry.get(".symbol", entry.get(".name", ""))).removesuffix(".kd")
        vector, scalar = registers_named(code.assembly, symbol)
        found[symbol] = Resources(
            vgprs=max(int(entry.get(".vgpr_count", 0)), vector),
            sgprs=max(int(entry.get(".sgpr_count", 0)), scalar),
            agprs=int(entry.get(".agpr_count", 0)),
            lds_bytes=int(entry.get(".group_segment_fixed_size", 0)),
            scratch_bytes=int(entry.get(".private_segment_fixed_size", 0)),
            max_block_threads=int(entry.get(".max_flat_workgroup_size", 1024)),
            cu_mode=not entry.get(".workgroup_processor_mode", 1),
        )
    return found


def _unload(loaded: dict[int, tuple[Provider, int]]) -> None:
    for provider, handle in loaded.values():
        with contextlib.suppress(GpulabError):  # hipDeviceReset has unloaded it
            provider.unload(handle)


class Module:
    """A compiled source. ``module["saxpy"]`` and ``module.saxpy`` are its kernels.

    Loaded on a device when one of its kernels is first launched there.
    """

    def __init__(self, code: CodeObject) -> None:
        if not isinstance(code, toolchain.CodeObject):
            raise ArgumentError(
                f"gpulab.Module takes a code object that was read already, and was given {described(code)}.",
                hint="gpulab.compile(source) makes a module of a text, gpulab.load(bytes) of the bytes of a file.",
            )
        self._code = code
        self._loaded: dict[int, tuple[Provider, int]] = {}  # by device index, with the module handle
        self._kernels: dict[str, Kernel] = {}  # by symbol
        dropped.later(self, _unload, self._loaded)

    @property
    def arch(self) -> str:
        """The architecture it was compiled for, e.g. "gfx942"."""
        return self._code.arch

    @property
    def source(self) -> str:
        return self._code.source

    @property
    def assembly(self) -> str:
        """The whole assembly text as the compiler wrote it."""
        return self._code.assembly

    @property
    def elf(self) -> bytes:
        """The code object: what a GPU of this architecture loads."""
        return self._code.elf

    @property
    def warnings(self) -> tuple[Any, ...]:
        """The compiler's warnings (records.Diagnostic)."""
        return self._code.warnings

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """All kernels, in the order of the source."""
        return tuple(self._kernel(symbol) for symbol in self._code.kernels)

    def __getitem__(self, name: str) -> Kernel:
        if not isinstance(name, str):
            raise KernelNotFound(
                f"{self._code.name} has no kernel {name!r}.", why="kernels are found by their names, which are texts."
            )
        try:
            signature = self._code.find(name)
        except GpulabError as error:
            raise KernelNotFound(error.what, why=error.why, hint=error.hint) from None
        return self._kernel(signature.symbol)

    def __getattr__(self, name: str) -> Kernel:
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(kernel.name for kernel in self.kernels)]

    def __iter__(self) -> Iterator[Kernel]:
        return iter(self.kernels)

    def __len__(self) -> int:
        return len(self._code.kernels)

    def __contains__(self, name: object) -> bool:
        try:
            return isinstance(name, str) and self[name] is not None
        except KernelNotFound:
            return False

    def _kernel(self, symbol: str) -> Kernel:
        kernel = self._kernels.get(symbol)
        if kernel is None:
            kernel = self._kernels[symbol] = Kernel(self, self._code.kernels[symbol])
        return kernel

    @cached_property
    def _resources(self) -> dict[str, Resources]:
        return resources_of(self._code)

    def _load(self, index: int) -> int:
        """The module handle on this device, which must be the selected one."""
        loaded = self._loaded.get(index)
        if loaded is None:
            device = providers.devices()[index]
            provider = providers.of(index)
            if device.arch != self.arch or self._code.format not in provider.formats:
                raise self._wrong_device(device)
            dropped.release()
            loaded = self._loaded[index] = provider, provider.load(self._code.elf)
        return loaded[1]

    def _wrong_device(self, device: DeviceInfo) -> LaunchError:
        return LaunchError(
            f"this code was compiled for {self.arch}, and the device in use is {device.index}: {device.name} "
            f"({device.arch}).",
            why="machine code of one architecture means nothing to another.",
            hint=f'gpulab.use("{self.arch}") before the launch, or compile it again with arch="{device.arch}".',
        )

    def variable(self, name: str, dtype: DTypeLike = "uint8") -> DeviceArray:
        """A __device__ or __constant__ variable on the device in use, as an array of `dtype`; shares its memory.

        Raises:
            KernelNotFound: the module has no variable of this name.
            DeviceMemoryError: its size is no multiple of the type's.
        """
        index = providers.current()
        if not isinstance(name, str):
            raise KernelNotFound(f"a variable is named by a text, not by {described(name)}.")
        handle = self._load(index)
        try:
            address, size = providers.of(index).variable(handle, self._code.name_expressions.get(name, name))
        except GpulabError as error:
            raise KernelNotFound(
                f"{self._code.name} has no variable named {name}.",
                why="variables of a module are those declared __device__ or __constant__ outside of functions; "
                "the compiler drops those that no kernel uses.",
                hint=self._near(name),
            ) from error
        whole = DeviceArray(address, (size,), np.dtype("uint8"), index, base=_Alive(self), owns=False)
        return whole.view(dtype)

    def _near(self, name: str) -> str:
        near = difflib.get_close_matches(name, [word for word in set(self.source.split()) if word.isidentifier()], n=1)
        return f"did you mean {near[0]}?" if near else ""

    def __repr__(self) -> str:
        listed = ", ".join(str(signature) for signature in self._code.kernels.values())
        return f"Module({self._code.name} for {self.arch}: {listed or 'no kernels'})"


def kernel_of(value: Any, function: str) -> Kernel:
    """The kernel that a function of gpulab was given.

    Raises:
        ArgumentError: it is something else.
    """
    if isinstance(value, Kernel):
        return value
    hint = "give it what a %%hip cell leaves in the notebook."
    if isinstance(value, Launcher):
        given = f"a kernel with its sizes, {value.kernel.name}[grid, block]"
        hint = f"give the kernel alone, {value.kernel.name}; sizes and arguments follow as values of their own."
    else:
        given = described(value)
        if isinstance(value, str):
            hint = "write the kernel's name without quotation marks."
        elif value is None:
            hint = "a launch gives None: give the kernel itself, without brackets and arguments."
    raise ArgumentError(f"gpulab.{function} takes a kernel, and was given {given}.", hint=hint)


class _Alive:
    """Keeps a module alive as long as an array of one of its variables."""

    freed = False

    def __init__(self, module: Module) -> None:
        self.module = module


@dataclass(frozen=True, slots=True)
class Occupancy:
    """How many workgroups of a kernel one compute unit (a WGP on RDNA) holds at a time.

    On a virtual device what the hardware holds, with the resource that sets the limit and what each resource alone
    would allow, in workgroups; on a real one what HIP's own call says, and `limit` is "".
    """

    blocks: int
    waves: int
    max_waves: int
    limit: str = ""
    limits: Mapping[str, int] = field(default_factory=dict)

    @property
    def fraction(self) -> float:
        """Share of the wave slots in use, 0 to 1."""
        return self.waves / self.max_waves if self.max_waves else 0.0

    def __str__(self) -> str:
        why = f", limited by {self.limit}" if self.limit else ""
        return f"{self.blocks} workgroups, {self.waves} of {self.max_waves} waves ({self.fraction:.0%}){why}"


class Kernel:
    """One kernel of a module.

    ``kernel[grid, block](arguments)`` launches it; the brackets take up to four parts: grid, block,
    dynamic_lds_bytes, stream. Grid counts workgroups and block counts threads; each is an int or a tuple of up to
    three. Arguments are checked against the kernel's own parameter types and converted where no value is lost.

    On a virtual device a kernel has finished when the launch returns, and a fault is raised at the launch's own line.
    On a real one launches return at once, and a fault is raised by `gpulab.synchronize` or the next copy.
    """

    def __init__(self, module: Module, signature: KernelSignature) -> None:
        self.module = module
        self.signature = signature
        self.pack = Packer(signature)
        self._functions: dict[int, int] = {}  # device index -> function handle
        self._launchers: dict[Any, Launcher] = {}

    @property
    def name(self) -> str:
        """Its name in the source."""
        return self.signature.name

    @property
    def arch(self) -> str:
        return self.module.arch

    @property
    def resources(self) -> Resources:
        """All that it needs: registers, LDS, scratch."""
        found = self.module._resources.get(self.signature.symbol)
        return found if found is not None else Resources(0, 0, 0, 0, 0, 1024)

    @property
    def vgprs(self) -> int:
        """Vector registers that each lane takes."""
        return self.resources.vgprs

    @property
    def sgprs(self) -> int:
        """Scalar registers that each wave takes."""
        return self.resources.sgprs

    @property
    def agprs(self) -> int:
        """Accumulation registers that each lane takes (CDNA)."""
        return self.resources.agprs

    @property
    def lds_bytes(self) -> int:
        """Static LDS (``__shared__``) of one workgroup, in bytes; dynamic LDS comes on top at the launch."""
        return self.resources.lds_bytes

    @property
    def scratch_bytes(self) -> int:
        """Private memory of each lane, in bytes: spilled registers and arrays that are no registers."""
        return self.resources.scratch_bytes

    @cached_property
    def isa(self) -> isa_view.Listing:
        """Its assembly beside the source."""
        code = self.module._code
        return isa_view.listing(
            code.assembly,
            self.signature.symbol,
            source=code.source_beside,
            name=code.name,
            arch=code.arch,
            kernel=self.name,
            first_line=code.first_line,
            explain=partial(instructions.meaning, code.arch),
        )

    def occupancy(self, block: Extent = 256, dynamic_lds_bytes: int = 0) -> Occupancy:
        """How many workgroups of this block size one compute unit holds at a time.

        Raises:
            LaunchLimitError: the block is larger than the device allows, or one of the two is no such number.
        """
        threads = 1
        for extent in triple(block, "block", self.name):
            threads *= extent
        dynamic_lds_bytes = lds_size(dynamic_lds_bytes, self.name)
        index = providers.current()
        device = providers.devices()[index]
        if threads > self.resources.max_block_threads:
            raise self._block_too_large(threads, device)
        function = self._function(index)
        provider = providers.of(index)
        if provider.instruments is not None:
            held = provider.instruments.occupancy(function, threads, dynamic_lds_bytes)
            return Occupancy(held.blocks, held.waves, held.max_waves, held.limit, dict(held.limits))
        blocks = provider.occupancy(function, threads, dynamic_lds_bytes)
        waves_per_block = -(-threads // device.wave_size)
        slots = device.limits.unit_threads // device.wave_size
        return Occupancy(blocks, min(blocks * waves_per_block, slots), slots)

    def _function(self, index: int) -> int:
        function = self._functions.get(index)
        if function is None:
            module = self.module._load(index)
            function = self._functions[index] = providers.of(index).function(module, self.signature.symbol)
        return function

    def __getitem__(self, sizes: Any) -> Launcher:
        try:
            launcher = self._launchers.get(sizes)
        except TypeError:  # a list among the sizes cannot be looked up
            launcher = None
        if launcher is None or not _of_integers(sizes):  # 2.0 and True are found where 2 and 1 are, and refused
            launcher = Launcher(self, sizes)
            try:
                if len(self._launchers) < 256 and launcher.stream is None:
                    self._launchers[sizes] = launcher
            except TypeError:
                pass
        return launcher

    @property
    def cooperative(self) -> CooperativeLaunches:
        """``kernel.cooperative[grid, block](arguments)``: a launch whose blocks all run at the same time.

        Only in such a launch may a kernel wait for the whole grid, with sync() of cooperative_groups::this_grid().
        """
        return CooperativeLaunches(self)

    def __call__(self, *arguments: Any) -> None:
        raise LaunchError(
            f"{self.name} was called without sizes.",
            why="a kernel runs as a grid of workgroups, and the launch says how many.",
            hint=f"{self.name}[grid, block](...): for n elements and blocks of 256 threads, "
            f"{self.name}[(n + 255) // 256, 256](...).",
        )

    def __repr__(self) -> str:
        return f"Kernel({self.signature} for {self.arch})"

    def _block_too_large(self, threads: int, device: DeviceInfo) -> LaunchLimitError:
        limit = min(self.resources.max_block_threads, device.limits.block_threads)
        own = self.resources.max_block_threads < device.limits.block_threads
        return LaunchLimitError(
            f"{self.name}: a block of {threads:,} threads is too large: the limit is {limit:,}.",
            why="the kernel was compiled for no more (__launch_bounds__)."
            if own
            else "the threads of one workgroup share one compute unit.",
            hint=f"use a block of at most {limit:,} threads (256 is a good first choice) and more blocks: "
            "grid = (n + block - 1) // block.",
        )


def _of_integers(sizes: tuple[Any, ...]) -> bool:
    """Whether all parts are Python's own integers, or tuples of them, or None."""
    for part in sizes:
        kind = part.__class__
        if kind is not int and part is not None and (kind is not tuple or not _of_integers(part)):
            return False
    return True


class CooperativeLaunches:
    """What ``kernel.cooperative`` is: in brackets it takes the same as a kernel.

    The grid is limited: all blocks have to fit on the device at the same time, which are as many for each compute unit
    as HIP's occupancy says (hipOccupancyMaxActiveBlocksPerMultiprocessor).
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def __getitem__(self, sizes: Any) -> Launcher:
        return Launcher(self.kernel, sizes, cooperative=True)

    def __call__(self, *arguments: Any) -> None:
        name = self.kernel.name
        raise LaunchError(
            f"{name}.cooperative was called without sizes.", hint=f"{name}.cooperative[grid, block](arguments)."
        )

    def __repr__(self) -> str:
        return f"{self.kernel.name}.cooperative"


def triple(extent: Any, which: str, kernel: str) -> Triple:
    """Grid or block as three numbers.

    Raises:
        LaunchLimitError: not whole numbers, more than three, zero, negative or beyond what HIP can say.
    """
    many = isinstance(extent, (tuple, list)) or (isinstance(extent, np.ndarray) and extent.ndim)
    parts = tuple(extent) if many else (extent,)
    if not 1 <= len(parts) <= 3:
        raise LaunchLimitError(
            f"{kernel}: the {which} has {len(parts)} extents.", why="there are three axes at most: x, y and z."
        )
    found = []
    for axis, part in zip("xyz", parts, strict=False):
        whole = whole_number(part)
        where = f"the {which}" + (f"'s {axis}" if len(parts) > 1 else "")
        if whole is None:
            hint = ""
            if isinstance(part, (float, np.floating)):
                hint = "divide with // instead of /: (n + block - 1) // block gives enough blocks for n elements."
            raise LaunchLimitError(f"{kernel}: {where} must be a whole number, not {part!r}.", hint=hint)
        if whole < 1:
            what = "workgroups" if which == "grid" else "threads"
            why = f"there would be no {what} at all." if whole == 0 else f"{what} are counted."
            hint = "n = 0 elements need no launch: launch only if n > 0." if which == "grid" and whole == 0 else ""
            raise LaunchLimitError(f"{kernel}: {where} is {whole}; it must be at least 1.", why=why, hint=hint)
        if whole > _INT:
            raise LaunchLimitError(f"{kernel}: {where} is {whole:,}; the limit is {_INT:,}.")
        found.append(whole)
    return (*found, 1, 1)[:3]  # type: ignore[return-value]


def lds_size(given: Any, kernel: str) -> int:
    """Bytes of dynamic LDS.

    Raises:
        LaunchLimitError: not a whole number, or negative.
    """
    lds = whole_number(given)
    if lds is None or lds < 0:
        raise LaunchLimitError(
            f"{kernel}: dynamic_lds_bytes must be a number of bytes, not {given!r}.",
            why="the third part in the brackets is the size of dynamic LDS; a stream is the fourth.",
        )
    return lds


class Launcher:
    """A kernel with its sizes: call it with the kernel's arguments to launch."""

    __slots__ = ("_checked", "_stream_handle", "block", "cooperative", "grid", "kernel", "lds_bytes", "stream")

    def __init__(self, kernel: Kernel, sizes: Any, cooperative: bool = False) -> None:
        self.kernel, self.cooperative = kernel, cooperative
        parts = sizes if isinstance(sizes, tuple) else (sizes,)
        if not 2 <= len(parts) <= 4:
            raise LaunchLimitError(
                f"{kernel.name}: a launch needs grid and block in the brackets, and has {len(parts)} "
                f"part{'' if len(parts) == 1 else 's'}.",
                hint=f"{kernel.name}[grid, block](...), or {kernel.name}[grid, block, dynamic_lds_bytes, stream](...). "
                "More than one axis goes into a tuple: kernel[(16, 16), (8, 8)](...).",
            )
        self.grid = triple(parts[0], "grid", kernel.name)
        self.block = triple(parts[1], "block", kernel.name)
        self.lds_bytes = lds_size(parts[2], kernel.name) if len(parts) > 2 and parts[2] is not None else 0
        self.stream: Stream | None = parts[3] if len(parts) > 3 else None
        self._stream_handle: int | None = None
        if self.stream is not None and not isinstance(self.stream, Stream):
            try:
                self._stream_handle = handle_of(self.stream)
            except ArgumentError as error:
                what = f"{kernel.name}: the fourth part in the brackets is a stream, not {self.stream!r}."
                raise LaunchLimitError(what, hint=error.hint) from None
        self._checked: int | None = None  # index of the device whose limits were checked

    def _check_limits(self, index: int) -> None:
        """Compare the sizes with the limits of this device."""
        device = providers.devices()[index]
        kernel = self.kernel
        x, y, z = self.block
        if x * y * z > min(kernel.resources.max_block_threads, device.limits.block_threads):
            raise kernel._block_too_large(x * y * z, device)
        for which, extents, limits in (
            ("grid", self.grid, device.limits.grid),
            ("block", self.block, device.limits.block),
        ):
            for axis, extent, limit in zip("xyz", extents, limits, strict=True):
                if extent > limit:
                    raise LaunchLimitError(
                        f"{kernel.name}: the {which}'s {axis} is {extent:,}; {device.name} allows {limit:,}.",
                        hint="put the largest extent on x, or let each thread do several elements.",
                    )
        lds, limit = kernel.lds_bytes + self.lds_bytes, device.limits.lds_bytes
        if lds > limit:
            parts = f" ({kernel.lds_bytes:,} static and {self.lds_bytes:,} dynamic)" if self.lds_bytes else ""
            raise LaunchLimitError(
                f"{kernel.name} needs {lds:,} bytes of LDS{parts}; a workgroup on {device.name} has {limit:,}.",
                why="LDS is memory inside one compute unit, and small.",
                hint="use a smaller tile or smaller elements, or keep part of it in registers.",
            )
        self._checked = index

    def __call__(self, *arguments: Any, **named: Any) -> None:
        """Launch with these arguments.

        Raises:
            ArgumentError: wrong number or types of arguments, or memory of another device.
            LaunchLimitError: sizes that this device does not allow.
            LaunchError: the kernel was compiled for another architecture.
            KernelFault: the kernel was stopped (on virtual devices; on real ones `gpulab.synchronize` says so).
        """
        kernel = self.kernel
        if named:
            raise ArgumentError(
                f"{kernel.name} takes its arguments by position, not by name ({', '.join(named)}).",
                why=f"its declaration is {kernel.signature}.",
                hint="give the values in that order, without names.",
            )
        kernarg = kernel.pack(arguments)
        if dropped.pending:
            dropped.release()
        provider, index = providers.here()
        for argument in arguments:
            if type(argument) is DeviceArray and argument.device != index:
                raise self._elsewhere(arguments, index)
        function = kernel._functions.get(index) or kernel._function(index)
        if self._checked != index:
            self._check_limits(index)
        stream = self._stream_handle
        if stream is None:
            stream = self.stream.handle if self.stream is not None else 0
        try:
            if self.cooperative:
                if "cooperative" in provider.lacks:
                    raise providers.lacking(provider, "cooperative")
                offsets = [parameter.offset for parameter in kernel.signature.parameters]
                provider.launch_cooperative(function, self.grid, self.block, self.lds_bytes, stream, kernarg, offsets)
            else:
                provider.launch(function, self.grid, self.block, self.lds_bytes, stream, kernarg)
            instruments = provider.instruments
            if instruments is not None:
                # It has run: say now what went wrong, at the learner's own line.
                instruments.raise_fault()
        except KeyboardInterrupt:
            text = f"{kernel.name} was stopped while it ran; what it wrote until then stays. The device can be used."
            raise KeyboardInterrupt(text) from None

    def _elsewhere(self, arguments: Sequence[Any], index: int) -> ArgumentError:
        """The error for the first array in the memory of another device than the one in use."""
        place, array = next(
            (place, one) for place, one in enumerate(arguments) if type(one) is DeviceArray and one.device != index
        )
        name = self.kernel.signature.parameters[place].name
        here, there = providers.devices()[index], providers.devices()[array.device]
        return ArgumentError(
            f"argument {place + 1}{f' ({name})' if name else ''} of {self.kernel.name} is in the memory of device "
            f"{there.index} ({there.arch}); the kernel would run on device {here.index} ({here.arch}).",
            why="each GPU has its own memory.",
            hint=f"copy it over: gpulab.to_device(array.to_host()), or gpulab.use({there.index}) before the launch. "
            "With peer access switched on in HIP, give gpulab.Pointer(array.address, array.dtype).",
        )

    def traced(self, arguments: Sequence[Any], workgroup: Triple, wave: int) -> Trace:
        """Launch and record one wave; see `gpulab.trace`."""
        instruments = providers.instruments("trace")
        kernarg = self.kernel.pack(arguments)
        index = providers.current()
        function = self.kernel._function(index)
        self._check_limits(index)
        launch, found = instruments.trace(function, self.grid, self.block, self.lds_bytes, kernarg, workgroup, wave)
        if launch.fault is not None:
            # The trace of the fault is what a learner wants to see: it stays with the exception.
            try:
                providers.selected().synchronize()
            except KernelFault as error:
                error.trace = found
                raise
        return found

    def __repr__(self) -> str:
        kind = ".cooperative" if self.cooperative else ""
        sizes = f"{self.kernel.name}{kind}[{self.grid}, {self.block}, {self.lds_bytes}]"
        return f"{sizes}, not launched: its arguments follow in parentheses"
