"""What a run left, and the questions that diagnoses and requirements ask about it: the observations.

A case of a kernel runs twice (`Outcome`): *tight*, where every array is an allocation of exactly its size, so that the
virtual GPU stops a kernel at its first bad address; and *guarded*, where each array lies between guard elements, so
that all writes beside it can be listed. If it is right then, and asks for it (`Case.weak`), it runs on weak memory as
well, under one seed after the other, until something goes wrong (`Weak`). A program runs once (`ProgramOutcome`). What
requirements measure comes from one more run, profiled, which happens when the first of them asks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from gpulab import languages
from gpulab.errors import CheckError
from gpulab.grading.bench import Prepared
from gpulab.grading.case import Array, Buffer, Case, Run, Shape3, differs, guard_values, same_bits
from gpulab.grading.program_case import ProgramCase
from gpulab.grading.sources import code_only
from gpulab.records import Activity, Fault, Launch

if TYPE_CHECKING:
    import numpy as np

    from gpulab.module import Resources
    from gpulab.programs import ProgramRun


MOST_WATCHED = 4096
"""Elements of an array, inside and outside each, whose writers are asked for at most."""


@dataclass(frozen=True)
class Weak:
    """The run on weak memory that did not give what was wanted, and its seed."""

    seed: int
    run: Run


@dataclass(frozen=True)
class Outcome:
    """One case on one architecture."""

    case: Case
    arch: str
    wave_size: int
    tight: Run
    guarded: Run
    guard: int
    source: str = ""
    profile: Callable[[], Run] | None = field(default=None, compare=False, repr=False)
    prepared: Prepared | None = field(default=None, compare=False, repr=False)
    watch: Callable[[Mapping[str, Sequence[int]]], Run] | None = field(default=None, compare=False, repr=False)
    """One more guarded run, checked, that tells who wrote the elements with these indices."""
    hidden: bool = False
    """The case was drawn for this grading: its inputs are not told."""
    language: str = "hip"
    """Of the source."""
    weak: Weak | None = None
    """What went wrong on weak memory alone."""

    @cached_property
    def profiled(self) -> Run:
        """One more run, tight and profiled; made when first asked for.

        Raises CheckError where there is nothing that could be profiled.
        """
        if self.profile is None:
            raise CheckError(f"There is no profile of {self.case.text()} on {self.arch}.")
        return self.profile()

    @property
    def measured(self) -> tuple[Launch, ...]:
        """The records of the profiled run, one for each launch of the case."""
        return self.profiled.launches

    @property
    def unsteady(self) -> str:
        """What went wrong in the profiled run of a kernel that is right in the others; "" if nothing, or none was made.

        A kernel can know which run it is in by what it finds in memory, by the time, by the order of its waves.
        """
        if "profiled" not in vars(self):
            return ""
        if self.profiled.fault is not None:
            return f"the run that is measured was stopped ({self.profiled.fault.kind})"
        for array in self.case.arrays:
            wrong = int(differs(self.profiled.after[array.name].reshape(array.data.shape), array).sum())
            if wrong:
                return (
                    f"in the run that is measured {wrong:,} of {array.data.size:,} elements of {array.name} are wrong"
                )
        return ""

    @property
    def resources(self) -> Mapping[str, Resources]:
        """What each kernel takes of the device, by its name."""
        return {} if self.prepared is None else self.prepared.resources

    @property
    def isa(self) -> Mapping[str, tuple[str, ...]]:
        """The instructions of each kernel as text, by its name."""
        return {} if self.prepared is None else self.prepared.isa

    @property
    def unset(self) -> tuple[str, ...]:
        """What the compiler says of variables that are used before they have a value."""
        return () if self.prepared is None else self.prepared.unset

    # -- was it right? -------------------------------------------------------------------------------------
    @property
    def fault(self) -> Fault | None:
        """The fault of the tight run, else of the guarded one."""
        return self.tight.fault or self.guarded.fault

    @property
    def passed(self) -> bool:
        return (
            self.fault is None
            and self.weak is None
            and not any(self.wrong(array.name).any() or self.outside(array.name) for array in self.case.arrays)
        )

    @property
    def right(self) -> bool:
        """Whether the arrays hold what was wanted, though the kernel may have done more than it should."""
        ended = self.guarded.fault is None and self.weak is None
        return ended and not any(self.wrong(array.name).any() for array in self.case.arrays)

    @property
    def clean(self) -> bool:
        """Whether nothing was found that is a mistake whatever comes out: a fault, writing beside an array, or a
        variable that is used before it has a value."""
        return self.fault is None and not self.unset and not any(self.outside(one.name) for one in self.case.arrays)

    def with_room(self, guard: int, limit: int) -> Outcome:
        """The same with another guarded run, with so many guard elements: for kernels whose threads reach far.

        Raises CheckError where there is nothing that could be run.
        """
        if self.prepared is None:
            raise CheckError(f"There is no kernel for {self.case.text()} on {self.arch}.")
        buffers = [Buffer(array, guard, number) for number, array in enumerate(self.case.arrays)]
        return replace(self, guarded=self.prepared.run(self.case, buffers, limit), guard=guard)

    # -- what is in memory? --------------------------------------------------------------------------------
    def found(self, name: str) -> np.ndarray:
        """The array after the guarded run, in its own shape; after the run on weak memory if that alone went wrong."""
        array = self.case.array(name)
        if self.weak is not None:
            return self.weak.run.after[name].reshape(array.data.shape)
        whole = self.guarded.after[name]
        return whole[self.guard : self.guard + array.data.size].reshape(array.data.shape)

    def wrong(self, name: str) -> np.ndarray:
        """True where the array is not what was wanted (in the guarded or the tight run, or on weak memory)."""
        array = self.case.array(name)
        wrong = differs(self.found(name), array)
        if self.fault is None:
            wrong = wrong | differs(self.tight.after[name].reshape(array.data.shape), array)
        return wrong

    def untouched(self, name: str) -> np.ndarray:
        """True where the array still holds, bit for bit, what it held before the launch."""
        return same_bits(self.found(name), self.case.array(name).data)

    def wrong_indices(self, name: str) -> tuple[int, ...]:
        """Flat indices of the wrong elements."""
        import numpy as np

        return tuple(int(index) for index in np.flatnonzero(self.wrong(name)))

    def unwritten_indices(self, name: str) -> tuple[int, ...]:
        """Flat indices of the elements that are wrong and were never written."""
        import numpy as np

        return tuple(int(index) for index in np.flatnonzero(self.wrong(name) & self.untouched(name)))

    def outside(self, name: str) -> tuple[int, ...]:
        """Indices of elements beside the array that were written: negative before it, >= its size after it."""
        import numpy as np

        array = self.case.array(name)
        number = [each.name for each in self.case.arrays].index(name)
        whole, size = self.guarded.after[name], array.data.size
        edge = guard_values(str(array.data.dtype), self.guard, number)
        before = np.flatnonzero(~same_bits(whole[: self.guard], edge)) - self.guard
        after = np.flatnonzero(~same_bits(whole[self.guard + size :], edge)) + size
        return tuple(int(index) for index in (*before, *after))

    @cached_property
    def _watched(self) -> Run | None:
        import numpy as np

        if self.watch is None:
            return None
        changed = {}
        for array in self.case.arrays:
            inside = np.flatnonzero(~self.untouched(array.name).reshape(-1))[:MOST_WATCHED]
            changed[array.name] = [*map(int, inside), *self.outside(array.name)[:MOST_WATCHED]]
        return self.watch(changed)

    def writers(self, name: str) -> tuple[tuple[int, Shape3, Shape3], ...]:
        """Flat index, block and thread of the writes that were seen, outside of the array too.

        Of each changed element the last one, and those where the checked run was stopped; of many elements the first.
        """
        run = self._watched
        if run is None:
            return ()
        found = [
            (index, access.workgroup, access.thread)
            for (array, index), access in run.writers.items()
            if array == name and access.thread is not None
        ]
        array, start, fault = self.case.array(name), (run.addresses or {}).get(name), run.fault
        reached = array.data.size + self.guard
        if fault is not None and fault.address is not None and start:
            index = (fault.address - start) // array.data.itemsize
            for side in (fault, fault.other):
                if side is None or side.access != "write" or side.thread is None or fault.memory != "global":
                    continue
                if -self.guard <= index < reached:
                    found.append((index, side.workgroup, side.thread))
        return tuple(found)

    def numbers(self, name: str) -> tuple[tuple[int, Shape3], ...]:
        """`writers`, each thread by its number in the whole grid: blockIdx * blockDim + threadIdx in x, y and z."""
        x, y, z = self.case.block
        return tuple(
            (index, (block[0] * x + thread[0], block[1] * y + thread[1], block[2] * z + thread[2]))
            for index, block, thread in self.writers(name)
        )

    # -- questions for diagnoses ---------------------------------------------------------------------------
    def nothing_written(self) -> bool:
        """No output element changed and nothing beside the outputs either, where three elements or more should have."""
        return (
            self.weak is None
            and any(array.data.size > 2 for array in self.case.outputs)
            and all(
                bool(self.untouched(array.name).all()) and not self.outside(array.name) for array in self.case.outputs
            )
        )

    def rewritten(self) -> bool:
        """Did each launch store to memory, though all arrays hold what they held before? Or the last one of several,
        though the outputs that no other launch has do, and the other ones are right?"""
        if self.profile is None or self.weak is not None:
            return False
        last = self._of_last_launch()
        if self._kept(last) and not any(self.wrong(one.name).any() for one in self.case.outputs if one not in last):
            return bool(self.measured) and _stored(self.measured[-1])
        if not self.nothing_written() or not self._kept(self.case.arrays):
            return False
        return bool(self.measured) and all(map(_stored, self.measured))

    def _of_last_launch(self) -> tuple[Array, ...]:
        """The outputs that the last of several launches has, and no other."""
        if len(self.case.steps) < 2:
            return ()
        *others, last = (set(step.arguments) for step in self.case.steps)
        return tuple(array for array in self.case.outputs if array.name in last.difference(*others))

    def _kept(self, arrays: Sequence[Array]) -> bool:
        """Do these arrays, one of three elements or more among them, hold what they held before?"""
        return any(array.data.size > 2 for array in arrays) and all(
            bool(self.untouched(array.name).all()) and not self.outside(array.name) for array in arrays
        )

    def looks_like(self, name: str, prediction: Callable[[Case], np.ndarray]) -> bool:
        """Is the whole array what the mistake `prediction` would leave there (and not the right result)?"""
        import numpy as np

        array = self.case.array(name)
        predicted = np.asarray(prediction(self.case), dtype=array.data.dtype).reshape(array.data.shape)
        if not differs(predicted, array).any():
            return False
        return not differs(self.found(name), replace(array, expected=predicted)).any()

    def left_out(self) -> bool:
        """Was an output element never written, though the launch came to its end?"""
        return self.guarded.fault is None and any(self.unwritten_indices(array.name) for array in self.case.outputs)

    def written_past(self, name: str) -> tuple[int, ...]:
        """Indices at or after the end of the array that were written."""
        return tuple(index for index in self.outside(name) if index >= 0)

    def written_before(self, name: str) -> tuple[int, ...]:
        """Negative indices that were written."""
        return tuple(index for index in self.outside(name) if index < 0)

    def works_past(self, name: str) -> bool:
        """Are all elements right, and did a thread beyond them write too, each to the index that is its number?"""
        numbers = self.numbers(name)
        size = self.case.array(name).data.size
        return (
            any(index >= size for index, _ in numbers)
            and not self.wrong(name).any()
            and all(number[0] == index for index, number in numbers)
        )

    def one_too_many(self, name: str) -> bool:
        """Does of all threads beyond the elements the first one alone write, to the index that is its number?"""
        size = self.case.array(name).data.size
        return self.works_past(name) and self.written_past(name) == (size,) and self.case.threads > size + 1

    def faulting_index(self) -> tuple[str, int] | None:
        """Array and element index of the bad address of the tight run, where it can be told."""
        fault, addresses = self.tight.fault, self.tight.addresses or {}
        address = None if fault is None else fault.address
        arrays = [array for array in self.case.arrays if addresses.get(array.name)]
        if fault is None or address is None or not arrays:
            return None

        def distance(array: Array) -> int:
            start = addresses[array.name]
            return max(start - address, address - (start + array.data.nbytes) + 1, 0)

        if fault.nearest is not None:
            nearest = fault.nearest.address
            arrays = [array for array in arrays if addresses[array.name] == nearest] or arrays
        array = min(arrays, key=distance)
        if distance(array) > max(array.data.nbytes, 1 << 20):
            return None
        return array.name, (address - addresses[array.name]) // array.data.itemsize

    def faulting_number(self) -> Shape3 | None:
        """Number in the whole grid of the thread whose access stopped the tight run, as in `numbers`; else None."""
        fault = self.tight.fault
        if fault is None or fault.thread is None:
            return None
        x, y, z = (
            block * size + thread
            for block, size, thread in zip(fault.workgroup, self.case.block, fault.thread, strict=True)
        )
        return x, y, z

    def read_past(self, name: str) -> bool:
        """Did a thread that lies past the end of this array read there, the element with its own number?"""
        number, place = self.faulting_number(), self.read_outside()
        return number is not None and place == (name, number[0]) and place[1] >= self.case.array(name).data.size

    def uses(self, pattern: str) -> bool:
        """Is the regular expression found in the source without comments and texts?"""
        return re.search(pattern, self.code) is not None

    @property
    def code(self) -> str:
        """The source without comments and texts."""
        return languages.answers(self.language).code_only(self.source)

    def read_outside(self) -> tuple[str, int] | None:
        """Array and index of a bad *read*, else None."""
        fault = self.tight.fault
        return self.faulting_index() if fault is not None and fault.access == "read" else None

    def null_access(self) -> bool:
        """Did a lane use the null pointer (what an array of no elements is)?"""
        return self.fault is not None and self.fault.kind == "null"

    def timed_out(self) -> bool:
        return any(run.fault is not None and run.fault.kind == "timeout" for run in (self.tight, self.guarded))


def _stored(launch: Launch) -> bool:
    """Did it store to global memory?"""
    return any(one.action == "store" and one.space in ("global", "flat") and bool(one.lanes) for one in launch.accesses)


@dataclass(frozen=True)
class ProgramOutcome:
    """What one run of the program left on one architecture."""

    case: ProgramCase
    arch: str
    wave_size: int
    run: ProgramRun
    source: str = ""
    profile: Callable[[], ProgramRun] | None = field(default=None, compare=False, repr=False)
    elsewhere: tuple[ProgramOutcome, ...] = field(default=(), compare=False, repr=False)
    """The same case on the other architectures."""
    hidden: bool = False
    """The case was drawn for this grading: its arguments are not told."""

    @property
    def stdout(self) -> str:
        return self.run.stdout

    @property
    def stderr(self) -> str:
        return self.run.stderr

    @property
    def exit_code(self) -> int:
        """Of the process; negative for a signal."""
        return self.run.exit_code

    @property
    def fault(self) -> Fault | None:
        """The first fault of a kernel."""
        return self.run.faults[0] if self.run.faults else None

    @property
    def launches(self) -> tuple[Launch, ...]:
        """The launches, without counters; `measured` has them."""
        return tuple(self.run.launches)

    @property
    def launched_nothing(self) -> bool:
        """Whether no kernel was launched, though the program came to its end, or to a copy of what no kernel wrote."""
        if self.launches:
            return False
        return self.exit_code == 0 if self.fault is None else self.fault.access == "copy"

    @property
    def activities(self) -> tuple[Activity, ...]:
        """What the streams did, with modelled times."""
        return tuple(self.run.activities)

    def comes_after(self, first: int, second: int) -> bool:
        """Is there a reason why activity `second` comes after `first`: the same stream, events, the default stream?

        The virtual GPU does everything in the order of the calls; a device keeps to such reasons alone.
        """
        work = self.activities
        barriers = not self.uses("hipStreamNonBlocking")
        reached, todo = set[int](), [second]
        while todo:
            index = todo.pop()
            for place, each in enumerate(work[:index]):
                in_order = each.stream == work[index].stream or (barriers and 0 in (each.stream, work[index].stream))
                if place not in reached and (in_order or place == work[index].waits_for):
                    reached.add(place)
                    todo.append(place)
        return first in reached

    @cached_property
    def profiled(self) -> ProgramRun:
        """A second run, profiled; made when first asked for."""
        if self.profile is None:
            raise CheckError(f"There is no profile of {self.case.text()} on {self.arch}.")
        return self.profile()

    @property
    def measured(self) -> tuple[Launch, ...]:
        """The launches of the profiled run."""
        return tuple(self.profiled.launches)

    @property
    def unsteady(self) -> str:
        """What went wrong in the profiled run of a program that is right in the other; "" if nothing, or none was
        made."""
        if "profiled" not in vars(self):
            return ""
        found = replace(self, run=self.profiled)
        if found.passed:
            return ""
        return f"in the run that is measured {found.run.ending or found.complaint or 'a kernel was stopped'}"

    @property
    def code(self) -> str:
        """The source without comments and texts."""
        return code_only(self.source)

    def uses(self, pattern: str) -> bool:
        """Is the regular expression found in the source without comments and texts?"""
        return re.search(pattern, self.code) is not None

    def timed_out(self) -> bool:
        return bool(self.run.seconds_limit_hit) or (self.fault is not None and self.fault.kind == "timeout")

    @property
    def complaint(self) -> str:
        """What is wrong with the output; "" if nothing is."""
        return self.case.complaint(self.stdout)

    @property
    def right(self) -> bool:
        """Whether it came to the end that was wanted, with the right output."""
        return not self.timed_out() and self.exit_code == self.case.exit_code and not self.complaint

    @property
    def clean(self) -> bool:
        """Whether no kernel had a fault, as far as the program told to its end what it launched."""
        return self.fault is None and (self.run.complete or self.exit_code < 0 or self.timed_out())

    @property
    def passed(self) -> bool:
        return self.clean and self.right
