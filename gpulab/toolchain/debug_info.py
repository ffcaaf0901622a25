"""Kernel signatures from the debug information in Clang's LLVM IR.

`functions(ir)` reads the metadata nodes that describe functions (DISubprogram and the types that it leads to; LLVM
Language Reference, "Specialized Metadata Nodes"): linker symbol, qualified name, and parameters with type spelling
and numpy dtype. The IR comes from the front end alone. Machine code is made in another run with line tables only,
because full debug information changes how LLVM's AMDGPU backend orders instructions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_NODE = re.compile(r"^!(\d+) = (?:distinct )?!(DI\w+)\((.*)\)$", re.MULTILINE)
_TUPLE = re.compile(r"^!(\d+) = (?:distinct )?!\{(.*)\}$", re.MULTILINE)
_FIELD = re.compile(r'(\w+): ("(?:[^"\\]|\\.)*"|!DIExpression\([^)]*\)|[^,]*)(?:, |\Z)')
_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2})")
_SCALARS = {
    "DW_ATE_boolean": "bool", "DW_ATE_float": "float", "DW_ATE_signed": "int", "DW_ATE_signed_char": "int",
    "DW_ATE_unsigned": "uint", "DW_ATE_unsigned_char": "uint", "DW_ATE_UTF": "uint",
}  # fmt: skip
_HALF = ("__half", "half", "_Float16", "__fp16")
_POINTERS = {"DW_TAG_pointer_type": "*", "DW_TAG_reference_type": "&", "DW_TAG_rvalue_reference_type": "&&"}
_QUALIFIERS = {"DW_TAG_const_type": "const", "DW_TAG_volatile_type": "volatile", "DW_TAG_restrict_type": "__restrict"}
_SCOPES = ("DINamespace", "DICompositeType")


@dataclass(slots=True)
class _Node:
    kind: str  # "DIBasicType", "DISubprogram", ...
    fields: dict[str, str]

    @property
    def tag(self) -> str:
        return self.fields.get("tag", "")


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


class _Metadata:
    """The nodes of one module, and what types they describe."""

    def __init__(self, ir: str) -> None:
        self.nodes = {
            int(number): _Node(kind, {m[1]: m[2] for m in _FIELD.finditer(body)})
            for number, kind, body in _NODE.findall(ir)
        }
        self.tuples = {
            int(number): [int(item[1:]) if re.fullmatch(r"!\d+", item) else None for item in body.split(", ")]
            for number, body in _TUPLE.findall(ir)
        }

    def number(self, node: _Node, name: str) -> int | None:
        """A field that holds a reference or an integer; None if there is none."""
        value = node.fields.get(name, "").lstrip("!")
        return int(value) if value.isdigit() else None

    def follow(self, node: _Node, name: str) -> _Node | None:
        number = self.number(node, name)
        return None if number is None else self.nodes.get(number)

    def text(self, node: _Node, name: str) -> str:
        value = node.fields.get(name, "")
        if not value.startswith('"'):
            return ""
        raw = value[1:-1]
        if "\\" not in raw:
            return raw
        one = _ESCAPE.sub(lambda m: chr(int(m[1], 16)), raw)
        return one.encode("latin-1", "replace").decode("utf-8", "replace")

    def items(self, node: _Node, name: str) -> list[_Node | None]:
        """The nodes of a tuple; None stands for void."""
        number = self.number(node, name)
        listed = [] if number is None else self.tuples.get(number, [])
        return [None if i is None else self.nodes.get(i) for i in listed]

    def qualified(self, node: _Node) -> str:
        """The name with its namespaces and classes."""
        parts = [self.text(node, "name")]
        scope = self.follow(node, "scope")
        while scope is not None and scope.kind in _SCOPES and len(parts) < 32:
            parts.append(self.text(scope, "name") or "(anonymous namespace)")
            scope = self.follow(scope, "scope")
        return "::".join(reversed(parts))

    def spelling(self, node: _Node | None, depth: int = 0) -> str:
        """The type in C++, as Clang spells it ("const float *")."""
        if node is None:
            return "void"
        if depth > 24:
            return "..."
        inner = self.follow(node, "baseType")
        if node.tag in _POINTERS:
            mark = _POINTERS[node.tag]
            text = self.spelling(inner, depth + 1)
            if inner is not None and inner.kind == "DISubroutineType":
                return text.replace("()", f"({mark})", 1)
            return f"{text}{mark}" if text.endswith(("*", "&")) else f"{text} {mark}"
        if node.tag in _QUALIFIERS:
            word = _QUALIFIERS[node.tag]
            text = self.spelling(inner, depth + 1)
            if text.endswith(("*", "&")):
                return f"{text}{word}"
            return f"{text} {word}" if re.search(r"[*&](const|volatile|__restrict)", text) else f"{word} {text}"
        if node.kind == "DISubroutineType":
            result, *arguments = [self.spelling(item, depth + 1) for item in self.items(node, "types")] or ["void"]
            return f"{result} ()({', '.join(arguments)})"
        name = self.text(node, "name")
        if node.tag == "DW_TAG_array_type" and not name:
            counts = [self.number(item, "count") for item in self.items(node, "elements") if item is not None]
            shape = "".join(f"[{'' if count is None else count}]" for count in counts)
            vector = " vector" if "DIFlagVector" in node.fields.get("flags", "") else ""
            return f"{self.spelling(inner, depth + 1)}{vector}{shape}"
        return self.qualified(node) if name else f"(unnamed {node.tag[7:].removesuffix('_type')})"

    def strip(self, node: _Node | None) -> _Node | None:
        """The type without const, volatile, restrict, atomic and typedefs."""
        steps = 0
        while node is not None and steps < 32 and (
            node.tag in _QUALIFIERS or node.tag in ("DW_TAG_typedef", "DW_TAG_atomic_type")
        ):  # fmt: skip
            node = self.follow(node, "baseType")
            steps += 1
        return node

    def dtype(self, node: _Node | None, depth: int = 0) -> str | None:
        """The numpy name of a scalar type, else None."""
        plain = self.strip(node)
        if plain is None or depth > 4:
            return None
        if plain.tag == "DW_TAG_pointer_type":
            return "uint64"
        if plain.tag == "DW_TAG_enumeration_type":
            return self.dtype(self.follow(plain, "baseType"), depth + 1)
        name = self.text(plain, "name")
        if plain.tag == "DW_TAG_structure_type":
            return "float16" if name in _HALF else None
        if plain.kind != "DIBasicType":
            return None
        kind, bits = _SCALARS.get(plain.fields.get("encoding", "")), self.number(plain, "size")
        if kind == "bool":
            return "bool"
        if kind == "float":
            return f"float{bits}" if bits in (32, 64) or name in _HALF else None
        return f"{kind}{bits}" if kind and bits in (8, 16, 32, 64) else None

    def parameter(self, name: str, kind: _Node | None) -> FormalParameter:
        plain = self.strip(kind)
        pointer = plain is not None and plain.tag in _POINTERS
        value = self.follow(plain, "baseType") if pointer and plain is not None else kind
        for _ in range(8):  # the elements of arrays, which the kernel finds behind the pointer
            array = self.strip(value) if pointer else None
            if array is None or array.tag != "DW_TAG_array_type" or "DIFlagVector" in array.fields.get("flags", ""):
                break
            value = self.follow(array, "baseType")
        return FormalParameter(name, self.spelling(kind), self.dtype(value), pointer)


def functions(ir: str) -> dict[str, Function]:
    """Functions that are defined in this module, by linker symbol.

    Args:
        ir: LLVM IR as text, made with -g.
    """
    metadata = _Metadata(ir)
    names: dict[tuple[int | None, int | None], str] = {}
    for node in metadata.nodes.values():
        if node.kind == "DILocalVariable":
            names[metadata.number(node, "scope"), metadata.number(node, "arg")] = metadata.text(node, "name")
    found = {}
    for number, node in metadata.nodes.items():
        if node.kind != "DISubprogram" or "DISPFlagDefinition" not in node.fields.get("spFlags", ""):
            continue
        subroutine = metadata.follow(node, "type")
        types = metadata.items(subroutine, "types")[1:] if subroutine is not None else []
        parameters = tuple(
            metadata.parameter(names.get((number, position), ""), kind) for position, kind in enumerate(types, 1)
        )
        symbol = metadata.text(node, "linkageName") or metadata.text(node, "name")
        found[symbol] = Function(metadata.qualified(node), parameters)
    return found
