"""Arrays, textures and surfaces: what HIP's calls answer, and what kernels read and write, against numpy.

Formulas: tests/isa/sampling.py. Codes: HIP's API reference; 1 is hipErrorInvalidValue, 801 hipErrorNotSupported.
"""

from __future__ import annotations

import ctypes

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
