"""AMD Radeon RX 9070 XT (RDNA 4, gfx1201): `ARCHITECTURE`.

Sources: ROCm documentation "Accelerator and GPU hardware specifications"; RDNA 4 ISA guide (LDS granule); AMD's
product page (clocks, memory, matrix rates); LLVM AMDGPUBaseInfo.cpp (1536 registers in steps of 24 for wave32, 16
waves a SIMD); rocminfo of an RX 9070 XT (chip, line size, shader engines, memory). Latencies are those of the RX 7900
XTX in ns.
"""

from gpulab.architectures.architecture import Architecture, Cache

KIB, MIB = 1024, 1024 * 1024

ARCHITECTURE = Architecture(
    name="gfx1201",
    product="AMD Radeon RX 9070 XT",
    family="RDNA 4",
    gcn_arch_name="gfx1201",
    major=12,
    minor=0,
    stepping=1,
    pci_chip_id=0x7550,
    asic_revision=1,
    generation="gfx12",
    features=frozenset(("packed-tid", "architected-flat-scratch", "architected-sgprs", "salu-float")),
    matrix_unit="WMMA",
    doubled_fp32="dual-issue",
    separate_store_counter=True,
    separate_lds_counter=True,
    counters="gfx1201",
    wave_cycle_clocks=1,
    flat_counts_as_lds=False,
    sq_serves="unit",
    wave_size=32,
    compute_units=64,
    unit_name="WGP",
    multiprocessors=32,
    simds_per_cu=2,
    simds_per_unit=4,
    simd_lanes=32,
    max_waves_per_simd=16,
    shader_engines=4,
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
    memory_bytes=16_304 * MIB,  # 16 GB less what the driver keeps: rocminfo's 16,695,296 KB
    memory_bandwidth=640e9,
    memory_clock_mhz=1250,
    memory_bus_bits=256,
    memory_latency_clocks=698,  # 235 ns
    memory_kind="GDDR6",
    vector_cache=Cache(32 * KIB, 128, 0, "CU", 64, bytes_per_clock=128, latency_clocks=73),
    scalar_cache=Cache(16 * KIB, 64, 0, "WGP", 32, latency_clocks=46),  # 15.4 ns
    instruction_cache=Cache(32 * KIB, 128, 0, "WGP", 32),
    shader_array_cache=None,
    l2_cache=Cache(8 * MIB, 256, 16, "device", 1, bytes_per_clock=2048, latency_clocks=210),
    last_level_cache=Cache(64 * MIB, 64, 16, "device", 1, latency_clocks=446),  # 150 ns
    clock_mhz=2970,
    wall_clock_khz=100_000,
    copy_bandwidth=64e9,  # PCIe 5.0 x16
    launch_latency_us=2.9,
    graph_saving_us=0.42,
    vector_issue_clocks=1,
    transcendental_issue_clocks=4,
    double_issue_clocks=32,
    vector_latency_clocks=5,
    scalar_issue_clocks=1,
    flops_per_clock_per_cu={
        "fp64": 4,
        "fp32": 256,
        "fp32 unpacked": 128,
        "fp16": 256,
        "matrix fp16": 1024,
        "matrix bf16": 1024,
        "matrix fp8": 2048,
        "matrix int8": 2048,
        "matrix int4": 4096,
    },
    image_support=True,
    # Timing (docs/timing.md): nothing is measured here; clocks and shares of the peak are those of the RX 6900 XT.
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
    last_level_bandwidth=1.95e12,
    memory_efficiency=0.89,
)
