"""What a run keeps of an instruction: `Item`, with its sources as they were when it was added; `Capture` makes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from gpulab.virtual_gpu.isa.buffers import Rules
from gpulab.virtual_gpu.isa.expression import Type, b1
from gpulab.virtual_gpu.isa.instruction import Instruction, Keyword, Literal, Operand, Register, Symbol
from gpulab.virtual_gpu.isa.row import Memory, Parameter, Row
from gpulab.virtual_gpu.translate import addresses_buffer, addresses_lds, layout
from gpulab.virtual_gpu.translate.addresses_buffer import Buffer
from gpulab.virtual_gpu.translate.decode import (
    ACC,
    Decoded,
    MemoryOperands,
    into_lds,
    is_dpp,
    literal_bits,
    memory_operands,
    scalar_number,
)
from gpulab.virtual_gpu.translate.emitter import (
    FALSE,
    TRUE,
    ZERO,
    Constant,
    Emitter,
    Integer,
    Joined,
    Value,
    signed,
    splat,
    splats,
)
from gpulab.virtual_gpu.translate.lane_access import Site
from gpulab.virtual_gpu.translate.modes import Mode
from gpulab.virtual_gpu.translate.scalars import Scalars

_ALL = Integer(-1)
OperandValue = Register | Literal | Symbol | Keyword


@dataclass(slots=True)
class Vector:
    """A vector register, or the first of those that `width` bits take."""

    number: int
    width: int = 32


@dataclass(slots=True)
class Scalar:
    """The same value of `width` bits in all lanes: a vector of them, or an integer that is to become one."""

    value: Value
    width: int = 32


@dataclass(slots=True)
class Mask:
    """A lane mask (i64)."""

    value: Value


@dataclass(slots=True)
class Pending:
    """A lane mask that was made earlier in this run, by scalar register."""

    number: int


@dataclass(slots=True)
class Condition:
    """An i1, the same for all lanes."""

    value: Value


@dataclass(slots=True)
class Gathered:
    """A buffer with one i32 per lane (high halves of 64-bit values follow): what other lanes gave."""

    pointer: Value


@dataclass(slots=True)
class LaneNumber:
    """The lane's own number."""


Captured = Vector | Scalar | Mask | Pending | Condition | Gathered | LaneNumber
"""A source as it was when the instruction was added."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a memory instruction goes: what is the same for all lanes.

    base: an i64, scalar base and immediate offset together; of a buffer the offset alone.
    frame: of scratch without an address register the scalar part of the address (i32), else None; `offset` is its
    constant part.
    lds: where a load into LDS begins (i64).
    exec: EXEC (i64), where an instruction needs the whole of it.
    """

    base: Value = ZERO
    offset: int = 0
    frame: Value | None = None
    buffer: Buffer | None = None
    lds: Value | None = None
    exec: Value = ZERO


@dataclass(slots=True)
class Item:
    """One instruction of a run with its captured sources; those of a memory instruction are its address and data."""

    decoded: Decoded
    mode: Mode
    sources: list[Captured | None] = field(default_factory=list)
    address: Address = Address()
    inside: Value | None = None  # the lanes inside the buffer, for the observer: pointer to an i64
    only: Value | None = None  # i64 mask of the lanes that are written at all (DPP)
    allowed: Value = _ALL  # i64 mask of the lanes that DPP's row and bank masks allow
    masks: dict[int, Value] = field(default_factory=dict)  # lane masks as they were, where DPP may leave bits (i64)
    second: Item | None = None


def mask_number(name: str, type: Type, operand: Operand | None) -> int | None:
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


def literal_mask(value: Literal, wave_size: int) -> Integer:
    """A constant as a lane mask (i64): of floats the bits."""
    return Integer(signed(literal_bits(value, Type("u", wave_size)), 64))


class Capture:
    """Reads the sources of instructions from the scalars' present values."""

    def __init__(
        self,
        emitter: Emitter,
        scalars: Scalars,
        wave_size: int,
        site: Site,
        symbol: Callable[[Symbol, int], Value],
        rules: Rules,
        scratch_buffer: bool,
    ) -> None:
        self.emitter, self.scalars, self.wave_size, self.site = emitter, scalars, wave_size, site
        self.symbol, self.rules = symbol, rules
        self.scratch_buffer = scratch_buffer  # the kernel has scratch as a buffer (gfx90a, gfx10)
        self._splats: dict[tuple[str, Value], Value] = {}

    def new_block(self) -> None:
        self._splats.clear()

    def item(self, decoded: Decoded, mode: Mode, masks: int) -> Item:
        """An instruction with its sources; `masks` are the scalar registers that the run will write."""
        item = Item(decoded, mode)
        row = decoded.row
        if isinstance(row, Row):
            if is_dpp(decoded.instruction):
                for result, target in decoded.results:
                    number = mask_number(result.name, result.type, target)
                    if number is not None:
                        item.masks[number] = self.scalars.mask(number)
            for parameter, operand in decoded.sources:
                item.sources.append(self._capture(decoded, row, parameter, operand, mode, masks))
        else:
            assert isinstance(row, Memory)
            self._capture_memory(item, row)
        return item

    def _capture(
        self, decoded: Decoded, row: Row, parameter: Parameter, operand: Operand | None, mode: Mode, masks: int
    ) -> Captured | None:
        instruction = decoded.instruction
        type = parameter.type
        if parameter.implicit and parameter.name not in ("dst", "sdst"):
            return self._implicit(parameter, instruction, mode, masks)
        if operand is None:
            return None
        value = operand.value
        if isinstance(value, Register) and value.file in ("v", "a"):
            return Vector(value.index + (ACC if value.file == "a" else 0))
        if type == b1:
            return self._mask(value, masks)
        return self._scalar(value, type, row, decoded.index, packed_halves=row.packed == "pairs")

    def _implicit(self, parameter: Parameter, instruction: Instruction, mode: Mode, masks: int) -> Captured | None:
        name, width = parameter.name, parameter.type.width
        if name == "vcc" and parameter.type == b1:
            return self._mask(Register("special", 0, self.wave_size // 32, "vcc"), masks)
        if name == "clamp":
            return Condition(TRUE if instruction.modifiers.get("clamp") else FALSE)
        if name in ("neg", "op_sel"):
            given = instruction.modifiers.get("neg_lo" if name == "neg" else name, ())
            flags = sum(bool(n) << i for i, n in enumerate(given if isinstance(given, tuple) else ()))
            return Scalar(Integer(flags), width)
        if name in ("bitop3", "byte_sel"):
            given = instruction.modifiers.get(name, 0)
            return Scalar(Integer(given if isinstance(given, int) else 0), width)
        if name == "mode":
            return Scalar(self.splat("i32", mode.word(self.emitter)) if mode.unknown else Integer(mode.bits), width)
        if name == "lane":
            return LaneNumber()
        if name == "scc":
            return Condition(self.scalars.condition())
        if name == "m0":
            return Scalar(self.splat("i32", self.scalars.word(layout.M0)), 32)
        number = layout.EXEC if name == "exec" else layout.VCC
        if width == 64:
            return Scalar(self.splat("i64", self.scalars.mask(number)), 64)
        return Scalar(self.splat("i32", self.scalars.word(number)), 32)

    def _mask(self, value: OperandValue, masks: int) -> Captured:
        if isinstance(value, Register):
            number = scalar_number(value)
            if number is not None:
                if masks >> number & 1:
                    return Pending(number)
                return Mask(self.scalars.mask(number))
            return Mask(ZERO)
        if isinstance(value, Literal):
            return Mask(literal_mask(value, self.wave_size))
        return Mask(ZERO)

    def _scalar(
        self, value: OperandValue, type: Type, row: Row | None, index: int, packed_halves: bool = False
    ) -> Captured:
        """A scalar operand or constant, splatted to the parameter's width (16-bit types take a whole word)."""
        width = 64 if type.width == 64 else 32
        if isinstance(value, Literal):
            number = literal_bits(value, type)
            if packed_halves and row is not None and type.kind == "u":
                element = {"f16": Type("f", 16), "bf16": Type("bf", 16), "f32": Type("f", 32)}.get(row.element)
                if type.width == 64:
                    half = splats(32, signed(literal_bits(value, element or Type("u", 32)), 32))
                    return Scalar(Joined(self.emitter, half, half), 64)
                elif element is not None and value.is_float:
                    number = literal_bits(value, element)
            return Scalar(splats(width, signed(number, width)), width)
        if isinstance(value, Symbol):
            word = self.symbol(value, index)
            if width == 64:
                return Scalar(self.splat("i64", self.emitter.let(f"sext i32 {word} to i64")), 64)
            return Scalar(self.splat("i32", word), 32)
        assert isinstance(value, Register), value
        number_ = scalar_number(value)
        if number_ is None:
            return Scalar(self.splat(f"i{width}", self.special(value.name, width)), width)
        if width == 64:
            if value.count == 1 and number_ != layout.NULL:
                # A 32-bit register for a 64-bit operand: zero-extended.
                word = self.scalars.word(number_)
                return Scalar(self.splat("i64", self.emitter.let(f"zext i32 {word} to i64")), 64)
            if packed_halves:
                low, high = (self.splat("i32", self.scalars.word(number_ + half)) for half in (0, 1))
                return Scalar(Joined(self.emitter, low, high), 64)
            return Scalar(self.splat("i64", self.scalars.pair(number_)), 64)
        return Scalar(self.splat("i32", self.scalars.word(number_)), 32)

    def special(self, name: str, width: int) -> Value:
        """Registers that hold no value of their own: apertures, vccz, execz, null."""
        e = self.emitter
        high = {"src_shared_base": layout.SHARED_BASE, "src_private_base": layout.PRIVATE_BASE}.get(name)
        if high is not None:
            return Integer(high << 32 if width == 64 else high)
        if name in ("vccz", "execz"):
            mask = self.scalars.mask(layout.VCC if name == "vccz" else layout.EXEC)
            return e.let(f"zext i1 {e.let(f'icmp eq i64 {mask}, 0')} to i{width}")
        if name in ("src_shared_limit", "src_private_limit"):
            base = layout.SHARED_BASE if "shared" in name else layout.PRIVATE_BASE
            return Integer(base << 32 | 0xFFFFFFFF if width == 64 else base)
        return ZERO

    def splat(self, type: str, value: Value) -> Value:
        if isinstance(value, Constant):
            return splat(self.emitter, type, value)
        known = self._splats.get((type, value))
        if known is None:
            known = self._splats[type, value] = splat(self.emitter, type, value)
        return known

    def _capture_memory(self, item: Item, row: Memory) -> None:
        """sources: address (low), then data."""
        e, instruction = self.emitter, item.decoded.instruction
        parts = memory_operands(instruction, row)
        base: Value = ZERO
        frame: Value | None = None
        buffer = None
        if parts.resource is not None:
            buffer = self._buffer(parts)
        elif parts.scalar is not None:
            value = parts.scalar.value
            if isinstance(value, Register):
                number = scalar_number(value)
                if number is not None:
                    if row.space == "global":
                        base = self.scalars.pair(number)
                    else:
                        frame = self.scalars.word(number)
                        base = e.let(f"zext i32 {frame} to i64")
            elif isinstance(value, Literal):
                base = frame = Integer(int(value.value))
        lds = addresses_lds.destination(e, self.scalars, instruction) if into_lds(instruction, row) else None
        exec_: Value = ZERO
        if row.implied and row.space == "lds":
            base = addresses_lds.implied_base(e, self.scalars)
            exec_ = self.scalars.mask(layout.EXEC)
        given = instruction.modifiers.get("offset", 0)
        offset = int(given) if isinstance(given, int) else 0
        if offset:
            base = e.added(base, offset)
        if row.space == "scratch" and parts.address is None and self.site.check_alignment:
            frame = frame or ZERO
        else:
            frame = None
        item.address = Address(base, offset, frame, buffer, lds, exec_)
        for operand in [parts.address, *parts.data]:
            if operand is None:
                item.sources.append(None)
            elif isinstance(operand.value, Register) and operand.value.file in ("v", "a"):
                register = operand.value
                number = register.index + (ACC if register.file == "a" else 0)
                item.sources.append(Vector(number, 32 * register.count))
            else:
                item.sources.append(self._scalar(operand.value, Type("u", 32), None, item.decoded.index))

    def _buffer(self, parts: MemoryOperands) -> Buffer:
        assert parts.resource is not None
        assert isinstance(parts.resource.value, Register)
        number = scalar_number(parts.resource.value)
        assert number is not None
        words_ = [self.scalars.word(number + i) for i in range(4)]

        def scalar() -> Value:
            if parts.scalar is not None and isinstance(parts.scalar.value, Literal):
                return Integer(int(parts.scalar.value.value))
            if parts.scalar is not None and isinstance(parts.scalar.value, Register):
                register = scalar_number(parts.scalar.value)
                word = self.special(parts.scalar.value.name, 32) if register is None else self.scalars.word(register)
                return self.emitter.let(f"zext i32 {word} to i64")
            return ZERO

        return addresses_buffer.described(self.emitter, words_, scalar, self.rules, self.scratch_buffer)
