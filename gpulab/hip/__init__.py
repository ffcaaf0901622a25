"""The one door to a GPU: `door` has the calls, `library` the choice of HIP library, `faults` the texts.

``import gpulab.hip`` is cheap: nothing is loaded, built or asked before the first call.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpulab.hip.door import (
        DeviceInfo,
        check,
        checking,
        copy_device,
        copy_to_device,
        copy_to_host,
        counter_kinds,
        current,
        devices,
        event_create,
        event_destroy,
        event_done,
        event_elapsed_ms,
        event_record,
        event_synchronize,
        fidelity,
        find,
        find_allocation,
        free,
        free_host,
        function_attributes,
        get_function,
        get_global,
        hardware_occupancy,
        is_virtual,
        last_writers,
        launch,
        launch_cooperative,
        launch_traced,
        library_info,
        load_module,
        malloc,
        malloc_host,
        malloc_managed,
        mem_info,
        memset,
        occupancy,
        part,
        raise_fault,
        recording,
        select,
        set_instruction_limit,
        stream_create,
        stream_destroy,
        stream_done,
        stream_synchronize,
        stream_wait_event,
        synchronize,
        unload_module,
    )
    from gpulab.hip.hosting import function_names
    from gpulab.hip.watch import prepare

__all__ = [
    "DeviceInfo",
    "check",
    "checking",
    "copy_device",
    "copy_to_device",
    "copy_to_host",
    "counter_kinds",
    "current",
    "devices",
    "event_create",
    "event_destroy",
    "event_done",
    "event_elapsed_ms",
    "event_record",
    "event_synchronize",
    "fidelity",
    "find",
    "find_allocation",
    "free",
    "free_host",
    "function_attributes",
    "function_names",
    "get_function",
    "get_global",
    "hardware_occupancy",
    "is_virtual",
    "last_writers",
    "launch",
    "launch_cooperative",
    "launch_traced",
    "library_info",
    "load_module",
    "malloc",
    "malloc_host",
    "malloc_managed",
    "mem_info",
    "memset",
    "occupancy",
    "part",
    "prepare",
    "raise_fault",
    "recording",
    "select",
    "set_instruction_limit",
    "stream_create",
    "stream_destroy",
    "stream_done",
    "stream_synchronize",
    "stream_wait_event",
    "synchronize",
    "unload_module",
]


_ELSEWHERE = {"prepare": "watch", "function_names": "hosting"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"gpulab.hip.{_ELSEWHERE.get(name, 'door')}")
    value = getattr(module, name)
    globals()[name] = value
    return value
