"""The compiler and its tools for device code alone: ``clang --target=amdgcn-amd-amdhsa``, llvm-mc, llvm-dis, llvm-as
and clang-offload-bundler, as projects use them that put a program together from assembly or LLVM's code by hand.

`clang` makes objects, assembly and code objects of assembly and of LLVM's code; `mc` assembles for any machine;
`disassemble` and `assemble_ir` turn bitcode into text and back; `bundler` packs code objects and takes them out again.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gpulab import languages
from gpulab.errors import CompileError, GpulabError
from gpulab.programs import bundles
from gpulab.programs.arguments import expanded
from gpulab.toolchain import compiler, diagnostics, request, sources

LIMITS = compiler.Limits(seconds=1800)
_TARGET = "amdgcn-amd-amdhsa"
_LANGUAGES = {
    ".s": "assembler", ".S": "assembler-with-cpp", ".ll": "ir", ".bc": "ir", ".o": "object", ".obj": "object",
}  # fmt: skip
_NAMED = {"assembler": "assembler", "assembler-with-cpp": "assembler-with-cpp", "ir": "ir", "none": ""}
_VALUED = ("-o", "-x", "-target", "-mllvm", "-Xclang", "-I", "-D", "-U", "-isystem", "-Xlinker", "-MF", "-MT", "-MQ")
#: What says nothing about device code: position independence, which it always has, the host, what is printed.
_NOTHING = re.compile(
    r"-f(no-)?(pic|PIC|pie|PIE)|-nogpulib|-nogpuinc|-nostdlib|-nostdinc|-nostdinc\+\+|-pipe|-v|-Wall|-Wextra|-std=.*|"
    r"-fuse-ld=.*|--rocm-path=.*|-shared|-f(no-)?color-diagnostics|-f(no-)?visibility.*|-mcode-object-version=\d|-g\d?"
)
_DEPENDS = ("-MD", "-MMD", "-MP")


def is_for_device(words: Sequence[str]) -> bool:
    """Whether a compiler's command line names an AMD GPU as its target."""
    named = [words[at + 1] for at, word in enumerate(words[:-1]) if word in ("-target", "--target")]
    named += [word.partition("=")[2] for word in words if word.startswith("--target=")]
    return any(target.startswith("amdgcn") for target in named)


@dataclass
class _Asked:
    """A command line of Clang for a device."""

    step: str = "link"
    arch: str = ""
    output: str = ""
    llvm: bool = False
    inputs: list[tuple[str, str]] = field(default_factory=list)
    options: list[str] = field(default_factory=list)


def clang(words: Sequence[str]) -> int:
    """Clang with an AMD GPU as its target; 0.

    Raises:
        CompileError: an input was refused.
        GpulabError: the command line cannot be understood, or a file cannot be read.
    """
    asked = _read(words)
    if not asked.inputs:
        raise GpulabError(
            "clang was given no file.", hint=f"clang --target={_TARGET} -mcpu=gfx942 kernel.s -o kernel.co"
        )
    if not asked.arch:
        raise GpulabError(
            f"clang --target={_TARGET} was not told for which GPU.", hint="add -mcpu=gfx942, for example."
        )  # fmt: skip
    suffix = {"object": ".bc" if asked.llvm else ".o", "assembly": ".ll" if asked.llvm else ".s"}.get(asked.step, "")
    if asked.step == "link":
        _write(asked.output or "a.out", _code_object(asked))
        return 0
    if asked.output and len(asked.inputs) > 1:
        raise GpulabError(f"-o {asked.output} is one file, and {len(asked.inputs)} were named.")
    for path, language in asked.inputs:
        stem = os.path.splitext(os.path.basename(path))[0]
        _write(asked.output or stem + suffix, _translated(path, language, asked, asked.step))
    return 0


def _read(words: Sequence[str]) -> _Asked:
    asked, language = _Asked(), ""
    queue = expanded([str(word) for word in words])
    while queue:
        word = queue.pop(0)
        if word in _VALUED:
            if not queue:
                raise GpulabError(f"clang's option {word} needs a value after it.")
            value = queue.pop(0)
            if word == "-o":
                asked.output = value
            elif word == "-x":
                if value not in _NAMED:
                    raise _refused(f"-x {value}", "a device's code is assembly or LLVM's code here.")
                language = _NAMED[value]
            elif word in ("-mllvm", "-Xclang", "-I", "-D", "-U", "-isystem"):
                asked.options += [word, os.path.abspath(value) if word in ("-I", "-isystem") else value]
        elif word in ("-c", "-S"):
            asked.step = "object" if word == "-c" else "assembly"
        elif word == "-emit-llvm":
            asked.llvm = True
        elif word.startswith(("-mcpu=", "--offload-arch=")):
            asked.arch = word.partition("=")[2]
        elif word.startswith("-I"):
            asked.options.append(f"-I{os.path.abspath(word[2:])}")
        elif (
            word.startswith(("--target=", "-Wl,", "-MF", "-MT", "-MQ")) or word in _DEPENDS or _NOTHING.fullmatch(word)
        ):
            continue
        elif word.startswith("-"):
            asked.options.append(word)
        else:
            asked.inputs.append((word, language or _language(word)))
    if asked.llvm and any(one != "ir" for _, one in asked.inputs):
        raise _refused("-emit-llvm", "assembly and objects are beyond LLVM's code.")
    if asked.llvm and asked.step == "link":
        raise _refused("-emit-llvm", "it stops before the linker.", "add -c for bitcode, -S for a text.")
    return asked


def _refused(option: str, why: str, hint: str = "") -> GpulabError:
    return GpulabError(f"clang's option {option!r} is not accepted for --target={_TARGET}.", why=why, hint=hint)


def _language(path: str) -> str:
    found = _LANGUAGES.get(os.path.splitext(path)[1], "")
    if not found:
        raise GpulabError(
            f"{path} is no assembly (.s, .S), LLVM code (.ll, .bc) or object (.o).",
            why=f"with --target={_TARGET} the compiler makes device code of these.",
            hint="HIP sources are compiled with --offload-arch=gfx942, and --cuda-device-only for the device alone.",
        )
    return found


def _read_file(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise GpulabError(f"{path} cannot be read: {error.strerror}.") from error


def _code_object(asked: _Asked) -> bytes:
    """What the linker makes: of one text a code object in which gpulab finds the text again."""
    path, language = asked.inputs[0]
    if len(asked.inputs) == 1 and language != "object":
        text = sources.read(Path(path)) if language == "assembler" else None
        if text is None:
            text = _translated(path, language, asked, "assembly").decode("utf-8", "surrogateescape")
        wanted = request.request(text, arch=asked.arch, language="asm", name=path, limits=LIMITS)
        return languages.find("asm").compile(wanted).elf
    with tempfile.TemporaryDirectory(prefix="gpulab-") as scratch:
        files = []
        for number, (one, kind) in enumerate(asked.inputs):
            file = Path(scratch, f"{number}.o")
            file.write_bytes(_read_file(one) if kind == "object" else _translated(one, kind, asked, "object"))
            files.append(str(file))
        return _run(["ld.lld", "-shared", "--color-diagnostics=never", *files], scratch, "code.co", "the linker")


def _translated(path: str, language: str, asked: _Asked, step: str) -> bytes:
    """One input as an object, assembly or LLVM's code."""
    if language == "object":
        raise GpulabError(f"{path} is an object already.", hint="leave -c or -S away to link it.")
    with tempfile.TemporaryDirectory(prefix="gpulab-") as scratch:
        file = Path(scratch, os.path.basename(path))
        file.write_bytes(_read_file(path))
        words = [
            "clang", f"--target={_TARGET}", f"-mcpu={asked.arch}", "-nogpulib", "-fno-color-diagnostics",
            "-Wno-unused-command-line-argument", *asked.options, "-x", language, str(file),
            "-c" if step == "object" else "-E" if language == "assembler-with-cpp" else "-S",
        ]  # fmt: skip
        if asked.llvm:
            words.append("-emit-llvm")
        near = (os.path.dirname(os.path.abspath(path)),)
        return _run(words, scratch, "made", "the compiler", near)


def _run(words: Sequence[str], scratch: str, made: str, what: str, read: Sequence[str] = ()) -> bytes:
    """Run a part of the packaged compiler that writes one file; that file.

    Raises:
        CompileError: it wrote none; the message has what it said.
    """
    out = Path(scratch, made)
    outcome = compiler.run([*words, "-o", str(out)], folder=scratch, limits=LIMITS, what=what, read=read)
    if outcome.code != 0 or not out.exists():
        said = diagnostics.visible(outcome.log.replace(f"{scratch}/", "").strip()[:4000])
        raise CompileError(said or f"{what} ended with code {outcome.code}.", log=outcome.log)
    return out.read_bytes()


def _write(path: str, contents: bytes) -> None:
    from gpulab.programs.command import write

    write(path, contents)


# ------------------------------------------------------------------------------------------------- LLVM's tools


def mc(words: Sequence[str]) -> int:
    """llvm-mc: assembles a file for the machine that -triple names; -filetype=obj, or asm for the text again."""
    values = {"triple": "", "mcpu": "", "mattr": "", "filetype": "asm", "o": "-"}
    folders: list[str] = []
    files: list[str] = []
    queue = list(words)
    while queue:
        word = queue.pop(0)
        name, equals, value = word.lstrip("-").partition("=")
        if not word.startswith("-") or word == "-":
            files.append(word)
        elif word.startswith("-I"):
            folders.append(word[2:] or (queue.pop(0) if queue else "."))
        elif name in values:
            values[name] = value if equals else (queue.pop(0) if queue else "")
        elif name == "arch":
            value = value if equals else (queue.pop(0) if queue else "")
            values["triple"] = values["triple"] or (_TARGET if value == "amdgcn" else value)
        elif name not in ("g", "assemble", "incremental-linker-compatible"):
            raise GpulabError(
                f"llvm-mc's option {word!r} is not accepted here.",
                why="gpulab's llvm-mc assembles: -triple, -arch, -mcpu, -mattr, -filetype=obj|asm, -I, -o.",
            )
    if len(files) != 1:
        raise GpulabError("llvm-mc takes one file.", hint="llvm-mc -triple x86_64-linux-gnu --filetype=obj -o a.o a.s")
    triple = values["triple"] or "x86_64-unknown-linux-gnu"
    device = triple.startswith("amdgcn")
    chosen = [f"-mcpu={values['mcpu']}"] if values["mcpu"] and device else []
    here = [os.getcwd(), *(os.path.abspath(folder) for folder in folders)]
    with tempfile.TemporaryDirectory(prefix="gpulab-") as scratch:
        text = Path(scratch, "text.s")
        text.write_bytes(_contents(files[0]))
        for feature in values["mattr"].split(",") if values["mattr"] else ():
            chosen += ["-Xclangas", "-target-feature", "-Xclangas", feature]
        common = [
            "clang", f"--target={triple}", *chosen, "-x", "assembler", "-fno-color-diagnostics",
            *(f"-Wa,-I{folder}" for folder in here), str(text),
        ]  # fmt: skip
        kind = "-c" if values["filetype"] == "obj" else "-S"
        made = text.read_bytes() if kind == "-S" else _run([*common, "-c"], scratch, "made.o", "the assembler", here)
    _write(values["o"], made)
    return 0


def _in_and_out(tool: str, words: Sequence[str], suffix: str) -> tuple[str, str]:
    """The input and the output of a tool that turns one file into another."""
    output, files = "", []
    queue = list(words)
    while queue:
        word = queue.pop(0)
        if word in ("-o", "--o"):
            output = queue.pop(0) if queue else ""
        elif word.startswith(("-o=", "--o=")):
            output = word.partition("=")[2]
        elif word in ("-f", "-S", "--f"):
            continue
        elif word.startswith("-") and word != "-":
            raise GpulabError(f"{tool}'s option {word!r} is not accepted here.", why="it takes FILE and -o FILE.")
        else:
            files.append(word)
    if len(files) != 1:
        raise GpulabError(f"{tool} takes one file.", hint=f"{tool} file -o file{suffix}")
    return files[0], output or ("-" if files[0] == "-" else os.path.splitext(files[0])[0] + suffix)


def disassemble(words: Sequence[str]) -> int:
    """llvm-dis: the text of LLVM's bitcode."""
    path, output = _in_and_out("llvm-dis", words, ".ll")
    _write(output, ir(_contents(path), "-S"))
    return 0


def assemble_ir(words: Sequence[str]) -> int:
    """llvm-as: the bitcode of LLVM's text."""
    path, output = _in_and_out("llvm-as", words, ".bc")
    _write(output, ir(_contents(path), "-c"))
    return 0


def _contents(path: str) -> bytes:
    return _read_file("/dev/stdin" if path == "-" else path)


def ir(unit: bytes, form: str) -> bytes:
    """LLVM's code, bitcode or text, as text (form -S) or bitcode (-c).

    Raises:
        CompileError: it is neither.
    """
    with tempfile.TemporaryDirectory(prefix="gpulab-") as scratch:
        file = Path(scratch, "unit.bc")
        file.write_bytes(unit)
        words = ["clang", "-x", "ir", str(file), form, "-emit-llvm", "-Xclang", "-disable-llvm-passes", "-w",
                 "-Wno-override-module", "-fno-color-diagnostics"]  # fmt: skip
        return _run(words, scratch, "made", "LLVM's reader")


_BUNDLER_HELP = "clang-offload-bundler -type=o -targets=host-x86_64-unknown-linux-gnu,hipv4-amdgcn-amd-amdhsa--gfx942 -input=/dev/null -input=kernel.co -output=kernels.hipfb"  # noqa: E501


def bundler(words: Sequence[str]) -> int:
    """clang-offload-bundler: -input files, one for each of -targets, become one bundle; with -unbundle, the other way;
    -list names a bundle's targets."""
    values: dict[str, list[str]] = {"type": [], "targets": [], "input": [], "output": [], "bundle-align": ["4096"]}
    flags: set[str] = set()
    queue = list(words)
    while queue:
        word = queue.pop(0)
        name, equals, value = word.lstrip("-").partition("=")
        name = {"inputs": "input", "outputs": "output"}.get(name, name)
        if name in values:
            value = value if equals else (queue.pop(0) if queue else "")
            more = (
                value.split(",") if name == "targets" or word.lstrip("-").startswith(("inputs", "outputs")) else [value]
            )
            values[name] = more if name in ("type", "bundle-align") else [*values[name], *more]
        elif name in ("unbundle", "list", "allow-missing-bundles"):
            flags.add(name)
        elif name in ("v", "hip-openmp-compatible", "check-input-archive"):
            continue
        else:
            raise GpulabError(
                f"clang-offload-bundler's option {word!r} is not accepted here.",
                why="it packs and unpacks code objects: -type=o, -targets, -input, -output, -bundle-align, -unbundle, "
                "-list, -allow-missing-bundles.",
            )
    if values["type"] not in (["o"], ["bc"]):
        raise GpulabError(
            f"clang-offload-bundler -type={''.join(values['type'])} is not supported.",
            why="bundles of code objects and bitcode are: -type=o and -type=bc.", hint=_BUNDLER_HELP,
        )  # fmt: skip
    if "list" in flags or "unbundle" in flags:
        return _unbundle(values, flags)
    if len(values["targets"]) != len(values["input"]) or len(values["output"]) != 1 or not values["input"]:
        raise GpulabError(
            f"clang-offload-bundler was given {len(values['targets'])} targets, {len(values['input'])} inputs and "
            f"{len(values['output'])} outputs.", why="there is one input for each target, and one output.",
            hint=_BUNDLER_HELP,
        )  # fmt: skip
    entries = [(target, _read_file(path)) for target, path in zip(values["targets"], values["input"], strict=True)]
    if any(target.startswith("host-") and contents for target, contents in entries):
        raise GpulabError(
            "clang-offload-bundler: the host's input is not empty.",
            why="objects with code for the host and devices at once are made by hipcc -c.",
            hint="-input=/dev/null for the host.",
        )
    if not values["bundle-align"][0].isdigit() or int(values["bundle-align"][0]) < 1:
        raise GpulabError(f"-bundle-align={values['bundle-align'][0]} is no number of bytes.")
    _write(values["output"][0], bundles.packed(entries, int(values["bundle-align"][0])))
    return 0


def _unbundle(values: dict[str, list[str]], flags: set[str]) -> int:
    if len(values["input"]) != 1:
        raise GpulabError("clang-offload-bundler -unbundle and -list take one input.")
    found = dict(bundles.entries(_read_file(values["input"][0]), values["input"][0]))
    if "list" in flags:
        print("\n".join(found))
        return 0
    if len(values["targets"]) != len(values["output"]):
        raise GpulabError("clang-offload-bundler -unbundle writes one output for each target.")
    for target, path in zip(values["targets"], values["output"], strict=True):
        contents = found.get(target, found.get(target.rstrip("-")))
        if contents is None and "allow-missing-bundles" not in flags and not target.startswith("host-"):
            raise GpulabError(
                f"{values['input'][0]} has nothing for {target}.", why=f"it has code for {', '.join(found)}.",
                hint="-allow-missing-bundles writes an empty file for it.",
            )  # fmt: skip
        _write(path, contents or b"")
    return 0
