"""Device memory: `DeviceArray`, the functions that make one (`to_device`, `empty`, `zeros`), and `pinned` host memory.

Nothing is copied unless a learner writes it: `to_device` copies to the device, `to_host` copies back, `copy_from`
replaces the contents. An array whose last reference goes is freed before the next use of the device.
"""

from __future__ import annotations

import ctypes
import difflib
import math
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from gpulab import dropped, providers
from gpulab.errors import DeviceMemoryError
from gpulab.stream import handle_of

if TYPE_CHECKING:
    from gpulab.stream import Stream


class Pointer:
    """A bare device address with the type that stands there, for addresses that come from elsewhere.

    Args:
        address: the address as a number; 0 is the null pointer.
        dtype: numpy type of what stands there; None fits every pointer parameter.
    """

    __slots__ = ("address", "dtype")

    def __init__(self, address: int, dtype: DTypeLike | None = None) -> None:
        if isinstance(address, bool) or not isinstance(address, (int, np.integer)) or not 0 <= address < 1 << 64:
            raise DeviceMemoryError(f"an address is a number from 0 to 2**64 - 1, not {address!r}.")
        self.address = int(address)
        self.dtype = None if dtype is None else _dtype(dtype)

    def __add__(self, offset: int) -> Pointer:
        """The address so many bytes further."""
        if isinstance(offset, bool) or not isinstance(offset, (int, np.integer)):
            raise DeviceMemoryError(f"an address moves by a whole number of bytes, not by {offset!r}.")
        return Pointer(self.address + int(offset), self.dtype)

    def __int__(self) -> int:
        return self.address

    def __repr__(self) -> str:
        # Not the address: it differs from run to run.
        kind = "null" if self.address == 0 else "device address"
        return f"Pointer({kind}{'' if self.dtype is None else f', {self.dtype}'})"


class DeviceArray:
    """An array in device memory. Made by `to_device`, `empty` or `zeros`.

    Attributes:
        shape: its extents; always contiguous, last index fastest (C order).
        dtype: the numpy type of its elements.
        device: index of the device that holds it.
    """

    __slots__ = ("__weakref__", "_base", "_finalizer", "_freed", "address_", "device", "dtype", "dtype_name", "shape")

    def __init__(
        self, address: int, shape: tuple[int, ...], dtype: np.dtype[Any], device: int, *, base: Any = None, owns: bool
    ) -> None:
        self.address_ = address
        self.shape = shape
        self.dtype = dtype
        self.dtype_name = dtype.name  # compared at every launch
        self.device = device
        self._base = base
        self._freed = False
        self._finalizer: weakref.finalize[Any, Any] | None = None
        if owns and address:
            self._finalizer = dropped.later(self, providers.of(device).free, address)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return self.size * self.dtype.itemsize

    @property
    def freed(self) -> bool:
        """Whether `free` was called on this array (or on the one it is a view of)."""
        return self._freed or (self._base is not None and self._base.freed)

    @property
    def address(self) -> int:
        """Where it stands in device memory.

        Raises:
            DeviceMemoryError: the array was freed.
        """
        if self._freed or self._base is not None:
            self._check_alive("used")
        return self.address_

    def _check_alive(self, what: str) -> None:
        if self.freed:
            raise DeviceMemoryError(
                f"this array ({self._description()}) was freed before it was {what}.",
                why="free() gave its memory back; something else may stand there now.",
                hint="make a new one with gpulab.to_device(...) or gpulab.empty(...), or call free() later.",
            )

    def to_host(self, out: NDArray[Any] | None = None, stream: Stream | None = None) -> NDArray[Any]:
        """Copy to the host: a new numpy array, or `out` (same shape and type, contiguous).

        Args:
            stream: the copy takes its turn in this stream (hipMemcpyAsync). If `out` is `pinned`, the host does not
                wait for it: synchronise before you look into `out`.

        Raises:
            DeviceMemoryError: the array was freed, or `out` does not fit.
        """
        self._check_alive("copied")
        if out is None:
            out = np.empty(self.shape, self.dtype)
        else:
            if not isinstance(out, np.ndarray):
                raise DeviceMemoryError(
                    f"out= takes a numpy array, and was given a value of type {type(out).__name__}.",
                    hint="out=numpy.empty(array.shape, array.dtype); without out= a new array is made.",
                )
            self._check_fits(out, "out=")
            if not out.flags.c_contiguous or not out.flags.writeable:
                raise DeviceMemoryError("out= must be a contiguous array that can be written.")
        if self.nbytes:
            host = out.reshape(-1).view(np.uint8)
            providers.copy_to_host(providers.of(self.device), host, self.address_, handle_of(stream))
        return out

    def copy_from(self, source: ArrayLike | DeviceArray, stream: Stream | None = None) -> DeviceArray:
        """Replace the contents by those of a host array, a scalar, or another device array of the same shape and type.

        Args:
            stream: the copy waits its turn in this stream (hipMemcpyAsync). If `source` is `pinned`, the host does not
                wait for it: leave `source` as it is until you have synchronised.

        Raises:
            DeviceMemoryError: shape or type differ, or an array was freed.
        """
        self._check_alive("written")
        if isinstance(source, DeviceArray):
            source._check_alive("copied")
            self._check_fits(source, "the source")
            if self.nbytes:
                self._copy_device(source, stream)
            return self
        host = _host(source)
        if host.ndim == 0:
            if not _fits(host[()], self.dtype):
                raise DeviceMemoryError(
                    f"{source!r} is no value that an element of {self.dtype} can hold.",
                    why="a number goes into every element as it is; a copy converts nothing.",
                    hint="give another number, or make the device array with another type.",
                )
            host = np.full(self.shape, host, self.dtype)
        self._check_fits(host, "the source")
        self._write(host, stream)
        return self

    def _write(self, host: NDArray[Any], stream: Stream | None = None) -> None:
        host = np.ascontiguousarray(host)
        if host.nbytes:
            flat = host.reshape(-1).view(np.uint8)
            providers.copy_to_device(providers.of(self.device), self.address_, flat, handle_of(stream))

    def _copy_device(self, source: DeviceArray, stream: Stream | None) -> None:
        here, there = providers.of(self.device), providers.of(source.device)
        if here is not there:
            raise DeviceMemoryError(
                f"the source is in the memory of device {source.device}, this array in that of device {self.device}.",
                why="the libraries of these two devices cannot reach each other's memory.",
                hint="copy by way of the host: array.copy_from(source.to_host()).",
            )
        here.copy_device(self.address_, source.address_, self.nbytes, handle_of(stream))

    def _check_fits(self, other: Any, which: str) -> None:
        if tuple(other.shape) != self.shape:
            raise DeviceMemoryError(
                f"{which} has shape {tuple(other.shape)}, the device array has {self.shape}.",
                why="a copy moves every element to the same place; both sides need the same shape.",
                hint=f"reshape it: .reshape({self.shape})."
                if other.size == self.size
                else "make both of the same size, for example with gpulab.empty(host.shape, host.dtype).",
            )
        if other.dtype != self.dtype:
            raise DeviceMemoryError(
                f"{which} has type {other.dtype}, the device array has {self.dtype}.",
                why="a copy moves bytes and converts nothing.",
                hint=f'convert it: array.astype("{self.dtype}"); a list: numpy.asarray(values, "{self.dtype}").',
            )

    def view(self, dtype: DTypeLike) -> DeviceArray:
        """The same memory, its bytes read as another type; shares it, copies nothing.

        Raises:
            DeviceMemoryError: the last extent does not divide, or a GPU knows no such type.
        """
        self._check_alive("used")
        new = _dtype(dtype)
        last = (self.shape[-1] if self.shape else 1) * self.dtype.itemsize
        if last % new.itemsize:
            raise DeviceMemoryError(f"rows of {last} bytes cannot be read as {new} of {new.itemsize} bytes each.")
        shape = (*self.shape[:-1], last // new.itemsize) if self.shape else (last // new.itemsize,)
        return DeviceArray(self.address_, shape, new, self.device, base=self, owns=False)

    def reshape(self, *shape: Any) -> DeviceArray:
        """The same memory with other extents; shares it, copies nothing.

        Raises:
            DeviceMemoryError: the number of elements differs.
        """
        self._check_alive("used")
        new = _shape(shape[0] if len(shape) == 1 else shape)
        if math.prod(new) != self.size:
            raise DeviceMemoryError(f"{self.size} elements cannot have the shape {new} ({math.prod(new)} elements).")
        return DeviceArray(self.address_, new, self.dtype, self.device, base=self, owns=False)

    def free(self) -> None:
        """Give the memory back now. The array cannot be used afterwards.

        Raises:
            DeviceMemoryError: it was freed before, or it is a view of another array.
        """
        if self._base is not None:
            raise DeviceMemoryError(
                "this array is a view of another one and owns no memory.", hint="free the array it was made from."
            )
        if self._freed:
            raise DeviceMemoryError(
                f"this array ({self._description()}) was freed already.",
                why="memory can be given back only once; by now it may belong to another array.",
                hint="free() is rarely needed: an array whose last name goes (del a) is freed by itself.",
            )
        self._freed = True
        if self._finalizer is not None and self._finalizer.detach():
            providers.of(self.device).free(self.address_)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """For libraries that take device arrays of others by this protocol (version 3)."""
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.address, False),
            "version": 3,
            "strides": None,
        }

    def data_ptr(self) -> int:
        """The address in device memory, under the name by which libraries ask tensors for it."""
        return self.address

    def _on_device(self, what: str) -> DeviceMemoryError:
        return DeviceMemoryError(
            f"{what} a device array would need its values, and they are in the device's memory.",
            why="gpulab copies nothing behind your back: a copy costs time, and here you are to see where.",
            hint="copy it first: host = array.to_host().",
        )

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        raise self._on_device("making a numpy array of")

    # Without these two, numpy.array_equal would swallow the exception of __array__ and answer False.
    def __array_function__(self, function: Any, types: Any, arguments: Any, named: Any) -> Any:
        raise self._on_device(f"numpy.{getattr(function, '__name__', 'this')} of")

    def __array_ufunc__(self, function: Any, method: str, *arguments: Any, **named: Any) -> Any:
        raise self._on_device(f"numpy.{getattr(function, '__name__', 'this')} of")

    def _no_arithmetic(self, other: Any = None) -> Any:
        raise DeviceMemoryError(
            "Python cannot calculate with or compare the elements of a device array.",
            why="they are in the device's memory, where only kernels work.",
            hint="copy it first: host = array.to_host(), and use host; or write a kernel that does it.",
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _no_arithmetic
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _no_arithmetic
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __lshift__ = __rshift__ = _no_arithmetic
    __neg__ = __abs__ = __invert__ = __round__ = __float__ = __int__ = __bool__ = _no_arithmetic
    __lt__ = __le__ = __gt__ = __ge__ = _no_arithmetic

    def __eq__(self, other: object) -> bool:
        return self is other or bool(self._no_arithmetic(other))

    def __ne__(self, other: object) -> bool:
        return self is not other and bool(self._no_arithmetic(other))

    __hash__ = object.__hash__

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise DeviceMemoryError(
            "Python cannot copy or pickle a device array.",
            why="it is an address in this process's device memory, which a copy would use after it was given back.",
            hint="for a second array: other = gpulab.empty(a.shape, a.dtype); other.copy_from(a). To store or send "
            "it: a.to_host().",
        )

    def __getattr__(self, name: str) -> Any:
        text = f"a device array has no attribute {name!r}."
        if name in ("get", "to_numpy", "numpy", "copy_to_host", "cpu", "tohost", "toHost", "host", "asnumpy"):
            text += " Copying to the host is array.to_host()."
        elif not name.startswith("_") and hasattr(np.ndarray, name):
            text += f" That is for numpy arrays, in host memory: array.to_host().{name}"
        elif not name.startswith("_"):
            near = difflib.get_close_matches(name, [each for each in dir(type(self)) if not each.startswith("_")], 1)
            text += f" Did you mean {near[0]}?" if near else ""
        raise AttributeError(text, name=name, obj=self)

    def __getitem__(self, index: Any) -> Any:
        raise self._on_device("indexing")

    def __setitem__(self, index: Any, value: Any) -> None:
        raise DeviceMemoryError(
            "single elements of a device array cannot be set from the host.",
            why="they are in the device's memory.",
            hint="change a host array and copy it: array.copy_from(host); or write a kernel.",
        )

    def __iter__(self) -> Any:
        raise self._on_device("looping over")

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a device array with no axes has no len()")
        return self.shape[0]

    def _description(self) -> str:
        return f"shape {self.shape}, {self.dtype}"

    def __repr__(self) -> str:
        state = ", freed" if self.freed else ""
        return f"DeviceArray(shape={self.shape}, dtype={self.dtype}, device={self.device}{state})"


def _fits(value: Any, dtype: np.dtype[Any]) -> bool:
    """Whether a single number can be held by this type as it is (0.1 in float32 counts, 2.5 in int32 and 1e300 in
    float32 do not)."""
    if isinstance(value, (bool, np.bool_)):
        return True
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return isinstance(value, (int, np.integer)) and int(info.min) <= int(value) <= int(info.max)
    if not np.can_cast(np.asarray(value).dtype, dtype, "same_kind"):
        return False
    return dtype.kind != "f" or not np.isfinite(value) or bool(abs(value) <= np.finfo(dtype).max)


def _shape(shape: Any) -> tuple[int, ...]:
    found: tuple[Any, ...] = (shape,)
    if isinstance(shape, (Sequence, np.ndarray)) and not isinstance(shape, (str, bytes)) and np.ndim(shape):
        found = tuple(shape)
    if not all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) and n >= 0 for n in found):
        hint = f"write {int(shape)} or use // to divide." if isinstance(shape, float) and shape.is_integer() else ""
        raise DeviceMemoryError(
            f"a shape is a whole number or a tuple of them, none negative; this is {shape!r}.", hint=hint
        )
    return tuple(int(n) for n in found)


def _dtype(dtype: DTypeLike) -> np.dtype[Any]:
    try:
        found = np.dtype(dtype)
    except (TypeError, ValueError) as error:
        raise DeviceMemoryError(
            f"{dtype!r} is no element type.", hint='for example "float32", "int32", "uint8" or numpy.float64.'
        ) from error
    if found.hasobject or found.itemsize == 0 or found.kind not in "biufcV":
        raise DeviceMemoryError(
            f"elements of type {found} cannot be in device memory.",
            why="a GPU knows numbers and plain structures of numbers, not Python objects, texts or dates.",
            hint='convert to numbers first: np.asarray(values, dtype="float32").',
        )
    if not found.isnative:
        raise DeviceMemoryError(
            f"elements of type {found.str if found.fields is None else found} have their bytes in the other order.",
            why="the GPU expects a number's lowest byte first (little-endian), and would read these backwards.",
            hint='convert first: x.astype(x.dtype.newbyteorder("=")).',
        )
    return found


def _nbytes(extents: tuple[int, ...], kind: np.dtype[Any]) -> int:
    nbytes = math.prod(extents) * kind.itemsize
    if nbytes >> 63:
        raise DeviceMemoryError(
            f"an array of {nbytes:,} bytes is more than any device can address.",
            why=f"its shape is {extents}, of {kind}.",
            hint="look at how the shape is computed.",
        )
    return nbytes


def _host(values: ArrayLike, kind: np.dtype[Any] | None = None) -> NDArray[Any]:
    """What is to be copied as a numpy array."""
    if isinstance(values, np.ma.MaskedArray):
        raise DeviceMemoryError(
            "a masked array cannot be copied to the device.",
            why="its mask would be lost, and what stands behind it would count as numbers.",
            hint="fill what is masked: values.filled(0).",
        )
    try:
        return np.asarray(values, dtype=kind)
    except (ValueError, TypeError, OverflowError) as error:
        raise DeviceMemoryError(
            "this is no array of numbers." if kind is None else f"these values cannot become elements of {kind}.",
            why=f"numpy says: {str(error).splitlines()[0]}",
            hint="all rows of a matrix need the same length, and all elements the same kind."
            if kind is None or "shape" in str(error)
            else "look at the values, or choose a type that holds them.",
        ) from None


def empty(shape: int | Sequence[int], dtype: DTypeLike = "float32") -> DeviceArray:
    """Device memory for an array of this shape and type; what stands in it is undefined.

    Raises:
        DeviceMemoryError: shape or type make no sense, or the device has not that much memory.
    """
    extents, kind = _shape(shape), _dtype(dtype)
    dropped.release()
    nbytes = _nbytes(extents, kind)
    address = providers.selected().malloc(nbytes) if nbytes else 0
    return DeviceArray(address, extents, kind, providers.current(), owns=True)


def zeros(shape: int | Sequence[int], dtype: DTypeLike = "float32") -> DeviceArray:
    """Like `empty`, with every byte zero."""
    array = empty(shape, dtype)
    if array.nbytes:
        providers.of(array.device).memset(array.address_, 0, array.nbytes)
    return array


def to_device(values: ArrayLike, dtype: DTypeLike | None = None) -> DeviceArray:
    """Copy a host array (or a list, or a number) into new device memory of the device in use.

    Args:
        values: what to copy; shape and type are kept.
        dtype: convert to this type first.

    Raises:
        DeviceMemoryError: no array of numbers, or the device has not that much memory.
    """
    if isinstance(values, DeviceArray):
        raise DeviceMemoryError(
            "this array is in device memory already.",
            hint="use it as it is; for a second copy: other = gpulab.empty(a.shape, a.dtype); other.copy_from(a).",
        )
    kind = None if dtype is None else _dtype(dtype)
    host = _host(values, kind)
    _dtype(host.dtype)
    array = empty(host.shape, host.dtype)
    array._write(host)
    return array


def pinned(shape: int | Sequence[int], dtype: DTypeLike = "float32") -> NDArray[Any]:
    """A numpy array in page-locked host memory (hipHostMalloc): what copies in streams need so that the host goes on.

    What stands in it is undefined. The memory goes back when the array and all views of it are gone.

    Raises:
        DeviceMemoryError: shape or type make no sense, or there is not that much memory.
    """
    extents, kind = _shape(shape), _dtype(dtype)
    dropped.release()
    nbytes = _nbytes(extents, kind)
    if not nbytes:
        return np.empty(extents, kind)
    provider = providers.selected()
    address = provider.malloc_host(nbytes)
    buffer = (ctypes.c_ubyte * nbytes).from_address(address)
    dropped.later(buffer, provider.free_host, address)
    return np.frombuffer(memoryview(buffer), kind).reshape(extents)
