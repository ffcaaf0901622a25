"""Runs: straight-line vector instructions that become one loop over chunks of eight lanes.

`Run.add` takes an instruction and captures its scalar operands as they are at that point, so that scalar
instructions between the vector ones need not wait; `Run.flush` emits the loop. What ends a run is decided by
`Run.conflicts`: a scalar reader of a lane mask made in the run, and the order of memory accesses (within one address
space nothing follows a store, and no store follows anything).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gpulab.virtual_gpu.isa.expression import Type, b1
from gpulab.virtual_gpu.isa.instruction import Instruction, Literal, Operand, Register, Symbol
from gpulab.virtual_gpu.isa.row import Memory, Parameter, Row
from gpulab.virtual_gpu.translate import layout, memory
from gpulab.virtual_gpu.translate.chunk import V1, V32, V64, Chunk, splat
from gpulab.virtual_gpu.translate.decode import (
    ACC,
    Decoded,
    bits,
    literal_bits,
    memory_operands,
    returns_value,
    scalar_number,
    words,
)
from gpulab.virtual_gpu.translate.emitter import Emitter, signed
from gpulab.virtual_gpu.translate.liveness import Live
from gpulab.virtual_gpu.translate.memory import Access, Site
from gpulab.virtual_gpu.translate.modes import Mode, clamped, flushed, scaled
from gpulab.virtual_gpu.translate.scalars import Scalars

V16 = "<8 x i16>"
_PACKED_FLOATS = {"f16": Type("f", 16), "f32": Type("f", 32)}


@dataclass(slots=True)
class Captured:
    """A source as it was when the instruction was added.

    kind: "vector" (register number), "scalar" (splat as IR text, of `width` bits), "mask" (i64 as IR text),
    "pending" (a mask made earlier in this run, by scalar register), "buffer" (pointer to one i32 per lane).
    """

    kind: str
    value: Any
    width: int = 32


@dataclass(slots=True)
class Item:
    """One instruction of a run with its captured sources."""

    decoded: Decoded
    sources: list[Captured | None] = field(default_factory=list)
    base: str = "0"
    mode: Mode | None = None
    only: str | None = None  # i64 mask of the lanes that are written at all (DPP)
    second: Item | None = None


class Run:
    """The run being collected in the current block."""

    def __init__(
        self,
        emitter: Emitter,
        scalars: Scalars,
        wave_size: int,
        site: Site,
        slot: Callable[[int], int],
        symbol: Callable[[Symbol, int], str],
        high_half: Callable[[str], str],
    ) -> None:
        self.emitter, self.scalars, self.wave_size, self.site = emitter, scalars, wave_size, site
        self.slot, self.symbol, self.high_half = slot, symbol, high_half
        self.items: list[Item] = []
        self.masks = 0  # scalar registers that this run will write
        self.starts: set[int] = set()  # where the lane masks among them begin
        self.spaces: dict[str, str] = {}  # "load" or "store" by address space
        self.vectors = 0  # vector registers that this run has written so far
        self._splats: dict[tuple[str, str], str] = {}

    def new_block(self) -> None:
        self._splats.clear()

    # what may follow what

    def conflicts(self, decoded: Decoded) -> bool:
        """Whether the run must be emitted before this instruction."""
        if not self.items:
            return False
        if decoded.is_vector:
            row = decoded.row
            if isinstance(row, Memory):
                return self._memory_conflict(row)
            return bool(self.masks & (self._scalar_values(decoded) | self._misplaced_masks(decoded)))
        return bool(self.masks & (decoded.scalar_reads | decoded.scalar_writes))

    def _scalar_values(self, decoded: Decoded) -> int:
        """Scalar registers that a vector instruction reads as values. (Masks made in the run it takes lane by lane.)"""
        whole = {"exec": bits(layout.EXEC, 2), "m0": bits(layout.M0, 1), "scc": bits(layout.SCC, 1)}
        found = 0
        for part in (decoded, decoded.pair):
            if part is None:
                continue
            for parameter, operand in part.sources:
                if parameter.implicit and parameter.name in whole:
                    found |= whole[parameter.name]
                    continue
                if operand is None or not isinstance(operand.value, Register):
                    continue
                number = scalar_number(operand.value)
                if parameter.type.kind == "b":
                    # A mask of which the run made only a part must be whole first.
                    if number is not None:
                        mine = bits(number, self.wave_size // 32)
                        if self.masks & mine and number not in self.starts:
                            found |= mine
                    continue
                if operand.value.name == "vccz":
                    found |= bits(layout.VCC, 2)
                elif number is not None:
                    found |= bits(number, words(parameter.type))
        return found

    def _misplaced_masks(self, decoded: Decoded) -> int:
        """Registers of masks that an instruction writes and that would cover only a part of one made in the run."""
        found = 0
        for part in (decoded, decoded.pair):
            for result, operand in part.results if part else ():
                number = self.mask_number(result.name, result.type, operand)
                if number is not None and number not in self.starts:
                    found |= bits(number, self.wave_size // 32)
        return found

    def mask_number(self, name: str, type: Type, operand: Operand | None) -> int | None:
        """The scalar register where a lane mask result begins; None for other results and for null."""
        if type != b1:
            return None
        if name == "vcc":
            return layout.VCC
        if name == "exec":
            return layout.EXEC
        if operand is not None and isinstance(operand.value, Register):
            return scalar_number(operand.value)
        return None

    def _memory_conflict(self, row: Memory) -> bool:
        mine = ("global", "lds", "scratch") if row.space == "flat" else (row.space,)
        writes = row.action in ("store", "atomic")
        for space in mine:
            seen = self.spaces.get(space)
            if seen is not None and (writes or seen == "store"):
                return True
        return False

    # collecting

    def add(self, decoded: Decoded, mode: Mode) -> None:
        item = self._item(decoded, mode)
        if decoded.pair is not None:
            item.second = self._item(decoded.pair, mode)
        self.items.append(item)
        self.masks |= decoded.scalar_writes
        if decoded.scalar_writes:
            for part in (decoded, decoded.pair):
                for result, operand in part.results if part else ():
                    number = self.mask_number(result.name, result.type, operand)
                    if number is not None:
                        self.starts.add(number)
        self.vectors |= decoded.vector_writes
        row = decoded.row
        if isinstance(row, Memory):
            for space in ("global", "lds", "scratch") if row.space == "flat" else (row.space,):
                self.spaces[space] = "load" if row.action == "load" and self.spaces.get(space) != "store" else "store"

    def _item(self, decoded: Decoded, mode: Mode) -> Item:
        item = Item(decoded, mode=mode)
        row = decoded.row
        if isinstance(row, Row):
            position = 0
            for parameter, operand in decoded.sources:
                item.sources.append(self._capture(decoded, row, parameter, operand, position, mode))
                position += not parameter.implicit
        else:
            assert isinstance(row, Memory)
            self._capture_memory(item, row)
        return item

    def _capture(
        self, decoded: Decoded, row: Row, parameter: Parameter, operand: Operand | None, position: int, mode: Mode
    ) -> Captured | None:
        instruction = decoded.instruction
        type = parameter.type
        if parameter.implicit and parameter.name not in ("dst", "sdst"):
            return self._implicit(parameter, instruction, mode)
        if operand is None:
            return None
        value = operand.value
        if isinstance(value, Register) and value.file in ("v", "a"):
            return Captured("vector", value.index + (ACC if value.file == "a" else 0))
        if type == b1:
            return self._mask(value)
        return self._scalar(value, type, row, decoded.index, packed_halves=row.packed == "pairs")

    def _implicit(self, parameter: Parameter, instruction: Instruction, mode: Mode) -> Captured | None:
        name, width = parameter.name, parameter.type.width
        if name == "vcc" and parameter.type == b1:
            return self._mask(Register("special", 0, self.wave_size // 32, "vcc"))
        if name == "clamp":
            return Captured("constant", "true" if instruction.modifiers.get("clamp") else "false")
        if name in ("neg", "op_sel"):
            given = instruction.modifiers.get("neg_lo" if name == "neg" else name, ())
            return Captured(
                "scalar", str(sum(bool(n) << i for i, n in enumerate(given if isinstance(given, tuple) else ()))), width
            )
        if name == "mode":
            return Captured("scalar", str(mode.bits), width)
        if name == "lane":
            return Captured("lane", None)
        if name == "scc":
            return Captured("condition", self.scalars.condition())
        if name == "m0":
            return Captured("scalar", self.splat("i32", self.scalars.word(layout.M0)), 32)
        number = layout.EXEC if name == "exec" else layout.VCC
        if width == 64:
            return Captured("scalar", self.splat("i64", self.scalars.mask(number)), 64)
        return Captured("scalar", self.splat("i32", self.scalars.word(number)), 32)

    def _mask(self, value: Any) -> Captured:
        if isinstance(value, Register):
            number = scalar_number(value)
            if number is not None:
                if self.masks >> number & 1:
                    return Captured("pending", number)
                return Captured("mask", self.scalars.mask(number))
            return Captured("mask", "0")
        if isinstance(value, Literal):
            return Captured("mask", str(signed(int(value.value), 64)))
        return Captured("mask", "0")

    def _scalar(self, value: Any, type: Type, row: Row | None, index: int, packed_halves: bool = False) -> Captured:
        """A scalar operand or constant, splatted to the parameter's width (16-bit types take a whole word)."""
        width = 64 if type.width == 64 else 32
        if isinstance(value, Literal):
            number = literal_bits(value, type)
            if packed_halves and row is not None and type.kind == "u":
                element = {"f16": Type("f", 16), "bf16": Type("bf", 16), "f32": Type("f", 32)}.get(row.element)
                if element is None:
                    element = Type("u", 16 if type.width == 32 else 32)
                half = literal_bits(value, element)
                number = half if type.width == 32 else half | half << 32
                if type.width == 32 and not value.is_float:
                    number = literal_bits(value, type)
            return Captured("scalar", f"splat (i{width} {signed(number, width)})", width)
        if isinstance(value, Symbol):
            word = self.symbol(value, index)
            if width == 64:
                return Captured("scalar", self.splat("i64", self.emitter.let(f"sext i32 {word} to i64")), 64)
            return Captured("scalar", self.splat("i32", word), 32)
        assert isinstance(value, Register), value
        number_ = scalar_number(value)
        if number_ is None:
            return Captured("scalar", self.splat(f"i{width}", self.special(value.name, width)), width)
        if width == 64:
            if value.count == 1 and number_ != layout.NULL:
                # A 32-bit register for a 64-bit operand: zero-extended.
                word = self.scalars.word(number_)
                return Captured("scalar", self.splat("i64", self.emitter.let(f"zext i32 {word} to i64")), 64)
            return Captured("scalar", self.splat("i64", self.scalars.pair(number_)), 64)
        return Captured("scalar", self.splat("i32", self.scalars.word(number_)), 32)

    def special(self, name: str, width: int) -> str:
        """Registers that hold no value of their own: apertures, vccz, execz, null."""
        e = self.emitter
        high = {"src_shared_base": layout.SHARED_BASE, "src_private_base": layout.PRIVATE_BASE}.get(name)
        if high is not None:
            return str(high << 32 if width == 64 else high)
        if name in ("vccz", "execz"):
            mask = self.scalars.mask(layout.VCC if name == "vccz" else layout.EXEC)
            return e.let(f"zext i1 {e.let(f'icmp eq i64 {mask}, 0')} to i{width}")
        if name in ("src_shared_limit", "src_private_limit"):
            return str((layout.SHARED_BASE if "shared" in name else layout.PRIVATE_BASE) << (32 if width == 64 else 0))
        return "0"

    def splat(self, type: str, value: str) -> str:
        if not value.startswith("%"):
            return f"splat ({type} {value})"
        known = self._splats.get((type, value))
        if known is None:
            known = self._splats[type, value] = splat(self.emitter, type, value)
        return known

    def _capture_memory(self, item: Item, row: Memory) -> None:
        """sources: address (low), then data; `base` is the scalar part of the address as an i64."""
        e, instruction = self.emitter, item.decoded.instruction
        parts = memory_operands(instruction, row)
        base = "0"
        if parts.scalar is not None:
            value = parts.scalar.value
            if isinstance(value, Register):
                number = scalar_number(value)
                if number is not None:
                    if row.space == "global":
                        base = self.scalars.pair(number)
                    else:
                        base = e.let(f"zext i32 {self.scalars.word(number)} to i64")
            elif isinstance(value, Literal):
                base = str(int(value.value))
        offset = instruction.modifiers.get("offset", 0)
        offset = int(offset) if isinstance(offset, int) else 0
        if offset:
            base = str(int(base) + offset) if not base.startswith("%") else e.let(f"add i64 {base}, {offset}")
        item.base = base
        for operand in [parts.address, *parts.data]:
            if operand is None:
                item.sources.append(None)
            elif isinstance(operand.value, Register) and operand.value.file in ("v", "a"):
                value = operand.value
                item.sources.append(
                    Captured("vector", value.index + (ACC if value.file == "a" else 0), 32 * value.count)
                )
            else:
                item.sources.append(self._scalar(operand.value, Type("u", 32), None, item.decoded.index))

    # emitting

    def flush(self, live: Callable[[int], Live]) -> None:
        """Emit the loop, if there is anything to run, and take over the masks it made."""
        if not self.items:
            return
        items, self.items = self.items, []
        masks, self.masks = self.masks, 0
        self.starts.clear()
        self.spaces.clear()
        self.vectors = 0
        after = live(items[-1].decoded.index)
        e = self.emitter
        exec_mask = self.scalars.mask(layout.EXEC)
        wanted = sorted(n for n in range(layout.SCALARS) if masks >> n & 1)
        head, body, latch, done = (e.name(n) for n in ("run", "chunk", "next", "run_done"))
        before = e.block
        number, step = f"%{e.name('c')}", f"%{e.name('c_next')}"
        e.jump(head)
        lines_before = len(e.lines)
        e.label(head)
        e.do(f"{number} = phi i64 [ 0, %{before} ], [ {step}, %{latch} ]")
        marker = len(e.lines)
        shift = e.let(f"shl i64 {number}, 3")
        bits_ = e.let(f"trunc i64 {e.let(f'lshr i64 {exec_mask}, {shift}')} to i8")
        e.branch(e.let(f"icmp eq i8 {bits_}, 0"), latch, body)
        e.label(body)
        chunk = Chunk(e, self.wave_size, number, bits_)
        for item in items:
            self._emit(chunk, item)
        # v_cmpx ends a run and puts lanes to sleep: what they hold is stored if they may need it later.
        chunk.store(after.active | after.asleep if items[-1].decoded.exec_effect else after.active)
        kept: dict[int, str] = {}
        for start, value in chunk.masks.items():
            if start not in wanted:
                continue
            mine = bits(start, self.wave_size // 32)
            if start == layout.EXEC or after.scalars & mine:
                byte = e.let(f"zext i8 {e.let(f'bitcast {V1} {value} to i8')} to i64")
                kept[start] = e.let(f"shl i64 {byte}, {shift}")
        end = e.block
        e.jump(latch)
        e.label(latch)
        sums: dict[int, tuple[str, str]] = {}
        for start, value in kept.items():
            part = e.let(f"phi i64 [ 0, %{head} ], [ {value}, %{end} ]")
            sums[start] = (part, f"%{e.name('mask')}")
        totals: dict[int, str] = {}
        for start, (part, total) in sums.items():
            totals[start] = e.let(f"or i64 {total}, {part}")
        e.do(f"{step} = add i64 {number}, 1")
        e.branch(e.let(f"icmp eq i64 {step}, {self.wave_size // 8}"), done, head)
        # The accumulators' phis belong to the head, which is emitted already.
        phis = [
            f"  {total} = phi i64 [ 0, %{before} ], [ {totals[start]}, %{latch} ]" for start, (_, total) in sums.items()
        ]
        e.lines[marker:marker] = phis
        assert lines_before <= marker
        e.label(done)
        for start in kept:
            self.scalars.set_mask(start, totals[start])

    def _emit(self, chunk: Chunk, item: Item) -> None:
        if isinstance(item.decoded.row, Memory):
            self._emit_memory(chunk, item)
            return
        results = self._compute(chunk, item)
        if item.second is not None:  # both halves of a dual instruction read before either writes
            results += self._compute(chunk, item.second)
        for write in results:
            write()

    # sources and results of lanewise rows

    def _compute(self, chunk: Chunk, item: Item) -> list[Callable[[], None]]:
        decoded, row = item.decoded, item.decoded.row
        assert isinstance(row, Row)
        assert item.mode is not None
        arguments: list[str] = []
        position = 0
        for (parameter, operand), captured in zip(decoded.sources, item.sources, strict=True):
            arguments.append(self._source(chunk, item, row, parameter, operand, captured, position))
            position += not parameter.implicit
        _, graph = row.graph()
        values = chunk.reader.read(graph, arguments)
        writes = []
        for (result, operand), value in zip(decoded.results, values, strict=True):
            writes.append(self._result(chunk, item, row, result.name, result.type, operand, value))
        return writes

    def _source(
        self,
        chunk: Chunk,
        item: Item,
        row: Row,
        parameter: Parameter,
        operand: Operand | None,
        captured: Captured | None,
        position: int,
    ) -> str:
        e, type, instruction = self.emitter, parameter.type, item.decoded.instruction
        assert captured is not None, (instruction.text, parameter)
        if captured.kind == "constant":
            return f"splat (i1 {captured.value})"
        if captured.kind == "condition":
            return splat(e, "i1", captured.value)
        if captured.kind == "lane":
            return chunk.lanes
        if captured.kind == "pending":
            return chunk.masks[captured.value]
        if captured.kind == "mask":
            shift = e.let(f"shl i64 {chunk.number}, 3")
            byte = e.let(f"trunc i64 {e.let(f'lshr i64 {captured.value}, {shift}')} to i8")
            return e.let(f"bitcast i8 {byte} to {V1}")
        if parameter.implicit and captured.kind == "scalar":
            value = captured.value
            return value if value.startswith(("%", "splat")) else f"splat (i{type.width} {value})"
        modifiers = instruction.modifiers
        wide = type.width == 64
        if captured.kind == "vector":
            raw = chunk.get_pair(captured.value) if wide else chunk.get(captured.value)
        elif captured.kind == "buffer":
            offset = e.let(f"shl i64 {chunk.number}, 5")
            place = e.let(f"getelementptr i8, ptr {captured.value}, i64 {offset}")
            raw = e.let(f"load {V32}, ptr {place}, align 32")
        else:
            raw = captured.value
        if instruction.encoding == "sdwa" and not parameter.implicit:
            raw = self._selected(raw, str(modifiers.get(f"src{position}_sel", "DWORD")), bool(operand and operand.sext))
        if row.packed == "pairs" and not parameter.implicit and type.kind == "u":
            raw = self._halves(raw, instruction, row, position, wide)
            element = _PACKED_FLOATS.get(row.element)
            flushes = element is not None and item.mode is not None and item.mode.flushes_input(element.width)
            if element is not None and element.width * 2 == type.width and flushes:
                raw = self._each_half(chunk, raw, element, lambda value: flushed(chunk.reader, value, element))
        if row.packed == "mix" and not parameter.implicit:
            value = self._mixed(chunk, raw, instruction, operand, position)
            if item.mode is not None and item.mode.flushes_input(32):
                value = flushed(chunk.reader, value, type)
            return value
        if type.width in (8, 16):
            named = operand.half if operand is not None else ""
            high = named == "h" if named else not parameter.implicit and _bit(instruction, "op_sel", position)
            if parameter.implicit:
                high = self._high_result(item, parameter.name)
            if high:
                raw = e.let(f"lshr {V32} {raw}, splat (i32 16)")
            raw = e.let(f"trunc {V32} {raw} to <8 x i{type.width}>")
        negate = bool(operand and operand.neg)
        if row.packed == "pairs" and type.kind != "u" and _bit(instruction, "neg_lo", position):
            negate = not negate
        return self._modified(chunk, raw, type, operand, negate, row, item.mode, parameter)

    def _modified(
        self,
        chunk: Chunk,
        raw: str,
        type: Type,
        operand: Operand | None,
        negate: bool,
        row: Row,
        mode: Mode | None,
        parameter: Parameter,
    ) -> str:
        """Absolute value, sign and denormal flush on the bits of a source, then its own type."""
        e = self.emitter
        vector = f"<8 x i{type.width}>"
        if operand is not None and not parameter.implicit:
            sign = 1 << (type.width - 1)
            if operand.abs:
                raw = e.let(f"and {vector} {raw}, splat (i{type.width} {signed(~sign, type.width)})")
            if negate:
                raw = e.let(f"xor {vector} {raw}, splat (i{type.width} {signed(sign, type.width)})")
        if not type.is_float or type.kind == "bf":
            return raw
        value = e.let(f"bitcast {vector} {raw} to {chunk.reader.type(type)}")
        if row.float_mode and mode is not None and mode.flushes_input(type.width):
            value = flushed(chunk.reader, value, type)
        return value

    def _selected(self, raw: str, which: str, sign: bool) -> str:
        """SDWA: one byte or half of a source, extended to 32 bits."""
        e = self.emitter
        if which == "DWORD":
            return raw
        kind, _, n = which.partition("_")
        width = 8 if kind == "BYTE" else 16
        left = 32 - width - width * int(n)
        up = e.let(f"shl {V32} {raw}, splat (i32 {left})") if left else raw
        return e.let(f"{'ashr' if sign else 'lshr'} {V32} {up}, splat (i32 {32 - width})")

    def _halves(self, raw: str, instruction: Instruction, row: Row, position: int, wide: bool) -> str:
        """op_sel, op_sel_hi, neg_lo and neg_hi of a packed source."""
        e = self.emitter
        width = 64 if wide else 32
        half, vector = width // 2, V64 if wide else V32
        low_from_high = _bit(instruction, "op_sel", position)
        high_from_high = _bit(instruction, "op_sel_hi", position, True)
        if low_from_high or not high_from_high:
            low_mask, high_mask = (1 << half) - 1, ((1 << half) - 1) << half
            if low_from_high:
                low = e.let(f"lshr {vector} {raw}, splat (i{width} {half})")
            else:
                low = e.let(f"and {vector} {raw}, splat (i{width} {low_mask})")
            if high_from_high:
                high = e.let(f"and {vector} {raw}, splat (i{width} {signed(high_mask, width)})")
            else:
                high = e.let(f"shl {vector} {raw}, splat (i{width} {half})")
            raw = e.let(f"or {vector} {low}, {high}")
        if not any(p.name == "neg" for p in row.parameters):
            flips = (_bit(instruction, "neg_lo", position) << (half - 1)) | (
                _bit(instruction, "neg_hi", position) << (width - 1)
            )
            if flips:
                raw = e.let(f"xor {vector} {raw}, splat (i{width} {signed(flips, width)})")
        return raw

    def _each_half(self, chunk: Chunk, raw: str, element: Type, change: Callable[[str], str]) -> str:
        """Change both halves of a packed value as floats."""
        e, wide = self.emitter, f"<8 x i{2 * element.width}>"
        narrow, kind = f"<8 x i{element.width}>", chunk.reader.type(element)
        halves = []
        for shift in (0, element.width):
            part = e.let(f"lshr {wide} {raw}, splat (i{2 * element.width} {shift})") if shift else raw
            typed = e.let(f"bitcast {narrow} {e.let(f'trunc {wide} {part} to {narrow}')} to {kind}")
            changed = e.let(f"bitcast {kind} {change(typed)} to {narrow}")
            halves.append(e.let(f"zext {narrow} {changed} to {wide}"))
        high = e.let(f"shl {wide} {halves[1]}, splat (i{2 * element.width} {element.width})")
        return e.let(f"or {wide} {high}, {halves[0]}")

    def _mixed(self, chunk: Chunk, raw: str, instruction: Instruction, operand: Operand | None, position: int) -> str:
        """A source of v_fma_mix*: f32, or one half of the register as f16, widened."""
        e = self.emitter
        f32 = "<8 x float>"
        if _bit(instruction, "op_sel_hi", position, False):
            if _bit(instruction, "op_sel", position):
                raw = e.let(f"lshr {V32} {raw}, splat (i32 16)")
            half = e.let(f"bitcast {V16} {e.let(f'trunc {V32} {raw} to {V16}')} to <8 x half>")
            value = e.let(f"fpext <8 x half> {half} to {f32}")
        else:
            value = e.let(f"bitcast {V32} {raw} to {f32}")
        if _bit(instruction, "neg_hi", position) or (operand and operand.abs):
            value = e.call(f32, "llvm.fabs.v8f32", f"{f32} {value}")
        if _bit(instruction, "neg_lo", position) != bool(operand and operand.neg):
            value = e.let(f"fneg {f32} {value}")
        return value

    def _named_half(self, item: Item, name: str) -> bool:
        """Whether the text names a half of the register of the result `name`."""
        return any(r.name == name and o is not None and o.half for r, o in item.decoded.results)

    def _high_result(self, item: Item, name: str) -> bool:
        """Whether the 16-bit result `name` goes to the high half of its register."""
        operand = next((o for r, o in item.decoded.results if r.name == name), None)
        if operand is not None and operand.half:
            return operand.half == "h"
        given = item.decoded.instruction.modifiers.get("op_sel")
        count = sum(1 for p, _ in item.decoded.sources if not p.implicit)
        return isinstance(given, tuple) and len(given) > count and bool(given[count])

    def _result(
        self, chunk: Chunk, item: Item, row: Row, name: str, type: Type, operand: Operand | None, value: str
    ) -> Callable[[], None]:
        e, instruction, mode = self.emitter, item.decoded.instruction, item.mode
        assert mode is not None
        if type == b1:
            number = self.mask_number(name, type, operand)
            active = e.let(f"and {V1} {value}, {chunk.active}")

            def write_mask() -> None:
                if number is not None:
                    chunk.masks[number] = active

            return write_mask
        assert operand is not None, instruction.text
        assert isinstance(operand.value, Register), instruction.text
        register = operand.value.index + (ACC if operand.value.file == "a" else 0)
        if type.is_float and row.float_mode:
            if type.kind == "f":
                value = scaled(chunk.reader, value, type, instruction, mode)
                if mode.flushes_output(type.width):
                    value = flushed(chunk.reader, value, type)
            if instruction.modifiers.get("clamp"):
                value = clamped(chunk.reader, value, type)
        if type.is_float and type.kind == "f":
            value = e.let(f"bitcast {chunk.reader.type(type)} {value} to <8 x i{type.width}>")
        element = _PACKED_FLOATS.get(row.element) if row.packed == "pairs" and not type.is_float else None
        if element is not None and element.width * 2 == type.width:
            clamps = instruction.modifiers.get("clamp") and not any(p.name == "clamp" for p in row.parameters)
            if mode.flushes_output(element.width):
                value = self._each_half(chunk, value, element, lambda half: flushed(chunk.reader, half, element))
            if clamps:
                value = self._each_half(chunk, value, element, lambda half: clamped(chunk.reader, half, element))
        if type.width < 32:
            value = self._narrow(chunk, item, type, value, register, name)
        if instruction.encoding == "sdwa" and type.width <= 32:
            value = self._placed(chunk, value, instruction, register)
        if item.only is not None:
            shift = e.let(f"shl i64 {chunk.number}, 3")
            byte = e.let(f"trunc i64 {e.let(f'lshr i64 {item.only}, {shift}')} to i8")
            lanes = e.let(f"bitcast i8 {byte} to {V1}")
            kind = V64 if type.width == 64 else V32
            old = chunk.get_pair(register) if type.width == 64 else chunk.get(register)
            value = e.let(f"select {V1} {lanes}, {kind} {value}, {kind} {old}")

        def write() -> None:
            if type.width == 64:
                chunk.set_pair(register, value)
            else:
                chunk.set(register, value)

        return write

    def _narrow(self, chunk: Chunk, item: Item, type: Type, value: str, register: int, name: str) -> str:
        """An 8- or 16-bit result in its register: which half, and what becomes of the other."""
        e = self.emitter
        wide = e.let(f"zext <8 x i{type.width}> {value} to {V32}")
        if type.width != 16 or item.decoded.instruction.encoding == "sdwa":
            return wide
        high = self._high_result(item, name)
        keep = high or self._named_half(item, name) or self.high_half(item.decoded.instruction.mnemonic) != "zero"
        if high:
            wide = e.let(f"shl {V32} {wide}, splat (i32 16)")
        if not keep:
            return wide
        rest = e.let(f"and {V32} {chunk.get(register)}, splat (i32 {0xFFFF if high else -65536})")
        return e.let(f"or {V32} {wide}, {rest}")

    def _placed(self, chunk: Chunk, value: str, instruction: Instruction, register: int) -> str:
        """SDWA: a result in one byte or half of its register."""
        e = self.emitter
        which = str(instruction.modifiers.get("dst_sel", "DWORD"))
        if which == "DWORD":
            return value
        kind, _, n = which.partition("_")
        width = 8 if kind == "BYTE" else 16
        shift = width * int(n)
        unused = str(instruction.modifiers.get("dst_unused", "UNUSED_PAD"))
        up = e.let(f"shl {V32} {value}, splat (i32 {32 - width})")
        if unused == "UNUSED_SEXT":
            down = e.let(f"ashr {V32} {up}, splat (i32 {32 - width})")
            return e.let(f"shl {V32} {down}, splat (i32 {shift})") if shift else down
        down = e.let(f"lshr {V32} {up}, splat (i32 {32 - width - shift})") if 32 - width - shift else up
        if unused == "UNUSED_PAD":
            return down
        rest = signed(~(((1 << width) - 1) << shift), 32)
        return e.let(f"or {V32} {down}, {e.let(f'and {V32} {chunk.get(register)}, splat (i32 {rest})')}")

    # memory

    def _emit_memory(self, chunk: Chunk, item: Item) -> None:
        row = item.decoded.row
        assert isinstance(row, Memory)
        instruction = item.decoded.instruction
        parts = memory_operands(instruction, row)
        address, *data = item.sources
        modifiers = instruction.modifiers
        accesses: list[tuple[int, int]] = [(0, 0)]
        total = max(1, row.element * row.count // 8)
        if row.two_address:
            offsets = [int(modifiers.get(name, 0)) for name in ("offset0", "offset1")]  # type: ignore[arg-type]
            accesses = [(offsets[0] * row.stride, 0), (offsets[1] * row.stride, 1)]
            total //= 2
        if row.action == "atomic":
            total = row.element // 8
        returned: list[str] = []
        for offset, which in accesses:
            access = self._access(chunk, item, row, address, offset, total)
            if row.action == "load":
                assert parts.destination is not None
                assert isinstance(parts.destination.value, Register)
                register = parts.destination.value
                first = register.index + (ACC if register.file == "a" else 0) + which * (total // 4)
                if which == 0 and row.two_address:
                    values = memory.load(chunk, access, self.site)
                    second = memory.load(
                        chunk, self._access(chunk, item, row, address, accesses[1][0], total), self.site
                    )
                    for w, value in enumerate(values + second):
                        chunk.set(first + w, value)
                    break
                values = memory.load(chunk, access, self.site)
                for w, value in enumerate(values):
                    chunk.set(first + w, self._half_loaded(chunk, row, first, value) if row.half else value)
            elif row.action == "store":
                source = data[which if row.two_address else 0]
                memory.store(chunk, access, self.site, self._data(chunk, row, source, max(1, total // 4)))
            elif row.action == "atomic":
                assert row.combine is not None
                given: list[str] = []
                if row.two_address:
                    given = self._data(chunk, row, data[which], row.element // 32)
                elif len(data) == 1:
                    given = self._data(chunk, row, data[0], sum(words(p.type) for p in row.combine.parameters[1:]))
                else:
                    for part in data:
                        given += self._data(chunk, row, part, row.element // 32)
                old = memory.atomic(chunk, access, self.site, given)
                if returns_value(instruction, row) and parts.destination is not None:
                    returned += old
        if returned:
            assert parts.destination is not None
            assert isinstance(parts.destination.value, Register)
            register = parts.destination.value
            first = register.index + (ACC if register.file == "a" else 0)
            for w, value in enumerate(returned):
                chunk.set(first + w, value)

    def _half_loaded(self, chunk: Chunk, row: Memory, register: int, value: str) -> str:
        e = self.emitter
        old = chunk.get(register)
        if row.half == "hi":
            high = e.let(f"shl {V32} {value}, splat (i32 16)")
            return e.let(f"or {V32} {high}, {e.let(f'and {V32} {old}, splat (i32 65535)')}")
        low = e.let(f"and {V32} {value}, splat (i32 65535)")
        return e.let(f"or {V32} {low}, {e.let(f'and {V32} {old}, splat (i32 -65536)')}")

    def _data(self, chunk: Chunk, row: Memory, source: Captured | None, count: int) -> list[str]:
        assert source is not None
        if source.kind != "vector":
            return [source.value] * count
        values = [chunk.get(source.value + w) for w in range(count)]
        if row.half == "hi" and row.action == "store":
            values = [self.emitter.let(f"lshr {V32} {values[0]}, splat (i32 16)")]
        return values

    def _access(
        self, chunk: Chunk, item: Item, row: Memory, address: Captured | None, offset: int, total: int
    ) -> Access:
        e = self.emitter
        base = item.base
        if offset:
            base = str(int(base) + offset) if not base.startswith("%") else e.let(f"add i64 {base}, {offset}")
        index = item.decoded.index
        low, high, unsigned = "zeroinitializer", None, False
        if address is not None:
            if address.kind == "vector":
                low = chunk.get(address.value)
                if row.space in ("global", "flat"):
                    if address.width == 64:
                        high = chunk.get(address.value + 1)
                    else:
                        unsigned = True
            else:
                low = address.value
        elif row.space == "global":
            unsigned = True
        return Access(row, index, self.slot(index), row.space, low, high, base, total, unsigned)


def _bit(instruction: Instruction, name: str, position: int, default: bool = False) -> bool:
    given = instruction.modifiers.get(name)
    if isinstance(given, tuple):
        return bool(given[position]) if position < len(given) else default
    return default
