"""Records: counters are a mapping like any other; what is computed later looks as if it were there."""

import dataclasses
import pickle

import pytest

from gpulab.records import Counters, Later, Launch, LineCost, SourceLine


def test_counters_are_a_mapping() -> None:
    counters = Counters({"SQ_WAVES": 4, "SQ_INSTS_VALU": 24})
    assert counters["SQ_WAVES"] == 4
    assert list(counters) == ["SQ_WAVES", "SQ_INSTS_VALU"]
    assert list(counters.values()) == [4, 24]
    assert dict(counters.items()) == {"SQ_WAVES": 4, "SQ_INSTS_VALU": 24}
    assert counters.get("SQ_BUSY", 0) == 0
    assert counters == Counters({"SQ_INSTS_VALU": 24, "SQ_WAVES": 4})


def test_an_unknown_counter_names_the_known_ones() -> None:
    with pytest.raises(KeyError, match="no counter 'SQ_WAVE' here; there are SQ_WAVES"):
        Counters({"SQ_WAVES": 4})["SQ_WAVE"]


def test_rows_of_a_launch_are_computed_when_they_are_read() -> None:
    rows = (LineCost(SourceLine("a.hip", 3), 8, 512),)
    asked = []

    def compute() -> tuple[LineCost, ...]:
        asked.append(1)
        return rows

    def launch(lines: object) -> Launch:
        return Launch("k", "gfx942", 0, (1, 1, 1), (64, 1, 1), 0, 1, Counters(), lines)  # type: ignore[arg-type]

    lazy, plain = launch(Later(compute)), launch(rows)
    assert not asked
    assert lazy.lines == rows
    assert lazy.lines is lazy.lines
    assert len(asked) == 1
    assert lazy == plain
    assert lazy != launch(())
    assert lazy.instructions == lazy.accesses == ()
    assert pickle.loads(pickle.dumps(launch(Later(compute)))) == plain
    assert dataclasses.replace(lazy, lines=()).lines == ()
    assert dataclasses.replace(lazy, kernel="other").lines == rows
    assert "a.hip" in repr(lazy)
    with pytest.raises(dataclasses.FrozenInstanceError):
        lazy.lines = ()  # type: ignore[misc]
