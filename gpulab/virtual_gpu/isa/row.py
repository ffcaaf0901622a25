"""Rows: what each instruction means.

A row says it once, free of lanes, EXEC, registers and opcode numbers:

    @vector("v_mul_legacy_f32")
    def _(a: f32, b: f32) -> f32:
        \"\"\"Zero times anything is zero, even infinity.\"\"\"
        return select((a == 0.0) | (b == 0.0), 0.0, a * b)

Parameters are the source operands in text order, with their types. Some parameter names are implicit,
not in the text:

    dst          the old value of the (first) destination: v_fmac, v_dot2c, s_cmov, s_bitset...
    scc          b1
    vcc          b1 per lane on vector rows (v_div_fmas); the whole mask (u64/u32) on scalar rows
    exec         the whole EXEC mask, as u64 (u32 in a *_b32 row of wave32)
    m0           u32
    lane         u32, the lane's number (v_mbcnt)
    mode         u32, the MODE register (known at translation: a constant)
    sdst         the old value of the second destination (v_swap_b32)
    clamp        b1, the clamp modifier of an integer row (a constant): saturate instead of wrapping.
                 A row that has it does its own clamping; for the others readers clamp floats to [0, 1]
    neg          u32, bit i is neg_lo of source i (a constant): v_dot4_i32_iu8, where it means "signed"
    bitop3       u32, the modifier of this name (a constant): the truth table of v_bitop3_b32
    byte_sel     u32, the modifier of this name (a constant): the byte that gfx12's FP8 conversions read or write
    op_sel       u32, bit i is op_sel's bit i (a constant): v_cvt_sr_fp8_f32, whose bits 3:2 name the byte written

Results are the destination operands in text order; `writes` names them where it is not just one
destination: "dst", "sdst" (an explicit second destination, often a lane mask: type b1 on vector rows),
"scc", "exec", "vcc", "m0". A b1 that a vector row writes becomes one bit per lane of a mask, zero in
inactive lanes. A vector row may read a b1 parameter: its operand text is a mask (vcc, s[0:1]), the lane
sees its own bit. v_cmp_* write "dst" of type b1 (the mask named first in the text); v_cmpx_* write "dst exec"
on gfx9 and "exec" alone on gfx10 and later.

16-bit types: a source of a 16-bit type is the low half of its register, or the high half where op_sel has
the source's bit; a 16-bit result goes to the half that op_sel's last bit (that of the destination) names (in a
row that is `into_high`, to the high one), and `isa.high_half(arch, row)` says what becomes of the other half. A float
constant has the form of a float type; an integer type takes the low bits of its f32 form.

Packed rows (`packed`):

    ""           not packed
    "pairs"      u32 sources hold two 16-bit halves, u64 sources two 32-bit halves. Before the row sees a
                 source i, the reader makes its low half the half that op_sel[i] names (default 0: low),
                 with its sign bit flipped if neg_lo[i], and its high half the one that op_sel_hi[i] names
                 (default 1: high), flipped if neg_hi[i] (no flips where the row has a `neg` parameter).
                 A source of another type is taken whole, negated if neg_lo[i]. A float constant for a u32 source
                 stands in the low half as the 16-bit form of the row's `element` type, or is the 32 bits of an f32
                 where the halves are integers; a constant for a u64 source stands in both halves.
                 `element` is "f16", "bf16", "f32", "u16" ... : what the halves are, for clamp and denormals.
    "mix"        v_fma_mix*: f32 sources; source i with op_sel_hi[i] is the f16 in the half that op_sel[i]
                 names, widened; neg_lo negates and neg_hi takes the absolute value first.

What a row does beyond its expression is a field of it, given where the row is defined; nobody asks its name.

Families with structure beyond an expression are described by the dataclasses `Memory`, `Image`, `CrossLane`,
`Matrix`, `Control` and the reader implements them by kind.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

from gpulab.virtual_gpu.isa.expression import TYPES, Type, Value, arg


class Stated:
    """What a row says about how well its result agrees with the hardware's.

    `accuracy` is "exact" (perhaps with a remark in brackets), a statement such as "1.5 ulp (hardware: 1 ulp)", or
    begins with "modelled:" and says what stands in for what a real device would give (clocks, places of waves).
    """

    __slots__ = ()
    accuracy: str

    @property
    def fidelity(self) -> str:
        """ "exact": the hardware's bits; "approximate": as `accuracy` says; "modelled": no number of the hardware."""
        word = self.accuracy.partition(":")[0].partition(" ")[0]
        return word if word in ("exact", "modelled") else "approximate"


IMPLICIT = ("dst", "scc", "vcc", "exec", "m0", "lane", "mode", "sdst", "clamp", "neg", "op_sel", "bitop3", "byte_sel")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One source: its type, and whether it is implicit (not in the text)."""

    name: str
    type: Type
    implicit: bool


@dataclass(frozen=True, slots=True)
class Result:
    """One destination: "dst", "sdst", "scc", "exec", "vcc", "m0"."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Within:
    """The sources that hold a bitwise result, or that it holds: all of its ones are theirs, or all of theirs its."""

    narrows: tuple[int, ...] = ()
    widens: tuple[int, ...] = ()


LOGIC = {
    "mov": Within(),
    "and": Within(narrows=(0, 1)),
    "or": Within(widens=(0, 1)),
    "xor": Within(),
    "nand": Within(),
    "nor": Within(),
    "xnor": Within(),
    "and_not0": Within(narrows=(1,)),
    "and_not1": Within(narrows=(0,)),
    "or_not0": Within(widens=(1,)),
    "or_not1": Within(widens=(0,)),
}
"""Bitwise operations of the scalar unit by gfx11's names: not0 inverts the first source, not1 the second."""


class Beyond(TypedDict, total=False):
    """What a row does beyond its expression: see Row."""

    rounds: bool
    keeps: str
    into_high: bool
    logic: str
    counted: str
    products: int


class Options(Beyond, total=False):
    """What the definition of a row may say."""

    writes: str
    float_mode: bool | None
    accuracy: str
    rate: str
    packed: str
    element: str


class Row(Stated):
    """A lanewise (unit "valu") or scalar (unit "salu") instruction.

    `float_mode` says that input and output denormals of f32/f16/f64 follow MODE, and that clamp and
    omod apply to the result; moves and bit operations have it False.
    `accuracy` and `fidelity`: see Stated.
    `rate` names the pipeline, whose speed the architecture decides: "full", "wide" (64-bit operands), "quarter"
    (32-bit multiplies), "division" (steps of a division, plain operations in f32: LLVM, SISchedule.td), "trans"
    (transcendental functions).
    `packed` and `element`: see the module's docstring.
    `rounds`: MODE's rounding and FP16_OVFL apply to the operations of the body. Others round to nearest even, or as
    their names say.
    `keeps`: "half": the half of the register that a 16-bit result is not written to stays as it was on gfx9 too (see
    `isa.high_half`); "rest": `dst` is a parameter since the bits that are not written stay, not as a number to compute
    with.
    `into_high`: a 16-bit result goes to the high half, whatever op_sel says.
    `logic`: of a bitwise operation of the scalar unit its key in LOGIC, by which EXEC is followed; in rows that also
    write EXEC the second source is EXEC.
    `counted`: which of the counters SQ_INSTS_VALU_* counts the instruction on CDNA: "add_f32" (f16, f64; mul, fma,
    trans the same), "cvt", "int32", "int64", or "". (docs/counters.md)
    `products`: of a dot product of floats, how many products it adds up; no counter counts them.
    """

    def __init__(
        self,
        mnemonic: str,
        unit: str,
        body: Callable[..., Any],
        writes: str = "dst",
        float_mode: bool | None = None,
        accuracy: str = "exact",
        rate: str = "full",
        packed: str = "",
        element: str = "",
        **beyond: Unpack[Beyond],
    ) -> None:
        self.mnemonic, self.unit, self.body, self.accuracy, self.rate = mnemonic, unit, body, accuracy, rate
        self.packed, self.element = packed, element
        self.rounds = beyond.get("rounds", False)
        self.keeps = beyond.get("keeps", "")
        self.into_high = beyond.get("into_high", False)
        self.logic = beyond.get("logic", "")
        self.counted = beyond.get("counted", "")
        self.products = beyond.get("products", 0)
        self.meaning = inspect.getdoc(body) or ""
        hints = {k: TYPES[v] if isinstance(v, str) else v for k, v in body.__annotations__.items() if k != "return"}
        self.parameters = tuple(Parameter(n, t, n in IMPLICIT) for n, t in hints.items())
        self._writes = tuple(writes.split())
        self._graph: tuple[tuple[Result, ...], tuple[Value, ...]] | None = None
        has_float = any(p.type.is_float for p in self.parameters)
        self.float_mode = has_float if float_mode is None else float_mode

    @property
    def writes_exec(self) -> bool:
        """Whether EXEC is one of its destinations: v_cmpx_*, s_*_saveexec_*, s_*_wrexec_*."""
        return "exec" in self._writes

    @property
    def saves_exec(self) -> bool:
        """Whether its destination gets EXEC as it was: s_*_saveexec_*."""
        return self.writes_exec and self.unit == "salu" and self.graph()[1][0].op == "arg"

    @property
    def is_move(self) -> bool:
        """Whether all that it does is to copy 32 bits."""
        (result, *more), (value, *_) = self.graph()
        return value.op == "arg" and not more and result.type.width == 32 and len(self.parameters) == 1

    def graph(self) -> tuple[tuple[Result, ...], tuple[Value, ...]]:
        """Results and their expression graphs over `arg` leaves; built once, on first use."""
        if self._graph is None:
            values = self.body(*(arg(i, p.name, p.type) for i, p in enumerate(self.parameters)))
            values = values if isinstance(values, tuple) else (values,)
            if len(values) != len(self._writes):
                raise TypeError(f"{self.mnemonic}: {len(values)} results for writes={self._writes}")
            self._graph = tuple(Result(n, v.type) for n, v in zip(self._writes, values, strict=True)), values
        return self._graph


@dataclass(frozen=True, slots=True)
class Memory(Stated):
    """A memory instruction.

    space: "global", "flat", "scratch", "lds", "scalar", "buffer"
    action: "load", "store", "atomic", "prefetch"
    element: bits of one element in memory (8, 16, 32, 64, 96, 128 via count)
    count: number of 32-bit registers moved, or of elements for two-address DS
    extend: "zero", "sign", "" ; half: "lo"/"hi" when only half of a register is written or stored (d16)
    two_address: DS read2/write2 with offset0/offset1 scaled by `stride` bytes
    combine: for atomics, expression row body (memory, data[, compare]) -> new value, with its type

    `element * count` bits are moved in all (both addresses together), so ds_read_b64 is 32 x 2, ds_read2_b64
    is 64 x 2 and a 64-bit atomic 64 x 1. The parameters of `combine` after `memory` take the data registers in
    the text's order: (memory, data, compare) for global_atomic_cmpswap, (memory, compare, data) for ds_cmpst.
    A d16 load of a byte (element 8, half "lo") writes 16 bits, extended as `extend` says.

    implied: what the text does not name. "lane": the address is that of lane 0 (m0[15:0] in LDS, else the scalar base)
    plus 4 bytes per lane. "count": one atomic in LDS at m0[15:0] for the whole wave, whose data is the number of active
    lanes; all of them get the old value.
    """

    mnemonic: str
    space: str
    action: str
    element: int
    count: int = 1
    extend: str = ""
    half: str = ""
    two_address: bool = False
    stride: int = 0
    combine: Row | None = None
    returns: bool = False  # DS *_rtn; for global atomics the text's sc0/glc decides
    meaning: str = ""
    accuracy: str = "exact"
    implied: str = ""
    to_lds: bool = False  # a load into LDS at m0[15:0] + immediate offset, a lane's dwords behind another's
    commutes: bool = False  # atomics that leave the same in memory in whatever order they come

    @property
    def compare(self) -> bool:
        """Compare-and-swap: the data are the new value and the comparand."""
        return self.combine is not None and "compare" in self.combine.body.__annotations__


@dataclass(frozen=True, slots=True)
class CrossLane(Stated):
    """readlane, readfirstlane, writelane, ds_permute, ds_bpermute, ds_swizzle, permlane*: by `kind` (crosslane.py).

    unit: the one that executes it: "valu", "salu" or "lds"
    width: bits that it moves for a lane, or for the wave
    indexed: m0 is added to the numbers of registers
    """

    mnemonic: str
    kind: str
    meaning: str = ""
    accuracy: str = "exact"
    unit: str = "valu"
    width: int = 32
    indexed: bool = False
    other_row: bool = False  # permlane16: the lanes are those of the other row of 16
    by_lane: bool = False  # permlane16: each lane names its source in a vector register; two scalars do for all if not
    inactive: bool = False  # ds_bpermute: lanes that are not active are read, too
    distance: int = 0  # permlane_swap: lanes between those that change places


@dataclass(frozen=True, slots=True)
class Control(Stated):
    """Branches, calls, barriers, waits and the like, by `kind`:

    "end", "branch", "cbranch" (condition: scc0 scc1 vccz vccnz execz execnz), "call" (s_swappc, s_call),
    "jump" (s_setpc), "getpc", "barrier", "wait" (no effect here), "nop", "trap", "sleep", "sendmsg",
    "setreg", "getreg", "time", "realtime", "round_mode", "denorm_mode", "sendmsg_rtn" (a message with an answer
    in a scalar register: on gfx11 MSG_RTN_GET_REALTIME), "gpr_index_on", "gpr_index_off", "gpr_index",
    "gpr_index_mode" (gfx9's register indexing, see control.py)

    register, nonzero: what a cbranch asks: whether "scc", "vcc" or "exec" is zero, or is not
    counters: of a wait, the wait counters by the manual's names; if three, the text says which of them and how far
    delay: what sets its time: "nop" (the operand + 1, in issues), "sleep" (64 clocks times the operand), "alu" (the
        distance to results, s_delay_alu)
    order: the half of a memory order for the device or more that it is: "release", "acquire", or "scoped acquire" (for
        the device or more only with the modifier that says so). (LLVM, "User Guide for AMDGPU Backend", memory models)
    width: bits of what it writes to scalar registers, where that differs by name
    caches: what it does to the caches of vector memory: "write back" (the L2 of its die), "drop first" (that of its
        CU), "drop second" (that of its shader array), "drop scoped" (as far as its modifiers say); see caches.py
    """

    mnemonic: str
    kind: str
    condition: str = ""
    meaning: str = ""
    accuracy: str = "exact"
    register: str = ""
    nonzero: bool = False
    counters: tuple[str, ...] = ()
    delay: str = ""
    order: str = ""
    width: int = 32
    caches: str = ""


@dataclass(frozen=True, slots=True)
class Matrix(Stated):
    """A matrix instruction: D = A B + C for `blocks` independent blocks, by all lanes of a wave together.

    A is m x k, B is k x n, C and D are m x n. Operands in the text: D, A, B, C; C may be a constant for all elements.
    layout: "mfma", "wmma" (gfx11), "wmma12" (gfx12), or "smfmac" (a sparse A; the text has D, A, B and the indices, and
    C is D before); which lane and register holds which element is said by the functions of matrix.py.
    a, b: element types, "f16" "bf16" "f32" "xf32" "f64" "i8" "fp8" "bf8" (FNUZ), "e4m3" "e5m2" (OCP), and "iu8" "iu4"
    (neg_lo says signed);
    d: that of C and D: "f32" "f64" "i32", or "f16" "bf16" (in one half of each register, which op_sel names).
    """

    mnemonic: str
    layout: str
    m: int
    n: int
    k: int
    blocks: int
    a: str
    b: str
    d: str
    accuracy: str = "exact"
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class Image(Stated):
    """An instruction that reads or writes texels through a resource descriptor (images.py has the rules).

    action: "load", "store" (of one texel), "sample" (a filter's weighted sum), "gather" (one channel of the four
    texels that a filter would weigh), "size" (what the descriptor says of the image's size).
    level: of a sample or a gather, where its level of detail comes from: "distance" (of the coordinates of neighbouring
    lanes), "zero", "given" (the last address register), "bias" (a bias in the first one), "derivatives".
    mip: the last address register names the level of a load or a store.
    half_slopes: derivatives are halves, two to a register. (Coordinates are where the text says a16, data where it says
    d16.)
    channels: of an access to a buffer of texels (buffer_load_format_xyzw: 4), which has no dmask; 0: an image.

    Operands in the text: data, address registers, resource (8 scalars, a buffer's 4), sampler (4 scalars).
    """

    mnemonic: str
    action: str
    level: str = ""
    mip: bool = False
    half_slopes: bool = False
    channels: int = 0
    meaning: str = ""
    accuracy: str = "exact"


AnyRow = Row | Memory | CrossLane | Matrix | Control | Image
ONE_FOR_THE_WAVE = ("readlane", "readfirstlane", "writelane")
"""Kinds of `CrossLane` that move one value, whichever lanes are active."""


def works_by_lane(row: AnyRow) -> bool:
    """Whether an instruction works once for each active lane. Scalar ones work once for the wave; v_readlane and its
    like, and matrix instructions, do not ask which lanes are active."""
    if isinstance(row, Row):
        return row.unit == "valu"
    if isinstance(row, Memory):
        return row.space != "scalar" and row.action != "prefetch"
    if isinstance(row, Image):
        return True
    return isinstance(row, CrossLane) and row.unit != "salu" and row.kind not in ONE_FOR_THE_WAVE


class Table(Mapping[str, AnyRow]):
    """Mnemonic -> row. `isa.table` gives that of a device."""

    def __init__(self) -> None:
        self._rows: dict[str, AnyRow] = {}

    def add(self, row: AnyRow) -> None:
        """Add a row; the same mnemonic twice is an error."""
        if row.mnemonic in self._rows:
            raise ValueError(f"{row.mnemonic} defined twice")
        self._rows[row.mnemonic] = row

    def __getitem__(self, mnemonic: str) -> AnyRow:
        return self._rows[mnemonic]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)
