"""HIP's semantics on virtual GPUs: one `Runtime` per process, reached with `instance()`.

Moving parts: `core.Runtime` (devices, current device, faults, listeners), and what it is put together from:
`memory` (allocations and copies), `streams` (streams, events, modelled time), `modules` (code objects, kernels,
launches), `rtc` (hiprtc programs), `properties`, `structures`, `codes`. Addresses are machine addresses of this
process; everything else is known by integer handles. Kernels run when they are launched; streams order
modelled time, not work.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpulab.virtual_gpu.runtime.core import Runtime

_lock = threading.Lock()
_instance: Runtime | None = None


def instance() -> Runtime:
    """The runtime of this process, made on first use from GPULAB_DEVICES and GPULAB_INSTRUCTION_LIMIT.

    Raises:
        DeviceNotFound: GPULAB_DEVICES names an architecture that gpulab does not have.
    """
    global _instance
    if _instance is None:
        with _lock:
            if _instance is None:
                from gpulab.virtual_gpu.runtime.core import Runtime

                _instance = Runtime()
    return _instance
