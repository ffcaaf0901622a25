"""The commands of gpulab's folder in the place of a ROCm (`installation`): ``python -m gpulab.programs.tools NAME``.

hipcc and amdclang++ are `command.run`; hipconfig, rocm_agent_enumerator and rocminfo answer what build systems ask;
mpicc, mpicxx and mpirun serve programs that run as one process of MPI.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence

from gpulab.errors import GpulabError

_MOST_RANKS = 1
_MPIRUN_VALUES = ("--host", "-host", "-H", "--hostfile", "-hostfile", "-machinefile", "--map-by", "--bind-to", "-x")
"""Options of mpirun that a value follows; one process needs none of them."""
_ONE_DASH = re.compile(r"-[a-z][\w-]+")  # -inplace, -print-stats; not -o


def main(words: Sequence[str]) -> int:
    """Run one tool; its exit code. An error of gpulab is printed as its text and gives 1."""
    name, *rest = words
    try:
        code = _TOOLS[name](rest)
        sys.stdout.flush()
        return code
    except GpulabError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        return 130


def _hipcc(words: Sequence[str]) -> int:
    from gpulab.programs import command

    return command.run(words)


def _compiler(words: Sequence[str], libraries: Sequence[str] = ()) -> int:
    from gpulab.programs import command

    return command.run([*words, *libraries], plain=True)


def _mpi(words: Sequence[str]) -> int:
    """MPI's compiler commands: the compiler with MPI's library, and what they say of themselves."""
    if any(word in ("-show", "--show", "-showme", "--showme") for word in words):
        print("amdclang++ -lmpi")
        return 0
    for word in words:
        if word.startswith(("--showme:", "-showme:")):
            print("-lmpi" if word.endswith("link") else "")
            return 0
    return _compiler(words, ["-lmpi"] if any(not word.startswith("-") for word in words) else [])


def _mpirun(words: Sequence[str]) -> int:
    """Run a program as the one process of MPI that there is."""
    queue = list(words)
    while queue and queue[0].startswith("-"):
        word = queue.pop(0)
        name, _, value = word.partition("=")
        if name in ("-n", "-np", "--np", "-c", "--n"):
            value = value or (queue.pop(0) if queue else "")
            if not value.isdigit() or int(value) > _MOST_RANKS:
                raise GpulabError(
                    f"mpirun -np {value}: MPI programs run as one process here.",
                    why="gpulab's MPI is a stand-in with one rank, for programs that need it to build and start.",
                    hint="mpirun -np 1, or the program alone.",
                )
        elif name in _MPIRUN_VALUES:
            queue = queue if value else queue[1:]
        elif name in ("--mca", "-mca"):
            queue = queue[2:]
    if not queue:
        raise GpulabError("mpirun was given no program.", hint="mpirun -np 1 ./program")
    try:
        os.execvp(queue[0], queue)
    except OSError as error:
        raise GpulabError(f"{queue[0]} does not start: {error.strerror}.") from error


def _archiver(tool: str) -> Callable[[Sequence[str]], int]:
    def run(words: Sequence[str]) -> int:
        from gpulab.toolchain import compiler

        path = str(compiler.executable())
        os.execv(path, [path, tool, *words])

    return run


def _device_tool(name: str) -> Callable[[Sequence[str]], int]:
    def run(words: Sequence[str]) -> int:
        from gpulab.programs import device_tools

        return int(getattr(device_tools, name)(words))

    return run


def _hipify(words: Sequence[str]) -> int:
    """hipify-perl and hipify-clang: `gpulab hipify`, whose long options may have one dash, as they have there."""
    import argparse

    from gpulab.porting import command

    ask = argparse.ArgumentParser(prog="hipify")
    command.options(ask)
    plain = [word for word in words if word not in ("--", "-roc", "--roc")]
    return command.run(ask.parse_args([f"-{word}" if _ONE_DASH.fullmatch(word) else word for word in plain]))


def _hipconfig(words: Sequence[str]) -> int:
    """What hipconfig says of an installation; without options all of it."""
    from gpulab.programs import command, installation

    folder = str(installation.root())
    cpp = f" -D__HIP_PLATFORM_AMD__= -I{folder}/include"
    clang = f"{folder}/llvm/bin"
    answers = {
        ("-p", "--path"): folder, ("-R", "--rocmpath"): folder, ("-C", "--cpp_config"): cpp,
        ("-c", "--compiler"): "clang", ("-P", "--platform"): "amd", ("-r", "--runtime"): "rocclr",
        ("-v", "--version"): f"{command.hip_version()}-gpulab",
        ("-l", "--hipclangpath"): clang, ("-a", "--hipclangversion"): command.version().splitlines()[1],
    }  # fmt: skip
    found = [text for word in words for names, text in answers.items() if word in names]
    if found:
        print("\n".join(found), end="\n" if {"-n", "--newline"} & set(words) else "")
        return 0
    if {"--help", "-h"} & set(words):
        print("usage: hipconfig [OPTIONS]")
        for names in answers:
            print(f"  {', '.join(names)}")
        print("  -f, --full\n  -n, --newline")
        return 0
    unknown = [word for word in words if word not in ("-f", "--full", "-n", "--newline", "--check", "-k")]
    if unknown:
        raise GpulabError(f"hipconfig has no option {unknown[0]!r}.", hint="hipconfig --help")
    print(f"HIP version: {command.hip_version()}-gpulab\n\n==hipconfig")
    for title, text in (
        ("HIP_PATH", folder), ("ROCM_PATH", folder), ("HIP_COMPILER", "clang"), ("HIP_PLATFORM", "amd"),
        ("HIP_RUNTIME", "rocclr"), ("CPP_CONFIG", cpp.strip()),
    ):  # fmt: skip
        print(f"{title:<13}: {text}")
    print(f"\n==hip-clang\nHIP_CLANG_PATH : {clang}\n{command.version()}")
    return 0


def _architectures(words: Sequence[str]) -> int:
    """The architecture of each device, a line each; rocm_agent_enumerator has the processor too, as gfx000."""
    from gpulab.programs import options

    print("\n".join(options.native()))
    return 0


def _enumerator(words: Sequence[str]) -> int:
    from gpulab import providers

    kinds = [words[at + 1] for at, word in enumerate(words[:-1]) if word in ("-t", "--type")]
    lines = [] if kinds == ["GPU"] or "-name" in words else ["gfx000"]
    lines += [] if kinds == ["CPU"] else [info.arch for info in providers.devices()]
    print("\n".join(lines))
    return 0


def _rocminfo(words: Sequence[str]) -> int:
    """The devices in rocminfo's form, as far as scripts read it."""
    from gpulab import providers

    line = "*******\n"
    print(f"=====================\nHSA Agents\n=====================\n{line}Agent 1\n{line}  Name:{'CPU':>25}")
    print(f"  Device Type:{'CPU':>18}")
    for number, info in enumerate(providers.devices(), 2):
        print(f"{line}Agent {number}\n{line}  Name:                    {info.arch}")
        print(f"  Marketing Name:          {info.name}\n  Device Type:             GPU")
        print(f"  ISA Info:\n    ISA 1\n      Name:                    amdgcn-amd-amdhsa--{info.arch}")
    print("*** Done ***")
    return 0


_TOOLS: dict[str, Callable[[Sequence[str]], int]] = {
    "hipcc": _hipcc, "clang++": _compiler, "clang": _compiler, "ar": _archiver("ar"), "ranlib": _archiver("ranlib"),
    "hipconfig": _hipconfig, "offload-arch": _architectures, "rocm_agent_enumerator": _enumerator,
    "rocminfo": _rocminfo, "llvm-mc": _device_tool("mc"), "llvm-dis": _device_tool("disassemble"),
    "llvm-as": _device_tool("assemble_ir"), "clang-offload-bundler": _device_tool("bundler"), "hipify": _hipify,
    "mpicc": _mpi, "mpicxx": _mpi, "mpirun": _mpirun,
}  # fmt: skip

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
