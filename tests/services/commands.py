"""Do the commands that files and pages name exist? `complaint` looks at targets of make, files and our own options."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OTHERS = {
    *(
        "apt-get",
        "cd",
        "chmod",
        "cp",
        "done",
        "for",
        "git",
        "groupadd",
        "install",
        "mkdir",
        "passwd",
        "rm",
        "runuser",
        "set",
        "tar",
        "useradd",
    ),
    "nbgrader",
}
"""Programs of systems, and of others."""


def complaint(command: str) -> str:
    """ "" if the command names what there is; else what is wrong. Comments and variables before it are left out."""
    words = shlex.split(command, comments=True)
    while words and re.match(r"[A-Z_]+=", words[0]):
        del words[0]
    if not words:
        return f"no program: {command}"
    program = words[0] if words[0] == ".ci/run" else words[0].rpartition("/")[2]
    given = words[1:]
    if program == "make":
        return of_make(given)
    if program == "gpulab":
        return of_gpulab(given)
    if program in ("python", "python3"):
        return of_python(given)
    if program == "jupyterhub":
        name = Path(given[given.index("--config") + 1]).name
        return "" if (ROOT / "deploy" / "hub" / name).is_file() else f"no such file: {name}"
    if program == ".ci/run":
        return "" if os.access(ROOT / program, os.X_OK) else "not executable: .ci/run"
    return "" if program in OTHERS else f"unknown program: {command}"


def of_make(given: list[str]) -> str:
    text = (ROOT / "Makefile").read_text()
    targets = [word for word in given if "=" not in word]
    if not targets:
        return "make without a target"
    for word in given:
        known = (
            f"$({word.partition('=')[0]})" in text if "=" in word else re.search(rf"^{re.escape(word)}:", text, re.M)
        )
        if not known:
            return f"the Makefile has no {word}"
    return ""


def of_gpulab(given: list[str]) -> str:
    from gpulab.cli import parser

    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            parser().parse_args(given)
    except SystemExit:
        return said.getvalue() or f"gpulab {given} only prints help"
    return ""


def of_python(given: list[str]) -> str:
    if not given:
        return "python alone"
    if given[0] == "-c":
        return ""
    if given[0] == "-m":
        return "" if given[1] in ("pip", "venv") else f"unknown module: {given[1]}"
    if given[0].endswith("/install.py"):  # of a bundle
        return "" if len(given) <= 2 else f"install.py takes a folder alone: {given}"
    if not (ROOT / given[0]).is_file():
        return f"no such file: {given[0]}"
    text = (ROOT / given[0]).read_text(encoding="utf-8")
    options = [word for word in given[1:] if word.startswith("--") and word != "--"]
    ours = given[: given.index("--")] if "--" in given else given
    return next((f"{given[0]} has no {word}" for word in options if word in ours and f'"{word}"' not in text), "")
