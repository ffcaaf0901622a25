"""The door to GPUs: every call that the rest of gpulab makes to one goes to a `Provider`.

Moving parts: `provider` (the port), `registry` (which providers there are, which device is selected), `memory`
(Python's buffers), `launches` (their records), `capabilities` (what only some can do, and the errors that say so),
`faults` and `findings` (texts). The members: `rocm` and `virtual`, both on `hip`, a base for libraries with HIP's C
interface. ``import gpulab.providers`` is cheap: nothing is loaded, built or asked before the first call.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpulab.providers.capabilities import analysis, instruments, lacking
    from gpulab.providers.launches import Records, recording
    from gpulab.providers.memory import copy_to_device, copy_to_host
    from gpulab.providers.provider import DeviceInfo, Instruments, Limits, Provider
    from gpulab.providers.registry import (
        all_instruments,
        current,
        devices,
        environment,
        find,
        first,
        here,
        names,
        of,
        providers,
        select,
        selected,
        states,
        title,
    )

__all__ = [
    "DeviceInfo",
    "Instruments",
    "Limits",
    "Provider",
    "Records",
    "all_instruments",
    "analysis",
    "copy_to_device",
    "copy_to_host",
    "current",
    "devices",
    "environment",
    "find",
    "first",
    "here",
    "instruments",
    "lacking",
    "names",
    "of",
    "providers",
    "recording",
    "select",
    "selected",
    "states",
    "title",
]

_HOME = {
    **dict.fromkeys(("DeviceInfo", "Instruments", "Limits", "Provider"), "provider"),
    **dict.fromkeys(("analysis", "instruments", "lacking"), "capabilities"),
    **dict.fromkeys(("copy_to_device", "copy_to_host"), "memory"),
    **dict.fromkeys(("Records", "recording"), "launches"),
}


if not TYPE_CHECKING:  # else every name would be there, of type Any

    def __getattr__(name):
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"gpulab.providers.{_HOME.get(name, 'registry')}"), name)
        globals()[name] = value
        return value
