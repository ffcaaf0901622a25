"""Values to argument blocks: bytes at the compiler's offsets, and errors that say what to write instead."""

from __future__ import annotations

import ctypes
import re
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpulab
from gpulab.arguments import Packer
from gpulab.errors import ArgumentError, DeviceMemoryError
from gpulab.memory import DeviceArray, Pointer
from gpulab.toolchain import KernelSignature, Parameter


def device_array(dtype: str = "float32", address: int = 0x7F00_0000_1000, shape: tuple[int, ...] = (8,)) -> DeviceArray:
    return DeviceArray(address, shape, np.dtype(dtype), 0, owns=False)


def value(dtype: str | None, size: int, offset: int = 0, type: str = "", name: str = "v") -> Parameter:
    return Parameter(name, type or str(dtype), "value", size, dtype, offset)


def pointer(dtype: str | None, offset: int = 0, name: str = "p") -> Parameter:
    return Parameter(name, f"{dtype or 'void'} *", "pointer", 8, dtype, offset)


def packer(*parameters: Parameter) -> Packer:
    return Packer(KernelSignature("k", "k", parameters))


SAXPY = Packer(
    KernelSignature(
        "saxpy",
        "saxpy",
        (
            Parameter("n", "int", "value", 4, "int32", 0),
            Parameter("a", "float", "value", 4, "float32", 4),
            Parameter("x", "const float *", "pointer", 8, "float32", 8),
            Parameter("y", "float *", "pointer", 8, "float32", 16),
        ),
    )
)


def test_saxpy_block() -> None:
    """The bytes a C structure {int; float; float*; float*} would have."""
    x, y = device_array(address=0x1122_3344_5566_7788), device_array(address=0x10)
    assert SAXPY((1000, 2.5, x, y)) == struct.pack("<ifQQ", 1000, 2.5, 0x1122_3344_5566_7788, 0x10)


def test_padding_follows_the_offsets() -> None:
    block = packer(value("bool", 1), value("int8", 1, 1), value("float64", 8, 8), value("int16", 2, 16))(
        (True, -1, 0.5, 7)
    )
    assert block == bytes([1, 255]) + bytes(6) + struct.pack("<d", 0.5) + struct.pack("<h", 7)


INTEGERS = {"int8": 1, "int16": 2, "int32": 4, "int64": 8, "uint8": 1, "uint16": 2, "uint32": 4, "uint64": 8}


@given(st.sampled_from(sorted(INTEGERS)), st.integers(-(2**70), 2**70))
def test_integers_fit_or_are_refused(dtype: str, number: int) -> None:
    """Accepted exactly where numpy's own range holds the value, with numpy's bytes."""
    info = np.iinfo(dtype)
    pack = packer(value(dtype, INTEGERS[dtype]))
    if info.min <= number <= info.max:
        assert pack((number,)) == np.array(number, dtype).tobytes()
    else:
        with pytest.raises(ArgumentError, match=str(number)):
            pack((number,))


@pytest.mark.parametrize("given_", [3, np.int64(3), np.uint8(3), True + 2])
def test_whole_numbers_of_all_kinds(given_: object) -> None:
    assert packer(value("int32", 4))((given_,)) == struct.pack("<i", 3)


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        (2.5, "divide with // instead of /"),
        (2.0, "arguments in the wrong order"),
        (np.float32(3), "write 3 or int(...)"),
        (float("nan"), "whole number"),
        (float("inf"), "whole number"),
        ("12", "int('12')"),
        (None, "None"),
        (1j, "whole number"),
        (np.arange(3), "single number"),
        (np.array([3]), "x.item()"),
        (device_array(), "declare the parameter as a pointer"),
        ([1], "whole number"),
    ],
)
def test_what_is_no_whole_number(given_: object, said: str) -> None:
    with pytest.raises(ArgumentError) as error:
        packer(value("int32", 4, type="int", name="n"))((given_,))
    assert "argument 1 (int n)" in str(error.value)
    assert said in str(error.value)


@given(st.floats(width=32))
def test_floats_keep_their_value(number: float) -> None:
    assert packer(value("float32", 4))((number,)) == np.float32(number).tobytes()
    assert packer(value("float64", 8))((number,)) == np.float64(number).tobytes()


@pytest.mark.parametrize("given_", [2, np.int32(2), np.float64(2), np.float16(2), True + 1])
def test_numbers_become_floats(given_: object) -> None:
    assert packer(value("float32", 4))((given_,)) == struct.pack("<f", 2.0)


@pytest.mark.parametrize(
    ("dtype", "size", "number", "said"),
    [
        ("float32", 4, 1e39, "was given 1e+39."),
        ("float32", 4, 10**400, "was given a whole number of 1,329 bits."),
        ("float64", 8, -(2**2000), "was given a whole number of 2,001 bits."),
        ("float16", 2, 70000, "was given 70000."),
    ],
)
def test_floats_too_large(dtype: str, size: int, number: float, said: str) -> None:
    with pytest.raises(ArgumentError, match=rf"largest value is .*{re.escape(said)}"):
        packer(value(dtype, size))((number,))
    assert packer(value(dtype, size))((float("inf"),))


def test_booleans() -> None:
    pack = packer(value("bool", 1))
    assert [pack((v,)) for v in (True, False, 1, 0, np.True_)] == [b"\1", b"\0", b"\1", b"\0", b"\1"]
    with pytest.raises(ArgumentError, match="True or False"):
        pack((2,))


# ---- pointers


def test_host_array_for_a_pointer() -> None:
    with pytest.raises(ArgumentError) as error:
        SAXPY((8, 2.0, np.zeros(8, "float32"), device_array()))
    assert "argument 3 (const float *x)" in str(error.value)
    assert "copy it first: gpulab.to_device(x)" in str(error.value)


def test_host_array_of_another_type_for_a_pointer() -> None:
    """The advice already holds the conversion that would be asked for next."""
    with pytest.raises(ArgumentError, match=r'gpulab\.to_device\(x\.astype\("float32"\)\)'):
        SAXPY((8, 2.0, np.zeros(8), device_array()))
    with pytest.raises(ArgumentError, match=r'gpulab\.to_device\(x, dtype="float32"\)'):
        SAXPY((8, 2.0, [1.0, 2.0], device_array()))


@pytest.mark.parametrize("given_", [2.0, 3, np.float32(1), True])
def test_number_for_a_pointer(given_: object) -> None:
    with pytest.raises(ArgumentError, match="is a pointer, and was given the number") as error:
        SAXPY((8, 2.0, given_, device_array()))
    assert "gpulab.to_device" in str(error.value)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("8", 2.0), "Try: convert it: int('8')."),
        ((8, "2.5"), "Try: convert it: float('2.5')."),
        (("a", 2.0), "Try: for the number of the character write ord('a')."),
        (("many", 2.0), "was given the text 'many'."),
        ((8, "two"), "was given the text 'two'."),
    ],
)
def test_a_text_for_a_number(arguments: tuple[object, object], said: str) -> None:
    """What is advised works: the text is read as a number only where it is one."""
    with pytest.raises(ArgumentError) as error:
        SAXPY((*arguments, device_array(), device_array()))
    assert str(error.value).endswith(said)


def test_other_things_for_a_pointer() -> None:
    with pytest.raises(ArgumentError, match="the text 'x'"):
        SAXPY((8, 2.0, "x", device_array()))
    with pytest.raises(ArgumentError, match="type dict"):
        SAXPY((8, 2.0, {}, device_array()))


def test_element_type_must_match() -> None:
    with pytest.raises(ArgumentError) as error:
        SAXPY((8, 2.0, device_array("float64"), device_array()))
    assert "points to float32, and was given a device array of float64" in str(error.value)
    assert 'astype("float32")' in str(error.value)
    with pytest.raises(ArgumentError, match=r'array\.view\("uint32"\)'):
        packer(pointer("uint32"))((device_array("int32"),))


def test_bytes_are_bytes_and_untyped_pointers_take_all() -> None:
    for dtype in ("int8", "uint8", "bool"):
        assert packer(pointer("uint8"))((device_array(dtype, 16),)) == struct.pack("<Q", 16)
    assert packer(pointer(None))((device_array("complex128", 16),)) == struct.pack("<Q", 16)


def test_structured_array_for_a_scalar_pointer() -> None:
    array = DeviceArray(32, (4,), np.dtype([("x", "f4"), ("y", "f4")]), 0, owns=False)
    assert packer(pointer("float32"))((array,)) == struct.pack("<Q", 32)


def test_null_and_bare_addresses() -> None:
    pack = packer(pointer("float32"))
    assert pack((None,)) == bytes(8)
    assert pack((Pointer(0x40),)) == struct.pack("<Q", 0x40)
    assert pack((Pointer(0x40, "float32") + 8,)) == struct.pack("<Q", 0x48)
    assert pack((ctypes.c_void_p(0x50),)) == struct.pack("<Q", 0x50)
    with pytest.raises(ArgumentError, match="was given a pointer of int32"):
        pack((Pointer(0x40, "int32"),))
    with pytest.raises(DeviceMemoryError):
        Pointer(-1)


class Foreign:
    """An array of another library."""

    def __init__(self, address: int, typestr: str) -> None:
        self.__cuda_array_interface__ = {"shape": (4,), "typestr": typestr, "data": (address, False), "version": 3}


def test_arrays_of_other_libraries() -> None:
    pack = packer(pointer("float32"))
    assert pack((Foreign(0x60, "<f4"),)) == struct.pack("<Q", 0x60)
    assert pack((Foreign(0x60, "|u1"),)) == struct.pack("<Q", 0x60)
    with pytest.raises(ArgumentError, match="float64"):
        pack((Foreign(0x60, "<f8"),))


def test_freed_arrays_are_refused() -> None:
    array = DeviceArray(0x70, (4,), np.dtype("float32"), 0, owns=False)
    array.free()
    with pytest.raises(DeviceMemoryError, match="was freed before it was used"):
        packer(pointer("float32"))((array,))


# ---- structures and vector types


def test_structures() -> None:
    kind = np.dtype([("n", "i4"), ("a", "f4")])
    pack = packer(value(None, 8, type="Settings"))
    expected = struct.pack("<if", 3, 0.5)
    scalar = np.array((3, 0.5), dtype=kind)
    assert pack((scalar[()],)) == pack((scalar,)) == pack((expected,)) == expected

    class Settings(ctypes.Structure):
        _fields_ = (("n", ctypes.c_int), ("a", ctypes.c_float))

    assert pack((Settings(3, 0.5),)) == expected
    with pytest.raises(ArgumentError, match="takes 8 bytes, and was given 4"):
        pack((b"1234",))
    with pytest.raises(ArgumentError, match="numpy structured scalar"):
        pack((3,))


@pytest.mark.parametrize(
    ("type", "size", "given_", "expected"),
    [
        ("float4", 16, (1, 2, 3, 4), struct.pack("<4f", 1, 2, 3, 4)),
        ("float3", 12, (1, 2, 3), struct.pack("<3f", 1, 2, 3)),
        ("const int2", 8, [-1, 2], struct.pack("<2i", -1, 2)),
        ("uchar4", 4, (1, 2, 3, 255), bytes([1, 2, 3, 255])),
        ("ulonglong2", 16, (1, 2**63), struct.pack("<2Q", 1, 2**63)),
        ("double2", 16, (0.1, 0.2), struct.pack("<2d", 0.1, 0.2)),
        ("dim3", 12, (4, 5), struct.pack("<3I", 4, 5, 1)),
    ],
)
def test_vector_types_take_tuples(type: str, size: int, given_: object, expected: bytes) -> None:
    assert packer(value(None, size, type=type))((given_,)) == expected


def test_vectors_of_three_may_have_room_for_four() -> None:
    """What is left is 0; only a value of exactly three elements is filled up."""
    three = struct.pack("<3f", 1, 2, 3)
    pack = packer(value(None, 16, type="float3"))
    assert pack(((1, 2, 3),)) == pack((three,)) == three + bytes(4)
    assert pack((three + b"last",)) == three + b"last"
    for other in (three[:-1], three + b"1"):
        with pytest.raises(ArgumentError, match=f"takes 16 bytes, and was given {len(other)} "):
            pack((other,))
    with pytest.raises(ArgumentError, match="takes 16 bytes, and was given 12 "):
        packer(value(None, 16, type="Settings"))((three,))


def test_vector_types_refuse_wrong_tuples() -> None:
    with pytest.raises(ArgumentError, match="takes 4 numbers"):
        packer(value(None, 16, type="float4"))(((1, 2, 3),))
    with pytest.raises(ArgumentError, match="a tuple of 4 numbers"):
        packer(value(None, 16, type="float4"))((1.0,))


# ---- counts


def test_a_missing_argument_is_named() -> None:
    """The one that was left out, not simply the last: here `a`."""
    x, y = device_array(), device_array()
    with pytest.raises(ArgumentError) as error:
        SAXPY((8, x, y))
    assert "saxpy takes 4 arguments, and was given 3" in str(error.value)
    assert "saxpy(int n, float a, const float *x, float *y)" in str(error.value)
    assert "missing: a." in str(error.value)
    with pytest.raises(ArgumentError, match=r"missing: y\."):
        SAXPY((8, 2.0, x))
    with pytest.raises(ArgumentError, match=r"missing: n, a, x, y\."):
        SAXPY(())


def test_too_many_arguments() -> None:
    x, y = device_array(), device_array()
    with pytest.raises(ArgumentError) as error:
        SAXPY((8, 2.0, x, y, 256))
    assert "takes 4 arguments, and was given 5" in str(error.value)
    assert "kernel[grid, block](arguments)" in str(error.value)


def test_kernel_without_parameters() -> None:
    assert packer()(()) == b""


@pytest.mark.parametrize(("more", "what"), [(1, "value."), (2, "2 values."), (3, "3 values.")])
def test_how_many_arguments_are_too_many(more: int, what: str) -> None:
    with pytest.raises(ArgumentError) as error:
        packer(value("int32", 4, type="int", name="n"))((1,) * (1 + more))
    assert f"takes 1 argument, and was given {1 + more}." in error.value.what
    assert error.value.hint == (
        f"leave out the last {what} Grid and block go into the brackets: kernel[grid, block](arguments)."
    )


def test_tables_of_rows() -> None:
    """C++ passes float x[3][4] as a pointer to rows of four floats, which stand one behind the other."""
    source = "__global__ void fill(float x[3][4]) { x[threadIdx.y][threadIdx.x] = 10 * threadIdx.y + threadIdx.x; }"
    module = gpulab.compile(source + " __global__ void rows(float** x) { x[0][0] = 1; }")
    array = gpulab.zeros((3, 4))
    module.fill[1, (4, 3)](array)
    assert array.to_host().tolist() == [[0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23]]
    with pytest.raises(ArgumentError, match="points to float32, and was given a device array of int32"):
        module.fill[1, (4, 3)](gpulab.zeros((3, 4), "int32"))
    with pytest.raises(ArgumentError, match=r"is a pointer to pointers.*\n.*\n.*x\[row \* width \+ column\]"):
        module.rows[1, 1](array)
    addresses = gpulab.to_device([array.address + 16], dtype="uint64")  # the second row: four floats further
    module.rows[1, 1](addresses)
    assert array.to_host()[1].tolist() == [1, 11, 12, 13]


def test_pointers_to_vectors_of_floats_take_their_elements() -> None:
    """numpy makes float64 unless told otherwise; four float32 stand in a float4 one behind the other, two in a float2
    like the parts of a complex64."""
    module = gpulab.compile(
        "__global__ void four(const float4* x, float* y) { float4 v = *x; y[0] = v.x; y[1] = v.w; }"
        "__global__ void two(const double2* x, const float2* z, float* y) { y[0] = x->y; y[1] = z->y; }\n"
        "#include <hip/hip_fp16.h>\n"
        "__global__ void halves(const __half2* x, const half2* z, float* y) { y[0] = __high2float(*x); y[1] = 0; }"
    )
    found, numbers = gpulab.zeros(2), np.array([1.0, 2, 3, 4])
    module.four[1, 1](gpulab.to_device(numbers.astype("float32")), found)
    assert found.to_host().tolist() == [1, 4]
    module.two[1, 1](gpulab.to_device(numbers), gpulab.to_device([5 + 6j], "complex64"), found)
    assert found.to_host().tolist() == [2, 6]
    raw = gpulab.to_device(numbers.astype("float32").view("uint8"))  # bytes are anything
    module.four[1, 1](raw, found)
    assert found.to_host().tolist() == [1, 4]
    halves = gpulab.to_device(numbers, "float16")
    module.halves[1, 1](halves, halves, found)
    assert found.to_host().tolist() == [2, 0]
    with pytest.raises(
        ArgumentError, match=r"argument 2 .* points to float16, and was given a device array of float32"
    ):
        module.halves[1, 1](halves, found, found)
    for dtype in ("float64", "int32", "float16"):
        with pytest.raises(ArgumentError, match=f"points to float32, and was given a device array of {dtype}"):
            module.four[1, 1](gpulab.to_device(numbers.astype(dtype)), found)


def test_arrays_of_numbers_are_vectors_by_their_values() -> None:
    """1 as float32 is 0x3f800000; the bits of the integer 1 would be 1.4e-45."""
    source = "__global__ void put(float2 f, int3 i, dim3 d, float* out) { out[0] = f.y; out[1] = i.z; out[2] = d.z; }"
    put, out = gpulab.compile(source).put, gpulab.zeros(3)
    for pair in (np.array([2, 1]), np.array([2, 1], "int32"), np.array([2.0, 1.0]), np.complex64(2 + 1j)):
        put[1, 1](pair, np.array([4, 5, 6], "int8"), (7,), out)
        assert out.to_host().tolist() == [1, 6, 1]
    raw = np.array([2, 1], "float32").view("uint8")
    put[1, 1](raw, (4, 5, 6), (7, 8, 9), out)
    assert out.to_host().tolist() == [1, 6, 9]
    for wrong in (((7, 8, 9, 10), "takes 3 numbers"), (np.int64(5), "a tuple of 3 numbers")):
        with pytest.raises(ArgumentError, match=wrong[1]):
            put[1, 1]((2, 1), (4, 5, 6), wrong[0], out)
    for pair in (np.int64(1), np.float64(1), np.array([1, 2, 3])):
        with pytest.raises(ArgumentError, match=r"float2 f\) takes"):
            put[1, 1](pair, (4, 5, 6), (7,), out)
