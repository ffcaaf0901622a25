"""The life of one wave, step by step: `trace` launches a kernel and keeps what the chosen wave did; `WaveTrace` is what
it gives, which can be shown, saved and, with `load_trace`, loaded again.

A saved trace is a ZIP archive of two members. ``trace.json`` has names, texts and the state at the start. ``steps.bin``
has the steps, as little-endian 32-bit words, one step after another:

    instruction, EXEC (2 words), counts of changes, accesses and LDS pieces; then
    each change      number of the register in the JSON's "registers"; its value: one word per lane, 2 words for vcc and
                     exec, 1 word for other scalars
    each access      space and action (8 bits each), bytes of a lane, lanes; the lanes; of each lane (or once, if there
                     are none) the address (2 words); of each the value (as many words as the bytes need)
    each LDS piece   offset, bytes; the bytes, filled up to whole words

Nothing in a file is ever executed, and no size that it claims is believed before it is checked.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import sys
import zipfile
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from gpulab import providers
from gpulab.arguments import whole_number
from gpulab.errors import KernelFault, LaunchLimitError, TraceError
from gpulab.records import (
    AllocationNote,
    Fault,
    MemoryRange,
    SourceLine,
    Trace,
    TraceAccess,
    TraceInstruction,
    TraceOperand,
    TraceStep,
)

if TYPE_CHECKING:
    from gpulab.module import Extent, Kernel
    from gpulab.views.instrument import Instrument

FORMAT, VERSION = "gpulab trace", 3
MOST_FILE = 192 << 20
MOST_HEADER = 16 << 20
"""Bytes of a file's JSON."""
MOST_WORDS = 24 << 20
"""32-bit words of a file's steps."""
MOST_STEPS = 200_000
SPACES, ACTIONS = ("global", "lds", "scratch"), ("read", "write", "atomic")
WIDE = ("vcc", "exec")
MASK32 = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class WaveTrace(Trace):
    """The life of one wave: a `gpulab.records.Trace` that can be shown and saved."""

    @classmethod
    def of(cls, trace: Trace) -> WaveTrace:
        """The same trace as a `WaveTrace`."""
        return cls(**{field.name: getattr(trace, field.name) for field in fields(Trace)})

    def stepper(self) -> Instrument:
        """The wave stepper: source and instructions beside each other, lanes, registers and memory at each step."""
        from gpulab.views.stepper import stepper

        return stepper(self)

    def show(self) -> None:
        """Display the wave stepper; outside of Jupyter print what it says in words and numbers."""
        self.stepper().show()

    _ipython_display_ = show

    def divergence(self, beside: Trace | None = None) -> Instrument:
        """Which lanes were active over the life of the wave, by source line and instruction; what each branch cost.

        Wasted lane-slots are executions of vector instructions × idle lanes; each is put down to the innermost if or
        loop around it whose lanes decided differently.

        Args:
            beside: another trace, drawn beside, such as of the same kernel on a device with another wave size. Lines
                are matched by their text.
        """
        from gpulab.views.divergence import divergence

        return divergence(self, beside)

    def waits(self, first: int = 1, last: int | None = None) -> Instrument:
        """What each wait of the wave waited for: a table by waits, and a picture of the memory accesses in flight.

        The stepper has the same at each step, as "In flight".

        Args:
            first, last: the steps that the picture shows, counted from 1 as in the stepper; at most 120 of them.

        Raises:
            ValueError: there are no such steps.
        """
        from gpulab.views.in_flight import waits

        return waits(self, first, last)

    def __repr__(self) -> str:
        more = ", truncated" if self.truncated else ""
        more += f", stopped: {self.fault.kind}" if self.fault else ""
        return (
            f"<trace of {self.kernel} ({self.arch}): workgroup {self.workgroup}, wave {self.wave}, "
            f"{len(self.steps):,} steps{more}>"
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trace to a file, for `gpulab.load_trace`. An existing file is replaced.

        Raises:
            TraceError: it is larger than what `load_trace` reads.
            OSError: the file cannot be written.
        """
        if len(self.steps) > MOST_STEPS:
            raise TraceError(
                f"A trace of {len(self.steps):,} steps cannot be saved; {MOST_STEPS:,} is the most.",
                hint="trace a launch with less work for each thread.",
            )
        header, words = _packed(self)
        text = json.dumps(header, ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogatepass")
        if len(words) > MOST_WORDS or len(text) > MOST_HEADER:
            raise TraceError(
                f"This trace cannot be saved: it would be {(4 * len(words) + len(text)) >> 20:,} MiB large.",
                hint="trace a launch with less work for each thread.",
            )
        if sys.byteorder == "big":
            words.byteswap()
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
            for name, content in (("trace.json", text), ("steps.bin", words.tobytes())):
                # A fixed date: the same trace makes the same file.
                entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, content)


def trace(
    kernel: Kernel,
    grid: Extent,
    block: Extent,
    *arguments: Any,
    workgroup: Extent = 0,
    wave: int = 0,
    dynamic_lds_bytes: int = 0,
    raises: bool = True,
) -> WaveTrace:
    """Launch the kernel as ``kernel[grid, block](*arguments)`` does, and record one wave of one workgroup.

    The trace has at most 100,000 steps; then it is `truncated`. ``trace.show()`` displays it.

    Args:
        kernel: what to launch; the launch has its full effect on memory.
        grid: workgroups, an int or a tuple of up to three.
        block: threads of a workgroup, an int or a tuple of up to three.
        arguments: the kernel's arguments.
        workgroup: which workgroup: its blockIdx.x, or (x, y, z).
        wave: which wave of that workgroup, from 0.
        dynamic_lds_bytes: as in a launch.
        raises: False gives the trace also if this wave was stopped by a mistake: `Trace.fault` then says why. If the
            kernel was stopped elsewhere, the error is raised all the same, for it says where.

    Raises:
        ArgumentError: this is no kernel, or its arguments do not fit.
        LaunchLimitError: there is no such workgroup or wave, or the sizes are not allowed.
        KernelFault: the kernel was stopped. The error's `trace` is the trace up to there.
    """
    from gpulab.module import kernel_of

    launcher = kernel_of(kernel, "trace")[grid, block, dynamic_lds_bytes]
    chosen = _chosen(workgroup)
    for axis, index, count in zip("xyz", chosen, launcher.grid, strict=True):
        if not 0 <= index < count:
            raise LaunchLimitError(
                f"there is no workgroup with blockIdx.{axis} = {index}: the grid has {count} along {axis}.",
                hint=f"workgroup= between 0 and {count - 1} along {axis}.",
            )
    wave_size = providers.devices()[providers.current()].wave_size
    threads = launcher.block[0] * launcher.block[1] * launcher.block[2]
    waves = -(-threads // wave_size)
    number = whole_number(wave)
    if number is None or not 0 <= number < waves:
        raise LaunchLimitError(
            f"there is no wave {wave!r}: a workgroup of {threads} threads has {waves} "
            f"wave{'s' if waves > 1 else ''} of {wave_size} lanes.",
            hint=f"wave= between 0 and {waves - 1}.",
        )
    try:
        return WaveTrace.of(launcher.traced(arguments, chosen, number))
    except KernelFault as error:
        if error.trace is not None:
            error.trace = found = WaveTrace.of(error.trace)
            if not raises and (found.fault is not None or found.truncated):
                return found
        raise


def _chosen(workgroup: Any) -> tuple[int, int, int]:
    """blockIdx.x, y and z of a workgroup, which is given as x or as up to three numbers.

    Raises:
        LaunchLimitError: it is neither.
    """
    parts = workgroup if isinstance(workgroup, (tuple, list)) else (workgroup,)
    found = [whole_number(part) for part in parts]
    if not 1 <= len(found) <= 3 or None in found:
        raise LaunchLimitError(
            f"workgroup={workgroup!r} is no workgroup.",
            why="it is blockIdx.x, or blockIdx.x, .y and .z: whole numbers.",
            hint="for example workgroup=0, or workgroup=(2, 1).",
        )
    x, y, z = (*(part for part in found if part is not None), 0, 0)[:3]
    return x, y, z


def load_trace(path: str | os.PathLike[str]) -> WaveTrace:
    """Read a trace that ``trace.save(path)`` wrote. Files from strangers are safe to load: they hold data alone.

    Raises:
        TraceError: this is no trace, it is damaged, too large, or of another version.
        OSError: the file cannot be read.
    """
    name = os.path.basename(os.fspath(path))
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size > MOST_FILE:
            raise _refused(name, f"it is larger than {MOST_FILE >> 20} MiB")
        try:
            with zipfile.ZipFile(file) as archive:
                header = _member(archive, "trace.json", MOST_HEADER)
                steps = _member(archive, "steps.bin", 4 * MOST_WORDS)
        except Exception as error:  # damaged archives make zipfile raise errors of many kinds
            raise _refused(name, str(error) or type(error).__name__) from None
    try:
        given = json.loads(header)
        if not isinstance(given, dict) or given.get("format") != FORMAT:
            raise _Damaged("it has another format")
        version = given.get("version")
        if version != VERSION:
            raise TraceError(
                f"The trace {name!r} is of version {version!r:.20}; this gpulab reads version {VERSION}.",
                hint="load it with the version of gpulab that saved it, or save it again there with this one.",
            )
        with _no_collection():
            return _unpacked(given, steps)
    except TraceError:
        raise
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, OverflowError) as error:
        raise _refused(name, str(error) or type(error).__name__) from None


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Millions of tuples are made, none of which is garbage: looking for some would take most of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


class _Damaged(ValueError):
    """What a file says cannot be."""


def _refused(name: str, why: str) -> TraceError:
    return TraceError(
        f"{name!r} cannot be loaded as a trace.",
        why=f"{why[:200]}.".replace("..", "."),
        hint="ask for the file again: trace.save(path) writes one. Mail and chat programs may damage files.",
    )


def _member(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    if archive.getinfo(name).compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise _Damaged(f"{name} is compressed in another way")
    with archive.open(name) as member:
        content = member.read(most + 1)
    if len(content) > most:
        raise _Damaged(f"{name} is larger than {most >> 20} MiB")
    return content


# --------------------------------------------------------------------------------------------------- writing


def _packed(trace: Trace) -> tuple[dict[str, Any], array[int]]:
    """The JSON and the words of a file."""
    registers: dict[str, int] = {}
    words = array("I")
    assert words.itemsize == 4
    for step in trace.steps:
        words.extend(
            (
                step.instruction, step.exec_mask & MASK32, step.exec_mask >> 32 & MASK32, len(step.changes),
                len(step.accesses), len(step.lds),
            )
        )  # fmt: skip
        for name, value in step.changes.items():
            words.append(registers.setdefault(name, len(registers)))
            if isinstance(value, tuple):
                words.extend(value)
            elif name in WIDE:
                words.extend((value & MASK32, value >> 32 & MASK32))
            else:
                words.append(value & MASK32)
        for access in step.accesses:
            kind = SPACES.index(access.space) | ACTIONS.index(access.action) << 8
            words.extend((kind, access.bytes, len(access.lanes), *access.lanes))
            for address in access.addresses:
                words.extend((address & MASK32, address >> 32 & MASK32))
            for value in access.values:
                words.extend(value >> 32 * n & MASK32 for n in range(_words(access.bytes)))
        for offset, data in step.lds:
            words.extend((offset, len(data)))
            words.extend(_array(data))
    places: dict[SourceLine | None, int] = {}
    operands: dict[TraceOperand, int] = {}
    meanings: dict[str, int] = {}
    instructions = [
        [
            item.text, places.setdefault(item.where, len(places)), meanings.setdefault(item.meaning, len(meanings)),
            item.kind, [operands.setdefault(o, len(operands)) for o in item.operands], item.label, item.target,
            item.by_lane, item.raises, item.any_order, item.allows,
        ]
        for item in trace.instructions
    ]  # fmt: skip
    header = {
        "format": FORMAT, "version": VERSION, "kernel": trace.kernel, "arch": trace.arch, "wave_size": trace.wave_size,
        "workgroup": trace.workgroup, "wave": trace.wave, "truncated": trace.truncated, "source": trace.source,
        "files": dict(trace.files), "lds_bytes": trace.lds_bytes, "steps": len(trace.steps),
        "registers": list(registers), "start": dict(trace.start),
        "memory": [[r.name, r.address, r.size] for r in trace.memory],
        "fault": None if trace.fault is None else asdict(trace.fault),
        "places": [None if p is None else [p.file, p.line, p.column, p.text] for p in places],
        "operands": [[o.text, o.registers, o.type, o.written, o.name] for o in operands],
        "meanings": list(meanings), "instructions": instructions,
    }  # fmt: skip
    return header, words


def _words(size: int) -> int:
    return (size + 3) // 4


def _array(data: bytes) -> array[int]:
    """Bytes as little-endian words, filled up with zeros."""
    words = array("I")
    words.frombytes(data + bytes(-len(data) % 4))
    if sys.byteorder == "big":
        words.byteswap()
    return words


# --------------------------------------------------------------------------------------------------- reading


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _Damaged("a text is something else")
    return value


def _int(value: Any, least: int = 0, most: int = (1 << 64) - 1) -> int:
    if type(value) is not int or not least <= value <= most:
        raise _Damaged(f"a number is not between {least} and {most}")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _Damaged("a flag is neither true nor false")
    return value


def _list(value: Any, length: int | None = None) -> list[Any]:
    if not isinstance(value, list) or (length is not None and len(value) != length):
        raise _Damaged("a list is missing or has another length")
    return value


def _dict(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _Damaged("an object is missing")
    return value


def _triple(value: Any) -> tuple[int, int, int]:
    x, y, z = (_int(v, 0, MASK32) for v in _list(value, 3))
    return x, y, z


def _optional(value: Any, read: Callable[[Any], Any]) -> Any:
    return None if value is None else read(value)


def _place(value: Any) -> SourceLine:
    file, line, column, text = _list(value, 4)
    return SourceLine(_text(file), _int(line, 0, MASK32), _int(column, 0, MASK32), _text(text))


def _fault(value: Any) -> Fault:
    given = _dict(value)
    where, nearest = given["where"], given["nearest"]
    if where is not None:
        where = _place([_dict(where)[name] for name in ("file", "line", "column", "text")])
    if nearest is not None:
        nearest = AllocationNote(
            _int(nearest["address"]), _int(nearest["size"]), _text(nearest["relation"]), _int(nearest["distance"]),
            _text(nearest["name"]),
        )  # fmt: skip
    return Fault(
        kind=_text(given["kind"]),
        kernel=_text(given["kernel"]),
        where=where,
        instruction=_text(given["instruction"]),
        workgroup=_triple(given["workgroup"]),
        wave=_int(given["wave"], 0, MASK32),
        lane=_optional(given["lane"], lambda lane: _int(lane, 0, 63)),
        thread=_optional(given["thread"], _triple),
        address=_optional(given["address"], _int),
        bytes=_int(given["bytes"], 0, MASK32),
        access=_text(given["access"]),
        nearest=nearest,
        detail=_text(given["detail"]),
        memory=_text(given["memory"]),
    )


def _register(name: Any) -> str:
    """A register's name; which kind of register it is decides how its value is read."""
    if _text(name) in ("vcc", "exec", "m0", "scc", "mode") or (
        name[0] in "vas" and name[1:].isascii() and name[1:].isdigit() and len(name) <= 4
    ):
        return name
    raise _Damaged("there is a register of an unknown name")


def _unpacked(given: Mapping[str, Any], content: bytes) -> WaveTrace:
    wave_size = _int(given["wave_size"])
    if wave_size not in (32, 64):
        raise _Damaged("a wave has 32 or 64 lanes")
    places = [_optional(place, _place) for place in _list(given["places"])]
    meanings = [_text(meaning) for meaning in _list(given["meanings"])]
    operands = []
    for text, names, type_, is_written, name in (_list(row, 5) for row in _list(given["operands"])):
        registers = tuple(_register(each) for each in _list(names))
        operands.append(TraceOperand(_text(text), registers, _text(type_), _flag(is_written), _text(name)))
    rows = _list(given["instructions"])
    instructions = []
    for text, where, meaning, kind, used, label, target, by_lane, raises, any_order, allows in (
        _list(row, 11) for row in rows
    ):
        instructions.append(
            TraceInstruction(
                _text(text),
                places[_int(where, 0, len(places) - 1)],
                meanings[_int(meaning, 0, len(meanings) - 1)],
                _text(kind),
                tuple(operands[_int(which, 0, len(operands) - 1)] for which in _list(used)),
                _text(label),
                _optional(target, lambda index: _int(index, 0, len(rows) - 1)),
                _flag(by_lane),
                tuple(_text(counter) for counter in _list(raises)),
                _flag(any_order),
                tuple(
                    (_text(counter), _int(left, 0, 255)) for counter, left in (_list(each, 2) for each in _list(allows))
                ),
            )
        )
    start: dict[str, int | tuple[int, ...]] = {}
    for name, value in _dict(given["start"]).items():
        vector = _register(name)[0] in "va" and name != "vcc" and name[1:].isdigit()
        if vector:
            start[name] = tuple(_int(v, 0, MASK32) for v in _list(value, wave_size))
        else:
            start[name] = _int(value)
    lds_bytes = _int(given["lds_bytes"], 0, 1 << 20)
    names = [_register(name) for name in _list(given["registers"])]
    count = _int(given["steps"], 0, MOST_STEPS)
    words = array("I")
    if len(content) % 4:
        raise _Damaged("the steps end within a number")
    words.frombytes(content)
    if sys.byteorder == "big":
        words.byteswap()
    return WaveTrace(
        kernel=_text(given["kernel"]),
        arch=_text(given["arch"]),
        wave_size=wave_size,
        workgroup=_triple(given["workgroup"]),
        wave=_int(given["wave"], 0, MASK32),
        instructions=tuple(instructions),
        steps=_steps(words, count, names, wave_size, len(instructions), lds_bytes),
        source=_text(given["source"]),
        truncated=_flag(given["truncated"]),
        files={_text(name): _text(text) for name, text in _dict(given["files"]).items()},
        start=start,
        lds_bytes=lds_bytes,
        fault=_optional(given["fault"], _fault),
        memory=tuple(
            MemoryRange(_text(name), _int(address), _int(size))
            for name, address, size in (_list(row, 3) for row in _list(given["memory"]))
        ),
    )


def _steps(
    words: array[int], count: int, names: Sequence[str], wave_size: int, instructions: int, lds_bytes: int
) -> tuple[TraceStep, ...]:
    at, end = 0, len(words)
    widths = [wave_size if n[0] in "va" and n != "vcc" else 2 if n in WIDE else 1 for n in names]
    steps = []

    def take(number: int) -> array[int]:
        nonlocal at
        if at + number > end:
            raise _Damaged("the steps end too early")
        at += number
        return words[at - number : at]

    for _ in range(count):
        instruction, low, high, changed, touched, pieces = take(6)
        if instruction >= instructions:
            raise _Damaged("a step is of no instruction of the kernel")
        if high and wave_size == 32:
            raise _Damaged("a wave of 32 lanes has more of them")
        changes: dict[str, int | tuple[int, ...]] = {}
        for _ in range(changed):
            register = take(1)[0]
            width = widths[register]
            if width > 2:
                changes[names[register]] = tuple(take(width))
            else:
                value = take(width)
                changes[names[register]] = value[0] | value[1] << 32 if width == 2 else value[0]
        accesses = []
        for _ in range(touched):
            kind, size, lanes = take(3)
            if lanes > wave_size or not 0 < size <= 64:
                raise _Damaged("an access cannot be so large")
            which = tuple(take(lanes))
            if any(lane >= wave_size for lane in which):
                raise _Damaged("an access is of no lane of the wave")
            entries, wide = max(lanes, 1), _words(size)
            raw = take(2 * entries)
            addresses = tuple(raw[2 * n] | raw[2 * n + 1] << 32 for n in range(entries))
            data = take(wide * entries)
            values = (
                tuple(data)
                if wide == 1
                else tuple(sum(data[wide * n + k] << 32 * k for k in range(wide)) for n in range(entries))
            )
            accesses.append(TraceAccess(SPACES[kind & 255], ACTIONS[kind >> 8], size, which, addresses, values))
        lds = []
        for _ in range(pieces):
            offset, size = take(2)
            if offset + size > lds_bytes:
                raise _Damaged("LDS is written beyond its end")
            piece = take(_words(size))
            if sys.byteorder == "big":
                piece.byteswap()
            lds.append((offset, piece.tobytes()[:size]))
        steps.append(TraceStep(instruction, low | high << 32, changes, tuple(accesses), tuple(lds)))
    if at != end:
        raise _Damaged("there is more behind the last step")
    return tuple(steps)
