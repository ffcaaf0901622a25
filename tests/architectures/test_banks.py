"""LDS banks: documented strides and lane orders."""

from __future__ import annotations

import pytest

from gpulab import architectures
from gpulab.architectures import banks

# Stride in dwords -> lanes that share a bank, of 32 lanes over 32 banks (RDNA 3 ISA, section 12.1; the examples of
# rocprofiler-compute).
STRIDES = {0: 1, 1: 1, 2: 2, 3: 1, 4: 4, 5: 1, 8: 8, 16: 16, 17: 1, 31: 1, 32: 32, 33: 1, 64: 32}
# Phases of a wave and lanes of each, by bytes of a lane: docs/counters.md.
PHASES = {
    "gfx942": {4: (2, 32), 8: (4, 16), 16: (8, 8)},
    "gfx90a": {4: (2, 32), 8: (4, 16), 16: (8, 8)},
    "gfx950": {4: (1, 64), 8: (2, 32), 16: (4, 16)},
    "gfx1100": {4: (1, 32), 8: (2, 16), 16: (4, 8)},
    "gfx1030": {4: (1, 32), 8: (2, 16), 16: (4, 8)},
    "gfx1201": {4: (1, 32), 8: (2, 16), 16: (4, 8)},
}


def cycles(arch: str, addresses: list[int | None], bytes: int = 4, action: str = "load") -> int:
    return sum(phase.cycles for phase in banks.serve(architectures.get(arch), addresses, bytes, action))


@pytest.mark.parametrize(("stride", "degree"), STRIDES.items())
def test_strides_of_dwords(stride: int, degree: int) -> None:
    assert cycles("gfx1100", [4 * stride * lane for lane in range(32)]) == degree
    assert cycles("gfx942", [4 * stride * lane for lane in range(64)]) == 2 * degree


def test_64_banks() -> None:
    for stride, degree in ((1, 1), (2, 2), (32, 32), (64, 64), (33, 1)):
        assert cycles("gfx950", [4 * stride * lane for lane in range(64)]) == degree


@pytest.mark.parametrize("arch", PHASES)
def test_phases(arch: str) -> None:
    a = architectures.get(arch)
    for bytes, (count, each) in PHASES[arch].items():
        for action in ("load", "store", "atomic"):
            groups = banks.phases(a, bytes, action)
            assert [len(group) for group in groups] == [each] * count
            assert sorted(sum(groups, ())) == list(range(a.wave_size))


def test_128_bit_reads_of_cdna_3_take_their_lanes_in_an_order_of_their_own() -> None:
    a = architectures.get("gfx942")
    read = banks.phases(a, 16, "load")
    assert read[:4] == (
        (0, 1, 2, 3, 20, 21, 22, 23), (4, 5, 6, 7, 16, 17, 18, 19),
        (8, 9, 10, 11, 28, 29, 30, 31), (12, 13, 14, 15, 24, 25, 26, 27),
    )  # fmt: skip
    assert read[4:] == tuple(tuple(lane + 32 for lane in group) for group in read[:4])
    assert banks.phases(a, 16, "store")[1] == tuple(range(8, 16))


def test_one_dword_for_all_is_one_cycle_but_for_atomics() -> None:
    (phase,) = banks.serve(architectures.get("gfx1100"), [64] * 32, 4, "load")
    assert phase.banks == {16: ((16, tuple(range(32))),)}
    assert phase.cycles == 1
    assert cycles("gfx1100", [64] * 32, action="atomic") == 32


def test_lanes_that_are_off_want_nothing() -> None:
    only: list[int | None] = [128 * lane if lane < 3 else None for lane in range(64)]
    first, second = banks.serve(architectures.get("gfx942"), only, 4, "load")
    assert (first.lanes, first.cycles) == ((0, 1, 2), 3)
    assert (second.lanes, second.cycles, second.banks) == ((), 1, {})
