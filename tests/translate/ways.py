"""What launches of a test were set up for: which way their workgroups had."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

import gpulab
from gpulab.virtual_gpu.machine import loading
from gpulab.virtual_gpu.machine.device import VirtualDevice
from gpulab.virtual_gpu.machine.launching import Plan
from gpulab.virtual_gpu.translate import phases, straight


class Seen:
    """The launches, and whether their waves went straight through (translate/straight.py, phases.py)."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.plans: list[Plan] = []
        run = VirtualDevice._run

        def ran(machine: VirtualDevice, plan: Plan, *arguments: object) -> object:
            self.plans.append(plan)
            return run(machine, plan, *arguments)  # type: ignore[arg-type]

        patch.setattr(VirtualDevice, "_run", ran)

    def fits(self) -> bool:
        """Whether the last launch's kernel has that way, and its blocks fit."""
        return bool(self.plans[-1].launch.straight)

    def given_up(self) -> bool:
        """Whether the last workgroup that was tried could not go on, on the thread that did most of the last launch.

        The first one of a thread often cannot, as nothing is known of allocations yet; and on a busy machine a thread
        may have no other.
        """
        first, *others = (context.thread for context in self.plans[-1].contexts)
        alone = first.executed - sum(other.executed for other in others)  # what others did was added to it in the end
        most = max(others, key=lambda each: each.executed, default=first)
        return bool((first if alone >= most.executed else most).turns)


def without_it(patch: pytest.MonkeyPatch) -> None:
    """Kernels that are translated from here on have neither way, and are compiled quickly: results are the same."""
    patch.setattr(loading, "QUICK_SECONDS", 1e9)
    patch.setattr(straight.Straight, "_way", lambda self: None)
    patch.setattr(phases.Phases, "_split", lambda self: None)


@contextlib.contextmanager
def compiled_twice(source: str, arch: str) -> Iterator[tuple[gpulab.Module, gpulab.Module]]:
    """The same kernels twice, optimised at once: one module for that way, and one for tests without it."""
    with pytest.MonkeyPatch.context() as patch, gpulab.using(f"virtual:{arch}"):
        patch.setattr(loading, "QUICK_SECONDS", 0.0)
        yield gpulab.compile(source), gpulab.compile(source + "// without\n")


ASSEMBLY = """
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.text
.globl k
.p2align 8
.type k,@function
k:
  s_load_dword s4, s[0:1], 0x0
  s_load_dwordx2 s[6:7], s[0:1], 0x8
  s_waitcnt lgkmcnt(0)
  v_lshlrev_b32 v1, 2, v0
  s_lshl_b32 s12, s2, 10
  v_add_u32 v2, s12, v1
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
  s_barrier
  v_mov_b32 v4, 0
  BODY
  s_waitcnt lgkmcnt(0)
  global_store_dword v2, v4, s[6:7]
  s_endpgm
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_group_segment_fixed_size 1024
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_user_sgpr_count 2
  .amdhsa_next_free_vgpr 16
  .amdhsa_next_free_sgpr 40
  .amdhsa_accum_offset 16
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 1024
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 40
    .vgpr_count: 16
    .max_flat_workgroup_size: 256
    .args:
      - {.name: n, .size: 4, .offset: 0, .value_kind: by_value}
      - {.name: y, .size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global}
...
.end_amdgpu_metadata
"""
"""On gfx942: thread t of 256 has t in v0 and at 4 t (v1) in LDS, n is in s4; v4 is stored."""
