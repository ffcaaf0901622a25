#!/usr/bin/env python3
"""`make check`: style, types, import directions and the course's consistency, each tool in turn; 1 if one complains."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHON = sys.executable
CHECKS = (
    ("style", [PYTHON, "-m", "ruff", "check", "."]),
    ("layout", [PYTHON, "-m", "ruff", "format", "--check", "."]),
    ("types", [PYTHON, "-m", "mypy", "gpulab"]),
    ("scripts", [PYTHON, "-m", "deno", "lint", "--quiet"]),
    (
        "types of scripts",
        [PYTHON, "-m", "deno", "check", "--quiet", "--no-remote", "gpulab/views/static", "gpulab/editor"],
    ),
    ("words of the editor", [PYTHON, "tools/editor_words.py", "--check"]),
    ("imports", [PYTHON, "-c", "from importlinter.cli import lint_imports_command as check; check()"]),
    ("course", [PYTHON, "course/check.py"]),
    ("notebooks", [PYTHON, "course/build.py", "--check"]),
)


def main() -> int:
    failed = []
    for name, command in CHECKS:
        print(f"== {name}", flush=True)
        if subprocess.run(command, cwd=ROOT, check=False).returncode:
            failed.append(name)
    print(f"\n{'not ok: ' + ', '.join(failed) if failed else 'all checks passed'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
