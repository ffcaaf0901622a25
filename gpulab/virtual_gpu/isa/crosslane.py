"""Rows that move data between lanes; readers implement them by `kind`.

readlane          dst (SGPR) = source's register in lane `b` (modulo the wave size), active or not
readfirstlane     dst (SGPR) = source in the lowest active lane; lane 0 if none is active
writelane         lane `b` of dst = a scalar, active or not
ds_permute        lane sends its data to lane address/4 (+ offset/4): the highest sending lane wins; others get 0
ds_bpermute       lane gets the data of lane address/4 (+ offset/4); 0 from an inactive lane
ds_swizzle        a fixed pattern in the offset field
permlane16        any lane of the own row of 16, or of the `other_row`: chosen by 16 4-bit fields in two scalars, or by
                  the number in each lane of a vector register (`by_lane`, gfx12)
permlane_swap     of the first register those that are `distance` lanes further, and of the second those before them,
                  change places (gfx950)
permlane64        lanes 0-31 and 32-63 swapped; nothing on wave32
movrels           v_mov or (unit "salu") s_mov with m0 added to the source's register number; movreld: to the
                  destination's; movrelsd: to both
movrelsd_2        with m0[9:0] added to the source's register number and m0[25:16] to the destination's
swaprel           exchange of two registers whose numbers have the same added
"""

from __future__ import annotations

from gpulab.virtual_gpu.isa.family import Family
from gpulab.virtual_gpu.isa.row import CrossLane

CROSSLANE = Family("CDNA3 ISA manual chapter 12 (VOP1, VOP3, DS); RDNA3 ISA manual chapter 16")


def _add(
    name: str, kind: str, meaning: str, generation: str = "common", *, unit: str = "valu", width: int = 32,
    indexed: bool = False, other_row: bool = False,
) -> None:  # fmt: skip
    row = CrossLane(name, kind, meaning, unit=unit, width=width, indexed=indexed, other_row=other_row)
    CROSSLANE.add(row, generation)


_add("v_readlane_b32", "readlane", "One lane's value, into a scalar register.")
_add("v_readfirstlane_b32", "readfirstlane", "The lowest active lane's value, into a scalar register.")
_add("v_writelane_b32", "writelane", "A scalar into one lane.")
_add("ds_permute_b32", "ds_permute", "Forward permute: each lane names the lane that gets its data.", unit="lds")
_add("ds_bpermute_b32", "ds_bpermute", "Backward permute: each lane names the lane whose data it gets.", unit="lds")
_add("ds_swizzle_b32", "ds_swizzle", "Permute by the pattern in the offset field.", unit="lds")
_add("v_permlane16_b32", "permlane16", "Permute within rows of 16 lanes.", "gfx11")
_add("v_permlanex16_b32", "permlane16", "Permute between the two rows of 16 lanes.", "gfx11", other_row=True)
_add("v_permlane64_b32", "permlane64", "Swap the halves of a wave64.", "gfx11")
for _kind, _where in (("movrels", "source"), ("movreld", "destination"), ("movrelsd", "source and destination")):
    _meaning = f"Move with m0 added to the register number of the {_where}."
    _add(f"v_{_kind}_b32", _kind, _meaning, "gfx11", indexed=True)
    if _kind != "movrelsd":
        for _width in (32, 64):
            _add(f"s_{_kind}_b{_width}", _kind, _meaning, unit="salu", width=_width, indexed=True)
_meaning = "Move with m0[9:0] and m0[25:16] added to the register numbers."
_add("v_movrelsd_2_b32", "movrelsd_2", _meaning, "gfx11", indexed=True)
_add("s_movrelsd_2_b32", "movrelsd_2", _meaning, "gfx11", unit="salu", indexed=True)
_meaning = "Exchange with m0[9:0] and m0[25:16] added to the register numbers."
_add("v_swaprel_b32", "swaprel", _meaning, "gfx11", indexed=True)
