"""Kernels of a whole program are translated by two processes: by the program's own, and by one beside it.

A kernel is translated at its first launch, and a program with many kernels would wait for one after the other. So when
a program has had to translate two, a process of its own begins with every other one of those that stand behind them,
and keeps the code on disk, where the program finds it. `Ahead` is the program's side: it tells the other of each
kernel that the program needs, and waits where that kernel is under way there. The other process (`main`) is never more
than `FIRST` kernels ahead of what was launched, so that a program that launches few of many costs little.

The other process finds its work in a file without a name, and in its first eight bytes how many kernels were needed;
lines "begin K" and "done K" (K: the kernel's number) come back through a pipe. So the program writes to no pipe, which
would wait for the other process, or end the program by SIGPIPE where that has died.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

from gpulab import cores

LEAST = 4
"""Kernels that a program must have left, that it is worth it."""

FIRST = 4
"""Kernels that may be translated ahead of what was launched."""

PATIENCE = 30.0
"""Seconds to wait for a kernel that is under way; after that it is translated here."""


class Ahead:
    """The program's side, for one module.

    Args:
        image: the code object.
        arch: the device, as in "gfx942".
        kernels: all of its kernels, in order.
    """

    def __init__(self, image: bytes, arch: str, kernels: Sequence[str]) -> None:
        self._image, self._arch, self._kernels = image, arch, list(kernels)
        self._needed: set[str] = set()
        self._begun: set[str] = set()
        self._done: set[str] = set()
        self._other: subprocess.Popen[bytes] | None = None
        self._count: mmap.mmap | None = None
        self._text = b""
        self._tried = False

    def wanted(self, kernel: str) -> None:
        """The program is about to translate this kernel: returns as soon as it may look for its code on disk."""
        self._needed.add(kernel)
        if self._other is None:
            if not self._tried and len(self._needed) > 1:
                self._start(kernel)
            return
        assert self._count is not None
        self._count[:8] = (int.from_bytes(self._count[:8], "little") + 1).to_bytes(8, "little")
        try:
            self._read(0.0)
            while kernel in self._begun and kernel not in self._done:
                if not self._read(PATIENCE):
                    break
        except OSError:
            self.close()

    def _start(self, kernel: str) -> None:
        at = self._kernels.index(kernel)
        left = [name for name in self._kernels[at + 1 :] + self._kernels[:at] if name not in self._needed]
        if len(left) < LEAST or cores.usable() < 2:
            return
        self._tried = True
        others = left[1::2]  # every other one: this process translates those between
        head = json.dumps({"arch": self._arch, "kernels": others, "parent": os.getpid()}).encode()
        with contextlib.suppress(OSError), tempfile.TemporaryFile() as file:
            file.write(bytes(8) + head + b"\n" + self._image)
            file.flush()
            self._count = mmap.mmap(file.fileno(), 8)
            self._other = subprocess.Popen(
                [sys.executable, "-c", "from gpulab.virtual_gpu.runtime import ahead; ahead.main()"],
                stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        self._kernels = others

    def _read(self, seconds: float) -> bool:
        """Take in what the other process says; wait for so long if it says nothing. False: it said nothing."""
        assert self._other is not None
        assert self._other.stdout is not None
        out = self._other.stdout.fileno()
        ready, _, _ = select.select([out], [], [], seconds)
        if not ready:
            return False
        data = os.read(out, 65536)
        if not data:
            raise OSError("it has ended")
        *lines, self._text = (self._text + data).split(b"\n")
        for line in lines:
            word, _, number = line.partition(b" ")
            (self._begun if word == b"begin" else self._done).add(self._kernels[int(number)])
        return True

    def close(self) -> None:
        """End the other process."""
        other, self._other = self._other, None
        if other is not None:
            other.kill()
            other.wait()
            if other.stdout is not None:
                other.stdout.close()
        self._begun.clear()


def main() -> None:
    """The other process: translate the kernels that standard input names, as far as it allows. Ends with its parent."""
    from gpulab.virtual_gpu.runtime.runtime import Runtime

    with open(0, "rb", closefd=False) as given:
        given.seek(8)
        head = json.loads(given.readline())
        image = given.read()
    count = mmap.mmap(0, 8, access=mmap.ACCESS_READ)
    out = sys.stdout.buffer
    kernels = Runtime(head["arch"]).modules.load(image).loaded.kernels
    for number, name in enumerate(head["kernels"]):
        while FIRST + (needed := int.from_bytes(count[:8], "little")) <= number:
            if os.getppid() != head["parent"]:
                return
            time.sleep(0.005)
        if 2 * number + 1 < needed:
            continue  # launched in order, it is translated already
        out.write(b"begin %d\n" % number)
        out.flush()
        kernels[name].compile()
        out.write(b"done %d\n" % number)
        out.flush()
