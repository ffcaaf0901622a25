"""docs/assembly.md: its Python blocks are one program, and each prints what stands below it."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import gpulab

PAGE = Path(__file__).parents[2] / "docs" / "assembly.md"


def test_every_block_prints_what_stands_below_it() -> None:
    names: dict[str, object] = {}
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    kinds = [kind for kind, _ in blocks]
    assert kinds == ["python", "text"] * (len(kinds) // 2)
    assert len(kinds) >= 10
    found = gpulab.device().index
    try:
        for (_, program), (_, expected) in zip(blocks[::2], blocks[1::2], strict=True):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(program, str(PAGE), "exec"), names)
            assert printed.getvalue() == expected
    finally:
        gpulab.use(found)
