"""Modules, functions, launches and faults through hip-python."""

import ctypes

import numpy as np
import pytest

from tests.hip.conftest import code_object, ok


def launch(hip, function, grid, block, arguments, lds=0, stream=None):
    return hip.hipModuleLaunchKernel(function, *grid, *block, lds, stream, None, arguments)[0]


@pytest.fixture
def buffer(hip):
    pointer = ok(hip.hipMalloc(4096))
    ok(hip.hipMemset(pointer, 0, 4096))
    yield pointer
    ok(hip.hipFree(pointer))


def read(hip, pointer, count, dtype):
    got = np.zeros(count, dtype)
    ok(hip.hipMemcpy(got, pointer, got.nbytes, hip.hipMemcpyKind.hipMemcpyDeviceToHost))
    return got


@pytest.mark.parametrize("device", [0, 1])
def test_saxpy_on_both_devices(hip, device):
    ok(hip.hipSetDevice(device))
    module = ok(hip.hipModuleLoadData(code_object(("gfx942", "gfx1100")[device]).elf))
    function = ok(hip.hipModuleGetFunction(module, b"saxpy"))
    n = 1000  # not a multiple of the block
    x, y = np.arange(n, dtype=np.float32), np.linspace(0, 1, n, dtype=np.float32)
    dx, dy = ok(hip.hipMalloc(x.nbytes)), ok(hip.hipMalloc(y.nbytes))
    for pointer, array in ((dx, x), (dy, y)):
        ok(hip.hipMemcpy(pointer, array, array.nbytes, hip.hipMemcpyKind.hipMemcpyHostToDevice))
    arguments = (ctypes.c_int(n), ctypes.c_float(2.5), dx, dy)
    assert int(launch(hip, function, (4, 1, 1), (256, 1, 1), arguments)) == 0
    got = read(hip, dy, n, np.float32)
    # The compiler contracts a * x + y to one fused operation; one rounding more or less.
    np.testing.assert_allclose(got, y + np.float32(2.5) * x, rtol=1.2e-7)
    for pointer in (dx, dy):
        ok(hip.hipFree(pointer))
    ok(hip.hipModuleUnload(module))


def test_arguments_as_an_array_of_addresses(hip, kernels, buffer):
    # kernelParams: one address per argument.
    values = (ctypes.c_int(5), ctypes.c_float(1), ctypes.c_void_p(int(buffer)), ctypes.c_void_p(int(buffer)))
    addresses = (ctypes.c_void_p * 4)(*(ctypes.addressof(value) for value in values))
    ok(hip.hipMemset(buffer, 0, 64))
    code = hip.hipModuleLaunchKernel(kernels("saxpy"), 1, 1, 1, 64, 1, 1, 0, None, ctypes.addressof(addresses), None)[0]
    assert int(code) == 0
    addresses[2] = None
    code = hip.hipModuleLaunchKernel(kernels("saxpy"), 1, 1, 1, 64, 1, 1, 0, None, ctypes.addressof(addresses), None)[0]
    assert code == hip.hipError_t.hipErrorInvalidValue


def test_sizes_reach_the_kernel(hip, kernels, buffer):
    assert int(launch(hip, kernels("sizes"), (3, 2, 1), (8, 1, 4), (buffer,))) == 0
    assert list(read(hip, buffer, 4, np.int32)) == [3, 2, 8, 4]


def test_dynamic_shared_memory(hip, kernels, buffer):
    assert int(launch(hip, kernels("shared_sum"), (1, 1, 1), (128, 1, 1), (buffer,), lds=512)) == 0
    assert read(hip, buffer, 1, np.int32)[0] == 127 * 128 // 2
    assert (
        launch(hip, kernels("shared_sum"), (1, 1, 1), (128, 1, 1), (buffer,), lds=65537)
        == hip.hipError_t.hipErrorInvalidValue
    )


def test_sizes_that_are_refused_at_once(hip, kernels, buffer):
    e = hip.hipError_t
    fill = kernels("fill")
    for grid, block in (
        ((1, 1, 1), (1025, 1, 1)),
        ((1, 1, 1), (32, 32, 2)),
        ((0, 1, 1), (64, 1, 1)),
        ((1, 1, 1), (0, 1, 1)),
    ):
        assert launch(hip, fill, grid, block, (buffer,)) == e.hipErrorInvalidConfiguration
    assert launch(hip, fill, (1, 65537, 1), (1, 1, 1), (buffer,)) == e.hipErrorInvalidConfiguration
    # More threads than the kernel was compiled for, 64.
    assert launch(hip, kernels("small"), (1, 1, 1), (128, 1, 1), (buffer,)) == e.hipErrorLaunchFailure
    assert launch(hip, fill, (1, 1, 1), (64, 1, 1), ()) == e.hipErrorInvalidValue  # no arguments
    ok(hip.hipDeviceSynchronize())


def test_a_fault_is_reported_once_by_the_next_synchronising_call(hip, kernels, buffer):
    e = hip.hipError_t
    ok(hip.hipGetLastError())
    fill = kernels("fill")
    assert int(launch(hip, fill, (5, 1, 1), (256, 1, 1), (buffer,))) == 0  # 1,280 floats into room for 1,024
    assert hip.hipPeekAtLastError()[0] == e.hipSuccess
    assert hip.hipDeviceSynchronize()[0] == e.hipErrorIllegalAddress
    assert hip.hipPeekAtLastError()[0] == e.hipErrorIllegalAddress
    assert hip.hipGetLastError()[0] == e.hipErrorIllegalAddress
    assert hip.hipGetLastError()[0] == e.hipSuccess
    # The device can be used again.
    ok(hip.hipDeviceSynchronize())
    assert int(launch(hip, fill, (4, 1, 1), (256, 1, 1), (buffer,))) == 0
    assert (read(hip, buffer, 1024, np.float32) == 3.0).all()


@pytest.mark.parametrize("call", ["hipMemcpy", "hipStreamSynchronize", "hipFree", "hipEventSynchronize"])
def test_calls_that_report_a_fault(hip, kernels, buffer, call):
    assert int(launch(hip, kernels("fill"), (5, 1, 1), (256, 1, 1), (buffer,))) == 0
    if call == "hipMemcpy":
        host = np.zeros(4, np.uint8)
        code = hip.hipMemcpy(host, buffer, 4, hip.hipMemcpyKind.hipMemcpyDeviceToHost)[0]
    elif call == "hipStreamSynchronize":
        code = hip.hipStreamSynchronize(None)[0]
    elif call == "hipFree":
        code = hip.hipFree(ok(hip.hipMalloc(16)))[0]
    else:
        event = ok(hip.hipEventCreate())
        ok(hip.hipEventRecord(event, None))
        code = hip.hipEventSynchronize(event)[0]
        ok(hip.hipEventDestroy(event))
    assert code == hip.hipError_t.hipErrorIllegalAddress
    ok(hip.hipDeviceSynchronize())


def test_a_kernel_that_never_ends(hip, kernels, buffer):
    from gpulab import providers

    providers.instruments("limit").set_instruction_limit(50_000)
    try:
        assert int(launch(hip, kernels("wait_for"), (1, 1, 1), (64, 1, 1), (buffer,))) == 0
        assert hip.hipDeviceSynchronize()[0] == hip.hipError_t.hipErrorLaunchTimeOut
    finally:
        providers.instruments("limit").set_instruction_limit(None)


@pytest.mark.parametrize("device", [0, 1])
def test_printf_appears_on_standard_output_at_the_next_synchronisation(hip, capsys, device):
    ok(hip.hipSetDevice(device))
    module = ok(hip.hipModuleLoadData(code_object(("gfx942", "gfx1100")[device]).elf))
    function = ok(hip.hipModuleGetFunction(module, b"hello"))
    assert int(launch(hip, function, (1, 1, 1), (3, 1, 1), (ctypes.c_int(3),))) == 0
    assert capsys.readouterr().out == ""
    ok(hip.hipDeviceSynchronize())
    assert capsys.readouterr().out == "thread 0 of 3\nthread 1 of 3\nthread 2 of 3\n"
    ok(hip.hipModuleUnload(module))


def test_globals(hip, kernels, buffer):
    address, size = ok(hip.hipModuleGetGlobal(kernels.module, b"table"))
    assert size == 16
    assert list(read(hip, address, 4, np.int32)) == [10, 20, 30, 40]
    factor, size = ok(hip.hipModuleGetGlobal(kernels.module, b"factor"))
    assert size == 4
    ok(hip.hipMemcpy(factor, np.array([8], np.float32), 4, hip.hipMemcpyKind.hipMemcpyHostToDevice))
    assert int(launch(hip, kernels("fill"), (1, 1, 1), (16, 1, 1), (buffer,))) == 0
    assert (read(hip, buffer, 16, np.float32) == 8).all()
    assert hip.hipModuleGetGlobal(kernels.module, b"none")[0] == hip.hipError_t.hipErrorNotFound


def test_modules_that_cannot_be_loaded(hip, tmp_path):
    e = hip.hipError_t
    assert hip.hipModuleLoadData(b"no code object, just text, long enough to look at")[0] == e.hipErrorInvalidImage
    assert hip.hipModuleLoadData(None)[0] == e.hipErrorInvalidValue
    assert hip.hipModuleLoadData(code_object("gfx1100").elf)[0] == e.hipErrorNoBinaryForGpu
    damaged = bytearray(code_object("gfx942").elf)
    damaged[40:48] = b"\xff" * 8  # where the section table is
    assert hip.hipModuleLoadData(damaged)[0] == e.hipErrorInvalidImage
    assert hip.hipModuleLoad(str(tmp_path / "missing").encode())[0] == e.hipErrorFileNotFound


def test_a_module_from_a_file_and_from_an_offload_bundle(hip, tmp_path):
    import struct

    images = {f"hip-amdgcn-amd-amdhsa--{arch}": code_object(arch).elf for arch in ("gfx1100", "gfx942")}
    images = {"host-x86_64-unknown-linux--": b"", **images}
    head = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(images))
    offset, entries, body = 4096, b"", b""
    for target, image in images.items():
        entries += struct.pack("<QQQ", offset + len(body), len(image), len(target)) + target.encode()
        body += image
    bundle = (head + entries).ljust(offset, b"\0") + body
    file = tmp_path / "kernels.hipfb"
    file.write_bytes(bundle)
    for module in (ok(hip.hipModuleLoadData(bundle)), ok(hip.hipModuleLoad(str(file).encode()))):
        ok(hip.hipModuleGetFunction(module, b"saxpy"))
        ok(hip.hipModuleUnload(module))


def test_handles_that_are_gone(hip):
    e = hip.hipError_t
    module = ok(hip.hipModuleLoadData(code_object("gfx942").elf))
    function = ok(hip.hipModuleGetFunction(module, b"fill"))
    assert hip.hipModuleGetFunction(module, b"nothing")[0] == e.hipErrorNotFound
    address, kernel = int(module), int(function)
    ok(hip.hipModuleUnload(module))
    assert hip.hipModuleUnload(address)[0] == e.hipErrorInvalidHandle
    assert launch(hip, kernel, (1, 1, 1), (1, 1, 1), None) == e.hipErrorInvalidHandle


def test_function_attributes_and_occupancy(hip, kernels):
    attributes = hip.hipFunction_attribute
    small = kernels("small")
    assert ok(hip.hipFuncGetAttribute(attributes.HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, small)) == 64
    assert ok(hip.hipFuncGetAttribute(attributes.HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, small)) == 0
    registers = ok(hip.hipFuncGetAttribute(attributes.HIP_FUNC_ATTRIBUTE_NUM_REGS, kernels("saxpy")))
    assert 1 <= registers <= 64
    # At most 64 registers: 8 waves on each of 4 SIMDs, so 8 blocks of 4 waves; LDS lets 65536 / 20000 = 3 in.
    occupancy = hip.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor
    assert ok(occupancy(kernels("saxpy"), 256, 0)) == 8
    assert ok(occupancy(kernels("saxpy"), 256, 20000)) == 3
    assert ok(hip.hipModuleOccupancyMaxPotentialBlockSize(kernels("saxpy"), 0, 0)) == (304 * 2, 1024)
    assert hip.hipFuncGetAttribute(attributes.HIP_FUNC_ATTRIBUTE_MAX, small)[0] == hip.hipError_t.hipErrorInvalidValue


def test_extended_launch_counts_threads_and_records_events(hip, kernels, buffer):
    from gpulab.virtual_gpu import libraries

    library = ctypes.PyDLL(str(libraries.path("hip")))
    start, stop = ok(hip.hipEventCreate()), ok(hip.hipEventCreate())
    argument = ctypes.c_void_p(int(buffer))
    parameters = (ctypes.c_void_p * 1)(ctypes.addressof(argument))
    size, pointer, unsigned = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_uint32
    library.hipExtModuleLaunchKernel.argtypes = [pointer, *[unsigned] * 6, size, *[pointer] * 5, unsigned]
    fill = int(kernels("fill"))
    assert (
        library.hipExtModuleLaunchKernel(
            fill, 512, 1, 1, 256, 1, 1, 0, None, parameters, None, int(start), int(stop), 0
        )
        == 0
    )
    assert ok(hip.hipEventElapsedTime(start, stop)) > 0
    assert (read(hip, buffer, 512, np.float32) == 3.0).all()
    assert library.hipExtModuleLaunchKernel(fill, 500, 1, 1, 256, 1, 1, 0, None, parameters, None, None, None, 0) == 9
    for event in (start, stop):
        ok(hip.hipEventDestroy(event))


COOPERATIVE = """
#include <hip/hip_cooperative_groups.h>
extern "C" __global__ void turn(int add, int* x) {
  auto grid = cooperative_groups::this_grid();
  int next = x[(grid.thread_rank() + 1) % grid.size()];
  grid.sync();
  x[grid.thread_rank()] = next + add;
}
"""


@pytest.fixture
def turn(hip):
    from gpulab import toolchain

    module = ok(hip.hipModuleLoadData(toolchain.compile(COOPERATIVE, arch="gfx942").elf))
    yield ok(hip.hipModuleGetFunction(module, b"turn"))
    ok(hip.hipModuleUnload(module))


def addresses_of(buffer):
    values = (ctypes.c_int(100), ctypes.c_void_p(int(buffer)))
    return (ctypes.c_void_p * 2)(*(ctypes.addressof(value) for value in values)), values


def raw(name, *types):
    """A function of the library by its C symbol: hip-python fills in host programs' addresses of kernels itself."""
    from gpulab.virtual_gpu import libraries

    function = getattr(ctypes.PyDLL(str(libraries.path("hip"))), name)
    function.argtypes = types
    return function


class Dim3(ctypes.Structure):
    _fields_ = [(axis, ctypes.c_uint) for axis in "xyz"]


def test_cooperative_launches(hip, turn, buffer):
    e = hip.hipError_t
    parameters, kept = addresses_of(buffer)
    address = ctypes.addressof(parameters)
    a = hip.hipDeviceAttribute_t
    assert ok(hip.hipDeviceGetAttribute(a.hipDeviceAttributeCooperativeLaunch, 0)) == 1
    assert ok(hip.hipDeviceGetAttribute(a.hipDeviceAttributeCooperativeMultiDeviceLaunch, 0)) == 0

    def expect(code):
        assert code == 0
        ok(hip.hipDeviceSynchronize())
        assert read(hip, buffer, 1024, np.int32).tolist() == [*(i + 101 for i in range(1023)), 100]
        ok(hip.hipMemcpy(buffer, np.arange(1024, dtype=np.int32), 4096, hip.hipMemcpyKind.hipMemcpyHostToDevice))

    ok(hip.hipMemcpy(buffer, np.arange(1024, dtype=np.int32), 4096, hip.hipMemcpyKind.hipMemcpyHostToDevice))
    expect(int(hip.hipModuleLaunchCooperativeKernel(turn, 16, 1, 1, 64, 1, 1, 0, None, address)[0]))
    p, z, i = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    launch = raw("hipLaunchCooperativeKernel", p, Dim3, Dim3, p, ctypes.c_uint, p)
    expect(launch(int(turn), Dim3(4, 2, 2), Dim3(16, 4, 1), address, 0, None))
    plain = raw("hipLaunchKernel", p, Dim3, Dim3, p, z, p)
    assert plain(int(turn), Dim3(16, 1, 1), Dim3(64, 1, 1), address, 0, None) == 0
    assert hip.hipDeviceSynchronize()[0] == e.hipErrorIllegalAddress  # a grid's barrier in an ordinary launch

    class Attribute(ctypes.Structure):
        _fields_ = [("id", ctypes.c_uint), ("padding", ctypes.c_uint), ("value", ctypes.c_uint * 16)]

    class Configuration(ctypes.Structure):
        _fields_ = [("grid", Dim3), ("block", Dim3), ("lds", z), ("stream", p), ("attributes", p), ("count", i)]

    attribute = Attribute(2)  # hipLaunchAttributeCooperative
    attribute.value[0] = 1
    configuration = Configuration(Dim3(16, 1, 1), Dim3(64, 1, 1), 0, None, ctypes.addressof(attribute), 1)
    with_attributes = raw("hipLaunchKernelExC", p, p, p)
    expect(with_attributes(ctypes.addressof(configuration), int(turn), address))
    attribute.id = 8  # a priority
    assert with_attributes(ctypes.addressof(configuration), int(turn), address) == e.hipErrorNotSupported

    # As many as HIP's occupancy says fit, and one more; the same block of 64.
    each = ok(hip.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(turn, 64, 0))
    most = each * ok(hip.hipDeviceGetAttribute(a.hipDeviceAttributeMultiprocessorCount, 0))
    too_large = hip.hipModuleLaunchCooperativeKernel(turn, most + 1, 1, 1, 64, 1, 1, 0, None, address)[0]
    assert too_large == e.hipErrorCooperativeLaunchTooLarge
    several = raw("hipLaunchCooperativeKernelMultiDevice", p, i, ctypes.c_uint)
    assert several(address, 1, 0) == e.hipErrorLaunchFailure
    del kept
