import triton
import triton.language as tl


@triton.jit
def row_totals(x, total, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[None, :]
    column = (tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS))[:, None]
    there = (row < rows) & (column < columns)
    block = tl.where(there, tl.load(x + row * columns + column, mask=there), 0)
    at = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    tl.atomic_add(total + at, tl.sum(block, 0), mask=at < rows)
