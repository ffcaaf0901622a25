"""Points with partial credit, against numbers worked out by hand."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from gpulab.classroom.points import Scheme, notebook_points, number, scheme_of
from gpulab.errors import CheckError
from gpulab.grading import exercise_ids
from gpulab.grading.criteria import Criterion

ROOT = Path(__file__).resolve().parents[2]
SCHEME = Scheme(points={"a": Fraction(10)})


def criteria(**passed: bool | None) -> list[Criterion]:
    return [Criterion(name, name, value) for name, value in passed.items()]


@pytest.mark.parametrize(
    ("met", "points"),
    [
        ({"visible": True, "hidden": True, "faults": True, "conflicts": True}, 10),
        ({"visible": True, "hidden": True, "faults": True, "conflicts": False}, 7),
        ({"visible": True, "hidden": False, "faults": True, "conflicts": None}, 5),
        ({"visible": True, "hidden": None, "faults": None, "conflicts": None}, 3),
        ({"visible": False, "hidden": None, "faults": None, "conflicts": None}, 0),
        # two limits share 0.3
        ({"visible": True, "hidden": True, "faults": True, "conflicts": False, "registers": True}, 8.5),
        # no limits: 0.3 + 0.2 of 0.7, 7.142857...
        ({"visible": True, "hidden": False, "faults": True}, 7.14),
        ({}, 0),
    ],
)  # fmt: skip
def test_shares(met: dict[str, bool | None], points: float) -> None:
    assert number(SCHEME.earned("a", False, criteria(**met))) == points


def test_what_passed_has_all_points_whatever_was_not_judged() -> None:
    assert SCHEME.earned("a", True, criteria(visible=True, hidden=None)) == 10


def test_all_or_nothing() -> None:
    scheme = Scheme(points={"a": Fraction(10)}, partial=False)
    assert scheme.earned("a", False, criteria(visible=True, hidden=True, faults=True, conflicts=False)) == 0
    assert scheme.earned("a", True, ()) == 10


def test_notebooks_say_what_exercises_are_worth() -> None:
    """The points that nbgrader finds in the built notebooks."""
    for id in exercise_ids():
        cells = json.loads((ROOT / "solutions" / id / f"{id}.ipynb").read_text(encoding="utf-8"))["cells"]
        marks = [cell["metadata"].get("nbgrader", {}) for cell in cells]
        assert notebook_points(id) == sum(mark["points"] for mark in marks if mark.get("grade"))


def test_a_package_without_the_texts_of_exercises_knows_their_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = {id: notebook_points(id) for id in ("first-fill", "block-sum", "port-a-program")}
    assert sorted(expected.values()) == [1, 2, 6]
    monkeypatch.setenv("GPULAB_COURSE", str(tmp_path))
    for id in expected:
        (tmp_path / "exercises" / id).mkdir(parents=True)
    assert {id: notebook_points(id) for id in expected} == expected


def test_a_scheme_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "points.toml"
    path.write_text(
        "partial = true\n[criteria]\nvisible = 0.5\nhidden = 0.5\n[exercises]\nsaxpy-guard = 4\nfirst-fill = 2.5\n"
    )
    scheme = scheme_of(path)
    assert scheme.full("saxpy-guard") == 4
    assert scheme.full("first-fill") == Fraction(5, 2)
    assert scheme.full("port-a-program") == 6  # its notebook's
    assert scheme.earned("saxpy-guard", False, criteria(visible=True, hidden=False, faults=False)) == 2
    assert scheme_of(None) == Scheme()


def test_an_exercise_may_be_worth_nothing_and_a_mark_may_stand_at_the_beginning(tmp_path: Path) -> None:
    """As Windows' editor saves it."""
    path = tmp_path / "points.toml"
    path.write_text("[exercises]\nsaxpy-guard = 0\n", encoding="utf-8-sig")
    assert scheme_of(path).full("saxpy-guard") == 0
    assert scheme_of(path).earned("saxpy-guard", True, ()) == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = ", "no TOML"),
        ("other = 1", "other is not understood"),
        ('partial = "no"', "partial is not understood"),
        ("criteria = 1", "criteria is no table"),
        ("[criteria]\nspeed = 1", "no criterion 'speed'"),
        ("[criteria]\nvisible = true", "criteria.visible is True"),
        ("[criteria]\nvisible = -1", "not a number from 0"),
        ("[exercises]\nsaxpy-guard = nan", "not a number"),
        ("[exercises]\nno-such = 1", "no exercise 'no-such'"),
    ],
)
def test_what_is_wrong_in_a_file_is_said(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "points.toml").write_text(text)
    with pytest.raises(CheckError, match=said):
        scheme_of(tmp_path / "points.toml")
    with pytest.raises(CheckError, match="cannot be read"):
        scheme_of(tmp_path / "absent.toml")
