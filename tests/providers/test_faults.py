"""The text of a fault, part by part: its address, its place, why, and what it says where little is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpulab.errors import CheckedFault, KernelTimeout, KernelTrap, MemoryFault
from gpulab.providers import faults
from gpulab.records import Access, AllocationNote, Fault, SourceLine

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
    text = "the address of an access of 4 bytes must be a multiple of its alignment."
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


def test_which_exception_a_fault_becomes() -> None:
    kinds = {"timeout": KernelTimeout, "grid barrier": KernelTimeout, "trap": KernelTrap, "race": CheckedFault,
             "out of bounds": MemoryFault, "of another kind": MemoryFault}  # fmt: skip
    other = Access(None, "", (0, 0, 0), 0, None, None, "read")
    for kind, expected in kinds.items():
        fault = replace(FAULT, kind=kind, other=other)
        error = faults.exception(fault)
        assert (type(error), error.fault) == (expected, fault)
        assert (error.what, error.why, error.hint) == faults.describe(fault)


def test_where_it_happened() -> None:
    """The line, the block, the thread, the wave and its lane, and the instruction, as far as they are known."""

    def place(**changes: object) -> str:
        return faults.describe(replace(FAULT, **changes))[0].partition("\n")[2]  # type: ignore[arg-type]

    assert place() == (
        "  a.hip, line 2:  x = y[i];\n  in block (0, 0, 0), thread (1, 0, 0), wave 0, lane 1\n"
        "  at instruction global_load_dword"
    )
    assert place(thread=None, lane=None, instruction="", where=None) == (
        "  The source line is not known.\n  in block (0, 0, 0), wave 0"
    )
    assert place(lane=0, wave=3, workgroup=(1, 2, 3)).split("\n")[1] == (
        "  in block (1, 2, 3), thread (1, 0, 0), wave 3, lane 0"
    )


@pytest.mark.parametrize(
    ("note", "said"),
    [
        (INSIDE, "inside an allocation of 64 bytes"),
        (replace(INSIDE, name="x"), "inside an allocation of 64 bytes (x)"),
        (replace(INSIDE, relation="freed", size=1), "in an allocation of 1 byte that was freed"),
        (replace(INSIDE, relation="after"),
         "exactly at the end of an allocation of 64 bytes, the first byte that does not belong to it"),
        (replace(INSIDE, relation="after", distance=1), "1 byte past the end of an allocation of 64 bytes"),
        (replace(INSIDE, relation="after", distance=4000), "4,000 bytes past the end of an allocation of 64 bytes"),
        (replace(INSIDE, relation="before", distance=1), "1 byte before the start of an allocation of 64 bytes"),
        (replace(INSIDE, relation="before", distance=0), "0 bytes before the start of an allocation of 64 bytes"),
    ],
)  # fmt: skip
def test_how_an_allocation_lies(note: AllocationNote, said: str) -> None:
    assert faults.nearest_text(note) == said


def test_what_to_try() -> None:
    def hint(**changes: object) -> str:
        return faults.describe(replace(FAULT, **changes))[2]  # type: ignore[arg-type]

    after, before, freed = (replace(INSIDE, relation=relation, distance=4) for relation in ("after", "before", "freed"))
    assert hint(nearest=after).startswith("guard the access, e.g. if (i < n)")
    assert hint(nearest=before).startswith("check the index for negative values")
    assert hint(nearest=freed) == hint(kind="freed") == hint(kind="freed", nearest=after)
    assert hint(nearest=freed).startswith("keep the array")
    assert hint(nearest=INSIDE).startswith("check that the pointer is device memory")
    for name, said in (
        ("mapped memory without access", "call hipMemSetAccess"),
        ("reserved addresses without memory", "map memory there"),
    ):
        assert hint(nearest=replace(INSIDE, name=name)).startswith(said)
        assert hint(nearest=replace(after, name=name)).startswith("guard the access")
    assert hint(kind="timeout").startswith("check that the loop's condition can become false")
    assert hint(kind="timeout", detail="a loop").endswith("Lanes of one wave cannot wait for each other.")
    assert "kernel.cooperative[grid, block]" in hint(kind="timeout", detail="several blocks took turns")
    assert hint(kind="trap", detail="a loop") == "look at the condition that led to the trap."
    assert hint(kind="lds out of bounds", nearest=after).startswith("compare the index with the array's size")
    none = "a block has 0 bytes of shared memory here: 0 that the kernel declares and 0 that the launch passes"
    assert "kernel[grid, block, bytes](...)" in hint(kind="lds out of bounds", detail=none)
    some = none.replace("0 bytes", "640 bytes", 1)
    assert hint(kind="lds out of bounds", detail=some).startswith("compare the index")


def test_a_loop_that_waits_is_told_from_one_that_is_long() -> None:
    assert head(kind="timeout", address=None) == "Kernel k was stopped: it ran into the instruction limit."
    assert head(kind="timeout", address=None, detail="x") == "Kernel k was stopped: it waits without an end."
    assert why(kind="timeout", detail="line 3 sets it") == (
        "the loop around this line did not end within the limit. Line 3 sets it."
    )
    assert head(kind="trap", address=None, detail="x") == "Kernel k stopped itself (trap)."


@pytest.mark.parametrize(
    ("kind", "begins"),
    [
        ("null", "a null pointer points to no memory"), ("timeout", "the loop around this line"),
        ("trap", "it executed a trap"), ("grid barrier", "sync() of this_grid() is passed when"),
        ("not cooperative", "sync() of this_grid() needs all"), ("image descriptor", "the object describes no image"),
        ("bad jump", "a call or jump went"), ("read-only", "constants, code, and mapped"),
        ("lds out of bounds", "the index is larger"), ("scratch out of bounds", "an index into a local array"),
        ("out of bounds", "there is no allocation near"), ("of another kind", "there is no allocation near"),
    ],
)  # fmt: skip
def test_why(kind: str, begins: str) -> None:
    assert why(kind=kind).startswith(begins)
