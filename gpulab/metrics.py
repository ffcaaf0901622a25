"""Metrics: numbers computed from a launch's counters, AMD's by AMD's names and formulas, and gpulab's own.

`find` gives what a name means on an architecture and refuses what the device does not define, `value` computes a metric
of a launch, `needed` and `passes` say which counters must be collected for it. The formulas of `AMD` are those of
rocprofiler-sdk's definitions (config.yaml in ROCm/rocm-systems, commit 0226d38e of 2026); those of `OWN`, all in lower
case, are gpulab's, and each says where its formula comes from.

A formula has numbers, + - * /, names, ``reduce(NAME, sum)`` over the instances of a block (also max, min, avr) and
``accumulate(NAME, ...)`` over time. CU_NUM, SIMD_NUM, SE_NUM and MAX_WAVE_SIZE are the device's.
"""

from __future__ import annotations

import ast
import difflib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from gpulab import architectures as devices
from gpulab import counter_names
from gpulab.counter_names import SETS, Counter
from gpulab.errors import CounterNotFound
from gpulab.records import AccessCost, Counters, Launch

CONSTANTS = ("CU_NUM", "SIMD_NUM", "SE_NUM", "MAX_WAVE_SIZE")


@dataclass(frozen=True, slots=True)
class Metric:
    """A number computed from counters.

    Attributes:
        unit: "%", "KiB", "clocks" …; "" for a plain ratio or count.
        source: "AMD" for rocprofiler-sdk's definition; else where gpulab's formula comes from.
    """

    name: str
    expression: str
    architectures: tuple[str, ...]
    meaning: str
    unit: str = ""
    source: str = "AMD"


_90A, _CDNA, _CDNA3 = "gfx90a", "gfx90a gfx942 gfx950", "gfx942 gfx950"
_RDNA, _RDNA2_3, _RDNA3_4 = "gfx1030 gfx1100 gfx1201", "gfx1030 gfx1100", "gfx1100 gfx1201"
_OLD = f"{_RDNA} gfx90a"  # what CDNA 3 no longer lists
_GPU = "reduce(GRBM_GUI_ACTIVE,max)"
_PERCENT = "%"

# (name, architectures, expression, unit, meaning)
AMD: tuple[tuple[str, str, str, str, str], ...] = (
    # How much of the device was busy
    ("GPUBusy", _OLD, f"100*{_GPU}/reduce(GRBM_COUNT,max)", _PERCENT, "time that the GPU had work"),
    ("GPU_UTIL", f"{_CDNA} {_RDNA}", f"100*{_GPU}/reduce(GRBM_COUNT,max)", _PERCENT, "time that the GPU had work"),
    ("GpuUtil", _90A, f"100*{_GPU}/reduce(GRBM_COUNT,max)", _PERCENT, "time that the GPU had work"),
    ("CP_UTIL", "gfx1030", f"100*reduce(GRBM_CP_BUSY,max)/{_GPU}", _PERCENT, "command processor busy"),
    ("EA_UTIL", "gfx1030", f"100*reduce(GRBM_EA_BUSY,max)/{_GPU}", _PERCENT, "way to memory busy"),
    ("GDS_UTIL", "gfx1030", f"100*reduce(GRBM_GDS_BUSY,max)/{_GPU}", _PERCENT, "GDS busy"),
    ("SPI_UTIL", "gfx1030", f"100*reduce(GRBM_SPI_BUSY,max)/{_GPU}", _PERCENT, "SPI busy"),
    ("TA_UTIL", "gfx1030", f"100*reduce(GRBM_TA_BUSY,max)/{_GPU}", _PERCENT, "any TA busy"),
    ("CpUtil", _90A, f"100*reduce(GRBM_CP_BUSY,max)/{_GPU}", _PERCENT, "command processor busy"),
    ("EaUtil", _90A, f"100*reduce(GRBM_EA_BUSY,max)/{_GPU}", _PERCENT, "way to memory busy"),
    ("SpiUtil", _90A, f"100*reduce(GRBM_SPI_BUSY,max)/{_GPU}", _PERCENT, "SPI busy"),
    ("TaUtil", _90A, f"100*reduce(GRBM_TA_BUSY,max)/{_GPU}", _PERCENT, "any TA busy"),
    ("TcUtil", _90A, f"100*reduce(GRBM_TC_BUSY,max)/{_GPU}", _PERCENT, "any cache busy"),
    ("AggSysCycles", _90A, f"{_GPU}*CU_NUM", "clocks", "clocks of all compute units"),
    ("SIMD_UTILIZATION", _RDNA3_4, "reduce(SQ_BUSY_CYCLES,sum)/reduce(GRBM_COUNT,max)/(SIMD_NUM/4)", "",
     "share of time that WGPs had waves, 0 to 1"),
    ("SIMD_UTILIZATION", _CDNA, "reduce(SQ_BUSY_CU_CYCLES,sum)/reduce(GRBM_COUNT,max)/CU_NUM", "",
     "share of time that CUs had waves; SQ_BUSY_CU_CYCLES counts quad-cycles, so AMD's formula gives 0.25 at most"),
    # Waves
    ("Wavefronts", _OLD, "reduce(SQ_WAVES,sum)", "", "waves started"),
    ("OccupancyPercent", _RDNA, f"100*reduce(SQ_WAVE_CYCLES,sum)/{_GPU}/CU_NUM/32", _PERCENT,
     "waves resident, of 32 per CU, over the time of the launch"),
    ("OccupancyPercent", _CDNA, f"400*reduce(SQ_WAVE_CYCLES,sum)/{_GPU}/CU_NUM/32", _PERCENT,
     "waves resident, of 32 per CU, over the time of the launch"),
    ("MeanOccupancyPerCU", _RDNA3_4, f"reduce(SQ_WAVE_CYCLES,sum)/{_GPU}/CU_NUM", "waves", "waves resident per CU"),
    ("MeanOccupancyPerCU", f"gfx1030 {_CDNA}", f"reduce(accumulate(SQ_LEVEL_WAVES, HIGH_RES),sum)/{_GPU}/CU_NUM",
     "waves", "waves resident per CU"),
    ("MeanOccupancyPerActiveCU", _RDNA3_4, "reduce(SQ_WAVE_CYCLES,sum)/reduce(SQ_BUSY_CYCLES,sum)", "waves",
     "waves resident per CU that has any"),
    ("MeanOccupancyPerActiveCU", _CDNA, "reduce(accumulate(SQ_LEVEL_WAVES, LOW_RES),sum)/reduce(SQ_BUSY_CU_CYCLES,sum)",
     "waves", "waves resident per CU that has any"),
    ("WaveDuration", _90A, "4*reduce(SQ_WAVE_CYCLES,sum)/reduce(SQ_WAVES,sum)", "clocks", "life of a wave"),
    ("WaveExec", _90A, "100*reduce(SQ_ACTIVE_INST_ANY,sum)/reduce(SQ_WAVE_CYCLES,sum)", _PERCENT,
     "part of its life that a wave works on an instruction"),
    ("WaveDepWait", _90A, "100*reduce(SQ_WAIT_ANY,sum)/reduce(SQ_WAVE_CYCLES,sum)", _PERCENT,
     "part of its life that a wave waits for something"),
    ("WaveIssueWait", _90A, "100*reduce(SQ_WAIT_INST_ANY,sum)/reduce(SQ_WAVE_CYCLES,sum)", _PERCENT,
     "part of its life that a wave waits to issue"),
    ("WAVE_DEP_WAIT", _RDNA, "100*reduce(SQ_WAIT_ANY,sum)/reduce(SQ_WAVE_CYCLES,sum)", _PERCENT,
     "part of its life that a wave waits for something"),
    ("WAVE_ISSUE_WAIT", _RDNA, "100*reduce(SQ_WAIT_INST_ANY,sum)/reduce(SQ_WAVE_CYCLES,sum)", _PERCENT,
     "part of its life that a wave waits to issue"),
    # Instructions
    ("VALUInsts", _OLD, "reduce(SQ_INSTS_VALU,sum)/reduce(SQ_WAVES,sum)", "", "vector ALU instructions per wave"),
    ("SALUInsts", _OLD, "reduce(SQ_INSTS_SALU,sum)/reduce(SQ_WAVES,sum)", "", "scalar ALU instructions per wave"),
    ("SFetchInsts", _OLD, "reduce(SQ_INSTS_SMEM,sum)/reduce(SQ_WAVES,sum)", "", "scalar memory instructions per wave"),
    ("GDSInsts", f"{_RDNA2_3} gfx90a", "reduce(SQ_INSTS_GDS,sum)/reduce(SQ_WAVES,sum)", "",
     "GDS instructions per wave"),
    ("LDSInsts", _90A, "(reduce(SQ_INSTS_LDS,sum)-reduce(SQ_INSTS_FLAT_LDS_ONLY,sum))/reduce(SQ_WAVES,sum)", "",
     "LDS instructions per wave, without FLAT"),
    ("FlatLDSInsts", _90A, "reduce(SQ_INSTS_FLAT_LDS_ONLY,sum)/reduce(SQ_WAVES,sum)", "",
     "FLAT instructions to LDS per wave"),
    ("FlatVMemInsts", _90A, "(reduce(SQ_INSTS_FLAT,sum)-reduce(SQ_INSTS_FLAT_LDS_ONLY,sum))/reduce(SQ_WAVES,sum)", "",
     "FLAT instructions to memory per wave"),
    ("VFetchInsts", _CDNA, "(reduce(SQ_INSTS_VMEM_RD,sum)-TA_FLAT_READ_WAVEFRONTS_sum)/reduce(SQ_WAVES,sum)", "",
     "vector memory reads per wave, without those that the TA counts as FLAT"),
    ("VWriteInsts", _CDNA, "(reduce(SQ_INSTS_VMEM_WR,sum)-TA_FLAT_WRITE_WAVEFRONTS_sum)/reduce(SQ_WAVES,sum)", "",
     "vector memory writes per wave, without those that the TA counts as FLAT"),
    ("VALUUtilization", _CDNA,
     "100*reduce(SQ_THREAD_CYCLES_VALU,sum)/(reduce(SQ_ACTIVE_INST_VALU,sum)*MAX_WAVE_SIZE)", _PERCENT,
     "lanes active in vector ALU instructions"),
    ("AvgNumActiveThreads", _90A, "reduce(SQ_THREAD_CYCLES_VALU,sum)/reduce(SQ_ACTIVE_INST_VALU,sum)", "lanes",
     "lanes active in vector ALU instructions"),
    ("VALUBusy", _CDNA, f"100*reduce(SQ_ACTIVE_INST_VALU,sum)/CU_NUM/{_GPU}", _PERCENT,
     "time that vector ALU instructions run"),
    ("VALUBusy", _RDNA3_4, f"100*reduce(SQ_INST_CYCLES_VALU,sum)/(SIMD_NUM/4)/{_GPU}", _PERCENT,
     "time that vector ALU instructions run"),
    ("ValuPipeIssueUtil", _CDNA, f"100*reduce(SQ_ACTIVE_INST_VALU,sum)/({_GPU}*CU_NUM)", _PERCENT,
     "time that vector ALU instructions run"),
    ("ValuPipeIssueUtil", _RDNA3_4, f"100*reduce(SQ_INST_CYCLES_VALU,sum)/({_GPU}*(SIMD_NUM/4))", _PERCENT,
     "time that vector ALU instructions run"),
    ("SALUBusy", _CDNA, f"100*reduce(SQ_INST_CYCLES_SALU,sum)/CU_NUM/{_GPU}", _PERCENT,
     "time that scalar ALU instructions run"),
    ("ScaPipeIssueUtil", _90A, f"100*reduce(SQ_ACTIVE_INST_SCA,sum)/({_GPU}*CU_NUM)", _PERCENT,
     "time that scalar instructions run"),
    ("VmemPipeIssueUtil", _90A,
     f"400*(reduce(SQ_ACTIVE_INST_VMEM,sum)+reduce(SQ_ACTIVE_INST_FLAT,sum))/({_GPU}*CU_NUM)", _PERCENT,
     "time that vector memory instructions run"),
    ("LdsPipeIssueUtil", _90A, f"400*reduce(SQ_ACTIVE_INST_LDS,sum)/({_GPU}*CU_NUM*2)", _PERCENT,
     "time that LDS instructions run"),
    ("ValuIops", _90A, "(SQ_INSTS_VALU_INT32+SQ_INSTS_VALU_INT64)*64", "operations",
     "integer operations, every lane taken as active"),
    ("TOTAL_16_OPS", _CDNA,
     "(SQ_INSTS_VALU_FMA_F16*2+SQ_INSTS_VALU_ADD_F16+SQ_INSTS_VALU_MUL_F16+SQ_INSTS_VALU_TRANS_F16)*64"
     "+((SQ_INSTS_VALU_MFMA_MOPS_F16+SQ_INSTS_VALU_MFMA_MOPS_BF16)*512)", "operations",
     "16-bit operations, every lane taken as active"),
    ("TOTAL_32_OPS", _CDNA,
     "(SQ_INSTS_VALU_FMA_F32*2+SQ_INSTS_VALU_INT32+SQ_INSTS_VALU_ADD_F32+SQ_INSTS_VALU_MUL_F32"
     "+SQ_INSTS_VALU_TRANS_F32)*64+(SQ_INSTS_VALU_MFMA_MOPS_F32*512)", "operations",
     "32-bit operations, integer ones included, every lane taken as active"),
    ("TOTAL_64_OPS", _CDNA,
     "(SQ_INSTS_VALU_FMA_F64*2+SQ_INSTS_VALU_INT64+SQ_INSTS_VALU_ADD_F64+SQ_INSTS_VALU_MUL_F64)*64"
     "+(SQ_INSTS_VALU_MFMA_MOPS_F64*512)", "operations",
     "64-bit operations, integer ones included, every lane taken as active"),
    ("RDC_OPS_16_PER_SIMDCYCLE", _CDNA, "TOTAL_16_OPS/SIMD_NUM/reduce(GRBM_COUNT,max)",
     "operations per clock",
     "16-bit operations per SIMD and clock"),
    ("RDC_OPS_32_PER_SIMDCYCLE", _CDNA, "TOTAL_32_OPS/SIMD_NUM/reduce(GRBM_COUNT,max)",
     "operations per clock",
     "32-bit operations per SIMD and clock"),
    ("RDC_OPS_64_PER_SIMDCYCLE", _CDNA, "TOTAL_64_OPS/SIMD_NUM/reduce(GRBM_COUNT,max)",
     "operations per clock",
     "64-bit operations per SIMD and clock"),
    ("MfmaUtil", _CDNA, f"reduce(SQ_VALU_MFMA_BUSY_CYCLES,sum)/({_GPU}*SIMD_NUM)*100", _PERCENT,
     "time that the matrix units run"),
    ("MfmaFlops", _CDNA,
     "(SQ_INSTS_VALU_MFMA_MOPS_F16+SQ_INSTS_VALU_MFMA_MOPS_BF16+SQ_INSTS_VALU_MFMA_MOPS_F32"
     "+SQ_INSTS_VALU_MFMA_MOPS_F64)*512", "operations", "float operations of matrix instructions"),
    ("MfmaFlopsF16", _CDNA, "SQ_INSTS_VALU_MFMA_MOPS_F16*512", "operations", "F16 operations of matrix instructions"),
    ("MfmaFlopsBF16", _CDNA, "SQ_INSTS_VALU_MFMA_MOPS_BF16*512", "operations",
     "BF16 operations of matrix instructions"),
    ("MfmaFlopsF32", _CDNA, "SQ_INSTS_VALU_MFMA_MOPS_F32*512", "operations", "F32 operations of matrix instructions"),
    ("MfmaFlopsF64", _CDNA, "SQ_INSTS_VALU_MFMA_MOPS_F64*512", "operations", "F64 operations of matrix instructions"),
    # Latencies
    ("InstrFetchLatency", _CDNA, "reduce(accumulate(SQ_IFETCH_LEVEL, HIGH_RES),sum)/reduce(SQ_IFETCH,sum)", "clocks",
     "latency of an instruction fetch"),
    ("VmemLatency", _CDNA, "reduce(accumulate(SQ_INST_LEVEL_VMEM, HIGH_RES),sum)/reduce(SQ_INSTS_VMEM,sum)", "clocks",
     "latency of a vector memory instruction"),
    ("SmemLatency", _CDNA, "reduce(accumulate(SQ_INST_LEVEL_SMEM, HIGH_RES),sum)/reduce(SQ_INSTS_SMEM_NORM,sum)",
     "clocks", "latency of a scalar memory request"),
    ("LdsLatency", f"{_CDNA} {_RDNA2_3}",
     "reduce(accumulate(SQ_INST_LEVEL_LDS, HIGH_RES),sum)/reduce(SQ_INSTS_LDS,sum)", "clocks",
     "latency of an LDS instruction"),
    # LDS
    ("LDSBankConflict", _RDNA, "100*reduce(SQC_LDS_BANK_CONFLICT,sum)/reduce(SQC_LDS_IDX_ACTIVE,sum)", _PERCENT,
     "part of the time of LDS that goes into bank conflicts (CDNA has the name for a part of the GPU's time)"),
    ("LDSBankConflict", _CDNA, f"100*reduce(SQ_LDS_BANK_CONFLICT,sum)/{_GPU}/CU_NUM", _PERCENT,
     "part of the GPU's time that LDS spends in bank conflicts (RDNA has the name for a part of the time of LDS)"),
    ("LdsBankConflict", _CDNA,
     "reduce(SQ_LDS_BANK_CONFLICT,sum)/(reduce(SQ_LDS_IDX_ACTIVE,sum)-reduce(SQ_LDS_BANK_CONFLICT,sum))",
     "conflicts per access", "clocks lost to bank conflicts per clock of work (not the same as LDSBankConflict)"),
    ("LdsUtil", _CDNA, f"100*reduce(SQ_LDS_IDX_ACTIVE,sum)/({_GPU}*CU_NUM)", _PERCENT, "time that LDS is busy"),
    ("LdsUtil", "gfx1201", f"100*reduce(SQC_LDS_IDX_ACTIVE,sum)/({_GPU}*(SIMD_NUM/4))", _PERCENT,
     "time that LDS is busy"),
    ("ALUStalledByLDS", f"{_RDNA2_3} gfx90a", f"400*reduce(SQ_WAIT_INST_LDS,sum)/reduce(SQ_WAVES,sum)/{_GPU}", _PERCENT,
     "time that waves wait to issue LDS instructions"),
    # Vector memory and L1
    ("MemUnitBusy", _OLD, f"100*reduce(TA_TA_BUSY,max)/{_GPU}", _PERCENT, "time that the memory unit is busy"),
    ("MemUnitStalled", _CDNA, f"100*TCP_TCP_TA_DATA_STALL_CYCLES_max/{_GPU}/SE_NUM", _PERCENT,
     "time that the memory unit is held up"),
    ("TA_BUSY_avr", f"{_CDNA} {_RDNA}", "reduce(TA_TA_BUSY,avr)", "clocks", "TA busy, mean over TAs"),
    ("TA_BUSY_max", f"{_CDNA} {_RDNA}", "reduce(TA_TA_BUSY,max)", "clocks", "TA busy, the busiest TA"),
    ("TA_BUSY_min", f"{_CDNA} {_RDNA}", "reduce(TA_TA_BUSY,min)", "clocks", "TA busy, the idlest TA"),
    ("L0CacheHit", "gfx1201", "(1-(reduce(TCP_REQ_MISS,sum)/reduce(TCP_REQ,sum)))*100", _PERCENT,
     "requests that hit the vector L0 cache"),
    ("SerializedAtomicRatio", _CDNA, "TCP_ATOMIC_TAGCONFLICT_STALL_CYCLES_sum/TCP_GATE_EN1_sum", "",
     "share of the L1 clocks in which atomics wait for each other; much above 0.10"),
    ("vL1dBufCoalesceRate", _90A, "6400*TA_TOTAL_WAVEFRONTS_sum/(TCP_TOTAL_ACCESSES_sum*4)", _PERCENT,
     "coalescing: 100 best, 25 worst"),
    ("vL1dCacheUtil", _90A, "100*TCP_GATE_EN2_sum/TCP_GATE_EN1_sum", _PERCENT, "L1 clocks in which its core runs"),
    ("vL1dCacheTcbHitRate", _90A, "100*TCP_UTCL1_TRANSLATION_HIT_sum/TCP_UTCL1_REQUEST_sum", _PERCENT,
     "address translations found at once"),
    ("vL1dCacheWaveLatency", _90A, "TCP_TCP_LATENCY_sum/TCP_TA_TCP_STATE_READ_sum", "clocks",
     "time of a wave instruction in the L1"),
    ("vL1dDataPendRate", _90A, "100*TCP_PENDING_STALL_CYCLES_sum/TCP_GATE_EN2_sum", _PERCENT, "L1 waits for L2"),
    ("vL1dDataRetStallRate", _90A, "100*TD_TC_STALL_sum/TD_TD_BUSY_sum", _PERCENT, "TD waits for the L1"),
    ("vL1dMissReqStallRate", _90A, "100*TCP_TCR_TCP_STALL_CYCLES_sum/TCP_GATE_EN2_sum", _PERCENT,
     "L1 waits to send requests to L2"),
    ("vL1dRdTagConfStallRate", _90A, "100*TCP_READ_TAGCONFLICT_STALL_CYCLES_sum/TCP_GATE_EN2_sum", _PERCENT,
     "reads wait for a line of the L1"),
    ("vL1dWrTagConfStallRate", _90A, "100*TCP_WRITE_TAGCONFLICT_STALL_CYCLES_sum/TCP_GATE_EN2_sum", _PERCENT,
     "writes wait for a line of the L1"),
    ("vL1dAtomicTagConfStallRate", _90A, "100*TCP_ATOMIC_TAGCONFLICT_STALL_CYCLES_sum/TCP_GATE_EN2_sum", _PERCENT,
     "atomics wait for a line of the L1"),
    ("vL1dReadFromL2Latency", _90A,
     "TCP_TCC_READ_REQ_LATENCY_sum/(TCP_TCC_READ_REQ_sum+TCP_TCC_ATOMIC_WITH_RET_REQ_sum)", "clocks",
     "latency of reads from L2"),
    ("vL1dWriteToL2Latency", _90A,
     "TCP_TCC_WRITE_REQ_LATENCY_sum/(TCP_TCC_WRITE_REQ_sum+TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum)", "clocks",
     "latency of writes to L2"),
    ("sL1dCacheHitRate", _90A, "100*reduce(SQC_DCACHE_HITS,sum)/reduce(SQC_DCACHE_REQ,sum)", _PERCENT,
     "scalar cache hits"),
    ("L1iCacheHitRate", _90A, "100*reduce(SQC_ICACHE_HITS,sum)/reduce(SQC_ICACHE_REQ,sum)", _PERCENT,
     "instruction cache hits"),
    # L2 and memory
    ("L2CacheHit", _90A, "100*reduce(TCC_HIT,sum)/(reduce(TCC_HIT,sum)+reduce(TCC_MISS,sum))", _PERCENT, "L2 hits"),
    ("L2CacheHit", _RDNA, "100*reduce(GL2C_HIT,sum)/(reduce(GL2C_HIT,sum)+reduce(GL2C_MISS,sum))", _PERCENT, "L2 hits"),
    ("L2CacheTagRamStallRate", _90A, "100*TCC_TAG_STALL_sum/TCC_BUSY_sum", _PERCENT, "L2 lookups wait"),
    ("TCC_WRREQ_STALL_max", _90A, "reduce(TCC_EA_WRREQ_STALL,max)", "clocks", "writes to memory wait, worst channel"),
    ("TCC_WRREQ_STALL_max", _CDNA3, "reduce(TCC_EA0_WRREQ_STALL,max)", "clocks",
     "writes to memory wait, worst channel"),
    ("GL2C_WRREQ_STALL_max", _RDNA, "reduce(GL2C_MC_WRREQ_STALL,max)", "clocks",
     "writes to memory wait, worst channel"),
    ("WriteUnitStalled", _90A, f"100*TCC_WRREQ_STALL_max/{_GPU}", _PERCENT, "time that writes to memory wait"),
    ("WriteUnitStalled", _RDNA, f"100*GL2C_WRREQ_STALL_max/{_GPU}", _PERCENT, "time that writes to memory wait"),
    ("FETCH_SIZE", _90A, "(TCC_EA_RDREQ_32B_sum*32+(TCC_EA_RDREQ_sum-TCC_EA_RDREQ_32B_sum)*64)/1024", "KiB",
     "read from memory"),
    ("FETCH_SIZE", "gfx942",
     "(TCC_BUBBLE_sum*128+(TCC_EA0_RDREQ_sum-TCC_BUBBLE_sum-TCC_EA0_RDREQ_32B_sum)*64+TCC_EA0_RDREQ_32B_sum*32)/1024",
     "KiB", "read from memory"),
    ("FETCH_SIZE", "gfx950", "(TCC_EA0_RDREQ_128B_sum*128+TCC_EA0_RDREQ_64B_sum*64+TCC_EA0_RDREQ_32B_sum*32)/1024",
     "KiB", "read from memory"),
    ("FETCH_SIZE", _RDNA2_3,
     "(GL2C_EA_RDREQ_32B_sum*32+GL2C_EA_RDREQ_64B_sum*64+GL2C_EA_RDREQ_96B_sum*96+GL2C_EA_RDREQ_128B_sum*128)/1024",
     "KiB", "read from memory"),
    ("FETCH_SIZE", "gfx1201",
     "(GL2C_EA_RDREQ_32B_sum*32+GL2C_EA_RDREQ_64B_sum*64+GL2C_EA_RDREQ_128B_sum*128+GL2C_EA_RDREQ_256B_sum*256)/1024",
     "KiB", "read from memory"),
    ("FetchSize", f"{_CDNA} gfx1201", "FETCH_SIZE", "KiB", "read from memory"),
    ("WRITE_SIZE", _90A, "((TCC_EA_WRREQ_sum-TCC_EA_WRREQ_64B_sum)*32+TCC_EA_WRREQ_64B_sum*64)/1024", "KiB",
     "written to memory"),
    ("WRITE_SIZE", _CDNA3, "((TCC_EA0_WRREQ_sum-TCC_EA0_WRREQ_64B_sum)*32+TCC_EA0_WRREQ_64B_sum*64)/1024", "KiB",
     "written to memory"),
    ("WRITE_SIZE", _RDNA2_3, "((GL2C_MC_WRREQ_sum-GL2C_EA_WRREQ_64B_sum)*32+GL2C_EA_WRREQ_64B_sum*64)/1024", "KiB",
     "written to memory"),
    ("WriteSize", _CDNA, "WRITE_SIZE", "KiB", "written to memory"),
    ("WRITE_REQ_32B", _90A, "TCC_EA_WRREQ_64B_sum*2+(TCC_EA_WRREQ_sum-TCC_EA_WRREQ_64B_sum)", "32 bytes",
     "written to memory"),
    ("WRITE_REQ_32B", _CDNA3, "TCC_EA0_WRREQ_64B_sum*2+(TCC_EA0_WRREQ_sum-TCC_EA0_WRREQ_64B_sum)", "32 bytes",
     "written to memory"),
    ("MemWrites32B", _CDNA, "WRITE_REQ_32B", "32 bytes", "written to memory"),
    ("BANDWIDTH_EA", _90A, f"1024*(WRITE_SIZE+FETCH_SIZE)/{_GPU}", "bytes per clock", "memory traffic"),
    ("BANDWIDTH_EA", "gfx942",
     f"(WRITE_SIZE*1024+TCC_BUBBLE_sum*128+(TCC_EA0_RDREQ_sum-TCC_BUBBLE_sum)*64)/{_GPU}", "bytes per clock",
     "memory traffic, reads of 32 bytes taken as 64"),
    ("BANDWIDTH_EA", "gfx950", f"(WRITE_SIZE*1024+TCC_EA0_RDREQ_128B_sum*128+TCC_EA0_RDREQ_64B_sum*64)/{_GPU}",
     "bytes per clock", "memory traffic without reads of 32 bytes"),
    ("EaRdLatency", _90A, "TCC_EA_RDREQ_LEVEL_sum/TCC_EA_RDREQ_sum", "clocks", "latency of reads from memory"),
    ("EaWrLatency", _90A, "TCC_EA_WRREQ_LEVEL_sum/TCC_EA_WRREQ_sum", "clocks", "latency of writes to memory"),
    ("EaAtomicLatency", _90A, "TCC_EA_ATOMIC_LEVEL_sum/TCC_EA_ATOMIC_sum", "clocks", "latency of atomics in memory"),
    ("EaRdDramStallRate", _90A, "100*TCC_EA_RDREQ_DRAM_CREDIT_STALL_sum/TCC_BUSY_sum", _PERCENT, "DRAM reads wait"),
    ("EaRdGmiStallRate", _90A, "100*TCC_EA_RDREQ_GMI_CREDIT_STALL_sum/TCC_BUSY_sum", _PERCENT,
     "reads from other dies wait"),
    ("EaRdIoStallRate", _90A, "100*TCC_EA_RDREQ_IO_CREDIT_STALL_sum/TCC_BUSY_sum", _PERCENT,
     "reads from the host wait"),
    ("EaWrDramStallRate", _90A, "100*TCC_EA_WRREQ_DRAM_CREDIT_STALL_sum/TCC_BUSY_sum", _PERCENT, "DRAM writes wait"),
    ("EaWrGmiStallRate", _90A, "100*TCC_EA_WRREQ_GMI_CREDIT_STALL_sum/TCC_BUSY_sum", _PERCENT,
     "writes to other dies wait"),
    ("EaWrIoStallRate", _90A, "100*TCC_EA_WRREQ_IO_CREDIT_STALL_sum/TCC_BUSY_sum", _PERCENT, "writes to the host wait"),
    ("EaWrStarveRate", _90A, "100*TCC_TOO_MANY_EA_WRREQS_STALL_sum/TCC_BUSY_sum", _PERCENT,
     "too many writes to memory pending"),
)  # fmt: skip

_COMPUTE = "rocprof-compute"
_FLOAT = "+".join(
    f"SQ_INSTS_VALU_{operation}_{kind}{factor}"
    for kind in ("F16", "F32", "F64")
    for operation, factor in (("ADD", ""), ("MUL", ""), ("FMA", "*2"), ("TRANS", ""))
)
_MATRIX = "+".join(f"SQ_INSTS_VALU_MFMA_MOPS_{kind}" for kind in ("F16", "BF16", "F32", "F64"))
_ATOMICS = "TCP_TCC_ATOMIC_WITH_RET_REQ_sum+TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum"

# (name, architectures, expression, unit, meaning, source)
OWN: tuple[tuple[str, str, str, str, str, str], ...] = (
    ("coalescing_percent", _CDNA, "100*TA_TOTAL_WAVEFRONTS_sum*64/(TCP_TOTAL_ACCESSES_sum*4)", _PERCENT,
     "how well lanes share requests to the L1: 100 with four lanes in each, 25 with one", _COMPUTE),
    ("lookups_per_access", _CDNA, "TCP_TOTAL_CACHE_ACCESSES_sum/TA_TOTAL_WAVEFRONTS_sum", "lines",
     "cache lines that one vector memory instruction touches: 64 lanes that read neighbouring floats touch two of "
     "128 bytes", "definition"),
    ("l1_hit_percent", _CDNA, f"100-100*(TCP_TCC_READ_REQ_sum+{_ATOMICS})/TCP_TOTAL_CACHE_ACCESSES_sum", _PERCENT,
     "line lookups in the vector L1 that need no read or atomic of the L2; writes count as hits",
     "rocprof-compute's without TCP_TCC_WRITE_REQ, of which one written line makes two"),
    ("l1_hit_percent", "gfx1201", "L0CacheHit", _PERCENT, "line lookups in the vector L0 that hit", "AMD's L0CacheHit"),
    ("l2_hit_percent", _CDNA, "100*TCC_HIT_sum/(TCC_HIT_sum+TCC_MISS_sum)", _PERCENT, "requests that hit the L2",
     "AMD's L2CacheHit, also where AMD lists none"),
    ("l2_hit_percent", _RDNA, "100*GL2C_HIT_sum/(GL2C_HIT_sum+GL2C_MISS_sum)", _PERCENT, "requests that hit the L2",
     "AMD's L2CacheHit"),
    ("l2_bytes", _CDNA3, f"128*TCP_TCC_READ_REQ_sum+64*(TCP_TCC_WRITE_REQ_sum+{_ATOMICS})", "bytes",
     "traffic between the vector L1 caches and the L2", _COMPUTE),
    ("l2_bytes", _90A, f"64*(TCP_TCC_READ_REQ_sum+TCP_TCC_WRITE_REQ_sum+{_ATOMICS})", "bytes",
     "traffic between the vector L1 caches and the L2", _COMPUTE),
    ("memory_bytes", f"{_CDNA} {_RDNA2_3}", "1024*(FETCH_SIZE+WRITE_SIZE)", "bytes", "traffic between L2 and memory",
     "AMD's FETCH_SIZE and WRITE_SIZE"),
    ("float_operations", _CDNA, f"64*({_FLOAT})+512*({_MATRIX})", "operations",
     "float operations, every lane taken as active; a fused multiply-add is two", _COMPUTE),
    ("arithmetic_intensity", _CDNA, "float_operations/memory_bytes", "operations per byte",
     "float operations per byte of memory traffic: the x axis of a roofline", _COMPUTE),
    ("lds_conflict_percent", _CDNA, "100*reduce(SQ_LDS_BANK_CONFLICT,sum)/reduce(SQ_LDS_IDX_ACTIVE,sum)", _PERCENT,
     "part of the time of LDS that goes into bank conflicts, the same on all devices", "definition"),
    ("lds_conflict_percent", _RDNA, "100*reduce(SQC_LDS_BANK_CONFLICT,sum)/reduce(SQC_LDS_IDX_ACTIVE,sum)", _PERCENT,
     "part of the time of LDS that goes into bank conflicts, the same on all devices", "definition"),
    ("lds_clocks_per_access", _CDNA, "reduce(SQ_LDS_IDX_ACTIVE,sum)/reduce(SQ_INSTS_LDS,sum)", "clocks",
     "time of LDS per instruction", "definition"),
    ("lds_clocks_per_access", _RDNA, "reduce(SQC_LDS_IDX_ACTIVE,sum)/reduce(SQ_INSTS_LDS,sum)", "clocks",
     "time of LDS per instruction", "definition"),
    ("valu_per_wave", f"{_CDNA} {_RDNA}", "reduce(SQ_INSTS_VALU,sum)/reduce(SQ_WAVES,sum)", "instructions",
     "vector ALU instructions per wave", "AMD's VALUInsts, also where AMD lists none"),
)  # fmt: skip


def _lanes_active(launch: Launch) -> float | None:
    vector = [cost for cost in launch.instructions if cost.is_vector]
    size = launch.constants.get("MAX_WAVE_SIZE", 0)
    return _ratio(100 * sum(cost.active_lanes for cost in vector), size * sum(cost.executed for cost in vector))


def _memory(launch: Launch) -> list[AccessCost]:
    return [cost for cost in launch.accesses if cost.space not in ("lds", "scalar")]


def _used_bytes(launch: Launch) -> float | None:
    costs = _memory(launch)
    return _ratio(100 * sum(c.requested_bytes for c in costs), sum(c.lines * c.line_bytes for c in costs))


def _bytes_per_request(launch: Launch) -> float | None:
    costs = _memory(launch)
    return _ratio(sum(cost.requested_bytes for cost in costs), sum(cost.quads for cost in costs))


def _occupancy_limit(launch: Launch) -> float | None:
    time = launch.time
    return None if time is None else _ratio(100 * time.resident_waves, time.wave_slots)


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


#: gpulab's metrics that no counter gives: (unit, how certain, meaning, function of a launch: None where it has no
#: such costs)
OF_COSTS: Mapping[str, tuple[str, str, str, Callable[[Launch], float | None]]] = {
    "lanes_active_percent": (
        _PERCENT, "exact", "lanes active in vector ALU instructions, every instruction counted alike", _lanes_active,
    ),
    "used_bytes_percent": (
        _PERCENT, "assumed", "bytes that lanes ask for, of those in the cache lines that are looked up for them; above "
        "100 where lanes share bytes", _used_bytes,
    ),
    "occupancy_limit_percent": (
        _PERCENT, "exact", "wave slots that a compute unit can fill at a time, by registers, LDS, barriers and the "
        "size of the grid: OccupancyPercent is what was filled over the whole time", _occupancy_limit,
    ),
    "bytes_per_request": ("bytes", "assumed", "bytes that lanes ask for per request to the L1, up to four lanes each",
                          _bytes_per_request),
}  # fmt: skip


@cache
def _table() -> Mapping[str, tuple[Metric, ...]]:
    table: dict[str, tuple[Metric, ...]] = {}
    for name, architectures, expression, unit, meaning in AMD:
        table[name] = (*table.get(name, ()), Metric(name, expression, tuple(architectures.split()), meaning, unit))
    for name, architectures, expression, unit, meaning, source in OWN:
        entry = Metric(name, expression, tuple(architectures.split()), meaning, unit, source)
        table[name] = (*table.get(name, ()), entry)
    for name, (unit, _, meaning, _) in OF_COSTS.items():
        table[name] = (Metric(name, "", SETS, meaning, unit, "costs by instruction, on virtual devices"),)
    for arch in SETS:
        for counter in counter_names.raw(arch).values():
            for form in counter.reductions:
                name = f"{counter.name}_{form}"
                if not any(arch in metric.architectures for metric in table.get(name, ())):
                    entry = Metric(
                        name, f"reduce({counter.name},{form})", counter.architectures,
                        f"{counter.meaning}: {_FORMS[form]} over its instances", counter.unit,
                    )  # fmt: skip
                    table[name] = (*table.get(name, ()), entry)
    return table


_FORMS = {"sum": "sum", "max": "largest", "min": "smallest", "avr": "mean"}


_USUAL = """
    SQ_WAVES SQ_INSTS_VALU SQ_INSTS_SALU SQ_INSTS_SMEM SQ_INSTS_LDS SQ_INSTS_FLAT SQ_INSTS_VMEM_RD SQ_INSTS_VMEM_WR
    SQ_INSTS_TEX_LOAD SQ_INSTS_TEX_STORE SQ_LDS_BANK_CONFLICT SQ_LDS_IDX_ACTIVE SQC_LDS_BANK_CONFLICT
    SQC_LDS_IDX_ACTIVE TA_TOTAL_WAVEFRONTS_sum TCP_TOTAL_ACCESSES_sum TCP_TOTAL_CACHE_ACCESSES_sum
    TCP_TCC_READ_REQ_sum TCP_TCC_WRITE_REQ_sum TCC_HIT_sum TCC_MISS_sum GL2C_HIT_sum GL2C_MISS_sum FETCH_SIZE
    WRITE_SIZE VALUUtilization VALUBusy OccupancyPercent LDSBankConflict
"""


def usual(arch: str) -> tuple[str, ...]:
    """What is collected on a real GPU where nothing was named: instructions, LDS, lines, caches, memory, occupancy."""
    defined = set(names(arch))
    return tuple(name for name in _USUAL.split() if name in defined)


@cache
def metrics(arch: str) -> Mapping[str, Metric]:
    """The metrics of an architecture by name, AMD's and gpulab's; empty for one that is not known."""
    arch = counter_names.like(arch)
    return {name: metric for name, entries in _table().items() for metric in entries if arch in metric.architectures}


# What to use instead of a name that an architecture lacks, where the nearest spelling would mislead. The first entry
# whose architectures include the asked one is taken; "" leaves it at the sentence.
_INSTEAD: Mapping[str, tuple[tuple[str, str, str], ...]] = {
    "SQ_INSTS_VMEM_RD": ((_RDNA3_4, "SQ_INSTS_TEX_LOAD", "it counts vector memory reads there"),),
    "SQ_INSTS_VMEM_WR": ((_RDNA3_4, "SQ_INSTS_TEX_STORE", "it counts vector memory writes there"),),
    "SQ_INSTS_VMEM": ((_RDNA3_4, "SQ_INSTS_TEX_LOAD", "and SQ_INSTS_TEX_STORE: together they are all vector memory"),),
    "SQ_INSTS_TEX_LOAD": ((_CDNA, "SQ_INSTS_VMEM_RD", "it counts vector memory reads there"),),
    "SQ_INSTS_TEX_STORE": ((_CDNA, "SQ_INSTS_VMEM_WR", "it counts vector memory writes there"),),
    "SQ_LDS_BANK_CONFLICT": ((_RDNA, "SQC_LDS_BANK_CONFLICT", "the same under RDNA's name"),),
    "SQC_LDS_BANK_CONFLICT": ((_CDNA, "SQ_LDS_BANK_CONFLICT", "the same under CDNA's name"),),
    "SQ_LDS_IDX_ACTIVE": ((_RDNA, "SQC_LDS_IDX_ACTIVE", "the same under RDNA's name"),),
    "SQC_LDS_IDX_ACTIVE": ((_CDNA, "SQ_LDS_IDX_ACTIVE", "the same under CDNA's name"),),
    "TCC_HIT": ((_RDNA, "GL2C_HIT", "RDNA's L2 cache is called GL2C"),),
    "TCC_MISS": ((_RDNA, "GL2C_MISS", "RDNA's L2 cache is called GL2C"),),
    "GL2C_HIT": ((_CDNA, "TCC_HIT", "CDNA's L2 cache is called TCC"),),
    "GL2C_MISS": ((_CDNA, "TCC_MISS", "CDNA's L2 cache is called TCC"),),
    "TCC_EA_RDREQ": (
        (_CDNA3, "TCC_EA0_RDREQ", "the same under CDNA 3's name"),
        (_RDNA2_3, "GL2C_MC_RDREQ", "reads from memory of RDNA's L2 cache"),
        ("gfx1201", "GL2C_EA_RDREQ", "reads from memory of RDNA's L2 cache"),
    ),
    "TCC_EA0_RDREQ": (
        (_90A, "TCC_EA_RDREQ", "the same under CDNA 2's name"),
        (_RDNA2_3, "GL2C_MC_RDREQ", "reads from memory of RDNA's L2 cache"),
        ("gfx1201", "GL2C_EA_RDREQ", "reads from memory of RDNA's L2 cache"),
    ),
    "TCC_EA_WRREQ": (
        (_CDNA3, "TCC_EA0_WRREQ", "the same under CDNA 3's name"),
        (_RDNA2_3, "GL2C_MC_WRREQ", "writes to memory of RDNA's L2 cache"),
        ("gfx1201", "GL2C_EA_WRREQ", "writes to memory of RDNA's L2 cache"),
    ),
    "TCC_EA0_WRREQ": (
        (_90A, "TCC_EA_WRREQ", "the same under CDNA 2's name"),
        (_RDNA2_3, "GL2C_MC_WRREQ", "writes to memory of RDNA's L2 cache"),
        ("gfx1201", "GL2C_EA_WRREQ", "writes to memory of RDNA's L2 cache"),
    ),
    "FetchSize": ((_RDNA2_3, "FETCH_SIZE", "the same number"),),
    "WriteSize": ((_RDNA2_3, "WRITE_SIZE", "the same number"),),
    "L2CacheHit": ((_CDNA3, "l2_hit_percent", "gpulab's, 100·TCC_HIT/(TCC_HIT+TCC_MISS), as AMD has it elsewhere"),),
    "MemUnitBusy": ((_CDNA3, "TA_BUSY_max", "MemUnitBusy is 100·TA_BUSY_max/GRBM_GUI_ACTIVE where AMD lists it"),),
    "VALUInsts": ((_CDNA3, "valu_per_wave", "gpulab's, SQ_INSTS_VALU/SQ_WAVES, as AMD has it elsewhere"),),
    "SALUInsts": ((_CDNA3, "SQ_INSTS_SALU", "divide it by SQ_WAVES: that is SALUInsts where AMD lists it"),),
    "SFetchInsts": ((_CDNA3, "SQ_INSTS_SMEM", "divide it by SQ_WAVES: that is SFetchInsts where AMD lists it"),),
    "LDSInsts": ((_CDNA3 + " " + _RDNA, "SQ_INSTS_LDS", "divide it by SQ_WAVES"),),
    "Wavefronts": ((_CDNA3, "SQ_WAVES", "the same number"),),
    "GPUBusy": ((_CDNA3, "GPU_UTIL", "the same number"),),
    "vL1dBufCoalesceRate": ((_CDNA3, "coalescing_percent", "gpulab's, with the same formula"),),
    "LdsBankConflict": ((_RDNA, "lds_conflict_percent", "gpulab's; the same on all devices"),),
    "VALUUtilization": ((_RDNA, "lanes_active_percent", "RDNA counts no active lanes; gpulab's virtual devices do"),),
    "SQ_THREAD_CYCLES_VALU": (
        (_RDNA, "lanes_active_percent", "RDNA counts no active lanes; gpulab's virtual devices do"),
    ),
    "SQ_ACCUM_LDS_BUSY": ((_CDNA, "SQ_LDS_IDX_ACTIVE", "it counts the clocks that LDS is busy"),
                          (_RDNA, "SQC_LDS_IDX_ACTIVE", "it counts the clocks that LDS is busy")),
}  # fmt: skip


def architectures(name: str) -> tuple[str, ...]:
    """The sets of counters (`counter_names.SETS`) that define a counter or a metric of this name."""
    having = set(counter_names.architectures(name))
    having.update(arch for metric in _table().get(name, ()) for arch in metric.architectures)
    return tuple(arch for arch in SETS if arch in having)


def names(arch: str) -> tuple[str, ...]:
    """All names that an architecture defines: counters first, then metrics."""
    return (*counter_names.raw(arch), *metrics(arch))


def find(name: str, arch: str) -> Counter | Metric:
    """What a name means on an architecture.

    Raises:
        CounterNotFound: this architecture does not define it; says which do, and what is nearest.
    """
    if not isinstance(name, str):
        raise CounterNotFound(f"a counter or a metric is named by a text, not by a {type(name).__name__}.")
    found = counter_names.raw(arch).get(name) or metrics(arch).get(name)
    if found is not None:
        return found
    if not counter_names.raw(arch):
        raise CounterNotFound(
            f"The counters of {arch} are not known here.", why=f"gpulab has those of {_and(devices.names())}."
        )
    having = architectures(name)
    listing = f"AMD's counter definitions list it for {_and(having)}" if having else ""
    if not having and name in _INSTEAD:
        listing = "it can be met in a text on performance, but AMD's counter definitions list it for no device"
    raise CounterNotFound(
        f"{f'{arch} has' if having else 'There is'} no counter or metric named {name}.",
        why=(listing or "AMD's counter definitions list it for no device") + ".",
        hint=_nearest(name, arch),
    )


def _nearest(name: str, arch: str) -> str:
    for form in ("", "_sum"):
        stem = name.removesuffix(form) if form else name
        for where, instead, why in _INSTEAD.get(stem, ()):
            if counter_names.like(arch) in where.split():
                instead = instead + form if form and instead and instead + form in metrics(arch) else instead
                return f"{instead}: {why}." if instead else f"{why}."
    by_lower = {known.lower(): known for known in names(arch)}
    near = difflib.get_close_matches(name.lower(), by_lower, 3, 0.6)
    listed = f"`gpulab counters --arch {arch}` lists all."
    if not near:
        return listed
    return f"did you mean {' or '.join(by_lower[one] for one in near)}? {listed}"


def _and(words: Sequence[str]) -> str:
    return " and ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else "".join(words)


# Formulas


@cache
def _parsed(expression: str) -> ast.expr:
    """A formula as a tree; what has none needs nothing: 0."""
    return ast.parse(expression or "0", mode="eval").body


def _references(node: ast.expr) -> Iterator[tuple[str, bool]]:
    """(name, whether it is accumulated over time) of everything that a formula reads."""
    if isinstance(node, ast.Name):
        yield node.id, False
    elif isinstance(node, ast.BinOp):
        yield from _references(node.left)
        yield from _references(node.right)
    elif isinstance(node, ast.Call):
        assert isinstance(node.func, ast.Name)
        for name, accumulated in _references(node.args[0]):
            yield name, accumulated or node.func.id == "accumulate"


def needed(name: str, arch: str) -> tuple[str, ...]:
    """The raw counters that a name needs on an architecture, itself if it is one; in the formula's order.

    Raises:
        CounterNotFound: this architecture does not define the name.
    """
    found = find(name, arch)
    if isinstance(found, Counter):
        return (name,)
    counters: dict[str, None] = {}
    for reference, accumulated in _references(_parsed(found.expression)):
        if reference in CONSTANTS:
            continue
        counters.update(dict.fromkeys(needed(reference, arch)))
        if accumulated:
            counters["SQ_ACCUM_PREV"] = None
    return tuple(counters)


def collected(name: str, arch: str) -> tuple[str, ...]:
    """What rocprofv3 has to be asked for to know a name: the name itself if it is AMD's, else what its formula needs.

    Raises:
        CounterNotFound: this architecture does not define the name.
    """
    found = find(name, arch)
    if isinstance(found, Counter) or found.source == "AMD":
        return (name,)
    asked: dict[str, None] = {}
    for reference, _ in _references(_parsed(found.expression)):
        if reference not in CONSTANTS:
            asked.update(dict.fromkeys(collected(reference, arch)))
    return tuple(asked)


def passes(wanted: Iterable[str], arch: str) -> list[tuple[str, ...]]:
    """AMD's names for what is wanted, in groups that hardware can collect together: no block has more counters in a
    group than `counter_names.PER_PASS` allows. A metric of AMD's stays whole, as rocprofv3 computes it.

    Raises:
        CounterNotFound: this architecture does not define a name.
    """
    groups: list[tuple[list[str], set[str]]] = []
    for name in dict.fromkeys(one for asked in wanted for one in collected(asked, arch)):
        counters = set(needed(name, arch))
        for members, together in groups:
            if _fits(together | counters, arch):
                members.append(name)
                together |= counters
                break
        else:
            groups.append(([name], counters))
    return [tuple(members) for members, _ in groups]


def _fits(counters: set[str], arch: str) -> bool:
    table = counter_names.raw(arch)
    used: dict[str, int] = {}
    for name in counters:
        block = table[name].block
        used[block] = used.get(block, 0) + 1
    return all(count <= counter_names.PER_PASS[block] for block, count in used.items())


def value(launch: Launch, name: str) -> float:
    """A counter or metric of a launch. Not a number (nan) where the formula divides by zero.

    Raises:
        CounterNotFound: the launch's architecture does not define the name, or the launch lacks a counter for it.
    """
    if name in launch.metrics:
        return launch.metrics[name]
    if name in launch.counters:
        return launch.counters[name]
    found = find(name, launch.arch)
    if isinstance(found, Counter):
        raise _not_counted(launch, name, (name,))
    missing: list[str] = []
    result = _metric(found, launch, missing)
    if missing:
        raise _not_counted(launch, name, tuple(dict.fromkeys(missing)))
    return result


def _metric(metric: Metric, launch: Launch, missing: list[str]) -> float:
    """The value of a metric; what the launch lacks for it is added to `missing`."""
    if metric.name not in OF_COSTS:
        return _evaluate(_parsed(metric.expression), launch, missing)
    found = OF_COSTS[metric.name][3](launch)
    if found is None:
        missing.append(metric.name)
        return math.nan
    return found


def available(launch: Launch) -> dict[str, float]:
    """All metrics of a launch's architecture that its counters suffice for, without the plain sums over instances."""
    found: dict[str, float] = {}
    for name, metric in metrics(launch.arch).items():
        plain = name.rpartition("_")[0]
        if metric.source == "AMD" and name.endswith("_sum") and plain in counter_names.raw(launch.arch):
            continue
        if name in launch.metrics:
            found[name] = launch.metrics[name]
            continue
        missing: list[str] = []
        result = _metric(metric, launch, missing)
        if not missing:
            found[name] = result
    return found


def lacking(name: str, arch: str, counted: Iterable[str]) -> tuple[str, ...]:
    """What a device that counts so much lacks for a name; nothing if the name can be given.

    Raises:
        CounterNotFound: the architecture does not define the name.
    """
    found = find(name, arch)
    if isinstance(found, Counter):
        return () if name in counted else (name,)
    sample = Launch(
        "", arch, 0, (1, 1, 1), (1, 1, 1), 0, 1, Counters(dict.fromkeys(counted, 1)),
        constants=dict.fromkeys(CONSTANTS, 1),
    )  # fmt: skip
    missing: list[str] = []
    _evaluate(_parsed(found.expression), sample, missing)
    return tuple(dict.fromkeys(missing))


def _not_counted(launch: Launch, name: str, missing: tuple[str, ...]) -> CounterNotFound:
    itself = missing == (name,)
    verb = "is" if len(missing) == 1 else "are"
    what = "." if itself else f": {_and(missing)} {verb} needed for it and not among its counters."
    if launch.time_is_modelled:
        why = "the virtual device does not model everything that hardware counts."
        hint = "launch.counters shows what there is."
    else:
        why = "hardware counts only what was asked for."
        hint = f'ask for it: gpulab.profile("{name}"). Of several launches ask one at a time: run.metric("{name}", 0).'
    return CounterNotFound(f"the launch of {launch.kernel} has no {name}{what}", why=why, hint=hint)


def _evaluate(node: ast.expr, launch: Launch, missing: list[str]) -> float:
    """The value of a formula; names that the launch has no number for are added to `missing`."""
    if isinstance(node, ast.Constant):
        assert isinstance(node.value, (int, float))
        return float(node.value)
    if isinstance(node, ast.Name):
        return _named(node.id, launch, missing)
    if isinstance(node, ast.Call):
        assert isinstance(node.func, ast.Name)
        inner, form = node.args[0], node.args[1]
        assert isinstance(form, ast.Name)
        if node.func.id == "accumulate":
            assert isinstance(inner, ast.Name)
            return _accumulated(inner.id, form.id, launch, missing)
        if form.id == "sum" or not isinstance(inner, ast.Name):
            return _evaluate(inner, launch, missing)
        return _reduced(inner.id, form.id, launch, missing)
    assert isinstance(node, ast.BinOp)
    left, right = _evaluate(node.left, launch, missing), _evaluate(node.right, launch, missing)
    if isinstance(node.op, ast.Add):
        return left + right
    if isinstance(node.op, ast.Sub):
        return left - right
    if isinstance(node.op, ast.Mult):
        return left * right
    assert isinstance(node.op, ast.Div)
    return left / right if right else math.nan


def _named(name: str, launch: Launch, missing: list[str]) -> float:
    if name in CONSTANTS:
        found = launch.constants.get(name)
        if found is None:
            missing.append(name)
        return float(found or 0)
    if name in launch.metrics:
        return launch.metrics[name]
    if name in launch.counters:
        return float(launch.counters[name])
    metric = metrics(launch.arch).get(name)
    if metric is not None:
        return _metric(metric, launch, missing)
    missing.append(name)
    return math.nan


_OTHER_FORMS = {("TA_TA_BUSY", form): f"TA_BUSY_{form}" for form in ("max", "min", "avr")}


def _reduced(name: str, form: str, launch: Launch, missing: list[str]) -> float:
    """The largest, smallest or mean over the instances of a block, if it is counted under a name of its own.

    A virtual device has one GRBM, and shares the work of the TAs and L1 caches, of which each CU has one, evenly among
    the CUs that get a workgroup. rocprofv3 adds up the instances of a real device: a metric must be asked for by name.
    """
    own = _OTHER_FORMS.get((name, form), f"{name}_{form}")
    if own in launch.counters:
        return float(launch.counters[own])
    if launch.time_is_modelled and name.startswith("GRBM_"):
        return _named(name, launch, missing)
    if launch.time_is_modelled and name.startswith(("TA_", "TD_", "TCP_")) and name in launch.counters:
        cus = _named("CU_NUM", launch, missing)
        x, y, z = launch.grid
        used = min(x * y * z * devices.get(launch.arch).cus_per_unit, cus)
        if form == "min" and used < cus:
            return 0.0
        return launch.counters[name] / (cus if form == "avr" else used)
    missing.append(own)
    return math.nan


def _accumulated(name: str, resolution: str, launch: Launch, missing: list[str]) -> float:
    """A level counter summed over time. The waves at each clock, summed over clocks, are the clocks that waves are
    resident: SQ_WAVE_CYCLES, which CDNA counts in fours, as LOW_RES does."""
    own = f"{name}_accumulated"
    clocks = launch.counters.get(own)
    if clocks is None and name == "SQ_LEVEL_WAVES" and "SQ_WAVE_CYCLES" in launch.counters:
        device = devices.get(counter_names.like(launch.arch))
        clocks = launch.counters["SQ_WAVE_CYCLES"] * device.wave_cycle_clocks
    if clocks is None:
        missing.append(own)
        return math.nan
    return clocks / 4.0 if resolution == "LOW_RES" else float(clocks)
