"""The text of a kernel fault: what happened and where, why, and what to try, from `records.Fault`.

`exception(fault)` gives the exception to raise; `describe(fault)` its three parts.
"""

from __future__ import annotations

import re

from gpulab.errors import CheckedFault, KernelFault, KernelTimeout, KernelTrap, MemoryFault
from gpulab.providers import findings
from gpulab.records import AllocationNote, Fault

SHOWN = 4
"""Further findings of a checked launch that are named; the rest is counted."""


def exception(fault: Fault) -> KernelFault:
    """The exception for a fault: MemoryFault, KernelTimeout, KernelTrap or CheckedFault, with text for the learner."""
    kinds: dict[str, type[KernelFault]] = {
        "timeout": KernelTimeout,
        "grid barrier": KernelTimeout,
        "trap": KernelTrap,
        **dict.fromkeys(findings.KINDS, CheckedFault),
    }
    what, why, hint = describe(fault)
    return kinds.get(fault.kind, MemoryFault)(what, why=why, hint=hint, fault=fault)


def describe(fault: Fault) -> tuple[str, str, str]:
    """(what, why, hint) of a fault. What else a checked launch found stands after the hint, one line each."""
    what, why, hint = _describe(fault)
    if fault.further:
        shown, more = fault.further[:SHOWN], len(fault.further) - SHOWN
        hint += "\nAlso found in this launch, each as if what came before were mended:\n"
        hint += "\n".join(f"  {one.kind}: {findings.line_text(one.where)}" for one in shown)
        if more > 0:
            hint += f"\n  and {more} more"
    return what, why, hint


def _describe(fault: Fault) -> tuple[str, str, str]:
    if fault.kind in findings.KINDS:
        return findings.describe(fault, plain_name(fault.kernel))
    happened = _HAPPENED.get(fault.kind, "was stopped")
    if fault.kind == "timeout" and fault.detail:
        happened = "was stopped: it waits without an end"
    what = f"Kernel {plain_name(fault.kernel)} {happened}{_of_access(fault)}.\n{_place(fault)}"
    return what, _why(fault), _hint(fault)


def plain_name(symbol: str) -> str:
    """The name in the source of a linker symbol: saxpy for _Z5saxpyifPKfPf, a::b for _ZN1a1bEv; else the symbol.

    Source: Itanium C++ ABI, section 5.1.2 (names of encodings). Template arguments and parameters are left out.
    """
    start = re.match(r"_Z(N?)L?(?=\d)", symbol)
    if start is None:
        return symbol
    names, place = [], start.end()
    while (length := re.compile(r"\d+").match(symbol, place)) is not None:
        end = length.end() + int(length.group())
        names.append(symbol[length.end() : end])
        place = end
        if not start.group(1):
            break
    return "::".join(names)


_HAPPENED = {
    "out of bounds": "used memory that is not its own",
    "null": "used a null pointer",
    "misaligned": "used a misaligned address",
    "freed": "used memory that was freed",
    "lds out of bounds": "went past the end of its shared memory (LDS)",
    "scratch out of bounds": "went past the end of its local memory (scratch)",
    "stack overflow": "ran out of stack: functions called each other too deep",
    "timeout": "was stopped: it ran into the instruction limit",
    "trap": "stopped itself (trap)",
    "grid barrier": "was stopped: blocks wait at the grid's barrier for others that have ended",
    "not cooperative": "waited for the whole grid in a launch that is not cooperative",
    "bad jump": "jumped to an address that holds no instruction",
    "read-only": "wrote to memory that is read-only",
    "image descriptor": "used a texture or surface object that does not fit the function",
}


def _of_access(fault: Fault) -> str:
    if fault.address is None or fault.kind == "not cooperative":
        return ""
    access = {"read": "read of", "write": "write of", "atomic": "atomic operation on"}.get(fault.access, "access to")
    size = f"{fault.bytes} byte{'s' if fault.bytes != 1 else ''} at " if fault.bytes else ""
    return f": {access} {size}address {_address(fault)}"


def _address(fault: Fault) -> str:
    address = fault.address or 0
    if fault.kind in ("lds out of bounds", "scratch out of bounds", "stack overflow"):
        return (
            f"{address:,} (counted from the start of the block's shared memory)"
            if "lds" in fault.kind
            else f"{address:,}"
        )
    return f"0x{address:x}"


def _place(fault: Fault) -> str:
    lines = []
    where = fault.where
    lines.append(f"  {findings.line_text(where)}")
    who = [f"block ({_triple(fault.workgroup)})"]
    if fault.thread is not None:
        who.append(f"thread ({_triple(fault.thread)})")
    who.append(f"wave {fault.wave}" + (f", lane {fault.lane}" if fault.lane is not None else ""))
    lines.append("  in " + ", ".join(who))
    if fault.instruction:
        lines.append(f"  at instruction {fault.instruction.strip()}")
    return "\n".join(lines)


def _triple(values: tuple[int, int, int]) -> str:
    return ", ".join(str(value) for value in values)


def _bytes(count: int) -> str:
    return f"{count:,} byte{'s' if count != 1 else ''}"


def nearest_text(note: AllocationNote) -> str:
    """Where an address is in relation to an allocation: "4 bytes past the end of an allocation of 4,096 bytes"."""
    name = f" ({note.name})" if note.name else ""
    allocation = f"an allocation of {_bytes(note.size)}{name}"
    if note.relation == "inside":
        return f"inside {allocation}"
    if note.relation == "freed":
        return f"in {allocation} that was freed"
    if note.relation == "after":
        if note.distance == 0:
            return f"exactly at the end of {allocation}, the first byte that does not belong to it"
        return f"{_bytes(note.distance)} past the end of {allocation}"
    return f"{_bytes(note.distance)} before the start of {allocation}"


#: Farther away than this an allocation has nothing to do with a bad address.
FAR_BYTES = 1 << 28


def is_near(note: AllocationNote) -> bool:
    """Whether an allocation is near enough to be named."""
    return note.distance < FAR_BYTES


def _why(fault: Fault) -> str:
    kind = fault.kind
    note = fault.nearest if fault.nearest is not None and is_near(fault.nearest) else None
    if kind == "null":
        text = "a null pointer points to no memory; the address is 0 plus the index times the element size."
    elif kind == "misaligned":
        text = f"the address of an access of {_bytes(fault.bytes)} must be a multiple of its alignment."
        if fault.address is not None and fault.bytes:
            text += f" 0x{fault.address:x} is {fault.address % fault.bytes} more than a multiple of {fault.bytes}."
    elif kind == "timeout":
        text = "the loop around this line did not end within the limit."
    elif kind == "trap":
        text = "it executed a trap instruction, as __builtin_trap() and a failed assert do."
    elif kind == "grid barrier":
        text = "sync() of this_grid() is passed when all blocks of the grid have reached it."
    elif kind == "not cooperative":
        text = (
            "sync() of this_grid() needs all blocks to run at the same time, which only a cooperative launch makes "
            "sure of. It also hands over the barrier; without, the kernel uses a null pointer."
        )
    elif kind == "image descriptor":
        text = (
            "the object describes no image of the shape that the function reads, or nothing that the texture unit can "
            "use: tex1Dfetch reads linear memory, tex2D a 2D array or pitched memory, tex2DLayered a layered array."
        )
    elif kind == "bad jump":
        text = (
            "a call or jump went to an address that is no function of this module and no place whose label the code "
            "names, e.g. through a bad function pointer."
        )
    elif kind == "read-only":
        text = "constants, code, and mapped memory without the right to write (hipMemSetAccess) can be read only."
    elif kind == "lds out of bounds":
        text = "the index is larger than the shared array of the block."
    elif kind == "stack overflow":
        name, _, text = fault.detail.rpartition(": ")
        who = f"in {plain_name(name)}, " if name else ""
        return f"{who}a function that calls itself, or a circle of calls, needs room for each call: {text}."
    elif kind == "scratch out of bounds":
        text = "an index into a local array (one per thread) is larger than the array."
    elif note is not None:
        text = f"the address is {nearest_text(note)}."
    else:
        text = "there is no allocation near this address."
    if kind in ("null", "misaligned") and note is not None and note.relation == "inside":
        text += f" The address lies {nearest_text(note)}."
    if fault.detail and kind != "not cooperative":
        text += f" {fault.detail[0].upper()}{fault.detail[1:]}" + ("" if fault.detail.endswith((".", "!")) else ".")
    return text


_FREED_HINT = "keep the array (or hipFree later) until the kernels that use it have finished."

_HINTS = {
    "null": "check that every pointer argument is device memory (gpulab.to_device, hipMalloc) and is passed in the "
    "order the kernel declares.",
    "misaligned": "do not cast a pointer to a type with a larger alignment unless the address is a multiple of it.",
    "freed": _FREED_HINT,
    "timeout": "check that the loop's condition can become false for every thread; if it is only long, raise the "
    "limit with gpulab.set_limit(...) or GPULAB_INSTRUCTION_LIMIT.",
    "trap": "look at the condition that led to the trap.",
    "grid barrier": "let every block reach sync() equally often: no early return of whole blocks before it, no sync() "
    "inside a condition that differs between blocks.",
    "not cooperative": "launch it with kernel.cooperative[grid, block](...), or hipLaunchCooperativeKernel; "
    "this_grid().is_valid() tells a kernel which launch it is in.",
    "image descriptor": "compare the function with what hipCreateTextureObject or hipCreateSurfaceObject was given "
    "(resType, and the array's width, height, depth and flags).",
    "bad jump": "check function pointers and arrays next to which they are stored.",
    "read-only": "write to memory that was allocated, or to a __device__ variable without const.",
    "lds out of bounds": "compare the index with the array's size and, for dynamic shared memory, with the bytes "
    "given at the launch.",
    "stack overflow": "look for the condition that ends the recursion, or write it as a loop with an array of its own.",
    "scratch out of bounds": "compare the index with the size of the local array.",
}

_RELATION_HINTS = {
    "after": "guard the access, e.g. if (i < n), and check that n is the number of elements: the grid often has "
    "more threads than the array has elements.",
    "before": "check the index for negative values, e.g. i - 1 in the first thread.",
    "freed": _FREED_HINT,
}


_NO_LDS_HINT = (
    "an array declared extern __shared__ gets its size at the launch, in bytes: kernel[grid, block, bytes](...) "
    "or, in C++, kernel<<<grid, block, bytes>>>(...)."
)

_WAITING_HINT = (
    "see what sets the value that the loop waits for. A checked launch says who waits for whom: write it into a block "
    "`with gpulab.checked():`, or run a whole program with GPULAB_CHECKED=1. Lanes of one wave cannot wait for each "
    "other."
)

_BLOCKS_HINT = (
    "see what sets the value that the loop waits for. If blocks wait for one another, all of them have to be there at "
    "the same time: launch no more than the device holds (hipOccupancyMaxActiveBlocksPerMultiprocessor times its "
    "multiprocessors), best with kernel.cooperative[grid, block](...) or hipLaunchCooperativeKernel, which check that. "
    "If each lane takes a lock by itself, the lane that has it may wait for those of its wave that are still in the "
    "loop: let one lane of a wave take the lock, for all of them."
)

_INSIDE_HINTS = {  # by the name of the allocation: those of virtual memory management (machine/arena.py)
    "mapped memory without access": "call hipMemSetAccess for the device that runs the kernel.",
    "reserved addresses without memory": "map memory there (hipMemMap), and give access to it (hipMemSetAccess).",
}


def _hint(fault: Fault) -> str:
    if fault.kind == "timeout" and fault.detail:
        return _BLOCKS_HINT if "blocks" in fault.detail else _WAITING_HINT
    if fault.kind == "lds out of bounds" and "has 0 bytes" in fault.detail:
        return _NO_LDS_HINT
    if fault.kind in _HINTS:
        return _HINTS[fault.kind]
    note = fault.nearest
    if note is not None and note.relation == "inside" and note.name in _INSIDE_HINTS:
        return _INSIDE_HINTS[note.name]
    if note is not None and is_near(note) and note.relation in _RELATION_HINTS:
        return _RELATION_HINTS[note.relation]
    return (
        "check that the pointer is device memory: a host array must be copied to the device first "
        "(gpulab.to_device, hipMemcpy)."
    )
