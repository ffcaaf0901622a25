"""hiprtc's programs: `RtcProgram` and `RtcPrograms`, from source text to a code object by gpulab's compiler."""

from __future__ import annotations

import ctypes
import itertools
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from gpulab.errors import CompileError, GpulabError
from gpulab.virtual_gpu.libraries.hiprtc import results
from gpulab.virtual_gpu.libraries.library import StatusFailure
from gpulab.virtual_gpu.runtime.context import Context

if TYPE_CHECKING:
    from gpulab.toolchain import CodeObject

_ARCH_OPTIONS = ("--gpu-architecture", "--offload-arch", "-arch")
_HEADER = re.compile(r"(?!\.\./)[^\x00-\x1f:\\\"]{1,200}$")  # what `Request` accepts as the name of a header
_FOLDER_OPTIONS = ("--include-path", "-isystem", "-iquote", "-I")


def _in_folders(source: str, given: dict[str, str], folders: list[str]) -> dict[str, str]:
    """The headers in these folders that a program can include, by the names under which it does.

    The compiler has no files (`toolchain/build.py`): so they are read here, in the caller's own process.
    """
    from gpulab.toolchain import sources
    from gpulab.toolchain.build import INCLUDE

    places = [os.path.abspath(folder) for folder in folders if os.path.isdir(folder)]
    found: dict[str, str] = {}
    for text in (source, *given.values()) if places else ():
        for path in sources.headers(text, "", (), places).files:
            for place in places:
                name = os.path.relpath(path, place).replace(os.sep, "/")
                if _HEADER.match(name) and not (INCLUDE / name).exists():  # HIP's own headers are gpulab's
                    found.setdefault(name, Path(path).read_text(encoding="utf-8", errors="replace"))
                    break
    return found


class RtcProgram:
    """One program: what hiprtcCreateProgram was given, and what compiling gave."""

    def __init__(self, source: str, name: str, headers: dict[str, str]) -> None:
        self.source, self.name, self.headers = source, name, headers
        self.expressions: list[str] = []
        self.log = ""
        self.code: CodeObject | None = None
        self.bitcode = b""  # of a program compiled with -fgpu-rdc, in place of code
        self.symbols: dict[str, str] = {}  # of its name expressions
        self.compiled = False
        self.names: dict[str, ctypes.Array[ctypes.c_char]] = {}  # kept: callers hold their addresses


class RtcPrograms:
    """All programs by handle."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._programs: dict[int, RtcProgram] = {}
        self._handles = itertools.count(0x7_0000_0010, 16)

    def create(self, source: str, name: str, headers: dict[str, str]) -> int:
        handle = next(self._handles)
        self._programs[handle] = RtcProgram(source, name or "CompileSource", headers)
        return handle

    def known(self, handle: int) -> bool:
        """Whether this is a program's handle."""
        return handle in self._programs

    def find(self, handle: int) -> RtcProgram:
        found = self._programs.get(handle)
        if found is None:
            raise StatusFailure(results.INVALID_PROGRAM)
        return found

    def destroy(self, handle: int) -> None:
        if self._programs.pop(handle, None) is None:
            raise StatusFailure(results.INVALID_PROGRAM)

    def add_name(self, handle: int, expression: str) -> None:
        program = self.find(handle)
        if program.compiled:
            raise StatusFailure(results.NO_NAMES_AFTER)
        program.expressions.append(expression.strip())

    def compile(self, handle: int, options: list[str]) -> int:
        """hiprtcCompileProgram: the hiprtcResult; the log tells what the compiler said."""
        from gpulab import toolchain
        from gpulab.toolchain import build, request

        program = self.find(handle)
        arch = self._context.current.architecture.name
        passed = []
        folders = []
        parts = False
        place = 0
        while place < len(options):
            option = options[place]
            name, equals, value = option.partition("=")
            if name in _ARCH_OPTIONS:
                if not equals:
                    place += 1
                    value = options[place] if place < len(options) else ""
                arch = value
            elif name in ("-fgpu-rdc", "-fno-gpu-rdc"):
                parts = name == "-fgpu-rdc"
            elif (of := next((of for of in _FOLDER_OPTIONS if option.startswith(of)), "")) and option != of:
                folders.append(option[len(of) :].removeprefix("=") if of.startswith("--") else option[len(of) :])
            elif of:
                place += 1
                folders += options[place : place + 1]
            else:
                passed.append(option)
            place += 1
        program.compiled = True
        headers = {**_in_folders(program.source, program.headers, folders), **program.headers}
        try:
            if parts:
                program.bitcode, program.symbols = build.unit(
                    request.request(
                        program.source, arch=arch, language="hip", options=passed, name=program.name,
                        headers=headers, name_expressions=program.expressions,
                    )
                )  # fmt: skip
                return results.SUCCESS
            program.code = toolchain.compile(
                program.source,
                arch=arch,
                options=passed,
                name=program.name,
                headers=headers,
                name_expressions=program.expressions,
            )
        except CompileError as error:
            program.log = str(error)
            return results.COMPILATION
        except GpulabError as error:
            program.log = str(error)
            return results.INVALID_OPTION
        program.symbols = dict(program.code.name_expressions)
        program.log = program.code.log
        return results.SUCCESS

    def lowered_name(self, handle: int, expression: str) -> int:
        """Address of the C string with the symbol of a name expression."""
        program = self.find(handle)
        if not program.compiled:
            raise StatusFailure(results.NO_NAMES_BEFORE)
        if program.code is None and not program.bitcode:
            raise StatusFailure(results.COMPILATION)
        expression = expression.strip()
        symbol = program.symbols.get(expression)
        if symbol is None:
            raise StatusFailure(results.BAD_NAME)
        kept = program.names.get(expression)
        if kept is None:
            kept = program.names[expression] = ctypes.create_string_buffer(symbol.encode())
        return ctypes.addressof(kept)

    def image(self, handle: int) -> bytes:
        """The code object."""
        program = self.find(handle)
        if program.code is None:
            raise StatusFailure(results.INVALID_PROGRAM)
        return program.code.elf

    def bitcode(self, handle: int) -> bytes:
        """LLVM bitcode of a program compiled with -fgpu-rdc."""
        program = self.find(handle)
        if not program.bitcode:
            raise StatusFailure(results.INVALID_PROGRAM)
        return program.bitcode


class Links:
    """What hiprtcLinkCreate began, by handle: units of bitcode, and the code object that they gave."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._units: dict[int, list[bytes]] = {}
        self._linked: dict[int, ctypes.Array[ctypes.c_char]] = {}  # callers hold their addresses
        self._handles = itertools.count(0x7_8000_0010, 16)

    def create(self) -> int:
        handle = next(self._handles)
        self._units[handle] = []
        return handle

    def find(self, handle: int) -> list[bytes]:
        """The units added so far."""
        found = self._units.get(handle)
        if found is None:
            raise StatusFailure(results.INVALID_INPUT)
        return found

    def complete(self, handle: int) -> tuple[int, int]:
        """Address and size of the code object, valid until `destroy`.

        Raises:
            CompileError: the units do not link.
        """
        from gpulab.toolchain import linking

        elf = linking.link(self.find(handle), self._context.current.architecture.name).elf
        made = self._linked[handle] = ctypes.create_string_buffer(elf, len(elf))
        return ctypes.addressof(made), len(elf)

    def destroy(self, handle: int) -> None:
        self.find(handle)
        del self._units[handle]
        self._linked.pop(handle, None)
