"""The architectures that gpulab knows: `get(name)` gives an `Architecture`, `names()` lists them.

`occupancy(...)` answers how many workgroups one compute unit holds, as the hardware does it and as HIP's
own interface computes it.
"""

from __future__ import annotations

from gpulab.architectures.architecture import Architecture, Cache
from gpulab.architectures.gfx90a import ARCHITECTURE as _GFX90A
from gpulab.architectures.gfx942 import ARCHITECTURE as _GFX942
from gpulab.architectures.gfx950 import ARCHITECTURE as _GFX950
from gpulab.architectures.gfx1030 import ARCHITECTURE as _GFX1030
from gpulab.architectures.gfx1100 import ARCHITECTURE as _GFX1100
from gpulab.architectures.gfx1201 import ARCHITECTURE as _GFX1201
from gpulab.architectures.residency import Occupancy, occupancy

__all__ = ["Architecture", "Cache", "Occupancy", "get", "names", "occupancy"]

_ALL: dict[str, Architecture] = {
    architecture.name: architecture for architecture in (_GFX942, _GFX1100, _GFX90A, _GFX950, _GFX1030, _GFX1201)
}


def names() -> tuple[str, ...]:
    """The gfx names of all architectures, those of the default devices first."""
    return tuple(_ALL)


def get(name: str) -> Architecture:
    """The architecture with this gfx name; a target ID ("gfx942:sramecc+") is taken by its first part.

    Raises:
        DeviceNotFound: gpulab has no virtual device of this architecture.
    """
    found = _ALL.get(name.strip().partition(":")[0])
    if found is None:
        from gpulab.errors import DeviceNotFound

        raise DeviceNotFound(
            f"There is no virtual GPU of architecture {name!r}.",
            why=f"gpulab's virtual GPUs are {', '.join(_ALL)}.",
            hint=f"use one of these names, e.g. {next(iter(_ALL))!r}.",
        )
    return found
