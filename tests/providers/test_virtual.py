"""The provider of virtual GPUs, call by call, with hip-python's binding and with ctypes."""

import ctypes
import dataclasses
import struct
from types import SimpleNamespace

import numpy as np
import pytest

from gpulab import errors, providers
from gpulab.hip import check
from gpulab.providers import registry, virtual
from gpulab.providers import selected as gpu
from gpulab.providers.hip import library
from gpulab.providers.hip.binding import CtypesBinding, HipPythonBinding, structure_values
from gpulab.providers.rocm.provider import RocmProvider
from gpulab.providers.virtual import hosting
from gpulab.providers.virtual.instruments import VirtualInstruments
from gpulab.providers.virtual.provider import VirtualProvider
from gpulab.records import Fault
from gpulab.virtual_gpu import libraries
from gpulab.virtual_gpu.runtime.structures import DeviceProperties
from tests.hip.conftest import code_object, run_python
from tests.providers.given import given


@pytest.fixture(params=["hip-python", "ctypes"])
def binding(request, monkeypatch):
    """Both bindings in turn; device 0 selected."""
    found = (
        HipPythonBinding()
        if request.param == "hip-python"
        else CtypesBinding(str(libraries.path("hip")), DeviceProperties, in_process=True)
    )
    given(monkeypatch, VirtualProvider(found))
    providers.select(0)
    yield found
    providers.select(0)


@pytest.fixture
def module(binding):
    handle = gpu().load(code_object("gfx942").elf)
    yield handle
    gpu().unload(handle)


def test_devices(binding):
    first, second = providers.devices()
    assert (first.index, first.arch, first.wave_size, first.compute_units, first.virtual) == (
        0,
        "gfx942",
        64,
        304,
        True,
    )
    assert (second.index, second.arch, second.wave_size, second.compute_units) == (1, "gfx1100", 32, 96)
    assert first.memory_bytes == 206141652992
    code, properties = binding.properties(1)
    assert code == 0
    assert properties["name"] == "AMD Radeon RX 7900 XTX (virtual)"
    assert list(properties["maxGridSize"]) == [2147483647, 65536, 65536]


@pytest.mark.parametrize(
    ("wanted", "index"),
    [(1, 1), ("1", 1), ("gfx1100", 1), ("gfx942:sramecc+", 0), ("virtual:gfx1100", 1), ("virtual:0", 0), ("7900", 1)],
)
def test_finding_a_device(binding, wanted, index):
    assert providers.find(wanted).index == index


@pytest.mark.parametrize("wanted", [5, -1, "gfx90a", "virtual:gfx90a", ""])
def test_a_device_that_is_not_there(binding, wanted):
    with pytest.raises(errors.DeviceNotFound, match="gfx1100"):
        providers.find(wanted)


@pytest.mark.parametrize("wanted", [-1, 2, True, 1.0, None, "000000001", "2", "virtual:2", "rocm:0", "", "-1"])
def test_what_is_no_number_of_a_device(binding, wanted):
    """Numbers are those of the list; of digits no more than eight are one."""
    with pytest.raises(errors.DeviceNotFound) as caught:
        providers.find(wanted)
    assert str(caught.value).startswith(
        f"There is no device {wanted!r}.\nWhy: the devices are 0: AMD Instinct MI300X (virtual) (gfx942), "
        "1: AMD Radeon RX 7900 XTX (virtual) (gfx1100).\n"
    )


def test_spaces_zeros_and_devices_themselves(binding):
    first, second = providers.devices()
    assert providers.find(" 00000001 ") is providers.find(second) is second
    assert providers.find(0) is providers.find("AMD INSTINCT MI300X (virtual)") is first
    for number in (-1, 2):
        with pytest.raises(errors.DeviceNotFound):
            providers.select(number)


def test_a_registry_without_any_device():
    with pytest.raises(errors.InternalError, match="no provider has a device"):
        registry.Registry({}).names()


def test_numbers_of_devices_count_on_from_provider_to_provider(monkeypatch):
    """Whoever is asked first: also before anybody has asked for the devices."""
    info = providers.devices()[0]

    def fake(name, count, current):
        own = tuple(dataclasses.replace(info, index=index, provider=name) for index in range(count))
        return SimpleNamespace(name=name, devices=lambda: own, current=lambda: current, instruments=None)

    one, two, three = fake("one", 2, 1), fake("two", 1, 0), fake("three", 2, 0)
    for first, number in ((one, 0), (two, 2), (three, 3)):
        assert given(monkeypatch, one, two, three).first(first) == number
    found = given(monkeypatch, one, two, three)
    assert (found.here(), found.current(), found.selected()) == ((one, 1), 1, one)
    assert [device.index for device in found.devices()] == [0, 1, 2, 3, 4]
    assert [found.of(index) for index in range(5)] == [one, one, two, three, three]
    asked = []
    three.select = asked.append
    found.select(4)
    assert (asked, found.here(), found.selected()) == ([1], (three, 3), three)
    for index in (-1, 5):
        with pytest.raises(errors.DeviceNotFound):
            found.select(index)
    assert found.instruments() == ()
    with pytest.raises(errors.CapabilityError) as refused:
        three.lacks = {"costs": "it has no counters"}
        providers.analysis()
    assert refused.value.what.endswith(" cannot give costs by source line.")
    assert (refused.value.why, refused.value.hint) == ("it has no counters.", "")


def test_what_no_provider_has(monkeypatch, binding):
    """Of a GPU of hardware alone: the error has its own reason, and names no virtual device."""
    assert providers.analysis() is providers.selected().instruments
    given(monkeypatch, RocmProvider(binding))
    with pytest.raises(errors.CapabilityError) as caught:
        providers.analysis()
    assert caught.value.what == "AMD Instinct MI300X (virtual) cannot give costs by source line."
    assert caught.value.why == "hardware counts events of a whole launch, not of an instruction."
    assert caught.value.hint == ""
    with pytest.raises(errors.CapabilityError, match="cannot"):
        providers.instruments("trace")


def test_launches_of_a_block_are_checked_or_weak():
    """And then as before, whatever ended the block. Each seed has a million launches before the next one's begin."""
    here = SimpleNamespace(checking=0, weak=None)
    found = VirtualInstruments(here)
    with pytest.raises(ZeroDivisionError), found.checking():
        assert here.checking == 1
        with found.checking():
            assert here.checking == 2
        assert here.checking == 1
        raise ZeroDivisionError
    assert here.checking == 0
    with pytest.raises(ZeroDivisionError), found.weakening(3):
        outer = here.weak
        assert [next(outer), next(outer)] == [3 * 1024**2, 3 * 1024**2 + 1]
        with found.weakening(0):
            assert next(here.weak) == 0
        assert here.weak is outer
        raise ZeroDivisionError
    assert here.weak is None


@pytest.mark.parametrize(("news", "surfaced"), [(False, True), (True, False), (True, True)])
def test_a_fault_is_raised_if_there_is_a_new_one(news, surfaced):
    fault = Fault("trap", "k", None, "", (0, 0, 0), 0, None, None)
    here = SimpleNamespace(has_news=lambda: news, surface_now=lambda: surfaced, take_fault=lambda: fault)
    found = VirtualInstruments(here)
    if news and surfaced:
        with pytest.raises(errors.KernelTrap) as caught:
            found.raise_fault()
        assert caught.value.fault is fault
    else:
        assert found.raise_fault() is None


def test_selecting(binding):
    providers.select(1)
    assert providers.current() == 1
    assert providers.devices()[providers.current()].virtual
    with pytest.raises(errors.DeviceNotFound):
        providers.select(2)


def test_copies_of_any_buffer(binding):
    address = gpu().malloc(16)
    for contents in (b"0123456789abcdef", bytearray(b"fedcba9876543210"), np.arange(4, dtype=np.int32)):
        providers.copy_to_device(gpu(), address, contents)
        got = bytearray(16)
        providers.copy_to_host(gpu(), got, address)
        assert bytes(got) == bytes(contents)
    other = gpu().malloc(16)
    gpu().copy_device(other, address, 16)
    matrix = np.zeros((2, 2), np.int32)
    providers.copy_to_host(gpu(), matrix, other)
    assert matrix.tolist() == [[0, 1], [2, 3]]
    with pytest.raises(errors.DeviceMemoryError, match="contiguous"):
        providers.copy_to_device(gpu(), address, np.zeros((4, 4), np.int8)[:, 1])
    with pytest.raises(errors.DeviceMemoryError, match="read-only"):
        providers.copy_to_host(gpu(), b"0123", address)
    providers.copy_to_host(gpu(), bytearray(), address)  # nothing to copy
    gpu().free(address)
    gpu().free(other)


def test_copies_that_do_not_fit_say_so(binding):
    address = gpu().malloc(16)
    with pytest.raises(errors.HipError, match="invalid argument") as caught:
        providers.copy_to_device(gpu(), address, bytes(17))
    assert "17 bytes" in str(caught.value.__cause__)
    gpu().free(address)


def test_free_twice(binding):
    address = gpu().malloc(16)
    gpu().free(address)
    with pytest.raises(errors.DeviceMemoryError, match="was freed"):
        gpu().free(address)
    gpu().free(0)


def test_a_fault_is_not_lost_when_an_array_is_freed(binding, module):
    address, other = gpu().malloc(64), gpu().malloc(64)
    gpu().launch(gpu().function(module, "fill"), (1, 1, 1), (64, 1, 1), 0, 0, struct.pack("<Q", address))
    gpu().free(other)
    with pytest.raises(errors.MemoryFault):
        gpu().synchronize()
    gpu().free(address)


def test_an_instruction_that_the_machine_lacks(binding, monkeypatch):
    from gpulab.virtual_gpu import runtime

    def refuse(program):
        raise errors.UnsupportedInstruction("v_what_f32 is not known")

    monkeypatch.setattr(runtime.instance().devices[0].machine, "load", refuse)
    with pytest.raises(errors.UnsupportedInstruction, match="v_what_f32"):
        gpu().load(code_object("gfx942").elf)


def test_an_old_exception_is_not_taken_for_the_cause(binding):
    gpu().malloc(0)
    with pytest.raises(errors.HipError) as first:
        providers.copy_to_device(gpu(), 1, b"x")  # with a reason
    binding.call("hipMemcpy", 70_000, 1, 8, 1)  # fails, too, and nobody asks why
    with pytest.raises(errors.HipError) as second:
        gpu().stream_destroy(0)
    assert second.value.__cause__ is None
    assert first.value.name == "hipErrorInvalidValue"


def test_calls_into_gpulabs_own_library_keep_the_interpreter(monkeypatch):
    """It calls back into it; others let it go on meanwhile."""
    path = str(libraries.path("hip"))
    for made, kind in (
        (CtypesBinding(path, DeviceProperties), ctypes.CDLL), (library.through_ctypes(path), ctypes.CDLL),
        (CtypesBinding(path, DeviceProperties, in_process=True), ctypes.PyDLL),
        (library.through_ctypes(path, in_process=True), ctypes.PyDLL),
    ):  # fmt: skip
        assert type(made._library) is kind
        assert made.path == path
    monkeypatch.setattr(library, "through_hip_python", lambda wanted: None)
    assert type(virtual.open_provider().binding._library) is ctypes.PyDLL


def test_structures_as_plain_values():
    class Inner(ctypes.Structure):
        _fields_ = (("text", ctypes.c_char * 4), ("numbers", ctypes.c_int * 3))

    class Outer(ctypes.Structure):
        _fields_ = (("one", ctypes.c_float), ("inner", Inner))

    made = Outer(0.5, Inner(b"a\xff", (1, 2, 3)))
    assert structure_values(made) == {"one": 0.5, "inner": {"text": "a\ufffd", "numbers": (1, 2, 3)}}


def test_which_library_hip_python_loaded(binding):
    """Only the virtual one has gpulab's own symbols."""
    if binding.kind == "hip-python":
        assert binding.has("gpulab_missing") is binding.has("hipMalloc") is True
        assert binding.has("hipNothing") is False
    assert binding.path == str(libraries.path("hip"))


def test_texts_of_codes(binding):
    assert binding.error_text(1) == ("hipErrorInvalidValue", "invalid argument")
    name, text = binding.error_text(123_456)  # no such code
    expected = {"hip-python": "hipError 123456", "ctypes": "hipErrorUnknown"}
    assert (name, text) == (expected[binding.kind], "unknown error")


def test_outputs_of_nothing_are_0(binding):
    """No memory, no time, no function."""
    assert binding.call("hipMalloc", 0) == (0, 0)
    code, event = binding.call("hipEventCreate")
    assert code == 0
    assert binding.elapsed(event, event)[0] == 400  # hipErrorInvalidHandle: it was never recorded
    assert binding.call("hipEventRecord", event, 0) == (0,)
    assert binding.elapsed(event, event) == (0, 0.0)
    assert binding.call("hipEventDestroy", event) == (0,)
    assert binding.call("hipMemGetAddressRange", 16)[0] == 500  # hipErrorNotFound
    assert binding.call("hipModuleGetFunction", 0, b"k")[1:] == (0,)


def test_hip_pythons_results_are_checked(binding):
    from hip import hip, hiprtc

    assert check(hip.hipSetDevice(0)) is None
    assert check(hip.hipGetDeviceCount()) == 2
    assert len(check(hip.hipMemGetInfo())) == 2
    with pytest.raises(errors.HipError, match="hipSetDevice failed: invalid device ordinal"):
        check(hip.hipSetDevice(5), "hipSetDevice")
    program = check(hiprtc.hiprtcCreateProgram(b"x", b"x.hip", 0, None, None))
    with pytest.raises(errors.HipError, match="HIPRTC_ERROR_COMPILATION"):
        check(hiprtc.hiprtcCompileProgram(program, 0, None))


def test_a_trace(binding, module):
    address = gpu().malloc(4096)
    launch, trace = gpu().instruments.trace(
        gpu().function(module, "fill"), (4, 1, 1), (256, 1, 1), 0, struct.pack("<Q", address), (1, 0, 0), 2
    )
    assert (launch.kernel, launch.waves) == ("fill", 16)
    assert (trace.workgroup, trace.wave, trace.wave_size) == ((1, 0, 0), 2, 64)
    assert trace.steps
    got = np.zeros(1024, np.float32)
    providers.copy_to_host(gpu(), got, address)
    assert (got == 3).all()
    gpu().free(address)


def test_out_of_memory(binding):
    with pytest.raises(errors.DeviceMemoryError, match="34,359,738,368 bytes were asked for"):
        gpu().malloc(32 << 30)


def test_launch_and_fault(binding, module):
    fill = gpu().function(module, "fill")
    address = gpu().malloc(4 * 1000)
    gpu().launch(fill, (3, 1, 1), (256, 1, 1), 0, 0, struct.pack("<Q", address))
    gpu().synchronize()
    gpu().launch(fill, (4, 1, 1), (256, 1, 1), 0, 0, struct.pack("<Q", address))
    with pytest.raises(errors.MemoryFault) as caught:
        gpu().synchronize()
    fault = caught.value.fault
    assert (fault.kernel, fault.kind, fault.access, fault.bytes) == ("fill", "out of bounds", "write", 4)
    assert fault.where.line == 9
    assert fault.where.text.startswith('extern "C" __global__ void fill')
    # Element 1,000 is the first beyond the array: block 3, thread 232; other lanes of its wave follow.
    assert fault.workgroup == (3, 0, 0)
    assert fault.thread == (232, 0, 0)
    assert fault.address == address + 4000
    assert (fault.nearest.size, fault.nearest.relation, fault.nearest.distance) == (4000, "after", 0)
    gpu().synchronize()
    gpu().free(address)


@pytest.mark.parametrize(
    ("grid", "block", "lds", "text"),
    [
        ((1, 1, 1), (2000, 1, 1), 0, "at most 1,024 threads"),
        ((0, 1, 1), (64, 1, 1), 0, "size of 0"),
        ((1, 1, 1), (64, 1, 1), 70_000, "65,536 bytes of shared memory"),
        ((1, 70_000, 1), (64, 1, 1), 0, "65536"),
    ],
)
def test_launches_that_are_refused(binding, module, grid, block, lds, text):
    with pytest.raises(errors.LaunchLimitError, match=text):
        gpu().launch(gpu().function(module, "fill"), grid, block, lds, 0, bytes(8))


def test_too_few_arguments(binding, module):
    with pytest.raises(errors.LaunchLimitError, match="takes 24 bytes of arguments; 8 were given"):
        gpu().launch(gpu().function(module, "saxpy"), (1, 1, 1), (64, 1, 1), 0, 0, bytes(8))


def test_recording(binding, module):
    address = gpu().malloc(4096)
    fill = gpu().function(module, "fill")
    with providers.recording() as records:
        gpu().launch(fill, (4, 1, 1), (256, 1, 1), 0, 0, struct.pack("<Q", address))
        gpu().launch(fill, (1, 1, 1), (64, 1, 1), 0, 0, struct.pack("<Q", address))
    gpu().launch(fill, (1, 1, 1), (64, 1, 1), 0, 0, struct.pack("<Q", address))
    assert [(r.kernel, r.grid, r.waves) for r in records] == [("fill", (4, 1, 1), 16), ("fill", (1, 1, 1), 1)]
    assert records[0].counters["SQ_WAVES"] == 16
    assert records[0].lines
    assert records[0].time_is_modelled
    gpu().free(address)


def test_occupancy_and_globals(binding, module):
    assert gpu().occupancy(gpu().function(module, "saxpy"), 256, 32768) == 2
    address, size = gpu().variable(module, "table")
    got = np.zeros(4, np.int32)
    providers.copy_to_host(gpu(), got, address)
    assert (size, got.tolist()) == (16, [10, 20, 30, 40])
    with pytest.raises(errors.HipError, match="hipErrorNotFound") as caught:
        gpu().function(module, "nothing")
    assert "saxpy" in str(caught.value.__cause__)


def test_variables_get_the_values_of_loading_again(binding, module):
    found = {}
    for symbol, shape in (("table", "<4i"), ("factor", "<f")):
        address, size = gpu().variable(module, symbol)
        providers.copy_to_device(gpu(), address, bytes(range(size)))
        found[symbol] = address, size, shape
    gpu().instruments.renew(module)
    for symbol, values in (("table", (10, 20, 30, 40)), ("factor", (3.0,))):
        address, size, shape = found[symbol]
        got = bytearray(size)
        providers.copy_to_host(gpu(), got, address)
        assert struct.unpack(shape, got) == values


def test_launches_apart_reach_nothing_of_before_but_the_modules_variables(binding, module):
    fill = gpu().function(module, "fill")
    variable = gpu().variable(module, "table")[0]
    before = gpu().malloc(1024)
    find = gpu().instruments.find_allocation
    assert (find(before + 4).address, find(before + 4).relation, find(before + 4).size) == (before, "inside", 1024)
    with gpu().instruments.apart(module):
        assert find(variable).relation == "inside"
        own = gpu().malloc(1024)
        gpu().launch(fill, (1, 1, 1), (256, 1, 1), 0, 0, struct.pack("<Q", own))
        gpu().synchronize()
        gpu().free(own)
        gpu().launch(fill, (1, 1, 1), (256, 1, 1), 0, 0, struct.pack("<Q", before))
        with pytest.raises(errors.MemoryFault):
            gpu().synchronize()
    gpu().launch(fill, (1, 1, 1), (256, 1, 1), 0, 0, struct.pack("<Q", before))
    gpu().synchronize()
    got = np.zeros(256, np.float32)
    providers.copy_to_host(gpu(), got, before)
    assert (got == 3).all()
    gpu().free(before)


def test_how_counters_come_about(binding):
    kinds = gpu().instruments.counter_kinds("gfx942")
    assert {kinds["SQ_WAVES"], kinds["TCC_HIT"]} == {"exact", "modelled"}
    assert set(kinds.values()) == {"exact", "modelled", "assumed"}
    assert "GL2C_HIT" in gpu().instruments.counter_kinds("gfx1100")


def test_a_part_of_a_launch_has_its_counters_alone(binding, module):
    """All instructions together have counted the same as the launch; nothing is told of one that hardware measured."""
    address = gpu().malloc(1024)
    records = []
    with gpu().record(type("Sink", (list,), {"add": lambda self, one: records.append(one) or 0})(), True, None):
        gpu().launch(gpu().function(module, "fill"), (1, 1, 1), (256, 1, 1), 0, 0, struct.pack("<Q", address))
    (launch,) = records
    whole = gpu().instruments.part(launch, launch.instructions, launch.accesses)
    assert (whole.instructions, whole.accesses) == (launch.instructions, launch.accesses)
    assert (whole.lines, whole.metrics, whole.kernel) == ((), {}, "fill")
    assert whole.counters["SQ_INSTS_VALU"] == launch.counters["SQ_INSTS_VALU"] > 0
    assert "SQ_WAVES" not in whole.counters
    none = gpu().instruments.part(launch, (), ())
    assert (none.counters.get("SQ_INSTS_VALU", 0), none.instructions) == (0, ())
    measured = dataclasses.replace(launch, time_is_modelled=False, metrics={"VALUBusy": 1.0})
    part = gpu().instruments.part(measured, launch.instructions, launch.accesses)
    assert (dict(part.counters), part.metrics, part.lines) == ({}, {}, ())
    gpu().free(address)


@pytest.mark.parametrize("arch", ["gfx1100", "gfx1100:xnack-"])
def test_a_text_without_a_target_is_of_the_device_that_is_named(binding, arch):
    code = code_object("gfx1100")
    lines = code.assembly.splitlines(keepends=True)
    text = "".join(line for line in lines if ".amdgcn_target" not in line)
    assert text != code.assembly
    reports = [
        gpu().instruments.fidelity(each, "fill", arch=arch, name="fill it", sources={})
        for each in (code.assembly, text)
    ]
    assert reports[0] == reports[1]
    assert (reports[1].arch, reports[1].kernel) == ("gfx1100", "fill it")


def test_occupancy_by_resource(binding, module):
    found = gpu().instruments.occupancy(gpu().function(module, "saxpy"), 64, 13_000)
    # 13,000 bytes take 26 granules of 512: 4 workgroups in 64 KiB. HIP's formula divides without the granule.
    assert (found.blocks, found.limit, found.api_blocks) == (4, "LDS", 5)
    assert gpu().occupancy(gpu().function(module, "saxpy"), 64, 13_000) == 5


def test_streams_and_events(binding, module):
    address = gpu().malloc(4096)
    fill, stream = gpu().function(module, "fill"), gpu().stream_create()
    start, stop = gpu().event_create(), gpu().event_create()
    gpu().event_record(start, stream)
    gpu().launch(fill, (4, 1, 1), (256, 1, 1), 0, stream, struct.pack("<Q", address))
    gpu().memset(address, 0, 4, stream)
    gpu().event_record(stop, stream)
    gpu().stream_synchronize(stream)
    assert gpu().event_elapsed_ms(start, stop) > 0
    got = np.ones(2, np.float32)
    providers.copy_to_host(gpu(), got, address, stream)
    assert got.tolist() == [0, 3]
    for event in (start, stop):
        gpu().event_destroy(event)
    gpu().stream_destroy(stream)
    gpu().free(address)


def test_host_memory(binding):
    free, total = gpu().memory_info()
    assert 0 < free <= total
    pinned = gpu().malloc_host(64)
    assert gpu().instruments.find_allocation(pinned + 10).name == "pinned host memory"
    gpu().free_host(pinned)


def test_library_information(binding):
    info = gpu().library()
    assert (info.binding, info.version, info.profiler) == (binding.kind, "HIP 7.15.26333", None)
    assert info.path.endswith("libamdhip64.so")
    assert hosting.rocm_path() == str(libraries.rocm_path())


@pytest.mark.full
def test_the_whole_way_with_ctypes_in_a_fresh_process():
    done = run_python(
        """
import struct, sys
from gpulab import providers, toolchain
gpu = providers.selected
code = toolchain.compile('extern "C" __global__ void k(int* x) { x[threadIdx.x] = 7; }', arch="gfx1100")
providers.select(providers.find("gfx1100").index)
address = gpu().malloc(16)
kernel = gpu().function(gpu().load(code.elf), "k")
gpu().launch(kernel, (1, 1, 1), (4, 1, 1), 0, 0, struct.pack("<Q", address))
got = bytearray(16)
providers.copy_to_host(gpu(), got, address)
print(struct.unpack("<4i", got), gpu().library().binding, "rocm.bindings.hip" in sys.modules)
""",
        GPULAB_BINDING="ctypes",
    )
    assert done.stdout == "(7, 7, 7, 7) ctypes False\n", done.stderr
