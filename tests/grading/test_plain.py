"""A failing case as plain data: places in the source stand once, and all comes back as it was."""

from __future__ import annotations

import json
from dataclasses import replace

from gpulab.grading.plain import from_plain, to_plain
from gpulab.records import Access, ArrayElement, FailedArray, FailedCase, SourceLine, Writer

FIRST, SECOND = SourceLine("k.hip", 3, 5, "out[i] = 1;"), SourceLine("k.hip", 4, 5, "out[i] = 2;")


def element(index: int, where: SourceLine | None, instruction: str) -> ArrayElement:
    seen = Writer((1, 0, 0), (2, 0, 0), True, 0, 2, where, instruction)
    owner = Writer((0, 0, 0), (index, 0, 0), False)
    return ArrayElement(index, "wrong", "1", "2", seen, owner, (("in[0]", "7"),))


ELEMENTS = (element(0, FIRST, "store"), element(1, SECOND, "store"), element(2, FIRST, "store"),
            element(3, FIRST, "atomic"), ArrayElement(4, "never written", "1", ""))  # fmt: skip
ARRAY = FailedArray("out", "int32", (5,), 0, 4, 1, 0, 1, 5, 0, 0, ELEMENTS, (), ((0, 4, 1),), 5)
SIDE = Access(SECOND, "store", (0, 0, 0), 0, None, None, "write")
CASE = FailedCase("x", "k", "gfx942", 64, "n = 5", (1, 1, 1), (64, 1, 1), (ARRAY,), sides=(SIDE,))


def test_places_stand_once() -> None:
    plain = to_plain(CASE)
    assert [(where and where["line"], instruction) for where, instruction in plain["places"]] == [
        (3, "store"), (None, ""), (4, "store"), (3, "atomic")
    ]  # fmt: skip
    elements = plain["arrays"][0]["elements"]
    assert [(each["writer"] or {}).get("at") for each in elements] == [0, 2, 0, 3, None]
    assert [(each["owner"] or {}).get("at") for each in elements] == [1, 1, 1, 1, None]
    assert plain["sides"][0]["at"] == 2
    assert "where" not in elements[0]["writer"]
    assert set(elements[0]["writer"]) == {"workgroup", "thread", "seen", "wave", "lane", "at"}


def test_what_was_made_plain_comes_back() -> None:
    for case in (CASE, replace(CASE, arrays=(), sides=()), replace(CASE, larger=True, stopped="race", place="byte 4")):
        plain = to_plain(case)
        assert from_plain(plain) == case
        assert from_plain(json.loads(json.dumps(plain))) == case
