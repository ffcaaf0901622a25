"""The corpus on the further architectures: all of it decoded, a part of it run. harness.py says how to run all.

Both tests start pytest again, as the devices of a process are chosen once.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gpulab.errors import UnsupportedInstruction
from gpulab.toolchain import build
from gpulab.toolchain.binary import decoder
from gpulab.virtual_gpu import isa
from gpulab.virtual_gpu.isa.assembly import parse
from gpulab.virtual_gpu.translate.decode import Decoder

FURTHER = ("gfx90a", "gfx950", "gfx1030", "gfx1201")
HERE = Path(__file__).parent
# Kernels that between them use LDS, scratch, calls, atomics, shuffles and floats of all widths.
PART = (
    "tiled_matrix or fft or sha256 or reduction_by_shuffles or recursion or virtual_functions or half_precision "
    "or float_rounding or histogram_with_private"
)


def _pytest(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=line", str(HERE), *arguments]
    # A test that hangs ends the run with the stacks of all threads, long before this test gives up on it.
    dumped = ["-o", "faulthandler_timeout=240", "-o", "faulthandler_exit_on_timeout=true"]
    ignored = f"--ignore={Path(__file__)}"
    return subprocess.run(
        [*command, *dumped, ignored], env=os.environ | environment, capture_output=True, text=True, timeout=3600,
        check=False,
    )  # fmt: skip


def test_a_part_of_the_corpus_runs_on_each() -> None:
    found = _pytest("-k", PART, GPULAB_CORPUS=",".join(FURTHER), GPULAB_CORPUS_OPTIONS="-O1")
    assert found.returncode == 0, found.stdout[-4000:] + found.stderr[-4000:]
    assert int(found.stdout.split(" passed")[0].split()[-1]) >= 4 * 9


@pytest.mark.skipif(bool(decoder.missing()), reason="the disassembler is made for Linux on x86-64 alone")
def test_a_part_of_the_corpus_runs_from_its_machine_code() -> None:
    found = _pytest("-m", "not full", GPULAB_CORPUS_FOREIGN="1")
    assert found.returncode == 0, found.stdout[-4000:] + found.stderr[-4000:]
    assert int(found.stdout.split(" passed")[0].split()[-1]) >= 50


@pytest.fixture(scope="module")
def batches(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The sources of the whole corpus, some to one translation unit, each in a namespace of its own."""
    file = tmp_path_factory.mktemp("corpus") / "sources"
    # Nothing is run, so that most comparisons fail; with CI set their reports once took longer than all limits.
    found = _pytest(GPULAB_CORPUS="gfx942", GPULAB_CORPUS_SOURCES=str(file), CI="true")
    assert found.returncode in (0, 1), found.stdout[-4000:] + found.stderr[-4000:]
    sources = {json.loads(line)[0]: None for line in file.read_text(encoding="utf-8").splitlines()}
    assert len(sources) >= 150
    together: list[list[str]] = [[] for _ in range(6)]
    for number, source in enumerate(sources):
        lines = source.split("\n")
        includes = [line for line in lines if line.lstrip().startswith("#include")]
        rest = [line for line in lines if line not in includes]
        together[number % 6] += [*includes, f"namespace k{number} {{", *rest, "}"]
    return ["\n".join(lines) for lines in together]


@pytest.mark.parametrize("arch", FURTHER)
def test_every_instruction_of_the_corpus_has_a_row(arch: str, batches: list[str]) -> None:
    missing: dict[str, str] = {}
    with ThreadPoolExecutor(2) as pool:
        compiled = pool.map(lambda text: build.compile(text, arch=arch, options=["-O3"], use_cache=False), batches)
        programs = [parse(code.assembly, arch=arch) for code in compiled]
    assert sum(len(program.kernels) for program in programs) >= 150
    for program in programs:
        decoder = Decoder(program, isa.table(arch))
        for index, instruction in enumerate(program.instructions):
            try:
                decoder.decode(index, "corpus")
            except UnsupportedInstruction as refused:
                missing[instruction.mnemonic] = str(refused)
    assert not missing
