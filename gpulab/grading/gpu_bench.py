"""The bench that runs kernels on gpulab's virtual devices: compile, load, put arrays into memory, launch.

`GpuBench.prepare` compiles a source for one architecture, compares its kernels with what is asked for, and loads them;
`GpuKernel.run` launches what a case says and reads everything back. The device is reached by `gpulab.providers` alone.
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gpulab.errors import CheckError, KernelFault
from gpulab.grading.bench import WrongSignature
from gpulab.grading.case import Array, Asked, Buffer, Case, Prototype, Run, Step, Value, Writers

if TYPE_CHECKING:
    from gpulab.module import Resources
    from gpulab.records import LastWriters
    from gpulab.toolchain import CodeObject, KernelSignature


class GpuBench:
    """Runs on gpulab's virtual devices, so that every verdict is exact and repeatable."""

    def prepare(self, source: str, asked: Asked, arch: str, first_line: int = 1) -> GpuKernel:
        """Raises CompileError, WrongSignature, UnsupportedInstruction, DeviceNotFound."""
        code = compiled(source, asked, arch, first_line)
        signatures = {name: find_kernel(code, asked, name) for name in asked.kernels}
        for name, signature in signatures.items():
            check_parameters(signature, asked.kernels[name])
        return GpuKernel(code, asked.kernel, signatures, arch)


def compiled(source: str, asked: Asked, arch: str, first_line: int = 1) -> CodeObject:
    """The code object of an answer. Raises CompileError."""
    from gpulab import languages

    language = languages.answers(asked.language)
    return languages.compile(
        source, language.name, arch=arch, name=f"{asked.exercise}{language.suffixes[0]}", first_line=first_line,
        name_expressions=asked.expressions,
    )  # fmt: skip


def find_kernel(code: CodeObject, asked: Asked, name: str) -> KernelSignature:
    """The kernel of this name in the code object. Raises WrongSignature."""
    for signature in code.kernels.values():
        if name in (signature.name, signature.symbol):
            return signature
    names = ", ".join(signature.name for signature in code.kernels.values()) or "none at all"
    count = len(asked.kernels)
    wanted = f"a kernel named {name}" if count == 1 else f"{count} kernels, one of them named {name}"
    raise WrongSignature(
        f"This exercise asks for {wanted}; the source has {names}. It should start: {asked.kernels[name].start}"
    )


def check_parameters(signature: KernelSignature, prototype: Prototype) -> None:
    """Raises WrongSignature if the kernel's parameters are not what the exercise passes."""
    import numpy as np

    for passed in prototype.passed:
        if len(signature.parameters) != len(passed):
            raise WrongSignature(
                f"{prototype.kernel} takes {len(signature.parameters)} parameters, the exercise passes {len(passed)}. "
                f"It should start: {prototype.start}"
            )
        for number, (parameter, (is_array, dtype)) in enumerate(zip(signature.parameters, passed, strict=True), 1):
            if is_array:
                right = parameter.kind == "pointer" and parameter.dtype in (None, dtype)
            else:
                right = parameter.kind == "value" and _kind(parameter.dtype) == np.dtype(dtype).kind
            if not right:
                raise WrongSignature(
                    f"Parameter {number} of {prototype.kernel} is `{parameter.type} {parameter.name}`, which is not "
                    f"what the exercise passes there. It should start: {prototype.start}"
                )


def _kind(dtype: str | None) -> str:
    import numpy as np

    kind = "" if dtype is None else np.dtype(dtype).kind
    return "i" if kind == "u" else kind


class GpuKernel:
    """The kernels of one source, loaded on one virtual device."""

    def __init__(self, code: CodeObject, kernel: str, signatures: Mapping[str, KernelSignature], arch: str) -> None:
        from gpulab import providers

        self.arch = arch
        self._code, self._kernel, self._signatures = code, kernel, signatures
        device = providers.find(f"virtual:{arch}")
        self.wave_size, self._index = device.wave_size, device.index
        with _selected(self._index):
            gpu = providers.selected()
            self._module = gpu.load(code.elf)
            self._functions = {
                name: gpu.function(self._module, signature.symbol) for name, signature in signatures.items()
            }

    def close(self) -> None:
        from gpulab import providers

        with _selected(self._index):
            providers.selected().unload(self._module)

    @cached_property
    def resources(self) -> Mapping[str, Resources]:
        """Registers, LDS and scratch of each kernel, by its name."""
        from gpulab.module import resources_of

        found = resources_of(self._code)
        return {name: found[signature.symbol] for name, signature in self._signatures.items()}

    @cached_property
    def isa(self) -> Mapping[str, tuple[str, ...]]:
        """The instructions of each kernel as text, by its name."""
        from gpulab.views.isa import listing

        return {
            name: tuple(listing(self._code.assembly, signature.symbol, arch=self.arch))
            for name, signature in self._signatures.items()
        }

    @cached_property
    def unset(self) -> tuple[str, ...]:
        """What the compiler says of variables that are used before they have a value."""
        return tuple(
            f"line {each.where.line}: {each.message}" if each.where else each.message
            for each in self._code.warnings
            if "is uninitialized when used here" in each.message
        )

    def run(
        self,
        case: Case,
        buffers: Sequence[Buffer],
        limit: int,
        checked: bool = False,
        wanted: Mapping[str, Sequence[int]] | None = None,
        profiled: bool = False,
        weak: int | None = None,
    ) -> Run:
        """Copies the buffers to new allocations, launches what the case says, copies them back and frees them.

        Kernels see these allocations alone, whatever else the process has.
        A checked launch is also stopped for races and the like (`gpulab.checked`); then `wanted` may name elements by
        array and flat index, of which `Run.writers` tells who was the last to change them. With `profiled` the records
        of the launches have counters and costs. `weak`: the seed of launches on weak memory (`gpulab.weak`).
        """
        from gpulab import providers

        owned: dict[str, int] = {}
        after: dict[str, Any] = {}
        fault = None
        with _selected(self._index), providers.instruments("checked").apart(self._module):
            gpu = providers.selected()
            instruments = providers.instruments("checked")
            instruments.set_instruction_limit(limit)
            try:
                instruments.renew(self._module)  # no run may know of another
                for buffer in buffers:
                    address = gpu.malloc(buffer.contents.nbytes) if buffer.contents.nbytes else 0
                    owned[buffer.array.name] = address
                    if address:
                        providers.copy_to_device(gpu, address, buffer.contents)
                addresses = {
                    buffer.array.name: owned[buffer.array.name] + buffer.guard * buffer.array.data.itemsize
                    for buffer in buffers
                }
                manner: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
                if weak is not None:
                    manner = instruments.weakening(weak)
                elif checked:
                    manner = instruments.checking()
                with providers.recording(profiled) as launches, manner:
                    try:
                        for step in case.launches(self._kernel):
                            self._launch(case, step, addresses)
                            gpu.synchronize()
                    except KernelFault as stopped:
                        if stopped.fault is None:
                            raise CheckError(f"The virtual GPU stopped {case.text()} without saying why.") from stopped
                        fault = stopped.fault
                writers = _writers(buffers, addresses, wanted) if checked and wanted else Writers.of(())
                for buffer in buffers:
                    after[buffer.array.name] = buffer.contents.copy()
                    if owned[buffer.array.name]:
                        providers.copy_to_host(gpu, after[buffer.array.name], owned[buffer.array.name])
            finally:
                instruments.set_instruction_limit(None)
                for address in owned.values():
                    if address:
                        gpu.free(address)
        return Run(after, fault, tuple(launches), addresses, writers)

    def _launch(self, case: Case, step: Step, addresses: Mapping[str, int]) -> None:
        from gpulab import providers

        signature, function = self._signatures[step.kernel], self._functions[step.kernel]
        kernarg = pack(signature, [case.argument(name) for name in step.arguments], addresses)
        if step.cooperative:
            offsets = [parameter.offset for parameter in signature.parameters]
            providers.selected().launch_cooperative(function, step.grid, step.block, step.lds, 0, kernarg, offsets)
        else:
            providers.selected().launch(function, step.grid, step.block, step.lds, 0, kernarg)


def _writers(buffers: Sequence[Buffer], addresses: Mapping[str, int], wanted: Mapping[str, Sequence[int]]) -> Writers:
    """Who was the last to change the wanted elements, those that were not changed left out."""
    from gpulab import providers

    instruments = providers.instruments("writers")

    def found() -> Iterator[tuple[str, range, LastWriters]]:
        for buffer in buffers:
            name, data = buffer.array.name, buffer.array.data
            inside = range(-buffer.guard, data.size + buffer.guard)
            for run in consecutive(wanted.get(name, ()), inside):
                start = addresses[name] + run.start * data.itemsize
                yield name, run, instruments.last_writers(start, data.itemsize, len(run))

    return Writers.of(found())


def consecutive(numbers: Iterable[int], inside: range) -> list[range]:
    """Those of the numbers that are inside, each once, as ranges in rising order."""
    if isinstance(numbers, range) and numbers.step == 1:
        found = range(max(numbers.start, inside.start), min(numbers.stop, inside.stop))
        return [found] if found else []
    listed: list[range] = []
    for number in sorted({number for number in numbers if number in inside}):
        if listed and number == listed[-1].stop:
            listed[-1] = range(listed[-1].start, number + 1)
        else:
            listed.append(range(number, number + 1))
    return listed


class _selected:
    """Selects a device and goes back to the one before."""

    def __init__(self, index: int) -> None:
        self._index = index

    def __enter__(self) -> None:
        from gpulab import providers

        self._before = providers.current()
        providers.select(self._index)

    def __exit__(self, *exception: object) -> None:
        from gpulab import providers

        providers.select(self._before)


def pack(signature: KernelSignature, arguments: Sequence[Array | Value], addresses: Mapping[str, int]) -> bytes:
    """The kernel's argument block, each argument at its parameter's offset."""
    import numpy as np

    block = b""
    for parameter, argument in zip(signature.parameters, arguments, strict=True):
        if isinstance(argument, Value):
            piece = np.asarray(argument.value, dtype=parameter.dtype).tobytes()
        else:
            piece = struct.pack("<Q", addresses[argument.name])
        block += bytes(parameter.offset - len(block)) + piece
    return block
