"""hip/hip_cooperative_groups.h: sizes, ranks, exchanges, votes, reductions and scans against lists in Python."""

from __future__ import annotations

import itertools
import operator

import numpy as np
import pytest

from gpulab import toolchain
from gpulab.errors import CompileError
from tests.headers.device import ARCHITECTURES, run

TARGETS = ["gfx942", "gfx1100", "gfx90a", "gfx950", "gfx1030", "gfx1201"]
both = pytest.mark.parametrize("arch", list(ARCHITECTURES))
HEADER = "#include <hip/hip_cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"


@both
def test_block_and_grid(arch: str) -> None:
    source = (
        HEADER
        + """
    __device__ unsigned any_group(cg::thread_group g) { g.sync(); return g.thread_rank() * 1000 + g.size(); }
    __global__ void place(unsigned* out, unsigned* shared_sum) {
        auto block = cg::this_thread_block();
        auto grid = cg::this_grid();
        __shared__ unsigned values[24];
        values[block.thread_rank()] = block.thread_rank() + 1;
        block.sync();
        unsigned* row = out + grid.thread_rank() * 8;
        row[0] = block.thread_rank(); row[1] = block.size(); row[2] = block.group_index().y;
        row[3] = block.thread_index().z; row[4] = grid.size(); row[5] = any_group(block);
        row[6] = cg::thread_rank(block) + cg::group_size(block) + grid.block_rank();
        row[7] = any_group(cg::tiled_partition(block, 4));
        cg::sync(block);
        if (block.thread_rank() == 0)
            for (unsigned v : values) shared_sum[grid.block_rank()] += v;
    }"""
    )
    (out, sums), _ = run(
        arch, source, np.zeros(6 * 24 * 8, "uint32"), np.zeros(6, "uint32"), grid=(2, 3), block=(4, 3, 2)
    )
    assert sums.tolist() == [300] * 6
    for i, row in enumerate(out.reshape(6 * 24, 8).tolist()):
        block, t = divmod(i, 24)
        assert row == [t, 24, block // 2, t // 12, 144, t * 1000 + 24, t + 24 + block, t % 4 * 1000 + 4]


def grouped(values: list[int], size: int) -> list[list[int]]:
    return [values[i : i + size] for i in range(0, len(values), size)]


@both
@pytest.mark.parametrize("size", [1, 4, 16, 32])
def test_tiles(arch: str, size: int) -> None:
    source = (
        HEADER
        + f"""
    struct three {{ int a; double b; }};
    __global__ void tiles(const int* in, long long* out) {{
        auto block = cg::this_thread_block();
        auto tile = cg::tiled_partition<{size}>(block);
        cg::thread_block_tile<{size}> plain = tile;
        int v = in[block.thread_rank()], equal, unequal;
        long long* row = out + block.thread_rank() * 24;
        row[0] = tile.thread_rank(); row[1] = tile.size(); row[2] = tile.meta_group_rank();
        row[3] = plain.meta_group_size();
        row[4] = tile.shfl(v, 2); row[5] = tile.shfl_up(v, 1); row[6] = tile.shfl_down(v, 3);
        row[7] = tile.shfl_xor(v, 1);
        row[8] = plain.ballot(v % 3 == 0); row[9] = tile.any(v == 7); row[10] = tile.all(v % 5 != 0);
        row[11] = tile.match_any(v % 4); row[12] = tile.match_all(v, unequal) + unequal;
        row[13] = tile.match_all(3, equal) * equal;
        row[14] = cg::reduce(tile, v, cg::plus<int>()); row[15] = cg::reduce(plain, v, cg::less<int>());
        row[16] = cg::reduce(tile, (long long)v << 34, cg::greater<long long>());
        row[17] = cg::reduce(tile, v, [](int a, int b) {{ return a ^ b; }});
        row[18] = cg::inclusive_scan(tile, v); row[19] = cg::exclusive_scan(tile, v);
        row[20] = cg::exclusive_scan(tile, v, cg::less<int>());
        row[21] = cg::inclusive_scan(tile, v, cg::bit_or<int>());
        row[22] = cg::exclusive_scan(tile, v, cg::bit_and<int>());
        auto last_and_sum = [](three x, three y) {{ return three{{y.a, x.b + y.b}}; }};
        three pair = cg::inclusive_scan(tile, three{{v, 0.5}}, last_and_sum);
        row[23] = pair.a + (long long)(pair.b * 1000);
        tile.sync();
    }}"""
    )
    r = np.random.default_rng(size)
    values = r.integers(1, 40, 128).astype("int32")
    (_, out), _ = run(arch, source, values, np.zeros(128 * 24, "int64"), block=(128,))
    rows = out.reshape(128, 24).tolist()
    for number, tile in enumerate(grouped(values.tolist(), size)):
        for rank, v in enumerate(tile):
            bits = lambda chosen: sum(1 << i for i, c in enumerate(chosen) if c)  # noqa: E731
            ones = (1 << size) - 1
            alike = len(set(tile)) == 1
            lower = tile[:rank]
            xor = tile[rank ^ 1] if rank ^ 1 < size else v
            assert rows[number * size + rank] == [
                rank, size, number, 128 // size, tile[2 % size], tile[max(rank - 1, 0)],
                tile[rank + 3] if rank + 3 < size else v, xor,
                bits(w % 3 == 0 for w in tile), int(7 in tile), int(all(w % 5 for w in tile)),
                bits(w % 4 == v % 4 for w in tile), ones + 1 if alike else 0, ones,
                sum(tile), min(tile), max(tile) << 34, list(itertools.accumulate(tile, operator.xor))[-1],
                sum(lower) + v, sum(lower), min([2**31 - 1, *lower]),
                list(itertools.accumulate([*lower, v], operator.or_))[-1],
                list(itertools.accumulate([-1, *lower], operator.and_))[-1], v + 500 * (rank + 1),
            ]  # fmt: skip


@pytest.mark.full
@both
def test_active_lanes(arch: str) -> None:
    source = (
        HEADER
        + """
    __global__ void active(const int* in, long long* out, int* counter) {
        int t = threadIdx.x, v = in[t];
        long long* row = out + t * 16;
        if (t % 3 != 1) {
            auto group = cg::coalesced_threads();
            row[0] = group.thread_rank(); row[1] = group.size(); row[2] = group.shfl(v, 5);
            row[3] = group.shfl_up(v, 2); row[4] = group.shfl_down(v, 1); row[5] = group.ballot(v & 1);
            row[6] = group.any(v > 38); row[7] = group.all(v > 2);
            row[8] = cg::reduce(group, v, cg::plus<int>()); row[9] = cg::inclusive_scan(group, v);
            row[10] = cg::exclusive_scan(group, v, cg::greater<int>());
            auto part = cg::tiled_partition(group, 4);
            row[11] = cg::reduce(part, v, cg::plus<int>()); row[12] = part.meta_group_rank() * 100 + part.size();
            auto half = cg::binary_partition(group, v % 2 == 0);
            row[13] = cg::reduce(half, v, cg::plus<int>());
            row[14] = group.match_any(v % 2);
            group.sync();
            if (group.thread_rank() == 0) row[15] = atomicAdd(counter, (int)group.size());
            row[15] = group.shfl(row[15], 0) + group.thread_rank();
        }
    }"""
    )
    size = ARCHITECTURES[arch]
    r = np.random.default_rng(5)
    values = r.integers(0, 40, 64).astype("int32")
    (_, out, counter), _ = run(arch, source, values, np.zeros(64 * 16, "int64"), np.zeros(1, "int32"))
    rows = out.reshape(64, 16).tolist()
    assert counter[0] == 43
    places = []
    for start in range(0, 64, size):
        threads = [t for t in range(start, start + size) if t % 3 != 1]
        active = [int(values[t]) for t in threads]
        for rank, (t, v) in enumerate(zip(threads, active, strict=True)):
            lower = active[:rank]
            part = active[rank // 4 * 4 : rank // 4 * 4 + 4]
            bits = lambda chosen: sum(1 << i for i, c in enumerate(chosen) if c)  # noqa: E731
            assert rows[t][:15] == [
                rank, len(active), active[5], active[rank - 2] if rank >= 2 else v,
                active[rank + 1] if rank + 1 < len(active) else v, bits(w & 1 for w in active),
                int(max(active) > 38), int(min(active) > 2), sum(active), sum(lower) + v,
                max([-(2**31), *lower]), sum(part), rank // 4 * 100 + len(part),
                sum(w for w in active if w % 2 == v % 2), bits(w % 2 == v % 2 for w in active),
            ]  # fmt: skip
            places.append(rows[t][15])
    assert sorted(places) == list(range(43))


@pytest.mark.full
@both
def test_a_block_reduces_by_tiles_of_tiles(arch: str) -> None:
    source = (
        HEADER
        + """
    __global__ void sum(const float* x, float* out, int* sizes) {
        auto block = cg::this_thread_block();
        auto wave = cg::tiled_partition<32>(block);
        auto part = cg::tiled_partition<8>(wave);
        __shared__ float sums[8];
        float s = cg::reduce(part, x[block.thread_rank()], cg::plus<float>());
        s = cg::reduce(wave, part.thread_rank() == 0 ? s : 0.0f, cg::plus<float>());
        if (wave.thread_rank() == 0) sums[wave.meta_group_rank()] = s;
        block.sync();
        if (wave.meta_group_rank() == 0) {
            s = cg::reduce(wave, wave.thread_rank() < 8 ? sums[wave.thread_rank()] : 0.0f, cg::plus<float>());
            if (block.thread_rank() == 0) *out = s;
        }
        sizes[block.thread_rank()] = part.meta_group_size() * 10 + part.meta_group_rank();
    }"""
    )
    x = np.arange(256, dtype="float32")
    (_, out, sizes), _ = run(arch, source, x, np.zeros(1, "float32"), np.zeros(256, "int32"), block=(256,))
    assert out[0] == 32640
    assert sizes.tolist() == [40 + t // 8 % 4 for t in range(256)]


@both
def test_parts_of_any_group_and_copies(arch: str) -> None:
    source = (
        HEADER
        + """
    __device__ int ranks(const cg::thread_group& g) { return g.thread_rank() * 100 + g.size(); }
    __global__ void parts(const char* from, int* out, char* copied) {
        cg::thread_group block = cg::this_thread_block();
        int* row = out + threadIdx.x * 5;
        row[0] = ranks(cg::tiled_partition(block, 16));
        cg::thread_group tile = cg::tiled_partition(cg::this_thread_block(), 8);
        row[1] = ranks(cg::tiled_partition(tile, 4));
        row[2] = -1;
        if (threadIdx.x % 4 != 0) {
            cg::thread_group active = cg::coalesced_threads();
            row[2] = ranks(cg::tiled_partition(active, 8));
        }
        row[3] = block.cg_type() * 100 + tile.cg_type() * 10 + cg::coalesced_threads().cg_type();
        row[4] = cg::this_thread_block().block_rank();
        __shared__ char bytes[70];
        cg::memcpy_async(cg::this_thread_block(), bytes, from, 61);
        cg::wait(cg::this_thread_block());
        __shared__ int words[40];
        cg::memcpy_async(cg::this_thread_block(), words, (const int*)from, 38);
        cg::wait_prior<0>(cg::this_thread_block());
        if (threadIdx.x < 61) copied[threadIdx.x] = bytes[threadIdx.x];
        if (threadIdx.x < 38) copied[64 + threadIdx.x] = ((const char*)words)[threadIdx.x];
    }"""
    )
    text = np.random.default_rng(1).integers(0, 100, 64).astype("int8")
    (_, out, copied), _ = run(arch, source, text, np.zeros(64 * 5, "int32"), np.zeros(128, "int8"))
    size = ARCHITECTURES[arch]
    for t, row in enumerate(out.reshape(64, 5).tolist()):
        assert row[0] == t % 16 * 100 + 16
        assert row[1] == t % 4 * 100 + 4
        active = [u for u in range(t // size * size, t // size * size + size) if u % 4]
        at = active.index(t) if t % 4 else 0
        assert row[2] == (at % 8 * 100 + len(active[at // 8 * 8 : at // 8 * 8 + 8]) if t % 4 else -1)
        assert row[3:] == [345, 0]  # cg_workgroup, cg_tiled_group, cg_coalesced_group
    np.testing.assert_array_equal(copied[:61], text[:61])
    np.testing.assert_array_equal(copied[64:102], text[:38])


@pytest.mark.parametrize("arch", TARGETS)
def test_every_target(arch: str) -> None:
    lanes = 64 if arch in ("gfx942", "gfx90a", "gfx950") else 32
    source = (
        HEADER
        + """__global__ void k(int* x) {
        auto tile = cg::tiled_partition<LANES>(cg::this_thread_block());
        x[threadIdx.x] = cg::reduce(tile, x[threadIdx.x], cg::plus<int>()) + cg::coalesced_threads().size();
    }"""
    )
    assembly = toolchain.compile(source.replace("LANES", str(lanes)), arch=arch).assembly
    assert "ds_bpermute_b32" in assembly
    with pytest.raises(CompileError, match="power of two, at most the lanes of a wavefront"):
        toolchain.compile(source.replace("LANES", str(2 * lanes)), arch=arch)


@pytest.mark.parametrize(("statement", "reason"), [
    ("cg::tiled_partition<24>(cg::this_thread_block()).sync();", "power of two"),
    ("cg::tiled_partition<16>(cg::tiled_partition<8>(cg::this_thread_block())).sync();", "larger"),
])  # fmt: skip
def test_what_cannot_be_says_why(statement: str, reason: str) -> None:
    with pytest.raises(CompileError, match=reason) as error:
        toolchain.compile(f"{HEADER}__global__ void k() {{\n {statement}\n}}", arch="gfx942")
    assert "cell.hip:4:" in str(error.value)
    assert "1 error" in str(error.value)


@pytest.mark.full
@both
def test_members_of_groups(arch: str) -> None:
    """Every name of the block's, the grid's and the devices' group, in a launch that is not cooperative."""
    names = [
        "block.group_dim().x", "block.group_dim().y", "block.dim_threads().z", "block.num_threads()", "block.size()",
        "block.block_rank()", "block.thread_rank()", "block.group_index().x", "block.thread_index().y",
        "block.is_valid()",
        "cg::is_valid(block)", "grid.group_dim().x", "grid.grid_dim().y", "grid.dim_blocks().x", "grid.block_index().x",
        "grid.num_blocks()", "grid.block_rank()", "grid.num_threads()", "grid.size()", "grid.thread_rank()",
        "grid.is_valid()", "any.is_valid()", "any.thread_rank()", "any.size()", "any.num_threads()", "any.cg_type()",
        "many.num_grids()", "many.grid_rank()", "many.is_valid()", "many.size()", "many.cg_type()",
        "cg::group_size(grid)", "cg::thread_rank(grid)", "one.size()", "one.thread_rank()", "one.cg_type()",
        "one.is_valid()", "whole.is_valid()", "whole.thread_rank()", "whole.size()",
    ]  # fmt: skip
    body = " ".join(f"row[{n}] = {name};" for n, name in enumerate(names))
    source = (
        HEADER
        + f"""__global__ void members(long long* out) {{
        auto block = cg::this_thread_block(); auto grid = cg::this_grid(); auto many = cg::this_multi_grid();
        cg::thread_group any = grid, one = cg::this_thread(), whole = block;
        long long* row = out + grid.thread_rank() * {len(names)};
        {body}
        auto token = block.barrier_arrive(); block.barrier_wait(static_cast<decltype(token)&&>(token));
    }}"""
    )
    (out,), _ = run(arch, source, np.zeros(6 * 24 * len(names), "int64"), grid=(3, 2), block=(4, 3, 2))
    for at, row in enumerate(out.reshape(6 * 24, -1).tolist()):
        block, thread = divmod(at, 24)
        place = [4, 3, 2, 24, 24, block, thread, block % 3, thread // 4 % 3, 1, 1]
        whole = [3, 2, 3, block % 3, 6, block, 144, 144, at, 0]
        assert row == [
            *place, *whole, 0, at, 144, 144, 2, 0, 0, 0, 0, 1, 144, at, 1, 0, 5, 1, 1, thread, 24
        ], at  # fmt: skip


@both
@pytest.mark.parametrize("size", [1, 2, 8, 32])
def test_values_beyond_a_group_are_the_own_ones(arch: str, size: int) -> None:
    """shfl takes ranks modulo the size; shfl_up, shfl_down and shfl_xor give the own value where there is no other."""
    source = (
        HEADER
        + f"""__global__ void moves(int* out, int by) {{
        auto tile = cg::tiled_partition<{size}>(cg::this_thread_block());
        int v = threadIdx.x + 100, *row = out + threadIdx.x * 8;
        row[0] = tile.shfl(v, by); row[1] = tile.shfl_up(v, by); row[2] = tile.shfl_down(v, by);
        row[3] = tile.shfl_xor(v, by);
        if (threadIdx.x % 2) {{
            auto odd = cg::coalesced_threads();
            row[4] = odd.shfl(v, by); row[5] = odd.shfl_up(v, by); row[6] = odd.shfl_down(v, by);
            row[7] = odd.meta_group_rank() * 10 + odd.meta_group_size();
        }}
    }}"""
    )
    lanes = ARCHITECTURES[arch]
    for by in (0, 1, size - 1, size, 16, 31):
        (out,), _ = run(arch, source, np.zeros(64 * 8, "int32"), np.int32(by))
        for t, row in enumerate(out.reshape(64, 8).tolist()):
            start, rank = t - t % size, t % size
            moved = [start + by % size, t - by if by <= rank else t, t + by if rank + by < size else t,
                     start + (rank ^ by) if rank ^ by < size else t]  # fmt: skip
            odd = [0, 0, 0, 0]
            if t % 2:
                first, count, mine = t // lanes * lanes + 1, lanes // 2, t % lanes // 2
                ranks = [by % count, mine - by if by <= mine else mine, mine + by if mine + by < count else mine]
                odd = [*(100 + first + 2 * r for r in ranks), 1]
            assert row == [*(100 + m for m in moved), *odd], (by, t)


@both
@pytest.mark.parametrize("form", ["group.shfl(first, 0)", "__shfl(first, __ffsll(__activemask()) - 1)"])
def test_lanes_may_have_no_value_yet(arch: str, form: str) -> None:
    """One lane counts for all active ones: `first` has a value in that lane alone before the exchange."""
    source = (
        HEADER
        + f"""
    __device__ int next(int* count) {{
        cg::coalesced_group group = cg::coalesced_threads();
        int first;
        if (group.thread_rank() == 0) first = atomicAdd(count, group.size());
        first = {form};
        return first + group.thread_rank();
    }}
    __global__ void keep(int* kept, int* count, const int* in, int n) {{
        for (int i = threadIdx.x; i < n; i += blockDim.x)
            if (in[i] > 0) kept[next(count)] = in[i];
    }}"""
    )
    values = np.arange(320, dtype="int32") % 5 - 1
    (kept, count, _), _ = run(arch, source, np.zeros(320, "int32"), np.zeros(1, "int32"), values, np.int32(320))
    assert count.tolist() == [192]
    assert sorted(kept[:192].tolist()) == sorted(value for value in values.tolist() if value > 0)
