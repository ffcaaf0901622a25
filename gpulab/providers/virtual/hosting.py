"""What a program needs that runs in this process on the virtual library.

`prepare` builds what it uses, `load` loads it, `install` and `finish` are its begin and end, `libraries` what it may
call.

`install` loads the virtual libraries so that the program finds their C symbols, and says who is told of faults.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Callable

from gpulab.records import AllocationNote, Fault, Transfer
from gpulab.toolchain import hosted


def libraries() -> tuple[hosted.LinkedLibrary, ...]:
    """The libraries that a program may call: HIP, hiprtc and those that it names with -l."""
    from gpulab.virtual_gpu import libraries as virtual

    return tuple(library.linked() for library in virtual.found())


def rocm_path() -> str:
    """The folder to name in ROCM_PATH, for programs that do not import gpulab."""
    from gpulab.virtual_gpu import libraries

    return str(libraries.rocm_path())


def prepare_libraries() -> None:
    """Build the virtual libraries, if they are not there."""
    from gpulab.virtual_gpu import libraries

    libraries.build()


def prepare() -> None:
    """Build what a process needs that may start no compiler: the virtual libraries, the virtual GPU's support code."""
    from gpulab.virtual_gpu import libraries
    from gpulab.virtual_gpu.machine.native import build as support_code

    libraries.build()
    support_code.functions()


def begin() -> None:
    """Let a process of its own do that. It may fail: who needs it does the same then, and says why."""
    code = f"from {__name__} import prepare; prepare()"
    with contextlib.suppress(OSError):
        subprocess.Popen(
            [sys.executable, "-P", "-c", code], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip


def load() -> None:
    """Load the modules that most programs use, and LLVM's code generator.

    Not the libraries' functions: they make a runtime with its devices when they are loaded.
    """
    import importlib
    import pkgutil

    from gpulab.virtual_gpu.translate import jit

    for name in ("runtime", "isa", "machine", "translate"):
        package = importlib.import_module(f"gpulab.virtual_gpu.{name}")
        for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            importlib.import_module(found.name)
    for name in ("gpulab.virtual_gpu.libraries.building", "gpulab.providers.launches", "yaml"):
        importlib.import_module(name)
    jit.host()


def install(
    on_fault: Callable[[Fault], None], on_failure: Callable[[str, str, str], None], guarded: bool = True
) -> None:
    """Load the virtual libraries with their symbols for all.

    Args:
        guarded: the program's host code is stopped where it follows a device pointer.
        on_fault: told of each fault when a HIP call returns its code.
        on_failure: told the call, the name of the code and the reason where a code alone does not tell enough.
    """
    from gpulab.virtual_gpu import libraries, runtime

    here = runtime.instance(guarded)
    libraries.load(everywhere=True)
    here.announce, here.explain = on_fault, on_failure


def device_addresses() -> tuple[int, int]:
    """(first address, bytes) of the range in which all addresses of device memory lie."""
    from gpulab.virtual_gpu import runtime

    arena = runtime.instance().arena
    return arena.base, arena.reach


def nearest(address: int) -> AllocationNote | None:
    """The allocation of a device address, or the one next to it."""
    from gpulab.virtual_gpu import runtime

    return runtime.instance().arena.nearest(address)


def translate_ahead() -> None:
    """From now on, kernels of programs that are loaded are translated by a second process too. Not for jailed ones."""
    from gpulab.virtual_gpu import runtime
    from gpulab.virtual_gpu.runtime.ahead import Ahead

    runtime.instance().modules.beside = Ahead


def watch_memory() -> None:
    """From now on, note in checked launches which bytes of memory kernels change, and what is copied."""
    from gpulab.virtual_gpu import runtime
    from gpulab.virtual_gpu.runtime.provenance import Provenance

    here = runtime.instance()
    here.provenance = Provenance(here.arena)


def transfers() -> tuple[Transfer, ...]:
    """What went between host and device since `watch_memory`."""
    from gpulab.virtual_gpu import runtime

    here = runtime.instance()
    return () if here.provenance is None else tuple(here.provenance.transfers)


def finish() -> tuple[Fault, ...]:
    """Print what kernels still had to print; the faults that no HIP call has returned."""
    from gpulab.virtual_gpu import runtime

    here = runtime.instance()
    here.flush_printed()
    return tuple(device.fault for device in here.devices if device.fault is not None)
