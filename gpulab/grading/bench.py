"""The bench that runs a kernel's text on one virtual architecture: compile, load, put arrays into memory, launch.

`Bench.prepare(source, exercise, arch)` compiles and loads; `Prepared.run(case, buffers, limit)` launches once and
reads everything back. `GpuBench` reaches the device by `gpulab.hip` alone; tests put a bench of Python functions
in its place.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from gpulab.errors import CheckError, KernelFault
from gpulab.grading.exercise import Array, Case, Exercise, Value
from gpulab.grading.outcome import Buffer, Run

if TYPE_CHECKING:
    from gpulab.toolchain import CodeObject, KernelSignature


class Prepared(Protocol):
    """A kernel that is ready to be launched on one architecture."""

    arch: str
    wave_size: int

    def run(self, case: Case, buffers: Sequence[Buffer], limit: int) -> Run: ...

    def close(self) -> None: ...


class Bench(Protocol):
    """Compiles a kernel's text for an architecture."""

    def prepare(self, source: str, exercise: Exercise, arch: str, first_line: int = 1) -> Prepared: ...


class WrongSignature(Exception):
    """The kernel asked for is not in the source, or takes other parameters. The text is for the learner."""


class GpuBench:
    """Runs on gpulab's virtual devices, so that every verdict is exact and repeatable."""

    def prepare(self, source: str, exercise: Exercise, arch: str, first_line: int = 1) -> Prepared:
        """Raises CompileError, WrongSignature, UnsupportedInstruction, DeviceNotFound."""
        from gpulab import toolchain

        code = toolchain.compile(source, arch=arch, name=f"{exercise.id}.hip", first_line=first_line)
        signature = find_kernel(code, exercise)
        check_parameters(signature, exercise)
        return GpuKernel(code, signature, arch)


def find_kernel(code: CodeObject, exercise: Exercise) -> KernelSignature:
    """The exercise's kernel in the code object. Raises WrongSignature."""
    for signature in code.kernels.values():
        if exercise.kernel in (signature.name, signature.symbol):
            return signature
    names = ", ".join(signature.name for signature in code.kernels.values()) or "no __global__ function at all"
    raise WrongSignature(
        f"This exercise asks for a kernel named {exercise.kernel}; the source has {names}. "
        f"It should start: __global__ void {exercise.kernel}({exercise.signature})"
    )


def check_parameters(signature: KernelSignature, exercise: Exercise) -> None:
    """Raises WrongSignature if the kernel's parameters are not what the exercise passes."""
    arguments = exercise.case(exercise.cases[0]).arguments
    should = f"It should start: __global__ void {exercise.kernel}({exercise.signature})"
    if len(signature.parameters) != len(arguments):
        raise WrongSignature(
            f"{exercise.kernel} takes {len(signature.parameters)} parameters, "
            f"the exercise passes {len(arguments)}. {should}"
        )
    for number, (parameter, argument) in enumerate(zip(signature.parameters, arguments, strict=True), 1):
        if isinstance(argument, Array):
            right = parameter.kind == "pointer" and parameter.dtype in (None, str(argument.data.dtype))
        else:
            right = parameter.kind == "value" and _kind(parameter.dtype) == argument.value.dtype.kind
        if not right:
            raise WrongSignature(
                f"Parameter {number} of {exercise.kernel} is `{parameter.type} {parameter.name}`, "
                f"which is not what the exercise passes there. {should}"
            )


def _kind(dtype: str | None) -> str:
    import numpy as np

    kind = "" if dtype is None else np.dtype(dtype).kind
    return "i" if kind == "u" else kind


class GpuKernel:
    """One kernel loaded on one virtual device."""

    def __init__(self, code: CodeObject, signature: KernelSignature, arch: str) -> None:
        from gpulab import hip

        self.arch = arch
        self._signature = signature
        device = hip.find(f"virtual:{arch}")
        self.wave_size, self._index = device.wave_size, device.index
        with _selected(self._index):
            self._module = hip.load_module(code.elf)
            self._function = hip.get_function(self._module, signature.symbol)

    def close(self) -> None:
        from gpulab import hip

        with _selected(self._index):
            hip.unload_module(self._module)

    def run(self, case: Case, buffers: Sequence[Buffer], limit: int) -> Run:
        """Copies the buffers to new allocations, launches once, copies them back and frees them."""
        from gpulab import hip

        owned: dict[str, int] = {}
        after: dict[str, Any] = {}
        fault = None
        with _selected(self._index):
            hip.set_instruction_limit(limit)
            try:
                for buffer in buffers:
                    address = hip.malloc(buffer.contents.nbytes) if buffer.contents.nbytes else 0
                    owned[buffer.array.name] = address
                    if address:
                        hip.copy_to_device(address, buffer.contents)
                addresses = {
                    buffer.array.name: owned[buffer.array.name] + buffer.guard * buffer.array.data.itemsize
                    for buffer in buffers
                }
                kernarg = pack(self._signature, case, addresses)
                with hip.recording() as launches:
                    try:
                        hip.launch(self._function, case.grid, case.block, 0, 0, kernarg)
                        hip.synchronize()
                    except KernelFault as stopped:
                        if stopped.fault is None:
                            raise CheckError(f"The virtual GPU stopped {case.text()} without saying why.") from stopped
                        fault = stopped.fault
                for buffer in buffers:
                    after[buffer.array.name] = buffer.contents.copy()
                    if owned[buffer.array.name]:
                        hip.copy_to_host(after[buffer.array.name], owned[buffer.array.name])
            finally:
                hip.set_instruction_limit(None)
                for address in owned.values():
                    if address:
                        hip.free(address)
        return Run(after, fault, launches[-1] if launches else None, addresses)


class _selected:
    """Selects a device and goes back to the one before."""

    def __init__(self, index: int) -> None:
        self._index = index

    def __enter__(self) -> None:
        from gpulab import hip

        self._before = hip.current()
        hip.select(self._index)

    def __exit__(self, *exception: object) -> None:
        from gpulab import hip

        hip.select(self._before)


def pack(signature: KernelSignature, case: Case, addresses: dict[str, int]) -> bytes:
    """The kernel's argument block, each argument at its parameter's offset."""
    import numpy as np

    block = b""
    for parameter, argument in zip(signature.parameters, case.arguments, strict=True):
        if isinstance(argument, Value):
            piece = np.asarray(argument.value, dtype=parameter.dtype).tobytes()
        else:
            piece = struct.pack("<Q", addresses[argument.name])
        block += bytes(parameter.offset - len(block)) + piece
    return block
