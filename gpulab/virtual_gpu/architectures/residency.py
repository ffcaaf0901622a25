"""How many workgroups one unit (CU or WGP) holds at a time: `occupancy` computes an `Occupancy`.

The hardware answer follows LLVM's AMDGPUBaseInfo.cpp (register, LDS and barrier granules); the API answer
follows HIP's hipOccupancyMaxActiveBlocksPerMultiprocessor (clr, hip_platform.cpp), which knows neither the
LDS granule nor the barrier limit and so can be larger than what the hardware holds.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpulab.virtual_gpu.architectures.architecture import Architecture


@dataclass(frozen=True, slots=True)
class Occupancy:
    """The answer, per unit.

    Attributes:
        unit: "CU" or "WGP".
        blocks: workgroups that one unit holds at a time (hardware).
        waves: their waves.
        max_waves: wave slots of the unit.
        waves_per_simd: waves that the registers allow on one SIMD.
        limits: what each resource alone would allow, in workgroups; a resource that never binds is absent.
        binding: the resources that allow no more than `blocks`, e.g. ("VGPRs", "LDS").
        limit: the first of `binding`.
        api_blocks: what HIP's occupancy call returns for the same kernel.
    """

    unit: str
    blocks: int
    waves: int
    max_waves: int
    waves_per_simd: int
    limits: dict[str, int]
    binding: tuple[str, ...]
    api_blocks: int

    @property
    def limit(self) -> str:
        return self.binding[0] if self.binding else ""

    @property
    def fraction(self) -> float:
        """Share of the wave slots in use, 0 to 1."""
        return self.waves / self.max_waves

    @property
    def percent(self) -> float:
        return 100.0 * self.fraction


def _up(value: int, granule: int) -> int:
    return -(-value // granule) * granule


def allocated_vgprs(architecture: Architecture, vgprs: int, agprs: int = 0) -> int:
    """Registers that a wave really takes: AccVGPRs start at a multiple of 4 in a unified file, and the
    sum is rounded up to the granule."""
    total = _up(vgprs, 4) + agprs if architecture.unified_vgprs and agprs else vgprs
    return _up(max(total, 1), architecture.vgpr_granule)


def waves_by_sgprs(architecture: Architecture, sgprs: int) -> int:
    """Waves per SIMD that the SGPRs allow (VCC and the other reserved ones included in `sgprs`)."""
    if not architecture.sgprs_per_simd:
        return architecture.max_waves_per_simd
    for limit, waves in ((80, 10), (88, 9), (100, 8)):
        if sgprs <= limit:
            return min(waves, architecture.max_waves_per_simd)
    return min(7, architecture.max_waves_per_simd)


def occupancy(
    architecture: Architecture,
    vgprs: int,
    agprs: int = 0,
    sgprs: int = 0,
    lds_bytes: int = 0,
    block_threads: int = 256,
    cu_mode: bool = False,
) -> Occupancy:
    """Workgroups and waves that one unit holds.

    Args:
        architecture: the device.
        vgprs: architectural VGPRs of the kernel.
        agprs: AccVGPRs of the kernel (CDNA).
        sgprs: SGPRs of the kernel, VCC and reserved ones included.
        lds_bytes: static and dynamic LDS of one workgroup, in bytes.
        block_threads: threads of one workgroup, 1 to 1024.
        cu_mode: RDNA only: the kernel was compiled with -mcumode, so a workgroup stays in one CU.

    Raises:
        ValueError: `block_threads` is outside 1 to max_threads_per_block.
    """
    if not 1 <= block_threads <= architecture.max_threads_per_block:
        raise ValueError(f"a workgroup has 1 to {architecture.max_threads_per_block} threads, not {block_threads}")
    cu_mode = cu_mode or architecture.simds_per_unit == architecture.simds_per_cu
    simds = architecture.simds_per_cu if cu_mode else architecture.simds_per_unit
    lds_pool = architecture.lds_bytes_per_cu if cu_mode else architecture.lds_bytes_per_unit
    barriers = architecture.barriers_per_cu if cu_mode else architecture.barriers_per_unit
    max_waves = architecture.max_waves_per_simd
    wpg = architecture.waves(block_threads)

    registers = allocated_vgprs(architecture, vgprs, agprs)
    by_vgprs = max(1, min(max_waves, architecture.vgprs_per_simd // registers))
    by_sgprs = waves_by_sgprs(architecture, sgprs)
    waves_per_simd = min(by_vgprs, by_sgprs)

    limits = {"wave slots": max_waves * simds // wpg, "VGPRs": by_vgprs * simds // wpg}
    if architecture.sgprs_per_simd:
        limits["SGPRs"] = by_sgprs * simds // wpg
    if lds_bytes > 0:
        limits["LDS"] = (
            lds_pool // _up(lds_bytes, architecture.lds_granule)
            if lds_bytes <= architecture.max_lds_bytes_per_workgroup
            else 0
        )
    if wpg > 1:
        limits["barriers"] = barriers
    blocks = min(limits.values())
    binding = tuple(name for name, value in limits.items() if value == blocks)
    if blocks == limits["wave slots"]:
        # All slots that whole workgroups can use are used: nothing but the slots binds.
        binding = ("wave slots",)
    return Occupancy(
        unit="CU" if cu_mode else architecture.unit_name,
        blocks=blocks,
        waves=blocks * wpg,
        max_waves=max_waves * simds,
        waves_per_simd=waves_per_simd,
        limits=limits,
        binding=binding,
        api_blocks=api_blocks(architecture, vgprs, agprs, sgprs, lds_bytes, block_threads, cu_mode=cu_mode),
    )


def api_blocks(
    architecture: Architecture,
    vgprs: int,
    agprs: int = 0,
    sgprs: int = 0,
    lds_bytes: int = 0,
    block_threads: int = 256,
    cu_mode: bool = False,
) -> int:
    """What hipOccupancyMaxActiveBlocksPerMultiprocessor returns: threads that the registers allow, divided by
    the block rounded up to whole waves, and LDS divided without its granule (clr, hip_platform.cpp)."""
    threads = api_threads(architecture, vgprs, agprs, sgprs, cu_mode)
    blocks = threads // _up(block_threads, architecture.wave_size)
    if lds_bytes > 0:
        blocks = min(blocks, architecture.max_lds_bytes_per_workgroup // lds_bytes)
    return blocks


def api_threads(architecture: Architecture, vgprs: int, agprs: int = 0, sgprs: int = 0, cu_mode: bool = False) -> int:
    """Threads of one unit that HIP's occupancy formula allows by registers alone."""
    waves = architecture.max_waves_per_simd
    total = _up(vgprs, 4) + agprs if architecture.unified_vgprs and agprs else vgprs
    if total > 0:
        waves = min(waves, architecture.vgprs_per_simd // _up(total, architecture.vgpr_granule))
    if sgprs > 0 and architecture.sgprs_per_simd:
        waves = min(waves, architecture.sgprs_per_simd // _up(sgprs, architecture.sgpr_granule))
    simds = architecture.simds_per_cu if cu_mode else architecture.simds_per_unit
    return waves * simds * architecture.wave_size
