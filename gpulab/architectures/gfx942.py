"""AMD Instinct MI300X (CDNA 3, gfx942): `ARCHITECTURE`.

Sources: ROCm documentation "Accelerator and GPU hardware specifications" and "AMD Instinct MI300 series
microarchitecture"; AMD CDNA 3 white paper; LLVM AMDGPUBaseInfo.cpp (granules, wave and barrier limits);
latencies as measured by caps-tum/mt4g on an MI300X VF and by Chips and Cheese.
"""

from gpulab.architectures.architecture import Architecture, Cache

KIB, MIB = 1024, 1024 * 1024

ARCHITECTURE = Architecture(
    name="gfx942",
    product="AMD Instinct MI300X",
    family="CDNA 3",
    gcn_arch_name="gfx942:sramecc+:xnack-",
    major=9,
    minor=4,
    stepping=2,
    pci_chip_id=0x74A1,
    asic_revision=1,
    wave_size=64,
    compute_units=304,
    unit_name="CU",
    multiprocessors=304,
    simds_per_cu=4,
    simds_per_unit=4,
    simd_lanes=16,
    max_waves_per_simd=8,
    shader_engines=32,
    xcds=8,
    barriers_per_unit=16,
    barriers_per_cu=16,
    vgprs_per_simd=512,
    vgpr_granule=8,
    max_vgprs=256,
    max_agprs=256,
    unified_vgprs=True,
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
    lds_latency_clocks=51,
    max_threads_per_block=1024,
    max_block=(1024, 1024, 1024),
    max_grid=(2**31 - 1, 65536, 65536),
    # 192 GB less what the driver keeps: the total that HIP reports on an MI300X (196,592 MiB).
    memory_bytes=196_592 * MIB,
    memory_bandwidth=5.3e12,
    memory_clock_mhz=1300,
    memory_bus_bits=8192,
    memory_latency_clocks=876,
    memory_kind="HBM3",
    vector_cache=Cache(32 * KIB, 128, 64, "CU", 304, bytes_per_clock=128, latency_clocks=116),
    scalar_cache=Cache(16 * KIB, 64, 0, "2 CUs", 152, latency_clocks=48),
    instruction_cache=Cache(64 * KIB, 128, 8, "2 CUs", 152),
    shader_array_cache=None,
    l2_cache=Cache(4 * MIB, 128, 16, "XCD", 8, bytes_per_clock=2048, latency_clocks=287),
    # 218 ns (Chips and Cheese) at 2100 MHz.
    last_level_cache=Cache(256 * MIB, 64, 16, "device", 1, bytes_per_clock=8192, latency_clocks=458),
    clock_mhz=2100,
    wall_clock_khz=100_000,
    copy_bandwidth=64e9,  # PCIe 5.0 x16
    launch_latency_us=1.5,
    # A wave64 instruction takes four cycles on a 16-lane SIMD; transcendentals run at quarter rate.
    vector_issue_clocks=4,
    transcendental_issue_clocks=16,
    double_issue_clocks=4,
    vector_latency_clocks=4,
    scalar_issue_clocks=4,
    flops_per_clock_per_cu={
        "fp64": 128,
        "fp32": 256,
        "fp32 unpacked": 128,
        "fp16": 256,
        "matrix fp64": 256,
        "matrix fp32": 256,
        "matrix tf32": 1024,
        "matrix fp16": 2048,
        "matrix bf16": 2048,
        "matrix fp8": 4096,
        "matrix int8": 4096,
    },
    image_support=False,
    # Timing (docs/timing.md): L2 14,365 GiB/s of 34.4 TB/s (mt4g), Infinity Cache 11.9 TB/s (Chips and Cheese),
    # copies 4.35 of 5.3 TB/s (BabelStream).
    l1_bytes_per_clock=128,
    l2_efficiency=0.45,
    last_level_bandwidth=11.9e12,
    memory_efficiency=0.82,
)
