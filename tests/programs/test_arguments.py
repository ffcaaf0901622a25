"""hipcc's command line as a driver understands it, word by word."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from gpulab.errors import GpulabError
from gpulab.programs import arguments, nvcc, options
from gpulab.programs.arguments import Command, Dependencies, Input

HERE = Path.cwd()
BASE = Command()


def path(name: str) -> str:
    return str(HERE / name)


@pytest.mark.parametrize(
    ("line", "changes"),
    [
        ("", {}),
        ("a.hip b.cpp c.cc d.cxx e.cu f.c g.s h.S i.C",
         {"items": tuple(Input(f"{n}", kind) for n, kind in (
             ("a.hip", "hip"), ("b.cpp", "hip"), ("c.cc", "hip"), ("d.cxx", "hip"), ("e.cu", "hip"), ("f.c", "c"),
             ("g.s", "assembler"), ("h.S", "assembler-with-cpp"), ("i.C", "hip")))}),
        ("a.o b.a c.so d.so.1.2 e.obj",
         {"items": tuple(Input(n, "object") for n in ("a.o", "b.a", "c.so", "d.so.1.2", "e.obj"))}),
        ("-x c++ a.cpp -x none b.cpp -xhip c.txt",
         {"items": (Input("a.cpp", "c++"), Input("b.cpp", "hip"), Input("c.txt", "hip"))}),
        ("-c", {"step": "compile"}), ("-E", {"step": "preprocess"}), ("-S", {"step": "assembly"}),
        ("-fsyntax-only", {"step": "check"}), ("-dc", {"step": "compile", "rdc": True}),
        ("-M -MF f", {"step": "depend", "depends": Dependencies("MD", "f")}),
        ("-MM", {"step": "depend", "depends": Dependencies("MMD")}),
        ("-MMD -MP -MF f -MT a -MTb -MQ c$", {"depends": Dependencies("MMD", "f", ("a", "b", "c$$"), True)}),
        ("-MD", {"depends": Dependencies("MD")}),
        ("-shared", {"kind": "shared"}), ("-r", {"kind": "relocatable"}), ("--emit-static-lib", {"kind": "archive"}),
        ("-fgpu-rdc", {"rdc": True}), ("-fgpu-rdc -fno-gpu-rdc", {}),
        ("--genco", {"genco": True, "side": "device", "step": "compile"}),
        ("--cuda-host-only", {"side": "host"}), ("--offload-host-only", {"side": "host"}),
        ("--cuda-device-only", {"side": "device"}), ("--offload-device-only", {"side": "device"}),
        ("-o x", {"output": "x"}), ("-ox", {"output": "x"}),
        ("--offload-arch=gfx942,gfx90a --offload-arch gfx942", {"archs": ("gfx942", "gfx90a")}),
        ("--amdgpu-target=gfx1030", {"archs": ("gfx1030",)}), ("-amdgpu-target=gfx1030", {"archs": ("gfx1030",)}),
        ("-mcpu=gfx90a", {"archs": ("gfx90a",)}), ("-mcode-object-version=5", {}),
        ("-arch=gfx906", {"archs": ("gfx906",)}),
        ("-O3 -std=c++20 -std c++17 -DN=4 -D M -UK -Wextra -ffast-math -funroll-loops",
         {"common": ("-O3", "-std=c++20", "-std=c++17", "-DN=4", "-DM", "-UK", "-Wextra", "-ffast-math",
                     "-funroll-loops")}),
        ("-D__HIP_PLATFORM_AMD__= -D __HIP_PLATFORM_AMD__=1", {}),
        ("-D __HIP_PLATFORM_HCC__=1", {"common": ("-D__HIP_PLATFORM_HCC__=1",)}),
        ("-O -use_fast_math", {"common": ("-O1", "-ffast-math")}),
        ("-Werror", {"common": ("-Wno-all", "-Werror")}), ("-Wall -Werror", {"common": ("-Wall", "-Werror")}),
        ("-march=native -mavx2 -mfma -pthread -fvisibility=hidden -Xarch_host -fno-math-errno",
         {"host": ("-march=native", "-mavx2", "-mfma", "-pthread", "-fvisibility=hidden", "-fno-math-errno")}),
        ("-munsafe-fp-atomics -mcumode -Xarch_device -O1", {"device": ("-munsafe-fp-atomics", "-mcumode", "-O1")}),
        ("-mllvm -amdgpu-early-inline-all=true", {"device": ("-mllvm", "-amdgpu-early-inline-all=true")}),
        ("-mllvm -unroll-count=4 -Xclang -fno-x", {"common": ("-mllvm", "-unroll-count=4", "-Xclang", "-fno-x")}),
        ("-Xcompiler -fopenmp -Xcompiler=-O2,-g",
         {"openmp": True, "debug": True, "host": ("-g", "-fopenmp"), "common": ("-O2",)}),
        ("-fopenmp -fno-openmp", {}),
        ("-I x -Iy -isystem z -iquote q -include absent.h",
         {"include": (path("x"), path("y"), path("z")), "quoted": (path("q"),), "before": ("absent.h",)}),
        ("-Lx -L y -lfoo -l bar -Wl,-rpath,z -Wl,--as-needed -Xlinker -s",
         {"search": (path("x"), path("y")), "items": ("-lfoo", "-lbar", "-rpath", "z", "--as-needed", "-s")}),
        ("-v -### --save-temps", {"tells": True, "only_tells": True, "saves": True}),
        ("-fPIC -fPIE -pie -no-pie --hip-link --rocm-path=/opt/rocm --rocm-path x -fuse-ld=lld -flto -pipe -m64 "
         "-fcolor-diagnostics -static-libstdc++ -static-libgcc --offload-new-driver -rdynamic -stdlib=libc++", {}),
    ],
)  # fmt: skip
def test_what_words_become(line: str, changes: dict[str, object]) -> None:
    assert arguments.read(line.split()) == replace(BASE, **changes)  # type: ignore[arg-type]


def test_a_cpp_file_is_cpp_for_a_cpp_compiler() -> None:
    found = arguments.read(["a.cpp", "b.hip", "c.c", "d.cu"], plain=True)
    assert [one.language for one in found.inputs] == ["c++", "hip", "c", "hip"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        *((word, "it needs a value after it") for word in ("-o", "-I", "-D", "-l", "-MF", "-Xclang", "--offload-arch")),
        ("-fsanitize=address", "the sanitizers' libraries are not here"),
        ("-static", "loads HIP's library when it starts"),
        ("-pg", "the library for it is not here"),
        ("--hipstdpar", "parallel algorithms of C++"),
        ("-emit-llvm -c", "of devices alone"),
        ("-m32", "64-bit system"),
        ("--target=aarch64-linux-gnu", "for this machine and AMD's GPUs"),
        ("-target x", "for this machine"),
        ("-fopenmp-targets=amdgcn", "OpenMP runs on the host alone"),
        ("-x fortran", "languages are hip, c++, c"),
        ("-MG", "headers that are missing are errors"),
        ("absent.xyz", "absent.xyz cannot be read: No such file"),
        ("--offload-arch=sm_80", "not the name of an AMD GPU architecture"),
        ("-gencode arch=compute_70,code=sm_70", "Try: --offload-arch=gfx942"),
        ("--generate-code=arch=compute_70,code=sm_70", "Try: --offload-arch=gfx942"),
        ("-rdc=true", "Try: -fgpu-rdc"),
        ("-fmad=false", "Try: -ffp-contract=off"),
        ("-lineinfo", "the lines of kernels are always known"),
        ("-G", "Try: leave it away"),
        ("-ccbin g++", "Try: leave it away"),
        ("-Xptxas -v", "Try: leave it away"),
        ("-maxrregcount=32", "__launch_bounds__"),
        ("--expt-extended-lambda", "it is always on"),
        ("-ptx", "--genco"),
        ("-L/usr/local/cuda/lib64 -lcudart", "HIP's library comes by itself"),
        ("-l cublas", "Try: -lhipblas"),
        ("@absent.rsp", "the file of options absent.rsp cannot be read"),
    ],
)
def test_what_is_refused(line: str, said: str) -> None:
    with pytest.raises(GpulabError) as raised:
        arguments.read(line.split())
    assert said in str(raised.value)


def test_files_of_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.rsp").write_text("-DA='x y' @two.rsp\nlast.o")
    (tmp_path / "two.rsp").write_text("-c\n")
    assert arguments.expanded(["first.o", "@one.rsp"]) == ["first.o", "-DA=x y", "-c", "last.o"]
    (tmp_path / "self.rsp").write_text("@self.rsp")
    with pytest.raises(GpulabError, match="is named by itself"):
        arguments.expanded(["@self.rsp"])
    (tmp_path / "odd.rsp").write_text("'")
    with pytest.raises(GpulabError, match="cannot be understood"):
        arguments.expanded(["@odd.rsp"])
    (tmp_path / "notes.txt").write_text("text")
    with pytest.raises(GpulabError, match="it is no source file"):
        arguments.read(["notes.txt"])
    (tmp_path / "object").write_bytes(b"\x7fELF1234")
    assert arguments.read(["object"]).inputs == (Input("object", "object"),)
    (tmp_path / "rocm" / "hip").mkdir(parents=True)
    (tmp_path / "rocm" / "hip" / "hip_runtime.h").write_text("")
    assert arguments.read(["-Irocm"]).include == ()


def test_a_library_of_rocm_written_out() -> None:
    """A folder in /opt/rocm that is not there means gpulab's headers of that library; of others it stays as it is."""
    for folder in (
        "/opt/rocm/include/hiprand",
        "/opt/rocm-4.5.0/hiprand/include",
        "/opt/rocm/hiprand/include/hiprand/",
    ):
        (found,) = arguments.read([f"-I{folder}"]).include
        assert Path(found, "hiprand_kernel.h").is_file(), folder
    for folder in ("/opt/rocm/include/nothing", "/opt/rocm/include", "/opt/other/include/hiprand"):
        assert arguments.read(["-isystem", folder]).include == (folder,)


@pytest.mark.parametrize(
    ("name", "said"),
    [("cudart", "leave it away"), ("cublas", "-lhipblas"), ("curand", "-lhiprand"), ("cusolver", "none in its place")],
)
def test_libraries_of_cuda(name: str, said: str) -> None:
    with pytest.raises(GpulabError, match="one of CUDA's libraries") as raised:
        options.library(f"-l{name}")
    assert said in str(raised.value)


def test_the_table_of_nvccs_options_in_the_text_is_right() -> None:
    """What docs/porting.md says of an option is what the message says, and hipcc takes what it names."""
    text = (Path(__file__).parents[2] / "docs" / "porting.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`-.*?) \| (.*?) \|$", text.partition("## The Makefile")[2], re.MULTILINE)
    assert len(rows) >= 8
    for theirs, ours in rows:
        for word in re.findall(r"`(-[^` ]+)", theirs.replace("...", "x")):
            if not word.startswith(("-l", "-arch=", "-dc")):
                assert nvcc.meaning(word), word
        for line in re.findall(r"`(-[^`]+)`", ours):
            if not line.startswith("-l"):
                arguments.read(line.split())
