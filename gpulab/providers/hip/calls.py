"""Calls to a HIP library that must succeed: `Calls` turns their error codes into exceptions."""

from __future__ import annotations

from typing import NoReturn

from gpulab.errors import DeviceMemoryError, GpulabError, HipError, InternalError, KernelFault
from gpulab.providers.hip.binding import Binding, Input

# hipError_t values that are treated in a special way (hip_runtime_api.h).
INVALID_VALUE, OUT_OF_MEMORY, INVALID_CONFIGURATION = 1, 2, 9
NOT_SUPPORTED, UNKNOWN = 801, 999
LAUNCH_OUT_OF_RESOURCES, COOPERATIVE_LAUNCH_TOO_LARGE = 701, 720
FAULTS = (700, 702, 710, 719)
LAUNCH_FAILURE = 719


class Calls:
    """One HIP library.

    Args:
        binding: the way to its C symbols.
    """

    def __init__(self, binding: Binding) -> None:
        self.binding = binding

    def _call(self, name: str, *arguments: Input) -> tuple[int, ...]:
        """A call that must succeed: its outputs."""
        code, *outputs = self.binding.call(name, *arguments)
        if code:
            self.fail(code, name)
        return tuple(outputs)

    def _forget_error(self) -> None:
        """Clear HIP's last error: what is told here must not be told again."""
        self.binding.call("hipGetLastError")

    def _cause(self, code: int) -> BaseException | None:
        """What this library knows of its last failure beside the code; raises what explains it better than any text
        here. It is forgotten then."""
        return None

    def _missing_call(self) -> str:
        """The name of the function that this library does not have, if that was the failure."""
        return ""

    def fail(self, code: int, call: str) -> NoReturn:
        """Raise the exception for an error code of `call`."""
        self._forget_error()
        cause = self._cause(code)
        if isinstance(cause, GpulabError) and not isinstance(cause, InternalError):
            raise cause
        name, text = self.binding.error_text(code)
        said = f"{call} failed: {text} ({name}, code {code})."
        if code == OUT_OF_MEMORY:
            raise DeviceMemoryError(
                said,
                why=f"{cause}." if cause is not None else "the device has no free block of this size.",
                hint="free arrays that are no longer needed, or use smaller ones.",
            ) from cause
        if code in FAULTS:
            raise KernelFault(
                f"A kernel was stopped: {text} ({name}).",
                why="the GPU does not say which line it was.",
                hint='run the same kernel on a virtual device, e.g. gpulab.use("virtual:gfx942"): '
                "it names the line and the thread.",
            )
        if code == NOT_SUPPORTED:
            missing = self._missing_call() if cause is None else ""
            why = f"{cause}." if cause is not None else ""
            if missing:
                why = "the virtual HIP library has the calls that the course uses, not all of HIP."
            raise HipError(f"{missing or call} is not supported ({name}).", name=name, code=code, why=why) from cause
        if code == UNKNOWN and cause is not None:
            raise InternalError(
                f"{call} failed inside the virtual GPU: {type(cause).__name__}: {cause}", call=call
            ) from cause
        origin = None if cause is None else cause.__cause__
        if isinstance(origin, GpulabError):
            why, hint = f"{origin.what.rstrip('.')}. {origin.why}", origin.hint
        else:
            why, hint = (f"{str(cause).rstrip('.')}." if cause is not None else ""), ""
        raise HipError(said, name=name, code=code, why=why, hint=hint) from cause
