"""The architectures that gpulab knows: `get(name)` gives an `Architecture`, `names()` lists them.

Each stands in a module of this folder with its gfx name (gfx942.py), and is found by it: docs/add-a-device.md.
`occupancy(...)` answers how many workgroups one compute unit holds, as the hardware does it and as HIP's
own interface computes it.
"""

from __future__ import annotations

import pkgutil
import re
from functools import cache
from importlib import import_module

from gpulab.architectures.architecture import Architecture, Cache
from gpulab.architectures.residency import Occupancy, occupancy

__all__ = ["Architecture", "Cache", "Occupancy", "defaults", "find", "get", "names", "occupancy"]


@cache
def _all() -> dict[str, Architecture]:
    """By name: the default devices in their order, then the others from old to new."""
    modules = [module.name for module in pkgutil.iter_modules(__path__) if re.fullmatch(r"gfx[0-9a-f]+", module.name)]
    found: list[Architecture] = [import_module(f"{__name__}.{name}").ARCHITECTURE for name in modules]
    found.sort(key=lambda a: (not a.default_place, a.default_place, a.major, a.minor, a.stepping))
    return {architecture.name: architecture for architecture in found}


def names() -> tuple[str, ...]:
    """The gfx names of all architectures, those of the default devices first."""
    return tuple(_all())


def defaults() -> tuple[str, ...]:
    """The gfx names of the virtual devices that are there when nobody asks for others."""
    return tuple(name for name, architecture in _all().items() if architecture.default_place)


def find(name: str) -> Architecture | None:
    """The architecture with this gfx name, or None; a target ID ("gfx942:sramecc+") is taken by its first part."""
    return _all().get(name.strip().partition(":")[0])


def get(name: str) -> Architecture:
    """The architecture with this gfx name; a target ID ("gfx942:sramecc+") is taken by its first part.

    Raises:
        DeviceNotFound: gpulab has no virtual device of this architecture.
    """
    found = find(name) if isinstance(name, str) else None
    if found is None:
        from gpulab.errors import DeviceNotFound

        raise DeviceNotFound(
            f"There is no virtual GPU of architecture {name!r}.",
            why=f"gpulab's virtual GPUs are {', '.join(names())}.",
            hint=f"use one of these names, e.g. {names()[0]!r}.",
        )
    return found
