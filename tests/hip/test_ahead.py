"""Kernels that another process translates ahead: their code is on disk, in step with what the program launches."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import gpulab
from gpulab import programs
from gpulab.programs import jail
from gpulab.toolchain import cache
from gpulab.virtual_gpu.runtime import ahead
from gpulab.virtual_gpu.runtime.ahead import FIRST, Ahead
from gpulab.virtual_gpu.runtime.runtime import Runtime

COUNT = 12
NAMES = [f"k{n}" for n in range(COUNT)]
SYMBOLS = [f"_Z{len(name)}{name}Pi" for name in NAMES]
KERNELS = "\n".join(
    f"__global__ void {name}(int* x) {{ x[threadIdx.x] += {n} + {FIRST}; }}" for n, name in enumerate(NAMES)
)
PROGRAM = (
    "#include <hip/hip_runtime.h>\n#include <cstdio>\n"
    + KERNELS
    + "\nint main() {\n  int* x; int value = 0;\n  if (hipMalloc(&x, 4) != hipSuccess) return 1;\n"
    + "  if (hipMemset(x, 0, 4) != hipSuccess) return 1;\n"
    + "".join(f"  {name}<<<1, 1>>>(x);\n" for name in NAMES)
    + "  if (hipMemcpy(&value, x, 4, hipMemcpyDeviceToHost) != hipSuccess) return 1;\n"
    + '  std::printf("%d\\n", value);\n}\n'
)


@pytest.fixture
def image() -> bytes:
    return gpulab.compile(KERNELS, arch="gfx942").elf


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache without translated kernels; what else is in the user's is shared."""
    folder = tmp_path / "cache"
    folder.mkdir()
    for path in cache.folder().iterdir():
        if path.name != "host":
            (folder / path.name).symlink_to(path, target_is_directory=True)
    monkeypatch.setenv("GPULAB_CACHE", str(folder))
    return folder


@pytest.fixture
def started(image: bytes, empty: Path) -> Iterator[Ahead]:
    found = Ahead(image, "gfx942", SYMBOLS)
    yield found
    found.close()


def until(found: Ahead, done: int) -> None:
    end = time.monotonic() + 60
    while len(found._done) < done and time.monotonic() < end:
        found._read(0.2)


def test_it_begins_with_the_second_kernel_and_stays_near(started: Ahead, image: bytes, empty: Path) -> None:
    started.wanted("_Z2k0Pi")
    assert started._other is None
    started.wanted("_Z2k1Pi")
    until(started, FIRST)
    assert not started._read(1.0)  # it says nothing more: so many and no more
    assert started._done == {"_Z2k3Pi", "_Z2k5Pi", "_Z2k7Pi", "_Z2k9Pi"}  # those between are translated here
    kept = set((empty / "host").rglob("*"))
    Runtime("gfx942").modules.load(image).loaded.kernels["_Z2k3Pi"].compile()
    assert set((empty / "host").rglob("*")) == kept
    started.wanted("_Z2k2Pi")
    until(started, FIRST + 1)
    assert "_Z3k11Pi" in started._done


def test_a_kernel_that_is_under_way_is_waited_for(started: Ahead) -> None:
    started.wanted("_Z2k0Pi")
    started.wanted("_Z2k1Pi")
    while "_Z2k3Pi" not in started._begun:
        started._read(0.05)
    started.wanted("_Z2k3Pi")
    assert "_Z2k3Pi" in started._done


def test_few_kernels_need_no_second_process(image: bytes) -> None:
    found = Ahead(image, "gfx942", SYMBOLS[: ahead.LEAST + 1])
    for name in SYMBOLS[: ahead.LEAST + 1]:
        found.wanted(name)
        assert found._other is None


def test_it_ends_with_the_program_and_the_program_goes_on_without_it(started: Ahead) -> None:
    started.wanted("_Z2k0Pi")
    started.wanted("_Z2k1Pi")
    other = started._other
    assert other is not None
    other.kill()
    other.wait()
    for name in ("_Z2k2Pi", "_Z2k3Pi", "_Z2k4Pi"):
        started.wanted(name)  # nothing is raised, and nothing is waited for
    assert started._other is None
    script = (
        "import sys; from gpulab.virtual_gpu.runtime.ahead import Ahead\n"
        f"found = Ahead(sys.stdin.buffer.read(), 'gfx942', {SYMBOLS!r})\n"
        "found.wanted('_Z2k0Pi'); found.wanted('_Z2k1Pi')\n"
        "print(found._other.pid)"
    )
    image = started._image
    number = int(subprocess.run([sys.executable, "-c", script], input=image, capture_output=True, check=True).stdout)
    end = time.monotonic() + 30
    while Path(f"/proc/{number}").exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert not Path(f"/proc/{number}").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGPIPE")
def test_the_other_process_may_die_where_a_closed_pipe_ends_a_program(image: bytes, empty: Path) -> None:
    """As in a whole program, which has C's default for SIGPIPE."""
    script = (
        "import signal, sys; signal.signal(signal.SIGPIPE, signal.SIG_DFL)\n"
        "from gpulab.virtual_gpu.runtime.ahead import Ahead\n"
        f"found = Ahead(sys.stdin.buffer.read(), 'gfx942', {SYMBOLS!r})\n"
        "found.wanted('_Z2k0Pi'); found.wanted('_Z2k1Pi')\n"
        "found._other.kill(); found._other.wait()\n"
        "found.wanted('_Z2k2Pi'); found.wanted('_Z2k3Pi'); print('still here')"
    )
    done = subprocess.run([sys.executable, "-c", script], input=image, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"still here\n"), done.stderr


@pytest.mark.parametrize(
    "jailed", [False, pytest.param(True, marks=pytest.mark.skipif(bool(jail.available()), reason="no jail"))]
)
def test_a_whole_program(jailed: bool, empty: Path) -> None:
    """0 + 1 + ... + 11 and 12 times the constant. A jailed one starts no other process: the kernel would end it."""
    program = programs.build(PROGRAM, name="many", archs=("gfx942",))
    found = program.run(arch="gfx942", jailed=jailed, seconds=60)
    assert (found.stdout, found.exit_code) == (f"{66 + COUNT * FIRST}\n", 0)
    assert [launch.kernel for launch in found.launches] == NAMES
