"""LLVM IR to code that runs here: `compile_object` optimises and generates, `load` links into the process.
`compile_objects` does several side by side.

Objects are kept in gpulab's cache on disk by the hash of their IR, the CPU's name and features and the versions of
the compiler parts. Translated code calls nothing by name: what it needs it finds in the wave's state.
"""

from __future__ import annotations

import ctypes
import gc
import itertools
import os
import re
import threading
from collections.abc import Sequence
from typing import Any

from gpulab import cores
from gpulab.errors import InternalError
from gpulab.toolchain import cache

_lock = threading.RLock()
_numbers = itertools.count()
_loaded: list[Any] = []
_host: Any = None

# The way to what is done for a whole wave (translate/runs.py): without optimisation its vectors are not worth having.
_WAVE = re.compile(r"br i1 %\w+, label %full\.\d+, label (%narrow\.\d+)")
# The way to a gather or scatter (translate/places.py), which takes longer to compile than the call behind it.
_EACH = re.compile(r"label %each\.(scattered\.\d+)\.\d+")

# Rooms of a loop that holds its registers (translate/held.py), of which LLVM has to make registers.
_HELD = "\nin.b"

STORE = cache.Store("host", 256 << 20, own=True)


class Host:
    """The code generator for this machine's CPU."""

    def __init__(self) -> None:
        import llvmlite
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self.llvm = llvm
        self.triple = llvm.get_process_triple()
        self.cpu = llvm.get_host_cpu_name()
        self.features = llvm.get_host_cpu_features().flatten()
        target = llvm.Target.from_triple(self.triple)
        self._target, self._own = target, threading.local()
        self.machine = self._new_machine(2)
        self.layout = str(self.machine.target_data)
        # Lanes of a chunk: what one vector register holds; with AVX-512 16 lanes, and masks for them.
        wide = all(f"+{name}" in self.features.split(",") for name in ("avx512f", "avx512vl", "avx512bw", "avx512dq"))
        self.lanes = int(os.environ.get("GPULAB_LANES", 0)) or (16 if wide else 8)
        self.jit = llvm.create_lljit_compiler(
            self._new_machine(2),
            use_jit_link=True,
            suppress_errors=False,
        )
        self.identity = "|".join(
            (llvmlite.__version__, str(llvm.llvm_version_info), self.triple, self.cpu, self.features)
        )
        self._emission = _Emission(llvm)

    def _new_machine(self, level: int) -> Any:
        return self._target.create_target_machine(
            cpu=self.cpu, features=self.features, opt=level, reloc="pic", codemodel="default"
        )

    def quick(self) -> Any:
        """The calling thread's own target machine that does not optimise."""
        found = getattr(self._own, "quick", None)
        if found is None:
            found = self._own.quick = self._new_machine(0)
        return found

    def emit(self, machine: Any, module: Any) -> bytes:
        """Object code of a module. Threads with machines and modules of their own may do this at the same time."""
        return self._emission(machine, module)


class _Emission:
    """`TargetMachine.emit_object` without llvmlite's lock.

    llvmlite lets one thread at a time into LLVM, which itself asks only that threads share neither a context nor a
    target machine (LLVM Programmer's Manual, "Threads and LLVM").
    """

    def __init__(self, llvm: Any) -> None:
        library = ctypes.CDLL(llvm.ffi.lib._lib._name)
        pointer, text = ctypes.c_void_p, ctypes.POINTER(ctypes.c_char_p)
        self._emit = library.LLVMPY_TargetMachineEmitToMemory
        self._start, self._size = library.LLVMPY_GetBufferStart, library.LLVMPY_GetBufferSize
        self._drop = library.LLVMPY_DisposeMemoryBuffer
        self._emit.argtypes, self._emit.restype = (pointer, pointer, ctypes.c_int, text), pointer
        self._start.argtypes, self._start.restype = (pointer,), pointer
        self._size.argtypes, self._size.restype = (pointer,), ctypes.c_size_t
        self._drop.argtypes, self._drop.restype = (pointer,), None

    def __call__(self, machine: Any, module: Any) -> bytes:
        message = ctypes.c_char_p()
        made = self._emit(machine, module, 1, ctypes.byref(message))
        if not made:
            raise InternalError(f"no code could be generated: {(message.value or b'').decode('utf-8', 'replace')}")
        try:
            return ctypes.string_at(self._start(made), self._size(made))
        finally:
            self._drop(made)


def host() -> Host:
    """The one code generator of the process."""
    global _host
    with _lock:
        if _host is None:
            _host = Host()
        return _host


def _optimise(here: Host, module: Any, held: bool) -> None:
    llvm = here.llvm
    tuning = llvm.PipelineTuningOptions(speed_level=1)
    builder = llvm.create_pass_builder(here.machine, tuning)
    passes = llvm.create_new_module_pass_manager()
    if held:
        passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    # No NewGVN: on long straight-line kernels it stops the whole process with a failed assertion (LLVM 22).
    passes.add_aggressive_dce_pass()
    passes.run(module, builder)


def _key(source: str | bytes, level: str) -> str:
    return cache.key(host().identity, level, source)


def is_kept(source: str | bytes) -> bool:
    """Whether the optimised object code of this is in the cache on disk."""
    return STORE.get(_key(source, "optimised 2")) is not None


def compile_object(source: str | bytes, *, optimise: bool = True, quick: bool = False, keep: bool = True) -> bytes:
    """Object code of IR text (or of LLVM bitcode), from the cache on disk if it is there.

    Args:
        optimise: run passes over the IR first.
        keep: on disk, and look there first.
        quick: without any optimisation, many times faster; the code takes about twice the time.

    Raises:
        InternalError: the IR is not valid.
    """
    here = host()
    key = _key(source, "quick" if quick else "optimised 2" if optimise else "plain")
    known = STORE.get(key) if keep else None
    if known is not None:
        return known
    context = here.llvm.create_context()
    try:
        if isinstance(source, bytes):
            module = here.llvm.parse_bitcode(source, context)
        else:
            module = here.llvm.parse_assembly(without_detours(source) if quick else source, context)
    except RuntimeError as error:
        raise InternalError(f"translated code is not valid LLVM IR: {error}") from error
    with module:
        module.triple, module.data_layout = here.triple, here.layout
        if quick:
            code = here.emit(here.quick(), module)
        else:
            with _lock:
                if optimise:
                    _optimise(here, module, held=isinstance(source, str) and _HELD in source)
                code = here.emit(here.machine, module)
    if keep:
        STORE.put(key, code)
    return code


def without_detours(source: str) -> str:
    """IR text without the ways, beside the ordinary one, that are not worth it where nothing is optimised."""
    return _EACH.sub(r"label %\1", _WAVE.sub(r"br label \1", source))


def compile_objects(sources: Sequence[tuple[str, bool]], **how: Any) -> list[bytes]:
    """Object code of several: (IR, whether quickly). They are compiled side by side, each as `compile_object` does it.

    Raises:
        InternalError: the IR is not valid.
    """
    if len(sources) == 1 or cores.usable() == 1:
        return [compile_object(source, quick=quick, **how) for source, quick in sources]
    (first, quick), *others = sources
    # The caller may hold locks. In another thread, which it waits for, no finalizer may run that asks for them.
    collects = gc.isenabled()
    gc.disable()
    try:
        with cores.beside(len(others)) as beside:
            parts = [beside.submit(compile_object, source, quick=quick, **how) for source, quick in others]
            return [compile_object(first, quick=quick, **how), *(part.result() for part in parts)]
    finally:
        if collects:
            gc.enable()


def load(code: bytes | list[bytes], *names: str) -> tuple[int, ...]:
    """Link object code into the process; the addresses of `names`. It stays until the process ends."""
    here = host()
    with _lock:
        builder = here.llvm.JITLibraryBuilder()
        for part in [code] if isinstance(code, bytes) else code:
            builder = builder.add_object_img(part)
        builder = builder.add_current_process()
        for name in names:
            builder.export_symbol(name)
        library = builder.link(here.jit, f"gpulab.{next(_numbers)}")
        _loaded.append(library)
        return tuple(int(library[name]) for name in names)


def blend_table() -> Any:
    """(memory, address) of 256 masks of 8 lanes of 32 bits: in mask m, lane i is set where bit i of m is."""
    raw = (ctypes.c_uint32 * (256 * 8 + 16))()
    skip = (-ctypes.addressof(raw) % 64) // 4
    for m in range(256):
        for lane in range(8):
            raw[skip + 8 * m + lane] = 0xFFFFFFFF if m >> lane & 1 else 0
    return raw, ctypes.addressof(raw) + 4 * skip
