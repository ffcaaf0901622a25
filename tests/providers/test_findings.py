"""The text of what checked launches find: which sides, lines, numbers and advice stand in it, for each kind."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpulab.errors import CheckedFault
from gpulab.providers import faults, findings
from gpulab.records import Access, AllocationNote, Fault, SourceLine

LINE = SourceLine("cell.hip", 5, 3, "    tile[t] = x;")
EARLIER = SourceLine("cell.hip", 4, 3, "y = tile[t];")
OTHER = Access(EARLIER, "\tds_read_b32 v1, v0", (1, 2, 3), 1, 3, (35, 0, 0), "read")
FAULT = Fault(
    "race", "_Z1kPf", LINE, "\tds_write_b32 v0, v1", (1, 2, 3), 0, 7, (7, 0, 0), 1020, 4, "write", memory="lds",
    other=OTHER,
)  # fmt: skip


def words(fault: Fault) -> tuple[str, str, str]:
    return findings.describe(fault, "k")


def test_every_kind_has_a_text_and_its_exception() -> None:
    for kind in findings.KINDS:
        error = faults.exception(replace(FAULT, kind=kind, detail="v1:vmcnt:s_waitcnt vmcnt(0)"))
        assert type(error) is CheckedFault
        assert str(error).startswith("Kernel k ")
        assert all(part.strip() for part in faults.describe(error.fault))


def test_a_race_between_waves_is_told_in_full() -> None:
    assert str(faults.exception(FAULT)) == (
        "Kernel k has a data race in shared memory: two waves of a block use the same 4 bytes, and no synchronisation "
        "orders them.\n"
        "  write of 4 bytes at byte 1,020 of the block's shared memory\n"
        "    cell.hip, line 5:  tile[t] = x;\n"
        "    in block (1, 2, 3), thread (7, 0, 0), wave 0, lane 7\n"
        "    at instruction ds_write_b32 v0, v1\n"
        "  the other access, a read\n"
        "    cell.hip, line 4:  y = tile[t];\n"
        "    in block (1, 2, 3), thread (35, 0, 0), wave 1, lane 3\n"
        "    at instruction ds_read_b32 v1, v0\n"
        "Why: the waves of a block run at their own speed: between line 4 and line 5 there is no __syncthreads() on "
        "the way.\n"
        "Try: __syncthreads() between the two lines, reached by all threads of the block; in a loop also before the "
        "memory is written again."
    )


def test_sides_that_are_hardly_known() -> None:
    bare = replace(FAULT, where=None, thread=None, lane=None, instruction="")
    assert findings.side(bare) == "    The source line is not known.\n    in block (1, 2, 3), wave 0"
    assert findings.line_text(SourceLine("a.hip", 2, 1, " ")) == "a.hip, line 2:"
    assert findings.line_text(SourceLine("a.hip", 2, 1, "x" * 160)) == "a.hip, line 2:  " + "x" * 160
    assert findings.line_text(SourceLine("a.hip", 2, 1, "x" * 161)) == "a.hip, line 2:  " + "x" * 160 + " ..."
    what, why, _ = words(replace(FAULT, where=None, bytes=0))
    assert "use the same 4 bytes" in what
    assert "between line 4 and one place there is no" in why


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"memory": "lds", "bytes": 1}, "1 byte at byte 1,020 of the block's shared memory"),
        ({"memory": "scratch"}, "4 bytes at byte 1,020 of the thread's own memory (local variables)"),
        ({"memory": "global"}, "4 bytes at address 0x3fc"),
        ({"memory": "global", "address": None, "bytes": 0}, "0 bytes at address 0x0"),
        ({"memory": "global", "nearest": AllocationNote(1000, 64, "after", 4, "x")}, "4 bytes at address 0x3fc"),
        ({"memory": "global", "nearest": AllocationNote(20, 4096, "inside", 0, "x")},
         "4 bytes at byte 1,000 of an allocation of 4,096 bytes (x), address 0x3fc"),
        ({"memory": "global", "nearest": AllocationNote(20, 4096, "inside", 0)},
         "4 bytes at byte 1,000 of an allocation of 4,096 bytes, address 0x3fc"),
    ],
)  # fmt: skip
def test_places(changes: dict[str, object], said: str) -> None:
    assert findings.place(replace(FAULT, **changes)) == said  # type: ignore[arg-type]


ELSEWHERE = replace(OTHER, workgroup=(0, 2, 3))


@pytest.mark.parametrize(
    ("changes", "said", "unsaid"),
    [
        ({"other": replace(OTHER, where=LINE)}, ["between the same line in different waves"], ["line 4"]),
        ({"other": replace(OTHER, where=replace(LINE, file="b.hip"))}, ["between line 5 and line 5"], []),
        ({"other": replace(OTHER, where=None)}, ["between one place and line 5"], []),
        ({"other": replace(OTHER, access="write")},
         ["the other access, a write", "that of whoever comes last", "let one thread write it"], ["in a loop also"]),
        ({"access": "read", "other": replace(OTHER, access="write")}, ["read of 4 bytes", "between the two lines"],
         ["whoever comes last"]),
        ({"access": "read"}, [], ["whoever comes last", "is atomic"]),
        ({"access": "atomic"}, ["atomic operation of 4 bytes", "One of the two is atomic", "between the two"], []),
        ({"other": replace(OTHER, access="atomic")}, ["the other access, an atomic operation", "One of the two"], []),
        ({"access": "", "other": replace(OTHER, access="")}, ["access of 4 bytes", "the other access, an access"], []),
        ({"detail": "from one turn of the loop to the next turn"},
         ["own speed: from one turn of the loop to the next turn there is no", "at the end of the loop's body"],
         ["line 4 and"]),
        ({"memory": "global", "bytes": 8}, ["in global memory", "two waves of a block", "the same 8 bytes"],
         ["in shared"]),
        ({"memory": "global", "other": ELSEWHERE},
         ["two blocks", "nothing makes line 4 and line 5 wait", "give each block its own part"],
         ["two waves", "is atomic"]),
        ({"memory": "global", "other": ELSEWHERE, "access": "atomic"},
         ["One of the two is atomic", "make both accesses atomic"], ["give each block"]),
        ({"memory": "global", "other": ELSEWHERE, "lack": "scope", "access": "atomic"},
         ["only among the threads of its own block", "take the function without _block"], ["One of the two"]),
        ({"memory": "global", "other": ELSEWHERE, "lack": "acquire", "flag": replace(LINE, line=9)},
         ["let its access go with a fence, and line 9 has seen", "between line 9 and line 5",
          "__threadfence() after line 9"], ["line 4 wait"]),
        ({"memory": "global", "other": ELSEWHERE, "lack": "release", "flag": replace(LINE, line=9)},
         ["line 9 has seen what the other block set after line 4. But", "__threadfence() after line 4"], []),
        ({"lack": "block", "flag": None},
         ["one place has seen what the other wave set after line 4", "__threadfence_block() before the flag"], []),
    ],
)  # fmt: skip
def test_races(changes: dict[str, object], said: list[str], unsaid: list[str]) -> None:
    text = "\n".join(words(replace(FAULT, **changes)))  # type: ignore[arg-type]
    for part in said:
        assert part in text
    for part in unsaid:
        assert part not in text


def test_lanes_that_write_to_one_place() -> None:
    fault = replace(FAULT, kind="lane conflict", other=replace(OTHER, lane=3, thread=(3, 0, 0)))
    what, why, _ = words(fault)
    assert "lanes 3 and 7 of a wave write different values" in what
    assert what.endswith("the other thread: (3, 0, 0), lane 3")
    assert why == "which lane's value stays is not defined."
    assert words(replace(fault, other=replace(OTHER, thread=None)))[0].endswith("the other thread: (0, 0, 0), lane 3")
    for detail in ("they wrote 1 and 2", "they wrote 1 and 2.", "they wrote 1 and 2!"):
        mark = "!" if detail.endswith("!") else "."
        assert words(replace(fault, detail=detail))[1].endswith(f"defined. They wrote 1 and 2{mark}")


@pytest.mark.parametrize(
    ("changes", "said", "why", "hint"),
    [
        ({"access": "read"}, "reads shared memory that was never written: read of", "when a block starts.", "the loop"),
        ({"access": ""}, "reads shared memory that was never written: read of", "when a block starts.", "the loop"),
        ({"access": "read", "memory": "scratch"}, "reads local memory", "until it is given one.", "float sum[4] = {}"),
        ({"access": "read", "memory": "global"}, "reads global memory", "whatever was there before.", "gpulab.zeros"),
        ({"access": "atomic", "memory": "global"}, "atomic operation of", "reads the old value, too.", "hipMemset"),
        ({"access": "copy", "memory": "global"}, "A copy to the host reads global memory", "before.", "copy only what"),
    ],
)
def test_memory_that_was_never_written(changes: dict[str, str], said: str, why: str, hint: str) -> None:
    found = words(replace(FAULT, kind="never written", other=None, **changes))
    assert said in found[0]
    assert found[1].endswith(why)
    assert hint in found[2]
    assert ("ds_write_b32" in found[0]) == (changes["access"] != "copy")


def test_barriers() -> None:
    fault = replace(FAULT, kind="barrier")
    what, why, _ = words(fault)
    assert "waits at a different one:\n    cell.hip, line 4" in what
    assert why.endswith("let each other pass by mistake.")
    alone = replace(fault, other=None)
    assert "waits at a different one" not in words(alone)[0]
    assert words(alone)[1].endswith("each time.")
    assert words(replace(alone, detail="wave 1 has ended"))[1].endswith("each time; here wave 1 has ended.")


def test_deadlocks() -> None:
    fault = replace(FAULT, kind="deadlock", access="read")
    what, why, _ = words(fault)
    assert "\n  waiting on 4 bytes at byte 1,020" in what
    assert "\n  last written by\n    cell.hip, line 4" in what
    assert why.endswith("with the same values.")
    alone = replace(fault, other=None)
    assert "last written" not in words(alone)[0]
    assert words(alone)[1].endswith("Nobody has written there in this launch.")
    assert words(replace(alone, detail="lane 1 has the lock"))[1].endswith("values. Lane 1 has the lock.")
    for unknown in (replace(alone, address=None), replace(alone, access="")):
        assert "waiting on" not in words(unknown)[0]
    assert words(replace(alone, address=None))[1].endswith("with the same values.")


def test_shuffles_and_registers() -> None:
    _, why, _ = words(replace(FAULT, kind="shuffle", detail="lane 9 has left the loop"))
    assert why.endswith("the same instruction; lane 9 has left the loop.")
    for register, vector in (("v3", True), ("a0", True), ("s4", False), ("vcc", False), ("scc", False)):
        what, why, _ = words(replace(FAULT, kind="register", detail=register))
        assert f"reads the register {register} before" in what
        assert ("EXEC" in why) == vector
        assert why.endswith(".")


def test_missing_waits() -> None:
    what, why, hint = words(replace(FAULT, kind="missing wait", detail="v1:vmcnt:s_waitcnt vmcnt(0)"))
    assert "uses v1 before the access that loads it" in what
    assert "the access that is under way\n    cell.hip, line 4" in what
    assert "v1 has its old value until vmcnt says otherwise" in why
    assert hint.startswith("s_waitcnt vmcnt(0) before the use")
    what, why, hint = words(replace(FAULT, kind="missing wait", detail=":lgkmcnt:s_waitcnt lgkmcnt(0)"))
    assert "comes to a barrier while its writes to LDS" in what
    assert "the write\n    cell.hip, line 4" in what
    assert hint == "s_waitcnt lgkmcnt(0) before the barrier."


def test_of_many_findings_four_are_named() -> None:
    def hint(count: int) -> str:
        return faults.describe(replace(FAULT, further=(replace(FAULT, kind="shuffle", where=EARLIER),) * count))[2]

    assert "Also found" not in hint(0)
    assert hint(4).count("  shuffle: cell.hip, line 4:  y = tile[t];") == 4
    assert "more" not in hint(4)
    assert hint(5).count("  shuffle:") == 4
    assert hint(5).endswith("\n  and 1 more")
