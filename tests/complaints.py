"""What a test fails with that asks another check for its complaints: all of them in full, which an assert would cut."""

from __future__ import annotations

from collections.abc import Iterable

import pytest


def none(complaints: Iterable[object]) -> None:
    """Fails with these complaints, one below the other; empty texts are none."""
    __tracebackhide__ = True
    said = [text for text in map(str, complaints) if text]
    if said:
        pytest.fail("\n".join(said), pytrace=False)
