"""AMD Instinct MI100 (CDNA 1, gfx908): `ARCHITECTURE`.

Sources: ROCm documentation "GPU hardware specifications" and "AMD Instinct MI100 microarchitecture" (compute units,
caches, peaks, memory, eight shader engines of 15); clinfo of one in CLRX/CLRX-mirror, issue 34 (chip, clock); AMD
CDNA white paper (32 slices of L2 of 128 bytes a clock); LLVM AMDGPUBaseInfo.cpp (256 registers in steps of 4, 10
waves a SIMD, accumulation VGPRs in a file of their own). Taken from the MI250X (gfx90a): latencies in clocks, shares
of peaks, the set of counters.
Not checked against their sources: total memory, the rate of L2.
"""

from gpulab.architectures.architecture import Architecture, Cache

KIB, MIB = 1024, 1024 * 1024

ARCHITECTURE = Architecture(
    name="gfx908",
    product="AMD Instinct MI100",
    family="CDNA 1",
    gcn_arch_name="gfx908:sramecc+:xnack-",
    major=9,
    minor=0,
    stepping=8,
    pci_chip_id=0x738C,
    asic_revision=1,
    generation="gfx9",
    features=frozenset(("mai-insts",)),
    matrix_unit="MFMA",
    doubled_fp32="",
    separate_store_counter=False,
    separate_lds_counter=False,
    counters="gfx90a",
    wave_cycle_clocks=4,
    flat_counts_as_lds=True,
    sq_serves="shader engine",
    wave_size=64,
    compute_units=120,
    unit_name="CU",
    multiprocessors=120,
    simds_per_cu=4,
    simds_per_unit=4,
    simd_lanes=16,
    max_waves_per_simd=10,
    shader_engines=8,
    xcds=1,
    barriers_per_unit=16,
    barriers_per_cu=16,
    vgprs_per_simd=256,
    vgpr_granule=4,
    max_vgprs=256,
    max_agprs=256,
    unified_vgprs=False,
    sgprs_per_simd=800,
    sgpr_granule=16,
    max_sgprs=102,
    lds_bytes_per_cu=64 * KIB,
    lds_bytes_per_unit=64 * KIB,
    lds_granule=512,
    max_lds_bytes_per_workgroup=64 * KIB,
    lds_banks=32,
    lds_bank_bytes=4,
    lds_bytes_per_clock=128,
    lds_latency_clocks=50,
    lds_reads_grouped=True,
    max_threads_per_block=1024,
    max_block=(1024, 1024, 1024),
    max_grid=(2**31 - 1, 65536, 65536),
    memory_bytes=32_752 * MIB,  # 32 GB less what the driver keeps
    memory_bandwidth=1.2288e12,
    memory_clock_mhz=1200,
    memory_bus_bits=4096,
    memory_latency_clocks=741,
    memory_kind="HBM2",
    vector_cache=Cache(16 * KIB, 64, 64, "CU", 120, bytes_per_clock=64, latency_clocks=124),
    scalar_cache=Cache(16 * KIB, 64, 0, "3 CUs", 40, latency_clocks=48),
    instruction_cache=Cache(32 * KIB, 64, 0, "3 CUs", 40),
    shader_array_cache=None,
    l2_cache=Cache(8 * MIB, 128, 16, "device", 1, bytes_per_clock=4096, latency_clocks=302),
    last_level_cache=None,
    clock_mhz=1502,
    wall_clock_khz=25_000,
    copy_bandwidth=32e9,  # PCIe 4.0 x16
    launch_latency_us=1.5,
    # A wave64 instruction takes four cycles on a 16-lane SIMD; transcendentals run at quarter rate.
    vector_issue_clocks=4,
    transcendental_issue_clocks=16,
    double_issue_clocks=8,
    vector_latency_clocks=4,
    scalar_issue_clocks=4,
    flops_per_clock_per_cu={
        "fp64": 64,
        "fp32": 128,
        "fp32 unpacked": 128,
        "fp16": 256,
        "matrix fp32": 256,
        "matrix fp16": 1024,
        "matrix bf16": 512,
        "matrix int8": 1024,
    },
    image_support=False,
    # Timing (docs/timing.md): as measured on the MI210 (gfx90a); loads of 8 bytes a lane from L1 at 5.6 TB/s, others at
    # 10.3 TB/s (te42kyfo/gpu-benches, gpu-cache, MI100).
    l1_pair_bytes_per_clock=32,
    l2_efficiency=0.73,
    memory_efficiency=0.83,
    mfma_halved=False,
)
