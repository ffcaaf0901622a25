"""What gfx1150 (RDNA 3.5) has and neither gfx11 before it nor gfx12 after it has in this meaning: `ROWS`.

Minima and maxima in the scalar unit that follow MODE.IEEE, as those of the vector unit do; gfx12 has no such mode.
Source: RDNA 3.5 ISA manual, 16.3.
"""

# mypy: disable-error-code="valid-type, operator, attr-defined, arg-type, misc, no-untyped-def, index"

from __future__ import annotations

from gpulab.virtual_gpu.isa import functions as f
from gpulab.virtual_gpu.isa.family import Family, definer

ROWS = Family("RDNA 3.5 ISA manual 16.3")
define = definer(ROWS.rows("salu", float_mode=True))

for _type in ("f16", "f32"):
    _two = f"a:{_type} b:{_type} mode:u32"
    define(f"s_min_{_type}", _two, f.minimum, "Minimum; -0 is below +0; a quiet NaN gives the other operand.")
    define(f"s_max_{_type}", _two, f.maximum, "Maximum; +0 is above -0; a quiet NaN gives the other operand.")
