"""What only some providers can do, and the one place that says so: `instruments`, `analysis`, `lacking`."""

from __future__ import annotations

from gpulab.errors import CapabilityError
from gpulab.providers import registry
from gpulab.providers.provider import CAPABILITIES, Instruments, Provider

HINT = 'select a virtual device first, e.g. gpulab.use("virtual:gfx942").'


def lacking(provider: Provider, capability: str) -> CapabilityError:
    """The error for what a provider lacks, with its own reason.

    Args:
        capability: one of `provider.CAPABILITIES`.
    """
    found = registry.registry()
    here = found.devices()[found.first(provider) + provider.current()]
    return CapabilityError(
        f"{here.name} cannot {CAPABILITIES[capability]}.",
        why=f"{provider.lacks[capability]}.",
        hint=HINT if found.instruments() else "",
    )


def instruments(capability: str) -> Instruments:
    """What only a virtual GPU can do, of the selected device.

    Raises:
        CapabilityError: the selected device is hardware.
    """
    provider = registry.selected()
    found = provider.instruments
    if found is None:
        raise lacking(provider, capability)
    return found


def analysis() -> Instruments:
    """For what is asked of records and texts, not of a device: the instruments of the first provider that has some.

    Raises:
        CapabilityError: there is none.
    """
    found = registry.registry().instruments()
    if not found:
        raise lacking(registry.selected(), "costs")
    return found[0]
