"""Which caches an access passes, and what an instruction does to them: `reach`, `dropped`, `writes_back`.

Between a compute unit and memory lie at most two caches that hardware does not keep coherent. The first is the CU's own
(CDNA's L1, RDNA's L0). The second is RDNA's GL1, which the CUs of a shader array share and which only reads, or the L2
of a die where a device has several dies: that one keeps changed lines. What an instruction asks of them stands in its
modifiers. Source: LLVM, "User Guide for AMDGPU Backend", memory models of gfx6-gfx9, gfx90a, gfx942, gfx10-gfx11 and
gfx12.
"""

from __future__ import annotations

from gpulab.architectures.architecture import Architecture
from gpulab.virtual_gpu.isa.instruction import Instruction
from gpulab.virtual_gpu.isa.row import AnyRow, Control, Memory

WAVE, GROUP, DEVICE = range(3)
"""For whom an access is coherent. Wider scopes than the device's are the same where nobody else looks at its memory."""

_SCOPES = {"SCOPE_CU": WAVE, "SCOPE_SE": GROUP, "SCOPE_DEV": DEVICE, "SCOPE_SYS": DEVICE}


def _scope(instruction: Instruction, architecture: Architecture) -> int:
    modifiers = instruction.modifiers
    if architecture.has("gfx940-insts"):
        return DEVICE if modifiers.get("sc1") else GROUP if modifiers.get("sc0") else WAVE
    if architecture.generation == "gfx12":
        return _SCOPES.get(str(modifiers.get("scope", "SCOPE_CU")), DEVICE)
    if not modifiers.get("glc"):
        return WAVE
    # On gfx10 glc passes by the L0 alone, and dlc by the GL1; on gfx11 glc passes by both; CDNA has the L1 alone.
    return DEVICE if architecture.generation != "gfx10" or modifiers.get("dlc") else GROUP


def reach(instruction: Instruction, row: Memory, architecture: Architecture) -> int:
    """How far an access goes: DEVICE passes by both caches, GROUP by the first where a workgroup has several of them,
    WAVE by none. A read-modify-write is done where all can see it, whatever its modifiers say."""
    return DEVICE if row.action == "atomic" else _scope(instruction, architecture)


def dropped(instruction: Instruction, row: AnyRow | None, architecture: Architecture) -> tuple[bool, bool]:
    """Whether the lines of the first and of the second cache are invalidated."""
    if not isinstance(row, Control) or not row.caches.startswith("drop"):
        return False, False
    if row.caches == "drop scoped":
        scope = _scope(instruction, architecture)
        return scope >= GROUP, scope >= DEVICE
    return row.caches == "drop first", row.caches == "drop second"


def writes_back(row: AnyRow | None) -> bool:
    """Whether changed lines of the L2 are written to memory."""
    return isinstance(row, Control) and row.caches == "write back"


def counters(row: AnyRow | None, architecture: Architecture) -> tuple[str, ...]:
    """The wait counters that such an instruction raises: on gfx12 those of a load or a store, before that of stores for
    a write back; () else. (LLVM, SIInsertWaitcnts)"""
    if not isinstance(row, Control) or not row.caches:
        return ()
    if architecture.separate_lds_counter:
        return ("storecnt",) if writes_back(row) else ("loadcnt",)
    return ("vmcnt",) if writes_back(row) else ()
