"""A folder laid out as a ROCm installation, for Makefiles and CMake: `install` makes it, `environment` names it.

bin/ has commands (`tools`), include/ and lib/ what gpulab has of headers and libraries, lib/cmake/ packages for
find_package. It lies in gpulab's cache folder, where the virtual HIP library is.
"""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from pathlib import Path

from gpulab.providers.virtual import hosting
from gpulab.toolchain import hosted

_CMAKE = Path(__file__).parent / "cmake"
_HOME = str(Path(__file__).resolve().parents[2])
#: Commands in bin/, each with the name of the tool that it is.
COMMANDS = {
    "hipcc": "hipcc", "hipconfig": "hipconfig", "amdclang++": "clang++", "amdclang": "clang", "mpicc": "mpicc",
    "mpicxx": "mpicxx", "mpic++": "mpicxx", "mpiCC": "mpicxx", "mpirun": "mpirun", "mpiexec": "mpirun",
    "rocm_agent_enumerator": "rocm_agent_enumerator", "amdgpu-arch": "offload-arch", "offload-arch": "offload-arch",
    "rocminfo": "rocminfo", "hipify-perl": "hipify", "hipify-clang": "hipify",
    **{name: name for name in ("llvm-mc", "llvm-dis", "llvm-as", "clang-offload-bundler")},  # before the system's own
}  # fmt: skip
#: Those in host/bin/: other compilers' objects have another C++ library, so a project's g++ is this one, too.
HOST = {"g++": "clang++", "c++": "clang++", "gcc": "clang", "cc": "clang"}
#: Those in llvm/bin/.
LLVM = {"clang++": "clang++", "clang": "clang", "amdclang++": "clang++", "amdclang": "clang", "llvm-ar": "ar",
        "llvm-ranlib": "ranlib", "amdgpu-arch": "offload-arch", "offload-arch": "offload-arch",
        "llvm-mc": "llvm-mc", "llvm-dis": "llvm-dis", "llvm-as": "llvm-as",
        "clang-offload-bundler": "clang-offload-bundler"}  # fmt: skip
#: Packages of header-only libraries: the target's namespace, and the folder of headers that has to be there.
_HEADER_PACKAGES = {
    "hipcub": ("hip", "hipcub"), "rocprim": ("roc", "rocprim"), "rocthrust": ("roc", "thrust"),
    "rocrand": ("roc", "rocrand"), "hiprand": ("hip", "hiprand"), "rocwmma": ("roc", "rocwmma"),
    "rocblas": ("roc", "rocblas"), "hipblas": ("roc", "hipblas"),
}  # fmt: skip

#: Packages of libraries: the target's namespace, and what links them.
_LIBRARY_PACKAGES = {
    "hiprtc": ("hiprtc", "-lhiprtc"), "hsa-runtime64": ("hsa-runtime64", "-lhsa-runtime64"),
    "rocprofiler-sdk-roctx": ("rocprofiler-sdk-roctx", "-lrocprofiler-sdk-roctx"),
}  # fmt: skip
#: Libraries that have no file here but are linked by name: files for who looks for them.
_NAMED_LIBRARIES = ("roctx64", "rocprofiler-sdk-roctx", "hsa-runtime64")


def root() -> Path:
    """The folder, which ROCM_PATH and HIP_PATH name."""
    return Path(hosting.rocm_path())


def install() -> Path:
    """Make the folder, or bring it up to date; files that are right stay as they are.

    Raises:
        GpulabError: programs cannot be built on this system.
    """
    hosted.require()
    hosting.prepare_libraries()
    folder = root()
    for inside, commands in (("bin", COMMANDS), ("host/bin", HOST), ("llvm/bin", LLVM)):
        for name, tool in commands.items():
            _put(folder / inside / name, _script(tool), executable=True)
    for child in sorted(hosted.INCLUDE.iterdir()):
        if child.is_dir():
            _link(folder / "include" / child.name, child)
    from gpulab.programs.command import hip_version

    version = hip_version()
    _put(folder / ".info" / "version", f"{version}\n")
    for source in sorted(_CMAKE.glob("*/*.cmake")):
        _put(folder / "lib" / "cmake" / source.parent.name / source.name, source.read_text(encoding="utf-8"))
    for name in ("hip", "hip-lang", *_HEADER_PACKAGES, *_LIBRARY_PACKAGES):
        _put(folder / "lib" / "cmake" / name / f"{name}-config-version.cmake", _version_file(version))
    for name, (space, headers) in _HEADER_PACKAGES.items():
        place = folder / "lib" / "cmake" / name
        if (hosted.INCLUDE / headers).is_dir():
            _put(place / f"{name}-config.cmake", _package(name, space, version))
        else:  # find_package then says that there is none
            for file in place.glob("*.cmake"):
                file.unlink()
    for name, (space, words) in _LIBRARY_PACKAGES.items():
        _put(folder / "lib" / "cmake" / name / f"{name}-config.cmake", _package(name, space, version, words))
    for name in _NAMED_LIBRARIES:
        _put(folder / "lib" / f"lib{name}.so", f"/* For find_library: what gpulab's hipcc takes as -l{name}. */\n")
    _put(folder / "lib" / "cmake" / "gpulab" / "toolchain.cmake", _toolchain(folder))
    return folder


def environment() -> dict[str, str]:
    """The variables with which Makefiles and CMake find the folder's commands."""
    folder = root()
    before = [
        item for item in os.environ.get("CMAKE_PREFIX_PATH", "").split(os.pathsep) if item and item != str(folder)
    ]
    paths = [str(folder / "bin"), str(folder / "host" / "bin")]
    others = [item for item in os.environ.get("PATH", "").split(os.pathsep) if item not in paths]
    return {
        "ROCM_PATH": str(folder),
        "HIP_PATH": str(folder),
        "HIP_PLATFORM": "amd",
        "CC": str(folder / "bin" / "amdclang"),
        "CXX": str(folder / "bin" / "hipcc"),
        "HIPCXX": str(folder / "llvm" / "bin" / "clang++"),
        "CMAKE_PREFIX_PATH": os.pathsep.join([str(folder), *before]),
        "PATH": os.pathsep.join([*paths, *others]),
    }


def _script(tool: str) -> str:
    """A command: this Python, with gpulab from where it lies now. It runs no file of the current folder."""
    return (
        "#!/bin/sh\n"
        f"PYTHONPATH={shlex.quote(_HOME)}${{PYTHONPATH:+:$PYTHONPATH}} "
        f"exec {shlex.quote(sys.executable)} -P -m gpulab.programs.tools {tool} \"$@\"\n"
    )  # fmt: skip


def _put(path: Path, text: str, executable: bool = False) -> None:
    try:
        if path.read_text(encoding="utf-8") == text:
            return
    except (OSError, UnicodeDecodeError):
        pass
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, made = tempfile.mkstemp(prefix=".new-", dir=path.parent)
    with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    os.chmod(made, 0o755 if executable else 0o644)
    os.replace(made, path)


def _link(path: Path, to: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_symlink() and os.readlink(path) == str(to):
        return
    made = path.with_name(f".new-{path.name}-{os.getpid()}")
    made.symlink_to(to)
    os.replace(made, path)


def _version_file(version: str) -> str:
    return (
        f'set(PACKAGE_VERSION "{version}")\n'
        "if(PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION)\n  set(PACKAGE_VERSION_COMPATIBLE FALSE)\nelse()\n"
        "  set(PACKAGE_VERSION_COMPATIBLE TRUE)\n  if(PACKAGE_FIND_VERSION STREQUAL PACKAGE_VERSION)\n"
        "    set(PACKAGE_VERSION_EXACT TRUE)\n  endif()\nendif()\n"
    )


def _package(name: str, space: str, version: str, words: str = "") -> str:
    target = f"{space}::{name}"
    return (
        f"# find_package({name}): gpulab's compiler finds its headers, and what links it, by itself.\n"
        f"if(NOT TARGET {target})\n  find_package(hip QUIET REQUIRED CONFIG PATHS "
        f"\"${{CMAKE_CURRENT_LIST_DIR}}/../hip\" NO_DEFAULT_PATH)\n  add_library({target} INTERFACE IMPORTED)\n"
        f"  set_target_properties({target} PROPERTIES INTERFACE_LINK_LIBRARIES \"hip::amdhip64;{words}\")\nendif()\n"
        f'if(NOT TARGET {name})\n  add_library({name} INTERFACE IMPORTED)\n'
        f'  set_target_properties({name} PROPERTIES INTERFACE_LINK_LIBRARIES {target})\nendif()\n'
        f'set({name}_VERSION "{version}")\nset({name}_FOUND TRUE)\n'
        f'get_filename_component({name}_INCLUDE_DIR "${{CMAKE_CURRENT_LIST_DIR}}/../../../include" ABSOLUTE)\n'
        f'set({name}_INCLUDE_DIRS "${{{name}_INCLUDE_DIR}}")\n'
    )  # fmt: skip


def _toolchain(folder: Path) -> str:
    """For cmake -DCMAKE_TOOLCHAIN_FILE=..., where the environment is not gpulab's."""
    return (
        "# cmake -DCMAKE_TOOLCHAIN_FILE=<this file>: gpulab's compilers for C, C++ and HIP.\n"
        f'set(ENV{{PATH}} "{folder}/bin:$ENV{{PATH}}")\n'
        f'set(ENV{{ROCM_PATH}} "{folder}")\nset(ENV{{HIP_PATH}} "{folder}")\n'
        f'if(NOT DEFINED CMAKE_C_COMPILER)\n  set(CMAKE_C_COMPILER "{folder}/bin/amdclang")\nendif()\n'
        f'if(NOT DEFINED CMAKE_CXX_COMPILER)\n  set(CMAKE_CXX_COMPILER "{folder}/bin/amdclang++")\nendif()\n'
        f'if(NOT DEFINED CMAKE_HIP_COMPILER)\n  set(CMAKE_HIP_COMPILER "{folder}/llvm/bin/clang++")\nendif()\n'
        f'list(PREPEND CMAKE_PREFIX_PATH "{folder}")\n'
    )
