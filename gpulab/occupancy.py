"""The occupancy calculator: `occupancy` shows how many waves of a kernel a compute unit holds, and what limits them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gpulab import architectures, providers
from gpulab.architectures.residency import Demand
from gpulab.errors import LaunchLimitError
from gpulab.records import KernelResources
from gpulab.views import occupancy as views
from gpulab.views.instrument import Instrument

if TYPE_CHECKING:
    from gpulab.module import Extent, Kernel


def resources(kernel: Kernel) -> KernelResources:
    """What a compiled kernel takes of a compute unit, as a record."""
    found = kernel.resources
    return KernelResources(
        kernel=kernel.name,
        arch=kernel.arch,
        vgprs=max(found.vgprs - found.agprs, 1),
        agprs=found.agprs,
        sgprs=found.sgprs,
        lds_bytes=found.lds_bytes,
        cu_mode=found.cu_mode,
    )


def occupancy(
    kernel: Kernel | None = None, block: Extent | None = None, dynamic_lds_bytes: int = 0, arch: str | None = None
) -> Instrument:
    """A calculator: how many workgroups and waves one compute unit (a WGP on RDNA) holds, which resource limits them,
    and what one more would take. `Kernel.occupancy` gives the numbers of one kernel alone.

    Args:
        kernel: whose registers and LDS it starts with; without one 64 VGPRs, 32 SGPRs and no LDS.
        block: threads of a workgroup, an int or a tuple of up to three; None: 256, or as many as the kernel allows.
        dynamic_lds_bytes: beside the kernel's static LDS.
        arch: the device shown first, e.g. "gfx1100"; that of the kernel, or of the device in use, if None.

    Raises:
        DeviceNotFound: there is no virtual device of this architecture.
        LaunchLimitError: the block is empty, or larger than the device allows.
    """
    from gpulab.module import kernel_of, lds_size, triple

    of = resources(kernel_of(kernel, "occupancy")) if kernel is not None else None
    device = architectures.get(arch or (of.arch if of else providers.devices()[providers.current()].arch))
    limit = device.max_threads_per_block
    if kernel is not None:
        limit = min(limit, kernel.resources.max_block_threads)
    if block is None:
        block = min(256, limit)
    threads = math.prod(triple(block, "block", "gpulab.occupancy"))
    if threads > limit:
        raise LaunchLimitError(f"a workgroup has 1 to {limit:,} threads here, not {threads:,}.")
    dynamic_lds_bytes = lds_size(dynamic_lds_bytes, "gpulab.occupancy")
    if of is None:
        demand = Demand(64, 0, 32, dynamic_lds_bytes, threads)
    else:
        rdna = device.simds_per_unit > device.simds_per_cu
        agprs = of.agprs if device.unified_vgprs else 0
        demand = Demand(
            of.vgprs, agprs, of.sgprs, of.lds_bytes + dynamic_lds_bytes, threads, cu_mode=of.cu_mode and rdna
        )
    return views.occupancy(device.name, demand, of, _asked(kernel, device.name, threads, dynamic_lds_bytes))


def _asked(kernel: Kernel | None, arch: str, threads: int, dynamic_lds_bytes: int) -> int | None:
    """What its library says on a real GPU that the kernel was compiled for; None where there is none in use."""
    provider, index = providers.selected(), providers.current()
    if kernel is None or provider.instruments is not None:
        return None
    if providers.devices()[index].arch != arch or kernel.arch != arch:
        return None
    return provider.occupancy(kernel._function(index), threads, dynamic_lds_bytes)
