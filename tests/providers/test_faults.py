"""The text of a fault, part by part: its address, its place, why, and what it says where little is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpulab.providers import faults
from gpulab.records import AllocationNote, Fault, SourceLine

FAULT = Fault("out of bounds", "k", SourceLine("a.hip", 2, 1, "x = y[i];"), "global_load_dword", (0, 0, 0), 0, 1,
              (1, 0, 0), 0x1006, 4, "read")  # fmt: skip
INSIDE = AllocationNote(0x1000, 64, "inside", 0)


def head(**changes: object) -> str:
    return faults.describe(replace(FAULT, **changes))[0].partition("\n")[0]  # type: ignore[arg-type]


def why(**changes: object) -> str:
    return faults.describe(replace(FAULT, **changes))[1]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "Kernel k used memory that is not its own: read of 4 bytes at address 0x1006."),
        ({"access": "write", "bytes": 1},
         "Kernel k used memory that is not its own: write of 1 byte at address 0x1006."),
        ({"access": "atomic", "bytes": 0},
         "Kernel k used memory that is not its own: atomic operation on address 0x1006."),
        ({"access": ""}, "Kernel k used memory that is not its own: access to 4 bytes at address 0x1006."),
        ({"address": None}, "Kernel k used memory that is not its own."),
        ({"address": 0, "kind": "null"}, "Kernel k used a null pointer: read of 4 bytes at address 0x0."),
        ({"kind": "not cooperative"}, "Kernel k waited for the whole grid in a launch that is not cooperative."),
        ({"kind": "lds out of bounds", "address": 4100},
         "Kernel k went past the end of its shared memory (LDS): read of 4 bytes at address 4,100 (counted from the "
         "start of the block's shared memory)."),
        ({"kind": "scratch out of bounds", "address": 4100},
         "Kernel k went past the end of its local memory (scratch): read of 4 bytes at address 4,100."),
        ({"kind": "of another kind", "address": None}, "Kernel k was stopped."),
    ],
)  # fmt: skip
def test_what_happened(changes: dict[str, object], said: str) -> None:
    assert head(**changes) == said


def test_a_misaligned_address_is_counted_from_the_multiple_below() -> None:
    text = "the address of a 4 bytes access must be a multiple of its alignment."
    assert why(kind="misaligned") == f"{text} 0x1006 is 2 more than a multiple of 4."
    assert why(kind="misaligned", address=None) == text
    assert why(kind="misaligned", bytes=0) == text.replace("4 bytes", "0 bytes")
    inside = why(kind="misaligned", nearest=INSIDE)
    assert inside == f"{text} 0x1006 is 2 more than a multiple of 4. The address lies inside an allocation of 64 bytes."
    assert "lies" not in why(kind="misaligned", nearest=replace(INSIDE, relation="after", distance=4))
    assert "lies inside" in why(kind="null", nearest=INSIDE)
    assert "lies" not in why(kind="null")


def test_near_and_far_allocations() -> None:
    note = AllocationNote(0, 64, "after", faults.FAR_BYTES - 1)
    far = replace(note, distance=faults.FAR_BYTES)
    assert (faults.is_near(note), faults.is_near(far)) == (True, False)
    assert (
        why(nearest=note) == f"the address is {faults.FAR_BYTES - 1:,} bytes past the end of an allocation of 64 bytes."
    )
    for nearest in (None, far):
        assert why(nearest=nearest) == "there is no allocation near this address."
        assert "must be copied to the device first" in faults.describe(replace(FAULT, nearest=nearest))[2]
    assert why(nearest=INSIDE) == "the address is inside an allocation of 64 bytes."
    assert why(kind="lds out of bounds", nearest=INSIDE) == "the index is larger than the shared array of the block."


def test_details() -> None:
    base = "it executed a trap instruction, as __builtin_trap() and a failed assert do."
    for detail in ("assert failed", "assert failed.", "assert failed!"):
        end = "!" if detail.endswith("!") else "."
        assert why(kind="trap", detail=detail) == f"{base} Assert failed{end}"
    assert "Blocks" not in why(kind="not cooperative", detail="blocks")
    assert why(kind="stack overflow", detail="_Z1fi: 64 of 32 bytes").startswith("in f, a function that calls itself")
    assert why(kind="stack overflow", detail="_Z1fi: 64 of 32 bytes").endswith("for each call: 64 of 32 bytes.")
    assert why(kind="stack overflow", detail="64 of 32 bytes").startswith("a function that calls itself")


def test_names_that_end_early() -> None:
    assert faults.plain_name("_ZN1a1bEv") == "a::b"
    assert faults.plain_name("_ZN2ab3cdeILi4EEvv") == "ab::cde"
    assert faults.plain_name("_Z1f1gv") == "f"  # a parameter's type follows, no name
    assert faults.plain_name("_ZNL1aE") == "a"
