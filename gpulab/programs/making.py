"""A project with a Makefile of its own: `make` builds it with gpulab's commands, and gives the program."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from gpulab.errors import GpulabError
from gpulab.programs.program import HostProgram


def make(folder: str | Path, name: str, arch: str, *words: str) -> HostProgram:
    """Run ``make ARCH=arch`` in a folder, with the variables of ``gpulab env``, and return the program.

    Args:
        folder: with the Makefile.
        name: of the program's file, from there.
        arch: the device that the Makefile builds for, by its variable ARCH.
        words: more for make.

    Raises GpulabError: make is missing or failed, with what it said; it made no such file.
    """
    from gpulab.programs import installation

    installation.install()
    command = ["make", f"ARCH={arch}", *words]
    try:
        done = subprocess.run(
            command, cwd=folder, env={**os.environ, **installation.environment()}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, errors="replace", check=False,
        )  # fmt: skip
    except OSError as error:
        raise GpulabError(
            f"make does not start in {folder}: {(error.strerror or str(error)).lower()}.",
            hint="install make, or see that the folder is there.",
        ) from None
    if done.returncode:
        raise GpulabError(f"{' '.join(command)} failed in {folder}:\n\n{(done.stdout + done.stderr).rstrip()}")
    path = Path(folder).absolute() / name
    if not path.is_file():
        raise GpulabError(
            f"{' '.join(command)} made no file {name} in {folder}.", hint="look at the Makefile's targets."
        )
    return HostProgram(path, "", path.name, (arch,))
