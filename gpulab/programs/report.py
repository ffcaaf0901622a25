"""What a program's process tells the one that started it: records as JSON, one per line, and back again.

The process writes a line for each fault when it happens and, when it ends, one with all launches and activities.
`Writer` writes, `read` reads. The reader trusts nothing: only classes of `gpulab.records` are made, and every value is
checked against the type of its field.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import types
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from gpulab import records
from gpulab.records import Activity, Counters, Fault, Later, Launch

_MOST_BYTES = 256 << 20
_FIELDS_LEFT_OUT = frozenset({"sources"})  # the program's own text, which the reader has


class Writer:
    """Writes the report of this process to a file that exists already."""

    def __init__(self, path: str) -> None:
        self._file: TextIO = open(path, "a", encoding="utf-8")  # noqa: SIM115 - open until the process ends

    def fault(self, fault: Fault, returned: bool) -> None:
        """A fault; `returned`: a HIP call has returned its code."""
        self._line({"fault": plain(fault), "returned": returned})

    def end(self, launches: Sequence[Launch], activities: Sequence[Activity]) -> None:
        self._line({"launches": [plain(each) for each in launches], "activities": [plain(each) for each in activities]})

    def _line(self, value: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(value, separators=(",", ":")) + "\n")
        self._file.flush()


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


def read(path: Path) -> Report:
    """The report in a file; what is damaged or not of the expected form is left out."""
    faults: list[Fault] = []
    unreturned: list[Fault] = []
    launches: tuple[Launch, ...] = ()
    activities: tuple[Activity, ...] = ()
    complete = False
    try:
        with path.open("rb") as file:
            raw = file.read(_MOST_BYTES)
    except OSError:
        return Report()
    for line in raw.split(b"\n"):
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
                complete = True
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            continue
    return Report(tuple(faults), launches, activities, complete, tuple(unreturned))


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
