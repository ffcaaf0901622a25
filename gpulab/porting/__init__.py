"""Porting CUDA programs: `hipify` translates C++ text, `lookup` and `table` show what HIP calls CUDA's names."""

from __future__ import annotations

from gpulab.porting.device import device_part, has_main
from gpulab.porting.findings import Note
from gpulab.porting.names import Name, apis, lookup, sources, table
from gpulab.porting.translate import Change, Translation, hipify

__all__ = [
    "Change",
    "Name",
    "Note",
    "Translation",
    "apis",
    "device_part",
    "has_main",
    "hipify",
    "lookup",
    "sources",
    "table",
]
