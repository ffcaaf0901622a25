"""LDS banks: which bank each lane of an access wants, phase by phase, and what conflicts cost.

`lds_banks` makes the instrument from an index expression, `of_launch` from a profiled launch, whose addresses it starts
with. `affine` finds the expression that gives such addresses. The rule of banks and phases is
gpulab.architectures.banks; docs/counters.md has its sources.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpulab import architectures
from gpulab.architectures import banks
from gpulab.errors import GpulabError
from gpulab.records import AccessCost, AccessSample, Launch
from gpulab.views import palette
from gpulab.views.index_expression import ExpressionError, parse
from gpulab.views.instrument import Instrument
from gpulab.views.table import Cell, Table, one_line

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = ("x", "y", "z", "lane", "tid", "threadIdx.x", "threadIdx.y", "threadIdx.z")
"""What an index may use: the thread's coordinates in its block, its lane, its number in the block."""

ACTIONS = ("load", "store", "atomic")
SIZES = (1, 2, 4, 8, 12, 16)
MOST = 100
_OFFERED = (4, 8, 16)
_LARGEST = 1024  # threads of a block
_TILE = (
    ("consecutive", "x", "each lane the next element"),
    ("every second", "2 * x", "a stride of 2: two lanes for each bank"),
    ("column of 32", "x * 32 + y", "a column of tile[32][32]: one bank for all"),
    ("padded", "x * 33 + y", "a column of tile[32][33]: one more element in each row"),
    ("XOR swizzle", "x * 32 + ((x ^ y) % 32)", "a column of tile[32][32] whose rows have their columns mixed by ^ x"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Setup:
    """One access of a wave: what is drawn.

    Attributes:
        index: expression for the element of each lane; "" for the `addresses` as they are.
        element: bytes of a lane. block: threads along x, y, z. wave: which one of the block.
        addresses: bytes, by lane, of a launch; None for lanes that are not active. Without an index they are drawn;
            with one they say which lanes are active.
    """

    arch: str
    index: str
    element: int = 4
    action: str = "load"
    block: tuple[int, int, int] = (256, 1, 1)
    wave: int = 0
    addresses: tuple[int | None, ...] | None = None

    def thread(self, lane: int) -> dict[str, int]:
        """The variables of an index expression for a lane."""
        tid = self.wave * architectures.get(self.arch).wave_size + lane
        x, y, z = tid % self.block[0], tid // self.block[0] % self.block[1], tid // (self.block[0] * self.block[1])
        return {
            "x": x, "y": y, "z": z, "lane": lane, "tid": tid, "threadIdx.x": x, "threadIdx.y": y, "threadIdx.z": z
        }  # fmt: skip

    def places(self) -> tuple[int | None, ...]:
        """The byte address of each lane; None for those that are not active.

        Raises:
            ExpressionError: the index is none, or gives no address for some lane.
        """
        size = architectures.get(self.arch).wave_size
        given = self.addresses if self.addresses is not None and len(self.addresses) == size else None
        if not self.index and self.addresses is not None:
            # Addresses of a wave of the other size: as many of its lanes as there are here.
            return (self.addresses + (None,) * size)[:size]
        expression = parse(self.index, NAMES)
        found: list[int | None] = []
        for lane in range(size):
            thread = self.thread(lane)
            there = thread["z"] < self.block[2] if given is None else given[lane] is not None
            if not there:
                found.append(None)
                continue
            try:
                index = expression.value(thread)
            except ExpressionError as error:
                raise ExpressionError(f"{error} (lane {lane})", error.start, error.end) from None
            if index < 0:
                said = f"lane {lane} would get element {index:,}: LDS begins at 0"
                raise ExpressionError(said, 0, len(self.index))
            found.append(index * self.element)
        return tuple(found)


def affine(setup: Setup) -> str:
    """The expression a * x + b * y + c * z + d that gives the addresses of a setup; "" if there is none."""
    known = [(setup.thread(lane), at) for lane, at in enumerate(setup.addresses or ()) if at is not None]
    if not known or any(at % setup.element for _, at in known):
        return ""
    points = [(thread, at // setup.element) for thread, at in known]
    for names in (("x", "y", "z"), ("lane",)):
        factors: dict[str, int] = {}
        for name in names:
            rest = [other for other in names if other != name]
            lines: dict[tuple[int, ...], tuple[int, int]] = {}
            factors[name] = 0
            for thread, index in points:
                key = tuple(thread[other] for other in rest)
                before = lines.setdefault(key, (thread[name], index))
                if before[0] != thread[name]:
                    factors[name] = (index - before[1]) // (thread[name] - before[0])
                    break
        first, start = points[0]
        constant = start - sum(factors[name] * first[name] for name in names)
        if all(index == constant + sum(factors[n] * thread[n] for n in names) for thread, index in points):
            return _written(factors, constant)
    return ""


def _written(factors: Mapping[str, int], constant: int) -> str:
    terms = sorted(((factor, name) for name, factor in factors.items() if factor), key=lambda term: -abs(term[0]))
    parts = [(factor < 0, name if abs(factor) == 1 else f"{name} * {abs(factor)}") for factor, name in terms]
    if constant or not parts:
        parts.append((constant < 0, str(abs(constant))))
    text = ("-" if parts[0][0] else "") + parts[0][1]
    return text + "".join(f" {'-' if negative else '+'} {part}" for negative, part in parts[1:])


def remedies(fitted: str, setup: Setup) -> tuple[tuple[str, str, str], ...]:
    """(name, index, why) of what may help where an affine index has conflicts: longer rows, a swizzle."""
    if not fitted:
        return _TILE
    probe = dataclasses.replace(setup, index=fitted, addresses=None)
    origin = dict.fromkeys(NAMES, 0)
    expression = parse(fitted, NAMES)
    base = expression.value(origin)
    factors = {name: expression.value({**origin, name: 1}) - base for name in ("x", "y", "z", "lane")}
    a = architectures.get(probe.arch)
    row, width = max(factors.items(), key=lambda item: abs(item[1]) if item[1] % 2 == 0 else 0)
    if width <= 0 or width % 2:
        return _TILE
    factors[row] = 0
    within = _written(factors, base)
    each = max(a.lds_banks * a.lds_bank_bytes // setup.element, 1)
    padding = max(setup.element, a.lds_bank_bytes) // setup.element
    column = f"({within})" if " " in within else within
    found = [("padded", f"{row} * {width + padding}" + (f" + {within}" if within != "0" else ""),
              f"rows of {width + padding} elements instead of {width}")]  # fmt: skip
    if width % each == 0 and 0 <= base < each:
        found.append((
            "XOR swizzle", f"{row} * {width} + ({column} ^ ({row} % {each}))",
            f"rows of {width} elements whose columns are mixed by ^ {row}",
        ))  # fmt: skip
    return (*found, *_TILE[:1])


def lds_banks(
    index: str = "threadIdx.x * 33",
    element_bytes: int = 4,
    access: str = "load",
    arch: str = "gfx942",
    block: int | Sequence[int] = 256,
    wave: int = 0,
) -> Instrument:
    """What banks an LDS access uses, from its index. In the instrument the index can be changed.

    Args:
        index: of the element that each lane accesses, e.g. "threadIdx.x * 33"; it may use x, y, z (or threadIdx.x ...),
            lane, tid (the thread's number in its block), integers, + - * / % << >> & ^ | ~ and parentheses, as in C.
        element_bytes: of one lane: 1, 2, 4, 8, 12 or 16.
        access: "load", "store" or "atomic".
        arch: gfx name of an architecture.
        block: threads of a block, or (x, y) or (x, y, z). wave: which wave of it.

    Raises:
        GpulabError: the index or another argument cannot be used.
        DeviceNotFound: there is no such architecture.
    """
    index = str(index)  # 33 is an index, the same for all lanes
    shape = (block,) if isinstance(block, int) else tuple(block)
    x, y, z = (*shape, 1, 1)[:3] if 1 <= len(shape) <= 3 else (0, 0, 0)
    setup = _checked(Setup(architectures.get(arch).name, index, element_bytes, access, (x, y, z), wave))
    try:
        if not index.strip():
            raise ExpressionError("write an index, e.g. x * 33 + y", 0, 1)
        setup.places()
    except ExpressionError as error:
        raise GpulabError(
            f"the index cannot be used: {error}.\n  {' '.join(index.split())[:200]}",
            why=f"that is what stands from character {error.start + 1} on.",
            hint=f"use whole numbers, {', '.join(NAMES[:5])}, threadIdx.x and the operators of C's integers.",
        ) from None
    return _instrument(f"LDS banks ({setup.arch})", setup, (), None)


def of_launch(launch: Launch) -> Instrument:
    """The instrument for the LDS instructions of one profiled launch: those with most conflict cycles first."""
    costs = [cost for cost in launch.accesses if cost.executed and _samples(cost)]
    costs.sort(key=lambda cost: (-cost.conflict_cycles, -cost.bank_cycles))
    title = f"LDS banks of {launch.kernel} ({launch.arch})"
    if not costs:
        said = (
            "This kernel did not use LDS."
            if launch.accesses or launch.instructions
            else "No addresses are recorded of this launch. Virtual devices keep them inside gpulab.profile()."
        )
        return Instrument("lds_banks", title, said, Table(("bank", "dwords"), ()), {"view": None})
    return _instrument(title, _of_sample(launch, costs[0], 0), costs[:MOST], launch)


def _samples(cost: AccessCost) -> tuple[AccessSample, ...]:
    return tuple(sample for sample in cost.samples if sample.space == "lds" and sample.exec_mask)


def _of_sample(launch: Launch, cost: AccessCost, which: int) -> Setup:
    sample = _samples(cost)[which]
    action = cost.action if cost.space != "global" else "store"  # a load from memory into LDS writes there
    return Setup(launch.arch, "", sample.bytes, action, launch.block, sample.wave, sample.addresses)


def _checked(setup: Setup) -> Setup:
    """The setup itself.

    Raises:
        GpulabError: a part of it is out of range.
    """
    threads = setup.block[0] * setup.block[1] * setup.block[2]
    problem = ""
    if setup.element not in SIZES:
        problem = f"a lane has {', '.join(map(str, SIZES[:-1]))} or {SIZES[-1]} bytes, not {setup.element}"
    elif setup.action not in ACTIONS:
        problem = f"an access is a load, a store or an atomic, not {setup.action!r}"
    elif min(setup.block) < 1 or threads > _LARGEST:
        problem = f"a block has 1 to {_LARGEST:,} threads, along up to three axes, not {setup.block}"
    elif not 0 <= setup.wave < architectures.get(setup.arch).waves(threads):
        problem = f"a block of {threads:,} threads has no wave {setup.wave}"
    if problem:
        raise GpulabError(f"{problem[0].upper()}{problem[1:]}.")
    return setup


def _instrument(title: str, setup: Setup, costs: Sequence[AccessCost], launch: Launch | None) -> Instrument:
    def answer(question: Mapping[str, Any]) -> dict[str, Any]:
        return _answer(question, setup, costs, launch)

    view = _view(setup)
    return Instrument(
        "lds_banks",
        title,
        _introduction(costs, launch) + view["sentence"],
        _table(setup),
        {
            "instructions": [_summary(cost) for cost in costs],
            "names": NAMES,
            "architectures": [[name, f"{name} ({architectures.get(name).family})"] for name in architectures.names()],
            "sizes": sorted({*_OFFERED, setup.element}),
            "actions": ACTIONS,
            "view": _loaded(setup, costs[0] if costs else None, 0),
        },
        lambda: _figure(setup),
        answer,
    )


def _introduction(costs: Sequence[AccessCost], launch: Launch | None) -> str:
    if launch is None:
        return ""
    conflicts, cycles = sum(c.conflict_cycles for c in costs), sum(c.bank_cycles for c in costs)
    first = costs[0]
    where = f"line {first.where.line}" if first.where else first.instruction
    many = f"{len(costs)} LDS instructions" if len(costs) > 1 else "one LDS instruction"
    if not conflicts:
        said = f"{many[0].upper()}{many[1:]} without any bank conflict, {cycles:,} LDS cycles."
        return f"{said} {_a(first.action).capitalize()} in {where}: "
    return (
        f"{many[0].upper()}{many[1:]}: {conflicts:,} of {cycles:,} LDS cycles are lost to bank conflicts, most of them "
        f"({first.conflict_cycles:,}) in {_a(first.action)} in {where}: "
    )


def _a(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _summary(cost: AccessCost) -> dict[str, Any]:
    return {
        "line": cost.where.line if cost.where else 0,
        "source": one_line(cost.where.text) if cost.where else "",
        "text": one_line(cost.instruction),
        "action": cost.action,
        "cycles": cost.bank_cycles,
        "conflicts": cost.conflict_cycles,
    }


def _loaded(setup: Setup, cost: AccessCost | None, which: int) -> dict[str, Any]:
    """The view of a setup as an instruction is chosen: with what the fields show, remedies and the samples."""
    fitted = affine(setup) if cost is not None else setup.index
    samples = _samples(cost) if cost is not None else ()
    tries = remedies(fitted, setup) if cost is not None else _TILE
    own = (
        ("as in the kernel", "", fitted or "the launch's own addresses")
        if cost is not None
        else ("as given", fitted, "")
    )
    return {
        **_view(setup),
        "fitted": fitted,
        "sample": which,
        "samples": [_who(sample, samples) for sample in samples],
        "presets": [own, *tries],
    }


def _who(sample: AccessSample, samples: Sequence[AccessSample]) -> str:
    group = ", ".join(map(str, sample.workgroup))
    part = (", second address" if sample.part else ", first address") if any(s.part for s in samples) else ""
    return f"the {sample.kind}: block ({group}), wave {sample.wave}{part}"


def _answer(
    question: Mapping[str, Any], start: Setup, costs: Sequence[AccessCost], launch: Launch | None
) -> dict[str, Any]:
    """Reply to the browser.

    {"instruction", "sample"}: that sample as it is. With "index" and "element", "action", "arch", "width": what
    becomes of it then; an index that cannot be read gives {"problem": {"message", "start", "end"}}.

    Raises:
        ValueError: something is out of range.
    """
    setup, cost, sample = start, None, int(question.get("sample", 0))
    if launch is not None:
        which = int(question.get("instruction", 0))
        if not 0 <= which < len(costs) or not 0 <= sample < len(_samples(costs[which])):
            raise ValueError(f"there is no instruction {which} with a sample {sample}")
        cost = costs[which]
        setup = _of_sample(launch, cost, sample)
    if "index" not in question:
        return _loaded(setup, cost, sample)
    arch = str(question.get("arch", setup.arch))
    if arch not in architectures.names():
        raise ValueError(f"there is no architecture {arch}")
    width = int(question.get("width", setup.block[0]))
    threads = setup.block[0] * setup.block[1] * setup.block[2]
    if not 1 <= width <= threads:
        raise ValueError(f"the block has {threads:,} threads: its width is 1 to {threads:,}")
    block = setup.block if width == setup.block[0] else (width, -(-threads // width), 1)
    changed = dataclasses.replace(
        setup, index=str(question["index"]), element=int(question.get("element", setup.element)),
        action=str(question.get("action", setup.action)), arch=arch, block=block,
        wave=setup.wave if architectures.get(arch).wave_size == architectures.get(setup.arch).wave_size else 0,
    )  # fmt: skip
    if changed.element not in SIZES or changed.action not in ACTIONS:
        raise ValueError(f"there is no {changed.action} of {changed.element} bytes a lane")
    try:
        return _view(changed)
    except ExpressionError as error:
        return {"problem": {"message": str(error), "start": error.start, "end": error.end}}


def _view(setup: Setup) -> dict[str, Any]:
    """What the browser draws."""
    a = architectures.get(setup.arch)
    places = setup.places()
    phases = banks.serve(a, places, setup.element, setup.action)
    groups = banks.phases(a, setup.element, setup.action)
    number = {lane: n for n, group in enumerate(groups) for lane in group}
    lanes: list[dict[str, Any] | None] = []
    for lane, address in enumerate(places):
        if address is None:
            lanes.append(None)
            continue
        thread = setup.thread(lane)
        dwords = range(address // 4, (address + setup.element - 1) // 4 + 1)
        piles = phases[number[lane]].banks
        lanes.append({
            "x": thread["x"], "y": thread["y"], "address": address, "phase": number[lane],
            "banks": [dword % a.lds_banks for dword in dwords],
            "pile": max(len(piles[dword % a.lds_banks]) for dword in dwords),
        })  # fmt: skip
    cycles = sum(phase.cycles for phase in phases)
    table = _table(setup)
    return {
        "arch": setup.arch,
        "index": setup.index,
        "element": setup.element,
        "action": setup.action,
        "width": setup.block[0],
        "threads": setup.block[0] * setup.block[1] * setup.block[2],
        "banks": a.lds_banks,
        "lanes": lanes,
        "phases": [
            {
                "lanes": _ranges(group),
                "cycles": phase.cycles,
                "piles": {str(bank): [list(who) for _, who in wants] for bank, wants in sorted(phase.banks.items())},
            }
            for group, phase in zip(groups, phases, strict=True)
        ],
        "cycles": cycles,
        "conflicts": cycles - len(phases),
        "beyond": _beyond(places, setup, a.max_lds_bytes_per_workgroup),
        "sentence": _sentence(setup, phases, groups),
        "table": {"columns": table.columns, "rows": table.rows, "note": table.note},
    }


def _beyond(places: Sequence[int | None], setup: Setup, room: int) -> str:
    last = max((at + setup.element for at in places if at is not None), default=0)
    if last <= room:
        return ""
    return f"These elements need {last:,} bytes of LDS; a block can have {room:,}. The banks are shown all the same."


def _ranges(lanes: Sequence[int]) -> str:
    """0–3, 20–23"""
    parts: list[list[int]] = []
    for lane in lanes:
        if parts and lane == parts[-1][1] + 1:
            parts[-1][1] = lane
        else:
            parts.append([lane, lane])
    return ", ".join(f"{a}–{b}" if a != b else str(a) for a, b in parts)


def _plural(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def _sentence(setup: Setup, phases: Sequence[banks.Phase], groups: Sequence[Sequence[int]]) -> str:
    lanes, cycles = sum(len(phase.lanes) for phase in phases), sum(phase.cycles for phase in phases)
    what = f"{_plural(lanes, 'lane')}, {_plural(setup.element, 'byte')} each"
    how = f"{what}, in {_plural(len(phases), 'phase')} of {_plural(len(groups[0]), 'lane')}" + (
        f", index {setup.index}" if setup.index else ""
    )
    if cycles == len(phases):
        return f"{how}: {_plural(cycles, 'cycle')}. No bank conflict."
    worst = max(phases, key=lambda phase: phase.cycles)
    bank = max(worst.banks, key=lambda number: len(worst.banks[number]))
    what = "atomics wait" if setup.action == "atomic" else "different dwords lie"
    return (
        f"{how}: {_plural(cycles, 'cycle')} instead of {len(phases)}, {cycles - len(phases)} of them by bank "
        f"conflicts. In the worst phase {worst.cycles} {what} in bank {bank}."
    )


def _table(setup: Setup) -> Table:
    """One row for each bank that is used: by phase how many dwords it has to give, and for which lanes."""
    a = architectures.get(setup.arch)
    phases = banks.serve(a, setup.places(), setup.element, setup.action)
    groups = banks.phases(a, setup.element, setup.action)

    def cell(phase: banks.Phase, bank: int) -> str:
        wants = phase.banks.get(bank, ())
        lanes = sorted({lane for _, who in wants for lane in who})
        return f"{len(wants)} ({_ranges(lanes)})" if wants else "–"

    used = [bank for bank in range(a.lds_banks) if any(phase.banks.get(bank) for phase in phases)]
    rows: list[tuple[Cell, ...]] = [(str(bank), *(cell(phase, bank) for phase in phases)) for bank in used]
    rows.append(("cycles", *(str(phase.cycles) for phase in phases)))
    columns = "bank", *(f"phase {n + 1}: lanes {_ranges(group)}" for n, group in enumerate(groups))
    note = "In each cell: dwords that the bank has to give in this phase, and the lanes that access them."
    if setup.action == "atomic":
        note = "In each cell: atomics that the bank has to do in this phase, and their lanes."
    idle = a.lds_banks - len(used)
    if idle:
        note += f" The other {_plural(idle, 'bank')} had nothing to do."
    return Table(columns, tuple(rows), note)


def _figure(setup: Setup) -> Figure:
    a = architectures.get(setup.arch)
    phases = banks.serve(a, setup.places(), setup.element, setup.action)
    groups = banks.phases(a, setup.element, setup.action)
    shown = sorted(sorted(range(len(phases)), key=lambda n: (-phases[n].cycles, n))[:4])
    drawn = palette.figure(8.6, 1.0 + 1.5 * len(shown))
    cycles = sum(phase.cycles for phase in phases)
    most = max(phase.cycles for phase in phases)
    verdict = f"{_plural(cycles, 'cycle')}, {cycles - len(phases)} of them by bank conflicts"
    what = "atomic" if setup.action == "atomic" else "dword"
    index = f"index {setup.index}, " if setup.index else ""
    title = f"{index}{_plural(setup.element, 'byte')} a lane, {setup.arch}: {verdict}"
    drawn.suptitle(palette.plain(title), fontsize=10)
    axes = drawn.subplots(len(shown), 1, sharex=True, squeeze=False)
    for axis, n in zip(axes[:, 0], shown, strict=True):
        phase = phases[n]
        for bank, wants in phase.banks.items():
            axis.bar(bank, 1, 0.85, color=palette.BLUE, edgecolor="#545454", linewidth=0.4)
            if len(wants) > 1:
                axis.bar(
                    bank, len(wants) - 1, 0.85, 1, color=palette.VERMILLION, edgecolor="#545454",
                    hatch="///", linewidth=0.4,
                )  # fmt: skip
        axis.set_ylim(0, max(most, 2) * 1.08)
        axis.yaxis.get_major_locator().set_params(integer=True)
        axis.set_ylabel(f"{what}s", fontsize=8)
        axis.set_title(
            f"phase {n + 1}, lanes {_ranges(groups[n])}: {_plural(phase.cycles, 'cycle')}", fontsize=8, loc="left"
        )
        axis.tick_params(labelsize=8)
    axes[-1, 0].set_xlim(-0.7, a.lds_banks - 0.3)
    more = len(phases) - len(shown)
    left = f"; {more} more {'phase is' if more == 1 else 'phases are'} left out" if more else ""
    axes[-1, 0].set_xlabel(f"bank (blue: the first {what}, orange hatched: one more cycle each){left}", fontsize=8)
    return drawn
