"""Launches on weak memory: `weak` opens a block of them.

for seed in range(64):
    with gpulab.weak(seed):
        publish_and_receive[2, 64](box, flag, out)
"""

from __future__ import annotations

import operator
from collections.abc import Iterator

from gpulab import providers
from gpulab.blocks import block
from gpulab.errors import ArgumentError

SEEDS = 1 << 32


@block("with gpulab.weak(0): kernel[grid, block](...)")
def weak(seed: int) -> Iterator[None]:
    """In every launch on a virtual device inside the block, what waves load and store happens late and out of order.

    What the instruction set and LLVM's memory model of the device allow may happen, and nothing else: waits, written
    back and invalidated caches have the effect that they have on hardware. The seed chooses one of the orders; the same
    seed gives the same one. A kernel that lacks a release or an acquire is wrong for some seeds. Such launches are slow
    (some ten thousand instructions of waves a second) and have neither counters nor a time. docs/weak.md says
    what is modelled and what is not.

    Args:
        seed: from 0 to 2**32 - 1.

    Raises:
        ArgumentError: no such seed.
        CapabilityError: the selected device is a real GPU.
    """
    try:
        number = operator.index(seed)
    except TypeError:
        number = SEEDS
    if not 0 <= number < SEEDS:
        raise ArgumentError(
            f"{seed!r} is no seed.",
            why="a seed is a whole number from 0 to 2**32 - 1.",
            hint="begin with gpulab.weak(0).",
        )
    with providers.instruments("weak").weakening(number):
        yield
