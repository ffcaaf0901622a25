"""The table of counters against what AMD's definitions list: a sample of names by architecture, and its own form."""

from __future__ import annotations

import re

import pytest

from gpulab import counter_names, metrics

CDNA = ("gfx90a", "gfx942", "gfx950")
RDNA = ("gfx1030", "gfx1100", "gfx1201")


@pytest.mark.parametrize(
    ("name", "architectures"),
    [
        ("SQ_WAVES", CDNA + RDNA),
        ("GRBM_GUI_ACTIVE", CDNA + RDNA),
        ("SQ_INSTS_VMEM_RD", CDNA),
        ("SQ_INSTS_TEX_LOAD", ("gfx1100", "gfx1201")),
        ("SQ_INSTS_BRANCH", CDNA),
        ("SQ_INSTS_FLAT", CDNA + RDNA),
        ("SQ_LDS_BANK_CONFLICT", CDNA),
        ("SQC_LDS_BANK_CONFLICT", RDNA),
        ("TCC_HIT", CDNA),
        ("GL2C_HIT", RDNA),
        ("TCC_EA_RDREQ", ("gfx90a",)),
        ("TCC_EA0_RDREQ", ("gfx942", "gfx950")),
        ("GL2C_EA_RDREQ_96B", ("gfx1030", "gfx1100")),
        ("TCP_REQ", ("gfx1201",)),
        ("TCP_TCC_READ_REQ_LATENCY", ("gfx90a", "gfx950")),
        ("SQ_INSTS_VALU_MFMA_MOPS_F8", ("gfx942", "gfx950")),
        ("SQ_WAIT_INST_LDS", (*CDNA, "gfx1030", "gfx1100")),
        ("SQ_INST_CYCLES_VALU", ("gfx1100", "gfx1201")),
        ("SQ_ACCUM_LDS_BUSY", ()),
        ("SQ_INSTS_INTERNAL", ()),
    ],
)
def test_architectures_of_a_name(name: str, architectures: tuple[str, ...]) -> None:
    assert set(counter_names.architectures(name)) == set(architectures)


def test_braces_become_names() -> None:
    table = counter_names.raw("gfx942")
    for name in ("TCP_TCC_NC_ATOMIC_REQ", "SPI_RA_LDS_CU_FULL_CSN", "SQ_INSTS_VALU_FMA_F64", "TCP_GATE_EN2"):
        assert name in table
    assert table["SPI_RA_LDS_CU_FULL_CSN"].meaning.count("LDS") == 1
    assert table["TCC_HIT"].reductions == ("sum",)
    assert table["SQ_WAVE_CYCLES"].unit.startswith("quad-cycles")
    assert counter_names.defined("SQ_INSTS_VALU_MFMA_MOPS_F16")[0].unit == "512 operations"


@pytest.mark.parametrize(
    ("name", "meaning", "unit"),
    [
        ("SPI_RA_WAVE_SIMD_FULL_CSN", "SIMDs, summed over clocks, without WAVE room for the next wave", ""),
        ("CPC_CPC_STAT_STALL", "the compute part of the command processor: stall", "clocks"),
        ("CPF_CPF_STAT_BUSY", "the fetcher of the command processor: busy", "clocks"),
        ("TCP_TCC_READ_REQ", "requests to the L2 cache: read", ""),
        ("TCP_TCC_ATOMIC_WITH_RET_REQ", "atomic requests to the L2 cache, with return", ""),
        ("TCC_STREAMING_REQ", "requests by the kind of memory: streaming", ""),
        ("TCC_NC_REQ", "requests by the kind of memory: NC", ""),
        ("SQC_DCACHE_MISSES_DUPLICATE", "scalar cache: misses duplicate", ""),
        ("SQ_INSTS_VALU_MFMA_F16", "F16 matrix instructions", ""),
    ],
)
def test_words_of_a_name_stand_in_its_meaning(name: str, meaning: str, unit: str) -> None:
    """Long ones and common ones in small letters, abbreviations as they are."""
    counter = counter_names.raw("gfx942")[name]
    assert (counter.meaning, counter.unit) == (meaning, unit)


def test_how_many_counters_of_a_block_fit_into_one_run() -> None:
    """As rocprofiler-compute's perfmon_config has it; more than those take a second run."""
    assert counter_names.PER_PASS == {
        "SQ": 8, "TA": 2, "TD": 2, "TCP": 4, "TCA": 2, "TCC": 4, "GL2C": 4, "GRBM": 2, "SPI": 2, "CPC": 2, "CPF": 2,
    }  # fmt: skip
    for block, most in counter_names.PER_PASS.items():
        arch = "gfx1100" if block == "GL2C" else "gfx942"
        names = [name for name, counter in counter_names.raw(arch).items() if counter.block == block]
        assert len(metrics.passes(names[:most], arch)) == 1, block
        if len(names) > most:
            assert [len(each) for each in metrics.passes(names[: most + 1], arch)] == [most, 1], block


def test_the_table_is_well_formed() -> None:
    for arch in counter_names.SETS:
        for name, counter in counter_names.raw(arch).items():
            assert name == counter.name
            assert re.fullmatch(r"[A-Z][A-Z0-9_]+", name)
            assert name.startswith("SQC_" if name.startswith("SQC") else counter.block + "_")
            assert counter.block in counter_names.PER_PASS
            assert counter.meaning
            assert "{" not in counter.meaning
    assert counter_names.raw("gfx000") == {}


def test_no_name_stands_twice_for_an_architecture() -> None:
    for arch in counter_names.SETS:
        names = [
            counter.name
            for section in counter_names._TABLE
            for counter in counter_names._entries(*section)
            if arch in counter.architectures
        ]
        assert len(names) == len(set(names))
