"""What the source says about the order of memory accesses, from the LLVM IR of Clang's front end.

`places(ir)` marks accesses that look plain on the machine and are not: atomic and volatile ones, and those of bit
fields. `orders(ir)` has, for each kernel, which fences and ordered atomic operations it can reach: in machine code
many of them leave nothing behind. (LLVM Language Reference, "Atomic Memory Ordering Constraints"; LLVM, "User Guide for
AMDGPU Backend", "Memory Scopes".)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

Place = tuple[str, int, int]
"""File without folders, line, column."""

ATOMIC, NARROW, PARTIAL = "synchronising", "synchronising in a block", "bit field"
"""What `places` says: used by several threads at a time; by those of one block; a word of which a part is written."""

WORDS = ("release", "acquire", "fence", "block-release", "block-acquire")
"""What `orders` says: a release, an acquire, a fence that is both, for the device or more; for the block."""

_DEBUG = re.compile(r"!dbg !(\d+)")
_NODE = re.compile(r"^!(\d+) = (?:distinct )?!(?:DI\w+)\((.*)\)$", re.MULTILINE)
_ACCESS = re.compile(
    r"^\s.*\b(?:(?:load|store) (?:atomic|volatile)|atomicrmw|cmpxchg|"
    r"call\b.* @_ZL?\d+(?:unsafe|safe)?[aA]tomic\w*\() ?.*!dbg !\d+.*$",
    re.MULTILINE,
)
_PLAIN = re.compile(r"\b(?:load|store) (?:atomic|volatile) .*?!dbg !(\d+)")
_SCOPE = re.compile(r'syncscope\("([\w-]*)"\)')
_NARROW_CALL = re.compile(r" @_ZL?\d+atomic[A-Z][a-z]+[A-Za-z]*_block")
_BLOCK_SCOPES = ("workgroup", "workgroup-one-as")
_WAVE_SCOPES = ("wavefront", "wavefront-one-as", "singlethread", "singlethread-one-as")

_DEFINITION = re.compile(r'^define [^\n]*?@("[^"]+"|[\w.$]+)\(.*?^\}', re.MULTILINE | re.DOTALL)
_GLOBAL = re.compile(r'^@("[^"]+"|[\w.$]+) = (.*)$', re.MULTILINE)
_NAME = re.compile(r'@("[^"]+"|[\w.$]+)')
_UNKNOWN = re.compile(r"\bcall\b[^@\n]*? (?:asm |%[\w.]+\()")
_ORDERED = re.compile(
    r"^\s+(?:%[\w.]+ = )?(fence|load atomic|store atomic|atomicrmw|cmpxchg)\b.*?\b(acquire|release|acq_rel|seq_cst)\b"
)
_BARRIER = "@llvm.amdgcn.s.barrier"

_CLEARED = re.compile(r"^\s+%[\w.]+ = and (i\d+) (%[\w.]+), -?\d+, !dbg !(\d+)", re.MULTILINE)
_LOAD = re.compile(r"^\s+(%[\w.]+) = load (i\d+), ptr [^!\n]*?(%[\w.]+|@[\w.$]+)[^!\n]*!dbg !(\d+)", re.MULTILINE)


def _places(ir: str) -> Callable[[str], Place | None]:
    """What gives the place of a debug location by its number."""
    nodes = dict(_NODE.findall(ir))

    def part(number: str, name: str) -> str:
        found = re.search(rf"\b{name}: !?(\"[^\"]*\"|\d+)", nodes.get(number, ""))
        return found[1].strip('"') if found else ""

    def place(number: str) -> Place | None:
        line = part(number, "line")
        file = part(part(part(number, "scope"), "file"), "filename")
        name = file.replace("\\", "/").rpartition("/")[2]
        return (name, int(line), int(part(number, "column") or 0)) if line else None

    return place


def places(ir: str) -> dict[Place, str]:
    """Accesses whose place in the source tells what the machine code does not: `ATOMIC`, `NARROW` or `PARTIAL`.

    On the machine many atomic and volatile accesses are plain loads and stores: only the source tells that several
    threads are meant to use them at a time.
    """
    place = _places(ir)
    found: dict[Place, str] = {}
    for number in _bit_fields(ir):
        at = place(number)
        if at is not None:
            found[at] = PARTIAL
    narrow: dict[str, bool] = {}
    for line in _ACCESS.findall(ir):
        number = _DEBUG.search(line)[1]  # type: ignore[index]
        narrow[number] = narrow.get(number, True) and _is_narrow(line)
    marks: dict[Place, bool] = {}
    for number, only_block in narrow.items():
        at = place(number)
        if at is not None:
            marks[at] = marks.get(at, True) and only_block
    return found | {at: NARROW if only_block else ATOMIC for at, only_block in marks.items()}


def _is_narrow(line: str) -> bool:
    """Whether an atomic operation is one among the threads of a block only."""
    if " @_Z" in line:
        return bool(_NARROW_CALL.search(line))
    scope = _SCOPE.search(line)
    return scope is not None and scope[1] in (*_BLOCK_SCOPES, *_WAVE_SCOPES)


def _bit_fields(ir: str) -> set[str]:
    """Debug locations of stores to bit fields: there Clang loads the word only to keep the fields beside."""
    if "DIFlagBitField" not in ir:
        return set()
    cleared = {(name, debug) for _, name, debug in _CLEARED.findall(ir)}
    found: set[str] = set()
    other: set[str] = set()
    for name, _, _, debug in _LOAD.findall(ir):
        (found if (name, debug) in cleared else other).add(debug)
    return found - other


@dataclass(frozen=True, slots=True)
class Order:
    """What a kernel can reach, itself and in the functions that it calls: some of `WORDS`, and the places of plain
    loads and stores that are atomic or volatile in the source.
    """

    words: frozenset[str]
    plain: frozenset[Place]


def orders(ir: str) -> dict[str, Order]:
    """What each kernel can reach, by its symbol. Left out: kernels of which that cannot be told."""
    place = _places(ir)
    bodies = {match[1].strip('"'): match[0] for match in _DEFINITION.finditer(ir)}
    mentions = {name: {n.strip('"') for n in _NAME.findall(body)} for name, body in bodies.items()}
    mentions |= {name.strip('"'): {n.strip('"') for n in _NAME.findall(body)} for name, body in _GLOBAL.findall(ir)}
    found = {}
    for kernel, body in bodies.items():
        if " amdgpu_kernel " not in body.partition("\n")[0]:
            continue
        reached, front = {kernel}, [kernel]
        while front:
            for name in mentions.get(front.pop(), ()):
                if name not in reached:
                    reached.add(name)
                    front.append(name)
        used = [bodies[name] for name in reached if name in bodies]
        if any(_UNKNOWN.search(text) for text in used):
            continue
        plain = {place(number) for text in used for number in _PLAIN.findall(text)}
        found[kernel] = Order(
            frozenset(word for text in used for word in _words(text)), frozenset(at for at in plain if at is not None)
        )
    return found


def _words(body: str) -> set[str]:
    """Which of `WORDS` a function has itself. The block's fences of __syncthreads() go with its barrier."""
    lines = body.split("\n")
    found = set()
    for number, line in enumerate(lines):
        match = _ORDERED.match(line)
        if match is None:
            continue
        what, order = match[1], match[2]
        scope = _SCOPE.search(line)
        block = scope is not None and scope[1] in _BLOCK_SCOPES
        if (scope is not None and scope[1] in _WAVE_SCOPES) or (
            block and what == "fence" and (_BARRIER in lines[number - 1] or _BARRIER in lines[number + 1])
        ):
            continue
        both = order in ("acq_rel", "seq_cst")
        if what == "fence" and both and not block:
            found.add("fence")
            continue
        prefix = "block-" if block else ""
        if (both or order == "release") and what != "load atomic":
            found.add(f"{prefix}release")
        if (both or order == "acquire" or " acquire" in line) and what != "store atomic":
            found.add(f"{prefix}acquire")
    return found
