"""The text of what a checked launch found: `describe(fault)` gives what happened, why, and what to try.

Findings have up to two sides, the access where the kernel was stopped and an earlier one; both are shown with source
line, block, thread, wave, lane and instruction.
"""

from __future__ import annotations

from gpulab.records import Access, Fault, SourceLine

LONGEST_LINE = 160  # characters of a source line that are shown

KINDS = ("race", "lane conflict", "never written", "barrier", "deadlock", "shuffle", "register", "missing wait")
"""The kinds of `records.Fault` that only checked launches have."""

_ACTIONS = {"read": "read", "write": "write", "atomic": "atomic operation"}


def describe(fault: Fault, name: str) -> tuple[str, str, str]:
    """(what, why, hint) of a finding in the kernel that the learner calls `name`."""
    return {
        "race": _race,
        "lane conflict": _lane_conflict,
        "never written": _never_written,
        "barrier": _barrier,
        "deadlock": _deadlock,
        "shuffle": _shuffle,
        "register": _register,
        "missing wait": _missing_wait,
    }[fault.kind](fault, name)


def line_text(where: SourceLine | None) -> str:
    """ "cell.hip, line 5:  tile[t] = x;" """
    if where is None:
        return "The source line is not known."
    text = where.text.strip()
    if len(text) > LONGEST_LINE:
        text = text[:LONGEST_LINE] + " ..."
    return f"{where.file}, line {where.line}:" + (f"  {text}" if text else "")


def _triple(values: tuple[int, int, int]) -> str:
    return ", ".join(str(value) for value in values)


def side(one: Fault | Access) -> str:
    """The three lines that say where an access was made."""
    who = [f"block ({_triple(one.workgroup)})"]
    if one.thread is not None:
        who.append(f"thread ({_triple(one.thread)})")
    who.append(f"wave {one.wave}" + (f", lane {one.lane}" if one.lane is not None else ""))
    lines = [f"    {line_text(one.where)}", f"    in {', '.join(who)}"]
    if one.instruction:
        lines.append(f"    at instruction {one.instruction.strip()}")
    return "\n".join(lines)


def place(fault: Fault) -> str:
    """ "4 bytes at byte 1,020 of the block's shared memory" """
    size = f"{fault.bytes} byte{'s' if fault.bytes != 1 else ''} at "
    address = fault.address or 0
    if fault.memory == "lds":
        return f"{size}byte {address:,} of the block's shared memory"
    if fault.memory == "scratch":
        return f"{size}byte {address:,} of the thread's own memory (local variables)"
    note = fault.nearest
    if note is None or note.relation != "inside":
        return f"{size}address 0x{address:x}"
    of = f" ({note.name})" if note.name else ""
    return f"{size}byte {address - note.address:,} of an allocation of {note.size:,} bytes{of}, address 0x{address:x}"


def _same_line(fault: Fault) -> bool:
    a, b = fault.where, fault.other.where if fault.other else None
    return a is not None and b is not None and (a.file, a.line) == (b.file, b.line)


def _numbered(where: SourceLine | None) -> str:
    return f"line {where.line}" if where is not None else "one place"


def _race(fault: Fault, name: str) -> tuple[str, str, str]:
    other = fault.other
    assert other is not None
    inside = other.workgroup == fault.workgroup
    kind = "shared" if fault.memory == "lds" else "global"
    pair = "two waves of a block" if inside else "two blocks"
    what = (
        f"Kernel {name} has a data race in {kind} memory: {pair} use the same {fault.bytes or 4} bytes, and "
        f"no synchronisation orders them.\n"
        f"  {_ACTIONS.get(fault.access, 'access')} of {place(fault)}\n{side(fault)}\n"
        f"  the other access, {_article(_ACTIONS.get(other.access, 'access'))}\n{side(other)}"
    )
    mixed = "atomic" in (fault.access, other.access) and fault.lack != "scope"
    lines = (
        "the same line in different waves"
        if _same_line(fault)
        else (f"{_numbered(other.where)} and {_numbered(fault.where)}")
    )
    if fault.lack:
        return what, *_lack(fault, other)
    if inside:
        way = fault.detail or f"between {lines}"
        why = f"the waves of a block run at their own speed: {way} there is no __syncthreads() on the way."
    else:
        why = f"blocks run in any order, also at the same time: nothing makes {lines} wait for each other."
    if mixed:
        why += " One of the two is atomic, the other is not: an atomic operation is only safe among atomic ones."
    if fault.access == other.access == "write":
        why += " The value that stays is that of whoever comes last."
    return what, why, _race_hint(fault, inside, mixed)


def _lack(fault: Fault, other: Access) -> tuple[str, str]:
    """Why, and what to try, where an atomic operation was meant to order the two sides of a race."""
    flag, written = _numbered(fault.flag), _numbered(other.where)
    if fault.lack == "scope":
        return (
            "both are atomic, but one of them only among the threads of its own block (..._block, "
            "__HIP_MEMORY_SCOPE_WORKGROUP), and the other comes from another block.",
            "take the function without _block, or __HIP_MEMORY_SCOPE_AGENT, on both sides.",
        )
    if fault.lack == "acquire":
        return (
            f"the other block let its access go with a fence, and {flag} has seen what it set after that. But between "
            f"{flag} and {_numbered(fault.where)} nothing says that reads are to wait for it: they may be older, and "
            "come from this compute unit's cache.",
            f"__threadfence() after {flag}, or read there with __ATOMIC_ACQUIRE and __HIP_MEMORY_SCOPE_AGENT; "
            "__threadfence_block() is for the threads of one block.",
        )
    if fault.lack == "release":
        return (
            f"{flag} has seen what the other block set after {written}. But between the two it has no fence for other "
            "blocks: they may see the flag first and the data later.",
            f"__threadfence() after {written} and before the flag is set, or set it with __ATOMIC_RELEASE and "
            "__HIP_MEMORY_SCOPE_AGENT; __threadfence_block() is for the threads of one block.",
        )
    return (
        f"{flag} has seen what the other wave set after {written}. But an atomic or volatile access orders nothing "
        "beside itself, and this kernel has no fence that would.",
        "__threadfence_block() before the flag is set and after it was seen, __ATOMIC_RELEASE and __ATOMIC_ACQUIRE "
        "with __HIP_MEMORY_SCOPE_WORKGROUP, or __syncthreads() if all threads of the block can reach it.",
    )


def _race_hint(fault: Fault, inside: bool, mixed: bool) -> str:
    if inside:
        if fault.other is not None and fault.access == fault.other.access == "write":
            return (
                "let one thread write it, give each thread its own element, use atomicAdd and the like; if the writes "
                "belong to different steps, __syncthreads() between them."
            )
        if "next turn" in fault.detail:
            return "__syncthreads() at the end of the loop's body as well, reached by all threads of the block."
        return (
            "__syncthreads() between the two lines, reached by all threads of the block; in a loop also before the "
            "memory is written again."
        )
    if mixed:
        return (
            "make both accesses atomic (__hip_atomic_load, atomicAdd); if a counter or flag hands over other data, "
            "__threadfence() before it is set and after it was seen."
        )
    return (
        "give each block its own part, use atomic operations, or split the work into two kernels: a launch ends before "
        "the next begins. A flag or counter that hands data over needs __threadfence() before it is set."
    )


def _article(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def _lane_conflict(fault: Fault, name: str) -> tuple[str, str, str]:
    other = fault.other
    assert other is not None
    what = (
        f"Kernel {name} has a data race within one instruction: lanes {other.lane} and {fault.lane} of a wave write "
        f"different values to the same place.\n  write of {place(fault)}\n{side(fault)}\n"
        f"  the other thread: ({_triple(other.thread or (0, 0, 0))}), lane {other.lane}"
    )
    why = "which lane's value stays is not defined."
    if fault.detail:
        why += f" {_sentence(fault.detail)}"
    hint = (
        "let one thread write (if (threadIdx.x == 0) ...), give each thread its own element, or combine the values "
        "with an atomic operation such as atomicAdd or atomicMax."
    )
    return what, why, hint


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + ("" if text.endswith((".", "!")) else ".")


def _never_written(fault: Fault, name: str) -> tuple[str, str, str]:
    if fault.access == "copy":
        return (
            f"A copy to the host reads global memory that was never written: {place(fault)}.",
            "memory from gpulab.empty or hipMalloc holds whatever was there before.",
            "let the kernel write each element (check its guard and the size of the grid), set the memory before, or "
            "copy only what was written.",
        )
    kind = {"lds": "shared", "scratch": "local"}.get(fault.memory, "global")
    what = f"Kernel {name} reads {kind} memory that was never written: {_ACTIONS.get(fault.access, 'read')} of "
    what += f"{place(fault)}.\n{side(fault)}"
    if fault.memory == "lds":
        why = "shared memory holds whatever was there before, from this or another kernel, when a block starts."
        hint = "write each element before it is read; check the bounds of the loop that fills the array."
    elif fault.memory == "scratch":
        why = "a local variable or array has no value until it is given one."
        hint = "initialise it where it is declared, e.g. float sum[4] = {};"
    else:
        why = "memory from gpulab.empty or hipMalloc holds whatever was there before."
        hint = "use gpulab.zeros or gpulab.to_device, hipMemset or hipMemcpy, or write it in an earlier kernel."
        if fault.access == "atomic":
            why += " An atomic operation reads the old value, too."
    return what, why, hint


def _barrier(fault: Fault, name: str) -> tuple[str, str, str]:
    what = f"Kernel {name} has a barrier that not all threads of the block reach.\n{side(fault)}"
    why = "__syncthreads() has to be reached by all threads of a block, each time"
    if fault.other is not None:
        what += f"\n  while another wave of the block waits at a different one:\n{side(fault.other)}"
        why += "; waves that wait at different barriers let each other pass by mistake."
    else:
        why += f"; here {fault.detail}." if fault.detail else "."
    hint = (
        "move __syncthreads() out of code that only some threads run: a condition on threadIdx, a loop of different "
        "length, an early return (let the thread go on with nothing to do instead)."
    )
    return what, why, hint


def _deadlock(fault: Fault, name: str) -> tuple[str, str, str]:
    what = f"Kernel {name} waits for ever: no wave makes progress, neither memory nor any register changes.\n"
    if fault.address is not None and fault.access:
        what += f"  waiting on {place(fault)}\n"
    what += side(fault)
    if fault.other is not None:
        what += f"\n  last written by\n{side(fault.other)}"
    why = "all waves that are left repeat the same instructions with the same values."
    if fault.detail:
        why += f" {_sentence(fault.detail)}"
    elif fault.other is None and fault.address is not None:
        why += " Nobody has written there in this launch."
    hint = (
        "check who is to change the value, and that it can get there: lanes of a wave run in step (let one lane of the "
        "wave take the lock), blocks need not run at the same time (a cooperative launch makes sure they do), and the "
        "last one must let go."
    )
    return what, why, hint


def _shuffle(fault: Fault, name: str) -> tuple[str, str, str]:
    what = f"Kernel {name} shuffles a value out of a lane that is not active.\n{side(fault)}"
    why = f"a lane gives its value only while it executes the same instruction; {fault.detail}."
    hint = (
        "let all lanes of the wave reach the shuffle and sort out afterwards who uses the result; give a lane without "
        "data a neutral value (0 for a sum), and take __shfl's width when a block has fewer threads than a wave."
    )
    return what, why, hint


def _register(fault: Fault, name: str) -> tuple[str, str, str]:
    what = f"Kernel {name} reads the register {fault.detail} before anything was written to it.\n{side(fault)}"
    why = "registers hold whatever an earlier kernel left in them"
    if fault.detail[:1] in "va" and fault.detail != "vcc":
        why += "; of a vector register that holds for each lane: EXEC may have left this one out when it was written"
    return what, why + ".", "write the register first, for all lanes that use it."


def _missing_wait(fault: Fault, name: str) -> tuple[str, str, str]:
    register, counter, wait = fault.detail.split(":")
    other = fault.other
    assert other is not None
    if register:
        what = f"Kernel {name} uses {register} before the access that loads it has to be there.\n{side(fault)}\n"
        what += f"  the access that is under way\n{side(other)}"
        why = (
            f"memory answers later: the wave goes on, and {register} has its old value until {counter} says otherwise."
        )
        hint = f"{wait} before the use, or the number of later accesses that may still be under way."
    else:
        what = f"Kernel {name} comes to a barrier while its writes to LDS are under way.\n{side(fault)}\n"
        what += f"  the write\n{side(other)}"
        why = "a barrier waits for waves, not for memory: another wave may read the old value behind it."
        hint = f"{wait} before the barrier."
    return what, why, hint
