"""Metrics: formulas against numbers worked by hand, refusals, and the groups that hardware can count together."""

from __future__ import annotations

import dataclasses
import math

import pytest

from gpulab import counter_names, metrics
from gpulab.errors import CounterNotFound
from gpulab.records import AccessCost, Counters, InstructionCost, Launch, ModelledTime

DEVICES = {
    "gfx90a": {"CU_NUM": 110, "SIMD_NUM": 440, "SE_NUM": 8, "MAX_WAVE_SIZE": 64},
    "gfx942": {"CU_NUM": 304, "SIMD_NUM": 1216, "SE_NUM": 32, "MAX_WAVE_SIZE": 64},
    "gfx950": {"CU_NUM": 256, "SIMD_NUM": 1024, "SE_NUM": 32, "MAX_WAVE_SIZE": 64},
    "gfx1032": {"CU_NUM": 40, "SIMD_NUM": 80, "SE_NUM": 2, "MAX_WAVE_SIZE": 32},
    "gfx1100": {"CU_NUM": 96, "SIMD_NUM": 192, "SE_NUM": 6, "MAX_WAVE_SIZE": 32},
    "gfx1201": {"CU_NUM": 64, "SIMD_NUM": 128, "SE_NUM": 4, "MAX_WAVE_SIZE": 32},
}


def launch(arch: str, modelled: bool = True, **counters: int) -> Launch:
    return Launch(
        "kernel", arch, 0, (4, 1, 1), (256, 1, 1), 0, 16, Counters(counters),
        time_is_modelled=modelled, constants=DEVICES.get(arch, {}),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "arch", "counters", "expected"),
    [
        # 48 of 64 lanes on average.
        ("VALUUtilization", "gfx942", {"SQ_THREAD_CYCLES_VALU": 48_000, "SQ_ACTIVE_INST_VALU": 1000}, 75.0),
        # 304 CUs, 1000 quad-cycles each: 4000 of the 4 SIMDs' 8000 clocks.
        ("VALUBusy", "gfx942", {"SQ_ACTIVE_INST_VALU": 304_000, "GRBM_GUI_ACTIVE": 2000}, 50.0),
        # 192 SIMDs are 48 WGPs: 48 × 500 clocks in 1000.
        ("VALUBusy", "gfx1100", {"SQ_INST_CYCLES_VALU": 24_000, "GRBM_GUI_ACTIVE": 1000}, 50.0),
        ("SALUBusy", "gfx942", {"SQ_INST_CYCLES_SALU": 30_400, "GRBM_GUI_ACTIVE": 1000}, 10.0),
        # Measured for a copy of 1 GiB on an MI300X: 8,388,608 × 128 + 152 × 64 bytes read, 16,777,216 × 64 written.
        ("FETCH_SIZE", "gfx942",
         {"TCC_BUBBLE": 8_388_608, "TCC_EA0_RDREQ": 8_388_760, "TCC_EA0_RDREQ_32B": 0}, 1_048_585.5),
        ("WRITE_SIZE", "gfx942", {"TCC_EA0_WRREQ": 16_777_216, "TCC_EA0_WRREQ_64B": 16_777_216}, 1_048_576.0),
        ("WriteSize", "gfx942", {"TCC_EA0_WRREQ": 30, "TCC_EA0_WRREQ_64B": 10}, (20 * 32 + 10 * 64) / 1024),
        ("WRITE_REQ_32B", "gfx942", {"TCC_EA0_WRREQ": 30, "TCC_EA0_WRREQ_64B": 10}, 40),
        ("FETCH_SIZE", "gfx90a", {"TCC_EA_RDREQ": 110, "TCC_EA_RDREQ_32B": 10}, 6.5625),
        ("FETCH_SIZE", "gfx950",
         {"TCC_EA0_RDREQ_128B": 3, "TCC_EA0_RDREQ_64B": 2, "TCC_EA0_RDREQ_32B": 1}, 0.53125),
        ("FETCH_SIZE", "gfx1100",
         {"GL2C_EA_RDREQ_32B": 1, "GL2C_EA_RDREQ_64B": 2, "GL2C_EA_RDREQ_96B": 3, "GL2C_EA_RDREQ_128B": 4}, 0.9375),
        ("L2CacheHit", "gfx1100", {"GL2C_HIT": 300, "GL2C_MISS": 100}, 75.0),
        ("l2_hit_percent", "gfx942", {"TCC_HIT": 8_391_568, "TCC_MISS": 16_777_296}, 33.3410),
        # One name, two meanings: of the GPU's time on CDNA, of the time of LDS on RDNA.
        ("LDSBankConflict", "gfx942", {"SQ_LDS_BANK_CONFLICT": 304_000, "GRBM_GUI_ACTIVE": 4000}, 25.0),
        ("LDSBankConflict", "gfx1100", {"SQC_LDS_BANK_CONFLICT": 750, "SQC_LDS_IDX_ACTIVE": 1000}, 75.0),
        ("LdsBankConflict", "gfx942", {"SQ_LDS_BANK_CONFLICT": 300, "SQ_LDS_IDX_ACTIVE": 400}, 3.0),
        ("lds_conflict_percent", "gfx942", {"SQ_LDS_BANK_CONFLICT": 300, "SQ_LDS_IDX_ACTIVE": 400}, 75.0),
        ("lds_conflict_percent", "gfx1100", {"SQC_LDS_BANK_CONFLICT": 300, "SQC_LDS_IDX_ACTIVE": 400}, 75.0),
        ("LdsUtil", "gfx942", {"SQ_LDS_IDX_ACTIVE": 152_000, "GRBM_GUI_ACTIVE": 1000}, 50.0),
        ("LdsUtil", "gfx1201", {"SQC_LDS_IDX_ACTIVE": 16_000, "GRBM_GUI_ACTIVE": 1000}, 50.0),
        # 16 of 32 waves on every CU for 1000 clocks: 304 × 16 × 250 quad-cycles, 96 × 16 × 1000 clocks.
        ("OccupancyPercent", "gfx942", {"SQ_WAVE_CYCLES": 1_216_000, "GRBM_GUI_ACTIVE": 1000}, 50.0),
        ("OccupancyPercent", "gfx1100", {"SQ_WAVE_CYCLES": 1_536_000, "GRBM_GUI_ACTIVE": 1000}, 50.0),
        ("MeanOccupancyPerCU", "gfx942", {"SQ_WAVE_CYCLES": 1_216_000, "GRBM_GUI_ACTIVE": 1000}, 16.0),
        ("MeanOccupancyPerCU", "gfx1100", {"SQ_WAVE_CYCLES": 1_536_000, "GRBM_GUI_ACTIVE": 1000}, 16.0),
        # 40 CUs of a real GPU that has no virtual one, but the counters of gfx1030: 16 waves for 1000 clocks.
        ("MeanOccupancyPerCU", "gfx1032", {"SQ_WAVE_CYCLES": 640_000, "GRBM_GUI_ACTIVE": 1000}, 16.0),
        # 100 CUs with 16 waves each, all in quad-cycles.
        ("MeanOccupancyPerActiveCU", "gfx942", {"SQ_WAVE_CYCLES": 400_000, "SQ_BUSY_CU_CYCLES": 25_000}, 16.0),
        ("MfmaUtil", "gfx942", {"SQ_VALU_MFMA_BUSY_CYCLES": 608_000, "GRBM_GUI_ACTIVE": 1000}, 50.0),
        ("MfmaFlopsF16", "gfx942", {"SQ_INSTS_VALU_MFMA_MOPS_F16": 32}, 16_384),
        ("MemUnitStalled", "gfx942",
         {"TCP_TCP_TA_DATA_STALL_CYCLES_max": 3200, "GRBM_GUI_ACTIVE": 1000}, 10.0),
        ("MemUnitBusy", "gfx1100", {"TA_BUSY_max": 800, "GRBM_GUI_ACTIVE": 1000}, 80.0),
        # 4 workgroups on 8 of 96 CUs, or on 4 of 110: the clocks of their TAs, shared evenly.
        ("MemUnitBusy", "gfx1100", {"TA_TA_BUSY": 800, "GRBM_GUI_ACTIVE": 1000}, 10.0),
        ("MemUnitBusy", "gfx90a", {"TA_TA_BUSY": 800, "GRBM_GUI_ACTIVE": 1000}, 20.0),
        ("TA_BUSY_min", "gfx90a", {"TA_TA_BUSY": 800}, 0.0),
        ("TA_BUSY_avr", "gfx90a", {"TA_TA_BUSY": 880}, 8.0),
        ("WriteUnitStalled", "gfx1100", {"GL2C_MC_WRREQ_STALL_max": 100, "GRBM_GUI_ACTIVE": 1000}, 10.0),
        ("VALUInsts", "gfx1100", {"SQ_INSTS_VALU": 160, "SQ_WAVES": 16}, 10.0),
        ("valu_per_wave", "gfx942", {"SQ_INSTS_VALU": 160, "SQ_WAVES": 16}, 10.0),
        ("GPU_UTIL", "gfx942", {"GRBM_GUI_ACTIVE": 900, "GRBM_COUNT": 1000}, 90.0),
        ("WAVE_DEP_WAIT", "gfx1100", {"SQ_WAIT_ANY": 30, "SQ_WAVE_CYCLES": 40}, 75.0),
        ("SIMD_UTILIZATION", "gfx1100", {"SQ_BUSY_CYCLES": 24_000, "GRBM_COUNT": 1000}, 0.5),
        ("LdsLatency", "gfx942", {"SQ_INST_LEVEL_LDS_accumulated": 6400, "SQ_INSTS_LDS": 100}, 64.0),
        ("TCC_HIT_sum", "gfx942", {"TCC_HIT": 7}, 7.0),
        ("SQ_WAVES", "gfx942", {"SQ_WAVES": 7}, 7.0),
        # Four lanes share a request, or none does.
        ("coalescing_percent", "gfx942", {"TA_TOTAL_WAVEFRONTS": 10, "TCP_TOTAL_ACCESSES": 160}, 100.0),
        ("coalescing_percent", "gfx942", {"TA_TOTAL_WAVEFRONTS": 10, "TCP_TOTAL_ACCESSES": 640}, 25.0),
        # 64 neighbouring floats are two lines of 128 bytes.
        ("lookups_per_access", "gfx942", {"TA_TOTAL_WAVEFRONTS": 10, "TCP_TOTAL_CACHE_ACCESSES": 20}, 2.0),
        ("l1_hit_percent", "gfx942",
         {"TCP_TCC_READ_REQ": 20, "TCP_TCC_ATOMIC_WITH_RET_REQ": 3, "TCP_TCC_ATOMIC_WITHOUT_RET_REQ": 2,
          "TCP_TOTAL_CACHE_ACCESSES": 100}, 75.0),
        ("l2_bytes", "gfx942",
         {"TCP_TCC_READ_REQ": 2, "TCP_TCC_WRITE_REQ": 3, "TCP_TCC_ATOMIC_WITH_RET_REQ": 0,
          "TCP_TCC_ATOMIC_WITHOUT_RET_REQ": 1}, 512),
    ],
)  # fmt: skip
def test_formulas(name: str, arch: str, counters: dict[str, int], expected: float) -> None:
    assert metrics.value(launch(arch, **counters), name) == pytest.approx(expected, rel=1e-5)


def test_arithmetic_intensity_of_saxpy() -> None:
    """y = a·x + y over n floats: 2n operations, 8n bytes read and 4n written, so 1/6 operation per byte."""
    n = 65_536
    counters = dict.fromkeys(metrics.needed("arithmetic_intensity", "gfx942"), 0)
    counters |= {"SQ_INSTS_VALU_FMA_F32": n // 64, "TCC_BUBBLE": 8 * n // 128, "TCC_EA0_RDREQ": 8 * n // 128}
    counters |= {"TCC_EA0_WRREQ": 4 * n // 64, "TCC_EA0_WRREQ_64B": 4 * n // 64}
    record = launch("gfx942", **counters)
    assert metrics.value(record, "float_operations") == 2 * n
    assert metrics.value(record, "memory_bytes") == 12 * n
    assert metrics.value(record, "arithmetic_intensity") == pytest.approx(1 / 6)


def test_total_operations() -> None:
    counters = dict.fromkeys(metrics.needed("TOTAL_32_OPS", "gfx942"), 0)
    counters |= {"SQ_INSTS_VALU_FMA_F32": 3, "SQ_INSTS_VALU_INT32": 5, "SQ_INSTS_VALU_MFMA_MOPS_F32": 2}
    assert metrics.value(launch("gfx942", **counters), "TOTAL_32_OPS") == (6 + 5) * 64 + 2 * 512


def test_metrics_of_costs() -> None:
    """3 vector instructions with 64, 32 and 0 of 64 lanes; 256 bytes asked for of 4 lines of 128, in 20 requests."""
    record = dataclasses.replace(
        launch("gfx942"),
        timing=ModelledTime(1.0, "", {}, 0.0, 2100, 12, 32),
        instructions=(
            InstructionCost(None, "v_add_f32 v0, v1, v2", 2, 96, (("insts", 1), ("valu", 1))),
            InstructionCost(None, "v_mov_b32 v0, 0", 1, 0, (("insts", 1), ("valu", 1))),
            InstructionCost(None, "s_mov_b32 s0, 0", 5, 320, (("insts", 1), ("salu", 1))),
        ),
        accesses=(
            AccessCost(None, "global_load_dword", "global", "load", 4, 1, 32, quads=16, lines=1, line_bytes=128),
            AccessCost(None, "flat_store_dword", "flat", "store", 4, 1, 32, quads=4, lines=3, line_bytes=128),
            AccessCost(None, "ds_read_b32", "lds", "load", 4, 1, 64, bank_cycles=2),
            AccessCost(None, "s_load_dword", "scalar", "load", 4, 1, 1, lines=1, line_bytes=64),
        ),
    )  # fmt: skip
    assert metrics.value(record, "lanes_active_percent") == 50.0
    assert metrics.value(record, "used_bytes_percent") == 50.0
    assert metrics.value(record, "bytes_per_request") == 256 / 20
    assert metrics.value(record, "occupancy_limit_percent") == 37.5
    assert set(metrics.OF_COSTS) <= set(metrics.available(record))
    with pytest.raises(CounterNotFound, match="no bytes_per_request"):
        metrics.value(launch("gfx942"), "bytes_per_request")
    assert metrics.needed("bytes_per_request", "gfx1100") == metrics.collected("bytes_per_request", "gfx1100") == ()


def test_nothing_divided_by_nothing_is_no_number() -> None:
    assert math.isnan(metrics.value(launch("gfx942", TCC_HIT=0, TCC_MISS=0), "l2_hit_percent"))


@pytest.mark.parametrize(
    ("name", "arch", "says"),
    [
        ("SQ_INSTS_VMEM_RD", "gfx1100", ["gfx1100 has no", "gfx90a, gfx942 and gfx950", "SQ_INSTS_TEX_LOAD"]),
        ("SQ_INSTS_TEX_STORE", "gfx942", ["gfx1100 and gfx1201", "SQ_INSTS_VMEM_WR"]),
        ("MemUnitBusy", "gfx942", ["gfx942 has no", "gfx1100", "100·TA_BUSY_max/GRBM_GUI_ACTIVE"]),
        ("L2CacheHit", "gfx942", ["gfx942 has no", "TCC_HIT/(TCC_HIT+TCC_MISS)", "l2_hit_percent"]),
        ("SALUInsts", "gfx942", ["gfx942 has no", "SQ_INSTS_SALU", "divide it by SQ_WAVES"]),
        ("SQ_ACCUM_LDS_BUSY", "gfx942", ["There is no counter or metric", "no device", "SQ_LDS_IDX_ACTIVE"]),
        ("SQ_ACCUM_LDS_BUSY", "gfx1100", ["There is no counter or metric", "SQC_LDS_IDX_ACTIVE"]),
        ("TCC_HIT_sum", "gfx1100", ["GL2C_HIT_sum"]),
        ("TCC_EA_RDREQ_sum", "gfx942", ["list it for gfx90a.", "TCC_EA0_RDREQ_sum"]),
        ("TCC_EA0_WRREQ", "gfx1201", ["GL2C_EA_WRREQ"]),
        ("FetchSize", "gfx1100", ["FETCH_SIZE"]),
        ("VALUUtilization", "gfx1100", ["lanes_active_percent"]),
        ("sq_insts_valu", "gfx942", ["did you mean SQ_INSTS_VALU"]),
        ("SQ_INST_VALU", "gfx1100", ["did you mean SQ_INSTS_VALU"]),
        ("LDSBankConflicts", "gfx1100", ["did you mean LDSBankConflict"]),
        ("nonsense", "gfx1100", ["gpulab counters --arch gfx1100"]),
    ],
)
def test_refusals_name_the_nearest(name: str, arch: str, says: list[str]) -> None:
    with pytest.raises(CounterNotFound) as caught:
        metrics.find(name, arch)
    for part in says:
        assert part in str(caught.value)


def test_architectures_with_the_same_counters() -> None:
    assert metrics.names("gfx1102") == metrics.names("gfx1100")
    assert metrics.names("gfx1032") == metrics.names("gfx1030")
    with pytest.raises(CounterNotFound, match="gfx1102 has no counter") as caught:
        metrics.find("SQ_INSTS_VMEM_RD", "gfx1102")
    assert "SQ_INSTS_TEX_LOAD" in str(caught.value)
    with pytest.raises(CounterNotFound, match="The counters of gfx1150 are not known here"):
        metrics.find("SQ_WAVES", "gfx1150")


def test_what_is_recommended_exists() -> None:
    for name, entries in metrics._INSTEAD.items():
        for where, instead, _ in entries:
            for arch in where.split():
                assert name not in metrics.names(arch)
                assert not instead or instead in metrics.names(arch), (name, arch, instead)


def test_names_that_cdna_3_no_longer_lists() -> None:
    gone = ("L2CacheHit", "MemUnitBusy", "SALUInsts", "SFetchInsts", "LDSInsts", "FlatVMemInsts", "ALUStalledByLDS")
    assert not set(gone) & set(metrics.names("gfx942"))
    assert set(gone) <= set(metrics.names("gfx90a"))


def test_a_missing_counter_is_named() -> None:
    with pytest.raises(CounterNotFound, match=r"no VALUBusy: SQ_ACTIVE_INST_VALU and GRBM_GUI_ACTIVE are needed"):
        metrics.value(launch("gfx942", SQ_WAVES=4), "VALUBusy")
    with pytest.raises(CounterNotFound, match="no TCC_HIT"):
        metrics.value(launch("gfx942", SQ_WAVES=4), "TCC_HIT")


def test_measured_clocks_of_several_dies_are_no_maximum() -> None:
    """rocprofv3 adds up GRBM_GUI_ACTIVE over the eight dies of an MI300X: percentages must come from it as a whole."""
    measured = launch("gfx942", modelled=False, SQ_ACTIVE_INST_VALU=304_000, GRBM_GUI_ACTIVE=16_000)
    with pytest.raises(CounterNotFound, match=r'gpulab.profile\("VALUBusy"\)'):
        metrics.value(measured, "VALUBusy")


def test_available_are_those_with_all_their_counters() -> None:
    found = metrics.available(launch("gfx942", TCC_HIT=30, TCC_MISS=10, SQ_WAVES=1))
    assert found == {"l2_hit_percent": 75.0}
    assert metrics.available(launch("gfx1100", GL2C_HIT=30, GL2C_MISS=10))["L2CacheHit"] == 75.0


def test_measured_metrics_come_before_their_formulas() -> None:
    """A profiler gives values of metrics themselves; formulas of others take these, too."""
    measured = dataclasses.replace(
        launch("gfx942", modelled=False, TCC_HIT=30, TCC_MISS=10), metrics={"l2_hit_percent": 12.5}
    )
    assert metrics.value(measured, "l2_hit_percent") == 12.5
    assert metrics.available(measured) == {"l2_hit_percent": 12.5}
    assert metrics.available(dataclasses.replace(measured, metrics={})) == {"l2_hit_percent": 75.0}


def test_lacking() -> None:
    counted = {"TCC_HIT", "TCC_MISS", "SQ_WAVE_CYCLES", "GRBM_GUI_ACTIVE"}
    assert metrics.lacking("l2_hit_percent", "gfx942", counted) == ()
    assert metrics.lacking("MeanOccupancyPerCU", "gfx942", counted) == ()
    assert metrics.lacking("TCC_HIT", "gfx942", counted) == metrics.lacking("TCC_HIT_sum", "gfx942", counted) == ()
    assert metrics.lacking("TCC_REQ", "gfx942", counted) == ("TCC_REQ",)
    assert metrics.lacking("VALUBusy", "gfx942", counted) == ("SQ_ACTIVE_INST_VALU",)
    assert metrics.lacking("MemUnitStalled", "gfx942", counted) == ("TCP_TCP_TA_DATA_STALL_CYCLES_max",)


def test_needed() -> None:
    assert metrics.needed("FetchSize", "gfx942") == ("TCC_BUBBLE", "TCC_EA0_RDREQ", "TCC_EA0_RDREQ_32B")
    assert metrics.needed("SQ_WAVES", "gfx1100") == ("SQ_WAVES",)
    assert set(metrics.needed("VmemLatency", "gfx942")) == {"SQ_INST_LEVEL_VMEM", "SQ_INSTS_VMEM", "SQ_ACCUM_PREV"}
    with pytest.raises(CounterNotFound):
        metrics.needed("L2CacheHit", "gfx942")


def test_every_formula_can_be_read() -> None:
    for arch in counter_names.SETS:
        for name in metrics.metrics(arch):
            assert set(metrics.needed(name, arch)) <= set(counter_names.raw(arch)), (name, arch)


def test_passes_keep_to_the_limits_of_blocks() -> None:
    """TCC counts four things at a time: three for FETCH_SIZE and two for WRITE_SIZE do not fit into one run."""
    assert metrics.passes(["FETCH_SIZE", "WRITE_SIZE"], "gfx942") == [("FETCH_SIZE",), ("WRITE_SIZE",)]
    eight = [f"SQ_WAVES_LT_{n}" for n in (16, 32, 48, 64)] + ["SQ_WAVES", "SQ_INSTS_VALU", "SQ_INSTS_LDS", "SQ_ITEMS"]
    assert metrics.passes(eight, "gfx942") == [tuple(eight)]
    assert metrics.passes([*eight, "SQ_INSTS_SALU", "GRBM_COUNT"], "gfx942") == [
        (*eight, "GRBM_COUNT"), ("SQ_INSTS_SALU",),
    ]  # fmt: skip


def test_passes_name_what_rocprofv3_knows() -> None:
    assert metrics.passes(["l2_hit_percent", "TCC_HIT"], "gfx942") == [("TCC_HIT_sum", "TCC_MISS_sum", "TCC_HIT")]
    for group in metrics.passes(["arithmetic_intensity"], "gfx942"):
        assert all(name.isupper() or name.endswith("_sum") for name in group)


@pytest.mark.parametrize("arch", counter_names.SETS)
def test_every_metric_fits_one_run(arch: str) -> None:
    """What AMD defines can be collected; if not, a limit or a formula is wrong here."""
    for name, metric in metrics.metrics(arch).items():
        if metric.source == "AMD":
            assert metrics._fits(set(metrics.needed(name, arch)), arch), (name, arch)


def test_each_form_of_a_counter_is_one_metric() -> None:
    """X_sum, X_max ... of a counter with instances: AMD's own definition where it has one, else the plain reduction."""
    words = {"sum": "sum", "max": "largest", "min": "smallest", "avr": "mean"}
    own = {name for name, *_ in metrics.AMD}
    added = 0
    for arch in counter_names.SETS:
        for counter in counter_names.raw(arch).values():
            for form in counter.reductions:
                name = f"{counter.name}_{form}"
                entries = [entry for entry in metrics._table()[name] if arch in entry.architectures]
                assert len(entries) == 1, (arch, name)
                assert metrics.metrics(arch)[name] is entries[0]
                if name not in own:
                    (entry,) = entries
                    assert entry.expression == f"reduce({counter.name},{form})"
                    assert entry.meaning == f"{counter.meaning}: {words[form]} over its instances"
                    assert (entry.unit, entry.architectures) == (counter.unit, counter.architectures)
                    added += 1
    assert added > 20


def test_what_is_usual_is_defined_everywhere() -> None:
    """Waves and vector instructions on each architecture; of the two names of one counter the architecture's own."""
    for arch in counter_names.SETS:
        usual = metrics.usual(arch)
        assert set(usual) <= set(metrics.names(arch))
        assert {"SQ_WAVES", "SQ_INSTS_VALU"} <= set(usual)
        assert len(usual) == len(set(usual)) > 8
        assert ("TCC_HIT_sum" in usual) != ("GL2C_HIT_sum" in usual)
