"""Hardware counters: `Costs` counts a kernel's instructions by block, `RULES` says how each raw counter comes about.

Names and meanings are in gpulab.counter_names; here is, in one table, how the virtual device gets each value: `exact`
(counted as hardware counts it), `modelled` (out of the model of the caches or of time) or `assumed` (what hardware
counts is not public in this detail; the rule says what is taken). `raw` computes them all for a profiled launch, from
`Quantities` with which the formulas are written. docs/counters.md explains them and holds the table (`markdown`).

Of the instructions: a vector memory atomic counts as a read if it returns a value and as a write if not; waits, hints
and s_endpgm are no category's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import CodeType

from gpulab import counter_names
from gpulab.architectures.architecture import Architecture
from gpulab.architectures.residency import occupancy
from gpulab.errors import InternalError
from gpulab.records import AccessCost, InstructionCost, ModelledTime
from gpulab.virtual_gpu.isa.row import AnyRow, Control, CrossLane, Image, Matrix, Memory, Row
from gpulab.virtual_gpu.machine import timing
from gpulab.virtual_gpu.machine.work import Work
from gpulab.virtual_gpu.translate.decode import Decoded, returns_value
from gpulab.virtual_gpu.translate.lane_access import Observed

_CDNA = (
    "SQ_INSTS_VALU", "SQ_INSTS_MFMA", "SQ_INSTS_SALU", "SQ_INSTS_SMEM", "SQ_INSTS_VMEM_RD", "SQ_INSTS_VMEM_WR",
    "SQ_INSTS_VMEM", "SQ_INSTS_LDS", "SQ_INSTS_FLAT", "SQ_INSTS_BRANCH",
)  # fmt: skip
_RDNA = (
    "SQ_INSTS_VALU", "SQ_INSTS_SALU", "SQ_INSTS_SMEM", "SQ_INSTS_TEX_LOAD", "SQ_INSTS_TEX_STORE", "SQ_INSTS_LDS",
    "SQ_INSTS_FLAT",
)  # fmt: skip


def category(decoded: Decoded) -> tuple[str, ...]:
    """Which instruction counters an instruction adds one to, in CDNA's names."""
    row = decoded.row
    if isinstance(row, Row):
        return ("SQ_INSTS_VALU",) if row.unit == "valu" else ("SQ_INSTS_SALU",)
    if isinstance(row, Matrix):
        return ("SQ_INSTS_VALU", "SQ_INSTS_MFMA") if row.layout == "mfma" else ("SQ_INSTS_VALU",)
    if isinstance(row, CrossLane):
        return ("SQ_INSTS_LDS",) if row.unit == "lds" else ("SQ_INSTS_VALU",)
    if isinstance(row, Memory):
        if row.space == "lds":
            return ("SQ_INSTS_LDS",)
        if row.space == "scalar":
            return ("SQ_INSTS_SMEM",)
        reads = row.action != "store" and (row.action != "atomic" or returns_value(decoded.instruction, row))
        found = ("SQ_INSTS_VMEM", "SQ_INSTS_VMEM_RD" if reads else "SQ_INSTS_VMEM_WR")
        return (*found, "SQ_INSTS_FLAT") if row.space == "flat" else found
    if isinstance(row, Image):
        return ("SQ_INSTS_VMEM", "SQ_INSTS_VMEM_WR" if row.action == "store" else "SQ_INSTS_VMEM_RD")
    assert isinstance(row, Control)
    if row.kind in ("branch", "cbranch", "call", "jump"):
        return ("SQ_INSTS_BRANCH",)
    if row.kind in ("getpc", "setreg", "getreg", "round_mode", "denorm_mode"):
        return ("SQ_INSTS_SALU",)
    return ("SQ_INSTS_SMEM",) if row.kind in ("time", "realtime") else ()


_SHORT = {
    "SQ_INSTS_VALU": "valu", "SQ_INSTS_MFMA": "mfma", "SQ_INSTS_SALU": "salu", "SQ_INSTS_SMEM": "smem",
    "SQ_INSTS_VMEM_RD": "vmem_rd", "SQ_INSTS_VMEM_WR": "vmem_wr", "SQ_INSTS_VMEM": "vmem", "SQ_INSTS_LDS": "lds",
    "SQ_INSTS_FLAT": "flat", "SQ_INSTS_BRANCH": "branch",
}  # fmt: skip
_RDNA_NAMES = {"SQ_INSTS_VMEM_RD": "SQ_INSTS_TEX_LOAD", "SQ_INSTS_VMEM_WR": "SQ_INSTS_TEX_STORE"}


class Costs:
    """What the blocks of one kernel cost: the instruction counters that every launch has."""

    def __init__(self, arch: str, blocks: Sequence[Sequence[int]], decoded: Mapping[int, Decoded]) -> None:
        known = counter_names.raw(arch)
        rdna = "SQ_INSTS_VMEM_RD" not in known
        self.names = tuple(name for name in (_RDNA if rdna else _CDNA) if name in known)
        self.sizes = [len(block) for block in blocks]
        self.weights: dict[str, list[tuple[int, int]]] = {}
        for number, block in enumerate(blocks):
            sums: dict[str, int] = {}
            for index in block:
                for name in category(decoded[index]):
                    name = _RDNA_NAMES.get(name, name) if rdna else name
                    sums[name] = sums.get(name, 0) + 1
            for name, amount in sums.items():
                if name in self.names:
                    self.weights.setdefault(name, []).append((number, amount))

    def counters(self, executed: Sequence[int], waves: int) -> dict[str, int]:
        """Counter values from how often each block was executed."""
        values = {"SQ_WAVES": waves}
        for name in self.names:
            values[name] = sum(executed[number] * amount for number, amount in self.weights.get(name, ()))
        return values

    def instructions(self, executed: Sequence[int]) -> int:
        """Wave instructions in all."""
        return sum(count * size for count, size in zip(executed, self.sizes, strict=False))


# ------------------------------------------------------------------------------------------------- the table of rules


@dataclass(frozen=True, slots=True)
class Rule:
    """How one raw counter comes about.

    kind: "exact", "modelled" or "assumed". formula: a sum or product of quantities. how: in words, with what is
    assumed; "" if the formula says it all. needs_time: whether it is there only where the launch has a modelled time.
    """

    name: str
    kind: str
    formula: str
    how: str
    needs_time: bool


_TIMED = (
    "clocks", "busy", "engines_busy", "sqs_busy", "cus_busy", "resident", "idle", "queued", "l1_clocks", "queued_vgpr",
    "queued_sgpr", "queued_wave", "queued_lds", "queued_bar",
)  # fmt: skip

# (kind, lines of "NAME = formula  # how"). {a,b} in a name stands for several names, {} in the formula for the choice
# in lower case. The words in the formulas are the entries of `Quantities`.
_RULES: tuple[tuple[str, str], ...] = (
    ("exact", """
        SQ_WAVES = waves
        SQ_ITEMS = items  # work-items of all workgroups
        SQ_WAVES_EQ_64 = waves_full
        SQ_WAVES_LT_{16,32,48,64} = waves_lt_{}  # by the work-items that a wave starts with
        SQ_WAVES_{SAVED,RESTORED} = 0  # nothing interrupts a launch here
        SPI_CSN_NUM_THREADGROUPS = workgroups
        SPI_CSN_WAVE = waves
        SQ_INSTS_VALU = valu  # matrix instructions included; a VOPD pair is one
        SQ_INSTS_SALU = salu
        SQ_INSTS_SMEM = smem
        SQ_INSTS_LDS = lds_counted  # DS instructions, permutes and swizzles included; on gfx90a FLAT ones as well
        SQ_INSTS_FLAT = flat
        SQ_INSTS_GDS = 0  # no kernel of HIP uses GDS
        SQ_INSTS_EXP_GDS = 0
        SQ_INSTS_BRANCH = branch
        SQ_INSTS_MFMA = mfma
        SQ_INSTS_SENDMSG = sendmsg
        SQ_INSTS_VMEM = vmem
        SQ_INSTS_VMEM_RD = vmem_rd  # atomics that return included
        SQ_INSTS_VMEM_WR = vmem_wr
        SQ_INSTS_TEX_LOAD = vmem_rd  # atomics that return included
        SQ_INSTS_TEX_STORE = vmem_wr
        SQ_INSTS_VSKIPPED = 0
        SQ_INSTS_VALU_MFMA_{F16,BF16,F32,F64,I8,F8,XF32,F6F4} = mfma_{}
        SQ_INSTS_VALU_MFMA_MOPS_{F16,BF16,F32,F64,I8,F8,XF32,F6F4} = mops_{}  # 2·m·n·k·blocks / 512 each
        SQ_INSTS_LDS_{LOAD,STORE,ATOMIC} = lds_{}
        SQ_WAVE32_INSTS = insts * wave32
        SQ_WAVE64_INSTS = insts * (1 - wave32)
        SQ_INSTS_WAVE32 = (valu + lds + vmem) * wave32
        SQ_INSTS_WAVE32_LDS = lds * wave32
        SQ_INSTS_WAVE32_VALU = valu * wave32
        SQC_DCACHE_REQ_READ_{1,2,4,8,16} = smem_dwords_{}
        SQC_DCACHE_ATOMIC = 0
        SQC_TC_DATA_{WRITE,ATOMIC}_REQ = 0
        SQ_LDS_MEM_VIOLATIONS = 0  # a wrong address stops the kernel here
        TA_TOTAL_WAVEFRONTS = vmem
        TA_FLAT_WAVEFRONTS = vmem - buffer
        TA_FLAT_READ_WAVEFRONTS = vmem_load - buffer_load
        TA_FLAT_WRITE_WAVEFRONTS = vmem_store - buffer_store
        TA_FLAT_ATOMIC_WAVEFRONTS = vmem_atomic - buffer_atomic
        TA_FLAT_LOAD_WAVEFRONTS = vmem_rd - buffer_rd
        TA_FLAT_STORE_WAVEFRONTS = vmem_wr - buffer_wr
        TA_BUFFER_WAVEFRONTS = buffer
        TA_BUFFER_READ_WAVEFRONTS = buffer_load
        TA_BUFFER_WRITE_WAVEFRONTS = buffer_store
        TA_BUFFER_ATOMIC_WAVEFRONTS = buffer_atomic
        TA_BUFFER_LOAD_WAVEFRONTS = buffer_rd
        TA_BUFFER_STORE_WAVEFRONTS = buffer_wr
        TD_LOAD_WAVEFRONT = vmem
        TD_STORE_WAVEFRONT = vmem_store
        TD_ATOMIC_WAVEFRONT = vmem_atomic
        TCP_TA_TCP_STATE_READ = vmem
    """),
    ("assumed", """
        SQ_INSTS = insts  # every instruction that a wave executes, waits and hints included
        SQ_INSTS_SMEM_NORM = scalar_lines  # one request for each 64-byte line
        SQ_INSTS_VALU_{ADD,MUL,FMA,TRANS}_{F16,F32,F64} = {}_{}  # by mnemonic; a packed instruction is one
        SQ_INSTS_VALU_{INT32,INT64} = {}  # arithmetic and comparisons of i32, u32, i24 and u24, or of i64 and u64
        SQ_INSTS_VALU_CVT = cvt
        SQ_LDS_BANK_CONFLICT = conflict_cycles  # exact for 32-bit accesses; see "LDS banks" for wider ones and atomics
        SQ_LDS_IDX_ACTIVE = bank_cycles
        SQC_LDS_BANK_CONFLICT = conflict_cycles  # phases of 64 and 128 bits are not public on RDNA
        SQC_LDS_IDX_ACTIVE = bank_cycles
        SQ_LDS_UNALIGNED_STALL = 0
        TCP_TOTAL_ACCESSES = quads  # each four lanes: one request for each 64-byte block that they touch
        TCP_TOTAL_READ = quads_load
        TCP_TOTAL_WRITE = quads_store
        TCP_TOTAL_ATOMIC_WITH_RET = quads_atomic_ret
        TCP_TOTAL_ATOMIC_WITHOUT_RET = quads_atomic
        TCP_TOTAL_CACHE_ACCESSES = vector_lines  # the different lines of each wave instruction
        TCP_REQ = vector_lines
        TCP_VOLATILE = 0
        TCP_TCC_{NC,CC,UC}_{READ,WRITE,ATOMIC}_REQ = 0  # all memory here is the device's own
        TCP_TCC_RW_READ_REQ = requests_load
        TCP_TCC_RW_WRITE_REQ = requests_store
        TCP_TCC_RW_ATOMIC_REQ = requests_atomic + requests_atomic_ret
        TCC_RW_REQ = requests
        TCC_{NC,UC,CC}_REQ = 0
        TCC_STREAMING_REQ = 0
        TCC_PROBE = 0
        TCC_PROBE_ALL = 0
        TCC_ALL_TC_OP_INV_EVICT = 0
        TCC_{EA,EA0}_ATOMIC = 0  # atomics are done in the L2; some on an MI300X were seen to go on to memory
        SQC_DCACHE_MISSES_DUPLICATE = 0  # one wave after another: no line is on its way when it is asked for again
    """),
    ("modelled", """
        SQC_DCACHE_REQ = scalar_lines
        SQC_DCACHE_HITS = scalar_hits
        SQC_DCACHE_MISSES = scalar_lines - scalar_hits
        SQC_TC_DATA_READ_REQ = scalar_lines - scalar_hits
        TCP_TCC_READ_REQ = requests_load  # a line each
        TCP_TCC_WRITE_REQ = requests_store  # one for each 64 bytes of a line that an instruction writes to
        TCP_TCC_ATOMIC_WITH_RET_REQ = requests_atomic_ret
        TCP_TCC_ATOMIC_WITHOUT_RET_REQ = requests_atomic
        TCP_REQ_MISS = vector_load_lines - vector_hits
        TCP_CACHE_MISS = requests_load
        TCC_REQ = requests
        TCC_READ = requests - requests_store - requests_atomic - requests_atomic_ret  # the scalar caches' included
        TCC_WRITE = requests_store
        TCC_ATOMIC = requests_atomic + requests_atomic_ret
        TCC_HIT = l2_hits
        TCC_MISS = requests - l2_hits
        TCC_BUBBLE = reads_128
        TCC_{EA,EA0}_RDREQ = reads_64 + reads_128
        TCC_{EA,EA0}_RDREQ_32B = 0
        TCC_EA0_RDREQ_64B = reads_64
        TCC_EA0_RDREQ_128B = reads_128
        TCC_{EA,EA0}_RDREQ_DRAM = reads_64 + reads_128  # Infinity Cache included: it stands at the DRAM
        TCC_{EA,EA0}_WRREQ = writebacks_32 + writebacks_64  # when the launch ends everything is written back
        TCC_{EA,EA0}_WRREQ_64B = writebacks_64
        TCC_{EA,EA0}_WRREQ_DRAM = writebacks_32 + writebacks_64
        TCC_{EA,EA0}_{RD,WR}_UNCACHED_32B = 0
        TCC_WRITEBACK = lines_written
        TCC_NORMAL_WRITEBACK = evicted_dirty
        TCC_ALL_TC_OP_WB_WRITEBACK = lines_written - evicted_dirty  # at the end of the launch
        TCC_NORMAL_EVICT = evicted
        GL2C_HIT = l2_hits
        GL2C_MISS = requests - l2_hits
        GL2C_EA_RDREQ = reads_64 + reads_128
        GL2C_MC_RDREQ = reads_64 + reads_128
        GL2C_EA_RDREQ_{32B,96B,256B} = 0
        GL2C_EA_RDREQ_64B = reads_64
        GL2C_EA_RDREQ_128B = reads_128
        GL2C_EA_WRREQ = writebacks_32 + writebacks_64
        GL2C_MC_WRREQ = writebacks_32 + writebacks_64
        GL2C_EA_WRREQ_64B = writebacks_64
        SQ_ACTIVE_INST_VALU = valu_clocks / 4  # issue clocks: 4 for a plain instruction on CDNA
        SQ_ACTIVE_INST_VMEM = vmem  # four clocks of issue each
        SQ_ACTIVE_INST_LDS = lds
        SQ_ACTIVE_INST_FLAT = flat
        SQ_ACTIVE_INST_SCA = salu + smem
        SQ_ACTIVE_INST_EXP_GDS = 0
        SQ_ACTIVE_INST_MISC = branch + sendmsg
        SQ_ACTIVE_INST_ANY = valu_clocks / 4 + vmem + lds + salu + smem + branch + sendmsg
        SQ_INST_CYCLES_SALU = salu
        SQ_INST_CYCLES_SMEM = smem
        SQ_INST_CYCLES_VMEM_RD = vmem_rd
        SQ_INST_CYCLES_VMEM_WR = vmem_wr
        SQ_INST_CYCLES_VALU = valu_clocks / 4  # by WGP: AMD's VALUBusy divides it by SIMD_NUM/4 and is 100 % at most
        SQ_THREAD_CYCLES_VALU = valu_lane_clocks / 4
        SQ_VALU_MFMA_BUSY_CYCLES = matrix_clocks
        GRBM_COUNT = clocks  # of the launch, start-up included
        GRBM_GUI_ACTIVE = clocks
        GRBM_{SPI,CP}_BUSY = clocks
        SPI_CSN_BUSY = engines_busy
        SPI_CSN_WINDOW_VALID = clocks * shader_engines
        SQ_BUSY_CYCLES = sqs_busy  # summed over the SQs with a workgroup: of shader engines on CDNA, of WGPs on RDNA
        SQ_BUSY_CU_CYCLES = cus_busy / 4
        SQ_WAVE_CYCLES = resident / wave_cycle_clocks  # waves that fit, times the clocks that the launch is busy
        SQ_WAIT_ANY = idle / wave_cycle_clocks  # of that time, what a wave does not need to issue its own instructions
        SPI_RA_REQ_NO_ALLOC = queued * shader_engines  # while workgroups wait for room
        SPI_RA_REQ_NO_ALLOC_CSN = queued * shader_engines
        SPI_RA_RES_STALL_CSN = queued * shader_engines
        SPI_RA_{VGPR,SGPR,WAVE}_SIMD_FULL_CSN = queued_{} * simds  # if this is what limits the occupancy
        SPI_RA_{LDS,BAR}_CU_FULL_CSN = queued_{} * cus
        SPI_RA_BULKY_CU_FULL_CSN = 0
        SPI_RA_TGLIM_CU_FULL_CSN = 0
        SPI_RA_TMP_STALL_CSN = 0
        SPI_RA_WVLIM_STALL_CSN = 0
        TA_TA_BUSY = l1_clocks
    """),
)  # fmt: skip

_CHOICE = re.compile(r"\{([^{}]*)\}")


def _spread(name: str, formula: str) -> Iterable[tuple[str, str]]:
    choice = _CHOICE.search(name)
    if choice is None:
        yield name, formula
        return
    for chosen in choice[1].split(","):
        yield from _spread(_CHOICE.sub(chosen, name, count=1), formula.replace("{}", chosen.lower(), 1))


@cache
def rules() -> Mapping[str, Rule]:
    """Every rule by counter name."""
    found: dict[str, Rule] = {}
    for kind, text in _RULES:
        for line in text.strip().splitlines():
            pattern, _, rest = line.strip().partition(" = ")
            formula, _, how = rest.partition("  # ")
            for name, exact_formula in _spread(pattern, formula.strip()):
                if name in found:
                    raise InternalError(f"two rules for the counter {name}")
                timed = any(word in _TIMED for word in re.findall(r"[a-z_0-9]+", exact_formula))
                found[name] = Rule(name, kind, exact_formula, how.strip(), timed)
    return found


@cache
def table(arch: str) -> Mapping[str, Rule]:
    """The rules of the counters that a profile gives on an architecture, by name, in the order of counter_names."""
    return {name: rules()[name] for name in counter_names.raw(arch) if name in rules()}


def markdown() -> str:
    """The table of docs/counters.md: a line of the rules in each row."""
    rows = ["| counter | how certain | value | what is meant or assumed |", "|---|---|---|---|"]
    for kind, text in _RULES:
        for line in text.strip().splitlines():
            pattern, _, rest = line.strip().partition(" = ")
            formula, _, how = rest.partition("  # ")
            rows.append(f"| {pattern} | {kind} | `{formula.strip()}` | {how.strip()} |")
    return "\n".join(rows) + "\n"


def names(arch: str) -> tuple[str, ...]:
    """The raw counters that a profile gives on an architecture."""
    return tuple(table(arch))


@cache
def _formulas(arch: str, timed: bool) -> CodeType:
    """All formulas of an architecture's table as one expression that gives a dictionary."""
    entries = [f"{r.name!r}: round({r.formula})" for r in table(arch).values() if timed or not r.needs_time]
    return compile("{" + ", ".join(entries) + "}", "<counters>", "eval")


# --------------------------------------------------------------------------------------------------------- quantities

_MATRIX_TYPES = ("f16", "bf16", "f32", "f64", "i8", "f8", "xf32", "f6f4")


def operations(decoded: Decoded) -> tuple[str, ...]:
    """The quantities, of SQ_INSTS_VALU_*, that an instruction adds one to."""
    row = decoded.row
    return (row.counted,) if isinstance(row, Row) and row.counted else ()


_OPERATIONS = {"add": 1, "mul": 1, "fma": 2, "trans": 1}


def float_operations(decoded: Decoded) -> tuple[str, float]:
    """Kind, the key of a compute roof, and number of the float operations of one execution for each active lane.

    What an instruction does is what the counters SQ_INSTS_VALU_ADD_F32 and their like say of it; a packed instruction
    does it twice. Those counters leave out VOPD pairs, dot products and mixed multiply-adds, which are counted here.
    Comparisons, minima, conversions and the steps of a division that are not multiply-adds are no operations, as in
    AMD's counters. Matrix instructions are not looked at.
    """
    kind, number = _float_operations(decoded.row)
    if decoded.pair is not None:
        number += _float_operations(decoded.pair.row)[1]
        kind = "fp32 packed"
    return (kind, number) if number else ("", 0)


def _float_operations(row: AnyRow) -> tuple[str, float]:
    if not isinstance(row, Row):
        return "", 0
    if row.products:
        return "fp16 packed", 2 * row.products
    if row.packed == "mix":
        return "fp32 plain", 2
    what, _, width = row.counted.partition("_f")
    if what not in _OPERATIONS:
        return "", 0
    packed = row.packed == "pairs"
    kind = "fp64" if width == "64" else f"fp{width} {'packed' if packed else 'plain'}"
    return kind, _OPERATIONS[what] * (2 if packed else 1)


def _matrix_type(row: Matrix) -> str:
    return {"fp8": "f8", "bf8": "f8", "iu8": "i8"}.get(row.a, row.a)


_FLOWS = ("writebacks_32", "writebacks_64", "lines_written", "evicted", "evicted_dirty")


@cache
def quantity_names() -> frozenset[str]:
    """Every quantity that a formula may name."""
    actions = ("load", "store", "atomic", "atomic_ret")
    floats = ("f16", "f32", "f64")
    return frozenset(
        {
            *_SHORT.values(), *_TIMED, "insts", "lds_counted", "cvt", "int32", "int64", "sendmsg", "valu_clocks",
            "valu_lane_clocks", "matrix_clocks", "lds_load", "lds_store", "lds_atomic", "buffer", "buffer_rd",
            "buffer_wr", "quads", "vector_lines", "vector_load_lines", "vector_hits", "scalar_lines", "scalar_hits",
            "requests", "l2_hits", "reads_64", "reads_128", "bank_cycles", "conflict_cycles", "memory_hits",
            *_FLOWS, "waves", "workgroups", "items", "waves_full", "wave32", "shader_engines", "simds",
            "cus", "wave_cycle_clocks",
            *(f"waves_lt_{limit}" for limit in (16, 32, 48, 64)),
            *(f"smem_dwords_{number}" for number in (1, 2, 4, 8, 16)),
            *(f"{what}_{kind}" for what in ("add", "mul", "fma", "trans") for kind in floats),
            *(f"{what}_{kind}" for what in ("mfma", "mops") for kind in _MATRIX_TYPES),
            *(f"{what}_{action}" for what in ("quads", "requests") for action in actions),
            *(f"{what}_{action}" for what in ("vmem", "buffer") for action in actions[:3]),
        }
    )  # fmt: skip


class Quantities(dict[str, float]):
    """The numbers that the formulas of the rules are written with; 0 where nothing is said."""

    def __init__(self, **values: float) -> None:
        super().__init__(dict.fromkeys(quantity_names(), 0))
        self.update(values)


class Contributions:
    """What each instruction of a kernel adds to the quantities: `add` does so for all that were executed."""

    def __init__(self, architecture: Architecture, decoded: Mapping[int, Decoded]) -> None:
        self.architecture = architecture
        self.lane_clocks: dict[int, float] = {}
        self.amounts = {index: tuple(self._amounts(index, instruction)) for index, instruction in decoded.items()}

    def _amounts(self, index: int, decoded: Decoded) -> list[tuple[str, float]]:
        found: list[tuple[str, float]] = [("insts", 1)]
        row = decoded.row
        found += [(_SHORT[name], 1) for name in category(decoded)]
        found += [(name, 1) for name in operations(decoded)]
        clocks = timing.issue_clocks(self.architecture).get(timing.kind(decoded))
        if clocks is not None:
            found.append(("valu_clocks", clocks))
            self.lane_clocks[index] = clocks
        if isinstance(row, Matrix):
            kind = _matrix_type(row)
            if row.layout == "mfma":
                found.append((f"mfma_{kind}", 1))
            found.append((f"mops_{kind}", 2 * row.m * row.n * row.k * row.blocks / 512))
            found.append(("matrix_clocks", timing.matrix_clocks(self.architecture, row)))
        elif isinstance(row, Control) and row.kind in ("sendmsg", "sendmsg_rtn"):
            found.append(("sendmsg", 1))
        elif isinstance(row, Memory):
            found += self._memory(decoded, row)
        elif isinstance(row, Image):
            found.append((f"vmem_{'store' if row.action == 'store' else 'load'}", 1))
        return found

    def _memory(self, decoded: Decoded, row: Memory) -> list[tuple[str, float]]:
        if row.space == "lds":
            return [(f"lds_{row.action}", 1)]
        if row.space == "scalar":
            return [(f"smem_dwords_{max(1, row.element * row.count // 32)}", 1)]
        found: list[tuple[str, float]] = [(f"vmem_{row.action}", 1)]
        if row.space == "buffer":
            reads = row.action == "load" or (row.action == "atomic" and returns_value(decoded.instruction, row))
            found += [("buffer", 1), (f"buffer_{row.action}", 1), ("buffer_rd" if reads else "buffer_wr", 1)]
        return found

    def add(self, q: Quantities, costs: Mapping[int, InstructionCost]) -> None:
        """Add what the executed instructions amount to."""
        for index, cost in costs.items():
            times = cost.executed
            if times:
                for name, amount in self.amounts[index]:
                    q[name] = q.get(name, 0) + amount * times
        for index, clocks in self.lane_clocks.items():
            q["valu_lane_clocks"] += clocks * costs[index].active_lanes
        q["lds_counted"] = q["lds"] + (q["flat"] if self.architecture.flat_counts_as_lds else 0)


_OBSERVED = ("requests", "l2_hits", "reads_64", "reads_128", "bank_cycles", "conflict_cycles", "memory_hits")


def access_quantities(access: Observed, total: Mapping[str, int], decoded: Mapping[int, Decoded]) -> dict[str, int]:
    """What one memory access amounts to."""
    found = {name: total[name] for name in _OBSERVED}
    if access.space == "scalar":
        return found | {"scalar_lines": total["lines"], "scalar_hits": total["first_hits"]}
    action = access.action
    if action == "atomic" and access.space != "lds":
        instruction = decoded[access.instruction]
        assert isinstance(instruction.row, Memory)
        action = "atomic_ret" if returns_value(instruction.instruction, instruction.row) else "atomic"
    found |= {"quads": total["quads"], f"quads_{action}": total["quads"], "vector_lines": total["lines"]}
    found[f"requests_{action}"] = total["requests"]
    if action == "load":
        found |= {"vector_load_lines": total["lines"], "vector_hits": total["first_hits"]}
    return found


def add_memory(
    q: Quantities,
    accesses: Sequence[Observed],
    totals: Sequence[Mapping[str, int]],
    observed: Sequence[Mapping[str, int]],
    flows: Mapping[str, int],
    decoded: Mapping[int, Decoded],
) -> None:
    """Add what the memory accesses amount to.

    Args:
        totals: of each access, scaled to all executions; observed: as they were observed.
        flows: of the launch, as observed; write-backs are scaled like the writes to the L2.
    """

    written = written_seen = 0
    for access, total, seen in zip(accesses, totals, observed, strict=True):
        for name, amount in access_quantities(access, total, decoded).items():
            q[name] += amount
        if access.action != "load" and access.space != "scalar":
            written += total["requests"]
            written_seen += seen["requests"]
    requests_seen = sum(seen["requests"] for seen in observed)
    for name in _FLOWS:
        whole, part = (q["requests"], requests_seen) if name == "evicted" else (written, written_seen)
        q[name] = round(flows[name] * whole / part) if part else 0


def add_launch(q: Quantities, architecture: Architecture, workgroups: int, block: tuple[int, int, int]) -> None:
    """Add what the shape of a launch says: waves by the number of their work-items, and the device's own numbers."""
    threads, size = block[0] * block[1] * block[2], architecture.wave_size
    sizes = [size] * (threads // size) + ([threads % size] if threads % size else [])
    q.update(
        waves=workgroups * len(sizes),
        workgroups=workgroups,
        items=workgroups * threads,
        waves_full=workgroups * sum(lanes == 64 for lanes in sizes),
        wave32=int(size == 32),
        shader_engines=architecture.shader_engines,
        simds=architecture.compute_units * architecture.simds_per_cu,
        cus=architecture.compute_units,
    )
    for limit in (16, 32, 48, 64):
        q[f"waves_lt_{limit}"] = workgroups * sum(lanes < limit for lanes in sizes)


_LIMITS = {"VGPRs": "vgpr", "SGPRs": "sgpr", "wave slots": "wave", "LDS": "lds", "barriers": "bar"}


def add_time(q: Quantities, architecture: Architecture, work: Work, time: ModelledTime) -> None:
    """Add what the modelled time says: clocks of the launch, and clocks for which its parts of the device had work."""
    a, workgroups, waves = architecture, work.workgroups, work.waves
    busy = (time.us - time.overhead_us) * time.clock_mhz
    units = min(workgroups, a.multiprocessors)
    slots = max(time.resident_waves // max(waves, 1), 1)
    waiting = max(0.0, 1 - slots * a.multiprocessors / workgroups)
    q.update(
        clocks=round(time.us * time.clock_mhz),
        busy=round(busy),
        engines_busy=round(busy * min(workgroups, a.shader_engines)),
        # AMD's SIMD_UTILIZATION divides SQ_BUSY_CYCLES of RDNA by SIMD_NUM/4, the number of WGPs.
        sqs_busy=round(busy * (min(workgroups, a.shader_engines) if a.sq_serves == "shader engine" else units)),
        cus_busy=round(busy * units * (a.compute_units // a.multiprocessors)),
        resident=busy * min(workgroups * waves, time.resident_waves * units),
        wave_cycle_clocks=a.wave_cycle_clocks,
        idle=max(busy * min(workgroups * waves, time.resident_waves * units) - work.path_clocks, 0),
        queued=round(busy * waiting),
        l1_clocks=round(work.traffic.l1_clocks),
    )
    held = occupancy(a, work.vgprs, work.agprs, work.sgprs, work.lds_bytes, work.threads, cu_mode=work.cu_mode)
    for name in held.binding:
        q[f"queued_{_LIMITS[name]}"] = q["queued"]


def raw(arch: str, quantities: Quantities, timed: bool) -> dict[str, int]:
    """The raw counters of a launch by name: all that the device has and the rules can say; without a modelled time
    (`timed`) those that do not need one."""
    found: dict[str, int] = eval(_formulas(arch, timed), {"__builtins__": {"round": round}}, quantities)
    return found


#: quantities that no single instruction has: of the launch's shape, of its time, of lines written back later
_WHOLE = frozenset((*_TIMED, *_FLOWS, "waves", "workgroups", "items", "waves_full"))


@cache
def of_parts(arch: str) -> frozenset[str]:
    """The counters that a part of a kernel has: those of instructions and of their memory accesses."""

    def whole(rule: Rule) -> bool:
        words = re.findall(r"[a-z_0-9]+", rule.formula)
        return any(word in _WHOLE or word.startswith("waves_lt_") for word in words) or not any(
            word in quantity_names() for word in words
        )

    return frozenset(name for name, rule in table(arch).items() if not whole(rule))


def part(
    architecture: Architecture, costs: Iterable[InstructionCost], accesses: Iterable[AccessCost]
) -> dict[str, int]:
    """The raw counters that some instructions of a profiled launch and their accesses account for."""
    q = Quantities(wave32=int(architecture.wave_size == 32))
    for cost in costs:
        for name, amount in cost.amounts:
            q[name] = q.get(name, 0) + amount * cost.executed
        q["valu_lane_clocks"] += cost.lane_clocks * cost.active_lanes
    for access in accesses:
        for name, number in access.quantities.items():
            q[name] += number
    q["lds_counted"] = q["lds"] + (q["flat"] if architecture.flat_counts_as_lds else 0)
    known = of_parts(architecture.name)
    return {name: value for name, value in raw(architecture.name, q, timed=False).items() if name in known}
