"""Triton, as it is installed, on gpulab's devices: kernels against numpy, times, faults, lines of the Python source."""

from __future__ import annotations

import importlib.util
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import gpulab

triton = pytest.importorskip("triton", reason="the extra triton is not installed")

from tests.guests import kernels  # noqa: E402

ARCHITECTURES = ("gfx942", "gfx1100")


def ways() -> Iterator[object]:
    """Each kernel on both devices; `make test` runs a sixth of them on one, which the name decides."""
    for name in kernels.CASES:
        for number, arch in enumerate(ARCHITECTURES):
            first = zlib.crc32(name.encode()) % 12 == number
            yield pytest.param(name, arch, id=f"{name}-{arch}", marks=() if first else pytest.mark.full)


@pytest.fixture(autouse=True)
def own_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """What Triton compiles is kept beside gpulab's cache, not in the home folder."""
    monkeypatch.setenv("TRITON_CACHE_DIR", kernels.folder())
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "1")


@pytest.mark.parametrize(("name", "arch"), list(ways()))
def test_a_kernel_against_numpy(name: str, arch: str) -> None:
    with gpulab.using(f"virtual:{arch}"):
        for came, exact, most in kernels.CASES[name]():
            assert came.shape == exact.shape
            difference = np.abs(came.astype("f8") - exact.astype("f8")).max()
            assert difference <= most, (name, difference)


def add(n: int, grid: int) -> None:
    x = gpulab.to_device(np.ones(n, "f4"))
    kernels.add_kernel[(grid,)](x, x, gpulab.empty(n, "float32"), n * grid, BLOCK=1024)


def test_a_fault_names_the_line_of_the_python_source() -> None:
    with gpulab.using("virtual:gfx942"), pytest.raises(gpulab.errors.MemoryFault) as caught:
        add(1024, 50)
    source = Path(kernels.__file__).read_text(encoding="utf-8").splitlines()
    found = source[caught.value.fault.where.line - 1]
    assert "tl.load(x + at, mask=mask)" in found
    assert found.strip() in str(caught.value), "the line itself is shown"
    assert "exactly at the end of an allocation of 4,096 bytes" in str(caught.value)


@pytest.mark.full
def test_profiles_have_lines_of_the_python_source() -> None:
    source = Path(kernels.__file__).read_text(encoding="utf-8").splitlines()
    with gpulab.using("virtual:gfx1100"), gpulab.profile() as run:
        add(1024, 1)
    (launch,) = run.launches
    assert (launch.kernel, launch.grid) == ("add_kernel", (1, 1, 1))
    vector = [cost for cost in launch.accesses if cost.space == "global" and "load_b128" in cost.instruction]
    texts = {source[cost.where.line - 1].strip() for cost in vector if cost.where is not None}
    assert len(texts) == 1
    assert "tl.store(out + at, tl.load(x + at, mask=mask)" in texts.pop()
    # 1,024 floats from each of two arrays, in pieces of 128 bytes; they are the same array here.
    assert sum(cost.lanes * cost.bytes for cost in vector) == 2 * 4096


def test_checked_launches_see_races() -> None:
    with gpulab.using("virtual:gfx942"), gpulab.checked(), pytest.raises(gpulab.errors.CheckedFault):
        x = gpulab.zeros(64, "float32")
        kernels.racing_kernel[(4,)](x, N=64)  # all four programs write the same elements


def test_modelled_times_say_that_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    from gpulab.guests.triton import host

    host.said.clear()
    with gpulab.using("virtual:gfx942"):
        x = gpulab.zeros(1 << 16, "float32")
        launch = lambda: kernels.scale_kernel[(64,)](x, 1 << 16, 1.0, BLOCK=1024)  # noqa: E731
        one = triton.testing.do_bench(launch, warmup=0.01, rep=0.1)
        middle, least = triton.testing.do_bench(launch, warmup=0.01, rep=0.1, quantiles=[0.5, 0.0])
        with gpulab.profile() as run:
            launch()
        with gpulab.profile() as all_of_it:
            assert triton.testing.do_bench(launch) == pytest.approx(one, rel=0.05)
    assert len(all_of_it.launches) <= 8, "a modelled time is the same each time: nothing is repeated for 100 ms of it"
    assert one == pytest.approx(run.launches[0].time_us / 1000, rel=0.5)
    assert least <= middle
    assert capsys.readouterr().err.count("modelled") == 1


def test_the_device_in_use_is_tritons() -> None:
    for arch, waves in (("gfx942", 64), ("gfx1100", 32)):
        with gpulab.using(f"virtual:{arch}"):
            target = triton.runtime.driver.active.get_current_target()
            assert (target.backend, target.arch, target.warp_size) == ("hip", arch, waves)
            assert triton.runtime.driver.active.get_device_capability() == ((9, 4) if waves == 64 else (11, 0))


def test_pointers_that_are_no_device_memory(tmp_path: Path) -> None:
    class Elsewhere:
        dtype = "float32"

        def data_ptr(self) -> int:
            return np.zeros(4).ctypes.data

    with gpulab.using("virtual:gfx942"), pytest.raises(ValueError, match="cannot be accessed from Triton"):
        kernels.scale_kernel[(1,)](Elsewhere(), 4, 1.0, BLOCK=64)


def test_the_assembly_of_a_kernel_can_be_traced() -> None:
    """What Triton compiled is a code object as any other: `gpulab.load` takes it, and the stepper shows it."""
    with gpulab.using("virtual:gfx942"):
        x = gpulab.to_device(np.arange(64, dtype="f4"))
        compiled = kernels.scale_kernel[(1,)](x, 64, 2.0, BLOCK=64)
        kernel = gpulab.load(compiled.asm["hsaco"])["scale_kernel"]
        none = gpulab.empty(1, "int8")
        trace = gpulab.trace(kernel, 1, 64 * compiled.metadata.num_warps, x, np.int32(64), np.float32(2.0), none, none)
        assert len(trace.steps) > 5
        assert (x.to_host() == np.arange(64) * 4).all()


def test_the_example_of_the_page_runs(tmp_path: Path) -> None:
    """docs/guests.md."""
    page = (Path(__file__).parents[2] / "docs" / "guests.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    file = tmp_path / "example.py"  # Triton reads the text of a kernel from its file
    file.write_text("import numpy as np\n\nhost = np.arange(1000, dtype='f4')\n" + block)
    spec = importlib.util.spec_from_file_location("example", file)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    with gpulab.using("virtual:gfx1100"):
        spec.loader.exec_module(example)
        assert (example.x.to_host() == np.arange(1000) * 2).all()


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_kernels_print(arch: str, capsys: pytest.CaptureFixture[str]) -> None:
    """AMD's device library calls the host: one line for each element, in order."""
    with gpulab.using(f"virtual:{arch}"):
        x = gpulab.to_device(np.arange(128, dtype="i4") - 5)
        kernels.printing_kernel[(2,)](x, N=128, num_warps=1)
        gpulab.synchronize()
    lines = capsys.readouterr().out.splitlines()
    expected = [f"pid ({p}, 0, 0) idx ({i:3d}) value: {i - 5}" for p in range(2) for i in range(128)]
    assert [line for line in lines if line.startswith("pid (0")] == expected[:128]
    assert [line for line in lines if line.startswith("pid (1")] == expected[128:]


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_more_blocks_print_than_run_at_a_time(arch: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each wave that waits for the host needs a packet of its own: 160 of them."""
    with gpulab.using(f"virtual:{arch}"):
        waves = 4
        block = waves * (64 if arch == "gfx942" else 32)
        x = gpulab.to_device(np.arange(40 * block, dtype="i4"))
        kernels.printing_kernel[(40,)](x, N=block, num_warps=waves)
        gpulab.synchronize()
    lines = capsys.readouterr().out.splitlines()
    assert Counter(int(line.split("(")[1].split(",")[0]) for line in lines) == dict.fromkeys(range(40), block)


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_kernels_assert(arch: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with gpulab.using(f"virtual:{arch}"):
        good = gpulab.to_device(np.zeros(64, "i4"))
        kernels.asserting_kernel[(1,)](good, N=64, num_warps=1, debug=True)
        bad = gpulab.to_device(np.arange(64, dtype="i4"))
        with pytest.raises(gpulab.errors.KernelTrap) as caught:
            kernels.asserting_kernel[(1,)](bad, N=64, num_warps=1, debug=True)
        gpulab.synchronize()
    assert 'tl.device_assert(values < 3, "too large")' in str(caught.value)
    assert "too large" in capfd.readouterr().out


def test_what_a_kernel_needs_beside_its_arguments_is_memory_of_the_device() -> None:
    """Triton asks its allocator for it, and passes the address on."""
    from triton.runtime import _allocation, driver

    with gpulab.using("virtual:gfx942"):
        assert driver.active.get_current_target().arch == "gfx942"
        for size in (1, 100):
            memory = _allocation._allocator.get()(size, 16, None)
            assert memory.data_ptr() % 16 == 0
            assert memory.to_host().nbytes == size
        assert _allocation._allocator.get()(0, 1, None).data_ptr()


def test_events_have_their_times_where_others_than_do_bench_ask() -> None:
    """Nothing stands between two events: no millisecond. do_bench's first question is answered with much more."""
    from triton.runtime import driver

    with gpulab.using("virtual:gfx942"):
        interface = driver.active.get_device_interface()
        start, end = (interface.Event(enable_timing=True) for _ in range(2))
        start.record()
        end.record()
        interface.synchronize()
        assert 0 <= start.elapsed_time(end) < 1
