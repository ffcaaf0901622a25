"""The tables as a whole: every row can be built, names are those of the architecture, and building is quick."""

import subprocess
import sys

import pytest

from gpulab import architectures
from gpulab.errors import UnsupportedInstruction
from gpulab.virtual_gpu import isa
from gpulab.virtual_gpu.isa.expression import Value
from gpulab.virtual_gpu.isa.refused import refusal
from gpulab.virtual_gpu.isa.row import Control, CrossLane, Image, Matrix, Memory, Row
from tests.isa.rows import row_of

ARCHES = architectures.names()
OPERATIONS = frozenset(
    [
        "const",
        "arg",
        "add",
        "sub",
        "mul",
        "div",
        "rem",
        "neg",
        "and",
        "or",
        "xor",
        "not",
        "shl",
        "shr",
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
        "select",
        "to",
        "bits",
        "fma",
        "sqrt",
        "floor",
        "ceil",
        "trunc",
        "rint",
        "popcount",
        "clz",
        "ctz",
        "bitreverse",
    ]
)
CONTROL_KINDS = frozenset(
    [
        "end",
        "branch",
        "cbranch",
        "call",
        "jump",
        "getpc",
        "barrier",
        "wait",
        "nop",
        "trap",
        "sleep",
        "sendmsg",
        "sendmsg_rtn",
        "setreg",
        "getreg",
        "time",
        "realtime",
        "round_mode",
        "denorm_mode",
        "gpr_index_on",
        "gpr_index_off",
        "gpr_index",
        "gpr_index_mode",
    ]
)


def _nodes(roots: tuple[Value, ...]) -> dict[int, Value]:
    found: dict[int, Value] = {}
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        if id(node) not in found:
            found[id(node)] = node
            waiting.extend(node.args)
    return found


@pytest.mark.parametrize("arch", ARCHES)
def test_every_row_builds_a_graph_of_the_contract(arch):
    for mnemonic, row in isa.table(arch).items():
        assert row.meaning, mnemonic
        if isinstance(row, Memory) and row.action == "atomic":
            assert row.combine is not None, mnemonic
            row = row.combine
        if not isinstance(row, Row):
            continue
        results, values = row.graph()
        assert len({r.name for r in results}) == len(results), mnemonic
        for node in _nodes(values).values():
            assert node.op in OPERATIONS, mnemonic
            types = [a.type for a in node.args]
            if node.op in ("shl", "shr", "fma", "add", "sub", "mul", "div", "and", "or", "xor", "eq", "lt"):
                assert len(set(types)) == 1, f"{mnemonic}: {node.op} of {types}"
            if node.op in ("and", "or", "xor", "not", "shl", "shr", "popcount"):
                assert not node.type.is_float, mnemonic
            if node.op in ("sqrt", "floor", "rint", "fma"):
                assert node.type.is_float, mnemonic
        if row.unit == "salu":
            assert all(p.type.width in (1, 16, 32, 64) for p in row.parameters), mnemonic


@pytest.mark.parametrize("arch", ARCHES)
def test_rows_have_known_kinds(arch):
    for mnemonic, row in isa.table(arch).items():
        assert isinstance(row, Row | Memory | CrossLane | Matrix | Control | Image), mnemonic
        if isinstance(row, Control):
            assert row.kind in CONTROL_KINDS, mnemonic
            assert (row.kind == "cbranch") == bool(row.condition), mnemonic


def test_names_are_those_of_the_architecture():
    old, new = isa.table("gfx942"), isa.table("gfx1100")
    for mnemonic in ("v_add_u32", "s_andn2_b64", "ds_read_b32", "global_load_dwordx4", "v_pk_fma_f32", "v_mov_b64"):
        assert mnemonic in old
    for mnemonic in ("v_add_nc_u32", "s_and_not1_b32", "ds_load_b32", "global_load_b128", "v_permlanex16_b32"):
        assert mnemonic in new
        assert mnemonic not in old
    assert "v_pk_fma_f32" not in new
    assert not any(name.endswith(("_e32", "_e64", "_dpp", "_sdwa")) for table in (old, new) for name in table)


def test_old_spellings_that_llvm_takes_mean_the_same_on_gfx11():
    new = isa.table("gfx1100")
    assert new["global_load_dwordx2"].count == new["global_load_b64"].count
    assert new["v_add_u32"].graph()[0] == new["v_add_nc_u32"].graph()[0]
    assert "ds_cmpst_b32" not in new  # its operands changed places


@pytest.mark.parametrize(
    ("arch", "mnemonic", "expected"),
    [
        ("gfx942", "v_add_f16", "zero"),
        ("gfx942", "v_mul_lo_u16", "zero"),
        ("gfx942", "v_cvt_f16_f32", "zero"),
        ("gfx942", "v_mad_legacy_u16", "zero"),
        ("gfx942", "v_mad_u16", "keep"),
        ("gfx942", "v_fma_f16", "keep"),
        ("gfx942", "v_fma_mixlo_f16", "keep"),
        ("gfx950", "v_cvt_scalef32_f16_fp8", "keep"),
        ("gfx1030", "v_add_f16", "keep"),
        ("gfx90a", "v_add_f16", "zero"),
        ("gfx1100", "v_add_f16", "keep"),
        ("gfx1100", "v_mul_lo_u16", "keep"),
    ],
)
def test_high_half(arch, mnemonic, expected):
    assert isa.high_half(arch, row_of(arch, mnemonic)) == expected


def test_an_architecture_without_rows_is_refused_by_name():
    with pytest.raises(UnsupportedInstruction, match="gfx900"):
        isa.table("gfx900")


def test_a_table_is_built_quickly_and_without_numpy():
    """In a fresh interpreter; processor time, which other programs do not take."""
    code = (
        "import sys, time\n"
        "from gpulab.virtual_gpu import isa\n"
        "start = time.process_time()\n"
        "assert len(isa.table('gfx942')) > 900\n"
        "assert time.process_time() - start < 1.0\n"
        "assert 'numpy' not in sys.modules and 'llvmlite' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_rows_state_how_exact_they_are():
    rows = isa.table("gfx942")
    assert rows["v_add_f32"].fidelity == "exact"
    assert rows["v_rsq_f32"].fidelity == "approximate"
    assert "1 ulp" in rows["v_rsq_f32"].accuracy
    assert rows["v_mfma_f32_32x32x2_f32"].fidelity == "exact"
    assert rows["v_mfma_f32_32x32x8_f16"].fidelity == "approximate"
    assert rows["s_memtime"].fidelity == "modelled"
    for arch in ARCHES:
        assert {row.fidelity for row in isa.table(arch).values()} == {"exact", "approximate", "modelled"}


@pytest.mark.parametrize("mnemonic", ["image_atomic_add", "v_interp_p2_f32", "exp", "ds_gws_barrier", "s_rfe_b64"])
def test_refusals_by_name_give_a_reason(mnemonic):
    assert refusal(mnemonic).endswith((".", ")."))
    assert all(mnemonic not in isa.table(arch) for arch in ARCHES)


def test_no_row_is_refused_by_name():
    assert not [m for arch in ARCHES for m in isa.table(arch) if refusal(m)]
