"""What is known of a kernel before it is translated: `reachable` instructions; `Structure`, its blocks and modes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from gpulab import architectures
from gpulab.virtual_gpu.isa.control import DEBUG_TRAP
from gpulab.virtual_gpu.isa.instruction import KernelDescriptor, Literal, Operand, Program, Symbol
from gpulab.virtual_gpu.isa.row import ONE_FOR_THE_WAVE, Control, CrossLane, Row
from gpulab.virtual_gpu.translate import layout
from gpulab.virtual_gpu.translate.decode import ALL_VECTORS, Decoded, Decoder, bits, hardware_field, index_mode, is_dpp
from gpulab.virtual_gpu.translate.modes import Mode

_ENDS = ("end", "branch", "cbranch", "call", "jump", "barrier", "sleep", "trap")


def reachable(program: Program, kernel: KernelDescriptor, decoder: Decoder) -> tuple[list[int], set[int]]:
    """(instructions that the kernel can reach, in order; those where indirect jumps may land)."""
    seen: set[int] = set()
    landing: set[int] = set()
    work = [kernel.entry]
    data_functions = [
        program.functions[r.symbol][0]
        for o in program.data.values()
        for r in o.relocations
        if r.symbol in program.functions
    ]
    while work:
        index = work.pop()
        while index not in seen:
            if index >= len(program.instructions):
                break
            seen.add(index)
            decoded = decoder.decode(index, kernel.name)
            for operand in decoded.instruction.operands:
                value = operand.value
                if isinstance(value, Symbol) and value.relocation and value.name.removesuffix("@got") in program.labels:
                    target = program.labels[value.name.removesuffix("@got")]
                    landing.add(target)
                    work.append(target)
                elif isinstance(value, Literal):  # a branch too far for s_branch goes through a distance in registers
                    landing.update(program.labels[name] for name in value.places)
                    work += [program.labels[name] for name in value.places]
            row = decoded.row
            if isinstance(row, Control):
                if row.kind in ("branch", "cbranch"):
                    work.append(label_of(program, decoded))
                    if row.kind == "branch":
                        break
                elif row.kind == "call":
                    landing.add(index + 1)
                    for target in data_functions:
                        landing.add(target)
                        work.append(target)
                    for operand in decoded.instruction.operands:
                        if isinstance(operand.value, Symbol):
                            landing.add(label_of(program, decoded))
                            work.append(label_of(program, decoded))
                elif row.kind in ("end", "jump") or stops(decoded):
                    break
            index += 1
    return sorted(seen), landing


def stops(decoded: Decoded) -> bool:
    """Whether an instruction is a trap that stops the kernel. (s_trap 3 does nothing without a debugger.)"""
    if not isinstance(decoded.row, Control) or decoded.row.kind != "trap":
        return False
    value = decoded.instruction.operands[0].value
    return not (isinstance(value, Literal) and int(value.value) == DEBUG_TRAP)


def fence_of(decoded: Decoded, arch: str, orders: frozenset[str] | None) -> str:
    """What is left here of an order for the device or more: "release", "acquire", "fence" for both, or nothing.

    An acquire always drops cached lines. A release writes them back from CDNA 3 on. Elsewhere it only waits for
    all accesses, and only if they were not waited for already; so any such wait may have been one, if the kernel has
    releases alone. A fence that is both is known by its acquire. (LLVM, "User Guide for AMDGPU Backend", memory
    models.)

    Args:
        orders: toolchain/memory_order.py, WORDS; None if it is not known.
    """
    instruction, row = decoded.instruction, decoded.row
    if not isinstance(row, Control):
        return ""
    modifiers = instruction.modifiers
    device = bool(modifiers.get("sc1")) or modifiers.get("scope") in ("SCOPE_DEV", "SCOPE_SYS")
    acquires = row.order == "acquire" or (row.order == "scoped acquire" and device)
    if architectures.get(arch).has("gfx940-insts"):
        return "release" if row.order == "release" else "acquire" if acquires else ""
    if acquires:
        return "fence" if orders is None or "fence" in orders else "acquire"
    waits = row.counters and bool(re.search(r"\b0(x0)?\b", instruction.text))
    return "release" if waits and (orders is None or "release" in orders) else ""


def label_of(program: Program, decoded: Decoded) -> int:
    for operand in decoded.instruction.operands:
        if isinstance(operand.value, Symbol):
            return program.labels[operand.value.name]
    raise KeyError(decoded.instruction.text)


class Structure:
    """A kernel's reachable instructions in basic blocks, with the MODE register known at each block's start.

    Raises:
        UnsupportedInstruction: an instruction that gpulab cannot execute, or a use of MODE that it cannot follow.
    """

    def __init__(self, program: Program, kernel: KernelDescriptor, decoder: Decoder, mode: int) -> None:
        self.program, self.kernel, self.decoder = program, kernel, decoder
        self.wave_size = program.wave_size
        self.order, self.landing = reachable(program, kernel, decoder)
        self.decoded = {i: decoder.decode(i, kernel.name) for i in self.order}
        self._find_blocks()
        self.indexed = self._find_indexed()
        self.modes = self._find_modes(Mode(mode))

    def _find_blocks(self) -> None:
        leaders = {self.kernel.entry, *self.landing}
        reached = set(self.order)
        for index in self.order:
            row = self.decoded[index].row
            if isinstance(row, Control) and row.kind in _ENDS:
                leaders.add(index + 1)
                if row.kind in ("branch", "cbranch"):
                    leaders.add(label_of(self.program, self.decoded[index]))
        self.blocks: dict[int, list[int]] = {}
        current: list[int] = []
        last = -2
        for index in self.order:
            if index in leaders or index != last + 1:
                current = self.blocks.setdefault(index, [])
            current.append(index)
            last = index
        self.successors: dict[int, Sequence[int] | None] = {}
        for block, body in self.blocks.items():
            end = self.decoded[body[-1]]
            row = end.row
            following = [body[-1] + 1] if body[-1] + 1 in reached else []
            if not isinstance(row, Control) or row.kind not in _ENDS:
                self.successors[block] = following
            elif row.kind == "branch":
                self.successors[block] = [target for target in (label_of(self.program, end),) if target in reached]
            elif row.kind == "cbranch":
                target = label_of(self.program, end)
                self.successors[block] = [target, *following] if target in reached else following
            elif row.kind in ("call", "jump"):
                self.successors[block] = None
            elif row.kind == "end" or stops(end):
                self.successors[block] = []
            else:
                self.successors[block] = following

    def _find_indexed(self) -> dict[int, int]:
        """Index modes of the vector instructions between s_set_gpr_idx_on and _off, by instruction (gfx9).

        They read any register and write none for certain. Compilers use this for moves within one block alone.
        """
        found: dict[int, int] = {}
        for body in self.blocks.values():
            mode: int | None = None
            for index in body:
                decoded = self.decoded[index]
                row = decoded.row
                if isinstance(row, Control) and row.kind in ("gpr_index_on", "gpr_index_mode"):
                    mode = index_mode(decoded.instruction) if mode is not None or row.kind == "gpr_index_on" else None
                elif isinstance(row, Control) and row.kind == "gpr_index_off":
                    mode = None
                elif mode is not None and isinstance(row, Row) and decoded.is_vector:
                    if is_dpp(decoded.instruction):
                        why = "with register indexing on, gpulab executes no DPP."
                        raise self.decoder.refuse(decoded.instruction, self.kernel.name, why)
                    found[index] = mode
                    writes = 0 if mode & 8 else decoded.vector_writes
                    reads = decoded.scalar_reads | bits(layout.M0, 1)
                    self.decoded[index] = replace(
                        decoded, cross_reads=ALL_VECTORS, vector_writes=writes, scalar_reads=reads
                    )
                elif mode is not None and isinstance(row, CrossLane) and row.kind in ONE_FOR_THE_WAVE:
                    found[index] = mode
                    reads = decoded.scalar_reads | bits(layout.M0, 1)
                    self.decoded[index] = replace(decoded, cross_reads=ALL_VECTORS, scalar_reads=reads)
            if mode is not None:
                why = "register indexing stays on at the end of a block, where gpulab does not follow it."
                raise self.decoder.refuse(self.decoded[body[-1]].instruction, self.kernel.name, why)
        return found

    def _find_modes(self, start: Mode) -> dict[int, Mode]:
        """What is known of MODE at each block's start. Where paths meet, the bits in which they differ are unknown; an
        indirect jump (a call, a return) may lead to any landing place."""
        modes: dict[int, Mode] = {}
        anywhere: Mode | None = None
        work: list[tuple[int, Mode]] = [(self.kernel.entry, start)]
        while work:
            block, mode = work.pop()
            if block not in self.blocks:
                continue
            known = modes.get(block)
            joined = mode if known is None else known.joined(mode)
            if joined == known:
                continue
            modes[block] = mode = joined
            for index in self.blocks[block]:
                mode = self._mode_after(self.decoded[index], mode)
            targets = self.successors[block]
            if targets is None:
                if anywhere is not None and anywhere.joined(mode) == anywhere:
                    continue
                anywhere = mode if anywhere is None else anywhere.joined(mode)
                targets, mode = list(self.landing), anywhere
            work += [(target, mode) for target in targets]
        return modes

    def _mode_field(self, decoded: Decoded) -> tuple[int, int, Operand] | None:
        """(first bit, bits, new value) of the field of MODE that an instruction writes; None if it writes none."""
        row, operands = decoded.row, decoded.instruction.operands
        if not isinstance(row, Control) or row.kind not in ("setreg", "round_mode", "denorm_mode"):
            return None
        if row.kind != "setreg":
            return (0 if row.kind == "round_mode" else 4), 4, operands[0]
        field = hardware_field(operands[0].value)
        if field is None or field[0] != "HW_REG_MODE":
            return None
        return field[1], field[2], operands[1]

    def _mode_after(self, decoded: Decoded, mode: Mode) -> Mode:
        field = self._mode_field(decoded)
        if field is None:
            return mode
        first, width, given = field
        value = given.value
        return mode.with_field(first, width, int(value.value) if isinstance(value, Literal) else None)
