"""Points with partial credit: what each criterion of a verdict is worth.

A `Scheme` has the points of each exercise, and the share that each criterion has of them. An answer that passed has all
points. Of any other it has the shares of the criteria that were shown to be met; one that was not reached gives none.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from gpulab.errors import CheckError, GpulabError
from gpulab.grading.criteria import FAULTS, HIDDEN, VISIBLE, Criterion

SHARES = {VISIBLE: Fraction(3, 10), HIDDEN: Fraction(2, 10), FAULTS: Fraction(2, 10), "limits": Fraction(3, 10)}
"""The part of the points that each criterion is worth, unless the instructor says otherwise; "limits" are all of the
exercise's requirements together. What an exercise does not have counts for nothing."""


@dataclass(frozen=True)
class Scheme:
    """What answers are worth.

    Args:
        shares: of each criterion, by its name; they need not add up to 1.
        points: of each exercise that is not worth what its notebook says.
        partial: whether an answer that did not pass may have points.
    """

    shares: Mapping[str, Fraction] = field(default_factory=lambda: dict(SHARES))
    points: Mapping[str, Fraction] = field(default_factory=dict)
    partial: bool = True

    def full(self, exercise: str) -> Fraction:
        """The points of an exercise."""
        worth = self.points.get(exercise)
        return notebook_points(exercise) if worth is None else worth

    def earned(self, exercise: str, passed: bool, criteria: Sequence[Criterion]) -> Fraction:
        """The points of an answer, rounded to hundredths (a half up)."""
        full = self.full(exercise)
        if passed:
            return full
        limits = sum(each.name not in (VISIBLE, HIDDEN, FAULTS) for each in criteria)
        worth = [
            self.shares.get(each.name, Fraction(0))
            if each.name in (VISIBLE, HIDDEN, FAULTS)
            else self.shares.get("limits", Fraction(0)) / limits
            for each in criteria
        ]
        whole = sum(worth, Fraction(0))
        if not self.partial or not whole:
            return Fraction(0)
        met = sum((share for share, each in zip(worth, criteria, strict=True) if each.passed), Fraction(0))
        return Fraction((full * met / whole * 100 + Fraction(1, 2)).__floor__(), 100)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for files."""
        return {
            "partial": self.partial,
            "criteria": {name: str(share) for name, share in self.shares.items()},
            "exercises": {name: str(worth) for name, worth in self.points.items()},
        }


def scheme_of(path: Path | None) -> Scheme:
    """The scheme in a TOML file, or the usual one.

    The file: ``partial = false``; a table ``[criteria]`` with the share of each criterion; a table ``[exercises]`` with
    the points of exercises. Each may be left out. Raises CheckError for anything else in it.
    """
    if path is None:
        return Scheme()
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise CheckError(f"{path} cannot be read: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CheckError(f"{path} is no TOML: {error}.") from None
    partial = data.pop("partial", True)
    criteria, exercises = data.pop("criteria", None), data.pop("exercises", {})
    if data or not isinstance(partial, bool):
        raise CheckError(
            f"{path}: {', '.join(data) or 'partial'} is not understood.",
            hint="it may have partial = true or false, and the tables [criteria] and [exercises].",
        )
    shares = dict(SHARES) if criteria is None else _numbers(path, "criteria", criteria)
    for name in shares:
        if name not in SHARES:
            raise CheckError(f"{path}: there is no criterion {name!r}.", hint=f"there are {', '.join(SHARES)}.")
    points = _numbers(path, "exercises", exercises)
    from gpulab.grading import load

    for id in points:
        load(id)
    return Scheme(shares, points, partial)


def _numbers(path: Path, table: str, found: object) -> dict[str, Fraction]:
    if not isinstance(found, dict):
        raise CheckError(f"{path}: {table} is no table.", hint=f"write [{table}] on a line of its own.")
    for name, value in found.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1e6:
            raise CheckError(f"{path}: {table}.{name} is {value!r}, not a number from 0 to a million.")
    return {name: Fraction(str(value)) for name, value in found.items()}


def notebook_points(exercise: str) -> Fraction:
    """What the check cell of the exercise's notebook is worth: the same as under nbgrader.

    An installed package without the exercise's text has the notebook that learners get.
    """
    from gpulab.grading.library import folder_of

    try:
        text = (folder_of(exercise) / "exercise.md").read_text(encoding="utf-8")
    except OSError:
        return _released_points(exercise)
    found = re.findall(r"^:tags: \[[^\]]*\bgrade\b[^\]]*\]\n(?::(?!points)[^\n]*\n)*:points: (\d+)", text, re.MULTILINE)
    return Fraction(sum(map(int, found))) if found else Fraction(1)


def _released_points(exercise: str) -> Fraction:
    import nbformat

    from gpulab import course

    try:
        released = nbformat.read(course.learners() / "exercises" / exercise / f"{exercise}.ipynb", as_version=4)
    except (OSError, GpulabError):
        return Fraction(1)
    marks = [cell.metadata.get("nbgrader", {}) for cell in released.cells]
    return Fraction(sum(mark["points"] for mark in marks if mark.get("grade")) or 1)


def number(value: Fraction) -> float | int:
    """A number of points as JSON and tables show it: whole where it is whole."""
    return int(value) if value.denominator == 1 else float(value)
