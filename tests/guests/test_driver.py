"""The driver that Triton calls, part by part: what it sets, builds, allocates and measures, and what it leaves."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
import sysconfig
import types
from pathlib import Path

import numpy as np
import pytest

import gpulab
from gpulab import providers

triton = pytest.importorskip("triton", reason="the extra triton is not installed")

from gpulab.guests.triton import driver, host  # noqa: E402

ARCHITECTURES = ("gfx942", "gfx1100")


def test_scratch_for_profiles_is_memory_of_the_device_too() -> None:
    from triton.runtime import driver as own

    with gpulab.using("virtual:gfx942"):
        for size, given in ((48, 48), (1, 1), (0, 1)):  # what has no byte has no address
            memory = own.active.allocate_default_profile_scratch(size, 16, None)
            assert isinstance(memory, gpulab.DeviceArray)
            assert (memory.nbytes, memory.dtype) == (given, np.int8)


def test_an_allocator_that_is_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """So do a compiler for Triton's modules, and what is said of fusion."""
    from triton import knobs
    from triton.runtime import _allocation

    def own(*_: object) -> object:
        raise AssertionError("nothing is built or allocated here")

    given = _allocation._allocator.get()
    monkeypatch.setattr(driver.amd, "HIPUtils", lambda: "utilities")
    monkeypatch.setattr(knobs.amd, "libhip_path", None)
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
            assert knobs.amd.libhip_path == providers.selected().library().path
            assert (made.utils, made.launcher_cls) == ("utilities", driver.Launcher)
            assert (made.get_current_device(), made.get_current_stream(5)) == (device.index, 0)
            assert made.get_device_capability() == (11, 0)
    finally:
        triton.set_allocator(given)


def test_each_device_has_its_capability() -> None:
    """A number says which: that of the current one is asked without."""
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
    torch = types.ModuleType("torch")
    torch.__spec__ = importlib.machinery.ModuleSpec("torch", None)
    vars(torch).update(cuda=types.SimpleNamespace(is_available=lambda: there), device=lambda name: ("device", name))
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert driver.GpulabDriver.is_active() is (not there)
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


def test_what_a_device_found_is_raised_after_a_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    """In place of what the launcher raised, too; a device without instruments found nothing."""
    launcher = driver.Launcher.__new__(driver.Launcher)
    happened: list[str] = []

    def fault() -> None:
        happened.append("asked")
        raise gpulab.GpulabError("of the kernel")

    def launched(self: object, fails: bool) -> None:
        happened.append("launched")
        if fails:
            raise RuntimeError("of the launcher")

    monkeypatch.setattr(driver.amd.HIPLauncher, "__call__", launched)
    for instruments, asked in ((None, []), (types.SimpleNamespace(raise_fault=fault), ["asked"])):
        selected = types.SimpleNamespace(instruments=instruments)
        monkeypatch.setattr(providers, "selected", lambda selected=selected: selected)
        for fails in (False, True):
            happened.clear()
            said = ""
            try:
                launcher(fails)
            except (RuntimeError, gpulab.GpulabError) as error:
                said = str(error)
            assert said == ("of the kernel" if asked else "of the launcher" if fails else "")
            assert happened == ["launched", *asked]


def test_the_library_is_named_to_triton_if_its_name_is_hips(monkeypatch: pytest.MonkeyPatch) -> None:
    from triton import knobs

    monkeypatch.setattr(knobs.amd, "libhip_path", "as it was")
    for path, found in (("/lib/other.so", "as it was"), ("/x/libamdhip64.so.6", "/x/libamdhip64.so.6")):
        one = types.SimpleNamespace(library=lambda path=path: types.SimpleNamespace(path=path))
        monkeypatch.setattr(providers, "selected", lambda one=one: one)
        driver._find_library()
        assert knobs.amd.libhip_path == found


def test_tritons_modules_are_built_with_the_compiler_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gpulab.toolchain import host as native

    called: list[tuple[object, ...]] = []
    monkeypatch.setattr(native, "compile_host_library", lambda *given, options: called.append((*given, options)))
    built = driver._build("part", "part.c", str(tmp_path), ["/libs", "/more"], ["/heads"], ["one", "two"])
    target = tmp_path / f"part{sysconfig.get_config_var('EXT_SUFFIX')}"
    assert built == str(target)
    includes = ["-I/heads", f"-I{tmp_path}", f"-I{sysconfig.get_paths()['include']}"]
    assert called == [(Path("part.c"), target, [*includes, "-L/libs", "-L/more", "-lone", "-ltwo"])]


def test_do_bench_alone_is_told_a_long_time_before_it_has_an_estimate() -> None:
    """Of a virtual device, where times are modelled; more than that is told as it is."""

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
    monkeypatch.setattr(providers, "current", lambda: 1)
    for virtual in (False, True):
        host.said.clear()
        both = [types.SimpleNamespace(name=name, virtual=virtual) for name in ("first", "second")]
        monkeypatch.setattr(providers, "devices", lambda both=both: both)
        interface = driver.GpulabDriver.__new__(driver.GpulabDriver).get_device_interface()
        assert interface.synchronize is gpulab.synchronize
        for event in (interface.Event(), interface.Event(enable_timing=True)):
            assert isinstance(event, driver.Event)
            assert event._virtual is virtual
        said = "gpulab: second is virtual here, so these times are modelled (docs/timing.md), not measured.\n"
        assert capsys.readouterr().err == (said if virtual else "")
