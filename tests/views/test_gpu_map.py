"""The numbers behind the GPU map, against a count of every single workgroup and against hand-computed cases."""

from __future__ import annotations

import dataclasses
import json
import time
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex

from gpulab.errors import GpulabError
from gpulab.records import Counters, Fault, Launch, Placement
from gpulab.views import gpu_map, palette


def placement(**more: Any) -> Placement:
    """Two dies of three units with two places; a workgroup of 3 waves takes 10 µs, one starts each microsecond."""
    values: dict[str, Any] = {
        "arch": "gfx942", "unit": "CU", "workgroups": 30, "waves": 3, "dies": 2, "units": 3, "simds": 2,
        "wave_slots": 4, "places": 2, "limit": "VGPRs", "begin_us": 2.0, "step_us": 1.0, "group_us": 10.0,
        "total_us": 34.0,
    }  # fmt: skip
    return Placement(**{**values, **more})


def launch(placed: Placement | None, kernel: str = "saxpy") -> Launch:
    return Launch(kernel, "gfx942", 0, (30, 1, 1), (192, 1, 1), 0, 90, Counters(), placed=placed)


def mi300x(workgroups: int) -> Placement:
    """An MI300X as ROCm's documentation has it: 8 XCDs of 38 CUs, 4 SIMDs with 8 wave slots; workgroups of 4 waves."""
    return placement(
        workgroups=workgroups, waves=4, dies=8, units=38, simds=4, wave_slots=8, places=8, limit="wave slots",
        begin_us=1.5, step_us=0.001, group_us=0.7, total_us=2.24,
    )  # fmt: skip


def test_a_small_case_by_hand() -> None:
    # 15 workgroups a die, 6 at a time: places get 3, 3, 3, 2, 2, 2, and start a microsecond after each other.
    p = placement()
    times = np.array([0.0, 2.0, 3.5, 7.0, 12.0, 13.0, 32.5, 34.0])
    held, waiting, running, done = gpu_map.occupancy(p, times)
    assert held[:, 0].tolist() == [
        [0, 0, 0], [1, 0, 0], [1, 1, 0], [2, 2, 2], [2, 2, 2], [2, 2, 2], [0, 1, 1], [0, 0, 0],
    ]  # fmt: skip
    assert (held[:, 0] == held[:, 1]).all()
    assert waiting.tolist() == [30, 28, 26, 18, 16, 14, 0, 0]
    assert running.tolist() == [0, 2, 4, 12, 12, 12, 4, 0]
    assert done.tolist() == [0, 0, 0, 0, 2, 4, 26, 30]


@pytest.mark.parametrize("workgroups", [1, 7, 40, 305, 2432, 2433, 9999])
def test_counts_agree_with_every_single_workgroup(workgroups: int) -> None:
    turns = -(-workgroups // 2432)
    p = mi300x(workgroups)
    p = placement(**{name: getattr(p, name) for name in Placement.__slots__} | {"total_us": 1.5 + 0.304 + 0.7 * turns})
    times = np.linspace(0.0, p.total_us, 23)[:-1]
    held, waiting, running, done = gpu_map.occupancy(p, times)
    wanted = np.zeros_like(held)
    ended = np.zeros(len(times), int)
    for number in range(workgroups):
        die, unit, _ = p.where(number)
        start, end = p.when(number)
        inside = (times >= start - 1e-9) & (times < end - 1e-9)
        wanted[inside, die, unit] += 1
        ended += times >= end - 1e-9
    assert (held == wanted).all()
    assert (running == wanted.sum(axis=(1, 2))).all()
    assert (done == ended).all()
    assert (waiting + running + done == workgroups).all()


def test_the_sentence_says_that_most_of_the_device_idles() -> None:
    made = gpu_map.gpu_map(launch(mi300x(40)))
    assert "40 workgroups of 4 waves each: 40 of 304 CUs had work; the other 264 idled" in made.sentence
    assert "40 of them run, which takes 1.6 % of the device's 9,728 wave slots" in made.sentence  # 160 of 9728
    assert made.table.rows[0] == ("XCD 0", 5, 5, 38, 5, 1.6)
    assert made.table.rows[-1] == ("all", 40, 40, 304, 40, 1.6)
    assert len(made.table.rows) == 9
    full = gpu_map.gpu_map(launch(mi300x(5000)))
    assert "304 of 304 CUs had work. At the fullest moment 2,432 of them run, which takes 100 %" in full.sentence
    assert "One CU holds 8 of them at a time (wave slots allow no more)" in full.sentence


def test_what_one_unit_holds() -> None:
    made = gpu_map.gpu_map(launch(placement()))
    times = made.data["times"]
    step = min(range(len(times)), key=lambda k: abs(times[k] - 7.0))
    found = made.reply({"die": 1, "unit": 2, "step": step})[0]
    # On die 1 are 1, 3, 5 and so on: the third, 5, in the first place of unit 2, the sixth, 11, in the second.
    assert [group["workgroup"] for group in found["workgroups"]] == [5, 11]
    assert found["workgroups"][0]["slots"] == ((0, 0), (1, 0), (0, 1))
    assert found["workgroups"][1]["slots"] == ((1, 1), (0, 2), (1, 2))
    assert found["total"] == 5  # of 15 on the die
    assert "no unit 3" in made.reply({"die": 0, "unit": 3, "step": 0})[0]["error"]


def test_details_agree_with_the_map() -> None:
    made = gpu_map.gpu_map(launch(placement()))
    p = placement()
    for step in range(0, len(made.data["times"]), 7):
        for unit, held in enumerate(made.data["held"][step]):
            found = made.reply({"die": unit // 3, "unit": unit % 3, "step": step})[0]
            assert len(found["workgroups"]) == held
            for group in found["workgroups"]:
                assert p.where(group["workgroup"])[:2] == (unit // 3, unit % 3)


def test_shader_engines_are_drawn_where_they_share_units_evenly() -> None:
    # RX 7900 XTX: 48 WGPs in 6 shader engines. MI210: 104 of 110 CUs by 8 engines cannot be known.
    rdna = placement(arch="gfx1100", dies=1, units=48, unit="WGP")
    assert [(name, len(units)) for name, units in gpu_map.parts(rdna)] == [(f"shader engine {k}", 8) for k in range(6)]
    assert gpu_map.parts(placement(arch="gfx90a", dies=1, units=110)) == [("all CUs", list(range(110)))]


def test_a_launch_of_ten_million_threads_is_small_and_quick() -> None:
    # 39,063 workgroups of 256 threads; also the largest grid that there is.
    for workgroups in (39_063, 2**31 - 1):
        p = mi300x(workgroups)
        turns = (workgroups + 8 * 304 - 1) // (8 * 304)
        p = placement(
            **{name: getattr(p, name) for name in Placement.__slots__} | {"total_us": 1.5 + 0.304 + 0.7 * turns}
        )
        began = time.process_time()
        made = gpu_map.gpu_map(launch(p))
        message = json.dumps(made.message())
        assert time.process_time() - began < 2.0
        assert len(message) < 400_000
        assert made.reply({"die": 7, "unit": 37, "step": 50})[0]["workgroups"]


def test_a_real_gpu_does_not_say() -> None:
    with pytest.raises(GpulabError, match="which compute units"):
        gpu_map.gpu_map(launch(None))


def test_the_picture_is_drawn() -> None:
    made = gpu_map.gpu_map(launch(mi300x(40), kernel="$x$ <b>"))
    assert made.png().startswith(b"\x89PNG")
    assert gpu_map.gpu_map(launch(placement(arch="gfx90a", dies=1, units=110))).png().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("more", "rows"),
    [
        ({"dies": 8, "units": 38}, [["XCD 0", "XCD 1", "XCD 2", "XCD 3"], ["XCD 4", "XCD 5", "XCD 6", "XCD 7"]]),
        ({}, [["XCD 0"], ["XCD 1"]]),
    ],
)
def test_the_first_part_is_drawn_at_the_top(more: dict[str, Any], rows: list[list[str]]) -> None:
    """As one reads: parts from the top to the bottom, each name above its own squares, all of it inside the picture."""
    made = gpu_map.gpu_map(launch(placement(**more)))
    assert made.figure is not None
    top = made.figure().axes[0]
    heights = {text.get_text(): top.transData.transform(text.get_position())[1] for text in top.texts}
    names = [[heights[name] for name in row] for row in rows]
    assert all(len(set(row)) == 1 for row in names)
    (squares,) = top.collections
    ends = [top.transData.transform(path.vertices)[:, 1] for path in squares.get_paths()]
    count = len(ends) // sum(map(len, rows))
    for number, row in enumerate(rows):
        own = ends[number * len(row) * count : (number + 1) * len(row) * count]
        assert names[number][0] > max(map(max, own))
        if number + 1 < len(rows):
            assert min(map(min, own)) > names[number + 1][0]
    low, high = top.transAxes.transform([(0, 0), (0, 1)])[:, 1]
    assert low <= min(map(min, ends))
    assert names[0][0] < high


def test_a_kernel_that_was_stopped_is_said_to_have_been() -> None:
    fault = Fault("out of bounds", "saxpy", None, "global_load_dword", (0, 0, 0), 0, None, None)
    stopped = dataclasses.replace(launch(mi300x(40)), fault=fault)
    assert "The kernel was stopped (out of bounds)" in gpu_map.gpu_map(stopped).sentence


@pytest.mark.parametrize(
    ("more", "full"),
    [
        ({}, 7.0),  # 15 workgroups on the first die, which takes 6 at a time: the sixth starts 5 µs after the first
        ({"workgroups": 4}, 3.0), ({"workgroups": 5}, 4.0),
        ({"workgroups": 12}, 7.0), ({"workgroups": 10}, 6.0), ({"total_us": 6.5}, 6.5),
    ],
)  # fmt: skip
def test_the_moment_at_which_the_first_round_has_started_is_a_point(more: dict[str, Any], full: float) -> None:
    found = gpu_map.points(placement(**more))
    end = more.get("total_us", 34.0)
    steps = [2.0 + (end - 2.0) * number / 95 for number in range(96)]
    assert found.tolist() == pytest.approx(sorted({0.0, *steps, full}))
    assert full in found


@pytest.mark.parametrize(
    ("units", "blocks", "columns"),
    [(38, 8, 10), (32, 8, 8), (17, 2, 8), (16, 4, 4), (9, 8, 3), (8, 6, 4), (3, 4, 3), (14, 1, 14), (48, 1, 22)],
)
def test_the_units_of_a_block_in_rows(units: int, blocks: int, columns: int) -> None:
    """A die of an MI300X in four rows, of an MI350X in four full ones; an engine of nine in three by three."""
    assert gpu_map.shape(units, blocks) == columns


def test_blocks_beside_each_other() -> None:
    """Eight dies, six engines and four engines in two rows or one; others below each other."""
    assert [gpu_map.across(count) for count in (8, 6, 4, 2, 1)] == [4, 3, 4, 1, 1]


@pytest.mark.parametrize(("workgroups", "numbers"), [(4, [1, 1, 0, 1, 1, 0]), (9, [2, 2, 1, 2, 1, 1])])
def test_squares_are_coloured_by_how_full_they_are(workgroups: int, numbers: list[int]) -> None:
    made = gpu_map.gpu_map(launch(placement(workgroups=workgroups)))
    assert made.figure is not None
    top, below = made.figure().axes
    (squares,) = top.collections
    wanted = {0: "#ffffff", 1: palette.heat(0.4995), 2: palette.heat(0.999)}
    found = [to_hex(colour) for colour in squares.get_facecolor()]
    assert found == [to_hex(wanted[number]) for number in numbers]
    assert [text.get_text() for text in top.texts] == [
        "XCD 0", *(str(n) for n in numbers[:3] if n), "XCD 1", *(str(n) for n in numbers[3:] if n),
    ]  # fmt: skip
    assert [text.get_text() for text in below.texts] == [" all 6"]


@pytest.mark.parametrize(
    ("time", "numbers"),
    [(0.0, []), (1.999, []), (2.0, [0]), (4.999, [0]), (5.0, [0, 6]), (12.0, [12, 6]), (31.999, [24]), (32.0, []),
     (33.999, []), (34.0, []), (99.0, [])],
)  # fmt: skip
def test_what_a_unit_holds_from_the_beginning_to_the_end(time: float, numbers: list[int]) -> None:
    """Unit 0 of die 0: its two places begin at 2 and 5 µs, and take 10 µs for each workgroup."""
    found = gpu_map.detail(placement(), 0, 0, time)
    assert [group["workgroup"] for group in found["workgroups"]] == numbers
    assert found["total"] == 5
    for group in found["workgroups"]:
        start = (2.0 if group["workgroup"] % 12 == 0 else 5.0) + group["workgroup"] // 12 * 10
        assert (group["start"], group["end"]) == (start, start + 10)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"workgroups": 1, "waves": 1}, "1 workgroup of 1 wave each: 1 of 6 CUs had work; the other 5 idled all the "
         "time, because there were no more workgroups. At the fullest moment 1 of them runs, which takes 2.1 % of the "
         "device's 48 wave slots. "),
        ({"workgroups": 12}, "12 workgroups of 3 waves each: 6 of 6 CUs had work. At the fullest moment 12 of them "
         "run, which takes 75 % of the device's 48 wave slots. "),
        ({"workgroups": 13}, "13 workgroups of 3 waves each: 6 of 6 CUs had work. At the fullest moment 12 of them "
         "run, which takes 75 % of the device's 48 wave slots. One CU holds 2 of them at a time (VGPRs allow no "
         "more), so that the others waited for their turn. "),
    ],
)  # fmt: skip
def test_launches_of_all_sizes_in_words(more: dict[str, Any], said: str) -> None:
    assert gpu_map.gpu_map(launch(placement(**more))).sentence == (
        f"saxpy was launched with {said}Times are modelled: 34 µs, of which 2 µs pass before the first one runs."
    )
