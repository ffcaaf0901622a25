"""Installs gpulab from a bundle, without a network: python3 install.py [FOLDER]

FOLDER (or "gpulab" here) gets an environment, .venv, and with the first `gpulab lab` the learner's copy of the course.
Only the standard library is used; `gpulab bundle` puts this file into a bundle as install.py.
"""

import os
import pathlib
import platform
import subprocess
import sys


def kind() -> str:
    """What wheels fit: system, processor, version of Python."""
    return f"{sys.platform} on {platform.machine()} with Python {sys.version_info[0]}.{sys.version_info[1]}"


def main(arguments: "list[str]") -> int:
    here = pathlib.Path(__file__).resolve().parent
    built = (here / "python.txt").read_text(encoding="utf-8").strip()
    mine = kind()
    if built != mine:
        print(f"This bundle is for {built}; here is {mine}. Make one on a machine like this: gpulab bundle FOLDER")
        return 1
    folder = pathlib.Path(arguments[0] if arguments else "gpulab").absolute()
    environment = folder / ".venv"
    binaries = environment / ("Scripts" if os.name == "nt" else "bin")
    python = str(binaries / ("python.exe" if os.name == "nt" else "python"))
    surround = dict(os.environ, PIP_NO_INDEX="1", PIP_FIND_LINKS=(here / "wheels").as_uri())
    for name in ("PYTHONHOME", "PYTHONPATH", "PIP_USER", "PIP_TARGET", "PIP_PREFIX"):
        surround.pop(name, None)
    seed = here / "seed"
    steps = [
        (f"making the environment {environment}", [sys.executable, "-m", "venv", str(environment)]),
        (f"installing gpulab from {here / 'wheels'}", [python, "-m", "pip", "install", "--quiet", "gpulab"]),
        (
            "building the virtual GPU's parts",
            [python, "-m", "gpulab", "setup", *(["--seed", str(seed)] if seed.is_dir() else [])],
        ),
    ]
    for what, command in steps:
        print(what + " ...", flush=True)
        try:
            failed = subprocess.call(command, env=surround, cwd=str(here))
        except OSError as error:
            failed, _ = 1, print(error)
        if failed:
            print("It failed: " + what + ".")
            return 1
    program = binaries / ("gpulab.exe" if os.name == "nt" else "gpulab")
    print(f'\nReady. Start with\n\n    cd "{folder}"\n    {program.relative_to(folder)} lab\n')
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
