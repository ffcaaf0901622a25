"""Image rows, and the rules that both machines follow: descriptors, texel addresses, filtering.

A resource descriptor (T#, eight scalar registers) has these fields (first bit : bits; one of RDNA 4 in brackets)

    base address / 256   0 : 40          dst_sel x y z w   96, 99, 102, 105 : 3 each
    format              52 : 9 or 8 [49] tiling           116 : 5 (0: rows, the only one that is executed)
    width - 1           62 : 14 [16]     type             124 : 4 (8 1D, 9 2D, 10 3D, 12 1D array, 13 2D array)
    height - 1          78 : 14 [16]     base array       144 : 13
    128 : 13 [14]  depth - 1 of a 3D image, last layer of an array; of a 1D or 2D image pitch - 1 in texels (14 [16])

dst_sel says which channel a shader sees: 0 zero, 1 one, 4..7 the texel's first to fourth. Where no pitch is given, rows
begin at multiples of 256 bytes. A sampler (S#, four registers) has clamp x, y, z (0, 3, 6 : 3), unnormalised (15), the
filter in the plane (84 : 2, 1 is bilinear) and along z (88 : 2; 0: as in the plane, 1 point, 2 linear), the border's
colour (126 : 2; transparent black, opaque black, opaque white).

A coordinate in texels is u = x * size (or x, unnormalised). Without a filter the texel is floor(u). With one, it is

    fixed = floor(256 * (u - 0.5) + 0.5),  texels i = fixed / 256 and i + 1,  weight of the second fixed % 256 / 256

(HIP's and CUDA's documentation: weights have 8 bits behind the point), and the result is the sum of all corners' texels
times the products of their weights, x first. A texel outside goes where the clamp says: 0 wraps, 1 mirrors, 2 is the
last texel, 3 mirrors once, 6 the border's colour. The layer of an array is rounded to the nearest and clamped. A load
outside gives 0 in all channels; a store outside does nothing. Channels that dmask leaves out of a store are 0, on
RDNA 4 the first one's value. Formats of integers are never filtered. With a16 coordinates, with d16 data are 16-bit
numbers, two to a register: compilers write so where a program converts from or to halves.

Sources: RDNA 2, RDNA 3 and RDNA 4 ISA manuals, "Image Resource Descriptor", "Sampler Resource", "Image Instructions";
LLVM's SIDefines.h (UfmtGFX10, UfmtGFX11) for the numbers of formats; ROCm's runtime for which fields HIP fills.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpulab.virtual_gpu.isa.family import Family
from gpulab.virtual_gpu.isa.row import Image

IMAGES = Family("RDNA3 ISA manual chapter 10 (Image Memory Instructions), 9.1 (buffer formats)")

_FILTER = "weights have 8 bits; the hardware's order of additions is not published"

SHAPES = {
    "SQ_RSRC_IMG_1D": "1d",
    "SQ_RSRC_IMG_2D": "2d",
    "SQ_RSRC_IMG_3D": "3d",
    "SQ_RSRC_IMG_1D_ARRAY": "1d_array",
    "SQ_RSRC_IMG_2D_ARRAY": "2d_array",
}
"""The values of the modifier `dim` that are executed, with the names of schema.IMAGE_SHAPES."""

DIRECTIONS = {"1d": 1, "2d": 2, "3d": 3, "1d_array": 1, "2d_array": 2, "buffer": 1}
TYPES = {"1d": 8, "2d": 9, "3d": 10, "1d_array": 12, "2d_array": 13}
"""Directions in which a shape filters; its number in a descriptor."""


def layered(shape: str) -> bool:
    return shape.endswith("array")


def coordinates(shape: str) -> int:
    """Address registers that name a texel."""
    return DIRECTIONS[shape] + layered(shape)


def before_coordinates(row: Image, shape: str) -> int:
    """Address registers before those of the coordinates: a bias, or derivatives."""
    if row.level != "derivatives":
        return int(row.level == "bias")
    directions = DIRECTIONS[shape]
    return 2 * ((directions + 1) // 2 if row.half_slopes else directions)


def address_registers(row: Image, shape: str, halves: bool) -> int:
    """How many address registers an image instruction of this shape has; with `halves`, coordinates and what follows
    them are 16-bit numbers, two to a register."""
    if row.action == "size":
        return 1
    count = coordinates(shape) + (row.level == "given") + row.mip
    return before_coordinates(row, shape) + ((count + 1) // 2 if halves else count)


def taps(row: Image, shape: str) -> int:
    """The most texels that one lane reads or writes."""
    return 1 << DIRECTIONS[shape] if row.action in ("sample", "gather") else 1


@dataclass(frozen=True, slots=True)
class Format:
    """A format of texels: channels of `bits` each, which hold `kind`.

    kind: "unorm" and "snorm" (integers that stand for 0..1 or -1..1), "uscaled" and "sscaled" (integers, as floats),
    "uint", "sint", "float".
    """

    bits: int
    channels: int
    kind: str

    @property
    def size(self) -> int:
        """Bytes of a texel."""
        return self.bits * self.channels // 8

    @property
    def integers(self) -> bool:
        return self.kind in ("uint", "sint")


_KINDS = ("unorm", "snorm", "uscaled", "sscaled", "uint", "sint", "float")
# first number on gfx10, on gfx11 and later, bits, channels, kinds
_GROUPS = (
    (1, 1, 8, 1, 6), (7, 7, 16, 1, 7), (14, 14, 8, 2, 6), (20, 20, 32, 1, 3), (23, 23, 16, 2, 7), (56, 42, 8, 4, 6),
    (62, 48, 32, 2, 3), (65, 51, 16, 4, 7), (72, 58, 32, 3, 3), (75, 61, 32, 4, 3),
)  # fmt: skip


def formats(set: str) -> dict[int, Format]:
    """The formats that are executed, by their numbers in the descriptors of "gfx10", "gfx11" or "gfx12"."""
    found = {}
    for old, new, bits, channels, count in _GROUPS:
        kinds = _KINDS[-3:] if count == 3 else _KINDS[:count]
        for n, kind in enumerate(kinds):
            found[(old if set == "gfx10" else new) + n] = Format(bits, channels, kind)
    return found


def _rows() -> None:
    IMAGES.add(Image("image_load", "load", meaning="Read the texel at integer coordinates, converted by its format."))
    meaning = "Read the texel at integer coordinates of one level, converted by its format."
    IMAGES.add(Image("image_load_mip", "load", mip=True, meaning=meaning))
    IMAGES.add(
        Image("image_store", "store", meaning="Write the texel at integer coordinates, converted to its format.")
    )
    meaning = "Write the texel at integer coordinates of one level, converted to its format."
    IMAGES.add(Image("image_store_mip", "store", mip=True, meaning=meaning))
    IMAGES.add(Image("image_get_resinfo", "size", meaning="Width, height, depth (or layers) and levels of an image."))
    for suffix, level, words in (
        ("", "distance", "of the level that the distance between lanes asks for"),
        ("_lz", "zero", "of the first level"),
        ("_l", "given", "of a level that an address register names"),
        ("_b", "bias", "of the level that the distance between lanes and a bias ask for"),
        ("_d", "derivatives", "of the level that derivatives ask for"),
    ):
        meaning = f"Read a texture at coordinates that need not be whole, filtered as the sampler says, {words}."
        IMAGES.add(Image(f"image_sample{suffix}", "sample", level, meaning=meaning, accuracy=_FILTER))
        if level == "derivatives":
            meaning = meaning.replace("derivatives", "derivatives in halves")
            row = Image("image_sample_d_g16", "sample", level, half_slopes=True, meaning=meaning, accuracy=_FILTER)
            IMAGES.add(row)
        else:
            meaning = f"One channel of the four texels around a place of a texture, {words}."
            IMAGES.add(Image(f"image_gather4{suffix}", "gather", level, meaning=meaning))
    for count, names in enumerate(("x", "xy", "xyz", "xyzw"), 1):
        for action, words in (("load", "Read a texel of a buffer"), ("store", "Write a texel of a buffer")):
            meaning = f"{words}: {count} channel{'s' * (count > 1)}, converted by the format in its descriptor."
            IMAGES.add(Image(f"buffer_{action}_format_{names}", action, channels=count, meaning=meaning))


_rows()
