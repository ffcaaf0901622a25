"""What every library keeps to, asked of each that there is and of a small one in a folder of these tests.

Each test calls the built library from C in a process of its own: a crash is a failure of that process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpulab.virtual_gpu import libraries
from gpulab.virtual_gpu.libraries.library import RESULTS, TYPES, Library

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(__file__).parent / "folder"
NAMES = [*(library.name for library in libraries.found()), "gpulabtest"]

#: Calls a library's functions from C: `callers` is a stub for each function that passes zeros, or, for every pointer,
#: the address of a page of zeros, which is no handle of the library.
DRIVER = """
import ctypes, faulthandler, json, sys
faulthandler.enable()
from gpulab.virtual_gpu import libraries
library = libraries.find(sys.argv[1])
loaded = ctypes.PyDLL(str(libraries.path(library.name)))
callers = ctypes.PyDLL(sys.argv[2])
page = ctypes.create_string_buffer(1 << 16)
loaded.gpulab_missing.restype = ctypes.c_char_p
def call(one, pointer):
    ctypes.memset(page, 0, len(page))
    caller = getattr(callers, "call_" + one.name)
    caller.restype = ctypes.c_longlong
    return caller(ctypes.cast(getattr(loaded, one.name), ctypes.c_void_p), ctypes.c_void_p(pointer))
"""


def driven(name: str, callers: Path, body: str) -> dict:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "GPULAB_LIBRARIES": str(FOLDER)}
    environment["GPULAB_DEVICES"] = "gfx1100"  # the default device that has all that a call may ask for: textures, too
    done = subprocess.run(
        [sys.executable, "-c", DRIVER + body, name, str(callers)], env=environment, capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module", params=NAMES)
def library(request: pytest.FixtureRequest, monkeypatch_module: None) -> Library:
    return libraries.find(request.param)


@pytest.fixture(scope="module")
def monkeypatch_module() -> object:
    """The folder of these tests is one of those that GPULAB_LIBRARIES names."""
    libraries.__path__.append(str(FOLDER))
    libraries.library.found.cache_clear()
    yield
    libraries.__path__.remove(str(FOLDER))
    libraries.library.found.cache_clear()


@pytest.fixture(scope="module")
def callers(library: Library, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from gpulab.toolchain.host import compile_host_library, library_suffix
    from gpulab.virtual_gpu.libraries.building import compile_options

    structures = {code: f"struct {kind.__name__}" for code, kind in library.structures.items()}
    types = {**TYPES, **structures}
    lines = ['#include "stub.h"', '#include "own.h"' if library.own("own.h") else ""]
    for one in library.prototypes():
        kinds = ", ".join(types[code] for code in one.arguments) or "void"
        values = ", ".join("page" if code == "p" else f"({types[code]}){{0}}" for code in one.arguments)
        result = RESULTS.get(one.result) or structures[one.result]
        made = f"(({result} (*)({kinds}))function)({values})"
        body = f"(void){made}; return 0;" if one.result in structures else f"return (long long)(intptr_t){made};"
        head = f"long long call_{one.name}(void *function, void *page)"
        lines.append(f"EXPORT {head};\nEXPORT {head} {{ (void)page; {body} }}")
    target = tmp_path_factory.mktemp("callers") / f"callers{library_suffix()}"
    return compile_host_library("\n".join(lines), target, optimize="1", options=compile_options(library))


def test_every_prototype_is_exported_and_survives_null_and_bad_handles(library: Library, callers: Path) -> None:
    """An implemented function answers with a code that is neither "unknown" nor "not supported"."""
    found = driven(
        library.name, callers,
        """
print(json.dumps({one.name: [call(one, 0), call(one, ctypes.addressof(page))] for one in library.prototypes()}))
""",
    )  # fmt: skip
    assert found.keys() == set(library.functions())
    status = library.status
    for one in library.prototypes():
        if one.result == "e" and one.name in library.implemented():
            assert status.not_supported == status.unknown or not {status.unknown, status.not_supported} & {
                *found[one.name]
            }, one.name


def test_what_is_missing_is_answered_and_named(library: Library, callers: Path) -> None:
    missing = [one for one in library.prototypes() if not one.in_c and one.name not in library.implemented()]
    found = driven(
        library.name, callers,
        """
from gpulab.virtual_gpu import runtime
libraries.handlers(library.name, library.numbering())
known = library.implemented()
answers = {}
for one in library.prototypes():
    if not one.in_c and one.name not in known:
        answers[one.name] = [call(one, 0), runtime.instance().missing_call(library.name)]
print(json.dumps(answers))
""",
    )  # fmt: skip
    assert found.keys() == {one.name for one in missing}  # none, where a library is complete
    for one in missing:
        assert found[one.name][1] == one.name
        if one.result == "e":
            assert found[one.name][0] == library.status.not_supported


def test_exceptions_become_codes_of_the_library(library: Library, callers: Path) -> None:
    first = next(one for one in library.prototypes() if one.result == "e" and one.name in library.implemented())
    found = driven(
        library.name, callers,
        f"""
from gpulab import errors
from gpulab.virtual_gpu.libraries.library import StatusFailure
from gpulab.virtual_gpu.runtime.codes import Failure
one = next(one for one in library.prototypes() if one.name == {first.name!r})
raised = [ZeroDivisionError("planted"), Failure(1), MemoryError(), errors.DeviceMemoryError("full"), StatusFailure(77)]
def broken(*arguments):
    raise raised[0]
library.implemented()[one.name] = broken
answers = []
while raised:
    answers.append(call(one, 0))
    raised.pop(0)
print(json.dumps({{"answers": answers}}))
""",
    )  # fmt: skip
    status = library.status
    memory = status.translated(2)
    assert found["answers"] == [status.unknown, status.translated(1), memory, memory, 77]
    assert status.success not in found["answers"]


def test_c_files_and_headers_compile_on_their_own(library: Library, tmp_path: Path) -> None:
    """As an editor reads them: each by itself, with -Wall -Wextra and no warning."""
    from gpulab.toolchain import cache, compiler
    from gpulab.toolchain.host import compile_host_library
    from gpulab.virtual_gpu.libraries.building import compile_options

    for name in ("own.h", "stub.h"):
        place = library.own(name) or Path(libraries.__file__).parent / name
        if place.exists():
            text = f'#include "{place.name}"\nint in_use;\n'
            compile_host_library(text, tmp_path / "header.so", optimize="1", options=compile_options(library))
    for place in filter(None, (library.own("own.c"), Path(libraries.__file__).parent / "stub.c")):
        store = str(cache.tool_folder())
        outcome = compiler.run(
            ["cc", "-c", *compile_options(library), str(place), "-o", str(tmp_path / "unit.o")],
            folder=str(tmp_path),
            extra_environment={"ZIG_GLOBAL_CACHE_DIR": store, "ZIG_LOCAL_CACHE_DIR": store},
            read=compiler.SYSTEM,
            write=(store,),
        )
        assert (outcome.code, outcome.log.strip()) == (0, "")


def test_layouts_are_compared_when_the_library_is_compiled(library: Library) -> None:
    from gpulab.errors import CompileError
    from gpulab.toolchain.host import compile_host_library
    from gpulab.virtual_gpu.libraries import stub
    from gpulab.virtual_gpu.libraries.building import compile_options

    text = stub.source(library)
    for structure in library.structures.values():
        assert f"sizeof(struct {structure.__name__})" in text
    if library.structures:
        name = next(iter(library.structures.values())).__name__
        wrong = text.replace(f"sizeof(struct {name}) == ", f"sizeof(struct {name}) == 1")
        with pytest.raises(CompileError, match=f"struct {name}"):
            compile_host_library(wrong, FOLDER.parent / "never.so", optimize="1", options=compile_options(library))
