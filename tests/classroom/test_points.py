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


def test_halves_of_a_hundredth_go_up() -> None:
    scheme = Scheme({"visible": Fraction(1), "hidden": Fraction(7)}, {"a": Fraction(1)})
    assert scheme.earned("a", False, criteria(visible=True, hidden=False)) == Fraction(13, 100)  # 0.125
    thirds = Scheme({"visible": Fraction(1), "hidden": Fraction(2)}, {"a": Fraction(1)})
    assert thirds.earned("a", False, criteria(visible=True, hidden=False)) == Fraction(33, 100)
    assert thirds.earned("a", False, criteria(visible=False, hidden=True)) == Fraction(67, 100)


def test_the_most_that_an_exercise_may_be_worth(tmp_path: Path) -> None:
    path = tmp_path / "points.toml"
    path.write_text("[exercises]\nsaxpy-guard = 1_000_000\n")
    assert scheme_of(path).full("saxpy-guard") == 10**6
    path.write_text("[exercises]\nsaxpy-guard = 1_000_001\n")
    with pytest.raises(CheckError, match=r"exercises\.saxpy-guard is 1000001, not a number from 0 to a million"):
        scheme_of(path)


def test_a_scheme_as_plain_data() -> None:
    assert Scheme(points={"a": Fraction(5, 2)}, partial=False).as_dict() == {
        "partial": False,
        "criteria": {"visible": "3/10", "hidden": "1/5", "faults": "1/5", "limits": "3/10"},
        "exercises": {"a": "5/2"},
    }


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("# A\n", 1), (":tags: [grade]\n:points: 3\n", 3), (":tags: [a, grade, b]\n:x: y\n:points: 12\n", 12),
        (":tags: [grade]\n:points: 3\n\n:tags: [grade]\n:points: 4\n", 7), (":tags: [upgraded]\n:points: 3\n", 1),
        (":tags: [a]\n:points: 3\n", 1), (":tags: [grade]\n\n:points: 3\n", 1),
    ],
)  # fmt: skip
def test_points_in_the_text_of_an_exercise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, points: int
) -> None:
    monkeypatch.setattr("gpulab.grading.library.folder_of", lambda id: tmp_path / id)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "exercise.md").write_text(text)
    assert notebook_points("a") == points


@pytest.mark.parametrize(
    ("marks", "points"),
    [
        (None, 1), ([], 1), ([{}], 1), ([{"grade": True, "points": 2}, {"grade": True, "points": 3}, {}], 5),
        ([{"grade": False, "points": 4}], 1), ([{"grade": True, "points": 0}], 1),
    ],
)  # fmt: skip
def test_points_in_the_notebook_of_learners(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, marks: list[dict[str, object]] | None, points: int
) -> None:
    """Without one, and without a cell for points, it is worth 1."""
    from nbformat.v4 import new_code_cell, new_notebook, writes

    monkeypatch.setattr("gpulab.grading.library.folder_of", lambda id: tmp_path / "absent")
    monkeypatch.setattr("gpulab.course.learners", lambda: tmp_path)
    if marks is not None:
        (tmp_path / "exercises" / "a").mkdir(parents=True)
        cells = [new_code_cell("x", metadata={"nbgrader": mark} if mark else {}) for mark in marks]
        (tmp_path / "exercises" / "a" / "a.ipynb").write_text(writes(new_notebook(cells=cells)))
    assert notebook_points("a") == points


def test_a_criterion_without_a_share_counts_for_nothing() -> None:
    scheme = Scheme({"visible": Fraction(1)}, {"a": Fraction(10)})
    met = {"visible": True, "hidden": False, "faults": False, "conflicts": False}
    assert scheme.earned("a", False, criteria(**met)) == 10
    assert Scheme({"limits": Fraction(1)}, {"a": Fraction(10)}).earned("a", False, criteria(**met)) == 0
