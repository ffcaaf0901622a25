"""Hand-written code that runs past its last instruction, in each way that it can: a fault, told with its place."""

from __future__ import annotations

import pytest

import gpulab
from gpulab.errors import KernelFault

SOURCE = 'extern "C" __global__ void k(int* x) { x[threadIdx.x] = 5; }'
ENDS = {
    "straight on": "",
    "a branch": "\ts_branch .Lend\n.Lend:\n",
    "a branch that is taken": "\ts_cmp_eq_u32 0, 0\n\ts_cbranch_scc1 .Lend\n\ts_endpgm\n.Lend:\n",
    "a branch that is not taken": ".Lback:\n\ts_cmp_eq_u32 0, 1\n\ts_cbranch_scc1 .Lback\n",
    "a barrier": "\ts_barrier\n",
    "a trap that does nothing": "\ts_trap 3\n",
}


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_a_wave_that_runs_past_the_end_is_stopped(arch: str, end: str) -> None:
    with gpulab.using(f"virtual:{arch}"):
        text = gpulab.compile(SOURCE).assembly
        begin = text.index("s_endpgm")
        changed = text[:begin].rstrip() + "\n" + end + text[text.index("\n", begin) + 1 :]
        if arch == "gfx1100":  # what Clang puts behind a kernel of RDNA
            changed = "".join(line for line in changed.splitlines(True) if "s_code_end" not in line)
        kernel = gpulab.compile(changed, language="asm", name="end.s").k
        with pytest.raises(KernelFault, match="no instruction"):
            kernel[1, 64](gpulab.zeros(64, "int32"))


def test_a_branch_past_the_end_that_is_not_taken_is_none() -> None:
    with gpulab.using("virtual:gfx942"):
        text = gpulab.compile(SOURCE).assembly
        end = "\ts_cmp_eq_u32 0, 1\n\ts_cbranch_scc1 .Lend\n\ts_endpgm\n.Lend:"
        x = gpulab.zeros(64, "int32")
        gpulab.compile(text.replace("\ts_endpgm", end, 1), language="asm", name="end.s").k[1, 64](x)
        assert x.to_host().tolist() == [5] * 64
