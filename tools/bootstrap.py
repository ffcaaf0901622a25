#!/usr/bin/env python3
"""Makes the private environment `.venv` of this clone, saying what it does and how long; then runs a command in it.

    python tools/bootstrap.py                     the environment, nothing more
    python tools/bootstrap.py lab                 JupyterLab on the first lesson        (make lab)
    python tools/bootstrap.py --extra test -- python -m pytest …                        (make test)
    python tools/bootstrap.py --wheelhouse FOLDER lab          without a network        (make lab WHEELHOUSE=FOLDER)

Standard library alone, and no newer syntax than any Python 3 reads, so that an old interpreter can still say
clearly which one is needed. Writes only inside the clone and the user's cache folder. A step whose input
has not changed since it last succeeded is not done again: `.venv/gpulab-*.stamp` hold what was installed.
"""

import argparse
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

OLDEST, NEWEST = (3, 11), (3, 13)
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ENVIRONMENT = os.path.join(ROOT, ".venv")
BIN = os.path.join(ENVIRONMENT, "Scripts" if os.name == "nt" else "bin")
PYTHON = os.path.join(BIN, "python.exe" if os.name == "nt" else "python")
WANTED = "gpulab needs Python %d.%d to %d.%d" % (OLDEST + NEWEST)
EXTRAS = {"test": " and those of the tests", "site": " and those of the website"}
VERSION = "import sys; print('%d.%d' % sys.version_info[:2])"


class Failed(Exception):
    """A step did not succeed; the text says what to do."""


def say(text):
    print("gpulab: " + text, flush=True)


def version_of(python):
    """(major, minor) of an interpreter, or None where it does not run."""
    try:
        done = subprocess.run([python, "-c", VERSION], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60)
        major, minor = done.stdout.decode().strip().split(".")
        return int(major), int(minor)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def find_python():
    """An interpreter that gpulab runs on: this one if it will do, else the first of those on PATH."""
    if OLDEST <= sys.version_info[:2] <= NEWEST:
        return sys.executable
    names = ["python%d.%d" % (3, minor) for minor in range(NEWEST[1], OLDEST[1] - 1, -1)] + ["python3", "python"]
    for name in names:
        path = shutil.which(name)
        version = version_of(path) if path else None
        if version and OLDEST <= version <= NEWEST:
            return path
    raise Failed(
        "%s, and found none: this is Python %d.%d.\n"
        "Install one (from python.org, your system's packages, or conda: `conda env create -f environment.yml`),\n"
        "or name it: make lab PYTHON=/path/to/python3.12" % ((WANTED,) + sys.version_info[:2])
    )


def refuse_unless_writable(folder):
    """Raises Failed for a folder in which no file can be made."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise Failed(
            "%s cannot be written (%s), and its environment .venv is not there yet, or not complete.\n"
            "Make lab in a copy of your own (git clone, or cp -r), or let the owner of this one run `make environment`."
            % (folder, error.strerror or error)
        ) from None


def offline(wheelhouse):
    """The variables with which pip installs from a folder alone. Raises Failed if the folder cannot do."""
    folder = os.path.abspath(os.path.expanduser(wheelhouse))
    if not os.path.isdir(folder):
        raise Failed("WHEELHOUSE: there is no folder %s." % folder)
    with open(os.path.join(ROOT, "pyproject.toml"), encoding="utf-8") as file:
        wanted = re.search(r'requires = \["setuptools==([\d.]+)"\]', file.read()).group(1)
    names = os.listdir(folder)
    if not any(name.startswith("setuptools-%s-" % wanted) and name.endswith(".whl") for name in names):
        raise Failed(
            "WHEELHOUSE: setuptools %s is not among the %d files of %s; pip builds gpulab with it.\n"
            "`gpulab bundle FOLDER` on a machine with a network makes FOLDER/wheels, with all that is needed."
            % (wanted, len(names), folder)
        )
    # As an address, because pip takes a space for the end of a folder's name.
    return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": pathlib.Path(folder).as_uri()}


def surroundings():
    """The environment variables for every step: temporary files inside the clone, no packages from elsewhere."""
    surround = dict(os.environ, PIP_DISABLE_PIP_VERSION_CHECK="1")
    temporary = os.path.join(ENVIRONMENT, "tmp")
    try:
        os.makedirs(temporary, exist_ok=True)
    except OSError:
        pass  # the clone is another's, and complete
    if os.access(temporary, os.W_OK):
        surround.update(TMPDIR=temporary, TEMP=temporary, TMP=temporary)
    surround["PATH"] = BIN + os.pathsep + surround.get("PATH", "")
    surround["VIRTUAL_ENV"] = ENVIRONMENT
    for name in ("PYTHONHOME", "PYTHONPATH", "PIP_USER", "PIP_TARGET", "PIP_PREFIX"):
        surround.pop(name, None)
    return surround


def run(what, command, quiet=True):
    """Run one step, saying what it is and how long it took; its output is shown where it fails."""
    say(what + " …")
    start = time.time()
    # PIP_REQUIRE_VIRTUALENV is for the outer pip only; ours always installs into .venv.
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=surroundings(),
        stdout=subprocess.PIPE if quiet else None,
        stderr=subprocess.STDOUT if quiet else None,
    )
    if done.returncode:
        if quiet:
            sys.stdout.write(done.stdout.decode(errors="replace"))
        raise Failed("%s: failed (exit code %d)." % (what, done.returncode))
    say("  done in %.1f s" % (time.time() - start))


def make_environment():
    """Create .venv with an interpreter that will do, unless a good one stands there already."""
    if os.path.exists(PYTHON):
        version = version_of(PYTHON)
        if version and OLDEST <= version <= NEWEST and os.path.exists(os.path.join(ENVIRONMENT, "pyvenv.cfg")):
            return
        refuse_unless_writable(ROOT)
        say("the environment .venv does not work any more (its Python moved or changed); making it anew")
        shutil.rmtree(ENVIRONMENT)
    refuse_unless_writable(ROOT)
    python = find_python()
    what = "making the private environment .venv with %s" % python
    try:
        run(what, [python, "-m", "venv", ENVIRONMENT])
    except Failed:
        # Debian and Ubuntu split venv's pip into a package of its own; an outer pip can stand in for it.
        shutil.rmtree(ENVIRONMENT, ignore_errors=True)
        try:
            run(what + ", without pip", [python, "-m", "venv", "--without-pip", ENVIRONMENT])
            run("giving it pip", [python, "-m", "pip", "--python", PYTHON, "install", "pip"])
        except Failed:
            shutil.rmtree(ENVIRONMENT, ignore_errors=True)
            raise Failed(
                "%s cannot make a private environment: its venv module is incomplete.\n"
                "On Debian and Ubuntu: add the package python3-venv, or take Python from python.org or conda." % python
            ) from None


def fingerprint(extra):
    """What an installed environment depends on, as text to compare with its stamp."""
    digest = hashlib.sha256(extra.encode() + ENVIRONMENT.encode())
    for name in ("pyproject.toml", "constraints.txt", os.path.join("tools", "bootstrap.py")):
        with open(os.path.join(ROOT, name), "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()


def stamp(name):
    return os.path.join(ENVIRONMENT, "gpulab-%s.stamp" % name)


def stamped(name, value):
    try:
        with open(stamp(name)) as file:
            return file.read() == value
    except OSError:
        return False


def write_stamp(name, value):
    with open(stamp(name), "w") as file:
        file.write(value)


def install(extra):
    """Install gpulab (editable) and the pinned packages; `extra` is "" or one of EXTRAS."""
    value = fingerprint(extra)
    name = "install" + ("-" + extra if extra else "")
    if stamped(name, value):
        return
    refuse_unless_writable(ENVIRONMENT)
    target = ".[%s]" % extra if extra else "."
    what = "installing the pinned packages%s (the first time: several hundred MB)" % EXTRAS.get(extra, "")
    run(what, [PYTHON, "-m", "pip", "install", "--quiet", "--constraint", "constraints.txt", "--editable", target])
    write_stamp(name, value)
    if extra:
        write_stamp("install", fingerprint(""))


def set_up(extra):
    """Build what gpulab builds on this machine (its own command says what); for tests, what whole programs need too."""
    name = "setup" + ("-" + extra if extra else "")
    value = fingerprint("setup")
    if stamped(name, value):
        return
    refuse_unless_writable(ENVIRONMENT)
    more = ["--programs"] if extra == "test" else []
    run("building the virtual GPU's parts", [PYTHON, "-m", "gpulab", "setup"] + more, quiet=False)
    write_stamp(name, value)
    write_stamp("setup", value)


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument(
        "--extra", default="", choices=["", *sorted(EXTRAS)], help="packages beyond those that lessons need"
    )
    ask.add_argument("--no-setup", action="store_true", help="install only; build nothing")
    ask.add_argument("--wheelhouse", metavar="FOLDER", help="install from the files of this folder, without a network")
    ask.add_argument("command", nargs=argparse.REMAINDER, help="a command of the environment, or a gpulab command")
    asked = ask.parse_args()
    command = asked.command[1:] if asked.command[:1] == ["--"] else asked.command
    start = time.time()
    try:
        if asked.wheelhouse:
            os.environ.update(offline(asked.wheelhouse))
        make_environment()
        install(asked.extra)
        if not asked.no_setup:
            set_up(asked.extra)
    except Failed as failed:
        say(str(failed))
        return 1
    except KeyboardInterrupt:
        say("stopped; the next run goes on from here")
        return 130
    if time.time() - start > 5:
        say("ready after %.0f s" % (time.time() - start))
    if not command:
        return 0
    if command[0] == "lab":
        command = ["python", "-m", "gpulab"] + command
    program = shutil.which(command[0], path=BIN) or command[0]
    if command[0] == "python":
        program = PYTHON
    try:
        return subprocess.call([program] + command[1:], cwd=ROOT, env=surroundings())
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
