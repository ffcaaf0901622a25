"""Generations of the instruction set: which mnemonics each has, and with which rows.

There are four, each described in a module of `generations/`: gfx9 (Vega, CDNA), gfx10, gfx11 and gfx12 (RDNA 2, 3, 4).
`generation(name)` gives a `Generation`; `rows(name, features)` makes the table of a device that states this generation
and these features. tests/architectures compares the tables with LLVM's assembler, device by device.
"""

from __future__ import annotations

import copy
import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from gpulab.virtual_gpu.isa.buffers import Rules
from gpulab.virtual_gpu.isa.family import Family, Place
from gpulab.virtual_gpu.isa.row import AnyRow, Row, Table

NAMES = ("gfx9", "gfx10", "gfx11", "gfx12")

_FAMILIES = (
    "scalar",
    "vector",
    "convert",
    "fp8",
    "compare",
    "packed",
    "matrix",
    "memory",
    "images",
    "crosslane",
    "control",
)
"""The modules whose rows are told apart by spelling: "common", "gfx9" and "gfx11" (`Family`)."""


@dataclass(frozen=True, slots=True)
class Names:
    """Mnemonics that devices have which state a feature.

    Attributes:
        feature: of `architectures.Architecture.features`; "" for every device of the generation, "!..." for those
            without it, and several words where all have to hold.
        rows: where the rows are looked up, the first place first: a spelling of `Family` ("common", "gfx9", "gfx11"),
            or the module of this package with rows of its own ("gfx90a", "gfx950", "gfx10", "gfx1150", "gfx12").
        mnemonics: separated by white space; ``new=old`` takes the row that is written under the name ``old``.
    """

    feature: str
    rows: tuple[str, ...]
    mnemonics: str

    def of(self, features: frozenset[str]) -> bool:
        """Whether a device with these features has the mnemonics."""
        return all((word.removeprefix("!") in features) != word.startswith("!") for word in self.feature.split())

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Each mnemonic with the name of its row."""
        for word in self.mnemonics.split():
            name, _, old = word.partition("=")
            yield name, old or name


@dataclass(frozen=True, slots=True)
class Generation:
    """What the devices of a generation have in common.

    Attributes:
        name: "gfx9", "gfx10", "gfx11" or "gfx12".
        buffers: where the fields of a buffer resource lie.
        clears_high_half: 16-bit results of VOP1 and VOP2 clear the other half of their register; see `isa.high_half`.
        clamp_and_ieee_modes: MODE has DX10_CLAMP and IEEE.
        cmpx_names_mask: v_cmpx writes a mask of scalar registers beside EXEC, VCC in its short form.
        names: the mnemonics; where two entries have the same one, the later entry's row holds.
    """

    name: str
    buffers: Rules
    clears_high_half: bool
    clamp_and_ieee_modes: bool
    cmpx_names_mask: bool
    names: tuple[Names, ...]


@cache
def generation(name: str) -> Generation:
    """The generation of this name.

    Raises:
        ValueError: there is none.
    """
    if name not in NAMES:
        raise ValueError(f"no generation {name!r}; there are {', '.join(NAMES)}")
    found = importlib.import_module(f"{__package__}.generations.{name}").GENERATION
    assert isinstance(found, Generation)
    return found


class Written(NamedTuple):
    """A row as a row file has it: under the name `row.mnemonic`, defined at `place`."""

    row: AnyRow
    family: Family
    place: Place


@cache
def _written(place: str) -> Mapping[str, Written]:
    """The rows of one place, by the names under which they are written."""
    shared = place in Family.SPELLINGS
    spelling = place if shared else "common"
    result: dict[str, Written] = {}
    for name in _FAMILIES if shared else (place,):
        family = getattr(importlib.import_module(f"{__package__}.{name}"), name.upper() if shared else "ROWS")
        for mnemonic, row in family.tables[spelling].items():
            if mnemonic in result:
                raise ValueError(f"{mnemonic} is defined in two files")
            result[mnemonic] = Written(row, family, family.places[spelling, mnemonic])
    return result


def _named(row: AnyRow, mnemonic: str) -> AnyRow:
    """The row under another name."""
    if row.mnemonic == mnemonic:
        return row
    if not isinstance(row, Row):
        return replace(row, mnemonic=mnemonic)
    result = copy.copy(row)
    result.mnemonic = mnemonic
    return result


def written(name: str, features: frozenset[str]) -> dict[str, Written]:
    """The row of each mnemonic, as it is written: its own name may be another.

    Raises:
        ValueError: there is no such generation, or it names a mnemonic that no row has.
    """
    found: dict[str, Written] = {}
    for names in generation(name).names:
        if not names.of(features):
            continue
        places = [_written(place) for place in names.rows]
        for mnemonic, wanted in names.pairs():
            row = next((place[wanted] for place in places if wanted in place), None)
            if row is None:
                raise ValueError(f"{name} lists {mnemonic}, and no row of {', '.join(names.rows)} is named {wanted}")
            found[mnemonic] = row
    return found


def rows(name: str, features: frozenset[str]) -> Table:
    """All rows of a device of this generation with these features, by mnemonic without encoding suffix.

    Raises:
        ValueError: as `written`.
    """
    result = Table()
    for mnemonic, found in written(name, features).items():
        result.add(_named(found.row, mnemonic))
    return result
