"""Source to code object: `compile` (HIP C++), `CodeObject`, `KernelSignature`, `Parameter`.

build.py runs Clang on HIP C++; assemble.py makes a code object of assembly text; request.py is what is asked for,
code_object.py the result; diagnostics.py explains errors; options.py, listing.py, debug_info.py and elf.py check and
read texts and files; cache.py keeps results; compiler.py finds and runs the program; host.py builds libraries for this
machine; include/ holds the device headers. Names load on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpulab.toolchain.build import compile as compile
    from gpulab.toolchain.code_object import CodeObject as CodeObject
    from gpulab.toolchain.code_object import KernelSignature as KernelSignature
    from gpulab.toolchain.code_object import Parameter as Parameter
    from gpulab.toolchain.host import compile_host_library as compile_host_library

_PLACES = {
    "compile": "build",
    "CodeObject": "code_object",
    "KernelSignature": "code_object",
    "Parameter": "code_object",
    "compile_host_library": "host",
}

__all__ = ["CodeObject", "KernelSignature", "Parameter", "compile", "compile_host_library"]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
