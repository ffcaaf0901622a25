"""C libraries with HIP's calling conventions whose functions are Python's, in the same process: HIP, hiprtc and more.

Moving parts: `library` (what a library is; `found` lists this folder), a folder for each (`hip`, `hiprtc`), `values`
(C's memory), `stub` with stub.h and stub.c (the C files), `building` (the built files), `handlers` (the Python
functions, asked for by a library's C part on its first call). docs/add-a-library.md has the steps to a new one.
GPULAB_LIBRARIES names more folders with libraries.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

from gpulab.errors import InternalError
from gpulab.virtual_gpu.libraries.building import build, load, path, rocm_path
from gpulab.virtual_gpu.libraries.library import Library, StatusFailure, find, found
from gpulab.virtual_gpu.runtime.codes import INTERRUPTED

__all__ = ["build", "find", "found", "handlers", "load", "missing_call", "path", "rocm_path"]

__path__ += [folder for folder in os.environ.get("GPULAB_LIBRARIES", "").split(os.pathsep) if folder]


def handlers(name: str, numbering: str) -> tuple[object, ...]:
    """What the C part of a library calls: its functions in the order of the stub, and last the one for exceptions.

    Raises:
        InternalError: the C part numbers its functions in another way: its file is of another version of gpulab.
    """
    from gpulab.virtual_gpu.libraries.values import rt

    library = find(name)
    if numbering != library.numbering():
        raise InternalError(
            f"the file of the virtual library {name} is of another version of gpulab.",
            why=f"its functions are numbered in another way than in the gpulab at {Path(__file__).parents[2]}.",
            hint="let each version have a cache folder of its own (GPULAB_CACHE); `gpulab setup` makes the file anew.",
        )
    functions, names = library.implemented(), library.handled()

    def failed(kind: object = None, error: BaseException | None = None, index: int = 0) -> int:
        """Called with an exception's type, the exception and the function's number; without arguments after a call that
        returned an error by itself."""
        if error is None:
            rt.take_exception()
            return 0
        if isinstance(error, StatusFailure):
            return error.code
        code = rt.failed(names[index], error)
        return code if code == INTERRUPTED else library.status.translated(code)

    rt.missing[name] = lambda: missing_call(library)
    return (*(functions[each] for each in names), failed)


def missing_call(library: Library) -> str:
    """The function of a library that was last answered "not supported" in this thread, or ""."""
    loaded = ctypes.PyDLL(str(path(library.name)))
    loaded.gpulab_missing.restype = ctypes.c_char_p
    name: bytes | None = loaded.gpulab_missing()
    return name.decode() if name else ""
