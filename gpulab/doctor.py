"""``gpulab doctor``: tries each part of this machine and says in plain words what works, and what to type where not.

A `Finding` is one line; `examine` makes them, one function per part. Nothing is believed that was not tried: the
compiler compiles, each device runs a kernel, the JupyterLab extensions are asked for by name.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gpulab.errors import GpulabError

_KERNEL = """
__global__ void twice(const int* from, int* to) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = 2 * from[i];
}
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """One part: does it work, what was seen, and what to type if it does not.

    `needed` is False for parts without which everything else works.
    """

    part: str
    works: bool
    said: str
    advice: str = ""
    needed: bool = True

    def __str__(self) -> str:
        mark = "ok    " if self.works else "not ok" if self.needed else "-     "
        lines = [f"{mark}  {self.part}: {self.said}"]
        if self.advice:
            lines += [f"        {'type' if not self.works else 'note'}: {line}" for line in self.advice.splitlines()]
        return "\n".join(lines)


def examine() -> Iterator[Finding]:
    """All findings, one after the other as they are made."""
    parts: tuple[tuple[str, Callable[[], Iterator[Finding]], str], ...] = (
        ("Python", _python, "make lab"),
        ("cache folder", _cache, "export GPULAB_CACHE=/a/folder/that/can/be/written"),
        ("compiler", _compiler, "make lab   (or: pip install ziglang, in the version that pyproject.toml names)"),
        ("HIP library", _library, "gpulab setup"),
        ("devices", _devices, "gpulab setup"),
        ("hip-python", _hip_python, "make lab   (or: pip install hip-python)"),
        ("whole programs", _programs, "gpulab hipcc program.hip -o program"),
        ("walls", _walls, "nothing: grade submissions on Linux 6.2 or later"),
        ("JupyterLab", _jupyter, "make lab   (or: pip install jupyterlab ipywidgets anywidget nbgrader)"),
    )
    for part, function, advice in parts:
        try:
            yield from function()
        except GpulabError as error:  # it knows itself what can be done
            said = (error.what, error.why, error.hint[:1].upper() + error.hint[1:])
            yield Finding(part, False, " ".join(filter(None, said)), "" if error.hint else advice)
        except Exception as error:  # a part that cannot even be tried is a finding like any other
            text = str(error).strip() or "no message"
            yield Finding(part, False, f"{type(error).__name__}: {text}", advice)


def _python() -> Iterator[Finding]:
    version = platform.python_version()
    good = (3, 11) <= sys.version_info[:2] <= (3, 13)
    yield Finding(
        "Python",
        good,
        f"{version} on {platform.system()} {platform.machine()}, {os.cpu_count()} CPUs",
        "" if good else "make lab PYTHON=/path/to/python3.12   (gpulab needs 3.11, 3.12 or 3.13)",
    )


def _cache() -> Iterator[Finding]:
    import tempfile

    from gpulab.toolchain import cache

    folder = cache.folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        yield Finding(
            "cache folder",
            False,
            f"{folder} cannot be written ({error.strerror})",
            "export GPULAB_CACHE=/a/folder/that/can/be/written",
        )
        return
    used = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    yield Finding("cache folder", True, f"{folder}, {used / 2**20:.0f} MB in use (may be deleted at any time)")


def _compiler() -> Iterator[Finding]:
    from gpulab import architectures
    from gpulab.toolchain import build

    for arch in architectures.defaults():
        start = time.perf_counter()
        build.compile(_KERNEL, arch=arch, name="doctor.hip", use_cache=False)
        took = time.perf_counter() - start
        version = importlib.metadata.version("ziglang")
        said = f"Clang of ziglang {version} compiled a kernel for {arch} in {took * 1000:.0f} ms"
        yield Finding("compiler", True, said)


def _library() -> Iterator[Finding]:
    from gpulab import providers
    from gpulab.providers.virtual import hosting

    used = {provider.name: provider for provider in providers.providers()}
    first = providers.providers()[0]
    for name, said in providers.states().items():
        if name not in used:
            yield Finding(providers.title(name), False, f"{said}; {providers.title(first.name)} is used", needed=False)
            continue
        info = used[name].library()
        yield Finding(providers.title(name), True, f"{info.path} ({info.version}, by {info.binding})")
        if info.profiler is not None:
            lacking = "rocprofv3 (package rocprofiler-sdk) was not found: gpulab.profile gives times, no counters"
            yield Finding("profiler", bool(info.profiler), info.profiler or lacking, needed=False)
    setting = f"ROCM_PATH={hosting.rocm_path()}"
    command = f"set {setting}" if os.name == "nt" else f"export {setting}"
    yield Finding(
        "programs that do not import gpulab",
        True,
        "find the virtual GPU through hip-python with this environment variable:",
        command,
    )


def _devices() -> Iterator[Finding]:
    import numpy as np

    import gpulab
    from gpulab import providers
    from gpulab.toolchain.code_object import AMDGPU

    for info in gpulab.devices():
        kind = "virtual" if info.virtual else "real"
        part = f"device {info.index}, {info.name} ({info.arch}, {kind})"
        try:
            with gpulab.using(info.index):
                numbers = np.arange(1024, dtype=np.int32)
                source, out = gpulab.to_device(numbers), gpulab.zeros(numbers.shape, "int32")
                if AMDGPU not in providers.of(info.index).formats:
                    right = bool((source.to_host() == numbers).all())
                    said = f"holds {'the right' if right else 'WRONG'} numbers; no language here makes code for it"
                    yield Finding(part, right, said)
                    continue
                kernel = gpulab.compile(_KERNEL, name="doctor.hip")["twice"]
                start = time.perf_counter()
                kernel[4, 256](source, out)
                result = out.to_host()
                took = time.perf_counter() - start
            right = bool((result == 2 * numbers).all())
            said = f"ran a kernel in {took * 1000:.0f} ms, with {'the right' if right else 'A WRONG'} result"
            yield Finding(part, right, said, "" if right else "make test   (and please report what fails)")
        except Exception as error:
            yield Finding(part, False, f"{type(error).__name__}: {error}", "gpulab setup")


def _programs() -> Iterator[Finding]:
    from gpulab.programs import jail
    from gpulab.toolchain import hosted

    why = hosted.unavailable()
    if why:
        yield Finding("whole programs", False, why, "nothing: %%hip cells work here", needed=False)
        return
    later = "the first one builds the C++ library (10 to 60 s; `gpulab setup --programs` does it now)"
    ready = "the C++ library is built" if hosted.is_ready() else later
    missing = jail.available()
    yield Finding(
        "whole programs", True, f"{ready}; {f'no jail: {missing}' if missing else 'with a jail'}", needed=False
    )


def _walls() -> Iterator[Finding]:
    from gpulab import walls

    level, why = walls.level()
    compilers = "compilers reach their own files alone" if not walls.available() else "compilers have limits alone"
    yield Finding("walls", not walls.available(), f"{level}{f' ({why})' if why else ''}; {compilers}", needed=False)


def _hip_python() -> Iterator[Finding]:
    if importlib.util.find_spec("hip") is None:
        wheels = sys.platform == "linux" and platform.machine() == "x86_64"
        yield Finding(
            "hip-python",
            False,
            "is not installed" + ("" if wheels else f"; it has no wheel for {platform.system()} {platform.machine()}"),
            "make lab" if wheels else "nothing: gpulab reaches the same calls by ctypes",
            needed=wheels,
        )
        return
    # hip-python's package "hip" gives its modules to `from hip import`, not to import_module.
    from hip import hip

    code, count = hip.hipGetDeviceCount()
    version = importlib.metadata.version("hip-python")
    good = int(code) == 0
    yield Finding(
        "hip-python",
        good,
        f"{version}, hipGetDeviceCount says {count}" if good else f"{version}: hipGetDeviceCount failed with {code}",
        "" if good else "gpulab setup",
    )


def _jupyter() -> Iterator[Finding]:
    for name in ("jupyterlab", "ipywidgets", "anywidget", "nbgrader", "papermill", "jupytext"):
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            yield Finding(name, False, "is not installed", "make lab")
            continue
        yield Finding(name, True, version)
    # An extension that JupyterLab is to load must lie where it looks for them.
    folders = [Path(sys.prefix) / "share" / "jupyter" / "labextensions"]
    for name, purpose in (
        ("@jupyter-widgets/jupyterlab-manager", "shows instruments and progress"),
        ("anywidget", "runs the instruments' scripts"),
        ("@jupyter/nbgrader", "marks graded cells"),
    ):
        there = any((folder / name / "package.json").is_file() for folder in folders)
        yield Finding(
            f"JupyterLab extension {name}",
            there,
            purpose if there else f"is missing ({purpose})",
            "" if there else "make lab",
            needed=not name.startswith("@jupyter/nbgrader"),
        )
