"""What a library is: `Library`, with its `Status` and its `Prototype`s; `found()` are those that there are.

A library is a folder here (or in a folder that GPULAB_LIBRARIES names): its `__init__.py` holds `LIBRARY`, its
`prototypes.tsv` has a row for each C function, and its modules have the Python functions behind them, by the C
functions' names. Optional are own.h and own.c (structures passed by value, functions written in C) and include/
(headers for whole programs). docs/add-a-library.md has the steps.

Codes of results: e the library's status, i int, s const char *, p pointer. Codes of arguments: p pointer or handle,
z size_t, q uint64_t, l int64_t, i int or enumeration, u unsigned int, h unsigned short, b unsigned char, f float,
d double. A library names codes of its own (capital letters) for structures.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from gpulab.errors import InternalError
from gpulab.toolchain import cache, hosted

#: Code of an argument -> its type in C.
TYPES = {
    "p": "void *",
    "z": "size_t",
    "q": "uint64_t",
    "l": "int64_t",
    "i": "int",
    "u": "unsigned int",
    "h": "unsigned short",
    "b": "unsigned char",
    "f": "float",
    "d": "double",
}
#: Code of a result -> its type in C.
RESULTS = {"e": "int", "i": "int", "s": "const char *", "p": "void *"}


class Call(Protocol):
    """A Python function behind a C function: integers and floats in, a code or an address out."""

    def __call__(self, *arguments: float) -> int: ...


class StatusFailure(Exception):
    """A call of a library ends with this code of the library's own status. `reason` is for the reader."""

    def __init__(self, code: int, reason: str = "") -> None:
        self.code, self.reason = code, reason
        super().__init__(reason or str(code))


@dataclass(frozen=True)
class Status:
    """The type that a library's functions return, and its codes for what every library has to say.

    Attributes:
        type: its name in C, such as "hipError_t".
        not_supported: of a function that no Python function stands behind.
        not_initialized: there is no interpreter that has gpulab.
        unknown: an exception for which there is no other code.
        of_hip: its code for a code of HIP's, with which something failed in the runtime; what is missing there becomes
            `unknown`. None: the library's codes are HIP's own.
        success: all is well.
        answer: a code that is no error, such as hipErrorNotReady.
    """

    type: str
    not_supported: int
    not_initialized: int
    unknown: int
    of_hip: Mapping[int, int] | None
    success: int = 0
    answer: int = 0

    def translated(self, code: int) -> int:
        """The library's own code for one of HIP's."""
        return code if self.of_hip is None else self.of_hip.get(code, self.unknown)


class Prototype(NamedTuple):
    """One C function: codes of its result and of its arguments; `in_c`: it is written by hand in own.c."""

    name: str
    result: str
    arguments: str
    in_c: bool = False


@dataclass(frozen=True)
class Library:
    """One library.

    Attributes:
        package: the Python package that it is: ``__name__`` in its ``__init__.py``.
        file: what its file's name has between "lib" and ".so", and what follows -l.
        major: of the version that stands behind the file's name: libamdhip64.so.7.
        status: what its functions return.
        structures: more codes, of what is passed or returned by value; own.h declares a struct of the same name, whose
            layout is compared when the library is compiled.
        always: whole programs have it without -l.
        around: the module and function, as "module:function", that is given each function's name and what stands behind
            it, and returns what is to stand there: for rules that many functions share. None: there are none.
    """

    package: str
    file: str
    major: int
    status: Status
    structures: Mapping[str, type[ctypes.Structure]] = field(default_factory=dict)
    always: bool = False
    around: str | None = None

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.package.rpartition(".")[2]

    @property
    def folder(self) -> Path:
        module = importlib.import_module(self.package)
        return Path(inspect.getfile(module)).parent

    @property
    def headers(self) -> Path | None:
        """The folder with headers for whole programs, if it has one of its own."""
        place = self.folder / "include"
        return place if place.is_dir() else None

    def own(self, name: str) -> Path | None:
        """Its file own.h or own.c, if there is one."""
        place = self.folder / name
        return place if place.exists() else None

    def prototypes(self) -> tuple[Prototype, ...]:
        """All its functions, in the table's order.

        Raises:
            InternalError: a row is not as the module's text says.
        """
        return _prototypes(self.folder / "prototypes.tsv", frozenset(self.structures))

    def functions(self) -> tuple[str, ...]:
        """Names of all its functions."""
        return tuple(prototype.name for prototype in self.prototypes())

    def implemented(self) -> Mapping[str, Call]:
        """The Python function behind each C function that has one.

        Raises:
            InternalError: two modules have a function of the same name, or one takes another number of arguments.
        """
        return _implemented(self)

    def handled(self) -> tuple[str, ...]:
        """Names of the implemented functions, in the order of their numbers in the stub."""
        known = self.implemented()
        return tuple(name for name in self.functions() if name in known)

    def numbering(self) -> str:
        """A hash of `handled`: by it a library's file knows the Python functions that its numbers mean."""
        return cache.key(*self.handled())[:16]

    def linked(self) -> hosted.LinkedLibrary:
        """What a whole program has to know of it."""
        answers: dict[str, int | str] = {"e": self.status.not_supported, "i": -1, "p": 0, "s": ""}
        functions = {one.name: answers.get(one.result, 0) for one in self.prototypes()}
        return hosted.LinkedLibrary(self.file, self.major, self.always, self.headers, functions)


@functools.cache
def _prototypes(table: Path, structures: frozenset[str]) -> tuple[Prototype, ...]:
    found: dict[str, Prototype] = {}
    for number, line in enumerate(table.read_text(encoding="utf-8").splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        name, result, arguments, *by_hand = line.split("\t")
        arguments = "" if arguments == "-" else arguments
        unknown = {code for code in arguments if code not in TYPES and code not in structures}
        if result not in RESULTS and result not in structures:
            unknown.add(result)
        if unknown or name in found or by_hand not in ([], ["C"]):
            what = f"the codes {sorted(unknown)} are not known" if unknown else "the name stands there twice, or no C"
            raise InternalError(f"{table.parent.name}/{table.name}, line {number}: {what}.")
        found[name] = Prototype(name, result, arguments, bool(by_hand))
    return tuple(found.values())


@functools.cache
def _packages(package: str) -> tuple[str, ...]:
    """The modules in a library's folder."""
    module = importlib.import_module(package)
    return tuple(sorted(f"{package}.{one.name}" for one in pkgutil.iter_modules(module.__path__)))


_known: dict[str, dict[str, Call]] = {}


def _implemented(library: Library) -> Mapping[str, Call]:
    known = _known.get(library.package)
    if known is not None:
        return known
    wanted = {one.name: one for one in library.prototypes() if not one.in_c}
    found: dict[str, Call] = {}
    for module in _packages(library.package):
        for name, value in vars(importlib.import_module(module)).items():
            if name not in wanted or not callable(value):
                continue
            takes = len(inspect.signature(value).parameters)
            if found.setdefault(name, value) is not value or takes != len(wanted[name].arguments):
                raise InternalError(
                    f"{module}.{name} takes {takes} arguments or stands in two modules; "
                    f"the C function takes {len(wanted[name].arguments)}."
                )
    if library.around is not None:
        module, _, function = library.around.partition(":")
        around: Callable[[str, Call], Call] = getattr(importlib.import_module(module), function)
        found = {name: around(name, call) for name, call in found.items()}
    _known[library.package] = found
    return found


@functools.cache
def found() -> tuple[Library, ...]:
    """All libraries that there are, the folders of this package: those that every program has, then the others.

    Raises:
        InternalError: two of them have the same file name.
    """
    package = __name__.rpartition(".")[0]
    path = importlib.import_module(package).__path__
    listed: dict[str, Library] = {}
    for one in sorted(pkgutil.iter_modules(path), key=lambda one: one.name):
        if one.ispkg:
            library: Library = importlib.import_module(f"{package}.{one.name}").LIBRARY
            if library.file in listed:
                raise InternalError(f"{library.name} and {listed[library.file].name} are both lib{library.file}.")
            listed[library.file] = library
    return tuple(sorted(listed.values(), key=lambda library: (not library.always, library.name)))


def find(name: str) -> Library:
    """The library of this name.

    Raises:
        KeyError: there is none.
    """
    for library in found():
        if library.name == name:
            return library
    raise KeyError(name)
