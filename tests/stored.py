"""Stored texts that tests compare with: words exactly, numbers up to a tolerance."""

from __future__ import annotations

import itertools
import os
import re
from pathlib import Path

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def compare_texts(found: list[str], stored: Path, exact: int = 0, after: str = "") -> None:
    """Compare lines with those of a stored file. With GPULAB_SCREENSHOTS=write they are stored instead.

    Args:
        exact: in so many lines from the first on numbers have no tolerance.
        after: in other lines those before these words have none either.

    Raises:
        AssertionError: with the first lines that differ.
    """
    if os.environ.get("GPULAB_SCREENSHOTS") == "write":
        stored.write_text("\n".join(found) + "\n", encoding="utf-8")
        return
    assert stored.is_file(), f"there is no {stored.name}: GPULAB_SCREENSHOTS=write stores it"
    wanted = stored.read_text(encoding="utf-8").splitlines()
    differing = [
        f"line {number}: {one!r} instead of {other!r}"
        for number, (one, other) in enumerate(itertools.zip_longest(found, wanted, fillvalue=""), 1)
        if one != other and (number <= exact or not alike(one, other, after))
    ]
    said = f"{len(differing)} lines are not as in {stored.name}; if it is meant, GPULAB_SCREENSHOTS=write stores it:"
    assert not differing, "\n".join([said, *differing[:8]])


def alike(one: str, other: str, after: str = "") -> bool:
    """Do two lines have the same words, and numbers within 0.6 of each other? What is before `after` is the same."""
    if after and after in one and one.partition(after)[0] != other.partition(after)[0]:
        return False
    numbers = [[float(number) for number in NUMBER.findall(line)] for line in (one, other)]
    same = NUMBER.sub("#", one) == NUMBER.sub("#", other)
    return same and all(abs(a - b) <= 0.6 for a, b in zip(*numbers, strict=True))
