"""What a GPU architecture is made of: `Architecture` holds sizes, limits, rates and names; nothing runs here.

Moving parts: `Cache` (one level), `Architecture` (one device). The numbers of a particular device are
in the module of its gfx name; `gpulab.architectures.get(name)` finds them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

FEATURES: Mapping[str, str] = {
    "mai-insts": "the instructions of CDNA 1: matrices, accumulation VGPRs, atomics on floats",
    "gfx90a-insts": "the instructions of CDNA 2; architectural and accumulation VGPRs share one file",
    "gfx940-insts": "the instructions of CDNA 3; caches are written back and dropped by scope",
    "gfx950-insts": "the instructions of CDNA 4",
    "xf32-insts": "matrix instructions that take f32 with fewer bits of fraction",
    "salu-float": "the scalar unit adds, multiplies and compares floats",
    "packed-tid": "v0 holds all three coordinates of a work-item, not v0, v1 and v2 one each",
    "architected-flat-scratch": "the wave's scratch is set up by hardware, not by the kernel from SGPRs",
    "architected-sgprs": "the workgroup's coordinates are in trap registers, not in SGPRs",
}
"""What a device may have beside its generation, by the name of LLVM's subtarget feature (AMDGPU.td)."""


@dataclass(frozen=True, slots=True)
class Cache:
    """One cache level.

    Attributes:
        bytes: size of one instance.
        line_bytes: size of a line.
        ways: associativity; 0 where it is not public.
        shared_by: what one instance serves, e.g. "CU", "2 CUs", "XCD", "device".
        instances: how many the device has.
        bytes_per_clock: bytes that one instance delivers per clock; 0 where it is not public.
        latency_clocks: measured load latency in clocks; 0 where it is not public.
        random: in the timing model a new line takes the place of any other, not of the one used the longest ago.
    """

    bytes: int
    line_bytes: int
    ways: int
    shared_by: str
    instances: int
    bytes_per_clock: int = 0
    latency_clocks: int = 0
    random: bool = False


@dataclass(frozen=True, slots=True)
class Architecture:
    """Everything about one device that code or a learner may ask for.

    All sizes are bytes, all clocks MHz unless the name says otherwise. "Unit" is what HIP calls a
    multiprocessor: a compute unit (CU) on CDNA, a work-group processor (WGP, two CUs) on RDNA in its
    default mode.
    """

    # Names
    name: str  # gfx name: "gfx942"
    product: str  # "AMD Instinct MI300X"
    family: str  # "CDNA 3", "RDNA 3"
    gcn_arch_name: str  # hipDeviceProp_t.gcnArchName, with features: "gfx942:sramecc+:xnack-"
    major: int  # compute capability as HIP reports it
    minor: int
    stepping: int
    pci_chip_id: int
    asic_revision: int

    # Instructions
    generation: str  # "gfx9", "gfx10", "gfx11" or "gfx12": virtual_gpu/isa/generations/
    features: frozenset[str]  # of FEATURES
    matrix_unit: str  # the name of its matrix instructions: "MFMA", "WMMA"; "" if it has none
    doubled_fp32: str  # how one instruction does two FP32 operations a lane: "packed", "dual-issue"; "" if none does
    separate_store_counter: bool  # waits for stores are apart from those for loads: vscnt, storecnt
    separate_lds_counter: bool  # waits for LDS are apart from those for scalar loads: dscnt

    # Counting
    counters: str  # whose hardware counters it has: one of `counter_names.SETS`
    wave_cycle_clocks: int  # clocks in one count of SQ_WAVE_CYCLES and the SQ's other levels
    flat_counts_as_lds: bool  # SQ_INSTS_LDS counts FLAT instructions as well
    sq_serves: str  # what one SQ issues for: "shader engine" or "unit"

    # Compute
    wave_size: int
    compute_units: int
    unit_name: str  # "CU" or "WGP": what HIP calls a multiprocessor
    multiprocessors: int  # units, as HIP counts them
    simds_per_cu: int
    simds_per_unit: int
    simd_lanes: int  # lanes that one SIMD executes per clock
    max_waves_per_simd: int
    shader_engines: int
    xcds: int  # accelerator dies; workgroups go round-robin over them
    barriers_per_unit: int  # workgroups of more than one wave that one unit can hold
    barriers_per_cu: int

    # Registers
    vgprs_per_simd: int  # registers of wave_size lanes
    vgpr_granule: int
    max_vgprs: int  # architectural VGPRs that a wave can address
    max_agprs: int
    unified_vgprs: bool  # VGPRs and AccVGPRs share one file
    sgprs_per_simd: int  # 0: SGPRs never limit occupancy
    sgpr_granule: int
    max_sgprs: int

    # LDS
    lds_bytes_per_cu: int
    lds_bytes_per_unit: int
    lds_granule: int
    max_lds_bytes_per_workgroup: int
    lds_banks: int  # that one wave sees
    lds_bank_bytes: int
    lds_bytes_per_clock: int  # per CU
    lds_latency_clocks: int
    lds_reads_grouped: bool  # 128-bit reads take their lanes in an order of their own: banks.grouped_phase

    # Limits of a launch
    max_threads_per_block: int
    max_block: tuple[int, int, int]
    max_grid: tuple[int, int, int]  # in blocks

    # Memory
    memory_bytes: int
    memory_bandwidth: float  # bytes a second
    memory_clock_mhz: int
    memory_bus_bits: int
    memory_latency_clocks: int
    memory_kind: str
    vector_cache: Cache
    scalar_cache: Cache
    instruction_cache: Cache
    shader_array_cache: Cache | None  # GL1 of RDNA
    l2_cache: Cache
    last_level_cache: Cache | None  # MALL / Infinity Cache

    # Clocks and issue
    clock_mhz: int
    wall_clock_khz: int  # rate of wall_clock64()
    copy_bandwidth: float  # host link, bytes a second each way
    launch_latency_us: float  # what each launch costs in a stream beside the kernel's own time
    vector_issue_clocks: int  # clocks that one plain wave VALU instruction occupies its SIMD
    transcendental_issue_clocks: int
    double_issue_clocks: int  # clocks that one FP64 FMA occupies its SIMD
    vector_latency_clocks: int  # clocks from issue to result
    scalar_issue_clocks: int
    flops_per_clock_per_cu: Mapping[str, int] = field(default_factory=dict)

    default_place: int = 0  # among the devices that are there when nobody asks for others, from 1; 0: not among them
    graph_saving_us: float = 0.31  # what a kernel in a graph costs less of launch_latency_us (docs/timing.md)
    image_support: bool = False
    unified_memory: bool = False  # an APU: host and device share memory

    # What the timing model needs besides; docs/timing.md has the sources. The defaults are those of CDNA.
    wide_issue_clocks: int = 4  # 64-bit integer operations: shifts, moves
    multiply_issue_clocks: int = 4  # 32-bit integer multiply
    separate_transcendental_unit: bool = False  # works beside the plain vector unit
    scalar_latency_clocks: int = 4  # from issue to result
    vector_bank_ports: int = 0  # registers a clock that each of four banks gives; 0: they never conflict
    branch_clocks: int = 16  # of one wave, until its next instruction
    barrier_clocks: int = 16  # beside the waiting
    workgroup_start_clocks: int = 150  # from a free place to the first instruction
    workgroups_per_clock: float = 0.5  # that the dispatcher of one die starts, waves apart
    wave_dispatch_clocks: float = 0.0  # that it takes beside for each wave of a workgroup
    waves_per_clock: float = 1.0  # that one shader engine starts
    l1_bytes_per_clock: int = 64  # that a vector L1 gives for contiguous accesses
    l1_pair_bytes_per_clock: int = 0  # the same for loads of 8 bytes a lane; 0: as others
    l1_scattered_clocks: float = 2.0  # for each 64-byte block of other accesses
    l1_lane_clocks: float = 1.0  # for each of their lanes, at most
    l1_fill_bytes_per_clock: int = 64  # from L2 into one vector L1
    l2_channel_bytes_per_clock: int = 0  # of l2_cache.bytes_per_clock, from each of its channels; 0: a line
    l2_efficiency: float = 0.6  # measured share of the L2's peak
    last_level_bandwidth: float = 0.0  # measured, bytes a second
    memory_efficiency: float = 0.82  # measured share of memory_bandwidth in a copy
    atomic_clocks: int = 4  # between two atomics on one address in L2
    mfma_f64_passes: int = 8  # of four clocks, for a 16x16x4 FP64 product (LLVM, SISchedule.td)
    mfma_halved: bool = True  # one block of a type narrower than FP32 takes half the passes (LLVM, SISchedule.td)

    def __post_init__(self) -> None:
        if not self.features <= set(FEATURES):
            unknown = ", ".join(sorted(self.features - set(FEATURES)))
            raise ValueError(f"{self.name} states features that FEATURES does not explain: {unknown}")

    @property
    def l2_channels(self) -> int:
        """Channels of all L2 caches."""
        each = self.l2_channel_bytes_per_clock or self.l2_cache.line_bytes
        return self.l2_cache.bytes_per_clock // each * self.xcds

    def has(self, feature: str) -> bool:
        """Whether it states a feature of `FEATURES`.

        Raises:
            KeyError: there is no such feature.
        """
        if feature not in FEATURES:
            raise KeyError(feature)
        return feature in self.features

    @property
    def cus_per_unit(self) -> int:
        """Compute units in one multiprocessor: 2 in a WGP."""
        return self.simds_per_unit // self.simds_per_cu

    @property
    def max_waves_per_unit(self) -> int:
        """Waves that one unit holds when nothing but the wave slots limits it."""
        return self.max_waves_per_simd * self.simds_per_unit

    @property
    def max_threads_per_unit(self) -> int:
        """hipDeviceProp_t.maxThreadsPerMultiProcessor: wave slots of a unit times lanes (clr: rocdevice.cpp)."""
        return self.max_waves_per_unit * self.wave_size

    @property
    def registers_per_unit(self) -> int:
        """hipDeviceProp_t.regsPerBlock: VGPRs per SIMD times SIMDs per unit times lanes (clr: rocdevice.cpp)."""
        return self.vgprs_per_simd * self.simds_per_unit * self.wave_size

    @property
    def peak_gflops_fp32(self) -> float:
        """Peak vector FP32 rate in GFLOP/s, packed or dual-issued instructions included."""
        return self.flops_per_clock_per_cu.get("fp32", 0) * self.compute_units * self.clock_mhz / 1000.0

    def waves(self, threads: int) -> int:
        """Waves that a workgroup of `threads` threads takes."""
        return -(-threads // self.wave_size)
