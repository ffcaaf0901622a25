"""Triton, as it is installed, on gpulab's devices: kernels against numpy, times, faults, lines of the Python source."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import re
import sys
import sysconfig
import types
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


@pytest.mark.parametrize(("name", "arch"), ways())
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


def test_scratch_for_profiles_is_memory_of_the_device_too() -> None:
    from triton.runtime import driver

    with gpulab.using("virtual:gfx942"):
        memory = driver.active.allocate_default_profile_scratch(48, 16, None)
        assert isinstance(memory, gpulab.DeviceArray)
        assert (memory.nbytes, memory.dtype) == (48, np.int8)


def test_an_allocator_that_is_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """So do a compiler for Triton's modules, and what is said of fusion."""
    from triton import knobs
    from triton.runtime import _allocation

    from gpulab.guests.triton import driver

    def own(*_: object) -> object:
        raise AssertionError("nothing is built or allocated here")

    given = _allocation._allocator.get()
    monkeypatch.setattr(driver.amd, "HIPUtils", lambda: "utilities")
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "0")
    try:
        with gpulab.using("virtual:gfx942"):
            for each, expected in ((own, own), (_allocation.NullAllocator(), driver._scratch)):
                monkeypatch.setattr(knobs.build, "impl", own if each is own else None)
                triton.set_allocator(each)
                made = driver.GpulabDriver()
                assert _allocation._allocator.get() is expected
                assert knobs.build.impl is (own if each is own else driver._build)
                assert os.environ["TRITON_DEFAULT_FP_FUSION"] == "0"
        monkeypatch.delenv("TRITON_DEFAULT_FP_FUSION")
        with gpulab.using("virtual:gfx1100") as device:
            made = driver.GpulabDriver()
            assert os.environ["TRITON_DEFAULT_FP_FUSION"] == "1"
            assert (made.utils, made.launcher_cls) == ("utilities", driver.Launcher)
            assert (made.get_current_device(), made.get_current_stream(5)) == (device.index, 0)
            assert made.get_device_capability() == (11, 0)
    finally:
        triton.set_allocator(given)


def test_each_device_has_its_capability() -> None:
    """A number says which: that of the current one is asked without."""
    from gpulab import providers
    from gpulab.guests.triton import driver

    numbers = [providers.find(f"virtual:{arch}").index for arch in ARCHITECTURES]
    with gpulab.using("virtual:gfx942"):
        assert [driver._capability(number) for number in numbers] == [(9, 4), (11, 0)]
        assert driver._capability() == (9, 4)
    made = driver.GpulabDriver.__new__(driver.GpulabDriver)
    assert made.get_empty_cache_for_benchmark() is None
    assert made.clear_cache(None) is None


@pytest.mark.parametrize("there", [False, True])
def test_pytorch_with_a_gpu_has_a_driver_of_its_own(there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for PyTorch: the arrays of its processor are the ones that Triton is given here."""
    from gpulab.guests.triton import driver

    torch = types.ModuleType("torch")
    torch.__spec__ = importlib.machinery.ModuleSpec("torch", None)
    vars(torch).update(cuda=types.SimpleNamespace(is_available=lambda: there), device=lambda name: ("device", name))
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert driver.GpulabDriver.is_active() is not there
    made = driver.GpulabDriver.__new__(driver.GpulabDriver)
    assert made.get_active_torch_device() == ("device", "cpu")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert driver.GpulabDriver.is_active() is True


def test_no_target_is_compiled_for_by_the_guest_itself() -> None:
    from triton.backends.compiler import GPUTarget

    from gpulab.guests.triton.compiler import NoCompiler

    for target in (GPUTarget("hip", "gfx942", 64), GPUTarget("cuda", 90, 32)):
        assert NoCompiler.supports_target(target) is False
    with pytest.raises(AssertionError, match="Triton asked a backend that supports no target"):
        NoCompiler.hash(object())  # type: ignore[arg-type]


def test_errors_of_a_launch_are_those_of_their_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Triton's hooks run while an error of HIP is set, and Python wraps it; what has no cause stays as it is."""
    from gpulab.guests.triton import driver

    launcher = driver.Launcher.__new__(driver.Launcher)
    given: list[tuple[object, ...]] = []
    monkeypatch.setattr(driver.amd.HIPLauncher, "__call__", lambda self, *arguments: given.append(arguments))
    with gpulab.using("virtual:gfx942"):
        launcher(1, "two", (3,))
        assert given == [(1, "two", (3,))]
        for cause in (None, ValueError("of HIP")):
            error = SystemError("wrapped")
            error.__cause__ = cause

            def fails(self: object, *arguments: object, error: SystemError = error) -> None:
                raise error

            monkeypatch.setattr(driver.amd.HIPLauncher, "__call__", fails)
            with pytest.raises((SystemError, ValueError)) as caught:
                launcher(1)
            assert caught.value is (cause or error)


def test_the_library_is_named_to_triton_if_its_name_is_hips(monkeypatch: pytest.MonkeyPatch) -> None:
    from triton import knobs

    from gpulab import providers
    from gpulab.guests.triton import driver

    monkeypatch.setattr(knobs.amd, "libhip_path", "as it was")
    for path, found in (("/lib/other.so", "as it was"), ("/x/libamdhip64.so.6", "/x/libamdhip64.so.6")):
        one = types.SimpleNamespace(library=lambda path=path: types.SimpleNamespace(path=path))
        monkeypatch.setattr(providers, "selected", lambda one=one: one)
        driver._find_library()
        assert knobs.amd.libhip_path == found


def test_tritons_modules_are_built_with_the_compiler_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gpulab.guests.triton import driver
    from gpulab.toolchain import host

    called: list[tuple[object, ...]] = []
    monkeypatch.setattr(host, "compile_host_library", lambda *given, options: called.append((*given, options)))
    built = driver._build("part", "part.c", str(tmp_path), ["/libs", "/more"], ["/heads"], ["one", "two"])
    target = tmp_path / f"part{sysconfig.get_config_var('EXT_SUFFIX')}"
    assert built == str(target)
    includes = ["-I/heads", f"-I{tmp_path}", f"-I{sysconfig.get_paths()['include']}"]
    assert called == [(Path("part.c"), target, [*includes, "-L/libs", "-L/more", "-lone", "-ltwo"])]


def test_do_bench_alone_is_told_a_long_time_before_it_has_an_estimate() -> None:
    """Of a virtual device, where times are modelled; more than that is told as it is."""
    from gpulab.guests.triton import driver

    class Mark:
        def __init__(self, at: float) -> None:
            self.at = at
            self.recorded = 0

        def record(self) -> None:
            self.recorded += 1

        def elapsed_ms(self, start: Mark) -> float:
            return self.at - start.at

    def asked(module: str, function: str, virtual: bool, end: float, names: str = "") -> float:
        space = {"__name__": module}
        exec(f"def {function}(a, b):\n    {names or 'pass'}\n    return a.elapsed_time(b)\n", space)
        marks = [driver.Event(Mark(at), virtual) for at in (0.25, 0.25 + end)]
        found = space[function](*marks)  # type: ignore[operator]
        assert type(found) is float
        return found

    assert asked("triton.testing", "do_bench", True, 0.5) == 1_000_000
    assert asked("triton.testing", "do_bench", True, 2e6) == 2e6
    assert asked("triton.testing", "do_bench", False, 0.5) == 0.5
    assert asked("triton.testing", "do_bench", True, 0.5, "estimate_ms = 1") == 0.5
    assert asked("triton.testing", "other", True, 0.5) == 0.5
    assert asked("other", "do_bench", True, 0.5) == 0.5
    mark = Mark(0)
    driver.Event(mark, True).record()
    assert mark.recorded == 1


def test_times_of_hardware_are_not_said_to_be_modelled(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from gpulab import providers
    from gpulab.guests.triton import driver, host

    monkeypatch.setattr(providers, "current", lambda: 1)
    for virtual in (False, True):
        host.said.clear()
        both = [types.SimpleNamespace(name=name, virtual=virtual) for name in ("first", "second")]
        monkeypatch.setattr(providers, "devices", lambda both=both: both)
        interface = driver.Interface()
        assert interface.synchronize is gpulab.synchronize
        event = interface.Event()
        assert isinstance(event, driver.Event)
        assert event._virtual is virtual
        said = "gpulab: second is virtual here, so these times are modelled (docs/timing.md), not measured.\n"
        assert capsys.readouterr().err == (said if virtual else "")


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
