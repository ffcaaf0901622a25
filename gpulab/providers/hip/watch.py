"""Lets ``from hip import hip`` find the library that gpulab uses: `prepare()` leaves a watcher, `_Watcher`.

Called by ``import gpulab``, so it imports next to nothing and takes microseconds.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec

_WATCHED = "rocm.bindings.util.paths"  # what hip-python imports, at its first call, to find its library


class _Watcher:
    """Sees hip-python look for its library for the first time, and lets the import go on as it would."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if fullname == _WATCHED:
            sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]
            from gpulab.providers.hip import library

            library.point_hip_python()
        return None


def prepare() -> None:
    """Make ``from hip import hip`` find the library that gpulab uses; nothing is imported, built or changed yet."""
    if _WATCHED in sys.modules:
        from gpulab.providers.hip import library

        library.point_hip_python(after_a_call=True)
    elif not any(isinstance(finder, _Watcher) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Watcher())
