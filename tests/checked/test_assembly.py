"""Checked launches of programs written in assembly: missing waits and registers never written; and what is right."""

from __future__ import annotations

import numpy as np
import pytest

import gpulab

_SIZES = {"gfx942": (64, ".amdhsa_accum_offset 16", ""), "gfx1100": (32, ".amdhsa_wavefront_size32 1", "")}
_START = {
    "gfx942": "s_load_dwordx2 s[2:3], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\n",
    "gfx1100": "s_load_b64 s[2:3], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\n",
}


def assembly(arch: str, body: str, lds: int = 1024) -> str:
    """A kernel f(float* x): v0 has the thread's number, v1 four times that; s[2:3] loads the pointer."""
    size, extra, _ = _SIZES[arch]
    lines = "\n".join(f"  {line}" for line in (_START[arch] + body).strip().split("\n"))
    return f"""
.amdgcn_target "amdgcn-amd-amdhsa--{arch}"
.text
.globl f
.p2align 8
.type f,@function
f:
{lines}
  s_endpgm
.rodata
.p2align 6
.amdhsa_kernel f
  .amdhsa_group_segment_fixed_size {lds}
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_user_sgpr_count 2
  .amdhsa_next_free_vgpr 16
  .amdhsa_next_free_sgpr 16
  {extra}
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: f
    .symbol: f.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: {lds}
    .private_segment_fixed_size: 0
    .wavefront_size: {size}
    .sgpr_count: 16
    .vgpr_count: 16
    .max_flat_workgroup_size: 256
    .args:
      - {{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}}
...
.end_amdgpu_metadata
"""


def run(arch: str, body: str, block: int = 64) -> gpulab.KernelFault | None:
    """Launch checked; the fault."""
    with gpulab.using(f"virtual:{arch}"):
        kernel = gpulab.compile(assembly(arch, body), language="asm", name="f.s")["f"]
        x = gpulab.to_device(np.arange(1024, dtype="float32"))
        with gpulab.checked():
            try:
                kernel[1, block](x)
            except gpulab.KernelFault as fault:
                return fault
    return None


LDS_WAIT = "s_waitcnt lgkmcnt(0)"
PLANTED = {
    "pointer used before it is loaded": (
        "gfx942", "global_load_dword v2, v1, s[2:3]", "missing wait", ["s2", "lgkmcnt", "s_load_dwordx2"],
    ),
    "value used before it is loaded": (
        "gfx942",
        f"{LDS_WAIT}\nglobal_load_dword v2, v1, s[2:3]\nv_add_u32 v3, v2, v2",
        "missing wait", ["v2", "vmcnt", "global_load_dword"],
    ),
    "value used before it is loaded, RDNA": (
        "gfx1100",
        f"{LDS_WAIT}\nglobal_load_b32 v2, v1, s[2:3]\nv_add_nc_u32 v3, v2, v2",
        "missing wait", ["v2", "vmcnt", "global_load_b32"],
    ),
    "wait for the first of two only": (
        "gfx942",
        f"{LDS_WAIT}\nglobal_load_dword v2, v1, s[2:3]\nglobal_load_dword v3, v1, s[2:3] offset:4\n"
        "s_waitcnt vmcnt(1)\nv_add_u32 v4, v2, v3",
        "missing wait", ["v3", "offset:4"],
    ),
    "overwritten before it is loaded": (
        "gfx942",
        f"{LDS_WAIT}\nglobal_load_dword v2, v1, s[2:3]\nv_mov_b32 v2, 0",
        "missing wait", ["v2"],
    ),
    "loaded value stored at once": (
        "gfx1100",
        f"{LDS_WAIT}\nglobal_load_b32 v2, v1, s[2:3]\nglobal_store_b32 v1, v2, s[2:3]",
        "missing wait", ["v2", "vmcnt"],
    ),
    "LDS value used before it is there": (
        "gfx942",
        f"{LDS_WAIT}\nds_write_b32 v1, v0\nds_read_b32 v2, v1\nv_mov_b32 v3, v2",
        "missing wait", ["v2", "lgkmcnt", "ds_read_b32"],
    ),
    "wait for the other counter": (
        "gfx942",
        f"{LDS_WAIT}\nglobal_load_dword v2, v1, s[2:3]\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v3, v2",
        "missing wait", ["vmcnt"],
    ),
    "scalar loads come in any order": (
        "gfx942",
        "s_load_dword s4, s[0:1], 0x0\ns_load_dword s5, s[0:1], 0x4\ns_waitcnt lgkmcnt(1)\ns_mov_b32 s6, s4",
        "missing wait", ["s4"],
    ),
    "barrier before the write to LDS is done": (
        "gfx942",
        f"{LDS_WAIT}\nds_write_b32 v1, v0\ns_barrier",
        "missing wait", ["barrier", "ds_write_b32", "lgkmcnt"],
    ),
    "barrier before the write to LDS is done, RDNA": (
        "gfx1100",
        f"{LDS_WAIT}\nds_store_b32 v1, v0\ns_barrier",
        "missing wait", ["barrier", "ds_store_b32"],
    ),
    "vector register never written": ("gfx942", f"{LDS_WAIT}\nv_add_u32 v3, v0, v7", "register", ["v7"]),
    "vector register written by other lanes": (
        "gfx942",
        f"{LDS_WAIT}\ns_mov_b64 exec, 0xff\nv_mov_b32 v5, 1\ns_mov_b64 exec, -1\nv_add_u32 v3, v5, v0",
        "register", ["v5", "lane 8"],
    ),
    "scalar register never written": ("gfx1100", f"{LDS_WAIT}\ns_add_i32 s5, s9, 1", "register", ["s9"]),
    "store of a register never written": (
        "gfx1100", f"{LDS_WAIT}\nglobal_store_b32 v1, v9, s[2:3]", "register", ["v9"],
    ),
    "condition from vcc never written": (
        "gfx942", f"{LDS_WAIT}\nv_cndmask_b32 v3, v0, v1, vcc", "register", ["vcc"],
    ),
    "beyond the end within a page": (
        "gfx942",
        f"{LDS_WAIT}\nv_mov_b32 v2, 0x1000\nglobal_load_dword v3, v2, s[2:3]",
        "out of bounds", ["exactly at the end"],
    ),
    "race in LDS": (
        "gfx942",
        f"{LDS_WAIT}\nds_write_b32 v1, v0\nv_xor_b32 v2, 0x100, v1\nds_read_b32 v3, v2\ns_waitcnt lgkmcnt(0)",
        "race", ["shared"],
    ),
    "LDS never written": (
        "gfx1100",
        f"{LDS_WAIT}\nds_load_b32 v2, v1\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v3, v2",
        "never written", ["shared"],
    ),
}  # fmt: skip

CLEAN = {
    "load, wait, use": (
        "gfx942",
        f"{LDS_WAIT}\nglobal_load_dword v2, v1, s[2:3]\ns_waitcnt vmcnt(0)\nv_add_u32 v3, v2, v2",
    ),
    "first of two loads": (
        "gfx942",
        f"{LDS_WAIT}\nglobal_load_dword v2, v1, s[2:3]\nglobal_load_dword v3, v1, s[2:3] offset:4\n"
        "s_waitcnt vmcnt(1)\nv_add_u32 v4, v2, v2\ns_waitcnt vmcnt(0)\nv_add_u32 v4, v3, v3",
    ),
    "stores are no loads on RDNA": (
        "gfx1100",
        f"{LDS_WAIT}\nglobal_load_b32 v2, v1, s[2:3]\nglobal_store_b32 v1, v0, s[2:3] offset:1024\n"
        "s_waitcnt vmcnt(0)\nglobal_store_b32 v1, v2, s[2:3]",
    ),
    "LDS in order": (
        "gfx942",
        f"{LDS_WAIT}\nds_write_b32 v1, v0\nds_read_b32 v2, v1\nds_write_b32 v1, v0\n"
        "s_waitcnt lgkmcnt(1)\nv_mov_b32 v3, v2",
    ),
    "LDS with barrier": (
        "gfx1100",
        f"{LDS_WAIT}\nds_store_b32 v1, v0\ns_waitcnt lgkmcnt(0)\ns_barrier\n"
        "v_xor_b32 v2, 0x80, v1\nds_load_b32 v3, v2\n"
        "s_waitcnt lgkmcnt(0)\nv_mov_b32 v4, v3",
    ),
    "stored register overwritten at once": (
        "gfx942",
        f"{LDS_WAIT}\nv_mov_b32 v2, 1.0\nglobal_store_dword v1, v2, s[2:3]\nv_mov_b32 v2, 2.0",
    ),
    "lanes that sleep need no value": (
        "gfx942",
        f"{LDS_WAIT}\ns_mov_b64 exec, 0xff\nv_mov_b32 v5, 1\nv_add_u32 v3, v5, v0\ns_mov_b64 exec, -1",
    ),
    "write-lane, then read-lane": (
        "gfx1100",
        f"{LDS_WAIT}\ns_mov_b32 s5, 7\nv_writelane_b32 v6, s5, 3\nv_readlane_b32 s6, v6, 3",
    ),
    "barrier under a mask": (
        "gfx942",
        f"{LDS_WAIT}\ns_mov_b64 exec, 0xff\ns_barrier\ns_mov_b64 exec, -1",
    ),
    "unaligned load": (
        "gfx942",
        f"{LDS_WAIT}\nglobal_load_dword v2, v1, s[2:3] offset:2\ns_waitcnt vmcnt(0)\nv_mov_b32 v3, v2",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_found(name: str) -> None:
    arch, body, kind, words = PLANTED[name]
    error = run(arch, body, 128 if kind == "race" else 64)
    assert error is not None, "nothing was found"
    assert error.fault is not None
    assert error.fault.kind == kind, str(error)
    for word in words:
        assert word in str(error)
    assert error.fault.where is not None
    if kind == "missing wait":
        assert error.fault.other is not None
        assert error.fault.other.where is not None
        assert error.fault.other.where.line < error.fault.where.line


@pytest.mark.parametrize("name", CLEAN)
def test_a_near_miss_is_not_reported(name: str) -> None:
    assert run(*CLEAN[name]) is None
