"""Compiler options that a learner may give: what each becomes, and why others are refused."""

from __future__ import annotations

import pytest

from gpulab.errors import GpulabError
from gpulab.toolchain.options import Accepted, check, check_arch, for_assembler, is_for_gpu


@pytest.mark.parametrize(
    ("line", "compiler", "assembler", "arch"),
    [
        ("-O -O0 -O3 -Os -Oz -Og -Ofast", "-O -O0 -O3 -Os -Oz -Og -Ofast", "", ""),
        ("-D N=4 -DM -U K -UL --define-macro A=1 --undefine-macro B", "-DN=4 -DM -UK -UL -DA=1 -UB", "", ""),
        ("--define-macro=A=1 --undefine-macro=B", "-DA=1 -UB", "", ""),
        ("-std=c++20 --std=gnu++17 -std c++14 --std c++11", "-std=c++20 -std=gnu++17 -std=c++14 -std=c++11", "", ""),
        ("-mllvm -amdgpu-x=3 -mllvm unroll-count=4", "-mllvm -amdgpu-x=3 -mllvm unroll-count=4", "", ""),
        ("-Wall -Wno-x=3 -w -pedantic -pedantic-errors", "-Wall -Wno-x=3 -w -pedantic -pedantic-errors", "", ""),
        ("-ffast-math -fno-inline", "-ffast-math -fno-inline", "", ""),
        ("-fcuda-flush-denormals-to-zero", "-fcuda-flush-denormals-to-zero", "", ""),
        ("-mwavefrontsize64 -mno-cumode -mfma", "-mwavefrontsize64 -mno-cumode -mfma",
         "-mwavefrontsize64 -mno-cumode", ""),
        ("-munsafe-fp-atomics", "-munsafe-fp-atomics", "", ""),
        ("-c -g -gline-tables-only -ggdb -pthread -fgpu-rdc -fno-gpu-rdc", "", "", ""),
        ("--hip-link -nogpulib -nogpuinc -v", "", "", ""),
        ("--cuda-device-only --offload-device-only", "", "", ""),
        ("--offload-arch gfx942", "", "", "gfx942"),
        ("--offload-arch=gfx942:xnack+ -arch=gfx1100", "", "", "gfx1100"),
        ("--gpu-architecture=gfx90a", "", "", "gfx90a"),
        ("-arch gfx90a", "", "", "gfx90a"),
        ("--cuda-gpu-arch=gfx11-generic", "", "", "gfx11-generic"),
    ],
)  # fmt: skip
def test_accepted(line: str, compiler: str, assembler: str, arch: str) -> None:
    assert check(line.split()) == Accepted(tuple(compiler.split()), tuple(assembler.split()), arch)


KNOWN_SWITCHES = "it is not one of the AMD GPU switches that are known here"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("-O2 -g", "options is the single text '-O2 -g'"),
        (b"-O2", "options is the single text"),
        (["-DA=\0"], "a line break or a null character"),
        (["-DA=\n"], "a line break or a null character"),
        *(([word], "it needs a value after it") for word in
          ("-D", "-U", "-std", "--std", "--gpu-architecture", "--offload-arch", "-mllvm", "-arch", "--define-macro",
           "--undefine-macro")),
        (["-mllvm", "-load=x"], "the compiler option '-mllvm -load=x' is not accepted here"),
        (["-D", "1=2"], "the compiler option '-D1=2' is not accepted here"),
        (["-std=c11"], "it is not known here"),
        (["-use_fast_math"], "that is nvcc's spelling"),
        (["--use_fast_math"], "that is nvcc's spelling"),
        (["@file"], "it would read options from a file"),
        *(([word], "without access to files") for word in
          ("-Ix", "-isystemx", "-iquotex", "-includex", "-imacrosx", "-idirafterx", "--include=x")),
        *(([word], "it would write a file") for word in
          ("-ox", "--output=x", "-MD", "-MM", "-MF", "-M", "-save-temps", "--save-temps")),
        *(([word], "the compiler's internals or files") for word in
          ("-Xclang", "-load", "-fplugin=x", "-fpass-plugin=x", "-mlink-x", "-cc1", "-Bx", "--sysroot=x", "-Lx",
           "-lm")),
        *(([word], "it passes options to other programs") for word in ("-Wp", "-W", )),
        *(([word], "it is not known here") for word in ("-Wl,-s", "-Wa,x", "-Wp,x", "--what", "-", "-z")),
        *(([word], "it reads or writes files, or changes what gpulab must read") for word in
          ("-fmodules", "-fprofile-use=x", "-fsanitize=address", "-fdiagnostics-format=x", "-fcuda-rdc", "-flto")),
        *(([word], KNOWN_SWITCHES) for word in ("-mavx", "-march=native", "-m64", "-mno-sse")),
        (["a.hip"], "it looks like a file name"),
        (["--offload-arch=sm_80"], "'sm_80' is not the name of an AMD GPU architecture"),
    ],
)  # fmt: skip
def test_refused(options: list[str], said: str) -> None:
    with pytest.raises(GpulabError) as raised:
        check(options)
    assert said in str(raised.value)


def test_an_option_is_refused_with_a_way_out() -> None:
    with pytest.raises(GpulabError, match=r"-ffast-math$"):
        check(["-use_fast_math"])
    with pytest.raises(GpulabError, match="accepted are -O0"):
        check(["--what"])


@pytest.mark.parametrize(
    "name",
    ["gfx942", "gfx90a", "gfx1100", "gfx942:sramecc+:xnack-", "gfx9-generic", "gfx9-4-generic", "gfx11-generic"],
)
def test_names_of_architectures(name: str) -> None:
    assert check_arch(name) == name


@pytest.mark.parametrize("name", ["", "gfx", "gfx9", "gfx94", "GFX942", "gfx942 ", "gfx942:xnack", "sm_80", None, 942])
def test_what_is_no_architecture(name: object) -> None:
    with pytest.raises(GpulabError, match="is not the name of an AMD GPU architecture"):
        check_arch(name)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("option", "gpu", "assembler"),
    [
        ("-mcumode", True, True),
        ("-mno-wavefrontsize64", True, True),
        ("-munsafe-fp-atomics", True, False),
        ("-mfma", False, False),
        ("-mno-fma", False, False),
        ("-mrecip=all", False, False),
        ("-mavx", False, False),
        ("-O3", False, False),
    ],
)
def test_which_options_are_for_gpus_and_for_the_assembler(option: str, gpu: bool, assembler: bool) -> None:
    assert is_for_gpu(option) is gpu
    assert for_assembler(["-O2", option, "-Wall"]) == ((option,) if assembler else ())
