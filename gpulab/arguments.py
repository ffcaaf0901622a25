"""Python values to a kernel's argument block: `Packer` checks each value against its parameter and packs the bytes.

A packer is built once per kernel: one small function per parameter, and one `struct.Struct` with the compiler's own
offsets. Whatever does not fit raises ArgumentError, which names the parameter and says what to write instead.
"""

from __future__ import annotations

import ctypes
import operator
import re
import struct
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gpulab.errors import ArgumentError
from gpulab.memory import DeviceArray, Pointer

if TYPE_CHECKING:
    from gpulab.toolchain import KernelSignature, Parameter

Convert = Callable[[Any], Any]

_INTEGERS = {
    "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q",
}  # fmt: skip
_FLOATS = {"float16": "e", "float32": "f", "float64": "d"}
_BYTES = frozenset(("int8", "uint8", "bool"))
_VECTOR = re.compile(r"(?:const\s+)?(u?char|u?short|u?int|u?longlong|u?long|float|double)([1-4])\b")
_FLOAT_VECTORS = re.compile(r"(?:const\s+)?(?:__)?(float|double|half)[1-4]\s*\*")
_VECTOR_ELEMENTS = {
    "char": "b", "uchar": "B", "short": "h", "ushort": "H", "int": "i", "uint": "I", "long": "q", "ulong": "Q",
    "longlong": "q", "ulonglong": "Q", "float": "f", "double": "d",
}  # fmt: skip


def spelled(parameter: Parameter, index: int) -> str:
    """The parameter as messages name it: "argument 2 (float a)"."""
    gap = "" if parameter.type.endswith(("*", "&")) or not parameter.name else " "
    text = f"{parameter.type}{gap}{parameter.name}".strip()
    return f"argument {index + 1}" + (f" ({text})" if text else "")


def whole_number(value: Any) -> int | None:
    """A whole number, or None; True and False are no sizes."""
    if isinstance(value, (bool, np.bool_)):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def described(value: Any) -> str:
    """A value as messages name it, without addresses."""
    if isinstance(value, np.ndarray):
        return f"a numpy array of {value.dtype}, shape {value.shape}"
    if isinstance(value, DeviceArray):
        return f"a device array of {value.dtype}"
    if isinstance(value, np.generic):
        return f"{type(value).__name__}({value!s})"
    if value is None or isinstance(value, (bool, int, float, complex)):
        return repr(value)
    if isinstance(value, str):
        return f"the text {value!r}" if len(value) <= 40 else "a text"
    return f"a value of type {type(value).__name__}"


class Packer:
    """Packs the arguments of one kernel. ``packer((n, a, x, y))`` gives the bytes of the argument block."""

    def __init__(self, signature: KernelSignature) -> None:
        self.signature = signature
        self._converters = tuple(_converter(parameter, i) for i, parameter in enumerate(signature.parameters))
        self._count = len(self._converters)
        codes, end = ["<"], 0
        for parameter in signature.parameters:
            codes.append(f"{parameter.offset - end}x{_code(parameter)}")
            end = parameter.offset + parameter.size
        self._struct = struct.Struct("".join(codes))

    def __call__(self, arguments: Sequence[Any]) -> bytes:
        """The argument block.

        Raises:
            ArgumentError: wrong count, or a value that does not fit its parameter.
        """
        if len(arguments) != self._count:
            raise self._wrong_count(arguments)
        return self._struct.pack(*[convert(value) for convert, value in zip(self._converters, arguments, strict=True)])

    def _wrong_count(self, arguments: Sequence[Any]) -> ArgumentError:
        given, wanted = len(arguments), self._count
        parameters = self.signature.parameters
        what = f"{self.signature.name} takes {wanted} argument{'' if wanted == 1 else 's'}, and was given {given}."
        why = f"its declaration is {self.signature}."
        if given > wanted:
            return ArgumentError(
                what,
                why=why,
                hint="leave out the last "
                + (f"{given - wanted} values." if given - wanted > 1 else "value.")
                + " Grid and block go into the brackets: kernel[grid, block](arguments).",
            )
        first = self._first_misfit(arguments)
        absent = parameters[first : first + wanted - given] if first is not None else parameters[given:]
        names = ", ".join(p.name or f"argument {parameters.index(p) + 1}" for p in absent)
        return ArgumentError(what, why=why, hint=f"missing: {names}.")

    def _first_misfit(self, arguments: Sequence[Any]) -> int | None:
        """Where the given values stop fitting the declaration: there one was probably left out."""
        for index, value in enumerate(arguments):
            try:
                self._converters[index](value)
            except ArgumentError:
                return index
        return None


def _code(parameter: Parameter) -> str:
    """The struct code of a parameter."""
    if parameter.kind == "pointer":
        return "Q"
    code = _INTEGERS.get(parameter.dtype or "") or _FLOATS.get(parameter.dtype or "")
    if parameter.dtype == "bool":
        code = "B"
    return code if code and struct.calcsize("<" + code) == parameter.size else f"{parameter.size}s"


def _converter(parameter: Parameter, index: int) -> Convert:
    if parameter.kind == "pointer":
        return _pointer(parameter, index)
    code = _code(parameter)
    if parameter.dtype == "bool" and code == "B":
        return _boolean(parameter, index)
    if parameter.dtype in _INTEGERS and code == _INTEGERS[parameter.dtype]:
        return _integer(parameter, index)
    if parameter.dtype in _FLOATS and code == _FLOATS[parameter.dtype]:
        return _float(parameter, index)
    return _structure(parameter, index)


# ---------------------------------------------------------------------------------------------- pointers


def _pointer(parameter: Parameter, index: int) -> Convert:
    expected = parameter.dtype
    label = spelled(parameter, index)
    vector = _FLOAT_VECTORS.match(parameter.type)
    parts = None if vector is None else {"half": "float16", "float": "float32", "double": "float64"}[vector[1]]

    def convert(value: Any) -> int:
        if type(value) is DeviceArray:
            if value.dtype_name != expected and expected is not None:
                _check_element_type(value.dtype, expected, label, "device array")
            if parts is not None and value.dtype.itemsize > 1 and value.dtype.kind in "iuf":
                _check_element_type(value.dtype, parts, label, "device array")
            return value.address
        if value is None:
            return 0
        if isinstance(value, Pointer):
            if value.dtype is not None and expected is not None:
                _check_element_type(value.dtype, expected, label, "pointer")
            return value.address
        return _foreign_pointer(value, expected, label)

    return convert


def _check_element_type(found: np.dtype[Any], expected: str, label: str, noun: str) -> None:
    """Accept the same numpy type, and bytes for bytes; structures cannot be compared and pass."""
    if found.name == expected or found.fields is not None or (found.name in _BYTES and expected in _BYTES):
        return
    wanted = np.dtype(expected)
    if label.count("*") > 1:
        raise ArgumentError(
            f"{label} is a pointer to pointers, and was given a {noun} of {found}.",
            why="the kernel would take the array's elements for addresses. Device arrays of any shape have their rows "
            "one behind the other, without a table of addresses.",
            hint="declare it with one *, and write x[row * width + column]. An array of addresses is one of uint64.",
        )
    if found.itemsize == wanted.itemsize and found.kind in "iu" and wanted.kind in "iu":
        hint = f'if the bits are meant as {expected}: array.view("{expected}").'
    else:
        hint = f'make it with that type: gpulab.to_device(host.astype("{expected}")) or gpulab.empty(n, "{expected}").'
    raise ArgumentError(
        f"{label} points to {expected}, and was given a {noun} of {found}.",
        why="the kernel would read the bytes of one type as the other and get senseless numbers.",
        hint=hint,
    )


def _foreign_pointer(value: Any, expected: str | None, label: str) -> int:
    """Addresses from elsewhere: ctypes, hip-python, anything with __cuda_array_interface__."""
    if isinstance(value, (np.ndarray, list, tuple)):
        found = value.dtype if isinstance(value, np.ndarray) else None
        cast = f'.astype("{expected}")' if found is not None and expected is not None and found.name != expected else ""
        what = described(value) if found is not None else f"a Python {type(value).__name__}"
        write = "gpulab.to_device(x" + cast + ")"
        if found is None and expected is not None:
            write = f'gpulab.to_device(x, dtype="{expected}")'
        raise ArgumentError(
            f"{label} is a pointer to device memory, and was given {what}, which is in host memory.",
            why="the GPU has its own memory, and gpulab copies nothing behind your back.",
            hint=f"copy it first: {write}, and give the kernel that.",
        )
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is not None:
        found = np.dtype(interface["typestr"])
        # "|u1" and "|V1" are what libraries say that know bytes alone.
        if expected is not None and found.kind != "V" and found != np.uint8:
            _check_element_type(found, expected, label, "device array")
        return int(interface["data"][0] or 0)
    if isinstance(value, ctypes.c_void_p):
        return value.value or 0
    if hasattr(value, "as_c_void_p"):
        return int(value.as_c_void_p().value or 0)
    if isinstance(value, (bool, int, float, complex, np.generic)):
        raise ArgumentError(
            f"{label} is a pointer, and was given the number {described(value)}.",
            why="a pointer parameter takes device memory.",
            hint="give it a device array: gpulab.to_device(x) or gpulab.zeros(n, "
            f'"{expected or "float32"}"). A bare address goes in as gpulab.Pointer(address).',
        )
    raise ArgumentError(
        f"{label} is a pointer, and was given {described(value)}.",
        hint="give it a device array: gpulab.to_device(x), gpulab.empty(...) or gpulab.zeros(...).",
    )


# ------------------------------------------------------------------------------------------------ values


def _number_of_text(text: str, whole: bool) -> str:
    """What to write in place of a text, or ""."""
    try:
        (int if whole else float)(text)
    except ValueError:
        return f"for the number of the character write ord({text!r})." if whole and len(text) == 1 else ""
    return f"convert it: {'int' if whole else 'float'}({text!r})."


def _not_a_number(value: Any, label: str, wanted: str) -> ArgumentError:
    if isinstance(value, DeviceArray):
        hint = "if the kernel should read it from memory, declare the parameter as a pointer."
    elif isinstance(value, np.ndarray):
        hint = "give one element, for example x[0], or x.item()." if value.size == 1 else "give a single number."
    elif isinstance(value, str):
        hint = _number_of_text(value, wanted == "a whole number")
    else:
        hint = ""
    return ArgumentError(f"{label} takes {wanted}, and was given {described(value)}.", hint=hint)


def _integer(parameter: Parameter, index: int) -> Convert:
    label = spelled(parameter, index)
    info = np.iinfo(str(parameter.dtype))
    lowest, highest = int(info.min), int(info.max)

    def convert(value: Any) -> int:
        if type(value) is not int:
            value = _whole(value, label)
        if lowest <= value <= highest:
            return value
        raise ArgumentError(
            f"{label} takes {parameter.dtype}, which holds {lowest} to {highest}, and was given {value}.",
            why="the value does not fit into its bits." if value > highest or lowest < 0 else "it is unsigned.",
            hint="declare the parameter with a wider type, or give another value.",
        )

    return convert


def _whole(value: Any, label: str) -> int:
    if isinstance(value, (float, np.floating)):
        if float(value).is_integer():
            raise ArgumentError(
                f"{label} takes a whole number, and was given {described(value)}, a float.",
                why="a float here is often a sign of arguments in the wrong order.",
                hint=f"if the order is right, write {int(value)} or int(...), or divide with // instead of /.",
            )
        raise ArgumentError(
            f"{label} takes a whole number, and was given {described(value)}.",
            why="converting it would drop the fraction without a word.",
            hint="round it yourself: int(x), round(x), or divide with // instead of /."
            + (" For a fraction declare the parameter as float." if np.isfinite(value) else ""),
        )
    if isinstance(value, (str, bytes, DeviceArray, np.ndarray)):
        raise _not_a_number(value, label, "a whole number")
    try:
        return operator.index(value)
    except TypeError:
        pass
    if isinstance(value, np.bool_):
        return int(value)
    raise _not_a_number(value, label, "a whole number")


def _boolean(parameter: Parameter, index: int) -> Convert:
    label = spelled(parameter, index)

    def convert(value: Any) -> int:
        whole = _whole(value, label)
        if whole not in (0, 1):
            raise ArgumentError(f"{label} takes True or False, and was given {whole}.")
        return whole

    return convert


def _float(parameter: Parameter, index: int) -> Convert:
    label = spelled(parameter, index)
    code = struct.Struct("<" + _FLOATS[str(parameter.dtype)])

    def convert(value: Any) -> float:
        if type(value) is not float:
            if not isinstance(value, (int, np.integer, np.floating, np.bool_, float)):
                raise _not_a_number(value, label, "a number")
            try:
                value = float(value)
            except OverflowError:
                raise _too_large(f"a whole number of {int(value).bit_length():,} bits") from None
        if -1e4 < value < 1e4:
            return value
        try:
            code.pack(value)
        except OverflowError:
            raise _too_large(f"{value:g}") from None
        return value

    def _too_large(given: str) -> ArgumentError:
        largest = float(np.finfo(str(parameter.dtype)).max)
        return ArgumentError(
            f"{label} takes {parameter.dtype}, whose largest value is {largest:.6g}, and was given {given}.",
            hint="declare the parameter as double, or give float('inf') if that is meant.",
        )

    return convert


def _numbers(value: Any) -> bool:
    """Whether it is numpy's, of real numbers."""
    return isinstance(value, (np.generic, np.ndarray)) and value.dtype.kind in "biuf"


def _structure(parameter: Parameter, index: int) -> Convert:
    """Structures and vector types: bytes, numpy or ctypes values of the right size; tuples for vector types."""
    label = spelled(parameter, index)
    size = parameter.size
    vector = _VECTOR.match(parameter.type)
    if vector is not None and not parameter.type.rstrip().endswith("]"):
        element, count = _VECTOR_ELEMENTS[vector[1]], int(vector[2])
    elif re.match(r"(?:const\s+)?(?:struct\s+)?dim3\b", parameter.type):
        element, count = "I", 3
    else:
        element, count = "", 0
    packed = struct.Struct(f"<{count}{element}") if element else None

    def convert(value: Any) -> bytes:
        if packed is not None and _numbers(value) and value.ndim == 1:
            value = value.tolist() if value.dtype.itemsize > 1 or len(value) == count else value  # else bytes
        if isinstance(value, (tuple, list)) and packed is not None:
            axes = 3 if element == "I" and parameter.type.endswith("dim3") else 0
            numbers = (*value, *(1,) * (axes - len(value)))
            try:
                raw = packed.pack(*numbers)
            except (struct.error, OverflowError, TypeError) as error:
                raise ArgumentError(
                    f"{label} takes {count} numbers, and was given {value!r}: {error}.",
                    hint=f"a tuple of {count} numbers of its element type.",
                ) from None
        elif isinstance(value, (bytes, bytearray, memoryview)):
            raw = bytes(value)
        elif isinstance(value, (np.generic, np.ndarray)) and not (packed and _numbers(value) and value.ndim == 0):
            raw = value.tobytes()
        elif isinstance(value, (ctypes.Structure, ctypes.Union, ctypes.Array)):
            raw = bytes(value)
        else:
            scalars = {1: "np.int8(5)", 2: "np.int16(5) or np.float16(2.5)", 4: "np.int32(5) or np.float32(2.5)",
                       8: "np.int64(5) or np.float64(2.5)"}  # fmt: skip
            hint = (
                f"a tuple of {count} numbers."
                if packed is not None
                else f"a numpy scalar of the parameter's type, {scalars[size]}: this code object says its size alone."
                if not parameter.type and size in scalars
                else "a numpy structured scalar with the same fields, for example "
                'np.array((1, 2.0), dtype=[("n", "i4"), ("a", "f4")])[()], or its bytes.'
            )
            raise ArgumentError(f"{label} takes a value of {size} bytes, and was given {described(value)}.", hint=hint)
        if packed is not None and len(raw) == packed.size and packed.size < size:
            raw = raw.ljust(size, b"\0")  # a vector of three may have room for four
        if len(raw) != size:
            raise ArgumentError(
                f"{label} takes {size} bytes, and was given {len(raw)} ({described(value)}).",
                why="the structure in the kernel and the value here have different layouts.",
                hint="give the numpy type the same fields in the same order, with align=True.",
            )
        return raw

    return convert
