"""Small host libraries in gpulab's own words that programs may link: OpenMP's runtime, MPI of one rank, ROCTX.

Each is a C++ file in host_libraries/, compiled on first use and kept in the cache. `of_library` says which one
-l names.
"""

from __future__ import annotations

from pathlib import Path

from gpulab.toolchain import hosted

FOLDER = Path(__file__).parent / "host_libraries"
OPENMP, MPI, ROCTX = "openmp", "mpi", "roctx"
#: By what follows -l: LLVM's, GNU's and Intel's names of OpenMP's runtime, those of MPI's implementations, ROCTX's two.
_NAMES = {
    "omp": OPENMP, "gomp": OPENMP, "iomp5": OPENMP, "omp5": OPENMP, "mpi": MPI, "mpi_cxx": MPI, "mpich": MPI,
    "mpicxx": MPI, "mpichcxx": MPI, "roctx64": ROCTX, "rocprofiler-sdk-roctx": ROCTX,
}  # fmt: skip


def of_library(name: str) -> str:
    """The library that -lNAME means, or ""."""
    return _NAMES.get(name, "")


def compiled(name: str, setting: hosted.Hosted) -> bytes:
    """The object file of one of them."""
    return hosted.compile_launcher(FOLDER / f"{name}.cpp", {}, setting)
