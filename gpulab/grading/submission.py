"""`check`: from what a learner passes to a verdict: find the source, judge it, note the attempt.

Only the text of kernels and programs is judged; nothing of the learner's Python runs here.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from gpulab import languages
from gpulab.errors import CheckError
from gpulab.grading import report
from gpulab.grading.bench import Bench
from gpulab.grading.drawing import Seed
from gpulab.grading.history import record_attempt
from gpulab.grading.judge import judged
from gpulab.grading.library import load
from gpulab.grading.verdict import Verdict


def check(
    id: str, answer: Any = None, *, bench: Bench | None = None, record: bool = True, seed: Seed | None = None
) -> Verdict:
    """Checks an answer to exercise `id` and returns a `Verdict`.

    Args:
        id: the exercise, for example "saxpy-guard".
        answer: a kernel, a module, or kernel source as text.
        bench: what compiles and runs it; by default the virtual devices.
        record: whether to note the attempt in the learner's progress.
        seed: draws further cases, as for a grading; the same ones for the same seed. No report tells their inputs.

    Raises CheckError if there is no such exercise, or if `answer` holds no kernel source.
    """
    exercise = load(id)
    source = source_of(id, answer, exercise.language)
    if source.strip() == exercise.kernel:
        raise CheckError(
            f"gpulab.check({id!r}, {source!r}): this is the kernel's name as a text, not the kernel.",
            hint=f"write it without quotation marks: gpulab.check({id!r}, {exercise.kernel}).",
        )
    verdict = judged(exercise, source, first_line_of(answer), bench, seed=seed)
    if not isinstance(answer, str) and is_outdated(source, exercise.kernel, cells_run(), exercise.language):
        verdict = replace(verdict, rows=(report.outdated(exercise.kernel), *verdict.rows))
    if record:
        message = record_attempt(id, verdict.passed, "" if verdict.passed else verdict.cause or verdict.status)
        if message:
            verdict = replace(verdict, rows=(*verdict.rows, report.progress(message)))
    return verdict


def cells_run() -> list[str]:
    """The text of the cells that were run in this notebook, oldest first; none outside of IPython."""
    import sys

    if "IPython" not in sys.modules:
        return []
    from IPython import get_ipython

    shell = get_ipython()
    history = getattr(shell, "history_manager", None)
    return [str(text) for text in getattr(history, "input_hist_raw", ())]


def is_outdated(source: str, kernel: str, cells: list[str], language: str = "hip") -> bool:
    """Did a later cell define this kernel with another text (which then did not compile)?"""
    own = languages.answers(language)
    for cell in reversed(cells):
        if own.magic:
            named = re.search(rf"\b{re.escape(kernel)}\s*\(", cell) is not None
            found = named and cell.lstrip().startswith(("%%hip", "%%cuda"))
        else:
            found = not cell.lstrip().startswith("%") and own.defines(cell, re.escape(kernel))
        if found:
            return source.strip() not in cell
    return False


def source_of(id: str, answer: Any, language: str = "hip") -> str:
    """The kernel text of a source, a kernel, a module or a code object, or of an object of the language's own.

    Raises CheckError if there is none.
    """
    if isinstance(answer, str):
        return answer
    own = languages.answers(language)
    if text := own.text_of(answer):
        return text
    for path in (("source",), ("code", "source"), ("module", "source"), ("module", "code", "source")):
        found = answer
        for name in path:
            found = getattr(found, name, None)
        if isinstance(found, str) and found.strip():
            return found
    raise CheckError(
        f"There is no kernel source in what was given to gpulab.check({id!r}, ...): {type(answer).__name__}.",
        why="a check compiles the kernel's text again, for each architecture.",
        hint=f"run the {f'%%{own.magic} ' if own.magic else ''}cell with your kernel first, then "
        f"gpulab.check({id!r}, name_of_your_kernel); a program gets its name by %%hipcc --name my_program.",
    )


def first_line_of(answer: Any) -> int:
    """The number that the source's first line has for the learner: 2 in a cell that begins with %%hip."""
    for path in (("_code", "first_line"), ("module", "_code", "first_line")):
        found = answer
        for name in path:
            found = getattr(found, name, None)
        if isinstance(found, int):
            return found
    return 1
