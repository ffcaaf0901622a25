"""Runs: straight-line vector instructions that become one loop over chunks of 8 or 16 lanes.

`Run.add` takes an instruction and captures its scalar operands as they are at that point, so that scalar
instructions between the vector ones need not wait; `Run.flush` emits the loop. What ends a run is decided by
`Run.conflicts`: a scalar reader of a lane mask made in the run, and the order of memory accesses (within one address
space nothing follows a store, and no store follows anything).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from gpulab.virtual_gpu.isa import high_half
from gpulab.virtual_gpu.isa.buffers import ADD_THREAD, INDEX_STRIDE, SELECT, Rules
from gpulab.virtual_gpu.isa.expression import Type, b1
from gpulab.virtual_gpu.isa.instruction import Instruction, Literal, Operand, Register, Symbol
from gpulab.virtual_gpu.isa.row import Memory, Parameter, Row
from gpulab.virtual_gpu.translate import layout, memory
from gpulab.virtual_gpu.translate.chunk import Chunk, splat
from gpulab.virtual_gpu.translate.decode import (
    ACC,
    Decoded,
    MemoryOperands,
    bits,
    into_lds,
    is_dpp,
    literal_bits,
    memory_operands,
    returns_value,
    scalar_number,
    words,
)
from gpulab.virtual_gpu.translate.emitter import Emitter, signed
from gpulab.virtual_gpu.translate.liveness import Live
from gpulab.virtual_gpu.translate.memory import Access, Observed, Site
from gpulab.virtual_gpu.translate.modes import Mode, clamped, flushed_input, flushed_output, reader_of, scaled
from gpulab.virtual_gpu.translate.scalars import Scalars

# Memory that lanes share and that an access may reach. Scratch is each lane's own: its order is that of the chunk.
_SPACES: dict[str, tuple[str, ...]] = {"flat": ("global", "lds"), "buffer": ("global",), "scratch": ()}
_INTO_LDS = {words: Memory("", "lds", "store", 32, words) for words in (1, 2, 3, 4)}
_DWORD = {action: Memory("", "global", action, 32) for action in ("load", "store")}
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
class Buffer:
    """A buffer instruction's scalar parts as IR text (ISA manuals, "Buffer Resource Descriptor").

    base, limit, stride, scalar: i64, the resource's base, size and stride, and the scalar offset.
    element, index_stride: i64, base-2 logarithms of the swizzle's sizes; swizzled, thread: i1, whether the resource is
    swizzled and whether it adds the lane's number to the index; select: i32, OOB_SELECT, or "" without such a field.
    scratch: i1, whether the resource is that of scratch, where the scalar offset counts for all lanes together; None
    where the kernel has no such resource.
    """

    base: str
    limit: str
    stride: str
    scalar: str
    element: str
    index_stride: str
    swizzled: str
    thread: str
    select: str
    scratch: str | None


@dataclass(slots=True)
class Item:
    """One instruction of a run with its captured sources."""

    decoded: Decoded
    sources: list[Captured | None] = field(default_factory=list)
    base: str = "0"
    frame: str = ""  # scratch without an address register: the scalar part of the address as an i32, and
    offset: int = 0  # the constant one
    mode: Mode | None = None
    buffer: Buffer | None = None
    lds: str = ""  # where a load into LDS begins, as an i64
    inside: str = ""  # the lanes inside the buffer, for the observer: pointer to an i64
    only: str | None = None  # i64 mask of the lanes that are written at all (DPP)
    allowed: str = "-1"  # i64 mask of the lanes that DPP's row and bank masks allow
    masks: dict[int, str] = field(default_factory=dict)  # lane masks as they were, where DPP may leave bits (i64)
    exec: str = "0"  # EXEC as an i64, where an instruction needs the whole of it
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
        arch: str,
        observe: Callable[[Observed], int],
        rules: Rules,
        scratch_buffer: bool = False,
    ) -> None:
        self.emitter, self.scalars, self.wave_size, self.site = emitter, scalars, wave_size, site
        self.rules = rules
        self.scratch_buffer = scratch_buffer  # the kernel has scratch as a buffer (gfx90a, gfx10)
        self.slot, self.symbol, self.arch, self.observe = slot, symbol, arch, observe
        # The run's accesses: what, base, offset, high halves? where the mask of their lanes is, their place among the
        # run's addresses (None: all zero), the access before them that was given the same addresses.
        self.recorded: list[tuple[Observed, str, int, bool, str, int | None, int | None]] = []
        self.rows: dict[tuple[str, str, str | None, str | None], int] = {}  # first access with these
        self.places = 0  # of addresses in this run
        self.widest = 0  # most of them in one run
        self.opaque = False  # whether a loop's counter is hidden from LLVM
        self._frames: dict[str, tuple[int, int]] = {}  # what is checked of scratch in this block: first, last byte
        self.items: list[Item] = []
        self.masks = 0  # scalar registers that this run will write
        self.starts: set[int] = set()  # where the lane masks among them begin
        self.spaces: dict[str, str] = {}  # "load" or "store" by address space
        self.vectors = 0  # vector registers that this run has written so far
        self._splats: dict[tuple[str, str], str] = {}

    def new_block(self) -> None:
        self._splats.clear()
        self._frames.clear()

    # what may follow what

    def conflicts(self, decoded: Decoded) -> bool:
        """Whether the run must be emitted before this instruction."""
        if not self.items:
            return False
        if decoded.is_vector:
            row = decoded.row
            if isinstance(row, Memory):
                return self._memory_conflict(decoded) or bool(self.masks & decoded.scalar_reads)
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

    def _touched(self, decoded: Decoded) -> list[tuple[str, bool]]:
        """The address spaces that a memory instruction may reach, and whether it writes there."""
        row = decoded.row
        assert isinstance(row, Memory)
        found = [(space, row.action != "load") for space in _SPACES.get(row.space, (row.space,))]
        return [*found, ("lds", True)] if into_lds(decoded.instruction, row) else found

    def _memory_conflict(self, decoded: Decoded) -> bool:
        for space, writes in self._touched(decoded):
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
            for space, writes in self._touched(decoded):
                self.spaces[space] = "store" if writes or self.spaces.get(space) == "store" else "load"

    def _item(self, decoded: Decoded, mode: Mode) -> Item:
        item = Item(decoded, mode=mode)
        row = decoded.row
        if isinstance(row, Row):
            if is_dpp(decoded.instruction):
                for result, target in decoded.results:
                    number = self.mask_number(result.name, result.type, target)
                    if number is not None:
                        item.masks[number] = self.scalars.mask(number)
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
        if name in ("bitop3", "byte_sel"):
            given = instruction.modifiers.get(name, 0)
            return Captured("scalar", str(given if isinstance(given, int) else 0), width)
        if name == "mode":
            return Captured(
                "scalar", self.splat("i32", mode.word(self.emitter)) if mode.unknown else str(mode.bits), width
            )
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
                if type.width == 64:
                    half = literal_bits(value, element or Type("u", 32))
                    number = half | half << 32
                elif element is not None and value.is_float:
                    number = literal_bits(value, element)
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
            base = layout.SHARED_BASE if "shared" in name else layout.PRIVATE_BASE
            return str(base << 32 | 0xFFFFFFFF if width == 64 else base)
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
        if parts.resource is not None:
            item.buffer = self._buffer(parts, item.decoded.index)
        elif parts.scalar is not None:
            value = parts.scalar.value
            if isinstance(value, Register):
                number = scalar_number(value)
                if number is not None:
                    if row.space == "global":
                        base = self.scalars.pair(number)
                    else:
                        item.frame = self.scalars.word(number)
                        base = e.let(f"zext i32 {item.frame} to i64")
            elif isinstance(value, Literal):
                base = item.frame = str(int(value.value))
        if into_lds(instruction, row):
            start = e.let(f"and i32 {self.scalars.word(layout.M0)}, 65535")
            item.lds = e.let(f"add i64 {e.let(f'zext i32 {start} to i64')}, {instruction.modifiers.get('offset', 0)}")
        if row.implied and row.space == "lds":
            base = e.let(f"zext i32 {e.let(f'and i32 {self.scalars.word(layout.M0)}, 65535')} to i64")
            item.exec = self.scalars.mask(layout.EXEC)
        offset = instruction.modifiers.get("offset", 0)
        offset = int(offset) if isinstance(offset, int) else 0
        if offset:
            base = str(int(base) + offset) if not base.startswith("%") else e.let(f"add i64 {base}, {offset}")
        item.base, item.offset = base, offset
        if row.space == "scratch" and parts.address is None and self.site.check_alignment:
            item.frame = item.frame or "0"
        else:
            item.frame = ""
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

    def _buffer(self, parts: MemoryOperands, index: int) -> Buffer:
        e = self.emitter
        assert parts.resource is not None
        assert isinstance(parts.resource.value, Register)
        number = scalar_number(parts.resource.value)
        assert number is not None
        low, high, size, flags = (self.scalars.word(number + i) for i in range(4))
        wide = [e.let(f"zext i32 {word} to i64") for word in (low, e.let(f"and i32 {high}, 65535"), size)]
        stride = e.let(f"and i32 {e.let(f'lshr i32 {high}, 16')}, 16383")
        scalar = "0"
        if parts.scalar is not None and isinstance(parts.scalar.value, Literal):
            scalar = str(int(parts.scalar.value.value))
        elif parts.scalar is not None and isinstance(parts.scalar.value, Register):
            register = scalar_number(parts.scalar.value)
            word = self.special(parts.scalar.value.name, 32) if register is None else self.scalars.word(register)
            scalar = e.let(f"zext i32 {word} to i64")
        scratch = e.let(f"trunc i32 {e.let(f'lshr i32 {flags}, 23')} to i1") if self.scratch_buffer else None
        base = e.let(f"or i64 {wide[0]}, {e.let(f'shl i64 {wide[1]}, 32')}")
        field_ = e.let(f"lshr i32 {high}, {self.rules.swizzle}")
        # the element is 4 << (field - 1) bytes; without a swizzle it does not matter
        element = e.let(f"zext i32 {e.let(f'add i32 {field_}, 1')} to i64")
        swizzled = e.let(f"icmp ne i32 {field_}, 0")
        step = e.let(f"and i32 {e.let(f'lshr i32 {flags}, {INDEX_STRIDE}')}, 3")
        index_stride = e.let(f"zext i32 {e.let(f'add i32 {step}, 3')} to i64")
        thread = e.let(f"trunc i32 {e.let(f'lshr i32 {flags}, {ADD_THREAD}')} to i1")
        select = e.let(f"and i32 {e.let(f'lshr i32 {flags}, {SELECT}')}, 3") if self.rules.select else ""
        stride = e.let(f"zext i32 {stride} to i64")
        return Buffer(base, wide[2], stride, scalar, element, index_stride, swizzled, thread, select, scratch)

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
        for item in items:
            if item.buffer is not None:
                item.inside = self.emitter.entry("alloca i64")
                self.emitter.do(f"store i64 0, ptr {item.inside}")
        e = self.emitter
        exec_mask = self.scalars.mask(layout.EXEC)
        wanted = sorted(n for n in range(layout.SCALARS) if masks >> n & 1)
        head, body, latch, done = (e.name(n) for n in ("run", "chunk", "next", "run_done"))
        self._check_frames(items, exec_mask)
        before = e.block
        counted, step = f"%{e.name('c')}", f"%{e.name('c_next')}"
        e.jump(head)
        lines_before = len(e.lines)
        e.label(head)
        e.do(f"{counted} = phi i64 [ 0, %{before} ], [ {step}, %{latch} ]")
        marker = len(e.lines)
        number = counted
        if self.opaque:  # empty assembly code: no instruction, but LLVM's strength reduction has nothing to go by
            number = e.let(f'call i64 asm "", "=r,0"(i64 {counted}) nounwind memory(none)')
        shift = e.let(f"shl i64 {number}, {e.shift}")
        bits_ = e.let(f"trunc i64 {e.let(f'lshr i64 {exec_mask}, {shift}')} to {e.byte}")
        e.branch(e.let(f"icmp eq {e.byte} {bits_}, 0"), latch, body)
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
                byte = e.let(f"zext {e.byte} {e.let(f'bitcast {e.v1} {value} to {e.byte}')} to i64")
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
        e.branch(e.let(f"icmp eq i64 {step}, {self.wave_size // e.lanes}"), done, head)
        # The accumulators' phis belong to the head, which is emitted already.
        phis = [
            f"  {total} = phi i64 [ 0, %{before} ], [ {totals[start]}, %{latch} ]" for start, (_, total) in sums.items()
        ]
        e.lines[marker:marker] = phis
        assert lines_before <= marker
        e.label(done)
        for start in kept:
            self.scalars.set_mask(start, totals[start])
        self._report(exec_mask)

    def _check_frames(self, items: list[Item], exec_mask: str) -> None:
        """Scratch at the same address in all lanes is checked before the loop, all that has one scalar part at once."""
        wanted: dict[str, tuple[int, int]] = {}
        for item in items:
            row = item.decoded.row
            if item.frame and isinstance(row, Memory):
                first, last = item.offset, item.offset + max(1, row.element * row.count // 8)
                have = wanted.get(item.frame, (first, last))
                wanted[item.frame] = min(first, have[0]), max(last, have[1])
        e, site = self.emitter, self.site
        for frame, (first, last) in wanted.items():
            known = self._frames.get(frame)
            if known is not None and known[0] <= first and last <= known[1]:
                continue
            if known is not None:
                first, last = min(first, known[0]), max(last, known[1])
            self._frames[frame] = first, last
            start = e.let(f"add i32 {frame}, {first}")
            end = e.let(f"add i64 {e.let(f'zext i32 {start} to i64')}, {last - first}")
            inside = e.let(f"icmp ule i64 {end}, {site.scratch_bytes}")
            aligned = e.let(f"icmp eq i32 {e.let(f'and i32 {frame}, 3')}, 0")
            precise, fine = e.name("rows"), e.name("rows_fine")
            e.branch(e.let(f"and i1 {inside}, {aligned}"), fine, precise, likely=True)
            e.label(precise)
            function_at = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('row')}")
            function = e.let(f"load ptr, ptr {function_at}")
            for item in items:
                row = item.decoded.row
                if item.frame != frame or not isinstance(row, Memory):
                    continue
                what = memory.described(row, site, max(1, row.element * row.count // 8))
                address = e.let(f"zext i32 {e.let(f'add i32 {frame}, {item.offset}')} to i64")
                failed = e.let(
                    f"call i32 {function}(ptr %wave, i32 {item.decoded.index}, i32 {what}, i64 {address}, "
                    f"i64 {exec_mask})"
                )
                go = e.name("row_fine")
                e.branch(e.let(f"icmp eq i32 {failed}, 0"), go, site.fault, likely=True)
                e.label(go)
            e.jump(fine)
            e.label(fine)

    def _report(self, exec_mask: str) -> None:
        """Tell the observer, if there is one, of the run's accesses in their order."""
        if not self.recorded:
            return
        e, site = self.emitter, self.site
        recorded, self.recorded = self.recorded, []
        self.rows.clear()
        numbers: list[int] = []
        self.widest, self.places = max(self.widest, self.places), 0
        tell, told = e.name("tell"), e.name("told")
        e.branch(e.let(f"icmp ne ptr {site.observer}, null"), tell, told, likely=False)
        e.label(tell)
        for n, (what, base, offset, has_high, inside, place, twin) in enumerate(recorded):
            number = self.observe(what if twin is None else replace(what, twin=numbers[twin]))
            numbers.append(number)
            lanes = e.let(f"load i64, ptr {inside}") if inside else exec_mask
            if offset:
                base = str(int(base) + offset) if not base.startswith("%") else e.let(f"add i64 {base}, {offset}")
            if place is None:
                low = e.let(f"getelementptr i8, ptr {site.addresses}, i64 {layout.BUFFER['zeros']}")
            else:
                low = memory.row_place(e, site, place, self.wave_size)
            high = e.let(f"getelementptr i8, ptr {low}, i64 {4 * self.wave_size}") if has_high else "null"
            failed = e.let(
                f"call i32 {site.observer}(ptr %wave, i32 {number}, i64 {base}, i64 {lanes}, ptr {low}, ptr {high})"
            )
            next_ = told if n == len(recorded) - 1 else e.name("tell")
            e.branch(e.let(f"icmp eq i32 {failed}, 0"), next_, site.fault, likely=True)
            e.label(next_)

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
        values = reader_of(chunk.reader, row.rounds, item.mode).read(graph, arguments)
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
            shift = e.let(f"shl i64 {chunk.number}, {e.shift}")
            byte = e.let(f"trunc i64 {e.let(f'lshr i64 {captured.value}, {shift}')} to {e.byte}")
            return e.let(f"bitcast {e.byte} {byte} to {e.v1}")
        if parameter.implicit and captured.kind == "scalar":
            value = captured.value
            return value if value.startswith(("%", "splat")) else f"splat (i{type.width} {value})"
        modifiers = instruction.modifiers
        wide = type.width == 64
        if captured.kind == "vector":
            raw = chunk.get_pair(captured.value) if wide else chunk.get(captured.value)
        elif captured.kind == "buffer":
            offset = e.let(f"shl i64 {chunk.number}, {e.shift + 2}")
            place = e.let(f"getelementptr i8, ptr {captured.value}, i64 {offset}")
            raw = e.let(f"load {e.v32}, ptr {place}, align {e.align}")
            if wide:
                above = e.let(f"getelementptr i8, ptr {place}, i64 {4 * self.wave_size}")
                top = e.let(f"zext {e.v32} {e.let(f'load {e.v32}, ptr {above}, align {e.align}')} to {e.v64}")
                low = e.let(f"zext {e.v32} {raw} to {e.v64}")
                raw = e.let(f"or {e.v64} {e.let(f'shl {e.v64} {top}, splat (i64 32)')}, {low}")
        else:
            raw = captured.value
        if instruction.encoding == "sdwa" and not parameter.implicit:
            raw = self._selected(raw, str(modifiers.get(f"src{position}_sel", "DWORD")), bool(operand and operand.sext))
        if row.packed == "pairs" and not parameter.implicit and type.kind == "u":
            raw = self._halves(raw, instruction, row, position, wide)
            element = _PACKED_FLOATS.get(row.element)
            mode = item.mode
            flushes = (
                mode is not None and element is not None and mode.clear(e, 4 if element.width == 32 else 6) is not False
            )
            if mode is not None and element is not None and element.width * 2 == type.width and flushes:
                raw = self._each_half(
                    chunk, raw, element, lambda value: flushed_input(chunk.reader, mode, value, element)
                )
        if row.packed == "mix" and not parameter.implicit:
            value = self._mixed(chunk, raw, instruction, operand, position)
            return value if item.mode is None else flushed_input(chunk.reader, item.mode, value, type)
        if type.width in (8, 16):
            named = operand.half if operand is not None else ""
            high = named == "h" if named else not parameter.implicit and _bit(instruction, "op_sel", position)
            if parameter.implicit:
                high = self._high_result(item, parameter.name)
            if high:
                raw = e.let(f"lshr {e.v32} {raw}, splat (i32 16)")
            raw = e.let(f"trunc {e.v32} {raw} to <{e.lanes} x i{type.width}>")
        elif type.width == 32 and operand is not None and operand.half == "h":  # the shift of v_alignbit_b32 on gfx11
            raw = e.let(f"lshr {e.v32} {raw}, splat (i32 16)")
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
        vector = f"<{e.lanes} x i{type.width}>"
        if operand is not None and not parameter.implicit:
            sign = 1 << (type.width - 1)
            if operand.abs:
                raw = e.let(f"and {vector} {raw}, splat (i{type.width} {signed(~sign, type.width)})")
            if negate:
                raw = e.let(f"xor {vector} {raw}, splat (i{type.width} {signed(sign, type.width)})")
        if not type.is_float or type.kind == "bf":
            return raw
        value = e.let(f"bitcast {vector} {raw} to {chunk.reader.type(type)}")
        if row.float_mode and mode is not None:
            value = flushed_input(chunk.reader, mode, value, type)
        return value

    def _selected(self, raw: str, which: str, sign: bool) -> str:
        """SDWA: one byte or half of a source, extended to 32 bits."""
        e = self.emitter
        if which == "DWORD":
            return raw
        kind, _, n = which.partition("_")
        width = 8 if kind == "BYTE" else 16
        left = 32 - width - width * int(n)
        up = e.let(f"shl {e.v32} {raw}, splat (i32 {left})") if left else raw
        return e.let(f"{'ashr' if sign else 'lshr'} {e.v32} {up}, splat (i32 {32 - width})")

    def _halves(self, raw: str, instruction: Instruction, row: Row, position: int, wide: bool) -> str:
        """op_sel, op_sel_hi, neg_lo and neg_hi of a packed source."""
        e = self.emitter
        width = 64 if wide else 32
        half, vector = width // 2, e.v64 if wide else e.v32
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
        e = self.emitter
        wide = f"<{e.lanes} x i{2 * element.width}>"
        narrow, kind = f"<{e.lanes} x i{element.width}>", chunk.reader.type(element)
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
        f32 = f"<{e.lanes} x float>"
        if _bit(instruction, "op_sel_hi", position, False):
            if _bit(instruction, "op_sel", position):
                raw = e.let(f"lshr {e.v32} {raw}, splat (i32 16)")
            half = e.let(f"bitcast {e.v16} {e.let(f'trunc {e.v32} {raw} to {e.v16}')} to <{e.lanes} x half>")
            value = e.let(f"fpext <{e.lanes} x half> {half} to {f32}")
        else:
            value = e.let(f"bitcast {e.v32} {raw} to {f32}")
        if _bit(instruction, "neg_hi", position) or (operand and operand.abs):
            value = e.call(f32, f"llvm.fabs.v{e.lanes}f32", f"{f32} {value}")
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
        if isinstance(item.decoded.row, Row) and item.decoded.row.into_high:
            return True
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
            if item.only is not None and number is not None:
                # A lane without a valid source keeps its bit; one that the row or bank mask excludes gives 0.
                written, allowed = self._lane_bits(chunk, item.only), self._lane_bits(chunk, item.allowed)
                old = self._lane_bits(chunk, item.masks[number])
                value = e.let(f"select {e.v1} {written}, {e.v1} {value}, {e.v1} {old}")
                value = e.let(f"and {e.v1} {value}, {allowed}")
            active = e.let(f"and {e.v1} {value}, {chunk.active}")

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
                value = flushed_output(chunk.reader, mode, value, type)
            if instruction.modifiers.get("clamp"):
                value = clamped(chunk.reader, mode, value, type)
        if type.is_float and type.kind == "f":
            value = e.let(f"bitcast {chunk.reader.type(type)} {value} to <{e.lanes} x i{type.width}>")
        element = _PACKED_FLOATS.get(row.element) if row.packed == "pairs" and not type.is_float else None
        if element is not None and element.width * 2 == type.width:
            clamps = instruction.modifiers.get("clamp") and not any(p.name == "clamp" for p in row.parameters)
            if mode.clear(e, 5 if element.width == 32 else 7) is not False:
                value = self._each_half(
                    chunk, value, element, lambda half: flushed_output(chunk.reader, mode, half, element)
                )
            if clamps:
                value = self._each_half(chunk, value, element, lambda half: clamped(chunk.reader, mode, half, element))
        if type.width < 32:
            value = self._narrow(chunk, item, row, type, value, register, name)
        if instruction.encoding == "sdwa" and type.width <= 32:
            value = self._placed(chunk, value, instruction, register)
        if item.only is not None:
            lanes = self._lane_bits(chunk, item.only)
            kind = e.v64 if type.width == 64 else e.v32
            old = chunk.get_pair(register) if type.width == 64 else chunk.get(register)
            value = e.let(f"select {e.v1} {lanes}, {kind} {value}, {kind} {old}")

        def write() -> None:
            if type.width == 64:
                chunk.set_pair(register, value)
            else:
                chunk.set(register, value)

        return write

    def _lane_bits(self, chunk: Chunk, mask: str) -> str:
        """The chunk's lanes of an i64 mask."""
        e = self.emitter
        shifted = e.let(f"lshr i64 {mask}, {e.let(f'shl i64 {chunk.number}, {e.shift}')}")
        return e.let(f"bitcast {e.byte} {e.let(f'trunc i64 {shifted} to {e.byte}')} to {e.v1}")

    def _narrow(self, chunk: Chunk, item: Item, row: Row, type: Type, value: str, register: int, name: str) -> str:
        """An 8- or 16-bit result in its register: which half, and what becomes of the other."""
        e = self.emitter
        wide = e.let(f"zext <{e.lanes} x i{type.width}> {value} to {e.v32}")
        if type.width != 16 or item.decoded.instruction.encoding == "sdwa":
            return wide
        high = self._high_result(item, name)
        keep = high or self._named_half(item, name) or high_half(self.arch, row) == "keep"
        if high:
            wide = e.let(f"shl {e.v32} {wide}, splat (i32 16)")
        if not keep:
            return wide
        rest = e.let(f"and {e.v32} {chunk.get(register)}, splat (i32 {0xFFFF if high else -65536})")
        return e.let(f"or {e.v32} {wide}, {rest}")

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
        up = e.let(f"shl {e.v32} {value}, splat (i32 {32 - width})")
        if unused == "UNUSED_SEXT":
            down = e.let(f"ashr {e.v32} {up}, splat (i32 {32 - width})")
            return e.let(f"shl {e.v32} {down}, splat (i32 {shift})") if shift else down
        down = e.let(f"lshr {e.v32} {up}, splat (i32 {32 - width - shift})") if 32 - width - shift else up
        if unused == "UNUSED_PAD":
            return down
        rest = signed(~(((1 << width) - 1) << shift), 32)
        return e.let(f"or {e.v32} {down}, {e.let(f'and {e.v32} {chunk.get(register)}, splat (i32 {rest})')}")

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
        inside: list[str] = []
        if item.buffer is not None:
            place, inside = self._buffer_place(chunk, item, item.buffer, address, row, total)
            reach = chunk.among(inside[-1])
        else:
            place, reach = None, chunk
        for offset, which in accesses:
            access = self._access(reach, item, row, address, offset, which, total, place)
            if item.lds:
                self._into_lds(chunk, item, self._words_inside(chunk, item, access, inside), inside)
            elif row.action == "load":
                assert parts.destination is not None
                assert isinstance(parts.destination.value, Register)
                register = parts.destination.value
                first = register.index + (ACC if register.file == "a" else 0) + which * (total // 4)
                if which == 0 and row.two_address:
                    values = memory.load(chunk, access, self.site)
                    second = memory.load(
                        chunk, self._access(chunk, item, row, address, accesses[1][0], 1, total), self.site
                    )
                    for w, value in enumerate(values + second):
                        chunk.set(first + w, value)
                    break
                values = self._words_inside(chunk, item, access, inside)
                for w, value in enumerate(values):
                    chunk.set(first + w, self._half_loaded(chunk, row, first, value) if row.half else value)
            elif row.action == "store":
                source = data[which if row.two_address else 0]
                values = self._data(chunk, row, source, max(1, total // 4))
                memory.store(reach, access, self.site, values)
                if len(inside) > 1:
                    self._pieces(chunk, access, inside, values)
            elif row.action == "atomic":
                assert row.combine is not None
                given: list[str] = []
                if row.implied == "count":
                    given = ["splat (i32 1)"]
                elif row.two_address:
                    given = self._data(chunk, row, data[which], row.element // 32)
                elif len(data) == 1:
                    given = self._data(chunk, row, data[0], sum(words(p.type) for p in row.combine.parameters[1:]))
                else:
                    for part in data:
                        given += self._data(chunk, row, part, row.element // 32)
                old = memory.atomic(reach, access, self.site, given)
                if inside:
                    old = [self._or_zero(inside[-1], value) for value in old]
                if returns_value(instruction, row) and parts.destination is not None:
                    returned += self._unranked(chunk, item, old) if row.implied == "count" else old
        if returned:
            assert parts.destination is not None
            assert isinstance(parts.destination.value, Register)
            register = parts.destination.value
            first = register.index + (ACC if register.file == "a" else 0)
            for w, value in enumerate(returned):
                chunk.set(first + w, value)

    def _unranked(self, chunk: Chunk, item: Item, old: list[str]) -> list[str]:
        """ds_append, ds_consume: one atomic of 1 per lane, in the lanes' order, gave lane i the value after those
        below it; taking their number back gives the value before the instruction in all lanes."""
        e = self.emitter
        lanes = e.let(f"zext {e.v32} {chunk.lanes} to {e.v64}")
        below = e.let(f"add {e.v64} {e.let(f'shl {e.v64} splat (i64 1), {lanes}')}, splat (i64 -1)")
        mine = e.let(f"and {e.v64} {splat(e, 'i64', item.exec)}, {below}")
        count = e.call(e.v64, f"llvm.ctpop.v{e.lanes}i64", f"{e.v64} {mine}")
        rank = e.let(f"trunc {e.v64} {count} to {e.v32}")
        combine = item.decoded.row.combine if isinstance(item.decoded.row, Memory) else None
        assert combine is not None
        operation = {"add": "sub", "sub": "add"}[combine.graph()[1][0].op]
        return [e.let(f"{operation} {e.v32} {old[0]}, {rank}")]

    def _half_loaded(self, chunk: Chunk, row: Memory, register: int, value: str) -> str:
        e = self.emitter
        old = chunk.get(register)
        if row.half == "hi":
            high = e.let(f"shl {e.v32} {value}, splat (i32 16)")
            return e.let(f"or {e.v32} {high}, {e.let(f'and {e.v32} {old}, splat (i32 65535)')}")
        low = e.let(f"and {e.v32} {value}, splat (i32 65535)")
        return e.let(f"or {e.v32} {low}, {e.let(f'and {e.v32} {old}, splat (i32 -65536)')}")

    def _data(self, chunk: Chunk, row: Memory, source: Captured | None, count: int) -> list[str]:
        assert source is not None
        if source.kind != "vector":
            return [source.value] * count
        values = [chunk.get(source.value + w) for w in range(count)]
        if row.half == "hi" and row.action == "store":
            values = [self.emitter.let(f"lshr {self.emitter.v32} {values[0]}, splat (i32 16)")]
        return values

    def _buffer_place(
        self, chunk: Chunk, item: Item, buffer: Buffer, address: Captured | None, row: Memory, total: int
    ) -> tuple[tuple[str, str], list[str]]:
        """((low, high halves of each lane's address), for each word the lanes where it lies in the buffer).

        Scratch is an address in its flat aperture, checked there. The rules are those of isa/buffers.py.
        """
        e, modifiers = self.emitter, item.decoded.instruction.modifiers
        parts = ["zeroinitializer", "zeroinitializer"]  # index, offset
        at = 0
        for n, name in enumerate(("idxen", "offen")):
            if modifiers.get(name) and address is not None:
                parts[n] = chunk.get(address.value + at) if address.kind == "vector" else address.value
                at += 1
        index, offset = (e.let(f"zext {e.v32} {part} to {e.v64}") for part in parts)

        def all_lanes(value: str) -> str:
            return splat(e, "i64", value) if value.startswith("%") else f"splat (i64 {value})"

        def binary(operation: str, a: str, b: str) -> str:
            return e.let(f"{operation} {e.v64} {a}, {b}")

        if buffer.scratch is None:
            lane, mask = e.let(f"zext {e.v32} {chunk.lanes} to {e.v64}"), e.let(f"sext i1 {buffer.thread} to i64")
            index = binary("add", index, binary("and", lane, all_lanes(mask)))
        within = binary("add", offset, all_lanes(item.base))
        stride, scalar, limit = (all_lanes(v) for v in (buffer.stride, buffer.scalar, buffer.limit))
        linear = binary("add", within, binary("mul", index, stride))
        one, group, element = (all_lanes(v) for v in ("1", buffer.index_stride, buffer.element))
        rest = binary("and", within, binary("sub", binary("shl", one, element), one))
        rows = binary("add", binary("mul", binary("lshr", index, group), stride), binary("sub", within, rest))
        own = binary("shl", binary("and", index, binary("sub", binary("shl", one, group), one)), element)
        woven = binary("add", binary("add", binary("shl", rows, group), own), rest)
        place = e.let(f"select i1 {buffer.swizzled}, {e.v64} {woven}, {e.v64} {linear}")
        count = total // 4 if row.action != "atomic" and row.element >= 32 else 1
        structured = bool(modifiers.get("idxen"))
        inside = [
            self._inside(buffer, structured, index, within, scalar, limit, stride, place, all_lanes(str(end)))
            for end in ([4 * (w + 1) for w in range(count)] if count > 1 else [total])
        ]
        found = binary("add", all_lanes(e.let(f"add i64 {buffer.base}, {buffer.scalar}")), place)
        if buffer.scratch is not None:
            lanes = self.wave_size.bit_length() - 1
            mine = binary("add", within, all_lanes(e.let(f"lshr i64 {buffer.scalar}, {lanes}")))
            mine = binary(
                "or", binary("and", mine, all_lanes(str(0xFFFFFFFF))), all_lanes(str(layout.PRIVATE_BASE << 32))
            )
            found = e.let(f"select i1 {buffer.scratch}, {e.v64} {mine}, {e.v64} {found}")
            always = f"{e.v1} splat (i1 true)"
            inside = [e.let(f"select i1 {buffer.scratch}, {always}, {e.v1} {lanes_}") for lanes_ in inside]
        low = e.let(f"trunc {e.v64} {found} to {e.v32}")
        high = e.let(f"trunc {e.v64} {binary('lshr', found, all_lanes('32'))} to {e.v32}")
        return (low, high), inside

    def _inside(
        self, buffer: Buffer, structured: bool, index: str, within: str, scalar: str, limit: str, stride: str,
        place: str, end: str,
    ) -> str:  # fmt: skip
        """The lanes where what ends `end` bytes after their address is in the buffer: buffers.inside as IR."""
        e = self.emitter

        def compare(condition: str, a: str, b: str) -> str:
            return e.let(f"icmp {condition} {e.v64} {a}, {b}")

        below = compare("ult", index, limit)
        no_stride = compare("eq", stride, "zeroinitializer")
        if not buffer.select:
            last = e.let(f"add {e.v64} {e.let(f'add {e.v64} {within}, {scalar}')}, {end}")
            raw = compare("ule", last, limit)
            return e.let(f"select {e.v1} {no_stride}, {e.v1} {raw}, {e.v1} {below}") if structured else raw
        in_stride = e.let(f"or {e.v1} {no_stride}, {compare('ule', e.let(f'add {e.v64} {within}, {end}'), stride)}")
        whole = e.let(f"and {e.v1} {below}, {in_stride}")
        raw = compare("ule", e.let(f"add {e.v64} {place}, {end}"), limit)
        some_stride = e.let(f"xor {e.v1} {no_stride}, splat (i1 true)")
        woven = e.let(f"select i1 {buffer.swizzled}, {e.v1} {some_stride}, {e.v1} zeroinitializer")
        raw = e.let(f"select {e.v1} {woven}, {e.v1} {whole}, {e.v1} {raw}")
        result = raw
        for number, lanes in ((2, compare("ne", limit, "zeroinitializer")), (1, below), (0, whole)):
            chosen = e.let(f"icmp eq i32 {buffer.select}, {number}")
            result = e.let(f"select i1 {chosen}, {e.v1} {lanes}, {e.v1} {result}")
        return result

    def _words_inside(self, chunk: Chunk, item: Item, access: Access, inside: list[str]) -> list[str]:
        """A load; of a buffer, words outside are 0."""
        if not inside:
            return memory.load(chunk, access, self.site)
        found = memory.load(chunk.among(inside[-1]), access, self.site)
        values = [self._or_zero(inside[-1], value) for value in found]
        return self._pieces(chunk, access, inside, values) if len(inside) > 1 else values

    def _or_zero(self, lanes: str, value: str) -> str:
        e = self.emitter
        return e.let(f"select {e.v1} {lanes}, {e.v32} {value}, {e.v32} zeroinitializer")

    def _pieces(self, chunk: Chunk, access: Access, inside: list[str], values: list[str]) -> list[str]:
        """Lanes of which only the first words lie in the buffer: word by word. Gives `values` with those loaded."""
        e = self.emitter
        load = access.row.action == "load"
        some = [e.let(f"xor {e.v1} {lanes}, {inside[-1]}") for lanes in inside[:-1]]
        some = [e.let(f"and {e.v1} {lanes}, {inside[n]}") for n, lanes in enumerate(some)]
        active = [chunk.among(lanes) for lanes in some]
        words_, done = e.name("pieces"), e.name("pieces_done")
        before = e.block
        e.branch(e.let(f"icmp eq {e.byte} {active[0].bits}, 0"), done, words_, likely=True)
        e.label(words_)
        parts = list(values)
        for n, among in enumerate(active):
            four = f"splat (i32 {4 * n})"
            low = e.let(f"add {e.v32} {access.address}, {four}")
            carried = e.let(f"zext {e.v1} {e.let(f'icmp ult {e.v32} {low}, {four}')} to {e.v32}")
            high = e.let(f"add {e.v32} {access.high}, {carried}")
            # no place among the run's addresses that an observer is told of
            piece = replace(
                access, row=_DWORD[access.row.action], address=low, high=high, bytes=4, scattered=True, lanes="",
                place=self._place(), kept="", slot=self.slot(~access.instruction),
            )  # fmt: skip
            memory.record(among, piece, self.site)
            if load:
                (value,) = memory.load(among, piece, self.site)
                parts[n] = e.let(f"select {e.v1} {some[n]}, {e.v32} {value}, {e.v32} {values[n]}")
            else:
                memory.store(among, piece, self.site, [values[n]])
        end = e.block
        e.jump(done)
        e.label(done)
        if not load:
            return values
        return [
            e.let(f"phi {e.v32} [ {value}, %{before} ], [ {part}, %{end} ]")
            for value, part in zip(values, parts, strict=True)
        ]

    def _into_lds(self, chunk: Chunk, item: Item, values: list[str], inside: list[str]) -> None:
        """The end of a load into LDS: each lane's dwords, in the lanes' order. (Outside a buffer they are 0.)"""
        e, index = self.emitter, item.decoded.index
        row, size = _INTO_LDS[len(values)], 4 * len(values)
        low = e.let(f"mul {e.v32} {chunk.lanes}, splat (i32 {size})")
        access = Access(row, index, self.slot(~index), "lds", low, None, item.lds, size, place=self._place())
        self.recorded.append((Observed(index, 1, "lds", "store", size), item.lds, 0, False, "", access.place, None))
        memory.record(chunk, access, self.site)
        memory.store(chunk, access, self.site, values)

    def _access(
        self, chunk: Chunk, item: Item, row: Memory, address: Captured | None, offset: int, part: int, total: int,
        place: tuple[str, str] | None = None,
    ) -> Access:  # fmt: skip
        e = self.emitter
        base = item.base
        if offset:
            base = str(int(base) + offset) if not base.startswith("%") else e.let(f"add i64 {base}, {offset}")
        index = item.decoded.index
        access = Access(row, index, self.slot(index), row.space, "zeroinitializer", None, base, total)
        if place is not None:
            access.address, access.high = place
            access.space = "global" if item.buffer and item.buffer.scratch is None else "flat"
            access.scattered = access.space == "flat"
            access.base, item_base = "0", "0"
        else:
            item_base = item.base
            if row.implied == "lane":
                access.address = e.let(f"shl {e.v32} {chunk.lanes}, splat (i32 2)")
            elif address is None:
                access.unsigned_index = access.uniform = row.space == "global"
            elif address.kind != "vector":
                access.address = address.value
            elif row.space in ("global", "flat") and address.width == 64:
                access.pair = chunk.pairs.get(address.value)
                if access.pair is None:
                    access.address, access.high = chunk.get(address.value), chunk.get(address.value + 1)
            else:
                access.address = chunk.get(address.value)
                access.unsigned_index = row.space == "global"
        what = Observed(index, part, access.space, row.action, total)
        wide = access.high is not None or access.pair is not None
        twin = None
        if not self.site.checked and not item.inside:
            key = (access.space, access.address, access.high, access.pair)
            first = self.rows.setdefault(key, len(self.recorded))
            twin = first if first < len(self.recorded) else None
        if item.frame:
            self.recorded.append((what, item_base, offset, wide, "", None, twin))
            if total >= 4:
                access.frame = memory.frame_place(chunk, self.site, item.frame, item.offset)
            else:  # a byte's address is not aligned: its low bits and those of the offset may carry into the next row
                access.bytes_in = e.let(f"add i32 {item.frame}, {item.offset}")
                access.frame = memory.frame_place(chunk, self.site, access.bytes_in, 0)
            return access
        shared = None if twin is None else self.recorded[twin][5]
        access.place, access.lanes = self._place() if shared is None else shared, item.inside
        self.recorded.append((what, item_base, offset, wide, item.inside, access.place, twin))
        memory.record(chunk, access, self.site, store=shared is None)
        return access

    def _place(self) -> int:
        self.places += 1
        return self.places - 1


def _bit(instruction: Instruction, name: str, position: int, default: bool = False) -> bool:
    given = instruction.modifiers.get(name)
    if isinstance(given, tuple):
        return bool(given[position]) if position < len(given) else default
    return default
