"""What a profile counts beside the executions of blocks: `Counting` emits how often each lane was active, by segment.

A segment is what is executed under one EXEC. Its row (LaneCounts in schema.py) counts executions with all lanes apart,
of others each lane in a byte; every 128 of these join the sums.
"""

from __future__ import annotations

from gpulab.virtual_gpu.translate import layout
from gpulab.virtual_gpu.translate.emitter import Integer, Value, signed
from gpulab.virtual_gpu.translate.frame import Frame

_PARTIAL = 8  # bytes into a row: executions with not all lanes
FUNCTIONS = f"""\
define internal void @sum_lanes(ptr %row) nounwind noinline {{
entry:
  %small = getelementptr i8, ptr %row, i64 {layout.LANE_BYTES}
  %sums = getelementptr i8, ptr %row, i64 {layout.LANE_SUMS}
  br label %lane
lane:
  %number = phi i64 [ 0, %entry ], [ %next, %lane ]
  %from = getelementptr i8, ptr %small, i64 %number
  %to = getelementptr i64, ptr %sums, i64 %number
  %count = load i8, ptr %from
  %more = zext i8 %count to i64
  %before = load i64, ptr %to
  %after = add i64 %before, %more
  store i64 %after, ptr %to
  store i8 0, ptr %from
  %next = add i64 %number, 1
  %last = icmp eq i64 %next, 64
  br i1 %last, label %done, label %lane
done:
  ret void
}}
define internal void @add_lanes(ptr %row, i64 %mask, i64 %times) nounwind noinline {{
entry:
  %sums = getelementptr i8, ptr %row, i64 {layout.LANE_SUMS}
  br label %lane
lane:
  %number = phi i64 [ 0, %entry ], [ %next, %lane ]
  %to = getelementptr i64, ptr %sums, i64 %number
  %shifted = lshr i64 %mask, %number
  %active = and i64 %shifted, 1
  %more = mul i64 %active, %times
  %before = load i64, ptr %to
  %after = add i64 %before, %more
  store i64 %after, ptr %to
  %next = add i64 %number, 1
  %last = icmp eq i64 %next, 64
  br i1 %last, label %done, label %lane
done:
  ret void
}}"""
"""sum_lanes: the bytes of a row join its sums, and are zero. add_lanes: so many executions by all lanes of a mask."""


class Counting(Frame):
    """Emits it; nothing of it where no profile is wanted."""

    def _row(self, segment: int) -> Value:
        return self.emitter.let(f"getelementptr i8, ptr {self.active}, i64 {layout.LANE_ROW * segment}")

    def _open_segment(self) -> None:
        """What comes now is executed under EXEC as it is."""
        if not self.profile:
            return
        e = self.emitter
        row = self._row(len(self.segments))
        self.segments.append([])
        mask = self.scalars.mask(layout.EXEC)
        some, counted = self._if_whole(row, mask, Integer(1))
        e.label(some)
        # The mask's bytes, each for eight lanes, of which each looks at its own bit.
        size = self.wave_size
        own_mask = e.let(f"trunc i64 {mask} to i32") if size == 32 else mask
        bits = e.let(f"bitcast i{size} {own_mask} to <{size // 8} x i8>")
        spread = ", ".join(f"i32 {lane // 8}" for lane in range(size))
        each = e.let(f"shufflevector <{size // 8} x i8> {bits}, <{size // 8} x i8> poison, <{size} x i32> <{spread}>")
        own = "<" + ", ".join(f"i8 {signed(1 << lane % 8, 8)}" for lane in range(size)) + ">"
        active = e.let(f"icmp eq <{size} x i8> {e.let(f'and <{size} x i8> {each}, {own}')}, {own}")
        self._add_bytes(row, e.let(f"sext <{size} x i1> {active} to <{size} x i8>"))
        times = e.let(f"and i64 {self._add(e.let(f'getelementptr i8, ptr {row}, i64 {_PARTIAL}'), Integer(1))}, 127")
        self._sum_if(row, e.let(f"icmp eq i64 {times}, 0"), counted)

    def _if_whole(self, row: Value, mask: Value, times: Value) -> tuple[str, str]:
        """Counts so many executions if they are by all lanes: the labels for where they are not, and for afterwards."""
        e = self.emitter
        whole, some, counted = (e.name(name) for name in ("whole", "some", "counted"))
        e.branch(e.let(f"icmp eq i64 {mask}, {signed((1 << self.wave_size) - 1, 64)}"), whole, some)
        e.label(whole)
        self._add(row, times)
        e.jump(counted)
        return some, counted

    def _add_bytes(self, row: Value, less: Value) -> None:
        """Take these numbers, one for each lane and none above 0, from a row's bytes."""
        e, bytes_ = self.emitter, f"<{self.wave_size} x i8>"
        place = e.let(f"getelementptr i8, ptr {row}, i64 {layout.LANE_BYTES}")
        before = e.let(f"load {bytes_}, ptr {place}, align 8")
        e.do(f"store {bytes_} {e.let(f'sub {bytes_} {before}, {less}')}, ptr {place}, align 8")

    def _sum_if(self, row: Value, full: Value, counted: str) -> None:
        """The row's bytes join its sums if this holds; then goes on at the label `counted`."""
        e = self.emitter
        sum_ = e.name("full")
        e.branch(full, sum_, counted, likely=False)
        e.label(sum_)
        e.do(f"call void @sum_lanes(ptr {row})")
        e.jump(counted)
        e.label(counted)

    def _executed(self, segment: int, mask: Value, times: Value) -> None:
        """A segment was executed so many times under one mask."""
        e = self.emitter
        row = self._row(segment)
        some, counted = self._if_whole(row, mask, times)
        e.label(some)
        e.do(f"call void @add_lanes(ptr {row}, i64 {mask}, i64 {times})")
        e.jump(counted)
        e.label(counted)

    def _executed_apart(self, segment: int, less: Value, waves: Value) -> None:
        """A segment was executed by so many waves or less, at most 32, with not all lanes.

        less: how often each lane was active, below 0.
        """
        e = self.emitter
        row = self._row(segment)
        self._add_bytes(row, less)
        after = self._add(e.let(f"getelementptr i8, ptr {row}, i64 {_PARTIAL}"), waves)
        crossed = e.let(f"icmp ult i64 {e.let(f'and i64 {after}, 127')}, {waves}")
        self._sum_if(row, crossed, e.name("counted"))
