"""A program as the virtual GPU sees it: instructions, labels, data objects and kernels.

`assembly.py` builds it from LLVM's assembly text; a decoder of binary code objects can build the
same thing later. Nothing here knows what an instruction means (see `row.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gpulab.records import NO_GUARANTEES, Guarantees, SourceLine


@dataclass(frozen=True, slots=True)
class Register:
    """A run of `count` 32-bit registers.

    `file` is "v" (VGPR), "a" (AccVGPR), "s" (SGPR) or "special"; specials are named by `name`:
    vcc exec m0 scc null flat_scratch xnack_mask ttmp, src_shared_base src_private_base ..., vccz execz.
    vcc_lo/vcc_hi (exec_lo/exec_hi) are name "vcc" ("exec") with index 0/1 and count 1;
    `vcc` on wave64 is index 0, count 2.
    """

    file: str
    index: int
    count: int = 1
    name: str = ""


@dataclass(frozen=True, slots=True)
class Literal:
    """An inline or literal constant as written: `bits` as an unsigned integer of its natural width.

    Written integers keep their (two's complement, 64-bit) value; written floats ("1.0", "0.15915494")
    have `is_float` and `value`; the row's operand type decides the final bits: an integer literal is
    used as bits, a float literal is converted to the operand's type. For 64-bit float operands a
    32-bit integer literal is the high half, as in the ISA manuals. A distance between places in the code
    (``.LBB0_2-.Lpost_getpc1``) is a number too; `places` are the labels in it, where a jump may lead.
    """

    value: int | float
    is_float: bool = False
    places: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Symbol:
    """A label or a data/function symbol with relocation, e.g. ``table@rel32@lo+4``."""

    name: str
    offset: int = 0
    relocation: str = ""  # "rel32@lo", "rel32@hi", "gotpcrel32@lo", "abs32@lo", "" for a label


@dataclass(frozen=True, slots=True)
class Keyword:
    """A bare word operand: off, null-less modifiers, hwreg(...), sendmsg(...), expcnt... kept as text."""

    text: str


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand with its source modifiers (neg, abs, sext).

    `half` is "l" or "h" where the text names a half of a VGPR (``v3.h``, 16-bit instructions of gfx11).
    """

    value: Register | Literal | Symbol | Keyword
    neg: bool = False
    abs: bool = False
    sext: bool = False
    half: str = ""


@dataclass(frozen=True, slots=True)
class Instruction:
    """One machine instruction.

    `mnemonic` has no encoding suffix; `encoding` keeps it ("e32", "e64", "dpp", "sdwa", "e64_dpp",
    "dpp8"...). `modifiers` hold what follows the operands: flags map to True ("clamp", "glc", "sc0"),
    values to int ("offset": 16, "row_mask": 15, "mul": 2), lists to tuples ("quad_perm": (0,1,2,3),
    "op_sel": (0,1)), names to str ("dst_sel": "WORD_1"). A VOPD pair is one Instruction whose `pair`
    is the second half; both halves have encoding "dual" and no "v_dual_" in the mnemonic (``v_mov_b32``), and
    v_cndmask_b32's implicit vcc is written out as its last operand, as in the e32 form.
    `bound_ctrl` is always True when written (LLVM writes 0 or 1 for the same bit).
    Waits and delays (s_waitcnt, s_waitcnt_depctr, s_delay_alu) have their whole argument as one Keyword.
    """

    mnemonic: str
    encoding: str
    operands: tuple[Operand, ...]
    modifiers: Mapping[str, int | bool | str | tuple[int, ...]]
    text: str
    where: SourceLine | None = None
    pair: Instruction | None = None


@dataclass(frozen=True, slots=True)
class Relocation:
    """In a data object: at `offset`, `size` bytes hold the address of `symbol` plus `addend`."""

    offset: int
    size: int
    symbol: str
    addend: int = 0


@dataclass(frozen=True, slots=True)
class DataObject:
    """A global variable or constant table. `contents` is "" bytes for .bss, then `size` counts."""

    name: str
    size: int
    align: int
    contents: bytes
    writable: bool
    relocations: tuple[Relocation, ...] = ()
    is_lds: bool = False  # external LDS (`.amdgpu_lds`): address is an LDS offset


@dataclass(frozen=True, slots=True)
class Argument:
    """One kernel argument from the metadata. `kind` is the metadata's value_kind:
    by_value, global_buffer, dynamic_shared_pointer, hidden_block_count_x, ..."""

    name: str
    offset: int
    size: int
    kind: str
    type_name: str = ""
    address_space: str = ""


@dataclass(frozen=True, slots=True)
class KernelDescriptor:
    """What `.amdhsa_kernel` and the metadata say about a kernel. `directives` has every .amdhsa_ value."""

    name: str
    entry: int  # index of its first instruction
    directives: Mapping[str, int]
    arguments: tuple[Argument, ...]
    kernarg_size: int
    lds_bytes: int
    private_bytes: int  # scratch per lane
    vgprs: int
    agprs: int
    sgprs: int
    max_flat_workgroup_size: int
    uses_dynamic_stack: bool = False
    stack_bytes: int = 0  # then: what the host wants for it at least (hipLimitStackSize)
    required_workgroup_size: tuple[int, int, int] | None = None
    vgpr_spills: int = 0
    sgpr_spills: int = 0
    source_name: str = ""  # its name in the source ("saxpy" of _Z5saxpy...), where known: what messages and records say

    @property
    def cu_mode(self) -> bool:
        """RDNA: whether its workgroups stay in one compute unit of a pair (WGP), as -mcumode asks (gfx9: always)."""
        return self.directives.get("workgroup_processor_mode") == 0


@dataclass(frozen=True, slots=True)
class Program:
    """A whole code object. Labels and functions map names to instruction indices."""

    arch: str
    wave_size: int
    instructions: tuple[Instruction, ...]
    labels: Mapping[str, int]
    functions: Mapping[str, tuple[int, int]]  # name -> [first, past the last)
    kernels: Mapping[str, KernelDescriptor]
    data: Mapping[str, DataObject]
    printf_formats: tuple[str, ...] = ()  # raw amdhsa.printf metadata strings
    sources: Mapping[str, str] = field(default_factory=dict)
    synchronising: frozenset[int] = frozenset()  # instructions from atomic or volatile loads and stores of the source
    narrow: frozenset[int] = frozenset()  # of these, those that are atomic among the threads of a block only
    partial: frozenset[int] = frozenset()  # instructions that load a word to write a bit field in it
    orders: Mapping[str, frozenset[str]] = field(default_factory=dict)  # by kernel: memory_order.py
    reloads: frozenset[int] = frozenset()  # instructions that read back registers which the compiler spilled
    guarantees: Guarantees = NO_GUARANTEES
