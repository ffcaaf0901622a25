"""Random programs of single instructions for comparing two machines: each instruction has its own destinations,
which are stored, lane by lane, in its own slots of an output buffer.

Registers: v0 thread, v10-v21 and s24-s39 inputs, v30-v33 (s40, s41) destinations, MASKS[wave size] lane masks.
What no compiler writes and no manual defines is left out: op_sel on constants.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field

import numpy as np

from gpulab.virtual_gpu.isa.expression import Type, b1
from gpulab.virtual_gpu.isa.row import Row

INPUTS = 12
FLOATS = ("1.0", "-0.5", "4.0", "0.15915494309189532", "0", "-7")
INTEGERS = ("0", "1", "-1", "64", "-16", "17")
_SPECIAL = (
    "0 1 1f 20 3f 40 80000000 80000001 7fffff 800000 3f800000 bf800000 7f800000 ff800000 7fc00000 7f7fffff 40490fdb "
    "3c003c00 7c00fc00 7e000001 80000400 3ff00000 bff80000 7ff00000 7ff80000 43e00000 41f00000 ffffffff 7fffffff 10000"
)
SPECIAL = np.array([int(word, 16) for word in _SPECIAL.split()], np.uint32)
SDWA = ("DWORD", "BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1")
DPP = ("quad_perm:[1,0,3,2]", "row_shr:1", "row_shl:5", "row_ror:3", "row_mirror", "row_half_mirror")
DPP_OF = {
    64: ("row_bcast:15", "row_newbcast:3", "wave_shr:1"),
    32: ("row_share:2", "row_xmask:5", "dpp8:[7,6,5,4,3,2,1,0]"),
}


def random_inputs(numbers: np.random.Generator, lanes: int) -> np.ndarray:
    """INPUTS words per lane: random bits, special values, ordinary floats, upper halves of doubles, small integers."""
    size = INPUTS * lanes
    kinds = numbers.integers(0, 10, size)
    bits = numbers.integers(0, 1 << 32, size, dtype=np.uint64).astype(np.uint32)
    bits = np.where(kinds < 3, numbers.choice(SPECIAL, size), bits)
    bits = np.where(kinds == 3, numbers.normal(0, 50, size).astype(np.float32).view(np.uint32), bits)
    bits = np.where(kinds == 4, (numbers.normal(0, 100, size).view(np.uint64) >> np.uint64(32)).astype(np.uint32), bits)
    return np.where(kinds == 5, numbers.integers(0, 100, size).astype(np.uint32), bits).astype(np.uint32)


@dataclass
class Case:
    """One instruction: its `text`, the lines that run it, and the registers that hold what it wrote."""

    row: Row
    text: str
    lines: list[str]
    stored: list[str]
    slots: tuple[int, int] = (0, 0)
    types: list[Type] = field(default_factory=list)


class Generator:
    """Makes cases and programs for one architecture from a seed."""

    def __init__(self, arch: str, seed: int) -> None:
        self.arch, self.random = arch, random.Random(seed)
        self.lanes = 64 if arch.startswith("gfx9") else 32
        wide = self.lanes == 64
        self.mask, self.written = ("s[20:21]", "s[22:23]") if wide else ("s20", "s22")
        self.b, self.exec, self.vcc = ("b64", "exec", "vcc") if wide else ("b32", "exec_lo", "vcc_lo")
        self.old = wide or arch.startswith("gfx10")  # the names of gfx9
        self.load, self.store = (
            ("global_load_dword", "global_store_dword") if self.old else ("global_load_b32", "global_store_b32")
        )

    def pair(self, first: int, lanes_of: str = "s") -> str:
        return f"{lanes_of}[{first}:{first + 1}]"

    def scalars(self, first: int) -> str:
        """A lane mask's worth of SGPRs."""
        return self.pair(first) if self.lanes == 64 else f"s{first}"

    def case(self, row: Row) -> Case:
        return self.scalar_case(row) if row.unit == "salu" else self.vector_case(row)

    def scalar_case(self, row: Row) -> Case:
        pick = self.random
        operands, stored = [], []
        results, _ = row.graph()
        for result in results:
            if result.name in ("dst", "sdst"):
                operands.append("s40" if result.type.width <= 32 else "s[40:41]")
                stored += ["s40"] if result.type.width <= 32 else ["s40", "s41"]
        for parameter in row.parameters:
            if parameter.implicit:
                continue
            wide = parameter.type.width == 64
            if parameter.type.width == 16:
                operands.append(
                    str(pick.randrange(-32768, 32767) if parameter.type.kind == "i" else pick.randrange(65536))
                )
            elif pick.random() < 0.75:
                register = 24 + 2 * pick.randrange(6)
                operands.append(self.pair(register) if wide else f"s{register}")
            else:
                operands.append(pick.choice(INTEGERS if wide else (*INTEGERS, "0x12345678")))
        text = f"{row.mnemonic} {', '.join(operands)}"
        carry = f"s_cmp_lg_u32 s27, s{pick.choice((27, 28))}"
        lines = ["s_mov_b32 s40, s25", "s_mov_b32 s41, s26", carry, text, "s_cselect_b32 s42, 1, 0"]
        stored.append("s42")
        if any(result.name == "exec" for result in results):
            lines += [f"s_mov_{self.b} {self.mask}, {self.exec}", f"s_mov_{self.b} {self.exec}, -1"]
            stored.append("exec")
        return Case(row, text, lines, stored, types=[r.type for r in results])

    def source(self, type: Type, scalar: bool) -> str:
        pick = self.random
        if type == b1:
            return self.mask
        kind, wide = pick.random(), type.width == 64
        if kind < 0.65 or not scalar:
            register = pick.randrange(10, 20)
            return self.pair(register, "v") if wide else f"v{register}"
        if kind < 0.8:
            register = 24 + 2 * pick.randrange(6)
            return self.pair(register) if wide else f"s{register}"
        return pick.choice(FLOATS if type.is_float else INTEGERS)

    def vector_case(self, row: Row) -> Case:
        pick = self.random
        results, _ = row.graph()
        explicit = [p for p in row.parameters if not p.implicit]
        implicit = {p.name for p in row.parameters if p.implicit}
        targets, stored, types = [], [], []
        for result in results:
            if result.name not in ("dst", "sdst"):
                continue
            types.append(result.type)
            if result.type == b1:
                targets.append(self.written)
                stored.append("mask")
                continue
            first = 30 if result.name == "dst" else 32
            wide = result.type.width == 64
            targets.append(self.pair(first, "v") if wide else f"v{first}")
            stored += [f"v{first}", f"v{first + 1}"] if wide else [f"v{first}"]
        sources: list[str] = []
        for parameter in explicit:
            scalar = not any(s.startswith("s") and s != self.mask for s in sources)
            text = self.source(parameter.type, scalar)
            if parameter.type.is_float and not row.packed and text[0] in "vs" and pick.random() < 0.35:
                text = pick.choice(("-{}", "|{}|", "-|{}|")).format(text)
            sources.append(text)
        mnemonic, modifiers = row.mnemonic, self.modifiers(row, implicit, explicit, sources, types)
        if not self.old and row.packed != "mix" and pick.random() < 0.6:
            widths = [t.width for t in types] + [p.type.width for p in explicit]
            halved = [
                t + pick.choice((".l", ".h")) if w == 16 and re.fullmatch(r"v\d+", t) else t
                for t, w in zip(targets + sources, widths, strict=True)
            ]
            targets, sources = halved[: len(targets)], halved[len(targets) :]
        if any("src0_sel:" in m for m in modifiers):
            mnemonic += "_sdwa"
        text = f"{mnemonic} {', '.join(targets + sources)} {' '.join(modifiers)}".strip()
        active = pick.choice(("-1", "-1", self.scalars(32)))
        lines = [f"v_mov_b32 v3{i}, v{20 + i if i < 2 else 12 + i}" for i in range(4)]
        lines += [f"s_mov_{self.b} {self.mask}, {self.scalars(34)}", f"s_mov_{self.b} {self.written}, 0"]
        lines += [f"s_mov_{self.b} {self.vcc}, {self.scalars(36)}", f"s_mov_{self.b} {self.exec}, {active}", text]
        if any(result.name == "exec" for result in results):
            lines.append(f"s_mov_{self.b} {self.mask}, {self.exec}")
            stored.append("exec")
        return Case(row, text, [*lines, f"s_mov_{self.b} {self.exec}, -1"], stored, types=types)

    def modifiers(
        self, row: Row, implicit: set[str], explicit: list, sources: list[str], types: list[Type]
    ) -> list[str]:
        pick = self.random
        most = {"bitop3": 256, "byte_sel": 4}
        modifiers = [f"{name}:{pick.randrange(end)}" for name, end in most.items() if name in implicit]
        if modifiers or "op_sel" in implicit:
            count = 4 if "dst" in implicit else len(explicit) + 1
            return modifiers or [f"op_sel:[{','.join(str(pick.randrange(2)) for _ in range(count))}]"]
        clamps = "clamp" in implicit or (row.float_mode and any(t.is_float and t.kind == "f" for t in types))
        if clamps and pick.random() < 0.3:
            modifiers.append("clamp")

        def bits(extra: str = "") -> str:
            return "[" + ",".join([str(pick.randrange(2)) for _ in explicit] + ([extra] if extra else [])) + "]"

        constant = any(re.match(r"-?[\d.]", s) for s in sources)
        if row.packed and (not constant or row.packed == "mix"):
            names = ["op_sel", "op_sel_hi"]
            if row.element in ("f16", "f32", "bf16") or row.packed == "mix":
                names += ["neg_lo", "neg_hi"]
            elif "neg" in implicit:
                names.append("neg_lo")
            return modifiers + [f"{name}:{bits()}" for name in names if pick.random() < 0.5]
        half = any(p.type.width == 16 for p in explicit)
        if self.lanes == 64 and half and len(explicit) == 3 and not constant and pick.random() < 0.5:
            return [*modifiers, f"op_sel:{bits(str(pick.randrange(2)))}"]
        single = bool(types) and all(t.width == 32 or t == b1 for t in types) and not row.packed
        plain = [bool(re.fullmatch(r"-?\|?v\d+\|?", s)) for s in sources]
        if single and plain and plain[0] and not row.mnemonic.startswith("v_swap") and pick.random() < 0.3:
            control = pick.choice(DPP + DPP_OF[self.lanes])
            if "dpp8" in control:
                return [*modifiers, control]
            masks = f"row_mask:{pick.choice((15, 15, 5))} bank_mask:{pick.choice((15, 15, 6))}"
            fetch = pick.choice(("", " fi:1")) if self.lanes == 32 else ""
            return [*modifiers, control + " " + masks + pick.choice(("", " bound_ctrl:1")) + fetch]
        narrow = all(p.type.width <= 32 and p.type != b1 for p in explicit) and all(
            t.width <= 32 and t != b1 for t in types
        )
        sdwa = self.lanes == 64 and plain and all(plain) and len(plain) <= 2 and narrow and not row.packed
        unfit = ("v_swap", "v_accvgpr", "v_fmac", "v_mbcnt", "v_ldexp")
        if sdwa and not modifiers and not row.mnemonic.startswith(unfit) and pick.random() < 0.5:
            unused = pick.choice(("UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"))
            selects = [f"src{i}_sel:{pick.choice(SDWA)}" for i in range(len(plain))]
            return [f"dst_sel:{pick.choice(SDWA)} dst_unused:{unused} " + " ".join(selects)]
        return modifiers

    def stores(self, register: str, slot: int) -> tuple[list[str], int]:
        """The lines that store a register, one word per lane, and how many slots they take."""
        words = [register]
        if register in ("mask", "exec"):
            first = 22 if register == "mask" else 20
            words = [f"s{first + i}" for i in range(self.lanes // 32)]
        lines = []
        for i, word in enumerate(words):
            if word.startswith("s"):
                lines.append(f"v_mov_b32 v50, {word}")
                word = "v50"
            place = (slot + i) * self.lanes * 4
            lines += [
                f"v_mov_b32 v51, {place:#x}",
                "v_lshl_add_u32 v51, v0, 2, v51",
                f"{self.store} v51, {word}, s[4:5]",
            ]
        return lines, len(words)

    def program(self, cases: list[Case], denormals: int) -> tuple[str, int]:
        """The text of kernel k(out, in), and the size of `out` in words per lane. Fills `slots` of the cases."""
        wide = self.lanes == 64
        lines = ["s_load_dwordx4 s[4:7], s[0:1], 0x0", "s_load_dwordx16 s[24:39], s[6:7], 0x0"]
        if not self.old:
            lines = ["s_load_b128 s[4:7], s[0:1], 0x0", "s_load_b512 s[24:39], s[6:7], 0x0"]
        lines.append("v_lshlrev_b32 v1, 2, v0")
        add = "v_add_u32" if wide else "v_add_nc_u32"
        for i in range(INPUTS):
            lines += [f"{self.load} v{10 + i}, v1, s[6:7]", f"{add} v1, {self.lanes * 4}, v1"]
        slot = 0
        for case in cases:
            lines += case.lines
            first = slot
            for register in case.stored:
                stores, count = self.stores(register, slot)
                lines += stores
                slot += count
            case.slots = first, slot
        body = "\n".join("  " + line for line in lines)
        text = f"""
.amdgcn_target "amdgcn-amd-amdhsa--{self.arch}"
.text
k:
{body}
  s_endpgm
.rodata
.amdhsa_kernel k
  .amdhsa_kernarg_size 16
  .amdhsa_user_sgpr_count 2
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 64
  .amdhsa_next_free_sgpr 96
  .amdhsa_float_denorm_mode_32 {denormals}
  .amdhsa_ieee_mode 0
.end_amdhsa_kernel
"""
        return text, slot
