"""Random programs whose threads work together: phases of each thread's own, and exchanges between them.

`generate_waves(seed)` gives a `WaveProgram`; its exchanges are those of waves.h. `compare_waves` runs programs on the
host and on a virtual GPU at some compiler settings and says which differ; identical machine code is not run twice.
"""

from __future__ import annotations

import copy
import ctypes
import hashlib
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import numpy as np

import gpulab
from gpulab.toolchain import compile_host_library
from gpulab.toolchain import host as host_side
from tests.fuzz import execution
from tests.fuzz.execution import COMMON
from tests.fuzz.generator import FLOATS, INTEGERS, UNIFORMS, Generator, Node, _cuts

HEADER = (Path(__file__).parent / "waves.h").read_text(encoding="utf-8")
BLOCK, BLOCKS, WORDS = 128, 2, 3
THREADS = BLOCK * BLOCKS
BINS = 24  # words of 64 bits: 16 bins of 64 bits and 16 of 32

#: Compiler settings: levels, and fast mathematics for programs without floating-point numbers of their own.
SETTINGS = ("-O0", "-O1", "-O2", "-O3", "-Os", "-O3 -ffast-math")


def wave_size(arch: str) -> int:
    """Lanes of a wave as Clang compiles for it by default."""
    return 64 if arch.startswith("gfx9") else 32


@dataclass(frozen=True)
class Phase:
    """What each thread does by itself, then what they do together ("" for nothing)."""

    body: Node
    exchange: str


@dataclass(frozen=True)
class WaveProgram:
    """`functions` are helpers, `fields` the thread's variables, `start` sets them."""

    functions: tuple[str, ...]
    fields: tuple[tuple[str, str], ...]
    start: str
    phases: tuple[Phase, ...]
    floats: bool

    def render(self, name: str) -> str:
        """Its text, for waves.h behind prelude.h."""
        members = " ".join(f"{kind} {field};" for field, kind in self.fields)
        aliases = " ".join(f"auto& {field} = s.{field};" for field, _ in self.fields)
        words = ", ".join([f"u64 w{i}" for i in range(WORDS)] + [f"u64 q{i}" for i in range(UNIFORMS)])
        parts = list(self.functions)
        parts.append(f"struct @S {{ {members} u32 x; u64 y; bool c; u32 i; u32 rx; u64 ry; }};")
        parts.append(f"FN void @start(@S& s, {words}) {{\ns.x = s.rx = 1; s.y = s.ry = 2; s.c = false; s.i = 0;")
        parts.append(f"{aliases}\n{self.start}\n}}")
        for k, phase in enumerate(self.phases):
            parts.append(f"FN void @phase{k}(@S& s) {{\n{aliases} const u32 rx = s.rx; const u64 ry = s.ry;")
            parts.append(f"{phase.body.render()}\n}}")
        tail = " ".join(f"h = mixed(h, word(s.{field}));" for field, _ in self.fields)
        parts.append(f"FN u64 @result(@S& s) {{ u64 h = mixed(s.rx, s.ry); {tail} return h; }}")
        return "\n".join(parts).replace("@", name)


_HOW = range(6)


def _exchange(random: Random) -> str:
    width = random.choice([0, 0, 2, 4, 8, 16, 32])
    kind = random.choice([
        f"shuffle_from<{width}, {random.randrange(64)}>", f"shuffle_up<{width}, {random.randrange(1, 8)}>",
        f"shuffle_down<{width}, {random.randrange(1, 8)}>", f"shuffle_xor<{width}, {random.randrange(32)}>",
        "permuted<0, 0>", f"swizzled<0, {random.randrange(32)}>", "mirrored<0, 0>", f"quad<0, {random.randrange(256)}>",
        f"row_shifted<0, {random.randrange(1, 16)}>", "votes<0, 0>", "active<0, 0>", "active<0, 0>",
        f"reduced<{random.choice(_HOW)}, {random.randrange(2)}>", f"reduced<{random.choice(_HOW)}, 1>", "counted<0, 0>",
        f"through_lds<0, {random.randrange(128)}>", f"lds_bins<{random.choice(_HOW)}, {random.randrange(16)}>",
        f"own_atomics<{random.choice(_HOW)}, 0>", f"global_bins<{random.choice([0, 2, 4, 5])}, 0>",
    ])  # fmt: skip
    return kind


class _WaveGenerator(Generator):
    """The generator of single threads' programs, with fewer variables, without floating point where not wanted."""

    def __init__(self, random: Random, floats: bool) -> None:
        super().__init__(random, statements=2, depth=2)
        self.floats = floats
        if not floats:
            self.types = [*random.sample(INTEGERS, 3), "i32", "u32"]

    def expression(self, kind: str, depth: int) -> Node:
        if self.floats:
            return super().expression(kind, depth)
        while True:  # without the table of doubles
            node = super().expression(kind, depth)
            if not any("table64" in part.form or part.type in FLOATS for part in node.walk()):
                return node

    def integer(self, kind: str, depth: int) -> Node:
        if kind in ("i32", "i64") and self.random.random() < 0.1:
            form = "exact($0, $1, $2)" if kind == "i32" else "exact64($0, $1)"
            return Node(form, kind, [self.expression(kind, depth - 1) for _ in range(3 if kind == "i32" else 2)])
        return super().integer(kind, depth)

    def waves(self) -> WaveProgram:
        if self.random.random() < 0.25:
            self.helper(0)
        self.start()
        start = []
        for i in range(WORDS):
            kind = self.types[i % len(self.types)]
            start.append(f"v{i} = {self.value_of_input(kind, f'w{i}')};")
            self.variables[f"v{i}"] = kind
        kind = self.random.choice(self.types)
        start.append(f"s0 = {self.value_of_input(kind, '(q0 ^ q1 + q2 * q3)')};")
        self.variables["s0"] = kind
        fields = tuple(self.variables.items())
        self.variables.update(rx="u32", ry="u64")
        self.fixed |= {"rx", "ry"}
        phases: list[Phase] = []
        for _ in range(self.random.choice([1, 1, 2, 2, 3])):
            body = self.block(self.random.randint(0, 2), 1, False)
            wide = self.expression("u32", self.depth), self.expression("u64", self.depth)
            kids = [*wide, self.condition(self.depth - 1), self.expression("u32", 1)]
            for form, kid in zip(("s.x = $0;", "s.y = $0;", "s.c = $0;", "s.i = $0;"), kids, strict=True):
                body.kids.append(Node(form, kids=[kid]))
            exchange = _exchange(self.random)
            if exchange.startswith("global_bins"):  # blocks come in any order: one operation in a program
                exchange = next((p.exchange for p in phases if p.exchange.startswith("global_bins")), exchange)
            phases.append(Phase(body, exchange))
        phases.append(Phase(self.block(1, 1, False), ""))
        functions = tuple(f.render() for f in self.functions)
        return WaveProgram(functions, fields, "\n".join(start), tuple(phases), self.floats)


def generate_waves(seed: int) -> WaveProgram:
    """The program of a seed; every second one has floating-point numbers."""
    return _WaveGenerator(Random(seed * 2 + 1), floats=seed % 2 == 1).waves()


def inputs(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Words of each thread and of all."""
    words, uniforms = execution.inputs(seed)
    return np.resize(words.ravel(), (THREADS, WORDS)).copy(), uniforms


def _words(at: str) -> str:
    return ", ".join([f"in[{at} * {WORDS} + {k}]" for k in range(WORDS)] + [f"all[{k}]" for k in range(UNIFORMS)])


def device_source(programs: Sequence[WaveProgram]) -> str:
    """One kernel for each program."""
    parts = [execution.PRELUDE, HEADER]
    for k, program in enumerate(programs):
        name = f"f{k}_"
        parts.append(program.render(name))
        steps = "".join(
            f"  {name}phase{n}(s);\n" + (f"  {phase.exchange}(s, bins);\n" if phase.exchange else "")
            for n, phase in enumerate(program.phases)
        )
        parts.append(
            f"__global__ __launch_bounds__({BLOCK})\n"
            f"void kernel{k}(const u64* in, const u64* all, u64* out, u64* bins) {{\n"
            f"  int i = blockIdx.x * {BLOCK} + threadIdx.x;\n  {name}S s;\n  {name}start(s, {_words('i')});\n{steps}"
            f"  out[i] = {name}result(s);\n}}\n"
        )
    return "\n".join(parts)


def host_source(programs: Sequence[WaveProgram]) -> str:
    """One function for each program, which does a block after the other."""
    parts = ["#define HOST 1", execution.PRELUDE, HEADER]
    for k, program in enumerate(programs):
        name = f"f{k}_"
        parts.append(program.render(name))
        steps = "".join(
            f"    EACH {name}phase{n}(s[t]);\n" + (f"    {phase.exchange}(s, wave, bins);\n" if phase.exchange else "")
            for n, phase in enumerate(program.phases)
        )
        parts.append(
            f'extern "C" __attribute__((visibility("default")))\n'
            f"void kernel{k}(const u64* in, const u64* all, u64* out, u64* bins, int wave) {{\n"
            f"  for (int block = 0; block < {BLOCKS}; ++block) {{\n    static {name}S s[BLOCK];\n"
            f"    EACH {{ int i = block * BLOCK + t; {name}start(s[t], {_words('i')}); }}\n{steps}"
            f"    EACH out[block * BLOCK + t] = {name}result(s[t]);\n  }}\n}}\n"
        )
    return "\n".join(parts)


class Host:
    """Programs built for this machine. `results(k, wave_size)`: of each thread, and the bins."""

    def __init__(self, programs: Sequence[WaveProgram], given: tuple[np.ndarray, np.ndarray]) -> None:
        source = host_source(programs)
        self._folder = tempfile.TemporaryDirectory(prefix="gpulab-fuzz-", ignore_cleanup_errors=True)
        name = hashlib.sha256(source.encode()).hexdigest()[:16] + host_side.library_suffix()
        options = [*COMMON, "-fno-exceptions", "-nostdlib++"]
        path = Path(self._folder.name) / name
        self._library = ctypes.CDLL(
            str(compile_host_library(source, path, language="c++", optimize="1", options=options))
        )
        self._given = given

    def results(self, k: int, wave: int) -> tuple[np.ndarray, np.ndarray]:
        out, bins = np.zeros(THREADS, "uint64"), np.zeros(BINS, "uint64")
        arrays = (*self._given, out, bins)
        getattr(self._library, f"kernel{k}")(*(ctypes.c_void_p(a.ctypes.data) for a in arrays), ctypes.c_int(wave))
        return out, bins


def _machine_code(assembly: str, kernel: str) -> str:
    """A kernel's instructions, without what differs from setting to setting; "" where it calls functions."""
    found = re.search(rf"^\w*{kernel}PKy\w*:.*?$(.*?)^\.Lfunc_end", assembly, re.S | re.M)
    if found is None or "swappc" in found[1]:
        return ""
    lines = (line.partition(";")[0].strip() for line in found[1].splitlines())
    return "\n".join(line for line in lines if line and not line.startswith((".loc", ".file", ".cfi", ".Ltmp")))


def _compile(
    programs: Sequence[WaveProgram], chosen: Sequence[int], setting: str
) -> tuple[dict[int, tuple[gpulab.Module, int]], dict[int, str]]:
    """Module and place of each program; what the compiler said of those it refuses."""
    try:
        source = device_source([programs[k] for k in chosen])
        module = gpulab.compile(source, options=[*setting.split(), *COMMON])
        return {k: (module, place) for place, k in enumerate(chosen)}, {}
    except gpulab.GpulabError as error:
        if len(chosen) == 1:
            return {}, {chosen[0]: f"{type(error).__name__}: {error}"}
    half = len(chosen) // 2
    compiled, broken = _compile(programs, chosen[:half], setting)
    more, failed = _compile(programs, chosen[half:], setting)
    return {**compiled, **more}, {**broken, **failed}


def compare_waves(
    programs: Sequence[WaveProgram], arch: str, settings: Sequence[str], seed: int = 1, host: Host | None = None
) -> dict[tuple[int, str], str]:
    """How programs differ from the host, by number and setting; nothing for those that do not."""
    given = inputs(seed)
    host = host or Host(programs, given)
    wave = wave_size(arch)
    seen: dict[tuple[int, str], None] = {}
    found = {}
    with gpulab.using(f"virtual:{arch}"):
        words, uniforms = (gpulab.to_device(a) for a in given)
        out, bins = gpulab.empty(THREADS, "uint64"), gpulab.empty(BINS, "uint64")
        for setting in settings:
            chosen = [k for k, p in enumerate(programs) if not (p.floats and "fast" in setting)]
            if not chosen:
                continue
            compiled, broken = _compile(programs, chosen, setting)
            found.update({(k, setting): text for k, text in broken.items()})
            for k, (module, place) in compiled.items():
                code = _machine_code(module._code.assembly, f"kernel{place}")
                if code and (k, code) in seen:
                    continue
                seen[k, code] = None
                expected, expected_bins = host.results(k, wave)
                try:
                    out.copy_from(np.zeros(THREADS, "uint64"))
                    bins.copy_from(np.zeros(BINS, "uint64"))
                    module[f"kernel{place}"][BLOCKS, BLOCK](words, uniforms, out, bins)
                except gpulab.GpulabError as error:
                    found[k, setting] = f"{type(error).__name__}: {error}"
                    continue
                got, got_bins = out.to_host(), bins.to_host()
                if (got != expected).any():
                    lanes = np.flatnonzero(got != expected)
                    found[k, setting] = f"{len(lanes)} of {THREADS} threads differ, first {lanes[0]}"
                elif (got_bins != expected_bins).any():
                    found[k, setting] = f"bins differ: {got_bins} for {expected_bins}"
    return found


def smaller(program: WaveProgram) -> Iterator[WaveProgram]:
    """Programs with one phase, exchange or part left out or simplified."""
    for place, phase in enumerate(program.phases):
        yield replace(program, phases=program.phases[:place] + program.phases[place + 1 :])
        if phase.exchange:
            yield _with(program, place, replace(phase, exchange=""))
    for place, phase in enumerate(program.phases):
        nodes = list(phase.body.walk())
        for number, node in enumerate(nodes):
            for cut in _cuts(node):
                body = copy.deepcopy(phase.body)
                target = next(n for k, n in enumerate(body.walk()) if k == number)
                target.form, target.type, target.block = cut.form, cut.type, cut.block
                target.kids = copy.deepcopy(cut.kids)
                yield _with(program, place, replace(phase, body=body))


def _with(program: WaveProgram, place: int, phase: Phase) -> WaveProgram:
    return replace(program, phases=(*program.phases[:place], phase, *program.phases[place + 1 :]))


def reduce_waves(program: WaveProgram, arch: str, setting: str, seed: int = 1, rounds: int = 40) -> WaveProgram:
    """A smaller program that still differs."""
    for _ in range(rounds):
        candidates: list[WaveProgram] = []
        better = None
        for candidate in smaller(program):
            candidates.append(candidate)
            if len(candidates) == 16:
                better = _first(candidates, arch, setting, seed)
                candidates = []
                if better is not None:
                    break
        if better is None and candidates:
            better = _first(candidates, arch, setting, seed)
        if better is None:
            return program
        program = better
    return program


def _first(candidates: list[WaveProgram], arch: str, setting: str, seed: int) -> WaveProgram | None:
    found = compare_waves(candidates, arch, [setting], seed)
    return next((c for k, c in enumerate(candidates) if "differ" in found.get((k, setting), "")), None)
