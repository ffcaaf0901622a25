"""Runs: straight-line vector instructions that become one loop over chunks of 8 or 16 lanes.

`Run.add` takes an instruction and captures its scalar operands as they are at that point, so that scalar
instructions between the vector ones need not wait; `Run.flush` emits the loop. What ends a run is decided by
`Run.conflicts`: a scalar reader of a lane mask made in the run, and the order of memory accesses (within one address
space nothing follows a store, and no store follows anything).
"""

from __future__ import annotations

from collections.abc import Callable

from gpulab.virtual_gpu.isa.buffers import Rules
from gpulab.virtual_gpu.isa.instruction import Register, Symbol
from gpulab.virtual_gpu.isa.row import Memory
from gpulab.virtual_gpu.translate import layout
from gpulab.virtual_gpu.translate.accesses import Accesses
from gpulab.virtual_gpu.translate.captured import Capture, Item, mask_number
from gpulab.virtual_gpu.translate.chunk import Chunk
from gpulab.virtual_gpu.translate.decode import Decoded, bits, into_lds, scalar_number, words
from gpulab.virtual_gpu.translate.emitter import Emitter, Value
from gpulab.virtual_gpu.translate.lanewise import Lanewise
from gpulab.virtual_gpu.translate.liveness import Live
from gpulab.virtual_gpu.translate.memory import Observed, Site
from gpulab.virtual_gpu.translate.modes import Mode
from gpulab.virtual_gpu.translate.scalars import Scalars

# Memory that lanes share and that an access may reach. Scratch is each lane's own: its order is that of the chunk.
_SPACES: dict[str, tuple[str, ...]] = {"flat": ("global", "lds"), "buffer": ("global",), "scratch": ()}


class Run:
    """The run being collected in the current block."""

    def __init__(
        self,
        emitter: Emitter,
        scalars: Scalars,
        wave_size: int,
        site: Site,
        slot: Callable[[int], int],
        symbol: Callable[[Symbol, int], Value],
        arch: str,
        observe: Callable[[Observed], int],
        rules: Rules,
        scratch_buffer: bool = False,
    ) -> None:
        self.emitter, self.scalars, self.wave_size = emitter, scalars, wave_size
        self.capture = Capture(emitter, scalars, wave_size, site, symbol, rules, scratch_buffer)
        self.lanewise = Lanewise(emitter, wave_size, arch)
        self.accesses = Accesses(emitter, wave_size, site, slot, observe)
        self.opaque = False  # whether a loop's counter is hidden from LLVM
        self.items: list[Item] = []
        self.masks = 0  # scalar registers that this run will write
        self.starts: set[int] = set()  # where the lane masks among them begin
        self.spaces: dict[str, str] = {}  # "load" or "store" by address space
        self.vectors = 0  # vector registers that this run has written so far

    def new_block(self) -> None:
        self.capture.new_block()
        self.accesses.new_block()

    # what may follow what

    def conflicts(self, decoded: Decoded) -> bool:
        """Whether the run must be emitted before this instruction."""
        if not self.items:
            return False
        if decoded.is_vector:
            row = decoded.row
            if isinstance(row, Memory):
                return self._memory_conflict(decoded) or bool(self.masks & decoded.scalar_reads)
            return bool(self.masks & (self._scalar_values(decoded) | self._misplaced_masks(decoded)))
        return bool(self.masks & (decoded.scalar_reads | decoded.scalar_writes))

    def _scalar_values(self, decoded: Decoded) -> int:
        """Scalar registers that a vector instruction reads as values. (Masks made in the run it takes lane by lane.)"""
        whole = {"exec": bits(layout.EXEC, 2), "m0": bits(layout.M0, 1), "scc": bits(layout.SCC, 1)}
        found = 0
        for part in (decoded, decoded.pair):
            if part is None:
                continue
            for parameter, operand in part.sources:
                if parameter.implicit and parameter.name in whole:
                    found |= whole[parameter.name]
                    continue
                if operand is None or not isinstance(operand.value, Register):
                    continue
                number = scalar_number(operand.value)
                if parameter.type.kind == "b":
                    # A mask of which the run made only a part must be whole first.
                    if number is not None:
                        mine = bits(number, self.wave_size // 32)
                        if self.masks & mine and number not in self.starts:
                            found |= mine
                    continue
                if operand.value.name == "vccz":
                    found |= bits(layout.VCC, 2)
                elif number is not None:
                    found |= bits(number, words(parameter.type))
        return found

    def _misplaced_masks(self, decoded: Decoded) -> int:
        """Registers of masks that an instruction writes and that would cover only a part of one made in the run."""
        found = 0
        for part in (decoded, decoded.pair):
            for result, operand in part.results if part else ():
                number = mask_number(result.name, result.type, operand)
                if number is not None and number not in self.starts:
                    found |= bits(number, self.wave_size // 32)
        return found

    def _touched(self, decoded: Decoded) -> list[tuple[str, bool]]:
        """The address spaces that a memory instruction may reach, and whether it writes there."""
        row = decoded.row
        assert isinstance(row, Memory)
        found = [(space, row.action != "load") for space in _SPACES.get(row.space, (row.space,))]
        return [*found, ("lds", True)] if into_lds(decoded.instruction, row) else found

    def _memory_conflict(self, decoded: Decoded) -> bool:
        for space, writes in self._touched(decoded):
            seen = self.spaces.get(space)
            if seen is not None and (writes or seen == "store"):
                return True
        return False

    # collecting

    def add(self, decoded: Decoded, mode: Mode) -> None:
        item = self.capture.item(decoded, mode, self.masks)
        if decoded.pair is not None:
            item.second = self.capture.item(decoded.pair, mode, self.masks)
        self.items.append(item)
        self.masks |= decoded.scalar_writes
        if decoded.scalar_writes:
            for part in (decoded, decoded.pair):
                for result, operand in part.results if part else ():
                    number = mask_number(result.name, result.type, operand)
                    if number is not None:
                        self.starts.add(number)
        self.vectors |= decoded.vector_writes
        row = decoded.row
        if isinstance(row, Memory):
            for space, writes in self._touched(decoded):
                self.spaces[space] = "store" if writes or self.spaces.get(space) == "store" else "load"

    # emitting

    def flush(self, live: Callable[[int], Live]) -> None:
        """Emit the loop, if there is anything to run, and take over the masks it made."""
        if not self.items:
            return
        items, self.items = self.items, []
        masks, self.masks = self.masks, 0
        self.starts.clear()
        self.spaces.clear()
        self.vectors = 0
        after = live(items[-1].decoded.index)
        for item in items:
            if item.address.buffer is not None:
                item.inside = self.emitter.entry("alloca i64")
                self.emitter.do(f"store i64 0, ptr {item.inside}")
        e = self.emitter
        exec_mask = self.scalars.mask(layout.EXEC)
        wanted = sorted(n for n in range(layout.SCALARS) if masks >> n & 1)
        head, body, latch, done = (e.name(n) for n in ("run", "chunk", "next", "run_done"))
        self.accesses.check_frames(items, exec_mask)
        before = e.block
        counted, step = e.ahead("c"), e.ahead("c_next")
        e.jump(head)
        lines_before = len(e.lines)
        e.label(head)
        e.do(f"{counted} = phi i64 [ 0, %{before} ], [ {step}, %{latch} ]")
        marker = len(e.lines)
        number: Value = counted
        if self.opaque:  # empty assembly code: no instruction, but LLVM's strength reduction has nothing to go by
            number = e.let(f'call i64 asm "", "=r,0"(i64 {counted}) nounwind memory(none)')
        shift = e.let(f"shl i64 {number}, {e.shift}")
        bits_ = e.let(f"trunc i64 {e.let(f'lshr i64 {exec_mask}, {shift}')} to {e.byte}")
        e.branch(e.let(f"icmp eq {e.byte} {bits_}, 0"), latch, body)
        e.label(body)
        chunk = Chunk(e, self.wave_size, number, bits_)
        for item in items:
            self._emit(chunk, item)
        # v_cmpx ends a run and puts lanes to sleep: what they hold is stored if they may need it later.
        chunk.store(after.active | after.asleep if items[-1].decoded.exec_effect else after.active)
        kept: dict[int, Value] = {}
        for start, value in chunk.masks.items():
            if start not in wanted:
                continue
            mine = bits(start, self.wave_size // 32)
            if start == layout.EXEC or after.scalars & mine:
                byte = e.let(f"zext {e.byte} {e.let(f'bitcast {e.v1} {value} to {e.byte}')} to i64")
                kept[start] = e.let(f"shl i64 {byte}, {shift}")
        end = e.block
        e.jump(latch)
        e.label(latch)
        sums: dict[int, tuple[Value, Value]] = {}
        for start, value in kept.items():
            part = e.let(f"phi i64 [ 0, %{head} ], [ {value}, %{end} ]")
            sums[start] = (part, e.ahead("mask"))
        totals: dict[int, Value] = {}
        for start, (mine_here, total) in sums.items():
            totals[start] = e.let(f"or i64 {total}, {mine_here}")
        e.do(f"{step} = add i64 {number}, 1")
        e.branch(e.let(f"icmp eq i64 {step}, {self.wave_size // e.lanes}"), done, head)
        # The accumulators' phis belong to the head, which is emitted already.
        phis = [
            f"  {total} = phi i64 [ 0, %{before} ], [ {totals[start]}, %{latch} ]" for start, (_, total) in sums.items()
        ]
        e.lines[marker:marker] = phis
        assert lines_before <= marker
        e.label(done)
        for start in kept:
            self.scalars.set_mask(start, totals[start])
        self.accesses.report(exec_mask)

    def _emit(self, chunk: Chunk, item: Item) -> None:
        if isinstance(item.decoded.row, Memory):
            self.accesses.emit(chunk, item)
            return
        results = self.lanewise.compute(chunk, item)
        if item.second is not None:  # both halves of a dual instruction read before either writes
            results += self.lanewise.compute(chunk, item.second)
        for write in results:
            write()
