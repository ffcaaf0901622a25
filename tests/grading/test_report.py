"""What a learner reads, row by row, of outcomes that are written here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpulab.grading import library, report
from gpulab.grading.case import Run, sentinel
from gpulab.grading.exercise import Cause, Requirement
from gpulab.grading.judgement import Failure
from gpulab.grading.outcome import Outcome, Weak
from gpulab.grading.program_case import ProgramCase
from gpulab.providers import faults
from gpulab.records import Access, SourceLine
from tests.grading.test_failed_parts import given, made, output
from tests.grading.test_judge import tiny
from tests.grading.test_outcome import RIGHT, WRONG, beside, fault, program, stopped

END = [("read", "lesson 01_first_kernel, section “A section”"), ("stuck?", 'gpulab.hint("tiny")')]
OWN = Cause[Any]("own", "it is so", lambda seen: False, "That is why.", "Look there.")


def rows(verdict: Any) -> list[tuple[str, str]]:
    return [(row.label, row.text) for row in verdict.rows]


def other(outcome: Outcome, n: int = 1, **changes: Any) -> Outcome:
    return replace(outcome, case=replace(outcome.case, parameters={"n": n, "block": 8, "wave": 64}), **changes)


def test_a_right_answer() -> None:
    asked = Requirement[Any]("few", "few loads", lambda seen: "")
    tried = [other(RIGHT, 5), other(RIGHT, 2), other(RIGHT, 5, arch="gfx1100", wave_size=32)]
    found = report.accepted(tiny(requirements=(asked,)), tried)
    assert (found.exercise, found.status, found.headline, found.cause) == ("tiny", "passed", "Passed: tiny (tens)", "")
    assert rows(found) == [
        ("tried", "3 runs on gfx942 (wave64) and gfx1100 (wave32) with n = 2, 5; block = 8"), ("met", "few loads")
    ]  # fmt: skip
    assert found.link == "notebooks/01_first_kernel.ipynb#A-section"
    assert found.link_text == "A section"
    hidden = report.accepted(tiny(), [*tried[:1], replace(tried[1], hidden=True)])
    assert rows(hidden) == [("tried", "1 run on gfx942 (wave64) with n = 5; block = 8, and 1 run with drawn inputs")]
    commands = [program(), program(case=ProgramCase(("6",), "one")), program()]
    said = "3 runs on gfx942 (wave64): ./program 5; ./program 6"
    assert rows(report.accepted(tiny(), commands)) == [("tried", said)]


def test_what_cannot_be_run() -> None:
    found = report.does_not_compile(tiny(), "an\nerror")
    assert (found.status, found.cause, found.headline) == (
        "does not compile", "does-not-compile", "Not yet: tiny does not compile"
    )  # fmt: skip
    assert rows(found)[0] == ("compiler", "an\nerror")
    assert [row.block for row in found.rows] == [True, False, False, False]
    assert rows(found)[1][0] == "next"
    assert rows(found)[2:] == END
    found = report.wrong_signature(tiny(), "no such kernel")
    assert (found.status, found.cause, found.headline) == ("wrong signature", "wrong-signature", "Not yet: tiny (tens)")
    assert rows(found) == [("what", "no such kernel"), *END]
    found = report.cannot_be_run(tiny(), "what")
    assert (found.status, found.cause, found.rows[0].block) == ("does not compile", "unsupported", True)
    found = report.stopped("tiny", "too long")
    assert (found.status, found.cause, found.headline) == ("stopped", "stopped", "No verdict on tiny: too long")
    assert rows(found) == [("what", "too long")]
    found = report.not_judged("tiny", "no disk")
    assert (found.status, found.cause) == ("not judged", "not-judged")
    assert found.headline == "Not judged: tiny, because this system failed"
    assert [row.label for row in found.rows] == ["what", "next"]
    assert report.progress("x") == report.VerdictRow("progress", "x")
    assert report.outdated("k").label == "mind"
    assert "cell that you ran with k in it was not compiled" in report.outdated("k").text


def test_a_wrong_answer() -> None:
    failure = Failure[Any](WRONG, OWN)
    found = report.rejected(tiny(), failure, [RIGHT], {("gfx1100", 32): True, ("gfx90a", 64): False}, smaller=True)
    assert (found.status, found.cause, found.smallest) == ("wrong", "own", {"n": 1})
    assert rows(found) == [
        ("tried", "1 run on gfx942 (wave64) with n = 1: right so far"),
        ("fails with", "n = 1; grid of 4 blocks, 8 threads each, on gfx942 (wave64) (the smallest input found)"),
        ("and on", "gfx1100 (wave32) the same input passes"),
        ("and on", "gfx90a (wave64) the same input fails as well"),
        ("wrong", "1 of 4 elements of a"),
        ("values", "element  inputs    expected  found  whose it is\n"
                   "a[2]     x[2] = 7  1         7      thread 2 of block 0"),
        ("likely cause", "it is so. That is why."), ("next", "Look there."), *END,
    ]  # fmt: skip
    alone = report.rejected(tiny(), Failure[Any](WRONG, None), [], {})
    assert alone.cause == ""
    labels = [label for label, _ in rows(alone)]
    assert labels == ["fails with", "wrong", "values", "likely cause", "next", "read", "stuck?"]
    text = dict(rows(alone))
    assert text["fails with"].endswith("on gfx942 (wave64)")
    assert text["likely cause"].startswith("not known: ")
    assert text["likely cause"].endswith("The values above are all the evidence there is.")
    assert text["next"].startswith("Work out on paper")
    assert report.rejected(tiny(), Failure[Any](stopped(WRONG), None), [], {}).status == "fault"


def test_a_requirement_that_is_not_met() -> None:
    asked = Requirement[Any]("few", "few loads", lambda seen: "", "Count them.")
    for hidden in (False, True):
        seen = replace(RIGHT, hidden=hidden)
        found = report.rejected(tiny(), Failure[Any](seen, None, asked, "9 loads"), [], {})
        assert (found.status, found.cause, found.smallest) == ("requirement", "few", {} if hidden else {"n": 1})
        where = "inputs that were drawn for this grading" if hidden else "n = 1; grid of 4 blocks, 8 threads each"
        measured = [] if hidden else [("measured", "9 loads")]
        assert rows(found) == [
            ("fails with", f"{where}, on gfx942 (wave64)"), ("required", "few loads"), *measured,
            ("next", "Count them."), *END,
        ]  # fmt: skip
    quiet = replace(asked, next_step="")
    assert "next" not in dict(rows(report.rejected(tiny(), Failure[Any](RIGHT, None, quiet, "9"), [], {})))


def test_drawn_inputs_are_not_shown() -> None:
    found = report.rejected(tiny(), Failure[Any](replace(WRONG, hidden=True), None), [], {})
    text = dict(rows(found))
    assert found.smallest == {}
    assert not {"wrong", "values", "beside it"} & set(text)
    assert text["likely cause"].endswith("The inputs are not shown.")
    assert text["next"].startswith("Which sizes and numbers did you not try?")


def seen_rows(outcome: Outcome, **changes: Any) -> list[tuple[str, str]]:
    return [(row.label, row.text) for row in report._seen_of_kernel(tiny(**changes), outcome)]


def test_four_values_are_listed() -> None:
    for wrong, listed in ((4, 4), (5, 4), (1000, 4)):
        size = max(wrong, 6)
        values = np.where(np.arange(size) < wrong, 7, 1)
        seen = made(output("a", size), found={"a": values})
        (first, table) = seen_rows(seen)
        assert first == ("wrong", f"{wrong} of {size} elements of a")
        lines = table[1].split("\n")
        assert lines[0].split() == ["element", "expected", "found", "whose", "it", "is"]
        assert len(lines) == 1 + listed + (wrong > 4)
        if wrong > 4:
            assert lines[-1] == f"... and {wrong - 4:,} more"
    one = made(output("a", 1), found={"a": sentinel("int32", 1)})
    assert seen_rows(one) == [
        ("wrong", "1 of 1 element of a"),
        ("values", "element  expected  found          whose it is\n"
                   "a[0]     1         never written  thread 0 of block 0"),
    ]  # fmt: skip
    nobody = seen_rows(one, owner=lambda case, index: None)[1][1]
    assert nobody == "element  expected  found\na[0]     1         never written"
    in_place = replace(given("x"), expected=np.array([6, 6, 7, 8], "int32"))
    assert "6         5, as before" in seen_rows(made(in_place, found={"x": [5, 6, 7, 8]}))[1][1]
    changed = made(given("x"), output("a"), found={"x": [5, 0, 7, 8]})
    assert seen_rows(changed)[1][1] == "element  expected  found\nx[1]     6         0"


def test_what_was_written_beside_arrays() -> None:
    assert seen_rows(beside(RIGHT, "a", -1, -2)) == [("beside it", "the kernel wrote a[6], a[7], but a ends at a[3]")]
    many = beside(RIGHT, "a", 0, 1, 2, 3, 8)
    said = "the kernel wrote a[-4], a[-3], a[-2], a[-1] and 1 more, but a ends at a[3]"
    assert seen_rows(many) == [("beside it", said)]
    before = beside(RIGHT, "a", 2, 3)
    assert seen_rows(before) == [("beside it", "the kernel wrote a[-2], a[-1], but a begins at a[0]")]
    empty = beside(made(output("a", 0)), "a", 7)
    assert seen_rows(empty) == [("beside it", "the kernel wrote a[3], but a has no elements")]
    at_once = beside(made(output("a", 0)), "a", 4)
    assert seen_rows(at_once) == [("beside it", "the kernel wrote a[0], but a has no elements")]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"address": 2016}, "thread 3 of block 2 wrote a[4], but a ends at a[3]"),
        ({"address": 2016, "access": "read"}, "thread 3 of block 2 read a[4], but a ends at a[3]"),
        ({"address": 2016, "access": "atomic"}, "thread 3 of block 2 changed a[4], but a ends at a[3]"),
        ({"address": 2016, "access": ""}, "thread 3 of block 2 used a[4], but a ends at a[3]"),
        ({"address": 1996}, "thread 3 of block 2 wrote a[-1], but a begins at a[0]"),
        ({"address": 2012, "bytes": 8}, "thread 3 of block 2 wrote a[3] to a[4] at once, but a ends at a[3]"),
        ({"address": 2016, "bytes": 0}, "thread 3 of block 2 wrote a[4], but a ends at a[3]"),
        ({"kind": "null"}, "thread 3 of block 2 wrote a bad address (null)"),
        ({"kind": "timeout"}, "after the limit of instructions for one launch, in k"),
        ({"kind": "lds out of bounds", "address": 1024, "detail": "it has 1,024 bytes"},
         "thread 3 of block 2 wrote bytes 1,024 to 1,027 of the block's shared memory, but it has 1,024 bytes"),
        ({"kind": "lds out of bounds", "address": 1024, "bytes": 0, "detail": "x"},
         "thread 3 of block 2 wrote bytes 1,024 to 1,024 of the block's shared memory, but x"),
        ({"kind": "lds out of bounds"}, "thread 3 of block 2 wrote a bad address (lds out of bounds)"),
    ],
)  # fmt: skip
def test_a_fault_in_words(changes: dict[str, Any], said: str) -> None:
    seen = stopped(RIGHT, **changes)
    found = seen_rows(seen)
    assert found[0] == ("stopped", said)
    assert len(found) == 1, "without a line in the source there is none"
    for text, line in (("  a[i] = 1;", "7: a[i] = 1;"), ("", "7")):
        tight = replace(seen.tight, fault=replace(seen.fault, where=SourceLine("f", 7, 1, text)))  # type: ignore[type-var]
        assert seen_rows(replace(seen, tight=tight))[1] == ("line", line)


def test_a_fault_of_no_thread() -> None:
    seen = stopped(RIGHT, address=2016)
    nobody = replace(seen, tight=replace(seen.tight, fault=replace(fault(address=2016), thread=None)))
    assert seen_rows(nobody) == [("stopped", "wrote a[4], but a ends at a[3]")]
    nowhere = replace(seen, tight=replace(seen.tight, fault=replace(fault("trap"), thread=None)))
    assert seen_rows(nowhere) == [("stopped", "trap in k")]


def test_a_finding_of_a_checked_launch_has_its_own_words() -> None:
    ((label, text),) = seen_rows(stopped(RIGHT, kind="race", address=2004,
                                         other=Access(None, "s", (1, 0, 0), 0, 0, (5, 0, 0), "write")))  # fmt: skip
    assert label == "found"
    assert "race" in text


def test_who_wrote_wrong_elements_comes_first() -> None:
    places = ((0, 0, 1), (1, 0, 0), (2, 3, 0), (3, 1, 9), (4, 2, 0), (5, 0, 7))
    writers = {
        ("a", index): Access(None, "s", (block, 0, 0), 0, 0, (thread, 0, 0), "write") for index, block, thread in places
    }
    values = [1, 1, 7, 7, 1, 1]
    seen = made(output("a", 6), found={"a": values}, watch=lambda changed: Run({}, writers=writers))
    ((label, text),) = [(row.label, row.text) for row in report._indices_of_threads(seen)]
    assert label == "who wrote"
    assert text.split("\n") == [
        "thread 9 of block 1: a[3], which is wrong", "thread 0 of block 3: a[2], which is wrong",
        "thread 0 of block 0: a[1]", "thread 1 of block 0: a[0]", "and 2 more",
    ]  # fmt: skip
    del writers["a", 4], writers["a", 5]
    seen = replace(seen, watch=lambda changed: Run({}, writers=writers))
    ((_, text),) = [(row.label, row.text) for row in report._indices_of_threads(seen)]
    assert len(text.split("\n")) == 4
    right = made(output("a", 6), watch=lambda changed: Run({}, writers=writers))
    assert list(report._indices_of_threads(right)) == []
    assert list(report._indices_of_threads(replace(seen, watch=None))) == []


def test_what_went_wrong_on_weak_memory() -> None:
    """A wrong result, a launch that does not end, or one that is stopped; the ordinary launch may have had a fault."""
    again = ". Put the launch into a block `with gpulab.weak(3):` to see the same again"
    late = "with loads and stores that are late and out of order"
    after = {array.name: array.wanted.reshape(-1).copy() for array in RIGHT.case.arrays}
    after["a"][1] = 9
    for found, said in (
        (None, "the result is wrong"), (fault("timeout"), "the launch does not end"),
        (fault("null"), f"the launch is stopped ({' '.join(faults.describe(fault('null'))[0].split())})"),
    ):  # fmt: skip
        weak = Weak(3, Run(after, found))
        label, text = seen_rows(replace(RIGHT, weak=weak))[0]
        assert (label, text) == ("weak memory", f"an ordinary launch is right; {late} {said}{again}")
    assert [label for label, _ in seen_rows(replace(RIGHT, weak=weak))] == ["weak memory", "wrong", "values"]
    racing = replace(RIGHT, tight=replace(RIGHT.tight, fault=fault("timeout")), weak=Weak(3, Run(after)))
    assert seen_rows(racing)[1] == ("weak memory", f"{late} the result is wrong{again}")
    tried = [replace(each, case=replace(each.case, weak=count)) for each, count in ((RIGHT, 2), (RIGHT, 3))]
    text = dict(rows(report.accepted(tiny(), tried)))["tried"]
    assert text == "2 runs on gfx942 (wave64) with n = 1, and 5 runs on weak memory"


# ------------------------------------------------------------------------------------------------------- programs


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, []), ({"exit_code": 3}, [("exit code", "3, expected is 0")]),
        ({"exit_code": -11}, [("exit code", "SIGSEGV (the system stopped it), expected is 0")]),
        ({"exit_code": -250}, [("exit code", "signal 250 (the system stopped it), expected is 0")]),
        ({"stdout": "two"}, [("output", "line 1 should be\n  one\nbut is\n  two")]),
        ({"stderr": "a\nb\n\n"}, [("messages", "a\nb")]), ({"stderr": " \n"}, []),
        ({"stderr": "1\n2\n3\n4\n5\n6"}, [("messages", "1\n2\n3\n4\n5\n6")]),
        ({"stderr": "0\n1\n2\n3\n4\n5\n6"}, [("messages", "...\n1\n2\n3\n4\n5\n6")]),
        ({"stderr": "x" * 500}, [("messages", "x" * 119 + "…")]),
    ],
)  # fmt: skip
def test_what_is_seen_of_a_program(changes: dict[str, Any], found: list[tuple[str, str]]) -> None:
    assert [(row.label, row.text) for row in report._seen_of_program(program(**changes))] == found


def test_a_stopped_kernel_explains_the_rest() -> None:
    for stdout, labels in (("", ["stopped"]), (" \n", ["stopped"]), ("two", ["stopped", "output"])):
        seen = program(faults=(fault(),), exit_code=1, stderr="messages", stdout=stdout)
        assert [row.label for row in report._seen_of_program(seen)] == labels


def test_advice_on_programs() -> None:
    found = report.rejected(tiny(), Failure[Any](program(stdout="two"), None), [], {})
    text = dict(rows(found))
    assert (found.status, found.smallest) == ("wrong", {})
    assert text["likely cause"].endswith("The output above is all the evidence.")
    assert text["next"].startswith("Print what the program computes")


def test_which_rows_keep_their_lines() -> None:
    """Tables, code and what others wrote; sentences are wrapped."""
    racing = stopped(RIGHT, kind="race", address=2004, other=Access(None, "s", (1, 0, 0), 0, 0, (5, 0, 0), "write"))
    writers = {("a", 2): Access(None, "s", (0, 0, 0), 0, 0, (1, 0, 0), "write")}
    wrong = replace(WRONG, watch=lambda changed: Run({}, writers=writers))
    beside_it = beside(stopped(RIGHT, address=2016), "a", -1)
    weak = replace(RIGHT, weak=Weak(3, Run({array.name: array.wanted for array in RIGHT.case.arrays})))
    asked = Requirement[Any]("few", "few loads", lambda seen: "", "Count them.")
    failures = [
        *(Failure[Any](seen, None) for seen in (racing, wrong, beside_it, weak)), Failure[Any](RIGHT, None, asked, "9"),
        *(Failure[Any](program(**changes), OWN) for changes in (
            {"stdout": "two", "stderr": "why", "exit_code": 3}, {"faults": (fault(),)})),
    ]  # fmt: skip
    verdicts = [report.rejected(tiny(), each, [RIGHT], {("gfx1100", 32): True}) for each in failures]
    verdicts += [report.does_not_compile(tiny(), "x"), report.cannot_be_run(tiny(), "x"), report.stopped("tiny", "x")]
    verdicts += [report.not_judged("tiny", "x"), report.accepted(tiny(requirements=(asked,)), [RIGHT])]
    blocks = [{row.label for row in verdict.rows if row.block} for verdict in verdicts]
    assert blocks == [
        {"found"}, {"values", "who wrote"}, set(), set(), set(), {"output", "messages"}, {"stopped"},
        {"compiler"}, {"what"}, set(), set(), set(),
    ]  # fmt: skip
    labels = [row.label for verdict in verdicts for row in verdict.rows]
    assert set(labels) == {
        "tried", "fails with", "and on", "found", "likely cause", "next", "read", "stuck?", "wrong", "values",
        "who wrote", "stopped", "beside it", "weak memory", "required", "measured", "exit code", "output", "messages",
        "compiler", "what", "met",
    }  # fmt: skip


# ------------------------------------------------------------------------------------------------------- the library


def test_links_from_the_working_directory(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "top" / "notebooks").mkdir(parents=True)
    (tmp_path / "top" / "notebooks" / "a.ipynb").write_text("")
    inner = tmp_path / "top" / "exercises" / "x"
    inner.mkdir(parents=True)
    monkeypatch.setattr(library, "clone", lambda: None)
    for here, link in ((tmp_path / "top", "notebooks/a.ipynb"), (inner, "../../notebooks/a.ipynb"), (tmp_path, "")):
        monkeypatch.chdir(here)
        assert library.from_here("notebooks/a.ipynb") == link
        assert library.from_here("notebooks/a.ipynb#The-part") == (link and f"{link}#The-part")
    monkeypatch.setattr(library, "clone", lambda: tmp_path / "clone")
    assert library.from_here("notebooks/b.ipynb#s") == "clone/notebooks/b.ipynb#s"

    def gone() -> None:
        raise OSError

    monkeypatch.setattr(library.Path, "cwd", gone)
    assert library.from_here("notebooks/b.ipynb#s") == "notebooks/b.ipynb#s"


def test_the_line_of_an_error(tmp_path: Any) -> None:
    path = tmp_path / "check.py"
    assert library._line_of(SyntaxError("x", ("f", 4, 1, "")), path) == ", line 4"
    assert library._line_of(ValueError(), path) == ""
    with pytest.raises(ZeroDivisionError) as found:
        exec(compile("\n\ndef f():\n    1 / 0\nf()\n", str(path), "exec"), {})
    assert library._line_of(found.value, path) == ", line 4"
    assert library._line_of(found.value, tmp_path / "other.py") == ""
