"""Checked launches: `Checker` keeps the shadow memory that native/races.c works on, and says what it found as a Fault.

One per device; `prepare` sets a launch up, `faults` reads the findings. Shadow cells lie in memory of their own, that
grows with the largest launch and is given back by `release`.
"""

from __future__ import annotations

import ctypes
import mmap
from array import array
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gpulab.records import Access, Fault, LastWriters
from gpulab.virtual_gpu import schema
from gpulab.virtual_gpu.isa.row import Control, Memory
from gpulab.virtual_gpu.isa.waits import wait_for_all
from gpulab.virtual_gpu.machine import faults as words
from gpulab.virtual_gpu.machine import steps
from gpulab.virtual_gpu.machine.arena import CLOSED, Arena, lazy
from gpulab.virtual_gpu.machine.branches import way_without_barrier
from gpulab.virtual_gpu.machine.faults import thread_of
from gpulab.virtual_gpu.machine.loading import Code, Dim3, LoadedKernel
from gpulab.virtual_gpu.machine.native import build
from gpulab.virtual_gpu.machine.native.structures import (
    CheckStruct,
    FindingStruct,
    FoundStruct,
    LaunchStruct,
    RegionStruct,
    SegmentStruct,
)
from gpulab.virtual_gpu.schema import constant
from gpulab.virtual_gpu.translate import layout
from gpulab.virtual_gpu.translate.decode import ACC, CLOCKS, Decoded, hardware_field

if TYPE_CHECKING:
    import numpy as np

SLICE = 1 << 14
"""Instructions before a wave of a checked launch lets others run: waiting for ever is seen after a few of these."""

_KINDS = {
    "nothing": "",
    "race": "race",
    "lanes": "lane conflict",
    "unwritten": "never written",
    "barrier ended": "barrier",
    "barrier lanes": "barrier lanes",
    "barrier lines": "barrier lines",
    "deadlock": "deadlock",
    "shuffle": "shuffle",
    "vector": "register",
    "scalar": "register",
    "wait": "missing wait",
    "wait scalar": "missing wait",
    "wait barrier": "missing wait",
}
"""What kind of fault a finding is (schema.FINDINGS)."""

_U64 = ctypes.c_uint64
_NOWHERE = 0xFFFFFFFFFFFFFFFF
_EVENTS, SEGMENTS, _RELEASES = constant("EVENTS"), constant("SEGMENTS"), constant("RELEASES")
_ROW = constant("ROW_CELLS")  # cells of global memory are given out by rows
_EVENT_SHIFT = constant("EVENT_SHIFT")  # of epochs: the lane and whether it was atomic stand below
_LAST_LANE = (1 << _EVENT_SHIFT) - 1
_ATOMIC, _RELOAD, _LDS_READ, _GLOBAL_READ, _PARTIAL, _NARROW = (schema.ROLES[name] for name in schema.ROLES.names)
_GROUP_BYTES, _WAVE_BYTES = schema.layout(schema.CHECKED_GROUP).bytes, schema.layout(schema.CHECKED_WAVE).bytes


class _Room:
    """Memory of the process that reads as zero until it is written, and that can grow."""

    def __init__(self) -> None:
        self._map: mmap.mmap | None = None
        self.address = self.size = 0

    def fit(self, size: int) -> bool:
        """Make room for `size` bytes; True if this is new memory."""
        if size <= self.size:
            return False
        self.release()
        size = max(-(-size // mmap.PAGESIZE) * mmap.PAGESIZE, 1 << 16)
        self._map = lazy(size)
        view = ctypes.c_char.from_buffer(self._map)
        self.address, self.size = ctypes.addressof(view), size
        self._view = view
        return True

    def release(self) -> None:
        """Give the memory back."""
        if self._map is not None:
            del self._view
            self._map.close()
            self._map = None
        self.address = self.size = 0


def _lane_table() -> array[int]:
    """For k shadow cells per lane, which lane cell i belongs to: LANE_ROWS rows of LANE_ROW."""
    table = array("I")
    for k in range(constant("LANE_ROWS")):
        table.extend([i // max(k, 1) for i in range(constant("LANE_ROW"))])
    return table


class _Watched(NamedTuple):
    """What a checked launch has to know of a kernel's code.

    granule, lds_granule: bytes of a shadow cell. roles: of each access (schema.ROLE). lines: see `_lines`. steps: of a
    program without guarantees (steps.table). ordering, clocked: see `Check` in schema.py.
    """

    code: Code
    granule: int
    lds_granule: int
    roles: array[int]
    lines: array[int]
    steps: Any
    ordering: bool
    clocked: bool


def _watched(kernel: LoadedKernel, code: Code) -> _Watched:
    translation, program = code.translation, kernel.module.program
    accesses = translation.accesses
    granule, lds_granule = _granule(accesses, ("global", "flat", "scalar")), _granule(accesses, ("lds", "flat"))
    roles = array("I")
    for access in accesses:
        decoded = translation.decoded[access.instruction]
        width = access.bytes
        if access.space == "scalar" and width > 8:
            width = width // 2 + 4  # loads of 3, 5.. words are widened to 4, 8..: only these are wanted for certain
        flags = _ATOMIC if _synchronises(decoded, kernel) else 0
        for flag, marked in ((_RELOAD, program.reloads), (_PARTIAL, program.partial), (_NARROW, program.narrow)):
            flags |= flag if access.instruction in marked else 0
        cells = access.bytes // (lds_granule if access.space == "lds" else granule)
        if access.action == "load" and not flags & (_ATOMIC | _PARTIAL) and cells <= 16:
            flags |= {"lds": _LDS_READ, "global": _GLOBAL_READ}.get(access.space, 0)
        roles.extend((flags, width, access.bytes, cells))
    roles.extend((0, 0, 0, 0))
    return _Watched(
        code, granule, lds_granule, roles, _lines(kernel, translation.decoded),
        None if program.guarantees.compiled else steps.table(program, translation.decoded),
        _orders(program.orders.get(kernel.name)), any(_reads_clock(d) for d in translation.decoded.values()),
    )  # fmt: skip


class Checker:
    """The state of a device's checked launches."""

    def __init__(self, arena: Arena) -> None:
        self.arena = arena
        self.state = CheckStruct()
        self._cells, self._log, self._groups, self._segments = _Room(), _Room(), _Room(), _Room()
        self._lanes = _lane_table()
        self._releases = (_U64 * (2 * _RELEASES))()
        self._kept: list[Any] = []  # what the C code points to during a launch
        self._watched: _Watched | None = None  # of the kernel that was launched last
        self._last: tuple[LoadedKernel, Code, Dim3, Dim3] | None = None  # the launch that the cells are about

    def release(self) -> None:
        """Give the shadow memory back; it is made again when it is needed."""
        for room in (self._cells, self._log, self._groups, self._segments):
            room.release()
        self.state, self._last, self._watched = CheckStruct(), None, None
        self._releases = (_U64 * (2 * _RELEASES))()

    def prepare(self, launch: LaunchStruct, kernel: LoadedKernel, code: Code, at_a_time: int, block: Dim3) -> None:
        """Set a launch up to be checked; sizes, residents and allocations are in `launch` already.

        at_a_time: workgroups that the device holds at the same time. block: threads in x, y, z.
        """
        state = self.state
        if self._watched is None or self._watched.code is not code:
            self._watched = _watched(kernel, code)
        watched = self._watched
        self._last = kernel, code, (launch.grid[0], launch.grid[1], launch.grid[2]), block
        granule, lds_granule = watched.granule, watched.lds_granule
        state.shift, state.lds_shift = granule.bit_length() - 1, lds_granule.bit_length() - 1
        fresh = self._log.fit(2 * _EVENTS)
        fresh |= self._segments.fit(ctypes.sizeof(SegmentStruct) * SEGMENTS)
        state.log, state.segments, state.segment_room = self._log.address, self._segments.address, SEGMENTS

        regions = []
        cells = _ROW
        for allocation in self.arena.allocations():
            bits = self.arena.unwritten_bits(allocation.address)
            looks = allocation.writable and allocation.kind not in ("kernarg", "internal", *CLOSED)
            regions.append(RegionStruct(allocation.address, allocation.size, cells if looks else _NOWHERE, bits))
            if looks:
                cells += (-(-allocation.size // granule) // _ROW + 2) * _ROW
        each = 4 * (cells + 4 * _ROW)
        rows = each // _ROW
        if self._cells.fit(3 * (each + rows)) or fresh or state.now > _EVENTS // 2:
            self._start_over()
        # What earlier launches left behind has smaller epochs, whatever memory the cells stood for.
        state.write = self._cells.address
        state.read, state.other = state.write + each, state.write + 2 * each
        state.row_write = state.other + each
        state.row_read, state.row_other = state.row_write + rows, state.row_write + 2 * rows
        state.room, state.room_bytes = self._cells.address, self._cells.size // 32 * 32
        state.launch_start = state.now << _EVENT_SHIFT | _LAST_LANE
        state.segment_count = 0
        table = (RegionStruct * len(regions))(*regions)
        state.regions, state.region_count = ctypes.addressof(table), len(regions)

        places = array("I", [0]) * (len(code.translation.accesses) + 1)
        state.roles, state.places, state.lines = (a.buffer_info()[0] for a in (watched.roles, places, watched.lines))
        state.lanes = self._lanes.buffer_info()[0]

        waves = launch.waves
        state.lds_cells = (launch.lds_bytes // lds_granule + 64 + 15) // 8 * 8
        state.lds_at = -(-(_GROUP_BYTES + _WAVE_BYTES * waves) // 64) * 64
        state.scratch_at = state.lds_at + 12 * state.lds_cells
        state.steps_at = state.scratch_at + -(-8 * waves * launch.scratch_bytes // 64) * 64
        state.group_bytes = state.steps_at
        state.steps = 0
        if watched.steps is not None:
            state.steps = ctypes.addressof(watched.steps)
            given = steps.first_scalars(kernel.layout.sgprs)
            state.first_scalars[:] = [given >> 64 * n & (1 << 64) - 1 for n in range(3)]
            state.group_bytes += -(-steps.PROGRESS_BYTES * waves // 64) * 64
        self._groups.fit(state.group_bytes * launch.residents)
        state.groups = self._groups.address

        state.compiled = kernel.module.program.guarantees.compiled
        # Fewer workgroups live here at a time than on the device: that they wait for others is no proof then.
        state.crowded = launch.residents < min(launch.total, at_a_time)
        state.ordering, state.clocked = watched.ordering, watched.clocked
        state.wave_size, state.all_lanes = launch.wave_size, (1 << launch.wave_size) - 1
        state.changes, state.round_changes, state.watching, state.again = 0, _NOWHERE, 0, 0
        if state.release_count:
            ctypes.memset(self._releases, 0, ctypes.sizeof(self._releases))
        state.releases, state.release_room = ctypes.addressof(self._releases), _RELEASES
        state.release_count = state.release_floor = 0
        state.chained = launch.observer
        state.found_count = state.pending.finding.kind = 0
        self._kept = [table, places]
        launch.checker = ctypes.addressof(state)
        launch.observer = build.functions().check
        launch.slice = SLICE

    def faults(
        self, kernel: LoadedKernel, code: Code, grid: Dim3, block: Dim3, cooperation: int, dynamic_lds: int
    ) -> list[Fault]:
        """What is wrong with the launch that has run: the fault that it is stopped for, and what else was found in the
        same workgroup. `cooperation` is the address of a cooperative launch's record, or 0; `dynamic_lds` counts bytes.
        """
        state = self.state
        found: list[FoundStruct] = list(state.found[: state.found_count])
        if state.pending.finding.kind:
            # A read of what was never written explains whatever other fault came later, if that says no more itself.
            known = bool(found) and layout.FAULTS[found[0].fault.kind] == "checked"
            later = bool(found) and state.pending.fault.number > found[0].fault.number
            found.insert(len(found) if known or later else 0, state.pending)
        faults = []
        for one in found:
            fault = words.fault(kernel, code, one.fault, block, cooperation, dynamic_lds)
            faults.append(self._fault(fault, one.finding, kernel, code, grid, block) if one.finding.kind else fault)
        return faults

    def _start_over(self) -> None:
        """Forget all epochs."""
        self.state.now = 0
        if self._cells.address:
            size = self._cells.size
            self._cells.release()
            self._cells.fit(size)

    def _fault(
        self, fault: Fault, found: FindingStruct, kernel: LoadedKernel, code: Code, grid: Dim3, block: Dim3
    ) -> Fault:
        """The finding as a Fault, from what the support code wrote down about its first side."""
        import dataclasses

        name = schema.FINDINGS.names[found.kind]
        kind = _KINDS[name]
        other = self._other(found, kernel, code, grid, block)
        detail, where, nearest = "", "", fault.nearest
        address = fault.address
        size = kernel.module.device.architecture.wave_size
        if kind in ("race", "lane conflict", "never written", "deadlock"):
            if found.in_lds or _space(code, found) in ("lds", "scratch"):
                where = "scratch" if _space(code, found) == "scratch" else "lds"
                nearest = None
            elif address is not None:
                where = "global"
                nearest = self.arena.nearest(address)
        if kind == "lane conflict" and found.has_values:
            detail = (
                f"lane {found.other_lane} stored {_value(found.other_value, found.has_values)}, "
                f"lane {found.lane} stored {_value(found.value, found.has_values)}"
            )
        if kind == "race" and other is not None and other.workgroup == fault.workgroup:
            detail = _way(found, fault, other, kernel, code)
        register = _register(name in ("scalar", "wait scalar"), found.value)
        if kind == "register":
            detail = register
        if kind == "missing wait":
            counter = steps.COUNTERS[found.count]
            detail = f"{'' if name == 'wait barrier' else register}:{counter}:{wait_for_all(counter)}"
        if kind == "shuffle":
            started = found.mask >> found.other_lane & 1
            detail = f"lane {found.other_lane} " + (
                "is not active there: it took another branch, left the loop or has returned"
                if started
                else "does not exist in this wave: the block has no thread for it"
            )
        if kind == "barrier lanes":
            missing = [n for n in range(size) if found.mask >> n & 1]
            detail = f"{_lanes(missing)} of the wave {'is' if len(missing) == 1 else 'are'} not there"
        if kind == "barrier":
            detail = f"wave {found.other_wave} of the block has ended" + (
                f" (and {found.count - 1} more)" if found.count > 1 else ""
            )
        if kind == "deadlock":
            held = other is not None and other.workgroup == fault.workgroup and other.wave == fault.wave
            if held and other is not None and other.lane != fault.lane:
                # Atomics of the waiting lanes themselves write, too: then the holder is the one that waits no more.
                waiting = other.instruction == fault.instruction
                who = (
                    "the lane of the same wave that has left the loop"
                    if waiting
                    else f"lane {other.lane} of the same wave"
                )
                detail = (
                    f"{who} cannot go on: lanes of a wave run in step, so it waits until lane {fault.lane} leaves the "
                    "loop, too"
                )
            elif found.count:
                detail = (
                    f"{found.count:,} blocks have not started: they wait for room until one of the running blocks ends"
                )
            elif found.at_barrier:
                where_ = code.translation.decoded[found.barrier_instruction].instruction.where
                waits = "1 wave of the block waits" if found.at_barrier == 1 else f"{found.at_barrier} waves wait"
                at = f" in line {where_.line}" if where_ is not None else ""
                detail = f"{waits} at the barrier{at} for this one, and can change nothing until it comes there, too"
        lack, flag = schema.LACKS.names[found.lack] if kind == "race" else "", None
        if lack in ("acquire", "release", "block"):
            access = code.translation.accesses[found.flag_access]
            flag = code.translation.decoded[access.instruction].instruction.where
        return dataclasses.replace(
            fault, kind=kind.split()[0] if kind.startswith("barrier") else kind, other=other, detail=detail,
            memory=where, nearest=nearest, lack=lack, flag=flag,
        )  # fmt: skip

    def _other(self, found: FindingStruct, kernel: LoadedKernel, code: Code, grid: Dim3, block: Dim3) -> Access | None:
        if not found.other_known:
            return None
        translation = code.translation
        number = found.other_group
        group = (number % grid[0], number // grid[0] % grid[1], number // (grid[0] * grid[1]))
        if found.other_known == schema.OTHER_SIDE["instruction"]:
            decoded = translation.decoded[found.other_instruction]
            return Access(
                decoded.instruction.where,
                decoded.instruction.text.strip(),
                group,
                int(found.other_wave),
                None,
                None,
                "",
            )
        return _access(found.other_access, group, int(found.other_wave), int(found.other_lane), kernel, code, block)

    def changed(self) -> Iterator[tuple[int, np.ndarray]]:
        """The allocations that the launch that was checked last has changed: address, and a bool for each byte.

        A byte counts as changed with those that share its granule.
        """
        import numpy as np

        if self._last is None or not self._kept:
            return
        state = self.state
        for region in self._regions():
            if region.cell == _NOWHERE or not region.size:
                continue
            found = self._writes(region) > state.launch_start
            if found.any():
                yield region.address, np.repeat(found, 1 << state.shift)[: region.size]

    def _regions(self) -> Sequence[RegionStruct]:
        """The allocations of the launch that was checked last, whose cells say what they have to say."""
        build.function("apart")(ctypes.addressof(self.state))
        regions: Sequence[RegionStruct] = self._kept[0]
        return regions

    def _writes(self, region: RegionStruct) -> np.ndarray:
        """Who wrote last, by granule of an allocation: an epoch each."""
        import numpy as np

        count = ((region.size - 1) >> self.state.shift) + 1
        return np.frombuffer((ctypes.c_uint32 * count).from_address(self.state.write + 4 * region.cell), np.uint32)

    def last_writers(self, address: int, size: int, count: int) -> LastWriters:
        """Who was the last to change each of `count` elements of `size` bytes from `address` on, in the launch that was
        checked last. None: nobody, or the memory did not belong to an allocation then. Of a launch that was stopped it
        is what had happened until then; a store of the value that was there already is no change.
        """
        import numpy as np

        rows = np.full((count, LastWriters.COLUMNS), -1, np.int64)
        if self._last is None or not self._kept:
            return LastWriters((), rows)
        state, (kernel, code, grid, block) = self.state, self._last
        region = next((one for one in self._regions() if 0 <= address - one.address < one.size), None)
        if region is None or region.cell == _NOWHERE or not state.segment_count:
            return LastWriters((), rows)
        inside = min(count, max(region.size - (address - region.address), 0) // size)
        cells = self._writes(region)
        offsets = address - region.address + size * np.arange(inside)
        first, last = offsets >> state.shift, offsets + (size - 1) >> state.shift
        epochs = cells[first]
        for further in range(1, int((last - first).max(initial=0)) + 1):
            epochs = np.maximum(epochs, cells[np.minimum(first + further, last)])
        segments = np.frombuffer(
            (SegmentStruct * state.segment_count).from_address(state.segments), np.dtype(SegmentStruct)
        )
        events = (epochs >> _EVENT_SHIFT).astype(np.int64)
        at = np.searchsorted(segments["first"], events, "right") - 1
        # An event before the first segment is too long ago: the events have begun again since.
        (known,) = np.nonzero((epochs > state.launch_start) & (at >= 0))
        if not known.size:
            return LastWriters((), rows)
        events, at, epochs = events[known], at[known], epochs[known]
        log = np.ctypeslib.as_array((ctypes.c_uint16 * (int(events.max()) + 1)).from_address(state.log))
        accesses, numbers = np.unique(log[events], return_inverse=True)
        group, wave = segments["group"][at].astype(np.int64), segments["wave"][at].astype(np.int64)
        lane = (epochs & (1 << constant("LANE_BITS")) - 1).astype(np.int64)
        thread = wave * kernel.module.device.architecture.wave_size + lane
        made = [_access(number, (0, 0, 0), 0, 0, kernel, code, block) for number in accesses.tolist()]
        by_lane = np.array([one.lane is not None for one in made])[numbers]
        rows[known] = np.stack(
            (numbers.reshape(-1), *_split(group, grid), wave, np.where(by_lane, lane, -1), *_split(thread, block)), 1
        )
        return LastWriters([(one.where, one.instruction, one.access) for one in made], rows)


def _split(flat: np.ndarray, size: Dim3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The three numbers of each flat one."""
    return flat % size[0], flat // size[0] % size[1], flat // (size[0] * size[1])


def _access(
    number: int, group: Dim3, wave: int, lane: int, kernel: LoadedKernel, code: Code, block: Dim3
) -> Access:  # fmt: skip
    """A memory access of the kernel by its number, made by a lane of a wave."""
    access = code.translation.accesses[number]
    instruction = code.translation.decoded[access.instruction].instruction
    known = None if access.space == "scalar" else lane
    return Access(
        where=instruction.where,
        instruction=instruction.text.strip(),
        workgroup=group,
        wave=wave,
        lane=known,
        thread=thread_of(wave, known, block, kernel.module.device.architecture.wave_size),
        access={"load": "read", "store": "write"}.get(access.action, access.action),
    )


def _space(code: Code, found: FindingStruct) -> str:
    """The address space of the access that a finding is about; "" of a kernel that accesses no memory."""
    accesses = code.translation.accesses
    return accesses[found.access].space if found.access < len(accesses) else ""


def _way(found: FindingStruct, fault: Fault, other: Access, kernel: LoadedKernel, code: Code) -> str:
    """Of a race within a block: the one way between its two lines that has no barrier, as "from line 8 to line 10"; ""
    if both ways have none."""
    translation, labels = code.translation, kernel.module.program.labels
    later, earlier = (translation.accesses[n].instruction for n in (found.access, found.other_access))
    if fault.where is None or other.where is None or fault.where.file != other.where.file:
        return ""
    ends = [(earlier, other.where.line, later, fault.where.line), (later, fault.where.line, earlier, other.where.line)]
    open_ways = [
        (start, end)
        for first, start, second, end in ends
        if way_without_barrier(translation.blocks, translation.decoded, labels, first, second)
    ]
    if len(open_ways) != 1 or other.where.line == fault.where.line:
        return ""
    start, end = open_ways[0]
    return (
        f"from line {start} round to line {end} of the next turn" if end < start else f"from line {start} to line {end}"
    )


def _value(value: int, size: int) -> str:
    return f"0x{value:0{2 * min(size, 8)}x}" if value > 9 else str(value)


def _register(scalar: bool, number: int) -> str:
    """A register's name by its number among the vector or the scalar registers."""
    if not scalar:
        return f"v{number}" if number < ACC else f"a{number - ACC}"
    return {layout.VCC: "vcc_lo", layout.VCC + 1: "vcc_hi"}.get(number, f"s{number}")


def _lanes(lanes: Sequence[int]) -> str:
    """ "lane 3", "lanes 0 to 31", "lanes 1, 3, 5 ..."."""
    if len(lanes) == 1:
        return f"lane {lanes[0]}"
    if lanes[-1] - lanes[0] == len(lanes) - 1:
        return f"lanes {lanes[0]} to {lanes[-1]}"
    return f"lanes {', '.join(str(n) for n in lanes[:8])}" + (" ..." if len(lanes) > 8 else "")


def _granule(accesses: Sequence[Any], spaces: tuple[str, ...]) -> int:
    """Bytes that one cell stands for: the smallest element that the kernel uses, at most 4."""
    return min((a.bytes for a in accesses if a.space in spaces and a.bytes < 4), default=4)


def _synchronises(decoded: Decoded, kernel: LoadedKernel) -> bool:
    """Whether an access may be used for synchronisation: atomic operations, volatile and atomic loads and stores."""
    row, instruction = decoded.row, decoded.instruction
    if not isinstance(row, Memory):
        return False
    if row.action == "atomic":
        return True
    if decoded.index in kernel.module.program.synchronising:
        return True
    # The cache bits say so, too: sc0, sc1 (gfx940), glc (gfx10, gfx11), a scope (gfx12). (LLVM, "User Guide for AMDGPU
    # Backend", memory models: no plain and no non-temporal access has them.)
    return any(instruction.modifiers.get(bit) for bit in ("sc0", "sc1", "glc", "scope"))


def _orders(words: frozenset[str] | None) -> bool:
    """Whether an atomic operation of a kernel may order other accesses of a workgroup: it has releases and acquires."""
    if words is None:
        return True
    return bool(words & {"release", "fence", "block-release"} and words & {"acquire", "fence", "block-acquire"})


def _lines(kernel: LoadedKernel, decoded: dict[int, Decoded]) -> array[int]:
    """A number for each instruction's source line; 0 where it is not known."""
    lines = array("I", [0]) * (len(kernel.module.program.instructions) + 1)
    numbers: dict[tuple[str, int], int] = {}
    for index, one in decoded.items():
        where = one.instruction.where
        if where is not None:
            lines[index] = numbers.setdefault((where.file, where.line), len(numbers) + 1)
    return lines


def _reads_clock(decoded: Decoded) -> bool:
    row = decoded.row
    if not isinstance(row, Control):
        return False
    if row.kind in ("time", "realtime", "sendmsg_rtn"):
        return True
    if row.kind != "getreg":
        return False
    field = hardware_field(decoded.instruction.operands[1].value)
    return field is not None and field[0] in CLOCKS
