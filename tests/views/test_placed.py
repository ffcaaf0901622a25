"""Which workgroups a unit has and when, of equal ones and of ones that differ, against each workgroup one by one."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import numpy as np
import pytest

from gpulab.records import Placement, Stay
from gpulab.views import gpu_map, timeline
from gpulab.views.placed import Bar, Differing, Equal, Held, placed
from tests.views.test_gpu_map import launch, placement
from tests.views.test_timeline import launches

# On die 0 are workgroups 0, 2, 4, 6, on die 1 are 1, 3, 5. Unit 2 of die 0, and all but unit 1 of die 1, get none.
STAYS = (
    Stay(0, 0, 2.0, 12.0), Stay(1, 0, 2.0, 4.0), Stay(1, 0, 3.0, 5.0), Stay(1, 1, 3.0, 34.0), Stay(0, 1, 4.0, 6.0),
    Stay(1, 0, 4.0, 9.0), Stay(1, 0, 5.0, 5.5),
)  # fmt: skip


def differing(**more: Any) -> Placement:
    """Two dies of three units with two places: see `placement`."""
    return placement(**{"workgroups": 7, "stays": STAYS, "group_us": 7.5} | more)


def test_by_hand() -> None:
    p = placed(differing())
    assert isinstance(p, Differing)
    assert [[p.total(die, unit) for unit in range(3)] for die in range(2)] == [[2, 2, 0], [0, 3, 0]]
    held, ended = p.occupancy(np.array([0.0, 2.0, 3.0, 4.0, 5.25, 6.0, 9.0, 33.9, 34.0]))
    assert held.tolist() == [
        [[0, 0, 0], [0, 0, 0]],
        [[1, 0, 0], [0, 1, 0]],
        [[1, 1, 0], [0, 2, 0]],
        [[2, 1, 0], [0, 2, 0]],  # 1 has ended, 5 has its place
        [[2, 1, 0], [0, 2, 0]],  # 6 follows 2 in the same place
        [[1, 0, 0], [0, 2, 0]],
        [[1, 0, 0], [0, 1, 0]],
        [[0, 0, 0], [0, 1, 0]],
        [[0, 0, 0], [0, 0, 0]],
    ]
    assert ended.tolist() == [0, 0, 0, 1, 2, 4, 5, 6, 7]
    # 0, 2, 3, 4 and 5 run at 4 µs; as many at 5 µs, which is later. Units have work up to 34, 12 and 5.5 µs.
    assert p.moments == [4.0, 5.5]
    assert p.held(1, 1, 4.0) == [Held(5, 0, 4.0, 9.0), Held(3, 1, 3.0, 34.0)]
    assert p.held(1, 1, 3.5) == [Held(1, 0, 2.0, 4.0), Held(3, 1, 3.0, 34.0)]
    assert p.held(0, 1, 5.0) == [Held(6, 0, 5.0, 5.5)]
    assert p.held(0, 2, 5.0) == p.held(0, 1, 5.5) == p.held(0, 0, 1.999) == []
    assert p.bars(0, 2, 9) == [
        Bar(0, 0, 0, 1, 2.0, 12.0), Bar(0, 1, 4, 1, 4.0, 6.0), Bar(1, 0, 2, 1, 3.0, 5.0), Bar(1, 0, 6, 1, 5.0, 5.5),
    ]  # fmt: skip
    assert p.bars(1, 3, 1) == [Bar(1, 0, 1, 2, 2.0, 9.0), Bar(1, 1, 3, 1, 3.0, 34.0)]
    assert p.bars(1, 1, 9) == []


@pytest.mark.parametrize("seed", range(3))
def test_equal_ones_answer_alike_when_each_is_given(seed: int) -> None:
    """A placement by formula, and one that has the same places and times of each workgroup."""
    chance = random.Random(seed)
    one = placement(
        workgroups=chance.randint(1, 60), dies=chance.randint(1, 3), units=chance.randint(1, 4),
        places=chance.randint(1, 3),
    )  # fmt: skip
    stays = tuple(Stay(*one.where(number)[1:], *one.when(number)) for number in range(one.workgroups))
    one = dataclasses.replace(one, total_us=max(stay.end_us for stay in stays))
    other = dataclasses.replace(one, stays=stays)
    for number in range(one.workgroups):
        assert (one.where(number), one.when(number)) == (other.where(number), other.when(number))
    formula, each = placed(one), placed(other)
    assert isinstance(formula, Equal)
    assert formula.moments == each.moments[:1]
    times = np.linspace(0.0, one.total_us, 41) + 0.123
    for a, b in zip(formula.occupancy(times), each.occupancy(times), strict=True):
        assert (a == b).all()
    for die in range(one.dies):
        for most in (1, 2, 99):
            assert formula.bars(die, one.units, most) == each.bars(die, one.units, most)
        for unit in range(one.units):
            assert formula.total(die, unit) == each.total(die, unit)
            for time in times:
                assert formula.held(die, unit, time) == each.held(die, unit, time)


def test_the_map_of_workgroups_that_differ() -> None:
    made = gpu_map.gpu_map(launch(differing()))
    assert made.sentence == (
        "saxpy was launched with 7 workgroups of 3 waves each: 3 of 6 CUs had work; the other 3 idled all the time, "
        "because there were no more workgroups. At the fullest moment 5 of them run, which takes 31.2 % of the "
        "device's 48 wave slots. Workgroups differ: number 3 runs the longest, for 31 µs on CU 1 of XCD 1; an average "
        "one takes 7.5 µs. From 5.5 µs on, fewer than half of the CUs have work. Times are modelled: 34 µs, of which "
        "2 µs pass before the first one runs."
    )
    assert made.data["note"] == (
        "Known of hardware: how many CUs there are and what one can hold, and that workgroups go round the XCDs by "
        "number. Assumed: that the next workgroup goes to the CU of its die that holds the fewest, and that each takes "
        "as long as the instructions that it executed say."
    )
    assert {4.0, 5.5} <= set(made.data["times"])
    assert made.table.rows == (
        ("XCD 0", 4, 2, 3, 3, 37.5), ("XCD 1", 3, 1, 3, 2, 25.0), ("all", 7, 3, 6, 5, 31.2),
    )  # fmt: skip
    step = made.data["times"].index(4.0)
    found = made.reply({"die": 1, "unit": 1, "step": step})[0]
    assert [(group["workgroup"], group["slots"][0]) for group in found["workgroups"]] == [(5, (0, 0)), (3, (1, 1))]
    assert found["total"] == 3


@pytest.mark.parametrize(
    ("dies", "units", "said"),
    [(2, 2, "From 12 µs on, fewer than half"), (2, 3, "From 5.5 µs on, fewer than half"), (2, 4, ""), (2, 7, "")],
)
def test_since_when_half_of_the_units_have_no_work(dies: int, units: int, said: str) -> None:
    """Three have work at all."""
    sentence = gpu_map.gpu_map(launch(differing(dies=dies, units=units))).sentence
    assert said in sentence
    assert ("fewer than half" in sentence) == bool(said)


def test_the_timeline_draws_each() -> None:
    one = dataclasses.replace(launches(1)[0], placed=differing())
    found = timeline.workgroups(one, 1)
    assert (found["differ"], found["each"], found["used"], found["of"]) == (True, 7.5, 3, 6)
    assert found["bars"] == [
        {"unit": 1, "place": 0, "first": 1, "count": 1, "start": 2.0, "end": 4.0},
        {"unit": 1, "place": 0, "first": 5, "count": 1, "start": 4.0, "end": 9.0},
        {"unit": 1, "place": 1, "first": 3, "count": 1, "start": 3.0, "end": 34.0},
    ]
