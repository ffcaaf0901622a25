"""Jupyter kernels that start from a process in which all modules are loaded already.

A kernel of its own for each of some hundred notebooks costs more than most of them do: a second or two for the same
imports. `specs()` starts `server.py`, which imports them once and makes a copy of itself (fork) for each kernel, and
gives two folders for JUPYTER_PATH: in `added` there is a kernel named "warm", in `instead` its name is "python3", for
tools that take the notebook's own name. Without fork (Windows) both lead to the usual kernel.

Each kernel is a process of its own, with the environment and the working directory of the one that asked for it
(`client.py`, which stands for it and passes on interrupts; when one of the two ends, so does the other).
"""

from __future__ import annotations

import atexit
import itertools
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NAME = "warm"
VARIABLE = "GPULAB_TESTS_KERNELS"


class Specs(NamedTuple):
    """Two folders for JUPYTER_PATH."""

    added: Path
    instead: Path


def specs() -> Specs:
    """The folders; the server runs until the process ends that asked first, and serves those that it starts, too."""
    folder = _folder()
    return Specs(folder / "added", folder / "instead")


def without_ports() -> None:
    """Kernels of this process are spoken to through files in place of ports, where there is fork.

    Jupyter chooses a kernel's ports before the kernel opens them: another process may take one in between, and the
    kernel ends before it answers.
    """
    if not hasattr(os, "fork"):
        return
    from jupyter_client.manager import KernelManager

    sockets = f"{_folder()}/{os.getpid()}-"  # a socket's path has at most 107 bytes
    numbers = itertools.count()
    begin = KernelManager.__init__

    def init(self: KernelManager, *arguments: Any, **more: Any) -> None:
        begin(self, *arguments, **{"transport": "ipc", "ip": f"{sockets}{next(numbers)}"} | more)

    KernelManager.__init__ = init  # type: ignore[method-assign]


def _folder() -> Path:
    if VARIABLE not in os.environ:
        os.environ[VARIABLE] = str(_start())
    return Path(os.environ[VARIABLE])


def _start() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="gpulab-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    if hasattr(os, "fork"):
        address = str(folder / "socket")
        with socket.socket(socket.AF_UNIX) as door:
            door.bind(address)
            door.listen(64)
            path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
            server = subprocess.Popen(
                [sys.executable, str(HERE / "server.py"), str(door.fileno())], pass_fds=[door.fileno()],
                stdin=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0"},
            )  # fmt: skip
        atexit.register(server.stdin.close)  # with its standard input the server ends
        # -I -S: the client needs nothing beyond the standard library.
        command = [sys.executable, "-I", "-S", str(HERE / "client.py"), address, "-f", "{connection_file}"]
    for place, name in (("added", NAME), ("instead", "python3")):
        spec = folder / place / "kernels" / name / "kernel.json"
        spec.parent.mkdir(parents=True)
        spec.write_text(json.dumps({"argv": command, "display_name": name, "language": "python"}))
    return folder
