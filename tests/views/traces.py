"""Traces made by hand, for tests of what shows them: `small` with values that can be followed on paper, `long`."""

from __future__ import annotations

import struct

from gpulab.records import (
    AllocationNote,
    Fault,
    MemoryRange,
    SourceLine,
    Trace,
    TraceAccess,
    TraceInstruction,
    TraceOperand,
    TraceStep,
)

SOURCE = """__global__ void twice(float* x) {
    if (threadIdx.x < 3)
        x[threadIdx.x] *= 2;
    __syncthreads();
}
"""
HOSTILE = "<img src=x onerror=alert(1)></script>${x}$x$\u202egnp"
BASE = 0x2000_0000_1000


def bits(value: float) -> int:
    """A 32-bit float's bits."""
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


def reg(text: str, type: str = "u32", written: bool = False) -> TraceOperand:
    """An operand of one register."""
    return TraceOperand(text, (text,), type, written)


def small(
    size: int = 32, fault: bool = False, with_source: bool = True, name: str = "twice", text: str = "", file: str = ""
) -> Trace:
    """Lanes 0 to 2 double x[lane], which holds 1.5 + lane; a barrier; the end. Ten steps, the store in step 7.

    fault: lane 2's load in step 5 is out of bounds, and the last step. text: of the source's third line.
    """
    file = file or "cell.hip"
    lines = SOURCE.splitlines()
    if text:
        lines[2] = text

    def where(line: int) -> SourceLine | None:
        return SourceLine(file, line, 1, lines[line - 1]) if with_source else None

    pair = TraceOperand("v[2:3]", ("v2", "v3"), "u64")
    instructions = (
        TraceInstruction("v_cmp_gt_u32_e32 vcc, 3, v0", where(2), "Compare: vcc = 3 > v0.", "vector",
                         (reg("v0"), reg("vcc", "b1", True))),
        TraceInstruction("s_and_saveexec_b64 s[0:1], vcc", where(2), "EXEC and the source.", "scalar",
                         (reg("vcc", "b1"), reg("s0", "u32", True), reg("exec", "b1", True))),
        TraceInstruction("s_cbranch_execz .LBB0_2", where(2), "Jump to .LBB0_2 if no lane is active.", "cbranch",
                         (reg("exec", "b1"),), "", 7),
        TraceInstruction("v_lshlrev_b32_e32 v1, 2, v0", where(3), "b << a: v1 = v0 << 2.", "vector",
                         (reg("v0"), reg("v1", "u32", True))),
        TraceInstruction("global_load_dword v4, v[2:3], off", where(3), "Each active lane loads 32 bits.", "memory",
                         (pair, reg("v4", "u32", True))),
        TraceInstruction("v_add_f32_e32 v4, v4, v4", where(3), "Sum: v4 = v4 + v4, in each active lane.", "vector",
                         (reg("v4", "f32"), reg("v4", "f32", True))),
        TraceInstruction("global_store_dword v[2:3], v4, off", where(3), "Each active lane stores 32 bits.", "memory",
                         (pair, reg("v4"))),
        TraceInstruction("s_mov_b64 exec, s[0:1]", where(4), "Move: exec = s[0:1].", "scalar",
                         (reg("s0"), reg("exec", "b1", True)), ".LBB0_2"),
        TraceInstruction("s_barrier", where(4), "Wait until all waves of the workgroup are here.", "barrier"),
        TraceInstruction("s_endpgm", where(5), "The wave ends.", "end"),
        TraceInstruction("s_nop 0", where(5), "Nothing.", "nop"),
    )  # fmt: skip
    full = (1 << size) - 1

    def lanes(*values: int) -> tuple[int, ...]:
        return values + (0,) * (size - len(values))

    before = lanes(*(bits(1.5 + lane) for lane in range(3)))
    after = lanes(*(bits(3.0 + 2 * lane) for lane in range(3)))
    addresses = tuple(BASE + 4 * lane for lane in range(3))
    stop = Fault("out of bounds", name, where(3), instructions[4].text, (1, 0, 0), 0, 2, (2, 0, 0), BASE + 8, 4, "read",
                 AllocationNote(BASE, 8, "after", 0, "x"))  # fmt: skip
    steps = (
        TraceStep(0, full, {"vcc": 7}),
        TraceStep(1, full, {"s0": full & 0xFFFFFFFF, "exec": 7, "scc": 1}),
        TraceStep(2, 7, {}),
        TraceStep(3, 7, {"v1": lanes(0, 4, 8)}),
        TraceStep(4, 7, {"v4": before}, (TraceAccess("global", "read", 4, (0, 1, 2), addresses, before[:3]),)),
        TraceStep(5, 7, {"v4": after}),
        TraceStep(6, 7, {}, (TraceAccess("global", "write", 4, (0, 1, 2), addresses, after[:3]),)),
        TraceStep(7, 7, {"exec": full}),
        TraceStep(8, full, {}),
        # While it waited, another wave wrote 7.0 to LDS byte 16.
        TraceStep(9, full, {}, (), ((16, struct.pack("<f", 7.0)),)),
    )
    if fault:
        reached = TraceAccess("global", "read", 4, (0, 1), addresses[:2], before[:2])
        steps = (*steps[:4], TraceStep(4, 7, {}, (reached,)))
    return Trace(
        kernel=name,
        arch="gfx1100" if size == 32 else "gfx942",
        wave_size=size,
        workgroup=(1, 0, 0),
        wave=0,
        instructions=instructions,
        steps=steps,
        source="\n".join(lines) if with_source else "",
        files={file: "\n".join(lines)} if with_source else {},
        start={"v0": tuple(range(size)), "v2": tuple(0x1000 + 4 * lane for lane in range(size)), "v3": (0x2000,) * size,
               "exec": full},
        lds_bytes=64,
        fault=stop if fault else None,
        memory=(MemoryRange(name=text or "x", address=BASE, size=12),),
    )  # fmt: skip


def long(count: int = 100_000, size: int = 64, noise: bool = False) -> Trace:
    """A loop of eight instructions with a load from LDS, whose lanes leave one after another.

    noise: EXEC is a random mask at each step, and each value too: the worst for compression.
    """
    import random

    chance = random.Random(5)
    texts = ("v_add_f32 v1, v1, v2", "v_mul_f32 v2, v2, v1", "ds_read_b32 v3, v0", "v_add_u32 v0, 4, v0",
             "s_add_u32 s2, s2, 1", "s_cmp_lt_u32 s2, s3", "s_cbranch_scc1 .Lagain", "s_nop 0")  # fmt: skip
    written = ("v1", "v2", "v3", "v0", "s2", "scc", "", "")
    kinds = ("vector", "vector", "memory", "vector", "scalar", "scalar", "cbranch", "nop")

    def used(name: str) -> tuple[TraceOperand, ...]:
        return (reg(name, "f32" if name in ("v1", "v2") else "u32", True),) if name else ()

    instructions = tuple(
        TraceInstruction(text, SourceLine("loop.hip", 1 + k // 2, 1, f"line {1 + k // 2}"), "It works.", kinds[k],
                         used(written[k]))
        for k, text in enumerate(texts)
    )  # fmt: skip
    values = [tuple(chance.randrange(1 << 32) for _ in range(size)) for _ in range(64)]
    full = (1 << size) - 1
    steps = []
    for k in range(count):
        which = k % 8
        mask = chance.randrange(1, full + 1) if noise else full >> (k * size // count)
        name = written[which]
        changes: dict[str, int | tuple[int, ...]] = {}
        if name.startswith("v"):
            changes[name] = values[k * 7 % 64]
        elif name:
            changes[name] = k // 8 if name == "s2" else k & 1
        access: tuple[TraceAccess, ...] = ()
        if which == 2:
            every = tuple(range(size))
            access = (TraceAccess("lds", "read", 4, every, tuple(4 * n for n in every), values[k % 64]),)
        steps.append(TraceStep(which, mask, changes, access))
    source = "\n".join(f"line {n}" for n in range(1, 5))
    return Trace("loop", "gfx942", size, (0, 0, 0), 0, instructions, tuple(steps), source, False,
                 {"loop.hip": source}, {"exec": full}, 4096)  # fmt: skip


def waiting(size: int = 64, name: str = "sum", turns: int = 2) -> Trace:
    """A wave that waits: arguments, two loads of memory, a use of each, LDS, a store; the loads once for each turn.

    Steps of the first turn, counted from 0: 0 and 1 scalar loads, 2 a wait for one of two (of any order: nothing is
    certain), 3 a wait for both; 4 and 5 loads; 6 a wait that leaves one; 7 an addition; 8 a wait for all; 9 a write to
    LDS, 10 a wait for it; 11 a store; 12 a branch back to 4 if there is a further turn; then the end.
    """

    def at(line: int) -> SourceLine:
        return SourceLine("cell.hip", line, 1, f"line {line}")

    pair = TraceOperand("v[2:3]", ("v2", "v3"), "u64")
    instructions = (
        TraceInstruction("s_load_dwordx2 s[4:5], s[0:1], 0x0", at(1), "Load 64 bits.", "memory", raises=("lgkmcnt",),
                         any_order=True),
        TraceInstruction("s_load_dwordx2 s[6:7], s[0:1], 0x8", at(1), "Load 64 bits.", "memory", raises=("lgkmcnt",),
                         any_order=True),
        TraceInstruction("s_waitcnt lgkmcnt(1)", at(2), "Wait.", "wait", allows=(("lgkmcnt", 1),)),
        TraceInstruction("s_waitcnt lgkmcnt(0)", at(2), "Wait.", "wait", allows=(("lgkmcnt", 0),)),
        TraceInstruction("global_load_dword v4, v[2:3], off", at(3), "Load.", "memory",
                         (pair, reg("v4", "u32", True)), ".Lturn", raises=("vmcnt",)),
        TraceInstruction("global_load_dword v5, v[2:3], off offset:4", at(4), "Load.", "memory",
                         (pair, reg("v5", "u32", True)), raises=("vmcnt",)),
        TraceInstruction("s_waitcnt vmcnt(1)", at(5), "Wait.", "wait", allows=(("vmcnt", 1),)),
        TraceInstruction("v_add_f32_e32 v6, v6, v4", at(5), "Sum.", "vector", (reg("v4"), reg("v6", "f32", True))),
        TraceInstruction("s_waitcnt vmcnt(0)", at(6), "Wait.", "wait", allows=(("vmcnt", 0),)),
        TraceInstruction("ds_write_b32 v0, v5", at(6), "Store to LDS.", "memory", (reg("v0"), reg("v5")),
                         raises=("lgkmcnt",)),
        TraceInstruction("s_waitcnt vmcnt(0) lgkmcnt(0)", at(7), "Wait.", "wait",
                         allows=(("vmcnt", 0), ("lgkmcnt", 0))),
        TraceInstruction("global_store_dword v[2:3], v6, off", at(7), "Store.", "memory", (pair, reg("v6")),
                         raises=("vmcnt",)),
        TraceInstruction("s_cbranch_scc1 .Lturn", at(8), "Jump to .Lturn if scc1.", "cbranch", target=4),
        TraceInstruction("s_endpgm", at(9), "The wave ends.", "end"),
    )  # fmt: skip
    full = (1 << size) - 1
    order = [0, 1, 2, 3, *list(range(4, 13)) * turns, 13]
    steps = tuple(TraceStep(index, full, {}) for index in order)
    source = "\n".join(f"line {n}" for n in range(1, 10))
    return Trace(name, "gfx942", size, (0, 0, 0), 0, instructions, steps, source, False, {"cell.hip": source},
                 {"exec": full}, 256)  # fmt: skip
