"""The structures of schema.py as ctypes structures, one class each for those that Python reads or fills."""

from __future__ import annotations

import ctypes
from typing import Any

from gpulab.virtual_gpu import schema

_TYPES: dict[str, Any] = {
    "u8": ctypes.c_uint8,
    "u16": ctypes.c_uint16,
    "u32": ctypes.c_uint32,
    "i32": ctypes.c_int32,
    "u64": ctypes.c_uint64,
    "i64": ctypes.c_int64,
}


def _fields(structure: schema.Struct, **nested: type[ctypes.Structure]) -> list[tuple[str, Any]]:
    """`_fields_` of a structure, with paddings where its alignment is more than ctypes knows of (Python 3.11)."""
    layout = schema.layout(structure)
    fields: list[tuple[str, Any]] = []
    at = 0

    def pad(to: int) -> None:
        nonlocal at
        if to > at:
            fields.append((f"_padding{at}", ctypes.c_uint8 * (to - at)))
            at = to

    for field in structure.fields:
        kind = ctypes.c_uint64 if field.type.endswith("*") else _TYPES.get(field.type) or nested[field.type]
        pad(layout.offsets[field.name])
        fields.append((field.name, kind * field.count if field.count > 1 else kind))
        at += ctypes.sizeof(kind) * field.count
    pad(layout.bytes)
    return fields


class WaveStruct(ctypes.Structure):
    """`Wave`."""

    _fields_ = _fields(schema.WAVE)


class LaunchStruct(ctypes.Structure):
    """`Launch`."""

    _fields_ = _fields(schema.LAUNCH)


class FaultStruct(ctypes.Structure):
    """`Fault`."""

    _fields_ = _fields(schema.FAULT)


class ThreadStruct(ctypes.Structure):
    """`Thread`. It has to lie at a multiple of 64 bytes."""

    _fields_ = _fields(schema.THREAD, Wave=WaveStruct, Fault=FaultStruct)


class AccessStruct(ctypes.Structure):
    """`Access`."""

    _fields_ = _fields(schema.ACCESS)


class SiteStruct(ctypes.Structure):
    """`Site`."""

    _fields_ = _fields(schema.SITE)


class TotalsStruct(ctypes.Structure):
    """`Totals`."""

    _fields_ = _fields(schema.TOTALS)


class FlowsStruct(ctypes.Structure):
    """`Flows`."""

    _fields_ = _fields(schema.FLOWS)


class LevelStruct(ctypes.Structure):
    """`Level`."""

    _fields_ = _fields(schema.LEVEL)


class RecordingStruct(ctypes.Structure):
    """`Recording`."""

    _fields_ = _fields(schema.RECORDING)


class SiteFlowStruct(ctypes.Structure):
    """`SiteFlow`."""

    _fields_ = _fields(schema.FLOW)


class CrowdStruct(ctypes.Structure):
    """`Crowd`."""

    _fields_ = _fields(schema.CROWD)


class ReplayStruct(ctypes.Structure):
    """`Replay`."""

    _fields_ = _fields(schema.REPLAY)


class OpStruct(ctypes.Structure):
    """`Op`."""

    _fields_ = _fields(schema.OP)


class CostStruct(ctypes.Structure):
    """`Cost`."""

    _fields_ = _fields(schema.COST)


class UnitStruct(ctypes.Structure):
    """`Unit`."""

    _fields_ = _fields(schema.UNIT)


class BalancedPlaceStruct(ctypes.Structure):
    """`BalancedPlace`."""

    _fields_ = _fields(schema.BALANCED_PLACE)


class BalancedUnitStruct(ctypes.Structure):
    """`BalancedUnit`."""

    _fields_ = _fields(schema.BALANCED_UNIT)


class BalanceStruct(ctypes.Structure):
    """`Balance`."""

    _fields_ = _fields(schema.BALANCE)


class ObservationStruct(ctypes.Structure):
    """`Observation`."""

    _fields_ = _fields(schema.OBSERVATION, Flows=FlowsStruct, Level=LevelStruct)


class SampleStruct(ctypes.Structure):
    """`Sample`."""

    _fields_ = _fields(schema.SAMPLE)


class RegionStruct(ctypes.Structure):
    """`Region`."""

    _fields_ = _fields(schema.REGION)


class SegmentStruct(ctypes.Structure):
    """`Segment`."""

    _fields_ = _fields(schema.SEGMENT)


class FindingStruct(ctypes.Structure):
    """`Finding`."""

    _fields_ = _fields(schema.FINDING)


class FoundStruct(ctypes.Structure):
    """`Found`."""

    _fields_ = _fields(schema.FOUND, Fault=FaultStruct, Finding=FindingStruct)


class ViewStruct(ctypes.Structure):
    """`View`."""

    _fields_ = _fields(schema.VIEW)


class CheckStruct(ctypes.Structure):
    """`Check`."""

    _fields_ = _fields(schema.CHECK, View=ViewStruct, Found=FoundStruct)


class StepStruct(ctypes.Structure):
    """`Step`."""

    _fields_ = _fields(schema.STEP)
