"""The drawing of a device: numbers of parts by AMD's documents, and the part that each counter belongs to."""

from __future__ import annotations

import pytest

import gpulab
from gpulab import architectures, counter_names
from gpulab.errors import CounterNotFound
from gpulab.views import chip


def test_the_numbers_of_an_mi300x() -> None:
    """CDNA 3 white paper: 8 XCDs of 38 CUs and 4 MB of L2, 4 matrix cores a CU, 256 MB of Infinity Cache."""
    has = chip.parts(architectures.get("gfx942"))
    counts = {name: has[name].count for name in ("L2", "SIMDs", "matrix cores", "LDS", "scalar cache")}
    assert counts == {"L2": 8, "SIMDs": 1216, "matrix cores": 1216, "LDS": 304, "scalar cache": 152}
    assert (has["L2"].size, has["Infinity Cache"].size, has["LDS"].size) == ("4 MiB", "256 MiB", "64 KiB")
    assert "GL1" not in has


def test_the_numbers_of_an_rx_7900_xtx() -> None:
    """6 shader engines, 96 CUs in 48 WGPs, 192 KiB of VGPRs for each SIMD, 6 MB of L2 (ROCm's table of GPUs)."""
    has = chip.parts(architectures.get("gfx1100"))
    assert (has["dispatcher"].count, has["LDS"].count, has["SIMDs"].count) == (6, 48, 192)
    assert (has["SIMDs"].size, has["L2"].size) == ("16 waves, 192 KiB of VGPRs", "6 MiB")
    assert has["matrix cores"].size == "WMMA"


@pytest.mark.parametrize(
    ("name", "arch", "wanted"),
    [
        ("TCC_HIT_sum", "gfx942", ("L2",)), ("GL2C_HIT", "gfx1100", ("L2",)), ("TCP_TCC_READ_REQ", "gfx90a", ("L2",)),
        ("TCP_TOTAL_READ", "gfx942", ("L1",)), ("SQ_LDS_BANK_CONFLICT", "gfx942", ("LDS",)),
        ("SQC_LDS_BANK_CONFLICT", "gfx1100", ("LDS",)), ("SQ_INSTS_VALU_MFMA_F16", "gfx942", ("matrix cores",)),
        ("SQ_INSTS_VALU", "gfx942", ("SIMDs",)), ("SQ_WAVES", "gfx1100", ("scheduler",)),
        ("SPI_CSN_BUSY", "gfx942", ("dispatcher",)), ("SQC_ICACHE_MISSES", "gfx942", ("instruction cache",)),
        ("SQ_INSTS_SALU", "gfx1100", ("scalar unit",)), ("TCC_EA0_RDREQ", "gfx942", ("memory",)),
        ("FETCH_SIZE", "gfx942", ("L2", "memory")), ("lds_conflict_percent", "gfx1100", ("LDS",)),
        ("TCC", "gfx942", ("L2",)), ("infinity cache", "gfx1100", ("Infinity Cache",)), ("GL1", "gfx1030", ("GL1",)),
    ],
)  # fmt: skip
def test_where_something_belongs(name: str, arch: str, wanted: tuple[str, ...]) -> None:
    assert chip.belonging(name, arch) == wanted


@pytest.mark.parametrize("arch", counter_names.SETS)
def test_every_counter_belongs_to_a_part_that_the_device_has(arch: str) -> None:
    has = chip.parts(architectures.get(arch))
    assert {name for name in counter_names.raw(arch) if not set(chip.belonging(name, arch)) & set(has)} == set()


@pytest.mark.parametrize(
    ("name", "arch"),
    [
        ("TCC_HIT", "gfx1100"), ("nothing", "gfx942"), ("GL1", "gfx942"), ("bytes_per_request", "gfx942"),
        ("<b>", "gfx942"),
    ],
)  # fmt: skip
def test_what_a_device_does_not_have_is_said(name: str, arch: str) -> None:
    with pytest.raises(CounterNotFound):
        gpulab.chip(name, arch)


def test_a_part_that_is_not_there_is_answered_with_the_parts_there_are() -> None:
    with pytest.raises(CounterNotFound, match=r"Parts are .*, L1, scalar cache, .*, L2, Infinity Cache, memory\."):
        gpulab.chip("L3", "gfx942")


def test_the_marked_part_is_named_in_words_and_in_the_table() -> None:
    made = gpulab.chip("SQ_LDS_BANK_CONFLICT", arch="gfx942")
    assert made.title == "Parts of the AMD Instinct MI300X (gfx942): SQ_LDS_BANK_CONFLICT"
    assert made.sentence == (
        "The AMD Instinct MI300X has 8 dies (XCDs) of 38 compute units; each compute unit has 4 SIMDs. "
        "SQ_LDS_BANK_CONFLICT, which the block SQ counts, belongs to: LDS."
    )
    assert [row[1] for row in made.table.rows if row[0]] == ["LDS"]
    plain = gpulab.chip(arch="gfx1100")
    assert plain.sentence == (
        "The AMD Radeon RX 7900 XTX has one die of 96 compute units; each compute unit has 2 SIMDs, and two of them "
        "are a work-group processor (WGP)."
    )
    assert not any(row[0] for row in plain.table.rows)


@pytest.mark.full
@pytest.mark.parametrize("arch", ["gfx942", "gfx90a", "gfx950", "gfx1030", "gfx1100", "gfx1201"])
def test_each_device_is_drawn_and_marks_change_the_drawing(arch: str) -> None:
    plain, marked = (gpulab.chip(name, arch=arch).png() for name in ("", "L2"))
    assert plain.startswith(b"\x89PNG")
    assert plain != marked


@pytest.mark.parametrize(
    ("count", "said"),
    [(16 << 10, "16 KiB"), ((1 << 20) - 1024, "1,023 KiB"), (1 << 20, "1 MiB"), (6 << 20, "6 MiB"),
     (2 << 30, "2,048 MiB")],
)  # fmt: skip
def test_sizes_in_words(count: int, said: str) -> None:
    assert chip._bytes(count) == said


@pytest.mark.parametrize(
    ("name", "said"),
    [("device", "the whole device"), ("CU", "each CU"), ("2 CUs", "2 CUs"), ("shader array", "each shader array")],
)  # fmt: skip
def test_what_a_cache_serves_in_words(name: str, said: str) -> None:
    assert chip._served(name) == said


def test_a_mark_that_several_blocks_count() -> None:
    made = gpulab.chip("l2_hit_percent", arch="gfx942")
    assert made.sentence.endswith(" l2_hit_percent belongs to: L2.")
    assert [row[1] for row in gpulab.chip(" l2 ", arch="gfx942").table.rows if row[0]] == ["L2"]
