"""Launches alike share a plan: whatever is launched between them, each does what it does alone."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from gpulab import architectures
from gpulab.virtual_gpu.isa.assembly import parse
from gpulab.virtual_gpu.machine.arena import Arena
from gpulab.virtual_gpu.machine.device import MOST_PLANS, VirtualDevice
from tests.translate.kernels import ARCHITECTURES, Buffer, arena, device, good, module, pack, run

N = 5000


def saxpy(arch: str, block: int, **how):
    """(record, result) of a launch with arrays of its own."""
    x, y = Buffer(np.arange(N, dtype=np.float32)), Buffer(np.ones(N, np.float32))
    for array in (x, y):
        arena().written(array.address, 4 * N)
    launch = good(arch, "saxpy", -(-N // block), block, N, 0.5, x, y, **how)
    result = y.array().copy()
    arena().free(x.address)
    arena().free(y.address)
    return launch, result


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_launches_in_turn_are_those_that_each_is_alone(arch):
    """Of two kernels and several sizes, plain, profiled, checked and on one thread; the records are read in the end."""
    hows = ({}, {"collect": "profile"}, {"checked": True}, {"workers": 1}, {"only_sample": True})
    turns = [(block, how) for block in (64, 256) for how in hows]
    alone = [saxpy(arch, block, **how) for block, how in turns]
    expected = [(dict(launch.counters), launch.time, launch.lines) for launch, _ in alone]
    found = []
    for _ in range(2):
        for block, how in turns:
            found.append(saxpy(arch, block, **how))
            out = Buffer(np.zeros(64, np.int32))  # it stays: the next arrays lie elsewhere
            good(arch, "globals", 1, 64, out)
            assert out.array().tolist() == [(63 - i) * 3 for i in range(64)]
    for (launch, result), (_, same), read in zip(found, 2 * alone, 2 * expected, strict=True):
        assert np.array_equal(result, same)
        assert (dict(launch.counters), launch.time, launch.lines) == read
    whole = 1 + np.arange(N, dtype=np.float32) / 2
    assert all(
        np.array_equal(result, whole)
        for (_, result), (_, how) in zip(alone, turns, strict=True)
        if "only_sample" not in how
    )


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_arguments_are_those_of_each_launch(arch):
    """The same sizes with other values, and with fewer bytes than the launch before had."""
    kernel = module(arch).kernels["saxpy"]
    x, y = Buffer(np.ones(64, np.float32)), Buffer(np.zeros(64, np.float32))
    for factor, expected in ((2.0, 2.0), (3.0, 5.0)):
        good(arch, "saxpy", 1, 64, 64, factor, x, y)
        assert set(y.array().tolist()) == {expected}
    fault = device(arch).launch(kernel, (1, 1, 1), (64, 1, 1), 0, pack(64, 1.0)).fault  # no pointers: they are NULL
    assert fault is not None
    assert (fault.kind, fault.address) == ("null", 0)
    longer = pack(64, 1.0, x, y) + b"\xff" * 64  # what comes after the explicit arguments is the launch's own
    assert device(arch).launch(kernel, (1, 1, 1), (64, 1, 1), 0, longer).fault is None
    assert set(y.array().tolist()) == {6.0}


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_a_fault_is_that_of_its_launch(arch):
    x = Buffer(np.zeros(1000, np.int32))
    for _ in range(2):
        fault = run(arch, "no_guard", 4, 256, x).fault
        assert (fault.kind, fault.workgroup, fault.thread) == ("out of bounds", (3, 0, 0), (232, 0, 0))
        larger = Buffer(np.zeros(1024, np.int32))
        assert good(arch, "no_guard", 4, 256, larger).fault is None
        assert larger.array().tolist() == list(range(1024))


def test_more_sizes_than_are_kept():
    kernel = module("gfx942").kernels["saxpy"]
    x = Buffer(np.ones(1, np.float32))
    for lds in range(0, 4 * (MOST_PLANS + 6), 4):
        y = Buffer(np.ones(1, np.float32))
        good("gfx942", "saxpy", 1, 64, 1, 1.0, x, y, lds=lds)
        assert y.array()[0] == 2
        assert len(kernel.plans) <= MOST_PLANS


PRELOADED = """
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.text
.globl k
k:
  s_load_dwordx2 s[6:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  v_mov_b32 v2, s2
  v_add_u32 v2, s3, v2
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v2, s[6:7]
  s_endpgm
.rodata
.amdhsa_kernel k
  .amdhsa_kernarg_size 16
  .amdhsa_user_sgpr_count 4
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_user_sgpr_kernarg_preload_length 2
  .amdhsa_user_sgpr_kernarg_preload_offset 2
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 8
  .amdhsa_accum_offset 8
.end_amdhsa_kernel
"""


def test_preloaded_arguments_are_those_of_each_launch():
    kernel = device("gfx942").load(parse(PRELOADED)).kernels["k"]
    out = Buffer(np.zeros(64, np.int32))
    for first, second in ((3, 4), (50, 6)):
        launch = device("gfx942").launch(
            kernel, (1, 1, 1), (64, 1, 1), 0, struct.pack("<QII", out.address, first, second)
        )
        assert launch.fault is None
        assert set(out.array().tolist()) == {first + second}


def test_a_graphs_launch_costs_less_and_so_does_its_placement():
    machine = VirtualDevice(architectures.get("gfx942"), Arena(), 0)
    kernel = machine.load(parse(PRELOADED)).kernels["k"]
    address = machine.arena.allocate(256, "device", 0)
    arguments = struct.pack("<QII", address, 1, 2)
    plain = machine.run(kernel, (1, 1, 1), (64, 1, 1), 0, arguments, collect="profile")
    in_graph = machine.run(kernel, (1, 1, 1), (64, 1, 1), 0, arguments, collect="profile")
    in_graph.saving = 0.5
    assert in_graph.time_us == plain.time_us - 0.5
    before, after = plain.record(), in_graph.record()
    assert after.time.overhead_us == before.time.overhead_us - 0.5
    assert after.time.us - after.time.overhead_us == pytest.approx(before.time.us - before.time.overhead_us)
    assert after.placement.begin_us == before.placement.begin_us - 0.5
    assert after.placement.total_us == before.placement.total_us - 0.5
    in_graph.saving = 1e9  # no more than the overhead
    assert in_graph.time().overhead_us == 0
