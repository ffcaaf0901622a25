"""ROCm's installation: `library()` is where it stands, `devices()` whether it works.

ROCm is used where its library really answers hipGetDeviceCount with at least one device. It is asked in a process of
its own, so that a broken installation cannot take this one down.
"""

from __future__ import annotations

import ctypes.util
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

_PROBE = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
count = ctypes.c_int(0)
code = library.hipGetDeviceCount(ctypes.byref(count))
print("gpulab", code, count.value)
"""


def library() -> str | None:
    """Path of ROCm's libamdhip64, looked for where hip-python looks; None if there is none."""
    from gpulab.providers.hip.library import virtual_folder

    name = {"win32": "amdhip64", "darwin": "libamdhip64.dylib"}.get(sys.platform, "libamdhip64.so")
    virtual = virtual_folder()
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


def devices(timeout: float = 60.0) -> tuple[int, str]:
    """How many GPUs ROCm's library reports, and one sentence on what was found."""
    if sys.platform.startswith("linux") and not (os.path.exists("/dev/kfd") or os.path.exists("/dev/dxg")):
        return 0, "no AMD GPU driver (there is no /dev/kfd)"
    path = library()
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
