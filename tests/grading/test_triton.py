"""Answers in Triton, judged as those of a class are: their Python runs in the compiler's process alone."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gpulab import languages
from gpulab.classroom import notebook
from gpulab.classroom.assignments import PREPROCESSORS, language
from gpulab.classroom.notebook import Asked
from gpulab.grading import Grader, load
from gpulab.grading.answers import right_answers, wrong_answer
from gpulab.grading.exercise import Exercise
from gpulab.grading.submission import is_outdated, source_of

pytest.importorskip("triton", reason="the extra triton is not installed")

BLEND = Asked("triton-blend", "blend", language="triton")

SPY = """
import os

import numpy as np
import triton
import triton.language as tl

seen = {name for name in os.listdir(".")}
assert seen <= {"kernel.py", "request.json", "cache"}, seen
request = open("request.json").read()
assert "blend" in request and "300" not in request
for path in CHECKS:
    try:
        open(path).read()
    except OSError:
        continue
    raise AssertionError("the check was read")


@triton.jit
def blend(x, y, out, w, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    first = tl.load(x + at, mask=mask)
    tl.store(out + at, first + w * (tl.load(y + at, mask=mask) - first), mask=mask)
"""


@pytest.mark.full
def test_a_class_is_judged_by_a_worker() -> None:
    """A right answer, a wrong one, one that looks around while it is compiled, and one that does not end."""
    course = Path(__file__).parents[2] / "course" / "exercises" / "triton-blend"
    spy = SPY.replace("CHECKS", repr([str(course / "check.py"), str(course / "right" / "usual.py")]))
    with Grader(seconds=120) as grader:
        right = grader.grade("triton-blend", right_answers("triton-blend")["usual"], seed=3)
        assert (right.status, right.verdict.text) == ("accepted", right.verdict.text)
        wrong = wrong_answer("triton-blend", "mask-one-too-far")
        assert grader.grade("triton-blend", wrong.source).verdict.cause == wrong.cause
        looked = grader.grade("triton-blend", spy)
        assert looked.status == "accepted", looked.verdict.text
        broken = grader.grade("triton-blend", "import triton\nx = 1 / 0\n")
        assert broken.status == "does not compile"
        assert "triton-blend.py:2: ZeroDivisionError" in broken.verdict.text
    with Grader(seconds=15) as grader:
        assert grader.grade("triton-blend", "while True:\n    pass\n").status == "stopped"


def test_where_triton_is_missing_nothing_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    from gpulab.errors import GpulabError
    from gpulab.grading.judge import judged
    from gpulab.toolchain import triton as compiler

    monkeypatch.setattr(compiler, "missing", lambda: "Triton is not installed")
    with pytest.raises(GpulabError, match="Triton is not installed here"):
        judged(load("triton-blend"), right_answers("triton-blend")["usual"])


def test_the_answer_is_the_cell_with_the_kernel() -> None:
    cells = [
        {"cell_type": "code", "source": "import gpulab\ndevice = gpulab.use('gfx942')"},
        {"cell_type": "code", "source": "import triton\n\n@triton.jit\ndef other(x): pass"},
        {"cell_type": "code", "source": "import triton\n\n@triton.jit\ndef blend(x):\n    pass"},
        {"cell_type": "code", "source": "%%hip\n__global__ void blend() { }"},
        {"cell_type": "code", "source": "def blend(): pass"},
        {"cell_type": "code", "source": 'gpulab.check("triton-blend", blend).require()'},
    ]
    found = notebook.answer(notebook.cells(json.dumps({"cells": cells})), BLEND)
    assert found == cells[2]["source"]


def test_a_kernel_is_the_whole_cell_that_it_stands_in() -> None:
    """What it calls is needed, too."""
    from tests.guests import kernels

    text = Path(kernels.__file__).read_text(encoding="utf-8")
    assert source_of("triton-product", kernels.matmul_kernel, "triton") == text  # behind autotune
    assert languages.answers("triton").text_of(np.zeros(3)) == ""
    cells = ["import triton", "@triton.jit\ndef blend(x): pass", "blend[(1,)](x)"]
    assert not is_outdated(cells[1], "blend", cells, "triton")
    assert is_outdated("@triton.jit\ndef blend(x): x", "blend", cells, "triton")


def test_a_released_cell_has_a_stub_that_compiles() -> None:
    import nbformat

    head = "import triton\n\n\n@triton.jit\ndef blend(x, y):\n"
    source = head + "    # BEGIN SOLUTION\n    tl.store(x, 1)\n    # END SOLUTION\n"
    assert language(source) == "triton"
    assert language("import triton") == "python"
    clear = next(each for each in PREPROCESSORS if each.__name__ == "ClearSolutions")()
    cell = nbformat.v4.new_code_cell(source, metadata={"nbgrader": {"solution": True}})
    cleared, _ = clear.preprocess_cell(cell, {}, 0)
    assert cleared.source == head + "    # YOUR CODE HERE\n    pass\n"


def test_an_exercise_says_its_language_and_instances() -> None:
    exercise = load("triton-blend")
    assert isinstance(exercise, Exercise)
    asked = exercise.asked()
    assert (asked.language, asked.expressions) == ("triton", exercise.expressions)
    assert asked.kernels["blend"].start == "@triton.jit def blend(x, y, out, w, n, BLOCK: tl.constexpr):"
