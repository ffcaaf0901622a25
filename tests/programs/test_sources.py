"""Every program of sources/, built once for both architectures, runs by itself on each of them and keeps its promises.

The head of a source says what it promises: `// OUT: line` for each line of standard output ([gfx942] behind OUT for one
architecture), `// ERR: text` for a text in standard error, `// EXIT: code` (0), `// RUN: arguments`, `// IN: line` of
standard input, `// OPTIONS: of hipcc`, `// FAULT: kind`. Results of kernels are compared with the host's in programs.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from gpulab import programs
from gpulab.toolchain import hosted

pytestmark = pytest.mark.skipif(bool(hosted.unavailable()), reason=hosted.unavailable() or "programs can be built")
SOURCES = sorted((Path(__file__).parent / "sources").glob("*.hip"))
OTHER = {"gfx942": "gfx1100", "gfx1100": "gfx942"}


def promises(text: str, arch: str) -> dict[str, list[str]]:
    """The promises in the head of a source, by their name."""
    found: dict[str, list[str]] = {}
    for name, only, value in re.findall(r"^// ([A-Z]+)(?:\[(\w+)\])?: ?(.*)$", text, re.MULTILINE):
        if only in ("", arch):
            found.setdefault(name, []).append(value)
    return found


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_program(source: Path, tmp_path: Path) -> None:
    text = source.read_text()
    options = shlex.split(" ".join(promises(text, "").get("OPTIONS", [])))
    program = programs.build(source, name=source.stem, options=options)
    assert program.path.stat().st_mode & 0o111
    for arch in program.archs:
        wanted = promises(text, arch)
        inputs = "".join(line + "\n" for line in wanted.get("IN", []))
        if "FAULT" in wanted:
            run = program.run(*shlex.split(wanted.get("RUN", [""])[0]), arch=arch, stdin=inputs, folder=tmp_path)
            out, err, code = run.stdout, run.stderr, run.exit_code
            assert [fault.kind for fault in run.faults] == wanted["FAULT"]
        else:  # from a shell, as a learner starts it
            environment = {**os.environ, "GPULAB_DEVICES": f"{arch},{OTHER[arch]}", "GPULAB_LIBRARY": "virtual"}
            done = subprocess.run(
                [str(program.path), *shlex.split(wanted.get("RUN", [""])[0])], input=inputs, capture_output=True,
                text=True, env=environment, cwd=tmp_path, timeout=120, check=False,
            )  # fmt: skip
            out, err, code = done.stdout, done.stderr, done.returncode
        assert (out.splitlines(), code) == (wanted.get("OUT", []), int(wanted.get("EXIT", ["0"])[0])), err
        for text_in_error in wanted.get("ERR", []):
            assert text_in_error in err
        if "ERR" not in wanted and "FAULT" not in wanted:
            assert err == ""
