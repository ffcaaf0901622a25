"""`Frame`: the state of one translation, and what all its parts emit: entry values, counts, stops, notes."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpulab.virtual_gpu import isa
from gpulab.virtual_gpu.isa.instruction import KernelDescriptor, Program, Symbol
from gpulab.virtual_gpu.translate import jit, layout
from gpulab.virtual_gpu.translate.crosslane import CrossLaneEmitter
from gpulab.virtual_gpu.translate.decode import Decoder
from gpulab.virtual_gpu.translate.emitter import Emitter, Value
from gpulab.virtual_gpu.translate.lane_access import Observed, Site
from gpulab.virtual_gpu.translate.liveness import Live, analyse
from gpulab.virtual_gpu.translate.runs import Run
from gpulab.virtual_gpu.translate.salu import Salu
from gpulab.virtual_gpu.translate.scalars import Scalars
from gpulab.virtual_gpu.translate.structure import Structure

SMALL = 300  # instructions of a kernel up to which runs are emitted for a whole wave, too


@dataclass(slots=True)
class Piece:
    """Blocks that become one function, and their lines of IR."""

    quick: bool
    blocks: set[int] = field(default_factory=set)
    lines: list[str] = field(default_factory=list)
    entry_lines: list[str] = field(default_factory=list)  # beside those that all pieces have
    back_edges: dict[tuple[int, int], str] = field(default_factory=dict)


class Frame(Structure):
    """What the parts of a translation share: emitters, tables, the way into the wave's state and out of a function."""

    def __init__(
        self,
        program: Program,
        kernel: KernelDescriptor,
        decoder: Decoder,
        mode: int,
        profile: bool,
        check_alignment: bool,
        lanes: int | None,
        checked: bool,
        quick: bool,
        wide: bool,
    ) -> None:
        super().__init__(program, kernel, decoder, mode)
        self.profile, self.check_alignment, self.checked = profile, check_alignment, checked
        self.quick, self.wide = quick, wide
        self.emitter = e = Emitter(lanes or jit.host().lanes)
        self.entry_live, self.after = analyse(
            {b: [self.decoded[i] for i in body] for b, body in self.blocks.items()}, self.successors
        )
        self.slots: dict[int, int] = {}
        self.symbol_slots: dict[tuple[Symbol, int], int] = {}
        self.segments: list[list[int]] = []
        self.accesses: list[Observed] = []
        self._back_edges: dict[tuple[int, int], str] = {}
        self.resume: set[int] = {kernel.entry, *self.landing}
        self.scalars = Scalars(e, self.wave_size)
        self.site = self._entry_values()
        self.generation = isa.generation_of(program.arch).name
        self.run = Run(
            e,
            self.scalars,
            self.wave_size,
            self.site,
            self.slot,
            self.symbol,
            program.arch,
            self.observe,
            isa.generation_of(program.arch).buffers,
            bool(kernel.directives.get("user_sgpr_private_segment_buffer")),
            # Of several dimensions x is seldom as wide as a wave.
            whole=len(self.order) < SMALL and not kernel.directives.get("system_vgpr_workitem_id"),
        )
        self.salu = Salu(e, self.scalars, self.site, self.symbol, self.run.capture.special, self.observe)
        registers = 256 + kernel.agprs if kernel.agprs else max(kernel.vgprs, 1)
        self.crosslane = CrossLaneEmitter(e, self.scalars, self.wave_size, self.salu, registers, checked)

    def symbol(self, symbol: Symbol, index: int) -> Value:
        """The value of a symbol operand, from the kernel's table: so code does not depend on addresses and is kept."""
        slot = self.symbol_slots.setdefault((symbol, index), len(self.symbol_slots))
        return self.emitter.let(
            f"load i32, ptr {self.emitter.let(f'getelementptr i32, ptr {self.symbols}, i64 {slot}')}"
        )

    def observe(self, access: Observed) -> int:
        """The number of a memory access for the observer."""
        self.accesses.append(access)
        return len(self.accesses) - 1

    def slot(self, index: int) -> int:
        return self.slots.setdefault(index, len(self.slots))

    def _entry_values(self) -> Site:
        e = self.emitter

        def field(name: str, type: str) -> Value:
            address = e.entry(f"getelementptr i8, ptr %wave, i64 {layout.offset(name)}")
            return e.entry(f"load {type}, ptr {address}, !invariant.load !2")

        e.entry_lines.append("  ; what never changes during the kernel")
        blend = field("blend", "ptr")
        e.entry_lines.append(f"  %blend = getelementptr i8, ptr {blend}, i64 0")
        self.counters = field("counters", "ptr")
        self.active = field("active", "ptr")
        self.symbols = field("symbols", "ptr")
        return Site(
            high=None if self.wide else field("high", "i32"),
            cache=field("cache", "ptr"),
            lds=field("lds", "ptr"),
            scratch=self._own_scratch(),
            scratch_bytes=e.entry(f"zext i32 {field('scratch_bytes', 'i32')} to i64"),
            resolve=field("resolve", "ptr"),
            load=field("load", "ptr"),
            store=field("store", "ptr"),
            fault="faulted",
            observer=field("observer", "ptr"),
            addresses=field("addresses", "ptr"),
            check_alignment=self.check_alignment,
            record=self.profile or self.checked,
            checked=self.checked,
        )

    def _own_scratch(self) -> Value:
        """Of the entry's values the one that waves of a workgroup do not share: `wave_lines` has it."""
        e, shared = self.emitter, self.emitter.entry_lines
        self.wave_lines: list[str] = []
        e.entry_lines = self.wave_lines
        address = e.entry(f"getelementptr i8, ptr %wave, i64 {layout.offset('scratch')}")
        value = e.entry(f"load ptr, ptr {address}, !invariant.load !2")
        e.entry_lines = shared
        return value

    def _switch(self, piece: Piece) -> None:
        """What is emitted from here on belongs to a piece."""
        e = self.emitter
        if e.lines is not piece.lines:
            e.lines, e.entry_lines, self._back_edges = piece.lines, piece.entry_lines, piece.back_edges
            self.crosslane.new_function()

    def _count(self, number: int, times: Value) -> None:
        """Count executions of a block."""
        self._add(self.emitter.let(f"getelementptr i64, ptr {self.counters}, i64 {number}"), times)

    def _add(self, place: Value, amount: Value) -> Value:
        """Add to the 64 bits at a place; the sum."""
        e = self.emitter
        total = e.let(f"add i64 {e.let(f'load i64, ptr {place}')}, {amount}")
        e.do(f"store i64 {total}, ptr {place}")
        return total

    def _live(self, index: int) -> Live:
        return self.after[index]

    def _flush(self) -> None:
        self.run.flush(self._live)

    def _finish(self, index: int) -> None:
        """The end of a block whose last instruction is `index`: everything that is live goes to the wave's state."""
        self._flush()
        self.scalars.flush(self.after[index].scalars)

    def _store_field(self, name: str, value: int) -> None:
        e = self.emitter
        address = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset(name)}")
        e.do(f"store i32 {value}, ptr {address}")

    def _stop(self, kind: str, index: int) -> None:
        e = self.emitter
        address = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('stop')}")
        function = e.let(f"load ptr, ptr {address}")
        e.let(f"call i32 {function}(ptr %wave, i32 {layout.FAULTS.index(kind)}, i32 {index})")
        e.jump("faulted")

    def _note(self, what: str, index: int) -> None:
        """Tell the checker of something that is not a memory access."""
        e = self.emitter
        address = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('note')}")
        function = e.let(f"load ptr, ptr {address}")
        mask = self.scalars.mask(layout.EXEC)
        failed = e.let(f"call i32 {function}(ptr %wave, i32 {layout.NOTES.index(what)}, i32 {index}, i64 {mask})")
        go = e.name("noted")
        e.branch(e.let(f"icmp eq i32 {failed}, 0"), go, "faulted", likely=True)
        e.label(go)

    def _goto(self, source: int, target: int) -> str:
        """The label to branch to from `source`: a piece of its own if it is backward or past the end."""
        if target > source and target in self.blocks:
            return f"b{target}"
        self.resume.add(target)
        label = f"back.{source}.{target}"
        self._back_edges.setdefault((source, target), label)
        return label

    def _spend(self, amount: int) -> Value:
        e = self.emitter
        address = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('budget')}")
        left = e.let(f"sub i64 {e.let(f'load i64, ptr {address}')}, {amount}")
        e.do(f"store i64 {left}, ptr {address}")
        return left
