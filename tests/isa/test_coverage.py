"""The table of what has rows, of all that the assembler knows (tests/architectures/test_conformance.py holds it)."""

from gpulab import architectures
from tests.isa import coverage


def test_the_table_can_be_printed() -> None:
    lines = coverage.table().splitlines()
    assert [line.split()[0] for line in lines[1:3]] == list(architectures.names()[:2])
    assert all(line.split()[-1] == "0" for line in lines[1 : 1 + len(architectures.names())])  # none is missing
