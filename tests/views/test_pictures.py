"""Each picture as text: its sentence, its table, what is drawn where and what a browser gets, as stored in pictures/.

A changed picture shows here which of its parts has moved or says something else. NAME.txt has the words, NAME.data.txt
what a browser gets, NAME.drawn.txt what is drawn where. With GPULAB_SCREENSHOTS=write the
texts are stored anew: look at the pictures first.
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from matplotlib.artist import Artist
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import Collection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

from gpulab import architectures
from gpulab.grading.task import exercise as asked
from gpulab.records import ArrayElement
from gpulab.views import gpu_map, memory, plots, timeline
from gpulab.views.chip import chip
from gpulab.views.coalescing import coalescing
from gpulab.views.divergence import divergence
from gpulab.views.exercise import failing
from gpulab.views.in_flight import waits
from gpulab.views.instrument import Instrument
from gpulab.views.lds_banks import lds_banks
from gpulab.views.occupancy import Demand, occupancy
from gpulab.views.progress import Entry, progress
from gpulab.views.roofline import roofline
from gpulab.views.source import source
from gpulab.views.stepper import stepper
from gpulab.views.task import TaskArray, task
from tests.stored import compare_texts
from tests.views import (
    test_coalescing,
    test_divergence,
    test_gpu_map,
    test_lds_banks,
    test_memory,
    test_roofline,
    test_source,
    test_timeline,
)
from tests.views.test_exercise import shifted
from tests.views.traces import long, small, waiting

PICTURES = Path(__file__).parent / "pictures"


def strided() -> Instrument:
    """Three loads: consecutive, one lane less and misaligned, and each lane in a cache line of its own."""
    loads = (
        [4 * n for n in range(64)],
        [4 * n + 4 if n < 63 else None for n in range(64)],
        [128 * n for n in range(64)],
    )
    return coalescing(test_coalescing.launch([test_coalescing.access(at, line) for line, at in enumerate(loads, 1)]))


def hierarchy(arch: str) -> Instrument:
    costs = test_memory.cost(cache_hits=5, array_hits=2, l2_requests=13, l2_hits=7, memory_bytes=1024, dram_bytes=768)
    stored = test_memory.cost(action="store", l2_requests=20, l2_hits=4, written_bytes=2048)
    return memory.memory_hierarchy(test_memory.record(costs, stored, arch=arch))


def stopped() -> Instrument:
    """A part of an image of 30 by 40, which a race stopped, and a large array that the kernel left alone."""
    case = shifted(stopped="race", place="shared memory, byte 256")
    (array,) = case.arrays
    image = replace(
        array, shape=(30, 40), rows=2, columns=3, row=5, column=7, part=500, right=1190, wrong=9, never=1,
        overview=((500, 0, 0), (490, 9, 1), (200, 0, 0)),
    )  # fmt: skip
    inputs = tuple(ArrayElement(n, "given", "", str(n * n)) for n in range(20))
    given = replace(
        array, name="in", shape=(2000,), rows=2, columns=10, right=2000, wrong=0, never=0, outside=0, elements=inputs,
        beside=(), overview=(), part=0, given=True,
    )  # fmt: skip
    return failing(replace(case, arrays=(given, image)))


def tasks() -> Instrument:
    """An array of more elements than are drawn, one without any, one of small blocks with its threads,
    one of three dimensions, of which a part is drawn, and one of a single row."""
    many = tuple(tuple(str(16 * row + n) for n in range(16)) for row in range(2))
    owned = (("1.2345678", "-7"), ("12345678", "1234567"))
    threads = (("b0 t0", "b0 t1"), ("b1 t0", ""))
    arrays = (
        TaskArray("x", "before", (40,), many), TaskArray("none", "before", (0,), ()),
        TaskArray("y", "after", (2, 2), owned, threads), TaskArray("z", "after", (2, 30), many),
        TaskArray("w", "before", (3, 4, 2), owned), TaskArray("one", "before", (2,), owned[:1]),
    )  # fmt: skip
    return task("saxpy", "n = 40; grid of 2 blocks", [("n", "40"), ("a", "2.5")], arrays)


def entries() -> list[Entry]:
    return [
        Entry("first-fill", "fill an array", "01_first_kernel", 10, "solved", "3 checks", "../a.ipynb", "01.ipynb"),
        Entry("saxpy-guard", "a x + y", "01_first_kernel", 15, "begun", "1 check, 2 hints", "../b.ipynb", "01.ipynb"),
        Entry("image-mirror", "mirror", "02_simt", 15, "open", "", "../c.ipynb", "02.ipynb"),
    ]


SERIES = {"time": [8, 2.5, math.nan, 3], "lines": [2, 4, 9, 8]}
PLOTS: dict[str, Callable[[], Instrument]] = {
    "lines": lambda: plots.lines([1, 2, 4, 1024], SERIES, title="t", across="step", up="how many", log="x"),
    "lines-apart": lambda: plots.lines([1, 2, 3, 4], SERIES, title="t", across="step"),
    "many-lines": lambda: plots.lines(
        range(39), {f"k{n}": [n] * 39 for n in range(8)}, title="t", across="step", up="y", log="xy"
    ),
    "long-lines": lambda: plots.lines(range(40), {"a": range(40)}, title="t", across="step", up="y"),
    "none-known": lambda: plots.lines([1, 2], {"a": [math.nan] * 2}, title="t", across="step"),
    "zeros": lambda: plots.lines([1, 2], {"a": [0, 0]}, title="t", across="step"),
    "steps": lambda: plots.steps(range(16, 22), {"a": [8, 8, 7, 7, 7, 5], "b": [1] * 6}, title="t", across="VGPRs",
                                 up="waves"),
    "bars": lambda: plots.bars([1, 2], {f"k{n}": [n, 1] for n in range(8)}, title="t", across="step", up="y"),
    "bars-of-words": lambda: plots.bars(["x" * 30, "y" * 30], {"a": [1, 2]}, title="t", across="case"),
    "bars-of-longer-words": lambda: plots.bars(["x" * 30, "y" * 31], {"a": [1, 2]}, title="t", across="case"),
    "words-and-steps": lambda: plots.lines(["a", 2], {"a": [1, 2]}, title="t", across="case", log="x"),
    "blocks": lambda: plots.blocks((2, 2), (4, 2), 5, 3),
    "one-small-block": lambda: plots.blocks((1, 1), (3, 1), 2, 1),
}  # fmt: skip
MADE: dict[str, Callable[[], Instrument]] = {
    "chip": lambda: chip(architectures.get("gfx942"), "TCC_HIT"),
    "chip-of-one-die": lambda: chip(architectures.get("gfx1100")),
    "chip-of-gfx1201": lambda: chip(architectures.get("gfx1201"), "matrix cores"),
    "coalescing": strided,
    "divergence": lambda: divergence(test_divergence.launch()),
    "divergence-of-two": lambda: divergence(test_divergence.launch(), test_divergence.launch(arch="gfx1100")),
    "divergence-of-a-wave": lambda: divergence(test_divergence.trace()),
    "exercise": lambda: failing(shifted()),
    "exercise-stopped": stopped,
    "gpu-map": lambda: gpu_map.gpu_map(test_gpu_map.launch(test_gpu_map.placement())),
    "gpu-map-of-an-mi300x": lambda: gpu_map.gpu_map(test_gpu_map.launch(test_gpu_map.mi300x(5000))),
    "lds-banks": lambda: lds_banks("x * 8 + y"),
    "lds-banks-of-gfx1100": lambda: lds_banks("x * 3", arch="gfx1100"),
    "lds-banks-of-a-launch": lambda: test_lds_banks.of_launch(test_lds_banks.launch([test_lds_banks.access()])),
    "memory": lambda: hierarchy("gfx942"),
    "memory-of-atomics": lambda: memory.memory_hierarchy(
        test_memory.record(
            test_memory.cost(
                action="atomic",
                l2_requests=10,
                l2_hits=5,
                memory_bytes=128,
                dram_bytes=64,
                written_bytes=256,
                dram_written_bytes=128,
            ),
            test_memory.cost(action="store", space="scratch", l2_requests=20, l2_hits=4, written_bytes=64),
            test_memory.cost(space="scalar", lanes=10, cache_hits=4, l2_requests=16, l2_hits=16),
            test_memory.cost(space="lds", lanes=99),
        )
    ),
    "memory-of-gfx1100": lambda: hierarchy("gfx1100"),
    "occupancy": lambda: occupancy("gfx942", Demand(100, 40, 256, 20_000)),
    "occupancy-of-gfx1100": lambda: occupancy("gfx1100", Demand(121)),
    **{f"plots-{name}": each for name, each in PLOTS.items()},
    "progress": lambda: progress(lambda: (entries(), "")),
    "roofline": lambda: roofline([test_roofline.made()], [test_roofline.made(us=4.0, multiply_adds=20_000)]),
    "roofline-of-three": lambda: roofline([test_roofline.made(kernel=f"k{n}", us=5.0 * n) for n in (1, 2, 3)]),
    "source": lambda: source(test_source.launch()),
    "source-of-two": lambda: source(test_source.launch(), beside=test_source.launch(conflicts=0)),
    "stepper": lambda: stepper(small()),
    "stepper-at-a-fault": lambda: stepper(small(64, fault=True)),
    "stepper-of-many-steps": lambda: stepper(long(1500)),
    "stepper-without-source": lambda: stepper(small(with_source=False)),
    "stepper-in-flight": lambda: stepper(waiting()),
    "in-flight": lambda: waits(waiting()),
    "task": lambda: asked("saxpy-guard"),
    "task-of-many-elements": tasks,
    "task-of-two-dimensions": lambda: asked("image-mirror"),
    "timeline": lambda: timeline.timeline(test_timeline.SMALL, test_timeline.launches()),
}


LATER = (
    "chip-of-gfx1201", "gpu-map-of-an-mi300x", "lds-banks-of-gfx1100", "memory-of-gfx1100", "occupancy-of-gfx1100",
    "lds-banks-of-a-launch", "plots-many-lines", "roofline-of-three", "stepper-of-many-steps", "task-of-many-elements",
)  # fmt: skip
"""Pictures that `make test` does not draw, as it draws others of their kind; words and data are compared of all."""

SHORT: dict[str, tuple[Callable[[], Instrument], dict[str, int]]] = {
    "coalescing": (strided, {"coalescing.MOST": 2, "table.ONE_LINE": 20}),
    "divergence": (
        lambda: divergence(test_divergence.launch()),
        {"divergence.MOST_INSTRUCTIONS": 2, "divergence._STATIC_ROWS": 2, "listing.MOST_LINES": 3,
         "listing._AROUND": 1},
    ),
    "divergence-of-a-wave": (lambda: divergence(test_divergence.trace()), {"divergence.MOST_COLUMNS": 3}),
    "exercise": (lambda: failing(shifted()), {"exercise.MOST_ROWS": 5, "exercise.UNFOLDED": 3}),
    "lds-banks": (
        lambda: test_lds_banks.of_launch(test_lds_banks.launch([test_lds_banks.access(), test_lds_banks.access(1)])),
        {"lds_banks.MOST": 1, "table.ONE_LINE": 20},
    ),
    "memory": (lambda: hierarchy("gfx942"), {"memory.MOST_CHOICES": 1}),
    "roofline": (
        lambda: roofline([test_roofline.made(kernel=f"k{n}", us=5.0 * n) for n in (1, 2, 3)]),
        {"roofline.MOST_POINTS": 2},
    ),
    "source": (
        lambda: source(test_source.launch()),
        {"source.MOST_INSTRUCTIONS": 2, "source._STATIC_ROWS": 2, "listing.MOST_LINES": 3, "listing._AROUND": 1},
    ),
    "stepper": (
        lambda: stepper(small()),
        {"stepper.WINDOW": 4, "stepper.NEAR": 2, "stepper.MOST_ROWS": 3, "stepper.LONGEST_LINE": 20,
         "stepper.MOST_COLUMNS": 3, "stepper.LONG_FILE": 4},
    ),
    "timeline": (
        lambda: timeline.timeline(test_timeline.SMALL, test_timeline.launches()),
        {"timeline.MOST_ITEMS": 3, "timeline.MOST_GROUPS": 2, "timeline.MOST_ROWS": 2, "timeline.MOST_BARS": 2,
         "timeline.UNITS_SHOWN": 1, "timeline.NAME_LENGTH": 5},
    ),
}  # fmt: skip
"""Instruments where little may be shown: what they leave out, and what they say of it."""


def described(figure: Figure) -> list[str]:
    """A line for each thing that is drawn: its kind, words, colours, pattern, width and place in pixels."""
    figure.set_dpi(50)
    FigureCanvasAgg(figure).draw()
    seen = [each for each in figure.findobj(include_self=False) if each.get_visible()]
    return [_line(each) for each in seen if isinstance(each, KINDS) and _shows(each)]


KINDS = (Text, Patch, Line2D, Axis, AxesImage, Collection)


def _shows(drawn: Artist) -> bool:
    return not isinstance(drawn, Text) or bool(drawn.get_text()) or getattr(drawn, "arrow_patch", None) is not None


def _colours(cells: Iterable[Any]) -> str:
    """The colours of cells, and how many have each."""
    found = Counter(to_hex(cell, True) for cell in cells)
    return " ".join(f"{colour}*{count}" for colour, count in sorted(found.items())[:12])


def _line(drawn: Artist) -> str:
    said: list[Any] = [type(drawn).__name__]
    if isinstance(drawn, Text):
        said += [repr(drawn.get_text()), f"size={drawn.get_fontsize():g}", to_hex(drawn.get_color())]
        behind = drawn.get_bbox_patch()
        said += [] if behind is None else [f"on={to_hex(behind.get_facecolor())}"]
        said += [] if drawn.get_fontweight() == "normal" else [f"weight={drawn.get_fontweight()}"]
    elif isinstance(drawn, Patch):
        said += [to_hex(drawn.get_facecolor(), True), to_hex(drawn.get_edgecolor(), True), f"hatch={drawn.get_hatch()}"]
        said += [f"wide={drawn.get_linewidth():g}"]
    elif isinstance(drawn, Line2D):
        said += [to_hex(drawn.get_color(), True), str(drawn.get_linestyle()), f"wide={drawn.get_linewidth():g}"]
        said += [f"marker={drawn.get_marker()}", f"points={len(drawn.get_xydata())}"]
        said += [f"size={drawn.get_markersize():g}"] if str(drawn.get_marker()) in "osDv^PX.*" else []
    elif isinstance(drawn, AxesImage):
        said += [_colours(drawn.to_rgba(drawn.get_array()).reshape(-1, 4))]
    elif isinstance(drawn, Collection):
        edges = _colours(drawn.get_edgecolor())
        said += [f"filled: {_colours(drawn.get_facecolor())} edges: {edges} paths={len(drawn.get_paths())}"]
        said += [f"wide={width:g}" for width in sorted(set(drawn.get_linewidth()))]
    said += [] if drawn.get_alpha() is None else [f"alpha={drawn.get_alpha():g}"]
    box = drawn.get_window_extent()
    said += [f"order={drawn.get_zorder():g}", f"at {box.x0:.0f} {box.y0:.0f} to {box.x1:.0f} {box.y1:.0f}"]
    return " ".join(map(str, said))


def told(data: Any, name: str = "", depth: int = 3) -> list[str]:
    """What a browser gets, a line for each part that is not larger than three levels."""
    if depth and data and isinstance(data, dict):
        return [line for key, value in data.items() for line in told(value, f"{name}.{key}", depth - 1)]
    if depth and data and isinstance(data, (list, tuple)) and isinstance(data[0], (dict, list, tuple)):
        return [line for at, value in enumerate(data) for line in told(value, f"{name}[{at}]", depth - 1)]
    return [f"{name} = {json.dumps(data, ensure_ascii=False)}"]


def told_in_words(made: Instrument) -> list[str]:
    """Title, sentence and table."""
    lines = [made.title, "", *made.sentence.splitlines(), "", *str(made.table).splitlines()]
    return [line.rstrip() for line in lines]


def compare_words_and_data(made: Instrument, name: str) -> None:
    for found, ending in ((told_in_words(made), "txt"), (told(made.data), "data.txt")):
        compare_texts(found, PICTURES / f"{name}.{ending}", exact=len(found))


def compare_drawing(made: Instrument, name: str) -> None:
    drawn = described(made.figure()) if made.figure is not None else []
    compare_texts(drawn, PICTURES / f"{name}.drawn.txt", after=" at ")


def make_short(name: str, monkeypatch: pytest.MonkeyPatch) -> Instrument:
    make, limits = SHORT[name]
    for limit, value in limits.items():
        module, _, constant = limit.partition(".")
        monkeypatch.setattr(sys.modules[f"gpulab.views.{module}"], constant, value)
    return make()


@pytest.mark.parametrize("name", MADE)
def test_words_and_data(name: str) -> None:
    compare_words_and_data(MADE[name](), name)


@pytest.mark.parametrize("name", SHORT)
def test_words_and_data_that_are_left_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compare_words_and_data(make_short(name, monkeypatch), f"{name}-shortened")


@pytest.mark.parametrize("name", [name for name in MADE if name not in LATER])
def test_drawing(name: str) -> None:
    compare_drawing(MADE[name](), name)


@pytest.mark.parametrize("name", LATER)
def test_picture(name: str) -> None:
    compare_drawing(MADE[name](), name)


@pytest.mark.parametrize("name", SHORT)
def test_what_is_left_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compare_drawing(make_short(name, monkeypatch), f"{name}-shortened")
