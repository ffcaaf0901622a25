"""Inline assembly that says that a kernel takes less than it does."""

from __future__ import annotations

import pytest

from gpulab.errors import CompileError
from gpulab.module import resources_of
from gpulab.toolchain import compile

ARCH = "gfx942"
# Many values are alive at the same time, so that it takes more than 64 VGPRs.
GREEDY = """
%(before)s
extern "C" __global__ void greedy(float* x) {
    float a[80];
    for (int i = 0; i < 80; i++) a[i] = x[i * 1000 + threadIdx.x];
    __syncthreads();
    %(inside)s
    for (int i = 0; i < 80; i++) x[i * 1000] = a[79 - i] + a[(i * 7) %% 80];
}
"""
CLAIM = r"""
.amdgpu_metadata
---
amdhsa.kernels:
  - .name: greedy
    .symbol: greedy.kd
    .vgpr_count: 24
    .sgpr_count: 16
    .agpr_count: 0
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .max_flat_workgroup_size: 1024
    .wavefront_size: 64
    .args:
      - .address_space: global
        .offset: 0
        .size: 8
        .value_kind: global_buffer
amdhsa.target: amdgcn-amd-amdhsa--gfx942
amdhsa.version: [1, 2]
...
.end_amdgpu_metadata
"""
DESCRIPTOR = """
.amdhsa_kernel greedy
.amdhsa_next_free_vgpr 24
.amdhsa_next_free_sgpr 16
.amdhsa_accum_offset 24
.end_amdhsa_kernel
"""
#: Metadata as MessagePack: one kernel with .name, .symbol and .vgpr_count 24.
RAW = bytes([0x81]) + b"\xaeamdhsa.kernels" + b"\x91\x83\xa5.name\xa6greedy\xa7.symbol\xa9greedy.kd\xab.vgpr_count\x18"
NOTE = (
    '.section .note,"",@note\n.p2align 2\n.long 7\n.long 62\n.long 32\n.asciz "AMDGPU"\n.p2align 2\n'
    + "".join(f".byte {byte}\n" for byte in RAW)
    + ".p2align 2\n.text\n"
)


def asm(text: str) -> str:
    escaped = text.replace('"', '\\"').replace("\n", "\\n")
    return f'asm("{escaped}");'


FORGED = {
    "metadata before everything": {"before": asm(CLAIM + ".text\n")},
    "metadata inside": {"inside": asm(CLAIM)},
    "a note before everything": {"before": asm(NOTE)},
    "a note inside": {"inside": asm(NOTE)},
    "a damaged note": {"inside": asm(NOTE.replace(".long 62", ".long 60"))},
    "a descriptor before everything": {"before": asm(DESCRIPTOR)},
    "a descriptor inside": {"inside": asm(DESCRIPTOR)},
    "the end of the text": {"inside": asm("s_endpgm\n.section .rodata\n" + DESCRIPTOR + CLAIM + ".text\n.end\n")},
    "the rest as a comment": {"inside": asm("s_endpgm\n.section .rodata\n" + DESCRIPTOR + CLAIM + ".text\n/*")},
    "the rest under a condition": {"inside": asm("s_endpgm\n" + DESCRIPTOR + CLAIM + ".if 0\n")},
    "metadata in capitals": {"before": asm(CLAIM.replace("amdgpu_metadata", "AMDGPU_METADATA") + ".text\n")},
    "a metadata symbol": {"inside": asm(".set greedy.num_vgpr, 24\n.set greedy.private_seg_size, 0")},
}


HARMLESS = {
    "nothing": {},
    "an instruction": {"inside": asm("s_nop 0 ; .amdgpu is not a directive")},
    "the compiler's comments": {"inside": asm("; NumVgprs: 24\n; TotalNumVgprs: 24\n; ScratchSize: 0")},
}


@pytest.mark.parametrize("how", HARMLESS)
def test_harmless_assembly_compiles(how: str) -> None:
    code = compile(GREEDY % {"before": "", "inside": "", **HARMLESS[how]}, arch=ARCH, use_cache=False)
    assert resources_of(code)["greedy"].vgprs > 64


@pytest.mark.parametrize("how", FORGED)
def test_a_kernel_takes_what_the_compiler_says(how: str) -> None:
    try:
        code = compile(GREEDY % {"before": "", "inside": "", **FORGED[how]}, arch=ARCH, use_cache=False)
    except CompileError:
        return
    assert resources_of(code)["greedy"].vgprs > 64


def test_registers_that_only_inline_assembly_names() -> None:
    source = """
    extern "C" __global__ void hidden(float* x) {
        asm volatile("v_mov_b32 v100, 0\\n v_mov_b32 v[90:91], v[2:3]\\n s_mov_b32 s77, 0 ; v200");
        x[0] = 1;
    }"""
    source = source.replace(" v_mov_b32 v[90:91], v[2:3]\\n", "")
    taken = resources_of(compile(source, arch=ARCH))["hidden"]
    assert (taken.vgprs, taken.sgprs) == (101, 78)
