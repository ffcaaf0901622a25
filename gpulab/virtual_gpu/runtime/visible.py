"""Which devices a process sees: ROCR_VISIBLE_DEVICES, then HIP_VISIBLE_DEVICES or, without it, CUDA_VISIBLE_DEVICES.

Each is a list of indices, or of names "GPU-" and the text of a device's UUID, with commas between. The devices that it
names are numbered in its order; what follows an entry that names none is left out, so -1 alone leaves no device. The
second list counts what the first left (ROCm documentation, "GPU isolation techniques"; ROCr's amd_filter_device.cpp and
clr's rocdevice.cpp, which take the empty text differently: for the first it names no device, for the others it is as if
it were not there).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

ROCR, HIP, CUDA = "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"
NAMES = (ROCR, HIP, CUDA)
_Device = TypeVar("_Device")


def listed(entries: str, devices: Sequence[tuple[str, _Device]], *, exact: bool) -> list[tuple[str, _Device]]:
    """The devices that a list names, each once.

    Args:
        devices: the text of each one's UUID, and itself.
        exact: an index stands there without blanks and leading zeros, a UUID as a whole.
    """
    found: list[tuple[str, _Device]] = []
    for entry in entries.split(","):
        word = entry if exact else entry.strip()
        if word[:4].upper() == "GPU-":
            wanted = word[4:].upper()
            named = [one for one in devices if one[0].upper() == wanted or (not exact and _begins(one[0], wanted))]
        elif word.isdecimal() and int(word) < len(devices) and (not exact or word == str(int(word))):
            named = [devices[int(word)]]
        else:
            named = []
        if len(named) != 1:
            break
        if named[0] not in found:
            found.append(named[0])
    return found


def _begins(uuid: str, wanted: str) -> bool:
    return bool(wanted) and uuid.upper().startswith(wanted)


def visible(devices: Sequence[tuple[str, _Device]], environment: Mapping[str, str]) -> list[_Device]:
    """Those of the devices that a process with this environment sees, in its order."""
    left = list(devices)
    if ROCR in environment:
        left = listed(environment[ROCR], left, exact=False) if environment[ROCR] else []
    second = environment.get(HIP) or environment.get(CUDA)
    if second:
        left = listed(second, left, exact=True)
    return [device for _, device in left]


def reason(environment: Mapping[str, str], count: int) -> str:
    """Why no device of `count` is left."""
    said = " and ".join(f"{name}={environment[name]}" for name in NAMES if name in environment)
    return (
        f"of {count} virtual devices {said} leaves none: indices count from 0, and the list ends at one that is wrong"
    )


def all_of(count: int, environment: Mapping[str, str]) -> dict[str, str]:
    """What to set, so that a process that inherits `environment` sees all its `count` devices."""
    every = ",".join(str(index) for index in range(count))
    return {name: every for name in NAMES if name in environment}
