"""The table of raw counters: every rule names a counter and its quantities, and values come out as on real devices."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from gpulab import architectures, counter_names
from gpulab.virtual_gpu import isa
from gpulab.virtual_gpu.isa.assembly import parse
from gpulab.virtual_gpu.machine import counters
from gpulab.virtual_gpu.translate.decode import Decoder
from tests.translate.kernels import ARCHITECTURES, Buffer, good


def test_every_rule_is_of_a_counter_that_some_architecture_has() -> None:
    known = {name for arch in counter_names.SETS for name in counter_names.raw(arch)}
    assert set(counters.rules()) <= known
    assert {rule.kind for rule in counters.rules().values()} == {"exact", "modelled", "assumed"}


@pytest.mark.parametrize("arch", architectures.names())
def test_formulas_are_of_quantities_that_exist(arch: str) -> None:
    """A misspelt quantity would count as 0 for ever."""
    made = counters.quantity_names()
    for rule in counters.table(arch).values():
        assert set(re.findall(r"[a-z][a-z_0-9]*", rule.formula)) <= made, rule


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_a_profile_has_every_counter_of_the_table(arch: str) -> None:
    n = 1000
    x, y = Buffer(np.zeros(n, np.float32)), Buffer(np.zeros(n, np.float32))
    launch = good(arch, "saxpy", 4, 256, n, 2.0, x, y, collect="profile")
    wanted = set(counters.table(arch))
    assert wanted <= set(launch.counters)
    plain = good(arch, "saxpy", 4, 256, n, 2.0, x, y)
    assert {name: launch.counters[name] for name in plain.counters} == dict(plain.counters)


def test_saxpy_by_hand() -> None:
    """16 blocks of 256: 64 waves; each loads two lines of x and of y and stores two lines of y."""
    n = 4096
    x, y = Buffer(np.zeros(n, np.float32)), Buffer(np.zeros(n, np.float32))
    got = good("gfx942", "saxpy", 16, 256, n, 2.0, x, y, collect="profile").counters
    assert (got["SQ_WAVES"], got["SQ_WAVES_EQ_64"], got["SQ_WAVES_LT_64"], got["SQ_ITEMS"]) == (64, 64, 0, 4096)
    assert got["TA_TOTAL_WAVEFRONTS"] == got["TA_FLAT_WAVEFRONTS"] == got["SQ_INSTS_VMEM"] == 3 * 64
    assert (got["TA_FLAT_READ_WAVEFRONTS"], got["TA_FLAT_WRITE_WAVEFRONTS"]) == (128, 64)
    assert (got["TCP_TOTAL_ACCESSES"], got["TCP_TOTAL_READ"], got["TCP_TOTAL_WRITE"]) == (16 * 192, 16 * 128, 16 * 64)
    assert got["TCP_TOTAL_CACHE_ACCESSES"] == 2 * 192
    assert (got["TCP_TCC_READ_REQ"], got["TCP_TCC_WRITE_REQ"]) == (2 * 128, 4 * 64)
    assert got["TCC_BUBBLE"] == 2 * 128
    assert (got["TCC_EA0_WRREQ"], got["TCC_EA0_WRREQ_64B"]) == (4 * 64, 4 * 64)
    assert got["TCC_HIT"] + got["TCC_MISS"] == got["TCC_REQ"]
    assert got["SQ_INSTS_VALU_FMA_F32"] == 64
    assert got["SQ_INSTS_VALU"] == got["SQ_ACTIVE_INST_VALU"]
    assert got["SQ_THREAD_CYCLES_VALU"] == 64 * got["SQ_ACTIVE_INST_VALU"]


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_clocks_are_those_of_the_modelled_time(arch: str) -> None:
    n = 1 << 16
    x, y = Buffer(np.zeros(n, np.float32)), Buffer(np.zeros(n, np.float32))
    launch = good(arch, "saxpy", n // 256, 256, n, 2.0, x, y, collect="profile")
    got, a = launch.counters, architectures.get(arch)
    assert got["GRBM_GUI_ACTIVE"] == got["GRBM_COUNT"] == round(launch.time_us * a.clock_mhz)
    busy = (launch.time_us - a.launch_latency_us) * a.clock_mhz
    sqs = a.shader_engines if arch == "gfx942" else a.multiprocessors
    assert got["SQ_BUSY_CYCLES"] == pytest.approx(busy * min(n // 256, sqs), abs=1)
    # All waves fit at the same time, so each is taken to stay for as long as the launch is busy.
    waves = n // a.wave_size
    assert got["SQ_WAVE_CYCLES"] <= waves * busy / (4 if arch == "gfx942" else 1) + 1


def test_what_limits_the_occupancy_fills_up() -> None:
    """60 KiB of LDS: one workgroup on a CU. With more workgroups than CUs the rest waits for LDS and nothing else."""
    from tests.machine.probes import device, module, pack

    groups = 1000
    at, on, out = Buffer(np.zeros(64, np.int32)), Buffer(np.ones(64, np.int32)), Buffer(np.zeros(64, np.uint32))
    kernel = module("gfx942").kernels["lds_add_4"]
    full = device("gfx942").launch(
        kernel, (groups, 1, 1), (64, 1, 1), 60 << 10, pack(at, on, out), collect="profile"
    ).counters  # fmt: skip
    assert full["SPI_RA_LDS_CU_FULL_CSN"] > 0
    assert full["SPI_RA_VGPR_SIMD_FULL_CSN"] == full["SPI_RA_BAR_CU_FULL_CSN"] == full["SPI_RA_WAVE_SIMD_FULL_CSN"] == 0
    few = (
        device("gfx942")
        .launch(kernel, (100, 1, 1), (64, 1, 1), 60 << 10, pack(at, on, out), collect="profile")
        .counters
    )
    assert few["SPI_RA_LDS_CU_FULL_CSN"] == 0


@pytest.mark.parametrize(
    ("builtin", "element", "result", "kind", "operations"),
    [
        ("f32_32x32x1f32", "float", 32, "F32", 2 * 32 * 32 * 1 * 2),
        ("f32_16x16x4f32", "float", 4, "F32", 2 * 16 * 16 * 4),
        ("f32_4x4x4f16", "h4", 4, "F16", 2 * 4 * 4 * 4 * 16),
    ],
)
def test_matrix_operations_are_counted_by_512(
    builtin: str, element: str, result: int, kind: str, operations: int
) -> None:
    """ROCm, MI300 performance counters: SQ_INSTS_VALU_MFMA_MOPS_* counts operations of each wave by 512."""
    import gpulab

    source = f"""
    typedef _Float16 h4 __attribute__((ext_vector_type(4)));
    typedef float result __attribute__((ext_vector_type({result})));
    __global__ void multiply(const {element}* a, result* d) {{
        result sum = {{}};
        {element} x = a[threadIdx.x], y = a[threadIdx.x + 64];
        for (int i = 0; i < 4; i++) sum = __builtin_amdgcn_mfma_{builtin}(x, y, sum, 0, 0, 0);
        d[threadIdx.x] = sum;
    }}"""
    with gpulab.using("gfx942"), gpulab.profile() as run:
        a, d = gpulab.zeros(128 * 2, "float32"), gpulab.zeros(192 * result, "float32")
        gpulab.compile(source).multiply[3, 64](gpulab.Pointer(a.address_), gpulab.Pointer(d.address_))
    got = run[0].counters
    assert got["SQ_INSTS_MFMA"] == got[f"SQ_INSTS_VALU_MFMA_{kind}"] == 3 * 4
    assert got[f"SQ_INSTS_VALU_MFMA_MOPS_{kind}"] == 3 * 4 * operations / 512
    others = {"F16", "BF16", "F32", "F64", "I8"} - {kind}
    assert {got[f"SQ_INSTS_VALU_MFMA_MOPS_{other}"] for other in others} == {0}


def test_the_page_has_the_table() -> None:
    """docs/counters.md ends with what `counters.markdown()` gives."""
    page = (Path(__file__).parents[2] / "docs" / "counters.md").read_text(encoding="utf-8")
    assert page.endswith(counters.markdown()), "put counters.markdown() in the place of the table at the page's end"
    assert all(name in counters.markdown() for name in ("GRBM_GUI_ACTIVE", "SQ_WAVES", "TCC_HIT"))


@pytest.mark.parametrize(
    ("arch", "text", "expected"),
    [
        ("gfx942", "v_add_f32_e32 v0, v1, v2", ("fp32 plain", 1)),
        ("gfx942", "v_fmac_f32_e32 v0, v1, v2", ("fp32 plain", 2)),
        ("gfx942", "v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[0:1]", ("fp32 packed", 4)),
        ("gfx942", "v_pk_add_f16 v0, v1, v2", ("fp16 packed", 2)),
        ("gfx942", "v_fma_f64 v[0:1], v[2:3], v[4:5], v[0:1]", ("fp64", 2)),
        ("gfx942", "v_rcp_f32_e32 v0, v1", ("fp32 plain", 1)),
        ("gfx1100", "v_dual_fmac_f32 v0, v1, v2 :: v_dual_mul_f32 v3, v4, v5", ("fp32 packed", 3)),
        ("gfx1100", "v_dual_mov_b32 v0, v1 :: v_dual_add_f32 v3, v4, v5", ("fp32 packed", 1)),
        ("gfx1100", "v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v3, v4", ("", 0)),
        ("gfx1100", "v_dual_dot2acc_f32_f16 v0, v1, v2 :: v_dual_max_f32 v3, v4, v5", ("fp32 packed", 4)),
        ("gfx942", "v_dot2_f32_f16 v0, v1, v2, v3", ("fp16 packed", 4)),
        ("gfx942", "v_dot2_i32_i16 v0, v1, v2, v3", ("", 0)),
        ("gfx1201", "v_dot4_f32_fp8_fp8 v0, v1, v2, v3", ("fp16 packed", 8)),
        ("gfx942", "v_fma_mix_f32 v0, v1, v2, v3", ("fp32 plain", 2)),
        ("gfx942", "v_fma_mixlo_f16 v0, v1, v2, v3", ("fp32 plain", 2)),
        ("gfx942", "v_cmp_gt_f32_e32 vcc, v0, v1", ("", 0)),
        ("gfx942", "v_add_u32_e32 v0, v1, v2", ("", 0)),
    ],
)
def test_float_operations_of_instructions(arch: str, text: str, expected: tuple[str, float]) -> None:
    """A fused multiply-add is two; each half of a packed one counts; n products of a dot product are 2 n."""
    program = parse(f'.amdgcn_target "amdgcn-amd-amdhsa--{arch}"\n.text\nk:\n  {text}\n  s_endpgm\n')
    assert counters.float_operations(Decoder(program, isa.table(arch)).decode(0, "k")) == expected
