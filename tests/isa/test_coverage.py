"""Every instruction that the assembler knows for a GPU has a row, or is refused by name with a reason."""

import pytest

from gpulab.virtual_gpu import isa
from tests.isa import coverage


@pytest.mark.parametrize("arch", coverage.ARCHES)
def test_nothing_is_missing(arch):
    assert len(coverage.mnemonics(arch)) > 1000
    assert coverage.missing(arch) == []


@pytest.mark.parametrize("arch", coverage.ARCHES)
def test_refusals_are_few_and_none_has_a_row(arch):
    groups = coverage.refused(arch)
    names = [name for group in groups.values() for name in group]
    assert not [name for name in names if name in isa.table(arch)]
    graphics = [n for n in names if n.startswith(("image_", "v_interp", "buffer_", "tbuffer_"))]
    assert len(names) - len(graphics) < 60


def test_the_table_can_be_printed():
    lines = coverage.table().splitlines()
    assert [line.split()[0] for line in lines[1:3]] == ["gfx1030", "gfx1100"]
