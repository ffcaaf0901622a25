"""How numbers, counts and places are written for learners."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpulab.grading.wording import coordinates, counted, number_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float64(1) / 3, "0.3333333"),
        (np.float32(0.5), "0.5"),
        (np.float64(12345678), "1.234568e+07"),
        (np.int32(-123456789), "-123456789"),
        (np.bool_(True), "True"),
    ],
)
def test_seven_digits_of_a_fraction_and_all_of_an_integer(value: Any, text: str) -> None:
    assert number_text(value) == text


@pytest.mark.parametrize(("number", "text"), [(0, "0 lines"), (1, "1 line"), (2, "2 lines")])
def test_only_one_is_singular(number: int, text: str) -> None:
    assert counted(number, "line") == text


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ((5, 0, 0), "5"), ((0, 0, 0), "0"), ((5, 2, 0), "(5, 2)"), ((0, 2, 0), "(0, 2)"),
        ((5, 2, 3), "(5, 2, 3)"), ((5, 0, 3), "(5, 0, 3)"),
    ],
)  # fmt: skip
def test_as_many_coordinates_as_are_used(place: tuple[int, int, int], text: str) -> None:
    assert coordinates(place) == text
