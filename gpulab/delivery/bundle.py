"""`gpulab bundle`: a folder with all that a machine without a network needs to install gpulab with its course.

    wheels/        gpulab, what it needs, in the versions that are installed here, pip, and setuptools for clones
    install.py     makes an environment from them (`offline`)
    python.txt     the kind of machine: what the wheels fit
    seed/          if asked for: a warm cache (`seed`)

pip does the downloading, with the index that it is configured for; then it must find the whole installation in the
folder alone, or the bundle is refused.
"""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from gpulab import course
from gpulab.delivery import offline
from gpulab.delivery.seed import make_seed
from gpulab.errors import GpulabError

SETUPTOOLS = "setuptools==84.2.1"
"""What builds gpulab in a clone (pyproject.toml says the same)."""

READ_ME = """gpulab and its course, for machines without a network: {kind}

    python3 install.py FOLDER      makes FOLDER with an environment in it; then `.venv/bin/gpulab lab` there
    make lab WHEELHOUSE={wheels}   does the same in a clone

Nothing is downloaded. docs/delivery.md says more.
"""


def bundle(folder: Path, wheel: Path | None = None, seed: bool = False) -> list[str]:
    """Fill the folder; what there is now, as lines. Without `wheel` gpulab's is built from the clone, or downloaded.

    Raises GpulabError: the folder is not empty, pip fails, or something is missing in the end.
    """
    wheels = folder / "wheels"
    try:
        wheels.mkdir(parents=True, exist_ok=True)
        parts = {"wheels", "install.py", "python.txt", "README.txt", "seed"}
        others = sorted(name for name in os.listdir(folder) if name not in parts and not name.startswith("."))
    except OSError as error:
        raise GpulabError(f"{folder} cannot be made: {error.strerror or error}.") from error
    if others:
        raise GpulabError(f"{folder} holds other things: {others[0]}.", hint="name a new folder.")
    for old in wheels.glob("gpulab-*.whl"):
        old.unlink()
    top = course.clone()
    if wheel is not None:
        if not wheel.is_file():
            raise GpulabError(f"There is no {wheel}.", hint="`make wheels` in a clone builds one, in dist/.")
        shutil.copy(wheel, wheels)
    elif top is not None:
        _pip("wheel", "--no-deps", "--wheel-dir", str(wheels), str(top))
    else:
        version = importlib.metadata.version("gpulab")
        _pip("download", "--no-deps", "--dest", str(wheels), f"gpulab=={version}", hint=_NO_WHEEL)
    own = next(wheels.glob("gpulab-*.whl"), None)
    if own is None:
        raise GpulabError("There is no wheel of gpulab.", hint=_NO_WHEEL)
    with tempfile.TemporaryDirectory(prefix="gpulab-") as scratch:
        installed = Path(scratch, "constraints.txt")
        installed.write_text("\n".join(_installed()) + "\n", encoding="utf-8")
        _pip(
            "download", "--progress-bar", "off", "--only-binary", ":all:", "--dest", str(wheels),
            "--constraint", str(installed), str(own), SETUPTOOLS, _pip_itself(),
        )  # fmt: skip
    _pip(
        "install", "--dry-run", "--ignore-installed", "gpulab", SETUPTOOLS, _pip_itself(), alone=wheels,
        hint="the folder is not complete; try again.",
    )  # fmt: skip
    kind = offline.kind()
    (folder / "python.txt").write_text(kind + "\n", encoding="utf-8")
    (folder / "README.txt").write_text(READ_ME.format(kind=kind, wheels=wheels.absolute()), encoding="utf-8")
    shutil.copy(offline.__file__, folder / "install.py")
    if seed:
        make_seed(folder / "seed")
    files = [path for path in wheels.iterdir() if path.suffix == ".whl"]
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return [f"{len(files)} wheels, {size / 1e6:.0f} MB, for {kind}"]


_NO_WHEEL = "gpulab bundle FOLDER --wheel gpulab-VERSION-py3-none-any.whl takes the file that you installed from."


def _pip_itself() -> str:
    """The pip that is here: where Python comes without one for environments, the bundle's installs."""
    return f"pip=={importlib.metadata.version('pip')}"


def _installed() -> list[str]:
    """What is installed here, but for gpulab and pip's own tools, with its versions."""
    found = {}
    for each in importlib.metadata.distributions():
        name = each.metadata["Name"]
        if name and name.lower() not in ("gpulab", "gpulab-instructor", "pip", "setuptools", "wheel"):
            found[name.lower()] = each.version
    return [f"{name}=={version}" for name, version in sorted(found.items())]


def _pip(*words: str, hint: str = "", alone: Path | None = None) -> None:
    """Run pip of this environment, with a folder `alone` as its only source if one is given.

    Raises GpulabError with what it said last.
    """
    command = [sys.executable, "-m", "pip", words[0], "--disable-pip-version-check", *words[1:]]
    surround = dict(os.environ)
    if alone is not None:  # whatever else pip is configured for
        surround = {name: value for name, value in surround.items() if not name.startswith("PIP_")}
        surround |= {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1"}
        surround["PIP_FIND_LINKS"] = alone.absolute().as_uri()
    done = subprocess.run(
        command, env=surround, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    if done.returncode:
        said = "\n".join(done.stdout.strip().splitlines()[-12:])
        raise GpulabError(f"pip {words[0]} failed:\n\n{said}", hint=hint)
