"""Which hardware counters AMD's devices have: `raw(arch)` and `defined(name)`, by the names their profilers use.

The names, and which architecture has which, are those of rocprofiler-sdk's counter definitions (config.yaml in
ROCm/rocm-systems, commit 0226d38e of 2026). Metrics computed from these counters are in `metrics`. A `Counter` belongs
to a block of the hardware, which has several instances (an SQ for each shader engine, a TCC for each L2 channel); its
value here is the sum over them, except in the block GRBM, of which each die has one that counts the same clocks.

Blocks: GRBM (clocks), CPC and CPF (command processor), SPI (hands workgroups to compute units), SQ (waves and
instructions) with SQC (its scalar and instruction caches), TA (addresses of vector memory), TD (its data), TCP (vector
L1 cache), TCA and TCC (L2 cache of CDNA), GL2C (L2 cache of RDNA).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from gpulab import architectures as devices

SETS = ("gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1201")
"""The sets of counters that are defined here, by the architecture that has each. A device says which is its own."""

_REAL: Mapping[str, str] = {"gfx1031": "gfx1030", "gfx1032": "gfx1030"}
"""Sets of real GPUs of which there is no virtual one."""


def like(arch: str) -> str:
    """The set of `SETS` that an architecture has; its own name where none is known."""
    device = devices.find(arch)
    return _REAL.get(arch, arch) if device is None else device.counters


PER_PASS: Mapping[str, int] = {
    "SQ": 8, "TA": 2, "TD": 2, "TCP": 4, "TCA": 2, "TCC": 4, "GL2C": 4, "GRBM": 2, "SPI": 2, "CPC": 2, "CPF": 2,
}  # fmt: skip
"""How many counters of a block hardware counts at a time (rocprofiler-compute, mi_gpu_spec.yaml; GL2C is taken to be
like TCC)."""


@dataclass(frozen=True, slots=True)
class Counter:
    """One counter. `reductions` are the forms over all instances that have names of their own, e.g. "sum" for
    TCC_HIT_sum; `unit` is "" where events are counted."""

    name: str
    block: str
    architectures: tuple[str, ...]
    meaning: str
    unit: str = ""
    reductions: tuple[str, ...] = ()


_CDNA = "gfx90a gfx942 gfx950"
_RDNA = "gfx1030 gfx1100 gfx1201"
_ALL = f"{_CDNA} {_RDNA}"

# (block, architectures, lines of "NAME meaning"). "NAME(sum)": NAME_sum is a name too. A meaning may begin with the
# unit in brackets. {a,b} in a name stands for several names; {} in the meaning is what was chosen.
_TABLE: tuple[tuple[str, str, str], ...] = (
    ("GRBM", _ALL, """
        GRBM_COUNT                 [clocks] all clocks of the collection
        GRBM_GUI_ACTIVE            [clocks] clocks in which the GPU had work
    """),
    ("GRBM", f"{_CDNA} gfx1030", """
        GRBM_{CP,EA,SPI,TA}_BUSY   [clocks] the {} block was busy anywhere on the device
    """),
    ("GRBM", _CDNA, """
        GRBM_{CPC,CPF,TC,UTCL2}_BUSY  [clocks] the {} block was busy anywhere on the device
    """),
    ("GRBM", "gfx1030", """
        GRBM_{GDS,GL2CC}_BUSY      [clocks] the {} block was busy
    """),
    ("CPC", _CDNA, """
        CPC_CPC_STAT_{BUSY,IDLE,STALL}       [clocks] the compute part of the command processor: {}
        CPC_CPC_TCIU_{BUSY,IDLE}             [clocks] its way to the L2 cache: {}
        CPC_CPC_UTCL2IU_{BUSY,IDLE,STALL}    [clocks] its way to address translation: {}
        CPC_ME1_BUSY_FOR_PACKET_DECODE       [clocks] busy reading packets
        CPC_ME1_DC0_SPI_BUSY                 [clocks] busy handing workgroups to the SPI
        CPC_UTCL1_STALL_ON_TRANSLATION       [clocks] waited for an address translation
    """),
    ("CPC", "gfx950", """
        CPC_ALWAYS_COUNT                     [clocks] every clock
        CPC_ADC_VALID_CHUNK_NOT_AVAIL        [clocks] no chunk of the grid to hand out (several dies)
        CPC_ADC_DISPATCH_ALLOC_DONE          dispatches fully handed out
        CPC_ADC_VALID_CHUNK_END              ends of a chunk of the grid (several dies)
        CPC_SYNC_FIFO_FULL{,_LEVEL}          the queue between dies was full
        CPC_GD_BUSY                          [clocks] handing out workgroups
        CPC_TG_SEND                          workgroups handed out
        CPC_WALK_NEXT_CHUNK                  [clocks] walking to the next chunk of the grid
        CPC_STALLED_BY_SE{0,1,2,3}_SPI       [clocks] held up by the SPI of shader engine {}
        CPC_LTE_ALL                          synchronisation between dies
        CPC_SYNC_WRREQ_FIFO_BUSY             [clocks] write requests between dies were pending
        CPC_CANE_{BUSY,STALL}                [clocks] the bus between dies: {}
    """),
    ("CPF", _CDNA, """
        CPF_CMP_UTCL1_STALL_ON_TRANSLATION   [clocks] the fetcher waited for an address translation
        CPF_CPF_STAT_{BUSY,IDLE,STALL}       [clocks] the fetcher of the command processor: {}
        CPF_CPF_TCIU_{BUSY,IDLE,STALL}       [clocks] its way to the L2 cache: {}
    """),
    ("SPI", _CDNA, """
        SPI_CSN_BUSY                 [clocks] waves were outstanding
        SPI_CSN_NUM_THREADGROUPS     workgroups launched
        SPI_CSN_WAVE                 waves launched
        SPI_CSN_WINDOW_VALID         [clocks] clocks of the collection
        SPI_RA_REQ_NO_ALLOC          [clocks] something asked for room and got none
        SPI_RA_REQ_NO_ALLOC_CSN      [clocks] a compute wave asked for room and got none
        SPI_RA_RES_STALL_CSN         [clocks] a compute wave asked for room and nothing fitted
        SPI_RA_TMP_STALL_CSN         [clocks] no scratch memory was left for a wave
        SPI_RA_WVLIM_STALL_CSN       [clocks] held up by the limit of waves
        SPI_RA_TGLIM_CU_FULL_CSN     [clocks] every CU was at its limit of workgroups
        SPI_RA_{WAVE,VGPR,SGPR}_SIMD_FULL_CSN  SIMDs, summed over clocks, without {} room for the next wave
        SPI_RA_{LDS,BAR,BULKY}_CU_FULL_CSN     CUs, summed over clocks, without {} room for the next wave
        SPI_SWC_CSC_WR               [4 clocks] writing the first SGPRs of waves
        SPI_VWC_CSC_WR               [4 clocks] writing the first VGPRs of waves
    """),
    ("SPI", "gfx950", """
        SPI_CS{0,1,2,3}_WINDOW_VALID      [clocks] clocks of the collection, pipe {}
        SPI_CS{0,1,2,3}_BUSY              [clocks] waves of pipe {} were outstanding
        SPI_CS{0,1,2,3}_NUM_THREADGROUPS  workgroups launched from pipe {}
        SPI_CS{0,1,2,3}_CRAWLER_STALL     [clocks] the order queue of pipe {} was full
        SPI_CS{0,1,2,3}_EVENT_WAVE        events and waves of pipe {}
        SPI_CS{0,1,2,3}_WAVE              waves of pipe {}
        SPI_CSQ_P0_Q{0,1,2,3,4,5,6,7}_OCCUPANCY  waves resident, summed over clocks: pipe 0, queue {}
        SPI_CSQ_P1_Q{0,1,2,3,4,5,6,7}_OCCUPANCY  waves resident, summed over clocks: pipe 1, queue {}
        SPI_CSQ_P2_Q{0,1,2,3,4,5,6,7}_OCCUPANCY  waves resident, summed over clocks: pipe 2, queue {}
        SPI_CSQ_P3_Q{0,1,2,3,4,5,6,7}_OCCUPANCY  waves resident, summed over clocks: pipe 3, queue {}
        SPI_CSQ_P{0,1,2,3}_OCCUPANCY      waves resident, summed over clocks: pipe {}
        SPI_VWC{0,1}_VDATA_VALID_WR       [clocks] writing the first VGPRs of waves, bus {}
        SPI_CSC_WAVE_CNT_BUSY             [clocks] any wave in the pipe
    """),
    # -------------------------------------------------------------------------- SQ: waves
    ("SQ", _ALL, """
        SQ_WAVES(sum)              waves started
        SQ_BUSY_CYCLES             [clocks] clocks with at least one wave, by shader engine
        SQ_ACCUM_PREV              adds up the counter before it, every fourth clock
        SQ_WAIT_ANY                [quad-cycles on gfx9] waves waiting for anything
        SQ_WAIT_INST_ANY           [quad-cycles on gfx9] waves waiting to issue an instruction
        SQ_WAVE_CYCLES             [quad-cycles on gfx9, clocks on gfx10 and later] time that waves are resident
    """),
    ("SQ", f"{_CDNA} gfx1030", """
        SQ_LEVEL_WAVES             waves resident at this clock (adds up through SQ_ACCUM_PREV)
    """),
    ("SQ", _CDNA, """
        SQ_ACCUM_PREV_HIRES        adds up the counter before it, every clock
        SQ_BUSY_CU_CYCLES          [quad-cycles] compute units with at least one wave
        SQ_CYCLES                  [clocks] clocks, by SIMD
        SQ_WAVES_EQ_64             waves started with all 64 lanes
        SQ_WAVES_LT_{16,32,48,64}  waves started with fewer than {} lanes
        SQ_WAVES_{SAVED,RESTORED}  waves {} by a context switch
        SQ_ITEMS                   work-items started
    """),
    ("SQ", "gfx90a gfx942 gfx950 gfx1030 gfx1100", """
        SQ_WAIT_INST_LDS           [quad-cycles] waves waiting to issue an LDS instruction
    """),
    ("SQ", "gfx950", """
        SQ_EVENTS                  events
    """),
    # -------------------------------------------------------------------------- SQ: instructions
    ("SQ", _ALL, """
        SQ_INSTS_VALU              vector ALU instructions, matrix instructions included; also with no lane active
        SQ_INSTS_SALU              scalar ALU instructions
        SQ_INSTS_SMEM              scalar memory instructions
        SQ_INSTS_LDS               LDS instructions (gfx90a: FLAT included; gfx942: not)
        SQ_INSTS_FLAT              FLAT instructions (an address of any memory)
        SQ_INST_LEVEL_LDS          LDS instructions in flight at this clock (adds up through SQ_ACCUM_PREV)
    """),
    ("SQ", "gfx90a gfx942 gfx950 gfx1030 gfx1100", """
        SQ_INSTS_GDS               GDS instructions
    """),
    ("SQ", "gfx1030 gfx1100", """
        SQ_INST_LEVEL_GDS          GDS instructions in flight at this clock
    """),
    ("SQ", _CDNA, """
        SQ_INSTS                   instructions of all kinds
        SQ_INSTS_BRANCH            branches
        SQ_INSTS_EXP_GDS           exports and GDS instructions
        SQ_INSTS_MFMA              matrix instructions
        SQ_INSTS_SENDMSG           messages
        SQ_INSTS_SMEM_NORM         scalar memory instructions weighted by their requests
        SQ_INSTS_VMEM              vector memory instructions
        SQ_INSTS_VMEM_RD           vector memory reads, FLAT and scratch included
        SQ_INSTS_VMEM_WR           vector memory writes, FLAT and scratch included
        SQ_INSTS_VSKIPPED          vector instructions skipped
        SQ_INSTS_VALU_ADD_{F16,F32,F64}    {} additions and subtractions
        SQ_INSTS_VALU_MUL_{F16,F32,F64}    {} multiplications
        SQ_INSTS_VALU_FMA_{F16,F32,F64}    {} fused multiply-adds
        SQ_INSTS_VALU_TRANS_{F16,F32,F64}  {} transcendental instructions
        SQ_INSTS_VALU_{INT32,INT64}        {} instructions
        SQ_INSTS_VALU_CVT          conversions
        SQ_INSTS_VALU_MFMA_{F16,BF16,F32,F64,I8}       {} matrix instructions
        SQ_INSTS_VALU_MFMA_MOPS_{F16,BF16,F32,F64,I8}  [512 operations] {} arithmetic of matrix instructions
        SQ_IFETCH                  instruction fetches
        SQ_IFETCH_LEVEL            instruction fetches in flight at this clock
        SQ_INST_LEVEL_{VMEM,SMEM}  {} instructions in flight at this clock (adds up through SQ_ACCUM_PREV)
    """),
    ("SQ", "gfx942 gfx950", """
        SQ_INSTS_VALU_MFMA_F8      8-bit float matrix instructions
        SQ_INSTS_VALU_MFMA_MOPS_F8 [512 operations] 8-bit float arithmetic of matrix instructions
    """),
    ("SQ", "gfx950", """
        SQ_INSTS_VALU_MFMA_{XF32,F6F4}       {} matrix instructions
        SQ_INSTS_VALU_MFMA_MOPS_{XF32,F6F4}  [512 operations] {} arithmetic of matrix instructions
        SQ_INSTS_VALU_FLOPS_{FP16,FP32,FP64}              {} operations per instruction, without matrix instructions
        SQ_INSTS_VALU_FLOPS_{FP16_TRANS,FP32_TRANS,FP64_TRANS}  {} operations per instruction
        SQ_INSTS_VALU_IOPS         integer operations per instruction
        SQ_INSTS_LDS_{LOAD,STORE,ATOMIC}             LDS instructions: {}
        SQ_INSTS_LDS_{LOAD,STORE,ATOMIC}_BANDWIDTH   [64 bytes] LDS traffic of active lanes: {}
        SQ_INSTS_FLAT_FLATSEG      FLAT instructions with an address of any memory
        SQ_INSTS_FLAT_NO_LDS       FLAT instructions of which no lane went to LDS
        SQ_INSTS_EXP               exports
    """),
    ("SQ", "gfx90a", """
        SQ_INSTS_FLAT_LDS_ONLY     FLAT instructions of which all lanes went to LDS
    """),
    ("SQ", "gfx1100 gfx1201", """
        SQ_INSTS_TEX_LOAD          vector memory reads: buffer, image, atomics with return
        SQ_INSTS_TEX_STORE         vector memory writes: buffer, image, atomics without return
        SQ_INST_CYCLES_VALU        [clocks] SIMDs executing vector ALU instructions
    """),
    ("SQ", _RDNA, """
        SQ_INSTS_WAVE32            wave32 instructions of the vector ALU, LDS and memory
        SQ_INSTS_WAVE32_LDS        wave32 LDS instructions
        SQ_INSTS_WAVE32_VALU       wave32 vector ALU instructions
        SQ_WAVE32_INSTS            instructions issued by wave32 waves
        SQ_WAVE64_INSTS            instructions issued by wave64 waves
        SQ_INST_CYCLES_VMEM        [clocks] sending addresses and data of vector memory instructions
    """),
    ("SQ", "gfx1201", """
        SQ_INSTS_VEC32_LEVEL_LDS   wave32 LDS instructions in flight at this clock
    """),
    # -------------------------------------------------------------------------- SQ: time in instructions
    ("SQ", _CDNA, """
        SQ_ACTIVE_INST_{ANY,VALU,VMEM,LDS,FLAT,EXP_GDS,MISC}  [quad-cycles] waves working on {} instructions
        SQ_ACTIVE_INST_SCA         [quad-cycles] waves working on scalar instructions
        SQ_INST_CYCLES_{SALU,SMEM,VMEM_RD,VMEM_WR}  [quad-cycles] executing {} instructions
        SQ_THREAD_CYCLES_VALU      [quad-cycles × lanes] vector ALU time times active lanes
        SQ_VALU_MFMA_BUSY_CYCLES   [clocks] matrix units busy
    """),
    ("SQ", "gfx950", """
        SQ_ACTIVE_INST_VALU2       [quad-cycles] two vector ALU instructions issued together
        SQ_VALU_MFMA_COEXEC_CYCLES [clocks] matrix unit busy while another vector instruction was issued
        SQ_LDS_{DATA,CMD}_FIFO_FULL        [clocks] the LDS queue was full: {}
        SQ_VMEM_TA_{ADDR,CMD}_FIFO_FULL    [clocks] the TA queue was full: {}
        SQ_VMEM_WR_TA_DATA_FIFO_FULL       [clocks] the TA queue of data to write was full
    """),
    # -------------------------------------------------------------------------- SQ: LDS and the scalar caches
    ("SQ", _CDNA, """
        SQ_LDS_BANK_CONFLICT       [clocks] LDS held up by bank conflicts
        SQ_LDS_ADDR_CONFLICT       [clocks] LDS held up by address conflicts
        SQ_LDS_IDX_ACTIVE          [clocks] LDS busy with indexed operations, conflicts included
        SQ_LDS_ATOMIC_RETURN       [clocks] LDS returning results of atomics
        SQ_LDS_UNALIGNED_STALL     [clocks] LDS held up by unaligned FLAT accesses
        SQ_LDS_MEM_VIOLATIONS      lanes with a wrong LDS address
        SQC_DCACHE_{REQ,HITS,MISSES,MISSES_DUPLICATE,ATOMIC}  scalar cache: {}
        SQC_DCACHE_REQ_READ_{1,2,4,8,16}  scalar cache: reads of {} dwords
        SQC_DCACHE_INPUT_VALID_READYB     [clocks] scalar cache: a request had to wait
        SQC_ICACHE_MISSES_DUPLICATE       instruction cache: misses of a line already on its way
        SQC_TC_REQ                 requests of both caches to the L2 cache
        SQC_TC_{INST,DATA_READ,DATA_WRITE,DATA_ATOMIC}_REQ  requests of these caches to the L2 cache: {}
        SQC_TC_STALL               [clocks] requests to the L2 cache had to wait
    """),
    ("SQ", f"{_CDNA} gfx1201", """
        SQC_ICACHE_{REQ,HITS,MISSES}      instruction cache: {}
    """),
    ("SQ", "gfx942 gfx950", """
        SQC_{DCACHE,ICACHE}_BUSY_CYCLES   [clocks] {} busy
        SQC_ICACHE_INPUT_VALID_READYB     [clocks] instruction cache: a request had to wait
    """),
    ("SQ", _RDNA, """
        SQC_LDS_BANK_CONFLICT      [clocks] LDS held up by bank conflicts
        SQC_LDS_IDX_ACTIVE         [clocks] LDS busy with indexed operations, conflicts included
    """),
    # -------------------------------------------------------------------------- TA and TD
    ("TA", _CDNA, """
        TA_TA_BUSY(sum)                       [clocks] TA busy
        TA_TOTAL_WAVEFRONTS(sum)              wave instructions of vector memory
        TA_FLAT_WAVEFRONTS(sum)               FLAT, global and scratch wave instructions
        TA_FLAT_{READ,WRITE,ATOMIC}_WAVEFRONTS(sum)    FLAT, global and scratch wave instructions: {}
        TA_BUFFER_WAVEFRONTS(sum)             buffer wave instructions
        TA_BUFFER_{READ,WRITE,ATOMIC}_WAVEFRONTS(sum)  buffer wave instructions: {}
        TA_BUFFER_TOTAL_CYCLES(sum)           [clocks] buffer instructions sent to the L1 cache
        TA_BUFFER_COALESCED_{READ,WRITE}_CYCLES(sum)   [clocks] coalesced buffer instructions sent: {}
        TA_ADDR_STALLED_BY_{TC,TD}_CYCLES(sum)         [clocks] addresses held up by {}
        TA_DATA_STALLED_BY_TC_CYCLES(sum)     [clocks] data held up by the L1 cache
    """),
    ("TA", "gfx950", """
        TA_{BUFFER,FLAT}_READ_LDS_WAVEFRONTS(sum)      {} reads straight into LDS
        TA_{BUFFER,FLAT}_COALESCEABLE_WAVEFRONTS(sum)  {} wave instructions that can be coalesced
    """),
    ("TA", _RDNA, """
        TA_TA_BUSY                            [clocks] TA busy
    """),
    ("TA", "gfx1100 gfx1201", """
        TA_BUFFER_{LOAD,STORE}_WAVEFRONTS(sum)         buffer wave instructions: {}
    """),
    ("TA", "gfx1030", """
        TA_FLAT_{LOAD,STORE}_WAVEFRONTS(sum)           FLAT, global and scratch wave instructions: {}
    """),
    ("TD", _CDNA, """
        TD_TD_BUSY(sum)                [clocks] TD busy or waiting for data
        TD_TC_STALL(sum)               [clocks] TD waiting for the L1 cache
        TD_SPI_STALL(sum)              [clocks] TD held up by the SPI
        TD_LOAD_WAVEFRONT(sum)         wave instructions that load, stores and atomics included
        TD_{STORE,ATOMIC}_WAVEFRONT(sum)  wave instructions: {}
        TD_COALESCABLE_WAVEFRONT(sum)  wave instructions that can be coalesced
    """),
    ("TD", "gfx950", """
        TD_WRITE_ACKT_WAVEFRONT(sum)   write acknowledgments sent to the SQ
        TD_TD_SP_TRAFFIC               times that data went to the SIMDs
    """),
    # -------------------------------------------------------------------------- TCP: vector L1
    ("TCP", _CDNA, """
        TCP_GATE_EN{1,2}(sum)              [clocks] L1 clocks switched on (1: interface, 2: core)
        TCP_TOTAL_ACCESSES(sum)            requests from the TA, up to four lanes each
        TCP_TOTAL_{READ,WRITE}(sum)        requests from the TA: {}
        TCP_TOTAL_ATOMIC_{WITH,WITHOUT}_RET(sum)  atomic requests from the TA, {} return
        TCP_TOTAL_CACHE_ACCESSES(sum)      line lookups, hits and misses
        TCP_TOTAL_WRITEBACK_INVALIDATES(sum)  invalidations of the cache
        TCP_VOLATILE(sum)                  volatile requests
        TCP_TA_TCP_STATE_READ(sum)         wave instructions received
        TCP_TCC_{READ,WRITE}_REQ(sum)      requests to the L2 cache: {}
        TCP_TCC_ATOMIC_{WITH,WITHOUT}_RET_REQ(sum)  atomic requests to the L2 cache, {} return
        TCP_TCC_CC_{READ,WRITE,ATOMIC}_REQ(sum)  requests to the L2 cache for coherently cached memory: {}
        TCP_TCC_NC_{READ,WRITE,ATOMIC}_REQ(sum)  requests to the L2 cache for memory cached without coherence: {}
        TCP_TCC_RW_{READ,WRITE,ATOMIC}_REQ(sum)  requests to the L2 cache for memory of this device alone: {}
        TCP_TCC_UC_{READ,WRITE,ATOMIC}_REQ(sum)  requests to the L2 cache for uncached memory: {}
        TCP_PENDING_STALL_CYCLES(sum)      [clocks] waiting for data from the L2 cache
        TCP_TCP_TA_DATA_STALL_CYCLES(sum,max)  [clocks] L1 holds up the TA's data
        TCP_TD_TCP_STALL_CYCLES(sum)       [clocks] TD holds up the L1
        TCP_TCR_TCP_STALL_CYCLES(sum)      [clocks] the way to the L2 cache holds up the L1
        TCP_{READ,WRITE,ATOMIC}_TAGCONFLICT_STALL_CYCLES(sum)  [clocks] conflicts at a line of the L1: {}
        TCP_UTCL1_REQUEST(sum)             address translations asked for
        TCP_UTCL1_TRANSLATION_{HIT,MISS}(sum)  address translations: {}
        TCP_UTCL1_PERMISSION_MISS(sum)     address translations without permission
    """),
    ("TCP", "gfx90a gfx950", """
        TCP_TCP_LATENCY(sum)               [clocks] from entering the L1 to leaving it, over all wave instructions
        TCP_TCC_{READ,WRITE}_REQ_LATENCY(sum)  [clocks] of requests to the L2 cache: {}
    """),
    ("TCP", "gfx950", """
        TCP_CACHE_MISS                     requests to the L2 cache because of misses
        TCP_TCP_TA_ADDR_STALL_CYCLES(sum)  [clocks] L1 holds up the TA's addresses
        TCP_{LFIFO,RFIFO}_STALL_CYCLES(sum)  [clocks] the {} was full
        TCP_TCR_RDRET_STALL(sum)           [clocks] data coming back from L2 held up writes to the L1
        TCP_TAGRAM{0,1,2,3}_REQ(sum)       requests to the L2 cache of tag bank {}
        TCP_TCC_WRITE_REQ_HOLE_LATENCY     [clocks] gaps in write requests to the L2 cache
        TCP_TOTAL_WBINVL1_VOL              invalidations asked for by the kernel's instructions
        TCP_{SQ,CP}_TCP_INVALIDATE_VOL     invalidations asked for by the {}
        TCP_CLIENT_UTCL1_INFLIGHT(sum)     address translations in flight, summed over clocks
        TCP_UTCL1_{SERIALIZATION_STALL,THRASHING_STALL,TRANSLATION_MISS_UNDER_MISS}(sum)  address translation: {}
        TCP_UTCL1_{STALL_INFLIGHT_MAX,STALL_MULTI_MISS,LFIFO_FULL,STALL_LFIFO_NO_RES}(sum)  address translation: {}
        TCP_UTCL1_STALL_UTCL2_REQ_OUT_OF_CREDITS(sum)  address translation: no credits to ask the next level
        TCP_UTCL1_{STALL_LRU_INFLIGHT,STALL_LFIFO_NOT_RES}  address translation: {}
    """),
    ("TCP", "gfx1201", """
        TCP_REQ                            line lookups
        TCP_REQ_MISS                       requests that missed
    """),
    # -------------------------------------------------------------------------- L2
    ("TCA", _CDNA, """
        TCA_BUSY(sum)    [clocks] the switch in front of the L2 channels had requests
        TCA_CYCLE(sum)   [clocks] its clocks
    """),
    ("TCC", _CDNA, """
        TCC_REQ(sum)                     requests of all kinds
        TCC_{READ,WRITE,ATOMIC}(sum)     requests: {}
        TCC_{NC,UC,CC,RW,STREAMING}_REQ(sum)  requests by the kind of memory: {}
        TCC_HIT(sum)                     hits; also of a line that is on its way
        TCC_MISS(sum)                    misses; uncached reads are misses
        TCC_WRITEBACK(sum)               lines written back, uncached writes included
        TCC_NORMAL_{WRITEBACK,EVICT}(sum)  lines that made room for others: {}
        TCC_ALL_TC_OP_{WB_WRITEBACK,INV_EVICT}(sum)  lines written back or dropped by a cache instruction: {}
        TCC_PROBE(sum)                   probes of other devices
        TCC_PROBE_ALL(sum)               probes of other devices, to all channels
        TCC_BUBBLE(sum)                  128-byte reads from memory
        TCC_BUSY(sum,avr)                [clocks] requests were pending
        TCC_CYCLE(sum)                   [clocks] clocks of the channels
        TCC_TAG_STALL(sum)               [clocks] the lookup was held up
        TCC_TOO_MANY_EA_WRREQS_STALL(sum)  [clocks] too many writes to memory were pending
    """),
    ("TCC", "gfx90a", """
        TCC_EA_RDREQ(sum)                reads from memory
        TCC_EA_RDREQ_32B(sum)            reads from memory of 32 bytes
        TCC_EA_RD_UNCACHED_32B(sum)      [32 bytes] uncached reads from memory
        TCC_EA_WRREQ(sum)                writes to memory, atomics included
        TCC_EA_WRREQ_64B(sum)            writes to memory of 64 bytes
        TCC_EA_WR_UNCACHED_32B(sum)      [32 bytes] uncached writes to memory
        TCC_EA_WRREQ_STALL(sum)          [clocks] a write to memory had to wait
        TCC_EA_ATOMIC(sum)               atomics sent to memory
        TCC_EA_{RDREQ,WRREQ}_DRAM(sum)   requests to this device's DRAM: {}
        TCC_EA_{RDREQ,WRREQ,ATOMIC}_LEVEL(sum)  requests in flight, summed over clocks: {}
        TCC_EA_RDREQ_{DRAM,GMI,IO}_CREDIT_STALL(sum)  [clocks] no credits to read from {}
        TCC_EA_WRREQ_{DRAM,GMI,IO}_CREDIT_STALL(sum)  [clocks] no credits to write to {}
    """),
    ("TCC", "gfx942 gfx950", """
        TCC_EA0_RDREQ(sum)               reads from memory
        TCC_EA0_RDREQ_32B(sum)           reads from memory of 32 bytes
        TCC_EA0_RD_UNCACHED_32B(sum)     [32 bytes] uncached reads from memory
        TCC_EA0_WRREQ(sum)               writes to memory, atomics included
        TCC_EA0_WRREQ_64B(sum)           writes to memory of 64 bytes
        TCC_EA0_WR_UNCACHED_32B(sum)     [32 bytes] uncached writes to memory
        TCC_EA0_WRREQ_STALL(sum)         [clocks] a write to memory had to wait
        TCC_EA0_WRREQ_PROBE_COMMAND      probes sent on the way of writes
        TCC_EA0_ATOMIC(sum)              atomics sent to memory
        TCC_EA0_{RDREQ,WRREQ}_DRAM(sum)  requests to this device's DRAM: {}
        TCC_EA0_{RDREQ,WRREQ,ATOMIC}_LEVEL(sum)  requests in flight, summed over clocks: {}
        TCC_EA0_RDREQ_{DRAM,GMI,IO}_CREDIT_STALL(sum)  [clocks] no credits to read from {}
        TCC_EA0_WRREQ_{DRAM,GMI,IO}_CREDIT_STALL(sum)  [clocks] no credits to write to {}
        TCC_INTERNAL_PROBE               probes that the cache sends itself
        TCC_PROBE_EVICT                  lines dropped because of probes
    """),
    ("TCC", "gfx950", """
        TCC_EA0_RDREQ_{64B,128B}(sum)    reads from memory of {}
        TCC_EA0_RDREQ_{DRAM,GMI,IO}_32B(sum)            [32 bytes] reads from {}
        TCC_EA0_WRREQ_WRITE_{DRAM,GMI,IO}_32B(sum)      [32 bytes] writes to {}
        TCC_EA0_WRREQ_ATOMIC_{DRAM,GMI,IO}_32B(sum)     [32 bytes] atomics to {}
        TCC_EA0_WRREQ_WRITE_ATOMIC_32B(sum)             [32 bytes] atomics to DRAM
        TCC_EA0_WRREQ_{WRITE,ATOMIC}_DRAM(sum)          requests to DRAM: {}
        TCC_{READ,WRITE,ATOMIC}_SECTORS(sum)            [32 bytes] data of requests: {}
        TCC_BYPASS_REQ(sum)              requests that go past the cache
        TCC_IB_REQ(sum)                  requests received
        TCC_IB_STALL(sum)                [clocks] requests received had to wait
        TCC_{LATENCY,SRC}_FIFO_FULL(sum) [clocks] the queue was full: {}
    """),
    ("GL2C", _RDNA, """
        GL2C_HIT(sum)                    hits
        GL2C_MISS(sum)                   misses; uncached reads are misses
        GL2C_EA_RDREQ_{32B,64B,128B}(sum)  reads from memory of {}
        GL2C_EA_WRREQ_64B(sum)           writes to memory of 64 bytes
        GL2C_MC_WRREQ_STALL              [clocks] a write to memory had to wait
    """),
    ("GL2C", "gfx1030 gfx1100", """
        GL2C_EA_RDREQ_96B(sum)           reads from memory of 96 bytes
        GL2C_MC_RDREQ(sum)               reads from memory
        GL2C_MC_WRREQ(sum)               writes to memory, atomics included
    """),
    ("GL2C", "gfx1201", """
        GL2C_EA_RDREQ(sum)               reads from memory
        GL2C_EA_RDREQ_256B(sum)          reads from memory of 256 bytes
        GL2C_EA_WRREQ(sum)               writes to memory
        GL2C_EA_WRREQ_STALL(max)         [clocks] a write to memory had to wait
    """),
)  # fmt: skip

_LINE = re.compile(r"([A-Za-z_0-9{},]+)(?:\(([a-z,]+)\))?\s+(?:\[([^\]]*)\]\s+)?(.*)")
_CHOICE = re.compile(r"\{([^{}]*)\}")


def _entries(block: str, architectures: str, text: str) -> list[Counter]:
    found = []
    for line in text.strip().splitlines():
        parsed = _LINE.fullmatch(line.strip())
        assert parsed is not None, line
        pattern, reductions, unit, meaning = parsed.groups()
        choice = _CHOICE.search(pattern)
        for chosen in choice[1].split(",") if choice else [""]:
            name = _CHOICE.sub(chosen, pattern, count=1)
            word = chosen.replace("_", " ").strip()
            said = meaning.replace("{}", word.lower() if len(word) > 4 or word in _PLAIN else word)
            forms = tuple(reductions.split(",")) if reductions else ()
            found.append(Counter(name, block, tuple(architectures.split()), said, unit or "", forms))
    return found


_PLAIN = {"READ", "LOAD", "BUSY", "IDLE", "HIT", "MISS", "HITS", "REQ", "WITH"}


@cache
def _by_name() -> Mapping[str, tuple[Counter, ...]]:
    table: dict[str, tuple[Counter, ...]] = {}
    for section in _TABLE:
        for counter in _entries(*section):
            table[counter.name] = (*table.get(counter.name, ()), counter)
    return table


def defined(name: str) -> tuple[Counter, ...]:
    """The counter of this name; more than one entry where architectures differ in its forms; none if nobody has it."""
    return _by_name().get(name, ())


_further: dict[str, Counter] = {}


def define(counters: Iterable[Counter]) -> None:
    """Take in the counters of devices that are not AMD's, from the provider that counts them."""
    _further.update((counter.name, counter) for counter in counters)
    raw.cache_clear()


@cache
def raw(arch: str) -> Mapping[str, Counter]:
    """The counters of an architecture by name, without the forms over instances; empty for one that is not known."""
    arch = like(arch)
    found = (counter for counters in _by_name().values() for counter in counters)
    return {counter.name: counter for counter in (*found, *_further.values()) if arch in counter.architectures}


def architectures(name: str) -> tuple[str, ...]:
    """The sets of `SETS` that have a counter of this name."""
    having = {arch for counter in defined(name) for arch in counter.architectures}
    return tuple(arch for arch in SETS if arch in having)
