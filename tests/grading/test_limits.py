"""What requirements say at a limit, one below and one above it: of outcomes that are written here, without a kernel."""

from __future__ import annotations

from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpulab.errors import CheckError
from gpulab.grading import requirements as ask
from gpulab.grading.case import Array, Case, Value, Writers
from gpulab.grading.exercise import Requirement
from gpulab.grading.sources import code_only
from gpulab.module import Resources
from gpulab.records import Access, AccessCost, Counters, InstructionCost, Launch, SourceLine

LINE = SourceLine("a.hip", 7, 2, "  out[i] = in[i];  ")
OTHER = SourceLine("a.hip", 9)


def access(space: str, action: str = "load", where: SourceLine | None = LINE, **numbers: Any) -> AccessCost:
    given = {"bytes": 4, "executed": 2, "lanes": 128, **numbers}
    return AccessCost(where, f"{space}_{action} v0, v1", space, action, **given)


def cost(text: str, executed: int, lanes: int = 0, vector: bool = False) -> InstructionCost:
    return InstructionCost(None, text, executed, lanes, (("valu", 1.0),) if vector else ())


def launch(**changes: Any) -> Launch:
    given = {"kernel": "k(int)", "arch": "gfx942", "device": 0, "grid": (2, 3, 4), "block": (64, 2, 2), "lds_bytes": 0,
             "waves": 4, "counters": Counters({"SQ_WAVES": 4}), "measured_us": 10.0}  # fmt: skip
    return Launch(**{**given, **changes})


CASE = Case(
    {"n": 10}, (4, 1, 1), (64, 1, 1),
    (Value("n", np.int32(10)), Array("a", np.zeros(10, "float32")), Array("b", np.zeros(3, "float64")),
     Array("out", np.zeros(10, "float32"), np.ones(10, "float32"))),
)  # fmt: skip


def outcome(*launches: Launch, writers: Any = None, **changes: Any) -> Any:
    given = {"case": CASE, "arch": "gfx942", "wave_size": 64, "measured": launches, "resources": {}, "isa": {},
             "source": "", "tight": SimpleNamespace(writers=writers or Writers.of(()))}  # fmt: skip
    given |= changes
    return SimpleNamespace(**given, code=code_only(str(given["source"])))


def said(requirement: Requirement[Any], seen: Any) -> str:
    return requirement.complaint(seen)


# ------------------------------------------------------------------------------------------------------ the limits


@pytest.mark.parametrize(
    ("limits", "number", "complaint"),
    [
        ({"at_most": 5}, 5, ""), ({"at_most": 5}, 4, ""),
        ({"at_most": 5}, 6, "6 things, and at most 5 are allowed. here"),
        ({"at_most": 5}, 1234.5678, "1,235 things, and at most 5 are allowed. here"),
        ({"at_most": 0.25}, 2.71828, "2.718 things, and at most 0.25 are allowed. here"),
        ({"at_most": 1_000_000}, 12_345_678, "12,345,678 things, and at most 1,000,000 are allowed. here"),
        ({"at_least": 5}, 5, ""), ({"at_least": 5}, 6, ""),
        ({"at_least": 5}, 4, "4 things, and at least 5 are asked for"),
        ({"at_most": 5, "at_least": 5}, 5, ""),
        ({"at_most": 5, "at_least": 5}, 4, "4 things, and at least 5 are asked for"),
        ({"at_most": 5, "at_least": 5}, 6, "6 things, and at most 5 are allowed. here"),
        ({"at_most": 0}, 1, "1 things, and at most 0 are allowed. here"),
        ({"at_least": 0}, -1, "-1 things, and at least 0 are asked for"),
        ({"at_most": lambda case, arch: len(arch) + case.parameters["n"]}, 16, ""),
        ({"at_most": lambda case, arch: len(arch) + case.parameters["n"]}, 17,
         "17 things, and at most 16 are allowed. here"),
        ({"at_least": 0.5, "share": True}, 0.5, ""),
        ({"at_least": 0.5, "share": True}, 0.12345, "12.3 % things, and at least 50 % are asked for"),
    ],
)  # fmt: skip
def test_limits(limits: dict[str, Any], number: float, complaint: str) -> None:
    asked = ask.limited("name", "things", lambda _: number, place=lambda _: "here", **limits)
    assert said(asked, outcome()) == complaint


def test_without_a_place_the_sentence_ends() -> None:
    for place in (None, lambda _: ""):
        asked = ask.limited("name", "things", lambda _: 2, at_most=1, place=place)
        assert said(asked, outcome()) == "2 things, and at most 1 are allowed"


@pytest.mark.parametrize(
    ("limits", "title"),
    [
        ({"at_most": 5}, "at most 5 things"), ({"at_least": 0}, "at least 0 things"),
        ({"at_most": 2000, "at_least": 2.5}, "at most 2,000 and at least 2.5 things"),
        ({"at_most": lambda case, arch: 1}, "at most a limit things"),
        ({"at_least": 0.5, "share": True}, "at least 50 % things"),
        ({"at_least": 0.5, "title": "much"}, "much"),
    ],
)  # fmt: skip
def test_titles(limits: dict[str, Any], title: str) -> None:
    assert ask.limited("name", "things", lambda _: 0, **limits).title == title


def test_a_limit_is_asked_for() -> None:
    with pytest.raises(CheckError, match="'name' has no limit"):
        ask.limited("name", "things", lambda _: 0)


FIELDS = {each.name: each.default for each in fields(Requirement) if each.name not in ("name", "title", "complaint")}
LINES = ask.memory_lines(minimum=lambda case: 1)


@pytest.mark.parametrize(
    ("made", "name", "title", "changed"),
    [
        (ask.counter("c", "SQ_WAVES", at_most=3), "c", "at most 3 SQ_WAVES", {}),
        (ask.counter("c", {"gfx942": "A", "gfx90a": "A", "gfx1100": "B"}, at_least=1), "c", "at least 1 A / B",
         {"archs": ("gfx942", "gfx90a", "gfx1100")}),
        (ask.counter("c", {"gfx942": "A"}, at_least=1, archs=("gfx90a",)), "c", "at least 1 A", {"archs": ("gfx90a",)}),
        (ask.bank_conflicts(), "bank-conflicts", "no LDS bank conflicts", {"next_step": ...}),
        (ask.bank_conflicts(at_most=3), "bank-conflicts", "at most 3 LDS cycles lost to bank conflicts",
         {"next_step": ...}),
        (LINES, "memory-lines", "at most 1.05 times the fewest cache lines that can do", {"next_step": ...}),
        (ask.memory_traffic(at_most=8), "memory-traffic", "at most 8 bytes between L2 and memory", {"next_step": ...}),
        (ask.vgprs(at_most=8), "vgprs", "at most 8 VGPRs", {}),
        (ask.scratch_bytes(), "scratch", "no scratch memory (no spilled registers)", {}),
        (ask.scratch_bytes(at_most=4), "scratch", "at most 4 bytes of scratch memory per lane", {}),
        (ask.lds_bytes(at_most=4), "lds", "at most 4 bytes of LDS per workgroup", {}),
        (ask.occupancy(at_least=0.5), "occupancy", "at least 50 % of the wave slots filled", {}),
        (ask.instructions("i", "barriers", at_most=1), "i", "at most 1 barriers in the machine code", {}),
        (ask.instructions("i", "v_exp", at_most=1), "i", "at most 1 instructions v_exp in the machine code", {}),
        (ask.instructions("i", "a_(b|c)", at_most=1), "i", "at most 1 such instructions in the machine code", {}),
        (ask.executed("e", "barriers", at_least=1), "e", "at least 1 barriers executed by waves", {}),
        (ask.per_wave("p", "barriers", at_most=1), "p", "at most 1 barriers executed by a wave on average", {}),
        (ask.work_shared(), "work-not-shared", "the threads share the work",
         {"next_step": ..., "shrinks": False, "watches": True}),
        (ask.loaded_by_lanes("l", "a"), "l", "lanes load the elements together", {"next_step": ..., "shrinks": False}),
        (ask.own_loads("a", at_most=2, title="own"), "loads-of-others", "own", {"shrinks": False}),
        (ask.active_lanes(at_least=0.9), "divergence", "at least 90 % of the lanes active in vector instructions", {}),
        (ask.modelled_time(at_most=4), "time", "at most 4 microseconds (modelled)",
         {"shrinks": False, "of_speed": True}),
        (ask.share_of_peak(flops=lambda case: 1, at_least=0.2), "share-of-peak",
         "at least 20 % of the peak (fp32 plain)", {"shrinks": False, "of_speed": True}),
        (ask.source("s", "x+", at_most=0), "s", "at most 0 x+ in the source", {"shrinks": False}),
        (ask.source("s", "x+", at_most=0, what="letters"), "s", "at most 0 letters in the source", {"shrinks": False}),
    ],
)  # fmt: skip
def test_what_a_requirement_is(made: Requirement[Any], name: str, title: str, changed: dict[str, Any]) -> None:
    assert (made.name, made.title) == (name, title)
    found = {each: getattr(made, each) for each in FIELDS if getattr(made, each) != FIELDS[each]}
    assert found.keys() == changed.keys()
    for each, value in changed.items():
        assert found[each] == value or (value is ... and found[each])


def test_what_the_caller_says_comes_before_what_is_usual() -> None:
    given = {"shrinks": True, "of_speed": False, "next_step": "Look.", "watches": False}
    for made in (
        ask.modelled_time(at_most=4, **given), ask.share_of_peak(flops=lambda case: 1, at_least=0.2, **given),
        ask.work_shared(**given), ask.loaded_by_lanes("l", "a", **given), ask.source("s", "x", at_most=0, **given),
        ask.own_loads("a", at_most=1, title="t", **given), ask.bank_conflicts(**given),
        ask.memory_lines(minimum=lambda case: 1, **given), ask.memory_traffic(at_most=1, **given),
    ):  # fmt: skip
        assert {each: getattr(made, each) for each in given} == given, made.name


# -------------------------------------------------------------------------------------------------- what is measured


def measured(requirement: Any, seen: Any) -> float:
    """The number that a requirement finds: it has the limit at_most=-1."""
    return float(requirement.complaint(seen).split()[0].replace(",", ""))


def test_counters_are_summed_over_launches() -> None:
    two = outcome(launch(), launch(counters=Counters({"SQ_WAVES": 5})))
    assert measured(ask.counter("c", "SQ_WAVES", at_most=-1), two) == 9
    names = {"gfx942": "SQ_WAVES", "gfx1100": "SQ_OTHER"}
    assert measured(ask.counter("c", names, at_most=-1), two) == 9


COSTS = (
    access("global", lines=3, memory_bytes=100, written_bytes=0, executed=2),
    access("global", "store", OTHER, lines=10, memory_bytes=0, written_bytes=40, executed=4),
    access("flat", lines=20, memory_bytes=7, conflict_cycles=1, executed=40),
    access("scratch", lines=1000, memory_bytes=5),
    access("lds", conflict_cycles=8, executed=8, lines=0),
    access("lds", "store", None, conflict_cycles=90, executed=1),
)


def test_memory() -> None:
    seen = outcome(launch(accesses=COSTS[:2]), launch(accesses=COSTS[2:]))
    assert measured(ask.memory_traffic(at_most=-1), seen) == 100 + 40 + 7 + 5
    assert measured(ask.bank_conflicts(at_most=-1), seen) == 1 + 8 + 90
    lines = ask.memory_lines(minimum=lambda case: 3.3 * case.parameters["n"], at_most=1.0)
    assert said(lines, seen) == ""  # 3 + 10 + 20 of 33
    text = said(ask.memory_lines(minimum=lambda case: 32, at_most=1.0), seen)
    assert text == (
        "33 cache lines asked for by global accesses, and at most 32 are allowed. "
        "The worst is the store global_store, 2.5 each time, in line 9"
    )
    # of accesses that are alike each time, the one that counts most
    alike = outcome(launch(accesses=(access("lds", conflict_cycles=4, executed=2),
                                     access("lds", "store", OTHER, conflict_cycles=8, executed=4))))  # fmt: skip
    assert said(ask.bank_conflicts(), alike).endswith("The worst is the store lds_store, 2 each time, in line 9")
    only = outcome(launch(accesses=COSTS[4:]))
    assert said(ask.bank_conflicts(), only) == (
        "98 LDS cycles lost to bank conflicts, and at most 0 are allowed. "
        "The worst is the load lds_load, 1 each time, in line 7: out[i] = in[i];"
    )
    assert said(ask.bank_conflicts(), outcome(launch(accesses=COSTS[5:]))).endswith("at most 0 are allowed")


def test_registers_and_memory_of_kernels() -> None:
    taken = {"one": Resources(40, 20, 0, 0, 16, 256), "two": Resources(60, 30, 4, 0, 8, 256)}
    seen = outcome(resources=taken)
    assert measured(ask.vgprs(at_most=-1), seen) == 60
    assert measured(ask.vgprs(at_most=-1, kernel="one"), seen) == 40
    assert measured(ask.scratch_bytes(at_most=-1), seen) == 16
    assert measured(ask.scratch_bytes(at_most=-1, kernel="two"), seen) == 8
    two = outcome(launch(lds_bytes=64), launch(lds_bytes=512), launch(lds_bytes=256))
    assert measured(ask.lds_bytes(at_most=-1), two) == 512


def test_occupancy_is_that_of_the_launch_with_the_least() -> None:
    """CDNA 3: 512 VGPRs a lane and SIMD in steps of 8 with AccVGPRs, 8 waves at most: 128 leave four, 256 two."""
    taken = {"k": Resources(128, 16, 0, 0, 0, 1024), "l(int)": Resources(256, 16, 128, 0, 0, 1024)}
    assert said(ask.occupancy(at_least=0.5), outcome(launch(), resources=taken)) == ""
    text = said(ask.occupancy(at_least=0.51), outcome(launch(), resources=taken))
    assert text == "50 % of the wave slots filled, and at least 51 % are asked for"
    both = outcome(launch(), launch(kernel="l(int)"), launch(), resources=taken)
    assert said(ask.occupancy(at_least=0.26), both).startswith("25 % of the wave slots")
    # 32 KiB of 64 KiB: two workgroups of 256 threads, 8 waves of 32
    lds = outcome(launch(block=(16, 4, 4), lds_bytes=32768), resources=taken)
    assert said(ask.occupancy(at_least=0.26), lds).startswith("25 % of the wave slots")


ISA = {"one": ("v_add_f32 v0", "s_barrier", "v_mfma_f32", "x_v_add"), "two": ("v_add_u32 v1", "ds_read_b32 v0")}


def test_instructions_of_the_code() -> None:
    seen = outcome(isa=ISA)
    for pattern, count in (("vector instructions", 3), ("barriers", 1), ("v_add_(f32|u32)", 2), ("add", 0),
                           ("matrix instructions", 1), ("LDS reads", 1), ("LDS writes", 0)):  # fmt: skip
        assert measured(ask.instructions("i", pattern, at_most=-1), seen) == count, pattern


KINDS = [
    ("global loads", "global_load_dword flat_load_b32 buffer_load_ubyte", "s_load_dword ds_load_b32 global_store_b32"),
    ("global stores", "global_store_dword flat_store_b32 buffer_store_byte", "ds_store_b32 global_load_b32"),
    ("global atomics", "global_atomic_add flat_atomic_swap buffer_atomic_or", "ds_add_u32 global_load_b32"),
    ("LDS reads", "ds_read_b32 ds_load_b32 ds_read2_b32", "ds_write_b32 global_load_b32"),
    ("LDS writes", "ds_write_b32 ds_store_b64", "ds_read_b32"),
    ("LDS atomics",
     "ds_add_u32 ds_sub_u32 ds_min_i32 ds_max_f32 ds_and_b32 ds_or_b32 ds_xor_b32 ds_inc_u32 ds_dec_u32 ds_cmpst_b32 "
     "ds_cmpstore_b32 ds_wrxchg_rtn_b32 ds_storexchg_rtn_b32 ds_rsub_u32 ds_mskor_b32", "ds_read_b32 ds_bpermute_b32"),
    ("barriers", "s_barrier s_barrier_signal", "s_waitcnt"),
    ("vector instructions", "v_add_f32 v_mfma_f32", "s_add_u32"),
    ("scalar instructions", "s_add_u32 s_load_dword", "v_add_f32"),
    ("matrix instructions", "v_mfma_f32 v_wmma_f32 v_smfmac_f32 v_swmmac_f32", "v_fma_f32"),
    ("float additions and multiplications",
     "v_add_f32 v_pk_mul_f32 v_fma_f32 v_fmac_f32 v_dual_fmaak_f32 v_sub_f16", "v_add_u32 v_max_f32 v_mfma_f32"),
    ("scratch accesses", "scratch_load_dword scratch_store_b32", "global_load_dword"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "of_it", "others"), KINDS)
def test_kinds_of_instructions(kind: str, of_it: str, others: str) -> None:
    """Names of the CDNA 3 and RDNA 3 manuals."""
    for name in (*of_it.split(), *others.split()):
        asked = ask.instructions("i", kind, at_most=0)
        assert bool(said(asked, outcome(isa={"k": (name,)}))) == (name in of_it.split()), name
    assert {each for each, *_ in KINDS} == set(ask.KINDS)


def program(*rows: tuple[str, int]) -> Any:
    return outcome(launch(instructions=tuple(cost(text, executed) for text, executed in rows), waves=2))


ASKED = ask.loads_ahead(at_least=10**6)
BODY = (("global_load_dword v1", 8), ("v_add_f32 v2", 8), ("s_waitcnt vmcnt(0)", 8), ("v_mul_f32 v1", 24),
        ("s_cbranch_scc1", 8))  # fmt: skip


def test_what_is_executed_between_a_load_and_its_wait() -> None:
    before, after = (("s_load_dword s0", 2), ("s_waitcnt lgkmcnt(0)", 2)), (("s_endpgm", 2),)
    assert measured(ASKED, program(*before, *BODY, *after)) == 1
    # One iteration early: the wait of the next one is for it. 24 of 8 executions are three of each.
    early = (BODY[2], BODY[0], BODY[1], BODY[3], BODY[4])
    assert measured(ASKED, program(*before, ("global_load_dword v1", 2), *early, *after)) == 1 + 3 + 1
    floats = ask.loads_ahead(at_least=10**6, pattern="float additions and multiplications")
    assert measured(floats, program(*before, ("global_load_dword v1", 2), *early, *after)) == 1 + 3
    # Without a loop that loads, all loads count; without a load there is nothing in flight.
    assert measured(ASKED, program(("global_load_dword v1", 2), ("v_add_f32 v2", 2), ("s_waitcnt vmcnt(0)", 2))) == 1
    assert measured(ASKED, program(("v_add_f32 v2", 8), ("s_endpgm", 2))) == 0
    # gfx12 has a wait for loads, and one for loads (from bit 8 on) and LDS.
    for wait, many in (("s_wait_loadcnt 0x0", 1), ("s_wait_loadcnt_dscnt 0x3f", 1), ("s_wait_loadcnt_dscnt 0x100", 0)):
        assert measured(ASKED, program(("global_load_b32 v1", 2), ("v_add_f32 v2", 2), (wait, 2))) == many
    # Of several launches the one with the fewest counts; where nothing was launched nothing is in flight.
    loads = launch(instructions=tuple(cost(text, executed) for text, executed in BODY), waves=2)
    assert measured(ASKED, outcome(loads, launch(instructions=(cost("v_add_f32 v2", 8),)))) == 0
    assert measured(ASKED, outcome()) == 0


def test_a_wait_that_leaves_loads_is_for_older_ones() -> None:
    """Two loads in flight, the older one is waited for: 2 and 4 instructions after it; a store of gfx942 counts."""
    two = (("global_load_dword v1", 8), ("global_load_dword v2", 8), ("v_add_f32 v3", 8), ("s_waitcnt vmcnt(1)", 8),
           ("v_add_f32 v4", 8), ("v_add_f32 v5", 8), ("s_waitcnt vmcnt(0)", 8))  # fmt: skip
    assert measured(ASKED, program(*two)) == 2
    stored = (("global_load_dword v1", 8), ("global_store_dword v2", 8), ("v_add_f32 v3", 8), ("s_waitcnt vmcnt(1)", 8))
    assert measured(ASKED, program(*stored)) == 2


def test_executed_instructions() -> None:
    first = (cost("global_load_dword v0", 6), cost("v_add_f32 v0", 10), cost("s_load_dword s0", 3))
    seen = outcome(launch(instructions=first), launch(instructions=first[:1], waves=2))
    assert measured(ask.executed("e", "global loads", at_most=-1), seen) == 12
    assert measured(ask.executed("e", "v_add", at_most=-1), seen) == 10
    assert measured(ask.per_wave("p", "global loads", at_most=-1), seen) == 2  # 12 by 6 waves
    assert measured(ask.per_wave("p", "global loads", at_most=-1), outcome(launch(instructions=first, waves=0))) == 6


def test_active_lanes() -> None:
    costs = (cost("v_a", 3, 100, True), cost("v_b", 1, 28, True), cost("s_a", 1000, 0))
    seen = outcome(launch(instructions=costs[:1]), launch(instructions=costs[1:]))
    assert said(ask.active_lanes(at_least=0.5), seen) == ""  # 128 of 4 * 64
    text = said(ask.active_lanes(at_least=0.501), seen)
    assert text == "50 % of the lanes active in vector instructions, and at least 50.1 % are asked for"
    assert said(ask.active_lanes(at_least=0.5), outcome(launch(), wave_size=32)).startswith("0 %")


def test_lanes_that_load_together() -> None:
    """Four active lanes of an execution are together, three are one thread's work with others' help. A sixteenth of the
    bytes may be loaded otherwise."""
    lists = {
        40: (access("global", executed=2, lanes=10),),
        38: (access("global", executed=2, lanes=19, bytes=2),),
        36: (access("global", executed=2, lanes=9),),
        32: (access("flat", executed=2, lanes=8),),
        0: (access("global", executed=2, lanes=7), access("global", "store"), access("lds"), access("scalar")),
        64: (access("global", executed=1, lanes=8, bytes=8),),
    }
    for size, costs in lists.items():
        asked = ask.loaded_by_lanes("l", "a")  # 10 floats
        complaint = f"{size} bytes loaded by lanes together, and at least 38 are asked for"
        assert said(asked, outcome(launch(accesses=costs))) == ("" if size >= 38 else complaint)
    both = ask.loaded_by_lanes("l", "a", "b")  # and 3 doubles
    assert said(both, outcome(launch(accesses=lists[64]))) == ""
    assert "at least 60 are asked for" in said(both, outcome(launch(accesses=lists[40])))


def test_loads_of_others() -> None:
    """Of two waves: two loads each, and eight scalar ones for arguments."""
    good = (access("global", executed=4, lanes=128),)
    asked = ask.own_loads("a", at_most=2, title="own")

    def seen(vector: int, scalar: int, accesses: Any = good) -> Any:
        costs = (cost("global_load_dword", vector), cost("s_load_dword", scalar))
        return outcome(launch(instructions=costs, accesses=accesses, waves=2))

    assert said(asked, seen(4, 16)) == ""
    assert said(asked, seen(5, 0)) == "2.5 global loads executed by a wave on average, and at most 2 are allowed"
    assert said(asked, seen(4, 17)) == (
        "10.5 (global|flat|buffer|s)_load executed by a wave on average, and at most 10 are allowed"
    )
    assert said(asked, seen(4, 16, ())).startswith("0 bytes loaded by lanes together, and at least 38")


def writes(**elements: list[tuple[int, int, int | None]]) -> Writers:
    """By array: flat index, block and thread of each element; without a thread it is the whole wave's."""
    places = [(name, None, "s", "write") for name in elements]
    rows = [
        (place, index, block, 0, 0, 0, *((-1, 0, 0, 0) if thread is None else (0, thread, 0, 0)))
        for place, listed in enumerate(elements.values())
        for index, block, thread in listed
    ]
    return Writers(places, np.array(rows, np.int64))


def test_who_stores_most() -> None:
    found = writes(out=[(0, 0, 1), (1, 0, 1), (2, 1, 1), (3, 0, None)], a=[(0, 0, 1)])
    assert found.busiest() == ((0, 0, 0), (1, 0, 0), 3)
    assert writes(a=[(0, 1, 2)], out=[(0, 0, 3), (1, 0, 3), (2, 1, 2)]).busiest() == ((1, 0, 0), (2, 0, 0), 2)
    assert writes(a=[(0, 1, None)]).busiest() is None
    # Blocks and threads that differ in one direction are others: two elements of the last one, one of each before.
    rows = np.array([(0, 0, 1, 1, 1, 0, 0, 1, 1, 1)] * 8, np.int64)
    for row, column in enumerate((2, 3, 4, 7, 8, 9)):
        rows[row, column] = 2
    assert Writers([("out", None, "s", "write")], rows).busiest() == ((1, 1, 1), (1, 1, 1), 2)
    assert found["out", 2] == Access(None, "s", (1, 0, 0), 0, 0, (1, 0, 0), "write")
    assert found["out", 3] == Access(None, "s", (0, 0, 0), 0, None, None, "write")
    assert len(found) == 5
    assert said(ask.work_shared(room=3), outcome(writers=found)) == ""
    complaint = "thread 1 of block 0 stores 3 elements, and at most 2 are a thread's own"
    assert said(ask.work_shared(), outcome(writers=found)) == complaint
    assert said(ask.work_shared(room=1, rounds=lambda case: 3), outcome(writers=found)) == ""
    assert said(ask.work_shared(), outcome()) == ""


@pytest.mark.parametrize(("size", "asked"), [(499, False), (500, True)])
def test_stores_of_waves_are_counted_from_500_elements_on(size: int, asked: bool) -> None:
    half = size // 2
    arrays = [Array(name, np.zeros(n), np.ones(n)) for name, n in (("out", half), ("more", size - half))]
    case = Case({}, (1, 1, 1), (64, 1, 1), (*arrays, Array("in", np.zeros(9999))))
    for executed, rounds, complains in ((16, 1, False), (17, 1, True), (32, 2, False), (33, 2, True)):
        seen = outcome(launch(instructions=(cost("global_store_dword", executed),)), case=case)
        text = said(ask.work_shared(rounds=lambda case, rounds=rounds: rounds), seen)  # type: ignore[misc]
        assert bool(text) == (asked and complains)
        if text:
            assert text.endswith(f"executed by a wave on average, and at most {4 * rounds} are allowed")


def test_time_and_peak() -> None:
    """MI300X: 304 compute units * 128 operations a clock * 2.1 GHz are 81.7 TFLOPS; 24 of 304 units have 6.45."""
    seen = outcome(launch(measured_us=2.0), launch(measured_us=3.0, grid=(1, 1, 1)))
    assert measured(ask.modelled_time(at_most=-1), seen) == 5
    peak = 304 * 128 * 2.1e9
    for units_used, part in ((False, peak), (True, peak * 24 / 304)):

        def asked(share: float, units_used: bool = units_used, part: float = part) -> str:
            flops = 0.5 * part * 5e-6
            return said(ask.share_of_peak(flops=lambda case: flops, at_least=share, units_used=units_used), seen)

        assert asked(0.499) == ""
        assert asked(0.501) == "50 % of the peak (fp32 plain), and at least 50.1 % are asked for"
    many = outcome(launch(measured_us=5.0, grid=(1000, 1, 1)))
    full = ask.share_of_peak(flops=lambda case: 0.5 * peak * 5e-6, at_least=0.501, units_used=True)
    assert said(full, many).startswith("50 % of the peak")


def test_what_stands_in_the_source() -> None:
    text = 'a(); // a()\na(); /* a() */ b("a()");'
    assert measured(ask.source("s", r"\ba\(", at_most=-1), outcome(source=text)) == 2
    assert said(ask.source("s", r"\ba\(", at_most=2), outcome(source=text)) == ""
    assert said(ask.source("s", r"\bc\(", at_least=1), outcome(source=text)) == (
        r"0 \bc\( in the source, and at least 1 are asked for"
    )


def test_writers_come_from_a_checked_run_without_guards() -> None:
    asked: list[Any] = []

    class Prepared:
        def run(self, *arguments: Any) -> Any:
            asked.append(arguments)
            return SimpleNamespace(writers="found")

    assert ask.writers(outcome(prepared=Prepared()), "out", "b") == "found"
    ((case, buffers, limit, checked, wanted),) = asked
    assert case is CASE
    assert [(buffer.array.name, buffer.guard, buffer.number) for buffer in buffers] == [
        ("a", 0, 0), ("b", 0, 1), ("out", 0, 2)
    ]  # fmt: skip
    assert (checked, wanted) == (True, {"out": range(10), "b": range(3)})
    assert limit > 100_000_000
    with pytest.raises(CheckError, match="nothing that could run n = 10"):
        ask.writers(outcome(prepared=None), "out")


def by(block: int, thread: int | None) -> Access:
    place = None if thread is None else (thread, 0, 0)
    return Access(LINE, "global_store_dword", (block, 0, 0), 0, 0, place, "write")


@pytest.mark.parametrize(
    ("shape", "wave_size", "writers", "complaint"),
    [
        ((4, 10), 64, {("out", 0): by(0, 0), ("out", 19): by(0, 127), ("out", 20): by(1, 0)}, ""),
        ((4, 10), 64, {("out", 39): by(1, 64)}, ""),
        ((4, 10), 64, {("out", 9): by(0, 64)},
         "wave 1 of the grid stores elements of row 0, and row 0 belongs to wave 0"),
        ((4, 10), 64, {("out", 10): by(0, 63)},
         "wave 0 of the grid stores elements of row 1, and row 1 belongs to wave 1"),
        ((4, 10), 32, {("out", 20): by(0, 64), ("out", 39): by(0, 127)}, ""),
        ((8,), 64, {("out", 3): by(1, 64), ("out", 2): by(1, 63)}, ""),
        ((8,), 64, {("out", 3): by(0, 5)}, "wave 0 of the grid stores out[3], and row 3 belongs to wave 3"),
        ((8,), 64, {("out", 3): by(0, None), ("b", 3): by(0, 5)}, ""), ((8,), 64, {}, ""),
        ((8,), 64, {("b", 3): by(0, 5), ("out", 1): by(0, 5)},
         "wave 0 of the grid stores out[1], and row 1 belongs to wave 1"),
    ],
)  # fmt: skip
def test_a_row_belongs_to_the_wave_with_its_number(
    shape: tuple[int, ...], wave_size: int, writers: dict[tuple[str, int], Access], complaint: str
) -> None:
    case = Case({}, (2, 1, 1), (128, 1, 1), (Array("out", np.zeros(shape), np.ones(shape)),))
    asked = ask.row_by_its_wave("out")
    assert said(asked, outcome(case=case, writers=writers, wave_size=wave_size)) == complaint
    assert (asked.name, asked.title, asked.watches, asked.shrinks) == (
        "row-by-its-wave", "wave k of the grid stores row k", True, True
    )  # fmt: skip


LAUNCHES = "one<<<1, 1>>>(); BETWEEN two<<<1, 1>>>();"
APART = (
    "two is in another stream than one, and nothing makes it wait: here it ran later because the virtual GPU runs "
    "kernels in the order of their launches"
)


@pytest.mark.parametrize(
    ("code", "orders", "graph", "complaint"),
    [
        (LAUNCHES, {(0, 2)}, None, ""), (LAUNCHES, set(), None, APART), (LAUNCHES, {(2, 0)}, None, APART),
        (LAUNCHES, set(), 1, ""), (LAUNCHES.replace("BETWEEN", "hipDeviceSynchronize();"), set(), None, ""),
        (LAUNCHES.replace("BETWEEN", "while (hipEventQuery(e)) {}"), set(), None, ""),
        (f"hipFree(a); {LAUNCHES} hipMemcpy(b, c, 1, k);", set(), None, APART),
        ("hipDeviceSynchronize(); launch();", set(), None, ""), ("launch();", set(), None, APART),
        ("hipLaunchKernelGGL(one, 1); hipFree(a); hipModuleLaunchKernel(two);", set(), None, ""),
    ],
)  # fmt: skip
def test_kernels_wait_for_the_one_before(
    code: str, orders: set[tuple[int, int]], graph: int | None, complaint: str
) -> None:
    kinds = (("kernel", "one"), ("copy", "c"), ("kernel", "two"))
    work = [SimpleNamespace(kind=kind, name=name, graph=graph) for kind, name in kinds]
    seen: Any = SimpleNamespace(activities=work, code=code, comes_after=lambda first, second: (first, second) in orders)
    asked = ask.kernels_in_order()
    assert asked.complaint(seen) == complaint
    assert (asked.name, asked.title) == ("kernels-in-order", "each kernel waits for the one before it")
