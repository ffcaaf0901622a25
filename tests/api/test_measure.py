"""gpulab.measure: what it repeats and what it says of the times."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gpulab
from gpulab.measure import Measurement

SPIN = """
__global__ void spin(int* turns, float* out)
{
    float value = threadIdx.x;
    for (int i = 0; i < turns[0]; i++) value = value * 0.5f + 1;
    out[threadIdx.x] = value;
}
__global__ void more(int* turns) { if (threadIdx.x == 0) turns[0] += 1000; }
"""


@pytest.fixture(params=["virtual:gfx942", "virtual:gfx1100"])
def spin(request: pytest.FixtureRequest) -> Iterator[gpulab.Module]:
    with gpulab.using(request.param):
        yield gpulab.compile(SPIN)


def test_modelled_times_are_those_of_a_profile_and_do_not_vary(spin: gpulab.Module) -> None:
    turns, out = gpulab.to_device(np.array([100], "int32")), gpulab.empty(64)
    measured = gpulab.measure(lambda: spin.spin[1, 64](turns, out))
    with gpulab.profile() as run:
        spin.spin[1, 64](turns, out)
    assert (measured.modelled, measured.warm_up, len(measured.times_us)) == (True, 0, 2)
    assert measured.times_us == pytest.approx([run[0].time_us] * 2, rel=1e-4)
    assert str(measured) == repr(measured) == f"{run[0].time_us:.2f} µs, modelled: it does not vary (2 runs)"
    assert measured.interval_us is None
    assert (
        str(Measurement((2.0, 1.0))) == "median 1.50 µs, from 1.00 to 2.00 (2 runs)"
    )  # nothing warmed up, if not said


def test_modelled_times_of_runs_that_do_different_work(spin: gpulab.Module) -> None:
    turns, out = gpulab.to_device(np.array([0], "int32")), gpulab.empty(64)

    def work() -> None:
        spin.more[1, 64](turns)
        spin.spin[1, 64](turns, out)

    measured = gpulab.measure(work, 3)
    assert turns.to_host()[0] == 3000, "nothing is run beside the three runs"
    assert list(measured.times_us) == sorted(set(measured.times_us)), "each takes longer than the one before"
    assert str(measured).endswith("µs, modelled: the 3 runs did different work")


def test_work_in_a_stream_of_its_own(spin: gpulab.Module) -> None:
    turns, out = gpulab.to_device(np.array([100], "int32")), gpulab.empty(64)
    with gpulab.Stream() as stream:
        inside = gpulab.measure(lambda: spin.spin[1, 64, 0, stream](turns, out), stream=stream)
    outside = gpulab.measure(lambda: spin.spin[1, 64](turns, out))
    assert inside.times_us == pytest.approx(outside.times_us, rel=1e-4)


@pytest.mark.parametrize("runs", [0, -1, 2.5, "many"])
def test_no_such_number_of_runs(runs: Any) -> None:
    with pytest.raises(gpulab.ArgumentError, match="from 1 on"):
        gpulab.measure(lambda: None, runs)


def test_a_launch_in_place_of_a_function(spin: gpulab.Module) -> None:
    turns, out = gpulab.to_device(np.array([1], "int32")), gpulab.empty(64)
    with pytest.raises(gpulab.ArgumentError, match="put lambda: before the launch"):
        gpulab.measure(spin.spin[1, 64](turns, out))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("count", "ranks"),
    [(5, None), (6, (1, 6)), (8, (1, 8)), (9, (2, 8)), (20, (6, 15)), (50, (18, 33)), (100, (40, 61))],
)
def test_the_interval_has_the_ranks_of_the_sign_test(count: int, ranks: tuple[int, int] | None) -> None:
    """By hand: of 9 coins less than 2 show heads in 10 of 512 cases, less than 3 in 46."""
    times = np.random.default_rng(count).permutation(np.arange(1.0, count + 1))
    assert Measurement(tuple(times)).interval_us == ranks


def test_nineteen_of_twenty_intervals_hold_the_median() -> None:
    """Of a distribution with a long tail, whose median is known: exp(0) = 1."""
    random = np.random.default_rng(7)
    inside = 0
    for _ in range(2000):
        found = Measurement(tuple(np.exp(random.normal(size=25)))).interval_us
        assert found is not None
        inside += found[0] <= 1 <= found[1]
    assert 0.95 <= inside / 2000 < 0.985


def test_quantiles_and_what_is_said_of_few_runs() -> None:
    few = Measurement((4.0, 1.0, 2.0), warm_up=1)
    assert (few.median_us, few.quantile_us(0), few.quantile_us(1), few.quantile_us(0.75)) == (2, 1, 4, 3)
    assert str(few) == "median 2.00 µs, from 1.00 to 4.00 (3 runs after 1 to warm up)"
    assert str(Measurement((1.5,), modelled=True)) == "1.50 µs, modelled: it does not vary (1 run)"
