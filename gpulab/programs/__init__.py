"""Whole HIP C++ programs: `build` makes a `HostProgram` of a source with main; its `run` gives a `ProgramRun`.

The command (`gpulab hipcc`): command.py does what a command line asks, arguments.py understands it, units.py compiles
a source, objects.py links, bundles.py has the layouts of device code, runtimes.py OpenMP, MPI, ROCTX;
installation.py and tools.py are commands for Makefiles and CMake.

Moving parts: options.py (what hipcc's command line means here), building.py (host and device passes, fat binary, link),
launcher.cpp (the start of every program), start.py (the Python process in which a program runs on the virtual GPU),
report.py (records of that process as JSON), program.py (running),
jail.py (running what nobody has read), making.py (a project with a Makefile).
docs/programs.md says what is in a program's file and how it starts. Names load on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpulab.programs.building import build as build
    from gpulab.programs.making import make as make
    from gpulab.programs.options import DEFAULT_ARCHS as DEFAULT_ARCHS
    from gpulab.programs.program import HostProgram as HostProgram
    from gpulab.programs.program import ProgramRun as ProgramRun

_PLACES = {
    "build": "building",
    "make": "making",
    "DEFAULT_ARCHS": "options",
    "HostProgram": "program",
    "ProgramRun": "program",
}

__all__ = ["DEFAULT_ARCHS", "HostProgram", "ProgramRun", "build", "make"]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
