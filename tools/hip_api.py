#!/usr/bin/env python3
"""What of HIP's documented device functions gpulab's headers have: `make hip-api` writes the page.

`read` reads the list in hip_api.txt, `probe` compiles a kernel for every entry and loads it on a virtual device,
`page` is the text of gpulab/toolchain/include/HIP_API.md. With `--check` it is compared and not written.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from gpulab import architectures

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / "tools" / "hip_api.txt"
PAGE = ROOT / "gpulab" / "toolchain" / "include" / "HIP_API.md"
ARCHITECTURES = architectures.defaults()

#: Why something is missing, by group or by entry.
REASONS: dict[str, str] = {
    "Microscaling extensions": "conversions with a scale for a block, and with stochastic rounding: gfx950's "
    "instructions (v_cvt_scalef32_...) by function names. There is no header hip/hip_ext_ocp.h here.",
}


@dataclass(frozen=True)
class Entry:
    """One documented function: what it is called on the page, and the kernel that uses it (@ stands for its number)."""

    name: str
    kernel: str


@dataclass
class Group:
    """Entries of one kind, with where HIP documents them and what their kernels need."""

    title: str
    source: str = ""
    include: str = ""
    text: str = ""
    entries: list[Entry] = field(default_factory=list)


def _choices(line: str) -> tuple[str, list[dict[str, str]]]:
    """A line without its [T=a|b], and what to put for {T}, one dictionary for each choice."""
    found = re.search(r"\s*\[([A-Z](?:,[A-Z])*)=([^\]]*)\]", line)
    if found is None:
        return line, [{}]
    names = found[1].split(",")
    chosen = [dict(zip(names, choice.split(","), strict=True)) for choice in found[2].split("|")]
    return line[: found.start()] + line[found.end() :], chosen


def _put(text: str, choice: dict[str, str]) -> str:
    return re.sub(r"\{([A-Z])\}", lambda found: choice.get(found[1], found[0]), text)


def _function(result: str, name: str, types: Sequence[str], tail: str) -> Entry:
    """A kernel that calls a function: values come from memory, pointers are handed on."""
    parameters, arguments = [], []
    for i, kind in enumerate(types):
        pointer = kind.endswith("*")
        parameters.append(f"{kind} a{i}" if pointer else f"const {kind}* a{i}")
        arguments.append(f"a{i}" if pointer else f"*a{i}")
    call = f"{name}({', '.join([*arguments, *([tail] if tail else [])])})"
    if result == "void":
        body = f"{call};"
    else:
        parameters.append(f"{result}* out")
        body = f"*out = {call};"
    shown = f"{result} {name}({', '.join(types)})"
    return Entry(shown, f"__global__ void probe@({', '.join(parameters)}) {{ {body} }}")


def _entries(line: str) -> Iterator[Entry]:
    line, choices = _choices(line)
    if line.startswith("do "):
        statement, _, name = line[3:].partition(" # ")
        for choice in choices:
            if statement.startswith("#"):
                yield Entry("", statement)
            else:
                yield Entry(_put(name.strip(), choice), f"__global__ void probe@() {{ {_put(statement, choice)} }}")
        return
    tail = re.search(r"\s*\[tail=([^\]]*)\]", line)
    if tail:
        line = line[: tail.start()] + line[tail.end() :]
    head, _, names = line.rpartition(": ")
    result, _, rest = head.partition(" *(")
    for choice in choices:
        types = [_put(kind.strip(), choice) for kind in rest.rstrip(")").split(",") if kind.strip()]
        for name in names.split():
            yield _function(_put(result, choice), _put(name, choice), types, tail[1] if tail else "")


def read(text: str) -> list[Group]:
    """The groups of a list as in hip_api.txt."""
    groups: list[Group] = []
    for line in text.splitlines():
        if line.startswith("# ") or line == "#" or not line.strip():
            continue
        if line.startswith("== "):
            groups.append(Group(line[3:].strip()))
            continue
        group = groups[-1]
        word, _, rest = line.partition(" ")
        if word == "from":
            group.source = rest
        elif word == "include":
            group.include = rest
        elif word == "with":
            group.text += rest + "\n"
        else:
            group.entries.extend(_entries(line))
    return groups


def probe(group: Group, arch: str) -> dict[str, str]:
    """What is missing of a group on an architecture: entries with the compiler's or the virtual GPU's complaint."""
    from gpulab import toolchain
    from gpulab.errors import CompileError, UnsupportedInstruction

    missing: dict[str, str] = {}
    head = (f"#include <{group.include}>\n" if group.include else "") + group.text
    first = head.count("\n") + 1
    while True:
        wanted = [entry for entry in group.entries if entry.name not in missing]
        if not any(entry.name for entry in wanted):
            return missing
        lines = [entry.kernel.replace("@", str(i)) for i, entry in enumerate(wanted)]
        try:
            code = toolchain.compile(head + "\n".join(lines) + "\n", arch=arch, options=["-O1", "-w"], name="probe.hip")
        except CompileError as error:
            before = len(missing)
            for found in re.finditer(
                r"probe\.hip:(\d+):(?:\d+:)? (?:fatal )?(error|note): ([^\n]*)", f"{error}\n{error.log}"
            ):
                at = int(found[1]) - first
                if 0 <= at < len(wanted) and wanted[at].name:
                    missing.setdefault(wanted[at].name, found[3])
            if len(missing) == before:  # the header itself is missing
                reason = str(error).splitlines()[0]
                return {entry.name: reason for entry in group.entries if entry.name}
            continue
        try:
            _load(code, arch)
        except UnsupportedInstruction as error:
            at = re.search(r"probe(\d+)", str(error))
            if at is None:
                raise
            missing[wanted[int(at[1])].name] = str(error).splitlines()[0]
            continue
        return missing


def _load(code: object, arch: str) -> None:
    """Load a code object on a virtual device, where every instruction is looked at."""
    import gpulab
    from gpulab import providers

    with gpulab.using(f"virtual:{arch}"):
        gpu = providers.selected()
        gpu.unload(gpu.load(code.elf))  # type: ignore[attr-defined]


def page() -> str:
    """The page, from the list and what the headers give today."""
    groups = read(LIST.read_text(encoding="utf-8"))
    jobs = [(group, arch) for group in groups for arch in ARCHITECTURES]
    with ThreadPoolExecutor(2) as threads:
        results = list(threads.map(lambda job: probe(*job), jobs))
    missing: dict[str, dict[str, str]] = {}
    for (group, arch), found in zip(jobs, results, strict=True):
        for name, reason in found.items():
            missing.setdefault(group.title, {}).setdefault(f"{name}", f"{arch}: {reason}")
    rows, lacks = [], []
    total = absent = 0
    for group in groups:
        names = [entry.name for entry in group.entries if entry.name]
        lost = missing.get(group.title, {})
        total, absent = total + len(names), absent + len(lost)
        rows.append(f"| {group.title} | {len(names)} | {len(names) - len(lost)} | {group.source} |")
        if len(lost) == len(names):
            lacks.append(f"- {group.title}, all {len(names)}: {REASONS.get(group.title) or next(iter(lost.values()))}")
            continue
        for name, complaint in lost.items():
            reason = REASONS.get(name) or REASONS.get(group.title)
            lacks.append(f"- `{name}` ({group.title}): {reason or complaint}")
    lines = [
        "# HIP's device functions, and what is missing here",
        "",
        "Generated by `make hip-api` (tools/hip_api.py) from the list tools/hip_api.txt: a kernel for every entry is",
        f"compiled with the headers of this folder and loaded on virtual devices of {' and '.join(ARCHITECTURES)}.",
        "Do not edit.",
        "",
        f"{total - absent:,} of {total:,} are there. Not on the list: the host's own functions.",
        "",
        "| group | documented | here | where HIP documents it |",
        "|---|---:|---:|---|",
        *rows,
        "",
        "## Missing",
        "",
        *(lacks or ["Nothing."]),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str]) -> int:
    text = page()
    if "--check" in arguments:
        same = PAGE.exists() and PAGE.read_text(encoding="utf-8") == text
        print("up to date" if same else f"{PAGE.relative_to(ROOT)} is not up to date: make hip-api")
        return 0 if same else 1
    PAGE.write_text(text, encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)} written")
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main(sys.argv[1:]))
