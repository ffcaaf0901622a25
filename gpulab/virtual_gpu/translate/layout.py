"""The memory layout that translated code, the C support code and Python share: `WAVE` fields with their offsets.

One list of fields gives the offsets for IR (`offset`), the C declaration (`c_struct`) and a ctypes structure
(`ctypes_fields`). Scalar registers are numbered as the hardware's operand encodings are: s0.. at 0, VCC 106,
M0 124, EXEC 126; SCC follows at 128 and FLAT_SCRATCH at 130.
"""

from __future__ import annotations

from typing import Any

VCC, TTMP, M0, NULL, EXEC, SCC, FLAT_SCRATCH, XNACK = 106, 108, 124, 125, 126, 128, 130, 132
SCALARS = 136

# What a translated kernel returns.
ENDED, BARRIER, YIELD, FAULT = 0, 1, 2, 3

# Address spaces and kinds of access of a memory instruction, as the support code knows them.
SPACES = {"global": 0, "flat": 1, "lds": 2, "scratch": 3}
ACCESSES = {"read": 0, "write": 1, "atomic": 2}

# Why a wave was stopped; the numbers are those in support.c.
FAULTS = (
    "",
    "out of bounds",
    "null",
    "misaligned",
    "freed",
    "read-only",
    "lds out of bounds",
    "scratch out of bounds",
    "timeout",
    "trap",
    "barrier",
    "bad jump",
)

# Code addresses: instruction i is at CODE_BASE + INSTRUCTION_BYTES * i, as in machine/dispatch.py.
CODE_BASE, INSTRUCTION_BYTES = 0x0003_0000_0000_0000, 8
# The high halves of the flat apertures of LDS and scratch.
SHARED_BASE, PRIVATE_BASE = 0x0001_0000, 0x0002_0000

WAVE: tuple[tuple[str, str, int], ...] = (
    ("scalars", "u32", SCALARS),
    ("vgprs", "u64", 1),
    ("lds", "u64", 1),
    ("scratch", "u64", 1),
    ("cache", "u64", 1),  # u32 pairs (first byte's low half, bytes) per memory instruction
    ("counters", "u64", 1),  # u64 per basic block
    ("symbols", "u64", 1),  # u32 per symbol operand: its value after relocation
    ("active", "u64", 1),  # u64 per instruction: lanes active, when profiling
    ("blend", "u64", 1),  # 256 masks of 8 lanes
    ("resolve", "u64", 1),  # support code's gpulab_resolve
    ("load", "u64", 1),  # support code's gpulab_load
    ("store", "u64", 1),  # support code's gpulab_store
    ("stop", "u64", 1),  # support code's gpulab_stop
    ("search", "u64", 1),  # support code's gpulab_scalar
    ("cross", "u64", 1),  # support code's gpulab_cross
    ("clock", "u64", 1),  # support code's gpulab_clock
    ("matrix", "u64", 1),  # support code's gpulab_matrix
    ("arena", "u64", 1),
    ("thread", "u64", 1),
    ("budget", "i64", 1),
    ("steps", "i64", 1),  # instructions left before the limit
    ("dummy", "u64", 4),  # where inactive lanes load from and store to
    ("high", "u32", 1),
    ("pc", "u32", 1),
    ("lds_bytes", "u32", 1),
    ("scratch_bytes", "u32", 1),
    ("index", "u32", 1),
    ("status", "u32", 1),
    ("group", "u32", 3),
    ("first_instruction", "u32", 1),
)
_SIZES = {"u32": 4, "u64": 8, "i64": 8}


def _offsets() -> tuple[dict[str, int], int]:
    offsets, at = {}, 0
    for name, kind, count in WAVE:
        size = _SIZES[kind]
        at = -(-at // size) * size
        offsets[name] = at
        at += size * count
    return offsets, -(-at // 64) * 64


OFFSETS, WAVE_BYTES = _offsets()


def offset(name: str) -> int:
    """Bytes from the start of a wave's state to one of its fields."""
    return OFFSETS[name]


def c_struct() -> str:
    """The C declaration of a wave's state."""
    lines = [f"  {kind} {name}{f'[{count}]' if count > 1 else ''};" for name, kind, count in WAVE]
    return "typedef struct Wave {\n" + "\n".join(lines) + "\n} __attribute__((aligned(64))) Wave;\n"


def ctypes_fields() -> list[tuple[str, Any]]:
    """The fields for a ctypes.Structure."""
    import ctypes

    kinds = {"u32": ctypes.c_uint32, "u64": ctypes.c_uint64, "i64": ctypes.c_int64}
    return [(name, kinds[kind] * count if count > 1 else kinds[kind]) for name, kind, count in WAVE]
