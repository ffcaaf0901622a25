#!/usr/bin/env python3
"""Renews tests/seconds.tsv, by which pytest's workers take the longest files first, from what a run has measured.

    make test PYTEST_ARGS=--junitxml=/tmp/measured.xml
    python tools/seconds.py /tmp/measured.xml              several files: what a test took longest counts

Files and tests that the run left out keep their number; those that are no more go. Below a second nothing is listed.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "tests" / "seconds.tsv"


def place_of(case: ElementTree.Element) -> tuple[str, str]:
    """The file of a test, and its name in there ("" for a notebook's cell)."""
    words = case.get("classname", "").split(".")
    if words[-1] == "ipynb":
        return "/".join(words[:-1]) + ".ipynb", ""
    end = max((at for at, word in enumerate(words) if word.startswith("test_")), default=len(words) - 1) + 1
    return "/".join(words[:end]) + ".py", "::".join([*words[end:], case.get("name", "")])


def is_there(name: str) -> bool:
    """Whether a file, or a test of it, still exists."""
    path, _, test = name.partition("::")
    file = ROOT / path
    return file.exists() and (
        not test or f"def {test.split('::')[-1].split('[')[0]}(" in file.read_text(encoding="utf-8")
    )


def measured(report: Path, apart: tuple[str, ...]) -> dict[str, float]:
    """Seconds of each file, and of each test of those that are taken apart."""
    found: dict[str, float] = defaultdict(float)
    for case in ElementTree.parse(report).iter("testcase"):
        path, name = place_of(case)
        found[f"{path}::{name}" if path in apart else path] += float(case.get("time", "0"))
    return found


def main(reports: list[str]) -> int:
    sys.path.insert(0, str(ROOT))
    from conftest import APART

    rows = (line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines())
    seconds = {name: float(number) for number, name in rows if is_there(name)}
    new: dict[str, float] = {}
    for report in reports:
        for name, number in measured(Path(report), APART).items():
            new[name] = max(new.get(name, 0.0), number)
    seconds.update(new)
    listed = sorted(
        ((round(number), name) for name, number in seconds.items() if number >= 1), key=lambda row: (-row[0], row[1])
    )
    TABLE.write_text("".join(f"{number}\t{name}\n" for number, name in listed), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
