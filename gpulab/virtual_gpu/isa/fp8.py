"""FP8 conversions (VOP1 and VOP3): `Format` describes an 8-bit float type, `FP8` has the rows of gfx942.

There both types are FNUZ: finite values, one NaN (0x80, where minus zero would be) and no infinity; "fp8" is E4M3
with bias 8 (largest 240), "bf8" E5M2 with bias 16 (largest 57344). A number too large becomes NaN, or the largest
value if MODE has FP16_OVFL (bit 23); infinity becomes NaN. On gfx950 and gfx12 (`OCP`; rows by `conversions`) they
are those of the Open Compute Project: E4M3 with bias 7 (largest 448), NaN 0x7f and 0xff, no infinity; E5M2 with bias
15 (largest 57344), infinity 0x7c. There a number too large becomes NaN (E4M3) or infinity (E5M2), or with FP16_OVFL
the largest value, and so does infinity (CDNA4 ISA manual 7.3). Which byte or word is read is said by SDWA's src0_sel,
which half or byte of the destination is written by op_sel; the rest is kept.

Stochastic rounding adds the upper bits of the second source to the fraction bits that are dropped and then cuts them
off (CDNA3 ISA manual, V_CVT_SR_FP8_F32); results below the normal range are cut off further in the same way.
"""

# mypy: disable-error-code="valid-type, operator, attr-defined, arg-type, misc, no-untyped-def, index"

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gpulab.virtual_gpu.isa import functions as f
from gpulab.virtual_gpu.isa.expression import Value, const, f32, rint, select, trunc, u16, u32
from gpulab.virtual_gpu.isa.family import Body, Family, body

FP8 = Family("CDNA3 ISA manual 12.7-12.11 (VOP1, VOP3); CDNA4 ISA manual 7.3")

_OVERFLOW = 1 << 23  # FP16_OVFL in MODE


@dataclass(frozen=True, slots=True)
class Format:
    """An 8-bit float type: fraction bits and exponent bias."""

    fraction: int
    bias: int
    ocp: bool = False

    @property
    def largest(self) -> int:
        """The code of its largest number."""
        return 0x7F if not self.ocp else 0x7E if self.fraction == 3 else 0x7B

    @property
    def beyond(self) -> int:
        """The code that a number too large becomes: NaN or infinity."""
        return 0x80 if not self.ocp else self.largest + 1

    @property
    def dropped(self) -> int:
        """Fraction bits of f32 that it lacks."""
        return 23 - self.fraction

    @property
    def smallest(self) -> float:
        """Its least positive number, the unit of its subnormals."""
        return 2.0 ** (1 - self.bias - self.fraction)

    @property
    def rebias(self) -> int:
        """What the exponent field of f32 has more, in place."""
        return (127 - self.bias) << 23

    def widen(self, byte: Value) -> Value:
        """The f32 of a byte (the low 8 bits of a u32)."""
        magnitude = byte & 0x7F
        normal = (magnitude << self.dropped) + self.rebias
        tiny = (magnitude.to(f32) * self.smallest).bits(u32)
        value = select(magnitude < 1 << self.fraction, tiny, normal) | (byte & 0x80) << 24
        if self.ocp:
            nan = magnitude > (self.largest if self.fraction == 3 else self.beyond)
            value = select(nan, const(0x7FC00000, u32), value)
            if self.fraction == 2:
                infinity = const(0x7F800000, u32) | (byte & 0x80) << 24
                value = select(magnitude == self.beyond, infinity, value)
            return value.bits(f32)
        return select((byte & 0xFF) == 0x80, const(0x7FC00000, u32), value).bits(f32)

    def narrow(self, x: Value, mode: Value, seed: Value | None = None) -> Value:
        """An f32 as a byte in a u32: to nearest even, or by chance with a `seed` of 32 random bits."""
        given = x.bits(u32) & 0x7FFFFFFF
        if seed is None:
            odd = (given >> self.dropped) & 1
            added = given + ((1 << self.dropped - 1) - 1) + odd
            tiny = rint(given.bits(f32) * (1.0 / self.smallest))
        else:
            added = given + (seed >> (32 - self.dropped))
            tiny = trunc(added.bits(f32) * (1.0 / self.smallest))
        least_normal = self.rebias + (1 << 23)
        is_tiny = (given if seed is None else added) < least_normal
        magnitude = select(is_tiny, tiny.to(u32), (added - self.rebias) >> self.dropped)
        limit = select((mode & _OVERFLOW) == 0, const(self.beyond, u32), const(self.largest, u32))
        sign = (x.bits(u32) >> 24) & 0x80
        if self.ocp:
            code = select((magnitude > self.largest) | (given == 0x7F800000), limit, magnitude) | sign
            return select(given > 0x7F800000, sign | 0x7F, code)
        signed = select(magnitude == 0, const(0, u32), magnitude | sign)
        signed = select(magnitude > 0x7F, limit | sign, signed)
        return select(given >= 0x7F800000, const(0x80, u32), signed)


FORMATS = {"fp8": Format(fraction=3, bias=8), "bf8": Format(fraction=2, bias=16)}


OCP_ELEMENTS = {"fp8": "e4m3", "bf8": "e5m2"}
"""What the matrix rows call these types."""
OCP = {"fp8": Format(fraction=3, bias=7, ocp=True), "bf8": Format(fraction=2, bias=15, ocp=True)}


def conversions(family: Family, name: str, format: Format, byte_sel: bool = False, gfx9_only: bool = False) -> None:
    """The rows of one type, common or for gfx9 alone.

    With `byte_sel` (gfx12) that modifier names the byte that is read or written, in place of SDWA and op_sel.
    """
    rows = family.rows("valu", counted="cvt")
    kind = "OCP" if format.ocp else "FNUZ"

    def row(mnemonic: str, float_mode: bool = False, keeps: str = "") -> Callable[[Body], Body]:
        if gfx9_only:
            return rows(gfx9=mnemonic, float_mode=float_mode, keeps=keeps)
        return rows(mnemonic, float_mode=float_mode, keeps=keeps)

    if byte_sel:
        row(f"v_cvt_f32_{name}")(
            body(
                lambda a, byte_sel: format.widen(a >> byte_sel * 8),
                "a:u32 byte_sel:u32",
                f"One byte, {name} ({kind}), to f32.",
            )
        )
        row(f"v_cvt_pk_f32_{name}")(
            body(
                lambda a: f.join(format.widen(a.to(u32)).bits(u32), format.widen(a.to(u32) >> 8).bits(u32)),
                "a:u16",
                f"The two bytes of one half, {name} ({kind}), to two f32.",
            )
        )
    else:
        row(f"v_cvt_f32_{name}", float_mode=True)(
            body(lambda a: format.widen(a), "a:u32", f"The lowest byte, {name} ({kind}), to f32.")
        )
        row(f"v_cvt_pk_f32_{name}")(
            body(
                lambda a: f.join(format.widen(a).bits(u32), format.widen(a >> 8).bits(u32)),
                "a:u32",
                f"The two lowest bytes, {name} ({kind}), to two f32.",
            )
        )
    row(f"v_cvt_pk_{name}_f32", keeps="half")(
        body(
            lambda a, b, mode: (format.narrow(a, mode) | format.narrow(b, mode) << 8).to(u16),
            "a:f32 b:f32 mode:u32",
            f"Two f32 to {name} ({kind}), to nearest even, into one half of the destination.",
        )
    )

    def stochastic(a: Value, seed: Value, dst: Value, op_sel: Value, mode: Value) -> Value:
        shift = (op_sel if byte_sel else op_sel >> 2 & 3) * 8
        return (dst & ~(const(0xFF, u32) << shift)) | format.narrow(a, mode, seed) << shift

    place = "byte_sel" if byte_sel else "op_sel"
    row(f"v_cvt_sr_{name}_f32", keeps="rest")(
        body(
            lambda a, seed, dst, which, mode: stochastic(a, seed, dst, which, mode),
            f"a:f32 seed:u32 dst:u32 {place}:u32 mode:u32",
            f"f32 to {name} ({kind}), rounded up or down by chance, into one byte of the destination.",
        )
    )


for _name, _format in FORMATS.items():
    conversions(FP8, _name, _format, gfx9_only=True)
