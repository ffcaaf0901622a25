"""gpulab.fidelity: the instructions of a kernel that are not exact, with what is stated, counts and lines."""

from __future__ import annotations

import pytest

import gpulab
from gpulab.records import Fidelity, FidelityNote, SourceLine
from gpulab.views.fidelity import fidelity_table

SOURCE = """__global__ void exact(int n, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * 2.0f + 1.0f;
}
__global__ void mixed(float* x, long long* clock) {
    float a = __builtin_amdgcn_sinf(x[0]);
    float b = __builtin_amdgcn_rsqf(x[1]) +
        __builtin_amdgcn_rsqf(x[2]);
    x[3] = a + b;
    __builtin_amdgcn_s_sleep(3);
    *clock = wall_clock64();
    x[4] = __smid();
    __threadfence_system();
    x[5] = 1;
}
"""


@pytest.fixture(scope="module", params=["gfx942", "gfx1100"])
def module(request):
    with gpulab.using(f"virtual:{request.param}"):
        yield gpulab.compile(SOURCE)


def test_a_kernel_that_is_exact(module: gpulab.Module) -> None:
    report = gpulab.fidelity(module["exact"])
    assert report.approximate == report.modelled == ()
    assert report.exact == report.record.count() > 8
    text = f"All {report.exact} instructions of exact ({module.arch}) give the hardware's own bits."
    assert text in repr(report)
    assert report.table(everything=True).rows
    assert not report.table().rows


def test_what_is_approximate_or_modelled(module: gpulab.Module) -> None:
    report = gpulab.fidelity(module["mixed"])
    lines = {note.instruction: [where.line for where in note.where] for note in report.record.notes}
    stated = {note.instruction: (note.statement, note.count) for note in report.approximate}
    assert stated["v_sin_f32"] == ("2**-22 absolute (hardware: 2**-20)", 1)
    assert stated["v_rsq_f32"] == ("1.5 ulp (hardware: 1 ulp)", 2)
    assert lines["v_sin_f32"] == [6]
    assert lines["v_rsq_f32"] == [7, 8]
    modelled = {note.instruction: note.statement for note in report.modelled}
    assert modelled["s_sleep"].startswith("takes no time")
    clock = {"gfx942": "s_memrealtime", "gfx1100": "s_sendmsg_rtn_b64"}[module.arch]
    assert clock in modelled
    assert lines[clock] == [11]
    caches = {"gfx942": "buffer_wbl2", "gfx1100": "buffer_gl1_inv"}[module.arch]
    assert modelled[caches].startswith("memory has no caches")
    assert any(name.startswith("s_getreg_b32 ") for name in modelled)
    assert report.exact + sum(n.count for n in (*report.approximate, *report.modelled)) == report.record.count()
    text = repr(report)
    assert "v_rsq_f32" in text
    assert "1.5 ulp (hardware: 1 ulp)" in text
    assert "7, 8" in text


def test_no_device_of_the_architecture_is_needed() -> None:
    with gpulab.using("virtual:gfx942"):
        kernel = gpulab.compile(SOURCE, arch="gfx1100")["mixed"]
        assert gpulab.fidelity(kernel).record.arch == "gfx1100"


def test_functions_that_a_kernel_calls_count_and_others_do_not() -> None:
    source = """
    __device__ __noinline__ float inner(float x) { return __builtin_amdgcn_logf(x); }
    __global__ void calls(float* x) { x[0] = inner(x[1]); }
    __global__ void alone(float* x) { x[0] = 1; }
    """
    with gpulab.using("virtual:gfx942"):
        module = gpulab.compile(source)
    assert [note.instruction for note in gpulab.fidelity(module["calls"]).approximate] == ["v_log_f32"]
    assert gpulab.fidelity(module["alone"]).approximate == ()


def test_the_table_escapes_and_shortens() -> None:
    where = tuple(SourceLine("cell.hip", line) for line in range(1, 12))
    record = Fidelity("a<b>", "gfx942", (
        FidelityNote("v_x", "approximate", "1 ulp", 1200, where),
        FidelityNote("v_y", "exact", "", 10),
    ))  # fmt: skip
    table = fidelity_table(record)
    assert table.rows == (("v_x", "approximate", "1 ulp", 1200, "1, 2, 3, 4, 5, 6 and 5 more"),)
    assert "10 of the 1,210 instructions of a&lt;b&gt;" in table.html()
    assert len(fidelity_table(record, everything=True).rows) == 2
