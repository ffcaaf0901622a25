"""HIP's host interface for C: `text` makes the header of a C source of the one that HIP C++ has.

The C++ header is C in most of its lines. Enumerations and structures get names without a tag, default arguments go, and
so do the C++ forms below the C calls. dim3 has no constructor.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

_HOST = Path(__file__).parent / "include" / "gpulab" / "host"
_HEADERS = ("constants.h", "structures.h", "graphs.h", "launches.h", "per_thread.h", "memory_api.h", "runtime_api.h")
NAMES = ("hip_runtime_api.h", "hip_runtime.h", "driver_types.h", "hip_version.h")
"""In <hip/...>: what C sources include of it."""

_START = """#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
typedef struct dim3 {
  uint32_t x, y, z;
} dim3;
"""
_TAGGED = re.compile(r"^(enum|struct|union) (?:\[\[nodiscard\]\] )?(\w+) \{(.*?)^\};", re.MULTILINE | re.DOTALL)
_CALLS = re.compile(r'^extern "C" \{\n(.*?)^\}', re.MULTILINE | re.DOTALL)
_MACRO = re.compile(r"^#define \w+ \w+$", re.MULTILINE)
_DEFAULT = re.compile(r"(?<=\w) = [\w:()]+(?=[,)])")
_MADE = re.compile(r"^(static inline (\w+) [^{};]*\{\s*return) \{", re.MULTILINE)


@functools.cache
def text() -> str:
    """The header's text."""
    parts = []
    for name in _HEADERS:
        path = _HOST / name
        whole = path.read_text(encoding="utf-8") if path.exists() else ""
        whole = re.sub(r"^#(pragma once|include [^\n]*)\n", "", whole, flags=re.MULTILINE)
        calls = _CALLS.findall(whole)
        if calls:
            before = whole[: whole.index('extern "C" {')]
            parts += [before, *(_DEFAULT.sub("", call) for call in calls)]
            parts += _MACRO.findall(_CALLS.split(whole)[-1])
        else:
            parts.append(whole)
    joined = _TAGGED.sub(r"\1 \2 {\3};\ntypedef \1 \2 \2;", "\n".join(parts))
    joined = _MADE.sub(r"\1 (\2){", joined)
    version = (_HOST.parents[1] / "hip" / "hip_version.h").read_text(encoding="utf-8")
    return f"{_START}{version}\n{joined}"
