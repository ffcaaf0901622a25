"""Traces: what a step records, which wave, truncation, faults and meanings."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from gpulab.virtual_gpu import isa
from gpulab.virtual_gpu.isa import words
from gpulab.virtual_gpu.isa.assembly import parse
from gpulab.virtual_gpu.isa.instruction import Instruction, Operand, Register
from gpulab.virtual_gpu.isa.row import Row
from gpulab.virtual_gpu.reference.memory import Regions, load
from gpulab.virtual_gpu.reference.trace import trace

from .run import KERNEL

BODY = """
.loc 0 1 3
  v_lshlrev_b32 v1, 2, v0
  v_mov_b32 v1, v1
.loc 0 2 5
  v_cmp_gt_u32_e32 vcc, {limit}, v0
  s_and_saveexec_b64 s[4:5], vcc
  ds_write_b32 v1, v0
  s_barrier
  s_mov_b64 exec, s[4:5]
  v_xor_b32 v2, 0x100, v1
  ds_read_b32 v3, v2
"""


def traced(body: str, *, wave: int = 0, threads: int = 128, lds: int = 1024, **kwargs):
    text = KERNEL.format(arch="gfx942", body=body, lds=lds, scratch=0, denormals=3, ieee=0, after="", directives="")
    text = text.replace(".text\n", '.text\n.file 0 "/x" "cell.hip"\n')
    program = parse(text, {"cell.hip": "first line\nsecond line\n"})
    memory = Regions()
    kernarg = struct.pack("<QQ", 0, 0)
    return trace(
        program, "k", memory=memory, grid=(1, 1, 1), block=(threads, 1, 1), kernarg=kernarg,
        kernarg_address=memory.allocate(kernarg), addresses=load(program, memory), wave=wave, **kwargs,
    )  # fmt: skip


def test_a_step_has_what_changed():
    found = traced(BODY.format(limit=200))
    assert (found.kernel, found.arch, found.wave_size, found.truncated) == ("k", "gfx942", 64, False)
    assert len(found.instructions) == len(found.steps) == 10
    assert found.steps[0].changes == {"v1": tuple(4 * i for i in range(64))}
    assert found.steps[1].changes == {}  # a register that keeps its value has not changed
    assert found.steps[2].changes == {"vcc": (1 << 64) - 1}
    assert set(found.steps[3].changes) == {"s4", "s5", "scc"}
    assert [s.instruction for s in found.steps] == list(range(10))
    assert found.steps[0].exec_mask == (1 << 64) - 1


def test_counters_that_instructions_raise_and_waits_name():
    found = traced("""
  s_load_dword s4, s[0:1], 0x0
  ds_read_b32 v1, v0
  s_waitcnt vmcnt(2) lgkmcnt(0)
""")
    assert [(i.raises, i.any_order, i.allows) for i in found.instructions[:3]] == [
        (("lgkmcnt",), True, ()), (("lgkmcnt",), False, ()), ((), False, (("vmcnt", 2), ("lgkmcnt", 0))),
    ]  # fmt: skip


def test_the_other_wave_ran_too():
    found = traced(BODY.format(limit=200), wave=1)
    assert found.steps[8].changes == {"v3": tuple(range(64))}
    assert found.wave == 1


def test_exec_is_the_one_the_instruction_ran_with():
    found = traced(BODY.format(limit=3))
    assert [bin(s.exec_mask).count("1") for s in found.steps] == [64, 64, 64, 64, 3, 3, 3, 64, 64, 64]
    assert found.steps[3].changes["exec"] == 7
    assert found.steps[6].changes["exec"] == (1 << 64) - 1


def test_instructions_have_lines_and_meanings():
    found = traced(BODY.format(limit=200))
    assert found.instructions[0].where.text == "first line"
    assert (found.instructions[2].where.line, found.instructions[2].where.column) == (2, 5)
    assert found.instructions[0].text == "v_lshlrev_b32 v1, 2, v0"
    assert all(i.meaning for i in found.instructions)
    assert found.source == "first line\nsecond line\n"


def test_a_long_run_is_truncated():
    found = traced("s_mov_b32 s2, 0\n.Lagain:\n s_add_u32 s2, s2, 1\n s_branch .Lagain", max_steps=50)
    assert found.truncated
    assert len(found.steps) == 50
    assert found.steps[-1].changes in ({"s2": 25}, {})


def test_a_wave_that_waits_for_one_that_never_comes():
    """Wave 0 loops for ever, so wave 1 is at its barrier when the limit is reached."""
    body = "v_readfirstlane_b32 s2, v0\n s_cmp_eq_u32 s2, 0\n.Lagain:\n s_cbranch_scc1 .Lagain\n s_barrier"
    found = traced(body, wave=1, max_steps=20)
    assert found.truncated


def test_a_fault_ends_the_trace():
    found = traced("v_mov_b32 v1, -4\n ds_write_b32 v1, v0\n v_mov_b32 v2, 1")
    assert [s.instruction for s in found.steps] == [0, 1]
    assert not found.truncated


def test_no_such_wave():
    with pytest.raises(ValueError, match="wave 2 of a workgroup with 2 waves"):
        traced("s_nop 0", wave=2)


def test_values_are_plain_integers():
    changes = traced(BODY.format(limit=200)).steps[0].changes["v1"]
    assert all(type(v) is int for v in changes)
    assert not isinstance(changes, np.ndarray)


def test_a_fault_of_this_wave_is_in_the_trace():
    found = traced("v_mov_b32 v1, -4\n ds_write_b32 v1, v0\n v_mov_b32 v2, 1")
    assert (found.fault.kind, found.fault.lane, found.fault.instruction) == (
        "lds out of bounds",
        0,
        "ds_write_b32 v1, v0",
    )
    assert traced("v_mov_b32 v1, 4").fault is None


def test_accesses_have_addresses_and_values_by_lane():
    """Three lanes write their numbers to 4 * lane; then all read from there, after the barrier."""
    found = traced(BODY.format(limit=3))
    (write,) = found.steps[4].accesses
    assert (write.space, write.action, write.bytes) == ("lds", "write", 4)
    assert (write.lanes, write.addresses, write.values) == ((0, 1, 2), (0, 4, 8), (0, 1, 2))
    (read,) = found.steps[8].accesses
    assert (read.space, read.action, read.lanes) == ("lds", "read", tuple(range(64)))
    assert read.addresses[:2] == (256, 260)
    assert found.lds_bytes == 1024


def test_lds_written_by_other_waves_is_seen_at_the_next_step():
    found = traced(BODY.format(limit=200))
    assert found.steps[4].lds == ((0, struct.pack("<64I", *range(64))),)
    # Wave 1 writes while this one waits at the barrier.
    assert found.steps[6].lds == ((256, struct.pack("<64I", *range(64, 128))),)
    assert found.steps[8].lds == ()


def test_two_addresses_are_two_accesses_and_an_atomic_is_one():
    found = traced(
        "v_lshlrev_b32 v1, 3, v0\n ds_write2_b32 v1, v0, v1 offset1:1\n ds_add_rtn_u32 v2, v1, v0", threads=64
    )
    first, second = found.steps[1].accesses
    assert (first.addresses[:2], first.values[:3]) == ((0, 8), (0, 1, 2))
    assert (second.addresses[:2], second.values[:3]) == ((4, 12), (0, 8, 16))
    (added,) = found.steps[2].accesses
    assert (added.action, added.values[:3]) == ("atomic", (0, 2, 4))
    assert found.steps[2].changes["v2"][:3] == (0, 1, 2)


def test_registers_at_the_start():
    found = traced("v_mov_b32 v1, 4", threads=64)
    assert found.start["v0"] == tuple(range(64))
    assert found.start["exec"] == (1 << 64) - 1
    assert "v1" not in found.start


def test_instructions_in_words():
    found = traced(BODY.format(limit=200))
    said = [i.meaning for i in found.instructions]
    assert said[0] == "v1 = v0 << 2, in each active lane."
    assert said[2] == "Compare: vcc = 0xc8 > v0, in each active lane."
    assert said[4] == "Each active lane stores 32 bits, v0, to LDS at v1."
    assert said[8] == "Each active lane loads 32 bits into v3 from LDS at v2."
    assert [i.kind for i in found.instructions[:6]] == ["vector", "vector", "vector", "scalar", "memory", "barrier"]
    masks = found.instructions[3].operands
    assert [(o.text, o.registers, o.type, o.written) for o in masks] == [
        ("vcc", ("vcc",), "u64", False), ("exec", ("exec",), "b1", False), ("s[4:5]", ("s4", "s5"), "u64", True),
        ("exec", ("exec",), "b1", True), ("scc", ("scc",), "u32", True),
    ]  # fmt: skip


def test_the_end_of_another_function_is_no_label_of_this_one():
    found = traced("s_nop 0\n.Lfunc_end7:\n.Lnext:\n s_nop 0")
    assert found.instructions[1].label == ".Lnext"


def test_branches_know_their_targets():
    found = traced("s_mov_b32 s2, 0\n.Lagain:\n s_add_u32 s2, s2, 1\n s_cmp_lt_u32 s2, 3\n s_cbranch_scc1 .Lagain")
    branch = found.instructions[3]
    assert (branch.target, found.instructions[1].label) == (1, ".Lagain")
    assert branch.meaning == "Jump to .Lagain if SCC is 1; otherwise go on."


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100", "gfx90a", "gfx1201"])
def test_each_row_can_be_told_in_words(arch):
    """No row's sentence is empty, and no formula needs an operand that its row has not."""
    for name, row in isa.table(arch).items():
        if isinstance(row, Row):
            explicit = sum(not p.implicit for p in row.parameters)
            results = sum(r.name in ("dst", "sdst") for r in row.graph()[0])
            operands = tuple(Operand(Register("v", n)) for n in range(explicit + results))
            item = Instruction(name, "", operands, {}, name)
            assert words.sentence(item, row).endswith("."), name
            assert len(words.operands(item, row)) >= len(set(operands)) - 1, name


def test_numbers_and_results_that_nobody_needs_in_words():
    found = traced("v_fmac_f32 v5, 0x3fc00000, v2\n v_mul_f32 v1, 0xc0000000, v1\n v_add_co_u32 v1, s[0:1], v1, v2")
    said = [i.meaning for i in found.instructions]
    assert said[0] == "dst += a*b with one rounding: v5 = 1.5 * v2 + v5, in each active lane, floating point."
    assert said[1] == "Product: v1 = -2 * v1, in each active lane, floating point."
    assert said[2].startswith("Sum, and its carry as a mask: v1 = v1 + v2, s[0:1] = ")
