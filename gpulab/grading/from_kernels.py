"""Did kernels compute what a program prints? `complaint` looks at what came to the host, and where its bytes are from.

A case says which numbers kernels must store and the host must read (`ProgramCase.computed`). In a checked run the
virtual GPU notes what was copied, and which bytes of it a kernel was the last to change (`records.Transfer`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gpulab.grading.outcome import ProgramOutcome
from gpulab.records import Transfer

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

TYPES = ("int32", "int64", "float32", "float64")
"""What a program may hold the numbers in; unsigned ones look the same."""

TELLING = 4
"""Numbers that a result must have, if finding it in what was copied to the device is to say something."""

DIFFERENT = 3
"""Different numbers that a result must have, if that they came to the host is to say something."""

SHARE = 0.75
"""Of the numbers, zeros left out, that kernels must have stored: a store of what was there already is not seen."""


def complaint(outcome: ProgramOutcome) -> str:
    """What is wrong with where the results come from; "" if nothing is."""
    out = [each for each in outcome.run.transfers if each.direction == "device to host"]
    sent = [bytes.fromhex(each.data) for each in outcome.run.transfers if each.direction == "host to device"]
    results = [numbers for numbers in outcome.case.computed if any(numbers)]
    if results and not any(each.stored for each in out):
        return "nothing that a kernel stored came to the host"
    for numbers in results:
        telling = len(set(numbers)) >= TELLING
        encoded = _encoded(numbers)
        if telling and any(raw in data for raw in encoded for data in sent):
            return "the host copied the results to the device, where kernels are to compute them"
        shares = [_share(raw, len(raw) // len(numbers), out) for raw in encoded]
        if max(shares) >= SHARE:
            continue
        if max(shares) >= 0:
            return "the results came to the host as the host had put them into device memory: no kernel stored them"
        if sum(each.stored for each in out if not each.data) < SHARE * 4 * len(numbers):
            return "what kernels stored and the host copied does not hold the results that are printed"
    return ""


def arrived(outcome: ProgramOutcome) -> bool:
    """Did all results come to the host as they should be, and had kernels stored them? Too few numbers tell nothing."""
    out = [each for each in outcome.run.transfers if each.direction == "device to host"]
    return bool(outcome.case.computed) and all(
        len(set(numbers)) >= DIFFERENT
        and max(_share(raw, len(raw) // len(numbers), out) for raw in _encoded(numbers)) >= SHARE
        for numbers in outcome.case.computed
    )


def other_input(outcome: ProgramOutcome) -> bool:
    """Did the host copy other numbers to the device than those that are given, and as many of them?"""
    sent = [bytes.fromhex(each.data) for each in outcome.run.transfers if each.direction == "host to device"]
    given = [_encoded(numbers) for numbers in outcome.case.given]
    others = {len(data) for data in sent if not any(data == raw for encoded in given for raw in encoded)}
    missing = [encoded for encoded in given if not any(raw in data for raw in encoded for data in sent)]
    return any(len(raw) in others for encoded in missing for raw in encoded)


def nothing_came(outcome: ProgramOutcome) -> bool:
    """Did kernels run to their end, and came nothing to the host that they had stored?"""
    back = [each for each in outcome.run.transfers if each.direction == "device to host"]
    return bool(outcome.launches) and outcome.fault is None and not any(each.stored for each in back)


def _encoded(numbers: Sequence[float]) -> list[bytes]:
    """The numbers as they may lie in memory: in each type, but none with fractions in a type of whole numbers."""
    import numpy as np

    exact = np.array(
        numbers, "int64" if all(isinstance(number, (int, np.integer)) for number in numbers) else "float64"
    )
    whole = bool((exact == np.rint(exact)).all())
    with np.errstate(all="ignore"):
        return [exact.astype(dtype).tobytes() for dtype in TYPES if whole or dtype.startswith("float")]


def _share(raw: bytes, size: int, transfers: Sequence[Transfer]) -> float:
    """Which share of the numbers, zeros left out, kernels had stored when they came to the host; -1: not all came.

    They may come in one piece, with others around them, or in several.
    """
    import numpy as np

    came, stored = np.zeros(len(raw), bool), np.zeros(len(raw), bool)
    for each in transfers:
        data, kernels = bytes.fromhex(each.data), _bits(each)
        place = data.find(raw)
        if place >= 0:
            came[:] = True
            stored |= kernels[place : place + len(raw)]
        elif size <= len(data) < len(raw) and (place := raw.find(data)) >= 0:
            came[place : place + len(data)] = True
            stored[place : place + len(data)] |= kernels
    if not came.all():
        return -1.0
    not_zero = np.frombuffer(raw, np.uint8).reshape(-1, size).max(axis=1) > 0
    return float(stored.reshape(-1, size).max(axis=1)[not_zero].mean())


def _bits(transfer: Transfer) -> npt.NDArray[np.bool_]:
    import numpy as np

    raw = np.frombuffer(bytes.fromhex(transfer.kernels), np.uint8)
    return np.unpackbits(raw, bitorder="little")[: transfer.bytes].astype(bool)
