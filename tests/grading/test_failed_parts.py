"""What is kept of a failing case, and how much of it: of outcomes that are written here, without a kernel."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpulab.grading.case import Array, Case, Run, guard_values, sentinel
from gpulab.grading.failed import _around, failed_case
from gpulab.grading.outcome import Outcome
from gpulab.records import Access, FailedCase, Fault, SourceLine
from tests.grading.test_judge import tiny


class Noted:
    """A kernel whose launches leave what they are told to; it keeps what it was asked."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def run(self, *arguments: object) -> Run:
        self.asked = arguments
        return self._run


def made(*arrays: Array, found: dict[str, object] | None = None, guard: int = 4, **changes: object) -> Outcome:
    """An outcome that left these values inside the arrays; where nothing is said, what was wanted."""
    case = Case({"n": 1}, (4, 1, 1), (8, 1, 1), arrays)
    after, tight = {}, {}
    for number, array in enumerate(arrays):
        inside = np.array(array.wanted if found is None or array.name not in found else found[array.name])
        inside = inside.astype(array.data.dtype)
        edge = guard_values(str(array.data.dtype), guard, number)
        tight[array.name], after[array.name] = inside, np.concatenate([edge, inside.reshape(-1), edge])
    run = Run(after)
    return replace(Outcome(case, "gfx942", 64, Run(tight), run, guard), **changes)  # type: ignore[arg-type]


def output(name: str, size: int = 4, value: int = 1) -> Array:
    return Array(name, sentinel("int32", size), np.full(size, value, "int32"))


def given(name: str, size: int = 4) -> Array:
    return Array(name, np.arange(size, dtype="int32") + 5)


def case_of(outcome: Outcome, run: Run | None = None, **changes: object) -> FailedCase:
    return failed_case(tiny(**changes), Noted(run or outcome.guarded), outcome)


def test_three_arrays_and_two_inputs_are_drawn() -> None:
    outputs = [output(name) for name in "abcde"]
    inputs = [given(name) for name in "vwxyz"]
    scratch = Array("s", np.arange(4, dtype="int32"), scratch=True)
    wrong = {name: [1, 1, 2, 1] for name in "bcde"}
    case = case_of(made(*outputs, scratch, *inputs, found=wrong))
    assert [(array.name, array.given) for array in case.arrays] == [
        ("v", True), ("w", True), ("b", False), ("c", False), ("d", False)
    ]  # fmt: skip
    assert case_of(made(output("a"), output("b"))).arrays[0].name == "a", "the first output where nothing is wrong"
    assert len(case_of(made(output("a"), output("b"))).arrays) == 1
    # an input that is wrong is no input to be drawn, and an output stands beside it
    case = case_of(made(output("a"), *inputs[:2], found={"v": [9, 6, 7, 8]}))
    assert [(array.name, array.given) for array in case.arrays] == [("w", True), ("v", False), ("a", False)]
    states = {array.name: [element.state for element in array.elements] for array in case.arrays}
    assert states == {"w": ["given"] * 4, "v": ["wrong", *["right"] * 3], "a": ["right"] * 4}


def test_a_case_says_what_it_is_of() -> None:
    case = failed_case(tiny(), Noted(Run({})), made(output("a")), larger=True)
    assert (case.exercise, case.kernel, case.arch, case.wave_size) == ("tiny", "tens", "gfx942", 64)
    assert (case.inputs, case.grid, case.block) == ("n = 1; grid of 4 blocks, 8 threads each", (4, 1, 1), (8, 1, 1))
    assert (case.larger, case.stopped, case.place, case.sides) == (True, "", "", ())
    assert not case_of(made(output("a"))).larger


def test_the_run_that_tells_who_wrote() -> None:
    outcome = made(given("x", 3), output("a", 20), found={"a": [1] * 19 + [2]}, guard=7)
    kernel = Noted(outcome.guarded)
    failed_case(tiny(instruction_limit=77), kernel, outcome)
    case, buffers, limit, checked, wanted = kernel.asked
    assert case is outcome.case
    assert [(buffer.array.name, buffer.guard, buffer.number) for buffer in buffers] == [("x", 7, 0), ("a", 7, 1)]
    assert (limit, checked, wanted) == (77, True, {"a": list(range(20))})


def test_of_what_was_written_beside_an_array_32_are_kept() -> None:
    for guard, kept in ((16, 32), (17, 32), (5, 10)):
        outcome = made(output("a"), guard=guard)
        outcome.guarded.after["a"][:guard] = 7
        outcome.guarded.after["a"][-guard:] = 8
        (array,) = case_of(outcome).arrays
        assert array.outside == 2 * guard
        assert len(array.beside) == kept
        first = array.beside[0]
        assert (first.index, first.state, first.expected, first.found) == (-guard, "written outside", "", "7")
        if guard == 5:
            assert [element.index for element in array.beside] == [*range(-5, 0), *range(4, 9)]
            assert [element.found for element in array.beside] == ["7"] * 5 + ["8"] * 5


def test_the_overview_has_96_parts_at_most() -> None:
    for size, part, parts in ((1, 1, 1), (96, 1, 96), (97, 2, 49), (192, 2, 96), (193, 3, 65)):
        values = np.ones(size, "int32")
        values[-1] = 3
        (array,) = case_of(made(output("a", size), found={"a": values})).arrays
        assert (array.part, len(array.overview)) == (part, parts)
        last = size - part * (parts - 1)
        assert array.overview[-1] == (last - 1, 1, 0)
        assert set(array.overview[:-1]) <= {(part, 0, 0)}
    values = sentinel("int32", 100)
    values[:3] = (1, 2, 2)
    (array,) = case_of(made(output("a", 100), found={"a": values})).arrays
    assert (array.right, array.wrong, array.never) == (1, 2, 97)
    assert array.overview[:2] == ((1, 1, 0), (0, 1, 1))
    states = [element.state for element in array.elements[:4]]
    assert states == ["right", "wrong", "wrong", "never written"]
    assert [(element.expected, element.found) for element in array.elements[:4]] == [
        ("1", "1"), ("1", "2"), ("1", "2"), ("1", "")
    ]  # fmt: skip


def test_three_inputs_are_named_beside_an_element() -> None:
    x, out = given("x", 10), Array("out", np.arange(4, dtype="int32"), np.full(4, 9, "int32"))
    outcome = made(x, out, found={"out": [9, 9, 9, 8]})
    for count, named in ((0, 0), (3, 3), (4, 4), (6, 4)):
        case = case_of(outcome, reads=lambda case, name, index, n=count: [("x", k) for k in range(n)])
        inputs = case.arrays[-1].elements[3].inputs
        assert len(inputs) == named
        assert inputs[:3] == (("x[0]", "5"), ("x[1]", "6"), ("x[2]", "7"))[:count]
        assert inputs[3:] == (((f"{count - 3} more", ""),) if count > 3 else ())
    # what an output held before; what is outside of an array is none
    case = case_of(outcome, reads=lambda case, name, index: [("out", index), ("x", 10), ("x", -1), ("x", 9)])
    assert case.arrays[-1].elements[3].inputs == (("out[3] before", "3"), ("x[9]", "14"))
    # the rectangle of the input lies around what the first wrong element comes from
    long = given("x", 1000)
    reads = {"reads": lambda case, name, index: [("out", 0), ("x", 300 + index)]}
    case = case_of(made(long, out, found={"out": [9, 9, 9, 8]}), **reads)
    assert case.arrays[0].row == 303 // 16 - 4
    assert case.arrays[0].elements[0].index == (303 // 16 - 4) * 16


LONG = "a[i] = 1;" + " " * 200


def writes(index: int, where: SourceLine | None, instruction: str = "global_store") -> dict[tuple[str, int], Access]:
    return {("a", index): Access(where, instruction, (1, 0, 0), 2, 3, (5, 0, 0), "write")}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a[i] = 1;", True), ("p->x = 1;", True), ("  *p = 1;", True), ("store(p);", True), ("x = y;", False),
        ("if (i < n) {", False), ("for (;;)", False), ("while (x)", False), ("switch (x) {", False),
        ("return (x);", False), ("if (i < n) put(x);", True), ("x = 2 * p;", False), ("", True),
    ],
)  # fmt: skip
def test_a_line_with_nothing_that_could_store_is_not_named(text: str, line: bool) -> None:
    outcome = made(output("a"), found={"a": [1, 2, 1, 1]})
    where = SourceLine("a.hip", 3, 1, text)
    (array,) = case_of(outcome, Run({}, writers=writes(1, where))).arrays
    writer = array.elements[1].writer
    assert writer is not None
    assert writer.where == (where if line else None)
    assert (writer.workgroup, writer.thread, writer.seen, writer.wave, writer.lane, writer.instruction) == (
        (1, 0, 0), (5, 0, 0), True, 2, 3, "global_store"
    )  # fmt: skip


def test_lines_and_instructions_are_cut() -> None:
    outcome = made(output("a"), found={"a": [1, 2, 1, 1]})
    (array,) = case_of(outcome, Run({}, writers=writes(1, SourceLine("a", 3, 1, LONG), "x" * 200))).arrays
    writer = array.elements[1].writer
    assert writer is not None
    assert writer.where is not None
    assert (len(writer.where.text), len(writer.instruction)) == (160, 160)
    (array,) = case_of(outcome, Run({}, writers=writes(1, None))).arrays
    assert array.elements[1].writer is not None
    assert array.elements[1].writer.where is None


def fault(access: str, address: int | None, **changes: object) -> Fault:
    where = SourceLine("a", 8, 1, LONG)
    settings = {"address": address, "bytes": 4, "access": access, "memory": "global", **changes}
    return Fault("out of bounds", "k", where, "y" * 200, (2, 0, 0), 1, 7, (3, 0, 0), **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("access", "index", "state"),
    [("read", 4, "read outside"), ("write", 4, "written outside"), ("read", -1, "read outside"), ("read", 2, "")],
)
def test_a_bad_access_stands_beside_its_array(access: str, index: int, state: str) -> None:
    x, out = given("x"), output("a")
    stopped = made(x, out)
    tight = replace(stopped.tight, fault=fault(access, 1000 + 4 * index), addresses={"x": 1000, "a": 90_000_000})
    case = case_of(replace(stopped, tight=tight))
    array = next(array for array in case.arrays if array.name == "x")
    assert not array.given
    assert (case.stopped, case.place) == ("out of bounds", f"x[{index}]")
    (side,) = case.sides
    assert (side.instruction, side.workgroup, side.wave, side.lane, side.thread, side.access) == (
        "y" * 160, (2, 0, 0), 1, 7, (3, 0, 0), access
    )  # fmt: skip
    assert side.where is not None
    assert len(side.where.text) == 160
    if not state:
        assert array.beside == ()
        return
    (element,) = array.beside
    assert (element.index, element.state, element.found) == (index, state, "")
    assert element.writer is not None
    assert (element.writer.workgroup, element.writer.thread, element.writer.seen) == ((2, 0, 0), (3, 0, 0), True)
    assert len(element.writer.instruction) == 160


def test_both_sides_of_a_race_the_earlier_first() -> None:
    earlier = Access(SourceLine("a", 2), "load", (0, 0, 0), 0, 1, (1, 0, 0), "read")
    stopped = made(output("a"))
    for memory, address, place in (
        ("lds", 12, "shared memory, byte 12"), ("lds", None, "shared memory"),
        ("scratch", 3, "the thread's own memory, byte 3"), ("scratch", None, "the thread's own memory"),
        ("global", None, ""),
    ):  # fmt: skip
        tight = replace(stopped.tight, fault=fault("write", address, memory=memory, other=earlier))
        case = case_of(replace(stopped, tight=tight))
        assert [side.access for side in case.sides] == ["read", "write"]
        assert case.sides[0] == earlier
        assert case.place == place


def test_owners_are_those_of_outputs() -> None:
    outcome = made(given("x"), output("a"), found={"a": [1, 2, 1, 1], "x": [0, 6, 7, 8]})
    case = case_of(outcome, owner=lambda case, index: ((index, 1, 0), (2, index, 0)) if index else None)
    arrays = {array.name: array for array in case.arrays}
    assert [element.owner for element in arrays["x"].elements] == [None] * 4
    owners = [element.owner for element in arrays["a"].elements]
    assert owners[0] is None
    assert owners[3] is not None
    assert (owners[3].workgroup, owners[3].thread, owners[3].seen) == ((3, 1, 0), (2, 3, 0), False)


def test_values_of_the_tight_run_where_it_alone_went_wrong() -> None:
    """The guarded run is right: what is shown is what was found wrong."""
    outcome = made(output("a"))
    tight = Run({"a": np.array([1, 1, 5, 1], "int32")})
    (array,) = case_of(replace(outcome, tight=tight)).arrays
    assert [element.found for element in array.elements] == ["1", "1", "5", "1"]
    # a run that was stopped has no values to show
    (array,) = case_of(replace(outcome, tight=replace(tight, fault=fault("read", None)))).arrays
    assert [element.found for element in array.elements] == ["1"] * 4


@pytest.mark.parametrize(
    ("shape", "first", "size", "corner", "ends", "count"),
    [
        ((0,), 0, (0, 1), (0, 0), (), 0), ((3, 0), 0, (0, 1), (0, 0), (), 0), ((0,), 3, (0, 1), (0, 0), (), 0),
        # of one dimension in rows of eight, of more than 64 elements in rows of sixteen
        ((1,), 0, (1, 1), (0, 0), (0, 0), 1), ((5,), 2, (1, 5), (0, 0), (0, 4), 5),
        ((8,), 7, (1, 8), (0, 0), (0, 7), 8), ((9,), 0, (2, 8), (0, 0), (0, 8), 9),
        ((64,), 63, (8, 8), (0, 0), (0, 63), 64),
        ((65,), 0, (5, 16), (0, 0), (0, 64), 65), ((2, 3, 4), 9, (3, 8), (0, 0), (0, 23), 24),
        # sixteen rows at most, of which four stand before that of the element, as far as there are some
        ((1000,), 79, (16, 16), (0, 0), (0, 255), 256), ((1000,), 80, (16, 16), (1, 0), (16, 271), 256),
        ((1000,), 500, (16, 16), (27, 0), (432, 687), 256), ((1000,), 999, (16, 16), (47, 0), (752, 999), 248),
        ((1000,), 5000, (16, 16), (47, 0), (752, 999), 248), ((1000,), -5, (16, 16), (0, 0), (0, 255), 256),
        # of two dimensions as many columns
        ((3, 4), 5, (3, 4), (0, 0), (0, 11), 12), ((40, 50), 204, (16, 16), (0, 0), (0, 765), 256),
        ((40, 50), 255, (16, 16), (1, 1), (51, 816), 256), ((40, 50), 1030, (16, 16), (16, 26), (826, 1591), 256),
        ((40, 50), 1999, (16, 16), (24, 34), (1234, 1999), 256), ((40, 50), -1, (16, 16), (0, 0), (0, 765), 256),
        ((2, 100), 150, (2, 16), (0, 46), (46, 161), 32), ((100, 2), 101, (16, 2), (46, 0), (92, 123), 32),
    ],
)  # fmt: skip
def test_the_rectangle_around_an_element(
    shape: tuple[int, ...],
    first: int,
    size: tuple[int, int],
    corner: tuple[int, int],
    ends: tuple[int, ...],
    count: int,
) -> None:
    """Rows and columns, the first of each, and the flat indices, row by row."""
    found_size, found_corner, indices = _around(Array("a", np.zeros(shape, "int32")), first)
    assert (found_size, found_corner, len(indices)) == (size, corner, count)
    assert (indices[:1], indices[-1:]) == ([*ends[:1]], [*ends[1:]])
    assert indices == sorted(set(indices))
