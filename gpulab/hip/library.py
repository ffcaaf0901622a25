"""Which HIP library is used, and how this process reaches it.

Moving parts: `uses_rocm()` (the decision, made once and only when needed), `primary()` and `virtual()` (the
bindings), `point_hip_python()` (called by the watcher that `gpulab.hip.prepare` leaves, see `watch`).

The decision: GPULAB_LIBRARY=rocm or =virtual if set; else ROCm where its library really answers
hipGetDeviceCount with at least one device (asked in a process of its own, so that a broken installation
cannot take this one down); else gpulab's virtual library. hip-python looks for its library at the first call,
by importing rocm.bindings.util.paths: that import is watched for, and if the virtual library is to be used it is
built then, if it is not there yet, and ROCM_PATH is set in this process to the folder it stands in. So
``from hip import hip`` itself is neither imported nor changed by gpulab.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
import os
import platform
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from gpulab.errors import HipError
from gpulab.hip.binding import Binding, CtypesBinding, HipPythonBinding
from gpulab.hip.watch import prepare

_LOCK = threading.RLock()

_PROBE = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
count = ctypes.c_int(0)
code = library.hipGetDeviceCount(ctypes.byref(count))
print("gpulab", code, count.value)
"""


def point_hip_python(after_a_call: bool = False) -> None:
    """Set ROCM_PATH in this process if hip-python is to load the virtual library.

    Args:
        after_a_call: hip-python has looked for its library before. If it found none it tries the plain file name
            from then on, which the loader finds if a library of that name is loaded already; so it is loaded.
    """
    if not uses_rocm():
        from gpulab.virtual_gpu import abi

        abi.build()
        os.environ["ROCM_PATH"] = str(abi.rocm_path())
        if after_a_call:
            for stem in abi.LIBRARIES:
                ctypes.PyDLL(str(abi.library(stem)))


_decision: bool | None = None
_rocm_state = "not looked for"


def uses_rocm() -> bool:
    """Whether ROCm's own library with a usable GPU is the default here. Decided once per process.

    Raises:
        HipError: GPULAB_LIBRARY asks for ROCm, and there is none that works.
    """
    global _decision
    if _decision is None:
        with _LOCK:
            if _decision is None:
                _decision = _decide()
    return _decision


def _decide() -> bool:
    global _rocm_state
    wish = os.environ.get("GPULAB_LIBRARY", "").strip().lower()
    if wish not in ("", "virtual", "rocm"):
        raise HipError(
            f"GPULAB_LIBRARY is {wish!r}.",
            why='it says which HIP library is used: "virtual" or "rocm".',
            hint="unset it to let gpulab choose.",
        )
    if wish == "virtual":
        _rocm_state = "not looked for: GPULAB_LIBRARY=virtual"
        return False
    devices, _rocm_state = rocm_devices()
    if wish == "rocm" and not devices:
        raise HipError(
            f"GPULAB_LIBRARY=rocm, but no AMD GPU answers through ROCm: {_rocm_state}.",
            hint="unset GPULAB_LIBRARY to use the virtual GPU, or install ROCm (rocm.docs.amd.com) for your GPU.",
        )
    return devices > 0


def rocm_library() -> str | None:
    """Path of ROCm's libamdhip64, looked for where hip-python looks; None if there is none."""
    name = {"win32": "amdhip64", "darwin": "libamdhip64.dylib"}.get(sys.platform, "libamdhip64.so")
    virtual = _virtual_folder()
    if importlib.util.find_spec("rocm_sdk") is not None:
        try:
            from rocm_sdk import find_libraries  # type: ignore[import-not-found]

            found = find_libraries("amdhip64")
            if found:
                return str(found[0])
        except Exception:
            # An installation that cannot be asked is no installation; the next place is tried.
            pass
    if sys.platform == "win32":
        return ctypes.util.find_library("amdhip64_7") or ctypes.util.find_library("amdhip64_6")
    for root in (os.environ.get("ROCM_PATH"), os.environ.get("ROCM_HOME"), "/opt/rocm"):
        if root and Path(root).absolute() != virtual and (Path(root) / "lib" / name).exists():
            return str(Path(root) / "lib" / name)
    return ctypes.util.find_library("amdhip64")


def _virtual_folder() -> Path:
    from gpulab.virtual_gpu import abi

    return abi.rocm_path().absolute()


def rocm_devices(timeout: float = 60.0) -> tuple[int, str]:
    """How many GPUs ROCm's library reports, and one sentence on what was found."""
    if sys.platform.startswith("linux") and not (os.path.exists("/dev/kfd") or os.path.exists("/dev/dxg")):
        return 0, "no AMD GPU driver (there is no /dev/kfd)"
    path = rocm_library()
    if path is None:
        return 0, "no libamdhip64 found"
    try:
        answer = subprocess.run(
            [sys.executable, "-I", "-c", _PROBE, path],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return 0, f"{path} did not answer ({error})"
    words = answer.stdout.split()
    if answer.returncode != 0 or words[:1] != ["gpulab"]:
        last = (answer.stderr.strip().splitlines() or ["no message"])[-1]
        return 0, f"{path} does not work (exit code {answer.returncode}: {last})"
    code, count = int(words[1]), int(words[2])
    if code != 0 or count < 1:
        return 0, f"{path} found no usable GPU (HIP error {code})"
    return count, f"{path} with {count} GPU{'s' if count > 1 else ''}"


def has_hip_python() -> bool:
    """Whether hip-python can be imported here (its wheels are for Linux on x86-64)."""
    if not (sys.platform.startswith("linux") and platform.machine() in ("x86_64", "AMD64")):
        return False
    try:
        return importlib.util.find_spec("hip") is not None and importlib.util.find_spec("rocm.bindings") is not None
    except (ImportError, ValueError):
        return False


_primary: Binding | None = None
_virtual: Binding | None = None


def primary() -> Binding:
    """The binding of the default library: hip-python's where it can be imported (GPULAB_BINDING=ctypes
    says otherwise), else ctypes."""
    global _primary
    if _primary is None:
        with _LOCK:
            if _primary is None:
                _primary = _open_primary()
    return _primary


def _open_primary() -> Binding:
    rocm = uses_rocm()
    prepare()
    if os.environ.get("GPULAB_BINDING", "") != "ctypes" and has_hip_python():
        try:
            binding = HipPythonBinding()
            binding.call("hipGetDeviceCount")
            # A ROCm without a GPU may have been found first (before ROCM_PATH it looks for Python packages).
            if rocm or binding.has("gpulab_missing"):
                return binding
        except (ImportError, RuntimeError):
            # hip-python raises RuntimeError where it cannot load the library; ctypes says why more plainly.
            pass
    if not rocm:
        return virtual()
    from gpulab.virtual_gpu import abi

    return CtypesBinding(rocm_library() or "", abi.PROPERTIES)


def virtual() -> Binding:
    """The binding of the virtual library; the primary one if that is virtual."""
    global _virtual
    if _primary is not None and not uses_rocm():
        return _primary
    if _virtual is None:
        with _LOCK:
            if _virtual is None:
                from gpulab.virtual_gpu import abi

                _virtual = CtypesBinding(str(abi.library("amdhip64")), abi.PROPERTIES, in_process=True)
    return _virtual


def state() -> dict[str, Any]:
    """What was decided, for `gpulab doctor`."""
    rocm = uses_rocm()
    return {"library": "rocm" if rocm else "virtual", "rocm": _rocm_state, "hip_python": has_hip_python()}
