"""The order of the tests (conftest.py): `--reverse` turns it round, but cells of a notebook need those before them."""

from __future__ import annotations

from dataclasses import dataclass

import conftest


@dataclass
class Named:
    nodeid: str


def test_the_opposite_order_keeps_cells_in_theirs() -> None:
    names = [
        "tests/a.py::x",
        "tests/a.py::y",
        "n/1.ipynb::Cell 0",
        "n/1.ipynb::Cell 1",
        "n/2.ipynb::Cell 0",
        "tests/b.py::z",
    ]
    expected = [
        "tests/b.py::z",
        "n/2.ipynb::Cell 0",
        "n/1.ipynb::Cell 0",
        "n/1.ipynb::Cell 1",
        "tests/a.py::y",
        "tests/a.py::x",
    ]
    assert [item.nodeid for item in conftest.opposite([Named(name) for name in names])] == expected
