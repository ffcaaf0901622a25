"""gpulab: write HIP kernels in a notebook, run them on an AMD GPU or a virtual one, and see what the hardware does.

The names of `__all__` are what learners use; each is loaded when it is first asked for, so that
``import gpulab`` stays quick. Inside IPython the import also registers ``%%hip`` and ``%%cuda``.
"""

from __future__ import annotations

import importlib
import sys
import types
from typing import TYPE_CHECKING, Any

from gpulab import errors as errors
from gpulab import hip as _hip
from gpulab.errors import (
    ArgumentError,
    AssemblyError,
    CapabilityError,
    CheckedFault,
    CheckError,
    CompileError,
    CounterNotFound,
    DeviceMemoryError,
    DeviceNotFound,
    GpulabError,
    HipError,
    InternalError,
    KernelFault,
    KernelNotFound,
    KernelTimeout,
    KernelTrap,
    LaunchError,
    LaunchLimitError,
    LaunchNotFound,
    MemoryFault,
    ProfilerError,
    ProviderError,
    TraceError,
    UnsupportedInstruction,
)

if TYPE_CHECKING:
    from gpulab.checked import checked as checked
    from gpulab.chip import chip as chip
    from gpulab.device import device as device
    from gpulab.device import devices as devices
    from gpulab.device import memory_info as memory_info
    from gpulab.device import set_limit as set_limit
    from gpulab.device import synchronize as synchronize
    from gpulab.device import use as use
    from gpulab.device import using as using
    from gpulab.fidelity import fidelity as fidelity
    from gpulab.grading import check as check
    from gpulab.grading import hint as hint
    from gpulab.grading import progress as progress
    from gpulab.grading.task import exercise as exercise
    from gpulab.instructions import instruction as instruction
    from gpulab.measure import measure as measure
    from gpulab.memory import DeviceArray as DeviceArray
    from gpulab.memory import Pointer as Pointer
    from gpulab.memory import empty as empty
    from gpulab.memory import pinned as pinned
    from gpulab.memory import to_device as to_device
    from gpulab.memory import zeros as zeros
    from gpulab.module import Kernel as Kernel
    from gpulab.module import Module as Module
    from gpulab.module import compile as compile
    from gpulab.module import load as load
    from gpulab.occupancy import occupancy as occupancy
    from gpulab.porting import hipify as hipify
    from gpulab.profile import profile as profile
    from gpulab.stream import Event as Event
    from gpulab.stream import Stream as Stream
    from gpulab.trace import load_trace as load_trace
    from gpulab.trace import trace as trace
    from gpulab.views.lds_banks import lds_banks as lds_banks
    from gpulab.weak import weak as weak

__version__ = "0.1.0"

#: public name -> the module that defines it
_HOME = {
    "device": "gpulab.device",
    "devices": "gpulab.device",
    "memory_info": "gpulab.device",
    "set_limit": "gpulab.device",
    "synchronize": "gpulab.device",
    "use": "gpulab.device",
    "using": "gpulab.device",
    "DeviceArray": "gpulab.memory",
    "Pointer": "gpulab.memory",
    "empty": "gpulab.memory",
    "pinned": "gpulab.memory",
    "to_device": "gpulab.memory",
    "zeros": "gpulab.memory",
    "Kernel": "gpulab.module",
    "Module": "gpulab.module",
    "compile": "gpulab.module",
    "load": "gpulab.module",
    "measure": "gpulab.measure",
    "Event": "gpulab.stream",
    "Stream": "gpulab.stream",
    "checked": "gpulab.checked",
    "weak": "gpulab.weak",
    "fidelity": "gpulab.fidelity",
    "occupancy": "gpulab.occupancy",
    "hipify": "gpulab.porting",
    "instruction": "gpulab.instructions",
    "chip": "gpulab.chip",
    "lds_banks": "gpulab.views.lds_banks",
    "profile": "gpulab.profile",
    "trace": "gpulab.trace",
    "load_trace": "gpulab.trace",
    "check": "gpulab.grading",
    "exercise": "gpulab.grading.task",
    "hint": "gpulab.grading",
    "progress": "gpulab.grading",
}

__all__ = [
    "ArgumentError",
    "AssemblyError",
    "CapabilityError",
    "CheckError",
    "CheckedFault",
    "CompileError",
    "CounterNotFound",
    "DeviceArray",
    "DeviceMemoryError",
    "DeviceNotFound",
    "Event",
    "GpulabError",
    "HipError",
    "InternalError",
    "Kernel",
    "KernelFault",
    "KernelNotFound",
    "KernelTimeout",
    "KernelTrap",
    "LaunchError",
    "LaunchLimitError",
    "LaunchNotFound",
    "MemoryFault",
    "Module",
    "Pointer",
    "ProfilerError",
    "ProviderError",
    "Stream",
    "TraceError",
    "UnsupportedInstruction",
    "check",
    "checked",
    "chip",
    "compile",
    "device",
    "devices",
    "empty",
    "exercise",
    "fidelity",
    "hint",
    "hipify",
    "instruction",
    "lds_banks",
    "load",
    "load_trace",
    "measure",
    "memory_info",
    "occupancy",
    "pinned",
    "profile",
    "progress",
    "set_limit",
    "synchronize",
    "to_device",
    "trace",
    "use",
    "using",
    "weak",
    "zeros",
]


class _Package(types.ModuleType):
    """This package's type: `gpulab.profile` stays the function after the module of the same name was imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, types.ModuleType) and name in _HOME:
            return
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


#: names that other libraries have for it
_ELSEWHERE = {
    "array": "to_device", "asarray": "to_device", "fromnumpy": "to_device", "ones": "to_device", "full": "to_device",
    "malloc": "empty", "alloc": "empty", "sync": "synchronize", "rawkernel": "compile", "sourcemodule": "compile",
}  # fmt: skip


def _nearest(name: str) -> str:
    """The public name like this one but for capitals and underscores, or the one that begins with it, or a near one."""
    import difflib

    if (other := _ELSEWHERE.get(name.lower().replace("_", ""))) is not None:
        return other
    plain = {each.lower().replace("_", ""): each for each in sorted(__all__)}
    word = name.lower().replace("_", "")
    begun = [each for each in plain if each.startswith(word)] if len(word) > 2 else []
    near = [word] if word in plain else begun if len(begun) == 1 else difflib.get_close_matches(word, plain, 1)
    return plain[near[0]] if near else ""


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        meant = "" if name.startswith("_") else _nearest(name)
        meant = f"; did you mean gpulab.{meant}?" if meant else ""
        raise AttributeError(f"module 'gpulab' has no attribute {name!r}{meant}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext gpulab``: register ``%%hip`` and the display of gpulab's errors."""
    from gpulab.magic import register

    register(shell)


def _register_in_notebook() -> None:
    """Inside IPython `import gpulab` is enough to have ``%%hip``."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    if shell is not None:
        load_ipython_extension(shell)


# From here on `from hip import hip` finds the library that gpulab uses; nothing is loaded yet.
_hip.prepare()
_register_in_notebook()
