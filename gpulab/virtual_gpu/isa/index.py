"""The rows as a reader meets them: `entries(name)` says all of one mnemonic, `search(text)` finds meanings.

`lines()` lists all mnemonics of all devices. `tools/isa_index.py` writes them into INDEX.tsv beside this file, so that
a search through the sources finds every mnemonic, also those that loops put together.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Hashable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

from gpulab import architectures
from gpulab.errors import UnsupportedInstruction
from gpulab.records import InstructionEntry
from gpulab.virtual_gpu import isa
from gpulab.virtual_gpu.isa import generation, words
from gpulab.virtual_gpu.isa.generation import Written
from gpulab.virtual_gpu.isa.refused import refusal
from gpulab.virtual_gpu.isa.row import AnyRow, Control, CrossLane, Image, Matrix, Memory, Row

LONGEST = 160
"""Operations and operands of a formula; what is longer is read in the row's file."""

_PACKAGE = Path(__file__).parents[2]
_SUFFIX = re.compile(r"_(e32|e64|dpp8?|sdwa)+$")

_RATES = {
    "full": "full: a plain operation",
    "wide": "wide: 64-bit operands",
    "quarter": "quarter: 32-bit multiplies",
    "division": "division: steps of a division",
    "trans": "trans: transcendental functions",
}


@cache
def _all() -> dict[str, dict[str, Written]]:
    """By mnemonic and device the row as it is written."""
    found: dict[str, dict[str, Written]] = {}
    for arch in architectures.names():
        device = architectures.get(arch)
        for mnemonic, row in generation.written(device.generation, device.features).items():
            found.setdefault(mnemonic, {})[arch] = row
    return found


def _same(row: AnyRow) -> Hashable:
    """Equal for rows that mean the same under several names."""
    if isinstance(row, Row):
        return id(row.body), row.keeps, row.rate
    if isinstance(row, Control):
        return id(row)
    if isinstance(row, Memory) and row.combine is not None:
        return replace(row, mnemonic="", combine=None), row.combine.meaning, row.combine.parameters
    return replace(row, mnemonic="")


@cache
def _names() -> dict[Hashable, dict[str, list[str]]]:
    """By meaning (`_same`) the mnemonics that have it, with their devices."""
    found: dict[Hashable, dict[str, list[str]]] = {}
    for mnemonic, by_device in _all().items():
        for arch, written in by_device.items():
            found.setdefault(_same(written.row), {}).setdefault(mnemonic, []).append(arch)
    return found


def entries(name: str) -> tuple[InstructionEntry, ...]:
    """What a mnemonic means, an entry for each meaning: generations may give one name to different instructions.

    Args:
        name: with or without the suffix of an encoding: "v_add_f32", "v_add_f32_e64".

    Raises:
        UnsupportedInstruction: no device has it, or it is known and not executed; says why, or what is nearest.
    """
    name = name.strip().lower()
    mnemonic = name if name in _all() else _SUFFIX.sub("", name).replace("v_dual_", "v_")
    if mnemonic not in _all():
        reason = refusal(mnemonic)
        near = difflib.get_close_matches(mnemonic, _all(), 3)
        raise UnsupportedInstruction(
            f"{name} is not executed." if reason else f"There is no instruction {name!r}.",
            why=reason or "no row of a device has this name.",
            hint=f"is it {', '.join(near)}?" if near and not reason else "gpulab isa --grep TEXT searches meanings.",
        )
    distinct: dict[int, list[str]] = {}
    for arch, written in _all()[mnemonic].items():
        distinct.setdefault(id(written.row), []).append(arch)
    return tuple(_entry(mnemonic, archs) for archs in distinct.values())


def search(text: str) -> tuple[InstructionEntry, ...]:
    """Entries with all words of a text in their mnemonic, meaning or formula, in any case."""
    wanted = text.lower().split()
    found = []
    for mnemonic in sorted(_all()):
        for entry in entries(mnemonic):
            said = " ".join((mnemonic, entry.meaning, *entry.formulas)).lower()
            if all(word in said for word in wanted):
                found.append(entry)
    return tuple(found)


def _entry(mnemonic: str, archs: list[str]) -> InstructionEntry:
    written = _all()[mnemonic][archs[0]]
    row = written.row
    sources, destinations = _operands(row)
    file = Path(written.place.file)
    others = {name: tuple(having) for name, having in _names()[_same(row)].items() if name != mnemonic}
    return InstructionEntry(
        mnemonic=mnemonic,
        meaning=" ".join(row.meaning.split()),
        formulas=_formulas(row),
        sources=sources,
        destinations=destinations,
        accuracy=row.accuracy,
        rate=_rate(row),
        devices=tuple(archs),
        aliases=others,
        manual=written.family.manual,
        file=file.relative_to(_PACKAGE).as_posix() if file.is_relative_to(_PACKAGE) else file.name,
        line=written.place.line,
    )


def _rate(row: AnyRow) -> str:
    if isinstance(row, Row):
        return _RATES[row.rate] if row.unit == "valu" else "scalar unit"
    if isinstance(row, Memory):
        return {"lds": "LDS", "scalar": "scalar memory"}.get(row.space, "vector memory")
    if isinstance(row, Image):
        return "texture unit"
    if isinstance(row, Matrix):
        return "matrix core, by shape and type"
    return "between lanes" if isinstance(row, CrossLane) else "control"


def _formulas(row: AnyRow) -> tuple[str, ...]:
    """Each result as a formula of the row's sources."""
    if isinstance(row, Memory) and row.combine is not None:
        return tuple(text.replace("dst = ", "memory = ", 1) for text in _formulas(row.combine))
    if isinstance(row, Matrix):
        return (f"D = A B + C: A {row.m} x {row.k}, B {row.k} x {row.n}, C and D {row.m} x {row.n}",)
    if not isinstance(row, Row):
        return ()
    results, values = row.graph()
    found = []
    for result, value in zip(results, values, strict=True):
        text = words.formula(value, {}, most=LONGEST)
        found.append(f"{result.name} = {text}" if text else f"{result.name} = ... (a long one: see the row)")
    return tuple(found)


def _operands(row: AnyRow) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Sources and destinations: name and type, or what they hold."""
    if isinstance(row, Row):
        results, _ = row.graph()
        sources = tuple(f"{p.name}: {p.type.name}{' (implied)' if p.implicit else ''}" for p in row.parameters)
        return sources, tuple(f"{result.name}: {result.type.name}" for result in results)
    if isinstance(row, Matrix):
        blocks = f", {row.blocks} blocks" if row.blocks > 1 else ""
        return (f"A: {row.a}{blocks}", f"B: {row.b}{blocks}", f"C: {row.d}{blocks}"), (f"D: {row.d}{blocks}",)
    if isinstance(row, Memory):
        data = f"data: {row.element * row.count} bits"
        space = {"lds": "LDS", "scalar": "memory, one for the wave"}.get(row.space, f"{row.space} memory")
        address = f"address in {space}"
        if row.action == "load":
            return (address,), ("LDS" if row.to_lds else data,)
        if row.action == "store":
            return (address, data), ("memory",)
        if row.action == "atomic":
            compare = ("comparand",) if row.compare else ()
            return (address, data, *compare), ("memory", "dst: what was there before (with sc0, glc, _rtn)")
        return (address,), ()
    if isinstance(row, Image):
        names = ["address registers", "resource descriptor"]
        names += ["sampler"] if row.action in ("sample", "gather") else []
        return ((*names, "data"), ("memory",)) if row.action == "store" else (tuple(names), ("data",))
    if isinstance(row, Control):
        return ((row.condition,) if row.condition else ()), ()
    return ("source lanes",), ("dst",)


def lines() -> Iterator[str]:
    """The index: a line for each meaning of each mnemonic, with devices, name and file of the row, words."""
    yield "mnemonic\tdevices\trow\tfile\tmeaning"
    for mnemonic, by_device in sorted(_all().items()):
        distinct: dict[int, list[str]] = {}
        for arch, written in by_device.items():
            distinct.setdefault(id(written.row), []).append(arch)
        for archs in distinct.values():
            row = by_device[archs[0]]
            meaning = " ".join(row.row.meaning.split())
            yield "\t".join((mnemonic, " ".join(archs), row.row.mnemonic, Path(row.place.file).name, meaning))


def meaning(arch: str, mnemonic: str) -> str:
    """The words of one instruction on a device; "" where there are none."""
    if architectures.find(arch) is None:
        return ""
    table = isa.table(arch)
    row = table.get(mnemonic) or table.get(_SUFFIX.sub("", mnemonic).replace("v_dual_", "v_"))
    return "" if row is None else " ".join(row.meaning.split())
