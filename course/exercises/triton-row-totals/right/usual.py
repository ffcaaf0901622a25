import triton
import triton.language as tl


@triton.jit
def row_totals(x, total, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    mask = (row[:, None] < rows) & (column[None, :] < columns)
    block = tl.load(x + row[:, None] * columns + column[None, :], mask=mask, other=0)
    sums = tl.sum(block, axis=1)
    tl.atomic_add(total + row, sums, mask=row < rows)
