"""Launches that are checked for what hardware does not notice: `checked` opens a block of them.

with gpulab.checked():
    reduce[64, 256](n, x, out)
"""

from __future__ import annotations

from collections.abc import Iterator

from gpulab import providers
from gpulab.blocks import block


@block("with gpulab.checked(): kernel[grid, block](...)")
def checked() -> Iterator[None]:
    """Every launch on a virtual device inside the block is checked, and stopped soon after the first mistake.

    Found are data races (within a wave, a block, the grid), reads of memory that was never written, barriers that not
    all threads of a block reach, and waiting that never ends; the error names both places. Checked launches run on one
    core and take a few times as long. docs/checked.md says what is found and what is not.

    Raises:
        CapabilityError: the selected device is a real GPU.
        CheckedFault: from a launch inside the block, with what was found; other mistakes raise what they always raise.
    """
    with providers.instruments("checked").checking():
        yield
