"""A variable without a first value: the result is right by chance, and not accepted."""

from __future__ import annotations

import pytest

from gpulab.grading import load
from gpulab.grading.answers import right_answers
from gpulab.grading.gpu_bench import GpuBench
from gpulab.grading.judge import judge


@pytest.mark.parametrize(("id", "answer", "line"), [("row-per-wave", "usual", 7), ("halo-mean", "loop", 12)])
def test_a_variable_without_a_value_is_named(id: str, answer: str, line: int) -> None:
    """C++ gives a local variable no value: what is read is indeterminate ([dcl.init] of the standard)."""
    source = right_answers(id)[answer].replace("float sum = 0;", "float sum;")
    verdict = judge(load(id), source, GpuBench(), explained=False)  # type: ignore[arg-type]
    assert (verdict.status, verdict.cause) == ("requirement", "first-values")
    assert f"line {line}: variable 'sum' is uninitialized" in " ".join(verdict.text.split())
