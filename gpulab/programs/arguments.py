"""The command line of a compiler driver: `read` gives a `Command`, which says what is to be made of which files.

It knows what hipcc and amdclang++ know: several inputs, objects and libraries, where to stop, one side alone, files
of dependencies, response files. Options that gpulab need not understand go to Clang as they are.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gpulab.errors import GpulabError
from gpulab.programs import nvcc, options
from gpulab.toolchain import hosted
from gpulab.toolchain import options as option_check

#: The language of a source by its suffix, as hipcc has it; a C++ compiler takes "hip" of ".hip" and ".cu" alone.
_SUFFIXES = {
    ".hip": "hip", ".cu": "hip", ".cuh": "hip", ".cpp": "hip", ".cc": "hip", ".cxx": "hip", ".C": "hip", ".c++": "hip",
    ".CPP": "hip", ".cp": "hip", ".c": "c", ".i": "c", ".ii": "c++", ".s": "assembler", ".S": "assembler-with-cpp",
}  # fmt: skip
_ALWAYS_HIP = (".hip", ".cu", ".cuh")
_LANGUAGES = {
    "hip": "hip", "cu": "hip", "cuda": "hip", "c++": "c++", "c": "c", "assembler": "assembler",
    "assembler-with-cpp": "assembler-with-cpp", "hip-cpp-output": "hip", "c++-header": "c++", "none": "",
}  # fmt: skip
_OBJECTS = re.compile(r"\.(o|obj|a|lo|so(\.[\d.]+)?)\Z")
#: A library's folder of headers in a ROCm installation, as Makefiles write it out: today's layout, and that of ROCm 4.
_OPT_ROCM = re.compile(r"/opt/rocm[^/]*/(?:include/([\w-]+)|([\w-]+)/include(?:/\2)?)/?\Z")
#: Options with a value behind them, as a word of its own or in the same word.
_JOINED = ("-I", "-isystem", "-iquote", "-idirafter", "-D", "-U", "-L", "-l", "-o", "-MF", "-MT", "-MQ", "-x")
_SEPARATE = (
    "-include", "-imacros", "-std", "--std", "--offload-arch", "--gpu-architecture", "-arch", "--offload-targets",
    "-Xclang", "-Xlinker", "-Xarch_host", "-Xarch_device", "-Xoffload-linker", "-mllvm", "-Xcompiler", "-Xpreprocessor",
    "-Xassembler", "--param", "-rpath", "-u", "-z", "-e", "-T", "-target", "-isysroot", "--sysroot", "-soname", "-h",
    "--rocm-path", "--hip-path", "--rocm-device-lib-path", "--hip-device-lib-path", "-aux-info", "-mcmodel",
)  # fmt: skip
_ARCH_WORDS = ("--amdgpu-target=", "-amdgpu-target=", "--cuda-gpu-arch=", "-mcpu=gfx")
_STEPS = {"-c": "compile", "-dc": "compile", "-S": "assembly", "-E": "preprocess", "-M": "depend", "-MM": "depend",
          "-fsyntax-only": "check"}  # fmt: skip
_SIDES = {
    "--cuda-host-only": "host", "--offload-host-only": "host", "--cuda-device-only": "device",
    "--offload-device-only": "device", "--cuda-compile-host-device": "both", "--offload-host-device": "both",
}  # fmt: skip
_KINDS = {"-shared": "shared", "--shared": "shared", "-r": "relocatable", "--emit-static-lib": "archive"}
#: What changes nothing here: position independence, which every file has; paths of a ROCm; how Clang runs and prints.
_NOTHING = re.compile(
    r"-f(no-)?(pic|PIC|pie|PIE)|-(no-)?pie|-pipe|--hip-link|--(rocm|hip)-path=.*|--(rocm|hip)-device-lib-path=.*|"
    r"--(no-)?offload-new-driver|-nogpu(lib|inc)|-fuse-ld=.*|-f(no-)?lto(=.*)?|-f(no-)?offload-lto(=.*)?|"
    r"-f(no-)?(color-diagnostics|diagnostics-.*|caret-diagnostics|show-.*|ansi-escape-codes)|-fmessage-length=.*|"
    r"-ferror-limit=.*|-stdlib=.*|--gcc-toolchain=.*|--gcc-install-dir=.*|-parallel-jobs=.*|-static-lib(gcc|stdc\+\+)|"
    r"-ftime-trace(=.*)?|-ftime-report|-f(no-)?cuda-rdc|--(no-)?gpu-bundle-output|-Qunused-arguments|"
    r"-f(no-)?integrated-as|-m64|-nocudainc|-nocudalib|-no-hip-rt|--no-default-config|-frandom-seed=.*|"
    r"-mcode-object-version=\d|-f(debug|file|macro)-prefix-map=.*|-fdebug-compilation-dir=.*|-g0|-ggdb0|-f(no-)?use-cuid.*|-fcuid=.*"
)
_REFUSED = (
    (re.compile(r"-f(no-)?sanitize.*"), "the sanitizers' libraries are not here.",
     "HostProgram.run(checked=True), or GPULAB_CHECKED=1, checks kernels."),
    (re.compile(r"--hipstdpar.*"), "parallel algorithms of C++ on the GPU are not supported.",
     "write the loop as a kernel."),
    (re.compile(r"-static|--static|-static-pie"), "a program loads HIP's library when it starts.",
     "leave it away; -lNAME takes libNAME.a where there is no libNAME.so."),
    (re.compile(r"-pg|--coverage|-f(profile|cs-profile|coverage|test-coverage).*"), "the library for it is not here.",
     "GPULAB_PROFILE=1 profiles the kernels of a program."),
    (re.compile(r"-m32|-mx32"), "programs are made for the 64-bit system they are built on.", ""),
    (re.compile(r"-fplugin.*|-fpass-plugin.*|-load"), "plug-ins belong to another Clang.", ""),
    (re.compile(r"-(emit-ast|emit-pch)|-flto-object"), "it gives files that nothing here reads.",
     "-S --cuda-device-only gives the GPU's assembly."),
    (re.compile(r"-target|--target=.*"), "programs are made for this machine and AMD's GPUs.", "--offload-arch=gfx942"),
)  # fmt: skip
#: Options of the host's pass alone.
_HOST = re.compile(
    r"-m(?!llvm).*|-g.*|-fopenmp.*|-f(no-)?visibility.*|-pthread|-fno-plt|-fwrapv|"
    r"-f(no-)?stack-protector.*|-fstack-clash-protection|-f(no-)?split-dwarf.*|-fcf-protection.*|-f(no-)?common|"
    r"-f(data|function)-sections|-f(no-)?omit-frame-pointer|-Wp,.*|-Wa,.*|-f(no-)?asynchronous-unwind-tables|"
    r"-fno-semantic-interposition|-fsemantic-interposition"
)
_PLATFORM = "__HIP_PLATFORM_AMD__"  # gpulab defines it, as hipcc does; the old __HIP_PLATFORM_HCC__ is the user's own
_MOST_NESTED = 16


@dataclass(frozen=True)
class Input:
    """A file that was named, and its language; "object" for what goes to the linker as it is."""

    path: str
    language: str


@dataclass(frozen=True)
class Dependencies:
    """A file for make: `kind` is "MD", "MMD" (without the headers of the system) or ""; where, for which targets."""

    kind: str = ""
    file: str = ""
    targets: tuple[str, ...] = ()
    phony: bool = False


@dataclass(frozen=True)
class Command:
    """A command line.

    Attributes:
        items: inputs, and the linker's words (-lNAME, -Wl,... taken apart) between them, in their order.
        step: where to stop: "link", "compile", "assembly", "preprocess", "depend", "check".
        kind: of what is linked: "program", "shared", "archive", "relocatable".
        side: "both", "host" or "device". output: after -o, or "".
        archs: device architectures, each once.
        common, host, device: options for all passes, and for those of one side.
        include, quoted: folders of headers, absolute. before: headers that are read before each source.
        search: folders of libraries, absolute.
        rdc: device code is linked over all objects (-fgpu-rdc). genco: device code alone, as one file.
        openmp: -fopenmp. debug: -g. tells: -v. only_tells: -###. saves: --save-temps.
        llvm: -emit-llvm, LLVM's code of a device.
    """

    items: tuple[Input | str, ...] = ()
    step: str = "link"
    kind: str = "program"
    side: str = "both"
    output: str = ""
    archs: tuple[str, ...] = options.DEFAULT_ARCHS
    common: tuple[str, ...] = ()
    host: tuple[str, ...] = ()
    device: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    quoted: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    search: tuple[str, ...] = ()
    rdc: bool = False
    genco: bool = False
    openmp: bool = False
    debug: bool = False
    tells: bool = False
    only_tells: bool = False
    saves: bool = False
    llvm: bool = False
    depends: Dependencies = field(default_factory=Dependencies)

    @property
    def inputs(self) -> tuple[Input, ...]:
        return tuple(item for item in self.items if isinstance(item, Input))

    @property
    def sources(self) -> tuple[Input, ...]:
        return tuple(item for item in self.inputs if item.language != "object")


def _refuse(option: str, why: str, hint: str = "") -> GpulabError:
    return GpulabError(f"hipcc's option {option!r} is not accepted here.", why=why, hint=hint)


def expanded(words: Sequence[str], depth: int = 0) -> list[str]:
    """The words with those of response files (@FILE) in their place.

    Raises:
        GpulabError: a file cannot be read, or names itself.
    """
    found: list[str] = []
    for word in words:
        if not word.startswith("@") or word == "@":
            found.append(word)
            continue
        try:
            text = Path(word[1:]).read_text(encoding="utf-8", errors="surrogateescape")
            inside = shlex.split(text)
        except OSError as error:
            raise GpulabError(f"the file of options {word[1:]} cannot be read: {error.strerror}.") from error
        except ValueError as error:
            raise GpulabError(f"the file of options {word[1:]} cannot be understood: {error}.") from error
        if depth >= _MOST_NESTED:
            raise GpulabError(f"the file of options {word[1:]} is named by itself, or by files that it names.")
        found += expanded(inside, depth + 1)
    return found


def read(words: Sequence[str], plain: bool = False) -> Command:
    """Understand a command line.

    Args:
        words: without the program's name.
        plain: of a C++ compiler, for which a file .cpp is C++ and not HIP.

    Raises:
        GpulabError: an option is not accepted, or a file has no language; the message says why.
    """
    reader = _Reader(plain)
    queue = expanded([str(word) for word in words])
    while queue:
        word = queue.pop(0)
        if foreign := nvcc.meaning(word):
            raise _refuse(word, *foreign)
        name = next((one for one in (*_SEPARATE, *_JOINED) if word == one), "")
        if name:
            if not queue:
                raise _refuse(word, "it needs a value after it.")
            reader.valued(name, queue.pop(0))
            continue
        name = next((one for one in _SEPARATE if word.startswith(f"{one}=")), "")
        name = name if name == "-Xcompiler" or not name.startswith(("-X", "-mllvm", "-mcmodel")) else ""
        if name:
            reader.valued(name, word.partition("=")[2])
            continue
        name = next(
            (one for one in ("-isystem", "-iquote", "-idirafter", "-MF", "-MT", "-MQ") if word.startswith(one)), ""
        )
        name = name or (word[:2] if word[:2] in ("-I", "-D", "-U", "-L", "-l", "-o", "-x") else "")
        if name and not word.startswith("-offload"):
            reader.valued(name, word[len(name) :])
        else:
            reader.word(word)
    return reader.command()


class _Reader:
    """What was read so far."""

    def __init__(self, plain: bool) -> None:
        self.plain, self.language = plain, ""
        self.items: list[Input | str] = []
        self.wanted: list[str] = []
        self.common: list[str] = []
        self.host: list[str] = []
        self.device: list[str] = []
        self.folders: dict[str, list[str]] = {"-I": [], "-iquote": [], "-L": [], "-include": []}
        self.targets: list[str] = []
        self.values: dict[str, str] = {
            "step": "link",
            "kind": "program",
            "side": "both",
            "output": "",
            "file": "",
            "md": "",
        }
        self.flags: set[str] = set()

    def valued(self, name: str, value: str) -> None:
        """An option with its value."""
        if name in ("-D", "-U"):
            if value.partition("=")[0] == _PLATFORM:
                return
            self.common.append(name + value)
        elif name in ("-I", "-isystem", "-idirafter"):
            folder = _ours(_absolute(value.removeprefix("=")))
            if not os.path.exists(os.path.join(folder, "hip", "hip_runtime.h")):  # a ROCm's: gpulab has its own
                self.folders["-I"].append(folder)
        elif name in ("-iquote", "-L"):
            self.folders[name].append(_absolute(value))
        elif name in ("-include", "-imacros"):
            self.folders["-include"].append(_absolute(value) if os.path.exists(value) else value)
        elif name == "-l":
            if value in nvcc.LIBRARIES:  # also where -L names a CUDA that has it
                raise _refuse(f"-l{value}", *(nvcc.library(value) or ("", "")))
            self.items.append(f"-l{value}")
        elif name == "-o":
            self.values["output"] = value
        elif name == "-x":
            if value not in _LANGUAGES:
                raise _refuse(f"-x {value}", "languages are hip, c++, c and assembler.")
            self.language = _LANGUAGES[value]
        elif name == "-MF":
            self.values["file"] = value
        elif name in ("-MT", "-MQ"):
            self.targets.append(value if name == "-MT" else value.replace("$", "$$").replace(" ", "\\ "))
        elif name in ("-std", "--std"):
            self.common.append(f"-std={value}")
        elif name in ("--offload-arch", "--gpu-architecture", "-arch", "--offload-targets"):
            self.wanted += [one for one in value.split(",") if one]
        elif name in ("-Xlinker", "-rpath", "-u", "-z", "-e", "-T", "-soname", "-h"):
            self.items += [value] if name == "-Xlinker" else [name, value]
        elif name == "-Xarch_host":
            self.host.append(value)
        elif name == "-Xarch_device":
            self.device.append(value)
        elif name in ("-Xclang", "-mllvm", "--param"):
            side = self.device if name == "-mllvm" and "amdgpu" in value else self.common
            side += [name, value]
        elif name == "-Xcompiler":  # nvcc's, and of build systems that were written for it
            for one in value.split(","):
                self.word(one)
        elif name in ("-Xpreprocessor", "-Xassembler"):
            self.host += [name, value]
        elif name == "-mcmodel":
            self.host.append(f"-mcmodel={value}")
        elif name in ("-target", "--sysroot", "-isysroot", "-aux-info"):
            raise _refuse(f"{name} {value}", "programs are made for this machine, with the headers that gpulab brings.")
        # what is left are paths of a ROCm, and options of the device's linker

    def word(self, word: str) -> None:
        """A word without a value behind it."""
        if word == "-" or not word.startswith("-"):
            self.items.append(Input(word, self._language(word)))
        elif word in _STEPS:
            self.values["step"] = _STEPS[word]
            self.flags |= {"-fgpu-rdc"} if word == "-dc" else set()
            if word in ("-M", "-MM"):
                self.values["md"] = "MD" if word == "-M" else "MMD"
        elif word in _SIDES:
            self.values["side"] = _SIDES[word]
        elif word in _KINDS:
            self.values["kind"] = _KINDS[word]
        elif word == "--genco":
            self.values["side"], self.values["step"] = "device", "compile"
            self.flags.add(word)
        elif word in ("-MD", "-MMD"):
            self.values["md"] = word[1:]
        elif word in ("-MP", "-v", "-###", "-fgpu-rdc", "-emit-llvm"):
            self.flags.add(word)
        elif word == "-MG":
            raise _refuse(word, "headers that are missing are errors here.")
        elif word in ("-fno-gpu-rdc", "-fno-openmp", "-fno-openmp-simd"):
            self.flags.discard({"-fno-gpu-rdc": "-fgpu-rdc"}.get(word, "-fopenmp"))
        elif word in ("-fopenmp", "-fopenmp=libomp", "-openmp", "-fopenmp=libiomp5", "-fopenmp=libgomp"):
            self.flags.add("-fopenmp")
        elif word.startswith("-fopenmp-targets") or word == "-fopenmp-offload-mandatory":
            raise _refuse(word, "OpenMP runs on the host alone here.", "write the loop as a HIP kernel.")
        elif word in ("-save-temps", "--save-temps") or word.startswith(("-save-temps=", "--save-temps=")):
            self.flags.add("--save-temps")
        elif word.startswith("-Wl,"):
            self.items += word[4:].split(",")
        elif word == "-mcpu=native" or word.startswith(_ARCH_WORDS):
            self.wanted += [one for one in word.partition("=")[2].split(",") if one]
        elif word in ("-s", "-rdynamic", "--export-dynamic", "-nostartfiles", "-nodefaultlibs", "-nostdlib"):
            self.items += ["-s"] if word == "-s" else []
        elif word in ("-g", "-ggdb", "-g1", "-g2", "-g3", "-ggdb3", "-gdwarf-4", "-gdwarf-5"):
            self.flags.add("-g")
            self.host.append("-g")
        elif word == "-O":
            self.common.append("-O1")
        elif word in ("-use_fast_math", "--use_fast_math"):
            self.common.append("-ffast-math")
        elif _NOTHING.fullmatch(word):
            pass
        else:
            self._other(word)

    def _other(self, word: str) -> None:
        for pattern, why, hint in _REFUSED:
            if pattern.fullmatch(word):
                raise _refuse(word, why, hint)
        if option_check.is_for_gpu(word):
            self.device.append(word)
        elif _HOST.fullmatch(word):
            self.host.append(word)
        else:
            self.common.append(word)

    def _language(self, word: str) -> str:
        if self.language and word != "-" and _OBJECTS.search(word) and os.path.exists(word):
            return "object"  # Clang would read it as a source; who writes "-x hip main.cpp tools.o" means this
        if self.language:
            return self.language
        if word == "-":
            return "c++" if self.plain else "hip"
        if _OBJECTS.search(word):
            return "object"
        suffix = os.path.splitext(word)[1]
        found = _SUFFIXES.get(suffix, "")
        if found == "hip" and self.plain and suffix not in _ALWAYS_HIP:
            return "hip" if _has_kernels(word) else "c++"
        if not found:
            try:
                with open(word, "rb") as file:
                    found = "object" if file.read(8).startswith((b"\x7fELF", b"!<arch>\n")) else ""
            except OSError as error:
                raise GpulabError(
                    f"{word} cannot be read: {error.strerror}.", hint="is an option before it without its value?"
                ) from error
        if not found:
            raise _refuse(word, f"it is no source file ({', '.join(_SUFFIXES)}), object or library.",
                          "name its language before it: -x hip.")  # fmt: skip
        return found

    def command(self) -> Command:
        values, flags = self.values, self.flags
        archs: list[str] = []
        for name in self.wanted or options.DEFAULT_ARCHS:
            archs += options.native() if name == "native" else [option_check.check_arch(name)]
        if not archs:
            raise GpulabError("no architecture to build for.", hint="--offload-arch=gfx942, for example.")
        if "-fopenmp" in flags:
            self.host.append("-fopenmp")
        if "-emit-llvm" in flags and (values["side"] != "device" or values["step"] not in ("compile", "assembly")):
            raise _refuse("-emit-llvm", "LLVM's code is given of devices alone.",
                          "--cuda-device-only -c -emit-llvm gives bitcode, with -S in place of -c a text.")  # fmt: skip
        if "-Werror" in self.common and "-Wall" not in self.common:
            self.common.insert(0, "-Wno-all")  # what gpulab adds to warn of is no error of this project
        return Command(
            tuple(self.items), values["step"], values["kind"], values["side"], values["output"],
            tuple(dict.fromkeys(archs)), tuple(self.common), tuple(self.host), tuple(self.device),
            tuple(self.folders["-I"]), tuple(self.folders["-iquote"]), tuple(self.folders["-include"]),
            tuple(self.folders["-L"]), "-fgpu-rdc" in flags, "--genco" in flags, "-fopenmp" in flags, "-g" in flags,
            "-v" in flags, "-###" in flags, "--save-temps" in flags, "-emit-llvm" in flags,
            Dependencies(values["md"], values["file"], tuple(self.targets), "-MP" in flags),
        )  # fmt: skip


def _has_kernels(path: str) -> bool:
    """Whether a C++ file defines kernels. Clang would refuse it; Makefiles name a C++ compiler for it by HIPCXX or CXX,
    where they mean hipcc."""
    try:
        with open(path, "rb") as file:
            return re.search(rb"\b__global__\b", file.read()) is not None
    except OSError:
        return False


def _ours(folder: str) -> str:
    """Where `folder` is a library's headers in a ROCm installation that is not here, gpulab's headers of that library:
    `-I/opt/rocm/include/hipblas` is for `#include <hipblas.h>`."""
    found = _OPT_ROCM.match(folder)
    own = hosted.INCLUDE / (found[1] or found[2]) if found else None
    return str(own) if own and own.is_dir() and not os.path.exists(folder) else folder


def _absolute(folder: str) -> str:
    return str(Path(folder).expanduser().absolute())
