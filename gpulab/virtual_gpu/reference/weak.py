"""Weak memory on the reference machine: `WeakGrid` runs a grid whose stores become visible late and out of order.

Vector memory instructions of a wave are only issued; they are done later, at a moment that a random generator with a
given seed chooses, in any order but that of the same bytes. A wait for a counter lasts until what it names is done.
Between waves and memory lie caches without coherence (isa/caches.py): a line that was read stays until it is
invalidated or displaced, and the L2 of a die keeps what its CUs store until it is written back or displaced. So each
result has a cause that hardware has, too; docs/weak.md has the rules and what is left out.

Moving parts: `Caches` (lines of one cache), `Path` (what lies between a wave and memory), `Operation` (an instruction
that is under way, or a part of a store), `WeakWave`, `WeakGroup`, `WeakGrid` (chooses who goes on).
"""

from __future__ import annotations

import copy
import heapq
import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from gpulab import architectures
from gpulab.architectures.architecture import Architecture
from gpulab.virtual_gpu import dispatch
from gpulab.virtual_gpu.isa import caches, waits
from gpulab.virtual_gpu.isa.instruction import Operand, Register
from gpulab.virtual_gpu.isa.row import CrossLane, Image, Memory
from gpulab.virtual_gpu.reference.machine import Execute, Workgroup
from gpulab.virtual_gpu.reference.memory import DeviceMemory
from gpulab.virtual_gpu.reference.operands import Writes
from gpulab.virtual_gpu.reference.state import Stop, Wave

LINE = 128
"""Bytes of a cache line. (AMD's ISA manuals: 128 in the L2 and in the first caches of CDNA 3 and RDNA.)"""

UNDER_WAY = 63
"""Instructions that a counter can count; with so many under way the next one waits. (MI300 ISA manual 4.4: 6 bits)"""

_BURSTS = (1, 1, 1, 2, 3, 5, 8, 24)
"""Instructions that a wave executes at most before another one may: one of these, each as likely."""

_LATE = ((0.45, 4), (0.8, 40), (1.0, 400))
"""When an instruction is done: with this probability (all before it included) up to so many instructions later."""

_AWAITED = ((0.5, 8), (0.8, 100), (1.0, 600))
"""When an instruction is done at the latest, from the moment on that somebody waits for it, said in the same way."""

_STAYS = ((0.5, 60), (1.0, 3000))
"""How long a line stays in a cache, said in the same way."""

_OPEN = ("flat", "global", "buffer")


class Backing(DeviceMemory, Protocol):
    """Device memory as it is needed here."""

    def check(self, address: int, size: int, write: bool) -> None:
        """Raise BadAccess if these bytes must not be read, or written."""

    def peek(self, address: int, size: int) -> bytes:
        """The bytes of a line; those that belong to nobody are 0."""


class Line:
    """A line of a cache: its bytes, those that memory does not have yet, and the time at which it is displaced."""

    __slots__ = ("data", "dirty", "until")

    def __init__(self, data: bytes | bytearray, until: int) -> None:
        self.data, self.until = bytearray(data), until
        self.dirty = 0  # a bit for each byte


Lines = dict[int, Line]
"""The lines of one cache by address."""


class Unit:
    """A compute unit: its cache, what its waves have under way in the order of issue, and the operation that used 4
    bytes last, by address / 4. A CU does accesses to the same bytes in the order in which its waves issue them."""

    def __init__(self) -> None:
        self.lines: Lines = {}
        self.under_way: list[Operation] = []
        self.last: dict[int, Operation] = {}

    def pending(self) -> list[Operation]:
        self.under_way = [one for one in self.under_way if not one.done]
        return self.under_way


class Path(NamedTuple):
    """What lies between a wave and memory.

    unit: its CU. second: the lines of the cache of its shader array or die, None if there is none. keeps: the second
    cache keeps what is stored. alone: all waves of a workgroup are on the same CU.
    """

    unit: Unit
    second: Lines | None
    keeps: bool
    alone: bool

    @property
    def first(self) -> Lines:
        return self.unit.lines


class Hierarchy:
    """All caches of a device, and its memory; `now` counts instructions."""

    def __init__(self, architecture: Architecture, backing: Backing, chance: random.Random) -> None:
        self.architecture, self.backing, self.chance = architecture, backing, chance
        self.now = 0
        self._units: dict[tuple[int, int], Unit] = {}
        self._second: dict[int, Lines] = {}
        self.kept: Callable[[Lines, int, int], None] | None = None  # told of a line that has to be written back in time

    def path(self, workgroup: int, wave: int) -> Path:
        """The caches of a wave. Workgroups go round the dies, or the shader arrays, and then over the CUs; where a
        workgroup has several CUs its waves take turns."""
        a = self.architecture
        unit = self._units.setdefault((workgroup % a.multiprocessors, wave % a.cus_per_unit), Unit())
        arrays = a.shader_array_cache.instances if a.shader_array_cache is not None else 0
        several = a.xcds if a.xcds > 1 else arrays
        second = self._second.setdefault(workgroup % several, {}) if several else None
        return Path(unit, second, a.xcds > 1, a.cus_per_unit == 1)

    def late(self, table: Sequence[tuple[float, int]]) -> int:
        """A random time from now on."""
        drawn = self.chance.random()
        longest = next(most for part, most in table if drawn < part)
        return self.now + int(self.chance.random() * (longest + 1))

    def read(self, path: Path, address: int, size: int, scope: int) -> bytes:
        self.backing.check(address, size, False)
        found = bytearray()
        for line, start, end in _pieces(address, size):
            if scope >= caches.DEVICE:
                self._pass_by(path, line)
                found += self.backing.read(line + start, end - start)
                continue
            below = [path.first] if scope == caches.WAVE or path.alone else []
            if not below:
                path.first.pop(line, None)
            if path.second is not None:
                below.append(path.second)
            found += self._line(below, line, path.keeps)[start:end]
        return bytes(found)

    def read_scalar(self, path: Path, address: int, size: int) -> bytes:
        """A load of the scalar unit, whose cache is taken to have nothing."""
        self.backing.check(address, size, False)
        below = [path.second] if path.second is not None else []
        pieces = (self._line(below, line, path.keeps)[start:end] for line, start, end in _pieces(address, size))
        return b"".join(pieces)

    def _line(self, below: Sequence[Lines], line: int, keeps: bool) -> bytes | bytearray:
        """A line as the first of these caches has it."""
        if not below:
            return self.backing.peek(line, LINE)
        cache = below[0]
        found = cache.get(line)
        if found is None or (found.until <= self.now and not found.dirty):
            found = cache[line] = Line(self._line(below[1:], line, keeps), self.late(_STAYS))
        return found.data

    def _pass_by(self, path: Path, line: int) -> None:
        """An access that goes to memory: the line leaves the caches on the way, what is changed of it first."""
        path.first.pop(line, None)
        if path.second is not None:
            self.write_back(path.second, (line,))
            path.second.pop(line, None)

    def write(self, path: Path, address: int, data: bytes, scope: int) -> None:
        self.backing.check(address, len(data), True)
        at = 0
        for line, start, end in _pieces(address, len(data)):
            piece = data[at : at + end - start]
            at += end - start
            if line in path.first:
                path.first[line].data[start:end] = piece
            bits = (1 << end) - (1 << start)
            second = path.second
            if second is not None and path.keeps and scope < caches.DEVICE:
                self._line((second,), line, True)
                kept = second[line]
                kept.data[start:end] = piece
                if not kept.dirty and self.kept is not None:
                    self.kept(second, line, self.late(_STAYS))
                kept.dirty |= bits
                continue
            if second is not None and line in second:
                second[line].data[start:end] = piece
                second[line].dirty &= ~bits
            self.backing.write(line + start, piece)

    def write_back(self, cache: Lines, lines: Iterable[int]) -> None:
        """Write what is changed in some lines of a cache to memory."""
        for line in lines:
            found = cache.get(line)
            if found is None:
                continue
            start = 0
            while found.dirty >> start:
                if not found.dirty >> start & 1:
                    start += 1
                    continue
                end = start
                while found.dirty >> end & 1:
                    end += 1
                self.backing.write(line + start, bytes(found.data[start:end]))
                start = end
            found.dirty = 0

    def drop(self, path: Path, first: bool, second: bool) -> None:
        """Invalidate caches; what is changed is not lost."""
        if second and path.second is not None:
            self.write_back(path.second, tuple(path.second))
            path.second.clear()
        if first:
            path.first.clear()

    def finish(self) -> None:
        """The end of the kernel: all that was stored is in memory."""
        for cache in self._second.values():
            self.write_back(cache, tuple(cache))


def _pieces(address: int, size: int) -> Iterator[tuple[int, int, int]]:
    """(line, first byte in it, byte after the last) of each line that an access touches."""
    while size > 0:
        start = address % LINE
        part = min(size, LINE - start)
        yield address - start, start, start + part
        address, size = address + part, size - part


class View:
    """Device memory as the instruction sees it that is done at this moment."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self._hierarchy = hierarchy
        self.path: Path | None = None
        self.scope = caches.DEVICE
        self.scalar = False

    def read(self, address: int, size: int) -> bytes:
        assert self.path is not None
        if self.scalar:
            return self._hierarchy.read_scalar(self.path, address, size)
        return self._hierarchy.read(self.path, address, size, self.scope)

    def write(self, address: int, data: bytes) -> None:
        assert self.path is not None
        self._hierarchy.write(self.path, address, data, self.scope)


class Operation:
    """An instruction of a wave that is under way, or a part of a store: what it does, when, and after which others."""

    __slots__ = ("action", "after", "changes", "done", "due", "executor", "number", "scope", "wave")

    def __init__(
        self, wave: WeakWave, executor: WeakExecute | None, scope: int, changes: bool, action: Callable[[], None]
    ) -> None:
        self.wave, self.executor, self.scope, self.action, self.due = wave, executor, scope, action, 0
        self.changes = changes
        self.after: set[Operation] = set()
        self.done = False
        self.number = 0  # in the order of issue


class WeakWave:
    """A wave with what it has under way.

    under_way: for each wait counter the instructions that raised it, in order, as their operations. waits: it goes on
    when these are done. prepared: what the next instruction waits for and does to caches has been looked at.
    """

    def __init__(self, group: WeakGroup, wave: Wave, path: Path) -> None:
        self.group, self.wave, self.path = group, wave, path
        self.under_way: dict[str, deque[tuple[Operation, ...]]] = {}
        self.waits: list[Operation] = []
        self.prepared = False

    def ready(self) -> bool:
        if self.wave.done or self.wave.at_barrier:
            return False
        if self.waits:
            self.waits = [one for one in self.waits if not one.done]
        return not self.waits

    def issued(self, counters: Iterable[str], operations: tuple[Operation, ...]) -> None:
        for counter in counters:
            self.under_way.setdefault(counter, deque()).append(operations)

    def beyond(self, counter: str, left: int) -> list[Operation]:
        """What is not done of the instructions that must be, if `left` of a counter's may be under way."""
        queue = self.under_way.get(counter, deque())
        while queue and all(one.done for one in queue[0]):
            queue.popleft()
        oldest = max(len(queue) - left, 0)
        return [one for operations in list(queue)[:oldest] for one in operations if not one.done]


class WeakExecute(Execute):
    """Executes one instruction; vector accesses to device memory are put off."""

    machine: WeakGroup
    taken: dict[tuple[str, int, int, int], int] | None = None  # data registers as they were at the issue

    def memory(self, row: Memory) -> Writes:
        self.machine.view.scalar = row.space == "scalar" and row.action == "load"
        return super().memory(row)

    def access(self, row: Memory, data: list[Operand], addresses: dict[int, int]) -> Writes:
        places = [*addresses.values(), *(address for address, _ in self.partial.values())]
        apart = [
            p for p in places if p & dispatch.APERTURE_MASK in (dispatch.SHARED_APERTURE, dispatch.PRIVATE_APERTURE)
        ]
        if row.space not in _OPEN or len(apart) == len(places):
            return super().access(row, data, addresses)
        self.machine.weak.issue(self, row, data, addresses, put_off=not apart)
        return []

    def take(self, data: Sequence[Operand], lanes: Iterable[int]) -> None:
        """Keep the data registers of a store or atomic."""
        registers = [operand.value for operand in data if isinstance(operand.value, Register)]
        every = tuple(lanes)
        self.taken = {
            (r.file, r.index, r.count, lane): self.data_bits(Operand(r), lane) for r in registers for lane in every
        }

    def data_bits(self, operand: Operand, lane: int) -> int:
        register = operand.value
        if self.taken is not None and isinstance(register, Register):
            return self.taken[register.file, register.index, register.count, lane]
        return super().data_bits(operand, lane)

    def now(self, row: Memory, data: list[Operand], addresses: dict[int, int]) -> None:
        """Do the access."""
        for write in super().access(row, data, addresses):
            write()


class WeakGroup(Workgroup):
    """A workgroup of a `WeakGrid`."""

    executor = WeakExecute
    weak: WeakGrid
    view: View


class WeakGrid:
    """A grid that runs on weak memory.

    Args:
        make: gives the workgroup with a number, whose memory is the view that it is called with.
        total: workgroups. residents: how many live at a time.
        seed: chooses the order; the same seed gives the same run.
    """

    def __init__(
        self, arch: str, backing: Backing, make: Callable[[int, View], WeakGroup], total: int, residents: int, seed: int
    ) -> None:
        self.architecture = architectures.get(arch)
        self.chance = random.Random(seed)
        self.memory = Hierarchy(self.architecture, backing, self.chance)
        self.memory.kept = self._keep
        self._backing, self._make, self._total, self._residents = backing, make, total, residents
        self._view = View(self.memory)
        self._due: list[tuple[int, int, Operation | tuple[Lines, int]]] = []
        self._number = 0
        self._waves: list[WeakWave] = []

    def run(self, limit: int) -> None:
        """Run all workgroups to the end; a wave may execute `limit` instructions.

        Raises:
            KernelFault: as Workgroup.run; KernelTimeout.
        """
        started = alive = 0
        while True:
            while started < self._total and alive < self._residents:
                self._start(started)
                started, alive = started + 1, alive + 1
            self._advance()
            chosen = self._choose()
            if chosen is None:
                if not self._waves and started == self._total:
                    break
                if not self._due:
                    self._stuck()
                self.memory.now = max(self.memory.now, self._due[0][0])
                continue
            if self._burst(chosen, limit):
                waves = [one for one in self._waves if one.group is chosen.group]
                if all(one.wave.done for one in waves):
                    self._waves = [one for one in self._waves if one.group is not chosen.group]
                    alive -= 1
        while self._due:
            self.memory.now = max(self.memory.now, self._due[0][0])
            self._advance()
        self.memory.finish()

    def _start(self, number: int) -> None:
        group = self._make(number, self._view)
        group.weak, group.view = self, self._view
        self._waves += [WeakWave(group, wave, self.memory.path(number, wave.number)) for wave in group.waves]

    def _choose(self) -> WeakWave | None:
        """A wave that can go on."""
        count = len(self._waves)
        if not count:
            return None
        first = int(self.chance.random() * count)
        for step in range(count):
            one = self._waves[(first + step) % count]
            if one.ready():
                return one
        return None

    def _burst(self, chosen: WeakWave, limit: int) -> bool:
        """Some instructions of a wave; whether it has ended or come to a barrier."""
        group, wave = chosen.group, chosen.wave
        instructions, table = group.program.instructions, group.table
        self._current = chosen
        for _ in range(_BURSTS[int(self.chance.random() * len(_BURSTS))]):
            if wave.steps >= limit:
                group.stop(wave, min(wave.pc, len(instructions) - 1), Stop("timeout"))
            item = instructions[wave.pc] if wave.pc < len(instructions) else None
            row = table.get(item.mnemonic) if item is not None else None
            if item is not None and not chosen.prepared:
                chosen.prepared = True
                for counter, left in waits.allowed(item, row):
                    self._wait(chosen, counter, left)
                if caches.writes_back(row):
                    self._write_back(chosen, caches.counters(row, self.architecture))
                first, second = caches.dropped(item, row, self.architecture)
                if first or second:
                    self.memory.drop(chosen.path, first, second)
                    chosen.issued(caches.counters(row, self.architecture), ())
                if isinstance(row, Memory) and any(len(q) >= UNDER_WAY for q in chosen.under_way.values()):
                    for counter in chosen.under_way:
                        self._wait(chosen, counter, UNDER_WAY - 1)
            if chosen.waits:
                return False
            self._view.path, self._view.scope, self._view.scalar = chosen.path, caches.DEVICE, False
            self._asynchronous = False
            group.step(wave)
            chosen.prepared = False
            self.memory.now += 1
            if item is not None and not self._asynchronous and isinstance(row, (Memory, Image, CrossLane)):
                chosen.issued(waits.raised(row, True, self.architecture), ())
            if wave.done or wave.at_barrier:
                if all(other.done or other.at_barrier for other in group.waves):
                    for other in group.waves:
                        other.at_barrier = False
                return True
            if self._due and self._due[0][0] <= self.memory.now:
                self._advance()
        return False

    def _wait(self, chosen: WeakWave, counter: str, left: int) -> None:
        """A wave waits; what it waits for is done soon.

        Where the waves of a workgroup share a CU, a release for the workgroup waits for nothing: the CU's cache keeps
        the order. Then a later release for the device, by another wave, has to cover what the first wave stored, so a
        wait for all vector memory covers what any wave of the CU has stored.
        """
        ones = chosen.beyond(counter, left)
        if not left and counter == "vmcnt" and chosen.path.alone:
            ones = [*ones, *(one for one in chosen.path.unit.pending() if one.changes)]
        for one in ones:
            chosen.waits.append(one)
            soon = self.memory.late(_AWAITED)
            if soon < one.due:
                self._put(one, soon)

    def issue(
        self, executor: WeakExecute, row: Memory, data: list[Operand], addresses: dict[int, int], *, put_off: bool
    ) -> None:
        """A wave has issued an access to device memory; `put_off`: it may be done later."""
        self._asynchronous = True
        executor.wave = copy.copy(executor.wave)  # EXEC and M0 as they are; registers are the wave's own
        size = max(row.element * row.count // 8, 1)
        returns = row.action == "load"
        if row.action != "load":
            sources = data if row.action == "store" or row.space == "buffer" else data[-1:]
            executor.take(sources, {*addresses, *executor.partial})
            modifiers = executor.item.modifiers
            named = bool(modifiers.get("sc0") or modifiers.get("glc")) if row.space == "buffer" else len(data) > 1
            returns = row.action == "atomic" and named
        if put_off:
            self._look(executor, row, addresses, size)
        parts: list[dict[int, int]] = [addresses]
        if row.action == "store" and put_off and not executor.partial:
            lines: dict[int, dict[int, int]] = {}
            for lane, address in addresses.items():
                lines.setdefault(address // LINE, {})[lane] = address
            parts = list(lines.values())
        chosen = self._current
        scope = caches.reach(executor.item, row, self.architecture)
        operations = tuple(self._operation(chosen, executor, scope, row, data, part, size) for part in parts)
        chosen.issued(waits.raised(row, returns, self.architecture), operations)
        if not put_off:
            for one in operations:
                self._do(one)

    def _look(self, executor: WeakExecute, row: Memory, addresses: dict[int, int], size: int) -> None:
        """A bad address is a fault where the instruction stands."""
        access = {"load": "read", "store": "write"}.get(row.action, row.action)
        for lane, address in addresses.items():
            if row.action == "atomic":
                executor.aligned(address, size, lane)

            def look(at: int = address) -> None:
                self._backing.check(at, size, row.action != "load")

            executor.device(lane, access, look)

    def _operation(
        self, chosen: WeakWave, executor: WeakExecute, scope: int, row: Memory, data: list[Operand],
        addresses: dict[int, int], size: int,
    ) -> Operation:  # fmt: skip
        one = Operation(chosen, executor, scope, row.action != "load", lambda: executor.now(row, data, addresses))
        unit = chosen.path.unit
        for address, length in [*((at, size) for at in addresses.values()), *executor.partial.values()]:
            for word in range(address // 4, (address + length - 1) // 4 + 1):
                before = unit.last.get(word)
                if before is not None and not before.done and before is not one:
                    one.after.add(before)
                unit.last[word] = one
        if len(unit.last) > 1 << 14:
            unit.last = {word: known for word, known in unit.last.items() if not known.done}
        self._begin(one)
        return one

    def _write_back(self, chosen: WeakWave, counters: tuple[str, ...]) -> None:
        """A write back comes behind all that the CU has issued; the wait for stores covers it."""
        second = chosen.path.second

        def action() -> None:
            if second is not None and chosen.path.keeps:
                self.memory.write_back(second, tuple(second))

        one = Operation(chosen, None, caches.DEVICE, True, action)
        one.after = set(chosen.path.unit.pending())
        self._begin(one)
        chosen.issued(counters, (one,))

    def _begin(self, one: Operation) -> None:
        """An operation is under way: it will be done, after those before it."""
        one.number = self._number
        unit = one.wave.path.unit
        if len(unit.under_way) > 1 << 10:
            unit.pending()
        unit.under_way.append(one)
        self._put(one, max([self.memory.late(_LATE), *(before.due for before in one.after)]))

    def _put(self, one: Operation, due: int) -> None:
        one.due = due
        self._number += 1
        heapq.heappush(self._due, (due, self._number, one))

    def _keep(self, cache: Lines, line: int, due: int) -> None:
        self._number += 1
        heapq.heappush(self._due, (due, self._number, (cache, line)))

    def _advance(self) -> None:
        """Do all that is due."""
        while self._due and self._due[0][0] <= self.memory.now:
            _, _, one = heapq.heappop(self._due)
            if isinstance(one, Operation):
                self._do(one)
            else:
                self.memory.write_back(one[0], (one[1],))

    def _do(self, one: Operation) -> None:
        if one.done:
            return
        for before in sorted(one.after, key=lambda other: other.number):
            self._do(before)
        one.done = True
        one.after = set()
        view, executor = self._view, one.executor
        view.path, view.scope, view.scalar = one.wave.path, one.scope, False
        if executor is None:
            one.action()
            return
        try:
            one.action()
        except Stop as stop:
            one.wave.group.stop(executor.wave, executor.index, stop)

    def _stuck(self) -> None:
        """No wave can go on, and nothing is under way."""
        one = next(wave for wave in self._waves if not wave.wave.done)
        one.group.stop(one.wave, max(one.wave.pc - 1, 0), Stop("timeout"))
