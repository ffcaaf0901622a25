"""Launches: faults name their place, the device stays usable, counters are exact, waves do not starve each other."""

from __future__ import annotations

import itertools
import struct

import numpy as np
import pytest

from gpulab import architectures
from gpulab.errors import UnsupportedInstruction
from gpulab.virtual_gpu import isa, schema
from gpulab.virtual_gpu.isa.assembly import parse
from gpulab.virtual_gpu.machine.device import VirtualDevice
from gpulab.virtual_gpu.machine.loading import depends_on_order
from gpulab.virtual_gpu.translate.decode import Decoder
from gpulab.virtual_gpu.translate.function import translate
from tests.translate.kernels import ARCHITECTURES, SOURCE, Buffer, arena, device, good, module, pack, program, run

LINES = SOURCE.splitlines()


def line_of(text: str) -> int:
    return next(n for n, line in enumerate(LINES, 1) if text in line)


def zeros(n, dtype=np.int32):
    return Buffer(np.zeros(n, dtype))


@pytest.mark.parametrize("arch", ARCHITECTURES)
class TestFaults:
    def still_works(self, arch):
        out = zeros(64)
        good(arch, "globals", 1, 64, out)
        assert out.array().tolist() == [(63 - i) * 3 for i in range(64)]

    def test_missing_guard(self, arch):
        x = zeros(1000)
        fault = run(arch, "no_guard", 4, 256, x).fault
        wave = 64 if arch == "gfx942" else 32
        assert (fault.kind, fault.access, fault.bytes) == ("out of bounds", "write", 4)
        assert fault.address == x.address + 4000
        assert (fault.workgroup, fault.thread) == ((3, 0, 0), (232, 0, 0))
        assert (fault.wave, fault.lane) == (232 // wave, 232 % wave)
        assert fault.kernel == "no_guard"
        assert fault.where.line == line_of("no_guard")
        assert fault.instruction.startswith("global_store")
        assert (fault.nearest.address, fault.nearest.relation, fault.nearest.distance) == (x.address, "after", 0)
        assert x.array()[:768].tolist() == list(range(768))
        self.still_works(arch)

    def test_null(self, arch):
        launch = device(arch).launch(self.kernel(arch, "through_null"), (1, 1, 1), (64, 1, 1), 0, bytes(8))
        fault = launch.fault
        assert (fault.kind, fault.lane, fault.address, fault.thread) == ("null", 3, 0, (3, 0, 0))
        self.still_works(arch)

    @staticmethod
    def kernel(arch, name):
        from tests.translate.kernels import module

        return module(arch).kernels[name]

    def test_misaligned(self, arch):
        x = zeros(16)
        fault = run(arch, "unaligned", 1, 1, x).fault
        assert (fault.kind, fault.address, fault.bytes) == ("misaligned", x.address + 1, 4)
        self.still_works(arch)

    def test_freed(self, arch):
        x = zeros(1024)
        arena().free(x.address)
        fault = run(arch, "no_guard", 1, 64, x).fault
        assert (fault.kind, fault.nearest.relation, fault.nearest.size) == ("freed", "freed", 4096)
        self.still_works(arch)

    def test_constants_are_read_only(self, arch):
        fault = run(arch, "constant_write", 1, 1, zeros(1)).fault
        assert (fault.kind, fault.access, fault.bytes) == ("read-only", "write", 4)
        assert fault.address == fault.nearest.address + 4
        assert fault.nearest.name == "global variable coefficients"

    def test_lds(self, arch):
        good(arch, "lds_overrun", 1, 64, zeros(64), 0)
        fault = run(arch, "lds_overrun", 1, 64, zeros(64), 1).fault
        assert (fault.kind, fault.address, fault.thread) == ("lds out of bounds", 256, (63, 0, 0))
        assert fault.instruction.startswith("ds_")
        assert fault.detail == (
            "a block has 256 bytes of shared memory here: 256 that the kernel declares and 0 that the launch passes"
        )
        self.still_works(arch)

    def test_trap(self, arch):
        flags = np.zeros(64, np.int32)
        good(arch, "trap", 1, 64, Buffer(flags))
        flags[7] = 1
        fault = run(arch, "trap", 2, 64, Buffer(flags)).fault
        assert (fault.kind, fault.where.line) == ("trap", line_of("__builtin_trap"))
        self.still_works(arch)

    def test_endless_loop(self, arch):
        fault = run(arch, "forever", 1, 64, zeros(2), limit=100_000).fault
        assert fault.kind == "timeout"
        assert fault.where.line == line_of("while (*x == 0) {}")
        assert run(arch, "forever", 3, 256, zeros(2), limit=100_000).fault.kind == "timeout"
        assert run(arch, "forever", 1, 64, Buffer(np.array([1, 0], np.int32)), limit=100_000).fault is None
        self.still_works(arch)

    def test_jump_to_data(self, arch):
        fault = run(arch, "bad_jump", 1, 1, zeros(2)).fault
        assert fault.kind == "bad jump"
        assert fault.where.line == line_of("bad_jump")
        self.still_works(arch)


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("workers", [1, 2])
def test_waiting_workgroups_do_not_starve_the_one_they_wait_for(arch, workers):
    flag, out = zeros(1), zeros(1)
    good(arch, "handshake", 10, 64, flag, out, workers=workers)
    assert out.array()[0] == 42


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_of_many_faults_the_first_workgroup_is_reported_each_time(arch):
    x = zeros(256 * 37)
    for _ in range(20):
        fault = run(arch, "no_guard", 200, 256, x, workers=2).fault
        assert (fault.workgroup, fault.wave, fault.lane) == ((37, 0, 0), 0, 0)


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_sums_of_floats_are_the_same_each_time(arch):
    x = np.random.default_rng(5).random(20_000, np.float32)
    found = set()
    for _ in range(5):
        f, d, u = zeros(1, np.float32), zeros(1, np.float64), zeros(1, np.uint64)
        good(arch, "sums", 79, 256, 20_000, Buffer(x), f, d, u)
        found.add((float(f.array()[0]), float(d.array()[0])))
    assert len(found) == 1
    single, double = found.pop()
    assert double == pytest.approx(x.sum(dtype=np.float64), rel=1e-12)
    assert single == pytest.approx(double, rel=1e-4)


@pytest.mark.parametrize(
    ("atomic", "expected"),
    [
        ("global_atomic_add v0, v1, s[0:1]", False),
        ("global_atomic_umax v0, v1, s[0:1]", False),
        ("global_atomic_add v2, v0, v1, s[0:1] sc0", True),  # returns what was there before
        ("global_atomic_swap v0, v1, s[0:1]", True),
        ("global_atomic_add_f32 v0, v1, s[0:1]", True),
        ("global_atomic_pk_add_f16 v0, v1, s[0:1]", True),  # two floats in an integer register
        ("global_atomic_pk_add_bf16 v0, v1, s[0:1]", True),
    ],
)
def test_which_atomics_keep_a_launch_on_one_thread(atomic, expected):
    text = f"""
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.text
k:
  {atomic}
  s_endpgm
.rodata
.amdhsa_kernel k
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 8
  .amdhsa_accum_offset 8
.end_amdhsa_kernel
"""
    program = parse(text)
    translation = translate(program, program.kernels["k"], Decoder(program, isa.table("gfx942")), 0)
    assert depends_on_order(translation) is expected


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_profile_and_trace_agree_with_a_plain_launch(arch):
    n = 300
    x, y = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
    out = Buffer(y)
    plain = good(arch, "saxpy", 2, 256, n, 2.0, Buffer(x), out)
    profiled = good(arch, "saxpy", 2, 256, n, 2.0, Buffer(x), out, collect="profile")
    assert {name: profiled.counters[name] for name in plain.counters} == dict(plain.counters)
    (line,) = [c for c in profiled.lines if c.where.line == line_of("void saxpy")]
    assert line.instructions == sum(c.instructions for c in profiled.lines if c.where.line == line.where.line)
    wave = 64 if arch == "gfx942" else 32
    assert 0 < line.active_lanes <= line.instructions * wave
    before = out.array()
    kernel, arguments = module(arch).kernels["saxpy"], pack(n, 2.0, Buffer(x), out)
    trace = device(arch).trace(kernel, (2, 1, 1), (256, 1, 1), 0, arguments, (1, 0))
    assert np.array_equal(out.array(), before)
    launch = device(arch).launch(kernel, (2, 1, 1), (256, 1, 1), 0, arguments)
    assert launch.fault is None
    assert launch.counters == plain.counters
    assert np.array_equal(out.array(), before + 2 * x)  # a trace leaves memory as it is
    assert (trace.workgroup, trace.wave, trace.wave_size) == ((1, 0, 0), 0, wave)
    assert trace.steps[-1].exec_mask.bit_count() in (min(wave, 44), wave)


COUNTED = """
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.text
.globl k
k:
  s_load_dwordx2 s[2:3], s[0:1], 0x0
  s_mov_b32 s4, 5
  s_waitcnt lgkmcnt(0)
  v_lshlrev_b32 v1, 2, v0
  v_mov_b32 v2, 0
.loop:
  v_add_u32 v2, v2, v0
  s_sub_u32 s4, s4, 1
  s_cmp_lg_u32 s4, 0
  s_cbranch_scc1 .loop
  ds_write_b32 v1, v2
  s_barrier
  ds_read_b32 v3, v1
  global_store_dword v1, v3, s[2:3]
  global_load_dword v4, v1, s[2:3]
  s_endpgm
.rodata
.amdhsa_kernel k
  .amdhsa_group_segment_fixed_size 1024
  .amdhsa_kernarg_size 8
  .amdhsa_user_sgpr_count 2
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 8
  .amdhsa_accum_offset 8
.end_amdhsa_kernel
"""


def test_counters_are_those_counted_by_hand():
    machine = device("gfx942")
    module = machine.load(parse(COUNTED))
    out = zeros(192)
    launch = machine.launch(module.kernels["k"], (3, 1, 1), (192, 1, 1), 0, struct.pack("<Q", out.address))
    assert launch.fault is None
    assert out.array().tolist() == [5 * i for i in range(192)]
    waves = 9  # three workgroups of three waves
    assert dict(launch.counters) == {
        "SQ_WAVES": waves,
        "SQ_INSTS_VALU": waves * (2 + 5),
        "SQ_INSTS_MFMA": 0,
        "SQ_INSTS_SALU": waves * (1 + 10),
        "SQ_INSTS_SMEM": waves,
        "SQ_INSTS_VMEM_RD": waves,
        "SQ_INSTS_VMEM_WR": waves,
        "SQ_INSTS_VMEM": waves * 2,
        "SQ_INSTS_LDS": waves * 2,
        "SQ_INSTS_FLAT": 0,
        "SQ_INSTS_BRANCH": waves * 5,
    }
    module.unload()


def test_an_unknown_instruction_is_refused_at_load_with_its_place():
    text = COUNTED.replace("  s_barrier", "  ds_gws_barrier v0 gds")
    with pytest.raises(UnsupportedInstruction, match=r"kernel k uses .*gfx942.*ds_gws_barrier"):
        device("gfx942").load(parse(text))


def test_loading_and_unloading_leaves_nothing_behind():
    allocated = arena().allocated
    module = device("gfx942").load(parse(COUNTED))
    assert arena().allocated > allocated
    module.unload()
    assert arena().allocated == allocated


def test_wave64_on_a_wave32_device_is_refused():
    import gpulab

    source = "__global__ void lanes(int* out) { out[threadIdx.x] = __lane_id(); }"
    with gpulab.using("gfx1100"), pytest.raises(gpulab.UnsupportedInstruction, match="waves of 64 lanes"):
        lanes = gpulab.compile(source, options=["-mwavefrontsize64"]).lanes
        lanes[1, 64](gpulab.zeros(64, "int32"))


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("grid", [(2, 3, 4), (1, 1, 5), (3, 1, 2), (1, 4, 1)])
def test_workgroups_of_three_dimensions_have_their_numbers(arch, grid):
    """x varies fastest, then y, then z (HIP programming guide, thread hierarchy)."""
    import gpulab

    source = """
    __global__ void place(uint3* out) {
        out[(blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x] = {blockIdx.x, blockIdx.y, blockIdx.z};
    }"""
    width, height, depth = grid
    with gpulab.using(arch):
        out = gpulab.zeros((width * height * depth, 3), "uint32")
        gpulab.compile(source).place[grid, 1](gpulab.Pointer(out.address_))
        found = out.to_host().tolist()
    assert found == [[x, y, z] for z in range(depth) for y in range(height) for x in range(width)]


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_lds_addresses_wrap_at_32_bits(arch):
    import gpulab

    source = """
    __global__ void folded(const int* in, int* out, int odd) {
        __shared__ int s[4];
        s[threadIdx.x] = in[threadIdx.x];
        __syncthreads();
        int* p = s + 1 - odd;
        out[threadIdx.x] = *p;
    }"""
    with gpulab.using(arch):
        folded = gpulab.compile(source).folded
        out = gpulab.zeros(4, "int32")
        folded[1, 4](gpulab.to_device(np.array([5, 6, 7, 8], "int32")), out, 1)
        assert list(out.to_host()) == [5, 5, 5, 5]


@pytest.mark.parametrize(("blocks", "calls"), [(1023, 0), (1024, 1), (1025, 1), (2047, 1), (2048, 2), (5000, 4)])
def test_short_workgroups_are_run_so_many_between_two_looks_for_ctrl_c(blocks, calls):
    """After each 1024 of them a host thread comes back to Python."""
    target = VirtualDevice(architectures.get("gfx1100"), arena(), 0)
    target.workers, out, found = 1, zeros(64), []
    native = target._native

    def counted(address):
        found.append(native.run(address))
        return found[-1]

    target._native = native._replace(run=counted)
    kernel = target.load(program("gfx1100")).kernels["globals"]
    launch = target.launch(kernel, (blocks, 1, 1), (64, 1, 1), 0, pack(out))
    assert launch.fault is None
    assert found == [1] * (calls - 1) + [0] * (calls > 0)
    assert out.array().tolist() == [(63 - i) * 3 for i in range(64)]


@pytest.mark.parametrize(("arch", "threads", "waves"), [("gfx942", 256, 4), ("gfx1100", 96, 3), ("gfx1100", 1024, 32)])
def test_where_a_checked_launch_keeps_what(arch, threads, waves):
    """Of a workgroup: its own state and its waves', shadow cells of LDS (three of 4 bytes), masks of 8 bytes for each
    byte of scratch. Of memory: three shadow cells of each granule, by rows of sixteen, each allocation's apart."""
    target = VirtualDevice(architectures.get(arch), arena(), 0)
    out = zeros(64)
    kernel = target.load(program(arch)).kernels["globals"]
    launch = target.launch(kernel, (2, 1, 1), (threads, 1, 1), 0, pack(out), checked=True)
    state, wave = target._checks().state, 64 if arch == "gfx942" else 32
    assert launch.fault is not None  # workgroups write the same places
    group, each = (schema.layout(one).bytes for one in (schema.CHECKED_GROUP, schema.CHECKED_WAVE))
    assert (state.lds_at % 64, state.scratch_at % 64 % 4, state.steps_at - state.scratch_at) == (0, 0, 0)
    assert 0 <= state.lds_at - (group + each * waves) < 64
    assert state.scratch_at == state.lds_at + 12 * state.lds_cells
    assert (state.lds_cells, state.group_bytes, state.steps) == (72, state.steps_at, 0)  # no LDS: 64 more, by eights
    assert (state.wave_size, state.all_lanes) == (wave, (1 << wave) - 1)
    assert (state.shift, state.lds_shift) == (2, 2)
    apart = state.read - state.write
    assert state.other - state.read == apart
    rows = apart // 16  # for 16 cells one word
    assert (state.row_write, state.row_read - state.row_write) == (state.other + apart, rows)
    assert state.row_other - state.row_read == rows
    kept = target._checks()._kept[0]
    assert state.region_count == len(kept) == len(target.arena.allocations())
    looked_at = [region for region in kept if region.cell != (1 << 64) - 1]
    assert looked_at[0].cell == 16
    for one, following in itertools.pairwise(looked_at):
        assert following.cell % 16 == 0
        assert 8 <= following.cell - one.cell - -(-one.size // 4) < 64  # whole vectors may be looked at
    assert apart >= 4 * (looked_at[-1].cell + looked_at[-1].size // 4 + 64)
    assert (state.room, state.room_bytes % 32) == (state.write, 0)
    assert state.room_bytes >= 3 * (apart + rows)
