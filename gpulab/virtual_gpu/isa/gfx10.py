"""What gfx10.3 (RDNA 2) has and gfx11 has not: `ROWS`. Most of its instructions are gfx11's under the names of gfx9.

Source: RDNA 2 ISA manual, chapter 12.
"""

from __future__ import annotations

from gpulab.virtual_gpu.isa.family import Family
from gpulab.virtual_gpu.isa.memory import combined, exchange_if_equal, higher, lower
from gpulab.virtual_gpu.isa.row import Memory

ROWS = Family("RDNA 2 ISA manual chapter 12")


def _atomics() -> None:
    for space in ("global", "flat", "buffer"):
        for name, function, parameters, meaning in (
            ("fmin", lower, "memory data", "memory = min(memory, data), f64"),
            ("fmax", higher, "memory data", "memory = max(memory, data), f64"),
            ("fcmpswap", exchange_if_equal, "memory data compare", "memory = data where it equals the comparand, f64"),
        ):
            mnemonic = f"{space}_atomic_{name}_x2"
            combine = combined(mnemonic, "f64", function, parameters)
            ROWS.add(Memory(mnemonic, space, "atomic", 64, combine=combine, meaning=meaning))


_atomics()
