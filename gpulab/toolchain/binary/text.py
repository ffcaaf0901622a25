"""The assembly text of a foreign code object, as the compiler could have written it: `assembly_of`.

What the linker did is undone by what is certain alone. A jump becomes one to a label; LLVM's sequence s_getpc_b64,
s_add_u32, s_addc_u32 with two literals becomes the symbol that they lead to; words that the loader fills in name
theirs. An address of code that is computed in another way, an instruction that does not come back as the same bytes,
and bytes that are none are refused, each with its address.
"""

from __future__ import annotations

import bisect
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gpulab import architectures
from gpulab.errors import GpulabError
from gpulab.toolchain import elf as elf_reader
from gpulab.toolchain.binary import decoder, descriptor, lines
from gpulab.toolchain.binary.decoder import Decoded

_VERSIONS = (2, 3, 4)  # ELFABIVERSION_AMDGPU_HSA_V4 to V6
_SHARED_OBJECT = 3
_ABS64, _RELATIVE64 = 3, 13  # R_AMDGPU_ABS64, R_AMDGPU_RELATIVE64
_KERNEL = ".kd"
_BRANCH = re.compile(r"(s_(?:branch|cbranch_\w+|call_b64 [^,]+,))\s+(-?\d+)$")
_GETPC = re.compile(r"s_getpc_b64 s\[(\d+):\d+\]$")
_ADD = re.compile(
    r"(s_add_u32|s_add_co_u32|s_addc_u32|s_add_co_ci_u32) s(\d+), s(\d+), (?:lit\()?(0x[0-9a-f]+|-?\d+)\)?$"
)
_ADD64 = re.compile(r"s_add_nc_u64 s\[(\d+):\d+\], s\[(\d+):\d+\], (?:lit64\()?(0x[0-9a-f]+|-?\d+)\)?$")
_BETWEEN = re.compile(r"s_sext_i32_i16 s\d+, s\d+$|s_wait_alu |s_delay_alu |s_nop |s_waitcnt_depctr ")
_SEQUENCE = 8  # instructions behind an s_getpc_b64 in which its sums are looked for
_MOST_DATA = 1 << 30


@dataclass(frozen=True, slots=True)
class Foreign:
    """A code object read back: the device's gfx name, the text, and the files that its lines name."""

    arch: str
    text: str
    files: tuple[str, ...]


def _refused(what: str, why: str = "", hint: str = "") -> GpulabError:
    return GpulabError(f"this code object cannot be run here: {what}.", why=why, hint=hint)


#: Processors by their number in an ELF header's flags (LLVM's AMDGPUUsage, EF_AMDGPU_MACH_AMDGCN)
_MACHINES = {
    0x2C: "gfx900", 0x2D: "gfx902", 0x2E: "gfx904", 0x2F: "gfx906", 0x30: "gfx908", 0x31: "gfx909", 0x32: "gfx90c",
    0x33: "gfx1010", 0x34: "gfx1011", 0x35: "gfx1012", 0x36: "gfx1030", 0x37: "gfx1031", 0x38: "gfx1032",
    0x39: "gfx1033", 0x3D: "gfx1035", 0x3E: "gfx1034", 0x3F: "gfx90a", 0x41: "gfx1100", 0x42: "gfx1013",
    0x43: "gfx1150", 0x44: "gfx1103", 0x45: "gfx1036", 0x46: "gfx1101", 0x47: "gfx1102", 0x48: "gfx1200",
    0x4A: "gfx1151", 0x4C: "gfx942", 0x4E: "gfx1201", 0x4F: "gfx950", 0x55: "gfx1152", 0x58: "gfx1153",
}  # fmt: skip


def arch_of(elf: bytes) -> str:
    """The gfx name of the device that a code object is made for.

    Metadata that an assembler got from a person may lack the entry; then the ELF header says it, as to AMD's loader.

    Raises:
        GpulabError: neither its metadata nor its header say.
    """
    target = elf_reader.metadata(elf).get("amdhsa.target", "")
    match = re.search(r"(gfx[0-9a-f]+)(?::[\w:+-]*)?$", target if isinstance(target, str) else "")
    if match is not None:
        return match[1]
    arch = _MACHINES.get(elf_reader.flags(elf) & 0xFF)
    if arch is None:
        raise _refused(
            "neither its metadata (amdhsa.target) nor its header (e_flags) name a device",
            "code objects of version 4 to 6 have the entry, and those of version 3 and later the flags.",
        )
    return arch


def assembly_of(elf: bytes) -> Foreign:
    """Read a linked code object (an ELF file of version 4, 5 or 6) back into assembly text.

    Raises:
        GpulabError: it is none, is for a device that gpulab does not have, or holds something that is not certain; or
        there is
            no disassembler here.
    """
    return _Writer(elf).write()


@dataclass(slots=True)
class _Function:
    """A function in the code: its first address, the one behind it, and its name."""

    start: int
    end: int
    name: str
    instructions: list[Decoded] = field(default_factory=list)


class _Writer:
    def __init__(self, elf: bytes) -> None:
        self.elf = elf
        self.sections = elf_reader.read(elf)
        if int.from_bytes(elf[16:18], "little") != _SHARED_OBJECT:
            raise _refused(
                "it is not linked",
                "it is an object file, whose addresses are not known yet.",
                "link it with ld.lld -shared.",
            )
        if elf[8] not in _VERSIONS:
            raise _refused(
                f"its version of the ABI is {elf[8]}", "gpulab reads code objects of version 4, 5 and 6 (ABI 2, 3, 4)."
            )
        self.metadata = elf_reader.metadata(elf)
        self.arch = arch_of(elf)
        if architectures.find(self.arch) is None:
            known = ", ".join(sorted(architectures.names()))
            raise _refused(
                f"it is made for {self.arch}", f"the devices here are {known}.", "compile it for one of them."
            )
        self.symbols = [s for s in elf_reader.symbols(elf) if s.section and s.name]
        self.out: list[str] = []
        self.labels: dict[int, str] = {}
        self.objects: list[tuple[int, int, str]] = []  # address, size and name of each data object, by address

    def write(self) -> Foreign:
        code = [s for s in self.sections if s.is_data and s.flags & elf_reader.EXECUTABLE and s.contents]
        kernels = self.kernels()
        sizes = {descriptor.wave_size(raw, self.arch) for _, raw in kernels.values()}
        if len(sizes) > 1:
            raise _refused("some of its kernels have waves of 32 lanes, others of 64")
        wave_size = sizes.pop() if sizes else architectures.get(self.arch).wave_size
        functions = self.functions(code, kernels)
        decoded = decoder.decode([(s.address, s.contents) for s in code], self.arch, wave_size)
        self.share(decoded, functions)
        for function in functions:
            self.labels[function.start] = function.name
        self.find_objects()
        rows = lines.rows({s.name: s.contents for s in self.sections})
        files = {name: number for number, name in enumerate(dict.fromkeys(row.file for row in rows), 1)}
        self.out += [f'\t.amdgcn_target "amdgcn-amd-amdhsa--{self.arch}"', "\t.text"]
        self.out += [f"\t.file {number} {_quoted(name)}" for name, number in files.items()]
        bodies = [list(self.body(function)) for function in functions]
        for function, body in zip(functions, bodies, strict=True):
            self.function(function, body, rows, files)
        for name, (_, raw) in kernels.items():
            self.descriptor(name, raw)
        self.data()
        self.out += ["\t.amdgpu_metadata", json.dumps(self.metadata, default=str), "\t.end_amdgpu_metadata", ""]
        return Foreign(self.arch, "\n".join(self.out), tuple(files))

    # What there is

    def kernels(self) -> dict[str, tuple[int, bytes]]:
        """By name: the address and the bytes of each kernel's descriptor."""
        found = {}
        for symbol in self.symbols:
            if symbol.name.endswith(_KERNEL) and symbol.kind == elf_reader.OBJECT:
                raw = self.bytes_at(symbol.address, descriptor.SIZE)
                found[symbol.name.removesuffix(_KERNEL)] = symbol.address, raw
        return found

    def bytes_at(self, address: int, size: int) -> bytes:
        for section in self.sections:
            at = address - section.address
            if section.is_data and at >= 0 and at + size <= len(section.contents):
                return section.contents[at : at + size]
        raise _refused(f"it has no {size} bytes at address {address:#x}, where a symbol says so")

    def functions(
        self, code: Sequence[elf_reader.Section], kernels: Mapping[str, tuple[int, bytes]]
    ) -> list[_Function]:
        """All functions in order of addresses; where one has no size it ends where the next begins."""
        starts: dict[int, tuple[str, int]] = {}
        for symbol in self.symbols:
            inside = any(s.address <= symbol.address < s.address + len(s.contents) for s in code)
            if inside and symbol.kind == elf_reader.FUNCTION and not starts.get(symbol.address, ("", 0))[1]:
                starts[symbol.address] = symbol.name, symbol.size
        for name, (address, raw) in kernels.items():
            first = address + descriptor.entry(raw)
            if not any(s.address <= first < s.address + len(s.contents) for s in code):
                raise _refused(f"the kernel {name} begins at {first:#x}, where there is no code")
            starts[first] = name, starts.get(first, ("", 0))[1]
        found = []
        places = [*sorted(starts), max((s.address + len(s.contents) for s in code), default=0)]
        for place, following in itertools.pairwise(places):
            name, size = starts[place]
            end = next(s.address + len(s.contents) for s in code if s.address <= place < s.address + len(s.contents))
            found.append(_Function(place, min(place + size if size else end, following, end), name))
        return found

    def share(self, decoded: Sequence[Decoded], functions: Sequence[_Function]) -> None:
        """Give each function its instructions; what stands between functions only fills."""
        addresses = [each.address for each in decoded]
        for function in functions:
            first = bisect.bisect_left(addresses, function.start)
            function.instructions = list(decoded[first : bisect.bisect_left(addresses, function.end)])
            for each in function.instructions:
                place = f"at {each.address:#x} in {function.name}"
                if not each.text:
                    raw = self.bytes_at(each.address, 4).hex(" ")
                    raise _refused(f"the bytes {raw} {place} are no instruction of {self.arch}")
                if not each.same:
                    raw = self.bytes_at(each.address, each.size).hex(" ")
                    raise _refused(
                        f"the bytes {raw} {place} are not those of {each.text!r}",
                        "LLVM's disassembler reads them so, and its assembler writes others: they are not certain.",
                    )
            inside = {each.address for each in function.instructions}
            if function.start not in inside:
                raise _refused(f"{function.name} begins at {function.start:#x}, within an instruction")

    def find_objects(self) -> None:
        """Variables and constants by symbol; what lies between them is an object with a made name."""
        for section in self.sections:
            if not section.is_data or section.flags & elf_reader.EXECUTABLE or not section.size:
                continue
            if section.size > _MOST_DATA:
                raise _refused(f"its section {section.name} has {section.size:,} bytes")
            at, end = section.address, section.address + section.size
            named = sorted(
                (s.address, s.size, s.name)
                for s in self.symbols
                if at <= s.address and s.address + s.size <= end and s.size and s.kind != elf_reader.FUNCTION
                and not s.name.endswith(_KERNEL)
            )  # fmt: skip
            for address, size, name in named:
                if address < at:
                    continue  # a second name for the same place
                self.between(at, address)
                self.objects.append((address, size, name))
                at = address + size
            self.between(at, end)
        self.objects.sort()

    def between(self, start: int, end: int) -> None:
        if end > start:
            self.objects.append((start, end - start, f".Lat_{start:x}"))

    def name_of(self, address: int, code: bool = True) -> tuple[str, int]:
        """The symbol that an address belongs to, and how far behind it; ("", 0) if to none."""
        if code and address in self.labels:
            return self.labels[address], 0
        at = bisect.bisect_right(self.objects, address, key=lambda each: each[0]) - 1
        if at >= 0:
            start, size, name = self.objects[at]
            if start <= address <= start + size:
                return name, address - start
        return "", 0

    # Code

    def body(self, function: _Function) -> Iterator[tuple[Decoded, str]]:
        """The instructions with their text; jumps and addresses by name."""
        inside = {each.address for each in function.instructions}
        named = self.addresses(function, inside)
        for each in function.instructions:
            text = named.get(each.address, each.text)
            jump = _BRANCH.match(text)
            if jump:
                distance = (int(jump[2]) & 0xFFFF ^ 0x8000) - 0x8000
                text = f"{jump[1]} {self.label(each.address + 4 + 4 * distance, inside, each, function)}"
            yield each, text

    def label(self, target: int, inside: set[int], each: Decoded, function: _Function) -> str:
        if target in self.labels:
            return self.labels[target]
        if target not in inside:
            raise _refused(f"{each.text!r} at {each.address:#x} in {function.name} leads to {target:#x}, outside of it")
        return self.labels.setdefault(target, f".LBB_{target:x}")

    def addresses(self, function: _Function, inside: set[int]) -> dict[int, str]:
        """By address: the instructions that make addresses of what s_getpc_b64 gives, with symbols for literals."""
        found: dict[int, str] = {}
        for index, first in enumerate(function.instructions):
            match = _GETPC.match(first.text)
            if match is None:
                continue
            behind = function.instructions[index + 1 : index + 1 + _SEQUENCE]
            low, high, wide = self.sums(int(match[1]), behind)
            base = first.address + first.size
            if wide is not None:
                target = base + int(_matched(_ADD64, wide)[3], 0)
            elif low is not None and high is not None:
                halves = [int(_matched(_ADD, each)[4], 0) & 0xFFFFFFFF for each in (low, high)]
                target = base + halves[0] + (halves[1] << 32)
            else:
                raise _refused(
                    f"what is done with {first.text!r} at {first.address:#x} in {function.name} is not known",
                    "addresses are read where LLVM's sequence makes them: s_getpc_b64 and two additions.",
                )
            target &= (1 << 64) - 1
            self.name(target, base, behind, (low, high, wide), inside, found, first, function)
        return found

    def sums(self, pair: int, behind: Sequence[Decoded]) -> tuple[Decoded | None, Decoded | None, Decoded | None]:
        """The two additions to the halves of a pair of SGPRs, or the one to the whole."""
        low: Decoded | None = None
        for each in behind:
            add, wide = _ADD.match(each.text), _ADD64.match(each.text)
            if wide and low is None and int(wide[1]) == int(wide[2]) == pair:
                return None, None, each
            if add and low is None and int(add[2]) == int(add[3]) == pair and add[1] in ("s_add_u32", "s_add_co_u32"):
                low = each
            elif (
                add
                and low is not None
                and int(add[2]) == int(add[3]) == pair + 1
                and "c" in add[1][5:].replace("_co_u", "")
            ):
                return low, each, None
            elif not _BETWEEN.match(each.text):
                break
        return None, None, None

    def name(
        self, target: int, base: int, behind: Sequence[Decoded], parts: Sequence[Decoded | None], inside: set[int],
        found: dict[int, str], first: Decoded, function: _Function,
    ) -> None:  # fmt: skip
        """Write the symbol behind an address into the instructions that make it."""
        symbol, offset = self.name_of(target)
        if not symbol and target in inside:  # a branch that is too far for s_branch
            symbol = self.label(target, inside, first, function)
        if not symbol:
            raise _refused(
                f"{function.name} uses the address {target:#x} (made at {first.address:#x}), where nothing is"
            )
        jump = target in inside and symbol.startswith(".LBB_")
        after = self.labels.setdefault(base, f".Lpc_{base:x}") if jump else ""
        # The offset counts from the end of s_getpc_b64 to the literal, as the linker has it (dispatch.relocated).
        distance = 4
        for each in behind:
            if each in parts:
                text, half = each.text, "hi" if each is parts[1] else "lo"
                operand = f"{symbol}@{'rel64' if each is parts[2] else f'rel32@{half}'}+{offset + distance}"
                if jump:
                    operand = f"({symbol}-{after})" + ("&4294967295" if half == "lo" else ">>32")
                found[each.address] = f"{text[: text.rindex(', ')]}, {operand}"
                distance += 8
            else:
                distance += 4

    def function(
        self,
        function: _Function,
        body: Sequence[tuple[Decoded, str]],
        rows: Sequence[lines.LineStart],
        files: Mapping[str, int],
    ) -> None:
        name = _name(function.name)
        self.out += [f"\t.globl\t{name}", "\t.p2align\t8", f"\t.type\t{name},@function", f"{name}:"]
        place: tuple[int, int] | None = None
        for each, text in body:
            if each.address != function.start and each.address in self.labels:
                self.out.append(f"{self.labels[each.address]}:")
            at = bisect.bisect_right(rows, each.address, key=lambda row: row.address) - 1
            if at >= 0 and (rows[at].line, files[rows[at].file]) != place:
                row = rows[at]
                place = row.line, files[row.file]
                self.out.append(f"\t.loc\t{place[1]} {row.line} {row.column}")
            self.out.append(f"\t{text}")
        end = f".Lfunc_end_{function.start:x}"
        self.out += [f"{end}:", f"\t.size\t{name}, {end}-{name}"]

    def descriptor(self, name: str, raw: bytes) -> None:
        entry = next(
            (k for k in self.described() if k.get(".name") == name or k.get(".symbol") == name + _KERNEL), None
        )
        if entry is None:
            raise _refused(f"its metadata say nothing of the kernel {name}")
        values = descriptor.directives(raw, self.arch)
        values["next_free_vgpr"] = _whole(entry.get(".vgpr_count"))
        values["next_free_sgpr"] = _whole(entry.get(".sgpr_count"))
        self.out.append(f"\t.amdhsa_kernel {_name(name)}")
        self.out += [f"\t\t.amdhsa_{directive} {value}" for directive, value in values.items()]
        self.out.append("\t.end_amdhsa_kernel")

    def described(self) -> list[dict[str, object]]:
        listed = self.metadata.get("amdhsa.kernels", [])
        return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []

    # Data

    def data(self) -> None:
        placed: dict[int, str] = {}
        for relocation in elf_reader.relocations(self.elf):
            placed[relocation.address] = self.value(relocation)
        for section in self.sections:
            inside = [o for o in self.objects if section.address <= o[0] < section.address + section.size]
            if not section.is_data or section.flags & elf_reader.EXECUTABLE or not inside:
                continue
            flags = "aw" if section.flags & elf_reader.WRITABLE else "a"
            kind = "@progbits" if section.contents else "@nobits"
            self.out.append(f'\t.section\t{_quoted(section.name)},"{flags}",{kind}')
            for address, size, name in inside:
                if name.startswith(".Lat_") and not self.is_used(name, placed):
                    continue
                lowest = (address | 256) & -(address | 256)  # the bit that decides the alignment, at most 256
                align = lowest.bit_length() - 1
                quoted = _name(name)
                self.out += [f"\t.p2align\t{align}", f"\t.type\t{quoted},@object", f"{quoted}:"]
                self.contents(section, address, size, placed)
                self.out.append(f"\t.size\t{quoted}, {size}")

    def is_used(self, name: str, placed: Mapping[int, str]) -> bool:
        """Whether anything leads to what has no name; kernel descriptors and what only fills are not needed."""
        return any(f" {name}@" in line for line in self.out) or any(value.startswith(name) for value in placed.values())

    def contents(self, section: elf_reader.Section, address: int, size: int, placed: Mapping[int, str]) -> None:
        start = address - section.address
        raw = section.contents[start : start + size].ljust(size, b"\0")
        at = 0
        fixed = sorted(place - address for place in placed if address <= place < address + size)
        for place in [*fixed, size]:
            piece = raw[at:place]
            if piece and not any(piece):
                self.out.append(f"\t.zero\t{len(piece)}")
            else:
                words = len(piece) // 4 * 4
                for begin in range(0, words, 64):
                    part = piece[begin : min(begin + 64, words)]
                    numbers = (int.from_bytes(part[i : i + 4], "little") for i in range(0, len(part), 4))
                    self.out.append("\t.long\t" + ", ".join(map(hex, numbers)))
                if len(piece) > words:
                    self.out.append("\t.byte\t" + ", ".join(map(str, piece[words:])))
            at = place
            if place < size:
                self.out.append(f"\t.quad\t{placed[address + place]}")
                at += 8

    def value(self, relocation: elf_reader.Relocation) -> str:
        """What the loader puts at a place, as an expression."""
        if relocation.kind == _RELATIVE64:
            name, offset = self.name_of(relocation.addend)
        elif relocation.kind == _ABS64:
            address = next((s.address for s in self.symbols if s.name == relocation.symbol), None)
            if address is None:
                raise _refused(
                    f"it needs the symbol {relocation.symbol}, which it does not have", "it was linked in part only."
                )
            name, offset = self.name_of(address + relocation.addend)
        else:
            raise _refused(
                f"it has a relocation of kind {relocation.kind}", "linked code objects have those of 64 bits alone."
            )
        if not name:
            raise _refused(f"a word at {relocation.address:#x} is to hold an address where nothing is")
        return f"{_name(name)}+{offset}" if offset else _name(name)


def _matched(pattern: re.Pattern[str], each: Decoded) -> re.Match[str]:
    match = pattern.match(each.text)
    assert match is not None
    return match


def _whole(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value < 1 << 32 else 0


def _name(name: str) -> str:
    """A symbol as the assembler takes it."""
    return name if re.fullmatch(r"[A-Za-z_.$][\w.$]*", name) else _quoted(name)


def _quoted(text: str) -> str:
    return '"' + re.sub(r'[\x00-\x1f"\\\x7f]', "_", text) + '"'
