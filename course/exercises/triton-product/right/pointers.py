import triton
import triton.language as tl


@triton.jit
def product(a, b, c, m, n, k, SIDE: tl.constexpr):
    i, j = tl.program_id(0) * SIDE + tl.arange(0, SIDE), tl.program_id(1) * SIDE + tl.arange(0, SIDE)
    step = tl.arange(0, SIDE)
    from_a = a + i[:, None] * k + step[None, :]
    from_b = b + step[:, None] * n + j[None, :]
    found = tl.dot(tl.load(from_a), tl.load(from_b))
    for _ in range(1, tl.cdiv(k, SIDE)):
        from_a += SIDE
        from_b += SIDE * n
        found += tl.dot(tl.load(from_a), tl.load(from_b))
    tl.store(c + i[:, None] * n + j[None, :], found)
