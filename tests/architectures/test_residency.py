"""What holds back one more workgroup, what there is room for, and HIP's own limits: worked out by hand."""

from __future__ import annotations

import pytest

from gpulab import architectures
from gpulab.architectures import roofs
from gpulab.architectures.residency import Change, Demand, api_limits, one_more, room

GFX906, GFX908, GFX942, GFX1030, GFX1100 = map(architectures.get, ("gfx906", "gfx908", "gfx942", "gfx1030", "gfx1100"))


@pytest.mark.parametrize(
    ("device", "sgprs", "waves"),
    [  # 800 scalar registers a SIMD, in steps of 8 and then 16: 800 / 80 = 10, 800 / 88 = 9, 800 / 100 = 8, else 7
        (GFX906, 0, 10), (GFX906, 80, 10), (GFX906, 81, 9), (GFX906, 88, 9), (GFX906, 89, 8), (GFX906, 100, 8),
        (GFX906, 101, 7), (GFX942, 80, 8), (GFX942, 100, 8), (GFX942, 101, 7), (GFX1100, 106, 16),
    ],
)  # fmt: skip
def test_waves_by_scalar_registers(device, sgprs, waves):
    assert architectures.occupancy(device, 1, sgprs=sgprs, block_threads=64).waves_per_simd == waves


def test_nothing_gives_more_where_the_wave_slots_are_used_up():
    assert one_more(GFX942, Demand(64)) == ((), None)
    assert one_more(GFX1100, Demand(96, block_threads=64)) == ((), None)


def test_each_resource_that_holds_back_has_to_shrink():
    """MI300X, 4 waves a workgroup: 512 registers a SIMD and 64 KiB of LDS. For a third workgroup a wave may have 168
    registers (512 / 3 in steps of 8), and a workgroup 21,504 bytes (65,536 / 3 in steps of 512)."""
    changes, then = one_more(GFX942, Demand(200, lds_bytes=30_000))
    assert changes == (Change("VGPRs", 200, 168), Change("LDS", 30_000, 21_504))
    assert (then.blocks, then.limits["LDS"]) == (3, 3)
    changes, then = one_more(GFX942, Demand(32, sgprs=102))
    assert changes == (Change("SGPRs", 102, 100),)
    assert then.blocks == 8


def test_accumulation_registers_count_where_the_file_is_one():
    """100 registers begin the others at 100; 100 + 100 = 200 leave two waves a SIMD, 168 three."""
    changes, then = one_more(GFX942, Demand(98, 100))
    assert changes == (Change("VGPRs", 200, 168),)
    assert then.blocks == 3
    assert room(GFX942, Demand(98, 100))["VGPRs"] == 256  # 512 / 2
    changes, _ = one_more(GFX908, Demand(100, 20))  # two files of 256: two waves by 100, three by 84
    assert changes == (Change("VGPRs", 100, 84),)


def test_room():
    """RX 7900 XTX, 8 waves on 4 SIMDs: 1,536 registers by 10 waves are 144; 10 waves are 5 workgroups of 131,072 / 5
    bytes in steps of 1,024."""
    assert architectures.occupancy(GFX1100, 140, block_threads=256).blocks == 5
    assert room(GFX1100, Demand(140)) == {"VGPRs": 144, "LDS": 25 * 1024}
    assert room(GFX942, Demand(32, lds_bytes=65_537)) == {}


def test_limits_of_hips_formula():
    assert api_limits(GFX942, Demand(128, sgprs=50, lds_bytes=10_000)) == {
        "wave slots": 8, "VGPRs": 4, "SGPRs": 8, "LDS": 6
    }  # fmt: skip
    assert api_limits(GFX942, Demand(0, sgprs=102))["SGPRs"] == 7  # 800 / 112
    assert api_limits(GFX1100, Demand(100, block_threads=128)) == {"wave slots": 16, "VGPRs": 12}
    assert api_limits(GFX1100, Demand(100, block_threads=128, cu_mode=True)) == {"wave slots": 8, "VGPRs": 6}


def test_memory_roofs():
    """MI300X at 2.1 GHz, 304 CUs: LDS and L1 128 bytes a clock each; 8 L2s of 2,048; 8,192 of the Infinity Cache."""
    found = {roof.key: (roof.peak, roof.achievable) for roof in roofs.memory_roofs(GFX942)}
    assert found == {
        "LDS": (pytest.approx(304 * 128 * 2.1), pytest.approx(304 * 128 * 2.1)),
        "L1": (pytest.approx(304 * 128 * 2.1), pytest.approx(304 * 128 * 2.1)),
        "L2": (pytest.approx(8 * 2048 * 2.1), pytest.approx(8 * 2048 * 2.1 * 0.45)),
        "Infinity Cache": (pytest.approx(8192 * 2.1), pytest.approx(11_900)),
        "memory": (pytest.approx(5300, rel=1e-3), pytest.approx(5300 * 0.82, rel=1e-3)),
    }
    last = {roof.key: roof for roof in roofs.memory_roofs(GFX1030)}["Infinity Cache"]
    assert (last.peak, last.achievable) == (pytest.approx(1950), pytest.approx(1950))
    assert "Infinity Cache" not in [roof.key for roof in roofs.memory_roofs(GFX906)]
    how = [roof.how for roof in roofs.memory_roofs(GFX942)]
    assert how[1:4] == ["128 bytes a clock and compute unit, for contiguous accesses", "45 % of the peak",
                        "69.2 % of the peak"]  # fmt: skip


def test_compute_roofs():
    """A clock and CU: 64 lanes by 4 SIMDs in 4 clocks are 64 operations, of two each."""
    found = {roof.key: (roof.peak, roof.name) for roof in roofs.compute_roofs(GFX942)}
    each = 304 * 2.1
    assert found["fp64"] == (pytest.approx(128 * each), "FP64")
    assert found["fp32 plain"] == (pytest.approx(128 * each), "FP32")
    assert found["fp32 packed"] == (pytest.approx(256 * each), "FP32 packed")
    assert found["fp16 plain"] == (pytest.approx(128 * each), "FP16")
    assert found["matrix fp16"] == (pytest.approx(2048 * each), "FP16 matrix (MFMA)")
    assert found["matrix tf32"][1] == "TF32 matrix (MFMA)"
    newer = {roof.key: roof.peak for roof in roofs.compute_roofs(GFX1100)}
    assert newer["fp32 plain"] == pytest.approx(128 * 96 * 2.5)  # two SIMDs of 32 lanes
    assert newer["fp32 packed"] == pytest.approx(256 * 96 * 2.5)
    assert "fp32 packed" not in {roof.key for roof in roofs.compute_roofs(GFX906)}
