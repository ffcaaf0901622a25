"""Where the numbers that a program prints come from: what was copied, and which bytes kernels had stored, by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpulab.grading.from_kernels import arrived, complaint, nothing_came, other_input
from gpulab.grading.program_case import ProgramCase
from gpulab.records import Transfer

NUMBERS = (3, 1, 4, 1, 5, 9, 2, 6)


def copied(data: bytes, stored: Any = (), back: bool = True, shown: bool = True) -> Transfer:
    """A copy of these bytes; `stored`: the places of those that a kernel had stored, or True for all."""
    bits = np.zeros(len(data), np.uint8)
    bits[range(len(data)) if stored is True else list(stored)] = 1
    packed = np.packbits(bits, bitorder="little").tobytes().hex()
    direction = "device to host" if back else "host to device"
    return Transfer(direction, len(data), int(bits.sum()), data.hex() if shown else "", packed)


def raw(numbers: Any, dtype: str = "int32") -> bytes:
    return np.array(numbers).astype(dtype).tobytes()


def outcome(
    *transfers: Transfer, computed: Any = (NUMBERS,), given: Any = (), launches: Any = (1,), fault: Any = None
) -> Any:
    case = ProgramCase(computed=computed, given=given)
    return SimpleNamespace(case=case, run=SimpleNamespace(transfers=transfers), launches=launches, fault=fault)


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_results_that_kernels_stored_are_fine(dtype: str) -> None:
    seen = outcome(copied(raw(NUMBERS, dtype), True))
    assert complaint(seen) == ""
    assert arrived(seen)


def test_numbers_with_fractions() -> None:
    numbers = (0.5, 1.25, -3.75, 8.0)
    for dtype in ("float32", "float64"):
        seen = outcome(copied(raw(numbers, dtype), True), computed=(numbers,))
        assert (complaint(seen), arrived(seen)) == ("", True)
    seen = outcome(copied(raw((0, 1, -3, 8)), True), computed=(numbers,))
    assert "does not hold the results" in complaint(seen), "whole numbers are not those with fractions"
    assert not arrived(seen)


NOT_STORED = "the results came to the host as the host had put them into device memory: no kernel stored them"


@pytest.mark.parametrize(
    ("transfers", "said", "came"),
    [
        ([], "nothing that a kernel stored came to the host", False),
        ([copied(raw(NUMBERS))], "nothing that a kernel stored came to the host", False),
        ([copied(raw(NUMBERS), [0])], NOT_STORED, False),
        ([copied(raw(NUMBERS), range(20))], NOT_STORED, False),  # 5 of 8: less than three quarters
        ([copied(raw(NUMBERS), range(24))], "", True),  # 6 of 8
        ([copied(raw(NUMBERS), range(0, 24, 4))], "", True),  # a byte of each that changed
        ([copied(b"abc" + raw(NUMBERS) + b"d", range(3, 35))], "", True),  # with others around them
        ([copied(b"abc" + raw(NUMBERS) + b"d", range(3))], NOT_STORED, False),
        ([copied(raw(NUMBERS)[:16], True), copied(raw(NUMBERS)[16:], True)], "", True),  # in pieces
        ([copied(raw(NUMBERS)[:16], True), copied(raw(NUMBERS)[16:])], NOT_STORED, False),
        ([copied(raw(NUMBERS)[:16], True)], "what kernels stored and the host copied does not hold", False),
        ([copied(raw(NUMBERS)[:3], True)], "what kernels stored and the host copied does not hold", False),
        ([copied(raw(NUMBERS[::-1]), True)], "what kernels stored and the host copied does not hold", False),
        ([copied(raw(NUMBERS), back=False), copied(raw(NUMBERS), True)],
         "the host copied the results to the device, where kernels are to compute them", True),
        ([copied(raw(NUMBERS, "float64"), back=False), copied(raw(NUMBERS), True)],
         "the host copied the results to the device, where kernels are to compute them", True),
        ([copied(raw(NUMBERS)[:-1], back=False), copied(raw(NUMBERS), True)], "", True),
        ([copied(raw(NUMBERS), True, shown=False)], "", False),  # too many bytes to be kept
        ([copied(raw(NUMBERS), range(24), shown=False)], "", False),
        ([copied(raw(NUMBERS), range(23), shown=False)], "what kernels stored and the host copied does not", False),
    ],
)  # fmt: skip
def test_what_came_to_the_host(transfers: list[Transfer], said: str, came: bool) -> None:
    seen = outcome(*transfers)
    assert complaint(seen).startswith(said)
    assert bool(complaint(seen)) == bool(said)
    assert arrived(seen) == came


def test_zeros_say_nothing_of_who_stored_them() -> None:
    """A store of 0 over 0 is not seen; of results that are all 0 nothing is asked."""
    numbers = (0, 0, 0, 0, 0, 7, 8, 9)
    assert complaint(outcome(copied(raw(numbers), range(20, 32)), computed=(numbers,))) == ""
    assert complaint(outcome(copied(raw(numbers), range(24, 32)), computed=(numbers,))) == NOT_STORED
    assert complaint(outcome(copied(raw((0, 0))), computed=((0, 0),))) == ""
    assert complaint(outcome(computed=())) == ""


def test_each_result_is_looked_for() -> None:
    other = (10, 20, 30, 40)
    seen = outcome(copied(raw(NUMBERS), True), computed=(NUMBERS, other))
    assert "does not hold the results" in complaint(seen)
    assert not arrived(seen)
    seen = outcome(copied(raw(NUMBERS), True), copied(raw(other), True), computed=(NUMBERS, other))
    assert (complaint(seen), arrived(seen)) == ("", True)


@pytest.mark.parametrize(("numbers", "told"), [((1, 2, 3), ""), ((1, 2, 3, 3), ""), ((1, 2, 3, 4), "the host copied")])
def test_few_numbers_may_go_to_the_device_by_accident(numbers: tuple[int, ...], told: str) -> None:
    seen = outcome(copied(raw(numbers), back=False), copied(raw(numbers), True), computed=(numbers,))
    assert complaint(seen).startswith(told)
    assert bool(complaint(seen)) == bool(told)


@pytest.mark.parametrize(("numbers", "enough"), [((5, 5, 5), False), ((1, 2, 1), False), ((1, 2, 3), True)])
def test_that_few_numbers_came_says_nothing(numbers: tuple[int, ...], enough: bool) -> None:
    assert arrived(outcome(copied(raw(numbers), True), computed=(numbers,))) is enough
    assert not arrived(outcome(copied(raw(numbers), True), computed=()))


@pytest.mark.parametrize(
    ("transfers", "other"),
    [
        ([copied(raw(NUMBERS), back=False)], False),
        ([copied(raw(NUMBERS, "float64"), back=False)], False),
        ([copied(b"x" + raw(NUMBERS) + b"y", back=False)], False),
        ([copied(raw(range(8)), back=False)], True),
        ([copied(raw(range(8), "int64"), back=False)], True),
        ([copied(raw(range(8)), back=False), copied(raw(NUMBERS), back=False)], False),
        ([copied(raw(range(7)), back=False)], False),
        ([copied(raw(range(8)))], False),
        ([copied(raw(range(8)), back=False, shown=False)], False),
        ([], False),
    ],
)
def test_other_numbers_than_those_given(transfers: list[Transfer], other: bool) -> None:
    assert other_input(outcome(*transfers, given=(NUMBERS,))) is other
    assert not other_input(outcome(*transfers, given=()))


def test_of_two_inputs_each_counts() -> None:
    second = (7, 7, 8, 9)
    sent = copied(raw(NUMBERS), back=False)
    assert not other_input(outcome(sent, given=(NUMBERS, second)))
    assert other_input(outcome(sent, copied(raw((7, 7, 8, 8)), back=False), given=(NUMBERS, second)))
    within = copied(raw((*second, 7, 7, 7, 7)), back=False)
    assert other_input(outcome(within, copied(raw(second), back=False), given=(NUMBERS, second))), "a part of it"


def test_kernels_ran_and_nothing_came() -> None:
    sent, back, stored = copied(raw(NUMBERS), True, back=False), copied(raw(NUMBERS)), copied(raw(NUMBERS), [3])
    assert nothing_came(outcome(sent))
    assert nothing_came(outcome(back))
    assert not nothing_came(outcome(back, stored))
    assert not nothing_came(outcome(back, launches=()))
    assert not nothing_came(outcome(back, fault="a fault"))
