"""What a host program registers when it starts: kernels, variables and managed variables by their host addresses.

The layout of the wrapper (magic "HIPF", version, address of the bundle) is Clang's: CGCUDANV.cpp.
"""

import ctypes
import struct

import pytest

from gpulab.virtual_gpu.machine.arena import Arena
from gpulab.virtual_gpu.runtime.codes import Failure
from gpulab.virtual_gpu.runtime.runtime import Runtime
from tests.hip import fake_machine
from tests.hip.conftest import code_object

KERNEL, TABLE, MISSING, MANAGED = 0x1110, 0x2220, 0x3330, 0x4440


@pytest.fixture
def runtime():
    return Runtime("gfx942,gfx1100", Arena(), fake_machine.FakeDevice)


def bundle_of(archs):
    entries, body, offset = b"", b"", 4096
    for arch in archs:
        image = code_object(arch).elf
        target = f"hipv4-amdgcn-amd-amdhsa--{arch}".encode()
        entries += struct.pack("<QQQ", offset + len(body), len(image), len(target)) + target
        body += image
    head = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(archs)) + entries
    return ctypes.create_string_buffer(head.ljust(offset, b"\0") + body)


@pytest.fixture
def registered(runtime):
    """(handle, wrapper) of a program with code for both devices."""
    bundle = bundle_of(("gfx942", "gfx1100"))
    wrapper = ctypes.create_string_buffer(struct.pack("<IIQQ", 0x48495046, 1, ctypes.addressof(bundle), 0))
    handle = runtime.linked.register(ctypes.addressof(wrapper))
    yield handle, wrapper
    del bundle


def code_of(call, *arguments):
    with pytest.raises(Failure) as caught:
        call(*arguments)
    return caught.value.code


def test_wrappers(runtime, registered):
    handle, wrapper = registered
    assert handle
    assert runtime.linked.register(ctypes.addressof(wrapper)) != handle
    good = wrapper.raw
    for bad in (b"HIPX" + good[4:], good[:8] + bytes(8)):
        text = ctypes.create_string_buffer(bad)
        assert code_of(runtime.linked.register, ctypes.addressof(text)) == 200


def test_kernels_by_their_host_addresses(runtime, registered):
    linked, handle = runtime.linked, registered[0]
    assert code_of(linked.function, KERNEL) == 98
    assert code_of(linked.add_kernel, handle + 8, KERNEL, "fill") == 1
    linked.add_kernel(handle, KERNEL, "fill")
    first = linked.function(KERNEL)
    assert (first.descriptor.name, first.device) == ("fill", runtime.devices[0])
    assert linked.function(KERNEL) is first
    runtime.set_device(1)
    second = linked.function(KERNEL)
    assert (second.descriptor.name, second.device) == ("fill", runtime.devices[1])
    runtime.set_device(0)
    assert linked.function(KERNEL) is first
    linked.add_kernel(handle, KERNEL + 8, "saxpy")
    assert linked.function(KERNEL + 8).module is first.module  # loaded once
    runtime.modules.unload(first.module.handle)  # as hipDeviceReset does
    assert linked.function(KERNEL) is not first
    assert linked.function(KERNEL).device is runtime.devices[0]
    assert code_of(linked.function, KERNEL + 1) == 98  # hipErrorInvalidDeviceFunction


def test_variables_by_their_host_addresses(runtime, registered):
    linked, handle = runtime.linked, registered[0]
    assert code_of(linked.add_variable, handle + 8, TABLE, "table") == 1
    linked.add_variable(handle, TABLE, "table")
    linked.add_variable(handle, MISSING, "nothing")
    address, size = linked.variable(TABLE)
    assert size == 16
    assert list((ctypes.c_int * 4).from_address(address)) == [10, 20, 30, 40]
    runtime.set_device(1)
    assert linked.variable(TABLE)[0] != address
    assert code_of(linked.variable, MISSING) == 13  # hipErrorInvalidSymbol
    assert code_of(linked.variable, TABLE + 1) == 13


def test_managed_variables_have_one_memory_for_all(runtime, registered, monkeypatch):
    linked, handle = runtime.linked, registered[0]
    initial = ctypes.create_string_buffer(b"0123456789", 10)
    pointer, other = ctypes.c_uint64(), ctypes.c_uint64()
    linked.add_managed(handle, ctypes.addressof(pointer), ctypes.addressof(initial), "table", 10)
    linked.add_managed(handle, ctypes.addressof(other), 0, "elsewhere", 0)
    assert ctypes.string_at(pointer.value, 10) == b"0123456789"
    assert runtime.memory.blocks[pointer.value].kind == "managed"
    assert runtime.memory.blocks[pointer.value].flags == 1
    assert runtime.memory.blocks[other.value].size >= 1
    for device in (0, 1):
        runtime.set_device(device)
        assert linked.variable(ctypes.addressof(pointer)) == (pointer.value, 10)
        assert linked.variable(ctypes.addressof(other)) == (other.value, 0)
    # The device's own symbol of that name is a pointer to it.
    load = fake_machine.FakeDevice.load

    def with_addresses(self, program):
        module = load(self, program)
        module.addresses = {name: address for name, (address, _) in module.symbols.items()}
        return module

    monkeypatch.setattr(fake_machine.FakeDevice, "load", with_addresses)
    linked.add_kernel(handle, KERNEL, "fill")
    module = linked.function(KERNEL).module
    assert ctypes.c_uint64.from_address(module.loaded.symbols["table"][0]).value == pointer.value


def test_a_program_that_ends_takes_its_own_along(runtime, registered):
    linked, (handle, wrapper) = runtime.linked, registered
    other = linked.register(ctypes.addressof(wrapper))
    linked.add_kernel(handle, KERNEL, "fill")
    linked.add_variable(handle, TABLE, "table")
    linked.add_kernel(other, KERNEL + 8, "fill")
    first, second = linked.function(KERNEL), linked.function(KERNEL + 8)
    linked.unregister(handle)
    linked.unregister(handle)
    assert not runtime.modules.is_loaded(first.module)
    assert runtime.modules.is_loaded(second.module)
    assert code_of(linked.function, KERNEL) == 98
    assert code_of(linked.variable, TABLE) == 13
    assert linked.function(KERNEL + 8) is second
    runtime.reset(runtime.current)
    linked.unregister(other)  # its module is gone already
    assert code_of(linked.function, KERNEL + 8) == 98
