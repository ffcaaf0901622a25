"""Loops that each chunk of lanes goes through by itself (translate/sweeps.py): the same results as without, and faults,
limits and times; which loops are emitted so, and which are not."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import numpy as np
import pytest

import gpulab
from gpulab.virtual_gpu.machine import loading
from gpulab.virtual_gpu.machine.device import VirtualDevice
from gpulab.virtual_gpu.machine.launching import Plan
from gpulab.virtual_gpu.translate import jit, layout, sweeps

SOURCE = r"""
#define I int i = blockIdx.x * blockDim.x + threadIdx.x
#define NO _Pragma("clang loop unroll(disable) vectorize(disable)")
extern "C" {
__global__ void product(int n, const float* a, const float* b, float* c) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    NO for (int k = 0; k < n; ++k) sum = fmaf(a[y * n + k], b[k * n + x], sum);
    c[y * n + x] = sum;
}
__global__ void rows(int n, const int* a, int* y) {  // lanes evenly apart
    I; int sum = 0;
    NO for (int k = 0; k < n; ++k) sum = sum * 3 + a[i * 64 + k];
    y[i] = sum;
}
__global__ void lanes_apart(int n, const int* a, int* y) {
    __shared__ int tile[1024];
    I; int t = threadIdx.x, sum = 0;
    for (int k = 0; k < 4; ++k) tile[t + 256 * k] = a[i + k];
    __syncthreads();
    NO for (int k = 0; k < n; ++k) sum = sum * 7 + tile[t * 2 + k];
    y[i] = sum;
}
__global__ void columns(int n, const int* a, int* y) {  // in steps that go down
    I; int sum = 0;
    NO for (int k = n - 1; k >= 0; --k) sum = sum * 3 + a[k * blockDim.x * gridDim.x + i];
    y[i] = sum;
}
__global__ void unsigned_index(unsigned n, unsigned start, const unsigned short* a, int* y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x; int sum = 0;
    NO for (unsigned k = 0; k < n; ++k) sum += a[start + i + k] ^ sum << 1;
    y[i] = sum;
}
__global__ void bytes(int n, const signed char* a, int* y) {
    I; int sum = 0;
    NO for (int k = 0; k < n; ++k) sum = (sum << 1) + a[i + k] - a[k];
    y[i] = sum;
}
__global__ void vectors(int n, const float4* a, const float2* b, float* y) {
    I; float sum = 0;
    NO for (int k = 0; k < n; ++k) {
        float4 v = a[k];
        float2 w = b[k * 64 + i % 64];
        sum += v.x * w.y - v.z + v.w * w.x - v.y;
    }
    y[i] = sum;
}
__global__ void wide_numbers(int n, const double* a, double* y) {
    I; double sum = 0;
    NO for (int k = 0; k < n; ++k) sum = fma(sum, 0.5, a[k + i]);
    y[i] = sum;
}
__global__ void chosen(int n, const int* a, int* y) {  // masks that live within an iteration
    I; int best = 0, at = -1;
    NO for (int k = 0; k < n; ++k) {
        int v = a[k * 3];
        bool more = v > best + i % 5;
        best = more ? v : best;
        at = more ? k : at;
    }
    y[i] = best * 1000 + at;
}
__global__ void bodies(int n, const float4* p, float* y) {  // what is the same for all lanes comes by scalar loads
    I; float sum = 0, x = i;
    NO for (int k = 0; k < n; ++k) { float4 q = p[k]; float d = q.x - x; sum += q.w * d / (d * d + q.y); }
    y[i] = sum;
}
__global__ void in_lds(int n, const int* a, int* y) {
    __shared__ int tile[512];
    I; int t = threadIdx.x, sum = 0;
    tile[t] = a[i]; tile[t + 256] = a[i] * 5;
    __syncthreads();
    NO for (int k = 0; k < n; ++k) sum = sum * 7 + tile[(t + k) & 511] + tile[k & 511];
    y[i] = sum;
}
__global__ void registers_alone(int n, const unsigned* a, unsigned* y) {
    I; unsigned v = a[i];
    NO for (int k = 0; k < n; ++k) v = v * 1664525u + 1013904223u + k;
    y[i] = v;
}
__global__ void gathered(int n, const int* at, const int* a, int* y) {  // never quick: given up
    I; int sum = 0;
    NO for (int k = 0; k < n; ++k) sum = sum * 5 + a[at[k * 64 + i % 64]];
    y[i] = sum;
}
__global__ void two_arrays(int n, const int* a, const int* b, int* y) {  // the second iteration is in another one
    I; int sum = 0;
    NO for (int k = 0; k < n; ++k) { const int* p = k & 1 ? a : b; sum = sum * 3 + p[i + k]; }
    y[i] = sum;
}
__global__ void some_lanes(int n, const int* a, int* y) {
    I; int sum = 7;
    if (i % 3) { NO for (int k = 0; k < n; ++k) sum = sum * 3 + a[k]; }
    y[i] = sum;
}
__global__ void strides(int n, const int* a, int* y) {  // lanes leave by EXEC
    I; int sum = i;
    NO for (int k = i; k < n * 1000; k += gridDim.x * blockDim.x) sum = sum * 3 + a[k];
    y[i] = sum;
}
__global__ void nearest(int n, const int* a, int* y) {  // masks that are carried, and one that is left
    I; bool found = false; int at = 0;
    NO for (int k = 0; k < n; ++k) { bool here = a[k * 64 + i] > 0; found = found != here; at = found ? k : at; }
    y[i] = at * 2 + found;
}
__global__ void until(int n, const int* a, int* y) {  // all lanes see the same, but the compiler does not know it
    I; int k = 0, sum = 0;
    NO do { sum = sum * 5 + a[k + i]; ++k; } while (a[k] != 77 && k < n + (i & 0));
    y[i] = sum;
}
__global__ void stores(int n, int* y) {
    I;
    NO for (int k = 0; k < n; ++k) ((volatile int*)y)[i] = k;
}
__global__ void own_ends(const int* counts, const int* a, int* y) {
    I; int sum = 0;
    NO for (int k = 0; k < counts[i]; ++k) sum = sum * 3 + a[k];
    y[i] = sum;
}
}
"""


def translated(patch: pytest.MonkeyPatch) -> list[str]:
    """The names of kernels of which a loop is emitted so, from now on."""
    found: list[str] = []
    emit = sweeps.Sweeps._sweep

    def noted(self: sweeps.Sweeps, *arguments: object) -> bool:
        done = emit(self, *arguments)  # type: ignore[arg-type]
        if done:
            found.append(self.kernel.name)
        return done

    patch.setattr(sweeps.Sweeps, "_sweep", noted)
    return found


@pytest.fixture(scope="module", params=["gfx942", "gfx1100"])
def both(request: pytest.FixtureRequest) -> Iterator[tuple[gpulab.Module, gpulab.Module]]:
    """The kernels, and the same without what is tested here."""
    with gpulab.using(f"virtual:{request.param}"), pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "QUICK_SECONDS", 0.0)
        yield gpulab.compile(SOURCE), gpulab.compile(SOURCE + "// without\n")


SWEPT = {
    "product", "rows", "lanes_apart", "columns", "unsigned_index", "bytes", "vectors", "wide_numbers", "chosen",
    "bodies", "in_lds",
    "registers_alone", "gathered", "two_arrays", "some_lanes", "strides", "nearest", "until", "own_ends",
}  # fmt: skip
# Without vector loads a loop is worth it a whole wave at a time alone, which is where chunks have 16 lanes.
WHOLE = {"bodies", "chosen", "own_ends", "registers_alone", "some_lanes"}
RANDOM = np.random.default_rng(11)
WORDS = RANDOM.integers(0, 2**32, 1 << 19, dtype=np.uint32)
FLOATS = RANDOM.normal(size=1 << 19).astype(np.float32)
PLACES = RANDOM.integers(0, 1 << 12, 1 << 14).astype(np.int32)


def arguments(name: str, n: int) -> tuple[object, ...]:
    """A kernel's arguments without the array of results, which is the last."""
    ints = WORDS.view(np.int32)
    if name == "product":
        return n, FLOATS, FLOATS[5:].copy()
    if name == "unsigned_index":
        return n, 3, WORDS.view(np.uint16)
    if name == "bytes":
        return n, WORDS.view(np.int8)
    if name == "vectors":
        return n, FLOATS, FLOATS[3:].copy()
    if name == "wide_numbers":
        return n, FLOATS.astype(np.float64)
    if name == "bodies":
        return n, np.abs(FLOATS)
    if name == "gathered":
        return n, PLACES, ints
    if name == "two_arrays":
        return n, ints, ints[7:].copy()
    if name == "registers_alone":
        return n, WORDS
    if name == "stores":
        return (n,)
    if name == "own_ends":
        return PLACES % 7, ints
    return n, ints


def results(module: gpulab.Module, name: str, n: int) -> np.ndarray:
    """What a kernel gives where most workgroups are not of the sample, which is observed: those know their arrays."""
    given = [gpulab.to_device(a) if isinstance(a, np.ndarray) else a for a in arguments(name, n)]
    grid, block = ((8, 8), (16, 16)) if name == "product" else ((30,), (200 if name == "columns" else 256,))
    kind = {"product": "float32", "vectors": "float32", "bodies": "float32", "wide_numbers": "float64"}
    kind["registers_alone"] = "uint32"
    out = gpulab.zeros(1 << 15, kind.get(name, "int32"))
    module[name][grid, block](*given, out)
    return out.to_host().view(np.uint8)


@pytest.mark.parametrize("name", [*sorted(SWEPT), "stores"])
def test_results_are_the_same(both: tuple[gpulab.Module, gpulab.Module], name: str) -> None:
    module, without = both
    for n in (1, 2, 31, 64) if name != "product" else (128,):
        with pytest.MonkeyPatch.context() as patch:
            found = translated(patch)
            got = results(module, name, n)
            patch.setattr(sweeps.Sweeps, "_loop", lambda self, block: None)
            assert (got == results(without, name, n)).all(), n
        if n in (1, 128):
            assert (name in found) == (name in SWEPT - (WHOLE if jit.host().lanes == 8 else set()))


# Not here: places that follow no line, lanes that leave one by one, two arrays in turn.
TAKEN = sorted(SWEPT - {"gathered", "own_ends", "two_arrays"})


@pytest.mark.parametrize(
    "name", [name if n % 3 == 0 else pytest.param(name, marks=pytest.mark.full) for n, name in enumerate(TAKEN)]
)
def test_a_loop_is_given_up_once_at_the_most(
    both: tuple[gpulab.Module, gpulab.Module], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a launch's first wave, of whose accesses nothing is known yet. The entry says how often it was since then."""
    slots: set[int] = set()
    plans: list[Plan] = []
    whether, run = sweeps.Sweeps._whether, VirtualDevice._run

    def noted(self: sweeps.Sweeps, loop: sweeps._Loop, *arguments: object, **more: object) -> None:
        slots.add(self.slot(loop.block + (2 << 32)))
        whether(self, loop, *arguments, **more)  # type: ignore[arg-type]

    def ran(self: VirtualDevice, plan: Plan, *arguments: object) -> object:
        plans.append(plan)
        return run(self, plan, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(sweeps.Sweeps, "_whether", noted)
    monkeypatch.setattr(VirtualDevice, "_run", ran)
    again = gpulab.compile(SOURCE + f"// {name}\n")
    results(again, name, 128 if name == "product" else 64)
    assert bool(slots) == (name not in WHOLE or jit.host().lanes == 16)
    said = set()
    for slot in slots:
        for context in plans[-1].contexts:
            table = context.thread.template_wave.cache
            said.add(tuple((ctypes.c_uint32 * 2).from_address(table + layout.ALLOCATION_BYTES * slot)))
    assert said <= {(0, 0), (0, 1)}
    assert (0, 1) in said or name in WHOLE


def test_against_numpy(both: tuple[gpulab.Module, gpulab.Module]) -> None:
    module, _ = both
    x, n = WORDS.view(np.int32), 40
    expected = np.zeros(6000, np.int32)
    with np.errstate(over="ignore"):
        for k in reversed(range(n)):
            expected = expected * np.int32(3) + x[k * 6000 : (k + 1) * 6000]
    assert (results(module, "columns", n).view(np.int32)[:6000] == expected).all()


def test_the_first_lane_beyond_an_array_is_named(both: tuple[gpulab.Module, gpulab.Module]) -> None:
    """In the 30th iteration, of which other chunks' lanes are still inside: the loop is done again as it stands."""
    module, _ = both
    a, y = gpulab.to_device(np.ones(29 * 256 + 70, np.int32)), gpulab.zeros(256, "int32")
    for _ in range(2):
        with pytest.raises(gpulab.KernelFault) as caught:
            module.columns[1, 256](31, a, y)
        assert caught.value.fault.thread == (0, 0, 0)
    with pytest.raises(gpulab.KernelFault) as caught:
        module.bytes[1, 256](200, gpulab.zeros(200 + 129, "int8"), y)
    fault = caught.value.fault
    assert fault.thread == (200 // 16 * 16 + 10, 0, 0) or fault.thread[0] > 128


def test_a_limit_of_instructions_holds(both: tuple[gpulab.Module, gpulab.Module]) -> None:
    module, _ = both
    x, y = gpulab.to_device(WORDS), gpulab.zeros(768, "uint32")
    module.registers_alone[3, 256](1000, x, y)
    gpulab.set_limit(instructions=100_000)
    try:
        with pytest.raises(gpulab.KernelTimeout):
            module.registers_alone[3, 256](10_000_000, x, y)
    finally:
        gpulab.set_limit(instructions=None)
    expected = WORDS[:768].copy()
    with np.errstate(over="ignore"):
        for k in range(1000):
            expected = expected * np.uint32(1664525) + np.uint32(1013904223) + np.uint32(k)
    assert (y.to_host() == expected).all()


def test_modelled_times_are_the_same(both: tuple[gpulab.Module, gpulab.Module]) -> None:
    module, without = both

    def time(of: gpulab.Module) -> float:
        x, y = gpulab.to_device(WORDS.view(np.int32)), gpulab.zeros(64 * 256, "int32")
        start, end = gpulab.Event(), gpulab.Event()
        of.columns[64, 256](3, x, y)
        start.record()
        of.columns[64, 256](3, x, y)
        end.record()
        end.synchronize()
        return end.elapsed_ms(start)

    got = time(module)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweeps.Sweeps, "_loop", lambda self, block: None)
        assert got == time(without)


def test_of_many_loops_some_stand_there_twice() -> None:
    loops = "".join(
        f'_Pragma("clang loop unroll(disable)") for (int k = 0; k < n + {j}; ++k) sum = sum * 3 + a[k * {j + 2} + i];\n'
        f"y[{j} * 256 + i] = sum;\n"
        for j in range(40)
    )
    source = f"""extern "C" __global__ void many(int n, const int* a, int* y) {{
        int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
        {loops}
    }}"""
    with gpulab.using("virtual:gfx942"), pytest.MonkeyPatch.context() as patch:
        found = translated(patch)
        y = gpulab.zeros(40 * 256, "int32")
        gpulab.compile(source).many[1, 256](3, gpulab.to_device(WORDS.view(np.int32)), y)
    assert 3 < len(found) < 30
    total, x = np.zeros(256, np.int32), WORDS.view(np.int32)
    with np.errstate(over="ignore"):
        for j in range(40):
            for k in range(3 + j):
                total = total * np.int32(3) + x[k * (j + 2) : k * (j + 2) + 256]
    assert (y.to_host()[39 * 256 :] == total).all()


@pytest.mark.parametrize(
    ("body", "left", "expected"),
    [
        # SCC is made in the loop and read after it
        ("s_add_i32 s6, s6, -1\n v_add_u32_e32 v2, s6, v2\n s_cmp_eq_u32 s6, 0\n s_cbranch_scc0 .Lloop", "", 10 + 60),
        # SCC was made before the loop, is read in there, and after it
        (
            "s_cselect_b32 s7, 3, 5\n v_add_u32_e32 v2, s7, v2\n v_cmp_gt_u32_e32 vcc, 14, v2\n s_cbranch_vccnz .Lloop",
            "s_cmp_eq_u32 s6, 5",
            15 + 60,
        ),
    ],
)
def test_scc_around_a_loop(body: str, left: str, expected: int) -> None:
    """By hand: compilers seldom keep SCC that long."""
    source = 'extern "C" __global__ void k(int* y) { y[threadIdx.x] = 5; }'
    with gpulab.using("virtual:gfx942"), pytest.MonkeyPatch.context() as patch:
        found = translated(patch)
        text = gpulab.compile(source, options=["-O3"]).assembly
        begin = f"\ts_mov_b32 s6, 5\n\tv_mov_b32_e32 v2, 0\n\t{left}\n.Lloop:\n\t{body}\n"
        begin += "\ts_cselect_b32 s7, 60, 50\n\tv_add_u32_e32 v2, s7, v2\n\ts_branch .Lstore\n.Lstore:\n"
        store = text.index("\tglobal_store_dword")
        line = text[store : text.index("\n", store)]
        register = line.split(",")[1].strip()
        changed = text.replace(line, begin + line.replace(f", {register},", ", v2,"), 1)
        y = gpulab.zeros(64, "int32")
        gpulab.compile(changed, language="asm", name="scc.s").k[1, 64](y)
    assert found == (["k"] if jit.host().lanes == 16 else [])  # without loads, a whole wave at a time alone
    assert (y.to_host() == expected).all(), y.to_host()[:4]
