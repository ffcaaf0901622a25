"""The Python process in which a program runs on the virtual GPU: `main`, called by the program's launcher.

It loads the virtual HIP library and then the program's own file, and calls the program's main in this process, whose
standard streams, arguments, exit code and signals are the program's. What kernels print goes through the C library's
stdout, so that it keeps its order with what the host prints. A kernel's fault is explained on standard error.

Environment: GPULAB_REPORT has the descriptors of the pipes for the records (report.py); GPULAB_PROFILE and
GPULAB_CHECKED (1) have all counters collected and launches checked; without a report, a profile is a table on standard
error; GPULAB_JAIL describes the jail (jail.py); GPULAB_LARGE_BAR (1) lets host code follow device pointers, which is a
fault otherwise (touches.py).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import signal
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from gpulab.programs import touches

_MOST_LAUNCHES = 40  # of a profile's table
_MOST_REASONS = 20  # why calls failed
INSTRUCTION_LIMIT = 1 << 33
"""Wave instructions after which a wave is stopped, unless GPULAB_INSTRUCTION_LIMIT says otherwise: about a minute of
one wave. Kernels of a lesson are stopped after 2 ** 29; but programs wait in kernels, and count in one thread."""


class _Output:
    """sys.stdout of this process: writes by way of the C library's stdout."""

    encoding, errors = "utf-8", "replace"

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        self._stream = ctypes.c_void_p.in_dll(library, "stdout")
        library.fwrite.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p]
        library.fflush.argtypes = [ctypes.c_void_p]

    def write(self, text: str) -> int:
        raw = text.encode("utf-8", "surrogateescape")
        self._library.fwrite(raw, 1, len(raw), self._stream)
        return len(text)

    def flush(self) -> None:
        self._library.fflush(self._stream)

    def isatty(self) -> bool:
        return os.isatty(1)

    def fileno(self) -> int:
        return 1


def _flag(name: str) -> bool:
    return os.environ.pop(name, "") not in ("", "0")


def main(words: Sequence[str]) -> NoReturn:
    """Run a program; does not return.

    Args:
        words: path of the program's file, then its argv.
    """
    path, *arguments = words
    jail = os.environ.pop("GPULAB_JAIL", "")
    if jail:
        from gpulab.programs import jail as jails

        jails.enter(jail)
    # A program ends by Ctrl-C and by a pipe that nobody reads; Python would keep both from it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.environ["GPULAB_LIBRARY"], os.environ["GPULAB_BINDING"] = "virtual", "ctypes"
    if not os.environ.get("GPULAB_DEVICES") and (devices := _devices(path)):
        os.environ["GPULAB_DEVICES"] = devices
    if not os.environ.get("GPULAB_INSTRUCTION_LIMIT", "").strip():
        os.environ["GPULAB_INSTRUCTION_LIMIT"] = str(INSTRUCTION_LIMIT)
    library = ctypes.CDLL(None)
    sys.stdout = _Output(library)
    named = _name_process(library, os.fsencode(arguments[0] if arguments else path))
    try:
        process = _Process(os.environ.pop("GPULAB_REPORT", ""), _flag("GPULAB_PROFILE"), _flag("GPULAB_CHECKED"))
    except Exception as error:
        _say(f"gpulab: the virtual GPU does not start: {error}")
        os._exit(127)
    process.watch(library)
    process.explain_touches(library, path)
    if jail:
        jails.close()
    else:
        process.translate_ahead()
    program = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    process.explain_touches_before(program)
    given = [os.fsencode(word) for word in arguments]
    values = (ctypes.c_char_p * (len(given) + 1))(*given, None)
    program.gpulab_run(len(given), values)
    del named
    os._exit(127)  # gpulab_run ends the process


def _devices(path: str) -> str:
    """The devices for a program that has no code for one of the usual ones: those of them that it has code for, or else
    the first that it has code for and gpulab knows; "" to leave the usual ones."""
    import mmap

    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as raw:
        archs = [
            found.decode() for found in dict.fromkeys(re.findall(rb"hipv4-amdgcn-amd-amdhsa--(gfx[0-9a-f]+)", raw))
        ]
    from gpulab import architectures

    usual = architectures.defaults()
    if not archs or set(usual) <= set(archs):
        return ""
    return ",".join(
        [arch for arch in usual if arch in archs] or [one for one in archs if one in architectures.names()][:1]
    )


def _name_process(library: ctypes.CDLL, name: bytes) -> tuple[Any, ...]:
    """Have the C library's messages (of assert, of perror) name the program, not Python; what must stay alive."""
    whole, short = ctypes.create_string_buffer(name), ctypes.create_string_buffer(name.rpartition(b"/")[2])
    for variable, buffer in (("program_invocation_name", whole), ("program_invocation_short_name", short)):
        with contextlib.suppress(ValueError):  # GNU's C library has them
            ctypes.c_void_p.in_dll(library, variable).value = ctypes.addressof(buffer)
    return whole, short


def _say(text: str) -> None:
    with contextlib.suppress(OSError):
        os.write(2, (text.rstrip("\n") + "\n").encode("utf-8", "replace"))


class _Process:
    """What goes on beside the program: faults are explained, launches recorded, and written down when it ends."""

    def __init__(self, report: str, profile: bool, checked: bool) -> None:
        from gpulab import providers
        from gpulab.programs.report import Writer
        from gpulab.providers.virtual import hosting

        self._hosting = hosting
        self._writer = Writer(report) if report else None
        self._ended = False
        self._records: Any = None
        self._callbacks: list[Any] = []
        self._repeated: dict[tuple[object, ...], tuple[str, int]] = {}
        self._reasons: set[tuple[str, str, str]] = set()
        hosting.install(self.fault, self.failure, guarded=not _flag("GPULAB_LARGE_BAR"))
        self._open = contextlib.ExitStack()
        if checked:
            if self._writer is not None:
                hosting.watch_memory()
            self._open.enter_context(providers.instruments("checked").checking())
        self._tells = profile and self._writer is None
        if self._writer is not None or self._tells:
            self._records = self._open.enter_context(providers.recording(profile=profile))

    def translate_ahead(self) -> None:
        """Have a second process translate kernels that come later."""
        self._hosting.translate_ahead()

    def fault(self, fault: Any, returned: bool = True) -> None:
        """Explain a fault."""
        from gpulab.providers import faults

        if self._writer is not None:
            self._writer.fault(fault, returned)
        place = (fault.kind, fault.kernel, fault.where, fault.instruction, fault.access, returned)
        said, times = self._repeated.get(place, ("", 0))
        line = f", line {fault.where.line}" if fault.where is not None else ""
        self._repeated[place] = said or f"in kernel {fault.kernel}{line}: {fault.kind}", times + 1
        if times:
            return  # `end` says how often
        text = f"gpulab: {faults.exception(fault)}"
        if not returned:
            text += (
                "\n  No HIP call of the program has returned this error: after a launch, check hipGetLastError() and "
                "what hipDeviceSynchronize() returns."
            )
        _say(text)

    def failure(self, call: str, name: str, reason: str) -> None:
        """Say why a call failed, where its code alone does not tell; each reason once, and so many at the most."""
        place = (call, name, reason)
        if place in self._reasons or len(self._reasons) > _MOST_REASONS:
            return
        self._reasons.add(place)
        _say(
            f"gpulab: {call} returned {name}: {reason.rstrip('.')}."
            if len(self._reasons) <= _MOST_REASONS
            else "gpulab: why further calls failed is not said."
        )

    def watch(self, library: ctypes.CDLL) -> None:
        """Have `end` called when the process ends: after the program's own destructors, or by a fatal signal."""
        ending = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: self.end())
        getattr(library, "__cxa_atexit")(ending, None, None)
        self._callbacks.append(ending)
        library.signal.argtypes = [ctypes.c_int, ctypes.c_void_p]
        library.signal.restype = ctypes.c_void_p

        def died(number: int) -> None:
            try:
                self.end()
            finally:
                library.signal(number, None)  # SIG_DFL
                library["raise"](number)

        handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(died)
        self._callbacks.append(handler)
        for number in (signal.SIGABRT, signal.SIGSEGV, signal.SIGFPE, signal.SIGILL, signal.SIGBUS):
            library.signal(number, ctypes.cast(handler, ctypes.c_void_p))

    def explain_touches(self, library: ctypes.CDLL, path: str) -> None:
        """After `watch`: say where host code touched device memory, when that ends the program; `path` is its file."""
        watch, ending = (
            touches.Watch(path, *self._hosting.device_addresses(), self._hosting.nearest),
            self._callbacks[1],
        )

        def say(number: int, info: int, context: int) -> None:
            with contextlib.suppress(Exception):
                said = watch.said(info or 0, context or 0)
                if said:
                    _say(f"gpulab: {said}")

        def touched(number: int, info: int, context: int) -> None:
            say(number, info, context)
            ending(number)

        self._touched = touches.HANDLER(say)
        self._callbacks.append(touches.action(library, signal.SIGSEGV, touched))

    def explain_touches_before(self, program: ctypes.CDLL) -> None:
        """Have that said before a handler for SIGSEGV is called that the program installs itself (launcher.cpp)."""
        with contextlib.suppress(ValueError):  # built by an older gpulab
            place = ctypes.c_void_p.in_dll(program, "gpulab_touched")
            place.value = ctypes.cast(self._touched, ctypes.c_void_p).value

    def _profile(self) -> None:
        """The launches as a table on standard error: a profile that nobody else asked for."""
        from gpulab.views.launches import launch_table

        launches = list(self._records)
        left = len(launches) - _MOST_LAUNCHES
        said = f"{left:,} more launches are left out." if left > 0 else ""
        _say(str(launch_table(launches[:_MOST_LAUNCHES], said=said)) if launches else "gpulab: no kernel was launched.")

    def end(self) -> None:
        """The process ends: what kernels still had to say, and the report."""
        if self._ended:
            return
        self._ended = True
        for fault in self._hosting.finish():
            self.fault(fault, returned=False)
        for text, times in self._repeated.values():
            if times > 1:
                _say(f"gpulab: the same fault {times - 1} more time{'s' * (times > 2)} {text}.")
        if self._tells:
            self._profile()
        if self._writer is not None:
            self._writer.end(list(self._records), self._records.activities(), self._hosting.transfers())
