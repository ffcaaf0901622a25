"""A simple, deterministic model of how long a launch takes on the device: `model`.

    time = launch latency + max(issue, memory)

issue: all wave instructions, spread evenly over the SIMDs of as many compute units as there are workgroups for; a
vector instruction holds its SIMD `vector_issue_clocks`, others one issue slot of `scalar_issue_clocks`.
memory: vector memory instructions times four bytes per lane, at the device's memory bandwidth (no caches).
Latency, cache hits, conflicts and occupancy are not in it.
"""

from __future__ import annotations

from collections.abc import Mapping

from gpulab.virtual_gpu.architectures.architecture import Architecture


def model(architecture: Architecture, counters: Mapping[str, int], instructions: int, workgroups: int) -> float:
    """Modelled device time of a launch in microseconds."""
    units = max(1, min(architecture.compute_units, workgroups))
    vector = counters.get("SQ_INSTS_VALU", 0)
    clocks = vector * architecture.vector_issue_clocks + (instructions - vector) * architecture.scalar_issue_clocks
    issue = clocks / (units * architecture.simds_per_cu) / architecture.clock_mhz
    moved = sum(counters.get(n, 0) for n in ("SQ_INSTS_VMEM", "SQ_INSTS_TEX_LOAD", "SQ_INSTS_TEX_STORE"))
    memory = moved * architecture.wave_size * 4 / architecture.memory_bandwidth * 1e6
    return architecture.launch_latency_us + max(issue, memory)
