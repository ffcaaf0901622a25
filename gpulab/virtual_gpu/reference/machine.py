"""The slow, obvious machine: one workgroup, one instruction at a time, every lane a numpy element.

`Wave` is the state of one wave; `Workgroup` runs its waves round-robin between barriers; `Operands` turns operand
text into bits and back; `_Execute` has one method per family of rows (lanewise and scalar rows, memory, cross-lane,
matrices, control). It is the second opinion for the translating machine, and makes traces (`trace.py`), so it favours
saying each rule once over speed.

Bits are the only currency: registers, sources and results are unsigned integers (Python integers for scalars, numpy
arrays of one element per lane for vectors); a row's own types come in only when its expression is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from gpulab.errors import InternalError, KernelFault, KernelTimeout, KernelTrap, MemoryFault, UnsupportedInstruction
from gpulab.records import Fault
from gpulab.virtual_gpu import dispatch, isa
from gpulab.virtual_gpu.isa.assembly import hardware_register
from gpulab.virtual_gpu.isa.buffers import ADD_THREAD, INDEX_STRIDE, SELECT, inside, linear
from gpulab.virtual_gpu.isa.control import PLACES
from gpulab.virtual_gpu.isa.expression import Type, b1, u16, u32, u64
from gpulab.virtual_gpu.isa.instruction import (
    Instruction,
    KernelDescriptor,
    Keyword,
    Literal,
    Operand,
    Program,
    Register,
    Symbol,
)
from gpulab.virtual_gpu.isa.matrix import index_set, registers
from gpulab.virtual_gpu.isa.row import Control, CrossLane, Matrix, Memory, Parameter, Row
from gpulab.virtual_gpu.reference.matrix import TYPES as MATRIX_TYPES
from gpulab.virtual_gpu.reference.matrix import constant, dense, multiply
from gpulab.virtual_gpu.reference.memory import BadAccess, DeviceMemory
from gpulab.virtual_gpu.reference.numpy_reader import dtype, evaluate
from gpulab.virtual_gpu.reference.values import (
    MASK32,
    MASK64,
    UNSIGNED,
    denormals,
    dpp_source,
    flush,
    from_float64,
    literal_bits,
    mask_of,
    output_modifiers,
    sdwa_insert,
    sdwa_select,
    swizzled,
    to_float64,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bits = NDArray[Any]

VGPRS = 512
SLICE = 4096
SGPRS = 128


class Touch(NamedTuple):
    """One access of a lane, or of the scalar unit (lane None): `bits` is what was read or written."""

    wave: int
    lane: int | None
    address: int
    size: int
    bits: int
    access: str


class _Stop(Exception):
    """Ends the run of a wave with a fault."""

    def __init__(
        self, kind: str, lane: int | None = None, access: str = "", detail: str = "", bad: BadAccess | None = None
    ):
        super().__init__(kind)
        self.kind, self.lane, self.access, self.detail, self.bad = kind, lane, access, detail, bad


# ------------------------------------------------------------------------------------------------- state


class Wave:
    """Registers of one wave. `v` and `a` are [register, lane] arrays of uint32; scalars are Python integers."""

    def __init__(self, wave_size: int, number: int) -> None:
        self.size, self.number = wave_size, number
        self.v = np.zeros((VGPRS, wave_size), np.uint32)
        self.a = np.zeros((VGPRS, wave_size), np.uint32)
        self.s = [0] * SGPRS
        self.vcc = self.exec = self.m0 = self.scc = self.mode = self.flat_scratch = self.xnack_mask = 0
        self.ttmp = [0] * 16
        self.pc = 0
        self.done = self.at_barrier = False
        self.steps = 0
        self.gpr_indexing = False  # s_set_gpr_idx_on; index and mode are in m0
        self.scratch = np.zeros((0, 0), np.uint8)

    @property
    def full(self) -> int:
        """A mask with one bit for each lane."""
        return (1 << self.size) - 1

    def lanes(self, mask: int) -> Bits:
        """A mask as one boolean per lane."""
        return np.array([mask >> i & 1 for i in range(self.size)], bool)

    def active(self) -> Bits:
        return self.lanes(self.exec)


# ------------------------------------------------------------------------------------------------ operands


class Operands:
    """Reads and writes the operands of one instruction on one wave."""

    def __init__(self, machine: Workgroup, wave: Wave, item: Instruction, index: int) -> None:
        self.machine, self.wave, self.item, self.index = machine, wave, item, index
        self.partial: dict[int, tuple[int, int]] = {}  # of a buffer access: lanes partly inside

    # -- scalars

    def scalar(self, operand: Operand, type: Type) -> int:
        """The bits of a scalar source."""
        value = operand.value
        if isinstance(value, Literal):
            bits = literal_bits(value, type)
        elif isinstance(value, Symbol):
            bits = dispatch.relocated(value, self.index, self.machine.program, self.machine.addresses)
        elif isinstance(value, Register):
            bits = self.scalar_register(value, type.width)
        else:
            raise self.unsupported(f"the operand {value.text}")
        if operand.abs:
            bits &= ~(1 << (type.width - 1))
        if operand.neg:
            bits ^= 1 << (type.width - 1)
        return bits & ((1 << type.width) - 1)

    def scalar_register(self, register: Register, width: int) -> int:
        wave = self.wave
        if register.file == "s":
            count = max(1, (width + 31) // 32) if register.count == 1 else register.count
            bits = sum(wave.s[register.index + i] << 32 * i for i in range(min(count, register.count)))
            return bits & ((1 << max(width, 1)) - 1) if width > 1 else bits
        if register.file in ("v", "a"):
            raise self.unsupported("a vector register as a scalar source")
        name = register.name
        if name in ("vcc", "exec", "flat_scratch", "xnack_mask"):
            return getattr(wave, name) >> 32 * register.index & (MASK64 if register.count == 2 else MASK32)
        if name == "m0":
            return wave.m0
        if name == "scc":
            return wave.scc
        if name == "null":
            return 0
        if name == "vccz":
            return int(wave.vcc & wave.full == 0)
        if name == "execz":
            return int(wave.exec & wave.full == 0)
        if name == "ttmp":
            return sum(wave.ttmp[register.index + i] << 32 * i for i in range(register.count))
        aperture = {"src_shared_base": dispatch.SHARED_APERTURE, "src_private_base": dispatch.PRIVATE_APERTURE}.get(
            name
        )
        if aperture is None and name in ("src_shared_limit", "src_private_limit"):
            base = dispatch.SHARED_APERTURE if "shared" in name else dispatch.PRIVATE_APERTURE
            aperture = base | MASK32
        if aperture is not None:
            return aperture if width == 64 else aperture >> 32
        raise self.unsupported(f"the register {name}")

    def set_scalar(self, operand: Operand, bits: int, width: int) -> None:
        """Write a scalar destination of `width` bits (a multiple of 32, or a lane mask)."""
        wave, register = self.wave, operand.value
        if not isinstance(register, Register) or register.file in ("v", "a"):
            raise self.unsupported("this destination")
        words = max(1, (width + 31) // 32)
        if register.file == "s":
            for i in range(words):
                wave.s[register.index + i] = bits >> 32 * i & MASK32
        elif register.name in ("vcc", "exec", "flat_scratch", "xnack_mask"):
            shift = 32 * register.index
            mask = ((1 << 32 * words) - 1) << shift
            old = getattr(wave, register.name)
            setattr(wave, register.name, (old & ~mask | bits << shift & mask) & MASK64)
        elif register.name == "m0":
            wave.m0 = bits & MASK32
        elif register.name == "ttmp":
            for i in range(words):
                wave.ttmp[register.index + i] = bits >> 32 * i & MASK32
        elif register.name == "scc":
            wave.scc = bits & 1
        elif register.name != "null":
            raise self.unsupported(f"a write to {register.name}")

    # -- vectors

    def words(self, register: Register) -> Bits:
        """The [count, lane] array of a vector register run (a view)."""
        file = self.wave.v if register.file == "v" else self.wave.a
        return file[register.index : register.index + register.count]

    def raw(self, operand: Operand, type: Type) -> Bits:
        """One source as one unsigned integer per lane, before source modifiers; halves chosen by ``.h`` alone."""
        wave, value = self.wave, operand.value
        width = max(type.width, 8)
        if isinstance(value, Register) and value.file in ("v", "a"):
            words = self.words(value)
            if type == b1:
                raise self.unsupported("a vector register as a lane mask")
            if width == 64:
                if value.count < 2:
                    return words[0].astype(np.uint64)
                return words[0].astype(np.uint64) | words[1].astype(np.uint64) << np.uint64(32)
            result = words[0] >> np.uint32(16) if operand.half == "h" else words[0]
            return result.astype(UNSIGNED[width])
        plain = Operand(value)
        if type == b1:
            return wave.lanes(self.scalar(plain, Type("u", wave.size)))
        bits = self.scalar(plain, type)
        return np.full(wave.size, bits & ((1 << width) - 1), UNSIGNED[width])

    def set_vector(self, operand: Operand, bits: Bits, width: int, write: Bits) -> None:
        """Write whole registers (32 or 64 bits per lane) in the lanes of `write`."""
        register = operand.value
        if not isinstance(register, Register) or register.file not in ("v", "a"):
            raise self.unsupported("a scalar destination of a vector result")
        words = self.words(register)
        if width == 64:
            wide = bits.astype(np.uint64)
            words[0][write] = (wide & np.uint64(MASK32)).astype(np.uint32)[write]
            words[1][write] = (wide >> np.uint64(32)).astype(np.uint32)[write]
        else:
            words[0][write] = bits.astype(np.uint32)[write]

    def unsupported(self, what: str) -> UnsupportedInstruction:
        where = f" (line {self.item.where.line})" if self.item.where else ""
        return UnsupportedInstruction(f"the reference machine does not execute {self.item.text!r}{where}: {what}.")


# --------------------------------------------------------------------------------------------- execution

_FLUSHED_PACKED = {"f16": Type("f", 16), "bf16": Type("bf", 16), "f32": Type("f", 32)}


class _Execute(Operands):
    """Executes one instruction on one wave. Each method of a family returns writes to be done afterwards, so that
    both halves of a dual instruction read before either writes."""

    def run(self) -> None:
        """Do it; `wave.pc` already points to the next instruction, jumps overwrite it."""
        item = self.item
        writes = self.plan(item)
        if item.pair is not None:
            self.item = item.pair
            writes += self.plan(item.pair)
            self.item = item
        for write in writes:
            write()

    def plan(self, item: Instruction) -> list[Callable[[], None]]:
        row = self.machine.table.get(item.mnemonic)
        if row is None:
            raise self.unsupported("it has no row")
        if isinstance(row, Row):
            return self.scalar_row(row) if row.unit == "salu" else self.vector_row(row)
        if isinstance(row, Memory):
            return self.memory(row)
        if isinstance(row, CrossLane):
            return self.cross_lane(row)
        if isinstance(row, Matrix):
            return self.matrix(row)
        return self.control(row)

    # -- rows that are expressions

    def scalar_row(self, row: Row) -> list[Callable[[], None]]:
        wave, item = self.wave, self.item
        results, values = row.graph()
        destinations, sources = self.split(row)
        arguments = []
        position = 0
        for parameter in row.parameters:
            if parameter.implicit:
                bits = self.implicit_scalar(parameter, destinations)
            else:
                if position >= len(sources):
                    raise self.unsupported(f"it has {len(sources)} sources, its row more")
                bits = self.scalar(sources[position], parameter.type)
                position += 1
            given = np.array([bits], bool if parameter.type == b1 else UNSIGNED[max(8, parameter.type.width)])
            if parameter.type.is_float and row.float_mode and not denormals(wave.mode, parameter.type) & 1:
                given = flush(given, parameter.type)
            arguments.append(given)
        found = self.evaluate(row, values, arguments)
        writes: list[Callable[[], None]] = []
        named = iter(destinations)
        for result, value in zip(results, found, strict=True):
            if row.float_mode and result.type.is_float:
                modifiers = {k: v for k, v in item.modifiers.items() if k in ("mul", "div", "clamp")}
                value = output_modifiers(value, result.type, modifiers, wave.mode)
            number, width = int(value[0]), result.type.width
            if result.name in ("dst", "sdst"):
                target = next(named)
                writes.append(lambda t=target, n=number, w=width: self.set_scalar(t, n, w))  # type: ignore[misc]
            else:
                writes.append(lambda name=result.name, n=number, w=width: self.set_special(name, n, w))  # type: ignore[misc]
        return writes

    def implicit_scalar(self, parameter: Parameter, destinations: Sequence[Operand]) -> int:
        wave = self.wave
        name = parameter.name
        if name in ("dst", "sdst"):
            return self.scalar(Operand(destinations[0 if name == "dst" else 1].value), parameter.type)
        if name == "clamp":
            return int(bool(self.item.modifiers.get("clamp")))
        return int(getattr(wave, name)) & ((1 << parameter.type.width) - 1)

    def set_special(self, name: str, bits: int, width: int) -> None:
        wave = self.wave
        if name == "scc":
            wave.scc = bits & 1
        elif name in ("exec", "vcc"):
            mask = MASK64 if width == 64 else MASK32
            setattr(wave, name, getattr(wave, name) & ~mask | bits & mask)
        elif name == "m0":
            wave.m0 = bits & MASK32
        else:
            raise InternalError(f"row writes {name}")

    def split(self, row: Row) -> tuple[list[Operand], list[Operand]]:
        """Destination and source operands of the text."""
        results, _ = row.graph()
        count = sum(result.name in ("dst", "sdst") for result in results)
        operands: list[Operand] = []
        for operand in self.item.operands:
            register = operand.value
            if isinstance(register, Register) and register.count == 4 and register.file != "special":
                # a 128-bit operand (v_mqsad_u32_u8) is two of 64 bits
                operands += [
                    replace(operand, value=replace(register, index=register.index + i, count=2)) for i in (0, 2)
                ]
            else:
                operands.append(operand)
        explicit = sum(not p.implicit for p in row.parameters)
        if row.writes_exec and count == 0 and len(operands) == explicit + 1:
            operands = operands[1:]  # gfx10 and later write EXEC alone; e64 text may name it
        return operands[:count], operands[count:]

    def evaluate(self, row: Row, values: Sequence[Any], arguments: Sequence[Bits]) -> list[Bits]:
        """The row's expressions on bits; results as bits, b1 as booleans."""
        typed = [a if p.type == b1 else a.view(dtype(p.type)) for p, a in zip(row.parameters, arguments, strict=True)]
        found = evaluate(values, typed, self.wave.mode & (15 | 1 << 23) if row.rounds else 0)
        return [
            np.asarray(x) if v.type == b1 else np.ascontiguousarray(x).view(UNSIGNED[v.type.width])
            for v, x in zip(values, found, strict=True)
        ]

    def vector_row(self, row: Row) -> list[Callable[[], None]]:
        wave, item = self.wave, self.item
        results, values = row.graph()
        destinations, sources = self.split(row)
        if wave.gpr_indexing:
            destinations = [self.indexed(o, 8) for o in destinations]
            sources = [self.indexed(o, 1 << i) for i, o in enumerate(sources)]
        explicit = [p for p in row.parameters if not p.implicit]
        if len(sources) < len(explicit):
            raise self.unsupported(f"it has {len(sources)} sources, its row {len(explicit)}")
        write = allowed = wave.active()
        path = dpp_source(item.modifiers, wave.size)
        arguments: list[Bits] = []
        position = 0
        for parameter in row.parameters:
            if parameter.implicit:
                arguments.append(self.implicit_vector(parameter, row, destinations))
                continue
            move = None
            if path is not None and position == 0:
                allowed = write & self.dpp_allowed()
                write = allowed & self.dpp_enabled(path[0])
                move = path[0]
            bits = self.source(row, parameter, sources[position], position, move)
            if parameter.type.is_float and row.float_mode and not denormals(wave.mode, parameter.type) & 1:
                bits = flush(bits, parameter.type)
            arguments.append(bits)
            position += 1
        found = self.evaluate(row, values, arguments)
        writes: list[Callable[[], None]] = []
        named = iter(destinations)
        for number, (result, bits) in enumerate(zip(results, found, strict=True)):
            if result.type == b1:
                writes.append(self.mask_result(row, result.name, bits.astype(bool), named, write, allowed))
            else:
                writes.append(self.vector_result(row, result.name, result.type, bits, named, write, number))
        return writes

    def indexed(self, operand: Operand, enable: int) -> Operand:
        """gfx9's register indexing: m0[7:0] is added to a VGPR number where m0[15:12] has the operand's bit."""
        register, m0 = operand.value, self.wave.m0
        if not (m0 >> 12 & enable) or not isinstance(register, Register) or register.file != "v":
            return operand
        return replace(operand, value=replace(register, index=register.index + (m0 & 255)))

    def vector_result(
        self, row: Row, name: str, type: Type, bits: Bits, named: Any, write: Bits, number: int
    ) -> Callable[[], None]:
        wave = self.wave
        explicit = name in ("dst", "sdst")
        if not explicit:
            scalar = int(bits[0])
            return lambda: self.set_special(name, scalar, type.width)
        target = next(named)
        item = self.item
        takes_clamp = any(p.name == "clamp" for p in row.parameters)
        if row.float_mode and type.is_float:
            modifiers = {k: v for k, v in item.modifiers.items() if k in ("mul", "div", "clamp") and not takes_clamp}
            bits = output_modifiers(bits, type, modifiers, wave.mode)
        elif row.packed == "pairs" and row.element in _FLUSHED_PACKED:
            bits = self.packed_result(bits, type, _FLUSHED_PACKED[row.element], row)
        if type.width == 64:
            return lambda: self.set_vector(target, bits, 64, write)
        register = target.value
        if not isinstance(register, Register) or register.file not in ("v", "a"):
            raise self.unsupported("a scalar destination of a vector result")
        old = self.words(register)[0].copy()
        if "dst_sel" in item.modifiers or item.encoding == "sdwa":
            words = sdwa_insert(
                old,
                bits.astype(np.uint32),
                str(item.modifiers.get("dst_sel", "DWORD")),
                str(item.modifiers.get("dst_unused", "UNUSED_PRESERVE")),
            )
        elif type.width <= 16:
            words = self.place_half(row, old, bits.astype(np.uint32), target)
        else:
            words = bits.astype(np.uint32)
        return lambda: self.set_vector(target, words, 32, write)

    def mask_result(
        self, row: Row, name: str, bits: Bits, named: Any, write: Bits, allowed: Bits
    ) -> Callable[[], None]:
        """A lane mask. Inactive lanes, and those that DPP's row and bank masks exclude, give 0; an active lane without
        a valid DPP source (it is not in `write`) keeps its bit."""
        wave = self.wave
        target = next(named) if name in ("dst", "sdst") else None
        if name == "scc":
            raise InternalError(f"{row.mnemonic} writes SCC")
        if target is not None:
            kept = write.all() or (isinstance(target.value, Register) and target.value.name == "null")
            old = 0 if kept else self.scalar(Operand(target.value), Type("u", wave.size))
        else:
            old = int(getattr(wave, name)) & wave.full
        mask = mask_of(np.where(write, bits, wave.lanes(old)) & allowed)
        if target is not None:
            return lambda: self.set_scalar(target, mask, wave.size)
        return lambda: self.set_special(name, mask, wave.size)

    def place_half(self, row: Row, old: Bits, bits: Bits, target: Operand) -> Bits:
        """A 16-bit result in its half of the register; `isa.high_half` says what becomes of the other."""
        op_sel = self.item.modifiers.get("op_sel", ())
        explicit = sum(not p.implicit for p in row.parameters)
        high = target.half == "h" or (isinstance(op_sel, tuple) and len(op_sel) > explicit and bool(op_sel[-1]))
        high = high or row.into_high
        if high:
            return old & np.uint32(0xFFFF) | bits << np.uint32(16)
        keep = target.half == "l" or isa.high_half(self.machine.program.arch, row) == "keep"
        return (old & np.uint32(0xFFFF0000) | bits) if keep else bits

    def packed_result(self, bits: Bits, type: Type, element: Type, row: Row) -> Bits:
        """Clamp and denormal flushing of each half of a packed result."""
        if type.width != 2 * element.width:
            return bits
        unsigned = UNSIGNED[element.width]
        takes_clamp = any(p.name == "clamp" for p in row.parameters)
        modifiers = {} if takes_clamp else {"clamp": self.item.modifiers.get("clamp")}
        shift = bits.dtype.type(element.width)
        low = output_modifiers(bits.astype(unsigned), element, modifiers, self.wave.mode)
        high = output_modifiers((bits >> shift).astype(unsigned), element, modifiers, self.wave.mode)
        return low.astype(bits.dtype) | high.astype(bits.dtype) << shift

    def implicit_vector(self, parameter: Parameter, row: Row, destinations: Sequence[Operand]) -> Bits:
        wave, name, type = self.wave, parameter.name, parameter.type
        if name in ("dst", "sdst"):
            operand = destinations[0 if name == "dst" else 1]
            op_sel = self.item.modifiers.get("op_sel", ())
            explicit = sum(not p.implicit for p in row.parameters)
            if type.width == 16 and isinstance(op_sel, tuple) and len(op_sel) > explicit and op_sel[-1]:
                operand = Operand(operand.value, half="h")
            bits = self.raw(operand, type)
            if type.is_float and row.float_mode and not denormals(wave.mode, type) & 1:
                bits = flush(bits, type)
            return bits
        if name == "lane":
            return np.arange(wave.size, dtype=np.uint32)
        if name == "vcc" and type == b1:
            return wave.lanes(wave.vcc)
        if name == "clamp":
            return np.full(wave.size, bool(self.item.modifiers.get("clamp")))
        if name in ("neg", "op_sel"):
            flags = self.item.modifiers.get("neg_lo" if name == "neg" else name, ())
            number = sum(1 << i for i, on in enumerate(flags if isinstance(flags, tuple) else ()) if on)
            return np.full(wave.size, number, np.uint32)
        if name in ("bitop3", "byte_sel"):
            return np.full(wave.size, self.offset(name), np.uint32)
        number = int(getattr(wave, name))
        if type == b1:
            return np.full(wave.size, bool(number))
        return np.full(wave.size, number & ((1 << type.width) - 1), UNSIGNED[type.width])

    def dpp_valid(self, source: list[int]) -> Bits:
        """The lanes whose DPP source exists and may be read: active, or any with fi."""
        active = np.full(self.wave.size, True) if self.item.modifiers.get("fi") else self.wave.active()
        return np.array([s >= 0 and bool(active[max(s, 0)]) for s in source])

    def dpp_enabled(self, source: list[int]) -> Bits:
        """The lanes that have a valid source or need none."""
        modifiers = self.item.modifiers
        zeroes = modifiers.get("bound_ctrl") or "dpp8" in modifiers
        return np.full(self.wave.size, True) if zeroes else self.dpp_valid(source)

    def dpp_allowed(self) -> Bits:
        """The lanes that DPP's row and bank masks let the instruction write."""
        modifiers = self.item.modifiers
        lane = np.arange(self.wave.size)
        rows, banks = (modifiers.get(name, 15) for name in ("row_mask", "bank_mask"))
        if not isinstance(rows, int) or not isinstance(banks, int):
            raise self.unsupported("these DPP masks")
        return ((rows >> (lane // 16)) & 1).astype(bool) & ((banks >> (lane // 4 % 4)) & 1).astype(bool)

    def through_dpp(self, bits: Bits, source: list[int]) -> Bits:
        """A register as DPP moves it; 0 where there is no source lane."""
        moved = bits[np.array([max(s, 0) for s in source])]
        return np.where(self.dpp_valid(source), moved, np.zeros_like(moved))

    def source(
        self, row: Row, parameter: Parameter, operand: Operand, position: int, move: list[int] | None = None
    ) -> Bits:
        """One explicit source: halves, packing, SDWA selection, DPP's movement, then abs and neg (or sext)."""
        modifiers, type = self.item.modifiers, parameter.type

        def flag(name: str, default: int) -> int:
            values = modifiers.get(name, ())
            return values[position] if isinstance(values, tuple) and position < len(values) else default

        if row.packed == "pairs" and type in (u32, u64):
            return self.packed_source(row, type, operand, flag)
        if row.packed == "mix" and type.width == 32:
            if flag("op_sel_hi", 0):
                half = self.sixteen(operand, flag("op_sel", 0))
                bits = from_float64(to_float64(half, Type("f", 16)), type)
            else:
                bits = self.raw(operand, type)
            if flag("neg_hi", 0) or operand.abs:
                bits = bits & np.uint32(0x7FFFFFFF)
            if flag("neg_lo", 0) ^ operand.neg:
                bits = bits ^ np.uint32(0x80000000)
            return bits
        select = modifiers.get(f"src{position}_sel")
        register = operand.value
        is_vector = isinstance(register, Register) and register.file in ("v", "a")
        if (select or self.item.encoding == "sdwa") and type.width <= 32 and type != b1:
            if is_vector:
                words = self.words(register)[0]  # type: ignore[arg-type]
            else:
                words = np.full(self.wave.size, self.scalar(Operand(register), u32), np.uint32)
            words = sdwa_select(words, str(select or "DWORD"), operand.sext)
            bits = words.astype(UNSIGNED[type.width])
        elif type.width == 16 and isinstance(register, Register) and not operand.half and flag("op_sel", 0):
            bits = (self.raw(Operand(register), u32) >> np.uint32(16)).astype(np.uint16)
        else:
            bits = self.raw(operand, type)
        if move is not None:
            bits = self.through_dpp(bits, move)
        if type != b1:
            sign = bits.dtype.type(1 << (type.width - 1))
            if operand.abs:
                bits = bits & ~sign
            if operand.neg or (row.packed == "pairs" and flag("neg_lo", 0)):
                bits = bits ^ sign
        return bits

    def sixteen(self, operand: Operand, high: int) -> Bits:
        """One 16-bit half of a source; constants have their 16-bit float form."""
        if isinstance(operand.value, Register):
            words = self.raw(Operand(operand.value), u32)
            return (words >> np.uint32(16) if high else words).astype(np.uint16)
        bits = self.scalar(Operand(operand.value), Type("f", 16) if isinstance(operand.value, Literal) else u16)
        return np.full(self.wave.size, bits, np.uint16)

    def packed_source(self, row: Row, type: Type, operand: Operand, flag: Callable[[str, int], int]) -> Bits:
        value = operand.value
        half = type.width // 2
        if isinstance(value, Register):
            bits = self.raw(Operand(value), type)
        elif isinstance(value, Literal):
            number = self.packed_constant(row, value, half)
            if half == 32:
                number |= number << 32
            bits = np.full(self.wave.size, number, UNSIGNED[type.width])
        else:
            bits = np.full(self.wave.size, self.scalar(operand, type), UNSIGNED[type.width])
        wide = bits.dtype.type
        ones = wide((1 << half) - 1)
        parts = (bits & ones, bits >> wide(half))
        low, high = parts[flag("op_sel", 0)], parts[flag("op_sel_hi", 1)]
        sign = wide(1 << (half - 1))
        if not any(p.name == "neg" for p in row.parameters):
            low = low ^ sign if flag("neg_lo", 0) else low
            high = high ^ sign if flag("neg_hi", 0) else high
        element = _FLUSHED_PACKED.get(row.element)
        if element is not None and element.width == half and not denormals(self.wave.mode, element) & 1:
            unsigned = UNSIGNED[half]
            low = flush(low.astype(unsigned), element).astype(bits.dtype)
            high = flush(high.astype(unsigned), element).astype(bits.dtype)
        return low | high << wide(half)

    def packed_constant(self, row: Row, value: Literal, half: int) -> int:
        """A constant's bits in a packed source: a 16-bit float is in the low half; for integers a float is an f32."""
        if half == 32:
            return literal_bits(value, Type("f" if row.element == "f32" else "u", 32))
        number = value.value
        if value.is_float:
            return literal_bits(value, {"f16": Type("f", 16), "bf16": Type("bf", 16)}.get(row.element, u32))
        if -16 <= int(number) <= 64:
            return int(number) & (0xFFFF if int(number) >= 0 else MASK32)
        return int(number) & MASK32

    # -- memory

    def memory(self, row: Memory) -> list[Callable[[], None]]:
        if row.action == "prefetch":
            return []
        if row.space == "scalar":
            return self.scalar_memory(row)
        if self.item.modifiers.get("gds"):
            raise self.unsupported("global data share")
        if row.space == "lds":
            data, addresses = self.lds_operands(row)
        elif row.space == "buffer":
            data, addresses = self.buffer_operands(row)
        else:
            data, addresses = self.flat_operands(row)
        if row.action == "load" and (row.to_lds or (row.space == "buffer" and self.item.modifiers.get("lds"))):
            self.load_into_lds(row, addresses)
            return []
        if row.action == "load":
            return self.load_vector(row, data[0], addresses)
        if row.action == "store":
            self.store_vector(row, data, addresses)
            return []
        if row.implied == "count":
            return self.counted(row, data[0], addresses)
        return self.atomic(row, data, addresses)

    def offset(self, name: str = "offset") -> int:
        value = self.item.modifiers.get(name, 0)
        if not isinstance(value, int):
            raise self.unsupported(f"{name}:{value}")
        return int(value)

    def scalar_memory(self, row: Memory) -> list[Callable[[], None]]:
        target, base, *rest = self.item.operands
        if not isinstance(base.value, Register):
            raise self.unsupported("this address")
        amount = self.offset()
        for operand in rest:
            if not (isinstance(operand.value, Keyword) and operand.value.text == "off"):
                number = self.scalar(operand, u32)
                if isinstance(operand.value, Literal) and int(operand.value.value) < 0:
                    number -= 1 << 32
                amount += number
        start = self.scalar_register(base.value, 64) & (MASK64 if base.value.count == 2 else (1 << 48) - 1)
        size = row.element * row.count // 8
        room = size
        if base.value.count == 4:  # a buffer: words outside it are 0, stores and atomics outside do nothing
            amount &= ~3
            words = [self.scalar_register(replace(base.value, index=base.value.index + n, count=1), 32) for n in (1, 2)]
            room = words[1] * max(1, words[0] >> 16 & 0x3FFF) - amount
        address = (start + amount) & MASK64
        if row.action != "load":
            return self.scalar_change(row, target, address & ~3) if room >= size else self.scalar_nothing(row, target)
        aligned = address & ~(min(4, size) - 1) if size >= 4 else address
        inside = max(0, min(size, room)) & ~3 if size >= 4 else size
        bits = 0
        if inside:
            found = self.device(None, "read", lambda: self.machine.memory.read(aligned, inside))
            bits = int.from_bytes(found, "little")
            self.note(None, aligned, inside, bits, "read")
        if size < 4:
            if row.extend == "sign" and bits >> (8 * size - 1):
                bits -= 1 << 8 * size
            return [lambda: self.set_scalar(target, bits & MASK32, 32)]
        return [lambda: self.set_scalar(target, bits, 8 * size)]

    def scalar_nothing(self, row: Memory, target: Operand) -> list[Callable[[], None]]:
        """A store or atomic outside a buffer; an atomic that gives the old value gives 0."""
        returns = row.action == "atomic" and self.item.modifiers.get("glc")
        return [lambda: self.set_scalar(target, 0, row.element)] if returns else []

    def scalar_change(self, row: Memory, target: Operand, address: int) -> list[Callable[[], None]]:
        """A scalar store or atomic; the data are scalar registers."""
        size, register = row.element * row.count // 8, target.value
        assert isinstance(register, Register)
        data = self.scalar(Operand(register), Type("u", 32 * register.count))
        if row.action == "store":
            self.device(None, "write", lambda: self.machine.memory.write(address, data.to_bytes(size, "little")))
            self.note(None, address, size, data & (1 << 8 * size) - 1, "write")
            return []
        assert row.combine is not None
        old = int.from_bytes(self.device(None, "atomic", lambda: self.machine.memory.read(address, size)), "little")
        given = [data >> 8 * size * n & (1 << 8 * size) - 1 for n in range(len(row.combine.parameters) - 1)]
        new = self.combined(row.combine, [old, *given]).to_bytes(size, "little")
        self.device(None, "atomic", lambda: self.machine.memory.write(address, new))
        self.note(None, address, size, int.from_bytes(new, "little"), "atomic")
        return [lambda: self.set_scalar(target, old, 8 * size)] if self.item.modifiers.get("glc") else []

    def device(self, lane: int | None, access: str, action: Callable[[], Any]) -> Any:
        try:
            return action()
        except BadAccess as bad:
            raise _Stop(bad.kind, lane, access, bad.detail, bad) from None

    def flat_operands(self, row: Memory) -> tuple[list[Operand], dict[int, int]]:
        """Data operands and, for each active lane, the generic address (scratch: PRIVATE_APERTURE | offset)."""
        wave = self.wave
        operands = list(self.item.operands)
        data: list[Operand] = []
        has_saddr = row.space != "flat"
        if row.implied == "lane":
            base = 0 if isinstance(operands[1].value, Keyword) else self.scalar(operands[1], u64)
            active = np.flatnonzero(wave.active()).tolist()
            return operands[:1], {lane: (base + self.offset() + 4 * lane) & MASK64 for lane in active}
        returns = row.action == "load" or (row.action == "atomic" and len(operands) > (3 if has_saddr else 2))
        if returns and not row.to_lds:
            data.append(operands.pop(0))
        vaddr = operands.pop(0)
        saddr = operands.pop() if has_saddr else None
        data += operands
        base = 0
        if saddr is not None and isinstance(saddr.value, Register) and saddr.value.name != "null":
            base = self.scalar(saddr, u32 if row.space == "scratch" else u64)
            wide = False
        else:
            wide = row.space != "scratch"
        if isinstance(vaddr.value, Keyword):
            offsets = np.zeros(wave.size, np.uint64)
        else:
            offsets = self.raw(vaddr, u64 if wide or row.space == "flat" else u32).astype(np.uint64)
        amount = self.offset() + base
        addresses = {}
        for lane in np.flatnonzero(wave.active()).tolist():
            address = int(offsets[lane]) + amount
            if row.space == "scratch":
                addresses[lane] = dispatch.PRIVATE_APERTURE | address & MASK32
            else:
                addresses[lane] = address & MASK64
        return data, addresses

    def lds_operands(self, row: Memory) -> tuple[list[Operand], dict[int, int]]:
        wave = self.wave
        operands = list(self.item.operands)
        data = []
        if row.action == "load" or row.returns:
            data.append(operands.pop(0))
        if row.implied:
            step = np.uint32(4 if row.implied == "lane" else 0)
            offsets = np.arange(wave.size, dtype=np.uint32) * step + np.uint32(wave.m0 & 0xFFFF)
        elif not operands:
            raise self.unsupported("this LDS address")
        else:
            offsets = self.raw(operands.pop(0), u32)
        data += operands
        amount = 0 if row.two_address else self.offset()
        active = np.flatnonzero(wave.active()).tolist()
        return data, {
            lane: dispatch.SHARED_APERTURE | (int(offsets[lane]) + amount) & MASK32 for lane in active
        }  # 32-bit sum: an LDS offset that wraps is out of bounds like any other

    def buffer_operands(self, row: Memory) -> tuple[list[Operand], dict[int, int]]:
        """The data operand and the address of each active lane whose access lies wholly in the buffer (isa/buffers.py);
        `self.partial` has the others that begin in it, with the number of bytes that do."""
        wave, item = self.wave, self.item
        operands = list(item.operands)
        data = [] if item.modifiers.get("lds") else [operands.pop(0)]
        vaddr, resource, soffset = operands[:3]
        if not isinstance(resource.value, Register) or resource.value.count != 4:
            raise self.unsupported("this buffer resource")
        words = [wave.s[resource.value.index + i] for i in range(4)]
        rules = isa.generation_of(self.machine.program.arch).buffers
        base = words[0] | (words[1] & 0xFFFF) << 32
        stride, records = words[1] >> 16 & 0x3FFF, words[2]
        element = rules.elements[words[1] >> rules.swizzle]
        select, index_stride = words[3] >> SELECT & 3, 8 << (words[3] >> INDEX_STRIDE & 3)
        index: Bits = np.zeros(wave.size, np.uint32)
        offset: Bits = np.zeros(wave.size, np.uint32)
        structured = bool(item.modifiers.get("idxen"))
        if not isinstance(vaddr.value, Keyword) and isinstance(vaddr.value, Register):
            parts = [self.words(vaddr.value)[i] for i in range(vaddr.value.count)]
            if structured:
                index = parts.pop(0)
            if item.modifiers.get("offen"):
                offset = parts.pop(0)
        scalar = self.scalar(soffset, u32)
        size = row.element * row.count // 8
        ends = [size] if row.action == "atomic" or row.element < 32 else [4 * (n + 1) for n in range(size // 4)]
        addresses: dict[int, int] = {}
        has_scratch = self.machine.descriptor.directives.get("user_sgpr_private_segment_buffer")
        if has_scratch and words[3] == dispatch.SCRATCH_FLAGS:  # the scalar offset counts for all lanes together
            for lane in np.flatnonzero(wave.active()).tolist():
                place = int(offset[lane]) + self.offset() + scalar // wave.size
                addresses[lane] = dispatch.PRIVATE_APERTURE | place & MASK32
            return data, addresses
        for lane in np.flatnonzero(wave.active()).tolist():
            at = int(index[lane]) + (lane if words[3] >> ADD_THREAD & 1 else 0)
            within = int(offset[lane]) + self.offset()
            place = linear(stride, element, index_stride, at, within)
            good = [
                end for end in ends
                if inside(rules, select, records, stride, element, structured, at, within, scalar, place, end)
            ]  # fmt: skip
            address = (base + scalar + place) & MASK64
            if good == ends:
                addresses[lane] = address
            elif good:
                self.partial[lane] = address, max(good)
        return data, addresses

    def place(self, address: int, size: int, lane: int, access: str) -> tuple[Any, int]:
        """(LDS or this lane's scratch as a byte array, offset) for an aperture address, or (None, address)."""
        aperture, offset = address & dispatch.APERTURE_MASK, address & MASK32
        if aperture == dispatch.SHARED_APERTURE:
            lds = self.machine.lds
            if offset + size > len(lds):
                detail = f"LDS offset {offset}, {size} bytes; the workgroup has {len(lds)} bytes of LDS"
                raise _Stop("lds out of bounds", lane, access, detail, BadAccess("lds out of bounds", offset, size))
            return lds, offset
        if aperture == dispatch.PRIVATE_APERTURE:
            scratch = self.wave.scratch[lane]
            if offset + size > len(scratch):
                detail = f"scratch offset {offset}, {size} bytes; a thread has {len(scratch)} bytes of scratch"
                raise _Stop(
                    "scratch out of bounds", lane, access, detail, BadAccess("scratch out of bounds", offset, size)
                )
            return scratch, offset
        return None, address

    def fetch(self, address: int, size: int, lane: int, access: str = "read") -> int:
        store, offset = self.place(address, size, lane, access)
        if store is None:
            data = self.device(lane, access, lambda: self.machine.memory.read(offset, size))
        else:
            data = bytes(store[offset : offset + size])
        bits = int.from_bytes(data, "little")
        self.note(lane, address, size, bits, access)
        return bits

    def note(self, lane: int | None, address: int, size: int, bits: int, access: str) -> None:
        """Keep an access for who follows a wave: all of that wave's, and what others write to LDS."""
        if self.machine.touched is not None and (
            self.wave.number == self.machine.followed
            or (access != "read" and address & dispatch.APERTURE_MASK == dispatch.SHARED_APERTURE)
        ):
            self.machine.touched.append(Touch(self.wave.number, lane, address, size, bits, access))

    def put(self, address: int, bits: int, size: int, lane: int, access: str = "write") -> None:
        store, offset = self.place(address, size, lane, access)
        data = (bits & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        if store is None:
            self.device(lane, access, lambda: self.machine.memory.write(offset, data))
        elif isinstance(store, bytearray):
            store[offset : offset + size] = data
        else:
            store[offset : offset + size] = np.frombuffer(data, np.uint8)
        self.note(lane, address, size, int.from_bytes(data, "little"), access)

    def both(self, row: Memory, address: int) -> tuple[int, int]:
        """The two addresses of a DS two-address instruction."""
        first, second = (address + self.offset(f"offset{i}") * row.stride for i in (0, 1))
        aperture = address & dispatch.APERTURE_MASK
        return aperture | first & MASK32, aperture | second & MASK32

    def load_vector(self, row: Memory, target: Operand, addresses: Mapping[int, int]) -> list[Callable[[], None]]:
        register = target.value
        if not isinstance(register, Register) or register.file not in ("v", "a"):
            raise self.unsupported("this destination")
        words = self.words(register)
        size = row.element // 8
        values: dict[int, int] = {}
        for lane in np.flatnonzero(self.wave.active()).tolist():
            if lane in self.partial:
                values[lane] = self.fetch(*self.partial[lane], lane)
            elif lane not in addresses:
                values[lane] = 0  # a buffer access outside the buffer
            elif row.two_address:
                first, second = self.both(row, addresses[lane])
                values[lane] = self.fetch(first, size, lane) | self.fetch(second, size, lane) << row.element
            else:
                bits = self.fetch(addresses[lane], size * row.count, lane)
                if row.element < 32 and row.count == 1 and row.extend == "sign" and bits >> (row.element - 1):
                    bits -= 1 << row.element
                values[lane] = bits

        def write() -> None:
            for lane, bits in values.items():
                if row.half:
                    old = int(words[0, lane])
                    low, high = bits & 0xFFFF, bits << 16 & 0xFFFF0000
                    words[0, lane] = old & 0xFFFF0000 | low if row.half == "lo" else old & 0xFFFF | high
                else:
                    for i in range(len(words)):
                        words[i, lane] = bits >> 32 * i & MASK32

        return [write]

    def load_into_lds(self, row: Memory, addresses: Mapping[int, int]) -> None:
        """A load whose dwords go to LDS at m0[15:0] + offset, one lane's behind another's; 0 from outside a buffer."""
        size = row.element * row.count // 8
        start, step = (self.wave.m0 & 0xFFFF) + self.offset(), max(4, size)
        for lane in np.flatnonzero(self.wave.active()).tolist():
            if lane in self.partial:
                bits = self.fetch(*self.partial[lane], lane)
            else:
                bits = self.fetch(addresses[lane], size, lane) if lane in addresses else 0
            if row.extend == "sign" and bits >> (row.element - 1):
                bits -= 1 << row.element
            self.put(dispatch.SHARED_APERTURE | (start + step * lane) & MASK32, bits, step, lane)

    def data_bits(self, operand: Operand, lane: int) -> int:
        register = operand.value
        if not isinstance(register, Register) or register.file not in ("v", "a"):
            raise self.unsupported("this data operand")
        words = self.words(register)
        return sum(int(words[i, lane]) << 32 * i for i in range(register.count))

    def store_vector(self, row: Memory, data: Sequence[Operand], addresses: Mapping[int, int]) -> None:
        size = row.element // 8
        for lane, (address, count) in self.partial.items():
            self.put(address, self.data_bits(data[0], lane), count, lane)
        for lane, address in addresses.items():
            if row.two_address:
                for place, operand in zip(self.both(row, address), data, strict=True):
                    self.put(place, self.data_bits(operand, lane), size, lane)
            else:
                bits = self.data_bits(data[0], lane)
                self.put(address, bits >> 16 if row.half == "hi" else bits, size * row.count, lane)

    def atomic(self, row: Memory, data: list[Operand], addresses: Mapping[int, int]) -> list[Callable[[], None]]:
        """Lane after lane, in the order of lane numbers: read, combine, write."""
        combine = row.combine
        if combine is None and not row.two_address:
            raise self.unsupported("its row has no operation")
        if row.space == "lds":
            returns = row.returns
        elif row.space == "buffer":
            returns = bool(self.item.modifiers.get("sc0") or self.item.modifiers.get("glc"))
        else:
            returns = len(data) > 1
        target = data[0] if returns else None
        sources = data if row.space == "buffer" else data[1:] if returns else data
        size = row.element * (1 if row.two_address else row.count) // 8
        old_values: dict[int, int] = {}
        for lane, address in addresses.items():
            if row.two_address:  # exchange of two places
                old = 0
                for i, place in enumerate(self.both(row, address)):
                    self.aligned(place, size, lane)
                    old |= self.fetch(place, size, lane, "atomic") << row.element * i
                    self.put(place, self.data_bits(sources[i], lane), size, lane, "atomic")
                old_values[lane] = old
                continue
            assert combine is not None
            self.aligned(address, size, lane)
            old = self.fetch(address, size, lane, "atomic")
            bits = [old]
            if len(sources) == 1:
                packed = self.data_bits(sources[0], lane)
                width = 8 * size
                bits += [packed >> width * i & (1 << width) - 1 for i in range(len(combine.parameters) - 1)]
            else:
                bits += [self.data_bits(operand, lane) for operand in sources]
            self.put(address, self.combined(combine, bits), size, lane, "atomic")
            old_values[lane] = old
        if target is None:
            return []
        if row.space == "buffer":  # lanes outside the buffer get 0
            old_values |= dict.fromkeys(set(np.flatnonzero(self.wave.active()).tolist()) - set(addresses), 0)
        register = target.value
        assert isinstance(register, Register)
        words = self.words(register)

        def write() -> None:
            for lane, bits in old_values.items():
                for i in range(max(1, min(len(words), row.element * row.count // 32))):
                    words[i, lane] = bits >> 32 * i & MASK32

        return [write]

    def counted(self, row: Memory, target: Operand, addresses: Mapping[int, int]) -> list[Callable[[], None]]:
        """ds_append, ds_consume: one read-modify-write for the wave; every active lane gets the old value."""
        if not addresses:
            return []
        assert row.combine is not None
        lane, address = next(iter(addresses.items()))
        self.aligned(address, 4, lane)
        old = self.fetch(address, 4, lane, "atomic")
        self.put(address, self.combined(row.combine, [old, len(addresses)]), 4, lane, "atomic")
        return [self.vector_write(target, np.full(self.wave.size, old, np.uint32), self.wave.active())]

    def aligned(self, address: int, size: int, lane: int) -> None:
        if address % size:
            bad = BadAccess("misaligned", address, size)
            raise _Stop("misaligned", lane, "atomic", f"an atomic of {size} bytes needs a multiple of {size}", bad)

    def combined(self, combine: Row, bits: Sequence[int]) -> int:
        results, values = combine.graph()
        del results
        arguments = [
            np.array([b & ((1 << p.type.width) - 1)], UNSIGNED[p.type.width])
            for p, b in zip(combine.parameters, bits, strict=True)
        ]
        return int(self.evaluate(combine, values, arguments)[0][0])

    # -- between lanes

    def cross_lane(self, row: CrossLane) -> list[Callable[[], None]]:
        wave, operands = self.wave, self.item.operands
        lanes = range(wave.size)
        if row.kind in ("readlane", "readfirstlane"):
            if row.kind == "readlane":
                lane = self.scalar(operands[2], u32) % wave.size
            else:
                mask = wave.exec & wave.full
                lane = (mask & -mask).bit_length() - 1 if mask else 0
            source = operands[1]
            is_scalar = not (isinstance(source.value, Register) and source.value.file in ("v", "a"))
            bits = self.scalar(source, u32) if is_scalar else int(self.raw(source, u32)[lane])
            return [lambda: self.set_scalar(operands[0], bits, 32)]
        if row.kind == "movrelsd_2" and row.unit == "salu":
            bits = self.scalar(_moved(operands[1], wave.m0 & 1023), u32)
            return [lambda: self.set_scalar(_moved(operands[0], wave.m0 >> 16 & 1023), bits, 32)]
        if row.indexed and row.unit == "salu":
            width = row.width
            from_, to = (wave.m0, 0) if row.kind == "movrels" else (0, wave.m0)
            bits = self.scalar(_moved(operands[1], from_), Type("u", width))
            return [lambda: self.set_scalar(_moved(operands[0], to), bits, width)]
        target = operands[0].value
        if not isinstance(target, Register) or target.file not in ("v", "a"):
            raise self.unsupported("this destination")
        words = self.words(target)
        if row.kind == "writelane":
            lane, bits = self.scalar(operands[2], u32) % wave.size, self.scalar(operands[1], u32)

            def write_lane() -> None:
                words[0, lane] = bits

            return [write_lane]
        active = wave.active()
        if row.kind == "permlane_swap":
            return [self.swap_rows(words[0], self.words(self.register(operands[1]))[0], row.distance)]
        if row.kind in ("ds_permute", "ds_bpermute"):
            addresses = self.raw(operands[1], u32).astype(np.int64) + self.offset()
            data = self.raw(operands[2], u32)
            chosen = (addresses // 4 % wave.size).tolist()
            found = np.zeros(wave.size, np.uint32)
            for lane in lanes:
                if row.kind != "ds_permute":
                    reads = active[chosen[lane]] or row.inactive
                    found[lane] = data[chosen[lane]] if reads else 0
                elif active[lane]:
                    found[chosen[lane]] = data[lane]
            return [self.vector_write(operands[0], found, active)]
        if row.kind == "ds_swizzle":
            data = self.raw(operands[1], u32)
            sources = [swizzled(lane, self.offset() & 0xFFFF) for lane in lanes]
            found = np.array([data[s] if active[s] else 0 for s in sources], np.uint32)
            return [self.vector_write(operands[0], found, active)]
        if row.kind == "permlane16":
            if row.by_lane:
                places = [int(place) & 15 for place in self.raw(operands[2], u32)]
            else:
                selectors = self.scalar(operands[2], u32) | self.scalar(operands[3], u32) << 32
                places = [selectors >> 4 * (lane & 15) & 15 for lane in lanes]
            op_sel = self.item.modifiers.get("op_sel", (0, 0))
            inactive_too, bound_zero = (bool(x) for x in op_sel[:2]) if isinstance(op_sel, tuple) else (False, False)
            data = self.raw(operands[1], u32)
            found, write = words[0].copy(), active.copy()
            for lane in lanes:
                row_start = lane & ~15 ^ (16 if row.other_row else 0)
                chosen_lane = row_start | places[lane]
                if inactive_too or active[chosen_lane]:
                    found[lane] = data[chosen_lane]
                elif bound_zero:
                    found[lane] = 0
                else:
                    write[lane] = False
            return [self.vector_write(operands[0], found, write)]
        if row.kind == "permlane64":
            if wave.size == 32:
                return []
            data = self.raw(operands[1], u32)
            found = np.concatenate([data[32:], data[:32]])
            return [self.vector_write(operands[0], found, active)]
        if row.kind in ("movrelsd_2", "swaprel"):
            source, place = _moved(operands[1], wave.m0 & 1023), _moved(operands[0], wave.m0 >> 16 & 1023)
            here, there = self.raw(place, u32).copy(), self.raw(source, u32).copy()
            exchanged = [self.vector_write(source, here, active)] if row.kind == "swaprel" else []
            return [self.vector_write(place, there, active), *exchanged]
        if row.kind in ("movrels", "movreld", "movrelsd"):
            from_ = wave.m0 if row.kind != "movreld" else 0
            to = wave.m0 if row.kind != "movrels" else 0
            return [self.vector_write(_moved(operands[0], to), self.raw(_moved(operands[1], from_), u32), active)]
        raise self.unsupported(f"cross-lane kind {row.kind}")

    def register(self, operand: Operand) -> Register:
        if not isinstance(operand.value, Register):
            raise self.unsupported("this operand")
        return operand.value

    def swap_rows(self, upper: Bits, lower: Bits, distance: int) -> Callable[[], None]:
        """v_permlane16_swap, v_permlane32_swap: rows `distance` apart of two registers change places."""
        active = self.wave.active()
        inactive_too, bound_zero = (bool(self.item.modifiers.get(name)) for name in ("fi", "bound_ctrl"))
        new_upper, new_lower = upper.copy(), lower.copy()
        for low in range(self.wave.size):
            high = low + distance
            if low & distance:
                continue
            for to, value, target, source in ((new_upper, lower[low], high, low), (new_lower, upper[high], low, high)):
                if active[target] and (active[source] or inactive_too):
                    to[target] = value
                elif active[target] and bound_zero:
                    to[target] = 0

        def write() -> None:
            upper[:], lower[:] = new_upper, new_lower

        return write

    def vector_write(self, target: Operand, bits: Bits, write: Bits) -> Callable[[], None]:
        return lambda: self.set_vector(target, bits, 32, write)

    # -- matrices

    def matrix(self, row: Matrix) -> list[Callable[[], None]]:
        """D = A B + C in all lanes, whatever EXEC says."""
        if len(self.item.operands) != 4:
            raise self.unsupported("a matrix instruction has the operands D, A, B and C")
        target, *sources = self.item.operands
        words = []
        if row.layout == "smfmac":
            return self.sparse_matrix(row, target, sources)
        for name, operand in zip("dabd", (target, *sources), strict=True):
            value = operand.value
            if isinstance(value, Register) and value.file in ("v", "a"):
                if value.count != registers(row, name, self.wave.size):
                    raise self.unsupported(f"{value.count} registers for one of its matrices")
                words.append(self.words(value))
            elif operand is sources[2]:
                words.append(constant(row, self.scalar(operand, MATRIX_TYPES[row.d]), self.wave.size))
            else:
                raise self.unsupported("an A, B or D that is no vector register")
        found = multiply(row, words[1], words[2], words[3], words[0], self.item.modifiers)

        def write() -> None:
            words[0][:] = found

        return [write]

    def sparse_matrix(self, row: Matrix, target: Operand, sources: Sequence[Operand]) -> list[Callable[[], None]]:
        """D += A B, where A is sparse and the last operand has its indices."""
        words = []
        for wanted, operand in zip(
            (*(registers(row, name, self.wave.size) for name in "dab"), 1), (target, *sources), strict=True
        ):
            value = operand.value
            if not isinstance(value, Register) or value.file not in ("v", "a") or value.count != wanted:
                raise self.unsupported("a matrix that is not in the registers it takes")
            words.append(self.words(value))
        modifiers = self.item.modifiers
        cbsz, abid = (n if isinstance(n := modifiers.get(name, 0), int) else 0 for name in ("cbsz", "abid"))
        first, bits = index_set(row, cbsz, abid)
        found = multiply(row, dense(row, words[1], words[3][0], first, bits), words[2], words[0], words[0], {})

        def write() -> None:
            words[0][:] = found

        return [write]

    # -- control

    def control(self, row: Control) -> list[Callable[[], None]]:
        wave, operands, kind = self.wave, self.item.operands, row.kind
        if kind in ("wait", "nop", "sleep", "sendmsg"):
            return []
        if kind == "end":
            wave.done = True
        elif kind == "barrier":
            wave.at_barrier = True
        elif kind == "branch":
            wave.pc = self.target(operands[0])
        elif kind == "cbranch":
            if self.condition(row):
                wave.pc = self.target(operands[0])
        elif kind == "getpc":
            return [lambda: self.set_scalar(operands[0], dispatch.code_address(wave.pc), 64)]
        elif kind == "jump":
            wave.pc = self.jump(self.scalar(operands[0], u64))
        elif kind == "call":
            back = dispatch.code_address(wave.pc)
            where = operands[1].value
            wave.pc = (
                self.target(operands[1]) if isinstance(where, Symbol) else self.jump(self.scalar(operands[1], u64))
            )
            self.set_scalar(operands[0], back, 64)
        elif kind in ("time", "realtime"):
            steps = self.machine.steps
            return [lambda: self.set_scalar(operands[0], steps, 64)]
        elif kind == "sendmsg_rtn":
            steps = self.machine.steps
            return [lambda: self.set_scalar(operands[0], steps, row.width)]
        elif kind == "setreg":
            name, first, width = hardware_register(operands[0])
            bits = self.scalar(operands[1], u32)
            if name == "MODE":
                mask = ((1 << width) - 1) << first
                wave.mode = wave.mode & ~mask | bits << first & mask
        elif kind == "getreg":
            name, first, width = hardware_register(operands[1])
            bits = {"MODE": wave.mode, "SHADER_CYCLES": self.machine.steps & 0xFFFFF}.get(name, 0)
            if name in PLACES:
                bits = self.place_of_wave(name)
            return [lambda: self.set_scalar(operands[0], bits >> first & (1 << width) - 1, 32)]
        elif kind == "round_mode":
            wave.mode = wave.mode & ~0xF | self.scalar(operands[0], u32) & 0xF
        elif kind == "denorm_mode":
            wave.mode = wave.mode & ~0xF0 | (self.scalar(operands[0], u32) & 0xF) << 4
        elif kind in ("gpr_index_on", "gpr_index", "gpr_index_mode"):
            if kind != "gpr_index_mode":
                wave.m0 = wave.m0 & ~0xFF | self.scalar(operands[0], u32) & 0xFF
            if kind != "gpr_index":
                wave.m0 = wave.m0 & ~0xF000 | self.index_mode(operands[-1]) << 12
            wave.gpr_indexing = wave.gpr_indexing or kind == "gpr_index_on"
        elif kind == "gpr_index_off":
            wave.gpr_indexing = False
        elif kind == "trap":
            raise _Stop("trap", detail=f"trap {self.scalar(operands[0], u32) if operands else 0}")
        else:
            raise self.unsupported(f"control kind {kind}")
        return []

    def place_of_wave(self, name: str) -> int:
        """The register that says where the wave runs."""
        (x, y, z), (width, height, _) = self.machine.workgroup, self.machine.grid
        of = {"wave": self.wave.number, "group": x + width * (y + height * z)}
        return sum(of[which] // divisor % modulus << shift for shift, which, divisor, modulus in PLACES[name])

    def index_mode(self, operand: Operand) -> int:
        value = operand.value
        if isinstance(value, Literal):
            return int(value.value) & 15
        names = value.text.removeprefix("gpr_idx(").rstrip(")").split(",") if isinstance(value, Keyword) else ["?"]
        bits = {"SRC0": 1, "SRC1": 2, "SRC2": 4, "DST": 8, "": 0}
        if any(name.strip() not in bits for name in names):
            raise self.unsupported("this index mode")
        return sum(bits[name.strip()] for name in names)

    def condition(self, row: Control) -> bool:
        wave = self.wave
        register = {"scc": wave.scc, "vcc": wave.vcc & wave.full, "exec": wave.exec & wave.full}[row.register]
        return bool(register) == row.nonzero

    def target(self, operand: Operand) -> int:
        if not isinstance(operand.value, Symbol) or operand.value.name not in self.machine.program.labels:
            raise self.unsupported("this jump target")
        return self.machine.program.labels[operand.value.name]

    def jump(self, address: int) -> int:
        index = dispatch.instruction_index(address, len(self.machine.program.instructions))
        if index is None:
            raise _Stop("bad jump", detail=f"a jump to {address:#x}, where no instruction is")
        return index


def _moved(operand: Operand, by: int) -> Operand:
    """The operand `by` registers further; constants stay."""
    register = operand.value
    return (
        replace(operand, value=replace(register, index=register.index + by))
        if isinstance(register, Register)
        else operand
    )


# ------------------------------------------------------------------------------------------------ workgroup


class Workgroup:
    """One workgroup of a kernel: its waves, its LDS, and the memory it shares with the rest of the world.

    Args:
        program, kernel: what to run.
        memory: device memory; reads and writes raise `BadAccess`.
        grid, block: workgroups and threads in x, y, z. workgroup: which one this is.
        kernarg_address: where `kernarg` (the whole segment, see dispatch.fill_kernarg) lies in `memory`.
        lds: bytes of dynamic LDS. addresses: of the program's symbols, from the loader.
    """

    def __init__(
        self,
        program: Program,
        kernel: str,
        *,
        memory: DeviceMemory,
        grid: dispatch.Dim3,
        block: dispatch.Dim3,
        kernarg: bytes,
        kernarg_address: int,
        workgroup: dispatch.Dim3 = (0, 0, 0),
        lds: int = 0,
        addresses: Mapping[str, int] | None = None,
        dispatch_ptr: int = 0,
        queue_ptr: int = 0,
    ) -> None:
        self.program, self.memory, self.workgroup, self.block, self.grid = program, memory, workgroup, block, grid
        self.descriptor: KernelDescriptor = program.kernels[kernel]
        behind = self.descriptor.lds_bytes  # external LDS begins where the kernel's own LDS ends
        external = {n: -(-behind // max(d.align, 1)) * max(d.align, 1) for n, d in program.data.items() if d.is_lds}
        self.addresses = external | dict(addresses or {})
        self.table = isa.table(program.arch)
        self.lds = bytearray(self.descriptor.lds_bytes + lds)
        self.steps = 0
        self.touched: list[Touch] | None = None  # a list to keep what wave number `followed` touches
        self.followed = 0
        layout = dispatch.initial_registers(self.descriptor, program.arch)
        scalars = dispatch.scalar_values(
            layout,
            kernarg_address=kernarg_address,
            kernarg=kernarg,
            workgroup=workgroup,
            dispatch_ptr=dispatch_ptr,
            queue_ptr=queue_ptr,
            scratch_bytes=dispatch.scratch_bytes(self.descriptor),
        )
        size = program.wave_size
        ids = np.array(
            dispatch.work_item_ids(block, layout.work_item_dimensions, size, layout.unpacked_ids), np.uint32
        ).reshape(-1, dispatch.waves(block, size), size)
        self.waves = []
        for number in range(dispatch.waves(block, size)):
            wave = Wave(size, number)
            wave.s[: len(scalars)] = scalars
            wave.ttmp = dispatch.trap_registers(layout, workgroup)
            wave.v[: len(ids)] = ids[:, number]
            wave.exec = dispatch.active_lanes(block, number, size)
            wave.mode = dispatch.mode_register(self.descriptor, program.arch)
            wave.pc = self.descriptor.entry
            wave.scratch = np.zeros((size, dispatch.scratch_bytes(self.descriptor)), np.uint8)
            self.waves.append(wave)

    def run(
        self,
        max_steps: int = 10_000_000,
        watch: Callable[[Wave, int], Callable[[], bool]] | None = None,
        first: int = 0,
    ) -> None:
        """Run to the end. Each wave runs until it ends, comes to a barrier or has had its `SLICE` of instructions, then
        the next one; wave number `first` begins.

        `watch(wave, index)` is called before each instruction and what it returns after it; True from that
        stops the run.

        Raises:
            MemoryFault, KernelTrap, KernelFault: the kernel did something that stops it; `.fault` has the record.
            KernelTimeout: more than `max_steps` wave instructions.
            UnsupportedInstruction: no row, or an operand form that has no meaning here.
        """
        order = self.waves[first:] + self.waves[:first]
        while not all(wave.done for wave in self.waves):
            for wave in order:
                until = wave.steps + SLICE
                while not wave.done and not wave.at_barrier and wave.steps < until:
                    if self.steps >= max_steps:
                        self.stop(wave, min(wave.pc, len(self.program.instructions) - 1), _Stop("timeout"))
                    if self.step(wave, watch):
                        return
            if all(wave.done or wave.at_barrier for wave in self.waves):
                for wave in self.waves:
                    wave.at_barrier = False

    def step(self, wave: Wave, watch: Callable[[Wave, int], Callable[[], bool]] | None = None) -> bool:
        """One instruction of one wave."""
        index = wave.pc
        if index >= len(self.program.instructions):
            self.stop(wave, index - 1, _Stop("bad jump", detail="the wave ran past the last instruction"))
        after = watch(wave, index) if watch is not None else None
        wave.pc = index + 1
        wave.steps += 1
        self.steps += 1
        try:
            _Execute(self, wave, self.program.instructions[index], index).run()
        except _Stop as stop:
            self.stop(wave, index, stop)
        return after() if after is not None else False

    def stop(self, wave: Wave, index: int, stop: _Stop) -> NoReturn:
        """Raise the fault that ends the kernel."""
        item = self.program.instructions[index]
        thread = None
        if stop.lane is not None:
            flat = wave.number * wave.size + stop.lane
            x, y, _ = self.block
            thread = (flat % x, flat // x % y, flat // (x * y))
        fault = Fault(
            kind=stop.kind,
            kernel=self.descriptor.source_name or self.descriptor.name,
            where=item.where,
            instruction=item.text,
            workgroup=self.workgroup,
            wave=wave.number,
            lane=stop.lane,
            thread=thread,
            address=stop.bad.address if stop.bad else None,
            bytes=stop.bad.size if stop.bad else 0,
            access=stop.access,
            nearest=stop.bad.nearest if stop.bad else None,
            detail=stop.detail,
        )
        kind: type[KernelFault] = {"timeout": KernelTimeout, "trap": KernelTrap, "bad jump": KernelFault}.get(
            stop.kind, MemoryFault
        )
        place = f"line {item.where.line}" if item.where else "an unknown line"
        what = f"kernel {fault.kernel}, {place}, workgroup {fault.workgroup}, wave {fault.wave}"
        what += f", lane {fault.lane}" if fault.lane is not None else ""
        address = f" at address {fault.address:#x}" if fault.address is not None else ""
        raise kind(f"{what}: {stop.kind}{address} in {item.text!r}.", why=stop.detail, fault=fault) from None
