"""The table of what has rows, of all that the assembler knows (tests/architectures/test_conformance.py holds it)."""

import pytest

from gpulab import architectures
from tests.isa import coverage


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        coverage, "mnemonics", lambda arch: {"v_add_f32", "v_frobnicate_b32"} if arch == "gfx942" else {}
    )
    assert [line for line in coverage.table().splitlines() if "v_" in line] == ["gfx942: no row for v_frobnicate_b32"]


@pytest.mark.full
def test_the_table_can_be_printed() -> None:
    lines = coverage.table().splitlines()
    assert [line.split()[0] for line in lines[1:3]] == list(architectures.names()[:2])
    assert all(line.split()[-1] == "0" for line in lines[1 : 1 + len(architectures.names())])  # none is missing
