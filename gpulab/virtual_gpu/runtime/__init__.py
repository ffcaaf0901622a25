"""HIP's semantics on virtual GPUs: one `Runtime` per process, reached with `instance()`.

Moving parts, each built on those before it: `codes`, `structures`, `properties`, `moments` (modelled time), `device`
(one device's state), `context` (what all calls share: devices, the current one, pending faults, listeners), `streams`
(streams and events), `memory` (allocations and copies), `modules` (code objects, kernels, launches), `linked` (kernels
of linked programs), `graphs` and `capture` (graphs, and streams that are captured into them), with their
`graph_structures`, and `runtime.Runtime`, which puts them together. Addresses are machine addresses of this process;
everything else is known by integer handles. Kernels run when they are launched; streams order modelled time, not work.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpulab.virtual_gpu.runtime.runtime import Runtime

_lock = threading.Lock()
_instance: Runtime | None = None


def instance(guarded: bool = False) -> Runtime:
    """The runtime of this process, made on first use from GPULAB_DEVICES and GPULAB_INSTRUCTION_LIMIT.

    Args:
        guarded: on first use: host code that follows a device pointer is to be stopped (machine/arena.py).

    Raises:
        DeviceNotFound: GPULAB_DEVICES names an architecture that gpulab does not have.
    """
    global _instance
    if _instance is None:
        with _lock:
            if _instance is None:
                from gpulab.virtual_gpu.machine.arena import Arena
                from gpulab.virtual_gpu.runtime.runtime import Runtime

                _instance = Runtime(arena=Arena(guarded))
    return _instance
