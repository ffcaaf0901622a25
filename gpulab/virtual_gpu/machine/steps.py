"""What the checker has to know of each instruction of a program written in assembly: `table` makes its `Step`s.

Registers that an instruction reads and writes, and the wait counter that it raises or waits for. Sources: the ISA
manuals, "Manually Inserted Wait States" and "Data dependency resolution" (MI300 4.4, RDNA3 5.6): vmcnt counts vector
memory loads, and stores too before RDNA; lgkmcnt counts LDS, scalar memory and messages; vscnt stores on RDNA. Scalar
loads arrive in any order.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

from gpulab import architectures
from gpulab.virtual_gpu import schema
from gpulab.virtual_gpu.isa import waits
from gpulab.virtual_gpu.isa.instruction import Program, Register
from gpulab.virtual_gpu.isa.row import Control, CrossLane, Image, Memory, Row
from gpulab.virtual_gpu.machine.native.structures import StepStruct
from gpulab.virtual_gpu.translate import layout
from gpulab.virtual_gpu.translate.decode import Decoded, bits, returns_value, vector_bits

COUNTERS = schema.WAIT_COUNTERS.names
OTHER, LOAD, STORE, LDS, LDS_STORE, SCALAR, WAIT, BARRIER = range(len(schema.STEP_KINDS.names))
_ANY = 0xFFFFFFFF
_WORD = (1 << 64) - 1
# Always defined, or without a value of their own: M0 is set by the dispatcher; SCC and EXEC are.
_GIVEN = bits(layout.M0, 2) | bits(layout.EXEC, 3) | bits(layout.FLAT_SCRATCH, 4)


PROGRESS_BYTES = schema.layout(schema.PROGRESS).bytes


def first_scalars(sgprs: int) -> int:
    """The scalar registers that hold something at a kernel's start, as a bit set."""
    return bits(0, sgprs) | _GIVEN


def table(program: Program, decoded: Mapping[int, Decoded]) -> ctypes.Array[StepStruct]:
    """A `Step` for each instruction of a program (those that were not decoded stay empty)."""
    steps = (StepStruct * (len(program.instructions) + 1))()
    for index, one in decoded.items():
        _fill(steps[index], one, program.arch)
    return steps


def _fill(step: StepStruct, decoded: Decoded, arch: str) -> None:
    row, instruction = decoded.row, decoded.instruction
    reads, writes, cross = decoded.vector_reads, decoded.vector_writes, decoded.cross_reads
    if not _computes_with_destination(decoded):
        reads &= ~(writes & reads) | _sources(decoded)  # a part of the destination that is kept is no use of it
    if isinstance(row, CrossLane) and row.kind == "writelane":
        target = instruction.operands[0].value
        assert isinstance(target, Register)
        writes |= vector_bits(target)
        cross &= ~vector_bits(target)
    for array, value in ((step.reads, reads), (step.writes, writes), (step.cross, cross)):
        array[:] = [value >> 64 * n & _WORD for n in range(8)]
    scalar_reads = decoded.scalar_reads & ~_GIVEN
    step.scalar_reads[:] = [scalar_reads >> 64 * n & _WORD for n in range(3)]
    step.scalar_writes[:] = [decoded.scalar_writes >> 64 * n & _WORD for n in range(3)]
    step.waits[:] = [_ANY] * 4
    if isinstance(row, Memory):
        step.kind, step.counter = _access(row, decoded, arch)
    elif isinstance(row, Image):
        separate = architectures.get(arch).separate_store_counter
        step.kind, step.counter = (STORE, 2 if separate else 0) if row.action == "store" else (LOAD, 0)
    elif isinstance(row, Control) and row.kind == "wait":
        step.kind = WAIT
        for counter, left in waits.allowed(instruction, row):
            if counter in COUNTERS:
                step.waits[COUNTERS.index(counter)] = left
    elif isinstance(row, Control) and row.kind == "barrier":
        step.kind = BARRIER
    elif isinstance(row, CrossLane) and row.unit == "lds":
        step.kind, step.counter = LDS, COUNTERS.index("lgkmcnt")


def _computes_with_destination(decoded: Decoded) -> bool:
    """Whether a vector instruction takes its destination for a source, as v_fmac_f32 and v_swap_b32 do."""
    row = decoded.row
    return (
        isinstance(row, Row)
        and row.unit == "valu"
        and row.keeps != "rest"
        and any(parameter.name in ("dst", "sdst") for parameter in row.parameters)
    )


def _sources(decoded: Decoded) -> int:
    """Vector registers that stand among an instruction's sources in the text."""
    found = 0
    row = decoded.row
    if isinstance(row, Row):
        for parameter, operand in decoded.sources:
            if parameter.implicit or operand is None or not isinstance(operand.value, Register):
                continue
            if operand.value.file in ("v", "a"):
                found |= vector_bits(operand.value)
        return found
    for operand in decoded.instruction.operands[1:]:
        if isinstance(operand.value, Register) and operand.value.file in ("v", "a"):
            found |= vector_bits(operand.value)
    return found


def _access(row: Memory, decoded: Decoded, arch: str) -> tuple[int, int]:
    if row.space == "scalar":
        return (SCALAR, 1) if row.action == "load" else (OTHER, 0)
    if row.space == "lds":
        return (LDS if row.action == "load" else LDS_STORE), 1
    returns = row.action == "load" or (row.action == "atomic" and returns_value(decoded.instruction, row))
    if returns:
        return LOAD, 0
    return STORE, 2 if architectures.get(arch).separate_store_counter else 0
