"""Messages between a grader and its worker (grading/wire.py): what goes out comes in, and anything else is refused."""

from __future__ import annotations

import json
import os
import socket
import struct
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from gpulab.grading import wire
from gpulab.grading.wire import BadMessage, Channel, Ended, Late, decode, encode


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    one, other = socket.socketpair()
    with one, other:
        yield one, other


def channel(end: socket.socket) -> Channel:
    return Channel(end.fileno(), end.fileno())


def raw(header: Any, body: bytes = b"", size: int | None = None, rest: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<QQ", len(text) if size is None else size, len(body) if rest is None else rest) + text + body


def test_arrays_of_each_kind_come_as_they_went(ends: tuple[socket.socket, socket.socket]) -> None:
    one, other = ends
    arrays = [
        np.arange(6, dtype="float32").reshape(2, 3), np.array([], "int64"), np.array([True, False]),
        np.array([1 + 2j], "complex64"), np.arange(8, dtype="uint16")[::2], np.array([-1], "int8"),
    ]  # fmt: skip
    channel(one).send({"op": "ä", "n": 3, "x": None}, arrays)
    header, found = channel(other).receive(time.monotonic() + 10)
    assert header == {"op": "ä", "n": 3, "x": None}
    assert [(each.dtype.str, each.tolist()) for each in found] == [
        (each.dtype.str, each.reshape(-1).tolist()) for each in arrays
    ]


def test_a_long_message_comes_in_many_pieces(ends: tuple[socket.socket, socket.socket]) -> None:
    one, other = ends
    data = np.random.default_rng(1).integers(0, 255, 3_000_000, dtype="uint8")
    sender = threading.Thread(target=lambda: channel(one).send({"op": "run"}, [data, data[:3]]))
    sender.start()
    header, (whole, part) = channel(other).receive(time.monotonic() + 30)
    sender.join()
    assert header == {"op": "run"}
    assert (whole == data).all()
    assert part.tolist() == data[:3].tolist()


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (raw({"arrays": []}, size=(256 << 20) + 1), "too long"),
        (raw({"arrays": []}, rest=(8 << 30) + 1), "too long"),
        (raw(b"{"), ""),
        (raw(b"[" * 100_000), ""),
        (raw([1]), ""),
        (raw({"op": "x"}), "arrays"),
        (raw({"arrays": 3}), ""),
        (raw({"arrays": [["f4"]]}), ""),
        (raw({"arrays": [["nonsense", 1]]}), ""),
        (raw({"arrays": [["<f4", "many"]]}), ""),
        (raw({"arrays": [["|O", 1]]}, bytes(8)), "another kind"),
        (raw({"arrays": [["|V4", 1]]}, bytes(4)), "another kind"),
        (raw({"arrays": [["<M8[s]", 1]]}, bytes(8)), "another kind"),
        (raw({"arrays": [["<f4", -1], ["<f4", 1]]}), "another kind"),
        (raw({"arrays": [["<f4", 2]]}, bytes(4)), "another length"),
        (raw({"arrays": [["<f4", 1]]}, bytes(8)), "another length"),
        (raw({"arrays": []}, bytes(1)), "another length"),
    ],
)
def test_what_is_no_message_is_refused(ends: tuple[socket.socket, socket.socket], sent: bytes, said: str) -> None:
    one, other = ends
    one.sendall(sent)
    with pytest.raises(BadMessage) as found:
        channel(other).receive(time.monotonic() + 10)
    assert said in str(found.value)


def test_a_message_may_be_as_long_as_the_limits(
    ends: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    """256 MiB of header and 8 GiB of arrays; here fewer."""
    assert (wire._MOST_HEADER, wire._MOST_ARRAYS) == (268_435_456, 8_589_934_592)
    one, other = ends
    sent = raw({"arrays": [["|u1", 5]]}, b"12345")
    size = len(sent) - 16 - 5
    for header, arrays, fits in ((size, 5, True), (size - 1, 5, False), (size, 4, False)):
        monkeypatch.setattr(wire, "_MOST_HEADER", header)
        monkeypatch.setattr(wire, "_MOST_ARRAYS", arrays)
        one.sendall(sent)
        if fits:
            assert channel(other).receive()[1][0].tobytes() == b"12345"
            continue
        with pytest.raises(BadMessage, match="it is too long"):
            channel(other).receive()
        other.recv(1 << 10)  # what is left of it


def test_a_system_without_readv_reads_a_mebibyte_at_most(
    ends: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("os.readv", raising=False)
    asked, read = [], os.read

    def counted(descriptor: int, size: int) -> bytes:
        asked.append(size)
        return read(descriptor, size)

    monkeypatch.setattr("os.read", counted)
    one, other = ends
    data = np.arange(3 << 20, dtype="uint32").view("uint8")[: (2 << 20) + 5]
    sender = threading.Thread(target=lambda: channel(one).send({"op": "run"}, [data]))
    sender.start()
    header, (found,) = channel(other).receive(time.monotonic() + 30)
    sender.join()
    assert (header, (found == data).all()) == ({"op": "run"}, True)
    assert (asked[0], max(asked)) == (16, 1 << 20)
    one.close()
    with pytest.raises(Ended):
        channel(other).receive(time.monotonic() + 10)


@pytest.mark.parametrize("kept", [0, 1, 15, 16, 20, -1])
def test_a_side_that_ends_within_a_message(ends: tuple[socket.socket, socket.socket], kept: int) -> None:
    one, other = ends
    one.sendall(raw({"arrays": [["<f4", 2]]}, bytes(8))[:kept])
    one.close()
    with pytest.raises(Ended):
        channel(other).receive(time.monotonic() + 10)


def test_a_closed_descriptor_has_ended() -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        with pytest.raises(Ended):
            Channel(read, write).receive()
        with pytest.raises(Ended):  # nobody reads: a broken pipe
            Channel(read, write).send({"op": "x"})
    finally:
        os.close(write)


def test_nothing_comes_in_time(ends: tuple[socket.socket, socket.socket]) -> None:
    one, other = ends
    begun = time.monotonic()
    with pytest.raises(Late):
        channel(other).receive(begun + 0.05)
    assert time.monotonic() >= begun + 0.05
    one.sendall(raw({"arrays": [["<f4", 2]]}, bytes(8))[:-1])
    with pytest.raises(Late):
        channel(other).receive(time.monotonic() + 0.05)
    one.sendall(raw({"arrays": []}))
    with pytest.raises(Late):
        channel(other).receive(time.monotonic() - 1)


@dataclass(frozen=True)
class Inner:
    name: str
    at: tuple[int, int]


@dataclass(frozen=True)
class Outer:
    inner: Inner | None
    many: tuple[Inner, ...]
    counts: Mapping[str, int]
    share: float
    good: bool = True


WHOLE = Outer(Inner("a", (1, 2)), (Inner("b", (3, 4)), Inner("c", (5, 6))), {"x": 7}, 0.5, False)


@pytest.mark.parametrize(
    ("kind", "value", "plain"),
    [
        (int, 3, 3), (int, np.int64(3), 3), (float, np.float32(0.5), 0.5), (bool, True, True), (str, "ü", "ü"),
        (int | None, None, None), (int | None, 4, 4), (tuple[int, ...], (), []), (tuple[int, str], (1, "a"), [1, "a"]),
        (Mapping[str, float], {"a": 1.5}, {"a": 1.5}), (Inner, Inner("a", (1, 2)), {"name": "a", "at": [1, 2]}),
        (Outer | None, WHOLE, {"inner": {"name": "a", "at": [1, 2]}, "counts": {"x": 7}, "share": 0.5, "good": False,
                               "many": [{"name": "b", "at": [3, 4]}, {"name": "c", "at": [5, 6]}]}),
    ],
)  # fmt: skip
def test_records_as_plain_data(kind: Any, value: Any, plain: Any) -> None:
    assert encode(value) == plain
    assert json.loads(json.dumps(encode(value))) == plain
    found = decode(kind, plain)
    assert found == value
    assert type(found) is type(value) or type(value).__module__ == "numpy"


def test_a_whole_number_may_stand_for_a_float() -> None:
    found = decode(float, 3)
    assert (found, type(found)) == (3.0, float)


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (int, "3"), (int, 3.0), (int, True), (float, True), (float, "1"), (bool, 1), (str, 3), (str, None),
        (int | None, "x"), (tuple[int, ...], 3), (tuple[int, ...], [1, "x"]), (tuple[int, int], [1]),
        (tuple[int, int], [1, 2, 3]), (tuple[int, str], ["a", 1]), (Mapping[str, int], [1]),
        (Mapping[str, int], {"a": "b"}), (Inner, {"name": "a"}), (Inner, {"name": "a", "at": [1, 2], "more": 1}),
        (Inner, {"name": 3, "at": [1, 2]}), (Inner, ["a", [1, 2]]), (Outer, None), (bytes, "x"), (list[int], [1]),
    ],
)  # fmt: skip
def test_data_of_another_form_is_refused(kind: Any, data: Any) -> None:
    with pytest.raises(BadMessage):
        decode(kind, data)
