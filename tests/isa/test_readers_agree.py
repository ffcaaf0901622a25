"""Every row computes the same bits under both readers, numpy and LLVM, on random and special operands.

That checks the readers, not the rows: those have expected numbers of their own in the other tests of this folder.
Results that are NaN may differ in payload and sign: IEEE 754 leaves them open, and numpy and LLVM take either operand.
"""

import ctypes

import numpy as np
import pytest

from gpulab import architectures
from gpulab.virtual_gpu import isa
from gpulab.virtual_gpu.isa.expression import TYPES, b1
from gpulab.virtual_gpu.isa.row import Memory, Row
from gpulab.virtual_gpu.reference.numpy_reader import dtype, evaluate
from gpulab.virtual_gpu.translate import jit
from gpulab.virtual_gpu.translate.emitter import Emitter
from gpulab.virtual_gpu.translate.expressions import Reader

CHUNK = 8
COUNT = 64 * CHUNK
FRACTION = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}


def _rows():
    """All rows of all architectures, each once, by a name for messages."""
    found = {}
    for arch in architectures.names():
        for mnemonic, row in isa.table(arch).items():
            if isinstance(row, Memory):
                row = row.combine
            if isinstance(row, Row):
                found.setdefault(id(row), (f"{arch} {mnemonic}", row))
    return list(found.values())


def _samples(random, type):
    """Random bits; for floats half of them of moderate size; some special values."""
    if type == b1:
        return random.integers(0, 2, COUNT).astype(bool)
    unsigned = np.dtype(f"uint{type.width}")
    x = random.integers(0, 1 << type.width, COUNT, dtype=unsigned)
    sign = 1 << (type.width - 1)
    if type.is_float:
        fraction = FRACTION[type.name]
        bias = (1 << (type.width - 2 - fraction)) - 1
        infinity = (2 * bias + 1) << fraction
        exponent = random.integers(bias - 6, bias + 7, COUNT).astype(unsigned) << unsigned.type(fraction)
        moderate = exponent | (x & unsigned.type(sign | ((1 << fraction) - 1)))
        x = np.where(random.random(COUNT) < 0.5, moderate, x)
        one = bias << fraction
        special = [0, sign, infinity, infinity | sign, infinity | 1 << (fraction - 1), infinity | 1, 1]
        special += [(1 << fraction) - 1, 1 << fraction, infinity - 1, one, one | sign]
    else:
        special = [0, 1, 2, 3, 8, 31, 32, 255, sign, sign - 1, 2 * sign - 1]
    return np.where(random.random(COUNT) < 0.3, random.choice(np.array(special, unsigned), COUNT), x)


def _function(name, row):
    """IR of a function that loads CHUNK lanes of each operand and stores the results; and what it declares."""
    emitter = Emitter(CHUNK)
    reader = Reader(emitter, CHUNK)
    _, values = row.graph()
    arguments = []
    for i, parameter in enumerate(row.parameters):
        if parameter.type == b1:
            byte = emitter.let(f"load <{CHUNK} x i8>, ptr %a{i}, align 1")
            arguments.append(emitter.let(f"trunc <{CHUNK} x i8> {byte} to <{CHUNK} x i1>"))
        else:
            arguments.append(emitter.let(f"load {reader.type(parameter.type)}, ptr %a{i}, align 1"))
    for i, (result, value) in enumerate(zip(reader.read(values, arguments), values, strict=True)):
        text = f"{reader.type(value.type)} {result}"
        if value.type == b1:
            text = f"<{CHUNK} x i8> " + emitter.let(f"zext {text} to <{CHUNK} x i8>")
        emitter.do(f"store {text}, ptr %r{i}, align 1")
    pointers = [f"ptr %a{i}" for i in range(len(row.parameters))] + [f"ptr %r{i}" for i in range(len(values))]
    lines = "\n".join([*emitter.entry_lines, *emitter.lines])
    return f"define void @{name}({', '.join(pointers)}) {{\nentry:\n{lines}\n  ret void\n}}", emitter.declarations


def _is_nan(bits, type):
    if type == b1 or not type.is_float:
        return np.zeros(bits.shape, bool)
    sign = bits.dtype.type(1 << (type.width - 1))
    infinity = bits.dtype.type((sign - 1) & ~np.uint64((1 << FRACTION[type.name]) - 1))
    return (bits & ~sign) > infinity


def _parts(bits, type, row):
    """A packed float result as its halves."""
    element = TYPES.get(row.element) or next((TYPES[t] for t in ("bf16", "f16") if f"pk_add_{t}" in row.mnemonic), None)
    if (
        "pk" in row.mnemonic
        and "rtz" not in row.mnemonic
        and element
        and element.is_float
        and type.width == 2 * element.width
    ):
        return bits.view(f"uint{element.width}"), element
    return bits, type


def _differences(name, row, function, random):
    _, values = row.graph()
    operands = [_samples(random, p.type) for p in row.parameters]
    for i, parameter in enumerate(row.parameters):
        if parameter.name == "lane":
            operands[i] = operands[i] % np.uint32(64)
    typed = [x if p.type == b1 else x.view(dtype(p.type)) for x, p in zip(operands, row.parameters, strict=True)]
    expected = evaluate(values, typed)
    found = [np.zeros(COUNT, np.uint8 if v.type == b1 else f"uint{v.type.width}") for v in values]
    buffers = [x.view(np.uint8) if x.dtype == bool else x for x in operands] + found
    for start in range(0, COUNT, CHUNK):
        function(*(b.ctypes.data + start * b.itemsize for b in buffers))
    for value, got, want in zip(values, found, expected, strict=True):
        want = np.ascontiguousarray(np.broadcast_to(want, (COUNT,))).view(got.dtype)
        (got, type), (want, _) = _parts(got, value.type, row), _parts(want, value.type, row)
        wrong = (got != want) & ~(_is_nan(got, type) & _is_nan(want, type))
        if wrong.any():
            i = int(np.flatnonzero(wrong)[0])
            lane = i * COUNT // len(got)
            sources = [hex(int(x[lane])) for x in operands]
            yield f"{name}({', '.join(sources)}): LLVM {int(got[i]):#x}, numpy {int(want[i]):#x}, {wrong.sum()} lanes"


@pytest.mark.parametrize("part", range(8))
def test_numpy_and_llvm_compute_the_same_bits(part):
    rows = _rows()[part::8]
    assert len(rows) > 100
    functions, declarations = [], {}
    for i, (_, row) in enumerate(rows):
        text, needed = _function(f"row{i}", row)
        functions.append(text)
        declarations.update(needed)
    code = jit.compile_object("\n".join([*declarations.values(), *functions]))
    addresses = jit.load(code, *(f"row{i}" for i in range(len(rows))))
    random = np.random.default_rng(part)
    differences = []
    for (name, row), address in zip(rows, addresses, strict=True):
        count = len(row.parameters) + len(row.graph()[1])
        function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * count)(address)
        differences += _differences(name, row, function, random)
    assert differences == []
