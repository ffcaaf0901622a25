"""What a program's process writes comes back as it was; whatever else is written does not."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import Any

import pytest

from gpulab.programs import report
from gpulab.records import Activity, Counters, Fault, Later, SourceLine, Transfer

PLACE = SourceLine("a.hip", 3, 5)
FAULT = Fault("race", "k", PLACE, "global_store_dword", (1, 2, 3), 4, None, (5, 6, 7), address=1 << 40, bytes=4)
ACTIVITY = Activity("copy", "host to device", 0, 1, 0.0, 2.5, bytes=64)
TRANSFER = Transfer("device to host", 8, 4, "00ff", "f0")


def pipe_report(*steps: tuple[str, Any]) -> report.Report:
    """What a reader has after a writer in this process has taken these steps."""
    reader = report.Reader()
    given, descriptor = reader.descriptors
    place = f"{os.dup(given)},{os.dup(descriptor)}"
    assert reader.place == f"{given},{descriptor}"
    reader.started()
    assert reader.descriptors == ()
    writer = report.Writer(place)
    assert not os.get_inheritable(int(place.partition(",")[2]))
    for name, arguments in steps:
        getattr(writer, name)(*arguments)
    os.close(int(place.partition(",")[2]))
    return reader.report()


def test_what_is_written_comes_back() -> None:
    deep = replace(FAULT, further=(replace(FAULT, kind="shuffle"),))
    found = pipe_report(
        ("fault", (FAULT, False)), ("fault", (deep, True)), ("end", ((), (ACTIVITY,), (TRANSFER,)))
    )  # fmt: skip
    assert found == report.Report(
        faults=(FAULT, deep), activities=(ACTIVITY,), complete=True, unreturned=(FAULT,), transfers=(TRANSFER,)
    )


def test_a_process_that_was_killed_has_no_end() -> None:
    assert pipe_report(("fault", (FAULT, True))) == report.Report(faults=(FAULT,))
    assert pipe_report() == report.Report()


def test_a_process_that_never_started() -> None:
    reader = report.Reader()
    descriptors = (*reader.descriptors, reader._pipe)
    reader.close()
    assert reader.report() == report.Report()
    for descriptor in descriptors:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(descriptor)


def test_the_key_can_be_read_once_and_has_an_end() -> None:
    reader = report.Reader()
    os.set_blocking(reader.descriptors[0], False)
    assert os.read(reader.descriptors[0], 99) == reader._key
    assert len(reader._key) == 32
    assert os.read(reader.descriptors[0], 1) == b""  # nobody holds the writing end
    reader.close()
    reader.report()


def test_a_pipe_that_the_program_closed() -> None:
    given, key = os.pipe()
    os.write(key, b"k" * 32)
    os.close(key)
    read, write = os.pipe()
    writer = report.Writer(f"{given},{write}")
    os.close(read)
    writer.end((), ())  # nobody reads: no error in the program
    os.close(write)


def test_of_a_flood_the_beginning_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "_MOST_BYTES", 10)
    reader = report.Reader()
    write = os.dup(reader.descriptors[1])
    reader.started()
    for piece in (b"12345678", b"9abcdef", b"g"):
        os.write(write, piece)
    os.close(write)
    reader.report()
    assert bytes(reader._kept) == b"123456789a"


def line(number: int, value: Any, key: bytes = b"key") -> bytes:
    text = json.dumps(value).encode()
    return report._code(key, number, text) + b" " + text + b"\n"


def test_codes_are_hmac() -> None:
    """RFC 4231, test case 2, as its text begins with neither a number nor a space, is met by no line; so by hashlib."""
    import hashlib

    def padded(byte: int) -> bytes:
        return bytes(byte ^ one for one in b"key".ljust(64, b"\0"))

    inner = hashlib.sha256(padded(0x36) + b"12 text").digest()
    assert report._code(b"key", 12, b"text") == hashlib.sha256(padded(0x5C) + inner).hexdigest().encode()


def test_what_is_damaged_is_left_out_and_the_rest_stays() -> None:
    good = {"fault": report.plain(FAULT), "returned": True}
    bad = {"fault": {**report.plain(FAULT), "wave": "4"}, "returned": True}
    raw = line(0, good) + line(1, bad) + line(2, {"other": 1}) + line(3, {**good, "returned": False})
    assert report.read(raw, b"key") == report.Report(faults=(FAULT, FAULT), unreturned=(FAULT,))
    end = {"launches": [], "activities": [], "transfers": []}
    assert report.read(line(0, end), b"key").complete
    assert not report.read(line(0, end) + b"more\n", b"key").complete
    assert report.read(line(0, end) + b"more", b"key").complete  # a line without its end is none


def with_value(**values: Any) -> dict[str, Any]:
    return {**report.plain(ACTIVITY), **values}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([], "a Activity is a dictionary here"),
        (with_value(nothing=1, no=2), "a Activity has no"),
        (with_value(kind=1), "a str is expected"),
        (with_value(device="0"), "a int is expected"),
        (with_value(device=True), "a int is expected"),
        (with_value(device=1.0), "a int is expected"),
        (with_value(start_us="0"), "a float is expected"),
        (with_value(start_us=True), "a float is expected"),
        (with_value(is_modelled=1), "a bool is expected"),
        (with_value(launch="1"), "a int is expected"),
    ],
)
def test_values_that_do_not_fit(value: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        report.record(Activity, value)


def test_values_that_fit() -> None:
    assert report.record(Activity, with_value(launch=None)).launch is None
    assert report.record(Activity, with_value(launch=3)).launch == 3
    whole = report.record(Activity, with_value(start_us=2)).start_us
    assert (whole, type(whole)) == (2.0, float)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"workgroup": [1, 2]}, "zip"),
        ({"workgroup": [1, 2, 3, 4]}, "zip"),
        ({"workgroup": 1}, "a list is expected"),
        ({"workgroup": {"0": 1}}, "a list is expected"),
        ({"where": {"file": "a", "line": 1, "column": "x"}}, "a int is expected"),
        ({"where": 3}, "a SourceLine is a dictionary here"),
        ({"further": [{}, 3]}, "missing|dictionary"),
        ({"further": 3}, "a list is expected"),
    ],
)
def test_nested_values_that_do_not_fit(change: dict[str, Any], said: str) -> None:
    with pytest.raises((ValueError, TypeError), match=said):
        report.record(Fault, {**report.plain(FAULT), **change})


def test_counters_and_mappings() -> None:
    assert report.plain(Later(lambda: Counters({"A": 1}))) == {"found": {"A": 1}}
    assert report._typed(Counters, {"found": {"A": 1}}) == Counters({"A": 1})
    for wrong in ({"found": [1]}, {"found": {"A": "1"}}, {"found": {"A": True}}):
        with pytest.raises(ValueError, match="is expected"):
            report._typed(Counters, wrong)
    with pytest.raises(KeyError):
        report._typed(Counters, {})
    assert report._typed(tuple[int, ...], [1, 2, 3]) == (1, 2, 3)
    with pytest.raises(ValueError, match="no value of"):
        report._typed(object, 3)
