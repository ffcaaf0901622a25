"""For programs that call hip-python: `prepare` lets it find gpulab's library, `check` explains its errors."""

from __future__ import annotations

from typing import Any

from gpulab.providers.hip.watch import prepare as prepare


def check(result: Any, call: str = "a HIP call") -> Any:
    """Raise the exception for a result of hip-python that is not success.

    Args:
        result: what a function of hip-python returned, ``(code, value, ...)``, or a code alone.
        call: the function's name, for the message.

    Returns:
        The value behind the code (a tuple if there are several, None if there is none).

    Raises:
        HipError, or what a call of gpulab would raise: KernelFault, DeviceMemoryError.
        ArgumentError: that is no result of a call.
    """
    from gpulab import providers
    from gpulab.errors import ArgumentError, HipError
    from gpulab.providers.hip.provider import HipProvider

    code, *values = result if isinstance(result, tuple) and result else (result,)
    if isinstance(code, (bool, str)) or not hasattr(code, "__int__"):
        raise ArgumentError(
            f"gpulab.hip.check takes what a call of hip-python returned, and was given {result!r}.",
            hint="for example gpulab.hip.check(hip.hipDeviceSynchronize()).",
        )
    if int(code):
        if type(code).__name__ == "hiprtcResult":
            raise HipError(
                f"{call} failed: {code.name}.",
                name=code.name,
                code=int(code),
                hint="the log tells more: hiprtcGetProgramLog." if int(code) == 6 else "",
            )
        # hip-python loads one library: that of the first provider which has HIP's interface.
        next(found for found in providers.providers() if isinstance(found, HipProvider)).fail(int(code), call)
    return values[0] if len(values) == 1 else tuple(values) or None
