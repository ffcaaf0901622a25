"""AMD Radeon RX 7800 XT (RDNA 3, Navi 32, gfx1101): `ARCHITECTURE`.

Sources: ROCm documentation "GPU hardware specifications" (compute units, caches); AMD's product page (clocks, memory
rate and bus); rocminfo of an RX 7800 XT in lamikr/rocm_sdk_builder, issue 246 (chip, L2, Infinity Cache, CUs); LLVM
AMDGPUBaseInfo.cpp (1536 registers in steps of 24, 16 waves a SIMD); RDNA 3 ISA guide (LDS granule, banks). Taken from
the RX 7900 XTX (gfx1100): latencies in ns, shares of peaks, and by share of the memory dies (4 of 6) the rates of L2
and Infinity Cache. Total memory as of the RX 6800 XT, which has 16 GB, too. Two shader arrays each of three shader
engines, as Navi 31 has six engines for 96 CUs.
"""

from gpulab.architectures.architecture import Architecture, Cache

KIB, MIB = 1024, 1024 * 1024

ARCHITECTURE = Architecture(
    name="gfx1101",
    product="AMD Radeon RX 7800 XT",
    family="RDNA 3",
    gcn_arch_name="gfx1101",
    major=11,
    minor=0,
    stepping=1,
    pci_chip_id=0x747E,
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
    compute_units=60,
    unit_name="WGP",
    multiprocessors=30,
    simds_per_cu=2,
    simds_per_unit=4,
    simd_lanes=32,
    max_waves_per_simd=16,
    shader_engines=3,
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
    memory_bytes=16_368 * MIB,
    memory_bandwidth=624e9,
    memory_clock_mhz=1219,
    memory_bus_bits=256,
    memory_latency_clocks=571,  # 235 ns
    memory_kind="GDDR6",
    vector_cache=Cache(32 * KIB, 128, 32, "CU", 60, bytes_per_clock=128, latency_clocks=73),
    scalar_cache=Cache(16 * KIB, 64, 0, "WGP", 30, latency_clocks=37),  # 15.4 ns
    instruction_cache=Cache(32 * KIB, 128, 0, "WGP", 30),
    shader_array_cache=Cache(256 * KIB, 128, 16, "shader array", 6, latency_clocks=110),
    l2_cache=Cache(4 * MIB, 128, 16, "device", 1, bytes_per_clock=2048, latency_clocks=210),
    last_level_cache=Cache(64 * MIB, 64, 16, "device", 1, latency_clocks=365),  # 150 ns
    clock_mhz=2430,
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
    image_support=True,
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
    last_level_bandwidth=1.9e12,
    memory_efficiency=0.87,
)
