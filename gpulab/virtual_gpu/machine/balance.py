"""Launches whose workgroups do different amounts of work: `weights` has them counted, `Amounts` says by how much they
differ, `last_end` when the last one ends, `stays` where and when each runs.

What a workgroup did is the instructions that its waves executed (of a large kernel those of its inner loops), turns
of waiting apart. docs/timing.md has the rules.
"""

from __future__ import annotations

import ctypes
import struct
from array import array
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gpulab.virtual_gpu.isa.row import Control, Memory
from gpulab.virtual_gpu.machine.native import build
from gpulab.virtual_gpu.machine.native.structures import BalancedPlaceStruct, BalancedUnitStruct, BalanceStruct
from gpulab.virtual_gpu.machine.waiting import Waits
from gpulab.virtual_gpu.translate.decode import Decoded, returns_value

MOST_BLOCKS = 48  # of a kernel that are counted by workgroup
SHORT = 64  # instructions of a kernel without loops whose workgroups are not worth comparing
MOST_GROUPS = 1 << 20  # of a launch whose amounts are kept
MOST_STAYS = 1 << 16  # of a launch of which it is said where and when each runs


def weights(
    blocks: Sequence[Sequence[int]], decoded: Mapping[int, Decoded], waits: Waits, loops: Mapping[int, frozenset[int]]
) -> array[int]:
    """(block, instructions) of the blocks by which workgroups are compared; none if all execute the same, or
    nearly so.

    Args:
        loops: the blocks of each loop by its head.
    """
    branches = any(isinstance(each.row, Control) and each.row.kind == "cbranch" for each in decoded.values())
    if not branches or (not loops and len(decoded) < SHORT):
        return array("I")
    deep = [0] * len(blocks)
    for inside in loops.values():
        for number in inside:
            deep[number] += 1
    waiting = waits.blocks
    counted = [number for number in range(len(blocks)) if blocks[number] and number not in waiting]
    counted.sort(key=lambda number: (-len(blocks[number]) << 3 * min(deep[number], 8), number))
    return array("I", [word for number in sorted(counted[:MOST_BLOCKS]) for word in (number, len(blocks[number]))])


def taken_by_turns(decoded: Mapping[int, Decoded]) -> bool:
    """Whether what a workgroup does may depend on the order in which workgroups run: it gets values of atomics."""
    return any(
        isinstance(each.row, Memory)
        and each.row.action == "atomic"
        and each.row.space != "lds"
        and returns_value(each.instruction, each.row)
        for each in decoded.values()
    )


class Amounts(NamedTuple):
    """What each workgroup of an uneven launch did.

    raw: u64 of each of `groups`. heavy: what the workgroup did to which an instruction belongs, on average.
    """

    raw: bytes
    groups: int
    total: int
    heavy: float

    @classmethod
    def of(cls, raw: bytes) -> Amounts | None:
        """Of the counts as they lie in memory; None if there are none, or all did nothing."""
        found = struct.unpack(f"={len(raw) // 8}Q", raw)
        total = sum(found)
        return cls(raw, len(found), total, sum(n * n for n in found) / total) if total else None

    @property
    def alike(self) -> int:
        """How many workgroups of `heavy` each are as much work."""
        return max(round(self.total / self.heavy), 1)

    @property
    def factor(self) -> float:
        """`heavy` as a multiple of the average."""
        return self.heavy * self.groups / self.total


class Device(NamedTuple):
    """What `last_end` takes of a device and a kernel.

    dies, units, slots: units of one die, and workgroups that one holds. each: clocks of a workgroup alone for 1 of its
    amount. start, step: clocks from a free place to the first instruction; between two starts on a die. filled, most:
    workgroups that run at full speed at a time, on one unit and on the device.
    """

    dies: int
    units: int
    slots: int
    each: float
    start: float
    step: float
    filled: float
    most: float


def last_end(device: Device, groups: int, amounts: bytes | float) -> tuple[float, int]:
    """When the last of so many workgroups ends, in clocks; and the most of all amounts that came to one unit.

    Args:
        amounts: u64 of each, or what all of them did.
    """
    run = _run(device, groups, amounts)
    return _number(run.clocks), int(run.heaviest)


def stays(device: Device, amounts: bytes) -> list[tuple[int, int, float, float]]:
    """(unit of its die, place of the unit, start, end) of each workgroup, in clocks: from when it gets its place."""
    groups = len(amounts) // 8
    where, starts, ends = array("Q", bytes(8 * groups)), array("d", bytes(8 * groups)), array("d", bytes(8 * groups))
    _run(device, groups, amounts, (where, starts, ends))
    return [
        (place // device.slots % device.units, place % device.slots, start, end)
        for place, start, end in zip(where, starts, ends, strict=True)
    ]


def _run(device: Device, groups: int, amounts: bytes | float, each: tuple[array[Any], ...] = ()) -> BalanceStruct:
    d = device
    units = (BalancedUnitStruct * (d.dies * d.units))()
    places = (BalancedPlaceStruct * (d.dies * d.units * d.slots))()
    given = amounts if isinstance(amounts, bytes) else b""
    run = BalanceStruct(
        ctypes.cast(ctypes.c_char_p(given), ctypes.c_void_p).value if given else 0,
        0 if isinstance(amounts, bytes) else max(round(amounts), 1),
        groups, d.dies, d.units, d.slots, *(_double(x) for x in (d.each, d.start, d.step, d.filled, d.most)),
        ctypes.addressof(units), ctypes.addressof(places), 0, 0, *(results.buffer_info()[0] for results in each),
    )  # fmt: skip
    build.function("balance")(ctypes.addressof(run))
    return run


def _number(value: int) -> float:
    (number,) = struct.unpack("=d", struct.pack("=Q", value))
    return float(number)


def _double(value: float) -> int:
    return int(struct.unpack("=Q", struct.pack("=d", value))[0])
