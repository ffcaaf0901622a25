"""Whole programs in their jail: signals by way of the kernel, and the cache of everybody's code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gpulab import programs, walls
from gpulab.programs.program import ProgramRun
from gpulab.toolchain import cache, compile

pytestmark = pytest.mark.skipif(bool(walls.available()), reason=walls.available() or "there is a jail")

# Each prints "done" if it gets through.
MISDEEDS = r"""
#include <hip/hip_runtime.h>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <dirent.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct owner { int type, pid; };

int main(int argc, char** argv) {
  std::string what = argv[1];
  int ends[2], parent = getppid();
  if (pipe(ends)) return 1;
  owner ex = {1, parent};
  bool done = false;
  if (what == "owner") done = fcntl(ends[0], F_SETOWN, parent) == 0;
  if (what == "group") done = fcntl(ends[0], F_SETOWN, -getpgid(parent)) == 0;
  if (what == "extended owner") done = fcntl(ends[0], 15, &ex) == 0;
  if (what == "signal") done = fcntl(ends[0], 10, 9) == 0;
  if (what == "ioctl owner") done = ioctl(ends[0], 0x8901, &parent) == 0;
  if (what == "ioctl group") done = ioctl(ends[0], 0x8902, &parent) == 0;
  if (what == "own owner") done = fcntl(0, F_SETOWN, getpid()) == 0;
  if (what == "typing") done = ioctl(0, 0x5412, "x") == 0;
  if (what == "list") done = opendir(argv[2]) != nullptr;
  if (what == "read") done = std::fopen(argv[2], "r") != nullptr;
  std::printf("%s\n", done ? "done" : std::strerror(errno));
}
"""
REFUSED = ("Operation not permitted\n", "Permission denied\n")


@pytest.fixture(scope="module")
def run() -> Callable[..., ProgramRun]:
    program = programs.build(MISDEEDS, name="senders", archs=("gfx942",))
    return lambda *words: program.run(*words, arch="gfx942", seconds=20, jailed=True)


@pytest.mark.parametrize(
    "how",
    ["owner", "group", "extended owner", "signal", "ioctl owner", "ioctl group", "own owner", "typing"],
)
def test_no_signal_leaves_by_the_kernel(run: Callable[..., ProgramRun], how: str) -> None:
    found = run(how)
    assert (found.stdout, found.exit_code) == ("Operation not permitted\n", 0), found.stderr


def test_what_others_handed_in_cannot_be_read(run: Callable[..., ProgramRun]) -> None:
    """Neither code objects, nor their machine code, nor other programs."""
    compile("__global__ void other(int* x) { x[0] = 4711; }", arch="gfx942")
    for name in ("code", "host", "programs"):
        folder = cache.folder() / name
        assert run("list", str(folder)).stdout in REFUSED
        entries: list[Path] = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "senders")
        for entry in entries[:2]:
            if "messages" not in entry.name:
                assert run("read", str(entry)).stdout in REFUSED
