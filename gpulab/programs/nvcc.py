"""nvcc's options, as Makefiles of CUDA programs have them: what each is here.

`meaning(word)` gives why an option is refused and what to write; None for every other word. `library(name)` does so
for the libraries of CUDA. docs/porting.md has the table.
"""

from __future__ import annotations

import re

_NVCC = "it is nvcc's."
_AWAY = "leave it away"

#: Option, what to do instead.
OPTIONS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), hint)
    for pattern, hint in (
        (r"--?(gencode|generate-code|gpu-code|code)(=.*)?", "--offload-arch=gfx942 names a GPU of AMD's."),
        (r"--?(rdc|relocatable-device-code)=true", "-fgpu-rdc, for all files and for the program."),
        (r"--?(rdc|relocatable-device-code)=false|-ewp|--extensible-whole-program", f"{_AWAY}."),
        (r"--?(dlink|device-link|dlto)", f"{_AWAY}: the command that links the program does it (-fgpu-rdc)."),
        (r"-G|--device-debug", f"{_AWAY}; the lines of kernels are always known, -g keeps the host's."),
        (r"-lineinfo|--generate-line-info", f"{_AWAY}: the lines of kernels are always known."),
        (r"--?fmad=false", "-ffp-contract=off."),
        (r"--?(fmad=true|ftz=.*|prec-div=.*|prec-sqrt=.*)", f"{_AWAY}."),
        (r"--?(maxrregcount|maxrregcount=.*)", "__launch_bounds__(threads) at the kernel."),
        (r"-Xptxas(=.*)?|--ptxas-options(=.*)?|-Xnvlink(=.*)?|-Xfatbin(=.*)?|-Xcudafe(=.*)?",
         f"{_AWAY}: it is for another program of CUDA's. The line that a %%hip cell prints has a kernel's registers."),
        (r"-ccbin(=.*)?|--compiler-bindir(=.*)?|-allow-unsupported-compiler", f"{_AWAY}: one compiler does both."),
        (r"--compiler-options(=.*)?", "write the options themselves, without it."),
        (r"--linker-options(=.*)?", "-Wl,OPTION."),
        (r"--?(expt-relaxed-constexpr|expt-extended-lambda|extended-lambda)", f"{_AWAY}: it is always on."),
        (r"--?default-stream(=.*)?", "-fgpu-default-stream=per-thread, or leave it away for the usual one."),
        (r"--?(cudart|cudadevrt)(=.*)?", f"{_AWAY}: HIP's library comes by itself."),
        (r"--?(ptx|cubin|fatbin)", "--genco -o FILE gives the devices' code, -S --cuda-device-only its assembly."),
        (r"--?(source-in-ptx|restrict|keep|dryrun|forward-unknown-.*|disable-warnings)", f"{_AWAY}."),
    )
)  # fmt: skip

#: Libraries of CUDA's, and those that programs for HIP link in their place; "" for none.
LIBRARIES = {
    "cudart": "", "cudart_static": "", "cuda": "", "cudadevrt": "", "culibos": "", "nvrtc": "hiprtc",
    "cublas": "hipblas", "cublas_static": "hipblas", "curand": "hiprand", "curand_static": "hiprand",
    "nvToolsExt": "roctx64",
}  # fmt: skip
_WITHOUT = re.compile(r"(cu(blasLt|fft\w*|sparse|solver|dnn\w*|tensor)|nccl|npp\w*|nv\w+)(_static)?")


def meaning(word: str) -> tuple[str, str] | None:
    """Why a word is refused that is an option of nvcc's, and what to write; None for every other word."""
    return next(((_NVCC, hint) for pattern, hint in OPTIONS if pattern.fullmatch(word)), None)


def library(name: str) -> tuple[str, str] | None:
    """Why a library of CUDA's is refused, and what to write; None for every other name."""
    if name in LIBRARIES:
        here = LIBRARIES[name]
        return "it is one of CUDA's libraries.", f"-l{here}." if here else f"{_AWAY}: HIP's library comes by itself."
    if _WITHOUT.fullmatch(name):
        return (
            "it is one of CUDA's libraries, and gpulab has none in its place.",
            "write the kernel yourself, or build the program with ROCm on a machine with an AMD GPU.",
        )
    return None
