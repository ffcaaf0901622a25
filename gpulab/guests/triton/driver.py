"""The driver that Triton calls: gpulab's devices through Triton's own launcher for HIP.

It is Triton's `HIPDriver` but for what that takes from PyTorch: which device is current, streams, events and memory.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import sysconfig
from pathlib import Path
from types import FrameType
from typing import Any

from triton import knobs
from triton.backends.amd import driver as amd
from triton.runtime import _allocation

from gpulab.guests.triton.host import say_once


class GpulabDriver(amd.HIPDriver):
    """Triton's driver for AMD GPUs, on gpulab's devices."""

    def __init__(self) -> None:
        from gpulab import providers

        # What Triton 3.9 does where nothing is said, with a warning at the first compile of each process: a * b + c is
        # one instruction, as in HIP.
        os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
        _find_library()
        if knobs.build.impl is None:
            knobs.build.impl = _build
        self.utils = amd.HIPUtils()
        self.launcher_cls = Launcher
        self.get_current_device = providers.current
        self.set_current_device = providers.select
        self.get_current_stream = lambda index: 0
        self.get_device_capability = _capability
        if isinstance(_allocation._allocator.get(), _allocation.NullAllocator):
            _allocation.set_allocator(_scratch)

    @staticmethod
    def is_active() -> bool:
        """Whether no other driver is: those of PyTorch with a GPU."""
        if importlib.util.find_spec("torch") is None:
            return True
        import torch

        return not torch.cuda.is_available()

    def get_device_interface(self) -> Any:
        """What `triton.testing.do_bench` measures with. On a virtual device the times are modelled, and it says so."""
        return Interface()

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cpu")

    def get_empty_cache_for_benchmark(self) -> None:
        """Nothing: each launch is modelled with empty caches."""

    def clear_cache(self, cache: None) -> None:
        pass

    def allocate_default_profile_scratch(self, size: int, alignment: int, stream: Any) -> Any:
        return _scratch(size, alignment, stream)


class Launcher(amd.HIPLauncher):
    """Triton's launcher; a fault of the kernel is raised at its launch, as gpulab's own launches do.

    Arguments in the memory of the host (`host.py`) are copied around it.
    """

    def __call__(self, *arguments: Any) -> None:
        from gpulab import providers
        from gpulab.guests.triton.host import Copies

        copies = Copies()
        try:
            super().__call__(*(copies.on_device(argument) for argument in arguments))
            copies.back()
        except SystemError as error:  # its hooks run while the error of HIP is set
            if error.__cause__ is None:
                raise
            raise error.__cause__ from None
        finally:
            instruments = providers.selected().instruments
            if instruments is not None:
                instruments.raise_fault()


class Interface:
    """The part of PyTorch's device interface that measuring takes: events, and waiting for the device."""

    def __init__(self) -> None:
        from gpulab import providers
        from gpulab.device import synchronize
        from gpulab.stream import Event as Mark

        self.synchronize = synchronize
        self._event = Mark
        info = providers.devices()[providers.current()]
        self._virtual = info.virtual
        if info.virtual:
            say_once(
                f"gpulab: {info.name} is virtual here, so these times are modelled (docs/timing.md), not measured."
            )

    def Event(self, **_: bool) -> Any:
        """An event; whatever is asked of it, it has a time."""
        return Event(self._event(), self._virtual)


class Event:
    """An event as PyTorch has it, on one of gpulab's."""

    def __init__(self, event: Any, virtual: bool) -> None:
        self._event, self._virtual = event, virtual

    def record(self) -> None:
        self._event.record()

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds until another event.

        `triton.testing.do_bench` first estimates a launch's time, and then repeats the launch for 100 ms: of a modelled
        time that would be tens of thousands of launches, which all take the same. So on a virtual device its estimate
        is so long that it repeats the launch once.
        """
        found = float(end._event.elapsed_ms(self._event))
        return max(found, _LONG) if self._virtual and _estimates(sys._getframe(1)) else found


_LONG = 1e6  # milliseconds


def _estimates(caller: FrameType) -> bool:
    """Does do_bench ask, before it has its estimate?"""
    is_it = caller.f_globals.get("__name__") == "triton.testing" and caller.f_code.co_name == "do_bench"
    return is_it and "estimate_ms" not in caller.f_locals


def _capability(device: int | None = None) -> tuple[int, int]:
    from gpulab import architectures, providers

    info = providers.devices()[providers.current() if device is None else device]
    found = architectures.get(info.arch)
    return found.major, found.minor


def _scratch(size: int, alignment: int, stream: Any) -> Any:
    """Memory that a kernel needs beside its arguments."""
    from gpulab.memory import empty

    return empty(max(size, 1), "int8")


def _find_library() -> None:
    """Name HIP's library of the current device to Triton, as TRITON_LIBHIP_PATH does."""
    from gpulab import providers

    path = providers.selected().library().path
    if Path(path).name.startswith("libamdhip64.so"):
        knobs.amd.libhip_path = path


def _build(
    name: str, source: str, folder: str, library_dirs: list[str], include_dirs: list[str], libraries: list[str]
) -> str:
    """Build one of Triton's C modules with the compiler that gpulab brings."""
    from gpulab.toolchain import host

    target = Path(folder, f"{name}{sysconfig.get_config_var('EXT_SUFFIX')}")
    includes = [*include_dirs, folder, sysconfig.get_paths()["include"]]
    options = [*(f"-I{each}" for each in includes), *(f"-L{each}" for each in library_dirs)]
    options += [f"-l{each}" for each in libraries]
    host.compile_host_library(Path(source), target, options=options)
    return os.fspath(target)
