"""LDS banks: documented strides through the instrument, remedies, the launch's own addresses, questions and limits."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from typing import Any

import numpy as np
import pytest

import gpulab
from gpulab.errors import DeviceNotFound, GpulabError
from gpulab.records import AccessCost, AccessSample, Counters, Launch, SourceLine
from gpulab.views.lds_banks import Setup, affine, lds_banks, of_launch, remedies

HOSTILE = "<img src=x onerror=alert(1)></script>$x$ ${x} \u202egnp"
# Stride in dwords -> lanes of 32 that share a bank (RDNA 3 ISA, section 12.1; docs/counters.md).
STRIDES = {0: 1, 1: 1, 2: 2, 3: 1, 4: 4, 5: 1, 8: 8, 16: 16, 17: 1, 31: 1, 32: 32, 33: 1, 64: 32}


def cycles(index: str, **more: Any) -> tuple[int, int]:
    view = lds_banks(index, **more).message()["view"]
    return view["cycles"], view["conflicts"]


@pytest.mark.parametrize(("stride", "degree"), STRIDES.items())
def test_documented_strides(stride: int, degree: int) -> None:
    assert cycles(f"threadIdx.x * {stride}") == (2 * degree, 2 * (degree - 1))
    assert cycles(f"{stride} * lane", arch="gfx1100") == (degree, degree - 1)


def test_wide_elements_and_64_banks() -> None:
    """Without conflicts 2, 4 and 8 cycles for 4, 8 and 16 bytes; gfx950 takes half, a wave32 has half the lanes."""
    assert [cycles("x", element_bytes=size)[0] for size in (4, 8, 16)] == [2, 4, 8]
    assert [cycles("x", element_bytes=size, arch="gfx950")[0] for size in (4, 8, 16)] == [1, 2, 4]
    assert [cycles("x", element_bytes=size, arch="gfx1100")[0] for size in (4, 8, 16)] == [1, 2, 4]
    assert cycles("x * 32", arch="gfx950") == (32, 31)
    assert cycles("x * 64", arch="gfx950") == (64, 63)


def test_read_and_write_phases_differ_for_16_bytes() -> None:
    """Lanes 0 and 20 share a phase of a read, lanes 0 and 4 one of a write: only there do equal banks collide."""
    read = lds_banks("x", 16, "load").message()["view"]["phases"]
    write = lds_banks("x", 16, "store").message()["view"]["phases"]
    assert read[0]["lanes"] == "0–3, 20–23"
    assert write[0]["lanes"] == "0–7"


def test_the_tile_and_its_remedies() -> None:
    block = (32, 8)
    assert cycles("x * 32 + y", block=block) == (64, 62)
    assert cycles("x * 33 + y", block=block) == (2, 0)
    assert cycles("x * 32 + ((x ^ y) % 32)", block=block) == (2, 0)


def test_atomics_on_one_dword() -> None:
    assert cycles("0") == (2, 0)
    assert cycles("0", access="atomic") == (64, 62)
    assert lds_banks("0", access="atomic").table.note.startswith("In each cell: atomics that the bank has to do")


def test_an_atomic_of_a_launch_has_its_article() -> None:
    costs = launch([dataclasses.replace(access(), action="atomic"), access()], "count")
    assert f"({costs.accesses[0].conflict_cycles:,}) in an atomic in line " in of_launch(costs).sentence
    quiet = dataclasses.replace(access(), action="atomic", conflict_cycles=0)
    assert " An atomic in line " in of_launch(launch([quiet])).sentence


def test_threads_that_a_block_does_not_have() -> None:
    view = lds_banks("x", block=40).message()["view"]
    assert [lane is None for lane in view["lanes"]] == [False] * 40 + [True] * 24
    assert lds_banks("x", block=(8, 8)).message()["view"]["lanes"][9]["x"] == 1
    assert lds_banks("x + 1", block=256, wave=3).message()["view"]["lanes"][0]["address"] == 4 * 193


def test_sentence_and_table() -> None:
    shown = lds_banks("threadIdx.x * 16")
    assert shown.sentence == (
        "64 lanes, 4 bytes each, in 2 phases of 32 lanes, index threadIdx.x * 16: 32 cycles instead of 2, 30 of them "
        "by bank conflicts. In the worst phase 16 different dwords lie in bank 0."
    )
    evens = ", ".join(str(lane) for lane in range(0, 32, 2))
    assert shown.table.rows[0][1] == f"16 ({evens})"
    odds = ", ".join(str(lane) for lane in range(1, 32, 2))
    assert shown.table.rows[1][:2] == ("16", f"16 ({odds})")
    assert shown.table.rows[2] == ("cycles", "16", "16")
    assert shown.table.note.endswith("The other 30 banks had nothing to do.")
    assert lds_banks("x", arch="gfx1100").sentence.endswith(": 1 cycle. No bank conflict.")
    assert shown.png().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"index": "x *"}, "missing after"), ({"index": ""}, "write an index"), ({"index": "x[3]"}, "one index"),
        ({"index": "x - 5"}, "lane 0 would get element -5"), ({"index": "1 / y"}, r"division by 0 \(lane 0\)"),
        ({"element_bytes": 5}, "not 5"), ({"access": "read"}, "'read'"), ({"block": 2048}, "1,024 threads"),
        ({"block": 0}, "threads"), ({"block": (1, 1, 1, 1)}, "threads"), ({"wave": 4}, "no wave 4"),
    ],
)  # fmt: skip
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(GpulabError, match=message):
        lds_banks(**arguments)


def test_unknown_architecture() -> None:
    with pytest.raises(DeviceNotFound):
        lds_banks(arch="gfx000")


def test_trying_another_index() -> None:
    shown = lds_banks("x * 32")
    reply, _ = shown.reply({"index": "x * 33", "element": 4, "action": "load", "arch": "gfx1100", "width": 32})
    assert (reply["cycles"], reply["conflicts"], len(reply["lanes"])) == (1, 0, 32)
    reply, _ = shown.reply({"index": "x * (3"})
    assert reply == {"problem": {"message": "this ‘(’ is not closed", "start": 4, "end": 5}}
    reply, _ = shown.reply({"index": "y - 1", "width": 32})
    assert reply["problem"]["message"] == "lane 0 would get element -1: LDS begins at 0"
    assert "131,072 bytes of LDS" not in shown.reply({"index": "x"})[0]["beyond"]
    assert shown.reply({"index": "x * 1024"})[0]["beyond"].startswith(
        "These elements need 258,052 bytes"
    )  # 63 * 4096 + 4


@pytest.mark.parametrize(
    "question",
    [
        {"index": "x", "arch": "<img>"}, {"index": "x", "element": 5}, {"index": "x", "element": "a"},
        {"index": "x", "action": "jump"}, {"index": "x", "width": 0}, {"index": "x", "width": 4096},
    ],
)  # fmt: skip
def test_questions_that_make_no_sense(question: dict[str, Any]) -> None:
    assert "error" in lds_banks("x").reply(question)[0]


@pytest.mark.parametrize(
    ("block", "index"),
    [
        ((32, 8, 1), "x * 33 + y"), ((32, 8, 1), "y * 32 + x + 256"), ((256, 1, 1), "x * 3 + 5"),
        ((16, 4, 4), "z * 64 + y"),
        ((8, 8, 1), "lane * 2 + 7"), ((64, 1, 1), "63 - x"), ((64, 1, 1), "9"),
    ],
)  # fmt: skip
def test_the_expression_of_affine_addresses(block: tuple[int, int, int], index: str) -> None:
    wanted = Setup("gfx942", index, block=block)
    found = affine(Setup("gfx942", "", block=block, addresses=wanted.places()))
    assert Setup("gfx942", found, block=block).places() == wanted.places()
    assert Setup("gfx942", found, block=block).index


def test_addresses_that_are_not_affine() -> None:
    swizzled = Setup("gfx942", "x * 32 + (x ^ 5)", block=(32, 2, 1)).places()
    assert affine(Setup("gfx942", "", block=(32, 2, 1), addresses=swizzled)) == ""
    assert affine(Setup("gfx942", "", addresses=(1,) * 64)) == ""


SOURCE = """
extern "C" __global__ void transpose(float* out, const float* in, int n) {
  __shared__ float tile[32][32];
  int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = in[y * n + x];
  __syncthreads();
  out[y * n + x] = tile[x][y];
}
"""


@pytest.mark.parametrize(("arch", "cycles"), [("gfx942", (64, 62)), ("gfx1100", (32, 31))])
def test_a_kernel_on_a_virtual_device(arch: str, cycles: tuple[int, int]) -> None:
    with gpulab.using(f"virtual:{arch}"):
        kernel: Any = gpulab.compile(SOURCE).transpose
        data, out = gpulab.zeros((32, 32), np.float32), gpulab.zeros((32, 32), np.float32)
        with gpulab.profile() as run:
            kernel[1, (32, 32)](out, data, 32)
    shown = run.lds_banks()
    message = shown.message()
    view = message["view"]
    assert (view["cycles"], view["conflicts"]) == cycles
    # A wave32 is one row of threads: y is 0 in its worst execution.
    plus, column = (" + y", "y") if arch == "gfx942" else ("", "0")
    assert view["fitted"] == f"x * 32{plus}"
    assert [(name, index) for name, index, _ in view["presets"]] == [
        ("as in the kernel", ""), ("padded", f"x * 33{plus}"), ("XOR swizzle", f"x * 32 + ({column} ^ (x % 32))"),
        ("consecutive", "x"),
    ]  # fmt: skip
    for _, index, _ in view["presets"][1:]:
        reply, _ = shown.reply({"instruction": 0, "sample": 0, "index": index})
        assert reply["conflicts"] == 0
    assert [item["line"] for item in message["instructions"]] == [7, 5]
    waves = 1024 // len(view["lanes"])
    assert f"{waves * cycles[1]:,}" in shown.sentence
    stored, _ = shown.reply({"instruction": 1, "sample": 0})
    wanted = "y * 32 + x" if arch == "gfx942" else "x"
    assert (stored["conflicts"], stored["action"], stored["fitted"]) == (0, "store", wanted)


@pytest.mark.parametrize("fitted", ["x * 48 + y", "x * 32 + 40"])
def test_columns_are_mixed_only_in_rows_of_whole_turns_of_the_banks(fitted: str) -> None:
    """With rows of one and a half turns, or that begin beyond the first, x ^ y would leave the row."""
    names = [name for name, _, _ in remedies(fitted, Setup("gfx942", fitted, block=(32, 2, 1)))]
    assert "padded" in names
    assert "XOR swizzle" not in names
    assert "XOR swizzle" in [name for name, _, _ in remedies("x * 64 + y", Setup("gfx942", "x * 64 + y"))]


def access(line: int = 3, text: str = "tile[x] = 1;", bytes: int = 16) -> AccessCost:
    """An LDS store with scattered addresses."""
    random = np.random.default_rng(line)
    at = tuple(int(a) * bytes for a in random.integers(0, 4096, 64))
    sample = AccessSample("worst", "lds", 0, (1, 0, 0), 0, (1 << 64) - 1, at, bytes, 0, 20, 12)
    return AccessCost(
        SourceLine("cell.hip", line, 1, text), "ds_write_b128 v0, v[1:4]", "lds", "store", bytes, 1, 64, bank_cycles=20,
        conflict_cycles=12, samples=(sample, sample),
    )  # fmt: skip


def launch(accesses: list[AccessCost], kernel: str = "k") -> Launch:
    return Launch(kernel, "gfx942", 0, (4, 1, 1), (256, 1, 1), 0, 16, Counters(), accesses=tuple(accesses))


def test_the_largest_launch_stays_small() -> None:
    shown = of_launch(launch([access(n, HOSTILE * 50) for n in range(500)], HOSTILE))
    assert len(json.dumps(shown.message())) < 200_000
    assert "<img" not in shown.table.html()
    assert shown.message()["view"]["fitted"] == ""
    assert "error" in shown.reply({"instruction": 500})[0]
    assert "error" in shown.reply({"instruction": 0, "sample": 2})[0]


def test_without_lds_it_says_so() -> None:
    assert "gpulab.profile()" in of_launch(launch([])).sentence
    assert of_launch(launch([])).message()["view"] is None


def test_bytes_of_a_lane() -> None:
    accepted = []
    for size in range(18):
        with contextlib.suppress(GpulabError):
            lds_banks("x", element_bytes=size)
            accepted.append(size)
    assert accepted == [1, 2, 4, 8, 12, 16]


def test_an_expression_is_found_where_the_first_lanes_are_not_active() -> None:
    addresses = (None, None, *(4 * (3 * lane + 5) for lane in range(2, 64)))
    assert affine(Setup("gfx942", "", block=(64, 1, 1), addresses=addresses)) == "x * 3 + 5"
    rows = tuple(4 * (40 * (lane // 8) - lane % 8 + 7) if lane > 12 else None for lane in range(64))
    assert affine(Setup("gfx942", "", block=(8, 8, 1), addresses=rows)) == "y * 40 - x + 7"


def test_a_load_from_memory_into_lds_is_drawn_as_a_store() -> None:
    loaded = dataclasses.replace(access(), action="load")
    moved = dataclasses.replace(loaded, space="global")
    found = [of_launch(launch([one])).message()["view"] for one in (loaded, moved)]
    assert [view["action"] for view in found] == ["load", "store"]
    assert [view["phases"][0]["lanes"] for view in found] == ["0–3, 20–23", "0–7"]


@pytest.mark.parametrize(("instruction", "sample"), [(0, 2), (0, -1), (2, 0), (-1, 0)])
def test_an_instruction_or_a_sample_that_is_not_there(instruction: int, sample: int) -> None:
    shown = of_launch(launch([access(), access(1)]))
    said = f"there is no instruction {instruction} with a sample {sample}"
    assert shown.reply({"instruction": instruction, "sample": sample})[0] == {"error": said}
    assert "error" not in shown.reply({"instruction": 1, "sample": 1})[0]


@pytest.mark.parametrize(
    ("fitted", "setup", "wanted"),
    [
        ("x * 32 + y", {}, [("x * 33 + y", 33, 32), ("x * 32 + (y ^ (x % 32))", 32, 0), ("x", 0, 0)]),
        ("x * 64 + 3", {}, [("x * 65 + 3", 65, 64), ("x * 64 + (3 ^ (x % 32))", 64, 0), ("x", 0, 0)]),
        ("y * 16 + x * 3 + 1", {"element": 8},
         [("y * 17 + (x * 3 + 1)", 17, 16), ("y * 16 + ((x * 3 + 1) ^ (y % 16))", 16, 0), ("x", 0, 0)]),
        # Elements of a byte: four of them more are a bank's.
        ("x * 64", {"element": 1}, [("x * 68", 68, 64), ("x", 0, 0)]),
        ("x * 48 + y", {}, [("x * 49 + y", 49, 48), ("x", 0, 0)]),
        ("x * 128", {"arch": "gfx950"}, [("x * 129", 129, 128), ("x * 128 + (0 ^ (x % 64))", 128, 0), ("x", 0, 0)]),
    ],
)  # fmt: skip
def test_remedies_of_rows(fitted: str, setup: dict[str, Any], wanted: list[tuple[str, int, int]]) -> None:
    found = remedies(fitted, Setup(**{"arch": "gfx942", "index": fitted, "block": (32, 2, 1), **setup}))
    said = []
    for index, now, before in wanted:
        row = index[0]
        swizzled = ("XOR swizzle", index, f"rows of {now} elements whose columns are mixed by ^ {row}")
        padded = ("padded", index, f"rows of {now} elements instead of {before}")
        said.append(padded if before else swizzled if now else ("consecutive", "x", "each lane the next element"))
    assert list(found) == [(name, index.replace("(x * 3 + 1)", "x * 3 + 1") if name == "padded" else index, why)
                           for name, index, why in said]  # fmt: skip


@pytest.mark.parametrize("fitted", ["", "x * 33 + y", "x", "5"])
def test_remedies_where_no_row_is_even(fitted: str) -> None:
    found = remedies(fitted, Setup("gfx942", fitted))
    assert [name for name, _, _ in found] == ["consecutive", "every second", "column of 32", "padded", "XOR swizzle"]


def test_another_architecture_keeps_the_wave_where_waves_are_as_large() -> None:
    shown = lds_banks("tid", wave=3, block=(64, 4))
    first = {
        arch: shown.reply({"index": "tid", "arch": arch})[0]["lanes"][0]["address"] for arch in ("gfx90a", "gfx1100")
    }
    assert first == {"gfx90a": 4 * 192, "gfx1100": 0}
    reply = shown.reply({"index": "y * 1000 + x", "width": 100})[0]
    assert (reply["width"], reply["threads"], reply["lanes"][8]["address"]) == (100, 300, 4 * 2000)
    assert shown.reply({"index": "x", "width": 256})[0]["width"] == 256
    assert shown.reply({"index": "x", "width": 257}) == (
        {"error": "the block has 256 threads: its width is 1 to 256"},
        [],
    )
