"""A failing case as what JSON knows, and back: `to_plain` and `from_plain`."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any

from gpulab.records import FailedCase


def to_plain(case: FailedCase) -> dict[str, Any]:
    """A failed case as what JSON knows. Places in the source, which many elements share, stand once, in "places"."""
    places: list[list[Any]] = []

    def shared(value: Any) -> Any:
        if isinstance(value, dict):
            found = {name: shared(inner) for name, inner in value.items()}
            if "where" in found and "instruction" in found:
                place = [found.pop("where"), found.pop("instruction")]
                if place not in places:
                    places.append(place)
                found["at"] = places.index(place)
            return found
        return [shared(inner) for inner in value] if isinstance(value, (list, tuple)) else value

    plain = shared(dataclasses.asdict(case))
    return {**plain, "places": places}


def from_plain(data: Mapping[str, Any]) -> FailedCase:
    """The failed case that `to_plain` was given, also after a way through JSON."""
    places = data["places"]

    def whole(value: Any) -> Any:
        if isinstance(value, dict):
            found = {name: whole(inner) for name, inner in value.items()}
            if "at" in found:
                found["where"], found["instruction"] = places[found.pop("at")]
            return found
        return [whole(inner) for inner in value] if isinstance(value, list) else value

    case = _build(FailedCase, whole({name: value for name, value in data.items() if name != "places"}))
    assert isinstance(case, FailedCase)
    return case


def _build(kind: Any, data: Any) -> Any:
    """A value of a type from plain data: records, tuples, None."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        inner = next(part for part in parts if part is not type(None))
        return None if data is None else _build(inner, data)
    if origin is tuple:
        kinds = [parts[0]] * len(data) if len(parts) == 2 and parts[1] is Ellipsis else parts
        return tuple(_build(inner, value) for inner, value in zip(kinds, data, strict=True))
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        return kind(**{name: _build(hints[name], value) for name, value in data.items()})  # type: ignore[operator]
    return data
