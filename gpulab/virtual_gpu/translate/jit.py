"""LLVM IR to code that runs here: `compile_object` optimises and generates, `load` links into the process.

Objects are kept in gpulab's cache on disk by the hash of their IR, the CPU's name and features and the versions of
the compiler parts. Translated code calls nothing by name: what it needs it finds in the wave's state.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import re
import threading
from typing import Any

from gpulab.errors import InternalError
from gpulab.toolchain import cache

_lock = threading.RLock()
_numbers = itertools.count()
_loaded: list[Any] = []
_host: Any = None

# The way to what is done for a whole wave (translate/runs.py): without optimisation its vectors are not worth having.
_WAVE = re.compile(r"br i1 %\w+, label %full\.\d+, label (%narrow\.\d+)")

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
        self.machine = target.create_target_machine(
            cpu=self.cpu, features=self.features, opt=2, reloc="pic", codemodel="default"
        )
        self.quick = target.create_target_machine(
            cpu=self.cpu, features=self.features, opt=0, reloc="pic", codemodel="default"
        )
        self.layout = str(self.machine.target_data)
        # Lanes of a chunk: what one vector register holds; with AVX-512 16 lanes, and masks for them.
        wide = all(f"+{name}" in self.features.split(",") for name in ("avx512f", "avx512vl", "avx512bw", "avx512dq"))
        self.lanes = int(os.environ.get("GPULAB_LANES", 0)) or (16 if wide else 8)
        self.jit = llvm.create_lljit_compiler(
            target.create_target_machine(cpu=self.cpu, features=self.features, opt=2, reloc="pic", codemodel="default"),
            use_jit_link=True,
            suppress_errors=False,
        )
        self.identity = "|".join(
            (llvmlite.__version__, str(llvm.llvm_version_info), self.triple, self.cpu, self.features)
        )


def host() -> Host:
    """The one code generator of the process."""
    global _host
    with _lock:
        if _host is None:
            _host = Host()
        return _host


def _optimise(here: Host, module: Any) -> None:
    llvm = here.llvm
    tuning = llvm.PipelineTuningOptions(speed_level=1)
    builder = llvm.create_pass_builder(here.machine, tuning)
    passes = llvm.create_new_module_pass_manager()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    # No NewGVN: on long straight-line kernels it stops the whole process with a failed assertion (LLVM 22).
    passes.add_dead_code_elimination_pass()
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
    with _lock:
        try:
            if isinstance(source, bytes):
                module = here.llvm.parse_bitcode(source)
            else:
                module = here.llvm.parse_assembly(_WAVE.sub(r"br label \1", source) if quick else source)
        except RuntimeError as error:
            raise InternalError(f"translated code is not valid LLVM IR: {error}") from error
        module.triple, module.data_layout = here.triple, here.layout
        if optimise and not quick:
            _optimise(here, module)
        code: bytes = (here.quick if quick else here.machine).emit_object(module)
    if keep:
        STORE.put(key, code)
    return code


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
