"""Records: counters are a mapping like any other; what is computed later looks as if it were there."""

import dataclasses
import pickle

import numpy as np
import pytest

from gpulab import records
from gpulab.records import Access, Counters, LastWriters, Later, Launch, LineCost, SourceLine


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


EXCEPTIONS = {
    "ModelledTime.traffic": "observed", "Activity.is_modelled": True, "Launch.time_is_modelled": True,
    "InstructionCost.by_lane": True, "InstructionCost.flops": ("", 0), "TraceInstruction.by_lane": True,
    "TraceOperand.type": "u32",
}  # fmt: skip


def test_what_is_not_said_of_a_record_is_nothing() -> None:
    """0, False, None, no text, no rows: all but what EXCEPTIONS has."""
    kinds = [kind for kind in vars(records).values() if isinstance(kind, type) and dataclasses.is_dataclass(kind)]
    missing = dataclasses.MISSING
    given = {
        f"{kind.__name__}.{f.name}": f.default if f.default is not missing else f.default_factory()  # type: ignore[misc]
        for kind in kinds
        for f in dataclasses.fields(kind)
        if f.default is not missing or f.default_factory is not missing
    }
    assert len(given) > 80
    assert {name: value for name, value in given.items() if value} == EXCEPTIONS


def test_guarantees_are_given_or_not() -> None:
    assert dataclasses.astuple(records.NO_GUARANTEES) == (False,) * 5
    assert dataclasses.astuple(records.ALL_GUARANTEES) == (True,) * 5


def test_a_missing_counter_of_none() -> None:
    with pytest.raises(KeyError, match="no counter 'A' here; there are none"):
        Counters()["A"]
    later = Counters(Later(lambda: {"A": 1, "B": 2}))
    assert (later["B"], len(later), list(later), "A" in later, "C" in later) == (2, 2, ["A", "B"], True, False)
    assert not Later(lambda: 3) == 3  # noqa: SIM201
    assert Later(lambda: 3) == Later(lambda: 3)
    assert Later(lambda: 3) != Later(lambda: 4)
    assert repr(Later(lambda: [3])) == "[3]"


@pytest.mark.parametrize(("workgroups", "dies", "units", "places"), [(47, 3, 4, 2), (5, 8, 2, 1), (12, 1, 3, 2)])
def test_placement_is_that_of_workgroups_taken_one_by_one(workgroups: int, dies: int, units: int, places: int) -> None:
    """Each die takes its workgroups in their order: to its units in turn until all places are taken; whoever comes
    later follows the one whose place is free first."""
    placed = records.Placement(
        "gfx942", "CU", workgroups, 3, dies, units, 2, 8, places, "VGPRs", 5.0, 0.25, 100.0, 999.0
    )
    assert placed.round == units * places
    seen = []
    for die in range(dies):
        mine = list(range(die, workgroups, dies))
        assert placed.on_die(die) == len(mine)
        free = [(5.0 + 0.25 * (place * units + unit), unit, place) for place in range(places) for unit in range(units)]
        for workgroup in mine:
            start, unit, place = min(free)
            free[free.index((start, unit, place))] = (start + 100.0, unit, place)
            assert placed.where(workgroup) == (die, unit, place)
            assert placed.when(workgroup) == (start, start + 100.0)
            seen.append(workgroup)
    assert sorted(seen) == list(range(workgroups))
    for none in (-1, workgroups):
        for ask in (placed.where, placed.when):
            with pytest.raises(IndexError, match=f"there are workgroups 0 to {workgroups - 1}, no {none}"):
                ask(none)


def test_a_placement_of_workgroups_that_differ_has_each() -> None:
    stays = (records.Stay(1, 0, 5.0, 6.0), records.Stay(0, 1, 5.0, 9.0), records.Stay(0, 0, 5.5, 7.0))
    placed = records.Placement("gfx942", "CU", 3, 3, 2, 2, 2, 8, 2, "VGPRs", 5.0, 0.25, 2.0, 9.0, stays)
    assert [placed.where(number) for number in range(3)] == [(0, 1, 0), (1, 0, 1), (0, 0, 0)]
    assert [placed.when(number) for number in range(3)] == [(5.0, 6.0), (5.0, 9.0), (5.5, 7.0)]
    for ask in (placed.where, placed.when):
        with pytest.raises(IndexError, match="workgroups 0 to 2, no 3"):
            ask(3)
    before = placed.earlier(0.5)
    assert [before.when(number) for number in range(3)] == [(4.5, 5.5), (4.5, 8.5), (5.0, 6.5)]
    assert (before.begin_us, before.total_us, before.step_us, before.group_us) == (4.5, 8.5, 0.25, 2.0)
    assert [before.where(number) for number in range(3)] == [placed.where(number) for number in range(3)]


def test_waves_go_round_the_simds() -> None:
    placed = records.Placement("gfx942", "CU", 4, 3, 1, 1, 2, 8, 4, "VGPRs", 5.0, 0.25, 100.0, 999.0)
    assert placed.slots(0) == ((0, 0), (1, 0), (0, 1))
    assert placed.slots(1) == ((1, 1), (0, 2), (1, 2))


def test_times_and_sums_of_records() -> None:
    assert records.Activity("copy", "", 0, 0, 1.5, 4.0).us == 2.5
    notes = tuple(records.FidelityNote("v", kind, "", n) for kind, n in (("exact", 5), ("modelled", 2), ("exact", 1)))
    found = records.Fidelity("k", "gfx942", notes)
    assert (found.count(), found.count("exact"), found.count("modelled"), found.count("approximate")) == (8, 6, 2, 0)
    modelled = records.ModelledTime(7.0, "LDS", {}, 1.0, 2100, 4, 8)
    given = ("k", "gfx942", 0, (1, 1, 1), (64, 1, 1), 0, 1, Counters())
    assert Launch(*given, measured_us=3.0).time_us == 3.0
    assert Launch(*given, measured_us=3.0).time is None
    for timing in (modelled, Later(lambda: modelled)):
        launch = Launch(*given, timing=timing, measured_us=3.0)
        assert (launch.time_us, launch.time) == (7.0, modelled)
    assert Launch(*given).placement is None


def test_last_writers_are_rows_of_a_table() -> None:
    """One by number, from the front or the end, or some of them; who changed nothing is None, a wave has no thread."""
    line = SourceLine("a.hip", 3)
    rows = [(1, 2, 3, 4, 5, 6, 7, 8, 9), (-1,) * 9, (0, 2, 3, 4, 5, -1, 0, 0, 0), (0, 0, 0, 0, 0, 0, 0, 0, 0)]
    found = LastWriters([(None, "s_store", "write"), (line, "add", "atomic")], np.array(rows, "int64"))
    first = Access(line, "add", (2, 3, 4), 5, 6, (7, 8, 9), "atomic")
    wave = Access(None, "s_store", (2, 3, 4), 5, None, None, "write")
    last = Access(None, "s_store", (0, 0, 0), 0, 0, (0, 0, 0), "write")
    assert [*found] == [first, None, wave, last]
    assert (found[0], found[-1], len(found)) == (first, last, 4)
    assert [*found[1:3]] == [None, wave]
    assert [*found[::-2]] == [last, None]
    with pytest.raises(IndexError):
        found[4]
