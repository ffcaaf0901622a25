"""One source of a program: `compiled` runs Clang over it for the host and for each device, and gives what `-c` writes.

The object file has the host's code and, in the section .hip_fatbin, an offload bundle with the devices' code, as
Clang's own has them. With device linking (-fgpu-rdc) it has LLVM bitcode of each device instead, in sections that
linkers leave out; `linking` in programs/objects.py makes code objects of those of all files. Objects are kept in the
cache, by the contents of the source and of all headers that it can include.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gpulab import cores
from gpulab.errors import CompileError, GpulabError
from gpulab.programs import bundles
from gpulab.programs.arguments import Command, Input
from gpulab.providers.virtual import hosting
from gpulab.toolchain import build as kernels
from gpulab.toolchain import cache, code_object, compiler, diagnostics, hosted, request, sources
from gpulab.toolchain.options import Accepted, for_assembler

LIMITS = compiler.Limits(seconds=1800)
FAT_BINARY = re.compile(rb"__hip_fatbin(_[0-9a-f]{1,16})?(?=\0)")
_FORMAT = "2"
_STORE = cache.Store("units", 512 << 20, own=True)
_DEVICE_CODE = re.compile(
    r"__(?:global|device|constant|managed)(?:__)?\b|[<\"](?:hipcub|cub|rocprim|thrust|(?:hip|roc)(?:rand|blas))/|<<<"
)
#: Libraries that C++ for the host alone calls with ROCm; here their headers have kernels.
_CALLED = re.compile(r"[<\"](hip|roc)(rand|blas)/\1\2\.h[>\"]")
_CPP = re.compile(r"-std=(c|gnu)\+\+")


@dataclass(frozen=True)
class Unit:
    """A source, and how it is compiled.

    Attributes:
        text: of the source. name: what messages and __FILE__ call it.
        language: "hip", "c++", "c", "assembler" or "assembler-with-cpp".
        setting: the headers, and the source's mark among those of a program.
        before: options that read headers before the source.
    """

    text: str
    name: str
    language: str
    command: Command
    setting: hosted.Hosted
    before: tuple[str, ...] = ()

    @property
    def view(self) -> diagnostics.Source:
        return diagnostics.Source(sources.shown(self.text), self.name, 1, program=True)

    def options(self, side: str) -> tuple[str, ...]:
        """The user's options for the pass over this source on one side: "host" or "device"."""
        own = self.command.host if side == "host" else self.command.device
        both = self.command.common
        if self.command.openmp and side == "device":
            both = (*both, "-Wno-source-uses-openmp")
        if self.language == "c":
            both = tuple(word for word in both if not _CPP.match(word))
        elif self.language in ("hip", "c++"):
            both = tuple(word for word in both if not word.startswith("-std=") or _CPP.match(word))
        return (*both, *own, *self.before)


@dataclass(frozen=True)
class Compiled:
    """What a source gave: the object file, and what the compiler said in each pass."""

    object: bytes
    messages: tuple[str, ...] = ()


def unit(given: Input, command: Command) -> Unit:
    """Read a source that was named on a command line ("-" is standard input).

    Raises:
        GpulabError: it cannot be read, or programs cannot be built on this system.
    """
    hosted.require()
    if given.path == "-":
        import sys

        text, folder, name = sys.stdin.buffer.read().decode("utf-8", "surrogateescape"), os.getcwd(), "<stdin>"
    else:
        path = Path(given.path).absolute()
        try:
            text, folder, name = sources.read(path), str(path.parent), given.path
        except OSError as error:
            raise GpulabError(f"{given.path} cannot be read: {error.strerror}.") from error
    text = sources.normal(text)
    first = "".join(f'#include "{header}"\n' for header in command.before)
    own = sources.headers(first + text, folder, (os.getcwd(), *command.quoted), command.include)
    more = tuple(str(one.headers) for one in hosting.libraries() if one.headers is not None)
    setting = replace(
        hosted.setting(), user=command.include, quoted=(folder, *command.quoted), more=more, own=own,
        unit="" if command.side == "host" else
        cache.key(os.path.abspath(given.path), json.dumps([command.common, command.host, command.device]))[:16],
    )  # fmt: skip
    before = [word for header in command.before for word in ("-include", header)]
    return Unit(text, name, given.language, command, setting, tuple(before))


def compiled(one: Unit) -> Compiled:
    """The object file of a source.

    Raises:
        CompileError: a compiler refused it; the message shows the source's own lines.
    """
    command = one.command
    parts = (
        _FORMAT, one.text, one.name, one.language, json.dumps([command.side, command.archs, command.rdc]),
        json.dumps([one.options("host"), one.options("device")]), one.setting.key(), compiler.version(),
        cache.sources_hash(hosted.INCLUDE), bundles.code_hash(),
    )  # fmt: skip
    key = cache.key(*parts)
    keeps = one.setting.own.complete and not any("native" in word for word in one.options("host"))
    kept = _STORE.get(key) if keeps else None
    if kept is not None:
        said, _, made = kept.partition(b"\n")
        return Compiled(made, tuple(json.loads(said)))
    found = _compiled(one)
    if keeps:
        _STORE.put(key, json.dumps(found.messages).encode() + b"\n" + found.object)
    return found


def _compiled(one: Unit, surely: bool = False) -> Compiled:
    command = one.command
    both = one.language == "hip" and command.side != "host"
    archs = command.archs if both and (surely or _may_run_on_devices(one)) else ()
    with tempfile.TemporaryDirectory(prefix="gpulab-") as scratch, cores.beside(max(1, len(archs))) as beside:
        passes = [beside.submit(device, one, arch) for arch in archs]
        code, outcome = host(one, Path(scratch), ("-c",))
        devices = [each.result() for each in passes]
    failed = [each for each in devices if isinstance(each, CompileError)]
    if not code or failed:
        raise refused(one, outcome, code, failed)
    messages = [outcome.log]
    files = {"host.o": code}
    symbol = FAT_BINARY.search(code)
    objects = [each for each in devices if isinstance(each, code_object.CodeObject)]
    messages += [each.messages for each in objects]
    if symbol is not None and both and not archs:  # it has device code all the same
        return _compiled(one, surely=True)
    if symbol is not None and one.language == "c++" and _has(one, _CALLED):
        return _compiled(replace(one, language="hip"), surely=True)
    if symbol is not None and one.language != "hip":
        raise CompileError(
            f"{one.name} has a kernel or a device variable, and is compiled as C++.",
            why="a C++ compiler takes .cpp files for the host alone; those for the GPU too are HIP.",
            hint="compile it with hipcc, or with -x hip before its name; in CMake: "
            "set_source_files_properties(... PROPERTIES LANGUAGE HIP).",
        )
    if archs and command.rdc:  # also without a kernel: others may use its device functions
        units = [(arch, each) for arch, each in zip(archs, devices, strict=True) if isinstance(each, bytes)]
        files["units.o"] = hosted.assemble_files(
            [(f"{bundles.UNIT_SECTION}{bundles.unit_name(arch)}", each) for arch, each in units], one.setting
        )  # fmt: skip
    elif symbol is not None:
        fat = bundles.bundle((each.arch, each.elf) for each in objects)
        weak = command.side == "host"  # another object may bring the code, by the name that has no mark: __hip_fatbin
        files["fat.o"] = hosted.assemble_fat_binary([symbol[0].decode()], fat, one.setting, weak=weak)
    made = code if len(files) == 1 else hosted.join(files, one.setting, LIMITS)
    return Compiled(made, tuple(messages))


def _may_run_on_devices(one: Unit) -> bool:
    """Whether the source or a header of the user's names device code, or includes a library that is made of it: what is
    for the host alone is not compiled for devices."""
    return not one.setting.own.complete or _has(one, _DEVICE_CODE)


def _has(one: Unit, pattern: re.Pattern[str]) -> bool:
    """Whether the source or a header of the user's has it."""
    if pattern.search(one.text):
        return True
    return any(pattern.search(Path(file).read_text("utf-8", "replace")) for file in one.setting.own.files)


def host(one: Unit, scratch: Path, action: Sequence[str]) -> tuple[bytes, compiler.Outcome]:
    """The host's pass; see `hosted.compile_object`."""
    more = ("-fgpu-rdc",) if one.command.rdc and one.language == "hip" else ()
    return hosted.compile_object(
        one.text, one.name, 1, one.setting, one.command.archs[0], (*one.options("host"), *more), scratch, LIMITS,
        one.language, action,
    )  # fmt: skip


def device(one: Unit, arch: str) -> code_object.CodeObject | bytes | CompileError:
    """The pass for a device: a code object; with device linking, bitcode; what the compiler refused is returned."""
    given = one.options("device")
    try:
        asked = request.request(one.text, arch=arch, language="hip", name=one.name, limits=LIMITS,
                                use_cache=one.setting.own.complete)  # fmt: skip
        asked = replace(asked, options=Accepted(given, for_assembler(given)))
        if one.command.rdc:
            return kernels.unit(asked, one.setting)[0]
        return kernels.compile_request(asked, one.setting)
    except CompileError as error:
        return error


def refused(
    one: Unit, outcome: compiler.Outcome, code: bytes, failed: Sequence[CompileError]
) -> CompileError | GpulabError:
    """The error of a source that one pass or several refused."""
    said = diagnostics.parse(outcome.log, one.view)
    errors = diagnostics.once([*said, *(item for error in failed for item in error.diagnostics)])
    log = "\n".join([outcome.log, *(error.log for error in failed)])
    if any(item.severity == "error" for item in errors):
        return diagnostics.compile_error(errors, one.name, log)
    if failed:
        return failed[0]
    died = compiler.explain_death(outcome.code, "the host compiler")
    text = diagnostics.visible(outcome.log.strip()[:2000])
    return CompileError(f"{one.name} did not compile:\n{text}", log=outcome.log) if text else died


def worded(messages: Iterable[str], view: diagnostics.Source) -> str:
    """What the compiler said of a source, worded as messages are today."""
    return diagnostics.render(diagnostics.once(item for said in messages for item in diagnostics.parse(said, view)))
