"""Messages between a grader and its worker: plain data alone, checked when it comes in.

A message is a JSON header and raw arrays behind it: lengths, header, bytes. Nothing in it can name code, as a pickle
does. `Channel` sends and receives messages over two file descriptors; `encode` and `decode` turn the records that a
run leaves into what JSON knows and back, and `decode` refuses what has another form.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import select
import struct
import time
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

_LENGTHS = struct.Struct("<QQ")  # of the header, of all arrays
_MOST_HEADER, _MOST_ARRAYS = 256 << 20, 8 << 30
_KINDS = "biufc"  # of numpy types
Message = tuple[dict[str, Any], list["np.ndarray"]]


class BadMessage(Exception):
    """What came is no message of the form that was expected."""


class Ended(Exception):
    """The other side has closed the channel."""


class Late(Exception):
    """Nothing came in time."""


class Channel:
    """Messages over two descriptors (which may be the same)."""

    def __init__(self, read: int, write: int) -> None:
        self._read, self._write = read, write

    def send(self, header: Mapping[str, Any], arrays: Sequence[np.ndarray] = ()) -> None:
        """Raises Ended."""
        import numpy as np

        flat = [np.ascontiguousarray(array).reshape(-1) for array in arrays]
        described = {**header, "arrays": [[array.dtype.str, int(array.size)] for array in flat]}
        raw = json.dumps(described).encode()
        self._put(_LENGTHS.pack(len(raw), sum(array.nbytes for array in flat)) + raw)
        for array in flat:
            if array.nbytes:
                self._put(array.view("uint8").data)

    def _put(self, data: bytes | memoryview) -> None:
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._write, view) :]
        except OSError as error:
            raise Ended from error

    def receive(self, until: float | None = None) -> Message:
        """The next message.

        Args:
            until: when to give up, on the clock of time.monotonic.

        Raises:
            Ended, Late, BadMessage.
        """
        import numpy as np

        size, rest = _LENGTHS.unpack(self._get(_LENGTHS.size, until))
        if size > _MOST_HEADER or rest > _MOST_ARRAYS:
            raise BadMessage("it is too long")
        try:
            header = json.loads(self._get(size, until))
            listed = [(np.dtype(str(kind)), int(count)) for kind, count in header.pop("arrays")]
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise BadMessage(str(error)) from error
        if any(kind.kind not in _KINDS or kind.hasobject or count < 0 for kind, count in listed):
            raise BadMessage("it holds arrays of another kind")
        if sum(kind.itemsize * count for kind, count in listed) != rest:
            raise BadMessage("its arrays have another length")
        arrays = []
        for kind, count in listed:
            array = np.empty(count, kind)
            if array.nbytes:
                self._fill(array.view("uint8").data, until)
            arrays.append(array)
        return header, arrays

    def _get(self, size: int, until: float | None) -> bytearray:
        found = bytearray(size)
        if size:
            self._fill(memoryview(found), until)
        return found

    def _fill(self, view: memoryview, until: float | None) -> None:
        while view:
            if until is not None and os.name != "nt":  # there nothing waits for a pipe, and whoever reads has a timer
                left = until - time.monotonic()
                if left <= 0 or not select.select([self._read], [], [], left)[0]:
                    raise Late
            try:
                count = os.readv(self._read, [view]) if hasattr(os, "readv") else self._read_into(view)
            except OSError as error:
                raise Ended from error
            if not count:
                raise Ended
            view = view[count:]

    def _read_into(self, view: memoryview) -> int:
        piece = os.read(self._read, min(len(view), 1 << 20))
        view[: len(piece)] = piece
        return len(piece)


def encode(value: Any) -> Any:
    """A record as what JSON knows: fields by name, tuples as lists."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: encode(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(name): encode(inner) for name, inner in value.items()}
    if isinstance(value, (tuple, list)):
        return [encode(inner) for inner in value]
    if value is None or isinstance(value, (bool, str)):
        return value
    return value.item() if hasattr(value, "item") else value  # a number of numpy's


def decode(kind: Any, data: Any) -> Any:
    """A value of a type from what `encode` made of it.

    Raises:
        BadMessage: it is of another form.
    """
    return _decoder(kind)(data)


@functools.cache
def _decoder(kind: Any) -> Callable[[Any], Any]:
    """What makes values of a type; the type is looked at once."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        inner = _decoder(next(part for part in parts if part is not type(None)))
        return (lambda data: None if data is None else inner(data)) if type(None) in parts else inner
    if origin is tuple:
        return _repeated(parts[0]) if len(parts) == 2 and parts[1] is Ellipsis else _tuple(parts)
    if origin is not None and issubclass(origin, Mapping):
        return _mapping(parts[0], parts[1])
    if dataclasses.is_dataclass(kind):
        return _record(kind)
    if kind in (int, float, str, bool):
        return _plain(kind)

    def refuse(data: Any) -> Any:
        raise BadMessage(f"a {type(data).__name__} instead of {kind}")

    return refuse


def _expect(data: Any, form: type, kind: Any) -> None:
    if not isinstance(data, form):
        raise BadMessage(f"a {type(data).__name__} instead of {kind}")


def _plain(kind: type) -> Callable[[Any], Any]:
    def plain(data: Any) -> Any:
        if type(data) is kind:
            return data
        if kind is float and type(data) is int:
            return float(data)
        raise BadMessage(f"a {type(data).__name__} instead of {kind}")

    return plain


def _repeated(part: Any) -> Callable[[Any], Any]:
    inner = _decoder(part)

    def repeated(data: Any) -> Any:
        _expect(data, list, tuple)
        return tuple(map(inner, data))

    return repeated


def _tuple(parts: Sequence[Any]) -> Callable[[Any], Any]:
    inner = [_decoder(part) for part in parts]

    def listed(data: Any) -> Any:
        _expect(data, list, tuple)
        if len(data) != len(inner):
            raise BadMessage(f"{len(data)} values instead of {len(inner)}")
        return tuple([make(value) for make, value in zip(inner, data, strict=True)])

    return listed


def _mapping(name: Any, value: Any) -> Callable[[Any], Any]:
    names, values = _decoder(name), _decoder(value)

    def mapping(data: Any) -> Any:
        _expect(data, dict, Mapping)
        return {names(key): values(inner) for key, inner in data.items()}

    return mapping


def _record(kind: Any) -> Callable[[Any], Any]:
    fields: dict[str, Callable[[Any], Any]] = {}  # filled by the first: a record may hold others of its kind

    def record(data: Any) -> Any:
        _expect(data, dict, kind)
        if not fields:
            hints = typing.get_type_hints(kind)
            fields.update({field.name: _decoder(hints[field.name]) for field in dataclasses.fields(kind)})
        if data.keys() != fields.keys():
            raise BadMessage(f"a {getattr(kind, '__name__', kind)} with other fields")
        return kind(**{name: make(data[name]) for name, make in fields.items()})

    return record
