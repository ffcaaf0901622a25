"""The roofs of a device: how many bytes a second each level of its memory gives, how many operations a second it does.

`memory_roofs` and `compute_roofs` compute them from an `Architecture`. Each has two rates: the peak, of the data sheet,
and what is achievable: the rate that the timing model uses, which for L2, Infinity Cache and memory is a measured share
of the peak (docs/timing.md has the sources).
"""

from __future__ import annotations

from dataclasses import dataclass

from gpulab.architectures.architecture import Architecture


@dataclass(frozen=True, slots=True)
class Roof:
    """One roof.

    Attributes:
        key: "LDS", "L1", "L2", "Infinity Cache", "memory", or of arithmetic "fp32 plain", "fp32 packed", "matrix fp16".
        name: for people: "HBM3", "FP32 packed".
        kind: "memory" or "compute".
        peak: GB/s (10⁹ bytes a second) or GFLOP/s, of the whole device at its peak clock.
        achievable: the same as the timing model has it.
        how: where the achievable rate comes from.
    """

    key: str
    name: str
    kind: str
    peak: float
    achievable: float
    how: str


def memory_roofs(a: Architecture) -> tuple[Roof, ...]:
    """The levels of memory, from the nearest to the farthest. LDS and L1: bytes a clock times compute units times
    clock. L2: bytes a clock of one L2 times L2s times clock. The peak of an Infinity Cache whose bytes a clock are not
    public is taken as the measured rate."""
    ghz = a.clock_mhz / 1000
    lds = a.lds_bytes_per_clock * a.compute_units * ghz
    l1 = a.vector_cache.bytes_per_clock * a.compute_units * ghz
    l1_model = a.l1_bytes_per_clock * a.compute_units * ghz
    l2 = a.l2_cache.bytes_per_clock * a.l2_cache.instances * ghz
    memory = a.memory_bandwidth / 1e9
    found = [
        Roof("LDS", "LDS", "memory", lds, lds, f"{a.lds_bytes_per_clock} bytes a clock and compute unit"),
        Roof("L1", "L1", "memory", max(l1, l1_model), l1_model,
             f"{a.l1_bytes_per_clock} bytes a clock and compute unit, for contiguous accesses"),
        Roof("L2", "L2", "memory", l2, l2 * a.l2_efficiency, f"{100 * a.l2_efficiency:.3g} % of the peak"),
    ]  # fmt: skip
    last = a.last_level_cache
    if last is not None:
        rate = a.last_level_bandwidth / 1e9
        peak = last.bytes_per_clock * last.instances * ghz
        how = f"{100 * rate / peak:.3g} % of the peak" if peak else "a measured rate; the peak is not public"
        found.append(Roof("Infinity Cache", "Infinity Cache", "memory", peak or rate, rate, how))
    found.append(
        Roof("memory", a.memory_kind, "memory", memory, memory * a.memory_efficiency,
             f"{100 * a.memory_efficiency:.3g} % of the peak")
    )  # fmt: skip
    return tuple(found)


_MATRIX = {"tf32": "TF32", "int8": "INT8", "int4": "INT4"}


def compute_roofs(a: Architecture) -> tuple[Roof, ...]:
    """The rates of arithmetic; a fused multiply-add is two operations.

    Packed FP32 is v_pk_fma_f32 on CDNA and a VOPD pair on RDNA 3 and 4, packed FP16 is v_pk_fma_f16. The plain rate of
    FP16 is that of a wave instruction with one operation a lane. Matrix rates are those without sparsity.
    """
    rates = dict(a.flops_per_clock_per_cu)
    plain = 2 * a.wave_size * a.simds_per_cu // a.vector_issue_clocks
    names = {"fp64": "FP64", "fp32 plain": "FP32", "fp32 packed": f"FP32 {a.doubled_fp32}", "fp16 plain": "FP16",
             "fp16 packed": "FP16 packed"}  # fmt: skip
    per_clock = {
        "fp64": rates.get("fp64", 0),
        "fp32 plain": rates.get("fp32 unpacked", plain),
        "fp32 packed": rates.get("fp32", 0) if rates.get("fp32", 0) > rates.get("fp32 unpacked", plain) else 0,
        "fp16 plain": plain,
        "fp16 packed": rates.get("fp16", 0),
    }
    for key, rate in rates.items():
        if key.startswith("matrix "):
            kind = key.removeprefix("matrix ")
            names[key] = f"{_MATRIX.get(kind, kind.upper())} matrix ({a.matrix_unit})"
            per_clock[key] = rate
    return tuple(
        Roof(key, names[key], "compute", gflops, gflops, f"{rate} operations a clock and compute unit")
        for key, rate in per_clock.items()
        if (gflops := rate * a.compute_units * a.clock_mhz / 1000)
    )
