"""What HIP calls CUDA's names: `lookup` one, `table` several, read from names.tsv."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from gpulab.errors import GpulabError
from gpulab.views.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping

COLUMNS = ("cuda", "hip", "kind", "api", "note")
FILE = Path(__file__).with_name("names.tsv")


@dataclass(frozen=True, slots=True)
class Name:
    """One row: a CUDA name, HIP's ("" where HIP has none), its kind and API, and what to know about it.

    `kind` is header, call, device function, type, enum (an enumerator), macro or namespace; `api` is runtime, driver,
    NVRTC, device or the name of a library (cuBLAS, NCCL ...).
    """

    cuda: str
    hip: str
    kind: str
    api: str
    note: str = ""


@cache
def names() -> Mapping[str, Name]:
    """All rows, by CUDA name."""
    lines = [line for line in FILE.read_text(encoding="utf-8").split("\n") if line and not line.startswith("#")]
    if tuple(lines[0].split("\t")) != COLUMNS:
        raise ValueError(f"{FILE.name}: the columns are {lines[0]!r}, not {COLUMNS}")
    rows = [Name(*line.split("\t")) for line in lines[1:]]
    return MappingProxyType({row.cuda: row for row in rows})


def sources() -> str:
    """Where the table comes from and of which versions it is: the comment at its head."""
    lines = FILE.read_text(encoding="utf-8").split("\n")
    return "\n".join(line.removeprefix("#").strip() for line in lines if line.startswith("#"))


def apis() -> tuple[str, ...]:
    """The APIs that the table has names of: "runtime", "driver", "cuBLAS" ..."""
    return tuple(dict.fromkeys(row.api for row in names().values()))


def lookup(cuda: str) -> Name | None:
    """The row of a CUDA name, or None; ``lookup("cudaMalloc").hip`` is "hipMalloc"."""
    return names().get(cuda)


def table(*cuda: str, api: str | None = None, kind: str | None = None) -> Table:
    """An API map to show in a notebook: these names, or all names of an API or kind, in the order of the file.

    Args:
        cuda: names to show, in this order; all if there are none.
        api: only names of this API, e.g. "runtime" (see `apis`).
        kind: only names of this kind, e.g. "call".

    Raises:
        GpulabError: a name or API that the table does not have; the message has the nearest ones.
    """
    found = names()
    for name in cuda:
        if name not in found:
            near = difflib.get_close_matches(name, found, 3)
            raise GpulabError(
                f"{name} is not in the table of CUDA names.",
                hint=f"did you mean {', '.join(near)}?" if near else "gpulab.porting.lookup(name) gives None for it.",
            )
    for wanted, known, what in ((api, apis(), "API"), (kind, tuple({row.kind for row in found.values()}), "kind")):
        if wanted is not None and wanted not in known:
            raise GpulabError(
                f'there is no {what} "{wanted}" in the table of CUDA names.', hint=f"one of: {', '.join(sorted(known))}"
            )
    rows = [found[name] for name in cuda] if cuda else list(found.values())
    chosen = [row for row in rows if api in (None, row.api) and kind in (None, row.kind)]
    return Table(
        ("CUDA", "HIP", "kind", "API", "note"),
        tuple((row.cuda, row.hip or "–", row.kind, row.api, row.note) for row in chosen),
    )
