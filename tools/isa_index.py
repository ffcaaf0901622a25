#!/usr/bin/env python3
"""The list of all instructions that the virtual GPUs execute: `make isa-index` writes gpulab/virtual_gpu/isa/INDEX.tsv.

With `--check` it is compared and not written.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INDEX = ROOT / "gpulab" / "virtual_gpu" / "isa" / "INDEX.tsv"


def main() -> int:
    """Write or compare; 1 if it differs."""
    sys.path.insert(0, str(ROOT))
    from gpulab.virtual_gpu.isa import index

    text = "\n".join(index.lines()) + "\n"
    if "--check" in sys.argv[1:]:
        if INDEX.read_text(encoding="utf-8") == text:
            return 0
        print(f"{INDEX.relative_to(ROOT)} is not up to date; run `make isa-index`.")
        return 1
    INDEX.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
