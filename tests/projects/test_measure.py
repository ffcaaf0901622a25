"""The parts of each project's measure.py, each alone: what a program begins with, what it is compared with, the numbers
of milestones at their limits, and every line that is printed."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpulab.errors import GpulabError
from tests.projects.test_projects import NAMES, PROGRAMS, PROJECTS, measuring


@pytest.fixture
def bodies() -> ModuleType:
    return measuring(PROJECTS / "n-body")


@pytest.fixture
def frames() -> ModuleType:
    return measuring(PROJECTS / "image-pipeline")


def activity(kind: str, start: float, end: float) -> SimpleNamespace:
    return SimpleNamespace(kind=kind, start_us=start, end_us=end, us=end - start)


def program(contents: bytes | None, code: int = 0, calls: list[Any] | None = None) -> SimpleNamespace:
    """A program that writes this into the file that its last word names, and ends with the code."""

    def run(*words: str, **options: Any) -> SimpleNamespace:
        if calls is not None:
            calls.append((words, options))
        if contents is not None:
            Path(words[-1]).write_bytes(contents)
        return SimpleNamespace(exit_code=code, stdout="what it prints\n", stderr="and its errors")

    return SimpleNamespace(run=run)


# ------------------------------------------------------------------------------------------------------------- n-body

NUMBERS = (3967065, 6195333, 8459777, 11825978, 847981, 6199489, 12998365, 9331295, 276710, 10724768, 4201872, 7086323,
           9910137, 14041416)  # fmt: skip
"""The first ones of begin() in nbody.hip, as C computes them: `state >> 8`."""


def test_bodies_begin_where_the_program_has_them(bodies: ModuleType) -> None:
    values = np.array(NUMBERS).reshape(2, 7) / 16777216
    values[:, 3:6] -= 0.5
    values[:, 6] = (0.5 + values[:, 6]) / 2
    assert bodies.begin(2).tolist() == values.tolist()
    assert bodies.begin(1)[0, 6] == 2 * values[0, 6]


def test_where_two_bodies_go_in_a_step(bodies: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """At a distance of 1, with masses 1 and 2: 1.01 to the power of 1.5 is 1.0150374. The first is accelerated by 2 /
    1.0150374 = 1.9703707, and moves by that times 0.05 times 0.05; the second by half of it, the other way."""
    rows = np.zeros((2, 7))
    rows[1, 0] = 1
    rows[:, 6] = 1, 2
    monkeypatch.setattr(bodies, "begin", lambda n: rows.copy())
    assert bodies.places(2, 1) == pytest.approx(np.array([[0.00492593, 0, 0], [1 - 0.00246296, 0, 0]]), abs=1e-8)
    rows[:, 3:6] = 0.5, -2, 4
    rows[:, 6] = 0
    assert bodies.places(2, 3) == pytest.approx(rows[:, :3] + np.array([0.075, -0.3, 0.6]))


def test_where_several_blocks_of_bodies_go(bodies: ModuleType) -> None:
    """600 of them, in three parts; here each pair by itself, in double precision."""
    rows = bodies.begin(600)
    place, speed = rows[:, :3], rows[:, 3:6]
    for _ in range(2):
        apart = place[None] - place[:, None]
        speed = speed + 0.05 * (apart * (rows[:, 6] / ((apart**2).sum(2) + 0.01) ** 1.5)[..., None]).sum(1)
        place = place + 0.05 * speed
    assert np.abs(bodies.places(600, 2) - place).max() < 1e-6


def test_a_run_of_bodies_is_compared(bodies: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = np.arange(6, dtype=np.float32).reshape(2, 3)
    monkeypatch.setattr(bodies, "places", lambda n, steps: wanted if (n, steps) == (2, 5) else None)
    found = wanted.copy()
    found[1, 1] -= 0.25
    found[0, 2] += 0.125
    calls: list[Any] = []
    done, apart = bodies.run(program(found.tobytes(), calls=calls), "gfx1100", 2, 5, tmp_path)
    assert (done.stdout, apart) == ("what it prints\n", 0.25)
    assert calls == [(("2", "5", str(tmp_path / "places")), {"arch": "gfx1100", "profiled": False, "seconds": 300})]
    monkeypatch.setattr(bodies, "BODIES", 2)
    bodies.run(program(found.tobytes(), calls=calls), "gfx942", 2, 5, tmp_path)
    assert calls[1][1] == {"arch": "gfx942", "profiled": True, "seconds": 300}
    with pytest.raises(GpulabError, match=r"^nbody 2 5 wrote 5 numbers in place of 6\.$"):
        bodies.run(program(found.tobytes()[:-4]), "gfx942", 2, 5, tmp_path)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("contents", "code"), [(b"", 3), (None, 0), (None, 3)])
def test_a_run_that_fails_is_told_with_what_it_printed(
    name: str, contents: bytes | None, code: int, tmp_path: Path
) -> None:
    """It ends with a code, or writes no file."""
    module = measuring(PROJECTS / name)
    size: tuple[Any, ...] = (2, 5) if name == "n-body" else ((2, 5, 7),)
    words = f"{PROGRAMS[name]} {'2 5' if name == 'n-body' else '2 5 7'}"
    with pytest.raises(GpulabError) as error:
        module.run(program(contents, code), "gfx942", *size, tmp_path)
    assert str(error.value) == f"{words} ended with code {code}.\nwhat it prints\nand its errors"


BODY_TIMES = (
    activity("copy", 0, 90), activity("kernel", 100, 600), activity("event", 200, 200), activity("kernel", 500, 1100),
    activity("kernel", 1000, 1050), activity("copy", 1100, 1200),
)  # fmt: skip
"""Kernels from 100 to 1100 µs: one step takes 500 µs. Copies lie outside."""


def body_rows(
    bodies: ModuleType, monkeypatch: pytest.MonkeyPatch, arch: str = "gfx942", last: float = 1e-5,
    activities: tuple[SimpleNamespace, ...] = BODY_TIMES, instructions: tuple[int, ...] = (20971520, 20971520),
) -> Any:  # fmt: skip
    """milestones() of runs that were so far from right places: the last one at the most."""
    calls: list[tuple[int, int]] = []

    def run(built: str, name: str, n: int, steps: int, folder: str) -> tuple[Any, float]:
        assert (built, name, Path(folder).is_dir()) == ("program", arch, True)
        calls.append((n, steps))
        launches = [SimpleNamespace(counters={"SQ_INSTS_VALU": each}) for each in instructions]
        return SimpleNamespace(activities=activities, launches=launches), last * len(calls) / 4

    monkeypatch.setattr(bodies, "run", run)
    rows = bodies.milestones("program", arch)
    assert calls == [(1, 3), (77, 3), (1000, 2), (8192, 2)]
    return rows


def test_milestones_of_bodies(
    bodies: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """8192 · 8192 · 2 pairs of 20 operations in 1000 µs are 2.684e12 a second: 1.64 % of 163.43e12 on gfx942, 4.37 % of
    61.44e12 on gfx1100. 41943040 instructions of waves of 64 lanes are 20 for each of 134217728 pairs, of 32 lanes 10.
    """
    assert body_rows(bodies, monkeypatch) == [
        ("right", "at most 1e-5 from right places", "1.0e-05", True),
        ("stays", "no copy between the first and the last kernel", "0", True),
        ("lean", "at most 20 vector instructions for a pair", "20.0", True),
        ("full", "at least 10% of the peak", "1.64%", False),
        ("fast", "at least 20% of the peak", "1.64%", False),
    ]
    assert capsys.readouterr().out == "8192 bodies on gfx942: 500.0 µs a step (modelled), 1.64% of the peak\n"
    assert body_rows(bodies, monkeypatch, "gfx1100")[2:] == [
        ("lean", "at most 20 vector instructions for a pair", "10.0", True),
        ("full", "at least 15% of the peak", "4.37%", False),
        ("fast", "at least 28% of the peak", "4.37%", False),
    ]
    assert capsys.readouterr().out == "8192 bodies on gfx1100: 500.0 µs a step (modelled), 4.37% of the peak\n"


def test_milestones_of_bodies_at_their_limits(bodies: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def reached(**changes: Any) -> list[bool]:
        return [row[3] for row in body_rows(bodies, monkeypatch, **changes)]

    inside = (*BODY_TIMES, activity("copy", 1099, 1200), activity("copy", 100, 200), activity("copy", 101, 200))
    assert body_rows(bodies, monkeypatch, activities=inside)[1][2:] == ("2", False)
    assert reached(last=1.01e-5)[0] is False
    assert reached(instructions=(20971520, 20971521))[2] is False
    share = 20 * 2 * 8192**2 / (1000 * 1e-6) / (163430.4 * 1e9)
    for full, fast in ((share, share), (share, share * 1.001), (share * 1.001, share)):
        monkeypatch.setattr(bodies, "SHARES", {"gfx942": (full, fast)})
        assert reached()[3:] == [full == share, fast == share]
    for activities, instructions in (((), (1,)), (BODY_TIMES[:1], (1,)), (BODY_TIMES, ())):
        with pytest.raises(GpulabError, match=r"^No kernel ran on a virtual device, so nothing was measured\.$"):
            reached(activities=activities, instructions=instructions)


# ----------------------------------------------------------------------------------------------------- image-pipeline

COLOURS = {
    (0, 0, 0): (60, 60, 60), (0, 0, 39): (85, 91, 75), (0, 69, 0): (76, 78, 80), (0, 69, 39): (191, 200, 185),
    (1, 0, 0): (181, 210, 201), (1, 0, 39): (191, 187, 185), (1, 69, 0): (196, 198, 197), (1, 69, 39): (85, 84, 81),
}  # fmt: skip
"""Of frame, row and column, as C computes them by begin() of pipeline.hip."""


def test_frames_begin_as_the_program_has_them(frames: ModuleType) -> None:
    found = frames.begin(2, 40, 70)
    assert (found.shape, found.dtype) == ((2, 70, 40, 4), np.uint8)
    assert {place: tuple(found[place]) for place in COLOURS} == {at: (*rgb, 255) for at, rgb in COLOURS.items()}


def test_frames_are_drawn_as_each_pixel_by_itself(frames: ModuleType) -> None:
    """Grey by the weights of BT.601; a blur of 11 · 11 pixels; slopes; at the edge the last pixel goes on."""
    colours = np.random.default_rng(3).integers(0, 256, (2, 9, 13, 4), np.uint8)
    weights = np.exp(-(np.arange(-5, 6) ** 2) / 8)
    weights /= weights.sum()
    drawn = frames.drawn(colours)
    for frame in range(2):
        grey = colours[frame, ..., :3] @ np.array([0.299, 0.587, 0.114])
        blurred = np.array([
            [sum(weights[j + 5] * weights[i + 5] * grey[min(max(y + j, 0), 8), min(max(x + i, 0), 12)]
                 for j in range(-5, 6) for i in range(-5, 6)) for x in range(13)] for y in range(9)
        ])  # fmt: skip
        for y, x in np.ndindex(9, 13):
            across = blurred[y, min(x + 1, 12)] - blurred[y, max(x - 1, 0)]
            down = blurred[min(y + 1, 8), x] - blurred[max(y - 1, 0), x]
            keep = max(0.0, 1 - 0.5 * (across**2 + down**2) ** 0.5 / 16)
            wanted = [*(keep * colours[frame, y, x, :3]), colours[frame, y, x, 3]]
            assert drawn[frame, y, x].tolist() == [int(each) for each in wanted]


def test_a_run_of_frames_is_compared(frames: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = np.full((1, 3, 2, 4), 250, np.uint8)
    monkeypatch.setattr(frames, "begin", lambda *size: size)
    monkeypatch.setattr(frames, "drawn", lambda size: wanted if size == (1, 2, 3) else None)
    found = wanted.copy()
    found[0, 1, 1, 2], found[0, 2, 0, 0] = 3, 255
    calls: list[Any] = []
    done, apart = frames.run(program(found.tobytes(), calls=calls), "gfx1100", (1, 2, 3), tmp_path)
    assert (done.stdout, apart) == ("what it prints\n", 247)
    assert calls == [(("1", "2", "3", str(tmp_path / "frames")), {"arch": "gfx1100", "seconds": 300})]
    with pytest.raises(GpulabError, match=r"^pipeline 1 2 3 wrote 23 bytes in place of 24\.$"):
        frames.run(program(found.tobytes()[:-1]), "gfx942", (1, 2, 3), tmp_path)


@pytest.mark.parametrize(
    ("spans", "share"),
    [
        (((0, 10),), 0), (((0, 10), (10, 20)), 0), (((0, 10), (12, 20)), 0), (((0, 10), (0, 10)), 1),
        (((5, 15), (2, 10)), 5 / 13), (((0, 10), (5, 15)), 1 / 3), (((0, 10), (0, 10), (0, 4), (20, 30)), 1 / 3),
        (((100, 200), (110, 120), (130, 140), (190, 300)), 3 / 20),
    ],
)  # fmt: skip
def test_the_share_of_the_time_in_which_two_run(
    frames: ModuleType, spans: tuple[tuple[float, float], ...], share: float
) -> None:
    assert frames.both([activity("kernel", *each) for each in spans]) == pytest.approx(share)


FRAME_TIMES = (
    activity("copy", 10, 90), activity("kernel", 50, 150), activity("event", 0, 0), activity("wait", 0, 5),
    activity("copy", 0, 0), activity("kernel", 170, 230), activity("fill", 200, 240), activity("fill", 249, 250),
)  # fmt: skip
"""Work from 10 to 250 µs, 15 for each of 16 frames; kernels for 160 µs, 10 a frame; two at once for 40 and 30 µs."""


def frame_rows(
    frames: ModuleType, monkeypatch: pytest.MonkeyPatch, arch: str = "gfx942", apart: tuple[int, ...] = (0, 1, 0, 0, 0),
    activities: tuple[SimpleNamespace, ...] = FRAME_TIMES, launches: int = 1,
) -> Any:  # fmt: skip
    """milestones() of runs that were so far from right colours, the last one with these activities."""
    calls: list[tuple[int, int, int]] = []

    def run(built: str, name: str, size: tuple[int, int, int], folder: str) -> tuple[Any, int]:
        assert (built, name, Path(folder).is_dir()) == ("program", arch, True)
        calls.append(size)
        return SimpleNamespace(activities=activities, launches=[None] * launches), apart[len(calls) - 1]

    monkeypatch.setattr(frames, "run", run)
    rows = frames.milestones("program", arch)
    assert calls == [(1, 1, 1), (3, 61, 37), (2, 130, 20), (5, 16, 300), (16, 512, 256)]
    return rows


def test_milestones_of_frames(
    frames: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert frame_rows(frames, monkeypatch) == [
        ("right", "at most 1 from right colours", "1", True),
        ("both", "two things at once for half of the time", "29%", False),
        ("short", "kernels take at most 10 µs a frame", "10.0", True),
        ("full", "at most 15 µs a frame", "15.0", True),
        ("fast", "at most 13 µs a frame", "15.0", False),
    ]
    said = "16 frames of 512 x 256 on {}: 15.0 µs a frame (modelled), kernels 10.0\n"
    assert capsys.readouterr().out == said.format("gfx942")
    assert frame_rows(frames, monkeypatch, "gfx1100")[2:] == [
        ("short", "kernels take at most 10 µs a frame", "10.0", True),
        ("full", "at most 24 µs a frame", "15.0", True),
        ("fast", "at most 22.5 µs a frame", "15.0", True),
    ]
    assert capsys.readouterr().out == said.format("gfx1100")


def test_milestones_of_frames_at_their_limits(frames: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def reached(**changes: Any) -> list[bool]:
        return [row[3] for row in frame_rows(frames, monkeypatch, **changes)]

    assert [reached(apart=apart)[0] for apart in ((0, 0, 2, 0, 0), (1, 1, 1, 1, 2), (1, 1, 1, 1, 1))] == [0, 0, 1]
    for end, fast in ((208, True), (208.01, False)):
        activities = (activity("copy", 0, end), activity("kernel", 0, 104))
        assert reached(activities=activities) == [True, fast, True, True, fast]
    assert reached(activities=(activity("kernel", 0, 160.01), activity("copy", 0, 240.01))) == [
        True, True, False, False, False
    ]  # fmt: skip
    with pytest.raises(GpulabError, match=r"^No kernel ran on a virtual device, so nothing was measured\.$"):
        reached(launches=0)


# -------------------------------------------------------------------------------------------------------- the command


@pytest.mark.parametrize("name", NAMES)
def test_what_the_command_prints(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A table of milestones; one with wrong results reaches none; an error goes to stderr, and the code is 1 then."""
    module = measuring(PROJECTS / name)
    made: list[Any] = []
    rows = [("right", "to be right", "0", True), ("both", "more", "7%", False), ("fast", "most", "10.0", True)]

    def called(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["measure.py", *words])
        return module.main(), *capsys.readouterr()

    monkeypatch.setattr(module, "make", lambda *asked: made.append(asked) or "program")
    monkeypatch.setattr(module, "milestones", lambda built, arch: rows if built == "program" else None)
    wide, narrow = (46, 8) if name == "n-body" else (40, 6)
    table = [f"  {row[0]:<6} {row[1]:<{wide}} {row[2]:>{narrow}}  " for row in rows]
    assert called() == (0, f"{table[0]}reached\n{table[1]}not yet\n{table[2]}reached\n", "")
    rows[0] = (*rows[0][:3], False)
    wrong = "".join(f"{each}not yet: results are wrong\n" for each in table)
    assert called("--arch", "gfx1100", "--folder", "there") == (0, wrong, "")
    built = f"build/{PROGRAMS[name]}"
    assert made == [(PROJECTS / name, built, "gfx942", "--always-make"), ("there", built, "gfx1100", "--always-make")]

    def refuse(*asked: str) -> None:
        raise GpulabError("There is no make.")

    monkeypatch.setattr(module, "make", refuse)
    assert called() == (1, "", "There is no make.\n")
    with pytest.raises(SystemExit) as ended:
        called("--arch", "gfx90a")
    assert ended.value.code == 2
    assert re.search("invalid choice: 'gfx90a'", capsys.readouterr().err)


@pytest.mark.parametrize("name", NAMES)
def test_the_script_ends_with_the_code_of_the_command(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["measure.py", "--folder", str(tmp_path / "absent")])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(PROJECTS / name / "measure.py"), run_name="__main__")
    assert ended.value.code == 1
    assert "make does not start in" in capsys.readouterr().err
