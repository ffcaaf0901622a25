"""Memory hierarchy: where the accesses of a launch were served, as a flow from lanes through the caches to memory.

`memory_hierarchy` makes the instrument. `paths` is the bookkeeping behind it: for each kind of access the `Step`s from
level to level, of which each keeps bytes(in) = served + passed. What a level is (`level_facts`) comes from the
device's tables. The rules of coalescing and caches are those of docs/counters.md.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpulab import architectures
from gpulab.views import palette, profiles
from gpulab.views.instrument import Instrument
from gpulab.views.table import Cell, Table, short

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gpulab.architectures.architecture import Architecture
    from gpulab.records import AccessCost, Launch, SourceLine

MOST_CHOICES = 200
"""Source lines and instructions that can be chosen; of a kernel with more, those that ask for most bytes."""

KINDS = {
    "load": ("global loads", 0),
    "store": ("global stores", 1),
    "atomic": ("atomics", 3),
    "atomic results": ("atomics, written back", 3),
    "scratch load": ("scratch loads", 4),
    "scratch store": ("scratch stores", 5),
    "scalar": ("scalar loads", 2),
    "lds": ("LDS", 6),
}
"""Kinds of access in the order they are drawn: their words, and their place among palette.CATEGORIES."""

_PAST_L1 = ("store", "scratch store", "atomic")
"""Kinds of access that pass L1: they do not look for lines there."""

_BLOCK = 64  # bytes of a write or atomic request to the L2 (docs/counters.md)


@dataclass(frozen=True, slots=True)
class Step:
    """What arrives at one level, and what becomes of it: ``bytes == served + passed``.

    Attributes:
        level: "L1", "scalar cache", "GL1", "L2", "Infinity Cache", "HBM3" (or the device's own memory), "LDS".
        bytes: that are asked of the level, or written to it.
        served: of these, what was found here; of a store, what stays here.
        passed: of these, what goes on to the next level. It may arrive there as more: whole lines are fetched.
        requests, hits: lookups of the level, and those that found their line; 0 where they are not counted.
    """

    level: str
    bytes: int
    served: int
    passed: int
    requests: int = 0
    hits: int = 0


@dataclass(frozen=True, slots=True)
class Path:
    """The way of one kind of access: bytes that lanes asked for, and the steps from level to level."""

    kind: str
    asked: int
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class LevelFacts:
    """What a level is. `bytes_per_second` is what all instances together reach (0: not public), `latency_clocks` of a
    load that is served there (0: not public), `bytes` the size of one instance, `instances` how many there are."""

    name: str
    bytes: int
    instances: int
    shared_by: str
    latency_clocks: int
    bytes_per_second: float


def level_facts(a: Architecture) -> dict[str, LevelFacts]:
    """The levels of a device, from the lanes outwards, by name. Rates are those of the timing model (docs/timing.md):
    measured ones where there are any, else bytes a clock of one instance times instances times clock."""
    clock = a.clock_mhz * 1e6
    l1, scalar, array, l2, last = (
        a.vector_cache, a.scalar_cache, a.shader_array_cache, a.l2_cache, a.last_level_cache,
    )  # fmt: skip
    found = [
        LevelFacts(
            "LDS", a.lds_bytes_per_unit, a.multiprocessors, a.unit_name, a.lds_latency_clocks,
            a.lds_bytes_per_clock * a.compute_units * clock,
        ),
        LevelFacts(
            "L1", l1.bytes, l1.instances, l1.shared_by, l1.latency_clocks, a.l1_bytes_per_clock * l1.instances * clock
        ),
        LevelFacts(
            "scalar cache", scalar.bytes, scalar.instances, scalar.shared_by, scalar.latency_clocks,
            scalar.bytes_per_clock * scalar.instances * clock,
        ),
    ]  # fmt: skip
    if array is not None:
        found.append(
            LevelFacts(
                "GL1", array.bytes, array.instances, array.shared_by, array.latency_clocks,
                array.bytes_per_clock * array.instances * clock,
            )
        )  # fmt: skip
    found.append(
        LevelFacts(
            "L2", l2.bytes, l2.instances, l2.shared_by, l2.latency_clocks,
            l2.bytes_per_clock * l2.instances * a.l2_efficiency * clock,
        )
    )  # fmt: skip
    if last is not None:
        found.append(
            LevelFacts(
                "Infinity Cache", last.bytes, last.instances, last.shared_by, last.latency_clocks,
                a.last_level_bandwidth,
            )
        )  # fmt: skip
    found.append(
        LevelFacts(
            a.memory_kind, a.memory_bytes, 1, "device", a.memory_latency_clocks,
            a.memory_bandwidth * a.memory_efficiency,
        )
    )  # fmt: skip
    return {facts.name: facts for facts in found}


def sources(a: Architecture) -> str:
    """Where the numbers of an architecture come from, as its module says; "" where it has no words about it."""
    text = importlib.import_module(f"gpulab.architectures.{a.name}").__doc__ or ""
    return " ".join(text.partition("Sources:")[2].split())


def paths(costs: Sequence[AccessCost], a: Architecture) -> tuple[Path, ...]:
    """The ways of all these accesses, one for each kind that occurs, in the order of `KINDS`.

    A load asks L1 (a scalar load the scalar cache) for whole lines, then GL1 where there is one, L2, Infinity Cache and
    memory. A store passes L1; the L2 gets it in blocks of 64 bytes and writes to memory the 32-byte sectors that were
    stored to. An atomic is done in the L2, which fetches what it does not have and writes the results back.
    """
    found: dict[str, Path] = {}

    def add(path: Path) -> None:
        before = found.get(path.kind)
        if before is None:
            found[path.kind] = path
            return
        steps = {step.level: step for step in before.steps}
        for step in path.steps:
            old = steps.get(step.level)
            steps[step.level] = step if old is None else _sum(old, step)
        order = {name: number for number, name in enumerate(level_facts(a))}
        ordered = sorted(steps.values(), key=lambda step: order[step.level])
        found[path.kind] = Path(path.kind, before.asked + path.asked, tuple(ordered))

    for cost in costs:
        for path in _paths_of(cost, a):
            add(path)
    return tuple(found[kind] for kind in KINDS if kind in found)


def _sum(one: Step, other: Step) -> Step:
    return Step(
        one.level, one.bytes + other.bytes, one.served + other.served, one.passed + other.passed,
        one.requests + other.requests, one.hits + other.hits,
    )  # fmt: skip


def unfollowed(cost: AccessCost) -> bool:
    """Whether none of an instruction's accesses was followed through the caches (of a sampled launch only)."""
    return bool(cost.lines) and not (cost.cache_hits + cost.l2_requests)


def _paths_of(cost: AccessCost, a: Architecture) -> list[Path]:
    found = []
    if cost.lds_lanes:
        moved = cost.lds_lanes * cost.bytes
        found.append(Path("lds", moved, (Step("LDS", moved, moved, 0, cost.executed, cost.executed),)))
    if cost.space == "lds" or not cost.lines or unfollowed(cost):
        return found
    lanes = cost.lanes - (cost.lds_lanes if cost.space == "flat" else 0)
    asked = lanes * cost.bytes
    prefix = "scratch " if cost.space == "scratch" else ""
    if cost.action == "load":
        kind = "scalar" if cost.space == "scalar" else prefix + "load"
        found.append(Path(kind, asked, _load(cost, a)))
    elif cost.action == "store":
        found.append(Path(prefix + "store", asked, _store(cost, a)))
    else:
        found.extend(_atomic(cost, asked, a))
    return found


def _load(cost: AccessCost, a: Architecture) -> tuple[Step, ...]:
    followed = cost.cache_hits + cost.l2_requests  # lines whose way is known: all, unless the launch was sampled
    lines, size = cost.lines, cost.line_bytes

    def share(count: int) -> int:
        return count if followed == lines else (count * lines + followed // 2) // followed

    hits = share(cost.cache_hits - cost.array_hits)
    steps = [_step("scalar cache" if cost.space == "scalar" else "L1", lines, hits, size)]
    left = lines - hits
    if a.shader_array_cache is not None:
        hits = min(share(cost.array_hits), left)
        steps.append(_step("GL1", left, hits, size))
        left, size = left - hits, a.shader_array_cache.line_bytes
    arrived = left * size
    missed = min(share(cost.memory_bytes), arrived)
    steps.append(Step("L2", arrived, arrived - missed, missed, left, min(share(cost.l2_hits), left)))
    return (*steps, *_memory(missed, min(share(cost.dram_bytes), missed), a))


def _step(level: str, requests: int, hits: int, size: int) -> Step:
    return Step(level, requests * size, hits * size, (requests - hits) * size, requests, hits)


def _memory(arrived: int, beyond: int, a: Architecture) -> tuple[Step, ...]:
    """Infinity Cache, if there is one, and memory."""
    steps = []
    if a.last_level_cache is not None:
        steps.append(Step("Infinity Cache", arrived, arrived - beyond, beyond))
        arrived = beyond
    steps.append(Step(a.memory_kind, arrived, arrived, 0))
    return tuple(steps)


def _store(cost: AccessCost, a: Architecture) -> tuple[Step, ...]:
    arrived = _BLOCK * cost.l2_requests
    written = min(cost.written_bytes, arrived)
    return (
        Step("L1", arrived, 0, arrived, cost.lines),
        Step("L2", arrived, arrived - written, written, cost.l2_requests, cost.l2_hits),
        *_memory(written, min(cost.dram_written_bytes, written), a),
    )


def _atomic(cost: AccessCost, asked: int, a: Architecture) -> list[Path]:
    arrived = _BLOCK * cost.l2_requests
    missed = min(cost.memory_bytes, arrived)
    done = Path("atomic", asked, (
        Step("L1", arrived, 0, arrived, cost.lines),
        Step("L2", arrived, arrived - missed, missed, cost.l2_requests, cost.l2_hits),
        *_memory(missed, min(cost.dram_bytes, missed), a),
    ))  # fmt: skip
    written = cost.written_bytes
    back = Path("atomic results", 0, _memory(written, min(cost.dram_written_bytes, written), a))
    return [done, back] if written else [done]


# --------------------------------------------------------------------------------------------------------- in words


def amount(count: float) -> str:
    """Bytes in the unit that suits them, three digits: "12 bytes", "3.25 KiB", "1.5 MiB"."""
    if count < 1024:
        return f"{count:,.0f} byte{'' if count == 1 else 's'}"
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        count /= 1024
        if count < 1000 or unit == "TiB":
            break
    return f"{count:,.0f} {unit}" if count >= 1000 else f"{count:.3g} {unit}"


def _percent(part: float, whole: float) -> str:
    if not whole:
        return "–"
    share = 100 * part / whole
    return f"{share:.0f} %" if share in (0, 100) or 1 <= share <= 99 else f"{share:.2g} %" if share < 1 else "99+ %"


def _rate(facts: LevelFacts) -> str:
    return f"{facts.bytes_per_second / 1e12:.3g} TB/s" if facts.bytes_per_second else "–"


def _latency(facts: LevelFacts, a: Architecture) -> str:
    clocks = facts.latency_clocks
    return f"{clocks} clocks ({1000 * clocks / a.clock_mhz:.0f} ns)" if clocks else "–"


def _served_words(kind: str, level: str, last: bool) -> str:
    if kind.endswith("store") or kind == "atomic results":
        return "kept" if not last else "written"
    if kind == "atomic" and level == "L2":
        return "done"
    return "read" if last and level != "LDS" else "found"


def _tip(path: Path, step: Step, a: Architecture, facts: LevelFacts) -> str:
    lines = [f"{facts.name}, {KINDS[path.kind][0]}: {step.bytes:,} bytes arrive ({amount(step.bytes)})"]
    stores = path.kind.endswith("store")
    if step.level == "LDS":
        lines.append("served here, all of it: LDS is memory of the block's own, not a cache")
    elif stores and step.level == "L1":
        lines.append("stores pass through to the L2, in requests of 64 bytes")
    elif stores or path.kind == "atomic results":
        if not step.passed:
            lines.append("written here, and here it stays" if step.bytes else "nothing comes so far")
        else:
            lines.append(f"{step.passed:,} bytes are written on to the next level by the end of the launch")
            if step.served:
                lines.append(f"{step.served:,} bytes are not: stored again, or parts of 64 bytes that nobody stored to")
    elif path.kind == "atomic" and step.level == "L1":
        lines.append("atomics pass through: they are done in the L2")
    else:
        lines.append(f"{step.served:,} bytes are {_served_words(path.kind, step.level, False)} here")
        lines.append(f"{step.passed:,} bytes have to come from further away" if step.passed else "nothing goes on")
    if step.requests and step.level != "LDS" and not (step.level == "L1" and path.kind in _PAST_L1):
        lines.append(
            f"{step.requests:,} requests, {step.hits:,} hits ({_percent(step.hits, step.requests)}), "
            f"{step.bytes // step.requests} bytes each"
        )
    rate = f"together they reach {_rate(facts)}" if facts.instances > 1 else f"it reaches {_rate(facts)}"
    lines.append(
        f"latency {_latency(facts, a) if facts.latency_clocks else 'not public'}; "
        f"{rate if facts.bytes_per_second else 'rate not public'}"
    )
    return "\n".join(lines)


_COLUMNS = ("level", "bytes in", "served here", "passed on", "hit rate %", "latency clocks", "TB/s", "µs at that rate")


def _level_rows(found: Sequence[Path], a: Architecture) -> list[tuple[Cell, ...]]:
    """Each level that is used: bytes in, served, passed on, hits of its requests, latency, rate, time at that rate."""
    rows: list[tuple[Cell, ...]] = []
    for name, facts in level_facts(a).items():
        steps = [step for path in found for step in path.steps if step.level == name]
        arrived = sum(step.bytes for step in steps)
        if not steps:
            continue
        # Stores and atomics only pass L1: no lookups of it.
        looked = [
            step
            for path in found
            for step in path.steps
            if step.level == name and step.requests and name != "LDS" and not (name == "L1" and path.kind in _PAST_L1)
        ]
        requests, hits = sum(step.requests for step in looked), sum(step.hits for step in looked)
        served, passed = sum(step.served for step in steps), sum(step.passed for step in steps)
        rate = 100 * hits / requests if requests else 100 * served / arrived if arrived and name != "LDS" else None
        if name == a.memory_kind:
            rate = None
        second = facts.bytes_per_second
        rows.append((
            name, arrived, served, passed, "–" if rate is None else round(rate, 1) if rate % 1 else int(rate),
            facts.latency_clocks or "–", second / 1e12 if second else "–", arrived / second * 1e6 if second else "–",
        ))  # fmt: skip
    return rows


def asked_and_moved(found: Sequence[Path]) -> tuple[int, int]:
    """Bytes that lanes asked of global and scratch memory, and bytes of the lines or blocks that these accesses became
    at L1. Scalar loads and LDS, which know no coalescing, are left out."""
    vector = [path for path in found if path.kind not in ("lds", "scalar", "atomic results")]
    return sum(path.asked for path in vector), sum(path.steps[0].bytes for path in vector)


def _sentence(found: Sequence[Path], a: Architecture) -> str:
    parts = []
    asked, moved = asked_and_moved(found)
    if asked:
        ratio = moved / asked
        verdict = (
            "neighbouring lanes share cache lines"
            if ratio <= 1.1
            else f"{ratio:.3g} bytes moved for each byte wanted: lanes use only parts of the lines"
        )
        parts.append(
            f"Lanes asked for {amount(asked)} of global memory, which became {amount(moved)} of whole cache lines at "
            f"L1 ({verdict})."
        )
    reads = [path for path in found if path.kind in ("load", "scratch load")]
    looked = sum(path.steps[0].bytes for path in reads)
    if looked:
        said = []
        for name in level_facts(a):
            steps = [step for path in reads for step in path.steps if step.level == name]
            if steps:
                said.append(f"{name} {_percent(sum(step.served for step in steps), looked)}")
        parts.append(f"Of what loads looked up, these levels had it: {', '.join(said)}.")
    writes = [path for path in found if path.kind in ("store", "scratch store")]
    if writes:
        out = sum(path.steps[1].passed for path in writes)
        beyond = sum(path.steps[-1].bytes for path in writes)
        there = f"{amount(beyond)} of it to {a.memory_kind}" if a.last_level_cache is not None else ""
        there = "all of it kept by the Infinity Cache" if a.last_level_cache is not None and not beyond else there
        parts.append(f"Stores made the L2 write {amount(out)}{', ' + there if there else f' to {a.memory_kind}'}.")
    lds = sum(path.asked for path in found if path.kind == "lds")
    if lds:
        parts.append(f"{amount(lds)} were moved between lanes and LDS, which no cache sees.")
    return " ".join(parts) or "The kernel accesses no memory, or the device does not look at accesses."


# ---------------------------------------------------------------------------------------------------- the instrument


def _place(where: SourceLine | None) -> str:
    if where is None:
        return "no source line"
    return f"line {where.line}: {where.text.strip()}" if where.text.strip() else f"line {where.line}"


def _choices(launch: Launch) -> tuple[list[tuple[str, str, list[AccessCost]]], int]:
    """What can be chosen: (name, "all", "line" or "instruction", accesses), and how many choices were left out."""
    costs = [cost for cost in launch.accesses if cost.executed]
    lines: dict[tuple[str, int] | None, list[AccessCost]] = {}
    for cost in costs:
        key = None if cost.where is None else (cost.where.file, cost.where.line)
        lines.setdefault(key, []).append(cost)
    groups = [(_place(group[0].where), "line", group) for group in lines.values()]
    ones = [(f"{cost.instruction} ({_place(cost.where)})", "instruction", [cost]) for cost in costs]
    by_bytes = sorted((*groups, *ones), key=lambda choice: -sum(cost.requested_bytes for cost in choice[2]))
    kept = {id(choice) for choice in by_bytes[: MOST_CHOICES - 1]}
    shown = [choice for choice in groups if id(choice) in kept] + [choice for choice in ones if id(choice) in kept]
    return [("all accesses", "all", costs), *shown], len(by_bytes) - len(shown)


def _drawn(found: Sequence[Path], a: Architecture) -> list[dict[str, Any]]:
    facts = level_facts(a)
    rows = []
    for path in found:
        steps = []
        for number, step in enumerate(path.steps):
            last = number == len(path.steps) - 1
            word = _served_words(path.kind, step.level, last)
            passes = step.level == "L1" and path.kind in _PAST_L1
            steps.append({
                "level": step.level, "bytes": step.bytes, "served": step.served, "passed": step.passed,
                "above": amount(step.bytes),
                "below": "passes" if passes else f"{_percent(step.served, step.bytes)} {word}" if step.bytes else "–",
                "tip": _tip(path, step, a, facts[step.level]),
            })  # fmt: skip
        words, colour = KINDS[path.kind]
        scalar = path.kind == "scalar"
        first = path.steps[0].bytes
        asked = f"{path.asked:,} bytes asked for by {'waves' if scalar else 'lanes'} ({amount(path.asked)})"
        if path.kind == "atomic results":
            asked = "what atomics left in the L2 is written back by the end of the launch"
        elif path.kind != "lds":
            each = "lines of 64 bytes" if scalar else "lines" if path.kind.endswith("load") else "blocks of 64 bytes"
            asked += f"\nwhole {each}: {first:,} bytes ({amount(first)})"
        rows.append({
            "kind": path.kind, "words": words, "colour": colour, "asked": path.asked, "steps": steps,
            "above": amount(path.asked) if path.asked else "", "tip": f"{words}: {asked}",
        })  # fmt: skip
    return rows


def _columns(a: Architecture) -> list[dict[str, Any]]:
    """The columns of the picture: LDS and the scalar cache stand where L1 does, next to the lanes."""
    facts = level_facts(a)
    columns = []
    for name, f in facts.items():
        if name in ("LDS", "scalar cache"):
            continue
        size = amount(f.bytes) + (f" × {f.instances}" if f.instances > 1 else "")
        columns.append({
            "name": name, "levels": [name, "LDS", "scalar cache"] if name == "L1" else [name],
            "size": size, "latency": f"{f.latency_clocks} clocks" if f.latency_clocks else "latency not public",
            "rate": _rate(f) if f.bytes_per_second else "rate not public",
        })  # fmt: skip
    return columns


def _one(launch: Launch) -> dict[str, Any]:
    a = architectures.get(launch.arch)
    choices, left_out = _choices(launch)
    shown = []
    for name, what, costs in choices:
        found = paths(costs, a)
        shown.append({
            "name": short(name), "what": what, "paths": _drawn(found, a), "sentence": _sentence(found, a),
            "levels": [[cell if isinstance(cell, str) else round(cell, 6) for cell in row]
                       for row in _level_rows(found, a)],
        })  # fmt: skip
    return {
        "name": f"{short(launch.kernel)} ({launch.arch})", "columns": _columns(a), "choices": shown,
        "leftOut": left_out, "sources": f"Latencies and rates of the {a.product}: {sources(a)}",
    }  # fmt: skip


def _note(launch: Launch) -> str:
    parts = [profiles.note(launch)]
    blind = sum(map(unfollowed, launch.accesses))
    if blind:
        parts.append(
            f"{blind} instruction{'s were' if blind > 1 else ' was'} not followed through the caches and "
            f"{'are' if blind > 1 else 'is'} left out."
        )
    if launch.accesses and launch.time_is_modelled:
        parts.append("Hits are modelled: every launch begins with empty caches.")
    return " ".join(filter(None, parts))


def memory_hierarchy(launch: Launch, beside: Launch | None = None) -> Instrument:
    """Where the loads and stores of a launch were served.

    Args:
        launch: of a profile on a virtual device: its `accesses` are what is drawn. Without any, the picture says so.
        beside: another launch, drawn below in the same scale, perhaps of another kernel or on another device.
    """
    launches = [launch] if beside is None else [launch, beside]
    rows: list[tuple[Cell, ...]] = []
    sentences = []
    for one in launches:
        a = architectures.get(one.arch)
        found = paths([cost for cost in one.accesses if cost.executed], a)
        lead = (f"{one.kernel} ({one.arch})",) if beside is not None else ()
        rows += [(*lead, *row) for row in _level_rows(found, a)]
        said = " ".join(filter(None, (_sentence(found, a), _note(one))))
        sentences.append(f"{short(one.kernel)} ({one.arch}): {said}" if beside is not None else said)
    table = Table((("kernel", *_COLUMNS) if beside is not None else _COLUMNS), tuple(rows), _explained(launches))
    data = {
        "launches": [_one(one) for one in launches],
        "notes": [_note(one) for one in launches],
        "kinds": [{"words": words, "colour": colour} for words, colour in KINDS.values()],
        "levelColumns": list(_COLUMNS),
    }
    title = f"Memory hierarchy: {' beside '.join(short(f'{one.kernel} ({one.arch})', 60) for one in launches)}"
    return Instrument("memory", title, " ".join(sentences), table, data, lambda: _figure(launches, title))


def _explained(launches: Sequence[Launch]) -> str:
    last = [
        "bytes in = served here + passed on. Hit rates are of requests; that a store finds its line counts as a hit. "
        "µs: if all of it went through at that rate."
    ]
    if any(launch.sampled for launch in launches):
        last.append("Sampled and scaled up.")
    return " ".join(last)


def _figure(launches: Sequence[Launch], title: str) -> Figure:
    """The flows of all accesses: a row for each kind, a column for each level; thickness is bytes."""
    sets = []
    for launch in launches:
        a = architectures.get(launch.arch)
        sets.append((a, _drawn(paths([cost for cost in launch.accesses if cost.executed], a), a)))
    most = max((max(p["asked"], *(s["bytes"] for s in p["steps"])) for _, found in sets for p in found), default=0) or 1
    figure = palette.figure(9, 0.5 + 0.82 * sum(len(found) + 1 for _, found in sets))
    grid = figure.add_gridspec(len(sets), 1, height_ratios=[len(found) + 1 for _, found in sets])
    figure.suptitle(palette.plain(title), fontsize=10)
    for number, (a, found) in enumerate(sets):
        axes = figure.add_subplot(grid[number, 0])
        columns = _columns(a)
        axes.set_xlim(-1.05, len(columns) + 0.75)
        axes.set_ylim(len(found) + 0.05, -0.62)
        axes.axis("off")
        axes.text(0, -0.3, "lanes", ha="center", fontsize=9, weight="bold")
        for at, column in enumerate(columns, 1):
            axes.text(at, -0.38, column["name"], ha="center", fontsize=9, weight="bold")
            axes.text(at, -0.22, f"{column['latency']}\n{column['rate']}", ha="center", va="top", fontsize=6.5)
        if not found:
            axes.text(0.5, 0.4, "no memory accesses were recorded", fontsize=9)
        for row, path in enumerate(found):
            _draw_path(axes, path, row, columns, most)
    return figure


def _draw_path(axes: Any, path: dict[str, Any], row: int, columns: Sequence[dict[str, Any]], most: int) -> None:
    paint, hatch = palette.CATEGORIES[path["colour"]], palette.HATCHES[path["colour"]]
    at = {level: number for number, column in enumerate(columns, 1) for level in column["levels"]}
    top = row + 0.12

    def thick(count: int) -> float:
        return max(0.5 * count / most, 0.012) if count else 0.0

    def piece(left: float, right: float, low: float, high: tuple[float, float], **more: Any) -> None:
        axes.fill([left, right, right, left], [low, low, high[1], high[0]], facecolor=paint, **more)

    def below(x: float, first: str, second: str) -> None:
        axes.text(x, top + words_at, f"{first}\n{second}", ha="center", va="top", fontsize=6.5)

    pale = {"alpha": 0.35, "linewidth": 0}
    words_at = thick(max(path["asked"], *(step["bytes"] for step in path["steps"]))) + 0.07
    axes.text(-1.0, top + 0.06, path["words"].replace(", ", ",\n"), ha="left", va="center", fontsize=8)
    x, before = 0.0, thick(path["asked"])
    if path["asked"]:
        piece(-0.08, 0.08, top, (top + before, top + before), edgecolor="black", linewidth=0.6)
        below(0, path["above"], "asked for")
    else:
        x = at[path["steps"][0]["level"]] - 0.08
    for step in path["steps"]:
        if not step["bytes"]:
            break
        to, high, on = at[step["level"]], top + thick(step["bytes"]), top + thick(step["passed"])
        piece(x + 0.08, to - 0.08, top, (top + before, high), **pale)
        if step["passed"]:
            piece(to - 0.08, to + 0.08, top, (on, on), **pale)
        if step["served"]:
            high = max(high, on + 0.012)
            piece(to - 0.08, to + 0.08, on, (high, high), edgecolor="black", linewidth=0.6, hatch=hatch)
        name = f"{step['level']}: " if step["level"] in ("LDS", "scalar cache") else ""
        below(to, f"{name}{step['below']}", f"of {step['above']}")
        x, before = to, thick(step["passed"])
