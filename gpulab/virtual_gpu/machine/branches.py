"""Which branch each instruction stands in: `governing` follows what a kernel does to EXEC.

A branch that lanes decide each for themselves is no jump on this hardware: lanes that take no part are taken out of
EXEC and put back where the paths meet. Compilers write this in few ways (LLVM, SILowerControlFlow and
SIOptimizeExecMasking), which are told apart by the instructions' text:

    s_and_saveexec_b64 s[2:3], vcc         an if: s[2:3] keeps the lanes to put back
    s_andn2_saveexec_b64 s[2:3], s[2:3]    its else; or s_or_saveexec_b64 and then s_xor_b64 exec, exec, s[2:3]
    s_andn2_b64 exec, exec, s[4:5]         the end of a loop's body: the lanes in s[4:5] have left
    s_or_b64 exec, exec, s[2:3]            where the paths meet
    v_cmpx_gt_i32 v0, v1                   an if of RDNA: an s_mov_b32 before it keeps EXEC
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gpulab.virtual_gpu.isa.instruction import Symbol
from gpulab.virtual_gpu.isa.row import Control
from gpulab.virtual_gpu.translate.decode import Decoded

_EXEC = ("exec", "exec_lo")
_SPLIT = re.compile(r",\s*(?![^\[]*\])")
_SUFFIX = re.compile(r"_b(32|64)$")


class Open(NamedTuple):
    """A branch whose end has not come: the instruction that began it, and the registers that hold lanes to put back."""

    instruction: int
    kept: frozenset[str]


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
    copies: dict[int, str] = {}
    while work:
        number, stack = work.pop()
        merged = _merged(known.get(number), stack)
        if merged == known.get(number):
            continue
        known[number] = stack = merged
        copy = copies.get(number, "")
        for index in blocks[number]:
            if stack:
                found[index] = stack[-1].instruction
            stack, copy = _after(decoded[index].instruction.text.strip(), index, stack, copy)
        for target in _successors(blocks[number], decoded, labels, starts):
            copies.setdefault(target, copy)
            work.append((target, stack))
    return found


def _successors(
    block: Sequence[int], decoded: Mapping[int, Decoded], labels: Mapping[str, int], starts: Mapping[int, int]
) -> list[int]:
    last = decoded[block[-1]]
    kind = last.row.kind if isinstance(last.row, Control) else ""
    found = []
    if kind in ("branch", "cbranch"):
        names = (o.value.name for o in last.instruction.operands if isinstance(o.value, Symbol))
        found += [starts[labels[name]] for name in names if labels.get(name, -1) in starts]
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


def _after(text: str, index: int, stack: Stack, copy: str) -> tuple[Stack, str]:
    """What is open after an instruction, and the register that EXEC was copied to last."""
    mnemonic, _, rest = text.partition(" ")
    if mnemonic.startswith("v_cmpx"):
        return _opened(stack, index, copy), copy
    if not mnemonic.startswith("s_") or not mnemonic.endswith(("_b32", "_b64")):
        return stack, copy
    name, operands = _SUFFIX.sub("", mnemonic), [part.strip() for part in _SPLIT.split(rest)]
    target, sources = operands[0], operands[1:]
    if name.endswith("_saveexec"):
        if name == "s_and_saveexec":
            return _opened(stack, index, target), copy
        around = _closed(stack, sources[0])
        if around is None:
            return stack, copy
        branch = stack[len(around)]  # whose else begins here
        return (*around, Open(branch.instruction, branch.kept | {target})), copy
    if target in _EXEC:
        others = [each for each in sources if each not in _EXEC]
        if name == "s_or" and others:
            around = _closed(stack, others[0])
            return (stack[:-1] if around is None else around), copy
        if name == "s_mov":
            around = () if sources[0] == "-1" else _closed(stack, sources[0])
            return (stack if around is None else around), copy
        if name == "s_xor" and others and _closed(stack, others[-1]) is not None:
            return stack, copy  # the else of a branch that is open already
        if name in ("s_and", "s_andn2", "s_and_not1", "s_xor") and others:
            return _opened(stack, index, others[-1]), copy
        return stack, copy
    if name == "s_mov" and sources[0] in _EXEC:
        return stack, target
    if name in ("s_mov", "s_xor"):
        return tuple(
            Open(each.instruction, each.kept | {target}) if each.kept & set(sources) else each for each in stack
        ), copy
    return stack, copy


def _opened(stack: Stack, index: int, register: str) -> Stack:
    """With one more branch open; it is still one where a loop comes round."""
    if any(each.instruction == index for each in stack):
        return stack
    return (*stack, Open(index, frozenset([register])))


def _closed(stack: Stack, register: str) -> Stack | None:
    """Without the innermost branch that keeps lanes in a register and what is inside of it; None if there is none."""
    for place in reversed(range(len(stack))):
        if register in stack[place].kept:
            return stack[:place]
    return None
