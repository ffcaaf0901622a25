"""What opens a block: wrong calls, and results that are used without ``with``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gpulab
from gpulab import ArgumentError

ADD = "__global__ void add(int* x) { x[threadIdx.x] += 1; }"


@pytest.fixture(scope="module")
def add() -> gpulab.Kernel:
    return gpulab.compile(ADD)["add"]


@pytest.mark.parametrize(
    ("function", "arguments", "problem"),
    [
        (gpulab.checked, (3,), "too many positional arguments"),
        (gpulab.weak, (), "missing a required argument: 'seed'"),
        (gpulab.using, (), "missing a required argument: 'which'"),
    ],
)
def test_a_wrong_call_is_refused_at_once(
    function: Callable[..., Any], arguments: tuple[Any, ...], problem: str
) -> None:
    with pytest.raises(ArgumentError, match=rf"gpulab\.\w+: {problem}") as error:
        function(*arguments)
    assert "Try: with gpulab." in str(error.value)


@pytest.mark.parametrize("function", [gpulab.profile, gpulab.weak, gpulab.checked, gpulab.using])
def test_a_kernel_is_no_argument(function: Callable[..., Any], add: gpulab.Kernel) -> None:
    for kernel in (add, add[1, 4]):
        with pytest.raises(ArgumentError, match="gpulab"):
            function(kernel)


def test_without_with_it_says_that_it_does_nothing() -> None:
    opened = gpulab.profile()
    assert "does nothing by itself" in repr(opened)
    assert "with gpulab.profile() as run:" in repr(opened)
    with pytest.raises(AttributeError, match="no attribute 'timeline': it opens a block"):
        opened.timeline()


def test_it_opens_a_block_and_decorates(add: gpulab.Kernel) -> None:
    x = gpulab.zeros(4, "int32")
    with gpulab.profile() as run:
        add[1, 4](x)
    assert len(run) == 1

    @gpulab.using("gfx942")
    def twice() -> str:
        return gpulab.device().arch

    assert [twice(), twice()] == ["gfx942", "gfx942"]
    assert "Record every launch" in (gpulab.profile.__doc__ or "")


@pytest.mark.parametrize(
    "use",
    [
        lambda run: run[0],
        lambda run: run.source(),
        lambda run: run.coalescing(),
        lambda run: run.metric("SQ_WAVES"),
        lambda run: run.roofline(),
        lambda run: run.lines(),
    ],
)
def test_a_run_without_launches_says_so(use: Callable[[Any], Any]) -> None:
    with gpulab.profile() as run:
        pass
    with pytest.raises(gpulab.LaunchNotFound, match="no kernel was launched inside the profile block") as error:
        use(run)
    assert "Try: put the launch into the block" in str(error.value)
    assert isinstance(error.value, IndexError)


def test_a_launch_that_a_run_has_not(add: gpulab.Kernel) -> None:
    x = gpulab.zeros(4, "int32")
    with gpulab.profile() as run:
        add[1, 4](x)
        add[1, 4](x)
    with pytest.raises(
        gpulab.LaunchNotFound, match=r"there is no launch 2: the profile block has 2\.\nTry: run\[0\] to"
    ):
        run[2]
    assert [launch.kernel for launch in run] == ["add", "add"]


@pytest.mark.parametrize(("function", "more"), [(gpulab.fidelity, ()), (gpulab.occupancy, ()), (gpulab.trace, (1, 64))])
def test_what_takes_a_kernel_says_what_it_was_given(
    function: Callable[..., Any], more: tuple[Any, ...], add: gpulab.Kernel
) -> None:
    name = function.__name__
    for given, said in (
        ("add", "was given the text 'add'.\nTry: write the kernel's name without quotation marks"),
        (add[1, 64], "was given a kernel with its sizes, add[grid, block].\nTry: give the kernel alone, add;"),
        (3, "was given 3."),
    ):
        with pytest.raises(ArgumentError) as error:
            function(given, *more)
        assert str(error.value).startswith(f"gpulab.{name} takes a kernel, and {said}")


def test_a_launch_without_arguments_says_that_nothing_ran(add: gpulab.Kernel) -> None:
    assert repr(add[1, 64]) == "add[(1, 1, 1), (64, 1, 1), 0], not launched: its arguments follow in parentheses"


def test_an_index_of_banks_may_be_a_number() -> None:
    assert "index 33" in gpulab.lds_banks(33).text  # type: ignore[arg-type]


def test_lists_that_are_no_array() -> None:
    for values in ([[1, 2], [3]], [1, "a", [2]]):
        with pytest.raises(gpulab.DeviceMemoryError):
            gpulab.to_device(values)  # type: ignore[arg-type]
    with pytest.raises(gpulab.DeviceMemoryError, match="all rows of a matrix need the same length"):
        gpulab.to_device([[1, 2], [3]])
    with pytest.raises(AttributeError, match=r"no attribute 'to_hots'\. Did you mean to_host\?"):
        gpulab.to_device([1]).to_hots()


def test_an_exercise_and_a_kernel_in_the_wrong_order(add: gpulab.Kernel) -> None:
    with pytest.raises(gpulab.CheckError, match="named by a text, and this is a Kernel") as error:
        gpulab.check(add, "first-fill")  # type: ignore[arg-type]
    assert 'gpulab.check("first-fill", fill)' in str(error.value)
