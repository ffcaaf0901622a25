"""What C, Python and translated code agree on: structures, enumerations and constants, as data.

`STRUCTURES`, `ENUMERATIONS`, `FLAGS` and `CONSTANTS` are made into the C header machine/native/shared.h
(machine/native/header.py), into ctypes structures (machine/native/structures.py) and into the offsets that translated
code uses (translate/layout.py). The header has all sizes and offsets as assertions, so that a compiler that lays a
structure out in another way refuses it. After a change here run `python -m gpulab.virtual_gpu.machine.native.header`.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Field:
    """`count` values of a type one behind the other; a count of 1 is no array. Pointers are written "u32 *"."""

    name: str
    type: str
    count: int
    comment: str


@dataclass(frozen=True, slots=True)
class Struct:
    """A structure with C's layout; `align` is more than that of its fields where it says so."""

    name: str
    comment: str
    fields: tuple[Field, ...]
    align: int = 1

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its fields."""
        return tuple(field.name for field in self.fields)


@dataclass(frozen=True, slots=True)
class Enumeration:
    """Names numbered from 0. In C each is `prefix` and the name in capitals; "" is NONE there."""

    prefix: str
    comment: str
    names: tuple[str, ...]

    def __getitem__(self, name: str) -> int:
        return self.names.index(name)

    @property
    def numbers(self) -> dict[str, int]:
        """The number of each name."""
        return {name: number for number, name in enumerate(self.names)}


@dataclass(frozen=True, slots=True)
class Flags:
    """Names that are a bit each, from the lowest on."""

    prefix: str
    comment: str
    names: tuple[str, ...]

    def __getitem__(self, name: str) -> int:
        return 1 << self.names.index(name)


@dataclass(frozen=True, slots=True)
class Word:
    """An integer of several parts: the name of each with its first bit and its number of bits."""

    prefix: str
    comment: str
    parts: tuple[tuple[str, int, int], ...]

    def pack(self, **values: int) -> int:
        """The integer with these parts, the others being 0."""
        word = 0
        for name, first, bits in self.parts:
            value = int(values.pop(name, 0))
            if value >> bits:
                raise ValueError(f"{name}: {value} has more than {bits} bits")
            word |= value << first
        if values:
            raise ValueError(f"{self.prefix} has no part {', '.join(values)}")
        return word


_SIZES = {"u8": 1, "u16": 2, "u32": 4, "i32": 4, "u64": 8, "i64": 8}


_DECLARATION = re.compile(r"(?P<type>(?:const )?\w+(?: \*)?)(?:\[(?P<count>\d+)\])? (?P<names>\w+(?:, \w+)*)")


def _structure(name: str, comment: str, text: str, align: int = 1) -> Struct:
    """A structure from lines like ``u32[3] group: of the workgroup``; several names of a type stand with commas."""
    fields = []
    for line in text.strip().splitlines():
        declared, _, remark = line.strip().partition(":")
        found = _DECLARATION.fullmatch(declared)
        if found is None:
            raise ValueError(f"{name}: {line}")
        for field in found["names"].split(", "):
            fields.append(Field(field, found["type"], int(found["count"] or 1), remark.strip()))
            remark = ""
    return Struct(name, comment, tuple(fields), align)


# ------------------------------------------------------------------------------------------- numbers of registers

CONSTANTS: dict[str, tuple[int, str]] = {
    "SCALAR_REGISTERS": (136, "of a wave, numbered as the hardware's operand encodings are; s0 is 0"),
    "VCC": (106, ""),
    "TTMP": (108, "the trap register ttmp0"),
    "M0": (124, ""),
    "NULL_REGISTER": (125, ""),
    "EXEC": (126, ""),
    "SCC": (128, "behind the registers that the hardware numbers"),
    "FLAT_SCRATCH": (130, ""),
    "XNACK": (132, ""),
    "SHARED_BASE": (0x0001_0000, "high half of a flat address that is one of LDS"),
    "PRIVATE_BASE": (0x0002_0000, "high half of a flat address that is one of the lane's scratch"),
    "MOST_LANES": (16, "of a chunk, whose lanes the host's vectors hold at once: 8, or 16 with AVX-512"),
    "EDGE": (1 << 16, "offsets of instructions are smaller; else they could wrap at 4 GiB"),
    "PATTERNS": (1024, "shapes of an access's addresses that a device keeps"),
    "PATTERN_BYTES": (1216, "the size of Pattern in observed.h"),
    "KEPT": (8, "lines of a load that its site keeps"),
    "TOLD_COLUMNS": (16, "of a ToldLoop at the most"),
    "LANES_APART": (-(1 << 31), "no step from lane to lane: Told"),
    "NOT_TOLD": (-1, "the address of a Told of a wave that did not come there"),
    "ARENA_SEGMENTS": (6, "of 4 GiB each: device memory has no more"),
    "SCRATCH_SEGMENT": (6, "where an observer takes scratch to be; the first one's set numbers are the same"),
    "ARENA_WORDS": (7 << 20, "bit sets of 64 pieces of 64 bytes, in all segments"),
    "EVENTS": (1 << 25, "accesses that fit into the log of a checked launch"),
    "SEGMENTS": (1 << 20, "runs of events of one wave that fit into its table"),
    "FOUND": (16, "findings of a checked launch that are kept"),
    "RELEASES": (1 << 14, "addresses with a release that fit into its table; a power of two"),
    "LANE_BITS": (6, "of an epoch: the lane"),
    "ATOMIC_BIT": (1 << 6, "of an epoch: whether the access was atomic"),
    "EVENT_SHIFT": (7, "of an epoch: from this bit on the event's number"),
    "LANE_ROW": (1024, "shadow cells that a row of Check.lanes has room for"),
    "ROW_CELLS": (16, "shadow cells of a row"),
    "LANE_ROWS": (17, "rows of it: up to 16 shadow cells for each lane"),
    "STEP_REGISTERS": (512, "vector registers that a Step has a bit for: v0.. and a0.. behind them"),
    "STEP_SCALARS": (192, "scalar registers that a Step has a bit for"),
    "TEXEL_SIZES": (5, "texels have 1, 2, 4, 8 or 16 bytes; an image access has a number for each and each tap"),
    "KIND_BITS": (8, "of what a recorded access does (KIND_); more is said of it above them"),
    "SPREAD_TURNS": (128, "of a workgroup that are looked at for the channels that they ask"),
    "CHANNEL_LINES": (2, "lines of 128 bytes one behind the other that lie in one memory channel"),
    "UNEVEN": (10, "workgroups of which one did more than the average and this part of it differ"),
    "LOG_CUT": (1 << 31, "of a log's length: not all accesses are in it"),
    "QUEUES": (
        5,
        "that count accesses until they are done: loads, stores, LDS, scalar loads (and LDS), samples",
    ),
    "MOST_TAPS": (8, "texels that one lane of an image instruction may read: 2 in each direction"),
}

# --------------------------------------------------------------------------------------------------- enumerations

STATUSES = Enumeration(
    "WAVE_",
    "What a translated kernel returns. ELSEWHERE passes between the pieces of a large one: to go on at the pc.",
    ("ended", "barrier", "yield", "fault", "sleep", "elsewhere"),
)
SPACES = Enumeration("SPACE_", "Where a memory access goes.", ("global", "flat", "lds", "scratch", "scalar"))
ACTIONS = Enumeration("", "What a memory access does.", ("read", "write", "atomic"))
FAULTS = Enumeration(
    "FAULT_",
    "Why a wave was stopped (Fault.kind of records.py).",
    (
        "", "out of bounds", "null", "misaligned", "freed", "read-only", "lds out of bounds", "scratch out of bounds",
        "timeout", "trap", "barrier", "bad jump", "grid barrier", "checked", "image descriptor",
    ),
)  # fmt: skip
NOTES = Enumeration(
    "NOTE_",
    "What a checked kernel tells beside its memory accesses. Release: the wave's writes so far become visible to other "
    "workgroups, with its next atomic write. Step: it is about to execute an instruction (in programs without "
    "guarantees). Acquire: what it has learned by atomic reads becomes visible to it. Fence: both.",
    ("release", "step", "acquire", "fence"),
)
FINDINGS = Enumeration(
    "FOUND_",
    "What a checked launch found wrong. Lanes: two of a wave store to one address; vector, scalar: a register that was "
    "never written is read; wait: a register is used before its load is waited for.",
    (
        "nothing", "race", "lanes", "unwritten", "barrier ended", "barrier lanes", "barrier lines", "deadlock",
        "shuffle", "vector", "scalar", "wait", "wait scalar", "wait barrier",
    ),
)  # fmt: skip
OTHER_SIDE = Enumeration(
    "OTHER_",
    "What is known of a finding's other side.",
    ("unknown", "access", "instruction"),
)
LACKS = Enumeration(
    "LACK_",
    "Why an atomic gave no order between the two accesses of a race.",
    ("", "acquire", "release", "block", "scope"),
)
FORMS = Enumeration(
    "FORM_",
    "How the shadow memory of an allocation is kept in a checked launch: nobody has used it yet; by rows of cells "
    "where these were used together; by cells.",
    ("unused", "rows", "cells"),
)
STEP_KINDS = Enumeration(
    "STEP_",
    "What an instruction does with the wait counters.",
    ("other", "load", "store", "lds", "lds_store", "scalar", "wait", "barrier"),
)
WAIT_COUNTERS = Enumeration(
    "",
    "Wait counters: of vector memory loads (before RDNA of stores, too), of LDS and scalar loads, of stores.",
    ("vmcnt", "lgkmcnt", "vscnt"),
)
PATTERNS = Enumeration(
    "CROSS_",
    "Ways to move data between lanes; those up to dpp8 are DPP's.",
    (
        "quad_perm", "row_shl", "row_shr", "row_ror", "wave_shl", "wave_rol", "wave_shr", "wave_ror",
        "row_mirror", "row_half_mirror", "row_bcast", "row_newbcast", "row_share", "row_xmask", "dpp8",
        "ds_permute", "ds_bpermute", "ds_swizzle", "permlane16", "permlanex16", "permlane64", "move",
        "permlane16_var", "permlanex16_var", "ds_bpermute_fi", "permlane16_swap", "permlane32_swap",
    ),
)  # fmt: skip
ROUNDED = Enumeration("ROUND_", "Operations that gpulab_round does.", ("fma", "add", "sub", "mul", "div", "sqrt", "to"))
FORMATS = Enumeration(
    "FORMAT_",
    "Numbers that gpulab_round takes; only the floating-point ones are results.",
    ("f16", "f32", "f64", "u16", "i16", "u32", "i32", "u64", "i64"),
)
ELEMENTS = Enumeration(
    "ELEMENT_",
    "Elements of the matrices of matrix instructions.",
    ("f32", "xf32", "f64", "f16", "bf16", "fp8", "bf8", "i32", "i8", "u8", "i4", "u4", "e4m3", "e5m2"),
)
MATRIX_LAYOUTS = Enumeration(
    "LAYOUT_",
    "Where matrix instructions have their elements: MFMA, WMMA of gfx11, sparse MFMA, WMMA of gfx12.",
    ("mfma", "wmma", "smfmac", "wmma12"),
)
IMAGE_ACTIONS = Enumeration(
    "IMAGE_", "What an image instruction does. Size: the descriptor's width, height, depth and levels.",
    ("load", "store", "sample", "gather", "size"),
)  # fmt: skip
IMAGE_SHAPES = Enumeration(
    "SHAPE_", "The shape of an image as an instruction takes it; the buffer is one of texels (buffer_load_format).",
    ("1d", "2d", "3d", "1d_array", "2d_array", "buffer"),
)  # fmt: skip
IMAGE_LEVELS = Enumeration(
    "LEVEL_",
    "Which level of detail a sample is taken from: that of the distance between lanes, the first, one that an address "
    "register names, the first moved by a bias, that of derivatives in address registers.",
    ("distance", "zero", "given", "bias", "derivatives"),
)
IMAGE_SETS = Enumeration(
    "SET_", "Layouts of descriptors: those of RDNA 2, 3 and 4 (isa/images.py).", ("gfx10", "gfx11", "gfx12")
)
RECORDED = Enumeration("KIND_", "What a recorded access does.", ("load", "store", "atomic", "scalar"))
OPS = Enumeration(
    "OP_",
    "Kinds of instruction of a simulated unit.",
    (
        "vector",
        "trans",
        "matrix",
        "scalar",
        "smem",
        "lds",
        "vmem",
        "store",
        "branch",
        "barrier",
        "wait",
        "end",
        "other",
    ),
)
ENUMERATIONS = (
    RECORDED, OPS,
    STATUSES, SPACES, ACTIONS, FAULTS, NOTES, FINDINGS, OTHER_SIDE, LACKS, FORMS, STEP_KINDS, WAIT_COUNTERS, PATTERNS,
    ROUNDED, FORMATS, ELEMENTS, MATRIX_LAYOUTS, IMAGE_ACTIONS, IMAGE_SHAPES, IMAGE_LEVELS, IMAGE_SETS,
)  # fmt: skip

ROLES = Flags(
    "ROLE_",
    "How an access takes part in a checked launch. Reload: of a register that the compiler spilled; it may be one "
    "without a value. LDS read, global read: a plain load there. Partial: of a word in which a bit field is going to "
    "be written. Narrow: atomic among the threads of a workgroup only.",
    ("atomic", "reload", "lds_read", "global_read", "partial", "narrow"),
)
FREE = Flags(
    "FREE_",
    "What costs nothing in the simulation of a unit.",
    ("vector", "trans", "matrix", "scalar", "lds", "l1", "l2", "last", "dram", "atomic", "dispatch", "latency"),
)
FLAGS = (ROLES, FREE)

ACCESS_WORD = Word(
    "ACCESS_",
    "An access as gpulab_load, gpulab_store, gpulab_resolve and gpulab_row take it. No high: addresses have no high "
    "halves. Put back: 64-bit elements of scratch go back after an atomic operation.",
    (
        ("space", 0, 4), ("action", 4, 4), ("align", 8, 8), ("bytes", 16, 8), ("signed", 24, 1), ("no_high", 25, 1),
        ("put_back", 26, 1),
    ),
)  # fmt: skip
ROUND_WORD = Word(
    "ROUNDING_", "An operation as gpulab_round takes it.", (("operation", 0, 4), ("result", 4, 4), ("source", 8, 4))
)
ROUND_MODE = Word("MODE_", "The part of MODE that gpulab_round takes.", (("rounding", 0, 2), ("overflow", 2, 1)))
MATRIX_SHAPE = Word(
    "SHAPE_",
    "A matrix instruction's sizes as gpulab_matrix takes them.",
    (("m", 0, 8), ("n", 8, 8), ("k", 16, 8), ("blocks", 24, 8), ("wave", 32, 8), ("layout", 40, 8)),
)
MATRIX_FLAGS = Word(
    "MATRIX_",
    "A matrix instruction's elements and modifiers; neg_lo is neg in instructions on doubles, high the half of D.",
    (
        ("a", 0, 4), ("b", 4, 4), ("d", 8, 4), ("cbsz", 12, 4), ("abid", 16, 4), ("blgp", 20, 4), ("neg_lo", 24, 3),
        ("neg_hi", 27, 3), ("clamp", 30, 1), ("high", 31, 1),
    ),
)  # fmt: skip
IMAGE_WORD = Word(
    "IMAGE_",
    "An image instruction as gpulab_image takes it. Mip: an address register names the level of a load or store. Data, "
    "resource, sampler: numbers of the first register. Index, offset: address registers that a buffer access has. "
    "Halves, half slopes, half data: coordinates, derivatives, data are 16-bit numbers, two to a register.",
    (
        ("action", 0, 4), ("shape", 4, 4), ("level", 8, 4), ("set", 12, 4), ("dmask", 16, 4), ("unorm", 20, 1),
        ("mip", 21, 1), ("index", 22, 1), ("offset", 23, 1), ("data", 24, 12), ("resource", 36, 8), ("sampler", 44, 8),
        ("halves", 52, 1), ("half_slopes", 53, 1), ("half_data", 54, 1),
    ),
)  # fmt: skip
WORDS = (ACCESS_WORD, ROUND_WORD, ROUND_MODE, MATRIX_SHAPE, MATRIX_FLAGS, IMAGE_WORD)

# ----------------------------------------------------------------------------- translated code and what it calls

WAVE = _structure(
    "Wave",
    "A wave's state. Translated code gets its address and finds all that it needs in it.",
    """
    u32[136] scalars
    i64 budget: with the last scalars one block of 64 bytes: what a workgroup starts with (Launch.first_blocks)
    i64 steps: instructions left before the limit
    u32 pc, status
    u32 mode: MODE, kept up to date where it changes
    u32 first_instruction
    u64 vgprs, lds, scratch
    u64 cache: per memory instruction: the allocation that it used last (Allocation)
    u64 counters: u64 per basic block
    u64 symbols: u32 per symbol operand: its value after relocation
    u64 active: when profiling: LaneCounts per segment
    u64 blend: 256 masks of 8 lanes
    u64 resolve: gpulab_resolve; so are the next ones the functions of their names
    u64 load, store, stop
    u64 search: gpulab_scalar
    u64 cross, clock, matrix, round, image
    u64 observer: what is told of each memory instruction; 0: nobody
    u64 addresses: Buffer, then u32[accesses of a run][2][wave_size]: low and high halves of addresses
    u64 row: gpulab_row
    u64 blind: the table of allocations is empty and stays so
    Thread * thread
    Wave * next: the next wave of the workgroup; 0: this is the last
    i64 counted: what `budget` was when its instructions were last counted
    i64 withheld: of `budget`, so that it gives way soon; 0: nothing
    Check * checker
    u64 shuffle: gpulab_shuffle
    u64 note: gpulab_note
    u64 changed: in a checked launch: lanes of a chunk whose store changed memory
    u64[4] dummy: where inactive lanes load from and store to
    u32 high: half of all addresses, where none lies beyond the first 4 GiB
    u32 lds_bytes, scratch_bytes, index
    u32[3] group
    u32 number: of the workgroup
    u64 seen: of its registers, when it last gave way: all of them in one number
    u64 still: they were the same the time before, at the same place: it waits for another wave
    """,
    align=64,
)
BUFFER = _structure(
    "Buffer",
    "What translated code and support code hand each other, for a chunk. It lies at the start of what a wave's "
    "`addresses` points to; the addresses of a run's accesses are behind it.",
    """
    u32[64] data: words of a load or a store, by word and lane
    u64[16] pointers: where each lane's element is, for atomics
    u32[32] old: what atomics return
    u64[16] bounce: 64-bit elements of scratch during an atomic
    u32[64] zeros: addresses of an access whose address is the same in all lanes
    """,
    align=64,
)
LANE_COUNTS = _structure(
    "LaneCounts",
    "Of one segment, when profiling: how many lanes of a wave were active; `lately` joins `lanes` every 128 times.",
    """
    u64 full: how often all lanes were active
    u64 partial: how often not all of them, or more: it says when `lately` has to join
    u8[64] lately: of the latter, how often each lane was, lately
    u64[64] lanes: and until then
    """,
)
ALLOCATION = _structure(
    "Allocation",
    "A memory instruction's entry in its thread's table: the allocation that it used last. An element may begin at "
    "`from` plus rotate_right(i, alignment's logarithm) for i below `single`; a whole chunk of consecutive ones for i "
    "below `wide`. This is the part of the allocation whose addresses have one high half, less EDGE bytes at both ends "
    "of these 4 GiB; `start` and `places` tell the support code the same of all of it. An observed wave of a kernel "
    "that does not record itself has an empty table (Launch.blind) instead. A run that is there for a whole wave, too, "
    "has an entry: `from` is how often that is not to be tried. So does a loop that each chunk does by itself "
    "(sweeps.py): the high half of `from` is how often it was not tried the last time.",
    """
    u64 from
    u32 wide, single
    u64 home: where the byte at `from` is in this process
    u64 start, places
    """,
)

# ------------------------------------------------------------------------------------------------------- launches

RANGE = _structure(
    "Range",
    "An allocation.",
    """
    u64 address, size
    u64 flags: 1: read-only
    u64 home: where its first byte is in this process
    """,
)
ACCESS = _structure(
    "Access",
    "A memory access of a kernel as an observer knows it (translate/lane_access.py, Observed).",
    "u32 instruction, part, space, action, bytes, slot",
)
WEIGHT = _structure(
    "Weight",
    "What one execution of a block counts for in what a workgroup did.",
    "u32 block, instructions",
)
LAUNCH = _structure(
    "Launch",
    "Everything that is the same for all threads of a launch.",
    """
    u64 entry: int (*)(Wave *, vgprs)
    u64 next: the next workgroup to take; shared by the threads
    u64 apart: workgroups that are set aside for the first thread, in their order
    u64 threads: how many share the launch
    u64 batch: how many a thread takes at once
    u64 total: workgroups
    const Range * ranges: sorted by address
    u64 range_count
    const Range * freed: lately freed
    u64 freed_count
    u64 lane_ids: u32[waves][wave_size]: what VGPR 0 holds at the start; the same for v1, v2
    const u64 * exec: of each wave at the start
    const u32 * zeroed: VGPRs that may be read before they are written
    u64 zeroed_count
    u64 limit: instructions that one wave may execute
    u64 slice: instructions before a wave lets the others run
    u64 arena: where device memory begins
    u64 faulted: the lowest number of a workgroup that faulted; ~0 for none
    u64 cancel: everything is to end (Ctrl-C)
    u64 straight: the function for waves that go straight through (translate/straight.py); 0: none
    u64 tells: not 0: it tells of their accesses
    u64 only: not 0: no workgroups but those of the sample are run
    u64 observer: Observer of the first `observed` workgroups, which run on thread 0 in their order, and of the recorded
    u64 observed
    const Access * accesses
    u64 access_count
    Observation * observation
    Recording * recording: of its sample
    Site * sites: per access
    u64 blind: an empty table of allocations for observed waves; 0 if the kernel itself records
    u64 grid_barrier: u32: how many workgroups of a cooperative launch wait (low 16 bits), and the phase; 0: none
    u64 gone: workgroups of a cooperative launch that have ended
    u64 moves: rounds of all threads in which a wave went on; counted where workgroups may wait for each other
    u64 ready: u64: not 0 when a wave waits for the host to answer its call (hostcall); 0: none does
    Check * checker: when the launch is checked
    u64 arguments: the kernel argument segment
    const u8 * segment: what it is to hold, with zeros for the `explicit` bytes that each launch is given
    u64 explicit, segment_bytes
    u64 packet: the dispatch packet; 0: the kernel asks for none
    const u8 * packet_words: what it is to hold
    const u32 * scalars: the first SGPRs of a wave
    u64 scalar_count
    u64 store, note, symbols: see Wave
    u64 slot_bytes: of the memory of a workgroup
    u64 block_count, active_bytes, cache_bytes: of what Wave's counters, active and cache point to
    u64 seen: what gpulab_collect writes
    u32[3] preload: of these SGPRs, the first that is an argument, how many are, and from which dword of them on
    u32 mode
    u64 * amounts: per workgroup: what it did, by `weights`; 0: not counted
    const Weight * weights
    u64 weight_count
    u64 uneven: result: whether workgroups did different amounts
    u32[3] grid
    u32 waves, wave_size, vgprs, lds_bytes, scratch_bytes
    u32[3] id_register: SGPRs of the workgroup's coordinates; ~0 if not wanted; y and z may share one
    u32 id_vgprs: VGPRs that lane_ids fills, each with u32[waves][wave_size]
    u32 first_pc
    u32 first_blocks: 64 bytes each of Wave that a workgroup starts with anew, a bit each
    u32 residents: workgroups that one thread keeps alive at the same time
    u32 room: how many it can keep alive, if they wait for each other
    u32 fits: the device holds all workgroups at the same time
    u32 wide: whether device memory is in use beyond its first 4 GiB
    """,
)
FAULT = _structure(
    "Fault",
    "What stopped a kernel.",
    """
    u32 kind, instruction, wave, lane
    u32[3] group
    u32 bytes, access, padding
    u64 address
    u64 number: of the workgroup
    """,
)
THREAD = _structure(
    "Thread",
    "One host thread's own memory.",
    """
    Launch * launch
    u64 memory: `room` slots of `slot_bytes`
    u64 slot_bytes
    u64 * order: of slots; those in use are order[0 .. used-1], those that never were stand in their own places
    u64 * number: per resident: the workgroup
    Wave template_wave
    Fault fault: this and all behind it are 0 at a launch's start
    u64 executed: waves
    u64 since: instructions since a wave of this thread ended
    u64 grace: slices that workgroups before a faulting one had since
    u64 used, at: residents, and whose turn it is
    u64 ended: workgroups that ended since the last pause
    u64 own, own_end: workgroups set aside for this thread, to be run first
    u64 work: instructions since the last pause, and some more for each turn
    u64 awake, quiet: waves that did more than sleep in this round; rounds without such
    u64 known: slots that held a workgroup before
    u64 allowed: workgroups that it keeps alive now
    u64 moved, rounds: whether a wave went on in this round; rounds since one ended
    u64 shorter: 0: slices are as the launch has them; 1, 2: shorter, much shorter
    u64 waited, moves: instructions since a wave of the launch went on, while `Launch.moves` was this
    u64 mark: what `since` was at the end of the last round
    u64 weighed, largest: what all workgroups did so far, by Launch.weights; the most that one did which has ended
    u64 crooked, turns: workgroups that are not to be tried straight; how many they were after the last one that was
    Wave * running: the last wave that ran: a kernel goes from one to the next of a workgroup by itself
    u64 tell, tell_loop: what an observer is told with (gpulab_tell, gpulab_tell_loop); 0: not now
    """,
)

# ---------------------------------------------------------------------------------------------- observed accesses

TOTALS = _structure(
    "Totals",
    "The totals of one access.",
    """
    u64 executed: wave instructions
    u64 lanes: active ones
    u64 quads: requests of four lanes
    u64 lines: of the first cache
    u64 bank_cycles, conflict_cycles: of LDS; those beyond the least
    u64 lds_executed: how many went to LDS
    u64 first_hits: lines found in the first cache, vector or scalar
    u64 array_hits: in GL1
    u64 requests, l2_hits: to the L2; found there
    u64 reads_64, reads_128: requests of so many bytes from the L2 to memory
    u64 memory_hits: found in the memory-side cache
    u64 followed: how many executions were followed through the caches
    u64 dram_bytes: read from device memory behind that cache
    u64 sectors: of 32 bytes that became dirty in the L2, which writes them back
    u64 lds_lanes: lanes that went to LDS
    """,
)
FLOWS = _structure(
    "Flows",
    "The totals of a launch.",
    """
    u64 writebacks_32, writebacks_64: write requests from the L2, by size
    u64 dram_reads, dram_writes: bytes
    u64 lines_written: lines that the L2 has to write back
    u64 evicted, evicted_dirty: lines that had to make room in it; and those of them that were to be written back
    """,
)
SAMPLE = _structure(
    "Sample",
    "One execution of an access. Two are kept: the first and the worst, which has the most lines beyond the fewest "
    "that could hold its bytes, or the most cycles by bank conflicts.",
    """
    u64 exec
    u32[3] group
    u32 wave, known, space, bytes, lines, bank_cycles, conflict_cycles
    u64[64] address
    """,
)
TOLD = _structure(
    "Told",
    "An access of a wave that went straight through, as it is told of afterwards (tell.c), beside its ToldOf.",
    """
    u64 address: of lane 0, from where the others go up by a step. Or where they all stand: u32[2][wave_size]
    u64 exec
    i64 step
    u64 changed: of a store in a checked kernel: lanes that are going to change memory
    """,
)
TOLD_OF = _structure(
    "ToldOf",
    "What is the same for all waves of an access that is told of.",
    """
    u64 exec: 0: see Told
    i32 step: bytes from lane to lane; LANES_APART: see Told, where it may be the same
    u32 access: its number
    """,
)
TOLD_LOOP = _structure(
    "ToldLoop",
    "What a loop that each chunk of lanes has done by itself tells of. Behind it, for each access: its column in the "
    "log, and its number; in the order in which they are told of.",
    """
    u32 columns: of the log: u64[most][columns][chunks] (checked: [columns][chunks][most]): the first lane's address
    u32 accesses
    u32 lanes: of a chunk
    u32 most: rounds that there is room for
    """,
)
SITE = _structure(
    "Site",
    "What the observer knows of an access besides Access.",
    """
    u64 last: Pattern that it had last, as it was when its serial number was `serial`
    u64 serial
    u64 partner: serial number of the twin's pattern when this had its last one: the two go together
    u64 repeats: accesses with it that are not in the totals yet
    u64 counts: quads, and lines << 32, that are not in the totals yet
    u32 shape: accesses of equal shape may share patterns
    u32 phases: LDS phases of the access; 0: not for LDS
    u32 grouping: which lanes go together: 0 consecutive ones, 1 those of Observation.grouped
    u32 serialises: lanes of one dword wait for each other (atomics)
    u32 twin: access before this one that was given the same addresses in the same run; ~0: none
    u32 space
    u32 lanes, bank_cycles, conflict_cycles: of the last pattern
    u32 kept: how many lines a load had last; they lie in the first cache at slot[], with these keys
    u32 instance, segment, from, range: good for the last pattern and first addresses from `from` to `from + range`
    u32[8] key, slot
    u32 bytes: of one lane
    u32 waits: not 0: in a loop in which a wave waits for another one
    i32 worst, limit: what the worst sample has too much; the lines beyond which one of the last pattern is worse
    """,
)
LEVEL = _structure(
    "Level",
    "One level of cache: `instances` of `sets` of `ways` lines. In the first cache and the scalar cache a set is "
    "`stride` tags (16, 32 or 64) and as many times of last use; `state` has its epoch in the high bits (the set is "
    "empty if that is old) and the number of ways in use. In the others a set is 16 tags, the last used first; `state` "
    "has its epoch.",
    """
    u64 tags, state
    u32 instances, sets, ways, stride
    """,
)
OBSERVATION = _structure(
    "Observation",
    "The state of a device's observers.",
    """
    Totals * totals: per access
    Site * sites: per access
    u64 patterns: Pattern[PATTERNS]
    u64 left: accesses that may still be observed
    i64 lookups: lines to look up before no further workgroup is followed through the caches
    u64 seen: u64[256]: hash table of `blocks`, stamp in the high half
    u64 touched: u64[ARENA_WORDS]: for each 64 bytes of device memory, whether they came from there
    u64 touched_epoch: u32[ARENA_WORDS]
    u64 serial
    Flows flows
    Level first, array, l2, memory, scalar
    u32 epoch, stamp, clock
    u32 fits: all allocations together fit into the memory-side cache; ~0: not known
    u32 banks
    u32 shift: 1 << shift: line of the first level
    u32 xcds, units: units of one XCD, CUs or WGPs
    u32 cus: of one unit
    u32 has_array, has_memory, scratch_base
    u64 memory_bytes: of the memory-side cache
    u64 cut: workgroups begun when a limit was met; 0: all was observed and followed
    u64 novelty: accesses that one counts as whose pattern is new in the launch
    u32 following: whether accesses are followed through the caches
    u32 segment: 4 GiB of device memory that the current access goes to
    u32[3] group: the workgroup of the last access; where it runs:
    u32 xcd, unit, instance
    Sample * samples: two for each access; 0: none are taken
    Recording * recording: of the launch
    u8[64] grouped: phase of each lane where they are not consecutive
    """,
)

# ------------------------------------------------------------------------------------------------- modelled times

RECORDING = _structure(
    "Recording",
    "The sample of a launch from which its time is modelled: a box of workgroups, and for each of their waves a log of "
    "its accesses to cached memory.",
    """
    u32[3] begin, size: the box: coordinates of its first workgroup, and how many there are in each direction
    u32 waves: of a workgroup
    u32 words: of the log of one wave
    u32 events: accesses of one wave to cached memory that are recorded at most; as many to LDS are counted
    u32 lock
    u64 log: u32[workgroups][waves][words]
    u64 used: u32[workgroups][waves]: words in use; LOG_CUT: more was to come
    u64 count: u32[workgroups][waves]: accesses to cached memory in the low 16 bits, above them those to LDS
    u64 waited: u32[workgroups][waves]: a bit for accesses in loops of waiting of which one was recorded
    u64 marks: Mark per access
    u64 banked: u64[3] per access: executions in LDS, their lanes, cycles of banks
    """,
)
MARK = _structure(
    "Mark",
    "The pattern that a recorded access had last.",
    "u64 last, serial",
)
LINE = _structure(
    "Line",
    "A line of 128 bytes that a workgroup of a sample has used. key: its number, and above it the workgroup's + 1, or "
    "how many there are + 1, for all of them.",
    """
    u64 key
    u32 stamp, in_array, in_l2, site, fetched, dirty, counted, asked
    u64 late: when the workgroup used it last, in 65536ths of its life
    u8[16] users: of all: the last workgroup + 1 that used it, of those on each die or shader array
    """,
)
FLOW = _structure(
    "SiteFlow",
    "What the accesses of one instruction did in a replay of a sample.",
    """
    u64 executed, lanes
    u64 lookups, first_hits: of lines in the first cache (vector or scalar)
    u64 missing, waiting: executions of which a line was not there; or had just been asked for by another wave
    u64 array_hits, l2_hits, last_hits: others that the workgroup had used lately, by the level that holds them
    u64 again, first: lines that it had used too long ago, or never
    u64 bytes, first_bytes: of all lines beyond the first cache, and of those that it had never used
    u64 requests: 64-byte requests of stores and atomics
    u64 sectors: of 32 bytes that became dirty
    u64 blocks: of 64 bytes that no workgroup of the sample had used before
    u64 line: the first that was used
    u64[12] pairs, shared: first uses by workgroups with one 1, 2, 4, 8 before it in x, y, z; lines that this uses
    """,
)
CROWD = _structure(
    "Crowd",
    "What workgroups asked of the memory's channels in one turn, added up over those that asked anything.",
    """
    u64 ones, used_by_ones: workgroups; channels of each
    u64 rows, used_by_rows: rows of workgroups in x; channels of each
    u64 busiest, fair: lines of each row's busiest channel; as many if all had the same
    """,
)
REPLAY = _structure(
    "Replay",
    "The replay of a sample.",
    """
    u64 log: all logs, one behind the other
    u64 used: as in Recording
    u64 kinds: u32 per access: KIND_, and in bit KIND_BITS whether it comes after a wait for earlier ones
    u64 flows: SiteFlow per access
    u64 warm: the same for the second half of the logs that do not reach to their wave's end
    u64 table: Line[mask + 1]
    u64 tags: u64[cus][sets][ways], the last used first: line + 1, and the turn in which it came from bit 32 on
    u64 cursors: u32[3 * waves]
    u64 turns: u32[array_sets + l2_sets]: requests so far of each set
    u64 asked: u32[2][SPREAD_TURNS][channels]: lines asked of each memory channel in a turn, by one workgroup; by a row
    u64 crowds: Crowd[SPREAD_TURNS]: result
    u64 reuse: u32[2][accesses][2][offsets + 1]: result (note_use): of all; of second halves of logs that were cut
    u64 shifts: i64, the same shape: how much later in its life than the one before it uses them, in 65536ths, in all
    u32[3] size, grid
    u32 accesses, offsets
    u32 stride: how many dies or shader arrays workgroups go round
    u32 mask, waves, cus, sets, ways, shift
    u32 array_sets, array_ways, l2_sets, l2_ways: of one workgroup's share; sets are a power of two, or 0: no cache
    u32 last_lines, scalar_lines: one workgroup's share
    u32 channels: 0: not looked at
    u32 random: a line that comes into the first cache takes the place of any other
    u32 replaced: so many did, so far
    """,
)
OP = _structure(
    "Op",
    "An instruction as the simulation of a unit (unit.c) sees it. Times are in 64ths of a clock.",
    """
    u32 kind: OP_
    u32 issue: for how long it holds its SIMD's issue of its kind
    u32 next: until the wave may issue again
    u32 latency: until its result can be read
    u32 matrix: for how long it holds the matrix core, or the transcendental unit
    u32 access: its Cost; ~0: none
    u32 queue: what counts it until it is done
    u32 at, reads, writes: registers[at]: those it reads, then those it writes
    u32[5] left: of a wait: how many may be under way, by queue; ~0: any number
    """,
)
COST = _structure(
    "Cost",
    "What an access costs, in 64ths of a clock of the unit and of its share of what all units use; and how many of "
    "65,536 go on from each level.",
    """
    u32 l1, lds, port, fill, l2, last, dram, atomic
    u32[5] latency: of the first cache, GL1, L2, the last-level cache, memory
    u32[4] beyond: of 65,536 executions that go to one of the first four, those that go on to the next
    u32[4] credit
    """,
)
VISIT = _structure(
    "Visit",
    "A wave executes ops `from` up to `to`, which stands for `weight` times.",
    """
    u32 from, to
    u32 part: of 65,536 of what its accesses cost beyond the unit: as its weight is to the largest
    u32 padding
    u64 weight: a double
    """,
)
RESIDENT = _structure(
    "Resident",
    "A wave in the simulation.",
    """
    u64 visit, last: those to come
    u64 op, end
    u64 entered: time at which this visit began
    u64 began
    u64 sum: a double: weighted time so far
    u64 stored: when its stores are done
    u64 group, simd, visits, gone
    u64[5] issued
    u64[320] done: [5][64]: when the last 64 accesses of each queue are done
    u64[704] ready: when each register can be read
    """,
)
UNIT = _structure(
    "Unit",
    "A simulation: what runs on one compute unit or WGP, and the result.",
    """
    const Op * ops
    const u16 * registers
    Cost * costs
    const Visit * visits
    u64 streams: u32[waves][2]: visits of each wave of a workgroup, from and to
    Resident * residents: slots * waves
    u64 at: u64[2][slots * waves]: when each may go on; the number of the instruction that it executed last
    u64 stalls: double per op: clocks for which waves stood still there
    u64 times: double[slots]: of the last workgroup of each slot
    u64 sums: double[slots]: of all
    u32 waves, slots, simds, cus, groups: workgroups in all
    u32 start, interval: from a free place to the first instruction; between two starts
    u32 barrier, free: FREE_ of what costs nothing
    u32 issued
    u32 burst: how much earlier than its turn an access beyond the unit may be done
    u32 padding
    u64 skew: between the first workgroups' starts, beside `interval`
    """,
)

BALANCED_PLACE = _structure(
    "BalancedPlace",
    "A place for a workgroup on a unit (balance.c).",
    """
    u64 when: a double: clock at which it begins, or how much its unit has done when it ends
    u64 number: of the workgroup
    u32 taken, running
    """,
)
BALANCED_UNIT = _structure(
    "BalancedUnit",
    "A unit (balance.c). Times are doubles.",
    """
    u64 done, at: how far one that runs all the time came at full speed, and when that was so
    u64 next: when something happens
    u64 running, taken: workgroups that run; places that are not free
    u64 amount: of all workgroups that came to it
    """,
)
BALANCE = _structure(
    "Balance",
    "A launch whose workgroups differ, on all units (balance.c).",
    """
    const u64 * amounts: what each workgroup did; 0: all did `amount`
    u64 amount
    u64 groups, dies, units, slots: units of one die; workgroups that one unit holds
    u64 each: a double: clocks that a workgroup takes for 1 of its amount at full speed
    u64 start, step: doubles: from a free place to the first instruction; between two starts on a die
    u64 filled, most: doubles: workgroups that run at full speed at a time on one unit, and on the device
    BalancedUnit * of_units: room
    BalancedPlace * places: room: slots of each unit
    u64 clocks: result, a double: when the last one ends
    u64 heaviest: result: the most of all amounts that came to one unit
    u64 * where: result, of each workgroup: its place, counted over all units; 0: not asked for, like the next two
    u64 * starts: result, doubles: when each gets its place
    u64 * ends: result, doubles
    """,
)

# ----------------------------------------------------------------------------------------------- checked launches

REGION = _structure(
    "Region",
    "An allocation with its shadow memory.",
    """
    u64 address, size
    u64 cell: the number of its first shadow cell; ~0 where races are not looked for
    u64 bits: which bytes were ever written, one bit each; 0: all
    u32 form: FORM_, how it is kept in this launch
    u32 each: cells of an element, if in rows
    u64 taken: rows that were taken apart
    """,
)
ROLE = _structure(
    "Role",
    "How an access of the kernel takes part, beside Access.",
    """
    u32 flags: ROLE_
    u32 width: bytes that are wanted for certain
    u32 bytes: all bytes
    u32 cells: shadow cells of a lane
    """,
)
SEGMENT = _structure(
    "Segment",
    "What a wave does between two switches to other waves: events from `first` on.",
    """
    u32 first, wave
    u64 group
    """,
)
CHECKED_WAVE = _structure(
    "CheckedWave",
    "One wave's clocks, as epochs (races.c), and what it waits for.",
    """
    u32 seen: epochs up to here happened before, whoever made them
    u32 near: and up to here those of its own workgroup
    u32 released: what its last release covers
    u32 learned: of what others released it has read so much: with its next acquire that is `seen`
    u32 learned_access
    u32 heard, heard_access: an atomic write that it read, whatever order that gives; the reading access
    u32 access: while watched: the last access,
    u64 address: its address
    u64 hash: of its registers when it last gave way
    u64 scratch: of its scratch, if `hash` was the same as before
    u32 same: how often in a row they were the same
    u32 lane, in_lds, watched
    u64 exec
    """,
)
CHECKED_GROUP = _structure(
    "CheckedGroup",
    "One workgroup's clocks.",
    """
    u64 number
    u32 start, phase: epochs: of its start, of its last barrier
    """,
)
FINDING = _structure(
    "Finding",
    "What is wrong, beside what Fault has.",
    """
    u64 kind, access, lane, in_lds
    u64 other_known, other_access, other_lane, other_wave, other_group, other_instruction: OTHER_
    u64 value, other_value, has_values: of two stores, and their bytes
    u64 mask, count
    u64 lack, flag_access: of a race: why an atomic gave no order (LACK_), and where it was read
    u64 at_barrier, barrier_instruction: of a deadlock: waves of the workgroup that wait at a barrier, and where
    """,
)
FOUND = _structure(
    "Found",
    "A fault of a checked launch; `finding` says more where it is FAULT_CHECKED.",
    "Fault fault\nFinding finding",
)
VIEW = _structure(
    "View",
    "Where the shadow cells of a plain read are: `size` bytes from `start` on, and what counts as ordered and as never "
    "written; of earlier reads, which are by other workgroups and which by this one (stays).",
    """
    u32 * write, read, other
    u64 start, size
    const u8 * bits
    u32 shift, old, unset, began, own, padding
    """,
)
CHECK = _structure(
    "Check",
    "The state of a checked launch.",
    """
    u64 now: number of the last event
    u64 launch_start: epochs up to here are of earlier launches
    Region * regions
    u64 region_count
    u32 * write, read, other: shadow memory: per cell of global memory
    u32 * row_write, row_read, row_other: and per row of cells (rows.c)
    u64 room, room_bytes: the memory that they lie in
    u16 * log: per event: the access
    Segment * segments
    u64 segment_count, segment_room
    const Role * roles: per access
    u32 * places: per access: the region it used last
    const u32 * lanes: [LANE_ROWS][LANE_ROW]: i / k
    const u32 * lines: per instruction: its source line, or 0
    u64 groups: per slot: CheckedGroup, CheckedWave[waves], shadow cells of its LDS, masks of its scratch
    u64 group_bytes, lds_at, scratch_at, steps_at
    const Step * steps: per instruction; 0 in compiled programs
    u64[3] first_scalars: scalar registers that hold something at the start, a bit each
    u64 lds_cells
    u64 shift, lds_shift: bytes of a shadow cell as a power of two
    u64 compiled: every access is meant as it is: not so where a person chose the instructions
    u64 clocked: the kernel reads a clock: that nothing changes is no proof then
    u64 crowded: the device holds more workgroups at a time than live here
    u64 ordering: the kernel has releases and acquires, of a workgroup or more: atomics may hand over in it
    u64 changes: stores that changed memory, and groups that started or ended
    u64 round_changes, watching
    Release * releases: by address
    u64 release_room, release_count, release_floor
    u64 mine: of the wave that runs: the first epoch of its segment
    u64 own: since then no other workgroup has run
    u64 again: the wave whose accesses came last is to make all of them once more, in the ordinary way
    CheckedWave * wave_state
    CheckedGroup * group_state
    u64 me, my_group: number of the wave in its workgroup, of the workgroup
    u64 in_lds: whether the access that is looked at is one of LDS
    u64 chained: Observer that is to be told, too; 0: none
    u64 told: what of it the running wave tells: `chained`, or 0
    u64 all_lanes, wave_size
    View lds: the running wave's LDS
    Found pending: the first read of memory that was never written; it waits for what says more
    u64 found_count
    Found[16] found: the faults of the workgroup with the lowest number that has one, one for each instruction and kind
    """,
)
RELEASE = _structure("Release", "What was released at an address.", "u64 key: the address\nu64 epoch")
STEP = _structure(
    "Step",
    "An instruction of a program without guarantees: registers that it reads and writes, a bit each (v0.. and a0.., of "
    "active lanes; `cross`: of any lane), and what it does with the wait counters.",
    """
    u64[8] reads, writes, cross
    u64[3] scalar_reads, scalar_writes
    u32 kind, counter
    u32[4] waits: how many accesses may be left by counter; ~0: any number
    """,
)
PROGRESS = _structure(
    "Progress",
    "A wave's registers: which hold something, and which still wait for memory.",
    """
    u64[512] written: lanes of each vector register that were written
    u64[3] scalars
    u32[512] pending: number << 2 | counter of the access that brings the register's value
    u32[192] pending_scalar
    u32[512] by: its instruction
    u32[192] by_scalar
    u32[3] issued, done: accesses of each counter: all; those that have arrived for certain
    u32 last_scalar, last_lds_store, lds_store_by, padding
    """,
)

STRUCTURES = (
    WAVE, BUFFER, LANE_COUNTS, ALLOCATION, RANGE, ACCESS, WEIGHT, LAUNCH, FAULT, THREAD, TOTALS, FLOWS, SAMPLE,
    TOLD, TOLD_OF, TOLD_LOOP, SITE, LEVEL, RECORDING, OBSERVATION, MARK, LINE, FLOW, CROWD, REPLAY, OP, COST, VISIT,
    RESIDENT, UNIT, BALANCED_PLACE, BALANCED_UNIT, BALANCE, REGION, ROLE, SEGMENT, CHECKED_WAVE, CHECKED_GROUP,
    FINDING, FOUND, VIEW, CHECK, RELEASE, STEP, PROGRESS,
)  # fmt: skip
_BY_NAME = {structure.name: structure for structure in STRUCTURES}


@dataclass(frozen=True, slots=True)
class Layout:
    """Bytes from a structure's start to each field; its size and alignment."""

    offsets: dict[str, int]
    bytes: int
    align: int


def _of_type(name: str) -> tuple[int, int]:
    """(bytes, alignment) of a type."""
    if name.endswith("*"):
        return 8, 8
    if name in _SIZES:
        return _SIZES[name], _SIZES[name]
    found = layout(_BY_NAME[name])
    return found.bytes, found.align


@functools.cache
def layout(structure: Struct) -> Layout:
    """C's layout by the rules of the hosts' ABIs (System V, Microsoft's for x86-64, AAPCS64): each field at the next
    multiple of its alignment, the size a multiple of the largest of them."""
    offsets: dict[str, int] = {}
    at, widest = 0, structure.align
    for field in structure.fields:
        size, align = _of_type(field.type)
        at = -(-at // align) * align
        offsets[field.name] = at
        at += size * field.count
        widest = max(widest, align)
    return Layout(offsets, -(-at // widest) * widest, widest)


def constant(name: str) -> int:
    """The value of one of `CONSTANTS`."""
    return CONSTANTS[name][0]
