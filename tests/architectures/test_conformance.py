"""What every device keeps to: the files of gpulab/architectures/ are listed, and each device passes all of this.

Outside figures come from the packaged LLVM: mnemonics, features, register limits and occupancy.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gpulab import architectures, counter_names, metrics
from gpulab.architectures import Architecture, roofs
from gpulab.architectures.architecture import FEATURES
from gpulab.errors import CounterNotFound
from gpulab.toolchain import build
from gpulab.virtual_gpu import isa
from gpulab.virtual_gpu.isa import generation
from gpulab.virtual_gpu.isa.refused import refusal
from gpulab.virtual_gpu.isa.row import Matrix
from tests.isa import llvm

FILES = sorted(Path(architectures.__file__).parent.glob("gfx*.py"))
LIST = Path(__file__).parents[2] / "docs" / "devices.md"

TRANSFERS = {"GDDR6": 16, "LPDDR5X": 8, "HBM2": 2, "HBM2e": 2, "HBM3": 4, "HBM3E": 4}
"""Bits a pin and clock of memory, at the clock that drivers report (JESD250, JESD209-5, JESD235, JESD238)."""

pytestmark = pytest.mark.parametrize("arch", [path.stem for path in FILES])


def of(arch: str) -> Architecture:
    return architectures.get(arch)


def test_it_is_found_under_the_name_of_its_file(arch: str) -> None:
    assert arch in architectures.names()
    assert of(arch).name == arch
    assert of(arch).gcn_arch_name.partition(":")[0] == arch


def test_the_name_is_the_version(arch: str) -> None:
    # LLVM, "User Guide for AMDGPU Backend": gfx, major, then one hexadecimal digit each of minor and stepping
    a = of(arch)
    assert arch == f"gfx{a.major}{a.minor:x}{a.stepping:x}"
    assert a.generation == f"gfx{a.major}"
    assert a.generation in generation.NAMES


def test_it_names_its_sources_and_is_listed(arch: str) -> None:
    said = importlib.import_module(f"gpulab.architectures.{arch}").__doc__
    assert said is not None
    assert of(arch).product in said
    assert re.search(r"\nSources: .{40}", said)
    (row,) = [line for line in LIST.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {arch} |")]
    assert of(arch).product in row
    assert of(arch).family in row


def test_figures_fit_together(arch: str) -> None:
    a = of(arch)
    assert a.multiprocessors * a.cus_per_unit == a.compute_units
    assert a.simds_per_unit == a.simds_per_cu * a.cus_per_unit
    assert a.compute_units % a.xcds == 0
    assert a.max_waves_per_simd * a.vgpr_granule <= a.vgprs_per_simd
    assert a.max_lds_bytes_per_workgroup <= a.lds_bytes_per_unit
    assert a.lds_bytes_per_unit % a.lds_granule == 0
    transfers = TRANSFERS[a.memory_kind]
    assert a.memory_bus_bits / 8 * a.memory_clock_mhz * 1e6 * transfers == pytest.approx(a.memory_bandwidth, rel=0.03)
    plain = 2 * a.simds_per_cu * a.wave_size // a.vector_issue_clocks
    assert a.flops_per_clock_per_cu.get("fp32 unpacked", plain) == plain
    assert bool(a.doubled_fp32) == (a.flops_per_clock_per_cu["fp32"] == 2 * plain)
    assert a.flops_per_clock_per_cu["fp64"] == pytest.approx(
        2 * a.simds_per_cu * a.wave_size / a.double_issue_clocks, rel=0.01
    )
    caches = [a.vector_cache, a.scalar_cache, a.instruction_cache, a.l2_cache]
    for cache in [*caches, *filter(None, (a.shader_array_cache, a.last_level_cache))]:
        assert cache.bytes * cache.instances < a.memory_bytes
        assert cache.line_bytes in (64, 128, 256)
    latencies = [a.vector_cache.latency_clocks, a.l2_cache.latency_clocks, a.memory_latency_clocks]
    assert latencies == sorted(latencies)
    assert 0 < a.l2_efficiency <= 1
    assert 0 < a.memory_efficiency <= 1


def test_roofs_and_matrices_agree(arch: str) -> None:
    a, found = of(arch), roofs.compute_roofs(of(arch))
    matrix = [roof.name for roof in found if roof.key.startswith("matrix ")]
    assert bool(matrix) == bool(a.matrix_unit)
    assert all(f"({a.matrix_unit})" in name for name in matrix)
    kinds = {mnemonic.split("_")[1] for mnemonic, row in isa.table(arch).items() if isinstance(row, Matrix)}
    assert kinds - {"smfmac"} == ({a.matrix_unit.lower()} if a.matrix_unit else set())
    for roof in roofs.memory_roofs(a):
        assert 0 < roof.achievable <= roof.peak * 1.0001


def test_its_features_are_those_of_llvm(arch: str) -> None:
    known = llvm.features()[arch]
    assert of(arch).features == known & set(FEATURES)
    assert ("allocate1-5xvgprs" in known) == (of(arch).vgprs_per_simd == 1536)
    for feature in known:
        if found := re.fullmatch(r"addressablelocalmemorysize(\d+)", feature):
            assert of(arch).max_lds_bytes_per_workgroup == int(found[1])
    assert of(arch).unified_vgprs == ("gfx90a-insts" in known)


def test_every_instruction_that_the_assembler_knows_has_a_row_or_is_refused(arch: str) -> None:
    known, table, generation = llvm.mnemonics(arch), isa.table(arch), of(arch).generation
    assert len(known) > 1000
    assert sorted(name for name in known if name not in table and not refusal(name, generation)) == []
    assert sorted(name for name in table if name not in known) == []
    assert all(row.mnemonic == name for name, row in table.items())


def test_refusals_are_few_and_none_has_a_row(arch: str) -> None:
    generation = of(arch).generation
    names = [name for name in llvm.mnemonics(arch) if refusal(name, generation)]
    assert not [name for name in names if name in isa.table(arch)]
    graphics = [n for n in names if n.startswith(("image_", "v_interp", "buffer_", "tbuffer_"))]
    assert len(names) - len(graphics) < 60


def test_waves_by_registers_are_those_of_llvm(arch: str) -> None:
    """LLVM writes into its assembly how many waves a SIMD holds, as far as registers limit them."""
    counts = [24, 71, 101, 128, 151, 201, 256]
    kernels = [f'__global__ void k{n}(int* p) {{ asm volatile("" ::: "v{n - 1}"); *p = 1; }}' for n in counts]
    text = build.compile("\n".join(["#include <hip/hip_runtime.h>", *kernels]), arch=arch).assembly
    found = [int(number) for number in re.findall(r"; Occupancy: (\d+)", text)]
    assert [architectures.occupancy(of(arch), n).waves_per_simd for n in counts] == found


HEADERS = """
#include <hip/hip_runtime.h>
#include <hip/hip_bf16.h>
#include <hip/hip_complex.h>
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_fp16.h>
#include <hip/hip_fp8.h>
#include <hip/hip_vector_types.h>
__global__ void k(float* out, int* where) {
  auto grid = cooperative_groups::this_grid();
  out[grid.thread_rank()] = __half2float(__float2half(1.5f)) + sinf(out[0]) + __shfl_xor(out[1], 1);
  *where = __smid() + warpSize + __popcll(__ballot(out[0] > 0)) + (int)clock64();
}
"""


def test_the_headers_compile_for_it_and_the_wave_size_is_its_own(arch: str) -> None:
    made = build.compile(HEADERS, arch=arch)
    found = re.search(r"\.wavefront_size:\s+(\d+)", made.assembly)
    assert found is not None
    assert of(arch).wave_size == int(found[1])


def test_its_counters_are_known_or_refused_by_name(arch: str) -> None:
    assert of(arch).counters in counter_names.SETS
    assert counter_names.raw(arch) == counter_names.raw(of(arch).counters)
    for name in metrics.usual(arch):
        assert set(metrics.needed(name, arch)) <= set(counter_names.raw(arch))
    with pytest.raises(CounterNotFound, match="There is no counter or metric named SQ_NONE") as caught:
        metrics.find("SQ_NONE", arch)
    assert f"gpulab counters --arch {arch}" in str(caught.value)


RUN = """
import json, sys
import numpy as np
import gpulab
source = '''#include <hip/hip_runtime.h>
__global__ void k(int n, float a, const float* x, float* y) {
  __shared__ float part[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  double d = a;
  if (i < n) { y[i] = (float)(d * part[threadIdx.x ^ 1]) + threadIdx.y; atomicAdd(&y[n], 1.0f); }
}'''
for info in gpulab.devices():
    with gpulab.using(info.index):
        k = gpulab.compile(source)["k"]
        x, y = gpulab.to_device(np.arange(1000, dtype=np.float32)), gpulab.zeros(1001)
        with gpulab.profile() as run:
            k[8, 128](1000, 2.0, x, y)
        counters = dict(run.launches[0].counters)
        right = bool((y.to_host()[:1000] == 2 * (np.arange(1000) ^ 1)).all() and y.to_host()[1000] == 1000)
        with gpulab.checked() as found:
            k[8, 128](1000, 2.0, x, y)
        caught = ""
        try:
            k[9, 128](2000, 2.0, x, y)
        except gpulab.GpulabError as error:
            caught = str(error)
        trace = gpulab.trace(k, 8, 128, 1000, 2.0, x, y)
        print(json.dumps({
            "arch": info.arch, "name": info.name, "right": right, "caught": caught, "steps": len(trace.steps),
            "waves": counters["SQ_WAVES"], "units": info.compute_units, "wave": info.wave_size,
            "microseconds": run.launches[0].time_us,
        }))
"""


@pytest.fixture(scope="module")
def ran(request: pytest.FixtureRequest) -> dict[str, dict[str, object]]:
    """What one program did on a virtual device of each kind that is tested, in a process of its own."""
    tests = [item.name for item in request.session.items]
    names = [name for name in architectures.names() if f"test_a_kernel_runs_on_it[{name}]" in tests]
    environment = os.environ | {"GPULAB_DEVICES": ",".join(names), "GPULAB_LIBRARY": "virtual"}
    done = subprocess.run([sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {entry["arch"]: entry for entry in found}


def test_a_kernel_runs_on_it(arch: str, ran: dict[str, dict[str, object]]) -> None:
    did, a = ran[arch], of(arch)
    assert did["right"]
    assert (did["name"], did["units"], did["wave"]) == (f"{a.product} (virtual)", a.compute_units, a.wave_size)
    assert did["waves"] == 8 * 128 / a.wave_size
    assert did["steps"] > 20  # type: ignore[operator]
    assert did["microseconds"] > 0  # type: ignore[operator]
    assert "used memory" in str(did["caught"])
