"""The device library built for this machine, once for all tests of the headers."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import pytest

from gpulab.toolchain import compiler, device_library, host


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    sources = compiler.package_folder() / "lib" / "libc" / "musl" / "src" / "math"
    options = ["-std=c++20", "-w", "-fno-math-errno", "-fno-exceptions", "-fno-rtti", "-nostdlib++"]
    options += ["-I", str(device_library.LIBRARY / "shims"), "-I", str(sources)]
    out = tmp_path_factory.mktemp("library") / ("device" + host.library_suffix())
    host.compile_host_library(device_library.LIBRARY / "library.cpp", out, language="c++", options=options)
    return ctypes.CDLL(str(out))


@pytest.fixture(scope="session")
def library_function(library: ctypes.CDLL) -> Callable[[str, int], Callable[..., float]]:
    """`library_function("sin_f32", count)`: an export that takes `count` numbers of its type and gives one."""

    def find(export: str, count: int = 1) -> Callable[..., float]:
        number = ctypes.c_float if export.endswith("f32") else ctypes.c_double
        found = getattr(library, f"__gpulab_{export}")
        found.argtypes, found.restype = [number] * count, number
        return found

    return find
