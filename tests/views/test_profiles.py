"""Tables of a profile from records made by hand: values, averages, order, what is modelled, escaping."""

from __future__ import annotations

import dataclasses

import pytest

from gpulab.errors import CounterNotFound
from gpulab.records import AccessCost, Counters, Fault, InstructionCost, Launch, LineCost, ModelledTime, SourceLine
from gpulab.views import profiles
from gpulab.views.launches import hotspot_table, launch_table, line_table

LOAD = SourceLine("cell.hip", 5, 0, "  a = x<y> ? t[i] : 0;")
STORE = SourceLine("cell.hip", 6, 0, "  out[i] = a;")


def launch(**changes: object) -> Launch:
    values: dict = {
        "kernel": "k", "arch": "gfx942", "device": 0, "grid": (2, 1, 1), "block": (64, 1, 1), "lds_bytes": 0,
        "waves": 2, "counters": Counters({"SQ_WAVES": 2, "TCC_HIT": 30, "TCC_MISS": 10, "SQ_LDS_IDX_ACTIVE": 8}),
        "measured_us": 2.0,
        "lines": (LineCost(LOAD, 10, 320, 2, 512, 4, 64, 62), LineCost(STORE, 30, 1920, 2, 512, 4, 0, 0)),
        "instructions": (
            InstructionCost(LOAD, "ds_read_b32 v1, v2", 2, 128), InstructionCost(STORE, "v_add_u32 <b>", 6, 96),
        ),
        "accesses": (
            AccessCost(LOAD, "ds_read_b32 v1, v2", "lds", "load", 4, 2, 128, bank_cycles=128, conflict_cycles=124),
            AccessCost(STORE, "global_store_dword v[0:1], v2, off", "global", "store", 4, 2, 64, quads=16, lines=4,
                       line_bytes=128, cache_hits=1, l2_requests=8, l2_hits=2),
        ),
    }  # fmt: skip
    return Launch(**(values | changes))


def rows(table: object) -> list[list[str]]:
    return [line.split() for line in str(table).splitlines()[2:]]


def test_counters_and_metrics_say_how_certain_they_are() -> None:
    kinds = {"SQ_WAVES": "exact", "SQ_LDS_IDX_ACTIVE": "assumed", "TCC_HIT": "modelled", "TCC_MISS": "exact"}
    text = str(profiles.counter_table(launch(), kinds=kinds))
    how = {line.split()[0]: line for line in text.splitlines()[2:]}
    assert "exact" in how["SQ_WAVES"]
    assert "assumed" in how["SQ_LDS_IDX_ACTIVE"]
    assert "modelled" in how["TCC_HIT"]
    assert how["l2_hit_percent"].split()[:5] == ["l2_hit_percent", "75", "%", "modelled", "gpulab"]
    assert "requests that hit the L2" in how["l2_hit_percent"]
    assert "measured" in str(profiles.counter_table(launch(time_is_modelled=False), ["SQ_WAVES"]))


def test_what_is_not_exact_is_said_in_a_sentence() -> None:
    kinds = {"SQ_WAVES": "exact", "SQ_LDS_IDX_ACTIVE": "assumed", "TCC_HIT": "exact", "TCC_MISS": "modelled"}
    names = ["SQ_WAVES", "l2_hit_percent", "SQ_LDS_IDX_ACTIVE", "TCC_HIT_sum", "TCC_MISS"]
    said = profiles.certainties(names, launch(), kinds)
    assert said == "Modelled: l2_hit_percent, TCC_MISS. Assumed: SQ_LDS_IDX_ACTIVE."
    assert profiles.certainties(["SQ_WAVES"], launch(), kinds) == ""
    assert profiles.certainties(names, launch(time_is_modelled=False), kinds) == ""
    assert str(launch_table([launch()], names, said)).endswith(said)
    assert str(line_table(launch(), said=said)).endswith(said)
    assert str(profiles.instruction_table(launch(), said=said)).endswith(said)


def test_chosen_names() -> None:
    assert [row[0] for row in rows(profiles.counter_table(launch(), ["l2_hit_percent", "SQ_WAVES"]))] == [
        "l2_hit_percent", "SQ_WAVES",
    ]  # fmt: skip
    with pytest.raises(CounterNotFound, match="no counter or metric named L2CacheHit"):
        profiles.counter_table(launch(), ["L2CacheHit"])


def test_nothing_by_nothing_is_a_dash() -> None:
    zero = launch(counters=Counters({"TCC_HIT": 0, "TCC_MISS": 0}))
    assert rows(profiles.counter_table(zero, ["l2_hit_percent"]))[0][1] == "–"


def test_a_sampled_launch_says_so() -> None:
    sampled = launch(sampled=(32, 4096))
    for table in (profiles.access_table(sampled), profiles.counter_table(sampled), line_table(sampled),
                  profiles.instruction_table(sampled), launch_table([sampled]), hotspot_table(sampled, 2)):  # fmt: skip
        assert "in 32 of 4,096 workgroups" in str(table)
        assert "in 32 of 4,096 workgroups" in table.html()
    assert "workgroups" not in str(profiles.access_table(launch()))


def test_instructions_sorted_by_cost() -> None:
    """6 of 8 executions are the store line's; 96 lanes in 6 executions are 16 each."""
    table = profiles.instruction_table(launch())
    assert [row[0] for row in table.rows] == ["6", "5"]
    assert table.rows[0][2:] == (6, 16.0, 75.0)
    assert [row[0] for row in profiles.instruction_table(launch(), by="").rows] == ["5", "6"]
    assert [row[0] for row in profiles.instruction_table(launch(), by="lanes active").rows] == ["5", "6"]
    with pytest.raises(ValueError, match="no column 'time'; the columns are line, instruction"):
        profiles.instruction_table(launch(), by="time")
    assert "no cost by instruction" in str(profiles.instruction_table(launch(instructions=())))


def test_accesses_by_execution() -> None:
    """LDS: 128 clocks in 2 executions are 64, 62 of them conflicts. Store: 128 B of 256."""
    table = profiles.access_table(launch(), by="")
    lds, store = table.rows
    assert lds == ("5", "ds_read_b32 v1, v2", 2, 64.0, 512, "–", "–", 64.0, 62.0, "–", "–")
    assert store == ("6", "global_store_dword v[0:1], v2, off", 2, 32.0, 256, 2.0, 50.0, "–", "–", 25.0, 25.0)
    assert "Hits are modelled." in str(table)
    assert profiles.access_table(launch(), by="lines").rows[0][0] == "6"
    assert profiles.access_table(launch(), by="conflicts").rows[0][0] == "5"
    assert "no memory" in str(profiles.access_table(launch(accesses=())))


def test_lines_have_what_their_accesses_did() -> None:
    table = line_table(launch())
    assert table.columns[4:] == ("bytes", "cache lines", "LDS clocks", "conflicts")
    assert table.rows[0][2:] == (10, 32.0, 512, 4, 64, 62)
    assert [row[0] for row in line_table(launch(), by="wave instructions").rows] == ["6", "5"]


def test_hotspots() -> None:
    assert [row[:1] + row[2:] for row in hotspot_table(launch(), 5).rows] == [("6", 30, 75.0), ("5", 10, 25.0)]
    assert len(hotspot_table(launch(), 1).rows) == 1


def test_everything_is_escaped() -> None:
    for table in (line_table(launch()), profiles.instruction_table(launch()), hotspot_table(launch(), 5)):
        assert "<y>" not in table.html()
        assert "<b>" not in table.html()
    assert "x&lt;y&gt;" in line_table(launch()).html()


def test_columns_of_chosen_names() -> None:
    table = launch_table(
        [launch(), launch(arch="gfx1100", counters=Counters({"SQ_WAVES": 3}))], ["TCC_HIT", "SQ_WAVES"]
    )
    assert [row[6:8] for row in table.rows] == [(30, 2), ("–", 3)]
    assert "No launch has a number for TCP_TOTAL_READ." in str(launch_table([launch()], ["TCP_TOTAL_READ"]))


def test_what_limits_the_time_is_a_column() -> None:
    time = ModelledTime(2.0, "HBM3 bandwidth", {}, 1.0, 2100, 16, 32)
    table = launch_table([launch(timing=time), launch()])
    assert table.columns[-2:] == ("modelled µs", "limited by")
    assert [row[-1] for row in table.rows] == ["HBM3 bandwidth", ""]
    assert [row[1] for row in profiles.counter_table(launch(timing=time), ["occupancy_limit_percent"]).rows] == [50]
    assert "limited by" not in launch_table([launch()]).columns


def test_totals() -> None:
    """Counters are added, largest values are not; costs by line are added; ratios are of the sums."""
    first = launch(counters=Counters({"TCC_HIT": 10, "TCC_MISS": 10, "TA_BUSY_max": 5}))
    second = launch(
        counters=Counters({"TCC_HIT": 50, "TCC_MISS": 10, "TA_BUSY_max": 7}), kernel="other", measured_us=3.0
    )
    total = profiles.totals([first, second])
    assert dict(total.counters) == {"TCC_HIT": 60, "TCC_MISS": 20, "TA_BUSY_max": 7}
    assert (total.kernel, total.waves, total.time_us) == ("2 launches", 4, 5.0)
    assert total.lines[0] == LineCost(LOAD, 20, 640, 4, 1024, 8, 128, 124)
    assert [row[1] for row in profiles.counter_table(total, ["l2_hit_percent"]).rows] == [75]
    assert [row[1] for row in profiles.counter_table(total, ["used_bytes_percent"]).rows] == [50]  # as of each
    with pytest.raises(ValueError, match="one architecture"):
        profiles.totals([first, launch(arch="gfx1100")])


def test_measured_amounts_are_added_and_shares_are_not() -> None:
    measured = [
        launch(
            time_is_modelled=False,
            counters=Counters({}),
            metrics={"FETCH_SIZE": 3.0, "VALUBusy": 50.0, "TCC_HIT_sum": 4.0},
        ),
        launch(
            time_is_modelled=False,
            counters=Counters({}),
            metrics={"FETCH_SIZE": 5.0, "VALUBusy": 70.0, "TCC_HIT_sum": 1.0},
        ),
    ]
    total = profiles.totals(measured)
    assert dict(total.metrics) == {"FETCH_SIZE": 8.0, "TCC_HIT_sum": 5.0}
    with pytest.raises(CounterNotFound, match=r'run.metric\("VALUBusy", 0\)'):
        profiles.counter_table(total, ["VALUBusy"])


def test_comparison() -> None:
    after = launch(
        counters=Counters({"SQ_WAVES": 2, "TCC_HIT": 40, "TCC_MISS": 0, "SQ_LDS_IDX_ACTIVE": 2}), measured_us=1.0
    )
    table = profiles.comparison_table(launch(), after, kinds={"SQ_LDS_IDX_ACTIVE": "exact"})
    found = {row[0]: row[1:] for row in table.rows}
    assert "SQ_WAVES" not in found
    assert found["TCC_HIT"] == (30, 40, 10, 1.333, "modelled")
    assert found["SQ_LDS_IDX_ACTIVE"] == (8, 2, -6, 0.25, "exact")
    assert found["l2_hit_percent"] == (75, 100, 25, 1.333, "modelled")
    assert found["modelled µs"] == (2, 1, -1, 0.5, "modelled")
    assert [row[0] for row in profiles.comparison_table(launch(), after, ["SQ_WAVES"]).rows] == ["SQ_WAVES"]
    assert "No number differs." in str(profiles.comparison_table(launch(), launch()))
    assert "count differently" in str(profiles.comparison_table(launch(), launch(arch="gfx950", measured_us=1.0)))


def test_names_of_an_architecture() -> None:
    table = profiles.names_table("gfx1100", "lds_idx")
    assert "SQC_LDS_IDX_ACTIVE" in str(table)
    assert "SQ_WAVES " not in str(table)
    kinds = {"TCC_HIT": "exact", "TCC_MISS": "modelled"}
    virtual = {row[0]: row[3] for row in profiles.names_table("gfx942", "", False, kinds).rows}
    assert (virtual["TCC_HIT"], virtual["TCC_HIT_sum"], virtual["l2_hit_percent"]) == ("exact", "exact", "modelled")
    assert (virtual["SQ_WAVES"], virtual["l1_hit_percent"]) == ("–", "–")
    own = next(row for row in profiles.names_table("gfx942").rows if row[0] == "coalescing_percent")
    assert own[1] == "gpulab"
    assert "(rocprof-compute)" in str(own[4])


def test_what_a_modelled_time_lacks_stands_below_the_launches_that_have_it() -> None:
    times = [
        ModelledTime(3.5, "LDS", {"LDS": 9.0}, 1.5, 2100, 1, 2, lacks=lacks)
        for lacks in ((), ("waiting: one look",), ("waiting: one look", "channels: few"))
    ]
    launches = [launch(timing=time, kernel=name) for time, name in zip(times, "abb", strict=True)]
    said = str(launch_table(launches)).splitlines()[-1]
    assert said == "Not in the modelled time of b: waiting: one look. Not in the modelled time of b: channels: few."
    assert "Not in" not in str(launch_table(launches[:1]))


def test_branches_of_added_launches_stay_at_their_instructions() -> None:
    one = launch(instructions=(InstructionCost(LOAD, "a", 1, 64), InstructionCost(LOAD, "b", 1, 64, branch=0)))
    total = profiles.totals([one, one, one])
    assert [cost.branch for cost in total.instructions] == [None, 0, None, 2, None, 4]
    assert [cost.text for cost in total.instructions] == ["a", "b"] * 3
    assert len(total.accesses) == 6


def test_totals_of_one_kernel() -> None:
    counts = [{"TCC_HIT": 3, "TA_BUSY_min": 5, "TA_BUSY_avr": 2}, {"TCC_MISS": 4, "TA_BUSY_min": 1, "TA_BUSY_avr": 6}]
    found = [launch(counters=Counters(each), host_us=2.0) for each in counts]
    total = profiles.totals([found[0], dataclasses.replace(found[1], sampled=(1, 2))])
    assert dict(total.counters) == {"TCC_HIT": 3, "TA_BUSY_min": 5, "TA_BUSY_avr": 6, "TCC_MISS": 4}
    assert (total.kernel, total.sampled, total.host_us, total.waves) == ("k", (1, 2), 4.0, 4)
    assert profiles.totals(found[:1]) is found[0]
    with pytest.raises(ValueError, match="launches on one architecture are needed"):
        profiles.totals([])


def test_notes_of_a_launch() -> None:
    fault = Fault("null", "k", None, "", (0, 0, 0), 0, 0, None)
    stopped = "k was stopped: the numbers are of what ran until then."
    looked = "Memory accesses were looked at in 1,000 of 2,000 workgroups; numbers about them are scaled up."
    assert profiles.note(launch()) == ""
    assert profiles.note(launch(fault=fault)) == stopped
    assert profiles.note(launch(fault=fault, sampled=(1000, 2000))) == f"{looked} {stopped}"


@pytest.mark.parametrize(
    ("value", "cell"),
    [(2.0, 2), (2.5, 2.5), (float("nan"), "–"), (1e15 - 1, 999_999_999_999_999),
     (1e15, 1e15), (-1e15, -1e15), (-3.0, -3)],
)  # fmt: skip
def test_values_as_cells(value: float, cell: object) -> None:
    found = profiles.shown(value)
    assert (found, type(found)) == (cell, type(cell))


def test_rows_are_sorted_by_a_column() -> None:
    rows = [("b", 1, "–"), ("c", 3, 0), ("a", 2, 5)]
    columns = ("name", "count", "share")
    for by, wanted in (("", "bca"), ("name", "abc"), ("count", "cab"), ("share", "acb")):
        assert "".join(row[0] for row in profiles.sorted_rows(rows, columns, by)) == wanted
    assert profiles.sorted_rows([], columns, "count") == ()


def test_instructions_without_executions_have_no_average() -> None:
    never = launch(instructions=(InstructionCost(None, "s_nop 0", 0, 0), InstructionCost(LOAD, "s_endpgm", 0, 0)))
    table = profiles.instruction_table(never, extra={"more": ("x", "y")}, said="what it is")
    assert table.rows == (("", "s_nop 0", 0, "–", "–", "x"), ("5", "s_endpgm", 0, "–", "–", "y"))
    assert table.note == "what it is"
    assert profiles.instruction_table(launch()).note == ""
