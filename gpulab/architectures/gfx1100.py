"""AMD Radeon RX 7900 XTX (RDNA 3, gfx1100): `ARCHITECTURE`.

Sources: ROCm documentation "Accelerator and GPU hardware specifications"; RDNA 3 ISA guide (LDS granule
in section 3.3, banks in 12.1); LLVM AMDGPUBaseInfo.cpp (granules, wave and barrier limits); latencies
as measured by Chips and Cheese, turned into clocks at 2.5 GHz.
"""

from gpulab.architectures.architecture import Architecture, Cache

KIB, MIB = 1024, 1024 * 1024

ARCHITECTURE = Architecture(
    name="gfx1100",
    product="AMD Radeon RX 7900 XTX",
    family="RDNA 3",
    gcn_arch_name="gfx1100",
    major=11,
    minor=0,
    stepping=0,
    pci_chip_id=0x744C,
    asic_revision=0,
    generation="gfx11",
    features=frozenset(("packed-tid", "architected-flat-scratch")),
    matrix_unit="WMMA",
    doubled_fp32="dual-issue",
    separate_store_counter=True,
    separate_lds_counter=False,
    counters="gfx1100",
    wave_cycle_clocks=1,
    flat_counts_as_lds=False,
    sq_serves="unit",
    wave_size=32,
    compute_units=96,
    unit_name="WGP",
    multiprocessors=48,
    simds_per_cu=2,
    simds_per_unit=4,
    simd_lanes=32,
    max_waves_per_simd=16,
    shader_engines=6,
    xcds=1,
    barriers_per_unit=32,
    barriers_per_cu=16,
    vgprs_per_simd=1536,
    vgpr_granule=24,
    max_vgprs=256,
    max_agprs=0,
    unified_vgprs=False,
    sgprs_per_simd=0,  # every wave has its own 106
    sgpr_granule=16,
    max_sgprs=106,
    lds_bytes_per_cu=64 * KIB,
    lds_bytes_per_unit=128 * KIB,
    lds_granule=1024,
    max_lds_bytes_per_workgroup=64 * KIB,
    lds_banks=32,
    lds_bank_bytes=4,
    lds_bytes_per_clock=128,
    lds_latency_clocks=31,
    lds_reads_grouped=False,
    max_threads_per_block=1024,
    max_block=(1024, 1024, 1024),
    max_grid=(2**31 - 1, 65536, 65536),
    # 24 GB less what the driver keeps: the total that HIP reports on an RX 7900 XTX (24,560 MiB).
    memory_bytes=24_560 * MIB,
    memory_bandwidth=960e9,
    memory_clock_mhz=1249,
    memory_bus_bits=384,
    memory_latency_clocks=588,  # 235 ns
    memory_kind="GDDR6",
    vector_cache=Cache(32 * KIB, 128, 32, "CU", 96, bytes_per_clock=128, latency_clocks=73),
    scalar_cache=Cache(16 * KIB, 64, 0, "WGP", 48, latency_clocks=39),  # 15.4 ns
    instruction_cache=Cache(32 * KIB, 128, 0, "WGP", 48),
    shader_array_cache=Cache(256 * KIB, 128, 16, "shader array", 12, latency_clocks=110),
    l2_cache=Cache(6 * MIB, 128, 16, "device", 1, bytes_per_clock=3072, latency_clocks=210),
    last_level_cache=Cache(96 * MIB, 64, 16, "device", 1, latency_clocks=375),  # 150 ns
    clock_mhz=2500,
    wall_clock_khz=100_000,
    copy_bandwidth=32e9,  # PCIe 4.0 x16
    launch_latency_us=2.9,
    # SIMD32 issues one wave32 instruction each clock and has the result five clocks later.
    vector_issue_clocks=1,
    transcendental_issue_clocks=4,
    double_issue_clocks=16,
    vector_latency_clocks=5,
    scalar_issue_clocks=1,
    flops_per_clock_per_cu={
        "fp64": 8,
        "fp32": 256,
        "fp32 unpacked": 128,
        "fp16": 256,
        "matrix fp16": 512,
        "matrix bf16": 512,
        "matrix int8": 512,
    },
    default_place=2,
    image_support=True,
    # Timing (docs/timing.md): where nothing is measured on Navi 31, what te42kyfo/gpu-benches measured on Navi 21: L0
    # and L2 latency, the L2's share of its peak, the Infinity Cache's rate times the ratio of the L2s.
    wide_issue_clocks=2,
    separate_transcendental_unit=True,
    scalar_latency_clocks=2,
    vector_bank_ports=2,
    branch_clocks=8,
    barrier_clocks=8,
    workgroup_start_clocks=150,
    workgroups_per_clock=1.1,
    l1_bytes_per_clock=64,
    l1_scattered_clocks=1.0,
    l1_lane_clocks=2.0,
    l2_efficiency=0.88,
    last_level_bandwidth=2.9e12,
    memory_efficiency=0.87,
)
