"""Installs gpulab from a bundle, without a network: python3 install.py [FOLDER]

FOLDER (or "gpulab" here) gets an environment, .venv, and with the first `gpulab lab` the learner's copy of the course.
Only the standard library is used; `gpulab bundle` puts this file into a bundle as install.py. pip is run from its wheel
in the bundle: Pythons of Debian and Ubuntu (and so of WSL) have none for environments, unless a package is installed.
"""

import os
import pathlib
import platform
import subprocess
import sys


def kind() -> str:
    """What wheels fit: system, processor, version of Python."""
    return f"{sys.platform} on {platform.machine()} with Python {sys.version_info[0]}.{sys.version_info[1]}"


def fits(folder: pathlib.Path) -> str:
    """The kind of machine that a bundle is for; "" for a folder that is none, or not a whole one."""
    try:
        return (folder / "python.txt").read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return ""


def main(arguments: "list[str]") -> int:
    here = pathlib.Path(__file__).resolve().parent
    built, mine = fits(here), kind()
    pips = sorted((here / "wheels").glob("pip-*.whl"))
    if not built or not pips:
        lacks = "wheels" + os.sep + "pip-*.whl" if built else "python.txt"
        print(f"{here} is not a whole bundle: it has no {lacks}. Copy the folder again, with all that is in it.")
        return 1
    if built != mine:
        print(f"This bundle is for {built}; here is {mine}.")
        others = [each.name for each in sorted(here.parent.iterdir()) if fits(each) == mine]
        if others:
            print(f"Take the one in {others[0]}: that is for this machine.")
        else:
            print("Take one for this kind of machine, or another Python here; `gpulab bundle` makes one.")
        return 1
    folder = pathlib.Path(arguments[0] if arguments else "gpulab").absolute()
    environment = folder / ".venv"
    binaries = environment / ("Scripts" if os.name == "nt" else "bin")
    python = str(binaries / ("python.exe" if os.name == "nt" else "python"))
    # However pip is configured on this machine: nothing is looked for elsewhere.
    surround = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONHOME", "PYTHONPATH") and not name.startswith("PIP_")
    }
    surround.update(PIP_CONFIG_FILE=os.devnull, PIP_NO_INDEX="1", PIP_FIND_LINKS=(here / "wheels").as_uri())
    pip = [python, str(pips[-1] / "pip"), "install", "--quiet", "--disable-pip-version-check"]
    seed = here / "seed"
    steps = [
        (f"making the environment {environment}", [sys.executable, "-m", "venv", "--without-pip", str(environment)]),
        (f"installing gpulab from {here / 'wheels'}", [*pip, "pip", "gpulab"]),
        *(
            # pip leaves what has the same version; this bundle may have a later course.
            [("bringing gpulab up to date", [*pip, "--force-reinstall", "--no-deps", "gpulab"])]
            if (environment / "pyvenv.cfg").exists()
            else []
        ),
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
            print(error)
            failed = True
        if failed:
            print("It failed: " + what + ".")
            return 1
    program = binaries / ("gpulab.exe" if os.name == "nt" else "gpulab")
    print(f'\nReady. Start with\n\n    cd "{folder}"\n    {program.relative_to(folder)} lab\n')
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
