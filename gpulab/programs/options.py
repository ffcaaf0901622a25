"""hipcc's command line: `parse` sorts options into those for both passes, for one of them, and those of the build."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gpulab import architectures, languages
from gpulab.errors import GpulabError
from gpulab.programs import nvcc, runtimes
from gpulab.toolchain import options as option_check

DEFAULT_ARCHS = architectures.defaults()
#: Libraries of C and C++ that every program has, and those that projects link without calling them: libnuma, and TBB,
#: which GNU's parallel algorithms need and these do not, those of ROCm below HIP; and those that are
#: headers alone. (Headers of the others are not here: calls of them do not compile.)
_INCLUDED = frozenset(
    ("stdc++", "stdc++fs", "stdc++exp", "c++", "c++fs", "m", "c", "pthread", "dl", "rt", "gcc_s", "util")
) | {"numa", "tbb", "hsa-runtime64", "roctracer64", "rocrand", "hiprand", "rocblas", "hipblas"}
#: ROCm's libraries by what follows -l, with the name that people know.
_ROCM = {
    "hipblaslt": "hipBLASLt", "rocfft": "rocFFT", "hipfft": "hipFFT",
    "rocsparse": "rocSPARSE", "hipsparse": "hipSPARSE",
    "rocsolver": "rocSOLVER", "hipsolver": "hipSOLVER", "MIOpen": "MIOpen", "rccl": "RCCL",
    "rocprofiler-sdk": "ROCprofiler-SDK", "amd_comgr": "Comgr",
}  # fmt: skip

_ONE_PASS = (
    "--cuda-host-only", "--cuda-device-only", "--cuda-compile-host-device",
    "--offload-host-only", "--offload-device-only", "--offload-host-device",
)  # fmt: skip


@dataclass(frozen=True)
class Options:
    """A command line.

    Attributes:
        sources: the files named. output: after -o, or "".
        archs: device architectures, each once, "native" replaced.
        common: options for both passes. host: those of the host's pass alone.
        include: folders of headers, absolute.
        libraries: names after -l of libraries whose functions a program gets when it starts.
        debug: -g was given. own: gpulab's own host libraries that are linked (runtimes.py).
    """

    sources: tuple[str, ...]
    output: str
    archs: tuple[str, ...]
    common: tuple[str, ...]
    host: tuple[str, ...]
    include: tuple[str, ...]
    libraries: tuple[str, ...]
    debug: bool
    own: tuple[str, ...] = ()


def _refuse(option: str, why: str, hint: str = "") -> GpulabError:
    return GpulabError(f"hipcc's option {option!r} is not accepted here.", why=why, hint=hint)


def parse(words: Sequence[str], archs: Sequence[str] = DEFAULT_ARCHS) -> Options:
    """Understand hipcc's options.

    Args:
        words: the command line, without the program's name.
        archs: the architectures if no --offload-arch is given.

    Raises:
        GpulabError: an option is not accepted; the message says why, and what to do instead.
    """
    if isinstance(words, (str, bytes)):
        raise GpulabError(
            f"options is the single text {words!r}.",
            why="options are given one by one.",
            hint=f"options={tuple(str(words).split())!r}",
        )
    sources: list[str] = []
    wanted: list[str] = []
    common: list[str] = []
    host: list[str] = []
    include: list[str] = []
    libraries: list[str] = []
    own: list[str] = []
    output, debug = "", False
    queue = [str(word) for word in words]
    while queue:
        word = queue.pop(0)
        if foreign := nvcc.meaning(word):
            raise _refuse(word, *foreign)
        if word in ("-o", "-I", "-isystem", "-D", "-U", "-l", "-L", "-x", "-std", "--offload-arch", "-include"):
            if not queue:
                raise _refuse(word, "it needs a value after it.")
            value = queue.pop(0)
            if word == "-o":
                output = value
                continue
            if word == "-x":
                if value not in ("hip", "c++", "cu"):
                    raise _refuse(f"-x {value}", "programs are written in HIP C++.")
                continue
            word = f"{word}={value}" if word in ("-std", "--offload-arch") else word + value
        if not word.startswith("-"):
            language = languages.of_file(word)
            if language is None or not language.whole_programs:
                known = [s for one in languages.members().values() if one.whole_programs for s in one.suffixes]
                raise _refuse(word, f"it is no source file of a program ({', '.join(known)}).")
            sources.append(word)
        elif word.startswith(("--offload-arch=", "--amdgpu-target=", "-amdgpu-target=")):
            wanted += [name for name in word.partition("=")[2].split(",") if name]
        elif word.startswith("-isystem"):
            include.append(str(Path(word.removeprefix("-isystem")).expanduser().absolute()))
        elif word.startswith("-I"):
            include.append(str(Path(word[2:]).expanduser().absolute()))
        elif word.startswith("-include"):
            raise _refuse(word, "headers are included by the source.", '#include "..." as the first line of the source')
        elif word.startswith("-l") and runtimes.of_library(word[2:]):
            own.append(runtimes.of_library(word[2:]))
        elif word.startswith("-l"):
            libraries += library(word)
        elif word.startswith("-o"):
            output = word[2:]
        elif word in ("-g", "-ggdb", "-g3", "-g2"):
            debug = True
            host.append("-g")
        elif word in ("-march=native", "-mtune=native") or word.startswith(("-march=", "-mtune=")):
            raise _refuse(word, "programs are built for every machine of this kind; for GPUs say --offload-arch=.")
        elif word in ("-c", "-S", "-E", "-shared", "-r", "--genco", "-fgpu-rdc", "-dc"):
            raise _refuse(
                word,
                "a program is built from one source in one step.",
                "leave it away; programs of several files are built in a shell, by gpulab hipcc.",
            )
        elif word.startswith(("-L", "-Wl,", "-Xlinker", "-rpath")) or word in ("-pthread", "--hip-link"):
            if word.startswith(("-Wl,", "-Xlinker", "-rpath")):
                raise _refuse(word, "it is the linker's.")
        elif word in ("-fPIE", "-fpie", "-fpic", "-fPIC", "-pie", "-no-pie", "-fno-pie", "-fno-PIE"):
            pass  # every program is one file at any address
        elif word.startswith("--hipstdpar"):
            raise _refuse(
                word, "parallel algorithms of C++ on the GPU need ROCm's libraries (rocThrust), which gpulab has not.",
                "write the loop as a kernel.",
            )  # fmt: skip
        elif word in _ONE_PASS:
            raise _refuse(
                word, "a program is built for the host and its devices in one step, into one file.",
                "leave it away; gpulab.compile(source) compiles the kernels alone.",
            )  # fmt: skip
        elif word in ("-O", "-Ofast", "-fopenmp") or word.startswith(("--rocm-path", "--hip-path")):
            if word == "-fopenmp" and word not in host:
                own.append(runtimes.OPENMP)
                host.append(word)
                common.append("-Wno-source-uses-openmp")  # of the devices' passes, which leave its directives out
            if word.startswith("-O"):
                common.append({"-O": "-O1"}.get(word, word))
        elif word.startswith("-fsanitize"):
            raise _refuse(word, "the sanitizers' libraries are not here.", "run(checked=True) checks kernels.")
        else:
            accepted = option_check.check([word])
            if accepted.arch:
                wanted.append(accepted.arch)
            common += accepted.compiler
    chosen: list[str] = []
    for name in wanted or archs:
        chosen += native() if name == "native" else [option_check.check_arch(name)]
    if not chosen:
        raise GpulabError("no architecture to build for.", hint="--offload-arch=gfx942, for example.")
    return Options(
        tuple(sources), output, tuple(dict.fromkeys(chosen)), tuple(common), tuple(host), tuple(include),
        tuple(dict.fromkeys(libraries)), debug,
        tuple(dict.fromkeys(own)),
    )  # fmt: skip


def library(word: str, search: Sequence[str] = ()) -> list[str]:
    """The name after -l, if it is one of the libraries that come through gpulab's port; none for those of C and C++.

    Args:
        search: folders in which it was looked for, for the message.

    Raises:
        GpulabError: there is no such library.
    """
    from gpulab.providers.virtual import hosting

    name = word[2:]
    if name in _INCLUDED:
        return []
    if any(name == each.name for each in hosting.libraries()):
        return [name]
    if name in _ROCM or name.lower() in _ROCM:
        known = _ROCM.get(name) or _ROCM[name.lower()]
        raise _refuse(
            word,
            f"{known} is one of ROCm's libraries, which gpulab does not have.",
            "write the kernel yourself, or build the program with ROCm's hipcc on a machine with an AMD GPU.",
        )
    if foreign := nvcc.library(name):
        raise _refuse(word, *foreign)
    there = ", ".join(f"-l{each.name}" for each in hosting.libraries())
    raise _refuse(
        word,
        f"there is no library {name} here; beside those of C and C++ there are {there}"
        + (f"; it is not in {', '.join(search)} either." if search else "."),
        "one that you have built is found in the folder that -L names; the system's own folders are not searched, so "
        "name them too: -L/usr/lib/x86_64-linux-gnu.",
    )  # fmt: skip


def native() -> list[str]:
    """Architectures of the devices here that run AMD's code."""
    from gpulab import providers
    from gpulab.toolchain.code_object import AMDGPU

    known = (info.arch for info in providers.devices() if AMDGPU in providers.of(info.index).formats)
    return list(dict.fromkeys(known))
