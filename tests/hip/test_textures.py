"""Arrays, textures and surfaces: what HIP's calls answer, and what kernels read and write, against numpy.

Formulas: tests/isa/sampling.py. Codes: HIP's API reference; 1 is hipErrorInvalidValue, 801 hipErrorNotSupported.
"""

from __future__ import annotations

import ctypes
import struct

import numpy as np
import pytest

import gpulab
from gpulab.virtual_gpu import runtime
from gpulab.virtual_gpu.runtime import structures
from tests.isa import sampling

TO_DEVICE, TO_HOST, ON_DEVICE = 1, 2, 3
ARRAY, LINEAR, PITCH_2D = 0, 2, 3
MODES = {"wrap": 0, "clamp": 1, "mirror": 2, "border": 3}
byref = ctypes.byref

SOURCE = """
#include <hip/hip_runtime.h>
extern "C" {
__global__ void one(float4* out, hipTextureObject_t t, const float* x) {
  out[threadIdx.x] = tex1D<float4>(t, x[threadIdx.x]);
}
__global__ void two(float4* out, hipTextureObject_t t, const float* x, const float* y) {
  out[threadIdx.x] = tex2D<float4>(t, x[threadIdx.x], y[threadIdx.x]);
}
__global__ void three(float4* out, hipTextureObject_t t, const float* x, const float* y, const float* z) {
  out[threadIdx.x] = tex3D<float4>(t, x[threadIdx.x], y[threadIdx.x], z[threadIdx.x]);
}
__global__ void one_layered(float4* out, hipTextureObject_t t, const float* x, const int* layer) {
  out[threadIdx.x] = tex1DLayered<float4>(t, x[threadIdx.x], layer[threadIdx.x]);
}
__global__ void two_layered(float4* out, hipTextureObject_t t, const float* x, const float* y, const int* layer) {
  out[threadIdx.x] = tex2DLayered<float4>(t, x[threadIdx.x], y[threadIdx.x], layer[threadIdx.x]);
}
__global__ void levels(float4* out, hipTextureObject_t t, float x, float y) {
  float2 d = make_float2(0.5f, 0.25f);
  float4 gathered;
  tex2Dgather(&gathered, t, x, y, 0);
  out[0] = tex2D<float4>(t, x, y);
  out[1] = tex2DLod<float4>(t, x, y, 3.0f);
  out[2] = tex2DGrad<float4>(t, x, y, d, d);
  tex2D(&out[3], t, x, y);
  out[4] = gathered;
}
__global__ void fetch(int* out, hipTextureObject_t t) { out[threadIdx.x] = tex1Dfetch<int>(t, threadIdx.x); }
__global__ void fetch_bytes(uchar4* out, hipTextureObject_t t) {
  out[threadIdx.x] = tex1Dfetch<uchar4>(t, threadIdx.x);
}
__global__ void shorts(short* out, hipTextureObject_t t) { out[threadIdx.x] = tex1D<short>(t, threadIdx.x + 0.5f); }
__global__ void divergent(float* out, const hipTextureObject_t* t) {
  out[threadIdx.x] = tex1D<float>(t[threadIdx.x % 2], 0.5f);
}
__global__ void surface_one(hipSurfaceObject_t s, hipSurfaceObject_t to) {
  short2 v = surf1Dread<short2>(s, threadIdx.x * 4);
  surf1Dwrite(make_short2(v.y, v.x), to, threadIdx.x * 4);
}
__global__ void surface_two(hipSurfaceObject_t s, hipSurfaceObject_t to) {
  float v;
  surf2Dread(&v, s, threadIdx.x * 4, threadIdx.y);
  surf2Dwrite(2 * v, to, threadIdx.x * 4, threadIdx.y);
}
__global__ void surface_three(hipSurfaceObject_t s, hipSurfaceObject_t to) {
  unsigned char v = surf3Dread<unsigned char>(s, threadIdx.x, threadIdx.y, threadIdx.z);
  surf3Dwrite(static_cast<unsigned char>(v + 1), to, threadIdx.x, threadIdx.y, threadIdx.z);
}
__global__ void surface_layers(hipSurfaceObject_t s, hipSurfaceObject_t to) {
  int4 v;
  surf2DLayeredread(&v, s, threadIdx.x * 16, threadIdx.y, threadIdx.z);
  v.w = 7;
  surf2DLayeredwrite(v, to, threadIdx.x * 16, threadIdx.y, threadIdx.z);
}
__global__ void surface_rows(hipSurfaceObject_t s, hipSurfaceObject_t to) {
  surf1DLayeredwrite(surf1DLayeredread<uchar2>(s, threadIdx.x * 2, threadIdx.y), to, threadIdx.x * 2, 2 - threadIdx.y);
}
__global__ void same_place(hipSurfaceObject_t s) { surf1Dwrite(static_cast<float>(threadIdx.x), s, 0); }
}
"""


@pytest.fixture(autouse=True)
def rdna(hip):
    """gfx1100 is in use during a test, for gpulab's launches and for calls."""
    instance = runtime.instance()
    with gpulab.using("gfx1100"):
        place = next(d.index for d in instance.devices if d.architecture.name == "gfx1100")
        was = instance.current.index
        instance.set_device(place)
        yield instance.devices[place]
        instance.set_device(was)


@pytest.fixture(scope="module")
def module():
    return gpulab.compile(SOURCE, arch="gfx1100")


def channels(dtype, count=1):
    kind = {"i": 0, "u": 1, "f": 2}[np.dtype(dtype).kind]
    bits = [8 * np.dtype(dtype).itemsize if n < count else 0 for n in range(4)]
    return structures.ChannelFormat(*bits, kind)


def make_array(call, image, flags=0):
    """The array of image[z, y, x, channel], filled; z is left out of 2D ones, y of 1D ones."""
    image = np.ascontiguousarray(image)
    sizes = image.shape[:-1]
    described = channels(image.dtype, image.shape[-1])
    if flags & 1 and len(sizes) == 2:  # layers of rows
        extent = structures.Extent(sizes[1], 0, sizes[0])
    else:
        extent = structures.Extent(sizes[-1], sizes[-2] if len(sizes) > 1 else 0, sizes[0] if len(sizes) > 2 else 0)
    handle = call.address("hipMalloc3DArray", byref(described), extent, flags)
    fill(call, handle, image, extent)
    return handle


def box(extent):
    return structures.Extent(extent.width, max(extent.height, 1), max(extent.depth, 1))


def fill(call, handle, image, extent):
    row = image.shape[-2] * image.shape[-1] * image.itemsize
    p = structures.Memcpy3D(dstArray=handle, extent=box(extent), kind=TO_DEVICE)
    p.srcPtr = structures.PitchedPtr(image.ctypes.data, row, row, max(extent.height, 1))
    assert call.hipMemcpy3D(byref(p)) == 0


def contents(call, handle, like, extent):
    got = np.zeros_like(like)
    row = like.shape[-2] * like.shape[-1] * like.itemsize
    p = structures.Memcpy3D(srcArray=handle, extent=box(extent), kind=TO_HOST)
    p.dstPtr = structures.PitchedPtr(got.ctypes.data, row, row, max(extent.height, 1))
    assert call.hipMemcpy3D(byref(p)) == 0
    return got


def resource_of(handle):
    resource = structures.ResourceDescription(resType=ARRAY)
    resource.res.array = handle
    return resource


def texture_of(call, resource, *, mode="clamp", linear=False, normalized=False, floats=False, **fields):
    texture = structures.TextureDescription(filterMode=linear, readMode=floats, normalizedCoords=normalized)
    for n, one in enumerate([mode] * 3 if isinstance(mode, str) else mode):
        texture.addressMode[n] = MODES[one]
    for name, value in fields.items():
        setattr(texture, name, value)
    return call.address("hipCreateTextureObject", byref(resource), byref(texture), None)


def pointer(handle):
    return gpulab.Pointer(handle)


RNG = np.random.default_rng(5)


@pytest.mark.full
@pytest.mark.parametrize(
    ("kernel", "sizes", "mode", "linear", "normalized"),
    [
        ("one", (1, 1, 13), "wrap", True, True),
        ("two", (1, 7, 13), "mirror", True, True),
        ("three", (4, 7, 13), "clamp", True, False),
        ("one_layered", (3, 1, 13), "border", True, True),
        ("two_layered", (3, 7, 13), ["wrap", "clamp", "clamp"], False, True),
    ],
)
def test_textures_of_arrays(call, module, kernel, sizes, mode, linear, normalized):
    image = RNG.uniform(-2, 2, (*sizes, 4)).astype(np.float32)
    layered = kernel.endswith("layered")
    given = image[0, 0] if kernel == "one" else image[0] if kernel == "two" else image
    handle = make_array(call, image[:, 0] if kernel == "one_layered" else given, int(layered))
    texture = texture_of(call, resource_of(handle), mode=mode, linear=linear, normalized=normalized)
    directions = {"one": 1, "two": 2, "three": 3}[kernel.split("_")[0]]
    places = []
    for n in sizes[::-1][:directions]:
        at = np.round(RNG.uniform(-1.5 * n, 2.5 * n, 64) * 512) / 512
        places.append(np.float32(at / n) if normalized else np.float32(at))
    layer = RNG.integers(0, sizes[0], 64).astype(np.int32) if layered else None
    out = gpulab.zeros(256, "float32")
    more = [gpulab.to_device(layer)] if layered else []
    getattr(module, kernel)[1, 64](out, pointer(texture), *[gpulab.to_device(p) for p in places], *more)
    modes = (mode,) * 3 if isinstance(mode, str) else tuple(mode)
    expected = sampling.sample(image, places, linear=linear, modes=modes, normalized=normalized, layer=layer)
    assert np.allclose(out.to_host().reshape(64, 4), expected, rtol=0, atol=2e-6)
    assert call.hipDestroyTextureObject(texture) == 0
    assert call.hipFreeArray(handle) == 0


def test_integers_read_as_floats_and_as_they_are(call, module):
    """8-bit texels as numbers of [0, 1], filtered; 16-bit ones as integers."""
    image = RNG.integers(0, 256, (9, 4)).astype(np.uint8)
    handle = make_array(call, image)
    texture = texture_of(call, resource_of(handle), linear=True, floats=True)
    places = np.float32(RNG.uniform(0, 9, 32))
    out = gpulab.zeros(128, "float32")
    module.one[1, 32](out, pointer(texture), gpulab.to_device(places))
    image_ = (image / 255).reshape(1, 1, 9, 4)
    expected = sampling.sample(image_, [places], linear=True, modes=("clamp",), normalized=False)
    assert np.allclose(out.to_host().reshape(32, 4), expected, rtol=0, atol=2e-6)
    numbers = RNG.integers(-32768, 32768, (32, 1)).astype(np.int16)
    whole = texture_of(call, resource_of(make_array(call, numbers)))
    shorts = gpulab.zeros(32, "int16")
    module.shorts[1, 32](shorts, pointer(whole))
    assert np.array_equal(shorts.to_host(), numbers[:, 0])


def test_half_floats(call, module):
    image = RNG.uniform(-4, 4, (32, 1)).astype(np.float16)
    texture = texture_of(call, resource_of(make_array(call, image)))
    out = gpulab.zeros(128, "float32")
    module.one[1, 32](out, pointer(texture), gpulab.to_device(np.arange(32, dtype=np.float32) + 0.5))
    assert np.array_equal(out.to_host().reshape(32, 4)[:, 0], image[:, 0].astype(np.float32))
    assert out.to_host().reshape(32, 4)[:, 1:].tolist() == [[0, 0, 1]] * 32


def test_levels_slopes_and_gathering_of_a_texture_with_one_level(call, module):
    image = np.arange(24, dtype=np.float32).reshape(4, 6, 1)
    texture = texture_of(call, resource_of(make_array(call, image)), linear=True)
    out = gpulab.zeros(20, "float32")
    module.levels[1, 1](out, pointer(texture), 2.5, 1.75)
    found = out.to_host().reshape(5, 4)
    assert found[:4].tolist() == [[9.5, 0, 0, 1]] * 4  # row 1.25 of 6 y + x, column 2
    assert found[4].tolist() == [14, 15, 9, 8]  # texels (2, 2), (3, 2), (3, 1), (2, 1)


def test_linear_memory(call, module):
    """Texels beyond the end are 0; filters and address modes are ignored."""
    memory = call.address("hipMalloc", 1024)
    data = np.arange(100, 148, dtype=np.int32)
    assert call.hipMemcpy(memory, data.ctypes.data, data.nbytes, TO_DEVICE) == 0
    resource = structures.ResourceDescription(resType=LINEAR)
    resource.res.linear.devPtr, resource.res.linear.sizeInBytes = memory, data.nbytes
    resource.res.linear.desc = channels(np.int32)
    texture = texture_of(call, resource, mode="border", linear=True)
    out = gpulab.zeros(64, "int32")
    module.fetch[1, 64](out, pointer(texture))
    assert out.to_host().tolist() == [*data.tolist(), *[0] * 16]
    resource.res.linear.desc = channels(np.uint8, 4)
    colours = gpulab.zeros(256, "uint8")
    module.fetch_bytes[1, 64](colours, pointer(texture_of(call, resource)))
    assert np.array_equal(colours.to_host()[:192], data.view(np.uint8))


def test_pitched_memory(call, module):
    image = RNG.uniform(-1, 1, (5, 10)).astype(np.float32)
    memory, pitch = ctypes.c_uint64(), ctypes.c_size_t()
    assert call.hipMallocPitch(byref(memory), byref(pitch), 40, 5) == 0
    assert call.hipMemcpy2D(memory.value, pitch.value, image.ctypes.data, 40, 40, 5, TO_DEVICE) == 0
    resource = structures.ResourceDescription(resType=PITCH_2D)
    flat = resource.res.pitch2D
    flat.devPtr, flat.width, flat.height, flat.pitchInBytes = memory.value, 10, 5, pitch.value
    flat.desc = channels(np.float32)
    texture = texture_of(call, resource, mode="wrap", linear=True, normalized=True)
    places = [np.float32(RNG.uniform(-1, 2, 64)) for _ in range(2)]
    out = gpulab.zeros(256, "float32")
    module.two[1, 64](out, pointer(texture), *[gpulab.to_device(p) for p in places])
    expected = sampling.sample(image.reshape(1, 5, 10, 1), places, linear=True, modes=("wrap", "wrap"), normalized=True)
    assert np.allclose(out.to_host().reshape(64, 4)[:, 0], expected[:, 0], rtol=0, atol=2e-6)


def test_lanes_with_different_textures(call, module):
    """The compiler goes through the textures one after another."""
    handles = [texture_of(call, resource_of(make_array(call, np.full((4, 1), v, np.float32)))) for v in (3, 8)]
    out = gpulab.zeros(8, "float32")
    module.divergent[1, 8](out, gpulab.to_device(np.array(handles, np.uint64)))
    assert out.to_host().tolist() == [3, 8] * 4


def with_sevens(a):
    return np.concatenate([a[..., :3], np.full_like(a[..., :1], 7)], -1)


@pytest.mark.parametrize(
    ("kernel", "dtype", "shape", "flags", "change"),
    [
        ("surface_one", np.int16, (8, 2), 2, lambda a: a[:, ::-1]),
        ("surface_two", np.float32, (5, 9, 1), 2, lambda a: 2 * a),
        ("surface_three", np.uint8, (3, 4, 6, 1), 2, lambda a: a + np.uint8(1)),
        ("surface_layers", np.int32, (3, 4, 6, 4), 3, lambda a: with_sevens(a)),
        ("surface_rows", np.uint8, (3, 8, 2), 3, lambda a: a[::-1]),
    ],
)  # fmt: skip
def test_surfaces(call, module, kernel, dtype, shape, flags, change):
    """More threads than texels: what lies outside is not written, and read as 0."""
    image = RNG.integers(0, 100, shape).astype(dtype)
    handles = [make_array(call, one, flags) for one in (image, np.zeros_like(image))]
    surfaces = [call.address("hipCreateSurfaceObject", byref(resource_of(h))) for h in handles]
    sizes = [n + 2 for n in shape[-2::-1]]
    sizes = [sizes[0], shape[0], 1] if kernel == "surface_rows" else [*sizes, 1, 1][:3]
    getattr(module, kernel)[1, tuple(sizes)](*map(pointer, surfaces))
    extent = structures.Extent(shape[-2], shape[-3] if len(shape) > 2 else 0, shape[0] if len(shape) > 3 else 0)
    if kernel == "surface_rows":
        extent = structures.Extent(shape[1], 0, shape[0])
    assert np.array_equal(contents(call, handles[1], image, extent), change(image))
    for surface, handle in zip(surfaces, handles, strict=True):
        assert call.hipDestroySurfaceObject(surface) == 0
        assert call.hipFreeArray(handle) == 0


# ------------------------------------------------------------------------------------------------------- arrays


def test_what_an_array_says_of_itself(call):
    described = channels(np.uint16, 2)
    handle = call.address("hipMalloc3DArray", byref(described), structures.Extent(10, 20, 30), 2)
    got, extent, flags = structures.ChannelFormat(), structures.Extent(), ctypes.c_uint()
    assert call.hipArrayGetInfo(byref(got), byref(extent), byref(flags), handle) == 0
    assert bytes(got) == bytes(described)
    assert (extent.width, extent.height, extent.depth, flags.value) == (10, 20, 30, 2)
    three = structures.ArrayDescription3D()
    assert call.hipArray3DGetDescriptor(byref(three), handle) == 0
    assert (three.Width, three.Height, three.Depth, three.Format, three.NumChannels, three.Flags) == (
        10,
        20,
        30,
        2,
        2,
        2,
    )
    assert call.hipGetChannelDesc(byref(got), handle) == 0
    made = call.address("hipArray3DCreate", byref(three))
    again = structures.ArrayDescription()
    assert call.hipArrayGetDescriptor(byref(again), made) == 0
    assert (again.Width, again.Height, again.Format, again.NumChannels) == (10, 20, 2, 2)
    assert call.hipArrayDestroy(made) == 0
    assert call.hipFreeArray(handle) == 0
    assert call.hipFreeArray(handle) == 709  # hipErrorContextIsDestroyed, as HIP documents for an array that is gone
    assert call.hipArrayGetInfo(byref(got), None, None, handle) == 400


def test_arrays_take_the_devices_memory_and_hipfree_does_not_free_them(call, rdna):
    before = rdna.used_bytes
    handle = call.address("hipMallocArray", byref(channels(np.uint8)), 1000, 10, 0)
    assert rdna.used_bytes == before + 10 * 1024  # rows of 256 bytes each
    assert call.hipFree(handle) == 1
    assert call.hipFreeArray(handle) == 0
    assert rdna.used_bytes == before


def test_arrays_in_graphs(call):
    """A node of a graph, and a copy in a captured stream: rows to an array, and from it to the host."""
    array = call.address("hipMallocArray", byref(channels(np.int16)), 8, 6, 0)
    source, target = np.arange(48, dtype=np.int16).reshape(6, 8), np.zeros((3, 4), np.int16)
    p = structures.Memcpy3D(dstArray=array, kind=1)
    p.srcPtr.ptr, p.srcPtr.pitch = source.ctypes.data, 16
    p.extent.width, p.extent.height, p.extent.depth = 8, 6, 1  # in texels
    graph, node = call.address("hipGraphCreate", 0), ctypes.c_uint64()
    assert call.hipGraphAddMemcpyNode(byref(node), graph, None, 0, byref(p)) == 0
    got = structures.Memcpy3D()
    assert call.hipGraphMemcpyNodeGetParams(node.value, byref(got)) == 0
    assert bytes(got) == bytes(p)
    executable = call.address("hipGraphInstantiate", graph, None, None, 0)
    assert call.hipGraphLaunch(executable, None) == 0
    stream = call.address("hipStreamCreateWithFlags", 1)
    assert call.hipStreamBeginCapture(stream, 0) == 0
    assert call.hipMemcpy2DFromArrayAsync(target.ctypes.data, 8, array, 4, 1, 8, 3, 2, stream) == 0
    captured = ctypes.c_uint64()
    assert call.hipStreamEndCapture(stream, byref(captured)) == 0
    assert not target.any()
    second = call.address("hipGraphInstantiate", captured.value, None, None, 0)
    assert call.hipGraphLaunch(second, stream) == call.hipStreamSynchronize(stream) == 0
    np.testing.assert_array_equal(target, source[1:4, 2:6])
    p.extent.height = 7
    assert call.hipGraphAddMemcpyNode(byref(node), graph, None, 0, byref(p)) == 1  # past the array
    assert call.hipFreeArray(array) == call.hipStreamDestroy(stream) == 0
    assert call.hipGraphLaunch(executable, None) == 1  # it is gone


@pytest.mark.parametrize(
    ("described", "sizes", "flags", "code"),
    [
        ((32, 0, 0, 0, 2), (0, 0, 0), 0, 1), ((32, 32, 32, 0, 2), (4, 4, 0), 0, 1),
        ((32, 16, 0, 0, 2), (4, 4, 0), 0, 1),
        ((8, 0, 0, 0, 2), (4, 4, 0), 0, 1), ((24, 0, 0, 0, 0), (4, 4, 0), 0, 1), ((32, 0, 0, 0, 3), (4, 4, 0), 0, 1),
        ((32, 0, 0, 0, 2), (16385, 0, 0), 0, 1), ((32, 0, 0, 0, 2), (4, 0, 4), 0, 1),
        ((32, 0, 0, 0, 2), (4, 4, 0), 1, 1),
        ((32, 0, 0, 0, 2), (4, 4, 6), 4, 801), ((32, 0, 0, 0, 2), (4, 4, 0), 64, 1),
        ((32, 0, 0, 0, 2), (4, 0, 0), 8, 1),
        ((32, 0, 0, 0, 2), (4, 4, 0), 8, 0), ((16, 16, 0, 0, 2), (4, 0, 4), 1, 0),
    ],
)  # fmt: skip
def test_arrays_that_there_are_not(call, described, sizes, flags, code):
    cell = ctypes.c_uint64()
    given = structures.ChannelFormat(*described)
    assert call.hipMalloc3DArray(byref(cell), byref(given), structures.Extent(*sizes), flags) == code


def test_rectangles_go_to_arrays_from_them_and_between_them(call):
    source = np.arange(48, dtype=np.int16).reshape(6, 8)
    first, second = (call.address("hipMallocArray", byref(channels(np.int16)), 8, 6, 0) for _ in range(2))
    assert call.hipMemcpy2DToArray(first, 0, 0, source.ctypes.data, 16, 16, 6, TO_DEVICE) == 0
    assert call.hipMemcpy2DArrayToArray(second, 4, 2, first, 2, 1, 6, 3, ON_DEVICE) == 0
    got = np.zeros((6, 8), np.int16)
    assert call.hipMemcpy2DFromArray(got.ctypes.data, 16, second, 0, 0, 16, 6, TO_HOST) == 0
    expected = np.zeros_like(source)
    expected[2:5, 2:5] = source[1:4, 1:4]
    assert np.array_equal(got, expected)
    part = np.zeros((2, 10), np.int16)
    assert call.hipMemcpy2DFromArrayAsync(part.ctypes.data, 20, first, 4, 3, 8, 2, TO_HOST, None) == 0
    assert np.array_equal(part[:, :4], source[3:5, 2:6])
    assert call.hipMemcpy2DToArrayAsync(first, 8, 4, part.ctypes.data, 20, 8, 2, TO_DEVICE, None) == 0
    assert call.hipMemcpy2DToArray(first, 10, 4, part.ctypes.data, 20, 8, 2, TO_DEVICE) == 1  # beyond a row's end
    assert call.hipMemcpy2DToArray(first, 8, 5, part.ctypes.data, 20, 8, 2, TO_DEVICE) == 1  # beyond the last row
    assert call.hipMemcpy2DToArray(first, 1, 0, part.ctypes.data, 20, 8, 2, TO_DEVICE) == 1  # half a texel
    assert call.hipMemcpy2DToArray(first, 0, 0, part.ctypes.data, 4, 8, 2, TO_DEVICE) == 12  # hipErrorInvalidPitchValue
    assert call.hipMemcpy2DArrayToArray(second, 4, 2, first, 2, 1, 6, 3, TO_HOST) == 21


def test_stretches_of_wider_elements(call):
    """Offsets are in bytes: rows of 5 elements of 2 bytes have 10."""
    array = call.address("hipMallocArray", byref(channels(np.int16)), 5, 3, 0)
    data, got = np.arange(1, 16, dtype=np.int16), np.zeros((3, 5), np.int16)
    assert call.hipMemcpyToArray(array, 0, 0, data.ctypes.data, 30, TO_DEVICE) == 0
    assert call.hipMemcpyFromArray(got.ctypes.data, array, 4, 0, 20, TO_HOST) == 0
    assert got.reshape(-1).tolist() == [*range(3, 13), *[0] * 5]


def test_stretches_run_on_from_row_to_row(call):
    """hipMemcpyToArray and its like, deprecated: bytes from the middle of a row on."""
    array = call.address("hipMallocArray", byref(channels(np.uint8)), 10, 3, 0)
    data = np.arange(1, 19, dtype=np.uint8)
    assert call.hipMemcpyToArray(array, 7, 0, data.ctypes.data, 18, TO_DEVICE) == 0
    got = np.zeros((3, 10), np.uint8)
    assert call.hipMemcpyFromArray(got.ctypes.data, array, 0, 0, 30, TO_HOST) == 0
    assert got.reshape(-1).tolist() == [*[0] * 7, *range(1, 19), *[0] * 5]
    assert call.hipMemcpyAtoH(got.ctypes.data, array, 8, 12) == 0
    assert got.reshape(-1)[:12].tolist() == list(range(2, 14))
    assert call.hipMemcpyHtoA(array, 5, data.ctypes.data, 26) == 1
    # Where an address or the array is missing nothing is copied.
    for code in (
        call.hipMemcpyToArray(None, 0, 0, data.ctypes.data, 4, TO_DEVICE),
        call.hipMemcpyToArray(array, 0, 0, None, 4, TO_DEVICE),
        call.hipMemcpyFromArray(None, array, 0, 0, 4, TO_HOST),
        call.hipMemcpyFromArray(got.ctypes.data, None, 0, 0, 4, TO_HOST),
        call.hipMemcpyFromArray(None, array, 0, 0, 0, TO_HOST),
    ):
        assert code == 1


def test_boxes_of_texels(call):
    """With an array at an end extents and places in it count texels; places in plain memory count bytes."""
    source = np.arange(3 * 4 * 5, dtype=np.int32).reshape(3, 4, 5)
    array = make_array(call, source.reshape(3, 4, 5, 1))
    got = np.zeros((2, 3, 4), np.int32)
    p = structures.Memcpy3D(srcArray=array, extent=structures.Extent(3, 2, 2), kind=TO_HOST)
    p.srcPos = structures.Position(2, 1, 1)
    p.dstPtr, p.dstPos = structures.PitchedPtr(got.ctypes.data, 16, 16, 3), structures.Position(4, 1, 0)
    assert call.hipMemcpy3D(byref(p)) == 0
    expected = np.zeros_like(got)
    expected[:, 1:, 1:] = source[1:3, 1:3, 2:5]
    assert np.array_equal(got, expected)
    for name, last in (("x", 2), ("y", 2), ("z", 1)):
        p.srcPos = structures.Position(0, 0, 0)
        for place, code in ((last, 0), (last + 1, 1)):  # up to the end of the array, and one beyond it
            setattr(p.srcPos, name, place)
            assert call.hipMemcpy3D(byref(p)) == code, (name, place)
    driver = structures.DriverMemcpy3D(
        srcMemoryType=10, srcArray=array, srcXInBytes=8, srcY=1, srcZ=1, dstMemoryType=1, dstHost=got.ctypes.data,
        dstXInBytes=4, dstY=1, dstPitch=16, dstHeight=3, WidthInBytes=12, Height=2, Depth=2,
    )  # fmt: skip
    got[:] = 0
    assert call.hipDrvMemcpy3D(byref(driver)) == 0
    assert np.array_equal(got, expected)
    flat = structures.Memcpy2D(
        srcMemoryType=10,
        srcArray=array,
        dstMemoryType=1,
        dstHost=got.ctypes.data,
        dstPitch=16,
        WidthInBytes=16,
        Height=2,
    )
    assert call.hipMemcpyParam2D(byref(flat)) == 0
    assert np.array_equal(got.reshape(6, 4)[:2], source[0, :2, :4])


def test_batches_of_copies_with_arrays(call):
    """hipMemcpy3DBatchAsync: an end may be an array (type 2) at a place in texels; lengths of rows are in texels."""
    array = call.address("hipMallocArray", byref(channels(np.int16, 2)), 8, 6, 0)
    memory = call.address("hipMalloc", 256)
    given, got = np.arange(128, dtype=np.int16), np.zeros(128, np.int16)
    assert call.hipMemcpy(memory, given.ctypes.data, 256, TO_DEVICE) == 0
    batch = (structures.BatchCopy3D * 2)()
    for one, plain, other in ((batch[0], batch[0].src, batch[0].dst), (batch[1], batch[1].dst, batch[1].src)):
        one.extent, one.srcAccessOrder = structures.Extent(3, 2, 1), 1
        plain.type, other.type = 1, 2
        other.op.array.array, other.op.array.offset = array, structures.Position(1, 2, 0)
        plain.op.ptr.rowLength = 5
    batch[0].src.op.ptr.ptr, batch[1].dst.op.ptr.ptr = memory, got.ctypes.data
    assert call.hipMemcpy3DBatchAsync(2, batch, None, 0, None) == 0
    rows = given[:20].reshape(2, 10)[:, :6]
    assert np.array_equal(got[:20].reshape(2, 10)[:, :6], rows)
    assert not got[6:10].any()
    whole = np.zeros((6, 16), np.int16)
    assert call.hipMemcpy2DFromArray(whole.ctypes.data, 32, array, 0, 0, 32, 6, TO_HOST) == 0
    expected = np.zeros_like(whole)
    expected[2:4, 2:8] = rows
    assert np.array_equal(whole, expected)
    batch[0].dst.op.array.array = None
    failed = ctypes.c_size_t(9)
    assert call.hipMemcpy3DBatchAsync(2, batch, byref(failed), 0, None) == 1
    assert failed.value == 0
    assert call.hipFree(memory) == call.hipFreeArray(array) == 0


# ------------------------------------------------------------------------------------------------------ objects


def test_what_an_object_was_made_of(call):
    handle = make_array(call, np.zeros((4, 4, 1), np.float32))
    texture = texture_of(call, resource_of(handle), mode="wrap", linear=True, normalized=True)
    resource, description, view = (
        structures.ResourceDescription(),
        structures.TextureDescription(),
        structures.ResourceView(),
    )
    assert call.hipGetTextureObjectResourceDesc(byref(resource), texture) == 0
    assert (resource.resType, resource.res.array) == (ARRAY, handle)
    assert call.hipGetTextureObjectTextureDesc(byref(description), texture) == 0
    assert (list(description.addressMode), description.filterMode, description.normalizedCoords) == ([0, 0, 0], 1, 1)
    assert call.hipGetTextureObjectResourceViewDesc(byref(view), texture) == 0
    driver, sampling_ = structures.DriverResource(), structures.DriverTexture()
    assert call.hipTexObjectGetResourceDesc(byref(driver), texture) == 0
    assert driver.res.array == handle
    assert call.hipTexObjectGetTextureDesc(byref(sampling_), texture) == 0
    assert (sampling_.filterMode, sampling_.flags) == (1, 1 | 2)
    made = call.address("hipTexObjectCreate", byref(driver), byref(sampling_), None)
    assert call.hipTexObjectDestroy(made) == 0
    assert call.hipDestroySurfaceObject(texture) == 1  # it is a texture
    assert call.hipDestroyTextureObject(texture) == 0
    assert call.hipDestroyTextureObject(texture) == 1
    assert call.hipDestroyTextureObject(0) == 0
    assert call.hipGetTextureObjectResourceDesc(byref(resource), texture) == 1


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"sRGB": 1}, 801), ({"maxAnisotropy": 4}, 801), ({"mipmapLevelBias": 1.0}, 801),
        ({"maxMipmapLevelClamp": 2.0}, 801),
        ({"minMipmapLevelClamp": 1.0}, 801), ({"mode": ["border"] * 3, "borderColor": (0.5, 0, 0, 0)}, 801),
        ({"mode": ["border"] * 3, "borderColor": (1, 1, 1, 1)}, 0), ({"linear": 2}, 1), ({"floats": 3}, 1),
        ({"linear": 1, "integers": True}, 1), ({"linear": 1, "floats": 1, "integers": True}, 1),
        ({"integers": True}, 0),
    ],
)  # fmt: skip
def test_textures_that_there_are_not(call, fields, code):
    """Of 32-bit integers, too, which HIP does not read as floats."""
    fields = dict(fields)
    handle = make_array(call, np.zeros((4, 4, 1), np.int32 if fields.pop("integers", False) else np.float32))
    texture = structures.TextureDescription(filterMode=fields.pop("linear", 0), readMode=fields.pop("floats", 0))
    for n, mode in enumerate(fields.pop("mode", [])):
        texture.addressMode[n] = MODES[mode]
    for name, value in fields.items():
        setattr(texture, name, (ctypes.c_float * 4)(*value) if name == "borderColor" else value)
    cell = ctypes.c_uint64()
    assert call.hipCreateTextureObject(byref(cell), byref(resource_of(handle)), byref(texture), None) == code
    assert bool(cell.value) == (not code)


def test_memory_that_is_no_texture(call):
    cell, texture = ctypes.c_uint64(), structures.TextureDescription()
    memory = call.address("hipMalloc", 4096)

    def made(resource):
        return call.hipCreateTextureObject(byref(cell), byref(resource), byref(texture), None)

    def linear(address, size):
        resource = structures.ResourceDescription(resType=LINEAR)
        resource.res.linear.devPtr, resource.res.linear.sizeInBytes = address, size
        resource.res.linear.desc = channels(np.float32)
        return resource

    assert made(linear(memory, 4096)) == 0
    assert made(linear(memory + 16, 1024)) == 1  # textureAlignment is 256
    assert made(linear(memory, 4100)) == 1
    assert made(linear(0, 4096)) == 1
    resource = structures.ResourceDescription(resType=PITCH_2D)
    flat = resource.res.pitch2D
    flat.desc = channels(np.float32)
    for values, code in (
        ((memory, 10, 16, 256), 0), ((memory, 10, 17, 256), 1), ((memory, 10, 4, 100), 1),
        ((memory + 4, 10, 4, 256), 1),
        ((memory, 65, 4, 256), 1),
    ):  # fmt: skip
        flat.devPtr, flat.width, flat.height, flat.pitchInBytes = values
        assert made(resource) == code, values
    assert made(structures.ResourceDescription(resType=1)) == 801  # mipmapped
    assert made(structures.ResourceDescription(resType=9)) == 1
    assert made(resource_of(memory)) == 400
    assert call.hipCreateSurfaceObject(byref(cell), byref(linear(memory, 4096))) == 1
    view = structures.ResourceView(width=2)
    handle = make_array(call, np.zeros((4, 4, 1), np.float32))
    given = byref(cell), byref(resource_of(handle)), byref(texture)
    assert call.hipCreateTextureObject(*given, byref(view)) == 801
    view.width = 4
    assert call.hipCreateTextureObject(*given, byref(view)) == 0


def test_devices_without_a_texture_unit_have_none_of_it(call, hip):
    """hipDeviceAttributeImageSupport (10014) is 0 on gfx942, and the reason says so."""
    instance = runtime.instance()
    place = next(d.index for d in instance.devices if d.architecture.name == "gfx942")
    assert call.number("hipDeviceGetAttribute", 10014, place) == 0
    assert call.number("hipDeviceGetAttribute", 10014, instance.current.index) == 1
    assert call.number("hipDeviceGetAttribute", 39, place) == 0  # maxTexture1D
    assert call.address("hipDeviceGetTexture1DLinearMaxWidth", byref(channels(np.float32)), place) == 0
    assert (
        call.address("hipDeviceGetTexture1DLinearMaxWidth", byref(channels(np.float32)), instance.current.index)
        > 1 << 27
    )
    instance.set_device(place)
    cell = ctypes.c_uint64()
    assert call.hipMallocArray(byref(cell), byref(channels(np.float32)), 4, 4, 0) == 801
    assert "no texture unit" in str(instance.take_exception())
    resource, texture = structures.ResourceDescription(resType=LINEAR), structures.TextureDescription()
    assert call.hipCreateTextureObject(byref(cell), byref(resource), byref(texture), None) == 801


# ------------------------------------------------------------------------------------- faults, profiles, checks


def test_a_function_that_does_not_fit_the_object(call, module):
    texture = texture_of(call, resource_of(make_array(call, np.zeros((4, 4, 1), np.float32))))
    out = gpulab.zeros(256, "float32")
    with pytest.raises(gpulab.errors.MemoryFault, match=r"(?s)does not fit the function.*tex2D a 2D array"):
        module.one[1, 32](out, pointer(texture), gpulab.zeros(32, "float32"))
    with pytest.raises(gpulab.errors.MemoryFault, match="does not fit the function"):
        module.fetch[1, 32](gpulab.zeros(32, "int32"), pointer(texture))


def test_an_array_that_was_freed(call, module):
    handle = make_array(call, np.zeros((64, 4), np.float32))
    texture = texture_of(call, resource_of(handle))
    out, x = gpulab.zeros(128, "float32"), gpulab.zeros(32, "float32")  # later they could lie where it was
    assert call.hipFreeArray(handle) == 0
    with pytest.raises(gpulab.errors.MemoryFault, match=r"(?s)memory that was freed.*a HIP array|freed"):
        module.one[1, 32](out, pointer(texture), x)


def test_no_object(call, module):
    with pytest.raises(gpulab.errors.MemoryFault, match="null pointer"):
        module.one[1, 32](gpulab.zeros(128, "float32"), pointer(0), gpulab.zeros(32, "float32"))


def test_a_profile_counts_each_tap(call, module):
    """32 lanes read a row of 32 floats at its texels' centres (one line of 128 bytes), and half a texel further: two
    taps, the last of which is clamped."""
    handle = make_array(call, np.zeros((32, 1), np.float32))
    places = gpulab.to_device(np.arange(32, dtype=np.float32) + 0.5)
    out = gpulab.zeros(128, "float32")
    for linear, lines in ((False, 1), (True, 2)):
        texture = texture_of(call, resource_of(handle), linear=linear)
        with gpulab.profile() as profile:
            module.one[1, 32](out, pointer(texture), places)
        (run,) = profile.launches
        assert run.counters["SQ_INSTS_TEX_LOAD"] == 2  # the coordinates, and the sample
        (access,) = [a for a in run.accesses if a.instruction.startswith("image_sample")]
        assert (access.lines, access.bytes, access.executed) == (lines, 4, 1)
        assert access.lanes == 32 * lines


def test_descriptors_of_any_bits_end_nothing_but_the_kernel(call, module):
    """Bits of a texture's and of a surface's words are changed at random: the kernel runs, or is stopped."""
    image = make_array(call, RNG.uniform(-1, 1, (4, 6, 4)).astype(np.float32), 2)
    memory = call.address("hipMalloc", 1024)
    resource = structures.ResourceDescription(resType=LINEAR)
    resource.res.linear.devPtr, resource.res.linear.sizeInBytes = memory, 1024
    resource.res.linear.desc = channels(np.uint8, 4)
    objects = [texture_of(call, resource_of(image), linear=True), texture_of(call, resource)]
    objects.append(call.address("hipCreateSurfaceObject", byref(resource_of(image))))
    places = gpulab.to_device(np.float32(RNG.uniform(-9, 9, 32)))
    out, rng, stopped = gpulab.zeros(256, "float32"), np.random.default_rng(11), 0
    for n in range(150):
        words = np.frombuffer(ctypes.string_at(objects[n % 3], 80), np.uint32).copy()
        for _ in range(rng.integers(1, 5)):
            words[rng.integers(0, 16)] ^= np.uint32(1 << rng.integers(0, 32))
        changed = gpulab.to_device(words)
        made = gpulab.Pointer(changed.address)
        try:
            if n % 3 == 0:
                module.two[1, 32](out, made, places, places)
            elif n % 3 == 1:
                module.fetch_bytes[1, 32](gpulab.zeros(128, "uint8"), made)
            else:
                module.surface_two[1, (8, 4)](made, made)
        except gpulab.errors.MemoryFault:
            stopped += 1
    assert 30 < stopped < 150


def test_two_lanes_that_write_one_texel(call, module):
    handle = make_array(call, np.zeros((32, 1), np.float32), 2)
    surface = call.address("hipCreateSurfaceObject", byref(resource_of(handle)))
    with gpulab.checked(), pytest.raises(gpulab.errors.CheckedFault):
        module.same_place[1, 32](pointer(surface))


def test_hip_python_makes_textures(hip, module):
    from tests.hip.conftest import ok

    image = np.arange(12, dtype=np.float32)
    described = hip.hipChannelFormatDesc(x=32, y=0, z=0, w=0, f=hip.hipChannelFormatKind.hipChannelFormatKindFloat)
    array = ok(hip.hipMallocArray(described, 12, 0, hip.hipArrayDefault))
    ok(hip.hipMemcpy2DToArray(array, 0, 0, image, 48, 48, 1, hip.hipMemcpyKind.hipMemcpyHostToDevice))
    resource, texture = hip.hipResourceDesc(), hip.hipTextureDesc()
    resource.resType = hip.hipResourceType.hipResourceTypeArray
    ctypes.c_uint64.from_address(int(resource.as_c_void_p().value) + 8).value = int(array.as_c_void_p().value)
    made = ok(hip.hipCreateTextureObject(resource, texture, None))
    out = gpulab.zeros(128, "float32")
    module.one[1, 32](out, made, gpulab.to_device(np.minimum(np.arange(32), 11).astype(np.float32) + 0.5))
    assert out.to_host().reshape(32, 4)[:12, 0].tolist() == image.tolist()
    ok(hip.hipDestroyTextureObject(made))
    ok(hip.hipFreeArray(array))


# --------------------------------------------------------------------- descriptions and descriptors, field by field


def fields_of(given):
    return {name: getattr(given, name) for name, _ in given._fields_}


FORMATS = {  # hipArray_Format of hip/driver_types.h
    "uint8": 0x01, "uint16": 0x02, "uint32": 0x03, "int8": 0x08, "int16": 0x09, "int32": 0x0A, "float16": 0x10,
    "float32": 0x20,
}  # fmt: skip


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("count", [1, 2, 4])
def test_what_the_drivers_calls_say_of_plain_memory(call, dtype, count):
    """A texture of linear and one of pitched memory: all fields, from the driver's form to the runtime's and back."""
    memory, cell = call.address("hipMalloc", 4096), ctypes.c_uint64()
    plain, flat = structures.DriverResource(resType=LINEAR), structures.DriverResource(resType=PITCH_2D)
    part, texture = plain.res.linear, structures.DriverTexture(flags=1)
    part.devPtr, part.format, part.numChannels, part.sizeInBytes = memory + 256, FORMATS[dtype], count, 1000
    part = flat.res.pitch2D
    part.devPtr, part.format, part.numChannels = memory + 512, FORMATS[dtype], count
    part.width, part.height, part.pitchInBytes = 10, 7, 512
    described = bytes(channels(dtype, count))
    for given, kind in ((plain, "linear"), (flat, "pitch2D")):
        made = call.address("hipTexObjectCreate", byref(given), byref(texture), None)
        got, runtime_s = structures.DriverResource(), structures.ResourceDescription()
        assert call.hipTexObjectGetResourceDesc(byref(got), made) == 0
        assert got.resType == given.resType
        assert fields_of(getattr(got.res, kind)) == fields_of(getattr(given.res, kind))
        assert call.hipGetTextureObjectResourceDesc(byref(runtime_s), made) == 0
        found = getattr(runtime_s.res, kind)
        assert bytes(found.desc) == described
        names = ("devPtr", "sizeInBytes") if kind == "linear" else ("devPtr", "width", "height", "pitchInBytes")
        assert [getattr(found, n) for n in names] == [getattr(getattr(given.res, kind), n) for n in names]
        assert call.hipTexObjectGetResourceDesc(None, made) == call.hipGetTextureObjectTextureDesc(None, made) == 1
        assert call.hipTexObjectDestroy(made) == 0
    plain.res.linear.numChannels = 3
    assert call.hipTexObjectCreate(byref(cell), byref(plain), byref(texture), None) == 1
    plain.res.linear.numChannels, plain.res.linear.format = count, 0x04
    assert call.hipTexObjectCreate(byref(cell), byref(plain), byref(texture), None) == 1
    assert call.hipFree(memory) == 0


@pytest.mark.parametrize(
    ("flags", "reads_floats", "normalized", "code"),
    [(0, 1, 0, 0), (1, 0, 0, 0), (2, 1, 1, 0), (3, 0, 1, 0), (16, None, None, 801)],
)
def test_flags_of_the_drivers_textures(call, flags, reads_floats, normalized, code):
    """HIP_TRSF_READ_AS_INTEGER 1, NORMALIZED_COORDINATES 2, SRGB 16."""
    handle = make_array(call, np.zeros((4, 4, 1), np.uint8))
    driver = structures.DriverResource(resType=ARRAY)
    driver.res.array = handle
    given = structures.DriverTexture(flags=flags, filterMode=0, addressMode=(0, 1, 2), borderColor=(1, 1, 1, 1))
    cell = ctypes.c_uint64(9)
    assert call.hipTexObjectCreate(byref(cell), byref(driver), byref(given), None) == code
    if code:
        assert cell.value == 0
        return
    found, again = structures.TextureDescription(), structures.DriverTexture()
    assert call.hipGetTextureObjectTextureDesc(byref(found), cell.value) == 0
    assert (found.readMode, found.normalizedCoords, found.sRGB) == (reads_floats, normalized, 0)
    assert (list(found.addressMode), list(found.borderColor), found.filterMode) == ([0, 1, 2], [1.0] * 4, 0)
    assert call.hipTexObjectGetTextureDesc(byref(again), cell.value) == 0
    assert bytes(again) == bytes(given)


@pytest.mark.parametrize("name", ["maxAnisotropy", "mipmapLevelBias", "minMipmapLevelClamp", "maxMipmapLevelClamp"])
def test_fields_of_the_drivers_textures_that_are_refused(call, name):
    driver = structures.DriverResource(resType=ARRAY)
    driver.res.array = make_array(call, np.zeros((4, 4, 1), np.float32))
    given = structures.DriverTexture(**{name: 1})
    assert call.hipTexObjectCreate(byref(ctypes.c_uint64()), byref(driver), byref(given), None) == 801
    assert str(runtime.instance().take_exception()) == (
        f"{name} of hipTextureDesc: textures have one level here; leave it 0"
    )


def bits(words, first, count):
    return sum(word << 32 * n for n, word in enumerate(words)) >> first & (1 << count) - 1


UFMT = {  # LLVM's SIDefines.h, UfmtGFX11
    ("uint8", 1, False): 5, ("uint8", 1, True): 1, ("int8", 1, False): 6, ("int8", 1, True): 2,
    ("float16", 1, False): 13, ("uint16", 1, True): 7, ("int16", 1, False): 12, ("uint8", 2, True): 14,
    ("uint32", 1, False): 20, ("uint32", 1, True): 20, ("int32", 1, True): 21, ("float32", 1, True): 22,
    ("float16", 2, False): 29, ("uint8", 4, True): 42, ("int8", 4, False): 47, ("float32", 2, False): 50,
    ("int16", 4, True): 52, ("float16", 4, False): 57, ("uint32", 4, False): 61, ("float32", 4, False): 63,
}  # fmt: skip
SELECTED = {1: (4, 0, 0, 1), 2: (4, 5, 0, 1), 4: (4, 5, 6, 7)}  # dst_sel of x, y, z, w
HSA_TYPES = {  # hsa_ext_image_channel_type_t
    ("int8", True): 0, ("int16", True): 1, ("uint8", True): 2, ("uint16", True): 3, ("int8", False): 8,
    ("int16", False): 9, ("int32", False): 10, ("int32", True): 10, ("uint8", False): 11, ("uint32", False): 13,
    ("uint32", True): 13, ("float16", False): 14, ("float32", False): 15, ("float32", True): 15,
}  # fmt: skip
HSA_ORDERS = {1: 1, 2: 3, 4: 8}  # hsa_ext_image_channel_order_t: R, RG, RGBA


@pytest.mark.parametrize(("dtype", "count", "normalized"), UFMT)
def test_every_word_of_an_arrays_texture(call, dtype, count, normalized):
    """The fields of RDNA 3's image resource descriptor, in eight words; four that the runtime has; the sampler."""
    handle = make_array(call, np.zeros((6, 70, count), dtype))
    texture = texture_of(call, resource_of(handle), mode=["wrap", "border", "mirror"], linear=False, floats=normalized,
                         normalized=True)  # fmt: skip
    words = np.frombuffer(ctypes.string_at(texture, 80), np.uint32).tolist()
    size = np.dtype(dtype).itemsize * count
    pitch = -(-70 * size // 256) * 256 // size
    assert bits(words, 0, 40) == handle >> 8
    assert bits(words, 52, 8) == UFMT[dtype, count, normalized]
    assert (bits(words, 62, 14), bits(words, 78, 14)) == (69, 5)
    assert tuple(bits(words, at, 3) for at in (96, 99, 102, 105)) == SELECTED[count]
    assert (bits(words, 108, 16), bits(words, 124, 4)) == (0, 9)
    assert (bits(words, 128, 14), bits(words, 142, 114)) == (pitch - 1, 0)
    assert words[8:12] == [HSA_TYPES[dtype, normalized], HSA_ORDERS[count], 70, 0]
    assert words[12:] == [0 | 6 << 3 | 1 << 6, 0xFFF << 12, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("shape", "flags", "type_", "height", "last"),
    [((13, 1), 0, 8, 1, 63), ((7, 13, 1), 0, 9, 7, 63), ((4, 7, 13, 1), 0, 10, 7, 3), ((3, 13, 1), 1, 12, 1, 2),
     ((3, 7, 13, 1), 1, 13, 7, 2)],
)  # fmt: skip
def test_the_shapes_of_arrays_in_a_descriptor(call, shape, flags, type_, height, last):
    """1D, 2D, 3D, and layers of rows and planes: the type, and pitch (256 bytes are 64 texels) or slices less one."""
    handle = make_array(call, np.zeros(shape, np.float32), flags)
    texture = texture_of(call, resource_of(handle))
    words = np.frombuffer(ctypes.string_at(texture, 80), np.uint32).tolist()
    found = (bits(words, 124, 4), bits(words, 62, 14), bits(words, 78, 14), bits(words, 128, 14))
    assert found == (type_, 12, height - 1, last)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, (2 | 2 << 3 | 2 << 6 | 1 << 15, 0xFFF << 12, 0, 0)),
        ({"mode": "wrap"}, (2 | 2 << 3 | 2 << 6 | 1 << 15, 0xFFF << 12, 0, 0)),  # clamped where not normalised
        ({"mode": "mirror", "normalized": True}, (1 | 1 << 3 | 1 << 6, 0xFFF << 12, 0, 0)),
        ({"mode": "border"}, (6 | 6 << 3 | 6 << 6 | 1 << 15, 0xFFF << 12, 0, 0)),
        ({"linear": True}, (2 | 2 << 3 | 2 << 6 | 1 << 15, 0xFFF << 12, 1 << 20 | 1 << 22, 0)),
        ({"mode": "border", "borderColor": (ctypes.c_float * 4)(0, 0, 0, 1)},
         (6 | 6 << 3 | 6 << 6 | 1 << 15, 0xFFF << 12, 0, 1 << 30)),
        ({"mode": "border", "borderColor": (ctypes.c_float * 4)(1, 1, 1, 1)},
         (6 | 6 << 3 | 6 << 6 | 1 << 15, 0xFFF << 12, 0, 2 << 30)),
        ({"borderColor": (ctypes.c_float * 4)(1, 1, 1, 1)}, (2 | 2 << 3 | 2 << 6 | 1 << 15, 0xFFF << 12, 0, 0)),
    ],
)  # fmt: skip
def test_every_word_of_a_sampler(call, fields, words):
    handle = make_array(call, np.zeros((4, 4, 1), np.float32))
    texture = texture_of(call, resource_of(handle), **fields)
    assert struct.unpack("<8I", ctypes.string_at(texture + 48, 32)) == (*words, 0, 0, 0, 0)
    surface = call.address("hipCreateSurfaceObject", byref(resource_of(handle)))
    assert ctypes.string_at(surface, 48) == ctypes.string_at(texture, 48)
    assert not any(ctypes.string_at(surface + 48, 32))


def test_every_word_of_a_texture_of_plain_memory(call):
    """A buffer's descriptor: address, stride (bits 48 on), texels, selection and format; a pitched one is an image."""
    memory = call.address("hipMalloc", 4096)
    plain, flat = structures.ResourceDescription(resType=LINEAR), structures.ResourceDescription(resType=PITCH_2D)
    plain.res.linear.devPtr, plain.res.linear.sizeInBytes = memory + 256, 1003
    plain.res.linear.desc = channels(np.int16, 2)
    words = struct.unpack("<20I", ctypes.string_at(texture_of(call, plain, mode="border"), 80))
    address = memory + 256
    selected = 4 | 5 << 3 | 0 << 6 | 1 << 9
    assert words[:4] == (address & 0xFFFFFFFF, address >> 32 | 4 << 16, 250, selected | 28 << 12)  # 16_16_SINT
    assert words[4:12] == (0, 0, 0, 0, 9, 3, 250, 0)
    assert words[12:16] == (6 | 6 << 3 | 6 << 6 | 1 << 15, 0xFFF << 12, 0, 0)
    part = flat.res.pitch2D
    part.devPtr, part.width, part.height, part.pitchInBytes, part.desc = memory, 33, 5, 512, channels(np.int16, 2)
    words = struct.unpack("<20I", ctypes.string_at(texture_of(call, flat), 80))
    assert (bits(words, 0, 40), bits(words, 52, 8), bits(words, 124, 4)) == (memory >> 8, 28, 9)
    assert (bits(words, 62, 14), bits(words, 78, 14), bits(words, 128, 14)) == (32, 4, 127)
    assert words[8:12] == (9, 3, 33, 0)
    assert call.hipFree(memory) == 0


def test_an_images_descriptor_in_each_generation():
    """RDNA 2 has the format from bit 52 on, as RDNA 3; RDNA 4 from bit 49."""
    from gpulab.virtual_gpu.runtime.textures import words_of

    address = 0xABC_DEF0_1200
    for generation, at, number in (("gfx10", 52, 128), ("gfx11", 52, 63), ("gfx12", 49, 63)):
        words = words_of("3d", generation, address, number, 4, 16384, 77, 8191)
        assert all(0 <= word < 1 << 32 for word in words)
        assert len(words) == 8
        given = address >> 8 | number << at | 16383 << 62 | 76 << 78 | 10 << 124 | 8191 << 128
        given |= (4 | 5 << 3 | 6 << 6 | 7 << 9) << 96
        assert sum(word << 32 * n for n, word in enumerate(words)) == given, generation


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ((0, 16384, 1, 65536), 0), ((0, 16385, 1, 65792), 1), ((0, 1, 16384, 256), 0), ((0, 1, 16385, 256), 1),
        ((0, 0, 4, 256), 1), ((0, 4, 0, 256), 1), ((0, 64, 4, 256), 0), ((0, 4, 4, 65536), 0), ((0, 4, 4, 65792), 1),
        ((0, 4, 4, 257), 1), ((0, 64, 16385, 256), 1), ((16384 * 256 - 256, 64, 1, 256), 0),
        ((16384 * 256 - 256, 64, 2, 256), 1),
    ],
)  # fmt: skip
def test_the_largest_pitched_textures(call, values, code):
    memory = call.address("hipMalloc", 16384 * 256)
    resource, texture = structures.ResourceDescription(resType=PITCH_2D), structures.TextureDescription()
    part = resource.res.pitch2D
    part.desc = channels(np.float32)
    part.devPtr, part.width, part.height, part.pitchInBytes = memory + values[0], *values[1:]
    assert call.hipCreateTextureObject(byref(ctypes.c_uint64()), byref(resource), byref(texture), None) == code
    assert call.hipFree(memory) == 0


def test_views_are_whole(call):
    handle = make_array(call, np.zeros((3, 4, 5, 1), np.float32), 1)
    texture, cell = structures.TextureDescription(), ctypes.c_uint64()
    for fields, code in (
        ({}, 0), ({"width": 5, "height": 4, "depth": 3}, 0), ({"width": 4}, 801), ({"height": 5}, 801),
        ({"depth": 2}, 801), ({"format": 1}, 801), ({"firstMipmapLevel": 1}, 801), ({"lastMipmapLevel": 1}, 801),
        ({"firstLayer": 1}, 801), ({"lastLayer": 2}, 0), ({"lastLayer": 1}, 801), ({"lastLayer": 3}, 801),
    ):  # fmt: skip
        view = structures.ResourceView(**fields)
        given = byref(resource_of(handle)), byref(texture), byref(view)
        assert call.hipCreateTextureObject(byref(cell), *given) == code, fields
        if not code:
            shown = structures.ResourceView()
            for name in ("hipGetTextureObjectResourceViewDesc", "hipTexObjectGetResourceViewDesc"):
                assert getattr(call, name)(byref(shown), cell.value) == 0
                assert bytes(shown) == bytes(view)
    memory = call.address("hipMalloc", 1024)
    plain = structures.ResourceDescription(resType=LINEAR)
    plain.res.linear.devPtr, plain.res.linear.sizeInBytes, plain.res.linear.desc = memory, 1024, channels(np.float32)
    given = byref(plain), byref(texture), byref(structures.ResourceView())
    assert call.hipCreateTextureObject(byref(cell), *given) == 1
    assert call.hipFree(memory) == 0


def test_arrays_of_the_driver(call, rdna):
    """hipArrayCreate: a format and a number of channels; 2D, or one row with the height 0."""
    before, cell = rdna.used_bytes, ctypes.c_uint64()
    for height, rows in ((6, 6), (0, 1)):
        given = structures.ArrayDescription(Width=200, Height=height, Format=0x10, NumChannels=2)
        handle = call.address("hipArrayCreate", byref(given))
        assert rdna.used_bytes - before == 1024 * rows  # 800 bytes in a row
        got, extent, flags = structures.ChannelFormat(), structures.Extent(9, 9, 9), ctypes.c_uint(9)
        assert call.hipArrayGetInfo(byref(got), byref(extent), byref(flags), handle) == 0
        assert bytes(got) == bytes(channels(np.float16, 2))
        assert (extent.width, extent.height, extent.depth, flags.value) == (200, height, 0, 0)
        alone = structures.ChannelFormat(1, 2, 3, 4, 5)
        assert call.hipGetChannelDesc(byref(alone), handle) == 0
        assert bytes(alone) == bytes(got)
        assert call.hipArrayGetInfo(None, None, None, handle) == 0
        assert call.hipArrayDestroy(handle) == 0
    assert rdna.used_bytes == before
    for number, count in ((0x10, 3), (0x10, 0), (0x04, 1), (0x30, 1)):
        given = structures.ArrayDescription(Width=20, Height=6, Format=number, NumChannels=count)
        assert call.hipArrayCreate(byref(cell), byref(given)) == 1
    for function in (call.hipArrayCreate, call.hipArray3DCreate, call.hipFreeArray, call.hipArrayDestroy):
        assert function(*[None] * (1 if function in (call.hipFreeArray, call.hipArrayDestroy) else 2)) == 1
    longest = call.address("hipDeviceGetTexture1DLinearMaxWidth", byref(channels(np.float32)), rdna.index)
    assert longest == 2**31 - 1
    for sizes, code in (
        ((16384, 1, 0), 0), ((16385, 1, 0), 1), ((1, 16384, 0), 0), ((1, 16385, 0), 1), ((1, 1, 8192), 0),
        ((1, 1, 8193), 1),
    ):  # fmt: skip
        made = call.hipMalloc3DArray(byref(cell), byref(channels(np.uint8)), structures.Extent(*sizes), 0)
        assert made == code, sizes
        if not code:
            assert call.hipFreeArray(cell.value) == 0


def test_nothing_is_copied_of_no_rows_and_of_too_many(call):
    """An empty rectangle is no mistake; what goes past the end is one, with the sizes in the reason."""
    array = call.address("hipMallocArray", byref(channels(np.int16)), 8, 6, 0)
    data = np.arange(48, dtype=np.int16)
    got = np.zeros(48, np.int16)
    for width, height in ((0, 3), (4, 0)):
        assert call.hipMemcpy2DToArray(array, 0, 0, data.ctypes.data, 16, width, height, TO_DEVICE) == 0
        assert call.hipMemcpy2DFromArray(got.ctypes.data, 16, array, 0, 0, width, height, TO_HOST) == 0
    assert call.hipMemcpy2DToArray(array, 4, 5, data.ctypes.data, 16, 12, 1, TO_DEVICE) == 0
    assert call.hipMemcpy2DToArray(array, 6, 5, data.ctypes.data, 16, 12, 1, TO_DEVICE) == 1
    assert str(runtime.instance().take_exception()) == (
        "12 bytes by 1 rows from byte 6 of row 5 go past the end of an array of 16 bytes by 6 rows"
    )
    assert call.hipMemcpy2DToArray(array, 1, 0, data.ctypes.data, 16, 2, 1, TO_DEVICE) == 1
    assert str(runtime.instance().take_exception()) == "widths and offsets are bytes: multiples of 2 here"
    assert call.hipMemcpy2DToArray(array, 0, 0, data.ctypes.data, 16, 3, 1, TO_DEVICE) == 1
    assert call.hipMemcpy2DFromArray(got.ctypes.data, 7, array, 0, 0, 8, 1, TO_HOST) == 12
    assert call.hipMemcpy2DFromArray(got.ctypes.data, 8, array, 0, 0, 8, 1, TO_HOST) == 0
    assert call.hipMemcpyFromArray(got.ctypes.data, array, 16, 0, 4, TO_HOST) == 1
    assert str(runtime.instance().take_exception()) == "byte 16 is beyond the end of a row of 16 bytes"
    p = structures.Memcpy3D(srcArray=array, kind=TO_HOST, extent=structures.Extent(4, 2, 1))
    p.srcPos, p.dstPtr = structures.Position(5, 5, 1), structures.PitchedPtr(got.ctypes.data, 8, 8, 2)
    assert call.hipMemcpy3D(byref(p)) == 1
    assert str(runtime.instance().take_exception()) == (
        "8 bytes, 2 rows and 1 slices from (10, 5, 1) go past the end of an array of 16 bytes, 6 rows and 1 slices"
    )
    other = call.address("hipMallocArray", byref(channels(np.int32)), 8, 6, 0)
    p = structures.Memcpy3D(srcArray=array, dstArray=other, kind=ON_DEVICE, extent=structures.Extent(2, 2, 1))
    assert call.hipMemcpy3D(byref(p)) == 1
    assert "texels of one size" in str(runtime.instance().take_exception())
    assert call.hipMemcpy2DArrayToArray(array, 0, 0, array, 0, 1, 16, 1, 4) == 0  # hipMemcpyDefault
    assert call.hipFreeArray(array) == call.hipFreeArray(other) == 0


# ----------------------------------------------------------------------------------------------- texture references


@pytest.fixture
def reference():
    """A texture reference of a program, on the host; `small` is one whose variable has 4 bytes too few."""
    linked = runtime.instance().linked
    code = gpulab.compile(
        '#include <hip/hip_runtime.h>\n__device__ int texels[22];\n__device__ int small[21];\nextern "C" '
        "__global__ void use(int* out) { out[0] = texels[threadIdx.x] + small[threadIdx.x]; }\n",
        arch="gfx1100",
    )
    image = ctypes.create_string_buffer(code.elf)
    wrapper = ctypes.create_string_buffer(struct.pack("<IIQQ", 0x48495046, 1, ctypes.addressof(image), 0))
    handle = linked.register(ctypes.addressof(wrapper))
    found = structures.TextureReference(filterMode=1, normalized=1, readMode=1, addressMode=(0, 1, 2))
    linked.add_variable(handle, ctypes.addressof(found), "texels")
    found.small = structures.TextureReference()
    linked.add_variable(handle, ctypes.addressof(found.small), "small")
    yield found
    linked.unregister(handle)
    del image, wrapper


def on_device(found):
    """What stands in the reference's variable."""
    address, size = runtime.instance().linked.variable(ctypes.addressof(found))
    return ctypes.string_at(address, size)


def test_references_are_bound_to_memory_and_to_arrays(call, reference):
    """The object that a binding makes stands in the reference, and in the variable of the device."""
    assert ctypes.sizeof(reference) == len(on_device(reference)) == 88
    memory, offset = call.address("hipMalloc", 4096), ctypes.c_size_t(9)
    described = channels(np.uint8, 4)
    assert call.hipBindTexture(byref(offset), byref(reference), memory, byref(described), 1024) == 0
    first = reference.textureObject
    resource, texture = structures.ResourceDescription(), structures.TextureDescription()

    def shown(handle):
        assert call.hipGetTextureObjectResourceDesc(byref(resource), handle) == 0
        assert call.hipGetTextureObjectTextureDesc(byref(texture), handle) == 0
        assert on_device(reference)[: ctypes.sizeof(reference)] == bytes(reference)
        assert list(texture.addressMode) == [0, 1, 2]
        assert (texture.filterMode, texture.readMode, texture.normalizedCoords) == (1, 1, 1)

    shown(first)
    linear = resource.res.linear
    assert (resource.resType, linear.devPtr, linear.sizeInBytes, offset.value) == (LINEAR, memory, 1024, 0)
    assert bytes(linear.desc) == bytes(described)
    assert call.hipBindTexture2D(None, byref(reference), memory + 256, byref(described), 20, 5, 512) == 0
    second = reference.textureObject
    shown(second)
    flat = resource.res.pitch2D
    assert (resource.resType, flat.devPtr, flat.width, flat.height, flat.pitchInBytes) == (
        PITCH_2D, memory + 256, 20, 5, 512,
    )  # fmt: skip
    assert bytes(flat.desc) == bytes(described)
    offset.value = 9
    assert call.hipBindTexture2D(byref(offset), byref(reference), memory, byref(described), 20, 5, 512) == 0
    assert offset.value == 0
    array = call.address("hipMallocArray", byref(described), 8, 6, 0)
    objects = len(runtime.instance().textures.objects)
    assert call.hipBindTextureToArray(byref(reference), array, byref(described)) == 0
    assert len(runtime.instance().textures.objects) == objects  # the one before is gone
    shown(reference.textureObject)
    assert (resource.resType, resource.res.array) == (ARRAY, array)
    other = channels(np.uint8, 2)
    assert call.hipBindTextureToArray(byref(reference), array, byref(other)) == 1
    assert "not those of the array" in str(runtime.instance().take_exception())
    offset.value = 9
    assert call.hipGetTextureAlignmentOffset(byref(offset), byref(reference)) == offset.value == 0
    place = ctypes.c_uint64()
    assert call.hipGetTextureReference(byref(place), 0x1230) == 0
    assert place.value == 0x1230
    assert call.hipGetTextureReference(byref(place), None) == 1
    last = reference.textureObject
    for _ in range(2):  # a second time there is nothing to do
        assert call.hipUnbindTexture(byref(reference)) == 0
        assert reference.textureObject is None
    assert call.hipGetTextureObjectResourceDesc(byref(resource), last) == 1
    assert call.hipFree(memory) == call.hipFreeArray(array) == 0


@pytest.mark.parametrize(("field", "value"), [("sRGB", 1), ("maxAnisotropy", 2), ("filterMode", 2), ("readMode", 2)])
def test_what_a_reference_cannot_ask_for(call, reference, field, value):
    memory = call.address("hipMalloc", 4096)
    setattr(reference, field, value)
    code = 801 if field in ("sRGB", "maxAnisotropy") else 1
    assert call.hipBindTexture(None, byref(reference), memory, byref(channels(np.uint8)), 64) == code
    assert reference.textureObject is None
    assert call.hipFree(memory) == 0


def test_addresses_that_a_binding_needs(call, reference):
    described, memory = byref(channels(np.uint8)), call.address("hipMalloc", 4096)
    array = call.address("hipMallocArray", described, 8, 6, 0)
    good = {
        "hipBindTexture": (None, byref(reference), memory, described, 64),
        "hipBindTexture2D": (None, byref(reference), memory, described, 8, 2, 256),
        "hipBindTextureToArray": (byref(reference), array, described),
        "hipUnbindTexture": (byref(reference),),
        "hipGetTextureAlignmentOffset": (byref(ctypes.c_size_t()), byref(reference)),
    }
    needed = {"hipBindTexture": (1, 2, 3), "hipBindTexture2D": (1, 2, 3), "hipBindTextureToArray": (0, 1, 2),
              "hipUnbindTexture": (0,), "hipGetTextureAlignmentOffset": (0, 1)}  # fmt: skip
    for name, arguments in good.items():
        for place in needed[name]:
            given = [None if n == place else each for n, each in enumerate(arguments)]
            assert getattr(call, name)(*given) == 1, (name, place)
        assert getattr(call, name)(*arguments) == 0
    assert call.hipBindTexture(None, byref(reference.small), memory, described, 64) == 13  # hipErrorInvalidSymbol
    assert "no texture reference" in str(runtime.instance().take_exception())
    assert call.hipGetTextureReference(None, 0x1230) == 1
    assert call.hipFree(memory) == call.hipFreeArray(array) == 0
