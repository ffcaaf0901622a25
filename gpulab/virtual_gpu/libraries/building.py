"""The libraries as files: `build` makes them once, `path` is one of them, `rocm_path` the folder that ROCM_PATH names.

The folder is laid out as hip-python looks for a ROCm installation, so ROCM_PATH=<that folder> alone is enough, if the
Python that runs can import gpulab.
"""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from gpulab.toolchain import cache
from gpulab.virtual_gpu.libraries import stub
from gpulab.virtual_gpu.libraries.library import Library, find, found
from gpulab.virtual_gpu.machine.native import build as native

_HERE = Path(__file__).parent
_SHARED = (_HERE / "stub.c", _HERE / "stub.h")
#: How C files are compiled: a warning is a mistake.
OPTIONS = ("-fvisibility=hidden", "-Wall", "-Wextra", "-Werror")

_lock = threading.RLock()
_built: set[str] = set()


def file_name(library: Library) -> str:
    """What a library's file is called on this system."""
    if sys.platform == "win32":
        return f"{library.file}.dll"
    return f"lib{library.file}.dylib" if sys.platform == "darwin" else f"lib{library.file}.so"


@functools.cache
def rocm_path() -> Path:
    """The folder to name in ROCM_PATH: in the user's cache, or in a temporary folder if that cannot be written."""
    chosen = cache.folder() / "virtual-rocm"
    try:
        (chosen / "lib").mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=chosen):
            return chosen
    except OSError:
        if (chosen / "lib" / file_name(find("hip"))).exists():
            return chosen
        return _temporary() / "virtual-rocm"


def _temporary() -> Path:
    """The user's own folder for temporary files. Where all users share one, another user may have made a folder of the
    expected name, with a library in it: then it is one of this process alone."""
    if not hasattr(os, "getuid"):
        return Path(tempfile.gettempdir()) / f"gpulab-{os.environ.get('USERNAME', 'user')}"
    chosen = Path(tempfile.gettempdir()) / f"gpulab-{os.getuid()}"
    try:
        chosen.mkdir(mode=0o700, exist_ok=True)
        state = chosen.lstat()
    except OSError:
        return cache.lasting()
    mine = stat.S_ISDIR(state.st_mode) and state.st_uid == os.getuid() and not state.st_mode & 0o022
    return chosen if mine else cache.lasting()


def path(name: str) -> Path:
    """Path of the built library of this name, such as "hip"; all are built first if they are missing or old."""
    build()
    return _file(find(name))


def _file(library: Library) -> Path:
    return rocm_path() / ("bin" if sys.platform == "win32" else "lib") / file_name(library)


def load(everywhere: bool = False) -> None:
    """Load all libraries into this process.

    Args:
        everywhere: their symbols are found by all that is loaded later (RTLD_GLOBAL).
    """
    build()
    for library in found():
        ctypes.PyDLL(str(_file(library)), mode=ctypes.RTLD_GLOBAL if everywhere else ctypes.DEFAULT_MODE)


def build(report: Callable[[str], None] | None = None) -> bool:
    """Build the libraries if they are not there for this version of gpulab; True if one had to be built.

    Args:
        report: told in one sentence what is done and how long it took; by default standard error if that is a
            terminal. One process builds at a time, and each file appears whole.

    Raises:
        CompileError: the host compiler failed.
    """
    if len(_built) == len(found()):
        return False
    with _lock:
        texts = {library.name: stub.source(library) for library in found() if library.name not in _built}
        old = bool(_old(texts))
        if old:
            native.begin()  # the first launch needs that, and it takes as long
            with cache.alone(rocm_path()):
                _build_all(texts, report)
        for name in texts:
            _connect(_file(find(name)))
            _built.add(name)
        return old


def _old(texts: dict[str, str]) -> list[Library]:
    """Libraries whose file is missing, or is not made of these texts."""
    return [library for library in found() if library.name in texts and not _is_current(library, texts)]


def _build_all(texts: dict[str, str], report: Callable[[str], None] | None) -> None:
    """Build what is old. Another process may have done so meanwhile."""
    old = _old(texts)
    if not old:
        return
    say = report or (_to_terminal if sys.stderr is not None and sys.stderr.isatty() else _to_nobody)
    say("gpulab: building the virtual HIP library (once; about 1 to 5 seconds) ...")
    started = time.perf_counter()
    for library in old:
        _build_one(library, texts[library.name])
        _write(_mark(library), _stamp(library, texts[library.name]))
    say(f"gpulab: the virtual HIP library is built ({time.perf_counter() - started:.1f} s): {rocm_path()}")


def _stamp(library: Library, text: str) -> str:
    own = [place for place in (library.own("own.h"), library.own("own.c")) if place is not None]
    sources = (place.read_bytes() for place in (*_SHARED, *own))
    return cache.key(sys.platform, platform.machine(), text, " ".join(OPTIONS), *sources)


def _mark(library: Library) -> Path:
    return rocm_path() / f"version-{library.name}"


def _is_current(library: Library, texts: dict[str, str]) -> bool:
    try:
        return _mark(library).read_text() == _stamp(library, texts[library.name]) and _file(library).exists()
    except OSError:
        return False


def _to_terminal(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _to_nobody(text: str) -> None:
    pass


def _write(target: Path, text: str) -> None:
    handle, made = tempfile.mkstemp(dir=target.parent, prefix=".new-")
    with os.fdopen(handle, "w") as file:
        file.write(text)
    os.replace(made, target)


def compile_options(library: Library) -> Sequence[str]:
    """Options for the C files of a library: where headers are, and how strict the compiler is."""
    return (f"-I{_HERE}", f"-I{library.folder}", *OPTIONS)


def _build_one(library: Library, text: str) -> None:
    from gpulab.toolchain.host import compile_host_library

    target = _file(library)
    own = library.own("own.c")
    options = [*compile_options(library), str(_SHARED[0]), *([str(own)] if own is not None else [])]
    # Each library has a name of its own, by which the loader finds it again when it is loaded already.
    versions = sys.platform not in ("win32", "darwin")
    if sys.platform == "darwin":
        options.append(f"-Wl,-install_name,@rpath/{target.name}")
    elif versions:
        options.append(f"-Wl,-soname,{target.name}")
    compile_host_library(text, target, optimize="1", options=options)
    if versions:
        versioned = target.with_name(f"{target.name}.{library.major}")
        try:
            versioned.unlink(missing_ok=True)
            versioned.symlink_to(target.name)
        except OSError:
            # Only programs that ask for the versioned name miss it.
            pass


def _connect(file: Path) -> None:
    """Where the loader cannot find Python's functions by name (Windows), hand their addresses over."""
    if sys.platform != "win32":
        return
    loaded = ctypes.PyDLL(str(file))
    loaded.gpulab_python_names.restype = ctypes.POINTER(ctypes.c_char_p)
    addresses: list[int] = []
    for name in loaded.gpulab_python_names():
        if name is None:
            break
        addresses.append(ctypes.cast(getattr(ctypes.pythonapi, name.decode()), ctypes.c_void_p).value or 0)
    loaded.gpulab_python((ctypes.c_void_p * len(addresses))(*addresses))
