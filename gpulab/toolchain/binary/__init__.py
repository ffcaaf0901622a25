"""Code objects that others made: machine code is read back into assembly text, which everything else here takes.

`assembly_of(elf)` gives the text. Moving parts: `decoder.py` runs LLVM's disassembler over the code (in a process of
its own, `decode.c`), and has every instruction assembled again; `descriptor.py` reads kernel descriptors; `lines.py`
reads the lines of the source, where the object has them; `text.py` puts the text together.
"""

from __future__ import annotations

from gpulab.toolchain.binary.text import Foreign as Foreign
from gpulab.toolchain.binary.text import arch_of as arch_of
from gpulab.toolchain.binary.text import assembly_of as assembly_of
