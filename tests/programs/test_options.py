"""hipcc's command line, option by option: what each becomes, and what is said of those that are refused."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from gpulab import providers
from gpulab.errors import GpulabError
from gpulab.programs import options
from gpulab.toolchain.code_object import AMDGPU

BASE = {
    "sources": (), "output": "", "archs": ("gfx942",), "common": (), "host": (), "include": (), "libraries": (),
    "debug": False,
}  # fmt: skip
HERE = Path("x").absolute()


@pytest.mark.parametrize(
    ("line", "changes"),
    [
        ("", {}),
        ("a.hip b.cpp", {"sources": ("a.hip", "b.cpp")}),
        ("-o a", {"output": "a"}),
        ("-oa", {"output": "a"}),
        ("-x hip", {}),
        ("-x c++", {}),
        ("-x cu", {}),
        ("-I x -Ix", {"include": (str(HERE), str(HERE))}),
        ("-isystem x -isystemx", {"include": (str(HERE), str(HERE))}),
        ("-D N=4 -DM -U K", {"common": ("-DN=4", "-DM", "-UK")}),
        ("-std c++20", {"common": ("-std=c++20",)}),
        ("-std=c++17", {"common": ("-std=c++17",)}),
        ("-O", {"common": ("-O1",)}),
        ("-O2 -Ofast", {"common": ("-O2", "-Ofast")}),
        *((debug, {"debug": True, "host": ("-g",)}) for debug in ("-g", "-ggdb", "-g2", "-g3")),
        ("-l m -lpthread -lstdc++ -ldl -lrt -lc -lc++ -lgcc_s -lnuma -ltbb -lhsa-runtime64 -lroctracer64", {}),
        ("-lhiprand -lrocrand -lhipblas -lrocblas", {}),
        ("-lroctx64 -lmpi -lroctx64", {"own": ("roctx", "mpi")}),
        ("-lamdhip64 -l amdhip64 -lhiprtc", {"libraries": ("amdhip64", "hiprtc")}),
        ("-L x -Lx -pthread --hip-link", {}),
        ("-fPIE -fpie -fpic -fPIC -pie -no-pie -fno-pie -fno-PIE", {}),
        ("--rocm-path=/opt/rocm --hip-path=/opt", {}),
        ("--offload-arch gfx90a", {"archs": ("gfx90a",)}),
        ("--offload-arch=gfx90a,,gfx1100 --amdgpu-target=gfx90a", {"archs": ("gfx90a", "gfx1100")}),
        ("--gpu-architecture=gfx1030", {"archs": ("gfx1030",)}),
        ("-amdgpu-target=gfx90a", {"archs": ("gfx90a",)}),
        ("-fopenmp -fopenmp", {"own": ("openmp",), "host": ("-fopenmp",), "common": ("-Wno-source-uses-openmp",)}),
        ("-Wall -w", {"common": ("-Wall", "-w")}),
    ],
)
def test_what_options_become(line: str, changes: dict[str, object]) -> None:
    assert options.parse(line.split(), ("gfx942",)) == options.Options(**{**BASE, **changes})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        *(([word], "it needs a value after it") for word in
          ("-o", "-I", "-isystem", "-D", "-U", "-l", "-L", "-x", "-std", "--offload-arch", "-include")),
        (["-x", "c"], "option '-x c' is not accepted here"),
        (["-include", "a.h"], "headers are included by the source"),
        (["a.py"], "it is no source file of a program (.cu, .hip, .cpp"),
        (["-march=native"], "programs are built for every machine of this kind"),
        (["-mtune=native"], "programs are built for every machine of this kind"),
        (["-march=skylake"], "programs are built for every machine of this kind"),
        *(([word], "a program is built from one source in one step") for word in
          ("-c", "-S", "-E", "-shared", "-r", "--genco", "-fgpu-rdc", "-dc")),
        *(([word], "it is the linker's") for word in ("-Wl,-s", "-Xlinker", "-rpath")),
        (["--hipstdpar-path=x"], "parallel algorithms of C++"),
        *(([word], "for the host and its devices in one step") for word in options._ONE_PASS),
        (["-fsanitize=address"], "the sanitizers' libraries are not here"),
        (["-lrocfft"], "rocFFT is one of ROCm's libraries"),
        (["-lmiopen"], "there is no library miopen here"),
        (["-lMIOpen"], "MIOpen is one of ROCm's libraries"),
        (["-lROCFFT"], "rocFFT is one of ROCm's libraries"),
        (["-l", "foo"], "there is no library foo here; beside those of C and C++ there are -lamdhip64"),
        ("-O2 -g", "options is the single text '-O2 -g'"),
        (b"-O2", "options is the single text b'-O2'"),
        (["--offload-arch=,"], "no architecture to build for"),
    ],
)  # fmt: skip
def test_what_is_refused(words: list[str], said: str) -> None:
    with pytest.raises(GpulabError) as raised:
        options.parse(words, ())
    assert said in str(raised.value)
    if isinstance(words, str):
        assert "options=('-O2', '-g')" in str(raised.value)


def test_native_is_what_runs_amds_code_here(monkeypatch: pytest.MonkeyPatch) -> None:
    here = [SimpleNamespace(index=n, arch=arch) for n, arch in enumerate(("gfx942", "toy1", "gfx1100", "gfx942"))]
    formats = ({AMDGPU}, set(), {AMDGPU}, {AMDGPU})
    monkeypatch.setattr(providers, "devices", lambda: here)
    monkeypatch.setattr(providers, "of", lambda index: SimpleNamespace(formats=formats[index]))
    assert options.parse(["--offload-arch=native,gfx90a,gfx942"]).archs == ("gfx942", "gfx1100", "gfx90a")
