"""Roofline: how fast kernels compute, beside what the device's memories and arithmetic units allow.

`roofline` makes the instrument from the launches of one profile, and of a second one to compare with. What launches did
is counted in `views.flops`; the roofs are those of `architectures.roofs`. docs/roofline.md explains how to read it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpulab import architectures
from gpulab.architectures.roofs import Roof, compute_roofs, memory_roofs
from gpulab.records import Launch
from gpulab.views import flops, palette
from gpulab.views.flops import Work
from gpulab.views.instrument import Instrument
from gpulab.views.table import Cell, Table, short

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_POINTS = 60
"""Points of one run in the picture and in the table: those with the most time."""

RATES = ("achievable", "peak")


@dataclass(frozen=True, slots=True)
class Point:
    """Work and the roofs above it.

    Attributes:
        label: the kernel's name, with the launch's number in the run where several launches are points of their own.
        run: "", or "before" and "after" where two runs are compared.
        limits: microseconds that the work would take at each roof alone: by "achievable" and "peak", then by the key of
            a memory roof, or "compute" for its operations, each kind at its own rate.
    """

    work: Work
    label: str
    run: str
    limits: Mapping[str, Mapping[str, float]]

    def lowest(self, rate: str) -> str:
        """The roof that allows the least: a memory roof's key or "compute"; "" if there is neither work nor traffic."""
        times = self.limits[rate]
        found = max(times, key=lambda key: times[key], default="")
        return found if found and times[found] else ""

    def share(self, key: str, rate: str) -> float:
        """The part of a roof that is reached, 0 to 1: the time at that roof alone over the time that it took."""
        return self.limits[rate].get(key, 0.0) / self.work.us if self.work.us else 0.0


def point(work: Work, roofs: Sequence[Roof], run: str = "", label: str = "") -> Point:
    """Work beside roofs. GB/s and bytes, GFLOP/s and operations give microseconds: bytes / (GB/s) / 1000."""
    limits: dict[str, dict[str, float]] = {}
    for rate in RATES:
        times = {
            roof.key: work.bytes[roof.key] / getattr(roof, rate) / 1000
            for roof in roofs
            if roof.kind == "memory" and work.bytes.get(roof.key)
        }
        arithmetic = {roof.key: roof for roof in roofs if roof.kind == "compute"}
        compute = 0.0
        for kind, done in work.flops.items():
            roof = arithmetic.get(kind)
            compute += done / getattr(roof, rate) / 1000 if roof else 0.0
        if compute:
            times["compute"] = compute
        limits[rate] = times
    return Point(work, label or work.kernel, run, limits)


def _si(value: float, unit: str) -> str:
    """A number with a prefix: 12,582,912 B is "12.6 MB"."""
    for factor, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"


def _rate(gigas: float, unit: str) -> str:
    return _si(gigas * 1e9, unit)


def _names(arch: str) -> dict[str, str]:
    a = architectures.get(arch)
    return {roof.key: roof.name for roof in (*memory_roofs(a), *compute_roofs(a))}


def _kinds(work: Work, names: Mapping[str, str]) -> str:
    """What kind of arithmetic most operations are: "FP32", "FP32 and FP64"."""
    total = work.total
    kinds = [names.get(k, k) for k, v in sorted(work.flops.items(), key=lambda item: -item[1]) if v >= 0.01 * total]
    return " and ".join(filter(None, (", ".join(kinds[:-1]), kinds[-1]))) if kinds else ""


def _roof_name(key: str, work: Work, names: Mapping[str, str]) -> str:
    return f"{_kinds(work, names)} arithmetic" if key == "compute" else f"{names[key]} bandwidth"


_ROOF_OF = {
    "LDS": "LDS", "L1": "L1", "L2 bandwidth": "L2", "Infinity Cache bandwidth": "Infinity Cache",
    "VALU issue": "compute", "transcendental unit": "compute", "matrix cores": "compute",
}  # fmt: skip


def roof_of(limiter: str) -> str:
    """The roof that a limiter of the timing model is, or "" if it is none: latency, dispatch, the launch itself."""
    if limiter in _ROOF_OF:
        return _ROOF_OF[limiter]
    return "memory" if limiter.endswith(" bandwidth") else ""


def _why(work: Work) -> str:
    """What the model's limiter means, where it is not the lowest roof or the roof is far away."""
    floats = 100 * work.float_clocks / work.issue_clocks if work.issue_clocks else 100.0
    vector = "vector instructions issue all the time"
    if floats < 95:
        vector = f"{floats:.0f} % of the clocks of vector instructions go to float operations, the rest to addresses, "
        vector += "moves and control"
    if work.lanes < 0.95:
        vector += f"; {100 * work.lanes:.0f} % of the lanes are active in float operations"
    texts = {
        "launch overhead": f"the launch itself takes {work.overhead_us:.3g} of {work.us:.3g} µs; give it more work",
        "latency (occupancy)": "waves wait for memory, and registers or LDS leave room for too few of them: "
        "gpulab.occupancy(kernel) shows which",
        "latency (too few waves)": "the grid is too small to give every compute unit enough waves",
        "latency": "waves wait longer than the other waves can fill",
        "VALU issue": vector,
        "transcendental unit": "functions such as rcp, sqrt and exp run at a quarter of the rate",
        "scalar issue": "scalar instructions and branches take longer than the arithmetic",
        "atomics": "atomics on few addresses take turns",
        "uneven workgroups": "some workgroups, or some compute units, have more to do than others, and work alone in "
        "the end",
        "workgroup dispatch": "starting the workgroups takes longest; give each thread more work",
        "L1": "accesses that are not contiguous take the L1 longer than their bytes alone would",
        "LDS": "bank conflicts, or few bytes an instruction, take LDS longer than the bytes alone would",
        "L2 bandwidth": "the L2 takes a write at half the rate, and whole lines where lanes ask for parts",
        "Infinity Cache bandwidth": "what the L2 misses and writes back goes through it",
        "matrix cores": "the matrix cores are busy all the time",
    }
    return texts.get(work.limiter, "")


def describe(found: Point, names: Mapping[str, str], rate: str = "achievable") -> str:
    """A point in words: what it computes, what it moves, its lowest roof, how far below, and what the model says."""
    work = found.work
    many = f" in {work.launches:,} launches" if work.launches > 1 else ""
    took = f"{short(found.label)}: {_si(work.us * 1e-6, 's') if work.us >= 1e6 else f'{work.us:,.3g} µs'}"
    own = f", {work.overhead_us:.3g} of them the launch" if work.overhead_us > 0.1 * work.us else ""
    took += f" ({'modelled' if work.modelled else 'measured'}{own}){many}"
    lowest = found.lowest(rate)
    if not lowest:
        return f"{took}. It does no float operations and moves no data that was counted."
    share = found.share(lowest, rate)
    if work.total:
        text = f"{took}, {_rate(work.gflops, 'FLOP/s')}"
        far = next((key for key in reversed(list(work.bytes)) if work.bytes[key]), "")
        if lowest != "compute":
            far = lowest
        if far:
            text += f" at {work.total / work.bytes[far]:.3g} FLOP per byte of {names[far]}"
    else:
        text = f"{took}. It does no float operations, so that only its bytes count"
        if lowest != "compute":
            text += f": {_rate(work.bytes[lowest] / work.us / 1000, 'B/s')} of {names[lowest]}"
    text += f". Its lowest roof is {_roof_name(lowest, work, names)}, of which it reaches {_percent(share)}."
    if not work.modelled or not work.limiter:
        return text
    same = roof_of(work.limiter) == lowest
    why = _why(work)
    if same and share >= 0.75:
        return f"{text} The model's time has the same limit ({work.limiter})."
    if same:
        rest = why or "the launch's own time and other units that are busy take the rest"
        return f"{text} The model's time has the same limit ({work.limiter}): {rest}."
    return f"{text} In the model it is held back by {work.limiter}: {why or 'two limits are close to each other'}."


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.2g} %"


def _points(launches: Sequence[Launch], roofs: Sequence[Roof], run: str, by_kernel: bool) -> tuple[list[Point], int]:
    """Points in the order of first launches, and how many were left out."""
    works = {f"{launch.kernel} #{number}": flops.work(launch) for number, launch in enumerate(launches)}
    if by_kernel:
        groups: dict[str, list[Work]] = {}
        for work in works.values():
            groups.setdefault(work.kernel, []).append(work)
        works = {kernel: flops.together(group) for kernel, group in groups.items()}
    longest = set(sorted(works, key=lambda label: -works[label].us)[:MOST_POINTS])
    kept = [point(work, roofs, run, label) for label, work in works.items() if label in longest]
    return kept, len(works) - len(kept)


def _pairs(points: Sequence[Point], by_kernel: bool) -> list[tuple[int, int]]:
    """Which point of "before" is which of "after": of the same name, or the only ones, or launches in their order."""
    before = [k for k, found in enumerate(points) if found.run == "before"]
    after = [k for k, found in enumerate(points) if found.run == "after"]
    if len(before) == len(after) and (len(before) == 1 or not by_kernel):
        return list(zip(before, after, strict=True))
    place = {points[k].label: k for k in after}
    return [(k, place[points[k].label]) for k in before if points[k].label in place]


def _looks(points: Sequence[Point], pairs: Sequence[tuple[int, int]]) -> list[tuple[int, str]]:
    """The number of the colour and the name beside each point: before and after have one colour, and one name if both
    have the same."""
    partner = {other: one for one, other in pairs}
    named = {one for one, other in pairs if points[one].label == points[other].label}
    found = []
    for k, each in enumerate(points):
        one = partner.get(k, k)
        if k in named:
            name = ""
        else:
            name = each.label if not each.run or one in named else f"{each.label} ({each.run})"
        found.append((one % len(palette.CATEGORIES), name))
    return found


def _level(points: Sequence[Point], roofs: Sequence[Roof]) -> str:
    """The level whose intensity is shown first, of those that all points have bytes of: for one kernel (or one before
    and after) the one with the most time at its roof, for several the farthest."""
    drawn = [found for found in points if found.work.total] or list(points)
    levels = [roof.key for roof in roofs if roof.kind == "memory"]
    times = {key: sum(found.limits["achievable"].get(key, 0.0) for found in drawn) for key in levels
             if all(found.work.bytes.get(key) for found in drawn)}  # fmt: skip
    if not times:
        return levels[-1]
    if sum(found.run != "after" for found in drawn) > 1:
        return list(times)[-1]
    return max(times, key=lambda key: times[key])


def _message(found: Point, names: Mapping[str, str]) -> dict[str, Any]:
    work = found.work
    return {
        "kernel": short(found.label),
        "run": found.run,
        "launches": work.launches,
        "us": work.us,
        "gflops": work.gflops,
        "kinds": [k for k, v in work.flops.items() if v >= 0.01 * work.total],
        "arithmetic": _kinds(work, names),
        "levels": {
            key: {"bytes": moved, "intensity": work.total / moved, "gbps": moved / work.us / 1000 if work.us else 0.0}
            for key, moved in work.bytes.items()
            if moved
        },
        "lowest": {rate: found.lowest(rate) for rate in RATES},
        # what each roof allows at this work's own intensity, in GFLOP/s, and the share that is reached
        "allows": {
            rate: {key: work.total / us / 1000 for key, us in found.limits[rate].items() if us} for rate in RATES
        },
        "shares": {rate: {key: found.share(key, rate) for key in found.limits[rate]} for rate in RATES},
        "words": {rate: describe(found, names, rate) for rate in RATES},
    }


def _table(points: Sequence[Point], roofs: Sequence[Roof], left_out: int) -> Table:
    """A row for each point and roof."""
    rows: list[tuple[Cell, ...]] = []
    two = any(found.run for found in points)
    for found in points:
        work, lowest = found.work, found.lowest("achievable")
        whose: tuple[Cell, ...] = (short(found.label), *([found.run] if two else []), work.us)
        names = {roof.key: roof.name for roof in roofs}
        for roof in roofs:
            moved = work.bytes.get(roof.key, 0.0)
            if roof.kind != "memory" or not moved:
                continue
            rows.append((
                *whose, f"{roof.name} bandwidth", moved / 1e6,
                work.total / moved if work.total else "–", work.gflops if work.total else "–",
                moved / work.us / 1000 if work.us else "–", 100 * found.share(roof.key, "achievable"),
                100 * found.share(roof.key, "peak"), "◀ lowest" if roof.key == lowest else "",
            ))  # fmt: skip
        if "compute" in found.limits["achievable"]:
            rows.append((
                *whose, f"{_kinds(work, names)} arithmetic", "–", "–",
                work.gflops, "–", 100 * found.share("compute", "achievable"), 100 * found.share("compute", "peak"),
                "◀ lowest" if lowest == "compute" else "",
            ))  # fmt: skip
    columns = (
        "kernel", *(["run"] if two else []), "µs", "roof", "MB", "FLOP/byte", "GFLOP/s", "GB/s", "% of achievable",
        "% of peak", "",
    )  # fmt: skip
    modelled = any(found.work.modelled for found in points)
    notes = ["Times are modelled." if modelled else "Times are measured."]
    if any(found.work.sampled for found in points):
        notes.append("Memory accesses were looked at in some workgroups; bytes are scaled up.")
    if left_out:
        notes.append(f"{left_out:,} more with less time are left out.")
    return Table(columns, tuple(rows), " ".join(notes))


def roofline(launches: Sequence[Launch], beside: Sequence[Launch] = (), by: str = "kernel") -> Instrument:
    """Kernels under the roofs of their device.

    Args:
        launches: of one profile, on one architecture; at least one.
        beside: of another profile on the same architecture; `launches` are then "before" and these "after".
        by: what a point is at first: "kernel", all its launches together, or "launch". The browser can change it.

    Raises:
        ValueError: there are no launches, or they ran on more than one architecture, or there is no such `by`.
        CounterNotFound: they were measured on a real GPU without counters of float operations.
    """
    if by not in ("kernel", "launch"):
        raise ValueError(f'by is "kernel" or "launch", not {by!r}')
    arches = sorted({launch.arch for launch in (*launches, *beside)})
    if len(arches) != 1:
        raise ValueError(
            f"launches on one architecture are needed, not on {' and '.join(arches)}: the roofs are those of one device"
            if arches
            else "no kernel was launched"
        )
    a = architectures.get(arches[0])
    roofs = (*memory_roofs(a), *compute_roofs(a))
    names = _names(a.name)
    sets: dict[str, dict[str, Any]] = {}
    first: list[Point] = []
    shown, kernels = "", 0
    table = Table((), ())
    for name in ("kernel", "launch"):
        points, left_out = _points(launches, roofs, "before" if beside else "", name == "kernel")
        more, also = _points(beside, roofs, "after", name == "kernel") if beside else ([], 0)
        points += more
        if name == "launch" and len(points) + left_out + also == kernels:
            break  # a launch of each kernel: the same picture
        kernels = len(points) + left_out + also
        pairs = _pairs(points, name == "kernel")
        if name in ("kernel", by):
            first, table, shown = points, _table(points, roofs, left_out + also), name
        sets[name] = {
            "points": [
                {**_message(found, names), "colour": colour, "name": short(text, 40)}
                for found, (colour, text) in zip(points, _looks(points, pairs), strict=True)
            ],
            "arrows": [list(pair) for pair in pairs],
            "left_out": left_out + also,
        }
    sentence = _sentence(first, names, shown)
    level = _level(first, roofs)
    used = {kind for found in first for kind, done in found.work.flops.items() if done >= 0.01 * found.work.total}
    real = "" if first[0].work.modelled else ", measured"
    title = f"Roofline of {a.product} ({a.name}{real})"
    return Instrument(
        name="roofline",
        title=title,
        sentence=sentence,
        table=table,
        data={
            "roofs": [
                {"key": r.key, "name": r.name, "kind": r.kind, "achievable": r.achievable, "peak": r.peak, "how": r.how,
                 "used": r.key in used or r.key == level}
                for r in roofs
            ],
            "level": level,
            "sets": sets,
            "by": shown,
            "time": "modelled" if first[0].work.modelled else "measured",
        },
        figure=lambda: _figure(first, _pairs(first, shown == "kernel"), roofs, level, used, title),
    )  # fmt: skip


def _sentence(points: Sequence[Point], names: Mapping[str, str], by: str) -> str:
    """The point with the most time in words, or what changed from before to after."""
    longest = max((found for found in points if found.run != "before"), key=lambda found: found.work.us)
    text = describe(longest, names)
    pairs = [(points[one], points[other]) for one, other in _pairs(points, by == "kernel")]
    for before, after in pairs:
        if after is longest and after.work.us and before.work.us:
            old, new = before.work, after.work
            per = (old.us / old.launches) / (new.us / new.launches)
            how = f"{per:.3g} times as fast" if per >= 1 else f"{1 / per:.3g} times as slow"
            was = before.lowest("achievable")
            then = f"{_roof_name(was, old, names)} ({_percent(before.share(was, 'achievable'))})" if was else "none"
            text = f"After the change {how} per launch; the lowest roof before was {then}. {text}"
    if len(points) > 1 and not pairs:
        text = f"{len(points)} {'kernels' if by == 'kernel' else 'launches'}; the one with the most time is {text}"
    return text


def _range(values: Sequence[float]) -> tuple[float, float]:
    """Whole powers of ten around values."""
    return 10.0 ** math.floor(math.log10(min(values))), 10.0 ** math.ceil(math.log10(max(values)))


def _figure(
    points: Sequence[Point], pairs: Sequence[tuple[int, int]], roofs: Sequence[Roof], level: str, used: set[str],
    title: str,
) -> Figure:  # fmt: skip
    drawn = palette.figure(8.6, 5)
    axes = drawn.subplots()
    memory = [roof for roof in roofs if roof.kind == "memory" and roof.key == level]
    compute = [roof for roof in roofs if roof.kind == "compute" and roof.key in used]
    compute = compute or [roof for roof in roofs if roof.key == "fp32 plain"]
    top = max(roof.achievable for roof in compute)
    fast = max(roof.achievable for roof in memory)
    places = {
        k: (found.work.total / found.work.bytes[level], found.work.gflops)
        for k, found in enumerate(points)
        if found.work.total and found.work.bytes.get(level)
    }
    ridges = [top / roof.achievable for roof in memory]
    low, high = _range([*(x for x, _ in places.values()), *ridges])
    bottom, _ = _range([*(y for _, y in places.values()), *(low * roof.achievable for roof in memory), top])
    # The axes are about 7.85 by 4.25 inches of the picture; in them a roof rises one decade in one.
    tilt = math.degrees(math.atan2(4.25 / math.log10(3 * top / bottom), 7.85 / math.log10(high / low)))
    for roof in memory:
        ridge = top / roof.achievable
        axes.plot([low, ridge], [low * roof.achievable, top], color=palette.BLACK, linewidth=2)
        axes.annotate(f"{roof.name} {_rate(roof.achievable, 'B/s')}", (low, low * roof.achievable), xytext=(6, 6),
                      textcoords="offset points", fontsize=9, rotation=tilt, rotation_mode="anchor")  # fmt: skip
    for roof in compute:
        axes.plot([roof.achievable / fast, high], [roof.achievable] * 2, color=palette.BLACK, linewidth=1.5)
        unit = "OP/s" if " int" in roof.key else "FLOP/s"
        axes.annotate(f"{roof.name} {_rate(roof.achievable, unit)}", (high, roof.achievable), xytext=(-2, 3),
                      textcoords="offset points", fontsize=9, ha="right")  # fmt: skip
    looks = _looks(points, pairs)
    for k, (x, y) in places.items():
        colour, name = looks[k]
        axes.plot([x], [y], marker="D" if points[k].run == "after" else "o", color=palette.CATEGORIES[colour],
                  markersize=9, markeredgecolor="black", linestyle="none")  # fmt: skip
        left = math.log10(x / low) > 0.6 * math.log10(high / low)
        axes.annotate(palette.plain(short(name, 31)), (x, y), xytext=(-10 if left else 10, -4), fontsize=9,
                      textcoords="offset points", ha="right" if left else "left")  # fmt: skip
    for one, other in pairs:
        if one not in places or other not in places:
            continue
        moved = (abs(math.log10(a / b)) for a, b in zip(places[one], places[other], strict=True))
        if max(moved) > 0.1:
            axes.annotate("", places[other], places[one], arrowprops={"arrowstyle": "->", "shrinkA": 5, "shrinkB": 5})
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(low, high)
    axes.set_ylim(bottom, 3 * top)
    axes.grid(visible=True, which="major", color="#dcdcdc", linewidth=0.6)
    axes.set_xlabel(f"FLOP per byte of {_named(roofs, level)}")
    axes.set_ylabel(f"GFLOP/s ({'modelled' if points[0].work.modelled else 'measured'})")
    legend = ": ● before, ◆ after" if any(found.run for found in points) else ""
    axes.set_title(palette.plain(f"{title}{legend}"), fontsize=11)
    return drawn


def _named(roofs: Sequence[Roof], key: str) -> str:
    return next(roof.name for roof in roofs if roof.key == key)
