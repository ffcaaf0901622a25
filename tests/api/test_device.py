"""Devices, the one in use, and the names that the package offers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import gpulab

ROOT = Path(__file__).resolve().parents[2]


def test_the_two_virtual_devices() -> None:
    virtual = [info for info in gpulab.devices() if info.virtual]
    assert [(info.arch, info.wave_size) for info in virtual[:2]] == [("gfx942", 64), ("gfx1100", 32)]
    assert [(info.compute_units, round(info.memory_bytes / 2**30)) for info in virtual[:2]] == [(304, 192), (96, 24)]


def test_the_table_says_which_is_in_use() -> None:
    with gpulab.using("gfx1100"):
        table = gpulab.devices()
        lines = str(table).splitlines()
        assert [line.split()[0] for line in lines if "in use" in line] == [str(gpulab.device().index)]
        assert "in use" in table._repr_html_()
    assert len(table) == len(list(table)) >= 2


def test_use_and_using() -> None:
    before = gpulab.device().index
    with gpulab.using("virtual:gfx1100") as info:
        assert gpulab.device() == info
        with gpulab.using("virtual:gfx942"):
            assert gpulab.device().arch == "gfx942"
        assert gpulab.device().arch == "gfx1100"
    assert gpulab.device().index == before
    with pytest.raises(ZeroDivisionError), gpulab.using("gfx1100"):
        _ = 1 // 0
    assert gpulab.device().index == before
    try:
        assert gpulab.use(1).index == 1
    finally:
        gpulab.use(before)


@pytest.mark.parametrize("which", ["gfx90a", 99, -1, "", "nothing"])
def test_no_such_device(which: int | str) -> None:
    before = gpulab.device().index
    with pytest.raises(gpulab.DeviceNotFound, match="gfx942"):
        gpulab.use(which)
    with pytest.raises(gpulab.DeviceNotFound), gpulab.using(which):
        pass
    assert gpulab.device().index == before


def test_public_names() -> None:
    """Exactly these, each one importable; what learners use does not change by accident."""
    names = """
        ArgumentError AssemblyError CapabilityError CheckError CheckedFault CompileError CounterNotFound DeviceArray
        DeviceMemoryError DeviceNotFound Event GpulabError HipError InternalError Kernel KernelFault KernelNotFound
        KernelTimeout KernelTrap LaunchError LaunchLimitError LaunchNotFound MemoryFault Module Pointer ProfilerError
        ProviderError Stream TraceError UnsupportedInstruction check checked chip compile device devices empty exercise
        fidelity hint hipify instruction lds_banks load load_trace measure memory_info occupancy pinned profile progress
        set_limit synchronize to_device trace use using weak zeros
    """
    assert sorted(gpulab.__all__) == names.split()
    for name in gpulab.__all__:
        assert callable(getattr(gpulab, name)), name
        assert name in dir(gpulab)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = gpulab.nothing  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "meant"),
    [("sync", "synchronize"), ("ToDevice", "to_device"), ("todevice", "to_device"), ("zeroes", "zeros")],
)
def test_a_name_that_is_spelt_otherwise_is_answered_with_the_right_one(name: str, meant: str) -> None:
    with pytest.raises(AttributeError, match=rf"did you mean gpulab\.{meant}\?$"):
        getattr(gpulab, name)


@pytest.mark.full
def test_functions_win_over_modules_of_the_same_name() -> None:
    """gpulab.profile, .trace and .device are functions, whichever way their modules were imported before."""
    code = (
        "import gpulab.profile, gpulab.trace, gpulab.device\n"
        "from gpulab.profile import Run\n"
        "import gpulab\n"
        "assert gpulab.device().index == 0 and callable(gpulab.trace)\n"
        "with gpulab.profile() as run: pass\n"
        "assert isinstance(run, Run)\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=120)


def test_every_error_is_listed_in_its_tree() -> None:
    """The tree at the top of errors.py names every class with its base, by its indentation."""
    from gpulab import errors

    tree = (errors.__doc__ or "").split("\n\n")[1].splitlines()
    parents: dict[str, str] = {}
    path: list[tuple[int, str]] = []
    for line in tree:
        name = line.strip(" │├└─").split()[0]
        depth = len(line) - len(line.lstrip(" │├└─"))
        while path and path[-1][0] >= depth:
            path.pop()
        parents[name] = path[-1][1] if path else "Exception"
        path.append((depth, name))
    classes = {name: value for name, value in vars(errors).items() if isinstance(value, type)}
    assert parents == {
        name: value.__bases__[0].__name__ for name, value in classes.items() if issubclass(value, Exception)
    }


def test_texts_of_errors() -> None:
    """What happened, why and what to try, a line each, as far as they are given."""
    from gpulab.errors import GpulabError, HipError, InternalError

    assert str(GpulabError("it broke.")) == "it broke."
    assert str(GpulabError("it broke.", why="so.")) == "it broke.\nWhy: so."
    full = GpulabError("it broke.", why="so.", hint="mend it.")
    assert str(full) == full.message() == "it broke.\nWhy: so.\nTry: mend it."
    plain, named = HipError("it failed."), HipError("it failed.", name="hipErrorOne", code=7, why="so.", hint="mend.")
    assert (plain.name, plain.code, str(plain)) == ("", 0, "it failed.")
    assert (named.name, named.code, str(named)) == ("hipErrorOne", 7, "it failed.\nWhy: so.\nTry: mend.")
    assert str(InternalError("it cannot be.", place=3, name="x")) == (
        "it cannot be.\nWhy: this is a bug in gpulab, not in your code.\n"
        "Try: please report it with the kernel's source. [place=3] [name='x']"
    )


@pytest.mark.parametrize("which", [None, 1.5, True, 99])
def test_what_is_no_device(which: object) -> None:
    with pytest.raises(gpulab.DeviceNotFound, match="the devices are"):
        gpulab.use(which)


def test_misspelt_names_are_guessed() -> None:
    with pytest.raises(AttributeError, match=r"did you mean gpulab\.devices\?"):
        gpulab.devics  # noqa: B018


def test_the_list_of_devices_is_asked_by_number_or_name() -> None:
    devices = gpulab.devices()
    assert devices[-1] == devices["gfx1100"] == devices[1]
    assert [each.index for each in devices] == [0, 1]
    assert devices.index(devices[1]) == 1
    for absent in (7, -3, "gfx9999", None):
        with pytest.raises(gpulab.DeviceNotFound, match="There is no device"):
            devices[absent]
    with pytest.raises(ValueError):
        devices.index("absent")


@pytest.mark.parametrize(
    ("name", "meant"), [("array", "to_device"), ("from_numpy", "to_device"), ("RawKernel", "compile")]
)
def test_names_of_other_libraries(name: str, meant: str) -> None:
    with pytest.raises(AttributeError, match=f"did you mean gpulab.{meant}"):
        getattr(gpulab, name)
