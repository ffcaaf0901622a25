"""``gpulab hipcc FILE.hip -o NAME``: builds a program where the learner says, with hipcc's command line."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from gpulab.errors import CompileError, GpulabError
from gpulab.programs import building, options
from gpulab.toolchain import diagnostics, hosted


def run(words: Sequence[str]) -> int:
    """Build one source; 0, or 1 if it does not compile. Messages go to standard error, as a compiler's do.

    Raises:
        GpulabError: the command line cannot be understood, or programs cannot be built here.
    """
    if list(words) == ["--version"]:
        from gpulab.toolchain import compiler

        print(f"gpulab hipcc, with the Clang of {compiler.version().rsplit(' ', 2)[0]}")
        return 0
    asked = options.parse(words)
    if len(asked.sources) != 1:
        raise GpulabError(
            f"gpulab hipcc builds one source file; {len(asked.sources)} were named.",
            hint="gpulab hipcc program.hip -o program; the other files can be included by the first: "
            '#include "other.hip".',
        )
    source = Path(asked.sources[0])
    if not hosted.unavailable() and not hosted.is_ready():
        print(hosted.FIRST_TIME, file=sys.stderr, flush=True)
    output = Path(asked.output or "a.out")
    given = [word for word in words if word != asked.sources[0]]
    name = "".join(letter if letter.isalnum() or letter in "._+-" else "_" for letter in output.name).lstrip(".-")
    try:
        program = building.build(source, name=name or "program", options=given, output=output)
    except CompileError as error:
        print(error, file=sys.stderr)
        return 1
    if program.warnings:
        print(diagnostics.render(program.warnings), file=sys.stderr)
    return 0
