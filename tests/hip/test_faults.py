"""The text of faults: every part that a learner needs is in it."""

import dataclasses

import pytest

from gpulab.errors import CheckedFault, KernelTimeout, KernelTrap, MemoryFault
from gpulab.providers import faults
from gpulab.records import AllocationNote, Fault, SourceLine

FAULT = Fault(
    kind="out of bounds",
    kernel="saxpy",
    where=SourceLine("cell.hip", 4, 17, "    y[i] = a * x[i] + y[i];"),
    instruction="\tglobal_load_dword v2, v[2:3], off",
    workgroup=(3, 0, 0),
    wave=1,
    lane=40,
    thread=(104, 0, 0),
    address=0x7F0000001004,
    bytes=4,
    access="read",
    nearest=AllocationNote(0x7F0000000000, 4096, "after", 4, "device memory"),
)


def test_a_bad_address_is_told_in_full():
    error = faults.exception(FAULT)
    assert type(error) is MemoryFault
    assert error.fault is FAULT
    assert str(error) == (
        "Kernel saxpy used memory that is not its own: read of 4 bytes at address 0x7f0000001004.\n"
        "  cell.hip, line 4:  y[i] = a * x[i] + y[i];\n"
        "  in block (3, 0, 0), thread (104, 0, 0), wave 1, lane 40\n"
        "  at instruction global_load_dword v2, v[2:3], off\n"
        "Why: the address is 4 bytes past the end of an allocation of 4,096 bytes (device memory).\n"
        "Try: guard the access, e.g. if (i < n), and check that n is the number of elements: the grid often has "
        "more threads than the array has elements."
    )


@pytest.mark.parametrize(
    ("relation", "distance", "text"),
    [
        ("after", 0, "exactly at the end of an allocation of 4,096 bytes, the first byte that does not belong to it"),
        ("after", 1, "1 byte past the end of an allocation of 4,096 bytes"),
        ("before", 8, "8 bytes before the start of an allocation of 4,096 bytes"),
        ("freed", 0, "in an allocation of 4,096 bytes that was freed"),
        ("inside", 0, "inside an allocation of 4,096 bytes"),
    ],
)
def test_where_the_address_is(relation, distance, text):
    assert faults.nearest_text(AllocationNote(1, 4096, relation, distance)) == text


@pytest.mark.parametrize(
    ("kind", "error", "words"),
    [
        ("null", MemoryFault, ["null pointer", "device memory"]),
        ("freed", MemoryFault, ["was freed", "keep the array"]),
        ("misaligned", MemoryFault, ["misaligned", "multiple"]),
        ("lds out of bounds", MemoryFault, ["shared memory", "array's size"]),
        ("scratch out of bounds", MemoryFault, ["local"]),
        ("read-only", MemoryFault, ["read-only"]),
        ("bad jump", MemoryFault, ["function pointer"]),
        ("timeout", KernelTimeout, ["instruction limit", "set_limit", "loop"]),
        ("trap", KernelTrap, ["it executed a trap instruction, as __builtin_trap() and a failed assert do"]),
        ("barrier", CheckedFault, ["__syncthreads"]),
    ],
)
def test_every_kind_has_its_own_words(kind, error, words):
    fault = dataclasses.replace(FAULT, kind=kind, nearest=dataclasses.replace(FAULT.nearest, relation="freed"))
    found = faults.exception(fault)
    assert type(found) is error
    assert found.why
    assert found.hint
    for word in words:
        assert word in str(found)


def test_an_allocation_far_away_is_not_named():
    far = dataclasses.replace(FAULT, nearest=AllocationNote(1 << 40, 64, "after", 1 << 40, "device memory"))
    assert "no allocation near" in faults.exception(far).why


def test_a_fault_without_place_or_address():
    bare = Fault("trap", "k", None, "", (0, 0, 0), 0, None, None, detail="assertion x > 0 failed")
    text = str(faults.exception(bare))
    assert "source line is not known" in text
    assert "block (0, 0, 0), wave 0" in text
    assert "Assertion x > 0 failed." in text


def test_a_very_long_source_line_is_cut():
    long = dataclasses.replace(FAULT, where=SourceLine("cell.hip", 1, 0, "x" * 5000))
    assert len(str(faults.exception(long))) < 1000
