"""Where exercises are found, and what is said where there is none, in a folder that is written here."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpulab.errors import CheckError
from gpulab.grading import library


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(library, "definitions", lambda: tmp_path)
    for id in ("wave", "wave-1", "wave-12", "wave-123"):
        (tmp_path / id).mkdir()
        (tmp_path / id / "check.py").write_text("")
    (tmp_path / "wave-1234").mkdir()  # without a definition
    return tmp_path


@pytest.mark.parametrize(
    ("asked", "near"),
    [
        ("Wave_1234", "did you mean 'wave-123' or 'wave-12' or 'wave-1'? "),  # three at most, the likeliest first
        ("wave-1234", "did you mean 'wave-123' or 'wave-12' or 'wave-1'? "),
        ("WAVE 12", "did you mean 'wave-12' or 'wave-123' or 'wave-1'? "),
        ("wavxxxxx", "did you mean 'wave'? "),  # six of twelve characters: half of them
        ("zzz", ""),
    ],
)
def test_names_that_are_near(folder: Path, asked: str, near: str) -> None:
    with pytest.raises(CheckError) as error:
        library.load(asked)
    assert error.value.what == f"There is no exercise {asked!r}."
    assert error.value.hint == f"{near}The exercises are: wave, wave-1, wave-12, wave-123."


BAD = "from gpulab.grading.exercise import Exercise\nfrom gpulab.grading.program import ProgramExercise\n"


@pytest.mark.parametrize(
    ("text", "what", "hint"),
    [
        ("x = 1\nx = (", "wave/check.py, line 2 cannot be loaded: SyntaxError: '(' was never closed (check.py, line 2)",
         ""),
        ("x = 1\n\n1 / 0", "wave/check.py, line 3 cannot be loaded: ZeroDivisionError: division by zero", ""),
        ("def f():\n    raise KeyError(5)\n\nf()", "wave/check.py, line 2 cannot be loaded: KeyError: 5", ""),
        ("import gpulab_has_no_such_module", "wave/check.py, line 1 cannot be loaded: ModuleNotFoundError: "
         "No module named 'gpulab_has_no_such_module'", ""),
        ("from gpulab.errors import CheckError\nraise CheckError('So it is.')",
         "wave/check.py, line 2 cannot be loaded: So it is.", ""),
        ("", "wave/check.py must define `exercise`, an Exercise or a ProgramExercise; there is nothing of that name.",
         "docs/exercises.md shows one."),
        ("exercise = 5", "wave/check.py must define `exercise`, an Exercise or a ProgramExercise; there is a int.",
         "docs/exercises.md shows one."),
        (BAD + "Exercise(colour=3)", "wave/check.py, line 3: Exercise has no field colour.",
         "docs/exercises.md lists the fields, and which of them may be left out."),
        ("from gpulab.grading.case import Value\nValue('n')", "wave/check.py, line 2: Value lacks the field value.",
         "docs/exercises.md lists the fields, and which of them may be left out."),
        ("from gpulab.grading.case import Value\n\nValue()",
         "wave/check.py, line 3: Value lacks the fields name, value.",
         "docs/exercises.md lists the fields, and which of them may be left out."),
        ("len()", "wave/check.py, line 1 cannot be loaded: TypeError: len() takes exactly one argument (0 given)", ""),
    ],
)  # fmt: skip
def test_a_definition_that_cannot_be_used(folder: Path, text: str, what: str, hint: str) -> None:
    (folder / "wave" / "check.py").write_text(text)
    with pytest.raises(CheckError) as error:
        library.load("wave")
    assert (error.value.what, error.value.hint) == (what, hint)
