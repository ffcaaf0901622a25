"""How many float operations a launch did, and how many bytes each level of memory moved for it: `work` makes a `Work`.

Both come from the costs of a profile on a virtual device, or from the counters of a real one. docs/roofline.md has the
formulas and their sources.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gpulab import architectures, metrics
from gpulab.architectures import Architecture
from gpulab.architectures.roofs import memory_roofs
from gpulab.errors import CounterNotFound
from gpulab.records import InstructionCost, Launch

_OPERATIONS = {"add": 1, "mul": 1, "fma": 2, "trans": 1}
_MATRIX = {"i8": "int8", "f8": "fp8", "xf32": "tf32", "f6f4": "fp6", "bf16": "bf16", "f16": "fp16", "f32": "fp32",
           "f64": "fp64"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Work:
    """What one launch, or several of one kernel, did.

    Attributes:
        kernel, arch, launches: whose, where, and how many.
        us: their time in microseconds; overhead_us: what the launches themselves cost of it; modelled: or measured.
        limiter: what most of the modelled time is spent on (`ModelledTime.limiter`); "" where it was measured.
        flops: operations by kind, the key of a compute roof; a fused multiply-add is two.
        bytes: by level, the key of a memory roof; a level that is not known is absent.
        issue_clocks: clocks of all vector ALU instructions, and float_clocks: of those that do float operations.
        lanes: share of lanes active in the instructions that do float operations, 0 to 1; 1 if not known.
        sampled: memory accesses of some workgroups only were looked at.
    """

    kernel: str
    arch: str
    launches: int
    us: float
    overhead_us: float
    modelled: bool
    limiter: str
    flops: Mapping[str, float]
    bytes: Mapping[str, float]
    issue_clocks: float = 0.0
    float_clocks: float = 0.0
    lanes: float = 1.0
    sampled: bool = False
    limits: Mapping[str, float] = field(default_factory=dict)  # microseconds by limiter

    @property
    def total(self) -> float:
        """All float (and matrix) operations."""
        return sum(self.flops.values())

    @property
    def gflops(self) -> float:
        """Billions of operations a second."""
        return self.total / self.us / 1000 if self.us else 0.0


def operations(cost: InstructionCost, arch: Architecture) -> tuple[str, float, bool]:
    """(kind, operations, per lane) of one execution of an instruction: for each active lane, or, of a matrix
    instruction, for the whole wave. ("", 0, True) if it does no float operations. The rules are in
    virtual_gpu/machine/counters.py (`float_operations`)."""
    for name, amount in cost.amounts:
        if name.startswith("mops_"):
            kind = _MATRIX[name.removeprefix("mops_")]
            key = f"matrix {kind}"
            if key not in arch.flops_per_clock_per_cu and kind == "fp6":
                key = "matrix fp8"
            return key, 512 * amount, False
    return (*cost.flops, True)


def work(launch: Launch) -> Work:
    """The work of one launch.

    Raises:
        CounterNotFound: it was measured on a real GPU without the counters that this needs (`counters`).
    """
    return _of_costs(launch) if launch.instructions or launch.time_is_modelled else _of_counters(launch)


def _of_costs(launch: Launch) -> Work:
    a = architectures.get(launch.arch)
    flops: dict[str, float] = {}
    issue = floats = lanes = slots = 0.0
    for cost in launch.instructions:
        kind, each, by_lane = operations(cost, a)
        clocks = dict(cost.amounts).get("valu_clocks", 0.0) * cost.executed
        issue += clocks
        done = each * (cost.active_lanes if by_lane else cost.executed)
        if not done:
            continue
        flops[kind] = flops.get(kind, 0.0) + done
        floats += clocks
        if by_lane:
            lanes += cost.active_lanes
            slots += cost.executed * a.wave_size
    time = launch.time
    return Work(
        kernel=launch.kernel, arch=launch.arch, launches=1, us=launch.time_us,
        overhead_us=time.overhead_us if time else 0.0, modelled=time is not None, limiter=time.limiter if time else "",
        flops=flops, bytes=_bytes(launch, a), issue_clocks=issue, float_clocks=floats,
        lanes=lanes / slots if slots else 1.0, sampled=launch.sampled is not None,
        limits={time.limiter: time.us} if time else {},
    )  # fmt: skip


def _bytes(launch: Launch, a: Architecture) -> dict[str, float]:
    """Bytes by level. LDS and L1: what active lanes ask for. L2: lines that loads request of it, and 64 bytes for each
    request of a store or atomic. Beyond: what the timing model takes, which its clocks for that level say."""
    found = {"LDS": 0.0, "L1": 0.0, "L2": 0.0}
    for access in launch.accesses:
        in_lds = access.lanes if access.space == "lds" else access.lds_lanes
        found["LDS"] += in_lds * access.bytes
        if access.space == "lds":
            continue
        if access.space != "scalar":
            found["L1"] += (access.lanes - in_lds) * access.bytes
        found["L2"] += access.l2_requests * (access.line_bytes if access.action == "load" else 64)
    time = launch.time
    if time is not None:
        for roof in memory_roofs(a):
            part = f"{roof.name} bandwidth"
            if roof.key in ("Infinity Cache", "memory") and part in time.parts:
                found[roof.key] = time.parts[part] / time.clock_mhz * roof.achievable * 1000
    return found


def counters(arch: str) -> tuple[str, ...]:
    """What to profile on a real GPU so that `work` can count: empty where its counters do not tell float operations
    (RDNA)."""
    if arch not in metrics.architectures("float_operations"):
        return ()
    kinds = [f"SQ_INSTS_VALU_{what.upper()}_{kind}" for kind in ("F16", "F32", "F64") for what in _OPERATIONS]
    known = set(metrics.names(arch))
    matrix = [f"SQ_INSTS_VALU_MFMA_MOPS_{kind.upper()}" for kind in _MATRIX]
    rest = ["TCP_TOTAL_CACHE_ACCESSES_sum", "SQ_LDS_IDX_ACTIVE", "SQ_LDS_BANK_CONFLICT", "l2_bytes", "memory_bytes"]
    return tuple(name for name in (*kinds, *matrix, *rest) if name in known)


def _of_counters(launch: Launch) -> Work:
    a = architectures.get(launch.arch)
    needed = counters(launch.arch)
    if not needed:
        raise CounterNotFound(
            f"{a.product} ({a.name}) has no counters for float operations.",
            why="a roofline needs to know how many a kernel did.",
            hint=f'profile it on gpulab.use("virtual:{a.name}").',
        )
    values = {}
    for name in needed:
        try:
            values[name] = metrics.value(launch, name)
        except CounterNotFound:
            values[name] = math.nan
    flops: dict[str, float] = {}
    for name, value in values.items():
        what = re.fullmatch(r"SQ_INSTS_VALU_(ADD|MUL|FMA|TRANS)_F(16|32|64)", name)
        matrix = re.fullmatch(r"SQ_INSTS_VALU_MFMA_MOPS_(\w+)", name)
        if what:
            kind, done = f"fp{what[2]}" + ("" if what[2] == "64" else " plain"), _OPERATIONS[what[1].lower()] * 64
        elif matrix:
            kind, done = f"matrix {_MATRIX[matrix[1].lower()]}", 512
        else:
            continue
        if value:
            flops[kind] = flops.get(kind, 0.0) + done * value
    if any(math.isnan(value) for value in flops.values()):
        names = ", ".join(f'"{name}"' for name in needed)
        raise CounterNotFound(
            f"this run of {launch.kernel} was measured without the counters of float operations.",
            why="a real GPU counts only what a profile asks for.",
            hint=f"with gpulab.profile({names}) as run: ...",
        )
    lds = 4 * a.lds_banks * (values["SQ_LDS_IDX_ACTIVE"] - values["SQ_LDS_BANK_CONFLICT"])
    l1 = a.vector_cache.line_bytes * values["TCP_TOTAL_CACHE_ACCESSES_sum"]
    far = "memory" if a.last_level_cache is None else "Infinity Cache"
    moved = {"LDS": lds, "L1": l1, "L2": values["l2_bytes"], far: values["memory_bytes"]}
    return Work(
        kernel=launch.kernel, arch=launch.arch, launches=1, us=launch.time_us, overhead_us=0.0, modelled=False,
        limiter="", flops=flops, bytes={name: value for name, value in moved.items() if not math.isnan(value)},
    )  # fmt: skip


def together(parts: Sequence[Work]) -> Work:
    """Several launches on one architecture as one: operations, bytes and times added up."""
    first = parts[0]
    limits = _sum(part.limits for part in parts)
    clocks = sum(part.float_clocks for part in parts)
    levels = [set(part.bytes) for part in parts]
    return Work(
        kernel=first.kernel, arch=first.arch, launches=sum(part.launches for part in parts),
        us=sum(part.us for part in parts), overhead_us=sum(part.overhead_us for part in parts),
        modelled=first.modelled, limiter=max(limits, key=lambda name: limits[name]) if limits else "",
        flops=_sum(part.flops for part in parts),
        bytes={k: v for k, v in _sum(part.bytes for part in parts).items() if all(k in level for level in levels)},
        issue_clocks=sum(part.issue_clocks for part in parts), float_clocks=clocks,
        lanes=sum(part.lanes * part.float_clocks for part in parts) / clocks if clocks else first.lanes,
        sampled=any(part.sampled for part in parts), limits=limits,
    )  # fmt: skip


def _sum(parts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in parts:
        for name, value in part.items():
            found[name] = found.get(name, 0.0) + value
    return found
