"""Device arrays: what is copied, what is refused, when memory goes back."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import gpulab
from gpulab import DeviceMemoryError

NUMBERS = st.sampled_from([np.dtype(code).name for code in "bBhiIqQefdF?"])


@settings(max_examples=40, deadline=None)
@given(NUMBERS.flatmap(lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0))))
def test_round_trip_keeps_every_byte(array: np.ndarray) -> None:
    back = gpulab.to_device(array).to_host()
    assert back.shape == array.shape
    assert back.dtype == array.dtype
    assert back.tobytes() == array.tobytes()


def test_strided_and_reversed_arrays_are_copied_in_order() -> None:
    array = np.arange(24, dtype="int32").reshape(4, 6)
    for view in (array[:, ::2], array[::-1], array.T, np.asfortranarray(array)):
        assert (gpulab.to_device(view).to_host() == view).all()


def test_structures_keep_their_fields() -> None:
    array = np.array([(1, 2.0), (3, 4.0)], dtype=[("n", "i4"), ("a", "f8")])
    assert gpulab.to_device(array).to_host()["a"].tolist() == [2.0, 4.0]


def test_changing_the_host_changes_nothing_on_the_device() -> None:
    host = np.ones(4, "float32")
    array = gpulab.to_device(host)
    host[:] = 9
    copy = array.to_host()
    copy[:] = 8
    assert array.to_host().tolist() == [1, 1, 1, 1]


def test_attributes() -> None:
    array = gpulab.empty((3, 4), "float64")
    assert (array.shape, array.dtype, array.nbytes, array.size, array.ndim) == ((3, 4), np.dtype("f8"), 96, 12, 2)
    assert len(array) == 3
    with pytest.raises(TypeError, match="a device array with no axes has no len"):
        len(gpulab.to_device(1.0))
    assert gpulab.empty(5).dtype == np.dtype("float32")
    assert gpulab.to_device([1.5, 2.5], dtype="float32").dtype == np.dtype("float32")


def test_repr_has_no_address() -> None:
    array = gpulab.zeros(4)
    assert repr(array) == "DeviceArray(shape=(4,), dtype=float32, device=0)"
    assert "0x" not in repr(gpulab.Pointer(0x1234))


def test_an_address_has_64_bits() -> None:
    assert [int(gpulab.Pointer(address)) for address in (0, 2**64 - 1)] == [0, 2**64 - 1]
    for address in (-1, 2**64, True, 1.0):
        with pytest.raises(DeviceMemoryError, match=r"an address is a number from 0 to 2\*\*64 - 1"):
            gpulab.Pointer(address)  # type: ignore[arg-type]


def test_zeros_are_zero_also_where_something_stood() -> None:
    array = gpulab.to_device(np.full(1000, 7, "int32"))
    array.free()
    assert (gpulab.zeros(1000, "int32").to_host() == 0).all()


def test_copy_from() -> None:
    array = gpulab.zeros((2, 3), "int32")
    array.copy_from(np.arange(6, dtype="int32").reshape(2, 3))
    assert array.to_host().tolist() == [[0, 1, 2], [3, 4, 5]]
    other = gpulab.empty((2, 3), "int32").copy_from(array)
    assert other.to_host().tolist() == [[0, 1, 2], [3, 4, 5]]
    other.copy_from(7)
    assert (other.to_host() == 7).all()
    assert (array.to_host() != 7).all()


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (np.zeros((3, 2), "int32"), "has shape (3, 2), the device array has (2, 3)"),
        (np.zeros((2, 3), "float32"), '.astype("int32")'),
        (2.5, "2.5 is no value that an element of int32 can hold"),
    ],
)
def test_copy_from_converts_and_broadcasts_nothing(source: object, said: str) -> None:
    with pytest.raises(DeviceMemoryError) as error:
        gpulab.zeros((2, 3), "int32").copy_from(source)
    assert said in str(error.value)


def test_to_host_into_an_array() -> None:
    array = gpulab.to_device(np.arange(4, dtype="int32"))
    out = np.zeros(4, "int32")
    assert array.to_host(out) is out
    assert out.tolist() == [0, 1, 2, 3]
    with pytest.raises(DeviceMemoryError, match="shape"):
        array.to_host(np.zeros(5, "int32"))
    with pytest.raises(DeviceMemoryError, match="contiguous"):
        array.to_host(np.zeros(8, "int32")[::2])


def test_views_share_memory() -> None:
    array = gpulab.to_device(np.array([1.0, -2.0], "float32"))
    assert array.view("uint32").to_host().tolist() == [0x3F800000, 0xC0000000]  # IEEE 754 single
    array.reshape((2, 1)).copy_from(np.array([[5.0], [6.0]], "float32"))
    assert array.to_host().tolist() == [5.0, 6.0]
    with pytest.raises(DeviceMemoryError, match="elements"):
        array.reshape(3)
    view = array.view("uint8")
    with pytest.raises(DeviceMemoryError, match="owns no memory"):
        view.free()
    array.free()
    with pytest.raises(DeviceMemoryError, match="freed"):
        view.to_host()


def test_free_and_use_afterwards() -> None:
    array = gpulab.zeros(4)
    array.free()
    assert "freed" in repr(array)
    for use in (array.to_host, array.free, lambda: array.copy_from(1), lambda: gpulab.empty(4).copy_from(array)):
        with pytest.raises(DeviceMemoryError, match=r"was freed (already|before it was)"):
            use()


def large(free: int) -> gpulab.DeviceArray:
    """Half of what is free: more than any gap that earlier tests have left."""
    return gpulab.empty(free // 8)


def test_free_gives_the_memory_back() -> None:
    gc.collect()
    before = gpulab.memory_info().free
    array = large(before)
    assert 0 <= before - gpulab.memory_info().free - array.nbytes < 8192  # with the gap behind it
    array.free()
    assert gpulab.memory_info().free == before


@pytest.mark.full
def test_dropped_arrays_give_their_memory_back_but_views_keep_it() -> None:
    gc.collect()
    before = gpulab.memory_info().free
    array = large(before)
    view = array.view("uint8")
    del array
    gc.collect()
    assert gpulab.memory_info().free < before
    del view
    gc.collect()
    assert gpulab.memory_info().free == before
    array = gpulab.to_device(np.arange(1 << 18, dtype="int32"))
    view = array.reshape((512, 512))
    del array
    gc.collect()
    gpulab.empty(1 << 18)
    assert view.to_host()[511, 511] == (1 << 18) - 1


def test_memory_runs_out_with_a_sentence() -> None:
    with pytest.raises(DeviceMemoryError) as error:
        gpulab.empty(1 << 40)
    assert "free arrays" in str(error.value)


@pytest.mark.parametrize("shape", [-1, (2, -1), 2.5, 3.0, "4", None, True, (1, None)])
def test_shapes_that_are_none(shape: object) -> None:
    with pytest.raises(DeviceMemoryError, match="a shape is"):
        gpulab.empty(shape)  # type: ignore[arg-type]


@pytest.mark.parametrize("values", ["text", [object()], np.array(["a"]), np.array([None]), np.array("2020", "M8")])
def test_what_is_no_number(values: object) -> None:
    with pytest.raises(DeviceMemoryError, match="cannot be in device memory"):
        gpulab.to_device(values)
    with pytest.raises(DeviceMemoryError, match="no element type"):
        gpulab.empty(3, "flot32")


def test_nothing_is_copied_in_silence() -> None:
    array = gpulab.zeros(4)
    for use in (lambda: array[0], lambda: np.asarray(array), lambda: list(array), lambda: np.sum(array)):
        with pytest.raises(DeviceMemoryError, match=r"to_host\(\)"):
            use()
    with pytest.raises(DeviceMemoryError, match="copy_from"):
        array[0] = 1
    with pytest.raises(DeviceMemoryError, match="in device memory already"):
        gpulab.to_device(array)


def test_arrays_belong_to_the_device_in_use() -> None:
    with gpulab.using("gfx1100"):
        array = gpulab.to_device(np.arange(3))
    assert array.device == 1
    assert array.to_host().tolist() == [0, 1, 2]


def test_numpy_functions_refuse_device_arrays() -> None:
    array, host = gpulab.zeros(4), np.zeros(4, "float32")
    # numpy.array_equal answers False where numpy.asarray raises: that must not be taken for a result.
    uses = (
        lambda: np.array_equal(array, host),
        lambda: np.sum(array),
        lambda: array + 1,
        lambda: 2 * array,
        lambda: host + array,
        lambda: array == host,
        lambda: host == array,
        lambda: array == gpulab.zeros(4),
        lambda: array < 1,
        lambda: float(array),
    )
    for use in uses:
        with pytest.raises(DeviceMemoryError, match=r"to_host\(\)"):
            use()
    assert array in [array]


def test_attributes_of_numpy_arrays_say_what_to_write() -> None:
    array = gpulab.zeros(4)
    with pytest.raises(AttributeError, match=r"array\.to_host\(\)\.sum"):
        array.sum()
    with pytest.raises(AttributeError, match=r"Copying to the host is array\.to_host\(\)"):
        array.get()
    assert not hasattr(array, "nonsense")


def test_a_copy_of_another_size_is_not_told_to_reshape() -> None:
    with pytest.raises(DeviceMemoryError) as error:
        gpulab.zeros(4).copy_from(np.zeros(3, "float32"))
    assert "reshape" not in str(error.value)
    with pytest.raises(DeviceMemoryError, match=r"\.reshape\(\(4,\)\)"):
        gpulab.zeros(4).copy_from(np.zeros((2, 2), "float32"))


@pytest.mark.parametrize(
    "shape", [1 << 62, 1 << 64, (1 << 40, 1 << 40), -1, float("nan"), float("inf"), 2.5, (3, -1), "5", None]
)
def test_odd_sizes_are_explained(shape: object) -> None:
    for make in (gpulab.zeros, gpulab.empty):
        with pytest.raises(DeviceMemoryError):
            make(shape)  # type: ignore[arg-type]


def test_an_array_is_equal_to_itself_alone() -> None:
    array = gpulab.zeros(2)
    same = array
    assert (array == same) is True
    assert (array != same) is False
    for compare in (lambda: array == 0, lambda: array != 0, lambda: array == gpulab.zeros(2)):
        with pytest.raises(DeviceMemoryError, match="cannot calculate with or compare"):
            compare()


def test_pointers() -> None:
    moved = gpulab.Pointer(16, "float32") + 8
    assert (int(moved), moved.dtype) == (24, np.dtype("float32"))
    assert repr(moved) == "Pointer(device address, float32)"
    assert repr(gpulab.Pointer(0)) == "Pointer(null)"
    assert repr(gpulab.Pointer(1)) == "Pointer(device address)"


@pytest.mark.parametrize(
    ("dtype", "said"),
    [
        ("no such", "'no such' is no element type."),
        (object, "elements of type object cannot be"),
        ("U3", "elements of type <U3 cannot be"),
        ("S0", "elements of type |S0 cannot be"),
        ("V0", "elements of type |V0 cannot be"),
        ("M8[s]", "elements of type datetime64[s] cannot be"),
        ([("a", "i4"), ("b", object)], "cannot be in device memory"),
    ],
)
def test_types_that_no_kernel_knows(dtype: object, said: str) -> None:
    with pytest.raises(DeviceMemoryError) as raised:
        gpulab.empty(2, dtype)  # type: ignore[arg-type]
    assert said in str(raised.value)


def test_sizes_at_the_limit() -> None:
    with pytest.raises(DeviceMemoryError, match=r"an array of 9,223,372,036,854,775,808 bytes is more than any device"):
        gpulab.empty(1 << 63, "uint8")
    with pytest.raises(DeviceMemoryError) as raised:
        gpulab.empty((1 << 63) - 1, "uint8")
    assert "more than any device" not in str(raised.value)


@pytest.mark.parametrize(
    ("value", "dtype", "fits"),
    [
        (127, "int8", True), (128, "int8", False), (-128, "int8", True), (-129, "int8", False), (255, "uint8", True),
        (256, "uint8", False), (-1, "uint8", False), (2.0, "int32", False), (0.1, "float32", True),
        (3, "float32", True),
        (1j, "float32", False), (1j, "complex64", True), (True, "int32", True), (np.True_, "float32", True),
        (np.int64(5), "int8", True), (2, "bool", False),
    ],
)  # fmt: skip
def test_single_numbers_that_a_type_holds(value: object, dtype: str, fits: bool) -> None:
    array = gpulab.zeros(2, dtype)
    if fits:
        assert array.copy_from(value).to_host().tolist() == [value, value] or value == 0.1  # type: ignore[arg-type]
    else:
        with pytest.raises(DeviceMemoryError, match="converts nothing"):
            array.copy_from(value)  # type: ignore[arg-type]


def test_extents_of_views() -> None:
    array = gpulab.to_device(np.arange(6, dtype="int32").reshape(2, 3))
    assert array.view("uint8").shape == (2, 12)
    assert array.view("int16").shape == (2, 6)
    assert gpulab.to_device(np.int32(5)).view("uint8").shape == (4,)
    with pytest.raises(DeviceMemoryError, match=r"rows of 12 bytes cannot be read as int64 of 8 bytes each"):
        array.view("int64")
    for kind in ("V0", "S", "O", "datetime64[s]"):
        with pytest.raises(DeviceMemoryError, match="cannot be in device memory"):
            array.view(kind)
    with pytest.raises(DeviceMemoryError, match="'float33' is no element type"):
        array.view("float33")
    assert array.reshape(3, 2).shape == array.reshape((3, 2)).shape == (3, 2)
    assert array.reshape(6).shape == (6,)
    with pytest.raises(DeviceMemoryError, match=r"6 elements cannot have the shape \(4,\) \(4 elements\)"):
        array.reshape(4)


def test_what_libraries_of_others_are_told() -> None:
    array = gpulab.zeros((2, 3), "float32")
    assert array.__cuda_array_interface__ == {
        "shape": (2, 3), "typestr": "<f4", "data": (array.address, False), "version": 3, "strides": None,
    }  # fmt: skip
    array.free()
    with pytest.raises(DeviceMemoryError, match="freed before it was used"):
        array.__cuda_array_interface__  # noqa: B018


def test_pinned_memory() -> None:
    assert gpulab.pinned((0, 3), "int32").shape == (0, 3)
    host = gpulab.pinned((2, 3), "int32")
    assert (host.shape, host.dtype, host.flags.c_contiguous) == ((2, 3), np.dtype("int32"), True)
    host[:] = 7
    assert gpulab.to_device(host).to_host().tolist() == [[7, 7, 7], [7, 7, 7]]
    with pytest.raises(DeviceMemoryError, match="in device memory already"):
        gpulab.to_device(gpulab.zeros(1))  # type: ignore[arg-type]


def test_numbers_in_the_other_byte_order_are_refused() -> None:
    """1.0 has the bytes 3f 80 00 00 (IEEE 754); read from the lowest byte first they are 4.6e-41."""
    for wrong in (np.ones(4, ">f4"), np.ones(4, [("n", ">i4")])):
        with pytest.raises(DeviceMemoryError, match="bytes in the other order"):
            gpulab.to_device(wrong)
        with pytest.raises(DeviceMemoryError, match="bytes in the other order"):
            gpulab.zeros(4).view(wrong.dtype)
    right = gpulab.to_device(np.ones(4, ">f4").astype(np.dtype(">f4").newbyteorder("=")))
    assert right.to_host().tobytes()[:4] == bytes.fromhex("0000803f")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: gpulab.to_device([300], dtype="int8"), "cannot become elements of int8"),
        (lambda: gpulab.to_device([10**400], dtype="float32"), "cannot become elements of float32"),
        (lambda: gpulab.to_device([float("nan")], dtype="int32"), "choose a type that holds them"),
        (lambda: gpulab.to_device(np.ma.array([1, 2], mask=[0, 1])), r"values\.filled\(0\)"),
        (lambda: gpulab.zeros(4).copy_from([[1], [2, 3]]), "no array of numbers"),
        (lambda: gpulab.zeros(4).copy_from(1e300), "1e[+]300 is no value that an element of float32 can hold"),
        (lambda: gpulab.zeros(4, "float16").copy_from(70000), "70000 is no value"),  # the largest is 65504
        (lambda: gpulab.zeros(4).to_host([0.0] * 4), "out= takes a numpy array, and was given a value of type list"),
        (lambda: gpulab.zeros(4).to_host(gpulab.zeros(4)), "type DeviceArray"),
        (lambda: gpulab.zeros(4).to_host(stream=5), "5 is no stream"),
        (lambda: gpulab.zeros(4).copy_from(1, stream=[]), "is no stream"),
        (lambda: gpulab.zeros(""), "this is ''"),
        (lambda: gpulab.zeros(b"ab"), "this is b'ab'"),
        (lambda: gpulab.empty({4, 2}), "a shape is a whole number or a tuple"),
        (lambda: gpulab.pinned(2**64), "more than any device can address"),
        (lambda: gpulab.Pointer(16, "float33"), "'float33' is no element type"),
        (lambda: gpulab.zeros(4, gpulab.Pointer(0)), "no element type"),
        (lambda: gpulab.Pointer(16) + "4", "moves by a whole number of bytes, not by '4'"),
    ],
)
def test_odd_values_are_refused_by_name(call: Callable[[], object], said: str) -> None:
    with pytest.raises(gpulab.GpulabError, match=said):
        call()


def test_a_device_array_is_neither_true_nor_false_nor_copied_by_python() -> None:
    array = gpulab.to_device([0.0])
    for use in (bool, lambda a: 1 if a else 2, lambda a: a & 1, lambda a: 2 // a, round, lambda a: ~a):
        with pytest.raises(DeviceMemoryError, match="Python cannot calculate with"):
            use(array)
    for use in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(DeviceMemoryError, match="Python cannot copy or pickle a device array"):
            use(array)
