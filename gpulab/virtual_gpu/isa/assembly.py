"""LLVM's AMDGPU assembly text, read into a `Program`.

`parse` walks the lines once (`_Reader`): code goes to one list of instructions, the bytes of allocated
sections to `_Section` buffers, symbols to expressions that `_Reader.finish` evaluates at the end.
`instruction_text.py` reads one operand or one instruction, `assembler_expression.py` the assembler's expressions
(`max(a, b)`, `.Lend-.Lstart`), `metadata.py` what the text's metadata says of kernels.

The text's instruction sizes are not modelled: for arithmetic on code addresses each instruction counts
`INSTRUCTION_BYTES`, here and in `virtual_gpu/dispatch.py`.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from gpulab import architectures
from gpulab.errors import AssemblyError
from gpulab.records import NO_GUARANTEES, Guarantees, SourceLine
from gpulab.virtual_gpu.isa import metadata
from gpulab.virtual_gpu.isa.assembler_expression import TOKEN, Linear, evaluate
from gpulab.virtual_gpu.isa.generation import generation
from gpulab.virtual_gpu.isa.instruction import (
    DataObject,
    Instruction,
    KernelDescriptor,
    Literal,
    Operand,
    Program,
    Relocation,
    Symbol,
)
from gpulab.virtual_gpu.isa.instruction_text import (
    FLOAT,
    INTEGER,
    NUMBERED,
    PLACE,
    SYMBOL,
    VCC,
    WITH_VCC,
    Deferred,
    Expected,
    integer,
    read_instruction,
    split_operands,
)

INSTRUCTION_BYTES = 8
"""Bytes that one instruction counts in the virtual GPU's code addresses. Eight makes LLVM's fixed sequence
s_getpc / s_add_u32 sym@rel32@lo+4 / s_addc_u32 sym@rel32@hi+12 come out right, as the literal of an
eight-byte instruction lies at its address + 4."""

_LABEL = re.compile(r'\s*("[^"]*"|[A-Za-z_.$][\w.$]*|\d+)\s*:(?!:)')
_DATA = {".byte": 1, ".short": 2, ".half": 2, ".hword": 2, ".2byte": 2, ".value": 2, ".long": 4, ".int": 4, ".word": 4,
         ".4byte": 4, ".quad": 8, ".8byte": 8, ".xword": 8}  # fmt: skip
_STRINGS = {".ascii": b"", ".asciz": b"\0", ".string": b"\0"}
_FILLS = (".zero", ".space", ".skip")
_IGNORED = frozenset(
    [
        ".globl",
        ".global",
        ".weak",
        ".local",
        ".protected",
        ".hidden",
        ".internal",
        ".ident",
        ".addrsig",
        ".addrsig_sym",
        ".amdhsa_code_object_version",
        ".amdgcn_target",
        ".amdgpu_hsa_kernel",
        ".line",
        ".reloc",
        ".symver",
        ".version",
    ]
)
_ANYWHERE = (  # directives that mean something while the section is one that is not loaded
    (
        ".section",
        ".text",
        ".data",
        ".bss",
        ".rodata",
        ".set",
        ".pushsection",
        ".popsection",
        ".previous",
        ".type",
        ".size",
        ".amdg",
        ".file",
        ".globl",
        ".comm",
        ".lcomm",
        ".equ",
    )
)
_UNSUPPORTED = (".macro", ".rept", ".rep", ".irp", ".irpc", ".if", ".ifdef", ".ifndef", ".include", ".incbin", ".endm")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPES = {"n": 10, "t": 9, "r": 13, "b": 8, "f": 12, "\\": 92, '"': 34, "v": 11, "a": 7}
_RELOAD = "Folded Reload"  # Clang's comment on reads of registers that it spilled
# The toolchain's marks (toolchain/memory_order.py): of places in the source, and of a kernel.
_MARKS = ("synchronising", "synchronising in a block", "bit field")
_ORDERS = re.compile(r"; orders of (\S+):(.*)")
_INLINED_AT = re.compile(r"@\[ (.+?):(\d+):(\d+)")
_SECTION_FLAGS = {".text": "ax", ".data": "aw", ".bss": "aw", ".rodata": "a"}


@dataclass(slots=True)
class _Section:
    """The bytes of one allocated section while it is read; `labels` are (name, offset, alignment)."""

    name: str
    writable: bool
    executable: bool
    allocated: bool
    align: int = 1
    bytes: bytearray = field(default_factory=bytearray)
    labels: list[tuple[str, int, int]] = field(default_factory=list)
    relocations: list[tuple[int, int, str, int]] = field(default_factory=list)  # offset, size, expression, line
    nobits: bool = False


def _unescape(text: str) -> bytes:
    out = bytearray()
    i = 0
    while i < len(text):
        if text[i] != "\\":
            out += text[i].encode()
            i += 1
            continue
        octal = re.match(r"[0-7]{1,3}", text[i + 1 : i + 4])
        hexadecimal = re.match(r"x([0-9a-fA-F]+)", text[i + 1 :])
        if octal:
            out.append(int(octal[0], 8) & 255)
            i += 1 + len(octal[0])
        elif hexadecimal:
            out.append(int(hexadecimal[1], 16) & 255)
            i += 2 + len(hexadecimal[1])
        else:
            out.append(_ESCAPES.get(text[i + 1], ord(text[i + 1]) & 255))
            i += 2
    return bytes(out)


def _without_comment(line: str) -> str:
    """The line without ``; comment`` and ``// comment``; strings are respected."""
    if '"' not in line:
        cut = line.find(";")
        if cut >= 0:
            line = line[:cut]
        cut = line.find("//")
        return line[:cut] if cut >= 0 else line
    inside = False
    i = 0
    while i < len(line):
        character = line[i]
        if inside and character == "\\":
            i += 1
        elif character == '"':
            inside = not inside
        elif not inside and (character == ";" or line.startswith("//", i)):
            return line[:i]
        i += 1
    return line


def _mark(comment: str) -> str:
    """Which of the toolchain's marks a `.loc` ends in, or none."""
    return next((mark for mark in _MARKS if comment.endswith(mark)), "")


class _Reader:
    """The state of one parse."""

    def __init__(self, text: str, sources: Mapping[str, str], arch: str) -> None:
        self.text, self.sources, self.arch = text, sources, arch
        self.source_lines = {name: source.split("\n") for name, source in sources.items()}
        self.line_number = 0
        self.line = ""
        self.instructions: list[Instruction] = []
        self.mark = ""
        self.marked: dict[str, list[int]] = {mark: [] for mark in _MARKS}
        self.orders: dict[str, frozenset[str]] = {}
        self.reloads: list[int] = []
        self.implied: list[tuple[int, int]] = []  # (instruction index, operand): VCC that the text leaves out
        self.deferred: list[tuple[int, int]] = []  # instruction index, text line: symbols to look at in the end
        self.labels: dict[str, int] = {}
        self.numbered: list[tuple[int, int]] = []  # numeric labels: (number, instruction index)
        self.sections: dict[str, _Section] = {}
        self.section = self.enter(".text", "ax")
        self.previous = self.section
        self.stack: list[_Section] = []
        self.set: dict[str, tuple[str, int]] = {}
        self.values: dict[str, Linear | None] = {}
        self.types: dict[str, str] = {}
        self.sizes: dict[str, tuple[str, int]] = {}
        self.function_order: list[tuple[int, str]] = []
        self.lds: dict[str, tuple[int, int]] = {}
        self.common: dict[str, tuple[int, int]] = {}
        self.kernels: dict[str, dict[str, tuple[str, int]]] = {}
        self.kernel_block: dict[str, tuple[str, int]] | None = None
        self.metadata = ""
        self.files: dict[int, tuple[str, str]] = {}
        self.where: SourceLine | None = None
        self.places: dict[tuple[str, str], SourceLine | None] = {}
        self.pending_align = 1
        self.code_lines: list[int] = []
        self.wave_size = _wave_size(arch)

    # -- errors

    def fail(self, expected: str, line_number: int = 0) -> NoReturn:
        number = line_number or self.line_number
        line = self.text.split("\n")[number - 1].strip() if number else ""
        raise AssemblyError(
            f"cannot read line {number} of the assembly text: {line!r}.",
            why=f"expected {expected}.",
            hint="write it as LLVM's assembler for AMDGPU takes it; a compile with --isa shows many examples.",
        ) from None

    # -- lines

    def read(self) -> Program:
        lines = self.text.split("\n")
        count = len(lines)
        index = 0
        while index < count:
            line = lines[index]
            index += 1
            if not line or line.isspace():
                continue
            self.line_number = index
            if line[0] == "\t" and line[1:2].islower():  # the usual shape of an instruction
                self.code(line)
                continue
            stripped = line.strip()
            first = stripped[0]
            if first in ";#" or stripped.startswith("//"):
                orders = _ORDERS.match(stripped)
                if orders:
                    self.orders[orders[1]] = frozenset(orders[2].split())
                continue
            if stripped.startswith(".amdgpu_metadata"):
                start = index
                while index < count and not lines[index].strip().startswith(".end_amdgpu_metadata"):
                    index += 1
                if index >= count:
                    self.fail("a line .end_amdgpu_metadata after the metadata")
                self.metadata = "\n".join(lines[start:index])
                index += 1
                continue
            if not self.section.allocated and first == "." and not stripped.startswith(_ANYWHERE):
                continue  # debug information and compiler statistics
            label = _LABEL.match(line)
            if label is not None:
                self.define(label[1].strip('"'))
                line = line[label.end() :]
                stripped = line.strip()
                if not stripped or stripped[0] in ";#":
                    continue
                first = stripped[0]
            if first == "." and not stripped.startswith(".L"):
                try:
                    self.directive(stripped)
                except Expected as bad:
                    self.fail(str(bad))
            elif re.match(r'[\w.$"]+\s*=(?!=)', stripped):
                name, _, value = _without_comment(stripped).partition("=")
                self.assign(name.strip().strip('"'), value.strip())
            else:
                self.code(line)
        return self.finish()

    def code(self, line: str) -> None:
        reload, mark = line.endswith(_RELOAD), self.mark or _mark(line)
        line = _without_comment(line).strip()
        if not line:
            return
        section = self.section
        if not section.executable:
            if not section.allocated:
                return
            self.fail("data in this section; instructions belong into .text")
        try:
            item = self.with_numbers(read_instruction(line, self.where, self.wave_size))
        except Expected as bad:
            try:
                item = read_instruction(self.numbered_registers(line), self.where, self.wave_size)
            except Expected:
                self.fail(str(bad))
        position = len(self.instructions)
        if item.mnemonic.startswith(WITH_VCC):
            item = self.with_vcc(item, position)
        for value in item.operands:
            if isinstance(value, Deferred) or isinstance(value.value, Symbol):
                self.deferred.append((position, self.line_number))
                break
        else:
            if item.mnemonic in _BRANCHES or item.pair is not None:
                self.deferred.append((position, self.line_number))
        if mark:
            self.marked[mark].append(len(self.instructions))
        if reload:
            self.reloads.append(len(self.instructions))
        self.instructions.append(item)

    def with_numbers(self, item: Instruction) -> Instruction:
        """The instruction with the value of each modifier that is an expression over known symbols."""
        changed: dict[str, int] = {}
        for name, text in item.modifiers.items():
            names = {match[2] for match in TOKEN.finditer(text) if match[2]} if isinstance(text, str) else None
            if names is not None and names <= self.set.keys():
                try:
                    value = evaluate(str(text), self.lookup, self.arch)
                except Expected:
                    continue  # a word, such as scope:SCOPE_DEV, or a list
                if not value.symbols:
                    changed[name] = value.value
        return replace(item, modifiers={**item.modifiers, **changed}) if changed else item

    def numbered_registers(self, line: str) -> str:
        """The line with numbers for expressions in register brackets: ``v[FIRST:FIRST+1]``."""

        def number(match: re.Match[str]) -> str:
            return "[" + ":".join(str(self.number(part, self.line_number)) for part in match[1].split(":")) + "]"

        return PLACE.sub(number, line)

    def with_vcc(self, item: Instruction, position: int) -> Instruction:
        """The instruction with the mask that its short form leaves out: VCC, as the assembler reads it."""
        device = architectures.find(self.arch)
        count, place = len(item.operands), 0
        if item.mnemonic.startswith("v_cmp_"):
            implied = count == 2
        elif item.mnemonic.startswith("v_cmpx_"):
            implied = count == 2 and device is not None and generation(device.generation).cmpx_names_mask
        else:
            implied, place = count == 3, 3 if item.mnemonic == "v_cndmask_b32" else 1
        if not implied or item.encoding in ("e64", "dual"):
            return item
        self.implied.append((position, place))
        operands = [*item.operands]
        operands.insert(place, VCC[self.wave_size])
        return replace(item, operands=tuple(operands))

    def define(self, name: str) -> None:
        section = self.section
        if section.executable:
            if name.isdigit():
                self.numbered.append((int(name), len(self.instructions)))
                return
            if name in self.labels:
                self.fail(f"each label once; {name} is defined a second time")
            self.labels[name] = len(self.instructions)
            if not name.startswith("."):
                self.where = None
        elif section.allocated:
            section.labels.append((name, len(section.bytes), self.pending_align))
        self.pending_align = 1

    # -- sections

    def enter(self, name: str, flags: str | None = None, nobits: bool = False) -> _Section:
        section = self.sections.get(name)
        if section is None:
            if flags is None:
                stem = "." + name.split(".")[1] if name.startswith(".") and len(name) > 1 else name
                flags = _SECTION_FLAGS.get(stem, "")
            section = _Section(name, "w" in flags, "x" in flags, "a" in flags, nobits=nobits)
            self.sections[name] = section
        return section

    def switch(self, section: _Section) -> None:
        self.previous, self.section = self.section, section
        self.pending_align = 1

    # -- directives

    def directive(self, stripped: str) -> None:
        parts = stripped.split(None, 1)
        name = parts[0]
        if name == ".loc":
            self.locate(parts[1] if len(parts) > 1 else "")
            return
        if name == ".file":
            self.name_file(stripped)
            return
        if name.startswith((".cfi_", ".cv_")) or name in _IGNORED:
            if name == ".amdgcn_target":
                self.target(stripped)
            return
        rest = _without_comment(parts[1]).strip() if len(parts) > 1 else ""
        if self.kernel_block is not None and name.startswith(".amdhsa_"):
            if not rest:
                self.fail(f"a value after {name}")
            self.kernel_block[name[len(".amdhsa_") :]] = (rest, self.line_number)
        elif name == ".end_amdhsa_kernel":
            if self.kernel_block is None:
                self.fail(".amdhsa_kernel before .end_amdhsa_kernel")
            self.kernel_block = None
        elif name == ".amdhsa_kernel":
            if not rest:
                self.fail("the kernel's name after .amdhsa_kernel")
            self.kernel_block = self.kernels.setdefault(rest.strip('"'), {})
        elif name in _DATA:
            self.data(_DATA[name], rest)
        elif name in _STRINGS:
            found = _STRING.findall(rest)
            if not found:
                self.fail(f"a quoted string after {name}")
            for item in found:
                self.emit(_unescape(item) + _STRINGS[name])
        elif name in _FILLS or name == ".fill":
            self.fill(name, rest)
        elif name in (".p2align", ".p2alignl", ".p2alignw", ".align", ".balign"):
            self.align(name, rest)
        elif name in (".text", ".data", ".bss", ".rodata"):
            self.switch(self.enter(name, _SECTION_FLAGS[name], name == ".bss"))
        elif name in (".section", ".pushsection"):
            self.section_directive(name, rest)
        elif name == ".popsection":
            if not self.stack:
                self.fail(".pushsection before .popsection")
            self.switch(self.stack.pop())
        elif name == ".previous":
            self.switch(self.previous)
        elif name in (".set", ".equ", ".equiv"):
            symbol, comma, value = rest.partition(",")
            if not comma:
                self.fail(f"a name, a comma and an expression after {name}")
            self.assign(symbol.strip().strip('"'), value.strip())
        elif name == ".type":
            symbol, _, kind = rest.partition(",")
            self.types[symbol.strip().strip('"')] = kind.strip().lstrip("@%#")
        elif name == ".size":
            symbol, comma, value = rest.partition(",")
            if not comma:
                self.fail("a name, a comma and a size after .size")
            self.sizes[symbol.strip().strip('"')] = (value.strip(), self.line_number)
        elif name in (".comm", ".lcomm", ".amdgpu_lds"):
            values = [part.strip() for part in rest.split(",")]
            try:
                size, align = int(values[1], 0), int(values[2], 0) if len(values) > 2 else 1
            except (IndexError, ValueError):
                self.fail(f"a name, a size and an alignment after {name}")
            (self.lds if name == ".amdgpu_lds" else self.common)[values[0].strip('"')] = (size, max(1, align))
        elif name in _UNSUPPORTED:
            self.fail(f"no {name}: assembler macros and conditions are not expanded here")
        elif name.startswith(".amdhsa_"):
            self.fail(f".amdhsa_kernel before {name}")
        else:
            self.fail(f"a directive that is known here, not {name}")

    def target(self, stripped: str) -> None:
        match = re.search(r"\b(gfx[0-9a-z]+)", stripped)
        if match is None:
            self.fail('a target such as "amdgcn-amd-amdhsa--gfx942"')
        self.arch = match[1]
        self.wave_size = _wave_size(self.arch)

    def section_directive(self, name: str, rest: str) -> None:
        pieces = split_operands(rest)
        section_name = pieces[0].strip('"')
        if not section_name:
            self.fail(f"a section's name after {name}")
        flags = pieces[1].strip('"') if len(pieces) > 1 and pieces[1].startswith('"') else None
        nobits = len(pieces) > 2 and pieces[2].lstrip("@%") == "nobits"
        if name == ".pushsection":
            self.stack.append(self.section)
        self.switch(self.enter(section_name, flags, nobits))

    def align(self, name: str, rest: str) -> None:
        value = rest.split(",")[0].strip()
        if not INTEGER.match(value):
            self.fail(f"a number after {name}")
        amount = integer(value)
        if name.startswith(".p2align"):
            if not 0 <= amount < 32:
                self.fail(f"an exponent from 0 to 31 after {name}")
            amount = 1 << amount
        section = self.section
        if amount < 1 or section.executable or not section.allocated:
            return
        section.bytes += bytes(-len(section.bytes) % amount)
        section.align = max(section.align, amount)
        self.pending_align = amount

    def emit(self, data: bytes) -> None:
        section = self.section
        if section.executable:
            self.fail("instructions in a code section; gpulab reads instructions as text, not as numbers")
        section.bytes += data
        self.pending_align = 1

    def data(self, size: int, rest: str) -> None:
        for text in split_operands(rest):
            if INTEGER.match(text):
                self.emit((integer(text) & ((1 << 8 * size) - 1)).to_bytes(size, "little"))
            elif FLOAT.match(text) and size in (4, 8):
                self.emit(struct.pack("<f" if size == 4 else "<d", float(text)))
            elif not text:
                self.fail("a value before and after each comma")
            else:
                section = self.section
                if section.allocated and not section.executable:
                    section.relocations.append((len(section.bytes), size, text, self.line_number))
                self.emit(bytes(size))

    def fill(self, name: str, rest: str) -> None:
        values = []
        for text in split_operands(rest):
            try:
                values.append(evaluate(text, lambda _: None, self.arch))
            except Expected as bad:
                self.fail(str(bad))
        if any(v.symbols for v in values) or not values:
            self.fail(f"numbers after {name}")
        if self.section.executable:
            return  # padding between functions
        repeat, *more = (v.value for v in values)
        if name == ".fill":
            size, value = (more + [1, 0][len(more) :])[:2]
            unit = (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        else:
            unit = bytes([(more[0] if more else 0) & 255])
        if repeat < 0 or repeat * len(unit) > 1 << 32:
            self.fail(f"a sensible number of bytes after {name}")
        self.emit(unit * repeat)

    def assign(self, name: str, value: str) -> None:
        if not name or not value:
            self.fail("a name and an expression")
        self.set[name] = (value, self.line_number)

    # -- source lines

    def name_file(self, stripped: str) -> None:
        number = re.match(r"\.file\s+(\d+)\s", stripped)
        strings = [_unescape(s).decode(errors="replace") for s in _STRING.findall(stripped)]
        if not strings:
            self.fail("a quoted file name after .file")
        if number is None:
            return
        directory, name = (strings[0], strings[1]) if len(strings) > 1 and "md5" not in strings[1] else ("", strings[0])
        self.files[int(number[1])] = (directory, name)

    def locate(self, rest: str) -> None:
        body, _, comment = rest.partition(";")
        key = (body.strip(), comment.strip())
        if key in self.places:
            found = self.places[key]
            if found is not None:
                self.where = found
                self.mark = _mark(comment)
            else:
                self.mark = _mark(comment) or self.mark
            return
        words = body.split()
        if len(words) < 2 or not words[0].isdigit() or not words[1].isdigit():
            self.fail("a file number, a line and a column after .loc")
        line = int(words[1])
        column = int(words[2]) if len(words) > 2 and words[2].isdigit() else 0
        if not line:  # made by the compiler: it keeps the place before
            self.places[key] = None
            self.mark = _mark(comment) or self.mark
            return
        directory, name = self.files.get(int(words[0]), ("", ""))
        if int(words[0]) and directory and directory != self.files.get(0, ("", ""))[0] and not name.startswith("/"):
            joined = f"{directory}/{name}"
            name = name if name in self.sources and joined not in self.sources else joined
        if self.sources and name not in self.sources:  # in a header: the learner's line is where it was inlined
            for file, at_line, at_column in _INLINED_AT.findall(comment):
                if file in self.sources and int(at_line):
                    name, line, column = file, int(at_line), int(at_column)
                    break
        lines = self.source_lines.get(name, ())
        text = lines[line - 1] if 0 < line <= len(lines) else ""
        self.where = self.places[key] = SourceLine(name, line, column, text)
        self.mark = _mark(comment)

    # -- the end

    def value(self, text: str, line_number: int) -> Linear:
        try:
            return evaluate(text, self.lookup, self.arch)
        except Expected as bad:
            self.fail(str(bad), line_number)

    def lookup(self, name: str) -> Linear | None:
        if name in self.labels:
            return Linear(self.labels[name] * INSTRUCTION_BYTES, {"": 1})
        if name not in self.set:
            return None
        if name not in self.values:
            self.values[name] = None  # a symbol defined by itself stays a symbol
            text, line_number = self.set[name]
            self.values[name] = self.value(text, line_number)
        return self.values[name]

    def number(self, text: str, line_number: int) -> int:
        if INTEGER.match(text):
            return integer(text)
        if re.match(r"[a-z_]+$", text) and text not in self.set:
            return {"true": 1, "false": 0}.get(text, 0)
        value = self.value(text, line_number)
        if value.symbols:
            self.fail(f"a number: {', '.join(n or 'a code address' for n in value.symbols)} has no value", line_number)
        return value.value

    def finish(self) -> Program:
        if not self.arch:
            raise AssemblyError(
                "the assembly text does not say for which GPU it is.",
                why='there is no line .amdgcn_target "amdgcn-amd-amdhsa--gfx942".',
                hint="add that line first.",
            )
        functions = self.functions()
        documents = metadata.load(self.metadata)
        data, aliases = self.data_objects()
        self.resolve_operands(aliases)
        self.add_got_slots(data, aliases)
        kernels = self.kernel_descriptors(documents)
        wave_sizes = {descriptor[1] for descriptor in kernels.values()}
        if len(wave_sizes) > 1:
            raise AssemblyError("kernels of wave size 32 and of wave size 64 in one text.", hint="compile them apart.")
        wave_size = wave_sizes.pop() if wave_sizes else self.wave_size
        for position, place in self.implied:
            operands = [*self.instructions[position].operands]
            operands[place] = VCC[wave_size]
            self.instructions[position] = replace(self.instructions[position], operands=tuple(operands))
        return Program(
            arch=self.arch,
            wave_size=wave_size,
            instructions=tuple(self.instructions),
            labels=self.labels,
            functions=functions,
            kernels={name: descriptor[0] for name, descriptor in kernels.items()},
            data=data,
            printf_formats=tuple(documents.get("amdhsa.printf") or ()),
            sources=dict(self.sources),
            synchronising=frozenset((*self.marked[_MARKS[0]], *self.marked[_MARKS[1]])),
            narrow=frozenset(self.marked[_MARKS[1]]),
            partial=frozenset(self.marked[_MARKS[2]]),
            orders=self.orders,
            reloads=frozenset(self.reloads),
        )

    def functions(self) -> dict[str, tuple[int, int]]:
        names = [n for n, kind in self.types.items() if kind == "function" and n in self.labels]
        names += [n for n in self.kernels if n in self.labels and n not in names]
        starts = sorted({self.labels[n] for n in names} | {len(self.instructions)})
        result = {}
        for name in names:
            start = self.labels[name]
            end = next((s for s in starts if s > start), len(self.instructions))
            if name in self.sizes:
                size = self.value(*self.sizes[name])
                if not size.symbols and 0 < size.value // INSTRUCTION_BYTES <= len(self.instructions) - start:
                    end = start + size.value // INSTRUCTION_BYTES
            result[name] = (start, end)
        for name, (text, _) in self.set.items():  # one function under two names
            target = text.strip('"')
            if target in result and name not in result:
                result[name] = result[target]
                self.labels[name] = self.labels[target]
        return result

    def kernel_descriptors(self, documents: Mapping[str, Any]) -> dict[str, tuple[KernelDescriptor, int]]:
        directives = {}
        for name, block in self.kernels.items():
            if name not in self.labels:
                self.fail(f"a label {name}: before its .amdhsa_kernel", next(iter(block.values()))[1] if block else 0)
            directives[name] = {key: self.number(text, line) for key, (text, line) in block.items()}
        return metadata.descriptors(documents, directives, self.labels, self.wave_size)

    def data_objects(self) -> tuple[dict[str, DataObject], dict[str, tuple[str, int]]]:
        """Cut the sections into objects; the second result maps other names to (object, offset)."""
        objects: dict[str, DataObject] = {}
        aliases: dict[str, tuple[str, int]] = {}
        raw: list[tuple[str, int, int, bytes, bool, list[tuple[int, int, str, int]]]] = []
        for section in self.sections.values():
            if section.executable or not section.allocated or not section.labels:
                continue
            labels = sorted(section.labels, key=lambda item: item[1])
            position = 0
            while position < len(labels):
                name, start, align = labels[position]
                same = [item for item in labels[position:] if item[1] == start]
                sized = next((item for item in same if item[0] in self.sizes), same[0])
                name, align = sized[0], max(item[2] for item in same)
                following = next((item[1] for item in labels[position:] if item[1] > start), len(section.bytes))
                size = following - start
                if name in self.sizes:
                    given = self.value(*self.sizes[name])
                    size = size if given.symbols else given.value
                end = start + size
                last = position
                while last < len(labels) and (labels[last][1] < end or labels[last][1] == start):
                    if labels[last][0] != name:
                        aliases[labels[last][0]] = (name, labels[last][1] - start)
                    last += 1
                contents = bytes(section.bytes[start:end])
                if section.nobits and not any(contents):
                    contents = b""
                relocations = [(o - start, s, t, n) for o, s, t, n in section.relocations if start <= o < end]
                raw.append((name, size, align, contents, section.writable, relocations))
                position = max(last, position + 1)
        for name, (size, align) in self.common.items():
            raw.append((name, size, align, b"", True, []))
        names = {item[0] for item in raw}
        for name in self.set:
            if name in names or name in aliases:
                continue
            value = self.lookup(name)
            if value is not None and len(value.symbols) == 1 and next(iter(value.symbols)) in names | set(aliases):
                target = next(iter(value.symbols))
                base, extra = aliases.get(target, (target, 0))
                aliases[name] = (base, extra + value.value)
        for name, size, align, contents, writable, found in raw:
            placed: list[Relocation] = []
            patched = bytearray(contents)
            for offset, width, text, line_number in found:
                symbol, addend = self.relocation(text, line_number, aliases)
                if symbol:
                    placed.append(Relocation(offset, width, symbol, addend))
                else:
                    patched[offset : offset + width] = (addend & ((1 << 8 * width) - 1)).to_bytes(width, "little")
            objects[name] = DataObject(name, size, align, bytes(patched), writable, tuple(placed))
        for name, (size, align) in self.lds.items():
            objects[name] = DataObject(name, size, align, b"", True, (), is_lds=True)
        return objects, aliases

    def relocation(self, text: str, line_number: int, aliases: Mapping[str, tuple[str, int]]) -> tuple[str, int]:
        """A data value as symbol and addend ("" for a plain number). A code label keeps its own name."""
        match = SYMBOL.match(text)
        if match is not None and match[1].strip('"') in self.labels:
            return match[1].strip('"'), integer(match[3]) if match[3] else 0
        value = self.value(text, line_number)
        total = Linear(value.value)
        for name, factor in value.symbols.items():  # places within one object differ by a number
            base, extra = aliases.get(name, (name, 0))
            total = total.plus(Linear(extra * factor, {base: factor}))
        if not total.symbols:
            return "", total.value
        (name, factor), *others = total.symbols.items()
        if others or factor != 1 or not name:
            self.fail(f"one symbol plus a number, not {text!r}", line_number)
        return name, total.value

    def resolve_operands(self, aliases: Mapping[str, tuple[str, int]]) -> None:
        for position, line_number in self.deferred:
            item = self.instructions[position]
            operands = tuple(self.resolve(o, item, position, line_number, aliases) for o in item.operands)
            if item.pair is not None:
                others = tuple(self.resolve(o, item, position, line_number, aliases) for o in item.pair.operands)
                item = replace(item, pair=replace(item.pair, operands=others))
            if operands != item.operands or item.pair is not None:
                self.instructions[position] = replace(item, operands=operands)

    def resolve(
        self, given: Operand | Deferred, item: Instruction, position: int, line_number: int,
        aliases: Mapping[str, tuple[str, int]],
    ) -> Operand:  # fmt: skip
        if isinstance(given, Deferred):
            value = self.value(given.text, line_number)
            if value.symbols:
                self.fail(f"an expression with a value, not {given.text!r}", line_number)
            return Operand(Literal(value.value, places=self.places_in(given.text)))
        inside = given.value
        if isinstance(inside, Literal) and item.mnemonic in _BRANCHES and not inside.is_float:
            why = "a label, not a distance: that counts encoded dwords, and the text does not say how many there are"
            self.fail(why, line_number)
        if not isinstance(inside, Symbol) or inside.name in self.labels:
            return given
        if inside.name in aliases and not inside.relocation.startswith("gotpcrel32"):
            name, offset = aliases[inside.name]
            return replace(given, value=Symbol(name, inside.offset + offset, inside.relocation))
        if inside.name in self.set and not inside.relocation:
            absolute = self.lookup(inside.name)
            if absolute is not None and not absolute.symbols:
                number = absolute.value + inside.offset
                return replace(given, value=Literal(number, places=self.places_in(inside.name)))
        if NUMBERED.match(inside.name):
            return Operand(Symbol(self.numbered_label(inside.name, position, line_number)))
        if item.mnemonic in _BRANCHES:
            self.fail(f"a label that is defined; {inside.name} is not", line_number)
        return given

    def places_in(self, text: str) -> tuple[str, ...]:
        """The code labels that an expression names, itself or through symbols that are set to expressions."""
        found: dict[str, None] = {}
        work, seen = [text], set()
        while work:
            for match in TOKEN.finditer(work.pop()):
                name = (match[2] or "").strip('"').partition("@")[0]
                if name in self.labels:
                    found[name] = None
                elif name in self.set and name not in seen:
                    seen.add(name)
                    work.append(self.set[name][0])
        return tuple(found)

    def add_got_slots(self, data: dict[str, DataObject], aliases: Mapping[str, tuple[str, int]]) -> None:
        """For each ``sym@gotpcrel32`` operand an object ``sym@got`` that holds the address of sym."""
        for position, _ in self.deferred:
            for given in self.instructions[position].operands:
                if isinstance(given.value, Symbol) and given.value.relocation.startswith("gotpcrel32"):
                    name = given.value.name
                    base, extra = aliases.get(name, (name, 0))
                    slot = Relocation(0, 8, base, extra)
                    data[f"{name}@got"] = DataObject(f"{name}@got", 8, 8, bytes(8), False, (slot,))

    def numbered_label(self, name: str, position: int, line_number: int) -> str:
        number, forward = int(name[:-1]), name.endswith("f")
        places = [index for n, index in self.numbered if n == number and (index > position) == forward]
        if not places:
            self.fail(f"a label {number}: {'after' if forward else 'before'} this line", line_number)
        return self.made_label(min(places) if forward else max(places))

    def made_label(self, index: int) -> str:
        name = f".Lat_{index}"
        self.labels[name] = index
        return name


_BRANCHES = frozenset(
    ["s_branch", "s_call_b64"]
    + [f"s_cbranch_{c}" for c in ("scc0", "scc1", "vccz", "vccnz", "execz", "execnz", "cdbgsys", "cdbguser")]
    + ["s_cbranch_cdbgsys_or_user", "s_cbranch_cdbgsys_and_user"]
)


def _wave_size(arch: str) -> int:
    """Lanes of a wave unless the kernel says otherwise; 32 as long as the architecture is not known."""
    device = architectures.find(arch)
    return 32 if device is None else device.wave_size


def parse(
    text: str, sources: Mapping[str, str] | None = None, arch: str = "", guarantees: Guarantees = NO_GUARANTEES
) -> Program:
    """Read a whole assembly text.

    Args:
        text: what ``clang -S`` prints for an AMDGPU target, or hand-written assembly of the same form.
        sources: source text by file name, for the text of source lines. Where an instruction's line is in a file
            that is not among them (a header), and it was inlined from one that is, it is given the latter's line.
        arch: the GPU, where the text itself has no ``.amdgcn_target``.
        guarantees: what the text's maker promises of it.

    Raises:
        AssemblyError: the text cannot be read; the message names the line and what was expected.
    """
    return replace(_Reader(text, sources or {}, arch).read(), guarantees=guarantees)
