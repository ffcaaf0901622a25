"""A learner's server of JupyterHub, run as the learner: a warm cache, a copy of the course, then the server.

What was written before is kept. Where a copy cannot be made, the server starts all the same, and its log says why.
"""

import os
import sys
from pathlib import Path

import gpulab
from gpulab.delivery import copy, seed
from gpulab.errors import GpulabError


def cache() -> None:
    """Takes what the learner's cache lacks from GPULAB_SEED; each has an own one, since it holds machine code."""
    seed.take(Path(os.environ["GPULAB_SEED"]))


def course() -> None:
    folder = Path.home() / "gpulab"
    folder.mkdir(exist_ok=True)
    for line in copy.update(folder, version=f"gpulab {gpulab.__version__}").lines:
        print(line)


for step in (cache, course):
    try:
        step()
    except (GpulabError, OSError) as error:
        print(f"{step.__name__}: {error}", flush=True)
os.execv(sys.executable, [sys.executable, "-m", "jupyterhub.singleuser", *sys.argv[1:]])
