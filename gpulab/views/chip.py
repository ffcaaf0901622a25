"""A drawing of a device and of one of its compute units, in which parts can be marked: `chip(a, "TCC_HIT")`.

`Part` is a box of the drawing, with what a device has of it. `belonging(name, arch)` says to which parts a hardware
counter, a metric, a block of counters or a part's name belongs. Sizes and numbers come from the device's tables
(gpulab/architectures); the places of the boxes show what serves what, and not where it lies on the die.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpulab import architectures, counter_names, metrics
from gpulab.architectures.architecture import Architecture, Cache
from gpulab.errors import CounterNotFound
from gpulab.views import palette
from gpulab.views.instrument import Instrument
from gpulab.views.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_RULES = (
    (r"GRBM_|CPC_|CPF_", "command processor"),
    (r"SPI_", "dispatcher"),
    (r"SQC_DCACHE|SQ_INSTS_SMEM|SQ_INST_LEVEL_SMEM|SQ_INST_CYCLES_SMEM|SQC_TC_DATA", "scalar cache"),
    (r"SQC_ICACHE|SQ_IFETCH|SQC_TC_INST", "instruction cache"),
    (r"SQC_LDS|SQ_LDS|SQ_INSTS?_LDS|SQ_INST_LEVEL_LDS|SQ_INSTS_WAVE32_LDS|SQ_ACTIVE_INST_LDS|SQ_WAIT_INST_LDS", "LDS"),
    (r"SQ_.*MFMA", "matrix cores"),
    (r"SQ_.*(VALU|VSKIPPED)", "SIMDs"),
    (r"SQ_.*(SALU|INST_SCA)", "scalar unit"),
    (r"SQ_INSTS?_(LEVEL_|CYCLES_)?(VMEM|FLAT|TEX)|SQ_ACTIVE_INST_(VMEM|FLAT)|SQ_VMEM_TA|TA_", "address unit"),
    (r"TD_", "data unit"),
    (r"TCP_TCC_", "L2"),
    (r"TCP_", "L1"),
    (r"TCC_EA|GL2C_(EA|MC)", "memory"),
    (r"TCA_|TCC_|GL2C_", "L2"),
    (r"SQ", "scheduler"),
)
"""Patterns of counters' names, and the part that each counter tells about; the first that fits counts. Who counts it is
its block (gpulab.counter_names): an SQ counts vector instructions when it issues them, and SIMDs execute them."""

_BLOCKS: Mapping[str, str] = {
    "GRBM": "command processor", "CPC": "command processor", "CPF": "command processor", "SPI": "dispatcher",
    "SQ": "scheduler", "SQC": "scalar cache", "TA": "address unit", "TD": "data unit", "TCP": "L1", "TCA": "L2",
    "TCC": "L2", "GL2C": "L2",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a device.

    Attributes:
        name: as learners call it: "L2".
        block: AMD's name of the block that does its work, as counters have it; "" where none has counters.
        count: how many the device has.
        size: "4 MiB", "64 lanes"; "" where it has none.
        work: what it does, in a few words.
    """

    name: str
    block: str
    count: int
    size: str
    work: str


def parts(a: Architecture) -> dict[str, Part]:
    """The parts of a device by name, from the host's side down to its memory."""

    def cache(name: str, block: str, of: Cache, work: str) -> Part:
        return Part(name, block, of.instances, _bytes(of.bytes), f"{work}, for {_served(of.shared_by)}")

    registers = f"{a.max_waves_per_simd} waves, {_bytes(a.vgprs_per_simd * a.wave_size * 4)} of VGPRs"
    simds = a.compute_units * a.simds_per_cu
    cdna = a.matrix_unit == "MFMA"
    sq = a.compute_units if a.sq_serves != "unit" else a.multiprocessors
    found = [
        Part("command processor", "CPC, CPF, GRBM", a.xcds, "", "reads launches from queues"),
        Part("dispatcher", "SPI", a.shader_engines, "", "hands workgroups to compute units with room"),
        Part("scheduler", "SQ", sq, "", "picks ready waves and issues their instructions"),
        Part("scalar unit", "SQ", a.compute_units, "SGPRs", "what is the same for all lanes, EXEC, branches"),
        Part("SIMDs", "SQ", simds, registers, f"execute vector instructions on {a.simd_lanes} lanes a clock"),
    ]
    if a.matrix_unit:
        whose = "one beside each SIMD" if cdna else "the SIMDs' own multipliers"
        found.append(Part("matrix cores", "SQ", simds, a.matrix_unit, f"multiply small matrices; {whose}"))
    lds = a.lds_bytes_per_unit
    found += [
        Part(
            "LDS",
            "SQ",
            a.multiprocessors,
            _bytes(lds),
            f"shared memory of a workgroup; a wave sees {a.lds_banks} banks",
        ),
        Part("address unit", "TA", a.vector_cache.instances, "", "makes requests of lines from the lanes' addresses"),
        Part("data unit", "TD", a.vector_cache.instances, "", "puts what comes back into the lanes' order"),
        cache("L1", "TCP", a.vector_cache, "vector cache"),
        cache("scalar cache", "SQC", a.scalar_cache, "scalar loads"),
        cache("instruction cache", "SQC", a.instruction_cache, "code"),
    ]
    if a.shader_array_cache is not None:
        found.append(cache("GL1", "", a.shader_array_cache, "between L1 and L2"))
    found.append(cache("L2", "TCC, TCA" if cdna else "GL2C", a.l2_cache, "atomics happen here"))
    if a.last_level_cache is not None:
        found.append(cache("Infinity Cache", "", a.last_level_cache, "in front of memory"))
    speed = f"{a.memory_kind}, {a.memory_bandwidth / 1e12:.3g} TB/s"
    found.append(Part("memory", "", 1, f"{a.memory_bytes / 2**30:.0f} GiB", speed))
    return {part.name: part for part in found}


def belonging(name: str, arch: str) -> tuple[str, ...]:
    """The parts to which something belongs.

    Args:
        name: a hardware counter ("TCC_HIT", "TCC_HIT_sum"), a metric ("l2_hit_rate"), a block ("TCC") or a part ("L2").
        arch: the device, e.g. "gfx942".

    Returns:
        Names of `parts`, in their order; of a metric those of all counters that it is computed from.

    Raises:
        CounterNotFound: the device has nothing of that name.
    """
    has = parts(architectures.get(arch))
    if not isinstance(name, str):
        raise CounterNotFound(
            f"a part, a counter or a metric is named by a text, not by a {type(name).__name__}.",
            hint="gpulab.chip() lists the parts.",
        )
    named = [part for part in has if part.lower() == name.strip().lower()]
    if named:
        return tuple(named)
    if name in _BLOCKS:
        return (_BLOCKS[name],)
    try:
        known = metrics.find(name, arch)
    except CounterNotFound as error:
        raise CounterNotFound(error.what, why=error.why, hint=f"{error.hint} Parts are {', '.join(has)}.") from None
    counters = (name,) if isinstance(known, counter_names.Counter) else metrics.needed(known.name, arch)
    found = {_part(counter) for counter in counters}
    listed = tuple(part for part in has if part in found)
    if not listed:
        raise CounterNotFound(
            f"no part of the {arch} is known for {name!r}.",
            why="it is computed from what is known of the launch, and no counter of the hardware is in it.",
            hint="run.metrics lists what was counted; gpulab.chip() lists the parts.",
        )
    return listed


def _part(counter: str) -> str:
    return next((part for pattern, part in _RULES if re.match(pattern, counter)), "")


def chip(a: Architecture, mark: str = "") -> Instrument:
    """The drawing of a device, with the parts marked that something belongs to (see `belonging`); "" marks nothing.

    Raises:
        CounterNotFound: the device has nothing of that name.
    """
    has, marked = parts(a), belonging(mark, a.name) if mark else ()
    rows = tuple(
        ("\u25b6" if part.name in marked else "", part.name, part.count, part.size, part.block, part.work)
        for part in has.values()
    )
    columns = ("", "part", "how many", "each has", "block of counters", "what it does")
    note = "The drawing shows what serves what; it is no map of the die."
    return Instrument(
        name="",
        title=f"Parts of the {a.product} ({a.name})" + (f": {mark}" if mark else ""),
        sentence=_sentence(a, mark, marked),
        table=Table(columns, rows, note),
        figure=lambda: _figure(a, has, marked),
    )


def _sentence(a: Architecture, mark: str, marked: tuple[str, ...]) -> str:
    dies = f"{a.xcds} dies (XCDs) of {a.compute_units // a.xcds}" if a.xcds > 1 else "one die of"
    units = f"{dies} {'' if a.xcds > 1 else f'{a.compute_units} '}compute units"
    text = f"The {a.product} has {units}; each compute unit has {a.simds_per_cu} SIMDs"
    if a.unit_name == "WGP":
        text += ", and two of them are a work-group processor (WGP)"
    text += "."
    if mark:
        counted = {each.block for each in counter_names.defined(mark)}
        by = f", which the block {' or '.join(sorted(counted))} counts," if counted else ""
        text += f" {mark}{by} belongs to: {', '.join(marked)}."
    return text


def _bytes(count: int) -> str:
    return f"{count >> 20:,} MiB" if count >= 1 << 20 else f"{count >> 10:,} KiB"


def _served(shared_by: str) -> str:
    return {"device": "the whole device"}.get(shared_by, shared_by if shared_by[0].isdigit() else f"each {shared_by}")


# ------------------------------------------------------------------------------------------------------ the drawing


def _figure(a: Architecture, has: Mapping[str, Part], marked: tuple[str, ...]) -> Figure:
    drawn = palette.figure(9.6, 5.4)
    device, unit = drawn.subplots(1, 2, width_ratios=[1.25, 1.0])
    _device(device, a, has, marked)
    _unit(unit, a, has, marked)
    return drawn


def _box(axes: Axes, at: tuple[float, float, float, float], text: str, marked: bool, size: float = 7.5) -> None:
    """A box at (left, top, width, height), of a unit square; a marked one has another fill, a thick edge and a sign."""
    from matplotlib.patches import Rectangle

    left, top, width, height = at
    edge, fill, line = (palette.VERMILLION, palette.YELLOW, 2.6) if marked else ("#545454", "#F4F4F4", 0.8)
    axes.add_patch(Rectangle((left, top), width, height, facecolor=fill, edgecolor=edge, linewidth=line))
    said = f"\u25b6 {text}" if marked else text
    axes.text(
        left + width / 2, top + height / 2, palette.plain(said), ha="center", va="center", fontsize=size,
        fontweight="bold" if marked else "normal", linespacing=1.25, in_layout=False,
    )  # fmt: skip


def _canvas(axes: Axes, title: str) -> None:
    axes.set_xlim(-0.01, 1.01)
    axes.set_ylim(1.01, -0.01)
    axes.axis("off")
    axes.set_title(palette.plain(title), fontsize=9)


def _text(part: Part, each: str = "") -> str:
    block = f" ({part.block})" if part.block else ""
    return f"{part.name}{block}" + (f", {part.size}" if part.size else "") + each


def _device(axes: Axes, a: Architecture, has: Mapping[str, Part], marked: tuple[str, ...]) -> None:
    """From the command processor down to memory: the dies or the shader engines beside each other."""
    _canvas(axes, f"{a.product}: {a.compute_units} compute units")
    many = f"{a.xcds} \u00d7 " if a.xcds > 1 else ""
    _box(axes, (0, 0, 0.48, 0.085), many + _text(has["command processor"]), "command processor" in marked)
    _box(axes, (0.52, 0, 0.48, 0.085), f"{a.shader_engines} \u00d7 {_text(has['dispatcher'])}", "dispatcher" in marked)
    groups = a.xcds if a.xcds > 1 else a.shader_engines
    name = "XCD" if a.xcds > 1 else "shader engine"
    inner = "GL1" if a.xcds == 1 and "GL1" in has else "L2" if a.xcds > 1 else ""
    across = 3 if groups == 6 else min(groups, 4)
    down = -(-groups // across)
    top, bottom = 0.12, 0.66 if inner == "L2" else 0.58
    wide, high = (1 + 0.02) / across, (bottom - top + 0.02) / down
    units = a.compute_units // groups
    for index in range(groups):
        left, above = index % across * wide, top + index // across * high
        width, height = wide - 0.02, high - 0.02
        _box(axes, (left, above, width, height), "", False)
        axes.text(left + width / 2, above + 0.012, f"{name} {index}", ha="center", va="top", fontsize=7)
        strip = 0.085 if inner else 0.0
        _squares(axes, units, (left + 0.01, above + 0.05, width - 0.02, height - 0.06 - strip))
        if inner:
            each = has[inner].count // groups
            shown = (f"{each} \u00d7 " if each > 1 else "") + f"{inner} {has[inner].size}"
            _box(axes, (left + 0.008, above + height - strip, width - 0.016, strip - 0.01), shown, inner in marked, 6.5)
    rest = [part for part in ("L2", "Infinity Cache", "memory") if part in has and part != inner]
    room = (1 - bottom - 0.02) / len(rest)
    for row, part in enumerate(rest):
        text = _text(has[part]) + (f", {has[part].work}" if part == "memory" else "")
        _box(axes, (0, bottom + 0.03 + row * room, 1, room - 0.03), text, part in marked)


def _squares(axes: Axes, count: int, at: tuple[float, float, float, float]) -> None:
    """One small square for each compute unit."""
    from matplotlib.patches import Rectangle

    left, top, width, height = at
    columns = next(n for n in range(1, count + 1) if n * (n * height / width) >= count)
    rows = -(-count // columns)
    step_x, step_y = width / columns, height / rows
    for k in range(count):
        place = (left + k % columns * step_x + step_x * 0.1, top + k // columns * step_y + step_y * 0.1)
        axes.add_patch(Rectangle(place, step_x * 0.8, step_y * 0.8, facecolor=palette.SKY, edgecolor="none"))


def _unit(axes: Axes, a: Architecture, has: Mapping[str, Part], marked: tuple[str, ...]) -> None:
    """One compute unit, from its scheduler to its caches."""
    _canvas(axes, "one of these compute units" + (", half a WGP" if a.unit_name == "WGP" else ""))
    _box(axes, (0, 0, 0.62, 0.1), _text(has["scheduler"]), "scheduler" in marked)
    _box(axes, (0.65, 0, 0.35, 0.1), "scalar unit, SGPRs", "scalar unit" in marked)
    simds = a.simds_per_cu
    wide = 1.02 / simds
    for index in range(simds):
        left, width = index * wide, wide - 0.02
        text = (
            f"SIMD {index}\n{a.simd_lanes} lanes\n{has['SIMDs'].size.replace(', ', chr(10)).replace(' of ', chr(10))}"
        )
        _box(axes, (left, 0.13, width, 0.26), text, "SIMDs" in marked, 7)
        if "matrix cores" in has:
            _box(axes, (left, 0.4, width, 0.085), has["matrix cores"].size, "matrix cores" in marked, 7)
    whose = "" if a.lds_bytes_per_unit == a.lds_bytes_per_cu else ", shared by the WGP"
    _box(axes, (0, 0.52, 1, 0.1), f"LDS {has['LDS'].size}{whose}; a wave sees {a.lds_banks} banks", "LDS" in marked)
    _box(axes, (0, 0.65, 0.49, 0.085), _text(has["address unit"]), "address unit" in marked)
    _box(axes, (0.51, 0.65, 0.49, 0.085), _text(has["data unit"]), "data unit" in marked)
    _box(axes, (0, 0.75, 1, 0.1), _text(has["L1"]), "L1" in marked)
    for left, part in ((0.0, "scalar cache"), (0.51, "instruction cache")):
        cache = a.scalar_cache if part == "scalar cache" else a.instruction_cache
        serves = "" if cache.shared_by == "CU" else f"\nfor {_served(cache.shared_by)}"
        _box(axes, (left, 0.88, 0.49, 0.12), f"{part} {has[part].size}{serves}", part in marked)
