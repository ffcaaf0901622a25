"""How this process reaches a HIP library, and which one hip-python is pointed to.

hip-python looks for its library at the first call, by importing rocm.bindings.util.paths: that import is watched for
(`watch`). If ROCm's devices are not used, the virtual library is built then, if it is not there yet, and ROCM_PATH is
set in this process to the folder it stands in. So ``from hip import hip`` itself is neither imported nor changed by
gpulab.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path

from gpulab.providers import registry
from gpulab.providers.hip.binding import CtypesBinding, HipPythonBinding
from gpulab.providers.hip.watch import prepare


def point_hip_python(after_a_call: bool = False) -> None:
    """Set ROCM_PATH in this process if hip-python is to load the virtual library.

    Args:
        after_a_call: hip-python has looked for its library before. If it found none it tries the plain file name
            from then on, which the loader finds if a library of that name is loaded already; so it is loaded.
    """
    if "rocm" not in registry.names():
        from gpulab.virtual_gpu import libraries

        libraries.build()
        os.environ["ROCM_PATH"] = str(libraries.rocm_path())
        if after_a_call:
            libraries.load()


def has_hip_python() -> bool:
    """Whether hip-python can be imported here (its wheels are for Linux on x86-64)."""
    if not (sys.platform.startswith("linux") and platform.machine() in ("x86_64", "AMD64")):
        return False
    try:
        return importlib.util.find_spec("hip") is not None and importlib.util.find_spec("rocm.bindings") is not None
    except (ImportError, ValueError):
        return False


def through_hip_python(wanted: Callable[[HipPythonBinding], bool]) -> HipPythonBinding | None:
    """hip-python's way to the library that it found, if that is the wanted one; None if it is another, if hip-python
    cannot be imported, or if GPULAB_BINDING=ctypes forbids it."""
    prepare()
    if os.environ.get("GPULAB_BINDING", "") == "ctypes" or not has_hip_python():
        return None
    try:
        binding = HipPythonBinding()
        binding.call("hipGetDeviceCount")
        return binding if wanted(binding) else None
    except (ImportError, RuntimeError):
        # hip-python raises RuntimeError where it cannot load the library; ctypes says why more plainly.
        return None


def through_ctypes(path: str, *, in_process: bool = False) -> CtypesBinding:
    """The library in a file; `in_process`: it is gpulab's own."""
    from gpulab.virtual_gpu.runtime.structures import DeviceProperties

    return CtypesBinding(path, DeviceProperties, in_process=in_process)


def virtual_folder() -> Path:
    """Where the virtual library stands: a ROCM_PATH that names it is no installation of ROCm."""
    from gpulab.virtual_gpu import libraries

    return libraries.rocm_path().absolute()
