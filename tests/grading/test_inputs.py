"""The inputs that a report shows beside an element are all that its value comes from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpulab.grading import exercise_ids, load
from gpulab.grading.answers import right_answers
from gpulab.grading.case import Array, Buffer, Case
from gpulab.grading.exercise import Exercise
from gpulab.grading.gpu_bench import GpuBench

KERNELS = [name for name in exercise_ids() if isinstance(load(name), Exercise)]


def with_other_inputs(case: Case, kept: dict[str, set[int]], seed: int) -> Case:
    """The case with all input elements exchanged but those that are kept; each array has the same values as before."""
    random = np.random.default_rng(seed)
    arguments = []
    for each in case.arguments:
        if isinstance(each, Array) and each.is_given:
            flat = each.data.reshape(-1).copy()
            free = np.array([n for n in range(flat.size) if n not in kept.get(each.name, ())], int)
            flat[free] = flat[random.permutation(free)]
            each = replace(each, data=flat.reshape(each.data.shape))
        arguments.append(each)
    return replace(case, arguments=tuple(arguments))


@pytest.mark.full
@pytest.mark.parametrize("name", KERNELS)
def test_a_value_comes_from_no_other_input(name: str) -> None:
    exercise = load(name)
    assert isinstance(exercise, Exercise)
    cases = [exercise.case(each, 64) for each in exercise.cases]
    case = min(cases, key=lambda case: (min(array.data.size for array in case.outputs) < 16, case.threads))
    told = [
        (array.name, index)
        for array in case.outputs
        for index in sorted({0, 1, array.data.size // 2, array.data.size - 1} & set(range(array.data.size)))
        if exercise.inputs_of(case, array.name, index)
    ][:4]
    if not told:
        return
    source = next(iter(right_answers(name).values()))
    kernel = GpuBench().prepare(source, exercise.asked(), "gfx942")

    def after(each: Case) -> dict[str, np.ndarray]:
        run = kernel.run(each, [Buffer(array, 0) for array in each.arrays], exercise.limit(each))
        assert run.fault is None
        return {array: values.reshape(-1) for array, values in run.after.items()}

    before = after(case)
    for array, index in told:
        kept: dict[str, set[int]] = {}
        for other, place in exercise.inputs_of(case, array, index):
            kept.setdefault(other, set()).add(place)
        for seed in (1, 2):
            changed = after(with_other_inputs(case, kept, seed))
            assert changed[array][index] == pytest.approx(before[array][index], rel=1e-6), (array, index, kept)
