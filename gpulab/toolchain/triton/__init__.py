"""Triton's compiler: `compile_request` makes a code object of a Python text with kernels marked ``@triton.jit``.

The text is Python, and compiling it runs it: that happens in a process of its own within the compiler's walls
(`inside.py`), of which no more comes back than plain data: assembly texts, names, types, numbers. They are taken as a
stranger's: checked here, then assembled as assembly by hand is. `text.py` makes such a text of what LLVM wrote.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import re
import sys
import sysconfig
import tempfile
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpulab import architectures, walls
from gpulab.errors import CompileError, GpulabError
from gpulab.records import Diagnostic, Guarantees, SourceLine
from gpulab.toolchain import assemble, cache, compiler, debug_info
from gpulab.toolchain.triton.inside import SOURCE
from gpulab.toolchain.triton.text import Compiled, Parameter, assembly_of

if TYPE_CHECKING:
    from gpulab.toolchain.code_object import CodeObject
    from gpulab.toolchain.request import Request

LIMITS = compiler.Limits(seconds=180.0, memory_bytes=12 << 30, file_bytes=256 << 20)
"""Triton loads two LLVMs, and its first compile in a process takes seconds."""
COMMAND = f"{Path(sys.executable).name} -m pip install 'gpulab[triton]'"
"""What installs it."""
_SYSTEM = (
    "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo", "/lib", "/lib64", "/etc/ld.so.cache", "/proc/cpuinfo",
    "/proc/meminfo", "/sys/devices/system",
)  # fmt: skip
_STORE = cache.Store("triton-text", own=True)
_INSTANCE = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)\s*\((?P<items>[^()]*)\)\s*")
_MOST_KERNELS = 64


def missing() -> str:
    """Why Triton cannot compile here, in one clause; "" if it can."""
    found = importlib.util.find_spec("triton")
    if found is None or not found.origin:  # a folder of that name is no package
        return "Triton is not installed" + ("" if sys.platform == "linux" else " (it exists for Linux alone)")
    return ""


def compile_request(request: Request, guarantees: Guarantees) -> CodeObject:
    """The code object of the kernels that a request's expressions name, or of all whose parameters have types.

    Raises:
        CompileError: the source is refused; the message shows the source's own lines.
        GpulabError: Triton is not installed.
    """
    if why := missing():
        raise GpulabError(
            f"{request.name} is not compiled: {why} here.",
            why="Triton (some 290 MB) is no part of gpulab's default installation.",
            hint=f"{COMMAND}; then restart the kernel of the notebook.",
        )
    compiled = _kernels(request)
    text, lines = assembly_of(compiled, request.first_line, request.source.count("\n") + 1)
    functions = {
        each.symbol: debug_info.Function(
            each.name,
            tuple(debug_info.FormalParameter(p.name, p.kind, p.dtype, p.is_pointer) for p in each.parameters),
        )
        for each in compiled
    }
    return assemble.assemble(request, text, guarantees, lines, functions)


def _kernels(request: Request) -> tuple[Compiled, ...]:
    """What Triton makes of the source, from the cache if it is there."""
    key = cache.key("1", request.key(), metadata.version("triton"), cache.folder_hash(Path(__file__).parent))
    found = _STORE.get(key) if request.use_cache else None
    raw = found if found is not None else _run(request)
    try:
        answer = json.loads(raw)
        if "error" in answer:
            raise _error(request, str(answer["error"]), int(answer["line"]), int(answer["column"]))
        listed = answer["kernels"]
        compiled = tuple(_compiled(each) for each in listed[:_MOST_KERNELS])
        names = [str(name) for name in answer["known"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CompileError(f"{request.name}: what its compilation left cannot be read: {error}.") from None
    if not compiled:
        why = "no parameter has a type"
        raise CompileError(
            f"{request.name}: there is no kernel in it whose types are known.",
            why=f"{', '.join(names)}: {why}." if names else "a kernel is a function marked @triton.jit.",
            hint='name an instance, name_expressions=["add(*fp32, *fp32, i32, BLOCK=256)"], or annotate the '
            'parameters: def add(x: "*fp32", n: "i32", BLOCK: tl.constexpr = 256).',
        )
    if found is None and request.use_cache:
        _STORE.put(key, raw)
    return compiled


def _run(request: Request) -> bytes:
    """What the compiler's process answers."""
    arch = architectures.get(request.arch)
    instances = [_instance(request, each) for each in request.expressions]
    # The process gives up more by itself, once Triton is loaded and before the source runs.
    own = "" if walls.available() else os.path.abspath(walls.__file__)
    asked = {"arch": arch.name, "wave_size": arch.wave_size, "instances": instances, "walls": own}
    with tempfile.TemporaryDirectory(prefix="gpulab-") as made:
        folder = Path(made)
        assemble.write(folder, SOURCE, request.source)
        (folder / "request.json").write_text(json.dumps(asked), encoding="utf-8")
        home = dict.fromkeys(("HOME", "TRITON_HOME"), made)
        extra = {
            **home, "TRITON_CACHE_DIR": str(folder / "cache"), "TRITON_BACKENDS_IN_TREE": "1", "PYTHONPATH": "",
            "PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "ignore", "TRITON_DEFAULT_FP_FUSION": "1",
        }  # fmt: skip
        outcome = compiler.run(
            ["-P", str(Path(__file__).with_name("inside.py")), made], folder=folder, limits=LIMITS,
            extra_environment=extra, what="Triton's compiler", read=readable(),
            tool=Path(sys.executable),
        )  # fmt: skip
        try:
            return (folder / "answer.json").read_bytes()
        except OSError:
            last = outcome.log.strip().splitlines()[-1:]
            raise CompileError(
                f"{request.name}: Triton's compiler ended with code {outcome.code}"
                + (f": {last[0][:300]}" if last else "."),
                log=outcome.log,
            ) from None


@functools.cache
def readable() -> tuple[str, ...]:
    """What the process reads beside the system: Python and its packages. Not all of an environment's folder: there may
    be more in it, such as the folder for temporary files, where others' submissions are."""
    places = {sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")}
    for prefix in {sys.prefix, sys.base_prefix}:
        places |= {os.path.join(prefix, name) for name in ("bin", "lib", "lib64", "pyvenv.cfg")}
    places = {place for place in places if os.path.exists(place)}
    found = importlib.util.find_spec("triton")
    if found is not None and found.origin:
        places.add(str(Path(found.origin).parent))
    return (*_SYSTEM, *sorted(places), os.path.abspath(walls.__file__))


def _instance(request: Request, expression: str) -> tuple[str, list[str]]:
    """Name and arguments of an instance."""
    match = _INSTANCE.fullmatch(expression)
    if match is None:
        raise CompileError(
            f"{request.name}: {expression!r} is no instance of a kernel.",
            hint="an instance has the types of the arguments and the constants: add(*fp32, *fp32, i32, BLOCK=256).",
        )
    return match["name"], [item for item in match["items"].split(",") if item.strip()]


def _compiled(given: Any) -> Compiled:
    """One kernel of an answer. Raises ValueError, KeyError, TypeError."""
    name, symbol = str(given["name"]), str(given["symbol"])
    if not re.fullmatch(r"[A-Za-z_]\w{0,999}", name) or not re.fullmatch(r"[A-Za-z_]\w{0,999}", symbol):
        raise ValueError("a kernel's name is none")
    parameters = tuple(Parameter(str(one), str(kind)) for one, kind in given["parameters"])
    lds, scratch, assembly = given["lds_bytes"], given["scratch_bytes"], given["assembly"]
    if not isinstance(lds, int) or not isinstance(scratch, int) or not isinstance(assembly, str) or lds < 0:
        raise TypeError("a kernel's numbers are none")
    if scratch:
        raise CompileError(
            f"the kernel {name} needs memory of its own beside its arguments ({scratch:,} bytes for each program).",
            why="descriptors that are made on the device take it from Triton's launcher, which is not there here.",
            hint="launch it as Triton does, kernel[grid](...), or use pointers instead of descriptors.",
        )
    return Compiled(name, symbol, parameters, lds, assembly)


def _error(request: Request, said: str, line: int, column: int) -> CompileError:
    """The error on a line of the source."""
    first = said.strip().splitlines()[0] if said.strip() else "it was refused"
    source = request.source.split("\n")
    if not 1 <= line <= len(source):
        return CompileError(f"{request.name} did not compile: {said.strip()}", log=said)
    where = SourceLine(request.name, request.first_line + line - 1, max(column, 1), source[line - 1])
    shown = f"{request.name}:{where.line}: {said.strip()}\n    {where.text.strip()}"
    diagnostic = Diagnostic("error", first, where, rendered=shown)
    return CompileError(shown, diagnostics=(diagnostic,), log=said)
