"""What an exercise is: its kernels' signatures, how inputs are made, what is expected, and known mistakes.

`Exercise` is data plus small functions: it makes the cases (`case.Case`), which are plain data. `Cause` is a known
mistake with a test that recognises it in an `outcome.Outcome`. `Requirement` is something asked beyond right output (a
counter's limit, a structure); `requirements.py` makes the usual ones. `program.py` has exercises whose answer is a
whole program. docs/exercises.md lists all fields.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from gpulab import architectures, languages
from gpulab.errors import CheckError
from gpulab.grading.case import Array, Asked, Case, Elements, Parameters, Prototype, Shape3, same_place, thread_of
from gpulab.grading.outcome import Outcome, ProgramOutcome
from gpulab.grading.program_case import ProgramCase

if TYPE_CHECKING:
    import numpy as np


Seen = TypeVar("Seen", contravariant=True)
"""What a cause or a requirement looks at: an `Outcome` of a kernel's exercise, a `ProgramOutcome`, or either."""


@dataclass(frozen=True)
class Cause(Generic[Seen]):
    """A known mistake.

    Args:
        name: short and stable ("missing-guard"); wrong answers in the course refer to it.
        title: what went wrong, one clause, shown as "Likely cause".
        when: recognises the mistake in what a failing launch, or a failing run of a program, left.
        why: one or two sentences that explain it.
        next_step: what to look at, without giving the answer away.
        guard: for causes that say that threads beyond the end are not held back: the arguments that a right guard
            compares with. What was seen, or the source, has to say so too (`gpulab.grading.evidence`).
        explains: kinds of faults of checked launches ("race") that this mistake leads to, though `when` does not look
            at the fault. A cause that explains a "timeout" comes before "a loop does not end, or goes on for far too
            long".
    """

    name: str
    title: str
    when: Callable[[Seen], bool]
    why: str
    next_step: str
    guard: tuple[str, ...] = ()
    explains: tuple[str, ...] = ()


@dataclass(frozen=True)
class Requirement(Generic[Seen]):
    """Something asked of a right answer beyond its output, for example a counter's limit.

    Args:
        name: short and stable ("bank-conflicts"); wrong answers in the course refer to it.
        title: what is asked, one clause with the limit.
        complaint: returns "" or what is wrong, with the measured value and the limit.
        next_step: what to look at, without giving the answer away.
        when: the cases that it applies to; all without it.
        archs: the architectures that it applies to; all if empty.
        shrinks: whether a smaller input that misses it as well says more (a time on a small input says nothing).
        of_speed: a launch that reaches the instruction limit, where right answers were found before, misses it.
        watches: it asks who wrote the outputs (`Outcome.tight.writers`), which the first run then notes.
    """

    name: str
    title: str
    complaint: Callable[[Seen], str]
    next_step: str = ""
    when: Callable[[Case | ProgramCase], bool] | None = None
    archs: tuple[str, ...] = ()
    shrinks: bool = True
    of_speed: bool = False
    watches: bool = False

    def applies(self, outcome: Outcome | ProgramOutcome) -> bool:
        """Is this outcome to be judged by it?"""
        return self.asked_of(outcome.case, outcome.arch)

    def asked_of(self, case: Case | ProgramCase, arch: str) -> bool:
        """Is what comes out of this case on this architecture to be judged by it?"""
        return (not self.archs or arch in self.archs) and (self.when is None or self.when(case))


@dataclass(frozen=True)
class Promise:
    """What an exercise promises of its inputs. No input that breaks it is tried, drawn or shown as the smallest.

    Args:
        text: words that stand in the exercise's text, too ("multiple of 64").
        holds: is it kept by these parameters?
    """

    text: str
    holds: Callable[[Parameters], bool]


def multiple_of(number: int, parameter: str = "block") -> Promise:
    """The parameter is a multiple of `number`."""
    return Promise(f"multiple of {number}", lambda given: given[parameter] % number == 0)


def power_of_two(parameter: str = "block") -> Promise:
    """The parameter is a power of two."""
    return Promise("power of two", lambda given: given[parameter] > 0 and given[parameter].bit_count() == 1)


@dataclass(frozen=True)
class Exercise:
    """One exercise.

    Args:
        id: name of its folder below course/exercises, in lower case with hyphens.
        title: as shown to learners.
        lesson: stem of the lesson it belongs to ("02_simt").
        section: heading in that lesson to read when stuck.
        kernel: the kernel's name; of several, the one that the exercise is about.
        signature: its parameters as text of the language, for messages.
        signatures: where a case launches several kernels: the parameters of each by its name (then no `signature`).
        minutes: how long it takes, roughly.
        make: builds a case from parameters and a random generator that is seeded from them.
        cases: parameters to try, in this order; first those that tell mistakes apart (failing ones are shrunk anyway).
        causes: known mistakes, most specific first.
        hints: three steps, each tells more.
        smallest: the smallest sensible value of each parameter; failing cases are shrunk down to it.
        owner: (case, flat index of an output element) -> the block and thread that should write it.
        reads: (case, name of an output, flat index) -> the input elements that its value comes from, which a report
            shows beside it; by default those with the same index, of inputs of the same shape, where `owner` knows
            whose element it is.
        requirements: beyond output.
        archs: architectures on which every case runs.
        instruction_limit: instructions of one wave after which a launch is stopped; a function of the case where some
            cases are much larger than others.
        by_wave: `make` finds the wave size of the device as parameters["wave"], for results that depend on it.
        fixed_sizes: why the kernel need not be right for every size, 0 and 1 included ("n is a multiple of 16"); the
            text of the exercise says so too.
        language: what answers are written in (`gpulab.languages.language.Answers`).
        expressions: instances of its kernels that are compiled (`gpulab.compile`'s name_expressions).
        promises: what all inputs keep to (`multiple_of`, `power_of_two`), smaller and drawn ones too.
        shown: parameters of the case that the picture shows; by default the smallest of `cases` that has something to
            show.
        kept: parameters that drawn cases (`drawing`) take from one of `cases` as they are: sizes of blocks.
        drawn: parameters of the cases that are drawn for a grading, made with a random generator; by default such
            that are near `cases`, but not below `smallest`.
    """

    id: str
    title: str
    lesson: str
    section: str
    kernel: str
    make: Callable[[Parameters, np.random.Generator], Case]
    cases: tuple[Parameters, ...]
    causes: tuple[Cause[Outcome], ...]
    hints: tuple[str, str, str]
    smallest: Parameters
    minutes: int = 10
    owner: Callable[[Case, int], tuple[Shape3, Shape3] | None] = field(
        default=lambda case, index: thread_of(case, index)
    )
    reads: Callable[[Case, str, int], Elements] | None = None
    requirements: tuple[Requirement[Outcome], ...] = ()
    archs: tuple[str, ...] = architectures.defaults()
    instruction_limit: int | Callable[[Case], int] = 2_000_000
    by_wave: bool = False
    fixed_sizes: str = ""
    shown: Parameters | None = None
    signature: str = ""
    signatures: Mapping[str, str] = field(default_factory=dict)
    kept: tuple[str, ...] = ("block",)
    drawn: Callable[[np.random.Generator], Sequence[Parameters]] | None = None
    promises: tuple[Promise, ...] = ()
    language: str = "hip"
    expressions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        complaints = []
        if bool(self.signature) == bool(self.signatures):
            complaints.append("it needs either a signature or signatures")
        if self.signatures and self.kernel not in self.signatures:
            complaints.append(f"its kernel {self.kernel} is not among its signatures")
        complaints += [
            f"{dict(parameters)} is no input that it promises: {promise.text}"
            for parameters in self.cases
            for promise in self.promises
            if not promise.holds(parameters)
        ]
        complaints += complaints_of(self)
        if complaints:
            raise CheckError(f"Exercise {self.id!r} is not well formed: {'; '.join(complaints)}.")

    @property
    def kernels(self) -> Mapping[str, str]:
        """The parameters of each kernel that is launched, by its name, as C++ text."""
        return self.signatures or {self.kernel: self.signature}

    def promised(self, parameters: Parameters) -> bool:
        """Do these parameters keep to what the exercise promises?"""
        return all(promise.holds(parameters) for promise in self.promises)

    def asked(self) -> Asked:
        """The kernels that a source must have, and what they are launched with."""
        heading = languages.answers(self.language).heading
        passed: dict[str, list[tuple[tuple[bool, str], ...]]] = {name: [] for name in self.kernels}
        for parameters in self.cases if self.signatures else self.cases[:1]:
            case = self.case(parameters)
            for step in case.launches(self.kernel):
                types = []
                for name in step.arguments:
                    argument = case.argument(name)
                    data = argument.data if isinstance(argument, Array) else argument.value
                    types.append((isinstance(argument, Array), str(data.dtype)))
                if tuple(types) not in passed[step.kernel]:
                    passed[step.kernel].append(tuple(types))
        prototypes = {
            name: Prototype(name, parameters, tuple(passed[name]), heading) for name, parameters in self.kernels.items()
        }
        return Asked(self.id, self.kernel, prototypes, self.language, self.expressions)

    def inputs_of(self, case: Case, name: str, index: int) -> Elements:
        """The input elements that the value of an element of output `name` comes from, as far as the exercise knows."""
        if self.reads is not None:
            return self.reads(case, name, index)
        return () if self.owner(case, index) is None else same_place(case, name, index)

    def limit(self, case: Case) -> int:
        """The instructions after which a launch of this case is stopped."""
        return self.instruction_limit(case) if callable(self.instruction_limit) else self.instruction_limit

    def case(self, parameters: Parameters, wave_size: int = 0, secret: int | None = None) -> Case:
        """The case with these parameters: always the same data for the same parameters, and the same secret.

        With `by_wave` it is made for waves of `wave_size` lanes (0: as the parameters say, or 64).
        """
        import zlib

        import numpy as np

        plain = {name: value for name, value in parameters.items() if name != "wave"}
        seed = [zlib.crc32(self.id.encode()), *(int(value) for value in plain.values())]
        if secret is not None:
            seed += [secret & 0xFFFFFFFF, secret >> 32]
        if self.by_wave:
            plain["wave"] = wave_size or parameters.get("wave", 64)
        return self.make(plain, np.random.default_rng(seed))


class Defined(Protocol):
    """What exercises of both kinds have."""

    @property
    def id(self) -> str: ...

    @property
    def hints(self) -> tuple[str, str, str]: ...

    @property
    def cases(self) -> Sized: ...

    @property
    def causes(self) -> Iterable[Named]: ...

    @property
    def requirements(self) -> Iterable[Named]: ...


class Named(Protocol):
    """A cause or a requirement."""

    @property
    def name(self) -> str: ...


def complaints_of(exercise: Defined) -> list[str]:
    """What is wrong with an exercise of either kind, as far as both have it."""
    complaints = []
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", exercise.id):
        complaints.append("its id must be lower case words joined by hyphens")
    if len(exercise.hints) != 3 or not all(hint.strip() for hint in exercise.hints):
        complaints.append("it needs three hints")
    if not exercise.cases:
        complaints.append("it has no cases")
    names = [cause.name for cause in exercise.causes] + [asked.name for asked in exercise.requirements]
    if len(set(names)) != len(names):
        complaints.append("two causes or requirements have the same name")
    return complaints
