"""Wait counters: which of them an instruction raises until its memory has answered, and how far a wait lets them be.

Counters have the manuals' names. A counter is raised when the instruction issues, and lowered when its data is in
registers or its store has been done. Sources: AMD's ISA manuals, "Manually Inserted Wait States" and "Data Dependency
Resolution" (MI300 4.4, RDNA 3 5.6, RDNA 4 5.7); for flat accesses, which raise two, LLVM's SIInsertWaitcnts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gpulab.virtual_gpu.isa.instruction import Instruction, Keyword, Literal
from gpulab.virtual_gpu.isa.row import AnyRow, Control, CrossLane, Image, Memory

if TYPE_CHECKING:
    from gpulab.architectures import Architecture

MEMORY_COUNTERS = ("vmcnt", "lgkmcnt", "vscnt", "loadcnt", "storecnt", "samplecnt", "dscnt", "kmcnt")
ANSWERED = ("time", "realtime", "sendmsg", "sendmsg_rtn")
"""Kinds of control instructions that have an answer to wait for."""
_LARGEST = 0xFF  # of each half of a wait for two counters (gfx12)


def raised(row: AnyRow | None, returns: bool, architecture: Architecture) -> tuple[str, ...]:
    """The counters that an instruction raises; () if nothing has to wait for it.

    Args:
        returns: it writes a register; asked of atomics alone.
    """
    apart = architecture.separate_lds_counter
    load = "loadcnt" if apart else "vmcnt"
    store = "storecnt" if apart else "vscnt" if architecture.separate_store_counter else "vmcnt"
    lds, scalar = ("dscnt", "kmcnt") if apart else ("lgkmcnt", "lgkmcnt")
    if isinstance(row, Memory):
        if row.action == "prefetch":
            return ()
        if row.space in ("lds", "scalar"):
            return (lds if row.space == "lds" else scalar,)
        vector = load if row.action == "load" or (row.action == "atomic" and returns) else store
        # The address of a flat access decides whether LDS or memory answers.
        return (vector, lds) if row.space == "flat" else (vector,)
    if isinstance(row, Image):
        if row.action == "size":
            return (load,)
        sampled = apart and row.action in ("sample", "gather")
        return ("samplecnt" if sampled else store if row.action == "store" else load,)
    if isinstance(row, CrossLane) and row.unit == "lds":
        return (lds,)
    if isinstance(row, Control) and row.kind in ANSWERED:
        return (scalar,)
    return ()


def any_order(row: AnyRow | None) -> bool:
    """Whether what an instruction requests may arrive before what the same counter was raised for earlier, as scalar
    loads, messages and flat accesses may: then only a wait for all of them says that one has arrived."""
    if isinstance(row, Memory):
        return row.space in ("scalar", "flat")
    return isinstance(row, Control) and row.kind in ANSWERED


def allowed(instruction: Instruction, row: AnyRow | None) -> tuple[tuple[str, int], ...]:
    """How many may be left in each memory counter that a wait names: ("vmcnt", 1); () if it is no wait for memory."""
    if not isinstance(row, Control) or row.kind != "wait" or not row.counters:
        return ()
    last = instruction.operands[-1].value if instruction.operands else None
    number = int(last.value) if isinstance(last, Literal) else 0
    if len(row.counters) == 1:
        found = [(row.counters[0], number)]
    elif len(row.counters) == 2:
        found = list(zip(row.counters, (number >> 8, number & _LARGEST), strict=True))
    elif isinstance(last, Keyword):
        found = [(name, int(left, 0)) for name, left in re.findall(r"(\w+)\((\w+)\)", last.text)]
    else:  # a number: taken for a wait for everything
        found = [(name, 0) for name in row.counters]
    return tuple((name, left) for name, left in found if name in MEMORY_COUNTERS)


def wait_for_all(counter: str) -> str:
    """The instruction that waits until nothing is left in a memory counter."""
    if counter in ("vmcnt", "lgkmcnt"):
        return f"s_waitcnt {counter}(0)"
    return "s_waitcnt_vscnt null, 0x0" if counter == "vscnt" else f"s_wait_{counter} 0x0"
