"""Loads what notebooks of the course import, then makes a copy of itself for each kernel: see `tests.warm`."""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import json
import os
import pkgutil
import select
import socket
import sys
import threading


def load() -> None:
    """Modules alone: no device is opened and no thread is started, since a copy would lack it."""
    # As ipykernel has it: pyplot asks for it when it is imported.
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # a warning of ipykernel's debugger, about breakpoints
    for name in (
        "ipykernel.kernelapp", "ipykernel.debugger", "anywidget", "llvmlite.binding", "matplotlib.pyplot",
        "matplotlib_inline.backend_inline", "numpy.random", "psutil",
    ):  # fmt: skip
        importlib.import_module(name)
    import gpulab

    for module in pkgutil.walk_packages(gpulab.__path__, "gpulab."):
        # The guests' modules are for packages that import them, and need those.
        if not module.name.endswith("__main__") and not module.name.startswith("gpulab.guests"):
            importlib.import_module(module.name)
    from gpulab.virtual_gpu import isa

    for arch in ("gfx942", "gfx1100"):
        isa.table(arch)


def kernel(connection: socket.socket) -> None:
    """The copy's part: what `python -m ipykernel_launcher` does, in the client's place."""
    raw, descriptors, _, _ = socket.recv_fds(connection, 1 << 20, 2)
    while not raw.endswith(b"\n"):
        raw += connection.recv(1 << 20)
    wish = json.loads(raw)
    for standard, descriptor in zip((1, 2), descriptors, strict=True):
        os.dup2(descriptor, standard)
        os.close(descriptor)
    os.setsid()
    os.chdir(wish["folder"])
    os.environ.clear()
    os.environ.update(wish["environment"])
    os.environ["JPY_PARENT_PID"] = str(os.getppid())  # the server; the client's end is noticed below
    connection.sendall(b"%d\n" % os.getpid())
    threading.Thread(target=end_with, args=(connection,), daemon=True).start()

    from ipykernel.kernelapp import IPKernelApp

    import gpulab

    if "GPULAB_TESTS_UNDRAWN" in os.environ:
        leave_undrawn()
    app = IPKernelApp.instance()
    app.initialize(wish["arguments"])
    gpulab.load_ipython_extension(app.shell)  # done by `import gpulab` where that is the first
    app.start()


def leave_undrawn() -> None:
    """Pictures are made, and not drawn: that takes a sixth of all cells' time, and nbval does not compare it."""
    from PIL import Image

    from gpulab.views.instrument import Instrument

    into = io.BytesIO()
    Image.new("P", (1, 1)).save(into, format="png")

    def png(self: Instrument) -> bytes:
        if self.figure is None:
            return b""
        self.figure()
        return into.getvalue()

    Instrument.png = png  # type: ignore[method-assign]


def end_with(connection: socket.socket) -> None:
    """Ends this process when the other side has ended."""
    connection.recv(1)
    os._exit(1)


def main() -> None:
    load()
    gc.collect()
    gc.freeze()  # the copies share these objects' pages
    door = socket.socket(fileno=int(sys.argv[1]))
    tests = os.fdopen(0, "rb", buffering=0)
    while True:
        readable, _, _ = select.select([door, tests], [], [])
        if tests in readable:
            return
        connection, _ = door.accept()
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if os.fork() == 0:
            door.close()
            kernel(connection)
            os._exit(0)
        connection.close()


main()
