"""Assembly text between Clang and the assembler: checked, cleaned, and with line marks.

`refuse_file_access` keeps learners' assembly from reading files; `clean` drops what only debuggers read and
takes out the helper objects of name expressions; `mark_lines` gives assembly the line numbers of the learner's source;
`source_line` finds the source line of a line of assembly.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpulab.errors import CompileError
from gpulab.toolchain import memory_order

# Directives that read files, and those that can put a directive's name together from pieces.
_FORBIDDEN = re.compile(r"\.(incbin|include|macro|irp|irpc|altmacro|secure_log_unique)(?![\w$.@])", re.IGNORECASE)
_STRING_LINE = re.compile(r'\s*\.(ascii|asciz|string)\s+"(?:[^"\\]|\\.)*"\s*(;[^*]*)?\Z')
_LABEL = re.compile(r"\s*(\.L(?:tmp|func_begin|cfi|sec_end|cu_begin|line_table_start)\d*):")
_TEMPORARY = re.compile(r"\.L(?:tmp|func_begin|cfi|sec_end|cu_begin|line_table_start)\d*\b")
_MD5 = re.compile(r" md5 0x[0-9a-fA-F]+")
_LOC = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)?")
_FILE = re.compile(r'\s*\.file\s+(\d+)\s+"((?:[^"\\]|\\.)*)"(?:\s+"((?:[^"\\]|\\.)*)")?')
_FILE_MARK = "\t.file\t1 "
_MARKS = re.compile(r"^(?:\t\.loc\t1 \d+ 1|\t\.file\t1 [^\n]*)\n", re.MULTILINE)
_MEMORY = re.compile(r"\t(?:global|flat|ds)_(?:load|store|read|write)")
_FUNCTION = re.compile(r"\t\.type\t([^,]+),@function")
_INSTRUCTION = re.compile(
    r"\s*(?:(?:s|v|ds|flat|global|scratch|buffer|tbuffer|image|lds)_[a-z0-9_]+|exp)(?![\w:$.@]*\s*[:=])(\s|\Z)"
)

_REGISTER = re.compile(r"(?<![\w.])([vs])(?:(\d{1,3})\b|\[\d+:(\d{1,3})\])")


def refuse_file_access(text: str, name: str, lines: Sequence[int] = ()) -> None:
    """Refuse assembly text with directives that read files, or macros, which could spell such directives.

    Args:
        text: assembly text (also what Clang wrote: inline assembly stands in it unchanged).
        name: the learner's name for it.
        lines: for each line of the text the learner's line (0 for none); empty if the lines are not the learner's.

    Raises:
        CompileError: a line holds one.
    """
    if not _FORBIDDEN.search(text):
        return
    for number, line in enumerate(text.split("\n")):
        match = _FORBIDDEN.search(line)
        # A statement begins only at a line's start in this assembler, except after a comment that ends in the line.
        if match is None or _STRING_LINE.match(line) or (line.lstrip().startswith(";") and "*/" not in line):
            continue
        word = match[0].lower()
        own = lines[number] if number < len(lines) else 0
        place = f"{name}:{own}: " if own else f"inline assembly in {name}: " if not lines else f"{name}: "
        why = "assembly that is compiled here must not read files."
        if word not in (".incbin", ".include", ".secure_log_unique"):
            why = "macros could spell directives that read files, so they are not accepted."
        raise CompileError(
            f"{place}the directive {word} is not allowed.\n    {line.strip()}",
            why=why,
            hint="write the data or the instructions out; Python can generate the text (`.rept` is accepted).",
        )


def clean(text: str, *, helpers: tuple[str, ...] = ()) -> tuple[str, dict[str, str]]:
    """Clang's assembly text without what only a debugger reads.

    Removed: debug sections, unwind directives, comments on variables' places, labels that only those use,
    and the objects named in `helpers`.

    Returns:
        The text, and for each helper the symbol that it holds the address of.
    """
    kept: list[str] = []
    pointed: dict[str, str] = {}
    wanted = set(helpers)
    helper: str | None = None
    skipping = False
    for line in text.split("\n"):
        bare = line.strip()
        if bare.startswith((".section", ".text", ".data", ".bss", ".amdgpu_metadata", ".addrsig", ".ident")):
            skipping = bare.startswith(".section") and bare[8:].lstrip().startswith(".debug_")
        if (skipping and not bare.startswith(".file")) or bare.startswith((";DEBUG_", ".cfi_", ".addrsig", ".ident")):
            continue
        if bare.startswith(".file"):
            line = _MD5.sub("", line)
        if wanted:
            if helper is None and bare.startswith(".type"):
                symbol = bare[5:].strip().partition(",")[0].strip()
                helper = symbol if symbol in wanted else None
            if helper is not None:
                if bare.startswith(".quad"):
                    pointed.setdefault(helper, bare[5:].partition(";")[0].strip())
                if bare.startswith(".size"):
                    helper = None
                continue
        kept.append(line)
    used: set[str] = set()
    for line in kept:
        if ".L" in line and not _LABEL.match(line):
            used.update(_TEMPORARY.findall(line))
    lines = []
    for line in kept:
        match = _LABEL.match(line)
        if match is None or match[1] in used:
            lines.append(line)
    while lines and not lines[-1].strip():
        lines.pop()
    return "\n".join(lines) + "\n", pointed


def mark_lines(text: str, name: str, lines: Sequence[int]) -> tuple[str, list[int]]:
    """Put a `.loc` before each instruction of an assembly text that has none of its own.

    Args:
        lines: for each line of the text the line of the learner's source, 0 for none.

    Returns:
        The text, and for each of its lines the line of the learner's source.
    """
    source = text.split("\n")
    if re.search(r"^\s*\.loc\s", text, re.MULTILINE) or re.search(r"^\s*\.file\s+\d", text, re.MULTILINE):
        return text, list(lines)
    marked = [_FILE_MARK + f'"{_escape(name)}"']
    origin = [0]
    block = ""
    for number, line in zip(lines, source, strict=True):
        bare = line.strip()
        if block:
            if block in bare:
                block = ""
        elif bare.startswith(".amdgpu_metadata"):
            block = ".end_amdgpu_metadata"
        elif "/*" in bare and "*/" not in bare[bare.index("/*") :]:
            block = "*/"
        elif _INSTRUCTION.match(line) and not bare.startswith((".", ";", "//")):
            marked.append(f"\t.loc\t1 {number} 1")
            origin.append(number)
        marked.append(line)
        origin.append(number)
    return "\n".join(marked), origin


def without_marks(text: str) -> str:
    """The text without what `mark_lines` puts in."""
    return _MARKS.sub("", text)


def mark_orders(
    text: str, places: dict[memory_order.Place, str], orders: dict[str, memory_order.Order]
) -> str:  # fmt: skip
    """Write what memory_order.py found into the text: a comment behind the `.loc` of each place, and a line of the form
    "; orders of KERNEL: word word" for each kernel.

    Of memory instructions that stand together Clang gives the first one's place only. If the place of an atomic or
    volatile access is missing in a kernel, any of the others may be it, and they are marked themselves.
    """
    files: dict[str, str] = {}
    lines = text.split("\n")
    followers: list[int] = []
    together = False
    missing: set[memory_order.Place] = set()
    plain = {place for place, mark in places.items() if mark != memory_order.PARTIAL}

    def end() -> None:
        for number in followers if missing else ():
            lines[number] += f" ; {memory_order.ATOMIC}"
        followers.clear()

    for number, line in enumerate(lines if places else ()):
        if _MEMORY.match(line):
            if together:
                followers.append(number)
            together = True
            continue
        file = _FILE.match(line)
        if file:
            files[file[1]] = (file[3] or file[2]).rpartition("/")[2]
            continue
        function = _FUNCTION.match(line)
        if function:
            end()
            missing = set(orders[function[1]].plain if function[1] in orders else plain)
        loc = _LOC.match(line)
        if loc is None:
            together = together and line.startswith("\ts_clause")
            continue
        together = loc[2] == "0"
        if together:
            followers.append(number)
        place = files.get(loc[1], ""), int(loc[2]), int(loc[3] or 0)
        missing.discard(place)
        if place in places:
            lines[number] = f"{line} ; {places[place]}"
    end()
    lines[-1:-1] = [f"; orders of {name}: {' '.join(sorted(order.words))}" for name, order in sorted(orders.items())]
    return "\n".join(lines)


def registers_named(text: str, symbol: str) -> tuple[int, int]:
    """How many VGPRs and SGPRs a kernel has at least: one more than the highest number that its instructions name.

    Inline assembly may use registers of which it has not told the compiler.
    """
    start = text.find(f"\n{symbol}:")
    end = text.find(f"\t.amdhsa_kernel {symbol}\n", start)
    most = {"v": 0, "s": 0}
    if start >= 0 and end >= 0:
        for line in text[start:end].split("\n"):
            if _INSTRUCTION.match(line):
                for kind, single, last in _REGISTER.findall(line.partition(";")[0]):
                    most[kind] = max(most[kind], int(single or last) + 1)
    return min(most["v"], 512), min(most["s"], 128)


def source_line(text: str, line: int) -> tuple[str, int, int] | None:
    """File, line and column of the `.loc` that stands before this line (from 1) of assembly text, or None."""
    lines = text.split("\n")[:line]
    for before in reversed(lines):
        match = _LOC.match(before)
        if match:
            for other in lines:
                found = _FILE.match(other)
                if found and found[1] == match[1]:
                    return found[3] or found[2], int(match[2]), int(match[3] or 0)
            return None
        if before.startswith("\t.type"):
            return None
    return None


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
