"""The questions that causes and requirements ask of a run, one by one, of runs that are written here."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpulab.errors import CheckError
from gpulab.grading import outcome as outcomes
from gpulab.grading.case import Array, Run, Step, sentinel
from gpulab.grading.outcome import Outcome, ProgramOutcome, Weak
from gpulab.grading.program_case import ProgramCase
from gpulab.records import Access, AllocationNote, Fault
from tests.grading.test_failed_parts import given, made, output


def fault(kind: str = "out of bounds", **changes: Any) -> Fault:
    settings = {"address": None, "bytes": 4, "access": "write", "memory": "global", **changes}
    return Fault(kind, "k", None, "s", (2, 0, 0), 0, 0, (3, 0, 0), **settings)


def stopped(outcome: Outcome, **changes: Any) -> Outcome:
    """The tight run was stopped; arrays begin at 1000, 2000 ..."""
    addresses = {array.name: 1000 * number for number, array in enumerate(outcome.case.arrays, 1)}
    return replace(outcome, tight=replace(outcome.tight, fault=fault(**changes), addresses=addresses))


RIGHT = made(given("x"), output("a"))
WRONG = made(given("x"), output("a"), found={"a": [1, 1, 7, 1]})


def beside(outcome: Outcome, name: str, *places: int) -> Outcome:
    whole = outcome.guarded.after[name].copy()
    whole[list(places)] = 99
    return replace(outcome, guarded=replace(outcome.guarded, after={**outcome.guarded.after, name: whole}))


BESIDE = beside(RIGHT, "a", 0, -1)
TIGHT_FAULT, GUARDED_FAULT = stopped(RIGHT), replace(RIGHT, guarded=replace(RIGHT.guarded, fault=fault("trap")))


@pytest.mark.parametrize(
    ("seen", "passed", "right", "clean"),
    [
        (RIGHT, True, True, True), (WRONG, False, False, True), (BESIDE, False, True, False),
        (TIGHT_FAULT, False, True, False), (GUARDED_FAULT, False, False, False),
    ],
)  # fmt: skip
def test_was_it_right(seen: Outcome, passed: bool, right: bool, clean: bool) -> None:
    assert (seen.passed, seen.right, seen.clean) == (passed, right, clean)


def test_the_fault_of_the_tight_run_comes_first() -> None:
    both = replace(TIGHT_FAULT, guarded=GUARDED_FAULT.guarded)
    assert both.fault is both.tight.fault
    assert GUARDED_FAULT.fault is GUARDED_FAULT.guarded.fault
    assert RIGHT.fault is None


def test_an_element_is_wrong_if_it_is_so_in_either_run() -> None:
    """After a fault the tight run says nothing of values: it was stopped on the way."""
    tight = {**RIGHT.tight.after, "a": np.array([1, 5, 1, 1], "int32")}
    for one, wrong in ((WRONG, (1, 2)), (RIGHT, (1,))):
        seen = replace(one, tight=Run(tight))
        assert seen.wrong_indices("a") == wrong
        assert stopped(seen).wrong_indices("a") == one.wrong_indices("a")
    assert seen.wrong_indices("x") == ()


def test_what_lies_beside_an_array() -> None:
    assert RIGHT.outside("a") == ()
    assert BESIDE.outside("a") == (-4, 7)
    seen = beside(RIGHT, "a", 3, 8)
    assert (seen.outside("a"), seen.written_before("a"), seen.written_past("a")) == ((-1, 4), (-1,), (4,))
    assert seen.outside("x") == ()


def test_what_was_never_written() -> None:
    marks = sentinel("int32", 4)
    values = marks.copy()
    values[[0, 1]] = (1, 2)
    seen = made(given("x"), output("a"), found={"a": values})
    assert (seen.wrong_indices("a"), seen.unwritten_indices("a")) == ((1, 2, 3), (2, 3))
    assert seen.untouched("a").tolist() == [False, False, True, True]
    assert seen.left_out()
    assert not WRONG.left_out()
    assert not replace(seen, guarded=replace(seen.guarded, fault=fault())).left_out()
    assert stopped(seen).left_out()


@pytest.mark.parametrize(("size", "nothing"), [(1, False), (2, False), (3, True), (4, True)])
def test_nothing_written(size: int, nothing: bool) -> None:
    seen = made(given("x"), output("a", size), found={"a": sentinel("int32", size)})
    assert seen.nothing_written() == nothing
    assert not beside(seen, "a", 0).nothing_written()
    assert beside(seen, "x", 0).nothing_written() == nothing
    two = made(output("a", 1), output("b", size), found={"a": sentinel("int32", 1), "b": sentinel("int32", size)})
    assert two.nothing_written() == nothing
    assert not made(output("a", 5), output("b", size), found={"b": sentinel("int32", size)}).nothing_written()


UNTOUCHED = made(given("x"), output("a"), found={"a": sentinel("int32", 4)})


def test_what_weak_memory_left() -> None:
    """It alone went wrong: what it left in memory is what was found."""
    left = {"x": RIGHT.case.array("x").data, "a": np.array([1, 7, 1, 1], "int32")}
    seen = replace(RIGHT, weak=Weak(3, Run(left)))
    assert (seen.passed, seen.right, seen.clean) == (False, False, True)
    assert (seen.found("a").tolist(), seen.wrong_indices("a"), seen.wrong_indices("x")) == ([1, 7, 1, 1], (1,), ())
    assert not replace(UNTOUCHED, weak=seen.weak).nothing_written()
    marks = {**left, "a": sentinel("int32", 4)}
    assert not replace(RIGHT, weak=Weak(3, Run(marks))).nothing_written()
    assert UNTOUCHED.nothing_written()


@pytest.mark.parametrize(
    ("accesses", "rewritten"),
    [
        ((("store", "global", 4),), True), ((("store", "flat", 4),), True), ((("store", "lds", 4),), False),
        ((("load", "global", 4),), False), ((("store", "global", 0),), False), ((), False),
        ((("load", "global", 4), ("store", "global", 1)), True),
    ],
)  # fmt: skip
def test_each_launch_stored_what_was_there(accesses: tuple[Any, ...], rewritten: bool) -> None:
    costs = [SimpleNamespace(action=action, space=space, lanes=lanes) for action, space, lanes in accesses]
    store = SimpleNamespace(action="store", space="global", lanes=1)
    for launches, all_of_them in (
        ([costs], rewritten), ([costs, [store]], rewritten), ([[store], []], False), ([], False),
    ):  # fmt: skip
        records: Any = tuple(SimpleNamespace(accesses=each) for each in launches)
        profile = lambda records=records: Run(UNTOUCHED.tight.after, launches=records)  # noqa: E731
        assert replace(UNTOUCHED, profile=profile).rewritten() is all_of_them
        assert replace(RIGHT, profile=profile).rewritten() is False
        changed = made(given("x"), output("a"), found={"x": [5, 6, 7, 9], "a": sentinel("int32", 4)})
        assert replace(changed, profile=profile).rewritten() is False
    assert UNTOUCHED.rewritten() is False


@pytest.mark.parametrize(
    ("last", "size", "marks", "stored"),
    [
        (("a", "b"), 4, True, True),  # only the last launch has b: it stored, and b is as it was
        (("a", "b"), 4, False, False), (("a", "b"), 2, True, False), (("a",), 4, True, False),
    ],
)  # fmt: skip
def test_the_last_of_several_launches_stored_what_was_there(
    last: tuple[str, ...], size: int, marks: bool, stored: bool
) -> None:
    kept = sentinel("int32", size) if marks else np.full(size, 7, "int32")
    seen = made(output("a"), output("b", size), found={"b": kept})
    steps = (Step("first", (1, 1, 1), (64, 1, 1), ("a",)), Step("second", (1, 1, 1), (64, 1, 1), last))
    cost = SimpleNamespace(action="store", space="global", lanes=1)
    records: Any = (SimpleNamespace(accesses=[cost]), SimpleNamespace(accesses=[cost]))
    seen = replace(seen, case=replace(seen.case, steps=steps), profile=lambda: Run(seen.tight.after, launches=records))
    assert seen.rewritten() is stored
    assert not beside(seen, "b", 0).rewritten()
    other = replace(seen, tight=Run({**seen.tight.after, "a": np.array([1, 1, 7, 1], "int32")}))
    assert not replace(other, guarded=beside(seen, "a", 5).guarded).rewritten()
    idle: Any = (records[0], SimpleNamespace(accesses=[]))
    assert replace(seen, profile=lambda: Run(seen.tight.after, launches=idle)).rewritten() is False


def test_what_a_mistake_would_leave() -> None:
    assert WRONG.looks_like("a", lambda case: np.array([1, 1, 7, 1]))
    assert not WRONG.looks_like("a", lambda case: np.array([1, 1, 8, 1]))
    assert not RIGHT.looks_like("a", lambda case: np.array([1, 1, 1, 1])), "the right result is no mistake"
    assert not WRONG.looks_like("a", lambda case: np.array([1, 1, 1, 1]))


def test_another_guard() -> None:
    asked: list[Any] = []

    class Prepared:
        resources: dict[str, Any] = {"k": 1}  # noqa: RUF012
        isa: dict[str, Any] = {"k": ("s_endpgm",)}  # noqa: RUF012
        unset = ("line 3: variable 's' is uninitialized when used here",)

        def run(self, *arguments: Any) -> Run:
            asked.append(arguments)
            return Run({"of": 1})  # type: ignore[dict-item]

    with pytest.raises(CheckError, match="no kernel for n = 1"):
        RIGHT.with_room(9, 100)
    assert (RIGHT.resources, RIGHT.isa, RIGHT.unset, RIGHT.clean) == ({}, {}, (), True)
    seen = replace(RIGHT, prepared=Prepared())  # type: ignore[arg-type]
    assert (seen.resources, seen.isa) == ({"k": 1}, {"k": ("s_endpgm",)})
    assert (seen.unset, seen.clean) == (Prepared.unset, False)
    other = seen.with_room(9, 100)
    ((case, buffers, limit),) = asked
    assert (case, limit, other.guard, other.guarded.after) == (RIGHT.case, 100, 9, {"of": 1})
    assert [(buffer.array.name, buffer.guard, buffer.number) for buffer in buffers] == [("x", 9, 0), ("a", 9, 1)]


def test_the_run_that_is_measured() -> None:
    with pytest.raises(CheckError, match=r"no profile of n = 1; .* on gfx942"):
        RIGHT.profiled  # noqa: B018
    runs = [Run(RIGHT.tight.after, launches=("one",))]  # type: ignore[arg-type]
    seen = replace(RIGHT, profile=runs.pop)
    assert seen.unsteady == "", "nothing is measured for this alone"
    assert len(runs) == 1
    assert (seen.measured, seen.measured, seen.unsteady) == (("one",), ("one",), "")
    wrong = {**RIGHT.tight.after, "a": np.array([1, 0, 0, 1], "int32")}
    for run, said in (
        (Run(wrong), "in the run that is measured 2 of 4 elements of a are wrong"),
        (Run(RIGHT.tight.after, fault("race")), "the run that is measured was stopped (race)"),
    ):
        seen = replace(RIGHT, profile=lambda run=run: run)
        assert seen.profiled is run
        assert seen.unsteady == said


def test_who_wrote() -> None:
    asked: list[Any] = []
    seen = beside(made(given("x", 3), output("a", 5000), guard=4500), "a", 0, 2, *range(-4400, 0))
    writers = {
        ("a", 1): Access(None, "s", (1, 0, 0), 0, 0, (2, 0, 0), "write"),
        ("a", 2): Access(None, "s", (1, 0, 0), 0, 0, None, "write"),
        ("x", 0): Access(None, "s", (0, 0, 0), 0, 0, (0, 0, 0), "write"),
    }

    def watch(changed: Any) -> Run:
        asked.append(changed)
        return Run({}, writers=writers)

    assert seen.writers("a") == ()
    seen = replace(seen, watch=watch)
    assert seen.writers("a") == ((1, (1, 0, 0), (2, 0, 0)),)
    assert seen.writers("x") == ((0, (0, 0, 0), (0, 0, 0)),)
    (changed,) = asked
    assert changed["x"] == []
    assert changed["a"][:4096] == list(range(4096)), "of many the first"
    assert changed["a"][4096:] == [-4500, -4498, *range(5100, 5100 + 4094)]
    assert seen.numbers("a") == ((1, (1 * 8 + 2, 0, 0)),)
    deep = replace(seen.case, grid=(4, 4, 4), block=(8, 2, 3))
    writers["a", 1] = replace(writers["a", 1], workgroup=(1, 2, 3), thread=(4, 1, 2))
    assert replace(seen, case=deep).numbers("a") == ((1, (12, 5, 11)),)


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"address": 2008}, [2]), ({"address": 2011}, [2]), ({"address": 1984}, [-4]), ({"address": 1983}, []),
        ({"address": 2031}, [7]), ({"address": 2032}, []), ({"address": None}, []),
        ({"address": 2008, "access": "read"}, []), ({"address": 2008, "memory": "lds"}, []),
    ],
)  # fmt: skip
def test_a_write_that_was_stopped_was_seen_too(changes: dict[str, Any], found: list[int]) -> None:
    """Four elements at 2000, with four guard elements on either side."""
    run = Run({}, fault(**changes), addresses={"x": 1000, "a": 2000})
    seen = replace(RIGHT, watch=lambda changed: run)
    assert seen.writers("a") == tuple((index, (2, 0, 0), (3, 0, 0)) for index in found)
    other = Access(None, "s", (1, 0, 0), 0, 0, (5, 0, 0), "write")
    both = replace(run, fault=replace(run.fault, other=other))  # type: ignore[type-var]
    listed = replace(RIGHT, watch=lambda changed: both).writers("a")
    bad_memory = changes.get("memory") == "lds"
    sides = found if changes.get("access") != "read" or bad_memory else [2]
    assert ((1, 0, 0), (5, 0, 0)) in [place[1:] for place in listed] or not sides
    nobody = replace(run, fault=replace(run.fault, thread=None))  # type: ignore[type-var]
    assert replace(RIGHT, watch=lambda changed: nobody).writers("a") == ()
    nowhere = replace(run, addresses=None)
    assert replace(RIGHT, watch=lambda changed: nowhere).writers("a") == ()


def watched(outcome: Outcome, *numbers: tuple[int, int]) -> Outcome:
    """Elements of a and the threads of block 0 that wrote them."""
    writers = {("a", index): Access(None, "s", (0, 0, 0), 0, 0, (number, 0, 0), "write") for index, number in numbers}
    return replace(outcome, watch=lambda changed: Run({}, writers=writers))


def test_one_too_many() -> None:
    """Of the threads beyond the array the first alone writes, and there are more of them."""
    assert RIGHT.case.threads > 5
    one = watched(beside(RIGHT, "a", 8), (3, 3), (4, 4))
    assert one.one_too_many("a")
    assert not watched(beside(RIGHT, "a", 8), (3, 3), (4, 5)).one_too_many("a")
    assert not watched(RIGHT, (3, 3), (4, 4)).one_too_many("a")


def test_works_past() -> None:
    assert watched(RIGHT, (3, 3), (4, 4)).works_past("a")
    assert not watched(RIGHT, (3, 3)).works_past("a")
    assert not watched(RIGHT, (3, 3), (4, 5)).works_past("a")
    assert not watched(RIGHT, (2, 3), (4, 4)).works_past("a")
    assert not watched(WRONG, (3, 3), (4, 4)).works_past("a")


def test_where_a_bad_address_lies() -> None:
    """x has 16 bytes at 1000, a 16 at 2000."""
    for address, place in ((1000, ("x", 0)), (1015, ("x", 3)), (1016, ("x", 4)), (999, ("x", -1)), (2004, ("a", 1)),
                           (1507, ("x", 126)), (1508, ("a", -123)), (2016 + (1 << 20), None),
                           (2015 + (1 << 20), ("a", 4 + (1 << 18) - 1))):  # fmt: skip
        assert stopped(RIGHT, address=address).faulting_index() == place, address
    assert RIGHT.faulting_index() is None
    assert stopped(RIGHT, address=None).faulting_index() is None
    unknown = stopped(RIGHT, address=1000)
    assert replace(unknown, tight=replace(unknown.tight, addresses={"x": 0})).faulting_index() is None
    # the allocation that the fault names counts, if an array lies there
    note = AllocationNote(2000, 16, "before", 0)
    assert stopped(RIGHT, address=1016, nearest=note).faulting_index() == ("a", -246)
    assert stopped(RIGHT, address=1016, nearest=replace(note, address=5)).faulting_index() == ("x", 4)


def test_the_thread_of_a_bad_access() -> None:
    assert RIGHT.faulting_number() is None
    assert TIGHT_FAULT.faulting_number() == (2 * 8 + 3, 0, 0)
    nobody = replace(TIGHT_FAULT, tight=replace(TIGHT_FAULT.tight, fault=replace(fault(), thread=None)))
    assert nobody.faulting_number() is None
    for access, index, read, past in (("read", 19, True, True), ("write", 19, False, False), ("read", 18, True, False)):
        seen = stopped(RIGHT, access=access, address=1000 + 4 * index)
        assert seen.read_outside() == (("x", index) if read else None)
        assert seen.read_past("x") == past
        assert not seen.read_past("a")
    large = stopped(made(given("x", 20), output("a")), access="read", address=1000 + 4 * 19)
    assert not large.read_past("x"), "it is inside"


def test_kinds_of_ends() -> None:
    assert stopped(RIGHT, kind="null").null_access()
    assert not TIGHT_FAULT.null_access()
    assert not RIGHT.null_access()
    for seen, late in ((RIGHT, False), (TIGHT_FAULT, False), (stopped(RIGHT, kind="timeout"), True),
                       (replace(RIGHT, guarded=replace(RIGHT.guarded, fault=fault("timeout"))), True)):  # fmt: skip
        assert seen.timed_out() == late
    text = replace(RIGHT, source="a(); // b()")
    assert text.uses(r"a\(") is True
    assert text.uses(r"b\(") is False


# ------------------------------------------------------------------------------------------------------- programs


def program(**changes: Any) -> ProgramOutcome:
    run = {"stdout": "one\n", "stderr": "", "exit_code": 0, "faults": (), "launches": (1, 2), "activities": [3],
           "complete": True, "seconds_limit_hit": False, "ending": ""}  # fmt: skip
    settings = {name: changes.pop(name) for name in list(changes) if name not in run}
    return ProgramOutcome(settings.pop("case", ProgramCase(("5",), "one\n")), "gfx942", 64,
                          SimpleNamespace(**{**run, **changes}), **settings)  # type: ignore[arg-type]  # fmt: skip


@pytest.mark.parametrize(
    ("seen", "right", "clean"),
    [
        (program(), True, True), (program(stdout="two\n"), False, True), (program(exit_code=1), False, True),
        (program(exit_code=1, case=ProgramCase((), "one", 1)), True, True),
        (program(faults=(fault(),)), True, False), (program(faults=(fault("timeout"),)), False, False),
        (program(complete=False), True, False), (program(complete=False, exit_code=-9), False, True),
        (program(complete=False, seconds_limit_hit=True), False, True),
        (program(seconds_limit_hit=True), False, True),
    ],
)  # fmt: skip
def test_was_a_program_right(seen: ProgramOutcome, right: bool, clean: bool) -> None:
    assert (seen.right, seen.clean, seen.passed) == (right, clean, right and clean)


@pytest.mark.parametrize(
    ("seen", "nothing"),
    [
        (program(), False), (program(launches=()), True), (program(launches=(), exit_code=1), False),
        (program(launches=(), exit_code=1, faults=(fault(access="copy"),)), True),
        (program(launches=(), faults=(fault(access="read"),)), False),
        (program(launches=(1,), faults=(fault(access="copy"),)), False),
    ],
)  # fmt: skip
def test_a_program_that_launches_nothing(seen: ProgramOutcome, nothing: bool) -> None:
    assert seen.launched_nothing == nothing


def test_what_is_known_of_a_program() -> None:
    first, second = fault(), fault("race")
    seen = program(stderr="e", exit_code=-6, faults=(first, second), source="a(); // b()")
    assert (seen.stdout, seen.stderr, seen.exit_code, seen.fault) == ("one\n", "e", -6, first)
    assert (seen.launches, seen.activities) == ((1, 2), (3,))
    assert program().fault is None
    assert seen.code.split() == ["a();"]
    assert (seen.uses(r"a\("), seen.uses(r"b\(")) == (True, False)
    assert program(seconds_limit_hit=True).timed_out() is True
    assert program(faults=(fault("timeout"),)).timed_out() is True
    assert program(faults=(first,)).timed_out() is False
    assert program().timed_out() is False


def test_the_run_of_a_program_that_is_measured() -> None:
    with pytest.raises(CheckError, match=r"no profile of \./program 5 on gfx942"):
        program().profiled  # noqa: B018
    for changes, said in (
        ({}, ""), ({"stdout": "two\n"}, "line 1 should be\n  one\nbut is\n  two"),
        ({"exit_code": 3, "ending": "it ended"}, "it ended"), ({"exit_code": 3}, "a kernel was stopped"),
    ):  # fmt: skip
        other = program(launches=(7,), **changes).run
        seen = program(profile=lambda other=other: other)
        assert seen.unsteady == ""
        assert seen.measured == (7,)
        assert seen.unsteady == (said and f"in the run that is measured {said}")


def doing(stream: int, waits_for: int | None = None) -> SimpleNamespace:
    return SimpleNamespace(stream=stream, waits_for=waits_for)


@pytest.mark.parametrize(
    ("work", "source", "after"),
    [
        ([doing(1), doing(1)], "", True), ([doing(1), doing(2)], "", False), ([doing(0), doing(2)], "", True),
        ([doing(1), doing(0)], "", True), ([doing(0), doing(2)], "hipStreamNonBlocking", False),
        ([doing(1), doing(0)], "hipStreamNonBlocking", False), ([doing(1), doing(1)], "hipStreamNonBlocking", True),
        ([doing(1), doing(0)], "// hipStreamNonBlocking", True), ([doing(1), doing(2, 0)], "", True),
        ([doing(1), doing(1), doing(2, 1), doing(2)], "", True),  # an event in stream 1, for which stream 2 waits
        ([doing(1), doing(1), doing(2, 1), doing(3)], "", False),
        ([doing(1), doing(2), doing(2, 1), doing(2)], "", False),  # the event is not of stream 1
        ([doing(1), doing(0), doing(2)], "", True), ([doing(1), doing(3), doing(2)], "", False),
    ],
)  # fmt: skip
def test_what_makes_the_last_activity_come_after_the_first(work: list[Any], source: str, after: bool) -> None:
    assert program(activities=work, source=source).comes_after(0, len(work) - 1) is after
    assert program(activities=work, source=source).comes_after(len(work) - 1, 0) is False


def test_the_limit_of_what_is_asked_for() -> None:
    assert outcomes.MOST_WATCHED == 4096
    assert Array("a", np.zeros(1)).is_output is False
    assert Step("k", (2, 3, 4), (5, 6, 7), ()).threads == 2 * 3 * 4 * 5 * 6 * 7
