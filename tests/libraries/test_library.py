"""What a library's folder holds is looked at: rows of its table, functions behind it, names of files."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gpulab.errors import InternalError
from gpulab.virtual_gpu import libraries
from gpulab.virtual_gpu.libraries import library
from gpulab.virtual_gpu.libraries.library import Library, Prototype, Status


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("second\te\tpx", r"table.tsv, line 4: the codes \['x'\] are not known"),
        ("second\tv\tp", r"line 4: the codes \['v'\] are not known"), ("first\te\tp", "line 4: the name stands there"),
        ("second\te\tp\tc", "line 4: .* or no C"), ("second\te\tp\tC\tC", "line 4: .* or no C"),
    ],
)  # fmt: skip
def test_rows_that_are_wrong(tmp_path: Path, row: str, said: str) -> None:
    table = tmp_path / "table.tsv"
    table.write_text(f"# name, result, arguments\nfirst\te\tpzD\n\n{row}\n")
    with pytest.raises(InternalError, match=said):
        library._prototypes(table, frozenset("D"))


def test_rows(tmp_path: Path) -> None:
    """Without arguments "-" stands; C at the end is a function of own.c; structures are codes of results, too."""
    table = tmp_path / "table.tsv"
    table.write_text("# a comment\nfirst\tD\tpqlD\n\nsecond\ts\t-\tC\n")
    assert library._prototypes(table, frozenset("D")) == (
        Prototype("first", "D", "pqlD", False), Prototype("second", "s", "", True),
    )  # fmt: skip


PACKAGE = """
from gpulab.virtual_gpu.libraries.library import Library, Status
LIBRARY = Library(__name__, "{file}", 1, Status("int", 1, 2, 3, None), always={always})
"""


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for packages that can be imported."""
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def made(folder: Path, name: str, modules: dict[str, str]) -> Library:
    package = folder / name
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "prototypes.tsv").write_text("one\te\tp\ntwo\te\t-\nthree\te\tp\tC\nfour\tp\tp\n")
    for module, text in modules.items():
        (package / f"{module}.py").write_text(text)
    return Library(name, name, 1, Status("int", 1, 2, 3, None))


def test_functions_behind_a_table(packages: Path) -> None:
    found = made(packages, "gpulab_whole", {
        "a": "from gpulab_whole.b import one\ndef two(): return 0\ndef three(x): return 1\nfour = 4\n",
        "b": "def one(x): return 0\ndef other(): return 0\n",
    })  # fmt: skip
    assert found.handled() == ("one", "two")
    assert set(found.implemented()) == {"one", "two"}  # not what own.c has, and nothing that cannot be called


@pytest.mark.parametrize(
    ("name", "modules", "said"),
    [
        ("gpulab_more", {"a": "def one(x, y): return 0"}, "gpulab_more.a.one takes 2 arguments .* takes 1"),
        ("gpulab_less", {"a": "def one(): return 0"}, "takes 0 arguments .* takes 1"),
        ("gpulab_twice", {"a": "def one(x): return 0", "b": "def one(x): return 0"}, r"gpulab_twice\.b\.one takes 1"),
    ],
)
def test_functions_that_do_not_fit(packages: Path, name: str, modules: dict[str, str], said: str) -> None:
    with pytest.raises(InternalError, match=said):
        made(packages, name, modules).implemented()


def test_codes_of_another_library() -> None:
    """HIP's own codes stay; others are translated, and become "unknown" where there is none."""
    assert Status("hipError_t", 801, 3, 999, None).translated(700) == 700
    other = Status("testStatus_t", 7, 8, 9, {700: 3})
    assert [other.translated(code) for code in (700, 701)] == [3, 9]


def test_libraries_of_more_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """First those that every program has; two of one file name are a mistake, and so is a name that is not there."""
    from gpulab.virtual_gpu import libraries

    with pytest.raises(KeyError):
        library.find("gpulab_ab")
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    monkeypatch.setattr(libraries, "__path__", [*libraries.__path__, str(tmp_path)])
    for name, file, always in (("gpulab_aa", "aa", False), ("gpulab_zz", "zz", True)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(PACKAGE.format(file=file, always=always))
    (tmp_path / "gpulab_plain.py").write_text("")
    listed = [one.name for one in library.found.__wrapped__()]
    assert [name for name in listed if name.startswith("gpulab_")] == ["gpulab_zz", "gpulab_aa"]
    assert listed[-1] == "gpulab_aa"
    (tmp_path / "gpulab_ab").mkdir()
    (tmp_path / "gpulab_ab" / "__init__.py").write_text(PACKAGE.format(file="aa", always=False))
    with pytest.raises(InternalError, match="gpulab_ab and gpulab_aa are both libaa"):
        library.found.__wrapped__()


def test_what_functions_return_where_the_library_is_not_there() -> None:
    """hipErrorNotSupported (hip_runtime_api.h), no text, no device, no pointer, a structure of zeros."""
    hip = next(each for each in libraries.found() if each.file == "amdhip64").linked().functions
    names = ("hipMalloc", "hipGetErrorName", "hipGetStreamDeviceId", "__hipRegisterFatBinary", "hipCreateChannelDesc")
    assert [hip[name] for name in names] == [801, "", -1, 0, 0]
