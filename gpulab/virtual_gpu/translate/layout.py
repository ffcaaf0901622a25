"""What translated code knows of the structures and numbers that it shares with C and Python (schema.py).

`offset` gives the places of a wave's state (Wave), `BUFFER` those of what is handed to the support code, `access_word`
an access as that takes it. Scalar registers are numbered as the hardware's operand encodings are: s0.. at 0, VCC 106,
M0 124, EXEC 126; SCC follows at 128 and FLAT_SCRATCH at 130.
"""

from __future__ import annotations

from gpulab.virtual_gpu import schema
from gpulab.virtual_gpu.dispatch import CODE_BASE as CODE_BASE
from gpulab.virtual_gpu.isa.assembly import INSTRUCTION_BYTES as INSTRUCTION_BYTES
from gpulab.virtual_gpu.schema import constant

VCC, TTMP, M0, NULL = constant("VCC"), constant("TTMP"), constant("M0"), constant("NULL_REGISTER")
EXEC, SCC, FLAT_SCRATCH, XNACK = constant("EXEC"), constant("SCC"), constant("FLAT_SCRATCH"), constant("XNACK")
SCALARS = constant("SCALAR_REGISTERS")

# What a translated kernel returns; "elsewhere" among the pieces of a large kernel.
ENDED, BARRIER, YIELD, FAULT, SLEEP, ELSEWHERE = range(len(schema.STATUSES.names))

# Address spaces and kinds of access of a memory instruction; why a wave was stopped; what a checked kernel tells.
SPACES, ACCESSES = schema.SPACES.numbers, schema.ACTIONS.numbers
FAULTS, NOTES = schema.FAULTS.names, schema.NOTES.names

# A row of lane counts for each segment, when profiling (LaneCounts).
_COUNTS = schema.layout(schema.LANE_COUNTS)
LANE_BYTES, LANE_SUMS, LANE_ROW = _COUNTS.offsets["lately"], _COUNTS.offsets["lanes"], _COUNTS.bytes

# The high halves of the flat apertures of LDS and scratch.
SHARED_BASE, PRIVATE_BASE = constant("SHARED_BASE"), constant("PRIVATE_BASE")

# Bytes at both ends of each 4 GiB of addresses that no entry of the table of allocations has.
EDGE = constant("EDGE")

_WAVE = schema.layout(schema.WAVE)
OFFSETS, WAVE_BYTES = _WAVE.offsets, _WAVE.bytes
RUNNING, TELL, TELL_LOOP = (schema.layout(schema.THREAD).offsets[name] for name in ("running", "tell", "tell_loop"))

# Offsets in a Buffer. Behind it, from "rows" on, are the addresses of a run's accesses, aligned to the size of a row,
# so that a place tells the lane.
_BUFFER = schema.layout(schema.BUFFER)
BUFFER = {**_BUFFER.offsets, "rows": -(-_BUFFER.bytes // 256) * 256}

# An entry of the table of allocations.
_ALLOCATION = schema.layout(schema.ALLOCATION)
ALLOCATION, ALLOCATION_BYTES = _ALLOCATION.offsets, _ALLOCATION.bytes


def offset(name: str) -> int:
    """Bytes from the start of a wave's state to one of its fields."""
    return OFFSETS[name]


NO_HIGH, PUT_BACK = schema.ACCESS_WORD.pack(no_high=1), schema.ACCESS_WORD.pack(put_back=1)


def access_word(space: str, action: str, align: int, bytes: int, *, signed: bool = False) -> int:
    """An access as the support code takes it (schema.ACCESS_WORD), without NO_HIGH and PUT_BACK."""
    return schema.ACCESS_WORD.pack(
        space=SPACES[space], action=ACCESSES[action], align=align, bytes=bytes, signed=signed
    )
