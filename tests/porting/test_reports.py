"""The whole report of each CUDA program in cuda/, and the lines side by side, as stored in reports/.

A changed rule or word shows here in which programs it says something else. With GPULAB_SCREENSHOTS=write the texts are
stored anew: read what has changed first.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gpulab import porting
from gpulab.porting.beside import rows
from tests.stored import compare_texts

FOLDER = Path(__file__).parent / "cuda"
STORED = Path(__file__).parent / "reports"
NAMES = sorted(path.stem for path in FOLDER.glob("*.cu"))


@pytest.mark.parametrize("name", NAMES)
def test_report(name: str) -> None:
    source = (FOLDER / f"{name}.cu").read_text(encoding="utf-8")
    translation = porting.hipify(source, name=f"{name}.cu")
    changes = [
        f"{each.line}:{each.column} {each.cuda} -> {each.hip} ({each.kind}, {each.api})" for each in translation.changes
    ]
    sides = [
        f"{pair.number or '+'} | {_side(pair.cuda)} | {_side(pair.hip)}"
        for pair in rows(translation)
        if pair.cuda != pair.hip
    ]
    kept = {line.strip() for line in porting.device_part(translation.text).splitlines()}
    left = [f"{n} {line.strip()}" for n, line in enumerate(translation.text.splitlines(), 1) if line.strip() in kept]
    parts = (
        ("Changes", changes),
        ("Side by side", sides),
        ("Report", translation.report().splitlines()),
        ("Device", left),
    )
    lines = [line for title, part in parts for line in (f"== {title}", *part)]
    compare_texts([line.rstrip() for line in lines], STORED / f"{name}.txt", exact=len(lines))


def _side(pieces: tuple[tuple[str, bool], ...]) -> str:
    return "".join(f"[{text}]" if changed else text for text, changed in pieces).strip()
