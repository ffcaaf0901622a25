"""Control rows: branches, calls, barriers, waits, messages, the MODE register and the clocks.

Instructions that only order memory or give the scheduler a hint have no effect on a machine that does one thing
after another; their kind is "wait" or "nop".
"""

from __future__ import annotations

from gpulab.virtual_gpu.isa.family import Family
from gpulab.virtual_gpu.isa.row import Control

CONTROL = Family("CDNA3 ISA manual chapter 12 (SOPP, SOP1, SOPK); RDNA3 ISA manual chapter 16")

PLACES: dict[str, tuple[tuple[int, str, int, int], ...]] = {
    # (first bit, "wave" of the workgroup or number of the "group", divided by, modulo)
    "XCC_ID": ((0, "group", 1, 8),),
    "HW_ID": ((0, "wave", 4, 16), (4, "wave", 1, 4), (8, "group", 32, 10), (13, "group", 8, 4)),
    "HW_ID1": ((0, "wave", 4, 32), (8, "wave", 1, 4), (10, "group", 12, 4), (16, "group", 6, 2), (18, "group", 1, 6)),
    "HW_ID2": (),
}
"""Where a wave says that it runs: workgroups go round-robin over dies, shader engines and CUs, waves over a CU's SIMDs.
Fields as in the kernel driver's register headers: HW_ID wave 3:0, SIMD 5:4, CU 11:8, SE 14:13; HW_ID1 wave 4:0,
SIMD 9:8, WGP 13:10, SA 16, SE 20:18."""


DEBUG_TRAP = 3
"""The trap that does nothing without a debugger. (LLVM, "User Guide for AMDGPU Backend", trap handler ABI)"""

SLEEP = "modelled: takes no time; other waves run first"
_ACCURACY = {
    "time": "modelled: counts the wave's own instructions, so that runs repeat",
    "realtime": "modelled: counts the wave's own instructions, so that runs repeat",
    "sendmsg_rtn": "modelled: every answer is the clock",
    "sleep": SLEEP,
    "getreg": "modelled: MODE is exact, clocks count the wave's own instructions, a wave's place is one of round-robin",
}


HINT = "A hint to the hardware: no result changes."
LINES = "Write back or drop cached lines: here there are none."
CACHES = "modelled: memory has no caches, so every access sees the last store"
"""The accuracy of what only concerns caches."""


def _add(
    kind: str, names: str, meaning: str, generation: str = "common", *, accuracy: str = "", condition: str = "",
    register: str = "", nonzero: bool = False, counters: str = "", delay: str = "", order: str = "", width: int = 32,
    caches: str = "",
) -> None:  # fmt: skip
    for name in names.split():
        row = Control(
            name, kind, condition, meaning, accuracy or _ACCURACY.get(kind, "exact"), register, nonzero,
            tuple(counters.split()), delay, order, width, caches,
        )  # fmt: skip
        CONTROL.add(row, generation)


_add("end", "s_endpgm s_endpgm_saved", "The wave ends.")
_add("end", "s_endpgm_ordered_ps_done", "The wave ends.")
_add("branch", "s_branch", "Jump to the label.")
for _register, _conditions in (("scc", ("scc0", "scc1")), ("vcc", ("vccz", "vccnz")), ("exec", ("execz", "execnz"))):
    for _nonzero, _condition in enumerate(_conditions):
        _add(
            "cbranch", f"s_cbranch_{_condition}", f"Jump to the label if {_condition}.",
            condition=_condition, register=_register, nonzero=bool(_nonzero),
        )  # fmt: skip
_add("call", "s_swappc_b64", "Jump to the address in the source; the destination gets the return address.")
_add("call", "s_call_b64", "Jump to the label; the destination gets the return address.")
_add("jump", "s_setpc_b64", "Jump to the address in the source.")
_add("getpc", "s_getpc_b64", "The address of the next instruction.")
_add("barrier", "s_barrier", "Wait until all waves of the workgroup are here.")
_add("wait", "s_waitcnt", "Wait for outstanding memory operations.", counters="vmcnt expcnt lgkmcnt")
for _counter in ("vscnt", "vmcnt", "expcnt", "lgkmcnt"):
    _add("wait", f"s_waitcnt_{_counter}", "Wait for one counter.", "gfx11", counters=_counter)
_add("wait", "s_waitcnt_depctr s_wait_idle s_wait_event", "Wait for the wave's own pipelines.", "gfx11")
_add("wait", "s_delay_alu", "Wait for the wave's own pipelines.", "gfx11", delay="alu")
_add("nop", "s_nop", "Nothing, for a number of cycles.", delay="nop")
_add("nop", "v_nop ds_nop s_wakeup v_clrexcp", "Nothing, for a number of cycles.")
_add("nop", "s_setprio s_incperflevel s_decperflevel s_ttracedata", HINT)
_add("nop", "s_icache_inv s_dcache_inv", LINES, accuracy=CACHES)
_add("nop", "s_dcache_wb s_dcache_wb_vol s_dcache_inv_vol", LINES, "gfx9", accuracy=CACHES)
_add("nop", "buffer_wbl2", LINES, "gfx9", accuracy=CACHES, order="release", caches="write back")
_add("nop", "buffer_inv", LINES, "gfx9", accuracy=CACHES, order="scoped acquire", caches="drop scoped")
_add(
    "nop", "s_dcache_discard s_dcache_discard_x2", "Give up cached lines: here there are none.", "gfx9", accuracy=CACHES
)
_add("nop", "s_atc_probe s_atc_probe_buffer", "Ask for an address translation in advance.")
_add(
    "nop",
    "s_cbranch_cdbgsys s_cbranch_cdbguser s_cbranch_cdbgsys_or_user s_cbranch_cdbgsys_and_user",
    "Jump if a debugger's flag is set; none ever is.",
)
_add(
    "nop",
    "s_clause s_set_inst_prefetch_distance s_inst_prefetch s_code_end s_ttracedata_imm s_version v_pipeflush",
    HINT,
    "gfx11",
)
_add("nop", "s_gl1_inv", LINES, "gfx11", accuracy=CACHES)
_add("nop", "buffer_gl0_inv", LINES, "gfx11", accuracy=CACHES, caches="drop first")
_add("nop", "buffer_gl1_inv", LINES, "gfx11", accuracy=CACHES, order="acquire", caches="drop second")
_add("sleep", "s_sleep", "Pause the wave for about 64 cycles times the operand.", delay="sleep")
_add("trap", "s_trap", "Enter the trap handler: the kernel is stopped, but for trap 3 of debuggers.")
_add("sendmsg", "s_sendmsg s_sendmsghalt", "Send a message; the one that frees VGPRs has no effect.")
for _width in (32, 64):
    _add("sendmsg_rtn", f"s_sendmsg_rtn_b{_width}", "Send a message and get the answer.", "gfx11", width=_width)
_add("setreg", "s_setreg_b32 s_setreg_imm32_b32", "Write a field of a hardware register.")
_add("getreg", "s_getreg_b32", "Read a field of a hardware register.")
_add("time", "s_memtime", "The core clock's counter, 64 bits.", "gfx9")
_add("realtime", "s_memrealtime", "The constant-rate counter, 64 bits.", "gfx9")
_add("round_mode", "s_round_mode", "Set MODE's rounding.", "gfx11")
_add("denorm_mode", "s_denorm_mode", "Set MODE's denormal handling.", "gfx11")
# gfx9's register indexing: while it is on, m0[7:0] is added to the VGPR numbers of vector ALU instructions, of the
# operands that m0[15:12] names (1 src0, 2 src1, 4 src2, 8 destination)
_add("gpr_index_on", "s_set_gpr_idx_on", "Register indexing on; m0 gets index and mode.", "gfx9")
_add("gpr_index_off", "s_set_gpr_idx_off", "Register indexing off.", "gfx9")
_add("gpr_index", "s_set_gpr_idx_idx", "A new index into m0[7:0].", "gfx9")
_add("gpr_index_mode", "s_set_gpr_idx_mode", "A new mode into m0[15:12].", "gfx9")
