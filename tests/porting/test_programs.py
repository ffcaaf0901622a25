"""CUDA programs of many kinds (tests/porting/cuda, written for this): translated, reported on, built, and run.

``//! kind`` at the end of a line of a program says what the report has to say of that line. A program whose report
names traps is mended by the changes in MENDED, which are what the report advises, before it is built.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import gpulab
from gpulab import porting, programs, toolchain
from gpulab.porting.structure import CppSource
from gpulab.porting.tokens import BLANK, scan
from gpulab.toolchain import hosted

FOLDER = Path(__file__).parent / "cuda"
NAMES = sorted(path.stem for path in FOLDER.glob("*.cu"))
WIDE = ("0xffffffff", "0xffffffffffffffffull")

# What the reports of these programs advise.
MENDED: dict[str, list[tuple[str, str]]] = {
    "reduction_shuffle": [
        WIDE, ("offset = 16", "offset = warpSize / 2"), ("% 32", "% warpSize"), ("/ 32", "/ warpSize"),
    ],
    "ballot_compaction": [
        ("const int WARP = 32;", "#define WARP warpSize"), ("0xffffffffu", WIDE[1]), ("(0xffffffff,", f"({WIDE[1]},"),
        ("unsigned int votes", "unsigned long long votes"), ("__popc(", "__popcll("), ("1u <<", "1ull <<"),
    ],
    "spmv_csr": [
        ("#define WARP_SIZE 32", "#define WARP_SIZE warpSize"), ("k += 32", "k += WARP_SIZE"),
        ("n * WARP_SIZE", "n * 64"), WIDE,
    ],
    "volatile_reduce": [("sdata[tid] += sdata[tid + 16];", "{ __syncthreads(); sdata[tid] += sdata[tid + 16]; }")],
    "device_query": [
        ("sparseCudaArraySupported", "sparseHipArraySupported"), ("attributes.memoryType", "attributes.type"),
    ],
    "architectures": [("  cudaCtxResetPersistingL2Cache();", "")],
    "inline_ptx": [
        ('asm volatile("mov.u32 %0, %%laneid;" : "=r"(id))', "id = __lane_id()"),
        ('asm("mov.u32 %0, %%smid;" : "=r"(id))', "id = __smid()"),
        ('asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time))', "time = wall_clock64()"),
        ('asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c))', "d = fmaf(a, b, c)"),
        ('asm volatile("membar.gl;" ::: "memory")', "__threadfence()"),
    ],
}  # fmt: skip

# These need libraries, or what gpulab's programs leave out (graphs, hiprtc), or what not every device has (textures),
# or HIP itself: their translation is compared with tests/porting/cuda/expected/NAME.hip instead.
COMPARED = (
    "fft_cufft", "sort_thrust", "sparse_libraries", "deep_learning", "nvrtc_runtime",
    "graphs", "textures", "dynamic_parallelism", "wmma", "libcu",
)  # fmt: skip
BUILT = [name for name in NAMES if name not in COMPARED]


def source(name: str) -> str:
    return (FOLDER / f"{name}.cu").read_text(encoding="utf-8")


def mended(name: str) -> str:
    text = gpulab.hipify(source(name), name=f"{name}.cu").text
    for old, new in MENDED.get(name, []):
        assert old in text, f"{name}: {old!r} is not in the translation"
        text = text.replace(old, new)
    return text


@functools.cache
def program(name: str) -> programs.Program:
    return programs.build(mended(name), name=name)


def test_each_program_is_built_or_compared() -> None:
    assert {path.stem for path in (FOLDER / "expected").glob("*.hip")} == set(COMPARED)


@pytest.mark.parametrize("name", NAMES)
def test_report(name: str) -> None:
    """Each trap is found at its line, and nothing else is."""
    lines = source(name).split("\n")
    marked = [
        (number, kind) for number, line in enumerate(lines, 1) for kind in re.findall(r"\S+", line.partition("//!")[2])
    ]
    found = gpulab.hipify(source(name), name=f"{name}.cu").notes
    assert Counter((note.line, note.kind) for note in found) == Counter(marked)
    for note in found:
        assert note.what.endswith(".")
        assert note.advice.endswith(".")
        assert lines[note.line - 1].strip().startswith(note.code[:40])
        assert 1 <= note.column <= len(lines[note.line - 1])


@pytest.mark.parametrize("name", NAMES)
def test_nothing_of_cuda_is_left_but_what_the_report_names(name: str) -> None:
    """Every name of CUDA's form that is still in the translation is one that the report speaks of."""
    found = gpulab.hipify(source(name), name=f"{name}.cu")
    spoken = {word for note in found.notes for word in re.findall(r"[A-Za-z_]\w*", note.what)}
    tokens = scan(found.text)
    left = {
        text
        for text, kind in zip(tokens.texts, tokens.kinds, strict=True)
        if kind == "name"
        and re.match(r"cuda[A-Z]|cu[A-Z][a-z]|cu(blas|fft|rand|sparse|solver|dnn)[A-Z]|CU_|CUDNN_", text)
    }
    assert left - spoken - CppSource(found.text).declared == set()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("launches", ["cuda", "hip"])
def test_again_changes_nothing(name: str, launches: str) -> None:
    once = gpulab.hipify(source(name), launches=launches).text
    again = gpulab.hipify(once, launches=launches)
    assert again.text == once
    assert not again.changes


@pytest.mark.parametrize("name", COMPARED)
def test_translation_is_the_expected_one(name: str) -> None:
    """Token by token; blanks and comments apart."""

    def parts(text: str) -> list[str]:
        tokens = scan(text)
        return [part for part, kind in zip(tokens.texts, tokens.kinds, strict=True) if kind not in BLANK]

    expected = (FOLDER / "expected" / f"{name}.hip").read_text(encoding="utf-8")
    assert parts(gpulab.hipify(source(name)).text) == parts(expected)


@pytest.mark.skipif(bool(hosted.unavailable()), reason=str(hosted.unavailable()))
@pytest.mark.parametrize("name", BUILT)
def test_builds_for_both_architectures(name: str) -> None:
    """Host and device code compile, for gfx942 and gfx1100, and are linked."""
    built = program(name)
    assert {"gfx942", "gfx1100"} <= set(built.archs)
    assert built.path.exists()


@pytest.mark.parametrize("name", ["graphs", "textures", "dynamic_parallelism"])
def test_kernels_of_what_is_not_built(name: str) -> None:
    """The kernels alone compile where only the host's part is beyond gpulab; elsewhere the compiler says so."""
    device = porting.device_part(gpulab.hipify(source(name)).text)
    for arch in ("gfx942", "gfx1100"):
        if name != "dynamic_parallelism":
            assert toolchain.compile(device, arch=arch).kernels
        else:
            with pytest.raises(gpulab.CompileError):
                toolchain.compile(device, arch=arch)


@pytest.mark.parametrize("name", ["reduction_shuffle", "ballot_compaction", "spmv_csr"])
def test_narrow_masks_do_not_compile_unmended(name: str) -> None:
    """What the report says of 32-bit masks is what the compiler says."""
    device = porting.device_part(gpulab.hipify(source(name)).text)
    with pytest.raises(gpulab.CompileError, match="64-bit"):
        toolchain.compile(device, arch="gfx942")


# ------------------------------------------------------------------------- what the programs have to print


def _bfs() -> str:
    n = 300
    edges = [[u for u in (2 * v + 1, 2 * v + 2, v // 3) if u < n] for v in range(n)]
    depth, front, rounds = {0: 0}, [0], 0
    while True:
        rounds += 1
        front = [u for v in front for u in edges[v] if u not in depth and not depth.update({u: rounds})]
        if not front:
            return f"{rounds} {depth[n - 1]}\n"


def _life() -> str:
    board = np.zeros((17, 33), int)
    for y, x in ((1, 2), (2, 3), (3, 1), (3, 2), (3, 3), (10, 20), (10, 21), (10, 22)):
        board[y, x] = 1
    for _ in range(9):
        around = sum(np.roll(board, (dy, dx), (0, 1)) for dy in (-1, 0, 1) for dx in (-1, 0, 1)) - board
        board = ((around == 3) | ((around == 2) & (board == 1))).astype(int)
    return f"{board.sum()} {np.flatnonzero(board).sum()}\n"


def _heat() -> str:
    plate = np.zeros((24, 40))
    plate[12, 20], plate[0, 0] = 1000, 500
    for _ in range(20):
        p = np.pad(plate, 1, mode="edge")
        plate = plate + 0.125 * (p[1:-1, :-2] + p[1:-1, 2:] + p[:-2, 1:-1] + p[2:, 1:-1] - 4 * plate)
    return f"{plate.sum():.3f} {plate[12, 20]:.4f} {plate[0, 0]:.4f}\n"


def _nbody() -> str:
    i = np.arange(128)
    where = np.stack([i % 5, i % 7, i % 11], 1).astype(float)
    away = where[None] - where[:, None]
    force = (away * ((1 + i % 3)[None, :, None] / ((away**2).sum(2) + 0.01)[..., None] ** 1.5)).sum(1)
    return f"{force[0, 0]:.4f} {force[64, 1]:.4f} {force[127, 2]:.4f}\n"


def _mandelbrot() -> str:
    x, y = np.meshgrid(np.arange(48), np.arange(32))
    c = (-2.0 + 3.0 * x / 48) + 1j * (-1.0 + 2.0 * y / 32)
    z, steps = np.zeros_like(c), np.zeros(c.shape, int)
    for _ in range(50):
        inside = abs(z) < 2
        steps += inside
        z = np.where(inside, z * z + c, z)
    return f"{steps.sum()} {(steps == 50).sum()}\n"


def _kmeans() -> str:
    i = np.arange(400)
    points = np.stack([(i % 4) * 10 + i % 3, (i % 4 // 2) * 20 + i % 5], 1).astype(float)
    centres = points[:4]
    for _ in range(3):
        owner = ((points[:, None] - centres[None]) ** 2).sum(2).argmin(1)
        centres = np.array([points[owner == k].mean(0) for k in range(4)])
    return "".join(f"{x:.3f} {y:.3f} {(owner == k).sum()}\n" for k, (x, y) in enumerate(centres))


def _spmv() -> str:
    i, j = np.meshgrid(np.arange(60), np.arange(60), indexing="ij")
    matrix = np.where((i * j + i) % 3 == 0, 1.0 + (i + j) % 5, 0)
    y = matrix @ (1.0 + np.arange(60) % 4)
    return f"{y.sum():g} {y[1]:g} {y[59]:g}\n"


def _saxpy() -> str:
    i = np.arange(3000)
    return f"{(2 * (i % 13) + i % 7).sum():.1f} {(0.5 * (i % 13) + i % 7).sum():.1f}\n"


def _matmul() -> str:
    i = np.arange(2500)
    c = (i % 9 - 4).reshape(50, 50) @ (i % 5 - 2).reshape(50, 50)
    return f"{c.sum()} {c[17, 31]}\n"


def _compaction() -> str:
    kept = np.sort([v for v in (np.arange(1000) * 37) % 101 - 50 if v > 0])
    return f"{len(kept)} {kept[0]} {kept[len(kept) // 2]} {kept[-1]}\n"


def _polynomial() -> str:
    x = (np.array([0, 199]) - 100) / 64
    y = np.polyval([2, 0.25, 0.5, -2, 1], x)
    return f"{y[0]:g} {y[1]:g} 200 20\n"


def _histogram() -> str:
    i = np.arange(2000)
    values = (i * i + 3 * i) % 251
    return " ".join(map(str, np.bincount(values % 16, minlength=16))) + f" {values.max() * 0.5:g}\n"


def _scan() -> str:
    sums = np.cumsum(np.arange(256) % 10) - np.arange(256) % 10
    return f"{sums[1]} {sums[100]} {sums[255]}\n"


def _julia() -> str:
    i = np.arange(1024)
    f = np.float32
    z = (f(3) * (i % 32).astype(f) / f(32) - f(1.5)) + 1j * (f(3) * (i // 32).astype(f) / f(32) - f(1.5))
    z = z.astype(np.complex64)
    steps = np.zeros(1024, int)
    for _ in range(30):
        inside = abs(z) < 2
        steps += inside
        z = np.where(inside, z * z + np.complex64(-0.8 + 0.156j), z)
    return f"{steps.sum()}\n"


OUTPUTS: dict[str, Callable[[], str]] = {
    "vector_add": lambda: "1 1501 2998\n",
    "saxpy": _saxpy,
    "gemm_cublas": lambda: f"{32 - (32 - 2)} {64 * 64 * 2}\n",
    "matmul_tiled": _matmul,
    "reduction_shuffle": lambda: f"{(np.arange(10000) % 100 - 30).sum()}\n",
    "ballot_compaction": _compaction,
    "streams_events": lambda: "1 802 2403 timed 3\n",
    "pinned_memory": lambda: f"{((np.arange(64) - 10) ** 2).sum()}\n",
    "managed_memory": lambda: f"{(np.arange(100) * 1.5).sum():g} 4\n",
    "constant_memory": _polynomial,
    "cooperative_groups": lambda: f"{(np.arange(500) % 17).sum()} groups\n",
    "grid_sync": lambda: f"{(np.arange(1024) ** 2 % 23).sum()} fits\n",
    "atomics": _histogram,
    "templates": lambda: f"{(0.25 * 249) ** 2:g} {0.25 * 249 + 7:g}\n",
    "driver_module": lambda: "a device\n",
    "error_handling": lambda: "caught invalid device\nsticky\nout of memory\n",
    "peer_access": lambda: "5 5\n",
    "half_precision": lambda: f"{1 + 2 * 2 * 0.5 * 1:g} {1 + 2 * 2 * 0.5 * 63:g}\n",
    "scan": _scan,
    "transpose": lambda: "0 wrong, 70\n",
    "stencil": _heat,
    "nbody": _nbody,
    "monte_carlo": lambda: "plausible\n",
    "game_of_life": _life,
    "bitonic_sort": lambda: "{} {} {}\n".format(*np.sort((np.arange(256) * 167 + 13) % 509)[[0, 128, 255]]),
    "spmv_csr": _spmv,
    "kmeans": _kmeans,
    "mandelbrot": _mandelbrot,
    "architectures": lambda: "256 host\n",
    "julia_complex": _julia,
    "memory_pool": lambda: f"{776 * 777 // 2}\n",
    "bfs": _bfs,
}
WARPS = ("reduction_shuffle", "ballot_compaction", "cooperative_groups", "spmv_csr")


@pytest.mark.skipif(bool(hosted.unavailable()), reason=str(hosted.unavailable()))
@pytest.mark.parametrize(
    ("name", "arch"),
    [(name, "gfx942") for name in sorted(OUTPUTS)] + [(name, "gfx1100") for name in WARPS],
)
def test_runs_and_prints_what_numpy_computes(name: str, arch: str) -> None:
    """The translated program runs on wave64, and what depends on the wave also on wave32."""
    run = program(name).run(arch=arch)
    assert (run.stdout, run.exit_code) == (OUTPUTS[name](), 0), run.stderr
