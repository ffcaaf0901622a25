"""Device parameters and occupancy, against published numbers and worked examples."""

import subprocess
import sys
from dataclasses import replace

import pytest

from gpulab import architectures
from gpulab.errors import DeviceNotFound

GFX942 = architectures.get("gfx942")
GFX1100 = architectures.get("gfx1100")


GFX90A = architectures.get("gfx90a")
GFX950 = architectures.get("gfx950")
GFX1030 = architectures.get("gfx1030")
GFX1201 = architectures.get("gfx1201")


def test_the_default_devices_stand_first():
    names = architectures.names()
    assert architectures.defaults() == names[:2] == ("gfx942", "gfx1100")
    versions = [(a.major, a.minor, a.stepping) for a in map(architectures.get, names[2:])]
    assert versions == sorted(versions)


def test_a_target_id_is_taken_by_its_first_part():
    assert architectures.get("gfx942:sramecc+:xnack-") is GFX942


def test_an_unknown_architecture_says_which_there_are():
    with pytest.raises(DeviceNotFound, match="gfx942, gfx1100"):
        architectures.get("gfx900")


def test_a_feature_that_is_not_explained_is_refused():
    with pytest.raises(ValueError, match="gfx942 states features that FEATURES does not explain: sse2"):
        replace(GFX942, features=GFX942.features | {"sse2"})
    with pytest.raises(KeyError):
        GFX942.has("sse2")
    assert GFX942.has("xf32-insts")
    assert not GFX1100.has("xf32-insts")


def test_importing_the_package_reads_no_device():
    code = "import sys, gpulab.architectures; assert not [m for m in sys.modules if '.gfx' in m]"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_published_figures():
    # ROCm "Accelerator and GPU hardware specifications"; peak rates from the MI300X and RX 7900 XTX pages.
    assert (GFX942.compute_units, GFX942.wave_size, GFX942.xcds) == (304, 64, 8)
    assert (GFX1100.compute_units, GFX1100.wave_size) == (96, 32)
    assert GFX942.peak_gflops_fp32 == pytest.approx(163_400, rel=1e-3)
    assert GFX1100.peak_gflops_fp32 == pytest.approx(61_400, rel=2e-3)
    assert GFX942.l2_cache.bytes * GFX942.l2_cache.instances == 32 * 2**20
    # What HIP reports: 2048 threads a multiprocessor on both; a WGP is HIP's multiprocessor on RDNA.
    assert GFX942.max_threads_per_unit == GFX1100.max_threads_per_unit == 2048
    assert GFX1100.multiprocessors == 48


def test_published_figures_of_the_further_devices():
    # ROCm "Accelerator and GPU hardware specifications"; peak rates from AMD's product pages, in TFLOP/s.
    assert [a.compute_units for a in (GFX90A, GFX950, GFX1030, GFX1201)] == [110, 256, 72, 64]
    assert [a.wave_size for a in (GFX90A, GFX950, GFX1030, GFX1201)] == [64, 64, 32, 32]
    assert GFX90A.peak_gflops_fp32 == pytest.approx(47_900, rel=2e-3)  # of one die: packed FP32
    assert GFX950.peak_gflops_fp32 == pytest.approx(157_300, rel=1e-3)
    assert GFX1030.peak_gflops_fp32 == pytest.approx(20_740, rel=1e-3)
    assert GFX1201.peak_gflops_fp32 == pytest.approx(48_700, rel=2e-3)
    assert GFX950.flops_per_clock_per_cu["matrix fp16"] * 256 * 2.4e9 == pytest.approx(2.516e15, rel=1e-3)
    assert (GFX950.lds_bytes_per_cu, GFX950.lds_banks, GFX950.lds_granule) == (163_840, 64, 1280)
    assert GFX90A.vector_cache.line_bytes == 64
    peaks = {"gfx906": 13_800, "gfx908": 23_100, "gfx1102": 21_750, "gfx1151": 29_700, "gfx1200": 25_600}
    for name, peak in peaks.items():
        assert architectures.get(name).peak_gflops_fp32 == pytest.approx(peak, rel=3e-3)
    mi100 = architectures.get("gfx908")
    for kind, peak in {"fp64": 11.5, "matrix fp32": 46.1, "matrix fp16": 184.6, "matrix bf16": 92.3}.items():
        assert mi100.flops_per_clock_per_cu[kind] * 120 * 1.502e9 == pytest.approx(peak * 1e12, rel=4e-3)
    assert GFX90A.last_level_cache is None


@pytest.mark.parametrize(("vgprs", "waves"), [(64, 16), (65, 12), (80, 12), (96, 10), (128, 8), (129, 7), (256, 4)])
def test_waves_by_vgprs_on_gfx1030(vgprs, waves):
    # 1024 registers in steps of 16 for wave32 (LLVM, getTotalNumVGPRs and getVGPRAllocGranule)
    assert architectures.occupancy(GFX1030, vgprs).waves_per_simd == waves


@pytest.mark.parametrize(
    ("vgprs", "waves"), [(64, 8), (72, 7), (80, 6), (96, 5), (128, 4), (168, 3), (256, 2), (65, 7), (1, 8), (0, 8)]
)
def test_waves_by_vgprs_on_gfx942(vgprs, waves):
    assert architectures.occupancy(GFX942, vgprs).waves_per_simd == waves


def test_a_full_unified_file_leaves_one_wave():
    assert architectures.occupancy(GFX942, 256, agprs=256).waves_per_simd == 1


@pytest.mark.parametrize(
    ("vgprs", "waves"), [(96, 16), (120, 12), (144, 10), (168, 9), (192, 8), (216, 7), (240, 6), (256, 5), (97, 12)]
)
def test_waves_by_vgprs_on_gfx1100(vgprs, waves):
    assert architectures.occupancy(GFX1100, vgprs).waves_per_simd == waves


def test_vgprs_and_lds_tie():
    found = architectures.occupancy(GFX942, 128, lds_bytes=16 * 1024, block_threads=256)
    assert (found.blocks, found.waves, found.max_waves, found.percent) == (4, 16, 32, 50.0)
    assert found.binding == ("VGPRs", "LDS")


def test_acc_vgprs_start_at_a_multiple_of_four():
    # 36 + 32 registers: 68 -> 72 -> 7 waves; LDS 20,000 -> 20,480 bytes -> 3 workgroups.
    found = architectures.occupancy(GFX942, 36, agprs=32, lds_bytes=20_000, block_threads=256)
    assert (found.waves_per_simd, found.blocks, found.waves, found.percent) == (7, 3, 12, 37.5)
    assert found.binding == ("LDS",)
    assert architectures.occupancy(GFX90A, 36, agprs=32, lds_bytes=20_000, block_threads=256) == found


def test_the_larger_of_two_files_counts_on_gfx908():
    # two files of 256 registers a SIMD and lane, in steps of 4 (LLVM, getTotalNumVGPRs: the larger of the two)
    mi100 = architectures.get("gfx908")
    assert architectures.occupancy(mi100, 24).waves_per_simd == 10
    assert architectures.occupancy(mi100, 24, agprs=128).waves_per_simd == 2
    assert architectures.occupancy(mi100, 128, agprs=24).waves_per_simd == 2
    both = architectures.occupancy(mi100, 24, agprs=128)
    assert both.api_blocks == architectures.occupancy(mi100, 128).api_blocks == both.blocks == 2


def test_lds_of_gfx950_comes_in_steps_of_1280_bytes():
    # 163,840 bytes are 128 steps: 20,000 -> 20,480 bytes leave room for 8, 65,537 -> 66,560 for 2.
    found = architectures.occupancy(GFX950, 32, lds_bytes=20_000, block_threads=256)
    assert (found.blocks, found.percent, found.limits["LDS"]) == (8, 100.0, 8)
    assert architectures.occupancy(GFX950, 32, lds_bytes=65_537, block_threads=256).limits["LDS"] == 2
    assert architectures.occupancy(GFX950, 32, lds_bytes=163_840, block_threads=256).limits["LDS"] == 1
    assert architectures.occupancy(GFX950, 32, lds_bytes=163_841, block_threads=256).blocks == 0


def test_wgp_mode_and_cu_mode():
    wgp = architectures.occupancy(GFX1100, 121, lds_bytes=26_000, block_threads=256)
    assert (wgp.unit, wgp.waves_per_simd, wgp.blocks, wgp.waves, wgp.max_waves) == ("WGP", 10, 4, 32, 64)
    assert wgp.limits["VGPRs"] == 5
    cu = architectures.occupancy(GFX1100, 121, lds_bytes=26_000, block_threads=256, cu_mode=True)
    assert (cu.unit, cu.blocks, cu.waves, cu.max_waves, cu.percent) == ("CU", 2, 16, 32, 50.0)


def test_one_register_too_many_halves_large_workgroups():
    assert architectures.occupancy(GFX942, 65, block_threads=1024).percent == 50.0
    full = architectures.occupancy(GFX942, 64, block_threads=1024)
    assert (full.blocks, full.percent, full.binding) == (2, 100.0, ("wave slots",))


def test_sgprs_limit_gfx9_alone():
    found = architectures.occupancy(GFX942, 64, sgprs=104, block_threads=256)
    assert (found.blocks, found.percent, found.binding) == (7, 87.5, ("SGPRs",))
    assert architectures.occupancy(GFX1100, 64, sgprs=106, block_threads=256).percent == 100.0


def test_the_api_ignores_the_lds_granule():
    found = architectures.occupancy(GFX942, 32, lds_bytes=13_000, block_threads=64)
    assert found.api_blocks == 5  # 65536 // 13000
    assert found.blocks == 4  # 13,000 -> 13,312 bytes: 65536 // 13312


def test_more_lds_than_a_workgroup_may_have_fits_nowhere():
    found = architectures.occupancy(GFX1100, 32, lds_bytes=65_537, block_threads=64)
    assert (found.blocks, found.limit) == (0, "LDS")


@pytest.mark.parametrize("threads", [0, -1, 1025])
def test_impossible_block_sizes_are_refused(threads):
    with pytest.raises(ValueError, match="1024"):
        architectures.occupancy(GFX942, 32, block_threads=threads)
