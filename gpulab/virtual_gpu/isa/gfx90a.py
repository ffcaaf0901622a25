"""What gfx90a (CDNA 2) has and later gfx9 parts have not: `ROWS`.

Unfused f32 multiply-adds, other names of the caches' instructions, and the matrix shapes that came with CDNA 1.
Source: AMD Instinct MI200 (CDNA2) ISA manual, 12.7-12.11.
"""

# mypy: disable-error-code="valid-type, operator, attr-defined, arg-type, misc, no-untyped-def, index"

from __future__ import annotations

from gpulab.virtual_gpu.isa import functions as f
from gpulab.virtual_gpu.isa.control import CACHES, LINES
from gpulab.virtual_gpu.isa.expression import Value, select
from gpulab.virtual_gpu.isa.family import Family, body
from gpulab.virtual_gpu.isa.matrix import mfma
from gpulab.virtual_gpu.isa.row import Control

ROWS = Family("MI200 (CDNA2) ISA manual 12.7-12.11")
for _name, _order, _caches in (
    ("buffer_wbinvl1", "acquire", "drop first"),
    ("buffer_wbinvl1_vol", "acquire", "drop first"),
    ("buffer_invl2", "", ""),
):
    _meaning = LINES
    ROWS.add(Control(_name, "nop", meaning=_meaning, accuracy=CACHES, order=_order, caches=_caches))
vector = ROWS.rows("valu", float_mode=True, rounds=True, counted="fma_f32")


def _twice_rounded(a: Value, b: Value, c: Value) -> Value:
    """Both steps flush denormals, whatever MODE says."""
    return f.flushed(f.flushed(f.flushed(a) * f.flushed(b)) + f.flushed(c))


_MEANING = "a*b + c, rounded twice; denormals become zero."
vector("v_mad_f32")(body(lambda a, b, c: _twice_rounded(a, b, c), "a:f32 b:f32 c:f32", _MEANING))
vector("v_mac_f32")(body(lambda a, b, dst: _twice_rounded(a, b, dst), "a:f32 b:f32 dst:f32", _MEANING))
vector("v_madak_f32")(body(lambda a, b, k: _twice_rounded(a, b, k), "a:f32 b:f32 k:f32", _MEANING))
vector("v_madmk_f32")(body(lambda a, k, b: _twice_rounded(a, k, b), "a:f32 k:f32 b:f32", _MEANING))
vector("v_mad_legacy_f32")(
    body(
        lambda a, b, c: select((a == 0.0) | (b == 0.0), f.flushed(c), _twice_rounded(a, b, c)),
        "a:f32 b:f32 c:f32",
        "a*b + c where zero times anything is zero; denormals become zero.",
    )
)

for _d, _shape, _type, _old in (
    ("f32", "32x32x2_2b", "bf16", "32x32x2bf16"),
    ("f32", "16x16x2_4b", "bf16", "16x16x2bf16"),
    ("f32", "4x4x2_16b", "bf16", "4x4x2bf16"),
    ("f32", "32x32x4", "bf16", "32x32x4bf16"),
    ("f32", "16x16x8", "bf16", "16x16x8bf16"),
    ("i32", "32x32x8", "i8", "32x32x8i8"),
    ("i32", "16x16x16", "i8", "16x16x16i8"),
):
    for _row in mfma(_d, _shape, _type, old=_old, new=False):
        ROWS.add(_row)
