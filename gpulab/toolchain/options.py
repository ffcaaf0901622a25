"""Which compiler options a learner may give.

`check(options)` returns `Accepted`: options for Clang, the subset that the assembler needs too, and the
architecture if the options name one. Options that read or write files, load plugins or reach the compiler's
internals are refused with a reason.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gpulab.errors import GpulabError

ARCH = re.compile(r"gfx[0-9a-f]{3,5}(-generic)?((:(sramecc|xnack)[+-])*)\Z|gfx[0-9]+(-[0-9a-z]+)*-generic\Z")
_OPTIMISATION = re.compile(r"-O([0-3sz]|fast|g)?\Z")
_MACRO = re.compile(r"-([DU])([A-Za-z_]\w*(\([\w\s,.]*\))?(=.*)?)\Z", re.DOTALL)
_STANDARD = re.compile(r"(-std=|--std=)(c|gnu)\+\+(11|14|17|20|23|26|2a|2b|2c|1z)\Z")
_WARNING = re.compile(r"-W[A-Za-z][\w+-]*(=[\w+-]+)?\Z|-w\Z|-pedantic(-errors)?\Z|-Wp?\Z")
_FEATURE = re.compile(r"-f[a-z][\w+-]*(=[\w.+-]+)?\Z")
_MACHINE = re.compile(r"-m[a-z][\w-]*(=[\w.+-]+)?\Z")
# For the backend: thresholds and switches of LLVM's optimiser.
_BACKEND = re.compile(r"-?-?(amdgpu|unroll|inline|enable|disable|fp)-[a-z0-9-]+(=[\w.-]+)?\Z")

# -f options that name files, load code, write beside the output, or change the form of what Clang prints.
_REFUSED_FEATURES = (
    "-fplugin", "-fpass-plugin", "-fmodule", "-fprebuilt", "-fprofile", "-fcs-profile", "-fauto-profile",
    "-fsanitize", "-fno-sanitize", "-fdump", "-ftime-trace", "-fdebug-", "-ffile-prefix",
    "-fmacro-prefix", "-fcoverage", "-fembed", "-fdiagnostics", "-fno-diagnostics", "-fcolor", "-fno-color",
    "-fcaret", "-fno-caret", "-fshow", "-fno-show", "-fmessage-length", "-fthinlto", "-fuse-cuid",
    "-fintegrated", "-fno-integrated", "-fsyntax-only", "-fopenmp", "-fbasic-block", "-fproc-stat", "-fcrash",
    "-fno-verbose-asm", "-fverbose-asm", "-fimplicit-module", "-fbuild-session", "-fxray", "-femit", "-foffload",
    "-fgpu-rdc", "-flto", "-fms", "-fborland", "-fobjc", "-fblocks", "-fapinotes", "-fapi-notes",
    "-fcas", "-fdepscan", "-ferror-limit", "-fuse-ld", "-frewrite", "-fexperimental", "-fsplit-dwarf",
    "-fminimize-whitespace", "-fno-minimize", "-fspell", "-frandomize", "-fextract", "-fsystem-module",
    "-ftest-coverage", "-fstack-usage", "-fopt", "-fsave", "-fworking-directory",
    "-fdirectives-only", "-fcuda-", "-fhip-", "-fpch",
)  # fmt: skip
_KEPT_FEATURES = ("-fcuda-flush-denormals-to-zero", "-fno-cuda-flush-denormals-to-zero", "-fgpu-rdc", "-fno-gpu-rdc")
_ASSEMBLER = re.compile(r"-m(no-)?(wavefrontsize64|cumode|tgsplit|xnack|sram-ecc)\Z")
_MACHINE_NAMES = re.compile(
    r"-m(no-)?(wavefrontsize64|cumode|tgsplit|unsafe-fp-atomics|amdgpu-ieee|code-object-version|"
    r"amdgpu-precise-memory-op|sram-ecc|xnack|recip|fma)(=[\w.+-]+)?\Z"
)
_IGNORED = ("-c", "-g", "-gline-tables-only", "-ggdb", "-pthread", "-fgpu-rdc", "-fno-gpu-rdc", "--hip-link",
            "-nogpulib", "-nogpuinc", "--cuda-device-only", "--offload-device-only", "-v")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Accepted:
    """Options that passed: for Clang, for the assembler, and the architecture they name (or "")."""

    compiler: tuple[str, ...]
    assembler: tuple[str, ...]
    arch: str = ""


def _refuse(option: str, why: str, hint: str = "") -> GpulabError:
    return GpulabError(
        f"the compiler option {option!r} is not accepted here.",
        why=why,
        hint=hint
        or "accepted are -O0 ... -O3, -Os, -ffast-math and other -f..., -D, -U, -std=, -W..., -m... for AMD GPUs, "
        "--offload-arch= and --gpu-architecture=.",
    )


def check_arch(arch: str) -> str:
    """The architecture, if its name has the right form.

    Raises:
        GpulabError: it has not.
    """
    if not isinstance(arch, str) or not ARCH.match(arch):
        nvidia = isinstance(arch, str) and re.match(r"(?:sm|compute)_", arch)
        raise GpulabError(
            f"{arch!r} is not the name of an AMD GPU architecture" + (": it is one of NVIDIA's." if nvidia else "."),
            why="the compiler knows GPUs by names such as gfx942 (Instinct MI300X) or gfx1100 (Radeon RX 7900 XTX).",
            hint="gpulab.devices() (`gpulab devices` in a shell) lists the names of the devices here; for a real GPU, "
            "rocminfo prints it.",
        )
    return arch


def check(options: Sequence[str]) -> Accepted:
    """Accept or refuse compiler options.

    Args:
        options: as on a command line, one string each; ``["-D", "N=4"]`` may be two.

    Raises:
        GpulabError: an option is not accepted; the message says why.
    """
    if isinstance(options, (str, bytes)):
        raise GpulabError(
            f"options is the single text {options!r}.",
            why="options are given one by one.",
            hint=f"options={tuple(str(options).split())!r}",
        )
    compiler: list[str] = []
    assembler: list[str] = []
    arch = ""
    queue = [str(option) for option in options]
    while queue:
        option = queue.pop(0)
        if "\0" in option or "\n" in option:
            raise _refuse(option, "it holds a line break or a null character.")
        if option in ("-D", "-U", "-std", "--std", "--gpu-architecture", "--offload-arch", "-mllvm", "-arch",
                      "--define-macro", "--undefine-macro"):  # fmt: skip
            if not queue:
                raise _refuse(option, "it needs a value after it.", f"write {option}... with its value.")
            value = queue.pop(0)
            joined = {"--define-macro": "-D", "--undefine-macro": "-U"}.get(option, option)
            if joined == "-mllvm":
                if not _BACKEND.match(value):
                    raise _refuse(f"-mllvm {value}", "only -amdgpu-..., -unroll-... and -inline-... are passed on.")
                compiler += ["-mllvm", value]
                continue
            option = f"{joined}{value}" if joined in ("-D", "-U") else f"{joined}={value}"
        if option.startswith("--define-macro="):
            option = "-D" + option.partition("=")[2]
        elif option.startswith("--undefine-macro="):
            option = "-U" + option.partition("=")[2]
        for prefix in ("--gpu-architecture=", "--offload-arch=", "-arch=", "--cuda-gpu-arch="):
            if option.startswith(prefix):
                arch = check_arch(option[len(prefix) :])
                break
        else:
            compiler_option = _one(option)
            if compiler_option:
                compiler.append(compiler_option)
                if _ASSEMBLER.match(compiler_option):
                    assembler.append(compiler_option)
    return Accepted(tuple(compiler), tuple(assembler), arch)


def is_for_gpu(option: str) -> bool:
    """Whether it is one of Clang's switches for AMD GPUs, and none for the host's processor."""
    return bool(_MACHINE_NAMES.match(option)) and not option.startswith(("-mfma", "-mno-fma", "-mrecip"))


def for_assembler(given: Sequence[str]) -> tuple[str, ...]:
    """Those of the options that the assembler needs, too."""
    return tuple(option for option in given if _ASSEMBLER.match(option))


def _one(option: str) -> str:
    """The option for Clang, or "" if it changes nothing here."""
    if option in _IGNORED:
        return ""
    if _OPTIMISATION.match(option) or _MACRO.match(option):
        return option
    if _STANDARD.match(option):
        return option.replace("--std", "-std")
    if option in ("-use_fast_math", "--use_fast_math"):
        raise _refuse(option, "that is nvcc's spelling.", "-ffast-math")
    if option.startswith("@"):
        raise _refuse(option, "it would read options from a file.")
    if option.startswith(("-I", "-isystem", "-iquote", "-include", "-imacros", "-idirafter", "--include")):
        raise _refuse(
            option,
            "kernels are compiled without access to files, so that they compile everywhere the same.",
            "give the text of a header by name: gpulab.compile(source, headers={'tools.h': text}) "
            "and #include \"tools.h\" (hiprtc: the headers argument of hiprtcCreateProgram).",
        )  # fmt: skip
    if option.startswith(("-o", "--output", "-MD", "-MM", "-MF", "-save-temps", "--save-temps", "-M")):
        raise _refuse(option, "it would write a file.", "the compiled code is in .elf and .assembly of the result.")
    if option.startswith(("-X", "-load", "-fplugin", "-fpass-plugin", "-mlink", "-cc1", "-B", "--sysroot", "-L", "-l")):
        raise _refuse(option, "it reaches the compiler's internals or files.")
    if _WARNING.match(option):
        if (option.startswith(("-Wa", "-Wl", "-Wp")) and "," in option) or option in ("-Wp", "-W"):
            raise _refuse(option, "it passes options to other programs.")
        return option
    if _FEATURE.match(option):
        if option.startswith(_REFUSED_FEATURES) and option not in _KEPT_FEATURES:
            raise _refuse(option, "it reads or writes files, or changes what gpulab must read from the compiler.")
        return option
    if option.startswith("-m"):
        if _MACHINE.match(option) and _MACHINE_NAMES.match(option):
            return option
        raise _refuse(
            option,
            "it is not one of the AMD GPU switches that are known here.",
            "known: -mcumode, -mwavefrontsize64, -munsafe-fp-atomics, -mtgsplit, and their -mno- forms.",
        )
    if not option.startswith("-"):
        raise _refuse(option, "it looks like a file name.", "the source is given as text.")
    raise _refuse(option, "it is not known here.")
