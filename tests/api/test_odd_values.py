"""What the functions that show and measure say of values of another kind than they take."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gpulab

SOURCE = "__global__ void fill(int* a) { a[threadIdx.x] = 7; }\n__global__ void other() {}"


@pytest.fixture(scope="module")
def given() -> dict[str, Any]:
    module = gpulab.compile(SOURCE)
    with gpulab.profile() as run:
        module.fill[1, 4](gpulab.zeros(4, "int32"))
        module.other[1, 4]()
        module.fill[1, 4](gpulab.zeros(4, "int32"))
    return {"fill": module.fill, "run": run}


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda fill, run: gpulab.occupancy(fill, 1.0), "the block must be a whole number, not 1.0"),
        (lambda fill, run: gpulab.occupancy(fill, (-8, -8)), "the block's x is -8; it must be at least 1"),
        (lambda fill, run: gpulab.occupancy(fill, (1, 1, 1, 64)), "the block has 4 extents"),
        (lambda fill, run: gpulab.occupancy(fill, 64, 1.5), "must be a number of bytes, not 1.5"),
        (lambda fill, run: gpulab.occupancy(fill, 64, 0, 942), "There is no virtual GPU of architecture 942"),
        (lambda fill, run: gpulab.chip(fill), "named by a text, not by a Kernel"),
        (lambda fill, run: gpulab.chip("", 942), "There is no virtual GPU of architecture 942"),
        (lambda fill, run: gpulab.instruction(fill), "kernel.isa shows the instructions of a kernel"),
        (lambda fill, run: gpulab.measure(lambda: None, warm_up_ms=float("inf")), "from 0 on, not inf"),
        (lambda fill, run: gpulab.measure(lambda: None, warm_up_ms="1"), "from 0 on, not '1'"),
        (lambda fill, run: run.lines("fill"), "not by the text 'fill'.\nTry: fill has the numbers 0, 2."),
        (lambda fill, run: run[fill], "Try: fill has the numbers 0, 2."),
        (lambda fill, run: run.table(1.5), "from 0 on, not by 1.5."),
        (lambda fill, run: run.metric(None), "a counter or a metric is named by a text, not by a NoneType"),
        (lambda fill, run: run.compare(None), "a run is compared with another one, and was given None"),
    ],
)
def test_another_kind_of_value_is_named(given: dict[str, Any], call: Callable[..., object], said: str) -> None:
    with pytest.raises(gpulab.GpulabError) as raised:
        call(**given)
    assert said in str(raised.value)


@pytest.fixture
def device() -> Iterator[None]:
    before = gpulab.device().index
    yield
    gpulab.use(before)
    gpulab.set_limit(None)


def test_whole_numbers_of_numpy_are_whole_numbers(device: None) -> None:
    assert [gpulab.use(index).index for index in np.arange(2)] == [0, 1]
    gpulab.set_limit(np.int64(1_000_000))
    with pytest.raises(gpulab.LaunchLimitError, match=r"not 1\.0"):
        gpulab.set_limit(1.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("result", ["hipSuccess", None, (), [0], True])
def test_what_is_no_result_of_a_hip_call(result: object) -> None:
    with pytest.raises(gpulab.ArgumentError, match="takes what a call of hip-python returned, and was given"):
        gpulab.hip.check(result)
    assert gpulab.hip.check((0, 5)) == 5
