"""The occupancy calculator's numbers, from worked examples: 512 / 128 registers are four waves, and so on."""

from __future__ import annotations

import json
from typing import Any

import pytest

import gpulab
from gpulab import architectures, providers
from gpulab.architectures import residency
from gpulab.architectures.residency import Change, Demand
from gpulab.errors import DeviceNotFound, LaunchLimitError
from gpulab.providers.rocm.provider import RocmProvider
from gpulab.records import KernelResources
from gpulab.views import occupancy as views
from gpulab.views.instrument import MOST_BYTES, Instrument
from gpulab.views.occupancy import Setting
from tests.providers.given import given

GFX942, GFX90A, GFX1100 = (architectures.get(name) for name in ("gfx942", "gfx90a", "gfx1100"))


def ask(shown: Instrument, **changes: Any) -> dict[str, Any]:
    found, buffers = shown.reply({**shown.data["start"], "axis": "vgprs", **changes})
    assert buffers == []
    return found


def test_registers_and_lds_tie() -> None:
    """512 / 128 registers: 4 waves on each of 4 SIMDs, 16 waves, 4 workgroups; 65,536 / 16,384 bytes: 4 as well."""
    shown = views.occupancy("gfx942", Demand(128, lds_bytes=16_384))
    first = shown.data["first"]
    allowed = {row["name"]: (row["allows"], row["binds"]) for row in first["rows"]}
    assert allowed == {
        "wave slots": (8, False), "VGPRs": (4, True), "SGPRs": (8, False), "LDS": (4, True), "barriers": (16, False),
    }  # fmt: skip
    assert (first["blocks"], first["waves"], first["max_waves"]) == (4, 16, 32)
    assert shown.sentence.endswith("16 of 32 waves, 50 %. VGPRs and LDS limit.")
    # Five workgroups are 20 waves, 5 a SIMD: 512 / 5 in steps of 8 is 96; 65,536 / 5 in steps of 512 is 12,800.
    assert first["more"] == (
        "With 96 instead of 128 VGPRs and 12,800 instead of 16,384 bytes of LDS: 5 workgroups, 20 waves."
    )


def test_one_more_for_few_registers_less() -> None:
    """100 registers take 104: four waves a SIMD. 96 are five."""
    changes, then = residency.one_more(GFX942, Demand(100))
    assert changes == (Change("VGPRs", 100, 96),)
    assert then is not None
    assert (then.blocks, then.waves) == (5, 20)
    assert "With 96 instead of 100 VGPRs: 5 workgroups, 20 waves." in views.occupancy("gfx942", Demand(100)).text


def test_acc_vgprs_share_the_file() -> None:
    """36 and 32 AccVGPRs are 68, so 72: seven waves; LDS of 20,000 bytes takes 20,480: three workgroups."""
    shown = views.occupancy("gfx90a", Demand(36, 32, lds_bytes=20_000))
    rows = {row["name"]: row for row in shown.data["first"]["rows"]}
    assert (rows["VGPRs"]["allows"], rows["LDS"]["allows"], shown.data["first"]["waves"]) == (7, 3, 12)
    assert rows["VGPRs"]["how"].startswith("36 + 32 AccVGPRs → 72 of 512 (steps of 8): 7 waves a SIMD")
    assert rows["LDS"]["how"] == "20,000 → 20,480 of 65,536 bytes (steps of 512)"
    # 100 + 100 take 200: two waves a SIMD. Three are 512 / 3 = 170.7, in steps of 8: 168 together.
    changes, _ = residency.one_more(GFX90A, Demand(100, 100))
    assert changes == (Change("VGPRs", 200, 168),)
    assert "168 instead of 200 VGPRs and AccVGPRs together" in views.more(Setting(GFX90A, Demand(100, 100)))


def test_sgprs_limit_on_cdna_only() -> None:
    """More than 100 SGPRs leave seven waves a SIMD; RDNA has 106 for every wave."""
    shown = views.occupancy("gfx942", Demand(64, sgprs=104))
    assert shown.data["first"]["waves"] == 28
    assert "With 100 instead of 104 SGPRs: 8 workgroups, 32 waves." in shown.text
    rdna = views.occupancy("gfx1100", Demand(64, sgprs=106))
    assert "SGPRs" not in {row["name"] for row in rdna.data["first"]["rows"]}


def test_modes_of_a_wgp() -> None:
    """121 registers take 144: ten waves a SIMD. 26,000 bytes take 26,624: four in a WGP's 128 KiB, two in 64 KiB."""
    point = Demand(121, lds_bytes=26_000)
    whole = views.occupancy("gfx1100", point)
    assert (whole.data["first"]["unit"], whole.data["first"]["blocks"], whole.data["first"]["waves"]) == ("WGP", 4, 32)
    cu = ask(whole, cu_mode=True)
    assert (cu["unit"], cu["blocks"], cu["waves"], cu["max_waves"]) == ("CU", 2, 16, 32)
    assert len(cu["slots"]) == 2
    assert len(whole.data["first"]["slots"]) == 4


def test_steps_over_registers_are_those_of_the_tables() -> None:
    """gfx942: 64 → 8 waves a SIMD, 72 → 7, 80 → 6, 96 → 5, 128 → 4, 168 → 3, 256 → 2; gfx1100: 96 → 16 and so on."""
    found = views._levels(views.steps(Setting(GFX942, Demand()), "vgprs"))
    assert found == [
        (1, 64, 32), (65, 72, 28), (73, 80, 24), (81, 96, 20), (97, 128, 16), (129, 168, 12), (169, 256, 8),
    ]  # fmt: skip
    found = views._levels(views.steps(Setting(GFX1100, Demand(block_threads=32)), "vgprs"))
    assert found == [
        (1, 96, 64), (97, 120, 48), (121, 144, 40), (145, 168, 36), (169, 192, 32), (193, 216, 28), (217, 240, 24),
        (241, 256, 20),
    ]  # fmt: skip


def test_steps_over_lds_and_block_size() -> None:
    lds = views.steps(Setting(GFX942, Demand()), "lds_bytes")
    assert lds[0] == (0, 8192, 32, 8, "wave slots")
    assert lds[-1] == (32_769, 65_536, 4, 1, "LDS")
    sizes = {first: waves for first, _, waves, _, _ in views.steps(Setting(GFX942, Demand()), "block_threads")}
    assert sizes[1] == 32  # blocks of one wave: no barrier, as many as there are slots
    assert sizes[257] == 30  # five waves each: six workgroups
    assert sizes[961] == 32  # sixteen
    with pytest.raises(ValueError, match="no axis"):
        views.steps(Setting(GFX942, Demand()), "colour")


def test_slots_are_dealt_round_the_simds() -> None:
    """Three workgroups of four waves: one wave of each on every SIMD."""
    assert views.slots(Setting(GFX942, Demand(lds_bytes=20_000))) == [[0, 1, 2, -1, -1, -1, -1, -1]] * 4
    five = views.slots(Setting(GFX942, Demand(block_threads=320, lds_bytes=40_000)))  # one workgroup of five waves
    assert [row[:2] for row in five] == [[0, 0], [0, -1], [0, -1], [0, -1]]


def test_a_block_size_that_does_not_divide_the_slots() -> None:
    """Six waves: five workgroups fill 30 of 32 slots; blocks of 1,024 threads (16 waves) fill them."""
    shown = views.occupancy("gfx942", Demand(block_threads=384))
    assert "30 of 32 waves" in shown.sentence
    assert "The 2 free slots cannot take one more" in shown.sentence
    assert "no saving gives one more workgroup. Blocks of 1024 threads would fill 32 slots." in shown.text


def test_hip_and_hardware_differ_by_the_granule_of_lds() -> None:
    """65,536 / 13,000 is 5; 13,000 takes 13,312, of which 4 fit."""
    shown = views.occupancy("gfx942", Demand(32, lds_bytes=13_000, block_threads=64))
    assert shown.data["first"]["blocks"] == 4
    assert shown.data["first"]["hip"].endswith(
        "gives 5, the hardware holds 4: HIP's formula does not know that LDS is given in steps of 512 bytes, so that "
        "13,000 take 13,312."
    )
    assert ask(shown, lds_bytes=12_800)["hip"].endswith("gives 5, the same.")


def test_hip_and_hardware_differ_by_the_lds_of_a_wgp() -> None:
    """HIP divides a workgroup's 64 KiB: 2; a WGP has 128 KiB: 4."""
    shown = views.occupancy("gfx1100", Demand(64, lds_bytes=26_000))
    assert "gives 2, the hardware holds 4: HIP divides the 65,536 bytes" in shown.text


def test_hip_and_hardware_differ_by_barriers_and_sgprs() -> None:
    """Two waves a workgroup: 32 barriers hold all 64 waves of a WGP, so that barriers never differ there."""
    assert views.hip_answer(Setting(GFX1100, Demand(64, block_threads=64))).endswith("gives 32, the same.")
    # 98 SGPRs: HIP takes 112 of 800, seven waves; the hardware holds eight up to 100.
    shown = views.occupancy("gfx942", Demand(sgprs=98))
    assert "gives 7, the hardware holds 8: HIP rounds 98 SGPRs up to 112" in shown.text


def test_hip_and_hardware_differ_by_barriers_of_a_cu() -> None:
    """Vega 20: 10 waves on each of 4 SIMDs are 20 workgroups of two waves, for which a CU has 16 barriers."""
    said = views.hip_answer(Setting(architectures.get("gfx906"), Demand(16, block_threads=128)))
    assert said.endswith("gives 20, the hardware holds 16: HIP's formula does not know that a CU has only 16 barriers.")


def test_hip_gives_less_for_registers() -> None:
    """More than 512 registers of both kinds are none by HIP's formula; the hardware gives each kind its own file."""
    said = views.hip_answer(Setting(GFX942, Demand(400, 151, 63, 1333, 192, cu_mode=True)))
    assert said.endswith("gives 0, the hardware holds 1: HIP's formula gives less for VGPRs.")


@pytest.mark.parametrize(
    ("arch", "demand", "said"),
    [
        ("gfx942", Demand(16, lds_bytes=20_000), "37.5 %. LDS limits."),
        ("gfx942", Demand(128), "50 %. VGPRs limit."),
        ("gfx942", Demand(128, lds_bytes=16_384), "50 %. VGPRs and LDS limit."),
        ("gfx942", Demand(16, block_threads=65), "All wave slots are full; nothing else limits."),
        ("gfx906", Demand(16, block_threads=128), "80 %. barriers limit."),
    ],
)
def test_what_limits_is_named(arch: str, demand: Demand, said: str) -> None:
    assert views.occupancy(arch, demand).sentence.endswith(said)


def test_what_a_real_gpu_answered_is_taken() -> None:
    assert "on this GPU gives 8, the same." in views.occupancy("gfx942", Demand(), answered=8).text
    assert "on this GPU gives 3, the hardware holds 8: by its formula it should be 8." in (
        views.occupancy("gfx942", Demand(), answered=3).text
    )


def test_a_workgroup_that_does_not_fit() -> None:
    """256 and 256 AccVGPRs leave one wave a SIMD: a workgroup of 16 waves finds no place."""
    shown = views.occupancy("gfx942", Demand(256, 256, block_threads=1024))
    assert "cannot run on gfx942" in shown.sentence
    assert "VGPRs" in shown.sentence
    assert shown.data["first"]["slots"] == [[-1] * 8] * 4
    # Four waves a SIMD are needed: 512 / 4 = 128 registers.
    assert "128 instead of 512 VGPRs and AccVGPRs together: 1 workgroup, 16 waves" in shown.text


def test_room_is_what_costs_nothing() -> None:
    """Four waves a SIMD with 100 registers: they may be 128; a workgroup may take a quarter of LDS."""
    assert residency.room(GFX942, Demand(100)) == {"VGPRs": 128, "SGPRs": 108, "LDS": 16_384}


@pytest.mark.full
@pytest.mark.parametrize("arch", architectures.names())
def test_every_device_at_its_extremes(arch: str) -> None:
    """The api and the hardware limits stay consistent, and all that is sent stays small."""
    a = architectures.get(arch)
    shown = views.occupancy(arch, Demand())
    for vgprs in (1, a.max_vgprs):
        for lds in (0, 1, a.max_lds_bytes_per_workgroup):
            for block in (1, a.max_threads_per_block):
                for axis in views.AXES:
                    got = ask(shown, vgprs=vgprs, lds_bytes=lds, block_threads=block, axis=axis)
                    assert sum(group >= 0 for row in got["slots"] for group in row) == got["waves"]
                    assert got["blocks"] == min(row["allows"] for row in got["rows"])
                    assert got["curve"]["steps"][-1][1] >= block or axis != "block_threads"
    assert len(json.dumps(shown.message())) < MOST_BYTES / 20


def test_questions_out_of_range_are_refused() -> None:
    shown = views.occupancy("gfx942", Demand())
    assert "block_threads must be 1 to 1,024" in ask(shown, block_threads=2048)["error"]
    assert "invalid literal" in ask(shown, vgprs="<img>")["error"]
    with pytest.raises(DeviceNotFound):
        ask(shown, arch="gfx1")


def test_a_kernel_of_another_architecture_says_so() -> None:
    shown = views.occupancy("gfx1100", Demand(), KernelResources("k", "gfx942", 64, 0, 32, 0))
    assert "compiled for gfx942" in shown.sentence


SOURCE = """
__global__ void tile(float* y) {
    __shared__ float t[5000];
    t[threadIdx.x] = y[threadIdx.x]; __syncthreads(); y[threadIdx.x] = t[255 - threadIdx.x];
}
"""


@pytest.mark.parametrize(("arch", "blocks", "waves"), [("gfx942", 3, 12), ("gfx1100", 6, 48)])
def test_of_a_compiled_kernel(arch: str, blocks: int, waves: int) -> None:
    """5,000 floats are 20,000 bytes: 20,480 each, three in 64 KiB, six in 128 KiB. As `Kernel.occupancy` has it."""
    kernel = gpulab.compile(SOURCE, arch=arch).tile
    shown = gpulab.occupancy(kernel)
    assert (shown.data["first"]["blocks"], shown.data["first"]["waves"]) == (blocks, waves)
    assert shown.data["start"]["vgprs"] == kernel.vgprs
    assert shown.data["first"]["curve"]["axis"] == "lds_bytes"
    with gpulab.using(arch):
        assert kernel.occupancy(256).waves == waves
    assert f"of tile ({arch})" in shown.title


@pytest.mark.parametrize(("arch", "blocks"), [("gfx942", 8), ("gfx1100", 8)])
def test_without_a_kernel_64_vector_registers_are_taken(arch: str, blocks: int) -> None:
    """Blocks of 256 threads: a SIMD of gfx942 has room for 8 waves, one of gfx1100 for 24, and holds 16 at most."""
    shown = gpulab.occupancy(arch=arch)
    assert shown.data["first"]["blocks"] == blocks
    start = shown.data["start"]
    assert (start["vgprs"], start["agprs"], start["sgprs"], start["lds_bytes"]) == (64, 0, 32, 0)
    assert start["block_threads"] == 256


def test_which_blocks_a_kernel_can_have() -> None:
    """No more threads than it was compiled for, and none fewer than one; of dynamic LDS any number of bytes."""
    source = "__global__ __launch_bounds__(128) void k(int* x) { x[threadIdx.x] = 1; }\n__global__ void none() {}"
    module = gpulab.compile(source, arch="gfx942")
    for block in (1, 128, (16, 8)):
        shown = gpulab.occupancy(module.k, block)
        assert shown.data["start"]["block_threads"] == (1 if block == 1 else 128)
    for block in (0, -1):
        with pytest.raises(LaunchLimitError, match=f"the block is {block}; it must be at least 1"):
            gpulab.occupancy(module.k, block)
    for block, said in ((129, "129"), ((43, 3), "129"), (1025, "1,025")):
        with pytest.raises(LaunchLimitError, match=f"^a workgroup has 1 to 128 threads here, not {said}\\."):
            gpulab.occupancy(module.k, block)
    assert gpulab.occupancy(module.k).data["start"]["block_threads"] == 128  # 256 where a kernel allows them
    with pytest.raises(LaunchLimitError, match=r"^a workgroup has 1 to 1,024 threads here, not 1,025\."):
        gpulab.occupancy(block=1025, arch="gfx942")
    assert gpulab.occupancy(block=1024, arch="gfx942").data["start"]["block_threads"] == 1024
    with pytest.raises(LaunchLimitError, match="dynamic_lds_bytes must be a number of bytes, not -1"):
        gpulab.occupancy(module.k, 128, dynamic_lds_bytes=-1)
    assert gpulab.occupancy(module.k, 128, dynamic_lds_bytes=1).data["start"]["lds_bytes"] == 1
    # A kernel that does nothing takes one register all the same: the calculator knows none that takes nothing.
    assert module.none.vgprs == 0
    assert gpulab.occupancy(module.none).data["start"]["vgprs"] == 1


@pytest.mark.full
def test_cu_mode_is_read_from_the_code_object() -> None:
    kernel = gpulab.compile(SOURCE, arch="gfx1100", options=["-mcumode"]).tile
    assert gpulab.occupancy(kernel).data["first"]["unit"] == "CU"
    assert gpulab.occupancy(kernel, arch="gfx942").data["start"]["cu_mode"] is False


def test_on_a_real_gpu_hip_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for a real GPU: the kernel's own point has what HIP's call returned."""
    with gpulab.using("gfx942"):
        kernel = gpulab.compile(SOURCE, arch="gfx942").tile
        real = RocmProvider(providers.selected().binding)
        given(monkeypatch, real)
        kernel._functions[providers.current()] = 7
        monkeypatch.setattr(real, "occupancy", lambda function, threads, lds: (function, threads, lds)[2] + 3)
        shown = gpulab.occupancy(kernel)
        assert shown.data["first"]["hip"].endswith("on this GPU gives 3, the same.")
        assert "on this GPU gives 5, the hardware holds 3" in gpulab.occupancy(kernel, dynamic_lds_bytes=2).text
        # A kernel for another device is not asked for, nor is none.
        assert "on this GPU" not in gpulab.occupancy(kernel, arch="gfx1100").data["first"]["hip"]
        assert "on this GPU" not in gpulab.occupancy().data["first"]["hip"]
        other = gpulab.compile(SOURCE, arch="gfx1100").tile
        assert "on this GPU" not in gpulab.occupancy(other, arch="gfx942").data["first"]["hip"]
        # Another setting of the calculator has the formula's answer.
        assert "on this GPU" not in ask(shown, lds_bytes=0)["hip"]


def test_dynamic_lds_and_blocks_of_more_axes() -> None:
    shown = gpulab.occupancy(block=(16, 8), dynamic_lds_bytes=4096, arch="gfx90a")
    assert (shown.data["start"]["block_threads"], shown.data["start"]["lds_bytes"]) == (128, 4096)
    for wrong in ({"block": 2048}, {"block": 0}, {"dynamic_lds_bytes": -1}):
        with pytest.raises(LaunchLimitError):
            gpulab.occupancy(arch="gfx942", **wrong)


@pytest.mark.full
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("vgprs", [8, 24, 64, 72, 96, 128, 168, 250])
def test_words_of_the_static_picture_do_not_lie_on_each_other(arch: str, vgprs: int) -> None:
    from itertools import combinations

    from matplotlib.backends.backend_agg import FigureCanvasAgg

    shown = views.occupancy(arch, Demand(vgprs))
    assert shown.figure is not None
    drawn = shown.figure()
    FigureCanvasAgg(drawn).draw()
    curve = drawn.axes[-1]
    boxes = [(words.get_text(), words.get_window_extent()) for words in curve.texts]
    assert any(words == f"here: {vgprs}" for words, _ in boxes)
    # A box has room above and below its letters; two pixels of it may be shared.
    assert [(a, b) for (a, one), (b, two) in combinations(boxes, 2) if one.padded(-1).overlaps(two.padded(-1))] == []


def test_static_picture() -> None:
    hostile = KernelResources("<img src=x>$x$", "gfx942", 64, 0, 32, 0)
    assert views.occupancy("gfx942", Demand(), hostile).png().startswith(b"\x89PNG")


def test_the_whole_answer_for_one_setting() -> None:
    """100 VGPRs take 104 of 512: 4 waves on each of 4 SIMDs; 20,000 bytes of LDS take 20,480 of 65,536: 3 workgroups of
    four waves. Between 129 and 168 registers are three waves a SIMD, still three workgroups; 13,107 bytes fit five
    times, in steps of 512 no more than 12,800."""
    found = ask(views.occupancy("gfx942", Demand(100, lds_bytes=20_000)), axis="lds_bytes")
    assert found["rows"] == [
        {"name": "wave slots", "how": "4 SIMDs × 8 slots ÷ 4 waves of a workgroup", "allows": 8, "waves": 32,
         "binds": False},
        {"name": "VGPRs", "how": "100 → 104 of 512 (steps of 8): 4 waves a SIMD × 4 ÷ 4 waves of a workgroup",
         "allows": 4, "waves": 16, "binds": False},
        {"name": "SGPRs", "how": "0 of 800: 8 waves a SIMD × 4 ÷ 4 waves of a workgroup", "allows": 8, "waves": 32,
         "binds": False},
        {"name": "LDS", "how": "20,000 → 20,480 of 65,536 bytes (steps of 512)", "allows": 3, "waves": 12,
         "binds": True},
        {"name": "barriers", "how": "16 in a CU, one for each workgroup of more than one wave", "allows": 16,
         "waves": 64, "binds": False},
    ]  # fmt: skip
    assert {key: found[key] for key in ("unit", "blocks", "waves", "max_waves", "more", "spare", "hip")} == {
        "unit": "CU", "blocks": 3, "waves": 12, "max_waves": 32,
        "more": "With 16,384 instead of 20,000 bytes of LDS: 4 workgroups, 16 waves.",
        "spare": "As many workgroups fit with up to: VGPRs 168, SGPRs 108, LDS 21,504 bytes (each alone).",
        "hip": "hipOccupancyMaxActiveBlocksPerMultiprocessor gives 3, the same.",
    }  # fmt: skip
    assert found["curve"] == {
        "axis": "lds_bytes", "label": views.AXES["lds_bytes"], "at": 20_000,
        "steps": [[0, 16_384, 16, 4, "VGPRs"], [16_385, 21_504, 12, 3, "LDS"], [21_505, 32_768, 8, 2, "LDS"],
                  [32_769, 65_536, 4, 1, "LDS"]],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vgprs": 0}, "vgprs must be 1 to 256 on gfx942, not 0"), ({"vgprs": 257}, "vgprs must be 1 to 256"),
        ({"agprs": -1}, "agprs must be 0 to 256 on gfx942, not -1"), ({"agprs": 257}, "agprs must be 0 to 256"),
        ({"lds_bytes": 65_537}, "lds_bytes must be 0 to 65,536 on gfx942, not 65,537"),
        ({"block_threads": 0}, "block_threads must be 1 to 1,024 on gfx942, not 0"),
        ({"block_threads": 1025}, "block_threads must be 1 to 1,024 on gfx942, not 1,025"),
    ],
)  # fmt: skip
def test_what_is_just_out_of_range(changes: dict[str, int], message: str) -> None:
    shown = views.occupancy("gfx942", Demand())
    assert message in ask(shown, **changes)["error"]
    least = {"vgprs": 1, "agprs": 0, "sgprs": 0, "lds_bytes": 0, "block_threads": 1}
    assert "error" not in ask(shown, **least)


def test_other_blocks_with_lds_in_words() -> None:
    """Five waves and 10,000 bytes: six workgroups, 30 of 32 waves."""
    said = views.more(Setting(GFX942, Demand(16, block_threads=320, lds_bytes=8192)))
    assert said == (
        "With this block size no saving gives one more workgroup. Blocks of 1024 threads would fill 32 slots, if each "
        "still takes 8,192 bytes of LDS."
    )
    assert views.more(Setting(GFX942, Demand(16))) == "Nothing to gain: every wave slot is full."
