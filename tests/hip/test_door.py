"""The door's own functions, with hip-python's binding and with ctypes."""

import struct

import numpy as np
import pytest

from gpulab import errors
from gpulab import hip as door
from gpulab.hip import library
from gpulab.virtual_gpu import abi
from tests.hip.conftest import code_object, run_python


@pytest.fixture(params=["hip-python", "ctypes"])
def binding(request, monkeypatch):
    """Both bindings in turn; device 0 selected."""
    from gpulab.hip.binding import CtypesBinding, HipPythonBinding

    found = (
        HipPythonBinding()
        if request.param == "hip-python"
        else CtypesBinding(str(abi.library("amdhip64")), abi.PROPERTIES, in_process=True)
    )
    library.primary()
    monkeypatch.setattr(library, "_primary", found)
    door.select(0)
    yield found
    door.select(0)


@pytest.fixture
def module(binding):
    handle = door.load_module(code_object("gfx942").elf)
    yield handle
    door.unload_module(handle)


def test_devices(binding):
    first, second = door.devices()
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
    assert door.find(wanted).index == index


@pytest.mark.parametrize("wanted", [5, -1, "gfx90a", "virtual:gfx90a", ""])
def test_a_device_that_is_not_there(binding, wanted):
    with pytest.raises(errors.DeviceNotFound, match="gfx1100"):
        door.find(wanted)


def test_selecting(binding):
    door.select(1)
    assert door.current() == 1
    assert door.is_virtual()
    with pytest.raises(errors.DeviceNotFound):
        door.select(2)


def test_copies_of_any_buffer(binding):
    address = door.malloc(16)
    for given in (b"0123456789abcdef", bytearray(b"fedcba9876543210"), np.arange(4, dtype=np.int32)):
        door.copy_to_device(address, given)
        got = bytearray(16)
        door.copy_to_host(got, address)
        assert bytes(got) == bytes(given)
    other = door.malloc(16)
    door.copy_device(other, address, 16)
    matrix = np.zeros((2, 2), np.int32)
    door.copy_to_host(matrix, other)
    assert matrix.tolist() == [[0, 1], [2, 3]]
    with pytest.raises(errors.DeviceMemoryError, match="contiguous"):
        door.copy_to_device(address, np.zeros((4, 4), np.int8)[:, 1])
    with pytest.raises(errors.DeviceMemoryError, match="read-only"):
        door.copy_to_host(b"0123", address)
    door.copy_to_host(bytearray(), address)  # nothing to copy
    door.free(address)
    door.free(other)


def test_copies_that_do_not_fit_say_so(binding):
    address = door.malloc(16)
    with pytest.raises(errors.HipError, match="invalid argument") as caught:
        door.copy_to_device(address, bytes(17))
    assert "17 bytes" in str(caught.value.__cause__)
    door.free(address)


def test_free_twice(binding):
    address = door.malloc(16)
    door.free(address)
    with pytest.raises(errors.DeviceMemoryError, match="was freed"):
        door.free(address)
    door.free(0)


def test_a_fault_is_not_lost_when_an_array_is_freed(binding, module):
    address, other = door.malloc(64), door.malloc(64)
    door.launch(door.get_function(module, "fill"), (1, 1, 1), (64, 1, 1), 0, 0, struct.pack("<Q", address))
    door.free(other)
    with pytest.raises(errors.MemoryFault):
        door.synchronize()
    door.free(address)


def test_an_instruction_that_the_machine_lacks(binding, monkeypatch):
    from gpulab.virtual_gpu import runtime

    def refuse(program):
        raise errors.UnsupportedInstruction("v_what_f32 is not known")

    monkeypatch.setattr(runtime.instance().devices[0].machine, "load", refuse)
    with pytest.raises(errors.UnsupportedInstruction, match="v_what_f32"):
        door.load_module(code_object("gfx942").elf)


def test_an_old_exception_is_not_taken_for_the_cause(binding):
    door.malloc(0)
    with pytest.raises(errors.HipError) as first:
        door.copy_to_device(1, b"x")  # with a reason
    binding.call("hipMemcpy", 70_000, 1, 8, 1)  # fails, too, and nobody asks why
    with pytest.raises(errors.HipError) as second:
        door.stream_destroy(0)
    assert second.value.__cause__ is None
    assert first.value.name == "hipErrorInvalidValue"


def test_hip_pythons_results_are_checked(binding):
    from hip import hip, hiprtc

    assert door.check(hip.hipSetDevice(0)) is None
    assert door.check(hip.hipGetDeviceCount()) == 2
    assert len(door.check(hip.hipMemGetInfo())) == 2
    with pytest.raises(errors.HipError, match="hipSetDevice failed: invalid device ordinal"):
        door.check(hip.hipSetDevice(5), "hipSetDevice")
    program = door.check(hiprtc.hiprtcCreateProgram(b"x", b"x.hip", 0, None, None))
    with pytest.raises(errors.HipError, match="HIPRTC_ERROR_COMPILATION"):
        door.check(hiprtc.hiprtcCompileProgram(program, 0, None))


def test_a_trace(binding, module):
    address = door.malloc(4096)
    launch, trace = door.launch_traced(
        door.get_function(module, "fill"), (4, 1, 1), (256, 1, 1), 0, struct.pack("<Q", address), (1, 0, 0), 2
    )
    assert (launch.kernel, launch.waves) == ("fill", 16)
    assert (trace.workgroup, trace.wave, trace.wave_size) == ((1, 0, 0), 2, 64)
    assert trace.steps
    got = np.zeros(1024, np.float32)
    door.copy_to_host(got, address)
    assert (got == 3).all()
    door.free(address)


def test_out_of_memory(binding):
    with pytest.raises(errors.DeviceMemoryError, match="4 GiB"):
        door.malloc(5 << 30)


def test_launch_and_fault(binding, module):
    fill = door.get_function(module, "fill")
    address = door.malloc(4 * 1000)
    door.launch(fill, (3, 1, 1), (256, 1, 1), 0, 0, struct.pack("<Q", address))
    door.synchronize()
    door.launch(fill, (4, 1, 1), (256, 1, 1), 0, 0, struct.pack("<Q", address))
    with pytest.raises(errors.MemoryFault) as caught:
        door.synchronize()
    fault = caught.value.fault
    assert (fault.kernel, fault.kind, fault.access, fault.bytes) == ("fill", "out of bounds", "write", 4)
    assert fault.where.line == 9
    assert fault.where.text.startswith('extern "C" __global__ void fill')
    # Element 1,000 is the first beyond the array: block 3, thread 232; other lanes of its wave follow.
    assert fault.workgroup == (3, 0, 0)
    assert fault.thread == (232, 0, 0)
    assert fault.address == address + 4000
    assert (fault.nearest.size, fault.nearest.relation, fault.nearest.distance) == (4000, "after", 0)
    door.synchronize()
    door.free(address)


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
        door.launch(door.get_function(module, "fill"), grid, block, lds, 0, bytes(8))


def test_too_few_arguments(binding, module):
    with pytest.raises(errors.LaunchLimitError, match="takes 24 bytes of arguments; 8 were given"):
        door.launch(door.get_function(module, "saxpy"), (1, 1, 1), (64, 1, 1), 0, 0, bytes(8))


def test_recording(binding, module):
    address = door.malloc(4096)
    fill = door.get_function(module, "fill")
    with door.recording() as records:
        door.launch(fill, (4, 1, 1), (256, 1, 1), 0, 0, struct.pack("<Q", address))
        door.launch(fill, (1, 1, 1), (64, 1, 1), 0, 0, struct.pack("<Q", address))
    door.launch(fill, (1, 1, 1), (64, 1, 1), 0, 0, struct.pack("<Q", address))
    assert [(r.kernel, r.grid, r.waves) for r in records] == [("fill", (4, 1, 1), 16), ("fill", (1, 1, 1), 1)]
    assert records[0].counters["SQ_WAVES"] == 16
    assert records[0].lines
    assert records[0].time_is_modelled
    door.free(address)


def test_attributes_occupancy_and_globals(binding, module):
    found = door.function_attributes(door.get_function(module, "small"))
    assert found["max_threads_per_block"] == 64
    assert found["lds_bytes"] == found["private_bytes"] == 0
    assert {"vgprs", "sgprs", "agprs", "kernarg_bytes", "max_dynamic_lds_bytes"} <= set(found)
    assert door.occupancy(door.get_function(module, "saxpy"), 256, 32768) == 2
    address, size = door.get_global(module, "table")
    got = np.zeros(4, np.int32)
    door.copy_to_host(got, address)
    assert (size, got.tolist()) == (16, [10, 20, 30, 40])
    with pytest.raises(errors.HipError, match="hipErrorNotFound") as caught:
        door.get_function(module, "nothing")
    assert "saxpy" in str(caught.value.__cause__)


def test_occupancy_by_resource(binding, module):
    found = door.hardware_occupancy(door.get_function(module, "saxpy"), 64, 13_000)
    # 13,000 bytes take 26 granules of 512: 4 workgroups in 64 KiB. HIP's formula divides without the granule.
    assert (found.blocks, found.limit, found.api_blocks) == (4, "LDS", 5)
    assert door.occupancy(door.get_function(module, "saxpy"), 64, 13_000) == 5


def test_streams_and_events(binding, module):
    address = door.malloc(4096)
    fill, stream = door.get_function(module, "fill"), door.stream_create(non_blocking=True)
    start, stop = door.event_create(), door.event_create()
    door.event_record(start, stream)
    door.launch(fill, (4, 1, 1), (256, 1, 1), 0, stream, struct.pack("<Q", address))
    door.memset(address, 0, 4, stream)
    door.event_record(stop, stream)
    door.stream_synchronize(stream)
    assert door.stream_done(stream)
    assert door.event_done(stop)
    assert door.event_elapsed_ms(start, stop) > 0
    got = np.ones(2, np.float32)
    door.copy_to_host(got, address, stream)
    assert got.tolist() == [0, 3]
    for event in (start, stop):
        door.event_destroy(event)
    door.stream_destroy(stream)
    door.free(address)


def test_host_and_managed_memory(binding):
    free, total = door.mem_info()
    assert 0 < free <= total
    pinned, shared = door.malloc_host(64), door.malloc_managed(64)
    assert door.find_allocation(pinned + 10).name == "pinned host memory"
    assert door.find_allocation(shared).relation == "inside"
    door.free_host(pinned)
    door.free(shared)


def test_library_information(binding):
    info = door.library_info()
    assert info["library"] == "virtual"
    assert info["binding"] == binding.kind
    assert info["environment"] == f"ROCM_PATH={abi.rocm_path()}"
    assert info["path"].endswith("libamdhip64.so")
    assert info["hip_version"] == "7.15.26333"


def test_the_whole_way_with_ctypes_in_a_fresh_process():
    done = run_python(
        """
import struct, sys
from gpulab import hip as door, toolchain
code = toolchain.compile('extern "C" __global__ void k(int* x) { x[threadIdx.x] = 7; }', arch="gfx1100")
door.select(door.find("gfx1100").index)
address = door.malloc(16)
kernel = door.get_function(door.load_module(code.elf), "k")
door.launch(kernel, (1, 1, 1), (4, 1, 1), 0, 0, struct.pack("<Q", address))
got = bytearray(16)
door.copy_to_host(got, address)
print(struct.unpack("<4i", got), door.library_info()["binding"], "rocm.bindings.hip" in sys.modules)
""",
        GPULAB_BINDING="ctypes",
    )
    assert done.stdout == "(7, 7, 7, 7) ctypes False\n", done.stderr
