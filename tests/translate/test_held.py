"""Loops that hold their registers (translate/held.py): the same results, counts, limits and times as without; which
loops are emitted so, and which are not."""

from __future__ import annotations

import numpy as np
import pytest

import gpulab
from gpulab.virtual_gpu.machine import launching, loading
from gpulab.virtual_gpu.translate import held, jit

SOURCE = r"""
#define I unsigned i = blockIdx.x * blockDim.x + threadIdx.x
#define NO _Pragma("clang loop unroll(disable) vectorize(disable)")
extern "C" {
__global__ void apart(unsigned n, unsigned* y) {  // lanes leave at different times
    I; unsigned x = i + 1, count = 0;
    while (x != 1) { x = x % 2 ? 3 * x + 1 : x / 2; ++count; }
    y[i] = count;
}
__global__ void two_ways_out(unsigned n, unsigned* y) {
    I; float a = 0, b = 0, c = i * 0.0003f - 1.5f; unsigned k = 0;
    while (k < n && a * a + b * b <= 4) { float next = a * a - b * b + c; b = 2 * a * b + 0.3f; a = next; ++k; }
    y[i] = k;
}
__global__ void conditions(unsigned n, unsigned* y) {
    I; unsigned h = i, s = 0;
    NO for (unsigned j = 0; j < n; ++j) {
        h = h * 1664525u + 1013904223u;
        if (h & 0x1000) s += h >> 3;
        else if (h & 0x2000) s ^= h;
        else { s = s * 3 + 1; if (s & 4) s -= h; }
        if (s == 77) break;
        if (h % 97 == 3) continue;
        s += j;
    }
    y[i] = s;
}
__global__ void division(unsigned n, unsigned* y) {
    I; unsigned a = i * 7919u + 1, b = i * 104729u % 65521u + 1;
    while (b) { unsigned t = a % b; a = b; b = t; }
    y[i] = a;
}
__global__ void inner(unsigned n, unsigned* y) {  // the inner loop alone
    I; unsigned s = 0;
    NO for (unsigned j = 0; j < 16; ++j) NO for (unsigned k = 0; k < (i + j) % 7; ++k) s = s * 31 + k + (s >> 9);
    y[i] = s;
}
__global__ void wide_numbers(unsigned n, unsigned* y) {
    I; unsigned long long h = i; double d = i;
    while (h < 1ull << 40) { h = h * 3 + (h >> 5) + 1; d = d * 0.5 + (double)(h & 255); }
    y[i] = (unsigned)(h >> 7) + (unsigned)d;
}
__global__ void asleep_outside(unsigned n, unsigned* y) {  // lanes that wait keep what they have
    I; unsigned s = i * 5, t = i ^ 0x55;
    if (i % 3) { unsigned x = i; while (x > 4) { x = x / 3 + (x & 1); s += x; t = t * 3 + s; } }
    else t += 9;
    y[i] = s ^ t;
}
__global__ void by_scalars(unsigned n, unsigned* y) {  // all lanes as often; two dimensions
    unsigned i = (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    float a = threadIdx.x, b = threadIdx.y;
    NO for (unsigned j = 0; j < n; ++j) { a = a * 0.75f + b; b = b * 0.5f - a * 0.01f + j; }
    y[i] = (unsigned)(a * 16) ^ (unsigned)(int)(b * 16);
}
}
"""
NAMES = ["apart", "two_ways_out", "conditions", "division", "inner", "wide_numbers", "asleep_outside", "by_scalars"]
ARCHITECTURES = ["gfx942", "gfx1100"]
ELEMENTS = 3 * 256


def without(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(held.Held, "_find_held", lambda self: {})


def launched(kernel: gpulab.Kernel, n: int = 60) -> np.ndarray:
    y = gpulab.zeros(ELEMENTS, "uint32")
    kernel[3, (32, 8) if kernel.name == "by_scalars" else 256](n, y)
    return y.to_host()


def modules(arch: str) -> tuple[gpulab.Module, gpulab.Module]:
    """The same kernels twice: the second is for tests without it."""
    with gpulab.using(f"virtual:{arch}"):
        return gpulab.compile(SOURCE), gpulab.compile(SOURCE + "// without\n")


@pytest.mark.parametrize("quick", [False, pytest.param(True, marks=pytest.mark.full)])
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_results_and_what_was_executed(arch: str, quick: bool) -> None:
    """Also of checked launches. Without profiles and with, as lanes are counted there."""
    module, other = modules(arch)
    found: list[str] = []
    find = held.Held._find_held

    def noted(self: held.Held) -> dict[int, held.HeldLoop]:
        loops = find(self)
        if loops:
            found.append(self.kernel.name)
        return loops

    def everything(of: gpulab.Module) -> list[object]:
        seen: list[object] = []
        with gpulab.using(f"virtual:{arch}"):
            for name in NAMES:
                kernel = of[name]
                seen.append(launched(kernel).tobytes())
                with gpulab.profile() as run:
                    seen.append(launched(kernel).tobytes())
                costs = run.launches[0].instructions
                seen.append([str(cost) for cost in costs])
                with gpulab.checked():
                    seen.append(launched(kernel).tobytes())
        return seen

    with pytest.MonkeyPatch.context() as patch:
        if not quick:
            patch.setattr(loading, "QUICK_SECONDS", 0.0)
        patch.setattr(held.Held, "_find_held", noted)
        got = everything(module)
        without(patch)
        expected = everything(other)
    few = {"apart", "inner"}  # of half as many lanes there are twice as many chunks
    assert (set(NAMES) if jit.host().lanes == 16 else few) <= set(found)
    assert got == expected


def test_against_python() -> None:
    def steps(x: int) -> int:
        count = 0
        while x != 1:
            x, count = (3 * x + 1 if x % 2 else x // 2), count + 1
        return count

    module, _ = modules("gfx1100")
    with gpulab.using("virtual:gfx1100"):
        assert launched(module.apart).tolist() == [steps(i + 1) for i in range(ELEMENTS)]


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_a_limit_of_instructions_holds(arch: str) -> None:
    """In a loop that never ends, at the line of which the message is; and the device works afterwards."""
    source = """
extern "C" __global__ void endless(unsigned n, unsigned* y) {
    unsigned x = threadIdx.x + 2;
    while (x != n)
        x = x % 2 ? x * 5 + 3 : x / 2 + 7;
    y[threadIdx.x] = x;
}"""
    with gpulab.using(f"virtual:{arch}"):
        kernel = gpulab.compile(source, name="endless.hip").endless
        y = gpulab.zeros(64, "uint32")
        gpulab.set_limit(instructions=100_000)
        try:
            with pytest.raises(gpulab.KernelTimeout) as caught:
                kernel[1, 64](0xFFFFFFFF, y)
        finally:
            gpulab.set_limit(instructions=None)
        where = caught.value.fault.where
        assert where is not None
        assert where.line in (4, 5)
        assert (y.to_host() == 0).all()


def test_a_wave_goes_on_after_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its share of instructions ends in the middle of the loop, many times."""
    module, other = modules("gfx942")
    monkeypatch.setattr(launching, "SLICE", 97)
    with gpulab.using("virtual:gfx942"):
        got = launched(module.conditions, 500)
        without(monkeypatch)
        assert (launched(other.conditions, 500) == got).all()


LOOPS = [
    ("v_add_u32_e32 v2, s6, v2", True),
    ("v_cmp_gt_u32_e32 vcc, 40, v0\n v_cndmask_b32_e32 v3, 1, v2, vcc\n v_add_u32_e32 v2, v2, v3", True),
    # half of a lane mask is read, or written, as a number
    ("v_cmp_gt_u32_e32 vcc, 40, v0\n s_add_u32 s8, vcc_hi, vcc_lo\n v_add_u32_e32 v2, s8, v2", True),
    ("v_cmp_gt_u32_e32 vcc, 40, v0\n s_not_b32 vcc_hi, vcc_hi\n v_cndmask_b32_e32 v3, 1, v2, vcc\n"
     " v_add_u32_e32 v2, v2, v3", True),
    ("v_cmp_gt_u32_e64 s[8:9], 40, v0\n s_and_saveexec_b64 s[10:11], s[8:9]\n v_add_u32_e32 v2, 3, v2\n"
     " s_mov_b64 exec, s[10:11]", True),
    ("v_cmp_lt_u32_e64 s[8:9], 40, v0\n s_andn2_b64 exec, exec, s[8:9]\n v_add_u32_e32 v2, 3, v2\n"
     " s_or_b64 exec, exec, s[8:9]\n s_bcnt1_i32_b64 s8, s[8:9]\n v_add_u32_e32 v2, s8, v2", True),
    ("s_mov_b64 s[8:9], -1\n s_xor_b64 s[8:9], exec, s[8:9]\n s_orn2_b64 exec, exec, s[8:9]\n"
     " v_add_u32_e32 v2, 1, v2", True),
    # what looks at other lanes
    ("v_readfirstlane_b32 s8, v2\n v_add_u32_e32 v2, s8, v2", False),
    ("v_mov_b32_dpp v3, v2 row_shl:1 row_mask:0xf bank_mask:0xf\n v_add_u32_e32 v2, 1, v2", False),
    ("s_setprio 1\n s_sleep 1\n v_add_u32_e32 v2, 1, v2", False),
]  # fmt: skip


@pytest.mark.parametrize(("body", "held_so"), LOOPS)
def test_by_hand(body: str, held_so: bool) -> None:
    """Uses of lane masks that compilers have seldom; what is not held."""
    source = 'extern "C" __global__ void k(int* y) { y[threadIdx.x] = 5; }'
    found: list[bool] = []
    find = held.Held._find_held

    def noted(self: held.Held) -> dict[int, held.HeldLoop]:
        loops = find(self)
        found.append(bool(loops))
        return loops

    def result(text: str) -> bytes:
        y = gpulab.zeros(64, "int32")
        gpulab.compile(text, language="asm", name="masks.s").k[1, 64](y)
        return y.to_host().tobytes()

    with gpulab.using("virtual:gfx942"), pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "QUICK_SECONDS", 0.0)
        text = gpulab.compile(source, options=["-O3"]).assembly
        begin = "\ts_mov_b32 s6, 5\n\tv_mov_b32_e32 v2, v0\n\tv_mov_b32_e32 v3, 2\n.Lloop:\n"
        begin += f" {body}\n\ts_add_i32 s6, s6, -1\n\ts_cmp_lg_u32 s6, 0\n\ts_cbranch_scc1 .Lloop\n"
        begin += "\ts_bcnt1_i32_b64 s7, vcc\n\tv_add_u32_e32 v2, s7, v2\n\ts_branch .Lstore\n.Lstore:\n"
        store = text.index("\tglobal_store_dword")
        line = text[store : text.index("\n", store)]
        register = line.split(",")[1].strip()
        changed = text.replace(line, "\ts_mov_b64 vcc, 0\n" + begin + line.replace(f", {register},", ", v2,"), 1)
        patch.setattr(held.Held, "_find_held", noted)
        got = result(changed)
        assert found == [held_so]
        without(patch)
        assert result(changed + "// without\n") == got
