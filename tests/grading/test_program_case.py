"""Cases of programs: the command line in words, and what a report says of an output; what an exercise of them is."""

from __future__ import annotations

from typing import Any

import pytest

from gpulab.errors import CheckError
from gpulab.grading.exercise import Cause, Requirement
from gpulab.grading.program import ProgramExercise
from gpulab.grading.program_case import ProgramCase, cut

WANTED = "one\ntwo  \nthree\n\n"


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (WANTED, ""), ("one  \ntwo\nthree", ""), ("one\ntwo\nthree\n \n", ""),
        ("one\nTwo\nthree", "line 2 should be\n  two\nbut is\n  Two"),
        ("two\none\nthree", "line 1 should be\n  one\nbut is\n  two"),
        (" one\ntwo\nthree", "line 1 should be\n  one\nbut is\n   one"),
        ("one\ntwo\nthree\nfour\nfive", "there is more than 3 lines: line 4 is\n  four"),
        ("one\ntwo", "there are 2 lines instead of 3: missing is\n  three"),
        ("one", "there are 1 line instead of 3: missing is\n  two"),
        ("", "line 1 should be\n  one\nbut is\n  "),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_output(found: str, said: str) -> None:
    """Spaces at the end of lines and of the output do not count."""
    assert ProgramCase((), WANTED).complaint(found) == said


def test_a_function_may_say_what_is_wrong() -> None:
    case = ProgramCase((), lambda stdout: f"not {stdout}")
    assert case.complaint("x\n") == "not x\n"
    assert ProgramCase((), "a").complaint("a\nb") == "there is more than 1 line: line 2 is\n  b"


def test_a_line_of_120_characters_is_shown_whole() -> None:
    assert cut("x" * 120) == "x" * 120
    assert cut("x" * 121) == "x" * 119 + "…"


@pytest.mark.parametrize(
    ("case", "text"),
    [
        (ProgramCase(), "./program"), (ProgramCase(("5", "a b")), "./program 5 'a b'"),
        (ProgramCase(("5",), stdin="1\n2\n"), "./program 5 with 2 lines of input"),
    ],
)  # fmt: skip
def test_the_command_line_in_words(case: ProgramCase, text: str) -> None:
    assert case.text() == text


def made(**changes: Any) -> ProgramExercise:
    settings = {"id": "sum", "title": "a sum", "lesson": "02_simt", "section": "A", "cases": (ProgramCase(("1",)),),
                "causes": (), "hints": ("a", "b", "c")}  # fmt: skip
    return ProgramExercise(**{**settings, **changes})


def test_an_exercise_of_programs() -> None:
    found = made()
    assert (found.minutes, found.archs, found.seconds, found.instruction_limit) == (
        20, ("gfx942", "gfx1100"), 30.0, 2_000_000
    )  # fmt: skip
    assert (found.kernel, found.language, found.built_for, found.drawn) == ("main", "hip", found.archs, None)
    cases = (ProgramCase(devices=("gfx90a", "gfx942")), ProgramCase(devices=("gfx1201", "gfx90a")))
    assert made(cases=cases).built_for == ("gfx942", "gfx1100", "gfx90a", "gfx1201")


CAUSE = Cause[Any]("same", "t", lambda seen: False, "why", "next")
HINTS, IDS = "it needs three hints", "its id must be lower case words joined by hyphens"
TWICE = "two causes or requirements have the same name"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"id": "Sum"}, IDS), ({"id": "a--b"}, IDS), ({"hints": ("a", "b")}, HINTS),
        ({"hints": ("a", " ", "c")}, HINTS), ({"hints": ("a", "b", "c", "d")}, HINTS),
        ({"cases": ()}, "it has no cases"), ({"causes": (CAUSE, CAUSE)}, TWICE),
        ({"causes": (CAUSE,), "requirements": (Requirement[Any]("same", "t", lambda seen: ""),)}, TWICE),
        ({"id": "", "cases": ()}, f"{IDS}; it has no cases"),
    ],
)  # fmt: skip
def test_an_exercise_that_is_not_well_formed(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(CheckError) as error:
        made(**changes)
    assert error.value.what == f"Exercise {changes.get('id', 'sum')!r} is not well formed: {said}."
