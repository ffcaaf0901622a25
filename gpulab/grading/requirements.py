"""The usual requirements of exercises: limits on counters, cache lines, registers, instructions, time, structure.

Each function makes a `Requirement`. Limits are numbers or functions (case, arch) -> number. What is measured comes from
a profiled run of a case whose output is right (`Outcome.measured`), added up over its launches; registers and
instructions come from the compiled kernels, structure from the source without comments and texts (`code_only`).

All of them take `title=` (what is asked, for the learner), `next_step=` (where to look), `when=` (cases that it applies
to) and `archs=` (architectures that it applies to).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, TypedDict, Unpack

from gpulab.errors import CheckError
from gpulab.grading.case import Buffer, Case
from gpulab.grading.exercise import Requirement
from gpulab.grading.outcome import Outcome, ProgramOutcome
from gpulab.grading.program_case import ProgramCase
from gpulab.grading.wording import coordinates

if TYPE_CHECKING:
    from gpulab.module import Resources
    from gpulab.records import Access, InstructionCost, Launch

Limit = float | Callable[[Case, str], float]


class More(TypedDict, total=False):
    """What all take beside their own arguments; see `Requirement`."""

    next_step: str
    when: Callable[[Case | ProgramCase], bool]
    archs: tuple[str, ...]
    shrinks: bool
    of_speed: bool
    watches: bool


class Titled(More, total=False):
    title: str


KINDS = {
    "global loads": r"(global|flat|buffer)_load",
    "global stores": r"(global|flat|buffer)_store",
    "global atomics": r"(global|flat|buffer)_atomic",
    "LDS reads": r"ds_(load|read)",
    "LDS writes": r"ds_(store|write)",
    "LDS atomics": r"ds_(add|sub|min|max|and|or|xor|inc|dec|cmpst|cmpstore|wrxchg|storexchg|rsub|mskor)",
    "barriers": r"s_barrier",
    "vector instructions": r"v_",
    "scalar instructions": r"s_",
    "float additions and multiplications": r"v_(dual_)?(pk_)?(add|sub|mul|fma|fmac|fmaak|fmamk|mad|mac)_f",
    "matrix instructions": r"v_(mfma|wmma|smfmac|swmmac)",
    "scratch accesses": r"scratch_",
}
"""Kinds of instructions by the beginning of their names (of gfx9 and of RDNA)."""


def counter(name: str, counter: str | Mapping[str, str], *, at_most: Limit | None = None, at_least: Limit | None = None,
            title: str = "", **more: Unpack[More]) -> Requirement[Outcome]:  # fmt: skip
    """A limit on a hardware counter or metric, by its name on the device (docs/counters.md), summed over the launches.

    Args:
        counter: the name, or {arch: name} where architectures name it differently; then it applies to these alone.
    """
    names = {} if isinstance(counter, str) else dict(counter)

    def measure(outcome: Outcome) -> float:
        from gpulab import metrics

        wanted = names.get(outcome.arch, "") or str(counter)
        return sum(metrics.value(launch, wanted) for launch in outcome.measured)

    more.setdefault("archs", tuple(names))
    return limited(name, counter if isinstance(counter, str) else " / ".join(dict.fromkeys(names.values())), measure,
                   at_most=at_most, at_least=at_least, title=title, **more)  # fmt: skip


def bank_conflicts(
    name: str = "bank-conflicts", *, at_most: Limit = 0, title: str = "", **more: Unpack[More]
) -> Requirement[Outcome]:
    """A limit on the LDS cycles lost to bank conflicts."""
    more.setdefault(
        "next_step",
        "run.lds_banks() shows which lanes of one access want different words of one bank. Work out the bank of each "
        "lane's address: its word's number modulo the number of banks.",
    )
    title = title or ("no LDS bank conflicts" if at_most == 0 else "")
    return limited(
        name, "LDS cycles lost to bank conflicts", lambda outcome: _accesses(outcome, "conflict_cycles"),
        at_most=at_most, title=title, place=lambda outcome: _worst(outcome, "conflict_cycles"), **more,
    )  # fmt: skip


def memory_lines(name: str = "memory-lines", *, minimum: Callable[[Case], float], at_most: float = 1.05,
                 title: str = "", **more: Unpack[More]) -> Requirement[Outcome]:  # fmt: skip
    """A limit on the cache lines that global accesses ask for, as a multiple of the fewest that could do.

    Args:
        minimum: case -> the fewest lines (of 128 bytes, on both default architectures).
        at_most: the multiple that is allowed.
    """
    more.setdefault(
        "next_step",
        "run.coalescing() shows the lines that one instruction of a wave requests. Which index should differ by one "
        "from lane to lane?",
    )
    return limited(
        name, "cache lines asked for by global accesses", lambda outcome: _accesses(outcome, "lines", "global", "flat"),
        at_most=lambda case, arch: at_most * minimum(case),
        title=title or f"at most {at_most:g} times the fewest cache lines that can do",
        place=lambda outcome: _worst(outcome, "lines", "global", "flat"), **more,
    )  # fmt: skip


def memory_traffic(
    name: str = "memory-traffic", *, at_most: Limit, title: str = "", **more: Unpack[More]
) -> Requirement[Outcome]:
    """A limit on the bytes between the L2 and memory (Infinity Cache included), read and written."""
    more.setdefault("next_step", "run.memory() shows how many bytes went where. Which of them were read twice?")
    return limited(
        name, "bytes between L2 and memory",
        lambda outcome: _accesses(outcome, "memory_bytes") + _accesses(outcome, "written_bytes"),
        at_most=at_most, title=title, **more,
    )  # fmt: skip


def vgprs(name: str = "vgprs", *, at_most: Limit, kernel: str = "", **more: Unpack[Titled]) -> Requirement[Outcome]:
    """A limit on the vector registers of a lane, accumulation registers included; of the kernel that takes most."""
    return limited(name, "VGPRs", lambda o: _most(o, kernel, lambda r: r.vgprs), at_most=at_most, **more)


def scratch_bytes(
    name: str = "scratch", *, at_most: Limit = 0, kernel: str = "", title: str = "", **more: Unpack[More]
) -> Requirement[Outcome]:
    """A limit on the scratch bytes of a lane: registers that were spilled, arrays that are no registers."""
    title = title or ("no scratch memory (no spilled registers)" if at_most == 0 else "")
    return limited(name, "bytes of scratch memory per lane", lambda o: _most(o, kernel, lambda r: r.scratch_bytes),
                   at_most=at_most, title=title, **more)  # fmt: skip


def lds_bytes(name: str = "lds", *, at_most: Limit, **more: Unpack[Titled]) -> Requirement[Outcome]:
    """A limit on the LDS of a workgroup in bytes, dynamic LDS included."""
    return limited(name, "bytes of LDS per workgroup", lambda o: max(launch.lds_bytes for launch in o.measured),
                   at_most=at_most, **more)  # fmt: skip


def occupancy(name: str = "occupancy", *, at_least: Limit, **more: Unpack[Titled]) -> Requirement[Outcome]:
    """The least share (0 to 1) of the wave slots of a compute unit that the launch with the fewest can fill."""

    def measure(outcome: Outcome) -> float:
        from gpulab import architectures
        from gpulab.architectures.residency import occupancy as held

        shares = []
        for launch in outcome.measured:
            taken = _taken(outcome, launch)
            threads = launch.block[0] * launch.block[1] * launch.block[2]
            fits = held(
                architectures.get(outcome.arch), max(taken.vgprs - taken.agprs, 1), taken.agprs, taken.sgprs,
                launch.lds_bytes, threads, taken.cu_mode,
            )  # fmt: skip
            shares.append(fits.fraction)
        return min(shares)

    return limited(name, "of the wave slots filled", measure, at_least=at_least, share=True, **more)


def _words(pattern: str) -> str:
    """What instructions of a pattern are called in reports: an expression says nothing to a reader."""
    if pattern in KINDS:
        return pattern
    return f"instructions {pattern}" if re.fullmatch(r"\w+", pattern) else "such instructions"


def instructions(name: str, pattern: str, *, at_most: Limit | None = None, at_least: Limit | None = None,
                 title: str = "", **more: Unpack[More]) -> Requirement[Outcome]:  # fmt: skip
    """A limit on how many instructions of the compiled kernels begin with `pattern` (a regular expression, or one of
    `KINDS`)."""
    begins = re.compile(KINDS.get(pattern, pattern))
    return limited(
        name, f"{_words(pattern)} in the machine code",
        lambda outcome: sum(bool(begins.match(text)) for isa in outcome.isa.values() for text in isa),
        at_most=at_most, at_least=at_least, title=title, **more,
    )  # fmt: skip


ON_LDS = r"ds_\w+_rtn"
RETURNING = ON_LDS + r"|(?:global|flat)_atomic_.*\b(?:sc0|glc|th:TH_ATOMIC_RETURN)\b"
"""Atomic operations that return what was there before: on LDS, and on any memory."""


def in_order(what: str, instead: str, *, on_lds: bool = False) -> Requirement[Outcome]:
    """No numbers come from atomic operations, or from those on LDS: the virtual GPU does them in the order of waves and
    lanes, so that even results are right which depend on this order.

    Args:
        what: what else would come from them, one of them.
        instead: how to find it.
    """
    return instructions(
        "order-by-chance",
        ON_LDS if on_lds else RETURNING,
        at_most=0,
        title=f"no {what} comes from an atomic operation{' on LDS' if on_lds else ''}",
        next_step="An atomic operation returns what was there before. Here lanes and waves come to it in the right "
        f"order, but nothing promises that order. {instead}",
    )


def executed(name: str, pattern: str, *, at_most: Limit | None = None, at_least: Limit | None = None, title: str = "",
             **more: Unpack[More]) -> Requirement[Outcome]:  # fmt: skip
    """A limit on the wave instructions executed whose names begin with `pattern` (a regular expression, or one of
    `KINDS`): each wave counts."""
    begins = re.compile(KINDS.get(pattern, pattern))

    def measure(outcome: Outcome) -> float:
        return sum(
            cost.executed for launch in outcome.measured for cost in launch.instructions if begins.match(cost.text)
        )

    return limited(
        name, f"{_words(pattern)} executed by waves", measure, at_most=at_most, at_least=at_least, title=title, **more
    )


def per_wave(name: str, pattern: str, *, at_most: Limit, title: str = "", **more: Unpack[More]) -> Requirement[Outcome]:
    """A limit on the instructions whose names begin with `pattern` (as in `executed`) that a wave executes, on average
    over all waves of the launches: work that is not shared among the threads shows here."""
    begins = re.compile(KINDS.get(pattern, pattern))

    def measure(outcome: Outcome) -> float:
        found = sum(
            cost.executed for launch in outcome.measured for cost in launch.instructions if begins.match(cost.text)
        )
        return found / max(sum(launch.waves for launch in outcome.measured), 1)

    return limited(name, f"{pattern} executed by a wave on average", measure, at_most=at_most, title=title, **more)


MANY = 500
"""Elements from which on it is worth a run of its own to count the stores of waves."""


HOST_WAITS = r"\b(hip(Device|Stream|Event)Synchronize|hip(Event|Stream)Query|hipMemcpy|hipFree)\b"
"""Calls of a program that make the host wait, or ask whether there is something to wait for."""


def kernels_in_order(
    name: str = "kernels-in-order", *, title: str = "each kernel waits for the one before it", **more: Unpack[More]
) -> Requirement[ProgramOutcome]:
    """Streams or events put each kernel behind the one that was launched before it. Programs whose host waits between
    two launches, as far as the source tells, meet it."""

    def complaint(outcome: ProgramOutcome) -> str:
        work = outcome.activities
        kernels = [place for place, each in enumerate(work) if each.kind == "kernel"]
        launches = [match.start() for match in re.finditer(r"<<<|\bhipLaunchKernel|\bhipModuleLaunch", outcome.code)]
        between = outcome.code[launches[0] : launches[-1]] if launches else outcome.code
        if re.search(HOST_WAITS, between) or any(each.graph is not None for each in work):
            return ""
        for first, second in pairwise(kernels):
            if not outcome.comes_after(first, second):
                return (
                    f"{work[second].name} is in another stream than {work[first].name}, and nothing makes it wait: "
                    "here it ran later because the virtual GPU runs kernels in the order of their launches"
                )
        return ""

    return Requirement(name, title, complaint, **more)


def row_by_its_wave(array: str) -> Requirement[Outcome]:
    """Wave k of the grid stores row k of an output, or its element k if it has one dimension."""

    def complaint(outcome: Outcome) -> str:
        data = outcome.case.array(array).data
        columns = data.shape[1] if data.ndim == 2 else 1
        for (name, index), by in outcome.tight.writers.items():
            if name != array or by.thread is None:
                continue
            wave = (by.workgroup[0] * outcome.case.block[0] + by.thread[0]) // outcome.wave_size
            row = index // columns
            if wave != row:
                what = f"{array}[{index}]" if columns == 1 else f"elements of row {row}"
                return f"wave {wave} of the grid stores {what}, and row {row} belongs to wave {row}"
        return ""

    return Requirement(
        "row-by-its-wave",
        "wave k of the grid stores row k",
        complaint,
        "The number of a wave in the grid is the number of its first thread divided by warpSize. Which row has "
        "this number?",
        watches=True,
    )


def work_shared(
    *,
    rounds: Callable[[Case], int] = lambda case: 1,
    room: int = 2,
    title: str = "the threads share the work",
    **more: Unpack[More],
) -> Requirement[Outcome]:
    """Every thread stores what is its own: the thread that stores most has no more elements than `room` for each round,
    in every case; and in large ones waves execute, on average, no more than four store instructions for each. A thread
    that does all in a loop has more elements, a block that does what other blocks do as well more stores.

    Args:
        rounds: case -> how many elements a thread has to do.
        room: how many times as many it may do.
    """
    more.setdefault(
        "next_step",
        "Some threads do the work of others. Which element belongs to the thread with number i? Let it write that one.",
    )
    more.setdefault("shrinks", False)
    more.setdefault("watches", True)
    stores = per_wave("", "global stores", at_most=lambda case, arch: 4 * rounds(case))

    def complaint(outcome: Outcome) -> str:
        most = room * rounds(outcome.case)
        busiest = outcome.tight.writers.busiest()
        if busiest is not None and busiest[2] > most:
            block, thread, count = busiest
            return (
                f"thread {coordinates(thread)} of block {coordinates(block)} stores {count:,} elements, and at most "
                f"{most:,} are a thread's own"
            )
        large = sum(array.data.size for array in outcome.case.outputs) >= MANY
        return stores.complaint(outcome) if large else ""

    return Requirement("work-not-shared", title, complaint, **more)


REST = 16
"""Of so many bytes one may be loaded otherwise than by lanes together: what is left over at the end of a row may be one
to three lanes' and have an instruction of its own."""


def _nearly(count: int) -> int:
    return count - count // REST


def loaded_by_lanes(
    name: str = "loaded-by-the-wave",
    *arrays: str,
    title: str = "lanes load the elements together",
    **more: Unpack[More],
) -> Requirement[Outcome]:
    """Lanes load these arrays together: vector loads with four active lanes or more, on average, ask for as many bytes
    as they have, or for nearly as many (`REST`). What one thread loads alone has one lane, or, where the compiler sees
    that, a scalar instruction."""
    more.setdefault(
        "next_step",
        "Loads by one lane alone, and scalar loads, do not count: they are one thread's work. Which element belongs to "
        "the thread with number i?",
    )
    more.setdefault("shrinks", False)

    def measure(outcome: Outcome) -> float:
        return sum(
            cost.lanes * cost.bytes
            for launch in outcome.measured
            for cost in launch.accesses
            if cost.action == "load" and cost.space in ("global", "flat") and cost.lanes >= 4 * cost.executed
        )

    return limited(
        name, "bytes loaded by lanes together", measure,
        at_least=lambda case, arch: _nearly(sum(case.array(array).data.nbytes for array in arrays)),
        title=title, **more,
    )  # fmt: skip


ARGUMENTS = 8
"""Scalar loads that a wave may execute beside its own loads: those of the kernel's arguments."""


def own_loads(array: str, *, at_most: int, title: str, **more: Unpack[More]) -> Requirement[Outcome]:
    """A wave loads its own elements of an array, all of them by lanes together, with at most so many vector loads on
    average: a lane that reads what others have does alone what they can do together.

    Scalar loads count where there are more than arguments need: the compiler takes one where an address is the same in
    all lanes, so that one lane's loop over an array need not have a vector load.
    """
    more.setdefault("shrinks", False)
    parts = (
        per_wave("", "global loads", at_most=at_most),
        per_wave("", r"(global|flat|buffer|s)_load", at_most=at_most + ARGUMENTS),
        loaded_by_lanes("", array),
    )
    return Requirement(
        "loads-of-others", title, lambda outcome: next(filter(None, (part.complaint(outcome) for part in parts)), ""),
        **more,
    )  # fmt: skip


def loads_ahead(
    name: str = "loads-too-late", *, at_least: Limit, pattern: str = "", title: str = "", **more: Unpack[More]
) -> Requirement[Outcome]:
    """The fewest instructions that are executed between a load from global memory in a loop and the wait for it (where
    no loop loads, in the whole kernel): while they are executed, the load is in flight.

    Args:
        pattern: count only instructions whose names begin with it (as in `executed`); all without it.
    """
    counted = re.compile(KINDS.get(pattern, pattern))
    more.setdefault(
        "next_step",
        "gpulab.trace(...).waits() has the instructions between each load and its wait. Which load could be issued "
        "earlier, and what would hold its value until it is used?",
    )
    more.setdefault("shrinks", False)
    return limited(
        name, f"{pattern if pattern in KINDS else 'instructions'} between a load and the wait for it",
        lambda o: min((_ahead(one.instructions, one.waves, o.arch, counted) for one in o.measured), default=0.0),
        at_least=at_least, title=title, **more,
    )  # fmt: skip


_VECTOR_LOAD = re.compile(r"(global|flat|buffer)_load")
_VECTOR_STORE = re.compile(r"(global|flat|buffer|scratch)_store")
_VECTOR_WAIT = re.compile(r"s_waitcnt\b.*\bvmcnt\((?P<count>\d+)\)|s_wait_loadcnt(_dscnt)? (?P<counts>\w+)")
"""Of gfx9 to gfx11, and of gfx12. If that one waits for LDS, too, its number has the count of loads from bit 8 on."""


def _still_out(wait: re.Match[str]) -> int:
    """How many loads may be on their way after a wait."""
    if wait["count"]:
        return int(wait["count"])
    return int(wait["counts"], 0) >> (8 if wait[2] else 0)


def _ahead(instructions: Sequence[InstructionCost], waves: int, arch: str, counted: re.Pattern[str]) -> float:
    """The fewest instructions of a kind between a load of a loop and its wait; 0 if nothing is loaded.

    What is executed more often than once by a wave is taken for one loop, in the order of the program, and gone through
    twice: a load may be waited for in the next iteration. An instruction counts as often as it is executed for each
    execution of the load.
    """
    from gpulab import architectures

    stores_count = not architectures.get(arch).separate_store_counter
    program = [cost for cost in instructions if cost.executed]
    inside = [k for k, cost in enumerate(program) if cost.executed > waves]
    first, last = (inside[0], inside[-1] + 1) if inside else (0, 0)
    if not any(_VECTOR_LOAD.match(cost.text) for cost in program[first:last]):
        first = last = 0
    order = [*range(last), *range(first, len(program))]
    since: list[tuple[int, float]] = []  # the queue: instruction, and what was executed up to it
    total = 0.0
    found: list[float] = []

    def arrived(number: int, at: float) -> None:
        cost = program[number]
        if _VECTOR_LOAD.match(cost.text) and (first <= number < last or not last):
            found.append((total - at) / cost.executed)

    for number in order:
        cost = program[number]
        wait = _VECTOR_WAIT.match(cost.text)
        if wait:
            done = max(len(since) - _still_out(wait), 0)
            for entry in since[:done]:
                arrived(*entry)
            del since[:done]
        total += cost.executed * bool(counted.match(cost.text))
        if _VECTOR_LOAD.match(cost.text) or (stores_count and _VECTOR_STORE.match(cost.text)):
            since.append((number, total))
    return min(found, default=0.0)


def active_lanes(
    name: str = "divergence", *, at_least: Limit, title: str = "", **more: Unpack[More]
) -> Requirement[Outcome]:
    """The least share (0 to 1) of lanes that are active, over all vector ALU instructions that waves execute."""

    def measure(outcome: Outcome) -> float:
        costs = [cost for launch in outcome.measured for cost in launch.instructions if cost.is_vector]
        return sum(cost.active_lanes for cost in costs) / max(
            sum(cost.executed for cost in costs) * outcome.wave_size, 1
        )

    return limited(name, "of the lanes active in vector instructions", measure, at_least=at_least, share=True,
                   title=title, **more)  # fmt: skip


def modelled_time(name: str = "time", *, at_most: Limit, title: str = "", **more: Unpack[More]) -> Requirement[Outcome]:
    """A limit on the modelled time of all launches, in microseconds (docs/timing.md)."""
    more = More(**{"shrinks": False, "of_speed": True, **more})
    return limited(name, "microseconds (modelled)", time_us, at_most=at_most, title=title, **more)


def share_of_peak(name: str = "share-of-peak", *, flops: Callable[[Case], float], at_least: Limit,
                  roof: str = "fp32 plain", units_used: bool = False, title: str = "",
                  **more: Unpack[More]) -> Requirement[Outcome]:  # fmt: skip
    """The least share (0 to 1) of the device's peak rate of arithmetic, in modelled time.

    Args:
        flops: case -> the operations of the task (2 m n k of a matrix product), not those that the kernel executes.
        roof: of `gpulab.architectures.roofs.compute_roofs`: "fp32 plain", "matrix fp16", ...
        units_used: the peak of as many compute units as the launch has workgroups, if these are fewer than the device
            has.
    """
    more = More(**{"shrinks": False, "of_speed": True, **more})

    def measure(outcome: Outcome) -> float:
        from gpulab import architectures
        from gpulab.architectures.roofs import compute_roofs

        device = architectures.get(outcome.arch)
        peak = next(found.peak for found in compute_roofs(device) if found.key == roof)
        if units_used:
            blocks = max(_blocks(launch) for launch in outcome.measured)
            peak *= min(blocks, device.compute_units) / device.compute_units
        return flops(outcome.case) / (time_us(outcome) * 1e-6) / (peak * 1e9)

    return limited(name, f"of the peak ({roof})", measure, at_least=at_least, share=True, title=title, **more)


def source(name: str, pattern: str, *, at_most: int | None = None, at_least: int | None = None, title: str = "",
           what: str = "", **more: Unpack[More]) -> Requirement[Outcome]:  # fmt: skip
    """A limit on how often the regular expression `pattern` is found in the source without comments and texts.

    Args:
        what: what the pattern stands for, for the learner ("barriers"); by default the pattern itself.
    """
    more.setdefault("shrinks", False)
    wanted = re.compile(pattern)
    return limited(name, f"{what or pattern} in the source", lambda o: len(wanted.findall(o.code)),
                   at_most=at_most, at_least=at_least, title=title, **more)  # fmt: skip


def limited(
    name: str,
    what: str,
    measure: Callable[[Outcome], float],
    *,
    at_most: Limit | None = None,
    at_least: Limit | None = None,
    title: str = "",
    share: bool = False,
    place: Callable[[Outcome], str] | None = None,
    **more: Unpack[More],
) -> Requirement[Outcome]:
    """A requirement that a measured number stays within limits.

    Args:
        what: what is counted, in the plural ("bytes of LDS"); the measured number stands before it.
        measure: outcome -> the number.
        share: numbers are shares (0 to 1), written as per cent.
        place: outcome -> where most of it comes from, a sentence that is said when there is too much.

    Raises CheckError if there is no limit.
    """
    if at_most is None and at_least is None:
        raise CheckError(f"The requirement {name!r} has no limit.")

    def said(value: float) -> str:
        return f"{100 * value:.3g} %" if share else _number(value)

    def complaint(outcome: Outcome) -> str:
        found = measure(outcome)
        most, least = (_limit(limit, outcome) for limit in (at_most, at_least))
        if most is not None and found > most:
            said_where = place(outcome) if place is not None else ""
            return f"{said(found)} {what}, and at most {said(most)} are allowed{said_where and f'. {said_where}'}"
        if least is not None and found < least:
            return f"{said(found)} {what}, and at least {said(least)} are asked for"
        return ""

    if not title:
        limits = [("at most", at_most), ("at least", at_least)]
        words = [
            f"{word} {said(limit)}" if isinstance(limit, (int, float)) else f"{word} a limit"
            for word, limit in limits if limit is not None
        ]  # fmt: skip
        title = f"{' and '.join(words)} {what}"
    return Requirement(name, title, complaint, **more)


def writers(outcome: Outcome, *names: str) -> Mapping[tuple[str, int], Access]:
    """Who wrote each element of these arrays, by array and flat index; found by another checked run."""
    if outcome.prepared is None:
        raise CheckError(f"There is nothing that could run {outcome.case.text()} again.")
    buffers = [Buffer(array, 0, number) for number, array in enumerate(outcome.case.arrays)]
    wanted = {name: range(outcome.case.array(name).data.size) for name in names}
    return outcome.prepared.run(outcome.case, buffers, 2**29, True, wanted).writers


def time_us(outcome: Outcome) -> float:
    """Modelled microseconds of all launches together."""
    return sum(launch.time_us for launch in outcome.measured)


def _accesses(outcome: Outcome, amount: str, *spaces: str) -> float:
    return sum(
        getattr(cost, amount)
        for launch in outcome.measured
        for cost in launch.accesses
        if not spaces or cost.space in spaces
    )


def _worst(outcome: Outcome, amount: str, *spaces: str) -> str:
    """The access that counts most, with its source line; "" if none does."""
    costs = [
        cost
        for launch in outcome.measured
        for cost in launch.accesses
        if (not spaces or cost.space in spaces) and getattr(cost, amount) and cost.where is not None
    ]
    if not costs:
        return ""
    worst = max(costs, key=lambda cost: (getattr(cost, amount) / cost.executed, getattr(cost, amount)))
    assert worst.where is not None
    each = f"{getattr(worst, amount) / worst.executed:.3g}"
    text = f": {worst.where.text.strip()}" if worst.where.text else ""
    name = worst.instruction.split()[0]
    return f"The worst is the {worst.action} {name}, {each} each time, in line {worst.where.line}{text}"


def _taken(outcome: Outcome, launch: Launch) -> Resources:
    """What the kernel of a launch takes: by its name in the source, without parameters."""
    return outcome.resources[launch.kernel if launch.kernel in outcome.resources else launch.kernel.split("(")[0]]


def _most(outcome: Outcome, kernel: str, amount: Callable[[Resources], float]) -> float:
    return max(amount(taken) for name, taken in outcome.resources.items() if not kernel or name == kernel)


def _blocks(launch: Launch) -> int:
    return launch.grid[0] * launch.grid[1] * launch.grid[2]


def _limit(limit: Limit | None, outcome: Outcome) -> float | None:
    return limit(outcome.case, outcome.arch) if callable(limit) else limit


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.4g}"
