"""Generations of the instruction set: which rows an architecture takes, under which names, and which it lacks.

`GENERATIONS` describes each architecture by a `Generation`; `rows(arch, families)` makes its table. A generation
starts from the tables of an older or wider one, adds the rows of its own file (`gfx90a.py gfx950.py gfx10.py
gfx12.py`), gives rows new names where only the name changed, and drops what it does not have. Which mnemonics an
architecture has was taken from LLVM's assembler; tests/isa/test_generations.py asks it again.
"""

from __future__ import annotations

import copy
import importlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from gpulab.virtual_gpu.isa import family
from gpulab.virtual_gpu.isa.family import Family
from gpulab.virtual_gpu.isa.row import AnyRow, Row, Table

_OLD_NAMES = (
    r"(flat|global|scratch|buffer)_(load|store)_[us]?(byte|short|dword)(x[234]|_d16(_hi)?)?|s_(buffer_)?load_dword\w*"
    r"|(flat|global|buffer)_atomic_(?!add_f|pk|m..?_f)\w+|ds_(read|write|wrxchg)\w*|t?buffer_(load|store)_format_\w+"
    r"|s_(and|or)n[12]_\w+|s_ff1_\w+|s_flbit_\w+|v_ff[bh]\w+"
    r"|v_(add|sub|subrev)_[ui]32|v_cvt_(flr|pknorm|pkrtz|rpi)_\w+|v_dot[48]_i32_i[48]"
)
"""gfx9's spelling of instructions of gfx10 and later, which LLVM takes too; the meaning is the same."""

_GFX10_NAMES = {
    **{
        f"{space}_atomic_{old}": f"{space}_atomic_{new}"
        for space in ("global", "flat", "buffer")
        for old, new in (("fcmpswap", "cmpswap_f32"), ("fmin", "min_f32"), ("fmax", "max_f32"), ("csub", "csub_u32"))
    },
    "global_load_dword_addtid": "global_load_addtid_b32",
    "global_store_dword_addtid": "global_store_addtid_b32",
    **{
        f"s_{operation}n{side}_{rest}_b32": f"s_{operation}_not{side - 1}_{rest}_b32"
        for operation in ("and", "or")
        for side in (1, 2)
        for rest in ("saveexec", "wrexec")
    },
}
"""gfx10's spelling of gfx11's instructions, which LLVM takes too."""


@dataclass(frozen=True, slots=True)
class Generation:
    """What an architecture takes.

    Attributes:
        name: "gfx9", "gfx10", "gfx11" or "gfx12": the family whose rules hold where code asks for one.
        table: which of the tables of a `Family` it starts from, beside "common".
        old_names: a pattern of the names of gfx9 that it has too, with gfx9's rows.
        lacks: a pattern of names that it takes from none of these.
        renamed: further names, with the name of the row that each takes; those without such a row are left out.
        added: the module of this package with the rows that it adds, if any.
    """

    name: str
    table: str
    old_names: str = ""
    lacks: str = ""
    renamed: Mapping[str, str] = field(default_factory=dict)
    added: str = ""


_NOT_GFX90A = (
    r"(global|scratch)_load_lds_\w+|buffer_inv|v_mov_b64|v_lshl_add_u64|v_fma[am]k_f32|v_cvt_(sr_|pk_)?(f32_)?(fp8|bf8)\w*"
    r"|ds_pk_add_\w+|\w+_atomic_pk_add_bf16|flat_atomic_(pk_)?add_f(32|16)"
    r"|v_mfma_[fi]\d+_\d+x\d+x\d+_\w+|v_smfmac_\w+|v_mfma_\w+xf32|v_cmpx?_t_f\d\d"
)

_GFX940_NAMES = {
    **{f"v_mfma_f32_{shape}bf16": f"v_mfma_f32_{shape}bf16_1k" for shape in ("32x32x4", "16x16x4", "4x4x4")},
    **{f"v_mfma_f32_{shape}bf16": f"v_mfma_f32_{shape}bf16_1k" for shape in ("32x32x8", "16x16x16")},
    "v_mfma_i32_16x16x32i8": "v_mfma_i32_16x16x32_i8",
    "v_mfma_i32_32x32x16i8": "v_mfma_i32_32x32x16_i8",
}
"""Further spellings of matrix instructions that LLVM takes for gfx940 and later."""

_GFX9_IN_GFX10 = (
    _OLD_NAMES + r"|ds_cmpst_\w+|s_mem(real)?time|s_ff0_i32_b(32|64)|v_dot2_[iu]32_[iu]16|v_dot4c_i32_i8"
    r"|(global|flat)_atomic_f(cmpswap|min|max)_x2"
)
_NOT_GFX10 = (
    r"flat_atomic_csub|(buffer|flat|global|scratch)_(load|store)_(d16_)?(hi_)?[biu]\d+"
    r"|(buffer|flat|global)_atomic_\w+_[biuf](32|64)"
    r"|ds_(load|store|cmpstore)\w*|s_(buffer_)?load_b\d+|s_\w+_not[01]_\w+|s_(cls|clz|ctz)_\w+|s_pack_hl_b32_b16"
    r"|s_sendmsg_rtn_b\d+|s_delay_alu|s_set_inst_prefetch_distance|s_wait_event|global_(load|store)_addtid_b32"
    r"|v_(add|sub|subrev)_[iu]32|v_(and|or|xor|not|mov|swap|cndmask)_b16|v_(cls|clz|ctz)_i32\w*"
    r"|v_cvt_(floor|nearest)_i32_f32|v_cvt_(i32_i16|u32_u16)|v_cvt_pk_([iu]16_f32|norm_\w+|rtz_f16_f32)"
    r"|v_dot2acc_\w+|v_dot2_(f16_f16|bf16_bf16|f32_bf16)|v_dot[48]_i32_iu[48]|v_(mul|fma|fmac)_dx9_zero_f32"
    r"|v_(maxmin|minmax)_\w+|v_permlane64_b32|v_wmma_\w+|v_cmpx?_(f|t)_[iu]16|v_cmpx?_t_f\d\d"
)

_NOT_GFX12 = (
    r"buffer_gl[01]_inv|s_gl1_inv|(buffer|flat)_atomic_(cmpswap_f32|fcmpswap)|global_atomic_(cmpswap_f32|fcmpswap)"
    r"|flat_atomic_csub(_u32)?|ds_cmpstore_(rtn_)?f\d\d|ds_wrap_rtn_b32|s_barrier|s_cmpk_\w+|s_(set_)?inst_prefetch\w*"
    r"|s_cbranch_cdbg\w+|s_endpgm_ordered_ps_done|s_waitcnt_(exp|lgkm|vm|vs)cnt|v_clrexcp|v_cmpx?_(f|t|tru)_[iuf]\d\d|v_dot2c_\w+"
    r"|v_fmac_(dx9_zero|legacy)_f32|v_(mov|swap)_b16"
)
_GFX12_NAMES = {
    "s_add_co_u32": "s_add_u32",
    "s_sub_co_u32": "s_sub_u32",
    "s_add_co_ci_u32": "s_addc_u32",
    "s_sub_co_ci_u32": "s_subb_u32",
    "s_add_co_i32": "s_add_i32",
    "s_sub_co_i32": "s_sub_i32",
    "s_addk_co_i32": "s_addk_i32",
    "v_mad_co_u64_u32": "v_mad_u64_u32",
    "v_mad_co_i64_i32": "v_mad_i64_i32",
    "ds_sub_clamp_u32": "ds_csub_u32",
    **{f"{space}_atomic_sub_clamp_u32": f"{space}_atomic_csub_u32" for space in ("global", "flat", "buffer")},
}

GENERATIONS: dict[str, Generation] = {
    "gfx90a": Generation("gfx9", "gfx9", lacks=_NOT_GFX90A, added="gfx90a"),
    "gfx942": Generation("gfx9", "gfx9", lacks=r"buffer_atomic_pk_add_bf16|v_cmpx?_t_f\d\d", renamed=_GFX940_NAMES),
    "gfx950": Generation(
        "gfx9", "gfx9", lacks=r"v_mfma_\w*xf32|v_cmpx?_t_f\d\d", renamed=_GFX940_NAMES, added="gfx950"
    ),
    "gfx1030": Generation(
        "gfx10", "gfx11", old_names=_GFX9_IN_GFX10, lacks=_NOT_GFX10, renamed=_GFX10_NAMES, added="gfx10"
    ),
    "gfx1100": Generation(
        "gfx11",
        "gfx11",
        old_names=_OLD_NAMES,
        lacks=r"flat_atomic_csub(_u32)?|v_clrexcp|v_cmpx?_[ft]_[iu]16",
        renamed=_GFX10_NAMES,
    ),
    "gfx1201": Generation(
        "gfx12",
        "gfx11",
        old_names=_OLD_NAMES,
        lacks=_NOT_GFX12,
        renamed=_GFX10_NAMES | _GFX12_NAMES,
        added="gfx12",
    ),
}


def _named(row: AnyRow, mnemonic: str) -> AnyRow:
    """The row under another name."""
    if not isinstance(row, Row):
        return replace(row, mnemonic=mnemonic)
    result = copy.copy(row)
    result.mnemonic = mnemonic
    return result


def rows(arch: str, families: Sequence[Family]) -> Table:
    """All rows of an architecture, by mnemonic."""
    generation = GENERATIONS[arch]
    taken = family.merged(families, generation.table)
    if generation.old_names:
        old = re.compile(generation.old_names)
        for mnemonic, row in family.merged(families, "gfx9").items():
            if mnemonic not in taken and old.fullmatch(mnemonic):
                taken.add(row)
    for new, name in generation.renamed.items():
        if name in taken and new not in taken:
            taken.add(_named(taken[name], new))
    lacks = re.compile(generation.lacks or r"(?!)")
    result = Table()
    for mnemonic, row in taken.items():
        if not lacks.fullmatch(mnemonic):
            result.add(row)
    if generation.added:
        module = importlib.import_module(f"{__package__}.{generation.added}")
        result = result.merge(module.ROWS.table("common"))
    return result
