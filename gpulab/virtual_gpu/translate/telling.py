"""What an observer is told of waves that go straight through (straight.py, phases.py): a `Telling` emits it.

Each wave leaves a row for each access (Told in schema.py), in the order in which the ordinary form tells of them, that
of their numbers. Where it is certain how addresses go up from lane to lane (linear.py), a row has the first lane's and
the step; else it says where all of them stand. The observer gets the rows when it is certain that the waves are through
(native/tell.c): waves that cannot go on must not have told of anything. In a checked kernel it is the other way round:
the checker gets a wave's rows before the wave stores, and may say no (native/straight.c).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from gpulab.virtual_gpu import schema
from gpulab.virtual_gpu.translate import layout
from gpulab.virtual_gpu.translate.chunk import Chunk, Unfit
from gpulab.virtual_gpu.translate.emitter import NULL, TRUE, ZERO, Emitter, Integer, Value, signed, splat
from gpulab.virtual_gpu.translate.lane_access import LaneAccess, Observed
from gpulab.virtual_gpu.translate.linear import Line
from gpulab.virtual_gpu.translate.places import FARTHEST

_LAYOUT = schema.layout(schema.TOLD)
BYTES = _LAYOUT.bytes  # of a row
APART = Integer(schema.constant("LANES_APART"))
NOT_TOLD = schema.constant("NOT_TOLD")
COLUMNS = schema.constant("TOLD_COLUMNS")
LOOP_BYTES = 1 << 17  # of the addresses that a loop's rounds leave
Key = tuple[int, int]
"""An access: its instruction, and which of its addresses."""
Room = Callable[[], Value]
"""Gives the place for a wave's addresses, low and high halves by lane."""


class Rounds:
    """A loop that each chunk does by itself (sweeps.py): each access of each round leaves its first lane's address.

    tells: whether the wave has an observer (i1). steps: by column, bytes from lane to lane, the same in all rounds.
    """

    def __init__(
        self, emitter: Emitter, addresses: Value, name: str, loads: list[tuple[int, int]], lanes: int, wave_size: int,
        checked: bool,
    ) -> None:  # fmt: skip
        """`addresses`: the buffer shared with the support code. `loads`: instruction and part of each access.
        lanes: of a chunk. checked: it is for a checker, which wants all rounds of a chunk side by side."""
        self.emitter, self.name, self.lanes = emitter, name, lanes
        self.chunks = chunks = wave_size // lanes
        self.columns = {key: column for column, key in enumerate(loads)}
        self.most = LOOP_BYTES // (8 * len(loads) * chunks)
        self.steps: dict[int, Value] = {}
        e, count = emitter, len(loads)
        # in the log, from round to round, column to column, chunk to chunk
        self._apart = (1, self.most * chunks, self.most) if checked else (count * chunks, chunks, 1)
        self.log = e.let(f"getelementptr i8, ptr {addresses}, i64 {layout.BUFFER['rows']}")
        self._step_rows = e.entry(f"alloca [{count * chunks} x i32], align 64")
        self.tells: Value = NULL
        self._stride: Value = ZERO
        self._round: Value = NULL

    def observed(self, observer: Value) -> None:
        """The wave has this observer, or none: then each round's addresses go to the same place."""
        e = self.emitter
        self.tells = e.let(f"icmp ne ptr {observer}, null")
        self._stride = e.let(f"select i1 {self.tells}, i64 {8 * self._apart[0]}, i64 0")

    def may_tell(self, fits: Value) -> Value:
        """Whether this holds (i1), and the wave's observer, if it has one, can be told of a loop."""
        e = self.emitter
        there = e.let(f"icmp ne ptr {_function(e, layout.TELL_LOOP)}, null")
        nobody = e.let(f"xor i1 {self.tells}, true")
        return e.let(f"and i1 {fits}, {e.let(f'or i1 {there}, {nobody}')}")

    def begin_round(self, chunk: Value, done: Value) -> None:
        """A round of a chunk, after so many."""
        e = self.emitter
        mine = e.let(f"mul i64 {chunk}, {8 * self._apart[2]}")
        at = e.let(f"add i64 {mine}, {e.let(f'mul i64 {done}, {self._stride}')}")
        self._round = e.let(f"getelementptr i8, ptr {self.log}, i64 {at}")

    def _keep(self, column: int, address: Value) -> None:
        e = self.emitter
        place = e.let(f"getelementptr i8, ptr {self._round}, i64 {8 * column * self._apart[1]}")
        e.do(f"store i64 {address}, ptr {place}")

    def scalar(self, instruction: int, address: Value) -> None:
        column = self.columns[instruction, 0]
        self.steps[column] = ZERO
        self._keep(column, address)

    def vector(self, access: LaneAccess, part: int, certain: bool, missed: str) -> None:
        """An access of a chunk. What is not certain leads to the label `missed` if it does not hold.

        Raises:
            Unfit: the lanes are not known to go up evenly, by the same step in all rounds.
        """
        e, line, column = self.emitter, _line(access), self.columns[access.instruction, part]
        if line is None or not e.is_steady(line.step):
            raise Unfit
        self.steps[column] = (
            line.step
            if line.width == 32 or isinstance(line.step, Integer)
            else e.steady(f"trunc i64 {line.step} to i32", line.step)
        )
        if not certain:
            on = e.name("even")
            unseen = e.steady(f"xor i1 {self.tells}, true", self.tells)
            e.branch(e.let(f"or i1 {unseen}, {holds(e, access, line)}"), on, missed, likely=True)
            e.label(on)
        self._keep(column, first_of(e, access, line))

    def end(self, chunk: Value) -> None:
        """A chunk is through."""
        e = self.emitter
        mine = e.let(f"mul i64 {chunk}, {4 * len(self.columns)}")
        row = e.let(f"getelementptr i8, ptr {self._step_rows}, i64 {mine}")
        for column, step in self.steps.items():
            e.do(f"store i32 {step}, ptr {e.let(f'getelementptr i8, ptr {row}, i64 {4 * column}')}")

    def tell(self, exec_mask: Value, times: Value, missed: str) -> None:
        """All chunks are through, after so many rounds. A checker that has something to say leads to the label
        `missed`."""
        e = self.emitter
        tell, told = e.name("tell"), e.name("told")
        e.branch(self.tells, tell, told)
        e.label(tell)
        function = _function(e, layout.TELL_LOOP)
        no = e.let(
            f"call i32 {function}(ptr %wave, i64 {exec_mask}, i64 {times}, ptr {self.log}, ptr {self._step_rows}, "
            f"ptr {self.name})"
        )
        e.branch(e.let(f"icmp eq i32 {no}, 0"), told, missed, likely=True)
        e.label(told)

    def table(self, accesses: Iterable[tuple[int, Observed]]) -> str:
        """The constant that says what is told of (ToldLoop in schema.py), when all accesses have their numbers."""
        found = [(n, self.columns.get((access.instruction, access.part), -1)) for n, access in accesses]
        wanted = [(n, column) for n, column in found if column in self.steps]
        words = [len(self.columns), len(wanted), self.lanes, self.most]
        for number, column in wanted:
            words += [column, number]
        return f"{self.name} = private constant [{len(words)} x i32] [{', '.join(f'i32 {w}' for w in words)}]"


class Telling:
    """The rows of some waves, each with the same accesses."""

    def __init__(self, emitter: Emitter, wave_size: int, accesses: Iterable[Key]) -> None:
        """`accesses`: in the order in which they are told of."""
        self.emitter, self.wave_size = emitter, wave_size
        self._places = {key: place for place, key in enumerate(accesses)}
        self.rows: Value = ZERO
        self._table: dict[Key, tuple[int, int]] = {}  # of each access: EXEC and step, where all rows have the same

    @property
    def count(self) -> int:
        """Accesses of a wave."""
        return len(self._places)

    def begin(self, waves: int) -> None:
        """Make room for the rows of so many waves."""
        if self.count:
            self.rows = self.emitter.entry(f"alloca [{BYTES * self.count * waves} x i8], align 64")

    def _field(self, key: Key, wave: Value, name: str) -> Value:
        e = self.emitter
        row = self.rows
        if wave != ZERO:
            row = e.let(f"getelementptr [{BYTES * self.count} x i8], ptr {row}, i64 {wave}")
        return e.let(f"getelementptr i8, ptr {row}, i64 {BYTES * self._places[key] + _LAYOUT.offsets[name]}")

    def _put(self, key: Key, wave: Value, type: str, address: Value, lanes: Value, step: Value, varies: bool) -> None:
        """A row. varies: it may also have none of the steps that are the same in all lanes."""
        e = self.emitter
        e.do(f"store {type} {address}, ptr {self._field(key, wave, 'address')}")
        if not isinstance(lanes, Integer):
            e.do(f"store i64 {lanes}, ptr {self._field(key, wave, 'exec')}")
            lanes = ZERO
        if varies or not isinstance(step, Integer):
            step = step if isinstance(step, Integer) else e.let(f"sext i32 {step} to i64")
            e.do(f"store i64 {step}, ptr {self._field(key, wave, 'step')}")
            step = APART
        self._table[key] = lanes.number, step.number

    def scalar(self, instruction: int, wave: Value, address: Value) -> None:
        """A scalar load."""
        if (instruction, 0) in self._places:
            self._put((instruction, 0), wave, "i64", address, Integer(1), ZERO, False)

    def vector(self, access: LaneAccess, part: int, chunk: Chunk, wave: Value, certain: bool, room: Room) -> None:
        """An access of a whole wave.

        certain: the lanes go up as it is known of them, if the wave goes on. room: for the addresses of all lanes.
        """
        e, key = self.emitter, (access.instruction, part)
        lanes = self._lanes(chunk)
        line = _line(access)
        if line is None:
            self._put(key, wave, "ptr", self._all_lanes(access, room), lanes, APART, True)
            return
        step = self._step(line)
        first = first_of(e, access, line)
        if certain:
            self._put(key, wave, "i64", first, lanes, step, False)
            return
        even, apart, told = e.name("told_even"), e.name("told_apart"), e.name("told")
        e.branch(holds(e, access, line), even, apart, likely=True)
        e.label(even)
        self._put(key, wave, "i64", first, lanes, step, True)
        e.jump(told)
        e.label(apart)
        self._put(key, wave, "ptr", self._all_lanes(access, room), lanes, APART, True)
        e.jump(told)
        e.label(told)

    def even(self, chunk: Chunk, access: LaneAccess, part: int) -> None:
        """An access of a whole wave that goes on if its lanes go up evenly, as the first two do."""
        e, key, line = self.emitter, (access.instruction, part), _line(access)
        if line is None:
            vector, kind = (access.pair, "i64") if access.pair is not None else (access.address, "i32")
            lanes = e.v64 if kind == "i64" else e.v32
            first, second = (e.let(f"extractelement {lanes} {vector}, i32 {n}") for n in (0, 1))
            step: Value = e.let(f"sub {kind} {second}, {first}")
            if access.high is not None and access.pair is None:
                high = e.let(f"zext i32 {e.let(f'extractelement {e.v32} {access.high}, i32 0')} to i64")
                low = e.let(f"zext i32 {first} to i64")
                first, kind = e.let(f"or i64 {low}, {e.let(f'shl i64 {high}, 32')}"), "i64"
                step = e.let(f"sext i32 {step} to i64")
            line = Line(first, step, TRUE, int(kind[1:]))
        self._put(key, ZERO, "i64", first_of(e, access, line), self._lanes(chunk), self._step(line), False)

    def unit(self, access: LaneAccess, part: int, chunk: Chunk, wave: Value, room: Value) -> None:
        """The same of some lanes of a wave; the others come before it or after it."""
        place = self._all_lanes(access, lambda: room, chunk.number)
        every = Integer(-1 if self.wave_size == 64 else (1 << 32) - 1)
        self._put((access.instruction, part), wave, "ptr", place, every, APART, True)

    def changed(self, access: LaneAccess, lanes: Value, wave: Value, unit: Value = ZERO) -> None:
        """A store in a checked kernel, and which lanes of the wave it changes memory in; or of a unit of lanes."""
        e, place = self.emitter, self._field((access.instruction, 0), wave, "changed")
        if unit != ZERO:
            place = e.let(f"getelementptr {e.byte}, ptr {place}, i64 {unit}")
        e.do(f"store {e.byte} {lanes}, ptr {place}")

    def skipped(self, instructions: Iterable[int], wave: Value) -> None:
        """A wave may jump over these."""
        wanted = set(instructions)
        for key in self._places:
            if key[0] in wanted:
                self.emitter.do(f"store i64 {NOT_TOLD}, ptr {self._field(key, wave, 'address')}")

    def tell(self, teller: Value, first: Value, waves: Value, row: Value = ZERO) -> None:
        """Tell the observer of so many waves from a first one on, by calling this function, if there is one.

        row: of which wave the rows begin with those of the first one.
        """
        e = self.emitter
        if not self.count:
            return
        tell, told = e.name("tell"), e.name("told")
        e.branch(e.let(f"icmp ne ptr {teller}, null"), tell, told)
        e.label(tell)
        self._call(teller, first, waves, row)
        e.jump(told)
        e.label(told)

    def tell_now(self, observer: Value) -> None:
        """Tell the observer of the running wave, if there is one."""
        e = self.emitter
        tell, told = e.name("tell"), e.name("told")
        e.branch(e.let(f"icmp ne ptr {observer}, null"), tell, told)
        e.label(tell)
        index_at = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('index')}")
        index = e.let(f"zext i32 {e.let(f'load i32, ptr {index_at}')} to i64")
        self._call(_function(e, layout.TELL), index, Integer(1), ZERO)
        e.jump(told)
        e.label(told)

    def ask(self, checker: Value, number: Value, missed: str) -> None:
        """Ask the checker by calling this function, if there is one, whether a wave may go on; else go to the label
        `missed`."""
        e = self.emitter
        ask, may = e.name("ask"), e.name("may")
        e.branch(e.let(f"icmp ne ptr {checker}, null"), ask, may, likely=True)
        e.label(ask)
        e.branch(e.let(f"icmp eq i32 {self._call(checker, number, Integer(1), ZERO)}, 0"), may, missed, likely=True)
        e.label(may)

    def _call(self, teller: Value, first: Value, waves: Value, row: Value) -> Value:
        e, rows = self.emitter, self.rows
        if row != ZERO:
            rows = e.let(f"getelementptr [{BYTES * self.count} x i8], ptr {rows}, i64 {row}")
        what = f"ptr %wave, i64 {first}, i64 {waves}, i64 {self.count}, ptr {rows}, ptr {self._name}"
        return e.let(f"call i32 {teller}({what})")

    @property
    def _name(self) -> str:
        instruction, part = next(iter(self._places))
        return f"@told.{instruction}.{part}"

    def declare(self, numbers: Mapping[Key, int]) -> None:
        """What is the same for all rows of an access, and its number."""
        if not self.count:
            return
        assert self._table.keys() == self._places.keys()
        of = [f"{{ i64, i32, i32 }} {{ i64 {m}, i32 {s}, i32 {numbers[key]} }}" for key, (m, s) in self._rows()]
        constant = f"private constant [{len(of)} x {{ i64, i32, i32 }}] [{', '.join(of)}]"
        self.emitter.declarations[self._name] = f"{self._name} = {constant}"

    def _rows(self) -> list[tuple[Key, tuple[int, int]]]:
        return [(key, self._table[key]) for key in self._places]

    def _lanes(self, chunk: Chunk) -> Value:
        e = self.emitter
        if isinstance(chunk.bits, Integer):
            return Integer(-1 if e.lanes == 64 else (1 << e.lanes) - 1)
        return chunk.bits if e.lanes == 64 else e.let(f"zext {e.byte} {chunk.bits} to i64")

    def _step(self, line: Line) -> Value:
        if isinstance(line.step, Integer):
            return Integer(signed(line.step.number, 32))
        return line.step if line.width == 32 else self.emitter.let(f"trunc i64 {line.step} to i32")

    def _all_lanes(self, access: LaneAccess, room: Room, unit: Value = ZERO) -> Value:
        """Store all lanes' addresses; gives the place. unit: of so many lanes each, which one it is."""
        e = self.emitter
        place = room()
        low, high = access.address, access.high
        if access.space == "lds":
            base = e.let(f"trunc i64 {access.base} to i32")
            parts: list[Value] = [e.let(f"add {e.v32} {low}, {splat(e, 'i32', base)}")]
        else:
            if access.pair is not None:
                whole: Value = e.let(f"add {e.v64} {access.pair}, zeroinitializer")
            else:
                whole = e.let(f"zext {e.v32} {low} to {e.v64}")
                if high is not None:
                    above = e.let(f"shl {e.v64} {e.let(f'zext {e.v32} {high} to {e.v64}')}, splat (i64 32)")
                    whole = e.let(f"or {e.v64} {whole}, {above}")
            if access.base != ZERO:
                whole = e.let(f"add {e.v64} {whole}, {splat(e, 'i64', access.base)}")
            parts = [e.low(whole), e.high(whole)]
        at = place if unit == ZERO else e.let(f"getelementptr {e.v32}, ptr {place}, i64 {unit}")
        for half, value in enumerate(parts):
            to = e.let(f"getelementptr i8, ptr {at}, i64 {4 * self.wave_size * half}") if half else at
            e.do(f"store {e.v32} {value}, ptr {to}, align 32")
        return place


def _line(access: LaneAccess) -> Line | None:
    """How the addresses go up, if anything is known of it."""
    if access.uniform:
        return Line(ZERO, ZERO, TRUE, 64)
    return access.line


def _function(e: Emitter, place: int) -> Value:
    """What an observer is told with, which stands there in the wave's thread."""
    thread_at = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('thread')}")
    thread = e.let(f"load ptr, ptr {thread_at}")
    return e.let(f"load ptr, ptr {e.let(f'getelementptr i8, ptr {thread}, i64 {place}')}")


def first_of(e: Emitter, access: LaneAccess, line: Line) -> Value:
    """The address of the first lane."""
    first = line.first
    if access.space == "lds":
        base = e.let(f"trunc i64 {access.base} to i32")
        return e.let(f"zext i32 {e.let(f'add i32 {first}, {base}')} to i64")
    if line.width == 32:
        first = e.let(f"zext i32 {first} to i64")
    return first if access.base == ZERO else e.let(f"add i64 {first}, {access.base}")


def holds(e: Emitter, access: LaneAccess, line: Line) -> Value:
    """Whether the lanes go up as it is known of them, each a little, and do not wrap."""
    kind = f"i{line.width}"
    small = e.let(f"icmp ult {kind} {e.let(f'add {kind} {line.step}, {FARTHEST}')}, {2 * FARTHEST}")
    fits = small if line.holds == TRUE else e.let(f"and i1 {small}, {line.holds}")
    if line.width == 64 or access.space == "lds":
        return fits
    first, step = e.let(f"zext i32 {line.first} to i64"), e.let(f"sext i32 {line.step} to i64")
    end = e.let(f"add i64 {first}, {e.let(f'mul i64 {step}, {e.lanes - 1}')}")
    return e.let(f"and i1 {fits}, {e.let(f'icmp ult i64 {end}, {1 << 32}')}")
