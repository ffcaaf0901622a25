"""Weak memory (`gpulab.weak`): litmus tests, what waits and caches' instructions do, results of right kernels.

Which outcomes of a litmus test are allowed is worked out from the C++ memory model (ISO C++ 20, [intro.races],
[atomics.order]) by the orders that stand in its source; in assembly, from LLVM, "User Guide for AMDGPU Backend", memory
models. What is allowed and shows on these devices has to be seen for some seed; what is not must be seen for none.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import gpulab
from gpulab import architectures
from gpulab.errors import CapabilityError
from gpulab.virtual_gpu import isa
from gpulab.virtual_gpu.isa import caches, instruction_text
from tests.checked import harness

ARCHITECTURES = tuple(os.environ.get("GPULAB_DEVICES", "gfx942,gfx1100").split(","))
FURTHER = "gfx90a,gfx950,gfx1030,gfx1201"
SOURCE = Path(__file__).with_name("litmus.hip")
NEW, STALE = (42,), (0,)
EACH = {(0, 0), (0, 1), (1, 0), (1, 1)}


@pytest.fixture(params=ARCHITECTURES)
def arch(request: pytest.FixtureRequest) -> Iterator[str]:
    with gpulab.using(f"virtual:{request.param}"):
        yield request.param


@cache
def module(arch: str) -> gpulab.Module:
    with gpulab.using(f"virtual:{arch}"):
        return gpulab.compile(SOURCE.read_text(), name=SOURCE.name)


def outcomes(
    kernel: gpulab.Kernel, size: int, seeds: range, blocks: int = 2, threads: int = 64
) -> set[tuple[int, ...]]:
    """What `out` begins with after launches with these seeds; `size`: of how many numbers."""
    found = set()
    for seed in seeds:
        first, second, out = (gpulab.zeros(64, "int32") for _ in range(3))
        with gpulab.weak(seed):
            kernel[blocks, threads](first, second, out)
        found.add(tuple(out.to_host()[:size].tolist()))
    return found


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        pytest.param("message_relaxed", {NEW, STALE}, marks=pytest.mark.full),
        ("message_release", {NEW, STALE}),  # the receiver reads its old line
        ("message_acquire", {NEW, STALE}),  # the flag comes before the box
        ("message_both", {NEW}),
        pytest.param("message_atomics", {NEW}, marks=pytest.mark.full),
        pytest.param("message_narrow", {NEW, STALE}, marks=pytest.mark.full),
    ],
)
def test_a_message_needs_both_sides(arch: str, name: str, seen: set[tuple[int, ...]]) -> None:
    assert outcomes(getattr(module(arch), name), 1, range(40)) == seen


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "size", "blocks", "allowed", "seen"),
    [
        ("buffering_relaxed", 2, 2, EACH, EACH),
        ("buffering_both", 2, 2, EACH, EACH),  # a release and a later acquire of another place are not in order
        ("buffering_total", 2, 2, EACH - {(0, 0)}, EACH - {(0, 0)}),
        ("loading_relaxed", 2, 2, EACH, EACH),
        ("loading_both", 2, 2, EACH - {(1, 1)}, EACH - {(1, 1)}),
        ("coherence", 2, 2, {(a, b) for a in range(3) for b in range(a, 3)}, {(0, 0), (2, 2), (0, 2)}),
    ],
)
def test_litmus(arch: str, name: str, size: int, blocks: int, allowed: set[object], seen: set[object]) -> None:
    found = outcomes(getattr(module(arch), name), size, range(300), blocks)
    assert found <= allowed
    assert found >= seen


@pytest.mark.full
def test_readers_agree_on_the_order_of_independent_writes_if_they_acquire(arch: str) -> None:
    """By C++ they may differ as long as nothing is seq_cst; these devices have one memory, so acquires are enough."""
    apart = (1, 0, 1, 0)
    relaxed = module(arch).independent_relaxed
    assert any(apart in outcomes(relaxed, 4, range(seed, seed + 1), 4) for seed in range(4000))  # it is rare
    assert apart not in outcomes(module(arch).independent_acquire, 4, range(300), 4)


@pytest.mark.parametrize(
    ("name", "blocks", "threads"),
    [
        ("barrier_then_release", 2, 128),
        ("block_barrier", 1, 128),
        pytest.param("passed_on", 3, 64, marks=pytest.mark.full),
        pytest.param("block_message", 1, 128, marks=pytest.mark.full),
    ],
)
def test_a_release_covers_what_happened_before_it(arch: str, name: str, blocks: int, threads: int) -> None:
    assert outcomes(getattr(module(arch), name), 1, range(25), blocks, threads) == {NEW}


@pytest.mark.full
def test_a_sequence_lock_holds(arch: str) -> None:
    assert outcomes(module(arch).sequence_lock, 1, range(15)) == {(0,)}


def test_a_seed_gives_the_same_run_again(arch: str) -> None:
    kernel = module(arch).message_release
    runs = [[next(iter(outcomes(kernel, 1, range(n, n + 1)))) for n in range(12)] for _ in range(2)]
    assert runs[0] == runs[1]
    assert set(runs[0]) == {NEW, STALE}


@pytest.mark.full
def test_the_launches_of_a_block_differ(arch: str) -> None:
    found = set()
    with gpulab.weak(5):
        for _ in range(12):
            first, second, out = (gpulab.zeros(64, "int32") for _ in range(3))
            module(arch).message_release[2, 64](first, second, out)
            found.add(int(out.to_host()[0]))
    assert found == {0, 42}


@pytest.mark.full
def test_atomics_lose_nothing_and_a_lane_reads_what_it_stored(arch: str) -> None:
    for seed in range(2):
        count, total = gpulab.zeros(1, "int32"), gpulab.zeros(1, "float32")
        out = gpulab.zeros(64 + 3 * 80, "int32")
        with gpulab.weak(seed):
            module(arch).counted[3, 80](count, total, out)
        assert (count.to_host()[0], total.to_host()[0], out.to_host()[0]) == (240, 120.0, 79)
        assert out.to_host()[64:].tolist() == [thread + block for block in range(3) for thread in range(80)]


def test_after_the_block_launches_are_as_before(arch: str) -> None:
    data = gpulab.to_device(np.arange(512, dtype=np.int32))
    out = gpulab.zeros(512, "int32")
    with gpulab.weak(1):
        module(arch).shifted[2, 256](data, out)
    weak = out.to_host()
    module(arch).shifted[2, 256](data, out)
    expected = [b * 256 + (t + 7) % 256 for b in range(2) for t in range(256)]
    assert weak.tolist() == out.to_host().tolist() == expected


# ------------------------------------------------------------------- waits and caches, by their instructions

BY_HAND = """
__global__ void by_hand(int* box, int* flag, int* out) {{
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {{
    *box = 42;
    asm volatile("{release}" ::: "memory");
    __hip_atomic_store(flag, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  }} else {{
    int before = box[1 + __lane_id()];
    while (!__hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)) {{}}
    asm volatile("{acquire}" ::: "memory");
    out[0] = *box + before;
  }}
}}
"""


PARTS = [  # what is wrong needs some seeds to show
    ("gfx942", "buffer_wbl2 sc1\\n s_waitcnt vmcnt(0)", "buffer_inv sc1", {NEW}),
    ("gfx942", "s_waitcnt vmcnt(0)", "buffer_inv sc1", {NEW, STALE}),  # the L2 of the die keeps it
    ("gfx942", "buffer_wbl2 sc1", "buffer_inv sc1", {NEW, STALE}),  # nobody waits until it is written back
    ("gfx942", "buffer_wbl2 sc1\\n s_waitcnt vmcnt(0)", "buffer_inv sc0", {NEW, STALE}),  # the L2 has the old line
    ("gfx1100", "s_waitcnt_vscnt null, 0x0", "buffer_gl1_inv\\n buffer_gl0_inv", {NEW}),
    ("gfx1100", "s_waitcnt vmcnt(0)", "buffer_gl1_inv\\n buffer_gl0_inv", {NEW, STALE}),  # it counts loads alone
    ("gfx1100", "s_waitcnt_vscnt null, 0x1", "buffer_gl1_inv\\n buffer_gl0_inv", {NEW, STALE}),
    ("gfx1100", "s_waitcnt_vscnt null, 0x0", "buffer_gl0_inv", {NEW, STALE}),  # the GL1 has the old line
    ("gfx1100", "s_waitcnt_vscnt null, 0x0", "buffer_gl1_inv", {NEW, STALE}),  # the L0 has it
    ("gfx90a", "s_waitcnt vmcnt(0)", "buffer_wbinvl1_vol", {NEW}),
    ("gfx90a", "s_nop 0", "buffer_wbinvl1_vol", {NEW, STALE}),
    ("gfx90a", "s_waitcnt vmcnt(0)", "s_nop 0", {NEW, STALE}),
    ("gfx1030", "s_waitcnt_vscnt null, 0x0", "buffer_gl1_inv\\n buffer_gl0_inv", {NEW}),
    ("gfx1201", "s_wait_storecnt 0x0", "global_inv scope:SCOPE_DEV", {NEW}),
    ("gfx1201", "s_nop 0", "global_inv scope:SCOPE_DEV", {NEW, STALE}),
    ("gfx1201", "s_wait_storecnt 0x0", "global_inv scope:SCOPE_CU", {NEW, STALE}),
]  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize(
    ("arch", "release", "acquire", "seen"), [row for row in PARTS if row[0] in ARCHITECTURES], ids=str
)
def test_each_instruction_does_its_part(arch: str, release: str, acquire: str, seen: set[tuple[int, ...]]) -> None:
    """By LLVM's tables a release for the device is what stands first for each device, an acquire what stands second."""
    with gpulab.using(f"virtual:{arch}"):
        kernel = gpulab.compile(BY_HAND.format(release=release, acquire=acquire)).by_hand
        assert outcomes(kernel, 1, range(40)) == seen


@pytest.mark.full
def test_further_devices() -> None:
    """The devices of a process are chosen once: pytest starts again."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=line", __file__]
    found = subprocess.run(
        [*command, "-k", "each_instruction or covers or sequence_lock or buffering or loading or coherence"],
        env=os.environ | {"GPULAB_DEVICES": FURTHER}, capture_output=True, text=True, timeout=1200, check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stdout[-4000:] + found.stderr[-4000:]
    assert int(found.stdout.split(" passed")[0].split()[-1]) >= 7 + 4 * (4 + 1 + 6)


@pytest.mark.parametrize(
    ("arch", "text", "reach"),
    [
        ("gfx942", "global_load_dword v1, v2, s[0:1]", caches.WAVE),
        ("gfx942", "global_load_dword v1, v2, s[0:1] sc0", caches.GROUP),
        ("gfx942", "global_load_dword v1, v2, s[0:1] sc1", caches.DEVICE),
        ("gfx942", "flat_store_dword v[0:1], v2 sc0 sc1", caches.DEVICE),
        ("gfx942", "global_load_dword v1, v2, s[0:1] nt", caches.WAVE),
        ("gfx942", "global_atomic_add v1, v2, s[0:1]", caches.DEVICE),
        ("gfx90a", "global_load_dword v1, v2, s[0:1] glc", caches.DEVICE),
        ("gfx1030", "global_load_dword v1, v2, s[0:1] glc", caches.GROUP),
        ("gfx1030", "global_load_dword v1, v2, s[0:1] glc dlc", caches.DEVICE),
        ("gfx1100", "global_load_b32 v1, v2, s[0:1] glc", caches.DEVICE),
        ("gfx1100", "global_load_b32 v1, v2, s[0:1] slc dlc", caches.WAVE),
        ("gfx1201", "global_load_b32 v1, v2, s[0:1]", caches.WAVE),
        ("gfx1201", "global_load_b32 v1, v2, s[0:1] scope:SCOPE_SE", caches.GROUP),
        ("gfx1201", "global_load_b32 v1, v2, s[0:1] scope:SCOPE_DEV", caches.DEVICE),
    ],
)
def test_modifiers_say_how_far_an_access_goes(arch: str, text: str, reach: int) -> None:
    """From the rows "load atomic monotonic" and "store atomic monotonic" of LLVM's tables."""
    instruction = instruction_text.instruction(text)
    row = isa.table(arch)[instruction.mnemonic]
    assert caches.reach(instruction, row, architectures.get(arch)) == reach


# --------------------------------------------------------------------------------------- right kernels, errors

BY_ORDER = {"append_by_counter", "wave_aggregated_atomic", "new_passed_on", "seqlock"}
"""Near-misses whose results depend on who comes first, or on addresses."""
LONG = {
    "waits_by_the_clock",
    "local_partly_used",
    "barrier_of_the_grid_by_hand",
    "atomics_by_all",
    "long_chain_of_blocks",
}


@pytest.mark.full
@pytest.mark.parametrize(
    ("arch", "case"),
    [row for row in harness.table("clean.hip") if row[0] in ARCHITECTURES and row[1].kernel not in BY_ORDER | LONG],
    ids=str,
)
def test_kernels_without_a_race_do_the_same(arch: str, case: harness.Case) -> None:
    """Those of tests/checked that come near to a mistake and make none: the order changes nothing."""
    with gpulab.using(f"virtual:{arch}"):
        expected = harness.results(case, arch)
        for seed in range(3):
            with gpulab.weak(seed):
                assert harness.results(case, arch) == expected


@pytest.mark.parametrize("seed", [-1, 1 << 32, 0.5, "one", None])
def test_a_seed_is_a_whole_number(seed: object) -> None:
    with pytest.raises(gpulab.ArgumentError, match="is no seed"), gpulab.weak(seed):  # type: ignore[arg-type]
        pass


def test_a_fault_names_its_line(arch: str) -> None:
    x = gpulab.zeros(4, "int32")
    with pytest.raises(gpulab.MemoryFault) as caught, gpulab.weak(0):
        module(arch).outside[1, 32](x)
    line = next(n for n, text in enumerate(SOURCE.read_text().split("\n"), 1) if "void outside" in text)
    assert caught.value.fault is not None
    assert (caught.value.fault.kind, caught.value.fault.where.line) == ("out of bounds", line)
    assert caught.value.fault.lane > 0  # which one is the first depends on what lies behind the array
    module(arch).counted[1, 64](gpulab.zeros(1, "int32"), gpulab.zeros(1, "float32"), gpulab.zeros(128, "int32"))


@pytest.mark.full
def test_what_never_ends_is_stopped(arch: str) -> None:
    gpulab.set_limit(2000)
    try:
        with pytest.raises(gpulab.KernelTimeout), gpulab.weak(0):
            module(arch).forever[1, 64](gpulab.zeros(1, "int32"))
    finally:
        gpulab.set_limit(None)


@pytest.mark.full
def test_a_cooperative_launch_has_all_workgroups_at_the_same_time(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpulab.virtual_gpu.machine.weak.RESIDENT_WAVES", 2)
    count, out = gpulab.zeros(1, "int32"), gpulab.zeros(6, "int32")
    with gpulab.weak(3):
        module(arch).all_meet.cooperative[6, 64](count, out)
    assert out.to_host().tolist() == [6] * 6
    total, largest = gpulab.zeros(1, "float32"), gpulab.zeros(64 + 6 * 64, "int32")
    count = gpulab.zeros(1, "int32")
    with gpulab.weak(3):
        module(arch).counted[6, 64](count, total, largest)  # one or two at a time
    assert count.to_host()[0] == 6 * 64


def test_what_a_weak_launch_cannot_be_is_refused_by_name(arch: str) -> None:
    data, out = gpulab.zeros(256, "int32"), gpulab.zeros(256, "int32")
    kernel = module(arch).shifted
    with gpulab.weak(0), gpulab.checked(), pytest.raises(CapabilityError, match=r"gpulab\.weak cannot be checked"):
        kernel[1, 256](data, out)
    with gpulab.weak(0), pytest.raises(CapabilityError, match=r"gpulab\.weak cannot be profiled"), gpulab.profile():
        kernel[1, 256](data, out)
    with gpulab.weak(0), pytest.raises(CapabilityError, match=r"gpulab\.weak cannot be traced"):
        gpulab.trace(kernel, 1, 256, data, out)
