"""Which outcomes each usual cause fits, and which near ones it does not: of runs that are written here."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpulab.grading import causes
from gpulab.grading.case import Array, Run, Step, sentinel
from gpulab.grading.exercise import Cause
from gpulab.grading.outcome import Outcome, Weak
from gpulab.grading.program import ProgramExercise
from gpulab.grading.program_case import ProgramCase
from gpulab.module import Resources
from gpulab.records import Access, Transfer
from tests.grading.test_failed_parts import given, made, output
from tests.grading.test_judge import tiny
from tests.grading.test_outcome import RIGHT, WRONG, beside, fault, program, stopped

OWN = Cause[Any]("own", "own", lambda seen: False, "", "")


def test_the_order_of_causes() -> None:
    """Certain ones first, then the exercise's own, then what checked launches find, then what values tell."""
    kernels = [cause.name for cause in causes.causes_of(tiny(causes=(OWN,)))]
    assert kernels == [
        "no-dynamic-lds", "never-ends", "private-memory", "adds-to-what-was-there", "changed-input", "nothing-written",
        "own", "weak-memory", "same-element", "used-by-two-blocks", "data-race", "never-written", "barrier", "deadlock",
        "inactive-lane", "wave-of-64", "no-numbers", "all-zero",
        "copied-input", "other-sign", "same-difference", "without-fraction", "as-float", "same-factor",
        "nearly-right", "same-value", "moved", "reordered", "one-element", "at-one-end", "first-block-alone",
        "first-row-alone", "lds-out-of-bounds", "out-of-bounds", "left-out",
    ]  # fmt: skip
    asked: Any = object.__new__(ProgramExercise)
    object.__setattr__(asked, "causes", (OWN,))
    assert [cause.name for cause in causes.causes_of(asked)] == [
        "never-ends", "crashed", "no-report", "own", "nothing-launched", "data-race", "never-written", "barrier",
        "deadlock", "inactive-lane", "hip-error", "exit-code", "kernel-fault", "nothing-came-back", "other-input",
        "right-until-printed", "nothing-printed",
    ]  # fmt: skip


def test_a_cause_that_explains_a_timeout_comes_before_endless_loops() -> None:
    """Where an exercise limits instructions, its own words say more than those of every loop."""
    found = causes.causes_of(tiny(causes=(OWN, replace(OWN, name="slow", explains=("timeout",)))))
    names = [cause.name for cause in found]
    assert names.index("slow") < names.index("never-ends") < names.index("own")


def guarded(outcome: Outcome, **changes: Any) -> Outcome:
    """Stopped in the guarded run alone."""
    return replace(outcome, guarded=replace(outcome.guarded, fault=fault(**changes)))


MARKS = sentinel("int32", 4)
UNWRITTEN = made(given("x"), output("a"), found={"a": MARKS})
PARTLY = made(given("x"), output("a"), found={"a": np.array([1, MARKS[0], 1, MARKS[0]])})
PARTLY_WRONG = made(given("x"), output("a"), found={"a": np.array([1, MARKS[0], 1, 2])})
INPUT = made(given("x"), output("a"), found={"x": [5, 6, 0, 8]})
OTHER = Access(None, "s", (1, 0, 0), 0, 0, (5, 0, 0), "write")
SAME_BLOCK = replace(OTHER, workgroup=(2, 0, 0))
RACE = {"kind": "race", "address": 2004, "other": OTHER}


def dynamic(source: str = "extern __shared__ float s[];", lds: int = 0, declared: int = 0, **changes: Any) -> Outcome:
    taken = {"k": Resources(8, 8, 0, declared, 0, 256)}
    seen = stopped(RIGHT, **{"kind": "lds out of bounds", **changes})
    steps = (Step("other", (1, 1, 1), (1, 1, 1), (), 512), Step("k", (1, 1, 1), (1, 1, 1), (), lds))
    return replace(seen, source=source, case=replace(seen.case, steps=steps),
                   prepared=SimpleNamespace(resources=taken))  # type: ignore[arg-type]  # fmt: skip


def late(seen: Outcome) -> Outcome:
    """The same, and wrong on weak memory."""
    return replace(seen, weak=Weak(1, Run(RIGHT.tight.after)))


def storing(seen: Outcome) -> Outcome:
    """The same, with a profiled run that stores to memory."""
    access = SimpleNamespace(action="store", space="global", lanes=1)
    launches: Any = (SimpleNamespace(accesses=[access]),)
    return replace(seen, profile=lambda: Run(seen.tight.after, launches=launches))


KERNELS: dict[str, list[tuple[Outcome, bool]]] = {
    "no-dynamic-lds": [
        (dynamic(), True), (dynamic("extern __attribute__((shared)) int s[];"), True),
        (dynamic("HIP_DYNAMIC_SHARED(int, s)"), True), (dynamic("__shared__ int s[4];"), False),
        (dynamic("// extern __shared__ int s[];"), False), (dynamic(lds=4), False), (dynamic(declared=4), False),
        (dynamic(kind="race"), False), (RIGHT, False), (replace(dynamic(), prepared=None), False),
    ],
    "never-ends": [(stopped(RIGHT, kind="timeout"), True), (guarded(RIGHT, kind="timeout"), True), (RIGHT, False),
                   (replace(stopped(RIGHT, kind="deadlock"), guarded=guarded(RIGHT, kind="timeout").guarded), False),
                   (stopped(RIGHT), False)],
    "private-memory": [(stopped(RIGHT, kind="scratch out of bounds"), True),
                       (guarded(RIGHT, kind="stack overflow"), True), (stopped(RIGHT), False), (RIGHT, False)],
    "nothing-written": [(UNWRITTEN, True), (stopped(UNWRITTEN), False), (PARTLY, False), (RIGHT, False)],
    "adds-to-what-was-there": [(storing(UNWRITTEN), True), (UNWRITTEN, False), (storing(RIGHT), False),
                               (storing(stopped(UNWRITTEN)), False)],
    "weak-memory": [
        (late(RIGHT), True), (RIGHT, False), (late(stopped(RIGHT, **RACE)), False),
        (late(stopped(RIGHT, **{**RACE, "kind": "lane conflict"})), False),
        (late(stopped(RIGHT, **{**RACE, "kind": "barrier"})), True), (late(stopped(RIGHT, **RACE, memory="lds")), True),
        (late(stopped(RIGHT, **RACE, access="read")), True), (late(stopped(RIGHT, **{**RACE, "other": None})), True),
        (late(stopped(RIGHT, **{**RACE, "other": replace(OTHER, access="read")})), True),
        (late(stopped(RIGHT, **{**RACE, "address": None})), True),
        (late(stopped(RIGHT, **{**RACE, "address": 1004})), True),
    ],
    "changed-input": [(INPUT, True), (WRONG, False), (RIGHT, False)],
    "own": [],
    "same-element": [
        (stopped(RIGHT, **RACE), True), (stopped(RIGHT, **{**RACE, "kind": "lane conflict"}), True),
        (stopped(RIGHT, **{**RACE, "kind": "out of bounds"}), False), (stopped(RIGHT, **RACE, access="read"), False),
        (stopped(RIGHT, **{**RACE, "other": replace(OTHER, access="read")}), False),
        (stopped(RIGHT, **{**RACE, "other": None}), False), (stopped(RIGHT, **{**RACE, "address": 1004}), False),
        (stopped(RIGHT, **{**RACE, "address": None}), False), (stopped(RIGHT, **RACE, memory="lds"), False),
        (RIGHT, False),
    ],
    "used-by-two-blocks": [
        (stopped(RIGHT, **RACE), True), (stopped(RIGHT, **{**RACE, "address": 1004}, access="read"), True),
        (stopped(RIGHT, **{**RACE, "other": SAME_BLOCK}), False), (stopped(RIGHT, **RACE, memory="lds"), False),
        (stopped(RIGHT, **RACE, access="atomic"), False), (stopped(RIGHT, **{**RACE, "other": None}), False),
        (stopped(RIGHT, **{**RACE, "other": replace(OTHER, access="atomic")}), False),
        (stopped(RIGHT, **{**RACE, "kind": "lane conflict"}), False), (RIGHT, False),
    ],
    "data-race": [(stopped(RIGHT, kind="race"), True), (stopped(RIGHT, kind="lane conflict"), True),
                  (stopped(RIGHT, kind="barrier"), False), (RIGHT, False)],
    "never-written": [(stopped(RIGHT, kind="never written"), True), (stopped(RIGHT), False), (RIGHT, False)],
    "barrier": [(stopped(RIGHT, kind="barrier"), True), (stopped(RIGHT), False), (RIGHT, False)],
    "deadlock": [(stopped(RIGHT, kind="deadlock"), True), (stopped(RIGHT), False), (RIGHT, False)],
    "inactive-lane": [(stopped(RIGHT, kind="shuffle"), True), (stopped(RIGHT), False), (RIGHT, False)],
    "wave-of-64": [
        *((replace(WRONG, wave_size=32, source=f"int a = {text};"), True)
          for text in ("threadIdx.x % 64", "threadIdx.x / 64", "lane & 63", "i >> 6", "i & 0x3f")),
        (replace(WRONG, wave_size=32, source="int a = i % 640 + 64;"), False),
        (replace(WRONG, wave_size=32, source="int a = i % warpSize;  // % 64"), False),
        (replace(WRONG, wave_size=64, source="int a = i % 64;"), False),
    ],
    "lds-out-of-bounds": [(stopped(RIGHT, kind="lds out of bounds"), True), (stopped(RIGHT), False), (RIGHT, False)],
    "out-of-bounds": [(stopped(RIGHT), True), (stopped(RIGHT, kind="null"), True),
                      (beside(RIGHT, "a", 0), True),
                      (beside(RIGHT, "x", -1), True), (stopped(RIGHT, kind="race"), False), (RIGHT, False)],
    "left-out": [
        (PARTLY, True), (UNWRITTEN, False), (PARTLY_WRONG, False), (WRONG, False), (stopped(PARTLY), False),
        (guarded(PARTLY), False), (beside(PARTLY, "a", 0), False), (beside(PARTLY, "x", 0), False), (RIGHT, False),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", KERNELS)
def test_causes_of_kernels(name: str) -> None:
    known = {cause.name: cause for cause in causes.causes_of(tiny(causes=(OWN,)))}
    found = [(bool(known[name].when(seen)), fits) for seen, fits in KERNELS[name]]
    assert [fits for fits, _ in found] == [fits for _, fits in found]


def values(found: list[float], wanted: list[float] | None = None) -> Outcome:
    right = np.array(wanted or [3.5 + 2 * i * i for i in range(20)], "float32")
    array = Array("a", sentinel("float32", 20), right, relative=1e-6)
    return made(given("x", 20), array, found={"a": np.array(found, "float32")})


WANTED = [3.5 + 2 * i * i for i in range(20)]
PATTERNS = {
    "no-numbers": [float("nan")] * 4 + WANTED[4:],
    "all-zero": [0.0] * 6 + WANTED[6:],
    "copied-input": [5.0 + i for i in range(20)],
    "other-sign": [-value for value in WANTED],
    "same-difference": [value + 3 for value in WANTED],
    "without-fraction": [value - 0.5 for value in WANTED],
    "same-factor": [value * 3 for value in WANTED],
    "same-value": [77.0] * 20,
    "moved": [*WANTED[1:], 1234.0],
    "reordered": [*WANTED[10:], *WANTED[:10]][::-1],
    "one-element": [*WANTED[:7], 1234.0, *WANTED[8:]],
    "at-one-end": [*WANTED[:18], 1234.0, -99.0],
}


@pytest.mark.parametrize("name", PATTERNS)
def test_causes_that_values_tell(name: str) -> None:
    seen = values(PATTERNS[name])
    fitting = [cause.name for cause in causes.VALUE_CAUSES if cause.when(seen)]
    assert name in fitting
    assert not [cause.name for cause in causes.VALUE_CAUSES if cause.when(values(WANTED))]


# ------------------------------------------------------------------------------------------------------- programs

NUMBERS = (3, 1, 4, 1, 5, 9, 2, 6)
RAW = np.array(NUMBERS, "int32").tobytes()
CASE = ProgramCase(("5",), "one\n", computed=(NUMBERS,), given=((7, 8, 9, 10, 1, 2, 3, 4),))
STORED = Transfer("device to host", 32, 32, RAW.hex(), "ffffffff")
NOT_STORED = Transfer("device to host", 32, 0, RAW.hex(), "00000000")
INPUT_SENT = Transfer("host to device", 32, 0, np.array(CASE.given[0], "int32").tobytes().hex())
OTHER_SENT = Transfer("host to device", 32, 0, np.array([1] * 8, "int32").tobytes().hex())


def ran(*transfers: Transfer, case: ProgramCase = CASE, **changes: Any) -> Any:
    seen = program(case=case, **changes)
    seen.run.transfers = transfers  # type: ignore[misc]
    return seen


BAD = {"stdout": "two\n"}
PROGRAMS: dict[str, list[tuple[Any, bool]]] = {
    "never-ends": [(ran(seconds_limit_hit=True), True), (ran(faults=(fault("timeout"),)), True), (ran(), False)],
    "crashed": [(ran(exit_code=-11), True), (ran(exit_code=-11, faults=(fault(),)), False), (ran(exit_code=1), False),
                (ran(), False)],
    "no-report": [(ran(complete=False), True), (ran(complete=False, faults=(fault(),)), False), (ran(), False)],
    "nothing-launched": [
        (ran(launches=()), True), (ran(), False), (ran(launches=(), case=replace(CASE, exit_code=3)), False),
        (ran(launches=(), case=replace(CASE, computed=())), False),
    ],
    "data-race": [(ran(faults=(fault("race"),)), True), (ran(), False)],
    "hip-error": [
        (ran(exit_code=1, stderr="hipErrorInvalidValue"), True), (ran(exit_code=1, stdout="hipMalloc failed"), True),
        (ran(exit_code=1, stderr="error: invalid device ordinal"), True),
        (ran(exit_code=1, stderr="invalid argument"), True), (ran(exit_code=1, stderr="out of memory"), True),
        (ran(exit_code=1, stderr="usage: program N"), False), (ran(stderr="hipErrorInvalidValue"), False),
        (ran(exit_code=1, stderr="hipErrorInvalidValue", faults=(fault(),)), False),
    ],
    "exit-code": [(ran(exit_code=1), True), (ran(exit_code=1, **BAD), False), (ran(), False),
                  (ran(exit_code=3, case=replace(CASE, exit_code=3)), False)],
    "kernel-fault": [(ran(faults=(fault(),)), True), (ran(), False)],
    "nothing-came-back": [(ran(NOT_STORED), True), (ran(), True), (ran(STORED), False), (ran(launches=()), False),
                          (ran(NOT_STORED, faults=(fault(),)), False)],
    "other-input": [(ran(OTHER_SENT, **BAD), True), (ran(INPUT_SENT, **BAD), False), (ran(OTHER_SENT), False),
                    (ran(OTHER_SENT, faults=(fault(),), **BAD), False)],
    "right-until-printed": [(ran(STORED, **BAD), True), (ran(STORED), False), (ran(NOT_STORED, **BAD), False)],
    "nothing-printed": [(ran(stdout=" \n"), True), (ran(**BAD), False),
                        (ran(stdout="", case=replace(CASE, expected="")), False)],
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_causes_of_programs(name: str) -> None:
    asked: Any = object.__new__(ProgramExercise)
    object.__setattr__(asked, "causes", ())
    known = {cause.name: cause for cause in causes.causes_of(asked)}
    found = [(bool(known[name].when(seen)), fits) for seen, fits in PROGRAMS[name]]
    assert [fits for fits, _ in found] == [fits for _, fits in found]


def test_every_cause_says_what_to_do() -> None:
    asked: Any = object.__new__(ProgramExercise)
    object.__setattr__(asked, "causes", ())
    for cause in (*causes.causes_of(tiny()), *causes.causes_of(asked)):
        assert cause.title, cause.name
        assert not cause.title.endswith("."), cause.name
        assert cause.why.endswith("."), cause.name
        assert cause.next_step.endswith(("?", ".")), cause.name
        assert (cause.guard, cause.explains) == ((), ())
