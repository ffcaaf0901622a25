"""Modules, kernels, launches and occupancy from C: sizes that are refused, attributes, symbols of linked programs.

Codes and enumerations: HIP's API reference and hip_runtime_api.h. The layout of ELF files: System V ABI, chapter 4.
"""

import ctypes
import functools
import re
import struct
import zlib

import pytest
import zstandard

from gpulab import architectures
from gpulab.virtual_gpu import runtime as runtimes
from gpulab.virtual_gpu.machine.arena import Arena
from gpulab.virtual_gpu.runtime import images, structures
from gpulab.virtual_gpu.runtime.codes import Failure
from gpulab.virtual_gpu.runtime.runtime import Runtime
from tests.hip import fake_machine
from tests.hip.conftest import SOURCE, code_object
from tests.hip.test_linked import bundle_of

byref, u64, dim3 = ctypes.byref, ctypes.c_uint64, structures.Dim3
MORE = (
    SOURCE
    + """
extern "C" __global__ void tile(int* out) {
  __shared__ int part[1000];
  for (int i = threadIdx.x; i < 1000; i += blockDim.x) part[i] = i;
  __syncthreads();
  out[threadIdx.x] = part[999 - threadIdx.x];
}
"""
)

PLAIN = 'extern "C" __global__ void quiet(float* y) { y[threadIdx.x] = 1; }'


@functools.cache
def compiled():
    from gpulab import toolchain

    return toolchain.compile(MORE, arch="gfx942", name="cell.hip")


@pytest.fixture
def module(call):
    image = compiled().elf
    handle = call.address("hipModuleLoadData", image)
    yield handle
    assert call.hipModuleUnload(handle) == 0


@pytest.fixture
def kernel(call, module):
    return lambda name: call.address("hipModuleGetFunction", module, name.encode())


@pytest.fixture
def memory(call):
    address = call.address("hipMalloc", 4096)
    assert call.hipMemset(address, 0, 4096) == 0
    yield address
    call.hipDeviceSynchronize()
    assert call.hipFree(address) == 0


def read(call, address, count, kind=ctypes.c_int):
    got = (kind * count)()
    assert call.hipMemcpy(got, address, ctypes.sizeof(got), 2) == 0
    return list(got)


def code_of(call, *arguments):
    with pytest.raises(Failure) as caught:
        call(*arguments)
    return caught.value.code


# Modules


def test_names_for_loading(call):
    image = compiled().elf
    for name, more in (
        ("hipModuleLoadData", ()),
        ("hipModuleLoadDataEx", (0, None, None)),
        ("hipModuleLoadFatBinary", ()),
    ):
        handle = call.address(name, image, *more)
        assert call.number("hipModuleGetFunctionCount", handle) == len(re.findall("__global__", MORE))
        assert call.hipModuleUnload(handle) == 0
        assert call.hipModuleGetFunctionCount(byref(ctypes.c_int()), handle) == 400


def test_addresses_and_sizes_of_variables(call, module):
    place, size = u64(7), u64(7)
    assert call.hipModuleGetGlobal(byref(place), None, module, b"table") == 0
    assert call.hipModuleGetGlobal(None, byref(size), module, b"table") == 0
    assert size.value == 16
    assert read(call, place.value, 4) == [10, 20, 30, 40]
    assert call.hipModuleGetGlobal(byref(place), byref(size), module, b"nothing") == 500
    assert call.hipModuleGetFunction(byref(place), module, None) == 1


def elf_image(sections=(), segments=(), section_bytes=64, segment_bytes=56, kind=2, order=1):
    """An ELF header with tables behind it: sections as (type, offset, size), segments as (offset, size)."""
    first = 64
    second = first + len(sections) * section_bytes
    head = struct.pack("<4sBB10x", b"\x7fELF", kind, order) + struct.pack(
        "<HHIQQQIHHHHHH", 3, 224, 1, 0, second if segments else 0, first if sections else 0, 0, 64, segment_bytes,
        len(segments), section_bytes, len(sections), 0,
    )  # fmt: skip
    body = b"".join(
        struct.pack("<IIQQQQIIQQ", 0, type_, 0, 0, offset, size, 0, 0, 1, 0).ljust(section_bytes, b"\0")
        for type_, offset, size in sections
    )
    body += b"".join(
        struct.pack("<IIQQQQQQ", 1, 4, offset, 0, 0, size, 9999, 1).ljust(segment_bytes, b"\0")
        for offset, size in segments
    )
    return head + body


@pytest.mark.parametrize(
    ("image", "size"),
    [
        (elf_image(), 64),
        (elf_image([(1, 100, 50)]), 150),
        (elf_image([(1, 0, 10)]), 128),
        (elf_image([(1, 100, 50), (3, 700, 3), (1, 200, 1)]), 703),
        (elf_image([(8, 1 << 40, 1 << 40)]), 128),  # SHT_NOBITS has no bytes in the file
        (elf_image([(1, 100, 50)], [(300, 33), (200, 1)]), 333),
        (elf_image([], [(0, 10)]), 120),
        (elf_image([(1, 100, 50)], [(1, 1)], 80, 60), 64 + 80 + 60),
        (elf_image([(1, 0, 1 << 30)]), None),  # the image's end is not looked at here: only its size
        (elf_image([(1, 1, 1 << 30)]), 0),
        (elf_image([(1, 100, 50)], section_bytes=63), 0),
        (elf_image([], [(1, 1)], segment_bytes=55), 0),
        (elf_image(kind=1), 0),
        (elf_image(order=2), 0),
    ],
)
def test_the_size_of_an_elf_file_is_told_by_its_tables(image, size):
    memory = ctypes.create_string_buffer(image.ljust(4096, b"~"), 4096)
    if size is None:
        assert images._elf_bytes(ctypes.addressof(memory)) == 1 << 30
    elif size:
        assert images.image_at(ctypes.addressof(memory)) == memory.raw[:size]
    else:
        assert code_of(images.image_at, ctypes.addressof(memory)) == 200


def test_the_whole_image_is_found_in_memory():
    bundle = bundle_of(("gfx942", "gfx1100")).raw[:-1]
    for image in (code_object("gfx942").elf, bundle):
        memory = ctypes.create_string_buffer(image + b"~" * 100)
        assert images.image_at(ctypes.addressof(memory)) == image
    assert images.from_bundle(bundle, architectures.get("gfx1100")) == code_object("gfx1100").elf
    assert images.from_bundle(bundle, architectures.get("gfx942")) == code_object("gfx942").elf
    assert code_of(images.from_bundle, bundle, architectures.get("gfx90a")) == 209
    assert code_of(images.from_bundle, bundle[:-1], architectures.get("gfx1100")) == 200
    with pytest.raises(Failure, match="code for gfx942, gfx1100, not for gfx90a"):
        images.from_bundle(bundle, architectures.get("gfx90a"))


def bundle_text(*entries, count=None):
    text = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(entries) if count is None else count)
    for offset, size, target in entries:
        text += struct.pack("<QQQ", offset, size, len(target)) + target
    return text.ljust(8192, b"~")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (bundle_text((5000, 7, b"hip-amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-")), 5007),
        (bundle_text((5000, 7, b"x--gfx942"), (4500, 600, b"host-x86_64--")), 5100),
        (bundle_text((5000, 7, b"h" * 256), (6000, 1, b"x--gfx942")), 6001),
        (bundle_text((5000, 7, b"h" * 257), (6000, 1, b"x--gfx942")), 0),
        (bundle_text(*[(5000, 7, b"x--gfx942")] * 64), 5007),
        (bundle_text(*[(5000, 7, b"x--gfx942")] * 65), 0),
        (bundle_text(), 0),
        (b"__CLANG_OFFLOAD_BUNDL?__".ljust(8192, b"~"), 0),
    ],
)
def test_the_size_of_a_bundle_is_told_by_its_entries(text, found):
    memory = ctypes.create_string_buffer(text, len(text))
    if not found:
        assert code_of(images.image_at, ctypes.addressof(memory)) == 200
    else:
        assert len(images.image_at(ctypes.addressof(memory))) == found
        assert len(images.from_bundle(text, architectures.get("gfx942"))) in (7, 1)


def compressed_text(version, method, body, size, whole=None):
    """Clang Offload Bundler, "Compressed Offload Bundle Format": magic, version, method, sizes, hash."""
    forms = {1: "<4sHHIQ", 2: "<4sHHIIQ", 3: "<4sHHQQQ"}
    form = forms.get(version, forms[2])
    sizes = (size,) if version == 1 else (struct.calcsize(form) + len(body) if whole is None else whole, size)
    return struct.pack(form, b"CCOB", version, method, *sizes, 0) + body


BUNDLE = bundle_text((5000, 7, b"hipv4-amdgcn-amd-amdhsa--gfx942"))


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize(("method", "packed"), [(0, zlib.compress(BUNDLE)), (1, zstandard.compress(BUNDLE))])
def test_compressed_bundles(version, method, packed):
    text = compressed_text(version, method, packed, len(BUNDLE))
    device = architectures.get("gfx942")
    assert images.is_bundle(text)
    assert images.from_bundle(text, device) == b"~" * 7
    memory = ctypes.create_string_buffer(text + b"~" * 64)
    if version > 1:
        assert images.image_at(ctypes.addressof(memory)) == text
    else:
        assert code_of(images.image_at, ctypes.addressof(memory)) == 200
    for wrong in (
        compressed_text(version, method, packed[:-20], len(BUNDLE)),
        compressed_text(version, method, packed, len(BUNDLE) - 1),
        compressed_text(version, method, packed, len(BUNDLE) + 1),
        compressed_text(version, method, packed, (1 << 30) + 1),
        compressed_text(version, 2, packed, len(BUNDLE)),
        compressed_text(version, 1 - method, packed, len(BUNDLE)),
        compressed_text(4, method, packed, len(BUNDLE)),
        text[:12],
    ):
        assert code_of(images.from_bundle, wrong, device) == 200


@pytest.mark.parametrize(
    ("targets", "chosen"),
    [
        (["gfx942"], 0),
        (["gfx942:xnack+", "gfx942"], 1),
        (["gfx942", "gfx942:sramecc+:xnack-", "gfx942:xnack-"], 1),
        (["gfx942:sramecc-"], None),
        (["gfx942:xnack+"], None),
        (["gfx1100", "gfx9-generic"], None),
    ],
)
def test_the_code_object_that_fits_the_device_best(targets, chosen):
    """An MI300X has ECC of its memory (sramecc+), and its pages are not migrated (xnack-)."""
    entries = [(5000 + n, 1, b"hipv4-amdgcn-amd-amdhsa--" + each.encode()) for n, each in enumerate(targets)]
    text = bundle_text(*entries)
    text = text[:5000] + bytes(range(len(targets))) + text[5000 + len(targets) :]
    device = architectures.get("gfx942")
    if chosen is None:
        assert code_of(images.from_bundle, text, device) == 209
    else:
        assert images.from_bundle(text, device) == bytes([chosen])


# Kernels


def described(name, key):
    """A number of a kernel in the code object's metadata, as LLVM wrote it."""
    text = next(
        part for part in compiled().assembly.split("  - .agpr_count") if re.search(rf"\.name:\s+{name}\n", part)
    )
    return int(re.search(rf"\.{key}:\s+(\d+)", text)[1])


def test_attributes_of_kernels(call, kernel):
    a = ctypes.c_int()
    for name in ("tile", "saxpy", "small"):
        f = kernel(name)
        lds = described(name, "group_segment_fixed_size")
        assert lds == (4000 if name == "tile" else 0)
        most = 64 if name == "small" else 1024
        registers = described(name, "vgpr_count")
        stack = described(name, "private_segment_fixed_size")
        # HIP_FUNC_ATTRIBUTE_: most threads, LDS, constants, stack, registers, versions (9.4), cache mode, dynamic LDS,
        # carveout
        wanted = [most, lds, 0, stack, registers, 94, 94, 0, 65536 - lds, 0]
        assert [call.number("hipFuncGetAttribute", i, f) for i in range(10)] == wanted
        assert call.hipFuncGetAttribute(byref(a), 10, f) == 1
        assert call.hipFuncGetAttribute(byref(a), -1, f) == 1
        found = structures.FunctionAttributes()
        assert call.hipFuncGetAttributes(byref(found), f) == 0
        assert [
            found.maxThreadsPerBlock, found.sharedSizeBytes, found.constSizeBytes, found.localSizeBytes, found.numRegs,
            found.ptxVersion, found.binaryVersion, found.cacheModeCA, found.maxDynamicSharedSizeBytes,
            found.preferredShmemCarveout,
        ] == wanted  # fmt: skip
        assert call.hipKernelNameRef(f) == name.encode()
        rest = 65536 - lds
        for value, code in ((0, 0), (rest, 0), (rest + 1, 1), (-1, 1)):
            assert call.hipFuncSetAttribute(f, 8, value) == code
        assert [call.hipFuncSetAttribute(f, i, 100_000) for i in (7, 9, 10)] == [1, 0, 1]
        assert [call.hipFuncSetCacheConfig(f, i) for i in range(-1, 5)] == [1, 0, 0, 0, 0, 1]
        assert [call.hipFuncSetSharedMemConfig(f, i) for i in range(-1, 4)] == [1, 0, 0, 0, 1]
        found = runtimes.instance().modules.functions[f].descriptor
        assert found.sgprs == described(name, "sgpr_count")
        assert found.kernarg_size == described(name, "kernarg_segment_size")
        assert (found.vgpr_spills, found.sgpr_spills, found.agprs) == (0, 0, 0)
    assert call.hipKernelNameRef(1234) is None
    assert call.hipFuncGetAttribute(byref(a), 0, 1234) == 400
    assert call.hipFuncSetAttribute(1234, 9, 0) == 98


def test_occupancy(call, kernel):
    """At most 64 registers: 2,048 threads in a unit; 65,536 bytes of LDS; 304 units."""
    saxpy, tile, small = kernel("saxpy"), kernel("tile"), kernel("small")
    for prefix in ("hipModuleOccupancy", "hipOccupancy"):
        blocks = f"{prefix}MaxActiveBlocksPerMultiprocessor"
        for function, threads, lds, wanted in (
            (saxpy, 256, 0, 8), (saxpy, 1024, 0, 2), (saxpy, 1025, 0, 0), (saxpy, 256, 20000, 3), (tile, 256, 0, 8),
            (tile, 256, 4000, 8), (tile, 256, 12000, 4), (tile, 256, 61536, 1), (tile, 256, 61537, 0),
        ):  # fmt: skip
            assert call.number(blocks, function, threads, lds) == wanted, (threads, lds)
            assert call.number(f"{blocks}WithFlags", function, threads, lds, 1) == wanted
        bad = ctypes.c_int()
        assert getattr(call, blocks)(byref(bad), saxpy, 0, 0) == 1
        assert getattr(call, blocks)(byref(bad), saxpy, -1, 0) == 1
        assert getattr(call, f"{blocks}WithFlags")(byref(bad), saxpy, 256, 0, 2) == 1
        assert getattr(call, blocks)(byref(bad), 1234, 256, 0) == (400 if "Module" in prefix else 98)
        for function, lds, limit, wanted in (
            (saxpy, 0, 0, (2 * 304, 1024)), (saxpy, 0, 256, (8 * 304, 256)), (saxpy, 0, 100, (16 * 304, 128)),
            (saxpy, 20000, 256, (3 * 304, 256)), (saxpy, 20000, 0, (2 * 304, 1024)), (small, 0, 0, (32 * 304, 64)),
            (small, 0, 9999, (32 * 304, 64)), (tile, 4000, 128, (8 * 304, 128)), (saxpy, 0, -1, (2 * 304, 1024)),
        ):  # fmt: skip
            grid, block = ctypes.c_int(), ctypes.c_int()
            name = f"{prefix}MaxPotentialBlockSize"
            assert getattr(call, name)(byref(grid), byref(block), function, lds, limit) == 0
            assert (grid.value, block.value) == wanted
            if "Module" in prefix:
                assert getattr(call, f"{name}WithFlags")(byref(grid), byref(block), function, lds, limit, 1) == 0
                assert (grid.value, block.value) == wanted
                assert getattr(call, f"{name}WithFlags")(byref(grid), byref(block), function, lds, limit, 2) == 1
    left = call.address
    assert left("hipOccupancyAvailableDynamicSMemPerBlock", saxpy, 3, 64) == 65536 // 3
    assert left("hipOccupancyAvailableDynamicSMemPerBlock", tile, 2, 1) == 32768 - 4000
    assert left("hipOccupancyAvailableDynamicSMemPerBlock", tile, 17, 64) == 0
    for blocks, threads in ((0, 64), (1, 0)):
        assert call.hipOccupancyAvailableDynamicSMemPerBlock(byref(u64()), tile, blocks, threads) == 1
    assert left("hipOccupancyAvailableDynamicSMemPerBlock", tile, 1, 1) == 61536


# Launches


def packed(memory):
    """(extra, what it points to) for a kernel with one pointer."""
    argument, size = u64(memory), ctypes.c_size_t(8)
    cells = (ctypes.c_void_p * 5)(1, ctypes.addressof(argument), 2, ctypes.addressof(size), 3)
    return cells, argument, size


def test_arguments_in_a_buffer(call, kernel, memory):
    """HIP_LAUNCH_PARAM_BUFFER_POINTER 1 and _SIZE 2 in any order, then _END 3."""
    fill = kernel("fill")

    def launch(cells, parameters=None):
        return call.hipModuleLaunchKernel(fill, 1, 1, 1, 64, 1, 1, 0, None, parameters, cells)

    cells, argument, size = packed(memory)
    for order in ((0, 1, 2, 3, 4), (2, 3, 0, 1, 4)):
        assert call.hipMemset(memory, 0, 4096) == 0
        assert launch((ctypes.c_void_p * 5)(*(cells[i] for i in order))) == 0
        assert read(call, memory, 65, ctypes.c_float) == [3.0] * 64 + [0]
    for place, value in ((4, 1), (0, 7), (2, 1), (3, None), (1, None), (0, 3)):
        wrong = (ctypes.c_void_p * 5)(*cells)
        wrong[place] = value
        assert launch(wrong) == 1, place
    size.value = 7
    assert launch(cells) == 1
    size.value = 8
    addresses = (ctypes.c_void_p * 1)(ctypes.addressof(argument))
    assert launch(cells, addresses) == 1  # either this or that
    assert launch(None, addresses) == 0
    assert launch(None, None) == 1
    assert launch(None, (ctypes.c_void_p * 1)(None)) == 1


def test_handles_and_sizes_of_launches(call, kernel, memory):
    tile, argument = kernel("tile"), u64(memory)
    p = (ctypes.c_void_p * 1)(ctypes.addressof(argument))
    for give, gone in (
        (lambda f, g, b, lds, s: call.hipModuleLaunchKernel(f, *g, *b, lds, s, p, None), 400),
        (lambda f, g, b, lds, s: call.hipModuleLaunchCooperativeKernel(f, *g, *b, lds, s, p), 400),
        (lambda f, g, b, lds, s: call.hipLaunchKernel(f, dim3(*g), dim3(*b), p, lds, s), 98),
        (lambda f, g, b, lds, s: call.hipLaunchCooperativeKernel(f, dim3(*g), dim3(*b), p, lds, s), 98),
        (lambda f, g, b, lds, s: call.hipExtLaunchKernel(f, dim3(*g), dim3(*b), p, lds, s, None, None, 0), 98),
        (lambda f, g, b, lds, s: call.hipDrvLaunchKernelEx(
            byref(structures.LaunchConfiguration(*g, *b, lds, s, None, 0)), f, p, None), 400),
        (lambda f, g, b, lds, s: call.hipLaunchKernelExC(
            byref(structures.LaunchConfigurationEx(g, b, lds, s, None, 0)), f, p), 98),
    ):  # fmt: skip
        assert call.hipMemset(memory, 0, 4096) == 0
        assert give(tile, (1, 1, 1), (64, 1, 1), 0, None) == 0
        assert read(call, memory, 65) == [*(999 - i for i in range(64)), 0]
        assert give(1234, (1, 1, 1), (64, 1, 1), 0, None) == gone
        assert give(tile, (1, 1, 1), (64, 1, 1), 0, 0x1230) == 1
        assert give(tile, (1, 1, 1), (64, 1, 1), 61537, None) == 1
        assert give(tile, (1, 1, 1), (64, 1, 1), 61536, None) == 0
        assert give(tile, (1, 1, 1), (4, 4, 65), 0, None) == 9
    # hipErrorCooperativeLaunchTooLarge: a unit holds 2,048 threads, and those of a block count along all axes.
    for block in ((1024, 1, 1), (64, 16, 1), (64, 4, 4)):
        assert call.hipModuleLaunchCooperativeKernel(tile, 304 * 2 + 1, 1, 1, *block, 0, None, p) == 720
    for prefix in ("hipModuleLaunchCooperativeKernel", "hipLaunchCooperativeKernel", "hipExtLaunchMultiKernel"):
        several = getattr(call, f"{prefix}MultiDevice")
        assert several(p, 1, 0) == 719
        assert several(None, 1, 0) == 1


def test_extended_launches_count_threads(call, kernel, memory):
    tile, argument, host = kernel("tile"), u64(memory), runtimes.instance()
    p = (ctypes.c_void_p * 1)(ctypes.addressof(argument))
    first, last = call.address("hipEventCreate"), call.address("hipEventCreate")
    for name, more in (("hipExtModuleLaunchKernel", (0,)), ("hipHccModuleLaunchKernel", ())):

        def launch(grid, block, start=None, stop=None, function=tile, stream=None, name=name, more=more):
            return getattr(call, name)(function, *grid, *block, 0, stream, p, None, start, stop, *more)

        for axis in range(3):
            grid, block = [4, 4, 4], [4, 4, 4]
            grid[axis] = 8
            assert launch(grid, block) == 0
            grid[axis] = 9
            assert launch(grid, block) == 9
            block[axis] = 0
            assert launch(grid, block) == 9
        assert launch((64, 1, 1), (64, 1, 1), first, last) == 0
        elapsed = ctypes.c_float()
        assert call.hipEventElapsedTime(byref(elapsed), first, last) == 0
        assert elapsed.value > 0
        before = host.streams.find_event(last).time
        assert launch((2048, 1, 1), (2048, 1, 1), first, last) == 9
        assert host.streams.find_event(last).time is before  # nothing ran
        assert launch((64, 1, 1), (64, 1, 1), function=1234) == 400
        assert launch((64, 1, 1), (64, 1, 1), stream=0x1230) == 1
        assert launch((64, 1, 1), (64, 1, 1), 0x1230) == launch((64, 1, 1), (64, 1, 1), None, 0x1230) == 400
    assert call.hipExtLaunchKernel(
        tile, dim3(2, 1, 1), dim3(32, 2, 1), p, 0, None, first, last, 0
    ) == 0  # fmt: skip
    for event in (first, last):
        assert call.hipEventDestroy(event) == 0


def test_attributes_of_launches(call, kernel, memory):
    """hipLaunchAttributeCooperative is 2; others are refused, and so is a count without an address."""
    tile, argument = kernel("tile"), u64(memory)
    p = (ctypes.c_void_p * 1)(ctypes.addressof(argument))
    cells = packed(memory)

    def both(attributes, count, extra=None):
        sizes = (1, 1, 1, 64, 1, 1)
        driver = structures.LaunchConfiguration(*sizes, 0, None, attributes, count)
        host = structures.LaunchConfigurationEx(sizes[:3], sizes[3:], 0, None, attributes, count)
        return (
            call.hipDrvLaunchKernelEx(byref(driver), tile, None if extra else p, extra),
            call.hipLaunchKernelExC(byref(host), tile, p),
        )

    listed = (structures.LaunchAttribute * 2)()
    for one in listed:
        one.id, one.value[0] = 2, 1
    place = ctypes.addressof(listed)
    assert both(place, 2) == (0, 0)
    assert both(place, 1, cells[0])[0] == 1  # a cooperative launch takes kernelParams
    listed[0].value[0] = 0
    assert both(place, 1, cells[0])[0] == 0
    assert both(None, 0) == (0, 0)
    assert both(None, 1) == (1, 1)
    listed[1].id = 8
    assert both(place, 1) == (0, 0)
    assert both(place, 2) == (801, 801)


@pytest.fixture
def fake():
    return Runtime("gfx942,gfx1100", Arena(), fake_machine.FakeDevice)


def test_sizes_at_their_limits(fake):
    """Most: 1,024 threads, 2^31 - 1 x 65,536 x 65,536 blocks, 2^32 - 1 threads in a direction, 65,536 bytes of LDS."""
    module = fake.modules.load(code_object("gfx942").elf)
    fill, small = fake.modules.function(module.handle, "fill"), fake.modules.function(module.handle, "small")
    for function, grid, block, lds, code in (
        (fill, (2**31 - 1, 65536, 65536), (1, 1, 1), 65536, 0), (fill, (2**31, 1, 1), (1, 1, 1), 0, 9),
        (fill, (1, 65537, 1), (1, 1, 1), 0, 9), (fill, (1, 1, 65537), (1, 1, 1), 0, 9),
        (fill, (1, 1, 1), (1024, 1, 1), 0, 0), (fill, (1, 1, 1), (16, 8, 8), 0, 0),
        (fill, (1, 1, 1), (1025, 1, 1), 0, 9),
        (fill, (1, 1, 1), (0, 1, 1), 0, 9), (fill, (1, 1, 1), (1, 0, 1), 0, 9), (fill, (1, 1, 1), (1, 1, 0), 0, 9),
        (fill, (0, 1, 1), (1, 1, 1), 0, 9), (fill, (1, 0, 1), (1, 1, 1), 0, 9), (fill, (1, 1, 0), (1, 1, 1), 0, 9),
        (fill, (2**22 - 1, 1, 1), (1024, 1, 1), 0, 0), (fill, (2**22, 1, 1), (1024, 1, 1), 0, 9),
        (fill, (1, 1, 1), (1, 1, 1), 65537, 1), (small, (1, 1, 1), (64, 1, 1), 0, 0),
        (small, (1, 1, 1), (65, 1, 1), 0, 719),
        (small, (1, 1, 1), (1025, 1, 1), 0, 9),
    ):  # fmt: skip
        if code:
            assert code_of(fake.modules.check_sizes, function, grid, block, lds) == code, (grid, block, lds)
        else:
            fake.modules.check_sizes(function, grid, block, lds)
    # Eight blocks of 256 threads fit each of 304 units.
    fake.modules.check_cooperation(fill, (304, 4, 2), (16, 4, 4), 0)
    assert code_of(fake.modules.check_cooperation, fill, (304 * 8 + 1, 1, 1), (16, 4, 4), 0) == 720
    with pytest.raises(
        Failure, match=r"blocks of 256 threads, .*2,432 blocks at a time, 8 on each of 304 .* has 2,736"
    ):
        fake.modules.check_cooperation(fill, (304, 3, 3), (16, 4, 4), 0)


def test_what_a_launch_hands_to_the_machine(fake):
    module = fake.modules.load(code_object("gfx942").elf)
    fill = fake.modules.function(module.handle, "fill")
    assert fake.modules.function(module.handle, "fill") is fill
    assert [a.name for a in fake.modules.function(module.handle, "saxpy").descriptor.arguments[:4]] == [
        "n",
        "a",
        "x",
        "y",
    ]
    assert fill.argument_bytes == 8
    assert fake.modules.function(module.handle, "saxpy").arguments == [(0, 4), (4, 4), (8, 8), (16, 8)]
    from gpulab import toolchain

    plain = fake.modules.load(toolchain.compile(PLAIN, arch="gfx942").elf)
    quiet = fake.modules.function(plain.handle, "quiet")
    seen = []
    machine = fake.current.machine
    run = machine.run
    machine.run = lambda *given, **more: (seen.append(more), run(*given, **more))[1]
    stream = fake.current.null_stream
    fake.modules.launch(quiet, (1, 1, 1), (64, 1, 1), 0, stream, bytes(8))
    fake.checking, fake.profiling = 1, True
    fake.modules.launch(quiet, (1, 1, 1), (64, 1, 1), 0, stream, bytes(8), cooperative=True)
    fake.checking = 0
    hello = fake.modules.function(module.handle, "hello")
    fake.modules.launch(hello, (1, 1, 1), (64, 1, 1), 0, stream, bytes(8))
    assert [(more["checked"], more["cooperative"], more["collect"], more["workers"]) for more in seen] == [
        (False, False, "default", None), (True, True, "profile", None), (False, False, "profile", 1),
    ]  # fmt: skip
    assert [more["printf_buffer"] > 0 for more in seen] == [False, False, True]
    other = fake.devices[1].null_stream
    assert code_of(fake.modules.launch, fill, (1, 1, 1), (64, 1, 1), 0, other, bytes(8)) == 400
    with pytest.raises(Exception, match="takes 8 bytes of arguments; 7 were given"):
        fake.launch_traced(fill.handle, (1, 1, 1), (64, 1, 1), 0, bytes(7))
    with pytest.raises(Failure, match="no kernel 'x'; its kernels: fill, hello, saxpy"):
        fake.modules.function(module.handle, "x")
    with pytest.raises(Failure, match=r"no variable 'x'; its variables: .*factor, table"):
        fake.modules.global_variable(module.handle, "x")


def test_arguments_are_packed_where_the_metadata_has_them(fake):
    """An int, a gap, a pointer and a structure of three bytes; no two may overlap."""
    from gpulab.virtual_gpu.runtime.modules import _packing

    packing = struct.Struct(_packing([(0, 4), (8, 8), (16, 3)]))
    assert packing.pack(b"int.", b"pointer.", b"end") == b"int.\0\0\0\0pointer.end"
    assert struct.Struct(_packing([])).pack() == b""
    for wrong in ([(0, 8), (4, 8)], [(8, 8), (0, 8)], [(0, -1)]):
        assert code_of(_packing, wrong) == 200  # hipErrorInvalidImage
    function = fake.modules.function(fake.modules.load(code_object("gfx942").elf).handle, "saxpy")
    values = ctypes.c_int(5), ctypes.c_float(0.5), u64(0x1122334455667788), u64(7)
    addresses = (ctypes.c_void_p * 4)(*map(ctypes.addressof, values))
    assert fake.modules.pack(function, ctypes.addressof(addresses)) == struct.pack(
        "<ifQQ", 5, 0.5, 0x1122334455667788, 7
    )
    addresses[2] = None
    assert code_of(fake.modules.pack, function, ctypes.addressof(addresses)) == 1


# Linked programs

KERNEL, TABLE = 0x1110, 0x2220


def test_symbols_of_a_linked_program(call, memory):
    bundle = bundle_of(("gfx942", "gfx1100"))
    wrapper = ctypes.create_string_buffer(struct.pack("<IIQQ", 0x48495046, 1, ctypes.addressof(bundle), 0))
    handle = call.__hipRegisterFatBinary(ctypes.addressof(wrapper))
    assert handle
    assert call.__hipRegisterFatBinary(None) is None
    call.__hipRegisterFunction(handle, KERNEL, b"fill", b"fill", 0, None, None, None, None, None)
    call.__hipRegisterVar(handle, TABLE, b"table", b"table", 0, 16, 0, 0)
    pointer, initial = u64(), ctypes.c_int(77)
    call.__hipRegisterManagedVar(handle, byref(pointer), byref(initial), b"shared", 4, 4)
    assert ctypes.c_int.from_address(pointer.value).value == 77
    assert call.address("hipGetSymbolAddress", ctypes.addressof(pointer)) == pointer.value
    address = call.address("hipGetSymbolAddress", TABLE)
    assert call.address("hipGetSymbolSize", TABLE) == 16
    assert read(call, address, 4) == [10, 20, 30, 40]
    given, got = (ctypes.c_int * 2)(1, 2), (ctypes.c_int * 2)()
    for more, stream in (("", ()), ("Async", (None,))):
        assert getattr(call, f"hipMemcpyToSymbol{more}")(TABLE, given, 8, 8, 1, *stream) == 0
        assert read(call, address, 4) == [10, 20, 1, 2]
        assert getattr(call, f"hipMemcpyToSymbol{more}")(TABLE, given, 8, 9, 1, *stream) == 1
        assert getattr(call, f"hipMemcpyFromSymbol{more}")(got, TABLE, 8, 4, 2, *stream) == 0
        assert list(got) == [20, 1]
        assert getattr(call, f"hipMemcpyFromSymbol{more}")(got, TABLE, 16, 4, 2, *stream) == 1
        assert getattr(call, f"hipMemcpyFromSymbol{more}")(got, TABLE + 1, 8, 4, 2, *stream) == 13
        assert getattr(call, f"hipMemcpyToSymbol{more}")(TABLE, (ctypes.c_int * 2)(30, 40), 8, 8, 1, *stream) == 0
    argument = u64(memory)
    p = (ctypes.c_void_p * 1)(ctypes.addressof(argument))
    assert call.hipLaunchKernel(KERNEL, dim3(1, 1, 1), dim3(64, 1, 1), p, 0, None) == 0
    assert read(call, memory, 65, ctypes.c_float) == [3.0] * 64 + [0]
    function = call.address("hipGetFuncBySymbol", KERNEL)
    assert call.hipKernelNameRef(function) == b"fill"
    assert call.hipGetFuncBySymbol(byref(u64()), KERNEL + 1) == 98
    call.__hipUnregisterFatBinary(handle)
    assert call.hipLaunchKernel(KERNEL, dim3(1, 1, 1), dim3(64, 1, 1), p, 0, None) == 98
    assert call.hipFree(pointer.value) == 0


def test_managed_variables_of_libraries(call):
    from gpulab import toolchain

    source = "__managed__ int both[3] = {4, 5, 6}; __global__ void k() { both[1] = 7; }"
    image = toolchain.compile(source, arch="gfx942", name="cell.hip").elf
    library = call.address("hipLibraryLoadData", image, None, None, 0, None, None, 0)
    size = u64()
    address = call.address("hipLibraryGetManaged", byref(size), library, b"both")
    assert size.value == 12
    assert list((ctypes.c_int * 3).from_address(address)) == [4, 5, 6]
    kernel = call.address("hipLibraryGetKernel", library, b"_Z1kv")
    assert call.hipModuleLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, None, None, None) == 0
    assert call.hipDeviceSynchronize() == 0
    assert list((ctypes.c_int * 3).from_address(address)) == [4, 7, 6]
    assert call.hipLibraryUnload(library) == 0


def test_libraries_of_kernels(call):
    """hipLibrary* and hipKernel*: the calls on modules under other names, and what they say of a kernel."""
    image = code_object("gfx942").elf
    library = call.address("hipLibraryLoadData", image, None, None, 0, None, None, 0)
    count = call.number("hipLibraryGetKernelCount", library)
    assert count == 7
    kernels = (ctypes.c_uint64 * count)()
    assert call.hipLibraryEnumerateKernels(kernels, count, library) == 0
    saxpy = call.address("hipLibraryGetKernel", library, b"saxpy")
    assert saxpy in list(kernels)
    assert call.address("hipKernelGetFunction", saxpy) == saxpy
    assert call.address("hipKernelGetLibrary", saxpy) == library
    name = ctypes.string_at(call.address("hipKernelGetName", saxpy))
    assert name == b"saxpy"
    offset, size = ctypes.c_size_t(), ctypes.c_size_t()
    places = []
    for index in range(4):  # int, float and two pointers, each at a multiple of its size
        assert call.hipKernelGetParamInfo(saxpy, index, ctypes.byref(offset), ctypes.byref(size)) == 0
        places.append((offset.value, size.value))
    assert places == [(0, 4), (4, 4), (8, 8), (16, 8)]
    assert call.hipKernelGetParamInfo(saxpy, 4, ctypes.byref(offset), None) == 1
    value = ctypes.c_int()
    assert call.hipKernelGetAttribute(ctypes.byref(value), 0, saxpy, 0) == 0
    assert value.value == 1024
    assert call.hipKernelGetAttribute(ctypes.byref(value), 0, saxpy, 1) == 101  # a kernel of device 0
    assert call.hipKernelSetAttribute(8, 1024, saxpy, 0) == 0
    assert call.hipKernelSetAttribute(8, 1 << 20, saxpy, 0) == 1
    address = call.address("hipLibraryGetGlobal", ctypes.byref(size), library, b"factor")
    assert (size.value, ctypes.c_float.from_address(address).value) == (4, 3.0)
    assert (
        call.hipLibraryGetManaged(ctypes.byref(u64()), ctypes.byref(size), library, b"factor") == 500
    )  # hipErrorNotFound
    assert call.hipLibraryUnload(library) == 0
    assert call.hipKernelGetFunction(ctypes.byref(offset), saxpy) == 400


def test_a_launch_in_three_calls(call, kernel, memory):
    """hipConfigureCall, hipSetupArgument and hipLaunchByPtr; without a configuration 52."""
    number = ctypes.c_int(5)
    assert call.hipSetupArgument(ctypes.byref(number), 4, 0) == call.hipLaunchByPtr(kernel("saxpy")) == 52
    grid = dim3(1, 1, 1)
    assert call.hipConfigureCall(grid, grid, 0, None) == 0
    assert call.hipSetupArgument(ctypes.byref(number), 4, 4096) == call.hipSetupArgument(None, 4, 0) == 1
    assert call.hipLaunchByPtr(0x1230) == 98
