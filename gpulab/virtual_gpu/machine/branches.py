"""Which branch each instruction stands in: `governing` follows what a kernel does to EXEC.

A branch that lanes decide each for themselves is no jump on this hardware: lanes that take no part are taken out of
EXEC and put back where the paths meet. Compilers write this in few ways (LLVM, SILowerControlFlow and
SIOptimizeExecMasking), which are told apart by the rows' `logic`:

    s_and_saveexec_b64 s[2:3], vcc         an if: s[2:3] keeps the lanes to put back
    s_andn2_saveexec_b64 s[2:3], s[2:3]    its else; or s_or_saveexec_b64 and then s_xor_b64 exec, exec, s[2:3]
    s_andn2_b64 exec, exec, s[4:5]         the end of a loop's body: the lanes in s[4:5] have left
    s_or_b64 exec, exec, s[2:3]            where the paths meet
    v_cmpx_gt_i32 v0, v1                   an if of RDNA: an s_mov_b32 before it keeps EXEC
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gpulab.virtual_gpu.isa.instruction import Literal, Operand, Register, Symbol
from gpulab.virtual_gpu.isa.row import LOGIC, Control, Row
from gpulab.virtual_gpu.translate.decode import Decoded


class Open(NamedTuple):
    """A branch whose end has not come: the instruction that began it, and the registers that hold lanes to put back."""

    instruction: int
    kept: frozenset[Register | None]


Stack = tuple[Open, ...]


def governing(
    blocks: Sequence[Sequence[int]], decoded: Mapping[int, Decoded], labels: Mapping[str, int]
) -> dict[int, int]:
    """The instruction that began the innermost branch around each instruction, where there is one.

    An if and its else are one branch. All instructions of a loop are in it, those of its first turn too. Functions that
    are called count from their own beginning.

    Args:
        blocks: the instruction indices of each basic block.
        labels: the first instruction behind each label.
    """
    starts = {block[0]: number for number, block in enumerate(blocks) if block}
    known: dict[int, Stack] = {}
    found: dict[int, int] = {}
    work: list[tuple[int, Stack]] = [(number, ()) for number in reversed(range(len(blocks)))]
    copies: dict[int, Register | None] = {}
    while work:
        number, stack = work.pop()
        merged = _merged(known.get(number), stack)
        if merged == known.get(number):
            continue
        known[number] = stack = merged
        copy = copies.get(number)
        for index in blocks[number]:
            if stack:
                found[index] = stack[-1].instruction
            stack, copy = _after(decoded[index], index, stack, copy)
        for target in successors(blocks[number], decoded, labels, starts):
            copies.setdefault(target, copy)
            work.append((target, stack))
    return found


def way_without_barrier(
    blocks: Sequence[Sequence[int]], decoded: Mapping[int, Decoded], labels: Mapping[str, int], first: int, second: int
) -> bool:
    """Whether a wave can come from one instruction to another (to the same one: again) without a barrier between."""
    starts = {block[0]: number for number, block in enumerate(blocks) if block}
    place = next(((n, block.index(first)) for n, block in enumerate(blocks) if first in block), None)
    work = [] if place is None else [(place[0], place[1] + 1)]
    seen: set[int] = set()
    while work:
        number, begin = work.pop()
        for index in blocks[number][begin:]:
            if index == second:
                return True
            row = decoded[index].row
            if isinstance(row, Control) and row.kind == "barrier":
                break
        else:
            for target in successors(blocks[number], decoded, labels, starts):
                if target not in seen:
                    seen.add(target)
                    work.append((target, 0))
    return False


def successors(
    block: Sequence[int], decoded: Mapping[int, Decoded], labels: Mapping[str, int], starts: Mapping[int, int]
) -> list[int]:
    """The numbers of the blocks that can follow a block; `starts` has the number of each by its first instruction."""
    last = decoded[block[-1]]
    kind = last.row.kind if isinstance(last.row, Control) else ""
    found = []
    if kind in ("branch", "cbranch"):
        names = (o.value.name for o in last.instruction.operands if isinstance(o.value, Symbol))
        found += [starts[labels[name]] for name in names if labels.get(name, -1) in starts]
    if kind == "jump":  # a branch that is too far for s_branch: its distance stands in what computes the address
        values = (o.value for index in block for o in decoded[index].instruction.operands)
        names = (name for value in values if isinstance(value, Literal) for name in value.places)
        found += [starts[labels[name]] for name in names if labels[name] in starts and labels[name] not in block]
    if kind not in ("branch", "jump", "end") and block[-1] + 1 in starts:
        found.append(starts[block[-1] + 1])
    return found


def _merged(one: Stack | None, other: Stack) -> Stack:
    """What is open where two paths meet: what is open on any of them."""
    if not one:
        return other
    kept = {each.instruction: each.kept for each in other}
    joined = [Open(each.instruction, each.kept | kept.pop(each.instruction, frozenset())) for each in one]
    return (*joined, *(Open(instruction, registers) for instruction, registers in kept.items()))


def _register(operand: Operand) -> Register | None:
    return operand.value if isinstance(operand.value, Register) else None


def _is_exec(operand: Operand) -> bool:
    return isinstance(operand.value, Register) and operand.value.name == "exec" and operand.value.index == 0


def _after(decoded: Decoded, index: int, stack: Stack, copy: Register | None) -> tuple[Stack, Register | None]:
    """What is open after an instruction, and the register that EXEC was copied to last."""
    row = decoded.row
    if not isinstance(row, Row):
        return stack, copy
    if row.unit == "valu":
        return (_opened(stack, index, copy) if row.writes_exec else stack), copy
    if not row.logic:
        return stack, copy
    target, *sources = decoded.instruction.operands
    kept = _register(target)
    if row.saves_exec and kept is not None:
        if row.logic == "and":
            return _opened(stack, index, kept), copy
        around = _closed(stack, _register(sources[0]))
        if around is None:
            return stack, copy
        branch = stack[len(around)]  # whose else begins here
        return (*around, Open(branch.instruction, branch.kept | {kept})), copy
    if _is_exec(target):
        others = [each for each in sources if not _is_exec(each)]
        if row.logic == "or" and others:
            around = _closed(stack, _register(others[0]))
            return (stack[:-1] if around is None else around), copy
        if row.logic == "mov":
            everything = isinstance(sources[0].value, Literal) and sources[0].value.value == -1
            around = () if everything else _closed(stack, _register(sources[0]))
            return (stack if around is None else around), copy
        if row.logic == "xor" and others and _closed(stack, _register(others[-1])) is not None:
            return stack, copy  # the else of a branch that is open already
        if (row.logic == "xor" or LOGIC[row.logic].narrows) and others:
            return _opened(stack, index, _register(others[-1])), copy
        return stack, copy
    if row.logic == "mov" and _is_exec(sources[0]):
        return stack, kept
    if row.logic in ("mov", "xor") and kept is not None:
        read = {_register(each) for each in sources}
        return tuple(
            Open(each.instruction, each.kept | {kept}) if each.kept & read - {None} else each for each in stack
        ), copy
    return stack, copy


def _opened(stack: Stack, index: int, register: Register | None) -> Stack:
    """With one more branch open; it is still one where a loop comes round."""
    if any(each.instruction == index for each in stack):
        return stack
    return (*stack, Open(index, frozenset([register])))


def _closed(stack: Stack, register: Register | None) -> Stack | None:
    """Without the innermost branch that keeps lanes in a register and what is inside of it; None if there is none."""
    for place in reversed(range(len(stack))):
        if register is not None and register in stack[place].kept:
            return stack[:place]
    return None
