import triton
import triton.language as tl


@triton.jit
def product(a, b, c, m, n, k, SIDE: tl.constexpr):
    at = tl.arange(0, SIDE)
    row = tl.program_id(0) * SIDE + at
    column = tl.program_id(1) * SIDE + at
    total = tl.zeros((SIDE, SIDE), tl.float32)
    for start in range(0, k, SIDE):
        left = tl.load(a + row[:, None] * k + start + at[None, :])
        right = tl.load(b + (start + at[:, None]) * n + column[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + row[:, None] * n + column[None, :], total)
