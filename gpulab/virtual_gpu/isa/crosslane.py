"""Rows that move data between lanes; readers implement them by `kind`.

readlane          dst (SGPR) = source's register in lane `b` (modulo the wave size), active or not
readfirstlane     dst (SGPR) = source in the lowest active lane; lane 0 if none is active
writelane         lane `b` of dst = a scalar, active or not
ds_permute        lane sends its data to lane address/4 (+ offset/4): the highest sending lane wins; others get 0
ds_bpermute       lane gets the data of lane address/4 (+ offset/4); 0 from an inactive lane
ds_swizzle        a fixed pattern in the offset field
permlane16        any lane of the own row of 16, chosen by 16 4-bit fields in two scalars
permlanex16       the same from the other row of 16
movrelsd_2        v_mov with m0[9:0] added to the source's register number and m0[25:16] to the destination's
swaprel           exchange of two registers whose numbers have the same added
permlane64        lanes 0-31 and 32-63 swapped; nothing on wave32
permlane16_var    (and permlanex16_var) the same as permlane16, with the lane's number in a vector register (gfx12)
ds_bpermute_fi    ds_bpermute that reads inactive lanes too (gfx12)
permlane16_swap   odd rows of 16 lanes of the first register and even ones of the second change places (gfx950)
permlane32_swap   the same with halves of the wave
"""

from __future__ import annotations

from gpulab.virtual_gpu.isa.family import Family
from gpulab.virtual_gpu.isa.row import CrossLane

CROSSLANE = Family()


def _add(name: str, kind: str, meaning: str, generation: str = "common") -> None:
    CROSSLANE.add(CrossLane(name, kind, meaning), generation)


_add("v_readlane_b32", "readlane", "One lane's value, into a scalar register.")
_add("v_readfirstlane_b32", "readfirstlane", "The lowest active lane's value, into a scalar register.")
_add("v_writelane_b32", "writelane", "A scalar into one lane.")
_add("ds_permute_b32", "ds_permute", "Forward permute: each lane names the lane that gets its data.")
_add("ds_bpermute_b32", "ds_bpermute", "Backward permute: each lane names the lane whose data it gets.")
_add("ds_swizzle_b32", "ds_swizzle", "Permute by the pattern in the offset field.")
_add("v_permlane16_b32", "permlane16", "Permute within rows of 16 lanes.", "gfx11")
_add("v_permlanex16_b32", "permlanex16", "Permute between the two rows of 16 lanes.", "gfx11")
_add("v_permlane64_b32", "permlane64", "Swap the halves of a wave64.", "gfx11")
for _kind, _where in (("movrels", "source"), ("movreld", "destination"), ("movrelsd", "source and destination")):
    _add(f"v_{_kind}_b32", _kind, f"Move with m0 added to the register number of the {_where}.", "gfx11")
_add("v_movrelsd_2_b32", "movrelsd_2", "Move with m0[9:0] and m0[25:16] added to the register numbers.", "gfx11")
_add("v_swaprel_b32", "swaprel", "Exchange with m0[9:0] and m0[25:16] added to the register numbers.", "gfx11")
_add("s_movrelsd_2_b32", "s_movrelsd_2", "Move with m0[9:0] and m0[25:16] added to the register numbers.", "gfx11")
for _kind, _where in (("movrels", "source"), ("movreld", "destination")):
    for _width in ("b32", "b64"):
        _add(f"s_{_kind}_{_width}", f"s_{_kind}", f"Move with m0 added to the register number of the {_where}.")
