"""How blocks become host functions: `Pieces` gives each piece its way in and out; a `Translation` is what comes out."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from gpulab.records import Later
from gpulab.virtual_gpu import dispatch
from gpulab.virtual_gpu.isa.instruction import Symbol
from gpulab.virtual_gpu.translate import counting, layout
from gpulab.virtual_gpu.translate.decode import Decoded
from gpulab.virtual_gpu.translate.emitter import Local, Value
from gpulab.virtual_gpu.translate.frame import Frame, Piece
from gpulab.virtual_gpu.translate.lane_access import Observed
from gpulab.virtual_gpu.translate.steady import is_steady

PARTS = (False, sys.maxsize), (True, 1 << 18)
"""Whether functions are compiled quickly, and the characters of IR from which on the next ones are another module."""
STRAIGHT = "straight"
"""The name of the function of waves that go straight through (straight.py)."""
_LABEL = re.compile(r"label %b(\d+)\b")


@dataclass(slots=True)
class Translation:
    """LLVM IR of a kernel and what its counters mean.

    straight: IR of the function of that name, if the kernel has one (straight.py); unit: lanes that it takes at once.
    quick: IR of what is to be compiled quickly and linked with it, in modules that can be compiled side by side.
    blocks: the instruction indices of each counted block, in the order of the counters.
    segments: when profiling, the instructions executed under one EXEC each, in the order of the rows of lane counts.
    zeroed: VGPRs that may be read before they are written. scalars: the same of scalar registers, a bit each.
    slots: memory instructions, each with an entry in a thread's table of allocations.
    symbols: (symbol operand, instruction) in the order of the table that a wave's `symbols` points to.
    accesses: what an observer is told of, by the number it is given.
    widest: the most of them in one run: rows of the buffer that a wave's `addresses` points to.
    steady: whether launches with the same arguments make the same accesses (steady.py).
    """

    ir: str
    straight: str
    unit: int
    quick: tuple[str, ...]
    name: str
    blocks: list[list[int]]
    segments: list[list[int]]
    zeroed: list[int]
    scalars: int
    slots: int
    decoded: dict[int, Decoded]
    symbols: list[tuple[Symbol, int]]
    accesses: list[Observed]
    widest: int
    steady: Later[bool]


def together(functions: Sequence[str], size: int) -> Iterator[str]:
    """Functions one after the other, in texts of at least `size` characters, but for the last."""
    begin, length = 0, 0
    for end, function in enumerate(functions, 1):
        length += len(function)
        if length >= size or end == len(functions):
            yield "\n".join(functions[begin:end])
            begin, length = end, 0


class Pieces(Frame):
    """The last step of a translation."""

    pieces: list[Piece]

    def _assemble(self, common: list[str], straight: str, unit: int) -> Translation:
        e, pieces, name = self.emitter, self.pieces, "kernel"
        outside: list[set[int]] = []  # blocks of other pieces that a piece leads to
        for piece in pieces:
            self._back(piece)
            targets = {int(t) for line in piece.lines if line.startswith("  br") for t in _LABEL.findall(line)}
            outside.append(targets - piece.blocks)
            self.resume |= outside[-1]
        modules: dict[bool, list[str]] = {False: [], True: []}
        for n, (piece, elsewhere) in enumerate(zip(pieces, outside, strict=True)):
            title = name if len(pieces) == 1 else f"{name}.{n}"
            modules[piece.quick].append(self._function(piece, elsewhere, common, title))
            if piece.quick:
                modules[False].append(f"declare i32 @{title}(ptr, ptr)")
        if len(pieces) > 1:
            modules[False].append(self._leader(name))
        notes = ['!0 = !{!"branch_weights", i32 1000, i32 1}', '!1 = !{!"branch_weights", i32 1, i32 1000}', "!2 = !{}"]
        own = [counting.FUNCTIONS] if self.profile else []
        shared = "\n".join([*own, *e.declarations.values(), *notes, ""])
        text, quick = (tuple(f"{part}\n{shared}" for part in together(modules[kind], size)) for kind, size in PARTS)
        start = self.entry_live[self.kernel.entry]
        user, entry = dispatch.initial_registers(self.kernel, self.program.arch).user, self.kernel.entry
        pointers = [user[name][0] for name in ("kernarg_segment_ptr", "dispatch_ptr") if name in user]
        zeroed = [r for r in range(512) if (start.active | start.asleep) >> r & 1]
        return Translation(
            "".join(text),
            f"{straight}\n{shared}" if straight else "",
            unit,
            quick,
            name,
            [list(b) for b in self.blocks.values()],
            self.segments,
            zeroed,
            start.scalars,
            len(self.slots),
            self.decoded,
            list(self.symbol_slots),
            self.accesses,
            self.run.accesses.widest,
            Later(partial(is_steady, entry, pointers, self.blocks, self.decoded, self.successors, self.after)),
        )

    def _back(self, piece: Piece) -> None:
        """The backward branches of a piece: each counts the budget. A label after the last instruction is no place."""
        e = self.emitter
        e.lines = piece.lines
        for (source, target), label in piece.back_edges.items():
            e.label(label)
            if target not in self.blocks:
                self._stop("bad jump", source)
                continue
            left = self._spend(max(1, source - target + 1))
            e.branch(e.let(f"icmp sgt i64 {left}, 0"), f"b{target}", f"{label}.yield", likely=True)
            e.label(f"{label}.yield")
            self._store_field("pc", target)
            self._store_field("first_instruction", source)
            e.do(f"ret i32 {layout.YIELD}")

    def _function(self, piece: Piece, outside: set[int], common: list[str], name: str) -> str:
        """A piece with the way in and out."""
        e = self.emitter
        self._switch(piece)
        for target in sorted(outside):
            e.label(f"b{target}")
            self._store_field("pc", target)
            e.do(f"ret i32 {layout.ELSEWHERE}")
        e.label("dispatch")
        address = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('pc')}")
        pc = e.let(f"load i32, ptr {address}")
        left_at = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('budget')}")
        out = e.let(f"icmp sle i64 {e.let(f'load i64, ptr {left_at}')}, 0")
        e.branch(out, "yield", "select", likely=False)
        e.label("yield")
        e.do(f"ret i32 {layout.YIELD}")
        e.label("select")
        known = [t for t in sorted(self.resume) if t in self.blocks]
        cases = [f"i32 {t}, label %{f'b{t}' if t in piece.blocks else 'leave'}" for t in known]
        e.do(f"switch i32 {pc}, label %lost [ {' '.join(cases)} ]")
        e.label("leave")
        e.do(f"ret i32 {layout.ELSEWHERE}")
        e.label("lost")
        stop_at = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('stop')}")
        stop = e.let(f"load ptr, ptr {stop_at}")
        from_at = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('first_instruction')}")
        came = e.let(f"load i32, ptr {from_at}")
        e.let(f"call i32 {stop}(ptr %wave, i32 {layout.FAULTS.index('bad jump')}, i32 {came})")
        e.jump("faulted")
        e.label("faulted")
        e.do(f"ret i32 {layout.FAULT}")
        alone = len(self.pieces) == 1 and not self.checked
        way = self._next_wave() if alone else []
        if not alone:
            for label, status in (("ended", layout.ENDED), ("waits", layout.BARRIER)):
                e.label(label)
                e.do(f"ret i32 {status}")
        rooms = [line for line in piece.entry_lines if " = alloca " in line]
        others = [line for line in piece.entry_lines if " = alloca " not in line]
        names = ("first", "first_vgprs") if alone else ("wave", "vgprs")
        shared = [line.replace("ptr %wave,", "ptr %first,") for line in common] if alone else common
        head = f"define i32 @{name}(ptr noalias %{names[0]}, ptr noalias %{names[1]}) nounwind noinline {{"
        entry = [*rooms, *shared, *way, *self.wave_lines, *others]
        return "\n".join([head, "entry:", *entry, "  br label %dispatch", *e.lines, "}"])

    def _next_wave(self) -> list[str]:
        """A wave that has ended or waits at a barrier gives way to the next one of its workgroup, if that is where it
        was itself when it began; else the function returns. Emits that, and gives the lines of the way in."""
        e = self.emitter

        def field(of: Value, name: str) -> Value:
            return e.let(f"getelementptr i8, ptr {of}, i64 {layout.offset(name)}")

        wave, other, vgprs = Local("%wave"), Local("%next"), e.ahead("next_vgprs")
        for label in ("ended", "waits"):
            e.label(label)
            e.jump("turn")
        e.label("turn")
        e.do(f"%status = phi i32 [ {layout.ENDED}, %ended ], [ {layout.BARRIER}, %waits ]")
        e.do(f"%next = load ptr, ptr {field(wave, 'next')}")
        e.branch(e.let("icmp eq ptr %next, null"), "out", "look")
        e.label("look")
        was = field(wave, "status")
        status = e.let(f"load i32, ptr {field(other, 'status')}")
        alike = e.let(f"icmp eq i32 {e.let(f'load i32, ptr {was}')}, {status}")
        left = e.let(f"load i64, ptr {field(other, 'budget')}")
        ready = e.let(f"and i1 {alike}, {e.let(f'icmp sgt i64 {left}, 0')}")
        e.branch(ready, "go_on", "out", likely=True)
        e.label("go_on")
        e.do(f"store i32 %status, ptr {was}")
        thread = e.let(f"load ptr, ptr {field(wave, 'thread')}")
        running = e.let(f"getelementptr i8, ptr {thread}, i64 {layout.RUNNING}")
        e.do(f"store ptr %next, ptr {running}")
        e.do(f"{vgprs} = load ptr, ptr {field(other, 'vgprs')}")
        e.jump("start")
        e.label("out")
        e.do("ret i32 %status")
        return [
            "  br label %start",
            "start:",
            "  %wave = phi ptr [ %first, %entry ], [ %next, %go_on ]",
            f"  %vgprs = phi ptr [ %first_vgprs, %entry ], [ {vgprs}, %go_on ]",
        ]

    def _leader(self, name: str) -> str:
        """The function that calls pieces by the pc until one returns for another reason than a jump."""
        cases = []
        for n, piece in enumerate(self.pieces):
            cases += [f"i32 {t}, label %run{n}" for t in sorted(self.resume & piece.blocks)]
        lines = [
            f"define i32 @{name}(ptr noalias %wave, ptr noalias %vgprs) nounwind {{",
            "entry:",
            f"  %at = getelementptr i8, ptr %wave, i64 {layout.offset('pc')}",
            "  br label %next",
            "next:",
            "  %pc = load i32, ptr %at",
            f"  switch i32 %pc, label %run0 [ {' '.join(cases)} ]",
        ]
        for n in range(len(self.pieces)):
            lines += [f"run{n}:", f"  %r{n} = call i32 @{name}.{n}(ptr %wave, ptr %vgprs)", "  br label %done"]
        results = ", ".join(f"[ %r{n}, %run{n} ]" for n in range(len(self.pieces)))
        lines += ["done:", f"  %result = phi i32 {results}", f"  %again = icmp eq i32 %result, {layout.ELSEWHERE}"]
        lines += ["  br i1 %again, label %next, label %out", "out:", "  ret i32 %result", "}"]
        return "\n".join(lines)
