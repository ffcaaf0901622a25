"""Coalescing: words and numbers from addresses laid out by hand, and from a kernel on a virtual device."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import gpulab
from gpulab.records import AccessCost, AccessSample, Counters, Launch, MemoryRange, SourceLine
from gpulab.views import coalescing as views
from gpulab.views.coalescing import MOST, coalescing, lines_of, pattern

BASE = 0x2000_0001_0000
HOSTILE = "<img src=x onerror=alert(1)></script>$x$ ${x} \u202egnp"


def access(
    addresses: Sequence[int | None],
    line: int = 1,
    action: str = "load",
    name: str = "x",
    text: str = "y = x[i];",
    bytes: int = 4,
) -> AccessCost:
    """An access executed once by one wave, at these offsets of an allocation of 1 MB."""
    at = tuple(None if a is None else BASE + a for a in addresses)
    lines = len({(a + k) // 128 for a in at if a is not None for k in range(bytes)})
    lanes = sum(a is not None for a in at)
    sample = AccessSample(
        "worst", "global", 0, (2, 0, 0), 1, sum(1 << n for n, a in enumerate(at) if a is not None), at, bytes, lines,
        memory=(MemoryRange(name, BASE, 1 << 20),),
    )  # fmt: skip
    where = SourceLine("cell.hip", line, 1, text)
    return AccessCost(
        where, f"global_{action}_dword v1, v2", "global", action, bytes, 1, lanes, lines=lines, line_bytes=128,
        samples=(sample,),
    )  # fmt: skip


def launch(accesses: Sequence[AccessCost], kernel: str = "k") -> Launch:
    return Launch(kernel, "gfx942", 0, (4, 1, 1), (256, 1, 1), 0, 16, Counters(), accesses=tuple(accesses))


LANES = range(64)
NEIGHBOURS = "Let neighbouring lanes use neighbouring elements: then a line serves many of them."


@pytest.mark.parametrize(
    ("addresses", "words"),
    [
        ([4 * n for n in LANES], "consecutive, aligned"),
        ([4 * n + 4 for n in LANES], "consecutive, misaligned by 4 bytes: 3 lines instead of 2"),
        ([252 - 4 * n for n in LANES], "consecutive backwards, aligned"),
        ([4 * n if n < 40 else None for n in LANES], "consecutive, aligned"),
        ([4 * n if n % 2 else None for n in LANES], "consecutive"),
        ([8 * n for n in LANES], "stride of 8 bytes: 4 of every 8 bytes are used"),
        ([128 * n for n in LANES], "stride of 128 bytes: every lane needs a line of its own"),
        ([-512 * n + 65536 for n in LANES], "stride of -512 bytes: every lane needs a line of its own"),
        ([2 * n for n in LANES], "stride of 2 bytes: lanes overlap"),
        ([400] * 64, "all lanes the same address"),
        ([4 * (n % 32) + 512 * (n // 32) for n in LANES], "rows of 32 consecutive lanes, 512 bytes apart"),
        ([4 * (n // 16) for n in LANES], "groups of 16 lanes share an address, 4 bytes apart"),
        ([4 * (n % 16) for n in LANES], "every 16 lanes ask for the same 16 places"),
        (
            [512 * (n % 32) + 4 * (n // 32) for n in LANES],
            "rows of 32 lanes with a stride of 512 bytes; rows are 4 bytes apart",
        ),
        ([4 * (n ^ 5) for n in LANES], "one stretch of bytes, lanes in another order"),
        ([256 * (n * n * 977 % 9001) for n in LANES], "scattered: every lane needs a line of its own"),
        ([400 if n == 9 else None for n in LANES], "one lane alone"),
        ([None] * 64, "no lane was active"),
    ],
)  # fmt: skip
def test_patterns_in_words(addresses: list[int | None], words: str) -> None:
    found = pattern(addresses, 4, 128)[0]
    assert found == words


def test_lines_and_the_bytes_used_in_them() -> None:
    first, second = lines_of([124, 120, None, 124], 8, 128)
    assert (first.address, first.spans, first.lanes, first.used) == (0, ((120, 128),), (0, 1, 3), 8)
    assert (second.address, second.spans, second.lanes) == (128, ((0, 4),), (0, 3))


def test_worst_first_and_sums() -> None:
    shown = coalescing(launch([
        access([4 * n for n in LANES], 3), access([128 * n for n in LANES], 5, "store", "out"),
        access([8 * n for n in LANES], 4),
    ]))  # fmt: skip
    # 64 lanes of 4 bytes: 2, 64 and 4 lines of 128 bytes.
    assert [row[:2] + row[4:7] for row in shown.table.rows] == [
        (5, "store to ‘out’", 256, 64, 8192), (4, "load of ‘x’", 256, 4, 512), (3, "load of ‘x’", 256, 2, 256),
    ]  # fmt: skip
    assert [row[7] for row in shown.table.rows] == [3.125, 50.0, 100.0]
    assert shown.sentence == (
        "Of 3 vector memory instructions, the store to ‘out’ in line 5 uses its cache lines worst: stride of 128 "
        "bytes: every lane needs a line of its own. Its lanes asked for 256 bytes, and lines of 8,192 bytes were "
        "moved: 3.12 % used. All instructions together: 8.57 %."
    )  # (3 * 256) / (8192 + 512 + 256)


def test_a_single_lane_is_not_called_the_worst() -> None:
    """It needs a line for 4 bytes, whatever its address is; other lanes could share lines."""
    alone, apart = access([400 if n == 9 else None for n in LANES], 3), access([8 * n for n in LANES], 4)
    assert [row[0] for row in coalescing(launch([alone, apart])).table.rows] == [4, 3]


def test_what_the_browser_draws() -> None:
    shown = coalescing(launch([access([4 * n + 4 if n != 7 else None for n in LANES])]))
    view = shown.message()["view"]
    assert view["lanes"][0] == {"at": "x + 4", "lines": [0], "from": 4}
    assert view["lanes"][7] is None
    assert view["lanes"][63] == {"at": "x + 256", "lines": [2], "from": 0}
    assert [line["at"] for line in view["lines"]] == ["x + 0", "x + 128", "x + 256"]
    assert view["lines"][0]["spans"] == ((4, 32), (36, 128))
    assert (view["asked"], view["moved"], view["used"]) == (252, 384, 252)
    assert view["samples"] == ["the worst: block (2), wave 1"]


@pytest.mark.parametrize(
    ("space", "address", "words"),
    [
        ("global", BASE, "x + 0"),
        ("global", BASE + 4096 - 1, "x + 4,095"),
        ("global", BASE + 4096, f"{BASE + 4096:#x}"),
        ("global", BASE - 1, "x − 1"),
        ("global", BASE - 4095, "x − 4,095"),
        ("global", BASE - 4096, f"{BASE - 4096:#x}"),
        ("global", BASE + 10 * 4096 + 1, "y + 1"),
        ("scratch", 0x40, "scratch 0x40"),
    ],
)
def test_addresses_in_words(space: str, address: int, words: str) -> None:
    """Of an allocation of 4,096 bytes and another one behind it; up to a page before one its name still helps."""
    made = access([0])
    memory = (MemoryRange("x", BASE, 4096), MemoryRange("y", BASE + 10 * 4096, 4096))
    sample = replace(made.samples[0], space=space, addresses=(address,), memory=memory)
    view = coalescing(launch([replace(made, samples=(sample,))])).message()["view"]
    assert view["lanes"][0]["at"] == words


@pytest.mark.parametrize("first", [0, 7, 37])
def test_rows_whose_first_lanes_are_idle(first: int) -> None:
    """Rows of 16 lanes, 8 bytes from lane to lane and 4,096 from row to row, whichever lane is the first active one."""
    addresses = [8 * (n % 16) + 4096 * (n // 16) if n >= first else None for n in LANES]
    words, _ = pattern([None if a is None else BASE + a for a in addresses], 4, 128)
    assert words == "rows of 16 lanes with a stride of 8 bytes; rows are 4,096 bytes apart"
    other = [*addresses]
    other[50] = 4
    assert "rows" not in pattern([None if a is None else BASE + a for a in other], 4, 128)[0]


def test_questions() -> None:
    shown = coalescing(launch([access([4 * n for n in LANES], 3), access([128 * n for n in LANES], 5)]))
    reply, _ = shown.reply({"instruction": 1, "sample": 0})
    assert (reply["words"], len(reply["lines"])) == ("consecutive, aligned", 2)
    for bad in ({"instruction": 2}, {"instruction": -1}, {"instruction": 0, "sample": 1}, {"instruction": "<b>"}, {}):
        assert "error" in shown.reply(bad)[0]


def test_without_accesses_it_says_why() -> None:
    assert "gpulab.profile()" in coalescing(launch([])).text
    assert coalescing(launch([])).message()["instructions"] == []


@pytest.mark.full
def test_the_largest_launch_stays_small() -> None:
    """More instructions than are shown, each with scattered 16-byte lanes, a long source line and hostile names."""
    random = np.random.default_rng(1)
    many = [
        access([int(a) for a in random.integers(0, 1 << 19, 64)], n, name=HOSTILE, text=HOSTILE * 50, bytes=16)
        for n in range(5 * MOST)
    ]
    shown = coalescing(launch(many, HOSTILE))
    assert len(json.dumps(shown.message())) < 200_000
    assert len(shown.table.rows) == MOST
    assert f"{4 * MOST} instructions" in shown.table.note
    assert shown.png().startswith(b"\x89PNG")
    assert "<img" not in shown.table.html()


SOURCE = """
extern "C" __global__ void copy(float* out, const float* in, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i * stride];
}
"""


@pytest.mark.parametrize(("arch", "lines"), [("gfx942", 64), ("gfx1100", 32)])
def test_a_kernel_on_a_virtual_device(arch: str, lines: int) -> None:
    with gpulab.using(f"virtual:{arch}"):
        kernel: Any = gpulab.compile(SOURCE).copy
        data, out = gpulab.zeros(1 << 16, np.float32), gpulab.zeros(1024, np.float32)
        with gpulab.profile() as run:
            kernel[4, 256](out, data, 1)
            kernel[4, 256](out, data, 32)
    bad, good = run.coalescing(), run.coalescing(0)
    assert bad.table.rows[0][:2] == (4, "load of ‘in’")
    assert bad.table.rows[0][4:7] == (4096, 1024, 131072)
    assert "stride of 128 bytes: every lane needs a line of its own" in bad.sentence
    assert len(bad.message()["view"]["lines"]) == lines
    assert "None of 2 vector memory instructions needs more cache lines than it must" in good.sentence
    with pytest.raises(IndexError):
        run.coalescing(2)


def test_ten_million_threads() -> None:
    kernel: Any = gpulab.compile(SOURCE).copy
    data, out = gpulab.zeros(1, np.float32), gpulab.zeros(10_000_384, np.float32)
    with gpulab.profile() as run:
        kernel[39064, 256](out, data, 0)
    shown = run.coalescing()
    assert "workgroups" in shown.table.note
    assert len(json.dumps(shown.message())) < 100_000


@pytest.mark.parametrize(
    ("addresses", "bytes", "words", "advice"),
    [
        ([None, 5, None], 4, "one lane alone",
         "A line has to come for a single lane. That is fine where it happens seldom."),
        ([8] * 5, 4, "all lanes the same address",
         "One request serves all lanes. A scalar load could do it as well."),
        ([4 * n for n in LANES], 4, "consecutive, aligned", "As good as it gets: every byte of the lines is used."),
        ([4 * n + 64 for n in range(32)], 4, "consecutive, misaligned by 64 bytes: 2 lines instead of 1",
         "Start the row at a multiple of the line's size (pad its length) if you can."),
        # Within one line: no line more than there has to be, whether it begins at a multiple of its length or not.
        ([4 * n + 60 for n in range(16)], 4, "consecutive", "As good as it gets: every byte of the lines is used."),
        ([4 * n + 64 for n in range(16)], 4, "consecutive, aligned",
         "As good as it gets: every byte of the lines is used."),
        ([3 * n for n in LANES], 4, "stride of 3 bytes: lanes overlap",
         "Neighbouring lanes ask for some of the same bytes."),
        ([124 * n for n in LANES], 4, "stride of 124 bytes: 4 of every 124 bytes are used", NEIGHBOURS),
        ([128 * n for n in LANES], 4, "stride of 128 bytes: every lane needs a line of its own", NEIGHBOURS),
        ([8192 - 124 * n for n in LANES], 4, "stride of -124 bytes: 4 of every 124 bytes are used", NEIGHBOURS),
        ([4 * (n % 32) + 1024 * (n // 32) for n in LANES], 4, "rows of 32 consecutive lanes, 1,024 bytes apart",
         "Nothing is wasted."),
        ([4 * (n % 8) + 1024 * (n // 8) for n in LANES], 4, "rows of 8 consecutive lanes, 1,024 bytes apart",
         "Each row begins new lines: longer rows would use more of them."),
        ([4 * (n // 2) for n in LANES], 4, "groups of 2 lanes share an address, 4 bytes apart", "Nothing is wasted."),
        ([16 * (n % 4) + 4096 * (n // 4) for n in LANES], 4,
         "rows of 4 lanes with a stride of 16 bytes; rows are 4,096 bytes apart", NEIGHBOURS),
        ([4 * (n ^ 5) + 64 for n in LANES], 4,
         "one stretch of bytes, lanes in another order, misaligned by 64 bytes: 3 lines instead of 2",
         "The order of lanes within a line costs nothing."),
        ([8 * (n * n % 31) for n in LANES], 4, "scattered: 2 lines",
         "Neighbouring lanes ask for bytes far apart. Can the data or the work be reordered?"),
    ],
)  # fmt: skip
def test_patterns_and_what_to_make_of_them(addresses: list[int | None], bytes: int, words: str, advice: str) -> None:
    assert pattern(addresses, bytes, 128) == (words, advice)


def test_a_single_instruction_in_words() -> None:
    one = access([8 * n for n in LANES])
    assert coalescing(launch([one])).sentence == (
        "The only vector memory instruction is the load of ‘x’ in line 1: stride of 8 bytes: 4 of every 8 bytes are "
        "used. Its lanes asked for 256 bytes, and lines of 512 bytes were moved: 50 % used."
    )
    bare = replace(one, where=None, samples=(replace(one.samples[0], memory=()),))
    made = coalescing(launch([bare]))
    assert made.sentence.startswith(
        "The only vector memory instruction is the load of global memory (global_load_dword v1, v2): "
    )
    assert made.table.rows[0][:3] == ("–", "load of global memory", "global_load_dword v1, v2")
    assert made.message()["instructions"] == [
        {"line": 0, "source": "", "text": "global_load_dword v1, v2", "action": "load of global memory", "asked": 256,
         "moved": 512, "percent": 50.0, "share": "50 %", "words": "stride of 8 bytes: 4 of every 8 bytes are used"},
    ]  # fmt: skip


def test_whose_memory_is_accessed() -> None:
    one = access([4 * n for n in LANES], action="atomic")
    ranges = tuple(MemoryRange(name, BASE, 4096) for name in ("x", "x", "an unnamed allocation", "y"))
    both = replace(one, samples=(replace(one.samples[0], memory=ranges),))
    assert coalescing(launch([both])).table.rows[0][1] == "atomic on ‘x’ and an unnamed allocation"


@pytest.mark.parametrize(
    ("grid", "block"), [((4, 1, 1), "(2)"), ((4, 2, 1), "(2, 1)"), ((4, 1, 3), "(2, 1, 0)"), ((1, 1, 1), "(2)")]
)
def test_which_block_a_sample_is_of(grid: tuple[int, int, int], block: str) -> None:
    """As many of its coordinates as the grid has axes."""
    one = access([0, 4])
    one = replace(one, samples=(replace(one.samples[0], workgroup=(2, 1, 0)),))
    view = coalescing(replace(launch([one]), grid=grid)).message()["view"]
    assert view["samples"] == [f"the worst: block {block}, wave 1"]


def test_what_the_table_leaves_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    one = replace(launch([access([4 * n for n in LANES]), access([8 * n for n in LANES])]), sampled=(1000, 4000))
    note = (
        "Bytes moved: whole cache lines of 128 bytes, as the first cache looks them up.",
        " 1 instructions that use their lines better are left out.",
        " Addresses were looked at in 1,000 of 4,000 workgroups; sums are scaled up.",
    )
    assert coalescing(one).table.note == note[0] + note[2]
    monkeypatch.setattr(views, "MOST", 1)
    assert coalescing(one).table.note == "".join(note)
    assert coalescing(one).table.rows[0][3:7] == (1, 256, 4, 512)


def test_equally_bad_instructions_are_in_the_order_of_their_lines() -> None:
    """Two of the same share of their lines: the one with more lines first; of scalar loads and LDS none."""
    small = access([8 * n if n < 32 else None for n in LANES], 3)
    large = access([8 * n for n in LANES], 4)
    other = [replace(access([8 * n for n in LANES], 5), space=space) for space in ("lds", "scalar")]
    never = replace(access([8 * n for n in LANES], 6), executed=0)
    assert [row[0] for row in coalescing(launch([small, large, *other, never])).table.rows] == [4, 3]


def test_without_vector_accesses_it_says_so() -> None:
    lds = replace(access([0]), space="lds")
    assert coalescing(launch([lds])).sentence == "This kernel did no vector memory access."
