"""Occupancy: how many workgroups and waves a compute unit holds, what limits them, and what would change that.

`occupancy` makes the instrument from a device's table and plain numbers; every number in it is one of
`gpulab.architectures.residency`, which names the sources of the rules. The browser asks for each new setting.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gpulab import architectures
from gpulab.architectures import Architecture, residency
from gpulab.architectures.residency import Demand, Occupancy
from gpulab.records import KernelResources
from gpulab.views import palette
from gpulab.views.instrument import Instrument
from gpulab.views.table import Cell, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AXES = {"vgprs": "VGPRs per lane", "lds_bytes": "LDS per workgroup, bytes", "block_threads": "threads per workgroup"}
HIP_CALL = "hipOccupancyMaxActiveBlocksPerMultiprocessor"


@dataclass(frozen=True, slots=True)
class Setting:
    """A point of the calculator: a device and what a workgroup asks of one of its units."""

    architecture: Architecture
    demand: Demand

    @property
    def held(self) -> Occupancy:
        return self.demand.held(self.architecture)

    @property
    def simds(self) -> int:
        """SIMDs that one workgroup can use."""
        a = self.architecture
        return a.simds_per_cu if self.demand.cu_mode else a.simds_per_unit


def _count(amount: int, word: str) -> str:
    return f"{amount:,} {word}{'' if amount == 1 else 's'}"


def setting(question: Mapping[str, Any]) -> Setting:
    """The point that a question of the browser names: arch, vgprs, agprs, sgprs, lds_bytes, block_threads, cu_mode.

    Raises:
        ValueError: a number is not one that the device allows.
        DeviceNotFound: there is no such architecture.
    """
    a = architectures.get(str(question["arch"]))
    most = {
        "vgprs": a.max_vgprs,
        "agprs": a.max_agprs,
        "sgprs": a.max_sgprs + residency.RESERVED_SGPRS,
        "lds_bytes": a.max_lds_bytes_per_workgroup,
        "block_threads": a.max_threads_per_block,
    }
    found = {}
    for name, limit in most.items():
        value = int(question[name])
        least = 1 if name in ("block_threads", "vgprs") else 0
        if not least <= value <= limit:
            raise ValueError(f"{name} must be {least} to {limit:,} on {a.name}, not {value:,}")
        found[name] = value
    return Setting(a, Demand(**found, cu_mode=bool(question.get("cu_mode")) and a.simds_per_unit > a.simds_per_cu))


def steps(point: Setting, axis: str) -> list[tuple[int, int, int, int, str]]:
    """What one unit holds over the whole range of a resource: (from, to, waves, workgroups, what limits), a row for
    each step.

    Args:
        axis: one of `AXES`.
    """
    a = point.architecture
    if axis not in AXES:
        raise ValueError(f"there is no axis {axis!r}; the axes are {', '.join(AXES)}")
    if axis == "vgprs":
        starts, last = list(range(1, a.max_vgprs + 1)), a.max_vgprs
    elif axis == "lds_bytes":
        last = a.max_lds_bytes_per_workgroup
        starts = [0, 1, *range(a.lds_granule + 1, last + 1, a.lds_granule)]
    else:
        last = a.max_threads_per_block
        starts = list(range(1, last + 1, a.wave_size))
    found: list[tuple[int, int, int, int, str]] = []
    for place, start in enumerate(starts):
        end = starts[place + 1] - 1 if place + 1 < len(starts) else last
        held = _changed(point.demand, axis, start).held(a)
        if found and (held.waves, held.blocks, held.limit) == found[-1][2:]:
            found[-1] = (found[-1][0], end, *found[-1][2:])
        else:
            found.append((start, end, held.waves, held.blocks, held.limit))
    return found


def _changed(demand: Demand, axis: str, value: int) -> Demand:
    if axis == "vgprs":
        return replace(demand, vgprs=value)
    return replace(demand, lds_bytes=value) if axis == "lds_bytes" else replace(demand, block_threads=value)


def _levels(found: list[tuple[int, int, int, int, str]]) -> list[tuple[int, int, int]]:
    """(from, to, waves): neighbouring steps with as many waves put together."""
    levels: list[tuple[int, int, int]] = []
    for first, last, waves, *_ in found:
        if levels and levels[-1][2] == waves:
            levels[-1] = (levels[-1][0], last, waves)
        else:
            levels.append((first, last, waves))
    return levels


def slots(point: Setting) -> list[list[int]]:
    """For each SIMD its wave slots: the number of the workgroup whose wave is there, from 0, or -1. Waves are dealt
    round the SIMDs."""
    held = point.held
    waves = point.architecture.waves(point.demand.block_threads)
    found = [[-1] * point.architecture.max_waves_per_simd for _ in range(point.simds)]
    for number in range(held.waves):
        found[number % point.simds][number // point.simds] = number // waves
    return found


def reasons(point: Setting) -> dict[str, str]:
    """How each limit comes about, as a calculation in words."""
    a, d = point.architecture, point.demand
    held = point.held
    waves = a.waves(d.block_threads)
    each = f"÷ {_count(waves, 'wave')} of a workgroup"
    texts = {"wave slots": f"{point.simds} SIMDs × {a.max_waves_per_simd} slots {each}"}
    wanted = d.registers(a)
    taken = residency.allocated_vgprs(a, d.vgprs, d.agprs)
    by_registers = max(1, min(a.max_waves_per_simd, a.vgprs_per_simd // taken))
    together = a.unified_vgprs and d.agprs
    asked = f"{d.vgprs} + {d.agprs} AccVGPRs" if together else f"{wanted}"
    rounded = f"{asked} → {taken}" if taken != wanted or together else f"{taken}"
    texts["VGPRs"] = (
        f"{rounded} of {a.vgprs_per_simd:,} (steps of {a.vgpr_granule}): {_count(by_registers, 'wave')} a SIMD × "
        f"{point.simds} {each}"
    )
    by_scalar = residency.waves_by_sgprs(a, d.sgprs)
    texts["SGPRs"] = f"{d.sgprs} of {a.sgprs_per_simd}: {_count(by_scalar, 'wave')} a SIMD × {point.simds} {each}"
    pool = a.lds_bytes_per_cu if d.cu_mode else a.lds_bytes_per_unit
    if d.lds_bytes > a.max_lds_bytes_per_workgroup:
        texts["LDS"] = f"a workgroup may have {a.max_lds_bytes_per_workgroup:,} bytes, not {d.lds_bytes:,}"
    else:
        up = -(-d.lds_bytes // a.lds_granule) * a.lds_granule
        amount = f"{d.lds_bytes:,}" if up == d.lds_bytes else f"{d.lds_bytes:,} → {up:,}"
        texts["LDS"] = f"{amount} of {pool:,} bytes (steps of {a.lds_granule:,})"
    barriers = a.barriers_per_cu if d.cu_mode else a.barriers_per_unit
    texts["barriers"] = f"{barriers} in a {held.unit}, one for each workgroup of more than one wave"
    return {name: texts[name] for name in held.limits}


def sentence(point: Setting, subject: str) -> str:
    """What the unit holds and why, in words."""
    held = point.held
    a = point.architecture
    if not held.blocks:
        return (
            f"A workgroup of {subject} cannot run on {a.name}: one {held.unit} does not hold even one, because of "
            f"{_and(held.binding)}."
        )
    text = (
        f"One {held.unit} of {a.product} ({a.name}) holds {_count(held.blocks, 'workgroup')} of {subject} at a time: "
        f"{held.waves} of {held.max_waves} waves, {held.percent:.3g} %."
    )
    if held.waves == held.max_waves:
        return f"{text} All wave slots are full; nothing else limits."
    if held.binding == ("wave slots",):
        rest = held.max_waves - held.waves
        return f"{text} The {_count(rest, 'free slot')} cannot take one more whole workgroup."
    verb = "limits" if len(held.binding) == 1 and held.binding[0] == "LDS" else "limit"
    return f"{text} {_and(held.binding)} {verb}."


def _and(names: tuple[str, ...]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1]))) if names else "nothing"


_UNITS = {"LDS": " bytes of LDS", "VGPRs": " VGPRs", "SGPRs": " SGPRs"}


def more(point: Setting) -> str:
    """What it would take to get one more workgroup, in words."""
    held = point.held
    a, d = point.architecture, point.demand
    if held.waves == held.max_waves:
        return "Nothing to gain: every wave slot is full."
    changes, then = residency.one_more(a, d)
    if then is not None:
        words = [
            f"{c.needed:,} instead of {c.now:,}"
            + (
                " VGPRs and AccVGPRs together"
                if c.resource == "VGPRs" and d.agprs and a.unified_vgprs
                else _UNITS[c.resource]
            )
            for c in changes
        ]
        return f"With {' and '.join(words)}: {_count(then.blocks, 'workgroup')}, {then.waves} waves."
    text = "With this block size no saving gives one more workgroup."
    other = _other_block(point)
    if other is not None:
        size, waves = other
        text += f" Blocks of {size} threads would fill {waves} slots" + (
            f", if each still takes {d.lds_bytes:,} bytes of LDS." if d.lds_bytes else "."
        )
    return text


def _other_block(point: Setting) -> tuple[int, int] | None:
    """The largest block size with the most waves, if they are more than now."""
    a = point.architecture
    sizes = range(a.wave_size, a.max_threads_per_block + 1, a.wave_size)
    waves, size = max((replace(point.demand, block_threads=size).held(a).waves, size) for size in sizes)
    return (size, waves) if waves > point.held.waves else None


def spare(point: Setting) -> str:
    """How much more of each resource costs nothing, in words."""
    found = residency.room(point.architecture, point.demand)
    if not found:
        return ""
    names = {"VGPRs": "VGPRs and AccVGPRs together"} if point.demand.agprs and point.architecture.unified_vgprs else {}
    parts = [f"{names.get(name, name)} {most:,}{' bytes' if name == 'LDS' else ''}" for name, most in found.items()]
    return f"As many workgroups fit with up to: {', '.join(parts)} (each alone)."


def hip_answer(point: Setting, answered: int | None = None) -> str:
    """What HIP's occupancy call returns and, where it is not what the hardware holds, why.

    Args:
        answered: what it returned on a real GPU; computed by its formula if None.
    """
    a, d = point.architecture, point.demand
    held = point.held
    asked = held.api_blocks if answered is None else answered
    said = f"{HIP_CALL} {'gives' if answered is None else 'on this GPU gives'} {asked}"
    if asked == held.blocks:
        return f"{said}, the same."
    said += f", the hardware holds {held.blocks}: "
    if answered is not None and answered != held.api_blocks:
        return said + f"by its formula it should be {held.api_blocks}."
    api = residency.api_limits(a, d)
    up = -(-d.lds_bytes // a.lds_granule) * a.lds_granule
    if asked > held.blocks:  # of what the hardware gives, the formula lacks these two
        if "barriers" in held.binding:
            return said + f"HIP's formula does not know that a {held.unit} has only {held.limits['barriers']} barriers."
        steps_of = f"in steps of {a.lds_granule:,} bytes, so that {d.lds_bytes:,} take {up:,}"
        return f"{said}HIP's formula does not know that LDS is given {steps_of}."
    name = min(api, key=lambda name: api[name])
    if name == "LDS":
        pool = a.lds_bytes_per_cu if d.cu_mode else a.lds_bytes_per_unit
        most = a.max_lds_bytes_per_workgroup
        return f"{said}HIP divides the {most:,} bytes of LDS that one workgroup may have, a {held.unit} has {pool:,}."
    if name == "SGPRs":
        rounded = -(-d.sgprs // a.sgpr_granule) * a.sgpr_granule
        return f"{said}HIP rounds {d.sgprs} SGPRs up to {rounded}; eight waves can have up to 100 each."
    return said + f"HIP's formula gives less for {name}."


def _rows(point: Setting) -> list[dict[str, Any]]:
    held, texts = point.held, reasons(point)
    waves = point.architecture.waves(point.demand.block_threads)
    return [
        {"name": name, "how": texts[name], "allows": allows, "waves": allows * waves, "binds": name in held.binding}
        for name, allows in held.limits.items()
    ]


def _table(point: Setting, answered: int | None) -> Table:
    held = point.held
    rows: list[tuple[Cell, ...]] = [
        (row["name"], row["how"], row["allows"], row["waves"], "◀ limits" if row["binds"] else "")
        for row in _rows(point)
    ]
    waves = point.architecture.waves(point.demand.block_threads)
    rows.append(("hardware", f"the least of them, of {held.max_waves} slots", held.blocks, held.waves, ""))
    api = held.api_blocks if answered is None else answered
    rows.append((HIP_CALL, "HIP's formula" if answered is None else "asked on this GPU", api, api * waves, ""))
    curve = "; ".join(f"{first}–{last}: {waves}" for first, last, waves in _levels(steps(point, "vgprs")))
    note = " ".join(filter(None, (more(point), spare(point), hip_answer(point, answered))))
    unit = f"waves per {held.unit}"
    columns = ("resource", "how", "workgroups", unit, "")
    return Table(columns, tuple(rows), f"{note}\nW{unit[1:]} by VGPRs per lane: {curve}.")


def reply(point: Setting, axis: str, subject: str, answered: int | None = None) -> dict[str, Any]:
    """All that the browser draws for one setting."""
    held = point.held
    return {
        "sentence": sentence(point, subject),
        "more": more(point),
        "spare": spare(point),
        "hip": hip_answer(point, answered),
        "rows": _rows(point),
        "unit": held.unit,
        "blocks": held.blocks,
        "waves": held.waves,
        "max_waves": held.max_waves,
        "slots": slots(point),
        "curve": {
            "axis": axis,
            "label": AXES[axis],
            "steps": [list(step) for step in steps(point, axis)],
            "at": getattr(point.demand, axis),
        },
    }


def _devices() -> list[dict[str, Any]]:
    found = []
    for name in architectures.names():
        a = architectures.get(name)
        found.append({
            "arch": a.name, "product": a.product, "family": a.family, "wave_size": a.wave_size,
            "modes": a.simds_per_unit > a.simds_per_cu, "vgprs": a.max_vgprs, "agprs": a.max_agprs,
            "sgprs": a.max_sgprs + residency.RESERVED_SGPRS if a.sgprs_per_simd else 0,
            "lds_bytes": a.max_lds_bytes_per_workgroup, "lds_granule": a.lds_granule,
            "block_threads": a.max_threads_per_block,
        })  # fmt: skip
    return found


def occupancy(
    arch: str, demand: Demand, kernel: KernelResources | None = None, answered: int | None = None
) -> Instrument:
    """The occupancy calculator, at first at `demand` on `arch`.

    Args:
        arch: gfx name of the device shown first; the browser offers all that gpulab knows.
        demand: what one workgroup asks for.
        kernel: whose point it is; None for a calculator without a kernel.
        answered: what HIP's occupancy call returned on a real GPU for this point; None: computed by its formula.

    Raises:
        DeviceNotFound: there is no such architecture.
        ValueError: the block is larger than the device allows.
    """
    point = Setting(architectures.get(arch), demand)
    subject = f"{demand.block_threads:,} threads{f' of {kernel.kernel}' if kernel else ''}"
    start = {
        "arch": arch, "vgprs": demand.vgprs, "agprs": demand.agprs, "sgprs": demand.sgprs,
        "lds_bytes": demand.lds_bytes, "block_threads": demand.block_threads, "cu_mode": demand.cu_mode,
    }  # fmt: skip

    def answer(question: Mapping[str, Any]) -> dict[str, Any]:
        asked = setting(question)
        own = asked == point
        what = f"{asked.demand.block_threads:,} threads"
        axis = str(question.get("axis", "vgprs"))
        return reply(asked, axis, subject if own else what, answered if own else None)

    said = sentence(point, subject)
    if kernel is not None and kernel.arch != arch:
        said += (
            f" The kernel was compiled for {kernel.arch}: the compiler would choose other registers for {arch}; "
            "compile it for both to compare."
        )
    title = f"Occupancy of {kernel.kernel} ({arch})" if kernel else f"Occupancy calculator ({arch})"
    limit = {"LDS": "lds_bytes"}.get(point.held.limit, "vgprs")  # what the curve is drawn over at first
    first = reply(point, limit, subject, answered)
    return Instrument(
        name="occupancy",
        title=title,
        sentence=said,
        table=_table(point, answered),
        data={
            "devices": _devices(), "start": start, "kernel": kernel.kernel if kernel else "", "first": first,
            "axes": [[key, text] for key, text in AXES.items()],
        },
        figure=lambda: _figure(point, title),
        answer=answer,
    )  # fmt: skip


def _figure(point: Setting, title: str) -> Figure:
    held, rows = point.held, _rows(point)
    drawn = palette.figure(8.6, 5.4)
    axes: Any = drawn.subplot_mosaic([["bars", "slots"], ["curve", "curve"]], width_ratios=[1.15, 1])
    bars, grid, curve = axes["bars"], axes["slots"], axes["curve"]
    drawn.suptitle(palette.plain(title), fontsize=11)

    cap = max(held.limits["wave slots"], held.blocks, 1) * 1.5
    for place, row in enumerate(rows):
        colour, hatch = (palette.VERMILLION, "///") if row["binds"] else (palette.SKY, "")
        bars.barh(place, min(row["allows"], cap), color=colour, hatch=hatch, edgecolor="white", height=0.6)
        words = f" {row['allows']}{' →' if row['allows'] > cap else ''}{'  ◀ limits' if row['binds'] else ''}"
        bars.text(min(row["allows"], cap), place, words, va="center", fontsize=9)
    bars.axvline(held.blocks, color="black", linewidth=1, linestyle="--")
    bars.set_yticks(range(len(rows)), [row["name"] for row in rows])
    bars.invert_yaxis()
    bars.set_xlim(0, cap * 1.3)
    bars.set_xlabel(f"workgroups that a {held.unit} could hold by each")

    dealt = slots(point)
    for simd, places in enumerate(dealt):
        for place, group in enumerate(places):
            full = group >= 0
            colour = (palette.BLUE if group % 2 == 0 else palette.SKY) if full else "#ececec"
            grid.barh(simd, 0.92, left=place + 0.04, height=0.84, color=colour, hatch="" if full else "///",
                      edgecolor="white")  # fmt: skip
            if full:
                grid.text(place + 0.5, simd, str(group), ha="center", va="center", fontsize=7, color=palette.on(colour))
    grid.set_yticks(range(len(dealt)), [f"SIMD {n}" for n in range(len(dealt))])
    grid.set_xticks([])
    grid.invert_yaxis()
    grid.set_title(f"{held.waves} of {held.max_waves} wave slots; number: workgroup", fontsize=9)

    levels = _levels(steps(point, "vgprs"))
    xs = [x for first, last, _ in levels for x in (first, last + 1)]
    ys = [waves for *_, waves in levels for _ in (0, 1)]
    curve.plot(xs, ys, color=palette.BLUE)
    for _, last, waves in levels:
        curve.annotate(f"≤ {last}: {waves}", (last + 1, waves), xytext=(3, 2), textcoords="offset points", fontsize=8,
                       annotation_clip=False)  # fmt: skip
    curve.plot([point.demand.vgprs], [held.waves], marker="D", color=palette.VERMILLION, markersize=8)
    # Below and to the left of a falling curve there is room; at its left end there is no curve below.
    left = point.demand.vgprs < point.architecture.max_vgprs / 8
    curve.annotate(f"here: {point.demand.vgprs}", (point.demand.vgprs, held.waves), xytext=(7 if left else -7, -13),
                   ha="left" if left else "right", textcoords="offset points", fontsize=9)  # fmt: skip
    curve.set_ylim(0, held.max_waves * 1.15)
    curve.set_xlim(0, point.architecture.max_vgprs * 1.1)
    curve.set_xlabel(AXES["vgprs"])
    curve.set_ylabel(f"waves per {held.unit}")
    return drawn
