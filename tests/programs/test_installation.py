"""The folder in the place of a ROCm: its commands, and projects whose Makefiles and CMake files do not know gpulab."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gpulab import cli
from gpulab.programs import installation, tools
from gpulab.toolchain import hosted
from tests.programs.test_command import FILES, SAID

pytestmark = pytest.mark.skipif(bool(hosted.unavailable()), reason=hosted.unavailable() or "programs can be built")
needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
needs_cmake = pytest.mark.skipif(shutil.which("cmake") is None, reason="needs cmake")

MAKEFILE = r"""
HIP_PATH ?= $(shell hipconfig --path)
HIPCC    := $(HIP_PATH)/bin/hipcc
CXXFLAGS := -O2 -std=c++17 -Wall -Iinclude $(shell hipconfig --cpp_config)
LDFLAGS  := -L$(HIP_PATH)/lib -lamdhip64
SRC := $(wildcard src/*.cpp) $(wildcard src/*.hip)
OBJ := $(addprefix build/,$(addsuffix .o,$(notdir $(basename $(SRC))))) build/tool.o

app: $(OBJ)
	$(HIPCC) $(OBJ) -o $@ $(LDFLAGS) -lm
build/%.o: src/%.cpp | build
	$(HIPCC) $(CXXFLAGS) -MMD -MP -c $< -o $@
build/%.o: src/%.hip | build
	$(HIPCC) $(CXXFLAGS) -MMD -MP -c $< -o $@
build/tool.o: src/tool.c | build
	$(CC) -O2 -Wall -c $< -o $@
build:
	mkdir -p $@
-include $(OBJ:.o=.d)
"""

LANGUAGE = """
cmake_minimum_required(VERSION 3.21)
project(demo LANGUAGES C CXX HIP)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_HIP_STANDARD 17)
find_package(hip REQUIRED)
add_library(kernels STATIC src/kernels.hip src/other.cpp)
set_source_files_properties(src/other.cpp PROPERTIES LANGUAGE HIP)
target_include_directories(kernels PUBLIC include)
add_executable(app src/main.cpp src/tool.c)
target_link_libraries(app PRIVATE kernels hip::host m)
"""

PACKAGE = """
cmake_minimum_required(VERSION 3.16)
project(demo LANGUAGES C CXX)
list(APPEND CMAKE_MODULE_PATH "$ENV{ROCM_PATH}/lib/cmake/hip")
find_package(HIP MODULE REQUIRED)  # as older projects do
if(NOT HIP_VERSION VERSION_GREATER_EQUAL 6.0 OR NOT HIP_VERSION_MAJOR)
  message(FATAL_ERROR "HIP_VERSION is '${HIP_VERSION}'")
endif()
set(HIP_HIPCC_FLAGS "${HIP_HIPCC_FLAGS} -O2 -DTWO=2")
find_package(hiprtc REQUIRED)
find_library(ROCTX roctx64 PATHS $ENV{ROCM_PATH}/lib)
find_library(HIP_LIBRARY amdhip64 PATHS $ENV{ROCM_PATH}/lib)
find_package(hip 6.0 REQUIRED)
find_package(hipblas REQUIRED)
find_package(rocblas REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED)
hip_add_library(kernels SHARED src/kernels.hip src/other.cpp)
target_include_directories(kernels PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/include)
add_executable(app src/main.cpp src/tool.c)
target_link_libraries(app PRIVATE kernels hip::device hiprtc::hiprtc Threads::Threads OpenMP::OpenMP_CXX m)
target_link_libraries(app PRIVATE ${ROCTX} ${HIP_LIBRARY} roc::hipblas roc::rocblas)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "include").mkdir()
    for name, text in FILES.items():
        (tmp_path / ("include" if name.endswith(".h") else "src") / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    installation.install()
    return tmp_path


def done(*words: str, code: int = 0) -> str:
    environment = {**os.environ, **installation.environment(), "GPULAB_DEVICES": "gfx942", "GPULAB_LIBRARY": "virtual"}
    for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
        environment.pop(name, None)
    found = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=600)
    assert found.returncode == code, found.stdout + found.stderr
    return found.stdout


@needs_make
def test_project_with_a_makefile(project: Path) -> None:
    (project / "Makefile").write_text(MAKEFILE)
    done("make", "-j3")
    assert done("./app") == SAID
    assert "Nothing to be done" in done("make", "app") or "up to date" in done("make", "app")
    os.utime(project / "include" / "kernels.h")
    planned = done("make", "-n")
    assert all(name in planned for name in ("src/main.cpp", "src/kernels.hip", "src/other.cpp"))
    assert "tool.c" not in planned


@pytest.mark.full
def test_cxx_compilers_take_calls_of_libraries_whose_kernels_are_in_headers(project: Path) -> None:
    """With ROCm such a source is C++ for the host alone."""
    (project / "calls.h").write_text("#include <hipblas/hipblas.h>\n")
    (project / "calls.cpp").write_text(
        '#include "calls.h"\n#include <cstdio>\nint main() {\n  hipblasHandle_t h;\n  float x[2] = {3, 4}, *d, r = 0;\n'
        "  if (hipblasCreate(&h) != HIPBLAS_STATUS_SUCCESS || hipMalloc((void**)&d, 8) != hipSuccess) return 1;\n"
        "  hipblasSetVector(2, 4, x, 1, d, 1);\n  hipblasSnrm2(h, 2, d, 1, &r);\n"
        '  std::printf("%g\\n", r);\n  hipblasDestroy(h);\n}\n'
    )
    done("amdclang++", "-c", "calls.cpp", "-o", "calls.o")
    done("g++", "calls.o", "-lhipblas", "-o", "calls")
    assert done("./calls") == "5\n"


@needs_cmake
def test_project_with_hip_as_a_language(project: Path) -> None:
    (project / "CMakeLists.txt").write_text(LANGUAGE)
    done("cmake", "-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_HIP_ARCHITECTURES=gfx942")
    done("cmake", "--build", "build")
    assert done("build/app") == SAID


@needs_cmake
def test_project_with_the_package_hip(project: Path) -> None:
    (project / "CMakeLists.txt").write_text(PACKAGE)
    done("cmake", "-S", ".", "-B", "build", "-DCMAKE_CXX_COMPILER=hipcc")
    done("cmake", "--build", "build")
    assert done("build/app") == SAID


def test_project_with_a_library_for_python(tmp_path: Path) -> None:
    installation.install()
    source = tmp_path / "twice.hip"
    source.write_text("""#include <hip/hip_runtime.h>
__global__ void twice(int* x) { x[threadIdx.x] *= 2; }
extern "C" int twice_of(int value) {
  int* x;
  if (hipMalloc(&x, 4) != hipSuccess || hipMemcpy(x, &value, 4, hipMemcpyHostToDevice) != hipSuccess) return -1;
  twice<<<1, 1>>>(x);
  return hipMemcpy(&value, x, 4, hipMemcpyDeviceToHost) == hipSuccess ? value : -2;
}
""")
    library = str(tmp_path / "libtwice.so")
    done("hipcc", "-shared", "-fPIC", str(source), "-o", library, "--offload-arch=gfx942")
    script = f"import ctypes; print(ctypes.CDLL({library!r}).twice_of(21))"
    assert done(sys.executable, "-c", script) == "42\n"
    assert done(sys.executable, "-c", f"import gpulab; {script}") == "42\n"


def test_variables_for_a_shell(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PATH", "/usr/bin")
    monkeypatch.setenv("CMAKE_PREFIX_PATH", "/opt/mine")
    assert cli.main(["env"]) == 0
    folder = str(installation.root())
    lines = capsys.readouterr().out.splitlines()
    assert f"export ROCM_PATH={folder}" in lines
    assert f"export HIP_PATH={folder}" in lines
    assert f"export PATH={folder}/bin:{folder}/host/bin:/usr/bin" in lines
    assert f"export CMAKE_PREFIX_PATH={folder}:/opt/mine" in lines
    for name in (*installation.COMMANDS, *(f"../llvm/bin/{name}" for name in installation.LLVM)):
        assert os.access(Path(folder, "bin", name), os.X_OK), name
    assert Path(folder, "include", "hip", "hip_runtime.h").is_file()
    assert Path(folder, "lib", "libamdhip64.so").is_file()


def test_a_folder_that_is_right_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    command = installation.install() / "bin" / "hipcc"
    before = command.stat().st_mtime_ns
    installation.install()
    assert command.stat().st_mtime_ns == before
    command.write_text("damaged")
    installation.install()
    assert command.read_text().startswith("#!/bin/sh\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("hipconfig --path", "{root}"),
        ("hipconfig -p -n", "{root}\n"),
        ("hipconfig --rocmpath", "{root}"),
        ("hipconfig --cpp_config", " -D__HIP_PLATFORM_AMD__= -I{root}/include"),
        ("hipconfig --platform", "amd"),
        ("hipconfig --compiler", "clang"),
        ("hipconfig --hipclangpath", "{root}/llvm/bin"),
        ("hipconfig --runtime", "rocclr"),
    ],
)
def test_hipconfig(capsys: pytest.CaptureFixture[str], words: str, said: str) -> None:
    assert tools.main(words.split()) == 0
    assert capsys.readouterr().out == said.format(root=installation.root())


def test_questions(capsys: pytest.CaptureFixture[str]) -> None:
    assert tools.main(["hipconfig", "--full"]) == 0
    assert "HIP_PLATFORM : amd" in capsys.readouterr().out
    assert tools.main(["hipconfig", "--what"]) == 1
    assert "hipconfig has no option '--what'" in capsys.readouterr().err
    assert tools.main(["rocm_agent_enumerator"]) == 0
    assert capsys.readouterr().out.split()[:2] == ["gfx000", "gfx942"]
    assert tools.main(["rocm_agent_enumerator", "-t", "GPU"]) == 0
    assert capsys.readouterr().out.split()[:2] == ["gfx942", "gfx1100"]
    assert tools.main(["offload-arch"]) == 0
    assert "gfx942" in capsys.readouterr().out.split()
    assert tools.main(["rocminfo"]) == 0
    assert "  Name:                    gfx942\n" in capsys.readouterr().out
