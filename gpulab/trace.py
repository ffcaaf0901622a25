"""The life of one wave, step by step: `trace` launches a kernel and keeps every register change of the chosen wave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpulab import hip
from gpulab.errors import LaunchLimitError

if TYPE_CHECKING:
    from gpulab.module import Extent, Kernel
    from gpulab.records import Trace


def trace(
    kernel: Kernel,
    grid: Extent,
    block: Extent,
    *arguments: Any,
    workgroup: Extent = 0,
    wave: int = 0,
    dynamic_lds_bytes: int = 0,
) -> Trace:
    """Launch the kernel as ``kernel[grid, block](*arguments)`` does, and record one wave of one workgroup.

    Args:
        kernel: what to launch; the launch has its full effect on memory.
        grid: workgroups, an int or a tuple of up to three.
        block: threads of a workgroup, an int or a tuple of up to three.
        arguments: the kernel's arguments.
        workgroup: which workgroup: its blockIdx.x, or (x, y, z).
        wave: which wave of that workgroup, from 0.
        dynamic_lds_bytes: as in a launch.

    Raises:
        LaunchLimitError: there is no such workgroup or wave, or the sizes are not allowed.
        KernelFault: the kernel was stopped.
    """
    launcher = kernel[grid, block, dynamic_lds_bytes]
    given = (workgroup,) if isinstance(workgroup, int) else tuple(workgroup)
    x, y, z = (*given, 0, 0, 0)[:3]
    chosen = (x, y, z)
    for axis, index, count in zip("xyz", chosen, launcher.grid, strict=True):
        if not 0 <= index < count:
            raise LaunchLimitError(
                f"there is no workgroup with blockIdx.{axis} = {index}: the grid has {count} along {axis}.",
                hint=f"workgroup= between 0 and {count - 1} along {axis}.",
            )
    wave_size = hip.devices()[hip.current()].wave_size
    threads = launcher.block[0] * launcher.block[1] * launcher.block[2]
    waves = -(-threads // wave_size)
    if not 0 <= wave < waves:
        raise LaunchLimitError(
            f"there is no wave {wave}: a workgroup of {threads} threads has {waves} "
            f"wave{'s' if waves > 1 else ''} of {wave_size} lanes.",
            hint=f"wave= between 0 and {waves - 1}.",
        )
    return launcher.traced(arguments, chosen, wave)
