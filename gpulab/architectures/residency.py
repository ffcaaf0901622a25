"""How many workgroups one unit (CU or WGP) holds at a time: `occupancy` computes an `Occupancy`.

The hardware answer follows LLVM's AMDGPUBaseInfo.cpp (register, LDS and barrier granules); the API answer
follows HIP's hipOccupancyMaxActiveBlocksPerMultiprocessor (clr, hip_platform.cpp), which knows neither the
LDS granule nor the barrier limit and so can be larger than what the hardware holds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gpulab.architectures.architecture import Architecture


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
    """Registers that a wave really takes, rounded up to the granule. In a unified file AccVGPRs start at a multiple of
    4 behind the others; elsewhere the two files are equally large, and the one that more is taken of counts."""
    total = _up(vgprs, 4) + agprs if architecture.unified_vgprs and agprs else max(vgprs, agprs)
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
    total = _up(vgprs, 4) + agprs if architecture.unified_vgprs and agprs else max(vgprs, agprs)
    if total > 0:
        waves = min(waves, architecture.vgprs_per_simd // _up(total, architecture.vgpr_granule))
    if sgprs > 0 and architecture.sgprs_per_simd:
        waves = min(waves, architecture.sgprs_per_simd // _up(sgprs, architecture.sgpr_granule))
    simds = architecture.simds_per_cu if cu_mode else architecture.simds_per_unit
    return waves * simds * architecture.wave_size


@dataclass(frozen=True, slots=True)
class Demand:
    """What one workgroup of a kernel asks of a unit; the attributes are the arguments of `occupancy`."""

    vgprs: int = 64
    agprs: int = 0
    sgprs: int = 0
    lds_bytes: int = 0
    block_threads: int = 256
    cu_mode: bool = False

    def held(self, architecture: Architecture) -> Occupancy:
        """Workgroups and waves that one unit holds of it; see `occupancy`.

        Raises:
            ValueError: as `occupancy`.
        """
        return occupancy(
            architecture, self.vgprs, self.agprs, self.sgprs, self.lds_bytes, self.block_threads, self.cu_mode
        )

    def registers(self, architecture: Architecture) -> int:
        """VGPRs and AccVGPRs of a wave before they are rounded up to the granule."""
        if architecture.unified_vgprs and self.agprs:
            return _up(self.vgprs, 4) + self.agprs
        return max(self.vgprs, self.agprs, 1)


@dataclass(frozen=True, slots=True)
class Change:
    """One resource that has to shrink: from `now` to `needed` or less. resource: as in `Occupancy.limits`."""

    resource: str
    now: int
    needed: int


def one_more(architecture: Architecture, demand: Demand) -> tuple[tuple[Change, ...], Occupancy | None]:
    """What it takes to get one more workgroup into a unit with the same block size: every change of the first part is
    needed, each the smallest that does, and the second part is what the unit then holds.

    Returns ((), None) if no change of registers or LDS can do it: wave slots or barriers are used up.
    """
    held = demand.held(architecture)
    target = held.blocks + 1
    changes = []
    for name, allowed in held.limits.items():
        if allowed >= target:
            continue
        if name in ("wave slots", "barriers"):
            return (), None
        now = _amount(architecture, demand, name)
        needed = _largest(architecture, demand, name, target, now - 1)
        changes.append(Change(name, now, needed))
        demand = _with(architecture, demand, name, needed)
    return tuple(changes), demand.held(architecture)


def room(architecture: Architecture, demand: Demand) -> dict[str, int]:
    """The largest amount of each resource with which a unit holds as many workgroups as now: "VGPRs" (AccVGPRs
    included), "SGPRs" where they limit, "LDS" in bytes. Empty if it holds none."""
    blocks = demand.held(architecture).blocks
    if not blocks:
        return {}
    found = {"VGPRs": _largest(architecture, demand, "VGPRs", blocks, architecture.max_vgprs + architecture.max_agprs)}
    if architecture.sgprs_per_simd:
        found["SGPRs"] = _largest(architecture, demand, "SGPRs", blocks, architecture.max_sgprs + RESERVED_SGPRS)
    found["LDS"] = _largest(architecture, demand, "LDS", blocks, architecture.max_lds_bytes_per_workgroup)
    return found


RESERVED_SGPRS = 6
"""VCC, FLAT_SCRATCH and XNACK_MASK, two each, beside those that a kernel names (LLVM, AMDGPUUsage)."""


def _amount(architecture: Architecture, demand: Demand, resource: str) -> int:
    if resource == "VGPRs":
        return demand.registers(architecture)
    return demand.lds_bytes if resource == "LDS" else demand.sgprs


def _with(architecture: Architecture, demand: Demand, resource: str, amount: int) -> Demand:
    if resource == "LDS":
        return replace(demand, lds_bytes=amount)
    if resource == "SGPRs":
        return replace(demand, sgprs=amount)
    agprs = 0 if architecture.unified_vgprs else demand.agprs  # in one file the sum counts alone
    return replace(demand, vgprs=amount, agprs=agprs)


def _largest(architecture: Architecture, demand: Demand, resource: str, blocks: int, most: int) -> int:
    """The largest amount of a resource, `most` at most, that alone allows so many workgroups. (The smallest amount of
    each allows as many as there are wave slots.)"""
    low, high = 0, most
    while low < high:  # what a resource allows never grows with its amount
        middle = (low + high + 1) // 2
        changed = _with(architecture, demand, resource, middle).held(architecture)
        if changed.limits.get(resource, blocks) >= blocks:
            low = middle
        else:
            high = middle - 1
    return low


def api_limits(architecture: Architecture, demand: Demand) -> dict[str, int]:
    """What each resource allows by HIP's occupancy formula, in workgroups; see `api_blocks`."""
    simds = architecture.simds_per_cu if demand.cu_mode else architecture.simds_per_unit
    waves = architecture.waves(demand.block_threads)
    limits = {
        "wave slots": architecture.max_waves_per_simd * simds // waves,
        "VGPRs": api_threads(architecture, demand.vgprs, demand.agprs, 0, demand.cu_mode)
        // (waves * architecture.wave_size),
    }
    if architecture.sgprs_per_simd:
        limits["SGPRs"] = api_threads(architecture, 0, 0, demand.sgprs, demand.cu_mode) // (
            waves * architecture.wave_size
        )
    if demand.lds_bytes > 0:
        limits["LDS"] = architecture.max_lds_bytes_per_workgroup // demand.lds_bytes
    return limits
