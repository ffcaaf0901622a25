"""What a program's process tells the one that started it: records as JSON, one per line, and back again.

The process writes a line for each fault when it happens and, when it ends, one with all launches and activities.
`Writer` writes, `Reader` collects, `read` reads. The reader trusts nothing: only classes of `gpulab.records` are made,
and every value is checked against the type of its field.

The lines go through a pipe, which is read as the process goes on: what was written cannot be taken back. Each bears a
code made with a key, which the process gets by a second pipe before the program is loaded; lines without it, or after
one that is missing, are not believed. A program that closes the pipe leaves a report without an end (`complete`). One
that finds the key in the memory of its process can still write lines of its own.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hmac
import json
import os
import secrets
import threading
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any

from gpulab import records
from gpulab.records import Activity, Counters, Fault, Later, Launch, Transfer

_MOST_BYTES = 256 << 20
_KEY_BYTES = 32
_FIELDS_LEFT_OUT = frozenset({"sources"})  # the program's own text, which the reader has


class Writer:
    """Writes the report of this process.

    Args:
        place: numbers of the descriptors that the key is read from and the report is written to, "7,8".
    """

    def __init__(self, place: str) -> None:
        given, self._descriptor = (int(number) for number in place.split(","))
        with os.fdopen(given, "rb") as file:
            self._key = file.read(_KEY_BYTES)
        os.set_inheritable(self._descriptor, False)
        self._lines = 0

    def fault(self, fault: Fault, returned: bool) -> None:
        """A fault; `returned`: a HIP call has returned its code."""
        self._line({"fault": plain(fault), "returned": returned})

    def end(
        self, launches: Sequence[Launch], activities: Sequence[Activity], transfers: Sequence[Transfer] = ()
    ) -> None:
        """The process is at its end: all that it did."""
        lists = {"launches": launches, "activities": activities, "transfers": transfers}
        self._line({name: [plain(each) for each in records] for name, records in lists.items()})

    def _line(self, value: Mapping[str, Any]) -> None:
        text = json.dumps(value, separators=(",", ":")).encode()
        line = memoryview(_code(self._key, self._lines, text) + b" " + text + b"\n")
        self._lines += 1
        with contextlib.suppress(OSError):  # closed by the program: the report then has no end
            while line:
                line = line[os.write(self._descriptor, line) :]


def _code(key: bytes, number: int, text: bytes) -> bytes:
    """What proves that a line was written with the key, as the line of this number."""
    return hmac.new(key, b"%d " % number + text, "sha256").hexdigest().encode()


class Reader(threading.Thread):
    """Collects what a process writes, from a pipe, until nobody can write any more.

    Attributes:
        place: of the report, for `Writer`. descriptors: that the process must be given.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._key = secrets.token_bytes(_KEY_BYTES)
        key, give = os.pipe()
        os.write(give, self._key)
        os.close(give)
        self._pipe, write = os.pipe()
        self.descriptors: tuple[int, ...] = (key, write)
        self.place = f"{key},{write}"
        self._kept = bytearray()

    def started(self) -> None:
        """The process was started, and has its ends of the pipes."""
        self.close()
        self.start()

    def close(self) -> None:
        """Close the process's ends of the pipes here."""
        for descriptor in self.descriptors:
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self.descriptors = ()

    def run(self) -> None:
        """Reads; of more than a report may have only the beginning is kept."""
        with os.fdopen(self._pipe, "rb", buffering=0) as pipe:
            while piece := pipe.read(1 << 20):
                self._kept += piece[: max(_MOST_BYTES - len(self._kept), 0)]

    def report(self) -> Report:
        """What the process said, once it has ended."""
        if self.ident is None:
            os.close(self._pipe)
        else:
            self.join(5)
        return read(bytes(self._kept), self._key)


def plain(value: Any) -> Any:
    """A record as lists, dictionaries, texts and numbers."""
    if isinstance(value, Later):
        return plain(value.get())
    if isinstance(value, Counters):
        return {"found": dict(value.counts)}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: plain(getattr(value, field.name))
            for field in dataclasses.fields(value)
            if field.name not in _FIELDS_LEFT_OUT
        }
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(each) for each in value]
    return value


@dataclasses.dataclass(frozen=True)
class Report:
    """What was read. `complete`: the process reached its end; else it was killed, and its launches are unknown."""

    faults: tuple[Fault, ...] = ()
    launches: tuple[Launch, ...] = ()
    activities: tuple[Activity, ...] = ()
    complete: bool = False
    unreturned: tuple[Fault, ...] = ()  # of `faults`, those whose code no HIP call returned
    transfers: tuple[Transfer, ...] = ()  # of a checked run


def read(raw: bytes, key: bytes) -> Report:
    """The report that was written with this key; what is damaged or not of the expected form is left out.

    It ends at the first line that is not as the key says: what follows was not written by `Writer`.
    """
    faults: list[Fault] = []
    unreturned: list[Fault] = []
    launches: tuple[Launch, ...] = ()
    activities: tuple[Activity, ...] = ()
    transfers: tuple[Transfer, ...] = ()
    complete = False
    for number, whole in enumerate(raw.split(b"\n")[:-1]):
        code, _, line = whole.partition(b" ")
        if not hmac.compare_digest(code, _code(key, number, line)):
            complete = False
            break
        try:
            found = json.loads(line)
            if "fault" in found:
                fault = record(Fault, found["fault"])
                faults.append(fault)
                if not found.get("returned"):
                    unreturned.append(fault)
            elif "launches" in found:
                launches = tuple(record(Launch, each) for each in found["launches"])
                activities = tuple(record(Activity, each) for each in found["activities"])
                transfers = tuple(record(Transfer, each) for each in found["transfers"])
                complete = True
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            continue
    return Report(tuple(faults), launches, activities, complete, tuple(unreturned), transfers)


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def record(kind: type, value: Any) -> Any:
    """A record of a class of `gpulab.records` from plain values.

    Raises:
        ValueError, TypeError, KeyError: the values do not fit its fields.
    """
    if not isinstance(value, dict):
        raise ValueError(f"a {kind.__name__} is a dictionary here")
    hints = _hints(kind)
    unknown = value.keys() - {field.name for field in dataclasses.fields(kind)}
    if unknown:
        raise ValueError(f"a {kind.__name__} has no {', '.join(map(str, unknown))}")
    return kind(**{name: _typed(hints[name], each) for name, each in value.items()})


def _typed(hint: Any, value: Any) -> Any:
    """A value of the type that a field has."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        if value is None and type(None) in inner:
            return None
        chosen = [each for each in inner if each is not type(None) and typing.get_origin(each) is not Later]
        return _typed(chosen[0], value)
    if origin is records._Rows:
        return tuple(_typed(inner[0], each) for each in _list(value))
    if origin is tuple:
        items = _list(value)
        if len(inner) == 2 and inner[1] is Ellipsis:
            return tuple(_typed(inner[0], each) for each in items)
        return tuple(_typed(each, item) for each, item in zip(inner, items, strict=True))
    if hint is Counters:
        return Counters(_typed(Mapping[str, int], value["found"]))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        if not isinstance(value, dict):
            raise ValueError("a mapping is expected")
        return {_typed(inner[0], name): _typed(inner[1], each) for name, each in value.items()}
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return record(hint, value)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if hint in (str, int, float, bool):
        if not isinstance(value, hint) or (hint is int and isinstance(value, bool)):
            raise ValueError(f"a {hint.__name__} is expected")
        return value
    raise ValueError(f"no value of {hint} is expected here")


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError("a list is expected")
    return value
