#!/usr/bin/env python3
"""`make mutants`: changes one place of the sources at a time, and asks whether a test sees it.

    make mutants                                             40 mutants over all folders
    make mutants MUTANTS="--count 200 --seed 7"              a larger sample; a seed always gives the same one
    make mutants MUTANTS="--in gpulab/virtual_gpu/isa"       of one folder or file
    make mutants MUTANTS="--changed main"                    of lines that differ from a commit
    make mutants MUTANTS="--only gpulab/metrics.py:120"      of one line, each mutant of it
    make mutants MUTANTS="--coverage FILE"                   with what coverage.py measured, as below
    make mutants MUTANTS="--count 200 --report FILE"         goes on after what FILE has, if it was stopped

Moving parts: `points` finds what can be changed in a file (`python_points` by its syntax tree, `text_points` by words
in C, headers and scripts); `TESTS` says which tests ought to see a folder's mutants, the mirrored file before the rest;
`Worker` has a copy of the clone and runs them until one fails. A mutant that no test sees has survived. The tests that
killed mutants run once more on the clone as it is: what fails there too has killed nothing. A test that hangs has
failed. A mutant whose tests took too long without a failure is "stopped", and does not count as killed.
`Coverage` makes it quicker for Python: coverage.py (which comes with nbval) has noted which test runs which
line (`dynamic_context = test_function`), and a mutant's tests are those that run its line, its own file's first.
Survivors are to be judged: some change nothing that anyone could see. The exit code is 0 whatever survived, unless
--least is given: the share to be killed, in percent.
"""

from __future__ import annotations

import argparse
import ast
import functools
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KINDS = (".py", ".c", ".h", ".cpp", ".js")
SOURCES = ("gpulab", "course")
LEFT_OUT = re.compile(r"/__main__\.py$|^course/exercises/[^/]+/(right|wrong)|^course/template/|INDEX|/generated/")
SECONDS = 300  # for the tests of one mutant
HUNG = 60  # seconds after which a single test of `make test` has hung: none takes as long
HUNG_FULL = 250  # the same where tests of `make test-rest` run: some take two to three minutes
PRIMITIVES = tuple(f"gpulab/toolchain/include/{name}" for name in ("gpulab/primitives", "hipcub", "rocprim"))
PROGRAMS = tuple(  # headers of which whole programs have the tests
    f"gpulab/toolchain/include/{name}"
    for name in (
        "gpulab/host/launches.h", "gpulab/host/library", "gpulab/blas.h", "gpulab/blas_calls.h", "gpulab/random_host.h",
        "gpulab/random_classes.h", "rocrand", "hiprand", "rocblas", "hipblas",
    )
)  # fmt: skip
# Whose tests are mostly those of `make test-rest`:
WITH_FULL = (
    "gpulab/views/static", "gpulab/editor", "gpulab/classroom", "gpulab/delivery", "gpulab/guests", "gpulab/walls.py",
    "gpulab/programs", "gpulab/grading/worker.py", "gpulab/grading/wire.py", "gpulab/grading/remote.py",
    "gpulab/grading/isolated.py", *PRIMITIVES, *PROGRAMS, "gpulab/toolchain/include/thrust",
    "course",
)  # fmt: skip

# Programs that take a minute or more; all of them take longer than a mutant has. By the headers that each is about.
PRIMITIVES_OF = {
    "device_sort": "radix_sort segmented_sort keys merge", "device_reduce_scan": "reduce scan launching operators",
    "device_select": "select runs histogram difference batched", "block": "group group_sort basics", "warp": "wave",
    "rocprim_device": "search segmented_scan tuple iterators",
}  # fmt: skip
THRUST_OF = {
    "pieces": "random.h complex.h shuffle.h tuple.h pair.h iterator zip_function.h",
    "sorting": "sort.h merge.h set_operations.h binary_search.h partition.h unique.h remove.h system/hip/detail/sort.h",
    "vectors": "detail/vector.h detail/pointer.h device_reference.h memory.h copy.h swap.h",
    "algorithms": "functional.h reduce.h scan.h extrema.h inner_product.h fill.h adjacent_difference.h find.h "
    "system/hip/detail/primitives.h transform.h transform_reduce.h sequence.h mismatch.h for_each.h",
}
HEADERS_OF = (
    *(("primitives", program, f"gpulab/primitives/{name}.h") for program, names in PRIMITIVES_OF.items()
      for name in names.split()),
    *(("thrust", program, f"thrust/{name}") for program, names in THRUST_OF.items() for name in names.split()),
)  # fmt: skip
PROGRAM_TESTS = {"primitives": "test_a_program_agrees_with_the_host", "thrust": "test_program"}

# Quick tests of instructions: of rows alone, and short programs on both machines.
ROWS = " ".join(
    f"tests/isa/test_{name}.py"
    for name in (
        "assembly", "vector_rows", "more_rows", "scalar_rows", "packed_rows", "compare_rows", "memory_rows",
        "row_fields", "generations", "table", "numpy_reader", "index", "coverage",
    )
)  # fmt: skip
BOTH_MACHINES = " ".join(
    f"tests/isa/test_{name}.py"
    for name in (
        "control_rows", "lane_moves", "register_indexing", "operand_forms", "sdwa", "named_halves", "buffers",
        "lds_forms", "exec_and_lanes", "dpp",
    )
)  # fmt: skip

TESTS: tuple[tuple[str, str], ...] = (
    (
        "gpulab/programs/jail.py",
        "tests/programs/test_jail_steps.py tests/programs/test_jail.py tests/programs/test_jail_numbers.py "
        "tests/attacks",
    ),
    (
        "gpulab/virtual_gpu/isa",
        f"{ROWS} {BOTH_MACHINES} tests/isa tests/reference tests/translate tests/architectures tests/kernels",
    ),
    (
        "gpulab/virtual_gpu/translate",
        "tests/translate/test_expressions.py tests/translate/test_emitter.py tests/machine/test_branches.py "
        f"{BOTH_MACHINES} tests/translate tests/isa tests/kernels tests/machine tests/checked",
    ),
    (
        "gpulab/virtual_gpu/reference/weak.py",
        "tests/machine/test_weak.py tests/grading/test_weak.py tests/machine tests/reference",
    ),
    (
        "gpulab/virtual_gpu/reference",
        "tests/reference/test_machine.py tests/reference/test_trace.py tests/isa/test_numpy_reader.py "
        f"{BOTH_MACHINES} tests/reference tests/isa tests/api",
    ),
    *(
        (
            f"gpulab/virtual_gpu/machine/native/{name}",
            "tests/checked/test_quick_ways.py tests/checked/test_written.py tests/checked/test_checked.py "
            "tests/checked tests/machine",
        )
        for name in (
            "races.c",
            "rows.c",
            "lanes.c",
            "straight.c",
            "written.c",
            "findings.c",
            "checked.h",
            "waits.c",
            "shuffles.c",
        )
    ),
    *(
        (
            f"gpulab/virtual_gpu/machine/native/{name}",
            "tests/machine/test_flat_addresses.py tests/isa/test_memory_rows.py tests/isa/test_lds_forms.py "
            "tests/isa/test_atomics.py "
            "tests/isa/test_buffers.py tests/machine tests/checked tests/isa tests/hip",
        )
        for name in ("memory.c", "support.h")
    ),
    (
        "gpulab/virtual_gpu/machine/native/barriers.c",
        "tests/checked/test_barriers.py tests/checked/test_checked.py tests/hip/test_launches.py tests/machine "
        "tests/checked tests/api tests/isa",
    ),
    *(
        (f"gpulab/virtual_gpu/machine/{name}.py", "tests/checked/test_writers.py tests/checked tests/machine tests/api")
        for name in ("checking", "steps")
    ),
    *(
        (f"gpulab/virtual_gpu/machine/native/{name}.c", f"{first} tests/machine tests/checked tests/isa tests/hip")
        for name, first in (
            ("observe", "tests/machine/test_observe_alone.py tests/machine/test_observation.py"),
            ("matrix", "tests/machine/test_matrix_alone.py tests/isa/test_matrix.py"),
            ("workgroups", "tests/machine/test_device.py tests/hip/test_launches.py tests/hip/test_faults.py"),
            ("turns", "tests/machine/test_waiting_blocks.py tests/hip/test_launches.py tests/hip/test_faults.py"),
            ("replay", "tests/machine/test_timing_parts.py tests/machine/test_unit.py"),
            ("images", "tests/isa/test_images.py tests/hip/test_textures.py"),
        )
    ),
    (
        "gpulab/virtual_gpu/machine",
        "tests/machine tests/checked tests/api tests/isa tests/kernels tests/test_metrics.py",
    ),
    ("gpulab/virtual_gpu/libraries", "tests/hip tests/libraries tests/api tests/programs"),
    (
        "gpulab/virtual_gpu/dispatch.py",
        "tests/machine/test_dispatch.py tests/reference/test_machine.py tests/machine tests/reference tests/hip "
        "tests/api",
    ),
    ("gpulab/virtual_gpu/schema.py", "tests/machine/test_native.py tests/machine tests/checked tests/hip"),
    ("gpulab/virtual_gpu", "tests/hip tests/api tests/programs"),
    (
        "gpulab/architectures",
        "tests/architectures/test_figures.py tests/architectures/test_architectures.py "
        "tests/architectures/test_banks.py tests/architectures tests/machine tests/views tests/isa "
        "tests/test_metrics.py tests/hip",
    ),
    *(
        (
            f"gpulab/toolchain/include/{header}",
            f"tests/programs/test_{file}.py::{PROGRAM_TESTS[file]}[{program}] tests/programs",
        )
        for file, program, header in HEADERS_OF
    ),
    *((name, "tests/programs/test_primitives.py tests/programs/test_thrust.py tests/programs") for name in PRIMITIVES),
    ("gpulab/toolchain/include/thrust", "tests/programs/test_thrust.py tests/programs"),
    *(
        (f"gpulab/toolchain/include/{name}", f"{first} tests/headers tests/kernels tests/programs tests/checked")
        for name, first in (
            ("hip/hip_cooperative_groups.h", "tests/headers/test_cooperative_groups.py"),
            ("gpulab/heap.h", "tests/headers/test_heap.py"),
            *((f"hip/hip_{name}.h", "tests/headers/test_short_floats.py") for name in ("fp16", "bf16", "bfloat16")),
            *((f"hip/{name}.h", "tests/programs/test_headers.py") for name in ("hip_runtime_api", "hiprtc")),
            *((f"gpulab/{n}.h", "tests/headers/test_compile_time.py") for n in ("definitions", "dim3", "standard")),
            ("hip/hip_complex.h", "tests/headers/test_on_device.py"),
            ("gpulab/short_floats.h", "tests/headers/test_short_floats.py"),
            ("gpulab/tiny_floats.h", "tests/headers/test_tiny_floats.py"),
            *(
                (f"gpulab/host/{name}", f"tests/programs/test_sources.py::test_program[{program}]")
                for name, program in (("launches.h", "extended_launches"), ("texture_api.h", "textures"))
            ),
            ("gpulab/host/library", "tests/programs/test_headers.py tests/programs/test_host_libraries.py"),
            ("gpulab/host", "tests/programs/test_headers.py"),
            ("gpulab/random_jumps.h", "tests/headers/test_random.py"),
            *(
                (f"gpulab/texture{name}.h", "tests/hip/test_textures.py tests/isa/test_images.py")
                for name in ("s", "_types")
            ),
            *(
                (name, "tests/programs/test_random.py")
                for name in ("gpulab/random_host.h", "gpulab/random_classes.h", "rocrand", "hiprand")
            ),
            *(
                (name, "tests/programs/test_blas.py")
                for name in ("gpulab/blas.h", "gpulab/blas_calls.h", "rocblas", "hipblas", "hip/library_types.h")
            ),
            ("gpulab", "tests/headers/test_on_device.py"),
        )
    ),
    ("gpulab/toolchain/include", "tests/headers tests/kernels tests/programs tests/checked"),
    (
        "gpulab/toolchain/library",
        "tests/headers/test_library_bits.py tests/headers/test_accuracy.py tests/headers/test_reductions.py "
        "tests/headers/test_printf.py tests/headers tests/kernels",
    ),
    ("gpulab/toolchain/triton", "tests/languages/test_triton.py tests/guests tests/languages"),
    (
        "gpulab/toolchain",
        "tests/toolchain tests/headers tests/porting tests/programs tests/hip tests/api tests/kernels",
    ),
    ("gpulab/guests", "tests/guests/test_host_tensors.py tests/guests/test_driver.py tests/guests tests/languages"),
    ("gpulab/delivery", "tests/delivery"),
    ("gpulab/languages/assembly.py", "tests/languages/test_assembly.py tests/fuzz/test_inputs.py tests/languages"),
    (
        "gpulab/languages",
        "tests/languages/test_declared.py tests/languages tests/toolchain tests/porting tests/programs tests/api",
    ),
    ("gpulab/porting", "tests/porting tests/programs"),
    *(
        (
            f"gpulab/programs/host_libraries/{name}.cpp",
            f"tests/programs/test_host_libraries.py::test_project_that_calls_all_of_{name} "
            f"tests/programs/test_host_libraries.py::test_project_with_{name} tests/programs",
        )
        for name in ("openmp", "mpi")
    ),
    ("gpulab/programs/host_libraries", "tests/programs/test_host_libraries.py tests/programs"),
    (
        "gpulab/programs/objects.py",
        "tests/programs/test_linking.py tests/programs/test_host_libraries.py tests/programs",
    ),
    ("gpulab/programs", "tests/programs/test_building_parts.py tests/programs tests/grading"),
    ("gpulab/walls.py", "tests/attacks tests/programs/test_jail.py tests/programs/test_jail_numbers.py"),
    *(
        (f"gpulab/grading/{name}.py", f"{first} tests/attacks/test_worker.py tests/attacks tests/grading/test_gpu.py")
        for name, first in (
            ("worker", "tests/grading/test_worker.py tests/grading/test_remote.py"),
            ("wire", "tests/grading/test_wire.py tests/grading/test_remote.py"),
            ("remote", "tests/grading/test_remote.py"),
            ("isolated", "tests/grading/test_isolated.py"),
        )
    ),
    ("gpulab/providers", "tests/providers tests/hip tests/api"),
    *(
        (f"gpulab/grading/{name}.py", f"tests/grading/test_{first}.py tests/grading tests/course")
        for name, first in (("requirements", "limits"), ("case", "outcome"), ("verdict", "outcome"))
    ),
    ("gpulab/grading", "tests/grading tests/course"),
    ("gpulab/views/static", "tests/browser"),
    *(
        (
            f"gpulab/editor/labextension/gpulab-editor/modules/{name}.js",
            "tests/browser/test_editor_codemirror.py tests/browser/test_editor.py tests/editor",
        )
        for name in ("markers", "language", "explain")
    ),
    (
        "gpulab/editor",
        "tests/browser/test_editor_modules.py tests/browser/test_editor_codemirror.py tests/browser/test_editor.py "
        "tests/editor",
    ),
    ("gpulab/classroom", "tests/classroom tests/api"),
    ("gpulab/views", "tests/views tests/api tests/browser"),
    ("gpulab/metrics.py", "tests/test_metrics.py tests/machine tests/views tests/api"),
    ("gpulab/counter_names.py", "tests/test_counter_names.py tests/test_metrics.py tests/machine"),
    ("gpulab/records.py", "tests/test_records.py tests/api tests/views tests/machine"),
    ("gpulab", "tests/api tests/hip tests/test_packaging.py"),
    ("course/projects", "tests/projects"),
    ("course", "tests/course/test_rules.py tests/course tests/grading"),
)


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: in `path`, from byte `start` to `end` stands `new` in place of `old`, on `line`."""

    path: str
    line: int
    start: int
    end: int
    old: str
    new: str

    def __str__(self) -> str:
        def short(text: str) -> str:
            text = " ".join(text.split())
            return text if len(text) <= 60 else text[:59] + "…"

        return f"{self.path}:{self.line}: {short(self.old)!r} → {short(self.new)!r}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a mutant: "killed" by a test, "stopped" (no test failed in the time given) or "survived"."""

    mutant: Mutant
    verdict: str
    test: str
    seconds: float


COMPARE = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"), ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="), ast.In: (" in ", " not in "), ast.NotIn: (" not in ", " in "),
    ast.Is: (" is ", " is not "), ast.IsNot: (" is not ", " is "),
}  # fmt: skip
ARITHMETIC = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "//"), ast.FloorDiv: ("//", "*"), ast.Div: ("/", "*"),
    ast.Mod: ("%", "//"), ast.LShift: ("<<", ">>"), ast.RShift: (">>", "<<"), ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"), ast.BitXor: ("^", "|"),
}  # fmt: skip


UNSEEN = {"frozen", "slots", "maxsize", "timeout", "daemon", "stacklevel", "strict"}
"""Arguments that no result shows: what may be assigned to, sizes of caches, limits on waiting, zip's own assertion."""


def other_number(text: str) -> str:
    """One more; or, of a large decimal number (a limit, a size, where one more changes next to nothing), the double."""
    large = not re.match("0[xob]", text.lower()) and float(text.replace("_", "")) >= 100
    return f"({text} * 2)" if large else f"({text} + 1)"


def python_points(source: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, new text) in bytes for each change of a Python module; annotations and docstrings stay."""
    data = source.encode()
    starts = [0]
    for row in data.split(b"\n"):
        starts.append(starts[-1] + len(row) + 1)

    def at(line: int, column: int) -> int:
        return starts[line - 1] + column

    def span(node: ast.expr | ast.stmt) -> tuple[int, int]:
        return at(node.lineno, node.col_offset), at(node.end_lineno or 0, node.end_col_offset or 0)

    def text(node: ast.expr | ast.stmt) -> str:
        start, end = span(node)
        return data[start:end].decode()

    def between(left: ast.expr, right: ast.expr, old: str, new: str) -> Iterator[tuple[int, int, str]]:
        start, end = span(left)[1], span(right)[0]
        gap = data[start:end].decode()
        if gap.count(old) == 1 and "#" not in gap:
            yield start, end, gap.replace(old, new)

    def is_text(node: ast.expr) -> bool:
        return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))

    def walk(node: ast.AST) -> Iterator[tuple[int, int, str]]:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            parts: list[ast.AST] = [*node.decorator_list, *node.body]
            is_stub = all(isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant) for part in node.body)
            if not isinstance(node, ast.ClassDef) and not is_stub:  # of a protocol nobody takes the defaults
                parts += [*node.args.defaults, *(default for default in node.args.kw_defaults if default)]
            for part in parts:
                yield from walk(part)
            return
        if isinstance(node, ast.AnnAssign):
            if node.value is not None:
                yield from walk(node.value)
            return
        if isinstance(node, ast.If) and "TYPE_CHECKING" in text(node.test):
            return
        if isinstance(node, (ast.JoinedStr, ast.Import, ast.ImportFrom, ast.Assert)):
            return
        if isinstance(node, ast.keyword) and node.arg in UNSEEN:
            return
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "reshape":
            yield from walk(node.func)
            for part in node.args:  # any negative size is the one that is left
                if not (isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.USub)):
                    yield from walk(part)
            return
        if isinstance(node, ast.Expr):
            if isinstance(node.value, ast.Call):
                yield (*span(node), "pass")
            elif isinstance(node.value, ast.Constant):
                return
        elif isinstance(node, ast.Return) and node.value is not None and text(node.value) != "None":
            yield (*span(node.value), "None")
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            yield from between(node.left, node.comparators[0], *COMPARE[type(node.ops[0])])
        elif (
            isinstance(node, ast.BinOp)
            and type(node.op) in ARITHMETIC
            and not is_text(node.left)
            and not is_text(node.right)
        ):
            yield from between(node.left, node.right, *ARITHMETIC[type(node.op)])
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, (ast.Add, ast.Sub)) and not is_text(node.value):
            old, new = ("+=", "-=") if isinstance(node.op, ast.Add) else ("-=", "+=")
            yield from between(node.target, node.value, old, new)
        elif isinstance(node, ast.BoolOp):
            old, new = (" and ", " or ") if isinstance(node.op, ast.And) else (" or ", " and ")
            yield from between(node.values[0], node.values[1], old, new)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield (*span(node), f"bool({text(node.operand)})")
        elif isinstance(node, (ast.If, ast.IfExp, ast.While)) and isinstance(
            node.test, (ast.Name, ast.Attribute, ast.Call)
        ):
            yield (*span(node.test), f"(not {text(node.test)})")
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, bool):
                yield (*span(node), str(not node.value))
            elif isinstance(node.value, (int, float)) and "_" not in text(node)[:1]:
                yield (*span(node), other_number(text(node)))
            return
        for child in ast.iter_child_nodes(node):
            yield from walk(child)

    yield from walk(ast.parse(source))


HIDDEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`", re.S)
WORDS = (
    (r"(?<= )<=(?= )", "<"), (r"(?<= )<(?= )", "<="), (r"(?<= )>=(?= )", ">"), (r"(?<= )>(?= )", ">="),
    (r"(?<= )===?(?= )", "!="), (r"(?<= )!==?(?= )", "=="), (r"(?<= )&&(?= )", "||"), (r"(?<= )\|\|(?= )", "&&"),
    (r"(?<= )\+(?= )", "-"), (r"(?<= )-(?= )", "+"), (r"(?<= )\*(?= )", "+"), (r"(?<= )/(?= )", "*"),
    (r"(?<= )<<(?= )", ">>"), (r"(?<= )>>(?= )", "<<"), (r"(?<= )&(?= )", "|"), (r"(?<= )\|(?= )", "&"),
    (r"(?<= )\^(?= )", "|"), (r"(?<= )\+=(?= )", "-="), (r"(?<= )\|=(?= )", "&="), (r"(?<= )&=(?= )", "|="),
    (r"(?<=[(\s])!(?=\w)", ""),
)  # fmt: skip
NUMBER = re.compile(r"(?<![\w.])(0x[0-9a-fA-F]+|\d+)(?![\w.])")
STATEMENT = re.compile(r"^[ \t]+(?!return\b|else\b|case\b|break\b|continue\b|const\b|let\b|static\b|typedef\b)"
                       r"(?:[\w.>\[\]-]+ (?:[|&+-]?=) [^\n{}]+|[\w.]+\([^\n{}]*\));(?=[ \t]*$)", re.M)  # fmt: skip


def text_points(source: str) -> Iterator[tuple[int, int, str]]:
    """The same for C, C++, headers and JavaScript, by their words; comments, strings and #include lines stay."""
    blank = HIDDEN.sub(lambda match: " " * len(match[0]), source)
    blank = re.sub(r"__builtin_prefetch\([^;]*;", lambda match: " " * len(match[0]), blank)  # changes speed alone
    blank = re.sub(
        r"^[ \t]*(#\s*(include|pragma|if|ifdef|ifndef|error)|import\b)[^\n]*",
        lambda m: " " * len(m[0]),
        blank,
        flags=re.M,
    )
    found = [(match.start(), match.end(), new) for word, new in WORDS for match in re.finditer(word, blank)]
    found += [(match.start(), match.end(), other_number(match[0])) for match in NUMBER.finditer(blank)]
    for match in STATEMENT.finditer(blank):
        first = match.start() + len(match[0]) - len(match[0].lstrip())
        found.append((first, match.end(), ";"))
    for start, end, new in sorted(found):
        yield len(source[:start].encode()), len(source[:end].encode()), new


def points(path: str) -> list[Mutant]:
    """All mutants of a file of the clone."""
    source = (ROOT / path).read_text(encoding="utf-8")
    data = source.encode()
    found = python_points(source) if path.endswith(".py") else text_points(source)
    return [
        Mutant(path, data.count(b"\n", 0, start) + 1, start, end, data[start:end].decode(), new)
        for start, end, new in found
    ]


def files() -> list[str]:
    listed = subprocess.run(["git", "ls-files", *SOURCES], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [path for path in listed.split("\n") if path.endswith(KINDS) and not LEFT_OUT.search(path)]


def group(path: str) -> str:
    """The folder that a mutant counts for: two levels below gpulab/virtual_gpu and gpulab/toolchain, one elsewhere."""
    parts = Path(path).parts
    deep = 3 if parts[1] in ("virtual_gpu", "toolchain", "views") and len(parts) > 3 else 2
    return "/".join(parts[: min(deep, len(parts) - 1)])


def tests_of(path: str) -> list[str]:
    """The tests that ought to see a file's mutants, in the order in which they are tried."""
    folders = next(tests for prefix, tests in TESTS if path == prefix or path.startswith(prefix + "/")).split()
    folders = [folder for folder in folders if (ROOT / folder.partition("::")[0]).exists()]
    first = [name for name in folders if name.partition("::")[0].endswith(".py")]
    stem = Path(path).stem
    if path.startswith("course/exercises/"):  # an exercise's own answers
        name = Path(path).parts[2]
        asked = ("course/test_definitions", "course/test_answers", "grading/test_inputs", "grading/test_mutants")
        return [f"tests/{file}.py -k {name}" for file in asked]
    own = [p for each in (stem, *sorted(importers(path))) for folder in folders if (ROOT / folder).is_dir()
           for p in sorted(str(q.relative_to(ROOT)) for q in (ROOT / folder).glob(f"test_*{each}*.py"))]  # fmt: skip
    others = (*(name for name in naming(path) if name not in own), *(name for name in folders if name not in first))
    own = sorted(own[:3], key=lambda name: (name.startswith("tests/browser/"), seconds_of().get(name, 0.0)))
    return list(dict.fromkeys((*own, *([" ".join(first)] if first else []), *others)))


class Coverage:
    """Which tests run a line of Python, as a file of coverage.py says (`dynamic_context = test_function`)."""

    def __init__(self, file: str) -> None:
        from coverage import CoverageData

        self._data = CoverageData(file)
        self._data.read()
        self._files = {Path(name).as_posix(): name for name in self._data.measured_files()}
        self._contexts: dict[str, dict[int, list[str]]] = {}

    def _of(self, path: str) -> dict[int, list[str]] | None:
        """The contexts of each line of a file of the clone; None for one that was not measured."""
        if path not in self._contexts:
            name = next((full for posix, full in self._files.items() if posix.endswith("/" + path)), "")
            if not name:
                return None
            self._contexts[path] = self._data.contexts_by_lineno(name)
        return self._contexts[path]

    def tests(self, path: str, line: int) -> list[str] | None:
        """Words for pytest, some tests each, the likeliest first; None if other code than tests runs the line."""
        contexts = self._of(path) if path.endswith(".py") and not path.startswith("course/exercises/") else None
        if contexts is None:
            return None
        first, last = statement(path, line)
        found = {each for at in range(first, last + 1) for each in contexts.get(at, ())}
        if "" in found or not found:
            return None  # it runs when a module is imported, in a fixture, or in another process; or not at all
        chosen: dict[str, list[str]] = defaultdict(list)
        for context in found:
            module, _, function = context.rpartition(".")
            file = next(
                (name for name in test_texts() if name.removesuffix(".py").replace("/", ".").endswith(module)), ""
            )
            if not file:
                return None
            chosen[file].append(f"{file}::{function}")
        usual = tests_of(path)
        place = {name: number for number, words in enumerate(usual) for name in words.split()}
        order = sorted(
            chosen, key=lambda file: min(place.get(file, 99), place.get(str(Path(file).parent.as_posix()), 99))
        )
        return [" ".join(sorted(chosen[file])) for file in order]


def statement(path: str, line: int) -> tuple[int, int]:
    """The lines of the innermost statement that holds a line; of one with a body, those before it."""
    found = []
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = max(node.lineno, body[0].lineno - 1) if body else node.end_lineno or node.lineno
            if node.lineno <= line <= last:
                found.append((node.lineno, last))
    return min(found, key=lambda lines: lines[1] - lines[0], default=(line, line))


def importers(path: str) -> set[str]:
    """The stems of the scripts that import this one, directly or through others; none for other files."""
    if not path.endswith(".js"):
        return set()
    scripts = {file.stem: file.read_text(encoding="utf-8") for file in (ROOT / path).parent.glob("*.js")}
    found: set[str] = set()
    pending = [Path(path).stem]
    while pending:
        name = pending.pop()
        new = {stem for stem, text in scripts.items() if f'from "./{name}.js"' in text} - found
        found |= new
        pending += new
    return found


@functools.cache
def test_texts() -> dict[str, str]:
    """All test files: their texts by their names."""
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    return {file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8") for file in files}


@functools.cache
def seconds_of() -> dict[str, float]:
    """Seconds of the test files that take some."""
    rows = (row.split("\t") for row in (ROOT / "tests/seconds.tsv").read_text().splitlines())
    return {name: float(seconds) for seconds, name in rows}


def naming(path: str) -> list[str]:
    """The test files that name a source file or import its module, those that take the shortest first."""
    package, _, stem = path.removesuffix(".py").replace("/", ".").rpartition(".")
    pattern = re.escape(Path(path).name)
    if path.endswith(".py"):
        package = package if stem != "__init__" else package.rpartition(".")[0]
        stem = stem if stem != "__init__" else path.split("/")[-2]
        pattern = rf"{re.escape(package)}\.{stem}\b|from {re.escape(package)} import [^\n]*\b{stem}\b"
    own = "tests/test_mutants.py"  # asks git, which a worker's copy does not have
    found = [name for name, text in test_texts().items() if name != own and stem in text and re.search(pattern, text)]
    return sorted(found, key=lambda name: (seconds_of().get(name, 0.0), name))[:10]


def changed_lines(base: str) -> dict[str, set[int]]:
    """The lines of each file that differ from a commit."""
    diff = subprocess.run(
        ["git", "diff", "-U0", base, "--", *SOURCES], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    found: dict[str, set[int]] = defaultdict(set)
    path = ""
    for row in diff.split("\n"):
        if row.startswith("+++ b/"):
            path = row[6:]
        elif head := re.match(r"@@ [^+]*\+(\d+)(?:,(\d+))? @@", row):
            first, count = int(head[1]), int(head[2] or 1)
            found[path].update(range(first, first + count))
    return found


def sample(asked: argparse.Namespace) -> list[Mutant]:
    """The mutants to try: as many of each folder, as far as it has them."""
    chosen = files()
    if asked.within:
        chosen = [
            path for path in chosen if any(path == p or path.startswith(p.rstrip("/") + "/") for p in asked.within)
        ]
    lines: dict[str, set[int]] | None = changed_lines(asked.changed) if asked.changed else None
    if asked.only:
        path, _, line = asked.only.partition(":")
        return [mutant for mutant in points(path) if not line or mutant.line == int(line)]
    folders: dict[str, list[Mutant]] = defaultdict(list)
    for path in chosen:
        folders[group(path)] += [m for m in points(path) if lines is None or m.line in lines.get(path, ())]
    random_ = random.Random(asked.seed)
    for mutants in folders.values():
        random_.shuffle(mutants)
    taken: list[Mutant] = []
    while len(taken) < asked.count and any(folders.values()):
        for name in sorted(folders):
            if folders[name] and len(taken) < asked.count:
                taken.append(folders[name].pop())
    return taken


class Worker:
    """A copy of the clone, with a copy of a warm cache for each mutant, in which tests run."""

    def __init__(self, folder: Path, seconds: float, coverage: Coverage | None = None) -> None:
        self.seconds, self.coverage = seconds, coverage
        self.folder, self.cache, self.warm = folder / "clone", folder / "cache", folder / "warm"
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
        for name in filter(None, listed.decode().split("\0")):
            source, target = ROOT / name, self.folder / name
            if source.is_file():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target)
        if cache_folder().is_dir():
            shutil.copytree(cache_folder(), self.warm, symlinks=True, copy_function=kept)
        else:
            self.warm.mkdir()

    def run(self, tests: Sequence[str], seconds: float, options: Sequence[str] = ()) -> tuple[str, str]:
        """("survived", ""), ("killed", the test) or ("stopped", what ran at the end of so many seconds).

        Args:
            options: for pytest.
        """
        put_back(self.warm, self.cache)
        environment = {
            **{name: value for name, value in os.environ.items() if name not in ("CI", "PYTEST_ADDOPTS")},
            "PYTHONPATH": str(self.folder), "GPULAB_CACHE": str(self.cache), "PYTHONDONTWRITEBYTECODE": "1",
            "GPULAB_PROGRESS": str(self.cache / "progress.json"),
        }  # fmt: skip
        end = time.monotonic() + seconds
        seen: set[str] = set()
        for words in tests:
            if words in seen:
                continue
            seen.add(words)
            command = [
                sys.executable,
                "-m",
                "pytest",
                "-x",
                "-q",
                *(word for name in UNUSED for word in ("-p", f"no:{name}")),
                "--no-header",
                *options,
                *arguments(words),
            ]
            process = subprocess.Popen(
                command, cwd=self.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                start_new_session=True,
            )  # fmt: skip
            try:
                out, _ = process.communicate(timeout=max(1.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.communicate()
                return "stopped", words
            if process.returncode not in (0, 5):  # 5: no test was selected
                return "killed", named(out) or words
        return "survived", ""

    def try_(self, mutant: Mutant) -> Outcome:
        target, began = self.folder / mutant.path, time.monotonic()
        data = (ROOT / mutant.path).read_bytes()
        target.write_bytes(data[: mutant.start] + mutant.new.encode() + data[mutant.end :])
        try:
            tests = self.coverage.tests(mutant.path, mutant.line) if self.coverage else None
            usual = tests_of(mutant.path)  # of which some may be newer than what was measured
            tried = usual if tests is None else [*tests, *usual[:2]]
            if mutant.path.startswith(WITH_FULL):
                verdict, test = self.run(tried, self.seconds, ended_after(HUNG_FULL))
            else:
                verdict, test = self.run(tried, self.seconds, QUICK)
                left = self.seconds - (time.monotonic() - began)
                if verdict == "survived" and left > 0:
                    later, killer = self.run(usual[:2], left, REST)
                    if later == "killed":
                        verdict, test = later, killer
        finally:
            target.write_bytes(data)
        return Outcome(mutant, verdict, test, time.monotonic() - began)


UNUSED = ("cacheprovider", "hypothesispytest", "nbval", "anyio", "metadata")
"""Plugins of pytest that these runs do not need: to import them takes longer than many tests."""


def ended_after(seconds: int) -> tuple[str, ...]:
    """What pytest is told so that a test that hangs ends it, as a failure does."""
    return "-o", f"faulthandler_timeout={seconds}", "-o", "faulthandler_exit_on_timeout=true"


QUICK = ("-m", "not full", *ended_after(HUNG))
REST = ("-m", "full and not seldom")
"""What pytest is told for tests of `make test` alone, and for those of `make test-rest`. Of these some take minutes:
whether a mutant that none of the quick ones saw is killed by one beside its code is asked for as long as there is time,
and one that takes longer has not hung."""


def named(out: str) -> str:
    """The test that pytest's summary names first, with its parameters, or its file; "" if there is none."""
    found = re.search(r"^(?:FAILED|ERROR) (\S+?\.(?:py|ipynb)(?:::\w+)*(?:\[.*?\](?= - |$))?)", out, re.M)
    return found[1] if found else ""


def arguments(words: str) -> list[str]:
    """Files and tests, separated by spaces, of which parameters in brackets may have some too."""
    return re.findall(r"\S+::\S+?\[.*?\](?=\s+tests/|\s*$)|\S+", words)


def failing(worker: Worker, killers: Sequence[str]) -> set[str]:
    """The tests among these that fail without any mutant: all in one run if none does, else one by one."""
    if not killers or worker.run([" ".join(killers)], 10 * SECONDS)[0] == "survived":
        return set()
    return {test for test in killers if worker.run([test], SECONDS)[0] == "killed"}


def put_back(warm: Path, cache: Path) -> None:
    """Make a cache what `warm` is: what is new goes, what changed or is missing comes back. Of tens of thousands of
    files few did, and to copy all of them takes longer than most tests."""
    cache.mkdir(parents=True, exist_ok=True)
    with os.scandir(warm) as known, os.scandir(cache) as found:
        wanted, there = ({entry.name: entry for entry in entries} for entries in (known, found))
    for name, entry in there.items():
        like = wanted.get(name)
        if like is not None and like.is_symlink() == entry.is_symlink() and like.is_dir() == entry.is_dir():
            continue
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry, ignore_errors=True)
        else:
            os.unlink(entry)
    for name, entry in wanted.items():
        target = cache / name
        if entry.is_symlink():
            if not target.is_symlink():
                os.symlink(os.readlink(entry), target)
        elif entry.is_dir():
            put_back(Path(entry), target)
        elif name not in there or not target.exists() or stamp(entry) != stamp(there[name]):
            target.unlink(missing_ok=True)
            kept(entry.path, str(target))


def stamp(entry: os.DirEntry[str]) -> tuple[int, int]:
    """Size and time of a file: of a copy the same, of one that was written to another."""
    found = os.stat(entry.path)
    return found.st_size, found.st_mtime_ns


def kept(source: str, target: str) -> None:
    """Copy a file of the cache, or give a large one a second name: gpulab, unlike zig, writes into no file there."""
    if os.path.getsize(source) > 100_000 and f"{os.sep}zig{os.sep}" not in source:
        try:
            os.link(source, target)
            return
        except OSError:  # another disk
            pass
    shutil.copy2(source, target)


def reported(file: str, mutants: Sequence[Mutant]) -> list[Outcome]:
    """What a report says of these mutants, the last word on each; a line that was cut off says nothing."""
    found: dict[Mutant, Outcome] = {}
    for line in Path(file).read_text(encoding="utf-8").splitlines() if Path(file).exists() else ():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        mutant = Mutant(**row.pop("mutant"))
        found[mutant] = Outcome(mutant, **row)
    return [found[mutant] for mutant in mutants if mutant in found]


def cache_folder() -> Path:
    from gpulab.toolchain import cache

    return Path(cache.folder())


def main() -> int:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--count", type=int, default=40, help="how many mutants")
    ask.add_argument("--seed", type=int, default=1, help="another number gives another sample")
    ask.add_argument("--in", dest="within", action="append", default=[], help="a folder or file; may be repeated")
    ask.add_argument("--changed", default="", metavar="COMMIT", help="only lines that differ from this commit")
    ask.add_argument("--only", default="", metavar="FILE[:LINE]", help="every mutant of a file or a line")
    ask.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many at a time")
    ask.add_argument("--from", dest="first", type=int, default=0, help="leave out so many of the sample")
    ask.add_argument("--seconds", type=float, default=SECONDS, help="for the tests of one mutant")
    ask.add_argument("--least", type=float, default=0.0, help="fail if a smaller share is killed, in percent")
    ask.add_argument(
        "--report", default="", help="a file for the outcomes, as JSON lines; mutants that it has are not tried again"
    )
    ask.add_argument("--coverage", default="", help="a file of coverage.py that says which test runs which line")
    ask.add_argument("--list", action="store_true", help="only list the mutants")
    asked = ask.parse_args()
    mutants = sample(asked)[asked.first :]
    if asked.list:
        print(*mutants, sep="\n")
        return 0
    coverage = Coverage(asked.coverage) if asked.coverage else None
    outcomes = reported(asked.report, mutants) if asked.report else []
    tried = {outcome.mutant for outcome in outcomes}
    mutants = [mutant for mutant in mutants if mutant not in tried]
    known = f", {len(outcomes)} are known" if outcomes else ""
    print(f"{len(mutants)} mutants, {asked.jobs} at a time{known}", flush=True)
    with tempfile.TemporaryDirectory(prefix="gpulab-mutants-") as folder:
        workers = [Worker(Path(folder) / str(number), asked.seconds, coverage) for number in range(asked.jobs)]
        free, lock = list(workers), threading.Lock()

        def one(mutant: Mutant) -> None:
            with lock:
                worker = free.pop()
            try:
                outcome = worker.try_(mutant)
            finally:
                with lock:
                    free.append(worker)
            with lock:
                outcomes.append(outcome)
                print(
                    f"{len(outcomes):4} {outcome.verdict:8} {outcome.seconds:5.0f} s  {mutant}  {outcome.test}",
                    flush=True,
                )
                if asked.report:
                    with open(asked.report, "a", encoding="utf-8") as file:
                        file.write(json.dumps(asdict(outcome)) + "\n")

        with ThreadPoolExecutor(asked.jobs) as pool:
            list(pool.map(one, mutants))
        killers = sorted({outcome.test for outcome in outcomes if outcome.verdict == "killed"})
        broken = failing(workers[0], killers)
    for test in sorted(broken):
        print(f"fails without any mutant too: {test}")
    counted: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for outcome in outcomes:
        counted[group(outcome.mutant.path)][0] += 1
        counted[group(outcome.mutant.path)][1] += outcome.verdict == "killed" and outcome.test not in broken
    print("\nfolder                                mutants  killed")
    for name, (count, killed) in sorted(counted.items()):
        print(f"{name:38}{count:7}{killed:8}")
    count, killed = (sum(each) for each in zip(*counted.values(), strict=True)) if counted else (0, 0)
    share = 100 * killed / count if count else 100.0
    print(f"{'all':38}{count:7}{killed:8}  {share:.1f} %")
    for outcome in outcomes:
        if outcome.verdict != "killed":
            print(f"{outcome.verdict}: {outcome.mutant}")
    return 1 if broken or share < asked.least else 0


if __name__ == "__main__":
    sys.exit(main())
