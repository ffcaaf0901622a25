"""The table of counters against what AMD's definitions list: a sample of names by architecture, and its own form."""

from __future__ import annotations

import re

import pytest

from gpulab import counter_names

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
