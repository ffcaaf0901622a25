#!/usr/bin/env python3
"""`make answer-mutants`: changes one place of a right answer at a time, and lists what the check says of each.

    make answer-mutants                                                20 mutants of each exercise
    make answer-mutants ANSWERS="--count 6 --seed 3 saxpy-guard"       fewer, others, of one exercise
    make answer-mutants ANSWERS="--seconds 120 --to list.json"         stops after two minutes of processor time
    make answer-mutants ANSWERS="--review saxpy-guard"                 renews its list in tests/grading/mutants

`points` finds what can be changed, by kind; `sample` takes them from the kinds in turn, so that a rare kind is seen. A
mutant is judged without an explanation. One whose machine code is that of the right answer is no mutant. One that
passes is run beside the right answer on all cases, and on inputs that are drawn within what the exercise promises
(`inputs`, the same ones each time): memory that differs is reported as "passes, but differs" and makes the exit code 1.
Of whole programs the host's part is changed, too (`HOST_SWAPS`), and one that passes is judged on drawn cases.
Whether a cause that is named is the right one, a person has to say: the list is made for that.

`--review` keeps the judgements as a table (`Reviewed`), one file for each exercise; a test compares it with the check.
Its last column is a person's: "?" where a cause was named that nobody has looked at yet, then "right". A cause that is
not right has to be mended. "not known" and "equal" are written by the tool.
"""

from __future__ import annotations

import argparse
import csv
import functools
import json
import os
import random
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path

from gpulab import programs
from gpulab.errors import CompileError, GpulabError
from gpulab.grading import exercise_ids, load
from gpulab.grading.answers import right_answers
from gpulab.grading.case import Asked, Buffer, Parameters
from gpulab.grading.drawing import drawn, drawn_runs
from gpulab.grading.exercise import Exercise
from gpulab.grading.gpu_bench import GpuBench, compiled
from gpulab.grading.judge import judged
from gpulab.grading.judge_program import run_everywhere
from gpulab.grading.program import ProgramExercise
from gpulab.toolchain import CodeObject

NO_CODE = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|^\s*#(?:[^\n]*\\\n)*[^\n]*|template\s*<[^>]*>|_cast<[^>]*>", re.M | re.S
)

SWAPS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("operator", r"(?<![<>=!\-])<(?![<=])(?=\s)", ("<=", ">")),
    ("operator", r"(?<![<>\-])>(?![>=])(?=\s)", (">=", "<")),
    ("operator", r"<=(?!=)", ("<",)),
    ("operator", r">=(?!=)", (">",)),
    ("operator", r"(?<=\s)\+(?=\s)", ("-",)),
    ("operator", r"(?<=\s)-(?=\s)", ("+",)),
    ("operator", r"(?<=\s)\*(?=\s)", ("+",)),
    ("operator", r"(?<=\s)/(?=\s)", ("*",)),
    ("operator", r"(?<=\s)%(?=\s)", ("/",)),
    ("operator", r"&&", ("||",)),
    ("operator", r"\|\|", ("&&",)),
    ("operator", r"\+=", ("-=", "=")),
    ("constant", r"(?<![\w.\]])\d+(?![\w.])", ("{0} + 1", "{0} - 1")),
    ("index", r"\bblockDim\b", ("gridDim",)),
    ("index", r"\bthreadIdx\b", ("blockIdx",)),
    ("index", r"\bblockIdx\b", ("threadIdx",)),
    ("index", r"\bblockIdx\.[xyz] \* blockDim\.[xyz] \+ ", ("",)),
    ("index", r"(?<=Idx)\.x\b", (".y",)),
    ("index", r"(?<=Idx)\.y\b", (".x",)),
    ("index", r"(?<=\[)[^\[\]]+(?=\])", ("({0}) + 1", "({0}) - 1")),
    ("barrier", r"__syncthreads\(\);", (";",)),
    ("type", r"\bfloat (?=\w+ =)", ("int ",)),
    ("type", r"\bint (?=\w+ =)", ("unsigned char ", "float ")),
    ("type", r"\bunsigned (?=\w+ =)", ("unsigned char ",)),
)
"""Kind, what is changed, and what may stand in its place."""

OPERAND = r"(?:[^(),<>;]|\([^()<>;]*\))+"
HOST_SWAPS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("operator", r"==", ("!=",)),
    ("operator", r"!=", ("==",)),
    ("call", r"(?<=\s)(?:[A-Z]+\(|hip[A-Z]\w*\()[^;{}]*;", (";",)),
    ("launch", r"(?<=\s)\w+(?:<\w+>)?<<<[^;]*;", (";",)),
    ("bytes", r" \* sizeof\([^()]*\)", ("",)),
    ("direction", r"\bhipMemcpyHostToDevice\b", ("hipMemcpyDeviceToHost",)),
    ("direction", r"\bhipMemcpyDeviceToHost\b", ("hipMemcpyHostToDevice",)),
    ("arguments", rf"(?<=<<<)(?P<first>{OPERAND}), (?P<second>{OPERAND})", ("{second}, {first}",)),
    (
        "arguments",
        rf"(?<=[\s(])(?P<call>hip\w+\()(?P<first>{OPERAND}), (?P<second>{OPERAND})",
        ("{call}{second}, {first}",),
    ),
)
"""As `SWAPS`, for whole programs alone: what the host asks for."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of a right answer: from `start` to `end` stands `new` in place of `old`, on `line`."""

    exercise: str
    answer: str
    kind: str
    line: int
    start: int
    end: int
    old: str
    new: str

    def __str__(self) -> str:
        old, new = (" ".join(text.split()) for text in (self.old, self.new))
        return f"{self.exercise}/{self.answer}:{self.line}: {self.kind}: {old!r} → {new!r}"


@dataclass(frozen=True, slots=True)
class Judged:
    """What the check says of a mutant."""

    mutant: Mutant
    status: str
    cause: str
    seconds: float


REVIEWED = Path(__file__).parents[1] / "tests" / "grading" / "mutants"
"""Where the reviewed lists stand."""


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A line of a reviewed list: which mutant, the verdict's status and cause ("-" for none), and the review.

    `answer` to `new` say which mutant it is, `place` as line:column, `old` and `new` without line breaks. `review` is
    "right", "not known", "equal" for a mutant that passes, or "?" for a cause that nobody has looked at yet.
    """

    answer: str
    kind: str
    place: str
    old: str
    new: str
    status: str
    cause: str
    review: str

    @property
    def key(self) -> tuple[str, ...]:
        """Which mutant it is."""
        return self.answer, self.kind, self.place, self.old, self.new


def points(source: str, program: bool = False) -> Iterator[tuple[str, int, int, str]]:
    """(kind, start, end, new text) for each change of a text; comments, macros, texts and types in <> stay."""
    code = NO_CODE.sub(lambda found: re.sub(r"[^\n]", "\0", found[0]), source)
    begin = code.find("{")
    for kind, pattern, news in SWAPS + (HOST_SWAPS if program else ()):
        for found in re.finditer(pattern, code):
            if found.start() > begin:
                parts = {name: source[slice(*found.span(name))] for name in found.groupdict()}
                for new in news:
                    yield kind, found.start(), found.end(), new.format(found[0], **parts)
    for found in re.finditer(r"\bif \(", code):
        end = _closing(code, found.end() - 1)
        returns = re.match(r"\s*return;", code[end + 1 :])
        yield "guard", found.end(), end, "false" if returns else "true"
        yield "guard", found.end(), end, f"!({source[found.end() : end]})"
    for found in re.finditer(r"\b(\w+)\((\w+), (\w+)\)", code):
        yield "arguments", found.start(2), found.end(3), f"{found[3]}, {found[2]}"
    for kind, name, other in (*_scalars(code), *(_handles(code) if program else ())):
        for found in re.finditer(rf"\b{name}\b", code[begin:]):
            yield kind, begin + found.start(), begin + found.end(), other
    for found in re.finditer(r"(?<=\n)([ ]+)([^\s{}][^\n{}]*;)\n\1([^\s{}][^\n{}]*;)(?=\n)", code):
        if not re.match(r"(?:return|const|\w+ \w+ =|if|for|__shared__)", found[2]):
            indent = found[1]
            first, second = (source[slice(*found.span(group))] for group in (2, 3))
            yield "order", found.start(), found.end(), f"{indent}{second}\n{indent}{first}"
    for body in _kernels(code) if program else [begin + 1]:
        yield "loop", body, body, "\n    while (true) {}"


def _kernels(code: str) -> list[int]:
    """Where the body of each kernel of a program begins."""
    return [found.end() for found in re.finditer(r"\b__global__[^{};]*\{", code)]


def _handles(code: str) -> Iterator[tuple[str, str, str]]:
    """Streams and events that are declared together, each with the next one, which may stand in its place."""
    for found in re.finditer(r"\bhip(?:Stream|Event)_t (\w+(?:, \w+)+);", code):
        names = found[1].split(", ")
        for name, other in zip(names, names[1:] + names[:1], strict=True):
            yield "arguments", name, other


def _scalars(code: str) -> Iterator[tuple[str, str, str]]:
    """Whole-number parameters of the first kernel, each with the next one, which may stand in its place."""
    found = re.search(r"__global__[^(]*?\w+\(([^)]*)\)", re.sub(r"__launch_bounds__\([^)]*\)", "", code))
    names = re.findall(r"\bint (\w+)", found[1]) if found else []
    for name, other in zip(names, names[1:] + names[:1], strict=True):
        if name != other:
            yield "arguments", name, other


def _closing(code: str, start: int) -> int:
    depth = 0
    for at in range(start, len(code)):
        depth += (code[at] == "(") - (code[at] == ")")
        if depth == 0:
            return at
    return len(code)


def mutants(id: str) -> list[Mutant]:
    """All mutants of an exercise's right answers; none of answers in another language than C++."""
    exercise = load(id)
    if exercise.language != "hip":
        return []
    program = isinstance(exercise, ProgramExercise)
    return [
        Mutant(id, answer, kind, source.count("\n", 0, start) + 1, start, end, source[start:end], new)
        for answer, source in right_answers(id).items()
        for kind, start, end, new in points(source, program)
        if source[start:end] != new
    ]


def sample(found: Sequence[Mutant], seed: int) -> Iterator[Mutant]:
    """All of them, in an order that the seed decides, from each kind in turn."""
    kinds = defaultdict[str, list[Mutant]](list)
    for mutant in found:
        kinds[mutant.kind].append(mutant)
    chance = random.Random(seed)
    for each in kinds.values():
        chance.shuffle(each)
    while any(kinds.values()):
        for each in kinds.values():
            if each:
                yield each.pop()


def text_of(mutant: Mutant) -> str:
    """The mutant's whole source."""
    source = right_answers(mutant.exercise)[mutant.answer]
    return source[: mutant.start] + mutant.new + source[mutant.end :]


def key_of(mutant: Mutant) -> tuple[str, ...]:
    """Which mutant it is, as a `Reviewed` says it."""
    column = mutant.start - right_answers(mutant.exercise)[mutant.answer].rfind("\n", 0, mutant.start)
    old, new = (" ".join(text.split()) for text in (mutant.old, mutant.new))
    return mutant.answer, mutant.kind, f"{mutant.line}:{column}", old, new


def reviewed(id: str) -> list[Reviewed]:
    """The reviewed list of an exercise; none where it has no file."""
    path = REVIEWED / f"{id}.tsv"
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [Reviewed(**each) for each in csv.DictReader(file, delimiter="\t")]


def review(id: str, found: Sequence[Judged]) -> list[Reviewed]:
    """The list with these judgements: a review is kept where status and cause are as they were."""
    said = {(*row.key, row.status, row.cause): row.review for row in reviewed(id)}
    rows = []
    for each in found:
        known = (*key_of(each.mutant), each.status, each.cause or "-")
        rows.append(
            Reviewed(
                *known, "equal" if each.status == "passed" else said.get(known, "?") if each.cause else "not known"
            )
        )
    return rows


def write(id: str, rows: Sequence[Reviewed]) -> None:
    """Makes the reviewed list of an exercise."""
    REVIEWED.mkdir(exist_ok=True)
    with (REVIEWED / f"{id}.tsv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, delimiter="\t", lineterminator="\n")
        table.writerow([field.name for field in fields(Reviewed)])
        table.writerows(astuple(row) for row in rows)


def judge(exercise: Exercise | ProgramExercise, mutant: Mutant) -> Judged | None:
    """What the check says of it; None if it does not compile, or, of a kernel, to the right answer's machine code."""
    right, source = right_answers(exercise.id)[mutant.answer], text_of(mutant)
    began = spent()
    try:
        if isinstance(exercise, Exercise) and is_right_answers_code(exercise, mutant, source):
            return None
    except CompileError:
        return None
    verdict = judged(exercise, source, explained=False)
    status = verdict.status
    if status == "does not compile":
        return None
    if verdict.passed:
        other = differs(exercise, right, source) if isinstance(exercise, Exercise) else fails_drawn(exercise, source)
        status = "passes, but differs" if other else status
    return Judged(mutant, status, verdict.cause, round(spent() - began, 1))


def is_right_answers_code(exercise: Exercise, mutant: Mutant, source: str) -> bool:
    """Has it the right answer's machine code on each architecture? Compiled as the judge compiles it, once for both."""
    return all(
        _code(compiled(source, _asked(exercise.id), arch)) == _right_code(exercise.id, mutant.answer, arch)
        for arch in exercise.archs
    )


def spent() -> float:
    """Processor time of this process and of those that have ended, in seconds."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@functools.lru_cache(maxsize=2)
def _asked(id: str) -> Asked:
    exercise = load(id)
    assert isinstance(exercise, Exercise)
    return exercise.asked()


@functools.lru_cache(maxsize=16)
def _right_code(id: str, answer: str, arch: str) -> str:
    return _code(compiled(right_answers(id)[answer], _asked(id), arch))


def _code(code: CodeObject) -> str:
    assembly = code.assembly
    return re.sub(r"(?m)^\s*\.(?:loc|file|ident|section\s+\.debug|asciz|long\s+\.L)[^\n]*|;[^\n]*|\.L\w+", "", assembly)


DRAWN = 3
"""From how many seeds inputs are drawn, beside the exercise's cases."""


def inputs(exercise: Exercise) -> list[tuple[Parameters, int | None]]:
    """The exercise's cases, and inputs that are drawn as for a grading, but always the same ones."""
    found: list[tuple[Parameters, int | None]] = [(parameters, None) for parameters in exercise.cases]
    return found + [each for seed in range(DRAWN) for each in drawn(exercise, seed)]


def fails_drawn(exercise: ProgramExercise, source: str) -> bool:
    """Is a program that passes all cases wrong in a drawn one? The same ones are drawn each time."""
    program = programs.build(source, name=exercise.id, archs=exercise.built_for, options=exercise.options)
    return not all(
        outcome.passed
        for case in drawn_runs(exercise, 0)
        for outcome in run_everywhere(exercise, program, source, case)
    )


def differs(exercise: Exercise, right: str, source: str) -> bool:
    """Does it leave other memory than the right answer, beyond the error that the exercise allows?"""
    from gpulab.grading.case import differs as other

    bench, asked = GpuBench(), exercise.asked()
    for arch in exercise.archs:
        kernels = [bench.prepare(text, asked, arch) for text in (right, source)]
        try:
            for parameters, secret in inputs(exercise):
                case = exercise.case(parameters, kernels[0].wave_size, secret)
                buffers = [Buffer(array, 64, number) for number, array in enumerate(case.arrays)]
                first, second = (kernel.run(case, buffers, exercise.limit(case)) for kernel in kernels)
                for array in case.arrays:
                    size = array.data.size
                    found = [run.after[array.name][64 : 64 + size].reshape(array.data.shape) for run in (first, second)]
                    if other(found[0], array).any() != other(found[1], array).any():
                        return True
        finally:
            for kernel in kernels:
                kernel.close()
    return False


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("exercises", nargs="*", help="their ids; all exercises without")
    parser.add_argument("--count", type=int, default=20, help="mutants of each exercise")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3600, help="of processor time, of all together")
    parser.add_argument("--to", type=Path, help="a file for the list, as JSON")
    parser.add_argument("--review", action="store_true", help="renew the reviewed lists of these exercises")
    asked = parser.parse_args(arguments)
    began, listed, holes = spent(), list[Judged](), 0
    for id in asked.exercises or exercise_ids():
        exercise, found = load(id), list[Judged]()
        for mutant in sample(mutants(id), asked.seed):
            if len(found) >= asked.count or spent() - began > asked.seconds:
                break
            try:
                one = judge(exercise, mutant)
            except GpulabError as error:
                one = Judged(mutant, f"error: {str(error).splitlines()[0]}", "", 0)
            if one is not None:
                found.append(one)
                print(f"{mutant}\n    {one.status}: {one.cause or '-'} ({one.seconds} s)", flush=True)
        rejected = [each for each in found if each.status in ("wrong", "fault")]
        unknown = sum(not each.cause for each in rejected)
        holes += sum(each.status not in ("passed", "wrong", "fault", "requirement") for each in found)
        passed = sum(each.status == "passed" for each in found)
        print(f"== {id}: {len(found)} mutants, {passed} passed, {len(rejected)} wrong, {unknown} not known", flush=True)
        listed += found
        if asked.review:
            write(id, review(id, found))
    if asked.to:
        asked.to.write_text(json.dumps([asdict(each) for each in listed], indent=1, ensure_ascii=False) + "\n")
    return 1 if holes else 0


if __name__ == "__main__":
    sys.exit(main())
