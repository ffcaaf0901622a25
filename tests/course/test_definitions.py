"""What each exercise gives and judges, as text, as stored in definitions/: sizes, data, limits, who writes what.

A change of a check shows here in what learners are given and judged by. With GPULAB_SCREENSHOTS=write the texts are
stored anew: read what has changed in them first.
"""

from __future__ import annotations

import functools
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpulab.grading import exercise_ids, load
from gpulab.grading.answers import right_answers, wrong_answers
from gpulab.grading.case import Array, Case, Writers
from gpulab.grading.drawing import drawn, drawn_runs
from gpulab.grading.exercise import Exercise
from gpulab.grading.program import ProgramExercise
from gpulab.grading.program_case import ProgramCase
from gpulab.grading.sources import code_only
from gpulab.module import Resources
from gpulab.records import AccessCost, Counters, InstructionCost, Launch, SourceLine
from tests.stored import compare_texts

DEFINITIONS = Path(__file__).parent / "definitions"
SEEDS = (1, 2)
WAVES = {"gfx942": 64, "gfx1100": 32}


def numbers(data: np.ndarray) -> str:
    """Type, shape, and contents: a checksum of what is exact, else some digits, which all machines agree on."""
    flat = data.reshape(-1)
    shown = f"{data.dtype} {'x'.join(map(str, data.shape))}"
    if not flat.size:
        return shown
    some = ", ".join(f"{float(value):.4g}" for value in flat[[0, flat.size // 2, -1]])
    return f"{shown} ({some}; {zlib.crc32(np.ascontiguousarray(data).tobytes()):08x})"


def expected(data: np.ndarray) -> str:
    """The same for results: sums of floats depend on their order in the last bits."""
    finite = data[np.isfinite(data)] if data.dtype.kind == "f" else data
    if data.dtype.kind != "f" or (np.array_equal(finite, np.rint(finite)) and np.abs(finite).max(initial=0) < 2**24):
        return numbers(data)
    flat = data.reshape(-1)
    some = ", ".join(f"{float(value):.3g}" for value in flat[[0, flat.size // 3, flat.size // 2, -1]])
    return f"{data.dtype} {'x'.join(map(str, data.shape))} ({some}; mean {np.abs(finite).mean():.3g})"


def elements(exercise: Exercise, case: Case) -> Iterator[str]:
    """Who writes some elements of each output, and what they come from."""
    for argument in case.arguments:
        if isinstance(argument, Array) and argument.is_output and argument.data.size:
            for index in sorted(
                {0, 1, argument.data.size // 2, argument.data.size - 1} & set(range(argument.data.size))
            ):
                comes = [f"{name}[{at}]" for name, at in exercise.inputs_of(case, argument.name, index)]
                yield f"    {argument.name}[{index}]: by {exercise.owner(case, index)}, from {' '.join(comes[:8])}"


def of_case(exercise: Exercise, case: Case) -> Iterator[str]:
    for step in case.launches(exercise.kernel):
        words = " cooperative" if step.cooperative else ""
        yield f"  {step.kernel} {step.grid} {step.block} lds={step.lds}{words} ({', '.join(step.arguments)})"
    yield f"  limit {exercise.limit(case)}" + (f", weak memory under {case.weak} seeds" if case.weak else "")
    for argument in case.arguments:
        if not isinstance(argument, Array):
            yield f"  {argument.name} = {argument.value.item()!r} ({argument.value.dtype})"
            continue
        yield f"  {argument.name}: {numbers(argument.data)}{' scratch' if argument.scratch else ''}"
        if argument.expected is not None:
            close = (
                f" within {argument.relative:g}, {argument.absolute:g}"
                if argument.relative or argument.absolute
                else ""
            )
            yield f"    becomes {expected(argument.expected)}{close}"
    yield from elements(exercise, case)


class All(dict[str, float]):
    """The same value for every name."""

    def __init__(self, value: float) -> None:
        super().__init__()
        self.value = value

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> float:
        return self.value


NAMES = [
    "global_load_dword", "flat_load_dword", "s_load_dword", "global_store_dword", "global_atomic_add", "ds_read_b32",
    "ds_write_b32", "ds_add_u32", "ds_bpermute_b32", "v_readlane_b32", "v_mfma_f32_32x32x8_f16",
    "v_wmma_f32_16x16x16_f16", "v_fma_f32", "v_add_f32", "v_cvt_f32_i32", "v_rcp_f32", "v_exp_f32", "s_barrier",
    "v_div_scale_f32", "s_cbranch_scc0", "scratch_load_dword", "v_cndmask_b32",
]  # fmt: skip


def made_up(case: Any, arch: str, wave: int, amount: int, names: list[str], us: float, source: str) -> Any:
    """What a launch might leave, with this amount of everything, and the instructions of these names."""
    text = SourceLine("a", 1, 1, "x")
    accesses = [
        AccessCost(text, f"{space}_{action}", space, action, 4, amount, amount * wave, lines=amount,
                   conflict_cycles=amount, memory_bytes=amount, written_bytes=amount, line_bytes=128)
        for space in ("global", "flat", "lds", "scratch", "scalar") for action in ("load", "store", "atomic")
        if names
    ]  # fmt: skip
    costs = [InstructionCost(text, name, amount, amount, (("valu", 1.0),)) for name in names]
    launch = Launch(
        kernel="k", arch=arch, device=0, grid=(1, 1, 1), block=(64, 1, 1), lds_bytes=amount, waves=1,
        counters=Counters({}), metrics=All(amount), instructions=tuple(costs), accesses=tuple(accesses),
        measured_us=us,
    )  # fmt: skip
    rows = np.zeros((5000 if amount > 1 else 0, Writers.COLUMNS), np.int64)  # thread 0 of block 0 stores all
    rows[:, 1] = np.arange(len(rows))
    writers = Writers([("out", text, "store", "write")], rows)
    taken = Resources(min(amount, 512), 16, 0, amount, amount, 1024)
    return SimpleNamespace(
        case=case, arch=arch, wave_size=wave, source=source, code=code_only(source), launches=(launch,) * 9,
        measured=(launch,), resources={"k": taken}, isa={"k": tuple(names * min(amount, 9))}, activities=(),
        tight=SimpleNamespace(writers=writers), run=SimpleNamespace(transfers=()),
        uses=lambda pattern: re.search(pattern, code_only(source)) is not None,
    )  # fmt: skip


@functools.cache
def answers(id: str) -> str:
    """All answers to an exercise, several times."""
    return "\n".join([*right_answers(id).values(), *(each.source for each in wrong_answers(id))]) * 9


LIMIT = re.compile(r"at (?:most|least) -?[\d.,e+]+(?: %)?")


def limits(id: str, requirement: Any, case: Any, arch: str) -> list[str]:
    """The limits that its complaints name, where there is far too much of everything, or of some, or nothing."""
    everything = answers(id)
    found: dict[str, None] = {}
    for amount, names, us, source in (
        (10**9, NAMES, 1e12, everything), (0, [], 1e-12, ""), (10**9, ["s_load_dword"], 1e-12, ""),
        (1, NAMES, 1e12, ""),
    ):  # fmt: skip
        try:
            said = requirement.complaint(made_up(case, arch, WAVES[arch], amount, names, us, source))
        except Exception:  # it looks at what is not made up here
            continue
        found |= dict.fromkeys(LIMIT.findall(said))
    return list(found)


def asked(exercise: Exercise | ProgramExercise, case: Case | ProgramCase, arch: str) -> str:
    """The requirements that are asked of a case, with their limits."""
    words = []
    for each in exercise.requirements:
        if each.asked_of(case, arch):
            numbers = limits(exercise.id, each, case, arch)
            words.append(each.name + (f" ({', '.join(numbers)})" if numbers else ""))
    return " ".join(words) or "nothing"


def of_run(exercise: ProgramExercise, case: ProgramCase) -> Iterator[str]:
    yield f"  {case.text()} exit={case.exit_code} {dict(case.parameters)}"
    if isinstance(case.expected, str):
        yield from (f"    | {line}" for line in case.expected.splitlines()[:20])
    for sequence in case.computed:
        yield f"    computed {expected(np.asarray(sequence))}"
    yield from (f"  {arch}: asked {asked(exercise, case, arch)}" for arch in exercise.archs)


def of_exercise(exercise: Exercise | ProgramExercise) -> Iterator[str]:
    yield f"{exercise.id}: {exercise.title} ({exercise.lesson}, {exercise.section}, {exercise.minutes} min)"
    limit = "by case" if callable(exercise.instruction_limit) else exercise.instruction_limit
    yield f"on {' '.join(exercise.archs)}; limit of instructions {limit}"
    yield from (f"cause {each.name}: {each.title}" for each in exercise.causes)
    for each in exercise.requirements:
        words = [word for word in ("shrinks", "of_speed", "watches") if getattr(each, word)]
        yield f"requirement {each.name}: {each.title} ({' '.join([*words, *each.archs])})"
    if isinstance(exercise, ProgramExercise):
        yield f"{exercise.seconds} s, options {' '.join(exercise.options)}"
        for number, run in enumerate((*exercise.cases, *(run for seed in SEEDS for run in drawn_runs(exercise, seed)))):
            yield f"run {number}"
            yield from of_run(exercise, run)
        return
    yield from (f"{name}({parameters})" for name, parameters in exercise.kernels.items())
    yield f"smallest {dict(exercise.smallest)}, shown {exercise.shown and dict(exercise.shown)}, kept {exercise.kept}"
    yield f"sizes: {exercise.fixed_sizes or 'any'}; promises {[each.text for each in exercise.promises]}"
    given: list[tuple[Any, int | None]] = [(parameters, None) for parameters in exercise.cases]
    given += [each for seed in SEEDS for each in drawn(exercise, seed)]
    for parameters, secret in given:
        for arch in exercise.archs if exercise.by_wave else exercise.archs[:1]:
            case = exercise.case(parameters, WAVES[arch] if exercise.by_wave else 0, secret)
            yield f"case {dict(case.parameters)}" + (" drawn" if secret is not None else "")
            yield from of_case(exercise, case)
            yield from (f"  {each}: asked {asked(exercise, case, each)}" for each in exercise.archs)


@pytest.mark.parametrize("id", exercise_ids())
def test_definition(id: str) -> None:
    lines = [line.rstrip() for line in of_exercise(load(id))]
    compare_texts(lines, DEFINITIONS / f"{id}.txt", exact=len(lines))
