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
ENDED, BARRIER, YIELD, FAULT, SLEEP = 0, 1, 2, 3, 4
ELSEWHERE = 5  # among the pieces of a large kernel: to go on at the pc, in another piece

# Address spaces and kinds of access of a memory instruction, as the support code knows them.
SPACES = {"global": 0, "flat": 1, "lds": 2, "scratch": 3, "scalar": 4}
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
    "grid barrier",
    "checked",
)

# What a checked kernel tells the checker beside its memory accesses; the numbers are those in checked.c.
NOTES = ("release", "step", "acquire", "fence")

# Counts of active lanes, when profiling; a row for each segment: how often all lanes of a wave were active (u64); how
# often not all of them (u64); of the latter, how often each lane was: lately (u8), and until then (u64), to which the
# former is added every 128 times.
LANE_BYTES, LANE_SUMS, LANE_ROW = 16, 80, 592  # offsets of the last two, size of a row

# Code addresses: instruction i is at CODE_BASE + INSTRUCTION_BYTES * i, as in virtual_gpu/dispatch.py.
CODE_BASE, INSTRUCTION_BYTES = 0x0000_1000_0000_0000, 8
# The high halves of the flat apertures of LDS and scratch.
SHARED_BASE, PRIVATE_BASE = 0x0001_0000, 0x0002_0000

WAVE: tuple[tuple[str, str, int], ...] = (
    ("scalars", "u32", SCALARS),
    ("vgprs", "u64", 1),
    ("lds", "u64", 1),
    ("scratch", "u64", 1),
    ("cache", "u64", 1),  # per memory instruction: the allocation that it used last (Allocation in support.c)
    ("counters", "u64", 1),  # u64 per basic block
    ("symbols", "u64", 1),  # u32 per symbol operand: its value after relocation
    ("active", "u64", 1),  # a row of lane counts per segment, when profiling
    ("blend", "u64", 1),  # 256 masks of 8 lanes
    ("resolve", "u64", 1),  # support code's gpulab_resolve
    ("load", "u64", 1),  # support code's gpulab_load
    ("store", "u64", 1),  # support code's gpulab_store
    ("stop", "u64", 1),  # support code's gpulab_stop
    ("search", "u64", 1),  # support code's gpulab_scalar
    ("cross", "u64", 1),  # support code's gpulab_cross
    ("clock", "u64", 1),  # support code's gpulab_clock
    ("matrix", "u64", 1),  # support code's gpulab_matrix
    ("round", "u64", 1),  # support code's gpulab_round
    ("observer", "u64", 1),  # what is told of each memory instruction; 0: nobody
    ("addresses", "u64", 1),  # Buffer, then u32[accesses of a run][2][wave_size]: low and high halves of addresses
    ("row", "u64", 1),  # support code's gpulab_row
    ("blind", "u64", 1),  # the table of allocations is empty and stays so
    ("arena", "u64", 1),
    ("thread", "u64", 1),
    ("checker", "u64", 1),  # its state
    ("shuffle", "u64", 1),  # checker's gpulab_shuffle
    ("note", "u64", 1),  # checker's gpulab_note; 0 in a launch that is not checked
    ("changed", "u64", 1),  # in a checked launch: lanes of a chunk whose store changed memory
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
    ("number", "u32", 1),  # of the workgroup
    ("mode", "u32", 1),  # MODE, kept up to date where it changes
    ("first_instruction", "u32", 1),
)
# What translated code and support code hand each other, at the start of what a wave's `addresses` points to; for up to
# 16 lanes of a chunk. Behind it, from "rows" on, are the addresses of a run's accesses.
_BUFFER = (
    ("data", "u32", 4 * 16),  # words of a load or a store, by word and lane
    ("pointers", "u64", 16),  # where each lane's element is, for atomics
    ("old", "u32", 2 * 16),  # what atomics return
    ("bounce", "u64", 16),  # 64-bit elements of scratch during an atomic
    ("zeros", "u32", 64),  # addresses of an access whose address is the same in all lanes
)
_SIZES = {"u32": 4, "u64": 8, "i64": 8}


def _offsets(fields: tuple[tuple[str, str, int], ...]) -> tuple[dict[str, int], int]:
    offsets, at = {}, 0
    for name, kind, count in fields:
        size = _SIZES[kind]
        at = -(-at // size) * size
        offsets[name] = at
        at += size * count
    return offsets, at


OFFSETS, _END = _offsets(WAVE)
WAVE_BYTES = -(-_END // 64) * 64
BUFFER, _BUFFER_END = _offsets(_BUFFER)
BUFFER["rows"] = -(-_BUFFER_END // 256) * 256  # rows are aligned to their size, so that a place tells the lane


def offset(name: str) -> int:
    """Bytes from the start of a wave's state to one of its fields."""
    return OFFSETS[name]


def c_struct() -> str:
    """The C declarations of a wave's state and of the buffer."""

    def struct(title: str, fields: tuple[tuple[str, str, int], ...]) -> str:
        lines = [f"  {kind} {name}{f'[{count}]' if count > 1 else ''};" for name, kind, count in fields]
        return f"typedef struct {title} {{\n" + "\n".join(lines) + f"\n}} __attribute__((aligned(64))) {title};\n"

    return struct("Wave", WAVE) + struct("Buffer", _BUFFER)


def ctypes_fields() -> list[tuple[str, Any]]:
    """The fields for a ctypes.Structure."""
    import ctypes

    kinds = {"u32": ctypes.c_uint32, "u64": ctypes.c_uint64, "i64": ctypes.c_int64}
    return [(name, kinds[kind] * count if count > 1 else kinds[kind]) for name, kind, count in WAVE]
