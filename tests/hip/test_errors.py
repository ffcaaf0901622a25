"""Error names and texts, calls that are missing, NULL everywhere: nothing crashes, everything is named."""

import ctypes
import weakref

import pytest

from gpulab.virtual_gpu import libraries, runtime
from gpulab.virtual_gpu.libraries.hiprtc import results
from gpulab.virtual_gpu.runtime import codes
from tests.hip.conftest import ok, run_python


def test_names_and_numbers_are_hip_pythons(hip):
    assert {int(error): error.name for error in hip.hipError_t} == codes.NAMES
    for number, name in codes.NAMES.items():
        assert str(ok(hip.hipGetErrorName(hip.hipError_t(number)))) == name


def test_texts(hip):
    e = hip.hipError_t
    assert str(ok(hip.hipGetErrorString(e.hipSuccess))) == "no error"
    assert str(ok(hip.hipGetErrorString(e.hipErrorInvalidValue))) == "invalid argument"
    assert str(ok(hip.hipGetErrorString(e.hipErrorIllegalAddress))) == "an illegal memory access was encountered"


def test_hiprtc_names_are_hip_pythons(hiprtc):
    assert {int(result): result.name for result in hiprtc.hiprtcResult} == results.NAMES


def test_the_last_error(hip):
    e = hip.hipError_t
    hip.hipGetLastError()
    assert hip.hipSetDevice(9)[0] == e.hipErrorInvalidDevice
    ok(hip.hipGetDevice())  # success does not clear it
    assert hip.hipPeekAtLastError()[0] == e.hipErrorInvalidDevice
    assert hip.hipGetLastError()[0] == e.hipErrorInvalidDevice
    assert hip.hipGetLastError()[0] == e.hipSuccess


def test_the_last_error_is_each_threads_own(hip):
    import threading

    hip.hipGetLastError()
    thread = threading.Thread(target=lambda: hip.hipSetDevice(9))
    thread.start()
    thread.join()
    assert hip.hipGetLastError()[0] == hip.hipError_t.hipSuccess


def test_every_function_that_hip_python_knows_is_there(hip, hiprtc):
    from pathlib import Path

    import rocm.bindings

    folder = Path(rocm.bindings.__path__[0])
    for name, module in (("hip", "cyhip"), ("hiprtc", "cyhiprtc")):
        import re

        wanted = set(re.findall(r'__init_symbol\(&\w+,"(\w+)"\)', (folder / f"{module}.pyx").read_text()))
        assert len(wanted) >= 18
        library = ctypes.PyDLL(str(libraries.path(name)))
        assert [symbol for symbol in sorted(wanted) if not hasattr(library, symbol)] == []


def test_a_missing_call_is_named(hip):
    from gpulab import errors
    from gpulab import hip as door

    assert hip.hipProfilerStart()[0] == hip.hipError_t.hipErrorNotSupported
    with pytest.raises(errors.HipError, match="hipProfilerStart is not supported") as caught:
        door.check(hip.hipProfilerStart())
    assert (caught.value.name, caught.value.code) == ("hipErrorNotSupported", 801)


def test_an_exception_inside_is_an_unknown_error_and_is_kept(hip, monkeypatch):
    from gpulab import errors, providers
    from gpulab.virtual_gpu import runtime

    def broken(size, kind, flags=0, device=None):
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(runtime.instance().memory, "allocate", broken)
    assert hip.hipMalloc(64)[0] == hip.hipError_t.hipErrorUnknown
    runtime.instance().take_exception()
    with pytest.raises(errors.InternalError, match="planted") as caught:
        providers.selected().malloc(64)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert caught.value.__cause__.__traceback__ is not None


def test_a_failed_call_keeps_nothing_of_its_callers(hip):
    """The reason is kept until somebody asks for it, and not the frames that it went through."""

    class Held:
        pass

    def fails():
        held = Held()
        assert int(hip.hipDeviceSetLimit(hip.hipLimit_t.hipLimitStackSize, 1 << 40)[0]) == 1
        return weakref.ref(held)

    assert fails()() is None
    assert "128 KiB" in str(runtime.instance().take_exception())


def test_reset_forgets_everything_of_the_device():
    done = run_python(
        """
import gpulab
from hip import hip
pointer = hip.hipMalloc(64)[1]; stream = hip.hipStreamCreate()[1]
assert int(hip.hipDeviceReset()[0]) == 0
print(int(hip.hipFree(int(pointer))[0]), int(hip.hipStreamDestroy(int(stream))[0]), hip.hipMemGetInfo()[2])
"""
    )
    assert done.stdout == "1 400 206141652992\n", done.stderr
