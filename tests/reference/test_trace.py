"""Traces: what a step records, which wave, truncation, faults and meanings."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from gpulab.virtual_gpu.isa.assembly import parse
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
    text = KERNEL.format(arch="gfx942", body=body, lds=lds, scratch=0, denormals=3, ieee=0, after="")
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
