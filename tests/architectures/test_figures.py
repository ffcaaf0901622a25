"""Figures of each device against a second transcription of what is public, written from the documents.

A column's source stands above it. None: the source does not say, or no such part is there.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import astuple, dataclass

import pytest

from gpulab import architectures
from gpulab.architectures import Architecture
from gpulab.architectures.architecture import Cache

KIB, MIB = 1024, 1024 * 1024


@dataclass(frozen=True)
class Specification:
    """A line of ROCm's page "AMD GPU specifications" (docs/reference/gpu-specs.rst, e88a729).

    LDS is that of a CU on GCN and CDNA, of a WGP on RDNA, and so are the files of registers. Scalar and instruction
    caches serve so many CUs. L2: of one XCD, or of the device.
    """

    cus: int
    wave: int  # "32 or 64" on RDNA; HIP takes 32 (HIP, "Hardware features")
    lds_kib: int
    last_mib: int | None
    l2_mib: int
    l2s: int
    array_kib: int | None
    vector_kib: int
    scalar_kib: int
    instruction_kib: int
    shared_by: int
    vgpr_kib: int


SPECIFICATIONS = {
    "gfx906": Specification(60, 64, 64, None, 4, 1, None, 16, 16, 32, 3, 256),  # Radeon VII
    "gfx908": Specification(120, 64, 64, None, 8, 1, None, 16, 16, 32, 3, 512),  # 256 VGPRs and 256 AccVGPRs
    "gfx90a": Specification(110, 64, 64, None, 8, 1, None, 16, 16, 32, 2, 512),  # MI250X, one GCD
    "gfx942": Specification(304, 64, 64, 256, 4, 8, None, 32, 16, 64, 2, 512),  # MI300X
    "gfx950": Specification(256, 64, 160, 256, 4, 8, None, 32, 16, 64, 2, 512),  # MI355X
    "gfx1030": Specification(72, 32, 128, 128, 4, 1, 128, 16, 16, 32, 2, 512),  # RX 6800 XT
    "gfx1100": Specification(96, 32, 128, 96, 6, 1, 256, 32, 16, 32, 2, 768),  # RX 7900 XTX
    "gfx1101": Specification(60, 32, 128, 64, 4, 1, 256, 32, 16, 32, 2, 768),  # RX 7800 XT
    "gfx1102": Specification(32, 32, 128, 32, 2, 1, 256, 32, 16, 32, 2, 512),  # RX 7600
    "gfx1151": Specification(40, 32, 128, 32, 2, 1, 256, 32, 16, 32, 2, 768),  # Radeon 8060S
    "gfx1200": Specification(32, 32, 128, 32, 4, 1, None, 32, 16, 32, 2, 768),  # RX 9060 XT
    "gfx1201": Specification(64, 32, 128, 64, 8, 1, None, 32, 16, 32, 2, 768),  # RX 9070 XT
}


@dataclass(frozen=True)
class Limits:
    """LLVM, AMDGPUBaseInfo.cpp and AMDGPU.td: getTotalNumVGPRs, getVGPRAllocGranule, getAddressableNumVGPRs,
    getMaxWavesPerEU, getEUsPerCU, getTotalNumSGPRs, getLdsDwGranularity; barriers from getMaxWorkGroupsPerCU.
    RDNA for wave32 and, where a CU counts, WGP mode."""

    vgprs: int
    granule: int
    most_vgprs: int
    waves: int
    eus: int
    sgprs: int  # of which waves take their share; 0: each wave has as many as it can address
    lds_granule: int
    barriers: int


CDNA2 = Limits(512, 8, 256, 8, 4, 800, 512, 16)  # feature gfx90a-insts: one file of 512
RDNA = Limits(1024, 16, 256, 16, 4, 0, 1024, 32)
RDNA_LARGE = Limits(1536, 24, 256, 16, 4, 0, 1024, 32)  # feature allocate1-5xvgprs
LIMITS = {
    "gfx906": Limits(256, 4, 256, 10, 4, 800, 512, 16),
    "gfx908": Limits(256, 4, 256, 10, 4, 800, 512, 16),
    "gfx90a": CDNA2,
    "gfx942": CDNA2,
    "gfx950": Limits(512, 8, 256, 8, 4, 800, 1280, 16),
    "gfx1030": RDNA,
    "gfx1100": RDNA_LARGE,
    "gfx1101": RDNA_LARGE,
    "gfx1102": RDNA,
    "gfx1151": RDNA_LARGE,
    "gfx1200": RDNA_LARGE,
    "gfx1201": RDNA_LARGE,
}


@dataclass(frozen=True)
class Product:
    """AMD's product pages: boost ("peak engine") clock in MHz, memory in GB, its kind, bus and GB/s.

    Of the MI250X half: a device is one of its two dies. The 8060S: 256 bits of LPDDR5X-8000; memory is the computer's.
    """

    clock: int
    memory: int | None
    kind: str
    bus: int
    bandwidth: float


PRODUCTS = {
    "gfx906": Product(1800, 16, "HBM2", 4096, 1024),
    "gfx908": Product(1502, 32, "HBM2", 4096, 1228.8),
    "gfx90a": Product(1700, 64, "HBM2e", 4096, 1600),
    "gfx942": Product(2100, 192, "HBM3", 8192, 5300),
    "gfx950": Product(2400, 288, "HBM3E", 8192, 8000),
    "gfx1030": Product(2250, 16, "GDDR6", 256, 512),
    "gfx1100": Product(2500, 24, "GDDR6", 384, 960),
    "gfx1101": Product(2430, 16, "GDDR6", 256, 624),
    "gfx1102": Product(2655, 8, "GDDR6", 128, 288),
    "gfx1151": Product(2900, None, "LPDDR5X", 256, 256),
    "gfx1200": Product(3130, 16, "GDDR6", 128, 320),
    "gfx1201": Product(2970, 16, "GDDR6", 256, 640),
}


@dataclass(frozen=True)
class Printed:
    """What ROCm's tools print on such a card: chip number, shader engines, total memory in KB. Issues of the
    repositories named; gfx908: docs/conceptual/gpu-arch/mi100.md (engines)."""

    chip: int  # pci.ids has them, too
    engines: int | None
    memory_kb: int | None = None


PRINTED = {
    "gfx906": Printed(0x66AF, 4, 16_760_832),  # ROCm/composable_kernel 1140; ROCm/rocm-systems pull request 922
    "gfx908": Printed(0x738C, 8),  # CLRX/CLRX-mirror 34
    "gfx90a": Printed(0x740C, 8, 67_092_480),  # ROCm/rocm_smi_lib 160 (engines, memory: an MI250)
    "gfx942": Printed(0x74A1, 32),  # four of each XCD
    "gfx950": Printed(0x75A3, 32),
    "gfx1030": Printed(0x73BF, 4, 16_760_832),
    "gfx1100": Printed(0x744C, 6, 25_149_440),  # ollama/ollama 3158; ilya-zlobintsev/LACT pull request 533 (24,560 MiB)
    "gfx1101": Printed(0x747E, 3),  # lamikr/rocm_sdk_builder 246
    "gfx1102": Printed(0x7480, 2),  # ROCm/pytorch 2730 (engines)
    "gfx1151": Printed(0x1586, 2),  # antirez/ds4 475
    "gfx1200": Printed(0x7590, None),  # ROCm/legacy-rocm-build 6342
    "gfx1201": Printed(0x7550, 4, 16_695_296),  # ROCm/librocdxg 17
}


@dataclass(frozen=True)
class Lines:
    """(bytes of a line, ways) of L1, the shader array's cache, L2, the last level, the instruction cache.

    CDNA white papers: 64-byte lines in L1 until CDNA 2, 128 from CDNA 3 on; L2 of 16 ways with lines of 128 bytes;
    CDNA 3: instruction cache of 8 ways, Infinity Cache of 16 ways, 64 bytes wide. RDNA white paper: lines of 128 bytes
    in L0, L1 and L2; 4, 16 and 16 ways. RDNA 3: 32 ways in L0 (Chips and Cheese). RDNA 4: lines of 256 bytes in
    L2 (rocminfo). None: the paper does not say.
    """

    vector: tuple[int, int | None]
    array: tuple[int, int] | None
    l2: tuple[int, int | None]
    last: tuple[int, int] | None
    instruction: tuple[int | None, int | None] = (None, None)


GCN = Lines((64, None), None, (128, 16), None, (64, None))
CDNA3 = Lines((128, None), None, (128, 16), (64, 16), (128, 8))
RDNA3 = Lines((128, 32), (128, 16), (128, 16), (64, 16))
RDNA4 = Lines((128, None), None, (256, 16), (64, 16))
LINES = {
    "gfx906": GCN,
    "gfx908": GCN,
    "gfx90a": GCN,
    "gfx942": CDNA3,
    "gfx950": CDNA3,
    "gfx1030": Lines((128, 4), (128, 16), (128, 16), (64, 16), (64, None)),
    "gfx1100": RDNA3,
    "gfx1101": RDNA3,
    "gfx1102": RDNA3,
    "gfx1151": RDNA3,
    "gfx1200": RDNA4,
    "gfx1201": RDNA4,
}

#: Bytes a clock of L2 (of one XCD): channels of 128 bytes. CDNA white papers: 32 slices of MI100 and of an MI250X's
#: die, 16 channels of an XCD.
#: Channels by bytes a clock: ROCm, "L2 cache (TCC)"; Omniperf, L2 of gfx908; microarchitecture pages.
L2_RATES = {"gfx908": 32 * 64, "gfx90a": 32 * 128, "gfx942": 16 * 128, "gfx950": 16 * 128}

XCDS = {"gfx942": 8, "gfx950": 8}
"""MI300 and MI350 microarchitecture pages; the others are one die to a program."""

#: Peaks in TFLOP/s: the product pages, and the microarchitecture pages of MI100, MI250 (one die) and MI300.
PEAKS = {
    "gfx906": {"fp32": 13.8, "fp64": 3.46, "fp16": 27.7},
    "gfx908": {"fp64": 11.5, "fp32": 23.1, "matrix fp32": 46.1, "matrix fp16": 184.6, "matrix bf16": 92.3},
    "gfx90a": {"fp64": 23.9, "fp32": 47.9, "matrix fp64": 47.9, "matrix fp16": 191.5, "matrix int8": 191.5},
    "gfx942": {
        "fp64": 81.7, "fp32": 163.4, "matrix fp64": 163.4, "matrix fp32": 163.4, "matrix tf32": 653.7,
        "matrix fp16": 1307.4, "matrix bf16": 1307.4, "matrix fp8": 2614.9, "matrix int8": 2614.9,
    },
    "gfx950": {
        "fp64": 78.6, "fp32": 157.3, "matrix fp64": 78.6, "matrix fp16": 2516.6, "matrix fp8": 5033.2,
        "matrix fp6": 10066.3, "matrix fp4": 10066.3,
    },
    "gfx1030": {"fp32": 20.74, "fp16": 41.47},
    "gfx1100": {"fp32": 61.4, "matrix fp16": 122.8},
    "gfx1101": {"fp32": 37.3, "matrix fp16": 74.6},
    "gfx1102": {"fp32": 21.75, "matrix fp16": 43.5},
    "gfx1151": {"fp32": 29.7},
    "gfx1200": {"fp32": 25.6, "matrix int4": 410.5},  # 821 TOPS with sparsity
    "gfx1201": {"fp32": 48.7, "matrix fp16": 195, "matrix int4": 779},
}  # fmt: skip

TABLES: dict[str, Collection[str]] = {
    "SPECIFICATIONS": SPECIFICATIONS, "LIMITS": LIMITS, "PRODUCTS": PRODUCTS, "PRINTED": PRINTED, "LINES": LINES,
    "PEAKS": PEAKS,
}  # fmt: skip
DEVICES = [architectures.get(name) for name in architectures.names()]
each = pytest.mark.parametrize("a", DEVICES, ids=lambda a: a.name)


@pytest.mark.parametrize("table", TABLES)
def test_each_device_stands_in_each_table(table: str) -> None:
    assert set(TABLES[table]) == set(architectures.names())


def parts(a: Architecture) -> int:
    """CUs in what SPECIFICATIONS counts LDS and registers for: one on CDNA, a WGP on RDNA."""
    return 1 if a.wave_size == 64 else 2


@each
def test_sizes(a: Architecture) -> None:
    s = SPECIFICATIONS[a.name]
    last, array = a.last_level_cache, a.shader_array_cache
    registers = a.vgprs_per_simd + (0 if a.unified_vgprs else a.max_agprs)
    found = Specification(
        cus=a.compute_units,
        wave=a.wave_size,
        lds_kib=a.lds_bytes_per_unit // KIB,
        last_mib=last.bytes * last.instances // MIB if last is not None else None,
        l2_mib=a.l2_cache.bytes // MIB,
        l2s=a.l2_cache.instances,
        array_kib=array.bytes // KIB if array is not None else None,
        vector_kib=a.vector_cache.bytes // KIB,
        scalar_kib=a.scalar_cache.bytes // KIB,
        instruction_kib=a.instruction_cache.bytes // KIB,
        shared_by=a.compute_units // a.scalar_cache.instances,
        vgpr_kib=registers * 4 * a.wave_size * a.simds_per_cu * parts(a) // KIB,
    )
    assert found == s
    assert a.lds_bytes_per_cu * parts(a) == s.lds_kib * KIB
    assert a.cus_per_unit == parts(a)
    assert a.multiprocessors * parts(a) == s.cus
    assert a.xcds == XCDS.get(a.name, 1)
    shared = {1: "CU", 2: "2 CUs" if parts(a) == 1 else "WGP", 3: "3 CUs"}
    for cache, by in ((a.vector_cache, 1), (a.scalar_cache, s.shared_by), (a.instruction_cache, s.shared_by)):
        assert (cache.shared_by, cache.instances * by) == (shared[by], s.cus)
    assert a.l2_cache.shared_by == ("XCD" if s.l2s > 1 else "device")
    if last is not None:
        assert (last.shared_by, last.instances) == ("device", 1)


@each
def test_registers_and_lds(a: Architecture) -> None:
    found = Limits(
        a.vgprs_per_simd, a.vgpr_granule, a.max_vgprs, a.max_waves_per_simd, a.simds_per_unit, a.sgprs_per_simd,
        a.lds_granule, a.barriers_per_unit,
    )  # fmt: skip
    assert found == LIMITS[a.name]
    # "CDNA 3" and "RDNA 3" ISA guides: scalar registers beside VCC; four SIMDs of 16 lanes, or two of 32, in a CU
    assert (a.max_sgprs, a.sgpr_granule) == ((102, 16) if a.wave_size == 64 else (106, 16))
    assert (a.simds_per_cu, a.simd_lanes) == ((4, 16) if a.wave_size == 64 else (2, 32))
    # LLVM: AccVGPRs from gfx908 on, in the same file from gfx90a on
    assert (a.max_agprs, a.unified_vgprs) == {
        "gfx908": (256, False), "gfx90a": (256, True), "gfx942": (256, True), "gfx950": (256, True)
    }.get(a.name, (0, False))  # fmt: skip
    # ISA guides: 32 banks of four bytes; 64 of CDNA 4. A workgroup may have 64 KiB, of CDNA 4 160 KiB.
    assert (a.lds_banks, a.lds_bank_bytes) == (64 if a.name == "gfx950" else 32, 4)
    assert a.max_lds_bytes_per_workgroup == (160 if a.name == "gfx950" else 64) * KIB
    assert a.lds_bytes_per_clock == 4 * a.lds_banks


@each
def test_clocks_and_memory(a: Architecture) -> None:
    p = PRODUCTS[a.name]
    assert (a.clock_mhz, a.memory_kind, a.memory_bus_bits) == (p.clock, p.kind, p.bus)
    assert a.memory_bandwidth == pytest.approx(p.bandwidth * 1e9, rel=1e-3)
    if p.memory is not None:
        assert 0.98 * p.memory <= a.memory_bytes / 2**30 < p.memory  # less what the driver keeps
    assert a.unified_memory == (p.memory is None)


@each
def test_what_tools_print(a: Architecture) -> None:
    printed = PRINTED[a.name]
    assert a.pci_chip_id == printed.chip
    # RDNA 4: two arrays an engine, four WGPs an array
    engines = a.compute_units // 16 if a.major == 12 else printed.engines
    assert printed.engines in (engines, None)
    assert a.shader_engines == engines
    if printed.memory_kb is not None:
        assert a.memory_bytes == printed.memory_kb * KIB


@each
def test_lines_and_ways(a: Architecture) -> None:
    caches = (a.vector_cache, a.shader_array_cache, a.l2_cache, a.last_level_cache, a.instruction_cache)
    for cache, stated in zip(caches, astuple(LINES[a.name]), strict=True):
        assert (cache is None) == (stated is None)
        if cache is None or stated is None:
            continue
        assert isinstance(cache, Cache)
        for found, public in zip((cache.line_bytes, cache.ways), stated, strict=True):
            assert public is None or found == public
    assert a.scalar_cache.line_bytes == 64  # GCN 3 ISA guide, "Scalar memory": lines of 64 bytes, ever since
    if a.name in L2_RATES:
        assert a.l2_cache.bytes_per_clock == L2_RATES[a.name]
        assert a.l2_channels == {"gfx942": 128, "gfx950": 128}.get(a.name, 32)


@each
def test_peaks(a: Architecture) -> None:
    for kind, peak in PEAKS[a.name].items():
        found = a.flops_per_clock_per_cu[kind] * a.compute_units * a.clock_mhz * 1e6
        assert found == pytest.approx(peak * 1e12, rel=5e-3), kind


CDNA3 = ("gfx942", "gfx950")
GCN_AND_CDNA = ("gfx906", "gfx908", "gfx90a", *CDNA3)


@each
def test_what_hip_says_of_launches_and_versions(a: Architecture) -> None:
    """hipDeviceProp_t on all: 1,024 threads, grids of 2³¹ − 1 by 65,536 by 65,536; gfx ids are their versions."""
    assert (a.max_threads_per_block, a.max_block) == (1024, (1024, 1024, 1024))
    assert a.max_grid == (2**31 - 1, 65536, 65536)
    digits = a.name.removeprefix("gfx")
    assert (a.major, a.minor, a.stepping) == (int(digits[:-2]), int(digits[-2], 16), int(digits[-1], 16))
    assert a.image_support == (a.name not in GCN_AND_CDNA)  # CDNA has no texture units
    # s_memrealtime: ROCm, wall_clock64 and hipDeviceAttributeWallClockRate
    assert a.wall_clock_khz == (25_000 if a.name in ("gfx906", "gfx908", "gfx90a") else 100_000)
    assert a.barriers_per_cu == 16  # "CDNA 3" and "RDNA 3" ISA guides, workgroups with barriers


@each
def test_counters_and_waits(a: Architecture) -> None:
    """LLVM, "User Guide for AMDGPU Backend", memory model: vscnt from gfx10 on, dscnt and kmcnt apart from gfx12 on."""
    assert a.separate_store_counter == (a.major >= 10)
    assert a.separate_lds_counter == (a.major >= 12)
    assert a.flat_counts_as_lds == (a.name in ("gfx906", "gfx908", "gfx90a"))
    assert a.lds_reads_grouped == (a.name in ("gfx906", "gfx908", "gfx90a", "gfx942"))


@each
def test_issue(a: Architecture) -> None:
    """LLVM, SISchedule.td; "CDNA 3" guide: a wave of 64 on 16 lanes takes 4 clocks, "RDNA 3": one of 32 takes one."""
    old = a.name in GCN_AND_CDNA
    assert (a.vector_issue_clocks, a.scalar_issue_clocks, a.wave_cycle_clocks) == ((4, 4, 4) if old else (1, 1, 1))
    two_passes = a.name in ("gfx906", "gfx908")
    assert (a.vector_latency_clocks, a.wide_issue_clocks) == ((4, 8 if two_passes else 4) if old else (5, 2))
    assert (a.transcendental_issue_clocks, a.multiply_issue_clocks) == ((16, 8 if two_passes else 4) if old else (4, 4))
    assert a.separate_transcendental_unit == (not old)
    assert a.double_issue_clocks == {"gfx906": 16, "gfx908": 8}.get(a.name, 4 if old else 16 if a.major < 12 else 32)
    assert (a.barrier_clocks, a.branch_clocks, a.atomic_clocks) == ((16, 16, 4) if old else (8, 8, 4))
    assert a.mfma_f64_passes == (16 if a.name == "gfx950" else 8)  # of 4 clocks, for 16x16x4: LLVM, SISchedule.td
    assert a.mfma_halved == (a.name not in ("gfx906", "gfx908", "gfx90a"))


@each
def test_what_was_measured(a: Architecture) -> None:
    """docs/timing.md, "Constants": latencies, shares of peaks and rates, with their sources there."""
    old, new = a.name in GCN_AND_CDNA, a.name in CDNA3
    assert a.lds_latency_clocks == (51 if new else 50 if old else 31)
    assert a.vector_cache.latency_clocks == (116 if new else 124 if old else 73)
    assert a.l2_cache.latency_clocks == (287 if new else 302 if old else 210)
    assert a.shader_array_cache is None or a.shader_array_cache.latency_clocks == 110
    one, each = (0.63, 0.47) if a.name == "gfx90a" else (0.5 if old else 1.1, 0.0)
    assert (a.launch_latency_us, a.workgroups_per_clock, a.wave_dispatch_clocks) == (1.5 if old else 2.9, one, each)
    # ROCm/legacy-rocm-build, issue 6409: microseconds for each of 512 launches, in a stream and in a graph
    plain, in_a_graph = {
        "gfx1201": (2.567, 2.147), "gfx1200": (2.567, 2.147), "gfx1151": (1.837, 1.752),
    }.get(a.name, (3.129, 2.815))  # fmt: skip
    assert a.graph_saving_us == pytest.approx(plain - in_a_graph, abs=0.006)
    assert (a.workgroup_start_clocks, a.waves_per_clock) == (150, 1.0)
    assert (a.l1_bytes_per_clock, a.l1_fill_bytes_per_clock) == (128 if new else 64, 64)
    assert a.l1_pair_bytes_per_clock == (32 if a.name in ("gfx908", "gfx90a") else 0)
    assert (a.l1_lane_clocks, a.l1_scattered_clocks) == ((1.0, 2.0) if old else (2.0, 1.0))
    assert a.vector_cache.bytes_per_clock == (128 if new or a.major > 10 else 64)
    assert a.l2_efficiency == {"gfx942": 0.45, "gfx906": 0.73, "gfx90a": 0.73}.get(a.name, 0.88)
    like_gfx1030 = a.major in (10, 12)
    assert a.memory_efficiency == (0.82 if new else 0.83 if old else 0.89 if like_gfx1030 else 0.87)
    if old:
        assert (a.memory_latency_clocks, a.scalar_cache.latency_clocks) == (876 if new else 741, 48)
    else:  # nanoseconds of an RX 7900 XTX and an RX 6900 XT
        assert a.memory_latency_clocks == pytest.approx(235 * a.clock_mhz / 1000, abs=0.6)
        assert a.scalar_cache.latency_clocks == pytest.approx(15.5 * a.clock_mhz / 1000, abs=0.9)
    last = a.last_level_cache
    if new:
        assert last is not None
        assert (last.latency_clocks, last.bytes_per_clock, a.last_level_bandwidth) == (458, 8192, 11.9e12)
    elif last is not None:
        assert last.latency_clocks == pytest.approx(150 * a.clock_mhz / 1000, abs=0.6)
        assert a.last_level_bandwidth == {
            "gfx1030": 1.95e12, "gfx1100": 2.9e12, "gfx1101": 1.9e12, "gfx1201": 1.95e12
        }.get(a.name, 0.97e12)  # fmt: skip


@each
def test_buses(a: Architecture) -> None:
    """PCIe 3, 4 or 5 with its lanes, both ways counted once: 16, 32 or 64 GB/s; gfx1151 shares the host's memory."""
    rate = {"gfx906": 16, "gfx1102": 16, "gfx942": 64, "gfx950": 64, "gfx1200": 64, "gfx1201": 64, "gfx1151": 128}
    assert a.copy_bandwidth == rate.get(a.name, 32) * 1e9
    # data rate a pin: HBM2 two transfers a clock, HBM3 four, GDDR6 sixteen, LPDDR5X eight
    transfers = (
        4
        if a.memory_kind.startswith("HBM3")
        else 2
        if a.memory_kind.startswith("HBM")
        else 16
        if a.memory_kind.startswith("GDDR")
        else 8
    )
    assert a.memory_clock_mhz * 1e6 * transfers * a.memory_bus_bits / 8 == pytest.approx(a.memory_bandwidth, rel=0.03)


@each
def test_rates_of_other_types(a: Architecture) -> None:
    """Operations a clock and CU beside those of FP32: the data sheets' ratios (half rate, double rate, ...)."""
    rates = a.flops_per_clock_per_cu
    assert (rates["fp32 unpacked"], rates["fp16"]) == (128, 256)
    if a.name not in GCN_AND_CDNA:  # RDNA 2: 1/16 of FP32; RDNA 3: 1/32; RDNA 4: 1/64
        assert rates["fp64"] == {10: rates["fp32"] / 16, 11: rates["fp32"] / 32, 12: rates["fp32"] / 64}[a.major]
    if "matrix fp16" in rates:
        half = rates["matrix fp16"]
        assert half == {"gfx908": 1024, "gfx90a": 1024, "gfx942": 2048, "gfx950": 4096}.get(
            a.name, 512 * (a.major - 10)
        )
        assert rates["matrix bf16"] == (half / 2 if a.name == "gfx908" else half)
        double = a.major == 12 or a.name in CDNA3
        assert rates["matrix int8"] == (2 * half if double else half)
        assert rates.get("matrix fp8", 0) == (2 * half if double else 0)
    assert rates.get("matrix fp32", 0) == (256 if a.name in GCN_AND_CDNA[1:] else 0)


@each
def test_parts_of_caches(a: Architecture) -> None:
    """Shader arrays: two an engine. L2 of RDNA: so many slices of 64 bytes each way. Ways of L1: docs/counters.md."""
    if a.shader_array_cache is not None:
        assert a.shader_array_cache.instances == 2 * a.shader_engines
    slices = {"gfx1030": 32, "gfx1100": 48, "gfx1101": 32, "gfx1102": 16, "gfx1151": 16, "gfx1200": 16, "gfx1201": 32}
    if a.name in slices:
        assert a.l2_cache.bytes_per_clock == 64 * slices[a.name]
    if a.name == "gfx906":
        assert a.l2_cache.bytes_per_clock == 16 * 64  # 16 channels, as L2_RATES has of gfx908
    assert a.vector_cache.ways == (64 if a.name in GCN_AND_CDNA else {10: 4, 11: 32, 12: 0}[a.major])
    assert a.instruction_cache.ways == (8 if a.name in CDNA3 else 0)
    # What is not stated, or has no rate of its own, is 0.
    unknown = [a.scalar_cache.ways, a.scalar_cache.bytes_per_clock]
    unknown += [a.instruction_cache.bytes_per_clock, a.instruction_cache.latency_clocks]
    unknown += [a.shader_array_cache.bytes_per_clock] if a.shader_array_cache else []
    unknown += [a.last_level_cache.bytes_per_clock] if a.last_level_cache and a.name not in CDNA3 else []
    unknown += [a.last_level_bandwidth] if a.last_level_cache is None else []
    assert not any(unknown)
    assert a.instruction_cache.line_bytes == (128 if a.major == 11 or a.major == 12 or a.name in CDNA3 else 64)


def test_the_devices_that_are_there_when_nobody_asks_for_others() -> None:
    assert {a.name: a.default_place for a in DEVICES if a.default_place} == {"gfx942": 1, "gfx1100": 2}


@each
def test_revisions(a: Architecture) -> None:
    """rocminfo, "ASIC Revision"."""
    assert a.asic_revision == (0 if a.major == 11 or a.name == "gfx950" else 1)
