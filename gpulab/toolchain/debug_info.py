"""Kernel signatures from the debug information in Clang's assembly text.

With -g Clang writes DWARF entries with a comment for each attribute; `functions(text)` reads those of the
functions: linker symbol, qualified name, and parameters with type spelling and numpy dtype. Reading the text
costs no second compile and no relocation. Tags and attributes: the DWARF 5 standard, chapters 4 and 5.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_ENTRY = re.compile(r"Abbrev \[\d+\] (0x[0-9a-f]+):0x[0-9a-f]+ (DW_TAG_\w+)")
_STRING = re.compile(r'^\.Linfo_string(\d+):\s*\n\s*\.asciz\s+"((?:[^"\\\n]|\\.)*)"', re.MULTILINE)
_ESCAPE = re.compile(r'\\([0-7]{1,3}|.)')
_SCALARS = {  # DWARF 5, section 7.8: encodings of base types
    "2": "bool", "4": "float", "5": "int", "6": "int", "7": "uint", "8": "uint", "16": "uint",
}  # fmt: skip
_HALF = ("__half", "half", "_Float16", "__fp16")


@dataclass(slots=True)
class _Entry:
    tag: str
    attributes: dict[str, str]
    parent: _Entry | None
    children: list[_Entry] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class FormalParameter:
    """A parameter as the source declares it. `pointer` also holds for references."""

    name: str
    type: str
    dtype: str | None
    pointer: bool


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the source: name with namespaces and template arguments, and parameters in order."""

    name: str
    parameters: tuple[FormalParameter, ...]


def _unescape(text: str) -> str:
    simple = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}

    def one(match: re.Match[str]) -> str:
        inner = match[1]
        return chr(int(inner, 8) & 255) if inner[0].isdigit() else simple.get(inner, inner)

    raw = _ESCAPE.sub(one, text)
    # Octal escapes are the bytes of UTF-8 text.
    return raw.encode("latin-1", "replace").decode("utf-8", "replace") if "\\" in text else raw


def _entries(lines: list[str]) -> dict[int, _Entry]:
    found: dict[int, _Entry] = {}
    current: _Entry | None = None
    # An entry encloses those whose offsets lie within its own extent.
    parents: list[_Entry] = []
    for line in lines:
        code, separator, comment = line.partition(";")
        if not separator:
            continue
        comment = comment.strip()
        if comment.startswith("Abbrev ["):
            match = _ENTRY.match(comment)
            if match is None:
                continue
            offset, size_of = int(match[1], 16), comment[comment.index(":0x") + 1 :].split()[0]
            current = _Entry(match[2], {"": size_of}, None)
            while parents and int(parents[-1].attributes["end"], 16) <= offset:
                parents.pop()
            if parents:
                current.parent = parents[-1]
                parents[-1].children.append(current)
            current.attributes["end"] = hex(offset + int(size_of, 16))
            parents.append(current)
            found[offset] = current
        elif current is not None and comment.startswith("DW_AT_"):
            current.attributes.setdefault(comment.split()[0][6:], code.strip().partition("\t")[2].strip() or "1")
        elif comment.startswith("End Of Children"):
            current = None
    return found


class _Types:
    """Names and dtypes of type entries."""

    def __init__(self, entries: dict[int, _Entry], strings: list[str]) -> None:
        self.entries, self.strings = entries, strings

    def reference(self, entry: _Entry, attribute: str) -> _Entry | None:
        value = entry.attributes.get(attribute)
        try:
            return self.entries.get(int(value, 0)) if value else None
        except ValueError:
            return None

    def text(self, entry: _Entry, attribute: str) -> str:
        value = entry.attributes.get(attribute)
        try:
            index = int(value, 0) if value else -1
        except ValueError:
            return ""
        return self.strings[index] if 0 <= index < len(self.strings) else ""

    def declared(self, entry: _Entry, attribute: str) -> str:
        """An attribute's text here or in the entry that this one completes."""
        seen = 0
        at: _Entry | None = entry
        while at is not None and seen < 8:
            text = self.text(at, attribute)
            if text:
                return text
            at = self.reference(at, "abstract_origin") or self.reference(at, "specification")
            seen += 1
        return ""

    def qualified(self, entry: _Entry) -> str:
        """The name with its namespaces and classes."""
        origin = self.reference(entry, "abstract_origin") or self.reference(entry, "specification") or entry
        parts = [self.declared(entry, "name")]
        scope = origin.parent
        while scope is not None and scope.tag in (
            "DW_TAG_namespace", "DW_TAG_structure_type", "DW_TAG_class_type", "DW_TAG_union_type",
        ):  # fmt: skip
            parts.append(self.text(scope, "name") or "(anonymous namespace)")
            scope = scope.parent
        return "::".join(reversed(parts))

    def spelling(self, entry: _Entry | None, depth: int = 0) -> str:
        """The type in C++, as Clang spells it ("const float *")."""
        if entry is None:
            return "void"
        if depth > 24:
            return "..."
        inner = self.reference(entry, "type")
        tag = entry.tag
        if tag in ("DW_TAG_pointer_type", "DW_TAG_reference_type", "DW_TAG_rvalue_reference_type"):
            mark = {"DW_TAG_pointer_type": "*", "DW_TAG_reference_type": "&"}.get(tag, "&&")
            if inner is not None and inner.tag == "DW_TAG_subroutine_type":
                return self.spelling(inner, depth + 1).replace("()", f"({mark})", 1)
            text = self.spelling(inner, depth + 1)
            return f"{text}{mark}" if text.endswith(("*", "&")) else f"{text} {mark}"
        if tag in ("DW_TAG_const_type", "DW_TAG_volatile_type", "DW_TAG_restrict_type"):
            word = {"DW_TAG_const_type": "const", "DW_TAG_volatile_type": "volatile"}.get(tag, "__restrict")
            text = self.spelling(inner, depth + 1)
            if text.endswith(("*", "&")):
                return f"{text}{word}"
            return f"{text} {word}" if re.search(r"[*&](const|volatile|__restrict)", text) else f"{word} {text}"
        if tag == "DW_TAG_subroutine_type":
            arguments = [self.spelling(self.reference(c, "type"), depth + 1) for c in entry.children]
            return f"{self.spelling(inner, depth + 1)} ()({', '.join(arguments)})"
        if tag == "DW_TAG_array_type" and not self.text(entry, "name"):
            if "GNU_vector" in entry.attributes:
                return f"{self.spelling(inner, depth + 1)} vector[{self.count(entry)}]"
            return f"{self.spelling(inner, depth + 1)}[{self.count(entry) or ''}]"
        return self.qualified(entry) if self.text(entry, "name") else f"(unnamed {tag[7:].removesuffix('_type')})"

    def count(self, entry: _Entry) -> str:
        return next((c.attributes["count"] for c in entry.children if "count" in c.attributes), "")

    def strip(self, entry: _Entry | None) -> _Entry | None:
        """The type without const, volatile, restrict, atomic and typedefs; half stays named."""
        seen = 0
        while entry is not None and seen < 32 and entry.tag in (
            "DW_TAG_const_type", "DW_TAG_volatile_type", "DW_TAG_restrict_type", "DW_TAG_typedef",
            "DW_TAG_atomic_type",
        ):  # fmt: skip
            entry = self.reference(entry, "type")
            seen += 1
        return entry

    def dtype(self, entry: _Entry | None) -> str | None:
        """The numpy name of a scalar type, else None."""
        plain = self.strip(entry)
        if plain is None:
            return None
        if plain.tag == "DW_TAG_pointer_type":
            return "uint64"
        if plain.tag == "DW_TAG_enumeration_type":
            inner = self.reference(plain, "type")
            return self.dtype(inner) if inner is not None else None
        name = self.text(plain, "name")
        if plain.tag == "DW_TAG_structure_type":
            return "float16" if name in _HALF else None
        if plain.tag != "DW_TAG_base_type":
            return None
        kind = _SCALARS.get(plain.attributes.get("encoding", ""))
        try:
            bits = 8 * int(plain.attributes.get("byte_size", "0"), 0)
        except ValueError:
            return None
        if kind == "bool":
            return "bool"
        if kind == "float":
            return f"float{bits}" if bits in (32, 64) or name in _HALF else None
        return f"{kind}{bits}" if kind and bits in (8, 16, 32, 64) else None


def functions(assembly: str) -> dict[str, Function]:
    """Functions with code in this assembly text, by linker symbol.

    Args:
        assembly: Clang's -S output made with -g, comments included.
    """
    start = assembly.find("\t.section\t.debug_info,")
    if start < 0:
        return {}
    end = assembly.find("\n\t.section", start + 1)
    lines = assembly[start : end if end >= 0 else len(assembly)].split("\n")
    numbered = {int(number): _unescape(text) for number, text in _STRING.findall(assembly, start)}
    strings = [numbered.get(i, "") for i in range(max(numbered, default=-1) + 1)]
    entries = _entries(lines)
    types = _Types(entries, strings)
    found: dict[str, Function] = {}
    for entry in entries.values():
        if entry.tag != "DW_TAG_subprogram" or "low_pc" not in entry.attributes:
            continue
        name = types.qualified(entry)
        symbol = types.declared(entry, "linkage_name") or types.declared(entry, "name")
        parameters = []
        for child in entry.children:
            if child.tag != "DW_TAG_formal_parameter":
                continue
            kind = types.reference(child, "type")
            origin = types.reference(child, "abstract_origin")
            if kind is None and origin is not None:
                kind = types.reference(origin, "type")
            plain = types.strip(kind)
            pointer = plain is not None and plain.tag in (
                "DW_TAG_pointer_type", "DW_TAG_reference_type", "DW_TAG_rvalue_reference_type",
            )  # fmt: skip
            value = types.reference(plain, "type") if pointer and plain is not None else kind
            parameters.append(
                FormalParameter(types.declared(child, "name"), types.spelling(kind), types.dtype(value), pointer)
            )
        if symbol:
            found[symbol] = Function(name, tuple(parameters))
    return found
