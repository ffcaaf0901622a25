"""The table of raw counters: every rule names a counter and its quantities, and values come out as on real devices."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from gpulab import architectures, counter_names
from gpulab.records import InstructionCost
from gpulab.virtual_gpu import isa, schema
from gpulab.virtual_gpu.isa.assembly import parse
from gpulab.virtual_gpu.machine import counters, timing
from gpulab.virtual_gpu.translate.decode import Decoded, Decoder
from gpulab.virtual_gpu.translate.lane_access import Observed
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


def decoded(arch: str, text: str) -> Decoded:
    program = parse(f'.amdgcn_target "amdgcn-amd-amdhsa--{arch}"\n.text\nk:\n.L:\n  {text}\n  s_endpgm\n')
    return Decoder(program, isa.table(arch)).decode(0, "k")


AMOUNTS = {  # what the counters of the MI300's page count, instruction by instruction; quantities as docs/counters.md
    "s_sendmsg sendmsg(MSG_INTERRUPT)": "sendmsg", "s_load_dword s0, s[2:3], 0x0": "smem smem_dwords_1",
    "s_load_dwordx2 s[0:1], s[2:3], 0x0": "smem smem_dwords_2",
    "s_load_dwordx4 s[0:3], s[4:5], 0x0": "smem smem_dwords_4",
    "s_load_dwordx8 s[0:7], s[8:9], 0x0": "smem smem_dwords_8",
    "s_load_dwordx16 s[0:15], s[16:17], 0x0": "smem smem_dwords_16", "s_add_u32 s0, s1, s2": "salu",
    "s_cmp_eq_u32 s0, s1": "salu", "s_mov_b64 s[0:1], 0": "salu", "s_getpc_b64 s[0:1]": "salu",
    "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3": "salu", "s_getreg_b32 s0, hwreg(HW_REG_MODE, 4, 2)": "salu",
    "s_cbranch_scc1 .L": "branch", "s_branch .L": "branch", "s_setpc_b64 s[0:1]": "branch",
    "s_swappc_b64 s[0:1], s[2:3]": "branch", "s_memtime s[0:1]": "smem", "s_memrealtime s[0:1]": "smem",
    "s_barrier": "", "s_waitcnt vmcnt(0)": "", "s_nop 0": "", "ds_read_b32 v0, v1": "lds lds_load",
    "ds_write_b64 v0, v[2:3]": "lds lds_store", "ds_add_u32 v0, v1": "lds lds_atomic",
    "ds_bpermute_b32 v0, v1, v2": "lds", "ds_swizzle_b32 v0, v1 offset:0x41F": "lds",
    "v_mov_b32_dpp v0, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf": "valu",
    "v_readfirstlane_b32 s0, v0": "valu", "global_load_dword v0, v[2:3], off": "vmem vmem_rd vmem_load",
    "global_store_dword v[2:3], v0, off": "vmem vmem_wr vmem_store",
    "global_atomic_add v[2:3], v0, off": "vmem vmem_wr vmem_atomic",
    "global_atomic_add v1, v[2:3], v0, off sc0": "vmem vmem_rd vmem_atomic",
    "flat_load_dword v0, v[2:3]": "vmem vmem_rd flat vmem_load",
    "flat_store_dword v[2:3], v0": "vmem vmem_wr flat vmem_store",
    "scratch_load_dword v0, off, s0": "vmem vmem_rd vmem_load",
    "buffer_load_dword v0, off, s[0:3], 0": "vmem vmem_rd vmem_load buffer buffer_load buffer_rd",
    "buffer_store_dword v0, off, s[0:3], 0": "vmem vmem_wr vmem_store buffer buffer_store buffer_wr",
    "buffer_atomic_add v0, off, s[0:3], 0": "vmem vmem_wr vmem_atomic buffer buffer_atomic buffer_wr",
    "buffer_atomic_add v0, off, s[0:3], 0 sc0": "vmem vmem_rd vmem_atomic buffer buffer_atomic buffer_rd",
    "v_add_f32_e32 v0, v1, v2": "valu add_f32", "v_cvt_f32_u32_e32 v0, v1": "valu cvt",
    "v_exp_f32_e32 v0, v1": "valu trans_f32", "v_mul_f64 v[0:1], v[2:3], v[4:5]": "valu mul_f64",
    "v_fma_f16 v0, v1, v2, v3": "valu fma_f16", "v_add_u32_e32 v0, v1, v2": "valu int32",
    "v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]": "valu mfma mfma_f16",
    "v_mfma_f32_16x16x32_fp8_bf8 a[0:3], v[0:1], v[2:3], a[0:3]": "valu mfma mfma_f8",
    "v_mfma_i32_16x16x32_i8 a[0:3], v[0:1], v[2:3], a[0:3]": "valu mfma mfma_i8",
}  # fmt: skip


@pytest.mark.parametrize("text", AMOUNTS)
def test_what_an_instruction_adds_one_to(text: str) -> None:
    found = counters.Contributions(architectures.get("gfx942"), {0: decoded("gfx942", text)}).amounts[0]
    once = [name for name, amount in found if not name.startswith("mops_") and not name.endswith("_clocks")]
    assert sorted(once) == sorted(["insts", *AMOUNTS[text].split()])
    assert {amount for name, amount in found if name in once} == {1}
    quarter = "trans" in AMOUNTS[text]  # CDNA 3: a SIMD of 16 lanes issues 64 in four clocks, transcendental ones in 16
    clocks = {name: amount for name, amount in found if name == "valu_clocks"}
    if "valu" in AMOUNTS[text] and not quarter and "64" not in text:
        assert clocks == {"valu_clocks": 4}
    elif quarter:
        assert clocks == {"valu_clocks": 16}
    mops = [amount for name, amount in found if name.startswith("mops_")]
    assert mops == (
        [2 * 32 * 32 * 8 / 512] if "32x32x8" in text else [2 * 16 * 16 * 32 / 512] if "mfma" in text else []
    )


def test_what_executed_instructions_add_up_to() -> None:
    """Amounts times executions; clocks of vector instructions times their active lanes. What never ran adds nothing."""
    texts = ["v_add_f32_e32 v0, v1, v2", "global_load_dword v0, v[2:3], off", "v_exp_f32_e32 v0, v1"]
    parts = counters.Contributions(
        architectures.get("gfx942"), {n: decoded("gfx942", text) for n, text in enumerate(texts)}
    )
    costs = {
        n: InstructionCost(None, text, executed, lanes)
        for n, (text, executed, lanes) in enumerate(zip(texts, (3, 5, 0), (100, 300, 0), strict=True))
    }
    q = counters.Quantities(waves=2)
    parts.add(q, costs)
    assert {name: value for name, value in q.items() if value} == {
        "waves": 2, "insts": 8, "valu": 3, "add_f32": 3, "valu_clocks": 12, "valu_lane_clocks": 400, "vmem": 5,
        "vmem_rd": 5, "vmem_load": 5,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arch", "block", "waves"),
    [
        ("gfx942", (256, 1, 1), [64] * 4), ("gfx942", (10, 5, 3), [64, 64, 22]), ("gfx942", (15, 1, 1), [15]),
        ("gfx942", (16, 1, 1), [16]), ("gfx942", (4, 4, 3), [48]), ("gfx942", (47, 1, 1), [47]),
        ("gfx942", (63, 1, 1), [63]), ("gfx1100", (31, 1, 1), [31]),
        ("gfx1100", (64, 1, 1), [32, 32]), ("gfx1100", (33, 2, 1), [32, 32, 2]),
    ],
)  # fmt: skip
def test_waves_by_their_work_items(arch: str, block: tuple[int, int, int], waves: list[int]) -> None:
    q, architecture = counters.Quantities(), architectures.get(arch)
    counters.add_launch(q, architecture, 7, block)
    assert (q["waves"], q["workgroups"], q["items"]) == (7 * len(waves), 7, 7 * sum(waves))
    assert q["waves_full"] == 7 * waves.count(64)
    assert q["wave32"] == (arch == "gfx1100")
    for limit in (16, 32, 48, 64):
        assert q[f"waves_lt_{limit}"] == 7 * sum(size < limit for size in waves)
    # MI300X: 304 CUs of 4 SIMDs, 32 shader engines; Radeon RX 7900 XTX: 96 CUs of 2 SIMDs, 6 shader engines
    assert (q["cus"], q["simds"], q["shader_engines"]) == ((304, 1216, 32) if arch == "gfx942" else (96, 192, 6))


def test_what_accesses_add_up_to() -> None:
    """Write-backs are scaled as the writes to the L2 are, lines that had to make room as all requests."""
    arch = "gfx942"
    texts = {
        0: "global_load_dword v0, v[2:3], off", 1: "global_store_dword v[2:3], v0, off",
        2: "s_load_dword s0, s[2:3], 0x0", 3: "global_atomic_add v1, v[2:3], v0, off sc0",
        4: "global_atomic_add v[2:3], v0, off", 5: "ds_add_u32 v0, v1",
    }  # fmt: skip
    kinds = [("global", "load"), ("global", "store"), ("scalar", "load"), ("global", "atomic"), ("global", "atomic"),
             ("lds", "atomic")]  # fmt: skip
    accesses = [Observed(n, 0, space, action, 4) for n, (space, action) in enumerate(kinds)]
    names = schema.TOTALS.names
    totals = [{name: 100 * n + k for k, name in enumerate(names)} for n in range(1, 7)]
    observed = [{**total, "requests": total["requests"] // 2} for total in totals]
    flows = {"writebacks_32": 10, "writebacks_64": 20, "lines_written": 30, "evicted": 40, "evicted_dirty": 50}
    q = counters.Quantities()
    instructions = {n: decoded(arch, text) for n, text in texts.items()}
    counters.add_memory(q, accesses, totals, observed, flows, instructions)
    of = [{name: total[name] for name in names} for total in totals]
    for name in ("requests", "l2_hits", "reads_64", "reads_128", "bank_cycles", "conflict_cycles", "memory_hits"):
        assert q[name] == sum(t[name] for t in of), name
    assert (q["scalar_lines"], q["scalar_hits"]) == (of[2]["lines"], of[2]["first_hits"])
    assert (q["vector_load_lines"], q["vector_hits"]) == (of[0]["lines"], of[0]["first_hits"])
    assert q["vector_lines"] == sum(t["lines"] for n, t in enumerate(of) if n != 2)
    assert q["quads"] == sum(t["quads"] for n, t in enumerate(of) if n != 2)
    for what in ("quads", "requests"):
        found = [q[f"{what}_{action}"] for action in ("load", "store", "atomic_ret")]
        assert found == [of[0][what], of[1][what], of[3][what]]
        assert q[f"{what}_atomic"] == of[4][what] + of[5][what]
    written = [n for n, (space, action) in enumerate(kinds) if action != "load"]
    scale = sum(of[n]["requests"] for n in written) / sum(observed[n]["requests"] for n in written)
    everything = sum(t["requests"] for t in of) / sum(t["requests"] for t in observed)
    assert [q[name] for name in flows] == [
        round(10 * scale), round(20 * scale), round(30 * scale), round(40 * everything), round(50 * scale),
    ]  # fmt: skip
    nothing = counters.Quantities()
    none = [dict.fromkeys(names, 0)] * 6
    counters.add_memory(nothing, accesses, none, none, flows, instructions)
    assert not any(nothing.values())


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("v_add_f32_e32 v0, v1, v2", "valu"), ("v_add_f64 v[0:1], v[2:3], v[4:5]", "double"),
        ("v_cmp_lt_f64_e32 vcc, v[0:1], v[2:3]", "double"), ("v_cvt_f32_f64_e32 v0, v[2:3]", "double"),
        ("v_cvt_f64_i32_e32 v[0:1], v2", "double"), ("v_rcp_f32_e32 v0, v1", "trans"),
        ("v_rcp_f64_e32 v[0:1], v[2:3]", "trans64"), ("v_mul_lo_u32 v0, v1, v2", "multiply"),
        ("s_add_u32 s0, s1, s2", "salu"),
    ],
)  # fmt: skip
def test_which_rate_an_instruction_has(text: str, kind: str) -> None:
    """An instruction is of doubles if a source or the result is one (CDNA 3 ISA manual: its name says of what)."""
    assert timing.kind(decoded("gfx942", text)) == kind
