"""The C symbols of the virtual HIP library: built once, they hand every call to Python in the same process.

Moving parts: `prototypes` (the table of all functions), `generate` (C text from it), `library(name)` (the
built library), `rocm_path()` (the folder that ROCM_PATH names), `handlers(library)` (the Python functions, asked
for by the C library on its first call), `calls_*` (those functions). The folder is laid out as hip-python
looks for a ROCm installation, so ROCM_PATH=<that folder> alone is enough, if the Python that runs can import gpulab.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gpulab.toolchain import cache

#: The two libraries: file name stem -> name in the tables.
LIBRARIES = {"amdhip64": "hip", "hiprtc": "hiprtc"}
_MAJOR = 7  # of the interface, in versioned file names

_lock = threading.RLock()


def _call_modules(library: str) -> list[Any]:
    if library == "hiprtc":
        from gpulab.virtual_gpu.abi import calls_rtc

        return [calls_rtc]
    from gpulab.virtual_gpu.abi import calls_device, calls_memory, calls_module, calls_spt, calls_stream

    return [calls_device, calls_stream, calls_memory, calls_module, calls_spt]


@functools.cache
def implemented(library: str) -> dict[str, Callable[..., int]]:
    """The Python function of each C function that is implemented."""
    from gpulab.virtual_gpu.abi import generate

    known = {row[0] for row in generate.table(library)}
    return {
        name: value
        for module in _call_modules(library)
        for name, value in vars(module).items()
        if name in known and callable(value)
    }


def handlers(library: str) -> tuple[Callable[..., int], ...]:
    """What the C library calls: its functions in the order of the stub, and last the one for exceptions."""
    from gpulab.virtual_gpu.abi import generate
    from gpulab.virtual_gpu.abi.common import rt

    functions = implemented(library)
    names = generate.names(library, functions)

    # Called with the exception's type, the exception and the function's number; without arguments for a call that
    # returned an error by itself.

    def failed_hip(kind: Any = None, error: BaseException | None = None, index: int = 0) -> int:
        if error is None:
            rt.take_exception()
            return 0
        return rt.failed(names[index], error)

    def failed_hiprtc(kind: Any = None, error: BaseException | None = None, index: int = 0) -> int:
        from gpulab.virtual_gpu.runtime.rtc import INTERNAL, RtcFailure

        if error is None:
            return 0
        if isinstance(error, RtcFailure):
            return error.code
        rt.failed(names[index], error)
        return INTERNAL

    if library == "hip":
        rt.missing["hip"] = _missing
    return (*(functions[name] for name in names), failed_hip if library == "hip" else failed_hiprtc)


def _missing() -> str:
    loaded = ctypes.PyDLL(str(library("amdhip64")))
    loaded.gpulab_missing.restype = ctypes.c_char_p
    name = loaded.gpulab_missing()
    return name.decode() if name else ""


# Building


def _file_name(stem: str) -> str:
    if sys.platform == "win32":
        return f"{stem}.dll"
    return f"lib{stem}.dylib" if sys.platform == "darwin" else f"lib{stem}.so"


@functools.cache
def _root() -> Path:
    """The folder for the libraries: in the user's cache, or in a temporary folder if that cannot be written."""
    chosen = cache.folder() / "virtual-rocm"
    try:
        (chosen / "lib").mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=chosen):
            return chosen
    except OSError:
        if (chosen / "lib" / _file_name("amdhip64")).exists():
            return chosen
        user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
        return Path(tempfile.gettempdir()) / f"gpulab-{user}" / "virtual-rocm"


def rocm_path() -> Path:
    """The folder to name in ROCM_PATH."""
    return _root()


def library(stem: str) -> Path:
    """Path of the built library "amdhip64" or "hiprtc"; both are built first if they are missing or old."""
    build()
    return _folder() / _file_name(stem)


def _folder() -> Path:
    return _root() / ("bin" if sys.platform == "win32" else "lib")


def _sources() -> dict[str, str]:
    from gpulab.virtual_gpu.abi import generate

    return {stem: generate.source(name, implemented_names(name)) for stem, name in LIBRARIES.items()}


def implemented_names(library: str) -> frozenset[str]:
    """Names of the implemented functions."""
    return frozenset(implemented(library))


_built = False


def build(report: Callable[[str], None] | None = None) -> bool:
    """Build the libraries if they are not there for this version of gpulab; True if they had to be built.

    Args:
        report: told in one sentence what is done and how long it took; by default standard error if that is a
            terminal. Several processes may build at the same time: each file appears whole.

    Raises:
        CompileError: the host compiler failed.
    """
    global _built
    if _built:
        return False
    with _lock:
        if _built:
            return False
        sources = _sources()
        stamp = cache.key(sys.platform, *sources.values())
        mark = _root() / "version"
        files = [_folder() / _file_name(stem) for stem in LIBRARIES]
        try:
            current = mark.read_text() == stamp and all(file.exists() for file in files)
        except OSError:
            current = False
        if not current:
            say = report or (_to_terminal if sys.stderr is not None and sys.stderr.isatty() else _to_nobody)
            say("gpulab: building the virtual HIP library (once; about 5 to 15 seconds) ...")
            started = time.perf_counter()
            for stem, text in sources.items():
                _build_one(stem, text)
            _write(mark, stamp)
            say(f"gpulab: the virtual HIP library is built ({time.perf_counter() - started:.1f} s): {_root()}")
        _built = True
        _connect(files)
        return not current


def _to_terminal(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _to_nobody(text: str) -> None:
    pass


def _write(path: Path, text: str) -> None:
    handle, made = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    with os.fdopen(handle, "w") as file:
        file.write(text)
    os.replace(made, path)


def _build_one(stem: str, text: str) -> None:
    from gpulab.toolchain.host import compile_host_library

    target = _folder() / _file_name(stem)
    # Each library has a name of its own, by which the loader finds it again when it is loaded already.
    if sys.platform == "darwin":
        options = [f"-Wl,-install_name,@rpath/{target.name}"]
    elif sys.platform == "win32":
        options = []
    else:
        options = [f"-Wl,-soname,{target.name}"]
    compile_host_library(text, target, optimize="1", options=options)
    if os.name == "posix" and sys.platform != "darwin":
        versioned = target.with_name(f"{target.name}.{_MAJOR}")
        try:
            versioned.unlink(missing_ok=True)
            versioned.symlink_to(target.name)
        except OSError:
            # Only programs that ask for the versioned name miss it.
            pass


def _connect(files: list[Path]) -> None:
    """Where the loader cannot find Python's functions by name (Windows), hand their addresses over."""
    if sys.platform != "win32":
        return
    from gpulab.virtual_gpu.abi import generate

    names = generate.python_names()
    addresses = (ctypes.c_void_p * len(names))(
        *(ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value for name in names)
    )
    for file in files:
        ctypes.PyDLL(str(file)).gpulab_python(addresses)


def __getattr__(name: str) -> Any:
    if name == "PROPERTIES":
        from gpulab.virtual_gpu.runtime.structures import DeviceProperties

        return DeviceProperties
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
