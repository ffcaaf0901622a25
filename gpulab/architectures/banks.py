"""LDS banks: which lanes of an access are served together (`phases`), and what their addresses cost (`serve`).

The rule, its sources and what is assumed are in docs/counters.md. The observer of virtual launches
(virtual_gpu/machine/native/patterns.c) counts by it, and takes the lanes of a phase from here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpulab.architectures.architecture import Architecture

_READ_128 = (0, 1, 2, 3, 1, 0, 3, 2)
"""Phase of each four lanes of the first 32 in a 96- or 128-bit read of CDNA 2 and 3."""


@dataclass(frozen=True, slots=True)
class Banking:
    """How lanes of an LDS access share cycles: `phases` of equally many lanes, consecutive ones unless `grouped`."""

    phases: int
    grouped: bool


@dataclass(frozen=True, slots=True)
class Phase:
    """What one phase of an access does.

    Attributes:
        lanes: the active lanes that it serves.
        banks: by bank its dwords (byte address / 4) in the order in which lanes first want them, each with those lanes;
            of an atomic each lane's dword by itself. Banks that nobody wants are left out.
    """

    lanes: tuple[int, ...]
    banks: Mapping[int, tuple[tuple[int, tuple[int, ...]], ...]]

    @property
    def cycles(self) -> int:
        """The most dwords in one bank; one at least."""
        return max([1, *map(len, self.banks.values())])


def banking(architecture: Architecture, bytes: int, action: str) -> Banking:
    """The phases of an LDS access of so many bytes a lane ("load", "store", "atomic").

    A phase has as many lanes as the banks can serve: 32 lanes of 32 bits, 16 of 64 or 8 of 128 where there are 32
    banks. 128-bit reads of CDNA 3 (and 2) take their lanes in a documented order, all others consecutive ones.
    """
    width = 4 if bytes <= 4 else 8 if bytes <= 8 else 16
    phases = max(1, architecture.wave_size * width // (architecture.lds_banks * architecture.lds_bank_bytes))
    grouped = width == 16 and action == "load" and architecture.lds_reads_grouped
    return Banking(phases, grouped)


def grouped_phase(lane: int) -> int:
    """The phase of a lane in a `grouped` access: {0-3, 20-23}, {4-7, 16-19}, {8-11, 28-31}, {12-15, 24-27}, and the
    same 32 lanes higher. Source: Composable Kernel, "LDS bank conflicts"."""
    return lane // 32 * 4 + _READ_128[lane // 4 % 8]


def phases(architecture: Architecture, bytes: int, action: str) -> tuple[tuple[int, ...], ...]:
    """The lanes of a wave by the phase in which they are served."""
    how, size = banking(architecture, bytes, action), architecture.wave_size
    each = size // how.phases
    phase = [grouped_phase(lane) if how.grouped else lane // each for lane in range(size)]
    return tuple(tuple(lane for lane in range(size) if phase[lane] == number) for number in range(how.phases))


def serve(architecture: Architecture, addresses: Sequence[int | None], bytes: int, action: str) -> tuple[Phase, ...]:
    """What each phase of one access does.

    Args:
        addresses: byte address in LDS by lane; None for a lane that is not active.
        bytes: of one lane.
        action: "load", "store" or "atomic"; lanes of an atomic on the same dword wait for each other.
    """
    found = []
    for group in phases(architecture, bytes, action):
        lanes = tuple(lane for lane in group if lane < len(addresses) and addresses[lane] is not None)
        banks: dict[int, dict[tuple[int, int], list[int]]] = {}
        for lane in lanes:
            address = addresses[lane]
            assert address is not None
            for dword in range(address // 4, (address + bytes - 1) // 4 + 1):
                key = dword, lane if action == "atomic" else -1
                banks.setdefault(dword % architecture.lds_banks, {}).setdefault(key, []).append(lane)
        found.append(
            Phase(
                lanes,
                {
                    bank: tuple((dword, tuple(who)) for (dword, _), who in wants.items())
                    for bank, wants in banks.items()
                },
            )
        )
    return tuple(found)
