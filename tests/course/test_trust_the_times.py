"""The series of the exercise trust-the-times are what the right answers say of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpulab.measure import Measurement

SOURCE = Path(__file__).resolve().parents[2] / "course" / "exercises" / "trust-the-times" / "exercise.md"


@pytest.fixture(scope="module")
def series() -> dict[str, Any]:
    """`first`, `second`, `second_mhz` and `third`, as the notebook has them."""
    (cell,) = re.findall(r"^(first = \{.*?)^figure", SOURCE.read_text(encoding="utf-8"), re.S | re.M)
    found: dict[str, Any] = {}
    exec(cell, found)
    return found


def test_first_the_means_differ_by_17_per_cent_and_the_warm_medians_by_2(series: dict[str, Any]) -> None:
    plain, tiled = series["first"]["plain"], series["first"]["tiled"]
    assert 1 - np.mean(tiled) / np.mean(plain) == pytest.approx(0.17, abs=0.005)
    warm, other = Measurement(tuple(plain[8:])), Measurement(tuple(tiled))
    assert warm.interval_us is not None
    assert other.interval_us is not None
    assert other.interval_us[1] < warm.interval_us[0]
    assert 0.01 < 1 - other.interval_us[1] / warm.interval_us[0] < 1 - other.interval_us[0] / warm.interval_us[1] < 0.04


def test_second_at_the_same_clock_tiled_is_faster_and_its_clocks_are_equal(series: dict[str, Any]) -> None:
    plain, tiled, mhz = (*(series["second"][name] for name in ("plain", "tiled")), series["second_mhz"])
    assert 1 - np.median(plain) / np.median(tiled) == pytest.approx(0.07, abs=0.005)
    assert mhz == {"plain": [2100, 2100], "tiled": [2100, 1750]}
    assert max(tiled[:8]) < min(plain)
    assert np.median(tiled[:8]) * 2100 == pytest.approx(np.median(tiled[8:]) * 1750, rel=0.005)


def test_third_the_median_is_no_time_and_half_of_the_runs_are_below_all_of_the_other(series: dict[str, Any]) -> None:
    plain, tiled = np.array(series["third"]["plain"]), np.array(series["third"]["tiled"])
    assert not (np.abs(tiled / np.median(tiled) - 1) < 0.05).any()
    assert (tiled < plain.min()).sum() * 2 == len(tiled) == len(plain)
