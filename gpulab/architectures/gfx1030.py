"""AMD Radeon RX 6800 XT (RDNA 2, gfx1030): `ARCHITECTURE`.

Sources: ROCm documentation "Accelerator and GPU hardware specifications"; AMD's product page (clocks, memory); LLVM
AMDGPUBaseInfo.cpp (1024 registers in steps of 16 for wave32, 16 waves a SIMD); Mesa's ACO compiler (LDS is given in
steps of 1,024 bytes from GFX10.3 on); rocminfo of Navi 21 (memory, shader engines). The latency of LDS, and
in ns those of the scalar cache, the Infinity Cache and memory, are those of the RX 7900 XTX.
"""

from gpulab.architectures.architecture import Architecture, Cache

KIB, MIB = 1024, 1024 * 1024

ARCHITECTURE = Architecture(
    name="gfx1030",
    product="AMD Radeon RX 6800 XT",
    family="RDNA 2",
    gcn_arch_name="gfx1030",
    major=10,
    minor=3,
    stepping=0,
    pci_chip_id=0x73BF,
    asic_revision=1,
    generation="gfx10",
    features=frozenset(),
    matrix_unit="",
    doubled_fp32="",
    separate_store_counter=True,
    separate_lds_counter=False,
    counters="gfx1030",
    wave_cycle_clocks=1,
    flat_counts_as_lds=False,
    sq_serves="unit",
    wave_size=32,
    compute_units=72,
    unit_name="WGP",
    multiprocessors=36,
    simds_per_cu=2,
    simds_per_unit=4,
    simd_lanes=32,
    max_waves_per_simd=16,
    shader_engines=4,
    xcds=1,
    barriers_per_unit=32,
    barriers_per_cu=16,
    vgprs_per_simd=1024,
    vgpr_granule=16,
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
    memory_bytes=16_368 * MIB,  # 16 GB less what the driver keeps: rocminfo's 16,760,832 KB
    memory_bandwidth=512e9,
    memory_clock_mhz=1000,
    memory_bus_bits=256,
    memory_latency_clocks=529,  # 235 ns
    memory_kind="GDDR6",
    vector_cache=Cache(16 * KIB, 128, 4, "CU", 72, bytes_per_clock=64, latency_clocks=73),
    scalar_cache=Cache(16 * KIB, 64, 0, "WGP", 36, latency_clocks=35),  # 15.4 ns
    instruction_cache=Cache(32 * KIB, 64, 0, "WGP", 36),
    shader_array_cache=Cache(128 * KIB, 128, 16, "shader array", 8, latency_clocks=110),
    l2_cache=Cache(4 * MIB, 128, 16, "device", 1, bytes_per_clock=2048, latency_clocks=210),
    last_level_cache=Cache(128 * MIB, 64, 16, "device", 1, latency_clocks=338),  # 150 ns
    clock_mhz=2250,
    wall_clock_khz=100_000,
    copy_bandwidth=32e9,  # PCIe 4.0 x16
    launch_latency_us=2.9,
    # SIMD32 issues one wave32 instruction each clock and has the result five clocks later.
    vector_issue_clocks=1,
    transcendental_issue_clocks=4,
    double_issue_clocks=16,  # FP64 at 1/16 of the FP32 rate
    vector_latency_clocks=5,
    scalar_issue_clocks=1,
    flops_per_clock_per_cu={"fp64": 8, "fp32": 128, "fp32 unpacked": 128, "fp16": 256},
    image_support=True,
    # Timing (docs/timing.md): latencies of L0 and L2, L2 4.6 TB/s, Infinity Cache 1.95 TB/s and copies 456 of 512 GB/s
    # as te42kyfo/gpu-benches measured on an RX 6900 XT.
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
