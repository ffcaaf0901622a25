"""A warm cache for others: `make_seed` builds one of gpulab's own parts alone, `take` copies one into this user's.

A cache has native code. Take a seed only from those from whom you would take a program. A seed is built anew, not
copied from a cache in use: in that one stands what its user has compiled, answers of exercises too.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from gpulab.delivery.whole import whole
from gpulab.errors import GpulabError
from gpulab.toolchain import cache

PARTS = ("code", "cxx-library", "headers", "host", "hosted", "library", "programs", "support", "virtual-rocm", "zig")
"""Folders of a cache that are the same for everybody with this gpulab on a machine of the same kind."""


def make_seed(folder: Path, programs: bool = False) -> str:
    """Build a cache in this folder as `gpulab setup` does, in a process of its own; what it printed.

    Raises GpulabError: the folder holds something else, or the building failed.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        others = sorted(name for name in os.listdir(folder) if name not in PARTS and not name.startswith("."))
    except OSError as error:
        raise GpulabError(f"{folder} cannot be made or read: {error.strerror or error}.") from error
    if others:
        raise GpulabError(f"{folder} holds other things than a cache: {others[0]}.", hint="name a new folder.")
    kept = {name: value for name, value in os.environ.items() if name not in ("GPULAB_CACHE", "GPULAB_CACHE_OWN")}
    command = [sys.executable, "-m", "gpulab", "setup", *(["--programs"] if programs else [])]
    done = subprocess.run(
        command, env=kept | {"GPULAB_CACHE": str(folder)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode:
        raise GpulabError(f"The seed could not be built.\n\n{done.stdout}")
    # What Clang keeps of the C libraries is of use for whole programs alone, and ten times as large as the rest.
    kept_parts = set(PARTS) - (set() if programs else {"cxx-library", "zig"})
    for name in set(os.listdir(folder)) - kept_parts:
        shutil.rmtree(folder / name, ignore_errors=True)
    return done.stdout


def take(folder: Path, target: Path | None = None) -> tuple[int, int]:
    """Copy what this cache lacks from a seed: (files, bytes). Links and other than plain files are left out.

    Raises GpulabError: there is no seed, or the cache cannot be written.
    """
    target = target or cache.folder()
    parts = [name for name in PARTS if (folder / name).is_dir() and not (folder / name).is_symlink()]
    if not parts:
        raise GpulabError(f"There is no seed in {folder}.", hint="gpulab setup --make-seed FOLDER makes one.")
    files = size = 0
    try:
        for part in parts:
            for at, _, names in os.walk(folder / part):  # links to folders are not followed
                for name in names:
                    source = Path(at, name)
                    to = target / source.relative_to(folder)
                    if source.is_symlink() or not source.is_file() or name.startswith((".new-", "._")) or to.exists():
                        continue
                    _copy(source, to)
                    files, size = files + 1, size + source.stat().st_size
    except OSError as error:
        raise GpulabError(f"The cache {target} cannot be filled: {error}.") from error
    return files, size


def _copy(source: Path, to: Path) -> None:
    """The whole file with its mode and time, or nothing: others may look for it meanwhile."""
    with whole(to) as made:
        shutil.copy2(source, made)
