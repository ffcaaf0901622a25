"""``gpulab hipcc``: a compiler driver with hipcc's command line, which Makefiles and CMake can call.

`run` does what one command asks for: compiles sources, links objects, writes dependencies, prints what a preprocessor
makes. `arguments` understands the words, `units` compiles, `objects` links.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from gpulab import cores
from gpulab.errors import CompileError, GpulabError
from gpulab.programs import arguments, building, bundles, device_tools, objects, units
from gpulab.programs.arguments import Command, Input
from gpulab.toolchain import code_object, compiler, cxx_library, diagnostics, hosted, sources

_SUFFIX = {"compile": ".o", "assembly": ".s", "preprocess": ".ii", "depend": ".d"}
_HELP = """usage: hipcc [OPTIONS] FILES
  FILES                 sources (.hip .cpp .cc .cxx .cu: HIP; .c: C), objects, archives, shared libraries
  -o FILE               what is made; without it a.out, or each source's own name
  -c, -S, -E, -M        stop before the linker, at assembly, after the preprocessor, at dependencies for make
  --offload-arch=LIST   architectures, e.g. gfx942,gfx1100; native: the devices here
  -shared, --emit-static-lib, -fgpu-rdc, --genco, -fopenmp, -L, -l, -Wl,..., -x hip, @FILE
and Clang's options; docs/programs.md says what each does."""
_SYSTEM = "/gpulab/"  # where gpulab's and the libraries' headers are in the virtual file system


def run(words: Sequence[str], plain: bool = False) -> int:
    """Do what one command line asks for; 0, or 1 if a source does not compile or objects do not link. Messages go to
    standard error, as a compiler's do.

    Args:
        words: without the program's name.
        plain: of a C++ compiler (amdclang++), for which a file .cpp is C++ and not HIP.

    Raises:
        GpulabError: the command line cannot be understood, or programs cannot be built here.
    """
    told = _told(words)
    if told:
        print(told)
        return 0
    if device_tools.is_for_device(words):
        return device_tools.clang(words)
    command = arguments.read(words, plain)
    if command.tells or command.only_tells:
        from gpulab.programs import installation

        print(version(), file=sys.stderr)
        print(f"Found HIP installation: {installation.root()}, version {hip_version()}", file=sys.stderr)
    if not command.inputs:
        if command.tells:
            return 0
        raise GpulabError(
            "gpulab hipcc was given no source file and no object.", hint="gpulab hipcc program.hip -o program"
        )
    if command.only_tells:
        _tell_steps(command)
        return 0
    hosted.require()
    try:
        with cxx_library.telling(lambda words: print(words, file=sys.stderr, flush=True)):
            return _link(command) if command.step == "link" else _each(command)
    except CompileError as error:
        print(error, file=sys.stderr)
        return 1


# ------------------------------------------------------------------------------------------------ questions


def version() -> str:
    """What --version says, in the form that hipcc and Clang have, since build systems read it."""
    clang = _clang_version()
    return (
        f"HIP version: {hip_version()}-gpulab\nclang version {clang} (gpulab: {compiler.version().rsplit(' ', 2)[0]})\n"
        f"Target: {_target()}\nThread model: posix\nInstalledDir: {compiler.package_folder()}"
    )


def hip_version() -> str:
    """Of HIP, whose calls the virtual library has: 7.0.0, for example."""
    text = Path(hosted.INCLUDE, "hip", "hip_version.h").read_text(encoding="utf-8")
    return ".".join(re.findall(r"#define HIP_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text))


def _clang_version() -> str:
    with tempfile.TemporaryDirectory(prefix="gpulab-") as scratch:
        said = compiler.run(["clang", "--version"], folder=scratch).log
    found = re.search(r"clang version (\S+)", said)
    return found[1] if found else "unknown"


def _target() -> str:
    return hosted.target().partition(".")[0].replace("-linux", "-unknown-linux")


def _told(words: Sequence[str]) -> str:
    """The answer to a question that build systems ask, or ""."""
    answers = {
        "--help": lambda: _HELP, "-h": lambda: _HELP, "--version": version, "-dumpversion": _clang_version,
        "-dumpmachine": _target,
        "--print-target-triple": _target, "-print-target-triple": _target,
        "-print-multiarch": lambda: _target().replace("-unknown", ""),
        "-print-resource-dir": lambda: str(compiler.package_folder() / "lib"),
        "--print-resource-dir": lambda: str(compiler.package_folder() / "lib"),
        "-print-search-dirs": lambda: f"programs: ={compiler.package_folder()}\nlibraries: =",
        "-print-libgcc-file-name": lambda: "libclang_rt.builtins.a",
    }  # fmt: skip
    for word in words:
        if word in answers:
            return answers[word]()
        if word.startswith(("-print-file-name=", "-print-prog-name=", "--print-file-name=", "--print-prog-name=")):
            return word.partition("=")[2]  # what GCC and Clang say of a file that they do not have
    return ""


def _tell_steps(command: Command) -> None:
    """What would be done (-###), a line for each step."""
    for one in command.sources:
        sides = [] if command.side == "device" else ["host"]
        sides += command.archs if one.language == "hip" and command.side != "host" else []
        for side in sides:
            more = command.host if side == "host" else command.device
            print(shlex.join(["clang", f"[{side}]", "-x", one.language, *command.common, *more, one.path]),
                  file=sys.stderr)  # fmt: skip
    if command.step == "link":
        words = [item.path if isinstance(item, Input) else item for item in command.items]
        print(shlex.join(["ld.lld", "-o", command.output or "a.out", *words]), file=sys.stderr)


# --------------------------------------------------------------------------------------------------- steps


def _say(text: str) -> None:
    if text:
        print(text, file=sys.stderr)


def write(path: str, contents: bytes) -> None:
    """Put a file at its place in one step, so that others see the whole of it or nothing; "-" is standard output."""
    if path == "-":
        sys.stdout.buffer.write(contents)
        sys.stdout.flush()
        return
    if path == os.devnull:
        return
    target = Path(path)
    try:
        handle, made = tempfile.mkstemp(prefix=".gpulab-", dir=target.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(contents)
        os.chmod(made, 0o666 & ~_umask())
        os.replace(made, target)
    except OSError as error:
        raise GpulabError(f"{path} cannot be written: {error.strerror}.") from error


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _stem(path: str) -> str:
    return "stdin" if path == "-" else os.path.splitext(os.path.basename(path))[0]


def _each(command: Command) -> int:
    """Steps that end before the linker: one result for each source."""
    given = command.sources
    if command.output and len(given) > 1 and command.step != "check":
        raise GpulabError(
            f"-o {command.output} is one file, and {len(given)} sources were named.",
            hint="leave -o away: each source gets a file of its own name.",
        )
    for one in given:
        _one(one, command)
    return 0


def _one(one: Input, command: Command) -> None:
    unit = units.unit(one, command)
    if command.llvm or (command.step == "assembly" and command.side == "device"):
        if command.output and len(command.archs) > 1:
            raise GpulabError(
                f"-o {command.output} is one file, and there are {len(command.archs)} architectures.",
                hint="choose one: --offload-arch=gfx942.",
            )
        suffix = {"compile": ".bc", "assembly": ".ll"}[command.step] if command.llvm else ".s"
        for arch in command.archs:
            made = _bitcode(unit, arch) if command.llvm else _device(unit, arch).assembly.encode()
            write(command.output or f"{_stem(one.path)}-hip-amdgcn-amd-amdhsa-{arch}{suffix}", made)
    elif command.step == "compile" and command.side == "device":
        suffix = ".hipfb" if not command.genco else ".co"
        write(command.output or f"{_stem(one.path)}{suffix}", _fat_binary(unit))
    elif command.step == "compile":
        output = command.output or f"{_stem(one.path)}.o"
        compiled = units.compiled(unit)
        _say(units.worded(compiled.messages, unit.view))
        write(output, compiled.object)
        if command.saves:
            _save(unit, output)
    else:
        action = {"assembly": ("-S",), "preprocess": ("-E",), "depend": ("-M",), "check": ("-fsyntax-only",)}[
            command.step
        ]
        if command.step == "depend":
            write(command.output or command.depends.file or "-", _dependencies(unit, command))
            return
        made_text = _host(unit, action)
        default = "-" if command.step == "preprocess" else f"{_stem(one.path)}.s"
        if command.step == "check":
            for arch in command.archs if one.language == "hip" else ():
                _device(unit, arch)
        else:
            write(command.output or default, made_text)
    if command.depends.kind:
        target = command.output or f"{_stem(one.path)}{_SUFFIX.get(command.step, '.o')}"
        write(command.depends.file or f"{os.path.splitext(target)[0]}.d", _dependencies(unit, command, target))


def _host(unit: units.Unit, action: Sequence[str]) -> bytes:
    """What a pass of the host's compiler writes."""
    with tempfile.TemporaryDirectory(prefix="gpulab-") as scratch:
        made, outcome = units.host(unit, Path(scratch), action)
        if outcome.code != 0:
            raise units.refused(unit, outcome, made, [])
        _say(units.worded([outcome.log], unit.view))
        return made


def _device(unit: units.Unit, arch: str) -> code_object.CodeObject:
    found = units.device(unit, arch)
    if isinstance(found, CompileError):
        raise found
    if isinstance(found, bytes):  # -fgpu-rdc: one file alone
        from gpulab.toolchain import linking

        return linking.link([found], arch, unit.name, program=True)
    return found


def _bitcode(unit: units.Unit, arch: str) -> bytes:
    """LLVM's code of one source for a device, as bitcode or as text."""
    from gpulab.toolchain import linking

    alone = replace(unit, command=replace(unit.command, rdc=True))
    found = units.device(alone, arch)
    if isinstance(found, CompileError):
        raise found
    assert isinstance(found, bytes)  # -fgpu-rdc gives bitcode
    made = linking.bitcode(found, arch, unit.name)
    return device_tools.ir(made, "-S") if unit.command.step == "assembly" else made


def _fat_binary(unit: units.Unit) -> bytes:
    """The devices' code of one source, as a bundle."""
    with cores.beside(len(unit.command.archs)) as beside:
        passes = [beside.submit(_device, unit, arch) for arch in unit.command.archs]
        codes = [each.result() for each in passes]
    _say(units.worded([code.messages for code in codes], unit.view))
    return bundles.bundle((code.arch, code.elf) for code in codes)


def _save(unit: units.Unit, output: str) -> None:
    """--save-temps: the assembly and the code object of each device, and the host's assembly."""
    stem = os.path.join(os.path.dirname(output), _stem(unit.name))
    if unit.language == "hip" and unit.command.side != "host":
        for arch in unit.command.archs:
            code = _device(unit, arch)
            write(f"{stem}-hip-amdgcn-amd-amdhsa-{arch}.s", code.assembly.encode())
            write(f"{stem}-hip-amdgcn-amd-amdhsa-{arch}.out", code.elf)
    write(f"{stem}-host-{_target()}.s", _host(unit, ("-S",)))


# --------------------------------------------------------------------------------------------- dependencies


def _dependencies(unit: units.Unit, command: Command, output: str = "") -> bytes:
    """What make reads: the target, the source, the headers. Files below the current folder have relative names."""
    wish = command.depends
    target = " ".join(wish.targets) or _escaped(output or f"{_stem(unit.name)}.o")
    with tempfile.TemporaryDirectory(prefix="gpulab-") as scratch:
        made, outcome = units.host(unit, Path(scratch), ("-MM" if wish.kind == "MMD" else "-M", "-MT", "x"))
        if outcome.code != 0:
            raise units.refused(unit, outcome, made, [])
    words = re.sub(r"\\\n", " ", made.decode("utf-8", "surrogateescape")).partition(":")[2]
    listed = [re.sub(r"\\(.)", r"\1", word).replace("$$", "$") for word in re.findall(r"(?:\\.|\S)+", words)]
    headers = [_shown(path) for path in listed if path not in ("-", "<stdin>") and not path.startswith(_SYSTEM)]
    needed = list(dict.fromkeys([*([] if unit.name == "<stdin>" else [unit.name]), *headers]))
    lines = [f"{target}: " + " \\\n  ".join(map(_escaped, needed))]
    if wish.phony:
        lines += [f"\n{_escaped(path)}:" for path in needed[1:]]
    return ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape")


def _shown(path: str) -> str:
    here = os.getcwd() + os.sep
    return os.path.normpath(path).removeprefix(here) if os.path.isabs(path) else path


def _escaped(path: str) -> str:
    return path.replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ")


# ---------------------------------------------------------------------------------------------------- linking


def _linkable(every: Sequence[units.Unit], command: Command) -> AbstractContextManager[None]:
    """Beside the block, what the linker takes is built, if it is not there."""
    if command.kind not in ("program", "shared"):
        return contextlib.nullcontext()
    texts = [text for unit in every for text in (unit.text, *map(sources.read, map(Path, unit.setting.own.files)))]
    return building.linkable("\n".join(texts), hosted.setting(), command.kind == "shared")


def _link(command: Command) -> int:
    if command.side == "device":
        for one in command.sources:
            _one(one, command)
        return 0
    output = command.output or ("a.out" if command.kind != "archive" else "a.a")
    with tempfile.TemporaryDirectory(prefix="gpulab-") as scratch:
        made: dict[Input, str] = {}
        names: dict[Input, str] = {}
        every = [units.unit(one, command) for one in dict.fromkeys(command.sources)]
        for number, (one, unit) in enumerate(zip(dict.fromkeys(command.sources), every, strict=True)):
            with _linkable(every, command) if number == 0 else contextlib.nullcontext():
                compiled = units.compiled(unit)
            _say(units.worded(compiled.messages, unit.view))
            folder = Path(scratch, str(number))
            folder.mkdir()
            path = folder / f"{_stem(one.path)}.o"
            path.write_bytes(compiled.object)
            made[one] = str(path)
            names[one] = unit.name
            if command.saves:
                _save(unit, output)
            if command.depends.kind:
                stem = os.path.splitext(output)[0]
                file = command.depends.file or (f"{stem}.d" if len(command.sources) == 1 else f"{stem}-{path.stem}.d")
                write(file, _dependencies(unit, command, output))
        target = Path(output).absolute()
        if not target.parent.is_dir():
            raise GpulabError(f"{output} cannot be written: there is no folder {target.parent}.")
        if command.kind == "archive":
            objects.archive([made.get(one) or os.path.abspath(one.path) for one in command.inputs], target)
        elif command.kind == "relocatable":
            found = objects.resolved(command, made)
            write(output, hosted.join({}, hosted.setting(), units.LIMITS, found.words))
        else:
            _say(diagnostics.visible(objects.link(command, made, target)))
    return 0
