"""What each instruction of a program reads and writes: `Decoded` joins an instruction with its row.

`decode` matches the text's operands with a row's parameters and results and lists registers as bit sets: scalar
registers by the numbers of layout.py, vector registers v0.. at bit 0, a0.. at bit 256. Liveness, runs and blocks are
built on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from gpulab.errors import UnsupportedInstruction
from gpulab.virtual_gpu import isa
from gpulab.virtual_gpu.isa.expression import Type
from gpulab.virtual_gpu.isa.images import SHAPES, address_registers
from gpulab.virtual_gpu.isa.instruction import Instruction, Keyword, Literal, Operand, Program, Register
from gpulab.virtual_gpu.isa.instruction_text import hardware_register
from gpulab.virtual_gpu.isa.matrix import registers
from gpulab.virtual_gpu.isa.refused import refusal
from gpulab.virtual_gpu.isa.row import (
    LOGIC,
    AnyRow,
    Control,
    CrossLane,
    Image,
    Matrix,
    Memory,
    Parameter,
    Result,
    Row,
    Table,
    Within,
)
from gpulab.virtual_gpu.translate import layout

ACC = 256  # bit of a0 among the vector registers
ALL_VECTORS = (1 << 512) - 1
ALL_SCALARS = (1 << layout.SCALARS) - 1

_SPECIALS = {
    "vcc": layout.VCC,
    "exec": layout.EXEC,
    "m0": layout.M0,
    "scc": layout.SCC,
    "flat_scratch": layout.FLAT_SCRATCH,
    "xnack_mask": layout.XNACK,
    "ttmp": layout.TTMP,
}


@dataclass(slots=True)
class Decoded:
    """One instruction with its row and the registers it touches."""

    index: int
    instruction: Instruction
    row: AnyRow
    sources: list[tuple[Parameter, Operand | None]] = field(default_factory=list)
    results: list[tuple[Result, Operand | None]] = field(default_factory=list)
    vector_reads: int = 0  # of active lanes
    vector_writes: int = 0  # of active lanes, every one of them
    cross_reads: int = 0  # of any lane
    scalar_reads: int = 0
    scalar_writes: int = 0
    exec_effect: str = ""  # "", "any", "narrow", "wide"
    pair: Decoded | None = None

    @property
    def is_vector(self) -> bool:
        """Whether the instruction works lane by lane, and so belongs into a run."""
        row = self.row
        return (isinstance(row, Row) and row.unit == "valu") or (isinstance(row, Memory) and row.space != "scalar")


def scalar_number(register: Register) -> int | None:
    """The number of the first scalar register of an operand; None if it is not a register that holds a value."""
    if register.file == "s":
        return register.index
    base = _SPECIALS.get(register.name)
    return None if base is None else base + register.index


def bits(first: int, count: int) -> int:
    return ((1 << count) - 1) << first


def vector_bits(register: Register, count: int | None = None) -> int:
    return bits(register.index + (ACC if register.file == "a" else 0), count or register.count)


def words(type: Type) -> int:
    """32-bit registers that a value of a type takes."""
    return max(1, type.width // 32)


class Decoder:
    """Decodes the instructions of one program. `refuse` builds the error for what cannot be executed."""

    def __init__(self, program: Program, table: Table) -> None:
        self.program, self.table = program, table
        self.wave_words = program.wave_size // 32
        self._done: dict[int, Decoded] = {}

    def refuse(self, instruction: Instruction, kernel: str, why: str = "") -> UnsupportedInstruction:
        where = instruction.where
        line = f" ({where.file}, line {where.line}: {where.text.strip()})" if where else ""
        generation = isa.generation_of(self.program.arch).name
        missing = f"{instruction.mnemonic} has no row in gpulab's instruction table."
        return UnsupportedInstruction(
            f"the kernel {kernel} uses an instruction that the virtual {self.program.arch} does not execute: "
            f"{instruction.text.strip()}{line}",
            why=why or refusal(instruction.mnemonic, generation) or missing,
            hint="write the line another way, or run the kernel on a real GPU.",
        )

    def decode(self, index: int, kernel: str) -> Decoded:
        """The decoded instruction number `index`; `kernel` is named if it is refused."""
        done = self._done.get(index)
        if done is None:
            done = self._decode(self.program.instructions[index], index, kernel)
            if done.instruction.pair is not None:
                second = self._decode(done.instruction.pair, index, kernel)
                done.pair = second
                for name in ("vector_reads", "vector_writes", "cross_reads", "scalar_reads", "scalar_writes"):
                    setattr(done, name, getattr(done, name) | getattr(second, name))
            self._done[index] = done
        return done

    def _decode(self, instruction: Instruction, index: int, kernel: str) -> Decoded:
        row = self.table.get(instruction.mnemonic)
        if row is None:
            raise self.refuse(instruction, kernel)
        for operand in instruction.operands:
            name = operand.value.name if isinstance(operand.value, Register) else ""
            if name in _NOT_READABLE:
                raise self.refuse(instruction, kernel, _NOT_READABLE[name])
        decoded = Decoded(index, instruction, row)
        if isinstance(row, Row):
            self._row(decoded, row, kernel)
        elif isinstance(row, Memory):
            self._memory(decoded, row, kernel)
        elif isinstance(row, CrossLane):
            self._crosslane(decoded)
        elif isinstance(row, Matrix):
            self._matrix(decoded, row, kernel)
        elif isinstance(row, Image):
            self._image(decoded, row, kernel)
        else:
            self._control(decoded, row, kernel)
        return decoded

    # reading and writing one operand

    @staticmethod
    def _cut(operands: tuple[Operand, ...]) -> list[Operand]:
        """The operands of a row, where one of four registers counts as two pairs (v_mqsad_u32_u8)."""
        found = []
        for operand in operands:
            value = operand.value
            if isinstance(value, Register) and value.count == 4 and value.file in "vas":
                found += [replace(operand, value=replace(value, index=value.index + i, count=2)) for i in (0, 2)]
            else:
                found.append(operand)
        return found

    def _reads(self, decoded: Decoded, operand: Operand, count: int, mask: bool = False) -> None:
        value = operand.value
        if not isinstance(value, Register):
            return
        if value.file in ("v", "a"):
            decoded.vector_reads |= vector_bits(value, count)
        elif value.name == "vccz":
            decoded.scalar_reads |= bits(layout.VCC, 2)
        elif value.name == "execz":
            decoded.scalar_reads |= bits(layout.EXEC, 2)
        else:
            number = scalar_number(value)
            if number is not None:
                decoded.scalar_reads |= bits(number, self.wave_words if mask else max(count, 1))

    def _writes(self, decoded: Decoded, operand: Operand, count: int, mask: bool = False) -> None:
        value = operand.value
        if not isinstance(value, Register):
            return
        if value.file in ("v", "a"):
            decoded.vector_writes |= vector_bits(value, count)
        else:
            number = scalar_number(value)
            if number is not None:
                decoded.scalar_writes |= bits(number, self.wave_words if mask else count)

    # families

    def _row(self, decoded: Decoded, row: Row, kernel: str) -> None:
        instruction = decoded.instruction
        operands = self._cut(instruction.operands)
        vector = row.unit == "valu"
        results, _ = row.graph()
        mask_bits = self.wave_words
        for result in results:
            if result.name in ("dst", "sdst"):
                if not operands:
                    raise self.refuse(instruction, kernel, "an operand is missing.")
                operand = operands.pop(0)
                decoded.results.append((result, operand))
                self._writes(decoded, operand, words(result.type), vector and result.type.kind == "b")
            else:
                decoded.results.append((result, None))
                if result.name == "scc":
                    decoded.scalar_writes |= bits(layout.SCC, 1)
                elif result.name == "vcc":
                    decoded.scalar_writes |= bits(layout.VCC, mask_bits)
                elif result.name == "m0":
                    decoded.scalar_writes |= bits(layout.M0, 1)
                elif result.name == "exec":
                    decoded.scalar_writes |= bits(layout.EXEC, mask_bits)
        partial = False
        for parameter in row.parameters:
            if not parameter.implicit:
                if not operands:
                    raise self.refuse(instruction, kernel, f"the operand {parameter.name} is missing.")
                written = operands.pop(0)
                decoded.sources.append((parameter, written))
                self._reads(decoded, written, words(parameter.type), vector and parameter.type.kind == "b")
                continue
            source: Operand | None = None
            if parameter.name in ("dst", "sdst"):
                source = next((o for r, o in decoded.results if r.name == parameter.name), None)
                if source is not None:
                    self._reads(decoded, source, words(parameter.type))
            elif parameter.name == "scc":
                decoded.scalar_reads |= bits(layout.SCC, 1)
            elif parameter.name == "vcc":
                decoded.scalar_reads |= bits(layout.VCC, mask_bits)
            elif parameter.name == "exec":
                decoded.scalar_reads |= bits(layout.EXEC, mask_bits)
            elif parameter.name == "m0":
                decoded.scalar_reads |= bits(layout.M0, 1)
            decoded.sources.append((parameter, source))
        if operands:
            raise self.refuse(instruction, kernel, f"it has {len(operands)} operands more than gpulab knows for it.")
        # A 16-bit result may leave the other half, SDWA and DPP may leave (parts of) the destination as it was.
        for result, target in decoded.results:
            if vector and target is not None and result.type.width == 16:
                partial = True
        if instruction.encoding in ("sdwa", "dpp", "dpp8", "e64_dpp", "e64_dpp8", "dpp16") or is_dpp(instruction):
            partial = True
        if vector and partial:
            decoded.vector_reads |= decoded.vector_writes
        if is_dpp(instruction):
            decoded.scalar_reads |= decoded.scalar_writes  # bits of lane masks may stay as they were
            first = next((o for p, o in decoded.sources if not p.implicit), None)
            if first is not None and isinstance(first.value, Register) and first.value.file in ("v", "a"):
                decoded.cross_reads |= vector_bits(first.value)
        if any(r.name == "exec" for r, _ in decoded.results):
            # a comparison gives lanes that are active; the second source of a scalar row is EXEC
            decoded.exec_effect = "narrow" if vector else _exec_effect(row, (1,))
        elif decoded.scalar_writes & bits(layout.EXEC, 2):
            decoded.exec_effect = self._exec_write_effect(row, instruction)

    def _exec_write_effect(self, row: Row, instruction: Instruction) -> str:
        """EXEC as a scalar destination: is the new mask within the old ("narrow"), the old within the new ("wide")?"""
        is_exec = [
            isinstance(o.value, Register) and o.value.name == "exec" and o.value.count == self.wave_words
            for o in instruction.operands
        ]
        if not is_exec or not is_exec[0]:
            return "any"
        return _exec_effect(row, [n for n, given in enumerate(is_exec[1:]) if given])

    def _memory(self, decoded: Decoded, row: Memory, kernel: str) -> None:
        instruction = decoded.instruction
        if instruction.modifiers.get("gds"):
            raise self.refuse(
                instruction,
                kernel,
                "gpulab has no memory that all workgroups of a device share but global memory (no GDS).",
            )
        if instruction.modifiers.get("tfe"):
            raise self.refuse(
                instruction, kernel, "tfe asks for a status of pages that are not resident; gpulab has no such pages."
            )
        parts = memory_operands(instruction, row)
        if parts.resource is not None:
            if not isinstance(parts.resource.value, Register) or parts.resource.value.count != 4:
                raise self.refuse(instruction, kernel, "its buffer resource is not in four scalar registers.")
            self._reads(decoded, parts.resource, 4)
        data_words = max(1, row.element * row.count // 32)
        if row.space == "scalar":
            if parts.destination is not None:
                self._writes(decoded, parts.destination, data_words)
            if parts.address is not None:
                value = parts.address.value
                self._reads(decoded, parts.address, value.count if isinstance(value, Register) else 2)
            for data in parts.data:
                self._reads(decoded, data, data_words * (2 if row.compare else 1))
            if parts.scalar is not None:
                self._reads(decoded, parts.scalar, 1)
            return
        if (row.implied == "lane" and row.space == "lds") or row.implied == "count" or into_lds(instruction, row):
            decoded.scalar_reads |= bits(layout.M0, 1)
        if parts.destination is not None:
            self._writes(decoded, parts.destination, data_words)
            if row.half or (row.action == "load" and row.element < 16 and row.half):
                decoded.vector_reads |= decoded.vector_writes
        if parts.address is not None and isinstance(parts.address.value, Register):
            self._reads(decoded, parts.address, parts.address.value.count)
        if parts.scalar is not None and isinstance(parts.scalar.value, Register):
            self._reads(decoded, parts.scalar, parts.scalar.value.count)
        for data in parts.data:
            if isinstance(data.value, Register):
                self._reads(decoded, data, data.value.count)

    def _crosslane(self, decoded: Decoded) -> None:
        """The first operand is written (v_swap-like kinds write more); every vector source is read in all lanes.

        Where m0 is added to a register's number, any register may be read and none is written for certain.
        """
        instruction, row = decoded.instruction, decoded.row
        assert isinstance(row, CrossLane)
        if row.indexed and row.unit == "salu":
            decoded.scalar_reads = ALL_SCALARS
            if row.kind == "movrels":  # the others write a register that m0 names
                value = instruction.operands[0].value
                self._writes(decoded, instruction.operands[0], value.count if isinstance(value, Register) else 1)
            return
        if row.indexed:
            decoded.cross_reads = ALL_VECTORS
            decoded.scalar_reads |= bits(layout.M0, 1) | bits(layout.EXEC, self.wave_words)
            self._reads(decoded, instruction.operands[1], 1)
            return
        if row.kind == "permlane_swap":
            for operand in instruction.operands:
                if isinstance(operand.value, Register):
                    decoded.cross_reads |= vector_bits(operand.value)
            return
        for position, operand in enumerate(instruction.operands):
            value = operand.value
            if not isinstance(value, Register):
                continue
            if position == 0:
                if value.file in ("v", "a"):
                    decoded.cross_reads |= vector_bits(value)  # lanes that are not written keep their value
                else:
                    self._writes(decoded, operand, value.count)
            elif value.file in ("v", "a"):
                decoded.cross_reads |= vector_bits(value)
            else:
                self._reads(decoded, operand, value.count)
        decoded.scalar_reads |= bits(layout.EXEC, self.wave_words)

    def _matrix(self, decoded: Decoded, row: Matrix, kernel: str) -> None:
        """A, B and C are read in all lanes and D is written in all, whatever EXEC says."""
        instruction = decoded.instruction
        if len(instruction.operands) != 4:
            why = f"it has {len(instruction.operands)} operands; a matrix instruction has D, A, B and C."
            raise self.refuse(instruction, kernel, why)
        for name, operand in zip("DABC", instruction.operands, strict=True):
            value = operand.value
            if isinstance(value, Register) and value.file in ("v", "a"):
                wanted = registers(row, "d" if name == "C" else name.lower(), self.program.wave_size)
                if name == "C" and row.layout == "smfmac":
                    wanted = 1
                if value.count != wanted:
                    why = f"its matrix {name} has {value.count} registers; it takes {wanted}."
                    raise self.refuse(instruction, kernel, why)
                if name == "D":
                    decoded.vector_writes |= vector_bits(value)
                halves = row.d in ("f16", "bf16") and row.layout == "wmma"  # the other half of D stays
                if name != "D" or row.layout == "smfmac" or halves:
                    decoded.cross_reads |= vector_bits(value)
            elif name != "C" or row.layout == "smfmac" or not isinstance(value, Literal):
                raise self.refuse(instruction, kernel, f"its matrix {name} is not in vector registers.")

    def _image(self, decoded: Decoded, row: Image, kernel: str) -> None:
        instruction = decoded.instruction
        try:
            parts = image_operands(instruction, row)
        except ValueError as error:
            raise self.refuse(instruction, kernel, str(error)) from None
        register = parts.data.value
        assert isinstance(register, Register)
        if row.action in ("load", "sample", "gather", "size"):
            self._writes(decoded, parts.data, register.count)
            if instruction.modifiers.get("d16"):  # a half without a channel stays
                self._reads(decoded, parts.data, register.count)
        else:
            self._reads(decoded, parts.data, register.count)
        for operand in (*parts.addresses, parts.resource, parts.sampler, parts.scalar):
            if operand is not None and isinstance(operand.value, Register):
                self._reads(decoded, operand, operand.value.count)
        decoded.scalar_reads |= bits(layout.EXEC, self.wave_words)

    def _control(self, decoded: Decoded, row: Control, kernel: str) -> None:
        operands = decoded.instruction.operands
        kind = row.kind
        if kind == "cbranch":
            if row.register == "scc":
                decoded.scalar_reads |= bits(layout.SCC, 1)
            elif row.register == "vcc":
                decoded.scalar_reads |= bits(layout.VCC, self.wave_words)
            else:
                decoded.scalar_reads |= bits(layout.EXEC, self.wave_words)
        elif kind in ("call", "jump"):
            for operand in operands:
                self._reads(decoded, operand, 2)
            if kind == "call":
                self._writes(decoded, operands[0], 2)
        elif kind in ("getpc", "time", "realtime", "sendmsg_rtn"):
            value = operands[0].value
            self._writes(decoded, operands[0], value.count if isinstance(value, Register) else 2)
        elif kind == "getreg":
            self._writes(decoded, operands[0], 1)
            self._check_hardware_register(decoded, operands[1], _READABLE, kernel)
        elif kind in ("gpr_index_on", "gpr_index", "gpr_index_mode"):
            decoded.scalar_reads |= bits(layout.M0, 1)
            decoded.scalar_writes |= bits(layout.M0, 1)
            if kind != "gpr_index_mode":
                self._reads(decoded, operands[0], 1)
        elif kind == "setreg":
            for operand in operands:
                self._reads(decoded, operand, 1)
            self._check_hardware_register(decoded, operands[0], _WRITABLE, kernel)

    def _check_hardware_register(self, decoded: Decoded, operand: Operand, known: tuple[str, ...], kernel: str) -> None:
        field = hardware_field(operand.value)
        if field is None or field[0] not in known:
            name = field[0] if field else "this hardware register"
            raise self.refuse(
                decoded.instruction, kernel, f"{name} is not modelled here; known are {', '.join(known)}."
            )


@dataclass(slots=True)
class MemoryOperands:
    """The operands of a memory instruction by role; `scalar` is a scalar base or offset, `resource` a buffer's."""

    destination: Operand | None = None
    address: Operand | None = None
    data: list[Operand] = field(default_factory=list)
    scalar: Operand | None = None
    resource: Operand | None = None


@dataclass(frozen=True, slots=True)
class ImageOperands:
    """The operands of an image instruction by role; `scalar` is a buffer's scalar offset.

    shape: as in schema.IMAGE_SHAPES. dmask: channels that the data registers hold, a bit each.
    """

    data: Operand
    addresses: tuple[Operand, ...]
    resource: Operand
    sampler: Operand | None
    scalar: Operand | None
    shape: str
    dmask: int

    @property
    def registers(self) -> list[int]:
        """The numbers of the address registers."""
        found: list[int] = []
        for operand in self.addresses:
            if isinstance(operand.value, Register):
                found += range(operand.value.index, operand.value.index + operand.value.count)
        return found


_IMAGE_MODIFIERS = {
    "tfe": "tfe asks for a status of pages that are not resident; gpulab has no such pages.",
    "lwe": "lwe asks whether a level had to be replaced; images have one level here.",
    "r128": "its resource descriptor has four registers; HIP's have eight.",
}


def image_operands(instruction: Instruction, row: Image) -> ImageOperands:
    """Sorts the text's operands into roles.

    Raises:
        ValueError: operands or modifiers that are not executed; its text says why.
    """
    modifiers = instruction.modifiers
    for name, why in _IMAGE_MODIFIERS.items():
        if modifiers.get(name):
            raise ValueError(why)
    operands = list(instruction.operands)
    if len(operands) < 3:
        raise ValueError("it has data, an address and a resource descriptor.")
    data = operands.pop(0)
    sampler: Operand | None = None
    scalar: Operand | None = None
    if row.channels:
        shape, dmask, size = "buffer", (1 << row.channels) - 1, 4
        resource, addresses = operands[1], operands[:1]
        scalar = operands[2] if len(operands) > 2 else None
    else:
        given = modifiers.get("dmask", 1)
        dmask = given if isinstance(given, int) else 0
        shape, size = SHAPES.get(str(modifiers.get("dim", "")), ""), 8
        if not shape:
            raise ValueError(
                f"its shape is {modifiers.get('dim', 'not given')}; executed are 1D, 2D and 3D images and arrays of 1D "
                "and 2D ones (no cube maps, no samples)."
            )
        if row.action in ("sample", "gather"):
            sampler = operands.pop()
        resource = operands.pop()
        addresses = operands
    for operand, wanted in ((resource, size), (sampler, 4)):
        if operand is None:
            continue
        value = operand.value
        if not isinstance(value, Register) or value.file != "s" or value.count != wanted:
            raise ValueError("its descriptors are not in eight (resource) and four (sampler) scalar registers.")
    register = data.value
    words = 4 if row.action == "gather" else dmask.bit_count()
    if modifiers.get("d16"):
        words = (words + 1) // 2
    if not isinstance(register, Register) or register.file not in ("v", "a") or register.count != words:
        raise ValueError(f"its data are not in as many vector registers as it has channels ({words}).")
    if row.action == "gather" and dmask.bit_count() != 1:
        raise ValueError("its dmask names more than one channel.")
    found = ImageOperands(data, tuple(addresses), resource, sampler, scalar, shape, dmask)
    numbers = found.registers
    if row.channels:
        wanted = bool(modifiers.get("idxen")) + bool(modifiers.get("offen"))
        if modifiers.get("lds"):
            raise ValueError("it loads into LDS.")
    else:
        wanted = address_registers(row, shape, bool(modifiers.get("a16")))
    if not wanted <= len(numbers) <= 12 or not all(
        isinstance(o.value, Register) and o.value.file == "v" for o in addresses if not isinstance(o.value, Keyword)
    ):
        raise ValueError(f"it has {len(numbers)} address registers; it takes {wanted}.")
    return found


def data_words(decoded: Decoded) -> int:
    """Registers that an image instruction moves."""
    value = decoded.instruction.operands[0].value
    return value.count if isinstance(value, Register) else 1


def returns_value(instruction: Instruction, row: Memory) -> bool:
    """Whether an atomic gives back the old value."""
    if row.space == "lds":
        return row.returns
    modifiers = instruction.modifiers
    return bool(row.returns or modifiers.get("sc0") or modifiers.get("glc") or "RETURN" in str(modifiers.get("th", "")))


def into_lds(instruction: Instruction, row: Memory) -> bool:
    """Whether a load goes to LDS instead of registers."""
    return row.to_lds or (row.space == "buffer" and row.action == "load" and bool(instruction.modifiers.get("lds")))


def memory_operands(instruction: Instruction, row: Memory) -> MemoryOperands:
    """Sorts the text's operands (LLVM's order per family) into roles."""
    operands = list(instruction.operands)
    parts = MemoryOperands()
    if row.space == "scalar":
        data = operands.pop(0)
        if row.action == "load" or (row.action == "atomic" and returns_value(instruction, row)):
            parts.destination = data
        if row.action != "load":
            parts.data.append(data)
        if operands:
            parts.address = operands.pop(0)
        if operands:
            parts.scalar = operands.pop(0)
        return parts
    if row.space == "buffer":
        first = operands[0] if into_lds(instruction, row) else operands.pop(0)
        if into_lds(instruction, row):
            pass
        elif row.action == "load" or (row.action == "atomic" and returns_value(instruction, row)):
            parts.destination = first
        if row.action != "load":
            parts.data.append(first)
        address, parts.resource, parts.scalar = operands[:3]
        parts.address = None if isinstance(address.value, Keyword) else address
        return parts
    if (row.action == "load" and not row.to_lds) or (row.action == "atomic" and returns_value(instruction, row)):
        parts.destination = operands.pop(0)
    if row.implied:
        if row.action == "store":
            parts.data.append(operands.pop(0))
    elif operands and row.space in ("global", "scratch") and row.action != "load":
        # address, data, scalar
        parts.address = operands.pop(0)
        if operands and row.action != "prefetch":
            parts.data.append(operands.pop(0))
    elif operands:
        parts.address = operands.pop(0)
    if row.space in ("global", "scratch") and operands:
        parts.scalar = operands.pop(0)
    parts.data += operands
    if parts.address is not None and isinstance(parts.address.value, Keyword):
        parts.address = None
    if parts.scalar is not None and (
        isinstance(parts.scalar.value, Keyword)
        or (isinstance(parts.scalar.value, Register) and parts.scalar.value.name == "null")
    ):
        parts.scalar = None
    return parts


def _exec_effect(row: Row, places: Sequence[int]) -> str:
    """What a bitwise operation does to EXEC, which is its source at one of `places`."""
    within = LOGIC.get(row.logic, Within())
    if not set(places).isdisjoint(within.narrows):
        return "narrow"
    return "any" if set(places).isdisjoint(within.widens) else "wide"


def hardware_field(value: object) -> tuple[str, int, int] | None:
    """``hwreg(HW_REG_MODE, 4, 4)``, or the same as a number, as (name, first bit, bits)."""
    if not isinstance(value, Keyword | Literal):
        return None
    name, first, size = hardware_register(Operand(value))
    return f"HW_REG_{name}", first, size


def index_mode(instruction: Instruction) -> int:
    """The mode of s_set_gpr_idx_on and _mode: which operands m0 is added to (1, 2, 4: sources; 8: destination)."""
    value = instruction.operands[-1].value
    if isinstance(value, Literal):
        return int(value.value) & 15
    if not isinstance(value, Keyword):
        return 0
    names = value.text.removeprefix("gpr_idx(").rstrip(")").split(",")
    return sum({"SRC0": 1, "SRC1": 2, "SRC2": 4, "DST": 8}.get(name.strip(), 0) for name in names)


_NOT_READABLE = {
    "lds_direct": "lds_direct reads LDS as an operand, by a format in m0; read it with ds_read (ds_load).",
    "pops_exiting_wave_id": "pops_exiting_wave_id belongs to pixel shaders whose order the hardware keeps.",
}
"""Operands without a value here, and why."""

CLOCKS = ("HW_REG_SHADER_CYCLES", "HW_REG_SHADER_CYCLES_LO")
"""Hardware registers that count time."""

_READABLE = (
    "HW_REG_MODE", "HW_REG_SH_MEM_BASES", "HW_REG_HW_ID", "HW_REG_HW_ID1", "HW_REG_HW_ID2", "HW_REG_XCC_ID",
    "HW_REG_TRAPSTS", "HW_REG_STATUS", "HW_REG_GPR_ALLOC", "HW_REG_LDS_ALLOC", "HW_REG_IB_STS", *CLOCKS,
)  # fmt: skip
_WRITABLE = ("HW_REG_MODE", "HW_REG_TRAPSTS", "HW_REG_FLAT_SCR_LO", "HW_REG_FLAT_SCR_HI")

_DPP = frozenset((
    "quad_perm", "row_shl", "row_shr", "row_ror", "wave_shl", "wave_rol", "wave_shr", "wave_ror", "row_mirror",
    "row_half_mirror", "row_bcast", "row_newbcast", "row_share", "row_xmask", "dpp8",
))  # fmt: skip


def is_dpp(instruction: Instruction) -> bool:
    """Whether the first source goes through data-parallel primitives."""
    return "dpp" in instruction.encoding or not _DPP.isdisjoint(instruction.modifiers)


INLINE_FLOATS = (0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0, 0.15915494309189532)
"""What an operand's own bits can say; other floats follow the instruction as a 32-bit literal."""


def literal_bits(literal: Literal, type: Type) -> int:
    """The bits of a written constant for an operand of a type (ISA manuals, "Scalar ALU operands", constants)."""
    import struct

    from gpulab.virtual_gpu.translate.expressions import bf16_bits

    if literal.is_float:
        value = float(literal.value)
        if type.width == 64:
            whole = int.from_bytes(struct.pack("<d", value), "little")
            return whole if value in INLINE_FLOATS else whole & ~0xFFFFFFFF  # a literal has 32 bits: the high half
        if type.kind == "bf":
            return bf16_bits(value)
        if type.width == 16 and type.is_float:
            return int.from_bytes(struct.pack("<e", value), "little")
        # integers get the bits of an f32, 16-bit ones the low half of them
        return int.from_bytes(struct.pack("<f", value), "little") & ((1 << max(type.width, 16)) - 1)
    number = int(literal.value)
    if type.width == 64 and type.is_float and not -16 <= number <= 64:
        return (number & 0xFFFFFFFF) << 32 if -(1 << 31) <= number < (1 << 32) else number & ((1 << 64) - 1)
    return number & ((1 << max(type.width, 1)) - 1)
