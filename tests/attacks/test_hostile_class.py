"""A class of two hundred attacks (`hostile`) and one honest student is graded by one command.

None of them gets its points, reads or writes a file that is not its own, stops the others, or is anything but text.
"""

from __future__ import annotations

import json
import shutil
import sys
import warnings
from pathlib import Path

import pytest

from gpulab import cli, walls
from gpulab.classroom.results import NOT_JUDGED
from tests.attacks import hostile

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the walls are Linux's")
PARTS = {"kernel-counts-its-launches": 0.8, "kernel-one-thread": 0.7}
"""Whose honest part has its points: right values without a guard, and by a single thread."""


def withdrawn(submitted: Path, student: str) -> None:
    """Take away what a student handed in: a folder, or a zip beside them."""
    if (submitted / student).is_dir():
        shutil.rmtree(submitted / student)
    else:
        (submitted / f"{student}.zip").unlink()


def named_by_processes(folder: Path) -> list[str]:
    """Command lines of running processes that name a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:  # it has ended since
            continue
        if str(folder) in words:
            found.append(words)
    return found


@pytest.mark.parametrize(
    "every",
    [
        pytest.param(5, id="a fifth", marks=pytest.mark.part_of("test_no_attack_succeeds[all]")),
        pytest.param(1, id="all", marks=pytest.mark.seldom),
    ],
)
def test_no_attack_succeeds(tmp_path: Path, capfd: pytest.CaptureFixture[str], every: int) -> None:
    if walls.level()[0] not in ("landlock", "bubblewrap"):
        pytest.fail("this system has no walls: see gpulab doctor")
    secret, mark = tmp_path / "secret.txt", tmp_path / hostile.MARK
    secret.write_text(hostile.SECRET + "\n")
    submitted, out = tmp_path / "submitted", tmp_path / "out"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a zip with one name twice
        attackers = hostile.hand_in(submitted, secret, mark)
    assert len(attackers) == len(set(attackers)) >= 200
    for name in [name for place, name in enumerate(attackers) if place % every]:
        withdrawn(submitted, name)
    attackers = attackers[::every]
    (submitted / "honest").mkdir()
    (submitted / "honest" / f"{hostile.EXERCISE}.hip").write_text(hostile.RIGHT)
    before = sorted(tmp_path.rglob("*"))
    words = ["grade", str(submitted), "--seed", "9", "--workers", "2", "--seconds", "12", "--out", str(out)]
    assert cli.main(words) == 0
    said = "".join(capfd.readouterr())

    rows = [row for row in json.loads((out / "report.json").read_text()) if row["status"] != "not handed in"]
    assert {row["student"] for row in rows} == {*attackers, "honest"}
    assert [row["student"] for row in rows if row["status"] == "passed"] == ["honest"]
    parts = {name: points for name, points in PARTS.items() if name in attackers}
    assert {row["student"]: row["points"] for row in rows if row["points"]} == {"honest": 1, **parts}
    assert all(row["reason"] or row["cause"] or row["headline"] for row in rows)
    assert [row for row in rows if row["status"] == NOT_JUDGED] == []

    written = [path for path in out.rglob("*") if path.is_file()]
    texts = {path.name: path.read_bytes() for path in written} | {"terminal": said.encode()}
    assert not [name for name, data in texts.items() if hostile.SECRET.encode() in data or b"root:x:" in data]
    assert not [name for name, data in texts.items() if b"\x1b" in data or b"\x07" in data]
    pages = [path.read_text() for path in (out / "feedback").glob("*.html")]
    assert len(pages) == len({row["student"] for row in rows})
    assert not [page for page in pages if "<script" in page or "<img src=x" in page]
    assert sorted(path for path in tmp_path.rglob("*") if out not in (path, *path.parents)) == before
    assert not mark.exists()
    assert not list(Path("/dev/shm").glob(f"*{hostile.MARK}*"))
    assert named_by_processes(submitted) == []
