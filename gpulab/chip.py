"""The drawing of a device: `chip("TCC_HIT_sum")` marks the parts that a counter belongs to."""

from __future__ import annotations

from gpulab import architectures, providers
from gpulab.views import chip as views
from gpulab.views.instrument import Instrument


def chip(mark: str = "", arch: str | None = None) -> Instrument:
    """A drawing of a device and of one of its compute units, with the parts marked that something belongs to.

    Args:
        mark: a hardware counter ("TCC_HIT_sum"), a metric ("FETCH_SIZE"), a block of counters ("TCC") or a part ("L2");
            "" marks nothing.
        arch: the device, e.g. "gfx1100"; that of the device in use if None.

    Raises:
        CounterNotFound: the device has nothing of the name `mark`.
        DeviceNotFound: there is no virtual device of this architecture.
    """
    return views.chip(architectures.get(arch or providers.devices()[providers.current()].arch), mark)
