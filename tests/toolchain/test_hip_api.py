"""The page of what HIP's device functions have here, against the headers as they are."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hip_api", ROOT / "tools" / "hip_api.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["hip_api"] = module
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date(tool: ModuleType) -> None:
    assert tool.PAGE.read_text(encoding="utf-8") == tool.page(), "make hip-api"


def test_the_list_is_read_as_written(tool: ModuleType) -> None:
    (group,) = tool.read(
        "== G\nfrom a page\ninclude x.h\n{T} *({T}*, int): f g [T=int|unsigned int]\ndo int x = 1; # name\n"
        "void *(): h\nint *(int): load [tail=1, 2]\n"
    )
    assert (group.title, group.source, group.include) == ("G", "a page", "x.h")
    assert [entry.name for entry in group.entries] == [
        "int f(int*, int)", "int g(int*, int)", "unsigned int f(unsigned int*, int)",
        "unsigned int g(unsigned int*, int)", "name", "void h()", "int load(int)",
    ]  # fmt: skip
    assert group.entries[0].kernel == "__global__ void probe@(int* a0, const int* a1, int* out) { *out = f(a0, *a1); }"
    assert group.entries[6].kernel == "__global__ void probe@(const int* a0, int* out) { *out = load(*a0, 1, 2); }"


@pytest.mark.full
def test_what_is_missing_is_found(tool: ModuleType) -> None:
    (group,) = tool.read("== G\nint *(int): abs no_such_function __clz\nvoid *(): no_such_either\n")
    missing = tool.probe(group, "gfx942")
    assert list(missing) == ["int no_such_function(int)", "void no_such_either()"]
    assert "undeclared identifier" in missing["int no_such_function(int)"]
    (group,) = tool.read("== G\ninclude hip/no_such_header.h\nint *(int): abs\n")
    assert list(tool.probe(group, "gfx1100")) == ["int abs(int)"]
