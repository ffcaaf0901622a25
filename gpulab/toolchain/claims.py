"""What a code object says its kernels take (registers, LDS, scratch memory) is what the compiler said.

Inline assembly stands in the compiler's text as it was written, so it can hold metadata, descriptors and notes of its
own. The compiler writes its own metadata behind everything else, and what a source brings with it cannot come after it:
`refuse_forged` compares that block with what a reader of the code object finds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from gpulab.errors import CompileError
from gpulab.toolchain import code_object

_BEGIN, _END = "\t.amdgpu_metadata\n", "\t.end_amdgpu_metadata"
_WORD = re.compile(r"\.(?:end_)?(?:amdgpu_metadata|amdhsa_kernel)\b", re.IGNORECASE)


def refuse_forged(text: str, elf: bytes, name: str) -> None:
    """Refuse a code object that says something else of its kernels than the compiler did.

    Args:
        text: the compiler's assembly text.
        elf: what was assembled of it.
        name: of the source.

    Raises:
        CompileError: it does.
    """
    own, count = _own(text), len(_WORD.findall(text))
    found = _by_symbol(code_object.kernel_metadata(elf))
    if found != own or count != (2 * len(own) + 2 if _BEGIN in text else 0):
        raise CompileError(
            f"{name} holds inline assembly that describes kernels.",
            why="how many registers and how much memory a kernel takes is what the compiler found; .amdgpu_metadata, "
            ".amdhsa_ directives, notes and .end in inline assembly are not accepted.",
            hint="write instructions alone in asm(...).",
        )


def _own(text: str) -> dict[str, Mapping[str, Any]]:
    """The compiler's own metadata: the last block of its text."""
    import yaml  # costs some milliseconds, and is not needed for what the cache has

    start = text.rfind(_BEGIN)
    block = text[start + len(_BEGIN) :].partition(_END)[0] if start >= 0 else ""
    document = yaml.load(block, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return _by_symbol(document["amdhsa.kernels"] if document else [])


def _by_symbol(kernels: list[dict[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The numbers of each kernel, and its arguments."""
    return {
        str(kernel[".symbol"]): {
            key: value for key, value in kernel.items() if isinstance(value, int) or key in (".args", ".name")
        }
        for kernel in kernels
        if ".symbol" in kernel
    }
