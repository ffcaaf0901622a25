"""Answers that know the cases of an exercise: with a seed there are others."""

import pytest

from gpulab.grading.answers import right_answers
from gpulab.grading.judge import judged
from gpulab.grading.library import load

SAXPY = """
__global__ void saxpy(int n, float a, const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool known = n == 0 || n == 20 || n == 31 || n == 64 || n == 100 || n == 257 || n == 1 || n == 10000;
    if (i < n && CONDITION) y[i] = a * x[i] + y[i];
    REST
}"""


@pytest.mark.parametrize(
    ("condition", "rest", "criterion"),
    [
        ("known", "", "hidden"),
        ("known", "if (!known && i == 0) for (int k = 0; k < n; k++) y[k] = a * x[k] + y[k];", "work-not-shared"),
        ("(known || a < 10)", "if (!known && i == n) y[i] = 0;", "faults"),
    ],
)
def test_what_is_right_for_the_known_sizes_alone_is_rejected_with_a_seed(condition, rest, criterion):
    exercise = load("saxpy-guard")
    source = SAXPY.replace("CONDITION", condition).replace("REST", rest)
    assert judged(exercise, source).passed
    for seed in range(3):
        verdict = judged(exercise, source, seed=seed)
        assert not verdict.passed
        assert [each.name for each in verdict.criteria if each.passed is False] == [criterion], verdict.text


def test_a_right_answer_passes_with_any_seed():
    exercise = load("saxpy-guard")
    for source in right_answers("saxpy-guard").values():
        for seed in ("one", "other", 3):
            verdict = judged(exercise, source, seed=seed)
            assert verdict.passed, verdict.text
            assert all(each.passed for each in verdict.criteria)
